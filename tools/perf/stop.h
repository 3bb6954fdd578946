/* SPDX-License-Identifier: GPL-2.0-only */
/* A measurement that ends early, because of a signal or an error in a thread. */
#ifndef SPINDLE_PERF_STOP_H
#define SPINDLE_PERF_STOP_H

#include <stdbool.h>

extern int perf_stop_why;

/* The value of perf_stop_why for an error. */
#define PERF_FAILED	(-1)

/* Has a signal or an error ended the measurement? */
static inline bool perf_stopped(void)
{
	return __atomic_load_n(&perf_stop_why, __ATOMIC_RELAXED);
}

void perf_stop(int why);
void perf_stop_catch(void);
void perf_stop_die(void);

#endif /* SPINDLE_PERF_STOP_H */
