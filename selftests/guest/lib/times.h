/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Times of programs that measure.
 */
#ifndef SPINDLE_GUEST_TIMES_H
#define SPINDLE_GUEST_TIMES_H

#include <stdint.h>
#include <stdlib.h>
#include <time.h>

/* Nanoseconds of the clock that only goes on. */
static inline uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static inline int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The median of @n values, which are in order then. */
static inline double median(double *v, uint32_t n)
{
	qsort(v, n, sizeof(*v), by_value);
	return v[n / 2];
}

#endif /* SPINDLE_GUEST_TIMES_H */
