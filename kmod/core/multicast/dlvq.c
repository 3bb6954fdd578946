// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delivery queue: the kernel's end of the ring in which a process reads.
 * See dlvq.h; the process's end is described in <linux/spindle.h>.
 */
#include "dlvq.h"

/**
 * spindle_dlvq_poll() - see how far the process has read
 * @dlvq: the queue
 *
 * C in <linux/spindle.h>: the process's reads of the bytes are over before any sender may overwrite
 * them.
 *
 * Return: true if the process went on, or broke a rule (@dlvq->error)
 */
bool spindle_dlvq_poll(struct spindle_dlvq *dlvq)
{
	u64 consumed;

	if (dlvq->error)
		return false;
	/* Pairs with the process's store-release, C. */
	consumed = smp_load_acquire(dlvq->consumed_word);
	if (consumed == dlvq->consumed)
		return false;
	if (consumed < dlvq->consumed || consumed > dlvq->tail) {
		dlvq->error = SPINDLE_ERR_CONSUMED;
		return true;
	}
	dlvq->consumed = consumed;
	if (dlvq->copy)
		dlvq->copy_free = dlvq->copy_end[(consumed - 1) & dlvq->mask];
	return true;
}

/* Copy bytes from one ring of a power of two to another; either may wrap. */
static void copy_ring(u8 *dst, u64 dst_at, u64 dst_mask, const u8 *src, u64 src_at,
		      u64 src_mask, u32 len)
{
	while (len) {
		u64 d = dst_at & dst_mask, s = src_at & src_mask;
		u64 part = min_t(u64, dst_mask + 1 - d, src_mask + 1 - s);

		part = min_t(u64, part, len);
		memcpy(dst + d, src + s, part);
		dst_at += part;
		src_at += part;
		len -= part;
	}
}

/**
 * spindle_dlvq_copy() - copy the bytes of the next message, as far as a budget allows
 * @dlvq: the queue; there is room for the message
 * @dlv: descriptor, with the offset in the sender's ring
 * @ring: the sender's payload ring
 * @ring_bytes: its size, a power of two
 * @budget: bytes that may be copied; what was copied is taken off
 *
 * The next call goes on behind the bytes that are copied. If the next call names another message,
 * which is possible in an unordered subgroup, it begins again.
 *
 * Return: true if all bytes are there
 */
bool spindle_dlvq_copy(struct spindle_dlvq *dlvq, const struct spindle_dlv *dlv,
		       const u8 *ring, u32 ring_bytes, u64 *budget)
{
	u64 bytes = (u64)dlvq->copy_units << SPINDLE_UNIT_SHIFT;
	u64 at = dlvq->copy_tail << SPINDLE_UNIT_SHIFT;
	u32 len;

	if (dlvq->part_of != dlv->slot || dlvq->part_sender != dlv->sender)
		dlvq->part = 0;
	dlvq->part_of = dlv->slot;
	dlvq->part_sender = dlv->sender;
	len = min_t(u64, dlv->len - dlvq->part, *budget);
	copy_ring(dlvq->copy, at + dlvq->part, bytes - 1, ring, dlv->offset + dlvq->part,
		  ring_bytes - 1, len);
	dlvq->part += len;
	*budget -= len;
	return dlvq->part == dlv->len;
}

/**
 * spindle_dlvq_put() - copy bytes to a place in the payload ring
 * @dlvq: the queue, with a payload ring
 * @unit: first unit, which counts over all laps
 * @src: the bytes
 * @len: how many
 */
void spindle_dlvq_put(const struct spindle_dlvq *dlvq, u64 unit, const u8 *src, u32 len)
{
	u64 bytes = (u64)dlvq->copy_units << SPINDLE_UNIT_SHIFT;

	copy_ring(dlvq->copy, unit << SPINDLE_UNIT_SHIFT, bytes - 1, src, 0, U32_MAX, len);
}

/**
 * spindle_dlvq_append() - append a message or a view
 * @dlvq: the queue; there is room for it, and a message's bytes are there
 * @dlv: descriptor, with the offset in the sender's ring
 */
void spindle_dlvq_append(struct spindle_dlvq *dlvq, const struct spindle_dlv *dlv)
{
	struct spindle_dlv *to = &dlvq->ring[dlvq->tail & dlvq->mask];
	u64 bytes = (u64)dlvq->copy_units << SPINDLE_UNIT_SHIFT;

	*to = *dlv;
	if (dlvq->copy && dlv->kind == SPINDLE_DLV_MSG) {
		to->offset = (dlvq->copy_tail << SPINDLE_UNIT_SHIFT) & (bytes - 1);
		dlvq->copy_tail += spindle_units(dlv->len);
		dlvq->part = 0;
	}
	if (dlvq->copy)
		dlvq->copy_end[dlvq->tail & dlvq->mask] = dlvq->copy_tail;
	dlvq->tail++;
}

/**
 * spindle_dlvq_publish() - show the process what was appended
 * @dlvq: the queue
 *
 * B in <linux/spindle.h>: descriptors and bytes come before the tail.
 */
void spindle_dlvq_publish(struct spindle_dlvq *dlvq)
{
	/* Pairs with the process's load-acquire, B. */
	smp_store_release(dlvq->tail_word, dlvq->tail);
}
