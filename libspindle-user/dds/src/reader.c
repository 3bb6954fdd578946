// SPDX-License-Identifier: MIT
/* Readers: the samples of a subgroup that are of the topic and of a writer that matches. */
#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* ---- open and close ---------------------------------------------------------------- */

/* The reader is attached before others know of it, so it misses no sample for it. */
static int announce(struct spindle_dds_reader *r, const struct spindle_dds_topic *topic,
		    const struct spindle_dds_qos *qos)
{
	int err = dds_attach(r->p, &r->q, topic, qos, SPINDLE_ATTACH_RECV);

	if (err)
		return err;
	if (qos->depth)
		err = late_begin(r, qos->depth);
	if (!err)
		err = dds_add(r->p, topic, qos, false, &r->id);
	if (!err)
		return 0;
	late_end(r);
	spindle_detach(&r->q);
	return err;
}

int spindle_dds_reader_open(struct spindle_dds_reader **out, struct spindle_dds *p,
			    const struct spindle_dds_topic *topic,
			    const struct spindle_dds_qos *qos)
{
	struct spindle_dds_reader *r;
	int err;

	*out = NULL;
	err = dds_check(p, topic, qos);
	if (err)
		return err;
	r = calloc(1, sizeof(*r));
	if (!r)
		return dds_fail(p, -ENOMEM, "no memory");
	r->p = p;
	err = announce(r, topic, qos);
	if (err) {
		free(r);
		return err;
	}
	r->next = p->readers;
	p->readers = r;
	*out = r;
	return 0;
}

void spindle_dds_reader_close(struct spindle_dds_reader *r)
{
	struct spindle_dds_reader **at;

	if (!r)
		return;
	for (at = &r->p->readers; *at != r; at = &(*at)->next)
		;
	*at = r->next;
	dds_remove(r->p, r->id);
	late_end(r);
	spindle_detach(&r->q);
	free(r);
}

/* ---- messages ---------------------------------------------------------------------- */

/*
 * Subgroups have no order among themselves, so a sample may be here before its writer. Is it worth
 * to wait for the writer?
 */
static bool is_early(struct spindle_dds_reader *r)
{
	if (!r->ahead_since)
		r->ahead_since = dds_now();
	return dds_now() - r->ahead_since < r->p->opts.timeout_ms;
}

static enum spindle_dds_verdict judge_now(const struct spindle_dds_reader *r, uint32_t node,
					  const struct spindle_dds_head *head)
{
	const struct spindle_dds_endpoint *own = spindle_dds_find_endpoint(r->p->directory, r->id);

	if (!own || own->gone)
		return SPINDLE_DDS_OTHER;
	return spindle_dds_judge(r->p->directory, own, node, head);
}

/* @head is filled, unless the message is FALSE. */
static enum spindle_dds_verdict judge(struct spindle_dds_reader *r, const struct spindle_msg *m,
				      struct spindle_dds_head *head)
{
	enum spindle_dds_verdict verdict;

	if (!spindle_dds_get_head(head, m->data, m->len))
		return SPINDLE_DDS_FALSE;
	verdict = judge_now(r, m->node, head);
	if (verdict != SPINDLE_DDS_AHEAD)
		return verdict;
	/* A failure shows in the next call. */
	if (spindle_dds_work(r->p) > 0)
		verdict = judge_now(r, m->node, head);
	return verdict;
}

/* Give back what the calls before have looked at. The rest of the batch stays. */
static void give_back(struct spindle_dds_reader *r)
{
	spindle_release_n(&r->q, r->at);
	memmove(&r->msg[0], &r->msg[r->at], (r->n - r->at) * sizeof(r->msg[0]));
	r->n -= r->at;
	r->at = 0;
}

/* Have messages in the batch. Return: how many; 0: there are none; or a negative errno. */
static int have_batch(struct spindle_dds_reader *r)
{
	int n;

	if (r->at == r->n) {
		give_back(r);
		n = spindle_next_batch(&r->q, r->msg, BATCH);
		if (n < 0)
			return n;
		r->n = (unsigned int)n;
	}
	return (int)(r->n - r->at);
}

/*
 * Look at the next message of the batch, and go behind it if it needs no more. @head is filled if
 * the verdict is TAKE. A history may have overwritten it while it was read.
 */
static int next_message(struct spindle_dds_reader *r, struct spindle_dds_head *head,
			enum spindle_dds_verdict *verdict)
{
	*verdict = judge(r, &r->msg[r->at], head);
	if (!spindle_intact(&r->q))
		return -ESTALE;
	if (*verdict == SPINDLE_DDS_AHEAD && is_early(r))
		return 0;
	r->ahead_since = 0;
	r->wrong += *verdict == SPINDLE_DDS_FALSE || *verdict == SPINDLE_DDS_AHEAD;
	r->at++;
	return 0;
}

/* ---- samples ----------------------------------------------------------------------- */

