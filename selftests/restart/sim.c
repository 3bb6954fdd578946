// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random schedules of restarts, the same for the same seed.
 *
 *	sim [-s SEED] [-n SCHEDULES] [-m FAILURES] [-v]
 */
#include <getopt.h>
#include <stdarg.h>
#include <string.h>

#include "sim.h"
#include "tap.h"

void sim_fail(struct sim *sim, const char *fmt, ...)
{
	va_list ap;

	if (sim->failure[0])
		return;
	va_start(ap, fmt);
	vsnprintf(sim->failure, sizeof(sim->failure), fmt, ap);
	va_end(ap);
}

static void forget_messages(struct sim *sim)
{
	while (sim->messages)
		free(sim->message[--sim->messages].bytes);
}

static void clear_nodes(struct sim *sim)
{
	u32 j, s;

	for (j = 0; j < NODES; j++) {
		struct node *node = &sim->node[j];

		node->votes_len = 0;
		node->hint = 0;
		memset(node->voter, 0, offsetof(struct spindle_restart_voter, accepted));
		node->group = NOWHERE;
		for (s = 0; s < SUBS; s++) {
			node->record[s].n = 0;
			node->record[s].known = false;
			node->log[s].len = 0;
			node->log[s].damaged = false;
			node->view[s] = NOWHERE;
			node->established[s] = false;
			node->blind[s] = false;
		}
	}
}

static void choose_config(struct sim *sim)
{
	struct rng *rng = &sim->rng;
	u32 all, s;

	sim->nodes = 3 + rng_below(rng, 3);
	sim->subs = 1 + rng_chance(rng, 35);
	all = (1U << sim->nodes) - 1;
	for (s = 0; s < SUBS; s++) {
		do
			sim->config[s] = rng_chance(rng, 60) ? all : rng_below(rng, all + 1);
		while (__builtin_popcount(sim->config[s]) < 2);
		sim->majority[s] = rng_chance(rng, 40);
	}
	sim->copies = 1 + rng_chance(rng, 50);
	sim->range_sent = rng_chance(rng, 50);
	sim->chance_lost = rng_chance(rng, 50) ? 0 : rng_below(rng, 30);
	sim->chance_sync_crash = rng_chance(rng, 50) ? 0 : rng_below(rng, 15);
}

static void begin_schedule(struct sim *sim, u64 seed)
{
	u32 i, s;

	forget_messages(sim);
	clear_nodes(sim);
	sim->seed = seed;
	sim->rng = (struct rng){ .state = rng_mix(seed) };
	sim->failure[0] = 0;
	sim->groups = 0;
	sim->attempts = 0;
	sim->changes = 0;
	sim->crashes = 0;
	sim->damages = 0;
	sim->too_many = false;
	for (i = 0; i < ATTEMPTS; i++)
		sim->attempt[i].live = false;
	for (s = 0; s < SUBS; s++) {
		sim->views[s] = 0;
		sim->shown_len[s] = 0;
		sim->shown_era[s] = 1;
	}
	choose_config(sim);
	s = sim->chance_sync_crash;
	sim->chance_sync_crash = 0;
	world_begin(sim);
	sim->chance_sync_crash = s;
}

/* One log is damaged at most, and that is found before the first attempt. */
static void damage(struct sim *sim)
{
	u32 j = rng_below(&sim->rng, sim->nodes), s = rng_below(&sim->rng, sim->subs);
	struct node_log *log = &sim->node[j].log[s];

	if (sim->damages || sim->attempts || world_runs(sim, j) || !log->len)
		return;
	log->damaged = true;
	sim->damages++;
	SAY(sim, "the log of node %u in subgroup %u is damaged at %u\n", j, s, log->len - 1);
}

static void crash_all(struct sim *sim)
{
	u32 j;

	SAY(sim, "all nodes crash\n");
	for (j = 0; j < sim->nodes; j++)
		if (world_runs(sim, j))
			world_crash(sim, j);
	if (rng_chance(&sim->rng, 30))
		damage(sim);
}

static void node_step(struct sim *sim)
{
	u32 j = rng_below(&sim->rng, sim->nodes), s = rng_below(&sim->rng, sim->subs);
	u32 dice = rng_below(&sim->rng, 100);

	if (dice < 45)
		world_persist(sim, j, s);
	else if (dice < 65)
		world_sync_record(sim, j, s);
	else if (dice < 72)
		world_see(sim, j, s);
	else
		world_poll(sim, j, s);
}

