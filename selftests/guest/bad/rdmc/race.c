// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that make all requests at once, thousands of short groups, and the memory that remains
 * after them. Then requests to a group whose view or node is gone.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "rdmc-bad.h"
#include "selfcheck.h"
#include "tap.h"

#define LEN		(16 * PAGE)
#define THREADS		6
#define RACE_S		4

static int shared[2];
static volatile bool stop;

static void *racer(void *arg)
{
	static const uint32_t two[] = { 1, 2 };
	uint64_t rng = (uintptr_t)arg, n = 0;
	unsigned char *mem = memory(LEN, 1);

	while (!stop) {
		int fd = shared[mix(++rng) & 1], new;
		struct spindle_rdmc_create a;
		struct spindle_rdmc_stat st = { .member = n & 1 };
		struct spindle_rdmc_event ev;
		struct pollfd p = { .fd = fd, .events = POLLIN };

		switch (mix(rng) >> 8 & 15) {
		case 0:
			/*
			 * The new file replaces the old one. Other threads keep the old file, or
			 * get the new one.
			 */
			new = open_dev();
			a = args(1 + (fd == shared[1]), two, 2);
			a.group = 5;
			a.timeout_ms = 300;
			dup3(new, fd, O_CLOEXEC);
			close(new);
			call(fd, SPINDLE_RDMC_IOC_CREATE, &a);
			break;
		case 1:
			if (!(mix(rng) >> 16 & 7))
				call(fd, SPINDLE_RDMC_IOC_CLOSE, NULL);
			break;
		case 2:
		case 3:
		case 4:
			send_it(fd, mem, 1 + (mix(rng) >> 16) % LEN, NULL);
			break;
		case 5:
			cancel(fd, n++ & 15);
			break;
		case 6:
			refuse(fd, n++ & 15);
			break;
		case 7:
			call(fd, SPINDLE_RDMC_IOC_STAT, &st);
			break;
		default:
			if (poll(&p, 1, 1) != 1 || !(p.revents & POLLIN) ||
			    read(fd, &ev, sizeof(ev)) != sizeof(ev))
				break;
			if (ev.kind == SPINDLE_RDMC_INCOMING)
				accept_it(fd, ev.object, mem, ev.len);
			break;
		}
	}
	munmap(mem, LEN);
	return NULL;
}

void part_race(void)
{
	pthread_t thread[THREADS];
	uintptr_t i;

	alarm(RACE_S + 60);
	shared[0] = open_dev();
	shared[1] = open_dev();
	for (i = 0; i < THREADS; i++)
		if (pthread_create(&thread[i], NULL, racer, (void *)(i * 1000 + 1)))
			die("no thread");
	sleep(RACE_S);
	stop = true;
	for (i = 0; i < THREADS; i++)
		pthread_join(thread[i], NULL);
	close(shared[0]);
	close(shared[1]);
	ok(true, "race: the threads have ended");
}

/* ---- many ---------------------------------------------------------------- */

static void churn(const char *what, int rounds, bool open, bool orderly, bool same)
{
	static const uint32_t member[] = { 1, 2 };
	uint64_t group = next_group();
	struct spindle_rdmc_event ev;
	int fd[2], i, k, bad = 0, left = 0;
	long slowest = 0;

	for (i = 0; i < rounds && !bad; i++) {
		struct timespec a, b;
		bool was_left = false;
		long ms;

		clock_gettime(CLOCK_MONOTONIC, &a);
		if (!same)
			group = next_group();
		for (k = 0; k < 2; k++)
			fd[k] = create(group, member[k], member, 2, SPINDLE_RDMC_PIPELINE, 0);
		for (k = 0; open && k < 2; k++) {
			if (expect(fd[k], SPINDLE_RDMC_OPENED, &ev))
				continue;
			/*
			 * A member may take the end of the last group with this id for the end of
			 * this one.
			 */
			if (same && !orderly && ev.kind == SPINDLE_RDMC_FAILED &&
			    ev.error == SPINDLE_RDMC_LEFT)
				was_left = true;
			else
				bad++;
		}
		left += was_left;
		if (orderly && !bad)
			bad += !close_all(fd, 2, true);
		for (k = 0; !orderly && k < 2; k++)
			close(fd[k]);
		clock_gettime(CLOCK_MONOTONIC, &b);
		ms = (b.tv_sec - a.tv_sec) * 1000 + (b.tv_nsec - a.tv_nsec) / 1000000;
		slowest = ms > slowest ? ms : slowest;
	}
	is(bad, 0, "churn: %s: %d groups", what, rounds);
	/* This may happen, but rarely. Otherwise no process could use an id again. */
	ok(left <= rounds / 4, "churn: %s: %d were mistaken for the group before", what, left);
	printf("# the slowest took %ld ms\n", slowest);
	ok(slowest < 5000, "churn: no group waited for a timeout");
}

