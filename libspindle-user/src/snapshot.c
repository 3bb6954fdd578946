// SPDX-License-Identifier: MIT
/*
 * Snapshots of programs: what <spindle/snapshot.h> promises, and the files.
 *
 * "snap.NAME.new" is a snapshot that is being made. It gets its name when its bytes are on disk,
 * and older files go when its name is on disk. A crash leaves "snap.NAME.new", and the next
 * snapshot of the program removes that file.
 *
 * Other users may have put files into the directory. A file counts only if root or the user of this
 * process owns it, and if nobody else may write to it. A file that is made is a new one.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <spindle/log.h>
#include <spindle/snapshot.h>

#include "internal.h"
#include "log/format.h"
#include "log/snap.h"

/* Bytes that are read at once. */
#define PIECE	(256U << 10)
/* Snapshots of a program that are tried: a commit leaves two. */
#define TRIES	16

struct spindle_snapshot {
	/** @dir: the directory */
	char *dir;
	/** @name: of the program */
	char name[SPINDLE_DLOG_SNAP_NAME + 1];
	/** @subgroup: id of the subgroup */
	uint32_t subgroup;
	/** @dirfd: the directory */
	int dirfd;
	/** @fd: the file */
	int fd;
};

static void new_file(const char *name, char *file)
{
	snprintf(file, SPINDLE_DLOG_SNAP_FILE, "snap.%s.new", name);
}

