// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMC groups: creation, end and requests. See rdmc.h.
 *
 * Context: process, in the whole file.
 */
#include <linux/log2.h>
#include <linux/random.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "base/engine.h"
#include "fabric/device.h"
#include "node/above.h"
#include "node/event.h"
#include "node/installed.h"
#include "node/node.h"
#include "node/peer.h"
#include "pinned.h"
#include "rdmc.h"

/* ---- end ----------------------------------------------------------------- */

static void free_garbage(struct spindle_rdmc_group *group)
{
	struct spindle_pinned *pinned, *next;

	llist_for_each_entry_safe(pinned, next, llist_del_all(&group->garbage), free)
		spindle_pinned_free(pinned);
}

static void stop_fn(void *ctx)
{
	struct spindle_rdmc_group *group = ctx;

	list_del(&group->run);
}

/* Undo connect(). The core does not use the lanes any more. */
static void disconnect(struct spindle_rdmc_group *group)
{
	u32 m;

	if (!group->node)
		return;
	spindle_engine_call(group->engine, stop_fn, group);
	for (m = 0; m < group->r.cfg.n; m++)
		if (group->link[m].lane)
			spindle_lane_put(&group->link[m]);
	list_del(&group->list);
	group->node = NULL;
	group->engine->sn->rdmc_generation++;
}

/* Free a group after end_work(), so that neither its chore nor its work item runs any more. */
static void free_group(struct spindle_rdmc_group *group)
{
	free_garbage(group);
	spindle_engine_put(group->engine);
	put_pid(group->pid);
	kvfree(group);
}

static void end_work(struct spindle_rdmc_group *group)
{
	spindle_chore_cancel(&group->chore);
	cancel_work_sync(&group->work);
}

/* ---- chores --------------------------------------------------------------- */

static void up_fn(void *ctx)
{
	struct spindle_link *link = ctx;

	/* Check @lost here in the engine, because the regions go when a lost lane is closed. */
	if (link->lane->lost)
		return;
	WRITE_ONCE(link->ready, true);
	spindle_rdmc_up(link->r, link->m);
}

static void no_memory_fn(void *ctx)
{
	struct spindle_rdmc *r = ctx;

	spindle_rdmc_fail(r, r->cfg.me + 1, SPINDLE_RDMC_NOMEM);
}

/* Prepare the links whose lanes came up. */
static void prepare(struct spindle_rdmc_group *group)
{
	u32 m;

	for (m = 0; m < group->r.cfg.n; m++) {
		struct spindle_link *link = &group->link[m];

		if (!spindle_link_due(link))
			continue;
		if (spindle_link_prepare(link, group->sources & BIT_ULL(m))) {
			spindle_engine_call(group->engine, no_memory_fn, &group->r);
			return;
		}
		spindle_engine_call(group->engine, up_fn, link);
	}
}

static void garbage_work(struct work_struct *work)
{
	free_garbage(container_of(work, struct spindle_rdmc_group, work));
}

static void group_chore(struct spindle_chore *chore)
{
	struct spindle_rdmc_group *group = container_of(chore, struct spindle_rdmc_group, chore);

	if (group->node)
		prepare(group);
	if (!group->orphan || !READ_ONCE(group->over))
		return;
	disconnect(group);
	/* Chore and work item may have been queued again. The engine cannot queue them any more. */
	end_work(group);
	free_group(group);
}

/* ---- begin ---------------------------------------------------------------- */

static void start_fn(void *ctx)
{
	struct spindle_rdmc_group *group = ctx;

	list_add_tail(&group->run, &group->node->rdmc_run);
}

/* Get a link to the lane to a member. */
static int get_lane(struct spindle_rdmc_group *group, const struct spindle_installed *inst, u32 m)
{
	int rank = spindle_view_rank(&inst->view, group->r.cfg.member[m]);
	struct spindle_link *link = &group->link[m];
	const struct spindle_peer *peer;

	if (rank < 0)
		return -ENOENT;
	peer = inst->peer[rank];
	link->r = &group->r;
	link->group = group;
	link->chore = &group->chore;
	link->m = m;
	return spindle_lane_get(link, inst->node, &inst->view.member[rank],
				peer->expected ? peer->expected : peer->incarnation);
}

/* Add a group to its node, and connect it to the other members. */
static int connect(struct spindle_rdmc_group *group, struct spindle_node *node)
{
	const struct spindle_installed *inst = node->inst;
	u32 m;
	int err;

	group->number = node->sn->rdmc_numbers++;
	list_add_tail(&group->list, &node->rdmcs);
	group->node = node;
	node->sn->rdmc_generation++;
	/* Report this first, because other events may follow from start_fn(). */
	spindle_event(node, SPINDLE_EVENT_RDMC_CREATED,
		      &(struct spindle_event_info){ .rdmc = group->r.cfg.id });
	spindle_engine_call(group->engine, start_fn, group);
	for (m = 0; m < group->r.cfg.n; m++) {
		if (m == group->r.cfg.me)
			continue;
		err = get_lane(group, inst, m);
		if (err)
			return err;
	}
	prepare(group);
	return 0;
}

