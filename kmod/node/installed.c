// SPDX-License-Identifier: GPL-2.0-only
/*
 * Installed: a view that a node has installed. See installed.h.
 */
#include <linux/slab.h>

#include "above.h"
#include "attachment.h"
#include "base/engine.h"
#include "core/base/ranges.h"
#include "event.h"
#include "fabric/post.h"
#include "fetch.h"
#include "installed.h"
#include "node.h"
#include "peer.h"
#include "subgroup.h"
#include "table.h"

/* ---- callbacks of core/ ------------------------------------------------ */

static bool joined(void *ctx, u32 rank)
{
	const struct spindle_installed *inst = ctx;

	return spindle_peer_joined(inst->peer[rank]);
}

static struct spindle_row row_of(void *ctx, u32 rank)
{
	struct spindle_installed *inst = ctx;

	return spindle_peer_row(inst, inst->peer[rank]);
}

static void formed(void *ctx, u32 index)
{
	const struct spindle_installed *inst = ctx;

	spindle_subgroup_formed(inst->subgroup[index]);
}

static void ran(void *ctx, u32 index, bool work)
{
	const struct spindle_installed *inst = ctx;

	spindle_subgroup_ran(inst->subgroup[index], work);
}

static u32 room(void *ctx, u32 rank, u32 writes)
{
	const struct spindle_installed *inst = ctx;

	return spindle_post_fits(&inst->peer[rank]->conn, writes) ? writes : 0;
}

