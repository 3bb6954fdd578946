// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which user is charged for pinned memory, and until when?
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "rdmc-bad.h"
#include "tap.h"
#include "ipc-lock.h"

static void set_memlock(rlim_t bytes)
{
	struct rlimit r = { bytes, 64 << 20 };

	if (setrlimit(RLIMIT_MEMLOCK, &r))
		die("setrlimit: %s", strerror(errno));
}

/* The root sends an object, and cancels it before any member takes it. */
static bool for_nothing(int *fd, const unsigned char *from, uint64_t len)
{
	uint64_t object;

	return !send_it(fd[0], from, len, &object) && !cancel(fd[0], object) &&
	       done(fd[0], object) == SPINDLE_RDMC_CANCELLED &&
	       done(fd[1], object) == SPINDLE_RDMC_CANCELLED;
}

/* The number that users see. */
static long pinned_kib(void)
{
	FILE *f = fopen("/proc/self/status", "r");
	char line[128];
	long kib = -1;

	while (f && fgets(line, sizeof(line), f))
		sscanf(line, "VmPin: %ld", &kib);
	if (f)
		fclose(f);
	return kib;
}

void part_memlock(void)
{
	unsigned char *from = memory(16 * PAGE, 1), *to = memory(16 * PAGE, 2);
	struct spindle_rdmc_event ev;
	int fd[2], i, bad = 0;
	uint64_t object;

	create_all(fd, 2, SPINDLE_RDMC_PIPELINE, 0);
	set_memlock(0);
	ok(for_nothing(fd, from, 16 * PAGE), "memlock: a process with CAP_IPC_LOCK has no limit");
	drop_ipc_lock();
	is(send_it(fd[0], from, 1, NULL), ENOMEM, "memlock: a limit of 0 refuses one byte");
	set_memlock(4 * PAGE - 1);
	is(send_it(fd[0], from, 4 * PAGE, NULL), ENOMEM,
	   "memlock: a limit one byte too low refuses");
	set_memlock(4 * PAGE);
	is(send_it(fd[0], from + 1, 4 * PAGE, NULL), ENOMEM, "memlock: five pages are touched");
	is(send_it(fd[0], from + PAGE - 1, 3 * PAGE + 2, NULL), ENOMEM,
	   "memlock: two bytes more touch five pages");
	for (i = 0; i < 500 && !bad; i++)
		bad += !for_nothing(fd, from + 1, 4 * PAGE - 1);
	is(bad, 0, "memlock: 500 objects under a limit for one");
	for (i = bad = 0; i < 500; i++)
		bad += send_it(fd[0], NULL, 4 * PAGE, NULL) != EFAULT;
	is(bad, 0, "memlock: 500 unmapped objects under a limit for one");
	is(pinned_kib(), 0, "memlock: the process has nothing pinned");
	is(send_it(fd[0], from, 4 * PAGE, &object), 0,
	   "memlock: a limit for one object allows one");
	is(pinned_kib(), 4 * PAGE / 1024, "memlock: the process has pinned that object");
	is(send_it(fd[0], from, 1, NULL), ENOMEM, "memlock: a limit for one object refuses two");
	ok(expect(fd[1], SPINDLE_RDMC_INCOMING, &ev),
	   "memlock: the receiver gets the announcement");
	is(accept_it(fd[1], object, to, 4 * PAGE), ENOMEM,
	   "memlock: the limit refuses the receiving side");
	set_memlock(8 * PAGE);
	is(accept_it(fd[1], object, to, 4 * PAGE), 0, "memlock: a limit for both sides allows it");
	is(done(fd[1], object), 0, "memlock: the object arrives");
	is(done(fd[0], object), 0, "memlock: the root has sent the object");
	set_memlock(4 * PAGE);
	ok(for_nothing(fd, from, 4 * PAGE), "memlock: all charges are returned");
	/* A group that ends with its file releases its charge as well. */
	for (i = bad = 0; i < 50; i++) {
		close(fd[0]);
		close(fd[1]);
		create_all(fd, 2, SPINDLE_RDMC_PIPELINE, 0);
		/*
		 * The charge may stay for a moment, because the device may
		 * still use the memory.
		 */
		for (bad = 0; send_it(fd[0], from, 4 * PAGE, NULL) && bad < 5000; bad++)
			usleep(1000);
		if (bad == 5000)
			break;
	}
	is(i, 50, "memlock: 50 groups that end with an object under way");
	close(fd[0]);
	close(fd[1]);
}
