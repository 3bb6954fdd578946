// SPDX-License-Identifier: GPL-2.0-only
/*
 * Group: the subgroups of a node between two changes of the view. See group.h.
 *
 * Context: engine, all of it.
 */
#include "group.h"

/* Cold subgroups that are looked at in a pass, and quiet passes until one is cold. */
#define COLD_VISITS 2
#define HOT_PASSES 64
/* Acknowledgments wait for an idle pass, but for no more than so many busy ones. */
#define FLUSH_PASSES 64

/* ---- connections ------------------------------------------------------------ */

/* Is this node connected to all other nodes of @members? */
static bool all_joined(const struct spindle_mg *c, u64 members)
{
	for (; members; members &= members - 1) {
		u32 r = __ffs64(members);

		if (r != c->me && !c->ops->joined(c->ctx, r))
			return false;
	}
	return true;
}

/*
 * A live view begins when all its members are connected. A joiner also waits until what it has
 * written has arrived, so that every member sees it in time. The silence of a member counts only
 * from its first heartbeat on.
 */
static bool form_view(struct spindle_mg *c, u64 now)
{
	u32 r;

	if (!all_joined(c, U64_MAX >> (64 - c->view->num_members)) ||
	    (c->mb->state == SPINDLE_MB_JOINING && !c->ops->told(c->ctx)))
		return false;
	c->formed = true;
	c->mb->ran_at = now;
	for (r = 0; r < c->view->num_members; r++)
		c->mb->peer[r].heard = U64_MAX;
	c->ops->connected(c->ctx);
	return true;
}

/**
 * spindle_mg_run() - membership's part of a pass
 * @c: the subgroups of a live view
 * @now: the clock
 *
 * Return: true if something has happened
 */
bool spindle_mg_run(struct spindle_mg *c, u64 now)
{
	if (c->mb->state == SPINDLE_MB_STOPPED || (!c->formed && !form_view(c, now)))
		return false;
	spindle_mg_invite(c, now);
	return spindle_mb_run(c->mb, now);
}

/**
 * spindle_mg_lost() - the connection to a member of a live view is gone
 * @c: the subgroups
 * @rank: the member
 * @how: SPINDLE_MB_GONE: the other end has closed it; SPINDLE_MB_LOST; SPINDLE_MB_LIED: it
 *	has written nonsense
 */
void spindle_mg_lost(struct spindle_mg *c, u32 rank, enum spindle_mb_reason how)
{
	struct spindle_mb *mb = c->mb;

	if (mb->state == SPINDLE_MB_STOPPED)
		return;
	if (!c->formed && mb->state != SPINDLE_MB_JOINING)
		spindle_mb_stop(mb, SPINDLE_MB_LOST);
	else if (how == SPINDLE_MB_GONE)
		spindle_mb_closed(mb, rank);
	else
		spindle_mb_suspect(mb, rank, how);
}

/*
 * A subgroup of a static view waits until all its members are connected. A live view has formed
 * once. A member that is not connected later is suspected, so the subgroup must not wait for it.
 */
static bool may_form(const struct spindle_mg *c, u32 index)
{
	return c->mb ? c->formed : all_joined(c, c->view->subgroup[index].members);
}

/**
 * spindle_mg_has_begun() - has a member begun a subgroup that this node has begun?
 * @c: the subgroups
 * @rank: another member
 * @vid: view that the subgroup began with, or began again with
 * @stayed: the subgroup stays: a member goes on with it when the member knows that
 *
 * A member of a static view has begun before it is connected. A member of a live view shows in its
 * row that it has installed the view. If the subgroup stays, it is enough that the member has
 * committed to the decree that leads there.
 *
 * Return: true if so
 */
bool spindle_mg_has_begun(const struct spindle_mg *c, u32 rank, u64 vid, bool stayed)
{
	const struct spindle_mb *mb = c->mb;

	if (!mb)
		return c->ops->joined(c->ctx, rank);
	return c->formed && mb->state != SPINDLE_MB_JOINING && mb->state != SPINDLE_MB_STOPPED &&
	       spindle_mb_has_begun(mb, rank, vid, stayed);
}

