// SPDX-License-Identifier: MIT
/*
 * The control subgroup: each participant is a replica of the directory. A participant that comes
 * late gets the directory of another one as a snapshot. A call that says a record waits until the
 * record comes back, because only then its outcome is known.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "internal.h"

/* Messages that one call of spindle_dds_work() applies, about, so that the call ends. */
#define BUDGET	4096

/* ---- the state of the replica ------------------------------------------------------ */

static int write_all(int fd, const uint8_t *from, size_t len)
{
	ssize_t n;

	while (len) {
		n = write(fd, from, len);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		from += n;
		len -= (size_t)n;
	}
	return 0;
}

static int save(void *ctx, int fd, uint64_t lsn)
{
	struct spindle_dds *p = ctx;
	uint8_t *bytes = malloc(SPINDLE_DDS_SNAPSHOT_BYTES);
	size_t len;
	int err;

	(void)lsn;
	if (!bytes)
		return -ENOMEM;
	len = spindle_dds_save(p->directory, bytes, SPINDLE_DDS_SNAPSHOT_BYTES);
	err = len ? write_all(fd, bytes, len) : -ENOSPC;
	free(bytes);
	return err;
}

/* Return: bytes that were read up to the end, @size at most; or a negative errno. */
static ssize_t read_all(int fd, uint8_t *to, size_t size)
{
	size_t at = 0;
	ssize_t n = 1;

	while (n && at < size) {
		n = read(fd, to + at, size - at);
		if (n < 0 && errno != EINTR)
			return -errno;
		at += n > 0 ? (size_t)n : 0;
	}
	return (ssize_t)at;
}

/* Runs in a thread of the replica: the directory that calls look at stays as it is. */
static int load(void *ctx, int fd, uint64_t lsn)
{
	struct spindle_dds *p = ctx;
	/* One byte more, so that a snapshot that is too long is noticed. */
	size_t size = SPINDLE_DDS_SNAPSHOT_BYTES + 1;
	uint8_t *bytes = malloc(size);
	ssize_t len;
	bool good;

	if (!bytes)
		return -ENOMEM;
	len = read_all(fd, bytes, size);
	good = len >= 0 && spindle_dds_load(p->fresh, NULL, bytes, (size_t)len) &&
	       p->fresh->position <= lsn;
	free(bytes);
	if (len < 0)
		return (int)len;
	p->loaded = good;
	return good ? 0 : -EBADMSG;
}

static void look_for_own(struct spindle_dds *p)
{
	const struct spindle_dds_participant *own;

	own = spindle_dds_find_participant(p->directory, p->opts.node);
	p->lost = p->id && (!own || own->id != p->id);
}

/* The thread of load() has ended when the replica has one of these states. */
static void changed(void *ctx, const struct spindle_replica_stat *st)
{
	struct spindle_dds *p = ctx;
	struct spindle_dds_directory *old = p->directory;

	if (!p->loaded || (st->state != SPINDLE_REPLICA_FOLLOWING &&
			   st->state != SPINDLE_REPLICA_CURRENT))
		return;
	p->directory = p->fresh;
	p->fresh = old;
	p->loaded = false;
	look_for_own(p);
}

/* The record of this participant that a call waits for. */
static void note_own(struct spindle_dds *p, const struct spindle_msg *m,
		     const struct spindle_dds_record *record, enum spindle_dds_outcome outcome)
{
	struct awaited *a = &p->awaited;

	if (!a->on || m->node != p->opts.node || record->kind != a->kind ||
	    (record->kind == SPINDLE_DDS_HELLO && record->incarnation != p->incarnation) ||
	    (record->kind == SPINDLE_DDS_ADD && record->number != a->number) ||
	    (record->kind == SPINDLE_DDS_GONE && record->id != p->id))
		return;
	a->on = false;
	a->outcome = outcome;
	a->id = m->lsn + 1;
	if (record->kind == SPINDLE_DDS_HELLO && outcome == SPINDLE_DDS_DONE)
		p->id = a->id;
}

static int apply(void *ctx, const struct spindle_msg *m)
{
	struct spindle_dds *p = ctx;
	uint8_t bytes[SPINDLE_DDS_RECORD_BYTES];
	struct spindle_dds_record record;
	enum spindle_dds_outcome outcome;

	/* What is longer is no record, whatever its bytes are. The copy cannot change any more. */
	if (m->len <= sizeof(bytes))
		memcpy(bytes, m->data, m->len);
	outcome = spindle_dds_apply(p->directory, m->lsn, m->node, bytes,
				    m->len <= sizeof(bytes) ? m->len : 0);
	p->applied++;
	dds_heard(p, m->node);
	if (m->len <= sizeof(bytes) && spindle_dds_get_record(&record, bytes, m->len))
		note_own(p, m, &record, outcome);
	look_for_own(p);
	return 0;
}

const struct spindle_replica_ops dds_replica_ops = {
	.save = save, .load = load, .apply = apply, .changed = changed,
};

/* ---- calls that look and wait -------------------------------------------------------- */

