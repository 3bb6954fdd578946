// SPDX-License-Identifier: GPL-2.0-only
/*
 * Large: large messages of a subgroup, brought to its members by RDMC. See large.h.
 */
#include <linux/slab.h>

#include "engine.h"
#include "group.h"
#include "large.h"
#include "node.h"
#include "peer.h"
#include "pinned.h"
#include "subgroup.h"

/* Before groups that have failed are made anew: others may not have noticed yet. */
#define AGAIN_MS 50

static struct spindle_node *large_node(const struct spindle_large *large)
{
	return large->sg->group->node;
}

static u32 senders(const struct spindle_large *large)
{
	return large->sg->mc.senders;
}

/* The one place where the state changes; false: there is no such transition. */
static bool change_state(struct spindle_large *large, enum spindle_large_state to)
{
	static const u8 from[] = {
		[SPINDLE_LARGE_IDLE] = BIT(SPINDLE_LARGE_STOPPING),
		[SPINDLE_LARGE_STARTING] = BIT(SPINDLE_LARGE_IDLE),
		[SPINDLE_LARGE_RUNNING] = BIT(SPINDLE_LARGE_STARTING),
		[SPINDLE_LARGE_STOPPING] = BIT(SPINDLE_LARGE_STARTING) |
					   BIT(SPINDLE_LARGE_RUNNING),
	};

	if (!(from[to] & BIT(large->state)))
		return false;
	large->state = to;
	return true;
}

static void chore(struct spindle_large *large, u32 ms)
{
	spindle_chore_queue(&large->chore, ms);
}

/* ---- engine --------------------------------------------------------------- */

static bool view_ends(const struct spindle_large *large)
{
	return large->sg->mc.wedged || !spindle_mc_active(&large->sg->mc);
}

/*
 * Can the member that a group has failed for not be reached for blocks? Only what this node has
 * seen itself counts, because any member may say FAIL, and name whom it likes.
 */
static bool out_of_reach(const struct spindle_large_sender *from)
{
	const struct spindle_rdmc_group *group = from->group;
	u32 m = group->r.culprit - 1;

	switch (group->r.error) {
	case SPINDLE_RDMC_LOST:
		/* One that has closed the lane has only been quicker to notice something else. */
		return group->r.m[m].lost && !READ_ONCE(group->link[m].lane->bulk.conn.parted);
	case SPINDLE_RDMC_TIMEOUT:
		return group->r.sure && m != group->r.cfg.me;
	default:
		return false;
	}
}

/* Another member that cannot be reached for blocks cannot be a member. */
static void blame(struct spindle_large *large, const struct spindle_large_sender *from)
{
	const struct spindle_rdmc_group *group = from->group;
	struct spindle_group *view = large->sg->group;
	int rank;

	if (!group->r.culprit || !out_of_reach(from))
		return;
	rank = spindle_view_rank(&view->view, group->r.cfg.member[group->r.culprit - 1]);
	if (rank >= 0 && view->peer[rank])
		spindle_conn_fail(&view->peer[rank]->conn, "it cannot be reached for blocks");
}

static void stop(struct spindle_large *large)
{
	u32 s;

	if (!change_state(large, SPINDLE_LARGE_STOPPING))
		return;
	for (s = 0; s < senders(large); s++) {
		struct spindle_rdmc_group *group = large->sender[s].group;

		WRITE_ONCE(large->sender[s].wanted, false);
		large->sender[s].open = false;
		if (group)
			spindle_rdmc_fail(&group->r, group->r.cfg.me + 1, SPINDLE_RDMC_VIEW);
	}
	if (large->sg->mc.held == SPINDLE_HELD_MOVING)
		spindle_mc_hold(&large->sg->mc, SPINDLE_HELD_WAITING);
}

/**
 * spindle_large_stop() - nothing is moved any more
 * @large: large messages
 *
 * Groups that are being made stop when they are.
 */
void spindle_large_stop(struct spindle_large *large)
{
	if (large->state == SPINDLE_LARGE_RUNNING)
		stop(large);
}

/**
 * spindle_large_quiet() - can no device write into a ring any more?
 * @large: large messages, stopped
 *
 * Return: true if so
 */
