// SPDX-License-Identifier: MIT
/*
 * Read records from a position on, or from a time on, also while the log is being written. All
 * below map->until was acknowledged, so a frame below that does not check is damaged.
 */
#include <errno.h>

#include "log.h"

/**
 * spindle_dlog_seek - read from this position on
 * @r: the reader; port, id, map and the memory of the window are set
 * @lsn: position of the next record
 */
void spindle_dlog_seek(struct spindle_dlog_reader *r, uint64_t lsn)
{
	r->lsn = lsn;
	r->in_frame = false;
	r->walking = false;
	r->window.len = 0;
	r->changes = r->map->changes;
}

/* The segment of the next record: the last one whose base is not above it. */
static uint32_t find_segment(const struct spindle_dlog_reader *r)
{
	uint32_t low = 0, high = r->map->n;

	while (high - low > 1) {
		uint32_t mid = low + (high - low) / 2;

		if (r->map->seg[mid].lsn <= r->lsn)
			low = mid;
		else
			high = mid;
	}
	return low;
}

/* Position behind the last record that may be in this segment. */
static uint64_t segment_end(const struct spindle_dlog_reader *r, uint32_t i)
{
	uint64_t until = r->map->until;

	if (i + 1 < r->map->n && r->map->seg[i + 1].lsn < until)
		return r->map->seg[i + 1].lsn;
	return until;
}

static int step_over(struct spindle_dlog_reader *r, uint64_t to)
{
	r->damaged = (struct spindle_dlog_range){ r->lsn, to };
	r->lsn = to;
	return -EUCLEAN;
}

/* The segment that is being written has more frames than the window shows. */
static void refresh(struct spindle_dlog_reader *r, uint32_t i, uint64_t end)
{
	if (r->until != r->map->until) {
		r->window.len = 0;
		r->walk.has_sure = false;
	}
	r->until = r->map->until;
	if (!r->walking || r->walk.seq != r->map->seg[i].seq)
		spindle_dlog_walk_begin(&r->walk, r->map, i, end, false);
	r->walking = true;
	r->walk.proof = end;
}

/* Walk to the frame with the next record, or to the next one that is there. */
static int walk(struct spindle_dlog_reader *r)
{
	int found;

	do {
		found = spindle_dlog_walk_next(&r->walk, &r->window, r->port, r->id, &r->frame);
	} while (found == 1 && r->frame.end <= r->lsn);
	return found;
}

/* Return: 0 if the frame with the next record is there. */
static int next_frame(struct spindle_dlog_reader *r)
{
	const struct spindle_dlog_segment *seg;
	uint64_t end;
	uint32_t i;
	int found;

	if (!r->map->n)
		return step_over(r, r->map->until);
	i = find_segment(r);
	seg = &r->map->seg[i];
	end = segment_end(r, i);
	if (seg->lsn > r->lsn)
		return step_over(r, seg->lsn);
	refresh(r, i, end);
	found = walk(r);
	if (found < 0)
		return -ESTALE;
	if (!found) {
		r->walking = false;
		return step_over(r, end);
	}
	r->in_frame = true;
	r->at = 0;
	if (r->frame.lsn > r->lsn)
		return step_over(r, r->frame.lsn);
	return 0;
}

/* The window may have moved on since, and a disk may give back something else. */
static int load_frame(struct spindle_dlog_reader *r)
{
	struct spindle_dlog_info info;
	int err;

	if (spindle_dlog_window_has(&r->window, r->walk.seq, r->walk.start, r->frame.crc))
		return 0;
	err = spindle_dlog_window_frame(&r->window, r->port, r->id, r->walk.seq, r->walk.start,
					&info);
	if (!err && info.crc == r->frame.crc)
		return 0;
	r->in_frame = false;
	return step_over(r, r->frame.end);
}

/* Step to the record at r->lsn. Return: whether it is there. */
static bool take_record(struct spindle_dlog_reader *r, struct spindle_dlog_msg *m)
{
	const unsigned char *buf = spindle_dlog_window_at(&r->window, r->walk.start);
	uint64_t lsn = r->frame.lsn;

	if (r->at)
		lsn = r->lsn;
	do {
		m->lsn = lsn;
		r->at = spindle_dlog_record_parse(buf, &r->frame, r->at, m);
	} while (r->at && lsn++ < r->lsn);
	return r->at;
}

/**
 * spindle_dlog_read - read the next record
 * @r: the reader
 * @m: the message; its bytes are valid until the next call
 *
 * Return: 1; 0 at the end of what a reader may have; -EUCLEAN if records were damaged, which
 * r->damaged says, and behind which the next call goes on; -ESTALE if the record was trimmed, or if
 * its file is gone, so that a scan is too old.
 */
int spindle_dlog_read(struct spindle_dlog_reader *r, struct spindle_dlog_msg *m)
{
	int err;

	if (r->changes != r->map->changes)
		spindle_dlog_seek(r, r->lsn);
	if (r->lsn < r->map->low)
		return -ESTALE;
	if (r->lsn >= r->map->until)
		return 0;
	if (!r->in_frame || r->lsn >= r->frame.end) {
		r->in_frame = false;
		err = next_frame(r);
		if (err)
			return err;
	}
	err = load_frame(r);
	if (err)
		return err;
	if (!take_record(r, m)) {
		r->in_frame = false;
		return step_over(r, r->frame.end);
	}
	r->lsn++;
	return 1;
}

static uint64_t first_place(const struct spindle_dlog_reader *r, uint64_t time)
{
	uint64_t lsn = r->map->low;
	uint32_t i;

	/* A segment without a frame that checks has no time. */
	for (i = 0; i < r->map->n && (r->map->seg[i].lost || r->map->seg[i].time < time); i++)
		if (r->map->seg[i].lsn > lsn && !r->map->seg[i].lost)
			lsn = r->map->seg[i].lsn;
	return lsn;
}

/**
 * spindle_dlog_find_time - seek to the first record of a frame that is not older than a time
 * @r: the reader
 * @time: nanoseconds of the wall clock
 *
 * Damaged records have no time, and are stepped over.
 *
 * Return: 0, also if all records are older, with the reader at the end; or -ESTALE.
 */
int spindle_dlog_find_time(struct spindle_dlog_reader *r, uint64_t time)
{
	struct spindle_dlog_msg m;
	int n;

	spindle_dlog_seek(r, first_place(r, time));
	for (;;) {
		n = spindle_dlog_read(r, &m);
		if (n == 1 && m.time >= time) {
			spindle_dlog_seek(r, m.lsn);
			return 0;
		}
		if (n == 1)
			r->lsn = r->frame.end;
		else if (n != -EUCLEAN)
			return n;
	}
}
