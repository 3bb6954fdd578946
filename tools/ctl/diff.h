/* SPDX-License-Identifier: GPL-2.0-only */
/* The differences between two nodes or views. */
#ifndef SPINDLE_CTL_DIFF_H
#define SPINDLE_CTL_DIFF_H

#include "common/model.h"

char *ctl_node_diff(const struct ctl_node *from, const struct ctl_node *to);
char *ctl_member_diff(const struct ctl_view *from, const struct ctl_view *to);
char *ctl_live_diff(const struct ctl_view *from, const struct ctl_view *to);
char *ctl_rule_diff(const struct ctl_view *from, const struct ctl_subgroup *was,
		    const struct ctl_view *to, const struct ctl_subgroup *is);
char *ctl_view_diff(const struct ctl_view *from, const struct ctl_view *to);

#endif /* SPINDLE_CTL_DIFF_H */
