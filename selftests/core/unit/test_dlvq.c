// SPDX-License-Identifier: GPL-2.0-only
/*
 * Delivery queue: consumed rules, room, and the copy ring.
 */
#include "core/multicast/dlvq.h"
#include "rng.h"
#include "tap.h"

#define SRC_BYTES 4096U

struct fixture {
	struct spindle_dlvq q;
	u64 *tail, *consumed;
	u8 *src;
};

static struct rng rng;

static void open_it(struct fixture *f, u32 entries, u32 copy_units)
{
	u32 i;

	memset(f, 0, sizeof(*f));
	f->tail = calloc(1, sizeof(u64));
	f->consumed = calloc(1, sizeof(u64));
	f->src = malloc(SRC_BYTES);
	for (i = 0; i < SRC_BYTES; i++)
		f->src[i] = rng_u64(&rng);
	f->q.ring = calloc(entries, sizeof(*f->q.ring));
	f->q.mask = entries - 1;
	f->q.tail_word = f->tail;
	f->q.consumed_word = f->consumed;
	if (copy_units) {
		f->q.copy = malloc((size_t)copy_units << SPINDLE_UNIT_SHIFT);
		f->q.copy_end = calloc(entries, sizeof(u64));
		f->q.copy_units = copy_units;
	}
}

static void close_it(struct fixture *f)
{
	free(f->tail);
	free(f->consumed);
	free(f->src);
	free(f->q.ring);
	free(f->q.copy);
	free(f->q.copy_end);
}

static bool copy(struct fixture *f, u64 seq, u64 offset, u32 len, u64 *budget)
{
	const struct spindle_dlv dlv = {
		.offset = offset, .len = len, .sender = seq % 3, .slot = seq / 3,
	};

	return spindle_dlvq_copy(&f->q, &dlv, f->src, SRC_BYTES, budget);
}

static void append(struct fixture *f, u64 seq, u64 offset, u32 len)
{
	struct spindle_dlv dlv = {
		.lsn = seq, .offset = offset, .len = len, .sender = seq % 3, .slot = seq / 3,
	};
	u64 budget;

	do
		budget = rng_below(&rng, 200);
	while (f->q.copy && !copy(f, seq, offset, len, &budget));
	spindle_dlvq_append(&f->q, &dlv);
}

static void test_consumed(void)
{
	static const struct {
		const char *name;
		u64 before, word;
		bool moved;
		u32 error;
	} rows[] = {
		{ "as it was", 2, 2, false, 0 },
		{ "one on", 2, 3, true, 0 },
		{ "all", 2, 5, true, 0 },
		{ "beyond the tail", 2, 6, true, SPINDLE_ERR_CONSUMED },
		{ "far beyond", 2, U64_MAX, true, SPINDLE_ERR_CONSUMED },
		{ "back", 2, 1, true, SPINDLE_ERR_CONSUMED },
		{ "back to nothing", 2, 0, true, SPINDLE_ERR_CONSUMED },
	};
	struct fixture f;
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		open_it(&f, 8, 0);
		for (k = 0; k < 5; k++)
			append(&f, k, 0, 1);
		spindle_dlvq_publish(&f.q);
		*f.consumed = rows[i].before;
		CHECK(spindle_dlvq_poll(&f.q));
		*f.consumed = rows[i].word;
		if (spindle_dlvq_poll(&f.q) != rows[i].moved || f.q.error != rows[i].error)
			tap_fail("%s: error %u", rows[i].name, f.q.error);
		CHECK_EQ(f.q.consumed, rows[i].error ? rows[i].before : rows[i].word);
		if (rows[i].error) {
			/*
			 * The error is final: the queue is neither waited for nor looked at again.
			 */
			*f.consumed = 3;
			CHECK(!spindle_dlvq_poll(&f.q));
			CHECK_EQ(f.q.error, rows[i].error);
			CHECK_EQ(f.q.consumed, rows[i].before);
		}
		close_it(&f);
	}
}

