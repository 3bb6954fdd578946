// SPDX-License-Identifier: GPL-2.0-only
/*
 * history-rate: what the other members of a subgroup deliver while the history of one node has
 * readers that are killed and come back, or many readers, and what they deliver while it has one
 * reader that reads without an end.
 *
 *	history-rate -n NODES -g SUBGROUP -r READER [-l BYTES] [-i MS] [-t MS] [-p PAIRS]
 *		     [-a MESSAGES] [-x READERS]
 *
 * Nodes 1 to NODES each have a process that sends as fast as it can, and all but READER one that
 * reads. READER has a history. A child reads that, and the next child goes on where this one was
 * killed. There are PAIRS of phases of -t milliseconds each: one without restarts, and one with a
 * restart every -i milliseconds. The phases of a pair follow each other, so whatever else the
 * machine does is the same in both. With -a, the reader stays away until each other reader has
 * delivered so many messages more. With -x, the second phase has no restarts, and so many more
 * readers of the history in their place.
 *
 * The output is a line of names and a line of numbers, with commas. Names that end with _min and
 * _max are the least and the most of all pairs, and without that it is the median:
 *
 *	rate_off, rate_on	messages per second at each other node, in the first phases and in
 *				the second ones
 *	ratio			rate_on over rate_off
 *	left			the same, of the CPU time that the readers and their parent have
 *				left
 *	share_off, share_on	share of the time that the readers and their parent had the CPU
 *	restarts		in all phases
 *	restart_us		CPU time that a restart costs, above that of reading
 *	away, away_min		messages that each other node delivered from a kill to the first
 *				message of the next child: the mean and the least
 *	full_off, full_on	times that a sender found no room, for each message delivered
 *	missed			positions that no child has read, or that two have read
 *	more_read		messages that the slowest of the -x readers read, over those that
 *				each other node delivered
 *
 * Exit status: 0: no position is missed; 1: a sentence says what is wrong.
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
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <spindle/spindle.h>

#include "attach.h"
#include "selfcheck.h"

#define MAX_LEN		(1 << 20)
#define MAX_NODES	16
#define MAX_PAIRS	100
#define MAX_MORE	16
#define BATCH		32
#define SETTLE_US	20000	/* from the beginning of a phase to its measurement */
#define POLL_US		200

#define die(...) do { fprintf(stderr, "history-rate: " __VA_ARGS__); exit(1); } while (0)

static struct {
	uint32_t nodes, group, reader, len;
	uint64_t interval_us, phase_us, away;
	uint32_t pairs, more;
} opt = { .len = 64, .interval_us = 10000, .phase_us = 200000, .pairs = 10 };

/* What the children have done, which outlives each of them. */
static struct {
	struct spindle_place place;		/* lineage and era of the positions */
	atomic_ullong next;			/* position that the reader has to read next */
	atomic_ullong missed;
	atomic_ullong handled;			/* messages of all children that were the reader */
	atomic_ullong resumed;			/* others_have() at the first message of a child */
	atomic_ullong have[MAX_NODES + 1];	/* delivered at the other nodes */
	atomic_ullong full[MAX_NODES + 1];	/* times that there was no room to send */
	atomic_ullong more[MAX_MORE];		/* messages of the -x readers in this phase */
} *shared;

static pid_t child;	/* the reader now */
static pid_t more[MAX_MORE];	/* the -x readers; 0 in a phase without them */
static uint64_t restarts, away_sum, away_min = UINT64_MAX, killed_at, handled_before;

/* One phase. */
struct sample {
	double seconds;
	double have;	/* messages at each other node */
	double cpu;	/* seconds of the reader and of this process */
	double full;
	double more;	/* messages of the least of the -x readers */
	double restarts;
};

/* One pair of phases. */
struct pair {
	struct sample off, on;
};

/* The children end with the program. */
static pid_t start(void (*run)(uint32_t node), uint32_t node)
{
	pid_t pid = fork();

	if (pid < 0)
		die("fork: %s\n", strerror(errno));
	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	run(node);
	exit(1);
}

/* ---- the children ------------------------------------------------------- */

