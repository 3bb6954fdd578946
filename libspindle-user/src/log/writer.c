// SPDX-License-Identifier: MIT
/*
 * The frames of a writer: append, commit, and *persisted*, which moves over the durable frames in
 * front of the first one that is not.
 */
#include <errno.h>
#include <string.h>

#include "log.h"

static uint32_t slots(const struct spindle_dlog *log)
{
	return log->config.depth + 1;
}

static struct spindle_dlog_slot *slot_at(struct spindle_dlog *log, uint32_t i)
{
	return &log->slot[(log->first + i) % slots(log)];
}

/* The first block of each buffer is for the first frame of a segment. */
static void begin_frame(struct spindle_dlog *log)
{
	spindle_dlog_build_begin(&log->build, slot_at(log, log->flying)->buf + log->id.block,
				 log->id.frame);
	log->push = false;
}

/**
 * spindle_dlog_fail - end a writer for good
 * @log: the writer
 *
 * No operation is begun any more, because after an error nobody knows what is on the disk.
 */
void spindle_dlog_fail(struct spindle_dlog *log)
{
	log->failed = true;
}

/**
 * spindle_dlog_map_is_full - is there no entry for one more segment?
 * @log: the writer
 *
 * Each segment has an entry in the map, so a full map is a full log.
 *
 * Return: whether there is none.
 */
bool spindle_dlog_map_is_full(const struct spindle_dlog *log)
{
	return log->map.n + (log->ahead != SPINDLE_DLOG_AHEAD_NONE) >= log->map.max;
}

/* Begin the next segment. All of the one before is durable, which the base says on disk. */
static bool roll(struct spindle_dlog *log)
{
	struct spindle_dlog_map *map = &log->map;

	log->wants_segment = true;
	if (log->flying || log->ahead != SPINDLE_DLOG_AHEAD_READY)
		return false;
	log->seq = log->ahead_seq;
	log->ahead = SPINDLE_DLOG_AHEAD_NONE;
	log->offset = 0;
	log->in_segment = true;
	log->wants_segment = false;
	map->seg[map->n++] = (struct spindle_dlog_segment){
		.seq = log->seq, .lsn = log->persisted, .time = log->time,
	};
	return true;
}

static bool has_room(const struct spindle_dlog *log)
{
	uint32_t bytes = (log->build.used + log->id.block - 1) & ~(log->id.block - 1);

	return log->in_segment && bytes <= log->id.segment - log->offset;
}

/* Write the header of the frame, and that of the segment in front of the first one. */
static uint32_t seal(struct spindle_dlog *log, struct spindle_dlog_slot *slot, const void **from)
{
	struct spindle_dlog_info info = {
		.seq = log->seq, .base = log->map.seg[log->map.n - 1].lsn,
		.lsn = log->next - log->build.count, .acked = log->persisted,
		.era = log->era, .vid = log->vid, .time = log->time,
	};
	uint32_t head = 0;

	*from = log->build.buf;
	if (!log->offset) {
		head = log->id.block;
		*from = slot->buf;
		spindle_dlog_head_build(slot->buf, &log->id, &info);
		log->prev = info.crc;
	}
	info.offset = log->offset + head;
	info.prev = log->prev;
	spindle_dlog_build_seal(&log->build, &log->id, &info);
	log->prev = info.crc;
	log->told = info.acked;
	slot->end = info.end;
	return head + info.bytes;
}

static void submit(struct spindle_dlog *log)
{
	uint32_t index = (log->first + log->flying) % slots(log);
	struct spindle_dlog_slot *slot = &log->slot[index];
	struct spindle_dlog_op op = {
		.what = SPINDLE_DLOG_WRITE, .token = index,
		.file = { .kind = SPINDLE_DLOG_SEGMENT, .id = log->seq },
		.offset = log->offset,
	};

	op.len = seal(log, slot, &op.buf);
	slot->state = SPINDLE_DLOG_WRITING;
	log->offset += op.len;
	log->flying++;
	begin_frame(log);
	log->port->submit(log->port->env, &op);
}

/* Is it time for this frame? One that waits becomes longer, and a longer one costs less. */
static bool is_due(const struct spindle_dlog *log)
{
	if (!log->flying)
		return true;
	if (log->flying >= log->config.depth)
		return false;
	return log->config.eager || log->push || log->build.used >= log->config.commit;
}

static void send(struct spindle_dlog *log)
{
	if (log->failed || !log->opened || !log->build.count || !is_due(log))
		return;
	if (!has_room(log) && !roll(log)) {
		spindle_dlog_chores(log);
		return;
	}
	submit(log);
	spindle_dlog_chores(log);
}

static void see_time(struct spindle_dlog *log, uint64_t now)
{
	if (log->time < now)
		log->time = now;
}

