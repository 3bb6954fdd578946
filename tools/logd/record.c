// SPDX-License-Identifier: GPL-2.0-only
/*
 * View record: what a restart has to know of the views of a subgroup. See record.h.
 *
 * All numbers of a record are little-endian, of 64 bits:
 *
 *	magic, length, generation, lineage (2), era, flags, number of views
 *	of each view: vid, base, number of members, two members in each word
 *	CRC-32C of all before it
 */
#include <endian.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "log.h"
#include "record.h"

#define MAGIC		0x31766572676f6c73ULL	/* "slogrev1" */
#define HEAD		8U
#define FLAG_KNOWN	1ULL
#define FLAG_ESTABLISHED 2ULL

static const char *const name[] = { "view.a", "view.b" };

/* ---- bytes --------------------------------------------------------------------- */

static uint8_t *put(uint8_t *to, uint64_t word)
{
	uint64_t le = htole64(word);

	memcpy(to, &le, sizeof(le));
	return to + sizeof(le);
}

static uint64_t get(const uint8_t *from, size_t word)
{
	uint64_t le;

	memcpy(&le, from + word * sizeof(le), sizeof(le));
	return le64toh(le);
}

static uint8_t *put_view(uint8_t *to, const struct logd_view *view)
{
	uint32_t i;

	to = put(to, view->vid);
	to = put(to, view->base);
	to = put(to, view->members);
	for (i = 0; i < view->members; i += 2)
		to = put(to, view->node[i] | (i + 1 < view->members ?
					      (uint64_t)view->node[i + 1] << 32 : 0));
	return to;
}

/**
 * logd_record_encode() - the bytes of a record
 * @record: the record
 * @generation: its number
 * @to: out, LOGD_RECORD_BYTES
 *
 * Return: their number
 */
size_t logd_record_encode(const struct logd_record *record, uint64_t generation, uint8_t *to)
{
	uint8_t *at = to;
	uint32_t i;

	at = put(at, MAGIC);
	/* The length is set at the end. */
	at = put(at, 0);
	at = put(at, generation);
	at = put(at, record->lineage[0]);
	at = put(at, record->lineage[1]);
	at = put(at, record->era);
	at = put(at, (record->known ? FLAG_KNOWN : 0) |
		     (record->established ? FLAG_ESTABLISHED : 0));
	at = put(at, record->views);
	for (i = 0; i < record->views; i++)
		at = put_view(at, &record->view[i]);
	put(to + sizeof(uint64_t), (uint64_t)(at - to));
	at = put(at, spindle_dlog_crc(0, to, (size_t)(at - to)));
	return (size_t)(at - to);
}

/* Take a view from word @at on. Return: the first word behind it; 0: it is none. */
static size_t get_view(struct logd_view *view, const uint8_t *from, size_t at, size_t words)
{
	uint64_t n;
	uint32_t i;

	if (at + 3 > words)
		return 0;
	view->vid = get(from, at);
	view->base = get(from, at + 1);
	n = get(from, at + 2);
	at += 3;
	if (!n || n > SPINDLE_MAX_MEMBERS || at + (n + 1) / 2 > words)
		return 0;
	view->members = (uint32_t)n;
	for (i = 0; i < view->members; i++)
		view->node[i] = (uint32_t)(get(from, at + i / 2) >> (i % 2 * 32));
	return at + (n + 1) / 2;
}

/* Do the views follow each other? */
static bool is_in_order(const struct logd_record *record)
{
	uint32_t i;

	for (i = 1; i < record->views; i++)
		if (record->view[i].vid <= record->view[i - 1].vid ||
		    record->view[i].base < record->view[i - 1].base)
			return false;
	return true;
}

/**
 * logd_record_decode() - read a record
 * @record: out
 * @generation: out: its number
 * @from: its bytes, from a disk
 * @len: how many there are; bytes behind the record do not matter
 *
 * Return: whether it is one.
 */
