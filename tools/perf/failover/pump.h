/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A pump: ends of subgroups that read all messages, send at a steady rate, and note the gaps
 * between deliveries.
 *
 * Unlike the loops of perf/loop.h, a pump continues when the members change. It has no first and no
 * last message, and its ends exchange no control messages.
 *
 * The thread that reads only notes the gaps. They are sorted later, when the begin and the end of
 * each change of the view are known.
 */
#ifndef SPINDLE_PERF_FAILOVER_PUMP_H
#define SPINDLE_PERF_FAILOVER_PUMP_H

#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <spindle/spindle.h>

#include "perf/hist.h"

/**
 * struct perf_gap_note - a gap
 */
struct perf_gap_note {
	/** @end: ticks of the delivery behind the gap */
	uint64_t end;
	/** @length: ticks since the delivery in front of the gap */
	uint64_t length;
};

/**
 * struct perf_gap_log - gaps of a reader, in order
 *
 * The memory of a log is not that of common/util.h, because that is for one thread only.
 */
struct perf_gap_log {
	/** @note: gaps */
	struct perf_gap_note *note;
	/** @notes: entries of @note */
	size_t notes;
	/** @room: entries that fit */
	size_t room;
	/** @lost: gaps for which there was no memory */
	uint64_t lost;
};

/**
 * struct perf_gap - the gaps around a change
 */
struct perf_gap {
	/** @count: number of gaps */
	uint64_t count;
	/** @longest: ticks of the longest one */
	uint64_t longest;
};

/**
 * struct perf_pump_load - what the ends send
 */
struct perf_pump_load {
	/** @rate: messages per second; 0: none */
	uint64_t rate;
	/** @size: bytes of a message */
	uint32_t size;
};

/**
 * struct perf_pump_end - an end
 */
struct perf_pump_end {
	/** @q: attachment of the end */
	struct spindle_queue q;
	/** @open: the end is attached */
	bool open;
	/** @load: what the end sends */
	const struct perf_pump_load *load;
	/** @ended: why the end has stopped, a negative errno; 0: it continues */
	int ended;
	/** @start: ticks when the first message was due */
	uint64_t start;
	/** @sent: messages that the end has sent */
	uint64_t sent;
	/** @blocked: there was no room for the next message */
	bool blocked;
	/** @delivered: messages that were delivered */
	uint64_t delivered;
	/** @last: ticks of the last delivery; 0: there was none */
	uint64_t last;
	/** @vid: view that the end is in */
	uint64_t vid;
	/** @resumed: ticks of the first delivery in @vid; 0: there was none */
	uint64_t resumed;
	/** @gaps: gaps between deliveries */
	struct perf_gap_log gaps;
};

/**
 * struct perf_pump - ends and the thread that drives them
 */
struct perf_pump {
	/** @end: ends */
	struct perf_pump_end *end;
	/** @ends: entries of @end */
	unsigned int ends;
	/** @pfd: one entry for each end */
	struct pollfd *pfd;
	/** @lock: protects the ends while the thread runs */
	pthread_mutex_t lock;
	/** @thread: the thread */
	pthread_t thread;
	/** @runs: the thread has been started */
	bool runs;
	/** @stop: the thread has to end */
	bool stop;
};

int perf_pump_attach(struct perf_pump_end *e, const struct perf_pump_load *load,
		     uint32_t node, uint32_t subgroup);
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

void perf_gap_note(struct perf_gap_log *log, uint64_t end, uint64_t length);
struct perf_gap perf_gap_sort(const struct perf_gap_log *log, uint64_t from, uint64_t to,
			      struct perf_hist *quiet);
void perf_gap_free(struct perf_gap_log *log);

#endif /* SPINDLE_PERF_FAILOVER_PUMP_H */
