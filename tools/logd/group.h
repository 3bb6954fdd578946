/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The group file, DIR/NODE/group: the configuration of the group at the newest view of the node, as
 * "spindle-ctl apply" reads it. A restart has the addresses and all rules from there.
 *
 * The last line has a CRC of all before it. A file without that is torn.
 *
 * Owner: the state of the node; the model is in a pool of the group. Context: the main thread.
 */
#ifndef SPINDLE_LOGD_GROUP_H
#define SPINDLE_LOGD_GROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/model.h"
#include "common/util.h"

/* Bytes of the longest group file, and of a sentence that says what is wrong. */
#define LOGD_GROUP_BYTES	(1U << 20)
#define LOGD_GROUP_WHY		320U

/**
 * struct logd_group - the contents of a group file
 */
struct logd_group {
	/** @is: there is one */
	bool is;
	/** @lineage: of the group, as in struct spindle_restart_report */
	uint64_t lineage[2];
	/** @era: of the view */
	uint64_t era;
	/** @due: the kernel has to get the tuning of @view, because the node was in no view */
	bool due;
	/**
	 * @view: the view, as "view set" and "apply" take it: members with addresses, all
	 * subgroups with their rules and their tuning here, the lineage with the era as text
	 */
	struct ctl_view view;
	/** @pool: memory of @view, which is allocated */
	struct ctl_pool *pool;
	/** @text: the file, which is allocated */
	char *text;
	/** @len: bytes of @text */
	size_t len;
};

bool logd_group_read(struct logd_group *group, int dir, char *why);
bool logd_group_write(struct logd_group *group, int dir, const struct ctl_view *view, bool due,
		      char *why);
void logd_group_drop(struct logd_group *group);

#endif /* SPINDLE_LOGD_GROUP_H */
