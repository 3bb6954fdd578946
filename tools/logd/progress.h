/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How far long work of a log is: a line in the log of the process now and then, and the status that
 * systemd shows. See progress.c.
 *
 * Owner: the log, or the state of the node. Context: the main thread.
 */
#ifndef SPINDLE_LOGD_PROGRESS_H
#define SPINDLE_LOGD_PROGRESS_H

#include <stdint.h>

/**
 * struct logd_progress - work that is under way
 */
struct logd_progress {
	/** @title: the log, for sentences; its memory is the owner's */
	const char *title;
	/** @what: the work, as a literal; NULL: none */
	const char *what;
	/** @told_ms: when it began, or a line was written last */
	uint64_t told_ms;
	/** @status_ms: when systemd was told last; 0: never */
	uint64_t status_ms;
};

void logd_notify(const char *text);
void logd_progress(struct logd_progress *p, const char *what, uint64_t done, uint64_t total);
void logd_progress_end(struct logd_progress *p);

#endif /* SPINDLE_LOGD_PROGRESS_H */
