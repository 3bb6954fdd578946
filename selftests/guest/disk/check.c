// SPDX-License-Identifier: GPL-2.0-only
/* What the disk has of a log: scan it, read it, go on with it, and scan it again. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

#include "disk-cuts.h"
#include "logd/io.h"
#include "logd/record.h"

#define FRAME		(256U << 10)
#define SEGMENTS	256U
#define FILES		(SEGMENTS + 16)
#define DAMAGED		4U
#define DEPTH		2U
/* Messages that the next life appends. */
#define MORE		3U

struct store {
	struct logd_port io;
	struct spindle_dlog_scan scan;
	struct spindle_dlog log;
	struct spindle_dlog_file file[FILES];
	struct spindle_dlog_segment seg[SEGMENTS];
	struct spindle_dlog_range damaged[DAMAGED];
	int lock;
};

static struct store store;
static unsigned char *window, *meta, *slot[DEPTH + 1];

static unsigned char *aligned(size_t bytes)
{
	void *p = aligned_alloc(LOGD_BLOCK, bytes);

	if (!p)
		fail("no memory");
	return p;
}

static void make_memory(void)
{
	uint32_t i;

	if (window)
		return;
	window = aligned(FRAME);
	meta = aligned(LOGD_BLOCK);
	for (i = 0; i <= DEPTH; i++)
		slot[i] = aligned(LOGD_BLOCK + FRAME);
}

static bool store_open(struct store *s, const char *dir)
{
	char path[96];
	int err;

	make_memory();
	snprintf(path, sizeof(path), "%s/LOCK", dir);
	s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (s->lock < 0)
		return false;
	err = logd_port_open(&s->io, dir, s->lock, false, DEPTH);
	if (err)
		fail("cannot use %s: %s", dir, strerror(-err));
	s->scan = (struct spindle_dlog_scan){
		.port = &s->io.port, .file = s->file, .max_files = FILES,
		.map = { .seg = s->seg, .max = SEGMENTS }, .id.frame = FRAME,
		.damaged = s->damaged, .max_damaged = DAMAGED,
		.window = { .buf = window, .size = FRAME },
	};
	err = spindle_dlog_recover(&s->scan);
	if (err)
		complain("the scan of the log fails: %s", strerror(-err));
	return !err;
}

static void store_close(struct store *s)
{
	if (s->lock < 0)
		return;
	logd_port_close(&s->io);
	close(s->lock);
}

/* ---- messages ---------------------------------------------------------------- */

/* Is this the message of its position? */
static bool is_right(const struct spindle_dlog_msg *m, uint64_t lsn)
{
	static unsigned char want[LEN_MAX];
	uint32_t len;

	fill(lsn, want, &len);
	return m->lsn == lsn && m->len == len && !memcmp(m->data, want, len) && m->node == 1 &&
	       m->sender == 0;
}

/* All messages are there, in order, each of them once. */
static bool read_all(struct store *s)
{
	struct spindle_dlog_reader r = {
		.port = s->scan.port, .id = &s->scan.id, .map = &s->scan.map,
		.window = { .buf = window, .size = FRAME },
	};
	struct spindle_dlog_msg m;
	uint64_t lsn, vid = 0;
	int n = 1;

	spindle_dlog_seek(&r, s->scan.map.low);
	for (lsn = s->scan.map.low; (n = spindle_dlog_read(&r, &m)) == 1; lsn++) {
		if (!is_right(&m, lsn) || m.vid < vid) {
			complain("position %" PRIu64 " has another message", lsn);
			return false;
		}
		vid = m.vid;
	}
	if (n || lsn != s->scan.next)
		complain("the log ends at %" PRIu64 " and not at %" PRIu64 ": %d", lsn,
			 s->scan.next, n);
	return !n && lsn == s->scan.next;
}

/* ---- the next life ------------------------------------------------------------- */

static void op_done(void *arg, uint32_t token, int err)
{
	struct store *s = arg;

	if (err)
		complain("the next life: %s", s->io.error);
	spindle_dlog_done(&s->log, token, err);
}