static int check_message(const struct spindle_dlog *log, const struct spindle_dlog_msg *m)
{
	struct spindle_dlog_build empty;

	if (log->failed)
		return -EIO;
	if (!log->opened)
		return -EAGAIN;
	if (m->lsn != log->next || m->lsn == UINT64_MAX || m->era < log->era ||
	    (m->era == log->era && m->vid < log->vid))
		return -EINVAL;
	spindle_dlog_build_begin(&empty, NULL, log->id.frame);
	return spindle_dlog_build_fits(&empty, m->len) ? 0 : -EMSGSIZE;
}

static bool takes(const struct spindle_dlog *log, const struct spindle_dlog_msg *m)
{
	if (!log->build.count)
		return true;
	return m->era == log->era && m->vid == log->vid &&
	       spindle_dlog_build_fits(&log->build, m->len);
}

/**
 * spindle_dlog_append - append a message
 * @log: the writer
 * @m: the message, which is copied; its position is the next one
 * @now: nanoseconds of the wall clock
 *
 * The message goes to disk with spindle_dlog_commit(), or earlier.
 *
 * Return: 0; -EAGAIN while there is no room, until a write has ended or a segment is prepared;
 * -ENOSPC if the log is full; -EIO if it has failed; -EMSGSIZE if the message is longer than a
 * frame; -EINVAL for another position, or a view older than that of the message before.
 */
int spindle_dlog_append(struct spindle_dlog *log, const struct spindle_dlog_msg *m, uint64_t now)
{
	int err = check_message(log, m);

	if (err)
		return err;
	see_time(log, now);
	if (!takes(log, m)) {
		log->push = true;
		send(log);
		if (log->failed)
			return -EIO;
		if (!takes(log, m))
			return spindle_dlog_state(log) == SPINDLE_DLOG_FULL ? -ENOSPC : -EAGAIN;
	}
	log->era = m->era;
	log->vid = m->vid;
	spindle_dlog_build_add(&log->build, m);
	log->next++;
	return 0;
}

/**
 * spindle_dlog_commit - write what was appended, as soon as the frames in flight allow it
 * @log: the writer
 * @now: nanoseconds of the wall clock
 */
void spindle_dlog_commit(struct spindle_dlog *log, uint64_t now)
{
	see_time(log, now);
	send(log);
}

/**
 * spindle_dlog_mark - write an empty frame that says what is durable
 * @log: the writer
 * @now: nanoseconds of the wall clock
 *
 * A frame says what was durable ahead of it, so nothing says it of the newest one. A caller that
 * has no more to write calls this after a while. Nothing happens while frames are in flight, or if
 * the disk has all of it.
 */
void spindle_dlog_mark(struct spindle_dlog *log, uint64_t now)
{
	see_time(log, now);
	if (log->failed || !log->opened || log->flying || log->build.count ||
	    log->told == log->persisted)
		return;
	if (!has_room(log) && !roll(log)) {
		spindle_dlog_chores(log);
		return;
	}
	submit(log);
}

static void start_sync(struct spindle_dlog *log)
{
	struct spindle_dlog_op op = {
		.what = SPINDLE_DLOG_SYNC, .token = SPINDLE_DLOG_TOKEN_SYNC,
		.file = { .kind = SPINDLE_DLOG_SEGMENT, .id = log->seq },
	};
	uint32_t i;

	for (i = 0; i < log->flying && !log->syncing; i++)
		log->syncing = slot_at(log, i)->state == SPINDLE_DLOG_WRITTEN;
	if (!log->syncing)
		return;
	for (i = 0; i < log->flying; i++)
		if (slot_at(log, i)->state == SPINDLE_DLOG_WRITTEN)
			slot_at(log, i)->state = SPINDLE_DLOG_SYNCING;
	log->port->submit(log->port->env, &op);
}

static void sync_done(struct spindle_dlog *log)
{
	uint32_t i;

	log->syncing = false;
	for (i = 0; i < log->flying; i++)
		if (slot_at(log, i)->state == SPINDLE_DLOG_SYNCING)
			slot_at(log, i)->state = SPINDLE_DLOG_DURABLE;
}

static void advance(struct spindle_dlog *log)
{
	while (log->flying && slot_at(log, 0)->state == SPINDLE_DLOG_DURABLE) {
		log->persisted = slot_at(log, 0)->end;
		log->first = (log->first + 1) % slots(log);
		log->flying--;
	}
	log->map.until = log->persisted;
}

/**
 * spindle_dlog_done - an operation has ended
 * @log: the writer
 * @token: of the operation
 * @err: 0 or a negative errno
 *
 * After this call *persisted* may be larger, and other operations may have begun.
 */
