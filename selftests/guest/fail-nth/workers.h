/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Failing allocations in work items, on any worker.
 */
#ifndef SPINDLE_FAIL_NTH_WORKERS_H
#define SPINDLE_FAIL_NTH_WORKERS_H

#include <stdbool.h>

/*
 * Count only allocations of the module, made directly or through the RDMA core. Or count all again.
 */
void only_ours(bool only);

/* The nth allocation of each worker of the unbound queues fails. */
void arm_workers(unsigned int n);
/* Returns the number of workers in which an allocation failed. A worker may have ended. */
unsigned int disarm_workers(void);

#endif /* SPINDLE_FAIL_NTH_WORKERS_H */
