/* SPDX-License-Identifier: GPL-2.0-only */
/* All details of a subgroup: tuning, memory, batches, readers, and the progress of its members. */
#ifndef SPINDLE_CTL_DETAIL_H
#define SPINDLE_CTL_DETAIL_H

#include <json-c/json.h>

#include "common/model.h"
#include "lag.h"

struct json_object *ctl_detail_json_reader(const struct ctl_reader *r);
void ctl_detail_json_lag(struct json_object *obj, const struct ctl_lag *lag);
void ctl_detail_json(struct json_object *obj, const struct ctl_subgroup *sg);
void ctl_detail_print(const struct ctl_subgroup *sg);

#endif /* SPINDLE_CTL_DETAIL_H */
