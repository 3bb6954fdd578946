// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predicates: when triggers run, and the order of evaluation.
 */
#include "core/base/predicate.h"
#include "tap.h"

struct probe {
	struct spindle_pred pred;
	bool on;
	u32 tests, runs;
	u32 order;
	struct probe *sets; /* the trigger turns this one on */
};

static u32 clock_ticks;

static bool test_probe(void *ctx)
{
	struct probe *p = ctx;

	p->tests++;
	return p->on;
}

static void run_probe(void *ctx)
{
	struct probe *p = ctx;

	p->runs++;
	p->order = ++clock_ticks;
	if (p->sets)
		p->sets->on = true;
}

static void add(struct spindle_preds *list, struct probe *p)
{
	p->pred.test = test_probe;
	p->pred.trigger = run_probe;
	p->pred.ctx = p;
	/* An old value must not count. */
	p->pred.next = &p->pred;
	spindle_pred_add(list, &p->pred);
}

static void test_every_pass(void)
{
	static const bool on[] = { false, true, true, false, true };
	struct probe p = { .on = false };
	struct spindle_preds list = { NULL };
	size_t i;

	CHECK(!spindle_preds_run(&list));
	add(&list, &p);
	for (i = 0; i < ARRAY_SIZE(on); i++) {
		u32 runs = p.runs;

		p.on = on[i];
		CHECK_EQ(spindle_preds_run(&list), on[i]);
		CHECK_EQ(p.runs - runs, on[i]);
		CHECK_EQ(p.tests, i + 1);
	}
}

/* One of several is enough, whichever it is. */
static void test_any(void)
{
	struct probe p[3] = { { .on = false } };
	struct spindle_preds list = { NULL };
	u32 i;

	for (i = 0; i < 3; i++)
		add(&list, &p[i]);
	for (i = 0; i < 3; i++) {
		p[i].on = true;
		CHECK(spindle_preds_run(&list));
		p[i].on = false;
	}
	CHECK(!spindle_preds_run(&list));
}

/* Later predicates see the changes of earlier triggers in the same pass. */
static void test_order(void)
{
	struct probe p[4] = { { .on = true } };
	struct spindle_preds list = { NULL };
	u32 i;

	for (i = 0; i < 4; i++) {
		p[i].sets = i < 3 ? &p[i + 1] : NULL;
		add(&list, &p[i]);
	}
	CHECK(spindle_preds_run(&list));
	for (i = 0; i < 4; i++) {
		CHECK_EQ(p[i].runs, 1);
		CHECK(!i || p[i].order == p[i - 1].order + 1);
	}

	/*
	 * Earlier predicates see the changes of later triggers only in the next
	 * pass.
	 */
	p[0].on = p[1].on = p[2].on = false;
	p[3].sets = &p[0];
	CHECK(spindle_preds_run(&list));
	CHECK_EQ(p[0].runs, 1);
	CHECK(spindle_preds_run(&list));
	CHECK_EQ(p[0].runs, 2);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a trigger runs in each pass in which the test holds", test_every_pass },
		{ "one trigger is enough for work", test_any },
		{ "predicates run in order, and see effects in the same pass", test_order },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
