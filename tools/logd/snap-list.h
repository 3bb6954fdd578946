/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Snapshots of programs in the directory of a log: which of them count. See snap-list.c.
 *
 * A snapshot counts by the head, the length, the name and the owner of its file. The owner is root
 * or the owner of the directory. The bytes of the state are checked by whoever uses them.
 *
 * Owner: nobody, because each call reads the directory. Context: the main thread.
 */
#ifndef SPINDLE_LOGD_SNAP_LIST_H
#define SPINDLE_LOGD_SNAP_LIST_H

#include <stdbool.h>
#include <stdint.h>

#include "snap.h"

/**
 * struct logd_snap_want - which snapshots count
 */
struct logd_snap_want {
	/** @lineage: of the group */
	uint8_t lineage[16];
	/** @era: of the group; a snapshot of a later one does not count */
	uint64_t era;
	/** @low: position of the first message that the log has, or will have */
	uint64_t low;
	/** @end: the largest position that a snapshot may have */
	uint64_t end;
	/** @subgroup: id of the subgroup */
	uint32_t subgroup;
};

/**
 * struct logd_snap - the newest snapshot of a program that counts
 */
struct logd_snap {
	/** @name: of the program */
	char name[SPINDLE_DLOG_SNAP_NAME + 1];
	/** @file: name of the file */
	char file[SPINDLE_DLOG_SNAP_FILE];
	/** @st: what its head says */
	struct spindle_dlog_snapshot st;
};

bool logd_snap_counts(const struct logd_snap_want *w, const struct spindle_dlog_snapshot *st);
bool logd_snap_owner(int dir, uid_t *owner);
bool logd_snap_next(int dir, const struct logd_snap_want *w, const char *after,
		    struct logd_snap *next);
bool logd_snap_has(int dir, const struct logd_snap_want *w, const char *name);
bool logd_snap_missing(int dir, const struct logd_snap_want *w);
uint64_t logd_snap_bytes(int dir);

#endif /* SPINDLE_LOGD_SNAP_LIST_H */
