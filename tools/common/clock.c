// SPDX-License-Identifier: GPL-2.0-only
/*
 * The clock of a measurement. See perf-time.h.
 */
#include <math.h>
#include <sys/prctl.h>
#include <time.h>

#ifdef __x86_64__
#include <cpuid.h>
#endif

#include "perf-time.h"

/* How long the first calibration takes: a few microseconds of error are nothing then. */
#define CALIBRATE_NS	20000000

struct perf_clock perf_clock = { .tsc = false, .ns = 1, .drift = 0 };

/* Both clocks at the same time, as far as that goes. */
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
/* Does the counter run at one speed, whatever the processor does? */
static bool tsc_invariant(void)
{
	unsigned int a, b, c, d;

	return __get_cpuid(0x80000007, &a, &b, &c, &d) && (d & 1 << 8);
}

/* Whoever interrupts between the two looks spoils them: take the quickest of some. */
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

/* Choose the clock, and learn how long a tick is. */
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

/* Learn it again, over all the time since then. */
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

/* Once, at the start, before there are threads. */
void perf_clock_init(void)
{
	/* Who wakes 50 us late to send measures its own sleep, not the message's way. */
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	choose_clock();
}
