// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups: a view that a node has installed. See installed.h.
 */
#include <linux/slab.h>

#include "above.h"
#include "attachment.h"
#include "base/engine.h"
#include "event.h"
#include "fabric/post.h"
#include "installed.h"
#include "node.h"
#include "peer.h"
#include "subgroup.h"

/* ---- callbacks of core/ ------------------------------------------------ */

static bool joined(void *ctx, u32 rank)
{
	const struct spindle_group *group = ctx;

	return spindle_peer_joined(group->peer[rank]);
}

static struct spindle_row row_of(void *ctx, u32 rank)
{
	struct spindle_group *group = ctx;

	return spindle_peer_row(group, group->peer[rank]);
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

static struct spindle_mg_ops mg_ops __ro_after_init = {
	.joined = joined,
	.row = row_of,
	.formed = formed,
	.ran = ran,
	.room = room,
	.post = post,
};

/**
 * spindle_group_init() - complete the table for core/group
 *
 * Context: module init, after spindle_above_init().
 */
void __init spindle_group_init(void)
{
	const struct spindle_mg_ops *live = spindle_membership->mg;

	mg_ops.connected = live->connected;
	mg_ops.guest = live->guest;
	mg_ops.made = live->made;
	mg_ops.begun = live->begun;
	mg_ops.told = live->told;
}

/*
 * In a static view a subgroup cannot go on without one of its members. Subgroups that do not have
 * all the members @ranks go on.
 */
static void end_subgroups(struct spindle_group *group, u64 ranks, u32 error, const char *reason)
{
	struct spindle_subgroup *sg;
	u32 i;

	for (i = 0; (sg = spindle_group_subgroup(group, &i)); i++)
		if (!(ranks & ~sg->cfg->members))
			spindle_subgroup_end(sg, SPINDLE_STATE_FAILED, error, reason);
}

static const struct spindle_peer_ops peer_ops = { .lost = end_subgroups };

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

/* Create the subgroups of this node. All peers have been created. */
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
		group->mg.streams[i] = group->subgroup[i]->streams;
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
	    (rules && spindle_membership->create(group, rules, lineage)) ||
	    add_members(group, view) || add_subgroups(group))
		return -ENOMEM;
	return rules ? spindle_membership->begin(group->live, view) : 0;
}

/**
 * spindle_group_create() - allocate everything for the first view of a node
 * @node: the node
 * @view: checked; the node is a member, or wants to join if the view is live
 * @rules: rules of a live view, checked; NULL: the view is static
 * @lineage: lineage of a live view
 *
 * This opens no connections, and does not touch a running group of the node.
 *
 * Context: process, the namespace's lock.
 * Return: the group, or NULL if there is no memory or the rules do not allow the view
 */
struct spindle_group *spindle_group_create(struct spindle_node *node,
					   const struct spindle_view *view,
					   const struct spindle_rules *rules,
					   const struct spindle_lineage *lineage)
{
	struct spindle_group *group = kvzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	int me = spindle_view_rank(view, node->id);

	lockdep_assert_held(&node->sn->lock);
	if (!group)
		return NULL;
	group->node = node;
	mutex_init(&group->seats_lock);
	group->digest = rules ? spindle_live_digest(view, rules, lineage) :
				spindle_view_digest(view);
	if (me >= 0)
		group->view = *view;
	group->peer_ops = &peer_ops;
	group->mg.ops = &mg_ops;
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
 * Connections are closed first, because peers may write into rows until these are drained.
 *
 * Context: process, the namespace's lock.
 */
void spindle_group_free(struct spindle_group *group)
{
	struct spindle_peer *peer;
	u32 i;

	lockdep_assert_held(&group->node->sn->lock);
	for (i = 0; i < SPINDLE_MAX_SUBGROUPS; i++) {
		spindle_subgroup_free(group->subgroup[i]);
		group->subgroup[i] = NULL;
	}
	for (i = 0; (peer = spindle_group_next(group, &i)); i++)
		spindle_peer_destroy(peer);
	spindle_membership->destroy(group->live);
	spindle_payer_row_free(&group->node->payer, &group->row);
	kvfree(group);
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

/* Connected members may send large messages at once, so the lanes must exist before. */
static void open_lanes(struct spindle_group *group)
{
	struct spindle_subgroup *sg;
	u32 i;

	for (i = 0; (sg = spindle_group_subgroup(group, &i)); i++)
		if (sg->large && spindle_transfer->open(sg->large, &group->view, group->peer))
			spindle_engine_call(group->node->engine, no_lanes_fn, sg);
}

/**
 * spindle_group_start() - give the group to the engine and start connecting
 * @group: created; the node's group from now on
 */
void spindle_group_start(struct spindle_group *group)
{
	struct spindle_peer *peer;
	u32 i;

	lockdep_assert_held(&group->node->sn->lock);
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
 * @error: cause, enum spindle_error; attachments get it
 *
 * The end of connections is not reported after this.
 *
 * Context: process, the namespace's lock.
 */
void spindle_group_stop(struct spindle_group *group, u32 error)
{
	struct stop stop = { .group = group, .error = error };

	lockdep_assert_held(&group->node->sn->lock);
	/* Otherwise the other members would see lost connections, and suspect this node. */
	if (group->live)
		spindle_membership->bow_out(group->live);
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

	lockdep_assert_held(&group->node->sn->lock);
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
 * Posts come last, in one chain per peer for all subgroups. By then the state of this pass is
 * final, so later decisions of the pass go out in the same chain (Spindle paper, III-C).
 *
 * Return: true if there was work
 */
bool spindle_group_pass(struct spindle_group *group, u32 how)
{
	struct spindle_peer *peer;
	bool work = false;
	u32 i;

	spindle_engine_assert(group->node->engine);
	for (i = 0; (peer = spindle_group_next(group, &i)); i++)
		work |= spindle_peer_watch(peer);
	work |= spindle_mg_pass(&group->mg, how & SPINDLE_PASS_ALL,
				   how & SPINDLE_PASS_IDLE);
	if (group->live)
		work |= spindle_membership->pass(group->live, how);
	for (i = 0; (peer = spindle_group_next(group, &i)); i++)
		work |= spindle_peer_push(peer);
	spindle_mg_pushed(&group->mg);
	return work;
}
