// SPDX-License-Identifier: GPL-2.0-only
/*
 * Change: what the subgroups of a node do when a view ends and another begins. See group.h;
 * what each of them does is in epoch.c, what is agreed on in membership.h.
 *
 * Context: engine, all of it.
 */
#include "stream.h"

/* A subgroup that has failed already does not begin, because its lanes may be missing. */
static void begin_streams(struct spindle_mg *c, u32 i, u64 vid, bool stayed)
{
	if (c->streams[i] && !c->mc[i]->ended)
		spindle_streams_begin(c->streams[i], vid, stayed);
}

/**
 * spindle_mg_start() - the subgroups of the first view are there: their streams and logs begin
 * @c: the subgroups
 * @ranges: views of earlier eras that the view follows, or NULL; only needed until this returns
 */
void spindle_mg_start(struct spindle_mg *c, const struct spindle_ranges *ranges)
{
	u32 i;

	for (i = 0; i < c->view->num_subgroups; i++) {
		if (c->mc[i] && c->mc[i]->durable) {
			spindle_durable_follow(c->mc[i], ranges);
			spindle_durable_begin(c->mc[i], NULL, true);
		}
		begin_streams(c, i, c->view->vid, false);
	}
}

/**
 * spindle_mg_wedge() - give no more messages a round
 * @c: the subgroups
 */
void spindle_mg_wedge(struct spindle_mg *c)
{
	u32 i;

	for (i = 0; i < c->view->num_subgroups; i++) {
		if (c->mc[i])
			spindle_mc_wedge(c->mc[i]);
		if (c->streams[i])
			spindle_streams_stop(c->streams[i]);
	}
}

/* Have all streams come to rest? The blocks of others come before this node shows its fence. */
static bool are_quiet(const struct spindle_mg *c)
{
	u32 i;

	for (i = 0; i < c->view->num_subgroups; i++)
		if (c->streams[i] && !spindle_streams_quiet(c->streams[i]))
			return false;
	return true;
}

/**
 * spindle_mg_flushed() - has all that has a round been pushed to a member?
 * @c: the subgroups, wedged
 * @rank: the member
 *
 * Return: true if so, in all subgroups that the member shares with this node, and if no stream
 *	moves
 */
bool spindle_mg_flushed(const struct spindle_mg *c, u32 rank)
{
	u32 i;

	if (!are_quiet(c))
		return false;
	for (i = 0; i < c->view->num_subgroups; i++) {
		u64 members = c->view->subgroup[i].members;

		if (c->mc[i] && (members & BIT_ULL(rank)) &&
		    !spindle_mc_flushed(c->mc[i], spindle_mask_rank(members, rank)))
			return false;
	}
	return true;
}

/**
 * spindle_mg_freeze() - receive what is here and nothing after it
 * @c: the subgroups, wedged
 * @have: out: messages received, of each subgroup of the view, of each sender. Of subgroups
 *	that this node is not in: nothing
 */
void spindle_mg_freeze(struct spindle_mg *c, u64 *have)
{
	u32 i, s;

	for (i = 0; i < c->view->num_subgroups; i++) {
		u32 n = hweight64(c->view->subgroup[i].senders);

		for (s = 0; s < n; s++)
			have[s] = 0;
		if (c->mc[i])
			spindle_mc_freeze(c->mc[i], have);
		have += n;
	}
}

/**
 * spindle_mg_goes_on() - does this node go on to the next view?
 * @c: the subgroups; a decree is chosen
 *
 * Return: true if so
 */
bool spindle_mg_goes_on(const struct spindle_mg *c)
{
	const struct spindle_mb *mb = c->mb;

	if (mb->state == SPINDLE_MB_JOINING)
		return true;
	return !mb->leaving &&
	       (spindle_mb_own_decree(mb)[SPINDLE_DECREE_SURVIVORS] & BIT_ULL(mb->me));
}

