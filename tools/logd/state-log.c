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
#include <sys/stat.h>
#include <unistd.h>

#include "state-files.h"

static bool fail(struct logd_state *s, uint32_t subgroup, const char *what, int err)
{
	return logd_state_fail(s, "cannot %s %s/%u: %s", what, s->path, subgroup, strerror(-err));
}

/* ---- open --------------------------------------------------------------------------- */

/* Bytes of a frame with the longest message of the group. */
static uint32_t need_frame(const struct logd_state *s)
{
	uint32_t i, most = LOGD_FRAME;

	for (i = 0; i < s->group.view.subgroups; i++) {
		uint64_t bytes = s->group.view.subgroup[i].val[CTL_SG_MAX_MSG].num;

		bytes = bytes < (1U << 30) ? bytes : 1U << 30;
		/* A frame has headers, and is a multiple of the block. */
		bytes = (bytes / LOGD_BLOCK + 2) * LOGD_BLOCK;
		most = most < bytes ? (uint32_t)bytes : most;
	}
	return most;
}

/* Return: 0 or a negative errno. */
static int scan(const struct logd_state *s, struct logd_disk *d)
{
	int err;

	logd_scan_drop(&d->scan);
	d->fresh = false;
	err = logd_scan(&d->scan, &d->io, logd_scan_frame(&d->io, need_frame(s)), NULL,
			&d->progress);
	d->fresh = !err;
	d->found = !err && !d->scan.is_new;
	return err;
}

/* Is this the log that the group has here? */
static bool is_own(const struct logd_state *s, const struct logd_disk *d)
{
	const struct spindle_dlog_ident *id = &d->scan.id;

	return d->found && id->node == s->node && id->subgroup == d->subgroup &&
	       (!memcmp(id->lineage, s->lineage, sizeof(id->lineage)) ||
		(s->leaves && !memcmp(id->lineage, s->leaves, sizeof(id->lineage))));
}

static int open_port(struct logd_state *s, struct logd_disk *d)
{
	char path[4096];

	d->lock = logd_state_lock(d->dir);
	if (d->lock < 0)
		return d->lock;
	if (snprintf(path, sizeof(path), "%s/%u", s->path, d->subgroup) >= (int)sizeof(path))
		return -ENAMETOOLONG;
	d->open = true;
	return logd_port_open(&d->io, path, d->lock, false, 1);
}

static void close_disk(struct logd_disk *d)
{
	if (d->open)
		logd_port_close(&d->io);
	if (d->lock >= 0)
		close(d->lock);
	if (d->dir >= 0)
		close(d->dir);
	d->open = false;
	d->fresh = false;
	d->lock = -1;
	d->dir = -1;
}

