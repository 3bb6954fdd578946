// SPDX-License-Identifier: GPL-2.0-only
/*
 * route-perf: how long routers take to install new paths when a link changes (SST paper, section
 * 5.7). The program prints a heading and a row of CSV.
 *
 *	-n N	routers, which are nodes 1 to N of this kernel: 4 to 32 (4)
 *	-t ID	table (1)
 *	-c N	changes of a repetition (40)
 *	-k N	repetitions (5)
 *
 * The row of a node has the costs of its links, as in Documentation/examples/routing.c. Node 1 is a
 * hub with cheap links, and the other nodes are a ring of dear ones. The link from the hub to the
 * last node changes, which is on a path of all other nodes. Each of them has a process that sleeps
 * until a row may have changed, and computes its paths again. The program checks all paths to the
 * last node.
 */
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>
#include <spindle/table.h>

#include "times.h"

#define MAX_NODES	32
#define MAX_CHANGES	10000	/* of all repetitions */
#define MAX_REPS	64
#define NONE		0xffff		/* no path */
#define HUB		2		/* cost of a link of the hub */
#define RING		20
#define LEAST		3U		/* the link that changes has this cost, or one more */
#define PATIENCE_MS	60000

struct row {
	uint64_t change;		/* that this row belongs to; 1: the first one */
	uint16_t cost[MAX_NODES];	/* to node i + 1; 0: no link */
};

/* When each node had its paths, by change. All processes write here. */
static uint64_t (*at)[MAX_NODES];
static int done[2];			/* a pipe: a byte for each of them */

static struct spindle_table t;
static uint32_t nodes = 4, id = 1, changes = 40, reps = 5, me;
static struct row row[MAX_NODES];	/* as they have arrived */
static uint32_t dist[MAX_NODES], before[MAX_NODES];
static uint16_t made_of[MAX_NODES][MAX_NODES];

#define fail(...) do { fprintf(stderr, "route-perf: " __VA_ARGS__); exit(1); } while (0)

static int check(int ret)
{
	char why[256];

	if (ret < 0)
		fail("node %u: %s\n", t.node,
		     spindle_table_call_strerror(&t, ret, why, sizeof(why)));
	return ret;
}

/* ---- paths ---------------------------------------------------------------- */

/* Dijkstra: the nearest node that is not done, again and again. */
static void compute_paths(void)
{
	bool known[MAX_NODES] = { false };
	uint32_t i, n, best;

	for (i = 0; i < nodes; i++) {
		dist[i] = i == me ? 0 : NONE;
		memcpy(made_of[i], row[i].cost, sizeof(made_of[i]));
	}
	for (n = 0; n < nodes; n++) {
		for (best = nodes, i = 0; i < nodes; i++)
			if (!known[i] && (best == nodes || dist[i] < dist[best]))
				best = i;
		known[best] = true;
		for (i = 0; dist[best] != NONE && i < nodes; i++) {
			if (!made_of[best][i] || dist[best] + made_of[best][i] >= dist[i])
				continue;
			dist[i] = dist[best] + made_of[best][i];
			before[i] = best;
		}
	}
}

/* The predicate of the paper: a link of a path has another cost, or another link is now better. */
static bool paths_are_old(void)
{
	uint32_t i, k;

	for (i = 0; i < nodes; i++) {
		for (k = 0; k < nodes; k++) {
			uint16_t cost = row[i].cost[k];

			if (dist[k] != NONE && k != me && before[k] == i && cost != made_of[i][k])
				return true;
			if (cost && dist[i] != NONE && dist[i] + cost < dist[k])
				return true;
		}
	}
	return false;
}

static uint16_t changing(uint64_t change)
{
	return LEAST + change % 2;
}

static void check_paths(uint64_t change)
{
	if (dist[nodes - 1] != (me ? HUB : 0U) + changing(change))
		fail("node %u: change %llu: the path to the last node has length %u\n", me + 1,
		     (unsigned long long)change, dist[nodes - 1]);
}

/* ---- rows ----------------------------------------------------------------- */

static void attach(uint32_t node)
{
	struct spindle_table_attr o = { .node = node, .table = id, .flags = SPINDLE_TABLE_WRITE };
	int err = spindle_table_attach(&t, &o);
	char why[256];

	if (err)
		fail("%s\n", spindle_table_attach_strerror(&t, &o, err, why, sizeof(why)));
	me = node - 1;
}

