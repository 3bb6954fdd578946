// SPDX-License-Identifier: MIT
/*
 * A synchronous algorithm of K steps: the members form a ring, and in each step each node takes the
 * greatest value of itself and of its two neighbours in the step before. The engines run the steps.
 * A node that is a step ahead of a neighbour waits, so all values are those of the right step.
 *
 *	cc kstep.c $(pkg-config --cflags --libs spindle) -o kstep
 *	./kstep NODE TABLE K
 *
 * One process for each member, in a table that this program has not used before.
 */
#include "app.h"

#define CELL	5

/*
 * A row. Steps count from 1, because rows without a process are in step 0. The value of a step is
 * in value[step % 2], so a neighbour that is one step behind still finds its value.
 */
struct row {
	uint64_t step;
	uint64_t value[2];
};

#define STEP	SPINDLE_FIELD(struct row, step, CELL)
#define VALUE(i) spindle_field_u64(CELL, offsetof(struct row, value) + 8 * (i))

static struct spindle_seat seat[SPINDLE_MAX_MEMBERS];
static uint32_t members;

static uint64_t begin_value(uint32_t node)
{
	return node * 2654435761u % 100003;
}

/* The node, and its neighbours in the ring. Return: how many, each once. */
static unsigned int neighbours(uint32_t rank, uint32_t *node)
{
	uint32_t i, k, n = 0;

	for (i = 0; i < 3; i++) {
		node[n] = seat[(rank + members + i - 1) % members].node;
		for (k = 0; k < n && node[k] != node[n]; k++)
			;
		n += k == n;
	}
	return n;
}

/*
 * The predicate of all odd or of all even steps. The cell of a neighbour arrives as a whole, so its
 * value is there with its step. A step sets the next value before the step, and hands over to the
 * other predicate.
 */
static void add_step(struct spindle_table *t, uint32_t odd, uint64_t k)
{
	struct spindle_number own = spindle_number_own(STEP);
	struct spindle_predicate p;
	uint32_t node[3];
	unsigned int n = neighbours(t->rank, node);
	struct spindle_number each = spindle_number_nodes(spindle_number_each(STEP), node, n);
	struct spindle_number max = spindle_number_nodes(spindle_number_max(VALUE(odd)), node, n);

	spindle_predicate_init(&p, SPINDLE_KIND_RECURRENT);
	p.id = odd;
	p.flags = odd ? 0 : SPINDLE_PREDICATE_DISARMED;
	spindle_predicate_when(&p, spindle_term_rows(SPINDLE_ALL_ROWS, each, SPINDLE_CMP_GE, own));
	spindle_predicate_when(&p, spindle_term_compare(own, SPINDLE_CMP_LE,
							spindle_number_constant(k)));
	spindle_predicate_then(&p, spindle_do_set(VALUE(!odd), max));
	spindle_predicate_then(&p, spindle_do_add(STEP, 1));
	spindle_predicate_then(&p, spindle_do_disarm(odd));
	spindle_predicate_then(&p, spindle_do_arm(!odd));
	app_add(t, &p);
}

static uint32_t add_end(struct spindle_table *t, uint64_t k)
{
	struct spindle_predicate p;

	spindle_predicate_init(&p, SPINDLE_KIND_ONCE);
	spindle_predicate_when(&p, spindle_term_all(STEP, SPINDLE_CMP_GT,
						    spindle_number_constant(k)));
	spindle_predicate_then(&p, spindle_do_signal());
	return app_add(t, &p);
}

/* The reference: what the node of a rank has after @k steps. */
static uint64_t reference(uint32_t rank, uint64_t k)
{
	uint64_t value, best = 0;
	uint32_t i, right, left;

	for (i = 0; i < members; i++) {
		right = (i + members - rank) % members;
		left = members - right;
		value = begin_value(seat[i].node);
		if ((right <= k || left <= k) && value > best)
			best = value;
	}
	return best;
}

int main(int argc, char **argv)
{
	struct row row = { .step = 1 };
	unsigned int wakes, i;
	struct spindle_table t;
	uint32_t end;
	uint64_t k;

	app_attach(&t, argc, argv, SPINDLE_TABLE_SIGNALS);
	k = strtoull(argv[3], NULL, 0);
	members = (uint32_t)app_check(&t, spindle_table_seats(&t, seat, SPINDLE_MAX_MEMBERS));
	app_need_empty(&t, CELL);
	row.value[1] = begin_value(t.node);
	app_check(&t, spindle_cell_put(&t, CELL, &row, sizeof(row)));
	add_step(&t, 0, k);
	add_step(&t, 1, k);
	end = add_end(&t, k);
	wakes = app_wait(&t, end);
	if (wakes > 1)
		app_bad(&t, "the process was woken for a step");
	for (i = 0; i < members; i++) {
		app_check(&t, spindle_cell_get(&t, seat[i].sst, CELL, &row, sizeof(row), NULL));
		if (row.step != k + 1 || row.value[(k + 1) % 2] != reference(i, k))
			app_bad(&t, "a value is not that of the reference");
	}
	printf("node %u: all are right after %llu steps, woken %u times\n", t.node,
	       (unsigned long long)k, wakes);
	spindle_table_detach(&t);
	return 0;
}
