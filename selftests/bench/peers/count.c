// SPDX-License-Identifier: GPL-2.0-only
/*
 * Count the system calls and context switches of the whole machine while a program runs.
 *
 *	peers-count FILE PROGRAM ARG...		"syscalls N" and "switches N" go to FILE
 *
 * The whole machine counts, because daemons and kernel threads work for a program, too. Counting
 * slows each system call, so nothing else is measured at the same time.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <linux/perf_event.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define CPUS	64
#define ID	"/sys/kernel/tracing/events/raw_syscalls/sys_enter/id"

static long tracepoint(const char *file)
{
	FILE *f = fopen(file, "r");
	long id = -1;

	if (!f)
		return -1;
	if (fscanf(f, "%ld", &id) != 1)
		id = -1;
	fclose(f);
	return id;
}

/* One counter per processor, for all tasks on it. */
static int count_all(int *fd, unsigned int cpus, uint32_t type, uint64_t config)
{
	struct perf_event_attr attr = {
		.type = type,
		.size = sizeof(attr),
		.config = config,
	};
	unsigned int i;

	for (i = 0; i < cpus; i++) {
		fd[i] = syscall(SYS_perf_event_open, &attr, -1, i, -1, PERF_FLAG_FD_CLOEXEC);
		if (fd[i] < 0)
			return -errno;
	}
	return 0;
}

static unsigned long long sum(const int *fd, unsigned int cpus)
{
	unsigned long long all = 0;
	uint64_t v;
	unsigned int i;

	for (i = 0; i < cpus; i++)
		if (read(fd[i], &v, sizeof(v)) == sizeof(v))
			all += v;
	return all;
}

static int run(char **argv)
{
	int status;
	pid_t pid = fork();

	if (!pid) {
		execvp(argv[0], argv);
		fprintf(stderr, "peers-count: %s: %s\n", argv[0], strerror(errno));
		_exit(127);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	int calls[CPUS], switches[CPUS], rc;
	long id = tracepoint(ID);
	FILE *f;

	if (argc < 3 || cpus < 1 || cpus > CPUS)
		return 2;
	if (id < 0) {
		fprintf(stderr, "peers-count: no %s\n", ID);
		return 1;
	}
	rc = count_all(calls, cpus, PERF_TYPE_TRACEPOINT, id);
	if (!rc)
		rc = count_all(switches, cpus, PERF_TYPE_SOFTWARE,
			       PERF_COUNT_SW_CONTEXT_SWITCHES);
	if (rc) {
		fprintf(stderr, "peers-count: %s\n", strerror(-rc));
		return 1;
	}
	rc = run(argv + 2);
	f = fopen(argv[1], "w");
	if (!f)
		return 1;
	fprintf(f, "syscalls %llu\nswitches %llu\n", sum(calls, cpus), sum(switches, cpus));
	return fclose(f) ? 1 : rc;
}
