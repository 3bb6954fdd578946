// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices: which RDMA devices may be used, and their removal.
 *
 * ib_client.remove() must not return while we still use the device. The core calls clients in the
 * reverse order of their registration, so it calls us before rdma_cm. An address then still
 * resolves to the dying device for a while. So a device is only usable between add() and remove().
 */
#include <linux/log2.h>
#include <linux/moduleparam.h>

#include "base/compat.h"
#include "device.h"
#include "region.h"

static unsigned int fast_reg_pages;
module_param(fast_reg_pages, uint, 0644);
MODULE_PARM_DESC(fast_reg_pages,
		 "For tests: most pages that devices register at once (128 or more; 0: no limit)");

static void (*removed_cb)(struct ib_device *ib);
static struct ib_client device_client;

/*
 * The client data marks a usable device. The core has allocated room for that, so add() cannot
 * fail. This matters because the core ignores an error of add(), and never calls add() again.
 */
static int client_add(struct ib_device *ib)
{
	ib_set_client_data(ib, &device_client, ib);
	return 0;
}

static void client_remove(struct ib_device *ib, void *client_data)
{
	ib_set_client_data(ib, &device_client, NULL);
	removed_cb(ib);
}

static struct ib_client device_client = {
	.name = "spindle",
	.add = client_add,
	.remove = client_remove,
};

/**
 * spindle_device_init() - start following devices
 * @removed: called when a device goes; must tear down all that uses it, may sleep
 *
 * Return: 0 or -errno
 */
int spindle_device_init(void (*removed)(struct ib_device *ib))
{
	removed_cb = removed;
	return ib_register_client(&device_client);
}

/**
 * spindle_device_exit() - stop following devices; calls @removed for each
 */
void spindle_device_exit(void)
{
	ib_unregister_client(&device_client);
}

/**
 * spindle_device_usable() - may the caller create objects on the device?
 * @ib: the device
 *
 * The caller holds the lock that the removed() callback takes. Before the caller releases the
 * lock, it links its objects where that callback finds them.
 *
 * Return: true if so
 */
bool spindle_device_usable(struct ib_device *ib)
{
	return ib_get_client_data(ib, &device_client);
}

/**
 * spindle_device_pages() - pages of a fast registration at most
 * @ib: the device
 *
 * Return: their number
 */
u32 spindle_device_pages(const struct ib_device *ib)
{
	u32 pages = ib->attrs.max_fast_reg_page_list_len;
	u32 limit = READ_ONCE(fast_reg_pages);

	return limit ? min(pages, limit) : pages;
}

/**
 * spindle_device_chunk_shift() - how large are the chunks by which a region is registered?
 * @ib: the device, capable
 *
 * Return: log2 of their bytes, SPINDLE_CHUNK_SHIFT_MIN to SPINDLE_CHUNK_SHIFT_MAX
 */
u32 spindle_device_chunk_shift(const struct ib_device *ib)
{
	u32 pages = max_t(u32, spindle_device_pages(ib), 1);

	return clamp_t(u32, ilog2(pages) + PAGE_SHIFT, SPINDLE_CHUNK_SHIFT_MIN,
		       SPINDLE_CHUNK_SHIFT_MAX);
}

/**
 * spindle_device_capable() - does the device support what connections need?
 * @ib: the device
 *
 * Connections need writes with immediate data, and fast registration of the smallest chunk.
 *
 * Return: true if so
 */
bool spindle_device_capable(struct ib_device *ib)
{
	u32 port = rdma_start_port(ib);

	return (rdma_protocol_ib(ib, port) || rdma_protocol_roce(ib, port)) &&
	       (ib->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) &&
	       spindle_device_pages(ib) >= BIT(SPINDLE_CHUNK_SHIFT_MIN) >> PAGE_SHIFT;
}

/**
 * spindle_device_ordered() - does memory show writes of one queue pair in order?
 * @ib: the device
 *
 * Soft-RoCE copies packets one after the other on strongly ordered CPUs. A PCI device may use
 * relaxed ordering for memory regions of the kernel. Memory may then show a counter before the
 * payload that was written ahead of it, and only a completion orders them. A driver may request
 * relaxed ordering for a region, whatever the PCI configuration says. So only soft-RoCE counts as
 * ordered; other devices were not tested.
 *
 * Return: true if polling memory is safe
 */
bool spindle_device_ordered(struct ib_device *ib)
{
	return (IS_ENABLED(CONFIG_X86_64) || IS_ENABLED(CONFIG_UML)) &&
	       ib->ops.driver_id == RDMA_DRIVER_RXE;
}

/**
 * spindle_device_copies() - does the device see a copy of what is mapped for it?
 * @ib: the device
 * @dma: address of memory that is mapped for streaming, in both directions
 *
 * A row is mapped once, and CPU and device access it at any time while it exists. So there is no
 * point at which a copy could be synchronized. Soft-RoCE uses the memory itself.
 *
 * Return: true if so (swiotlb), or if the device's caches are not the CPU's
 */
bool spindle_device_copies(struct ib_device *ib, u64 dma)
{
	return !ib_uses_virt_dma(ib) && spindle_dma_need_sync(ib->dma_device, dma);
}

/**
 * spindle_device_coherent() - may rows be mapped for the device?
 * @ib: the device
 *
 * This tries a single page. A device with narrow DMA addresses may need copies of other pages, so
 * region.c checks each mapping.
 *
 * Context: process.
 * Return: 0; -EOPNOTSUPP: the device sees a copy; -ENOMEM
 */
int spindle_device_coherent(struct ib_device *ib)
{
	struct page *page = alloc_page(GFP_KERNEL);
	int err = -ENOMEM;
	u64 dma;

	if (!page)
		return err;
	dma = ib_dma_map_page(ib, page, 0, PAGE_SIZE, DMA_BIDIRECTIONAL);
	if (!ib_dma_mapping_error(ib, dma)) {
		err = spindle_device_copies(ib, dma) ? -EOPNOTSUPP : 0;
		ib_dma_unmap_page(ib, dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
	}
	__free_page(page);
	return err;
}