static void sender(uint32_t node)
{
	struct selfcheck_hdr h = { .magic = SELFCHECK_MAGIC, .node = node };
	static unsigned char msg[MAX_LEN];
	struct spindle_queue q;
	int err;

	attach_or_exit(&q, node, opt.group, SPINDLE_ATTACH_SEND, NULL);
	for (;; h.num++) {
		memcpy(msg, &h, sizeof(h));
		while ((err = spindle_send(&q, msg, opt.len)) == -EAGAIN) {
			atomic_fetch_add(&shared->full[node], 1);
			spindle_wait(&q, POLLOUT, 1000);
		}
		if (err)
			die("node %u cannot send: %s\n", node, strerror(-err));
	}
}

static int take(struct spindle_queue *q, uint32_t node, struct spindle_msg *m)
{
	int got;

	while (!(got = spindle_next_batch(q, m, BATCH)))
		spindle_wait(q, POLLIN, 1000);
	if (got < 0)
		die("reading at node %u: %s\n", node, strerror(-got));
	return got;
}

static void other_reader(uint32_t node)
{
	struct spindle_msg m[BATCH];
	struct spindle_queue q;

	attach_or_exit(&q, node, opt.group, SPINDLE_ATTACH_RECV, NULL);
	for (;;) {
		int got = take(&q, node, m);

		spindle_release(&q);
		atomic_fetch_add(&shared->have[node], got);
	}
}

/* Messages that each of the other nodes has delivered, on average. */
static uint64_t others_have(void)
{
	uint64_t sum = 0;
	uint32_t i;

	for (i = 1; i <= opt.nodes; i++)
		sum += atomic_load(&shared->have[i]);
	return sum / (opt.nodes - 1);
}

/* Positions of a batch that do not follow each other, beginning with @next. */
static unsigned int gaps(const struct spindle_msg *m, int got, uint64_t next)
{
	struct selfcheck_hdr h;
	unsigned int bad = 0;
	int i;

	for (i = 0; i < got; i++) {
		memcpy(&h, m[i].data, sizeof(h));
		bad += m[i].lsn != next + i || m[i].len != opt.len || h.magic != SELFCHECK_MAGIC;
	}
	return bad;
}

/* Read a batch, release it, and count what is missing in it. Return: its messages */
static int read_on(struct spindle_queue *q, uint32_t node, uint64_t next)
{
	struct spindle_msg m[BATCH];
	unsigned int bad;
	int got;

	got = take(q, node, m);
	bad = gaps(m, got, next);
	if (!spindle_intact(q))
		die("the history has overtaken the reader\n");
	spindle_release(q);
	atomic_fetch_add(&shared->missed, bad);
	return got;
}

static void history_reader(uint32_t node)
{
	struct spindle_place place = shared->place;
	struct spindle_queue q;
	bool first = true;
	int got;

	place.lsn = atomic_load(&shared->next);
	attach_or_exit(&q, node, opt.group, SPINDLE_ATTACH_RECV, &place);
	for (;; place.lsn += got) {
		got = read_on(&q, node, place.lsn);
		/* The batch is handled, and the place is behind it, at one moment. */
		atomic_store(&shared->next, place.lsn + got);
		if (first)
			atomic_store(&shared->resumed, others_have());
		first = false;
		atomic_fetch_add(&shared->handled, got);
	}
}

/* One of the -x readers begins with the next message, and reads on until it is killed. */
static void another_reader(uint32_t index)
{
	struct spindle_place place;
	struct spindle_queue q;
	int got;

	attach_or_exit(&q, opt.reader, opt.group, SPINDLE_ATTACH_RECV, NULL);
	spindle_place(&q, &place);
	for (;; place.lsn += got) {
		got = read_on(&q, opt.reader, place.lsn);
		atomic_fetch_add(&shared->more[index], got);
	}
}

/* ---- phases ------------------------------------------------------------- */

static void check_children(void)
{
	if (waitpid(-1, NULL, WNOHANG))
		exit(1);
}

static void wait_for(bool (*holds)(void))
{
	while (!holds()) {
		check_children();
		usleep(POLL_US);
	}
}

static bool has_handled(void)
{
	return atomic_load(&shared->handled) > handled_before;
}

static bool others_went_on(void)
{
	return others_have() >= killed_at + opt.away;
}

static void start_reader(void)
{
	handled_before = atomic_load(&shared->handled);
	child = start(history_reader, opt.reader);
}

