// SPDX-License-Identifier: MIT
/*
 * What a writer does beside its frames, one operation at a time: make durable what the last life
 * has left, prepare segments ahead, write the meta block, recycle segments.
 *
 * The order of the choices below is the order that a crash needs. A name is durable before the
 * segment is written. The meta block with the new low is durable before a segment is recycled.
 */
#include <errno.h>

#include "log.h"

static const struct spindle_dlog_file new_file = { .kind = SPINDLE_DLOG_NEW };

static struct spindle_dlog_file segment(uint64_t seq)
{
	return (struct spindle_dlog_file){ .kind = SPINDLE_DLOG_SEGMENT, .id = seq };
}

static struct spindle_dlog_file spare(uint32_t i)
{
	return (struct spindle_dlog_file){ .kind = SPINDLE_DLOG_SPARE, .id = i };
}

static void begin(struct spindle_dlog *log, enum spindle_dlog_chore chore,
		  struct spindle_dlog_op op)
{
	log->chore = chore;
	op.token = SPINDLE_DLOG_TOKEN_CHORE;
	log->port->submit(log->port->env, &op);
}

static bool free_spare(struct spindle_dlog *log)
{
	uint32_t i;

	for (i = 0; i < SPINDLE_DLOG_SPARES; i++) {
		if (!(log->spares & (1U << i))) {
			log->spare = i;
			return true;
		}
	}
	return false;
}

static void write_meta(struct spindle_dlog *log)
{
	struct spindle_dlog_meta_state state = {
		.low = log->map.low, .acked = log->persisted, .seq = log->next_seq,
	};

	log->write_meta = false;
	state.number = ++log->number;
	spindle_dlog_meta_build(log->config.meta, &log->id, &state);
	begin(log, SPINDLE_DLOG_WRITE_META, (struct spindle_dlog_op){
		.what = SPINDLE_DLOG_WRITE, .file = { .id = log->number & 1 },
		.buf = log->config.meta, .len = log->id.block });
}

static void sync_meta(struct spindle_dlog *log)
{
	begin(log, SPINDLE_DLOG_SYNC_META, (struct spindle_dlog_op){
		.what = SPINDLE_DLOG_SYNC, .file = { .id = log->number & 1 } });
}

static void sync_names(struct spindle_dlog *log)
{
	struct spindle_dlog_op op = { .what = SPINDLE_DLOG_SYNC_DIR };

	begin(log, SPINDLE_DLOG_SYNC_NAMES, op);
}

static bool make_meta(struct spindle_dlog *log)
{
	uint32_t i = log->has_meta[0];

	if (log->has_meta[i])
		return false;
	begin(log, SPINDLE_DLOG_MAKE_META, (struct spindle_dlog_op){
		.what = SPINDLE_DLOG_CREATE, .file = { .id = i }, .len = log->id.block });
	return true;
}

static void drop(struct spindle_dlog *log, struct spindle_dlog_file file)
{
	begin(log, SPINDLE_DLOG_DROP, (struct spindle_dlog_op){
		.what = SPINDLE_DLOG_REMOVE, .file = file });
}

static bool is_whole(const struct spindle_dlog *log, struct spindle_dlog_file file)
{
	uint64_t bytes;

	return !log->port->size(log->port->env, file, &bytes) && bytes == log->id.segment;
}

/* Spares of the last life are known first, because the other files need places beside them. */
static bool adopt_spare(struct spindle_dlog *log)
{
	uint32_t i;

	for (i = 0; i < log->leftovers; i++) {
		struct spindle_dlog_file file = log->leftover[i];

		if (file.kind != SPINDLE_DLOG_SPARE)
			continue;
		log->leftover[i] = log->leftover[--log->leftovers];
		if (file.id < SPINDLE_DLOG_SPARES && is_whole(log, file))
			log->spares |= 1U << file.id;
		else
			drop(log, file);
		return true;
	}
	return false;
}

static void clear(struct spindle_dlog *log)
{
	struct spindle_dlog_file file = log->leftover[--log->leftovers];

	if (file.kind >= SPINDLE_DLOG_NEW || !is_whole(log, file) || !free_spare(log)) {
		drop(log, file);
		return;
	}
	begin(log, SPINDLE_DLOG_CLEAR, (struct spindle_dlog_op){
		.what = SPINDLE_DLOG_RENAME, .file = file, .to = spare(log->spare) });
}

/*
 * The meta block on disk has the same low, because it comes before any chore for space. The next
 * segment has frames on disk, because the one in front of it may say where the log was cut.
 */
