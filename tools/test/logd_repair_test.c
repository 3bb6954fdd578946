// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-logd repairs damaged ranges: which peers it believes, what it does when none helps, and
 * what it drops. The logs are in real directories and the connections real.
 */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include <spindle/log.h>

#include "logd_others.h"
#include "tap.h"

#define MESSAGES	2500U

static struct spindle_log_report block;
static int block_err;
static unsigned int begun_again;

/* ---- what the rest of spindle-logd does ------------------------------------------ */

bool logd_begin_again(struct logd *l)
{
	(void)l;
	begun_again++;
	return true;
}

void ctl_err(const char *fmt, ...)
{
	(void)fmt;
	abort();
}

int spindle_view(const struct spindle_queue *q, struct spindle_view *v)
{
	(void)q;
	v->rank = 0;
	return 0;
}

int spindle_log_block(struct spindle_queue *q, uint32_t rank, struct spindle_log_report *r)
{
	(void)q;
	CHECK_EQ(rank, 0);
	*r = block;
	return block_err;
}

/* ---- the world ---------------------------------------------------------------------- */

/* A log of messages that nobody else has. */
static void write_strange(struct store *s, uint64_t to)
{
	while (s->log.next < to) {
		struct spindle_dlog_msg m = store_msg(s->log.next);

		if (!m.flags)
			m.slot++;
		if (spindle_dlog_append(&s->log, &m, 1))
			store_reap(s);
	}
	store_settle(s);
}

static void make_other(struct other *o, uint32_t node, bool strange)
{
	if (!store_make(&o->store, 0))
		bail_out("no directory");
	if (strange)
		write_strange(&o->store, MESSAGES);
	else
		store_write(&o->store, MESSAGES);
	other_serve(o, node);
	other_place(node, &o->addr);
}

/* Overwrite bytes of a segment. */
static void hurt(const struct store *s, uint64_t seq, off_t at, size_t bytes)
{
	static unsigned char junk[1U << 20];
	char path[128];
	int fd;

	memset(junk, 0x5a, sizeof(junk));
	snprintf(path, sizeof(path), "%s/%016llx.seg", s->dir, (unsigned long long)seq);
	fd = open(path, O_WRONLY);
	CHECK(fd >= 0 && pwrite(fd, junk, bytes, at) == (ssize_t)bytes);
	close(fd);
}

/* Hurt the last message. The frame behind it says that it was acknowledged. */
#define AT_THE_END	UINT64_MAX

/* The own log has all messages, and then a range is damaged. */
static void make_world(uint64_t seq, off_t at, size_t bytes)
{
	uint64_t last;
	off_t offset;

	memset(&logd, 0, sizeof(logd));
	memset(&peers, 0, sizeof(peers));
	memset(&block, 0, sizeof(block));
	block_err = 0;
	opts = (struct logd_opts){ .wait = LOGD_FOR_EVER };
	peers.on = true;
	peers.node = 9;
	peers.server.id = other_id(9, OTHERS_KEY);
	begun_again = 0;
	forget_said();
	if (!store_make(&own, 0))
		bail_out("no directory");
	store_write(&own, MESSAGES);
	spindle_dlog_mark(&own.log, 1);
	usleep(10000);
	store_settle(&own);
	while (own.log.flying)
		store_reap(&own);
	last = own.log.seq;
	offset = own.log.offset;
	store_close(&own);
	if (seq == AT_THE_END)
		hurt(&own, last, offset - 2 * LOGD_BLOCK, bytes);
	else if (bytes)
		hurt(&own, seq, at, bytes);
	if (!store_open(&own, 0))
		bail_out("the log does not begin");
	store_settle(&own);
	logd.opts = &opts;
	logd.peers = &peers;
	logd.attach.subgroup = STORE_SUBGROUP;
	logd.era = STORE_ERA;
	logd.max_msg = STORE_LONGEST;
	logd.frame = STORE_FRAME;
	logd.log = own.log;
	logd.scan = own.scan;
	logd.io = own.io;
	logd.path = own.dir;
}

static void op_done(void *arg, uint32_t token, int err)
{
	struct logd *l = arg;

	if (token == SPINDLE_DLOG_TOKEN_REPAIR)
		spindle_dlog_repair_done(&l->repair.fix, err);
	else
		spindle_dlog_done(&l->log, token, err);
}

static const struct others_work repairs = {
	.poll = logd_repair_poll, .done = op_done, .work = logd_repair_work,
};

/* Until nothing is to be repaired, or these words were said; half a minute bounds a failure. */
static void run(const char *words)
{
	uint64_t begun = peer_now_ms();

	logd_repair_open(&logd);
	while (logd.repair.on && !logd.failed && !(words && strstr(said, words)) &&
	       peer_now_ms() - begun < 30000)
		others_turn(peers.places, &repairs);
}

static void end_world(void)
{
	struct pollfd fd = { .fd = own.io.event, .events = POLLIN };
	unsigned int i;

	logd_repair_end(&logd);
	while (logd.log.chore != SPINDLE_DLOG_IDLE) {
		poll(&fd, 1, 10);
		logd_port_reap(&own.io, op_done, &logd);
	}
	for (i = 0; i < peers.places; i++)
		other_drop(&other[i]);
	store_remove(&own);
}

