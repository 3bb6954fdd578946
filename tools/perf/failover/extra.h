/* SPDX-License-Identifier: GPL-2.0-only */
/* The extra subgroup, which is added to the live view, replaced, and removed from it. */
#ifndef SPINDLE_PERF_FAILOVER_EXTRA_H
#define SPINDLE_PERF_FAILOVER_EXTRA_H

#include "common/model.h"
#include "common/net.h"
#include "change.h"

void perf_extra_room(struct ctl_view *view);
int perf_extra_ask(struct ctl_net *net, uint32_t node, enum perf_move kind);

#endif /* SPINDLE_PERF_FAILOVER_EXTRA_H */
