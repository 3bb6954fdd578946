// SPDX-License-Identifier: GPL-2.0-only
/*
 * Pinned: an object in memory, mapped for a device. See pinned.h.
 */
#include <linux/bitmap.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "base/memory.h"
#include "pinned.h"

/* Pages to pin at once; between two rounds a fatal signal is checked. */
#define ROUND_PAGES 1024UL
/* Blocks to unmap at once in process context, before other tasks get the CPU. */
#define ROUND_BLOCKS 64

static enum dma_data_direction direction(const struct spindle_pinned *pinned)
{
	/* A receiver's memory is written, and also read when blocks are passed on. */
	return pinned->write ? DMA_BIDIRECTIONAL : DMA_TO_DEVICE;
}

/*
 * The limit applies to all processes of the user together, as for attachments. The pages also
 * count as pinned memory of the process (VmPin), as with user-space verbs.
 */
static int charge(struct spindle_pinned *pinned, unsigned long npages)
{
	struct user_struct *user = current_user();
	int err = spindle_memlock_charge(user, npages);

	if (err)
		return err;
	pinned->user = get_uid(user);
	pinned->mm = current->mm;
	mmgrab(pinned->mm);
	atomic64_add(npages, &pinned->mm->pinned_vm);
	return 0;
}

/* This keeps the references to user and mm, because releasing them may sleep. */
static void uncharge(struct spindle_pinned *pinned, unsigned long npages)
{
	spindle_memlock_uncharge(pinned->user, npages);
	atomic64_sub(npages, &pinned->mm->pinned_vm);
}

