// SPDX-License-Identifier: GPL-2.0-only
/*
 * View records of spindle-logd: their range, and the pair of files that has them, under damage and
 * power failures.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "fake_disk.h"
#include "logd/record.h"
#include "tap.h"

#define ERA	5U

static struct spindle_restart_view view(uint64_t vid, uint64_t base, uint32_t members)
{
	struct spindle_restart_view v = {
		.id = { ERA, vid }, .base = base, .members = members,
	};
	uint32_t i;

	for (i = 0; i < members; i++)
		v.node[i] = (uint32_t)vid * 100 + i;
	return v;
}

static void add(struct spindle_restart_keep *keep, uint64_t vid, bool next, bool first)
{
	struct spindle_restart_view v = view(vid, 10 * vid, (uint32_t)vid % 8 + 1);

	logd_record_add(keep, &v, next, first);
}

/* A record of views @from to @to, of which the first is the first one of its subgroup. */
static struct spindle_restart_keep record(uint64_t from, uint64_t to, bool first)
{
	struct spindle_restart_keep keep = { .lineage = { 3, 4 } };
	uint64_t vid;

	for (vid = from; vid <= to; vid++)
		add(&keep, vid, vid > from, first && vid == from);
	return keep;
}

static bool is_range(const struct spindle_restart_keep *keep, bool known, uint64_t from,
		     uint64_t to)
{
	const struct spindle_restart_record *r = &keep->record;
	uint32_t i;

	for (i = 0; i < r->views; i++)
		if (r->view[i].id.vid != from + i || r->view[i].id.era != ERA)
			return false;
	return r->views == to - from + 1 && r->known == known;
}

static void range(void)
{
	struct spindle_restart_keep r = record(1, SPINDLE_RESTART_VIEWS, true);

	ok(is_range(&r, true, 1, SPINDLE_RESTART_VIEWS), "a range has room for %u views",
	   SPINDLE_RESTART_VIEWS);
	ok(r.path.whole && !r.path.eras, "the path of a first view is whole");
	is(r.record.view[2].origin, ERA, "the origin of a view that joins is its era");
	add(&r, SPINDLE_RESTART_VIEWS + 1, true, false);
	ok(is_range(&r, false, 2, SPINDLE_RESTART_VIEWS + 1),
	   "with one more view the oldest one goes, and the range is not known");
	add(&r, 30, false, false);
	ok(is_range(&r, false, 30, 30), "behind a gap there are only the views that follow it");
	add(&r, 31, true, false);
	ok(is_range(&r, false, 30, 31), "they are not known, and follow each other");
	ok(logd_record_establish(&r), "the view is established");
	ok(is_range(&r, true, 31, 31) && r.established, "so it is the range, which is known");
	ok(!logd_record_establish(&r), "this is no news the second time");
	add(&r, 32, true, false);
	ok(is_range(&r, true, 31, 32) && !r.established, "the next view is not established");
	r = (struct spindle_restart_keep){ .established = false };
	ok(!logd_record_establish(&r), "without a view nothing is established");
	ok(!logd_record_newest(&r), "and there is no newest view");
}

/* The node enters an era by its proposal, and then a view of a later one without that. */
static void eras(void)
{
	struct spindle_restart_keep r = record(1, 2, true);
	struct spindle_restart_view v = view(3, 40, 2);

	r.record.view[1].origin = ERA - 1;
	r.path = (struct spindle_restart_path){
		.whole = true, .eras = 1, .past = { { { 2, 9 }, 7 } },
	};
	logd_record_add(&r, &v, true, false);
	is(r.record.view[2].origin, ERA - 1, "views of an era have its origin");
	ok(r.path.whole && r.path.eras == 1, "and its path");
	v.id.era = ERA + 2;
	logd_record_add(&r, &v, true, false);
	ok(r.record.views == 1 && !r.record.known && !r.path.whole && !r.path.eras,
	   "a later era says nothing of those before");
	is(r.record.view[0].origin, ERA + 2, "its origin is the era");
}

