// SPDX-License-Identifier: GPL-2.0-only
/*
 * technique silence: spindle_silence() at some of several senders.
 *
 * All ends belong to this process, so it knows the order that they must see. The place of a message
 * in the order tells how many rounds its sender had given up before it.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "technique.h"
#include "tap.h"

#define PATIENCE_MS	20000
#define SEEN_MAX	4096
#define BATCH		8	/* far less than a window */

/**
 * struct member - one end
 * @q: attached as sender and reader
 * @sent: messages that it has sent
 * @seq: the sequence numbers that it has read, in order
 * @from: sender rank
 * @seen: the number of messages that it has read
 * @next: by sender rank: the number of its next message
 */
struct member {
	struct spindle_queue q;
	uint64_t sent;
	uint64_t lsn[SEEN_MAX];
	uint32_t from[SEEN_MAX];
	int seen;
	uint64_t next[MAX_NODES];
};

static struct where where;
static struct member member[MAX_NODES];
static struct nl nl;

static struct nl_subgroup look(int i)
{
	struct nl_subgroup sg;
	int err = nl_subgroup(&nl, where.node[i], where.group, &sg);

	if (err)
		die("subgroup %u of node %u: %s", where.group, where.node[i], strerror(-err));
	return sg;
}

static uint64_t stat_of(int i, int stat)
{
	return look(i).stat[stat];
}

static int attach(struct spindle_queue *q, int i, uint32_t flags)
{
	struct spindle_attach_opts o = {
		.node = where.node[i], .subgroup = where.group, .flags = flags, .event_fd = -1,
	};

	return spindle_attach(q, &o);
}

static void attach_all(void)
{
	int i, err;

	for (i = 0; i < where.nodes; i++) {
		err = attach(&member[i].q, i, SPINDLE_ATTACH_BOTH);
		if (err)
			die("attach node %u: %s", where.node[i], strerror(-err));
		if (spindle_sender_rank(&member[i].q) != (uint32_t)i)
			die("node %u is not sender %d", where.node[i], i);
	}
}

/* ---- messages ----------------------------------------------------------- */

static void read_some(struct member *m)
{
	struct spindle_msg msg;
	uint64_t num;

	while (spindle_peek(&m->q, &msg) == 1) {
		if (m->seen == SEEN_MAX)
			die("too many messages");
		if (msg.len != sizeof(num))
			die("a message of %u bytes", msg.len);
		memcpy(&num, msg.data, sizeof(num));
		if (num != m->next[msg.sender]++)
			die("sender %u: its message %" PRIu64 ", not %" PRIu64, msg.sender, num,
			    m->next[msg.sender] - 1);
		if (m->seen && msg.lsn != m->lsn[m->seen - 1] + 1)
			die("position %" PRIu64 " follows %" PRIu64, msg.lsn, m->lsn[m->seen - 1]);
		m->lsn[m->seen] = msg.lsn;
		m->from[m->seen++] = msg.sender;
		spindle_release(&m->q);
	}
}

/* Returns whether all members have seen all messages, in the same order. */
static bool all_seen(void)
{
	uint64_t sent = 0;
	int i;

	for (i = 0; i < where.nodes; i++)
		sent += member[i].sent;
	for (i = 0; i < where.nodes; i++) {
		struct member *m = &member[i];

		for (read_some(m); (uint64_t)m->seen < sent; read_some(m)) {
			if (spindle_wait(&m->q, POLLIN, PATIENCE_MS) <= 0) {
				printf("# node %u has %d of %" PRIu64 "\n", where.node[i],
				       m->seen, sent);
				return false;
			}
		}
		if (memcmp(m->lsn, member[0].lsn, sent * sizeof(m->lsn[0])) ||
		    memcmp(m->from, member[0].from, sent * sizeof(m->from[0])))
			return false;
	}
	return true;
}

/* Returns false if the subgroup did not take the message in time. */
static bool send_one(int i)
{
	struct member *m = &member[i];
	int err = spindle_send_wait(&m->q, &m->sent, sizeof(m->sent), PATIENCE_MS);

	if (err)
		printf("# node %u: message %" PRIu64 ": %s\n", where.node[i], m->sent,
		       strerror(-err));
	m->sent += !err;
	return !err;
}

/*
 * Each of the others sends @count messages. Returns whether all of them arrived everywhere. The
 * function also reads, because a sender that waits for room waits for readers of this same thread.
 */
static bool others_send(int but, int count)
{
	int i, k;

	for (k = 0; k < count; k++) {
		for (i = 0; i < where.nodes; i++)
			if (i != but && !send_one(i))
				return false;
		if (k % BATCH == 0 && !all_seen())
			return false;
	}
	return all_seen();
}

/* The round that a sender has decided last: that of its last message, if no null follows it. */
static uint64_t last_round(int who)
{
	return stat_of(who, SPINDLE_SUBGROUP_S_ROUND) - 1;
}

/* ---- tests -------------------------------------------------------------- */

