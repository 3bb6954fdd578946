// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suspicion: what the other members show, which of them are silent, and whether a silent member or
 * this node is at fault. See membership.h.
 *
 * Context: engine, all of it.
 */
#include "core/base/push.h"
#include "member.h"

/*
 * A member counts as heard if its heartbeat moved in the last so many intervals. A member is
 * suspected only if it was silent for the timeout.
 */
#define HEARD_LATELY 4

/*
 * Has a member accepted a decree that leaves out this node, which wants to leave? The member may be
 * in the next view, where it writes nothing to this node. The members that are there with it notice
 * if it dies. This node must not accuse it to members that are still on their way.
 */
static bool goes_on_without_us(struct spindle_mb *mb, const struct spindle_mb_peer *p)
{
	return mb->leaving && (p->ballot || p->vid > spindle_mb_view(mb)->vid) &&
	       spindle_mb_read_decree(mb, p) &&
	       !(mb->seen[SPINDLE_DECREE_SURVIVORS] & BIT_ULL(mb->me));
}

/*
 * Does the accusation wait for the next view, because that view is decided and this node still
 * delivers the last one? Members that are in the next view already cannot see a suspicion of the
 * last one. A suspect that is there would miss the heartbeats of this node, and would have this
 * node evicted. A member that has gone or lied is accused at once.
 */
static bool accused_later(const struct spindle_mb *mb, enum spindle_mb_reason reason)
{
	return mb->state == SPINDLE_MB_COMMITTED &&
	       (reason == SPINDLE_MB_ADMIN || reason == SPINDLE_MB_GOSSIP);
}

static void accuse(struct spindle_mb *mb, u64 mask)
{
	mb->doubted &= ~mask;
	mb->suspected |= mask;
	mb->uncut |= mask;
}

/**
 * spindle_mb_suspect() - stop waiting for a member
 * @mb: membership
 * @rank: the member; suspicion is for ever, and the others see it
 * @reason: why. Silence and a broken connection may be the fault of either end: such a suspicion is
 *	held back until this node knows that it hears the others, see resolve(). A member that has
 *	closed the connection is not lost, but may be silent. A leaving node does not suspect a
 *	member that goes on without it of either
 */
void spindle_mb_suspect(struct spindle_mb *mb, u32 rank, enum spindle_mb_reason reason)
{
	bool silent = reason == SPINDLE_MB_SILENT || reason == SPINDLE_MB_LOST;
	u64 bit = BIT_ULL(rank);

	if (rank == mb->me || mb->suspected & bit || mb->state == SPINDLE_MB_STOPPED ||
	    (reason == SPINDLE_MB_LOST && mb->closed & bit) ||
	    (silent && goes_on_without_us(mb, &mb->peer[rank])))
		return;
	if (!(mb->doubted & bit)) {
		mb->peer[rank].reason = reason;
		mb->peer[rank].doubted_at = mb->ran_at;
	}
	if (silent)
		mb->doubted |= bit;
	else if (accused_later(mb, reason))
		mb->later |= bit;
	else
		accuse(mb, bit);
}

static bool believable(const struct spindle_mb *mb, const struct spindle_mb_peer *p,
		       const u64 word[SPINDLE_BLOCK_WORDS])
{
	u64 phase = word[SPINDLE_MB_COL_PHASE];
	u64 ballot = (phase >> SPINDLE_MB_PHASE_BALLOT) & 0xff;
	u64 state = phase & SPINDLE_MB_PHASE_STATE;

	if (word[SPINDLE_MB_COL_VID] < p->vid || state > SPINDLE_MB_STOPPED)
		return false;
	/* Ranks of another view mean nothing here. */
	if (word[SPINDLE_MB_COL_VID] != spindle_mb_view(mb)->vid)
		return true;
	if (word[SPINDLE_MB_COL_SUSPECTED] & ~spindle_mb_everybody(mb) ||
	    ballot > spindle_mb_view(mb)->num_members)
		return false;
	return word[SPINDLE_MB_COL_VID] > p->vid ||
	       (!(p->suspected & ~word[SPINDLE_MB_COL_SUSPECTED]) && state >= p->phase &&
		ballot >= p->ballot);
}

static void gossip(struct spindle_mb *mb, const struct spindle_mb_peer *p)
{
	u64 news = p->suspected & ~mb->suspected;

	if (news & BIT_ULL(mb->me)) {
		spindle_mb_stop(mb, SPINDLE_MB_EVICTED);
		return;
	}
	for (; news; news &= news - 1)
		spindle_mb_suspect(mb, __ffs64(news), SPINDLE_MB_GOSSIP);
}

