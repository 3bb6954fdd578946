// SPDX-License-Identifier: GPL-2.0-only
/*
 * Express: a short message inside its guard. A reader gets exactly the bytes that were written.
 * Which messages go by express, when, and at what cost? And what if a member lies in it?
 */
#include "directed.h"
#include "core/base/express.h"
#include "core/base/push.h"

#define RING 4096U

static struct rng rng;

/* ---- the place of a message ---------------------------------------------- */

static u8 ring[RING];

static struct spindle_express made(u64 slots, u32 unit, u32 len)
{
	const u64 word[SPINDLE_BLOCK_WORDS] = {
		[SPINDLE_COL_SENT] = slots + 3,
		[SPINDLE_COL_SLOTS] = slots,
	};
	const struct spindle_msg msg = { .round = slots + 2, .unit = unit, .len = len };
	struct spindle_express x;

	/* Fill the place, because a reader must not see bytes that no writer wrote. */
	memset(&x, 0x5a, sizeof(x));
	spindle_express_write(&x, word, &msg, ring, RING);
	return x;
}

static void new_bytes(void)
{
	u32 i;

	for (i = 0; i < RING; i++)
		ring[i] = rng_u64(&rng);
}

/* Every length, at the beginning of the ring, across its end, and beyond 32 bits of units. */
static void test_there_and_back(void)
{
	static const u32 units[] = { 0, 5, RING / 64 - 1, UINT32_MAX, UINT32_MAX - 1 };
	u32 len, i, b, k;

	for (len = 0; len <= SPINDLE_EXPRESS_BYTES; len++) {
		for (i = 0; i < ARRAY_SIZE(units); i++) {
			struct spindle_express x, copy, place;
			u8 other[RING];
			u64 seal = 0;

			new_bytes();
			x = made(len + 1, units[i], len);
			memset(&place, 0, sizeof(place));
			b = spindle_express_offset(len);
			CHECK(b + len <= SPINDLE_EXPRESS_BYTES && IS_ALIGNED(b, 8));
			/* No byte of an older message may be sent. */
			for (k = b + len; k < SPINDLE_EXPRESS_BYTES; k++)
				CHECK_EQ(((u8 *)&x)[k], 0);
			memcpy((u8 *)&place + b, (u8 *)&x + b, sizeof(x) - b);
			CHECK_EQ(spindle_express_read(&place, &seal, &copy), SPINDLE_READ_NEW);
			CHECK_EQ(spindle_express_read(&place, &seal, &copy), SPINDLE_READ_SAME);
			CHECK_EQ(copy.word[SPINDLE_COL_SLOTS], len + 1);
			CHECK_EQ(copy.round, len + 3);
			CHECK_EQ(copy.unit, units[i]);
			CHECK_EQ(copy.len, len);
			for (b = 0; b < RING; b++)
				other[b] = ~ring[b];
			spindle_express_unpack(&copy, other, RING);
			for (b = 0; b < RING; b++) {
				bool in = ((b - units[i] * 64) & (RING - 1)) < len;

				CHECK_EQ(other[b] == ring[b], in);
			}
		}
	}
}

/* A place that was never written holds no message. */
static void test_fresh(void)
{
	struct spindle_express place, copy;
	u64 seal = 0;

	memset(&place, 0, sizeof(place));
	CHECK_EQ(spindle_express_read(&place, &seal, &copy), SPINDLE_READ_SAME);
}

