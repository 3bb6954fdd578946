/* SPDX-License-Identifier: MIT */
/*
 * The durable log of one subgroup at one node: scan what is there, write, trim, read.
 *
 * A life is the time from one spindle_dlog_start() to the next one. A segment is written in one
 * life only, and its first byte is written when everything below its base is durable. So a torn
 * frame can only be in the last segment that has frames.
 *
 * Owner: the caller has all memory, and nothing here allocates any. Context: one thread at a time
 * for each log. A reader of the same process runs in the context of the writer. A reader of another
 * process has a scan of its own.
 */
#ifndef SPINDLE_DLOG_LOG_H
#define SPINDLE_DLOG_LOG_H

#include "format.h"
#include "port.h"

/* Writes in flight, at most. */
#define SPINDLE_DLOG_DEPTH	8U
/* Files without a number, at most. */
#define SPINDLE_DLOG_SPARES	8U
/* Numbers that a log with a damaged end leaves free, for segments that a repair makes. */
#define SPINDLE_DLOG_RESERVE	64U
/* The largest number of a segment. No log gets there, so a larger one was made by somebody else. */
#define SPINDLE_DLOG_SEQ_MAX	(1ULL << 62)

/**
 * struct spindle_dlog_segment - a segment that has frames
 */
struct spindle_dlog_segment {
	/** @seq: its number */
	uint64_t seq;
	/** @lsn: its base, position of its first record */
	uint64_t lsn;
	/** @time: of its first frame that checks */
	uint64_t time;
	/** @lost: no frame of it checks */
	bool lost;
};

/**
 * struct spindle_dlog_map - which segments there are
 */
struct spindle_dlog_map {
	/** @seg: in order */
	struct spindle_dlog_segment *seg;
	/** @max: entries that @seg has room for */
	uint32_t max;
	/** @n: entries of @seg */
	uint32_t n;
	/** @low: position of the first record that is kept */
	uint64_t low;
	/** @until: position behind the last record that a reader may have */
	uint64_t until;
	/** @changes: segments that were replaced; a reader looks for its place once more */
	uint64_t changes;
};

/**
 * struct spindle_dlog_range - positions
 */
struct spindle_dlog_range {
	/** @from: the first one */
	uint64_t from;
	/** @to: behind the last one */
	uint64_t to;
};

/**
 * struct spindle_dlog_epoch - where the records of a view begin
 */
struct spindle_dlog_epoch {
	/** @era: of the view */
	uint64_t era;
	/** @vid: id of the view */
	uint64_t vid;
	/** @lsn: position of its first record that is there */
	uint64_t lsn;
};

/**
 * struct spindle_dlog_window - a part of a segment in memory
 */
struct spindle_dlog_window {
	/** @buf: memory, aligned to the block */
	unsigned char *buf;
	/** @size: bytes at @buf, at least the longest frame */
	uint32_t size;
	/** @len: bytes of the segment that are there; 0: none */
	uint32_t len;
	/** @seq: of the segment */
	uint64_t seq;
	/** @start: offset of the first byte */
	uint64_t start;
	/** @checked: a frame of these bytes was checked */
	bool checked;
	/** @frame: offset of that frame, the last one that was checked */
	uint64_t frame;
	/** @crc: of its header */
	uint32_t crc;
};

/**
 * struct spindle_dlog_walk - a walk over the frames of a segment
 */
struct spindle_dlog_walk {
	/** @seq: number of the segment */
	uint64_t seq;
	/** @base: of the segment */
	uint64_t base;
	/** @proof: all below was acknowledged, by the base of the next segment that has frames */
	uint64_t proof;
	/** @last: no segment with frames is behind it */
	bool last;
	/** @chained: the frame before belongs to the log, and ends at @offset */
	bool chained;
	/** @has_sure: @sure is known */
	bool has_sure;
	/** @prev: CRC of the frame before */
	uint32_t prev;
	/** @sure: what is below and checks belongs to the log */
	uint64_t sure;
	/** @next: position behind the frame before */
	uint64_t next;
	/** @start: offset of the frame that was found */
	uint64_t start;
	/** @offset: of the next place to look at */
	uint64_t offset;
	/** @era: of the frame before */
	uint64_t era;
	/** @vid: of the frame before */
	uint64_t vid;
	/** @dropped: frames that check and do not belong to the log */
	uint32_t dropped;
};