static bool is_trimmed(const struct spindle_dlog *log)
{
	const struct spindle_dlog_map *map = &log->map;

	return map->n > 1 && map->seg[1].lsn <= map->low &&
	       (map->n > 2 || !log->in_segment || log->persisted > map->seg[1].lsn);
}

static void recycle(struct spindle_dlog *log)
{
	struct spindle_dlog_map *map = &log->map;
	uint64_t seq = map->seg[0].seq;
	uint32_t i;

	map->n--;
	for (i = 0; i < map->n; i++)
		map->seg[i] = map->seg[i + 1];
	if (!free_spare(log)) {
		drop(log, segment(seq));
		return;
	}
	begin(log, SPINDLE_DLOG_RECYCLE, (struct spindle_dlog_op){
		.what = SPINDLE_DLOG_RENAME, .file = segment(seq), .to = spare(log->spare) });
}

static bool wants_segment(const struct spindle_dlog *log)
{
	return log->ahead == SPINDLE_DLOG_AHEAD_NONE && log->spares &&
	       !spindle_dlog_map_is_full(log);
}

static void name_ahead(struct spindle_dlog *log)
{
	log->spare = (uint32_t)__builtin_ctz(log->spares);
	log->spares &= ~(1U << log->spare);
	log->ahead_seq = log->next_seq++;
	begin(log, SPINDLE_DLOG_NAME, (struct spindle_dlog_op){
		.what = SPINDLE_DLOG_RENAME, .file = spare(log->spare),
		.to = segment(log->ahead_seq) });
}

static bool wants_spare(const struct spindle_dlog *log)
{
	return !log->no_space && !spindle_dlog_map_is_full(log) &&
	       (uint32_t)__builtin_popcount(log->spares) < log->config.spares;
}

static void make(struct spindle_dlog *log)
{
	begin(log, SPINDLE_DLOG_MAKE, (struct spindle_dlog_op){
		.what = SPINDLE_DLOG_CREATE, .file = new_file, .len = log->id.segment });
}

static void keep(struct spindle_dlog *log)
{
	log->keep_new = false;
	if (!free_spare(log)) {
		drop(log, new_file);
		return;
	}
	begin(log, SPINDLE_DLOG_KEEP, (struct spindle_dlog_op){
		.what = SPINDLE_DLOG_RENAME, .file = new_file, .to = spare(log->spare) });
}

/* A name that a crash may undo is only a reason to wait if a segment is ahead. */
static bool wants_names(const struct spindle_dlog *log)
{
	return log->sync_names && (!log->opened || log->ahead == SPINDLE_DLOG_AHEAD_NAMED);
}

/* What has to be durable before anything else. */
static bool open_chore(struct spindle_dlog *log)
{
	if (log->sync_tail)
		begin(log, SPINDLE_DLOG_SYNC_TAIL, (struct spindle_dlog_op){
			.what = SPINDLE_DLOG_SYNC,
			.file = segment(log->map.seg[log->map.n - 1].seq) });
	else if (make_meta(log))
		;
	else if (wants_names(log))
		sync_names(log);
	else if (log->sync_meta)
		sync_meta(log);
	else if (log->write_meta)
		write_meta(log);
	return log->chore != SPINDLE_DLOG_IDLE;
}

/* A full ring gives up its oldest segment. */
static void turn_ring(struct spindle_dlog *log)
{
	if (log->config.policy == SPINDLE_DLOG_RING && log->map.n > 1 &&
	    spindle_dlog_state(log) == SPINDLE_DLOG_FULL && log->map.seg[1].lsn > log->map.low) {
		log->map.low = log->map.seg[1].lsn;
		log->write_meta = true;
	}
}

static void space_chore(struct spindle_dlog *log)
{
	while (log->leftovers && adopt_spare(log) && log->chore == SPINDLE_DLOG_IDLE)
		;
	if (log->chore != SPINDLE_DLOG_IDLE)
		return;
	if (log->leftovers)
		clear(log);
	else if (is_trimmed(log) && !log->hold)
		recycle(log);
	else if (wants_segment(log))
		name_ahead(log);
	else if (log->keep_new)
		keep(log);
	else if (wants_spare(log))
		make(log);
}

/**
 * spindle_dlog_chores - begin the next chore, if there is one to do and none is under way
 * @log: the writer
 */
void spindle_dlog_chores(struct spindle_dlog *log)
{
	if (log->failed || log->chore != SPINDLE_DLOG_IDLE)
		return;
	if (!log->opened) {
		if (open_chore(log))
			return;
		log->opened = true;
	}
	turn_ring(log);
	if (!open_chore(log))
		space_chore(log);
}

