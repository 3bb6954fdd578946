// SPDX-License-Identifier: GPL-2.0-only
/*
 * Self-test of replays without a kernel: a history on top of fake.c, and a log that the core writes
 * in a temporary directory. TAP on stdout.
 *
 * Message n of node 103 has position 7000 + n, in the history and in the log.
 */
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <time.h>

#include <spindle/replay.h>

#include "attach.h"
#include "file_log.h"

#define FIRST		7000ULL
#define MAX_MSG		80U
#define ERA		3U

static struct file_log writer;
static char dir[64];
static uint64_t delivered;	/* position of the next message of the fake */
static uint64_t era;		/* that the writer writes */

/* ---- the group and its log ------------------------------------------------ */

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void begin_group(const struct fake_opts *o)
{
	struct fake_opts opts = *o;

	opts.manual = true;
	opts.senders = 3;
	opts.max_msg = MAX_MSG;
	opts.history = 1;
	opts.lasts = true;
	fake_setup(&opts);
	delivered = FIRST + 1;
	alarm(300);
}

static void begin_log(uint64_t first)
{
	struct spindle_dlog_ident id = {
		.subgroup = 2, .node = 7, .block = FILE_LOG_BLOCK, .segment = FILE_LOG_SEGMENT,
		.frame = FILE_LOG_FRAME, .salt = 5,
	};
	static const uint64_t lineage[2] = { 1, 2 };

	memcpy(id.lineage, lineage, sizeof(id.lineage));
	strcpy(dir, "/tmp/spindle-replay-XXXXXX");
	era = ERA;
	if (!mkdtemp(dir) || file_log_start_as(&writer, dir, &id, first))
		bail_out("no log");
}

static void begin(const struct fake_opts *o)
{
	begin_group(o);
	begin_log(FIRST);
}

static void end_log(void)
{
	file_log_stop(&writer);
	nftw(dir, remove_one, 8, FTW_DEPTH | FTW_PHYS);
}

static void end(struct spindle_replay *r)
{
	spindle_replay_close(r);
	CHECK_EQ(fake_look().open_files, 0);
	CHECK_EQ(fake_look().mappings, 0);
	end_log();
}

static void deliver_to(uint64_t lsn)
{
	if (lsn > delivered) {
		fake_burst(0, delivered - FIRST, lsn - FIRST);
		delivered = lsn;
	}
	fake_step();
}

static void log_to(uint64_t lsn)
{
	unsigned char data[MAX_MSG];
	struct spindle_dlog_msg m = { .era = era, .vid = 3, .node = 103, .data = data };
	uint32_t i;

	while (writer.log.next < lsn) {
		m.lsn = writer.log.next;
		m.slot = m.lsn - FIRST;
		m.time = m.lsn;
		m.len = fake_peer_len(103, m.slot, MAX_MSG);
		for (i = 0; i < m.len; i++)
			data[i] = fake_peer_byte(103, m.slot, i);
		if (file_log_append(&writer, &m, m.lsn % 2 || m.lsn + 1 == lsn))
			bail_out("cannot write");
	}
}

static void log_other(void)
{
	struct spindle_dlog_msg m = { .lsn = writer.log.next, .era = era, .vid = 3, .flags = 1 };

	if (file_log_append(&writer, &m, true))
		bail_out("cannot write");
}

/* ---- replays -------------------------------------------------------------- */

static int open_at(struct spindle_replay **r, const struct spindle_place *from)
{
	struct spindle_replay_opts o = { .node = 7, .subgroup = 2, .dir = dir, .from = from };

	return spindle_replay_open(r, &o);
}

static struct spindle_replay *open_from(uint64_t lsn)
{
	const struct spindle_place from = { .lsn = lsn };
	struct spindle_replay *r;
	int err = open_at(&r, &from);

	if (err) {
		printf("# error %d\n", err);
		bail_out("cannot open");
	}
	return r;
}

