// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predicates of tables. See tables.h.
 */
#include <stdio.h>
#include <stdlib.h>

#include "clock.h"
#include "core/table/predicate.h"
#include "tables.h"

#define INTERVAL 64	/* looks of an interval; two seals of a block take turns */
#define MIN_ROUNDS 16

#define LEN(a) (sizeof(a) / sizeof((a)[0]))

struct host {
	struct spindle_tb tb;
	struct spindle_tb_member member[SPINDLE_MAX_MEMBERS];
	struct spindle_tb_preds set;
	u64 *guard[3];
	u64 dirty[SPINDLE_TB_WORDS];
	/* Rows of all members, as this one has them: a cell, and a block behind it. */
	u8 *row[SPINDLE_MAX_MEMBERS];
	struct spindle_block other[SPINDLE_MAX_MEMBERS];
};

/* ---- hosts ---------------------------------------------------------------- */

static void open_member(struct host *h, u32 r, u32 cell)
{
	struct spindle_tb_member *m = &h->member[r];

	h->row[r] = bench_pages(cell + sizeof(struct spindle_block));
	m->node = r + 1;
	m->remote_block = cell;
	if (r == h->tb.me)
		return;
	m->cells = h->row[r];
	m->block = (void *)(h->row[r] + cell);
}

static struct host *open_host(u32 members, u32 me, u32 cell)
{
	struct host *h = bench_pages(sizeof(*h));
	u32 i;

	for (i = 0; i < 3; i++)
		h->guard[i] = bench_pages(cell);
	h->tb = (struct spindle_tb){
		.members = members, .me = me, .cells = 1, .cell = cell, .member = h->member,
		.dirty = h->dirty, .guard = h->guard[0], .next = h->guard[1],
		.copy = h->guard[2],
	};
	for (i = 0; i < members; i++)
		open_member(h, i, cell);
	h->tb.row = h->row[me];
	return h;
}

static void close_host(struct host *h)
{
	u32 i;

	for (i = 0; i < h->tb.members; i++)
		free(h->row[i]);
	for (i = 0; i < 3; i++)
		free(h->guard[i]);
	for (i = 0; i < SPINDLE_MAX_PREDICATES; i++)
		free(h->set.pred[i]);
	free(h);
}

/* The last field of the cell. */
static struct spindle_field last_field(const struct spindle_tb *tb)
{
	return (struct spindle_field){
		.offset = tb->cell - sizeof(struct spindle_cell_seal) - 8, .width = 8,
	};
}

static void add(struct host *h, struct spindle_predicate p)
{
	struct spindle_tb_pred *pred = calloc(1, spindle_tb_pred_bytes(&p));

	if (!pred || spindle_tb_pred_check(&p, 1, h->tb.cell, true)) {
		fprintf(stderr, "core-bench: a predicate is wrong\n");
		exit(1);
	}
	spindle_tb_pred_init(pred, &p);
	spindle_tb_pred_add(&h->tb, &h->set, 0, pred);
}

/* All rows in @rows are at least at @right. */
static struct spindle_term when_rows(const struct spindle_tb *tb, u32 rows,
				     struct spindle_number right)
{
	return (struct spindle_term){
		.compare = SPINDLE_CMP_GE, .least = SPINDLE_ALL_ROWS, .right = right,
		.left = {
			.fold = SPINDLE_FOLD_EACH, .rows = rows, .field = last_field(tb),
		},
	};
}

/* ---- looks ---------------------------------------------------------------- */

static void add_true(struct host *h)
{
	struct spindle_predicate p = {
		.id = SPINDLE_ANY_ID, .kind = SPINDLE_KIND_RECURRENT, .terms = 1, .triggers = 1,
		.trigger[0].what = SPINDLE_DO_SIGNAL,
	};

	p.term[0] = when_rows(&h->tb, SPINDLE_ROWS_OTHERS, (struct spindle_number){ 0 });
	add(h, p);
}