/*
 * Does a completion vouch for the state block? The block may be a fence, behind which no messages
 * come. If memory may show the block before them, the block has to wait for its completion, which
 * comes behind theirs.
 */
static bool vouched(const struct spindle_mb_peer *p, u64 phase)
{
	u32 count = phase >> SPINDLE_MB_PHASE_COUNT;

	/* Pairs with the release where completions are taken: the writes before it are visible. */
	return !p->vouch || ((smp_load_acquire(p->vouch) - count) & SPINDLE_IMM_SLOTS) <=
			    SPINDLE_IMM_SLOTS / 2;
}

static bool read_state(struct spindle_mb *mb, u32 r)
{
	struct spindle_mb_peer *p = &mb->peer[r];
	u64 word[SPINDLE_BLOCK_WORDS], seal = p->state_seal;

	if (spindle_block_read(&p->row->state, &seal, word) != SPINDLE_READ_NEW ||
	    !vouched(p, word[SPINDLE_MB_COL_PHASE]))
		return false;
	p->state_seal = seal;
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
	/* A member that has stopped says so in any view. Its suspicions do not count. */
	if (p->phase == SPINDLE_MB_STOPPED)
		spindle_mb_suspect(mb, r, SPINDLE_MB_GONE);
	else if (p->vid == spindle_mb_view(mb)->vid)
		gossip(mb, p);
	return true;
}

static void read_beat(struct spindle_mb *mb, u32 r, u64 now)
{
	struct spindle_mb_peer *p = &mb->peer[r];
	u64 word[SPINDLE_BLOCK_WORDS];

	if (spindle_block_read(&p->row->beat, &p->beat_seal, word) != SPINDLE_READ_NEW)
		return;
	p->heard = now;
	/*
	 * The heartbeat came at some time after the last pass: long ago, if this node was kept from
	 * running.
	 */
	p->proof = mb->ran_at;
	p->wish = word[SPINDLE_MB_COL_WISH];
	p->wish_inc = word[SPINDLE_MB_COL_WISH_INC];
	p->offer = word[SPINDLE_MB_COL_RULES];
	mb->offered |= p->offer;
}

/**
 * spindle_mb_closed() - a member has closed the connection, on purpose
 * @mb: membership
 * @rank: the member
 *
 * The member suspects this node, or it would have shown that it has stopped. Suspicion is for ever,
 * so one of the two has to go. If this node accused the member in turn, the others would believe
 * the accusation that they see first. So this node waits for a timeout from now. If the others
 * believe the member, they close their connections, too. If they do not, the member stays silent
 * and is suspected for that.
 */
void spindle_mb_closed(struct spindle_mb *mb, u32 rank)
{
	struct spindle_mb_peer *p = &mb->peer[rank];
	u64 bit = BIT_ULL(rank);

	if ((mb->suspected | mb->closed) & bit || mb->state == SPINDLE_MB_STOPPED)
		return;
	if (mb->state == SPINDLE_MB_JOINING) {
		spindle_mb_suspect(mb, rank, SPINDLE_MB_LOST);
		return;
	}
	/* The last state that the member showed before it closed may be unread. */
	read_state(mb, rank);
	if (mb->suspected & bit || mb->state == SPINDLE_MB_STOPPED || goes_on_without_us(mb, p))
		return;
	mb->closed |= bit;
	mb->doubted &= ~bit;
	p->heard = mb->ran_at;
	if (!spindle_mb_quorum(mb, spindle_mb_alive(mb) & ~mb->closed))
		spindle_mb_stop(mb, SPINDLE_MB_EVICTED);
}

static u64 silence(const struct spindle_mb_peer *p, u64 now)
{
	return now > p->heard ? now - p->heard : 0;
}

/*
 * Do joiners still wait for the others? A joiner goes on when a majority of the members of the last
 * view show this view. A member that still delivers the last view, to a slow reader, does not show
 * this one. If such a majority is impossible by now, the joiners do not count as waiting.
 */
static bool joiners_wait(const struct spindle_mb *mb)
{
	u64 old = spindle_mb_alive(mb) & ~mb->doubted & ~mb->came, mask;
	u32 shown = 0;

	for (mask = old; mask; mask &= mask - 1) {
		u32 r = __ffs64(mask);

		shown += r == mb->me || mb->peer[r].vid >= spindle_mb_view(mb)->vid;
	}
	return shown < mb->most && hweight64(old) >= mb->most;
}

/*
 * Of a joiner that has heard one of the older members: the others of them that it has not heard
 * yet. Such a member beats for this node only when it has installed this view, which its slow
 * readers may hold up. The member that was heard has watched it since the view before, and shows
 * when it dies.
 */
