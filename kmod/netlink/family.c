// SPDX-License-Identifier: GPL-2.0-only
/*
 * The family "spindle". Operations reply by it, so this file uses none of them, and netlink.c adds
 * their table at module init. See netlink.h.
 */
#include <linux/module.h>

#include "internal.h"

static const struct genl_multicast_group mcgrps[] = {
	{ .name = SPINDLE_GENL_MCGRP },
};

struct genl_family spindle_family __ro_after_init = {
	.name = SPINDLE_GENL_NAME,
	.version = SPINDLE_GENL_VERSION,
	.netnsok = true,
	.parallel_ops = true,	/* because each namespace has a lock of its own */
	.module = THIS_MODULE,
	.mcgrps = mcgrps,
	.n_mcgrps = ARRAY_SIZE(mcgrps),
};
