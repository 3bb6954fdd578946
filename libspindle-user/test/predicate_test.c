// SPDX-License-Identifier: GPL-2.0-only
/*
 * Self-test of the library's predicates without a kernel, on top of fake_table.c, which evaluates
 * predicates, too. TAP on stdout.
 */
#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>

#include <spindle/predicate.h>

#include "fake_table.h"
#include "sys.h"
#include "tap.h"

#define N	FAKE_NODES

static const struct fake_table_opts plain;
static uint32_t seed = 1;
static unsigned int rounds = 1000;

/* Attach, or bail out, because the rest of a test needs the attachment. */
static void start(struct spindle_table *t, uint32_t node, uint32_t flags)
{
	struct spindle_table_attr o = { .node = node, .table = 2, .flags = flags };

	/* SIGALRM ends a test that hangs. */
	alarm(300);
	if (spindle_table_attach(t, &o))
		bail_out("cannot attach");
}

static void start_all(struct spindle_table *t, uint32_t flags)
{
	uint32_t i;

	for (i = 0; i < N; i++)
		start(&t[i], i + 1, SPINDLE_TABLE_WRITE | flags);
}

static void stop(struct spindle_table *t, unsigned int n)
{
	while (n--)
		spindle_table_detach(&t[n]);
	CHECK_EQ(fake_table_look().open_files, 0);
	CHECK_EQ(fake_table_look().mappings, 0);
	CHECK_EQ(fake_table_look().predicates, 0);
	CHECK_EQ(fake_table_look().lost, 0);
}

/* The fake runs until nothing is left to do, when the library waits. */
static void settle_at_poll(enum fake_call call)
{
	if (call == FAKE_POLL)
		fake_table_settle(&seed);
}

static uint64_t get(const struct spindle_table *t, uint32_t node, uint32_t cell)
{
	uint64_t v = 0;
	uint32_t i;

	CHECK(!spindle_table_instance(t, node, &i));
	CHECK(!spindle_cell_get(t, i, cell, &v, sizeof(v), NULL));
	return v;
}

/* The same while others write: 0 if the cell is just being written. */
static uint64_t peek(const struct spindle_table *t, uint32_t node)
{
	uint64_t v = 0;
	uint32_t i;

	if (spindle_table_instance(t, node, &i) ||
	    spindle_cell_get(t, i, 1, &v, sizeof(v), NULL))
		return 0;
	return v;
}

static void put(struct spindle_table *t, uint32_t cell, uint64_t v)
{
	CHECK(!spindle_cell_put(t, cell, &v, sizeof(v)));
	fake_table_settle(&seed);
}

/* ---- builders --------------------------------------------------------- */

struct mix {
	uint64_t u64;
	int32_t i32;
	uint8_t u8[4];
	bool flag;
	int16_t i16;
	double real;
};

static bool field_is(struct spindle_field f, uint32_t cell, uint32_t offset, uint32_t width,
		     uint32_t flags)
{
	return f.cell == cell && f.offset == offset && f.width == width && f.flags == flags &&
	       !f.resv;
}

static void test_fields(void)
{
	CHECK(field_is(SPINDLE_FIELD(struct mix, u64, 3), 3, 0, 8, 0));
	CHECK(field_is(SPINDLE_FIELD(struct mix, i32, 1), 1, 8, 4, SPINDLE_FIELD_SIGNED));
	CHECK(field_is(SPINDLE_FIELD(struct mix, u8[2], 1), 1, 14, 1, 0));
	CHECK(field_is(SPINDLE_FIELD(struct mix, flag, 1), 1, 16, 1, 0));
	CHECK(field_is(SPINDLE_FIELD(struct mix, i16, 1), 1, 18, 2, SPINDLE_FIELD_SIGNED));
	CHECK(!SPINDLE_FIELD(struct mix, real, 1).width);
	CHECK(!SPINDLE_FIELD(struct mix, u64, 65536).width);
	CHECK(!spindle_field_u64(1, 65536).width && !spindle_field_make(1, 0, 256, 0).width);
	CHECK(!spindle_field_make(1, 0, 8, 256).width);
}

static void test_numbers(void)
{
	struct spindle_field f = spindle_field_u64(1, 0);
	struct spindle_number n = spindle_number_min(f);
	uint32_t node[9] = { 7, 8 };

	CHECK(n.fold == SPINDLE_FOLD_MIN && n.rows == SPINDLE_ROWS_ALL && !n.resv);
	CHECK(spindle_number_others(n).rows == SPINDLE_ROWS_OTHERS);
	CHECK(spindle_number_others(spindle_number_others(n)).resv);
	CHECK(spindle_number_others(spindle_number_own(f)).resv);
	CHECK(spindle_number_nodes(spindle_number_constant(1), node, 1).resv);
	n = spindle_number_nodes(n, node, 2);
	CHECK(n.rows == SPINDLE_ROWS_NODES && n.nodes == 2 && n.node[1] == 8 && !n.resv);
	CHECK(spindle_number_nodes(spindle_number_max(f), node, 9).resv);
	CHECK(spindle_number_nodes(spindle_number_max(f), node, 0).resv);
	n = spindle_number_plus(spindle_number_plus(spindle_number_sum(f), 5), -7);
	CHECK(n.fold == SPINDLE_FOLD_SUM && n.add == (uint64_t)-2);
	CHECK(spindle_term_all(f, SPINDLE_CMP_EQ, n).least == SPINDLE_ALL_ROWS);
	CHECK(spindle_term_any(f, SPINDLE_CMP_EQ, n).least == 1);
}

/* ---- refusals --------------------------------------------------------- */

/* A part of a predicate that is wrong, where, and what the text says. */
struct refusal {
	struct spindle_term term;
	struct spindle_trigger then;
	uint32_t bad;
	const char *text;
};

static struct spindle_predicate good_predicate(void)
{
	struct spindle_field f = spindle_field_u64(1, 8);
	struct spindle_predicate p;

	spindle_predicate_init(&p, SPINDLE_KIND_ONCE);
	spindle_predicate_when(&p, spindle_term_all(f, SPINDLE_CMP_GE, spindle_number_own(f)));
	spindle_predicate_then(&p, spindle_do_signal());
	return p;
}

static void expect(struct spindle_table *t, struct spindle_predicate *p, int want, uint32_t bad,
		   const char *text)
{
	char buf[200];
	int err = spindle_predicate_add(t, p);

	CHECK_EQ(err, want);
	CHECK_EQ(p->bad, bad);
	spindle_predicate_strerror(t, p, err, buf, sizeof(buf));
	if (!strstr(buf, text))
		tap_fail("want \"%s\" in \"%s\"", text, buf);
	CHECK(strlen(buf) < 160);
}