/**
 * spindle_mg_trim() - deliver the trim of the chosen decree, except in subgroups that stay
 * @c: the subgroups, frozen
 * @trim: messages, of each subgroup of the view, of each sender
 *
 * Return: false if the trim cannot be true
 */
bool spindle_mg_trim(struct spindle_mg *c, const u64 *trim)
{
	const struct spindle_mb *mb = c->mb;
	u32 i;

	c->stays = 0;
	if (spindle_mg_goes_on(c))
		c->stays = spindle_decree_stays(spindle_mb_own_decree(mb), c->view,
						&mb->view[!mb->now]);
	for (i = 0; i < c->view->num_subgroups; i++) {
		struct spindle_mc *mc = c->mc[i];

		if (mc && (c->stays & BIT_ULL(i))) {
			spindle_mc_stay(mc);
			spindle_mg_touch(c, i);
			/* Others see only after this that this node has committed the decree. */
			begin_streams(c, i, c->view->vid + 1, true);
		} else if (mc && !spindle_mc_trim(mc, trim)) {
			return false;
		}
		trim += hweight64(c->view->subgroup[i].senders);
	}
	return true;
}

/**
 * spindle_mg_drain() - deliver what is left up to the trim
 * @c: the subgroups, trimmed
 *
 * Return: true if all is delivered
 */
bool spindle_mg_drain(struct spindle_mg *c)
{
	bool done = true;
	u32 i;

	for (i = 0; i < c->view->num_subgroups; i++) {
		struct spindle_mc *mc = c->mc[i];

		if (!mc || mc->epoch == SPINDLE_EPOCH_STAYED || spindle_mc_drain(mc))
			continue;
		done = false;
		c->draining |= !mc->deliver.blocked;
		spindle_mg_touch(c, i);
	}
	return done;
}

/*
 * Of each node of a subgroup, all members or all senders: its rank among those of the old view.
 * Returns how many there are.
 */
static u32 old_ranks(u64 old, u64 next, const u32 *from, u32 *rank)
{
	u32 r, n = hweight64(next);

	/*
	 * Count by @n: a compiler may turn a loop over the mask into a function that kernels do not
	 * have.
	 */
	for (r = 0; r < n; r++, next &= next - 1) {
		u32 was = from[__ffs64(next)];

		rank[r] = SPINDLE_NO_RANK;
		if (was != SPINDLE_NO_RANK && (old & BIT_ULL(was)))
			rank[r] = spindle_mask_rank(old, was);
	}
	return n;
}

/* Of each sender of a subgroup: its sender rank in the old view, and its messages in that view. */
static void from_old(const struct spindle_view *old, const struct spindle_view *next, u32 i,
		     const u32 *from, const u64 *trim, u32 *rank, u64 *first)
{
	u32 s, n = old_ranks(old->subgroup[i].senders, next->subgroup[i].senders, from, rank);

	trim += spindle_decree_trim_at(old, i);
	for (s = 0; s < n; s++)
		first[s] = rank[s] == SPINDLE_NO_RANK ? 0 : trim[rank[s]];
}

/*
 * Does a subgroup of the next view begin with it? It does not if it was at another index, because
 * its positions go on. If it had no members, it may have had some before. Then it does not begin
 * with the first position.
 */
static bool is_fresh(const struct spindle_mg *c, const struct spindle_view *old, u32 i)
{
	const struct spindle_view_subgroup *was = &old->subgroup[i], *is = &c->view->subgroup[i];

	if (spindle_view_closed(was) || was->id != is->id)
		return !spindle_view_subgroup(old, is->id);
	return !was->members && !c->mc[i]->deliver.lsn;
}

