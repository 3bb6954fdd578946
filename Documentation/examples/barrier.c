// SPDX-License-Identifier: MIT
/*
 * Rounds of work with a barrier behind each. Behind the barrier of a round, each node sees the work
 * of that round in the rows of all members. A member that leaves holds nobody up.
 *
 *	cc barrier.c $(pkg-config --cflags --libs spindle) -o barrier
 *	./barrier NODE TABLE ROUNDS
 *
 * One process for each member. A node that joins begins with the round of the others, and a second
 * run in the same table goes on behind the first.
 */
#include "app.h"

/* The guard: a node that sees a round in this cell also sees the work before it. */
#define ROUND	0
#define WORK	2

/* The greatest round in the rows, or 1. */
static uint64_t first_round(struct spindle_table *t)
{
	struct spindle_seat seat[SPINDLE_MAX_MEMBERS];
	int i, members = app_check(t, spindle_table_seats(t, seat, SPINDLE_MAX_MEMBERS));
	uint64_t round, first = 1;

	for (i = 0; i < members; i++)
		if (!spindle_cell_get(t, seat[i].sst, ROUND, &round, sizeof(round), NULL) &&
		    round > first)
			first = round;
	return first;
}

static bool is_in(const struct spindle_seat *seat, int members, uint32_t node)
{
	while (members && seat[members - 1].node != node)
		members--;
	return members;
}

/*
 * The checker: is the work of this round there? A node may have begun the next round, and its cell
 * may be torn then. Of members that have joined since the round began, nothing is known.
 */
static void check_work(struct spindle_table *t, uint64_t round, const struct spindle_seat *old,
		       int n)
{
	struct spindle_seat seat[SPINDLE_MAX_MEMBERS];
	int i, members = app_check(t, spindle_table_seats(t, seat, SPINDLE_MAX_MEMBERS));
	uint64_t work;

	for (i = 0; i < members; i++) {
		if (!is_in(old, n, seat[i].node) ||
		    spindle_cell_get(t, seat[i].sst, WORK, &work, sizeof(work), NULL))
			continue;
		if (work < round)
			app_bad(t, "a barrier ended before the work of a node was here");
		if (work > round + 1)
			app_bad(t, "a node went through a barrier alone");
	}
}

static void run_round(struct spindle_table *t, uint64_t round)
{
	struct spindle_seat seat[SPINDLE_MAX_MEMBERS];
	int members = app_check(t, spindle_table_seats(t, seat, SPINDLE_MAX_MEMBERS));

	app_check(t, spindle_cell_put(t, WORK, &round, sizeof(round)));
	app_check(t, spindle_table_barrier(t, ROUND, round, TIMEOUT));
	check_work(t, round, seat, members);
}

int main(int argc, char **argv)
{
	struct spindle_table t;
	uint64_t round, rounds;

	app_attach(&t, argc, argv, SPINDLE_TABLE_SIGNALS);
	rounds = strtoull(argv[3], NULL, 0);
	for (round = first_round(&t); round <= rounds; round++)
		run_round(&t, round);
	printf("node %u: through %llu barriers, %u members\n", t.node, (unsigned long long)rounds,
	       t.members);
	spindle_table_detach(&t);
	return 0;
}
