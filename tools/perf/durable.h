/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a sender of a subgroup with logs waits for: that the messages which were delivered to it are
 * durable.
 *
 * The loop that drives the end gives each delivered message. A thread of its own waits for the
 * oldest one, because a process cannot wait for a position in poll() together with other things.
 */
#ifndef SPINDLE_PERF_DURABLE_H
#define SPINDLE_PERF_DURABLE_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include <spindle/spindle.h>

#include "hist.h"

/**
 * struct perf_due - a message that was delivered and is not known to be durable
 */
struct perf_due {
	/** @lsn: its position */
	uint64_t lsn;
	/** @time: ticks when the end has sent it; 0: another end has, or there is no time in it */
	uint64_t time;
	/** @counted: its delivery counts */
	bool counted;
};

/* Messages that perf_durable_note() takes before perf_durable_give(). */
#define PERF_DUES	64

/**
 * struct perf_durable - the messages of an end, and the thread that waits for them
 *
 * perf_durable_begin() makes it, and perf_durable_end() frees it. In between the thread waits with
 * the attachment. Only the loop that drives the end uses the batch, and all that follows the lock
 * in this struct is under it.
 */
struct perf_durable {
	/** @thread: the thread */
	pthread_t thread;
	/** @q: the attachment of the end */
	struct spindle_queue *q;
	/** @batch: messages that the thread does not know yet */
	struct perf_due batch[PERF_DUES];
	/** @batched: entries of @batch */
	unsigned int batched;
	/** @lock: of what follows */
	pthread_mutex_t lock;
	/** @more: there is a message, or the thread has to end */
	pthread_cond_t more;
	/** @leaves: the thread has to end */
	bool leaves;
	/** @err: what spindle_wait_durable() has failed with, or 0 */
	int err;
	/** @due: a ring of messages in the order of their positions */
	struct perf_due *due;
	/** @size: entries of @due, a power of two, or 0 */
	uint64_t size;
	/** @head: number of messages that have been given */
	uint64_t head;
	/** @tail: number of messages that are durable */
	uint64_t tail;
	/** @stop: ticks after which nothing counts, or 0 */
	uint64_t stop;
	/** @msgs: messages that count and were durable in time */
	uint64_t msgs;
	/** @last: ticks when the last of these was seen to be durable */
	uint64_t last;
	/** @hist: times from sending until the message was durable */
	struct perf_hist hist;
};

struct perf_durable *perf_durable_begin(struct spindle_queue *q);
void perf_durable_end(struct perf_durable *d);
void perf_durable_clear(struct perf_durable *d);
void perf_durable_start(struct perf_durable *d, uint64_t stop);
void perf_durable_note(struct perf_durable *d, uint64_t lsn, uint64_t time, bool counted);
void perf_durable_give(struct perf_durable *d);
void perf_durable_take(struct perf_durable *d, uint64_t durable, uint64_t now);
uint64_t perf_durable_left(struct perf_durable *d);
int perf_durable_error(struct perf_durable *d);

#endif /* SPINDLE_PERF_DURABLE_H */
