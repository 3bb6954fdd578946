// SPDX-License-Identifier: GPL-2.0-only
/*
 * Payer: the memory cgroup that is charged for the memory of a node. See payer.h.
 */
#include <linux/mm.h>
#include <linux/module.h>

#include "payer.h"

/* Without the parameter the limit is a quarter of the memory. */
#define DEFAULT_SHIFT 2

static uint row_mib;
module_param(row_mib, uint, 0644);
MODULE_PARM_DESC(row_mib, "MiB that the rows of a node take at most; 0: a quarter of the memory");

static unsigned long max_pages(void)
{
	u64 mib = READ_ONCE(row_mib);

	return mib ? (mib << 20) >> PAGE_SHIFT : totalram_pages() >> DEFAULT_SHIFT;
}

/**
 * spindle_payer_set() - charge the cgroup of the calling process from now on
 * @payer: the account
 *
 * Memory that was allocated before stays charged to the former cgroup.
 *
 * Context: the process that requested the view.
 */
void spindle_payer_set(struct spindle_payer *payer)
{
	struct mem_cgroup *before = payer->memcg;

	payer->memcg = get_mem_cgroup_from_mm(current->mm);
	mem_cgroup_put(before);
}

/**
 * spindle_payer_put() - release the cgroup
 * @payer: the account; all rows are freed
 */
void spindle_payer_put(struct spindle_payer *payer)
{
	WARN_ON_ONCE(atomic_long_read(&payer->pages));
	mem_cgroup_put(payer->memcg);
	payer->memcg = NULL;
}

/**
 * spindle_payer_row() - allocate a row on the node's account
 * @payer: the account
 * @row: out
 * @ib: device that reads or writes it
 * @bytes: its size; depends on rules that may come from another node, so it needs a limit
 *
 * Return: 0; -EDQUOT: the rows of the node would take more than row_mib; or -errno
 */
int spindle_payer_row(struct spindle_payer *payer, struct spindle_region *row,
		      struct ib_device *ib, u64 bytes)
{
	unsigned long pages = DIV_ROUND_UP_ULL(bytes, PAGE_SIZE);
	struct mem_cgroup *before;
	int err = -EDQUOT;

	if (atomic_long_add_return(pages, &payer->pages) > max_pages())
		goto err_pages;
	before = spindle_payer_enter(payer);
	err = spindle_region_alloc(row, ib, bytes);
	spindle_payer_leave(before);
	if (!err)
		return 0;

err_pages:
	atomic_long_sub(pages, &payer->pages);
	return err;
}

/**
 * spindle_payer_row_free() - free a row
 * @payer: the account
 * @row: the row; all zero if it was never allocated
 */
void spindle_payer_row_free(struct spindle_payer *payer, struct spindle_region *row)
{
	atomic_long_sub(row->mem.n, &payer->pages);
	spindle_region_free(row);
}
