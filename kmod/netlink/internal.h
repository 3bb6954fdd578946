/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Netlink: what the files of this folder share. A file calls only files that stand above it in this
 * list:
 *
 *	parse.c		what all requests need: the node, an address, a key
 *	view.c		parses a view
 *	ranges.c	parses what a first view follows
 *	shards.c	parses how the shards of a first view begin again
 *	live.c		parses a live view; requests that join, leave and evict
 *	change.c	requests that change the subgroups of a live view
 *	config.c	requests that create and remove nodes, and that set and remove views
 *	set.c		requests that change running nodes and subgroups
 *	raw.c		measurement of the device
 *	family.c	the family, by which operations reply
 *	fill.c		attributes of nodes, views and subgroups in replies
 *	rdmc.c		attributes of RDMC groups in replies
 *	dump.c		replies and dumps
 *	status.c	status of live views
 *	generated.c	policies and operations
 *	netlink.c	registration of the family
 *
 * node/event.c sends the notifications.
 */
#ifndef SPINDLE_NETLINK_INTERNAL_H
#define SPINDLE_NETLINK_INTERNAL_H

#include <net/genetlink.h>

#include "core/membership/card.h"

struct spindle_installed;
struct spindle_node;
struct spindle_ranges;
struct spindle_rdmc_group;
struct spindle_rules;
struct spindle_subgroup;

/* family.c */
extern struct genl_family spindle_family;

/* ---- parse.c ------------------------------------------------------------ */

typedef int spindle_netlink_parser(void *ctx, const struct nlattr *nest,
				   struct netlink_ext_ack *extack);

int spindle_netlink_need(const struct nlattr *nest, const struct nlattr *attr, const char *text,
			 struct netlink_ext_ack *extack);
int spindle_netlink_each(void *ctx, struct genl_info *info, int type,
			 spindle_netlink_parser *parse);
int spindle_netlink_addr(struct spindle_addr *addr, const struct nlattr *a4,
			 const struct nlattr *a6, const struct nlattr *port,
			 struct netlink_ext_ack *extack);
/* The lock of the namespace that a request came from. */
void spindle_netlink_lock(struct genl_info *info);
void spindle_netlink_unlock(struct genl_info *info);
struct spindle_node *spindle_netlink_node(struct genl_info *info);
u8 spindle_netlink_check_only(struct genl_info *info);
int spindle_netlink_set_node(struct genl_info *info, struct spindle_node **node);
int spindle_netlink_idle(u32 *us, struct sk_buff *skb, const struct nlattr *attr,
			 struct netlink_ext_ack *extack);
int spindle_netlink_key(const void **key, u32 *len, const struct nlattr *attr,
			struct netlink_ext_ack *extack);
void spindle_netlink_forget_key(struct genl_info *info);
struct spindle_subgroup *spindle_netlink_find_subgroup(struct genl_info *info);

/* ---- view.c ------------------------------------------------------------- */

const struct nlattr *spindle_netlink_own(const struct spindle_view *view,
					 struct genl_info *info);
int spindle_netlink_view(struct spindle_view *view, struct genl_info *info);
int spindle_netlink_subgroup(struct spindle_view_subgroup *sg, const struct nlattr *nest,
			     struct nlattr **a, struct netlink_ext_ack *extack);
int spindle_netlink_subgroup_node(const struct spindle_view_subgroup *sg,
				  const struct nlattr *nest, struct nlattr **a,
				  struct netlink_ext_ack *extack);
int spindle_netlink_members(struct spindle_view *view, struct genl_info *info);
int spindle_netlink_check(const struct spindle_view *view, bool live, struct genl_info *info);

/* ---- ranges.c ----------------------------------------------------------- */

struct spindle_ranges *spindle_netlink_ranges(const struct spindle_view *view,
					      const struct spindle_rules *rules, u64 era,
					      struct genl_info *info);

/* ---- shards.c ----------------------------------------------------------- */

int spindle_netlink_shards(struct spindle_view *view, const struct spindle_rules *rules,
			   struct genl_info *info);

/* ---- live.c ------------------------------------------------------------- */

int spindle_netlink_rule(void *ctx, const struct nlattr *nest, struct netlink_ext_ack *extack);
int spindle_netlink_live_set(struct genl_info *info);

/* ---- fill.c, fill_subgroup.c, rdmc.c ------------------------------------ */

/* Bytes of a message without lists: the size of a list is added to this. */
#define SPINDLE_FILL_BASE	1024
/* Bytes of a subgroup's node, and of the fields of its messages. */
#define SPINDLE_FILL_NODE	24
#define SPINDLE_FILL_FIELDS	nla_total_size(SPINDLE_FIELDS_LEN + 1)

/**
 * struct spindle_counter - a number of 64 bits in a reply
 */
struct spindle_counter {
	/** @type: its attribute */
	int type;
	/** @value: the number */
	u64 value;
};

u32 spindle_fill_view_bytes(const struct spindle_installed *inst);
u32 spindle_fill_subgroup_bytes(const struct spindle_installed *inst);
bool spindle_fill_has_view(const struct spindle_node *node);
int spindle_fill_node(struct sk_buff *skb, const struct spindle_node *node);
int spindle_fill_view(struct sk_buff *skb, const struct spindle_node *node);
int spindle_fill_witnesses(struct sk_buff *skb, const struct spindle_rules *rules);
int spindle_fill_lineage(struct sk_buff *skb, const struct spindle_lineage *lineage);
int spindle_fill_insecure(struct sk_buff *skb, const struct spindle_node *node);
int spindle_fill_subgroup(struct sk_buff *skb, const struct spindle_node *node,
			  const struct spindle_subgroup *sg);
int spindle_fill_subgroup_config(struct sk_buff *skb, const struct spindle_view *view,
				 const struct spindle_view_subgroup *sg);
int spindle_fill_stats(struct sk_buff *skb, const struct spindle_node *node);
int spindle_fill_counters(struct sk_buff *skb, int pad, const struct spindle_counter *list, u32 n);
int spindle_fill_nest(struct sk_buff *skb, int type, int pad, const struct spindle_counter *list,
		      u32 n);
u32 spindle_fill_rdmc_bytes(const struct spindle_installed *inst);
int spindle_fill_rdmc(struct sk_buff *skb, const struct spindle_rdmc_group *group);

/* ---- dump.c ------------------------------------------------------------- */

int spindle_netlink_start(struct netlink_callback *cb,
			  u32 (*bytes)(const struct spindle_installed *inst));
int spindle_netlink_dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd,
			 int (*fill)(struct sk_buff *, const struct spindle_node *),
			 bool (*has)(const struct spindle_node *));

#endif /* SPINDLE_NETLINK_INTERNAL_H */