enum source { LOG, LIVE, ANY };

static bool is_right(const struct spindle_log_msg *m, uint64_t lsn, enum source from)
{
	const unsigned char *p = m->data;
	uint32_t i;

	if (m->lsn != lsn || m->next != lsn + 1 || m->era != ERA || m->vid != 3 ||
	    m->node != 103 || m->sender != 0 || m->slot != lsn - FIRST || m->flags ||
	    m->len != fake_peer_len(103, m->slot, MAX_MSG) ||
	    (from == LIVE && m->time) || (from == LOG && !m->time))
		return false;
	for (i = 0; i < m->len; i++)
		if (p[i] != fake_peer_byte(103, m->slot, i))
			return false;
	return true;
}

/* Read these messages, one after the other. */
static void expect(struct spindle_replay *r, uint64_t lsn, uint64_t to, enum source from)
{
	struct spindle_log_msg m;
	int n;

	for (; lsn < to; lsn++) {
		n = spindle_replay_next(r, &m);
		if (!CHECK_EQ(n, 1))
			return;
		if (!CHECK(is_right(&m, lsn, from))) {
			tap_fail("position %llu, want %llu, time %llu", (unsigned long long)m.lsn,
				 (unsigned long long)lsn, (unsigned long long)m.time);
			return;
		}
	}
}

static void expect_nothing(struct spindle_replay *r)
{
	struct spindle_log_msg m;

	CHECK_EQ(spindle_replay_next(r, &m), 0);
	CHECK_EQ(spindle_replay_wait(r, 0), 0);
}

static void expect_error(struct spindle_replay *r, int err, uint64_t lsn, uint64_t next)
{
	struct spindle_log_msg m;
	int i;

	/* The error stays. */
	for (i = 0; i < 2; i++) {
		CHECK_EQ(-spindle_replay_next(r, &m), -err);
		CHECK_EQ(m.lsn, lsn);
		if (next)
			CHECK_EQ(m.next, next);
		CHECK_EQ(spindle_replay_wait(r, -1), 1);
	}
}

/* ---- cases ---------------------------------------------------------------- */

static const struct fake_opts plain, logs = { .logs = true };

/* The history has all, so the log does not matter. */
static void test_history(void)
{
	struct spindle_replay *r;

	begin(&logs);
	deliver_to(FIRST + 1);
	r = open_from(FIRST);
	CHECK_EQ(fake_look().attaches, 1);
	expect(r, FIRST, FIRST + 1, LIVE);
	expect_nothing(r);
	deliver_to(FIRST + 20);
	CHECK_EQ(spindle_replay_wait(r, 0), 1);
	expect(r, FIRST + 1, FIRST + 20, LIVE);
	expect_nothing(r);
	CHECK(spindle_replay_queue(r));
	end(r);
}

/* A place that the first attachment reaches, so that the fake has a group at all. */
static void found_group(void)
{
	struct spindle_replay *r = open_from(FIRST);

	spindle_replay_close(r);
}

static void test_log_first(void)
{
	struct spindle_replay *r;
	struct spindle_log_msg m;
	uint64_t lsn = FIRST;

	begin(&logs);
	found_group();
	deliver_to(FIRST + 300);
	log_to(FIRST + 280);
	r = open_from(FIRST);
	CHECK(!spindle_replay_queue(r));
	expect(r, FIRST, FIRST + 280, LOG);
	expect(r, FIRST + 280, FIRST + 300, LIVE);
	expect_nothing(r);
	deliver_to(FIRST + 310);
	expect(r, FIRST + 300, FIRST + 310, LIVE);
	spindle_replay_close(r);

	/* The log ends in the middle of what the history has, or in front of that. */
	r = open_from(FIRST + 200);
	deliver_to(FIRST + 500);
	while (spindle_replay_next(r, &m) == 1)
		lsn = m.next;
	CHECK_EQ(lsn, FIRST + 280);
	log_to(FIRST + 490);
	expect(r, FIRST + 280, FIRST + 490, LOG);
	expect(r, FIRST + 490, FIRST + 500, LIVE);
	end(r);
}

