// SPDX-License-Identifier: GPL-2.0-only
/* A log over files, for tests of readers. See file_log.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "file_log.h"

static int open_file(struct file_log *f, struct spindle_dlog_file file, int flags)
{
	char name[SPINDLE_DLOG_NAME];
	int fd;

	if (spindle_dlog_name(file, name, sizeof(name)))
		return -EINVAL;
	fd = openat(f->dir, name, flags | O_CLOEXEC, 0644);
	return fd < 0 ? -errno : fd;
}

static int write_file(struct file_log *f, const struct spindle_dlog_op *op)
{
	int fd = open_file(f, op->file, O_WRONLY);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = pwrite(fd, op->buf, op->len, (off_t)op->offset);
	close(fd);
	return n == (ssize_t)op->len ? 0 : -EIO;
}

static int create_file(struct file_log *f, const struct spindle_dlog_op *op)
{
	int fd = open_file(f, op->file, O_WRONLY | O_CREAT | O_TRUNC), err;

	if (fd < 0)
		return fd;
	err = ftruncate(fd, op->len) ? -errno : 0;
	close(fd);
	return err;
}

static int rename_file(struct file_log *f, const struct spindle_dlog_op *op)
{
	char from[SPINDLE_DLOG_NAME], to[SPINDLE_DLOG_NAME];

	if (spindle_dlog_name(op->file, from, sizeof(from)) ||
	    spindle_dlog_name(op->to, to, sizeof(to)))
		return -EINVAL;
	return renameat(f->dir, from, f->dir, to) ? -errno : 0;
}

static int remove_file(struct file_log *f, const struct spindle_dlog_op *op)
{
	char name[SPINDLE_DLOG_NAME];

	if (spindle_dlog_name(op->file, name, sizeof(name)))
		return -EINVAL;
	return unlinkat(f->dir, name, 0) ? -errno : 0;
}

static int apply(struct file_log *f, const struct spindle_dlog_op *op)
{
	switch (op->what) {
	case SPINDLE_DLOG_WRITE:
		return write_file(f, op);
	case SPINDLE_DLOG_CREATE:
		return create_file(f, op);
	case SPINDLE_DLOG_RENAME:
		return rename_file(f, op);
	case SPINDLE_DLOG_REMOVE:
		return remove_file(f, op);
	}
	return 0;
}

static void submit(void *env, const struct spindle_dlog_op *op)
{
	struct file_log *f = env;

	f->done[f->pending].token = op->token;
	f->done[f->pending].err = apply(f, op);
	f->pending++;
}

static int read_file(void *env, struct spindle_dlog_file file, uint64_t offset, void *buf,
		     uint32_t len)
{
	int fd = open_file(env, file, O_RDONLY);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = pread(fd, buf, len, (off_t)offset);
	close(fd);
	return n < 0 ? -EIO : (int)n;
}

static int size_file(void *env, struct spindle_dlog_file file, uint64_t *bytes)
{
	int fd = open_file(env, file, O_RDONLY);
	struct stat st;

	if (fd < 0)
		return fd;
	*bytes = fstat(fd, &st) ? 0 : (uint64_t)st.st_size;
	close(fd);
	return 0;
}

/* The files of a log of tests have small numbers. */
static int list_files(void *env, struct spindle_dlog_file *files, uint32_t max)
{
	static const uint32_t most[] = { 2, 4096, SPINDLE_DLOG_SPARES, 1 };
	struct spindle_dlog_file file = { 0 };
	uint32_t n = 0;
	int fd;

	for (file.kind = 0; file.kind <= SPINDLE_DLOG_NEW; file.kind++) {
		for (file.id = 0; file.id < most[file.kind] && n < max; file.id++) {
			fd = open_file(env, file, O_RDONLY | O_NONBLOCK);
			if (fd < 0)
				continue;
			close(fd);
			files[n++] = file;
		}
	}
	return (int)n;
}

static void settle(struct file_log *f)
{
	uint32_t token;
	int err;

	while (f->pending) {
		token = f->done[0].token;
		err = f->done[0].err;
		memmove(&f->done[0], &f->done[1], --f->pending * sizeof(f->done[0]));
		spindle_dlog_done(&f->log, token, err);
	}
}