static int check_members(const struct spindle_node *node, struct spindle_rdmc_create *args,
			 const u32 *member)
{
	const struct spindle_installed *inst = node->inst;
	u32 i, k;

	args->rank = args->count;
	for (i = 0; i < args->count; i++) {
		int rank = spindle_view_rank(&inst->view, member[i]);

		for (k = 0; k < i; k++)
			if (member[k] == member[i])
				return -EINVAL;
		if (member[i] == node->id)
			args->rank = i;
		else if (rank < 0 || READ_ONCE(inst->peer[rank]->phase) == SPINDLE_PEER_LOST)
			return -ENOENT;
	}
	return args->rank == args->count ? -EINVAL : 0;
}

static bool has_stopped(const struct spindle_live *live)
{
	return live && spindle_membership->state(live) == SPINDLE_LIVE_STOPPED;
}

static int check_node(struct spindle_node *node, struct spindle_rdmc_create *args,
		      const u32 *member)
{
	struct spindle_rdmc_group *other;

	if (!node || node->dead)
		return -ENODEV;
	if (!node->inst || node->inst->mg.me == SPINDLE_NO_RANK || has_stopped(node->inst->live))
		return -ENOTCONN;
	list_for_each_entry(other, &node->rdmcs, list)
		if (other->r.cfg.id == args->group && !other->orphan)
			return -EEXIST;
	/* One page more, because a block may begin within a page. */
	if ((args->block >> PAGE_SHIFT) + 1 > spindle_device_pages(node->ep.ib))
		return -EOPNOTSUPP;
	return check_members(node, args, member);
}

static void init_core(struct spindle_rdmc_group *group, const struct spindle_node *node,
		      const struct spindle_rdmc_create *args, const u32 *member)
{
	struct spindle_rdmc_config cfg = {
		.id = args->group,
		.life = get_random_u64() | 1,
		.n = args->count,
		.me = args->rank,
		.algorithm = args->algorithm,
		.block = args->block,
		.timeout_ns = args->timeout_ms * (u64)NSEC_PER_MSEC,
		.rack = node->rack,
	};
	struct spindle_schedule schedule;

	memcpy(cfg.member, member, args->count * sizeof(*member));
	group->r.ctx = group->link;
	spindle_rdmc_init(&group->r, &cfg, &spindle_rdmc_group_ops);
	group->sources = U64_MAX;
	/* For the hybrid algorithm all ranks count, because racks are not known yet. */
	if (args->algorithm == SPINDLE_RDMC_HYBRID)
		return;
	spindle_schedule_init(&schedule, cfg.algorithm, cfg.n, cfg.me, 1, NULL);
	group->sources = spindle_schedule_sources(&schedule);
}

/* Create a group. The caller has checked all arguments that do not depend on the node. */
static struct spindle_rdmc_group *create(struct spindle_node *node,
					 struct spindle_rdmc_create *args, const u32 *member)
{
	int err = check_node(node, args, member);
	struct spindle_rdmc_group *group;

	if (err)
		return ERR_PTR(err);
	group = kvzalloc(sizeof(*group), GFP_KERNEL_ACCOUNT);
	if (!group)
		return ERR_PTR(-ENOMEM);
	mutex_init(&group->lock);
	init_waitqueue_head(&group->wait);
	spindle_chore_init(&group->chore, node->sn, group_chore);
	INIT_WORK(&group->work, garbage_work);
	init_llist_head(&group->garbage);
	get_task_comm(group->comm, current);
	group->pid = get_pid(task_tgid(current));
	group->engine = node->engine;
	spindle_engine_hold(group->engine);
	init_core(group, node, args, member);
	err = connect(group, node);
	if (!err)
		return group;
	spindle_event(node, SPINDLE_EVENT_RDMC_FAILED, &(struct spindle_event_info){
		.rdmc = args->group,
		.rdmc_error = SPINDLE_RDMC_NOMEM,
		.peer = node->id,
	});
	disconnect(group);
	end_work(group);
	free_group(group);
	return ERR_PTR(err);
}

/**
 * spindle_rdmc_group_create() - create a group for a file
 * @sn: network namespace
 * @args: arguments; those that do not depend on the node are checked; out: own rank
 * @member: node ids
 *
 * Return: the group, which the caller owns; or ERR_PTR()
 */
struct spindle_rdmc_group *spindle_rdmc_group_create(struct spindle_net *sn,
						     struct spindle_rdmc_create *args,
						     const u32 *member)
{
	struct spindle_rdmc_group *group;

	mutex_lock(&sn->lock);
	group = create(spindle_node_find(sn, args->node), args, member);
	mutex_unlock(&sn->lock);
	return group;
}

