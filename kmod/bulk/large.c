// SPDX-License-Identifier: GPL-2.0-only
/*
 * Large: the kernel side of a subgroup's streams, for its large messages. See large.h.
 */
#include <linux/ktime.h>
#include <linux/slab.h>

#include "base/engine.h"
#include "large.h"
#include "node/installed.h"
#include "node/node.h"
#include "node/peer.h"
#include "node/subgroup.h"
#include "pinned.h"
#include "rdmc.h"

/* Time until the chore tries again after it had no memory: the first, and the longest. */
#define AGAIN_MS	10
#define AGAIN_MS_MAX	1000
/* Blocks of a stream to unmap per pass, because each takes 1 or 2 us behind an IOMMU. */
#define UNMAP_BLOCKS	64

static struct spindle_node *large_node(const struct spindle_large *large)
{
	return large->sg->inst->node;
}

static struct spindle_large *large_of(const struct spindle_rdmc *r)
{
	return container_of(spindle_link_to(r, 0)->chore, struct spindle_large, chore);
}

static struct spindle_rdmc *stream(struct spindle_large *large, u32 s)
{
	return &large->streams.stream[s].r;
}

/* ---- engine: callbacks of streams -------------------------------------------- */

static struct spindle_conn *lane_conn(struct spindle_rdmc *r, u32 m)
{
	return &spindle_link_to(r, m)->lane->bulk.conn;
}

static bool stream_parted(struct spindle_rdmc *r, u32 m)
{
	return READ_ONCE(lane_conn(r, m)->parted);
}

/* Give up a member, so that the view goes on without it. */
static void stream_miss(struct spindle_rdmc *r, u32 m, enum spindle_mb_reason how)
{
	const struct spindle_installed *inst = large_of(r)->sg->inst;
	int rank = spindle_view_rank(&inst->view, r->cfg.member[m]);
	struct spindle_peer *peer = rank < 0 ? NULL : inst->peer[rank];
	const char *why = "no connection for blocks to the peer";

	if (how == SPINDLE_MB_LIED)
		why = "the peer broke the rules of large messages";
	if (peer && how == SPINDLE_MB_LIED)
		spindle_peer_blame(peer, why);
	else if (peer)
		spindle_conn_fail(&peer->conn, why);
	spindle_conn_fail(lane_conn(r, m), why);
}

static bool stream_release(struct spindle_rdmc *r, void *mem)
{
	struct spindle_large *large = large_of(r);
	struct spindle_pinned *pinned = mem;

	if (!spindle_pinned_unmap_some(pinned, UNMAP_BLOCKS))
		return false;
	if (llist_add(&pinned->free, &large->garbage))
		spindle_chore_queue(&large->chore, 0);
	return true;
}

static bool stream_ready(struct spindle_rdmc *r, u32 m)
{
	return spindle_link_to(r, m)->ready;
}

static bool stream_lost(struct spindle_rdmc *r, u32 m)
{
	return spindle_link_to(r, m)->lane->lost && !spindle_link_to(r, m)->again;
}

static void stream_want(struct spindle_streams *ss, u32 s)
{
	spindle_chore_queue(&container_of(ss, struct spindle_large, streams)->chore, 0);
}

static const struct spindle_streams_ops streams_ops = {
	.rdmc = {
		.room = spindle_link_room,
		.say = spindle_link_say,
		.grant = spindle_link_grant,
		.revoke = spindle_link_revoke,
		.write = spindle_link_write,
		.cut = spindle_stream_cut,
		.release = stream_release,
	},
	.ready = stream_ready,
	.lost = stream_lost,
	.parted = stream_parted,
	.miss = stream_miss,
	.want = stream_want,
};

/**
 * spindle_large_pass() - one pass of the engine
 * @large: large messages
 * @now: time
 *
 * Return: true if there was something to do
 */
