/* SPDX-License-Identifier: GPL-2.0-only */
/* A progress bar on standard error, if that is a terminal. */
#ifndef SPINDLE_COMMON_BAR_H
#define SPINDLE_COMMON_BAR_H

#include <stdbool.h>
#include <stdint.h>

void perf_bar_init(bool quiet);
void perf_bar_title(const char *title);
void perf_bar_show(double done, uint64_t now);
void perf_bar_clear(void);

#endif /* SPINDLE_COMMON_BAR_H */
