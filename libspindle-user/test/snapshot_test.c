// SPDX-License-Identifier: GPL-2.0-only
/*
 * Self-test of snapshots beside a log that the core writes in a temporary directory. TAP on stdout.
 *
 * The log has the positions 100 to 199: those below 150 are of era 3, the others of era 5.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <spindle/log.h>
#include <spindle/snapshot.h>

#include "disk_calls.h"
#include "file_log.h"
#include "log/snap.h"
#include "tap.h"

#define LOW	100U
#define CUT	150U
#define NEXT	200U
#define NAME	"test"
#define SUBGROUP	2U
/* Bytes of a state: more than are read at once. */
#define STATE	600000U

static struct file_log writer;
static char dir[64];
static const uint64_t lineage[2] = { 1, 2 };

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void append(uint64_t end, uint64_t era)
{
	struct spindle_dlog_msg m = { .era = era, .vid = 1, .node = 1, .data = "x", .len = 1 };

	while (writer.log.next < end) {
		m.lsn = writer.log.next;
		m.time = m.lsn;
		if (file_log_append(&writer, &m, true))
			bail_out("cannot write");
	}
}

static void begin(void)
{
	struct spindle_dlog_ident id = {
		.subgroup = SUBGROUP, .node = 7, .block = FILE_LOG_BLOCK,
		.segment = FILE_LOG_SEGMENT, .frame = FILE_LOG_FRAME, .salt = 5,
	};

	memcpy(id.lineage, lineage, sizeof(id.lineage));
	strcpy(dir, "/tmp/spindle-snapshot-XXXXXX");
	if (!mkdtemp(dir) || file_log_start_as(&writer, dir, &id, LOW))
		bail_out("no log");
	append(CUT, 3);
	append(NEXT, 5);
}

static void end(void)
{
	file_log_stop(&writer);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static struct spindle_place place(uint64_t era, uint64_t lsn)
{
	return (struct spindle_place){
		.lineage = { lineage[0], lineage[1] }, .era = era, .lsn = lsn,
	};
}

static const char *file_of(uint64_t lsn)
{
	static char path[128];

	snprintf(path, sizeof(path), "%s/snap." NAME ".%016llx", dir, (unsigned long long)lsn);
	return path;
}

static unsigned char byte_of(uint64_t lsn, uint32_t i)
{
	return (unsigned char)(lsn * 7 + i / 3);
}

static int write_state(int fd, uint64_t lsn)
{
	static unsigned char buf[STATE];
	uint32_t i;

	for (i = 0; i < STATE; i++)
		buf[i] = byte_of(lsn, i);
	return write(fd, buf, STATE) == (ssize_t)STATE ? 0 : -EIO;
}

static int make(const struct spindle_place *at)
{
	struct spindle_snapshot *s;
	int err = spindle_snapshot_create(&s, dir, NAME, SUBGROUP);

	if (err)
		return err;
	if (write_state(spindle_snapshot_fd(s), at->lsn)) {
		spindle_snapshot_abandon(s);
		return -EIO;
	}
	return spindle_snapshot_commit(s, at);
}

static int make_at(uint64_t era, uint64_t lsn)
{
	struct spindle_place at = place(era, lsn);

	return make(&at);
}

static bool is_state(int fd, uint64_t lsn)
{
	static unsigned char buf[STATE + 1];
	uint32_t i;

	if (read(fd, buf, sizeof(buf)) != (ssize_t)STATE)
		return false;
	for (i = 0; i < STATE; i++)
		if (buf[i] != byte_of(lsn, i))
			return false;
	return true;
}

/* The position of the snapshot that is opened by a group of this era; 0: none is. */
static uint64_t opened(uint64_t era)
{
	struct spindle_place group = place(era, 0), at;
	int fd = spindle_snapshot_open(dir, NAME, SUBGROUP, &group, &at);

	CHECK_EQ(at.era, era);
	if (fd < 0) {
		CHECK_EQ(fd, -ENODATA);
		CHECK_EQ(at.lsn, writer.log.map.low);
		return 0;
	}
	CHECK(is_state(fd, at.lsn));
	close(fd);
	return at.lsn;
}

static void expect_told(uint64_t lsn)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY);
	struct spindle_dlog_snap snap;

	CHECK_EQ(spindle_dlog_snap_read(fd, "snapshot." NAME, &snap), 0);
	CHECK_EQ(snap.lsn, lsn);
	close(fd);
}

