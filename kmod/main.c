// SPDX-License-Identifier: GPL-2.0-only
/*
 * Spindle: atomic multicast over RDMA as an operating-system service.
 *
 * Start and end of the module. Documentation/design/architecture.rst gives an overview.
 */
#include <linux/module.h>
#include <net/genetlink.h>
#include <linux/spindle_genl.h>

#include "base/mapping.h"
#include "base/net.h"
#include "bulk/rdmc.h"
#include "dev/chardev.h"
#include "dev/rdmc_dev.h"
#include "dev/sst_dev.h"
#include "fabric/conn.h"
#include "fabric/device.h"
#include "live/live.h"
#include "netlink/netlink.h"
#include "node/above.h"
#include "node/installed.h"
#include "node/node.h"

/* Interfaces for users are registered last and removed first. */
static int __init spindle_init(void)
{
	int err;

	spindle_above_init(&spindle_live_membership, &spindle_bulk_transfer);
	spindle_installed_init();
	err = spindle_conns_init();
	if (err)
		return err;
	err = spindle_net_init(spindle_node_net_gone);
	if (err)
		goto err_conn;
	err = spindle_device_init(spindle_node_device_removed);
	if (err)
		goto err_net;
	err = spindle_mapping_init();
	if (err)
		goto err_device;
	err = spindle_chardev_init();
	if (err)
		goto err_mapping;
	err = spindle_rdmc_dev_init();
	if (err)
		goto err_chardev;
	err = spindle_sst_dev_init();
	if (err)
		goto err_rdmc;
	err = spindle_netlink_init();
	if (err)
		goto err_sst;
	return 0;

err_sst:
	spindle_sst_dev_exit();
err_rdmc:
	spindle_rdmc_dev_exit();
err_chardev:
	spindle_chardev_exit();
err_mapping:
	spindle_mapping_exit();
err_device:
	spindle_device_exit();
err_net:
	spindle_net_exit();
err_conn:
	spindle_conns_exit();
	return err;
}

/* No file is open and no node exists: both hold a reference to the module. */
static void __exit spindle_exit(void)
{
	spindle_netlink_exit();
	spindle_sst_dev_exit();
	spindle_rdmc_dev_exit();
	spindle_chardev_exit();
	spindle_mapping_exit();
	spindle_device_exit();
	spindle_net_exit();
	spindle_conns_exit();
}

module_init(spindle_init);
module_exit(spindle_exit);
MODULE_AUTHOR("The Spindle authors");
MODULE_DESCRIPTION("Atomic multicast over RDMA");
MODULE_LICENSE("GPL");
MODULE_VERSION(SPINDLE_VERSION);
MODULE_ALIAS_GENL_FAMILY(SPINDLE_GENL_NAME);
