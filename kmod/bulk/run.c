// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMC groups: the engine's part. See rdmc.h.
 *
 * Context: engine, except for rdmc_group_chore().
 */
#include <linux/ktime.h>

#include "lane.h"
#include "large.h"
#include "link.h"
#include "node/above.h"
#include "node/event.h"
#include "node/installed.h"
#include "node/node.h"
#include "node/peer.h"
#include "pinned.h"
#include "rdmc.h"

/* Blocks of a group to unmap per pass, because each takes 1 or 2 us behind an IOMMU. */
#define UNMAP_BLOCKS	64

static struct spindle_rdmc_group *rdmc_group(struct spindle_rdmc *r)
{
	return container_of(r, struct spindle_rdmc_group, r);
}

/**
 * rdmc_group_chore() - queue the group's chore, for work that may sleep
 * @group: the group
 *
 * Context: any.
 */
static void rdmc_group_chore(struct spindle_rdmc_group *group)
{
	spindle_chore_queue(&group->chore, 0);
}

/* ---- callbacks of core/ ------------------------------------------------- */

static void run_cut(struct spindle_rdmc *r, u32 m)
{
	spindle_conn_fail(&spindle_link_to(r, m)->lane->bulk.conn,
			  "the peer broke the rules of RDMC");
}

static bool run_listens(struct spindle_rdmc *r)
{
	const struct spindle_rdmc_group *group = rdmc_group(r);

	/* A group without a file does not wait for a reader. */
	return READ_ONCE(group->orphan) ||
	       group->tail - READ_ONCE(group->head) + SPINDLE_RDMC_SLACK <= SPINDLE_RDMC_EVENTS;
}

/* Report the events that matter to listeners of the node. */
static void report(const struct spindle_rdmc_group *group, const struct spindle_rdmc_event *ev)
{
	static const u8 kinds[] = {
		[SPINDLE_RDMC_OPENED] = SPINDLE_EVENT_RDMC_OPENED,
		[SPINDLE_RDMC_CLOSED] = SPINDLE_EVENT_RDMC_CLOSED,
		[SPINDLE_RDMC_FAILED] = SPINDLE_EVENT_RDMC_FAILED,
	};

	if (!kinds[ev->kind])
		return;
	spindle_event(group->node, kinds[ev->kind], &(struct spindle_event_info){
		.rdmc = group->r.cfg.id,
		.rdmc_error = ev->error,
		.peer = ev->node ? group->r.cfg.member[ev->node - 1] : 0,
	});
}

static void run_event(struct spindle_rdmc *r, const struct spindle_rdmc_event *ev)
{
	struct spindle_rdmc_group *group = rdmc_group(r);
	struct spindle_rdmc_event *to = &group->event[group->tail % SPINDLE_RDMC_EVENTS];

	report(group, ev);
	if (READ_ONCE(group->orphan))
		return;
	*to = *ev;
	to->at_ns = ktime_get_ns();
	to->node = ev->node ? r->cfg.member[ev->node - 1] : SPINDLE_RDMC_NOBODY;
	/* Pairs with the acquire in spindle_rdmc_group_next(): the event is complete. */
	smp_store_release(&group->tail, group->tail + 1);
	if (ev->kind == SPINDLE_RDMC_CLOSED || ev->kind == SPINDLE_RDMC_FAILED)
		WRITE_ONCE(group->ended, true);
	if (wq_has_sleeper(&group->wait))
		wake_up_interruptible_poll(&group->wait, EPOLLIN | EPOLLRDNORM);
}

static bool run_release(struct spindle_rdmc *r, void *mem)
{
	struct spindle_rdmc_group *group = rdmc_group(r);
	struct spindle_pinned *pinned = mem;

	if (!spindle_pinned_unmap_some(pinned, UNMAP_BLOCKS))
		return false;
	if (llist_add(&pinned->free, &group->garbage))
		queue_work(spindle_wq, &group->work);
	return true;
}

const struct spindle_rdmc_ops spindle_rdmc_group_ops = {
	.room = spindle_link_room,
	.say = spindle_link_say,
	.grant = spindle_link_grant,
	.revoke = spindle_link_revoke,
	.write = spindle_link_write,
	.flushed = spindle_link_flushed,
	.cut = run_cut,
	.listens = run_listens,
	.event = run_event,
	.release = run_release,
};

/* ---- a pass ------------------------------------------------------------- */

/**
 * rdmc_node_pass() - a pass over the lanes and groups of a node
 * @node: the node
 *
 * Return: true if something happened
 */