static int open_files(struct spindle_snapshot *s)
{
	char file[SPINDLE_DLOG_SNAP_FILE];

	s->dirfd = open(s->dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (s->dirfd < 0)
		return -errno;
	new_file(s->name, file);
	if (unlinkat(s->dirfd, file, 0) && errno != ENOENT)
		return -errno;
	s->fd = openat(s->dirfd, file, O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0644);
	if (s->fd < 0 || lseek(s->fd, SPINDLE_DLOG_SNAP_HEAD, SEEK_SET) < 0)
		return -errno;
	return 0;
}

static void free_snapshot(struct spindle_snapshot *s)
{
	if (s->fd >= 0)
		close(s->fd);
	if (s->dirfd >= 0)
		close(s->dirfd);
	free(s->dir);
	free(s);
}

int spindle_snapshot_create(struct spindle_snapshot **out, const char *dir, const char *name,
			    uint32_t subgroup)
{
	struct spindle_snapshot *s;
	int err;

	*out = NULL;
	if (!spindle_dlog_snap_name(name))
		return -EINVAL;
	s = calloc(1, sizeof(*s));
	if (!s)
		return -ENOMEM;
	s->dirfd = -1;
	s->fd = -1;
	strcpy(s->name, name);
	s->subgroup = subgroup;
	s->dir = strdup(dir);
	err = s->dir ? open_files(s) : -ENOMEM;
	if (err)
		free_snapshot(s);
	else
		*out = s;
	return err;
}

int spindle_snapshot_fd(const struct spindle_snapshot *s)
{
	return s->fd;
}

void spindle_snapshot_abandon(struct spindle_snapshot *s)
{
	char file[SPINDLE_DLOG_SNAP_FILE];

	if (!s)
		return;
	new_file(s->name, file);
	unlinkat(s->dirfd, file, 0);
	free_snapshot(s);
}

/* CRC-32C of @bytes bytes behind the head. Return: 0; -EBADMSG: there are fewer; or an errno. */
static int sum(int fd, uint64_t bytes, uint32_t *crc)
{
	uint64_t at = 0, n;
	ssize_t got = 1;
	char *piece = malloc(PIECE);

	if (!piece)
		return -ENOMEM;
	for (*crc = 0; at < bytes && got > 0; at += (uint64_t)got) {
		n = bytes - at < PIECE ? bytes - at : PIECE;
		got = pread(fd, piece, n, (off_t)(SPINDLE_DLOG_SNAP_HEAD + at));
		if (got > 0)
			*crc = spindle_dlog_crc(*crc, piece, (size_t)got);
		else
			break;
	}
	free(piece);
	if (got < 0)
		return -errno;
	return at < bytes ? -EBADMSG : 0;
}

static struct spindle_dlog_snap position(const struct spindle_place *place)
{
	struct spindle_dlog_snap at = { .era = place->era, .lsn = place->lsn };

	memcpy(at.lineage, place->lineage, sizeof(at.lineage));
	return at;
}

/*
 * Write the head, and have the file durable. A child of fork() may do this for its parent. Return:
 * 0 or a negative errno.
 */
int spindle_snapshot_seal(const struct spindle_snapshot *s, const struct spindle_place *place)
{
	struct spindle_dlog_snapshot st = { .at = position(place), .subgroup = s->subgroup };
	struct spindle_dlog_snapshot_disk head;
	off_t end = lseek(s->fd, 0, SEEK_END);
	ssize_t n;
	int err;

	if (end < 0)
		return -errno;
	if (end > (off_t)SPINDLE_DLOG_SNAP_HEAD)
		st.bytes = (uint64_t)end - SPINDLE_DLOG_SNAP_HEAD;
	err = sum(s->fd, st.bytes, &st.body);
	if (err)
		return err;
	spindle_dlog_snapshot_build(&head, &st);
	n = pwrite(s->fd, &head, sizeof(head), 0);
	if (n < 0 || fsync(s->fd))
		return -errno;
	return n == (ssize_t)sizeof(head) ? 0 : -ENOSPC;
}

/* ---- the files of a program ------------------------------------------------ */

/* Which snapshots count: those of a subgroup and a lineage, from before a place. */
struct wanted {
	uint32_t subgroup;
	bool any;		/* from before no place */
	struct spindle_dlog_snap below;
};

/* A snapshot in a directory. */
struct found {
	struct spindle_dlog_snapshot st;
	char file[SPINDLE_DLOG_SNAP_FILE];
};

/* The name of the file has to be that of its place. Return: 0, -EBADMSG or another errno. */
static int look_at(int dir, const char *name, struct found *f, uint64_t lsn)
{
	spindle_dlog_snapshot_file(name, lsn, f->file);
	return spindle_dlog_snapshot_look(dir, f->file, lsn, geteuid(), &f->st);
}

static bool is_of(const struct wanted *w, const struct spindle_dlog_snapshot *st)
{
	return st->subgroup == w->subgroup &&
	       !memcmp(st->at.lineage, w->below.lineage, sizeof(st->at.lineage));
}

static bool is_wanted(const struct wanted *w, const struct spindle_dlog_snapshot *st)
{
	return is_of(w, st) && (w->any || spindle_dlog_snap_newer(&w->below, &st->at));
}

static DIR *list(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Find the newest snapshot that is wanted. Return: is there one? */
static bool find(int dirfd, const char *name, const struct wanted *w, struct found *best)
{
	DIR *dir = list(dirfd);
	struct dirent *e;
	bool has = false;
	struct found f;
	uint64_t lsn;

	while (dir && (e = readdir(dir))) {
		if (!spindle_dlog_snapshot_lsn(e->d_name, name, &lsn) ||
		    look_at(dirfd, name, &f, lsn) || !is_wanted(w, &f.st))
			continue;
		if (!has || spindle_dlog_snap_newer(&f.st.at, &best->st.at))
			*best = f;
		has = true;
	}
	if (dir)
		closedir(dir);
	return has;
}

/* ---- a new one ------------------------------------------------------------- */

/*
 * Remove what does not check, and the snapshots of this subgroup and lineage but two. Those of
 * another lineage are for the administrator, because a group that was forced has another one.
 */
static void keep_two(const struct spindle_snapshot *s, const struct wanted *w, const char *one,
		     const char *two)
{
	DIR *dir = list(s->dirfd);
	struct dirent *e;
	struct found f;
	uint64_t lsn;
	int err;

	while (dir && (e = readdir(dir))) {
		if (!spindle_dlog_snapshot_lsn(e->d_name, s->name, &lsn) ||
		    !strcmp(e->d_name, one) || !strcmp(e->d_name, two))
			continue;
		err = look_at(s->dirfd, s->name, &f, lsn);
		if (err == -EBADMSG || (!err && is_of(w, &f.st)))
			unlinkat(s->dirfd, e->d_name, 0);
	}
	if (dir)
		closedir(dir);
}

/* The log may forget what is in front of the older snapshot. */
static int tell_log(const struct spindle_snapshot *s, const struct spindle_place *place)
{
	struct wanted w = { .subgroup = s->subgroup, .any = true, .below = position(place) };
	struct spindle_place at = *place;
	struct found newest, older;
	int err;

	if (!find(s->dirfd, s->name, &w, &newest))
		return -EIO;
	w.below = newest.st.at;
	w.any = false;
	if (!find(s->dirfd, s->name, &w, &older))
		older = newest;
	keep_two(s, &w, newest.file, older.file);
	at.era = older.st.at.era;
	at.lsn = older.st.at.lsn;
	err = spindle_log_snapshot(s->dir, s->name, &at);
	/* An earlier snapshot of this program, which has gone since, had a later place. */
	return err == -ESTALE ? 0 : err;
}

/* Give a snapshot that spindle_snapshot_seal() was called for its name, and free it. */
int spindle_snapshot_publish(struct spindle_snapshot *s, const struct spindle_place *place)
{
	char from[SPINDLE_DLOG_SNAP_FILE], to[SPINDLE_DLOG_SNAP_FILE];
	int err = 0;

	new_file(s->name, from);
	spindle_dlog_snapshot_file(s->name, place->lsn, to);
	if (renameat(s->dirfd, from, s->dirfd, to) || fsync(s->dirfd))
		err = -errno;
	if (!err)
		err = tell_log(s, place);
	spindle_snapshot_abandon(s);
	return err;
}

int spindle_snapshot_commit(struct spindle_snapshot *s, const struct spindle_place *place)
{
	int err = spindle_snapshot_seal(s, place);

	if (!err)
		return spindle_snapshot_publish(s, place);
	spindle_snapshot_abandon(s);
	return err;
}

/* ---- which snapshot the group has gone on from ------------------------------ */

/* Does the log show that no message of a later era is in front of a position? */
static bool is_era_at(const struct spindle_log *log, const struct spindle_log_info *info,
		      const struct spindle_dlog_snap *at)
{
	struct spindle_log_epoch epoch;
	uint64_t from, to;
	uint32_t i;

	if (at->lsn > info->next)
		return false;
	for (i = 0; i < info->damaged; i++)
		if (spindle_log_damaged(log, i, &from, &to) || from < at->lsn)
			return false;
	for (i = 0; i < info->epochs; i++) {
		if (spindle_log_epoch(log, i, &epoch))
			return false;
		if (epoch.era > at->era)
			return epoch.lsn >= at->lsn && (at->lsn > info->low || i);
	}
	/* The log has the message in front of the position, or begins there and has nothing. */
	return at->lsn > info->low || info->epochs;
}

static bool is_usable(const struct spindle_log *log, const struct spindle_place *group,
		      const struct spindle_dlog_snap *at)
{
	struct spindle_log_info info;

	spindle_log_info(log, &info);
	if (at->era > group->era || at->lsn < info.low)
		return false;
	return at->era == group->era || is_era_at(log, &info, at);
}

/* Open a snapshot whose bytes are right. Return: a descriptor or a negative errno. */
static int open_checked(int dir, const struct found *f)
{
	struct spindle_dlog_snapshot st;
	int fd = spindle_dlog_snapshot_open(dir, f->file, geteuid(), &st), err;
	uint32_t crc;

	if (fd < 0)
		return fd;
	err = sum(fd, st.bytes, &crc);
	if (!err && (crc != st.body || memcmp(&st.at, &f->st.at, sizeof(st.at))))
		err = -EBADMSG;
	if (!err && lseek(fd, SPINDLE_DLOG_SNAP_HEAD, SEEK_SET) < 0)
		err = -errno;
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int open_newest(int dir, const char *name, const struct spindle_log *log,
		       struct wanted *w, const struct spindle_place *group, uint64_t *lsn)
{
	struct found best;
	int i, fd = -ENODATA;

	for (i = 0; i < TRIES && fd < 0; i++) {
		if (!find(dir, name, w, &best))
			return -ENODATA;
		if (is_usable(log, group, &best.st.at))
			fd = open_checked(dir, &best);
		*lsn = best.st.at.lsn;
		w->below = best.st.at;
		w->any = false;
	}
	return fd < 0 ? -ENODATA : fd;
}

int spindle_snapshot_open(const char *dir, const char *name, uint32_t subgroup,
			  const struct spindle_place *group, struct spindle_place *at)
{
	struct wanted w = { .subgroup = subgroup, .any = true, .below = position(group) };
	struct spindle_log_info info;
	struct spindle_log *log;
	int fd, err, dirfd;

	*at = *group;
	at->lsn = UINT64_MAX;
	if (!spindle_dlog_snap_name(name))
		return -EINVAL;
	err = spindle_log_open(&log, dir, 0);
	if (err)
		return err;
	spindle_log_info(log, &info);
	dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (info.subgroup != subgroup ||
	    memcmp(info.lineage, group->lineage, sizeof(info.lineage)))
		fd = -EXDEV;
	else
		fd = dirfd < 0 ? -errno : open_newest(dirfd, name, log, &w, group, &at->lsn);
	if (fd < 0)
		at->lsn = info.low;
	if (dirfd >= 0)
		close(dirfd);
	spindle_log_close(log);
	return fd;
}
