// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits. See limits.h.
 */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "limits.h"
#include "util.h"

#define UNIT	64
#define REPS	9
#define SPAN	512	/* messages in an interval, at least */
#define REP_NS	500000

struct desc {
	uint64_t offset;
	uint64_t len;
};

/* Each side writes only to its own cache line. */
struct ring {
	uint64_t tail;		/* the producer's */
	uint64_t at;
	uint64_t pad0[6];
	uint64_t head;		/* the consumer's */
	uint64_t seen;
	uint64_t pad1[6];
	struct desc *desc;
	uint8_t *bytes;
	uint64_t window;
	uint64_t size;
};

static uint64_t units(uint32_t len)
{
	return (len + UNIT - 1) & ~(UNIT - 1ULL);
}

/*
 * A message that would wrap goes to the beginning, so that each message is one
 * copy.
 */
static uint64_t behind(const struct ring *r, uint64_t at, uint64_t step)
{
	at += step;
	return at + step > r->size ? 0 : at;
}

static bench_noinline void produce(struct ring *r, const uint8_t *src, uint32_t len, uint32_t n)
{
	uint64_t head = __atomic_load_n(&r->head, __ATOMIC_ACQUIRE);
	uint64_t tail = r->tail, at = r->at, step = units(len);

	for (; n && tail - head < r->window; n--, tail++) {
		struct desc *d = &r->desc[tail & (r->window - 1)];

		d->offset = at;
		d->len = len;
		memcpy(r->bytes + at, src + at, len);
		at = behind(r, at, step);
	}
	r->at = at;
	__atomic_store_n(&r->tail, tail, __ATOMIC_RELEASE);
}

static bench_noinline void consume(struct ring *r)
{
	uint64_t tail = __atomic_load_n(&r->tail, __ATOMIC_ACQUIRE), head = r->head;

	for (; head != tail; head++) {
		const struct desc *d = &r->desc[head & (r->window - 1)];

		r->seen += d->len;
		if (d->len)
			r->seen += r->bytes[d->offset];
	}
	__atomic_store_n(&r->head, head, __ATOMIC_RELEASE);
}

static bench_noinline void copy(struct ring *r, const uint8_t *src, uint32_t len, uint32_t n)
{
	uint64_t at = r->at, step = units(len);

	for (; n; n--) {
		memcpy(r->bytes + at, src + at, len);
		at = behind(r, at, step);
	}
	r->at = at;
}

static double rep(struct ring *r, const uint8_t *src, uint32_t len, uint32_t batch, bool ring)
{
	uint64_t begin = clock_wall(), messages = 0, last;
	int64_t ticks = 0;
	uint32_t i;

	do {
		last = clock_ticks();
		for (i = 0; i < SPAN; i += batch) {
			if (ring) {
				produce(r, src, len, batch);
				consume(r);
			} else {
				copy(r, src, len, batch);
			}
			messages += batch;
		}
		ticks += clock_lap(&last);
	} while (clock_wall() - begin < REP_NS);
	return ticks * bench_clock.ns / messages;
}

static double median(struct ring *r, const uint8_t *src, uint32_t len, uint32_t batch, bool ring)
{
	double ns[REPS];
	int i;

	rep(r, src, len, batch, ring);
	for (i = 0; i < REPS; i++)
		ns[i] = rep(r, src, len, batch, ring);
	return bench_spread(ns, REPS).median;
}

/**
 * limits_measure() - measure them
 * @size: bytes of a message
 * @batch: messages that are produced before any is consumed
 * @window: slots of the ring, a power of two, at least @batch
 * @bytes: bytes of the ring
 *
 * Return: medians
 */
struct limits limits_measure(uint32_t size, uint32_t batch, uint32_t window, uint64_t bytes)
{
	struct ring *r = bench_pages(sizeof(*r));
	uint8_t *src = bench_pages(bytes);
	struct limits limits = { 0 };

	r->desc = bench_pages(window * sizeof(*r->desc));
	r->bytes = bench_pages(bytes);
	r->window = window;
	r->size = bytes;
	if (size)
		limits.copy = median(r, src, size, batch, false);
	limits.ring = median(r, src, size, batch, true);
	/* Use the sum, so that the compiler keeps the reads. */
	if (r->seen == UINT64_MAX)
		putchar('\n');
	free(r->desc);
	free(r->bytes);
	free(r);
	free(src);
	return limits;
}
