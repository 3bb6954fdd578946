// SPDX-License-Identifier: MIT
/*
 * A participant: its directory is made of the records of the control subgroup, and it says its own
 * records there. A call that says a record waits until the record comes back, because only then its
 * outcome is known.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <time.h>

#include "internal.h"

#define TIMEOUT_MS	10000U
/* Records that one call applies, so that a call ends. */
#define BUDGET		4096

/* Set the words of an error. Return: @err. */
int dds_fail(struct spindle_dds *p, int err, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(p->why, sizeof(p->why), fmt, ap);
	va_end(ap);
	return err;
}

/* Milliseconds of a clock that never goes back. */
int64_t dds_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

const char *spindle_dds_error(const struct spindle_dds *p)
{
	return p->why;
}

int spindle_dds_fd(const struct spindle_dds *p)
{
	return spindle_fd(&p->q);
}

/* ---- records that come --------------------------------------------------------- */

/* The record of this participant that a call waits for. */
static void note_own(struct spindle_dds *p, const struct spindle_msg *m,
		     enum spindle_dds_outcome outcome)
{
	struct awaited *a = &p->awaited;
	struct spindle_dds_record record;

	if (!a->on || m->node != p->opts.node ||
	    !spindle_dds_get_record(&record, m->data, m->len) || record.kind != a->kind ||
	    (record.kind == SPINDLE_DDS_HELLO && record.incarnation != p->incarnation) ||
	    (record.kind == SPINDLE_DDS_ADD && record.number != a->number))
		return;
	a->on = false;
	a->outcome = outcome;
	a->id = m->lsn + 1;
}

static int apply(void *arg, const struct spindle_msg *m, unsigned int n)
{
	struct spindle_dds *p = arg;
	unsigned int i;

	for (i = 0; i < n; i++) {
		if (m[i].kind == SPINDLE_DLV_VIEW)
			p->look = true;
		else
			note_own(p, &m[i], spindle_dds_apply(p->directory, m[i].lsn, m[i].node,
							     m[i].data, m[i].len));
	}
	return 0;
}

/* ---- participants that have gone with their nodes ---------------------------------- */

static bool is_member(const struct spindle_view *v, uint32_t node)
{
	uint32_t i;

	for (i = 0; i < v->members; i++)
		if (v->seat[i].node == node)
			return true;
	return false;
}

/*
 * One participant says of all that have gone with their nodes that they have: that of the first
 * node of the view. If it goes, there is another view, with another first node.
 */
static bool is_speaker(const struct spindle_dds *p, const struct spindle_view *v)
{
	uint32_t i;

	for (i = 0; i < v->members; i++)
		if (spindle_dds_find_participant(p->directory, v->seat[i].node))
			return v->seat[i].node == p->opts.node;
	return false;
}

/* Without room for a record, the next call says it. */
static void look_for_gone(struct spindle_dds *p)
{
	struct spindle_dds_record gone = { .kind = SPINDLE_DDS_GONE };
	struct spindle_view v;
	uint32_t i;

	p->look = false;
	if (spindle_view(&p->q, &v) || !is_speaker(p, &v))
		return;
	for (i = 0; i < SPINDLE_DDS_PARTICIPANTS; i++) {
		const struct spindle_dds_participant *other = &p->directory->participant[i];

		if (!other->id || p->said[i] == other->id || is_member(&v, other->node))
			continue;
		gone.id = other->id;
		if (dds_say(p, &gone))
			p->look = true;
		else
			p->said[i] = other->id;
	}
}

int spindle_dds_work(struct spindle_dds *p)
{
	char why[WHY_BYTES];
	int n = spindle_dispatch(&p->q, apply, p, BUDGET);

	if (n < 0)
		return dds_fail(p, n, "control subgroup: %s",
				spindle_call_strerror(&p->q, n, why, sizeof(why)));
	if (p->look)
		look_for_gone(p);
	return n;
}

/* ---- records that are said ------------------------------------------------------- */

/* Send a record, without a wait. Return: 0, or the errors of spindle_send(). */
int dds_say(struct spindle_dds *p, const struct spindle_dds_record *record)
{
	uint8_t bytes[SPINDLE_DDS_RECORD_BYTES];
	size_t len = spindle_dds_put_record(record, bytes, sizeof(bytes));

	return len ? spindle_send(&p->q, bytes, (uint32_t)len) : -EINVAL;
}

/* Wait for a moment, at most until @end. Return: 0; -ETIMEDOUT; or why the wait has failed. */
static int wait_more(struct spindle_dds *p, int64_t end)
{
	int64_t left = end - dds_now();
	int n;

	if (left <= 0)
		return -ETIMEDOUT;
	n = spindle_wait(&p->q, POLLIN, left > 1000 ? 1000 : (int)left);
	return n < 0 && n != -EINTR ? n : 0;
}

/* Say a record and wait until it has come back. Return: 0, or a negative errno with words. */
static int say_and_wait(struct spindle_dds *p, const struct spindle_dds_record *record)
{
	struct awaited *a = &p->awaited;
	int64_t end = dds_now() + p->opts.timeout_ms;
	bool said = false;
	int err = 0;

	*a = (struct awaited){ .on = true, .kind = record->kind, .number = record->number };
	while (a->on && err >= 0) {
		if (!said) {
			err = dds_say(p, record);
			said = !err;
			if (err == -EAGAIN)
				err = 0;
		}
		if (!err)
			err = spindle_dds_work(p);
		if (err >= 0 && a->on)
			err = wait_more(p, end);
	}
	if (a->on) {
		a->on = false;
		return err == -ETIMEDOUT ?
		       dds_fail(p, err, "the control subgroup did not deliver a record in %u ms",
				p->opts.timeout_ms) :
		       err;
	}
	if (a->outcome == SPINDLE_DDS_DONE)
		return 0;
	return dds_fail(p, -EPROTO, "%s", spindle_dds_outcome_words(a->outcome));
}

