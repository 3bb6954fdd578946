// SPDX-License-Identifier: MIT
/*
 * What a crash has left. The scan changes nothing on disk.
 *
 * A frame that does not check is torn if nothing says that it was acknowledged, and corrupt
 * otherwise. Everything below the base of a segment was durable before the segment was written. In
 * the last segment, the frames and the meta block say what was acknowledged.
 */
#include <errno.h>
#include <string.h>

#include "log.h"

static int read_meta(struct spindle_dlog_scan *s, uint32_t which, bool *good)
{
	struct spindle_dlog_file file = { .kind = SPINDLE_DLOG_META, .id = which };
	struct spindle_dlog_ident id = s->id;
	struct spindle_dlog_meta_state state;
	int n;

	n = s->port->read(s->port->env, file, 0, s->window.buf, SPINDLE_DLOG_BLOCK_MAX);
	if (n < 0)
		return n;
	if (n < (int)SPINDLE_DLOG_BLOCK_MIN ||
	    spindle_dlog_meta_parse(s->window.buf, &id, &state) ||
	    !spindle_dlog_ident_check(&id) || (state.number & 1) != which ||
	    state.seq > SPINDLE_DLOG_SEQ_MAX)
		return 0;
	if (*good && state.number < s->number)
		return 0;
	*good = true;
	s->id = id;
	s->number = state.number;
	s->map.low = state.low;
	s->acked = state.acked;
	if (s->seq < state.seq)
		s->seq = state.seq;
	return 0;
}

static void insert_segment(struct spindle_dlog_map *map, uint64_t seq)
{
	uint32_t i = map->n++;

	for (; i && map->seg[i - 1].seq > seq; i--)
		map->seg[i] = map->seg[i - 1];
	map->seg[i] = (struct spindle_dlog_segment){ .seq = seq };
}

/* Divide the files: segments go to the map, the others stay, but for meta blocks. */
static int list_files(struct spindle_dlog_scan *s)
{
	int i, n = s->port->list(s->port->env, s->file, s->max_files);

	if (n < 0 || (uint32_t)n > s->max_files)
		return n < 0 ? n : -E2BIG;
	for (i = 0; i < n; i++) {
		struct spindle_dlog_file file = s->file[i];

		if (file.kind == SPINDLE_DLOG_META) {
			if (file.id < 2)
				s->has_meta[file.id] = true;
			continue;
		}
		if (file.kind != SPINDLE_DLOG_SEGMENT) {
			s->file[s->leftovers++] = file;
			continue;
		}
		if (s->map.n == s->map.max)
			return -E2BIG;
		if (file.id > SPINDLE_DLOG_SEQ_MAX)
			return -EUCLEAN;
		insert_segment(&s->map, file.id);
		if (s->seq <= file.id)
			s->seq = file.id + 1;
	}
	return 0;
}

static int frame_at(struct spindle_dlog_scan *s, uint64_t seq, uint64_t offset,
		    struct spindle_dlog_info *info)
{
	return spindle_dlog_window_frame(&s->window, s->port, &s->id, seq, offset, info);
}

/*
 * Find the first frame of a segment that checks. Return: 1; 0 if there is none; or an errno,
 * because a segment that cannot be read may be the last one.
 */
static int find_base(struct spindle_dlog_scan *s, struct spindle_dlog_segment *seg)
{
	struct spindle_dlog_info info;
	uint64_t offset;
	int err, bad = 0;

	for (offset = 0; offset < s->id.segment; offset += s->id.block) {
		err = frame_at(s, seg->seq, offset, &info);
		if (!err) {
			seg->lsn = info.base;
			seg->time = info.time;
			return 1;
		}
		if (err != -EBADMSG)
			bad = err;
	}
	return bad;
}

/* No record of this segment belongs to the log. */
static void leave_segment(struct spindle_dlog_scan *s, uint32_t i)
{
	struct spindle_dlog_map *map = &s->map;

	s->file[s->leftovers++] = (struct spindle_dlog_file){
		.kind = SPINDLE_DLOG_SEGMENT, .id = map->seg[i].seq };
	map->n--;
	memmove(&map->seg[i], &map->seg[i + 1], (map->n - i) * sizeof(map->seg[0]));
}

/*
 * Find the bases. A segment without a frame in front of one with frames is damaged as a whole, and
 * has the base of the next one. Behind the last one with frames, it was never acknowledged. One
 * that begins behind the base of a later segment was cut.
 */
static int find_bases(struct spindle_dlog_scan *s)
{
	struct spindle_dlog_map *map = &s->map;
	uint64_t base = 0;
	uint32_t i;
	int found;

	for (i = map->n; i--;) {
		found = find_base(s, &map->seg[i]);
		if (found < 0)
			return found;
		if (found && (i + 1 == map->n || map->seg[i].lsn <= base)) {
			base = map->seg[i].lsn;
		} else if (found || i + 1 == map->n) {
			leave_segment(s, i);
		} else {
			map->seg[i].lsn = base;
			map->seg[i].lost = true;
		}
	}
	return 0;
}

