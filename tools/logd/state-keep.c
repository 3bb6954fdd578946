// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a forced restart would cut away is kept: a copy of the end of the log, in a directory beside
 * it. The copy is a log of its own, which "spindle-ctl log" reads. See state.h.
 *
 * The directory gets its name when all of the copy is on disk. So a copy with that name is whole.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "state-files.h"

/* Bytes that are copied at once. */
#define PIECE	(1U << 20)

/* ---- one file ------------------------------------------------------------------------ */

static int open_new(int dir, const char *name)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);

	return fd < 0 ? -errno : fd;
}

static int write_piece(int fd, const uint8_t *from, size_t len)
{
	while (len) {
		ssize_t n = write(fd, from, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		from += n;
		len -= (size_t)n;
	}
	return 0;
}

static int copy_bytes(int from, int to, uint8_t *piece)
{
	ssize_t n;
	int err;

	for (;;) {
		n = read(from, piece, PIECE);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		err = write_piece(to, piece, (size_t)n);
		if (err)
			return err;
	}
	return n || fsync(to) ? -errno : 0;
}

static int copy_file(int dir, int to, struct spindle_dlog_file file, uint8_t *piece)
{
	char name[LOGD_NAME];
	int in, out, err;

	logd_file_name(file, name);
	in = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	if (in < 0)
		return -errno;
	out = open_new(to, name);
	err = out < 0 ? out : copy_bytes(in, out, piece);
	if (out >= 0 && close(out) && !err)
		err = -errno;
	close(in);
	return err;
}

/* ---- a log --------------------------------------------------------------------------- */

/* The first segment with a message behind @end. Without one, the last segment has all of them. */
static uint32_t first_segment(const struct spindle_dlog_map *map, uint64_t end)
{
	uint32_t i = 0;

	while (i + 1 < map->n && map->seg[i + 1].lsn <= end)
		i++;
	return i;
}

/* Both meta blocks say that the copy begins with its first segment. */
static int write_metas(const struct spindle_dlog_scan *sc, int to, uint64_t low, uint8_t *piece)
{
	struct spindle_dlog_meta_state state = {
		.number = sc->number, .low = low > sc->map.low ? low : sc->map.low,
		.seq = sc->seq,
	};
	struct spindle_dlog_file file = { .kind = SPINDLE_DLOG_META };
	char name[LOGD_NAME];
	int i, fd, err = 0;

	state.acked = sc->acked > state.low ? sc->acked : state.low;
	for (i = 0; i < 2 && !err; i++, state.number++) {
		file.id = state.number & 1;
		logd_file_name(file, name);
		spindle_dlog_meta_build(piece, &sc->id, &state);
		fd = open_new(to, name);
		err = fd < 0 ? fd : logd_pair_put(fd, piece, sc->id.block);
		if (fd >= 0 && close(fd) && !err)
			err = -errno;
	}
	return err;
}

static int copy_log(const struct logd_disk *d, int to, uint64_t end)
{
	const struct spindle_dlog_scan *sc = &d->scan;
	uint8_t *piece = malloc(PIECE);
	uint32_t i = first_segment(&sc->map, end);
	int err = piece ? 0 : -ENOMEM;

	if (!err)
		err = write_metas(sc, to, sc->map.n ? sc->map.seg[i].lsn : sc->map.low, piece);
	for (; !err && i < sc->map.n; i++)
		err = copy_file(d->dir, to,
				(struct spindle_dlog_file){ .kind = SPINDLE_DLOG_SEGMENT,
							    .id = sc->map.seg[i].seq }, piece);
	free(piece);
	if (!err && fsync(to))
		err = -errno;
	return err;
}

/* ---- the directory ------------------------------------------------------------------- */

/* A copy that has not ended is of no use. */
static int clear(int fd)
{
	DIR *dir = fdopendir(fd);
	struct dirent *e;
	int err = 0;

	if (!dir) {
		err = -errno;
		close(fd);
		return err;
	}
	while (!err && (e = readdir(dir)))
		if (strcmp(e->d_name, ".") && strcmp(e->d_name, "..") &&
		    unlinkat(fd, e->d_name, 0))
			err = -errno;
	closedir(dir);
	return err;
}

static int remove_copy(int parent, const char *name)
{
	int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW), err;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	err = clear(fd);
	return !err && unlinkat(parent, name, AT_REMOVEDIR) ? -errno : err;
}

static int make_copy(int parent, const struct logd_disk *d, const char *name, uint64_t end)
{
	int err = remove_copy(parent, name), to;

	if (!err)
		err = logd_state_make(parent, name);
	if (err)
		return err;
	to = openat(parent, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (to < 0)
		return -errno;
	err = copy_log(d, to, end);
	close(to);
	return err;
}

/**
 * logd_disk_keep() - keep a copy of what a cut takes away
 * @s: the state
 * @d: the log
 * @name: of the copy, a directory beside that of the log
 * @end: position of the first message that goes
 *
 * Return: whether the copy is on disk, or nothing goes.
 */
bool logd_disk_keep(struct logd_state *s, const struct logd_disk *d, const char *name,
		    uint64_t end)
{
	char unfinished[80];
	struct stat st;
	int err;

	if (d->scan.is_new || d->scan.next <= end ||
	    !fstatat(s->dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return true;
	snprintf(unfinished, sizeof(unfinished), "%s.new", name);
	err = make_copy(s->dir, d, unfinished, end);
	if (!err && renameat(s->dir, unfinished, s->dir, name))
		err = -errno;
	if (!err && fsync(s->dir))
		err = -errno;
	return !err || logd_state_fail(s, "cannot keep the end of a log in %s/%s: %s", s->path,
				       name, strerror(-err));
}
