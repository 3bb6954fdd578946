// SPDX-License-Identifier: GPL-2.0-only
/*
 * Push: from changes of the own row to writes. Each test plays the writes into a copy
 * of the row and compares.
 */
#include "core/multicast/multicast.h"
#include "core/base/push.h"
#include "rng.h"
#include "tap.h"

#define W 64U
#define HDR_AT 4096U
#define REMOTE_SKEW 8192U /* the copy has other offsets */

struct fixture {
	struct spindle_mc mc;
	struct spindle_mc_member member[2];
	struct spindle_mc_sender sender[1];
	struct spindle_msg msgs[W];
	struct spindle_mc_end ends[W];
	u32 ring_bytes, window;
	u64 unit, rounds;
	u8 *row, *copy, *own; /* bytes of the ring that belong to a message */
	size_t size;
};

static struct rng rng;

static void open_at(struct fixture *f, u32 window, u32 ring_bytes, u64 slot, u64 unit)
{
	struct spindle_mc *mc = &f->mc;
	u64 pay = HDR_AT + ALIGN(window * sizeof(struct spindle_hdr), SPINDLE_PAGE), i;

	memset(f, 0, sizeof(*f));
	f->window = window;
	f->ring_bytes = ring_bytes;
	f->unit = unit;
	f->rounds = slot;
	f->size = pay + ring_bytes;
	f->row = malloc(f->size);
	f->copy = calloc(1, f->size + REMOTE_SKEW);
	f->own = calloc(1, ring_bytes);
	for (i = 0; i < f->size; i++)
		f->row[i] = rng_u64(&rng) | 1;
	f->sender[0].pay = f->row + pay;
	mc->members = 2;
	mc->senders = 1;
	mc->window = window;
	mc->ring_units = ring_bytes >> SPINDLE_UNIT_SHIFT;
	mc->max_msg = ring_bytes;
	mc->tune.switches = SPINDLE_SW_ALL;
	mc->member = f->member;
	mc->sender = f->sender;
	mc->send.ends = f->ends;
	f->sender[0].msgs = f->msgs;
	f->sender[0].walk.slot = slot;
	mc->own.word[SPINDLE_COL_SLOTS] = slot;
	mc->own.block = (struct spindle_block *)(f->row + 64);
	mc->own.hdr = HDR_AT;
	mc->own.pay = pay;
	f->member[1].push_slot = slot;
	f->member[1].remote_block = 64;
	f->member[1].remote_hdr = HDR_AT + REMOTE_SKEW;
	f->member[1].remote_pay = pay + REMOTE_SKEW;
}

static void close_it(struct fixture *f)
{
	free(f->row);
	free(f->copy);
	free(f->own);
}

/* Write the bytes of a message, and leave other bytes in the rest of its units. */
static void fill(struct fixture *f, u32 len, u32 units)
{
	u64 at = f->unit << SPINDLE_UNIT_SHIFT;
	u32 i;

	for (i = 0; i < units << SPINDLE_UNIT_SHIFT; i++, at++) {
		f->sender[0].pay[at & (f->ring_bytes - 1)] = rng_u64(&rng) | 1;
		f->own[at & (f->ring_bytes - 1)] = i < len;
	}
}

static void send(struct fixture *f, u32 len, u32 extra_units)
{
	struct spindle_mc *mc = &f->mc;
	u64 n = mc->own.word[SPINDLE_COL_SLOTS];

	f->msgs[n & (f->window - 1)] = (struct spindle_msg){
		.round = f->rounds++, .unit = f->unit, .len = len,
	};
	fill(f, len, spindle_units(len) + extra_units);
	f->unit += spindle_units(len) + extra_units;
	f->ends[n & (f->window - 1)].unit = f->unit;
	f->ends[n & (f->window - 1)].clean = len;
	f->ends[n & (f->window - 1)].to = U64_MAX;
	mc->own.word[SPINDLE_COL_SLOTS] = n + 1;
	spindle_block_write(mc->own.block, mc->own.word);
	f->member[1].dirty = true;
}

