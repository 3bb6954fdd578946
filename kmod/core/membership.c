// SPDX-License-Identifier: GPL-2.0-only
/*
 * Membership: how one view follows another, at one node. See membership.h.
 */
#include "membership.h"

/* Intervals without a heartbeat that say nothing yet; silence for the timeout does. */
#define HEARD_LATELY 4

/* What may follow a state. A higher ballot is accepted on top of a lower one. */
static const u32 legal[SPINDLE_MB_STATES] = {
	[SPINDLE_MB_ACTIVE] = BIT(SPINDLE_MB_WEDGED) | BIT(SPINDLE_MB_STOPPED),
	[SPINDLE_MB_WEDGED] = BIT(SPINDLE_MB_FENCED) | BIT(SPINDLE_MB_STOPPED),
	[SPINDLE_MB_FENCED] = BIT(SPINDLE_MB_ECHOED) | BIT(SPINDLE_MB_COMMITTED) |
			      BIT(SPINDLE_MB_STOPPED),
	[SPINDLE_MB_ECHOED] = BIT(SPINDLE_MB_ECHOED) | BIT(SPINDLE_MB_COMMITTED) |
			      BIT(SPINDLE_MB_STOPPED),
	[SPINDLE_MB_COMMITTED] = BIT(SPINDLE_MB_ACTIVE) | BIT(SPINDLE_MB_STOPPED),
};

static u64 everybody(const struct spindle_mb *mb)
{
	return ~0ULL >> (64 - spindle_mb_view(mb)->num_members);
}

/* Members that nobody is known to suspect; this one is among them. */
static u64 alive(const struct spindle_mb *mb)
{
	return everybody(mb) & ~mb->suspected;
}

/*
 * Members that will leave, and that have accepted nothing and never will in this view. Who
 * sees the flag sees in the same block what was accepted before it: no vote of theirs can
 * be among those that anybody counts.
 */
static u64 leavers(const struct spindle_mb *mb)
{
	u64 mask = mb->leaving ? BIT_ULL(mb->me) : 0;
	u32 r;

	for (r = 0; r < spindle_mb_view(mb)->num_members; r++) {
		const struct spindle_mb_peer *p = &mb->peer[r];

		if (r != mb->me && p->vid == spindle_mb_view(mb)->vid && p->leaving &&
		    !p->ballot)
			mask |= BIT_ULL(r);
	}
	return mask;
}

/* Members that decide. */
static u64 voters(const struct spindle_mb *mb)
{
	return alive(mb) & ~leavers(mb);
}

/* Any two such sets of one view have a member in common. */
static bool quorum(const struct spindle_mb *mb, u64 mask)
{
	u64 all = everybody(mb) & ~leavers(mb);

	return 2 * hweight64(mask & all) > hweight64(all);
}

static u64 *own_decree(const struct spindle_mb *mb)
{
	return mb->row->word + mb->trims;
}

static u32 decree_words(const struct spindle_mb *mb)
{
	return SPINDLE_DECREE_HEAD + spindle_decree_trims(spindle_mb_view(mb));
}

static void finish(struct spindle_mb *mb);
static void install(struct spindle_mb *mb);

/* The only place where the state changes; what has to be done hangs off the edge. */
static void transition(struct spindle_mb *mb, enum spindle_mb_state to)
{
	enum spindle_mb_state from = mb->state;

	if (!(legal[from] & BIT(to)))
		return;
	mb->edges[from][to]++;
	mb->state = to;
	switch (to) {
	case SPINDLE_MB_WEDGED:
		mb->ops->wedge(mb->ctx);
		break;
	case SPINDLE_MB_FENCED:
		mb->ops->freeze(mb->ctx, mb->row->word);
		break;
	case SPINDLE_MB_COMMITTED:
		finish(mb);
		break;
	case SPINDLE_MB_ACTIVE:
		install(mb);
		break;
	case SPINDLE_MB_STOPPED:
		mb->ops->stopped(mb->ctx);
		break;
	default:
		break;
	}
}

