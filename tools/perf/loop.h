/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loops that drive ends until all of them have reached a goal.
 *
 * By default one loop drives all ends of this process, because threads on one processor only add
 * context switches. With "threads", each node has a thread.
 */
#ifndef SPINDLE_PERF_LOOP_H
#define SPINDLE_PERF_LOOP_H

#include <poll.h>
#include <pthread.h>

#include "end.h"

/**
 * enum perf_goal - a goal of all ends
 */
enum perf_goal {
	/** @PERF_READY_ALL: the repetition may begin */
	PERF_READY_ALL,
	/** @PERF_DONE_ALL: the repetition is over */
	PERF_DONE_ALL
};

/**
 * struct perf_loop - a loop and the ends that it drives
 */
struct perf_loop {
	/** @end: ends */
	struct perf_end **end;
	/** @ends: entries of @end */
	unsigned int ends;
	/** @pfd: one entry for each end */
	struct pollfd *pfd;
	/** @spin: ticks without progress before the loop sleeps */
	uint64_t spin;
	/** @wait: seconds without progress after which the loop gives up */
	unsigned int wait;
	/** @goal: the goal */
	enum perf_goal goal;
	/** @gate: locked until all threads exist, or NULL */
	pthread_mutex_t *gate;
	/** @shows: the loop draws the progress */
	bool shows;
	/** @own: times from sending to own delivery */
	struct perf_hist own;
	/** @slowest: times until the last end has the message */
	struct perf_hist slowest;
	/** @late: times from when messages were due until they were sent */
	struct perf_hist late;
	/** @thread: thread of the loop */
	pthread_t thread;
};

int perf_loops_run(struct perf_loop *loop, unsigned int loops, enum perf_goal goal);

#endif /* SPINDLE_PERF_LOOP_H */
