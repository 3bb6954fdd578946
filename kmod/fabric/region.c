// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions: memory that a device and the kernel share, and windows into it.
 * See region.h.
 */
#include <linux/slab.h>

#include "conn.h"
#include "device.h"
#include "region.h"

/* Pages of every chunk except the last one, which may be shorter. */
static u32 most_pages(const struct spindle_region *region)
{
	return BIT(region->shift) >> PAGE_SHIFT;
}

static u32 chunk_pages(const struct spindle_region *region, u32 i)
{
	return min(most_pages(region), region->mem.n - i * most_pages(region));
}

static bool copied(const struct spindle_region *region, const struct sg_table *sgt)
{
	struct scatterlist *sg;
	u32 i;

	for_each_sgtable_dma_sg(sgt, sg, i)
		if (spindle_device_copies(region->ib, sg_dma_address(sg)))
			return true;
	return false;
}

static void unmap_chunk(struct spindle_region *region, u32 i)
{
	ib_dma_unmap_sgtable_attrs(region->ib, &region->chunk[i], DMA_BIDIRECTIONAL, 0);
	sg_free_table(&region->chunk[i]);
}

static int map_chunk(struct spindle_region *region, u32 i)
{
	struct sg_table *sgt = &region->chunk[i];
	u32 n = chunk_pages(region, i);
	int err;

	err = sg_alloc_table_from_pages(sgt, region->mem.frames->page + region->first +
					i * most_pages(region), n, 0,
					(unsigned long)n << PAGE_SHIFT, GFP_KERNEL_ACCOUNT);
	if (err)
		return err;
	err = ib_dma_map_sgtable_attrs(region->ib, sgt, DMA_BIDIRECTIONAL, 0);
	if (err) {
		sg_free_table(sgt);
		return err;
	}
	if (!copied(region, sgt))
		return 0;
	pr_warn_ratelimited("%s accesses copies of memory (swiotlb): no rows are registered\n",
			    dev_name(&region->ib->dev));
	unmap_chunk(region, i);
	return -EOPNOTSUPP;
}

/* Map the pages of a region for the device. The pages are given back after an error. */
static int map_all(struct spindle_region *region, struct ib_device *ib)
{
	int err = -ENOMEM;
	u32 i;

	region->ib = ib;
	region->shift = spindle_device_chunk_shift(ib);
	region->nchunks = DIV_ROUND_UP(region->mem.n, most_pages(region));
	region->chunk = kvcalloc(region->nchunks, sizeof(*region->chunk), GFP_KERNEL_ACCOUNT);
	if (!region->chunk)
		goto err_pages;
	for (i = 0; i < region->nchunks; i++) {
		err = map_chunk(region, i);
		if (err)
			goto err_chunks;
	}
	return 0;

err_chunks:
	while (i--)
		unmap_chunk(region, i);
	kvfree(region->chunk);
err_pages:
	spindle_pages_free(&region->mem);
	return err;
}

/**
 * spindle_region_alloc() - allocate and map a region
 * @region: out
 * @ib: device that will read or write it
 * @bytes: size, a multiple of PAGE_SIZE
 *
 * The pages are zeroed, because processes and peers can read them.
 *
 * Return: 0 or -errno
 */
int spindle_region_alloc(struct spindle_region *region, struct ib_device *ib, u64 bytes)
{
	int err;

	memset(region, 0, sizeof(*region));
	err = spindle_pages_alloc(&region->mem, bytes);
	return err ? err : map_all(region, ib);
}

/**
 * spindle_region_share() - map a part of a region once more, to give other rights to that part
 * @region: out
 * @of: the region, which has a kernel mapping; its pages stay until @region is freed
 * @at: first byte of the part, a multiple of PAGE_SIZE
 * @bytes: size of the part, a multiple of PAGE_SIZE
 *
 * Return: 0 or -errno
 */
int spindle_region_share(struct spindle_region *region, const struct spindle_region *of, u64 at,
			 u64 bytes)
{
	memset(region, 0, sizeof(*region));
	spindle_pages_share(&region->mem, &of->mem);
	region->first = at >> PAGE_SHIFT;
	region->mem.n = bytes >> PAGE_SHIFT;
	return map_all(region, of->ib);
}

/**
 * spindle_region_free() - free a region
 * @region: without open windows; all zero if it was never allocated
 */
void spindle_region_free(struct spindle_region *region)
{
	u32 i;

	if (!region->mem.frames)
		return;
	for (i = 0; i < region->nchunks; i++)
		unmap_chunk(region, i);
	kvfree(region->chunk);
	spindle_pages_free(&region->mem);
}

/*
 * Register the next chunk. The window owns the memory region even after an error, because the
 * request may be outstanding until the drain.
 */
static int register_chunk(struct spindle_window *window, struct spindle_conn *conn,
			  const struct spindle_region *region, int access)
{
	u32 i = window->nchunks;
	const struct sg_table *sgt = &region->chunk[i];
	struct ib_mr *mr = ib_alloc_mr(conn->pd, IB_MR_TYPE_MEM_REG, chunk_pages(region, i));
	int n;

	if (IS_ERR(mr))
		return PTR_ERR(mr);
	window->mr[window->nchunks++] = mr;
	n = ib_map_mr_sg(mr, sgt->sgl, sgt->nents, NULL, PAGE_SIZE);
	if (n < 0 || n != sgt->nents)
		return n < 0 ? n : -EINVAL;
	/* The peer addresses the chunk by its offset, and never sees the real address. */
	mr->iova = (u64)i << region->shift;
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	return spindle_setup_register(conn, mr, access);
}

/**
 * spindle_window_open() - register a region for a connection
 * @window: out
 * @conn: connected and in set-up, so the caller may use its send queue
 * @region: the region
 * @access: IB_ACCESS_*; with IB_ACCESS_REMOTE_WRITE the peer may write it
 *
 * The region is registered in the connection's own protection domain, so no other peer can use
 * its keys, even if it learns them.
 *
 * Return: 0 or -errno; in both cases call spindle_window_close() when the queue pair is drained
 */
int spindle_window_open(struct spindle_window *window, struct spindle_conn *conn,
			const struct spindle_region *region, int access)
{
	int err = 0;
	u32 i;

	window->nchunks = 0;
	window->shift = region->shift;
	window->mr = kvcalloc(region->nchunks, sizeof(*window->mr), GFP_KERNEL_ACCOUNT);
	if (!window->mr)
		return -ENOMEM;
	for (i = 0; i < region->nchunks && !err; i++)
		err = register_chunk(window, conn, region, access);
	return err ? err : spindle_setup_wait(conn);
}

/**
 * spindle_window_close() - deregister a window
 * @window: opened, or all zero; the queue pair is drained
 */
void spindle_window_close(struct spindle_window *window)
{
	u32 i;

	for (i = 0; i < window->nchunks; i++)
		ib_dereg_mr(window->mr[i]);
	kvfree(window->mr);
	memset(window, 0, sizeof(*window));
}
