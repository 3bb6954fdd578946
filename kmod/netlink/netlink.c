// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: registration of the family "spindle". See netlink.h and <linux/spindle_genl.h>.
 */
#include <linux/init.h>

#include "generated.h"
#include "internal.h"
#include "netlink.h"
#include "node/event.h"

/**
 * spindle_netlink_init() - register the family; requests may arrive before this returns
 *
 * Return: 0 or -errno
 */
int __init spindle_netlink_init(void)
{
	spindle_family.ops = spindle_netlink_ops;
	spindle_family.n_ops = ARRAY_SIZE(spindle_netlink_ops);
	spindle_event_init(&spindle_family);
	return genl_register_family(&spindle_family);
}

/**
 * spindle_netlink_exit() - unregister the family; waits for requests to end
 */
void spindle_netlink_exit(void)
{
	genl_unregister_family(&spindle_family);
}
