/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Devices: which RDMA devices may be used, and their removal.
 *
 * Context: process.
 */
#ifndef SPINDLE_FABRIC_DEVICE_H
#define SPINDLE_FABRIC_DEVICE_H

#include <rdma/ib_verbs.h>

int spindle_device_init(void (*removed)(struct ib_device *ib));
void spindle_device_exit(void);
bool spindle_device_usable(struct ib_device *ib);
bool spindle_device_capable(struct ib_device *ib);
u32 spindle_device_pages(const struct ib_device *ib);
u32 spindle_device_chunk_shift(const struct ib_device *ib);
bool spindle_device_ordered(struct ib_device *ib);
bool spindle_device_copies(struct ib_device *ib, u64 dma);
int spindle_device_coherent(struct ib_device *ib);

#endif /* SPINDLE_FABRIC_DEVICE_H */