bool spindle_large_pass(struct spindle_large *large, u64 now)
{
	bool work = spindle_streams_pass(&large->streams, now);

	spindle_engine_assert(large_node(large)->engine);
	if (work && large->sg->mc.send.held == SPINDLE_HELD_PLACED)
		spindle_subgroup_touch(large->sg);
	return work;
}

/* ---- chores: process, the namespace's lock ---------------------------------------- */

/**
 * struct letter - a stream's request for memory, and the answer of the chore
 */
struct letter {
	/** @large: large messages */
	struct spindle_large *large;
	/** @s: sender rank */
	u32 s;
	/** @wanted: the stream wants memory */
	bool wanted;
	/** @turn: number of the request */
	u64 turn;
	/** @len: bytes */
	u64 len;
	/** @unit: position in the ring */
	u64 unit;
	/** @pinned: the memory, or NULL */
	struct spindle_pinned *pinned;
	/** @taken: the stream has taken it */
	bool taken;
};

static void look_fn(void *ctx)
{
	struct letter *letter = ctx;
	const struct spindle_stream *st = &letter->large->streams.stream[letter->s];

	spindle_engine_assert(large_node(letter->large)->engine);
	letter->wanted = st->wanted;
	letter->turn = st->turn;
	letter->len = st->len;
	letter->unit = st->unit;
}

static void give_fn(void *ctx)
{
	struct letter *letter = ctx;
	const struct spindle_stream *st = &letter->large->streams.stream[letter->s];
	struct spindle_pinned *pinned = letter->pinned;

	spindle_engine_assert(large_node(letter->large)->engine);
	letter->taken = spindle_streams_give(&letter->large->streams, letter->s, letter->turn,
					     pinned, pinned ? pinned->have : NULL);
	/* The stream counts its blocks by the length that it wanted. */
	WARN_ON_ONCE(letter->taken && pinned->len != st->len);
}

static void free_pinned(struct spindle_pinned *pinned)
{
	spindle_pinned_unmap(pinned);
	spindle_pinned_free(pinned);
}

/* Borrow and map the pages of a message, in the row of its sender. */
static struct spindle_pinned *find_bytes(const struct letter *letter)
{
	struct spindle_large *large = letter->large;
	const struct spindle_subgroup *sg = large->sg;
	const struct spindle_installed *inst = sg->inst;
	const struct spindle_rdmc_config *cfg = &large->streams.stream[letter->s].cfg;
	const struct spindle_region *row = &inst->row;
	const struct spindle_layout *layout = &inst->layout;
	struct spindle_pinned *pinned;
	u64 ring = sg->cfg->ring;

	if (cfg->me) {
		int rank = spindle_view_rank(&inst->view, cfg->member[0]);
		const struct spindle_peer *peer = rank < 0 ? NULL : inst->peer[rank];

		if (!peer)
			return NULL;
		row = &peer->row;
		layout = &peer->in;
	}
	pinned = spindle_pinned_borrow(&row->mem, layout->pay[sg->index], ring,
				       (letter->unit << SPINDLE_UNIT_SHIFT) & (ring - 1),
				       letter->len, __ffs(cfg->block), cfg->me);
	if (pinned && spindle_pinned_map(pinned, large_node(large)->ep.ib)) {
		free_pinned(pinned);
		pinned = NULL;
	}
	return pinned;
}

/* Give a stream the memory that it wants. Returns false if there is not enough memory. */
static bool feed(struct spindle_large *large, u32 s)
{
	struct letter letter = { .large = large, .s = s };

	spindle_engine_call(large_node(large)->engine, look_fn, &letter);
	if (!letter.wanted)
		return true;
	letter.pinned = find_bytes(&letter);
	spindle_engine_call(large_node(large)->engine, give_fn, &letter);
	if (letter.pinned && !letter.taken)
		free_pinned(letter.pinned);
	return letter.pinned;
}

static void ready_fn(void *ctx)
{
	struct spindle_link *link = ctx;

	/* Check @lost here in the engine, because the regions go when a lost lane is closed. */
	if (!link->lane->lost)
		WRITE_ONCE(link->ready, true);
}

