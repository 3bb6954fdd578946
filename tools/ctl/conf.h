/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Is a configuration consistent? See common/conf.h.
 */
#ifndef SPINDLE_CTL_CONF_H
#define SPINDLE_CTL_CONF_H

#include "common/conf.h"

/* check.c, limits.c */
void ctl_conf_check(struct ctl_conf *conf);
void ctl_conf_check_live(struct ctl_conf *conf, const struct ctl_node *node, bool keyed);
unsigned int ctl_conf_limits(struct ctl_conf *conf);
const struct ctl_view *ctl_conf_view(const struct ctl_conf *conf, const struct ctl_node *node);

#endif /* SPINDLE_CTL_CONF_H */
