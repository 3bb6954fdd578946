// SPDX-License-Identifier: GPL-2.0-only
/*
 * table-garbage: a process that writes rubbish into its row of a table, and into its user page.
 *
 *	table-garbage -n NODE -g TABLE [-w NODE] [-i ITERATIONS] [-f FILE] [-S SEED] [-s SECONDS]
 *
 * In a loop, a child of the program attaches as the writer, and two threads of it write random
 * words: values half written, sealed values of any version, dirty bits of all cells and of cells
 * that there are not, the generation that was seen, flushes and refreshes of any number, intervals,
 * and members to skip. The program reads the row at both nodes at the same time: each cell is half
 * written, or it has a sealed value. Then the child dies, and a correct writer writes all cells.
 * Its values arrive at the node -w (2) within SECONDS (60). The random numbers follow from the seed
 * and from the number of the iteration.
 */
#include <getopt.h>
#include <inttypes.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "loop.h"
#include "cells.h"

#define SCRIBBLE_MS	300

static struct loop opt = { .iterations = 10, .seed = 1 };
static uint32_t watcher = 2;
static int wait_s = 60;

/* ---- rubbish --------------------------------------------------------------- */

struct scribbler {
	pthread_t thread;
	struct cells *c;
	uint64_t rng;
};

static uint64_t next(struct scribbler *s)
{
	s->rng += 0x9e3779b97f4a7c15ULL;
	return mix(s->rng);
}

static void store(uint64_t *word, uint64_t v)
{
	__atomic_store_n(word, v, __ATOMIC_RELAXED);
}

static void spoil_row(struct scribbler *s)
{
	uint64_t words = s->c->a.own.len / sizeof(uint64_t);
	int i;

	for (i = 0; i < 64; i++)
		store(&s->c->own[next(s) % words], next(s));
}

static bool of_mode_read(const struct cells *c)
{
	return c->a.mode == SPINDLE_MODE_TABLE_READ;
}

/*
 * A sealed value, of a version that does not follow from the former one. In mode read no version
 * goes back, so a correct writer needs versions above all of these.
 */
static void spoil_version(struct scribbler *s)
{
	static const uint64_t odd[] = { 0, 1, UINT64_MAX, 1ULL << 63, INT64_MAX };
	uint64_t v = next(s), version = v >> 32 & 1 ? odd[(v >> 40) % 5] : next(s);

	cells_write(s->c, v % 4 ? v / 4 % s->c->a.cells : 0,
		    of_mode_read(s->c) ? version & INT64_MAX : version);
}

/* The words that the engine looks at, and those behind them. */
static void spoil_bits(struct scribbler *s)
{
	uint64_t *word = (uint64_t *)s->c->usr, *dirty = word + s->c->a.usr_dirty / 8;
	uint64_t words = s->c->a.usr.len / sizeof(uint64_t);
	int i;

	for (i = 0; i < 8; i++)
		store(&word[next(s) % words], next(s) >> next(s) % 64);
	store(&dirty[next(s) % 16], UINT64_MAX);
	__atomic_fetch_or(dirty, 1, __ATOMIC_RELEASE);
	store(word + s->c->a.usr_seen / 8, next(s) >> next(s) % 64);
	store(word + s->c->a.usr_flush / 8, next(s) >> next(s) % 64);
	store(word + s->c->a.usr_refresh / 8, next(s) >> next(s) % 64);
	store(word + s->c->a.usr_every / 8, next(s) >> next(s) % 64);
	store(word + s->c->a.usr_skip / 8 + next(s) % ((s->c->a.instances + 63) / 64), next(s));
}

static void poll_and_kick(struct scribbler *s)
{
	struct pollfd p = { .fd = s->c->fd, .events = POLLIN | POLLOUT | POLLRDBAND };

	if (ioctl(s->c->fd, SPINDLE_TABLE_IOC_KICK) && errno != ENOTCONN)
		_exit(1);
	if (next(s) % 4 == 0 && poll(&p, 1, 1) < 0)
		_exit(2);
}

/* Ends with the process. */
static void *scribble(void *arg)
{
	struct scribbler *s = arg;

	for (;;) {
		switch (next(s) % 8) {
		case 0:
		case 1:
		case 2:
			spoil_row(s);
			break;
		case 3:
		case 4:
			spoil_version(s);
			break;
		case 5:
		case 6:
			spoil_bits(s);
			break;
		case 7:
			poll_and_kick(s);
			break;
		}
	}
	return NULL;
}

/* Attach as the writer. Rarely the former one has not gone yet. */
static int attach_writer(struct cells *c)
{
	int tries, err = -EBUSY;

	for (tries = 0; err == -EBUSY && tries < wait_s * 100; tries++) {
		err = cells_attach(c, cells_args(opt.node, opt.group, SPINDLE_TABLE_WRITE));
		if (err)
			usleep(10000);
	}
	return err;
}

