// SPDX-License-Identifier: GPL-2.0-only
/*
 * Live: callbacks of membership for the end and the beginning of a view. See live.h.
 *
 * Context: engine, in the whole file.
 */
#include <linux/ktime.h>

#include "base/engine.h"
#include "bulk/rdmc.h"
#include "fabric/conn.h"
#include "live.h"
#include "node/attachment.h"
#include "node/installed.h"
#include "node/node.h"
#include "node/peer.h"
#include "node/subgroup.h"
#include "offer.h"

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

	spindle_engine_assert(live->inst->node->engine);
	spindle_mg_wedge(&live->inst->mg);
	/* A suspicion has set the clock already. */
	if (!live->at)
		live->at = ktime_get_ns();
	spindle_live_say_change(live);
}

static bool live_flushed(void *ctx, u32 rank)
{
	const struct spindle_live *live = ctx;

	spindle_engine_assert(live->inst->node->engine);
	return spindle_mg_flushed(&live->inst->mg, rank);
}

static void live_freeze(void *ctx, u64 *have)
{
	struct spindle_live *live = ctx;

	spindle_engine_assert(live->inst->node->engine);
	spindle_mg_freeze(&live->inst->mg, have);
	live->timing.wedge = lap(live);
}

static bool live_trim(void *ctx, const u64 *trim)
{
	struct spindle_live *live = ctx;

	spindle_engine_assert(live->inst->node->engine);
	live->timing.agree = lap(live);
	return spindle_mg_trim(&live->inst->mg, trim);
}

/* Is everything delivered, and the next view allocated? */
static bool live_drain(void *ctx)
{
	struct spindle_live *live = ctx;
	bool done = spindle_mg_drain(&live->inst->mg);

	spindle_engine_assert(live->inst->node->engine);
	if (!done || live->next || !spindle_mg_goes_on(&live->inst->mg))
		return done;
	if (!test_bit(SPINDLE_CHORE_PREPARE, &live->chores))
		spindle_live_chore(live, SPINDLE_CHORE_PREPARE);
	return false;
}

/**
 * find_guest() - find a node that is no member yet
 * @live: the live view
 * @id: node id
 * @incarnation: its incarnation
 *
 * Return: the peer, or NULL
 */
static struct spindle_peer *find_guest(const struct spindle_live *live, u32 id, u64 incarnation)
{
	struct spindle_peer *peer;
	u32 i;

	for (i = 0; (peer = spindle_installed_next(live->inst, &i)); i++)
		if (peer->id == id && spindle_peer_is_guest(peer) && peer->expected == incarnation)
			return peer;
	return NULL;
}

static const char *live_layout(void *ctx, u64 rules, const struct spindle_view *view,
			       struct spindle_view *next)
{
	struct spindle_live *live = ctx;

	spindle_engine_assert(live->inst->node->engine);
	return spindle_rules_next(spindle_offer_rules(live, rules), view, next);
}

/**
 * spindle_live_show() - tell membership where the columns of a peer are
 * @peer: the peer
 * @member: out: row and vouch
 */
void spindle_live_show(const struct spindle_peer *peer, struct spindle_mb_peer *member)
{
	member->row = peer->row.mem.va + peer->in.mb;
	member->vouch = peer->inst->node->imm ? &peer->vouch_state : NULL;
}

static bool live_guest(void *ctx, u32 id, u64 incarnation, struct spindle_addr *addr)
{
	const struct spindle_peer *peer = find_guest(ctx, id, incarnation);

	if (!peer || !spindle_peer_joined(peer))
		return false;
	*addr = peer->addr;
	return true;
}

static bool live_is_ready(void *ctx, u32 *seat, u32 *id, u64 *incarnation)
{
	const struct spindle_live *live = ctx;
	const struct spindle_peer *peer;

	for (; live->guests && (peer = spindle_installed_next(live->inst, seat)); ++*seat) {
		if (!spindle_peer_is_guest(peer) || !spindle_peer_joined(peer) ||
		    peer->ready != spindle_mb_view(&live->mb)->vid)
			continue;
		*id = peer->id;
		*incarnation = peer->expected;
		return true;
	}
	return false;
}

static bool live_join(void *ctx, u32 id, u64 incarnation, struct spindle_mb_peer *member)
{
	struct spindle_live *live = ctx;
	const struct spindle_peer *peer = find_guest(live, id, incarnation);

	spindle_engine_assert(live->inst->node->engine);
	/*
	 * This end of the connection may come up a little later than the joiner's. Nodes that join
	 * in one change connect when both have the view.
	 */
	if (!peer || peer->phase == SPINDLE_PEER_LOST)
		return false;
	spindle_live_show(peer, member);
	return true;
}

/* ---- the beginning of a view ------------------------------------------- */

/* Move readers, sender and state of a subgroup to its object in the next view. */
static void take_over(struct spindle_subgroup *sg, struct spindle_subgroup *old)
{
	list_splice_init(&old->attachments, &sg->attachments);
	sg->sender = old->sender;
	sg->readers = old->readers;
	sg->stall_ms = old->stall_ms;
	sg->fill = old->fill;
	sg->logging = old->logging;
	swap(sg->kept, old->kept);
	/*
	 * In the old view the last message of a parting sender may have been sent already. The
	 * new object must raise the event again, because the sender is not freed yet.
	 */
	if (sg->sender && sg->sender->parting && !sg->mc.send.parting)
		sg->mc.events |= SPINDLE_MC_PARTED;
	spindle_subgroup_follow(sg, old);
}

/**
 * spindle_live_made() - the protocol state of a subgroup that the chore has allocated
 * @ctx: the installed view
 * @index: index of a subgroup of this node in the next view
 * @streams: out: its streams, or NULL
 * @tb: out: its table, or NULL
 *
 * Return: the protocol state
 */
