/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The running kernel.
 */
#ifndef SPINDLE_FAIL_NTH_MACHINE_H
#define SPINDLE_FAIL_NTH_MACHINE_H

#include <stdbool.h>

#define PAGE		4096UL
#define WAIT_MS		120000	/* bounds a failure only */

/*
 * Files of the kernel: put() writes a text as a whole. get() reads a text, ends it with a 0, and
 * returns its length or -1.
 */
bool put(const char *path, const char *text);
int get(const char *path, char *buf, int size);

/* Sleep for less than a second. Milliseconds of a monotonic clock. */
void nap(int ms);
long now_ms(void);

/* The number of engine threads. A thread that is no longer needed is in no dump. */
int engine_threads(void);

/**
 * struct usage - memory in use
 * @maps: mappings by the module
 * @pages: pages that the kernel counts for no user
 */
struct usage {
	long maps, pages;
};

/* The function drops caches first. */
struct usage usage(void);

#endif /* SPINDLE_FAIL_NTH_MACHINE_H */
