// SPDX-License-Identifier: GPL-2.0-only
/*
 * Loops that drive ends. See loop.h.
 *
 * A loop makes no system call while there is progress.
 */
#include <errno.h>
#include <string.h>

#include "common/bar.h"
#include "common/clock.h"
#include "common/util.h"
#include "count.h"
#include "loop.h"
#include "stop.h"

/* The longest sleep between two looks at signals, and the turns between two drawings of the bar. */
#define NAP_NS		100000000.0
#define BAR_TURNS	1024

static bool reached(const struct perf_loop *l, const struct perf_end *e)
{
	return l->goal == PERF_READY_ALL ? perf_end_ready(e) : perf_end_done(e);
}

/* The progress of the slowest end. */
static double progress(const struct perf_loop *l, uint64_t now)
{
	double least = 1, done;
	uint64_t want, have;
	unsigned int i;
	uint32_t s;

	for (i = 0; i < l->ends; i++) {
		const struct perf_end *e = l->end[i];

		want = 0;
		have = 0;
		for (s = 0; s < e->q.senders; s++) {
			const struct perf_from *f = &e->from[s];

			if (!f->active || f->follows || f->expect == PERF_OPEN)
				continue;
			want += f->expect;
			have += perf_from_num(f);
		}
		if (e->stop)
			done = (double)(now - e->start) / (e->stop - e->start);
		else
			done = want ? (double)have / want : 1;
		if (done < least)
			least = done;
	}
	return least;
}

static int stalled(const struct perf_loop *l)
{
	unsigned int i;
	uint32_t s;

	perf_stop(PERF_FAILED);
	ctl_err("nothing has moved for %u s", l->wait);
	for (i = 0; i < l->ends; i++) {
		const struct perf_end *e = l->end[i];

		if (reached(l, e))
			continue;
		if (l->goal == PERF_READY_ALL) {
			perf_join_explain(e);
			break;
		}
		if (e->durable && perf_durable_left(e->durable))
			ctl_err("node %u, subgroup %u: %llu messages are not durable", e->q.node,
				e->q.subgroup, (unsigned long long)perf_durable_left(e->durable));
		for (s = 0; s < e->q.senders; s++) {
			const struct perf_from *f = &e->from[s];

			if (!f->active || perf_from_through(f, e->rep))
				continue;
			ctl_err("node %u, subgroup %u: of node %u only %llu messages came",
				e->q.node, e->q.subgroup, perf_from_node(e, f),
				(unsigned long long)perf_from_num(f));
		}
	}
	return -ETIMEDOUT;
}

/*
 * There was no progress: sleep until there can be some, or keep looking if that will be soon.
 * Return: whether an end rests on purpose, and will continue without an event.
 */
static bool rest(struct perf_loop *l, uint64_t now, uint64_t idle)
{
	uint64_t nap = now + perf_ticks(NAP_NS), wake = UINT64_MAX;
	struct timespec ts = { 0, 0 };
	unsigned int i;
	uint64_t t;

	if (now - idle < l->spin)
		return false;
	for (i = 0; i < l->ends; i++) {
		short events = perf_end_events(l->end[i]);

		l->pfd[i].fd = events ? spindle_fd(&l->end[i]->q) : -1;
		l->pfd[i].events = events;
		t = perf_end_wake(l->end[i]);
		if (t < wake)
			wake = t;
	}
	if (wake <= now + l->spin)
		return true;
	ts.tv_nsec = perf_ns((wake < nap ? wake : nap) - now);
	perf_count_poll();
	ppoll(l->pfd, l->ends, &ts, NULL);
	return wake != UINT64_MAX;
}

static int drive(struct perf_loop *l)
{
	uint64_t now, idle = 0;
	unsigned int i, there, turns = 0;
	bool moved;
	int rc;

	for (;;) {
		moved = false;
		there = 0;
		for (i = 0; i < l->ends; i++) {
			rc = perf_end_step(l->end[i]);
			if (rc < 0)
				return -EIO;
			moved |= rc;
			there += reached(l, l->end[i]);
		}
		if (there == l->ends)
			return 0;
		if (perf_stopped())
			return -EINTR;
		now = perf_now();
		if (l->shows && !(++turns % BAR_TURNS && moved))
			ctl_bar_show(l->goal == PERF_READY_ALL ? 0 : progress(l, now), now);
		if (moved || !idle)
			idle = now;
		if (moved)
			continue;
		if (now - idle > perf_ticks(l->wait * 1e9))
			return stalled(l);
		if (rest(l, now, idle))
			idle = now;
	}
}

static void *run(void *arg)
{
	struct perf_loop *l = arg;
	uint64_t now;
	unsigned int i;

	if (l->gate) {
		pthread_mutex_lock(l->gate);
		pthread_mutex_unlock(l->gate);
	}
	now = perf_now();
	if (l->goal == PERF_DONE_ALL)
		for (i = 0; i < l->ends; i++)
			perf_end_start(l->end[i], now);
	return (void *)(long)drive(l);
}

static int run_threads(struct perf_loop *loop, unsigned int loops)
{
	pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;
	unsigned int i, made = 0;
	int rc = 0, err = 0;
	void *ret;

	/* The threads begin when all of them exist. */
	pthread_mutex_lock(&gate);
	while (made < loops && !err) {
		loop[made].gate = &gate;
		err = pthread_create(&loop[made].thread, NULL, run, &loop[made]);
		made += !err;
	}
	if (err) {
		ctl_err("a thread for each node: %s", strerror(err));
		perf_stop(PERF_FAILED);
		rc = -err;
	}
	pthread_mutex_unlock(&gate);
	for (i = 0; i < made; i++) {
		pthread_join(loop[i].thread, &ret);
		if (ret && (!rc || rc == -EINTR))
			rc = (long)ret;
	}
	return rc;
}

/**
 * perf_loops_run() - drive all ends of all loops to a goal
 * @loop: loops
 * @loops: entries of @loop; a single loop needs no thread
 * @goal: the goal; with PERF_DONE_ALL the ends begin to send
 *
 * Return: 0 or -errno, after a message; -EINTR: interrupted
 */
int perf_loops_run(struct perf_loop *loop, unsigned int loops, enum perf_goal goal)
{
	unsigned int i;

	for (i = 0; i < loops; i++) {
		loop[i].goal = goal;
		loop[i].gate = NULL;
	}
	return loops == 1 ? (int)(long)run(&loop[0]) : run_threads(loop, loops);
}
