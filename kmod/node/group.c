// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups: a view that a node has installed. See group.h.
 */
#include <linux/slab.h>

#include "attachment.h"
#include "engine.h"
#include "event.h"
#include "fabric/post.h"
#include "group.h"
#include "large.h"
#include "live.h"
#include "node.h"
#include "peer.h"
#include "subgroup.h"

/* ---- what core/ asks for ----------------------------------------------- */

static bool joined(void *ctx, u32 rank)
{
	const struct spindle_group *group = ctx;

	return spindle_peer_joined(group->peer[rank]);
}

static struct spindle_row row_of(void *ctx, u32 rank)
{
	struct spindle_group *group = ctx;

	return spindle_group_row(group, group->peer[rank]);
}

static void formed(void *ctx, u32 index)
{
	const struct spindle_group *group = ctx;

	spindle_subgroup_formed(group->subgroup[index]);
}

static void ran(void *ctx, u32 index, bool work)
{
	const struct spindle_group *group = ctx;

	spindle_subgroup_ran(group->subgroup[index], work);
}

static u32 room(void *ctx, u32 rank, u32 writes)
{
	const struct spindle_group *group = ctx;

	return spindle_post_fits(&group->peer[rank]->conn, writes) ? writes : 0;
}

static void post(void *ctx, u32 rank, const struct spindle_write *write, u32 n, bool membership)
{
	const struct spindle_group *group = ctx;

	if (membership)
		spindle_peer_tell(group->peer[rank], write, n);
	else
		spindle_peer_cast(group->peer[rank], write, n);
}

static const struct spindle_mg_ops casts_ops = {
	.joined = joined,
	.row = row_of,
	.made = spindle_live_made,
	.begun = spindle_live_begun,
	.formed = formed,
	.ran = ran,
	.told = spindle_live_told,
	.room = room,
	.post = post,
};

/* ---- life -------------------------------------------------------------- */

static int add_members(struct spindle_group *group, const struct spindle_view *view)
{
	struct spindle_peer *peer;
	u32 r;

	for (r = 0; r < view->num_members; r++) {
		if (r == group->mg.me)
			continue;
		peer = spindle_peer_create(group, r, &view->member[r], group->digest);
		if (!peer)
			return -ENOMEM;
		spindle_group_seat(group, r, peer);
		group->peer[r] = peer;
		peer->rank = r;
	}
	return 0;
}

/* The subgroups that this node is in; peers are there. */
static int add_subgroups(struct spindle_group *group)
{
	const struct spindle_view *view = &group->view;
	u32 i;

	for (i = 0; i < view->num_subgroups; i++) {
		if (!(view->subgroup[i].members & BIT_ULL(group->mg.me)))
			continue;
		group->subgroup[i] = spindle_subgroup_create(group, view, group->mg.me,
							     group->peer, i);
		if (!group->subgroup[i])
			return -ENOMEM;
		group->mg.mc[i] = &group->subgroup[i]->mc;
		group->mg.streams[i] = spindle_subgroup_streams(group->subgroup[i]);
	}
	return 0;
}

static int build_first(struct spindle_group *group, const struct spindle_view *view,
		       const struct spindle_rules *rules,
		       const struct spindle_lineage *lineage)
{
	struct spindle_node *node = group->node;

	if (rules)
		spindle_rules_row(&group->layout, rules, node->id, node->id);
	else
		spindle_layout_row(&group->layout, view, group->mg.me, group->mg.me);
	if (spindle_payer_row(&node->payer, &group->row, node->ep.ib, group->layout.size) ||
	    (rules && spindle_live_create(group, rules, lineage)) ||
	    add_members(group, view) || add_subgroups(group))
		return -ENOMEM;
	return rules ? spindle_live_begin(group->live, view) : 0;
}

/**
 * spindle_group_create() - allocate all that the first view of a node takes
 * @node: the node
 * @view: checked; the node is a member, or wants to be if the view is live
 * @rules: of a live view, checked; NULL: it is static
 * @lineage: of a live view
 *
 * Nothing is connected yet, and the group that may be running is not touched.
 *
 * Context: process, the namespace's lock.
 * Return: the group, or NULL for want of memory, or if the view is none by the rules
 */
struct spindle_group *spindle_group_create(struct spindle_node *node,
					   const struct spindle_view *view,
					   const struct spindle_rules *rules,
					   const struct spindle_lineage *lineage)
{
	struct spindle_group *group = kvzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	int me = spindle_view_rank(view, node->id);

	if (!group)
		return NULL;
	group->node = node;
	mutex_init(&group->seats_lock);
	group->digest = rules ? spindle_live_digest(view, rules, lineage) :
				spindle_view_digest(view);
	if (me >= 0)
		group->view = *view;
	group->mg.ops = &casts_ops;
	group->mg.ctx = group;
	group->mg.view = &group->view;
	group->mg.me = me < 0 ? SPINDLE_NO_RANK : me;
	if (build_first(group, view, rules, lineage)) {
		spindle_group_free(group);
		return NULL;
	}
	return group;
}

/**
 * spindle_group_free() - free a group that the engine does not run
 * @group: complete or half built; its attachments are cut off
 *
 * Connections go first: until they are drained, peers may write into rows.
 *
 * Context: process, the namespace's lock.
 */
void spindle_group_free(struct spindle_group *group)
{
	struct spindle_peer *peer;
	u32 i;

	for (i = 0; (peer = spindle_group_next(group, &i)); i++)
		spindle_peer_destroy(peer);
	for (i = 0; i < SPINDLE_MAX_SUBGROUPS; i++)
		spindle_subgroup_free(group->subgroup[i]);
	spindle_live_destroy(group->live);
	spindle_payer_row_free(&group->node->payer, &group->row);
	kvfree(group);
}

