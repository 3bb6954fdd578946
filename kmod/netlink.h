/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink: the generic netlink family "spindle".
 *
 *	netlink.c	family, policies, requests that change something
 *	netlink_view.c	parses a view
 *	netlink_set.c	requests that change what runs, and measure the device
 *	netlink_dump.c	replies
 *	event.c		notifications
 */
#ifndef SPINDLE_NETLINK_H
#define SPINDLE_NETLINK_H

#include <net/genetlink.h>

#include "core/view.h"

struct spindle_node;

extern struct genl_family spindle_family;

extern const struct nla_policy spindle_tune_policy[SPINDLE_TUNE_A_MAX + 1];
extern const struct nla_policy spindle_raw_policy[SPINDLE_RAW_A_MAX + 1];

int spindle_netlink_init(void);
void spindle_netlink_exit(void);

struct spindle_node *spindle_netlink_node(struct genl_info *info);
int spindle_netlink_addr(struct spindle_addr *addr, const struct nlattr *a4,
			 const struct nlattr *a6, const struct nlattr *port,
			 struct netlink_ext_ack *extack);
const struct nlattr *spindle_netlink_own(const struct spindle_view *view,
					 struct genl_info *info);
int spindle_netlink_view(struct spindle_view *view, struct genl_info *info);

int spindle_netlink_node_set(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_subgroup_set(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_raw_run(struct sk_buff *skb, struct genl_info *info);

int spindle_netlink_node_get(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_view_get(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_dump_start(struct netlink_callback *cb);
int spindle_netlink_subgroup_start(struct netlink_callback *cb);
int spindle_netlink_node_dump(struct sk_buff *skb, struct netlink_callback *cb);
int spindle_netlink_view_dump(struct sk_buff *skb, struct netlink_callback *cb);
int spindle_netlink_subgroup_dump(struct sk_buff *skb, struct netlink_callback *cb);
int spindle_netlink_stats_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* SPINDLE_NETLINK_H */