static uint32_t seed;

static uint32_t rnd(uint32_t n)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % n;
}

/* As a writer does that the history waits for: it is never so far behind that anything is lost. */
static void go_on(uint64_t end_of)
{
	uint32_t i, n = rnd(60) ? rnd(4) : rnd(150);

	for (i = 0; i < n && delivered < end_of; i++) {
		if (delivered - writer.log.next >= 10 || !rnd(20))
			log_to(delivered - rnd(5));
		deliver_to(delivered + 1);
	}
	/* A logger that has nothing else to do writes the rest. */
	if (!rnd(10))
		log_to(delivered);
}

static void during_attach(void)
{
	if (delivered > FIRST + 1 && rnd(2))
		go_on(FIRST + 1500);
}

/* A reader beside the group and its logger. Which of both it reads from is a matter of chance. */
static void test_beside_logger(void)
{
	struct fake_opts o = { .logs = true, .on_attach = during_attach };
	struct spindle_log_msg m;
	struct spindle_replay *r;
	uint64_t lsn, from_log, from_history;
	uint32_t round;
	int n;

	for (round = 1; round <= 6; round++) {
		seed = round;
		begin(&o);
		found_group();
		r = open_from(FIRST);
		from_log = from_history = 0;
		for (lsn = FIRST; lsn < FIRST + 1500; ) {
			if (!rnd(4))
				go_on(FIRST + 1500);
			n = spindle_replay_next(r, &m);
			if (n == -EBUSY || !n)
				continue;
			if (!CHECK_EQ(n, 1) || !CHECK(is_right(&m, lsn, ANY)))
				break;
			*(m.time ? &from_log : &from_history) += 1;
			lsn++;
		}
		CHECK(from_log > 100 && from_history > 100);
		printf("# %llu messages of the log, %llu of the history\n",
		       (unsigned long long)from_log, (unsigned long long)from_history);
		end(r);
	}
}

/* A replay that was live falls behind. */
static void test_behind(void)
{
	struct spindle_replay *r;

	begin(&logs);
	r = open_from(FIRST);
	expect(r, FIRST, FIRST + 1, LIVE);
	deliver_to(FIRST + 20);
	expect(r, FIRST + 1, FIRST + 10, LIVE);
	deliver_to(FIRST + 400);
	log_to(FIRST + 399);
	/* What it held is overwritten, and nothing of that is handed out. */
	expect(r, FIRST + 10, FIRST + 399, LOG);
	expect(r, FIRST + 399, FIRST + 400, LIVE);
	expect_nothing(r);
	deliver_to(FIRST + 600);
	log_to(FIRST + 600);
	fake_final(SPINDLE_STATE_FROZEN, SPINDLE_ERR_BEHIND);
	expect(r, FIRST + 400, FIRST + 500, LOG);
	end(r);
}

static void test_final(void)
{
	struct spindle_replay *r;

	begin(&logs);
	r = open_from(FIRST);
	deliver_to(FIRST + 3);
	fake_final(SPINDLE_STATE_GONE, SPINDLE_ERR_VIEW_GONE);
	expect(r, FIRST, FIRST + 3, LIVE);
	expect_error(r, -EPIPE, FIRST + 3, 0);
	end(r);
}

/* Each replay goes on where the last one was. */
static void test_place(void)
{
	struct spindle_place place = { .lsn = FIRST };
	struct spindle_replay *r;
	uint64_t lsn;

	begin(&logs);
	found_group();
	deliver_to(FIRST + 200);
	log_to(FIRST + 180);
	for (lsn = FIRST; lsn < FIRST + 200; lsn += 10) {
		CHECK_EQ(open_at(&r, &place), 0);
		spindle_replay_place(r, &place);
		CHECK_EQ(place.lsn, lsn);
		expect(r, lsn, lsn + 10, ANY);
		spindle_replay_place(r, &place);
		CHECK(place.lsn == lsn + 10 && place.lineage[0] == 1 && place.lineage[1] == 2 &&
		      place.era == ERA);
		spindle_replay_close(r);
	}
	end(NULL);
}

