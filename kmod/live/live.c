// SPDX-License-Identifier: GPL-2.0-only
/*
 * Live: a pass of membership, creation and removal. See live.h.
 */
#include <linux/ktime.h>
#include <linux/slab.h>

#include "base/engine.h"
#include "core/base/ranges.h"
#include "fabric/post.h"
#include "join.h"
#include "live.h"
#include "node/above.h"
#include "node/installed.h"
#include "node/node.h"
#include "node/peer.h"
#include "offer.h"
#include "past.h"

/* Shortest time between two passes of membership while its state is ACTIVE. */
#define LOOK_NS		(100 * NSEC_PER_USEC)
/* How often seats are checked, while there are some that may become free. */
#define REAP_NS		(100 * NSEC_PER_MSEC)
/* Heartbeats in a timeout. */
#define BEATS		10

/* ---- a pass ------------------------------------------------------------ */

/**
 * live_told() - have all writes of a joining node to the members arrived?
 * @ctx: the installed view
 *
 * Return: true if so
 */
static bool live_told(void *ctx)
{
	struct spindle_installed *inst = ctx;
	struct spindle_peer *peer;
	u32 i;

	for (i = 0; (peer = spindle_installed_next(inst, &i)); i++)
		if (!spindle_post_idle(&peer->conn))
			return false;
	return true;
}

/**
 * live_connected() - report that this node is connected to all members
 * @ctx: the installed view
 */
static void live_connected(void *ctx)
{
	const struct spindle_installed *inst = ctx;

	spindle_live_say_view(inst->live, true);
}

/**
 * live_next_guest() - find a node that wants to join, and is connected or connects
 * @ctx: the installed view
 * @guest: in: the seat to begin with; out: the first guest from there on
 *
 * Return: false if there is none
 */
static bool live_next_guest(void *ctx, struct spindle_mg_guest *guest)
{
	struct spindle_installed *inst = ctx;
	const struct spindle_peer *peer;

	if (!inst->live->guests)
		return false;
	for (; (peer = spindle_installed_next(inst, &guest->seat)); guest->seat++) {
		if (!spindle_peer_is_guest(peer) || peer->phase == SPINDLE_PEER_LOST)
			continue;
		guest->id = peer->id;
		guest->incarnation = peer->expected;
		guest->ready = peer->ready;
		return true;
	}
	return false;
}

/*
 * The longest silence of the members @ranks, which are suspected now. A member that is suspected
 * because another one suspects it (GOSSIP) only counts if it was silent here, too: then the other
 * member noticed first. If this node heard it a moment ago, the other has some other reason.
 */
static u64 silence_of(const struct spindle_live *live, u64 ranks, u64 now)
{
	u64 heard = now;

	for (; ranks; ranks &= ranks - 1) {
		const struct spindle_mb_peer *p = &live->mb.peer[__ffs64(ranks)];

		if (p->reason == SPINDLE_MB_SILENT || p->reason == SPINDLE_MB_LOST ||
		    (p->reason == SPINDLE_MB_GOSSIP && now - p->heard > 2 * live->mb.interval))
			heard = min(heard, p->heard);
	}
	return now - heard;
}

/**
 * live_pass() - membership's part of a pass
 * @live: the live view
 * @how: SPINDLE_PASS_*
 *
 * Return: true if something has happened
 */
static bool live_pass(struct spindle_live *live, u32 how)
{
	struct spindle_mb *mb = &live->mb;
	u64 now = ktime_get_ns(), suspected = mb->suspected;
	bool work;

	spindle_engine_assert(live->inst->node->engine);
	if (mb->state == SPINDLE_MB_STOPPED)
		return false;
	if (live->inst->mg.formed && mb->state == SPINDLE_MB_ACTIVE &&
	    !(how & SPINDLE_PASS_IDLE) && now - live->looked < LOOK_NS)
		return false;
	live->looked = now;
	if ((live->guests || mb->wish || live->offer) && now - live->reaped > REAP_NS) {
		live->reaped = now;
		if (live->guests || mb->wish)
			spindle_live_chore(live, SPINDLE_CHORE_REAP);
		if (live->offer)
			spindle_live_chore(live, SPINDLE_CHORE_OFFER);
	}
	spindle_offer_pass(live);
	work = spindle_mg_run(&live->inst->mg, now);
	if (mb->suspected & ~suspected && !live->timing.detect && mb->state < SPINDLE_MB_FENCED) {
		live->timing.detect = div_u64(silence_of(live, mb->suspected & ~suspected, now),
					      NSEC_PER_USEC);
		live->at = now;
	}
	return work;
}

