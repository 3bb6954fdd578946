/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Push: turn changes of the own row into writes to one member.
 *
 * A push of a subgroup is payload ranges, header ranges and last the block, in this
 * order on one queue pair: the block is the guard of what is before it. Whatever has
 * piled up since the last push goes as ranges, so that the number of writes does not
 * grow with the number of messages. A short message that is alone goes inside its guard
 * (express.h).
 *
 * Each member has its own position, because a member whose send queue is full gets a part now and
 * the rest later. The guard is pushed only when all that it vouches for has been pushed to that
 * member.
 *
 * Context: engine.
 */
#ifndef SPINDLE_CORE_PUSH_H
#define SPINDLE_CORE_PUSH_H

#include "port.h"

/*
 * Immediate data of a guard: index of the subgroup in the view, and the low bits of
 * the number of messages that it vouches for.
 */
#define SPINDLE_IMM_SHIFT	25
#define SPINDLE_IMM_SLOTS	((u32)BIT(SPINDLE_IMM_SHIFT) - 1)
#define SPINDLE_IMM_NODE	64U	/* index that stands for the node block */
#define SPINDLE_IMM_STATE	65U	/* for membership's state block: its count follows */

/* How a member is pushed. */
#define SPINDLE_PUSH_SPLIT	BIT(0) /* its device keeps order, so two guards may follow */
#define SPINDLE_PUSH_EXPRESS	BIT(1) /* the member looks for express messages */

/* Writes that one push of one subgroup makes at most. */
#define SPINDLE_PUSH_MAX	16

/*
 * Two extents are sent as one range if the gap between them, reserved and not used, is no longer
 * than this: a short gap costs less than another write. The engine zeroes the gap before, so that
 * no other node gets what was left there. Readers on the own node map the ring itself and see it.
 * The process may write to the gap after its commit, and those bytes are then on the wire.
 */
#define SPINDLE_PUSH_GAP	1024U

/* Longest payload range of one write, bytes: far below what devices take. */
#define SPINDLE_PUSH_RANGE	BIT(20)

/**
 * struct spindle_write - a one-sided write of a part of the own row
 */
struct spindle_write {
	/** @data: source in kernel memory, copied when it is posted; or NULL */
	const void *data;
	/** @local: offset in the own row, if @data is NULL */
	u64 local;
	/** @remote: offset in the member's copy of the own row */
	u64 remote;
	/** @len: bytes */
	u32 len;
	/** @guard: a block, or the guard of a row: makes what was posted before it visible */
	bool guard;
	/** @imm: immediate data of a guard */
	u32 imm;
	/**
	 * @place: out, or NULL: the place behind this write in the queue to the member, whose
	 * completion is wanted
	 */
	u64 *place;
};

struct spindle_mc;

bool spindle_push_wanted(const struct spindle_mc *mc, u32 rank);
bool spindle_push_pending(const struct spindle_mc *mc);
u32 spindle_push(struct spindle_mc *mc, u32 rank, u32 index, u32 how,
		 struct spindle_write *write, u32 max);

#endif /* SPINDLE_CORE_PUSH_H */
