// SPDX-License-Identifier: GPL-2.0-only
/*
 * The port of spindle-logd in a real directory. A process appends, trims, and is killed at any
 * moment, many times. Each time the scan of another process has to find all that was reported as
 * persisted.
 *
 * The kernel survives, so this is no test of a disk. selftests/log has a model disk for that.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>

#include "log.h"
#include "logd/io.h"
#include "tap.h"

#define SEGMENT		(128U << 10)
#define FRAME		(16U << 10)
#define SEGMENTS	64U
#define FILES		(SEGMENTS + 16)
#define LEN_MAX		3000U
#define ROUNDS		40
#define DEPTH		3U
/* Records that stay behind a trim. */
#define KEEP		400U
#define LINEAGE		"0123456789abcde"

/* What the process that writes reports to the one that kills it. */
struct report {
	uint64_t persisted;
	uint64_t trimmed;
	uint64_t error;
};

struct store {
	struct logd_port io;
	struct spindle_dlog_scan scan;
	struct spindle_dlog log;
	struct spindle_dlog_file file[FILES];
	struct spindle_dlog_segment seg[SEGMENTS];
	struct spindle_dlog_range damaged[4];
	int lock;
};

static struct report *report;
static struct store store;
static char dir[64];
static uint64_t seed = 1;

static uint64_t draw(uint64_t below)
{
	seed = seed * 6364136223846793005U + 1442695040888963407U;
	return (seed >> 33) % below;
}

static void *aligned(size_t bytes)
{
	void *p = aligned_alloc(LOGD_BLOCK, bytes);

	if (!p)
		abort();
	return p;
}

/* The bytes of a record follow from its position. */
static struct spindle_dlog_msg make(uint64_t lsn, unsigned char *buf)
{
	uint32_t len = (uint32_t)(lsn * 2654435761U % LEN_MAX), i;

	for (i = 0; i < len; i++)
		buf[i] = (unsigned char)(lsn * 31 + i * (lsn % 7 + 1));
	return (struct spindle_dlog_msg){
		.lsn = lsn, .era = 1, .vid = 1 + lsn / 1000, .slot = lsn / 3, .data = buf,
		.node = (uint32_t)(lsn % 3 + 1), .sender = (uint32_t)(lsn % 3), .len = len,
	};
}

/* ---- the process that writes ------------------------------------------------- */

/* Open and lock the directory, and scan it. Return: 0 or a negative errno. */
static int store_open(struct store *s, bool ring)
{
	char path[96];
	int err;

	snprintf(path, sizeof(path), "%s/LOCK", dir);
	s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	/* Writes of a process that was killed end some time later, and then the lock is free. */
	if (s->lock < 0 || flock(s->lock, LOCK_EX))
		return -errno;
	err = logd_port_open(&s->io, dir, s->lock, ring, DEPTH);
	if (err)
		return err;
	s->scan = (struct spindle_dlog_scan){
		.port = &s->io.port, .file = s->file, .max_files = FILES,
		.map = { .seg = s->seg, .max = SEGMENTS }, .id.frame = FRAME,
		.damaged = s->damaged, .max_damaged = ARRAY_SIZE(s->damaged),
		.window = { .buf = aligned(FRAME), .size = FRAME },
	};
	return spindle_dlog_recover(&s->scan);
}

static int store_start(struct store *s)
{
	struct spindle_dlog_config c = {
		.depth = DEPTH, .commit = FRAME / 2, .spares = 2, .meta = aligned(LOGD_BLOCK),
	};
	uint32_t i;

	for (i = 0; i <= DEPTH; i++)
		c.slot[i] = aligned(LOGD_BLOCK + FRAME);
	if (s->scan.is_new) {
		s->scan.id = (struct spindle_dlog_ident){
			.lineage = LINEAGE, .subgroup = 1, .node = 2, .block = LOGD_BLOCK,
			.segment = SEGMENT, .frame = FRAME, .salt = 42,
		};
	}
	return spindle_dlog_start(&s->log, &c, &s->scan);
}