static void stop(struct spindle_mb *mb, enum spindle_mb_reason reason)
{
	if (mb->state == SPINDLE_MB_STOPPED)
		return;
	mb->reason = mb->leaving ? SPINDLE_MB_LEFT : reason;
	transition(mb, SPINDLE_MB_STOPPED);
}

static void accuse(struct spindle_mb *mb, u64 mask)
{
	mb->doubted &= ~mask;
	mb->suspected |= mask;
	mb->uncut |= mask;
}

/**
 * spindle_mb_suspect() - a member is not to be waited for any more
 * @mb: membership
 * @rank: the member; suspicion is for ever, and the others are told
 * @reason: why. Silence and a broken connection have two ends: such a suspicion is held
 *	back until this node knows that it hears the others, see resolve()
 */
void spindle_mb_suspect(struct spindle_mb *mb, u32 rank, enum spindle_mb_reason reason)
{
	u64 bit = BIT_ULL(rank);

	if (rank == mb->me || mb->suspected & bit || mb->state == SPINDLE_MB_STOPPED)
		return;
	if (!(mb->doubted & bit))
		mb->peer[rank].reason = reason;
	if (reason == SPINDLE_MB_SILENT || reason == SPINDLE_MB_LOST)
		mb->doubted |= bit;
	else
		accuse(mb, bit);
}

/**
 * spindle_mb_closed() - a member has closed the connection, on purpose
 * @mb: membership
 * @rank: the member
 *
 * It is alive and suspects this node, or it would have shown that it has stopped. That is
 * sticky, so one of the two has to go; were the accused to accuse in turn, others would
 * believe whom they hear first.
 */
void spindle_mb_closed(struct spindle_mb *mb, u32 rank)
{
	if (mb->suspected & BIT_ULL(rank) || mb->state == SPINDLE_MB_STOPPED)
		return;
	if (mb->peer[rank].phase == SPINDLE_MB_STOPPED)
		spindle_mb_suspect(mb, rank, SPINDLE_MB_GONE);
	else
		stop(mb, SPINDLE_MB_EVICTED);
}

/**
 * spindle_mb_leave() - this node wants to leave
 * @mb: membership
 */
void spindle_mb_leave(struct spindle_mb *mb)
{
	/* In the middle of a change it has voted, or will: the next one, then. */
	if (mb->state != SPINDLE_MB_ACTIVE)
		return;
	mb->leaving = true;
	if (spindle_mb_view(mb)->num_members == 1)
		stop(mb, SPINDLE_MB_LEFT);
}

/* ---- what the others say --------------------------------------------------- */

static bool believable(const struct spindle_mb *mb, const struct spindle_mb_peer *p,
		       const u64 word[SPINDLE_BLOCK_WORDS])
{
	u64 phase = word[SPINDLE_MB_COL_PHASE];
	u64 ballot = (phase >> SPINDLE_MB_PHASE_BALLOT) & 0xff;
	u64 state = phase & SPINDLE_MB_PHASE_STATE;

	if (word[SPINDLE_MB_COL_VID] < p->vid || state >= SPINDLE_MB_STATES)
		return false;
	/* What another view's ranks mean is not known here. */
	if (word[SPINDLE_MB_COL_VID] != spindle_mb_view(mb)->vid)
		return true;
	if (word[SPINDLE_MB_COL_SUSPECTED] & ~everybody(mb) ||
	    ballot > spindle_mb_view(mb)->num_members)
		return false;
	return word[SPINDLE_MB_COL_VID] > p->vid ||
	       (!(p->suspected & ~word[SPINDLE_MB_COL_SUSPECTED]) && state >= p->phase &&
		ballot >= p->ballot);
}

static void gossip(struct spindle_mb *mb, const struct spindle_mb_peer *p)
{
	u64 news = p->suspected & ~mb->suspected;

	if (p->phase == SPINDLE_MB_STOPPED) {
		/* It has given up, and what it thought of others does not count. */
		spindle_mb_suspect(mb, p - mb->peer, SPINDLE_MB_GONE);
		return;
	}
	if (news & BIT_ULL(mb->me)) {
		stop(mb, SPINDLE_MB_EVICTED);
		return;
	}
	for (; news; news &= news - 1)
		spindle_mb_suspect(mb, __ffs64(news), SPINDLE_MB_GOSSIP);
}