/* Announce a writer or reader. @id: out. Return: 0, or a negative errno with words. */
int dds_add(struct spindle_dds *p, const struct spindle_dds_topic *topic,
	    const struct spindle_dds_qos *qos, bool writer, uint64_t *id)
{
	struct spindle_dds_record record = {
		.kind = SPINDLE_DDS_ADD, .number = ++p->number, .writer = writer,
		.topic = *topic, .qos = *qos,
	};
	int err = say_and_wait(p, &record);

	*id = err ? 0 : p->awaited.id;
	return err;
}

/* A writer or reader goes. Without room for the record it stays in the directories until HELLO. */
void dds_remove(struct spindle_dds *p, uint64_t id)
{
	struct spindle_dds_record record = { .kind = SPINDLE_DDS_REMOVE, .id = id };

	dds_say(p, &record);
}

/* ---- open and close -------------------------------------------------------------- */

static int attach(struct spindle_dds *p)
{
	struct spindle_attach_opts o = {
		.device = p->opts.device, .node = p->opts.node, .name = p->opts.control,
		.flags = SPINDLE_ATTACH_BOTH, .want = SPINDLE_WANT_OLDEST | SPINDLE_WANT_VIEWS,
	};
	char why[WHY_BYTES - 80];
	int err = spindle_attach(&p->q, &o);

	if (err)
		return dds_fail(p, err, "control subgroup '%s': %s", o.name,
				spindle_attach_strerror(&p->q, &o, err, why, sizeof(why)));
	p->attached = true;
	if (!(p->q.features & SPINDLE_FEAT_ORDERED))
		return dds_fail(p, -EOPNOTSUPP, "control subgroup '%s' has no order", o.name);
	if (p->q.max_msg < SPINDLE_DDS_RECORD_BYTES)
		return dds_fail(p, -EOPNOTSUPP, "control subgroup '%s' needs messages of %u bytes",
				o.name, SPINDLE_DDS_RECORD_BYTES);
	if (spindle_lsn(&p->q))
		return dds_fail(p, -ENODATA, "control subgroup '%s' does not have its first record "
				"any more: it needs a longer history", o.name);
	return 0;
}

static int take_opts(struct spindle_dds *p, const struct spindle_dds_opts *o)
{
	static const uint32_t no_resv[sizeof(o->resv) / sizeof(o->resv[0])];

	p->opts = *o;
	if (!p->opts.control)
		p->opts.control = "dds";
	if (!p->opts.shared)
		p->opts.shared = 1;
	if (!p->opts.timeout_ms)
		p->opts.timeout_ms = TIMEOUT_MS;
	if (memcmp(o->resv, no_resv, sizeof(no_resv)) || p->opts.shared > SPINDLE_DDS_SHARED)
		return dds_fail(p, -EINVAL, "the options are wrong");
	if (o->name && strlen(o->name) >= SPINDLE_DDS_SHORT)
		return dds_fail(p, -EINVAL, "the name of a participant has at most %u characters",
				SPINDLE_DDS_SHORT - 1);
	return 0;
}

static int say_hello(struct spindle_dds *p)
{
	struct spindle_dds_record hello = {
		.kind = SPINDLE_DDS_HELLO, .shared = p->opts.shared,
	};

	if (getrandom(&p->incarnation, sizeof(p->incarnation), 0) !=
	    (ssize_t)sizeof(p->incarnation))
		return dds_fail(p, -EIO, "there are no random numbers");
	hello.incarnation = p->incarnation;
	if (p->opts.name)
		strcpy(hello.name, p->opts.name);
	return say_and_wait(p, &hello);
}

int spindle_dds_open(struct spindle_dds **out, const struct spindle_dds_opts *o)
{
	static const struct spindle_dds_limits limits = {
		SPINDLE_DDS_TOPICS, SPINDLE_DDS_ENDPOINTS, SPINDLE_DDS_OWN,
	};
	struct spindle_dds *p = calloc(1, sizeof(*p));
	int err;

	*out = p;
	if (!p)
		return -ENOMEM;
	err = take_opts(p, o);
	if (err)
		return err;
	p->directory = malloc(sizeof(*p->directory));
	if (!p->directory)
		return dds_fail(p, -ENOMEM, "no memory for the directory");
	spindle_dds_directory_init(p->directory, &limits);
	err = attach(p);
	return err ? err : say_hello(p);
}

void spindle_dds_close(struct spindle_dds *p)
{
	struct spindle_dds_record gone = { .kind = SPINDLE_DDS_GONE };
	const struct spindle_dds_participant *own;

	if (!p)
		return;
	while (p->readers)
		spindle_dds_reader_close(p->readers);
	while (p->writers)
		spindle_dds_writer_close(p->writers);
	if (p->attached) {
		own = spindle_dds_find_participant(p->directory, p->opts.node);
		if (own && own->incarnation == p->incarnation) {
			gone.id = own->id;
			if (!dds_say(p, &gone))
				spindle_drain(&p->q, (int)p->opts.timeout_ms);
		}
		spindle_detach(&p->q);
	}
	free(p->directory);
	free(p);
}
