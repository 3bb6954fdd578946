// SPDX-License-Identifier: GPL-2.0-only
/*
 * History: what it keeps and forgets, and what its readers see of that.
 */
#include "core/multicast/history.h"
#include "core/multicast/multicast.h"
#include "core/multicast/stage.h"
#include "rng.h"
#include "tap.h"

#define UNITS 128U
#define BYTES (UNITS << SPINDLE_UNIT_SHIFT)
#define ENTRIES (UNITS / 2)
#define MAX_LEN (BYTES / 2)
#define CURSORS 6
/* Entries are numbered from here on. */
#define FIRST ((u64)ENTRIES)

struct cursor {
	struct spindle_dlvq q;
	u64 tail, consumed, low;
	u64 want;	/* position of the next message that it has to read */
	bool attached;
};

struct fixture {
	struct spindle_history h;
	struct cursor cursor[CURSORS];
	u64 lsn;	/* of the next message */
	u64 vid;	/* of the present view */
	u64 filled;	/* messages that were put in front */
};

static struct rng rng;

static struct fixture *open_it(void)
{
	struct fixture *f = calloc(1, sizeof(*f));

	/* Memory of the exact size, so that the sanitizer finds what goes beyond it. */
	spindle_history_init(&f->h, calloc(ENTRIES, sizeof(struct spindle_dlv)), calloc(1, BYTES),
			     calloc(ENTRIES, sizeof(u64)), UNITS);
	f->vid = 1;
	return f;
}

static void close_it(struct fixture *f)
{
	free(f->h.q.ring);
	free(f->h.q.copy);
	free(f->h.q.copy_end);
	free(f);
}

/* The bytes of a message, and its length, follow from its position. */
static u8 byte_of(u64 lsn, u32 i)
{
	return rng_mix(lsn * 131 + i / 8) >> (i % 8 * 8);
}

static void append_len(struct fixture *f, u32 len)
{
	struct spindle_dlv dlv = { .lsn = f->lsn, .len = len, .kind = SPINDLE_DLV_MSG,
				   .slot = f->lsn };
	static u8 src[BYTES];
	u64 budget = U64_MAX;
	u32 i;

	for (i = 0; i < len; i++)
		src[i] = byte_of(f->lsn, i);
	if (!spindle_dlvq_room(&f->h.q, len))
		spindle_history_make_room(&f->h, len);
	if (!CHECK(spindle_dlvq_room(&f->h.q, len)))
		return;
	CHECK(spindle_dlvq_copy(&f->h.q, &dlv, src, BYTES, &budget));
	spindle_dlvq_append(&f->h.q, &dlv);
	f->lsn++;
}

static void append_view(struct fixture *f)
{
	struct spindle_dlv dlv = { .lsn = f->lsn, .slot = ++f->vid, .kind = SPINDLE_DLV_VIEW };

	if (!spindle_dlvq_room(&f->h.q, 0))
		spindle_history_make_room(&f->h, 0);
	spindle_dlvq_append(&f->h.q, &dlv);
	spindle_history_viewed(&f->h, f->vid, f->vid - 1);
}

static void attach(struct fixture *f, u32 i, u64 lsn)
{
	struct cursor *c = &f->cursor[i];

	memset(c, 0, sizeof(*c));
	c->q.tail_word = &c->tail;
	c->q.consumed_word = &c->consumed;
	c->q.low_word = &c->low;
	spindle_history_attach(&f->h, &c->q, spindle_history_find(&f->h, lsn));
	c->consumed = c->q.consumed;
	c->want = lsn;
	c->attached = true;
}

static void detach(struct fixture *f, u32 i)
{
	spindle_history_detach(&f->h, &f->cursor[i].q);
	f->cursor[i].attached = false;
}

/* Does entry @at have the message of position @lsn, with all its bytes? */
static bool holds(const struct fixture *f, u64 at, u64 lsn)
{
	const struct spindle_dlv *d = &f->h.q.ring[at & f->h.q.mask];
	u32 i;

	if (d->kind != SPINDLE_DLV_MSG || d->lsn != lsn || d->slot != lsn)
		return false;
	for (i = 0; i < d->len; i++)
		if (f->h.q.copy[(d->offset + i) & (BYTES - 1)] != byte_of(lsn, i))
			return false;
	return true;
}

/* Read the next entry as a process does. Returns false if the process is dropped. */
static bool read_one(struct fixture *f, struct cursor *c)
{
	const struct spindle_dlv *d = &f->h.q.ring[c->consumed & f->h.q.mask];
	bool is_view = d->kind == SPINDLE_DLV_VIEW;

	if (c->low > c->consumed)
		return false;
	if (!is_view && CHECK(holds(f, c->consumed, c->want)))
		c->want++;
	c->consumed++;
	return true;
}

static void test_empty(void)
{
	struct fixture *f = open_it();

	CHECK_EQ(spindle_history_oldest(&f->h, 77), 77);
	CHECK_EQ(spindle_history_find(&f->h, 77), FIRST);
	CHECK_EQ(spindle_history_vid(&f->h, FIRST, 5), 5);
	close_it(f);
}

