// SPDX-License-Identifier: GPL-2.0-only
/*
 * Costs of a guest that every message has and that are not ours, in nanoseconds. They are a system
 * call, a sleep until another process answers, and the delay of a timed wake-up. CSV on standard
 * output.
 *
 *	bench-host [quick]
 */
#define _GNU_SOURCE
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define RUNS	5

static unsigned int turns = 20000;

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The cheapest call: the cost of entering and leaving the kernel. */
static double system_call(void)
{
	uint64_t start = now();
	unsigned int i;

	for (i = 0; i < turns; i++)
		syscall(SYS_getppid);
	return (double)(now() - start) / turns;
}

static int there[2], back[2];

/* A byte to another process and back: both sleep, and are woken. */
static double round_trip(void)
{
	uint64_t start = now();
	unsigned int i;
	char c = 0;

	for (i = 0; i < turns; i++) {
		struct pollfd pfd = { .fd = back[0], .events = POLLIN };

		if (write(there[1], &c, 1) != 1 || poll(&pfd, 1, -1) != 1 ||
		    read(back[0], &c, 1) != 1) {
			perror("bench-host: pipe");
			exit(1);
		}
	}
	return (double)(now() - start) / turns;
}

static void answer(void)
{
	struct pollfd pfd = { .fd = there[0], .events = POLLIN };
	char c;

	while (poll(&pfd, 1, -1) == 1 && read(there[0], &c, 1) == 1)
		if (write(back[1], &c, 1) != 1)
			_exit(1);
	_exit(0);
}

/* Sleep until a given time. Returns the median delay after that time. */
static double late(void)
{
	enum { NAPS = 200 };
	double ns[NAPS];
	unsigned int i;

	for (i = 0; i < NAPS; i++) {
		uint64_t due = now() + 1000000;
		struct timespec ts = { due / 1000000000, due % 1000000000 };

		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &ts, NULL);
		ns[i] = now() - due;
	}
	qsort(ns, NAPS, sizeof(*ns), compare);
	return ns[NAPS / 2];
}

static void measure(const char *name, double (*fn)(void))
{
	double ns[RUNS];
	int i;

	for (i = 0; i < RUNS; i++)
		ns[i] = fn();
	qsort(ns, RUNS, sizeof(*ns), compare);
	printf("%s,0,%d,%.4g,%.4g,%.4g\n", name, RUNS, ns[RUNS / 2], ns[0], ns[RUNS - 1]);
	fflush(stdout);
}

int main(int argc, char **argv)
{
	pid_t pid;

	if (argc > 1 && !strcmp(argv[1], "quick"))
		turns = 2000;
	prctl(PR_SET_TIMERSLACK, 1, 0, 0, 0);
	if (pipe(there) || pipe(back)) {
		perror("bench-host: pipe");
		return 1;
	}
	pid = fork();
	if (pid < 0) {
		perror("bench-host: fork");
		return 1;
	}
	if (!pid) {
		close(there[1]);
		answer();
	}
	puts("series,x,repetitions,latency_ns,latency_ns_min,latency_ns_max");
	measure("system call", system_call);
	measure("there and back", round_trip);
	measure("late", late);
	close(there[1]);
	return waitpid(pid, NULL, 0) != pid;
}
