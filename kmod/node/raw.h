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
 * @sg: subgroup whose ring and peers are used; this node sends in it
 * @other: with SPINDLE_RAW_PINGPONG: the same subgroup at the other node
 * @kind: enum spindle_raw_kind
 * @size: bytes of a write
 * @count: writes to each peer, or round trips, at most
 * @done: out: how many of these there was time for
 * @ns: out: how long it took
 * @writes: out: writes posted
 * @err: out: 0, or -errno
 */
struct spindle_raw {
	struct spindle_subgroup *sg;
	struct spindle_subgroup *other;
	u32 kind;
	u32 size;
	u32 count;
	u32 done;
	u64 ns;
	u64 writes;
	int err;
};

int spindle_raw_run(struct spindle_raw *raw);

#endif /* SPINDLE_NODE_RAW_H */
