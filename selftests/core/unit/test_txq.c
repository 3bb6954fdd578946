// SPDX-License-Identifier: GPL-2.0-only
/*
 * TX queue: the kernel takes slots from a ring that a process can write at any time.
 */
#include "rng.h"
#include "tap.h"
#include "core/multicast/txq.h"
#include "world.h"

#define W 4U
#define RING_UNITS 64U
#define MAX_MSG 1000U

struct fixture {
	struct spindle_txq q;
	struct spindle_tx_desc *desc;
	u64 *free_slot, *free_unit;
	u64 slot, unit; /* the honest process's next reservation */
};

static struct rng rng;

/* Each word has memory of its own, so that the sanitizer sees a step too far. */
static void open_at(struct fixture *f, u32 window, u32 ring_units, u32 max_msg, u64 slot,
		    u64 unit)
{
	memset(f, 0, sizeof(*f));
	f->desc = calloc(window, sizeof(*f->desc));
	f->free_slot = calloc(1, sizeof(u64));
	f->free_unit = calloc(1, sizeof(u64));
	f->q.desc = f->desc;
	f->q.free_slot_word = f->free_slot;
	f->q.free_unit_word = f->free_unit;
	f->q.wmask = window - 1;
	f->q.ring_units = ring_units;
	f->q.max_msg = max_msg;
	f->q.slot = f->slot = slot;
	f->q.unit = f->unit = unit;
	spindle_txq_free(&f->q, slot, unit);
}

static void close_it(struct fixture *f)
{
	free(f->desc);
	free(f->free_slot);
	free(f->free_unit);
}

static void commit(struct fixture *f, u64 slot, u64 unit, u32 units, u32 len, u32 flags)
{
	struct spindle_tx_desc *d = &f->desc[slot & f->q.wmask];

	d->unit = unit;
	d->units = units;
	d->len = len;
	d->flags = flags;
	__atomic_store_n(&d->ready, slot + 1, __ATOMIC_RELEASE);
}

static void test_take(void)
{
	struct spindle_tx_slot s;
	struct fixture f;

	open_at(&f, W, RING_UNITS, MAX_MSG, 0, 0);
	CHECK(!spindle_txq_ready(&f.q));
	CHECK(!spindle_txq_take(&f.q, &s));
	commit(&f, 1, 2, 1, 64, 0); /* out of order: slot 0 is missing */
	CHECK(!spindle_txq_ready(&f.q));
	CHECK(!spindle_txq_take(&f.q, &s));
	commit(&f, 0, 0, 2, 100, 0);
	CHECK(spindle_txq_ready(&f.q));
	CHECK(spindle_txq_take(&f.q, &s));
	CHECK_EQ(s.unit, 0);
	CHECK_EQ(s.end_unit, 2);
	CHECK_EQ(s.end_slot, 1);
	CHECK_EQ(s.len, 100);
	CHECK(!s.abandoned);
	CHECK(spindle_txq_take(&f.q, &s));
	CHECK_EQ(s.unit, 2);
	CHECK_EQ(s.end_slot, 2);
	CHECK(!spindle_txq_take(&f.q, &s));
	CHECK_EQ(f.q.error, 0);
	close_it(&f);
}

struct row {
	const char *name;
	u32 unit, units, len, flags;
	u64 ready;
	u32 error;
	bool taken;
};