/* Each row has two blocks, which take turns so that a pass finds a new one. */
static void make_blocks(struct host *h)
{
	u64 word[SPINDLE_BLOCK_WORDS] = { 1 };
	u32 r;

	for (r = 0; r < h->tb.members; r++) {
		word[SPINDLE_TB_PUSHES] = 1;
		spindle_block_write((void *)(h->row[r] + h->tb.cell), word);
		word[SPINDLE_TB_PUSHES] = 2;
		spindle_block_write(&h->other[r], word);
	}
}

static void turn_blocks(struct host *h, u32 changed, bool other)
{
	u32 r;

	for (r = 1; r <= changed; r++)
		h->member[r].block = other ? &h->other[r] : (void *)(h->row[r] + h->tb.cell);
}

/* An interval of looks or of passes. Returns its ticks. */
static int64_t look_interval(struct host *h, const struct tables_look *conf)
{
	u64 changed = (U64_MAX >> (64 - conf->changed)) << 1, last = clock_ticks();
	u32 i;

	for (i = 0; i < INTERVAL; i++) {
		if (conf->pass) {
			turn_blocks(h, conf->changed, i & 1);
			spindle_tb_run(&h->tb);
		} else {
			h->tb.changed = changed;
			spindle_tb_preds_look(&h->tb);
		}
	}
	return clock_lap(&last);
}

/* The looks of a host. */
struct looker {
	struct host *h;
	const struct tables_look *conf;
};

/* Nanoseconds of a look, in one repetition. The predicate has to fire at each look. */
static double repeat_look(void *ctx, const struct effort *effort)
{
	const struct looker *l = ctx;
	const struct spindle_tb *tb = &l->h->tb;
	u64 begin = clock_wall(), n = 0, fired = tb->stats.fired, looks = tb->stats.looks;
	int64_t ticks = 0;

	do {
		ticks += look_interval(l->h, l->conf);
		n += INTERVAL;
	} while (clock_wall() - begin < effort->rep_ns);
	if (tb->stats.fired - fired != tb->stats.looks - looks) {
		fprintf(stderr, "core-bench: a predicate did not fire\n");
		exit(1);
	}
	return ticks * bench_clock.ns / n;
}

/**
 * measure_look() - measure a look at a predicate that holds
 * @conf: what look
 * @effort: how much of a measurement
 *
 * Return: nanoseconds of a look, or of a pass
 */
struct spread measure_look(const struct tables_look *conf, const struct effort *effort)
{
	struct looker l = { open_host(conf->rows + 1, 0, conf->cell), conf };
	struct spread s;

	add_true(l.h);
	make_blocks(l.h);
	repeat_look(&l, effort);
	s = measure_repeat(repeat_look, &l, effort);
	close_host(l.h);
	return s;
}

/* ---- counting ------------------------------------------------------------- */

/* Documentation/examples/counting.c, without an end. */
static void add_step(struct host *h)
{
	struct spindle_number own = { .fold = SPINDLE_FOLD_OWN, .field = last_field(&h->tb) };
	struct spindle_predicate p = {
		.id = SPINDLE_ANY_ID, .kind = SPINDLE_KIND_RECURRENT, .terms = 2, .triggers = 1,
		.trigger[0] = {
			.what = SPINDLE_DO_SET, .field = own.field, .value = own,
		},
	};

	p.term[0] = when_rows(&h->tb, SPINDLE_ROWS_ALL, own);
	p.term[1] = (struct spindle_term){
		.compare = SPINDLE_CMP_LT, .left = own, .right.add = U64_MAX,
	};
	p.trigger[0].value.add = 1;
	add(h, p);
}

static void carry(struct host *to, u32 from, const struct spindle_write *write, u32 n,
		  const struct host *sender)
{
	const u8 *source;
	u32 i;

	for (i = 0; i < n; i++) {
		source = write[i].data ? write[i].data : sender->tb.row + write[i].local;
		memcpy(to->row[from] + write[i].remote, source, write[i].len);
	}
}

