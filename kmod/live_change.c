// SPDX-License-Identifier: GPL-2.0-only
/*
 * Live: what membership asks for when a view ends and another begins. See live.h.
 *
 * Context: engine, all of it.
 */
#include <linux/ktime.h>

#include "attachment.h"
#include "fabric/conn.h"
#include "group.h"
#include "large.h"
#include "live.h"
#include "node.h"
#include "peer.h"
#include "rdmc.h"
#include "subgroup.h"

/* ---- the end of a view ------------------------------------------------- */

/* Microseconds since the last step of the present change. */
static u64 lap(struct spindle_live *live)
{
	u64 now = ktime_get_ns(), us = div_u64(now - live->at, NSEC_PER_USEC);

	live->at = now;
	return us;
}

static struct spindle_subgroup *subgroup_of(struct spindle_live *live, u32 i)
{
	return live->group->subgroup[i];
}

static void wedge(struct spindle_subgroup *sg)
{
	if (!sg)
		return;
	spindle_mc_wedge(&sg->mc);
	if (sg->large)
		spindle_large_stop(sg->large);
}

static void live_wedge(void *ctx)
{
	struct spindle_live *live = ctx;
	u32 i;

	for (i = 0; i < live->group->view.num_subgroups; i++)
		wedge(subgroup_of(live, i));
	/* A suspicion has set the clock already. */
	if (!live->at)
		live->at = ktime_get_ns();
	spindle_live_say_change(live);
}

static bool live_flushed(void *ctx, u32 rank)
{
	struct spindle_live *live = ctx;
	u32 i;

	for (i = 0; i < live->group->view.num_subgroups; i++) {
		struct spindle_subgroup *sg = subgroup_of(live, i);

		if (sg && (sg->peers & BIT_ULL(rank)) &&
		    !spindle_mc_flushed(&sg->mc, spindle_mask_rank(sg->cfg->members, rank)))
			return false;
		/* What comes from others by blocks comes before we say that we have all. */
		if (sg && sg->large && !spindle_large_quiet(sg->large))
			return false;
	}
	return true;
}

static void live_freeze(void *ctx, u64 *have)
{
	struct spindle_live *live = ctx;
	const struct spindle_view *view = spindle_mb_view(&live->mb);
	u32 i, s;

	for (i = 0; i < view->num_subgroups; i++) {
		struct spindle_subgroup *sg = subgroup_of(live, i);

		for (s = 0; s < hweight64(view->subgroup[i].senders); s++)
			have[s] = 0;
		if (sg)
			spindle_mc_freeze(&sg->mc, have);
		have += s;
	}
	live->timing.wedge = lap(live);
}

/* Is there a next view for this node to be in? */
static bool goes_on(const struct spindle_live *live)
{
	const struct spindle_mb *mb = &live->mb;

	if (mb->state == SPINDLE_MB_JOINING)
		return true;
	return !mb->leaving &&
	       (spindle_mb_own_decree(mb)[SPINDLE_DECREE_SURVIVORS] & BIT_ULL(mb->me));
}

static bool live_trim(void *ctx, const u64 *trim)
{
	struct spindle_live *live = ctx;
	const struct spindle_mb *mb = &live->mb;
	const struct spindle_view *view = spindle_mb_view(mb);
	u32 i;

	live->timing.agree = lap(live);
	live->stays = goes_on(live) ? spindle_decree_stays(spindle_mb_own_decree(mb), view,
							   &mb->view[!mb->now]) : 0;
	for (i = 0; i < view->num_subgroups; i++) {
		struct spindle_subgroup *sg = subgroup_of(live, i);

		if (sg && (live->stays & BIT_ULL(i))) {
			spindle_mc_stay(&sg->mc);
			spindle_subgroup_touch(sg);
		} else if (sg && !spindle_mc_trim(&sg->mc, trim)) {
			return false;
		}
		trim += hweight64(view->subgroup[i].senders);
	}
	return true;
}

/* All is delivered, and what the next view takes has been made. */
static bool live_drain(void *ctx)
{
	struct spindle_live *live = ctx;
	bool done = true;
	u32 i;

	for (i = 0; i < live->group->view.num_subgroups; i++) {
		struct spindle_subgroup *sg = subgroup_of(live, i);

		if (sg && !sg->mc.stays && !spindle_mc_drain(&sg->mc)) {
			done = false;
			spindle_subgroup_touch(sg);
		}
	}
	if (!done || live->next || !goes_on(live))
		return done;
	if (!test_bit(SPINDLE_CHORE_PREPARE, &live->chores))
		spindle_live_chore(live, SPINDLE_CHORE_PREPARE);
	return false;
}

/**
 * spindle_live_guest() - the seat of a node that is no member yet
 * @live: the live view
 * @id: its id
 * @incarnation: of its life; 0: any
 *
 * Return: the peer, or NULL
 */
