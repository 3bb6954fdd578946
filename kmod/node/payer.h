/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Payer: which memory cgroup pays for the memory of a node, and how much of it rows may take.
 *
 * Work items make the rows of joiners and the next views, and their own cgroup is the root. A
 * node therefore keeps the cgroup of the process that asked last for a view, and work items
 * allocate on its account.
 *
 * Owner: the node. Context: process.
 */
#ifndef SPINDLE_PAYER_H
#define SPINDLE_PAYER_H

#include <linux/memcontrol.h>
#include <linux/sched/mm.h>

#include "fabric/region.h"

/**
 * struct spindle_payer - the account of a node
 * @memcg: the cgroup, a reference; NULL in a kernel without memory cgroups
 * @pages: pages of all rows that the node has now; limited by the parameter row_mib
 */
struct spindle_payer {
	struct mem_cgroup *memcg;
	atomic_long_t pages;
};

void spindle_payer_set(struct spindle_payer *payer);
void spindle_payer_put(struct spindle_payer *payer);
int spindle_payer_row(struct spindle_payer *payer, struct spindle_region *row,
		      struct ib_device *ib, u64 bytes);
void spindle_payer_row_free(struct spindle_payer *payer, struct spindle_region *row);

/**
 * spindle_payer_enter() - what this work item allocates from here on is on the node's account
 * @payer: the account
 *
 * Return: what spindle_payer_leave() needs
 */
static inline struct mem_cgroup *spindle_payer_enter(const struct spindle_payer *payer)
{
	return set_active_memcg(payer->memcg);
}

/**
 * spindle_payer_leave() - the mirror
 * @before: what spindle_payer_enter() returned
 */
static inline void spindle_payer_leave(struct mem_cgroup *before)
{
	set_active_memcg(before);
}

#endif /* SPINDLE_PAYER_H */
