// SPDX-License-Identifier: GPL-2.0-only
/*
 * SMC: header rings. See smc.h.
 */
#include "smc.h"

/**
 * spindle_hdr_write() - write the header of an own message
 * @ring: header ring of the own row
 * @wmask: window - 1
 * @slot: the message's slot; slot - window has been delivered by all
 * @msg: the message
 *
 * Context: engine.
 */
void spindle_hdr_write(struct spindle_hdr *ring, u32 wmask, u64 slot,
		       const struct spindle_msg *msg)
{
	struct spindle_hdr *hdr = &ring[slot & wmask];

	hdr->round = msg->round;
	hdr->slot = slot + 1;
	hdr->unit = msg->unit;
	hdr->len = msg->len;
	hdr->mask = msg->mask;
}

/**
 * spindle_walk_next() - take the next message below the guard
 * @walk: place in the header ring; the guard says that the message at it exists
 * @sent: rounds that the sender has decided, from the same guard
 * @msg: out, with 0 only
 *
 * Nulls have no header and cost nothing: the walk goes from header to header, never
 * from round to round. Each word of the header is read once, and all are checked
 * before any is used, because the peer may write them again.
 *
 * @unit needs no check, because reduced to the ring it is always inside the sender's own payload.
 *
 * Context: engine.
 * Return: 0; -EAGAIN if the header is not there; -EPROTO if no correct sender writes
 * such a header
 */
int spindle_walk_next(struct spindle_smc_walk *walk, u64 sent, struct spindle_msg *msg)
{
	const struct spindle_hdr *hdr = &walk->ring[walk->slot & walk->wmask];
	u64 round, mask;
	u32 len;

	if (READ_ONCE(hdr->slot) != walk->slot + 1)
		return -EAGAIN;
	round = READ_ONCE(hdr->round);
	len = READ_ONCE(hdr->len);
	mask = READ_ONCE(hdr->mask);
	if (round < walk->rounds || round >= sent || len > walk->max_msg ||
	    mask & walk->unknown)
		return -EPROTO;

	msg->round = round;
	msg->unit = READ_ONCE(hdr->unit);
	msg->len = len;
	msg->mask = mask;
	walk->slot++;
	walk->rounds = round + 1;
	return 0;
}
