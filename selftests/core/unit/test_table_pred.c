// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predicates of tables: one engine, and rows that the test writes as their owners would. Random
 * predicates over random rows give what a second evaluation gives, which computes in 128 bits.
 * test_table.c has predicates of several engines.
 */
#include "core/table/predicate.h"
#include "rng.h"
#include "tap.h"
#include "world.h"

#define MEMBERS	5U
#define ME	2U
#define CELLS	3U
#define WORDS	8U	/* of a cell */
#define ANY	SPINDLE_ANY_ID

#define wide __int128

static struct spindle_tb tb;
static struct spindle_tb_member member[MEMBERS];
static u64 row[MEMBERS][CELLS * WORDS + WORDS];
static u64 guard[3][WORDS];	/* and a copy of a cell */
static u64 dirty[SPINDLE_TB_WORDS];
static u32 vouch[MEMBERS];
static struct spindle_tb_preds set;
static struct rng rng;

/* ---- the world ------------------------------------------------------------ */

static void drop(u32 id)
{
	free(spindle_tb_pred_remove(&set, id));
}

static void make_tb(u32 members, u32 me)
{
	u32 r;

	tb = (struct spindle_tb){
		.members = members, .me = me, .cells = CELLS, .cell = WORDS * 8,
		.member = member, .row = (u8 *)row[me], .dirty = dirty,
		.guard = guard[0], .next = guard[1], .copy = guard[2],
	};
	memset(member, 0, sizeof(member));
	for (r = 0; r < members; r++) {
		member[r].node = 10 + r;
		if (r == me)
			continue;
		member[r].cells = (u8 *)row[r];
		member[r].block = (void *)&row[r][CELLS * WORDS];
	}
}

static void open_world(void)
{
	u32 id;

	for (id = 0; id < SPINDLE_MAX_PREDICATES; id++)
		if (set.pred[id])
			drop(id);
	memset(row, 0, sizeof(row));
	memset(dirty, 0, sizeof(dirty));
	memset(vouch, 0, sizeof(vouch));
	make_tb(MEMBERS, ME);
}

static u64 *cell_of(u32 r, u32 cell)
{
	return row[r] + cell * WORDS;
}

static void seal(u64 *cell)
{
	cell[WORDS - 2]++;
	cell[WORDS - 1] = spindle_mix(cell, WORDS - 1);
}

/* What a row's owner has changed has come, or the process has changed it. */
static void tell(u32 r)
{
	struct spindle_block *block = (void *)&row[r][CELLS * WORDS];
	u64 word[SPINDLE_BLOCK_WORDS];

	memcpy(word, block->word, sizeof(word));
	word[SPINDLE_TB_PUSHES]++;
	word[SPINDLE_TB_GUARD] = cell_of(r, 0)[WORDS - 2];
	if (r == tb.me)
		dirty[0] |= 2;
	else
		spindle_block_write(block, word);
}

static void put(u32 r, u32 cell, u32 at, u64 value)
{
	cell_of(r, cell)[at] = value;
	seal(cell_of(r, cell));
	tell(r);
}

/* Let the engine look, at what a row's owner has told too. */
static void pass(void)
{
	spindle_tb_run(&tb);
	spindle_tb_run(&tb);
}

static struct spindle_number number(u32 fold, u32 cell, u32 at)
{
	return (struct spindle_number){
		.fold = fold, .field = { .cell = cell, .offset = at * 8, .width = 8 },
	};
}

static struct spindle_number constant(u64 value)
{
	return (struct spindle_number){ .add = value };
}

/* Word 0 of cell 1 of each row is at least @value; then signal. */
static struct spindle_predicate all_reach(u64 value)
{
	return (struct spindle_predicate){
		.id = ANY, .kind = SPINDLE_KIND_RECURRENT, .terms = 1, .triggers = 1,
		.term[0] = {
			.compare = SPINDLE_CMP_GE, .least = SPINDLE_ALL_ROWS,
			.left = number(SPINDLE_FOLD_EACH, 1, 0), .right = constant(value),
		},
	};
}

static struct spindle_trigger to_set(u32 cell, u32 at, struct spindle_number value)
{
	return (struct spindle_trigger){
		.what = SPINDLE_DO_SET, .value = value,
		.field = { .cell = cell, .offset = at * 8, .width = 8 },
	};
}

