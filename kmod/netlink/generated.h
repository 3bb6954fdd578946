/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink: operations of the family, and the functions that they call.
 *
 * Do not edit: Documentation/netlink/generate makes this file from
 * Documentation/netlink/spindle.yaml.
 */
#ifndef SPINDLE_NETLINK_GENERATED_H
#define SPINDLE_NETLINK_GENERATED_H

#include <net/genetlink.h>

#include <linux/spindle_genl.h>

#define SPINDLE_NETLINK_OPS	17

extern const struct genl_ops spindle_netlink_ops[SPINDLE_NETLINK_OPS];

int spindle_netlink_node_add_doit(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_node_del_doit(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_node_get_doit(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_node_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int spindle_netlink_view_set_doit(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_view_del_doit(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_view_get_doit(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_dump_start(struct netlink_callback *cb);
int spindle_netlink_view_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int spindle_netlink_subgroup_start(struct netlink_callback *cb);
int spindle_netlink_subgroup_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int spindle_netlink_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int spindle_netlink_node_set_doit(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_subgroup_set_doit(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_raw_run_doit(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_node_join_doit(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_node_leave_doit(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_node_evict_doit(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_status_start(struct netlink_callback *cb);
int spindle_netlink_status_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int spindle_netlink_rdmc_start(struct netlink_callback *cb);
int spindle_netlink_rdmc_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb);
int spindle_netlink_subgroup_change_doit(struct sk_buff *skb, struct genl_info *info);

#endif /* SPINDLE_NETLINK_GENERATED_H */