/* The queue has taken slot 0 with units 0 to 9. Each row is slot 1. */
static void test_table(void)
{
	static const struct row rows[] = {
		{ "good", 10, 2, 128, 0, 2, 0, true },
		{ "empty", 10, 0, 0, 0, 2, 0, true },
		{ "reserved more than used", 10, 54, 1, 0, 2, 0, true },
		{ "abandoned", 10, 3, 0, SPINDLE_TX_ABANDON, 2, 0, true },
		{ "fresh page", 10, 2, 128, 0, 0, 0, false },
		{ "last lap", 10, 2, 128, 0, 2 - (u64)W, 0, false },
		{ "ready of the slot before", 10, 2, 128, 0, 1, SPINDLE_ERR_TX_READY, false },
		{ "ready of the slot after", 10, 2, 128, 0, 3, SPINDLE_ERR_TX_READY, false },
		{ "ready of the next lap", 10, 2, 128, 0, 2 + W, SPINDLE_ERR_TX_READY, false },
		{ "ready is garbage", 10, 2, 128, 0, U64_MAX, SPINDLE_ERR_TX_READY, false },
		{ "ready with a high bit", 10, 2, 128, 0, 2 | 1ULL << 32,
		  SPINDLE_ERR_TX_READY, false },
		{ "begins too early", 9, 2, 128, 0, 2, SPINDLE_ERR_TX_EXTENT, false },
		{ "begins too late", 11, 2, 128, 0, 2, SPINDLE_ERR_TX_EXTENT, false },
		{ "another lap of the ring", 10 + RING_UNITS, 2, 128, 0, 2,
		  SPINDLE_ERR_TX_EXTENT, false },
		{ "one unit too many", 10, 55, 1, 0, 2, SPINDLE_ERR_TX_EXTENT, false },
		{ "more than the ring", 10, RING_UNITS + 1, 1, 0, 2, SPINDLE_ERR_TX_EXTENT,
		  false },
		{ "units overflow", 10, UINT32_MAX, 1, 0, 2, SPINDLE_ERR_TX_EXTENT, false },
		{ "unknown flag", 10, 2, 128, 2, 2, SPINDLE_ERR_TX_EXTENT, false },
		{ "all flags", 10, 2, 128, UINT32_MAX, 2, SPINDLE_ERR_TX_EXTENT, false },
		{ "longer than its extent", 10, 2, 129, 0, 2, SPINDLE_ERR_TX_LEN, false },
		{ "a byte in no unit", 10, 0, 1, 0, 2, SPINDLE_ERR_TX_LEN, false },
		{ "longest", 10, 16, MAX_MSG, 0, 2, 0, true },
		{ "longer than max_msg", 10, 20, MAX_MSG + 1, 0, 2, SPINDLE_ERR_TX_LEN,
		  false },
		{ "length overflows in units", 10, 0, UINT32_MAX, 0, 2, SPINDLE_ERR_TX_LEN,
		  false },
		{ "length overflows, few units", 10, 1, UINT32_MAX - 62, 0, 2,
		  SPINDLE_ERR_TX_LEN, false },
	};
	struct spindle_tx_slot s;
	struct fixture f;
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		const struct row *r = &rows[i];
		bool taken, ready;

		open_at(&f, W, RING_UNITS, MAX_MSG, 0, 0);
		commit(&f, 0, 0, 10, 0, 0);
		CHECK(spindle_txq_take(&f.q, &s));
		commit(&f, 1, r->unit, r->units, r->len, r->flags);
		f.desc[1].ready = r->ready;
		ready = spindle_txq_ready(&f.q);
		taken = spindle_txq_take(&f.q, &s);
		if (taken != r->taken || f.q.error != r->error)
			tap_fail("%s: taken %d error %u", r->name, taken, f.q.error);
		if (ready != (r->taken || r->error))
			tap_fail("%s: ready says %d", r->name, ready);
		/* A frozen queue stays frozen, even if the process corrects its ring. */
		if (r->error) {
			commit(&f, 1, 10, 2, 128, 0);
			CHECK(!spindle_txq_ready(&f.q));
			CHECK(!spindle_txq_take(&f.q, &s));
			CHECK_EQ(f.q.error, r->error);
			CHECK_EQ(f.q.slot, 1);
			CHECK_EQ(f.q.unit, 10);
		}
		close_it(&f);
	}
}

/* All slots are out, and none is free: one more cannot have been reserved. */
static void test_full(void)
{
	struct spindle_tx_slot s;
	struct fixture f;
	u32 i;

	open_at(&f, W, RING_UNITS, MAX_MSG, 0, 0);
	for (i = 0; i < W; i++) {
		commit(&f, i, i, 1, 1, 0);
		CHECK(spindle_txq_take(&f.q, &s));
	}
	CHECK(!spindle_txq_ready(&f.q));
	commit(&f, W, W, 1, 1, 0);
	CHECK(!spindle_txq_take(&f.q, &s));
	CHECK_EQ(f.q.error, SPINDLE_ERR_TX_READY);
	close_it(&f);

	/* After one slot was freed, one more is correct, and so are its units. */
	open_at(&f, W, RING_UNITS, MAX_MSG, 0, 0);
	for (i = 0; i < W; i++) {
		commit(&f, i, i * 16, 16, 1, 0);
		CHECK(spindle_txq_take(&f.q, &s));
	}
	spindle_txq_free(&f.q, 1, 16);
	CHECK_EQ(*f.free_slot, 1);
	CHECK_EQ(*f.free_unit, 16);
	commit(&f, W, W * 16, 16, 1, 0);
	CHECK(spindle_txq_take(&f.q, &s));
	CHECK_EQ(s.unit, 64);
	CHECK_EQ(s.end_slot, W + 1);
	close_it(&f);
}

