// SPDX-License-Identifier: GPL-2.0-only
/*
 * Agreement: one decree per view. The rank of a leader is its ballot. See membership.h.
 *
 * Context: engine, all of it.
 */
#include "member.h"

static bool is_ready(const struct spindle_mb *mb, const struct spindle_mb_peer *p)
{
	return p->phase >= SPINDLE_MB_FENCED && p->suspected == mb->suspected;
}

/**
 * spindle_mb_same_decree() - is a decree the one that is in somebody's row?
 * @mb: membership
 * @p: whose
 * @word: the decree
 *
 * A digest tells decrees of correct members apart. A liar can make two that share one digest.
 *
 * Return: true if all words are the same
 */
bool spindle_mb_same_decree(const struct spindle_mb *mb, const struct spindle_mb_peer *p,
			    const u64 *word)
{
	u32 i, n = spindle_mb_decree_words(mb->trims);

	for (i = 0; i < n; i++)
		if (READ_ONCE(p->row->word[mb->trims + i]) != word[i])
			return false;
	return true;
}

/*
 * Does a member follow a decree, by its own word? In the next view its digest is that of the decree
 * that led there, until it accepts another one.
 */
static bool stands_by(const struct spindle_mb *mb, const struct spindle_mb_peer *p, u64 digest,
		      const u64 *word)
{
	u64 vid = spindle_mb_view(mb)->vid;

	if (p->digest != digest ||
	    !(p->vid == vid ? p->ballot : p->vid == vid + 1 && !p->ballot))
		return false;
	return spindle_mb_same_decree(mb, p, word);
}

/* Do all others that decide? */
static bool all_stand_by(const struct spindle_mb *mb, u64 digest, const u64 *word)
{
	u64 mask;

	for (mask = spindle_mb_voters(mb) & ~BIT_ULL(mb->me); mask; mask &= mask - 1)
		if (!stands_by(mb, &mb->peer[__ffs64(mask)], digest, word))
			return false;
	return true;
}

/**
 * spindle_mb_read_decree() - a decree as it is in somebody's row, into @mb->seen
 * @mb: membership
 * @p: whose
 *
 * Return: true if it is all there, and is one
 */
bool spindle_mb_read_decree(struct spindle_mb *mb, const struct spindle_mb_peer *p)
{
	u32 i, n = spindle_mb_decree_words(mb->trims);

	for (i = 0; i < n; i++)
		mb->seen[i] = READ_ONCE(p->row->word[mb->trims + i]);
	return spindle_decree_digest(mb->seen, n) == p->digest &&
	       spindle_decree_check(mb->seen, spindle_mb_view(mb));
}

/**
 * spindle_mb_adopt() - @mb->seen is the decree that this member shows from now on
 * @mb: membership
 * @digest: its digest
 */
void spindle_mb_adopt(struct spindle_mb *mb, u64 digest)
{
	memcpy(spindle_mb_own_decree(mb), mb->seen,
	       spindle_mb_decree_words(mb->trims) * sizeof(u64));
	mb->digest = digest;
}

/* What those that are alive have of a sender, at least; U64_MAX if none is in the subgroup. */
static u64 least(const struct spindle_mb *mb, u32 subgroup, u32 at)
{
	u64 mask = spindle_mb_alive(mb) & spindle_mb_view(mb)->subgroup[subgroup].members;
	u64 have = U64_MAX;

	for (; mask; mask &= mask - 1) {
		const struct spindle_mb_row *row = mb->peer[__ffs64(mask)].row;

		have = min_t(u64, have, READ_ONCE(row->word[at]));
	}
	return have;
}

/* What all that are alive have, of each sender. */
static void compose_trim(struct spindle_mb *mb, u64 *trim)
{
	const struct spindle_view *view = spindle_mb_view(mb);
	u32 i, s, at = 0;

	for (i = 0; i < view->num_subgroups; i++) {
		bool any = spindle_mb_alive(mb) & view->subgroup[i].members;

		for (s = 0; s < hweight64(view->subgroup[i].senders); s++, at++)
			trim[at] = any ? least(mb, i, at) : 0;
	}
}