/* Return: whether the log is open with a scan, or there is no directory of it. */
static bool open_disk(struct logd_state *s, struct logd_disk *d)
{
	char name[16];
	int err;

	close_disk(d);
	logd_scan_drop(&d->scan);
	d->found = false;
	snprintf(name, sizeof(name), "%u", d->subgroup);
	d->dir = openat(s->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (d->dir < 0)
		return errno == ENOENT || fail(s, d->subgroup, "open", -errno);
	err = open_port(s, d);
	if (!err)
		err = scan(s, d);
	return !err || fail(s, d->subgroup, "read the log in", err);
}

static struct logd_disk *find_disk(const struct logd_state *s, uint32_t subgroup)
{
	struct logd_disk *d;

	for (d = s->disks; d && d->subgroup != subgroup; d = d->next)
		;
	return d;
}

static struct logd_disk *add_disk(struct logd_state *s, uint32_t subgroup)
{
	struct logd_disk *d = calloc(1, sizeof(*d));

	if (!d) {
		logd_state_fail(s, "no memory");
		return NULL;
	}
	d->subgroup = subgroup;
	d->dir = -1;
	d->lock = -1;
	snprintf(d->title, sizeof(d->title), "subgroup %u of node %u", subgroup, s->node);
	d->progress.title = d->title;
	d->next = s->disks;
	s->disks = d;
	return d;
}

/* A sentence may have told the administrator to move the directory away. */
static bool is_there(const struct logd_state *s, const struct logd_disk *d)
{
	struct stat open, named;
	char name[16];

	snprintf(name, sizeof(name), "%u", d->subgroup);
	return !fstat(d->dir, &open) && !fstatat(s->dir, name, &named, AT_SYMLINK_NOFOLLOW) &&
	       open.st_dev == named.st_dev && open.st_ino == named.st_ino;
}

/**
 * logd_disk_open() - have the log of a subgroup open and scanned
 * @s: the state; its lineage says which log is the right one
 * @subgroup: id of the subgroup
 *
 * A log that was scanned before is not read again. One that is not there, or is one of another
 * group, has a scan of a new log.
 *
 * Return: the log, until logd_state_release(); NULL if that was not possible.
 */
struct logd_disk *logd_disk_open(struct logd_state *s, uint32_t subgroup)
{
	struct logd_disk *d = find_disk(s, subgroup);

	if (!d)
		d = add_disk(s, subgroup);
	if (!d)
		return NULL;
	if (!(d->fresh && d->found && is_there(s, d)) && !open_disk(s, d)) {
		close_disk(d);
		return NULL;
	}
	d->scan.is_new = !is_own(s, d);
	return d;
}

/**
 * logd_state_release() - the writers of the logs are next: close and unlock all logs
 * @s: the state
 *
 * A later look at a log scans it again.
 */
void logd_state_release(struct logd_state *s)
{
	struct logd_disk *d;

	for (d = s->disks; d; d = d->next)
		close_disk(d);
}

/**
 * logd_state_scan() - what the state has found in a log
 * @s: the state
 * @subgroup: id of the subgroup
 *
 * Return: a scan, for logd_scan(); NULL: there is none. It lasts until logd_state_forget().
 */
const struct spindle_dlog_scan *logd_state_scan(const struct logd_state *s, uint32_t subgroup)
{
	const struct logd_disk *d = find_disk(s, subgroup);

	return d && d->found ? &d->scan : NULL;
}

/**
 * logd_state_forget() - the writers have the logs open: free all scans
 * @s: the state
 */
void logd_state_forget(struct logd_state *s)
{
	struct logd_disk *d;

	while ((d = s->disks)) {
		s->disks = d->next;
		close_disk(d);
		logd_scan_drop(&d->scan);
		free(d);
	}
}

/**
 * logd_disk_tell() - what a report says of a log
 * @d: the log
 * @log: out
 *
 * A log that was trimmed does not have all its views, so it may not be cut to nothing.
 */
void logd_disk_tell(const struct logd_disk *d, struct spindle_restart_log *log)
{
	const struct spindle_dlog_scan *sc = &d->scan;
	uint32_t i, n = sc->n_epochs < LOGD_EPOCHS ? sc->n_epochs : LOGD_EPOCHS;
	const struct spindle_dlog_epoch *newest;

	memset(log, 0, sizeof(*log));
	log->missing = sc->is_new;
	if (log->missing)
		return;
	log->end = sc->next;
	log->good = sc->n_damaged ? sc->damaged[0].from : sc->next;
	log->whole = n <= SPINDLE_RESTART_EPOCHS && !sc->map.low;
	log->epochs = n < SPINDLE_RESTART_EPOCHS ? n : SPINDLE_RESTART_EPOCHS;
	newest = sc->epoch + (n - log->epochs);
	for (i = 0; i < log->epochs; i++)
		log->epoch[i] = (struct spindle_restart_epoch){
			.id = { newest[i].era, newest[i].vid }, .lsn = newest[i].lsn,
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
 * @d: the log, which is scanned again after a cut
 * @lsn: the position; a log that ends there or before keeps its end, and is synced
 *
 * What a scan has seen may not be durable, because the process before may have been killed.
 *
 * Return: whether the log ends there, and all of it is durable.
 */
bool logd_disk_cut(struct logd_state *s, struct logd_disk *d, uint64_t lsn)
{
	uint32_t frame = d->scan.id.frame;
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
	d->fresh = !err;
	return !err || fail(s, d->subgroup, "cut the log in", err);
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
	d->fresh = !err;
	return !err || fail(s, d->subgroup, "give another lineage to the log in", err);
}

/**
 * logd_disk_begin() - make a log without a message, on disk
 * @s: the state
 * @d: the log, which is not there, in a directory that is
 * @segment: bytes of a segment, a multiple of LOGD_BLOCK
 *
 * Return: whether it is there.
 */
bool logd_disk_begin(struct logd_state *s, struct logd_disk *d, uint32_t segment)
{
	struct spindle_dlog_ident *id = &d->scan.id;
	int err;

	id->node = s->node;
	id->subgroup = d->subgroup;
	memcpy(id->lineage, s->lineage, sizeof(id->lineage));
	id->block = LOGD_BLOCK;
	id->segment = segment;
	if (id->frame > segment - LOGD_BLOCK)
		id->frame = segment - LOGD_BLOCK;
	if (getrandom(&id->salt, sizeof(id->salt), 0) != sizeof(id->salt))
		return fail(s, d->subgroup, "have random numbers for", -EIO);
	err = write_metas(d);
	d->fresh = false;
	return !err || fail(s, d->subgroup, "begin the log in", err);
}
