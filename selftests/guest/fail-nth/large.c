// SPDX-License-Identifier: GPL-2.0-only
/*
 * Groups for large objects: the requests of a process, and the work items that follow.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>
#include <linux/spindle_rdmc.h>

#include "fail-nth.h"
#include "machine.h"
#include "nth.h"
#include "path.h"
#include "workers.h"
#include "tap.h"

#define DEVICE		"/dev/spindle-rdmc"
#define LEN		(64 * PAGE)
#define QUIET_ROUNDS	3
/* The number of groups. Each begins as soon as the process has left the last one. */
#define PAIRS		200
/* More allocations than a group of two has, because the workers have other work as well. */
#define MAX_LANE_NTH	400

static unsigned char from[LEN + PAGE], to[LEN + PAGE];

/* Nodes 1 and 2. Node 1 sends. */
struct pair {
	int fd[2];
	uint64_t group, object;
};

static int dev_open(void *ctx)
{
	struct pair *p = ctx;

	arm();
	p->fd[0] = open(DEVICE, O_RDWR | O_CLOEXEC);
	disarm();
	return p->fd[0] < 0 ? -errno : 0;
}

static void dev_close(void *ctx)
{
	struct pair *p = ctx;

	close(p->fd[0]);
	p->fd[0] = -1;
}

static void sit_again(void *ctx)
{
	struct pair *p = ctx;

	dev_close(ctx);
	p->fd[0] = open(DEVICE, O_RDWR | O_CLOEXEC);
	if (p->fd[0] < 0)
		die("%s: %s", DEVICE, strerror(errno));
}

/* Never use the same group twice, because the last one may not be gone yet. */
static int create(struct pair *p, int k)
{
	static const uint32_t member[] = { 1, 2 };
	struct spindle_rdmc_create a = {
		.size = sizeof(a), .node = member[k], .group = p->group,
		.members = (uintptr_t)member, .count = 2, .block = 8192, .timeout_ms = 3000,
	};

	return ioctl(p->fd[k], SPINDLE_RDMC_IOC_CREATE, &a) ? -errno : 0;
}

static int create_one(void *ctx)
{
	struct pair *p = ctx;
	int err;

	p->group++;
	arm();
	err = create(p, 0);
	disarm();
	return err;
}

static bool next(int fd, struct spindle_rdmc_event *ev)
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };

	return poll(&pfd, 1, WAIT_MS) == 1 && read(fd, ev, sizeof(*ev)) == sizeof(*ev);
}

/* The error with which a group ends, 0 if it is open, or -1 if nothing happens. */
static int outcome(int fd)
{
	struct spindle_rdmc_event ev;

	if (!next(fd, &ev))
		return -1;
	return ev.kind == SPINDLE_RDMC_OPENED ? 0 : (int)ev.error;
}

static void leave_pair(struct pair *p)
{
	close(p->fd[0]);
	close(p->fd[1]);
}

/* Open a group at both nodes. Returns 0 if it is open. */
static int open_pair(struct pair *p, int err[2])
{
	int k;

	p->group++;
	for (k = 0; k < 2; k++) {
		p->fd[k] = open(DEVICE, O_RDWR | O_CLOEXEC);
		if (p->fd[k] < 0 || create(p, k))
			die("no group: %s", strerror(errno));
	}
	for (k = 0; k < 2; k++)
		err[k] = outcome(p->fd[k]);
	return err[0] | err[1];
}

static void drain(int fd, uint64_t object)
{
	struct spindle_rdmc_event ev;

	while (next(fd, &ev))
		if (ev.kind == SPINDLE_RDMC_DONE && ev.object == object)
			return;
	die("an object does not end");
}

static int send_one(void *ctx)
{
	struct pair *p = ctx;
	struct spindle_rdmc_send s = { .addr = (uintptr_t)from + 77, .len = LEN };
	int err;

	arm();
	err = ioctl(p->fd[0], SPINDLE_RDMC_IOC_SEND, &s) ? -errno : 0;
	disarm();
	p->object = s.object;
	return err;
}

static void unsend(void *ctx)
{
	struct pair *p = ctx;
	struct spindle_rdmc_cancel c = { .object = p->object };
	int k;

	if (ioctl(p->fd[0], SPINDLE_RDMC_IOC_CANCEL, &c))
		die("cancel: %s", strerror(errno));
	for (k = 0; k < 2; k++)
		drain(p->fd[k], p->object);
}