static void adopt(void)
{
	struct spindle_restart_keep own = record(7, 8, false), other = record(5, 7, true), was;

	other.record.view[2].origin = 2;
	other.path = (struct spindle_restart_path){ .whole = true };
	ok(logd_record_adopt(&own, &other), "a joiner takes the range of another member");
	ok(is_range(&own, true, 5, 8), "its own views follow");
	ok(own.path.whole && own.record.view[3].origin == 2, "with path and origin");
	own = record(7, 9, false);
	other = record(8, 8, true);
	ok(logd_record_adopt(&own, &other) && is_range(&own, true, 8, 9),
	   "what is established later is enough");
	own = record(7, 8, false);
	was = own;
	other = record(9, 10, true);
	ok(!logd_record_adopt(&own, &other) && !memcmp(&own, &was, sizeof(own)),
	   "a record that says nothing of the own views changes nothing");
	other = record(5, 7, false);
	ok(!logd_record_adopt(&own, &other), "nor does one whose range is not known");
	other = record(5, 7, true);
	other.record.view[2].base++;
	ok(!logd_record_adopt(&own, &other), "nor one that tells the view in another way");
	other = record(5, 7, true);
	other.lineage[0]++;
	ok(!logd_record_adopt(&own, &other), "nor one of another group");
	own = record(8, 22, false);
	other = record(1, 8, true);
	ok(!logd_record_adopt(&own, &other) && own.record.views == 15,
	   "a range with too many views is not known");
}

static void hurt(int dir, const char *name, const char *with, size_t len, off_t at)
{
	int fd = openat(dir, name, O_WRONLY);

	if (fd < 0 || pwrite(fd, with, len, at) != (ssize_t)len)
		die("%s: %s", name, strerror(errno));
	close(fd);
}

static void damage(int dir, const char *name)
{
	static const char zero[64];

	hurt(dir, name, zero, sizeof(zero), 40);
}

static void files(int dir)
{
	struct logd_records r;
	uint64_t vid;

	is(logd_records_open(&r, dir), 0, "a new directory has no record");
	ok(!logd_record_newest(&r.now), "there is none");
	is(logd_records_write(&r), -EINVAL, "a record without a view is not written");
	for (vid = 1; vid <= 3; vid++) {
		add(&r.now, vid, true, vid == 1);
		is(logd_records_write(&r), 0, "record %d is written", (int)vid);
	}
	is(r.synced.vid, 3, "its view is known to be on disk");
	is(logd_records_open(&r, dir), 0, "a later life finds records");
	is(r.synced.vid, 3, "which are on disk");
	ok(is_range(&r.now, true, 1, 3), "it takes the newest one");
	is(r.pair.generation, 3, "of the third generation");
	damage(dir, "view.b");
	is(logd_records_open(&r, dir), 0, "the newest record is torn");
	ok(is_range(&r.now, true, 1, 2), "so it takes the one before");
	add(&r.now, 3, true, false);
	is(logd_records_write(&r), 0, "a new record takes the place of the torn one");
	is(logd_records_open(&r, dir), 0, "both are there again");
	is(r.pair.generation, 3, "and the new one is the newest");
	damage(dir, "view.a");
	damage(dir, "view.b");
	is(logd_records_open(&r, dir), -EBADMSG, "two damaged records are reported");
	hurt(dir, "view.a", "slogrev1", 8, 0);
	is(logd_records_open(&r, dir), -EPROTO, "a file of the former format is reported");
}