static struct spindle_term compare_field(struct spindle_field f)
{
	return spindle_term_compare(spindle_number_own(f), SPINDLE_CMP_GE,
				    spindle_number_constant(1));
}

static void test_bad_terms(void)
{
	struct spindle_field f = spindle_field_u64(1, 0), s = spindle_field_make(1, 0, 8, 1);
	struct spindle_number one = spindle_number_constant(1), own = spindle_number_own(f);
	const uint32_t zero = 0;
	struct { struct spindle_term term; const char *text; } list[] = {
		{ compare_field(SPINDLE_FIELD(struct mix, real, 1)), "no integer" },
		{ compare_field(spindle_field_make(1, 0, 3, 0)), "3 bytes; 1, 2, 4 or 8" },
		{ compare_field(spindle_field_make(1, 0, 16, 0)), "16 bytes; 1, 2, 4 or 8" },
		{ compare_field(spindle_field_u64(4, 0)), "cell 4; the table has cells 0 to 3" },
		{ compare_field(spindle_field_u64(1, 4)), "offset 4, which is no multiple" },
		{ compare_field(spindle_field_u64(1, 48)), "offset 48; the value of a cell" },
		{ compare_field(spindle_field_make(1, 0, 8, 2)), "unknown flags 0x2" },
		{ spindle_term_compare(one, SPINDLE_CMP_EQ, own), "left number has no field" },
		{ spindle_term_compare(own, SPINDLE_CMP_EQ, spindle_number_each(f)), "only the" },
		{ spindle_term_compare(own, (enum spindle_compare)6, one), "comparison 6" },
		{ spindle_term_compare(own, SPINDLE_CMP_EQ, spindle_number_own(s)), "has a sign" },
		{ spindle_term_rows(0, spindle_number_each(f), SPINDLE_CMP_EQ, one), "1 row" },
		{ spindle_term_rows(2, own, SPINDLE_CMP_EQ, one), "not of each row" },
		{ spindle_term_compare(spindle_number_others(own), SPINDLE_CMP_EQ, one), "none" },
		{ spindle_term_compare(spindle_number_nodes(spindle_number_sum(f), NULL, 0),
				       SPINDLE_CMP_EQ, one), "no nodes, or more than 8" },
		{ spindle_term_compare(spindle_number_nodes(spindle_number_sum(f), &zero, 1),
				       SPINDLE_CMP_EQ, one), "node 0; ids are above 0" },
		{ spindle_term_rows(1, spindle_number_plus(spindle_number_each(f), 1),
				    SPINDLE_CMP_EQ, one), "subtract from the right number" },
		{ spindle_term_compare(spindle_number_make((enum spindle_fold)9, f),
				       SPINDLE_CMP_EQ, one), "unknown kind 9" },
		{ spindle_term_compare(spindle_number_over(spindle_number_sum(f),
							   (enum spindle_row_set)7),
				       SPINDLE_CMP_EQ, one), "unknown set of rows 7" },
		{ spindle_term_compare(spindle_number_over(spindle_number_sum(f),
							   SPINDLE_ROWS_NODES),
				       SPINDLE_CMP_EQ, one), "names 0 nodes; 1 to 8" },
	};
	struct spindle_predicate p;
	struct spindle_table t;
	char text[100];
	uint32_t i;

	fake_table_setup(&plain);
	start(&t, 1, 0);
	for (i = 0; i < ARRAY_SIZE(list); i++) {
		p = good_predicate();
		p.term[0] = list[i].term;
		expect(&t, &p, -EINVAL, 1, list[i].text);
		p = good_predicate();
		spindle_predicate_when(&p, list[i].term);
		snprintf(text, sizeof(text), "term 2: ");
		expect(&t, &p, -EINVAL, 2, text);
	}
	stop(&t, 1);
}

static void test_bad_triggers(void)
{
	struct spindle_field f = spindle_field_u64(1, 0);
	struct spindle_number one = spindle_number_constant(1);
	struct { struct spindle_trigger d; const char *text; } list[] = {
		{ spindle_do_set(spindle_field_u64(9, 0), one), "trigger 2: a field is in cell 9" },
		{ spindle_do_set(f, spindle_number_each(f)), "trigger 2: it sets a number" },
		{ spindle_do_set(f, spindle_number_max(spindle_field_u64(1, 2))), "offset 2" },
		{ spindle_do_arm(32), "predicate 32; ids are below 32" },
		{ spindle_do_disarm(99), "predicate 99; ids are below 32" },
		{ spindle_do_make((enum spindle_do)5, 0), "something unknown (5)" },
		{ spindle_do_make(SPINDLE_DO_SIGNAL, 5), "a signal has no id" },
	};
	struct spindle_predicate p;
	struct spindle_table t;
	uint32_t i;

	fake_table_setup(&plain);
	start(&t, 1, SPINDLE_TABLE_WRITE);
	for (i = 0; i < ARRAY_SIZE(list); i++) {
		p = good_predicate();
		spindle_predicate_then(&p, list[i].d);
		expect(&t, &p, -EINVAL, SPINDLE_BAD_TRIGGER + 1, list[i].text);
	}
	stop(&t, 1);
}

static void test_bad_heads(void)
{
	struct spindle_predicate p = good_predicate();
	struct spindle_table t;
	uint32_t i;

	fake_table_setup(&plain);
	start(&t, 1, 0);
	for (i = 0; i < 4; i++)
		spindle_predicate_when(&p, p.term[0]);
	expect(&t, &p, -EINVAL, 0, "5 terms; 1 to 4");
	p = good_predicate();
	for (i = 0; i < 4; i++)
		spindle_predicate_then(&p, p.trigger[0]);
	expect(&t, &p, -EINVAL, 0, "5 triggers; 1 to 4");
	spindle_predicate_init(&p, SPINDLE_KIND_ONCE);
	expect(&t, &p, -EINVAL, 0, "0 terms");
	spindle_predicate_when(&p, compare_field(spindle_field_u64(1, 0)));
	expect(&t, &p, -EINVAL, 0, "0 triggers");
	p = good_predicate();
	p.kind = 3;
	expect(&t, &p, -EINVAL, 0, "kind 3");
	p = good_predicate();
	p.id = 32;
	expect(&t, &p, -EINVAL, 0, "id 32; ids are below 32");
	p = good_predicate();
	p.flags = 4;
	expect(&t, &p, -EINVAL, 0, "flags 0x4");
	p = good_predicate();
	p.resv = 1;
	expect(&t, &p, -EINVAL, 0, "finds no fault");
	p = good_predicate();
	spindle_predicate_then(&p, spindle_do_add(spindle_field_u64(1, 0), 1));
	expect(&t, &p, -EBADF, SPINDLE_BAD_TRIGGER + 1, "needs an attachment with SPINDLE_TABLE_WRITE");
	stop(&t, 1);
	expect(&t, &p, -EBADF, 0, "SPINDLE_TABLE_WRITE");
	CHECK(spindle_predicate_remove(&t, 0) == -EBADF && !spindle_predicate_fired(&t, 0));
	CHECK(spindle_table_wait_signal(&t, 0) == -EBADF);
}