struct spindle_peer *spindle_live_guest(const struct spindle_live *live, u32 id,
					u64 incarnation)
{
	struct spindle_peer *peer;
	u32 i;

	for (i = 0; (peer = spindle_group_next(live->group, &i)); i++)
		if (peer->id == id && !peer->departed && peer->rank == SPINDLE_NO_RANK &&
		    (!incarnation || peer->expected == incarnation))
			return peer;
	return NULL;
}

static const char *live_layout(void *ctx, const struct spindle_view *view,
			       struct spindle_view *next)
{
	struct spindle_live *live = ctx;
	u32 i;

	if (next->num_members > live->rules.max_nodes)
		return "the view has no room for another node";
	for (i = 0; i < next->num_members; i++) {
		struct spindle_view_member *m = &next->member[i];
		const struct spindle_peer *peer;

		if (m->addr.family)
			continue;
		peer = spindle_live_guest(live, m->id, 0);
		if (m->id == live->group->node->id)
			m->addr = live->group->node->addr;
		else if (peer)
			m->addr = peer->addr;
	}
	spindle_rules_apply(&live->rules, view, next);
	return NULL;
}

/**
 * spindle_live_show() - where membership finds what a peer says
 * @peer: the peer
 * @member: out: row and vouch
 */
void spindle_live_show(const struct spindle_peer *peer, struct spindle_mb_peer *member)
{
	member->row = peer->row.mem.va + peer->in.mb;
	member->vouch = peer->group->node->imm ? &peer->vouch_state : NULL;
}

static bool live_guest(void *ctx, u32 id, u64 incarnation)
{
	const struct spindle_peer *peer = spindle_live_guest(ctx, id, incarnation);

	return peer && peer->joined && !peer->lost;
}

static bool live_join(void *ctx, u32 id, u64 incarnation, struct spindle_mb_peer *member)
{
	struct spindle_live *live = ctx;
	const struct spindle_peer *peer = spindle_live_guest(live, id, incarnation);

	/* This end of the connection may come up a little later than the joiner's. */
	if (!peer || peer->lost)
		return false;
	spindle_live_show(peer, member);
	return true;
}

/* ---- the beginning of a view ------------------------------------------- */

/* Sender ranks before, and messages sent before, of a subgroup's senders. */
static void from_old(const struct spindle_view *old, const struct spindle_view *next, u32 i,
		     const u32 *from, const u64 *trim, u32 *rank, u64 *first)
{
	u64 senders = old->subgroup[i].senders, mask = next->subgroup[i].senders;
	u32 s, n = hweight64(mask);

	trim += spindle_decree_trim_at(old, i);
	/* Counted by us: a compiler may do it with a function that kernels do not have. */
	for (s = 0; s < n; s++, mask &= mask - 1) {
		u32 was = from[__ffs64(mask)];

		rank[s] = SPINDLE_NO_RANK;
		first[s] = 0;
		if (was == SPINDLE_NO_RANK || !(senders & BIT_ULL(was)))
			continue;
		rank[s] = spindle_mask_rank(senders, was);
		first[s] = trim[rank[s]];
	}
}

/* Readers, the sender, and what they hold, go on in the next view. */
static void take_over(struct spindle_subgroup *sg, struct spindle_subgroup *old)
{
	list_splice_init(&old->attachments, &sg->attachments);
	sg->sender = old->sender;
	sg->readers = old->readers;
	sg->stall_ms = old->stall_ms;
	/* A process that has gone may be through with the view before: it is still to be freed. */
	if (sg->sender && sg->sender->parting && !sg->mc.parting)
		sg->mc.events |= SPINDLE_MC_PARTED;
	sg->state = sg->mc.lacking ? SPINDLE_STATE_FORMING : old->state;
	if (sg->state != old->state)
		spindle_subgroup_tell(sg, SPINDLE_ERR_NONE);
}

static void begin_subgroup(struct spindle_live *live, u32 i, const struct spindle_view *old,
			   const u32 *from, const u64 *trim)
{
	struct spindle_subgroup *sg = live->next->subgroup[i];
	struct spindle_subgroup *before = live->group->subgroup[i];
	const struct spindle_view *next = &live->group->view;
	u32 rank[SPINDLE_MAX_MEMBERS];
	u64 first[SPINDLE_MAX_MEMBERS];

	if (before && (live->stays & BIT_ULL(i))) {
		before->cfg = &next->subgroup[i];
		before->peers = before->cfg->members & ~BIT_ULL(live->group->me);
		return;
	}
	live->next->subgroup[i] = before;
	live->group->subgroup[i] = sg;
	if (!sg) {
		if (before)
			spindle_subgroup_end(before, SPINDLE_STATE_FAILED,
					     SPINDLE_ERR_NOT_MEMBER,
					     "the rules have this node in it no more");
		return;
	}
	sg->cfg = &next->subgroup[i];
	from_old(old, next, i, from, trim, rank, first);
	spindle_mc_begin(&sg->mc, before ? &before->mc : NULL, rank, first);
	if (!before)
		return;
	take_over(sg, before);
	spindle_mc_announce(&sg->mc, next->vid);
}