/* A mix of two messages counts as neither: byte by byte, from either end and in any order. */
static void test_torn(void)
{
	u32 i, k, how;

	for (i = 0; i < 300; i++) {
		struct spindle_express a, b, copy;
		u64 seal_a, seal;

		new_bytes();
		a = made(1 + rng_below(&rng, 300), rng_u64(&rng), rng_below(&rng, 129));
		if (i & 1)
			new_bytes();
		b = made(a.word[SPINDLE_COL_SLOTS] + 1, rng_u64(&rng), rng_below(&rng, 129));
		seal_a = a.seal;
		for (how = 0; how < 3; how++) {
			struct spindle_express blend = a;
			u32 from = spindle_express_offset(b.len);

			for (k = from; k < sizeof(b); k++) {
				u32 at = how == 1 ? sizeof(b) - 1 - (k - from) : k;

				if (how == 2)
					at = from + rng_below(&rng, sizeof(b) - from);
				((u8 *)&blend)[at] = ((u8 *)&b)[at];
				seal = seal_a;
				if (spindle_express_read(&blend, &seal, &copy) !=
				    SPINDLE_READ_NEW)
					continue;
				CHECK_EQ(seal, b.seal);
				CHECK(!memcmp((u8 *)&copy + from, (u8 *)&b + from,
					      sizeof(b) - from));
			}
		}
	}
}

static struct spindle_express *moving, later;
static u32 looks_left;

static void write_later(void)
{
	if (!looks_left--)
		*moving = later;
}

/* The sender writes its next message between any two looks. A reader gets one of them, whole. */
static void test_second_look(void)
{
	u32 i, from = spindle_express_offset(100);

	for (i = 0; i < 40; i++) {
		struct spindle_express x, first, copy;
		const struct spindle_express *want;
		u64 seal = 0;

		new_bytes();
		x = made(1, 0, 100);
		first = x;
		new_bytes();
		later = made(2, 2, 100);
		moving = &x;
		looks_left = i;
		world_look = write_later;
		if (spindle_express_read(&x, &seal, &copy) == SPINDLE_READ_NEW) {
			want = copy.seal == first.seal ? &first : &later;
			CHECK(!memcmp((u8 *)&copy + from, (u8 *)want + from, sizeof(x) - from));
		}
		world_look = NULL;
	}
	/* There were fewer looks than that. */
	CHECK(looks_left < 40);
}

/* No sender writes this length, so the message stays unread, whatever its seal says. */
static void test_too_long(void)
{
	struct spindle_express x = made(1, 0, 8), copy;
	u64 seal = 0;

	x.len = SPINDLE_EXPRESS_BYTES + 1;
	x.seal = spindle_mix(x.word, SPINDLE_BLOCK_WORDS + 3);
	CHECK_EQ(spindle_express_read(&x, &seal, &copy), SPINDLE_READ_TORN);
	x.len = 8;
	x.seal = spindle_mix(x.word, SPINDLE_BLOCK_WORDS + 3);
	CHECK_EQ(spindle_express_read(&x, &seal, &copy), SPINDLE_READ_NEW);
}

/* ---- which messages go by express -------------------------------------------- */

/* The same of a message that names some of the members, unless @mask is 0. */
static u32 direct_writes_of(struct world *w, u32 len, u64 mask)
{
	struct group *g = w->node[0].group[0];
	struct spindle_write write[SPINDLE_PUSH_MAX];
	u64 slot = g->sender->slot;
	u32 n;

	CHECK(sender_reserve(g, len, 0));
	g->sender->desc[slot & (g->mc.window - 1)].mask = mask;
	sender_commit(g, slot, false);
	spindle_mc_run(&g->mc, false);
	n = spindle_push(&g->mc, 1, 0, SPINDLE_PUSH_SPLIT | SPINDLE_PUSH_EXPRESS, write,
			 SPINDLE_PUSH_MAX);
	CHECK(n && write[n - 1].guard && write[n - 1].data);
	return n;
}

/* The number of writes that one message to one member takes, without the acknowledgment. */
static u32 writes_of(struct world *w, u32 len)
{
	return direct_writes_of(w, len, 0);
}

