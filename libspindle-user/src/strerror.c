// SPDX-License-Identifier: MIT
/*
 * Texts for states and errors.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "internal.h"

const char *spindle_strerror(int err)
{
	switch (err) {
	case SPINDLE_ERR_NONE:
		return "no error";
	case SPINDLE_ERR_TX_READY:
		return "the ready word of a slot has an impossible value";
	case SPINDLE_ERR_TX_EXTENT:
		return "the extent of a slot is not where the one before ended, or not free";
	case SPINDLE_ERR_TX_LEN:
		return "a message is longer than max_msg or than its extent";
	case SPINDLE_ERR_CONSUMED:
		return "the consumed counter went back or beyond what was delivered";
	case SPINDLE_ERR_PEER_LOST:
		return "the connection to a member broke";
	case SPINDLE_ERR_PEER_PROTOCOL:
		return "a member wrote a value outside its legal range";
	case SPINDLE_ERR_DEVICE_GONE:
		return "the RDMA device was removed";
	case SPINDLE_ERR_VIEW_GONE:
		return "the view was replaced or removed";
	case SPINDLE_ERR_STALLED:
		return "the process consumed nothing for longer than the subgroup allows";
	case SPINDLE_ERR_MINORITY:
		return "no more than half of the view's members are left, only a majority goes on";
	case SPINDLE_ERR_EVICTED:
		return "the other members have gone on without this node";
	case SPINDLE_ERR_LEFT:
		return "the node has left the view, as it was asked to";
	case SPINDLE_ERR_NOT_MEMBER:
		return "the rules of the view have moved the node out of the subgroup";
	case SPINDLE_ERR_TX_MASK:
		return "a message names members of no view that the module knows";
	case SPINDLE_ERR_BEHIND:
		return "the history has forgotten what the process had not read";
	case SPINDLE_ERR_LOG:
		return "the words of the logger went back, or contradict themselves";
	default:
		return "unknown error";
	}
}

const char *spindle_state_string(int state)
{
	switch (state) {
	case SPINDLE_STATE_FORMING:
		return "forming";
	case SPINDLE_STATE_ACTIVE:
		return "active";
	case SPINDLE_STATE_FROZEN:
		return "frozen";
	case SPINDLE_STATE_FAILED:
		return "failed";
	case SPINDLE_STATE_GONE:
		return "gone";
	default:
		return "unknown";
	}
}

/* Text for an errno with a special meaning for attachments; NULL: use the common text. */
static const char *call_text(int err)
{
	switch (-err) {
	case 0:
		return "success";
	case EAGAIN:
		return "there is no room to send now, or nothing to read";
	case EBADF:
		return "the attachment lacks SPINDLE_ATTACH_SEND, _RECV or _LOG";
	case EBUSY:
		return "there is nothing new, and messages are held that were not released";
	case EINTR:
		return "a signal arrived";
	case EINPROGRESS:
		return "a signal arrived, and the message that was sent may become durable";
	case ENOTCONN:
		return "the view of the subgroup is gone";
	case EOPNOTSUPP:
		return "the subgroup has no logs, or cannot do that";
	case EPERM:
		return "the attachment lacks SPINDLE_ATTACH_SEND";
	case ETIMEDOUT:
		return "the time is up, and the message is not durable yet";
	default:
		return NULL;
	}
}

const char *spindle_call_strerror(const struct spindle_queue *q, int err, char *buf, size_t len)
{
	int state = spindle_state(q);
	const char *text = call_text(err);

	if (err == -EPIPE && state > SPINDLE_STATE_ACTIVE)
		snprintf(buf, len, "the subgroup is %s: %s", spindle_state_string(state),
			 spindle_strerror(spindle_error_code(q)));
	else if (err == -EMSGSIZE)
		snprintf(buf, len,
			 "the message is longer than the %u bytes that the subgroup takes",
			 spindle_max_msg(q));
	else
		snprintf(buf, len, "%s", text ? text : strerror(-err));
	return buf;
}

void spindle_open_strerror(const char *device, int err, char *buf, size_t len)
{
	switch (-err) {
	case ENOENT:
	case ENODEV:
	case ENXIO:
		snprintf(buf, len, "%s: no such device; load the module with 'modprobe spindle'",
			 device);
		break;
	case EACCES:
	case EPERM:
		snprintf(buf, len, "%s: permission denied; see the owner and mode of the device",
			 device);
		break;
	default:
		snprintf(buf, len, "%s: cannot open: %s", device, strerror(-err));
	}
}

static void say_subgroup(const struct spindle_attach_opts *o, char *buf, size_t len)
{
	if (o->name)
		snprintf(buf, len, "subgroup \"%s\" of node %u", o->name, o->node);
	else
		snprintf(buf, len, "subgroup %u of node %u", o->subgroup, o->node);
}

