// SPDX-License-Identifier: MIT
/*
 * Repair of a damaged range beside the writer, which never writes to a segment of an earlier life.
 *
 * A new file gets all records of the segment, and those that are missing come from the caller. The
 * file is durable before it replaces the segment, and the change of names is atomic. So a crash
 * leaves the segment as it was, or repaired. All that a new file has is durable when the file has
 * its name, and so each of its frames says that everything in front of it was acknowledged.
 */
#include <errno.h>
#include <string.h>

#include "fix.h"

static const struct spindle_dlog_file fix_file = { .kind = SPINDLE_DLOG_FIX };

/**
 * spindle_dlog_repair_init - prepare for repairs
 * @r: the repair; all of it is overwritten
 * @log: the writer
 * @frame: bytes of the longest frame that a life of the log may have written
 * @window: memory of @frame bytes, and of no less than the largest block
 * @buf: memory of @frame bytes and two of the largest blocks
 */
void spindle_dlog_repair_init(struct spindle_dlog_repair *r, struct spindle_dlog *log,
			      uint32_t frame, unsigned char *window, unsigned char *buf)
{
	*r = (struct spindle_dlog_repair){ .log = log, .id = log->id, .buf = buf };
	r->id.frame = frame;
	r->reader = (struct spindle_dlog_reader){
		.port = log->port, .id = &r->id, .map = &log->map,
		.window = { .buf = window, .size = frame },
	};
}

static void fail(struct spindle_dlog_repair *r, int err)
{
	r->log->hold = false;
	r->err = err;
	r->step = SPINDLE_DLOG_REPAIR_FAILED;
}

static void begin(struct spindle_dlog_repair *r, enum spindle_dlog_repair_step step,
		  struct spindle_dlog_op op)
{
	if (r->log->failed) {
		fail(r, -EIO);
		return;
	}
	r->step = step;
	op.token = SPINDLE_DLOG_TOKEN_REPAIR;
	r->log->port->submit(r->log->port->env, &op);
}

static void begin_build(struct spindle_dlog_repair *r)
{
	spindle_dlog_build_begin(&r->build, r->buf + r->id.block, r->id.frame);
}

/* ---- which segment ------------------------------------------------------------- */

/* Segments in front of a position, without those that are lost. */
static uint32_t count_before(const struct spindle_dlog_map *map, uint64_t lsn)
{
	uint32_t i = map->n;

	while (i && (map->seg[i - 1].lsn > lsn || map->seg[i - 1].lost))
		i--;
	return i;
}

/* The number that a segment in front of the @i-th one stays below. */
static uint64_t limit_of(const struct spindle_dlog *log, uint32_t i)
{
	if (i < log->map.n)
		return log->map.seg[i].seq;
	return log->ahead == SPINDLE_DLOG_AHEAD_NONE ? log->next_seq : log->ahead_seq;
}

static bool has_entry(const struct spindle_dlog *log)
{
	return log->map.n + (log->ahead != SPINDLE_DLOG_AHEAD_NONE) < log->map.max;
}

/*
 * A segment between the @i-th one and the one in front of it, which is lost or was never there.
 * No other file has had this number with frames that check, because the new file begins as zeros.
 */
static bool choose_between(struct spindle_dlog_repair *r, uint32_t i)
{
	const struct spindle_dlog_map *map = &r->log->map;
	uint64_t limit = limit_of(r->log, i);

	r->replaces = i < map->n && map->seg[i].lost;
	if (r->replaces)
		r->seq = map->seg[i].seq;
	else if (i)
		r->seq = map->seg[i - 1].seq + 1;
	else
		r->seq = limit > SPINDLE_DLOG_RESERVE ? limit - SPINDLE_DLOG_RESERVE : 0;
	return r->replaces || (r->seq < limit && has_entry(r->log));
}

static uint64_t time_near(const struct spindle_dlog_map *map, uint32_t i)
{
	return i < map->n ? map->seg[i].time : 0;
}

