// SPDX-License-Identifier: GPL-2.0-only
/*
 * SMC: walking a peer's header ring, honest and hostile.
 */
#include "rng.h"
#include "tap.h"
#include "core/base/smc.h"
#include "world.h"

#define W 8U
#define MAX_MSG 500U

static struct rng rng;

static struct spindle_smc_walk walk_at(struct spindle_hdr *ring, u64 slot, u64 rounds)
{
	return (struct spindle_smc_walk){
		.ring = ring, .wmask = W - 1, .max_msg = MAX_MSG,
		.unknown = ~7ULL, .slot = slot, .rounds = rounds,
	};
}

static void test_units(void)
{
	CHECK_EQ(spindle_units(0), 0);
	CHECK_EQ(spindle_units(1), 1);
	CHECK_EQ(spindle_units(64), 1);
	CHECK_EQ(spindle_units(65), 2);
	CHECK_EQ(spindle_units(SPINDLE_MAX_MSG), SPINDLE_MAX_MSG / 64);
}

/* Several laps of messages and nulls, with the receiver any distance behind. */
static void test_laps(void)
{
	struct spindle_hdr *ring = calloc(W, sizeof(*ring));
	struct spindle_msg sent[W], msg;
	struct spindle_smc_walk walk = walk_at(ring, 0, 0);
	u64 slot = 0, rounds = 0;
	u32 i;

	for (i = 0; i < 10000; i++) {
		if (slot - walk.slot < W && rng_chance(&rng, 50)) {
			rounds += rng_below(&rng, 3);
			msg.round = rounds++;
			msg.unit = rng_u64(&rng);
			msg.len = rng_below(&rng, MAX_MSG + 1);
			msg.mask = rng_below(&rng, 8);
			sent[slot & (W - 1)] = msg;
			spindle_hdr_write(ring, W - 1, slot++, &msg);
		} else if (walk.slot != slot) {
			const struct spindle_msg *want = &sent[walk.slot & (W - 1)];

			CHECK_EQ(spindle_walk_next(&walk, rounds, &msg), 0);
			CHECK_EQ(msg.round, want->round);
			CHECK_EQ(msg.unit, want->unit);
			CHECK_EQ(msg.len, want->len);
			CHECK_EQ(msg.mask, want->mask);
			CHECK_EQ(walk.rounds, want->round + 1);
		} else {
			/*
			 * There is nothing but the last lap: the walk stays
			 * unchanged.
			 */
			struct spindle_smc_walk before = walk;

			CHECK_EQ(spindle_walk_next(&walk, rounds + 9, &msg), -EAGAIN);
			CHECK(!memcmp(&before, &walk, sizeof(walk)));
		}
	}
	free(ring);
}

static void test_table(void)
{
	static const struct {
		const char *name;
		u64 slot, rounds, sent;		/* the walk and the guard */
		struct spindle_hdr hdr;
		int err;
	} rows[] = {
		{ "first", 0, 0, 1, { .round = 0, .slot = 1, .len = 5 }, 0 },
		{ "empty message", 0, 0, 1, { .round = 0, .slot = 1 }, 0 },
		{ "longest", 0, 0, 1, { .round = 0, .slot = 1, .len = MAX_MSG }, 0 },
		{ "too long", 0, 0, 1, { .round = 0, .slot = 1, .len = MAX_MSG + 1 },
		  -EPROTO },
		{ "absurd length", 0, 0, 1, { .round = 0, .slot = 1, .len = UINT32_MAX },
		  -EPROTO },
		{ "never written", 0, 0, 1, { .slot = 0 }, -EAGAIN },
		{ "old lap", 8, 8, 9, { .round = 0, .slot = 1 }, -EAGAIN },
		{ "next lap", 0, 0, 99, { .round = 8, .slot = 9 }, -EAGAIN },
		{ "after nulls", 3, 3, 10, { .round = 9, .slot = 4 }, 0 },
		{ "at the guard", 3, 3, 10, { .round = 10, .slot = 4 }, -EPROTO },
		{ "ahead of the guard", 3, 3, 10, { .round = U64_MAX, .slot = 4 },
		  -EPROTO },
		{ "round taken already", 3, 3, 10, { .round = 2, .slot = 4 }, -EPROTO },
		{ "round zero again", 3, 3, 10, { .round = 0, .slot = 4 }, -EPROTO },
		{ "any unit will do", 3, 3, 10,
		  { .round = 3, .slot = 4, .unit = UINT32_MAX, .len = 1 }, 0 },
		{ "for one member", 3, 3, 10, { .round = 3, .slot = 4, .mask = 4 }, 0 },
		{ "for a member that there is not", 3, 3, 10,
		  { .round = 3, .slot = 4, .mask = 9 }, -EPROTO },
		{ "for all ranks", 3, 3, 10, { .round = 3, .slot = 4, .mask = U64_MAX }, -EPROTO },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct spindle_hdr ring[W] = { { 0 } };
		struct spindle_smc_walk walk = walk_at(ring, rows[i].slot, rows[i].rounds);
		struct spindle_msg msg;
		int err;

		ring[rows[i].slot & (W - 1)] = rows[i].hdr;
		err = spindle_walk_next(&walk, rows[i].sent, &msg);
		if (err != rows[i].err)
			tap_fail("%s: %d", rows[i].name, err);
		if (err)
			CHECK(walk.slot == rows[i].slot && walk.rounds == rows[i].rounds);
		else
			CHECK(walk.slot == rows[i].slot + 1 &&
			      walk.rounds == rows[i].hdr.round + 1);
	}
}

