// SPDX-License-Identifier: GPL-2.0-only
/*
 * cpu-time PID...: microseconds that processes, or kernel threads, have run, added up. The program
 * reads their CPU clocks, because ticks are too coarse, and not every kernel has
 * /proc/PID/schedstat. A process that has ended counts as 0.
 */
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double microseconds(const char *pid)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(atoi(pid), &clock) || clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec * 1e6 + ts.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
	double sum = 0;

	if (argc < 2) {
		fprintf(stderr, "usage: cpu-time PID...\n");
		return 2;
	}
	for (argv++; *argv; argv++)
		sum += microseconds(*argv);
	printf("%.0f\n", sum);
	return 0;
}
