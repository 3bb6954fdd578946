// SPDX-License-Identifier: GPL-2.0-only
/*
 * Live: a pass of membership, and its life. See live.h.
 */
#include <linux/ktime.h>
#include <linux/slab.h>

#include "engine.h"
#include "fabric/post.h"
#include "group.h"
#include "live.h"
#include "node.h"
#include "past.h"
#include "peer.h"

/* While nothing happens membership is not looked at more often than that. */
#define LOOK_NS		(100 * NSEC_PER_USEC)
/* How often seats are looked at, while there are some that may become free. */
#define REAP_NS		(100 * NSEC_PER_MSEC)
/* So long a guest is wished for while others wait. */
#define WISH_NS		(10ULL * NSEC_PER_SEC)
/* Heartbeats in a timeout. */
#define BEATS		10

/**
 * spindle_live_chore() - there is something to do that may sleep
 * @live: the live view
 * @chore: what
 *
 * Context: any.
 */
void spindle_live_chore(struct spindle_live *live, enum spindle_live_chore chore)
{
	set_bit(chore, &live->chores);
	spindle_chore_queue(&live->chore, 0);
}

/* ---- a pass ------------------------------------------------------------ */

/**
 * spindle_live_told() - of a joiner: has what was written to the members arrived?
 * @ctx: the group
 *
 * Return: true if so
 */
bool spindle_live_told(void *ctx)
{
	struct spindle_group *group = ctx;
	struct spindle_peer *peer;
	u32 i;

	for (i = 0; (peer = spindle_group_next(group, &i)); i++)
		if (!spindle_post_idle(&peer->conn))
			return false;
	return true;
}

/* All members are connected: membership begins. */
static bool form(struct spindle_live *live, u64 now)
{
	if (!spindle_mg_form(&live->group->mg, now))
		return false;
	if (live->mb.state == SPINDLE_MB_JOINING)
		live->ready = spindle_mb_view(&live->mb)->vid;
	spindle_live_say_view(live, true);
	return true;
}

/* Is it connected to all members of this view, as it says? */
static bool is_ready(const struct spindle_live *live, const struct spindle_peer *peer)
{
	return peer->phase == SPINDLE_PEER_JOINED && peer->rank == SPINDLE_NO_RANK &&
	       peer->ready == spindle_mb_view(&live->mb)->vid;
}

/*
 * What a guest says of others need not be true, and the view's leader lets in only whom it is
 * connected to itself. So a guest that is not let in gives way to the next one.
 */
static bool wish_is_over(const struct spindle_live *live, u64 now)
{
	const struct spindle_mb *mb = &live->mb;
	const struct spindle_peer *wished = spindle_live_guest(live, mb->wish, mb->wish_inc);

	if (!wished || !spindle_peer_joined(wished))
		return true;
	return mb->state == SPINDLE_MB_ACTIVE &&
	       (!is_ready(live, wished) || now - live->wished > WISH_NS);
}

/* A guest that is ready, at or behind @seat, which is then its seat; or NULL. */
static struct spindle_peer *ready_guest(struct spindle_live *live, u32 *seat)
{
	struct spindle_peer *peer;

	for (; (peer = spindle_group_next(live->group, seat)); (*seat)++)
		if (is_ready(live, peer))
			return peer;
	return NULL;
}

/* Nodes that want to join by this one: invite one that is ready, each in its turn. */
static void look_after_guests(struct spindle_live *live, u64 now)
{
	struct spindle_mb *mb = &live->mb;
	u32 seat = live->wish_seat + 1;
	struct spindle_peer *peer;

	if (mb->state == SPINDLE_MB_JOINING)
		return;
	if (mb->wish && wish_is_over(live, now))
		spindle_mb_invite(mb, 0, 0);
	if (mb->wish || mb->leaving)
		return;
	peer = ready_guest(live, &seat);
	if (!peer) {
		seat = 0;
		peer = ready_guest(live, &seat);
	}
	if (!peer)
		return;
	live->wish_seat = seat;
	live->wished = now;
	spindle_mb_invite(mb, peer->id, peer->expected);
}