/**
 * live_due() - time until the engine has to run a pass even if it is not woken
 * @live: the live view
 *
 * Return: nanoseconds; U64_MAX: never
 */
static u64 live_due(const struct spindle_live *live)
{
	u64 now = ktime_get_ns(), at = live->mb.beat_at + live->mb.interval;

	spindle_engine_assert(live->inst->node->engine);
	if (live->mb.state == SPINDLE_MB_STOPPED)
		return U64_MAX;
	if (!live->inst->mg.formed || live->mb.state == SPINDLE_MB_JOINING)
		return live->mb.interval;
	return at > now ? at - now : 0;
}

/**
 * live_ready() - the view id that this node shows a peer, see SPINDLE_NODE_COL_READY
 * @live: the live view
 * @peer: the peer
 *
 * Return: of a joiner, once it is connected to all members, the id of the view; for a guest of this
 *	member the id of the installed view; else 0
 */
static u64 live_ready(const struct spindle_live *live, const struct spindle_peer *peer)
{
	const struct spindle_mg *mg = &live->inst->mg;

	spindle_engine_assert(live->inst->node->engine);
	if (live->mb.state == SPINDLE_MB_JOINING)
		return mg->formed ? mg->view->vid : 0;
	return spindle_peer_is_guest(peer) ? mg->view->vid : 0;
}

/**
 * live_lost() - tell membership that the connection to a peer is gone
 * @live: the live view
 * @peer: the peer
 */
static void live_lost(struct spindle_live *live, struct spindle_peer *peer)
{
	enum spindle_mb_reason how = SPINDLE_MB_LOST;

	spindle_engine_assert(live->inst->node->engine);
	if (peer->cause == SPINDLE_ERR_PEER_PROTOCOL)
		how = SPINDLE_MB_LIED;
	else if (READ_ONCE(peer->conn.parted))
		how = SPINDLE_MB_GONE;
	if (peer->rank != SPINDLE_NO_RANK)
		spindle_mg_lost(&live->inst->mg, peer->rank, how);
}

/**
 * live_leave() - the log of a subgroup stands still, and the policy is to leave
 * @live: the live view
 */
static void live_leave(struct spindle_live *live)
{
	spindle_engine_assert(live->inst->node->engine);
	spindle_mb_leave(&live->mb);
}

/**
 * live_unread() - the last reader of a subgroup has gone
 * @live: the live view
 * @subgroup: index
 */
static void live_unread(struct spindle_live *live, u32 subgroup)
{
	spindle_engine_assert(live->inst->node->engine);
	if (spindle_rules_of(&live->rules, subgroup)->on_exit == SPINDLE_ON_EXIT_LEAVE)
		spindle_mb_leave(&live->mb);
}

/* ---- life -------------------------------------------------------------- */

static void door_work(struct spindle_door *door)
{
	spindle_live_chore(container_of(door, struct spindle_live, door), SPINDLE_CHORE_KNOCK);
}

/**
 * live_create() - make an installed view live
 * @inst: the installed view, being built: it has its own row and layout
 * @rules: checked
 * @lineage: lineage
 *
 * Context: process, the namespace's lock.
 * Return: 0 or -ENOMEM
 */