static int check(struct spindle_predicate *p)
{
	return spindle_tb_pred_check(p, CELLS, WORDS * 8, true);
}

static struct spindle_tb_pred *add(u32 id, struct spindle_predicate p)
{
	struct spindle_tb_pred *pred;

	CHECK_EQ(check(&p), 0);
	pred = calloc(1, spindle_tb_pred_bytes(&p));
	spindle_tb_pred_init(pred, &p);
	spindle_tb_pred_add(&tb, &set, id, pred);
	return pred;
}

/* ---- bad input ------------------------------------------------------------ */

static void refuse(struct spindle_predicate p, u32 bad)
{
	CHECK_EQ(check(&p), -EINVAL);
	CHECK_EQ(p.bad, bad);
}

#define REFUSE(bad, change) do {		\
	struct spindle_predicate p = good;	\
						\
	change;					\
	refuse(p, bad);				\
} while (0)

/* A predicate with two terms and three triggers, in which each member may be made wrong. */
static struct spindle_predicate good_one(void)
{
	struct spindle_predicate p = all_reach(7);

	p.terms = 2;
	p.term[1] = (struct spindle_term){
		.compare = SPINDLE_CMP_LT, .left = number(SPINDLE_FOLD_MIN, 2, 5),
		.right = number(SPINDLE_FOLD_OWN, 2, 5),
	};
	p.triggers = 3;
	p.trigger[1] = to_set(2, 5, number(SPINDLE_FOLD_MAX, 0, 0));
	p.trigger[2] = (struct spindle_trigger){ .what = SPINDLE_DO_ARM, .id = 31 };
	return p;
}

static void test_bad_predicates(void)
{
	struct spindle_predicate good = good_one();

	CHECK_EQ(check(&good), 0);
	REFUSE(0, p.kind = 3);
	REFUSE(0, p.flags = 4);
	REFUSE(0, p.id = SPINDLE_MAX_PREDICATES);
	REFUSE(0, p.resv = 1);
	REFUSE(0, p.bad = 1);
	REFUSE(0, p.terms = 0);
	REFUSE(0, p.terms = SPINDLE_MAX_TERMS + 1);
	REFUSE(0, p.terms = 1);
	REFUSE(0, p.triggers = 0);
	REFUSE(0, p.triggers = SPINDLE_MAX_TRIGGERS + 1);
	REFUSE(0, p.triggers = 2);
	REFUSE(1, p.term[0].compare = SPINDLE_CMP_GE + 1);
	REFUSE(1, p.term[0].least = 0);
	REFUSE(1, p.term[0].left.add = 1);
	REFUSE(1, p.term[0].left.fold = SPINDLE_FOLD_NONE);
	REFUSE(1, p.term[0].right = number(SPINDLE_FOLD_EACH, 1, 0));
	REFUSE(1, p.term[0].right.field.width = 1);
	REFUSE(2, p.term[1].least = 1);
	REFUSE(2, p.term[1].left.field.flags = SPINDLE_FIELD_SIGNED);
	REFUSE(2, p.term[1].left.fold = SPINDLE_FOLD_SUM + 1);
	REFUSE(2, p.term[1].left.resv = 1);
	REFUSE(2, p.term[1].right.rows = SPINDLE_ROWS_OTHERS);
	REFUSE(2, p.term[1].left.rows = SPINDLE_ROWS_NODES);
	REFUSE(2, p.term[1].left.rows = SPINDLE_ROWS_NODES + 1);
	REFUSE(2, p.term[1].left.nodes = 1);
	REFUSE(2, p.term[1].left.node[7] = 1);
	REFUSE(2, (p.term[1].left.rows = SPINDLE_ROWS_NODES, p.term[1].left.nodes = 9));
	REFUSE(2, (p.term[1].left.rows = SPINDLE_ROWS_NODES, p.term[1].left.nodes = 1));
	REFUSE(17, p.trigger[1].id = 1);
	REFUSE(17, p.trigger[1].value.fold = SPINDLE_FOLD_EACH);
	REFUSE(16, p.trigger[0].id = 1);
	REFUSE(16, p.trigger[0].value.add = 1);
	REFUSE(16, p.trigger[0].what = SPINDLE_DO_DISARM + 1);
	REFUSE(18, p.trigger[2].id = SPINDLE_MAX_PREDICATES);
	REFUSE(18, p.trigger[2].field.width = 8);
	CHECK_EQ(spindle_tb_pred_check(&good, CELLS, WORDS * 8, false), -EBADF);
	CHECK_EQ(good.bad, SPINDLE_BAD_TRIGGER + 1);
}