static void begin(struct spindle_mg *c, const struct spindle_view *old, u32 i,
		  const u32 *from, const u64 *trim)
{
	struct spindle_tb *tb = c->tb[i];
	struct spindle_mc *before = c->mc[i];
	u32 rank[SPINDLE_MAX_MEMBERS];
	u64 first[SPINDLE_MAX_MEMBERS];

	c->mc[i] = NULL;
	c->streams[i] = NULL;
	c->tb[i] = NULL;
	if (c->view->subgroup[i].members & BIT_ULL(c->me)) {
		c->mc[i] = c->ops->made(c->ctx, i, &c->streams[i], &c->tb[i]);
		from_old(old, c->view, i, from, trim, rank, first);
		spindle_mc_begin(c->mc[i], before, rank, first, c->view->subgroup[i].former);
		if (c->mc[i]->durable)
			spindle_durable_begin(c->mc[i], before ? before->durable : NULL,
					      is_fresh(c, old, i));
		if (before) {
			old_ranks(old->subgroup[i].members, c->view->subgroup[i].members, from,
				  rank);
			spindle_mc_renumber(c->mc[i], before, rank);
			if (c->tb[i])
				spindle_tb_follow(c->tb[i], tb, rank);
			spindle_mc_announce(c->mc[i], c->view->vid);
		}
	}
	if (c->mc[i] || before)
		c->ops->begun(c->ctx, i, before);
	begin_streams(c, i, c->view->vid, false);
}

/* The subgroups of a view that are neither closed nor tables. */
static u64 with_messages(const struct spindle_view *view)
{
	u64 set = 0;
	u32 i;

	for (i = 0; i < view->num_subgroups; i++)
		if (!spindle_view_closed(&view->subgroup[i]) &&
		    !spindle_view_is_table(&view->subgroup[i]))
			set |= BIT_ULL(i);
	return set;
}

/* Those of the subgroups @begin that are tables, and that this node was not in before. */
static u64 new_tables(const struct spindle_mg *c, u64 begin)
{
	u64 set = 0;

	for (; begin; begin &= begin - 1) {
		u32 i = __ffs64(begin);

		if (!c->mc[i] && spindle_view_is_table(&c->view->subgroup[i]))
			set |= BIT_ULL(i);
	}
	return set;
}

/*
 * Clear the blocks of subgroups that begin: no write of the old view comes any more. Of a table
 * whose members have changed, the rows go on. No former row is in the place of a member that comes
 * from another shard, because share_out() takes no node back into a shard. What a former subgroup
 * has left there was cleared when the table began, in the rows of all members of the view.
 */
static void look_at_rows(struct spindle_mg *c, u64 begin)
{
	u64 messages = with_messages(c->view), tables = new_tables(c, begin);
	u32 r;

	for (r = 0; r < c->view->num_members; r++) {
		struct spindle_row row = c->ops->row(c->ctx, r);

		spindle_mc_clear(&row, c->view->num_subgroups, begin, messages);
		spindle_tb_clear(&row, c->view, tables);
	}
}

/**
 * spindle_mg_install() - the next view begins
 * @c: the subgroups, drained; of a joiner there are none yet
 * @from: rank in the old view of each member, or SPINDLE_NO_RANK
 * @trim: of the old view
 *
 * spindle_mb_view() returns the next view already.
 */
void spindle_mg_install(struct spindle_mg *c, const u32 *from, const u64 *trim)
{
	const struct spindle_mb *mb = c->mb;
	const struct spindle_view *old = &mb->view[!mb->now];
	u32 i, n = spindle_mb_view(mb)->num_subgroups;
	u64 set = (n ? U64_MAX >> (64 - n) : 0) & ~c->stays;

	c->view = spindle_mb_view(mb);
	c->me = mb->me;
	look_at_rows(c, set);
	for (i = 0; i < n; i++) {
		if (!c->mc[i] || !(c->stays & BIT_ULL(i)))
			begin(c, old, i, from, trim);
		else
			c->mc[i]->latest = c->view->vid;
	}
	c->stays = 0;
	c->hot = U64_MAX;
	c->push = U64_MAX;
}
