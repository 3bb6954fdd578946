// SPDX-License-Identifier: GPL-2.0-only
/* View records of spindle-logd: their bytes, their range, and their two files under damage. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logd/record.h"
#include "tap.h"

static struct logd_view view(uint64_t vid, uint64_t base, uint32_t members)
{
	struct logd_view v = { .vid = vid, .base = base, .members = members };
	uint32_t i;

	for (i = 0; i < members; i++)
		v.node[i] = (uint32_t)vid * 100 + i;
	return v;
}

/* A record of views 1 to @views, of which view n has n members. */
static struct logd_record record(uint32_t views)
{
	struct logd_record r = { .lineage = { 3, 4 }, .era = 5, .known = true };
	uint32_t i;

	for (i = 1; i <= views; i++) {
		struct logd_view v = view(i, 10 * i, i);

		logd_record_add(&r, &v);
	}
	return r;
}

static bool is_same(const struct logd_record *a, const struct logd_record *b)
{
	return !memcmp(a, b, sizeof(*a));
}

static void bytes(void)
{
	uint8_t buf[LOGD_RECORD_BYTES], one[LOGD_RECORD_BYTES];
	struct logd_record in, out;
	bool round = true, taken = false;
	uint64_t generation;
	size_t len = 0, i;
	uint32_t n;

	for (n = 1; n <= LOGD_RANGE; n++) {
		in = record(n);
		len = logd_record_encode(&in, 77 + n, buf);
		round &= len <= sizeof(buf) && logd_record_decode(&out, &generation, buf, len) &&
			 generation == 77 + n && is_same(&in, &out);
	}
	ok(round, "records of 1 to %u views come back", LOGD_RANGE);
	ok(logd_record_decode(&out, &generation, buf, sizeof(buf)),
	   "bytes behind a record do not matter");
	for (n = 0; n < LOGD_RANGE; n++)
		in.view[n] = view(n + 1, n, SPINDLE_MAX_MEMBERS);
	is(logd_record_encode(&in, 1, one), sizeof(one), "the longest record fills the room");
	for (i = 0; i < len; i++)
		taken |= logd_record_decode(&out, &generation, buf, i);
	ok(!taken, "a record that is cut off at any byte is none");
	for (i = 0; i < 8 * len; i++) {
		memcpy(one, buf, len);
		one[i / 8] ^= 1U << i % 8;
		taken |= logd_record_decode(&out, &generation, one, len);
	}
	ok(!taken, "a record with a bit that has changed is none");
	in = record(3);
	in.view[2].vid = 2;
	len = logd_record_encode(&in, 1, buf);
	ok(!logd_record_decode(&out, &generation, buf, len), "views have to be in order");
	in = record(3);
	in.view[1].members = 0;
	len = logd_record_encode(&in, 1, buf);
	ok(!logd_record_decode(&out, &generation, buf, len), "a view has members");
	in = (struct logd_record){ .known = true };
	len = logd_record_encode(&in, 1, buf);
	ok(!logd_record_decode(&out, &generation, buf, len), "a record has views");
}

static void range(void)
{
	struct logd_record r = record(LOGD_RANGE);
	struct logd_view v = view(LOGD_RANGE + 1, 1000, 2);

	ok(r.known && r.views == LOGD_RANGE, "a range has room for %u views", LOGD_RANGE);
	is(logd_record_vid(&r), LOGD_RANGE, "the newest view is the last one");
	logd_record_add(&r, &v);
	ok(!r.known, "with one more, the range is not known any more");
	is(logd_record_vid(&r), LOGD_RANGE + 1, "the newest view is there");
	ok(logd_record_establish(&r), "the view is established");
	ok(r.known && r.established && r.views == 1, "so the range is known, and begins with it");
	is(r.view[0].vid, LOGD_RANGE + 1, "it is the right view");
	ok(!logd_record_establish(&r), "this is no news the second time");
	v = view(LOGD_RANGE + 2, 2000, 2);
	logd_record_add(&r, &v);
	ok(r.known && !r.established && r.views == 2, "the next view is not established");
	r = (struct logd_record){ .known = false };
	ok(!logd_record_establish(&r), "without a view nothing is established");
	is(logd_record_vid(&r), 0, "and there is no newest view");
}

static void damage(int dir, const char *name)
{
	static const char zero[64];
	int fd = openat(dir, name, O_WRONLY);

	if (fd < 0 || pwrite(fd, zero, sizeof(zero), 40) != sizeof(zero))
		die("%s: %s", name, strerror(errno));
	close(fd);
}

static void files(int dir)
{
	struct logd_records r;
	struct logd_view v;
	uint64_t vid;

	is(logd_records_open(&r, dir), 0, "a new directory has no record");
	is(logd_record_vid(&r.now), 0, "there is none");
	for (vid = 1; vid <= 3; vid++) {
		v = view(vid, vid, 3);
		logd_record_add(&r.now, &v);
		is(logd_records_write(&r), 0, "record %d is written", (int)vid);
	}
	is(logd_records_open(&r, dir), 0, "a later life finds records");
	is(logd_record_vid(&r.now), 3, "it takes the newest one");
	is(r.generation, 3, "of the third generation");
	damage(dir, "view.b");
	is(logd_records_open(&r, dir), 0, "the newest record is torn");
	is(logd_record_vid(&r.now), 2, "so it takes the one before");
	logd_record_add(&r.now, &v);
	is(logd_records_write(&r), 0, "a new record takes the place of the torn one");
	is(logd_records_open(&r, dir), 0, "both are there again");
	is(r.generation, 3, "and the new one is the newest");
	damage(dir, "view.a");
	damage(dir, "view.b");
	is(logd_records_open(&r, dir), -EBADMSG, "two damaged records are reported");
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

	bytes();
	range();
	if (!mkdtemp(path))
		die("mkdtemp: %s", strerror(errno));
	dir = open(path, O_RDONLY | O_DIRECTORY);
	files(dir);
	odd_files(dir);
	close(dir);
	rmdir(path);
	return tap_end();
}
