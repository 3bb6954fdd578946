/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * SMC: small-message multicast. Headers on the wire and their rings.
 *
 * A sender has a ring of w headers and a ring of payload bytes, both inside its
 * row. Message number n (its slot) has header n mod w. The header is written by
 * the sender's kernel and says where in the payload ring the bytes are; nothing
 * that a peer parses comes from memory that a process can write.
 *
 * A header needs no valid flag: slots count without end, so the slot number in it
 * says which lap it belongs to. The guard is the sender's sealed block, pushed behind
 * headers and payload on the same queue pair: it says how many rounds are decided
 * (SPINDLE_COL_SENT) and how many of them are messages (SPINDLE_COL_SLOTS).
 */
#ifndef SPINDLE_CORE_SMC_H
#define SPINDLE_CORE_SMC_H

#include "port.h"
#include <linux/spindle.h>

/**
 * struct spindle_hdr - header of a message, as it is on the wire
 */
struct spindle_hdr {
	/** @round: round that the message takes */
	u64 round;
	/** @slot: the sender's message number plus one; 0: never written */
	u64 slot;
	/** @unit: first unit in the payload ring, modulo 2^32 */
	u32 unit;
	/** @len: bytes */
	u32 len;
	/** @mask: ranks of the members that get the message; 0: all */
	u64 mask;
};

static_assert(sizeof(struct spindle_hdr) == 32, "header layout is protocol");

/**
 * struct spindle_msg - what a member keeps of a message it has checked
 */
struct spindle_msg {
	/** @round: round */
	u64 round;
	/** @unit: first unit in the payload ring, modulo 2^32 */
	u32 unit;
	/** @len: bytes */
	u32 len;
	/** @mask: ranks of the members that get the message; 0: all */
	u64 mask;
};

/**
 * spindle_units() - units that some bytes take in a payload ring
 * @len: bytes
 *
 * Return: units of SPINDLE_UNIT bytes; 0 for an empty message
 */
static inline u32 spindle_units(u32 len)
{
	return (len + SPINDLE_UNIT - 1) >> SPINDLE_UNIT_SHIFT;
}

/**
 * struct spindle_smc_walk - a receiver's place in one sender's header ring
 */
struct spindle_smc_walk {
	/** @ring: header ring in the sender's row; written by the sender at any time */
	struct spindle_hdr *ring;
	/** @wmask: window - 1 */
	u32 wmask;
	/** @max_msg: bytes */
	u32 max_msg;
	/** @unknown: bits of a mask that are the rank of no member */
	u64 unknown;
	/** @slot: next slot expected */
	u64 slot;
	/** @rounds: rounds below the next message are accounted for */
	u64 rounds;
};

void spindle_hdr_write(struct spindle_hdr *ring, u32 wmask, u64 slot,
		       const struct spindle_msg *msg);
int spindle_walk_next(struct spindle_smc_walk *walk, u64 sent, struct spindle_msg *msg);

#endif /* SPINDLE_CORE_SMC_H */
