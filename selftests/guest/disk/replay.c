// SPDX-License-Identifier: GPL-2.0-only
/* The log of dm-log-writes, whose format is at the top of drivers/md/dm-log-writes.c. */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/fs.h>

#include "disk-cuts.h"

#define LOG_MAGIC	0x6a736677736872ULL
#define LOG_FLUSH	1U
#define LOG_FUA		2U
#define LOG_DISCARD	4U
#define LOG_MARK	8U
#define PART		(1U << 20)
#define SECTOR		512U

/* Of both structs below, the numbers are little endian. */
struct log_super {
	uint64_t magic, version, entries;
	uint32_t sector;
};

struct log_entry {
	uint64_t sector, sectors, flags, data;
};

static unsigned char part[PART];

static void read_all(int fd, void *buf, uint64_t len, uint64_t at)
{
	if (pread(fd, buf, len, (off_t)at) != (ssize_t)len)
		fail("cannot read %" PRIu64 " bytes at %" PRIu64, len, at);
}

static void write_all(int fd, const void *buf, uint64_t len, uint64_t at)
{
	if (pwrite(fd, buf, len, (off_t)at) != (ssize_t)len)
		fail("cannot write %" PRIu64 " bytes at %" PRIu64, len, at);
}

static int open_device(const char *path, int flags)
{
	int fd = open(path, flags | O_CLOEXEC);

	if (fd < 0)
		fail("%s: %s", path, strerror(errno));
	return fd;
}

void replay_open(struct replay *r, const char *log, const char *to)
{
	struct log_super s;

	*r = (struct replay){ .log = open_device(log, O_RDONLY), .to = open_device(to, O_RDWR) };
	read_all(r->log, &s, sizeof(s), 0);
	r->sector = le32toh(s.sector);
	r->entries = le64toh(s.entries);
	if (le64toh(s.magic) != LOG_MAGIC || r->sector < SECTOR)
		fail("%s has no log of writes", log);
	r->at = r->sector;
}

/* Return: whether there was another entry. */
bool replay_next(struct replay *r, struct entry *e)
{
	struct log_entry raw;
	uint64_t text;

	if (r->next == r->entries)
		return false;
	read_all(r->log, &raw, sizeof(raw), r->at);
	*e = (struct entry){
		.flags = le64toh(raw.flags), .from = r->at + r->sector,
		.to = le64toh(raw.sector) * r->sector, .len = le64toh(raw.sectors) * r->sector,
	};
	e->is_mark = e->flags & LOG_MARK;
	e->is_flush = e->flags & (LOG_FLUSH | LOG_FUA);
	text = le64toh(raw.data);
	if (e->is_mark)
		read_all(r->log, e->mark, text < sizeof(e->mark) ? text : sizeof(e->mark) - 1,
			 r->at + sizeof(raw));
	r->next++;
	r->at = e->from + (e->flags & (LOG_DISCARD | LOG_MARK) ? 0 : e->len);
	return true;
}

void replay_apply(const struct replay *r, const struct entry *e)
{
	uint64_t at, n;

	if (e->flags & LOG_MARK)
		return;
	if (e->flags & LOG_DISCARD)
		memset(part, 0, sizeof(part));
	for (at = 0; at < e->len; at += n) {
		n = e->len - at < PART ? e->len - at : PART;
		if (!(e->flags & LOG_DISCARD))
			read_all(r->log, part, n, e->from + at);
		write_all(r->to, part, n, e->to + at);
	}
}

void replay_sync(const struct replay *r)
{
	if (fdatasync(r->to))
		fail("cannot sync: %s", strerror(errno));
}

/*
 * Write some sectors of a frame, as if the power had failed during its write. File systems may not
 * survive that for blocks of their own, so those are left alone. Return: whether it is a frame.
 */
bool replay_tear(const struct replay *r, const struct entry *e, uint64_t (*draw)(uint64_t below))
{
	uint32_t magic, n = 1 + (uint32_t)draw(4);
	uint64_t at;

	if (e->flags & (LOG_DISCARD | LOG_MARK) || e->len < SECTOR || e->len > PART)
		return false;
	read_all(r->log, part, e->len, e->from);
	memcpy(&magic, part, sizeof(magic));
	if (le32toh(magic) != SPINDLE_DLOG_FRAME_MAGIC)
		return false;
	for (at = 0; at < e->len; at += SECTOR)
		if (draw(n + 1))
			write_all(r->to, part + at, SECTOR, e->to + at);
	return true;
}

static bool is_zero(const unsigned char *buf, uint64_t len)
{
	return !buf[0] && !memcmp(buf, buf + 1, len - 1);
}

/* Zeros are left out, because a disk in memory costs memory only for what was written. */
void replay_copy(const char *from, const char *to)
{
	int in = open_device(from, O_RDONLY), out = open_device(to, O_RDWR);
	uint64_t bytes, at, i, page = 4096;

	if (ioctl(in, BLKGETSIZE64, &bytes))
		fail("%s: %s", from, strerror(errno));
	for (at = 0; at + PART <= bytes; at += PART) {
		read_all(in, part, PART, at);
		for (i = 0; i < PART; i += page)
			if (!is_zero(part + i, page))
				write_all(out, part + i, page, at + i);
	}
	if (fsync(out))
		fail("%s: %s", to, strerror(errno));
	close(in);
	close(out);
}
