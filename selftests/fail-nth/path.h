/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An operation, and its path of failures.
 */
#ifndef SPINDLE_FAIL_NTH_PATH_H
#define SPINDLE_FAIL_NTH_PATH_H

#include <stdbool.h>

/**
 * struct op - an operation whose allocations fail
 * @name: for people
 * @run: do it, between arm() and disarm(); 0 or -errno
 * @undo: take it back when it has succeeded
 * @ctx: for both
 * @errs: errors that it may end with
 * @after: what has to hold when it has succeeded, or NULL
 * @never: it is not refused for want of memory
 */
struct op {
	char name[64];
	int (*run)(void *ctx);
	void (*undo)(void *ctx);
	void *ctx;
	const int *errs;
	bool (*after)(void *ctx);
	bool never;
};

/* Out of memory; that of netlink, which may have happened to the answer alone. */
extern const int errs_mem[];
extern const int errs_netlink[];
/* What fork() says. */
extern const int errs_thread[];

/* The @undo of one that changes nothing. */
void nothing(void *ctx);

/* Each allocation of an operation fails once. */
void path(const struct op *op);

#endif /* SPINDLE_FAIL_NTH_PATH_H */