static void test_oldest(void)
{
	struct spindle_replay *r;
	struct spindle_log_msg m;

	/* Of the log. */
	begin_group(&logs);
	begin_log(FIRST + 100);
	found_group();
	deliver_to(FIRST + 300);
	log_to(FIRST + 290);
	CHECK_EQ(open_at(&r, NULL), 0);
	expect(r, FIRST + 100, FIRST + 290, LOG);
	expect(r, FIRST + 290, FIRST + 300, LIVE);
	end(r);

	/* Of the history, if the log begins later, or there is none. */
	begin_group(&logs);
	begin_log(FIRST + 10);
	found_group();
	deliver_to(FIRST + 20);
	log_to(FIRST + 20);
	CHECK_EQ(open_at(&r, NULL), 0);
	expect(r, FIRST, FIRST + 20, LIVE);
	end(r);
	begin_group(&logs);
	strcpy(dir, "/tmp/spindle-replay-XXXXXX");
	if (!mkdtemp(dir))
		bail_out("no directory");
	CHECK_EQ(open_at(&r, NULL), 0);
	expect(r, FIRST, FIRST + 1, LIVE);
	expect_nothing(r);
	/* The log comes later. */
	deliver_to(FIRST + 200);
	CHECK_EQ(spindle_replay_next(r, &m), -ESTALE);
	spindle_replay_close(r);
	rmdir(dir);
}

static void test_without_log(void)
{
	struct spindle_replay_opts o = { .node = 7, .subgroup = 2 };
	struct spindle_replay *r;
	struct spindle_log_msg m;

	begin_group(&plain);
	CHECK_EQ(spindle_replay_open(&r, &o), 0);
	CHECK_EQ(spindle_replay_next(r, &m), 1);
	fake_burst(0, 1, 300);
	CHECK_EQ(spindle_replay_next(r, &m), -ESTALE);
	CHECK(m.next > m.lsn + 100 && !m.data);
	spindle_replay_close(r);
}

static void test_damage(void)
{
	struct spindle_replay *r;
	char path[100];
	int fd;

	begin(&logs);
	found_group();
	deliver_to(FIRST + 200);
	log_to(FIRST + 195);
	/* A block for the head, then one for each two messages, the first of which is odd. */
	snprintf(path, sizeof(path), "%s/0000000000000000.seg", dir);
	fd = open(path, O_WRONLY);
	CHECK(pwrite(fd, "\xff\xff\xff\xff", 4, 512 * 4 + 100) == 4);
	close(fd);
	r = open_from(FIRST);
	expect(r, FIRST, FIRST + 6, LOG);
	expect_error(r, -EUCLEAN, FIRST + 6, FIRST + 8);
	spindle_replay_close(r);
	r = open_from(FIRST + 7);
	expect_error(r, -EUCLEAN, FIRST + 7, FIRST + 8);
	spindle_replay_close(r);
	r = open_from(FIRST + 8);
	expect(r, FIRST + 8, FIRST + 195, ANY);
	end(r);
}

/* The history has what is damaged in the log. */
static void test_damage_in_history(void)
{
	struct spindle_replay *r;
	char path[100];
	int fd;

	begin(&logs);
	found_group();
	deliver_to(FIRST + 60);
	log_to(FIRST + 60);
	deliver_to(FIRST + 65);
	snprintf(path, sizeof(path), "%s/0000000000000001.seg", dir);
	fd = open(path, O_WRONLY);
	CHECK(fd >= 0 && pwrite(fd, "\xff\xff\xff\xff", 4, 512 * 10 + 100) == 4);
	close(fd);
	r = open_from(FIRST);
	CHECK(!spindle_replay_queue(r));
	expect(r, FIRST, FIRST + 30, LOG);
	expect(r, FIRST + 30, FIRST + 65, ANY);
	expect_nothing(r);
	end(r);
}