static pid_t start_scribbling(int number)
{
	struct scribbler s[2];
	struct cells c;
	pid_t pid;
	int i;

	fflush(stdout);
	pid = fork();
	if (pid < 0)
		die("fork: %s", strerror(errno));
	if (pid)
		return pid;
	if (attach_writer(&c))
		_exit(3);
	for (i = 0; i < 2; i++) {
		s[i] = (struct scribbler){ .c = &c, .rng = mix(opt.seed) + 2 * number + i };
		if (pthread_create(&s[i].thread, NULL, scribble, &s[i]))
			_exit(4);
	}
	pthread_join(s[0].thread, NULL);
	_exit(5);
}

/* ---- readers --------------------------------------------------------------- */

/* The row of the bad node, at one of the nodes. */
struct reader {
	struct cells c;
	const uint64_t *row;
	uint64_t whole, half, wrong;
};

static void open_reader(struct reader *r, uint32_t node, uint32_t instance)
{
	int err = cells_attach(&r->c, cells_args(node, opt.group, 0));

	if (err)
		die("attach node %u: %s", node, strerror(-err));
	r->row = cells_map(&r->c, &r->c.a.rows,
			   instance < r->c.a.instances ? instance : r->c.a.own_instance, PROT_READ);
	if (!r->row)
		die("mmap: %s", strerror(errno));
	cells_every(&r->c, 1);
}

static void read_all(struct reader *r)
{
	uint64_t version;
	uint32_t cell;

	for (cell = 0; cell < r->c.a.cells; cell++) {
		switch (cells_read(&r->c, r->row, cell, &version)) {
		case 0:
			r->whole++;
			break;
		case -EAGAIN:
			r->half++;
			break;
		default:
			r->wrong++;
		}
	}
}

static void read_for(struct reader *r, int ms)
{
	struct pollfd p = { .fd = r[1].c.fd, .events = POLLIN };
	int i;

	for (i = 0; i < ms / 5; i++) {
		cells_see(&r[1].c);
		read_all(&r[0]);
		read_all(&r[1]);
		if (poll(&p, 1, 5) > 0)
			usleep(5000);
	}
}

/* Have all cells this version? */
static bool complete(struct reader *r, uint64_t version)
{
	uint64_t have;
	uint32_t cell;

	for (cell = 0; cell < r->c.a.cells; cell++)
		if (cells_read(&r->c, r->row, cell, &have) || have != version)
			return false;
	return true;
}

/* ---- an iteration ---------------------------------------------------------- */

/* A correct process writes the row that the bad one has left behind. */
static bool recovers(struct reader *r, uint64_t version)
{
	struct cells c;
	uint32_t cell;
	int err = attach_writer(&c), tries;
	bool good;

	if (err) {
		printf("# attach a correct writer: %s\n", strerror(-err));
		return false;
	}
	for (cell = c.a.cells; cell--;)
		cells_write(&c, cell, version);
	if (cells_kick(&c))
		printf("# kick: %s\n", strerror(errno));
	for (tries = 0; !complete(r, version) && tries < wait_s * 100; tries++)
		usleep(10000);
	good = complete(r, version);
	/* The guard of the contract may be believed, too. */
	if (good && (r->c.a.features & SPINDLE_TABLE_FEAT_VOUCH))
		while (__atomic_load_n((uint64_t *)(r->c.ctl + r->c.a.ctl_vouched) +
				       c.a.own_instance, __ATOMIC_ACQUIRE) != version &&
		       tries++ < wait_s * 100)
			usleep(10000);
	cells_detach(&c);
	return good && tries < wait_s * 100;
}

static bool once(struct reader *r, int number)
{
	pid_t pid = start_scribbling(number);
	int status;

	read_for(r, SCRIBBLE_MS);
	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL) {
		printf("# iteration %d: the bad process ended with status %#x\n", number, status);
		return false;
	}
	if (recovers(&r[1], (of_mode_read(&r[1].c) ? 1ULL << 63 : 0) + 1000 + number))
		return true;
	printf("# iteration %d: values of a correct writer do not arrive\n", number);
	return false;
}

int main(int argc, char **argv)
{
	struct reader r[2] = { 0 };
	int c, number, bad = 0;

	while ((c = getopt(argc, argv, LOOP_OPTIONS "w:s:")) != -1) {
		if (c == 'w')
			watcher = atoi(optarg);
		else if (c == 's')
			wait_s = atoi(optarg);
		else if (!loop_option(&opt, c, optarg))
			return 2;
	}
	open_reader(&r[0], opt.node, UINT32_MAX);
	open_reader(&r[1], watcher, r[0].c.a.own_instance);
	for (number = 0; loop_goes_on(&opt, number); number++)
		bad += !once(r, number);
	for (c = 0; c < 2; c++)
		printf("# %s row: %" PRIu64 " whole values, %" PRIu64 " half written\n",
		       c ? "far" : "own", r[c].whole, r[c].half);
	is(bad, 0, "table garbage: correct writers follow %d bad ones", number);
	is(r[0].wrong + r[1].wrong, 0, "table garbage: sealed values are whole");
	/* In mode read, the engine takes whole values only. */
	ok(r[0].half && (r[1].half || of_mode_read(&r[1].c)) && r[1].whole,
	   "table garbage: readers saw values of both kinds");
	return tap_bad != 0;
}