/**
 * struct spindle_dlog_resume - what a scan knows in front of the last segment
 */
struct spindle_dlog_resume {
	/** @next: position behind the last record so far */
	uint64_t next;
	/** @time: of the newest frame so far */
	uint64_t time;
	/** @last_to: end of the last damaged range so far */
	uint64_t last_to;
	/** @last_epoch: the newest one so far */
	struct spindle_dlog_epoch last_epoch;
	/** @n_damaged: ranges so far */
	uint32_t n_damaged;
	/** @n_epochs: epochs so far */
	uint32_t n_epochs;
	/** @tail_damaged: a damaged range is the last one so far */
	bool tail_damaged;
};

/**
 * struct spindle_dlog_scan - what is on disk
 */
struct spindle_dlog_scan {
	/** @port: the environment */
	const struct spindle_dlog_port *port;
	/** @window: its memory is the caller's */
	struct spindle_dlog_window window;
	/** @file: room for all files of the directory; leaves those that hold no records */
	struct spindle_dlog_file *file;
	/** @max_files: entries of @file */
	uint32_t max_files;
	/** @max_damaged: entries of @damaged */
	uint32_t max_damaged;
	/** @max_epochs: entries of @epoch */
	uint32_t max_epochs;
	/** @newest: with more epochs, @epoch has the newest ones, and not the oldest ones */
	bool newest;
	/** @damaged: memory for ranges */
	struct spindle_dlog_range *damaged;
	/** @epoch: memory for epochs */
	struct spindle_dlog_epoch *epoch;
	/**
	 * @known: position below which other members know this one to be durable; 0 without
	 * such knowledge
	 */
	uint64_t known;

	/** @id: in: the longest frame; out: what the log is */
	struct spindle_dlog_ident id;
	/** @map: in: memory; out: the segments */
	struct spindle_dlog_map map;
	/** @is_new: there is no log, and @id says nothing */
	bool is_new;
	/** @has_meta: which files of the two there are */
	bool has_meta[2];
	/** @tail_damaged: a damaged range is the last one of the log */
	bool tail_damaged;
	/** @number: of the newest meta block */
	uint64_t number;
	/** @next: position behind the last record */
	uint64_t next;
	/** @acked: all below was durable, as the log says of itself */
	uint64_t acked;
	/** @time: of the newest frame */
	uint64_t time;
	/** @seq: larger than the number of any segment */
	uint64_t seq;
	/** @leftovers: entries of @file that are left */
	uint32_t leftovers;
	/** @dropped: whole frames behind a torn one, which were never acknowledged */
	uint32_t dropped;
	/** @n_damaged: ranges; those behind @max_damaged are only counted */
	uint32_t n_damaged;
	/** @n_epochs: epochs; those that @epoch has no room for are only counted */
	uint32_t n_epochs;
	/** @last_epoch: the newest one */
	struct spindle_dlog_epoch last_epoch;
	/** @resume: for a later scan that begins with the last segment of this one */
	struct spindle_dlog_resume resume;
};

/**
 * enum spindle_dlog_policy - what a full log does
 */
enum spindle_dlog_policy {
	/** @SPINDLE_DLOG_BLOCK: append finds no room, and the subgroup waits */
	SPINDLE_DLOG_BLOCK,
	/** @SPINDLE_DLOG_LEAVE: the member leaves the subgroup */
	SPINDLE_DLOG_LEAVE,
	/** @SPINDLE_DLOG_RING: the log drops its oldest segment */
	SPINDLE_DLOG_RING,
};

/**
 * enum spindle_dlog_state - of a writer
 */
