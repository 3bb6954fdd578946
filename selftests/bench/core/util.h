/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tools of the benchmark: memory, and the spread of measurements.
 */
#ifndef SPINDLE_BENCH_UTIL_H
#define SPINDLE_BENCH_UTIL_H

#include <stddef.h>

/* The function stays a separate function with its own name, for profilers. */
#define bench_noinline __attribute__((noinline, noclone))

/**
 * struct spread - the spread of repeated measurements
 * @median: the one in the middle
 * @min: smallest
 * @max: largest
 */
struct spread {
	double median;
	double min;
	double max;
};

void *bench_pages(size_t len);
struct spread bench_spread(double *v, unsigned int n);

#endif /* SPINDLE_BENCH_UTIL_H */