static u64 left_to_others(const struct spindle_mb *mb)
{
	u64 old = spindle_mb_alive(mb) & ~mb->doubted & ~mb->came, unheard = 0, mask;

	if (!(mb->came & BIT_ULL(mb->me)))
		return 0;
	for (mask = old; mask; mask &= mask - 1)
		if (!mb->peer[__ffs64(mask)].beat_seal)
			unheard |= mask & -mask;
	return unheard == old ? 0 : unheard;
}

/*
 * Suspect silent members. A node that was paused has heard no member, which is no member's fault.
 */
static void listen(struct spindle_mb *mb, u64 now)
{
	bool paused = now - mb->ran_at > mb->timeout / 2;
	u64 waits = mb->came && joiners_wait(mb) ? mb->came : 0;
	u64 others = left_to_others(mb);
	u32 r;

	for (r = 0; r < spindle_mb_view(mb)->num_members; r++) {
		struct spindle_mb_peer *p = &mb->peer[r];

		if (paused || (waits & BIT_ULL(r)))
			p->heard = max(p->heard, now);
		/* Start the wait again: if no other older member is left, it counts from here. */
		if (others & BIT_ULL(r))
			p->heard = now + SPINDLE_MB_JOINER_WAITS * mb->timeout;
		if (silence(p, now) > mb->timeout)
			spindle_mb_suspect(mb, r, SPINDLE_MB_SILENT);
	}
}

/* The members of @mask whose heartbeat has moved since @since, and this node. */
static u64 heard_since(const struct spindle_mb *mb, u64 mask, u64 since)
{
	u64 heard = BIT_ULL(mb->me);

	for (mask &= ~heard; mask; mask &= mask - 1) {
		const struct spindle_mb_peer *p = &mb->peer[__ffs64(mask)];

		if (p->beat_seal && p->proof > since)
			heard |= mask & -mask;
	}
	return heard;
}

/* The members of @mask that go on without this node, which leaves. */
static u64 gone_on(struct spindle_mb *mb, u64 mask)
{
	u64 gone = 0;

	for (mask &= ~BIT_ULL(mb->me); mask; mask &= mask - 1)
		if (goes_on_without_us(mb, &mb->peer[__ffs64(mask)]))
			gone |= mask & -mask;
	return gone;
}

/*
 * Which side is at fault if members are silent? A node that hears a majority accuses the silent
 * ones. A node that does not is about to lose all others, one after the other, and must not accuse
 * them one by one. So it waits, and in the end it stops without having accused any member.
 *
 * A member counts as heard only if its heartbeat moved lately. Forgiving its silence after a pause
 * does not count as hearing it. After a broken connection, heartbeats have to have moved since the
 * break, because a node that has just become deaf has heard all members lately.
 *
 * Members that go on without a leaver write nothing more to it. If the leaver needs them for a
 * majority, it cannot tell whether it is deaf. It stops at once, because the members that go on
 * watch the silent one.
 */
static void resolve(struct spindle_mb *mb, u64 now)
{
	u64 lately = now - min(now, HEARD_LATELY * mb->interval);
	u64 left = spindle_mb_alive(mb) & ~mb->doubted, mask;
	bool goes_on = spindle_mb_quorum(mb, left);

	for (mask = mb->doubted; mask; mask &= mask - 1) {
		const struct spindle_mb_peer *p = &mb->peer[__ffs64(mask)];
		u64 since = p->reason == SPINDLE_MB_LOST ? max(p->doubted_at, lately) : lately;
		u64 heard = heard_since(mb, left, since);

		if (spindle_mb_quorum(mb, heard))
			accuse(mb, mask & -mask);
		else if (spindle_mb_quorum(mb, heard | gone_on(mb, left)))
			goes_on = false;
	}
	if (!goes_on && mb->state < SPINDLE_MB_COMMITTED)
		spindle_mb_stop(mb, SPINDLE_MB_MINORITY);
}

/**
 * spindle_mb_hear() - read what the members show, and suspect the silent ones
 * @mb: membership
 * @now: the clock
 *
 * Return: true if there was something new
 */
bool spindle_mb_hear(struct spindle_mb *mb, u64 now)
{
	bool news = false;
	u32 r;

	for (r = 0; r < spindle_mb_view(mb)->num_members; r++) {
		if (r == mb->me || mb->suspected & BIT_ULL(r))
			continue;
		read_beat(mb, r, now);
		news |= read_state(mb, r);
	}
	listen(mb, now);
	resolve(mb, now);
	/* A node that stops cuts no member off, because it is most likely at fault itself. */
	for (; mb->uncut && mb->state != SPINDLE_MB_STOPPED; mb->uncut &= mb->uncut - 1)
		mb->ops->cut(mb->ctx, __ffs64(mb->uncut));
	return news;
}
