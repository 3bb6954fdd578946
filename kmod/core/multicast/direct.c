// SPDX-License-Identifier: GPL-2.0-only
/*
 * Direct: messages for some of the members. See multicast.h.
 *
 * A process names the members by their ranks in a view that it knows, which may be an earlier one.
 * A header names them by their ranks in the present view. So each subgroup keeps, for its last
 * views, the ranks that their members have now.
 *
 * Context: engine, all of it.
 */
#include "stage.h"

/**
 * spindle_mc_renumber() - note which ranks the members of earlier views have
 * @mc: begun
 * @old: the same subgroup in the view before
 * @was: rank in @old of each member of @mc, or SPINDLE_NO_RANK
 */
void spindle_mc_renumber(struct spindle_mc *mc, const struct spindle_mc *old, const u32 *was)
{
	u8 now[SPINDLE_MAX_MEMBERS];
	u32 i, r;

	memset(now, SPINDLE_NO_MEMBER, sizeof(now));
	for (r = 0; r < mc->members; r++)
		if (was[r] != SPINDLE_NO_RANK)
			now[was[r]] = r;
	mc->former[0].vid = old->vid;
	mc->former[0].members = old->members;
	memcpy(mc->former[0].now, now, sizeof(now));
	for (i = 1; i < SPINDLE_FORMER_VIEWS; i++) {
		const struct spindle_mc_former *from = &old->former[i - 1];
		struct spindle_mc_former *to = &mc->former[i];

		to->vid = from->vid;
		to->members = from->members;
		for (r = 0; r < from->members; r++)
			to->now[r] = from->now[r] == SPINDLE_NO_MEMBER ? SPINDLE_NO_MEMBER :
				     now[from->now[r]];
	}
}

static bool all_known(u64 mask, u32 members)
{
	return !(mask & ~(U64_MAX >> (64 - members)));
}

/* The id of the latest view that ends in these 16 bits; 0: there was none. */
static u64 full_vid(const struct spindle_mc *mc, u16 vid)
{
	u16 back = (u16)mc->latest - vid;

	return back < mc->latest ? mc->latest - back : 0;
}

static u64 present_ranks(u64 mask, const struct spindle_mc_former *former)
{
	u64 now = 0;

	for (; mask; mask &= mask - 1) {
		u8 r = former->now[__ffs64(mask)];

		if (r != SPINDLE_NO_MEMBER)
			now |= BIT_ULL(r);
	}
	return now;
}

/**
 * spindle_mc_direct() - convert the destinations of a message to ranks in the present view
 * @mc: the subgroup
 * @mask: in: ranks in the view @vid, not 0; out: present ranks. 0: no destination is a member any
 *	more
 * @vid: the last 16 bits of the id of that view
 *
 * A view that is forgotten is an error. Otherwise a message could reach a member that the process
 * has not named, or miss one that it has. A view that is 2^16 views back is taken for another one.
 *
 * Return: false if the mask names a rank that the view did not have, if the view is forgotten, or
 *	if the subgroup has logs: each of them has all messages
 */
bool spindle_mc_direct(const struct spindle_mc *mc, u64 *mask, u16 vid)
{
	u64 named = full_vid(mc, vid);
	u32 i;

	if (mc->durable)
		return false;
	/* The subgroup may have stayed as it was in all views since its own one. */
	if (named >= mc->vid)
		return all_known(*mask, mc->members);
	for (i = 0; i < SPINDLE_FORMER_VIEWS && mc->former[i].vid; i++) {
		if (named < mc->former[i].vid)
			continue;
		if (!all_known(*mask, mc->former[i].members))
			return false;
		*mask = present_ranks(*mask, &mc->former[i]);
		return true;
	}
	return false;
}
