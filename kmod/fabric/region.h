/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Regions: memory that a device and the kernel share, and windows into it.
 *
 * One page array is mapped in three ways: by vmap() for the engine, by vm_insert_pages() for
 * processes, by scatter lists for the device. The object that allocated a region owns it, and the
 * region outlives every window. A window is the registration of a region in one connection's
 * protection domain, and belongs to that connection.
 *
 * A region is registered in chunks. A chunk has as many pages as the device takes in one fast
 * registration, rounded down to a power of two. So the hot path finds a chunk by a shift.
 * Chunks above SPINDLE_CHUNK_SHIFT_MAX would need page lists longer than a page in drivers.
 *
 * A chunk is registered with its offset in the region as its address. So the holder of the key
 * names bytes of the row by their offset, and no address of the kernel or of the device leaves
 * this host.
 *
 * The own row is registered for each connection, too, although the local key of the protection
 * domain would work without that. The reason is that its pages are scattered. With the local key
 * a write would need a scatter entry for each page, and a write of 1 MiB eight work requests of
 * 32 entries.
 *
 * Context: process.
 */
#ifndef SPINDLE_FABRIC_REGION_H
#define SPINDLE_FABRIC_REGION_H

#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

#include "base/memory.h"

/* log2 of the bytes of a chunk: 128 pages (vmw_pvrdma) to 512 (soft-RoCE; mlx4 has 511). */
#define SPINDLE_CHUNK_SHIFT_MIN	19
#define SPINDLE_CHUNK_SHIFT_MAX	21

/**
 * struct spindle_region - zeroed pages, mapped into the kernel and for a device
 */
struct spindle_region {
	/** @ib: the device */
	struct ib_device *ib;
	/**
	 * @mem: the pages. A shared region holds all pages of its owner, counts those of its part,
	 * and has no kernel mapping
	 */
	struct spindle_pages mem;
	/** @first: the first page of the part; else 0 */
	u32 first;
	/** @chunk: DMA-mapped scatter list of each chunk */
	struct sg_table *chunk;
	/** @nchunks: their number */
	u32 nchunks;
	/** @shift: log2 of the bytes of a chunk; the last one may be shorter */
	u32 shift;
};

int spindle_region_alloc(struct spindle_region *region, struct ib_device *ib, u64 bytes);
int spindle_region_share(struct spindle_region *region, const struct spindle_region *of, u64 at,
			 u64 bytes);
void spindle_region_free(struct spindle_region *region);

/**
 * struct spindle_window - a region registered in one protection domain
 */
struct spindle_window {
	/** @mr: one per chunk */
	struct ib_mr **mr;
	/** @nchunks: their number */
	u32 nchunks;
	/** @shift: of the region */
	u32 shift;
};

struct spindle_conn;

int spindle_window_open(struct spindle_window *window, struct spindle_conn *conn,
			const struct spindle_region *region, int access);
void spindle_window_close(struct spindle_window *window);

#endif /* SPINDLE_FABRIC_REGION_H */