enum spindle_dlog_state {
	/** @SPINDLE_DLOG_OPENING: what the last life has left is being made durable */
	SPINDLE_DLOG_OPENING,
	/** @SPINDLE_DLOG_RUNNING: all is well */
	SPINDLE_DLOG_RUNNING,
	/** @SPINDLE_DLOG_LOW: no segment could be made behind the one that is prepared */
	SPINDLE_DLOG_LOW,
	/** @SPINDLE_DLOG_FULL: no segment is prepared; spindle_dlog_full() says what to do */
	SPINDLE_DLOG_FULL,
	/** @SPINDLE_DLOG_FAILED: an operation has failed; final */
	SPINDLE_DLOG_FAILED,
};

/**
 * enum spindle_dlog_slot_state - of a frame that was submitted
 */
enum spindle_dlog_slot_state {
	/** @SPINDLE_DLOG_WRITING: the write has not ended */
	SPINDLE_DLOG_WRITING,
	/** @SPINDLE_DLOG_WRITTEN: the write has ended, and no sync has begun since */
	SPINDLE_DLOG_WRITTEN,
	/** @SPINDLE_DLOG_SYNCING: a sync began behind the end of the write */
	SPINDLE_DLOG_SYNCING,
	/** @SPINDLE_DLOG_DURABLE: the frame is durable; earlier ones may not be */
	SPINDLE_DLOG_DURABLE,
};

/**
 * struct spindle_dlog_slot - a frame that is filled, or in flight
 */
struct spindle_dlog_slot {
	/** @buf: room for a block and for the longest frame */
	unsigned char *buf;
	/** @end: position behind its last record */
	uint64_t end;
	/** @state: enum spindle_dlog_slot_state */
	uint32_t state;
};

/**
 * struct spindle_dlog_config - how a writer works
 */
struct spindle_dlog_config {
	/** @depth: writes in flight, 1 to SPINDLE_DLOG_DEPTH */
	uint32_t depth;
	/** @eager: with depth > 1, a frame does not wait for the one before */
	bool eager;
	/** @policy: enum spindle_dlog_policy */
	uint32_t policy;
	/** @commit: bytes that wait, with depth > 1, until a frame goes without waiting */
	uint32_t commit;
	/** @spares: files that are prepared behind the next segment, at most SPINDLE_DLOG_SPARES */
	uint32_t spares;
	/** @go_on: also begin behind a range that is damaged */
	bool go_on;
	/** @slot: @depth + 1 buffers */
	unsigned char *slot[SPINDLE_DLOG_DEPTH + 1];
	/** @meta: a buffer of one block */
	unsigned char *meta;
};

/**
 * enum spindle_dlog_chore - what happens beside the frames, one at a time
 */
enum spindle_dlog_chore {
	/** @SPINDLE_DLOG_IDLE: nothing */
	SPINDLE_DLOG_IDLE,
	/** @SPINDLE_DLOG_SYNC_TAIL: sync the last segment of the last life */
	SPINDLE_DLOG_SYNC_TAIL,
	/** @SPINDLE_DLOG_MAKE_META: make a file for meta blocks */
	SPINDLE_DLOG_MAKE_META,
	/** @SPINDLE_DLOG_WRITE_META: write the meta block */
	SPINDLE_DLOG_WRITE_META,
	/** @SPINDLE_DLOG_SYNC_META: sync it */
	SPINDLE_DLOG_SYNC_META,
	/** @SPINDLE_DLOG_SYNC_NAMES: sync the directory */
	SPINDLE_DLOG_SYNC_NAMES,
	/** @SPINDLE_DLOG_CLEAR: a file of the last life becomes a spare */
	SPINDLE_DLOG_CLEAR,
	/** @SPINDLE_DLOG_RECYCLE: a segment that is trimmed becomes a spare */
	SPINDLE_DLOG_RECYCLE,
	/** @SPINDLE_DLOG_DROP: a file is removed */
	SPINDLE_DLOG_DROP,
	/** @SPINDLE_DLOG_NAME: a spare gets a number */
	SPINDLE_DLOG_NAME,
	/** @SPINDLE_DLOG_MAKE: a file is made */
	SPINDLE_DLOG_MAKE,
	/** @SPINDLE_DLOG_KEEP: the file becomes a spare */
	SPINDLE_DLOG_KEEP,
};

