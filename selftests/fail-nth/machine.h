/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The kernel that this runs in.
 */
#ifndef SPINDLE_FAIL_NTH_MACHINE_H
#define SPINDLE_FAIL_NTH_MACHINE_H

#include <stdbool.h>

#define PAGE		4096UL
#define WAIT_MS		120000	/* bounds a failure only */

/*
 * Files of the kernel: put() writes a text as a whole; get() ends what it reads with a 0,
 * and returns how much it is or -1.
 */
bool put(const char *path, const char *text);
int get(const char *path, char *buf, int size);

/* Less than a second; and milliseconds since some time. */
void nap(int ms);
long now_ms(void);

/* Threads of engines: one that nobody needs any more is in no dump. */
int engine_threads(void);

/**
 * struct usage - what is in use
 * @maps: mappings by the module
 * @pages: what the kernel cannot say who has it
 */
struct usage {
	long maps, pages;
};

/* Caches are dropped first. */
struct usage usage(void);

#endif /* SPINDLE_FAIL_NTH_MACHINE_H */
