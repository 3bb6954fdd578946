// SPDX-License-Identifier: GPL-2.0-only
/*
 * Self-test of readers of a durable log, over logs that the core writes into files. TAP on stdout.
 *
 * A hook in front of pread() lets the writer work in the middle of a scan or of a read.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

#include <spindle/log.h>

#include "file_log.h"
#include "log/snap.h"
#include "tap.h"

/* The call of pread() that runs the hook, counted down; 0: none. */
static unsigned int hook_at;
/* Bytes that all calls have asked for. */
static size_t read_bytes;
/* Bytes that the call has read by then. */
static size_t hook_after;
static void (*hook)(void);

ssize_t __wrap_pread64(int fd, void *buf, size_t len, off_t offset)
{
	ssize_t n = 0, more;

	read_bytes += len;
	if (!hook_at || --hook_at)
		return __real_pread64(fd, buf, len, offset);
	if (hook_after && hook_after < len)
		n = __real_pread64(fd, buf, hook_after, offset);
	hook();
	if (n < 0 || (n && n < (ssize_t)hook_after))
		return n;
	more = __real_pread64(fd, (char *)buf + n, len - (size_t)n, offset + n);
	return more < 0 ? more : n + more;
}

/* ---- directories ---------------------------------------------------------- */

static struct file_log writer;
static char dir[64], other[64];