static void test_bad_fields(void)
{
	struct spindle_predicate good = good_one();

	REFUSE(2, p.term[1].left.field.cell = CELLS);
	REFUSE(2, p.term[1].left.field.offset = 44);
	REFUSE(2, p.term[1].left.field.offset = 48);
	REFUSE(2, p.term[1].left.field.offset = 65528);
	REFUSE(2, p.term[1].left.field.width = 0);
	REFUSE(2, p.term[1].left.field.width = 3);
	REFUSE(2, p.term[1].left.field.width = 16);
	REFUSE(2, p.term[1].left.field.flags = 2);
	REFUSE(2, p.term[1].left.field.resv = 1);
	REFUSE(17, p.trigger[1].field.cell = CELLS);
	REFUSE(17, p.trigger[1].field.offset = 48);
	/* One node at the least, and all of them are named. */
	good.term[1].left.rows = SPINDLE_ROWS_NODES;
	good.term[1].left.nodes = 8;
	memset(good.term[1].left.node, 1, sizeof(good.term[1].left.node));
	CHECK_EQ(check(&good), 0);
}

/* ---- numbers --------------------------------------------------------------- */

static wide reference_field(u32 r, const struct spindle_field *f)
{
	u64 v = 0;

	memcpy(&v, (const u8 *)cell_of(r, f->cell) + f->offset, f->width);
	if (!(f->flags & SPINDLE_FIELD_SIGNED))
		return v;
	switch (f->width) {
	case 1: return (int8_t)v;
	case 2: return (int16_t)v;
	case 4: return (int32_t)v;
	default: return (int64_t)v;
	}
}

static bool reference_row(u32 r, const struct spindle_number *n)
{
	u32 i;

	if (n->rows == SPINDLE_ROWS_ALL)
		return true;
	if (n->rows == SPINDLE_ROWS_OTHERS)
		return r != ME;
	for (i = 0; i < n->nodes; i++)
		if (n->node[i] == 10 + r)
			return true;
	return false;
}

/* A number of 64 bits, with a sign or without. */
static wide narrow(wide v, bool sign)
{
	return sign ? (wide)(int64_t)v : (wide)(u64)v;
}

static wide reference(const struct spindle_number *n, bool sign)
{
	wide sum = 0, least, most, v;
	bool own = n->field.flags & SPINDLE_FIELD_SIGNED;
	u32 r;

	least = own ? (wide)INT64_MAX : (wide)UINT64_MAX;
	most = own ? (wide)INT64_MIN : 0;
	for (r = 0; r < MEMBERS; r++) {
		if (!n->fold || !reference_row(r, n))
			continue;
		v = reference_field(r, &n->field);
		sum += v;
		least = v < least ? v : least;
		most = v > most ? v : most;
	}
	v = n->fold == SPINDLE_FOLD_OWN ? reference_field(ME, &n->field) :
	    n->fold == SPINDLE_FOLD_MIN ? least : n->fold == SPINDLE_FOLD_MAX ? most : sum;
	return narrow(v + n->add, sign);
}

static bool reference_compare(wide a, wide b, u32 how)
{
	bool answer[] = { a == b, a != b, a < b, a <= b, a > b, a >= b };

	return answer[how];
}

static bool reference_term(const struct spindle_term *t)
{
	bool sign = t->left.field.flags & SPINDLE_FIELD_SIGNED;
	u32 r, rows = 0, yes = 0;

	if (t->left.fold != SPINDLE_FOLD_EACH)
		return reference_compare(reference(&t->left, sign), reference(&t->right, sign),
					 t->compare);
	for (r = 0; r < MEMBERS; r++) {
		if (!reference_row(r, &t->left))
			continue;
		rows++;
		yes += reference_compare(reference_field(r, &t->left.field),
					 reference(&t->right, sign), t->compare);
	}
	return t->least == SPINDLE_ALL_ROWS ? yes == rows : yes >= t->least;
}