static void hand_out(const struct spindle_msg *m, const struct spindle_dds_head *head,
		     struct spindle_dds_sample *s)
{
	*s = (struct spindle_dds_sample){
		.data = (const unsigned char *)m->data +
			spindle_dds_head_bytes(head->flags & SPINDLE_DDS_KEYED),
		.len = head->bytes, .flags = head->flags, .lsn = m->lsn, .writer = head->writer,
		.sequence = head->sequence, .time = head->time, .node = m->node,
	};
	memcpy(s->key, head->key, sizeof(s->key));
}

/* Samples of the batch, in place. Return: how many, or a negative errno. */
static int take_new(struct spindle_dds_reader *r, struct spindle_dds_sample *s, unsigned int most)
{
	enum spindle_dds_verdict verdict;
	struct spindle_dds_head head;
	unsigned int taken = 0, at;
	int n, err;

	give_back(r);
	/* Only samples that are handed out have to stay in the ring. */
	while (taken < most) {
		if (taken && r->at == r->n)
			break;
		n = have_batch(r);
		if (n <= 0)
			return n;
		at = r->at;
		err = next_message(r, &head, &verdict);
		if (err)
			return err;
		if (r->at == at)
			break;
		if (verdict == SPINDLE_DDS_TAKE)
			hand_out(&r->msg[at], &head, &s[taken++]);
	}
	return (int)taken;
}

/* Copy what the history has. Return: 1 if that is all; 0: later; or a negative errno. */
static int read_history(struct spindle_dds_reader *r)
{
	enum spindle_dds_verdict verdict;
	struct spindle_dds_head head;
	unsigned int at;
	int n, err;

	while (!r->late->full) {
		n = have_batch(r);
		if (n < 0)
			return n;
		at = r->at;
		if (!n || r->msg[at].lsn >= r->late->end) {
			r->late->full = true;
			break;
		}
		err = next_message(r, &head, &verdict);
		if (!err && r->at == at)
			return 0;
		if (!err && verdict == SPINDLE_DDS_TAKE)
			err = late_put(r, &r->msg[at], &head);
		if (err)
			return err;
	}
	return 1;
}

static int take(struct spindle_dds_reader *r, struct spindle_dds_sample *s, unsigned int most)
{
	int n;

	if (!r->late)
		return take_new(r, s, most);
	n = read_history(r);
	if (n <= 0)
		return n;
	n = late_take(r, s, most);
	if (n)
		return n;
	late_end(r);
	return take_new(r, s, most);
}

static int failed(struct spindle_dds_reader *r, int err)
{
	char why[WHY_BYTES / 2];

	switch (err) {
	case -ESTALE:
		return dds_fail(r->p, err, "the history has overtaken the reader");
	case -ENOBUFS:
		return dds_fail(r->p, err, "more than %u samples would have to be kept for a "
				"reader that comes late", r->p->opts.late_samples);
	default:
		return dds_fail(r->p, err, "the reader cannot go on: %s",
				spindle_call_strerror(&r->q, err, why, sizeof(why)));
	}
}

int spindle_dds_take(struct spindle_dds_reader *r, struct spindle_dds_sample *s,
		     unsigned int most)
{
	int n = dds_is_lost(r->p);

	if (n || !most)
		return n;
	n = take(r, s, most);
	return n < 0 ? failed(r, n) : n;
}

/* ---- waiting ----------------------------------------------------------------------- */

int spindle_dds_reader_fd(const struct spindle_dds_reader *r)
{
	return spindle_fd(&r->q);
}

int spindle_dds_intact(const struct spindle_dds_reader *r)
{
	return spindle_intact(&r->q);
}

/* Milliseconds until a sample that is early counts as wrong; -1: there is none. */
static int early_ms(const struct spindle_dds_reader *r)
{
	int64_t left = r->ahead_since + r->p->opts.timeout_ms - dds_now();

	if (!r->ahead_since)
		return -1;
	return left < 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

int spindle_dds_wait(struct spindle_dds_reader *r, int timeout_ms)
{
	int early = early_ms(r), n;
	bool sooner = early >= 0 && (timeout_ms < 0 || early < timeout_ms);
	struct pollfd fd[2] = {
		{ .fd = spindle_dds_fd(r->p), .events = POLLIN },
		/* A sample that is early waits for records, and keeps the ring readable. */
		{ .fd = early < 0 ? spindle_fd(&r->q) : -1, .events = POLLIN },
	};

	n = poll(fd, 2, sooner ? early : timeout_ms);
	if (n < 0)
		return -errno;
	if (fd[0].revents) {
		int err = spindle_dds_work(r->p);

		if (err < 0)
			return err;
	}
	return early < 0 ? !!fd[1].revents : n || sooner;
}

void spindle_dds_reader_status(const struct spindle_dds_reader *r, struct spindle_dds_status *st)
{
	dds_status(r->p, r->id, st);
	st->wrong = r->wrong;
	st->oldest = r->q.oldest;
}
