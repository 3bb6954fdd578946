/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Limits: the least possible cost, for comparison.
 */
#ifndef SPINDLE_BENCH_LIMITS_H
#define SPINDLE_BENCH_LIMITS_H

#include <stdint.h>

/**
 * struct limits - nanoseconds per message
 * @copy: memcpy() of its bytes
 * @ring: through a ring between one producer and one consumer: its bytes are copied into
 *	the ring, and read in place
 */
struct limits {
	double copy;
	double ring;
};

struct limits limits_measure(uint32_t size, uint32_t batch, uint32_t window, uint64_t bytes);

#endif /* SPINDLE_BENCH_LIMITS_H */