/* Send an object that waits to be accepted. */
static void offer(struct pair *p)
{
	struct spindle_rdmc_event ev;
	unsigned int n = nth;

	nth = 0;
	memset(from, nth + p->object * 7 + 1, sizeof(from));
	if (send_one(p) || !next(p->fd[1], &ev) || ev.kind != SPINDLE_RDMC_INCOMING)
		die("no object comes");
	nth = n;
}

static int accept_one(void *ctx)
{
	struct pair *p = ctx;
	struct spindle_rdmc_accept a = { .object = p->object, .addr = (uintptr_t)to + 5,
					 .len = LEN };
	int err;

	arm();
	err = ioctl(p->fd[1], SPINDLE_RDMC_IOC_ACCEPT, &a) ? -errno : 0;
	disarm();
	return err;
}

static void take(void *ctx)
{
	struct pair *p = ctx;
	int k;

	for (k = 0; k < 2; k++)
		drain(p->fd[k], p->object);
	if (memcmp(to + 5, from + 77, LEN))
		die("the object is wrong");
	memset(to, 0, sizeof(to));
	offer(p);
}

void test_rdmc(void)
{
	struct pair p = { .fd = { -1, -1 }, .group = 1 };
	struct op op = { .name = "rdmc: open", .run = dev_open, .undo = dev_close, .ctx = &p,
			 .errs = errs_mem };
	int err[2], i;

	path(&op);
	sit_again(&p);
	/*
	 * Groups and lanes may be in vmalloc() memory, so another allocation replaces each one that
	 * fails.
	 */
	op = (struct op){ .name = "rdmc: create", .run = create_one, .undo = sit_again, .ctx = &p,
			  .errs = errs_mem, .never = true };
	path(&op);
	dev_close(&p);
	/* The lane of the last group may be closing. Then the group gets another lane. */
	for (i = 0; i < PAIRS; i++) {
		if (i)
			leave_pair(&p);
		if (open_pair(&p, err))
			die("pair %d does not open: %d, %d", i, err[0], err[1]);
	}
	op = (struct op){ .name = "rdmc: send", .run = send_one, .undo = unsend, .ctx = &p,
			  .errs = errs_mem };
	path(&op);
	offer(&p);
	op = (struct op){ .name = "rdmc: accept", .run = accept_one, .undo = take, .ctx = &p,
			  .errs = errs_mem };
	path(&op);
	leave_pair(&p);
}

/*
 * Work items connect lanes and register regions. After a failure the work item tries again, or the
 * group ends with an error at both members. The next group opens.
 */
void test_lanes(void)
{
	unsigned int n, quiet = 0, failed = 0, ended = 0, bad = 0;
	struct pair p = { .group = 1 };
	struct usage first, last;
	int err[2], tries;

	for (n = 0; n < 3; n++) {
		open_pair(&p, err);
		leave_pair(&p);
		nap(50);
	}
	first = usage();
	only_ours(true);
	for (n = 1; n < MAX_LANE_NTH && quiet < QUIET_ROUNDS && bad < 5; n++) {
		unsigned int hit;

		arm_workers(n);
		open_pair(&p, err);
		hit = disarm_workers();
		leave_pair(&p);
		failed += hit;
		quiet = hit ? 0 : quiet + 1;
		ended += hit && (err[0] || err[1]);
		if (err[0] < 0 || err[1] < 0) {
			bad++;
			printf("# allocation %u: silence: %d, %d\n", n, err[0], err[1]);
		}
		for (tries = 0; open_pair(&p, err) && tries < 20; tries++) {
			leave_pair(&p);
			nap(20);
		}
		if (err[0] || err[1]) {
			bad++;
			printf("# allocation %u: nor does the next one open: %d, %d\n", n,
			       err[0], err[1]);
		}
		leave_pair(&p);
		nap(20);
	}
	only_ours(false);
	last = usage();
	ok(failed && !bad && n < MAX_LANE_NTH,
	   "lanes: %u allocations failed, %u times the group did, %u rounds", failed, ended, n);
	is(last.maps, first.maps, "lanes: mappings in use");
	printf("# pages in use: %+ld\n", last.pages - first.pages);
}
