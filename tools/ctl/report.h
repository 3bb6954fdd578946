/* SPDX-License-Identifier: GPL-2.0-only */
/* The status of a live view for people and programs, with advice. */
#ifndef SPINDLE_CTL_REPORT_H
#define SPINDLE_CTL_REPORT_H

#include <stdio.h>

#include <json-c/json.h>

#include "common/status.h"

unsigned int ctl_report_ranked(const struct ctl_status *s);
const char *ctl_report_state(const struct ctl_status *s);
const char *ctl_report_action(const struct ctl_status *s);
struct json_object *ctl_report_json(const struct ctl_status *s);
void ctl_report_print(const struct ctl_status *s, FILE *to);

#endif /* SPINDLE_CTL_REPORT_H */