/* A write has no byte that no message owns. */
static bool clean(const struct fixture *f, const struct spindle_write *w)
{
	u64 i;

	if (w->guard || w->local < f->mc.own.pay)
		return true;
	for (i = w->local; i < w->local + w->len; i++)
		if (f->row[i] && !f->own[i - f->mc.own.pay])
			return false;
	return true;
}

/* Play the writes. Every write stays inside one part of the row, and the guards come last. */
static void play(struct fixture *f, const struct spindle_write *w, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++) {
		u64 local = w[i].data ? 64 : w[i].local;

		CHECK(w[i].len > 0);
		CHECK_EQ(w[i].guard, !!w[i].data);
		CHECK(!w[i].guard || i == n - 1);
		if (w[i].guard) {
			CHECK(w[i].data == f->mc.own.block);
			CHECK_EQ(w[i].remote, 64);
			CHECK_EQ(w[i].len, SPINDLE_BLOCK_PUSH);
		} else {
			CHECK_EQ(w[i].remote, local + REMOTE_SKEW);
			if (local < f->mc.own.pay)
				CHECK(local >= HDR_AT &&
				      local + w[i].len <= HDR_AT + f->window * 32);
			else
				CHECK(local + w[i].len <= f->mc.own.pay + f->ring_bytes);
			CHECK(w[i].len <= SPINDLE_PUSH_RANGE);
			CHECK(clean(f, &w[i]));
		}
		memcpy(f->copy + w[i].remote, f->row + local, w[i].len);
	}
}

/* All messages [from, to) are in the copy, header and bytes. */
static bool arrived(const struct fixture *f, u64 from, u64 to)
{
	u64 i;
	u32 b;

	for (; from != to; from++) {
		const struct spindle_msg *m = &f->msgs[from & (f->window - 1)];
		u64 hdr = HDR_AT + (from & (f->window - 1)) * 32;

		if (memcmp(f->copy + hdr + REMOTE_SKEW, f->row + hdr, 32))
			return false;
		for (b = 0; b < m->len; b++) {
			i = f->mc.own.pay +
			    ((((u64)m->unit << SPINDLE_UNIT_SHIFT) + b) & (f->ring_bytes - 1));
			if (f->copy[i + REMOTE_SKEW] != f->row[i])
				return false;
		}
	}
	return true;
}

static void test_one(void)
{
	struct spindle_write w[SPINDLE_PUSH_MAX];
	struct fixture f;
	u32 n;

	open_at(&f, 8, 4096, 0, 0);
	CHECK(!spindle_push_wanted(&f.mc, 1));
	send(&f, 100, 0);
	CHECK(spindle_push_wanted(&f.mc, 1));
	n = spindle_push(&f.mc, 1, 3, 0, w, SPINDLE_PUSH_MAX);
	CHECK_EQ(n, 3);
	play(&f, w, n);
	CHECK(w[2].guard);
	CHECK_EQ(w[2].imm, 3U << SPINDLE_IMM_SHIFT | 1);
	CHECK_EQ(w[0].len, 100);
	CHECK_EQ(w[1].len, 32);
	CHECK(arrived(&f, 0, 1));
	CHECK(!spindle_push_wanted(&f.mc, 1));

	/* Columns alone are one write. */
	f.member[1].dirty = true;
	CHECK_EQ(spindle_push(&f.mc, 1, 63, 0, w, 5), 1);
	CHECK(w[0].guard);
	CHECK_EQ(w[0].imm, 63U << SPINDLE_IMM_SHIFT | 1);

	/* An empty message has a header and no payload. */
	send(&f, 0, 0);
	CHECK_EQ(spindle_push(&f.mc, 1, 0, 0, w, 5), 2);
	CHECK(w[1].guard && w[0].len == 32);
	close_it(&f);
}