static bool read_state(struct spindle_mb *mb, u32 r)
{
	struct spindle_mb_peer *p = &mb->peer[r];
	u64 word[SPINDLE_BLOCK_WORDS];

	if (spindle_block_read(&p->row->state, &p->state_seal, word) != SPINDLE_READ_NEW)
		return false;
	if (!believable(mb, p, word)) {
		spindle_mb_suspect(mb, r, SPINDLE_MB_LIED);
		return true;
	}
	p->vid = word[SPINDLE_MB_COL_VID];
	p->suspected = word[SPINDLE_MB_COL_SUSPECTED];
	p->phase = word[SPINDLE_MB_COL_PHASE] & SPINDLE_MB_PHASE_STATE;
	p->ballot = (word[SPINDLE_MB_COL_PHASE] >> SPINDLE_MB_PHASE_BALLOT) & 0xff;
	p->leaving = word[SPINDLE_MB_COL_PHASE] & SPINDLE_MB_PHASE_LEAVE;
	p->digest = word[SPINDLE_MB_COL_DIGEST];
	if (p->vid == spindle_mb_view(mb)->vid)
		gossip(mb, p);
	return true;
}

static void read_beat(struct spindle_mb *mb, u32 r, u64 now)
{
	struct spindle_mb_peer *p = &mb->peer[r];
	u64 word[SPINDLE_BLOCK_WORDS];

	if (spindle_block_read(&p->row->beat, &p->beat_seal, word) == SPINDLE_READ_NEW)
		p->heard = now;
}

/* Who has not run for long has heard of nobody, and that is nobody's fault. */
static void listen(struct spindle_mb *mb, u64 now)
{
	bool paused = now - mb->ran_at > mb->timeout / 2;
	u32 r;

	for (r = 0; r < spindle_mb_view(mb)->num_members; r++) {
		struct spindle_mb_peer *p = &mb->peer[r];

		if (paused)
			p->heard = now;
		if (now - p->heard > mb->timeout)
			spindle_mb_suspect(mb, r, SPINDLE_MB_SILENT);
	}
}

/*
 * Whose fault is it that some are not heard any more? Who hears of a majority accuses the
 * others. Who does not is about to lose everybody, one after the other, and must not accuse
 * them one by one: it waits, and in the end it stops without a word against anybody.
 */
static void resolve(struct spindle_mb *mb, u64 now)
{
	u64 heard = BIT_ULL(mb->me), left = alive(mb) & ~mb->doubted, mask;

	for (mask = left & ~heard; mask; mask &= mask - 1)
		if (now - mb->peer[__ffs64(mask)].heard <= HEARD_LATELY * mb->interval)
			heard |= mask & -mask;
	if (quorum(mb, heard))
		accuse(mb, mb->doubted);
	else if (!quorum(mb, left) && mb->state < SPINDLE_MB_COMMITTED)
		stop(mb, SPINDLE_MB_MINORITY);
}

/* ---- predicates -------------------------------------------------------------- */

/* Is this so of all members of a set, as far as they have shown it? */
static bool all_of(const struct spindle_mb *mb, u64 mask,
		   bool (*is)(const struct spindle_mb *mb, const struct spindle_mb_peer *p))
{
	for (mask &= ~BIT_ULL(mb->me); mask; mask &= mask - 1) {
		const struct spindle_mb_peer *p = &mb->peer[__ffs64(mask)];

		if (p->vid != spindle_mb_view(mb)->vid || !is(mb, p))
			return false;
	}
	return true;
}

/* Has any member of a set shown that it is so of it? */
static bool any_of(const struct spindle_mb *mb, u64 mask,
		   bool (*is)(const struct spindle_mb *mb, const struct spindle_mb_peer *p))
{
	for (mask &= ~BIT_ULL(mb->me); mask; mask &= mask - 1) {
		const struct spindle_mb_peer *p = &mb->peer[__ffs64(mask)];

		if (p->vid == spindle_mb_view(mb)->vid && is(mb, p))
			return true;
	}
	return false;
}

