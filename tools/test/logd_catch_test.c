// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-logd catches up: which peers it asks, what it does when none helps, and when it goes on
 * with the history. The logs are in real directories and the connections real; the kernel is a pair
 * of numbers, the oldest and the next position of the history.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>

#include "logd_others.h"
#include "tap.h"

#define MESSAGES	2500U

static uint64_t oldest, next_lsn, attached, moves;

/* ---- what the rest of spindle-logd does ------------------------------------------ */

bool logd_attach(struct logd *l, const struct spindle_place *from)
{
	if (moves) {
		oldest += moves;
		moves = 0;
	}
	if (from->lsn < oldest)
		return logd_catch_up(l, oldest) && false;
	if (from->lsn > next_lsn || from->era != STORE_ERA)
		return logd_fail(l, "the kernel refuses");
	attached = from->lsn;
	return true;
}

bool logd_begin_reading(struct logd *l, bool next)
{
	/* Views may be missing between what was fetched and the history. */
	CHECK(!next);
	l->reading = true;
	return true;
}

/* ---- the world ---------------------------------------------------------------------- */

static void make_other(struct other *o, uint32_t node, uint64_t low, uint64_t end)
{
	if (!store_make(&o->store, low))
		bail_out("no directory");
	store_write(&o->store, end);
	other_serve(o, node);
}

static void forget_world(void)
{
	memset(&logd, 0, sizeof(logd));
	opts = (struct logd_opts){ .wait = LOGD_FOR_EVER };
	peers = (struct logd_peers){
		.on = true, .node = 9, .server.id = other_id(9, OTHERS_KEY),
	};
	oldest = 2000;
	next_lsn = MESSAGES;
	attached = 0;
	moves = 0;
	forget_said();
	logd.opts = &opts;
	logd.peers = &peers;
	logd.attach.subgroup = STORE_SUBGROUP;
	logd.q.subgroup = STORE_SUBGROUP;
	logd.era = STORE_ERA;
	logd.max_msg = STORE_LONGEST;
}

/* The own log, with messages up to a position. */
static void make_world(uint64_t low, uint64_t end)
{
	struct spindle_dlog_msg m = store_msg(end - 1);

	forget_world();
	if (!store_make(&own, low))
		bail_out("no directory");
	store_write(&own, end);
	store_settle(&own);
	logd.log = own.log;
	logd.last = (struct logd_last){
		.known = end > low && !m.flags, .node = m.node, .slot = m.slot, .len = m.len,
		.crc = spindle_dlog_crc(0, m.data, m.len),
	};
}

static void op_done(void *arg, uint32_t token, int err)
{
	struct logd *l = arg;

	CHECK_EQ(err, 0);
	l->blocked = false;
	spindle_dlog_done(&l->log, token, err);
}

static void work(struct logd *l)
{
	logd_catch_work(l);
	spindle_dlog_commit(&l->log, 1);
}

static const struct others_work catches = {
	.poll = logd_catch_poll, .done = op_done, .work = work,
};

/* Until the log reads the history, or has failed, or so much time is over. */
static void run(uint64_t ms)
{
	uint64_t begun = peer_now_ms();

	logd_catch_up(&logd, oldest);
	while (!logd.reading && !logd.failed && peer_now_ms() - begun < ms)
		others_turn(OTHERS, &catches);
}

/* Until these words were said; more than half a minute only bounds a failure. */
static void run_until(const char *words)
{
	uint64_t begun = peer_now_ms();

	logd_catch_up(&logd, oldest);
	while (!strstr(said, words) && !logd.reading && !logd.failed &&
	       peer_now_ms() - begun < 40000)
		others_turn(OTHERS, &catches);
}

static void end_world(uint64_t end)
{
	struct pollfd fd = { .fd = own.io.event, .events = POLLIN };

	logd_catch_end(&logd);
	while (logd.log.persisted != logd.log.next) {
		spindle_dlog_commit(&logd.log, 1);
		poll(&fd, 1, 10);
		logd_port_reap(&own.io, op_done, &logd);
	}
	own.log = logd.log;
	CHECK_EQ(own.log.next, end);
	CHECK_EQ(store_right(&own), end);
	store_remove(&own);
}

/* ---- cases --------------------------------------------------------------------------- */