/* The damaged range from a position on belongs to the segment in front of it, if that has room. */
static bool choose(struct spindle_dlog_repair *r, uint64_t from)
{
	const struct spindle_dlog_map *map = &r->log->map;
	uint32_t i = count_before(map, from);

	r->end = i < map->n ? map->seg[i].lsn : map->until;
	r->base = from;
	r->time = time_near(map, i ? i - 1 : i);
	if (!i || (r->was_full && r->full == map->seg[i - 1].seq && r->next == from))
		return choose_between(r, i);
	r->replaces = true;
	r->seq = map->seg[i - 1].seq;
	r->base = map->seg[i - 1].lsn > map->low ? map->seg[i - 1].lsn : map->low;
	return true;
}

/**
 * spindle_dlog_repair_begin - begin to repair the segment with a damaged range
 * @r: a repair that is idle, done, or has failed
 * @from: first position of the range, which a scan has found
 *
 * Return: 0; -EAGAIN while the writer opens or clears what the last life has left; -ESTALE if the
 * range was trimmed, or the segment is being written; -ENOSPC if there is no number for one more
 * segment.
 */
int spindle_dlog_repair_begin(struct spindle_dlog_repair *r, uint64_t from)
{
	struct spindle_dlog *log = r->log;

	if (log->failed || from < log->map.low || from >= log->map.until)
		return -ESTALE;
	if (!log->opened || log->leftovers || log->chore == SPINDLE_DLOG_CLEAR ||
	    log->chore == SPINDLE_DLOG_DROP)
		return -EAGAIN;
	if (!choose(r, from))
		return -ENOSPC;
	if (log->in_segment && r->seq == log->seq)
		return -ESTALE;
	r->was_full = false;
	r->offset = 0;
	r->next = r->base;
	r->has = false;
	r->era = 0;
	r->vid = 0;
	begin_build(r);
	spindle_dlog_seek(&r->reader, r->base);
	begin(r, SPINDLE_DLOG_REPAIR_MAKE, (struct spindle_dlog_op){
		.what = SPINDLE_DLOG_CREATE, .file = fix_file, .len = log->id.segment });
	return 0;
}

/* ---- frames ---------------------------------------------------------------------- */

static uint32_t frame_bytes(const struct spindle_dlog_repair *r)
{
	uint32_t bytes = (r->build.used + r->id.block - 1) & ~(r->id.block - 1);

	return bytes + (r->offset ? 0 : r->id.block);
}

static uint32_t seal(struct spindle_dlog_repair *r, const void **from)
{
	uint64_t lsn = r->next - r->build.count;
	struct spindle_dlog_info info = {
		.seq = r->seq, .base = r->base, .lsn = lsn, .acked = lsn, .era = r->era,
		.vid = r->vid, .time = r->time,
	};
	uint32_t head = 0;

	*from = r->build.buf;
	if (!r->offset) {
		head = r->id.block;
		*from = r->buf;
		spindle_dlog_head_build(r->buf, &r->id, &info);
		r->prev = info.crc;
		r->first_time = r->time;
	}
	info.offset = r->offset + head;
	info.prev = r->prev;
	spindle_dlog_build_seal(&r->build, &r->id, &info);
	r->prev = info.crc;
	return head + info.bytes;
}

static void sync_fix(struct spindle_dlog_repair *r)
{
	begin(r, SPINDLE_DLOG_REPAIR_SYNC, (struct spindle_dlog_op){
		.what = SPINDLE_DLOG_SYNC, .file = fix_file });
}

/*
 * The segment has no room for the frame that is being filled. Whole records of the segment must not
 * be lost. What the caller has given may go into another segment, if no whole record is behind it.
 */
static void end_early(struct spindle_dlog_repair *r)
{
	r->next -= r->build.count;
	if (!r->fetched || r->want_to != r->end || !r->offset) {
		fail(r, -ENOSPC);
		return;
	}
	r->was_full = true;
	r->full = r->seq;
	sync_fix(r);
}

/* Write the frame that is being filled, and go on with @after. */
static void flush(struct spindle_dlog_repair *r, enum spindle_dlog_repair_step after)
{
	struct spindle_dlog_op op = {
		.what = SPINDLE_DLOG_WRITE, .file = fix_file, .offset = r->offset,
	};

	if (frame_bytes(r) > r->id.segment - r->offset) {
		end_early(r);
		return;
	}
	op.len = seal(r, &op.buf);
	r->from = op.buf;
	r->len = op.len;
	r->offset += op.len;
	r->after = after;
	begin(r, SPINDLE_DLOG_REPAIR_WRITE, op);
}