/* A pair of any bytes: cut off anywhere, with each bit changed. */
static void bytes(int dir)
{
	struct logd_pair p = { .dir = dir, .name = { "p.a", "p.b" } };
	uint8_t in[100], out[100], raw[100 + LOGD_PAIR_BYTES];
	bool taken = false;
	size_t len, i;
	int fd;

	memset(in, 7, sizeof(in));
	is(logd_pair_write(&p, in, sizeof(in)), 0, "a pair is written");
	is(logd_pair_read(&p, out, sizeof(out), &len), 0, "and read");
	ok(len == sizeof(in) && !memcmp(in, out, len), "with the same bytes");
	fd = openat(dir, "p.b", O_RDWR);
	if (pread(fd, raw, sizeof(raw), 0) != sizeof(raw))
		die("p.b: %s", strerror(errno));
	for (i = 0; i < sizeof(raw); i++) {
		if (ftruncate(fd, (off_t)i))
			die("truncate: %s", strerror(errno));
		taken |= logd_pair_read(&p, out, sizeof(out), &len) || len;
	}
	ok(!taken, "a file that is cut off at any byte is none");
	for (i = 0; i < 8 * sizeof(raw); i++) {
		raw[i / 8] ^= 1U << i % 8;
		if (pwrite(fd, raw, sizeof(raw), 0) != sizeof(raw))
			die("p.b: %s", strerror(errno));
		raw[i / 8] ^= 1U << i % 8;
		taken |= logd_pair_read(&p, out, sizeof(out), &len) || len;
	}
	ok(!taken, "a file with a bit that has changed is none");
	if (pwrite(fd, raw, sizeof(raw), 0) != sizeof(raw))
		die("p.b: %s", strerror(errno));
	is(logd_pair_read(&p, out, 99, &len), 0, "contents that are longer than the room");
	is(len, 0, "are none");
	is(renameat(dir, "p.b", dir, "p.a"), 0, "a file under the name of the other one");
	ok(!logd_pair_read(&p, out, sizeof(out), &len) && !len, "is none");
	close(fd);
	unlinkat(dir, "p.a", 0);
}

/* ---- power failures ---------------------------------------------------------------- */

#define CELL		(sizeof(uint64_t) + LOGD_PAIR_BYTES)

/* What the disk has of a pair of numbers, beside the page cache, which is the real files. */
static struct {
	int dir;
	struct cell {
		const char *name;
		/* Bytes on disk; 0: none. */
		ssize_t len;
		uint8_t bytes[CELL];
		/* The name is on disk, too. */
		bool named;
		/* A sync has failed: the page is clean, and the disk has something else. */
		bool lost;
	} cell[2];
	/* The sync with this number fails, and all those behind it. */
	int fail_at, syncs;
	/* The process ends there. Otherwise the sync has failed, and the process goes on. */
	bool killed;
	bool on;
} disk;

/* Return: the cell whose file this is; NULL: none. */
static struct cell *cell_of(int fd)
{
	struct stat a, b;
	int i;

	for (i = 0; i < 2; i++)
		if (!fstat(fd, &a) && !fstatat(disk.dir, disk.cell[i].name, &b, 0) &&
		    a.st_ino == b.st_ino)
			return &disk.cell[i];
	return NULL;
}

static ssize_t read_cell(const struct cell *c, uint8_t *bytes)
{
	int fd = openat(disk.dir, c->name, O_RDONLY);
	ssize_t n = fd < 0 ? 0 : pread(fd, bytes, CELL, 0);

	if (fd >= 0)
		close(fd);
	return n;
}

/* The file has what the disk has. */
static void write_cell(const struct cell *c, ssize_t len)
{
	int fd = openat(disk.dir, c->name, O_WRONLY | O_CREAT | O_TRUNC, 0600);

	if (fd < 0 || pwrite(fd, c->bytes, (size_t)len, 0) != len)
		die("%s: %s", c->name, strerror(errno));
	close(fd);
}

int __wrap_fsync(int fd)
{
	struct cell *c = disk.on ? cell_of(fd) : NULL;
	int i;

	if (!disk.on)
		return __real_fsync(fd);
	if (disk.fail_at && ++disk.syncs >= disk.fail_at) {
		if (c && !disk.killed)
			c->lost = true;
		errno = EIO;
		return -1;
	}
	if (c && !c->lost)
		c->len = read_cell(c, c->bytes);
	for (i = 0; !c && i < 2; i++)
		disk.cell[i].named = !faccessat(disk.dir, disk.cell[i].name, F_OK, 0);
	return 0;
}

int __wrap_posix_fadvise64(int fd, off_t offset, off_t len, int advice)
{
	struct cell *c = disk.on ? cell_of(fd) : NULL;

	if (!c)
		return __real_posix_fadvise64(fd, offset, len, advice);
	if (c->lost && advice == POSIX_FADV_DONTNEED) {
		write_cell(c, c->len);
		c->lost = false;
	}
	return 0;
}