/**
 * enum spindle_dlog_ahead - of the next segment
 */
enum spindle_dlog_ahead {
	/** @SPINDLE_DLOG_AHEAD_NONE: there is none */
	SPINDLE_DLOG_AHEAD_NONE,
	/** @SPINDLE_DLOG_AHEAD_NAMED: the file has its name, which a crash may undo */
	SPINDLE_DLOG_AHEAD_NAMED,
	/** @SPINDLE_DLOG_AHEAD_READY: the name is durable */
	SPINDLE_DLOG_AHEAD_READY,
};

/**
 * struct spindle_dlog - a writer
 */
struct spindle_dlog {
	/** @port: the environment */
	const struct spindle_dlog_port *port;
	/** @id: what the log is */
	struct spindle_dlog_ident id;
	/** @config: as given */
	struct spindle_dlog_config config;
	/** @map: for readers of this process, too */
	struct spindle_dlog_map map;

	/** @slot: those in flight from @first on, then the one that is being filled */
	struct spindle_dlog_slot slot[SPINDLE_DLOG_DEPTH + 1];
	/** @first: the oldest one in flight */
	uint32_t first;
	/** @flying: how many are in flight */
	uint32_t flying;
	/** @build: the frame that is being filled */
	struct spindle_dlog_build build;
	/** @next: position of the next message */
	uint64_t next;
	/** @persisted: all below is durable */
	uint64_t persisted;
	/** @told: @acked of the newest frame */
	uint64_t told;
	/** @era: of the records of @build */
	uint64_t era;
	/** @vid: of the records of @build */
	uint64_t vid;
	/** @time: of the newest frame, or of now if that is later */
	uint64_t time;
	/** @seq: of the segment that is being written */
	uint64_t seq;
	/** @offset: of the next frame in it */
	uint32_t offset;
	/** @prev: CRC of the frame before */
	uint32_t prev;
	/** @in_segment: there is a segment that is being written */
	bool in_segment;
	/** @wants_segment: the next frame has no room in it */
	bool wants_segment;
	/** @push: the frame that is being filled takes no more messages */
	bool push;
	/** @syncing: a sync of the segment has not ended */
	bool syncing;

	/** @opened: the chores of opening are done */
	bool opened;
	/** @failed: for good */
	bool failed;
	/** @no_space: no file could be made */
	bool no_space;
	/** @chore: enum spindle_dlog_chore, that has not ended */
	uint32_t chore;
	/** @ahead: enum spindle_dlog_ahead */
	uint32_t ahead;
	/** @ahead_seq: number of the next segment */
	uint64_t ahead_seq;
	/** @next_seq: number of the segment behind that */
	uint64_t next_seq;
	/** @spares: bits of those that there are */
	uint32_t spares;
	/** @spare: that the chore is about */
	uint32_t spare;
	/** @sync_tail: the last segment of the last life may not be durable */
	bool sync_tail;
	/** @sync_names: names may not be durable */
	bool sync_names;
	/** @sync_meta: a meta block was written and not synced */
	bool sync_meta;
	/** @write_meta: the meta block on disk is older than this writer */
	bool write_meta;
	/** @hold: a segment is being replaced, and none may be recycled */
	bool hold;
	/** @keep_new: a file was made and is no spare yet */
	bool keep_new;
	/** @has_meta: which files of the two there are */
	bool has_meta[2];
	/** @number: of the newest meta block */
	uint64_t number;
	/** @leftover: files of the last life, in the memory of its scan */
	struct spindle_dlog_file *leftover;
	/** @leftovers: how many of them are left */
	uint32_t leftovers;
};

/**
 * struct spindle_dlog_reader - a place in a log
 */
