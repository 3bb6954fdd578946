/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Delivery queue: the kernel's end of the ring in which a process reads.
 *
 * The engine appends descriptors and moves the tail in the control page; the
 * process moves its consumed counter. A zero-copy reader points into the senders'
 * payload rings and holds them until it has consumed; a copying reader has a ring
 * of its own and holds the group only while that is full. Readers of a history
 * (history.h) share its rings and hold nothing.
 *
 * Context: engine, but for init.
 */
#ifndef SPINDLE_CORE_DLVQ_H
#define SPINDLE_CORE_DLVQ_H

#include "core/base/smc.h"

struct spindle_history;

/**
 * struct spindle_dlvq - a reader as the engine sees it
 */
struct spindle_dlvq {
	/** @next: next reader of the subgroup */
	struct spindle_dlvq *next;
	/** @ring: descriptors, read-only to the process */
	struct spindle_dlv *ring;
	/** @tail_word: control page: entries delivered */
	u64 *tail_word;
	/** @consumed_word: user page: entries consumed */
	const u64 *consumed_word;
	/** @mask: entries - 1 */
	u32 mask;
	/** @error: enum spindle_error; not 0: frozen, neither fed nor waited for */
	u32 error;
	/** @tail: entries delivered */
	u64 tail;
	/** @consumed: last accepted value of the user's word */
	u64 consumed;
	/**
	 * @vid: view that was due when the reader attached: only later ones go to it; 0: none was
	 */
	u64 vid;
	/** @base: index in the subgroup's delivery log of entry 0 */
	u64 base;
	/** @copy: payload ring of a copying reader, or NULL */
	u8 *copy;
	/** @copy_end: by entry: unit behind its bytes (copying readers) */
	u64 *copy_end;
	/** @copy_units: units of the payload ring */
	u32 copy_units;
	/** @copy_tail: units filled */
	u64 copy_tail;
	/** @copy_free: units below are free again */
	u64 copy_free;
	/** @part_of: message of @part: its number at its sender */
	u64 part_of;
	/** @part_sender: that sender */
	u32 part_sender;
	/**
	 * @part: bytes of a message that are in the payload ring already, while its descriptor is
	 * not; 0 when none is under way
	 */
	u32 part;
	/** @history: the history that this queue is part of, or NULL */
	struct spindle_history *history;
	/** @logger: of a reader of a history: it sees what is not durable yet */
	bool logger;
	/** @low_word: control page of a reader of a history: entries below are forgotten */
	u64 *low_word;
	/** @lsn: of a reader that was dropped: position of what it has not consumed */
	u64 lsn;
};

/**
 * spindle_dlvq_room() - can a message be appended?
 * @dlvq: the queue
 * @len: its bytes
 *
 * Return: true if so. A zero-copy queue has as many entries as messages can be
 * outstanding, so only a copying one is ever full
 */
static inline bool spindle_dlvq_room(const struct spindle_dlvq *dlvq, u32 len)
{
	if (dlvq->tail - dlvq->consumed > dlvq->mask)
		return false;
	return !dlvq->copy || dlvq->copy_tail + spindle_units(len) - dlvq->copy_free <=
			      dlvq->copy_units;
}

/**
 * spindle_dlvq_lsn() - position of the next message that the process consumes
 * @dlvq: the queue of a reader
 * @lsn: position of the next message that is delivered
 *
 * Context: any. Outside of the engine, the answer may be that of a moment ago.
 * Return: the position
 */
static inline u64 spindle_dlvq_lsn(const struct spindle_dlvq *dlvq, u64 lsn)
{
	u64 consumed = READ_ONCE(dlvq->consumed);

	/* The entry may be overwritten by now. */
	if (READ_ONCE(dlvq->error) == SPINDLE_ERR_BEHIND)
		return dlvq->lsn;
	/* Pairs with the release in spindle_dlvq_publish(): the entry is complete. */
	return consumed == smp_load_acquire(dlvq->tail_word) ? lsn :
	       READ_ONCE(dlvq->ring[consumed & dlvq->mask].lsn);
}

bool spindle_dlvq_poll(struct spindle_dlvq *dlvq);
bool spindle_dlvq_copy(struct spindle_dlvq *dlvq, const struct spindle_dlv *dlv,
		       const u8 *ring, u32 ring_bytes, u64 *budget);
void spindle_dlvq_put(const struct spindle_dlvq *dlvq, u64 unit, const u8 *src, u32 len);
void spindle_dlvq_append(struct spindle_dlvq *dlvq, const struct spindle_dlv *dlv);
void spindle_dlvq_publish(struct spindle_dlvq *dlvq);

#endif /* SPINDLE_CORE_DLVQ_H */