static void op_done(void *arg, uint32_t token, int err)
{
	struct store *s = arg;

	if (err)
		__atomic_store_n(&report->error, (uint64_t)-err, __ATOMIC_SEQ_CST);
	spindle_dlog_done(&s->log, token, err);
}

static void trim(struct store *s)
{
	uint64_t lsn = s->log.persisted - KEEP;

	if (s->log.persisted < KEEP || lsn - report->trimmed < 100)
		return;
	__atomic_store_n(&report->trimmed, lsn, __ATOMIC_SEQ_CST);
	if (spindle_dlog_trim(&s->log, lsn))
		abort();
}

static void write_on(struct store *s)
{
	static unsigned char buf[LEN_MAX];
	struct pollfd fd = { .fd = s->io.event, .events = POLLIN };
	int err = 0, n = 0;

	while (!err && n++ < 50) {
		struct spindle_dlog_msg m = make(s->log.next, buf);

		err = spindle_dlog_append(&s->log, &m, 1);
	}
	if (err && err != -EAGAIN && err != -ENOSPC)
		abort();
	spindle_dlog_commit(&s->log, 1);
	poll(&fd, 1, 1);
	logd_port_reap(&s->io, op_done, s);
	__atomic_store_n(&report->persisted, s->log.persisted, __ATOMIC_SEQ_CST);
	trim(s);
}

static void child(bool ring)
{
	int err = store_open(&store, ring);

	if (!err)
		err = store_start(&store);
	if (err) {
		__atomic_store_n(&report->error, (uint64_t)-err, __ATOMIC_SEQ_CST);
		_exit(1);
	}
	for (;;)
		write_on(&store);
}

/* ---- the process that kills ---------------------------------------------------- */

static void nap(uint64_t us)
{
	struct timespec t = { .tv_nsec = (long)us * 1000 };

	nanosleep(&t, NULL);
}

/* Kill the writer when it has persisted some more. Return: whether it has. */
static bool one_life(bool ring)
{
	uint64_t until = __atomic_load_n(&report->persisted, __ATOMIC_SEQ_CST) + 1 + draw(600);
	unsigned int waits = 0;
	pid_t pid = fork();

	if (pid < 0)
		return false;
	if (!pid)
		child(ring);
	/* A minute only bounds a failure. */
	while (__atomic_load_n(&report->persisted, __ATOMIC_SEQ_CST) < until && !report->error &&
	       waits++ < 60000)
		nap(1000);
	nap(draw(3000));
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
	return report->persisted >= until && !report->error;
}

static bool is_right(const struct spindle_dlog_msg *m, uint64_t lsn)
{
	static unsigned char buf[LEN_MAX];
	struct spindle_dlog_msg want = make(lsn, buf);

	return m->lsn == lsn && m->era == want.era && m->vid == want.vid && m->slot == want.slot &&
	       m->node == want.node && m->sender == want.sender && m->len == want.len &&
	       !memcmp(m->data, buf, m->len);
}

/* Read all records. Return: the position behind the last one that is right. */
static uint64_t read_all(struct store *s)
{
	struct spindle_dlog_reader r = {
		.port = s->scan.port, .id = &s->scan.id, .map = &s->scan.map,
		.window = { .buf = aligned(FRAME), .size = FRAME },
	};
	uint64_t lsn = s->scan.map.low;
	struct spindle_dlog_msg m;

	spindle_dlog_seek(&r, lsn);
	while (spindle_dlog_read(&r, &m) == 1 && is_right(&m, lsn))
		lsn++;
	free(r.window.buf);
	return lsn;
}

static void look(bool ring, bool *low_moves)
{
	static struct store s;
	int err = store_open(&s, ring);

	CHECK_EQ(err, 0);
	CHECK_EQ(s.scan.n_damaged, 0);
	CHECK(s.scan.next >= report->persisted);
	CHECK(s.scan.map.low <= report->trimmed);
	CHECK_EQ(read_all(&s), s.scan.next);
	*low_moves |= s.scan.map.low > 0;
	logd_port_close(&s.io);
	close(s.lock);
	free(s.scan.window.buf);
}