static bool suits(const struct spindle_dlog_repair *r, const struct spindle_dlog_msg *m,
		  bool fetched)
{
	return !r->build.count ||
	       (r->fetched == fetched && m->era == r->era && m->vid == r->vid &&
		(fetched || m->time == r->time) && spindle_dlog_build_fits(&r->build, m->len));
}

/* The frame is in the view of the record. A fetched record has the time of the one before. */
static void add(struct spindle_dlog_repair *r, const struct spindle_dlog_msg *m, bool fetched)
{
	r->fetched = fetched;
	r->era = m->era;
	r->vid = m->vid;
	if (!fetched)
		r->time = m->time;
	spindle_dlog_build_add(&r->build, m);
	r->next++;
}

static bool is_older(const struct spindle_dlog_repair *r, const struct spindle_dlog_msg *m)
{
	return m->era < r->era || (m->era == r->era && m->vid < r->vid);
}

/* ---- records ---------------------------------------------------------------------- */

static bool is_there(const struct spindle_dlog_repair *r)
{
	uint32_t i;

	for (i = 0; i < r->log->map.n; i++)
		if (r->log->map.seg[i].seq == r->seq)
			return true;
	return false;
}

/* A segment that was trimmed in the meantime must not come back. */
static void replace(struct spindle_dlog_repair *r)
{
	if (r->log->failed || (r->replaces ? !is_there(r) : !has_entry(r->log)) ||
	    r->next <= r->log->map.low) {
		fail(r, -ESTALE);
		return;
	}
	r->log->hold = true;
	begin(r, SPINDLE_DLOG_REPAIR_REPLACE, (struct spindle_dlog_op){
		.what = SPINDLE_DLOG_REPLACE, .file = fix_file,
		.to = { .kind = SPINDLE_DLOG_SEGMENT, .id = r->seq } });
}

static void finish(struct spindle_dlog_repair *r)
{
	if (r->build.count)
		flush(r, SPINDLE_DLOG_REPAIR_COPY);
	else
		sync_fix(r);
}

static void want(struct spindle_dlog_repair *r)
{
	r->want_to = r->reader.damaged.to < r->end ? r->reader.damaged.to : r->end;
	r->step = SPINDLE_DLOG_REPAIR_WANT;
}

static void copy_record(struct spindle_dlog_repair *r)
{
	if (is_older(r, &r->m)) {
		fail(r, -EBADMSG);
	} else if (!suits(r, &r->m, false)) {
		flush(r, SPINDLE_DLOG_REPAIR_COPY);
	} else {
		add(r, &r->m, false);
		r->has = false;
	}
}

static void copy(struct spindle_dlog_repair *r)
{
	int n;

	if (r->has) {
		copy_record(r);
		return;
	}
	if (r->next >= r->end) {
		finish(r);
		return;
	}
	n = spindle_dlog_read(&r->reader, &r->m);
	if (n == -EUCLEAN)
		want(r);
	else if (n != 1 || r->m.lsn != r->next)
		fail(r, -ESTALE);
	else
		r->has = true;
}

/**
 * spindle_dlog_repair_work - copy up to the next operation, or up to the next message that misses
 * @r: the repair
 */
void spindle_dlog_repair_work(struct spindle_dlog_repair *r)
{
	while (r->step == SPINDLE_DLOG_REPAIR_COPY)
		copy(r);
}

/**
 * spindle_dlog_repair_give - give a message that is missing
 * @r: the repair
 * @m: the message, which is copied
 *
 * Return: 0; -EAGAIN if the repair takes none now; -EBADMSG for another position than the next one,
 * for a view older than that of the message before, and for a message that is longer than a frame.
 */