/* Laps of an honest process, across the wrap of both 32-bit halves of a reservation. */
static void run_laps(u64 slot, u64 unit, u32 window)
{
	struct { u64 slot, unit; } ends[64];
	struct spindle_tx_slot s;
	u64 taken = slot, freed = slot;
	struct fixture f;
	u32 i;

	open_at(&f, window, RING_UNITS, MAX_MSG, slot, unit);
	for (i = 0; i < 4000; i++) {
		u32 len = rng_below(&rng, MAX_MSG + 1);
		u32 units = spindle_units(len) + rng_below(&rng, 3);
		bool abandon = rng_chance(&rng, 20);

		if (rng_chance(&rng, 60) && f.slot - *f.free_slot < window &&
		    f.unit + units - *f.free_unit <= RING_UNITS) {
			commit(&f, f.slot, f.unit, units, len, abandon);
			CHECK(spindle_txq_take(&f.q, &s));
			CHECK_EQ(s.unit, f.unit);
			CHECK_EQ(s.len, len);
			CHECK_EQ(s.abandoned, abandon);
			f.slot++;
			f.unit += units;
			CHECK_EQ(s.end_unit, f.unit);
			CHECK_EQ(s.end_slot, f.slot);
			ends[taken & 63].slot = s.end_slot;
			ends[taken++ & 63].unit = s.end_unit;
		} else if (freed != taken) {
			freed += 1 + rng_below(&rng, taken - freed);
			spindle_txq_free(&f.q, ends[(freed - 1) & 63].slot,
					 ends[(freed - 1) & 63].unit);
		}
		CHECK_EQ(f.q.error, 0);
	}
	CHECK(f.slot > slot + 500);
	close_it(&f);
}

static void test_laps(void)
{
	u32 window;

	for (window = 1; window <= 64; window *= 2) {
		run_laps(0, 0, window);
		run_laps((1ULL << 32) - 100, (1ULL << 32) - 1000, window);
		run_laps((7ULL << 32) - 1, (9ULL << 32) - 1, window);
	}
}

/*
 * A process that writes anything anywhere. Slots that the kernel takes are in range, whatever the
 * process does. The slots of an honest prefix come out unchanged.
 */
static void fuzz_once(void)
{
	u32 window = 1U << rng_below(&rng, 5), honest = rng_below(&rng, window + 1), i;
	struct spindle_tx_slot s, want[16];
	u64 slot = rng_u64(&rng) >> 20, unit = rng_u64(&rng) >> 20;
	struct fixture f;
	u64 end_unit;

	open_at(&f, window, RING_UNITS, MAX_MSG, slot, unit);
	for (i = 0; i < honest; i++) {
		u32 len = rng_below(&rng, 64 * 4 + 1);

		want[i].unit = f.unit;
		want[i].len = len;
		commit(&f, f.slot++, f.unit, 4, len, 0);
		f.unit += 4;
	}
	for (i = 0; i < window * sizeof(*f.desc) / 4; i++) {
		u64 victim = slot + i / (sizeof(*f.desc) / 4) - (slot & f.q.wmask);

		/* The descriptors of the honest prefix stay untouched. */
		if (((victim - slot) & f.q.wmask) >= honest && rng_chance(&rng, 60))
			((u32 *)f.desc)[i] = rng_odd(&rng);
	}
	/*
	 * In half of the cases the next descriptor is nearly correct, because random ones never get
	 * through.
	 */
	if (honest < window && rng_chance(&rng, 50)) {
		struct spindle_tx_desc *d = &f.desc[f.slot & f.q.wmask];

		d->ready = f.slot + 1;
		d->unit = f.unit + (rng_chance(&rng, 20) ? rng_below(&rng, 3) : 0);
		d->units = rng_chance(&rng, 50) ? rng_below(&rng, 70) : d->units;
		d->len = rng_chance(&rng, 50) ? rng_below(&rng, MAX_MSG + 100) : d->len;
		d->flags = rng_below(&rng, 3);
	}
	end_unit = unit;
	for (i = 0; spindle_txq_take(&f.q, &s); i++) {
		CHECK(i <= f.q.wmask);
		CHECK(s.len <= MAX_MSG);
		CHECK_EQ(s.unit, end_unit);
		CHECK(s.end_unit - s.unit >= spindle_units(s.len));
		CHECK(s.end_unit - unit <= RING_UNITS);
		CHECK_EQ(s.end_slot, slot + i + 1);
		if (i < honest)
			CHECK(s.unit == want[i].unit && s.len == want[i].len && !s.abandoned);
		end_unit = s.end_unit;
		if (i > f.q.wmask)
			break;
	}
	CHECK(i >= honest);
	CHECK(!spindle_txq_ready(&f.q) || f.q.error);
	close_it(&f);
}