static bool has_wedged(const struct spindle_mb *mb, const struct spindle_mb_peer *p)
{
	return p->phase >= SPINDLE_MB_WEDGED;
}

static bool is_ready(const struct spindle_mb *mb, const struct spindle_mb_peer *p)
{
	return p->phase >= SPINDLE_MB_FENCED && p->suspected == mb->suspected;
}

static bool has_accepted(const struct spindle_mb *mb, const struct spindle_mb_peer *p)
{
	return p->ballot == mb->ballot && p->digest == mb->digest;
}

static bool has_committed(const struct spindle_mb *mb, const struct spindle_mb_peer *p)
{
	return p->phase == SPINDLE_MB_COMMITTED && p->digest == mb->digest;
}

/* Wedged is catching: a view that ends for one ends for all. */
static bool wedge_due(const struct spindle_mb *mb)
{
	return mb->suspected || leavers(mb) || any_of(mb, alive(mb), has_wedged);
}

/* A decree as it is in somebody's row, if it is all there and is one. */
static bool read_decree(struct spindle_mb *mb, const struct spindle_mb_peer *p)
{
	u32 i, n = decree_words(mb);

	for (i = 0; i < n; i++)
		mb->seen[i] = READ_ONCE(p->row->word[mb->trims + i]);
	return spindle_decree_digest(mb->seen, n) == p->digest &&
	       spindle_decree_check(mb->seen, spindle_mb_view(mb));
}

static void adopt(struct spindle_mb *mb, u64 digest)
{
	memcpy(own_decree(mb), mb->seen, decree_words(mb) * sizeof(u64));
	mb->digest = digest;
}

/*
 * Is one of us in the next view already? It saw that we all accepted the decree that leads
 * there, or it does not count us in. Returns true if there is nothing else to look at.
 */
static bool learn(struct spindle_mb *mb)
{
	u64 vid = spindle_mb_view(mb)->vid, mask;

	for (mask = alive(mb) & ~BIT_ULL(mb->me); mask; mask &= mask - 1) {
		const struct spindle_mb_peer *p = &mb->peer[__ffs64(mask)];

		if (p->vid <= vid)
			continue;
		if (p->vid > vid + 1 || p->ballot || mb->state < SPINDLE_MB_FENCED) {
			stop(mb, SPINDLE_MB_EVICTED);
			return true;
		}
		if (!read_decree(mb, p))
			continue;
		adopt(mb, p->digest);
		transition(mb, SPINDLE_MB_COMMITTED);
		return true;
	}
	return false;
}

/* What all that are alive have, of each sender. */
static void compose_trim(struct spindle_mb *mb, u64 *trim)
{
	const struct spindle_view *view = spindle_mb_view(mb);
	u32 i, s, at = 0;

	for (i = 0; i < view->num_subgroups; i++) {
		for (s = 0; s < hweight64(view->subgroup[i].senders); s++, at++) {
			u64 mask = alive(mb) & view->subgroup[i].members;

			trim[at] = mask ? U64_MAX : 0;
			for (; mask; mask &= mask - 1) {
				u32 r = __ffs64(mask);
				const struct spindle_mb_row *row = mb->peer[r].row;

				trim[at] = min_t(u64, trim[at], READ_ONCE(row->word[at]));
			}
		}
	}
}

static void compose(struct spindle_mb *mb)
{
	u64 *word = mb->seen;

	memset(word, 0, decree_words(mb) * sizeof(u64));
	word[SPINDLE_DECREE_VID] = spindle_mb_view(mb)->vid;
	word[SPINDLE_DECREE_SURVIVORS] = voters(mb);
	compose_trim(mb, word + SPINDLE_DECREE_HEAD);
}

/*
 * The leader, once: all that are alive have promised not to follow those before us, and
 * if any of them has accepted a decree of one of those it may have been chosen.
 */
