/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The allocation that fails.
 */
#ifndef SPINDLE_FAIL_NTH_NTH_H
#define SPINDLE_FAIL_NTH_NTH_H

#include <stdbool.h>

#define MAX_NTH	20000	/* no operation of ours has so many allocations */

extern unsigned int nth;	/* the number of the allocation that fails; 0: none */
extern bool fired;		/* the allocation failed */

/* Call this first. The allocations of this process can fail from then on. */
void prepare(void);

/* Choose the thread whose allocations fail, by its fail-nth. */
void aim(const char *path);

/* Only allocations between these two calls count. The calls leave errno alone. */
void arm(void);
void disarm(void);

#endif /* SPINDLE_FAIL_NTH_NTH_H */
