// SPDX-License-Identifier: GPL-2.0-only
/*
 * starve: take the processors away from all other processes, most of the time.
 *
 *	starve [-b BUSY-MS] [-f FREE-MS] [-n TIMES]
 *
 * A real-time thread on each processor is busy for BUSY-MS (90), then leaves the processor to
 * others for FREE-MS (10). This repeats TIMES (50). A second thread on each processor has no
 * priority and is idle: it sees how long a thread like those of the nodes does not run. The program
 * prints three times in milliseconds: the longest time that a real-time thread had a processor, the
 * longest that it waited, and the longest in which an idle thread did not run. If these are much
 * longer than the options say, another process also starves this machine. Exit status 1: it could
 * not be done.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_CPUS	64

static uint64_t busy_ms = 90, free_ms = 10, times = 50;

/* The two threads of one processor, and their results. */
struct hog {
	pthread_t busy_thread, idle_thread;
	int cpu;
	int err;
	uint64_t busy, pause, gap;
};

static volatile bool ended;

static uint64_t now_us(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000ULL + ts.tv_nsec / 1000;
}

static uint64_t max64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

static int stay_on(int cpu)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(cpu, &set);
	return pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
}

static void *be_idle(void *ctx)
{
	struct hog *hog = ctx;
	uint64_t last, now;

	/* The busy thread reports the error: the call is the same. */
	if (stay_on(hog->cpu))
		return NULL;
	for (last = now_us(); !ended; last = now) {
		usleep(1000);
		now = now_us();
		hog->gap = max64(hog->gap, now - last);
	}
	return NULL;
}

static void *be_busy(void *ctx)
{
	struct sched_param prio = { .sched_priority = 50 };
	struct hog *hog = ctx;
	uint64_t i, begin, now;

	hog->err = stay_on(hog->cpu);
	if (!hog->err)
		hog->err = pthread_setschedparam(pthread_self(), SCHED_FIFO, &prio);
	for (i = 0; !hog->err && i < times; i++) {
		begin = now_us();
		do {
			now = now_us();
		} while (now - begin < busy_ms * 1000);
		hog->busy = max64(hog->busy, now - begin);
		usleep(free_ms * 1000);
		hog->pause = max64(hog->pause, now_us() - now);
	}
	return NULL;
}

int main(int argc, char **argv)
{
	static struct hog hog[MAX_CPUS];
	long cpus = sysconf(_SC_NPROCESSORS_ONLN), i;
	uint64_t busy = 0, pause = 0, gap = 0;
	int c, err = 0;

	while ((c = getopt(argc, argv, "b:f:n:")) != -1) {
		switch (c) {
		case 'b': busy_ms = strtoul(optarg, NULL, 0); break;
		case 'f': free_ms = strtoul(optarg, NULL, 0); break;
		case 'n': times = strtoul(optarg, NULL, 0); break;
		default: return 2;
		}
	}
	if (cpus > MAX_CPUS)
		cpus = MAX_CPUS;
	for (i = 0; i < cpus; i++) {
		hog[i].cpu = i;
		if (pthread_create(&hog[i].idle_thread, NULL, be_idle, &hog[i]) ||
		    pthread_create(&hog[i].busy_thread, NULL, be_busy, &hog[i]))
			return 1;
	}
	for (i = 0; i < cpus; i++)
		pthread_join(hog[i].busy_thread, NULL);
	ended = true;
	for (i = 0; i < cpus; i++) {
		pthread_join(hog[i].idle_thread, NULL);
		err = hog[i].err ? : err;
		busy = max64(busy, hog[i].busy);
		pause = max64(pause, hog[i].pause);
		gap = max64(gap, hog[i].gap);
	}
	if (err) {
		fprintf(stderr, "starve: %s\n", strerror(err));
		return 1;
	}
	printf("%llu %llu %llu\n", (unsigned long long)busy / 1000,
	       (unsigned long long)pause / 1000, (unsigned long long)gap / 1000);
	return 0;
}
