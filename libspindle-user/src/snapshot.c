// SPDX-License-Identifier: MIT
/*
 * Snapshots of programs: what <spindle/snapshot.h> promises, and the files.
 *
 * "snap.NAME.new" is a snapshot that is being made. It gets its name when its bytes are on disk. A
 * crash leaves the file, and the next snapshot of the program overwrites it.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <spindle/log.h>
#include <spindle/snapshot.h>

#include "internal.h"
#include "log/format.h"
#include "log/snap.h"

/* Bytes that are read at once. */
#define PIECE	(256U << 10)
/* Snapshots of a program that are looked at: a commit leaves two. */
#define TRIES	16

struct spindle_snapshot {
	/** @dir: the directory */
	char *dir;
	/** @name: of the program */
	char name[SPINDLE_DLOG_SNAP_NAME + 1];
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
	s->fd = openat(s->dirfd, file, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0644);
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

int spindle_snapshot_create(struct spindle_snapshot **out, const char *dir, const char *name)
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

/*
 * Write the head, and have the file durable. A child of fork() may do this for its parent. Return:
 * 0 or a negative errno.
 */
int spindle_snapshot_seal(int fd, const struct spindle_place *place)
{
	struct spindle_dlog_snapshot st = { .at = { .era = place->era, .lsn = place->lsn } };
	struct spindle_dlog_snapshot_disk head;
	off_t end = lseek(fd, 0, SEEK_END);
	ssize_t n;
	int err;

	if (end < 0)
		return -errno;
	memcpy(st.at.lineage, place->lineage, sizeof(st.at.lineage));
	if (end > (off_t)SPINDLE_DLOG_SNAP_HEAD)
		st.bytes = (uint64_t)end - SPINDLE_DLOG_SNAP_HEAD;
	err = sum(fd, st.bytes, &st.body);
	if (err)
		return err;
	spindle_dlog_snapshot_build(&head, &st);
	n = pwrite(fd, &head, sizeof(head), 0);
	if (n < 0 || fsync(fd))
		return -errno;
	return n == (ssize_t)sizeof(head) ? 0 : -ENOSPC;
}

/* ---- the files of a program ------------------------------------------------ */

/* Open a snapshot whose head and length are right. Return: a descriptor or a negative errno. */
static int open_one(int dir, const char *file, struct spindle_dlog_snapshot *st)
{
	int fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK), err;
	struct spindle_dlog_snapshot_disk head;
	struct stat info;
	ssize_t n;

	if (fd < 0)
		return -errno;
	n = pread(fd, &head, sizeof(head), 0);
	err = n == (ssize_t)sizeof(head) ? spindle_dlog_snapshot_parse(&head, st) : -EBADMSG;
	if (!err && (fstat(fd, &info) || !S_ISREG(info.st_mode) ||
		     (uint64_t)info.st_size != st->bytes + SPINDLE_DLOG_SNAP_HEAD))
		err = -EBADMSG;
	if (!err)
		return fd;
	close(fd);
	return err;
}

/* A snapshot in a directory. */
struct found {
	struct spindle_dlog_snapshot st;
	char file[SPINDLE_DLOG_SNAP_FILE];
};

/* Is @f an older snapshot than @below, and a newer one than @best? Then it becomes @best. */
static bool is_better(int dir, struct found *f, const struct found *below, struct found *best,
		      bool has)
{
	int fd = open_one(dir, f->file, &f->st);

	if (fd < 0)
		return false;
	close(fd);
	if (below && !spindle_dlog_snap_newer(&below->st.at, &f->st.at))
		return false;
	if (has && !spindle_dlog_snap_newer(&f->st.at, &best->st.at))
		return false;
	*best = *f;
	return true;
}

