/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * An operation, and its path of failures.
 */
#ifndef SPINDLE_FAIL_NTH_PATH_H
#define SPINDLE_FAIL_NTH_PATH_H

#include <stdbool.h>

/**
 * struct op - an operation whose allocations fail
 * @name: name in the output
 * @run: do the operation, between arm() and disarm(); 0 or -errno
 * @undo: undo the operation after it has succeeded
 * @ctx: for both
 * @errs: errors with which it may end
 * @after: property that holds after a success, or NULL
 * @never: it is never refused because of missing memory
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

/* Errors of missing memory. With netlink, the answer alone may have failed. */
extern const int errs_mem[];
extern const int errs_netlink[];
/* Errors of fork(). */
extern const int errs_thread[];

/* The @undo of an operation that changes nothing. */
void nothing(void *ctx);

/* Repeat an operation while each of its allocations fails once. */
void path(const struct op *op);

#endif /* SPINDLE_FAIL_NTH_PATH_H */
