// SPDX-License-Identifier: GPL-2.0-only
/*
 * Durable: what one member makes of the logs of all, over views, and what it tells the others. The
 * member is B, with real deliveries from A into a real history. The other members are blocks that
 * the test writes.
 */
#include "core/base/push.h"
#include "core/group/wire.h"
#include "core/multicast/history.h"
#include "core/multicast/stage.h"
#include "rng.h"
#include "tap.h"

#define NODES 8		/* ids 1 to 8, which are called A to H */
#define A BIT(0)
#define B BIT(1)
#define C BIT(2)
#define D BIT(3)
#define E BIT(4)
#define ME 1
#define W 8U
#define LEN 33U
#define HDR_AT 4096U
#define PAY_AT 8192U
#define RING 4096U
#define ROW (PAY_AT + RING)
#define UNITS 128U
#define ENTRIES (UNITS / 2)
#define BYTES (UNITS << SPINDLE_UNIT_SHIFT)

struct cursor {
	struct spindle_dlvq q;
	u64 tail, consumed, low;
};

struct world {
	struct spindle_mc *mc;
	struct spindle_view view;
	u32 nodes;	/* members, by index */
	u8 *row[NODES];
	struct spindle_history h;
	struct cursor cursor[3];
	struct spindle_log_words words;
	u64 sent;	/* messages of A */
	u64 round;	/* of the next one */
};

static struct world w;
static struct spindle_layout lo;

static void *zalloc(size_t n, size_t size)
{
	return calloc(n, size);
}

static const struct spindle_memory memory = { .zalloc = zalloc, .free = (void *)free };

static u32 rank_of(u32 index)
{
	return hweight64(w.nodes & (BIT(index) - 1));
}

static struct spindle_durable *durable(void)
{
	return w.mc->durable;
}

static struct spindle_row op_row(void *ctx, u32 rank)
{
	u32 index = w.view.member[rank].id - 1;

	return (struct spindle_row){
		.base = w.row[index], .in = &lo, .out = index == ME ? NULL : &lo,
	};
}

static void set_view(u64 vid, u32 nodes, u32 log, u32 copies, u64 former)
{
	u32 i;

	memset(&w.view, 0, sizeof(w.view));
	w.nodes = nodes;
	w.view.vid = vid;
	w.view.num_subgroups = 1;
	for (i = 0; i < NODES; i++)
		if (nodes & BIT(i))
			w.view.member[w.view.num_members++].id = i + 1;
	w.view.subgroup[0] = (struct spindle_view_subgroup){
		.id = 7, .window = W, .max_msg = 100, .ring = RING, .log = log,
		.min_copies = copies, .members = BIT_ULL(w.view.num_members) - 1, .senders = 1,
		.former = former,
	};
}

static struct spindle_mc *make(void)
{
	struct spindle_mc *mc = calloc(1, sizeof(*mc));

	CHECK_EQ(spindle_mc_create(mc, &w.view, 0, rank_of(ME), NULL, w.mc, &memory), 0);
	spindle_mc_wire(mc, &w.view, 0, op_row, NULL);
	mc->formed = true;
	return mc;
}

static void unmake(struct spindle_mc *mc)
{
	spindle_mc_destroy(mc, &memory);
	free(mc);
}

/* The range that the next first view follows. */
static struct {
	struct spindle_ranges all;
	struct spindle_range_view view[2 * SPINDLE_MAX_RANGE];
} ranges;

/* A view of an earlier era, of these nodes. */
static void follow(u32 subgroup, u32 nodes)
{
	u32 node[NODES], n = 0, i;

	for (i = 0; i < NODES; i++)
		if (nodes & BIT(i))
			node[n++] = i + 1;
	CHECK(!spindle_ranges_add(&ranges.all, subgroup, node, n));
}

/* B comes into a subgroup of these nodes. */
static void open_at(u64 vid, u32 nodes, u32 log, u32 copies, bool fresh, u64 lsn)
{
	u32 i;

	memset(&w, 0, sizeof(w));
	lo.hdr[0] = HDR_AT;
	lo.pay[0] = PAY_AT;
	for (i = 0; i < NODES; i++)
		w.row[i] = calloc(1, ROW);
	spindle_history_init(&w.h, calloc(ENTRIES, sizeof(struct spindle_dlv)), calloc(1, BYTES),
			     calloc(ENTRIES, sizeof(u64)), UNITS);
	set_view(vid, nodes, SPINDLE_LOGGED | log, copies, lsn);
	w.mc = make();
	if (ranges.all.views)
		spindle_durable_follow(w.mc, &ranges.all);
	ranges.all.views = 0;
	spindle_durable_begin(w.mc, NULL, fresh);
	spindle_mc_remember(w.mc, &w.h);
}

static void open_it(u32 nodes, u32 log, u32 copies)
{
	open_at(1, nodes, log, copies, true, 0);
}

static void close_it(void)
{
	u32 i;

	unmake(w.mc);
	free(w.h.q.ring);
	free(w.h.q.copy);
	free(w.h.q.copy_end);
	for (i = 0; i < NODES; i++)
		free(w.row[i]);
}

/* The next view, of these nodes: all is delivered, and blocks begin again. */
static void next_view(u32 nodes)
{
	const struct spindle_view_subgroup *sg = &w.view.subgroup[0];
	bool a_stays = nodes & w.nodes & A;
	struct spindle_mc *old = w.mc, *mc;
	u32 from = a_stays ? 0 : SPINDLE_NO_RANK, i;
	u64 first = a_stays ? w.sent : 0, lsn = old->deliver.lsn;

	for (i = 0; i < NODES; i++) {
		struct spindle_row of = { .base = w.row[i], .in = &lo };

		spindle_mc_clear(&of, 1, 1, 1);
	}
	set_view(w.view.vid + 1, nodes, sg->log, sg->min_copies, 0);
	mc = make();
	spindle_mc_begin(mc, old, &from, &first, a_stays ? lsn - w.sent : lsn);
	CHECK_EQ(mc->deliver.lsn, lsn);
	spindle_durable_begin(mc, old->durable, false);
	spindle_mc_announce(mc, w.view.vid);
	w.mc = mc;
	w.round = 1;
	unmake(old);
}

/* ---- what the others say, and what the logger says -------------------- */

static struct spindle_block *log_block(u32 index)
{
	return (struct spindle_block *)(w.row[index] + spindle_layout_log(1, 0));
}

static void says_words(u32 index, u64 persisted, u64 low, u64 snapshot, u64 record)
{
	const u64 word[] = { persisted, low, snapshot, record };

	spindle_block_write(log_block(index), word);
}

/* The disks of these nodes have messages below @persisted, and the record of a view. */
static void say(u32 nodes, u64 persisted, u64 record, u64 bits)
{
	u32 i;

	for (i = 0; i < NODES; i++)
		if (nodes & BIT(i))
			says_words(i, persisted, 0, 0, record << SPINDLE_LOG_RECORD_SHIFT | bits);
}

static void run(void)
{
	u32 i;

	for (i = 0; i < 100 && spindle_durable_test(w.mc); i++)
		spindle_durable_trigger(w.mc);
	CHECK(i < 100);
}

/* The logger stores words of the names in struct spindle_log_words. */
#define LOGGER(...) do {						\
	struct spindle_log_words _words = { __VA_ARGS__ };		\
	_words.change = w.words.change + 1;				\
	w.words = _words;						\
} while (0)

static void attach_logger(u64 lsn)
{
	memset(&w.words, 0, sizeof(w.words));
	CHECK_EQ(spindle_durable_attach(w.mc, &w.words, lsn), 0);
}

