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
#include "live.h"
#include "node.h"
#include "peer.h"
#include "subgroup.h"

/* ---- what core/ asks for ----------------------------------------------- */

static bool row_of(void *ctx, u32 rank, struct spindle_row *row)
{
	struct spindle_group *group = ctx;
	struct spindle_peer *peer = group->peer[rank];

	*row = spindle_group_row(group, peer);
	return peer && peer->joined;
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

static struct spindle_group *alloc_group(struct spindle_node *node)
{
	struct spindle_group *group = kvzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);

	if (!group)
		return NULL;
	group->node = node;
	group->mg.ops = &casts_ops;
	group->mg.ctx = group;
	mutex_init(&group->seats_lock);
	return group;
}

/* The view, and the subgroups of it that this node is in; peers are there. */
static int set_view(struct spindle_group *group, const struct spindle_view *view)
{
	u32 i;

	group->view = *view;
	for (i = 0; i < view->num_subgroups; i++) {
		if (!(view->subgroup[i].members & BIT_ULL(group->me)))
			continue;
		group->subgroup[i] = spindle_subgroup_create(group, &group->view, group->me,
							     group->peer, i);
		if (!group->subgroup[i])
			return -ENOMEM;
		group->mg.mc[i] = &group->subgroup[i]->mc;
	}
	return 0;
}

static int add_member(struct spindle_group *group, const struct spindle_view *view, u32 rank)
{
	struct spindle_peer *peer = spindle_peer_create(group, rank, &view->member[rank]);

	if (!peer)
		return -ENOMEM;
	spindle_group_seat(group, rank, peer);
	peer->rank = rank;
	peer->active = group->node->id < peer->id;
	peer->digest = group->digest;
	group->peer[rank] = peer;
	spindle_layout_row(&peer->in, view, rank, group->me);
	spindle_layout_row(&peer->out, view, group->me, rank);
	return spindle_payer_row(&group->node->payer, &peer->row, group->node->ep.ib,
				 peer->in.size);
}

/**
 * spindle_group_create() - allocate all that a view takes
 * @node: the node, a member of the view
 * @view: checked
 *
 * Nothing is connected yet, and the group that may be running is not touched.
 *
 * Context: process, the namespace's lock.
 * Return: the group, or NULL for want of memory
 */
struct spindle_group *spindle_group_create(struct spindle_node *node,
					   const struct spindle_view *view)
{
	struct spindle_group *group = alloc_group(node);
	u32 i;

	if (!group)
		return NULL;
	group->digest = spindle_view_digest(view);
	group->me = spindle_view_rank(view, node->id);
	spindle_layout_row(&group->layout, view, group->me, group->me);
	if (spindle_payer_row(&node->payer, &group->row, node->ep.ib, group->layout.size))
		goto err_free;
	for (i = 0; i < view->num_members; i++)
		if (i != group->me && add_member(group, view, i))
			goto err_free;
	if (set_view(group, view))
		goto err_free;
	group->mg.view = &group->view;
	group->mg.me = group->me;
	return group;

err_free:
	spindle_group_free(group);
	return NULL;
}

/**
 * spindle_group_create_live() - allocate all that the first view of a node takes
 * @node: the node
 * @view: checked; the node is a member, or wants to be
 * @rules: checked
 * @lineage: of the view
 *
 * Context: process, the namespace's lock.
 * Return: the group, or NULL for want of memory, or if the view is none by the rules
 */
struct spindle_group *spindle_group_create_live(struct spindle_node *node,
						const struct spindle_view *view,
						const struct spindle_rules *rules,
						const struct spindle_lineage *lineage)
{
	struct spindle_group *group = alloc_group(node);
	int me = spindle_view_rank(view, node->id);
	u32 i;

	if (!group)
		return NULL;
	group->me = me < 0 ? SPINDLE_NO_RANK : me;
	group->digest = spindle_live_digest(view, rules, lineage);
	spindle_rules_row(&group->layout, rules, node->id, node->id);
	if (spindle_payer_row(&node->payer, &group->row, node->ep.ib, group->layout.size) ||
	    spindle_live_create(group, rules, lineage))
		goto err_free;
	for (i = 0; i < view->num_members; i++)
		if (i != group->me && spindle_live_add_member(group->live, view, i))
			goto err_free;
	if (me >= 0 && set_view(group, view))
		goto err_free;
	if (spindle_live_begin(group->live, view))
		goto err_free;
	group->mg.mb = &group->live->mb;
	group->mg.view = spindle_mb_view(&group->live->mb);
	group->mg.me = group->me;
	return group;

err_free:
	spindle_group_free(group);
	return NULL;
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

static void start_fn(void *ctx)
{
	struct spindle_group *group = ctx;

	group->node->running = group;
}

/**
 * spindle_group_start() - give the group to the engine and begin to connect
 * @group: created; the node's group from now on
 */
void spindle_group_start(struct spindle_group *group)
{
	struct spindle_peer *peer;
	u32 i;

	spindle_engine_call(group->node->engine, start_fn, group);
	for (i = 0; (peer = spindle_group_next(group, &i)); i++)
		spindle_peer_start(peer);
}

struct stop {
	struct spindle_group *group;
	u32 error;
};

static void stop_fn(void *ctx)
{
	const struct stop *stop = ctx;
	struct spindle_group *group = stop->group;
	u32 state = stop->error == SPINDLE_ERR_DEVICE_GONE ? SPINDLE_STATE_FAILED :
							     SPINDLE_STATE_GONE;
	u32 i;

	group->node->running = NULL;
	for (i = 0; i < group->view.num_subgroups; i++)
		if (group->subgroup[i])
			spindle_subgroup_end(group->subgroup[i], state, stop->error, NULL);
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
	spindle_engine_call(group->node->engine, stop_fn, &stop);
}

/**
 * spindle_group_remove() - cut the attachments off and free the group
 * @group: stopped
 *
 * Context: process, the namespace's lock.
 */
void spindle_group_remove(struct spindle_group *group)
{
	u32 i;

	for (i = 0; i < group->view.num_subgroups; i++) {
		struct spindle_subgroup *sg = group->subgroup[i];
		struct spindle_attachment *att, *next;

		if (!sg)
			continue;
		list_for_each_entry_safe(att, next, &sg->attachments, link)
			spindle_attachment_cut(att);
	}
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
	u32 i;

	for (i = 0; i < group->view.num_subgroups; i++) {
		struct spindle_subgroup *sg = group->subgroup[i];

		if (sg && !(ranks & ~sg->cfg->members))
			spindle_subgroup_end(sg, SPINDLE_STATE_FAILED, error, reason);
	}
}