static void test_ids(void)
{
	struct spindle_predicate p = good_predicate();
	struct spindle_table t;
	int i;

	fake_table_setup(&plain);
	start(&t, 1, 0);
	p.id = 3;
	CHECK_EQ(spindle_predicate_add(&t, &p), 3);
	expect(&t, &p, -EBUSY, 0, "another predicate has the id 3");
	p.id = SPINDLE_ANY_ID;
	for (i = 0; i < SPINDLE_MAX_PREDICATES - 1; i++)
		CHECK_EQ(spindle_predicate_add(&t, &p), i + (i >= 3));
	expect(&t, &p, -ENOSPC, 0, "32 predicates are there");
	CHECK(!spindle_predicate_remove(&t, 7) && spindle_predicate_remove(&t, 7) == -ENOENT);
	CHECK(spindle_predicate_remove(&t, 32) == -ENOENT);
	CHECK_EQ(spindle_predicate_add(&t, &p), 7);
	CHECK(spindle_predicate_fired(&t, 32) == 0);
	stop(&t, 1);
}

static uint32_t mangled_id, mangled_bad;

static void mangle(struct spindle_predicate *p)
{
	p->id = mangled_id;
	p->bad = mangled_bad;
}

/* What the kernel says may be anything. */
static void test_replies(void)
{
	struct fake_table_opts o = { .mangle_add = mangle };
	struct spindle_predicate p = good_predicate();
	struct spindle_table t;
	char buf[200];
	uint32_t i;

	fake_table_setup(&o);
	start(&t, 1, 0);
	mangled_id = 32;
	expect(&t, &p, -EPROTO, 0, "does not fit");
	mangled_id = 31;
	p.id = 5;
	expect(&t, &p, -EPROTO, 0, "does not fit");
	spindle_table_detach(&t);
	for (i = 0; i < 40; i++) {
		o.add_err = EINVAL;
		mangled_bad = i < 36 ? i : ~0U - (i - 36);
		fake_table_setup(&o);
		start(&t, 1, 0);
		expect(&t, &p, -EINVAL, mangled_bad, "");
		spindle_table_detach(&t);
	}
	mangled_bad = 0;
	o.add_err = ENOTTY;
	fake_table_setup(&o);
	start(&t, 1, 0);
	expect(&t, &p, -ENOTTY, 0, "older");
	CHECK(strstr(spindle_predicate_strerror(&t, &p, -EPROTONOSUPPORT, buf, 200), "newer"));
	CHECK(strstr(spindle_predicate_strerror(&t, &p, -ENOTCONN, buf, 200), "has ended"));
	CHECK(!strcmp(spindle_predicate_strerror(&t, &p, 3, buf, 200), "success"));
	stop(&t, 1);
}

/* ---- what the engine does --------------------------------------------- */

#define COUNT	spindle_field_u64(1, 0)

/* Count, one after the other, to 20. No process runs. */
static void add_counting(struct spindle_table *t)
{
	struct spindle_predicate p;

	spindle_predicate_init(&p, SPINDLE_KIND_RECURRENT);
	spindle_predicate_when(&p, spindle_term_all(COUNT, SPINDLE_CMP_GE,
						    spindle_number_own(COUNT)));
	spindle_predicate_when(&p, spindle_term_compare(spindle_number_own(COUNT), SPINDLE_CMP_LT,
							spindle_number_constant(20)));
	spindle_predicate_then(&p, spindle_do_add(COUNT, 1));
	CHECK_EQ(spindle_predicate_add(t, &p), 0);
	spindle_predicate_init(&p, SPINDLE_KIND_ONCE);
	spindle_predicate_when(&p, spindle_term_all(COUNT, SPINDLE_CMP_EQ,
						    spindle_number_constant(20)));
	spindle_predicate_then(&p, spindle_do_signal());
	CHECK_EQ(spindle_predicate_add(t, &p), 1);
}

static void test_counting(void)
{
	struct spindle_table t[N];
	uint64_t low, high, v;
	uint32_t i;

	fake_table_setup(&plain);
	start_all(t, SPINDLE_TABLE_SIGNALS);
	for (i = 0; i < N; i++)
		add_counting(&t[i]);
	do {
		for (i = 0, low = ~0ULL, high = 0; i < N; i++) {
			v = get(&t[i], i + 1, 1);
			low = v < low ? v : low;
			high = v > high ? v : high;
		}
		CHECK(high - low <= 1);
	} while (fake_table_step(&seed));
	for (i = 0; i < N; i++) {
		CHECK_EQ(get(&t[0], i + 1, 1), 20);
		CHECK_EQ(spindle_table_wait_signal(&t[i], 0), 1);
		CHECK_EQ(spindle_table_wait_signal(&t[i], 0), 0);
		CHECK_EQ(spindle_predicate_fired(&t[i], 1), 1);
	}
	stop(t, N);
}

/* Does a term hold in the table of the first node? */
static bool holds(struct spindle_table *t, struct spindle_term term)
{
	struct spindle_predicate p;
	uint64_t fired;
	int id;

	spindle_predicate_init(&p, SPINDLE_KIND_RECURRENT);
	spindle_predicate_when(&p, term);
	spindle_predicate_then(&p, spindle_do_signal());
	id = spindle_predicate_add(t, &p);
	CHECK(id >= 0);
	fake_table_settle(&seed);
	fired = spindle_predicate_fired(t, (uint32_t)id);
	CHECK(fired <= 1 && !spindle_predicate_remove(t, (uint32_t)id));
	return fired;
}

static bool is_num(struct spindle_table *t, struct spindle_number n, int64_t want)
{
	return holds(t, spindle_term_compare(n, SPINDLE_CMP_EQ,
					     spindle_number_constant((uint64_t)want)));
}

