// SPDX-License-Identifier: GPL-2.0-only
/*
 * Devices: which RDMA devices may be used, and what to do when one goes away.
 *
 * ib_client.remove() must not return before nothing of ours is left on the device.
 * The core calls clients in the reverse order of their registration, so we come
 * before rdma_cm, and an address still resolves to the dying device for a while: a
 * device is usable only from add() to remove().
 */
#include <linux/list.h>
#include <linux/mutex.h>
#include <linux/pci.h>
#include <linux/slab.h>

#include "device.h"
#include "region.h"

struct device_entry {
	struct list_head list;
	struct ib_device *ib;
};

static LIST_HEAD(devices);
static DEFINE_MUTEX(devices_lock);
static void (*removed_cb)(struct ib_device *ib);

static int client_add(struct ib_device *ib)
{
	struct device_entry *entry = kmalloc(sizeof(*entry), GFP_KERNEL);

	if (!entry)
		return -ENOMEM;
	entry->ib = ib;
	mutex_lock(&devices_lock);
	list_add_tail(&entry->list, &devices);
	mutex_unlock(&devices_lock);
	return 0;
}

static void client_remove(struct ib_device *ib, void *client_data)
{
	struct device_entry *entry, *tmp;

	mutex_lock(&devices_lock);
	list_for_each_entry_safe(entry, tmp, &devices, list) {
		if (entry->ib != ib)
			continue;
		list_del(&entry->list);
		kfree(entry);
	}
	mutex_unlock(&devices_lock);
	removed_cb(ib);
}

static struct ib_client device_client = {
	.name = "spindle",
	.add = client_add,
	.remove = client_remove,
};

/**
 * spindle_device_init() - begin to follow devices
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
 * spindle_device_usable() - may something new be put on the device?
 * @ib: the device
 *
 * The caller holds the lock that the removed() callback takes, and puts what it
 * makes where that callback finds it before it lets go.
 *
 * Return: true if so
 */
bool spindle_device_usable(struct ib_device *ib)
{
	struct device_entry *entry;
	bool found = false;

	mutex_lock(&devices_lock);
	list_for_each_entry(entry, &devices, list)
		found |= entry->ib == ib;
	mutex_unlock(&devices_lock);
	return found;
}

/**
 * spindle_device_capable() - can the device do what connections need?
 * @ib: the device
 *
 * Writes with immediate data, and fast registration of a whole chunk.
 *
 * Return: true if so
 */
bool spindle_device_capable(struct ib_device *ib)
{
	u32 port = rdma_start_port(ib);

	return (rdma_protocol_ib(ib, port) || rdma_protocol_roce(ib, port)) &&
	       (ib->attrs.device_cap_flags & IB_DEVICE_MEM_MGT_EXTENSIONS) &&
	       ib->attrs.max_fast_reg_page_list_len >= SPINDLE_CHUNK >> PAGE_SHIFT;
}

/**
 * spindle_device_ordered() - does memory show writes of one queue pair in order?
 * @ib: the device
 *
 * Soft-RoCE copies packets one after the other on strongly ordered CPUs. A PCI
 * device may use relaxed ordering for memory regions of the kernel and then shows a
 * counter before the payload that was written ahead of it; there only a completion
 * orders. Anything that is not known to be safe counts as unordered.
 *
 * Return: true if polling memory is safe
 */
bool spindle_device_ordered(struct ib_device *ib)
{
	struct device *parent = ib->dev.parent;

	if (!IS_ENABLED(CONFIG_X86_64) && !IS_ENABLED(CONFIG_UML))
		return false;
	if (ib->ops.driver_id == RDMA_DRIVER_RXE)
		return true;
	if (IS_ENABLED(CONFIG_PCI) && parent && dev_is_pci(parent))
		return !pcie_relaxed_ordering_enabled(to_pci_dev(parent));
	return false;
}