/* However many messages have piled up: payload, headers, guard. */
static void test_batch_is_flat(void)
{
	struct spindle_write w[SPINDLE_PUSH_MAX];
	struct fixture f;
	u32 count, i, n;

	for (count = 1; count <= W; count++) {
		open_at(&f, W, 65536, 0, 0);
		for (i = 0; i < count; i++)
			send(&f, rng_below(&rng, 900) + 1, rng_below(&rng, 2));
		n = spindle_push(&f.mc, 1, 0, 0, w, SPINDLE_PUSH_MAX);
		CHECK_EQ(n, 3);
		play(&f, w, n);
		CHECK(arrived(&f, 0, count));
		CHECK_EQ(w[2].imm, count);
		close_it(&f);
	}
}

static void test_gaps(void)
{
	static const struct {
		u32 len, extra, ranges;
	} rows[] = {
		{ 64, 0, 1 },
		{ 64, SPINDLE_PUSH_GAP / 64, 1 },	/* just worth it */
		{ 63, SPINDLE_PUSH_GAP / 64, 2 },	/* one byte too many */
		{ 64, SPINDLE_PUSH_GAP / 64 + 1, 2 },
		{ 1, SPINDLE_PUSH_GAP / 64 - 1, 1 },
		{ 0, SPINDLE_PUSH_GAP / 64 + 1, 2 },
	};
	struct spindle_write w[SPINDLE_PUSH_MAX];
	struct fixture f;
	size_t i;
	u32 n;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		bool empty = !rows[i].len;

		open_at(&f, 8, 65536, 0, 0);
		send(&f, rows[i].len, rows[i].extra);
		send(&f, 64, 0);
		n = spindle_push(&f.mc, 1, 0, 0, w, SPINDLE_PUSH_MAX);
		if (n != rows[i].ranges + 2 - empty)
			tap_fail("gap row %zu: %u writes", i, n);
		play(&f, w, n);
		CHECK(arrived(&f, 0, 2));
		close_it(&f);
	}
}

/* Bytes that are placed are not pushed: neither alone nor between those of other messages. */
static void test_placed(void)
{
	struct spindle_write w[SPINDLE_PUSH_MAX];
	struct fixture f;
	u32 how, placed, i, n;
	u64 bytes;

	/* The bytes went another way, or they are for member 0 only, and not for member 1. */
	for (how = 0; how < 16; how++) {
		u32 ranges = 0;

		placed = how & 7;
		open_at(&f, 8, 65536, 0, 0);
		for (i = 0; i < 3; i++) {
			send(&f, 64, 0);
			if (how < 8)
				f.ends[i].to = placed & BIT(i) ? 0 : U64_MAX;
			else
				f.ends[i].to = placed & BIT(i) ? 1 : 2 + (i & 1);
		}
		for (i = 0; i < 3; i++)
			ranges += !(placed & BIT(i)) && (!i || (placed & BIT(i - 1)));
		n = spindle_push(&f.mc, 1, 0, 0, w, SPINDLE_PUSH_MAX);
		if (!CHECK_EQ(n, ranges + 2))
			tap_fail("how %x", how);
		for (i = 0, bytes = 0; i < ranges && i < n; i++)
			bytes += w[i].len;
		CHECK_EQ(bytes, 64 * (3 - hweight64(placed)));
		play(&f, w, n);
		/* The headers of all messages are pushed. */
		for (i = 0; i < 3; i++)
			CHECK_EQ(arrived(&f, i, i + 1), !(placed & BIT(i)));
		CHECK(!memcmp(f.copy + HDR_AT + REMOTE_SKEW, f.row + HDR_AT, 3 * 32));
		CHECK(!spindle_push_wanted(&f.mc, 1));
		close_it(&f);
	}
}