/* B's disk has this. */
static void own(u64 persisted, u64 record)
{
	LOGGER(.persisted = persisted, .record = record, .state = SPINDLE_LOG_LOGGING);
	run();
}

static bool is_established(void)
{
	run();
	return durable()->established;
}

static u64 position(void)
{
	run();
	return durable()->durable;
}

/* ---- deliveries -------------------- */

static void pass(void)
{
	u32 i;

	for (i = 0; i < 100 && spindle_mc_run(w.mc, true); i++)
		;
	CHECK(i < 100);
}

/* A sends a message that all have received. */
static void arrive_one(void)
{
	struct spindle_msg msg = { .round = w.round++, .unit = w.sent, .len = LEN };
	u64 word[SPINDLE_BLOCK_WORDS] = { [SPINDLE_COL_RECEIVED] = w.round };
	u32 i;

	spindle_hdr_write((void *)(w.row[0] + HDR_AT), W - 1, w.sent++, &msg);
	for (i = 1; i < NODES; i++)
		if (i != ME && (w.nodes & BIT(i)))
			spindle_block_write((void *)(w.row[i] + spindle_layout_block(0)), word);
	word[SPINDLE_COL_SENT] = w.round;
	word[SPINDLE_COL_SLOTS] = w.sent;
	spindle_block_write((void *)(w.row[0] + spindle_layout_block(0)), word);
	pass();
}

static void arrive(u32 n)
{
	while (n--)
		arrive_one();
}

/* Returns the number of messages until delivery waits; @most: it never does. */
static u32 arrive_until_blocked(u32 most)
{
	u64 lsn = w.mc->deliver.lsn;
	u32 n;

	for (n = 0; n < most; n++) {
		arrive_one();
		if (w.mc->deliver.blocked)
			break;
	}
	return w.mc->deliver.lsn - lsn;
}

static int attach(u32 i, u64 lsn, bool logger)
{
	struct cursor *c = &w.cursor[i];
	int err;

	memset(c, 0, sizeof(*c));
	c->q.tail_word = &c->tail;
	c->q.consumed_word = &c->consumed;
	c->q.low_word = &c->low;
	c->q.logger = logger;
	err = spindle_mc_attach_cursor(w.mc, &c->q, lsn);
	c->consumed = c->q.consumed;
	return err;
}

static const struct spindle_dlv *entry(u64 at)
{
	return &w.h.q.ring[at & w.h.q.mask];
}

/* Positions of messages, and ids of views as negative numbers, that a process reads. */
static u32 reads(u32 i, long long *got)
{
	struct cursor *c = &w.cursor[i];
	u32 n = 0;

	for (; c->consumed != c->tail && n < ENTRIES; c->consumed++) {
		const struct spindle_dlv *d = entry(c->consumed);

		got[n++] = d->kind == SPINDLE_DLV_VIEW ? -(long long)d->slot : (long long)d->lsn;
	}
	CHECK_EQ(c->consumed, c->tail);
	return n;
}

/* ---- the rule of acknowledgment -------------------- */