/* Prepare the links whose lanes came up. Returns false if there is not enough memory. */
static bool prepare(struct spindle_large *large, u32 s)
{
	struct spindle_large_sender *from = &large->sender[s];
	u32 m;

	for (m = 0; m < large->streams.stream[s].cfg.n; m++) {
		struct spindle_link *link = &from->link[m];

		if (!spindle_link_due(link))
			continue;
		if (spindle_link_prepare(link, from->sources & BIT_ULL(m)))
			return false;
		spindle_engine_call(large_node(large)->engine, ready_fn, link);
	}
	return true;
}

static void free_garbage(struct spindle_large *large)
{
	struct spindle_pinned *pinned, *next;

	llist_for_each_entry_safe(pinned, next, llist_del_all(&large->garbage), free)
		spindle_pinned_free(pinned);
}

static void large_chore(struct spindle_chore *work)
{
	struct spindle_large *large = container_of(work, struct spindle_large, chore);
	struct mem_cgroup *before = spindle_payer_enter(&large_node(large)->payer);
	bool ok = true;
	u32 s;

	free_garbage(large);
	for (s = 0; s < large->sg->mc.senders; s++)
		ok &= prepare(large, s) && feed(large, s);
	spindle_payer_leave(before);
	large->again_ms = ok ? AGAIN_MS : min(2 * large->again_ms, AGAIN_MS_MAX);
	if (!ok)
		spindle_chore_queue(&large->chore, large->again_ms);
}

/* ---- life: process, the namespace's lock ------------------------------------------- */

/* This only depends on the configuration, so it is the same at all members and in all views. */
static bool has_large(const struct spindle_view_subgroup *cfg)
{
	return cfg->max_msg > SPINDLE_DEF_LARGE;
}

static void run_fn(void *ctx)
{
	struct spindle_large *large = ctx;

	list_add_tail(&large->run, &large_node(large)->larges);
}

static int make_senders(struct spindle_large *large)
{
	struct spindle_schedule schedule;
	u32 s, m;

	for (s = 0; s < large->sg->mc.senders; s++) {
		const struct spindle_rdmc_config *cfg = &large->streams.stream[s].cfg;
		struct spindle_large_sender *from = &large->sender[s];

		from->link = kvcalloc(cfg->n, sizeof(*from->link), GFP_KERNEL_ACCOUNT);
		if (!from->link)
			return -ENOMEM;
		for (m = 0; m < cfg->n; m++) {
			from->link[m].r = stream(large, s);
			from->link[m].chore = &large->chore;
			from->link[m].m = m;
		}
		stream(large, s)->ctx = from->link;
		if (cfg->n == 1)
			continue;
		spindle_schedule_init(&schedule, cfg->algorithm, cfg->n, cfg->me, 1, NULL);
		from->sources = spindle_schedule_sources(&schedule);
	}
	return 0;
}

/**
 * spindle_large_create() - allocate the streams of a subgroup, if it can have large messages
 * @sg: the subgroup
 * @view: the view of the subgroup
 *
 * Return: 0 or -ENOMEM
 */
int spindle_large_create(struct spindle_subgroup *sg, const struct spindle_view *view)
{
	u32 senders = sg->mc.senders;
	struct spindle_large *large;

	if (!has_large(&view->subgroup[sg->index]))
		return 0;
	sg->mc.tune.large = SPINDLE_DEF_LARGE;
	large = kzalloc(struct_size(large, sender, senders), GFP_KERNEL_ACCOUNT);
	if (!large)
		return -ENOMEM;
	large->sg = sg;
	large->again_ms = AGAIN_MS;
	large->streams.ops = &streams_ops;
	large->streams.mg = &sg->inst->mg;
	large->streams.mc = &sg->mc;
	large->streams.endless = !sg->inst->live;
	init_llist_head(&large->garbage);
	spindle_chore_init(&large->chore, sg->inst->node->sn, large_chore);
	sg->large = large;
	sg->streams = &large->streams;
	spindle_engine_call(large_node(large)->engine, run_fn, large);
	large->streams.stream = kvcalloc(senders, sizeof(*large->streams.stream),
					 GFP_KERNEL_ACCOUNT);
	if (senders && !large->streams.stream)
		return -ENOMEM;
	spindle_streams_init(&large->streams, view, sg->index, SPINDLE_RDMC_BLOCK);
	return make_senders(large);
}