static void test_wraps(void)
{
	struct spindle_write w[SPINDLE_PUSH_MAX];
	struct fixture f;
	u32 n;

	/* Payload and headers both wrap: two writes each, and the guard. */
	open_at(&f, 4, 4096, 3, 62);
	send(&f, 200, 0);
	send(&f, 64, 0);
	n = spindle_push(&f.mc, 1, 0, 0, w, 5);
	CHECK_EQ(n, 5);
	play(&f, w, n);
	CHECK(arrived(&f, 3, 5));
	close_it(&f);

	/* A message as long as the ring, at any offset. */
	open_at(&f, 4, 4096, 0, 17);
	send(&f, 4096, 0);
	n = spindle_push(&f.mc, 1, 0, 0, w, 5);
	CHECK_EQ(n, 4);
	play(&f, w, n);
	CHECK(arrived(&f, 0, 1));
	close_it(&f);

	/* Units wrap at 2^32, which is a multiple of any ring. */
	open_at(&f, 8, 4096, 0, 0xfffffffe);
	send(&f, 100, 0);
	send(&f, 100, 1);
	send(&f, 100, 0);
	n = spindle_push(&f.mc, 1, 0, 0, w, SPINDLE_PUSH_MAX);
	play(&f, w, n);
	CHECK(w[n - 1].guard);
	CHECK(arrived(&f, 0, 3));
	close_it(&f);

	/* The count in the immediate data wraps at 2^25. */
	open_at(&f, 8, 4096, SPINDLE_IMM_SLOTS, 0);
	send(&f, 1, 0);
	n = spindle_push(&f.mc, 1, 5, 0, w, 5);
	CHECK_EQ(w[n - 1].imm, 5U << SPINDLE_IMM_SHIFT);
	close_it(&f);
}

/* One write is at most SPINDLE_PUSH_RANGE, even if extents touch. */
static void test_long_ranges(void)
{
	struct spindle_write w[SPINDLE_PUSH_MAX];
	struct fixture f;
	u32 n, i;

	open_at(&f, 8, 4 << 20, 0, 0);
	for (i = 0; i < 5; i++)
		send(&f, 700 << 10, 0);
	n = spindle_push(&f.mc, 1, 0, 0, w, SPINDLE_PUSH_MAX);
	CHECK_EQ(n, 7);
	play(&f, w, n);
	CHECK(arrived(&f, 0, 5));
	close_it(&f);
}

/* There is room for a part of the writes: the guard waits until all of them are posted. */
static void test_partial(void)
{
	struct spindle_write w[SPINDLE_PUSH_MAX];
	struct fixture f;
	u32 max, n = 1, i, calls;

	for (max = 5; max <= SPINDLE_PUSH_MAX; max++) {
		open_at(&f, 16, 65536, 11, 1000);
		for (i = 0; i < 16; i++)
			send(&f, 64, 40); /* each a range of its own */
		for (calls = 0; spindle_push_wanted(&f.mc, 1) && calls < 100; calls++) {
			u64 before = f.member[1].push_slot;

			memset(w, 0xff, sizeof(w));
			n = spindle_push(&f.mc, 1, 2, 0, w, max);
			CHECK(n > 0 && n <= max);
			CHECK(n == SPINDLE_PUSH_MAX || w[n].local == U64_MAX);
			play(&f, w, n);
			CHECK(arrived(&f, before, f.member[1].push_slot));
			CHECK_EQ(w[n - 1].guard, f.member[1].push_slot == 27);
			CHECK_EQ(w[n - 1].guard, !spindle_push_wanted(&f.mc, 1));
			CHECK(f.member[1].push_slot > before);
		}
		CHECK_EQ(w[n - 1].imm, 2U << SPINDLE_IMM_SHIFT | 27);
		CHECK(arrived(&f, 11, 27));
		close_it(&f);
	}
}

