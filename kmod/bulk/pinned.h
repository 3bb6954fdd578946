/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pinned: an object in memory, block by block as a device sees it: in that of a process, or in
 * a payload ring of a row.
 *
 * Owner: who asked for it. Pinning touches the process's memory and may take as long as it
 * likes, mapping needs the device; the engine unmaps, some blocks in each pass; freeing may
 * sleep. The process may unmap the memory, or die, at any time: the pages stay.
 */
#ifndef SPINDLE_PINNED_H
#define SPINDLE_PINNED_H

#include <linux/llist.h>
#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

struct mm_struct;
struct spindle_pages;
struct user_struct;

/**
 * struct spindle_pinned - an object's memory
 * @ib: device that it is mapped for, or NULL
 * @len: bytes
 * @skip: bytes of the first page that are not the object's
 * @block_shift: log2 of a block's bytes
 * @free: in the list of those that have to be freed
 * @page: pages, pinned, or of somebody who keeps them long enough
 * @npages: their number
 * @write: the device writes, too
 * @block: by block: its bytes, mapped for @ib
 * @nblocks: blocks
 * @mapped: of these, mapped
 * @unmapped: of these, not any more
 * @have: a bit for each block, for core/rdmc; NULL unless @write
 * @user: who is charged, a reference; NULL: the pages are somebody else's
 * @mm: whose pinned memory they are counted as, a reference to the count
 */
struct spindle_pinned {
	struct ib_device *ib;
	u64 len;
	u32 skip;
	u32 block_shift;
	struct llist_node free;
	struct page **page;
	unsigned long npages;
	bool write;
	struct sg_table *block;
	u32 nblocks;
	u32 mapped;
	u32 unmapped;
	unsigned long *have;
	struct user_struct *user;
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

#endif /* SPINDLE_PINNED_H */
