// SPDX-License-Identifier: GPL-2.0-only
/*
 * Figure 14: the time of memcpy(), by size. Three runs of each size; CSV on standard output.
 *
 *	bench-memcpy [quick]
 *
 * Source and destination move through areas larger than a second-level cache, as messages in a ring
 * do. Each copy is read once.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AREA	(16UL << 20)
#define RUNS	3

static uint64_t now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

/* Nanoseconds of a copy. */
static double measure(char *to, const char *from, size_t size, uint64_t limit)
{
	/* Cache lines, as messages in a ring begin. */
	size_t step = (size + 63) / 64 * 64, at = 0;
	uint64_t start = now(), n = 0, i;
	/* Reading the clock is a system call in some guests. */
	uint64_t turn = (1 << 20) / step;

	do {
		for (i = 0; i < turn; i++) {
			memcpy(to + at, from + at, size);
			/* The compiler must not leave the copy out. */
			__asm__ volatile("" : : "r"(to + at) : "memory");
			at += step;
			if (at + size > AREA)
				at = 0;
		}
		n += i;
	} while (now() - start < limit);
	return (double)(now() - start) / n;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

int main(int argc, char **argv)
{
	uint64_t limit = argc > 1 && !strcmp(argv[1], "quick") ? 5000000 : 50000000;
	char *from = malloc(AREA), *to = malloc(AREA);
	double ns[RUNS];
	size_t size;
	int i;

	if (!from || !to) {
		fputs("bench-memcpy: out of memory\n", stderr);
		return 1;
	}
	memset(from, 1, AREA);
	memset(to, 2, AREA);
	puts("series,x,size,repetitions,latency_ns,latency_ns_min,latency_ns_max,"
	     "bandwidth,bandwidth_min,bandwidth_max");
	for (size = 1; size <= 1UL << 20; size *= size < 64 ? 8 : 2) {
		for (i = 0; i < RUNS; i++)
			ns[i] = measure(to, from, size, limit);
		qsort(ns, RUNS, sizeof(*ns), compare);
		printf("memcpy,%zu,%zu,%d,%.4g,%.4g,%.4g,%.6g,%.6g,%.6g\n", size, size, RUNS,
		       ns[1], ns[0], ns[2], size * 1e9 / ns[1], size * 1e9 / ns[2],
		       size * 1e9 / ns[0]);
	}
	return 0;
}
