// SPDX-License-Identifier: GPL-2.0-only
/*
 * Membership: how one view follows another, at one node. See membership.h.
 *
 * Context: engine, all of it.
 */
#include "core/base/states.h"
#include "member.h"

static bool has_wedged(const struct spindle_mb *mb, const struct spindle_mb_peer *p)
{
	return p->phase >= SPINDLE_MB_WEDGED;
}

/*
 * Has the member shown its fence, and has this node nothing left to send it before its own fence?
 * An honest member shows nothing beyond its fence before it has seen this node's, but a liar might.
 * Without the second condition this node would then freeze, and leave the view, while blocks still
 * move.
 */
static bool fences_crossed(const struct spindle_mb *mb, const struct spindle_mb_peer *p)
{
	return has_wedged(mb, p) && (p->fenced || mb->ops->flushed(mb->ctx, p - mb->peer));
}

/**
 * spindle_mb_has_wedged() - has a member shown its fence in the installed view?
 * @mb: membership
 * @rank: the member; not this node
 *
 * Return: true if so: everything that the member has sent to this node in the view is on its way
 */
bool spindle_mb_has_wedged(const struct spindle_mb *mb, u32 rank)
{
	const struct spindle_mb_peer *p = &mb->peer[rank];

	return p->vid == spindle_mb_view(mb)->vid && has_wedged(mb, p);
}

/*
 * Must this node wedge? A view that ends for one member ends for all, so one wedged member is
 * enough.
 */
static bool wedge_due(struct spindle_mb *mb)
{
	return mb->suspected || spindle_mb_leavers(mb) ||
	       spindle_mb_any_of(mb, spindle_mb_alive(mb), has_wedged) ||
	       spindle_mb_rules_due(mb) || spindle_mb_join_due(mb);
}

static void reset_peer(struct spindle_mb_peer *p, u64 heard)
{
	p->heard = heard;
	p->suspected = 0;
	p->phase = SPINDLE_MB_ACTIVE;
	p->ballot = 0;
	p->leaving = false;
	p->offer = 0;
	p->fenced = false;
	p->told_have = false;
	/* Read its state block again, which may be about the new view already. */
	p->state_seal = 0;
}

/* Does a decree let in the node of @mb->wish, and this very life of it? */
static bool lets_in(const struct spindle_mb *mb, const u64 *word)
{
	int i = mb->wish ? spindle_decree_joiner(word, mb->wish) : -ENOENT;

	return i >= 0 &&
	       spindle_decree_join(word, i)[SPINDLE_JOIN_INCARNATION] == mb->wish_inc;
}

/* Add a joiner behind the survivors. A joiner that is not connected to this node is suspected. */
static void add_peer(struct spindle_mb *mb, u32 rank, u32 id, u64 incarnation, u64 heard)
{
	struct spindle_mb_peer *p = &mb->peer[rank];

	memset(p, 0, sizeof(*p));
	p->heard = heard;
	if (rank == mb->me)
		p->row = mb->row;
	if (rank == mb->me || mb->ops->join(mb->ctx, id, incarnation, p))
		return;
	p->reason = SPINDLE_MB_LOST;
	mb->suspected |= BIT_ULL(rank);
}

/* Install the next view, which is made already. The last one is drained. Ranks change. */
static void install(struct spindle_mb *mb)
{
	const struct spindle_view *view = spindle_mb_view(mb);
	const u64 *word = spindle_mb_own_decree(mb), *join = spindle_decree_join(word, 0);
	const struct spindle_view *next = &mb->view[!mb->now];
	u64 keep = word[SPINDLE_DECREE_SURVIVORS];
	u32 from[SPINDLE_MAX_MEMBERS], n = 0, r;
	u64 heard = mb->ran_at;

	if (mb->me == SPINDLE_NO_RANK)
		heard += SPINDLE_MB_JOINER_WAITS * mb->timeout;
	mb->uncut = spindle_decree_renumber(mb->later & ~mb->suspected, keep);
	mb->suspected = spindle_decree_renumber(mb->suspected | mb->later, keep);
	mb->doubted = spindle_decree_renumber(mb->doubted, keep);
	mb->closed = spindle_decree_renumber(mb->closed, keep);
	mb->later = 0;
	if (mb->me != SPINDLE_NO_RANK)
		mb->me = spindle_mask_rank(keep, mb->me);
	else
		mb->me = spindle_view_rank(next, mb->wish);
	for (r = 0; r < view->num_members; r++) {
		if (!(keep & BIT_ULL(r)))
			continue;
		if (n != r)
			mb->peer[n] = mb->peer[r];
		reset_peer(&mb->peer[n], heard);
		from[n++] = r;
	}
	mb->came = 0;
	mb->most = mb->any ? 1 : view->num_members / 2 + 1;
	for (; n < next->num_members; n++, join += SPINDLE_JOIN_WORDS) {
		mb->came |= BIT_ULL(n);
		add_peer(mb, n, join[SPINDLE_JOIN_ID], join[SPINDLE_JOIN_INCARNATION], heard);
		from[n] = SPINDLE_NO_RANK;
	}
	mb->ballot = 0;
	mb->learned = 0;
	mb->now = !mb->now;
	mb->offered = false;
	/* An offer is for one view. The embedder makes it again if it still wants the rules. */
	if (mb->rules) {
		mb->rules = 0;
		mb->wants = false;
		mb->beat++;
	}
	/*
	 * The node that we wished for is a member, whichever member's wish let it in. Another life
	 * of the node does not count. The others have to see that the wish is gone before this view
	 * can end, or they would let the node in again.
	 */
	if (lets_in(mb, word)) {
		mb->wish = 0;
		mb->beat++;
	}
	mb->ops->install(mb->ctx, next, from, word + SPINDLE_DECREE_HEAD);
}

