/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Delivery queue: the kernel's end of the ring in which a process reads.
 *
 * The engine appends descriptors and moves the tail in the control page; the
 * process moves its consumed counter. A zero-copy reader points into the senders'
 * payload rings and holds them until it has consumed; a copying reader has a ring
 * of its own and holds the group only while that is full.
 *
 * Context: engine, but for init.
 */
#ifndef SPINDLE_CORE_DLVQ_H
#define SPINDLE_CORE_DLVQ_H

#include "core/base/smc.h"

/**
 * struct spindle_dlvq - a reader as the engine sees it
 * @next: next reader of the subgroup
 * @ring: descriptors, read-only to the process
 * @tail_word: control page: entries delivered
 * @consumed_word: user page: entries consumed
 * @mask: entries - 1
 * @error: enum spindle_error; not 0: frozen, neither fed nor waited for
 * @tail: entries delivered
 * @consumed: last accepted value of the user's word
 * @vid: view that was due when the reader attached: only later ones go to it; 0: none was
 * @base: index in the subgroup's delivery log of entry 0
 * @copy: payload ring of a copying reader, or NULL
 * @copy_end: by entry: unit behind its bytes (copying readers)
 * @copy_units: units of the payload ring
 * @copy_tail: units filled
 * @copy_free: units below are free again
 * @part_seq: message of @part
 * @part: bytes of a message that are in the payload ring already, while its descriptor is
 *	not; 0 when none is under way
 */
struct spindle_dlvq {
	struct spindle_dlvq *next;
	struct spindle_dlv *ring;
	u64 *tail_word;
	const u64 *consumed_word;
	u32 mask;
	u32 error;
	u64 tail;
	u64 consumed;
	u64 vid;
	u64 base;
	u8 *copy;
	u64 *copy_end;
	u32 copy_units;
	u64 copy_tail;
	u64 copy_free;
	u64 part_seq;
	u32 part;
};

bool spindle_dlvq_poll(struct spindle_dlvq *dlvq);
bool spindle_dlvq_room(const struct spindle_dlvq *dlvq, u32 len);
bool spindle_dlvq_copy(struct spindle_dlvq *dlvq, const struct spindle_dlv *dlv,
		       const u8 *ring, u32 ring_bytes, u64 *budget);
void spindle_dlvq_append(struct spindle_dlvq *dlvq, const struct spindle_dlv *dlv);
void spindle_dlvq_publish(struct spindle_dlvq *dlvq);

#endif /* SPINDLE_CORE_DLVQ_H */