int spindle_dlog_repair_give(struct spindle_dlog_repair *r, const struct spindle_dlog_msg *m)
{
	struct spindle_dlog_build empty;

	if (r->step != SPINDLE_DLOG_REPAIR_WANT)
		return -EAGAIN;
	spindle_dlog_build_begin(&empty, NULL, r->id.frame);
	if (m->lsn != r->next || is_older(r, m) || !spindle_dlog_build_fits(&empty, m->len))
		return -EBADMSG;
	if (!suits(r, m, true)) {
		flush(r, SPINDLE_DLOG_REPAIR_WANT);
		return -EAGAIN;
	}
	add(r, m, true);
	if (r->next == r->want_to)
		r->step = SPINDLE_DLOG_REPAIR_COPY;
	return 0;
}

/* ---- operations -------------------------------------------------------------------- */

/* Have an entry for a segment that the map did not have. */
static struct spindle_dlog_segment *insert(struct spindle_dlog_map *map, uint64_t seq)
{
	uint32_t i = map->n++;

	for (; i && map->seg[i - 1].seq > seq; i--)
		map->seg[i] = map->seg[i - 1];
	return &map->seg[i];
}

static void use_segment(struct spindle_dlog_repair *r)
{
	struct spindle_dlog_map *map = &r->log->map;
	struct spindle_dlog_segment *seg = NULL;
	uint32_t i;

	for (i = 0; i < map->n; i++)
		if (map->seg[i].seq == r->seq)
			seg = &map->seg[i];
	if (!seg)
		seg = insert(map, r->seq);
	*seg = (struct spindle_dlog_segment){
		.seq = r->seq, .lsn = r->base, .time = r->first_time,
	};
	map->changes++;
	begin(r, SPINDLE_DLOG_REPAIR_NAMES, (struct spindle_dlog_op){
		.what = SPINDLE_DLOG_SYNC_DIR });
}

/* A write that went astray must not take the place of records that were whole. */
static bool is_written(struct spindle_dlog_repair *r)
{
	unsigned char *have = r->buf + r->id.block + r->id.frame;
	const struct spindle_dlog_port *port = r->log->port;
	uint32_t at;

	for (at = 0; at < r->len; at += r->id.block)
		if (port->read(port->env, fix_file, r->offset - r->len + at, have, r->id.block) !=
		    (int)r->id.block || memcmp(have, r->from + at, r->id.block))
			return false;
	return true;
}

static void end_write(struct spindle_dlog_repair *r)
{
	if (!is_written(r)) {
		fail(r, -EIO);
		return;
	}
	begin_build(r);
	r->step = r->after;
}

static void go_on(struct spindle_dlog_repair *r)
{
	switch (r->step) {
	case SPINDLE_DLOG_REPAIR_MAKE:
		r->step = SPINDLE_DLOG_REPAIR_COPY;
		break;
	case SPINDLE_DLOG_REPAIR_WRITE:
		end_write(r);
		break;
	case SPINDLE_DLOG_REPAIR_SYNC:
		replace(r);
		break;
	case SPINDLE_DLOG_REPAIR_REPLACE:
		use_segment(r);
		break;
	case SPINDLE_DLOG_REPAIR_NAMES:
		r->log->hold = false;
		r->step = SPINDLE_DLOG_REPAIR_DONE;
		spindle_dlog_chores(r->log);
		break;
	default:
		break;
	}
}

/**
 * spindle_dlog_repair_done - an operation of the repair has ended
 * @r: the repair
 * @err: 0 or a negative errno
 *
 * After an error the segment is as it was, or repaired, and the writer goes on.
 */
void spindle_dlog_repair_done(struct spindle_dlog_repair *r, int err)
{
	if (err)
		fail(r, err);
	else
		go_on(r);
}

/**
 * spindle_dlog_repair_waits - is an operation under way?
 * @r: the repair
 *
 * Return: whether spindle_dlog_repair_done() is still to come.
 */
bool spindle_dlog_repair_waits(const struct spindle_dlog_repair *r)
{
	switch (r->step) {
	case SPINDLE_DLOG_REPAIR_MAKE:
	case SPINDLE_DLOG_REPAIR_WRITE:
	case SPINDLE_DLOG_REPAIR_SYNC:
	case SPINDLE_DLOG_REPAIR_REPLACE:
	case SPINDLE_DLOG_REPAIR_NAMES:
		return true;
	default:
		return false;
	}
}