static void leave_fn(void *ctx)
{
	struct spindle_rdmc *r = ctx;

	spindle_rdmc_fail(r, r->cfg.me + 1, SPINDLE_RDMC_LEFT);
}

/* The process has released the group: leave it, and free it now or when it is over. */
static void drop(struct spindle_rdmc_group *group)
{
	WRITE_ONCE(group->orphan, true);
	if (group->node)
		spindle_engine_call(group->engine, leave_fn, &group->r);
	if (!READ_ONCE(group->over))
		return;
	disconnect(group);
	end_work(group);
	free_group(group);
}

/**
 * spindle_rdmc_group_release() - the file is released
 * @group: its group
 *
 * This tells the other members that the member has left, unless all have closed. Memory stays
 * pinned until no device uses it, which may take longer than the process lives.
 */
void spindle_rdmc_group_release(struct spindle_rdmc_group *group)
{
	struct spindle_net *sn = group->engine->sn;

	spindle_net_lock(sn);
	drop(group);
	spindle_net_unlock(sn);
}

struct view_gone {
	struct spindle_rdmc_group *group;
	bool last;
	bool more;
};

static void view_gone_fn(void *ctx)
{
	struct view_gone *gone = ctx;
	struct spindle_rdmc_group *group = gone->group;

	spindle_rdmc_fail(&group->r, group->r.cfg.me + 1, SPINDLE_RDMC_VIEW);
	if (!gone->last)
		return;
	/*
	 * All lanes are closed, so the rest needs no other node. Do one pass per call, because
	 * the engine serves other nodes, too.
	 */
	gone->more = spindle_rdmc_pass(&group->r, group->r.now);
	if (!gone->more)
		WRITE_ONCE(group->over, true);
}

/**
 * spindle_rdmc_node_drop() - end all groups and lanes of a node that leaves its view
 * @node: the node
 *
 * Context: the namespace's lock.
 */
void spindle_rdmc_node_drop(struct spindle_node *node)
{
	struct spindle_rdmc_group *group, *next;
	struct spindle_lane *lane, *other;
	struct view_gone gone = {};

	lockdep_assert_held(&node->sn->lock);
	list_for_each_entry(group, &node->rdmcs, list) {
		gone.group = group;
		spindle_engine_call(node->engine, view_gone_fn, &gone);
	}
	list_for_each_entry_safe(lane, other, &node->lanes, list)
		spindle_lane_close(lane);
	gone.last = true;
	list_for_each_entry_safe(group, next, &node->rdmcs, list) {
		gone.group = group;
		do {
			spindle_engine_call(node->engine, view_gone_fn, &gone);
		} while (gone.more);
		disconnect(group);
		if (!group->orphan)
			continue;
		end_work(group);
		free_group(group);
	}
}

/* ---- requests -------------------------------------------------------------- */

struct request {
	struct spindle_rdmc_group *group;
	struct spindle_pinned *pinned;
	u64 object;
	u64 tag;
	u32 reason;
	bool refuse;
	struct spindle_rdmc_stat *stat;
	int err;
};

/* Get the device of a group's node, which cannot go before ib_device_put(); or NULL. */
static struct ib_device *hold_device(const struct spindle_rdmc_group *group)
{
	struct spindle_net *sn = group->engine->sn;
	struct ib_device *ib = NULL;

	mutex_lock(&sn->lock);
	if (group->node && ib_device_try_get(group->node->ep.ib))
		ib = group->node->ep.ib;
	mutex_unlock(&sn->lock);
	return ib;
}

/* Give a mapped object to the engine. From then on the object ends before the device can go. */
static int hand_over_mapped(struct request *req, void (*fn)(void *ctx))
{
	struct spindle_rdmc_group *group = req->group;
	struct spindle_net *sn = group->engine->sn;

	req->err = -ECONNABORTED;
	mutex_lock(&sn->lock);
	if (group->node)
		spindle_engine_call(group->engine, fn, req);
	mutex_unlock(&sn->lock);
	return req->err;
}

/* Map an object and give it to the engine. Mapping takes no lock, because it may take long. */
static int hand_over(struct request *req, void (*fn)(void *ctx))
{
	struct ib_device *ib = hold_device(req->group);
	int err = ib ? spindle_pinned_map(req->pinned, ib) : -ECONNABORTED;

	if (!err)
		err = hand_over_mapped(req, fn);
	if (err) {
		spindle_pinned_unmap(req->pinned);
		spindle_pinned_free(req->pinned);
	}
	if (ib)
		ib_device_put(ib);
	return err;
}

