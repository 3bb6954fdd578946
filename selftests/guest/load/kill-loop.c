// SPDX-License-Identifier: GPL-2.0-only
/*
 * kill-loop: processes that die at bad moments.
 *
 *	kill-loop -n NODE -g SUBGROUP [-i ITERATIONS] [-f FILE] [-S SEED]
 *
 * In a loop, a child attaches, does something, and is killed by SIGKILL. The child kills itself at
 * a certain point, or the parent kills it at a random moment. At once after that nothing of the
 * child may be left. The parent can attach as sender, and only living readers are counted. Slots
 * that the child had reserved and not committed count as abandoned. Others can check the messages
 * of the child (selfcheck.h).
 *
 * The loop runs at least ITERATIONS times, and until the file -f exists (loop.h).
 */
#include <errno.h>
#include <getopt.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>
#include <spindle/spindle.h>

#include "loop.h"

#define BOTH	(SPINDLE_ATTACH_SEND | SPINDLE_ATTACH_RECV)
#define COPY	(SPINDLE_ATTACH_RECV | SPINDLE_ATTACH_COPY)

static struct loop opt = { .iterations = 40, .seed = 1 };
static struct nl nl;

/* ---- children --------------------------------------------------------- */

static void attach_as(struct spindle_queue *q, uint32_t flags)
{
	int err = loop_attach(&opt, q, flags);

	if (!err)
		return;
	printf("# the child cannot attach, flags %u, step %u: %s\n", flags, q->step,
	       strerror(-err));
	fflush(stdout);
	_exit(1);
}

static void now(void)
{
	kill(getpid(), SIGKILL);
	pause();
}

static void reserve(struct spindle_queue *q, struct spindle_slot *s)
{
	uint32_t len = sizeof(struct selfcheck_hdr) + rnd() % (q->max_msg - 16);
	struct spindle_msg m;
	int err;

	while ((err = spindle_reserve(q, len, s)) == -EAGAIN) {
		/* Own messages keep their slots until they are read. */
		while (spindle_peek(q, &m) > 0)
			;
		spindle_release(q);
		usleep(1000);
	}
	if (err)
		_exit(2);
}

static void fill(const struct spindle_slot *s)
{
	struct selfcheck_hdr h = { SELFCHECK_MAGIC, opt.node, rnd() };

	selfcheck_fill(s->data, s->len, &h);
}

static void commit(struct spindle_queue *q, const struct spindle_slot *s)
{
	fill(s);
	spindle_commit(q, s, s->len);
}

/* Reserve three slots, and write nothing. */
static void while_reserving(void)
{
	struct spindle_slot s;
	struct spindle_queue q;
	int i;

	attach_as(&q, BOTH);
	for (i = 0; i < 3; i++)
		reserve(&q, &s);
	now();
}

/* Write the bytes, and do not commit. */
static void before_commit(void)
{
	struct spindle_slot s;
	struct spindle_queue q;

	attach_as(&q, SPINDLE_ATTACH_SEND);
	reserve(&q, &s);
	commit(&q, &s);
	reserve(&q, &s);
	fill(&s);
	now();
}

/* Fill in a descriptor except for its ready word, and complete one behind it. */
static void amid_commit(void)
{
	struct spindle_slot s[3];
	struct spindle_queue q;
	struct spindle_tx_desc *d;
	int i;

	attach_as(&q, BOTH);
	for (i = 0; i < 3; i++)
		reserve(&q, &s[i]);
	commit(&q, &s[0]);
	fill(&s[1]);
	d = &q.usr_desc[s[1].slot & (q.window - 1)];
	d->unit = s[1].unit;
	d->units = spindle_units(s[1].len);
	d->len = s[1].len;
	d->flags = 0;
	commit(&q, &s[2]);
	now();
}

/* Commit, and do not kick the engine. */
static void before_kick(void)
{
	struct spindle_slot s;
	struct spindle_queue q;
	int i;

	attach_as(&q, SPINDLE_ATTACH_SEND);
	for (i = 0; i < 4; i++) {
		reserve(&q, &s);
		fill(&s);
		spindle_commit_quiet(&q, &s, s.len);
	}
	now();
}

static void hold(uint32_t flags)
{
	struct spindle_queue q;
	struct spindle_msg m;
	int i;

	attach_as(&q, flags);
	/* Take some messages, and all others until the senders have to wait for this reader. */
	for (i = 0; i < 3; i++)
		if (spindle_wait(&q, POLLIN, 1000) > 0)
			spindle_peek(&q, &m);
	usleep(20000);
	now();
}

static void while_holding(void)
{
	hold(SPINDLE_ATTACH_RECV);
}

static void while_holding_copies(void)
{
	hold(COPY);
}

/* ---- children that the parent kills ----------------------------------- */

static void talk(uint32_t flags)
{
	struct spindle_queue q;
	struct spindle_slot s;
	struct spindle_msg m;

	attach_as(&q, flags);
	for (;;) {
		if ((flags & SPINDLE_ATTACH_SEND)) {
			reserve(&q, &s);
			commit(&q, &s);
		}
		while ((flags & SPINDLE_ATTACH_RECV) && spindle_peek(&q, &m) > 0)
			;
		if (rnd() % 4)
			spindle_release(&q);
	}
}

static void talking(void)
{
	talk(BOTH);
}

static void sending(void)
{
	talk(SPINDLE_ATTACH_SEND);
}