/* Have all that are alive what it takes? */
static bool trim_is_there(const struct spindle_mb *mb, const u64 *trim)
{
	const struct spindle_view *view = spindle_mb_view(mb);
	u32 i, s, at = 0;

	for (i = 0; i < view->num_subgroups; i++)
		for (s = 0; s < hweight64(view->subgroup[i].senders); s++, at++)
			if (trim[at] > least(mb, i, at))
				return false;
	return true;
}

/**
 * spindle_mb_leads_on() - make the view that a decree leads to
 * @mb: membership
 * @word: the decree
 *
 * Return: true if there is one
 */
bool spindle_mb_leads_on(struct spindle_mb *mb, const u64 *word)
{
	struct spindle_view *next = &mb->view[!mb->now];

	spindle_decree_apply(word, spindle_mb_view(mb), next);
	if (mb->ops->layout(mb->ctx, spindle_mb_view(mb), next))
		return false;
	/* There has to be room for the decree that ends it. */
	return spindle_decree_trims(next) <= mb->trims;
}

/*
 * May a node be let in by the members that go on? A joiner believes a majority of the view that it
 * was told, and does not know which members leave it.
 */
static bool lets_in(const struct spindle_mb *mb, const u64 *word)
{
	return mb->any || 2 * hweight64(word[SPINDLE_DECREE_SURVIVORS]) >
			      spindle_mb_view(mb)->num_members;
}

static bool may_add(const struct spindle_mb *mb, const u64 *word, u64 id, u64 incarnation)
{
	u64 n = word[SPINDLE_DECREE_NUM_JOINS], i;

	if (!id || id > U32_MAX || spindle_view_rank(spindle_mb_view(mb), id) >= 0 ||
	    n == mb->joins || !lets_in(mb, word) ||
	    hweight64(word[SPINDLE_DECREE_SURVIVORS]) + n >= SPINDLE_MAX_MEMBERS)
		return false;
	for (i = 0; i < n; i++)
		if (word[SPINDLE_DECREE_JOIN + 2 * i] == id)
			return false;
	/* A wish may name anything, but only a connected node can become a member. */
	return mb->ops->guest(mb->ctx, id, incarnation);
}

/* One that the rules have no place for must not be in the way of the others. */
static void add_join(struct spindle_mb *mb, u64 *word, u64 id, u64 incarnation)
{
	u64 *join = word + SPINDLE_DECREE_JOIN + 2 * word[SPINDLE_DECREE_NUM_JOINS];

	if (!may_add(mb, word, id, incarnation))
		return;
	join[0] = id;
	join[1] = incarnation;
	word[SPINDLE_DECREE_NUM_JOINS]++;
	if (spindle_mb_leads_on(mb, word))
		return;
	word[SPINDLE_DECREE_NUM_JOINS]--;
	join[0] = 0;
	join[1] = 0;
}

/* The next view as this node would have it, as far as it is about members. */
static void compose_members(struct spindle_mb *mb, u64 *word)
{
	u64 mask;

	memset(word, 0, spindle_mb_decree_words(mb->trims) * sizeof(u64));
	word[SPINDLE_DECREE_VID] = spindle_mb_view(mb)->vid;
	word[SPINDLE_DECREE_SURVIVORS] = spindle_mb_voters(mb);
	for (mask = spindle_mb_voters(mb); mask; mask &= mask - 1) {
		u32 r = __ffs64(mask);

		if (r == mb->me)
			add_join(mb, word, mb->wish, mb->wish_inc);
		else
			add_join(mb, word, mb->peer[r].wish, mb->peer[r].wish_inc);
	}
}

/**
 * spindle_mb_join_due() - does somebody want to join, and may it?
 * @mb: membership
 *
 * Only the leader asks, and as long as the rules have no place for a joiner the view goes on
 * as it is.
 *
 * Return: true if so
 */
bool spindle_mb_join_due(struct spindle_mb *mb)
{
	u64 mask = spindle_mb_voters(mb);

	if (!mask || __ffs64(mask) != mb->me)
		return false;
	compose_members(mb, mb->seen);
	return mb->seen[SPINDLE_DECREE_NUM_JOINS];
}

/*
 * Does a decree count in all that this member counts in? The leader that composed it had heard
 * that all of them suspect the members that it suspected, and they had seen the same fences: so a
 * correct one does.
 */
