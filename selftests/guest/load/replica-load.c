// SPDX-License-Identifier: GPL-2.0-only
/*
 * replica-load: a replica whose state is a hash of all messages.
 *
 *	replica-load -n NODE -g SUBGROUP -t TOTAL -f FILE [-c COUNT] [-l LEN] [-b BYTES]
 *		     [-x WHEN] [-y BYTES] [-k PID] [-z TIMES] [-p MS] [-o MS] [-s BYTES]
 *		     [-m BYTES] [-a FILE] [-e COUNT] [-w FILE] [-L DIR] [-S COUNT] [-d] [-N]
 *
 * The process sends COUNT messages of LEN bytes, applies messages until there are TOTAL of them in
 * its state, and prints "total TOTAL hash HASH lsn LSN". The same line at two nodes means the same
 * state. It goes on to serve others until the file -f exists. A snapshot has BYTES more, which
 * depend on the state and are checked when it is loaded.
 *
 * -x WHEN: the process kills itself: in "save", when its child saves; in "send", when it sends a
 * snapshot; in "receive", when a snapshot begins to arrive, or with -y so many bytes of it have; in
 * "load". -k: it kills that process instead, once. -z: the process stops itself so many times, each
 * time that -y more bytes of a snapshot have arrived, until it gets SIGCONT. -p: save() and load()
 * take so many milliseconds more. -w: save() and load() wait until that file exists. -a: so do all
 * messages but the first -e. -o: timeout. -s: spill_bytes. -m: state_bytes. -d: declare the empty
 * state. -N: SPINDLE_REPLICA_NO_FORK. -L: the directory of the log. -S: a snapshot is made there
 * behind each COUNT messages.
 *
 * Each change of the replica's state is a line "state NAME donor NODE error TEXT".
 *
 * Exit status 0: the file -f exists. 1: a sentence on standard error names the error. 3: the
 * replica has failed, and the sentence says why.
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>
#include <spindle/replica.h>
#include <spindle/spindle.h>

#include "selfcheck.h"

#define MAX_NODE	64
#define CHUNK		65536U

struct message {
	uint64_t life, num;
};

/* The state that all replicas have in common. */
struct state {
	uint64_t count, hash, lsn;
	struct message next[MAX_NODE + 1];
};

static struct {
	struct spindle_replica_opts replica;
	uint64_t total, count, early, bytes, arrived, step, every;
	uint32_t len, pause_ms, stops;
	const char *stop, *when, *after, *gate;
	pid_t victim;
	bool declare;
} opt = { .len = 64 };

static struct state state;
static struct spindle_replica *replica;
static uint64_t life;

#define fail(...) do { fprintf(stderr, "replica-load: " __VA_ARGS__); exit(1); } while (0)

static void die_in(const char *when)
{
	if (!opt.when || strcmp(opt.when, when))
		return;
	opt.when = NULL;
	kill(opt.victim ? opt.victim : getpid(), SIGKILL);
}

static void write_all(int fd, const void *buf, size_t len)
{
	const char *at = buf;

	while (len) {
		ssize_t n = write(fd, at, len);

		if (n <= 0)
			fail("write: %s\n", strerror(errno));
		at += n;
		len -= (size_t)n;
	}
}

static bool read_all(int fd, void *buf, size_t len)
{
	char *at = buf;

	while (len) {
		ssize_t n = read(fd, at, len);

		if (n <= 0)
			return false;
		at += n;
		len -= (size_t)n;
	}
	return true;
}

/* What save() and load() do besides their work. */
static void stand_still(void)
{
	usleep(opt.pause_ms * 1000);
	while (opt.gate && access(opt.gate, F_OK))
		usleep(10000);
}

/* The bytes behind the state, piece by piece. */
static void fill(uint64_t *piece, uint64_t at)
{
	uint32_t i;

	for (i = 0; i < CHUNK / sizeof(*piece); i++)
		piece[i] = mix(state.hash + at + i);
}

static uint64_t piece_bytes(uint64_t at)
{
	return opt.bytes - at < CHUNK ? opt.bytes - at : CHUNK;
}

