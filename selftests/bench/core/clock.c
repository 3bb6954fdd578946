// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock. See clock.h.
 */
#ifdef __x86_64__
#include <cpuid.h>
#endif
#include <stdio.h>

#include "clock.h"
#include "util.h"

#define SAMPLES		1001
#define CALIBRATE_NS	20000000

struct clock bench_clock = { .ns = 1 };

/*
 * The counter is usable as a clock only if it has the same rate in all states
 * of the processor.
 */
static bool tsc_usable(void)
{
#ifdef __x86_64__
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1 << 8);
#else
	return false;
#endif
}

static uint64_t overhead(void)
{
	static double took[SAMPLES];
	uint64_t last = clock_ticks();
	int i;

	for (i = 0; i < SAMPLES; i++)
		took[i] = clock_lap(&last);
	return bench_spread(took, SAMPLES).median;
}

/**
 * clock_open() - choose and calibrate the clock
 * @no_tsc: always use clock_gettime()
 */
void clock_open(bool no_tsc)
{
	bench_clock = (struct clock){ .tsc = !no_tsc && tsc_usable(), .ns = 1 };
	if (bench_clock.tsc) {
		uint64_t wall = clock_wall(), ticks = clock_ticks(), now;

		do {
			now = clock_wall();
		} while (now - wall < CALIBRATE_NS);
		bench_clock.ns = (double)(now - wall) / (clock_ticks() - ticks);
	}
	bench_clock.overhead = overhead();
	printf("clock: %s, %.2f ns a tick, %.0f ns to read it, taken off\n",
	       bench_clock.tsc ? "time stamp counter" : "clock_gettime()", bench_clock.ns,
	       bench_clock.overhead * bench_clock.ns);
}