static bool wait_for(struct store *s)
{
	struct pollfd fd = { .fd = s->io.event, .events = POLLIN };

	if (poll(&fd, 1, 60000) != 1) {
		complain("the next life waits without an end");
		return false;
	}
	logd_port_reap(&s->io, op_done, s);
	return spindle_dlog_state(&s->log) != SPINDLE_DLOG_FAILED;
}

static bool append(struct store *s, uint64_t lsn)
{
	static unsigned char buf[LEN_MAX];
	struct spindle_dlog_msg m = {
		.lsn = lsn, .era = s->scan.last_epoch.era, .vid = s->scan.last_epoch.vid,
		.slot = lsn, .node = 1, .data = buf,
	};
	int err;

	fill(lsn, buf, &m.len);
	while ((err = spindle_dlog_append(&s->log, &m, s->scan.time + 1)))
		if ((err != -EAGAIN && err != -ENOSPC) || !wait_for(s))
			return false;
	return true;
}

/* Go on with the log, as spindle-logd does. */
static bool go_on(struct store *s)
{
	struct spindle_dlog_config c = {
		.depth = DEPTH, .commit = FRAME / 2, .spares = 1, .meta = meta,
		.policy = SPINDLE_DLOG_BLOCK,
	};
	uint64_t next = s->scan.next;
	uint32_t i;
	int err;

	for (i = 0; i <= DEPTH; i++)
		c.slot[i] = slot[i];
	err = spindle_dlog_start(&s->log, &c, &s->scan);
	if (err) {
		complain("the next life does not begin: %s", strerror(-err));
		return false;
	}
	for (i = 0; i < MORE; i++)
		if (!append(s, next + i))
			return false;
	spindle_dlog_commit(&s->log, s->scan.time + 1);
	while (s->log.persisted < next + MORE)
		if (!wait_for(s))
			return false;
	return true;
}

/* ---- all of it ------------------------------------------------------------------- */

static bool is_kept(const struct promise *p, const struct found *f)
{
	if (f->next >= p->persisted && f->next <= p->sent && f->low <= p->persisted &&
	    f->record >= p->record)
		return true;
	complain("found positions %" PRIu64 " to %" PRIu64 " and record %" PRIu64 ", reported "
		 "%" PRIu64 " to %" PRIu64 " and %" PRIu64 " of %" PRIu64, f->low, f->next,
		 f->record, p->low, p->persisted, p->record, p->sent);
	return false;
}

static bool check_record(const char *dir, struct found *f)
{
	const struct spindle_restart_view *newest;
	struct logd_records r;
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC), err;

	if (fd < 0)
		return true;
	err = logd_records_open(&r, fd);
	close(fd);
	newest = logd_record_newest(&r.now);
	f->record = newest ? newest->id.vid : 0;
	if (err)
		complain("the view record: %s", strerror(-err));
	return !err;
}

static bool check_scan(const struct store *s)
{
	if (!s->scan.n_damaged)
		return true;
	complain("positions %" PRIu64 " to %" PRIu64 " are said to be damaged",
		 s->damaged[0].from, s->damaged[0].to);
	return false;
}

/* The next life is a process of the same disk. */
static bool check_next_life(const char *dir, const struct found *f)
{
	bool good = go_on(&store);

	store_close(&store);
	if (!good)
		return false;
	good = store_open(&store, dir) && check_scan(&store) && read_all(&store);
	if (good && store.scan.next != f->next + MORE) {
		complain("the next life ends at %" PRIu64, store.scan.next);
		good = false;
	}
	store_close(&store);
	return good;
}

/*
 * Does the log in a directory keep a promise? A log that is new, and of which nothing was reported,
 * need not be there. With @more, the next life goes on with it.
 */
bool check_log(const char *dir, const struct promise *p, bool more, struct found *found)
{
	bool good;

	*found = (struct found){ 0 };
	good = check_record(dir, found);
	if (!store_open(&store, dir)) {
		good = good && store.lock < 0 && is_kept(p, found);
		store_close(&store);
		return good;
	}
	if (!store.scan.is_new) {
		found->low = store.scan.map.low;
		found->next = store.scan.next;
	}
	good = is_kept(p, found) && check_scan(&store) && good;
	good = good && (store.scan.is_new || read_all(&store));
	if (good && more && !store.scan.is_new)
		return check_next_life(dir, found);
	store_close(&store);
	return good;
}
