/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Loops that drive ends until all of them are where they should be.
 *
 * One loop drives all ends of this process by default: on one processor threads only add
 * switches. Else each node has a thread.
 */
#ifndef SPINDLE_PERF_LOOP_H
#define SPINDLE_PERF_LOOP_H

#include <poll.h>
#include <pthread.h>

#include "perf-end.h"

/**
 * enum perf_goal - where ends should be
 * @PERF_READY_ALL: the repetition may begin
 * @PERF_DONE_ALL: it is over
 */
enum perf_goal {
	PERF_READY_ALL,
	PERF_DONE_ALL
};

/**
 * struct perf_loop - some ends, and who drives them
 * @end: ends
 * @ends: entries of @end
 * @pfd: one for each
 * @spin: ticks without work before it sleeps
 * @wait: seconds without work after which something is wrong
 * @goal: where to
 * @gate: closed until all threads are there, or NULL
 * @shows: it draws the progress
 * @own: times from sending to own delivery
 * @slowest: times until the last end has it
 * @late: times from when messages were due until they were sent
 * @begun: ticks when it started
 * @thread: its thread
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