static void test_lost(void)
{
	struct spindle_replay *r;
	struct spindle_log_msg m;
	uint64_t oldest;

	/* Trimmed. */
	begin(&logs);
	found_group();
	deliver_to(FIRST + 400);
	log_to(FIRST + 395);
	file_log_trim(&writer, FIRST + 205);
	r = open_from(FIRST + 204);
	expect_error(r, -ESTALE, FIRST + 204, FIRST + 205);
	spindle_replay_close(r);
	r = open_from(FIRST + 205);
	expect(r, FIRST + 205, FIRST + 395, ANY);
	/* The logger does not keep up, and then it does. */
	deliver_to(FIRST + 700);
	while (spindle_replay_next(r, &m) == 1)
		;
	oldest = m.next;
	expect_error(r, -ESTALE, m.lsn, oldest);
	CHECK(oldest > m.lsn + 50 && oldest < FIRST + 700);
	log_to(FIRST + 690);
	expect(r, m.lsn, FIRST + 690, LOG);
	expect(r, FIRST + 690, FIRST + 700, LIVE);
	end(r);
}

static void test_others(void)
{
	struct spindle_replay *r;
	struct spindle_log_msg m;

	begin(&logs);
	found_group();
	fake_other();
	deliver_to(FIRST + 1);
	log_to(FIRST + 1);
	log_other();
	fake_burst(0, 1, 200);
	log_other();
	log_other();
	r = open_from(FIRST);
	CHECK_EQ(spindle_replay_next(r, &m), 1);
	CHECK(m.lsn == FIRST && m.time);
	/* The log has no more messages, and the history has forgotten the next one. */
	CHECK_EQ(spindle_replay_next(r, &m), -ESTALE);
	CHECK_EQ(m.lsn, FIRST + 4);
	spindle_replay_close(r);
	r = open_from(FIRST + 195);
	CHECK_EQ(spindle_replay_next(r, &m), 1);
	CHECK_EQ(m.lsn, FIRST + 195);
	while (spindle_replay_next(r, &m) == 1)
		;
	fake_other();
	CHECK_EQ(spindle_replay_next(r, &m), 0);
	fake_burst(0, 200, 201);
	CHECK_EQ(spindle_replay_next(r, &m), 1);
	CHECK(m.lsn == FIRST + 202 && m.slot == 200);
	end(r);
}

/* ---- lineages and eras ------------------------------------------------------ */

static void test_another_place(void)
{
	static const struct spindle_place place[] = {
		{ FIRST, { 1, 2 }, 4 }, { FIRST, { 1, 3 }, 3 }, { FIRST, { 2, 2 }, 3 },
		{ FIRST + 199, { 1, 2 }, 4 }, { FIRST + 199, { 1, 3 }, 3 },
	};
	struct spindle_replay *r;
	size_t i;

	begin(&logs);
	found_group();
	deliver_to(FIRST + 200);
	log_to(FIRST + 200);
	for (i = 0; i < ARRAY_SIZE(place); i++)
		CHECK_EQ(open_at(&r, &place[i]), -EXDEV);
	CHECK_EQ(open_at(&r, &(struct spindle_place){ FIRST + 201, { 1, 2 }, 3 }), -ERANGE);
	CHECK_EQ(open_at(&r, &(struct spindle_place){ FIRST, { 1, 2 }, 3 }), 0);
	end(r);
}

