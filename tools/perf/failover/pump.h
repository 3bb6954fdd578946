/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pump: some ends of subgroups that send at a steady rate, read all that comes, and note
 * when nothing came.
 *
 * Unlike the loops of perf-loop.h it goes on whatever the members are: there is no first and
 * no last message, and nothing is said among them.
 */
#ifndef SPINDLE_PERF_PUMP_H
#define SPINDLE_PERF_PUMP_H

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <spindle/spindle.h>

#include "perf-gap.h"

/**
 * struct perf_pump_load - what ends send
 * @rate: messages per second; 0: none
 * @size: bytes of a message
 */
struct perf_pump_load {
	uint64_t rate;
	uint32_t size;
};

/**
 * struct perf_pump_end - an end
 * @q: its attachment
 * @open: it is attached
 * @load: what it sends
 * @ended: why nothing comes any more, a negative errno; 0: it goes on
 * @start: ticks when it was due to send first
 * @sent: messages that it has sent
 * @blocked: it had no room for the next one
 * @delivered: messages that came
 * @last: ticks when some came last; 0: none did
 * @vid: view that it is in
 * @views: views that have begun here
 * @resumed: ticks when the first message of @vid came; 0: none did
 * @gaps: when nothing came
 */
struct perf_pump_end {
	struct spindle_queue q;
	bool open;
	const struct perf_pump_load *load;
	int ended;
	uint64_t start;
	uint64_t sent;
	bool blocked;
	uint64_t delivered;
	uint64_t last;
	uint64_t vid;
	uint64_t views;
	uint64_t resumed;
	struct perf_gap_log gaps;
};

/**
 * struct perf_pump - ends, and who drives them
 * @end: ends
 * @ends: entries of @end
 * @pfd: one for each
 * @lock: of all that is in the ends, while there is a thread
 * @thread: it
 * @runs: it has been started
 * @stop: it is to end
 */
struct perf_pump {
	struct perf_pump_end *end;
	unsigned int ends;
	struct pollfd *pfd;
	pthread_mutex_t lock;
	pthread_t thread;
	bool runs;
	bool stop;
};

int perf_pump_attach(struct perf_pump_end *e, const struct perf_pump_load *load,
		     uint32_t node, uint32_t subgroup, bool sends);
int perf_pump_open(struct perf_pump_end *e, const struct perf_pump_load *load, uint32_t node,
		   uint32_t subgroup);
void perf_pump_init(struct perf_pump *p, unsigned int ends);
void perf_pump_turn(struct perf_pump *p);
struct perf_gap perf_pump_sort(struct perf_pump *p, unsigned int i, uint64_t from, uint64_t to,
			       struct perf_hist *quiet);
void perf_pump_forget(struct perf_pump *p);
bool perf_pump_after(struct perf_pump *p, uint64_t time);
const struct perf_pump_end *perf_pump_dead(struct perf_pump *p);
int perf_pump_start(struct perf_pump *p);
void perf_pump_stop(struct perf_pump *p);
void perf_pump_end(struct perf_pump *p);

#endif /* SPINDLE_PERF_PUMP_H */
