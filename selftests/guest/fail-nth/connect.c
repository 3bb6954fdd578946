// SPDX-License-Identifier: GPL-2.0-only
/*
 * Work items make connections. The thread that runs one is not known before. The same threads send
 * the packets of soft-RoCE, and its management queue pair does not survive a failed allocation. So
 * the nth allocation of each worker of the unbound queues fails. Only allocations of the module
 * count, made directly or through the RDMA core (CONFIG_FAULT_INJECTION_STACKTRACE_FILTER).
 */
#define _GNU_SOURCE
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <linux/spindle.h>

#include "fail-nth.h"
#include "machine.h"
#include "nth.h"
#include "request.h"
#include "shown.h"
#include "workers.h"
#include "tap.h"

#define MAX_WORKERS	256
#define QUIET_ROUNDS	3	/* rounds without a failure until the test ends */

static struct {
	int fd[MAX_WORKERS];
	int n;
} workers;

void only_ours(bool only)
{
	static const char * const dirs[] = { "failslab", "fail_page_alloc" };
	unsigned long first = 0, last = ~0UL;
	char path[128], text[64], line[512];
	FILE *f = only ? fopen("/proc/kallsyms", "r") : NULL;
	size_t i;

	if (only) {
		first = ~0UL;
		last = 0;
	}
	while (f && fgets(line, sizeof(line), f)) {
		unsigned long at;
		char type;

		if (!strstr(line, "\t[spindle]") || sscanf(line, "%lx %c", &at, &type) != 2 ||
		    tolower(type) != 't')
			continue;
		first = at < first ? at : first;
		/* The last function ends at most one page later. */
		last = at + PAGE > last ? at + PAGE : last;
	}
	if (f)
		fclose(f);
	if (first >= last)
		die("the module has no symbols");
	for (i = 0; i < ARRAY_SIZE(dirs); i++) {
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/require-start", dirs[i]);
		snprintf(text, sizeof(text), "0x%lx", first);
		if (!put(path, text))
			die("%s: %s", path, strerror(errno));
		snprintf(path, sizeof(path), "/sys/kernel/debug/%s/require-end", dirs[i]);
		snprintf(text, sizeof(text), "0x%lx", last);
		if (!put(path, text))
			die("%s: %s", path, strerror(errno));
	}
}

void arm_workers(unsigned int n)
{
	char path[300], comm[64], text[16];
	const struct dirent *e;
	DIR *d = opendir("/proc");

	workers.n = 0;
	snprintf(text, sizeof(text), "%u", n);
	while (d && (e = readdir(d)) && workers.n < MAX_WORKERS) {
		int fd;

		snprintf(path, sizeof(path), "/proc/%s/comm", e->d_name);
		if (!isdigit(e->d_name[0]) || get(path, comm, sizeof(comm)) <= 0 ||
		    strncmp(comm, "kworker/u", 9))
			continue;
		snprintf(path, sizeof(path), "/proc/%s/fail-nth", e->d_name);
		fd = open(path, O_RDWR | O_CLOEXEC);
		if (fd >= 0 && pwrite(fd, text, strlen(text), 0) > 0)
			workers.fd[workers.n++] = fd;
		else if (fd >= 0)
			close(fd);
	}
	if (d)
		closedir(d);
}

unsigned int disarm_workers(void)
{
	unsigned int hit = 0;

	while (workers.n) {
		int fd = workers.fd[--workers.n];
		char text[16] = "";

		if (pread(fd, text, sizeof(text) - 1, 0) > 0)
			hit += atoi(text) == 0;
		if (pwrite(fd, "0", 1, 0) < 0 && errno != ESRCH)
			die("cannot disarm a worker: %s", strerror(errno));
		close(fd);
	}
	return hit;
}

static int take_attempts(void *ctx, const struct nlmsghdr *nlh)
{
	const void *end = (char *)nl_attrs(nlh) + nl_attrs_len(nlh);
	const struct nlattr *a;

	for (a = nl_at(nl_attrs(nlh), end); a; a = nl_behind(a, end))
		if (nl_type(a) == SPINDLE_A_PEER)
			*(unsigned int *)ctx += nl_num(nl_find(nl_data(a), nl_len(a),
							       SPINDLE_PEER_A_ATTEMPTS));
	return 0;
}

/* The number of attempts of all connections of the installed views. */
static unsigned int attempts(void)
{
	unsigned int sum = 0;
	struct nl_ack ack;

	nl_begin(&eye, &request, SPINDLE_CMD_STATS_GET, NLM_F_DUMP);
	if (nl_talk(&eye, &request, &ack, take_attempts, &sum) || ack.err)
		die("cannot look at connections");
	return sum;
}

/* Each row has two chunks. */
static const struct view pair = {
	"a pair", 1U << 1 | 1U << 2, {
		SET(.id = 1, .window = 64, .max_msg = 65536, .ring = 2 << 20),
	}
};

/* Set the view of the waiting side first, so that each side needs one attempt if nothing fails. */
static bool connect_pair(uint64_t vid)
{
	long end = now_ms() + WAIT_MS;
	int a, b;

	if (set_view(&pair, 2, vid) || set_view(&pair, 1, vid))
		die("a view cannot be set");
	do {
		nap(2);
		a = subgroup_state(1, 1);
		b = subgroup_state(2, 1);
	} while (now_ms() < end && a <= SPINDLE_STATE_ACTIVE && b <= SPINDLE_STATE_ACTIVE &&
		 (a != SPINDLE_STATE_ACTIVE || b != SPINDLE_STATE_ACTIVE));
	return a == SPINDLE_STATE_ACTIVE && b == SPINDLE_STATE_ACTIVE;
}

static void part_pair(void)
{
	simple(SPINDLE_CMD_VIEW_DEL, 1);
	simple(SPINDLE_CMD_VIEW_DEL, 2);
}

void test_connect(void)
{
	unsigned int n, quiet = 0, failed = 0, undone = 0, bad = 0;
	long start = now_ms();
	struct usage first, last;
	uint64_t vid = 1000;

	for (n = 0; n < 3; n++) {
		if (n)
			part_pair();
		if (!connect_pair(vid++))
			die("no connection even if nothing fails");
	}
	first = usage();
	only_ours(true);
	for (n = 1; n < MAX_NTH && quiet < QUIET_ROUNDS && bad < 5; n++) {
		unsigned int hit;
		bool up;

		part_pair();
		arm_workers(n);
		up = connect_pair(vid++);
		hit = disarm_workers();
		failed += hit;
		quiet = hit ? 0 : quiet + 1;
		if (up && attempts() > 2)
			undone++;
		if (up)
			continue;
		bad++;
		printf("# allocation %u of %u workers: no connection\n", n, hit);
		part_pair();
		if (!connect_pair(vid++))
			printf("# nor with the next view\n");
	}
	only_ours(false);
	last = usage();
	ok(failed && undone && !bad && n < MAX_NTH,
	   "connect: %u allocations failed, %u attempts were undone and repeated", failed,
	   undone);
	is(last.maps, first.maps, "connect: mappings in use");
	printf("# pages in use: %+ld, %ld ms\n", last.pages - first.pages, now_ms() - start);
}
