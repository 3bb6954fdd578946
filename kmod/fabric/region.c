// SPDX-License-Identifier: GPL-2.0-only
/*
 * Regions: memory that a device and the kernel share, and windows into it.
 * See region.h.
 */
#include <linux/slab.h>

#include "conn.h"
#include "region.h"

#define CHUNK_PAGES (SPINDLE_CHUNK >> PAGE_SHIFT)

static u32 chunk_pages(const struct spindle_region *region, u32 i)
{
	return min_t(u32, CHUNK_PAGES, region->mem.n - i * CHUNK_PAGES);
}

static int map_chunk(struct spindle_region *region, u32 i)
{
	struct sg_table *sgt = &region->chunk[i];
	u32 n = chunk_pages(region, i);
	int err;

	err = sg_alloc_table_from_pages(sgt, region->mem.page + i * CHUNK_PAGES, n, 0,
					(unsigned long)n << PAGE_SHIFT, GFP_KERNEL);
	if (err)
		return err;
	err = ib_dma_map_sgtable_attrs(region->ib, sgt, DMA_BIDIRECTIONAL, 0);
	if (err)
		sg_free_table(sgt);
	return err;
}

static void unmap_chunk(struct spindle_region *region, u32 i)
{
	ib_dma_unmap_sgtable_attrs(region->ib, &region->chunk[i], DMA_BIDIRECTIONAL, 0);
	sg_free_table(&region->chunk[i]);
}

/**
 * spindle_region_alloc() - allocate and map a region
 * @region: out
 * @ib: device that will read or write it
 * @bytes: size, a multiple of PAGE_SIZE
 *
 * The pages are zeroed: processes see them, and so do peers.
 *
 * Return: 0 or -errno
 */
int spindle_region_alloc(struct spindle_region *region, struct ib_device *ib, u64 bytes)
{
	u32 i;
	int err;

	memset(region, 0, sizeof(*region));
	err = spindle_pages_alloc(&region->mem, bytes);
	if (err)
		return err;
	region->ib = ib;
	region->nchunks = DIV_ROUND_UP(region->mem.n, CHUNK_PAGES);
	region->chunk = kvcalloc(region->nchunks, sizeof(*region->chunk), GFP_KERNEL);
	if (!region->chunk) {
		err = -ENOMEM;
		goto err_pages;
	}
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
 * spindle_region_free() - give a region back
 * @region: no window into it is open; one that was never allocated is all zero
 */
void spindle_region_free(struct spindle_region *region)
{
	u32 i;

	if (!region->mem.va)
		return;
	for (i = 0; i < region->nchunks; i++)
		unmap_chunk(region, i);
	kvfree(region->chunk);
	spindle_pages_free(&region->mem);
}

static struct ib_mr *register_chunk(struct spindle_conn *conn, struct sg_table *sgt,
				    u32 pages, int access)
{
	struct ib_mr *mr = ib_alloc_mr(conn->pd, IB_MR_TYPE_MEM_REG, pages);
	int n, err;

	if (IS_ERR(mr))
		return mr;
	n = ib_map_mr_sg(mr, sgt->sgl, sgt->nents, NULL, PAGE_SIZE);
	if (n < 0 || n != sgt->nents) {
		err = n < 0 ? n : -EINVAL;
		goto err_dereg;
	}
	ib_update_fast_reg_key(mr, ib_inc_rkey(mr->rkey));
	err = spindle_conn_register(conn, mr, access);
	if (err)
		goto err_dereg;
	return mr;

err_dereg:
	ib_dereg_mr(mr);
	return ERR_PTR(err);
}

/**
 * spindle_window_open() - register a region for a connection
 * @window: out
 * @conn: connected; in set-up, its send queue is ours
 * @region: the region
 * @access: IB_ACCESS_*; with IB_ACCESS_REMOTE_WRITE the peer may write it
 *
 * The registration is made in the connection's own protection domain: no other peer
 * can use its keys, however it comes by them.
 *
 * Return: 0 or -errno
 */
int spindle_window_open(struct spindle_window *window, struct spindle_conn *conn,
			const struct spindle_region *region, int access)
{
	u32 i;

	window->nchunks = 0;
	window->mr = kvcalloc(region->nchunks, sizeof(*window->mr), GFP_KERNEL);
	if (!window->mr)
		return -ENOMEM;
	for (i = 0; i < region->nchunks; i++) {
		struct ib_mr *mr = register_chunk(conn, &region->chunk[i],
						  chunk_pages(region, i), access);

		if (IS_ERR(mr)) {
			spindle_window_close(window);
			return PTR_ERR(mr);
		}
		window->mr[window->nchunks++] = mr;
	}
	return 0;
}

/**
 * spindle_window_close() - take the rights back
 * @window: one that was opened, or all zero; its queue pair is drained
 */
void spindle_window_close(struct spindle_window *window)
{
	u32 i;

	for (i = 0; i < window->nchunks; i++)
		ib_dereg_mr(window->mr[i]);
	kvfree(window->mr);
	memset(window, 0, sizeof(*window));
}