static void post(void *ctx, u32 rank, const struct spindle_write *write, u32 n, bool membership)
{
	const struct spindle_installed *inst = ctx;

	if (membership)
		spindle_peer_tell(inst->peer[rank], write, n);
	else
		spindle_peer_cast(inst->peer[rank], write, n);
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
 * spindle_installed_init() - complete the table for core/group
 *
 * Context: module init, after spindle_above_init().
 */
void __init spindle_installed_init(void)
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
static void end_subgroups(struct spindle_installed *inst, u64 ranks, u32 error, const char *reason)
{
	struct spindle_subgroup *sg;
	u32 i;

	for (i = 0; (sg = spindle_installed_subgroup(inst, &i)); i++)
		if (!(ranks & ~sg->cfg->members))
			spindle_subgroup_end(sg, SPINDLE_STATE_FAILED, error, reason);
}

static const struct spindle_peer_ops peer_ops = { .lost = end_subgroups };

/* ---- life -------------------------------------------------------------- */

/* Nodes that join do not know the range, so only the first members expect it of each other. */
static int add_members(struct spindle_installed *inst, const struct spindle_view *view)
{
	u64 digest = spindle_ranges_digest(inst->digest, inst->ranges);
	struct spindle_peer *peer;
	u32 r;

	for (r = 0; r < view->num_members; r++) {
		if (r == inst->mg.me)
			continue;
		peer = spindle_peer_create(inst, r, &view->member[r], digest);
		if (!peer)
			return -ENOMEM;
		spindle_installed_seat(inst, r, peer);
		inst->peer[r] = peer;
		peer->rank = r;
	}
	return 0;
}

/* Create the subgroups of this node. All peers have been created. */
static int add_subgroups(struct spindle_installed *inst)
{
	const struct spindle_view *view = &inst->view;
	u32 i;

	for (i = 0; i < view->num_subgroups; i++) {
		if (!(view->subgroup[i].members & BIT_ULL(inst->mg.me)))
			continue;
		inst->subgroup[i] = spindle_subgroup_create(inst, view, inst->mg.me,
							    inst->peer, i);
		if (!inst->subgroup[i])
			return -ENOMEM;
		inst->mg.mc[i] = &inst->subgroup[i]->mc;
		inst->mg.streams[i] = inst->subgroup[i]->streams;
		inst->mg.tb[i] = spindle_subgroup_tb(inst->subgroup[i]);
	}
	return 0;
}

static int build_first(struct spindle_installed *inst, const struct spindle_view *view,
		       const struct spindle_rules *rules,
		       const struct spindle_lineage *lineage)
{
	struct spindle_node *node = inst->node;

	if (rules)
		spindle_rules_row(&inst->layout, rules, node->id, node->id);
	else
		spindle_layout_row(&inst->layout, view, inst->mg.me, inst->mg.me);
	if (spindle_payer_row(&node->payer, &inst->row, node->ep.ib, inst->layout.size) ||
	    (rules && spindle_membership->create(inst, rules, lineage)) ||
	    add_members(inst, view) || add_subgroups(inst))
		return -ENOMEM;
	return rules ? spindle_membership->begin(inst->live, view) : 0;
}

/**
 * spindle_installed_is_of() - do positions of a lineage and era mean something in this view?
 * @inst: the installed view
 * @lineage: lineage and era; both are 0 for a static view
 *
 * Return: true if the view has the same ones
 */
bool spindle_installed_is_of(const struct spindle_installed *inst,
			     const struct spindle_lineage *lineage)
{
	static const struct spindle_lineage none;

	return !memcmp(lineage, inst->lineage ? : &none, sizeof(none));
}

/**
 * spindle_installed_create() - allocate everything for the first view of a node
 * @node: the node
 * @view: checked; the node is a member, or wants to join if the view is live
 * @rules: rules of a live view, checked; NULL: the view is static
 * @lineage: lineage of a live view
 * @ranges: views of earlier eras that it follows, or NULL; needed until it has been started
 *
 * This opens no connections, and does not touch a running view of the node.
 *
 * Context: process, the namespace's lock.
 * Return: the installed view, or NULL if there is no memory or the rules do not allow the view
 */
struct spindle_installed *spindle_installed_create(struct spindle_node *node,
						   const struct spindle_view *view,
						   const struct spindle_rules *rules,
						   const struct spindle_lineage *lineage,
						   const struct spindle_ranges *ranges)
{
	struct spindle_installed *inst = kvzalloc(sizeof(*inst), GFP_KERNEL_ACCOUNT);
	int me = spindle_view_rank(view, node->id);

	lockdep_assert_held(&node->sn->lock);
	if (!inst)
		return NULL;
	inst->node = node;
	mutex_init(&inst->seats_lock);
	inst->digest = rules ? spindle_live_digest(view, rules, lineage) :
			       spindle_view_digest(view);
	inst->ranges = ranges;
	if (me >= 0)
		inst->view = *view;
	inst->peer_ops = &peer_ops;
	inst->mg.ops = &mg_ops;
	inst->mg.ctx = inst;
	inst->mg.view = &inst->view;
	inst->mg.me = me < 0 ? SPINDLE_NO_RANK : me;
	if (build_first(inst, view, rules, lineage)) {
		spindle_installed_free(inst);
		return NULL;
	}
	return inst;
}

/**
 * spindle_installed_free() - free a view that the engine does not run
 * @inst: complete or half built; its attachments are cut off
 *
 * Connections are closed first, because peers may write into rows until these are drained.
 *
 * Context: process, the namespace's lock.
 */
void spindle_installed_free(struct spindle_installed *inst)
{
	struct spindle_peer *peer;
	u32 i;

	lockdep_assert_held(&inst->node->sn->lock);
	for (i = 0; i < SPINDLE_MAX_SUBGROUPS; i++) {
		spindle_subgroup_free(inst->subgroup[i]);
		inst->subgroup[i] = NULL;
	}
	for (i = 0; (peer = spindle_installed_next(inst, &i)); i++)
		spindle_peer_destroy(peer);
	spindle_membership->destroy(inst->live);
	spindle_payer_row_free(&inst->node->payer, &inst->row);
	kvfree(inst);
}

static void run_view_fn(void *ctx)
{
	struct spindle_installed *inst = ctx;

	inst->node->running = inst;
	spindle_mg_start(&inst->mg, inst->ranges);
}

static void no_lanes_fn(void *ctx)
{
	spindle_subgroup_end(ctx, SPINDLE_STATE_FAILED, SPINDLE_ERR_PEER_LOST,
			     "there is not enough memory for connections");
}

/* Connected members may send large messages at once, so the lanes must exist before. */
static void open_lanes(struct spindle_installed *inst)
{
	struct spindle_subgroup *sg;
	u32 i;

	for (i = 0; (sg = spindle_installed_subgroup(inst, &i)); i++)
		if (sg->large && spindle_transfer->open(sg->large, &inst->view, inst->peer))
			spindle_engine_call(inst->node->engine, no_lanes_fn, sg);
}

/**
 * spindle_installed_settle() - let tables of mode read connect to the members of the view
 * @inst: the engine runs it
 *
 * Context: process, the namespace's lock.
 */
void spindle_installed_settle(struct spindle_installed *inst)
{
	struct spindle_subgroup *sg;
	u32 i;

	lockdep_assert_held(&inst->node->sn->lock);
	for (i = 0; (sg = spindle_installed_subgroup(inst, &i)); i++)
		if (sg->table && sg->table->fetches)
			spindle_fetches_settle(sg->table->fetches);
}

/**
 * spindle_installed_cut() - read no more rows of a member that is suspected
 * @inst: the installed view
 * @id: node id of the member
 *
 * Context: engine.
 */
void spindle_installed_cut(struct spindle_installed *inst, u32 id)
{
	struct spindle_subgroup *sg;
	u32 i;

	spindle_engine_assert(inst->node->engine);
	for (i = 0; (sg = spindle_installed_subgroup(inst, &i)); i++)
		if (sg->table && sg->table->fetches)
			spindle_fetches_cut(sg->table->fetches, id);
}

/**
 * spindle_installed_start() - give the view to the engine and start connecting
 * @inst: created; the node's installed view from now on. Its range is not used any more after this
 */
void spindle_installed_start(struct spindle_installed *inst)
{
	struct spindle_peer *peer;
	u32 i;

	lockdep_assert_held(&inst->node->sn->lock);
	open_lanes(inst);
	spindle_engine_call(inst->node->engine, run_view_fn, inst);
	inst->ranges = NULL;
	for (i = 0; (peer = spindle_installed_next(inst, &i)); i++)
		spindle_peer_start(peer);
	spindle_installed_settle(inst);
}

struct stop {
	struct spindle_installed *inst;
	u32 error;
};

static void end_view_fn(void *ctx)
{
	const struct stop *stop = ctx;
	struct spindle_installed *inst = stop->inst;
	u32 state = stop->error == SPINDLE_ERR_DEVICE_GONE ? SPINDLE_STATE_FAILED :
							     SPINDLE_STATE_GONE;
	struct spindle_subgroup *sg;
	u32 i;

	inst->node->running = NULL;
	for (i = 0; (sg = spindle_installed_subgroup(inst, &i)); i++)
		spindle_subgroup_end(sg, state, stop->error, NULL);
}

/**
 * spindle_installed_stop() - take the view from the engine and end its subgroups
 * @inst: started
 * @error: cause, enum spindle_error; attachments get it
 *
 * The end of connections is not reported after this.
 *
 * Context: process, the namespace's lock.
 */
void spindle_installed_stop(struct spindle_installed *inst, u32 error)
{
	struct stop stop = { .inst = inst, .error = error };

	lockdep_assert_held(&inst->node->sn->lock);
	/* Otherwise the other members would see lost connections, and suspect this node. */
	if (inst->live)
		spindle_membership->bow_out(inst->live);
	spindle_engine_call(inst->node->engine, end_view_fn, &stop);
}

/**
 * spindle_installed_remove() - cut the attachments off and free the view
 * @inst: stopped
 *
 * Context: process, the namespace's lock.
 */
void spindle_installed_remove(struct spindle_installed *inst)
{
	struct spindle_attachment *att, *next;
	struct spindle_subgroup *sg;
	u32 i;

	lockdep_assert_held(&inst->node->sn->lock);
	for (i = 0; (sg = spindle_installed_subgroup(inst, &i)); i++)
		list_for_each_entry_safe(att, next, &sg->attachments, link)
			spindle_attachment_cut(att);
	spindle_installed_free(inst);
}

/* ---- engine ----------------------------------------------------------- */

/**
 * spindle_installed_pass() - one pass: see, decide, then post
 * @inst: the installed view
 * @how: SPINDLE_PASS_*
 *
 * Posts come last, in one chain per peer for all subgroups. By then the state of this pass is
 * final, so later decisions of the pass go out in the same chain (Spindle paper, III-C).
 *
 * Return: true if there was work
 */
bool spindle_installed_pass(struct spindle_installed *inst, u32 how)
{
	struct spindle_peer *peer;
	bool work = false;
	u32 i;

	spindle_engine_assert(inst->node->engine);
	for (i = 0; (peer = spindle_installed_next(inst, &i)); i++)
		work |= spindle_peer_watch(peer);
	work |= spindle_mg_pass(&inst->mg, how & SPINDLE_PASS_ALL,
				   how & SPINDLE_PASS_IDLE);
	if (inst->live)
		work |= spindle_membership->pass(inst->live, how);
	for (i = 0; (peer = spindle_installed_next(inst, &i)); i++)
		work |= spindle_peer_push(peer);
	spindle_mg_pushed(&inst->mg);
	return work;
}
