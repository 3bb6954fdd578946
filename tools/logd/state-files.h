/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the files of the state share. Nothing else includes this.
 *
 * Owner: the state. Context: the main thread.
 */
#ifndef SPINDLE_LOGD_STATE_FILES_H
#define SPINDLE_LOGD_STATE_FILES_H

#include "cut.h"
#include "io.h"
#include "log.h"
#include "scan.h"
#include "state.h"

/**
 * struct logd_disk - a log that no writer uses
 *
 * The state has it open and locked from the first look at it on, because a report, a vote and the
 * entry into a view need the same scan. Nobody else changes the log until logd_state_release().
 */
struct logd_disk {
	/** @next: the next one of the state */
	struct logd_disk *next;
	/** @subgroup: id of the subgroup */
	uint32_t subgroup;
	/** @fresh: @scan is what is on disk */
	bool fresh;
	/** @found: there is a log, which may be one of another group */
	bool found;
	/** @dir: its directory; -1: there is none */
	int dir;
	/** @lock: lock file, or -1 */
	int lock;
	/** @open: @io is open */
	bool open;
	/** @io: the port */
	struct logd_port io;
	/** @scan: what the log has; the log of another group looks like a new one */
	struct spindle_dlog_scan scan;
	/** @title: for @progress */
	char title[48];
	/** @progress: of the scan */
	struct logd_progress progress;
};

/* state.c */
bool logd_state_fail(struct logd_state *s, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));
int logd_state_make(int parent, const char *name);
int logd_state_lock(int dir);
bool logd_state_ready(struct logd_state *s, const uint64_t *lineage);
bool logd_state_sync(struct logd_state *s, enum spindle_restart_vote vote);

/* state-log.c */
struct logd_disk *logd_disk_open(struct logd_state *s, uint32_t subgroup);
void logd_disk_tell(const struct logd_disk *d, struct spindle_restart_log *log);
bool logd_disk_cut(struct logd_state *s, struct logd_disk *d, uint64_t lsn);

bool logd_disk_move(struct logd_state *s, struct logd_disk *d);
bool logd_disk_begin(struct logd_state *s, struct logd_disk *d, uint32_t segment);

/* state-keep.c */
bool logd_disk_keep(struct logd_state *s, const struct logd_disk *d, const char *name,
		    uint64_t end);

/* state-enter.c */
bool logd_disk_end(struct logd_state *s, struct logd_disk *d, const struct logd_way *way,
		   uint64_t *end);
bool logd_state_enter_record(struct logd_state *s, const struct spindle_restart_base *part,
			     const struct spindle_restart_view *first);
bool logd_state_enter_group(struct logd_state *s, const struct spindle_restart_proposal *proposal,
			    const struct logd_known *known, unsigned int count);

/* state-force.c */
bool logd_state_forced(struct logd_state *s);

/* state-report.c */
bool logd_state_read_record(struct logd_state *s, uint32_t subgroup, int dir,
			    struct logd_records *r);

#endif /* SPINDLE_LOGD_STATE_FILES_H */
