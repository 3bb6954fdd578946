/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A histogram of times. It has any number of values in little memory, each exact to a thousandth.
 *
 * The layout is that of HdrHistogram. Each value below PERF_HIST_FINE has an entry of its own.
 * Above that, each power of two has PERF_HIST_FINE entries. That library is not in Debian 12, and
 * this file has the part of it that spindle-perf needs.
 */
#ifndef SPINDLE_PERF_HIST_H
#define SPINDLE_PERF_HIST_H

#include <stdint.h>

#define PERF_HIST_BITS		10
#define PERF_HIST_FINE		(1U << PERF_HIST_BITS)
#define PERF_HIST_ENTRIES	((64 - PERF_HIST_BITS + 1) << PERF_HIST_BITS)

/**
 * struct perf_hist - values, without their order
 */
struct perf_hist {
	/** @count: values */
	uint64_t count;
	/** @min: smallest one */
	uint64_t min;
	/** @max: largest one */
	uint64_t max;
	/** @sum: their sum */
	double sum;
	/** @entry: number of values by size */
	uint64_t entry[PERF_HIST_ENTRIES];
};

/* The entry that counts a value. */
static inline unsigned int perf_hist_index(uint64_t v)
{
	unsigned int shift;

	if (v < PERF_HIST_FINE)
		return v;
	shift = 63 - PERF_HIST_BITS - __builtin_clzll(v);
	return ((shift + 1) << PERF_HIST_BITS) + ((v >> shift) & (PERF_HIST_FINE - 1));
}

/* Count a value. */
static inline void perf_hist_add(struct perf_hist *h, uint64_t v)
{
	h->entry[perf_hist_index(v)]++;
	if (!h->count || v < h->min)
		h->min = v;
	if (v > h->max)
		h->max = v;
	h->sum += v;
	h->count++;
}

void perf_hist_clear(struct perf_hist *h);
void perf_hist_merge(struct perf_hist *h, const struct perf_hist *from);
uint64_t perf_hist_quantile(const struct perf_hist *h, double q);
double perf_hist_mean(const struct perf_hist *h);

#endif /* SPINDLE_PERF_HIST_H */