static void restart(void)
{
	uint64_t away;

	killed_at = others_have();
	kill(child, SIGKILL);
	waitpid(child, NULL, 0);
	wait_for(others_went_on);
	start_reader();
	wait_for(has_handled);
	away = atomic_load(&shared->resumed) - killed_at;
	away_sum += away;
	if (away < away_min)
		away_min = away;
	restarts++;
}

static bool more_have_begun(void)
{
	uint32_t i;

	for (i = 0; i < opt.more; i++)
		if (!atomic_load(&shared->more[i]))
			return false;
	return true;
}

static void start_more(void)
{
	uint32_t i;

	for (i = 0; i < opt.more; i++) {
		atomic_store(&shared->more[i], 0);
		more[i] = start(another_reader, i);
	}
	wait_for(more_have_begun);
}

static void end_more(void)
{
	uint32_t i;

	for (i = 0; i < opt.more; i++) {
		kill(more[i], SIGKILL);
		waitpid(more[i], NULL, 0);
		more[i] = 0;
	}
}

static double seconds_of(clockid_t clock)
{
	struct timespec t;

	if (clock_gettime(clock, &t))
		die("clock_gettime: %s\n", strerror(errno));
	return t.tv_sec + t.tv_nsec / 1e9;
}

static double cpu_of(int whom)
{
	struct rusage u;

	getrusage(whom, &u);
	return u.ru_utime.tv_sec + u.ru_stime.tv_sec +
	       (u.ru_utime.tv_usec + u.ru_stime.tv_usec) / 1e6;
}

static double cpu_of_reader(pid_t pid)
{
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock))
		die("a reader has no clock\n");
	return seconds_of(clock);
}

/* Messages that the slowest of the -x readers has read. */
static double least_more(void)
{
	uint64_t n, least = UINT64_MAX;
	uint32_t i;

	for (i = 0; i < opt.more; i++) {
		n = atomic_load(&shared->more[i]);
		least = n < least ? n : least;
	}
	return opt.more ? least : 0;
}

static void look(struct sample *s)
{
	uint32_t i;

	s->cpu = cpu_of_reader(child) + cpu_of(RUSAGE_CHILDREN) +
		 seconds_of(CLOCK_PROCESS_CPUTIME_ID);
	for (i = 0; i < opt.more && more[i]; i++)
		s->cpu += cpu_of_reader(more[i]);
	s->seconds = seconds_of(CLOCK_MONOTONIC);
	s->have = others_have();
	s->restarts = restarts;
	s->full = 0;
	s->more = least_more();
	for (i = 1; i <= opt.nodes; i++)
		s->full += atomic_load(&shared->full[i]);
}

static void measure(struct sample *s, bool restarting)
{
	struct sample from, to;

	look(&from);
	do {
		usleep(restarting ? opt.interval_us : opt.phase_us);
		check_children();
		if (restarting)
			restart();
		look(&to);
	} while (restarting && (to.seconds - from.seconds) * 1e6 < opt.phase_us);
	s->seconds = to.seconds - from.seconds;
	s->have = to.have - from.have;
	s->cpu = to.cpu - from.cpu;
	s->full = to.full - from.full;
	s->more = to.more - from.more;
	s->restarts = to.restarts - from.restarts;
	if (!s->have)
		die("the others have delivered nothing\n");
}

static void phases(struct pair *p)
{
	usleep(SETTLE_US);
	measure(&p->off, false);
	start_more();
	usleep(SETTLE_US);
	measure(&p->on, !opt.more);
	end_more();
}

/* ---- numbers ------------------------------------------------------------ */

static double rate(const struct sample *s)
{
	return s->have / s->seconds;
}

static double share(const struct sample *s)
{
	return s->cpu / s->seconds;
}

static double rate_off(const struct pair *p)
{
	return rate(&p->off);
}

static double rate_on(const struct pair *p)
{
	return rate(&p->on);
}

static double ratio(const struct pair *p)
{
	return rate(&p->on) / rate(&p->off);
}

static double left(const struct pair *p)
{
	return ratio(p) * (1 - share(&p->off)) / (1 - share(&p->on));
}

static double share_off(const struct pair *p)
{
	return share(&p->off);
}

static double share_on(const struct pair *p)
{
	return share(&p->on);
}

static double restart_us(const struct pair *p)
{
	if (!p->on.restarts)
		return 0;
	return (share(&p->on) - share(&p->off)) * p->on.seconds / p->on.restarts * 1e6;
}