static int pin(struct spindle_pinned *pinned, u64 addr, unsigned long npages)
{
	unsigned int flags = FOLL_LONGTERM | (pinned->write ? FOLL_WRITE : 0);

	while (pinned->npages < npages) {
		unsigned long n = min(npages - pinned->npages, ROUND_PAGES);
		int got = pin_user_pages_fast(addr + (pinned->npages << PAGE_SHIFT), n, flags,
					      pinned->page + pinned->npages);

		if (got <= 0)
			return got ? got : -EFAULT;
		pinned->npages += got;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

static int map_block(struct spindle_pinned *pinned, u64 offset, u32 len)
{
	struct sg_table *sgt = &pinned->block[pinned->mapped];
	u64 last = (offset + len - 1) >> PAGE_SHIFT;
	u64 first = offset >> PAGE_SHIFT;
	int err;

	err = sg_alloc_table_from_pages(sgt, pinned->page + first, last - first + 1,
					offset_in_page(offset), len, GFP_KERNEL_ACCOUNT);
	if (err)
		return err;
	err = ib_dma_map_sgtable_attrs(pinned->ib, sgt, direction(pinned), 0);
	if (err) {
		sg_free_table(sgt);
		return err;
	}
	pinned->mapped++;
	return 0;
}

/* Allocate the arrays. Their sizes depend on @len and @npages. */
static int alloc_arrays(struct spindle_pinned *pinned)
{
	/* A process may ask for any length: too much is an error without a warning. */
	gfp_t flags = GFP_KERNEL_ACCOUNT | __GFP_NOWARN;

	pinned->nblocks = ((pinned->len - 1) >> pinned->block_shift) + 1;
	pinned->page = kvmalloc_array(pinned->npages, sizeof(*pinned->page), flags);
	pinned->block = kvcalloc(pinned->nblocks, sizeof(*pinned->block), flags);
	if (pinned->write)
		pinned->have = kvcalloc(BITS_TO_LONGS(pinned->nblocks), sizeof(long), flags);
	return pinned->page && pinned->block && (pinned->have || !pinned->write) ? 0 : -ENOMEM;
}

/**
 * spindle_pinned_get() - pin an object
 * @addr: its first byte in the process
 * @len: bytes, not 0
 * @block_shift: log2 of a block's bytes
 * @write: the object is to be written
 *
 * Context: the process that owns the memory. Without a lock, because a page fault may wait for
 * ever, for instance for a userfaultfd handler.
 * Return: the memory, not mapped; ERR_PTR(-EFAULT), -EINVAL, -ENOMEM (or RLIMIT_MEMLOCK),
 * -EINTR, -EOPNOTSUPP (memory that cannot be pinned for long)
 */
struct spindle_pinned *spindle_pinned_get(u64 addr, u64 len, u32 block_shift, bool write)
{
	u64 npages = DIV_ROUND_UP_ULL(offset_in_page(addr) + len, PAGE_SIZE);
	struct spindle_pinned *pinned;
	int err;

	if ((len - 1) >> block_shift >= U32_MAX || addr + len < addr)
		return ERR_PTR(-EINVAL);
	if (!access_ok(u64_to_user_ptr(addr), len))
		return ERR_PTR(-EFAULT);
	/* Refuse more than all pages here, because the array of pages would take much memory. */
	if (npages > totalram_pages())
		return ERR_PTR(-ENOMEM);
	pinned = kzalloc(sizeof(*pinned), GFP_KERNEL_ACCOUNT);
	if (!pinned)
		return ERR_PTR(-ENOMEM);
	pinned->len = len;
	pinned->skip = offset_in_page(addr);
	pinned->block_shift = block_shift;
	pinned->write = write;
	err = charge(pinned, npages);
	if (err) {
		kfree(pinned);
		return ERR_PTR(err);
	}
	pinned->npages = npages;
	err = alloc_arrays(pinned);
	pinned->npages = 0;
	if (!err)
		err = pin(pinned, addr & PAGE_MASK, npages);
	if (err) {
		/* All pages were charged, but only @npages were pinned. */
		uncharge(pinned, npages - pinned->npages);
		spindle_pinned_unmap(pinned);
		spindle_pinned_free(pinned);
		return ERR_PTR(err);
	}
	return pinned;
}

/**
 * spindle_pinned_borrow() - describe an object in a ring
 * @mem: memory of the ring; must exist until the object is freed
 * @ring: offset of the ring in @mem, a multiple of the page size
 * @ring_bytes: its bytes, a power of two, at least a page
 * @at: first byte of the object in the ring
 * @len: bytes, at most the ring's; it may wrap
 * @block_shift: log2 of a block's bytes
 * @write: the object is to be written
 *
 * Context: process.
 * Return: the object, not mapped; NULL if @len is 0 or there is no memory
 */
struct spindle_pinned *spindle_pinned_borrow(const struct spindle_pages *mem, u64 ring,
					     u64 ring_bytes, u64 at, u64 len,
					     u32 block_shift, bool write)
{
	struct page *const *page = mem->frames->page;
	struct spindle_pinned *pinned = len ? kzalloc(sizeof(*pinned), GFP_KERNEL_ACCOUNT) : NULL;
	u64 i;

	if (!pinned)
		return NULL;
	pinned->len = len;
	pinned->skip = offset_in_page(at);
	pinned->block_shift = block_shift;
	pinned->write = write;
	pinned->npages = DIV_ROUND_UP_ULL(pinned->skip + len, PAGE_SIZE);
	if (alloc_arrays(pinned)) {
		spindle_pinned_free(pinned);
		return NULL;
	}
	/* The ring has whole pages, so an object that wraps has no gap in its pages. */
	for (i = 0; i < pinned->npages; i++)
		pinned->page[i] = page[(ring + (((at & PAGE_MASK) + (i << PAGE_SHIFT)) &
						(ring_bytes - 1))) >> PAGE_SHIFT];
	return pinned;
}

/**
 * spindle_pinned_map() - map an object for a device
 * @pinned: the object
 * @ib: the device, which the caller keeps
 *
 * Context: process. For a process's memory without a lock, because a large object takes long.
 * Return: 0, -EINTR or -errno; in all cases the caller must unmap and free the object
 */
int spindle_pinned_map(struct spindle_pinned *pinned, struct ib_device *ib)
{
	u64 block = BIT_ULL(pinned->block_shift), at;
	int err;

	pinned->ib = ib;
	for (at = 0; at < pinned->len; at += block) {
		err = map_block(pinned, pinned->skip + at, min(pinned->len - at, block));
		if (err)
			return err;
		if (fatal_signal_pending(current))
			return -EINTR;
		cond_resched();
	}
	return 0;
}

/**
 * spindle_pinned_unmap_some() - unmap some blocks of an object that the device no longer uses
 * @pinned: the object
 * @max: blocks at most
 *
 * Context: any; does not sleep.
 * Return: true, only once, when all blocks are unmapped and the process may use the memory; false:
 * call again
 */
bool spindle_pinned_unmap_some(struct spindle_pinned *pinned, u32 max)
{
	u32 end = min(pinned->mapped - pinned->unmapped, max) + pinned->unmapped;

	for (; pinned->unmapped < end; pinned->unmapped++)
		ib_dma_unmap_sgtable_attrs(pinned->ib, &pinned->block[pinned->unmapped],
					   direction(pinned), 0);
	if (end < pinned->mapped)
		return false;
	if (pinned->user)
		uncharge(pinned, pinned->npages);
	return true;
}

/**
 * spindle_pinned_unmap() - unmap all remaining blocks
 * @pinned: the object
 *
 * Context: process.
 */
void spindle_pinned_unmap(struct spindle_pinned *pinned)
{
	while (!spindle_pinned_unmap_some(pinned, ROUND_BLOCKS))
		cond_resched();
}

/**
 * spindle_pinned_free() - unpin and free an object
 * @pinned: the object, unmapped
 *
 * Context: process.
 */
void spindle_pinned_free(struct spindle_pinned *pinned)
{
	u32 i;

	for (i = 0; i < pinned->mapped; i++)
		sg_free_table(&pinned->block[i]);
	if (pinned->user)
		unpin_user_pages_dirty_lock(pinned->page, pinned->npages, pinned->write);
	kvfree(pinned->page);
	kvfree(pinned->block);
	kvfree(pinned->have);
	if (pinned->user) {
		free_uid(pinned->user);
		mmdrop(pinned->mm);
	}
	kfree(pinned);
}