static int save(void *ctx, int fd, uint64_t lsn)
{
	static uint64_t piece[CHUNK / sizeof(uint64_t)];
	uint64_t at;

	(void)ctx;
	(void)lsn;
	if (opt.when && !strcmp(opt.when, "save"))
		kill(getppid(), SIGKILL);
	stand_still();
	write_all(fd, &state, sizeof(state));
	for (at = 0; at < opt.bytes; at += CHUNK) {
		fill(piece, at);
		write_all(fd, piece, piece_bytes(at));
	}
	return 0;
}

static void say_total(void)
{
	if (state.count == opt.total)
		printf("total %" PRIu64 " hash %016" PRIx64 " lsn %" PRIu64 "\n", state.count,
		       state.hash, state.lsn);
}

static int load(void *ctx, int fd, uint64_t lsn)
{
	static uint64_t piece[CHUNK / sizeof(uint64_t)], want[CHUNK / sizeof(uint64_t)];
	uint64_t at;
	char more;

	(void)ctx;
	(void)lsn;
	die_in("load");
	stand_still();
	if (!read_all(fd, &state, sizeof(state)))
		return -EIO;
	for (at = 0; at < opt.bytes; at += CHUNK) {
		fill(want, at);
		if (!read_all(fd, piece, piece_bytes(at)) || memcmp(piece, want, piece_bytes(at)))
			fail("the snapshot has other bytes from %" PRIu64 " on\n", at);
	}
	if (read(fd, &more, 1))
		fail("the snapshot is too long\n");
	say_total();
	return 0;
}

/* A sender counts its messages, from 0 in each life. */
static int apply(void *ctx, const struct spindle_msg *m)
{
	const struct message *msg = m->data;
	struct message *next;

	(void)ctx;
	if (m->len != opt.len || !m->node || m->node > MAX_NODE)
		fail("a message of %u bytes of node %u\n", m->len, m->node);
	next = &state.next[m->node];
	if (msg->num != (msg->life == next->life ? next->num : 0))
		fail("position %" PRIu64 ": message %" PRIu64 " of node %u, not %" PRIu64 "\n",
		     m->lsn, msg->num, m->node, next->num);
	next->life = msg->life;
	next->num = msg->num + 1;
	state.hash = mix(state.hash ^ mix(m->lsn) ^ mix(msg->life + msg->num) ^ m->node);
	state.lsn = m->lsn;
	state.count++;
	say_total();
	return 0;
}

static void changed(void *ctx, const struct spindle_replica_stat *st)
{
	(void)ctx;
	if (st->snapshots)
		printf("snapshots %" PRIu64 "\n", st->snapshots);
	printf("state %s donor %u error %s\n", spindle_replica_state_string(st->state), st->donor,
	       st->error ? strerror(-st->error) : "none");
	if (st->state == SPINDLE_REPLICA_RECEIVING && !opt.arrived)
		die_in("receive");
}

static const struct spindle_replica_ops ops = {
	.save = save, .load = load, .apply = apply, .changed = changed,
};

/* May the process send a message behind so many? */
static bool may_send(uint64_t sent)
{
	return sent < opt.count &&
	       (sent < opt.early || !opt.after || !access(opt.after, F_OK));
}

/*
 * Send what there is room for, once this replica has the state: messages ahead of a state that is
 * declared are in none.
 */
static bool send_some(uint64_t *sent)
{
	static char buf[65536];
	struct spindle_replica_stat st;
	struct message *msg = (struct message *)buf;
	int err = 0;
	uint32_t i;

	spindle_replica_stat(replica, &st);
	if (st.state != SPINDLE_REPLICA_CURRENT)
		return false;
	for (i = 0; i < 16 && may_send(*sent) && !err; i++) {
		msg->life = life;
		msg->num = *sent;
		err = spindle_replica_send(replica, buf, opt.len);
		if (!err)
			++*sent;
	}
	if (err && err != -EAGAIN)
		fail("send: %s\n", strerror(-err));
	return may_send(*sent);
}

