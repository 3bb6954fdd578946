// SPDX-License-Identifier: GPL-2.0-only
/* Files of a log: what the jobs of threads do, and what the log reads. */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

#include "names.h"
#include "io.h"

/**
 * logd_file_name() - the name of a file in its directory
 * @file: the file
 * @buf: LOGD_NAME bytes
 */
void logd_file_name(struct spindle_dlog_file file, char *buf)
{
	/* The log only names files that have a name. */
	if (spindle_dlog_name(file, buf, LOGD_NAME))
		abort();
}

static bool is_same(const struct logd_open *open, struct spindle_dlog_file file)
{
	return open->fd >= 0 && open->file.kind == file.kind && open->file.id == file.id;
}

/* Somebody else may have put anything there, so only a regular file is used. */
static int open_file(const struct logd_port *p, struct spindle_dlog_file file, int flags)
{
	char name[LOGD_NAME];
	struct stat st;
	int fd, err;

	logd_file_name(file, name);
	flags |= O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | (p->direct ? O_DIRECT : 0);
	fd = openat(p->dir, name, flags, 0640);
	if (fd < 0)
		return -errno;
	err = fstat(fd, &st) ? -errno : 0;
	if (!err && !S_ISREG(st.st_mode))
		err = -EUCLEAN;
	if (!err)
		return fd;
	close(fd);
	return err;
}

static int reopen(struct logd_port *p, struct logd_open *o, struct spindle_dlog_file file,
		  int flags)
{
	int fd;

	if (is_same(o, file))
		return o->fd;
	fd = open_file(p, file, flags);
	if (fd < 0)
		return fd;
	if (o->fd >= 0)
		close(o->fd);
	*o = (struct logd_open){ .file = file, .fd = fd };
	return fd;
}

/**
 * logd_file_writable() - a descriptor to write to a file or to sync it
 * @p: the port
 * @file: a meta block, a segment, or one that is repaired
 *
 * The descriptor of a segment stays open until the next one is written. By then the log has waited
 * for all operations of the segment before.
 *
 * Return: the descriptor, or a negative errno.
 */
int logd_file_writable(struct logd_port *p, struct spindle_dlog_file file)
{
	unsigned int i = file.kind == SPINDLE_DLOG_META ? (unsigned int)file.id :
			 file.kind == SPINDLE_DLOG_FIX ? 3 : 2;

	return reopen(p, &p->open[i], file, O_WRONLY | O_DSYNC);
}

static void forget(struct logd_open *o, struct spindle_dlog_file file)
{
	if (!is_same(o, file))
		return;
	close(o->fd);
	o->fd = -1;
}

/**
 * logd_file_forget() - another file has this name now, or is about to get it
 * @p: the port
 * @file: the name; no write or sync of the file is under way
 */
void logd_file_forget(struct logd_port *p, struct spindle_dlog_file file)
{
	unsigned int i;

	for (i = 0; i < LOGD_OPEN; i++)
		forget(&p->open[i], file);
	forget(&p->source, file);
}

/* With RWF_DSYNC, what has been written is durable also if the descriptor lacks O_DSYNC. */
static int write_all(int fd, const unsigned char *buf, uint32_t len, uint64_t offset, int flags)
{
	while (len) {
		struct iovec part = { .iov_base = (void *)(uintptr_t)buf, .iov_len = len };
		ssize_t n = pwritev2(fd, &part, 1, (off_t)offset, flags);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -EIO;
		buf += n;
		offset += (uint64_t)n;
		len -= (uint32_t)n;
	}
	return 0;
}

/* Zeros are written, because a write to space that is only reserved also writes metadata. */
static int fill(const struct logd_port *p, int fd, uint32_t len)
{
	uint32_t at, part;
	int err = 0;

	if (fallocate(fd, 0, 0, len) && errno != EOPNOTSUPP)
		return -errno;
	for (at = 0; at < len && !err; at += part) {
		part = len - at < LOGD_ZEROS ? len - at : LOGD_ZEROS;
		err = write_all(fd, p->zeros, part, at, 0);
	}
	if (!err && fsync(fd))
		err = -errno;
	return err;
}