void spindle_dlog_done(struct spindle_dlog *log, uint32_t token, int err)
{
	if (log->failed)
		return;
	if (token == SPINDLE_DLOG_TOKEN_CHORE) {
		spindle_dlog_chore_done(log, err);
	} else if (err) {
		spindle_dlog_fail(log);
	} else if (token == SPINDLE_DLOG_TOKEN_SYNC) {
		sync_done(log);
	} else if (token < slots(log) && log->slot[token].state == SPINDLE_DLOG_WRITING) {
		log->slot[token].state = log->port->through ? SPINDLE_DLOG_DURABLE :
							      SPINDLE_DLOG_WRITTEN;
	}
	if (log->failed)
		return;
	if (!log->port->through && !log->syncing)
		start_sync(log);
	advance(log);
	spindle_dlog_chores(log);
	send(log);
}

static bool config_is_possible(const struct spindle_dlog_config *config)
{
	return config->depth && config->depth <= SPINDLE_DLOG_DEPTH && config->spares &&
	       config->spares <= SPINDLE_DLOG_SPARES && config->policy <= SPINDLE_DLOG_RING;
}

/* A crash may have left a file that is shorter. The writer makes it once more. */
static bool has_meta(const struct spindle_dlog_scan *s, uint32_t i)
{
	struct spindle_dlog_file file = { .kind = SPINDLE_DLOG_META, .id = i };
	uint64_t bytes;

	return s->has_meta[i] && !s->port->size(s->port->env, file, &bytes) &&
	       bytes == s->id.block;
}

static void take_scan(struct spindle_dlog *log, const struct spindle_dlog_scan *s)
{
	log->port = s->port;
	log->id = s->id;
	log->map = s->map;
	log->next = s->next;
	/* The rest is in front of a sync that has not ended, and may be lost by then. */
	log->persisted = s->map.n && s->acked < s->next ? s->acked : s->next;
	log->map.until = log->persisted;
	log->told = s->next;
	log->time = s->time;
	log->era = s->last_epoch.era;
	log->vid = s->last_epoch.vid;
	log->next_seq = s->seq + (s->tail_damaged ? SPINDLE_DLOG_RESERVE : 0);
	log->number = s->number;
	log->has_meta[0] = has_meta(s, 0);
	log->has_meta[1] = has_meta(s, 1);
	log->leftover = s->file;
	log->leftovers = s->leftovers;
	log->sync_tail = s->map.n;
	log->sync_names = true;
	log->write_meta = true;
}

/**
 * spindle_dlog_start - begin to write behind what a scan has found
 * @log: the writer; all of it is overwritten
 * @config: how it works, and its buffers
 * @s: the scan; its files and its map belong to the writer from now on. Of a log that is new, the
 *	caller has set id, map.low and next to what the log shall be
 *
 * Return: 0; -EINVAL for impossible sizes; -EUCLEAN if the log ends in a damaged range, and the
 * caller has not decided to go on behind it.
 */
int spindle_dlog_start(struct spindle_dlog *log, const struct spindle_dlog_config *config,
		       struct spindle_dlog_scan *s)
{
	uint32_t i;

	if (!config_is_possible(config) || !spindle_dlog_ident_check(&s->id) || !s->map.max ||
	    s->next < s->map.low)
		return -EINVAL;
	if (s->tail_damaged && !config->go_on)
		return -EUCLEAN;
	*log = (struct spindle_dlog){ .config = *config };
	take_scan(log, s);
	for (i = 0; i < slots(log); i++)
		log->slot[i].buf = config->slot[i];
	begin_frame(log);
	spindle_dlog_chores(log);
	return 0;
}

/**
 * spindle_dlog_state - how is the log?
 * @log: the writer
 *
 * Return: its state.
 */
enum spindle_dlog_state spindle_dlog_state(const struct spindle_dlog *log)
{
	if (log->failed)
		return SPINDLE_DLOG_FAILED;
	if (!log->opened)
		return SPINDLE_DLOG_OPENING;
	if (!spindle_dlog_map_is_full(log) && (!log->no_space || log->spares))
		return SPINDLE_DLOG_RUNNING;
	if (log->ahead != SPINDLE_DLOG_AHEAD_NONE || !log->wants_segment)
		return SPINDLE_DLOG_LOW;
	return SPINDLE_DLOG_FULL;
}

/**
 * spindle_dlog_full - what does the policy ask for?
 * @log: the writer, which is full
 *
 * A log of policy RING drops its oldest segment, and blocks while it cannot.
 *
 * Return: SPINDLE_DLOG_BLOCK or SPINDLE_DLOG_LEAVE.
 */
enum spindle_dlog_policy spindle_dlog_full(const struct spindle_dlog *log)
{
	return log->config.policy == SPINDLE_DLOG_LEAVE ? SPINDLE_DLOG_LEAVE : SPINDLE_DLOG_BLOCK;
}