static void watch_snapshot(void)
{
	struct spindle_replica_stat st;

	spindle_replica_stat(replica, &st);
	if (st.serving)
		die_in("send");
	if (!opt.arrived || st.received < opt.arrived)
		return;
	die_in("receive");
	if (!opt.stops)
		return;
	opt.stops--;
	opt.arrived += opt.step;
	raise(SIGSTOP);
}

/* Make a snapshot, when enough messages are behind the last one. */
static void keep_snapshot(void)
{
	static uint64_t last;
	int err;

	if (!opt.every || state.count < last + opt.every)
		return;
	err = spindle_replica_snapshot(replica);
	if (err == -EBUSY)
		return;
	if (err)
		fail("snapshot: %s\n", strerror(-err));
	last = state.count;
}

static uint64_t number(const char *text)
{
	char *end;
	uint64_t v = strtoull(text, &end, 0);

	if (*end || end == text)
		fail("'%s' is no number\n", text);
	return v;
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:g:t:f:c:l:b:x:y:k:z:p:o:s:m:a:e:w:L:S:dN")) != -1) {
		switch (c) {
		case 'n': opt.replica.node = (uint32_t)number(optarg); break;
		case 'g': opt.replica.subgroup = (uint32_t)number(optarg); break;
		case 't': opt.total = number(optarg); break;
		case 'f': opt.stop = optarg; break;
		case 'c': opt.count = number(optarg); break;
		case 'l': opt.len = (uint32_t)number(optarg); break;
		case 'b': opt.bytes = number(optarg); break;
		case 'x': opt.when = optarg; break;
		case 'y': opt.arrived = opt.step = number(optarg); break;
		case 'k': opt.victim = (pid_t)number(optarg); break;
		case 'z': opt.stops = (uint32_t)number(optarg); break;
		case 'p': opt.pause_ms = (uint32_t)number(optarg); break;
		case 'o': opt.replica.timeout_ms = (uint32_t)number(optarg); break;
		case 's': opt.replica.spill_bytes = number(optarg); break;
		case 'm': opt.replica.state_bytes = number(optarg); break;
		case 'a': opt.after = optarg; break;
		case 'e': opt.early = number(optarg); break;
		case 'w': opt.gate = optarg; break;
		case 'L': opt.replica.dir = optarg; break;
		case 'S': opt.every = number(optarg); break;
		case 'd': opt.declare = true; break;
		case 'N': opt.replica.flags = SPINDLE_REPLICA_NO_FORK; break;
		default: exit(2);
		}
	}
	opt.replica.program = opt.replica.dir ? "load" : NULL;
	if (!opt.stop || opt.len < sizeof(struct message) || opt.len > 65536)
		fail("-f is needed, and a message has 16 to 65536 bytes\n");
}

int main(int argc, char **argv)
{
	struct spindle_replica_stat st;
	uint64_t sent = 0;
	int err;

	setvbuf(stdout, NULL, _IOLBF, 0);
	parse(argc, argv);
	if (getrandom(&life, sizeof(life), 0) != sizeof(life))
		fail("getrandom: %s\n", strerror(errno));
	err = spindle_replica_open(&replica, &ops, NULL, &opt.replica);
	if (err)
		fail("open: %s\n", spindle_replica_strerror(err));
	spindle_replica_stat(replica, &st);
	changed(NULL, &st);
	if (opt.declare && spindle_replica_declare(replica))
		fail("it cannot be declared\n");
	while (access(opt.stop, F_OK)) {
		bool more = send_some(&sent);

		watch_snapshot();
		keep_snapshot();
		err = spindle_replica_wait(replica, POLLIN | (more ? POLLOUT : 0), 200);
		if (err && err != -EINTR) {
			fprintf(stderr, "replica-load: %s\n", spindle_replica_strerror(err));
			return 3;
		}
	}
	spindle_replica_stat(replica, &st);
	printf("end: asked %" PRIu64 " served %" PRIu64 " foreign %" PRIu64 " lsn %" PRIu64 "\n",
	       st.asked, st.served, st.foreign, st.lsn);
	printf("log: restored %" PRIu64 " snapshots %" PRIu64 "\n", st.restored, st.snapshots);
	spindle_replica_close(replica);
	return 0;
}
