/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Regions: memory that a device and the kernel share, and windows into it.
 *
 * One page array, three views: vmap for the engine, vm_insert_pages for processes,
 * scatter lists for the device. A region belongs to whoever allocated it and
 * outlives every window; a window is the registration of a region in one
 * connection's protection domain, and belongs to that connection.
 *
 * Registrations go by chunks of SPINDLE_CHUNK bytes, because that is what devices
 * take in one fast registration (soft-RoCE: 512 pages).
 *
 * Context: process.
 */
#ifndef SPINDLE_FABRIC_REGION_H
#define SPINDLE_FABRIC_REGION_H

#include <linux/scatterlist.h>
#include <rdma/ib_verbs.h>

#include "../memory.h"

#define SPINDLE_CHUNK_SHIFT	21
#define SPINDLE_CHUNK		BIT(SPINDLE_CHUNK_SHIFT)

/**
 * struct spindle_region - zeroed pages, mapped into the kernel and for a device
 * @ib: the device
 * @mem: the pages
 * @chunk: DMA-mapped scatter list of each chunk
 * @nchunks: their number
 */
struct spindle_region {
	struct ib_device *ib;
	struct spindle_pages mem;
	struct sg_table *chunk;
	u32 nchunks;
};

int spindle_region_alloc(struct spindle_region *region, struct ib_device *ib, u64 bytes);
void spindle_region_free(struct spindle_region *region);

/**
 * struct spindle_window - a region registered in one protection domain
 * @mr: one per chunk
 * @nchunks: their number
 */
struct spindle_window {
	struct ib_mr **mr;
	u32 nchunks;
};

struct spindle_conn;

int spindle_window_open(struct spindle_window *window, struct spindle_conn *conn,
			const struct spindle_region *region, int access);
void spindle_window_close(struct spindle_window *window);

#endif /* SPINDLE_FABRIC_REGION_H */