static void test_descriptors(void)
{
	struct fixture f;
	u64 i;

	open_it(&f, 4, 0);
	for (i = 0; i < 40; i++) {
		struct spindle_dlv want = {
			.lsn = 5 * i, .offset = 64 * (i % 9), .len = i, .sender = i % 7,
			.kind = SPINDLE_DLV_MSG, .slot = i / 7,
		};

		CHECK(spindle_dlvq_room(&f.q, 1 << 20));
		spindle_dlvq_append(&f.q, &want);
		CHECK_EQ(*f.tail, i);
		spindle_dlvq_publish(&f.q);
		CHECK_EQ(*f.tail, i + 1);
		CHECK(!memcmp(&f.q.ring[i & 3], &want, sizeof(want)));
		if (i % 4 == 3) {
			CHECK(!spindle_dlvq_room(&f.q, 0));
			*f.consumed = i - rng_below(&rng, 3);
			CHECK(spindle_dlvq_poll(&f.q));
			CHECK(spindle_dlvq_room(&f.q, 0));
			*f.consumed = i + 1;
			spindle_dlvq_poll(&f.q);
		}
	}
	CHECK_EQ(f.q.error, 0);
	close_it(&f);
}

/* What is copied in part belongs to one message: of this sender, with this number. */
static void test_other_message(void)
{
	static const struct {
		u32 sender;
		u64 slot;
		u32 have;
	} next[] = { { 1, 5, 40 }, { 2, 5, 20 }, { 2, 6, 20 }, { 2, 6, 40 } };
	struct spindle_dlv dlv = { .len = 100, .sender = 1, .slot = 5 };
	struct fixture f;
	u64 budget = 20;
	u32 i;

	open_it(&f, 8, 4);
	CHECK(!spindle_dlvq_copy(&f.q, &dlv, f.src, SRC_BYTES, &budget));
	CHECK_EQ(f.q.part, 20);
	for (i = 0; i < ARRAY_SIZE(next); i++) {
		dlv.sender = next[i].sender;
		dlv.slot = next[i].slot;
		budget = 20;
		CHECK(!spindle_dlvq_copy(&f.q, &dlv, f.src, SRC_BYTES, &budget));
		CHECK_EQ(f.q.part, next[i].have);
	}
	close_it(&f);
}

/* The position of a reader is that of the first entry that it has not consumed. */
static void test_position(void)
{
	struct fixture f;
	u64 i;

	open_it(&f, 4, 0);
	CHECK_EQ(spindle_dlvq_lsn(&f.q, 9), 9);
	for (i = 0; i < 3; i++) {
		struct spindle_dlv d = { .lsn = 10 + 2 * i };

		spindle_dlvq_append(&f.q, &d);
		spindle_dlvq_publish(&f.q);
	}
	CHECK_EQ(spindle_dlvq_lsn(&f.q, 15), 10);
	f.q.consumed = 2;
	CHECK_EQ(spindle_dlvq_lsn(&f.q, 15), 14);
	f.q.consumed = 3;
	CHECK_EQ(spindle_dlvq_lsn(&f.q, 15), 15);
	/* The ring wraps. */
	for (i = 0; i < 3; i++) {
		struct spindle_dlv d = { .lsn = 20 + i };

		spindle_dlvq_append(&f.q, &d);
		spindle_dlvq_publish(&f.q);
	}
	f.q.consumed = 5;
	CHECK_EQ(spindle_dlvq_lsn(&f.q, 30), 22);
	close_it(&f);
}

static void test_copy_room(void)
{
	struct fixture f;

	open_it(&f, 8, 4);
	CHECK(spindle_dlvq_room(&f.q, 256));
	append(&f, 0, 0, 100); /* two units */
	CHECK(spindle_dlvq_room(&f.q, 128));
	CHECK(!spindle_dlvq_room(&f.q, 129));
	append(&f, 1, 0, 128);
	CHECK(!spindle_dlvq_room(&f.q, 1));
	CHECK(spindle_dlvq_room(&f.q, 0)); /* an empty message takes an entry only */
	append(&f, 2, 0, 0);
	spindle_dlvq_publish(&f.q);
	*f.consumed = 1;
	CHECK(spindle_dlvq_poll(&f.q));
	CHECK(spindle_dlvq_room(&f.q, 128));
	CHECK(!spindle_dlvq_room(&f.q, 129));
	*f.consumed = 3;
	CHECK(spindle_dlvq_poll(&f.q));
	CHECK(spindle_dlvq_room(&f.q, 256));
	CHECK(!spindle_dlvq_room(&f.q, 257));
	close_it(&f);
}