static void add_damage(struct spindle_dlog_scan *s, uint64_t from, uint64_t to)
{
	struct spindle_dlog_range *last;

	if (from < s->map.low)
		from = s->map.low;
	if (from >= to)
		return;
	s->tail_damaged = true;
	if (s->n_damaged && s->n_damaged <= s->max_damaged) {
		last = &s->damaged[s->n_damaged - 1];
		if (last->to == from) {
			last->to = to;
			return;
		}
	}
	if (s->n_damaged < s->max_damaged)
		s->damaged[s->n_damaged] = (struct spindle_dlog_range){ from, to };
	s->n_damaged++;
}

static void add_epoch(struct spindle_dlog_scan *s, const struct spindle_dlog_info *info)
{
	struct spindle_dlog_epoch *e = &s->last_epoch;

	if (s->n_epochs && e->era == info->era && e->vid == info->vid)
		return;
	*e = (struct spindle_dlog_epoch){ .era = info->era, .vid = info->vid, .lsn = info->lsn };
	if (s->n_epochs < s->max_epochs) {
		s->epoch[s->n_epochs] = *e;
	} else if (s->newest && s->max_epochs) {
		memmove(s->epoch, s->epoch + 1, (s->max_epochs - 1) * sizeof(*e));
		s->epoch[s->max_epochs - 1] = *e;
	}
	s->n_epochs++;
}

/* What is in front of this position was acknowledged, and is not there. */
static void miss(struct spindle_dlog_scan *s, uint64_t to)
{
	add_damage(s, s->next, to);
	s->next = to;
}

static void accept(struct spindle_dlog_scan *s, const struct spindle_dlog_info *info)
{
	miss(s, info->lsn);
	if (info->count)
		s->tail_damaged = false;
	s->next = info->end;
	if (s->time < info->time)
		s->time = info->time;
	if (info->count && info->end > s->map.low)
		add_epoch(s, info);
}

/* In the last segment, the frames and the meta block say what was acknowledged. */
static int find_proof(struct spindle_dlog_scan *s, struct spindle_dlog_walk *w)
{
	int err = spindle_dlog_walk_sure(w, &s->window, s->port, &s->id);

	if (s->acked < w->sure)
		s->acked = w->sure;
	return err;
}

static int walk_segment(struct spindle_dlog_scan *s, struct spindle_dlog_walk *w)
{
	struct spindle_dlog_info info;
	int found = w->last ? find_proof(s, w) : 0;

	if (found)
		return found;
	w->era = s->last_epoch.era;
	w->vid = s->last_epoch.vid;
	while ((found = spindle_dlog_walk_next(w, &s->window, s->port, &s->id, &info)) == 1)
		accept(s, &info);
	if (w->last)
		s->dropped = w->dropped;
	return found;
}

static int walk_all(struct spindle_dlog_scan *s)
{
	struct spindle_dlog_map *map = &s->map;
	struct spindle_dlog_walk w;
	uint32_t i;
	int err = 0;

	for (i = 0; i < map->n && !err; i++) {
		bool last = i + 1 == map->n;

		spindle_dlog_walk_begin(&w, map, i, last ? 0 : map->seg[i + 1].lsn, last);
		err = walk_segment(s, &w);
	}
	return err;
}

/* A directory without a meta block is new if it has no segment either. */
static int read_metas(struct spindle_dlog_scan *s)
{
	bool good = false;
	uint32_t i;
	int err;

	for (i = 0; i < 2; i++) {
		err = s->has_meta[i] ? read_meta(s, i, &good) : 0;
		if (err)
			return err;
	}
	s->is_new = !good;
	return !good && s->map.n ? -EUCLEAN : 0;
}

/**
 * spindle_dlog_recover - find out what a log has
 * @s: in: port, memory, known, and the longest frame; all else is 0
 *
 * Nothing is written. What is behind @acked may not be durable before spindle_dlog_start() has
 * synced it. A damaged range is a part of the log: its records are gone, and their positions are
 * not free.
 *
 * Return: 0; -EINVAL for impossible sizes; -E2BIG if there is more than the memory has room for;
 * -EUCLEAN if there are segments and no meta block; or the errno of a read.
 */
int spindle_dlog_recover(struct spindle_dlog_scan *s)
{
	int err;

	if (s->window.size < s->id.frame || s->window.size < SPINDLE_DLOG_BLOCK_MAX)
		return -EINVAL;
	err = list_files(s);
	if (!err)
		err = read_metas(s);
	if (err || s->is_new)
		return err;
	if (s->acked < s->known)
		s->acked = s->known;
	err = find_bases(s);
	if (err)
		return err;
	s->next = s->map.low;
	if (s->map.n && s->map.seg[0].lsn < s->map.low)
		s->next = s->map.seg[0].lsn;
	err = walk_all(s);
	if (!err && s->next < s->acked)
		miss(s, s->acked);
	s->map.until = s->next;
	return err;
}
