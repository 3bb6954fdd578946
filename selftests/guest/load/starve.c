// SPDX-License-Identifier: GPL-2.0-only
/*
 * starve: take the processors away from all other processes, most of the time.
 *
 *	starve [-b BUSY-MS] [-f FREE-MS] [-n TIMES]
 *
 * A real-time thread on each processor is busy for BUSY-MS (90), then leaves the processor to
 * others for FREE-MS (10). This repeats TIMES (50). The program prints two times in milliseconds:
 * the longest time that a thread had a processor, and the longest that it waited. If these are much
 * longer than the options say, another process also starves this machine. Exit status 1: it could
 * not be done.
 */
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define MAX_CPUS	64

static uint64_t busy_ms = 90, free_ms = 10, times = 50;

/* Results of one thread. */
struct hog {
	pthread_t thread;
	int cpu;
	int err;
	uint64_t busy, pause;
};

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

static void *run(void *ctx)
{
	struct sched_param prio = { .sched_priority = 50 };
	struct hog *hog = ctx;
	uint64_t i, begin, now;
	cpu_set_t set;

	CPU_ZERO(&set);
	CPU_SET(hog->cpu, &set);
	hog->err = pthread_setaffinity_np(pthread_self(), sizeof(set), &set);
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
	uint64_t busy = 0, pause = 0;
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
		if (pthread_create(&hog[i].thread, NULL, run, &hog[i]))
			return 1;
	}
	for (i = 0; i < cpus; i++) {
		pthread_join(hog[i].thread, NULL);
		err = hog[i].err ? : err;
		busy = max64(busy, hog[i].busy);
		pause = max64(pause, hog[i].pause);
	}
	if (err) {
		fprintf(stderr, "starve: %s\n", strerror(err));
		return 1;
	}
	printf("%llu %llu\n", (unsigned long long)busy / 1000, (unsigned long long)pause / 1000);
	return 0;
}
