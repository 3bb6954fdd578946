// SPDX-License-Identifier: GPL-2.0-only
/* A log in a real directory. See logd_store.h. */
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include "logd_store.h"
#include "tap.h"

static void *take_memory(struct store *s, unsigned int i, size_t bytes)
{
	s->memory[i] = aligned_alloc(LOGD_BLOCK, bytes);
	if (!s->memory[i])
		abort();
	return s->memory[i];
}

/**
 * store_msg() - the message at a position
 * @lsn: the position
 *
 * Return: the message; its data are valid until the next call.
 */
struct spindle_dlog_msg store_msg(uint64_t lsn)
{
	static unsigned char buf[STORE_LONGEST];
	uint32_t len = (uint32_t)(lsn * 2654435761U % 1500), i;
	struct spindle_dlog_msg m = {
		.lsn = lsn, .era = STORE_ERA, .vid = 1 + lsn / 500, .slot = lsn / 3, .data = buf,
		.node = (uint32_t)(lsn % 3 + 1), .sender = (uint32_t)(lsn % 3),
	};

	if (lsn % 50 == 7)
		return (struct spindle_dlog_msg){
			.lsn = lsn, .era = m.era, .vid = m.vid, .flags = LOGD_OTHER, .data = buf,
		};
	m.len = lsn % 700 == 333 ? STORE_LONGEST : len;
	for (i = 0; i < m.len; i++)
		buf[i] = (unsigned char)(lsn * 31 + i * (lsn % 7 + 1) + (i >> 8));
	return m;
}

/**
 * store_open() - open the log in a directory
 * @s: the log, with a directory
 * @low: position of the first message, if the log is new
 *
 * Return: whether that was possible.
 */
bool store_open(struct store *s, uint64_t low)
{
	struct spindle_dlog_config c = { .depth = STORE_DEPTH, .commit = 64U << 10, .spares = 1,
					 .go_on = true };
	char path[96];
	uint32_t i;

	snprintf(path, sizeof(path), "%s/LOCK", s->dir);
	s->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (s->lock < 0 || logd_port_open(&s->io, s->dir, s->lock, false, STORE_DEPTH))
		return false;
	s->blocked = false;
	s->scan = (struct spindle_dlog_scan){
		.port = &s->io.port, .file = s->file, .max_files = STORE_FILES,
		.damaged = s->damaged, .max_damaged = STORE_RANGES,
		.map = { .seg = s->seg, .max = STORE_SEGMENTS }, .id.frame = STORE_FRAME,
		.window = { .buf = take_memory(s, STORE_DEPTH + 2, STORE_FRAME),
			    .size = STORE_FRAME },
	};
	if (spindle_dlog_recover(&s->scan))
		return false;
	if (s->scan.is_new) {
		s->scan.id = (struct spindle_dlog_ident){
			.lineage = "lineage", .subgroup = STORE_SUBGROUP, .node = 1,
			.block = LOGD_BLOCK, .segment = STORE_SEGMENT, .frame = STORE_FRAME,
			.salt = 42,
		};
		s->scan.next = low;
		s->scan.map.low = low;
	}
	c.meta = take_memory(s, STORE_DEPTH + 1, LOGD_BLOCK);
	for (i = 0; i <= STORE_DEPTH; i++)
		c.slot[i] = take_memory(s, i, LOGD_BLOCK + STORE_FRAME);
	return !spindle_dlog_start(&s->log, &c, &s->scan);
}

/**
 * store_make() - make a log in a new directory
 * @s: the log
 * @low: position of the first message
 *
 * Return: whether that was possible.
 */
bool store_make(struct store *s, uint64_t low)
{
	const char *tmp = getenv("TMPDIR");

	snprintf(s->dir, sizeof(s->dir), "%s/logd-peer.XXXXXX",
		 tmp && strlen(tmp) < 40 ? tmp : "/tmp");
	return mkdtemp(s->dir) && store_open(s, low);
}

/**
 * store_close() - end the writer, as a process that is killed
 * @s: the log
 */
void store_close(struct store *s)
{
	unsigned int i;

	logd_port_close(&s->io);
	close(s->lock);
	for (i = 0; i < ARRAY_SIZE(s->memory); i++)
		free(s->memory[i]);
}

/**
 * store_remove() - close a log, and remove its directory
 * @s: the log
 */
void store_remove(struct store *s)
{
	DIR *d = opendir(s->dir);
	struct dirent *e;

	store_close(s);
	while (d && (e = readdir(d)))
		unlinkat(dirfd(d), e->d_name, 0);
	if (d)
		closedir(d);
	rmdir(s->dir);
}

static void op_done(void *arg, uint32_t token, int err)
{
	struct store *s = arg;

	if (err)
		abort();
	s->blocked = false;
	spindle_dlog_done(&s->log, token, err);
}

/**
 * store_reap() - take the operations that have ended
 * @s: the log
 */
void store_reap(struct store *s)
{
	spindle_dlog_commit(&s->log, 1);
	logd_port_reap(&s->io, op_done, s);
}

/**
 * store_settle() - wait until all is on disk
 * @s: the log
 */
void store_settle(struct store *s)
{
	struct pollfd fd = { .fd = s->io.event, .events = POLLIN };

	while (!s->log.opened || s->log.persisted != s->log.next) {
		store_reap(s);
		poll(&fd, 1, 1);
	}
}

/**
 * store_write() - append the messages up to a position, and have them durable
 * @s: the log
 * @to: the position
 */
void store_write(struct store *s, uint64_t to)
{
	while (s->log.next < to) {
		struct spindle_dlog_msg m = store_msg(s->log.next);

		if (spindle_dlog_append(&s->log, &m, 1))
			store_reap(s);
	}
	store_settle(s);
}

static bool is_right(const struct spindle_dlog_msg *m, uint64_t lsn)
{
	struct spindle_dlog_msg want = store_msg(lsn);

	return m->lsn == lsn && m->era == want.era && m->vid == want.vid && m->slot == want.slot &&
	       m->node == want.node && m->sender == want.sender && m->len == want.len &&
	       (m->flags & ~LOGD_FETCHED) == want.flags && !memcmp(m->data, want.data, m->len);
}

/**
 * store_right() - read the log
 * @s: the log
 *
 * Return: the position behind the last message up to which all are right.
 */
uint64_t store_right(struct store *s)
{
	struct spindle_dlog_reader r = {
		.port = &s->io.port, .id = &s->log.id, .map = &s->log.map,
		.window = { .buf = aligned_alloc(LOGD_BLOCK, STORE_FRAME), .size = STORE_FRAME },
	};
	uint64_t lsn = s->log.map.low;
	struct spindle_dlog_msg m;

	spindle_dlog_seek(&r, lsn);
	while (spindle_dlog_read(&r, &m) == 1 && is_right(&m, lsn))
		lsn++;
	free(r.window.buf);
	return lsn;
}