/* other[0] has 0 to 900, other[1] has 500 to 2500. */
static void two_peers(void)
{
	make_world(0, 100);
	other_place(1, &other[0].addr);
	other_place(2, &other[1].addr);
	run(30000);
	CHECK(logd.reading && !logd.failed && !logd.catch.on);
	/* The history is compared with the last message that was fetched. */
	CHECK(attached == 2000 && logd.last.known && logd.log.next == 2001);
	end_world(2001);
}

static void other_order(void)
{
	make_world(0, 100);
	other_place(2, &other[1].addr);
	other_place(1, &other[0].addr);
	run(30000);
	CHECK(logd.reading && attached == 2000);
	end_world(2001);
}

static void history_moves(void)
{
	make_world(0, 100);
	other_place(1, &other[0].addr);
	other_place(2, &other[1].addr);
	logd_catch_up(&logd, oldest);
	while (logd.log.next < 1000)
		others_turn(OTHERS, &catches);
	moves = 300;
	run(30000);
	CHECK(logd.reading && attached == 2300 && oldest == 2300);
	end_world(2301);
}

static void nobody_listens(void)
{
	struct sockaddr_in none = other[0].addr;
	uint64_t begun = peer_now_ms();

	none.sin_port = htons(1);
	make_world(0, 100);
	opts.wait = 2;
	other_place(7, &none);
	run(30000);
	CHECK(logd.failed && !logd.reading && !logd.catch.on);
	CHECK(peer_now_ms() - begun >= 2000);
	CHECK(has_said("positions 100 to 1999 are missing: node 7: Connection refused\n"));
	CHECK(has_said("nothing has come from another node for 2 seconds"));
	/* Once at the beginning, and at the end. */
	CHECK(said_lines == 3 || peer_now_ms() - begun > 10000);
	end_world(100);
}

static void for_ever(void)
{
	make_world(0, 100);
	run_until("are missing");
	CHECK(!logd.failed && !logd.reading && logd.catch.on);
	CHECK(has_said("positions 100 to 1999 are missing: there is no other member"));
	CHECK_EQ(said_lines, 1);
	other_place(1, &other[0].addr);
	other_place(2, &other[1].addr);
	run(30000);
	CHECK(logd.reading);
	end_world(2001);
}

static void trimmed(void)
{
	make_world(0, 100);
	other_place(2, &other[1].addr);
	run_until("are missing");
	CHECK(!logd.reading && logd.catch.on);
	CHECK(has_said("positions 100 to 1999 are missing: node 2: its log begins at position "
		       "500"));
	end_world(100);
}

static void too_short(void)
{
	make_world(0, 100);
	other_place(1, &other[0].addr);
	run_until("are missing");
	CHECK(!logd.reading && logd.catch.on);
	CHECK(has_said("positions 900 to 1999 are missing: node 1: its log ends at position 900"));
	end_world(900);
}

static void another_group(void)
{
	make_world(0, 100);
	logd.last.crc++;
	other_place(1, &other[0].addr);
	run_until("are missing");
	CHECK(!logd.reading && logd.catch.on && !logd.catch.trusted);
	CHECK(has_said("node 1: position 99: it has another message there: one log belongs to"));
	end_world(100);
}

static void another_key(void)
{
	make_world(0, 100);
	peers.server.id = other_id(9, "another key of a group");
	other_place(1, &other[0].addr);
	run_until("are missing");
	CHECK(has_said("is the key or the lineage another one?"));
	end_world(100);
}

/* The history begins right behind the log, so only a peer can compare. */
static void right_behind(void)
{
	make_world(0, 100);
	oldest = 100;
	run_until("cannot be compared");
	CHECK(!logd.reading);
	CHECK(has_said("position 99 cannot be compared: there is no other member"));
	other_place(1, &other[0].addr);
	run(30000);
	CHECK(logd.reading && logd.catch.trusted);
	end_world(101);
}

/* A peer has no more than the log, and it is enough that it has the same. */
static void only_compared(void)
{
	make_world(0, 900);
	oldest = 900;
	other_place(1, &other[0].addr);
	run(30000);
	CHECK(logd.reading && logd.catch.trusted && attached == 900);
	end_world(900);
}

