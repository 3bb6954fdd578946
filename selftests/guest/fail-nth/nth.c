// SPDX-License-Identifier: GPL-2.0-only
/*
 * The allocation that fails. The kernel counts the allocations of a thread, and fails the one whose
 * number is in the thread's fail-nth.
 */
#define _GNU_SOURCE
#include <alloca.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "machine.h"
#include "nth.h"
#include "tap.h"

static int nth_fd = -1;		/* fail-nth of the chosen thread, mostly ours */
unsigned int nth;
bool fired;

void aim(const char *path)
{
	if (nth_fd >= 0)
		close(nth_fd);
	nth_fd = open(path, O_RDWR | O_CLOEXEC);
	if (nth_fd < 0)
		die("%s: %s", path, strerror(errno));
}

void arm(void)
{
	char text[16];
	int n = snprintf(text, sizeof(text), "%u", nth);

	fired = false;
	if (nth && pwrite(nth_fd, text, n, 0) != n)
		die("cannot write fail-nth: %s", strerror(errno));
}

void disarm(void)
{
	int err = errno;
	char text[16] = "";

	if (!nth)
		return;
	if (pread(nth_fd, text, sizeof(text) - 1, 0) <= 0 || pwrite(nth_fd, "0", 1, 0) != 1)
		die("cannot read fail-nth: %s", strerror(errno));
	fired = atoi(text) == 0;
	errno = err;
}

/*
 * All kinds of allocations fail, and only when fail-nth says so. All pages of this process are
 * locked. A missing page would be another allocation in the middle of a system call, and its
 * failure an EFAULT.
 */
void prepare(void)
{
	static const char * const set[][2] = {
		{ "failslab/ignore-gfp-wait", "N" },
		{ "failslab/cache-filter", "N" },
		{ "failslab/probability", "0" },
		{ "failslab/verbose", "0" },
		{ "fail_page_alloc/ignore-gfp-wait", "N" },
		{ "fail_page_alloc/ignore-gfp-highmem", "N" },
		{ "fail_page_alloc/min-order", "0" },
		{ "fail_page_alloc/probability", "0" },
		{ "fail_page_alloc/verbose", "0" },
	};
	char path[128];
	size_t i;

	for (i = 0; i < ARRAY_SIZE(set); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s", set[i][0]);
		if (!put(path, set[i][1]))
			die("%s: %s", path, strerror(errno));
	}
	aim("/proc/thread-self/fail-nth");
	memset(alloca(256 << 10), 0, 256 << 10);
	if (mlockall(MCL_CURRENT))
		die("mlockall: %s", strerror(errno));
}