bool logd_record_decode(struct logd_record *record, uint64_t *generation, const uint8_t *from,
			size_t len)
{
	size_t words = len / sizeof(uint64_t), at = HEAD;
	uint64_t bytes, flags, n;

	memset(record, 0, sizeof(*record));
	if (words <= HEAD || get(from, 0) != MAGIC)
		return false;
	bytes = get(from, 1);
	if (bytes % sizeof(uint64_t) || bytes / sizeof(uint64_t) >= words ||
	    get(from, bytes / sizeof(uint64_t)) != spindle_dlog_crc(0, from, bytes))
		return false;
	words = bytes / sizeof(uint64_t);
	*generation = get(from, 2);
	record->lineage[0] = get(from, 3);
	record->lineage[1] = get(from, 4);
	record->era = get(from, 5);
	flags = get(from, 6);
	record->known = flags & FLAG_KNOWN;
	record->established = flags & FLAG_ESTABLISHED;
	n = get(from, 7);
	if (!n || n > LOGD_RANGE)
		return false;
	while (record->views < n) {
		at = get_view(&record->view[record->views], from, at, words);
		if (!at)
			return false;
		record->views++;
	}
	return at == words && is_in_order(record);
}

/* ---- the range ------------------------------------------------------------------ */

/**
 * logd_record_add() - a view begins
 * @record: the record
 * @view: the view
 */
void logd_record_add(struct logd_record *record, const struct logd_view *view)
{
	if (record->views == LOGD_RANGE) {
		/* The range has a gap now. */
		record->known = false;
		record->views--;
	}
	record->view[record->views++] = *view;
	record->established = false;
}

/**
 * logd_record_establish() - the newest view is established: a restart begins with no earlier one
 * @record: the record
 *
 * Return: whether the record was not of an established view before.
 */
bool logd_record_establish(struct logd_record *record)
{
	if (record->established || !record->views)
		return false;
	record->view[0] = record->view[record->views - 1];
	record->views = 1;
	record->known = true;
	record->established = true;
	return true;
}

/* ---- files ---------------------------------------------------------------------- */

/* Read one of the files. Return: whether it has a record; or -errno. */
static int read_one(int dir, const char *file, struct logd_record *record, uint64_t *generation)
{
	uint8_t bytes[LOGD_RECORD_BYTES];
	int fd = openat(dir, file, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	n = pread(fd, bytes, sizeof(bytes), 0);
	n = n < 0 ? -errno : n;
	close(fd);
	return n < 0 ? (int)n : logd_record_decode(record, generation, bytes, (size_t)n);
}

/**
 * logd_records_open() - find the newest record of a log
 * @r: out
 * @dir: directory of the log, which stays open; the records do not own it
 *
 * Return: 0, also if there is no record; -EBADMSG: there are files, and no record in them; or the
 * error of the disk.
 */
int logd_records_open(struct logd_records *r, int dir)
{
	struct logd_record record;
	uint64_t generation = 0;
	int i, has;

	*r = (struct logd_records){ .dir = dir };
	for (i = 0; i < 2; i++) {
		has = read_one(dir, name[i], &record, &generation);
		if (has < 0)
			return has;
		if (!has || generation < r->generation)
			continue;
		r->generation = generation;
		r->now = record;
	}
	if (!r->now.views && !faccessat(dir, name[0], F_OK, AT_SYMLINK_NOFOLLOW) &&
	    !faccessat(dir, name[1], F_OK, AT_SYMLINK_NOFOLLOW))
		return -EBADMSG;
	return 0;
}

static int write_all(int fd, const uint8_t *bytes, size_t len)
{
	ssize_t n = pwrite(fd, bytes, len, 0);

	if (n == (ssize_t)len)
		return fsync(fd) ? -errno : 0;
	return n < 0 ? -errno : -ENOSPC;
}

/**
 * logd_records_write() - write the record, and wait until it is on disk
 * @r: the records
 *
 * Return: 0, or the error of the disk. Then the former record is still there.
 */
int logd_records_write(struct logd_records *r)
{
	uint64_t generation = r->generation + 1;
	uint8_t bytes[LOGD_RECORD_BYTES];
	size_t len = logd_record_encode(&r->now, generation, bytes);
	int fd, err;

	fd = openat(r->dir, name[generation % 2],
		    O_WRONLY | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0600);
	if (fd < 0)
		return -errno;
	err = write_all(fd, bytes, len);
	if (close(fd) && !err)
		err = -errno;
	/* The file itself may be new. */
	if (!err && fsync(r->dir))
		err = -errno;
	if (err)
		return err;
	r->generation = generation;
	r->synced = logd_record_vid(&r->now);
	return 0;
}
