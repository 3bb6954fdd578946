// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMC groups: what the engine does for them. See rdmc.h.
 *
 * Context: engine, but for spindle_rdmc_group_chore().
 */
#include <linux/ktime.h>

#include "event.h"
#include "group.h"
#include "large.h"
#include "link.h"
#include "node.h"
#include "peer.h"
#include "pinned.h"
#include "rdmc.h"

/* Blocks of a group that are unmapped in a pass: each takes 1 or 2 us behind an IOMMU. */
#define UNMAP_BLOCKS	64

static struct spindle_rdmc_group *rdmc_group(struct spindle_rdmc *r)
{
	return container_of(r, struct spindle_rdmc_group, r);
}

/**
 * spindle_rdmc_group_chore() - there is something to do that may sleep
 * @group: the group
 *
 * Context: any.
 */
void spindle_rdmc_group_chore(struct spindle_rdmc_group *group)
{
	spindle_chore_queue(&group->chore, 0);
}

/* ---- what the core needs ------------------------------------------------ */

static void run_cut(struct spindle_rdmc *r, u32 m)
{
	spindle_conn_fail(&spindle_link_to(r, m)->lane->bulk.conn, "it broke the rules of RDMC");
}

static bool run_listens(struct spindle_rdmc *r)
{
	const struct spindle_rdmc_group *group = rdmc_group(r);

	/* Who has gone reads nothing, and need not. */
	return READ_ONCE(group->orphan) ||
	       group->tail - READ_ONCE(group->head) + SPINDLE_RDMC_SLACK <= SPINDLE_RDMC_EVENTS;
}

/* What of it is for who watches the node. */
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
	/* Pairs with the acquire in spindle_rdmc_group_next(): the event is whole. */
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
 * spindle_rdmc_node_pass() - a pass over the lanes and groups of a node
 * @node: the node
 *
 * Return: true if something happened
 */
bool spindle_rdmc_node_pass(struct spindle_node *node)
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
			spindle_rdmc_group_chore(group);
		}
	}
	/* Fairness: another one is first in the next pass. */
	list_rotate_left(&node->larges);
	list_rotate_left(&node->rdmc_run);
	return work;
}

/**
 * spindle_rdmc_node_due() - when the engine has to look again, whatever happens
 * @node: the node
 *
 * Return: nanoseconds; U64_MAX: never
 */
u64 spindle_rdmc_node_due(const struct spindle_node *node)
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
 * spindle_rdmc_node_arm() - the engine goes to sleep: what comes shall wake it
 * @node: the node
 *
 * Return: true if something has come already
 */
bool spindle_rdmc_node_arm(struct spindle_node *node)
{
	struct spindle_lane *lane;
	bool came = false;

	list_for_each_entry(lane, &node->lanes_run, run)
		came |= spindle_lane_arm(lane);
	return came;
}

/* Is a member of the group not in the view, or another life of it? */
static bool missing(const struct spindle_rdmc_group *group, u32 m,
		    const struct spindle_group *view)
{
	int rank = spindle_view_rank(&view->view, group->r.cfg.member[m]);
	const struct spindle_lane *lane = group->link[m].lane;

	if (rank < 0)
		return true;
	return lane && lane->incarnation && view->peer[rank] &&
	       view->peer[rank]->incarnation != lane->incarnation;
}

/**
 * spindle_rdmc_node_view() - another view is installed: groups with who is not in it end
 * @view: the view, at its node
 */
void spindle_rdmc_node_view(const struct spindle_group *view)
{
	struct spindle_rdmc_group *group;
	u32 m;

	list_for_each_entry(group, &view->node->rdmc_run, run) {
		for (m = 0; m < group->r.cfg.n; m++)
			if (missing(group, m, view))
				spindle_rdmc_fail(&group->r, m + 1, SPINDLE_RDMC_VIEW);
	}
}

/**
 * spindle_rdmc_node_cut() - a member of a live view is suspected: nothing more comes from it
 * @node: the node
 * @id: node id of the member
 *
 * What was granted to it is back when the device is through with the lane. Where nothing was being
 * sent to it no repeat breaks the lane, and the view would not end before a group's timeout does.
 */
void spindle_rdmc_node_cut(struct spindle_node *node, u32 id)
{
	struct spindle_lane *lane;

	list_for_each_entry(lane, &node->lanes_run, run)
		if (lane->id == id)
			spindle_conn_fail(&lane->bulk.conn, "it is suspected");
}

/**
 * spindle_rdmc_node_stop() - the node is in no view any more that goes on
 * @node: the node
 */
void spindle_rdmc_node_stop(struct spindle_node *node)
{
	struct spindle_rdmc_group *group;

	list_for_each_entry(group, &node->rdmc_run, run)
		spindle_rdmc_fail(&group->r, group->r.cfg.me + 1, SPINDLE_RDMC_VIEW);
}

/**
 * spindle_rdmc_node_lost() - a static view has lost a member
 * @node: the node
 * @id: node id of the member
 */
void spindle_rdmc_node_lost(struct spindle_node *node, u32 id)
{
	struct spindle_rdmc_group *group;
	u32 m;

	list_for_each_entry(group, &node->rdmc_run, run) {
		for (m = 0; m < group->r.cfg.n; m++)
			if (group->r.cfg.member[m] == id)
				spindle_rdmc_fail(&group->r, m + 1, SPINDLE_RDMC_LOST);
	}
}
