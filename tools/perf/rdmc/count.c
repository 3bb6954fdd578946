// SPDX-License-Identifier: GPL-2.0-only
/* Processor time, packets, and the figures of large objects. See rdmc.h. */
#include <ctype.h>
#include <dirent.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "common/util.h"
#include "perf/stat.h"
#include "rdmc.h"

const char *const perf_rdmc_figures[PERF_R_FIGURES] = {
	[PERF_R_TIME] = "time_us",
	[PERF_R_TIME_P90] = "time_p90_us",
	[PERF_R_TIME_P99] = "time_p99_us",
	[PERF_R_SKEW] = "skew_us",
	[PERF_R_SETUP] = "setup_us",
	[PERF_R_BUSY] = "busy_us",
	[PERF_R_WAIT] = "wait_us",
	[PERF_R_TAIL] = "tail_us",
	[PERF_R_FAR_FIRST] = "far_first_us",
	[PERF_R_FAR_BUSY] = "far_busy_us",
	[PERF_R_FAR_WAIT] = "far_wait_us",
	[PERF_R_OUTSIDE] = "outside",
	[PERF_R_SECONDS] = "seconds",
	[PERF_R_BANDWIDTH] = "bandwidth",
	[PERF_R_RATE] = "rate",
	[PERF_R_CPU] = "cpu_ns_per_byte",
	[PERF_R_ENGINES] = "engine_ns_per_byte",
	[PERF_R_WORKERS] = "worker_ns_per_byte",
	[PERF_R_PROCESS] = "process_ns_per_byte",
	[PERF_R_LOAD] = "load",
	[PERF_R_PACKETS] = "packets_per_mib",
};

/* ---- processor time and packets ------------------------------------------ */

/* The processor time of a process. This clock has nanoseconds, /proc/PID/stat only ticks. */
static uint64_t cpu_of(pid_t pid)
{
	struct timespec ts;
	clockid_t clock;

	if (clock_getcpuclockid(pid, &clock) || clock_gettime(clock, &ts))
		return 0;
	return ts.tv_sec * 1000000000ULL + ts.tv_nsec;
}

static bool begins(const char *name, const char *with)
{
	return !strncmp(name, with, strlen(with));
}

static void add_cpu(struct perf_rdmc_cpu *cpu, const char *pid)
{
	char path[300], name[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	f = fopen(path, "r");
	if (!f)
		return;
	if (fgets(name, sizeof(name), f)) {
		if (begins(name, "spindle/"))
			cpu->engines += cpu_of(atoi(pid));
		else if (begins(name, "kworker/") || begins(name, "ksoftirqd/"))
			cpu->workers += cpu_of(atoi(pid));
	}
	fclose(f);
}

/**
 * perf_rdmc_cpu() - read the processor time used so far
 * @cpu: out: processor time
 *
 * The time of a worker that ends is lost.
 */
void perf_rdmc_cpu(struct perf_rdmc_cpu *cpu)
{
	DIR *dir = opendir("/proc");
	struct dirent *d;

	memset(cpu, 0, sizeof(*cpu));
	while (dir && (d = readdir(dir)))
		if (isdigit((unsigned char)*d->d_name))
			add_cpu(cpu, d->d_name);
	if (dir)
		closedir(dir);
	cpu->process = cpu_of(getpid());
}

/**
 * perf_rdmc_packets() - read how many packets RDMA devices have sent
 *
 * Return: their number; 0 if the devices do not count
 */
uint64_t perf_rdmc_packets(void)
{
	unsigned long long n;
	uint64_t sum = 0;
	glob_t g;
	size_t i;
	FILE *f;

	if (glob("/sys/class/infiniband/*/ports/1/hw_counters/sent_pkts", 0, NULL, &g))
		return 0;
	for (i = 0; i < g.gl_pathc; i++) {
		f = fopen(g.gl_pathv[i], "r");
		if (f && fscanf(f, "%llu", &n) == 1)
			sum += n;
		if (f)
			fclose(f);
	}
	globfree(&g);
	return sum;
}

/* ---- figures of objects --------------------------------------------------- */

static double us(uint64_t from, uint64_t to)
{
	return ((double)to - (double)from) / 1000;
}

/* Compute all figures of one object. */
static void sort_out(double *v, const struct perf_rdmc_object *o, unsigned int members)
{
	const struct perf_rdmc_seen *root = &o->seen[0], *far = &o->seen[1], *near = &o->seen[1];
	unsigned int m;

	for (m = 2; m < members; m++) {
		if (o->seen[m].at > far->at)
			far = &o->seen[m];
		if (o->seen[m].at < near->at)
			near = &o->seen[m];
	}
	v[PERF_R_TIME] = us(o->start, far->at);
	v[PERF_R_SKEW] = us(near->at, far->at);
	v[PERF_R_SETUP] = us(o->start, root->first);
	v[PERF_R_BUSY] = root->busy / 1000.0;
	v[PERF_R_WAIT] = us(root->first, root->at) - v[PERF_R_BUSY];
	v[PERF_R_TAIL] = us(root->at, far->at);
	v[PERF_R_FAR_FIRST] = us(o->start, far->first);
	v[PERF_R_FAR_BUSY] = far->busy / 1000.0;
	v[PERF_R_FAR_WAIT] = us(far->first, far->at) - v[PERF_R_FAR_BUSY];
	v[PERF_R_OUTSIDE] = (v[PERF_R_SETUP] + v[PERF_R_WAIT]) / v[PERF_R_TIME];
}

/**
 * perf_rdmc_figure() - summarise the figures of objects: medians, and more quantiles of their times
 * @v: out: figures of the repetition
 * @obj: objects of the repetition
 * @objects: entries of @obj
 * @members: members of a group
 */
void perf_rdmc_figure(double *v, const struct perf_rdmc_object *obj, uint64_t objects,
		      unsigned int members)
{
	double *one = ctl_alloc(objects * PERF_R_FIGURES * sizeof(*one));
	struct perf_stat time;
	unsigned int f;
	uint64_t i;

	for (i = 0; i < objects; i++)
		sort_out(one + i * PERF_R_FIGURES, &obj[i], members);
	for (f = 0; f <= PERF_R_OUTSIDE; f++)
		v[f] = perf_stat_of(&one[f], objects, PERF_R_FIGURES).median;
	time = perf_stat_of(&one[PERF_R_TIME], objects, PERF_R_FIGURES);
	v[PERF_R_TIME_P90] = time.p90;
	v[PERF_R_TIME_P99] = time.p99;
	ctl_free(one);
}
