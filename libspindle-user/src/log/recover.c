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

/* A file that was made, and not written yet, has zeros. */
static bool is_written(const struct spindle_dlog_scan *s, int n)
{
	return n > 0 && s->window.buf[0];
}

/* A block that does not check may have been the newest one, and is counted in @lost. */
static int read_meta(struct spindle_dlog_scan *s, uint32_t which, bool *good, uint32_t *lost)
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
	    state.seq > SPINDLE_DLOG_SEQ_MAX) {
		*lost += is_written(s, n);
		return 0;
	}
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
 * that begins behind the base of a later segment was cut. Those in front of @first are known.
 */
static int find_bases(struct spindle_dlog_scan *s, uint32_t first)
{
	struct spindle_dlog_map *map = &s->map;
	uint64_t base = 0;
	uint32_t i;
	int found;

	for (i = map->n; i-- > first;) {
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

/* Nothing in front of the last segment changes any more, except for repairs. */
static void note_resume(struct spindle_dlog_scan *s)
{
	uint32_t n = s->n_damaged;

	s->resume = (struct spindle_dlog_resume){
		.next = s->next, .time = s->time, .last_epoch = s->last_epoch,
		.n_damaged = n, .n_epochs = s->n_epochs, .tail_damaged = s->tail_damaged,
		.last_to = n && n <= s->max_damaged ? s->damaged[n - 1].to : 0,
	};
}

static int walk_all(struct spindle_dlog_scan *s, uint32_t first)
{
	struct spindle_dlog_map *map = &s->map;
	struct spindle_dlog_walk w;
	uint32_t i;
	int err = 0;

	for (i = first; i < map->n && !err; i++) {
		bool last = i + 1 == map->n;

		if (last)
			note_resume(s);
		spindle_dlog_walk_begin(&w, map, i, last ? 0 : map->seg[i + 1].lsn, last);
		err = walk_segment(s, &w);
	}
	return err;
}

/*
 * A directory without a meta block is new if it has no segment either. A block that is lost may
 * have said that numbers of files were used that have no number any more. Few were, because only
 * files behind the last segment lose theirs.
 */
static int read_metas(struct spindle_dlog_scan *s)
{
	uint32_t i, lost = 0;
	bool good = false;
	int err;

	for (i = 0; i < 2; i++) {
		err = s->has_meta[i] ? read_meta(s, i, &good, &lost) : 0;
		if (err)
			return err;
	}
	if (lost)
		s->seq += SPINDLE_DLOG_RESERVE;
	s->is_new = !good;
	return !good && s->map.n ? -EUCLEAN : 0;
}

static int begin_scan(struct spindle_dlog_scan *s)
{
	int err;

	if (s->window.size < s->id.frame || s->window.size < SPINDLE_DLOG_BLOCK_MAX)
		return -EINVAL;
	err = list_files(s);
	if (!err)
		err = read_metas(s);
	if (!err && s->acked < s->known)
		s->acked = s->known;
	return err;
}

static int walk_from(struct spindle_dlog_scan *s, uint32_t first)
{
	int err = walk_all(s, first);

	if (!err && s->next < s->acked)
		miss(s, s->acked);
	s->map.until = s->next;
	return err;
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
	int err = begin_scan(s);

	if (err || s->is_new)
		return err;
	err = find_bases(s, 0);
	if (err)
		return err;
	s->next = s->map.low;
	if (s->map.n && s->map.seg[0].lsn < s->map.low)
		s->next = s->map.seg[0].lsn;
	return walk_from(s, 0);
}

static bool is_same(const struct spindle_dlog_ident *a, const struct spindle_dlog_ident *b)
{
	return !memcmp(a->lineage, b->lineage, sizeof(a->lineage)) && a->salt == b->salt &&
	       a->subgroup == b->subgroup && a->node == b->node && a->block == b->block &&
	       a->segment == b->segment;
}

/*
 * The segments in front of the last one of @before are the same ones, except for those that were
 * trimmed. Return: how many there are; UINT32_MAX if that is not so.
 */
static uint32_t count_same(const struct spindle_dlog_scan *s,
			   const struct spindle_dlog_scan *before)
{
	const struct spindle_dlog_map *old = &before->map, *map = &s->map;
	uint32_t i, gone = 0;

	/*
	 * With damage, nothing says where the records of a view end that may be trimmed now. A scan
	 * that has dropped its oldest epochs does not know which of them were in front.
	 */
	if (!old->n || !map->n || !is_same(&s->id, &before->id) ||
	    (before->resume.n_damaged && old->low != map->low) ||
	    before->resume.n_damaged > before->max_damaged ||
	    (before->newest ? before->n_epochs : before->resume.n_epochs) > before->max_epochs)
		return UINT32_MAX;
	while (gone < old->n && old->seg[gone].seq != map->seg[0].seq)
		gone++;
	if (gone == old->n || (gone && old->seg[gone].lsn > map->low) ||
	    map->n < old->n - gone)
		return UINT32_MAX;
	for (i = 0; gone + i < old->n; i++)
		if (map->seg[i].seq != old->seg[gone + i].seq)
			return UINT32_MAX;
	for (i = 0; gone + i + 1 < old->n; i++)
		map->seg[i] = old->seg[gone + i];
	return i;
}

/* Epochs that are wholly below the log are not a part of it any more. */
static void take_ranges(struct spindle_dlog_scan *s, const struct spindle_dlog_scan *before)
{
	const struct spindle_dlog_resume *r = &before->resume;
	uint32_t i;

	for (i = 0; i < r->n_damaged; i++) {
		struct spindle_dlog_range range = before->damaged[i];

		if (i + 1 == r->n_damaged)
			range.to = r->last_to;
		s->damaged[s->n_damaged++] = range;
	}
	for (i = 0; i < r->n_epochs; i++)
		if (i + 1 == r->n_epochs ? r->next > s->map.low :
					   before->epoch[i + 1].lsn > s->map.low)
			s->epoch[s->n_epochs++] = before->epoch[i];
	s->last_epoch = r->last_epoch;
	s->tail_damaged = r->tail_damaged;
	s->next = r->next;
	s->time = r->time;
}

/**
 * spindle_dlog_recover_since - find out what a log has, from what an earlier scan has found
 * @s: as for spindle_dlog_recover(), with room for no fewer ranges and epochs than @before
 * @before: the earlier scan, with all segments the same files as now
 *
 * Only the last segment of the earlier scan and those behind it are read. Damage that has come to
 * other segments since is not found.
 *
 * Return: as spindle_dlog_recover(); -EAGAIN if that has to be called, with a new @s.
 */
int spindle_dlog_recover_since(struct spindle_dlog_scan *s, const struct spindle_dlog_scan *before)
{
	uint32_t first;
	int err = begin_scan(s);

	if (err)
		return err;
	first = s->is_new ? UINT32_MAX : count_same(s, before);
	if (first == UINT32_MAX)
		return -EAGAIN;
	err = find_bases(s, first);
	if (err)
		return err;
	if (s->map.n <= first || s->map.seg[first].lost ||
	    s->map.seg[first].lsn != before->map.seg[before->map.n - 1].lsn)
		return -EAGAIN;
	take_ranges(s, before);
	return walk_from(s, first);
}