struct spindle_dlog_reader {
	/** @port: the environment */
	const struct spindle_dlog_port *port;
	/** @id: what the log is */
	const struct spindle_dlog_ident *id;
	/** @map: of the writer, or of a scan */
	const struct spindle_dlog_map *map;
	/** @window: its memory is the caller's */
	struct spindle_dlog_window window;
	/** @lsn: position of the next record */
	uint64_t lsn;
	/** @walk: over the frames of a segment */
	struct spindle_dlog_walk walk;
	/** @walking: @walk is in the segment of the next record */
	bool walking;
	/** @until: end of the log when the window was filled */
	uint64_t until;
	/** @changes: of the map, when the place was found */
	uint64_t changes;
	/** @in_frame: @frame has the record at @lsn */
	bool in_frame;
	/** @at: its offset in the frame */
	uint32_t at;
	/** @frame: header of the frame */
	struct spindle_dlog_info frame;
	/** @damaged: the range that the last call has stepped over */
	struct spindle_dlog_range damaged;
};

/**
 * enum spindle_dlog_cut_step - of a cut, in this order
 */
enum spindle_dlog_cut_step {
	/** @SPINDLE_DLOG_CUT_TAIL: sync the last segment */
	SPINDLE_DLOG_CUT_TAIL,
	/** @SPINDLE_DLOG_CUT_MAKE_META: make the file of the next meta block, if there is none */
	SPINDLE_DLOG_CUT_MAKE_META,
	/** @SPINDLE_DLOG_CUT_MAKE_OTHER: make the other one */
	SPINDLE_DLOG_CUT_MAKE_OTHER,
	/** @SPINDLE_DLOG_CUT_MAKE: make a file for the segment */
	SPINDLE_DLOG_CUT_MAKE,
	/** @SPINDLE_DLOG_CUT_NAME: give it a number */
	SPINDLE_DLOG_CUT_NAME,
	/** @SPINDLE_DLOG_CUT_NAMES: sync the directory */
	SPINDLE_DLOG_CUT_NAMES,
	/** @SPINDLE_DLOG_CUT_META: write the meta block */
	SPINDLE_DLOG_CUT_META,
	/** @SPINDLE_DLOG_CUT_SYNC_META: sync it */
	SPINDLE_DLOG_CUT_SYNC_META,
	/** @SPINDLE_DLOG_CUT_OTHER: write the same to the other file */
	SPINDLE_DLOG_CUT_OTHER,
	/** @SPINDLE_DLOG_CUT_SYNC_OTHER: sync it */
	SPINDLE_DLOG_CUT_SYNC_OTHER,
	/**
	 * @SPINDLE_DLOG_CUT_COPY: write the second frame of the segment, with the records that stay
	 * of a frame
	 */
	SPINDLE_DLOG_CUT_COPY,
	/** @SPINDLE_DLOG_CUT_SYNC_COPY: sync it */
	SPINDLE_DLOG_CUT_SYNC_COPY,
	/** @SPINDLE_DLOG_CUT_HEAD: write the first frame of the segment */
	SPINDLE_DLOG_CUT_HEAD,
	/** @SPINDLE_DLOG_CUT_SYNC_HEAD: sync it */
	SPINDLE_DLOG_CUT_SYNC_HEAD,
	/** @SPINDLE_DLOG_CUT_END: write the meta block of the log that is cut */
	SPINDLE_DLOG_CUT_END,
	/** @SPINDLE_DLOG_CUT_SYNC_END: sync it */
	SPINDLE_DLOG_CUT_SYNC_END,
	/** @SPINDLE_DLOG_CUT_END_OTHER: write the same to the other file */
	SPINDLE_DLOG_CUT_END_OTHER,
	/** @SPINDLE_DLOG_CUT_SYNC_END_OTHER: sync it */
	SPINDLE_DLOG_CUT_SYNC_END_OTHER,
	/** @SPINDLE_DLOG_CUT_DONE: the log is cut */
	SPINDLE_DLOG_CUT_DONE,
};

/**
 * struct spindle_dlog_cut - a log that is being cut
 */