static bool rdmc_node_pass(struct spindle_node *node)
{
	struct spindle_rdmc_group *group;
	struct spindle_large *large;
	struct spindle_lane *lane;
	bool work = false;
	u64 now;

	if (list_empty(&node->rdmc_run) && list_empty(&node->larges))
		return false;
	now = ktime_get_ns();
	list_for_each_entry(lane, &node->lanes_run, run)
		work |= spindle_lane_pass(lane);
	list_for_each_entry(large, &node->larges, run)
		work |= spindle_large_pass(large, now);
	list_for_each_entry(group, &node->rdmc_run, run) {
		work |= spindle_rdmc_pass(&group->r, now);
		if (!group->over && spindle_rdmc_over(&group->r)) {
			WRITE_ONCE(group->over, true);
			rdmc_group_chore(group);
		}
	}
	/* For fairness, let another group be first in the next pass. */
	list_rotate_left(&node->larges);
	list_rotate_left(&node->rdmc_run);
	return work;
}

/**
 * rdmc_node_due() - time until the engine has to run a pass even if it is not woken
 * @node: the node
 *
 * Return: nanoseconds; U64_MAX: never
 */
static u64 rdmc_node_due(const struct spindle_node *node)
{
	const struct spindle_rdmc_group *group;
	u64 due = U64_MAX, now;

	list_for_each_entry(group, &node->rdmc_run, run)
		due = min(due, spindle_rdmc_due(&group->r));
	if (due == U64_MAX)
		return due;
	now = ktime_get_ns();
	return due > now ? due - now : 0;
}

/**
 * rdmc_node_arm() - request wake-ups for completions, before the engine sleeps
 * @node: the node
 *
 * Return: true if there is a completion already
 */
static bool rdmc_node_arm(struct spindle_node *node)
{
	struct spindle_lane *lane;
	bool came = false;

	list_for_each_entry(lane, &node->lanes_run, run)
		came |= spindle_lane_arm(lane);
	return came;
}

/* Is a member of the group missing in the view, or there with another incarnation? */
static bool missing(const struct spindle_rdmc_group *group, u32 m,
		    const struct spindle_installed *inst)
{
	int rank = spindle_view_rank(&inst->view, group->r.cfg.member[m]);
	const struct spindle_lane *lane = group->link[m].lane;

	if (rank < 0)
		return true;
	return lane && lane->incarnation && inst->peer[rank] &&
	       inst->peer[rank]->incarnation != lane->incarnation;
}

/**
 * spindle_rdmc_node_view() - end the groups with members that are not in the new view
 * @inst: the new view, at its node
 */
void spindle_rdmc_node_view(const struct spindle_installed *inst)
{
	struct spindle_rdmc_group *group;
	u32 m;

	spindle_engine_assert(inst->node->engine);
	list_for_each_entry(group, &inst->node->rdmc_run, run) {
		for (m = 0; m < group->r.cfg.n; m++)
			if (missing(group, m, inst))
				spindle_rdmc_fail(&group->r, m + 1, SPINDLE_RDMC_VIEW);
	}
}

/**
 * spindle_rdmc_node_cut() - break the lanes to a suspected member of a live view
 * @node: the node
 * @id: node id of the member
 *
 * Grants to the member come back when its lane is drained. If this node was sending nothing to the
 * member, no retry would break the lane, and the view could not end before the group's timeout.
 */
void spindle_rdmc_node_cut(struct spindle_node *node, u32 id)
{
	struct spindle_lane *lane;

	spindle_engine_assert(node->engine);
	list_for_each_entry(lane, &node->lanes_run, run)
		if (lane->id == id)
			spindle_conn_fail(&lane->bulk.conn, "the peer is suspected");
}

/**
 * spindle_rdmc_node_stop() - end all groups of a node whose live view has stopped
 * @node: the node
 */
void spindle_rdmc_node_stop(struct spindle_node *node)
{
	struct spindle_rdmc_group *group;

	spindle_engine_assert(node->engine);
	list_for_each_entry(group, &node->rdmc_run, run)
		spindle_rdmc_fail(&group->r, group->r.cfg.me + 1, SPINDLE_RDMC_VIEW);
}

/**
 * rdmc_node_lost() - end the groups with a member that a static view has lost
 * @node: the node
 * @id: node id of the member
 */
static void rdmc_node_lost(struct spindle_node *node, u32 id)
{
	struct spindle_rdmc_group *group;
	u32 m;

	list_for_each_entry(group, &node->rdmc_run, run) {
		for (m = 0; m < group->r.cfg.n; m++)
			if (group->r.cfg.member[m] == id)
				spindle_rdmc_fail(&group->r, m + 1, SPINDLE_RDMC_LOST);
	}
}

const struct spindle_transfer_ops spindle_bulk_transfer = {
	.create = spindle_large_create,
	.destroy = spindle_large_destroy,
	.open = spindle_large_open,
	.drop = spindle_rdmc_node_drop,
	.match = spindle_lane_match,
	.pass = rdmc_node_pass,
	.due = rdmc_node_due,
	.arm = rdmc_node_arm,
	.lost = rdmc_node_lost,
};