static void flip(const char *path, off_t at)
{
	int fd = open(path, O_RDWR);
	unsigned char c;

	CHECK(pread(fd, &c, 1, at) == 1);
	c ^= 1;
	CHECK(pwrite(fd, &c, 1, at) == 1);
	close(fd);
}

/* ---- cases ------------------------------------------------------------------ */

static void test_two(void)
{
	begin();
	CHECK_EQ(opened(5), 0);
	CHECK_EQ(make_at(5, 160), 0);
	CHECK_EQ(opened(5), 160);
	expect_told(160);
	CHECK_EQ(make_at(5, 170), 0);
	CHECK_EQ(opened(5), 170);
	expect_told(160);
	CHECK_EQ(make_at(5, 180), 0);
	CHECK_EQ(opened(5), 180);
	/* The log keeps what is behind the older one. */
	expect_told(170);
	CHECK(access(file_of(160), F_OK) && !access(file_of(170), F_OK));
	end();
}

static void test_damage(void)
{
	uint32_t i;

	begin();
	CHECK_EQ(make_at(5, 160), 0);
	CHECK_EQ(make_at(5, 170), 0);
	for (i = 0; i < SPINDLE_DLOG_SNAP_HEAD; i++) {
		flip(file_of(170), i);
		CHECK_EQ(opened(5), 160);
		flip(file_of(170), i);
	}
	for (i = 0; i < STATE; i += STATE / 3 - 1) {
		flip(file_of(170), SPINDLE_DLOG_SNAP_HEAD + i);
		CHECK_EQ(opened(5), 160);
		flip(file_of(170), SPINDLE_DLOG_SNAP_HEAD + i);
	}
	CHECK_EQ(opened(5), 170);
	CHECK(!truncate(file_of(170), SPINDLE_DLOG_SNAP_HEAD + STATE - 1));
	CHECK_EQ(opened(5), 160);
	CHECK(!truncate(file_of(170), SPINDLE_DLOG_SNAP_HEAD + STATE + 1));
	CHECK_EQ(opened(5), 160);
	flip(file_of(160), SPINDLE_DLOG_SNAP_HEAD);
	CHECK_EQ(opened(5), 0);
	/* One that does not check is none of the two that are kept. */
	CHECK_EQ(make_at(5, 180), 0);
	CHECK_EQ(opened(5), 180);
	CHECK(access(file_of(170), F_OK));
	end();
}

/* A snapshot of era 3 counts in era 5 if the group has gone on from it. */
static void test_eras(void)
{
	struct spindle_place at = place(3, 120);

	begin();
	CHECK_EQ(make_at(3, CUT), 0);
	CHECK_EQ(opened(5), CUT);
	CHECK_EQ(make_at(3, CUT + 1), 0);
	CHECK_EQ(opened(5), CUT);
	CHECK_EQ(opened(3), CUT + 1);
	/* One of era 5 is newer than each one of era 3. */
	CHECK_EQ(make_at(5, 120), 0);
	CHECK_EQ(opened(5), 120);
	CHECK(access(file_of(CUT), F_OK));
	/* No group has a snapshot of a later era. */
	CHECK_EQ(make_at(6, 190), 0);
	CHECK_EQ(opened(5), 120);
	at.lineage[1] = 9;
	at.era = 5;
	CHECK_EQ(make(&at), 0);
	CHECK_EQ(opened(5), 0);
	end();
}

