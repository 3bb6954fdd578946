// SPDX-License-Identifier: GPL-2.0-only
/* A log that no writer uses: what a report says of it, and where it is cut. See state.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "state-files.h"

/* As in open.c. */
#define FRAME		(1U << 20)
#define SEGMENTS	16384U
#define FILES		(SEGMENTS + 16)

static bool fail(struct logd_state *s, uint32_t subgroup, const char *what, int err)
{
	return logd_state_fail(s, "cannot %s %s/%u: %s", what, s->path, subgroup, strerror(-err));
}

/* ---- open --------------------------------------------------------------------------- */

/* Bytes of a frame with the longest message of the group. */
static uint32_t need_frame(const struct logd_state *s)
{
	uint32_t i, most = FRAME;

	for (i = 0; i < s->group.view.subgroups; i++) {
		uint64_t bytes = s->group.view.subgroup[i].val[CTL_SG_MAX_MSG].num;

		bytes = bytes < (1U << 30) ? bytes : 1U << 30;
		/* A frame has headers, and is a multiple of the block. */
		bytes = (bytes / LOGD_BLOCK + 2) * LOGD_BLOCK;
		most = most < bytes ? (uint32_t)bytes : most;
	}
	return most;
}

/* Bytes of the longest frame that the log may have: the meta blocks say how long a segment is. */
static uint32_t choose_frame(const struct logd_state *s, struct logd_disk *d, void *block)
{
	struct spindle_dlog_meta_state state;
	struct spindle_dlog_ident id;
	uint32_t i, frame = need_frame(s);

	for (i = 0; i < 2; i++) {
		struct spindle_dlog_file file = { .kind = SPINDLE_DLOG_META, .id = i };
		int n = d->io.port.read(&d->io, file, 0, block, SPINDLE_DLOG_BLOCK_MAX);

		if (n >= (int)SPINDLE_DLOG_BLOCK_MIN &&
		    !spindle_dlog_meta_parse(block, &id, &state) && id.segment > id.block &&
		    frame > id.segment - id.block)
			frame = id.segment - id.block;
	}
	return frame;
}

static void drop_scan(struct logd_disk *d)
{
	free(d->scan.window.buf);
	free(d->scan.file);
	free(d->scan.map.seg);
	memset(&d->scan, 0, sizeof(d->scan));
}

/* Return: 0 or a negative errno. */
static int scan(const struct logd_state *s, struct logd_disk *d)
{
	struct spindle_dlog_scan *sc = &d->scan;
	void *block = aligned_alloc(LOGD_BLOCK, SPINDLE_DLOG_BLOCK_MAX);
	uint32_t frame = block ? choose_frame(s, d, block) : 0;

	free(block);
	drop_scan(d);
	*sc = (struct spindle_dlog_scan){
		.port = &d->io.port, .max_files = FILES, .map.max = SEGMENTS,
		.id.frame = frame, .window.size = frame > SPINDLE_DLOG_BLOCK_MAX ?
						  frame : SPINDLE_DLOG_BLOCK_MAX,
		.epoch = d->epoch, .max_epochs = SPINDLE_RESTART_EPOCHS, .newest = true,
		.damaged = &d->damaged, .max_damaged = 1,
	};
	sc->window.buf = aligned_alloc(LOGD_BLOCK, (sc->window.size + LOGD_BLOCK - 1) /
						   LOGD_BLOCK * LOGD_BLOCK);
	sc->file = calloc(FILES, sizeof(*sc->file));
	sc->map.seg = calloc(SEGMENTS, sizeof(*sc->map.seg));
	if (!frame || !sc->window.buf || !sc->file || !sc->map.seg)
		return -ENOMEM;
	return spindle_dlog_recover(sc);
}

/* Is this the log that the group has here? */
static bool is_own(const struct logd_state *s, const struct logd_disk *d, uint32_t subgroup)
{
	const struct spindle_dlog_ident *id = &d->scan.id;

	return !d->scan.is_new && id->node == s->node && id->subgroup == subgroup &&
	       (!memcmp(id->lineage, s->lineage, sizeof(id->lineage)) ||
		(s->leaves && !memcmp(id->lineage, s->leaves, sizeof(id->lineage))));
}

