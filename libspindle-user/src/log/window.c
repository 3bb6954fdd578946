// SPDX-License-Identifier: MIT
/*
 * Frames of a segment, read through a buffer: one read brings many short frames.
 */
#include <errno.h>
#include <string.h>

#include "log.h"

/*
 * Bytes that are read at once, unless a frame is longer. A scan looks at the first frame of each
 * segment before all others, and a window as long as a segment would read all of it for that. More
 * bytes would also not stay in the caches of the processor until they are looked at.
 */
#define AHEAD	(4U << 20)

/**
 * spindle_dlog_window_at - bytes of the segment that are in memory
 * @w: the window; it covers @offset
 * @offset: in the segment
 *
 * Return: the bytes.
 */
const unsigned char *spindle_dlog_window_at(const struct spindle_dlog_window *w, uint64_t offset)
{
	return w->buf + (offset - w->start);
}

static int fill(struct spindle_dlog_window *w, const struct spindle_dlog_port *port, uint64_t seq,
		uint64_t offset, uint32_t len)
{
	struct spindle_dlog_file file = { .kind = SPINDLE_DLOG_SEGMENT, .id = seq };
	int n = port->read(port->env, file, offset, w->buf, len);

	w->len = 0;
	w->checked = false;
	if (n < 0)
		return n;
	if ((uint32_t)n > len)
		return -EIO;
	memset(w->buf + n, 0, len - (uint32_t)n);
	w->len = len;
	w->seq = seq;
	w->start = offset;
	return 0;
}

/* One bad sector must not hide its neighbours, so a read that fails is tried with less. */
static int cover(struct spindle_dlog_window *w, const struct spindle_dlog_port *port,
		 const struct spindle_dlog_ident *id, uint64_t seq, uint64_t offset, uint32_t len)
{
	uint64_t rest = id->segment - offset;
	uint32_t most = rest < w->size ? (uint32_t)rest : w->size;
	uint32_t want = len < AHEAD ? AHEAD : len;

	if (w->len && w->seq == seq && offset >= w->start && offset + len <= w->start + w->len)
		return 0;
	if (len > most)
		return -EBADMSG;
	if (!fill(w, port, seq, offset, want < most ? want : most))
		return 0;
	return fill(w, port, seq, offset, len);
}

/**
 * spindle_dlog_window_frame - is there a frame at this place?
 * @w: the window, which covers the frame then
 * @port: the environment
 * @id: the log
 * @seq: number of the segment
 * @offset: in the segment, a multiple of the block
 * @info: header of the frame
 *
 * Return: 0; -EBADMSG if there is no frame; or the errno of a read.
 */
int spindle_dlog_window_frame(struct spindle_dlog_window *w, const struct spindle_dlog_port *port,
			      const struct spindle_dlog_ident *id, uint64_t seq, uint64_t offset,
			      struct spindle_dlog_info *info)
{
	int err;

	if (offset >= id->segment)
		return -EBADMSG;
	err = cover(w, port, id, seq, offset, id->block);
	if (!err)
		err = spindle_dlog_header_parse(spindle_dlog_window_at(w, offset), id, seq, offset,
						info);
	if (!err)
		err = cover(w, port, id, seq, offset, info->bytes);
	if (!err)
		err = spindle_dlog_body_check(spindle_dlog_window_at(w, offset), id, info);
	if (err)
		return err;
	w->checked = true;
	w->frame = offset;
	w->crc = info->crc;
	return 0;
}

/**
 * spindle_dlog_window_has - is a frame in memory that was checked there?
 * @w: the window
 * @seq: number of the segment
 * @offset: of the frame in the segment
 * @crc: of its header
 *
 * The bytes of a window change only by a read, so one check of a frame is enough for all of its
 * records. The window knows only the last frame that was checked.
 *
 * Return: whether it is.
 */
bool spindle_dlog_window_has(const struct spindle_dlog_window *w, uint64_t seq, uint64_t offset,
			     uint32_t crc)
{
	return w->len && w->checked && w->seq == seq && w->frame == offset && w->crc == crc;
}
