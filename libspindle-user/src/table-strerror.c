// SPDX-License-Identifier: MIT
/*
 * Texts for the errors of tables, with what can be done.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "table.h"

static const char *device_of(const struct spindle_table_attr *o)
{
	return o->device ? o->device : SPINDLE_TABLE_DEVICE;
}

static void say_table(const struct spindle_table_attr *o, char *buf, size_t len)
{
	if (o->name)
		snprintf(buf, len, "table \"%s\" of node %u", o->name, o->node);
	else
		snprintf(buf, len, "table %u of node %u", o->table, o->node);
}

static void attach_error(const struct spindle_table_attr *o, int err, char *buf, size_t len)
{
	char what[128];

	say_table(o, what, sizeof(what));
	switch (-err) {
	case ENODEV:
		snprintf(buf, len, "node %u: no such node in this network namespace", o->node);
		break;
	case ENOENT:
		snprintf(buf, len, "%s: no such table in its view, or no view yet", what);
		break;
	case EBUSY:
		snprintf(buf, len, "%s: another process writes its row; attach to read only",
			 what);
		break;
	case EUSERS:
		snprintf(buf, len, "%s: %u processes are attached there already", what,
			 SPINDLE_MAX_TABLE_FILES);
		break;
	case ENOMEM:
		snprintf(buf, len, "%s: out of memory; or raise RLIMIT_MEMLOCK (ulimit -l)", what);
		break;
	case EBADF:
		snprintf(buf, len, "descriptor %d is no eventfd", o->event_fd);
		break;
	case ENOTCONN:
		snprintf(buf, len, "%s has ended", what);
		break;
	case EINVAL:
		snprintf(buf, len, "%s: invalid flags 0x%x, or both a name and an id", what,
			 o->flags);
		break;
	case ENOTTY:
		snprintf(buf, len, "%s: not the device of tables, or its module is older than this library",
			 device_of(o));
		break;
	case EPROTONOSUPPORT:
		snprintf(buf, len, "%s: its module is newer than this library", device_of(o));
		break;
	default:
		snprintf(buf, len, "%s: cannot attach: %s", what, strerror(-err));
	}
}

const char *spindle_table_attach_strerror(const struct spindle_table *t,
					  const struct spindle_table_attr *o, int err, char *buf,
					  size_t len)
{
	char what[128];

	if (!err) {
		snprintf(buf, len, "success");
		return buf;
	}
	switch (t->step) {
	case SPINDLE_STEP_OPTS:
		snprintf(buf, len, "a reserved option is not 0");
		break;
	case SPINDLE_STEP_OPEN:
		spindle_open_strerror(device_of(o), err, buf, len);
		break;
	case SPINDLE_STEP_ATTACH:
		attach_error(o, err, buf, len);
		break;
	case SPINDLE_STEP_LAYOUT:
		snprintf(buf, len, "the ABI of the module does not fit this library; update one");
		break;
	default:
		say_table(o, what, sizeof(what));
		snprintf(buf, len, "%s: cannot map its rows: %s", what,
			 err == -ENOTCONN ? "the table has just ended" :
			 err == -ESTALE ? "its view was just replaced, try again" :
			 strerror(-err));
	}
	return buf;
}

static const char *call_text(int err)
{
	switch (-err) {
	case 0:
		return "success";
	case EAGAIN:
		return "a cell is being written, or its write is on its way: try again";
	case EBADF:
		return "the attachment lacks SPINDLE_TABLE_WRITE, or is none";
	case EINTR:
		return "a signal arrived";
	case ENOENT:
		return "the node is no member, or no member has this instance";
	case ENOTCONN:
		return "the table has ended";
	case ESTALE:
		return "views followed each other too fast: try again";
	case ETIMEDOUT:
		return "the time is up, and a member has not come";
	default:
		return NULL;
	}
}

const char *spindle_table_call_strerror(const struct spindle_table *t, int err, char *buf,
					size_t len)
{
	const char *text = call_text(err);

	if (err == -EPIPE)
		snprintf(buf, len, "the table is %s: %s",
			 spindle_state_string(spindle_table_state(t)),
			 spindle_strerror(spindle_table_error(t)));
	else if (err == -EMSGSIZE)
		snprintf(buf, len, "the value is longer than the %u bytes of a cell",
			 spindle_cell_bytes(t));
	else if (err == -EOPNOTSUPP)
		snprintf(buf, len, "%s", t->read ?
			 "the members read the rows of this table, and nothing is sent" :
			 "the rows of this table arrive by themselves, and nothing is read");
	else
		snprintf(buf, len, "%s", text ? text : strerror(-err));
	return buf;
}
