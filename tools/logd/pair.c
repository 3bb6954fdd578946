// SPDX-License-Identifier: GPL-2.0-only
/*
 * Two files of which one is always whole. See pair.h.
 *
 * All numbers are little-endian, of 64 bits:
 *
 *	magic, length of the contents, generation
 *	contents
 *	CRC-32C of all before it
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "log.h"
#include "pair.h"

#define MAGIC		0x31726961706e7073ULL	/* "spnpair1" */
/* The magic of view records before that. */
#define FORMER		0x31766572676f6c73ULL	/* "slogrev1" */
#define HEAD		24U

static void put(uint8_t *to, uint64_t word)
{
	uint64_t le = htole64(word);

	memcpy(to, &le, sizeof(le));
}

static uint64_t get(const uint8_t *from)
{
	uint64_t le;

	memcpy(&le, from, sizeof(le));
	return le64toh(le);
}

static ssize_t read_all(int fd, uint8_t *to, size_t size)
{
	size_t at = 0;
	ssize_t n;

	do {
		n = pread(fd, to + at, size - at, (off_t)at);
		if (n < 0 && errno != EINTR)
			return -errno;
		at += n > 0 ? (size_t)n : 0;
	} while (n && at < size);
	return (ssize_t)at;
}

/*
 * A process that was killed may have left pages that are not on disk, and one whose sync has failed
 * clean pages with bytes that the disk does not have. So the former are synced, and the latter go.
 */
static int settle(int fd)
{
	if (fsync(fd))
		return -errno;
	return -posix_fadvise(fd, 0, 0, POSIX_FADV_DONTNEED);
}

/* Read what is on disk of a file. Return: its bytes; 0: there is none; or -errno. */
static ssize_t read_file(int dir, const char *name, uint8_t *to, size_t size)
{
	int fd = openat(dir, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	struct stat st;
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	n = fstat(fd, &st) ? -errno : 0;
	if (!n)
		n = S_ISREG(st.st_mode) ? settle(fd) : -EBADMSG;
	if (!n)
		n = read_all(fd, to, size);
	close(fd);
	return n;
}

/* Return: the length of the contents; -1: these bytes are none of a pair. */
static ssize_t check(const uint8_t *from, size_t len, size_t size, uint64_t *generation)
{
	uint64_t bytes;

	if (len < LOGD_PAIR_BYTES || get(from) != MAGIC)
		return -1;
	bytes = get(from + 8);
	if (bytes > size || bytes > len - LOGD_PAIR_BYTES ||
	    get(from + HEAD + bytes) != spindle_dlog_crc(0, from, HEAD + bytes))
		return -1;
	*generation = get(from + 16);
	return *generation ? (ssize_t)bytes : -1;
}

/* Take the contents of one file, if they are newer. Return: whether there is a file; or -errno. */
static int look_at(struct logd_pair *pair, int i, uint8_t *bytes, uint8_t *to, size_t size,
		   size_t *len)
{
	ssize_t n = read_file(pair->dir, pair->name[i], bytes, size + LOGD_PAIR_BYTES), have;
	uint64_t generation;

	if (n <= 0)
		return (int)n;
	have = check(bytes, (size_t)n, size, &generation);
	if (have < 0)
		return n >= 8 && get(bytes) == FORMER ? -EPROTO : 1;
	/* The last bit says which file it is, so a copy of the other file is none. */
	if (generation % 2 != (uint64_t)i || generation < pair->generation)
		return 1;
	pair->generation = generation;
	memcpy(to, bytes + HEAD, (size_t)have);
	*len = (size_t)have;
	return 1;
}

/**
 * logd_pair_read() - find the newer contents
 * @pair: the files; @dir and @name are set
 * @to: out
 * @size: bytes at @to
 * @len: out: length of the contents; 0: there are no files
 *
 * A new pair that was torn by a crash has one damaged file and nothing else, so it is empty.
 *
 * The contents are on disk. Otherwise the next write would go to the only file that is, because the
 * process before this one may have been killed in the middle of a write.
 *
 * Return: 0; -EBADMSG: both files are damaged; -EPROTO: a file is of a former format; or the error
 * of the disk.
 */
int logd_pair_read(struct logd_pair *pair, uint8_t *to, size_t size, size_t *len)
{
	uint8_t *bytes = malloc(size + LOGD_PAIR_BYTES);
	int i, has = 0, files = 0;

	if (!bytes)
		return -ENOMEM;
	pair->generation = 0;
	*len = 0;
	for (i = 0; i < 2 && has >= 0; i++) {
		has = look_at(pair, i, bytes, to, size, len);
		files += has > 0;
	}
	free(bytes);
	/* A file may have no durable name yet. */
	if (has >= 0 && files && fsync(pair->dir))
		has = -errno;
	if (has < 0)
		return has;
	return files == 2 && !pair->generation ? -EBADMSG : 0;
}

/**
 * logd_pair_put() - write the contents of a file, and wait until they are on disk
 * @fd: the file, written from its beginning
 * @from: the contents
 * @len: their length
 *
 * Return: 0, or a negative errno.
 */
int logd_pair_put(int fd, const uint8_t *from, size_t len)
{
	size_t at = 0;
	ssize_t n;

	while (at < len) {
		n = pwrite(fd, from + at, len - at, (off_t)at);
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n ? -errno : -ENOSPC;
		at += (size_t)n;
	}
	return fsync(fd) ? -errno : 0;
}

/**
 * logd_pair_replace() - write a file that is not one of a pair
 * @dir: its directory
 * @next: name until all bytes are on disk
 * @name: name from then on, so that a crash leaves the former file or this one
 * @from: the contents
 * @len: their length
 *
 * Return: 0, or a negative errno.
 */
int logd_pair_replace(int dir, const char *next, const char *name, const uint8_t *from, size_t len)
{
	int fd, err;

	if (unlinkat(dir, next, 0) && errno != ENOENT)
		return -errno;
	fd = openat(dir, next, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0640);
	if (fd < 0)
		return -errno;
	err = logd_pair_put(fd, from, len);
	if (close(fd) && !err)
		err = -errno;
	if (!err && renameat(dir, next, dir, name))
		err = -errno;
	if (!err && fsync(dir))
		err = -errno;
	return err;
}

static int write_file(int dir, const char *name, const uint8_t *from, size_t len)
{
	int fd = openat(dir, name, O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	int err;

	if (fd < 0)
		return -errno;
	err = logd_pair_put(fd, from, len);
	if (close(fd) && !err)
		err = -errno;
	/* The file itself may be new. */
	if (!err && fsync(dir))
		err = -errno;
	return err;
}

/**
 * logd_pair_write() - write the next contents, and wait until they are on disk
 * @pair: the files
 * @from: the contents
 * @len: their bytes
 *
 * Return: 0, or the error of the disk. Then the former contents are still there.
 */
int logd_pair_write(struct logd_pair *pair, const uint8_t *from, size_t len)
{
	uint64_t generation = pair->generation + 1;
	uint8_t *bytes = malloc(len + LOGD_PAIR_BYTES);
	int err;

	if (!bytes)
		return -ENOMEM;
	put(bytes, MAGIC);
	put(bytes + 8, len);
	put(bytes + 16, generation);
	memcpy(bytes + HEAD, from, len);
	put(bytes + HEAD + len, spindle_dlog_crc(0, bytes, HEAD + len));
	err = write_file(pair->dir, pair->name[generation % 2], bytes, len + LOGD_PAIR_BYTES);
	free(bytes);
	if (!err)
		pair->generation = generation;
	return err;
}