static const struct spindle_dlog_ident ident = {
	.lineage = { 0x0c, 0x10, 0x95, 0xca, 0xfe, 0xba, 0xbe, 0xff, 1, 2, 3, 4, 5, 6, 7, 8 },
	.subgroup = FILE_LOG_SUBGROUP, .node = FILE_LOG_NODE, .block = FILE_LOG_BLOCK,
	.segment = FILE_LOG_SEGMENT, .frame = FILE_LOG_FRAME,
};

/* Open the directory, and prepare a scan. */
static int prepare(struct file_log *f, const char *dir)
{
	memset(f, 0, sizeof(*f));
	f->dir = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (f->dir < 0)
		return -errno;
	f->port = (struct spindle_dlog_port){
		.env = f, .through = true, .submit = submit, .read = read_file,
		.size = size_file, .list = list_files,
	};
	f->scan = (struct spindle_dlog_scan){
		.port = &f->port, .window = { .buf = f->window, .size = sizeof(f->window) },
		.file = f->file, .max_files = FILE_LOG_FILES, .id = { .frame = FILE_LOG_FRAME },
		.map = { .seg = f->segment, .max = FILE_LOG_FILES },
	};
	return 0;
}

int file_log_start_as(struct file_log *f, const char *dir, const struct spindle_dlog_ident *id,
		      uint64_t first)
{
	int err;

	err = prepare(f, dir);
	if (err)
		return err;
	f->config = (struct spindle_dlog_config){
		.depth = 1, .eager = true, .spares = 1, .meta = f->meta, .go_on = true,
		.slot = { f->slot[0], f->slot[1] },
	};
	err = spindle_dlog_recover(&f->scan);
	if (f->scan.is_new) {
		f->scan.id = *id;
		f->scan.map.low = first;
		f->scan.next = first;
	}
	if (!err)
		err = spindle_dlog_start(&f->log, &f->config, &f->scan);
	settle(f);
	return err;
}

int file_log_start(struct file_log *f, const char *dir, uint64_t salt)
{
	struct spindle_dlog_ident id = ident;

	id.salt = salt;
	return file_log_start_as(f, dir, &id, FILE_LOG_FIRST);
}

void file_log_stop(struct file_log *f)
{
	close(f->dir);
}

int file_log_cut(struct file_log *f, const char *dir, uint64_t lsn)
{
	struct spindle_dlog_cut c = { .meta = f->meta, .buf = f->slot[0] };
	int err = prepare(f, dir);

	if (err)
		return err;
	err = spindle_dlog_recover(&f->scan);
	if (!err)
		err = spindle_dlog_cut(&c, &f->scan, lsn);
	while (!err && f->pending) {
		f->pending = 0;
		err = spindle_dlog_cut_done(&c, f->done[0].err);
	}
	close(f->dir);
	return err;
}

struct spindle_dlog_msg file_log_msg(uint64_t lsn, unsigned char *data)
{
	struct spindle_dlog_msg m = {
		.lsn = lsn, .era = 1, .vid = 1 + lsn / 10, .time = lsn * 1000, .slot = lsn / 3,
		.node = 1 + lsn % 3, .sender = lsn % 3, .flags = (uint32_t)lsn,
		.len = lsn * 7 % FILE_LOG_LONGEST, .data = data,
	};
	uint32_t i;

	for (i = 0; i < m.len; i++)
		data[i] = (unsigned char)(lsn + i);
	return m;
}

int file_log_append(struct file_log *f, const struct spindle_dlog_msg *m, bool commit)
{
	int err = spindle_dlog_append(&f->log, m, m->time);

	if (err == -EAGAIN) {
		settle(f);
		err = spindle_dlog_append(&f->log, m, m->time);
	}
	if (err)
		return err;
	if (commit)
		spindle_dlog_commit(&f->log, m->time);
	settle(f);
	return 0;
}

int file_log_write(struct file_log *f, uint32_t messages, uint32_t each)
{
	unsigned char data[FILE_LOG_LONGEST];
	struct spindle_dlog_msg m;
	uint32_t i;
	int err;

	for (i = 0; i < messages; i++) {
		m = file_log_msg(f->log.next, data);
		err = file_log_append(f, &m, (i + 1) % each == 0 || i + 1 == messages);
		if (err)
			return err;
	}
	return f->log.persisted == f->log.next ? 0 : -EIO;
}

void file_log_trim(struct file_log *f, uint64_t lsn)
{
	spindle_dlog_trim(&f->log, lsn);
	settle(f);
}

void file_log_mark(struct file_log *f)
{
	spindle_dlog_mark(&f->log, f->log.time);
	settle(f);
}