/* Destinations, and the view that they belong to, are read once and not judged here. */
static void test_destinations(void)
{
	struct spindle_tx_slot s;
	struct fixture f;

	open_at(&f, W, RING_UNITS, MAX_MSG, 0, 0);
	f.desc[0].mask = 0x8001;
	commit(&f, 0, 0, 2, 100, 0x1234U << SPINDLE_TX_VIEW_SHIFT);
	CHECK(spindle_txq_take(&f.q, &s));
	CHECK_EQ(s.mask, 0x8001);
	CHECK_EQ(s.flags >> SPINDLE_TX_VIEW_SHIFT, 0x1234);
	CHECK(!s.abandoned);
	commit(&f, 1, 2, 2, 100, 0xffffU << SPINDLE_TX_VIEW_SHIFT | SPINDLE_TX_ABANDON);
	CHECK(spindle_txq_take(&f.q, &s));
	CHECK_EQ(s.mask, 0);
	CHECK_EQ(s.flags >> SPINDLE_TX_VIEW_SHIFT, 0xffff);
	CHECK(s.abandoned);
	commit(&f, 2, 4, 2, 100, 0x8000);
	CHECK(!spindle_txq_take(&f.q, &s));
	CHECK_EQ(f.q.error, SPINDLE_ERR_TX_EXTENT);
	close_it(&f);
}

static void test_fuzz(void)
{
	u32 i;

	for (i = 0; i < 50000 && !tap_failures; i++)
		fuzz_once();
}

static struct spindle_tx_desc *moving;
static u32 looks_left;

static void spoil(void)
{
	if (looks_left--)
		return;
	moving->len = U32_MAX;
	moving->unit = 7;
	moving->units = U32_MAX;
	moving->flags = SPINDLE_TX_ABANDON;
}

/* The process spoils the slot between any two looks at it. What was checked is what is taken. */
static void test_second_look(void)
{
	struct spindle_tx_slot s;
	struct fixture f;
	u32 i;

	for (i = 0; i < 8; i++) {
		open_at(&f, W, RING_UNITS, MAX_MSG, 0, 0);
		commit(&f, 0, 0, 2, 100, 0);
		moving = f.desc;
		looks_left = i;
		world_look = spoil;
		if (spindle_txq_take(&f.q, &s)) {
			CHECK_EQ(s.unit, 0);
			CHECK_EQ(s.end_unit, 2);
			CHECK_EQ(s.len, 100);
			CHECK_EQ(f.q.unit, 2);
		}
		world_look = NULL;
		close_it(&f);
	}
	/* Each of six words is looked at once, before the last slot changes. */
	CHECK_EQ(looks_left, 1);
	CHECK(!s.abandoned);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "slots are taken in order", test_take },
		{ "every broken rule of a ring freezes the sender", test_table },
		{ "a ring is full, and takes no further slot", test_full },
		{ "a ring wraps its laps and abandoned slots", test_laps },
		{ "messages for some of the members", test_destinations },
		{ "random words in the memory of the process are safe", test_fuzz },
		{ "a slot that changes while it is taken", test_second_look },
	};

	rng = rng_seed();
	return tap_run(cases, ARRAY_SIZE(cases));
}