static bool reference_holds(const struct spindle_predicate *p)
{
	u32 i, yes = 0;

	for (i = 0; i < p->terms; i++)
		yes += reference_term(&p->term[i]);
	return p->flags & SPINDLE_PREDICATE_ANY ? yes > 0 : yes == p->terms;
}

static void random_rows(struct spindle_number *n)
{
	u32 i;

	n->rows = rng_below(&rng, 3);
	if (n->rows != SPINDLE_ROWS_NODES)
		return;
	n->nodes = 1 + rng_below(&rng, SPINDLE_MAX_ROW_NODES);
	for (i = 0; i < n->nodes; i++)
		n->node[i] = 8 + rng_below(&rng, 9);
}

static struct spindle_number random_number(u32 least, bool sign)
{
	u32 width = 1U << rng_below(&rng, 4);
	struct spindle_number n = {
		.fold = least + rng_below(&rng, SPINDLE_FOLD_SUM + 1 - least),
		.add = rng_chance(&rng, 50) ? 0 : rng_odd(&rng),
	};

	if (n.fold == SPINDLE_FOLD_NONE)
		return n;
	n.field = (struct spindle_field){
		.cell = rng_below(&rng, CELLS), .offset = rng_below(&rng, 48 / width) * width,
		.width = width, .flags = sign ? SPINDLE_FIELD_SIGNED : 0,
	};
	if (n.fold != SPINDLE_FOLD_OWN)
		random_rows(&n);
	return n;
}

static struct spindle_term random_term(void)
{
	bool sign = rng_chance(&rng, 50);
	struct spindle_term t = { .compare = rng_below(&rng, 6) };

	t.left = random_number(SPINDLE_FOLD_OWN, sign);
	do
		t.right = random_number(SPINDLE_FOLD_NONE, sign);
	while (t.right.fold == SPINDLE_FOLD_EACH);
	if (t.left.fold == SPINDLE_FOLD_EACH) {
		t.least = rng_chance(&rng, 40) ? SPINDLE_ALL_ROWS : 1 + rng_below(&rng, 4);
		t.left.add = 0;
	}
	return t;
}

static struct spindle_predicate random_predicate(void)
{
	struct spindle_predicate p = {
		.id = ANY, .terms = 1 + rng_below(&rng, SPINDLE_MAX_TERMS), .triggers = 1,
		.flags = rng_chance(&rng, 50) ? SPINDLE_PREDICATE_ANY : 0,
	};
	u32 i;

	for (i = 0; i < p.terms; i++)
		p.term[i] = random_term();
	return p;
}

/* Small values come often, so that comparisons of equal numbers do. */
static void random_cell(u32 r)
{
	u64 *cell = cell_of(r, rng_below(&rng, CELLS));
	u32 i;

	for (i = 0; i < WORDS - 2; i++)
		cell[i] = rng_chance(&rng, 50) ? rng_below(&rng, 3) : rng_odd(&rng);
	seal(cell);
	tell(r);
}

static void test_numbers(void)
{
	u32 round, i, scale = tap_env("SCHEDULES", 100);
	u64 yes = 0, no = 0;

	for (round = 0; round < 20 * scale; round++) {
		struct spindle_predicate p = random_predicate();
		struct spindle_tb_pred *pred;
		u64 before = 0;

		if (round % 50 == 0)
			open_world();
		pred = add(0, p);
		for (i = 0; i < 8; i++) {
			bool holds = reference_holds(&p);

			pass();
			CHECK_EQ(pred->signals - before > 0, holds);
			before = pred->signals;
			*(holds ? &yes : &no) += 1;
			random_cell(rng_below(&rng, MEMBERS));
		}
		drop(0);
	}
	CHECK(yes > scale && no > scale);
}

/* ---- kinds, triggers, looks ------------------------------------------------- */

static void test_kinds(void)
{
	static const struct {
		u64 value, recurrent, once, transition;
	} step[] = {
		{ 0, 0, 0, 0 }, { 7, 1, 1, 1 }, { 8, 2, 1, 1 }, { 0, 2, 1, 1 }, { 9, 3, 1, 2 },
	};
	struct spindle_tb_pred *pred[3];
	u32 i, r;

	open_world();
	for (r = 0; r < MEMBERS; r++)
		put(r, 1, 0, r ? 100 : 0);
	pass();
	for (i = 0; i < 3; i++) {
		struct spindle_predicate p = all_reach(7);

		p.kind = i;
		pred[i] = add(i, p);
	}
	for (i = 0; i < ARRAY_SIZE(step); i++) {
		put(0, 1, 0, step[i].value);
		pass();
		CHECK_EQ(pred[SPINDLE_KIND_RECURRENT]->signals, step[i].recurrent);
		CHECK_EQ(pred[SPINDLE_KIND_ONCE]->signals, step[i].once);
		CHECK_EQ(pred[SPINDLE_KIND_TRANSITION]->signals, step[i].transition);
	}
	CHECK_EQ(tb.signals, 6);
}