static void test_evaluation(void)
{
	struct spindle_field s = spindle_field_make(1, 0, 4, SPINDLE_FIELD_SIGNED);
	struct spindle_field u = spindle_field_make(1, 0, 4, 0);
	struct spindle_number each = spindle_number_each(s);
	uint32_t nodes[2] = { 2, 77 };
	struct spindle_table t[N];
	uint32_t i;

	fake_table_setup(&plain);
	start_all(t, 0);
	for (i = 0; i < N; i++)
		put(&t[i], 1, (uint32_t)((int32_t)i * 5 - 5));	/* -5, 0, 5 */
	CHECK(is_num(t, spindle_number_own(s), -5) && is_num(t, spindle_number_own(u), 0xfffffffb));
	CHECK(is_num(t, spindle_number_min(s), -5) && is_num(t, spindle_number_max(s), 5));
	CHECK(is_num(t, spindle_number_max(u), 0xfffffffb) && is_num(t, spindle_number_min(u), 0));
	CHECK(is_num(t, spindle_number_sum(s), 0) && is_num(t, spindle_number_sum(u), 1LL << 32));
	CHECK(is_num(t, spindle_number_others(spindle_number_min(s)), 0));
	CHECK(is_num(t, spindle_number_nodes(spindle_number_max(s), nodes, 2), 0));
	CHECK(is_num(t, spindle_number_plus(spindle_number_max(s), -7), -2));
	CHECK(is_num(t, spindle_number_nodes(spindle_number_min(s), nodes + 1, 1), INT64_MAX));
	CHECK(holds(t, spindle_term_rows(2, each, SPINDLE_CMP_LE, spindle_number_constant(0))));
	CHECK(!holds(t, spindle_term_rows(3, each, SPINDLE_CMP_LE, spindle_number_constant(0))));
	CHECK(holds(t, spindle_term_all(s, SPINDLE_CMP_LE, spindle_number_max(s))));
	CHECK(!holds(t, spindle_term_all(s, SPINDLE_CMP_LT, spindle_number_max(s))));
	CHECK(holds(t, spindle_term_any(s, SPINDLE_CMP_GT, spindle_number_constant(4))));
	CHECK(!holds(t, spindle_term_any(s, SPINDLE_CMP_GT, spindle_number_constant(5))));
	CHECK(holds(t, spindle_term_all(u, SPINDLE_CMP_NE, spindle_number_constant(1))));
	stop(t, N);
}

/* One predicate of each kind watches the cell of another node. */
static void test_kinds(void)
{
	static const uint64_t fires[3][5] = {
		{ 0, 1, 2, 2, 3 }, { 0, 1, 1, 1, 1 }, { 0, 1, 1, 1, 2 },
	};
	static const uint64_t value[5] = { 0, 1, 2, 0, 3 };
	struct spindle_predicate p;
	struct spindle_table t[2];
	uint32_t kind, i;

	fake_table_setup(&plain);
	start(&t[0], 1, 0);
	start(&t[1], 2, SPINDLE_TABLE_WRITE);
	for (kind = 0; kind < 3; kind++) {
		spindle_predicate_init(&p, (enum spindle_kind)kind);
		spindle_predicate_when(&p, spindle_term_any(COUNT, SPINDLE_CMP_GT,
							    spindle_number_constant(0)));
		spindle_predicate_then(&p, spindle_do_signal());
		CHECK_EQ(spindle_predicate_add(&t[0], &p), kind);
	}
	for (i = 0; i < 5; i++) {
		put(&t[1], 1, value[i]);
		for (kind = 0; kind < 3; kind++)
			CHECK_EQ(spindle_predicate_fired(&t[0], kind), fires[kind][i]);
	}
	/* The first predicate arms the second one again. */
	CHECK(!spindle_predicate_remove(&t[0], 0));
	p.id = 0;
	p.kind = SPINDLE_KIND_ONCE;
	spindle_predicate_then(&p, spindle_do_arm(1));
	spindle_predicate_then(&p, spindle_do_disarm(2));
	CHECK_EQ(spindle_predicate_add(&t[0], &p), 0);
	CHECK_EQ(spindle_predicate_fired(&t[0], 0), 0);
	fake_table_settle(&seed);
	CHECK_EQ(spindle_predicate_fired(&t[0], 1), 2);
	put(&t[1], 1, 0);
	put(&t[1], 1, 9);
	CHECK_EQ(spindle_predicate_fired(&t[0], 2), 2);
	stop(t, 2);
}

/* ---- waiting ---------------------------------------------------------- */

static struct spindle_table *hooked;
static int hook_calls;

/* The signal comes between the compare of the library and poll() of the kernel. */
static void signal_at_poll(enum fake_call call)
{
	if (call != FAKE_POLL || hook_calls++)
		return;
	put(hooked, 1, 1);
}

static void test_wait_signal(void)
{
	struct spindle_predicate p;
	struct spindle_table t[2];

	hooked = &t[0];
	hook_calls = 0;
	fake_table_setup(&(struct fake_table_opts){ .hook = signal_at_poll });
	start(&t[0], 1, SPINDLE_TABLE_WRITE);
	start(&t[1], 2, SPINDLE_TABLE_SIGNALS);
	spindle_predicate_init(&p, SPINDLE_KIND_TRANSITION);
	spindle_predicate_when(&p, spindle_term_any(COUNT, SPINDLE_CMP_EQ,
						    spindle_number_constant(1)));
	spindle_predicate_then(&p, spindle_do_signal());
	CHECK_EQ(spindle_predicate_add(&t[1], &p), 0);
	fake_table_settle(&seed);
	CHECK_EQ(spindle_table_wait_signal(&t[1], 0), 0);
	CHECK_EQ(spindle_table_wait_signal(&t[1], -1), 1);
	CHECK(hook_calls == 1 && spindle_predicate_fired(&t[1], 0) == 1);
	CHECK_EQ(spindle_table_wait_signal(&t[1], -1), 0);
	/* A change without a signal wakes nobody. */
	put(&t[0], 1, 2);
	CHECK_EQ(spindle_table_wait_signal(&t[1], -1), 0);
	CHECK_EQ(spindle_table_wait(&t[1], 1), -EBADF);
	CHECK_EQ(spindle_table_wait(&t[1], 0), 1);
	/* Two signals are one return, and the last one comes before the end. */
	put(&t[0], 1, 1);
	put(&t[0], 1, 2);
	put(&t[0], 1, 1);
	CHECK_EQ(spindle_predicate_fired(&t[1], 0), 3);
	fake_table_final(SPINDLE_STATE_GONE, SPINDLE_ERR_VIEW_GONE);
	CHECK_EQ(spindle_table_wait_signal(&t[1], -1), 1);
	CHECK_EQ(spindle_table_wait_signal(&t[1], -1), -EPIPE);
	CHECK_EQ(spindle_predicate_add(&t[1], &p), -ENOTCONN);
	stop(t, 2);
}

