/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The speed of the device without Spindle: writes of the same size to the same number of members.
 */
#ifndef SPINDLE_PERF_RAW_H
#define SPINDLE_PERF_RAW_H

#include <stdint.h>

struct perf_place;

/**
 * struct perf_raw - samples of the device
 *
 * A value that could not be measured is NaN.
 */
struct perf_raw {
	/** @samples: number of samples */
	unsigned int samples;
	/** @bandwidth: bytes that a node writes per second, to all other members together */
	double *bandwidth;
	/** @latency: nanoseconds from one member to another, half of a round trip */
	double *latency;
};

int perf_raw(const struct perf_place *place, uint64_t size, uint64_t count, struct perf_raw *raw);

#endif /* SPINDLE_PERF_RAW_H */