static void test_rules(void)
{
	static const struct {
		u32 log, copies;
		u64 want;	/* of disks with 10, 20, 30, 40, 50 */
	} c[] = {
		{ 0, 0, 10 }, { 0, 1, 10 }, { 0, 5, 10 }, { 0, 6, 0 }, { 0, 64, 0 },
		{ SPINDLE_LOGGED_MAJORITY, 0, 30 }, { SPINDLE_LOGGED_MAJORITY, 3, 30 },
		{ SPINDLE_LOGGED_MAJORITY, 4, 20 }, { SPINDLE_LOGGED_MAJORITY, 5, 10 },
		{ SPINDLE_LOGGED_MAJORITY, 6, 0 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(c); i++) {
		open_it(A | B | C | D | E, c[i].log, c[i].copies);
		w.mc->deliver.lsn = 100;
		attach_logger(0);
		own(30, 1);
		say(A, 50, 1, 0);
		say(C, 10, 1, 0);
		say(D, 40, 1, 0);
		say(E, 20, 1, 0);
		CHECK(is_established());
		CHECK_EQ(position(), c[i].want);
		CHECK_EQ(durable()->reach, c[i].want);
		close_it();
	}
}

/* By default two disks have a message, or one if there is one member. */
static void test_default_copies(void)
{
	open_it(B, 0, 0);
	CHECK_EQ(durable()->copies, 1);
	w.mc->deliver.lsn = 9;
	attach_logger(0);
	own(7, 1);
	CHECK_EQ(position(), 7);
	close_it();
	open_it(A | B, SPINDLE_LOGGED_MAJORITY, 0);
	CHECK_EQ(durable()->copies, 2);
	close_it();
	open_it(A | B | C, 0, 0);
	CHECK_EQ(durable()->copies, 2);
	close_it();
	open_it(B, 0, 2);
	w.mc->deliver.lsn = 9;
	attach_logger(0);
	own(7, 1);
	CHECK(is_established());
	CHECK_EQ(position(), 0);
	close_it();
}

/* Half of four is no majority. */
static void test_even(void)
{
	open_it(A | B | C | D, SPINDLE_LOGGED_MAJORITY, 1);
	w.mc->deliver.lsn = 100;
	attach_logger(0);
	own(50, 1);
	say(A, 50, 0, 0);
	say(C, 0, 1, 0);
	/* Neither of the messages nor of the records. */
	CHECK(!is_established());
	say(D, 20, 1, 0);
	CHECK_EQ(position(), 20);
	close_it();
}

/* What is durable never goes back, and is never ahead of what is delivered here. */
static void test_bounds(void)
{
	open_it(A | B, 0, 1);
	attach_logger(0);
	own(0, 1);
	say(A, 30, 1, 0);
	CHECK_EQ(position(), 0);
	w.mc->deliver.lsn = 5;
	CHECK(!spindle_durable_test(w.mc));
	own(5, 1);
	CHECK_EQ(position(), 5);
	close_it();

	open_it(A | B | C, SPINDLE_LOGGED_MAJORITY, 1);
	say(A | C, 30, 1, 0);
	CHECK_EQ(position(), 0);
	CHECK_EQ(durable()->reach, 30);
	w.mc->deliver.lsn = 8;
	CHECK(spindle_durable_test(w.mc));
	w.mc->events = 0;
	CHECK_EQ(position(), 8);
	CHECK(w.mc->events & SPINDLE_MC_DURABLE);
	CHECK(!(w.mc->events & SPINDLE_MC_DELIVERED));
	w.mc->events = 0;
	run();
	CHECK_EQ(w.mc->events, 0);
	/* In the next view the rule may reach less far, as far as this member has heard. */
	next_view(B | C | D);
	say(C | D, 6, 2, SPINDLE_LOG_ESTABLISHED);
	CHECK(is_established());
	CHECK_EQ(position(), 8);
	close_it();
}

/* ---- views -------------------- */

/* The first view is established by the records of a majority. */
static void test_first_view(void)
{
	open_it(A | B | C, 0, 0);
	w.mc->deliver.lsn = 10;
	attach_logger(0);
	say(A | C, 10, 0, 0);
	own(10, 0);
	CHECK(!is_established());
	CHECK_EQ(position(), 0);
	say(C, 10, 1, 0);
	CHECK(!is_established());
	own(10, 1);
	CHECK(is_established());
	CHECK_EQ(position(), 10);
	close_it();
}

/* The rule has to reach the first position of the view. */
static void test_base(void)
{
	open_it(A | B | C, 0, 0);
	w.mc->deliver.lsn = 10;
	attach_logger(0);
	own(10, 1);
	say(A | C, 8, 1, 0);
	CHECK_EQ(position(), 8);
	next_view(A | B | C);
	CHECK_EQ(durable()->base, 10);
	own(10, 2);
	say(A, 10, 2, 0);
	say(C, 9, 2, 0);
	CHECK(!is_established());
	CHECK_EQ(position(), 8);
	say(C, 10, 2, 0);
	CHECK(is_established());
	CHECK_EQ(position(), 10);
	close_it();
}

/* Majorities of all views back to the last one that was established. */
static void test_range(void)
{
	open_it(A | B | C | D | E, SPINDLE_LOGGED_MAJORITY, 1);
	attach_logger(0);
	CHECK_EQ(durable()->views, 1);
	next_view(A | B | C);
	next_view(A | B);
	CHECK_EQ(durable()->views, 3);
	own(0, 3);
	say(A, 0, 3, 0);
	/* A and B are a majority of the last two views, and not of the first one. */
	CHECK(!is_established());
	next_view(A | B | D);
	own(0, 4);
	say(A, 0, 4, 0);
	CHECK(!is_established());
	/* The record of an earlier view is not enough. */
	say(D, 0, 3, 0);
	CHECK(!is_established());
	say(D, 0, 4, 0);
	CHECK(is_established());
	CHECK_EQ(durable()->views, 1);
	/* From now on the range begins here. */
	next_view(A | B);
	CHECK_EQ(durable()->views, 2);
	say(A, 0, 5, 0);
	CHECK(!is_established());
	own(0, 5);
	CHECK(is_established());
	close_it();
}

/* A member that was away has another rank, and is known by its id. */
static void test_ranks(void)
{
	open_it(B | C | D, SPINDLE_LOGGED_MAJORITY, 1);
	next_view(B | E);
	next_view(A | B | D);
	CHECK_EQ(durable()->view[0].now, BIT_ULL(1) | BIT_ULL(2));
	CHECK_EQ(durable()->view[1].now, BIT_ULL(1));
	CHECK_EQ(durable()->view[2].now, BIT_ULL(0) | BIT_ULL(1) | BIT_ULL(2));
	attach_logger(0);
	own(0, 3);
	say(A | D, 0, 3, 0);
	/* E is a half of the second view. */
	CHECK(!is_established());
	next_view(A | B | D | E);
	own(0, 4);
	say(A | D, 0, 4, 0);
	CHECK(!is_established());
	say(E, 0, 4, 0);
	CHECK(is_established());
	close_it();
}

/* A joiner does not know what came before, and is told. The bit ends with the view. */
static void test_told(void)
{
	const u64 *own_record;

	open_at(5, A | B | C, 0, 0, false, 10);
	CHECK_EQ(durable()->base, 10);
	attach_logger(10);
	own(10, 5);
	say(A | C, 10, 5, 0);
	CHECK(!is_established());
	CHECK_EQ(position(), 0);
	say(C, 10, 5, SPINDLE_LOG_ESTABLISHED);
	CHECK(is_established());
	CHECK_EQ(position(), 10);
	own_record = &log_block(ME)->word[SPINDLE_LOG_COL_RECORD];
	CHECK_EQ(*own_record, 5 << 4 | SPINDLE_LOG_ESTABLISHED | SPINDLE_LOG_LOGGING);
	/* What the logger says next leaves the bit as it is. */
	LOGGER(.persisted = 10, .record = 5, .state = SPINDLE_LOG_FULL);
	run();
	CHECK_EQ(*own_record, 5 << 4 | SPINDLE_LOG_ESTABLISHED | SPINDLE_LOG_FULL);
	next_view(A | B | C);
	CHECK_EQ(*own_record, 5 << 4 | SPINDLE_LOG_FULL);
	CHECK(!is_established());
	/* From now on the member knows the range. */
	CHECK(durable()->known);
	own(10, 6);
	say(A | C, 10, 6, 0);
	CHECK(is_established());
	close_it();
}

/* The bit is not shown before the own record, because the own logger takes it to be about that. */
static void test_bit_waits(void)
{
	open_it(A | B | C, 0, 0);
	attach_logger(0);
	say(A | C, 0, 1, 0);
	CHECK(is_established());
	CHECK(!(durable()->block->word[SPINDLE_LOG_COL_RECORD] & SPINDLE_LOG_ESTABLISHED));
	own(0, 1);
	CHECK(durable()->block->word[SPINDLE_LOG_COL_RECORD] & SPINDLE_LOG_ESTABLISHED);
	close_it();
}

/* A logger that says the same again causes no write. */
static void test_says_same(void)
{
	open_it(A | B, 0, 0);
	w.mc->deliver.lsn = 10;
	attach_logger(0);
	own(5, 1);
	CHECK(durable()->member[0].dirty);
	durable()->member[0].dirty = false;
	own(5, 1);
	CHECK(!durable()->member[0].dirty);
	CHECK_EQ(durable()->change, w.words.change);
	own(6, 1);
	CHECK(durable()->member[0].dirty);
	close_it();
}

/* What is durable is the same in all logs, so no message is for some of the members. */
static void test_no_masks(void)
{
	u64 mask = BIT_ULL(0);

	open_it(A | B, 0, 0);
	CHECK(!spindle_mc_direct(w.mc, &mask, 1));
	CHECK_EQ(w.mc->sender[0].walk.unknown, U64_MAX);
	close_it();
}

/* A subgroup that begins with the view has nothing before, wherever it begins. */
static void test_fresh(void)
{
	open_at(5, A | B, 0, 0, true, 100);
	attach_logger(100);
	own(100, 5);
	say(A, 99, 5, 0);
	CHECK(!is_established());
	say(A, 100, 5, 0);
	CHECK(is_established());
	CHECK_EQ(position(), 100);
	/* There may be messages in front of it, of some other time. */
	CHECK(!durable()->first);
	close_it();
	open_it(A | B, 0, 0);
	CHECK(durable()->first);
	next_view(A | B | C);
	CHECK(!durable()->first);
	close_it();
	open_at(5, A | B, 0, 0, false, 0);
	CHECK(!durable()->first);
	close_it();
}

/*
 * A group that has begun again follows views of earlier eras. Majorities of them have the record of
 * the first view, before anything is durable.
 */
static void test_follows(void)
{
	follow(7, A | B | C);
	follow(7, A | B | D);
	open_at(57, A | B | E, SPINDLE_LOGGED_MAJORITY, 1, true, 5000);
	CHECK(durable()->known && !durable()->first);
	CHECK_EQ(durable()->views, 3);
	CHECK_EQ(durable()->base, 5000);
	CHECK_EQ(w.mc->deliver.lsn, 5000);
	attach_logger(5000);
	own(5000, 57);
	say(E, 5000, 57, 0);
	/* A majority of the present view alone. */
	CHECK(!is_established());
	CHECK_EQ(durable()->reach, 5000);
	CHECK_EQ(position(), 0);
	/* The record of an earlier view. */
	say(A, 5000, 56, 0);
	CHECK(!is_established());
	say(A, 5000, 57, 0);
	CHECK(is_established());
	CHECK_EQ(position(), 5000);
	CHECK_EQ(durable()->views, 1);
	arrive(2);
	say(A, 5002, 57, 0);
	own(5001, 57);
	CHECK_EQ(position(), 5001);
	close_it();
}

/* Each view of the range counts, the oldest one and the last one. */
static void test_follows_each(void)
{
	u32 i;

	for (i = 0; i < 2; i++) {
		follow(7, i ? A | B | C : B | D | E);
		follow(7, i ? B | D | E : A | B | C);
		open_at(9, A | B | C, 0, 0, true, 10);
		attach_logger(10);
		own(10, 9);
		say(A | C, 10, 9, 0);
		CHECK(!is_established());
		CHECK_EQ(position(), 0);
		/* A member of an earlier era comes back. The views before go on to count. */
		next_view(A | B | C | D);
		CHECK(durable()->known);
		own(10, 10);
		say(A | C, 10, 10, 0);
		CHECK(!is_established());
		say(D, 9, 10, 0);
		CHECK(!is_established());
		say(D, 10, 10, 0);
		CHECK(is_established());
		CHECK_EQ(position(), 10);
		next_view(A | B);
		CHECK_EQ(durable()->views, 2);
		close_it();
	}
}

/* A view of the members that begin again asks for no other records than the first view does. */
static void test_follows_equal(void)
{
	follow(7, C | B | A);
	open_at(9, A | B | C, 0, 0, true, 0);
	CHECK_EQ(durable()->views, 1);
	CHECK(!durable()->first);
	attach_logger(0);
	own(0, 9);
	say(A | C, 0, 8, 0);
	CHECK(!is_established());
	say(C, 0, 9, 0);
	CHECK(is_established());
	close_it();
}

/* The ranges of other subgroups are theirs. */
static void test_follows_other(void)
{
	follow(6, D | E);
	follow(7, A | D | E);
	follow(8, D | E);
	open_at(9, A | B, 0, 0, true, 0);
	CHECK_EQ(durable()->views, 2);
	CHECK_EQ(durable()->view[0].members, 3);
	CHECK_EQ(durable()->view[0].node[2], 5);
	CHECK_EQ(durable()->view[0].now, BIT_ULL(0));
	close_it();
	follow(6, D | E);
	open_at(9, A | B, 0, 0, true, 0);
	CHECK_EQ(durable()->views, 1);
	CHECK(durable()->first);
	close_it();
}

/* A joiner of a group that has begun again does not know the range, and is told. */
static void test_follows_joiner(void)
{
	open_at(10, A | B | C, 0, 0, false, 5000);
	attach_logger(5000);
	own(5000, 10);
	say(A | C, 5000, 10, 0);
	CHECK(!is_established());
	say(A, 5000, 10, SPINDLE_LOG_ESTABLISHED);
	CHECK(is_established());
	CHECK_EQ(position(), 5000);
	close_it();
}

/* Different members for each number, B among them. Most of them are in most of the views. */
static u32 several(u32 i)
{
	return A | B | C | i << 3;
}

/* A range of many views: behind too many, only another member knows. */
static void test_many_views(void)
{
	u32 i, more;

	for (more = 0; more < 2; more++) {
		open_it(A | B | C, 0, 0);
		attach_logger(0);
		/* Views with the same members take one entry. */
		next_view(A | B | C);
		CHECK_EQ(durable()->views, 1);
		for (i = 1; i < SPINDLE_DURABLE_VIEWS + more; i++)
			next_view(several(i));
		CHECK_EQ(durable()->known, !more);
		CHECK_EQ(durable()->views, SPINDLE_DURABLE_VIEWS);
		/* The last entry is the present view in any case. */
		CHECK_EQ(durable()->view[SPINDLE_DURABLE_VIEWS - 1].members,
			 w.view.num_members);
		own(0, w.view.vid);
		say(w.nodes & ~B, 0, w.view.vid, 0);
		CHECK_EQ(is_established(), !more);
		say(A, 0, w.view.vid, SPINDLE_LOG_ESTABLISHED);
		CHECK(is_established());
		CHECK_EQ(durable()->views, 1);
		next_view(A | B);
		CHECK_EQ(durable()->views, 2);
		close_it();
	}
}

/* The longest range leaves room for the first view, and not for one more. */
static void test_follows_many(void)
{
	u32 i;

	for (i = 1; i <= SPINDLE_MAX_RANGE; i++)
		follow(7, several(i));
	open_at(57, A | B | C, 0, 0, true, 0);
	CHECK_EQ(durable()->views, SPINDLE_DURABLE_VIEWS);
	CHECK(durable()->known);
	CHECK_EQ(durable()->view[SPINDLE_DURABLE_VIEWS - 1].members, 3);
	next_view(A | B);
	CHECK(!durable()->known);
	CHECK_EQ(durable()->views, SPINDLE_DURABLE_VIEWS);
	attach_logger(0);
	own(0, 58);
	say(A, 0, 58, 0);
	CHECK(!is_established());
	close_it();
}

/* The logger and all that it has said go over to the next view. */
static void test_take_over(void)
{
	open_it(A | B | C, 0, 0);
	w.mc->deliver.lsn = 10;
	attach_logger(0);
	LOGGER(.persisted = 10, .low = 3, .snapshot = 4, .record = 1, .state = SPINDLE_LOG_FULL);
	say(A | C, 9, 1, 0);
	CHECK_EQ(position(), 9);
	durable()->given_up = 5;
	next_view(A | B);
	CHECK_EQ(durable()->vid, 2);
	CHECK(durable()->words == &w.words);
	CHECK_EQ(durable()->change, w.words.change);
	CHECK_EQ(durable()->given_up, 5);
	CHECK(!durable()->established);
	CHECK_EQ(position(), 9);
	CHECK_EQ(durable()->reach, 0);
	CHECK_EQ(log_block(ME)->word[SPINDLE_LOG_COL_PERSISTED], 10);
	CHECK_EQ(log_block(ME)->word[SPINDLE_LOG_COL_LOW], 3);
	CHECK_EQ(log_block(ME)->word[SPINDLE_LOG_COL_SNAPSHOT], 4);
	CHECK_EQ(log_block(ME)->word[SPINDLE_LOG_COL_RECORD], 1 << 4 | SPINDLE_LOG_FULL);
	CHECK(durable()->member[0].dirty && !durable()->member[1].dirty);
	/* A logger that broke a rule does not get another chance. */
	LOGGER(.persisted = 9, .record = 1);
	run();
	CHECK(durable()->bad);
	next_view(A | B);
	CHECK(durable()->bad);
	own(10, 3);
	CHECK_EQ(spindle_durable_record(durable()->member[1].word), 1);
	close_it();
}

/* A subgroup that stays as it was may have the record of a later view. */
static void test_stays(void)
{
	open_it(A | B, 0, 0);
	w.mc->latest = 4;
	attach_logger(0);
	own(0, 4);
	say(A, 0, 3, 0);
	CHECK(is_established());
	own(0, 5);
	CHECK(durable()->bad);
	close_it();
}

static void test_waits_for(void)
{
	bool establish;

	open_it(A | B | C, SPINDLE_LOGGED_MAJORITY, 0);
	w.mc->deliver.lsn = 10;
	attach_logger(0);
	CHECK_EQ(spindle_durable_waits_for(w.mc, &establish), 7);
	CHECK(establish);
	own(10, 1);
	say(A, 10, 0, 0);
	run();
	CHECK_EQ(spindle_durable_waits_for(w.mc, &establish), BIT(0) | BIT(2));
	CHECK(establish);
	say(A, 8, 1, 0);
	/* Block A is bad by now: it has gone back. */
	run();
	CHECK_EQ(w.mc->bad, 1);
	say(C, 8, 1, 0);
	run();
	CHECK(durable()->established);
	CHECK_EQ(spindle_durable_waits_for(w.mc, &establish), 0);
	CHECK(!establish);
	w.mc->deliver.lsn = 11;
	own(11, 1);
	CHECK_EQ(spindle_durable_waits_for(w.mc, &establish), BIT(0) | BIT(2));
	say(C, 11, 1, 0);
	CHECK_EQ(position(), 11);
	/* All is durable, and the next view is not established. */
	next_view(A | B | C);
	own(11, 1);
	say(A | C, 11, 1, 0);
	run();
	CHECK_EQ(spindle_durable_waits_for(w.mc, &establish), 7);
	CHECK(establish);
	own(11, 2);
	CHECK_EQ(spindle_durable_waits_for(w.mc, &establish), BIT(0) | BIT(2));
	close_it();
}

/* ---- words of the logger -------------------- */

/* These are taken, and then one rule after the other is broken. */
static const struct spindle_log_words good = {
	.persisted = 10, .low = 5, .snapshot = 7, .record = 3, .state = SPINDLE_LOG_FULL,
};

static void test_logger_rules(void)
{
	static const struct spindle_log_words bad[] = {
		{ .persisted = 9, .low = 5, .snapshot = 7, .record = 3 },
		{ .persisted = 13, .low = 5, .snapshot = 7, .record = 3 },
		{ .persisted = U64_MAX, .low = 5, .snapshot = 7, .record = 3 },
		{ .persisted = 11, .low = 12, .snapshot = 7, .record = 3 },
		{ .persisted = 11, .low = 4, .snapshot = 7, .record = 3 },
		{ .persisted = 11, .low = 5, .snapshot = 12, .record = 3 },
		{ .persisted = 11, .low = 5, .snapshot = 7, .record = 5 },
		{ .persisted = 11, .low = 5, .snapshot = 7, .record = U64_MAX },
		{ .persisted = 11, .low = 5, .snapshot = 7, .record = 2 },
		{ .persisted = 11, .low = 5, .snapshot = 7, .record = 3,
		  .state = SPINDLE_LOG_BEHIND },
		{ .persisted = 11, .low = 5, .snapshot = 7, .record = 3, .state = U32_MAX },
	};
	/* The limits of the same. */
	static const struct spindle_log_words fine[] = {
		{ .persisted = 12, .low = 12, .snapshot = 12, .record = 4,
		  .state = SPINDLE_LOG_FAILED },
		{ .persisted = 10, .low = 5, .snapshot = 0, .record = 3 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad) + ARRAY_SIZE(fine); i++) {
		u64 before[SPINDLE_BLOCK_WORDS];
		bool broken = i < ARRAY_SIZE(bad);

		open_at(4, A | B, 0, 0, true, 0);
		w.mc->deliver.lsn = 12;
		attach_logger(0);
		w.words = good;
		w.words.change = 1;
		run();
		CHECK(!durable()->bad);
		memcpy(before, log_block(ME)->word, sizeof(before));
		durable()->member[0].dirty = false;
		w.mc->events = 0;
		w.words = broken ? bad[i] : fine[i - ARRAY_SIZE(bad)];
		w.words.change = 2;
		CHECK(spindle_durable_test(w.mc));
		run();
		if (durable()->bad != broken)
			tap_fail("words %u", i);
		CHECK_EQ(!!(w.mc->events & SPINDLE_MC_FROZEN), broken);
		CHECK_EQ(!memcmp(before, log_block(ME)->word, sizeof(before)), broken);
		CHECK_EQ(durable()->member[0].dirty, !broken);
		/* The words of the logger are not read any more. */
		w.words = fine[0];
		w.words.change = 3;
		run();
		CHECK_EQ(log_block(ME)->word[SPINDLE_LOG_COL_PERSISTED], broken ? 10 : 12);
		close_it();
	}
}

/* Words count when the logger says that they have changed. A new page says nothing. */
static void test_logger_change(void)
{
	open_it(A | B, 0, 0);
	w.mc->deliver.lsn = 12;
	attach_logger(0);
	own(10, 1);
	CHECK_EQ(log_block(ME)->word[SPINDLE_LOG_COL_PERSISTED], 10);
	w.words.persisted = 11;
	CHECK(!spindle_durable_test(w.mc));
	say(A, 1, 1, 0);
	run();
	CHECK_EQ(log_block(ME)->word[SPINDLE_LOG_COL_PERSISTED], 10);
	spindle_durable_detach(w.mc);
	attach_logger(10);
	CHECK(!spindle_durable_test(w.mc));
	say(A, 2, 1, 0);
	run();
	CHECK(!durable()->bad);
	own(11, 1);
	CHECK_EQ(log_block(ME)->word[SPINDLE_LOG_COL_PERSISTED], 11);
	close_it();
}

/* A failed disk counts once, also if the logger goes before its last words are read. */
static void test_logger_fails(void)
{
	open_it(A | B, 0, 0);
	attach_logger(0);
	LOGGER(.state = SPINDLE_LOG_FAILED);
	run();
	CHECK_EQ(durable()->failed, 1);
	LOGGER(.state = SPINDLE_LOG_FAILED);
	run();
	spindle_durable_detach(w.mc);
	CHECK_EQ(durable()->failed, 1);
	attach_logger(0);
	LOGGER(.state = SPINDLE_LOG_FAILED);
	spindle_durable_detach(w.mc);
	CHECK_EQ(durable()->failed, 2);
	attach_logger(0);
	LOGGER(.state = SPINDLE_LOG_FULL);
	spindle_durable_detach(w.mc);
	CHECK_EQ(durable()->failed, 2);
	close_it();
}

/* The next logger has at least what the last one has said. */
static void test_logger_comes_back(void)
{
	open_it(A | B, 0, 0);
	w.mc->deliver.lsn = 12;
	attach_logger(0);
	own(10, 1);
	durable()->member[0].dirty = false;
	spindle_durable_detach(w.mc);
	CHECK(durable()->member[0].dirty);
	CHECK_EQ(log_block(ME)->word[SPINDLE_LOG_COL_PERSISTED], 10);
	CHECK_EQ(log_block(ME)->word[SPINDLE_LOG_COL_RECORD], 1 << 4 | SPINDLE_LOG_NONE);
	/* Nobody reads the page of a process that is gone. */
	w.words.change++;
	CHECK(!spindle_durable_test(w.mc));
	memset(&w.words, 0, sizeof(w.words));
	CHECK_EQ(spindle_durable_attach(w.mc, &w.words, 9), -ENODATA);
	CHECK(!durable()->words);
	CHECK_EQ(spindle_durable_attach(w.mc, &w.words, 10), 0);
	LOGGER(.persisted = 1);
	run();
	CHECK(durable()->bad);
	spindle_durable_detach(w.mc);
	attach_logger(10);
	CHECK(!durable()->bad);
	close_it();
}

/* ---- log blocks of others -------------------- */

static void test_block_rules(void)
{
	static const u64 rec = 3 << SPINDLE_LOG_RECORD_SHIFT;
	static const u64 bad[][4] = {
		{ 9, 5, 7, 3 << 4 }, { SPINDLE_MAX_LSN + 1, 5, 7, 3 << 4 },
		{ 10, 11, 7, 3 << 4 }, { 10, 4, 7, 3 << 4 }, { 10, 5, 11, 3 << 4 },
		{ 10, 5, 7, 2 << 4 }, { 10, 5, 7, (SPINDLE_MAX_LIVE_VID + 1) << 4 },
		{ 10, 5, 7, 3 << 4 | 6 }, { 10, 5, 7, 3 << 4 | 7 },
	};
	static const u64 fine[][4] = {
		{ SPINDLE_MAX_LSN, SPINDLE_MAX_LSN, SPINDLE_MAX_LSN, SPINDLE_MAX_LIVE_VID << 4 },
		{ 10, 10, 10, 3 << 4 | SPINDLE_LOG_ESTABLISHED | SPINDLE_LOG_BEHIND },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(bad) + ARRAY_SIZE(fine); i++) {
		bool broken = i < ARRAY_SIZE(bad);
		const u64 *word = broken ? bad[i] : fine[i - ARRAY_SIZE(bad)];

		open_it(A | B | C, 0, 0);
		says_words(2, 10, 5, 7, rec);
		run();
		CHECK_EQ(w.mc->bad, 0);
		spindle_block_write(log_block(2), word);
		run();
		if (w.mc->bad != (broken ? BIT(2) : 0))
			tap_fail("block %u", i);
		CHECK_EQ(!!(w.mc->events & SPINDLE_MC_FAILED), broken);
		CHECK_EQ(!memcmp(durable()->member[2].word, word, 32), !broken);
		if (broken)
			CHECK_EQ(durable()->member[2].word[SPINDLE_LOG_COL_PERSISTED], 10);
		/* What a bad member writes is not read any more. */
		say(A, 20, 4, 0);
		says_words(2, SPINDLE_MAX_LSN, SPINDLE_MAX_LSN, 0, SPINDLE_MAX_LIVE_VID << 4);
		run();
		CHECK_EQ(durable()->member[0].word[0], 20);
		if (broken)
			CHECK_EQ(durable()->member[2].word[0], 10);
		close_it();
	}
}

/* Half a block is not believed, and is waited for, but not for ever. */
static void test_torn(void)
{
	u32 i;

	open_it(A | B, 0, 0);
	say(A, 10, 1, 0);
	log_block(0)->word[SPINDLE_LOG_COL_PERSISTED] = 99;
	for (i = 0; i < 5; i++) {
		CHECK(spindle_durable_test(w.mc));
		spindle_durable_trigger(w.mc);
		CHECK_EQ(durable()->member[0].word[SPINDLE_LOG_COL_PERSISTED], 0);
	}
	CHECK_EQ(durable()->member[0].torn_run, 5);
	log_block(0)->word[SPINDLE_LOG_COL_PERSISTED] = 10;
	run();
	CHECK_EQ(durable()->member[0].word[SPINDLE_LOG_COL_PERSISTED], 10);
	CHECK_EQ(durable()->member[0].torn_run, 0);
	log_block(0)->seal++;
	durable()->member[0].torn_run = SPINDLE_MAX_TORN - 1;
	spindle_durable_trigger(w.mc);
	CHECK_EQ(w.mc->bad, 0);
	spindle_durable_trigger(w.mc);
	CHECK_EQ(w.mc->bad, BIT(0));
	CHECK(w.mc->events & SPINDLE_MC_FAILED);
	CHECK(!spindle_durable_test(w.mc));
	close_it();
}

/* ---- pushes -------------------- */

static void open_pushed(void)
{
	u32 r;

	open_it(A | B | C, 0, 0);
	w.mc->deliver.lsn = 10;
	attach_logger(0);
	for (r = 0; r < 3; r++) {
		w.mc->member[r].dirty = false;
		durable()->member[r].dirty = false;
	}
	CHECK(!spindle_push_pending(w.mc));
}

static void check_log_write(const struct spindle_write *write, u32 imm)
{
	CHECK(write->data == log_block(ME));
	CHECK_EQ(write->remote, spindle_layout_log(1, 0));
	CHECK_EQ(write->len, 40);
	CHECK(write->guard);
	CHECK_EQ(write->imm, imm);
}

/* A change of the log block is one write to each other member. */
static void test_push_alone(void)
{
	struct spindle_write write[SPINDLE_PUSH_MAX];
	u32 r;

	open_pushed();
	own(3, 1);
	CHECK(spindle_push_pending(w.mc));
	for (r = 0; r < 3; r++) {
		w.mc->member[r].push_slot = 5;
		CHECK_EQ(spindle_push_wanted(w.mc, r), r != 1);
		if (r == 1)
			continue;
		CHECK_EQ(spindle_push(w.mc, r, 9, 0, write, 5), 1);
		check_log_write(&write[0], 9 << SPINDLE_IMM_SHIFT | 5);
		CHECK(!spindle_push_wanted(w.mc, r));
		CHECK_EQ(spindle_push(w.mc, r, 9, 0, write, 5), 0);
	}
	CHECK(!spindle_push_pending(w.mc));
	close_it();
}

/* The log block rides behind the guard, and is left for later if there is no room. */
static void test_push_behind(void)
{
	struct spindle_write write[SPINDLE_PUSH_MAX];

	open_pushed();
	own(3, 1);
	w.mc->member[0].dirty = true;
	CHECK_EQ(spindle_push(w.mc, 0, 9, 0, write, 6), 2);
	CHECK(write[0].data == w.mc->own.block && write[0].guard);
	check_log_write(&write[1], 9 << SPINDLE_IMM_SHIFT);
	CHECK(!spindle_push_wanted(w.mc, 0));
	w.mc->member[2].dirty = true;
	/* The caller has room for one write, which stands for a push that fills its room. */
	CHECK_EQ(spindle_push(w.mc, 2, 9, 0, write, 1), 1);
	CHECK(write[0].data == w.mc->own.block);
	CHECK(!w.mc->member[2].dirty);
	CHECK(spindle_push_wanted(w.mc, 2));
	CHECK_EQ(spindle_push(w.mc, 2, 9, 0, write, 6), 1);
	check_log_write(&write[0], 9 << SPINDLE_IMM_SHIFT);
	/* A guard without a change of the log block is alone. */
	w.mc->member[2].dirty = true;
	CHECK_EQ(spindle_push(w.mc, 2, 9, 0, write, 6), 1);
	CHECK(write[0].data == w.mc->own.block);
	close_it();
}

/* A member without logs pushes as before. */
static void test_push_without(void)
{
	struct spindle_write write[SPINDLE_PUSH_MAX];

	open_pushed();
	memory.free(w.mc->durable->member);
	memory.free(w.mc->durable);
	w.mc->durable = NULL;
	CHECK(!spindle_push_wanted(w.mc, 0));
	w.mc->member[0].dirty = true;
	CHECK_EQ(spindle_push(w.mc, 0, 9, 0, write, 6), 1);
	close_it();
}

/* ---- the history keeps what is not persisted -------------------- */

/* Without a logger, nothing waits. */
static void test_keeps_for_nobody(void)
{
	open_it(A | B, 0, 0);
	CHECK_EQ(arrive_until_blocked(500), 500);
	close_it();
}

static void test_keep(void)
{
	u64 lsn;

	open_it(A | B, 0, 0);
	attach_logger(0);
	CHECK_EQ(attach(0, 0, true), 0);
	CHECK_EQ(arrive_until_blocked(500), ENTRIES);
	CHECK_EQ(spindle_history_oldest(&w.h, ENTRIES), 0);
	/* Delivery waits without work to do. */
	CHECK(!spindle_mc_run(w.mc, true));
	own(1, 0);
	CHECK(!w.mc->deliver.blocked);
	w.cursor[0].consumed++;
	pass();
	CHECK_EQ(w.mc->deliver.lsn, ENTRIES + 1);
	CHECK_EQ(spindle_history_oldest(&w.h, w.mc->deliver.lsn), 1);
	/* Other words than @persisted do not make room. */
	arrive_until_blocked(10);
	lsn = w.mc->deliver.lsn;
	own(1, 1);
	pass();
	CHECK(w.mc->deliver.blocked);
	w.cursor[0].consumed = w.cursor[0].tail;
	own(lsn, 1);
	pass();
	CHECK(w.mc->deliver.lsn > lsn);
	CHECK_EQ(w.cursor[0].q.error, 0);
	/* With a fast disk, nothing waits. */
	for (lsn = 0; lsn < 500; lsn++) {
		arrive_one();
		w.cursor[0].consumed = w.cursor[0].tail;
		own(w.mc->deliver.lsn, 1);
	}
	CHECK(!w.mc->deliver.blocked);
	CHECK_EQ(w.cursor[0].q.error, 0);
	CHECK_EQ(durable()->given_up, 0);
	close_it();
}

/* What is kept begins with the logger's place, and stays when the logger dies. */
static void test_ghost(void)
{
	open_it(A | B, 0, 0);
	arrive(20);
	attach_logger(10);
	own(10, 0);
	arrive_until_blocked(500);
	CHECK_EQ(spindle_history_oldest(&w.h, w.mc->deliver.lsn), 10);
	own(30, 0);
	spindle_durable_detach(w.mc);
	pass();
	arrive_until_blocked(500);
	CHECK_EQ(spindle_history_oldest(&w.h, w.mc->deliver.lsn), 30);
	CHECK_EQ(attach(0, 30, true), 0);
	attach_logger(30);
	pass();
	CHECK(w.mc->deliver.blocked);
	CHECK_EQ(spindle_history_oldest(&w.h, w.mc->deliver.lsn), 30);
	close_it();
}

/* The beginning of a view, which the logger may not have read, is kept with the position. */
static void test_keeps_view(void)
{
	open_it(A | B, 0, 0);
	attach_logger(0);
	CHECK_EQ(attach(0, 0, true), 0);
	arrive(5);
	next_view(A | B);
	w.cursor[0].consumed = w.cursor[0].tail;
	arrive_one();
	own(5, 0);
	arrive_until_blocked(500);
	CHECK(w.mc->deliver.blocked);
	CHECK_EQ(w.cursor[0].q.error, 0);
	CHECK_EQ(entry(w.cursor[0].consumed)->kind, SPINDLE_DLV_VIEW);
	close_it();
}

/* The end of a view gives the logger up, also if delivery has waited before. */
static void test_frozen(void)
{
	u64 have, trim;

	open_it(A | B, 0, 0);
	attach_logger(0);
	CHECK_EQ(attach(0, 0, true), 0);
	arrive_until_blocked(500);
	CHECK_EQ(w.mc->deliver.lsn, ENTRIES);
	CHECK_EQ(w.sent, ENTRIES + 1);
	spindle_mc_wedge(w.mc);
	spindle_mc_freeze(w.mc, &have);
	CHECK_EQ(have, w.sent);
	CHECK_EQ(durable()->given_up, 0);
	trim = have;
	CHECK(spindle_mc_trim(w.mc, &trim));
	CHECK(spindle_mc_drain(w.mc));
	CHECK_EQ(w.mc->deliver.lsn, w.sent);
	CHECK_EQ(durable()->given_up, 1);
	CHECK(durable()->behind);
	CHECK_EQ(w.cursor[0].q.error, SPINDLE_ERR_BEHIND);
	CHECK_EQ(spindle_durable_state(log_block(ME)->word), SPINDLE_LOG_BEHIND);
	/* This goes over to the next view. */
	next_view(A | B);
	CHECK(durable()->behind);
	CHECK_EQ(durable()->given_up, 1);
	CHECK_EQ(arrive_until_blocked(200), 200);
	close_it();
}

/* A policy does not wait. The logger is behind until its disk has what was forgotten. */
static void test_give_up(void)
{
	u64 oldest;

	open_it(A | B, 0, 0);
	attach_logger(0);
	arrive_until_blocked(500);
	durable()->member[0].dirty = false;
	spindle_durable_give_up(w.mc);
	CHECK(durable()->member[0].dirty);
	spindle_durable_give_up(w.mc);
	CHECK_EQ(durable()->given_up, 1);
	CHECK(!w.mc->deliver.blocked);
	pass();
	CHECK_EQ(arrive_until_blocked(200), 200);
	/* Some progress, and not enough. */
	own(10, 0);
	CHECK(durable()->behind);
	CHECK_EQ(spindle_durable_state(log_block(ME)->word), SPINDLE_LOG_BEHIND);
	CHECK_EQ(arrive_until_blocked(200), 200);
	oldest = spindle_history_oldest(&w.h, w.mc->deliver.lsn);
	own(oldest - 1, 0);
	CHECK(durable()->behind);
	own(oldest, 0);
	CHECK(!durable()->behind);
	CHECK_EQ(spindle_durable_state(log_block(ME)->word), SPINDLE_LOG_LOGGING);
	CHECK(arrive_until_blocked(200) < 200);
	CHECK_EQ(spindle_history_oldest(&w.h, w.mc->deliver.lsn), oldest);
	/* Or the next logger begins where the history does. */
	spindle_durable_give_up(w.mc);
	pass();
	arrive_until_blocked(100);
	oldest = spindle_history_oldest(&w.h, w.mc->deliver.lsn);
	spindle_durable_detach(w.mc);
	CHECK(durable()->behind);
	attach_logger(oldest);
	CHECK(!durable()->behind);
	CHECK(arrive_until_blocked(200) < 200);
	CHECK_EQ(spindle_history_oldest(&w.h, w.mc->deliver.lsn), oldest);
	CHECK_EQ(durable()->given_up, 2);
	close_it();
}

/* ---- the gate -------------------- */

static void test_gate(void)
{
	long long got[ENTRIES];
	u32 i, n;

	open_it(A | B, SPINDLE_LOGGED_GATE, 0);
	attach_logger(0);
	CHECK_EQ(attach(0, 0, true), 0);
	CHECK_EQ(attach(1, 0, false), 0);
	arrive(10);
	CHECK_EQ(reads(0, got), 10);
	CHECK_EQ(reads(1, got), 0);
	CHECK_EQ(spindle_mc_next(w.mc), 0);
	CHECK_EQ(attach(2, 1, false), -ERANGE);
	own(10, 1);
	say(A, 6, 1, 0);
	w.mc->events = 0;
	CHECK_EQ(position(), 6);
	CHECK(w.mc->events & SPINDLE_MC_DELIVERED);
	CHECK(w.mc->events & SPINDLE_MC_DURABLE);
	n = reads(1, got);
	CHECK_EQ(n, 6);
	for (i = 0; i < n; i++)
		CHECK_EQ(got[i], i);
	/* A process that wants what comes from now on gets what becomes durable next. */
	CHECK_EQ(spindle_mc_next(w.mc), 6);
	CHECK_EQ(attach(2, 7, false), -ERANGE);
	CHECK_EQ(attach(2, 6, false), 0);
	CHECK_EQ(w.cursor[2].consumed, w.cursor[2].tail);
	spindle_mc_detach_reader(w.mc, &w.cursor[0].q);
	CHECK_EQ(attach(0, 11, true), -ERANGE);
	CHECK_EQ(attach(0, 10, true), 0);
	say(A, 10, 1, 0);
	run();
	CHECK_EQ(reads(1, got), 4);
	CHECK_EQ(reads(2, got), 4);
	CHECK_EQ(got[0], 6);
	CHECK_EQ(spindle_mc_next(w.mc), 10);
	close_it();
}

/* Without a gate all readers get all that is delivered. */
static void test_no_gate(void)
{
	long long got[ENTRIES];

	open_it(A | B, 0, 0);
	CHECK_EQ(attach(0, 0, false), 0);
	arrive(10);
	CHECK_EQ(reads(0, got), 10);
	CHECK_EQ(spindle_mc_next(w.mc), 10);
	CHECK_EQ(attach(1, 10, false), 0);
	close_it();
}

/* The beginning of a view comes before the message that the gate waits for. */
static void test_gate_views(void)
{
	long long got[ENTRIES];

	open_it(A | B, SPINDLE_LOGGED_GATE, 0);
	attach_logger(0);
	CHECK_EQ(attach(1, 0, false), 0);
	arrive(4);
	own(4, 1);
	say(A, 4, 1, 0);
	CHECK_EQ(position(), 4);
	CHECK_EQ(reads(1, got), 4);
	next_view(A | B);
	pass();
	/* The reader learns of the view although nothing of it is durable. */
	CHECK_EQ(reads(1, got), 1);
	CHECK_EQ(got[0], -2);
	arrive(2);
	CHECK_EQ(reads(1, got), 0);
	/* A reader that begins with the next message begins behind the view. */
	CHECK_EQ(spindle_mc_next(w.mc), 4);
	CHECK_EQ(attach(2, 4, false), 0);
	CHECK_EQ(w.cursor[2].consumed, w.cursor[2].tail);
	next_view(A | B);
	arrive(1);
	CHECK_EQ(reads(1, got), 0);
	own(6, 3);
	say(A, 6, 3, 0);
	CHECK_EQ(position(), 6);
	CHECK_EQ(reads(1, got), 3);
	CHECK_EQ(got[0], 4);
	CHECK_EQ(got[1], 5);
	CHECK_EQ(got[2], -3);
	CHECK_EQ(reads(2, got), 3);
	close_it();
}

/* What is forgotten behind the gate is shown to nobody, and the gate goes with the history. */
static void test_gate_forgotten(void)
{
	long long got[ENTRIES];
	u64 oldest;
	u32 i;

	open_it(A | B, SPINDLE_LOGGED_GATE, 0);
	CHECK_EQ(attach(1, 0, false), 0);
	arrive(5);
	next_view(A | B);
	arrive(50);
	oldest = spindle_history_oldest(&w.h, w.mc->deliver.lsn);
	CHECK_EQ(oldest, 0);
	for (i = 0; i < 50 && spindle_history_oldest(&w.h, w.mc->deliver.lsn) < 5; i++)
		arrive_one();
	CHECK_EQ(w.cursor[1].q.error, SPINDLE_ERR_BEHIND);
	CHECK_EQ(spindle_dlvq_lsn(&w.cursor[1].q, 0), 0);
	oldest = spindle_history_oldest(&w.h, w.mc->deliver.lsn);
	CHECK_EQ(spindle_mc_next(w.mc), oldest);
	CHECK_EQ(attach(2, oldest, false), 0);
	CHECK_EQ(w.cursor[2].consumed, w.cursor[2].tail);
	arrive_one();
	CHECK_EQ(reads(2, got), 0);
	/* The oldest entry may be the beginning of a view. */
	spindle_mc_detach_reader(w.mc, &w.cursor[2].q);
	next_view(A | B);
	arrive(1);
	spindle_history_age(&w.h, 2);
	spindle_mc_detach_reader(w.mc, &w.cursor[1].q);
	CHECK_EQ(attach(2, spindle_mc_next(w.mc), false), 0);
	CHECK_EQ(w.cursor[2].consumed, w.cursor[2].tail);
	close_it();
}

/* The gate is never in front of a view, although that is the oldest entry. */
static void test_gate_on_view(void)
{
	open_it(A | B, SPINDLE_LOGGED_GATE, 0);
	arrive(5);
	next_view(A | B);
	pass();
	next_view(A | B);
	pass();
	arrive(1);
	spindle_history_age(&w.h, 2);
	CHECK_EQ(entry(w.h.q.consumed)->kind, SPINDLE_DLV_VIEW);
	CHECK_EQ(entry(w.h.q.consumed)->slot, 3);
	CHECK_EQ(spindle_mc_next(w.mc), 5);
	CHECK_EQ(attach(2, 5, false), 0);
	CHECK_EQ(w.cursor[2].consumed, w.cursor[2].tail);
	close_it();
}

/* A history that begins when messages are durable already. */
static void test_gate_begins(void)
{
	long long got[ENTRIES];

	open_it(A | B, SPINDLE_LOGGED_GATE, 0);
	attach_logger(0);
	arrive(4);
	own(4, 1);
	say(A, 4, 1, 0);
	CHECK_EQ(position(), 4);
	spindle_mc_remember(w.mc, NULL);
	CHECK_EQ(spindle_mc_next(w.mc), 4);
	free(w.h.q.ring);
	free(w.h.q.copy);
	free(w.h.q.copy_end);
	spindle_history_init(&w.h, calloc(ENTRIES, sizeof(struct spindle_dlv)), calloc(1, BYTES),
			     calloc(ENTRIES, sizeof(u64)), UNITS);
	spindle_mc_remember(w.mc, &w.h);
	CHECK_EQ(attach(1, 4, false), 0);
	arrive(2);
	CHECK_EQ(reads(1, got), 0);
	own(6, 1);
	say(A, 5, 1, 0);
	CHECK_EQ(position(), 5);
	CHECK_EQ(reads(1, got), 1);
	close_it();
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "all, a majority, and min-copies", test_rules },
		{ "two copies by default, or one", test_default_copies },
		{ "half is no majority", test_even },
		{ "durable is bounded, and never goes back", test_bounds },
		{ "a view is established by records", test_first_view },
		{ "a view is established when the rule reaches its base", test_base },
		{ "majorities of all views of the range", test_range },
		{ "members of former views are known by their ids", test_ranks },
		{ "a joiner is told that the view is established", test_told },
		{ "the bit waits for the own record", test_bit_waits },
		{ "a logger that says the same again", test_says_same },
		{ "messages for some of the members", test_no_masks },
		{ "a subgroup that begins with the view", test_fresh },
		{ "a subgroup that has begun again", test_follows },
		{ "each view of the range counts", test_follows_each },
		{ "a range of the same members", test_follows_equal },
		{ "ranges of other subgroups", test_follows_other },
		{ "a joiner of a group that has begun again", test_follows_joiner },
		{ "more views than a member remembers", test_many_views },
		{ "the longest range", test_follows_many },
		{ "the next view takes all over", test_take_over },
		{ "the record of a view that changed nothing", test_stays },
		{ "who is waited for", test_waits_for },
		{ "a logger that breaks a rule is frozen", test_logger_rules },
		{ "words count when they are said to have changed", test_logger_change },
		{ "a failed disk counts once", test_logger_fails },
		{ "the next logger has what the last one had", test_logger_comes_back },
		{ "a member whose log block breaks a rule is bad", test_block_rules },
		{ "half a log block", test_torn },
		{ "the log block is one write", test_push_alone },
		{ "the log block rides behind the guard", test_push_behind },
		{ "a subgroup without logs pushes none", test_push_without },
		{ "a history without a logger keeps nothing", test_keeps_for_nobody },
		{ "delivery waits for the disk", test_keep },
		{ "what a logger has not persisted stays", test_ghost },
		{ "the beginning of a view stays for the logger", test_keeps_view },
		{ "the end of a view waits for no disk", test_frozen },
		{ "a logger that is given up is behind", test_give_up },
		{ "readers get what is durable", test_gate },
		{ "readers get what is delivered", test_no_gate },
		{ "views at the gate", test_gate_views },
		{ "the gate goes with what is forgotten", test_gate_forgotten },
		{ "the gate is not in front of a view", test_gate_on_view },
		{ "a history that begins late has a gate", test_gate_begins },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