static void propose(struct spindle_mb *mb)
{
	u32 ballot = mb->ballot;
	const struct spindle_mb_peer *from = NULL;
	u64 mask;

	if (!all_of(mb, alive(mb), is_ready))
		return;
	for (mask = voters(mb) & ~BIT_ULL(mb->me); mask; mask &= mask - 1) {
		const struct spindle_mb_peer *p = &mb->peer[__ffs64(mask)];

		if (p->ballot > ballot) {
			ballot = p->ballot;
			from = p;
		}
	}
	if (from) {
		if (!read_decree(mb, from))
			return;
		adopt(mb, from->digest);
	} else if (!ballot) {
		compose(mb);
		adopt(mb, spindle_decree_digest(mb->seen, decree_words(mb)));
	}
	mb->ballot = mb->me + 1;
	transition(mb, SPINDLE_MB_ECHOED);
}

/* Does it take no more of anybody than is here? */
static bool trim_is_here(const struct spindle_mb *mb, const u64 *trim)
{
	const struct spindle_view *view = spindle_mb_view(mb);
	u32 i, s, at = 0;

	for (i = 0; i < view->num_subgroups; i++)
		for (s = 0; s < hweight64(view->subgroup[i].senders); s++, at++)
			if (view->subgroup[i].members & BIT_ULL(mb->me) &&
			    trim[at] > mb->row->word[at])
				return false;
	return true;
}

static void accept(struct spindle_mb *mb, u32 leader)
{
	const struct spindle_mb_peer *p = &mb->peer[leader];

	if (p->vid != spindle_mb_view(mb)->vid || p->ballot != leader + 1 ||
	    mb->ballot >= p->ballot || !read_decree(mb, p))
		return;
	if (!trim_is_here(mb, mb->seen + SPINDLE_DECREE_HEAD)) {
		spindle_mb_suspect(mb, leader, SPINDLE_MB_LIED);
		return;
	}
	adopt(mb, p->digest);
	mb->ballot = p->ballot;
	transition(mb, SPINDLE_MB_ECHOED);
}

static void vote(struct spindle_mb *mb)
{
	u64 mask = voters(mb);
	u32 leader;

	if (!mask)
		return;
	leader = __ffs64(mask);
	if (leader != mb->me)
		accept(mb, leader);
	else if (mb->ballot != mb->me + 1)
		propose(mb);
}

/* Have all that are alive accepted the same, or is one of them sure that they have? */
static bool chosen(const struct spindle_mb *mb)
{
	return all_of(mb, voters(mb), has_accepted) || any_of(mb, voters(mb), has_committed);
}

static void commit(struct spindle_mb *mb)
{
	const u64 *word = own_decree(mb);

	if (mb->leaving)
		stop(mb, SPINDLE_MB_LEFT);
	else if (!(word[SPINDLE_DECREE_SURVIVORS] & BIT_ULL(mb->me)))
		stop(mb, SPINDLE_MB_EVICTED);
	else
		transition(mb, SPINDLE_MB_ACTIVE);
}

/* ---- the next view --------------------------------------------------------------- */

static void reset_peer(struct spindle_mb_peer *p, u64 now)
{
	p->heard = now;
	p->suspected = 0;
	p->phase = SPINDLE_MB_ACTIVE;
	p->ballot = 0;
	p->leaving = false;
	p->fenced = false;
	p->told_have = false;
	/* What it has said about the new view is to be looked at again. */
	p->state_seal = 0;
}

static void install(struct spindle_mb *mb)
{
	const struct spindle_view *view = spindle_mb_view(mb);
	struct spindle_view *next = &mb->view[!mb->now];
	u64 keep = own_decree(mb)[SPINDLE_DECREE_SURVIVORS], suspected = 0, doubted = 0;
	u32 from[SPINDLE_MAX_MEMBERS], n = 0, r;

	for (r = 0; r < view->num_members; r++) {
		if (!(keep & BIT_ULL(r)))
			continue;
		if (mb->suspected & BIT_ULL(r))
			suspected |= BIT_ULL(n);
		if (mb->doubted & BIT_ULL(r))
			doubted |= BIT_ULL(n);
		if (n != r)
			mb->peer[n] = mb->peer[r];
		reset_peer(&mb->peer[n], mb->ran_at);
		from[n++] = r;
	}
	mb->me = spindle_mask_rank(keep, mb->me);
	mb->suspected = suspected;
	mb->doubted = doubted;
	mb->ballot = 0;
	mb->now = !mb->now;
	mb->ops->install(mb->ctx, next, from, own_decree(mb) + SPINDLE_DECREE_HEAD);
}

