/* SPDX-License-Identifier: GPL-2.0-only */
/* Replicas: processes that keep the state of a subgroup, and which of them have it. */
#ifndef SPINDLE_CTL_REPLICAS_H
#define SPINDLE_CTL_REPLICAS_H

#include "common/wire.h"

struct json_object;

void ctl_replicas_print(const struct ctl_running_subgroup *list, unsigned int count,
			uint64_t node);
struct json_object *ctl_replicas_json(const struct ctl_running_subgroup *list,
				      unsigned int count, uint64_t node);

#endif /* SPINDLE_CTL_REPLICAS_H */