/* A renamed or removed file has names to sync before a segment ahead is written. */
static void names_changed(struct spindle_dlog *log, enum spindle_dlog_chore chore)
{
	log->sync_names = true;
	if (chore == SPINDLE_DLOG_NAME)
		log->ahead = SPINDLE_DLOG_AHEAD_NAMED;
	else if (chore != SPINDLE_DLOG_DROP)
		log->spares |= 1U << log->spare;
}

static void finish(struct spindle_dlog *log, enum spindle_dlog_chore chore)
{
	switch (chore) {
	case SPINDLE_DLOG_SYNC_TAIL:
		log->sync_tail = false;
		log->persisted = log->next;
		log->map.until = log->next;
		break;
	case SPINDLE_DLOG_MAKE_META:
		log->has_meta[log->has_meta[0]] = true;
		log->sync_names = true;
		break;
	case SPINDLE_DLOG_WRITE_META:
		log->sync_meta = !log->port->through;
		break;
	case SPINDLE_DLOG_SYNC_META:
		log->sync_meta = false;
		break;
	case SPINDLE_DLOG_SYNC_NAMES:
		log->sync_names = false;
		if (log->ahead == SPINDLE_DLOG_AHEAD_NAMED)
			log->ahead = SPINDLE_DLOG_AHEAD_READY;
		break;
	case SPINDLE_DLOG_MAKE:
		log->keep_new = true;
		break;
	case SPINDLE_DLOG_CLEAR:
	case SPINDLE_DLOG_RECYCLE:
	case SPINDLE_DLOG_DROP:
	case SPINDLE_DLOG_NAME:
	case SPINDLE_DLOG_KEEP:
		names_changed(log, chore);
		break;
	case SPINDLE_DLOG_IDLE:
		break;
	}
}

/**
 * spindle_dlog_chore_done - the chore has ended
 * @log: the writer
 * @err: 0 or a negative errno
 *
 * A file that could not be made because the disk is full is no reason to fail. Nothing of that file
 * is used.
 */
void spindle_dlog_chore_done(struct spindle_dlog *log, int err)
{
	enum spindle_dlog_chore chore = log->chore;

	log->chore = SPINDLE_DLOG_IDLE;
	if (err == -ENOSPC && chore == SPINDLE_DLOG_MAKE)
		log->no_space = true;
	else if (err)
		spindle_dlog_fail(log);
	else
		finish(log, chore);
}

/**
 * spindle_dlog_trim - give up the records below a position
 * @log: the writer
 * @lsn: position of the first record that is kept
 *
 * Readers have no record below @lsn from now on. Segments that are wholly below become spares when
 * the meta block with the position is durable.
 *
 * Return: 0, or -EINVAL if @lsn is not durable.
 */
int spindle_dlog_trim(struct spindle_dlog *log, uint64_t lsn)
{
	if (lsn > log->persisted)
		return -EINVAL;
	if (lsn <= log->map.low)
		return 0;
	log->map.low = lsn;
	log->write_meta = true;
	spindle_dlog_chores(log);
	return 0;
}

/**
 * spindle_dlog_skip - go on at a later position, and give up all records in front of it
 * @log: the writer, of which all that was appended is durable
 * @lsn: position of the next record
 *
 * For a log whose next records are in no log any more. The next record goes into another segment,
 * whose base is @lsn. So the log is SPINDLE_DLOG_OPENING until the meta block with the position is
 * durable: without that block, a scan would take what is in front of the base for damaged. A crash
 * in front of the write leaves the log as it was.
 *
 * Return: 0; -EAGAIN while something is not durable, or the log is being opened; -EIO if it has
 * failed; -EINVAL if @lsn is not behind the end of the log.
 */
int spindle_dlog_skip(struct spindle_dlog *log, uint64_t lsn)
{
	if (log->failed)
		return -EIO;
	if (lsn <= log->next || lsn == UINT64_MAX)
		return -EINVAL;
	if (!log->opened || log->flying || log->persisted != log->next)
		return -EAGAIN;
	log->next = lsn;
	log->persisted = lsn;
	log->told = lsn;
	log->map.until = lsn;
	log->map.low = lsn;
	log->in_segment = false;
	log->opened = false;
	log->write_meta = true;
	spindle_dlog_chores(log);
	return 0;
}

/**
 * spindle_dlog_more - there may be space on the disk again
 * @log: the writer
 */
void spindle_dlog_more(struct spindle_dlog *log)
{
	log->no_space = false;
	spindle_dlog_chores(log);
}
