// SPDX-License-Identifier: GPL-2.0-only
/*
 * SST: sealed blocks. A reader believes a whole version or nothing.
 */
#include "rng.h"
#include "tap.h"
#include "core/base/sst.h"
#include "world.h"

static struct rng rng;

static void test_seal_of_zero(void)
{
	u64 word[SPINDLE_BLOCK_WORDS] = { 0 };
	struct spindle_block block = { .seal = 0 };
	u64 seal = 0;

	CHECK_EQ(spindle_seal(word), 0);
	CHECK_EQ(spindle_block_read(&block, &seal, word), SPINDLE_READ_SAME);
	/* One different bit anywhere gives another seal. */
	for (u32 i = 0; i < 64 * SPINDLE_BLOCK_WORDS; i++) {
		u64 w[SPINDLE_BLOCK_WORDS] = { 0 };

		w[i / 64] = BIT_ULL(i % 64);
		CHECK(spindle_seal(w) != 0);
	}
}

static void test_same_new_torn(void)
{
	u64 a[] = { 1, 2, 3, 4 }, got[SPINDLE_BLOCK_WORDS] = { 9, 9, 9, 9 };
	struct spindle_block block = { .seal = 0 };
	u64 seal = 0;

	spindle_block_write(&block, a);
	CHECK_EQ(spindle_block_read(&block, &seal, got), SPINDLE_READ_NEW);
	CHECK(!memcmp(a, got, sizeof(a)));
	CHECK_EQ(seal, spindle_seal(a));
	CHECK_EQ(spindle_block_read(&block, &seal, got), SPINDLE_READ_SAME);

	/* A new seal with old words is torn, and the caller's words stay untouched. */
	a[2] = 4;
	block.seal = spindle_seal(a);
	memset(got, 0x11, sizeof(got));
	CHECK_EQ(spindle_block_read(&block, &seal, got), SPINDLE_READ_TORN);
	CHECK_EQ(got[2], 0x1111111111111111ULL);
	CHECK(seal != block.seal);
	block.word[2] = 4;
	CHECK_EQ(spindle_block_read(&block, &seal, got), SPINDLE_READ_NEW);
	CHECK(!memcmp(a, got, sizeof(a)));
	CHECK_EQ(spindle_block_read(&block, &seal, got), SPINDLE_READ_SAME);
}

/* The order of words matters: a seal is no sum. */
static void test_permutations(void)
{
	u64 a[] = { 1, 2, 3, 4 }, b[] = { 2, 1, 3, 4 }, c[] = { 1, 2, 4, 3 };

	CHECK(spindle_seal(a) != spindle_seal(b));
	CHECK(spindle_seal(a) != spindle_seal(c));
	CHECK(spindle_seal(b) != spindle_seal(c));
}

static void next_version(u64 word[SPINDLE_BLOCK_WORDS])
{
	u32 i, kind = rng_below(&rng, 5);

	for (i = 0; i < SPINDLE_BLOCK_WORDS; i++) {
		switch (kind) {
		case 0: /* one round, and all else stays */
			word[i] += i == 0;
			break;
		case 1: /* a message */
			word[i] += 1;
			break;
		case 2: /* a batch */
			word[i] += rng_below(&rng, 300);
			break;
		case 3: /* across a carry into the next byte */
			word[i] = (word[i] | 0xff) + rng_below(&rng, 3);
			break;
		default:
			word[i] += rng_u64(&rng) >> (24 + rng_below(&rng, 40));
			break;
		}
	}
}

/*
 * A reader has accepted version a, and looks while version b is written over it, byte by byte. The
 * reader may say SAME as long as the seal is that of a, and it may say TORN. The reader must accept
 * no words but those of b.
 */
static void look(const u8 *blend, const u64 *a, const u64 *b)
{
	struct spindle_block block;
	u64 got[SPINDLE_BLOCK_WORDS];
	u64 seal = spindle_seal(a);

	memset(&block, 0, sizeof(block));
	memcpy(&block, blend, SPINDLE_BLOCK_PUSH);
	switch (spindle_block_read(&block, &seal, got)) {
	case SPINDLE_READ_SAME:
		CHECK_EQ(block.seal, spindle_seal(a));
		break;
	case SPINDLE_READ_NEW:
		CHECK(!memcmp(got, b, sizeof(got)));
		CHECK_EQ(seal, spindle_seal(b));
		break;
	case SPINDLE_READ_TORN:
		CHECK(memcmp(blend, a, sizeof(got)) || block.seal != spindle_seal(a));
		CHECK(memcmp(blend, b, sizeof(got)) || block.seal != spindle_seal(b));
		CHECK_EQ(seal, spindle_seal(a));
		break;
	}
}