bool spindle_large_quiet(const struct spindle_large *large)
{
	u32 s;

	if (large->state == SPINDLE_LARGE_IDLE)
		return true;
	if (large->state != SPINDLE_LARGE_STOPPING)
		return false;
	for (s = 0; s < senders(large); s++) {
		const struct spindle_rdmc_group *group = large->sender[s].group;

		if (group && (group->r.granted || group->r.writing))
			return false;
	}
	return true;
}

/* The work item finds memory for @len bytes at @unit. */
static void want(struct spindle_large *large, struct spindle_large_sender *from, u64 len, u64 unit)
{
	from->len = len;
	from->unit = unit;
	/* Pairs with the acquire in feed(): length and place are this object's. */
	smp_store_release(&from->wanted, true);
	chore(large, 0);
}

static void take_events(struct spindle_large *large, struct spindle_large_sender *from)
{
	struct spindle_rdmc_event ev;

	/* One object at a time gets memory; the next ones wait in the ring. */
	while (!from->wanted && spindle_rdmc_group_next(from->group, &ev)) {
		switch (ev.kind) {
		case SPINDLE_RDMC_OPENED:
			from->open = true;
			break;
		case SPINDLE_RDMC_INCOMING:
			from->object = ev.object;
			want(large, from, ev.len, ev.tag);
			break;
		default:
			/* What has ended is seen by its group's state, or by its count. */
			break;
		}
	}
}

static void again(struct spindle_large *large)
{
	spindle_count(&large->sg->mc.stats.large_restarts, 1);
	stop(large);
}

/* The own message that is held: get it on its way, and see whether it has arrived. */
static bool move_own(struct spindle_large *large)
{
	struct spindle_mc *mc = &large->sg->mc;
	struct spindle_large_sender *own;

	if (mc->my_sender == SPINDLE_NO_RANK)
		return false;
	own = &large->sender[mc->my_sender];
	switch (mc->held) {
	case SPINDLE_HELD_WAITING:
		if (!own->open || own->wanted)
			return false;
		want(large, own, mc->held_slot.len, mc->held_slot.unit);
		return true;
	case SPINDLE_HELD_MOVING:
		if (large->moving >= own->group->r.front)
			return false;
		/* It was given up, for want of time; who could not be helped will be missing. */
		if (!spindle_rdmc_everywhere(&own->group->r, large->moving)) {
			again(large);
			return true;
		}
		spindle_mc_hold(mc, SPINDLE_HELD_PLACED);
		spindle_subgroup_touch(large->sg);
		return true;
	default:
		return false;
	}
}

static bool run(struct spindle_large *large)
{
	u32 s;

	for (s = 0; s < senders(large); s++) {
		struct spindle_large_sender *from = &large->sender[s];

		if (from->group->r.state >= SPINDLE_RDMC_S_FAILING) {
			blame(large, from);
			again(large);
			return true;
		}
		take_events(large, from);
	}
	return move_own(large);
}

static bool all_over(const struct spindle_large *large)
{
	u32 s;

	for (s = 0; s < senders(large); s++)
		if (large->sender[s].group && !large->sender[s].group->over)
			return false;
	return true;
}

/* There is nobody to bring anything to. */
static bool alone(struct spindle_large *large)
{
	struct spindle_mc *mc = &large->sg->mc;

	if (mc->held != SPINDLE_HELD_WAITING)
		return false;
	spindle_mc_hold(mc, SPINDLE_HELD_MOVING);
	spindle_mc_hold(mc, SPINDLE_HELD_PLACED);
	spindle_subgroup_touch(large->sg);
	return true;
}

/**
 * spindle_large_pass() - one pass of the engine
 * @large: large messages
 *
 * Return: true if there was something to do
 */
bool spindle_large_pass(struct spindle_large *large)
{
	if (large->sg->mc.members == 1)
		return alone(large);
	switch (large->state) {
	case SPINDLE_LARGE_IDLE:
		if (view_ends(large))
			return false;
		change_state(large, SPINDLE_LARGE_STARTING);
		chore(large, 0);
		return true;
	case SPINDLE_LARGE_STARTING:
		return false;
	case SPINDLE_LARGE_RUNNING:
		if (view_ends(large)) {
			stop(large);
			return true;
		}
		return run(large);
	case SPINDLE_LARGE_STOPPING:
		if (all_over(large) && !spindle_chore_pending(&large->chore))
			chore(large, view_ends(large) ? 0 : AGAIN_MS);
		return false;
	}
	return false;
}

