// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predicates: the three kinds, and the order of evaluation.
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

static void add(struct spindle_preds *list, struct probe *p, enum spindle_pred_kind kind)
{
	/* Old values of these fields must not count. */
	p->pred.held = true;
	p->pred.done = true;
	p->pred.fired = 99;
	p->pred.test = test_probe;
	p->pred.trigger = run_probe;
	p->pred.ctx = p;
	p->pred.kind = kind;
	spindle_pred_add(list, &p->pred);
}

static void test_kinds(void)
{
	/*
	 * Values of the test in successive passes, and the triggers that run.
	 */
	static const struct {
		bool on, recurrent, transition, once;
	} passes[] = {
		{ false, false, false, false },
		{ true, true, true, true },
		{ true, true, false, false },
		{ false, false, false, false },
		{ true, true, true, false },
		{ true, true, false, false },
		{ false, false, false, false },
		{ false, false, false, false },
		{ true, true, true, false },
	};
	struct probe r = { .on = false }, t = { .on = false }, o = { .on = false };
	struct spindle_preds list = { NULL };
	size_t i;

	CHECK(!spindle_preds_run(&list));
	add(&list, &r, SPINDLE_PRED_RECURRENT);
	add(&list, &t, SPINDLE_PRED_TRANSITION);
	add(&list, &o, SPINDLE_PRED_ONCE);
	for (i = 0; i < ARRAY_SIZE(passes); i++) {
		u32 runs[] = { r.runs, t.runs, o.runs };

		r.on = t.on = o.on = passes[i].on;
		CHECK_EQ(spindle_preds_run(&list), passes[i].on);
		CHECK_EQ(r.runs - runs[0], passes[i].recurrent);
		CHECK_EQ(t.runs - runs[1], passes[i].transition);
		CHECK_EQ(o.runs - runs[2], passes[i].once);
	}
	CHECK_EQ(r.pred.fired, r.runs);
	CHECK_EQ(t.pred.fired, t.runs);
	CHECK_EQ(o.pred.fired, 1);
	CHECK_EQ(o.tests, 2); /* the test does not run again */
}

/*
 * A pass is idle if its only true test is a transition that has fired before.
 */
static void test_idle(void)
{
	struct probe t = { .on = true };
	struct spindle_preds list = { NULL };

	add(&list, &t, SPINDLE_PRED_TRANSITION);
	CHECK(spindle_preds_run(&list));
	CHECK(!spindle_preds_run(&list));
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
		add(&list, &p[i], SPINDLE_PRED_RECURRENT);
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
		{ "predicates are recurrent, transitions or one-time", test_kinds },
		{ "a transition that has happened costs no work", test_idle },
		{ "predicates run in order, and see effects in the same pass", test_order },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