/* poll() of a program sees the same. */
static void test_events(void)
{
	struct spindle_predicate p = good_predicate();
	struct spindle_table t[2];
	short got = 0;

	fake_table_setup(&plain);
	start(&t[0], 1, SPINDLE_TABLE_SIGNALS);
	start(&t[1], 1, 0);
	CHECK_EQ(spindle_predicate_add(&t[0], &p), 0);
	CHECK_EQ(spindle_predicate_add(&t[1], &p), 0);
	fake_table_view((struct spindle_seat[]){ { .node = 1, .sst = FAKE_INSTANCES - 1 } }, 1);
	fake_table_settle(&seed);
	CHECK(spindle_sys_poll(spindle_table_fd(&t[0]), POLLIN | POLLPRI, &got, NULL) == 1);
	CHECK_EQ(got, POLLPRI);
	CHECK(spindle_sys_poll(spindle_table_fd(&t[1]), POLLIN | POLLPRI, &got, NULL) == 1);
	CHECK_EQ(got, POLLIN | POLLPRI);
	CHECK(spindle_table_wait_signal(&t[1], 0) == 1);
	CHECK(spindle_sys_poll(spindle_table_fd(&t[1]), POLLIN | POLLPRI, &got, NULL) == 1);
	CHECK_EQ(got, POLLIN);
	stop(t, 2);
}

static struct spindle_table stress[N];

/* Writes numbers, and waits until the engine of the other node has echoed each. */
static void *stress_writer(void *arg)
{
	uint64_t i;

	(void)arg;
	for (i = 1; i <= rounds; i++) {
		if (spindle_cell_put(&stress[0], 1, &i, sizeof(i)))
			bail_out("cannot write");
		while (peek(&stress[0], 2) < i)
			sched_yield();
	}
	return NULL;
}

static void test_stress(void)
{
	uint32_t first = 1;
	struct spindle_predicate p;
	struct spindle_number theirs = spindle_number_nodes(spindle_number_max(COUNT), &first, 1);
	uint64_t fired = 0;
	pthread_t thread;

	fake_table_setup(&plain);
	start(&stress[0], 1, SPINDLE_TABLE_WRITE);
	start(&stress[1], 2, SPINDLE_TABLE_WRITE | SPINDLE_TABLE_SIGNALS);
	spindle_predicate_init(&p, SPINDLE_KIND_RECURRENT);
	spindle_predicate_when(&p, spindle_term_compare(spindle_number_own(COUNT), SPINDLE_CMP_LT,
							theirs));
	spindle_predicate_then(&p, spindle_do_set(COUNT, theirs));
	spindle_predicate_then(&p, spindle_do_signal());
	CHECK_EQ(spindle_predicate_add(&stress[1], &p), 0);
	fake_table_start();
	pthread_create(&thread, NULL, stress_writer, NULL);
	while (fired < rounds) {
		if (spindle_table_wait_signal(&stress[1], 20000) != 1)
			bail_out("a signal was lost");
		fired = spindle_predicate_fired(&stress[1], 0);
	}
	pthread_join(thread, NULL);
	fake_table_stop();
	CHECK_EQ(fired, rounds);
	stop(stress, 2);
}

/* ---- barriers --------------------------------------------------------- */

static uint64_t entered[N];

struct party {
	uint32_t i;
	uint32_t cell;
};

/* Enter rounds. Nobody gets through before all have entered. */
static void *party(void *arg)
{
	const struct party *a = arg;
	struct spindle_table *t = &stress[a->i];
	uint64_t round;
	uint32_t k;

	for (round = 1; round <= rounds / 4; round++) {
		__atomic_store_n(&entered[a->i], round, __ATOMIC_RELEASE);
		if (spindle_table_barrier(t, a->cell, round, 20000))
			bail_out("a barrier did not end");
		for (k = 0; k < N; k++)
			if (__atomic_load_n(&entered[k], __ATOMIC_ACQUIRE) < round)
				bail_out("a barrier ended too early");
	}
	return NULL;
}

/* Cell 2 is written before a round. Nobody changes it while others look. */
static void *party_of_guard(void *arg)
{
	const struct party *a = arg;
	struct spindle_table *t = &stress[a->i];
	uint64_t round, k, v;
	uint32_t instance;

	for (round = 1; round <= rounds / 4; round++) {
		if (spindle_cell_put(t, 2, &round, sizeof(round)) ||
		    spindle_table_barrier(t, 0, 2 * round, 20000))
			bail_out("a barrier did not end");
		for (k = 0; k < N; k++) {
			v = 0;
			if (spindle_table_instance(t, (uint32_t)k + 1, &instance) ||
			    spindle_cell_get(t, instance, 2, &v, sizeof(v), NULL) || v != round)
				bail_out("the guard was there before the other cells");
		}
		if (spindle_table_barrier(t, 0, 2 * round + 1, 20000))
			bail_out("a second barrier did not end");
	}
	return NULL;
}

static void run_parties(void *(*fn)(void *), uint32_t cell, bool vouch)
{
	struct party a[N];
	pthread_t thread[N];
	uint32_t i;

	memset(entered, 0, sizeof(entered));
	fake_table_setup(&(struct fake_table_opts){ .vouch = vouch });
	start_all(stress, SPINDLE_TABLE_SIGNALS);
	fake_table_start();
	for (i = 0; i < N; i++) {
		a[i] = (struct party){ i, cell };
		pthread_create(&thread[i], NULL, fn, &a[i]);
	}
	for (i = 0; i < N; i++)
		pthread_join(thread[i], NULL);
	fake_table_stop();
	stop(stress, N);
}

static void test_barrier(void)
{
	run_parties(party, 3, false);
}

static void test_guard(void)
{
	run_parties(party_of_guard, 0, false);
	run_parties(party_of_guard, 0, true);
}

static void view_of(uint32_t first, uint32_t n)
{
	struct spindle_seat seat[N];
	uint32_t i;

	memset(seat, 0, sizeof(seat));
	for (i = 0; i < n; i++) {
		seat[i].node = first + i;
		seat[i].sst = FAKE_INSTANCES - first - i;
	}
	fake_table_view(seat, n);
}