static int live_create(struct spindle_installed *inst, const struct spindle_rules *rules,
		       const struct spindle_lineage *lineage)
{
	struct spindle_live *live = kvzalloc(sizeof(*live), GFP_KERNEL_ACCOUNT);
	u32 trims = spindle_rules_trims(rules);

	lockdep_assert_held(&inst->node->sn->lock);
	if (!live)
		return -ENOMEM;
	inst->live = live;
	live->inst = inst;
	live->rules = *rules;
	live->lineage = *lineage;
	inst->rules = &live->rules;
	inst->lineage = &live->lineage;
	live->door.work = door_work;
	INIT_LIST_HEAD(&live->past);
	spindle_chore_init(&live->chore, inst->node->sn, spindle_live_work);
	live->seen = kvcalloc(spindle_mb_decree_words(trims), sizeof(*live->seen),
			      GFP_KERNEL_ACCOUNT);
	if (!live->seen)
		return -ENOMEM;
	live->mb.ops = &spindle_live_mb_ops;
	live->mb.ctx = live;
	live->mb.timeout = (u64)rules->timeout_ms * NSEC_PER_MSEC;
	live->mb.interval = div_u64(live->mb.timeout, BEATS);
	live->mb.trims = trims;
	live->mb.joins = SPINDLE_DECREE_JOINS;
	live->mb.any = !rules->quorum;
	live->mb.row = inst->row.mem.va + inst->layout.mb;
	live->mb.seen = live->seen;
	return 0;
}

/**
 * live_destroy() - free a live view
 * @live: the live view, possibly half built, or NULL; the engine does not run it any more
 *
 * Context: process, the namespace's lock.
 */
static void live_destroy(struct spindle_live *live)
{
	struct spindle_node *node;

	if (!live)
		return;
	node = live->inst->node;
	lockdep_assert_held(&node->sn->lock);
	/* The endpoint's handlers find no door from here on. */
	spin_lock(&node->ep.lock);
	if (node->door == &live->door)
		node->door = NULL;
	spin_unlock(&node->ep.lock);
	spindle_offer_forget(live);
	spindle_chore_cancel(&live->chore);
	spindle_past_forget(&live->past);
	kvfree(live->door.card);
	kvfree(live->seen);
	kvfree(live);
}

/**
 * live_begin() - set up membership when everything is allocated
 * @live: built
 * @view: the first view
 *
 * Return: 0, or -EINVAL if the rules do not allow the view
 */
static int live_begin(struct spindle_live *live, const struct spindle_view *view)
{
	const struct spindle_lineage none = {};
	struct spindle_installed *inst = live->inst;
	u64 now = ktime_get_ns();
	struct spindle_peer *peer;
	u32 i;

	lockdep_assert_held(&live->inst->node->sn->lock);
	for (i = 0; (peer = spindle_installed_next(inst, &i)); i++) {
		spindle_live_show(peer, &live->mb.peer[peer->rank]);
		live->last_seat = i;
	}
	inst->mg.mb = &live->mb;
	inst->mg.view = spindle_mb_view(&live->mb);
	live->first = spindle_ranges_digest(spindle_live_digest(view, &live->rules, &none),
					    inst->ranges);
	if (inst->mg.me == SPINDLE_NO_RANK)
		return spindle_mb_join(&live->mb, view, inst->node->id,
				       inst->node->incarnation, now);
	return spindle_mb_init(&live->mb, view, inst->mg.me, now);
}

/* What core/group asks of membership; node/installed.c has the rest of it. */
static const struct spindle_mg_ops mg_ops = {
	.connected = live_connected,
	.guest = live_next_guest,
	.made = spindle_live_made,
	.begun = spindle_live_begun,
	.told = live_told,
};

const struct spindle_membership_ops spindle_live_membership = {
	.mg = &mg_ops,
	.create = live_create,
	.destroy = live_destroy,
	.begin = live_begin,
	.bow_out = spindle_live_bow_out,
	.cancel = spindle_join_cancel,
	.state = spindle_live_state,
	.pass = live_pass,
	.due = live_due,
	.lost = live_lost,
	.ready = live_ready,
	.leave = live_leave,
	.unread = live_unread,
	.answer = spindle_door_answer,
	.knock = spindle_door_knock,
	.other = spindle_door_other,
};
