// SPDX-License-Identifier: GPL-2.0-only
/*
 * Above: the tables of the folders that use nodes. See above.h.
 */
#include <linux/cache.h>
#include <linux/init.h>

#include "above.h"

const struct spindle_membership_ops *spindle_membership __ro_after_init;
const struct spindle_transfer_ops *spindle_transfer __ro_after_init;

/**
 * spindle_above_init() - register what is above nodes
 * @membership: of live/
 * @transfer: of bulk/
 *
 * Context: module init, before there is a node.
 */
void __init spindle_above_init(const struct spindle_membership_ops *membership,
			       const struct spindle_transfer_ops *transfer)
{
	spindle_membership = membership;
	spindle_transfer = transfer;
}
