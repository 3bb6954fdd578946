/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * View record: what a restart has to know of the views of a subgroup. See
 * Documentation/design/durability.rst.
 *
 * The newest record of a log is in one of two files of its directory. Each record goes to the file
 * with the older one, so that a write that does not end leaves a record. A record has the range:
 * the views from the last established one on, with their members.
 *
 * Owner: the log. Context: the main thread; a write waits for the disk, once for each view.
 */
#ifndef SPINDLE_LOGD_RECORD_H
#define SPINDLE_LOGD_RECORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/spindle.h>

/* Views that a range has at most. With more, a restart needs a record of another member. */
#define LOGD_RANGE	16U

/**
 * struct logd_view - a view of a subgroup
 */
struct logd_view {
	/** @vid: its id */
	uint64_t vid;
	/** @base: position of its first message */
	uint64_t base;
	/** @members: entries in @node */
	uint32_t members;
	/** @node: ids of its members, by rank */
	uint32_t node[SPINDLE_MAX_MEMBERS];
};

/**
 * struct logd_record - a view record
 */
struct logd_record {
	/** @lineage: of the group */
	uint64_t lineage[2];
	/** @era: of the group */
	uint64_t era;
	/** @known: the range goes back to a view that is established, or to the first one */
	bool known;
	/** @established: the newest view is established */
	bool established;
	/** @views: entries in @view; 0: there is no record yet */
	uint32_t views;
	/** @view: the range, the oldest view first */
	struct logd_view view[LOGD_RANGE];
};

/**
 * struct logd_records - the record of a log, in memory and on disk
 */
struct logd_records {
	/** @dir: directory of the log */
	int dir;
	/** @generation: of the record on disk, which grows by one */
	uint64_t generation;
	/** @synced: the view whose record is on disk; 0: none */
	uint64_t synced;
	/** @now: the record, which may be newer than that on disk */
	struct logd_record now;
};

size_t logd_record_encode(const struct logd_record *record, uint64_t generation, uint8_t *to);
bool logd_record_decode(struct logd_record *record, uint64_t *generation, const uint8_t *from,
			size_t len);
void logd_record_add(struct logd_record *record, const struct logd_view *view);
bool logd_record_establish(struct logd_record *record);
int logd_records_open(struct logd_records *r, int dir);
int logd_records_write(struct logd_records *r);

/* Room for any record. */
#define LOGD_RECORD_BYTES	(72U + LOGD_RANGE * (24U + 4U * SPINDLE_MAX_MEMBERS))

/**
 * logd_record_vid() - the view that a record is of
 * @record: the record
 *
 * Return: its id; 0: there is no record
 */
static inline uint64_t logd_record_vid(const struct logd_record *record)
{
	return record->views ? record->view[record->views - 1].vid : 0;
}

#endif /* SPINDLE_LOGD_RECORD_H */