/* All messages are there, also for the next life. */
static void expect_whole(void)
{
	own.log = logd.log;
	CHECK_EQ(store_right(&own), MESSAGES);
	store_close(&own);
	CHECK(store_open(&own, 0));
	CHECK_EQ(own.scan.n_damaged, 0);
	store_settle(&own);
	CHECK_EQ(store_right(&own), MESSAGES);
	logd.log = own.log;
}

/* Ask for a repair as the administrator does, and wait for the answer. */
static bool ask_repair(uint64_t lsn)
{
	struct spindle_place place = { .lsn = lsn, .era = STORE_ERA };
	uint64_t begun = peer_now_ms();
	char path[128];

	memcpy(place.lineage, logd.log.id.lineage, sizeof(place.lineage));
	snprintf(path, sizeof(path), "%s/repair", own.dir);
	CHECK(!spindle_log_repair(own.dir, &place) && !access(path, F_OK));
	while (!access(path, F_OK) && peer_now_ms() - begun < 30000) {
		logd.snapshots.look_ms = 0;
		logd_snapshots_look(&logd);
		others_turn(peers.places, &repairs);
	}
	return access(path, F_OK);
}

/* ---- cases ---------------------------------------------------------------------------- */

static void test_middle(void)
{
	make_world(0, 200 << 10, 300 << 10);
	CHECK(own.scan.n_damaged > 0);
	make_other(&other[0], 1, false);
	run(NULL);
	CHECK(!logd.failed && !logd.repair.on && !begun_again);
	CHECK_EQ(logd.scan.n_damaged, 0);
	CHECK(strstr(said, "are whole again"));
	expect_whole();
	end_world();
}

/* Damage that has come since the log was opened is found where the administrator says. */
static void test_asked(void)
{
	make_world(0, 0, 0);
	make_other(&other[0], 1, false);
	run(NULL);
	CHECK(!logd.repair.on && !*said);
	hurt(&own, 0, 200 << 10, 300 << 10);
	CHECK(store_right(&own) < MESSAGES);
	CHECK(ask_repair(store_right(&own)));
	CHECK(strstr(said, "are whole again") && !logd.repair.on);
	CHECK_EQ(logd.scan.n_damaged, 0);
	forget_said();
	CHECK(ask_repair(5));
	CHECK(!strstr(said, "are whole again") && !logd.repair.on);
	CHECK(ask_repair(MESSAGES + 1000) && !logd.failed);
	expect_whole();
	end_world();
}

/* The request is answered when all others were asked, and the repair goes on behind that. */
static void test_asked_in_vain(void)
{
	uint64_t lsn;

	make_world(0, 0, 0);
	make_other(&other[0], 1, true);
	hurt(&own, 0, 200 << 10, 300 << 10);
	lsn = store_right(&own);
	CHECK(ask_repair(lsn));
	CHECK(strstr(said, "cannot be repaired now") && logd.repair.on);
	CHECK(logd.scan.n_damaged == 1 && !strstr(said, "are whole again"));
	make_other(&other[1], 2, false);
	CHECK(ask_repair(lsn));
	run(NULL);
	CHECK_EQ(logd.scan.n_damaged, 0);
	expect_whole();
	end_world();
	make_world(0, 200 << 10, 300 << 10);
	peers.on = false;
	CHECK(ask_repair(5));
	CHECK(strstr(said, "option -K") && !logd.repair.on);
	end_world();
}

/* A peer whose log is of a group that has ended has other messages. */
static void test_strange(void)
{
	make_world(0, 200 << 10, 300 << 10);
	make_other(&other[0], 1, true);
	run("cannot be repaired now");
	CHECK(strstr(said, "it has another message there"));
	CHECK(logd.repair.on && logd.scan.n_damaged > 0);
	end_world();

	make_world(0, 200 << 10, 300 << 10);
	make_other(&other[0], 1, true);
	make_other(&other[1], 2, false);
	run(NULL);
	CHECK(!logd.repair.on);
	expect_whole();
	end_world();
}

/* The first peer is damaged, too. */
static void test_both_damaged(void)
{
	make_world(0, 200 << 10, 300 << 10);
	make_other(&other[0], 1, false);
	make_other(&other[1], 2, false);
	hurt(&other[0].store, 0, 300 << 10, 500 << 10);
	run(NULL);
	CHECK(!logd.repair.on);
	expect_whole();
	end_world();
}

/* Without a peer the log goes on, until it shall wait no more. */
static void test_nobody(void)
{
	make_world(0, 200 << 10, 300 << 10);
	run("cannot be repaired now");
	CHECK(strstr(said, "there is no other member"));
	CHECK(!logd.failed && logd.repair.on);
	end_world();

	make_world(0, 200 << 10, 300 << 10);
	opts.wait = 0;
	run(NULL);
	CHECK(!logd.failed && !logd.repair.on);
	end_world();
}

