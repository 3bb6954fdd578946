/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counters of the processor, by perf_event_open(), of this thread in user mode. Many machines have
 * none for us: virtual machines, and those with kernel.perf_event_paranoid above 2. There
 * counters_open() returns false, and no other function may be called.
 */
#ifndef SPINDLE_BENCH_COUNTERS_H
#define SPINDLE_BENCH_COUNTERS_H

#include <stdbool.h>
#include <stdint.h>

enum counter {
	COUNTER_INSTRUCTIONS,
	COUNTER_CACHE_MISSES,
	COUNTER_BRANCH_MISSES,
	COUNTERS
};

bool counters_open(void);
void counters_reset(void);
void counters_on(void);
void counters_off(void);
bool counters_read(uint64_t value[COUNTERS]);

#endif /* SPINDLE_BENCH_COUNTERS_H */
