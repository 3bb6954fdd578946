/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a disk has after a power failure: a disk that logs all writes is replayed up to each moment
 * at which it had to be durable, and the log of spindle-logd there is checked.
 *
 * Owner: each struct belongs to the function that has it. Context: one thread.
 */
#ifndef SPINDLE_GUEST_DISK_CUTS_H
#define SPINDLE_GUEST_DISK_CUTS_H

#include <stdbool.h>
#include <stdint.h>

#include "log.h"

/* Bytes of the longest message. */
#define LEN_MAX		20000U

/* What a mark in the log of the disk says, in one word. */
#define MARK_FORMAT	"persisted=%" PRIu64 ",low=%" PRIu64 ",record=%" PRIu64 ",sent=%" PRIu64

/**
 * struct promise - what was reported as on disk
 */
struct promise {
	/** @persisted: all positions below it */
	uint64_t persisted;
	/** @low: from this one on */
	uint64_t low;
	/** @record: the view record of this view, or a later one */
	uint64_t record;
	/** @sent: messages that were sent until then */
	uint64_t sent;
};

/**
 * struct found - what a log has
 */
struct found {
	/** @low: position of the first message */
	uint64_t low;
	/** @next: position behind the last one */
	uint64_t next;
	/** @record: view of the view record */
	uint64_t record;
};

/**
 * struct replay - a log of dm-log-writes
 */
struct replay {
	/** @log: the device with the log */
	int log;
	/** @to: the device that is written to */
	int to;
	/** @sector: bytes of a sector */
	uint32_t sector;
	/** @entries: how many there are */
	uint64_t entries;
	/** @next: number of the next one */
	uint64_t next;
	/** @at: its offset in @log */
	uint64_t at;
};

/**
 * struct entry - an entry of that log
 */
struct entry {
	/** @flags: LOG_* of replay.c */
	uint64_t flags;
	/** @from: offset of its bytes in the log */
	uint64_t from;
	/** @to: offset on the device */
	uint64_t to;
	/** @len: bytes */
	uint64_t len;
	/** @is_mark: what @mark says */
	bool is_mark;
	/** @is_flush: what was written before, or is written here, is durable now */
	bool is_flush;
	/** @mark: text of a mark */
	char mark[128];
};

void load_main(int argc, char **argv);
void cuts_main(int argc, char **argv);

void fill(uint64_t lsn, unsigned char *buf, uint32_t *len);

void dm_mark(const char *device, const char *text);
void dm_snapshot(const char *name, const char *origin, const char *store, char *path, uint32_t len);
void dm_remove(const char *name);

void replay_open(struct replay *r, const char *log, const char *to);
bool replay_next(struct replay *r, struct entry *e);
void replay_apply(const struct replay *r, const struct entry *e);
bool replay_tear(const struct replay *r, const struct entry *e, uint64_t (*draw)(uint64_t below));
void replay_sync(const struct replay *r);
void replay_copy(const char *from, const char *to);

bool check_log(const char *dir, const struct promise *p, bool more, struct found *found);

void fail(const char *fmt, ...) __attribute__((format(printf, 1, 2), noreturn));
void complain(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif /* SPINDLE_GUEST_DISK_CUTS_H */