static void test_find(void)
{
	struct fixture *f = open_it();
	u64 lsn;

	f->lsn = 100;
	for (; f->lsn < 110; )
		append_len(f, 10);
	append_view(f);
	append_view(f);
	for (; f->lsn < 120; )
		append_len(f, 10);
	append_view(f);
	CHECK_EQ(spindle_history_oldest(&f->h, f->lsn), 100);
	for (lsn = 100; lsn < 110; lsn++)
		CHECK_EQ(spindle_history_find(&f->h, lsn), FIRST + lsn - 100);
	/* A reader begins with the message, in the last view that begins before it. */
	for (; lsn < 120; lsn++)
		CHECK_EQ(spindle_history_find(&f->h, lsn), FIRST + lsn - 98);
	CHECK_EQ(spindle_history_find(&f->h, 120), f->h.q.tail);
	CHECK_EQ(spindle_history_vid(&f->h, FIRST, 4), 1);
	CHECK_EQ(spindle_history_vid(&f->h, FIRST + 9, 4), 1);
	CHECK_EQ(spindle_history_vid(&f->h, FIRST + 10, 4), 1);
	CHECK_EQ(spindle_history_vid(&f->h, FIRST + 11, 4), 2);
	CHECK_EQ(spindle_history_vid(&f->h, FIRST + 12, 4), 3);
	CHECK_EQ(spindle_history_vid(&f->h, FIRST + 22, 4), 3);
	CHECK_EQ(spindle_history_vid(&f->h, FIRST + 23, 4), 4);
	CHECK_EQ(spindle_history_vid(&f->h, FIRST + 23, 9), 9);
	close_it(f);
}

/* Views that leave the subgroup as it is have no entry: the last of them is remembered longest. */
static void test_quiet_views(void)
{
	struct fixture *f = open_it();

	append_len(f, 1);
	f->vid = 40;
	append_view(f);
	append_len(f, 1);
	CHECK_EQ(spindle_history_vid(&f->h, FIRST, 50), 40);
	CHECK_EQ(spindle_history_vid(&f->h, FIRST + 2, 50), 50);
	close_it(f);
}

/* A full history keeps at least 15 of 16 parts, of its entries or of its bytes. */
static void test_keeps(void)
{
	static const u32 len[] = { 1, 64, 65, 127, 128, 129, 200, 1000, MAX_LEN };
	size_t i;
	u32 n;

	for (i = 0; i < ARRAY_SIZE(len); i++) {
		struct fixture *f = open_it();
		u32 units = spindle_units(len[i]), most = max(units, UNITS / 16);
		u32 least = min(ENTRIES - ENTRIES / 16, (UNITS - most) / units);

		for (n = 0; n < 300; n++) {
			append_len(f, len[i]);
			if (n >= least)
				CHECK(f->h.q.tail - f->h.q.consumed >= least);
			CHECK(f->h.q.tail - f->h.q.consumed <= ENTRIES);
		}
		close_it(f);
	}
}

/* A process that has not consumed what is forgotten sees that, and the position where it was. */
static void test_dropped(void)
{
	struct fixture *f = open_it();
	struct cursor *slow = &f->cursor[0], *fast = &f->cursor[1];
	u32 i;

	attach(f, 0, 0);
	attach(f, 1, 0);
	for (i = 0; i < 200; i++) {
		append_len(f, 10);
		spindle_history_show(&f->h);
		fast->consumed = fast->tail;
		slow->consumed = min_t(u64, slow->tail, FIRST + 3);
		/* As long as the bound allows it, the entry is there. */
		if (slow->low <= FIRST + 3)
			CHECK(i < 4 || holds(f, FIRST + 3, 3));
	}
	CHECK_EQ(slow->q.error, SPINDLE_ERR_BEHIND);
	CHECK_EQ(slow->low, U64_MAX);
	CHECK_EQ(spindle_dlvq_lsn(&slow->q, f->lsn), 3);
	CHECK_EQ(fast->q.error, 0);
	CHECK_EQ(fast->low, f->h.q.consumed);
	CHECK_EQ(fast->tail, FIRST + 200);
	/* The engine shows the reader nothing more. */
	CHECK(slow->tail < FIRST + 200);
	CHECK(spindle_history_poll(&f->h));
	detach(f, 0);
	CHECK(!spindle_history_poll(&f->h));
	close_it(f);
}

static void test_broken_rule(void)
{
	struct fixture *f = open_it();
	struct cursor *c = &f->cursor[0];

	attach(f, 0, 0);
	append_len(f, 10);
	spindle_history_show(&f->h);
	c->consumed = FIRST + 2;
	CHECK(spindle_history_poll(&f->h));
	CHECK_EQ(c->q.error, SPINDLE_ERR_CONSUMED);
	append_len(f, 10);
	spindle_history_show(&f->h);
	CHECK_EQ(c->tail, FIRST + 1);
	close_it(f);
}

