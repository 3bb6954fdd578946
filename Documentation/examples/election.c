// SPDX-License-Identifier: MIT
/*
 * The members elect a leader in each view, until it is a certain node.
 *
 *	cc election.c $(pkg-config --cflags --libs spindle) -o election
 *	./election NODE TABLE LEADER
 *
 * One process for each member. Each leader writes a claim into its row, and all processes check
 * that no two nodes claim the same view.
 */
#include "app.h"

#define VIEW	3
#define CLAIM	4
#define VIEWS	64

struct claim {
	uint64_t vid;
	uint64_t node;
};

/* The leaders that this process knows of, by view. */
static struct claim known[VIEWS];

static void check_claim(const struct spindle_table *t, struct claim claim)
{
	struct claim *k = &known[claim.vid % VIEWS];

	if (k->vid == claim.vid && k->node != claim.node)
		app_bad(t, "two leaders in one view");
	*k = claim;
}

/* The checker: compare what the members claim with what is known. */
static void check_claims(struct spindle_table *t)
{
	struct spindle_seat seat[SPINDLE_MAX_MEMBERS];
	int i, members = app_check(t, spindle_table_seats(t, seat, SPINDLE_MAX_MEMBERS));
	struct claim claim;

	for (i = 0; i < members; i++)
		if (!spindle_cell_get(t, seat[i].sst, CLAIM, &claim, sizeof(claim), NULL) &&
		    claim.vid)
			check_claim(t, claim);
}

static void elect(struct spindle_table *t, struct spindle_leader *l)
{
	struct claim claim;

	app_check(t, spindle_table_elect(t, VIEW, TIMEOUT, l));
	claim = (struct claim){ l->vid, l->node };
	check_claim(t, claim);
	if (l->me)
		app_check(t, spindle_cell_put(t, CLAIM, &claim, sizeof(claim)));
	printf("view %llu leader %u\n", (unsigned long long)l->vid, l->node);
	fflush(stdout);
}

/* Claims of others arrive until the view ends. */
static void wait_for_view(struct spindle_table *t, uint64_t vid)
{
	while (t->vid == vid) {
		check_claims(t);
		if (t->vid == vid && !app_check(t, spindle_table_wait(t, TIMEOUT)))
			app_bad(t, "the view has not ended in time");
	}
}

int main(int argc, char **argv)
{
	struct spindle_leader l;
	struct spindle_table t;
	uint32_t wanted;

	app_attach(&t, argc, argv, 0);
	wanted = (uint32_t)atoi(argv[3]);
	elect(&t, &l);
	while (l.node != wanted) {
		wait_for_view(&t, l.vid);
		elect(&t, &l);
	}
	check_claims(&t);
	printf("node %u: the leader is node %u\n", t.node, l.node);
	spindle_table_detach(&t);
	return 0;
}