/* The decree is chosen: make the next view, and deliver the trim. */
static void finish(struct spindle_mb *mb)
{
	const u64 *word = spindle_mb_own_decree(mb);

	if (!mb->leaving && word[SPINDLE_DECREE_SURVIVORS] & BIT_ULL(mb->me) &&
	    !spindle_mb_leads_on(mb, word)) {
		spindle_mb_stop(mb, SPINDLE_MB_LAYOUT);
		return;
	}
	if (!mb->ops->trim(mb->ctx, word + SPINDLE_DECREE_HEAD))
		spindle_mb_stop(mb, SPINDLE_MB_EVICTED);
}

/**
 * spindle_mb_may() - may a state follow another?
 * @old: enum spindle_mb_state
 * @to: enum spindle_mb_state
 *
 * Return: true if so
 */
bool spindle_mb_may(enum spindle_mb_state old, enum spindle_mb_state to)
{
	static const u8 from[SPINDLE_MB_STATES] = {
		[SPINDLE_MB_ACTIVE] = BIT(SPINDLE_MB_COMMITTED) | BIT(SPINDLE_MB_JOINING),
		[SPINDLE_MB_WEDGED] = BIT(SPINDLE_MB_ACTIVE),
		[SPINDLE_MB_FENCED] = BIT(SPINDLE_MB_WEDGED),
		/* A decree of a higher ballot is accepted on top of one of a lower ballot. */
		[SPINDLE_MB_ECHOED] = BIT(SPINDLE_MB_FENCED) | BIT(SPINDLE_MB_ECHOED),
		[SPINDLE_MB_COMMITTED] = BIT(SPINDLE_MB_ECHOED),
		/* A node may have to stop at any time. It does so once, with one reason. */
		[SPINDLE_MB_STOPPED] = BIT(SPINDLE_MB_ACTIVE) | BIT(SPINDLE_MB_WEDGED) |
				       BIT(SPINDLE_MB_FENCED) | BIT(SPINDLE_MB_ECHOED) |
				       BIT(SPINDLE_MB_COMMITTED) | BIT(SPINDLE_MB_JOINING),
		/* A node that has stopped joins again as a new incarnation, with a new machine. */
		[SPINDLE_MB_JOINING] = 0,
	};

	return spindle_may(from, old, to);
}

/**
 * spindle_mb_transition() - go to another state
 * @mb: membership
 * @to: which; nothing happens if it may not follow
 *
 * The state changes only here, and each transition calls what has to be done for it.
 */
