// SPDX-License-Identifier: GPL-2.0-only
/*
 * MPI_Bcast of large objects, timed as in spindle-perf rdmc: from the root's call until the last
 * rank has the object. All ranks use one clock.
 *
 *	mpirun -n N bcast-peer BYTES REPETITIONS
 *
 * The program prints a heading and a row: members, size, time_us, and skew_us between the first and
 * the last receiver. Both times are medians of the repetitions, with their minimum and maximum.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * 1e6 + ts.tv_nsec / 1e3;
}

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

static void print(double *v, int n, const char *sep)
{
	qsort(v, n, sizeof(*v), by_size);
	printf("%.3f,%.3f,%.3f%s", (v[(n - 1) / 2] + v[n / 2]) / 2, v[0], v[n - 1], sep);
}

static void fill(unsigned char *mem, long size)
{
	long i;

	for (i = 0; i < size; i++)
		mem[i] = i * 2654435761UL >> 16;
}

/* Do the bytes differ from those that the root has sent? */
static int wrong(const unsigned char *mem, long size)
{
	long i;

	for (i = 0; i < size; i++)
		if (mem[i] != (unsigned char)(i * 2654435761UL >> 16))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	double start, end, last, first, *time, *skew;
	int rank, n, i, reps, bad = 0;
	unsigned char *mem;
	long size;

	MPI_Init(&argc, &argv);
	MPI_Comm_rank(MPI_COMM_WORLD, &rank);
	MPI_Comm_size(MPI_COMM_WORLD, &n);
	size = argc > 2 ? atol(argv[1]) : 0;
	reps = argc > 2 ? atoi(argv[2]) : 0;
	mem = malloc(size);
	time = calloc(reps, sizeof(*time));
	skew = calloc(reps, sizeof(*skew));
	if (size < 1 || reps < 1 || !mem || !time || !skew)
		MPI_Abort(MPI_COMM_WORLD, 2);
	/* The first broadcast does not count, because it also connects. */
	for (i = -1; i < reps; i++) {
		memset(mem, 0, size);
		if (!rank)
			fill(mem, size);
		MPI_Barrier(MPI_COMM_WORLD);
		start = now();
		MPI_Bcast(mem, size, MPI_BYTE, 0, MPI_COMM_WORLD);
		end = now();
		MPI_Reduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
		/* The root may finish first, and does not count as a receiver. */
		if (!rank)
			end = 1e300;
		MPI_Reduce(&end, &first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
		bad |= wrong(mem, size);
		if (i >= 0) {
			time[i] = last - start;
			skew[i] = last - first;
		}
	}
	if (bad)
		MPI_Abort(MPI_COMM_WORLD, 3);
	if (!rank) {
		puts("members,size,time_us,time_us_min,time_us_max,skew_us,skew_us_min,skew_us_max");
		printf("%d,%ld,", n, size);
		print(time, reps, ",");
		print(skew, reps, "\n");
	}
	MPI_Finalize();
	return 0;
}