/* Process @arg consumes the entry at the latest moment that counts: while the engine forgets. */
static void test_just_in_time(void)
{
	struct fixture *f = open_it();
	struct cursor *c = &f->cursor[0];

	attach(f, 0, 0);
	while (f->lsn < ENTRIES)
		append_len(f, 1);
	spindle_history_show(&f->h);
	c->consumed = FIRST + ENTRIES / 16;
	/* The engine has not looked at the word since the attach. */
	append_len(f, 1);
	CHECK_EQ(c->q.error, 0);
	CHECK_EQ(c->low, FIRST + ENTRIES / 16);
	CHECK_EQ(f->h.q.consumed, FIRST + ENTRIES / 16);
	close_it(f);
}

static void test_many_views(void)
{
	struct fixture *f = open_it();
	u32 i;

	for (i = 0; i < 3 * SPINDLE_HISTORY_VIEWS; i++) {
		u64 low, at, oldest;

		append_view(f);
		if (i % 3 == 0)
			append_len(f, 5);
		low = f->h.q.consumed;
		CHECK(f->h.views - f->h.first_view <= SPINDLE_HISTORY_VIEWS);
		/* All marks are in the ring, and what comes before the first one has its view. */
		if (f->h.first_view != f->h.views)
			CHECK(f->h.view[f->h.first_view % SPINDLE_HISTORY_VIEWS].at >= low);
		oldest = spindle_history_vid(&f->h, low, f->vid);
		for (at = low; at < f->h.q.tail; at++) {
			const struct spindle_dlv *d = &f->h.q.ring[at & f->h.q.mask];

			CHECK_EQ(spindle_history_vid(&f->h, at, f->vid), oldest);
			if (d->kind == SPINDLE_DLV_VIEW)
				oldest = d->slot;
		}
	}
	close_it(f);
}

/* More views than a history knows, in a ring that has room for them. */
static void test_too_many_views(void)
{
	struct fixture *f = calloc(1, sizeof(*f));
	u32 units = 8 * SPINDLE_HISTORY_VIEWS, i;

	spindle_history_init(&f->h, calloc(units / 2, sizeof(struct spindle_dlv)),
			     calloc(units, SPINDLE_UNIT), calloc(units / 2, sizeof(u64)), units);
	for (i = 0; i < 2 * SPINDLE_HISTORY_VIEWS; i++) {
		append_len(f, 5);
		append_view(f);
	}
	CHECK_EQ(f->h.views - f->h.first_view, SPINDLE_HISTORY_VIEWS);
	/* What comes before the beginning of the oldest view that is known is forgotten. */
	CHECK_EQ(spindle_history_oldest(&f->h, f->lsn), SPINDLE_HISTORY_VIEWS);
	CHECK_EQ(spindle_history_vid(&f->h, f->h.q.consumed, f->vid), SPINDLE_HISTORY_VIEWS);
	close_it(f);
}

static void test_age(void)
{
	struct fixture *f = open_it();

	append_len(f, 1);	/* 0, view 1 */
	append_view(f);		/* 2 */
	append_len(f, 1);	/* 1 */
	append_view(f);		/* 3 */
	append_len(f, 1);	/* 2 */
	attach(f, 0, 0);
	attach(f, 1, 1);
	spindle_history_age(&f->h, 1);
	CHECK_EQ(spindle_history_oldest(&f->h, f->lsn), 0);
	CHECK_EQ(f->cursor[0].q.error, 0);
	spindle_history_age(&f->h, 2);
	CHECK_EQ(spindle_history_oldest(&f->h, f->lsn), 1);
	CHECK_EQ(f->cursor[0].q.error, SPINDLE_ERR_BEHIND);
	CHECK_EQ(f->cursor[1].q.error, 0);
	CHECK_EQ(spindle_history_vid(&f->h, f->h.q.consumed, 3), 2);
	/* The subgroup has stayed as it was since view 3. */
	spindle_history_age(&f->h, 20);
	CHECK_EQ(spindle_history_oldest(&f->h, f->lsn), 2);
	CHECK_EQ(spindle_history_vid(&f->h, f->h.q.consumed, 25), 25);
	CHECK_EQ(f->cursor[1].q.error, SPINDLE_ERR_BEHIND);
	close_it(f);
}

/* ---- messages from before the history began ------------------------------------------ */

/* Put @n messages in front of the oldest one, and before them the end of view @before. */
static int fill(struct fixture *f, u32 n, u32 len, u64 vid, u64 before)
{
	u64 oldest = spindle_history_oldest(&f->h, f->lsn), at = 0;
	struct spindle_dlv *dlv = calloc(n + 1, sizeof(*dlv));
	u8 *data = malloc((u64)n * len + 1);
	struct spindle_older older = { .dlv = dlv, .data = data, .bytes = n * len, .count = n,
				       .lsn = oldest, .vid = vid, .before = before };
	int err;
	u32 i;

	for (i = 0; i < n; i++, at += len) {
		dlv[i] = (struct spindle_dlv){ .lsn = oldest - n + i, .slot = oldest - n + i,
					       .len = len, .offset = at };
		for (u32 k = 0; k < len; k++)
			data[at + k] = byte_of(dlv[i].lsn, k);
	}
	CHECK(spindle_older_is_valid(&older, 1, MAX_LEN));
	err = spindle_history_fill(&f->h, &older, f->lsn);
	f->filled += oldest - spindle_history_oldest(&f->h, f->lsn);
	free(data);
	free(dlv);
	return err;
}