static const char *in(const char *name)
{
	static char path[256];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void remove_dir(const char *path)
{
	nftw(path, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void make_dir(char *path)
{
	strcpy(path, "/tmp/spindle-log-XXXXXX");
	if (!mkdtemp(path))
		bail_out("no directory");
}

static void begin(void)
{
	make_dir(dir);
	if (file_log_start(&writer, dir, 77))
		bail_out("no writer");
}

static void end(void)
{
	file_log_stop(&writer);
	remove_dir(dir);
}

static struct spindle_log *open_log(void)
{
	struct spindle_log *log;
	int err = spindle_log_open(&log, dir, 0);

	CHECK_EQ(-err, 0);
	if (err)
		bail_out("cannot open");
	return log;
}

static int open_fails(const char *path, unsigned int flags)
{
	struct spindle_log *log;
	int err = spindle_log_open(&log, path, flags);

	CHECK(!err == !!log);
	spindle_log_close(log);
	return err;
}

/* Change a byte of the file of a log. */
static void flip(const char *name, off_t at)
{
	int fd = open(in(name), O_RDWR);
	unsigned char c;

	CHECK(fd >= 0 && __real_pread64(fd, &c, 1, at) == 1);
	c ^= 0x10;
	CHECK(pwrite(fd, &c, 1, at) == 1);
	close(fd);
}

/* ---- messages ------------------------------------------------------------- */

/* Is this the message that the writer has written at its position? */
static bool is_right(const struct spindle_log_msg *m)
{
	unsigned char data[FILE_LOG_LONGEST];
	struct spindle_dlog_msg want = file_log_msg(m->lsn, data);

	return m->next == m->lsn + 1 && m->era == want.era && m->vid == want.vid &&
	       m->slot == want.slot && m->node == want.node && m->sender == want.sender &&
	       m->flags == want.flags && m->len == want.len && m->time >= want.time &&
	       !memcmp(m->data, want.data, want.len);
}

/* Read these messages, one after the other. */
static void expect(struct spindle_log *log, uint64_t from, uint64_t to)
{
	struct spindle_log_msg m;

	for (; from < to; from++) {
		if (!CHECK_EQ(spindle_log_read(log, &m), 1))
			return;
		CHECK_EQ(m.lsn, from);
		CHECK(is_right(&m));
	}
}

static void expect_end(struct spindle_log *log)
{
	struct spindle_log_msg m;

	CHECK_EQ(spindle_log_read(log, &m), 0);
}

/* ---- cases ---------------------------------------------------------------- */

static void test_names(void)
{
	static const struct {
		const char *name;
		struct spindle_dlog_file file;
	} good[] = {
		{ "meta.0", { 0, SPINDLE_DLOG_META } }, { "meta.1", { 1, SPINDLE_DLOG_META } },
		{ "0000000000000000.seg", { 0, SPINDLE_DLOG_SEGMENT } },
		{ "fedcba9876543210.seg", { 0xfedcba9876543210, SPINDLE_DLOG_SEGMENT } },
		{ "ffffffffffffffff.seg", { UINT64_MAX, SPINDLE_DLOG_SEGMENT } },
		{ "spare.0", { 0, SPINDLE_DLOG_SPARE } },
		{ "spare.18446744073709551615", { UINT64_MAX, SPINDLE_DLOG_SPARE } },
		{ "new", { 0, SPINDLE_DLOG_NEW } }, { "fix", { 0, SPINDLE_DLOG_FIX } },
	};
	static const char *const bad[] = {
		"", ".", "..", "meta", "meta.", "meta.2", "meta.00", "meta.0 ", "META.0",
		"000000000000000.seg", "00000000000000000.seg", "000000000000000A.seg",
		"000000000000000g.seg", "0000000000000001.SEG", "0000000000000001.seg~",
		"0x00000000000001.seg", "-000000000000001.seg", "0000000000000001",
		"1ffffffffffffffff.seg", "spare.", "spare.01", "spare.+1", "spare.-1", "spare. 1",
		"spare.18446744073709551616", "spare.1x", "new.", "new1", "New",
		"fix.0", "fix ", "Fix",
	};
	struct spindle_dlog_file file;
	char name[SPINDLE_DLOG_NAME];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(good); i++) {
		CHECK(!spindle_dlog_name(good[i].file, name, sizeof(name)) &&
		      !strcmp(name, good[i].name));
		CHECK_EQ(spindle_dlog_name(good[i].file, name, strlen(good[i].name)), -EINVAL);
		CHECK(!spindle_dlog_parse_name(good[i].name, &file) &&
		      file.kind == good[i].file.kind && file.id == good[i].file.id);
	}
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		if (spindle_dlog_parse_name(bad[i], &file) != -EINVAL)
			tap_fail("'%s' is taken for a name", bad[i]);
	file = (struct spindle_dlog_file){ .kind = SPINDLE_DLOG_META, .id = 2 };
	CHECK_EQ(spindle_dlog_name(file, name, sizeof(name)), -EINVAL);
	file = (struct spindle_dlog_file){ .kind = SPINDLE_DLOG_NEW, .id = 1 };
	CHECK_EQ(spindle_dlog_name(file, name, sizeof(name)), -EINVAL);
	file = (struct spindle_dlog_file){ .kind = SPINDLE_DLOG_FIX, .id = 1 };
	CHECK_EQ(spindle_dlog_name(file, name, sizeof(name)), -EINVAL);
	file = (struct spindle_dlog_file){ .kind = SPINDLE_DLOG_FIX + 1 };
	CHECK_EQ(spindle_dlog_name(file, name, sizeof(name)), -EINVAL);
}

static void test_no_log(void)
{
	make_dir(dir);
	CHECK_EQ(open_fails(dir, 0), -ENODATA);
	CHECK_EQ(open_fails(dir, SPINDLE_LOG_DURABLE << 1), -EINVAL);
	CHECK_EQ(open_fails(in("none"), 0), -ENOENT);
	close(open(in("file"), O_CREAT | O_WRONLY, 0600));
	CHECK_EQ(open_fails(in("file"), 0), -ENOTDIR);
	CHECK_EQ(open_fails(dir, 0), -ENODATA);
	/* A log that is being made: its meta block is not written yet. */
	CHECK(!truncate(in("file"), FILE_LOG_BLOCK) && !rename(in("file"), strdupa(in("meta.0"))));
	CHECK_EQ(open_fails(dir, 0), -ENODATA);
	remove_dir(dir);
}

/* Root may read everything, and nobody may not. */
static void test_no_permission(void)
{
	bool root = !geteuid();

	begin();
	file_log_write(&writer, 3, 1);
	CHECK(!chmod(dir, 0));
	if (root)
		CHECK(!seteuid(65534));
	CHECK_EQ(open_fails(dir, 0), -EACCES);
	if (root)
		CHECK(!seteuid(0));
	CHECK(!chmod(dir, 0755) && !chmod(in("meta.0"), 0) && !chmod(in("meta.1"), 0));
	if (root)
		CHECK(!seteuid(65534));
	CHECK_EQ(open_fails(dir, 0), -EACCES);
	if (root)
		CHECK(!seteuid(0));
	end();
}

static void test_read(void)
{
	static const uint8_t lineage[16] = { 0x0c, 0x10, 0x95, 0xca, 0xfe, 0xba, 0xbe, 0xff,
					     1, 2, 3, 4, 5, 6, 7, 8 };
	struct spindle_log_info info;
	struct spindle_log_epoch epoch;
	struct spindle_log *log;
	uint64_t from, to;

	begin();
	CHECK_EQ(file_log_write(&writer, 145, 3), 0);
	log = open_log();
	spindle_log_info(log, &info);
	CHECK(!memcmp(info.lineage, lineage, 16));
	CHECK_EQ(info.subgroup, FILE_LOG_SUBGROUP);
	CHECK_EQ(info.node, FILE_LOG_NODE);
	CHECK_EQ(info.low, FILE_LOG_FIRST);
	CHECK_EQ(info.next, FILE_LOG_FIRST + 145);
	CHECK(info.acked < info.next && info.acked >= info.next - 3);
	CHECK_EQ(info.time, (info.next - 1) * 1000);
	CHECK_EQ(info.segment, FILE_LOG_SEGMENT);
	CHECK_EQ(info.segments, writer.log.map.n);
	CHECK(info.segments > 2 && info.bytes == info.segments * (uint64_t)FILE_LOG_SEGMENT);
	CHECK_EQ(info.damaged, 0);
	CHECK_EQ(info.epochs, 15);
	CHECK_EQ(spindle_log_epoch(log, 0, &epoch), 0);
	CHECK(epoch.era == 1 && epoch.vid == 11 && epoch.lsn == 100);
	CHECK_EQ(spindle_log_epoch(log, 14, &epoch), 0);
	CHECK(epoch.era == 1 && epoch.vid == 25 && epoch.lsn == 240);
	CHECK_EQ(spindle_log_epoch(log, 15, &epoch), -ENOENT);
	CHECK_EQ(spindle_log_damaged(log, 0, &from, &to), -ENOENT);
	expect(log, info.low, info.next);
	expect_end(log);
	spindle_log_close(log);
	end();
}

/* The message that is found is not older than the time, and the one before is. */
static void expect_time(struct spindle_log *log, uint64_t ns)
{
	struct spindle_log_msg m;
	uint64_t lsn;

	CHECK_EQ(spindle_log_find_time(log, ns), 0);
	CHECK(spindle_log_read(log, &m) == 1 && is_right(&m) && m.time >= ns);
	lsn = m.lsn;
	CHECK(!spindle_log_seek(log, lsn - 1) && spindle_log_read(log, &m) == 1);
	CHECK(m.lsn == lsn - 1 && m.time < ns);
}

/**
 * struct told - what spindle_log_open_tell() has said
 */
struct told {
	/** @times: how often */
	uint32_t times;
	/** @scans: how often it has begun */
	uint32_t scans;
	/** @done: the last time */
	uint64_t done;
	/** @total: the last time */
	uint64_t total;
};

static void note_told(void *arg, uint64_t done, uint64_t total)
{
	struct told *t = arg;

	CHECK(total && done && done <= total);
	t->scans += !t->times || done < t->done;
	t->times++;
	t->done = done;
	t->total = total;
}

/* All bytes of the files with messages are read, and twice if some are damaged. */
static void test_tell(void)
{
	struct spindle_log_info info;
	struct spindle_log_msg m;
	struct told t = { 0 };
	struct spindle_log *log;

	begin();
	CHECK_EQ(file_log_write(&writer, 145, 3), 0);
	CHECK_EQ(spindle_log_open_tell(&log, dir, 0, note_told, &t), 0);
	spindle_log_info(log, &info);
	CHECK(t.times > 2 && t.scans == 1);
	CHECK(t.total >= info.bytes && t.done >= info.bytes);
	t.times = 0;
	CHECK_EQ(spindle_log_read(log, &m), 1);
	CHECK_EQ(spindle_log_refresh(log), 0);
	CHECK_EQ(t.times, 0);
	spindle_log_close(log);
	flip("0000000000000000.seg", FILE_LOG_BLOCK * 3 + 90);
	t = (struct told){ 0 };
	CHECK_EQ(spindle_log_open_tell(&log, dir, 0, note_told, &t), 0);
	CHECK_EQ(t.scans, 2);
	spindle_log_close(log);
	CHECK_EQ(spindle_log_open_tell(&log, in("none"), 0, note_told, &t), -ENOENT);
	CHECK(!log);
	end();
}

static void test_seek(void)
{
	struct spindle_log *log;
	uint64_t ns;

	begin();
	CHECK_EQ(file_log_write(&writer, 145, 4), 0);
	log = open_log();
	CHECK_EQ(spindle_log_seek(log, 171), 0);
	expect(log, 171, 180);
	CHECK_EQ(spindle_log_seek(log, 99), -ESTALE);
	CHECK_EQ(spindle_log_seek(log, 246), -ERANGE);
	expect(log, 180, 185);
	CHECK_EQ(spindle_log_seek(log, 245), 0);
	expect_end(log);
	for (ns = 110001; ns <= 244000; ns += 777)
		expect_time(log, ns);
	CHECK_EQ(spindle_log_find_time(log, 0), 0);
	expect(log, 100, 103);
	CHECK_EQ(spindle_log_find_time(log, UINT64_MAX), 0);
	expect_end(log);
	spindle_log_close(log);
	end();
}

static void test_durable(void)
{
	struct spindle_log *log;

	begin();
	CHECK_EQ(file_log_write(&writer, 8, 2), 0);
	CHECK_EQ(spindle_log_open(&log, dir, SPINDLE_LOG_DURABLE), 0);
	expect(log, 100, 106);
	expect_end(log);
	CHECK_EQ(spindle_log_seek(log, 107), -ERANGE);
	file_log_mark(&writer);
	CHECK_EQ(spindle_log_refresh(log), 0);
	expect(log, 106, 108);
	expect_end(log);
	spindle_log_close(log);
	end();
}

static void test_beside_writer(void)
{
	struct spindle_log *log;
	uint32_t i;

	begin();
	CHECK_EQ(file_log_write(&writer, 1, 1), 0);
	log = open_log();
	expect(log, 100, 101);
	for (i = 0; i < 20; i++) {
		uint64_t next = writer.log.next;

		CHECK_EQ(file_log_write(&writer, 7, 1 + i % 3), 0);
		expect_end(log);
		CHECK_EQ(spindle_log_refresh(log), 0);
		expect(log, next, next + 7);
		expect_end(log);
	}
	spindle_log_close(log);
	end();
}

static void expect_range(struct spindle_log *a, struct spindle_log *b, uint32_t i)
{
	uint64_t from[2], to[2];

	CHECK(!spindle_log_damaged(a, i, &from[0], &to[0]) &&
	      !spindle_log_damaged(b, i, &from[1], &to[1]));
	CHECK(from[0] == from[1] && to[0] == to[1]);
}

/* A reader that has refreshed knows what one knows that opens the log now. */
static void expect_same(struct spindle_log *log)
{
	struct spindle_log *fresh = open_log();
	struct spindle_log_info a, b;
	struct spindle_log_epoch x, y;
	uint32_t i;

	spindle_log_info(log, &a);
	spindle_log_info(fresh, &b);
	CHECK(!memcmp(&a, &b, sizeof(a)));
	for (i = 0; i < a.damaged && a.damaged == b.damaged; i++)
		expect_range(log, fresh, i);
	for (i = 0; i < a.epochs && a.epochs == b.epochs; i++) {
		CHECK(!spindle_log_epoch(log, i, &x) && !spindle_log_epoch(fresh, i, &y));
		CHECK(!memcmp(&x, &y, sizeof(x)));
	}
	spindle_log_close(fresh);
}

static void refresh(struct spindle_log *log)
{
	CHECK_EQ(spindle_log_refresh(log), 0);
	expect_same(log);
}

/* The writer dies, and the next one begins. */
static void next_life(void)
{
	file_log_stop(&writer);
	CHECK_EQ(file_log_start(&writer, dir, 77), 0);
}

/* A refresh reads what has changed, and knows as much as a reader that reads everything. */
static void test_refresh_since(void)
{
	struct spindle_log *log;
	size_t all, some;
	uint32_t i;

	begin();
	CHECK_EQ(file_log_write(&writer, 400, 2), 0);
	read_bytes = 0;
	log = open_log();
	all = read_bytes;
	read_bytes = 0;
	CHECK_EQ(spindle_log_refresh(log), 0);
	some = read_bytes;
	printf("# all: %zu bytes, again: %zu bytes\n", all, some);
	CHECK(some < all / 4);
	for (i = 0; i < 30; i++) {
		CHECK_EQ(file_log_write(&writer, 1 + i * 3 % 40, 1 + i % 3), 0);
		if (i % 7 == 3)
			file_log_trim(&writer, writer.log.persisted - 90);
		if (i % 5 == 4)
			next_life();
		refresh(log);
	}
	CHECK_EQ(spindle_log_seek(log, writer.log.map.low), 0);
	expect(log, writer.log.map.low, writer.log.next);
	expect_end(log);
	spindle_log_close(log);
	end();
}

/* What is damaged stays listed until it is trimmed. */
static void test_refresh_damage(void)
{
	struct spindle_log_info info;
	struct spindle_log *log;

	begin();
	CHECK_EQ(file_log_write(&writer, 200, 2), 0);
	flip("0000000000000001.seg", 3000);
	flip("0000000000000003.seg", 700);
	log = open_log();
	spindle_log_info(log, &info);
	CHECK_EQ(info.damaged, 2);
	refresh(log);
	CHECK_EQ(file_log_write(&writer, 100, 2), 0);
	refresh(log);
	file_log_trim(&writer, writer.scan.map.seg[3].lsn);
	refresh(log);
	spindle_log_info(log, &info);
	CHECK_EQ(info.damaged, 1);
	file_log_trim(&writer, writer.log.persisted);
	refresh(log);
	spindle_log_info(log, &info);
	CHECK_EQ(info.damaged, 0);
	spindle_log_close(log);
	end();
}

/*
 * The writer dies, and a restart cuts its log. A full disk may have had no room for a next segment,
 * so every other log has none. Return: whether it is cut.
 */
static bool cut(uint64_t lsn)
{
	char name[SPINDLE_DLOG_NAME];
	struct spindle_dlog_file ahead = {
		.kind = SPINDLE_DLOG_SEGMENT, .id = writer.log.ahead_seq };

	file_log_stop(&writer);
	CHECK(writer.log.ahead == SPINDLE_DLOG_AHEAD_READY &&
	      !spindle_dlog_name(ahead, name, sizeof(name)));
	if (lsn % 2)
		CHECK(!unlink(in(name)));
	return CHECK_EQ(file_log_cut(&writer, dir, lsn), 0);
}

/* The next life writes @count messages, which are others than those that were cut. */
static void write_others(uint32_t count)
{
	unsigned char data[FILE_LOG_LONGEST];
	struct spindle_dlog_msg m;

	CHECK_EQ(file_log_start(&writer, dir, 77), 0);
	while (count--) {
		m = file_log_msg(writer.log.next, data);
		m.era = 2;
		CHECK_EQ(file_log_append(&writer, &m, true), 0);
	}
}

/* A reader sees that the log was cut at @lsn, and goes on there, or where that frame begins. */
static void expect_cut(struct spindle_log *log, uint64_t lsn)
{
	struct spindle_log_info info;
	struct spindle_log_msg m;
	uint64_t next = 0;

	CHECK_EQ(spindle_log_refresh(log), -ERANGE);
	expect_same(log);
	CHECK_EQ(spindle_log_refresh(log), 0);
	while (spindle_log_read(log, &m) == 1) {
		CHECK(next ? m.lsn == next : m.lsn <= lsn && m.lsn + 3 > lsn);
		CHECK_EQ(m.era, m.lsn < lsn ? 1 : 2);
		next = m.next;
	}
	expect_end(log);
	spindle_log_info(log, &info);
	CHECK_EQ(next ? next : lsn, info.next);
}

/*
 * Cut a log at @lsn under a reader, which has read up to @at. Then others are written, before the
 * reader looks.
 */
static void cut_under_reader(uint64_t at, uint64_t lsn, uint32_t others)
{
	struct spindle_log *log;

	begin();
	CHECK_EQ(file_log_write(&writer, 200, 3), 0);
	log = open_log();
	CHECK_EQ(spindle_log_seek(log, at), 0);
	if (cut(lsn) && others)
		write_others(others);
	if (at > lsn)
		expect_cut(log, lsn);
	else
		refresh(log);
	spindle_log_close(log);
	end();
}

/* A cut in any segment is seen, whether or not the log has grown past the reader since. */
static void test_refresh_cut(void)
{
	static const uint32_t others[] = { 0, 1, 40, 230 };
	uint64_t lsn;
	uint32_t i;

	for (i = 0; i < 4; i++)
		for (lsn = 100; lsn < 300; lsn += 7) {
			cut_under_reader(300, lsn, others[i]);
			cut_under_reader(lsn / 2 + 50, lsn, others[i]);
		}
}

/* Two cuts between two looks. */
static void test_refresh_cut_twice(void)
{
	struct spindle_log *log;

	begin();
	CHECK_EQ(file_log_write(&writer, 200, 3), 0);
	log = open_log();
	CHECK_EQ(spindle_log_seek(log, 300), 0);
	if (cut(250))
		write_others(90);
	if (cut(170))
		write_others(300);
	expect_cut(log, 170);
	spindle_log_close(log);
	end();
}

static bool copy_file(int from, const char *to)
{
	static unsigned char bytes[FILE_LOG_SEGMENT];
	int fd = open(to, O_CREAT | O_WRONLY, 0600);
	bool good = __real_pread64(from, bytes, sizeof(bytes), 0) == sizeof(bytes) &&
		    write(fd, bytes, sizeof(bytes)) == sizeof(bytes);

	close(fd);
	return good;
}

/* A segment that was repaired is another file, also for a reader that is in it. */
static void test_refresh_repaired(void)
{
	struct spindle_log_info info;
	struct spindle_log_msg m;
	struct spindle_log *log;
	uint64_t lsn = 100;
	int fd, n;

	begin();
	CHECK_EQ(file_log_write(&writer, 200, 2), 0);
	fd = open(in("0000000000000001.seg"), O_RDONLY);
	CHECK(fd >= 0 && copy_file(fd, in("copy")));
	flip("0000000000000001.seg", 3000);
	log = open_log();
	spindle_log_info(log, &info);
	CHECK_EQ(info.damaged, 1);
	for (n = 1; n == 1 && lsn < writer.scan.map.seg[1].lsn + 2; lsn++)
		n = spindle_log_read(log, &m);
	CHECK_EQ(n, 1);
	CHECK(!renameat(AT_FDCWD, in("copy"), writer.dir, "0000000000000001.seg"));
	expect(log, lsn, 300);
	spindle_log_info(log, &info);
	CHECK_EQ(info.damaged, 0);
	expect_same(log);
	close(fd);
	spindle_log_close(log);
	end();
}

static int says(const char *name, uint64_t era, uint64_t lsn)
{
	struct spindle_place place = { .era = era, .lsn = lsn };

	memcpy(place.lineage, writer.log.id.lineage, sizeof(place.lineage));
	return name ? spindle_log_snapshot(dir, name, &place) : spindle_log_trim(dir, &place);
}

static void expect_snap(const char *file, int err, uint64_t lsn)
{
	struct spindle_dlog_snap snap = { .lsn = 0 };

	CHECK_EQ(spindle_dlog_snap_read(writer.dir, file, &snap), err);
	CHECK_EQ(snap.lsn, lsn);
	CHECK(err || !memcmp(snap.lineage, writer.log.id.lineage, sizeof(snap.lineage)));
}

static void test_snapshot(void)
{
	static const char *const bad[] = {
		"", "A", "a.b", "a/b", "../a", " a", "abcdefghijklmnopqrstuvwxyz0123456",
	};
	unsigned int i;

	begin();
	for (i = 0; i < ARRAY_SIZE(bad); i++)
		CHECK_EQ(says(bad[i], 1, 5), -EINVAL);
	CHECK_EQ(says("bill-ing_2", 1, 110), 0);
	expect_snap("snapshot.bill-ing_2", 0, 110);
	CHECK_EQ(says("bill-ing_2", 1, 109), -ESTALE);
	expect_snap("snapshot.bill-ing_2", 0, 110);
	CHECK_EQ(says("bill-ing_2", 2, 3), 0);
	expect_snap("snapshot.bill-ing_2", 0, 3);
	CHECK(access(in("snapshot.bill-ing_2.new"), F_OK));
	CHECK_EQ(says(NULL, 1, 7), 0);
	expect_snap("trim", 0, 7);
	expect_snap("snapshot.none", -ENOENT, 0);
	/* Each byte counts, and a file that is wrong is replaced. */
	for (i = 0; i < 48; i++) {
		flip("trim", i);
		expect_snap("trim", -EBADMSG, 0);
		flip("trim", i);
	}
	CHECK(!truncate(in("trim"), 47));
	expect_snap("trim", -EBADMSG, 0);
	CHECK_EQ(says(NULL, 1, 6), 0);
	expect_snap("trim", 0, 6);
	CHECK(!unlink(in("trim")) && !symlink("snapshot.bill-ing_2", in("trim")));
	expect_snap("trim", -EBADMSG, 0);
	CHECK(!unlink(in("trim")) && !mkfifo(in("trim"), 0600));
	expect_snap("trim", -EBADMSG, 0);
	CHECK(!symlink("victim", in("snapshot.a.new")));
	CHECK_EQ(says("a", 1, 1), -ELOOP);
	CHECK(access(in("victim"), F_OK));
	end();
}

static void test_trim(void)
{
	struct spindle_log_epoch epoch;
	struct spindle_log_info info;
	struct spindle_log_msg m;
	struct spindle_log *log;

	begin();
	CHECK_EQ(file_log_write(&writer, 160, 5), 0);
	log = open_log();
	expect(log, 100, 102);
	file_log_trim(&writer, 202);
	/* What was trimmed is recycled, and has other bytes then. */
	CHECK_EQ(file_log_write(&writer, 60, 1), 0);
	CHECK_EQ(spindle_log_seek(log, 102), 0);
	CHECK_EQ(spindle_log_read(log, &m), -ESTALE);
	CHECK_EQ(spindle_log_read(log, &m), -ESTALE);
	spindle_log_info(log, &info);
	CHECK_EQ(info.low, 202);
	CHECK_EQ(info.next, 320);
	CHECK_EQ(info.damaged, 0);
	CHECK(!spindle_log_epoch(log, 0, &epoch) && epoch.vid == 21 && epoch.lsn == 202);
	CHECK_EQ(spindle_log_seek(log, 201), -ESTALE);
	CHECK_EQ(spindle_log_seek(log, info.low), 0);
	expect(log, 202, 320);
	expect_end(log);
	CHECK_EQ(spindle_log_find_time(log, 0), 0);
	expect(log, 202, 203);
	spindle_log_close(log);
	end();
}

/* A file that somebody has removed: the library looks again, and the messages are damaged. */
static void test_file_gone(void)
{
	char name[SPINDLE_DLOG_NAME];
	uint64_t from, to, end_of;
	struct spindle_log_msg m;
	struct spindle_log *log;

	begin();
	CHECK_EQ(file_log_write(&writer, 100, 1), 0);
	log = open_log();
	expect(log, 100, 103);
	end_of = writer.log.map.seg[2].lsn;
	CHECK(!spindle_dlog_name((struct spindle_dlog_file){
		.kind = SPINDLE_DLOG_SEGMENT, .id = writer.log.map.seg[1].seq }, name,
		sizeof(name)));
	CHECK(!unlink(in(name)));
	expect(log, 103, writer.log.map.seg[1].lsn);
	CHECK_EQ(spindle_log_read(log, &m), -EUCLEAN);
	CHECK_EQ(m.lsn, writer.log.map.seg[1].lsn);
	CHECK_EQ(m.next, end_of);
	CHECK_EQ(spindle_log_damaged(log, 0, &from, &to), 0);
	CHECK(from == m.lsn && to == m.next);
	expect(log, end_of, 200);
	expect_end(log);
	spindle_log_close(log);
	end();
}

static void test_damage(void)
{
	struct spindle_log_info info;
	struct spindle_log_msg m;
	struct spindle_log *log;
	uint64_t from, to;

	begin();
	CHECK_EQ(file_log_write(&writer, 60, 1), 0);
	/* A block for the head, then one for each message. */
	flip("0000000000000000.seg", 512 * 4 + 100);
	flip("0000000000000000.seg", 512 * 8 + 20);
	log = open_log();
	spindle_log_info(log, &info);
	CHECK_EQ(info.damaged, 2);
	CHECK(!spindle_log_damaged(log, 0, &from, &to) && from == 103 && to == 104);
	CHECK(!spindle_log_damaged(log, 1, &from, &to) && from == 107 && to == 108);
	CHECK_EQ(spindle_log_damaged(log, 2, &from, &to), -ENOENT);
	expect(log, 100, 103);
	CHECK_EQ(spindle_log_read(log, &m), -EUCLEAN);
	CHECK(m.lsn == 103 && m.next == 104 && !m.len && !m.data);
	expect(log, 104, 107);
	CHECK_EQ(spindle_log_read(log, &m), -EUCLEAN);
	CHECK(m.lsn == 107 && m.next == 108);
	expect(log, 108, 160);
	expect_end(log);
	spindle_log_close(log);

	/* One meta block is enough, and none is too few. */
	flip("meta.0", 30);
	CHECK_EQ(open_fails(dir, 0), 0);
	CHECK(!truncate(in("meta.1"), 100));
	CHECK_EQ(open_fails(dir, 0), -EUCLEAN);
	end();
}

/* Other files of the directory are none of the log's, and a segment is a regular file. */
static void test_foreign(void)
{
	struct spindle_log *log;

	begin();
	CHECK_EQ(file_log_write(&writer, 40, 1), 0);
	close(open(in("README"), O_CREAT | O_WRONLY, 0600));
	close(open(in("meta.0.old"), O_CREAT | O_WRONLY, 0600));
	close(open(in("00000000000000ff.seg~"), O_CREAT | O_WRONLY, 0600));
	close(open(in("00000000000000FF.seg"), O_CREAT | O_WRONLY, 0600));
	CHECK(!mkdir(in("spare.7"), 0700) && !mkfifo(in("new"), 0600));
	log = open_log();
	expect(log, 100, 140);
	expect_end(log);
	spindle_log_close(log);
	CHECK(!mkfifo(in("00000000000000ff.seg"), 0600));
	CHECK_EQ(open_fails(dir, 0), -EUCLEAN);
	CHECK(!unlink(in("00000000000000ff.seg")));
	CHECK(!symlink("/dev/zero", in("00000000000000ff.seg")));
	CHECK_EQ(open_fails(dir, 0), -ELOOP);
	CHECK(!unlink(in("00000000000000ff.seg")));
	CHECK_EQ(open_fails(dir, 0), 0);
	end();
}

static void test_two_logs(void)
{
	static struct file_log second;
	struct spindle_log *a, *b;
	uint64_t lsn;

	begin();
	make_dir(other);
	CHECK_EQ(file_log_start(&second, other, 78), 0);
	CHECK_EQ(file_log_write(&writer, 60, 1), 0);
	CHECK_EQ(file_log_write(&second, 60, 5), 0);
	a = open_log();
	CHECK_EQ(spindle_log_open(&b, other, 0), 0);
	for (lsn = 100; lsn < 160; lsn++) {
		expect(a, lsn, lsn + 1);
		expect(b, lsn, lsn + 1);
	}
	spindle_log_close(b);
	/* The same name may be another log later. */
	remove_dir(dir);
	CHECK_EQ(spindle_log_seek(a, 110), 0);
	CHECK_EQ(spindle_log_refresh(a), -ENODATA);
	spindle_log_close(a);
	CHECK(!rename(other, dir));
	a = open_log();
	remove_dir(other);
	file_log_stop(&second);
	spindle_log_close(a);
	end();
}

/* Another log in a directory that stays: the reader keeps what it knows. */
static void test_another_log(void)
{
	struct spindle_log_info info;
	struct spindle_log *log;

	begin();
	CHECK_EQ(file_log_write(&writer, 5, 1), 0);
	log = open_log();
	CHECK(!unlink(in("meta.0")) && !unlink(in("meta.1")) &&
	      !unlink(in("0000000000000000.seg")) && !unlink(in("0000000000000001.seg")));
	unlink(in("spare.0"));
	file_log_stop(&writer);
	CHECK_EQ(file_log_start(&writer, dir, 78), 0);
	CHECK_EQ(file_log_write(&writer, 9, 1), 0);
	CHECK_EQ(spindle_log_refresh(log), -EXDEV);
	spindle_log_info(log, &info);
	CHECK_EQ(info.next, 105);
	spindle_log_close(log);
	end();
}

/* A meta block names the sizes. Nothing is believed that the files do not have. */
static void test_sizes(void)
{
	struct spindle_dlog_ident id = { .block = 4096, .segment = 0x7ffff000, .frame = 4096,
					 .subgroup = 9 };
	struct spindle_dlog_meta_state state = { .low = 5, .acked = 5 };
	static unsigned char block[4096];
	struct spindle_log_info info;
	struct spindle_log *log;
	int fd;

	make_dir(dir);
	spindle_dlog_meta_build(block, &id, &state);
	fd = open(in("meta.0"), O_CREAT | O_WRONLY, 0600);
	CHECK(fd >= 0 && write(fd, block, sizeof(block)) == sizeof(block));
	close(fd);
	close(open(in("0000000000000000.seg"), O_CREAT | O_WRONLY, 0600));
	log = open_log();
	spindle_log_info(log, &info);
	CHECK(info.low == 5 && info.next == 5 && !info.segments && !info.bytes && !info.time);
	expect_end(log);
	spindle_log_close(log);
	remove_dir(dir);
}

static void trim_and_write(void)
{
	file_log_trim(&writer, writer.log.next - 20);
	if (file_log_write(&writer, 80, 1))
		tap_fail("the writer has failed");
}

/*
 * The writer trims and recycles at any point of a scan or of a read. Nothing is damaged then, and
 * each message that comes is the right one.
 */
static void test_any_point(void)
{
	struct spindle_log_msg m;
	struct spindle_log *log;
	unsigned int at, left = 0;
	uint64_t lsn;
	int n;

	hook = trim_and_write;
	for (at = 1; !left; at++) {
		begin();
		file_log_write(&writer, 70, 1);
		hook_at = at;
		log = open_log();
		n = spindle_log_seek(log, writer.log.map.low > 100 ? writer.log.map.low : 100);
		CHECK_EQ(n, 0);
		lsn = writer.log.map.low;
		while ((n = spindle_log_read(log, &m)) == 1) {
			if (!CHECK(is_right(&m) && m.lsn == lsn))
				break;
			lsn++;
		}
		/* A message that was trimmed before it was read is none that is damaged. */
		CHECK(!n || (n == -ESTALE && lsn < writer.log.map.low));
		spindle_log_close(log);
		left = hook_at;
		hook_at = 0;
		end();
	}
	printf("# the writer worked at each of %u points\n", at - 2);
	CHECK(at > 15);
}

/* The directory has an older list than the meta block, which tells of a newer segment. */
static void write_much(void)
{
	if (file_log_write(&writer, 40, 1))
		tap_fail("the writer has failed");
	file_log_trim(&writer, 105);
}

static void test_newer_meta(void)
{
	struct spindle_log_info info;
	struct spindle_log *log;
	unsigned int at;

	hook = write_much;
	for (at = 1; ; at++) {
		begin();
		file_log_write(&writer, 10, 1);
		hook_at = at;
		log = open_log();
		spindle_log_info(log, &info);
		CHECK_EQ(info.damaged, 0);
		if (hook_at)
			break;
		CHECK_EQ(spindle_log_refresh(log), 0);
		CHECK_EQ(spindle_log_seek(log, 105), 0);
		expect(log, 105, 150);
		expect_end(log);
		spindle_log_close(log);
		end();
	}
	hook_at = 0;
	spindle_log_close(log);
	end();
	CHECK(at > 6);
}

/* A read that has missed frames, and has those that follow them. */
static void write_some(void)
{
	if (file_log_write(&writer, 6, 1))
		tap_fail("the writer has failed");
}

static void test_torn_read(void)
{
	struct spindle_log_info info;
	struct spindle_log *log;
	unsigned int at, left = 0;

	hook = write_some;
	hook_after = 4096;
	for (at = 1; !left; at++) {
		begin();
		/* Six blocks of the eight that the call reads before the writer goes on. */
		file_log_write(&writer, 5, 1);
		hook_at = at;
		log = open_log();
		left = hook_at;
		hook_at = 0;
		spindle_log_info(log, &info);
		CHECK_EQ(info.damaged, 0);
		expect(log, 100, info.next);
		CHECK(info.next == 105 || info.next == 111);
		spindle_log_close(log);
		end();
	}
	hook_after = 0;
	CHECK(at > 6);
}

/* ---- any bytes ------------------------------------------------------------ */

static uint64_t seed;

static uint32_t dice(uint32_t n)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % n;
}

static void spoil(const char *name, off_t size)
{
	int fd = open(in(name), O_RDWR);
	uint32_t i, n = 1 + dice(40);

	if (fd < 0)
		return;
	if (!dice(4) && ftruncate(fd, dice((uint32_t)size)))
		tap_fail("cannot cut %s", name);
	for (i = 0; i < n; i++) {
		unsigned char c = (unsigned char)dice(256);

		CHECK(pwrite(fd, &c, 1, dice((uint32_t)size)) == 1);
	}
	close(fd);
}

static void spoil_some(void)
{
	char name[SPINDLE_DLOG_NAME];
	uint32_t i, k;

	for (i = 0; i < 1 + dice(3); i++) {
		k = dice(writer.log.map.n);
		spindle_dlog_name((struct spindle_dlog_file){
			.kind = SPINDLE_DLOG_SEGMENT, .id = writer.log.map.seg[k].seq }, name,
			sizeof(name));
		spoil(name, FILE_LOG_SEGMENT);
	}
	if (!dice(5))
		spoil(dice(2) ? "meta.0" : "meta.1", FILE_LOG_BLOCK);
}

/* Positions come in order, each one once, and a message is the right one or damaged. */
static void read_spoiled(struct spindle_log *log)
{
	struct spindle_log_info info;
	struct spindle_log_msg m;
	uint64_t lsn;
	int n;

	spindle_log_info(log, &info);
	lsn = info.low;
	while ((n = spindle_log_read(log, &m)) == 1 || n == -EUCLEAN) {
		if (!CHECK_EQ(m.lsn, lsn) || !CHECK(m.next > m.lsn))
			return;
		if (n == 1 && !CHECK(is_right(&m)))
			return;
		lsn = m.next;
	}
	CHECK_EQ(n, 0);
	CHECK_EQ(lsn, info.next);
}

static void test_any_bytes(void)
{
	struct spindle_log *log;
	uint32_t i;
	int err;

	for (i = 1; i <= 60; i++) {
		seed = i;
		begin();
		file_log_write(&writer, 80, 1 + i % 5);
		spoil_some();
		err = spindle_log_open(&log, dir, 0);
		if (!err)
			read_spoiled(log);
		else
			CHECK_EQ(err, -EUCLEAN);
		spindle_log_close(log);
		end();
	}
}

static void test_strerror(void)
{
	static const int err[] = { 0, -ENODATA, -EUCLEAN, -ESTALE, -ERANGE, -EXDEV, -EBUSY, -E2BIG,
				   -EINVAL, -ENOENT, -ENOTDIR, -EACCES, -ENOMEM, -EIO, 1 };
	size_t i, k;

	for (i = 0; i < ARRAY_SIZE(err); i++)
		for (k = 0; k < i; k++)
			CHECK(strcmp(spindle_log_strerror(err[i]), spindle_log_strerror(err[k])));
	CHECK(strstr(spindle_log_strerror(-ESTALE), "trimmed"));
	CHECK(strstr(spindle_log_strerror(-EIO), "nput/output"));
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "names of files", test_names },
		{ "no log", test_no_log },
		{ "no permission", test_no_permission },
		{ "all messages, and what the log is", test_read },
		{ "opening a log says how far it is", test_tell },
		{ "seek, and find a time", test_seek },
		{ "only what is durable", test_durable },
		{ "beside a writer", test_beside_writer },
	{ "a program says which messages it does not need", test_snapshot },
	{ "a refresh reads what has changed", test_refresh_since },
	{ "a refresh keeps what is damaged, and forgets what was trimmed", test_refresh_damage },
	{ "a refresh sees that the log was cut", test_refresh_cut },
	{ "a refresh sees that the log was cut twice", test_refresh_cut_twice },
	{ "a reader in a segment that was repaired goes on", test_refresh_repaired },
		{ "a trim under a reader", test_trim },
		{ "a file that is gone", test_file_gone },
		{ "damaged frames", test_damage },
		{ "foreign files", test_foreign },
		{ "two logs", test_two_logs },
		{ "another log in the directory", test_another_log },
		{ "sizes that the files do not have", test_sizes },
		{ "a writer at any point of a reader", test_any_point },
		{ "a meta block that is newer than the list", test_newer_meta },
		{ "a read that has missed frames", test_torn_read },
		{ "any bytes", test_any_bytes },
		{ "texts", test_strerror },
	};

	alarm(300);
	return tap_run(cases, ARRAY_SIZE(cases));
}