/* ---- chores: process, the namespace's lock ---------------------------------------- */

struct letter {
	struct spindle_large *large;
	struct spindle_large_sender *from;
	struct spindle_pinned *pinned;
	enum spindle_large_state seen;
	int err;
};

static struct spindle_rdmc_group *make_group(struct spindle_large *large, u32 s)
{
	const struct spindle_subgroup *sg = large->sg;
	const struct spindle_view *view = &sg->group->view;
	u64 name[] = { sg->cfg->id, large->vid, s };
	struct spindle_rdmc_create args = {
		.group = SPINDLE_RDMC_OWN | spindle_mix(name, ARRAY_SIZE(name)),
		.algorithm = SPINDLE_RDMC_PIPELINE,
		.block = SPINDLE_RDMC_BLOCK,
		.timeout_ms = SPINDLE_RDMC_TIMEOUT_MS,
	};
	u32 member[SPINDLE_MAX_MEMBERS];
	u32 r, n = 1;

	for (r = 0; r < view->num_members; r++) {
		u64 bit = BIT_ULL(r);

		if (!(sg->cfg->members & bit))
			continue;
		if ((sg->cfg->senders & bit) && spindle_mask_rank(sg->cfg->senders, r) == s)
			member[0] = view->member[r].id;
		else
			member[n++] = view->member[r].id;
	}
	args.count = n;
	return spindle_rdmc_group_make(large_node(large), &args, member);
}

static void drop_groups(struct spindle_large *large)
{
	u32 s;

	for (s = 0; s < senders(large); s++) {
		if (large->sender[s].group)
			spindle_rdmc_group_drop(large->sender[s].group);
		large->sender[s].group = NULL;
	}
}

static void started_fn(void *ctx)
{
	struct letter *letter = ctx;
	struct spindle_large *large = letter->large;

	if (letter->err || view_ends(large))
		stop(large);
	else
		change_state(large, SPINDLE_LARGE_RUNNING);
}

static void start(struct spindle_large *large)
{
	struct letter letter = { .large = large };
	u32 s;

	for (s = 0; s < senders(large) && !letter.err; s++) {
		struct spindle_rdmc_group *group = make_group(large, s);

		letter.err = PTR_ERR_OR_ZERO(group);
		if (!letter.err)
			large->sender[s].group = group;
	}
	spindle_engine_call(large_node(large)->engine, started_fn, &letter);
}

static void idle_fn(void *ctx)
{
	const struct letter *letter = ctx;

	change_state(letter->large, SPINDLE_LARGE_IDLE);
}

static void stopped(struct spindle_large *large)
{
	struct letter letter = { .large = large };

	if (!all_over(large))
		return;
	drop_groups(large);
	spindle_engine_call(large_node(large)->engine, idle_fn, &letter);
}

/* Where a sender's message is, in the row that it writes. */
static struct spindle_pinned *find_bytes(struct spindle_large *large, u32 s)
{
	const struct spindle_subgroup *sg = large->sg;
	const struct spindle_large_sender *from = &large->sender[s];
	const struct spindle_group *group = sg->group;
	const struct spindle_region *row = &group->row;
	const struct spindle_layout *layout = &group->layout;
	bool own = s == sg->mc.my_sender;
	u64 ring = sg->cfg->ring;

	if (!own) {
		int rank = spindle_view_rank(&group->view, from->group->r.cfg.member[0]);
		const struct spindle_peer *peer = rank < 0 ? NULL : group->peer[rank];

		if (!peer || !from->len || from->len > sg->cfg->max_msg)
			return NULL;
		row = &peer->row;
		layout = &peer->in;
	}
	return spindle_pinned_borrow(&row->mem, layout->pay[sg->index], ring,
				     (from->unit << SPINDLE_UNIT_SHIFT) & (ring - 1), from->len,
				     from->group->r.block_shift, !own);
}