static void test_fill(void)
{
	struct fixture *f = open_it();
	u64 lsn;

	f->lsn = 100;
	f->vid = 7;
	append_len(f, 10);
	append_len(f, 100);
	attach(f, 0, 100);
	CHECK_EQ(fill(f, 3, 65, 0, 0), 0);
	CHECK_EQ(fill(f, 2, 1, 6, 5), 0);
	CHECK_EQ(fill(f, 1, 0, 0, 0), 0);
	append_len(f, 200);
	CHECK_EQ(spindle_history_oldest(&f->h, f->lsn), 94);
	attach(f, 1, 94);
	spindle_history_show(&f->h);
	/* The cursor that was there stays where it was, and its process may look back. */
	CHECK_EQ(f->cursor[0].consumed, FIRST);
	CHECK_EQ(f->cursor[0].low, f->h.q.consumed);
	for (lsn = 94; lsn < 97; lsn++)
		CHECK_EQ(spindle_history_vid(&f->h, spindle_history_find(&f->h, lsn), 7), 5);
	for (; lsn < 103; lsn++)
		CHECK_EQ(spindle_history_vid(&f->h, spindle_history_find(&f->h, lsn), 7), 7);
	while (f->cursor[0].consumed != f->cursor[0].tail)
		CHECK(read_one(f, &f->cursor[0]));
	while (f->cursor[1].consumed != f->cursor[1].tail)
		CHECK(read_one(f, &f->cursor[1]));
	CHECK_EQ(f->cursor[0].want, 103);
	CHECK_EQ(f->cursor[1].want, 103);
	close_it(f);
}

/* A message for other members is a position, whatever its descriptor says of bytes. */
static void test_fill_other(void)
{
	struct spindle_dlv dlv = { .lsn = 9, .offset = 5, .slot = 7, .kind = SPINDLE_DLV_OTHER };
	const u8 data[8] = { 0 };
	struct spindle_older older = { .dlv = &dlv, .data = data, .bytes = 8, .count = 1,
				       .lsn = 10 };
	struct fixture *f = open_it();
	const struct spindle_dlv *d = &f->h.q.ring[(FIRST - 1) & f->h.q.mask];

	CHECK(spindle_older_is_valid(&older, 1, MAX_LEN));
	/* No position is missing, and none comes twice. */
	CHECK_EQ(spindle_history_fill(&f->h, &older, 11), -ESTALE);
	CHECK_EQ(spindle_history_fill(&f->h, &older, 9), -ESTALE);
	CHECK_EQ(spindle_history_fill(&f->h, &older, 10), 0);
	CHECK_EQ(spindle_history_fill(&f->h, &older, 10), -ESTALE);
	CHECK_EQ(f->h.q.copy_free, f->h.q.copy_tail);
	CHECK_EQ(d->kind, SPINDLE_DLV_OTHER);
	CHECK_EQ(d->lsn, 9);
	CHECK_EQ(d->slot, 7);
	CHECK_EQ(d->offset, 0);
	CHECK_EQ(d->len, 0);
	close_it(f);
}

/* A history that began with a view gets the messages of the view before it. */
static void test_fill_before_view(void)
{
	struct fixture *f = open_it();

	f->lsn = 100;
	f->vid = 7;
	append_view(f);
	append_len(f, 10);
	/* Which view did the messages before the view belong to? */
	CHECK_EQ(fill(f, 1, 1, 0, 0), -ESTALE);
	CHECK_EQ(fill(f, 1, 1, 9, 8), -ESTALE);
	CHECK_EQ(fill(f, 1, 1, 10, 7), -ESTALE);
	f->h.view[0].before = 6;
	CHECK_EQ(spindle_history_before(&f->h), 6);
	CHECK_EQ(fill(f, 1, 1, 8, 7), -ESTALE);
	f->h.view[0].before = 7;
	CHECK_EQ(fill(f, 1, 1, 8, 6), 0);
	CHECK_EQ(f->h.views - f->h.first_view, 1);
	CHECK_EQ(f->h.q.tail - f->h.q.consumed, 3);
	CHECK_EQ(spindle_history_vid(&f->h, f->h.q.consumed, 8), 6);
	CHECK_EQ(f->h.q.ring[FIRST & f->h.q.mask].offset, 6);
	/* A view cannot begin before one that is older. */
	CHECK_EQ(fill(f, 1, 1, 8, 6), -ESTALE);
	CHECK_EQ(fill(f, 1, 1, 6, 5), 0);
	CHECK_EQ(spindle_history_oldest(&f->h, f->lsn), 98);
	close_it(f);
}

