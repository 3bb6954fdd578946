// SPDX-License-Identifier: GPL-2.0-only
/*
 * Histogram of times. See hist.h.
 */
#include <math.h>
#include <string.h>

#include "hist.h"

/* The largest value that an entry counts. */
static uint64_t entry_top(unsigned int i)
{
	unsigned int shift;

	if (i < PERF_HIST_FINE)
		return i;
	shift = (i >> PERF_HIST_BITS) - 1;
	return ((((uint64_t)i & (PERF_HIST_FINE - 1)) + PERF_HIST_FINE + 1) << shift) - 1;
}

void perf_hist_clear(struct perf_hist *h)
{
	memset(h, 0, sizeof(*h));
}

/* Add all values of another histogram. */
void perf_hist_merge(struct perf_hist *h, const struct perf_hist *from)
{
	unsigned int i;

	if (!from->count)
		return;
	for (i = 0; i < PERF_HIST_ENTRIES; i++)
		h->entry[i] += from->entry[i];
	if (!h->count || from->min < h->min)
		h->min = from->min;
	if (from->max > h->max)
		h->max = from->max;
	h->sum += from->sum;
	h->count += from->count;
}

/**
 * perf_hist_quantile() - compute a quantile
 * @h: histogram
 * @q: share of the values, 0 to 1
 *
 * Return: the value that this share of them does not exceed. The value is at most a thousandth too
 *	large, and never above the largest one. 0 if the histogram is empty
 */
uint64_t perf_hist_quantile(const struct perf_hist *h, double q)
{
	uint64_t want = ceil(q * h->count), seen = 0, top;
	unsigned int i;

	if (want < 1)
		want = 1;
	for (i = 0; i < PERF_HIST_ENTRIES; i++) {
		seen += h->entry[i];
		if (seen < want)
			continue;
		top = entry_top(i);
		return top < h->max ? top : h->max;
	}
	return h->max;
}

double perf_hist_mean(const struct perf_hist *h)
{
	return h->count ? h->sum / h->count : 0;
}
