// SPDX-License-Identifier: GPL-2.0-only
/*
 * state-rate: what the members of a subgroup notice while a newcomer gets a large state.
 *
 *	state-rate -g SUBGROUP -b BYTES -r RATE [-i US] [-q MS] [-c COMMAND]
 *
 * Nodes 1 and 2 have replicas with a state of BYTES, and node 2 sends a message every -i
 * microseconds. For -q milliseconds nothing else happens. Then COMMAND runs, and node 3 gets a
 * replica, which asks for the state. Node 1 is its donor. RATE is what RDMC itself carries between
 * two nodes, in bytes per second.
 *
 * The output is a line of names and a line of numbers, with commas:
 *
 *	other_quiet, other_gap	longest time between two messages at node 2, without and with the
 *				transfer, in microseconds
 *	donor_quiet, donor_gap	the same at the donor
 *	save_s			seconds from the offer to the first part
 *	transfer_s		from the first part to the last one
 *	load_s			from the last part until the newcomer is current
 *	bandwidth		bytes per second between the first part and the last one
 *	of_rdmc			the same over RATE
 *	messages		that node 2 applied in that time
 *
 * Exit status: 0: the newcomer has the state of the others; 1: a sentence says what is wrong.
 */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <spindle/replica.h>

#include "selfcheck.h"

#define DONOR		1U
#define OTHER		2U
#define NEWCOMER	3U
#define PIECE		(1UL << 20)	/* bytes of a write or a read */
#define LEN		64U

#define die(...) do { fprintf(stderr, "state-rate: " __VA_ARGS__); exit(1); } while (0)

static struct {
	uint32_t group;
	uint64_t bytes, interval_us, quiet_ms;
	double rate;
	const char *command;
} opt = { .interval_us = 1000, .quiet_ms = 3000 };

/* What the processes say, in microseconds of one clock. */
static struct {
	atomic_uint phase;			/* gaps of another phase do not count */
	atomic_ullong gap[NEWCOMER + 1];	/* longest one of the phase */
	atomic_ullong applied[NEWCOMER + 1];
	atomic_ullong hash[NEWCOMER + 1];	/* of all messages so far */
	atomic_ullong reached[SPINDLE_REPLICA_FAILED + 1];	/* when the newcomer was there */
	atomic_ullong first_bytes, first;	/* what had arrived at a look, and when that was */
} *shared;

/* The state: a count and a hash of all messages, and bytes that follow from their place. */
static struct {
	uint64_t count, hash;
} head;
static uint64_t *body;
static struct spindle_replica *replica;
static uint32_t me, phase;
static uint64_t last;

static uint64_t now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * 1000000ULL + t.tv_nsec / 1000;
}

/* ---- the replicas ------------------------------------------------------- */

/* Huge pages, as a program with so much memory would have: fork() copies fewer page tables. */
static void make_body(bool fill)
{
	uint64_t i;

	body = mmap(NULL, opt.bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (body == MAP_FAILED)
		die("no memory for the state\n");
	madvise(body, opt.bytes, MADV_HUGEPAGE);
	for (i = 0; fill && i < opt.bytes / sizeof(*body); i++)
		body[i] = i * 0x9e3779b97f4a7c15ULL;
}

static uint64_t piece_at(uint64_t at)
{
	return opt.bytes - at < PIECE ? opt.bytes - at : PIECE;
}

static int save(void *ctx, int fd, uint64_t lsn)
{
	uint64_t at, n;

	(void)ctx;
	(void)lsn;
	if (write(fd, &head, sizeof(head)) != sizeof(head))
		return -EIO;
	for (at = 0; at < opt.bytes; at += n) {
		n = piece_at(at);
		if (write(fd, (char *)body + at, n) != (ssize_t)n)
			return -EIO;
	}
	return 0;
}

static int load(void *ctx, int fd, uint64_t lsn)
{
	uint64_t at, n;

	(void)ctx;
	(void)lsn;
	if (read(fd, &head, sizeof(head)) != sizeof(head))
		return -EIO;
	for (at = 0; at < opt.bytes; at += n) {
		n = piece_at(at);
		if (read(fd, (char *)body + at, n) != (ssize_t)n)
			return -EIO;
	}
	return 0;
}

/* The first message of a phase ends no gap that counts. */
static void note_gap(void)
{
	uint64_t t = now_us(), gap = t - last;

	if (phase != atomic_load(&shared->phase)) {
		phase = atomic_load(&shared->phase);
		atomic_store(&shared->gap[me], 0);
	} else if (gap > atomic_load(&shared->gap[me])) {
		atomic_store(&shared->gap[me], gap);
	}
	last = t;
}

static int apply(void *ctx, const struct spindle_msg *m)
{
	(void)ctx;
	note_gap();
	head.count++;
	head.hash = (head.hash ^ m->lsn ^ head.count) * 0x9e3779b97f4a7c15ULL;
	atomic_store(&shared->hash[me], head.hash);
	atomic_store(&shared->applied[me], head.count);
	return 0;
}

static void changed(void *ctx, const struct spindle_replica_stat *st)
{
	(void)ctx;
	if (me == NEWCOMER)
		atomic_store(&shared->reached[st->state], now_us());
}

static const struct spindle_replica_ops ops = {
	.save = save, .load = load, .apply = apply, .changed = changed,
};

static void look_at_snapshot(void)
{
	struct spindle_replica_stat st;

	spindle_replica_stat(replica, &st);
	if (!st.received || atomic_load(&shared->first))
		return;
	atomic_store(&shared->first_bytes, st.received);
	atomic_store(&shared->first, now_us());
}

static void send_due(uint64_t *due)
{
	static const char msg[LEN];
	int err;

	if (now_us() < *due)
		return;
	err = spindle_replica_send(replica, msg, sizeof(msg));
	if (err && err != -EAGAIN)
		die("send: %s\n", strerror(-err));
	*due += opt.interval_us;
}

/*
 * Node 2 measures what the members do, and not how long its process waits for a processor that it
 * shares with the processes that move the state.
 */
static void take_priority(void)
{
	const struct sched_param param = { .sched_priority = 1 };

	if (sched_setscheduler(0, SCHED_FIFO, &param))
		die("no priority: %s\n", strerror(errno));
}

static void run(uint32_t node)
{
	const struct spindle_replica_opts o = {
		.node = node, .subgroup = opt.group, .timeout_ms = 60000,
	};
	uint64_t due = now_us();
	int err;

	me = node;
	if (node == OTHER)
		take_priority();
	make_body(node != NEWCOMER);
	err = spindle_replica_open(&replica, &ops, NULL, &o);
	if (err)
		die("node %u: %s\n", node, spindle_replica_strerror(err));
	for (;;) {
		err = spindle_replica_wait(replica, POLLIN, node == OTHER ? 1 : 1000);
		if (err && err != -EINTR)
			die("node %u: %s\n", node, spindle_replica_strerror(err));
		if (node == OTHER)
			send_due(&due);
		if (node == NEWCOMER)
			look_at_snapshot();
	}
}

/* The children end with the program. */
static void start(uint32_t node)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s\n", strerror(errno));
	if (pid)
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run(node);
}