void part_churn(void)
{
	churn("never open", 500, false, false, false);
	churn("never open, the same id", 500, false, false, true);
	churn("open, and closed", 300, true, true, false);
	churn("open, and closed, the same id", 300, true, true, true);
	churn("open, and left", 300, true, false, false);
	churn("open, and left, the same id", 300, true, false, true);
}

/* ---- remaining pins ------------------------------------------------------------ */

static long vmstat(const char *name)
{
	char line[128], key[64];
	FILE *f = fopen("/proc/vmstat", "r");
	long n = -1, v;

	while (f && fgets(line, sizeof(line), f))
		if (sscanf(line, "%63s %ld", key, &v) == 2 && !strcmp(key, name))
			n = v;
	if (f)
		fclose(f);
	return n;
}

void part_pins(void)
{
	long got = 0, back = -1;
	int i;

	/* A work item releases the last pins. */
	for (i = 0; i < 200 && got != back; i++) {
		usleep(10000);
		got = vmstat("nr_foll_pin_acquired");
		back = vmstat("nr_foll_pin_released");
	}
	ok(got != 0, "pins: %ld pages were pinned", got);
	is(back, got, "pins: all pages were unpinned");
}

/* ---- groups without a node ------------------------------------------------------ */

static void all_requests(const char *what, int fd, unsigned char *mem)
{
	struct spindle_rdmc_stat st = { 0 };
	int err = accept_it(fd, 0, mem, LEN);

	ok(err == ENOENT || err == ECONNABORTED, "%s: accept", what);
	is(cancel(fd, 0), ENOENT, "%s: cancel", what);
	is(refuse(fd, 0), ENOENT, "%s: refuse", what);
	is(call(fd, SPINDLE_RDMC_IOC_STAT, &st), 0, "%s: stat", what);
	is(call(fd, SPINDLE_RDMC_IOC_CLOSE, NULL), ECONNABORTED, "%s: close", what);
}

void part_gone(void)
{
	unsigned char *mem = memory(LEN, 1);
	struct spindle_rdmc_event ev;
	int fd[2], err;

	create_all(fd, 2, SPINDLE_RDMC_PIPELINE, 0);
	is(send_it(fd[0], mem, LEN, NULL), 0, "view gone: an object is under way");
	ok(expect(fd[1], SPINDLE_RDMC_INCOMING, &ev), "view gone: the object is announced");
	is(system("spindle-ctl view del node 1"), 0, "view gone: view del");
	is(send_it(fd[0], mem, LEN, NULL), ECONNABORTED, "view gone: send");
	is(ended(fd[0]), SPINDLE_RDMC_VIEW, "view gone: the error is VIEW");
	all_requests("view gone", fd[0], mem);
	err = ended(fd[1]);
	ok(err == SPINDLE_RDMC_VIEW || err == SPINDLE_RDMC_LOST,
	   "view gone: the error of the other member: %d", err);
	all_requests("view gone, the other", fd[1], mem);
	is(system("spindle-ctl node del id 1"), 0, "node gone: node del");
	is(send_it(fd[0], mem, LEN, NULL), ECONNABORTED, "node gone: send");
	all_requests("node gone", fd[0], mem);
	is(system("spindle-ctl node del id 2"), 0, "node gone: the other one");
	all_requests("node gone, the other", fd[1], mem);
	close(fd[0]);
	close(fd[1]);
}