static bool counts_all(const struct spindle_mb *mb, const u64 *word)
{
	return !(spindle_mb_voters(mb) & ~word[SPINDLE_DECREE_SURVIVORS]);
}

/* Have its joiners a place? That follows from the view and the decree: all come to the same. */
static bool joins_fit(struct spindle_mb *mb, const u64 *word)
{
	if (!word[SPINDLE_DECREE_NUM_JOINS])
		return true;
	return word[SPINDLE_DECREE_NUM_JOINS] <= mb->joins && lets_in(mb, word) &&
	       spindle_mb_leads_on(mb, word);
}

/* A leader answers for what it adopts: the others blame it for what they cannot accept. */
static bool is_sound(struct spindle_mb *mb, const u64 *word)
{
	return counts_all(mb, word) && joins_fit(mb, word) &&
	       trim_is_there(mb, word + SPINDLE_DECREE_HEAD);
}

/*
 * Adopt what a voter has accepted in this ballot: 1 if there is such a decree, 0 if not, and
 * -EAGAIN if one is not all here yet. What cannot be is left out, and nobody is blamed: the member
 * that shows it may have been lied to.
 */
static int adopt_of(struct spindle_mb *mb, u32 ballot)
{
	u64 mask;

	for (mask = spindle_mb_voters(mb); mask; mask &= mask - 1) {
		u32 r = __ffs64(mask);
		const struct spindle_mb_peer *p = &mb->peer[r];

		if (r == mb->me && mb->ballot == ballot &&
		    is_sound(mb, spindle_mb_own_decree(mb)))
			return 1;
		if (r == mb->me || p->ballot != ballot)
			continue;
		if (!spindle_mb_read_decree(mb, p))
			return -EAGAIN;
		if (!is_sound(mb, mb->seen))
			continue;
		spindle_mb_adopt(mb, p->digest);
		return 1;
	}
	return 0;
}

/*
 * The leader, once: all that are alive have promised not to follow those before us, and
 * if any of them has accepted a decree of one of those it may have been chosen.
 */
