/* SPDX-License-Identifier: GPL-2.0-only */
/* All details of a subgroup: tuning, memory, batches, readers, and the progress of its members. */
#ifndef SPINDLE_CTL_DETAIL_H
#define SPINDLE_CTL_DETAIL_H

#include <json-c/json.h>

#include "common/model.h"

void ctl_detail_json(struct json_object *obj, const struct ctl_subgroup *sg);
void ctl_detail_print(const struct ctl_subgroup *sg);

#endif /* SPINDLE_CTL_DETAIL_H */