/* Return: 0, or -ENOTCONN with words. */
int dds_is_lost(struct spindle_dds *p)
{
	return p->lost ? dds_fail(p, -ENOTCONN, "others have taken this participant for dead") : 0;
}

static int failed(struct spindle_dds *p, int err)
{
	char why[WHY_BYTES / 2];

	if (err == -EPIPE)
		return dds_fail(p, err, "control subgroup '%s': %s", p->opts.control,
				spindle_call_strerror(spindle_replica_queue(p->replica), err, why,
						      sizeof(why)));
	return dds_fail(p, err, "control subgroup '%s': %s", p->opts.control,
			spindle_replica_strerror(err));
}

int spindle_dds_work(struct spindle_dds *p)
{
	int err, before;

	p->applied = 0;
	do {
		before = p->applied;
		err = spindle_replica_dispatch(p->replica);
		if (err)
			return failed(p, err);
	} while (p->applied > before && p->applied < BUDGET);
	/* Heartbeats that wait in the ring count, so this participant has to be up to date. */
	if (p->applied == before)
		dds_look(p);
	err = dds_is_lost(p);
	return err ? err : p->applied;
}

/*
 * Wait for a moment, at most until @end, for records or for room as well (@events). Return: 0;
 * -ETIMEDOUT without words; or why the replica has failed, with words.
 */
int dds_wait(struct spindle_dds *p, int events, int64_t end)
{
	int64_t left = end - dds_now();
	int err;

	if (left <= 0)
		return -ETIMEDOUT;
	err = spindle_replica_wait(p->replica, events, left > 1000 ? 1000 : (int)left);
	return err && err != -EINTR ? failed(p, err) : 0;
}

/* ---- records that are said ------------------------------------------------------- */

/* Send a record, without a wait. Any thread. Return: 0, or the errors of spindle_send(). */
int dds_say(struct spindle_dds *p, const struct spindle_dds_record *record)
{
	uint8_t bytes[SPINDLE_DDS_RECORD_BYTES];
	size_t len = spindle_dds_put_record(record, bytes, sizeof(bytes));

	return len ? spindle_replica_send(p->replica, bytes, (uint32_t)len) : -EINVAL;
}

/* Say a record and wait until it has come back. Return: 0, or a negative errno with words. */
int dds_say_and_wait(struct spindle_dds *p, const struct spindle_dds_record *record)
{
	struct awaited *a = &p->awaited;
	int64_t end = dds_now() + p->opts.timeout_ms;
	bool said = false;
	int err = 0;

	*a = (struct awaited){ .on = true, .kind = record->kind, .number = record->number };
	while (a->on && !err) {
		if (!said) {
			err = dds_say(p, record);
			said = !err;
			if (err && err != -EAGAIN)
				return failed(p, err);
		}
		err = dds_wait(p, said ? POLLIN : POLLIN | POLLOUT, end);
	}
	if (a->on) {
		a->on = false;
		return err != -ETIMEDOUT ? err :
		       dds_fail(p, err, "the control subgroup did not deliver a record in %u ms",
				p->opts.timeout_ms);
	}
	if (a->outcome == SPINDLE_DDS_DONE)
		return 0;
	return dds_fail(p, -EPROTO, "%s", spindle_dds_outcome_words(a->outcome));
}

/*
 * May a writer or reader of this description be announced? The record decides, but the subgroup of
 * a wrong description may not be there. Return: 0, or a negative errno with words.
 */
int dds_check(struct spindle_dds *p, const struct spindle_dds_topic *topic,
	      const struct spindle_dds_qos *qos)
{
	enum spindle_dds_outcome outcome;
	int err = spindle_dds_work(p);

	if (err < 0)
		return err;
	if (!spindle_dds_good_topic(topic) || !spindle_dds_good_qos(qos))
		return dds_fail(p, -EINVAL, "topic or QoS have a field that is out of range");
	if (qos->level > topic->level)
		return dds_fail(p, -EINVAL, "the QoS has level %s, and the topic %s",
				spindle_dds_level_string(qos->level),
				spindle_dds_level_string(topic->level));
	outcome = spindle_dds_compare(p->directory, topic);
	if (outcome != SPINDLE_DDS_DONE)
		return dds_fail(p, -EPROTO, "%s", spindle_dds_outcome_words(outcome));
	return 0;
}

/* Announce a writer or reader. @id: out. Return: 0, or a negative errno with words. */
int dds_add(struct spindle_dds *p, const struct spindle_dds_topic *topic,
	    const struct spindle_dds_qos *qos, bool writer, uint64_t *id)
{
	struct spindle_dds_record record = {
		.kind = SPINDLE_DDS_ADD, .number = ++p->number, .writer = writer,
		.topic = *topic, .qos = *qos,
	};
	int err = dds_say_and_wait(p, &record);

	*id = err ? 0 : p->awaited.id;
	return err;
}

/* A writer or reader goes. Without room for the record it stays in the directories until GONE. */
void dds_remove(struct spindle_dds *p, uint64_t id)
{
	struct spindle_dds_record record = { .kind = SPINDLE_DDS_REMOVE, .id = id };

	dds_say(p, &record);
}
