/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of membership share. Private to membership.c, suspect.c, agree.c and
 * show.c; see membership.h.
 */
#ifndef SPINDLE_CORE_MEMBER_H
#define SPINDLE_CORE_MEMBER_H

#include "membership.h"

/*
 * Timeouts that a joiner waits for the first heartbeat of a member, because slow readers may keep
 * the member from installing the view. The older members get its heartbeats all the time, so they
 * notice sooner if it died.
 */
#define SPINDLE_MB_JOINER_WAITS 4

static inline u64 spindle_mb_everybody(const struct spindle_mb *mb)
{
	return ~0ULL >> (64 - spindle_mb_view(mb)->num_members);
}

/* Members that no member is known to suspect; this node is among them. */
static inline u64 spindle_mb_alive(const struct spindle_mb *mb)
{
	return spindle_mb_everybody(mb) & ~mb->suspected;
}

/*
 * Members that will leave, and that have accepted nothing and never will in this view. The flag and
 * the ballot are in one block: a member that sees the flag also sees a vote that came before it. So
 * no member ever counts a vote of a leaver.
 */
static inline u64 spindle_mb_leavers(const struct spindle_mb *mb)
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

/* Members that vote. */
static inline u64 spindle_mb_voters(const struct spindle_mb *mb)
{
	return spindle_mb_alive(mb) & ~spindle_mb_leavers(mb);
}

/* Any two quorums of one view have a member in common, unless @mb->any waives that. */
static inline bool spindle_mb_quorum(const struct spindle_mb *mb, u64 mask)
{
	u64 all = spindle_mb_everybody(mb) & ~spindle_mb_leavers(mb);

	return mb->any ? mask & all : 2 * hweight64(mask & all) > hweight64(all);
}

/* A test of what a member has shown. */
typedef bool (*spindle_mb_test)(const struct spindle_mb *mb, const struct spindle_mb_peer *p);

/* Have all other members of a set shown in this view that the test is true of them? */
static inline bool spindle_mb_all_of(const struct spindle_mb *mb, u64 mask,
				     spindle_mb_test is)
{
	for (mask &= ~BIT_ULL(mb->me); mask; mask &= mask - 1) {
		const struct spindle_mb_peer *p = &mb->peer[__ffs64(mask)];

		if (p->vid != spindle_mb_view(mb)->vid || !is(mb, p))
			return false;
	}
	return true;
}

/* Has any other member of a set shown in this view that the test is true of it? */
static inline bool spindle_mb_any_of(const struct spindle_mb *mb, u64 mask,
				     spindle_mb_test is)
{
	for (mask &= ~BIT_ULL(mb->me); mask; mask &= mask - 1) {
		const struct spindle_mb_peer *p = &mb->peer[__ffs64(mask)];

		if (p->vid == spindle_mb_view(mb)->vid && is(mb, p))
			return true;
	}
	return false;
}

/* membership.c */
void spindle_mb_transition(struct spindle_mb *mb, enum spindle_mb_state to);

/* suspect.c */
bool spindle_mb_hear(struct spindle_mb *mb, u64 now);

/* agree.c */
bool spindle_mb_read_decree(struct spindle_mb *mb, const struct spindle_mb_peer *p);
bool spindle_mb_same_decree(const struct spindle_mb *mb, const struct spindle_mb_peer *p,
			    const u64 *word);
void spindle_mb_adopt(struct spindle_mb *mb, u64 digest);
bool spindle_mb_leads_on(struct spindle_mb *mb, const u64 *word);
bool spindle_mb_join_due(struct spindle_mb *mb);
bool spindle_mb_rules_due(struct spindle_mb *mb);
bool spindle_mb_learn(struct spindle_mb *mb);
void spindle_mb_vote(struct spindle_mb *mb);
bool spindle_mb_chosen(const struct spindle_mb *mb);

/* show.c */
bool spindle_mb_leavers_told(const struct spindle_mb *mb);

#endif /* SPINDLE_CORE_MEMBER_H */