/* Slots of a fixed size are pushed whole, without the bytes between them. */
static void test_slots(void)
{
	static const struct {
		u32 len, extra, bytes;
	} rows[] = {
		{ 100, 14, 1024 },	/* reserved by the library */
		{ 0, 16, 1024 },
		{ 1000, 0, 1024 },
		{ 100, 14 + 32, 1024 },	/* two abandoned slots behind it */
		{ 100, 0, 128 },	/* reserved while @packed was on */
	};
	struct spindle_write w[SPINDLE_PUSH_MAX];
	struct fixture f;
	size_t i;
	u32 n;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		open_at(&f, 8, 65536, 0, 0);
		f.mc.max_msg = 1000;
		f.mc.tune.switches &= ~SPINDLE_SW_PACKED;
		send(&f, rows[i].len, rows[i].extra);
		n = spindle_push(&f.mc, 1, 0, 0, w, SPINDLE_PUSH_MAX);
		CHECK_EQ(n, 3);
		CHECK_EQ(w[0].len, rows[i].bytes);
		play(&f, w, n);
		CHECK(arrived(&f, 0, 1));
		/* Two such slots are one range. */
		send(&f, rows[i].len, rows[i].extra);
		send(&f, rows[i].len, rows[i].extra);
		n = spindle_push(&f.mc, 1, 0, 0, w, SPINDLE_PUSH_MAX);
		play(&f, w, n);
		CHECK(arrived(&f, 1, 3));
		close_it(&f);
	}
}

/* What was reserved for a message is sent up to the size from which a message is large. */
static void test_slots_large(void)
{
	struct spindle_write w[SPINDLE_PUSH_MAX];
	struct fixture f;

	open_at(&f, 8, 4 * SPINDLE_MAX_LARGE, 0, 0);
	f.mc.max_msg = 2 * SPINDLE_MAX_LARGE;
	f.mc.tune.switches &= ~SPINDLE_SW_PACKED;
	send(&f, 100, 2 * SPINDLE_MAX_LARGE >> SPINDLE_UNIT_SHIFT);
	CHECK_EQ(spindle_push(&f.mc, 1, 0, 0, w, SPINDLE_PUSH_MAX), 3);
	CHECK_EQ(w[0].len, SPINDLE_MAX_LARGE);
	close_it(&f);
}

/* If both counts changed, there is one guard for RECEIVED and one for DELIVERED. */
static void test_split(void)
{
	u64 word[SPINDLE_BLOCK_WORDS], seal = 0;
	struct spindle_write w[SPINDLE_PUSH_MAX];
	struct fixture f;

	open_at(&f, 8, 4096, 0, 0);
	f.mc.own.word[SPINDLE_COL_RECEIVED] = 7;
	f.mc.own.word[SPINDLE_COL_DELIVERED] = 5;
	f.member[1].told_received = 3;
	f.member[1].told_delivered = 2;
	/*
	 * One guard if acknowledgments are merged, or where two guards could overtake each other.
	 */
	f.member[1].dirty = true;
	CHECK_EQ(spindle_push(&f.mc, 1, 0, SPINDLE_PUSH_SPLIT, w, 6), 1);
	f.member[1].told_received = 3;
	f.member[1].told_delivered = 2;
	f.mc.tune.switches &= ~SPINDLE_SW_MERGED_ACKS;
	f.member[1].dirty = true;
	CHECK_EQ(spindle_push(&f.mc, 1, 0, 0, w, 6), 1);
	f.member[1].told_received = 3;
	f.member[1].told_delivered = 2;
	f.member[1].dirty = true;
	CHECK_EQ(spindle_push(&f.mc, 1, 0, SPINDLE_PUSH_SPLIT, w, 6), 2);
	CHECK(w[0].guard && w[1].guard);
	CHECK(w[0].data == &f.member[1].half && w[1].data == f.mc.own.block);
	CHECK_EQ(spindle_block_read(w[0].data, &seal, word), SPINDLE_READ_NEW);
	CHECK_EQ(word[SPINDLE_COL_RECEIVED], 7);
	CHECK_EQ(word[SPINDLE_COL_DELIVERED], 2);
	/* A change of one of the two counts takes one guard. */
	f.member[1].told_received = 3;
	f.member[1].dirty = true;
	CHECK_EQ(spindle_push(&f.mc, 1, 0, SPINDLE_PUSH_SPLIT, w, 6), 1);
	f.member[1].told_delivered = 2;
	f.member[1].dirty = true;
	CHECK_EQ(spindle_push(&f.mc, 1, 0, SPINDLE_PUSH_SPLIT, w, 6), 1);
	close_it(&f);
}