/* Nothing has changed, so nothing is looked at. */
static void test_idle(void)
{
	u64 looks;
	u32 i;

	open_world();
	for (i = 0; i < SPINDLE_MAX_PREDICATES; i++)
		add(i, all_reach(0));
	pass();
	looks = tb.stats.looks;
	CHECK_EQ(looks, SPINDLE_MAX_PREDICATES);
	for (i = 0; i < 100; i++)
		CHECK(!spindle_tb_run(&tb));
	CHECK_EQ(tb.stats.looks, looks);
	put(1, 2, 0, 1);
	pass();
	CHECK_EQ(tb.stats.looks, 2 * looks);
}

/* A pass looks at some of very many predicates, and the next one goes on. None is left out. */
static void test_budget(void)
{
	static struct spindle_tb_preds many[8];
	u64 looks = 0, last = 0;
	u32 i, k, passes = 0;

	open_world();
	for (i = 0; i < ARRAY_SIZE(many); i++)
		for (k = 0; k < SPINDLE_MAX_PREDICATES; k++) {
			struct spindle_predicate p = all_reach(0);
			struct spindle_tb_pred *pred = calloc(1, spindle_tb_pred_bytes(&p));

			spindle_tb_pred_init(pred, &p);
			spindle_tb_pred_add(&tb, &many[i], k, pred);
		}
	/* The row of one member changes all the while. */
	for (i = 0; i < 200; i++) {
		put(0, 1, 0, i);
		spindle_tb_run(&tb);
		CHECK(tb.stats.looks - looks <= 64);
		looks = tb.stats.looks;
	}
	for (; spindle_tb_run(&tb); passes++)
		CHECK(passes < 100);
	for (i = 0; i < ARRAY_SIZE(many); i++)
		for (k = 0; k < SPINDLE_MAX_PREDICATES; k++) {
			struct spindle_tb_pred *pred = spindle_tb_pred_remove(&many[i], k);

			CHECK(pred->signals > 40 && !pred->stale);
			CHECK(!last || pred->turn == last + 1);
			last = pred->turn;
			free(pred);
		}
}

/* Each look adds one, until the number is reached; and each pass has one look. */
static void test_set(void)
{
	struct spindle_predicate p = {
		.id = ANY, .terms = 1, .triggers = 3,
		.term[0] = {
			.compare = SPINDLE_CMP_LT, .left = number(SPINDLE_FOLD_OWN, 1, 2),
			.right = constant(10),
		},
	};
	u64 *cell = cell_of(ME, 1);
	u32 i;

	open_world();
	p.trigger[0] = to_set(1, 2, number(SPINDLE_FOLD_OWN, 1, 2));
	p.trigger[0].value.add = 1;
	/* The second one sees what the first one has set. */
	p.trigger[1] = to_set(1, 3, number(SPINDLE_FOLD_OWN, 1, 2));
	p.trigger[2].what = SPINDLE_DO_SIGNAL;
	add(0, p);
	for (i = 1; i <= 10; i++) {
		CHECK(spindle_tb_run(&tb));
		CHECK_EQ(cell[2], i);
		CHECK_EQ(cell[3], i);
		CHECK_EQ(cell[WORDS - 2], 2 * i);
		CHECK_EQ(cell[WORDS - 1], spindle_mix(cell, WORDS - 1));
		CHECK_EQ(tb.word[SPINDLE_TB_PUSHES], i);
		CHECK(spindle_tb_wanted(&tb, 0) && member[0].lacks[0] == 2);
	}
	CHECK(!spindle_tb_run(&tb));
	CHECK_EQ(tb.stats.taken, 10);
	CHECK_EQ(tb.stats.fired, 10);
	CHECK_EQ(tb.signals, 10);
}

