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
 * spindle_mb_same_decree() - is a decree the one in a member's row?
 * @mb: membership
 * @p: the member
 * @word: the decree
 *
 * A digest tells the decrees of correct members apart. A liar can make two decrees with one digest.
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
 * Does a member's own row show that it follows a decree? In the next view, the digest in its row is
 * that of the decree that created the view, until the member accepts another one.
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

/* Do all other voters follow the decree? */
static bool all_stand_by(const struct spindle_mb *mb, u64 digest, const u64 *word)
{
	u64 mask;

	for (mask = spindle_mb_voters(mb) & ~BIT_ULL(mb->me); mask; mask &= mask - 1)
		if (!stands_by(mb, &mb->peer[__ffs64(mask)], digest, word))
			return false;
	return true;
}

/**
 * spindle_mb_read_decree() - copy the decree in a member's row to @mb->seen
 * @mb: membership
 * @p: the member
 *
 * Return: true if the decree is complete and could be one of this view
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
 * spindle_mb_adopt() - show the decree in @mb->seen in the own row from now on
 * @mb: membership
 * @digest: its digest
 */
void spindle_mb_adopt(struct spindle_mb *mb, u64 digest)
{
	memcpy(spindle_mb_own_decree(mb), mb->seen,
	       spindle_mb_decree_words(mb->trims) * sizeof(u64));
	mb->digest = digest;
}

/*
 * The least that a subgroup's members that are alive have of a sender; U64_MAX if there are none.
 */
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

/* The trim: of each sender, what all members that are alive have received. */
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

/* Have all members that are alive received what the trim delivers? */
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
 * Return: true if there is such a view
 */
bool spindle_mb_leads_on(struct spindle_mb *mb, const u64 *word)
{
	struct spindle_view *next = &mb->view[!mb->now];

	spindle_decree_apply(word, spindle_mb_view(mb), next);
	if (mb->ops->layout(mb->ctx, word[SPINDLE_DECREE_RULES], spindle_mb_view(mb), next))
		return false;
	spindle_decree_count(word, spindle_mb_view(mb), next);
	/* The decree that will end the next view has to fit, too. */
	return spindle_decree_trims(next) <= mb->trims;
}

/*
 * Are the survivors enough to let a node in? A joiner believes a majority of the view that its
 * contact gave it. The joiner does not know which of those members leave, so leavers count here,
 * too.
 */
static bool lets_in(const struct spindle_mb *mb, const u64 *word)
{
	return mb->any || 2 * hweight64(word[SPINDLE_DECREE_SURVIVORS]) >
			      spindle_mb_view(mb)->num_members;
}

/* Has a decree room for the node with this id, which a peer may have written? */
static bool may_add(const struct spindle_mb *mb, const u64 *word, u64 id)
{
	return id && id <= U32_MAX && word[SPINDLE_DECREE_NUM_JOINS] < mb->joins &&
	       lets_in(mb, word);
}

/* Leave out a joiner that the rules have no place for, so that it does not block the others. */
static void add_join(struct spindle_mb *mb, u64 *word, u64 id, u64 incarnation)
{
	struct spindle_view_member who = { .id = id };

	/* A wish may name anything, but only a connected node can become a member. */
	if (!may_add(mb, word, id) || !mb->ops->guest(mb->ctx, id, incarnation, &who.addr) ||
	    !spindle_decree_add(word, &who, incarnation))
		return;
	/* A guest may also have the id or the address of a member, or of another guest. */
	if (!spindle_decree_check(word, spindle_mb_view(mb)) || !spindle_mb_leads_on(mb, word))
		spindle_decree_drop(word);
}

/* Let in the nodes that are ready as this node sees it, because a member wishes for one only. */
static void add_ready(struct spindle_mb *mb, u64 *word)
{
	u32 seat = 0, id;
	u64 incarnation;

	while (word[SPINDLE_DECREE_NUM_JOINS] < mb->joins &&
	       mb->ops->ready(mb->ctx, &seat, &id, &incarnation)) {
		add_join(mb, word, id, incarnation);
		seat++;
	}
}

