/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink: the generic netlink family "spindle".
 *
 *	netlink.c	family, policies, requests that change something
 *	view.c		parses a view
 *	live.c		requests about live views
 *	set.c		requests that change running nodes and subgroups, or measure the device
 *	dump.c		replies and dumps
 *	fill.c		attributes of nodes, views and subgroups in replies
 *	rdmc.c		attributes of RDMC groups in replies
 *	node/event.c	notifications
 */
#ifndef SPINDLE_NETLINK_NETLINK_H
#define SPINDLE_NETLINK_NETLINK_H

#include <net/genetlink.h>

#include "core/card.h"

struct spindle_group;
struct spindle_live;
struct spindle_node;
struct spindle_rdmc_group;
struct spindle_subgroup;

extern struct genl_family spindle_family;

extern const struct nla_policy spindle_tune_policy[SPINDLE_TUNE_A_MAX + 1];
extern const struct nla_policy spindle_raw_policy[SPINDLE_RAW_A_MAX + 1];

/* The lock of the namespace that a request came from. */
void spindle_netlink_lock(struct genl_info *info);
void spindle_netlink_unlock(struct genl_info *info);

int spindle_netlink_init(void);
void spindle_netlink_exit(void);

struct spindle_node *spindle_netlink_node(struct genl_info *info);
int spindle_netlink_key(const void **key, u32 *len, const struct nlattr *attr,
			struct netlink_ext_ack *extack);
void spindle_netlink_forget_key(struct genl_info *info);
u8 spindle_netlink_check_only(struct genl_info *info);
int spindle_netlink_set_node(struct genl_info *info, struct spindle_node **node);
int spindle_netlink_idle(u32 *us, struct sk_buff *skb, const struct nlattr *attr,
			 struct netlink_ext_ack *extack);
int spindle_netlink_addr(struct spindle_addr *addr, const struct nlattr *a4,
			 const struct nlattr *a6, const struct nlattr *port,
			 struct netlink_ext_ack *extack);
const struct nlattr *spindle_netlink_own(const struct spindle_view *view,
					 struct genl_info *info);
int spindle_netlink_view(struct spindle_view *view, struct genl_info *info);

typedef int spindle_netlink_parser(void *ctx, const struct nlattr *nest,
				   struct netlink_ext_ack *extack);

int spindle_netlink_subgroup(struct spindle_view_subgroup *sg, const struct nlattr *nest,
			     struct nlattr **a, struct netlink_ext_ack *extack);
int spindle_netlink_subgroup_node(const struct nlattr *nest, struct nlattr **a,
				  struct netlink_ext_ack *extack);
int spindle_netlink_each(void *ctx, struct genl_info *info, int type,
			 spindle_netlink_parser *parse);
int spindle_netlink_members(struct spindle_view *view, struct genl_info *info);
int spindle_netlink_check(const struct spindle_view *view, bool live, struct genl_info *info);

int spindle_netlink_put_rule(struct sk_buff *skb, const struct spindle_live *live, u32 subgroup);
int spindle_netlink_put_rules(struct sk_buff *skb, const struct spindle_live *live);
int spindle_netlink_put_lineage(struct sk_buff *skb, const struct spindle_lineage *lineage);
int spindle_netlink_put_insecure(struct sk_buff *skb, const struct spindle_node *node);
int spindle_netlink_live_set(struct genl_info *info);
int spindle_netlink_join(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_leave(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_evict(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_status_start(struct netlink_callback *cb);
int spindle_netlink_status_dump(struct sk_buff *skb, struct netlink_callback *cb);

int spindle_netlink_node_set(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_subgroup_set(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_raw_run(struct sk_buff *skb, struct genl_info *info);

/* Bytes of a message without lists: the size of a list is added to this. */
#define SPINDLE_FILL_BASE	1024

u32 spindle_fill_view_bytes(const struct spindle_group *group);
u32 spindle_fill_subgroup_bytes(const struct spindle_group *group);
bool spindle_fill_has_view(const struct spindle_node *node);
int spindle_fill_node(struct sk_buff *skb, const struct spindle_node *node);
int spindle_fill_subgroup_node(struct sk_buff *skb, int type, u32 id, bool sends);
int spindle_fill_view(struct sk_buff *skb, const struct spindle_node *node);
int spindle_fill_subgroup(struct sk_buff *skb, const struct spindle_node *node,
			  const struct spindle_subgroup *sg);
int spindle_fill_stats(struct sk_buff *skb, const struct spindle_node *node);
u32 spindle_fill_rdmc_bytes(const struct spindle_group *group);
int spindle_fill_rdmc(struct sk_buff *skb, const struct spindle_rdmc_group *group);

int spindle_netlink_start(struct netlink_callback *cb,
			  u32 (*bytes)(const struct spindle_group *group));
int spindle_netlink_dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd,
			 int (*fill)(struct sk_buff *, const struct spindle_node *),
			 bool (*has)(const struct spindle_node *));
int spindle_netlink_node_get(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_view_get(struct sk_buff *skb, struct genl_info *info);
int spindle_netlink_dump_start(struct netlink_callback *cb);
int spindle_netlink_subgroup_start(struct netlink_callback *cb);
int spindle_netlink_node_dump(struct sk_buff *skb, struct netlink_callback *cb);
int spindle_netlink_view_dump(struct sk_buff *skb, struct netlink_callback *cb);
int spindle_netlink_subgroup_dump(struct sk_buff *skb, struct netlink_callback *cb);
int spindle_netlink_stats_dump(struct sk_buff *skb, struct netlink_callback *cb);
int spindle_netlink_rdmc_start(struct netlink_callback *cb);
int spindle_netlink_rdmc_dump(struct sk_buff *skb, struct netlink_callback *cb);

#endif /* SPINDLE_NETLINK_NETLINK_H */