void spindle_mb_transition(struct spindle_mb *mb, enum spindle_mb_state to)
{
	enum spindle_mb_state from = mb->state;

	if (!spindle_mb_may(from, to))
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

/**
 * spindle_mb_stop() - stop being a member
 * @mb: membership
 * @reason: why
 */
void spindle_mb_stop(struct spindle_mb *mb, enum spindle_mb_reason reason)
{
	if (mb->state == SPINDLE_MB_STOPPED)
		return;
	mb->reason = mb->leaving ? SPINDLE_MB_LEFT : reason;
	spindle_mb_transition(mb, SPINDLE_MB_STOPPED);
}

/**
 * spindle_mb_leave() - this node wants to leave
 * @mb: membership
 *
 * During a change this node has voted, or will: it leaves by the next change.
 */
void spindle_mb_leave(struct spindle_mb *mb)
{
	mb->leave = true;
}

static void begin_to_leave(struct spindle_mb *mb)
{
	if (mb->leave && mb->state == SPINDLE_MB_ACTIVE)
		mb->leaving = true;
}

static void commit(struct spindle_mb *mb)
{
	const u64 *word = spindle_mb_own_decree(mb);

	if (mb->leaving)
		spindle_mb_stop(mb, SPINDLE_MB_LEFT);
	else if (!(word[SPINDLE_DECREE_SURVIVORS] & BIT_ULL(mb->me)))
		spindle_mb_stop(mb, SPINDLE_MB_EVICTED);
	else
		spindle_mb_transition(mb, SPINDLE_MB_ACTIVE);
}

/**
 * spindle_mb_init() - begin with a view that all its members were given
 * @mb: zeroed; operations, times, rows and memory are set
 * @view: the view
 * @me: own rank
 * @now: the clock
 *
 * The size of the memory follows from the rules, and the size of a decree from the view. Another
 * node may have sent both, so check here that the decree fits. spindle_mb_leads_on() checks each
 * later view.
 *
 * Return: 0, or -EINVAL if the view has no members, too many, or more senders than there is
 *	room for in a decree
 */
int spindle_mb_init(struct spindle_mb *mb, const struct spindle_view *view, u32 me, u64 now)
{
	u32 r;

	if (!view->num_members || view->num_members > SPINDLE_MAX_MEMBERS ||
	    spindle_decree_trims(view) > mb->trims)
		return -EINVAL;
	mb->view[0] = *view;
	mb->me = me;
	mb->ran_at = now;
	if (me != SPINDLE_NO_RANK)
		mb->peer[me].row = mb->row;
	for (r = 0; r < view->num_members; r++)
		mb->peer[r].heard = now;
	return 0;
}

/**
 * spindle_mb_join() - wait for a view that has this node in it
 * @mb: as for spindle_mb_init(); the rows are those of the members of @view
 * @view: the view that the contact is in
 * @id: own id
 * @incarnation: of this life
 * @now: the clock
 *
 * The node is connected to all members of the view, and one of them, its contact, has invited it.
 * If the contact goes on without the node, the contact says so, and this is called again with the
 * next view: a joiner has to know a view to follow the decree that ends it.
 *
 * Return: as spindle_mb_init()
 */
int spindle_mb_join(struct spindle_mb *mb, const struct spindle_view *view, u32 id,
		    u64 incarnation, u64 now)
{
	int err = spindle_mb_init(mb, view, SPINDLE_NO_RANK, now);

	if (err)
		return err;
	mb->state = SPINDLE_MB_JOINING;
	mb->wish = id;
	mb->wish_inc = incarnation;
	return 0;
}

/**
 * spindle_mb_invite() - show that a node, connected to all members, wants to be a member
 * @mb: membership
 * @id: the node, no member; 0 takes the wish back
 * @incarnation: of its life
 */
void spindle_mb_invite(struct spindle_mb *mb, u32 id, u64 incarnation)
{
	mb->wish = id;
	mb->wish_inc = incarnation;
	mb->beat++;
}

/**
 * spindle_mb_offer() - show that this node has other rules, and would follow them
 * @mb: membership
 * @offer: their digest, with SPINDLE_MB_WANTS or without it; 0 takes an offer back
 *
 * The view changes to these rules when all members offer them. A member that cannot follow a decree
 * accuses the leader. So an offer stays as it is from the moment in which this node wedges to the
 * next view.
 *
 * Return: false if the view is changing; try again in the next one
 */
bool spindle_mb_offer(struct spindle_mb *mb, u64 offer)
{
	if (mb->state != SPINDLE_MB_ACTIVE)
		return false;
	mb->rules = offer & ~SPINDLE_MB_WANTS;
	mb->wants = offer & SPINDLE_MB_WANTS;
	mb->offered = true;
	mb->beat++;
	return true;
}

/**
 * spindle_mb_wanted() - find rules that a member wants
 * @mb: membership
 * @rank: out: the member, of several the first one; this node, too
 *
 * Members follow one change after the other. So a member that wants other rules follows those of a
 * member before it.
 *
 * Return: the rules, without SPINDLE_MB_WANTS; 0 if none wants any, or this node is no member
 */
u64 spindle_mb_wanted(const struct spindle_mb *mb, u32 *rank)
{
	u64 mask, offer;

	if (mb->state >= SPINDLE_MB_STOPPED)
		return 0;
	for (mask = spindle_mb_alive(mb); mask; mask &= mask - 1) {
		*rank = __ffs64(mask);
		offer = spindle_mb_offered(mb, *rank);
		if (offer & SPINDLE_MB_WANTS)
			return offer & ~SPINDLE_MB_WANTS;
	}
	return 0;
}

/*
 * Which members have gone on to the next view? Take the digest of the decree that each of them went
 * by. No completion has to vouch for that, because a decree is believed for its digest.
 */
static u64 gone_on(struct spindle_mb *mb)
{
	u64 vid = spindle_mb_view(mb)->vid, mask, gone = 0;

	for (mask = spindle_mb_alive(mb); mask; mask &= mask - 1) {
		struct spindle_mb_peer *p = &mb->peer[__ffs64(mask)];
		u64 word[SPINDLE_BLOCK_WORDS], seal = 0;

		if (spindle_block_read(&p->row->state, &seal, word) != SPINDLE_READ_NEW ||
		    word[SPINDLE_MB_COL_VID] != vid + 1)
			continue;
		p->digest = word[SPINDLE_MB_COL_DIGEST];
		gone |= mask & -mask;
	}
	return gone;
}

/* Have enough members of @gone gone on by the decree in @mb->seen? */
static bool confirmed(const struct spindle_mb *mb, u64 gone, u64 digest)
{
	u64 mask, same = 0;

	for (mask = gone & mb->seen[SPINDLE_DECREE_SURVIVORS]; mask; mask &= mask - 1) {
		const struct spindle_mb_peer *p = &mb->peer[__ffs64(mask)];

		if (p->digest == digest && spindle_mb_same_decree(mb, p, mb->seen))
			same |= mask & -mask;
	}
	return spindle_mb_quorum(mb, same);
}

/*
 * Has a majority of the members gone on to a view with this joiner? A joiner must not follow a
 * member that goes on without the others.
 */
static bool find_view(struct spindle_mb *mb)
{
	u64 gone = gone_on(mb), mask;

	for (mask = gone; mask; mask &= mask - 1) {
		const struct spindle_mb_peer *p = &mb->peer[__ffs64(mask)];

		if (!spindle_mb_read_decree(mb, p) || !lets_in(mb, mb->seen) ||
		    !confirmed(mb, gone, p->digest))
			continue;
		spindle_mb_adopt(mb, p->digest);
		return true;
	}
	return false;
}

/*
 * The members that let this joiner in wait for it. So the view that it has found stays the right
 * one.
 */
static void look_for_view(struct spindle_mb *mb)
{
	if (!mb->found)
		mb->found = find_view(mb);
	if (!mb->found)
		return;
	if (!spindle_mb_leads_on(mb, spindle_mb_own_decree(mb)))
		spindle_mb_stop(mb, SPINDLE_MB_LAYOUT);
	else if (mb->ops->drain(mb->ctx))
		spindle_mb_transition(mb, SPINDLE_MB_ACTIVE);
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
	bool news;

	if (mb->state == SPINDLE_MB_STOPPED)
		return false;
	begin_to_leave(mb);
	if (mb->state == SPINDLE_MB_JOINING) {
		mb->ran_at = now;
		look_for_view(mb);
		return mb->state != was;
	}
	news = spindle_mb_hear(mb, now);
	mb->ran_at = now;
	if (now - mb->beat_at >= mb->interval) {
		mb->beat++;
		mb->beat_at = now;
	}
	if (mb->state < SPINDLE_MB_COMMITTED && spindle_mb_learn(mb))
		goto out;
	switch (mb->state) {
	case SPINDLE_MB_ACTIVE:
		if (wedge_due(mb))
			spindle_mb_transition(mb, SPINDLE_MB_WEDGED);
		break;
	case SPINDLE_MB_WEDGED:
		if (spindle_mb_all_of(mb, spindle_mb_alive(mb), fences_crossed))
			spindle_mb_transition(mb, SPINDLE_MB_FENCED);
		break;
	case SPINDLE_MB_FENCED:
		spindle_mb_vote(mb);
		break;
	case SPINDLE_MB_ECHOED:
		if (spindle_mb_chosen(mb))
			spindle_mb_transition(mb, SPINDLE_MB_COMMITTED);
		else
			spindle_mb_vote(mb);
		break;
	case SPINDLE_MB_COMMITTED:
		if (mb->ops->drain(mb->ctx) && spindle_mb_leavers_told(mb))
			commit(mb);
		break;
	default:
		break;
	}
out:
	return news || mb->state != was || mb->suspected != suspected;
}