static void test_barrier_alone(void)
{
	struct spindle_predicate p = good_predicate();
	struct spindle_table t[N];
	uint32_t i;

	fake_table_setup(&(struct fake_table_opts){ .hook = settle_at_poll });
	start_all(t, SPINDLE_TABLE_SIGNALS);
	CHECK_EQ(spindle_table_barrier(&t[0], 3, 0, 0), -EINVAL);
	CHECK_EQ(spindle_table_barrier(&t[0], 4, 1, 0), -EINVAL);
	CHECK_EQ(spindle_table_barrier(&t[0], 3, 1, 0), -ETIMEDOUT);
	CHECK_EQ(spindle_table_barrier(&t[0], 3, 1, 1), -ETIMEDOUT);
	CHECK_EQ(fake_table_look().predicates, 0);
	CHECK_EQ(get(&t[0], 1, 3), 1);
	CHECK_EQ(spindle_table_barrier(&t[1], 3, 7, 1), -ETIMEDOUT);
	CHECK_EQ(spindle_table_barrier(&t[2], 3, 1, -1), 0);
	CHECK_EQ(spindle_table_wait_signal(&t[2], 0), 0);
	/* A round does not go back, and a member that leaves holds nobody up. */
	CHECK_EQ(spindle_table_barrier(&t[1], 3, 5, 1), -ETIMEDOUT);
	CHECK_EQ(get(&t[1], 2, 3), 7);
	CHECK_EQ(spindle_table_barrier(&t[0], 3, 7, 1), -ETIMEDOUT);
	view_of(1, 2);
	CHECK_EQ(spindle_table_barrier(&t[0], 3, 7, -1), 0);
	/* Signals of other predicates are not lost, also those that wait already. */
	CHECK_EQ(spindle_predicate_add(&t[0], &p), 0);
	CHECK_EQ(spindle_table_barrier(&t[0], 3, 8, 1), -ETIMEDOUT);
	CHECK_EQ(spindle_table_wait_signal(&t[0], 0), 1);
	CHECK_EQ(spindle_table_wait_signal(&t[0], 0), 0);
	CHECK_EQ(spindle_predicate_add(&t[0], &p), 1);
	fake_table_settle(&seed);
	CHECK_EQ(spindle_table_barrier(&t[0], 3, 7, -1), 0);
	CHECK_EQ(spindle_table_wait_signal(&t[0], 0), 1);
	CHECK_EQ(spindle_table_wait_signal(&t[0], 0), 0);
	for (i = 2; i < SPINDLE_MAX_PREDICATES; i++)
		CHECK_EQ(spindle_predicate_add(&t[0], &p), i);
	CHECK_EQ(spindle_table_barrier(&t[0], 3, 7, -1), -ENOSPC);
	fake_table_final(SPINDLE_STATE_GONE, SPINDLE_ERR_VIEW_GONE);
	CHECK_EQ(spindle_table_barrier(&t[1], 3, 7, -1), -EPIPE);
	stop(t, N);
	CHECK_EQ(spindle_table_barrier(&t[0], 3, 7, -1), -EBADF);
}

/* ---- elections -------------------------------------------------------- */

static void *vote(void *arg)
{
	struct spindle_leader *l = arg;

	if (spindle_table_elect(&stress[l->me], 3, 20000, l))
		bail_out("an election did not end");
	return NULL;
}

static void test_elect(void)
{
	struct spindle_leader l[N];
	pthread_t thread[N];
	uint32_t i;

	fake_table_setup(&plain);
	start_all(stress, SPINDLE_TABLE_SIGNALS);
	l[0] = (struct spindle_leader){ 77, 77, 77 };
	CHECK_EQ(spindle_table_elect(&stress[0], 3, 1, &l[0]), -ETIMEDOUT);
	CHECK(l[0].vid == 77 && l[0].node == 77 && l[0].me == 77);
	fake_table_start();
	for (i = 0; i < N; i++) {
		l[i].me = i;
		pthread_create(&thread[i], NULL, vote, &l[i]);
	}
	for (i = 0; i < N; i++) {
		pthread_join(thread[i], NULL);
		CHECK(l[i].vid == 3 && l[i].node == 1 && l[i].me == !i);
	}
	fake_table_stop();
	stop(stress, N);
	CHECK_EQ(spindle_table_elect(&stress[0], 3, -1, &l[0]), -EBADF);
}

/* The leader leaves while the others wait for it. */
static void leave_at_poll(enum fake_call call)
{
	if (call == FAKE_POLL && !hook_calls++)
		view_of(2, 2);
	settle_at_poll(call);
}

static void test_elect_in_change(void)
{
	struct spindle_leader l = { 0, 0, 0 };
	struct spindle_table t[N];

	hook_calls = 0;
	fake_table_setup(&(struct fake_table_opts){ .hook = leave_at_poll });
	start_all(t, 0);
	put(&t[2], 3, 3);
	hook_calls = 0;
	/* Node 3 is in the next view, and has not called there. */
	CHECK_EQ(spindle_table_elect(&t[1], 3, 50, &l), -ETIMEDOUT);
	CHECK(!l.vid && get(&t[1], 2, 3) == 4);
	put(&t[2], 3, 4);
	CHECK_EQ(spindle_table_elect(&t[1], 3, -1, &l), 0);
	CHECK(l.vid == 4 && l.node == 2 && l.me == 1);
	stop(t, N);
}

/* ---- loops ------------------------------------------------------------ */

struct probe {
	struct spindle_watch w;
	char name;
	bool value;
	void (*in_test)(struct probe *p);
	void (*in_act)(struct probe *p);
};

static struct spindle_loop loop;
static struct probe probe[4];
static char trace[100];

static void note(char c)
{
	size_t n = strlen(trace);

	if (n < sizeof(trace) - 1)
		trace[n] = c;
}

/* Compare what ran, and begin again. Small letters are tests, large ones and digits triggers. */
static bool ran(const char *want)
{
	bool good = !strcmp(trace, want);

	if (!good)
		tap_fail("ran \"%s\", want \"%s\"", trace, want);
	memset(trace, 0, sizeof(trace));
	return good;
}

static bool probe_test(void *ctx)
{
	struct probe *p = ctx;
	bool value = p->value;

	note(p->name);
	if (p->in_test)
		p->in_test(p);
	return value;
}

static void probe_act(void *ctx)
{
	struct probe *p = ctx;

	note((char)(p->name - 'a' + 'A'));
	if (p->in_act)
		p->in_act(p);
}

static void probe_act2(void *ctx)
{
	struct probe *p = ctx;

	note((char)(p->name - 'a' + '1'));
}

static const spindle_act_fn acts[] = { probe_act, probe_act2 };

static void probes(uint32_t n)
{
	uint32_t i;

	memset(&loop, 0, sizeof(loop));
	memset(probe, 0, sizeof(probe));
	memset(trace, 0, sizeof(trace));
	for (i = 0; i < 4; i++) {
		probe[i] = (struct probe){ .name = (char)('a' + i), .value = true };
		probe[i].w = (struct spindle_watch){
			.test = probe_test, .act = acts, .acts = 2, .ctx = &probe[i],
		};
		if (i < n)
			CHECK(!spindle_loop_add(&loop, &probe[i].w));
	}
}