/* A field of one or two bytes leaves its neighbours alone. */
static void test_set_width(void)
{
	struct spindle_predicate p = all_reach(0);
	u64 *cell = cell_of(ME, 1);

	open_world();
	put(ME, 1, 1, 0x1122334455667788);
	p.kind = SPINDLE_KIND_ONCE;
	p.triggers = 2;
	p.trigger[0] = to_set(1, 1, constant(~0xa5ULL));
	p.trigger[0].field = (struct spindle_field){ .cell = 1, .offset = 11, .width = 1 };
	p.trigger[1] = to_set(1, 1, constant(0x10001));
	p.trigger[1].field = (struct spindle_field){ .cell = 1, .offset = 14, .width = 2 };
	add(0, p);
	pass();
	CHECK_EQ(cell[1], 0x000133445a667788);
}

/* A guard that a predicate sets is copied, and the process's dirty bits are taken after that. */
static void test_set_guard(void)
{
	struct spindle_write write[SPINDLE_PUSH_MAX];
	struct spindle_predicate p = all_reach(0);

	open_world();
	p.kind = SPINDLE_KIND_ONCE;
	p.trigger[0] = to_set(0, 0, constant(77));
	add(0, p);
	dirty[0] = 4;
	CHECK(spindle_tb_run(&tb));
	CHECK_EQ(tb.guard[0], 77);
	CHECK_EQ(tb.word[SPINDLE_TB_GUARD], 1);
	CHECK_EQ(member[0].lacks[0], 5);
	CHECK_EQ(spindle_tb_push(&tb, 0, 3, 0, write, SPINDLE_PUSH_MAX), 3);
	CHECK_EQ(write[0].local, 2 * WORDS * 8);
	CHECK_EQ(((const u64 *)write[1].data)[0], 77);
}

/* Predicates arm and disarm each other, and themselves. One that is not there is left alone. */
static void test_arm(void)
{
	struct spindle_predicate ping = all_reach(0), pong = all_reach(0), self = all_reach(0);
	struct spindle_tb_pred *one, *two, *three;

	open_world();
	ping.triggers = 3;
	ping.trigger[1] = (struct spindle_trigger){ .what = SPINDLE_DO_DISARM, .id = 0 };
	ping.trigger[2] = (struct spindle_trigger){ .what = SPINDLE_DO_ARM, .id = 1 };
	pong.flags = SPINDLE_PREDICATE_DISARMED;
	pong.triggers = 3;
	pong.trigger[1] = (struct spindle_trigger){ .what = SPINDLE_DO_DISARM, .id = 1 };
	pong.trigger[2] = (struct spindle_trigger){ .what = SPINDLE_DO_ARM, .id = 9 };
	self.kind = SPINDLE_KIND_ONCE;
	self.triggers = 2;
	self.trigger[1] = (struct spindle_trigger){ .what = SPINDLE_DO_ARM, .id = 2 };
	one = add(0, ping);
	two = add(1, pong);
	three = add(2, self);
	/* The second one is looked at in the same pass, because it comes later. */
	CHECK(spindle_tb_run(&tb));
	CHECK(one->signals == 1 && two->signals == 1 && three->signals == 1);
	CHECK(!one->armed && !two->armed && three->armed);
	put(0, 1, 0, 1);
	CHECK(spindle_tb_run(&tb));
	CHECK(one->signals == 1 && two->signals == 1 && three->signals == 2);
}

/* A predicate that is armed again has no look before it. */
static void test_arm_transition(void)
{
	struct spindle_predicate p = all_reach(0), again = all_reach(0);
	struct spindle_tb_pred *pred;

	open_world();
	p.kind = SPINDLE_KIND_TRANSITION;
	pred = add(0, p);
	pass();
	put(0, 1, 0, 1);
	pass();
	CHECK_EQ(pred->signals, 1);
	again.kind = SPINDLE_KIND_ONCE;
	again.trigger[0] = (struct spindle_trigger){ .what = SPINDLE_DO_ARM, .id = 0 };
	add(1, again);
	pass();
	pass();
	CHECK_EQ(pred->signals, 2);
}