static DIR *list(int dirfd)
{
	int fd = openat(dirfd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);

	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

/* Find the newest snapshot, or the newest one that is older than @below. Return: is there one? */
static bool find(int dirfd, const char *name, const struct found *below, struct found *best)
{
	DIR *dir = list(dirfd);
	struct dirent *e;
	bool has = false;
	struct found f;
	uint64_t lsn;

	while (dir && (e = readdir(dir))) {
		if (!spindle_dlog_snapshot_lsn(e->d_name, name, &lsn))
			continue;
		spindle_dlog_snapshot_file(name, lsn, f.file);
		has |= is_better(dirfd, &f, below, best, has);
	}
	if (dir)
		closedir(dir);
	return has;
}

/* Remove all snapshots of a program but two: also those that do not check. */
static void keep_two(int dirfd, const char *name, const char *one, const char *two)
{
	DIR *dir = list(dirfd);
	struct dirent *e;
	uint64_t lsn;

	while (dir && (e = readdir(dir)))
		if (spindle_dlog_snapshot_lsn(e->d_name, name, &lsn) && strcmp(e->d_name, one) &&
		    strcmp(e->d_name, two))
			unlinkat(dirfd, e->d_name, 0);
	if (dir)
		closedir(dir);
}

/* The log may forget what is in front of the older snapshot. */
static int tell_log(const struct spindle_snapshot *s)
{
	struct found newest, older;
	struct spindle_place at;
	int err;

	if (!find(s->dirfd, s->name, NULL, &newest))
		return -EIO;
	if (!find(s->dirfd, s->name, &newest, &older))
		older = newest;
	keep_two(s->dirfd, s->name, newest.file, older.file);
	at = (struct spindle_place){ .era = older.st.at.era, .lsn = older.st.at.lsn };
	memcpy(at.lineage, older.st.at.lineage, sizeof(at.lineage));
	err = spindle_log_snapshot(s->dir, s->name, &at);
	/* An earlier snapshot of this program, which has gone since, had a later place. */
	return err == -ESTALE ? 0 : err;
}

/* Give a snapshot that spindle_snapshot_seal() was called for its name, and free it. */
int spindle_snapshot_publish(struct spindle_snapshot *s, uint64_t lsn)
{
	char from[SPINDLE_DLOG_SNAP_FILE], to[SPINDLE_DLOG_SNAP_FILE];
	int err = 0;

	new_file(s->name, from);
	spindle_dlog_snapshot_file(s->name, lsn, to);
	if (renameat(s->dirfd, from, s->dirfd, to) || fsync(s->dirfd))
		err = -errno;
	if (!err)
		err = tell_log(s);
	spindle_snapshot_abandon(s);
	return err;
}

int spindle_snapshot_commit(struct spindle_snapshot *s, const struct spindle_place *place)
{
	int err = spindle_snapshot_seal(s->fd, place);

	if (!err)
		return spindle_snapshot_publish(s, place->lsn);
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
	if (memcmp(at->lineage, group->lineage, sizeof(at->lineage)) || at->era > group->era ||
	    at->lsn < info.low)
		return false;
	return at->era == group->era || is_era_at(log, &info, at);
}

static int open_checked(int dir, const struct found *f)
{
	struct spindle_dlog_snapshot st;
	int fd = open_one(dir, f->file, &st), err;
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
		       const struct spindle_place *group, struct spindle_place *at)
{
	struct found below, best;
	int i, fd = -ENODATA;

	for (i = 0; i < TRIES && fd < 0; i++) {
		if (!find(dir, name, i ? &below : NULL, &best))
			return -ENODATA;
		if (is_usable(log, group, &best.st.at))
			fd = open_checked(dir, &best);
		at->lsn = best.st.at.lsn;
		below = best;
	}
	return fd < 0 ? -ENODATA : fd;
}

int spindle_snapshot_open(const char *dir, const char *name, const struct spindle_place *group,
			  struct spindle_place *at)
{
	struct spindle_log_info info;
	struct spindle_log *log;
	int fd, err, dirfd;

	if (!spindle_dlog_snap_name(name))
		return -EINVAL;
	err = spindle_log_open(&log, dir, 0);
	*at = *group;
	at->lsn = UINT64_MAX;
	if (err)
		return err;
	spindle_log_info(log, &info);
	dirfd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (memcmp(info.lineage, group->lineage, sizeof(info.lineage)))
		fd = -EXDEV;
	else
		fd = dirfd < 0 ? -errno : open_newest(dirfd, name, log, group, at);
	if (fd < 0)
		at->lsn = info.low;
	if (dirfd >= 0)
		close(dirfd);
	spindle_log_close(log);
	return fd;
}