static void test_loop_kinds(void)
{
	struct spindle_loop other = { 0 };
	uint32_t i;

	probes(0);
	for (i = 0; i < 3; i++) {
		probe[i].w.kind = i;
		CHECK(!spindle_loop_add(&loop, &probe[i].w));
	}
	CHECK(spindle_loop_look(&loop) == 3 && ran("aA1bB2cC3"));
	CHECK(spindle_loop_look(&loop) == 1 && ran("aA1c"));
	probe[0].value = false;
	probe[2].value = false;
	CHECK(spindle_loop_look(&loop) == 0 && ran("ac"));
	probe[2].value = true;
	CHECK(spindle_loop_look(&loop) == 1 && ran("acC3"));
	CHECK(!spindle_loop_add(&loop, &probe[1].w));
	CHECK(spindle_loop_add(&loop, &probe[1].w) == -EEXIST);
	CHECK(spindle_loop_add(&other, &probe[1].w) == -EEXIST);
	CHECK(spindle_loop_remove(&other, &probe[1].w) == -ENOENT);
	CHECK(spindle_loop_look(&loop) == 1 && ran("acbB2"));
	CHECK(spindle_loop_remove(&loop, &probe[1].w) == -ENOENT);
	/* A transition that is added again begins as a new one. */
	CHECK(!spindle_loop_remove(&loop, &probe[2].w) && !spindle_loop_add(&loop, &probe[2].w));
	CHECK(spindle_loop_look(&loop) == 1 && ran("acC3"));
	CHECK(!spindle_loop_remove(&loop, &probe[0].w) && !spindle_loop_remove(&loop, &probe[2].w));
	CHECK(spindle_loop_look(&loop) == 0 && ran(""));
	probe[0].w.acts = 0;
	CHECK(spindle_loop_add(&loop, &probe[0].w) == -EINVAL);
	probe[1].w.test = NULL;
	CHECK(spindle_loop_add(&loop, &probe[1].w) == -EINVAL);
	probe[2].w.kind = 3;
	CHECK(spindle_loop_add(&loop, &probe[2].w) == -EINVAL);
	probe[3].w.act = NULL;
	CHECK(spindle_loop_add(&loop, &probe[3].w) == -EINVAL);
}

/* Remove a watch, and make its memory unusable, as if it were freed. */
static void drop(uint32_t i)
{
	CHECK(!spindle_loop_remove(&loop, &probe[i].w));
	memset(&probe[i].w, 0xff, sizeof(probe[i].w));
}

/* Has nobody written to a watch that was removed? */
static bool is_untouched(const struct spindle_watch *w)
{
	const unsigned char *byte = (const void *)w;
	size_t i;

	for (i = 0; i < sizeof(*w) && byte[i] == 0xff; i++)
		;
	return i == sizeof(*w);
}

static void drop_self(struct probe *p)
{
	drop((uint32_t)(p - probe));
}

static void drop_next(struct probe *p)
{
	drop((uint32_t)(p - probe) + 1);
}

static void drop_previous(struct probe *p)
{
	drop((uint32_t)(p - probe) - 1);
}

static void drop_all(struct probe *p)
{
	(void)p;
	drop(2);
	drop(0);
	drop(1);
}

static void add_last(struct probe *p)
{
	(void)p;
	spindle_loop_add(&loop, &probe[3].w);
}

static void readd_self(struct probe *p)
{
	CHECK(!spindle_loop_remove(&loop, &p->w));
	CHECK(!spindle_loop_add(&loop, &p->w));
}

static void look_again(struct probe *p)
{
	(void)p;
	CHECK(spindle_loop_look(&loop) == -EBUSY);
	CHECK(spindle_loop_run(&loop, NULL, 0) == -EBUSY);
}

static void (*const changes[])(struct probe *p) = {
	drop_self, drop_next, drop_previous, drop_all, add_last, readd_self, look_again,
};

static void test_loop_changes(void)
{
	/* By change: the first look, when the trigger or the test of b makes it, and the second. */
	static const char *const in_act[][2] = {
		{ "aA1bBcC3", "aA1cC3" }, { "aA1bB2", "aA1" }, { "aA1bB2cC3", "cC3" },
		{ "aA1bB", "" }, { "aA1bB2cC3", "aA1bB2cC3dD4" }, { "aA1bBcC3", "aA1cC3bB" },
		{ "aA1bB2cC3", "aA1bB2cC3" },
	};
	static const char *const in_test[][2] = {
		{ "aA1bcC3", "aA1cC3" }, { "aA1bB2", "aA1" }, { "aA1bB2cC3", "cC3" },
		{ "aA1b", "" }, { "aA1bB2cC3", "aA1bB2cC3dD4" }, { "aA1bcC3", "aA1cC3b" },
		{ "aA1bB2cC3", "aA1bB2cC3" },
	};
	uint32_t i;

	for (i = 0; i < 2 * ARRAY_SIZE(changes); i++) {
		probes(3);
		if (i % 2)
			probe[1].in_test = changes[i / 2];
		else
			probe[1].in_act = changes[i / 2];
		spindle_loop_look(&loop);
		ran(i % 2 ? in_test[i / 2][0] : in_act[i / 2][0]);
		if (i / 2 == 0 || i / 2 == 3)
			CHECK(is_untouched(&probe[1].w));
		/* The second look without b, where the change cannot be made twice. */
		if (i / 2 == 1 || i / 2 == 2)
			drop(1);
		spindle_loop_look(&loop);
		ran(i % 2 ? in_test[i / 2][1] : in_act[i / 2][1]);
	}
}

/* A watch that fires once is out of the loop when its triggers run. */
static void test_loop_once(void)
{
	probes(1);
	probe[0].w.kind = SPINDLE_KIND_ONCE;
	probe[0].in_act = drop_self;
	CHECK(spindle_loop_look(&loop) == 1 && ran("aA"));
	probes(1);
	probe[0].w.kind = SPINDLE_KIND_ONCE;
	probe[0].in_act = NULL;
	probe[1].in_act = NULL;
	CHECK(spindle_loop_look(&loop) == 1 && ran("aA1"));
	CHECK(!spindle_loop_add(&loop, &probe[0].w));
	CHECK(spindle_loop_look(&loop) == 1 && ran("aA1") && spindle_loop_look(&loop) == 0);
}

static struct spindle_table *looked;
static uint64_t seen_value;

static bool value_changed(void *ctx)
{
	uint64_t v = get(looked, 2, 1);

	(void)ctx;
	if (v == seen_value)
		return false;
	seen_value = v;
	return true;
}

/* The other node goes on as soon as the loop has looked, and also in its trigger. */
static void next_value(void *ctx)
{
	struct spindle_table *other = ctx;

	if (seen_value == 10)
		spindle_loop_stop(&loop, 42);
	else
		put(other, 1, seen_value + 1);
}

static int polls, polls_at_act;