struct spindle_mc *spindle_live_made(void *ctx, u32 index, struct spindle_streams **streams,
				     struct spindle_tb **tb)
{
	const struct spindle_installed *inst = ctx;
	struct spindle_subgroup *sg = inst->live->next->subgroup[index];

	spindle_engine_assert(inst->node->engine);
	*streams = sg->streams;
	*tb = spindle_subgroup_tb(sg);
	return &sg->mc;
}

static void forget_marks(struct spindle_installed *inst, u32 index)
{
	struct spindle_peer *peer;
	u32 i;

	for (i = 0; (peer = spindle_installed_next(inst, &i)); i++)
		peer->marks[index] = 0;
}

/**
 * spindle_live_begun() - continue a subgroup in the next view, or end it
 * @ctx: the installed view
 * @index: index of the subgroup
 * @old: its protocol state in the old view, or NULL
 */
void spindle_live_begun(void *ctx, u32 index, struct spindle_mc *old)
{
	struct spindle_installed *inst = ctx;
	struct spindle_subgroup *sg = inst->live->next->subgroup[index];
	struct spindle_subgroup *before = inst->subgroup[index];

	spindle_engine_assert(inst->node->engine);
	inst->live->next->subgroup[index] = before;
	inst->subgroup[index] = sg;
	/* Messages of a subgroup that was here before hold up no seat any more. */
	if (!sg || !before)
		forget_marks(inst, index);
	if (sg && before)
		take_over(sg, before);
	else if (before)
		spindle_subgroup_end(before, SPINDLE_STATE_FAILED, SPINDLE_ERR_NOT_MEMBER,
				     "the rules do not place this node in the subgroup any more");
}

/* Unchanged subgroups need this, too, because ranks are different in the new view. */
static void configure_subgroups(struct spindle_installed *inst)
{
	struct spindle_subgroup *sg;
	u32 i;

	for (i = 0; (sg = spindle_installed_subgroup(inst, &i)); i++) {
		sg->cfg = &inst->view.subgroup[i];
		sg->peers = sg->cfg->members & ~BIT_ULL(inst->mg.me);
		if (sg->table)
			spindle_subgroup_changed(sg);
	}
}

/*
 * Set the ranks of peers. A former member keeps its seat until local readers have consumed the
 * log up to @marks, because they may still hold messages of it.
 */
static void seat_members(struct spindle_live *live)
{
	struct spindle_installed *inst = live->inst;
	struct spindle_peer *peer;
	u32 i, r, g;

	for (r = 0; r < inst->view.num_members; r++)
		if (inst->peer[r])
			inst->peer[r]->rank = r;
	live->guests = 0;
	for (i = 0; (peer = spindle_installed_next(inst, &i)); i++) {
		if (peer->rank != SPINDLE_NO_RANK && inst->peer[peer->rank] != peer) {
			spindle_peer_depart(peer);
			for (g = 0; g < SPINDLE_MAX_SUBGROUPS; g++)
				peer->marks[g] = inst->subgroup[g] ?
						 inst->subgroup[g]->mc.deliver.log_tail : 0;
		}
		live->guests += peer->rank == SPINDLE_NO_RANK;
	}
}

static void live_install(void *ctx, const struct spindle_view *next, const u32 *from,
			 const u64 *trim)
{
	struct spindle_live *live = ctx;
	struct spindle_installed *inst = live->inst;

	spindle_engine_assert(live->inst->node->engine);
	inst->view = *next;
	spindle_offer_install(live);
	inst->digest = spindle_live_digest(next, &live->rules, &live->lineage);
	memcpy(inst->peer, live->next->peer, sizeof(inst->peer));
	spindle_mg_install(&inst->mg, from, trim);
	configure_subgroups(inst);
	seat_members(live);
	live->next->taken = true;
	live->changes++;
	if (live->at)
		live->timing.install = lap(live);
	live->times = live->timing;
	live->timing = (struct spindle_live_times){};
	live->at = 0;
	spindle_live_say_view(live, false);
	spindle_rdmc_node_view(inst);
}

static void live_cut(void *ctx, u32 rank)
{
	struct spindle_live *live = ctx;
	struct spindle_peer *peer = live->inst->peer[rank];

	spindle_engine_assert(live->inst->node->engine);
	spindle_live_say_suspect(live, rank);
	if (peer && peer->conn.cfg.ep)
		spindle_conn_fail(&peer->conn, "the peer is suspected");
	spindle_rdmc_node_cut(live->inst->node, live->inst->view.member[rank].id);
	spindle_installed_cut(live->inst, live->inst->view.member[rank].id);
}

static void live_stopped(void *ctx)
{
	struct spindle_live *live = ctx;
	struct spindle_subgroup *sg;
	u32 i;

	spindle_engine_assert(live->inst->node->engine);
	/* A node that never became a member does not report a stop, because its join reports. */
	if (live->inst->mg.me != SPINDLE_NO_RANK)
		spindle_live_say_stop(live);
	for (i = 0; (sg = spindle_installed_subgroup(live->inst, &i)); i++)
		spindle_subgroup_end(sg, SPINDLE_STATE_FAILED,
				     spindle_live_error(live->mb.reason), live->reason);
	spindle_rdmc_node_stop(live->inst->node);
	spindle_live_chore(live, SPINDLE_CHORE_STOP);
}

const struct spindle_mb_ops spindle_live_mb_ops = {
	.wedge = live_wedge,
	.flushed = live_flushed,
	.freeze = live_freeze,
	.trim = live_trim,
	.drain = live_drain,
	.layout = live_layout,
	.guest = live_guest,
	.ready = live_is_ready,
	.join = live_join,
	.install = live_install,
	.cut = live_cut,
	.stopped = live_stopped,
};
