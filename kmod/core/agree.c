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

static bool has_accepted(const struct spindle_mb *mb, const struct spindle_mb_peer *p)
{
	return p->ballot == mb->ballot && p->digest == mb->digest;
}

static bool has_committed(const struct spindle_mb *mb, const struct spindle_mb_peer *p)
{
	return p->phase == SPINDLE_MB_COMMITTED && p->digest == mb->digest;
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

/**
 * spindle_mb_learn() - is one of us in the next view already?
 * @mb: membership
 *
 * Who is has seen that we all accepted the decree that leads there, or does not count us in.
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
		if (!spindle_mb_read_decree(mb, p))
			continue;
		spindle_mb_adopt(mb, p->digest);
		spindle_mb_transition(mb, SPINDLE_MB_COMMITTED);
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
			u64 mask = spindle_mb_alive(mb) & view->subgroup[i].members;

			trim[at] = mask ? U64_MAX : 0;
			for (; mask; mask &= mask - 1) {
				u32 r = __ffs64(mask);
				const struct spindle_mb_row *row = mb->peer[r].row;

				trim[at] = min_t(u64, trim[at], READ_ONCE(row->word[at]));
			}
		}
	}
}

static void add_join(const struct spindle_mb *mb, u64 *word, u64 id, u64 incarnation)
{
	u64 n = word[SPINDLE_DECREE_NUM_JOINS], i;

	if (!id || id > U32_MAX || spindle_view_rank(spindle_mb_view(mb), id) >= 0 ||
	    n == mb->joins ||
	    hweight64(word[SPINDLE_DECREE_SURVIVORS]) + n >= SPINDLE_MAX_MEMBERS)
		return;
	for (i = 0; i < n; i++)
		if (word[SPINDLE_DECREE_JOIN + 2 * i] == id)
			return;
	word[SPINDLE_DECREE_JOIN + 2 * n] = id;
	word[SPINDLE_DECREE_JOIN + 2 * n + 1] = incarnation;
	word[SPINDLE_DECREE_NUM_JOINS]++;
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
	return mb->seen[SPINDLE_DECREE_NUM_JOINS] && spindle_mb_leads_on(mb, mb->seen);
}

static void compose(struct spindle_mb *mb)
{
	u64 *word = mb->seen;

	compose_members(mb, word);
	/* Those that are left have to go on, with joiners or without. */
	if (word[SPINDLE_DECREE_NUM_JOINS] && !spindle_mb_leads_on(mb, word))
		memset(word + SPINDLE_DECREE_NUM_JOINS, 0,
		       (SPINDLE_DECREE_HEAD - SPINDLE_DECREE_NUM_JOINS) * sizeof(u64));
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

	if (!spindle_mb_all_of(mb, spindle_mb_alive(mb), is_ready))
		return;
	for (mask = spindle_mb_voters(mb) & ~BIT_ULL(mb->me); mask; mask &= mask - 1) {
		const struct spindle_mb_peer *p = &mb->peer[__ffs64(mask)];

		if (p->ballot > ballot) {
			ballot = p->ballot;
			from = p;
		}
	}
	if (from) {
		if (!spindle_mb_read_decree(mb, from))
			return;
		spindle_mb_adopt(mb, from->digest);
	} else if (!ballot) {
		compose(mb);
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

static void accept(struct spindle_mb *mb, u32 leader)
{
	const struct spindle_mb_peer *p = &mb->peer[leader];

	if (p->vid != spindle_mb_view(mb)->vid || p->ballot != leader + 1 ||
	    mb->ballot >= p->ballot || !spindle_mb_read_decree(mb, p))
		return;
	if (!trim_is_here(mb, mb->seen + SPINDLE_DECREE_HEAD)) {
		spindle_mb_suspect(mb, leader, SPINDLE_MB_LIED);
		return;
	}
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
	if (leader != mb->me)
		accept(mb, leader);
	else if (mb->ballot != mb->me + 1)
		propose(mb);
}

/**
 * spindle_mb_chosen() - is it certain that the accepted decree is the one?
 * @mb: membership
 *
 * All that are alive have accepted the same, or one of them is sure that they have. Asking
 * for all of them, and not for a majority, costs nothing: who does not answer is suspected.
 * It saves a round that tells the others, and who follows a leader has the decree already.
 *
 * Return: true if so
 */
bool spindle_mb_chosen(const struct spindle_mb *mb)
{
	u64 voters = spindle_mb_voters(mb);

	return spindle_mb_all_of(mb, voters, has_accepted) ||
	       spindle_mb_any_of(mb, voters, has_committed);
}
