// SPDX-License-Identifier: GPL-2.0-only
/*
 * SST: sealed blocks of monotonic columns. See sst.h.
 */
#include "sst.h"

/**
 * spindle_mix() - mix many words into one
 * @word: the words
 * @words: how many
 *
 * The mix spreads the low bits of every word, which are the ones that change in counts, over the
 * whole result: a blend of two versions, byte by byte, has another mix. The mix of zeroes is zero.
 * This is no defence against a peer that lies; ranges are checked for that.
 *
 * Return: the mix
 */
u64 spindle_mix(const u64 *word, u32 words)
{
	u64 h = 0;
	u32 i;

	for (i = 0; i < words; i++)
		h = spindle_mix_next(h, word[i]);
	return h;
}

/**
 * spindle_seal() - seal over the words of a block
 * @word: the words
 *
 * Return: the seal; 0 if all words are 0, so that fresh memory is a valid block
 */
u64 spindle_seal(const u64 word[SPINDLE_BLOCK_WORDS])
{
	return spindle_mix(word, SPINDLE_BLOCK_WORDS);
}

/**
 * spindle_block_write() - change the own copy of a block
 * @block: block of the own row
 * @word: new words
 *
 * Context: engine of the row's owner. Local readers (processes that mapped the
 * columns) follow the same rule as remote ones.
 */
void spindle_block_write(struct spindle_block *block, const u64 word[SPINDLE_BLOCK_WORDS])
{
	int i;

	for (i = 0; i < SPINDLE_BLOCK_WORDS; i++)
		WRITE_ONCE(block->word[i], word[i]);
	/* Pairs with the acquire in spindle_block_read(). */
	smp_store_release(&block->seal, spindle_seal(word));
}

/**
 * spindle_block_read() - read a block that another node or engine writes
 * @block: the block
 * @seal: in: seal of the last version that was accepted; out: the new one
 * @word: out, with SPINDLE_READ_NEW only: the words
 *
 * The words come from a peer, and a valid seal does not make them true: the caller checks ranges.
 * The acquire orders all later reads (headers, payload) behind the guard.
 *
 * Context: engine.
 * Return: enum spindle_read
 */
enum spindle_read spindle_block_read(const struct spindle_block *block, u64 *seal,
				     u64 word[SPINDLE_BLOCK_WORDS])
{
	u64 w[SPINDLE_BLOCK_WORDS], s;
	int i;

	/* Pairs with the release above, or with the order of the device's writes. */
	s = smp_load_acquire(&block->seal);
	if (likely(s == *seal))
		return SPINDLE_READ_SAME;
	for (i = 0; i < SPINDLE_BLOCK_WORDS; i++)
		w[i] = READ_ONCE(block->word[i]);
	if (spindle_seal(w) != s)
		return SPINDLE_READ_TORN;
	for (i = 0; i < SPINDLE_BLOCK_WORDS; i++)
		word[i] = w[i];
	*seal = s;
	return SPINDLE_READ_NEW;
}