/* ---- the measurement ---------------------------------------------------- */

static void wait_for(bool (*holds)(void))
{
	while (!holds()) {
		if (waitpid(-1, NULL, WNOHANG))
			exit(1);
		usleep(10000);
	}
}

static bool messages_flow(void)
{
	return atomic_load(&shared->applied[DONOR]) > 100 &&
	       atomic_load(&shared->applied[OTHER]) > 100;
}

static bool newcomer_is_current(void)
{
	return atomic_load(&shared->reached[SPINDLE_REPLICA_CURRENT]);
}

/* Do all replicas have applied the same number of messages, with the same result? */
static bool all_are_equal(void)
{
	uint64_t n = atomic_load(&shared->applied[OTHER]), hash = atomic_load(&shared->hash[OTHER]);

	return n == atomic_load(&shared->applied[NEWCOMER]) &&
	       hash == atomic_load(&shared->hash[NEWCOMER]) &&
	       n == atomic_load(&shared->applied[OTHER]);
}

static double seconds(uint64_t from, uint64_t to)
{
	return (to - from) / 1e6;
}

static void print(uint64_t other_quiet, uint64_t donor_quiet, uint64_t messages)
{
	uint64_t offer = atomic_load(&shared->reached[SPINDLE_REPLICA_RECEIVING]);
	uint64_t there = atomic_load(&shared->reached[SPINDLE_REPLICA_LOADING]);
	uint64_t first = atomic_load(&shared->first);
	double bandwidth = (opt.bytes - atomic_load(&shared->first_bytes)) / seconds(first, there);

	printf("bytes,other_quiet,other_gap,donor_quiet,donor_gap,");
	printf("save_s,transfer_s,load_s,bandwidth,of_rdmc,messages\n");
	printf("%" PRIu64 ",%" PRIu64 ",%llu,", opt.bytes, other_quiet,
	       atomic_load(&shared->gap[OTHER]));
	printf("%" PRIu64 ",%llu,", donor_quiet, atomic_load(&shared->gap[DONOR]));
	printf("%.6f,%.6f,%.6f,", seconds(offer, first), seconds(first, there),
	       seconds(there, atomic_load(&shared->reached[SPINDLE_REPLICA_CURRENT])));
	printf("%.0f,%.4f,%" PRIu64 "\n", bandwidth, bandwidth / opt.rate, messages);
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "g:b:r:i:q:c:")) != -1) {
		switch (c) {
		case 'g': opt.group = (uint32_t)strtoul(optarg, NULL, 10); break;
		case 'b': opt.bytes = strtoull(optarg, NULL, 10); break;
		case 'r': opt.rate = strtod(optarg, NULL); break;
		case 'i': opt.interval_us = strtoull(optarg, NULL, 10); break;
		case 'q': opt.quiet_ms = strtoull(optarg, NULL, 10); break;
		case 'c': opt.command = optarg; break;
		default: exit(2);
		}
	}
	if (opt.bytes < PIECE || opt.rate <= 0)
		die("-b is at least 1 MiB, and -r is needed\n");
}

int main(int argc, char **argv)
{
	uint64_t other_quiet, donor_quiet, before;

	parse(argc, argv);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED)
		die("mmap: %s\n", strerror(errno));
	start(DONOR);
	start(OTHER);
	wait_for(messages_flow);
	atomic_fetch_add(&shared->phase, 1);
	usleep(opt.quiet_ms * 1000);
	other_quiet = atomic_load(&shared->gap[OTHER]);
	donor_quiet = atomic_load(&shared->gap[DONOR]);
	if (opt.command && system(opt.command))
		die("'%s' failed\n", opt.command);
	before = atomic_load(&shared->applied[OTHER]);
	atomic_fetch_add(&shared->phase, 1);
	start(NEWCOMER);
	wait_for(newcomer_is_current);
	before = atomic_load(&shared->applied[OTHER]) - before;
	wait_for(all_are_equal);
	print(other_quiet, donor_quiet, before);
	return 0;
}
