// SPDX-License-Identifier: MIT
/*
 * Link-state routing, as OSPF does it (section 5.7 of the SST paper). The row of a node has the
 * costs of its links. Each node computes the shortest paths to all others, and again when a link of
 * its paths changes, or when another link gets so cheap that a path changes.
 *
 *	cc routing.c $(pkg-config --cflags --libs spindle) -o routing
 *	./routing NODE TABLE FILE
 *
 * One process for each node of the file, in a table that this program has not used before. Lines of
 * the file: "link A B COST", and "change A B COST" for what happens when all have computed their
 * paths. The checker computes the same from the file in another way.
 */
#include <string.h>
#include "app.h"

#define CELL	6
#define NODES	16
#define NONE	0xffff		/* no path */

/* A row. All links of a phase are there with its number, because a cell arrives as a whole. */
struct row {
	uint64_t phase;
	uint16_t cost[NODES];	/* to node i + 1; 0: no link */
};

/* Phases: the links of the file; all have checked their paths; the changes. */
enum { FIRST = 1, CHECKED, CHANGED };

static struct spindle_table t;
static struct spindle_loop loop;
static struct row row[NODES];		/* by node - 1, as they have arrived */
/* Costs of the file: before and after the changes. */
static uint16_t wanted[2][NODES][NODES];
static bool used[NODES];		/* nodes of the file */
static uint32_t me, computed;

/* The own paths: lengths, the node before the last on each, and the costs they were made of. */
static uint32_t dist[NODES], before[NODES];
static uint16_t made_of[NODES][NODES];

static void set_cost(unsigned int from, unsigned int a, unsigned int b, uint16_t cost)
{
	for (; from < 2; from++) {
		wanted[from][a - 1][b - 1] = cost;
		wanted[from][b - 1][a - 1] = cost;
	}
	used[a - 1] = true;
	used[b - 1] = true;
}

static void read_file(const char *name)
{
	unsigned int a, b, cost;
	FILE *f = fopen(name, "r");
	char word[16];

	if (!f) {
		perror(name);
		exit(1);
	}
	while (fscanf(f, "%15s %u %u %u", word, &a, &b, &cost) == 4) {
		if (!a || a > NODES || !b || b > NODES || cost > 1000)
			app_bad(&t, "a line of the file");
		set_cost(!strcmp(word, "change"), a, b, (uint16_t)cost);
	}
	fclose(f);
}

static void publish(uint64_t phase)
{
	struct row own = { .phase = phase };

	memcpy(own.cost, wanted[phase >= CHANGED][me], sizeof(own.cost));
	app_check(&t, spindle_cell_put(&t, CELL, &own, sizeof(own)));
}

/* ---- what the loop runs ------------------------------------------------- */

/* All tests of a look see the same rows. A row that is just being written stays as it was. */
static bool collect(void *ctx)
{
	uint32_t i, instance;

	(void)ctx;
	app_check(&t, spindle_table_seats(&t, NULL, 0));
	for (i = 0; i < NODES; i++)
		if (used[i] && !spindle_table_instance(&t, i + 1, &instance))
			spindle_cell_get(&t, instance, CELL, &row[i], sizeof(row[i]), NULL);
	return false;
}

/* Is this link, as it is now, a reason to compute the paths again? */
static bool changes_paths(uint32_t i, uint32_t k)
{
	uint16_t cost = row[i].cost[k];

	if (dist[k] != NONE && k != me && before[k] == i && cost != made_of[i][k])
		return true;
	return cost && dist[i] != NONE && dist[i] + cost < dist[k];
}

static bool paths_are_old(void *ctx)
{
	uint32_t i, k;

	(void)ctx;
	for (i = 0; i < NODES; i++)
		for (k = 0; k < NODES; k++)
			if (changes_paths(i, k))
				return true;
	return false;
}

/* Dijkstra: the nearest node that is not done, again and again. */
static void compute_paths(void *ctx)
{
	bool done[NODES] = { false };
	uint32_t i, n, best;

	(void)ctx;
	for (i = 0; i < NODES; i++) {
		dist[i] = i == me ? 0 : NONE;
		memcpy(made_of[i], row[i].cost, sizeof(made_of[i]));
	}
	for (n = 0; n < NODES; n++) {
		for (best = NODES, i = 0; i < NODES; i++)
			if (!done[i] && (best == NODES || dist[i] < dist[best]))
				best = i;
		done[best] = true;
		for (i = 0; dist[best] != NONE && i < NODES; i++) {
			if (!made_of[best][i] || dist[best] + made_of[best][i] >= dist[i])
				continue;
			dist[i] = dist[best] + made_of[best][i];
			before[i] = best;
		}
	}
	computed++;
}

static bool all_are_there(void *ctx)
{
	const uint64_t *phase = ctx;
	uint32_t i;

	for (i = 0; i < NODES; i++)
		if (used[i] && row[i].phase < *phase)
			return false;
	return true;
}

static void stop(void *ctx)
{
	(void)ctx;
	spindle_loop_stop(&loop, 0);
}

/* ---- the checker -------------------------------------------------------- */

/* Floyd and Warshall, over the links of the file. */
static void check_paths(bool changed)
{
	uint32_t d[NODES][NODES], i, k, via;

	for (i = 0; i < NODES; i++)
		for (k = 0; k < NODES; k++)
			d[i][k] = i == k ? 0 : wanted[changed][i][k] ? wanted[changed][i][k] : NONE;
	for (via = 0; via < NODES; via++)
		for (i = 0; i < NODES; i++)
			for (k = 0; k < NODES; k++)
				if (d[i][via] + d[via][k] < d[i][k])
					d[i][k] = d[i][via] + d[via][k];
	for (i = 0; i < NODES; i++) {
		if (dist[i] != d[me][i])
			app_bad(&t, "the length of a path is not that of the reference");
		if (i != me && dist[i] != NONE &&
		    dist[before[i]] + wanted[changed][before[i]][i] != dist[i])
			app_bad(&t, "a path uses a link that is not there");
	}
}

static void run_phase(uint64_t phase)
{
	static const spindle_act_fn compute = compute_paths, end = stop;
	struct spindle_watch w[] = {
		{ .test = collect, .act = &end, .acts = 1 },
		{ .test = paths_are_old, .act = &compute, .acts = 1 },
		{ .test = all_are_there, .act = &end, .acts = 1, .ctx = &phase },
	};
	int i, ret;

	publish(phase);
	for (i = 0; i < 3; i++)
		app_check(&t, spindle_loop_add(&loop, &w[i]));
	ret = spindle_loop_run(&loop, &t, TIMEOUT);
	for (i = 0; i < 3; i++)
		app_check(&t, spindle_loop_remove(&loop, &w[i]));
	app_check(&t, ret);
}

int main(int argc, char **argv)
{
	app_attach(&t, argc, argv, 0);
	read_file(argv[3]);
	app_need_empty(&t, CELL);
	me = t.node - 1;
	if (me >= NODES || !used[me])
		app_bad(&t, "the file has no link of this node");
	compute_paths(NULL);
	run_phase(FIRST);
	check_paths(false);
	run_phase(CHECKED);
	run_phase(CHANGED);
	check_paths(true);
	printf("node %u: all paths are right, computed %u times\n", t.node, computed);
	spindle_table_detach(&t);
	return 0;
}
