/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Payer: the memory cgroup that is charged for the memory of a node, and the limit of its rows.
 *
 * Work items allocate the rows of joining nodes and the next views, but work items run in the root
 * cgroup. So a node keeps the cgroup of the process that last requested a view, and work items
 * charge that cgroup.
 *
 * Owner: the node. Context: process.
 */
#ifndef SPINDLE_NODE_PAYER_H
#define SPINDLE_NODE_PAYER_H

#include <linux/memcontrol.h>
#include <linux/sched/mm.h>

#include "fabric/region.h"

/**
 * struct spindle_payer - the account of a node
 */
struct spindle_payer {
	/** @memcg: the cgroup, a reference; NULL in a kernel without memory cgroups */
	struct mem_cgroup *memcg;
	/** @pages: pages of all rows that the node has now; limited by the parameter row_mib */
	atomic_long_t pages;
};

void spindle_payer_set(struct spindle_payer *payer);
void spindle_payer_put(struct spindle_payer *payer);
int spindle_payer_row(struct spindle_payer *payer, struct spindle_region *row,
		      struct ib_device *ib, u64 bytes);
void spindle_payer_row_free(struct spindle_payer *payer, struct spindle_region *row);

/**
 * spindle_payer_enter() - charge later allocations of this work item to the node's cgroup
 * @payer: the account
 *
 * Return: the former cgroup, for spindle_payer_leave()
 */
static inline struct mem_cgroup *spindle_payer_enter(const struct spindle_payer *payer)
{
	return set_active_memcg(payer->memcg);
}

/**
 * spindle_payer_leave() - end spindle_payer_enter()
 * @before: what spindle_payer_enter() returned
 */
static inline void spindle_payer_leave(struct mem_cgroup *before)
{
	set_active_memcg(before);
}

#endif /* SPINDLE_NODE_PAYER_H */
