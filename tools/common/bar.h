/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A progress bar on standard error, if that is a terminal that can draw; and rates for people.
 *
 * Owner: the program, which has one bar. A struct ctl_work is the caller's. Context: one thread.
 */
#ifndef SPINDLE_COMMON_BAR_H
#define SPINDLE_COMMON_BAR_H

#include <stdbool.h>
#include <stdint.h>

#define CTL_RATE_LEN	32

/**
 * struct ctl_work - work that may take long
 */
struct ctl_work {
	/** @total: bytes or other parts of the work; 0: there is none */
	uint64_t total;
	/** @start: nanoseconds of the monotonic clock when it began */
	uint64_t start;
	/** @next: when the bar is drawn again */
	uint64_t next;
};

bool ctl_can_draw(int fd);

void ctl_bar_init(bool quiet);
void ctl_bar_title(const char *title);
void ctl_bar_show(double done, uint64_t now);
void ctl_bar_clear(void);

void ctl_work_begin(struct ctl_work *w, uint64_t total);
bool ctl_work_due(struct ctl_work *w);
void ctl_work_bytes(const struct ctl_work *w, const char *name, const char *what, uint64_t done);
void ctl_work_parts(const struct ctl_work *w, const char *name, uint64_t done);

const char *ctl_rate_text(char *buf, uint64_t bytes, uint64_t ns);

#endif /* SPINDLE_COMMON_BAR_H */
