/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Express: a short message that travels inside its guard.
 *
 * A message alone costs three writes to each member: payload, header, block. Without a batch to
 * share them, these writes make up the latency. So a row has, in front of each header ring, a place
 * for one message of up to SPINDLE_EXPRESS_BYTES bytes, with header and columns. A message that is
 * alone and short enough goes there by one write. The receiver puts it where the three writes would
 * have put it, and goes on as if they had.
 *
 *	pay ........ bytes of the message, moved up against word[]
 *	word[] ..... the columns, as in the block, which is not written then
 *	round, unit, len ... the header; its slot is one less than SPINDLE_COL_SLOTS
 *	mix ........ of pay
 *	seal ....... over word[] to mix
 *
 * The place is written again when the member is known to have received the message. Until then
 * messages go by three writes as usual, so that none is overwritten before it is read, and none has
 * to be sent twice.
 *
 * One write is one packet, but its bytes may become visible in any order. The seal covers the mix,
 * and the mix covers the payload, so that a message is complete or taken for half written.
 *
 * Express is not used where a completion has to vouch for messages, because that completion comes
 * with the block.
 */
#ifndef SPINDLE_CORE_EXPRESS_H
#define SPINDLE_CORE_EXPRESS_H

#include "smc.h"
#include "sst.h"

#define SPINDLE_EXPRESS_WORDS	16
/* Longest message that goes by express, bytes. */
#define SPINDLE_EXPRESS_BYTES	(8 * SPINDLE_EXPRESS_WORDS)

/**
 * struct spindle_express - a message and its guard, as on the wire
 */
struct spindle_express {
	/**
	 * @pay: bytes of the message in the last words, padded with 0; words before are not pushed
	 */
	u64 pay[SPINDLE_EXPRESS_WORDS];
	/** @word: columns of the sender's block */
	u64 word[SPINDLE_BLOCK_WORDS];
	/** @round: round that the message takes */
	u64 round;
	/** @unit: first unit in the payload ring, modulo 2^32 */
	u32 unit;
	/** @len: bytes */
	u32 len;
	/** @mix: spindle_mix() of the words of @pay that are in use */
	u64 mix;
	/** @seal: spindle_mix() of what is between @pay and this */
	u64 seal;
};

static_assert(sizeof(struct spindle_express) == 192, "express layout is protocol");

/**
 * spindle_express_offset() - where a message begins in struct spindle_express
 * @len: its bytes, at most SPINDLE_EXPRESS_BYTES
 *
 * Return: bytes; from there to the end is what is pushed
 */
static inline u32 spindle_express_offset(u32 len)
{
	return SPINDLE_EXPRESS_BYTES - ALIGN(len, 8);
}

void spindle_express_write(struct spindle_express *x, const u64 word[SPINDLE_BLOCK_WORDS],
			   const struct spindle_msg *msg, const u8 *ring, u64 size);
enum spindle_read spindle_express_read(const struct spindle_express *x, u64 *seal,
				       struct spindle_express *copy);
void spindle_express_unpack(const struct spindle_express *copy, u8 *ring, u64 size);

#endif /* SPINDLE_CORE_EXPRESS_H */
