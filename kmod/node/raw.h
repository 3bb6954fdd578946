/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Raw: what the device does by itself, to compare the protocol with. Writes go where
 * payload goes, with the same posts, and nothing parses them: the ring is idle.
 */
#ifndef SPINDLE_RAW_H
#define SPINDLE_RAW_H

#include <linux/types.h>

struct spindle_subgroup;

/**
 * struct spindle_raw - a measurement
 * @sg: subgroup whose ring and peers are used; this node sends in it
 * @other: with SPINDLE_RAW_PINGPONG: the same subgroup at the other node
 * @kind: enum spindle_raw_kind
 * @size: bytes of a write
 * @count: writes to each peer, or round trips, at most
 * @done: out: of these, as many as there was time for
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

#endif /* SPINDLE_RAW_H */