static void give_fn(void *ctx)
{
	struct letter *letter = ctx;
	struct spindle_large *large = letter->large;
	struct spindle_large_sender *from = letter->from;
	struct spindle_mc *mc = &large->sg->mc;
	struct spindle_rdmc *r = &from->group->r;

	letter->err = -ECANCELED;
	/* It may have stopped meanwhile. */
	if (large->state != SPINDLE_LARGE_RUNNING || !from->wanted)
		return;
	WRITE_ONCE(from->wanted, false);
	if (!letter->pinned || letter->pinned->len != from->len) {
		/* It is none, or there is no memory: a member less, or another attempt. */
		spindle_rdmc_fail(r, r->cfg.me + 1, SPINDLE_RDMC_NOMEM);
		return;
	}
	if (r->cfg.me) {
		letter->err = spindle_rdmc_accept(r, from->object, letter->pinned->len,
						  letter->pinned, letter->pinned->have);
		return;
	}
	if (mc->held != SPINDLE_HELD_WAITING)
		return;
	letter->err = spindle_rdmc_send(r, letter->pinned->len, from->unit, letter->pinned,
					&large->moving);
	if (!letter->err)
		spindle_mc_hold(mc, SPINDLE_HELD_MOVING);
}

static void give(struct spindle_large *large, u32 s)
{
	struct letter letter = { .large = large, .from = &large->sender[s] };

	letter.pinned = find_bytes(large, s);
	if (letter.pinned && spindle_pinned_map(letter.pinned, large_node(large)->ep.ib)) {
		spindle_pinned_unmap(letter.pinned);
		spindle_pinned_free(letter.pinned);
		letter.pinned = NULL;
	}
	spindle_engine_call(large_node(large)->engine, give_fn, &letter);
	if (!letter.err || !letter.pinned)
		return;
	spindle_pinned_unmap(letter.pinned);
	spindle_pinned_free(letter.pinned);
}

static void feed(struct spindle_large *large)
{
	u32 s;

	for (s = 0; s < senders(large); s++) {
		/* Pairs with the release in want(). */
		if (smp_load_acquire(&large->sender[s].wanted))
			give(large, s);
	}
}

static void look_fn(void *ctx)
{
	struct letter *letter = ctx;

	letter->seen = letter->large->state;
}

static void large_chore(struct spindle_chore *work)
{
	struct spindle_large *large = container_of(work, struct spindle_large, chore);
	struct letter letter = { .large = large };

	spindle_engine_call(large_node(large)->engine, look_fn, &letter);
	switch (letter.seen) {
	case SPINDLE_LARGE_IDLE:
		break;
	case SPINDLE_LARGE_STARTING:
		start(large);
		break;
	case SPINDLE_LARGE_RUNNING:
		feed(large);
		break;
	case SPINDLE_LARGE_STOPPING:
		stopped(large);
		break;
	}
}

/* ---- life: process, the namespace's lock ------------------------------------------- */

/**
 * spindle_large_wanted() - can a subgroup have large messages?
 * @cfg: its configuration
 *
 * The same at all members, and in all views that the subgroup may be alone in now.
 *
 * Return: true if so
 */
bool spindle_large_wanted(const struct spindle_view_subgroup *cfg)
{
	return cfg->max_msg > SPINDLE_DEF_LARGE;
}

static void run_fn(void *ctx)
{
	struct spindle_large *large = ctx;

	list_add_tail(&large->run, &large_node(large)->larges);
}

/**
 * spindle_large_create() - begin to care for large messages of a subgroup
 * @sg: the subgroup
 * @vid: view in which it begins
 *
 * Return: 0 or -ENOMEM
 */
int spindle_large_create(struct spindle_subgroup *sg, u64 vid)
{
	struct spindle_large *large;

	large = kzalloc(struct_size(large, sender, sg->mc.senders), GFP_KERNEL_ACCOUNT);
	if (!large)
		return -ENOMEM;
	large->sg = sg;
	large->vid = vid;
	spindle_chore_init(&large->chore, sg->group->node->sn, large_chore);
	sg->large = large;
	spindle_engine_call(large_node(large)->engine, run_fn, large);
	return 0;
}

static void leave_fn(void *ctx)
{
	struct spindle_large *large = ctx;

	spindle_large_stop(large);
	list_del(&large->run);
}

/**
 * spindle_large_destroy() - the mirror
 * @large: or NULL
 *
 * Rows are freed after this: what devices still had of them, by groups that were not quiet, the
 * node has ended before.
 */
void spindle_large_destroy(struct spindle_large *large)
{
	if (!large)
		return;
	spindle_engine_call(large_node(large)->engine, leave_fn, large);
	spindle_chore_cancel(&large->chore);
	drop_groups(large);
	kfree(large);
}