static void step(struct sim *sim, u32 calm)
{
	u32 dice = rng_below(&sim->rng, 1000), j = rng_below(&sim->rng, sim->nodes);

	if (dice < 450) {
		node_step(sim);
	} else if (dice < 490) {
		world_send(sim);
	} else if (dice < 540) {
		world_change(sim);
	} else if (dice < 800) {
		attempt_deliver(sim);
	} else if (dice < 900) {
		attempt_consider(sim);
	} else if (dice < 950) {
		if (!world_runs(sim, j))
			attempt_begin(sim, j);
	} else if (dice < 960) {
		attempt_withdraw(sim);
	} else if (dice < 960 + 30 / calm) {
		if (rng_chance(&sim->rng, 50) || world_runs(sim, j)) {
			SAY(sim, "node %u crashes\n", j);
			world_crash(sim, j);
		}
	} else if (dice < 960 + 40 / calm) {
		crash_all(sim);
	}
	sim->steps++;
}

static bool run(struct sim *sim, u64 seed)
{
	u32 i, n, calm;

	begin_schedule(sim, seed);
	n = 60 + rng_below(&sim->rng, 400);
	calm = 1 + rng_below(&sim->rng, 4);
	for (i = 0; i < n && !sim->failure[0]; i++)
		step(sim, calm);
	if (!sim->failure[0])
		attempt_finish(sim);
	if (sim->failure[0])
		printf("seed %llu step %u: %s\n", (unsigned long long)seed, i, sim->failure);
	return !sim->failure[0];
}

static void prepare(struct sim *sim)
{
	u32 j;

	sim->buf = malloc(SPINDLE_RESTART_BYTES);
	sim->scratch = malloc(sizeof(*sim->scratch));
	sim->own = malloc(sizeof(*sim->own));
	sim->waits = malloc(sizeof(*sim->waits));
	sim->force = malloc(sizeof(*sim->force));
	sim->again = malloc(SPINDLE_RESTART_BYTES);
	for (j = 0; j < NODES; j++)
		sim->node[j].voter = calloc(1, sizeof(*sim->node[j].voter));
}

static void release(struct sim *sim)
{
	u32 i, j;

	forget_messages(sim);
	for (j = 0; j < NODES; j++) {
		free(sim->node[j].voter);
		free(sim->node[j].votes);
	}
	for (i = 0; i < ATTEMPTS; i++) {
		free(sim->attempt[i].answer);
		for (j = 0; j < NODES; j++)
			free(sim->attempt[i].report[j]);
	}
	free(sim->buf);
	free(sim->scratch);
	free(sim->own);
	free(sim->waits);
	free(sim->force);
	free(sim->again);
	free(sim);
}

static u64 number(const char *text)
{
	char *end;
	u64 n = strtoull(text, &end, 0);

	if (*end || end == text || text[0] == '-') {
		fprintf(stderr, "'%s' is no number\n", text);
		exit(2);
	}
	return n;
}

int main(int argc, char **argv)
{
	struct sim *sim = calloc(1, sizeof(*sim));
	u64 seed = 1, n = 1000, most = 10, i, bad = 0;
	int c;

	while ((c = getopt(argc, argv, "s:n:m:v")) != -1) {
		if (c == 's')
			seed = number(optarg);
		else if (c == 'n')
			n = number(optarg);
		else if (c == 'm')
			most = number(optarg);
		else if (c == 'v')
			sim->verbose = true;
		else
			return 2;
	}
	prepare(sim);
	for (i = 0; i < n && bad < most; i++)
		bad += !run(sim, seed + i);
	printf("# %llu views, %llu crashes, %llu restarts stand, %llu proposals made again\n",
	       (unsigned long long)sim->n_views, (unsigned long long)sim->n_crashes,
	       (unsigned long long)sim->n_stand, (unsigned long long)sim->n_again);
	printf("# %llu times a node hears that an attempt was withdrawn\n",
	       (unsigned long long)sim->n_withdrawn);
	printf("# %llu times a restart could be forced, and %llu subgroups would lose messages\n",
	       (unsigned long long)sim->n_forced, (unsigned long long)sim->n_lost);
	printf("# %llu times more is durable, %llu requests refused, %llu groups stuck\n",
	       (unsigned long long)sim->n_durable, (unsigned long long)sim->n_refused,
	       (unsigned long long)sim->n_stuck);
	ok(!bad && n, "restarts in %llu schedules from seed %llu on", (unsigned long long)i,
	   (unsigned long long)seed);
	release(sim);
	return tap_end();
}