static bool same_bytes(const struct fixture *f, u64 at, u64 from, u32 len)
{
	u64 mask = ((u64)f->q.copy_units << SPINDLE_UNIT_SHIFT) - 1;
	u32 i;

	for (i = 0; i < len; i++)
		if (f->q.copy[(at + i) & mask] != f->src[(from + i) & (SRC_BYTES - 1)])
			return false;
	return true;
}

/* Random traffic: the bytes of a message stay the same until the reader consumes it. */
static void copy_traffic(u32 entries, u32 copy_units)
{
	u32 max_msg = copy_units << SPINDLE_UNIT_SHIFT, i, full = 0;
	u64 from[64], tail = 0, consumed = 0;
	u32 len[64];
	struct fixture f;

	open_it(&f, entries, copy_units);
	for (i = 0; i < 3000; i++) {
		u64 at = (u64)rng_below(&rng, SRC_BYTES / 64) * 64;
		u32 n = rng_below(&rng, rng_chance(&rng, 20) ? max_msg + 1 : 100);

		if (rng_chance(&rng, 60)) {
			n = min(n, max_msg);
			if (spindle_dlvq_room(&f.q, n)) {
				from[tail & 63] = at;
				len[tail & 63] = n;
				append(&f, tail++, at, n);
				spindle_dlvq_publish(&f.q);
			} else {
				CHECK(tail != consumed);
				full++;
			}
		} else if (tail != consumed) {
			u64 n_read = 1 + rng_below(&rng, tail - consumed), k;

			for (k = consumed; k < consumed + n_read; k++)
				CHECK(same_bytes(&f, f.q.ring[k & f.q.mask].offset,
						 from[k & 63], len[k & 63]));
			consumed += n_read;
			*f.consumed = consumed;
			CHECK(spindle_dlvq_poll(&f.q));
		}
		CHECK(f.q.copy_tail - f.q.copy_free <= copy_units);
	}
	CHECK(full > 0);
	CHECK_EQ(f.q.error, 0);
	close_it(&f);
}

static void test_copy_traffic(void)
{
	static const u32 units[] = { 1, 2, 16, 64, 128 };
	u32 entries;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(units); i++)
		for (entries = 1; entries <= 64; entries *= 4)
			copy_traffic(entries, units[i]);
}

static void test_copy_budget(void)
{
	struct fixture f;
	u64 budget = 50;

	open_it(&f, 8, 4);
	CHECK(!copy(&f, 7, 64, 120, &budget));
	CHECK_EQ(budget, 0);
	CHECK(!copy(&f, 7, 64, 120, &budget)); /* the budget is 0: the copy makes no progress */
	budget = 69;
	CHECK(!copy(&f, 7, 64, 120, &budget));
	budget = 100;
	CHECK(copy(&f, 7, 64, 120, &budget));
	CHECK_EQ(budget, 99); /* the last byte alone was missing */
	CHECK(same_bytes(&f, 0, 64, 120));
	CHECK_EQ(f.q.copy_tail, 0);
	/*
	 * The copy of another message comes first: its bytes start from the beginning, in the same
	 * place.
	 */
	budget = 30;
	CHECK(!copy(&f, 3, 640, 40, &budget));
	budget = 50;
	CHECK(copy(&f, 3, 640, 40, &budget));
	CHECK_EQ(budget, 40);
	CHECK(same_bytes(&f, 0, 640, 40));
	append(&f, 3, 640, 40);
	/* Behind it: a message with the same number, in another view. */
	budget = 10;
	CHECK(!copy(&f, 3, 1280, 100, &budget));
	budget = 100;
	CHECK(copy(&f, 3, 1280, 100, &budget));
	CHECK(same_bytes(&f, 64, 1280, 100));
	close_it(&f);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "consumed grows, and never beyond the tail", test_consumed },
		{ "a queue holds descriptors of several laps, and is full", test_descriptors },
		{ "where a reader is", test_position },
		{ "another message begins again", test_other_message },
		{ "a copy ring has room for consumed bytes", test_copy_room },
		{ "copied bytes stay until they are consumed", test_copy_traffic },
		{ "a budget bounds the copied bytes", test_copy_budget },
	};

	rng = rng_seed();
	return tap_run(cases, ARRAY_SIZE(cases));
}
