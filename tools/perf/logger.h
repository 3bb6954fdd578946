/* SPDX-License-Identifier: GPL-2.0-only */
/* The loggers of --setup --log: a spindle-logd for each node, below a directory of their own. */
#ifndef SPINDLE_PERF_LOGGER_H
#define SPINDLE_PERF_LOGGER_H

#include <sys/types.h>

#include <linux/spindle.h>

/**
 * struct perf_loggers - processes that perf_loggers_begin() starts and perf_loggers_end() ends
 */
struct perf_loggers {
	/** @dir: directory of their logs, or NULL; it is removed with them */
	char *dir;
	/** @pid: processes */
	pid_t pid[SPINDLE_MAX_MEMBERS];
	/** @count: entries of @pid */
	unsigned int count;
};

int perf_loggers_begin(struct perf_loggers *l, const char *base, const uint32_t *node,
		       unsigned int nodes, unsigned int wait);
void perf_loggers_end(struct perf_loggers *l);

#endif /* SPINDLE_PERF_LOGGER_H */