static void test_another_log(void)
{
	static const struct spindle_place first = { .lsn = FIRST };
	struct spindle_dlog_ident id = {
		.subgroup = 2, .node = 7, .block = FILE_LOG_BLOCK, .segment = FILE_LOG_SEGMENT,
		.frame = FILE_LOG_FRAME, .salt = 5, .lineage = { 1 },
	};
	struct spindle_replay *r;
	int i;

	for (i = 0; i < 2; i++) {
		begin(&logs);
		found_group();
		end_log();
		strcpy(dir, "/tmp/spindle-replay-XXXXXX");
		id.lineage[8] = i ? 2 : 3;
		id.subgroup = i ? 3 : 2;
		if (!mkdtemp(dir) || file_log_start_as(&writer, dir, &id, FIRST))
			bail_out("no log");
		deliver_to(FIRST + 200);
		log_to(FIRST + 200);
		CHECK_EQ(open_at(&r, &first), -EXDEV);
		CHECK_EQ(open_at(&r, NULL), -EXDEV);
		end(r);
	}
}

/* The group begins again while it is replayed. */
static void test_new_era(void)
{
	struct spindle_replay *r;

	begin(&logs);
	found_group();
	deliver_to(FIRST + 200);
	log_to(FIRST + 190);
	r = open_from(FIRST + 10);
	expect(r, FIRST + 10, FIRST + 20, LOG);
	fake_era(4);
	expect(r, FIRST + 20, FIRST + 190, LOG);
	expect_error(r, -EXDEV, FIRST + 190, 0);
	end(r);
}

/* Messages of an earlier era, which a restart may have left behind. */
static void test_old_era(void)
{
	static const struct fake_opts kinds[] = {
		{ .logs = true, .era = ERA + 1 }, { .logs = false, .era = ERA + 1 },
	};
	struct spindle_replay *r;
	struct spindle_log_msg m;
	uint64_t lsn, from_log;
	int i;

	for (i = 0; i < 2; i++) {
		from_log = 0;
		begin(&kinds[i]);
		CHECK_EQ(open_at(&r, NULL), 0);
		spindle_replay_close(r);
		/* The log has no message of the present era, so the history comes early. */
		deliver_to(FIRST + 100);
		log_to(FIRST + 100);
		r = open_from(FIRST);
		for (lsn = FIRST; lsn < FIRST + 100; lsn++) {
			if (!CHECK_EQ(spindle_replay_next(r, &m), i ? -EXDEV : 1) || i)
				break;
			CHECK(m.lsn == lsn && m.era == (m.time ? ERA : ERA + 1));
			from_log += !!m.time;
		}
		/* The history has more than the log may say. */
		if (!i) {
			CHECK(spindle_replay_queue(r) && spindle_replay_queue(r)->oldest > FIRST);
			CHECK_EQ(from_log, spindle_replay_queue(r)->oldest - FIRST);
			expect_nothing(r);
		}
		spindle_replay_close(r);
		/* Now it has one. */
		era = ERA + 1;
		deliver_to(FIRST + 102);
		log_to(FIRST + 102);
		r = open_from(FIRST);
		expect(r, FIRST, FIRST + 90, ANY);
		spindle_replay_close(r);
		/* And one of an era that the group does not have. */
		era = ERA + 2;
		deliver_to(FIRST + 300);
		log_to(FIRST + 300);
		r = open_from(FIRST + 200);
		expect_error(r, -EXDEV, FIRST + 200, 0);
		end(r);
	}
}

/* ---- gates ------------------------------------------------------------------ */

