// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counters of the processor. See counters.h.
 */
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "counters.h"

#define EMPTY_SPANS 1000

/* The format of PERF_FORMAT_GROUP. */
struct group {
	uint64_t n;
	uint64_t enabled;
	uint64_t running;
	uint64_t value[COUNTERS];
};

static int fd[COUNTERS] = { -1, -1, -1 };
static uint64_t spans;
static double empty[COUNTERS];	/* counts of an empty span */

static int open_one(uint32_t type, uint64_t config, int group)
{
	struct perf_event_attr attr = {
		.size = sizeof(attr),
		.type = type,
		.config = config,
		.disabled = group == -1,
		.exclude_kernel = 1,
		.exclude_hv = 1,
		.read_format = PERF_FORMAT_GROUP | PERF_FORMAT_TOTAL_TIME_ENABLED |
			       PERF_FORMAT_TOTAL_TIME_RUNNING,
	};

	return syscall(SYS_perf_event_open, &attr, 0, -1, group, 0);
}

/* Switching the counters on and off takes some instructions in user mode, too. */
static void calibrate(void)
{
	uint64_t value[COUNTERS];
	int i;

	counters_reset();
	for (i = 0; i < EMPTY_SPANS; i++) {
		counters_on();
		counters_off();
	}
	if (!counters_read(value))
		return;
	for (i = 0; i < COUNTERS; i++)
		empty[i] = (double)value[i] / EMPTY_SPANS;
}

/**
 * counters_open() - are there any?
 *
 * SPINDLE_BENCH_SOFT in the environment takes software counters of the kernel. Every machine has
 * these. Their values mean nothing, but they test this code on machines without hardware counters.
 *
 * Return: true if so
 */
bool counters_open(void)
{
	static const uint64_t hard[COUNTERS] = {
		PERF_COUNT_HW_INSTRUCTIONS,
		PERF_COUNT_HW_CACHE_MISSES,
		PERF_COUNT_HW_BRANCH_MISSES,
	};
	static const uint64_t soft[COUNTERS] = {
		PERF_COUNT_SW_TASK_CLOCK,
		PERF_COUNT_SW_PAGE_FAULTS,
		PERF_COUNT_SW_CONTEXT_SWITCHES,
	};
	bool use_soft = getenv("SPINDLE_BENCH_SOFT");
	uint64_t value[COUNTERS];
	int i;

	for (i = 0; i < COUNTERS; i++) {
		fd[i] = open_one(use_soft ? PERF_TYPE_SOFTWARE : PERF_TYPE_HARDWARE,
				 use_soft ? soft[i] : hard[i], fd[0]);
		if (fd[i] < 0)
			goto none;
	}
	calibrate();
	if (counters_read(value))
		return true;
none:
	for (i = 0; i < COUNTERS; i++) {
		if (fd[i] >= 0)
			close(fd[i]);
		fd[i] = -1;
	}
	return false;
}

void counters_reset(void)
{
	spans = 0;
	ioctl(fd[0], PERF_EVENT_IOC_RESET, PERF_IOC_FLAG_GROUP);
}

void counters_on(void)
{
	ioctl(fd[0], PERF_EVENT_IOC_ENABLE, PERF_IOC_FLAG_GROUP);
}

void counters_off(void)
{
	ioctl(fd[0], PERF_EVENT_IOC_DISABLE, PERF_IOC_FLAG_GROUP);
	spans++;
}

/**
 * counters_read() - what was counted between on and off since the reset
 * @value: out
 *
 * Return: false if the counters did not run all the time, because other users needed them
 */
bool counters_read(uint64_t value[COUNTERS])
{
	struct group group;
	int i;

	if (read(fd[0], &group, sizeof(group)) != sizeof(group) || !group.running ||
	    group.running < group.enabled)
		return false;
	for (i = 0; i < COUNTERS; i++) {
		double v = group.value[i] - empty[i] * spans;

		value[i] = v > 0 ? v : 0;
	}
	return true;
}
