/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the parts of membership share. Private to membership.c, suspect.c, agree.c and
 * show.c; see membership.h.
 */
#ifndef SPINDLE_CORE_MEMBER_H
#define SPINDLE_CORE_MEMBER_H

#include "membership.h"

/*
 * Timeouts that a joiner gives a member before the first heartbeat: it may not have installed
 * the view yet, for its readers' sake. The others, whom it beats for, notice sooner if it died.
 */
#define SPINDLE_MB_JOINER_WAITS 4

static inline u64 spindle_mb_everybody(const struct spindle_mb *mb)
{
	return ~0ULL >> (64 - spindle_mb_view(mb)->num_members);
}

/* Members that nobody is known to suspect; this one is among them. */
static inline u64 spindle_mb_alive(const struct spindle_mb *mb)
{
	return spindle_mb_everybody(mb) & ~mb->suspected;
}

/*
 * Members that will leave, and that have accepted nothing and never will in this view. Who
 * sees the flag sees in the same block what was accepted before it: no vote of theirs can
 * be among those that anybody counts.
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

/* Members that decide. */
static inline u64 spindle_mb_voters(const struct spindle_mb *mb)
{
	return spindle_mb_alive(mb) & ~spindle_mb_leavers(mb);
}

/* Any two such sets of one view have a member in common, unless that is not asked for. */
static inline bool spindle_mb_quorum(const struct spindle_mb *mb, u64 mask)
{
	u64 all = spindle_mb_everybody(mb) & ~spindle_mb_leavers(mb);

	return mb->any ? mask & all : 2 * hweight64(mask & all) > hweight64(all);
}

/* Something that a member has shown. */
typedef bool (*spindle_mb_test)(const struct spindle_mb *mb, const struct spindle_mb_peer *p);

/* Is this so of all members of a set, as far as they have shown it? */
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

/* Has any member of a set shown that it is so of it? */
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
bool spindle_mb_learn(struct spindle_mb *mb);
void spindle_mb_vote(struct spindle_mb *mb);
bool spindle_mb_chosen(const struct spindle_mb *mb);

/* show.c */
bool spindle_mb_leavers_told(const struct spindle_mb *mb);

#endif /* SPINDLE_CORE_MEMBER_H */