static void test_remove(void)
{
	struct spindle_tb_pred *pred[4];
	u32 i;

	open_world();
	for (i = 0; i < 4; i++)
		pred[i] = add(i, all_reach(0));
	drop(1);
	drop(3);
	pass();
	CHECK(pred[0]->signals == 1 && pred[2]->signals == 1);
	drop(0);
	pred[3] = add(3, all_reach(0));
	put(0, 1, 0, 1);
	pass();
	CHECK(pred[2]->signals == 2 && pred[3]->signals == 1);
	drop(2);
	drop(3);
	CHECK(!tb.preds);
}

/* ---- torn cells, guards, views ----------------------------------------------- */

static void test_torn(void)
{
	struct spindle_tb_pred *pred;
	u32 r;

	open_world();
	for (r = 0; r < MEMBERS; r++)
		put(r, 1, 0, 5);
	pass();
	pred = add(0, all_reach(6));
	pass();
	/* The next value of one row is on its way, and then it is here. */
	for (r = 1; r < MEMBERS; r++)
		put(r, 1, 0, 6);
	cell_of(0, 1)[0] = 6;
	tell(0);
	pass();
	CHECK_EQ(pred->signals, 0);
	seal(cell_of(0, 1));
	tell(0);
	pass();
	CHECK_EQ(pred->signals, 1);
	/* A torn value takes nothing back. */
	cell_of(0, 1)[0] = 0;
	tell(0);
	put(1, 1, 0, 7);
	pass();
	CHECK_EQ(pred->signals, 2);
}

/* ---- values that belong together --------------------------------------------- */

static bool writing;

/*
 * The owner of row 0, between two loads of the engine. In cell 1, words 0 and 5 are equal. Cell 2
 * is sealed with a number before the guard is.
 */
static void write_step(void)
{
	static const struct { u32 cell, at; } order[] = {
		{ 1, 0 }, { 1, 5 }, { 1, WORDS }, { 2, 3 }, { 2, WORDS }, { 0, 1 }, { 0, WORDS },
	};
	static u64 value, at;
	u64 *cell;

	if (!writing || rng_chance(&rng, 60))
		return;
	value += !at;
	cell = cell_of(0, order[at].cell);
	if (order[at].at == WORDS)
		seal(cell);
	else
		cell[order[at].at] = value;
	at = (at + 1) % ARRAY_SIZE(order);
}

/* An engine that read fields or cells one by one would see what never was. */
static void test_together(void)
{
	struct spindle_predicate p = all_reach(0);
	struct spindle_number one = {
		.fold = SPINDLE_FOLD_MIN, .rows = SPINDLE_ROWS_NODES, .nodes = 1, .node = { 10 },
	};
	struct spindle_tb_pred *unequal, *early;
	u64 different = 0, last = 0;
	u32 i;

	open_world();
	p.term[0] = (struct spindle_term){ .compare = SPINDLE_CMP_NE, .left = one, .right = one };
	p.term[0].left.field = (struct spindle_field){ .cell = 1, .offset = 40, .width = 8 };
	p.term[0].right.field = (struct spindle_field){ .cell = 1, .offset = 0, .width = 8 };
	unequal = add(0, p);
	p.term[0].compare = SPINDLE_CMP_LT;
	p.term[0].left.field = (struct spindle_field){ .cell = 2, .offset = 24, .width = 8 };
	p.term[0].right.field = (struct spindle_field){ .cell = 0, .offset = 8, .width = 8 };
	early = add(1, p);
	writing = true;
	for (i = 0; i < 20000; i++) {
		spindle_tb_preds_stale(&tb, 1);
		spindle_tb_preds_look(&tb);
		different += early->number[0]->value[0] != last;
		last = early->number[0]->value[0];
	}
	writing = false;
	CHECK(different > 100);
	CHECK(!unequal->signals && !early->signals);
}

/* Triggers see what others have set, while the process writes another cell of the row. */
static void test_set_torn(void)
{
	struct spindle_predicate p = all_reach(0);
	u64 *cell = cell_of(ME, 1);

	open_world();
	p.kind = SPINDLE_KIND_ONCE;
	p.term[0].left = number(SPINDLE_FOLD_OWN, 2, 0);
	p.term[0].least = 0;
	p.triggers = 2;
	p.trigger[0] = to_set(1, 2, number(SPINDLE_FOLD_OWN, 1, 2));
	p.trigger[0].value.add = 5;
	p.trigger[1] = to_set(1, 3, number(SPINDLE_FOLD_OWN, 1, 2));
	add(0, p);
	cell_of(ME, 2)[0] = 1;
	CHECK(spindle_tb_run(&tb));
	CHECK(cell[2] == 5 && cell[3] == 5);
}