static void test_blends(void)
{
	u64 a[SPINDLE_BLOCK_WORDS], b[SPINDLE_BLOCK_WORDS] = { 0 };
	u8 x[SPINDLE_BLOCK_PUSH], y[SPINDLE_BLOCK_PUSH], blend[SPINDLE_BLOCK_PUSH];
	u32 pair, cut, i, n;
	u64 seal;

	for (pair = 0; pair < 2000; pair++) {
		memcpy(a, b, sizeof(a));
		next_version(b);
		memcpy(x, a, sizeof(a));
		memcpy(y, b, sizeof(b));
		seal = spindle_seal(a);
		memcpy(x + sizeof(a), &seal, sizeof(seal));
		seal = spindle_seal(b);
		memcpy(y + sizeof(b), &seal, sizeof(seal));

		for (cut = 0; cut <= SPINDLE_BLOCK_PUSH; cut++) {
			/* Forwards: a prefix of b; backwards: a suffix of it. */
			memcpy(blend, y, cut);
			memcpy(blend + cut, x + cut, sizeof(blend) - cut);
			look(blend, a, b);
			memcpy(blend, x, cut);
			memcpy(blend + cut, y + cut, sizeof(blend) - cut);
			look(blend, a, b);
		}
		for (n = 0; n < 64; n++) {
			u64 mask = rng_u64(&rng);

			for (i = 0; i < sizeof(blend); i++)
				blend[i] = mask & BIT_ULL(i) ? x[i] : y[i];
			look(blend, a, b);
		}
	}
}

/* The first version over fresh memory: every connection begins with this case. */
static void test_first_version(void)
{
	u64 a[SPINDLE_BLOCK_WORDS] = { 0 }, b[SPINDLE_BLOCK_WORDS] = { 1, 0, 0, 1 };
	u8 y[SPINDLE_BLOCK_PUSH], blend[SPINDLE_BLOCK_PUSH];
	u64 seal = spindle_seal(b);
	u32 n, i;

	memcpy(y, b, sizeof(b));
	memcpy(y + sizeof(b), &seal, sizeof(seal));
	/* Only 10 bytes differ: all 1024 blends. */
	for (n = 0; n < 1024; n++) {
		u32 bit = 0;

		for (i = 0; i < sizeof(y); i++) {
			blend[i] = 0;
			if (y[i] && n & (1U << bit++))
				blend[i] = y[i];
		}
		look(blend, a, b);
	}
}

/* A reader of the writer's own copy must find the same words. */
static void test_write_covers_all(void)
{
	struct spindle_block block;
	u64 word[] = { 5, 6, 7, 8 };

	memset(&block, 0xee, sizeof(block));
	spindle_block_write(&block, word);
	CHECK(!memcmp(block.word, word, sizeof(word)));
	CHECK_EQ(block.seal, spindle_seal(word));
	CHECK_EQ(block.resv[0], 0xeeeeeeeeeeeeeeeeULL);
}

static struct spindle_block *moving;
static u32 looks_left;

static void write_next(void)
{
	static const u64 next[] = { 5, 6, 7, 8 };

	if (!looks_left--)
		spindle_block_write(moving, next);
}

/* The owner writes between any two looks of a reader, which gets the new version then or later. */
static void test_second_look(void)
{
	static const u64 first[] = { 1, 2, 3, 4 };
	u32 i;

	for (i = 0; i < 8; i++) {
		u64 got[SPINDLE_BLOCK_WORDS] = { 0 }, seal = 0;
		struct spindle_block block = { .seal = 0 };

		spindle_block_write(&block, first);
		moving = &block;
		looks_left = i;
		world_look = write_next;
		spindle_block_read(&block, &seal, got);
		world_look = NULL;
		/* There were no more looks than that. */
		if (block.word[0] != 5)
			break;
		if (got[0] != 5)
			CHECK_EQ(spindle_block_read(&block, &seal, got), SPINDLE_READ_NEW);
		CHECK_EQ(got[0], 5);
		CHECK_EQ(got[3], 8);
	}
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "fresh memory is a valid block", test_seal_of_zero },
		{ "a block is the same, new or torn", test_same_new_torn },
		{ "the place of a word is part of the seal", test_permutations },
		{ "no blend of two versions is believed", test_blends },
		{ "no blend of zero and the first version is believed", test_first_version },
		{ "a write covers words and seal", test_write_covers_all },
		{ "a block that is written while it is read", test_second_look },
	};

	rng = rng_seed();
	return tap_run(cases, ARRAY_SIZE(cases));
}