/* The trim is agreed: deliver it, and see to it that there is a next view. */
static void finish(struct spindle_mb *mb)
{
	struct spindle_view *next = &mb->view[!mb->now];
	const u64 *word = own_decree(mb);

	if (mb->leaving || !(word[SPINDLE_DECREE_SURVIVORS] & BIT_ULL(mb->me))) {
		next->num_members = 0;
	} else {
		spindle_decree_apply(word, spindle_mb_view(mb), next);
		if (mb->ops->layout(mb->ctx, spindle_mb_view(mb), next)) {
			stop(mb, SPINDLE_MB_LAYOUT);
			return;
		}
	}
	if (!mb->ops->trim(mb->ctx, word + SPINDLE_DECREE_HEAD))
		stop(mb, SPINDLE_MB_EVICTED);
}

/* ---- the engine's calls ------------------------------------------------------------ */

/**
 * spindle_mb_init() - begin with a view that all its members were given
 * @mb: zeroed; operations, times, rows and memory are set
 * @view: the view
 * @me: own rank
 * @now: the clock
 */
void spindle_mb_init(struct spindle_mb *mb, const struct spindle_view *view, u32 me, u64 now)
{
	u32 r;

	mb->view[0] = *view;
	mb->me = me;
	mb->ran_at = now;
	mb->peer[me].row = mb->row;
	for (r = 0; r < view->num_members; r++)
		mb->peer[r].heard = now;
}

/**
 * spindle_mb_run() - one pass
 * @mb: membership
 * @now: the clock
 *
 * Return: true if something has happened
 */
bool spindle_mb_run(struct spindle_mb *mb, u64 now)
{
	enum spindle_mb_state was = mb->state;
	u64 suspected = mb->suspected;
	bool news = false;
	u32 r;

	if (mb->state == SPINDLE_MB_STOPPED)
		return false;
	for (r = 0; r < spindle_mb_view(mb)->num_members; r++) {
		if (r == mb->me || mb->suspected & BIT_ULL(r))
			continue;
		read_beat(mb, r, now);
		news |= read_state(mb, r);
	}
	listen(mb, now);
	mb->ran_at = now;
	if (now - mb->beat_at >= mb->interval) {
		mb->beat++;
		mb->beat_at = now;
	}
	resolve(mb, now);
	/* Who stops accuses nobody: that it is left alone is its own fault, most likely. */
	for (; mb->uncut && mb->state != SPINDLE_MB_STOPPED; mb->uncut &= mb->uncut - 1)
		mb->ops->cut(mb->ctx, __ffs64(mb->uncut));
	if (mb->state < SPINDLE_MB_COMMITTED && learn(mb))
		goto out;
	switch (mb->state) {
	case SPINDLE_MB_ACTIVE:
		if (wedge_due(mb))
			transition(mb, SPINDLE_MB_WEDGED);
		break;
	case SPINDLE_MB_WEDGED:
		if (all_of(mb, alive(mb), has_wedged))
			transition(mb, SPINDLE_MB_FENCED);
		break;
	case SPINDLE_MB_FENCED:
		vote(mb);
		break;
	case SPINDLE_MB_ECHOED:
		if (chosen(mb))
			transition(mb, SPINDLE_MB_COMMITTED);
		else
			vote(mb);
		break;
	case SPINDLE_MB_COMMITTED:
		if (mb->ops->drain(mb->ctx))
			commit(mb);
		break;
	default:
		break;
	}
out:
	return news || mb->state != was || mb->suspected != suspected;
}

/**
 * spindle_mb_open() - may messages of this view be written to a member?
 * @mb: membership
 * @rank: the member
 *
 * Not before it has installed the view: the same memory has another meaning there. Not
 * behind the fence either.
 *
 * Return: true if so
 */
