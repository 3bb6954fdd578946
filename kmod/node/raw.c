// SPDX-License-Identifier: GPL-2.0-only
/*
 * Raw: the speed of the device itself. See raw.h.
 *
 * The engine measures, in a function of its mailbox. During that time it does nothing else, and
 * the namespace's lock is held. So a request is short, and a longer measurement takes several.
 */
#include <linux/ktime.h>

#include "base/engine.h"
#include "fabric/post.h"
#include "fetch.h"
#include "installed.h"
#include "node.h"
#include "peer.h"
#include "raw.h"
#include "subgroup.h"
#include "table.h"

/* Duration of a request, for any size of a write and any number of members. */
#define RUN_NS (100 * (u64)NSEC_PER_MSEC)
/* Time-out for a device that does not answer. */
#define PATIENCE_NS (5 * (u64)NSEC_PER_SEC)

/* Check that no message is in flight, and that none can be sent. */
static int check_ring(const struct spindle_subgroup *sg)
{
	const struct spindle_mc *mc = &sg->mc;
	u64 set;

	if (!spindle_mc_active(mc) || mc->send.txq.desc ||
	    mc->send.free_slot != mc->own.word[SPINDLE_COL_SLOTS])
		return -EBUSY;
	for (set = sg->peers; set; set &= set - 1)
		if (!spindle_peer_joined(sg->inst->peer[__ffs64(set)]))
			return -EBUSY;
	return 0;
}

/* Check that the device can read all rows, and that it reads none. */
static int check_rows(const struct spindle_subgroup *sg)
{
	struct spindle_fetch *fetch;

	if (sg->state != SPINDLE_STATE_ACTIVE)
		return -EBUSY;
	list_for_each_entry(fetch, &sg->table->fetches->fetching, run) {
		if (fetch->phase == SPINDLE_FETCH_READING)
			return -EBUSY;
		if (fetch->phase != SPINDLE_FETCH_IDLE || READ_ONCE(fetch->went_down))
			return -EAGAIN;
		/* The time of an earlier measurement may have been up. */
		spindle_post_poll(&fetch->conn);
		if (!spindle_post_idle(&fetch->conn))
			return -EBUSY;
	}
	return 0;
}

static int check_idle(const struct spindle_raw *raw)
{
	int err;

	if (raw->kind == SPINDLE_RAW_READ)
		return check_rows(raw->sg);
	err = check_ring(raw->sg);
	return !err && raw->other ? check_ring(raw->other) : err;
}

static bool post(struct spindle_raw *raw, struct spindle_subgroup *sg,
		 struct spindle_peer *peer, u64 at, bool last)
{
	struct spindle_conn *conn = &peer->conn;

	if (!spindle_post_fits(conn, 1)) {
		spindle_post_poll(conn);
		if (!spindle_post_fits(conn, 1))
			return false;
	}
	spindle_post_write(conn, NULL, sg->mc.own.pay + at, peer->out.pay[sg->index] + at,
			   raw->size);
	raw->err = spindle_post_flush(conn, last);
	raw->writes++;
	return true;
}

/*
 * Let the device's threads run, as an engine without work does. cond_resched() would keep the
 * processor until the next tick. Then check for a time-out, and for a connection that went down.
 */
static bool late(struct spindle_raw *raw, const int *went_down, u64 since)
{
	yield();
	if (READ_ONCE(*went_down))
		raw->err = -ENOTCONN;
	else if (ktime_get_ns() - since > PATIENCE_NS)
		raw->err = -ETIMEDOUT;
	return raw->err;
}

static void settle(struct spindle_raw *raw, struct spindle_conn *conn, const int *went_down)
{
	u64 since = ktime_get_ns();

	while (!spindle_post_idle(conn) && !late(raw, went_down, since))
		spindle_post_poll(conn);
}

static void run_writes(struct spindle_raw *raw, u64 begin)
{
	struct spindle_subgroup *sg = raw->sg;
	u64 at = 0, set;
	bool last;

	do {
		u64 since = ktime_get_ns();

		last = raw->done + 1 == raw->count || since - begin >= RUN_NS;
		for (set = sg->peers; set; set &= set - 1) {
			struct spindle_peer *peer = sg->inst->peer[__ffs64(set)];

			while (!post(raw, sg, peer, at, last))
				if (late(raw, &peer->went_down, since))
					return;
			if (raw->err)
				return;
		}
		raw->done++;
		/* Advance through the ring, as messages do. */
		at += ALIGN(raw->size, SPINDLE_UNIT);
		if (at + raw->size > sg->cfg->ring)
			at = 0;
	} while (!last);
	for (set = sg->peers; set && !raw->err; set &= set - 1) {
		struct spindle_peer *peer = sg->inst->peer[__ffs64(set)];

		settle(raw, &peer->conn, &peer->went_down);
	}
}

