// SPDX-License-Identifier: GPL-2.0-only
/*
 * Raw: what the device does by itself. See raw.h.
 *
 * The engine runs a measurement in slices, each a function in its mailbox, so that a
 * long one can be interrupted and does not keep the engine from other mail.
 */
#include <linux/ktime.h>
#include <linux/sched/signal.h>

#include "engine.h"
#include "fabric/post.h"
#include "group.h"
#include "node.h"
#include "peer.h"
#include "raw.h"
#include "subgroup.h"

/* How long a slice takes, whatever the size of a write and the number of members. */
#define SLICE_NS (50 * (u64)NSEC_PER_MSEC)
/* Patience with a device that does not answer. */
#define PATIENCE_NS (5 * (u64)NSEC_PER_SEC)

/* Is nothing under way, at any member, and can nothing begin? */
static int check_idle(const struct spindle_subgroup *sg)
{
	const struct spindle_mc *mc = &sg->mc;
	u64 set;

	if (!mc->active || mc->txq.desc || mc->free_slot != mc->word[SPINDLE_COL_SLOTS])
		return -EBUSY;
	for (set = sg->peers; set; set &= set - 1)
		if (!sg->group->peer[__ffs64(set)]->joined)
			return -EBUSY;
	return 0;
}

static bool post(struct spindle_raw *raw, struct spindle_subgroup *sg,
		 struct spindle_peer *peer, u64 at, bool last)
{
	struct spindle_conn *conn = &peer->conn;

	if (spindle_post_room(conn) < SPINDLE_POST_PIECES) {
		spindle_post_poll(conn);
		if (spindle_post_room(conn) < SPINDLE_POST_PIECES)
			return false;
	}
	spindle_post_write(conn, NULL, sg->mc.own_pay + at, peer->out.pay[sg->index] + at,
			   raw->size);
	raw->err = spindle_post_flush(conn, last);
	raw->writes++;
	return true;
}

/* The device has had its chance to run; did it take too long, or is the peer lost? */
static bool late(struct spindle_raw *raw, const struct spindle_peer *peer, u64 since)
{
	cond_resched();
	if (READ_ONCE(peer->went_down))
		raw->err = -ENOTCONN;
	else if (ktime_get_ns() - since > PATIENCE_NS)
		raw->err = -ETIMEDOUT;
	return raw->err;
}

static void settle(struct spindle_raw *raw, struct spindle_peer *peer)
{
	u64 since = ktime_get_ns();

	while (!spindle_post_idle(&peer->conn) && !late(raw, peer, since))
		spindle_post_poll(&peer->conn);
}

static void write_slice(struct spindle_raw *raw)
{
	struct spindle_subgroup *sg = raw->sg;
	u64 begin = ktime_get_ns(), since = begin, at = 0, set;

	for (; raw->done < raw->count && since - begin < SLICE_NS; raw->done++) {
		for (set = sg->peers; set; set &= set - 1) {
			struct spindle_peer *peer = sg->group->peer[__ffs64(set)];

			since = ktime_get_ns();
			while (!post(raw, sg, peer, at, raw->done + 1 == raw->count))
				if (late(raw, peer, since))
					return;
			if (raw->err)
				return;
		}
		/* Through the ring, as payload goes. */
		at += ALIGN(raw->size, SPINDLE_UNIT);
		if (at + raw->size > sg->cfg->ring)
			at = 0;
	}
	if (raw->done != raw->count)
		return;
	for (set = sg->peers; set && !raw->err; set &= set - 1)
		settle(raw, sg->group->peer[__ffs64(set)]);
}

static struct spindle_peer *peer_of(const struct spindle_subgroup *sg,
				    const struct spindle_subgroup *other)
{
	return sg->group->peer[other->group->me];
}

/* Where the last byte of a write of @from arrives at @to. */
static u8 *mark_at(const struct spindle_raw *raw, const struct spindle_subgroup *from,
		   const struct spindle_subgroup *to)
{
	const struct spindle_peer *back = peer_of(to, from);

	return back->row.mem.va + back->in.pay[to->index] + raw->size - 1;
}

/* Have @from write a mark as the last byte, and @to wait for it. */
static void throw(struct spindle_raw *raw, struct spindle_subgroup *from,
		  struct spindle_subgroup *to, u8 mark)
{
	struct spindle_peer *peer = peer_of(from, to);
	u8 *src = from->group->row.mem.va + from->mc.own_pay + raw->size - 1;
	const u8 *dst = mark_at(raw, from, to);
	u64 since = ktime_get_ns();

	WRITE_ONCE(*src, mark);
	while (!post(raw, from, peer, 0, false))
		if (late(raw, peer, since))
			return;
	while (!raw->err && READ_ONCE(*dst) != mark)
		late(raw, peer, since);
}

static void pingpong_slice(struct spindle_raw *raw)
{
	u64 begin = ktime_get_ns();

	/* What an earlier run or a message has left there must not pass for a mark. */
	if (!raw->done) {
		WRITE_ONCE(*mark_at(raw, raw->sg, raw->other), 0);
		WRITE_ONCE(*mark_at(raw, raw->other, raw->sg), 0);
	}
	while (raw->done < raw->count && ktime_get_ns() - begin < SLICE_NS) {
		/* Not that of before. */
		u8 mark = 1 + (raw->done & 63);

		throw(raw, raw->sg, raw->other, mark);
		if (!raw->err)
			throw(raw, raw->other, raw->sg, mark);
		if (raw->err)
			return;
		raw->done++;
	}
}

static void slice_fn(void *ctx)
{
	struct spindle_raw *raw = ctx;

	/* Between two slices anything may have happened. */
	raw->err = check_idle(raw->sg);
	if (!raw->err && raw->other)
		raw->err = check_idle(raw->other);
	if (raw->err)
		return;
	if (!raw->done)
		raw->begin = ktime_get_ns();
	if (raw->kind == SPINDLE_RAW_PINGPONG)
		pingpong_slice(raw);
	else
		write_slice(raw);
	raw->ns = ktime_get_ns() - raw->begin;
}

/**
 * spindle_raw_run() - measure
 * @raw: what, and the results
 *
 * Context: process, spindle_mutex.
 * Return: 0; -EBUSY if the subgroup is in use, -ENOTCONN if a member is lost meanwhile,
 * -ETIMEDOUT, -ECANCELED after a signal, or the error of a post
 */
int spindle_raw_run(struct spindle_raw *raw)
{
	do {
		spindle_engine_call(raw->sg->group->node->engine, slice_fn, raw);
		/* Not EINTR: to that netlink gives no answer. */
		if (!raw->err && raw->done < raw->count && signal_pending(current))
			raw->err = -ECANCELED;
	} while (!raw->err && raw->done < raw->count);
	return raw->err;
}