/* Who is where now. Those that are no members any more keep their seats for a while. */
static void seat_members(struct spindle_live *live)
{
	struct spindle_group *group = live->group;
	u32 n = group->view.num_subgroups, i, r;
	u64 begin = (n ? U64_MAX >> (64 - n) : 0) & ~live->stays;
	struct spindle_row row;
	struct spindle_peer *peer;

	for (i = 0; (peer = spindle_group_next(group, &i)); i++)
		peer->rank = SPINDLE_NO_RANK;
	memcpy(group->peer, live->next->peer, sizeof(group->peer));
	group->joined = 0;
	group->lost = 0;
	for (r = 0; r < group->view.num_members; r++) {
		peer = group->peer[r];
		if (!peer)
			continue;
		peer->rank = r;
		group->joined |= peer->joined ? BIT_ULL(r) : 0;
		row = spindle_group_row(group, peer);
		spindle_mc_clear(&row, begin);
	}
	row = spindle_group_row(group, NULL);
	spindle_mc_clear(&row, begin);
}

/* Readers may still hold messages of those that have gone, up to here. */
static void mark_departed(struct spindle_live *live)
{
	struct spindle_group *group = live->group;
	struct spindle_peer *peer;
	u32 i, g;

	for (i = 0; (peer = spindle_group_next(group, &i)); i++) {
		/* It came in, or was in: not one that still wants to. */
		if (peer->departed || peer->rank != SPINDLE_NO_RANK || !peer->member)
			continue;
		peer->departed = true;
		peer->since = ktime_get_ns();
		for (g = 0; g < SPINDLE_MAX_SUBGROUPS; g++)
			peer->marks[g] = group->subgroup[g] ? group->subgroup[g]->mc.log_tail : 0;
	}
}

static void count_guests(struct spindle_live *live)
{
	struct spindle_peer *peer;
	u32 i;

	live->guests = 0;
	for (i = 0; (peer = spindle_group_next(live->group, &i)); i++) {
		peer->member |= peer->rank != SPINDLE_NO_RANK;
		live->guests += peer->rank == SPINDLE_NO_RANK;
	}
}

static void live_install(void *ctx, const struct spindle_view *next, const u32 *from,
			 const u64 *trim)
{
	struct spindle_live *live = ctx;
	struct spindle_group *group = live->group;
	const struct spindle_view *old = &live->mb.view[!live->mb.now];
	u32 i;

	group->view = *next;
	group->me = live->next->me;
	group->digest = spindle_live_digest(next, &live->rules);
	seat_members(live);
	for (i = 0; i < next->num_subgroups; i++)
		begin_subgroup(live, i, old, from, trim);
	mark_departed(live);
	count_guests(live);
	group->hot = U64_MAX;
	group->push = U64_MAX;
	live->ready = 0;
	live->stays = 0;
	live->next->taken = true;
	live->changes++;
	if (live->at)
		live->timing.install = lap(live);
	live->times = live->timing;
	live->timing = (struct spindle_live_times){};
	live->at = 0;
	spindle_live_say_view(live);
	spindle_rdmc_node_view(group);
}

static void live_cut(void *ctx, u32 rank)
{
	struct spindle_live *live = ctx;
	struct spindle_peer *peer = live->group->peer[rank];

	spindle_live_say_suspect(live, rank);
	if (peer && peer->conn.cfg.ep)
		spindle_conn_fail(&peer->conn, "it is suspected");
	spindle_rdmc_node_cut(live->group->node, live->group->view.member[rank].id);
}

static void live_stopped(void *ctx)
{
	struct spindle_live *live = ctx;
	u32 i;

	/* Who was never in has not stopped: the join tells what became of it. */
	if (live->group->me != SPINDLE_NO_RANK)
		spindle_live_say_stop(live);
	for (i = 0; i < live->group->view.num_subgroups; i++)
		if (subgroup_of(live, i))
			spindle_subgroup_end(subgroup_of(live, i), SPINDLE_STATE_FAILED,
					     spindle_live_error(live->mb.reason), live->reason);
	spindle_rdmc_node_stop(live->group->node);
	spindle_live_chore(live, SPINDLE_CHORE_STOP);
}

const struct spindle_mb_ops spindle_live_ops = {
	.wedge = live_wedge,
	.flushed = live_flushed,
	.freeze = live_freeze,
	.trim = live_trim,
	.drain = live_drain,
	.layout = live_layout,
	.guest = live_guest,
	.join = live_join,
	.install = live_install,
	.cut = live_cut,
	.stopped = live_stopped,
};
