/* SPDX-License-Identifier: GPL-2.0-only */
/* Subgroups with logs: how far messages are durable, and which members are waited for. */
#ifndef SPINDLE_CTL_DURABLE_H
#define SPINDLE_CTL_DURABLE_H

#include "common/wire.h"

struct json_object;

const char *ctl_durable_why(const struct ctl_running_subgroup *s, const struct ctl_row *row);
void ctl_durable_print(const struct ctl_running_subgroup *list, unsigned int count,
		       uint64_t node);
struct json_object *ctl_durable_json(const struct ctl_running_subgroup *list, unsigned int count,
				     uint64_t node);

#endif /* SPINDLE_CTL_DURABLE_H */
