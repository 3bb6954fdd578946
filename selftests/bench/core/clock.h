/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The clock: the time stamp counter where there is one, else clock_gettime(). Ticks are added up
 * and converted to nanoseconds at the end. The cost of reading the clock is measured once and
 * subtracted from each interval.
 */
#ifndef SPINDLE_BENCH_CLOCK_H
#define SPINDLE_BENCH_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

struct clock {
	bool tsc;
	uint64_t overhead;	/* ticks of an empty interval */
	double ns;		/* of a tick */
};

extern struct clock bench_clock;

void clock_open(bool no_tsc);

static inline uint64_t clock_wall(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* The barriers keep measured code before the reading, and other code behind it. */
static inline uint64_t clock_ticks(void)
{
#ifdef __x86_64__
	if (bench_clock.tsc) {
		uint32_t lo, hi;

		asm volatile("lfence; rdtsc; lfence" : "=a"(lo), "=d"(hi) : : "memory");
		return (uint64_t)hi << 32 | lo;
	}
#endif
	return clock_wall();
}

/* Ticks since @last, which then becomes now. */
static inline int64_t clock_lap(uint64_t *last)
{
	uint64_t now = clock_ticks();
	int64_t took = now - *last - bench_clock.overhead;

	*last = now;
	return took;
}

#endif /* SPINDLE_BENCH_CLOCK_H */
