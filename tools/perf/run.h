/* SPDX-License-Identifier: GPL-2.0-only */
/* The measurement of one configuration: the device, a warm-up, some repetitions, the device. */
#ifndef SPINDLE_PERF_RUN_H
#define SPINDLE_PERF_RUN_H

#include "metric.h"
#include "place.h"

/**
 * struct perf_how - how a configuration is measured
 */
struct perf_how {
	/** @reps: repetitions */
	unsigned int reps;
	/** @wait: seconds to wait for an event before giving up */
	unsigned int wait;
	/** @raw: also measure the device */
	bool raw;
	/** @raw_count: writes to each member; 0: automatic */
	uint64_t raw_count;
};

int perf_run(const struct perf_conf *conf, const struct perf_place *place,
	     const struct perf_how *how, struct perf_result *r);

/* raw.c */
int perf_raw(const struct perf_place *place, uint64_t size, uint64_t count, struct perf_raw *raw);

#endif /* SPINDLE_PERF_RUN_H */