/**
 * spindle_large_open() - get lanes to the other members
 * @large: large messages
 * @view: the view of the subgroup
 * @peer: the other members, by rank
 *
 * Return: 0, -ENOMEM or -ENOSPC
 */
int spindle_large_open(struct spindle_large *large, const struct spindle_view *view,
		       struct spindle_peer *const *peer)
{
	struct spindle_node *node = large_node(large);
	u32 s, m;
	int err;

	for (s = 0; s < large->sg->mc.senders; s++) {
		const struct spindle_rdmc_config *cfg = &large->streams.stream[s].cfg;

		for (m = 0; m < cfg->n; m++) {
			int rank = spindle_view_rank(view, cfg->member[m]);
			const struct spindle_peer *p = peer[rank];

			if (m == cfg->me)
				continue;
			err = spindle_lane_get(&large->sender[s].link[m], node,
					       &view->member[rank],
					       p->expected ? p->expected : p->incarnation);
			if (err)
				return err;
		}
	}
	/* A shared lane may be up already, and then no event queues the chore. */
	spindle_chore_queue(&large->chore, 0);
	return 0;
}

static void leave_fn(void *ctx)
{
	struct spindle_large *large = ctx;

	spindle_streams_stop(&large->streams);
	list_del(&large->run);
}

struct last {
	struct spindle_large *large;
	bool quiet;
};

static void last_fn(void *ctx)
{
	struct last *last = ctx;

	spindle_streams_pass(&last->large->streams, ktime_get_ns());
	last->quiet = spindle_streams_quiet(&last->large->streams);
}

static void close_lanes(struct spindle_large *large)
{
	u32 s, m;

	for (s = 0; s < large->sg->mc.senders; s++)
		for (m = 0; m < large->streams.stream[s].cfg.n; m++)
			if (large->sender[s].link[m].lane)
				spindle_lane_close(large->sender[s].link[m].lane);
}

/*
 * A view only ends when its streams are quiet, or when all other members have gone. In the second
 * case no one needs the lanes, so close them: then the device uses no memory of them any more,
 * and the streams become quiet.
 */
static void end_streams(struct spindle_large *large)
{
	struct last last = { .large = large };

	spindle_engine_call(large_node(large)->engine, last_fn, &last);
	if (!last.quiet)
		close_lanes(large);
	while (!last.quiet)
		spindle_engine_call(large_node(large)->engine, last_fn, &last);
}

static void put_lanes(struct spindle_large_sender *from, u32 n)
{
	u32 m;

	for (m = 0; from->link && m < n; m++)
		if (from->link[m].lane)
			spindle_lane_put(&from->link[m]);
	kvfree(from->link);
}

/**
 * spindle_large_destroy() - free the streams of a subgroup
 * @large: possibly half built, or NULL
 *
 * The caller frees rows after this, because streams borrow pages of rows.
 */
void spindle_large_destroy(struct spindle_large *large)
{
	u32 s;

	if (!large)
		return;
	spindle_engine_call(large_node(large)->engine, leave_fn, large);
	if (large->streams.vid)
		end_streams(large);
	for (s = 0; large->streams.stream && s < large->sg->mc.senders; s++)
		put_lanes(&large->sender[s], large->streams.stream[s].cfg.n);
	spindle_chore_cancel(&large->chore);
	free_garbage(large);
	kvfree(large->streams.stream);
	kfree(large);
}