static void talking_with_copies(void)
{
	talk(SPINDLE_ATTACH_SEND | COPY);
}

static void reading(void)
{
	talk(SPINDLE_ATTACH_RECV);
}

static void coming_and_going(void)
{
	struct spindle_queue q;

	for (;;) {
		attach_as(&q, rnd() % 2 ? BOTH : SPINDLE_ATTACH_SEND | COPY);
		spindle_detach(&q);
	}
}

static void *thread(void *arg)
{
	struct spindle_queue *q = arg;
	struct spindle_slot s;

	for (;;) {
		if (spindle_reserve(q, 64, &s))
			usleep(1000);
		else
			commit(q, &s);
	}
	return NULL;
}

static void talking_threads(void)
{
	struct spindle_queue q;
	pthread_t t;
	int i;

	attach_as(&q, SPINDLE_ATTACH_SEND);
	for (i = 0; i < 3; i++)
		pthread_create(&t, NULL, thread, &q);
	for (;;)
		pause();
}

static const struct death {
	const char *name;
	void (*child)(void);
	bool late;		/* the parent kills it, at a random moment */
	int abandoned;		/* slots that become abandoned; -1: unknown */
} deaths[] = {
	{ "after a reserve", while_reserving, false, 3 },
	{ "while talking", talking, true, -1 },
	{ "before a commit", before_commit, false, 1 },
	{ "while holding messages", while_holding, false, 0 },
	{ "while sending", sending, true, -1 },
	{ "in the middle of a commit", amid_commit, false, 2 },
	{ "while reading", reading, true, 0 },
	{ "before a kick", before_kick, false, 0 },
	{ "while talking, copying", talking_with_copies, true, -1 },
	{ "while holding copies", while_holding_copies, false, 0 },
	{ "while attaching and detaching", coming_and_going, true, -1 },
	{ "while three threads send", talking_threads, true, -1 },
};

/* ---- the parent ------------------------------------------------------- */

/* Returns whether the child lived until the kill. */
static bool live_and_die(const struct death *death)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		death->child();
		_exit(3);
	}
	if (death->late) {
		usleep(rnd() % (rnd() % 4 ? 50000 : 400000));
		kill(pid, SIGKILL);
	}
	if (waitpid(pid, &status, 0) != pid)
		die("waitpid: %s", strerror(errno));
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		return true;
	printf("# the child ended before it was killed, status %#x\n", status);
	return false;
}

static bool once(const struct death *death)
{
	struct nl_subgroup before, after;
	struct spindle_queue q;
	uint64_t gone;
	int err;

	loop_look(&opt, &nl, &before);
	if (!live_and_die(death))
		return false;
	loop_look(&opt, &nl, &after);
	if (after.state != SPINDLE_STATE_ACTIVE || after.sender ||
	    after.readers != before.readers) {
		printf("# state %u, sender %d, readers %u, before %u\n", after.state,
		       after.sender, after.readers, before.readers);
		return false;
	}
	err = loop_attach(&opt, &q, SPINDLE_ATTACH_SEND);
	if (err) {
		printf("# attach: %s\n", strerror(-err));
		return false;
	}
	spindle_detach(&q);
	gone = after.stat[SPINDLE_SUBGROUP_S_ABANDONED] - before.stat[SPINDLE_SUBGROUP_S_ABANDONED];
	if (death->abandoned >= 0 && gone != (uint64_t)death->abandoned) {
		printf("# %" PRIu64 " slots were abandoned, not %d\n", gone, death->abandoned);
		return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	int times[ARRAY_SIZE(deaths)] = { 0 }, bad[ARRAY_SIZE(deaths)] = { 0 };
	struct nl_subgroup first, last;
	unsigned int i;
	int c, number;

	while ((c = getopt(argc, argv, LOOP_OPTIONS)) != -1)
		if (!loop_option(&opt, c, optarg))
			return 2;
	if (nl_open(&nl))
		die("the family cannot be opened");
	printf("# node %u subgroup %u seed %" PRIu64 "\n", opt.node, opt.group, opt.seed);
	loop_look(&opt, &nl, &first);
	for (number = 0; loop_goes_on(&opt, number); number++) {
		i = number % ARRAY_SIZE(deaths);
		rnd_begin(&opt, number);
		times[i]++;
		if (!once(&deaths[i])) {
			bad[i]++;
			printf("# iteration %d: %s\n", number, deaths[i].name);
		}
	}
	for (i = 0; i < ARRAY_SIZE(deaths); i++)
		if (times[i])
			ok(!bad[i], "killed %s", deaths[i].name);
	loop_look(&opt, &nl, &last);
	ok(last.stat[SPINDLE_SUBGROUP_S_SENT] > first.stat[SPINDLE_SUBGROUP_S_SENT],
	   "killed processes have sent messages");
	is(last.stat[SPINDLE_SUBGROUP_S_FROZEN], first.stat[SPINDLE_SUBGROUP_S_FROZEN],
	   "no killed process was frozen");
	printf("# node %u subgroup %u: %d deaths, %" PRIu64 " messages, %" PRIu64
	       " slots abandoned\n", opt.node, opt.group, number,
	       last.stat[SPINDLE_SUBGROUP_S_SENT] - first.stat[SPINDLE_SUBGROUP_S_SENT],
	       last.stat[SPINDLE_SUBGROUP_S_ABANDONED] - first.stat[SPINDLE_SUBGROUP_S_ABANDONED]);
	return tap_bad != 0;
}
