/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Allocations that fail in work items, whoever runs them.
 */
#ifndef SPINDLE_FAIL_NTH_WORKERS_H
#define SPINDLE_FAIL_NTH_WORKERS_H

#include <stdbool.h>

/* Only what the module asks for counts, itself or by way of the RDMA core; or all again. */
void only_ours(bool only);

/* The nth allocation of each worker of the unbound queues fails. */
void arm_workers(unsigned int n);
/* Returns in how many an allocation failed. A worker may have ended. */
unsigned int disarm_workers(void);

#endif /* SPINDLE_FAIL_NTH_WORKERS_H */