static void value_at_poll(enum fake_call call)
{
	polls += call == FAKE_POLL;
	if (call == FAKE_POLL && !hook_calls++)
		put(hooked, 1, 1);
}

/* Of the first call. */
static void note_polls(struct probe *p)
{
	(void)p;
	if (polls_at_act == 99)
		polls_at_act = polls;
}

static void again_once(struct probe *p)
{
	(void)p;
	if (hook_calls++ == 0)
		spindle_loop_again(&loop);
	else if (hook_calls == 2)
		polls_at_act = polls;
}

static void test_loop_run(void)
{
	static const spindle_act_fn act = next_value;
	struct spindle_table t[2];
	struct spindle_watch w = { .test = value_changed, .act = &act, .acts = 1, .ctx = &t[1] };

	looked = &t[0];
	hooked = &t[1];
	hook_calls = 0;
	seen_value = 0;
	fake_table_setup(&(struct fake_table_opts){ .hook = value_at_poll });
	start(&t[0], 1, 0);
	start(&t[1], 2, SPINDLE_TABLE_WRITE);
	probes(0);
	CHECK_EQ(spindle_loop_run(&loop, &t[0], -1), 0);
	CHECK(!spindle_loop_add(&loop, &w));
	CHECK_EQ(spindle_loop_run(&loop, &t[0], 0), -ETIMEDOUT);
	CHECK_EQ(spindle_loop_run(&loop, &t[0], 20000), 42);
	CHECK(seen_value == 10 && hook_calls == 1);
	CHECK_EQ(spindle_loop_run(&loop, &t[0], 1), -ETIMEDOUT);
	/* What was written between two runs is looked at. */
	seen_value = 9;
	CHECK_EQ(spindle_loop_run(&loop, &t[0], 0), 42);
	CHECK(!spindle_loop_remove(&loop, &w));
	/* A watch that a look adds is looked at without waiting, and so is one that asks. */
	probes(1);
	probe[0].in_act = add_last;
	probe[3].in_act = note_polls;
	probe[3].w.kind = SPINDLE_KIND_ONCE;
	polls = 0;
	polls_at_act = 99;
	CHECK_EQ(spindle_loop_run(&loop, &t[0], 5), -ETIMEDOUT);
	trace[8] = 0;
	CHECK(ran("aA1aA1dD") && polls_at_act == 0);
	probes(1);
	hook_calls = 0;
	polls = 0;
	polls_at_act = 99;
	probe[0].w.kind = SPINDLE_KIND_TRANSITION;
	probe[0].in_test = again_once;
	CHECK_EQ(spindle_loop_run(&loop, &t[0], 5), -ETIMEDOUT);
	CHECK(polls_at_act == 0);
	/* The first look of another run does not wait. */
	probe[0].in_test = note_polls;
	polls = 0;
	polls_at_act = 99;
	CHECK_EQ(spindle_loop_run(&loop, &t[0], 5), -ETIMEDOUT);
	CHECK(polls_at_act == 0);
	fake_table_final(SPINDLE_STATE_GONE, SPINDLE_ERR_VIEW_GONE);
	CHECK_EQ(spindle_loop_run(&loop, &t[0], -1), -EPIPE);
	stop(t, 2);
	CHECK_EQ(spindle_loop_run(&loop, &t[0], -1), -EBADF);
}

/* The loop sees the last value, whatever the threads do in between. */
static bool last_value(void *ctx)
{
	(void)ctx;
	return seen_value >= rounds;
}

static void stop_loop(void *ctx)
{
	spindle_loop_stop(ctx, 1);
}

static void echo(void *ctx)
{
	(void)ctx;
	if (spindle_cell_put(&stress[1], 1, &seen_value, sizeof(seen_value)))
		bail_out("cannot write");
}

static bool is_new(void *ctx)
{
	uint64_t v = peek(&stress[1], 1);

	(void)ctx;
	if (v <= seen_value)
		return false;
	seen_value = v;
	return true;
}

static void test_loop_stress(void)
{
	static const spindle_act_fn act[] = { echo, stop_loop };
	struct spindle_watch w[2] = {
		{ .test = is_new, .act = &act[0], .acts = 1 },
		{ .test = last_value, .act = &act[1], .acts = 1, .ctx = &loop },
	};
	pthread_t thread;

	seen_value = 0;
	probes(0);
	fake_table_setup(&(struct fake_table_opts){ .cells = 2 });
	start(&stress[0], 1, SPINDLE_TABLE_WRITE);
	start(&stress[1], 2, SPINDLE_TABLE_WRITE);
	CHECK(!spindle_loop_add(&loop, &w[0]) && !spindle_loop_add(&loop, &w[1]));
	fake_table_start();
	pthread_create(&thread, NULL, stress_writer, NULL);
	if (spindle_loop_run(&loop, &stress[1], 100000) != 1)
		bail_out("a change was lost");
	pthread_join(thread, NULL);
	fake_table_stop();
	stop(stress, 2);
}

int main(int argc, char **argv)
{
	static const struct tap_case list[] = {
		{ "builders: fields of structures", test_fields },
		{ "builders: numbers and their rows", test_numbers },
		{ "refusals: each fault of a term is named", test_bad_terms },
		{ "refusals: each fault of a trigger is named", test_bad_triggers },
		{ "refusals: each fault of a predicate is named", test_bad_heads },
		{ "add: ids are chosen, given, taken, and free again", test_ids },
		{ "add: impossible replies of the kernel do no harm", test_replies },
		{ "engine: three nodes count in step, and no process runs", test_counting },
		{ "engine: numbers, signs, rows and comparisons", test_evaluation },
		{ "engine: kinds of predicates, arm and disarm", test_kinds },
		{ "signals: no signal is missed, the last one before the end", test_wait_signal },
		{ "signals: the events of poll()", test_events },
		{ "signals: writer, engine and sleeper at once", test_stress },
		{ "barrier: threads enter rounds, and none is early", test_barrier },
		{ "barrier: the guard shows what was sealed before a round", test_guard },
		{ "barrier: timeouts, members that leave, signals of others", test_barrier_alone },
		{ "election: all members of a view name the same leader", test_elect },
		{ "election: a view ends, and the call enters the next one", test_elect_in_change },
		{ "loop: kinds, additions, removals, bad arguments", test_loop_kinds },
		{ "loop: tests and triggers change the loop", test_loop_changes },
		{ "loop: a watch that fires once removes itself", test_loop_once },
		{ "loop: no change is missed, results and timeouts", test_loop_run },
		{ "loop: writer, engine and loop at once", test_loop_stress },
	};

	if (argc > 1)
		rounds = (unsigned int)strtoul(argv[1], NULL, 0);
	return tap_run(list, ARRAY_SIZE(list));
}