/*
 * The rules that all voters offer, as their rows show now. A member freezes its offer when it
 * wedges, and its offer is ahead of its fence. So the offers of members that are ready are those
 * that they will judge the decree by.
 */
static u64 agreed_rules(const struct spindle_mb *mb)
{
	u64 mask = spindle_mb_voters(mb) & ~BIT_ULL(mb->me);

	for (; mask && mb->rules; mask &= mask - 1) {
		const struct spindle_mb_row *row = mb->peer[__ffs64(mask)].row;
		u64 word[SPINDLE_BLOCK_WORDS], seal = 0;

		if (spindle_block_read(&row->beat, &seal, word) != SPINDLE_READ_NEW ||
		    (word[SPINDLE_MB_COL_RULES] & ~SPINDLE_MB_WANTS) != mb->rules)
			return 0;
	}
	return mb->rules;
}

/* Let in the nodes that members wish for, and then others that are ready. */
static void add_joins(struct spindle_mb *mb, u64 *word)
{
	u64 mask;

	for (mask = spindle_mb_voters(mb); mask; mask &= mask - 1) {
		u32 r = __ffs64(mask);

		if (r == mb->me)
			add_join(mb, word, mb->wish, mb->wish_inc);
		else
			add_join(mb, word, mb->peer[r].wish, mb->peer[r].wish_inc);
	}
	add_ready(mb, word);
}

/*
 * The members of the next view as this node proposes it: all voters, and joiners. If the rules
 * change, joiners wait for the next view, because they have the old ones.
 */
static void compose_members(struct spindle_mb *mb, u64 *word)
{
	memset(word, 0, spindle_mb_decree_words(mb->trims) * sizeof(u64));
	word[SPINDLE_DECREE_VID] = spindle_mb_view(mb)->vid;
	word[SPINDLE_DECREE_SURVIVORS] = spindle_mb_voters(mb);
	word[SPINDLE_DECREE_RULES] = agreed_rules(mb);
	if (!word[SPINDLE_DECREE_RULES])
		add_joins(mb, word);
}

static bool leads(const struct spindle_mb *mb)
{
	u64 mask = spindle_mb_voters(mb);

	return mask && __ffs64(mask) == mb->me;
}

/**
 * spindle_mb_rules_due() - do all members offer the same rules?
 * @mb: membership
 *
 * Only the leader answers this.
 *
 * Return: true if so
 */
bool spindle_mb_rules_due(struct spindle_mb *mb)
{
	return mb->rules && leads(mb) && agreed_rules(mb);
}

/**
 * spindle_mb_join_due() - does a node want to join, and may it?
 * @mb: membership
 *
 * Only the leader answers this. While the rules have no place for a joiner, the view does not
 * change. A change that has room for more nodes waits for those that are about to be ready.
 *
 * Return: true if so
 */
bool spindle_mb_join_due(struct spindle_mb *mb)
{
	if (!leads(mb))
		return false;
	compose_members(mb, mb->seen);
	return mb->seen[SPINDLE_DECREE_NUM_JOINS] >= (mb->hold ? mb->joins : 1);
}

/*
 * Do all voters, as this member sees them, survive by the decree? They do by the decree of a
 * correct leader: before it proposed, all members that are alive had shown that they suspect the
 * same members (is_ready()) and had seen the same fences.
 */
static bool counts_all(const struct spindle_mb *mb, const u64 *word)
{
	return !(spindle_mb_voters(mb) & ~word[SPINDLE_DECREE_SURVIVORS]);
}

/*
 * Can this member follow a decree to the next view? The answer to whether there is a place for the
 * joiners follows from the view and the decree alone, so all members come to the same one. A member
 * that leaves does not need the rules.
 */
