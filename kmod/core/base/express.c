// SPDX-License-Identifier: GPL-2.0-only
/*
 * Express: a short message that travels inside its guard. See express.h.
 *
 * Context: engine, all of it.
 */
#include "express.h"

static u64 payload_mix(const struct spindle_express *x)
{
	u32 first = spindle_express_offset(x->len) / 8;

	return spindle_mix(x->pay + first, SPINDLE_EXPRESS_WORDS - first);
}

static u64 seal_of(const struct spindle_express *x)
{
	return spindle_mix(x->word, offsetof(struct spindle_express, seal) / 8 -
				    SPINDLE_EXPRESS_WORDS);
}

/**
 * spindle_express_write() - put a message and its guard together
 * @x: out, in memory of the sender's own: posting copies it
 * @word: the own columns, of which SPINDLE_COL_SLOTS counts the message
 * @msg: the message, at most SPINDLE_EXPRESS_BYTES bytes
 * @ring: own payload ring
 * @size: its bytes, a power of two
 *
 * The process may write into @ring at any time. What is copied here is what all members
 * get, and what the mix is of.
 */
void spindle_express_write(struct spindle_express *x, const u64 word[SPINDLE_BLOCK_WORDS],
			   const struct spindle_msg *msg, const u8 *ring, u64 size)
{
	u64 at = ((u64)msg->unit << SPINDLE_UNIT_SHIFT) & (size - 1);
	u32 first = spindle_express_offset(msg->len), part = min(size - at, (u64)msg->len);
	u8 *to = (u8 *)x->pay + first;

	/* Zeroes fill the last word. */
	x->pay[SPINDLE_EXPRESS_WORDS - 1] = 0;
	memcpy(to, ring + at, part);
	memcpy(to + part, ring, msg->len - part);
	memcpy(x->word, word, sizeof(x->word));
	x->round = msg->round;
	x->unit = msg->unit;
	x->len = msg->len;
	x->mix = payload_mix(x);
	x->seal = seal_of(x);
}

/**
 * spindle_express_read() - look for a message that another node writes
 * @x: where it is; the sender may write there at any time
 * @seal: in: seal of the last one that was accepted; out: the new one
 * @copy: out, with SPINDLE_READ_NEW only: all of it, with words of @pay that are not in use
 *	left out
 *
 * Each word is read once. Seal and mix only prove that the message is complete. The caller checks
 * all ranges except @copy->len, which is at most SPINDLE_EXPRESS_BYTES.
 *
 * Return: enum spindle_read
 */
enum spindle_read spindle_express_read(const struct spindle_express *x, u64 *seal,
				       struct spindle_express *copy)
{
	/* Pairs with the order of the device's writes: what was written before is seen. */
	u64 s = smp_load_acquire(&x->seal);
	u32 i;

	if (likely(s == *seal))
		return SPINDLE_READ_SAME;
	for (i = 0; i < SPINDLE_BLOCK_WORDS; i++)
		copy->word[i] = READ_ONCE(x->word[i]);
	copy->round = READ_ONCE(x->round);
	copy->unit = READ_ONCE(x->unit);
	copy->len = READ_ONCE(x->len);
	copy->mix = READ_ONCE(x->mix);
	/* No sender writes a longer message: take it for half written. */
	if (seal_of(copy) != s || copy->len > SPINDLE_EXPRESS_BYTES)
		return SPINDLE_READ_TORN;
	for (i = spindle_express_offset(copy->len) / 8; i < SPINDLE_EXPRESS_WORDS; i++)
		copy->pay[i] = READ_ONCE(x->pay[i]);
	if (payload_mix(copy) != copy->mix)
		return SPINDLE_READ_TORN;
	copy->seal = s;
	*seal = s;
	return SPINDLE_READ_NEW;
}

/**
 * spindle_express_unpack() - put the bytes where the reader looks for them
 * @copy: what spindle_express_read() has filled in
 * @ring: payload ring of the sender, as held here
 * @size: its bytes, a power of two
 *
 * @copy->unit needs no check, because it is reduced to the ring.
 */
void spindle_express_unpack(const struct spindle_express *copy, u8 *ring, u64 size)
{
	u64 at = ((u64)copy->unit << SPINDLE_UNIT_SHIFT) & (size - 1);
	const u8 *from = (const u8 *)copy->pay + spindle_express_offset(copy->len);
	u32 part = min(size - at, (u64)copy->len);

	memcpy(ring + at, from, part);
	memcpy(ring, from + part, copy->len - part);
}