/**
 * spindle_group_row() - where a row is, and what is in it
 * @group: the group
 * @peer: whose row; NULL: the own
 *
 * Return: as core/ wants it
 */
struct spindle_row spindle_group_row(struct spindle_group *group, struct spindle_peer *peer)
{
	if (!peer)
		return (struct spindle_row){ .base = group->row.mem.va, .in = &group->layout };
	return (struct spindle_row){
		.base = peer->row.mem.va,
		.in = &peer->in,
		.out = &peer->out,
		.vouch = group->node->imm ? peer->vouch : NULL,
	};
}

/**
 * spindle_group_find() - find a subgroup
 * @group: the group, or NULL
 * @id: id of the subgroup
 *
 * Return: the subgroup; NULL: the node is in none of this id
 */
struct spindle_subgroup *spindle_group_find(const struct spindle_group *group, u32 id)
{
	struct spindle_subgroup *sg;
	u32 i;

	for (i = 0; group && (sg = spindle_group_subgroup(group, &i)); i++)
		if (sg->cfg->id == id)
			return sg;
	return NULL;
}

static void run_group_fn(void *ctx)
{
	struct spindle_group *group = ctx;

	group->node->running = group;
	spindle_mg_start(&group->mg);
}

static void no_lanes_fn(void *ctx)
{
	spindle_subgroup_end(ctx, SPINDLE_STATE_FAILED, SPINDLE_ERR_PEER_LOST,
			     "there is not enough memory for connections");
}

/* Others may send when they are connected: what they send by has to be there before. */
static void open_lanes(struct spindle_group *group)
{
	struct spindle_subgroup *sg;
	u32 i;

	for (i = 0; (sg = spindle_group_subgroup(group, &i)); i++)
		if (sg->large && spindle_large_open(sg->large, &group->view, group->peer))
			spindle_engine_call(group->node->engine, no_lanes_fn, sg);
}

/**
 * spindle_group_start() - give the group to the engine and begin to connect
 * @group: created; the node's group from now on
 */
void spindle_group_start(struct spindle_group *group)
{
	struct spindle_peer *peer;
	u32 i;

	open_lanes(group);
	spindle_engine_call(group->node->engine, run_group_fn, group);
	for (i = 0; (peer = spindle_group_next(group, &i)); i++)
		spindle_peer_start(peer);
}

struct stop {
	struct spindle_group *group;
	u32 error;
};

static void end_group_fn(void *ctx)
{
	const struct stop *stop = ctx;
	struct spindle_group *group = stop->group;
	u32 state = stop->error == SPINDLE_ERR_DEVICE_GONE ? SPINDLE_STATE_FAILED :
							     SPINDLE_STATE_GONE;
	struct spindle_subgroup *sg;
	u32 i;

	group->node->running = NULL;
	for (i = 0; (sg = spindle_group_subgroup(group, &i)); i++)
		spindle_subgroup_end(sg, state, stop->error, NULL);
}

/**
 * spindle_group_stop() - take the group from the engine and end its subgroups
 * @group: started
 * @error: why, enum spindle_error; attachments see it
 *
 * What happens to connections from now on is told to nobody.
 *
 * Context: process, the namespace's lock.
 */
void spindle_group_stop(struct spindle_group *group, u32 error)
{
	struct stop stop = { .group = group, .error = error };

	/* Others would take a connection that just ends for an accusation. */
	if (group->live)
		spindle_live_bow_out(group->live);
	spindle_engine_call(group->node->engine, end_group_fn, &stop);
}

/**
 * spindle_group_remove() - cut the attachments off and free the group
 * @group: stopped
 *
 * Context: process, the namespace's lock.
 */
void spindle_group_remove(struct spindle_group *group)
{
	struct spindle_attachment *att, *next;
	struct spindle_subgroup *sg;
	u32 i;

	for (i = 0; (sg = spindle_group_subgroup(group, &i)); i++)
		list_for_each_entry_safe(att, next, &sg->attachments, link)
			spindle_attachment_cut(att);
	spindle_group_free(group);
}

/* ---- engine ----------------------------------------------------------- */

/**
 * spindle_group_pass() - one pass: see, decide, then post
 * @group: the group
 * @how: SPINDLE_PASS_*
 *
 * Posts come last, one chain per peer for all subgroups: state is final by then, and
 * what was decided in the meantime rides along (Spindle paper, III-C).
 *
 * Return: true if there was work
 */
bool spindle_group_pass(struct spindle_group *group, u32 how)
{
	struct spindle_peer *peer;
	bool work = false;
	u32 i;

	for (i = 0; (peer = spindle_group_next(group, &i)); i++)
		work |= spindle_peer_watch(peer);
	work |= spindle_mg_pass(&group->mg, how & SPINDLE_PASS_ALL,
				   how & SPINDLE_PASS_IDLE);
	if (group->live)
		work |= spindle_live_pass(group->live, how);
	for (i = 0; (peer = spindle_group_next(group, &i)); i++)
		work |= spindle_peer_push(peer);
	spindle_mg_pushed(&group->mg);
	return work;
}

/**
 * spindle_group_lost() - end the subgroups of which some members have lost each other
 * @group: the group
 * @ranks: the members that are parted; this node may be one of them
 * @error: enum spindle_error
 * @reason: for people, or NULL
 *
 * A static view cannot go on without one of its members; the subgroups that they do not
 * share do not notice.
 */
void spindle_group_lost(struct spindle_group *group, u64 ranks, u32 error, const char *reason)
{
	struct spindle_subgroup *sg;
	u32 i;

	for (i = 0; (sg = spindle_group_subgroup(group, &i)); i++)
		if (!(ranks & ~sg->cfg->members))
			spindle_subgroup_end(sg, SPINDLE_STATE_FAILED, error, reason);
}