/* Silence of those that are suspected for it. Another may have been the first to notice; those
 * that it suspects for anything else were heard of a moment ago.
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
 * spindle_live_pass() - membership's part of a pass
 * @live: the live view
 * @how: SPINDLE_PASS_*
 *
 * Return: true if something has happened
 */
bool spindle_live_pass(struct spindle_live *live, u32 how)
{
	struct spindle_mb *mb = &live->mb;
	u64 now = ktime_get_ns(), suspected = mb->suspected;
	bool work;

	if (mb->state == SPINDLE_MB_STOPPED)
		return false;
	if (!live->group->mg.formed && !form(live, now))
		return false;
	if (mb->state == SPINDLE_MB_ACTIVE && !(how & SPINDLE_PASS_IDLE) &&
	    now - live->looked < LOOK_NS)
		return false;
	live->looked = now;
	if (live->guests || mb->wish) {
		look_after_guests(live, now);
		if (now - live->reaped > REAP_NS) {
			live->reaped = now;
			spindle_live_chore(live, SPINDLE_CHORE_REAP);
		}
	}
	/* In the middle of a change it has voted, or will: then by the next one. */
	if (live->leave && !mb->leaving && mb->state != SPINDLE_MB_JOINING)
		spindle_mb_leave(mb);
	work = spindle_mb_run(mb, now);
	if (mb->suspected & ~suspected && !live->timing.detect && mb->state < SPINDLE_MB_FENCED) {
		live->timing.detect = div_u64(silence_of(live, mb->suspected & ~suspected, now),
					      NSEC_PER_USEC);
		live->at = now;
	}
	return work;
}

/**
 * spindle_live_due() - when the engine has to look again, whatever happens
 * @live: the live view
 *
 * Return: nanoseconds; U64_MAX: never
 */
u64 spindle_live_due(const struct spindle_live *live)
{
	u64 now = ktime_get_ns(), at = live->mb.beat_at + live->mb.interval;

	if (live->mb.state == SPINDLE_MB_STOPPED)
		return U64_MAX;
	if (!live->group->mg.formed || live->mb.state == SPINDLE_MB_JOINING)
		return live->mb.interval;
	return at > now ? at - now : 0;
}

/**
 * spindle_live_ready() - what a peer is to know of this node's wish to join
 * @live: the live view
 * @peer: the peer
 *
 * Return: the view whose members it is connected to, for the one that lets it in; 0
 */
u64 spindle_live_ready(const struct spindle_live *live, const struct spindle_peer *peer)
{
	return peer->id == live->contact ? live->ready : 0;
}

/**
 * spindle_live_lost() - the connection to a peer is gone
 * @live: the live view
 * @peer: the peer
 */
void spindle_live_lost(struct spindle_live *live, struct spindle_peer *peer)
{
	enum spindle_mb_reason how = SPINDLE_MB_LOST;

	if (peer->cause == SPINDLE_ERR_PEER_PROTOCOL)
		how = SPINDLE_MB_LIED;
	else if (READ_ONCE(peer->conn.parted))
		how = SPINDLE_MB_GONE;
	if (peer->rank != SPINDLE_NO_RANK)
		spindle_mg_lost(&live->group->mg, peer->rank, how);
}

/**
 * spindle_live_unread() - the last reader of a subgroup has gone
 * @live: the live view
 * @subgroup: index
 */
void spindle_live_unread(struct spindle_live *live, u32 subgroup)
{
	if (spindle_rules_of(&live->rules, subgroup)->on_exit == SPINDLE_ON_EXIT_LEAVE)
		live->leave = true;
}

/**
 * spindle_live_said() - do all that can hear it know that this node has stopped?
 * @live: the live view, stopped
 *
 * Return: true if so
 */
