// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tools of the benchmark. See util.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "util.h"

#define PAGE 4096UL

/**
 * bench_pages() - whole pages of zeroes, touched
 * @len: bytes, at least
 *
 * Return: memory for free(); the program ends if there is none
 */
void *bench_pages(size_t len)
{
	void *p;

	len = (len + PAGE - 1) & ~(PAGE - 1);
	p = aligned_alloc(PAGE, len);
	if (!p) {
		perror("core-bench: memory");
		exit(1);
	}
	return memset(p, 0, len);
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/**
 * bench_spread() - the spread of repeated measurements
 * @v: the measurements; sorted behind the call
 * @n: how many, at least 1
 *
 * Return: median and extremes
 */
struct spread bench_spread(double *v, unsigned int n)
{
	qsort(v, n, sizeof(*v), by_size);
	return (struct spread){ .median = v[n / 2], .min = v[0], .max = v[n - 1] };
}