/* ---- a pass ------------------------------------------------------------------- */

/**
 * spindle_mg_touch() - something changed outside a pass: have the next one look
 * @c: the subgroups
 * @index: of the subgroup
 */
void spindle_mg_touch(struct spindle_mg *c, u32 index)
{
	if (c->mc[index])
		c->mc[index]->quiet = 0;
	c->hot |= BIT_ULL(index);
	c->push |= BIT_ULL(index);
}

static bool form(struct spindle_mg *c, u32 index)
{
	struct spindle_mc *mc = c->mc[index];

	if (mc->formed || !may_form(c, index))
		return false;
	mc->formed = true;
	c->ops->formed(c->ctx, index);
	return true;
}

/* A member that broke the protocol of a table is reported as one of a multicast. */
static bool run_table(struct spindle_tb *tb, struct spindle_mc *mc)
{
	bool work = spindle_tb_run(tb);

	if (tb->bad & ~mc->bad) {
		mc->bad |= tb->bad;
		mc->events |= SPINDLE_MC_FAILED;
	}
	return work;
}

static bool visit(struct spindle_mg *c, u32 index, bool idle)
{
	struct spindle_mc *mc = c->mc[index];
	bool work;

	if (!mc)
		return false;
	work = form(c, index);
	work |= spindle_mc_run(mc, idle);
	if (c->tb[index])
		work |= run_table(c->tb[index], mc);
	c->ops->ran(c->ctx, index, work);
	if (work) {
		spindle_mg_touch(c, index);
		if (mc->own.lazy)
			c->lazy |= BIT_ULL(index);
	} else if ((mc->tune.switches & SPINDLE_SW_TRACKING) && ++mc->quiet > HOT_PASSES) {
		c->hot &= ~BIT_ULL(index);
	}
	return work;
}

/*
 * The cost of a pass is per active subgroup: those in which something happens are looked at in
 * every pass, the others in turn, a few each time. The first event in a cold subgroup is seen some
 * passes later, which costs less than a pass over all of them.
 */
static bool visit_all(struct spindle_mg *c, bool all, bool idle)
{
	u64 set = all ? U64_MAX : c->hot;
	u32 n = c->view->num_subgroups, i;
	bool work = false;

	for (i = 0; i < COLD_VISITS && !all; i++) {
		if (++c->cold >= n)
			c->cold = 0;
		set |= BIT_ULL(c->cold);
	}
	set &= n ? U64_MAX >> (64 - n) : 0;
	for (; set; set &= set - 1)
		work |= visit(c, __ffs64(set), idle);
	return work;
}

static bool flush_acks(struct spindle_mg *c)
{
	bool work = false;
	u64 set;

	for (set = c->lazy; set; set &= set - 1) {
		u32 i = __ffs64(set);

		if (!c->mc[i] || !spindle_mc_flush_acks(c->mc[i]))
			continue;
		c->push |= BIT_ULL(i);
		work = true;
	}
	c->lazy = 0;
	return work;
}

/**
 * spindle_mg_pass() - look at the subgroups
 * @c: the subgroups
 * @all: at all of them
 * @idle: the last pass found nothing to do, here and elsewhere
 *
 * Return: true if there was work
 */
bool spindle_mg_pass(struct spindle_mg *c, bool all, bool idle)
{
	bool work = visit_all(c, all, idle) || c->draining;

	c->draining = false;
	if (++c->passes % FLUSH_PASSES == 0 || idle)
		work |= flush_acks(c);
	return work;
}

/* ---- push ---------------------------------------------------------------------- */

/* May messages be written to a member? */
static bool is_open(const struct spindle_mg *c, u32 rank)
{
	return !c->mb || (c->formed && c->mb->state != SPINDLE_MB_JOINING &&
			  spindle_mb_open(c->mb, rank));
}

static u32 rank_in(const struct spindle_mg *c, u32 index, u32 rank)
{
	return spindle_mask_rank(c->view->subgroup[index].members, rank);
}