static void test_gate(void)
{
	static const struct fake_opts o = { .logs = true, .gate = true, .durable = FIRST + 1 };
	struct spindle_replay *r;

	begin(&o);
	found_group();
	deliver_to(FIRST + 200);
	log_to(FIRST + 200);
	r = open_from(FIRST);
	expect(r, FIRST, FIRST + 1, LOG);
	expect_nothing(r);
	CHECK(spindle_replay_queue(r));
	/* The history has forgotten the next one, so the log has it. */
	fake_durable(FIRST + 100);
	CHECK_EQ(spindle_replay_wait(r, 0), 1);
	expect(r, FIRST + 1, FIRST + 100, LOG);
	expect_nothing(r);
	fake_durable(FIRST + 195);
	expect(r, FIRST + 100, FIRST + 195, ANY);
	expect_nothing(r);
	fake_durable(FIRST + 197);
	CHECK_EQ(spindle_replay_wait(r, 0), 1);
	expect(r, FIRST + 195, FIRST + 197, LIVE);
	expect_nothing(r);
	end(r);
}

/* No message may come before it is durable, whatever happens in the meantime. */
static void test_gate_at_random(void)
{
	struct fake_opts o = {
		.logs = true, .gate = true, .durable = FIRST, .on_attach = during_attach,
	};
	uint64_t lsn, durable;
	struct spindle_log_msg m;
	struct spindle_replay *r;
	uint32_t round;
	int n;

	for (round = 1; round <= 6; round++) {
		seed = round;
		begin(&o);
		durable = FIRST;
		r = open_from(FIRST);
		for (lsn = FIRST; lsn < FIRST + 1000; ) {
			if (!rnd(4))
				go_on(FIRST + 1500);
			if (!rnd(3) && durable < writer.log.next) {
				durable += rnd((uint32_t)(writer.log.next - durable) + 1);
				fake_durable(durable);
			}
			n = spindle_replay_next(r, &m);
			if (n == -EBUSY || !n)
				continue;
			if (!CHECK_EQ(n, 1) || !CHECK(is_right(&m, lsn, ANY)) ||
			    !CHECK(m.lsn < durable))
				break;
			lsn++;
		}
		end(r);
	}
}

/* ---- waits, and the rest ---------------------------------------------------- */

static void on_signal(int sig)
{
	(void)sig;
}

static void *send_signals(void *arg)
{
	static const struct timespec ms = { 0, 1000000 };
	pthread_t *to = arg;
	int i;

	for (i = 0; i < 200; i++) {
		pthread_kill(*to, SIGUSR1);
		nanosleep(&ms, NULL);
	}
	return NULL;
}

static void test_wait(void)
{
	static const struct fake_opts o = { .logs = true, .gate = true, .durable = FIRST + 1 };
	struct sigaction act = { .sa_handler = on_signal };
	pthread_t me = pthread_self(), thread;
	struct spindle_replay *r;
	struct spindle_log_msg m;

	sigaction(SIGUSR1, &act, NULL);
	begin(&o);
	r = open_from(FIRST);
	CHECK_EQ(spindle_replay_wait(r, 0), 1);
	expect(r, FIRST, FIRST + 1, LIVE);
	CHECK_EQ(spindle_replay_wait(r, 20), 0);
	pthread_create(&thread, NULL, send_signals, &me);
	CHECK_EQ(spindle_replay_wait(r, -1), -EINTR);
	pthread_join(thread, NULL);
	deliver_to(FIRST + 200);
	log_to(FIRST + 200);
	CHECK_EQ(spindle_replay_next(r, &m), 0);
	CHECK_EQ(spindle_replay_wait(r, 20), 0);
	pthread_create(&thread, NULL, send_signals, &me);
	CHECK_EQ(spindle_replay_wait(r, -1), -EINTR);
	pthread_join(thread, NULL);
	end(r);
}

static void test_views(void)
{
	static const struct spindle_seat next[] = {
		{ .node = 7, .sender_rank = 1, .rx = 2, .flags = SPINDLE_SEAT_ME },
		{ .node = 103, .sender_rank = 0, .rx = 0 },
	};
	struct spindle_replay *r;
	struct spindle_log_msg m;

	begin(&logs);
	r = open_from(FIRST);
	fake_view(9, next, 2);
	fake_deliver(0, 1);
	CHECK(spindle_replay_next(r, &m) == 1 && m.vid == 3);
	CHECK(spindle_replay_next(r, &m) == 1 && m.vid == 9 && m.lsn == FIRST + 1);
	end(r);
}

