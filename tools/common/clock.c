// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock of a measurement. See clock.h.
 */
#include <math.h>
#include <sys/prctl.h>
#include <time.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "clock.h"

/* Duration of the first calibration. An error of a few microseconds is negligible against it. */
#define CALIBRATE_NS	20000000

struct perf_clock perf_clock = { .tsc = false, .ns = 1, .drift = 0 };

/* One reading of both clocks, as close together as possible. */
static struct {
	uint64_t tsc;
	uint64_t ns;
} first;

uint64_t perf_monotonic(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

#ifdef __x86_64__
/* Does the counter run at one speed, whatever frequency the processor has? */
static bool tsc_invariant(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1 << 8);
}

/* An interrupt between the two readings would spoil the pair, so keep the quickest of eight. */
static void look(uint64_t *tsc, uint64_t *ns)
{
	uint64_t best = UINT64_MAX;
	int i;

	for (i = 0; i < 8; i++) {
		uint64_t before = __rdtsc(), mono = perf_monotonic(), after = __rdtsc();

		if (after - before >= best)
			continue;
		best = after - before;
		*tsc = before + best / 2;
		*ns = mono;
	}
}

static double tick_ns(void)
{
	uint64_t tsc, ns;

	look(&tsc, &ns);
	return (double)(ns - first.ns) / (tsc - first.tsc);
}

/* Choose the clock, and measure how long a tick is. */
static void choose_clock(void)
{
	struct timespec ts = { 0, CALIBRATE_NS };

	if (!tsc_invariant())
		return;
	look(&first.tsc, &first.ns);
	nanosleep(&ts, NULL);
	perf_clock.ns = tick_ns();
	perf_clock.tsc = isfinite(perf_clock.ns) && perf_clock.ns > 0;
	if (!perf_clock.tsc)
		perf_clock.ns = 1;
}

/* Measure the length of a tick again, over all the time since perf_clock_init(). */
void perf_clock_refine(void)
{
	double ns;

	if (!perf_clock.tsc)
		return;
	ns = tick_ns();
	perf_clock.drift = fabs(ns / perf_clock.ns - 1);
	perf_clock.ns = ns;
}
#else
static void choose_clock(void)
{
}

void perf_clock_refine(void)
{
}
#endif

/* To be called once at the start, before there are threads. */
void perf_clock_init(void)
{
	/*
	 * With the default slack a sender wakes 50 us late, and a measurement would include that
	 * delay.
	 */
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	choose_clock();
}
