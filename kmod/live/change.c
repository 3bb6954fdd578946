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

static void live_wedge(void *ctx)
{
	struct spindle_live *live = ctx;

	spindle_mg_wedge(&live->group->mg);
	/* A suspicion has set the clock already. */
	if (!live->at)
		live->at = ktime_get_ns();
	spindle_live_say_change(live);
}

static bool live_flushed(void *ctx, u32 rank)
{
	const struct spindle_live *live = ctx;

	return spindle_mg_flushed(&live->group->mg, rank);
}

static void live_freeze(void *ctx, u64 *have)
{
	struct spindle_live *live = ctx;

	spindle_mg_freeze(&live->group->mg, have);
	live->timing.wedge = lap(live);
}

static bool live_trim(void *ctx, const u64 *trim)
{
	struct spindle_live *live = ctx;

	live->timing.agree = lap(live);
	return spindle_mg_trim(&live->group->mg, trim);
}

/* All is delivered, and what the next view takes has been made. */
static bool live_drain(void *ctx)
{
	struct spindle_live *live = ctx;
	bool done = spindle_mg_drain(&live->group->mg);

	if (!done || live->next || !spindle_mg_goes_on(&live->group->mg))
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
		if (peer->id == id && spindle_peer_is_guest(peer) &&
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

	return peer && spindle_peer_joined(peer);
}

static bool live_join(void *ctx, u32 id, u64 incarnation, struct spindle_mb_peer *member)
{
	struct spindle_live *live = ctx;
	const struct spindle_peer *peer = spindle_live_guest(live, id, incarnation);

	/* This end of the connection may come up a little later than the joiner's. */
	if (!peer || peer->phase == SPINDLE_PEER_LOST)
		return false;
	spindle_live_show(peer, member);
	return true;
}

/* ---- the beginning of a view ------------------------------------------- */

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

/**
 * spindle_live_made() - the chore has made the subgroups of the next view
 * @ctx: the group
 * @index: of one that this node is in
 * @streams: out: its streams, or NULL
 *
 * Return: its protocol
 */
struct spindle_mc *spindle_live_made(void *ctx, u32 index, struct spindle_streams **streams)
{
	const struct spindle_group *group = ctx;
	struct spindle_subgroup *sg = group->live->next->subgroup[index];

	*streams = spindle_subgroup_streams(sg);
	return &sg->mc;
}

/**
 * spindle_live_begun() - a subgroup goes on in the next view, or this node is in it no more
 * @ctx: the group
 * @index: of the subgroup
 * @old: that of the view before, or NULL
 */
void spindle_live_begun(void *ctx, u32 index, struct spindle_mc *old)
{
	struct spindle_group *group = ctx;
	struct spindle_subgroup *sg = group->live->next->subgroup[index];
	struct spindle_subgroup *before = group->subgroup[index];

	group->live->next->subgroup[index] = before;
	group->subgroup[index] = sg;
	if (sg && before)
		take_over(sg, before);
	else if (before)
		spindle_subgroup_end(before, SPINDLE_STATE_FAILED, SPINDLE_ERR_NOT_MEMBER,
				     "the rules have this node in it no more");
}

/* Also those that stay: ranks are others. */
static void configure_subgroups(struct spindle_group *group)
{
	struct spindle_subgroup *sg;
	u32 i;

	for (i = 0; (sg = spindle_group_subgroup(group, &i)); i++) {
		sg->cfg = &group->view.subgroup[i];
		sg->peers = sg->cfg->members & ~BIT_ULL(group->mg.me);
	}
}

/*
 * Who is where now. Those that are no members any more keep their seats for a while: readers may
 * still hold messages of theirs, up to here.
 */
static void seat_members(struct spindle_live *live)
{
	struct spindle_group *group = live->group;
	struct spindle_peer *peer;
	u32 i, r, g;

	for (r = 0; r < group->view.num_members; r++)
		if (group->peer[r])
			group->peer[r]->rank = r;
	live->guests = 0;
	for (i = 0; (peer = spindle_group_next(group, &i)); i++) {
		if (peer->rank != SPINDLE_NO_RANK && group->peer[peer->rank] != peer) {
			spindle_peer_depart(peer);
			for (g = 0; g < SPINDLE_MAX_SUBGROUPS; g++)
				peer->marks[g] = group->subgroup[g] ?
						 group->subgroup[g]->mc.log_tail : 0;
		}
		live->guests += peer->rank == SPINDLE_NO_RANK;
	}
}

static void live_install(void *ctx, const struct spindle_view *next, const u32 *from,
			 const u64 *trim)
{
	struct spindle_live *live = ctx;
	struct spindle_group *group = live->group;

	group->view = *next;
	group->digest = spindle_live_digest(next, &live->rules, &live->lineage);
	memcpy(group->peer, live->next->peer, sizeof(group->peer));
	spindle_mg_install(&group->mg, from, trim);
	configure_subgroups(group);
	seat_members(live);
	live->ready = 0;
	live->next->taken = true;
	live->changes++;
	if (live->at)
		live->timing.install = lap(live);
	live->times = live->timing;
	live->timing = (struct spindle_live_times){};
	live->at = 0;
	spindle_live_say_view(live, false);
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
	struct spindle_subgroup *sg;
	u32 i;

	/* Who was never in has not stopped: the join tells what became of it. */
	if (live->group->mg.me != SPINDLE_NO_RANK)
		spindle_live_say_stop(live);
	for (i = 0; (sg = spindle_group_subgroup(live->group, &i)); i++)
		spindle_subgroup_end(sg, SPINDLE_STATE_FAILED,
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