static void publish(uint64_t change)
{
	struct row own = { .change = change };
	uint32_t i, last = nodes - 1;

	for (i = 0; i < nodes && !me; i++)
		own.cost[i] = !i ? 0 : i == last ? changing(change) : HUB;
	if (me) {
		own.cost[0] = HUB;
		own.cost[me == last ? 1 : me + 1] = RING;
		own.cost[me == 1 ? last : me - 1] = RING;
	}
	row[me] = own;
	check(spindle_cell_put(&t, 1, &own, sizeof(own)));
}

/* Read all rows. Returns whether all have been written. */
static bool collect(void)
{
	uint32_t i, instance;
	bool all = true;

	for (i = 0; i < nodes; i++) {
		check(spindle_table_instance(&t, i + 1, &instance));
		spindle_cell_get(&t, instance, 1, &row[i], sizeof(row[i]), NULL);
		all &= row[i].change != 0;
	}
	return all;
}

/* ---- routers -------------------------------------------------------------- */

static void await_change(void)
{
	if (!check(spindle_table_wait(&t, PATIENCE_MS)))
		fail("node %u: no row has changed\n", me + 1);
}

static void install(uint64_t change)
{
	compute_paths();
	at[change][me] = now();
	check_paths(change);
	if (write(done[1], "", 1) != 1)
		fail("node %u: the pipe\n", me + 1);
}

/* A router but the hub. */
static void route(uint32_t node)
{
	uint64_t change = 0;

	attach(node);
	publish(1);
	while (!collect())
		await_change();
	for (;;) {
		if (row[0].change != change && (!change || paths_are_old())) {
			change = row[0].change;
			install(change);
		}
		await_change();
		collect();
	}
}

static void await_all(void)
{
	uint32_t i;
	char c;

	for (i = 2; i < nodes; i++)
		if (read(done[0], &c, 1) != 1)
			fail("the pipe\n");
}

/* ---- the hub -------------------------------------------------------------- */

static double time_of[3][MAX_CHANGES];	/* until all had paths; until the first one; computing */

static void change_link(uint32_t i)
{
	uint64_t change = i + 2, begin = now(), first = ~0ULL, last = 0;
	uint32_t k;

	publish(change);
	await_all();
	for (k = 1; k < nodes - 1; k++) {
		first = at[change][k] < first ? at[change][k] : first;
		last = at[change][k] > last ? at[change][k] : last;
	}
	time_of[0][i] = last - begin;
	time_of[1][i] = first - begin;
	begin = now();
	for (k = 0; k < 100; k++)
		compute_paths();
	time_of[2][i] = (now() - begin) / 100.0;
	check_paths(change);
}

/* The median of the repetitions' medians, with the least and the most. */
static void print_times(double *ns)
{
	double result[MAX_REPS], middle;
	uint32_t i;

	for (i = 0; i < reps; i++)
		result[i] = median(ns + i * changes, changes);
	middle = median(result, reps);
	printf(",%.3f,%.3f,%.3f", middle / 1000, result[0] / 1000, result[reps - 1] / 1000);
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:t:c:k:")) != -1) {
		switch (c) {
		case 'n':
			nodes = atoi(optarg);
			break;
		case 't':
			id = atoi(optarg);
			break;
		case 'c':
			changes = atoi(optarg);
			break;
		case 'k':
			reps = atoi(optarg);
			break;
		default:
			exit(2);
		}
	}
	if (nodes < 4 || nodes > MAX_NODES || !changes || !reps || reps > MAX_REPS ||
	    changes > MAX_CHANGES / reps) {
		fprintf(stderr, "route-perf: -n 4 to %u, -k 1 to %u, of %u changes in all\n",
			MAX_NODES, MAX_REPS, MAX_CHANGES);
		exit(2);
	}
}

int main(int argc, char **argv)
{
	uint32_t i;

	parse(argc, argv);
	at = mmap(NULL, (changes * reps + 2) * sizeof(*at), PROT_READ | PROT_WRITE,
		  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (at == MAP_FAILED || pipe(done))
		fail("no memory, or no pipe\n");
	for (i = 2; i <= nodes; i++) {
		if (fork())
			continue;
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		route(i);
	}
	attach(1);
	publish(1);
	await_all();
	while (!collect())
		await_change();
	for (i = 0; i < changes * reps; i++)
		change_link(i);
	printf("nodes,time_us,time_us_min,time_us_max,first_us,first_us_min,first_us_max,"
	       "compute_us,compute_us_min,compute_us_max\n%u", nodes);
	for (i = 0; i < 3; i++)
		print_times(time_of[i]);
	printf("\n");
	return 0;
}
