// SPDX-License-Identifier: GPL-2.0-only
/* Sending. See end.h. */
#include <string.h>

#include "common/clock.h"
#include "common/util.h"
#include "end.h"

/**
 * perf_send_control() - send a control message
 * @e: member that sends
 * @kind: enum perf_kind, which explains the two numbers
 * @number: number of the message
 * @time: time of the message
 *
 * Return: 1 sent, 0 no room at present, -1 failed
 */
int perf_send_control(struct perf_end *e, uint32_t kind, uint64_t number, uint64_t time)
{
	struct perf_head head = {
		.kind = kind,
		.nonce = e->load->nonce,
		.number = number,
		.time = time,
	};
	int err = spindle_send(&e->q, &head, sizeof(head));

	e->blocked = err == -EAGAIN;
	if (!err || err == -EAGAIN)
		return !err;
	return perf_end_fail(e, "cannot send: %s", strerror(-err));
}

/* Will the end send more data in this repetition? */
bool perf_send_wants(const struct perf_end *e)
{
	return e->running && e->me && !e->over && e->sent != e->quota;
}

static bool may_send(const struct perf_end *e, uint64_t now)
{
	if (!perf_send_wants(e) || now < e->due)
		return false;
	return !e->load->conf->closed || perf_from_num(e->me) == e->sent;
}

static void fill(const struct perf_end *e, unsigned char *p, uint64_t time)
{
	const struct perf_load *load = e->load;
	struct perf_head head = {
		.kind = PERF_DATA,
		.nonce = load->nonce,
		.number = e->sent,
		.time = time,
	};
	uint32_t skip = load->heads ? PERF_HEAD : 0;

	if (load->conf->copy_in)
		memcpy(p, load->source, load->size);
	if (load->heads)
		memcpy(p, &head, sizeof(head));
	if (load->conf->verify)
		perf_fill(p + skip, load->size - skip,
			  perf_key(e->q.subgroup, e->q.node, e->sent));
}

/* Compute when the next message may be sent. */
static void schedule(struct perf_end *e)
{
	const struct perf_load *load = e->load;

	if (load->gap > 0) {
		/* The phase keeps senders from sending at the same moment. */
		double phase = (double)e->q.sender_rank / e->q.senders;

		e->due = e->start + (uint64_t)((phase + e->sent) * load->gap);
	} else if (e->me->delayed && load->delay > load->spin_ticks) {
		e->due = perf_now() + load->delay;
	} else if (e->me->delayed) {
		perf_spin(load->delay);
	}
}

/* Has the time passed or, for an end that follows others, have these finished? */
static void look_for_end(struct perf_end *e, uint64_t now)
{
	if (e->stop ? now >= e->stop : e->me->follows && !e->left_fast)
		e->over = true;
}

/* Send the number of messages, because other members do not know it. */
static int say_end(struct perf_end *e)
{
	int rc = perf_send_control(e, PERF_END, e->sent, 0);

	e->end_said = rc > 0;
	return rc;
}

/**
 * perf_send() - send as much data as may be sent now
 * @e: member
 * @now: ticks
 *
 * A batch is committed quietly and flushed once, which is a system call only if the
 * engine sleeps.
 *
 * Return: 1 if a message was sent, 0 if not, or -1
 */
int perf_send(struct perf_end *e, uint64_t now)
{
	const struct perf_load *load = e->load;
	unsigned int n = 0, most = e->me && e->me->delayed ? 1 : load->conf->batch;
	struct spindle_slot slot;
	uint64_t time;
	int err;

	if (!e->running || !e->me || !e->me->active)
		return 0;
	if (!e->over)
		look_for_end(e, now);
	e->blocked = false;
	while (n < most && may_send(e, now)) {
		err = spindle_reserve(&e->q, load->size, &slot);
		if (err == -EAGAIN) {
			e->blocked = true;
			break;
		}
		if (err)
			return perf_end_fail(e, "cannot send: %s", strerror(-err));
		/*
		 * With a rate, the time of a message counts from when it was due, even if it is
		 * sent late.
		 */
		time = load->gap > 0 ? e->due : load->heads ? perf_now() : 0;
		if (load->gap > 0)
			perf_hist_add(e->late, perf_since(now, e->due));
		fill(e, slot.data, time);
		spindle_commit_quiet(&e->q, &slot, load->size);
		e->sent++;
		n++;
		if (e->me->delayed)
			spindle_flush(&e->q);
		schedule(e);
	}
	if (n)
		spindle_flush(&e->q);
	if (e->over && e->quota == PERF_OPEN && !e->end_said)
		return say_end(e) ?: !!n;
	return !!n;
}