/* An error of the attachment is no end of the replay. */
static void test_try_again(void)
{
	struct spindle_replay *r;
	struct spindle_log_msg m;

	begin(&logs);
	r = open_from(FIRST);
	expect(r, FIRST, FIRST + 1, LIVE);
	deliver_to(FIRST + 200);
	log_to(FIRST + 190);
	fake_refuse(ENOTCONN);
	CHECK_EQ(spindle_replay_next(r, &m), -ENOTCONN);
	CHECK_EQ(m.lsn, FIRST + 1);
	fake_refuse(0);
	expect(r, FIRST + 1, FIRST + 190, LOG);
	expect(r, FIRST + 190, FIRST + 200, LIVE);
	end(r);
}

static void test_refused(void)
{
	struct spindle_replay_opts o = { .node = 7, .subgroup = 2 };
	static const struct spindle_place first = { .lsn = FIRST };
	static const struct fake_opts bare = { .manual = true, .senders = 3 };
	struct spindle_replay *r;
	bool root = !geteuid();

	begin(&logs);
	/* The history has all, and the replay may need the log later. */
	o.from = &first;
	o.dir = "/nonexistent";
	CHECK_EQ(spindle_replay_open(&r, &o), -ENOENT);
	CHECK(!r);
	o.dir = dir;
	CHECK(!chmod(dir, 0));
	if (root)
		CHECK(!seteuid(65534));
	CHECK_EQ(spindle_replay_open(&r, &o), -EACCES);
	if (root)
		CHECK(!seteuid(0));
	CHECK(!chmod(dir, 0755));
	o.resv0 = 1;
	CHECK_EQ(spindle_replay_open(&r, &o), -EINVAL);
	o.resv0 = 0;
	o.resv[2] = 1;
	CHECK_EQ(spindle_replay_open(&r, &o), -EINVAL);
	o.resv[2] = 0;
	o.device = "/nonexistent";
	CHECK_EQ(spindle_replay_open(&r, &o), -ENOENT);
	o.device = NULL;
	fake_setup(&bare);
	CHECK_EQ(spindle_replay_open(&r, &o), -EOPNOTSUPP);
	CHECK(strstr(spindle_replay_strerror(-EUCLEAN), "damaged"));
	CHECK(strstr(spindle_replay_strerror(-ESTALE), "neither"));
	CHECK(!strcmp(spindle_replay_strerror(0), "success"));
	end(r);
}

int main(void)
{
	static const struct tap_case list[] = {
		{ "replay: of the history alone", test_history },
		{ "replay: of the log, then of the history", test_log_first },
		{ "replay: beside the logger", test_beside_logger },
		{ "replay: it falls behind", test_behind },
		{ "replay: up to a final state", test_final },
		{ "replay: place after place", test_place },
		{ "replay: from the oldest message", test_oldest },
		{ "replay: without a log", test_without_log },
		{ "replay: damaged messages", test_damage },
		{ "replay: damaged messages that the history has", test_damage_in_history },
		{ "replay: messages that nobody has", test_lost },
		{ "replay: messages for other members", test_others },
		{ "replay: places of other groups", test_another_place },
		{ "replay: logs of other groups", test_another_log },
		{ "replay: a new era", test_new_era },
		{ "replay: messages of old eras", test_old_era },
		{ "replay: a gate", test_gate },
		{ "replay: a gate, at random", test_gate_at_random },
		{ "replay: waits", test_wait },
		{ "replay: views", test_views },
		{ "replay: errors of the attachment", test_try_again },
		{ "replay: what is refused", test_refused },
	};

	tap_cases(list, ARRAY_SIZE(list));
	fake_setup(&plain);
	return tap_end();
}
