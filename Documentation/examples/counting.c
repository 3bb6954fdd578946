// SPDX-License-Identifier: MIT
/*
 * All nodes count to N in step: each adds 1 when no one is behind. The engines do this, and the
 * process sleeps until all have counted to N. (Section 5.6 of the SST paper.)
 *
 *	cc counting.c $(pkg-config --cflags --libs spindle) -o counting
 *	./counting NODE TABLE N
 *
 * One process for each member. A second run in the same table goes on with the counts of the first.
 * Programs that use cell 0 for something else, like barrier.c, need another table.
 */
#include "app.h"

/*
 * A row: cell 0, because a change of that cell is one write for each member. The count has a sign,
 * because the checker subtracts from it.
 */
struct row {
	int64_t count;
};

#define COUNT SPINDLE_FIELD(struct row, count, 0)

/* If the rows of all are at least at the own count, add 1, up to @n. */
static void add_step(struct spindle_table *t, uint64_t n)
{
	struct spindle_number own = spindle_number_own(COUNT);
	struct spindle_predicate p;

	spindle_predicate_init(&p, SPINDLE_KIND_RECURRENT);
	spindle_predicate_when(&p, spindle_term_all(COUNT, SPINDLE_CMP_GE, own));
	spindle_predicate_when(&p, spindle_term_compare(own, SPINDLE_CMP_LT,
							spindle_number_constant(n)));
	spindle_predicate_then(&p, spindle_do_add(COUNT, 1));
	app_add(t, &p);
}

/* The checker: is another node ever ahead by more than 1, or behind by more than 1? */
static uint32_t add_alarm(struct spindle_table *t)
{
	struct spindle_number own = spindle_number_own(COUNT);
	struct spindle_predicate p;

	spindle_predicate_init(&p, SPINDLE_KIND_ONCE);
	p.flags = SPINDLE_PREDICATE_ANY;
	spindle_predicate_when(&p, spindle_term_any(COUNT, SPINDLE_CMP_GT,
						    spindle_number_plus(own, 1)));
	spindle_predicate_when(&p, spindle_term_any(COUNT, SPINDLE_CMP_LT,
						    spindle_number_plus(own, -1)));
	spindle_predicate_then(&p, spindle_do_signal());
	return app_add(t, &p);
}

static uint32_t add_end(struct spindle_table *t, uint64_t n)
{
	struct spindle_predicate p;

	spindle_predicate_init(&p, SPINDLE_KIND_ONCE);
	spindle_predicate_when(&p, spindle_term_all(COUNT, SPINDLE_CMP_GE,
						    spindle_number_constant(n)));
	spindle_predicate_then(&p, spindle_do_signal());
	return app_add(t, &p);
}

static void check_counts(struct spindle_table *t, uint64_t n)
{
	struct spindle_seat seat[SPINDLE_MAX_MEMBERS];
	int i, members = app_check(t, spindle_table_seats(t, seat, SPINDLE_MAX_MEMBERS));
	uint64_t count = 0;

	for (i = 0; i < members; i++) {
		app_check(t, spindle_cell_get(t, seat[i].sst, 0, &count, sizeof(count), NULL));
		if (count != n)
			app_bad(t, "a node has another count");
	}
}

int main(int argc, char **argv)
{
	struct spindle_table t;
	uint32_t alarm, end;
	unsigned int wakes;
	uint64_t n;

	app_attach(&t, argc, argv, SPINDLE_TABLE_SIGNALS);
	n = strtoull(argv[3], NULL, 0);
	alarm = add_alarm(&t);
	end = add_end(&t, n);
	add_step(&t, n);
	wakes = app_wait(&t, end);
	if (spindle_predicate_fired(&t, alarm))
		app_bad(&t, "a node was ahead, or behind, by more than 1");
	if (wakes > 1)
		app_bad(&t, "the process was woken for a step");
	check_counts(&t, n);
	printf("node %u: all counted to %llu, woken %u times\n", t.node, (unsigned long long)n,
	       wakes);
	spindle_table_detach(&t);
	return 0;
}