/* Post reads of all rows, and then wait for all. An idle connection has room for each read. */
static void read_all(struct spindle_raw *raw, struct spindle_fetches *all)
{
	u64 begin = ktime_get_ns();
	struct spindle_fetch *fetch;

	list_for_each_entry(fetch, &all->fetching, run) {
		spindle_post_read(&fetch->conn, 0, 0, raw->size);
		raw->err = spindle_post_flush(&fetch->conn, true);
		if (raw->err)
			return;
		raw->writes++;
	}
	raw->post_ns += ktime_get_ns() - begin;
	list_for_each_entry(fetch, &all->fetching, run) {
		settle(raw, &fetch->conn, &fetch->went_down);
		if (raw->err)
			return;
	}
}

static void run_reads(struct spindle_raw *raw, u64 begin)
{
	while (!raw->err && raw->done < raw->count && ktime_get_ns() - begin < RUN_NS) {
		read_all(raw, raw->sg->table->fetches);
		raw->done += !raw->err;
	}
}

static struct spindle_peer *peer_of(const struct spindle_subgroup *sg,
				    const struct spindle_subgroup *other)
{
	return sg->inst->peer[other->inst->mg.me];
}

/* Address at @to of the last byte of a write of @from. */
static u8 *mark_at(const struct spindle_raw *raw, const struct spindle_subgroup *from,
		   const struct spindle_subgroup *to)
{
	const struct spindle_peer *back = peer_of(to, from);

	return back->row.mem.va + back->in.pay[to->index] + raw->size - 1;
}

/* Let @from write @mark as the last byte, and wait until @to sees it. */
static void throw(struct spindle_raw *raw, struct spindle_subgroup *from,
		  struct spindle_subgroup *to, u8 mark)
{
	struct spindle_peer *peer = peer_of(from, to);
	u8 *src = from->inst->row.mem.va + from->mc.own.pay + raw->size - 1;
	const u8 *dst = mark_at(raw, from, to);
	u64 since = ktime_get_ns();

	WRITE_ONCE(*src, mark);
	while (!post(raw, from, peer, 0, false))
		if (late(raw, &peer->went_down, since))
			return;
	while (!raw->err && READ_ONCE(*dst) != mark)
		late(raw, &peer->went_down, since);
}

static void run_pingpong(struct spindle_raw *raw, u64 begin)
{
	/* Clear the bytes, so that data of an earlier run or message cannot pass for a mark. */
	WRITE_ONCE(*mark_at(raw, raw->sg, raw->other), 0);
	WRITE_ONCE(*mark_at(raw, raw->other, raw->sg), 0);
	while (raw->done < raw->count && ktime_get_ns() - begin < RUN_NS) {
		/* The mark must differ from that of the round before. */
		u8 mark = 1 + (raw->done & 63);

		throw(raw, raw->sg, raw->other, mark);
		if (!raw->err)
			throw(raw, raw->other, raw->sg, mark);
		if (raw->err)
			return;
		raw->done++;
	}
}

static void measure_fn(void *ctx)
{
	struct spindle_raw *raw = ctx;
	u64 begin;

	raw->err = check_idle(raw);
	if (raw->err)
		return;
	begin = ktime_get_ns();
	switch (raw->kind) {
	case SPINDLE_RAW_PINGPONG:
		run_pingpong(raw, begin);
		break;
	case SPINDLE_RAW_READ:
		run_reads(raw, begin);
		break;
	default:
		run_writes(raw, begin);
	}
	raw->ns = ktime_get_ns() - begin;
}

/**
 * spindle_raw_run() - measure, for a tenth of a second at most
 * @raw: parameters and results
 *
 * Context: process, the namespace's lock.
 * Return: 0; -EBUSY if the subgroup is in use, -EAGAIN if the device cannot read a member yet,
 * -ENOTCONN if a member is lost during the measurement, -ETIMEDOUT, or the error of a post
 */
int spindle_raw_run(struct spindle_raw *raw)
{
	lockdep_assert_held(&raw->sg->inst->node->sn->lock);
	spindle_engine_call(raw->sg->inst->node->engine, measure_fn, raw);
	return raw->err;
}
