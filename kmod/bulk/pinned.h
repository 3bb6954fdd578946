/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pinned: an object in memory, mapped for a device block by block. The memory belongs to a process,
 * or is a payload ring of a row.
 *
 * Owner: the caller that created it. Pinning touches the process's memory, and may take any time.
 * Mapping needs the device. The engine unmaps, some blocks in each pass. Freeing may sleep. The
 * process may unmap the memory, or die, at any time, because the pages stay pinned.
 */
#ifndef SPINDLE_BULK_PINNED_H
#define SPINDLE_BULK_PINNED_H

#include <linux/llist.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

struct mm_struct;
struct spindle_pages;
struct user_struct;

/**
 * struct spindle_pinned - an object's memory
 */
struct spindle_pinned {
	/** @ib: device that it is mapped for, or NULL */
	struct ib_device *ib;
	/** @len: bytes */
	u64 len;
	/** @skip: bytes of the first page before the object */
	u32 skip;
	/** @block_shift: log2 of a block's bytes */
	u32 block_shift;
	/** @free: in the list of objects to be freed */
	struct llist_node free;
	/** @page: pages, pinned; or borrowed from an owner that keeps them long enough */
	struct page **page;
	/** @npages: their number */
	unsigned long npages;
	/** @write: the device writes, too */
	bool write;
	/** @block: by block: its bytes, mapped for @ib */
	struct sg_table *block;
	/** @nblocks: number of blocks */
	u32 nblocks;
	/** @mapped: blocks that were mapped */
	u32 mapped;
	/** @unmapped: blocks that were unmapped again */
	u32 unmapped;
	/** @have: a bit for each block, for core/rdmc; NULL unless @write */
	unsigned long *have;
	/** @user: user that is charged, a reference; NULL: the pages are borrowed */
	struct user_struct *user;
	/** @mm: the mm whose pinned_vm counts the pages, a reference (mmgrab()) */
	struct mm_struct *mm;
};

struct spindle_pinned *spindle_pinned_get(u64 addr, u64 len, u32 block_shift, bool write);
struct spindle_pinned *spindle_pinned_borrow(const struct spindle_pages *mem, u64 ring,
					     u64 ring_bytes, u64 at, u64 len,
					     u32 block_shift, bool write);
int spindle_pinned_map(struct spindle_pinned *pinned, struct ib_device *ib);
bool spindle_pinned_unmap_some(struct spindle_pinned *pinned, u32 max);
void spindle_pinned_unmap(struct spindle_pinned *pinned);
void spindle_pinned_free(struct spindle_pinned *pinned);

#endif /* SPINDLE_BULK_PINNED_H */