/* A pass and its pushes. Returns its ticks, without the copies. */
static int64_t step(struct host **host, u32 me)
{
	struct spindle_write write[SPINDLE_PUSH_MAX];
	struct spindle_tb *tb = &host[me]->tb;
	u64 last = clock_ticks();
	int64_t ticks;
	u32 r, n;

	spindle_tb_run(tb);
	ticks = clock_lap(&last);
	for (r = 0; r < tb->members; r++) {
		if (r == me || !spindle_tb_wanted(tb, r))
			continue;
		last = clock_ticks();
		n = spindle_tb_push(tb, r, 0, SPINDLE_PUSH_SPLIT, write, SPINDLE_PUSH_MAX);
		ticks += clock_lap(&last);
		carry(host[r], me, write, n, host[me]);
	}
	return ticks;
}

static u64 count_of(const struct host *h)
{
	return *(u64 *)(h->tb.row + last_field(&h->tb).offset);
}

static double repeat_count(void *ctx, const struct effort *effort)
{
	struct host **host = ctx;
	u32 members = host[0]->tb.members;
	u64 begin = clock_wall(), from = count_of(host[0]), rounds = 0;
	int64_t ticks = 0;
	u32 i;

	do {
		for (i = 0; i < members; i++)
			ticks += step(host, i);
	} while (clock_wall() - begin < effort->rep_ns || ++rounds < MIN_ROUNDS);
	return ticks * bench_clock.ns / members / (count_of(host[0]) - from);
}

/**
 * measure_count() - measure what an engine does for an increment of all
 * @members: how many count in step
 * @effort: how much of a measurement
 *
 * Return: nanoseconds of an increment at a member: passes and pushes, without any device
 */
struct spread measure_count(u32 members, const struct effort *effort)
{
	struct host *host[SPINDLE_MAX_MEMBERS];
	struct spread s;
	u32 i;

	for (i = 0; i < members; i++) {
		host[i] = open_host(members, i, SPINDLE_MIN_CELL);
		add_step(host[i]);
	}
	repeat_count(host, effort);
	s = measure_repeat(repeat_count, host, effort);
	for (i = 0; i < members; i++)
		close_host(host[i]);
	return s;
}

/* ---- CSV ------------------------------------------------------------------ */

static void put_row(FILE *out, const char *series, u32 x, struct spread s)
{
	fprintf(out, "%s,%u,%.2f,%.2f,%.2f,%.0f\n", series, x, s.median, s.min, s.max,
		1e9 / s.median);
	fflush(out);
}

static void put_look(FILE *out, const char *series, u32 x, struct tables_look conf,
		     const struct effort *effort)
{
	put_row(out, series, x, measure_look(&conf, effort));
}

/**
 * tables_csv() - measure looks at predicates, and counting
 * @out: gets the CSV
 * @effort: how much of a measurement
 *
 * Prints a heading, and rows of series, x, nanoseconds and how many in a second.
 */
void tables_csv(FILE *out, const struct effort *effort)
{
	static const u32 rows[] = { 1, 2, 4, 8, 16, 24, 29, 32, 48, 63 };
	static const u32 members[] = { 2, 3, 4, 8, 16, 28 };
	u32 i, cell;

	fprintf(out, "series,x,time_ns,time_ns_min,time_ns_max,rate\n");
	for (i = 0; i < LEN(rows); i++) {
		struct tables_look look = { rows[i], SPINDLE_MIN_CELL, 1, false };

		put_look(out, "one row has changed", rows[i], look, effort);
		look.pass = true;
		put_look(out, "a pass", rows[i], look, effort);
		look = (struct tables_look){ rows[i], SPINDLE_MIN_CELL, rows[i], false };
		put_look(out, "all rows have changed", rows[i], look, effort);
	}
	for (cell = SPINDLE_MIN_CELL; cell <= SPINDLE_MAX_CELL; cell *= 2) {
		struct tables_look look = { 1, cell, 1, false };

		put_look(out, "by bytes of the cell", cell, look, effort);
	}
	for (i = 0; i < LEN(members); i++)
		put_row(out, "counting", members[i], measure_count(members[i], effort));
}