static void send_fn(void *ctx)
{
	struct request *req = ctx;

	req->err = spindle_rdmc_send(&req->group->r, req->pinned->len, req->tag, req->pinned,
				     &req->object);
}

/**
 * spindle_rdmc_group_send() - SPINDLE_RDMC_IOC_SEND
 * @group: group
 * @args: arguments; out: the object's number
 *
 * Return: 0 or -errno
 */
int spindle_rdmc_group_send(struct spindle_rdmc_group *group, struct spindle_rdmc_send *args)
{
	struct request req = { .group = group, .tag = args->tag };
	int err;

	if (group->r.cfg.me)
		return -EPERM;
	if (!args->len || args->len > SPINDLE_RDMC_MAX_LEN)
		return -EINVAL;
	req.pinned = spindle_pinned_get(args->addr, args->len, group->r.block_shift, false);
	if (IS_ERR(req.pinned))
		return PTR_ERR(req.pinned);
	err = hand_over(&req, send_fn);
	args->object = req.object;
	return err;
}

static void accept_fn(void *ctx)
{
	struct request *req = ctx;

	req->err = spindle_rdmc_accept(&req->group->r, req->object, req->pinned->len,
				       req->pinned, req->pinned->have);
}

/**
 * spindle_rdmc_group_accept() - SPINDLE_RDMC_IOC_ACCEPT
 * @group: group
 * @args: arguments
 *
 * Return: 0 or -errno
 */
int spindle_rdmc_group_accept(struct spindle_rdmc_group *group,
			      const struct spindle_rdmc_accept *args)
{
	struct request req = { .group = group, .object = args->object };

	if (!args->len || args->len > SPINDLE_RDMC_MAX_LEN)
		return -EINVAL;
	req.pinned = spindle_pinned_get(args->addr, args->len, group->r.block_shift, true);
	if (IS_ERR(req.pinned))
		return PTR_ERR(req.pinned);
	return hand_over(&req, accept_fn);
}

static void cancel_fn(void *ctx)
{
	struct request *req = ctx;

	req->err = spindle_rdmc_cancel(&req->group->r, req->object, req->refuse, req->reason);
}

/**
 * spindle_rdmc_group_cancel() - SPINDLE_RDMC_IOC_CANCEL and _REFUSE
 * @group: group
 * @args: arguments
 * @refuse: which of the two
 *
 * Return: 0 or -errno
 */
int spindle_rdmc_group_cancel(struct spindle_rdmc_group *group,
			      const struct spindle_rdmc_cancel *args, bool refuse)
{
	struct request req = {
		.group = group,
		.object = args->object,
		.reason = args->reason,
		.refuse = refuse,
	};

	if (args->resv)
		return -EINVAL;
	spindle_engine_call(group->engine, cancel_fn, &req);
	return req.err;
}

static void close_fn(void *ctx)
{
	struct request *req = ctx;

	req->err = spindle_rdmc_close(&req->group->r);
}

/**
 * spindle_rdmc_group_close() - SPINDLE_RDMC_IOC_CLOSE
 * @group: group
 *
 * Return: 0 or -errno
 */
int spindle_rdmc_group_close(struct spindle_rdmc_group *group)
{
	struct request req = { .group = group };

	spindle_engine_call(group->engine, close_fn, &req);
	return req.err;
}

static void stat_fn(void *ctx)
{
	const struct request *req = ctx;

	spindle_rdmc_stat(&req->group->r, req->stat);
}

/**
 * spindle_rdmc_group_stat() - SPINDLE_RDMC_IOC_STAT
 * @group: group
 * @args: in: member; out: its progress
 *
 * Return: 0 or -EINVAL
 */
int spindle_rdmc_group_stat(struct spindle_rdmc_group *group, struct spindle_rdmc_stat *args)
{
	struct request req = { .group = group, .stat = args };

	if (args->member >= group->r.cfg.n)
		return -EINVAL;
	args->node = group->r.cfg.member[args->member];
	spindle_engine_call(group->engine, stat_fn, &req);
	return 0;
}

/**
 * spindle_rdmc_group_next() - take an event
 * @group: group, with its lock
 * @ev: out
 *
 * Return: false if there is none
 */
bool spindle_rdmc_group_next(struct spindle_rdmc_group *group, struct spindle_rdmc_event *ev)
{
	bool was_full;

	/* Pairs with the release in run_event(). */
	if (smp_load_acquire(&group->tail) == group->head)
		return false;
	*ev = group->event[group->head % SPINDLE_RDMC_EVENTS];
	was_full = READ_ONCE(group->tail) - group->head + SPINDLE_RDMC_SLACK > SPINDLE_RDMC_EVENTS;
	/* Store @head after the copy: the engine reuses the entry when it sees this. */
	smp_store_release(&group->head, group->head + 1);
	if (was_full)
		spindle_engine_wake(group->engine);
	return true;
}
