/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink: the generic netlink family "spindle".
 */
#ifndef SPINDLE_NETLINK_NETLINK_H
#define SPINDLE_NETLINK_NETLINK_H

int spindle_netlink_init(void);
void spindle_netlink_exit(void);

#endif /* SPINDLE_NETLINK_NETLINK_H */
