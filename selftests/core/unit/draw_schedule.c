// SPDX-License-Identifier: GPL-2.0-only
/*
 * A picture of a block schedule, from the code that the module runs: a literal block of
 * reStructuredText in which each row is a step, each column is a member, and 3>5 is block 3 on its
 * way to member 5.
 *
 *	draw_schedule ALGORITHM MEMBERS BLOCKS [RACK]...
 *
 * Racks are numbers, one for each member. A member without a number is alone in its rack.
 */
#include <stdio.h>
#include <stdlib.h>

#include "core/rdmc/schedule.h"

#define MEMBERS 64
#define STEPS 1000

static const char * const name[] = {
	[SPINDLE_ALG_PIPELINE] = "pipeline",
	[SPINDLE_ALG_SEQUENTIAL] = "sequential",
	[SPINDLE_ALG_CHAIN] = "chain",
	[SPINDLE_ALG_TREE] = "tree",
	[SPINDLE_ALG_HYBRID] = "hybrid",
};

static struct spindle_schedule schedule[MEMBERS];
static struct spindle_walk walk[MEMBERS];
static struct spindle_hop hop[MEMBERS];
static bool more[MEMBERS];

static int usage(void)
{
	fprintf(stderr, "usage: draw_schedule pipeline|sequential|chain|tree|hybrid MEMBERS BLOCKS [RACK]...\n"
		"\t(at most %d members, at most %d steps)\n", MEMBERS, STEPS);
	return EXIT_FAILURE;
}

static void draw(u32 n, int width)
{
	u64 j, steps = spindle_schedule_steps(&schedule[0]);
	u32 r;

	printf("::\n\n  step");
	for (r = 0; r < n; r++)
		printf("%*u", width, r);
	printf("\n");
	for (j = 0; j < steps; j++) {
		/* Print the padding before a cell, so that no line ends in blanks. */
		int at = 0;

		printf("  %4llu", (unsigned long long)j);
		for (r = 0; r < n; r++) {
			char cell[24];

			at += width;
			if (!more[r] || hop[r].step != j)
				continue;
			snprintf(cell, sizeof(cell), "%u>%u", hop[r].block, hop[r].peer);
			printf("%*s", at, cell);
			at = 0;
			more[r] = spindle_walk_send(&walk[r], &schedule[r], &hop[r]);
		}
		printf("\n");
	}
}

int main(int argc, char **argv)
{
	u32 a = 0, n, k, r;
	u16 rack[MEMBERS];
	int width;

	if (argc < 4)
		return usage();
	while (strcmp(argv[1], name[a]))
		if (++a > SPINDLE_ALG_HYBRID)
			return usage();
	n = strtoul(argv[2], NULL, 0);
	k = strtoul(argv[3], NULL, 0);
	if (!n || n > MEMBERS || !k || k > STEPS || argc > 4 + (int)n)
		return usage();
	for (r = 0; r < n; r++)
		rack[r] = 4 + (int)r < argc ? strtoul(argv[4 + r], NULL, 0) : SPINDLE_NO_RACK;
	for (r = 0; r < n; r++) {
		spindle_schedule_init(&schedule[r], a, n, r, k, rack);
		spindle_walk_begin(&walk[r], &schedule[r]);
		more[r] = spindle_walk_send(&walk[r], &schedule[r], &hop[r]);
	}
	if (spindle_schedule_steps(&schedule[0]) > STEPS)
		return usage();
	/* Two blanks, and the width of the widest cell. */
	width = 2 + snprintf(NULL, 0, "%u>%u", k - 1, n - 1);
	draw(n, width);
	return EXIT_SUCCESS;
}
