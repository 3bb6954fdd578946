// SPDX-License-Identifier: GPL-2.0-only
/* Summary of a sample. See stat.h. */
#include <math.h>
#include <stdlib.h>

#include "common/util.h"
#include "stat.h"

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The quantile of @n values, which are sorted. */
static double quantile(const double *v, unsigned int n, double share)
{
	unsigned int at = ceil(n * share);

	return v[at ? at - 1 : 0];
}

/**
 * perf_stat() - compute quantiles, spread and mean of a sample
 * @v: values, NaN for those that are not known
 * @n: entries of @v
 *
 * Return: the summary
 */
struct perf_stat perf_stat(const double *v, unsigned int n)
{
	return perf_stat_of(v, n, 1);
}

/* The same, of each @step-th of the values. @n is the number of these. */
struct perf_stat perf_stat_of(const double *v, unsigned int n, unsigned int step)
{
	struct perf_stat s = { 0, NAN, NAN, NAN, NAN, NAN, NAN, NAN };
	double *known = ctl_alloc((n + 1) * sizeof(*known));
	double sum = 0, square = 0;
	unsigned int i;

	for (i = 0; i < n; i++, v += step) {
		if (isnan(*v))
			continue;
		known[s.count++] = *v;
		sum += *v;
	}
	if (!s.count)
		goto out;
	qsort(known, s.count, sizeof(*known), by_size);
	s.min = known[0];
	s.max = known[s.count - 1];
	s.median = (known[(s.count - 1) / 2] + known[s.count / 2]) / 2;
	s.p90 = quantile(known, s.count, 0.9);
	s.p99 = quantile(known, s.count, 0.99);
	s.mean = sum / s.count;
	for (i = 0; i < s.count; i++)
		square += (known[i] - s.mean) * (known[i] - s.mean);
	s.dev = s.count > 1 ? sqrt(square / (s.count - 1)) : 0;
out:
	ctl_free(known);
	return s;
}
