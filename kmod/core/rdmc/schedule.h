/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Block schedules: which member sends which block of a large object to which one, and in which
 * step.
 *
 * An object of some blocks is at the root, rank 0, and has to get to all other members. In a step a
 * member sends at most one block and receives at most one; what it sends it has received in an
 * earlier step. Steps are not counted at run time. A member does its sends in the order of their
 * steps. Each goes as soon as the member has the block and the peer is ready for it. The member
 * makes ready for its receives in the order of their steps. All members derive their parts from one
 * schedule. So each block meets a member that waits for it, however late any member is.
 *
 * A walk goes through the sends or the receives of one member. It is a small value, and keeps its
 * position in counters. No table of the schedule exists anywhere.
 *
 *	sequential	the root sends all to 1, then all to 2, ...
 *	chain		each member sends on to the next what it gets
 *	tree		binomial tree; a member that has all of the object passes all of it on
 *	pipeline	binomial pipeline: hypercube in which each member sends and receives
 *			another block in every step, see schedule.c
 *	hybrid		a pipeline among the leaders of racks, then one inside each rack
 *
 * With n members and k blocks, steps are, where n > 1:
 *
 *	sequential	k * (n - 1)
 *	chain		k + n - 2
 *	tree		k * ceil(log2 n)
 *	pipeline	k + ceil(log2 n) - 1, which is optimal
 *	hybrid		as of a pipeline of all leaders, and then of the largest rack
 */
#ifndef SPINDLE_CORE_SCHEDULE_H
#define SPINDLE_CORE_SCHEDULE_H

#include <linux/spindle_genl.h>

#include "core/base/port.h"

/**
 * enum spindle_algorithm - how an object gets from the root to the others
 */
enum spindle_algorithm {
	/** @SPINDLE_ALG_PIPELINE: binomial pipeline */
	SPINDLE_ALG_PIPELINE,
	/** @SPINDLE_ALG_SEQUENTIAL: the root sends all of it to one after the other */
	SPINDLE_ALG_SEQUENTIAL,
	/** @SPINDLE_ALG_CHAIN: bucket brigade */
	SPINDLE_ALG_CHAIN,
	/** @SPINDLE_ALG_TREE: binomial tree of whole objects */
	SPINDLE_ALG_TREE,
	/** @SPINDLE_ALG_HYBRID: binomial pipeline between racks, then inside of them */
	SPINDLE_ALG_HYBRID,
};

/* Dimensions of the largest hypercube, and members that there may be. */
#define SPINDLE_CUBE_DIMS	12
#define SPINDLE_SCHEDULE_MAX	4096

/**
 * struct spindle_cube - a member's place in a binomial pipeline
 */
struct spindle_cube {
	/** @begin: step of the schedule at which it begins */
	u64 begin;
	/** @cross: steps in which blocks go from vertex to vertex */
	u64 cross;
	/** @steps: all of them: one more if there are vertices with two seats */
	u64 steps;
	/** @dims: dimensions of the hypercube */
	u32 dims;
	/** @vertex: own vertex; 0 is the root's */
	u32 vertex;
	/** @seat: own seat there, 0 or 1 */
	u8 seat;
	/** @shared: another member has the other seat */
	bool shared;
	/** @sends: this member has something to send */
	bool sends;
	/** @recvs: this member has something to receive */
	bool recvs;
	/** @mate: rank of the member in the other seat */
	u16 mate;
	/**
	 * @peer: ranks of the members in the seats of the neighbour in each dimension; the same
	 * twice if there is only one
	 */
	u16 peer[SPINDLE_CUBE_DIMS][2];
};

/**
 * struct spindle_schedule - a schedule, as one member sees it
 */
struct spindle_schedule {
	/** @algorithm: enum spindle_algorithm */
	u32 algorithm;
	/** @n: members; rank 0 is the root */
	u32 n;
	/** @rank: own */
	u32 rank;
	/** @blocks: of the object */
	u32 blocks;
	/** @steps: of the schedule */
	u64 steps;
	/** @first_recv: step of the first receive; not with pipelines */
	u64 first_recv;
	/** @first_send: step of the first send; not with pipelines */
	u64 first_send;
	/** @source: rank of the member that sends all blocks here; not with pipelines */
	u32 source;
	/** @target: rank of the member that gets the first send, @n: none; not with pipelines */
	u32 target;
	/** @cube: pipelines, of which the second one follows the first one; only hybrid has two */
	struct spindle_cube cube[2];
};

/**
 * struct spindle_hop - one block on its way, as one of its ends sees it
 */
struct spindle_hop {
	/** @step: step of the schedule */
	u64 step;
	/** @peer: rank of the other end */
	u32 peer;
	/** @block: number of the block */
	u32 block;
};

/**
 * struct spindle_walk - a position in the sends, or in the receives, of a member
 */
struct spindle_walk {
	/** @step: next step; in a pipeline counted from its begin */
	u64 step;
	/** @block: next block; not in pipelines */
	u32 block;
	/** @peer: rank that it goes to; not in pipelines */
	u32 peer;
	/** @level: pipeline, index of &spindle_schedule.cube */
	u8 level;
	/** @dim: dimension of the next step */
	u8 dim;
	/** @lap: parity of the number of whole laps through the dimensions */
	u8 lap;
	/** @turn: seat of the own vertex that receives from other vertices in the next step */
	u8 turn;
};

void spindle_schedule_init(struct spindle_schedule *s, u32 algorithm, u32 n, u32 rank,
			   u32 blocks, const u16 *rack);
u64 spindle_schedule_steps(const struct spindle_schedule *s);
u64 spindle_schedule_sources(const struct spindle_schedule *s);
u64 spindle_schedule_targets(const struct spindle_schedule *s);
void spindle_walk_begin(struct spindle_walk *w, const struct spindle_schedule *s);
bool spindle_walk_send(struct spindle_walk *w, const struct spindle_schedule *s,
		       struct spindle_hop *hop);
bool spindle_walk_recv(struct spindle_walk *w, const struct spindle_schedule *s,
		       struct spindle_hop *hop);

#endif /* SPINDLE_CORE_SCHEDULE_H */