static void test_cost(void)
{
	static const struct {
		u32 off;
		u32 len;
		u32 writes;
	} row[] = {
		{ 0, 0, 1 },
		{ 0, 1, 1 },
		{ 0, SPINDLE_EXPRESS_BYTES, 1 },
		{ 0, SPINDLE_EXPRESS_BYTES + 1, 3 },
		{ SPINDLE_SW_EXPRESS, 64, 3 },
		{ SPINDLE_SW_PACKED, 64, 3 },
		{ SPINDLE_SW_MERGED_ACKS, 64, 3 },
		{ SPINDLE_SW_ALL & ~SPINDLE_SW_LATE_POST, 64, 3 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		struct world *w = plain_world(2, 1);

		sender_open(w->node[0].group[0]);
		w->node[0].group[0]->mc.tune.switches &= ~row[i].off;
		CHECK_EQ(writes_of(w, row[i].len), row[i].writes);
		world_close(w);
	}
}

/* The same express message goes to all members, so a direct message takes the three writes. */
static void test_direct(void)
{
	struct world *w = plain_world(2, 1);

	sender_open(w->node[0].group[0]);
	/* The descriptors name a view with these last bits. */
	w->node[0].group[0]->mc.vid = w->node[0].group[0]->mc.latest = 1 << 16;
	CHECK_EQ(direct_writes_of(w, 64, 3), 3);
	CHECK_EQ(direct_writes_of(w, 64, 2), 3);
	CHECK_EQ(direct_writes_of(w, 64, 1), 2);
	world_close(w);
}

/* A message goes by express only if the member has received the previous message. */
static void test_one_at_a_time(void)
{
	struct world *w = plain_world(2, 1);
	struct group *g = w->node[0].group[0];
	struct spindle_mc_member *m = &g->mc.member[1];

	sender_open(g);
	CHECK_EQ(writes_of(w, 64), 1);
	CHECK_EQ(writes_of(w, 64), 3);
	CHECK_EQ(writes_of(w, 64), 3);
	/* The first message has sequence number 0. */
	m->received = 1;
	CHECK_EQ(writes_of(w, 64), 1);
	m->received = 3;
	CHECK_EQ(writes_of(w, 64), 3);
	m->received = 4;
	CHECK_EQ(writes_of(w, 64), 1);
	world_close(w);
}

/* Two messages at once are a batch. */
static void test_no_batch(void)
{
	struct world *w = plain_world(2, 1);
	struct group *g = w->node[0].group[0];

	sender_open(g);
	send_one(g, 64);
	CHECK_EQ(writes_of(w, 64), 3);
	world_close(w);
}

/* Where completions vouch, no message goes by express. */
static void test_not_vouched(void)
{
	struct world *w = plain_world(2, 1);
	struct group *g = w->node[0].group[0];
	struct spindle_write write[SPINDLE_PUSH_MAX];

	sender_open(g);
	send_one(g, 64);
	spindle_mc_run(&g->mc, false);
	CHECK_EQ(spindle_push(&g->mc, 1, 0, SPINDLE_PUSH_SPLIT, write, SPINDLE_PUSH_MAX), 3);
	world_close(w);
}

/* One message to two other members: one write to each, then one from each member to each. */
static void test_whole(void)
{
	struct world *w = plain_world(3, 1);
	u32 i;

	sender_open(w->node[0].group[0]);
	send_one(w->node[0].group[0], 64);
	settle(w);
	/* Each of three members reports the delivery to two others: another six. */
	CHECK_EQ(w->posted, 2 + 4 + 6);
	for (i = 0; i < 3; i++)
		CHECK_EQ(w->node[i].group[0]->mc.stats.delivered, 1);
	world_close(w);
}

/* ---- at the member ------------------------------------------------------------ */

/* Member 1 of two, and what it holds of member 0. */
struct victim {
	struct world *w;
	struct spindle_mc *mc;
	struct spindle_mc_member *m;
	struct spindle_mc_sender *sd;
};

static struct victim victim(void)
{
	struct victim v = { .w = plain_world(2, 1) };

	v.mc = &v.w->node[1].group[0]->mc;
	v.m = &v.mc->member[0];
	v.sd = &v.mc->sender[0];
	return v;
}

static void by_express(struct victim *v, u64 slots, u64 sent, u64 round, u32 len)
{
	const u64 word[SPINDLE_BLOCK_WORDS] = {
		[SPINDLE_COL_SENT] = sent,
		[SPINDLE_COL_SLOTS] = slots,
	};
	const struct spindle_msg msg = { .round = round, .unit = 2 * (slots - 1), .len = len };

	spindle_express_write((struct spindle_express *)v->m->express, word, &msg, ring, RING);
}

static void by_block(struct victim *v, u64 slots, u64 sent)
{
	const u64 word[SPINDLE_BLOCK_WORDS] = {
		[SPINDLE_COL_SENT] = sent,
		[SPINDLE_COL_SLOTS] = slots,
	};

	spindle_block_write((struct spindle_block *)v->m->block, word);
}

static void by_ring(struct victim *v, u64 slot, u64 round)
{
	const struct spindle_msg msg = { .round = round, .unit = 2 * slot, .len = 70 };

	spindle_hdr_write(v->sd->walk.ring, v->sd->walk.wmask, slot, &msg);
}

/* The guards become visible in any order. */
static void test_orders(void)
{
	struct victim v;
	u32 i;

	/* The member sees a block that was written later together with the message. */
	v = victim();
	new_bytes();
	by_express(&v, 1, 1, 0, 100);
	by_block(&v, 1, 1);
	spindle_mc_run(v.mc, true);
	CHECK(!v.mc->bad);
	CHECK_EQ(v.mc->stats.received, 1);
	CHECK(!memcmp(v.sd->pay, ring, 100));
	world_close(v.w);

	/* The message is not unpacked a second time, because a reader may be using the bytes. */
	v = victim();
	by_express(&v, 1, 1, 0, 100);
	spindle_mc_run(v.mc, true);
	memset(v.sd->pay, 0x33, 100);
	by_block(&v, 1, 2);
	by_express(&v, 1, 2, 0, 100);
	spindle_mc_run(v.mc, true);
	CHECK(!v.mc->bad);
	CHECK_EQ(v.mc->stats.received, 1);
	for (i = 0; i < 100; i++)
		CHECK_EQ(v.sd->pay[i], 0x33);
	world_close(v.w);

	/* The messages before it went by the ring, and the message overtook their guard. */
	v = victim();
	by_ring(&v, 0, 0);
	by_ring(&v, 1, 1);
	by_express(&v, 3, 3, 2, 100);
	spindle_mc_run(v.mc, true);
	CHECK(!v.mc->bad);
	CHECK_EQ(v.mc->stats.received, 3);
	CHECK_EQ(v.m->slots, 3);
	/* Now the guard of these messages arrives, with smaller counts. */
	by_block(&v, 3, 4);
	spindle_mc_run(v.mc, true);
	CHECK(!v.mc->bad);
	CHECK_EQ(v.m->sent, 4);
	world_close(v.w);

	/*
	 * A guard that was written before the message became visible between the two reads. The
	 * next guard with smaller counts is a lie.
	 */
	v = victim();
	by_ring(&v, 0, 0);
	by_express(&v, 2, 2, 1, 100);
	spindle_mc_run(v.mc, true);
	by_block(&v, 1, 1);
	spindle_mc_run(v.mc, true);
	CHECK(!v.mc->bad);
	CHECK_EQ(v.m->slots, 2);
	CHECK_EQ(v.mc->stats.received, 2);
	by_block(&v, 2, 3);
	spindle_mc_run(v.mc, true);
	CHECK(!v.mc->bad);
	CHECK_EQ(v.m->sent, 3);
	by_block(&v, 1, 1);
	spindle_mc_run(v.mc, true);
	CHECK(v.mc->bad);
	world_close(v.w);

	/*
	 * Messages by the ring follow the one by express, and the member finds all of them at once.
	 */
	v = victim();
	by_express(&v, 1, 1, 0, 100);
	by_ring(&v, 1, 1);
	by_ring(&v, 2, 2);
	by_block(&v, 3, 3);
	spindle_mc_run(v.mc, true);
	CHECK(!v.mc->bad);
	CHECK_EQ(v.mc->stats.received, 3);
	world_close(v.w);
}

/*
 * A message that no correct sender writes ends the connection. Where the counts are impossible, the
 * message is not unpacked before.
 */
static void test_lies(void)
{
	static const struct {
		u64 slots;
		u64 sent;
		u64 round;
		u32 len;
		bool unpacked;
		const char *what;
	} row[] = {
		{ 9, 9, 8, 64, false, "more than the window" },
		{ 2, 2, 1, 64, true, "the one before is missing" },
		{ 1, 1, 1, 64, true, "a round that is not decided" },
		{ 2, 1, 0, 64, false, "more messages than rounds" },
		{ 1, U64_MAX, 0, 64, false, "rounds without end" },
	};
	u32 i, b;

	for (i = 0; i < ARRAY_SIZE(row); i++) {
		struct victim v = victim();
		u64 at = (2 * (row[i].slots - 1) * 64) & (RING - 1);
		bool same = true;

		new_bytes();
		by_express(&v, row[i].slots, row[i].sent, row[i].round, row[i].len);
		memset(v.sd->pay, 0, RING);
		spindle_mc_run(v.mc, true);
		if (!CHECK(v.mc->bad && v.mc->events & SPINDLE_MC_FAILED))
			printf("# %s\n", row[i].what);
		CHECK_EQ(v.mc->bad, BIT(0));
		CHECK_EQ(v.mc->stats.received, 0);
		for (b = 0; b < row[i].len; b++)
			same &= v.sd->pay[at + b] == ring[at + b];
		CHECK_EQ(same, row[i].unpacked);
		world_close(v.w);
	}
}

/* After a lie in its block, the member's messages by express are ignored. */
static void test_lied_before(void)
{
	struct victim v = victim();

	by_block(&v, 0, U64_MAX);
	by_express(&v, 1, 1, 0, 64);
	memset(v.sd->pay, 0, RING);
	new_bytes();
	spindle_mc_run(v.mc, true);
	CHECK(v.mc->bad);
	CHECK_EQ(v.m->slots, 0);
	CHECK_EQ(v.sd->walk.ring[0].slot, 0);
	world_close(v.w);
}

/* Zero messages are no message, and no lie. A message longer than the view allows is a lie. */
static void test_odd_lies(void)
{
	struct victim v = victim();

	by_express(&v, 0, 0, 0, 64);
	spindle_mc_run(v.mc, true);
	CHECK(!v.mc->bad);
	CHECK_EQ(v.mc->stats.received, 0);
	world_close(v.w);

	v = victim();
	v.sd->walk.max_msg = 60;
	by_express(&v, 1, 1, 0, 64);
	spindle_mc_run(v.mc, true);
	CHECK(v.mc->bad);
	world_close(v.w);
}

/* A message that stays half written for ever is a lie as well. */
static void test_torn_for_ever(void)
{
	struct victim v = victim();
	u32 i;

	by_express(&v, 1, 1, 0, 64);
	((struct spindle_express *)v.m->express)->mix++;
	for (i = 0; i < SPINDLE_MAX_TORN && !v.mc->bad; i++)
		spindle_mc_run(v.mc, true);
	CHECK(!v.mc->bad);
	CHECK_EQ(v.m->torn, i);
	spindle_mc_run(v.mc, true);
	CHECK(v.mc->bad);
	world_close(v.w);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "messages alternate between two members", test_there_and_back },
		{ "a fresh express place holds no message", test_fresh },
		{ "a blend of two messages is rejected", test_torn },
		{ "a place that changes while it is read", test_second_look },
		{ "a message that is too long does not go by express", test_too_long },
		{ "only short single messages of the right member go by express", test_cost },
		{ "a direct message does not go by express", test_direct },
		{ "single messages go by express", test_one_at_a_time },
		{ "a batch does not go by express", test_no_batch },
		{ "express is off for members that wait for completions", test_not_vouched },
		{ "a single message costs the expected writes", test_whole },
		{ "guards and express arrive in any order", test_orders },
		{ "illegal express words are rejected", test_lies },
		{ "after a lie in its block, messages of a member by express are ignored",
		  test_lied_before },
		{ "random illegal words are rejected", test_odd_lies },
		{ "a place that stays half written is a fault", test_torn_for_ever },
	};

	rng.state = tap_env("SEED", 1);
	return tap_run(cases, ARRAY_SIZE(cases));
}
