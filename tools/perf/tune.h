/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The tuning of the nodes at their ends of a subgroup. The words of --tune are those of
 * "spindle-ctl subgroup set".
 */
#ifndef SPINDLE_PERF_TUNE_H
#define SPINDLE_PERF_TUNE_H

#include <stdint.h>

#include <linux/spindle_genl.h>

struct ctl_req;
struct ctl_val;

/**
 * struct perf_tune - values that are set
 */
struct perf_tune {
	/** @selector: switches that are set, enum spindle_switch */
	uint32_t selector;
	/** @switches: switches that are set to on */
	uint32_t switches;
	/** @has: bit mask of the numbers that are set, by enum spindle_tune_attr */
	uint32_t has;
	/** @num: numbers, by enum spindle_tune_attr */
	uint32_t num[SPINDLE_TUNE_A_MAX + 1];
};

const char *perf_tune_parse(const char *text, struct perf_tune *tune);
int perf_tune_empty(const struct perf_tune *tune);
void perf_tune_put(struct ctl_req *req, const struct perf_tune *tune);
void perf_tune_get(const struct ctl_val *val, struct perf_tune *tune);

#endif /* SPINDLE_PERF_TUNE_H */