static void memory_error(const struct spindle_queue *q, const char *what, char *buf, size_t len)
{
	if (q->memlock)
		snprintf(buf, len, "%s: needs %llu bytes of locked memory; "
			 "raise RLIMIT_MEMLOCK (ulimit -l %llu)", what,
			 (unsigned long long)q->memlock,
			 (unsigned long long)(q->memlock + 1023) / 1024);
	else
		snprintf(buf, len, "%s: out of memory", what);
}

static void place_error(const struct spindle_queue *q, const struct spindle_attach_opts *o,
			int err, const char *what, char *buf, size_t len)
{
	unsigned long long from = o->from ? o->from->lsn : 0;

	if (err == -ERANGE && o->log_end && from <= q->next)
		snprintf(buf, len, "%s: a log that is read from position %llu on ends there or "
			 "behind, and at %llu at most: not at %llu", what, from,
			 (unsigned long long)q->next, (unsigned long long)o->log_end);
	else
		snprintf(buf, len, "%s: position %llu cannot be read, only %llu to %llu", what,
			 from, (unsigned long long)q->oldest, (unsigned long long)q->next);
}

static void attach_error(const struct spindle_queue *q, const struct spindle_attach_opts *o,
			 int err, char *buf, size_t len)
{
	char what[128];

	say_subgroup(o, what, sizeof(what));
	switch (-err) {
	case ENODEV:
		snprintf(buf, len, "node %u: no such node in this network namespace", o->node);
		break;
	case ENOENT:
		snprintf(buf, len, "%s: no such subgroup in its view, or no view yet", what);
		break;
	case EBUSY:
		snprintf(buf, len, "%s: another process is its %s", what,
			 !(o->flags & SPINDLE_ATTACH_LOG) ? "sender; attach to receive only" :
			 o->flags & SPINDLE_ATTACH_SEND ? "sender or its logger" : "logger");
		break;
	case ENODATA:
		snprintf(buf, len, "%s: an earlier logger has said that position %llu is on disk",
			 what, (unsigned long long)(o->log_end ? o->log_end :
						    o->from ? o->from->lsn : q->oldest));
		break;
	case EPERM:
		snprintf(buf, len, "%s: %s", what, o->flags & SPINDLE_ATTACH_SEND ?
			 "the node may not send there, or it is a table; attach to receive only" :
			 "it is a table, which has no messages: use spindle_table_attach()");
		break;
	case EUSERS:
		snprintf(buf, len, "%s: %u processes receive there already", what,
			 SPINDLE_MAX_READERS);
		break;
	case ENOMEM:
		memory_error(q, what, buf, len);
		break;
	case EBADF:
		snprintf(buf, len, "descriptor %d is no eventfd", o->event_fd);
		break;
	case ENOTCONN:
		snprintf(buf, len, "%s has failed", what);
		break;
	case EINVAL:
		snprintf(buf, len, "%s: invalid flags 0x%x, or invalid copy ring of %llu bytes",
			 what, o->flags, (unsigned long long)o->copy_bytes);
		break;
	case ENOTTY:
		snprintf(buf, len, "%s: not a spindle device, or its module is older than this library",
			 o->device ? o->device : SPINDLE_DEVICE);
		break;
	case ESTALE:
	case ERANGE:
		place_error(q, o, err, what, buf, len);
		break;
	case EOPNOTSUPP:
		snprintf(buf, len, "%s: %s", what, o->flags & SPINDLE_ATTACH_LOG ?
			 "it has no logs" : "positions of an unordered subgroup are no places");
		break;
	case EXDEV:
		snprintf(buf, len, "%s: the place belongs to another lineage, or another era",
			 what);
		break;
	case EPROTONOSUPPORT:
		snprintf(buf, len, "%s: its module is newer than this library",
			 o->device ? o->device : SPINDLE_DEVICE);
		break;
	default:
		snprintf(buf, len, "%s: cannot attach: %s", what, strerror(-err));
	}
}

const char *spindle_attach_strerror(const struct spindle_queue *q,
				    const struct spindle_attach_opts *o, int err, char *buf,
				    size_t len)
{
	char what[128];

	if (!err) {
		snprintf(buf, len, "success");
		return buf;
	}
	switch (q->step) {
	case SPINDLE_STEP_OPTS:
		snprintf(buf, len,
			 "an option is unknown, or excludes another, or lacks another");
		break;
	case SPINDLE_STEP_OPEN:
		spindle_open_strerror(o->device ? o->device : SPINDLE_DEVICE, err, buf, len);
		break;
	case SPINDLE_STEP_ATTACH:
		attach_error(q, o, err, buf, len);
		break;
	case SPINDLE_STEP_LAYOUT:
		snprintf(buf, len, "the ABI of the module does not fit this library; update one");
		break;
	default:
		say_subgroup(o, what, sizeof(what));
		snprintf(buf, len, "%s: cannot map its memory: %s", what,
			 err == -ENOTCONN ? "its view was just removed" :
			 err == -ESTALE ? "its view was just replaced, try again" :
			 strerror(-err));
	}
	return buf;
}