/*
 * With any contents of the ring, the messages stay in range and the counts
 * grow.
 */
static void test_hostile(void)
{
	struct spindle_hdr *ring = calloc(W, sizeof(*ring));
	struct spindle_smc_walk walk = walk_at(ring, 0, 0);
	struct spindle_msg msg;
	u64 sent = 0;
	u32 i, taken = 0;

	for (i = 0; i < 200000; i++) {
		struct spindle_hdr *h = &ring[rng_below(&rng, W)];
		u64 slot = walk.slot, rounds = walk.rounds;
		int err;

		sent += rng_below(&rng, 4);
		h->slot = rng_chance(&rng, 70) ? slot + rng_below(&rng, W) : rng_odd(&rng);
		h->round = rng_chance(&rng, 70) ? rounds + rng_below(&rng, 4) : rng_odd(&rng);
		h->len = rng_chance(&rng, 70) ? rng_below(&rng, MAX_MSG + 2) : rng_odd(&rng);
		h->unit = rng_odd(&rng);
		h->mask = rng_chance(&rng, 95) ? rng_below(&rng, 8) : rng_odd(&rng);
		err = spindle_walk_next(&walk, sent, &msg);
		if (!err) {
			CHECK(msg.round >= rounds && msg.round < sent);
			CHECK(msg.len <= MAX_MSG);
			CHECK(msg.mask < 8);
			CHECK(walk.slot == slot + 1 && walk.rounds == msg.round + 1);
			taken++;
		} else {
			CHECK(err == -EAGAIN || err == -EPROTO);
			CHECK(walk.slot == slot && walk.rounds == rounds);
		}
		CHECK(walk.rounds <= sent);
	}
	CHECK(taken > 1000);
	free(ring);
}

static struct spindle_hdr *moving;
static u32 looks_left;

static void spoil(void)
{
	if (looks_left--)
		return;
	moving->round = U64_MAX;
	moving->len = U32_MAX;
	moving->mask = U64_MAX;
}

/* The peer spoils the header between any two looks at it. What was checked is what is taken. */
static void test_second_look(void)
{
	struct spindle_hdr ring[W] = { { 0 } };
	struct spindle_msg msg;
	u32 i;

	for (i = 0; i < 8; i++) {
		struct spindle_smc_walk walk = walk_at(ring, 0, 0);

		ring[0] = (struct spindle_hdr){ .slot = 1, .len = 5 };
		moving = &ring[0];
		looks_left = i;
		world_look = spoil;
		if (!spindle_walk_next(&walk, 1, &msg)) {
			CHECK_EQ(msg.round, 0);
			CHECK_EQ(msg.len, 5);
			CHECK(msg.mask < 8);
			CHECK_EQ(walk.rounds, 1);
		}
		world_look = NULL;
	}
}

static void test_write(void)
{
	struct spindle_hdr *ring = malloc(W * sizeof(*ring));
	struct spindle_msg msg = { .round = 77, .unit = 0xfffffffe, .len = 3, .mask = 6 };

	memset(ring, 0xff, W * sizeof(*ring));
	spindle_hdr_write(ring, W - 1, 13, &msg);
	CHECK_EQ(ring[5].slot, 14);
	CHECK_EQ(ring[5].round, 77);
	CHECK_EQ(ring[5].unit, 0xfffffffe);
	CHECK_EQ(ring[5].len, 3);
	CHECK_EQ(ring[5].mask, 6);
	CHECK_EQ(ring[4].slot, U64_MAX);
	CHECK_EQ(ring[6].round, U64_MAX);
	free(ring);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a length takes its number of units", test_units },
		{ "a header is written in its place", test_write },
		{ "messages and nulls have laps", test_laps },
		{ "good headers are accepted, bad ones are not", test_table },
		{ "random headers never lead out of range", test_hostile },
		{ "a header that changes while it is read", test_second_look },
	};

	rng = rng_seed();
	return tap_run(cases, ARRAY_SIZE(cases));
}