static void clean(void)
{
	DIR *d = opendir(dir);
	struct dirent *e;

	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(dir);
}

static void test_kill(bool ring)
{
	bool low_moves = false;
	int i;

	*report = (struct report){ 0 };
	for (i = 0; i < ROUNDS && !tap_failures; i++) {
		CHECK(one_life(ring));
		look(ring, &low_moves);
	}
	CHECK(low_moves);
	CHECK(report->persisted > ROUNDS);
}

static bool begin(void)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(dir, sizeof(dir), "%s/logd-test.XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
	return mkdtemp(dir);
}

static bool ring_is_allowed(void)
{
	int fd = open("/dev/null", O_RDONLY | O_CLOEXEC), event = eventfd(0, EFD_CLOEXEC);
	struct logd_ring *ring;
	bool allowed = !logd_ring_open(&ring, event, fd);

	if (allowed)
		logd_ring_close(ring);
	close(event);
	close(fd);
	return allowed;
}

static void foreign_files(void)
{
	struct spindle_dlog_file file[4];
	char path[96];

	*report = (struct report){ 0 };
	CHECK(!store_open(&store, false));
	CHECK(store.scan.is_new);
	snprintf(path, sizeof(path), "%s/notes.seg", dir);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	snprintf(path, sizeof(path), "%s/00000000000000ff.seg", dir);
	close(open(path, O_CREAT | O_WRONLY, 0600));
	CHECK(store.io.port.list(&store.io, file, 4) == 1);
	CHECK(file[0].kind == SPINDLE_DLOG_SEGMENT && file[0].id == 255);
	CHECK(store.io.port.list(&store.io, file, 0) == -E2BIG);
	logd_port_close(&store.io);
	close(store.lock);
}

/* A process that may not open its directory fails, and a bad name is an error with words. */
static void errors(void)
{
	static const struct spindle_dlog_op op = {
		.what = SPINDLE_DLOG_REMOVE, .token = 7,
		.file = { .kind = SPINDLE_DLOG_SEGMENT, .id = 1 },
	};
	static struct logd_port io;
	struct pollfd fd;

	CHECK(logd_port_open(&io, "/nonexistent", -1, false, 1) == -ENOENT);
	*report = (struct report){ 0 };
	CHECK(!store_open(&store, false));
	store.log.failed = true;
	store.io.port.submit(&store.io, &op);
	fd = (struct pollfd){ .fd = store.io.event, .events = POLLIN };
	CHECK(poll(&fd, 1, 10000) == 1);
	logd_port_reap(&store.io, op_done, &store);
	CHECK_EQ(report->error, ENOENT);
	CHECK(!strcmp(store.io.error,
		      "cannot remove 0000000000000001.seg: No such file or directory"));
	logd_port_close(&store.io);
	close(store.lock);
}

static void in_dir(const char *name, void (*test)(void))
{
	tap_begin(name);
	CHECK(begin());
	test();
	tap_report();
	clean();
}

static void by_ring(void)
{
	test_kill(true);
}

static void by_threads(void)
{
	test_kill(false);
}

int main(void)
{
	report = mmap(NULL, sizeof(*report), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (report == MAP_FAILED)
		return 1;
	seed = (uint64_t)time(NULL);
	printf("# seed %llu\n", (unsigned long long)seed);
	in_dir("files of others are no part of a log", foreign_files);
	in_dir("an operation that fails says why", errors);
	in_dir("threads lose nothing that was persisted when their process is killed",
	       by_threads);
	if (ring_is_allowed())
		in_dir("io_uring loses nothing that was persisted when its process is killed",
		       by_ring);
	else
		ok(true, "io_uring # SKIP this kernel does not allow it");
	return tap_end();
}
