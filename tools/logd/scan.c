// SPDX-License-Identifier: GPL-2.0-only
/* A scan of a log. See scan.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "scan.h"

#define FILES	(LOGD_SEGMENTS + 16)

/**
 * logd_scan_frame() - bytes of the longest frame that a life of a log may have written
 * @io: the port
 * @need: bytes of a frame with one message of the longest kind, or more
 *
 * The meta blocks say how long a segment is. Without a meta block that is whole there is nothing to
 * scan.
 *
 * Return: the bytes; 0: there is no memory.
 */
uint32_t logd_scan_frame(struct logd_port *io, uint32_t need)
{
	void *block = aligned_alloc(LOGD_BLOCK, SPINDLE_DLOG_BLOCK_MAX);
	struct spindle_dlog_meta_state state;
	struct spindle_dlog_ident id;
	uint32_t i;

	if (!block)
		return 0;
	for (i = 0; i < 2; i++) {
		struct spindle_dlog_file file = { .kind = SPINDLE_DLOG_META, .id = i };
		int n = io->port.read(io, file, 0, block, SPINDLE_DLOG_BLOCK_MAX);

		if (n >= (int)SPINDLE_DLOG_BLOCK_MIN &&
		    !spindle_dlog_meta_parse(block, &id, &state) && id.segment > id.block &&
		    need > id.segment - id.block)
			need = id.segment - id.block;
	}
	free(block);
	return need;
}

/* How far a scan is, which reads most bytes once. */
struct reading {
	struct logd_progress *progress;
	uint64_t done;
	uint64_t total;
};

static void tell_reading(void *arg, uint32_t bytes)
{
	struct reading *r = arg;

	r->done += bytes;
	/* A log without segments has nothing to read. */
	if (r->total)
		logd_progress(r->progress, "reads its log", r->done, r->total);
}

/* Bytes of all segments. The scan lists the files once more. */
static uint64_t segment_bytes(const struct spindle_dlog_scan *s)
{
	const struct spindle_dlog_port *port = s->port;
	int i, n = port->list(port->env, s->file, FILES);
	uint64_t bytes, sum = 0;

	for (i = 0; i < n; i++)
		if (s->file[i].kind == SPINDLE_DLOG_SEGMENT &&
		    !port->size(port->env, s->file[i], &bytes))
			sum += bytes;
	return sum;
}

static int prepare(struct spindle_dlog_scan *s, struct logd_port *io, uint32_t frame)
{
	uint32_t window = frame > SPINDLE_DLOG_BLOCK_MAX ? frame : SPINDLE_DLOG_BLOCK_MAX;

	*s = (struct spindle_dlog_scan){
		.port = &io->port, .max_files = FILES, .map.max = LOGD_SEGMENTS,
		.id.frame = frame, .window.size = window,
		.max_epochs = LOGD_EPOCHS, .newest = true, .max_damaged = LOGD_DAMAGED,
	};
	s->window.buf = aligned_alloc(LOGD_BLOCK, (window + LOGD_BLOCK - 1) / LOGD_BLOCK *
						  LOGD_BLOCK);
	s->file = calloc(FILES, sizeof(*s->file));
	s->map.seg = calloc(LOGD_SEGMENTS, sizeof(*s->map.seg));
	s->epoch = calloc(LOGD_EPOCHS, sizeof(*s->epoch));
	s->damaged = calloc(LOGD_DAMAGED, sizeof(*s->damaged));
	return s->window.buf && s->file && s->map.seg && s->epoch && s->damaged ? 0 : -ENOMEM;
}

static int read_all(struct spindle_dlog_scan *s, struct logd_port *io,
		    struct logd_progress *progress)
{
	struct reading r = { .progress = progress, .total = segment_bytes(s) };
	int err;

	io->tell = tell_reading;
	io->tell_arg = &r;
	err = spindle_dlog_recover(s);
	io->tell = NULL;
	logd_progress_end(progress);
	return err;
}

/**
 * logd_scan() - find out what a log has
 * @s: out; logd_scan_drop() is next, also if this fails
 * @io: the port
 * @frame: what logd_scan_frame() has returned
 * @before: an earlier scan, whose segments this process alone has written to since; or NULL
 * @progress: of the owner
 *
 * With an earlier scan, only the last segment of that is read.
 *
 * Return: as spindle_dlog_recover(), or -ENOMEM.
 */
int logd_scan(struct spindle_dlog_scan *s, struct logd_port *io, uint32_t frame,
	      const struct spindle_dlog_scan *before, struct logd_progress *progress)
{
	int err = frame ? prepare(s, io, frame) : -ENOMEM;

	if (err || !before)
		return err ? err : read_all(s, io, progress);
	err = spindle_dlog_recover_since(s, before);
	if (err != -EAGAIN)
		return err;
	logd_scan_drop(s);
	return logd_scan(s, io, frame, NULL, progress);
}

/**
 * logd_scan_drop() - free the memory of a scan
 * @s: the scan, or zeros; zeros afterwards
 */
void logd_scan_drop(struct spindle_dlog_scan *s)
{
	free(s->window.buf);
	free(s->file);
	free(s->map.seg);
	free(s->epoch);
	free(s->damaged);
	memset(s, 0, sizeof(*s));
}