/* Two guards never exceed the room, at any offset of the payload. */
static void test_split_room(void)
{
	struct spindle_write w[SPINDLE_PUSH_MAX + 1];
	struct fixture f;
	u32 max, count, i, n;

	for (max = 6; max <= SPINDLE_PUSH_MAX; max++) {
		for (count = 1; count <= 16; count++) {
			/* The last message wraps, and so do the headers. */
			open_at(&f, 16, 65536, 15, 1023 - 42 * (count - 1));
			f.mc.tune.switches &= ~SPINDLE_SW_MERGED_ACKS;
			f.mc.own.word[SPINDLE_COL_RECEIVED] = 7;
			f.mc.own.word[SPINDLE_COL_DELIVERED] = 5;
			for (i = 0; i < count; i++)
				send(&f, 128, 40); /* each a range of its own */
			memset(w, 0xff, sizeof(w));
			n = spindle_push(&f.mc, 1, 2, SPINDLE_PUSH_SPLIT, w, max);
			CHECK(n > 0 && n <= max);
			CHECK_EQ(w[max].local, U64_MAX);
			close_it(&f);
		}
	}
}

static void random_run(void)
{
	u32 window = 1U << rng_below(&rng, 7), ring = 4096U << rng_below(&rng, 4);
	u64 slot = rng_u64(&rng) >> 30, unit = rng_u64(&rng), seen = slot;
	struct spindle_write w[SPINDLE_PUSH_MAX];
	struct fixture f;
	u64 first_unit;
	u32 i, n;

	open_at(&f, window, ring, slot, unit);
	first_unit = f.unit;
	for (i = 0; i < 60; i++) {
		u64 out = f.mc.own.word[SPINDLE_COL_SLOTS] - seen;
		u32 len = rng_below(&rng, ring / 4), extra = rng_below(&rng, 20);

		if (rng_chance(&rng, 60) && out < window &&
		    f.unit - first_unit + spindle_units(len) + extra <= ring / 64) {
			send(&f, len, extra);
			continue;
		}
		if (!spindle_push_wanted(&f.mc, 1))
			continue;
		n = spindle_push(&f.mc, 1, 0, 0, w, 5 + rng_below(&rng, SPINDLE_PUSH_MAX - 4));
		play(&f, w, n);
		CHECK(arrived(&f, seen, f.member[1].push_slot));
		if (!w[n - 1].guard)
			continue;
		seen = f.mc.own.word[SPINDLE_COL_SLOTS];
		first_unit = f.unit;
	}
	close_it(&f);
}

static void test_random(void)
{
	u32 i, count = max_t(u64, 1, 1000 * tap_env("SCHEDULES", 100) / 100);

	for (i = 0; i < count && !tap_failures; i++)
		random_run();
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a push has one message, no message or an empty message", test_one },
		{ "writes do not grow with the batch", test_batch_is_flat },
		{ "small gaps are sent as well, large ones are not", test_gaps },
		{ "bytes that are there, or are for others, are not sent", test_placed },
		{ "payload, headers, units and immediate data wrap", test_wraps },
		{ "a write has a maximum length", test_long_ranges },
		{ "partial pushes hold the guard back", test_partial },
		{ "packed is off: slots have a fixed size", test_slots },
		{ "no message is sent as longer than a large one", test_slots_large },
		{ "acknowledgments are pushed one by one", test_split },
		{ "separate acknowledgments fit into the room of the queue", test_split_room },
		{ "random traffic arrives", test_random },
	};

	rng = rng_seed();
	return tap_run(cases, ARRAY_SIZE(cases));
}
