/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a node keeps for a total restart: all files below DIR/NODE.
 *
 *	LOCK		one process at a time uses these files
 *	group		the configuration of the group (group.h)
 *	votes.a|b	promises and acceptances, see libspindle-user/src/restart
 *	ID/view.a|b	view record of subgroup ID (record.h)
 *	ID/cut.a|b	the era that its log was cut for (cut.h)
 *	ID/...		its log
 *	ID.lost-...	what a forced restart has cut from its log
 *	forced		the forced restart that the node follows, see logd_state_force()
 *	consent		code of a forced restart that the administrator has consented to
 *
 * The order of all writes is: votes, logs, records, group file. Each of them is on disk before the
 * next one, and the note of a cut is behind the cut. A crash in between leaves files for which the
 * same call does the rest.
 *
 * All functions that return false have set @why to a sentence without the name of the program, or
 * to "" if the answer is just no.
 *
 * Owner: the main thread. Context: the main thread; all functions wait for the disk. The first look
 * at a log reads all of it, and a cut as well.
 */
#ifndef SPINDLE_LOGD_STATE_H
#define SPINDLE_LOGD_STATE_H

#include <stdbool.h>
#include <stdint.h>

#include "group.h"
#include "record.h"

struct logd_disk;
struct spindle_dlog_scan;

/**
 * struct logd_known - the address of a node, from its report
 */
struct logd_known {
	/** @node: its id */
	uint32_t node;
	/** @address: address and port, as in struct spindle_restart_report */
	char address[SPINDLE_RESTART_ADDRESS];
};

/**
 * struct logd_way - the views that a log has to follow
 */
struct logd_way {
	/** @id: id of the subgroup */
	uint32_t id;
	/** @view: the view that the node enters, or the newest one of its subgroup */
	struct spindle_restart_id view;
	/** @path: the eras before that of @view */
	struct spindle_restart_path path;
};

/**
 * struct logd_state - the files of a node
 */
struct logd_state {
	/** @node: id of the node */
	uint32_t node;
	/** @path: DIR/NODE */
	char *path;
	/** @dir: the same, open; -1: it is not */
	int dir;
	/** @lock: lock file; -1: it is not open */
	int lock;
	/** @failed: a write has failed, so nobody knows what is on disk; all is refused */
	bool failed;
	/** @group: contents of the group file */
	struct logd_group group;
	/** @votes: the files of @voter */
	struct logd_pair votes;
	/** @lineage: of the group that @voter votes in */
	uint64_t lineage[2];
	/** @voter: the votes */
	struct spindle_restart_voter voter;
	/** @forced: the restart that has begun this lineage; NULL: none that is known */
	struct spindle_restart_force *forced;
	/** @leaves: while the node moves: the lineage that logs may still have; or NULL */
	const uint64_t *leaves;
	/** @disks: logs that were looked at */
	struct logd_disk *disks;
	/** @bytes: room for the encoding of @voter */
	uint8_t *bytes;
	/** @why: what is wrong, see above */
	char why[LOGD_GROUP_WHY];
};

/*
 * state.c: open, and the votes. A node that has just started is in no view for its voter. If the
 * kernel has it in a view, logd_state_view() is next.
 */

bool logd_state_open(struct logd_state *s, const char *dir, uint32_t node);
void logd_state_close(struct logd_state *s);
bool logd_state_promise(struct logd_state *s, const struct spindle_restart_ballot *ballot);
bool logd_state_accept(struct logd_state *s, const struct spindle_restart_proposal *proposal);
void logd_state_stop(struct logd_state *s);

/*
 * At each new view of the running node, with the view as ctl_fetch() gives it and the tuning of
 * the subgroups, and before the record of that view is written: votes, then the group file. False:
 * the node may not be in this view, or the disk has failed; the process ends then.
 */
bool logd_state_view(struct logd_state *s, const struct ctl_view *running);
bool logd_state_tune_due(struct logd_state *s);
uint32_t logd_state_shards(const struct ctl_subgroup *sg);
const struct ctl_subgroup *logd_state_find(const struct ctl_view *view, uint64_t id);

/*
 * state-log.c: logs that no writer uses. The state has each of them open, locked and scanned from
 * the first look on, until the writers are next.
 */

void logd_state_release(struct logd_state *s);
const struct spindle_dlog_scan *logd_state_scan(const struct logd_state *s, uint32_t subgroup);
void logd_state_forget(struct logd_state *s);

/* state-report.c: a report of the files. */

uint32_t logd_state_logs(const struct ctl_subgroup *sg);
bool logd_state_report(struct logd_state *s, struct spindle_restart_report *report);

/*
 * state-enter.c: enter the first view of a proposal that stands, or join the group that runs. What
 * is done already is not done again.
 */

bool logd_state_enter(struct logd_state *s, const struct spindle_restart_proposal *proposal,
		      const struct logd_known *known, unsigned int count);
bool logd_state_join(struct logd_state *s, uint64_t era, const struct logd_way *way,
		     unsigned int count);

/* state-force.c: the lineage of a forced restart. */

bool logd_force_name(const struct spindle_restart_force *force, uint64_t *lineage);
bool logd_state_consent(const struct logd_state *s, uint64_t *lineage);
bool logd_state_force(struct logd_state *s, const struct spindle_restart_force *force);

/* state-add.c: a subgroup of the group gets logs. */

bool logd_state_add_log(struct logd_state *s, uint32_t id, uint32_t segment);

#endif /* SPINDLE_LOGD_STATE_H */
