/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * View record: what a restart has to know of the views of a subgroup. See
 * Documentation/design/durability.rst.
 *
 * The newest record of a log is in one of two files of its directory, view.a and view.b. A record
 * has the range: the views from the last established one on, with their members. It has no gap.
 *
 * Owner: the log. Context: the main thread; a write waits for the disk, once for each view.
 */
#ifndef SPINDLE_LOGD_RECORD_H
#define SPINDLE_LOGD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "pair.h"
#include "restart/restart.h"

/**
 * struct logd_records - the record of a log, in memory and on disk
 */
struct logd_records {
	/** @pair: the files */
	struct logd_pair pair;
	/** @synced: the view whose record is on disk; @vid is 0: none */
	struct spindle_restart_id synced;
	/** @now: the record, which may be newer than that on disk */
	struct spindle_restart_keep now;
};

void logd_record_add(struct spindle_restart_keep *keep, const struct spindle_restart_view *view,
		     bool next, bool first);
bool logd_record_establish(struct spindle_restart_keep *keep);
bool logd_record_adopt(struct spindle_restart_keep *keep,
		       const struct spindle_restart_keep *other);
int logd_records_open(struct logd_records *r, int dir);
int logd_records_write(struct logd_records *r);

/**
 * logd_record_newest() - the view that a record is of
 * @keep: the record
 *
 * Return: the view; NULL: there is no record.
 */
static inline const struct spindle_restart_view *
logd_record_newest(const struct spindle_restart_keep *keep)
{
	const struct spindle_restart_record *record = &keep->record;

	return record->views ? &record->view[record->views - 1] : NULL;
}

#endif /* SPINDLE_LOGD_RECORD_H */
