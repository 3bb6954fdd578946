/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Link: the share that a group, or a stream of a subgroup, has in the lane to another member. A
 * link has grants to the node at the other end, each with a memory region of its own in the
 * lane's protection domain. With each block the other end returns the numbers of the link and of
 * the grant.
 *
 * Owner: the group or the stream, which has a link for each rank. The ctx of its struct
 * spindle_rdmc points to the array of links.
 */
#ifndef SPINDLE_BULK_LINK_H
#define SPINDLE_BULK_LINK_H

#include "base/net.h"
#include "core/rdmc/rdmc.h"

struct spindle_lane;
struct spindle_rdmc_group;

/**
 * struct spindle_link - share in a lane
 */
struct spindle_link {
	/** @r: state of the group or stream */
	struct spindle_rdmc *r;
	/** @group: the group; NULL: the link belongs to a stream */
	struct spindle_rdmc_group *group;
	/**
	 * @chore: chore of the owner, for work with the namespace's lock when the lane has come up
	 */
	struct spindle_chore *chore;
	/** @m: rank of the other end */
	u32 m;
	/** @lane: the lane, a reference */
	struct spindle_lane *lane;
	/** @index: number of the link in the lane */
	u32 index;
	/** @ready: the regions are allocated; engine */
	bool ready;
	/**
	 * @again: @lane broke so early that nothing was lost, and the link moves to another lane;
	 * engine, until @lane is closed
	 */
	bool again;
	/** @said: number of the last message by the lane */
	u32 said;
	/** @turn: of each grant: how often it was given */
	u16 turn[SPINDLE_RDMC_GRANTS];
	/** @mr: of each grant: its region; the namespace's lock */
	struct ib_mr *mr[SPINDLE_RDMC_GRANTS];
};

/**
 * spindle_link_to() - the link to a member
 * @r: group or stream
 * @m: rank
 *
 * Return: the link
 */
static inline struct spindle_link *spindle_link_to(const struct spindle_rdmc *r, u32 m)
{
	return (struct spindle_link *)r->ctx + m;
}

int spindle_link_prepare(struct spindle_link *link, bool source);
bool spindle_link_due(const struct spindle_link *link);

/* struct spindle_rdmc_ops; engine context */
bool spindle_link_room(struct spindle_rdmc *r, u32 m);
void spindle_link_say(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg);
void spindle_link_grant(struct spindle_rdmc *r, u32 m, u32 g, void *mem, u32 block, u32 len,
			struct spindle_rdmc_msg *msg);
void spindle_link_revoke(struct spindle_rdmc *r, u32 m, u32 g);
void spindle_link_write(struct spindle_rdmc *r, u32 m, u64 object, void *mem, u32 block, u32 len,
			const struct spindle_rdmc_grant *grant);
bool spindle_link_flushed(struct spindle_rdmc *r, u32 m);

#endif /* SPINDLE_BULK_LINK_H */