static int make_file(const struct logd_port *p, const struct spindle_dlog_op *op)
{
	char name[LOGD_NAME];
	int fd, err;

	logd_file_name(op->file, name);
	if (unlinkat(p->dir, name, 0) && errno != ENOENT)
		return -errno;
	fd = open_file(p, op->file, O_WRONLY | O_CREAT | O_EXCL);
	if (fd < 0)
		return fd;
	err = fill(p, fd, op->len);
	if (close(fd) && !err)
		err = -errno;
	if (err && unlinkat(p->dir, name, 0))
		return -errno;
	return err;
}

/* A quota that is used up is a full disk for this user. */
static int create(const struct logd_port *p, const struct spindle_dlog_op *op)
{
	int err = make_file(p, op);

	return err == -EDQUOT ? -ENOSPC : err;
}

static int change_name(const struct logd_port *p, const struct spindle_dlog_op *op)
{
	char from[LOGD_NAME], to[LOGD_NAME];

	logd_file_name(op->file, from);
	if (op->what == SPINDLE_DLOG_REMOVE)
		return unlinkat(p->dir, from, 0) ? -errno : 0;
	logd_file_name(op->to, to);
	return renameat(p->dir, from, p->dir, to) ? -errno : 0;
}

/**
 * logd_file_run() - run a job, and wait for its end
 * @p: the port
 * @job: the job; its error is set
 */
void logd_file_run(struct logd_port *p, struct logd_job *job)
{
	const struct spindle_dlog_op *op = &job->op;

	switch (op->what) {
	case SPINDLE_DLOG_WRITE:
		job->err = write_all(job->fd, op->buf, op->len, op->offset, RWF_DSYNC);
		break;
	case SPINDLE_DLOG_SYNC:
		job->err = fdatasync(job->fd) ? -errno : 0;
		break;
	case SPINDLE_DLOG_CREATE:
		job->err = create(p, op);
		break;
	case SPINDLE_DLOG_SYNC_DIR:
		job->err = fsync(p->dir) ? -errno : 0;
		break;
	default:
		job->err = change_name(p, op);
	}
}

/* ---- what the log reads ---------------------------------------------------- */

static int port_read(void *env, struct spindle_dlog_file file, uint64_t offset, void *buf,
		     uint32_t len)
{
	struct logd_port *p = env;
	bool is_open = is_same(&p->source, file);
	int fd = reopen(p, &p->source, file, O_RDONLY);
	uint32_t at = 0;
	ssize_t n;

	if (fd < 0)
		return fd;
	/* Without O_DIRECT, clean pages are dropped, because they may differ from the disk. */
	if (!p->direct && !is_open)
		posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
	do {
		n = pread(fd, (unsigned char *)buf + at, len - at, (off_t)(offset + at));
		if (n < 0 && errno != EINTR)
			return -errno;
		at += n > 0 ? (uint32_t)n : 0;
		/* Behind a part of a block there is only the end of the file. */
	} while (n && at < len && !(at % LOGD_BLOCK));
	if (p->tell)
		p->tell(p->tell_arg, at);
	return (int)at;
}

static int port_size(void *env, struct spindle_dlog_file file, uint64_t *bytes)
{
	struct logd_port *p = env;
	char name[LOGD_NAME];
	struct stat st;

	logd_file_name(file, name);
	if (fstatat(p->dir, name, &st, AT_SYMLINK_NOFOLLOW))
		return -errno;
	*bytes = (uint64_t)st.st_size;
	return 0;
}

static int read_names(DIR *dir, struct spindle_dlog_file *files, uint32_t max)
{
	struct dirent *e;
	uint32_t n = 0;

	for (errno = 0; (e = readdir(dir)); errno = 0) {
		struct spindle_dlog_file file;

		/* The lock file and files of others are not the log's. */
		if (spindle_dlog_parse_name(e->d_name, &file))
			continue;
		if (n == max)
			return -E2BIG;
		files[n++] = file;
	}
	if (errno)
		return -errno;
	spindle_dlog_sort(files, n);
	return (int)n;
}

static int port_list(void *env, struct spindle_dlog_file *files, uint32_t max)
{
	struct logd_port *p = env;
	int fd = openat(p->dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	int n;

	if (!dir) {
		n = -errno;
		if (fd >= 0)
			close(fd);
		return n;
	}
	n = read_names(dir, files, max);
	closedir(dir);
	return n;
}

/**
 * logd_file_port() - the calls of the port that return what there is
 * @p: the port
 */
void logd_file_port(struct logd_port *p)
{
	p->port.read = port_read;
	p->port.size = port_size;
	p->port.list = port_list;
}