struct spindle_dlog_cut {
	/** @port: the environment */
	const struct spindle_dlog_port *port;
	/** @id: what the log is */
	struct spindle_dlog_ident id;
	/** @meta: a buffer of one block */
	unsigned char *meta;
	/** @buf: a buffer for a block and for the longest frame */
	unsigned char *buf;
	/** @step: enum spindle_dlog_cut_step, which has not ended */
	uint32_t step;
	/** @copy: bytes of the second frame, with the records that stay */
	uint32_t copy;
	/** @head: the first frame is to be written */
	bool head;
	/** @end: position of the first message that goes */
	uint64_t end;
	/** @base: of the segment that cuts */
	uint64_t base;
	/** @low: position of the first record that is kept, before the cut */
	uint64_t low;
	/** @seq: number of the segment that cuts */
	uint64_t seq;
	/** @is_cut: the log ends at @end already, and only syncs and the first frame are left */
	bool is_cut;
	/** @has_tail: the log has a segment */
	bool has_tail;
	/** @tail: number of the last one */
	uint64_t tail;
	/** @number: of the newest meta block before the cut */
	uint64_t number;
};

int spindle_dlog_recover(struct spindle_dlog_scan *s);
int spindle_dlog_recover_since(struct spindle_dlog_scan *s,
			       const struct spindle_dlog_scan *before);
int spindle_dlog_cut(struct spindle_dlog_cut *c, struct spindle_dlog_scan *s, uint64_t lsn);
int spindle_dlog_cut_done(struct spindle_dlog_cut *c, int err);

int spindle_dlog_start(struct spindle_dlog *log, const struct spindle_dlog_config *config,
		       struct spindle_dlog_scan *s);
int spindle_dlog_append(struct spindle_dlog *log, const struct spindle_dlog_msg *m, uint64_t now);
void spindle_dlog_commit(struct spindle_dlog *log, uint64_t now);
void spindle_dlog_mark(struct spindle_dlog *log, uint64_t now);
void spindle_dlog_done(struct spindle_dlog *log, uint32_t token, int err);
enum spindle_dlog_state spindle_dlog_state(const struct spindle_dlog *log);
enum spindle_dlog_policy spindle_dlog_full(const struct spindle_dlog *log);
int spindle_dlog_trim(struct spindle_dlog *log, uint64_t lsn);
int spindle_dlog_skip(struct spindle_dlog *log, uint64_t lsn);
void spindle_dlog_more(struct spindle_dlog *log);

void spindle_dlog_seek(struct spindle_dlog_reader *r, uint64_t lsn);
int spindle_dlog_read(struct spindle_dlog_reader *r, struct spindle_dlog_msg *m);
int spindle_dlog_find_time(struct spindle_dlog_reader *r, uint64_t time);

/* Between the files of the log. */

/* Tokens of a chore and of a sync; smaller ones are slots. */
#define SPINDLE_DLOG_TOKEN_CHORE	0x100U
#define SPINDLE_DLOG_TOKEN_SYNC	0x101U

int spindle_dlog_window_frame(struct spindle_dlog_window *w, const struct spindle_dlog_port *port,
			      const struct spindle_dlog_ident *id, uint64_t seq, uint64_t offset,
			      struct spindle_dlog_info *info);
bool spindle_dlog_window_has(const struct spindle_dlog_window *w, uint64_t seq, uint64_t offset,
			     uint32_t crc);
const unsigned char *spindle_dlog_window_at(const struct spindle_dlog_window *w, uint64_t offset);
void spindle_dlog_walk_begin(struct spindle_dlog_walk *w, const struct spindle_dlog_map *map,
			     uint32_t i, uint64_t proof, bool last);
int spindle_dlog_walk_sure(struct spindle_dlog_walk *w, struct spindle_dlog_window *window,
			   const struct spindle_dlog_port *port,
			   const struct spindle_dlog_ident *id);
int spindle_dlog_walk_next(struct spindle_dlog_walk *w, struct spindle_dlog_window *window,
			   const struct spindle_dlog_port *port,
			   const struct spindle_dlog_ident *id, struct spindle_dlog_info *info);
void spindle_dlog_chores(struct spindle_dlog *log);
void spindle_dlog_chore_done(struct spindle_dlog *log, int err);
bool spindle_dlog_map_is_full(const struct spindle_dlog *log);
void spindle_dlog_fail(struct spindle_dlog *log);

#endif /* SPINDLE_DLOG_LOG_H */
