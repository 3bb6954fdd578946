/* SPDX-License-Identifier: GPL-2.0-only */
/* The model as netlink messages, in both directions, and requests for parts of it. */
#ifndef SPINDLE_COMMON_WIRE_H
#define SPINDLE_COMMON_WIRE_H

#include "model.h"
#include "net.h"
#include "record.h"

/**
 * struct ctl_running - a node and its view, as the kernel has them
 */
struct ctl_running {
	/** @node: node */
	struct ctl_node node;
	/** @has_view: whether there is a view */
	bool has_view;
	/** @view: view */
	struct ctl_view view;
	/** @in_live: the node is in a live view, was in one, or joins one */
	bool in_live;
	/** @live_state: enum spindle_live_state */
	uint64_t live_state;
};

/**
 * struct ctl_running_subgroup - a subgroup at a node, as the kernel has it
 */
struct ctl_running_subgroup {
	/** @node: id of the node */
	uint64_t node;
	/** @vid: view of the node */
	uint64_t vid;
	/** @sg: subgroup */
	struct ctl_subgroup sg;
};

/**
 * struct ctl_change - a change of one subgroup of a live view
 */
struct ctl_change {
	/**
	 * @attr: the attribute that asks for the change: SPINDLE_A_SUBGROUP adds a subgroup,
	 * SPINDLE_A_REPLACE puts it in the place of the one of its id, SPINDLE_A_REMOVE removes it
	 */
	int attr;
	/** @sg: the subgroup, with the nodes that it names; of one to remove, only the id counts */
	const struct ctl_subgroup *sg;
};

extern const struct ctl_field ctl_node_fields[];
extern const struct ctl_field ctl_member_fields[];
extern const struct ctl_field ctl_reader_fields[];
extern const struct ctl_field ctl_row_fields[];
extern const struct ctl_field ctl_subgroup_fields[];

/* wire.c */
struct nlattr **ctl_msg_attrs(struct nlmsghdr *nlh);
struct nlattr **ctl_nest_attrs(struct nlattr *nest, int max);
uint64_t ctl_attr_num(const struct nlattr *attr);
const char *ctl_attr_str(const struct nlattr *attr);
void ctl_attr_stats(struct nlattr **attrs, int max, const struct ctl_names *names,
		    struct ctl_stats *stats);
void ctl_addr_get(struct ctl_addr *addr, const struct nlattr *v4, const struct nlattr *v6);
void ctl_attr_vals(const struct ctl_key *keys, struct ctl_val *val, struct nlattr **attrs);

void ctl_node_put(struct ctl_req *req, const struct ctl_node *node);
void ctl_view_put(struct ctl_req *req, const struct ctl_val *node, const struct ctl_view *view);
void ctl_changes_put(struct ctl_req *req, const struct ctl_val *node, const struct ctl_view *view,
		     const struct ctl_change *change, unsigned int count);
void ctl_node_get(struct ctl_node *node, struct nlmsghdr *nlh);
void ctl_view_get(struct ctl_view *view, struct nlmsghdr *nlh);
void ctl_subgroup_get(struct ctl_subgroup *sg, struct nlattr *nest);
void ctl_tune_get(struct ctl_val *tune, struct nlattr *nest);
void ctl_tune_put(struct ctl_req *req, const struct ctl_val *tune);

/* fetch.c */
int ctl_fetch(struct ctl_net *net, const char *what, const struct ctl_val *id,
	      struct ctl_running **running, unsigned int *count, bool views);
const struct ctl_running *ctl_running_find(const struct ctl_running *running, unsigned int count,
					   uint32_t id);
int ctl_fetch_subgroups(struct ctl_net *net, const char *what, const struct ctl_val *node,
			const struct ctl_val *id, const struct ctl_val *name,
			struct ctl_running_subgroup **out, unsigned int *count);

#endif /* SPINDLE_COMMON_WIRE_H */