/* Nothing is known of a position that the log does not have the message in front of. */
static void test_ends_of_log(void)
{
	begin();
	CHECK_EQ(make_at(3, LOW - 1), 0);
	CHECK_EQ(opened(5), 0);
	CHECK_EQ(opened(3), 0);
	CHECK_EQ(make_at(3, LOW), 0);
	CHECK_EQ(opened(5), LOW);
	CHECK_EQ(make_at(3, NEXT + 1), 0);
	CHECK_EQ(opened(5), LOW);
	CHECK_EQ(opened(3), NEXT + 1);
	file_log_trim(&writer, CUT);
	CHECK_EQ(make_at(3, CUT), 0);
	CHECK_EQ(opened(5), 0);
	CHECK_EQ(opened(3), NEXT + 1);
	end();
}

/* The log was cut, and nothing was written since. */
static void test_cut(void)
{
	begin();
	file_log_stop(&writer);
	CHECK_EQ(file_log_cut(&writer, dir, 140), 0);
	CHECK_EQ(make_at(3, 140), 0);
	CHECK_EQ(make_at(3, 141), 0);
	CHECK_EQ(opened(7), 140);
	CHECK_EQ(file_log_start(&writer, dir, 5), 0);
	append(145, 7);
	CHECK_EQ(opened(7), 140);
	end();
}

static void test_no_room(void)
{
	struct rlimit limit = { STATE / 2, RLIM_INFINITY };

	begin();
	CHECK_EQ(make_at(5, 160), 0);
	signal(SIGXFSZ, SIG_IGN);
	CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
	CHECK_EQ(make_at(5, 170), -EIO);
	limit.rlim_cur = RLIM_INFINITY;
	CHECK(!setrlimit(RLIMIT_FSIZE, &limit));
	CHECK_EQ(opened(5), 160);
	expect_told(160);
	CHECK_EQ(make_at(5, 170), 0);
	CHECK_EQ(opened(5), 170);
	end();
}

/* A file that other users may have written. */
static void test_owners(void)
{
	begin();
	CHECK_EQ(make_at(5, 160), 0);
	CHECK_EQ(make_at(5, 170), 0);
	CHECK(!chmod(file_of(170), 0664));
	CHECK_EQ(opened(5), 160);
	CHECK(!chmod(file_of(170), 0646));
	CHECK_EQ(opened(5), 160);
	CHECK(!chmod(file_of(170), 0600));
	CHECK_EQ(opened(5), 170);
	/* Only root can give a file away. */
	if (!geteuid()) {
		CHECK(!chown(file_of(170), 12345, 0));
		CHECK_EQ(opened(5), 160);
		CHECK_EQ(make_at(5, 180), 0);
		CHECK(access(file_of(170), F_OK) && !access(file_of(160), F_OK));
	}
	end();
}

static void write_head(const char *path, const struct spindle_dlog_snapshot *st)
{
	struct spindle_dlog_snapshot_disk head;
	int fd = open(path, O_WRONLY);

	spindle_dlog_snapshot_build(&head, st);
	CHECK(pwrite(fd, &head, sizeof(head), 0) == sizeof(head));
	close(fd);
}

