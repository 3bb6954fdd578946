/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock of a measurement.
 *
 * Times are taken in ticks. Where the processor has a counter that runs at one speed,
 * a tick is one of its, because clock_gettime() is a system call where the kernel has no
 * vDSO for it (User-Mode Linux), which takes longer than what is measured. How long a
 * tick is follows from CLOCK_MONOTONIC at both ends of all measurements. Elsewhere a
 * tick is a nanosecond of CLOCK_MONOTONIC.
 */
#ifndef SPINDLE_PERF_TIME_H
#define SPINDLE_PERF_TIME_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

/**
 * struct perf_clock - what a tick is
 * @tsc: the processor's counter
 * @ns: nanoseconds of a tick
 * @drift: by what share two calibrations differed; a large one makes times worthless
 */
struct perf_clock {
	bool tsc;
	double ns;
	double drift;
};

extern struct perf_clock perf_clock;

uint64_t perf_monotonic(void);

/* The time, in ticks since some time. */
static inline uint64_t perf_now(void)
{
#ifdef __x86_64__
	if (perf_clock.tsc)
		return __rdtsc();
#endif
	return perf_monotonic();
}

/* A time that was taken on another processor may be a little ahead. */
static inline uint64_t perf_since(uint64_t now, uint64_t then)
{
	return (int64_t)(now - then) > 0 ? now - then : 0;
}

static inline double perf_ns(double ticks)
{
	return ticks * perf_clock.ns;
}

static inline uint64_t perf_ticks(double ns)
{
	return ns / perf_clock.ns;
}

/* Wait without giving up the processor. */
static inline void perf_spin(uint64_t ticks)
{
	uint64_t start = perf_now();

	while (perf_since(perf_now(), start) < ticks)
		__asm__ __volatile__("" ::: "memory");
}

void perf_clock_init(void);
void perf_clock_refine(void);

#endif /* SPINDLE_PERF_TIME_H */