static int open_port(struct logd_state *s, struct logd_disk *d, uint32_t subgroup)
{
	char path[4096];

	d->lock = logd_state_lock(d->dir);
	if (d->lock < 0)
		return d->lock;
	if (snprintf(path, sizeof(path), "%s/%u", s->path, subgroup) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	return logd_port_open(&d->io, path, d->lock, false, 1);
}

/**
 * logd_disk_open() - open and scan the log of a subgroup
 * @s: the state; its lineage says which log is the right one
 * @d: out; logd_disk_close() is next, also if this fails
 * @subgroup: id of the subgroup
 *
 * A log that is not there, or is one of another group, is open with a scan of a new log.
 *
 * Return: whether that was possible.
 */
bool logd_disk_open(struct logd_state *s, struct logd_disk *d, uint32_t subgroup)
{
	char name[16];
	int err;

	memset(d, 0, sizeof(*d));
	d->lock = -1;
	d->scan.is_new = true;
	snprintf(name, sizeof(name), "%u", subgroup);
	d->dir = openat(s->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (d->dir < 0)
		return errno == ENOENT || fail(s, subgroup, "open", -errno);
	err = open_port(s, d, subgroup);
	d->open = !err;
	if (!err)
		err = scan(s, d);
	if (err)
		return fail(s, subgroup, "read the log in", err);
	if (!is_own(s, d, subgroup))
		d->scan.is_new = true;
	return true;
}

/**
 * logd_disk_close() - close a log
 * @d: the log
 */
void logd_disk_close(struct logd_disk *d)
{
	drop_scan(d);
	if (d->open)
		logd_port_close(&d->io);
	if (d->lock >= 0)
		close(d->lock);
	if (d->dir >= 0)
		close(d->dir);
	d->open = false;
	d->lock = -1;
	d->dir = -1;
}

/**
 * logd_disk_tell() - what a report says of a log
 * @s: the state
 * @d: the log
 * @log: out
 *
 * A log that was trimmed does not have all its views, so it may not be cut to nothing.
 */
void logd_disk_tell(const struct logd_state *s, const struct logd_disk *d,
		    struct spindle_restart_log *log)
{
	const struct spindle_dlog_scan *sc = &d->scan;
	uint32_t i;

	(void)s;
	memset(log, 0, sizeof(*log));
	log->missing = sc->is_new;
	if (log->missing)
		return;
	log->end = sc->next;
	log->good = sc->n_damaged ? d->damaged.from : sc->next;
	log->whole = sc->n_epochs <= SPINDLE_RESTART_EPOCHS && !sc->map.low;
	log->epochs = sc->n_epochs < SPINDLE_RESTART_EPOCHS ? sc->n_epochs :
							      SPINDLE_RESTART_EPOCHS;
	for (i = 0; i < log->epochs; i++)
		log->epoch[i] = (struct spindle_restart_epoch){
			.id = { d->epoch[i].era, d->epoch[i].vid }, .lsn = d->epoch[i].lsn,
		};
}

/* ---- cut ----------------------------------------------------------------------------- */

/**
 * struct work - a cut, and its error
 */
struct work {
	/** @cut: the cut */
	struct spindle_dlog_cut cut;
	/** @err: of an operation */
	int err;
};

static void op_done(void *arg, uint32_t token, int err)
{
	struct work *w = arg;

	(void)token;
	w->err = spindle_dlog_cut_done(&w->cut, err);
}

static int run_cut(struct logd_disk *d, struct work *w, uint64_t lsn)
{
	struct pollfd fd = { .fd = d->io.event, .events = POLLIN };

	w->err = spindle_dlog_cut(&w->cut, &d->scan, lsn);
	while (!w->err && w->cut.step != SPINDLE_DLOG_CUT_DONE) {
		if (poll(&fd, 1, -1) < 0 && errno != EINTR)
			return -errno;
		logd_port_reap(&d->io, op_done, w);
	}
	return w->err;
}

/**
 * logd_disk_cut() - have the log end at a position, on disk
 * @s: the state
 * @d: the log, which is scanned again
 * @lsn: the position; a log that ends there or before keeps its end, and is synced
 *
 * What a scan has seen may not be durable, because the process before may have been killed.
 *
 * Return: whether the log ends there, and all of it is durable.
 */
bool logd_disk_cut(struct logd_state *s, struct logd_disk *d, uint64_t lsn)
{
	uint32_t subgroup = d->scan.id.subgroup, frame = d->scan.id.frame;
	uint64_t end = lsn < d->scan.next ? lsn : d->scan.next;
	struct work w = { .err = 0 };
	int err = -ENOMEM;

	if (d->scan.is_new)
		return true;
	w.cut.meta = aligned_alloc(LOGD_BLOCK, d->scan.id.block > LOGD_BLOCK ?
					       d->scan.id.block : LOGD_BLOCK);
	w.cut.buf = aligned_alloc(LOGD_BLOCK, (d->scan.id.block + frame + LOGD_BLOCK - 1) /
					      LOGD_BLOCK * LOGD_BLOCK);
	if (w.cut.meta && w.cut.buf)
		err = run_cut(d, &w, lsn);
	free(w.cut.meta);
	free(w.cut.buf);
	if (!err && !w.cut.is_cut)
		err = scan(s, d);
	if (!err && d->scan.next != end)
		err = -EUCLEAN;
	return !err || fail(s, subgroup, "cut the log in", err);
}

/* ---- meta blocks ----------------------------------------------------------------------- */

static int write_meta(struct logd_disk *d, uint8_t *block)
{
	struct spindle_dlog_scan *sc = &d->scan;
	struct spindle_dlog_meta_state state = {
		.number = sc->number + 1, .low = sc->map.low, .seq = sc->seq,
		.acked = sc->acked > sc->map.low ? sc->acked : sc->map.low,
	};
	struct spindle_dlog_file file = { .kind = SPINDLE_DLOG_META, .id = state.number & 1 };
	char name[LOGD_NAME];
	int fd, err;

	logd_file_name(file, name);
	logd_file_forget(&d->io, file);
	fd = openat(d->dir, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0640);
	if (fd < 0)
		return -errno;
	spindle_dlog_meta_build(block, &sc->id, &state);
	err = logd_pair_put(fd, block, sc->id.block);
	if (close(fd) && !err)
		err = -errno;
	sc->number = state.number;
	return err;
}

/* Both meta blocks say the same, because one of them may be damaged later. */
static int write_metas(struct logd_disk *d)
{
	uint8_t *block = malloc(d->scan.id.block);
	int i, err = block ? 0 : -ENOMEM;

	for (i = 0; i < 2 && !err; i++)
		err = write_meta(d, block);
	free(block);
	return !err && fsync(d->dir) ? -errno : err;
}

/**
 * logd_disk_move() - have the log be one of the lineage of the state, on disk
 * @s: the state
 * @d: the log
 *
 * The segments keep the lineage that they were written in.
 *
 * Return: whether it is one.
 */
bool logd_disk_move(struct logd_state *s, struct logd_disk *d)
{
	int err;

	if (d->scan.is_new)
		return true;
	memcpy(d->scan.id.lineage, s->lineage, sizeof(d->scan.id.lineage));
	err = write_metas(d);
	return !err || fail(s, d->scan.id.subgroup, "give another lineage to the log in", err);
}

/**
 * logd_disk_begin() - make a log without a message, on disk
 * @s: the state
 * @d: the log, which is not there, in a directory that is
 * @subgroup: id of the subgroup
 * @segment: bytes of a segment, a multiple of LOGD_BLOCK
 *
 * Return: whether it is there.
 */
bool logd_disk_begin(struct logd_state *s, struct logd_disk *d, uint32_t subgroup,
		     uint32_t segment)
{
	struct spindle_dlog_ident *id = &d->scan.id;
	int err;

	id->node = s->node;
	id->subgroup = subgroup;
	memcpy(id->lineage, s->lineage, sizeof(id->lineage));
	id->block = LOGD_BLOCK;
	id->segment = segment;
	if (id->frame > segment - LOGD_BLOCK)
		id->frame = segment - LOGD_BLOCK;
	if (getrandom(&id->salt, sizeof(id->salt), 0) != sizeof(id->salt))
		return fail(s, subgroup, "have random numbers for", -EIO);
	err = write_metas(d);
	d->scan.is_new = err;
	return !err || fail(s, subgroup, "begin the log in", err);
}