static double full_off(const struct pair *p)
{
	return p->off.full / p->off.have;
}

static double full_on(const struct pair *p)
{
	return p->on.full / p->on.have;
}

/* What the slowest of the -x readers read, over what each other node delivered. */
static double more_read(const struct pair *p)
{
	return p->on.more / p->on.have;
}

#define NUMBER(name) { #name, name }

static const struct {
	const char *name;
	double (*of)(const struct pair *p);
} numbers[] = {
	NUMBER(rate_off), NUMBER(rate_on), NUMBER(ratio), NUMBER(left), NUMBER(share_off),
	NUMBER(share_on), NUMBER(restart_us), NUMBER(full_off), NUMBER(full_on), NUMBER(more_read),
};

#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print_number(const struct pair *pair, double (*of)(const struct pair *p))
{
	double v[MAX_PAIRS];
	uint32_t i, n = opt.pairs;

	for (i = 0; i < n; i++)
		v[i] = of(&pair[i]);
	qsort(v, n, sizeof(v[0]), compare);
	printf("%.9g,%.9g,%.9g,", (v[(n - 1) / 2] + v[n / 2]) / 2, v[0], v[n - 1]);
}

static void print(const struct pair *pair)
{
	unsigned int i;

	for (i = 0; i < NUMBERS; i++)
		printf("%s,%s_min,%s_max,", numbers[i].name, numbers[i].name, numbers[i].name);
	printf("restarts,away,away_min,missed\n");
	for (i = 0; i < NUMBERS; i++)
		print_number(pair, numbers[i].of);
	printf("%" PRIu64 ",%.9g,%" PRIu64 ",%llu\n", restarts,
	       restarts ? (double)away_sum / restarts : 0, restarts ? away_min : 0,
	       atomic_load(&shared->missed));
}

/* ------------------------------------------------------------------------- */

static void find_place(void)
{
	struct spindle_queue q;

	attach_or_exit(&q, opt.reader, opt.group, SPINDLE_ATTACH_RECV, NULL);
	spindle_place(&q, &shared->place);
	atomic_store(&shared->next, shared->place.lsn);
	spindle_detach(&q);
}

static void set_option(int c, const char *arg)
{
	uint64_t n = strtoull(arg, NULL, 10);

	switch (c) {
	case 'n':
		opt.nodes = n;
		break;
	case 'g':
		opt.group = n;
		break;
	case 'r':
		opt.reader = n;
		break;
	case 'l':
		opt.len = n;
		break;
	case 'i':
		opt.interval_us = n * 1000;
		break;
	case 't':
		opt.phase_us = n * 1000;
		break;
	case 'p':
		opt.pairs = n;
		break;
	case 'a':
		opt.away = n;
		break;
	case 'x':
		opt.more = n;
		break;
	}
}

static void parse(int argc, char **argv)
{
	int c;

	while ((c = getopt(argc, argv, "n:g:r:l:i:t:p:a:x:")) >= 0) {
		if (c == '?')
			exit(2);
		set_option(c, optarg);
	}
	if (opt.nodes < 2 || opt.nodes > MAX_NODES || !opt.reader || opt.reader > opt.nodes ||
	    opt.len < sizeof(struct selfcheck_hdr) || opt.len > MAX_LEN ||
	    !opt.phase_us || !opt.pairs || opt.pairs > MAX_PAIRS || opt.more > MAX_MORE)
		die("usage: history-rate -n NODES -g SUBGROUP -r READER [-l BYTES] [-i MS] [-t MS] "
		    "[-p PAIRS] [-a MESSAGES] [-x READERS]\n");
}

int main(int argc, char **argv)
{
	static struct pair pair[MAX_PAIRS];
	uint32_t i;

	parse(argc, argv);
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
		      -1, 0);
	if (shared == MAP_FAILED)
		die("mmap: %s\n", strerror(errno));
	find_place();
	start_reader();
	for (i = 1; i <= opt.nodes; i++) {
		if (i != opt.reader)
			start(other_reader, i);
		start(sender, i);
	}
	wait_for(has_handled);
	for (i = 0; i < opt.pairs; i++)
		phases(&pair[i]);
	print(pair);
	if (atomic_load(&shared->missed))
		die("positions are missing, or were read twice\n");
	return 0;
}
