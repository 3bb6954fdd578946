/* SPDX-License-Identifier: MIT */
/*
 * Repair of a damaged range: its segment is written once more, into a new file, with the messages
 * that are missing. The file then takes the name of the segment. See fix.c.
 *
 * Owner: the caller, which keeps the struct as long as the log. Context: that of the writer.
 */
#ifndef SPINDLE_DLOG_FIX_H
#define SPINDLE_DLOG_FIX_H

#include "log.h"

/* Token of the operations of a repair, for spindle_dlog_repair_done(). */
#define SPINDLE_DLOG_TOKEN_REPAIR	0x102U

/**
 * enum spindle_dlog_repair_step - how far a repair is
 */
enum spindle_dlog_repair_step {
	/** @SPINDLE_DLOG_REPAIR_IDLE: nothing has begun */
	SPINDLE_DLOG_REPAIR_IDLE,
	/** @SPINDLE_DLOG_REPAIR_MAKE: the new file is being made */
	SPINDLE_DLOG_REPAIR_MAKE,
	/** @SPINDLE_DLOG_REPAIR_COPY: whole messages of the segment are copied */
	SPINDLE_DLOG_REPAIR_COPY,
	/** @SPINDLE_DLOG_REPAIR_WANT: the caller has the next message */
	SPINDLE_DLOG_REPAIR_WANT,
	/** @SPINDLE_DLOG_REPAIR_WRITE: a frame is being written */
	SPINDLE_DLOG_REPAIR_WRITE,
	/** @SPINDLE_DLOG_REPAIR_SYNC: the new file is being synced */
	SPINDLE_DLOG_REPAIR_SYNC,
	/** @SPINDLE_DLOG_REPAIR_REPLACE: the new file gets the name of the segment */
	SPINDLE_DLOG_REPAIR_REPLACE,
	/** @SPINDLE_DLOG_REPAIR_NAMES: the directory is being synced */
	SPINDLE_DLOG_REPAIR_NAMES,
	/** @SPINDLE_DLOG_REPAIR_DONE: all below spindle_dlog_repair.next is whole in its segment */
	SPINDLE_DLOG_REPAIR_DONE,
	/** @SPINDLE_DLOG_REPAIR_FAILED: spindle_dlog_repair.err says why */
	SPINDLE_DLOG_REPAIR_FAILED,
};

/**
 * struct spindle_dlog_repair - the repair of a segment
 */
struct spindle_dlog_repair {
	/** @log: the writer */
	struct spindle_dlog *log;
	/** @reader: of the segment as it is; the caller gives the memory of its window */
	struct spindle_dlog_reader reader;
	/** @id: what the log is, with the longest frame that it may have */
	struct spindle_dlog_ident id;
	/** @buf: memory of the caller for the longest frame and two blocks */
	unsigned char *buf;
	/** @step: enum spindle_dlog_repair_step */
	uint32_t step;
	/** @after: step behind the write that is under way */
	uint32_t after;
	/** @err: of a repair that has failed, a negative errno */
	int err;

	/** @seq: number of the segment */
	uint64_t seq;
	/** @base: position of its first record */
	uint64_t base;
	/** @end: position behind its last record */
	uint64_t end;
	/** @replaces: the log has a segment with this number */
	bool replaces;
	/** @offset: of the next frame in the new file */
	uint32_t offset;
	/** @from: bytes of the write that is under way */
	const unsigned char *from;
	/** @len: how many */
	uint32_t len;
	/** @prev: CRC of the frame before */
	uint32_t prev;
	/** @build: the frame that is being filled */
	struct spindle_dlog_build build;
	/** @fetched: its records come from the caller */
	bool fetched;
	/** @era: of its records */
	uint64_t era;
	/** @vid: of its records */
	uint64_t vid;
	/** @time: of its records */
	uint64_t time;
	/** @first_time: of the first frame of the new file */
	uint64_t first_time;
	/** @next: position of the next record of the new file */
	uint64_t next;
	/** @want_to: end of the range that the caller has; the range begins at @next */
	uint64_t want_to;
	/** @has: @m was read, and is not in a frame yet */
	bool has;
	/** @m: the message that was read */
	struct spindle_dlog_msg m;
	/** @full: the segment that has no more room, if @was_full */
	uint64_t full;
	/** @was_full: the last repair has ended in front of @end */
	bool was_full;
};

void spindle_dlog_repair_init(struct spindle_dlog_repair *r, struct spindle_dlog *log,
			      uint32_t frame, unsigned char *window, unsigned char *buf);
int spindle_dlog_repair_begin(struct spindle_dlog_repair *r, uint64_t from);
void spindle_dlog_repair_work(struct spindle_dlog_repair *r);
int spindle_dlog_repair_give(struct spindle_dlog_repair *r, const struct spindle_dlog_msg *m);
void spindle_dlog_repair_done(struct spindle_dlog_repair *r, int err);
bool spindle_dlog_repair_waits(const struct spindle_dlog_repair *r);

#endif /* SPINDLE_DLOG_FIX_H */