static bool next_fits(struct spindle_mb *mb, const u64 *word)
{
	u64 rules = word[SPINDLE_DECREE_RULES], joins = word[SPINDLE_DECREE_NUM_JOINS];

	if (rules && rules != mb->rules)
		return mb->leaving;
	if (!joins)
		return true;
	return joins <= mb->joins && lets_in(mb, word) && spindle_mb_leads_on(mb, word);
}

/*
 * May the leader adopt a decree? The others suspect the leader if they cannot accept it, see
 * accept().
 */
static bool is_sound(struct spindle_mb *mb, const u64 *word)
{
	return counts_all(mb, word) && next_fits(mb, word) &&
	       trim_is_there(mb, word + SPINDLE_DECREE_HEAD);
}

/*
 * Adopt the decree that a voter has accepted in this ballot. Returns 1 if there is one, 0 if not,
 * and -EAGAIN if one has not arrived completely. An unsound decree is skipped, and the member that
 * shows it is not suspected, because a leader may have lied to that member.
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
 * The leader proposes once. All members that are alive have promised to follow no leader before it
 * (is_ready()). If one of them has accepted a decree of an earlier leader, that decree may have
 * been chosen, so the leader has to adopt it.
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

/* Has this node received all that the trim delivers, in its own subgroups? */
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

/* Can this node follow the decree in @mb->seen, which does not come from its leader? */
static bool can_follow(struct spindle_mb *mb)
{
	return counts_all(mb, mb->seen) && next_fits(mb, mb->seen) &&
	       trim_is_here(mb, mb->seen + SPINDLE_DECREE_HEAD);
}

static u32 leader_of(const struct spindle_mb *mb)
{
	u64 mask = spindle_mb_voters(mb);

	return mask ? __ffs64(mask) : mb->me;
}

/**
 * spindle_mb_learn() - learn the decree from a member that is in the next view already
 * @mb: membership
 *
 * A member that is already in the next view saw every one of us accept the decree that created it,
 * or has gone on without us. This node accepts the decree that such a member shows, in place of the
 * leader's, and then waits for the others as always.
 *
 * Return: true if this node has accepted a decree or stopped, so that the pass is over
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
		/*
		 * The others will take the decree for our own as the leader, also in subgroups
		 * without us.
		 */
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
 * Was the decree that this node has learned a lie? So it seems if the member that showed it is
 * suspected, and no other member that is alive shows it. The lie must not keep this node from the
 * leader's decree for ever. This node may safely follow the leader: if the learned decree was
 * chosen, a majority had accepted it before it was learned. That majority does not follow the
 * leader, so nothing is chosen twice.
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
	/*
	 * A leaver may have shown its flag to the leader alone: the leader is not to blame for
	 * that.
	 */
	if (!counts_all(mb, mb->seen))
		return;
	if (!next_fits(mb, mb->seen) || !trim_is_here(mb, mb->seen + SPINDLE_DECREE_HEAD)) {
		spindle_mb_suspect(mb, leader, SPINDLE_MB_LIED);
		return;
	}
	spindle_mb_adopt(mb, p->digest);
	mb->ballot = p->ballot;
	mb->learned = 0;
	spindle_mb_transition(mb, SPINDLE_MB_ECHOED);
}

/*
 * A leaving node may have missed the decree of a leader that is gone. The members that have
 * accepted the decree go on, and write nothing more to this node. A decree that all of them show is
 * chosen.
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
 * spindle_mb_vote() - propose a decree as the leader, or accept the leader's decree
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
 * spindle_mb_chosen() - is it certain that the accepted decree is chosen?
 * @mb: membership
 *
 * The decree is chosen when the row of each member that is alive shows that the member follows it.
 * Asking for all of them, and not for a majority, costs nothing, because a member that does not
 * answer is suspected. This saves a round that tells the others, because a member that follows a
 * leader has the decree already. No member has to be believed about what another one has accepted.
 *
 * Return: true if so
 */
bool spindle_mb_chosen(const struct spindle_mb *mb)
{
	return all_stand_by(mb, mb->digest, spindle_mb_own_decree(mb));
}