/* Messages take the room that is free, the newest first, and none that is used. */
static void test_fill_up(void)
{
	struct fixture *f = open_it();
	u64 budget = 100, lsn;
	u8 src[BYTES] = { 0 };
	struct spindle_dlv part = { .lsn = 1002, .len = 1000, .slot = 1002 };

	f->lsn = 1000;
	append_len(f, 64);
	append_len(f, 640);
	/* The first bytes of a message that is under way are in the ring. */
	memset(src, 0xa5, sizeof(src));
	CHECK(!spindle_dlvq_copy(&f->h.q, &part, src, BYTES, &budget));
	CHECK_EQ(fill(f, 20, 576, 0, 0), -ENOSPC);
	CHECK_EQ(f->filled, (UNITS - 11 - 2) / 9);
	for (lsn = 1000 - f->filled; lsn < 1002; lsn++)
		CHECK(holds(f, spindle_history_find(&f->h, lsn), lsn));
	for (u32 i = 0; i < 100; i++)
		CHECK_EQ(f->h.q.copy[(f->h.q.copy_tail * SPINDLE_UNIT + i) % BYTES], 0xa5);
	/* What is delivered then takes the place of what was filled, the oldest first. */
	append_len(f, 640);
	CHECK(spindle_history_oldest(&f->h, f->lsn) > 1000 - f->filled);
	CHECK(spindle_history_oldest(&f->h, f->lsn) < 1000);
	for (lsn = 0; lsn < 12; lsn++)
		append_len(f, 640);
	CHECK(spindle_history_oldest(&f->h, f->lsn) > 1000);
	close_it(f);
	f = open_it();
	f->lsn = 1000;
	append_len(f, 0);
	CHECK_EQ(fill(f, 100, 0, 0, 0), -ENOSPC);
	CHECK_EQ(f->filled, ENTRIES - 2);
	close_it(f);
}

/* Views take room, too, and only so many are known. */
static void test_fill_views(void)
{
	struct fixture *f = calloc(1, sizeof(*f));
	u32 units = 8 * SPINDLE_HISTORY_VIEWS, n = 0;

	spindle_history_init(&f->h, calloc(units / 2, sizeof(struct spindle_dlv)),
			     calloc(units, SPINDLE_UNIT), calloc(units / 2, sizeof(u64)), units);
	f->lsn = 1000;
	while (!fill(f, 1, 1, 1000 - n, 999 - n))
		n++;
	CHECK_EQ(n, SPINDLE_HISTORY_VIEWS);
	CHECK_EQ(spindle_history_vid(&f->h, f->h.q.consumed, 1000), 1000 - n);
	/* The oldest ones are forgotten as if they had always been there. */
	f->vid = 1000;
	append_view(f);
	CHECK_EQ(spindle_history_oldest(&f->h, f->lsn), 1001 - n);
	close_it(f);
}

