// SPDX-License-Identifier: MIT
/*
 * Walk over the frames of a segment that belong to the log.
 *
 * Not every frame that checks does. A life that ends leaves whole frames behind a torn one. The
 * next life cuts them off and writes their positions once more, in its first segment.
 */
#include <errno.h>

#include "log.h"

/**
 * spindle_dlog_walk_begin - begin at the start of a segment
 * @w: the walk
 * @map: segments
 * @i: the segment among them
 * @proof: all below was acknowledged
 * @last: frames behind @proof belong to the log, too
 */
void spindle_dlog_walk_begin(struct spindle_dlog_walk *w, const struct spindle_dlog_map *map,
			     uint32_t i, uint64_t proof, bool last)
{
	const struct spindle_dlog_segment *seg = &map->seg[i];

	*w = (struct spindle_dlog_walk){
		.seq = seg->seq, .base = seg->lsn, .next = seg->lsn, .proof = proof, .last = last,
		.chained = true,
	};
	/* No segment was written between the two, so the base is the end of this one. */
	if (i + 1 < map->n && seg[1].seq == seg->seq + 1 && !seg[1].lost) {
		w->sure = seg[1].lsn;
		w->has_sure = true;
	}
}

/**
 * spindle_dlog_walk_sure - find out what the frames of the segment say was acknowledged
 * @w: the walk
 * @window: for reading
 * @port: the environment
 * @id: the log
 *
 * The whole segment is read. A frame that was cut off says nothing of positions behind the cut.
 *
 * Return: 0, or the errno of a read in the last segment.
 */
int spindle_dlog_walk_sure(struct spindle_dlog_walk *w, struct spindle_dlog_window *window,
			   const struct spindle_dlog_port *port,
			   const struct spindle_dlog_ident *id)
{
	struct spindle_dlog_info info;
	uint64_t offset = 0;
	int err;

	w->has_sure = true;
	w->sure = w->base;
	while (offset < id->segment) {
		err = spindle_dlog_window_frame(window, port, id, w->seq, offset, &info);
		if (err && err != -EBADMSG && w->last)
			return err;
		if (!err && info.base == w->base && w->sure < info.acked)
			w->sure = info.acked;
		offset += err ? id->block : info.bytes;
	}
	return 0;
}

/*
 * Does this frame belong to the log? One that follows the frame before does. Behind a gap, one does
 * if all of it was acknowledged, or if nothing is missing in front of it, because one life writes
 * each position once.
 */
static bool belongs(const struct spindle_dlog_walk *w, const struct spindle_dlog_info *info)
{
	uint64_t frontier = w->next > w->sure ? w->next : w->sure;

	if (info->base != w->base || info->lsn < w->next ||
	    (!w->last && info->end > w->proof) ||
	    (info->count && (info->era < w->era || (info->era == w->era && info->vid < w->vid))))
		return false;
	if (w->chained)
		return info->prev == w->prev && info->lsn == w->next;
	return info->end <= w->sure || info->lsn == frontier;
}

static void take(struct spindle_dlog_walk *w, const struct spindle_dlog_info *info)
{
	w->start = w->offset;
	w->offset += info->bytes;
	w->next = info->end;
	w->prev = info->crc;
	w->chained = true;
	if (info->count) {
		w->era = info->era;
		w->vid = info->vid;
	}
}

/**
 * spindle_dlog_walk_next - step to the next frame that belongs to the log
 * @w: the walk
 * @window: for reading; covers the frame then
 * @port: the environment
 * @id: the log
 * @info: header of the frame
 *
 * If the frame begins behind the end of the one before, what is between is damaged.
 *
 * Return: 1; 0 at the end; or the errno of a read. In the last segment what cannot be read may have
 * been acknowledged or not, and is an error. In others the frame is damaged.
 */
int spindle_dlog_walk_next(struct spindle_dlog_walk *w, struct spindle_dlog_window *window,
			   const struct spindle_dlog_port *port,
			   const struct spindle_dlog_ident *id, struct spindle_dlog_info *info)
{
	int err;

	while (w->offset < id->segment && (w->last || w->next < w->proof)) {
		err = spindle_dlog_window_frame(window, port, id, w->seq, w->offset, info);
		if (err == -ENOENT || (err && err != -EBADMSG && w->last))
			return err;
		if (!err && belongs(w, info)) {
			take(w, info);
			return 1;
		}
		w->dropped += !err && info->lsn >= w->next;
		w->chained = false;
		w->offset += id->block;
		err = w->has_sure ? 0 : spindle_dlog_walk_sure(w, window, port, id);
		if (err)
			return err;
	}
	return 0;
}