/* Where completions vouch, the guard counts when the completion is here. Other cells count now. */
static void test_vouch(void)
{
	struct spindle_predicate p = all_reach(6);
	struct spindle_tb_pred *first, *other;
	u32 r;

	open_world();
	for (r = 0; r < MEMBERS; r++)
		member[r].vouch = r == ME ? NULL : &vouch[r];
	p.term[0].left.field.cell = 0;
	p.term[0].left.rows = SPINDLE_ROWS_OTHERS;
	first = add(0, p);
	p = all_reach(6);
	p.term[0].left.rows = SPINDLE_ROWS_OTHERS;
	other = add(1, p);
	for (r = 0; r < MEMBERS; r++) {
		put(r, 0, 0, 6);
		put(r, 1, 0, 6);
	}
	spindle_tb_preds_stale(&tb, U64_MAX);
	pass();
	CHECK(!first->signals && other->signals == 2);
	for (r = 0; r < MEMBERS; r++)
		vouch[r] = 2;
	pass();
	CHECK(first->signals && first->held);
}

/* Rows move with their members; a row that has just come counts as it is, and a list as before. */
static void test_follow(void)
{
	static const u32 from[] = { 4, SPINDLE_NO_RANK, 2, 0 };
	struct spindle_tb old;
	struct spindle_predicate p = all_reach(6);
	struct spindle_tb_pred *all, *listed;
	u32 r;

	open_world();
	p.term[0].left.rows = SPINDLE_ROWS_NODES;
	p.term[0].left.nodes = 2;
	p.term[0].left.node[0] = 13;
	p.term[0].left.node[1] = 99;
	all = add(0, all_reach(6));
	listed = add(1, p);
	for (r = 0; r < MEMBERS; r++)
		put(r, 1, 0, r);
	pass();
	CHECK(!all->signals && !listed->signals);
	CHECK_EQ(all->term[0].left.rows, 0x1f);
	CHECK_EQ(listed->term[0].left.rows, 8);

	/* All but the last row are torn now, so that values of the former view count. */
	for (r = 0; r < 3; r++)
		cell_of(r, 1)[0] = 99;
	memset(row[1], 0, sizeof(row[1]));
	old = tb;
	make_tb(4, 2);
	spindle_tb_preds_follow(&tb, &old, from);
	CHECK(!old.preds && tb.preds == all && all->link == &tb.preds);
	CHECK_EQ(all->term[0].left.rows, 0xf);
	CHECK_EQ(listed->term[0].left.rows, 8);
	spindle_tb_preds_look(&tb);
	CHECK_EQ(all->term[0].left.value[0], 4);
	CHECK_EQ(all->term[0].left.value[1], 0);
	CHECK_EQ(all->term[0].left.value[2], 2);
	CHECK_EQ(all->term[0].left.value[3], 3);
	CHECK(!all->signals && !listed->signals);
	put(3, 1, 0, 6);
	pass();
	CHECK(!all->signals && listed->signals == 1);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "wrong predicates are refused, with the place", test_bad_predicates },
		{ "fields outside the values of cells are refused", test_bad_fields },
		{ "random predicates hold when a second evaluation says so", test_numbers },
		{ "recurrent, once, transition", test_kinds },
		{ "a look needs a change", test_idle },
		{ "a pass looks at some of very many predicates", test_budget },
		{ "a trigger sets a field, and the next one sees it", test_set },
		{ "a narrow field leaves its neighbours alone", test_set_width },
		{ "a guard that a trigger sets comes before dirty bits", test_set_guard },
		{ "predicates arm and disarm others and themselves", test_arm },
		{ "a transition that is armed again fires again", test_arm_transition },
		{ "predicates are removed in any order", test_remove },
		{ "a torn cell counts with the value before", test_torn },
		{ "a look takes values that belong together", test_together },
		{ "a trigger sees what was set, though another cell is torn", test_set_torn },
		{ "a guard counts when its completion is here", test_vouch },
		{ "values and lists of rows move with the members", test_follow },
	};

	rng = rng_seed();
	world_look = write_step;
	return tap_run(cases, ARRAY_SIZE(cases));
}