/* Messages that contradict themselves are not believed. */
static void test_fill_invalid(void)
{
	static const struct {
		u64 lsn, offset;
		u32 len;
		u16 sender, kind;
		bool ok;
	} c[] = {
		{ 9, 0, 100, 0, SPINDLE_DLV_MSG, true },
		{ 9, 36, 64, 1, SPINDLE_DLV_MSG, true },
		{ 9, 100, 0, 1, SPINDLE_DLV_OTHER, true },
		{ 9, 37, 64, 0, SPINDLE_DLV_MSG, false },
		{ 9, U64_MAX, 1, 0, SPINDLE_DLV_MSG, false },
		{ 9, 0, 101, 0, SPINDLE_DLV_MSG, false },
		{ 9, 0, U32_MAX, 0, SPINDLE_DLV_MSG, false },
		{ 9, 0, 1, 2, SPINDLE_DLV_MSG, false },
		{ 9, 0, 1, 0xffff, SPINDLE_DLV_MSG, false },
		{ 9, 0, 1, 0, SPINDLE_DLV_OTHER, false },
		{ 9, 0, 0, 0, SPINDLE_DLV_VIEW, false },
		{ 9, 0, 0, 0, 0xffff, false },
		{ 8, 0, 1, 0, SPINDLE_DLV_MSG, false },
		{ 10, 0, 1, 0, SPINDLE_DLV_MSG, false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(c); i++) {
		struct spindle_dlv dlv = { .lsn = c[i].lsn, .offset = c[i].offset,
					   .len = c[i].len, .sender = c[i].sender,
					   .kind = c[i].kind };
		struct spindle_older older = { .dlv = &dlv, .bytes = 100, .count = 1, .lsn = 10 };

		CHECK_EQ(spindle_older_is_valid(&older, 2, 200), c[i].ok);
		/* A message may be as long as the subgroup allows. */
		CHECK(!c[i].len || !spindle_older_is_valid(&older, 2, c[i].len - 1));
		older.vid = 3;
		older.before = 3;
		CHECK(!spindle_older_is_valid(&older, 2, 200));
		older.before = 2;
		CHECK_EQ(spindle_older_is_valid(&older, 2, 200), c[i].ok);
		/* No message comes before position 0. */
		older.lsn = 0;
		dlv.lsn = U64_MAX;
		CHECK(!spindle_older_is_valid(&older, 2, 200));
	}
}

/* A history that is not full is filled; one that has forgotten something is not changed. */
static void fill_random(struct fixture *f)
{
	u64 vid = rng_chance(&rng, 20) ? 1 + rng_below(&rng, f->vid) : 0;

	fill(f, rng_below(&rng, 5), rng_below(&rng, 3 * SPINDLE_UNIT), vid, vid ? vid - 1 : 0);
}

static void one_random(struct fixture *f)
{
	u64 old = min_t(u64, f->vid, 20);
	struct cursor *c;
	u32 i, k;

	switch (rng_below(&rng, 14)) {
	case 12:
	case 13:
		fill_random(f);
		break;
	case 0:
		append_view(f);
		break;
	case 1:
		append_len(f, rng_below(&rng, MAX_LEN + 1));
		break;
	case 2:
		if (rng_chance(&rng, 2))
			spindle_history_age(&f->h, f->vid - rng_below(&rng, old));
		break;
	default:
		append_len(f, rng_below(&rng, 3 * SPINDLE_UNIT));
	}
	spindle_history_show(&f->h);
	for (i = 0; i < CURSORS; i++) {
		u64 oldest = spindle_history_oldest(&f->h, f->lsn);

		c = &f->cursor[i];
		if (!c->attached && rng_chance(&rng, 20))
			attach(f, i, oldest + rng_below(&rng, f->lsn - oldest + 1));
		if (c->attached && rng_chance(&rng, 2))
			detach(f, i);
		if (!c->attached || !rng_chance(&rng, 60 - 8 * i))
			continue;
		for (k = 1 + rng_below(&rng, 4); k && c->consumed != c->tail; k--) {
			if (read_one(f, c))
				continue;
			CHECK_EQ(c->q.error, SPINDLE_ERR_BEHIND);
			CHECK_EQ(spindle_dlvq_lsn(&c->q, f->lsn), c->want);
			detach(f, i);
			break;
		}
		CHECK(!c->attached || c->q.error || c->low == f->h.q.consumed);
	}
}

/* Whoever reads gets all messages from the wanted one on, or is told that they are forgotten. */
static void test_random(void)
{
	u32 round, n;

	for (round = 0; round < 20; round++) {
		struct fixture *f = open_it();

		f->lsn = rng_u64(&rng) >> 1;
		f->vid = 100;
		for (n = 0; n < 2000; n++)
			one_random(f);
		CHECK(f->filled);
		close_it(f);
	}
}

/* ---- a subgroup with a history ---------------------------------------------------- */

#define W 4U

/* Member 0 of two; member 1 sends. */
struct subgroup {
	struct fixture *f;
	struct spindle_mc mc;
	struct spindle_mc_member member[2];
	struct spindle_mc_sender sender[1];
	struct spindle_msg msgs[W];
	struct spindle_block block[2];
	struct spindle_hdr hdr[W];
	u8 pay[64 << SPINDLE_UNIT_SHIFT];
	u8 log[W];
	u64 sent;
};

static struct subgroup *open_subgroup(void)
{
	struct subgroup *g = calloc(1, sizeof(*g));
	struct spindle_mc *mc = &g->mc;
	u32 i;

	g->f = open_it();
	mc->members = 2;
	mc->senders = 1;
	mc->my_sender = SPINDLE_NO_RANK;
	mc->window = W;
	mc->ring_units = 64;
	mc->max_msg = 100;
	mc->ordered = true;
	mc->member = g->member;
	mc->sender = g->sender;
	mc->deliver.log = g->log;
	mc->deliver.log_mask = W - 1;
	mc->deliver.hold = true;
	mc->own.block = &g->block[0];
	for (i = 0; i < 2; i++) {
		g->member[i].block = &g->block[i];
		g->member[i].sender = i ? 0 : SPINDLE_NO_RANK;
	}
	g->sender[0].member = 1;
	g->sender[0].msgs = g->msgs;
	g->sender[0].pay = g->pay;
	g->sender[0].walk.ring = g->hdr;
	g->sender[0].walk.wmask = W - 1;
	g->sender[0].walk.max_msg = 100;
	g->sender[0].walk.unknown = ~3ULL;
	spindle_mc_init(mc);
	mc->formed = true;
	return g;
}

static void close_subgroup(struct subgroup *g)
{
	close_it(g->f);
	free(g);
}

/* The other member sends as many messages, and runs passes until they are delivered. */
static void arrive(struct subgroup *g, u32 n)
{
	u32 i;

	for (; n; n--, g->sent++) {
		struct spindle_msg msg = { .round = g->sent, .unit = g->sent, .len = 33 };
		u64 word[SPINDLE_BLOCK_WORDS] = {
			[SPINDLE_COL_SENT] = g->sent + 1,
			[SPINDLE_COL_RECEIVED] = g->sent + 1,
			[SPINDLE_COL_SLOTS] = g->sent + 1,
		};

		for (i = 0; i < 33; i++)
			g->pay[(g->sent * SPINDLE_UNIT + i) % sizeof(g->pay)] = byte_of(g->sent, i);
		spindle_hdr_write(g->hdr, W - 1, g->sent, &msg);
		spindle_block_write(&g->block[1], word);
		for (i = 0; i < 100 && spindle_mc_run(&g->mc, true); i++)
			;
	}
}

static void remember(struct subgroup *g)
{
	spindle_mc_remember(&g->mc, &g->f->h);
}

static int attach_mc(struct subgroup *g, u32 i, u64 lsn)
{
	struct cursor *c = &g->f->cursor[i];
	int err;

	memset(c, 0, sizeof(*c));
	c->q.tail_word = &c->tail;
	c->q.consumed_word = &c->consumed;
	c->q.low_word = &c->low;
	err = spindle_mc_attach_cursor(&g->mc, &c->q, lsn);
	c->consumed = c->q.consumed;
	c->want = lsn;
	return err;
}

/* A reader that never reads holds up nothing: slots come back as soon as they are delivered. */
static void test_holds_nothing(void)
{
	struct subgroup *g = open_subgroup();

	remember(g);
	CHECK_EQ(attach_mc(g, 0, 0), 0);
	arrive(g, 1000);
	CHECK_EQ(g->mc.deliver.lsn, 1000);
	CHECK_EQ(g->mc.own.word[SPINDLE_COL_DELIVERED], 1000);
	CHECK_EQ(g->mc.stats.discarded, 0);
	CHECK_EQ(g->f->cursor[0].q.error, SPINDLE_ERR_BEHIND);
	CHECK(g->mc.events & SPINDLE_MC_FROZEN);
	spindle_mc_detach_reader(&g->mc, &g->f->cursor[0].q);
	close_subgroup(g);
}

static void test_places(void)
{
	struct subgroup *g = open_subgroup();
	struct cursor *c = g->f->cursor;

	/* Delivery waits for somebody to read, or to keep what is delivered. */
	arrive(g, 3);
	CHECK_EQ(g->mc.deliver.lsn, 0);
	remember(g);
	arrive(g, 7);
	CHECK_EQ(g->mc.deliver.lsn, 10);
	CHECK_EQ(attach_mc(g, 0, 11), -ERANGE);
	CHECK_EQ(attach_mc(g, 0, U64_MAX), -ERANGE);
	CHECK_EQ(attach_mc(g, 0, 10), 0);
	CHECK_EQ(attach_mc(g, 1, 4), 0);
	CHECK_EQ(c[0].tail, FIRST + 10);
	CHECK_EQ(c[1].consumed, FIRST + 4);
	arrive(g, 2);
	g->f->lsn = g->mc.deliver.lsn;
	while (c[0].consumed != c[0].tail)
		read_one(g->f, &c[0]);
	while (c[1].consumed != c[1].tail)
		read_one(g->f, &c[1]);
	CHECK_EQ(c[0].want, 12);
	CHECK_EQ(c[1].want, 12);
	spindle_mc_detach_reader(&g->mc, &c[1].q);
	spindle_mc_detach_reader(&g->mc, &c[0].q);
	arrive(g, 200);
	CHECK_EQ(attach_mc(g, 0, 11), -ESTALE);
	CHECK_EQ(attach_mc(g, 0, spindle_history_oldest(&g->f->h, 212)), 0);
	spindle_mc_detach_reader(&g->mc, &c[0].q);
	/* Without a history, readers get what is delivered from now on. */
	spindle_mc_remember(&g->mc, NULL);
	CHECK(!g->mc.deliver.readers);
	arrive(g, 1);
	CHECK_EQ(g->mc.stats.discarded, 1);
	close_subgroup(g);
}

/* A history that begins in the middle knows nothing of what was before. */
static void test_begins_late(void)
{
	struct subgroup *g = open_subgroup();

	remember(g);
	arrive(g, 5);
	spindle_mc_remember(&g->mc, NULL);
	arrive(g, 5);
	close_it(g->f);
	g->f = open_it();
	remember(g);
	CHECK_EQ(attach_mc(g, 0, 9), -ESTALE);
	CHECK_EQ(attach_mc(g, 0, 10), 0);
	close_subgroup(g);
}

/* The beginning of a view is an entry, also if a reader attaches while it is due. */
static void test_view_due(void)
{
	struct subgroup *g = open_subgroup();
	struct cursor *c = g->f->cursor;

	remember(g);
	arrive(g, 2);
	spindle_mc_announce(&g->mc, 8);
	CHECK_EQ(attach_mc(g, 0, 2), 0);
	CHECK_EQ(spindle_history_vid(&g->f->h, c->consumed, 7), 7);
	arrive(g, 1);
	CHECK_EQ(c->tail, FIRST + 4);
	CHECK_EQ(g->f->h.q.ring[2].kind, SPINDLE_DLV_VIEW);
	CHECK_EQ(g->f->h.q.ring[2].slot, 8);
	CHECK_EQ(spindle_history_vid(&g->f->h, FIRST + 2, 8), 7);
	CHECK_EQ(spindle_history_vid(&g->f->h, FIRST + 3, 8), 8);
	close_subgroup(g);
}

/* Readers skip a view without messages, and the messages before it keep their members. */
static void test_view_skipped(void)
{
	struct subgroup *g = open_subgroup();
	struct spindle_dlv *ring = g->f->h.q.ring;

	remember(g);
	arrive(g, 1);
	spindle_mc_announce(&g->mc, 8);
	spindle_mc_announce(&g->mc, 9);
	arrive(g, 1);
	CHECK_EQ(ring[1].kind, SPINDLE_DLV_VIEW);
	CHECK_EQ(ring[1].slot, 9);
	CHECK_EQ(ring[1].offset, 7);
	CHECK_EQ(spindle_history_vid(&g->f->h, FIRST, 9), 7);
	spindle_mc_announce(&g->mc, 10);
	arrive(g, 1);
	CHECK_EQ(ring[3].offset, 9);
	close_subgroup(g);
}

/* Nothing was delivered before the history, so the view that is due is its first entry. */
static void test_view_due_first(void)
{
	struct subgroup *g = open_subgroup();
	u64 vid;

	spindle_mc_announce(&g->mc, 2);
	remember(g);
	arrive(g, 1);
	CHECK_EQ(attach_mc(g, 0, 0), 0);
	CHECK_EQ(g->f->cursor[0].consumed, FIRST + 1);
	CHECK_EQ(spindle_history_vid(&g->f->h, FIRST, 2), 1);
	CHECK_EQ(spindle_history_vid(&g->f->h, FIRST + 1, 2), 2);
	for (vid = 3; vid < 3 * SPINDLE_HISTORY_VIEWS; vid++) {
		u64 low = g->f->h.q.consumed;

		spindle_mc_announce(&g->mc, vid);
		arrive(g, 1);
		/* What is forgotten does not come back. */
		CHECK(g->f->h.q.consumed >= low);
		CHECK(g->f->h.views - g->f->h.first_view <= SPINDLE_HISTORY_VIEWS);
	}
	CHECK(g->f->h.q.consumed > FIRST);
	spindle_mc_detach_reader(&g->mc, &g->f->cursor[0].q);
	close_subgroup(g);
}

/* The process of a frozen cursor reads on, and has to see what is overwritten. */
static void test_frozen_cursor(void)
{
	struct fixture *f = open_it();
	struct cursor *c = &f->cursor[0];
	u32 i;

	attach(f, 0, 0);
	append_len(f, 10);
	spindle_history_show(&f->h);
	c->consumed = FIRST + 2;
	CHECK(spindle_history_poll(&f->h));
	for (i = 0; i < ENTRIES; i++)
		append_len(f, 10);
	CHECK_EQ(c->low, U64_MAX);
	CHECK_EQ(c->q.error, SPINDLE_ERR_CONSUMED);
	close_it(f);
}

/* The engine takes note of what is consumed, also while nothing is delivered. */
static void test_consumed_later(void)
{
	struct subgroup *g = open_subgroup();

	remember(g);
	CHECK_EQ(attach_mc(g, 0, 0), 0);
	arrive(g, 3);
	CHECK(!spindle_release_test(&g->mc));
	g->f->cursor[0].consumed = FIRST + 2;
	CHECK(spindle_release_test(&g->mc));
	spindle_release_trigger(&g->mc);
	CHECK(!spindle_release_test(&g->mc));
	CHECK_EQ(spindle_dlvq_lsn(&g->f->cursor[0].q, 3), 2);
	spindle_mc_detach_reader(&g->mc, &g->f->cursor[0].q);
	close_subgroup(g);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a history without messages", test_empty },
		{ "a position has its entry and its view", test_find },
		{ "views without an entry", test_quiet_views },
		{ "a full history keeps most of its size", test_keeps },
		{ "a reader that is behind is dropped", test_dropped },
		{ "a reader that breaks the rule is frozen", test_broken_rule },
		{ "a reader may consume until the moment of forgetting", test_just_in_time },
		{ "views pass through the history", test_many_views },
		{ "more views than it knows", test_too_many_views },
		{ "views that are not remembered are forgotten", test_age },
		{ "older messages come in front", test_fill },
		{ "an older message for other members", test_fill_other },
		{ "a history that begins with a view is filled", test_fill_before_view },
		{ "older messages take the room that is free", test_fill_up },
		{ "older views are as many as it knows", test_fill_views },
		{ "older messages that contradict themselves", test_fill_invalid },
		{ "readers get all messages, or are told", test_random },
		{ "readers of a history hold nothing", test_holds_nothing },
		{ "a reader begins at any place of the history", test_places },
		{ "a history that begins late", test_begins_late },
		{ "a reader attaches before the view's entry", test_view_due },
		{ "a view without messages is skipped", test_view_skipped },
		{ "a history begins before the view's entry", test_view_due_first },
		{ "a frozen reader sees what is overwritten", test_frozen_cursor },
		{ "what is consumed is seen without deliveries", test_consumed_later },
	};

	rng = rng_seed();
	return tap_run(cases, ARRAY_SIZE(cases));
}