/* The power fails: of what was not synced, the disk has nothing, a part, or all. */
static void power_failure(int has)
{
	uint8_t now[CELL];
	int i;

	for (i = 0; i < 2; i++) {
		struct cell *c = &disk.cell[i];
		ssize_t n = read_cell(c, now);

		if (n != c->len || memcmp(now, c->bytes, (size_t)n)) {
			if (has == 1 && c->len)
				c->bytes[c->len / 2] ^= 0x55;
			if (has == 2 && !c->lost) {
				memcpy(c->bytes, now, (size_t)n);
				c->len = n;
			}
		}
		if (n && (c->named || has == 2))
			write_cell(c, c->len);
		else
			unlinkat(disk.dir, c->name, 0);
		c->lost = false;
	}
}

/* A life reads the number, and writes the next one. Return: the number that somebody relies on. */
static uint64_t live(int fail_at, bool killed)
{
	struct logd_pair p = { .dir = disk.dir, .name = { "c.a", "c.b" } };
	uint64_t n = 0, next;
	size_t len;

	disk.fail_at = 0;
	if (logd_pair_read(&p, (uint8_t *)&n, sizeof(n), &len))
		return 0;
	next = n + 1;
	disk.syncs = 0;
	disk.fail_at = fail_at;
	disk.killed = killed;
	if (!logd_pair_write(&p, (const uint8_t *)&next, sizeof(next)))
		n = next;
	disk.fail_at = 0;
	return n;
}

/* Return: whether the last life finds what those before it have relied on. */
static bool survives(int lives, int first, int second, bool killed, int has)
{
	struct logd_pair p = { .dir = disk.dir, .name = { "c.a", "c.b" } };
	uint64_t n = 0, want = 0;
	size_t len;
	int i, err;

	for (i = 0; i < 2; i++)
		disk.cell[i] = (struct cell){ .name = p.name[i] };
	for (i = 0; i < lives; i++)
		want = live(0, true);
	n = live(first, killed);
	want = n > want ? n : want;
	n = live(second, killed);
	want = n > want ? n : want;
	power_failure(has);
	err = logd_pair_read(&p, (uint8_t *)&n, sizeof(n), &len);
	for (i = 0; i < 2; i++)
		unlinkat(disk.dir, p.name[i], 0);
	return !err && n >= want;
}

/*
 * Two processes that are killed in a sync, or whose sync fails, and then the power. A write has two
 * syncs: of the file and of its name.
 */
static void power(int dir)
{
	int i, bad = 0;

	disk.dir = dir;
	disk.on = true;
	for (i = 0; i < 4 * 3 * 3 * 2 * 3; i++)
		bad += !survives(i % 4, i / 4 % 3, i / 12 % 3, i / 36 % 2, i / 72);
	disk.on = false;
	is(bad, 0, "what a process has read or written is there after a power failure");
}

static void odd_files(int dir)
{
	struct logd_records r;

	if (unlinkat(dir, "view.a", 0) || unlinkat(dir, "view.b", 0) ||
	    symlinkat("/etc/passwd", dir, "view.a"))
		die("symlink: %s", strerror(errno));
	is(logd_records_open(&r, dir), -ELOOP, "a symbolic link is not followed");
	if (unlinkat(dir, "view.a", 0) || mkfifoat(dir, "view.a", 0600))
		die("mkfifo: %s", strerror(errno));
	ok(logd_records_open(&r, dir), "a pipe is no record");
	unlinkat(dir, "view.a", 0);
}

int main(void)
{
	char path[] = "/tmp/spindle-record-XXXXXX";
	int dir;

	range();
	eras();
	adopt();
	if (!mkdtemp(path))
		die("mkdtemp: %s", strerror(errno));
	dir = open(path, O_RDONLY | O_DIRECTORY);
	files(dir);
	bytes(dir);
	power(dir);
	odd_files(dir);
	close(dir);
	rmdir(path);
	return tap_end();
}