/* Heads whose checksum is right, and which say what is not so. */
static void test_heads(void)
{
	static const uint64_t bytes[] = {
		0, 1, STATE - 1, STATE + 1, INT64_MAX - SPINDLE_DLOG_SNAP_HEAD, INT64_MAX,
		UINT64_MAX - SPINDLE_DLOG_SNAP_HEAD, UINT64_MAX - SPINDLE_DLOG_SNAP_HEAD + 1,
		UINT64_MAX,
	};
	struct spindle_dlog_snapshot st = {
		.at = { .era = 5, .lsn = 170 }, .subgroup = SUBGROUP,
	};
	char path[128];
	uint32_t i;

	begin();
	memcpy(st.at.lineage, lineage, sizeof(st.at.lineage));
	CHECK_EQ(make_at(5, 160), 0);
	CHECK_EQ(make_at(5, 170), 0);
	for (i = 0; i < sizeof(bytes) / sizeof(*bytes); i++) {
		st.bytes = bytes[i];
		write_head(file_of(170), &st);
		CHECK_EQ(opened(5), 160);
	}
	/* The name of another place, and a file without a state. */
	CHECK_EQ(make_at(5, 170), 0);
	snprintf(path, sizeof(path), "%s", file_of(190));
	CHECK(!rename(file_of(170), path));
	CHECK_EQ(opened(5), 160);
	CHECK(!truncate(path, SPINDLE_DLOG_SNAP_HEAD));
	CHECK_EQ(opened(5), 160);
	CHECK(!truncate(path, 0));
	CHECK_EQ(opened(5), 160);
	end();
}

/* Snapshots of another subgroup or lineage neither count nor take the place of others. */
static void test_others(void)
{
	struct spindle_place at = place(5, 190), group = place(5, 0);
	struct spindle_snapshot *s;

	begin();
	CHECK_EQ(spindle_snapshot_create(&s, dir, NAME, SUBGROUP + 1), 0);
	CHECK_EQ(write_state(spindle_snapshot_fd(s), 190), 0);
	CHECK_EQ(spindle_snapshot_commit(s, &at), 0);
	CHECK_EQ(opened(5), 0);
	CHECK_EQ(spindle_snapshot_open(dir, NAME, SUBGROUP + 1, &group, &at), -EXDEV);
	CHECK(!remove(strcat(dir, "/snapshot." NAME)));
	dir[strlen(dir) - strlen("/snapshot." NAME)] = '\0';
	at = place(9, 195);
	at.lineage[1] = 9;
	CHECK_EQ(make(&at), 0);
	CHECK_EQ(opened(5), 0);
	CHECK_EQ(make_at(5, 160), 0);
	CHECK_EQ(make_at(5, 170), 0);
	CHECK_EQ(make_at(5, 180), 0);
	CHECK_EQ(opened(5), 180);
	expect_told(170);
	CHECK(access(file_of(160), F_OK) && !access(file_of(170), F_OK));
	/* Nobody removes those. */
	CHECK(!access(file_of(190), F_OK));
	CHECK(!access(file_of(195), F_OK));
	group.lineage[1] = 9;
	CHECK_EQ(spindle_snapshot_open(dir, NAME, SUBGROUP, &group, &at), -EXDEV);
	end();
}

/* ---- a crash at any time ------------------------------------------------------ */

/* Calls that change the disk, as letters. From the call @crash_at on they fail; 0: none does. */
static char calls[32];
static uint32_t crash_at;

static bool fails(char what)
{
	size_t n = strlen(calls);

	if (n + 1 < sizeof(calls))
		calls[n] = what;
	if (!crash_at || n + 1 < crash_at)
		return false;
	errno = EIO;
	return true;
}

int __wrap_fsync(int fd)
{
	struct stat st;

	fstat(fd, &st);
	return fails(S_ISDIR(st.st_mode) ? 'd' : 'f') ? -1 : __real_fsync(fd);
}

int __wrap_renameat(int from_dir, const char *from, int to_dir, const char *to)
{
	return fails('r') ? -1 : __real_renameat(from_dir, from, to_dir, to);
}

int __wrap_unlinkat(int at, const char *file, int flags)
{
	return fails('u') ? -1 : __real_unlinkat(at, file, flags);
}