/* Does a member of a subgroup miss something of ours? A table has no messages to push. */
static bool is_wanted(const struct spindle_mg *c, u32 index, u32 rank)
{
	const struct spindle_tb *tb = c->tb[index];

	return tb ? spindle_tb_wanted(tb, rank) : spindle_push_wanted(c->mc[index], rank);
}

static bool is_pending(const struct spindle_mg *c, u32 index)
{
	const struct spindle_tb *tb = c->tb[index];

	return tb ? spindle_tb_pending(tb) : spindle_push_pending(c->mc[index]);
}

static bool has_news(const struct spindle_mg *c, u32 index, u32 rank, bool open)
{
	const struct spindle_mc *mc = c->mc[index];

	return mc && spindle_mc_runs(mc) && (open || mc->epoch == SPINDLE_EPOCH_STAYED) &&
	       (c->view->subgroup[index].members & BIT_ULL(rank)) &&
	       is_wanted(c, index, rank_in(c, index, rank));
}

/**
 * spindle_mg_push_one() - post what a member misses of a subgroup
 * @c: the subgroups
 * @index: of one that runs
 * @rank: another member of it, in the view
 * @how: SPINDLE_PUSH_*
 *
 * Return: false if something is left, because there was no room
 */
bool spindle_mg_push_one(struct spindle_mg *c, u32 index, u32 rank, u32 how)
{
	/* Membership finds room in any case, see spindle_mg_push(). */
	u32 keep = c->mb ? SPINDLE_MB_PUSH_MAX : 0;
	u32 room = c->ops->room(c->ctx, rank, SPINDLE_PUSH_MAX + keep), n;
	struct spindle_write write[SPINDLE_PUSH_MAX];
	u32 r = rank_in(c, index, rank);

	if (room < SPINDLE_PUSH_LEAST + keep)
		return false;
	room -= keep;
	if (c->tb[index])
		n = spindle_tb_push(c->tb[index], r, index, how, write, room);
	else
		n = spindle_push(c->mc[index], r, index, how, write, room);
	c->ops->post(c->ctx, rank, write, n, false);
	return !is_wanted(c, index, r);
}

static bool push_membership(struct spindle_mg *c, u32 rank)
{
	struct spindle_write write[SPINDLE_MB_PUSH_MAX];
	u32 n;

	if (!c->formed)
		return true;
	if (c->ops->room(c->ctx, rank, SPINDLE_MB_PUSH_MAX) < SPINDLE_MB_PUSH_MAX)
		return false;
	n = spindle_mb_push(c->mb, rank, write);
	if (n)
		c->ops->post(c->ctx, rank, write, n, true);
	return true;
}

/* Post what a member misses of all subgroups. Returns true if something is left. */
static bool push_subgroups(struct spindle_mg *c, u32 rank, u32 how)
{
	bool open = is_open(c, rank);
	u64 set;

	for (set = c->push; set; set &= set - 1) {
		u32 i = __ffs64(set);

		if (has_news(c, i, rank, open) && !spindle_mg_push_one(c, i, rank, how))
			return true;
	}
	return false;
}

/**
 * spindle_mg_push() - post all that a member misses
 * @c: the subgroups
 * @rank: the member, another one
 * @how: SPINDLE_PUSH_*
 *
 * Membership is posted behind the messages, because it may be the fence that says that there are no
 * more. It is posted also if something is left, because processes may write rows of tables faster
 * than the link carries them. This node would seem silent otherwise. There is no fence while
 * messages are left, see spindle_mg_flushed().
 *
 * Return: true if something is left, because there was no room
 */
bool spindle_mg_push(struct spindle_mg *c, u32 rank, u32 how)
{
	bool left = push_subgroups(c, rank, how);

	return (c->mb && !push_membership(c, rank)) || left;
}

/**
 * spindle_mg_pushed() - after a push to all members, forget subgroups that have nothing left
 * @c: the subgroups
 */
void spindle_mg_pushed(struct spindle_mg *c)
{
	u64 set;

	for (set = c->push; set; set &= set - 1) {
		u32 i = __ffs64(set);

		if (!c->mc[i] || !is_pending(c, i))
			c->push &= ~BIT_ULL(i);
	}
}
