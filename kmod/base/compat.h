/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Differences between the kernels that the module builds for, 6.1 and newer. Each entry tests
 * for a feature and not for a version, because distributions backport features.
 */
#ifndef SPINDLE_BASE_COMPAT_H
#define SPINDLE_BASE_COMPAT_H

#include <linux/dma-map-ops.h>
#include <linux/eventfd.h>
#include <linux/mm.h>
#include <net/genetlink.h>

/* crypto_memneq() moved with 6.4. */
#ifdef SPINDLE_HAVE_CRYPTO_UTILS
#include <crypto/utils.h>
#else
#include <crypto/algapi.h>
#endif

/* Linux 6.3 added vm_flags_mod() and made vma->vm_flags const. */
#ifdef SPINDLE_HAVE_VM_FLAGS_MOD
static inline void spindle_vm_flags(struct vm_area_struct *vma, vm_flags_t set,
				    vm_flags_t clear)
{
	vm_flags_mod(vma, set, clear);
}
#else
static inline void spindle_vm_flags(struct vm_area_struct *vma, vm_flags_t set,
				    vm_flags_t clear)
{
	vma->vm_flags = (vma->vm_flags | set) & ~clear;
}
#endif

/* eventfd_signal() lost its count with 6.8. */
#ifdef SPINDLE_HAVE_EVENTFD_SIGNAL_1
#define spindle_eventfd_signal(ctx) eventfd_signal(ctx)
#else
#define spindle_eventfd_signal(ctx) eventfd_signal(ctx, 1)
#endif

/* The attributes of a dump request moved into a struct genl_info with 6.6. */
static inline struct nlattr **spindle_dump_attrs(struct netlink_callback *cb)
{
#ifdef SPINDLE_HAVE_GENL_INFO_DUMP
	return genl_info_dump(cb)->attrs;
#else
	return genl_dumpit_info(cb)->attrs;
#endif
}

/*
 * Before 6.10 dma_need_sync() returned true for every device behind an IOMMU, even if a sync
 * does nothing. A sync does nothing if the device is coherent, except for bounce buffers of
 * untrusted devices, and RDMA devices are not untrusted.
 */
static inline bool spindle_dma_need_sync(struct device *dev, dma_addr_t dma)
{
#ifndef SPINDLE_HAVE_DMA_DEV_NEED_SYNC
	if (get_dma_ops(dev))
		return !dev_is_dma_coherent(dev);
#endif
	return dma_need_sync(dev, dma);
}

#endif /* SPINDLE_BASE_COMPAT_H */
