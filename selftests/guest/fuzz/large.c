// SPDX-License-Identifier: GPL-2.0-only
/*
 * The device for large objects: processes that create groups, send and accept anything from any
 * memory, and die at any time. Groups of the bystanders' nodes are allowed here, because the
 * bystanders have no groups.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <linux/spindle_rdmc.h>

#include "fuzz.h"

#define DEVICE	"/dev/spindle-rdmc"
#define FILES	6
#define ROOM	(256UL << 10)
#define PAGE	4096UL
#define LIFE_S	60

static int files[FILES];
static uint32_t rank_of[FILES];
static bool bound[FILES];
static unsigned char *room;
static unsigned int my_list;

static void open_one(unsigned int i)
{
	if (one_in(8))
		starve();
	files[i] = open(DEVICE, O_RDWR | O_CLOEXEC | (one_in(2) ? O_NONBLOCK : 0));
	feed();
	bound[i] = false;
	count(OP_OPEN, files[i] < 0 ? errno : 0);
}

static void create(unsigned int i)
{
	static const uint32_t lists[][4] = { { 1, 2 }, { 2, 1 }, { 1, 2, 3 }, { 3, 1, 2 } };
	/* Mostly use the same list, because otherwise no group would find all its members. */
	unsigned int list = one_in(8) ? below(ARRAY_SIZE(lists)) : my_list, n = list < 2 ? 2 : 3;
	struct spindle_rdmc_create a = {
		.size = sizeof(a),
		.node = lists[list][below(n)],
		.group = 1 + one_in(4) + 10 * list,
		.members = (uintptr_t)lists[list],
		.count = n,
		/* Groups of the same id differ now and then. */
		.algorithm = one_in(8) ? below(5) : 0,
		.block = one_in(8) ? 8192 : 4096,
		.timeout_ms = 200 + below(800),
	};
	int err;

	if (one_in(4)) {
		uint64_t v = odd();

		switch (below(8)) {
		case 0: a.size = one_in(2) ? sizeof(a) + below(16) - 8 : v; break;
		case 1: a.node = v; break;
		case 2: a.group = v; break;
		case 3: a.members = v; break;
		case 4: a.count = v; break;
		case 5: a.algorithm = v; break;
		case 6: a.block = v; break;
		case 7: ((uint64_t *)&a)[below(sizeof(a) / 8)] = v; break;
		}
		/* Limit the timeout, because a round must not wait for a longer one. */
		if (a.timeout_ms > 2000 || !a.timeout_ms)
			a.timeout_ms = 2000;
	}
	if (one_in(5))
		starve();
	err = ioctl(files[i], SPINDLE_RDMC_IOC_CREATE, &a) ? errno : 0;
	feed();
	count(OP_RDMC_CREATE, err);
	if (!err) {
		bound[i] = true;
		rank_of[i] = a.rank;
		if (a.rank >= a.count)
			broken("rank %u of %u", a.rank, a.count);
	}
}

static uint64_t any_addr(uint64_t len)
{
	switch (below(10)) {
	case 0:
		/* This process has no memory at these addresses, so nothing is overwritten. */
		return one_in(2) ? 0 : 1ULL << (56 + below(8)) | odd();
	case 1:
		return (uintptr_t)room + ROOM - below(2 * PAGE);
	default:
		return (uintptr_t)room + (len < ROOM ? rnd() % (ROOM - len) : 0);
	}
}

static void send_some(unsigned int i)
{
	struct spindle_rdmc_send s = { .len = one_in(8) ? odd() : 1 + below(40000) };
	int err;

	s.addr = any_addr(s.len);
	if (one_in(6))
		starve();
	err = ioctl(files[i], SPINDLE_RDMC_IOC_SEND, &s) ? errno : 0;
	feed();
	count(OP_RDMC_SEND, err);
	if (!err && (!bound[i] || rank_of[i]))
		broken("a member other than the root has sent");
}

static void accept_some(unsigned int i, uint64_t object, uint64_t len)
{
	struct spindle_rdmc_accept a = {
		.object = one_in(8) ? odd() : object,
		.len = one_in(8) ? odd() : len,
	};
	int err;

	a.addr = any_addr(a.len);
	if (one_in(6))
		starve();
	err = ioctl(files[i], SPINDLE_RDMC_IOC_ACCEPT, &a) ? errno : 0;
	feed();
	count(OP_RDMC_ACCEPT, err);
}

static void give_up(unsigned int i, uint64_t object)
{
	struct spindle_rdmc_cancel c = {
		.object = one_in(4) ? odd() : object,
		.reason = rnd(),
		.resv = one_in(20),
	};

	count(OP_RDMC_GIVE_UP, ioctl(files[i], one_in(2) ? SPINDLE_RDMC_IOC_CANCEL :
				     SPINDLE_RDMC_IOC_REFUSE, &c) ? errno : 0);
}

static void stat_one(unsigned int i)
{
	struct spindle_rdmc_stat st = { .member = one_in(4) ? odd() : below(3) };

	count(OP_RDMC_STAT, ioctl(files[i], SPINDLE_RDMC_IOC_STAT, &st) ? errno : 0);
}