bool spindle_live_said(const struct spindle_live *live)
{
	const struct spindle_group *group = live->group;
	u32 r;

	for (r = 0; group->mg.formed && r < group->view.num_members; r++) {
		const struct spindle_peer *peer = group->peer[r];
		u64 told = live->mb.peer[r].told[SPINDLE_MB_COL_PHASE] & SPINDLE_MB_PHASE_STATE;

		if (peer && spindle_peer_joined(peer) &&
		    (told != SPINDLE_MB_STOPPED || !spindle_post_idle(&peer->conn)))
			return false;
	}
	return true;
}

/* ---- life -------------------------------------------------------------- */

static void door_work(struct spindle_door *door)
{
	spindle_live_chore(container_of(door, struct spindle_live, door), SPINDLE_CHORE_KNOCK);
}

/**
 * spindle_live_create() - make a group's view live
 * @group: the group, being built: own row and layout are there
 * @rules: checked
 * @lineage: lineage
 *
 * Context: process, the namespace's lock.
 * Return: 0 or -ENOMEM
 */
int spindle_live_create(struct spindle_group *group, const struct spindle_rules *rules,
			const struct spindle_lineage *lineage)
{
	struct spindle_live *live = kvzalloc(sizeof(*live), GFP_KERNEL_ACCOUNT);
	u32 trims = spindle_rules_trims(rules);

	if (!live)
		return -ENOMEM;
	group->live = live;
	live->group = group;
	live->rules = *rules;
	live->lineage = *lineage;
	live->door.work = door_work;
	INIT_LIST_HEAD(&live->past);
	spindle_chore_init(&live->chore, group->node->sn, spindle_live_work);
	live->seen = kvcalloc(spindle_mb_decree_words(trims), sizeof(*live->seen),
			      GFP_KERNEL_ACCOUNT);
	if (!live->seen)
		return -ENOMEM;
	live->mb.ops = &spindle_live_ops;
	live->mb.ctx = live;
	live->mb.timeout = (u64)rules->timeout_ms * NSEC_PER_MSEC;
	live->mb.interval = div_u64(live->mb.timeout, BEATS);
	live->mb.trims = trims;
	/* Joiners of one change would have to be connected to each other. */
	live->mb.joins = 1;
	live->mb.any = !rules->quorum;
	live->mb.row = group->row.mem.va + group->layout.mb;
	live->mb.seen = live->seen;
	return 0;
}

/**
 * spindle_live_destroy() - the mirror; the engine does not run the group any more
 * @live: the live view, possibly half built, or NULL
 *
 * Context: process, the namespace's lock.
 */
void spindle_live_destroy(struct spindle_live *live)
{
	struct spindle_node *node;

	if (!live)
		return;
	node = live->group->node;
	/* Nobody comes to the door from here on. */
	spin_lock(&node->ep.lock);
	if (node->door == &live->door)
		node->door = NULL;
	spin_unlock(&node->ep.lock);
	spindle_chore_cancel(&live->chore);
	spindle_past_forget(&live->past);
	kvfree(live->door.card);
	kvfree(live->seen);
	kvfree(live);
}

/**
 * spindle_live_begin() - all is allocated: set membership up
 * @live: built
 * @view: the view that it begins with
 *
 * Return: 0, or -EINVAL if the view is none by the rules
 */
int spindle_live_begin(struct spindle_live *live, const struct spindle_view *view)
{
	const struct spindle_lineage none = {};
	struct spindle_group *group = live->group;
	u64 now = ktime_get_ns();
	struct spindle_peer *peer;
	u32 i;

	for (i = 0; (peer = spindle_group_next(group, &i)); i++) {
		spindle_live_show(peer, &live->mb.peer[peer->rank]);
		live->last_seat = i;
	}
	group->mg.mb = &live->mb;
	group->mg.view = spindle_mb_view(&live->mb);
	live->first = spindle_live_digest(view, &live->rules, &none);
	if (group->mg.me == SPINDLE_NO_RANK)
		return spindle_mb_join(&live->mb, view, group->node->id,
				       group->node->incarnation, now);
	return spindle_mb_init(&live->mb, view, group->mg.me, now);
}
