/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the benchmark share: memory, and what many measurements say.
 */
#ifndef SPINDLE_BENCH_UTIL_H
#define SPINDLE_BENCH_UTIL_H

#include <stddef.h>

/* What is to stay a function of its own, by its own name. */
#define bench_noinline __attribute__((noinline, noclone))

/**
 * struct spread - of some measurements of the same
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
