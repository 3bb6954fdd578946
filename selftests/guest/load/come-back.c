// SPDX-License-Identifier: GPL-2.0-only
/*
 * come-back: a process that reads a subgroup with a history, is killed again and again, and comes
 * back to where it was.
 *
 *	come-back -n NODE -g SUBGROUP -s SENDER -k TIMES [-l BYTES]
 *
 * Node SENDER sends numbered messages of so many bytes, as fast as it can, but is ahead by AHEAD
 * messages at most, so that a history of so many forgets none that is wanted. A child reads them at
 * NODE. Whenever it has handled some more, it is killed with SIGKILL, and the next child goes on
 * from the place that it has left. After so many times, the messages that all children have handled
 * are compared with those that were sent: each of them once, in order, at consecutive positions.
 *
 * The last line of the output is "N messages, K restarts".
 * Exit status: 0: nothing is missing or repeated; 1: a sentence says what is wrong.
 */
#define _GNU_SOURCE /* program_invocation_short_name */
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>
#include <spindle/spindle.h>

#include "attach.h"
#include "selfcheck.h"

#define MAX_LOG	(1U << 22)
#define STEP	20	/* messages that a child handles at least */
#define AHEAD	3000

#define die(...) do { fprintf(stderr, "come-back: " __VA_ARGS__); exit(1); } while (0)

static struct {
	uint32_t node, group, sender, len;
	uint64_t times;
} opt = { .len = 64 };

/* What the children have handled, which outlives each of them. */
static struct {
	struct spindle_place place;	/* of the first message */
	atomic_uint handled;
	atomic_uint sent;
	atomic_bool stop;
	uint64_t number[MAX_LOG];
	uint64_t lsn[MAX_LOG];
} *shared;

/* The children end with the program. */
static pid_t start(void (*run)(void))
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s\n", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run();
	exit(0);
}

static void sender(void)
{
	struct selfcheck_hdr h = { .magic = SELFCHECK_MAGIC, .node = opt.sender };
	static unsigned char msg[1 << 20];
	struct spindle_queue q;
	int err;

	attach_or_exit(&q, opt.sender, opt.group, SPINDLE_ATTACH_SEND, NULL);
	for (; !atomic_load(&shared->stop) && h.num < MAX_LOG; h.num++) {
		while (h.num - atomic_load(&shared->handled) >= AHEAD)
			usleep(100);
		selfcheck_fill(msg, opt.len, &h);
		err = spindle_send_wait(&q, msg, opt.len, -1);
		if (err)
			die("node %u cannot send: %s\n", opt.sender, strerror(-err));
		atomic_store(&shared->sent, h.num + 1);
	}
	if (spindle_drain(&q, 60000))
		die("the messages of node %u are not delivered\n", opt.sender);
}

static void handle(const struct spindle_msg *m)
{
	unsigned int i = atomic_load(&shared->handled);
	struct selfcheck_hdr h;

	if (i == MAX_LOG || m->len != opt.len || !selfcheck_same(m->data, m->len, &h))
		die("position %" PRIu64 " has other bytes\n", m->lsn);
	shared->number[i] = h.num;
	shared->lsn[i] = m->lsn;
	/* A message is handled, and the place is behind it, at one moment. */
	atomic_store(&shared->handled, i + 1);
}

static void reader(void)
{
	unsigned int i = atomic_load(&shared->handled);
	struct spindle_place place = shared->place;
	struct spindle_queue q;
	struct spindle_msg m;
	int got;

	if (i)
		place.lsn = shared->lsn[i - 1] + 1;
	attach_or_exit(&q, opt.node, opt.group, SPINDLE_ATTACH_RECV, &place);
	for (;;) {
		got = spindle_peek(&q, &m);
		if (got < 0)
			die("reading at %" PRIu64 ": %s\n", place.lsn, strerror(-got));
		if (!got) {
			spindle_wait(&q, POLLIN, 1000);
			continue;
		}
		handle(&m);
		if (!spindle_intact(&q))
			die("the history has overtaken the reader\n");
		spindle_release(&q);
	}
}

static void wait_for(atomic_uint *word, unsigned int least, pid_t child)
{
	int status;

	while (atomic_load(word) < least) {
		if (waitpid(child, &status, WNOHANG) == child)
			exit(1);
		usleep(200);
	}
}

static void compare(void)
{
	unsigned int n = atomic_load(&shared->handled), i;

	for (i = 0; i < n; i++)
		if (shared->number[i] != i || shared->lsn[i] != shared->place.lsn + i)
			die("message %u is number %" PRIu64 " at position %" PRIu64 "\n", i,
			    shared->number[i], shared->lsn[i]);
}

static void find_place(void)
{
	struct spindle_queue q;

	attach_or_exit(&q, opt.node, opt.group, SPINDLE_ATTACH_RECV, NULL);
	spindle_place(&q, &shared->place);
	spindle_detach(&q);
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:g:s:k:l:")) >= 0) {
		switch (c) {
		case 'n':
			opt.node = atoi(optarg);
			break;
		case 'g':
			opt.group = atoi(optarg);
			break;
		case 's':
			opt.sender = atoi(optarg);
			break;
		case 'k':
			opt.times = atoi(optarg);
			break;
		case 'l':
			opt.len = atoi(optarg);
			break;
		default:
			exit(2);
		}
	}
	if (!opt.node || !opt.sender || opt.len < sizeof(struct selfcheck_hdr) ||
	    opt.len > 1 << 20)
		die("usage: come-back -n NODE -g SUBGROUP -s SENDER -k TIMES [-l BYTES]\n");
}

int main(int argc, char **argv)
{
	pid_t from, to;
	uint64_t k;

	parse(argc, argv);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE,
		      MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (shared == MAP_FAILED)
		die("mmap: %s\n", strerror(errno));
	find_place();
	from = start(sender);
	for (k = 0; k < opt.times; k++) {
		to = start(reader);
		wait_for(&shared->handled, atomic_load(&shared->handled) + STEP, to);
		kill(to, SIGKILL);
		waitpid(to, NULL, 0);
	}
	to = start(reader);
	atomic_store(&shared->stop, true);
	if (waitpid(from, NULL, 0) != from)
		die("the sender is lost\n");
	wait_for(&shared->handled, atomic_load(&shared->sent), to);
	kill(to, SIGKILL);
	waitpid(to, NULL, 0);
	compare();
	printf("%u messages, %" PRIu64 " restarts\n", atomic_load(&shared->handled), opt.times);
	return 0;
}
