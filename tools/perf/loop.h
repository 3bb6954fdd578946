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
 * @PERF_READY_ALL: the repetition may begin
 * @PERF_DONE_ALL: the repetition is over
 */
enum perf_goal {
	PERF_READY_ALL,
	PERF_DONE_ALL
};

/**
 * struct perf_loop - a loop and the ends that it drives
 * @end: ends
 * @ends: entries of @end
 * @pfd: one entry for each end
 * @spin: ticks without progress before the loop sleeps
 * @wait: seconds without progress after which the loop gives up
 * @goal: the goal
 * @gate: locked until all threads exist, or NULL
 * @shows: the loop draws the progress
 * @own: times from sending to own delivery
 * @slowest: times until the last end has the message
 * @late: times from when messages were due until they were sent
 * @begun: ticks when the loop started
 * @thread: thread of the loop
 */
struct perf_loop {
	struct perf_end **end;
	unsigned int ends;
	struct pollfd *pfd;
	uint64_t spin;
	unsigned int wait;
	enum perf_goal goal;
	pthread_mutex_t *gate;
	bool shows;
	struct perf_hist own;
	struct perf_hist slowest;
	struct perf_hist late;
	uint64_t begun;
	pthread_t thread;
};

int perf_loops_run(struct perf_loop *loop, unsigned int loops, enum perf_goal goal);

#endif /* SPINDLE_PERF_LOOP_H */