/* An earlier view than the last one of the own log, of which the log would be broken. */
static void earlier_view(void)
{
	make_world(0, 100);
	logd.log.vid = 4;
	other_place(1, &other[0].addr);
	run_until("are missing");
	CHECK(!logd.failed && !logd.reading);
	CHECK(has_said("position 100: a message of an earlier view than the one before"));
	end_world(100);
}

static void refused_then(void)
{
	make_world(0, 100);
	next_lsn = 50;
	oldest = 10;
	run(30000);
	CHECK(logd.failed && has_said("the kernel refuses"));
	end_world(100);
}

static void off(void)
{
	make_world(0, 100);
	peers.on = false;
	CHECK(!logd_catch_up(&logd, oldest));
	peers.on = true;
	logd.broken = true;
	CHECK(!logd_catch_up(&logd, oldest));
	CHECK(!logd.catch.on);
	end_world(100);
}

/* Servers run in a thread here, because a new log asks before the loop runs. */
static void *serve(void *arg)
{
	struct pollfd fd[OTHERS * (PEER_GUESTS + 1)];
	unsigned int i, n;
	int ms;

	while (!__atomic_load_n((bool *)arg, __ATOMIC_SEQ_CST)) {
		ms = 20;
		for (i = 0, n = 0; i < OTHERS; i++)
			n += peer_server_poll(&other[i].server, &fd[n], &ms);
		poll(fd, n, ms);
		for (i = 0; i < OTHERS; i++)
			peer_server_work(&other[i].server);
	}
	return NULL;
}

static void new_log(void)
{
	bool stop = false;
	pthread_t thread;

	if (pthread_create(&thread, NULL, serve, &stop))
		bail_out("no thread");
	forget_world();
	CHECK_EQ(logd_catch_lowest(&logd, 2000), 2000);
	CHECK(has_said("no other node serves its log"));
	other_place(1, &other[0].addr);
	/* The log of node 1 ends before the history begins. */
	CHECK_EQ(logd_catch_lowest(&logd, 2000), 2000);
	CHECK_EQ(logd_catch_lowest(&logd, 900), 0);
	CHECK_EQ(logd_catch_lowest(&logd, 0), 0);
	other_place(2, &other[1].addr);
	CHECK_EQ(logd_catch_lowest(&logd, 2000), 0);
	peers.place[0] = peers.place[1];
	peers.places = 1;
	CHECK_EQ(logd_catch_lowest(&logd, 2000), 500);
	CHECK_EQ(logd_catch_lowest(&logd, 400), 400);
	logd.era--;
	CHECK_EQ(logd_catch_lowest(&logd, 2000), 2000);
	peers.on = false;
	CHECK_EQ(logd_catch_lowest(&logd, 2000), 2000);
	__atomic_store_n(&stop, true, __ATOMIC_SEQ_CST);
	pthread_join(thread, NULL);
}

/* A log without a message begins with what the others have. */
static void empty_log(void)
{
	make_world(0, 0);
	other_place(2, &other[1].addr);
	other_place(1, &other[0].addr);
	run(30000);
	CHECK(logd.reading && attached == 2000);
	end_world(2001);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "two peers together have what is missing", two_peers },
		{ "their order does not matter", other_order },
		{ "the history moves on, and the log follows", history_moves },
		{ "without a peer the log waits as long as it shall", nobody_listens },
		{ "a log waits for ever, and goes on when peers come", for_ever },
		{ "a peer whose log begins too late is named", trimmed },
		{ "a peer whose log ends too early gives what it has", too_short },
		{ "the log of another group is not taken", another_group },
		{ "a peer with another key is named", another_key },
		{ "a peer compares when the history cannot", right_behind },
		{ "a peer that has no more compares as well", only_compared },
		{ "a message of an earlier view than that of the log is refused", earlier_view },
		{ "a refusal of the kernel ends it", refused_then },
		{ "without peers, or with a broken frame, nothing is tried", off },
		{ "a new log begins with the oldest message of the others", new_log },
		{ "an empty log takes all", empty_log },
	};
	int rc;

	make_other(&other[0], 1, 0, 900);
	make_other(&other[1], 2, 500, MESSAGES);
	rc = tap_run(cases, ARRAY_SIZE(cases));
	other_drop(&other[0]);
	other_drop(&other[1]);
	return rc;
}
