/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock of a measurement.
 *
 * Times are taken in ticks. Where the processor has a counter that runs at one speed, a tick is one
 * count of that counter, because clock_gettime() may be slow. Where the kernel has no vDSO for it
 * (User-Mode Linux), it is a system call, which takes longer than what is measured. The length of a
 * tick follows from CLOCK_MONOTONIC, read at the start and at the end of all measurements.
 * Elsewhere a tick is a nanosecond of CLOCK_MONOTONIC.
 */
#ifndef SPINDLE_COMMON_CLOCK_H
#define SPINDLE_COMMON_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __x86_64__
#include <x86intrin.h>
#endif

/**
 * struct perf_clock - what a tick is
 */
struct perf_clock {
	/** @tsc: a tick is a count of the processor's counter */
	bool tsc;
	/** @ns: nanoseconds of a tick */
	double ns;
	/**
	 * @drift: share by which two calibrations differed; if it is large, the times are worthless
	 */
	double drift;
};

extern struct perf_clock perf_clock;

uint64_t perf_monotonic(void);

/* The time in milliseconds of CLOCK_MONOTONIC. */
static inline int64_t perf_monotonic_ms(void)
{
	return perf_monotonic() / 1000000;
}

/* The time in ticks, since an arbitrary moment. */
static inline uint64_t perf_now(void)
{
#ifdef __x86_64__
	if (perf_clock.tsc)
		return __rdtsc();
#endif
	return perf_monotonic();
}

/*
 * @then may be a little ahead of @now if it was taken on another processor; the result is 0 then.
 */
static inline uint64_t perf_since(uint64_t now, uint64_t then)
{
	return (int64_t)(now - then) > 0 ? now - then : 0;
}

static inline double perf_ns(double ticks)
{
	return ticks * perf_clock.ns;
}

static inline double perf_us(double ticks)
{
	return perf_ns(ticks) / 1000;
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

#endif /* SPINDLE_COMMON_CLOCK_H */