bool spindle_mb_open(const struct spindle_mb *mb, u32 rank)
{
	const struct spindle_mb_peer *p = &mb->peer[rank];

	return rank != mb->me && mb->state != SPINDLE_MB_STOPPED && !p->fenced &&
	       !(mb->suspected & BIT_ULL(rank)) && p->vid == spindle_mb_view(mb)->vid;
}

/* The own columns as a member may see them: beyond ACTIVE only behind all messages. */
static void columns_for(struct spindle_mb *mb, u32 rank, u64 word[SPINDLE_BLOCK_WORDS])
{
	struct spindle_mb_peer *p = &mb->peer[rank];
	u64 state = mb->state;

	if (state >= SPINDLE_MB_WEDGED && state < SPINDLE_MB_STOPPED && !p->fenced) {
		p->fenced = mb->ops->flushed(mb->ctx, rank);
		if (!p->fenced)
			state = SPINDLE_MB_ACTIVE;
	}
	word[SPINDLE_MB_COL_VID] = spindle_mb_view(mb)->vid;
	word[SPINDLE_MB_COL_SUSPECTED] = mb->suspected;
	word[SPINDLE_MB_COL_PHASE] = state;
	if (mb->leaving)
		word[SPINDLE_MB_COL_PHASE] |= SPINDLE_MB_PHASE_LEAVE;
	else
		word[SPINDLE_MB_COL_PHASE] |= (u64)mb->ballot << SPINDLE_MB_PHASE_BALLOT;
	word[SPINDLE_MB_COL_DIGEST] = mb->digest;
}

static u32 put_words(const struct spindle_mb *mb, struct spindle_write *write, u32 at, u32 n)
{
	u64 offset = offsetof(struct spindle_mb_row, word) + at * sizeof(u64);

	*write = (struct spindle_write){
		.data = &mb->row->word[at],
		.remote = offset,
		.len = n * sizeof(u64),
	};
	return 1;
}

static u32 put_block(const struct spindle_block *block, struct spindle_write *write, u64 offset)
{
	*write = (struct spindle_write){
		.data = block,
		.remote = offset,
		.len = SPINDLE_BLOCK_PUSH,
		.guard = true,
		.imm = SPINDLE_IMM_NODE << SPINDLE_IMM_SHIFT,
	};
	return 1;
}

/**
 * spindle_mb_push() - writes that show a member the own membership columns
 * @mb: membership
 * @rank: the member
 * @write: out, room for SPINDLE_MB_PUSH_MAX; offsets are from the start of the
 *	membership's part of the row
 *
 * The caller posts them in this order, behind the messages that it has posted. What a block
 * vouches for is before it: words in the row first.
 *
 * Return: number of writes
 */
u32 spindle_mb_push(struct spindle_mb *mb, u32 rank, struct spindle_write *write)
{
	struct spindle_mb_peer *p = &mb->peer[rank];
	u32 trims = spindle_decree_trims(spindle_mb_view(mb)), n = 0;
	u64 beat[SPINDLE_BLOCK_WORDS] = { mb->beat };
	u64 word[SPINDLE_BLOCK_WORDS];

	if (rank == mb->me ||
	    (mb->suspected & BIT_ULL(rank) && mb->state != SPINDLE_MB_STOPPED))
		return 0;
	if (p->told_beat != mb->beat) {
		p->told_beat = mb->beat;
		spindle_block_write(&p->beat_out, beat);
		n += put_block(&p->beat_out, &write[n], offsetof(struct spindle_mb_row, beat));
	}
	columns_for(mb, rank, word);
	if (!memcmp(word, p->told, sizeof(word)))
		return n;
	if (mb->state >= SPINDLE_MB_FENCED && !p->told_have && trims) {
		p->told_have = true;
		n += put_words(mb, &write[n], 0, trims);
	}
	if (p->told_decree != mb->digest) {
		p->told_decree = mb->digest;
		n += put_words(mb, &write[n], mb->trims, SPINDLE_DECREE_HEAD + mb->trims);
	}
	memcpy(p->told, word, sizeof(word));
	spindle_block_write(&p->out, word);
	n += put_block(&p->out, &write[n], offsetof(struct spindle_mb_row, state));
	return n;
}
