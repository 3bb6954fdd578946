/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The objects of the command line.
 */
#ifndef SPINDLE_CTL_CMD_H
#define SPINDLE_CTL_CMD_H

#include <stdint.h>

struct ctl_args;
struct ctl_key;
struct ctl_net;
struct ctl_val;
struct ctl_subgroup;
struct ctl_view;

/*
 * Each object has one file. The verbs join, leave and evict of a node have cmd-member.c, and add,
 * replace and del of a subgroup cmd-change.c. A table is a subgroup, so their verbs share code.
 */
int ctl_cmd_node(struct ctl_args *a);
int ctl_node_join(struct ctl_args *a);
int ctl_node_leave(struct ctl_args *a);
int ctl_node_evict(struct ctl_args *a);
int ctl_cmd_view(struct ctl_args *a);
int ctl_cmd_subgroup(struct ctl_args *a);
int ctl_subgroup_add(struct ctl_args *a);
int ctl_subgroup_replace(struct ctl_args *a);
int ctl_subgroup_del(struct ctl_args *a);
int ctl_cmd_table(struct ctl_args *a);
int ctl_table_show(struct ctl_args *a);
int ctl_cmd_status(struct ctl_args *a);
int ctl_cmd_stats(struct ctl_args *a);
int ctl_cmd_top(struct ctl_args *a);
int ctl_cmd_rdmc(struct ctl_args *a);
int ctl_cmd_log(struct ctl_args *a);
int ctl_log_restart(struct ctl_args *a);
int ctl_cmd_monitor(struct ctl_args *a);
int ctl_cmd_apply(struct ctl_args *a);
int ctl_cmd_showconf(struct ctl_args *a);

/* cmd-view.c */
int ctl_take_subgroup_key(struct ctl_args *a, struct ctl_view *view, const char *word);
int ctl_take_table(struct ctl_args *a, struct ctl_subgroup *sg);

/* cmd.c */
int ctl_cmd_del(struct ctl_args *a, const struct ctl_key *key, uint8_t cmd);
int ctl_cmd_lineage(struct ctl_args *a, const struct ctl_val *val);
int ctl_cmd_none(struct ctl_net *net, const char *what, const struct ctl_val *node,
		 const char *object, const struct ctl_val *id);

#endif /* SPINDLE_CTL_CMD_H */