static void propose(struct spindle_mb *mb)
{
	u32 ballot;
	int found = 0;

	if (!spindle_mb_all_of(mb, spindle_mb_alive(mb), is_ready))
		return;
	for (ballot = spindle_mb_view(mb)->num_members; ballot && !found; ballot--)
		found = adopt_of(mb, ballot);
	if (found < 0)
		return;
	if (!found) {
		compose_members(mb, mb->seen);
		compose_trim(mb, mb->seen + SPINDLE_DECREE_HEAD);
		spindle_mb_adopt(mb, spindle_decree_digest(mb->seen,
							   spindle_mb_decree_words(mb->trims)));
	}
	mb->ballot = mb->me + 1;
	spindle_mb_transition(mb, SPINDLE_MB_ECHOED);
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

/* Can this node follow the decree in @mb->seen, which it has not from a leader? */
static bool can_follow(struct spindle_mb *mb)
{
	return counts_all(mb, mb->seen) && joins_fit(mb, mb->seen) &&
	       trim_is_here(mb, mb->seen + SPINDLE_DECREE_HEAD);
}

static u32 leader_of(const struct spindle_mb *mb)
{
	u64 mask = spindle_mb_voters(mb);

	return mask ? __ffs64(mask) : mb->me;
}

/**
 * spindle_mb_learn() - is one of us in the next view already?
 * @mb: membership
 *
 * A member that is has seen that we all accepted the decree that leads there, or does not count
 * us in. That is its word: this node accepts what that member shows, in place of the leader, and
 * waits for the others as always.
 *
 * Return: true if there is nothing else to look at
 */
bool spindle_mb_learn(struct spindle_mb *mb)
{
	u64 vid = spindle_mb_view(mb)->vid, mask;

	for (mask = spindle_mb_alive(mb) & ~BIT_ULL(mb->me); mask; mask &= mask - 1) {
		const struct spindle_mb_peer *p = &mb->peer[__ffs64(mask)];

		if (p->vid <= vid)
			continue;
		if (p->vid > vid + 1 || p->ballot || mb->state < SPINDLE_MB_FENCED) {
			spindle_mb_stop(mb, SPINDLE_MB_EVICTED);
			return true;
		}
		if (mb->ballot || !spindle_mb_read_decree(mb, p) || !can_follow(mb))
			continue;
		/* The others take it for a leader's own, also for subgroups without the leader. */
		if (leader_of(mb) == mb->me &&
		    !trim_is_there(mb, mb->seen + SPINDLE_DECREE_HEAD))
			continue;
		spindle_mb_adopt(mb, p->digest);
		mb->ballot = leader_of(mb) + 1;
		mb->learned = BIT_ULL(p - mb->peer);
		spindle_mb_transition(mb, SPINDLE_MB_ECHOED);
		return true;
	}
	return false;
}

static bool shows_own(const struct spindle_mb *mb, const struct spindle_mb_peer *p)
{
	return p->digest == mb->digest;
}

/*
 * Nobody that is left stands by what this node has learned, and the member that it was learned from
 * is suspected. That may have been a lie, which would keep this node from the leader's decree for
 * ever. If it was chosen, a majority had accepted it before it was learned. That majority does not
 * follow the leader, so nothing is chosen twice if this node does.
 */
static bool was_misled(const struct spindle_mb *mb)
{
	u64 others = spindle_mb_alive(mb) & ~BIT_ULL(mb->me);

	return mb->learned && !(mb->learned & others) &&
	       !spindle_mb_any_of(mb, others, shows_own);
}

static void accept(struct spindle_mb *mb, u32 leader)
{
	const struct spindle_mb_peer *p = &mb->peer[leader];

	if (p->vid != spindle_mb_view(mb)->vid || p->ballot != leader + 1 ||
	    mb->ballot > p->ballot || (mb->ballot == p->ballot && !was_misled(mb)) ||
	    !spindle_mb_read_decree(mb, p))
		return;
	/* Somebody may have told the leader alone that it leaves: nobody is to blame for that. */
	if (!counts_all(mb, mb->seen))
		return;
	if (!joins_fit(mb, mb->seen) || !trim_is_here(mb, mb->seen + SPINDLE_DECREE_HEAD)) {
		spindle_mb_suspect(mb, leader, SPINDLE_MB_LIED);
		return;
	}
	spindle_mb_adopt(mb, p->digest);
	mb->ballot = p->ballot;
	mb->learned = 0;
	spindle_mb_transition(mb, SPINDLE_MB_ECHOED);
}

/*
 * A node that leaves may have missed the word of a leader that is gone. Those that have accepted it
 * go on, and tell this node nothing more. What all of them show is chosen.
 */
static void follow(struct spindle_mb *mb, u32 any)
{
	const struct spindle_mb_peer *p = &mb->peer[any];

	if (!p->ballot || (mb->ballot && p->digest == mb->digest) ||
	    !spindle_mb_read_decree(mb, p) || !all_stand_by(mb, p->digest, mb->seen) ||
	    !can_follow(mb))
		return;
	spindle_mb_adopt(mb, p->digest);
	mb->ballot = p->ballot;
	spindle_mb_transition(mb, SPINDLE_MB_ECHOED);
}

/**
 * spindle_mb_vote() - propose a decree as the leader, or accept the one of the leader
 * @mb: membership
 */
void spindle_mb_vote(struct spindle_mb *mb)
{
	u64 mask = spindle_mb_voters(mb);
	u32 leader;

	if (!mask)
		return;
	leader = __ffs64(mask);
	if (leader != mb->me) {
		accept(mb, leader);
		if (mb->leaving)
			follow(mb, leader);
	} else if (mb->ballot != mb->me + 1) {
		propose(mb);
	}
}

/**
 * spindle_mb_chosen() - is it certain that the accepted decree is the one?
 * @mb: membership
 *
 * All that are alive follow it, each by its own word. Asking for all of them, and not for a
 * majority, costs nothing: a member that does not answer is suspected. It saves a round that tells
 * the others, because a member that follows a leader has the decree already. And nobody has to be
 * believed about what others have accepted.
 *
 * Return: true if so
 */
bool spindle_mb_chosen(const struct spindle_mb *mb)
{
	return all_stand_by(mb, mb->digest, spindle_mb_own_decree(mb));
}
