// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: the family "spindle". See netlink.h and <linux/spindle_genl.h>.
 */
#include <linux/module.h>

#include "generated.h"
#include "internal.h"
#include "netlink.h"
#include "node/event.h"

static const struct genl_multicast_group mcgrps[] = {
	{ .name = SPINDLE_GENL_MCGRP },
};

struct genl_family spindle_family __ro_after_init = {
	.name = SPINDLE_GENL_NAME,
	.version = SPINDLE_GENL_VERSION,
	.netnsok = true,
	.parallel_ops = true,	/* because each namespace has a lock of its own */
	.module = THIS_MODULE,
	.ops = spindle_netlink_ops,
	.n_ops = ARRAY_SIZE(spindle_netlink_ops),
	.mcgrps = mcgrps,
	.n_mcgrps = ARRAY_SIZE(mcgrps),
};

/**
 * spindle_netlink_init() - register the family; requests may arrive before this returns
 *
 * Return: 0 or -errno
 */
int __init spindle_netlink_init(void)
{
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
