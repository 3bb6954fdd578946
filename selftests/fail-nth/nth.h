/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The allocation that fails.
 */
#ifndef SPINDLE_FAIL_NTH_NTH_H
#define SPINDLE_FAIL_NTH_NTH_H

#include <stdbool.h>

#define MAX_NTH	20000	/* no operation of ours has so many allocations */

extern unsigned int nth;	/* which allocation is to fail; 0: none */
extern bool fired;		/* it did */

/* First of all: makes this process one whose allocations can fail. */
void prepare(void);

/* Whose allocations fail from now on: the fail-nth of a thread. */
void aim(const char *path);

/* The allocations that count are those between these two, which leave errno alone. */
void arm(void);
void disarm(void);

#endif /* SPINDLE_FAIL_NTH_NTH_H */