/* The end of the log: it attaches when it has what was acknowledged, and never before. */
static void test_tail(void)
{
	make_world(AT_THE_END, 0, LOGD_BLOCK);
	CHECK(logd.scan.tail_damaged);
	CHECK_EQ(logd.log.next, MESSAGES);
	logd.repair.tail = true;
	make_other(&other[0], 1, false);
	run(NULL);
	CHECK(!logd.failed && begun_again == 1 && !logd.repair.tail);
	CHECK(logd.log.era == STORE_ERA && logd.log.vid == 1 + (MESSAGES - 1) / 500);
	expect_whole();
	end_world();

	make_world(AT_THE_END, 0, LOGD_BLOCK);
	logd.repair.tail = true;
	opts.wait = 0;
	run(NULL);
	CHECK(logd.failed && !begun_again);
	end_world();
}

static void say(const char *name, uint64_t era, uint64_t lsn)
{
	struct spindle_place place = { .era = era, .lsn = lsn };

	memcpy(place.lineage, "lineage", 8);
	CHECK_EQ(name ? spindle_log_snapshot(own.dir, name, &place) :
			spindle_log_trim(own.dir, &place), 0);
}

static void look(void)
{
	struct pollfd fd = { .fd = own.io.event, .events = POLLIN };
	unsigned int i;

	logd.snapshots.look_ms = 0;
	logd_snapshots_look(&logd);
	for (i = 0; i < 200 && logd.log.chore != SPINDLE_DLOG_IDLE; i++) {
		poll(&fd, 1, 50);
		logd_port_reap(&own.io, op_done, &logd);
	}
}

static uint64_t position(void)
{
	uint64_t lsn = 0;

	CHECK(logd_snapshots_position(&logd, &lsn));
	return lsn;
}

static void test_snapshots(void)
{
	uint64_t base;

	make_world(0, 0, 0);
	base = logd.log.map.seg[1].lsn;
	CHECK(base > 100 && base < 2400);
	look();
	CHECK_EQ(position(), 0);
	say("a", STORE_ERA, 2400);
	look();
	CHECK_EQ(position(), 2400);
	CHECK_EQ(logd.log.map.low, 0);
	/* A program that comes later has an older one, and the kernel's number never goes back. */
	say("b", STORE_ERA - 1, 50);
	opts.snapshots = true;
	look();
	CHECK_EQ(logd.snapshots.least, 50);
	CHECK_EQ(position(), 2400);
	CHECK_EQ(logd.log.map.low, 0);
	/* One of a later era, or of what is not on disk, says nothing that counts. */
	say("c", STORE_ERA + 1, 10);
	look();
	CHECK_EQ(logd.snapshots.least, 50);
	say("b", STORE_ERA, base + 1);
	say("a", STORE_ERA, 99999);
	look();
	CHECK_EQ(logd.log.map.low, base);
	CHECK(strstr(said, "nobody needs what is in front"));
	end_world();
}

/* A file that cannot be read may be the smallest one. */
static void test_bad_snapshot(void)
{
	char path[128];

	make_world(0, 0, 0);
	opts.snapshots = true;
	say("a", STORE_ERA, 2400);
	say("b", STORE_ERA, 2300);
	snprintf(path, sizeof(path), "%s/snapshot.b", own.dir);
	CHECK(!truncate(path, 20));
	look();
	CHECK_EQ(logd.snapshots.least, 0);
	CHECK_EQ(logd.log.map.low, 0);
	CHECK(strstr(said, "cannot be read"));
	end_world();
}

static void test_trim(void)
{
	char path[128];

	make_world(0, 0, 0);
	snprintf(path, sizeof(path), "%s/trim", own.dir);
	say(NULL, STORE_ERA, 77);
	look();
	CHECK_EQ(logd.log.map.low, 77);
	CHECK(!access(path, F_OK));
	look();
	CHECK(access(path, F_OK));
	say(NULL, STORE_ERA, 99999);
	look();
	CHECK_EQ(logd.log.map.low, MESSAGES);
	end_world();
}

/* The kernel knows what an earlier logger has said. */
static void test_floor(void)
{
	uint64_t lsn;

	make_world(0, 0, 0);
	block_err = -EAGAIN;
	CHECK(!logd_snapshots_position(&logd, &lsn));
	block_err = 0;
	block.snapshot = 300;
	CHECK_EQ(position(), 300);
	say("a", STORE_ERA, 20);
	look();
	CHECK_EQ(position(), 300);
	say("a", STORE_ERA, 400);
	look();
	CHECK_EQ(position(), 400);
	end_world();
}

static const struct tap_case cases[] = {
	{ "a range in the middle is repaired", test_middle },
		{ "the administrator asks for a repair", test_asked },
		{ "the administrator asks, and nobody has the messages", test_asked_in_vain },
	{ "a peer with another log is not believed", test_strange },
	{ "what one peer has damaged, another one has", test_both_damaged },
	{ "without a peer the log goes on", test_nobody },
	{ "a log with a damaged end waits", test_tail },
	{ "segments below all snapshots are dropped", test_snapshots },
	{ "a snapshot that cannot be read stops that", test_bad_snapshot },
	{ "the administrator asks for a trim", test_trim },
	{ "the number of the kernel never goes back", test_floor },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
