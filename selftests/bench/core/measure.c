// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measurements. See measure.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#include "clock.h"
#include "measure.h"

#define MAX_REPS	100
#define MIN_ROUNDS	4
#define IDLE_PASSES	64	/* of an interval */

/* Disturbed repetitions are repeated, at most so many times as there are repetitions. */
#define PATIENCE	3

static long preemptions(void)
{
	struct rusage usage;

	getrusage(RUSAGE_SELF, &usage);
	return usage.ru_nivcsw;
}

/**
 * measure_repeat() - measure something in repetitions, with as few disturbed ones as possible
 * @once: makes a repetition; returns its nanoseconds
 * @ctx: for @once
 * @effort: how much of a measurement
 *
 * Return: of the repetitions
 */
struct spread measure_repeat(double (*once)(void *ctx, const struct effort *effort), void *ctx,
			     const struct effort *effort)
{
	unsigned int n = 0, tries;
	double ns[MAX_REPS];

	for (tries = 0; n < effort->reps; tries++) {
		long before = preemptions();

		ns[n] = once(ctx, effort);
		n += preemptions() == before || tries >= PATIENCE * effort->reps;
	}
	return bench_spread(ns, effort->reps);
}

/* Returns true if no other thread had the processor. */
static bool repeat(struct cluster *c, enum cluster_look look, u64 ns)
{
	u64 begin = clock_wall();
	long before = preemptions();

	cluster_clear(c);
	do {
		cluster_round(c, look);
	} while (clock_wall() - begin < ns || c->tally.rounds < MIN_ROUNDS);
	return preemptions() == before;
}

/* Make the repetitions, with as few disturbed ones as possible. */
static unsigned int repeat_all(struct cluster *c, enum cluster_look look,
			       const struct effort *effort, struct cluster_tally *tally)
{
	unsigned int n = 0, disturbed = 0, i;

	for (i = 0; n < effort->reps; i++) {
		bool quiet = repeat(c, look, effort->rep_ns);

		if (!quiet && i < PATIENCE * effort->reps)
			continue;
		disturbed += !quiet;
		tally[n++] = cluster_tally(c);
	}
	return disturbed;
}

/* Go through all rings twice, so that no memory is touched for the first time later. */
static void warm_up(struct cluster *c)
{
	u64 laps = 2 * (u64)c->view.subgroup[0].window;
	u32 i;

	for (i = 0; i < laps / c->conf.batch + 1; i++)
		cluster_round(c, LOOK_NOT);
}

static double per(double ticks, double n)
{
	return n > 0 ? ticks * bench_clock.ns / n : 0;
}

static void passes(struct cluster *c, const struct effort *effort, struct traffic *t)
{
	double engine[MAX_REPS], pass[MAX_REPS], push[MAX_REPS], wire[MAX_REPS];
	u32 n = c->conf.members, senders = c->conf.senders == CLUSTER_ALL ? n : 1;
	static struct cluster_tally tally[MAX_REPS];
	double sent = 0, rounds = 0;
	unsigned int i;

	t->disturbed += repeat_all(c, LOOK_TIME, effort, tally);
	for (i = 0; i < effort->reps; i++) {
		const struct cluster_tally *a = &tally[i];

		engine[i] = per(a->run + a->push, a->delivered);
		pass[i] = per(a->run, (double)a->rounds * n);
		push[i] = per(a->push, (double)a->sent * (n - 1));
		wire[i] = per(a->wire, (double)a->sent * (n - 1));
		sent += a->sent;
		rounds += a->rounds;
	}
	t->batch = sent / rounds / senders;
	t->engine = bench_spread(engine, effort->reps);
	t->pass = bench_spread(pass, effort->reps).median;
	t->push = bench_spread(push, effort->reps).median;
	t->wire = bench_spread(wire, effort->reps).median;
}

static void stages(struct cluster *c, const struct effort *effort, struct traffic *t)
{
	double send[MAX_REPS], receive[MAX_REPS], deliver[MAX_REPS], release[MAX_REPS];
	static struct cluster_tally tally[MAX_REPS];
	u32 n = c->conf.members;
	unsigned int i;

	t->disturbed += repeat_all(c, LOOK_STAGES, effort, tally);
	for (i = 0; i < effort->reps; i++) {
		const struct cluster_tally *a = &tally[i];
		const int64_t *stage = a->stage;

		send[i] = per(stage[STAGE_SEND], a->sent);
		receive[i] = per(stage[STAGE_RECEIVE], (double)a->sent * (n - 1));
		deliver[i] = per(stage[STAGE_DELIVER], a->delivered);
		release[i] = per(stage[STAGE_RELEASE] + stage[STAGE_PUBLISH], a->delivered);
	}
	t->send = bench_spread(send, effort->reps).median;
	t->receive = bench_spread(receive, effort->reps).median;
	t->deliver = bench_spread(deliver, effort->reps).median;
	t->release = bench_spread(release, effort->reps).median;
}

/* Measure once, because counts vary less than times. */
static void counts(struct cluster *c, const struct effort *effort, struct traffic *t)
{
	struct cluster_tally tally;
	u64 value[COUNTERS];
	int i;

	counters_reset();
	repeat(c, LOOK_COUNT, effort->rep_ns);
	tally = cluster_tally(c);
	t->counted = counters_read(value);
	for (i = 0; i < COUNTERS; i++)
		t->count[i] = (double)value[i] / tally.delivered;
}

/**
 * measure_traffic() - measure the cost of messages
 * @conf: of what cluster
 * @effort: how much of a measurement
 * @t: out
 *
 * Return: NULL, or what is wrong with the cluster
 */
const char *measure_traffic(const struct cluster_conf *conf, const struct effort *effort,
			    struct traffic *t)
{
	struct cluster *c = cluster_open(conf);
	const char *wrong;

	memset(t, 0, sizeof(*t));
	warm_up(c);
	passes(c, effort, t);
	stages(c, effort, t);
	if (effort->counters)
		counts(c, effort, t);
	wrong = cluster_finish(c);
	t->limits = limits_measure(conf->size, conf->batch, c->view.subgroup[0].window,
				   c->view.subgroup[0].ring);
	cluster_close(c);
	return wrong;
}

static double repeat_idle(void *ctx, const struct effort *effort)
{
	u64 begin = clock_wall(), n = 0, last;
	int64_t ticks = 0;
	unsigned int j;

	do {
		last = clock_ticks();
		for (j = 0; j < IDLE_PASSES; j++)
			cluster_idle(ctx);
		ticks += clock_lap(&last);
		n += IDLE_PASSES;
	} while (clock_wall() - begin < effort->rep_ns);
	return per(ticks, n);
}

/**
 * measure_idle() - measure the cost of a pass without work
 * @conf: of what cluster
 * @effort: how much of a measurement
 *
 * Return: nanoseconds of a pass over all subgroups
 */
struct spread measure_idle(const struct cluster_conf *conf, const struct effort *effort)
{
	struct cluster *c = cluster_open(conf);
	struct spread s = measure_repeat(repeat_idle, c, effort);

	cluster_close(c);
	return s;
}
