// SPDX-License-Identifier: GPL-2.0-only
/* The thread that waits until messages are durable. See durable.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/util.h"
#include "durable.h"

/* Entries of the first ring, and the longest wait before the thread looks if it has to end. */
#define FIRST	1024
#define WAIT_MS	100

static struct perf_due *entry(const struct perf_durable *d, uint64_t number)
{
	return &d->due[number & (d->size - 1)];
}

static void grow(struct perf_durable *d)
{
	struct perf_durable old = *d;
	uint64_t i;

	d->size = old.size ? 2 * old.size : FIRST;
	/* Another thread may use the pool of ctl_alloc(), which has no lock. */
	d->due = malloc(d->size * sizeof(*d->due));
	if (!d->due)
		abort();
	for (i = d->tail; i != d->head; i++)
		*entry(d, i) = *entry(&old, i);
	free(old.due);
}

/**
 * perf_durable_note() - a message was delivered
 * @d: the messages of the end; at most PERF_DUES between two calls of perf_durable_give()
 * @lsn: position of the message, above those of all messages before
 * @time: ticks when the end has sent it, or 0
 * @counted: its delivery counts
 */
void perf_durable_note(struct perf_durable *d, uint64_t lsn, uint64_t time, bool counted)
{
	d->batch[d->batched++] = (struct perf_due){ lsn, time, counted };
}

/* Have the thread wait for the messages that were noted. */
void perf_durable_give(struct perf_durable *d)
{
	unsigned int i;

	if (!d->batched)
		return;
	pthread_mutex_lock(&d->lock);
	for (i = 0; i < d->batched; i++) {
		if (d->head - d->tail == d->size)
			grow(d);
		*entry(d, d->head++) = d->batch[i];
	}
	d->batched = 0;
	pthread_cond_signal(&d->more);
	pthread_mutex_unlock(&d->lock);
}

/**
 * perf_durable_take() - messages are durable
 * @d: the messages of the end
 * @durable: position below which all are
 * @now: ticks
 */
void perf_durable_take(struct perf_durable *d, uint64_t durable, uint64_t now)
{
	const struct perf_due *due;

	pthread_mutex_lock(&d->lock);
	for (; d->tail != d->head; d->tail++) {
		due = entry(d, d->tail);
		if (due->lsn >= durable)
			break;
		if (due->time)
			perf_hist_add(&d->hist, perf_since(now, due->time));
		if (!due->counted || (d->stop && now >= d->stop))
			continue;
		d->msgs++;
		d->last = now;
	}
	pthread_mutex_unlock(&d->lock);
}

/* Wait for a message. Return: whether there is one; *@lsn is its position. */
static bool oldest(struct perf_durable *d, uint64_t *lsn)
{
	bool there;

	pthread_mutex_lock(&d->lock);
	while (d->tail == d->head && !d->leaves)
		pthread_cond_wait(&d->more, &d->lock);
	there = !d->leaves;
	if (there)
		*lsn = entry(d, d->tail)->lsn;
	pthread_mutex_unlock(&d->lock);
	return there;
}

static void *wait_for_all(void *arg)
{
	struct perf_durable *d = arg;
	uint64_t lsn;
	int err;

	while (oldest(d, &lsn)) {
		err = spindle_wait_durable(d->q, lsn, WAIT_MS);
		if (!err) {
			perf_durable_take(d, spindle_durable(d->q), perf_now());
		} else if (err != -ETIMEDOUT && err != -EINTR) {
			pthread_mutex_lock(&d->lock);
			d->err = err;
			pthread_mutex_unlock(&d->lock);
			break;
		}
	}
	return NULL;
}

/**
 * perf_durable_begin() - start the thread of an end
 * @q: the attachment, to a subgroup with logs; it has to last until perf_durable_end()
 *
 * Return: the messages of the end, none yet; NULL after a message.
 */
struct perf_durable *perf_durable_begin(struct spindle_queue *q)
{
	struct perf_durable *d = ctl_alloc(sizeof(*d));
	int err;

	d->q = q;
	pthread_mutex_init(&d->lock, NULL);
	pthread_cond_init(&d->more, NULL);
	err = pthread_create(&d->thread, NULL, wait_for_all, d);
	if (!err)
		return d;
	ctl_err("a thread that waits for the logs: %s", strerror(err));
	ctl_free(d);
	return NULL;
}

/* End the thread, and free the messages. NULL is allowed. */
void perf_durable_end(struct perf_durable *d)
{
	if (!d)
		return;
	pthread_mutex_lock(&d->lock);
	d->leaves = true;
	pthread_cond_signal(&d->more);
	pthread_mutex_unlock(&d->lock);
	pthread_join(d->thread, NULL);
	pthread_cond_destroy(&d->more);
	pthread_mutex_destroy(&d->lock);
	free(d->due);
	ctl_free(d);
}

/* Prepare a repetition, before a message of it can come. All of the one before are durable. */
void perf_durable_clear(struct perf_durable *d)
{
	pthread_mutex_lock(&d->lock);
	d->msgs = 0;
	d->last = 0;
	d->stop = 0;
	perf_hist_clear(&d->hist);
	pthread_mutex_unlock(&d->lock);
}

/* The repetition begins now. @stop: ticks after which nothing counts, or 0 */
void perf_durable_start(struct perf_durable *d, uint64_t stop)
{
	pthread_mutex_lock(&d->lock);
	d->stop = stop;
	pthread_mutex_unlock(&d->lock);
}

/* The number of messages that are not known to be durable. */
uint64_t perf_durable_left(struct perf_durable *d)
{
	uint64_t left;

	pthread_mutex_lock(&d->lock);
	left = d->head - d->tail;
	pthread_mutex_unlock(&d->lock);
	return left;
}

/* What the thread has failed with, or 0. */
int perf_durable_error(struct perf_durable *d)
{
	int err;

	pthread_mutex_lock(&d->lock);
	err = d->err;
	pthread_mutex_unlock(&d->lock);
	return err;
}