static void read_some(unsigned int i)
{
	struct pollfd p = { .fd = files[i], .events = POLLIN };
	struct spindle_rdmc_event ev[4];
	ssize_t n, k;

	if (poll(&p, 1, below(20)) < 1 || !(p.revents & POLLIN)) {
		count(OP_POLL, 0);
		return;
	}
	n = read(files[i], ev, one_in(16) ? below(sizeof(ev)) : sizeof(ev));
	count(OP_RDMC_READ, n < 0 ? errno : 0);
	for (k = 0; k < n / (ssize_t)sizeof(*ev); k++) {
		if (ev[k].kind < SPINDLE_RDMC_OPENED || ev[k].kind > SPINDLE_RDMC_FAILED ||
		    ev[k].error > SPINDLE_RDMC_INCOMPLETE)
			broken("event %u, error %u", ev[k].kind, ev[k].error);
		if (ev[k].kind != SPINDLE_RDMC_INCOMING || !rank_of[i])
			continue;
		if (one_in(6))
			give_up(i, ev[k].object);
		if (!one_in(8))
			accept_some(i, ev[k].object, ev[k].len);
	}
}

static void odd_ioctl(unsigned int i)
{
	unsigned char buf[512];
	unsigned int cmd = one_in(2) ? _IOC(below(4), SPINDLE_IOC_MAGIC, 30 + below(12),
					    below(512)) : SPINDLE_RDMC_IOC_CREATE + below(7);
	unsigned int k;

	for (k = 0; k < sizeof(buf); k++)
		buf[k] = one_in(2) ? 0 : rnd();
	count(OP_RDMC_ODD, ioctl(files[i], cmd, one_in(3) ? (void *)odd() : buf) ? errno : 0);
}

/* Free memory that may be in use. Other memory takes its place, or none. */
static void churn_memory(void)
{
	unsigned long at = below(ROOM / PAGE) * PAGE, len = (1 + below(8)) * PAGE;

	if (at + len > ROOM)
		len = ROOM - at;
	switch (below(4)) {
	case 0:
		mmap(room + at, len, PROT_READ | PROT_WRITE,
		     MAP_FIXED | MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
		break;
	case 1:
		mprotect(room + at, len, below(4));
		break;
	case 2:
		madvise(room + at, len, one_in(2) ? MADV_DONTNEED : MADV_PAGEOUT);
		break;
	case 3:
		mprotect(room, ROOM, PROT_READ | PROT_WRITE);
		break;
	}
}

static void act(void)
{
	unsigned int i = below(FILES), p = below(100);

	if (files[i] < 0) {
		open_one(i);
		return;
	}
	if (!bound[i] && p < 80) {
		create(i);
	} else if (p < 30) {
		read_some(i);
	} else if (p < 60) {
		send_some(i);
	} else if (p < 70) {
		accept_some(i, below(8), 1 + below(40000));
	} else if (p < 75) {
		give_up(i, below(8));
	} else if (p < 80) {
		stat_one(i);
	} else if (p < 82) {
		count(OP_RDMC_CLOSE, ioctl(files[i], SPINDLE_RDMC_IOC_CLOSE, rnd()) ? errno : 0);
	} else if (p < 88) {
		odd_ioctl(i);
	} else if (p < 92) {
		churn_memory();
	} else if (p < 94) {
		create(i);
	} else if (p < 97) {
		close(files[i]);
		files[i] = -1;
	}
}

static void life(unsigned int acts)
{
	unsigned int i;

	alarm(LIFE_S);
	my_list = one_in(2) ? 0 : below(4);
	room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	for (i = 0; i < FILES; i++)
		files[i] = -1;
	while (acts--)
		act();
}

void fuzz_rdmc(unsigned int lives)
{
	while (lives--) {
		uint64_t seed = rnd();
		unsigned int cut = one_in(3) ? 1 + below(60) : 0;
		int status;
		pid_t pid = fork();

		if (pid < 0) {
			broken("fork: %s", strerror(errno));
			return;
		}
		if (!pid) {
			rng = seed;
			life(50 + below(400));
			_exit(0);
		}
		if (cut) {
			struct timespec ts = { .tv_nsec = cut * 10 * 1000000L };

			nanosleep(&ts, NULL);
			kill(pid, SIGKILL);
		}
		waitpid(pid, &status, 0);
		if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM)
			broken("a process needed more than %d s", LIFE_S);
		count(OP_LIFE, WIFSIGNALED(status) ? WTERMSIG(status) : 0);
	}
}

/* A group of a node with a simulated peer: the process accepts objects, and sends. */
pid_t rdmc_partner(uint32_t node, uint32_t peer, bool root, uint64_t group)
{
	uint32_t member[] = { root ? node : peer, root ? peer : node };
	struct spindle_rdmc_create a = {
		.size = sizeof(a), .node = node, .group = group, .members = (uintptr_t)member,
		.count = 2, .block = 4096, .timeout_ms = 1000,
	};
	uint64_t seed = rnd();
	unsigned int n = 600;
	pid_t pid = fork();

	if (pid)
		return pid;
	rng = seed;
	alarm(LIFE_S);
	room = mmap(NULL, ROOM, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	files[0] = open(DEVICE, O_RDWR | O_CLOEXEC | O_NONBLOCK);
	rank_of[0] = !root;
	if (!ioctl(files[0], SPINDLE_RDMC_IOC_CREATE, &a)) {
		bound[0] = true;
		while (n--) {
			read_some(0);
			if (root && one_in(2))
				send_some(0);
			if (one_in(16))
				give_up(0, below(8));
			if (one_in(64))
				ioctl(files[0], SPINDLE_RDMC_IOC_CLOSE, 0);
		}
	}
	_exit(0);
}
