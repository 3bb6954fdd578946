/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Raw: the speed of the device itself, for comparison with the protocol. Writes go into the payload
 * ring by the same posts as messages. No receiver reads them, because the ring is idle. Reads are
 * those of a table of mode read: the device reads rows into the landings of fetches, and nothing
 * takes cells from there.
 */
#ifndef SPINDLE_NODE_RAW_H
#define SPINDLE_NODE_RAW_H

#include <linux/types.h>

struct spindle_subgroup;

/**
 * struct spindle_raw - a measurement
 */
struct spindle_raw {
	/**
	 * @sg: subgroup whose ring and peers are used; this node sends in it. With SPINDLE_RAW_READ
	 * a table of mode read, whose fetches are used
	 */
	struct spindle_subgroup *sg;
	/** @other: with SPINDLE_RAW_PINGPONG: the same subgroup at the other node */
	struct spindle_subgroup *other;
	/** @kind: enum spindle_raw_kind */
	u32 kind;
	/** @size: bytes of a write or read */
	u32 size;
	/** @count: writes to each peer, round trips, or reads of each row, at most */
	u32 count;
	/** @done: out: how many of these there was time for */
	u32 done;
	/** @ns: out: how long it took */
	u64 ns;
	/** @post_ns: out: with SPINDLE_RAW_READ: how long the posts took of that */
	u64 post_ns;
	/** @writes: out: writes or reads posted */
	u64 writes;
	/** @err: out: 0, or -errno */
	int err;
};

int spindle_raw_run(struct spindle_raw *raw);

#endif /* SPINDLE_NODE_RAW_H */
