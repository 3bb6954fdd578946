/* SPDX-License-Identifier: GPL-2.0-only */
/* How far a total restart is, as spindle-logd says in the file DIR/NODE/restart. */
#ifndef SPINDLE_CTL_RESTART_H
#define SPINDLE_CTL_RESTART_H

#include <stdint.h>

#include <json-c/json.h>

/* Where spindle-logd has its files, unless it is told otherwise. */
#define CTL_LOGS_DIR	"/var/lib/spindle"

struct json_object *ctl_restart_read(const char *dir, uint64_t node);
const char *ctl_restart_code(struct json_object *restart);
void ctl_restart_print_all(struct json_object *restart);
void ctl_restart_print(struct json_object *restart);

#endif /* SPINDLE_CTL_RESTART_H */