static void test_crash(void)
{
	static const char order[] = "ufrdufrdu";
	uint64_t newest;

	for (crash_at = 0; crash_at < sizeof(order); crash_at++) {
		uint32_t crash = crash_at;

		crash_at = 0;
		begin();
		CHECK_EQ(make_at(5, 160), 0);
		CHECK_EQ(make_at(5, 170), 0);
		memset(calls, 0, sizeof(calls));
		crash_at = crash;
		make_at(5, 180);
		crash_at = 0;
		/* File, name, directory; then the oldest one goes, and the log is told. */
		CHECK(!strncmp(calls, order, crash ? crash : sizeof(order)));
		newest = opened(5);
		CHECK_EQ(newest, crash && crash < 4 ? 170 : 180);
		/* The one before is there as well, and so is what is behind that. */
		flip(file_of(newest), SPINDLE_DLOG_SNAP_HEAD);
		CHECK_EQ(opened(5), newest - 10);
		expect_told(crash && crash < 8 ? 160 : 170);
		end();
		crash_at = crash;
	}
	crash_at = 0;
}

/* A crash has left a file, and somebody has put others into the directory. */
static void test_files(void)
{
	static const char *const bad[] = { "", "A", "a.b", "a/b", "../a" };
	char path[128], to[128];
	struct spindle_snapshot *s;
	struct stat st;
	uint64_t lsn;
	uint32_t i;
	int fd;

	begin();
	snprintf(path, sizeof(path), "%s/snap." NAME ".new", dir);
	fd = open(path, O_WRONLY | O_CREAT, 0600);
	CHECK(!ftruncate(fd, 3 * STATE));
	close(fd);
	CHECK_EQ(make_at(5, 160), 0);
	CHECK_EQ(opened(5), 160);
	CHECK(access(path, F_OK));
	/* What somebody has put there is not written to. */
	snprintf(to, sizeof(to), "%s/victim", dir);
	close(open(to, O_WRONLY | O_CREAT, 0600));
	CHECK(!symlink("victim", path));
	CHECK_EQ(make_at(5, 160), 0);
	CHECK(!link(to, path));
	CHECK_EQ(make_at(5, 160), 0);
	CHECK(!mkfifo(path, 0600));
	CHECK_EQ(make_at(5, 160), 0);
	CHECK_EQ(opened(5), 160);
	CHECK(!stat(to, &st) && !st.st_size);
	CHECK(!mkfifo(file_of(180), 0600));
	CHECK(!mkdir(file_of(190), 0700));
	CHECK_EQ(opened(5), 160);
	CHECK_EQ(make_at(5, 170), 0);
	snprintf(path, sizeof(path), "%s", file_of(170));
	CHECK(!rename(path, to));
	CHECK(!symlink("victim", path));
	CHECK_EQ(opened(5), 160);
	for (i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		CHECK_EQ(spindle_snapshot_create(&s, dir, bad[i], SUBGROUP), -EINVAL);
	CHECK(spindle_dlog_snapshot_lsn("snap.a.00000000000000ff", "a", &lsn) && lsn == 255);
	CHECK(!spindle_dlog_snapshot_lsn("snap.a.00000000000000FF", "a", &lsn));
	CHECK(!spindle_dlog_snapshot_lsn("snap.a.ff", "a", &lsn));
	CHECK(!spindle_dlog_snapshot_lsn("snap.a.new", "a", &lsn));
	CHECK(!spindle_dlog_snapshot_lsn("snap.b.00000000000000ff", "a", &lsn));
	CHECK(!spindle_dlog_snapshot_lsn("snap", "a", &lsn));
	end();
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "the newest two are kept, and the log behind the older one", test_two },
		{ "a damaged snapshot leaves the one before", test_damage },
		{ "a snapshot that the group has not gone on from", test_eras },
		{ "the ends of the log", test_ends_of_log },
		{ "a log that was cut", test_cut },
		{ "a disk without room", test_no_room },
		{ "a file of another user", test_owners },
		{ "a head that lies", test_heads },
		{ "another subgroup and another lineage", test_others },
		{ "a crash at any time", test_crash },
		{ "other files", test_files },
	};

	alarm(300);
	return tap_run(cases, sizeof(cases) / sizeof(*cases));
}