static void test_declared(int who)
{
	uint64_t nulls = stat_of(who, SPINDLE_SUBGROUP_S_NULLS);
	uint64_t silent = stat_of(who, SPINDLE_SUBGROUP_S_SILENT);
	uint64_t round = stat_of(who, SPINDLE_SUBGROUP_S_ROUND);

	is(spindle_silence(&member[who].q, 300), 0, "sender %d declares 300 rounds", who);
	is(stat_of(who, SPINDLE_SUBGROUP_S_ROUND), round + 300, "the rounds are decided");
	is(stat_of(who, SPINDLE_SUBGROUP_S_SILENT), silent + 300,
	   "the rounds are counted as silence");
	ok(others_send(who, 250), "the other members go on without the sender");
	is(stat_of(who, SPINDLE_SUBGROUP_S_NULLS), nulls, "the silent sender sends no null");
	is(stat_of(who, SPINDLE_SUBGROUP_S_ROUND), round + 300,
	   "the silent sender decides no more rounds");
}

/* A message before the silence is over comes behind the rounds that the sender gave up, at once. */
static void test_early(int who, uint64_t rounds)
{
	/*
	 * All members have the same count, so that no member needs more rounds than this one gives
	 * up.
	 */
	bool even = others_send(-1, 2);
	uint64_t round = stat_of(who, SPINDLE_SUBGROUP_S_ROUND);

	is(spindle_silence(&member[who].q, rounds), 0, "sender %d declares %" PRIu64 " rounds",
	   who, rounds);
	ok(even && others_send(who, 3), "the other members send");
	ok(send_one(who) && all_seen(),
	   "the silent sender sends early, and all members have the message");
	is(last_round(who), round + rounds, "the silence and the message have their rounds");
	ok(send_one(who) && others_send(who, 5) && send_one(who) && all_seen(),
	   "all members send after that");
	ok(last_round(who) >= round + rounds + 2, "the later rounds follow the message");
}

static void test_before(int who)
{
	struct member *m = &member[who];
	uint64_t round = stat_of(who, SPINDLE_SUBGROUP_S_ROUND);
	bool sent = true;
	int k;

	/* The messages are not flushed, so only spindle_silence() tells the engine of them. */
	for (k = 0; k < 3; k++) {
		sent &= !spindle_send_quiet(&m->q, &m->sent, sizeof(m->sent));
		m->sent++;
	}
	is(spindle_silence(&m->q, 100), 0, "sender %d has a message, then declares silence", who);
	ok(sent && all_seen(), "all members have the message");
	is(stat_of(who, SPINDLE_SUBGROUP_S_ROUND), round + 103,
	   "messages and silence have their rounds");
}

static int silence_of(int fd, const void *arg)
{
	return ioctl(fd, SPINDLE_IOC_SILENCE, arg) ? errno : 0;
}

static void test_errors(int who)
{
	const __u64 none = 0, most = SPINDLE_MAX_ROUNDS, more = SPINDLE_MAX_ROUNDS + 1;
	struct spindle_queue *q = &member[who].q, reader;
	uint64_t round = stat_of(who, SPINDLE_SUBGROUP_S_ROUND);
	int fd = open("/dev/spindle", O_RDWR | O_CLOEXEC);

	is(spindle_silence(q, none), 0, "a silence of 0 rounds is legal");
	is(spindle_silence(q, more), -EINVAL, "a silence of 2^32 + 1 rounds is refused");
	is(spindle_silence(q, UINT64_MAX), -EINVAL, "a silence of 2^64 - 1 rounds is refused");
	is(silence_of(spindle_fd(q), NULL), EFAULT, "a null pointer is refused");
	is(stat_of(who, SPINDLE_SUBGROUP_S_ROUND), round, "refused silence decides no round");
	if (is(attach(&reader, who, SPINDLE_ATTACH_RECV), 0, "a reader attaches")) {
		is(spindle_silence(&reader, 1), -EPERM, "a reader has no rounds to give up");
		spindle_detach(&reader);
	}
	is(silence_of(fd, &none), ENOTCONN, "an unattached file has no rounds to give up");
	close(fd);
	is(spindle_silence(q, most), 0, "a silence of 2^32 rounds is legal");
	is(stat_of(who, SPINDLE_SUBGROUP_S_ROUND), round + most, "the 2^32 rounds are decided");
	ok(others_send(who, 3), "the other members send");
}

int silence_main(int argc, char **argv)
{
	int c, last;

	while ((c = getopt(argc, argv, "n:g:")) != -1) {
		if (c == 'g')
			where.group = atoi(optarg);
		else if (c != 'n' || !where_nodes(&where, optarg))
			return 2;
	}
	if (where.nodes < 2)
		return 2;
	c = nl_open(&nl);
	if (c)
		die("netlink: %s", strerror(-c));
	attach_all();
	last = where.nodes - 1;
	ok(others_send(-1, 10), "all members send");
	test_declared(last);
	/*
	 * The first sender of a round and one between others, with few rounds and with far too
	 * many.
	 */
	test_early(0, 10);
	test_early(last, 1000);
	test_early(1, 100000);
	test_before(1);
	test_before(last);
	test_errors(last);
	/* A test cannot count to 2^32. The silence takes one write, whatever the number. */
	ok(send_one(last) && all_seen(), "the sender that gave up 2^32 rounds sends");
	ok(last_round(last) >= SPINDLE_MAX_ROUNDS, "the message follows these rounds");
	ok(others_send(-1, 20), "all members send after that");
	for (c = 0; c < where.nodes; c++) {
		is(look(c).state, SPINDLE_STATE_ACTIVE, "node %u is active", where.node[c]);
		spindle_detach(&member[c].q);
	}
	return tap_bad;
}
