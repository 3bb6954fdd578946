/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Raw: the speed of the device itself, for comparison with the protocol. Writes go into the payload
 * ring by the same posts as messages. No receiver reads them, because the ring is idle.
 */
#ifndef SPINDLE_NODE_RAW_H
#define SPINDLE_NODE_RAW_H

#include <linux/types.h>

struct spindle_subgroup;

/**
 * struct spindle_raw - a measurement
 */
struct spindle_raw {
	/** @sg: subgroup whose ring and peers are used; this node sends in it */
	struct spindle_subgroup *sg;
	/** @other: with SPINDLE_RAW_PINGPONG: the same subgroup at the other node */
	struct spindle_subgroup *other;
	/** @kind: enum spindle_raw_kind */
	u32 kind;
	/** @size: bytes of a write */
	u32 size;
	/** @count: writes to each peer, or round trips, at most */
	u32 count;
	/** @done: out: how many of these there was time for */
	u32 done;
	/** @ns: out: how long it took */
	u64 ns;
	/** @writes: out: writes posted */
	u64 writes;
	/** @err: out: 0, or -errno */
	int err;
};

int spindle_raw_run(struct spindle_raw *raw);

#endif /* SPINDLE_NODE_RAW_H */
