// SPDX-License-Identifier: GPL-2.0-only
/* Counters of the kernel, the devices and the process. See count.h. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include "common/stats.h"
#include "common/util.h"
#include "common/wire.h"
#include "count.h"
#include "net.h"
#include "place.h"

/* The longest time that a device gets to refresh its counters, in milliseconds. */
#define MAX_LIFESPAN	100
/* Milliseconds of a tick, because every kernel has at least 100 ticks in a second. */
#define LONGEST_TICK 10

/* Maps a counter of the contract to the one that it adds to. */
struct source {
	uint16_t attr;
	uint16_t counter;
};

static const struct source engine_source[] = {
	{ SPINDLE_ENGINE_S_PASSES, PERF_C_PASSES },
	{ SPINDLE_ENGINE_S_BUSY, PERF_C_BUSY },
	{ SPINDLE_ENGINE_S_SLEEPS, PERF_C_SLEEPS },
	{ SPINDLE_ENGINE_S_KICKS, PERF_C_KICKS },
	{ SPINDLE_ENGINE_S_BELLS, PERF_C_BELLS },
	{ SPINDLE_ENGINE_S_BUSY_NS, PERF_C_BUSY_NS },
	{ SPINDLE_ENGINE_S_POST_NS, PERF_C_POST_NS },
	{ SPINDLE_ENGINE_S_TIMED_NS, PERF_C_TIMED_NS },
};

static const struct source peer_source[] = {
	{ SPINDLE_PEER_A_WRITES, PERF_C_WRITES },
	{ SPINDLE_PEER_A_POSTS, PERF_C_POSTS },
	{ SPINDLE_PEER_A_BYTES, PERF_C_BYTES },
	{ SPINDLE_PEER_A_DOORBELLS, PERF_C_DOORBELLS },
	{ SPINDLE_PEER_A_TORN, PERF_C_TORN },
};

static const struct source subgroup_source[] = {
	{ SPINDLE_SUBGROUP_S_SENT, PERF_C_SENT },
	{ SPINDLE_SUBGROUP_S_DELIVERED, PERF_C_DELIVERED },
	{ SPINDLE_SUBGROUP_S_DISCARDED, PERF_C_DISCARDED },
	{ SPINDLE_SUBGROUP_S_NULLS, PERF_C_NULLS },
	{ SPINDLE_SUBGROUP_S_SILENT, PERF_C_SILENT },
	{ SPINDLE_SUBGROUP_S_SEND_BATCHES, PERF_C_SEND_BATCHES },
	{ SPINDLE_SUBGROUP_S_RECV_BATCHES, PERF_C_RECV_BATCHES },
	{ SPINDLE_SUBGROUP_S_DLV_BATCHES, PERF_C_DLV_BATCHES },
	{ SPINDLE_SUBGROUP_S_RECEIVED, PERF_C_RECEIVED },
	{ SPINDLE_SUBGROUP_S_VISITS, PERF_C_VISITS },
	{ SPINDLE_SUBGROUP_S_ACTIVATIONS, PERF_C_ACTIVATIONS },
};

static void add(struct perf_counts *c, unsigned int counter, uint64_t v)
{
	c->has |= 1ULL << counter;
	c->num[counter] += v;
}

static void add_all(struct perf_counts *c, const struct source *source, unsigned int n,
		    const struct ctl_stats *stats)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (stats->has & 1ULL << source[i].attr)
			add(c, source[i].counter, stats->num[source[i].attr]);
}

/* Does a node of the place in front of @node have the same engine? */
static bool shares_engine(const struct perf_place *place, const struct ctl_node_stats *first,
			  const struct ctl_node_stats *node)
{
	const struct ctl_node_stats *n;

	for (n = first; n < node; n++)
		if (perf_place_index(place, n->id) >= 0 &&
		    n->engine.num[SPINDLE_ENGINE_S_PID] == node->engine.num[SPINDLE_ENGINE_S_PID])
			return true;
	return false;
}

static int count_nodes(const struct perf_place *place, struct perf_counts *c)
{
	struct ctl_node_stats *first, *node;
	unsigned int count, i;
	int rc = perf_net_stats(place->net, &first, &count);

	if (rc)
		return rc;
	for (node = first; node < first + count; node++) {
		if (perf_place_index(place, node->id) < 0)
			continue;
		if (!shares_engine(place, first, node))
			add_all(c, engine_source, CTL_ARRAY_SIZE(engine_source), &node->engine);
		for (i = 0; i < node->peers; i++)
			add_all(c, peer_source, CTL_ARRAY_SIZE(peer_source),
				&node->peer[i].stats);
	}
	return 0;
}

static int count_subgroups(const struct perf_place *place, struct perf_counts *c)
{
	struct ctl_running_subgroup *list;
	unsigned int count, i, s, k;
	int rc = perf_net_subgroups(place->net, &list, &count);

	for (i = 0; !rc && i < count; i++) {
		if (perf_place_index(place, list[i].node) < 0)
			continue;
		for (s = 0; s < PERF_STAGES; s++)
			for (k = 0; k < SPINDLE_HIST_BUCKETS; k++)
				c->batch[s][k] += list[i].sg.hist[s].num[k];
		add_all(c, subgroup_source, CTL_ARRAY_SIZE(subgroup_source), &list[i].sg.stats);
	}
	return rc;
}

/* Read a counter of a device; -1: the device has no counter of this name. */
static int64_t device_counter(const struct perf_place *place, unsigned int device,
			      const char *name)
{
	long long v = -1;
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "/sys/class/infiniband/%s/ports/1/hw_counters/%s",
		 place->device[device], name);
	f = fopen(path, "r");
	if (!f)
		return -1;
	if (fscanf(f, "%lld", &v) != 1)
		v = -1;
	fclose(f);
	return v;
}

/*
 * Sleep until a device reads its counters again, because it keeps the last values for a few
 * milliseconds. The kernel counts this time in ticks. Two more ticks are added, because the first
 * and the last tick may be cut short.
 */
static void outlive(const struct perf_place *place)
{
	struct timespec ts = { 0, 0 };
	int64_t ms, most = 0;
	unsigned int d;

	for (d = 0; d < place->devices; d++) {
		ms = device_counter(place, d, "lifespan");
		if (ms > most)
			most = ms;
	}
	if (!most)
		return;
	most += 2 * LONGEST_TICK;
	ts.tv_nsec = (most < MAX_LIFESPAN ? most : MAX_LIFESPAN) * 1000000;
	nanosleep(&ts, NULL);
}

/* Add the packets of all devices. Some devices do not count packets, or use other names. */
static void count_packets(const struct perf_place *place, struct perf_counts *c)
{
	int64_t sent, received;
	unsigned int d;

	outlive(place);
	for (d = 0; d < place->devices; d++) {
		sent = device_counter(place, d, "sent_pkts");
		received = device_counter(place, d, "rcvd_pkts");
		if (sent >= 0)
			add(c, PERF_C_PKTS_OUT, sent);
		if (received >= 0)
			add(c, PERF_C_PKTS_IN, received);
	}
}

static uint64_t ioctls, polls;

void perf_count_poll(void)
{
	__atomic_fetch_add(&polls, 1, __ATOMIC_RELAXED);
}

/* System calls of the library pass through this function. */
int __wrap_spindle_sys_ioctl(int fd, unsigned long cmd, void *arg)
{
	if (cmd == SPINDLE_IOC_KICK)
		__atomic_fetch_add(&ioctls, 1, __ATOMIC_RELAXED);
	return __real_spindle_sys_ioctl(fd, cmd, arg);
}

static uint64_t ns(const struct timeval *tv)
{
	return tv->tv_sec * 1000000000ULL + tv->tv_usec * 1000ULL;
}

static void count_self(struct perf_counts *c)
{
	struct rusage r;

	add(c, PERF_C_IOCTLS, __atomic_load_n(&ioctls, __ATOMIC_RELAXED));
	add(c, PERF_C_POLLS, __atomic_load_n(&polls, __ATOMIC_RELAXED));
	if (getrusage(RUSAGE_SELF, &r))
		return;
	add(c, PERF_C_YIELDS, r.ru_nvcsw);
	add(c, PERF_C_PREEMPTED, r.ru_nivcsw);
	add(c, PERF_C_USER_NS, ns(&r.ru_utime));
	add(c, PERF_C_SYS_NS, ns(&r.ru_stime));
}

static int count_all(const struct perf_place *place, struct perf_counts *c)
{
	int rc = count_nodes(place, c);

	return rc ? rc : count_subgroups(place, c);
}

/**
 * perf_count_begin() - read all counters before a measurement
 * @place: nodes to count
 * @c: out: counters
 *
 * The slowest counters are read first, so that little of the reading is counted.
 *
 * Return: 0 or -errno, after a message
 */
int perf_count_begin(const struct perf_place *place, struct perf_counts *c)
{
	int rc;

	memset(c, 0, sizeof(*c));
	count_packets(place, c);
	rc = count_all(place, c);
	count_self(c);
	return rc;
}

/**
 * perf_count_end() - read all counters after a measurement
 * @place: nodes to count
 * @c: out: counters
 *
 * Return: 0 or -errno, after a message
 */
int perf_count_end(const struct perf_place *place, struct perf_counts *c)
{
	int rc;

	memset(c, 0, sizeof(*c));
	count_self(c);
	rc = count_all(place, c);
	count_packets(place, c);
	return rc;
}

/* Add counters, or subtract them if @sign is -1. */
static void combine(struct perf_counts *sum, const struct perf_counts *c, int sign)
{
	unsigned int i, s;

	for (i = 0; i < PERF_COUNTERS; i++)
		sum->num[i] += sign * c->num[i];
	for (s = 0; s < PERF_STAGES; s++)
		for (i = 0; i < SPINDLE_HIST_BUCKETS; i++)
			sum->batch[s][i] += sign * c->batch[s][i];
}

/* Subtract earlier counters. */
void perf_count_since(struct perf_counts *c, const struct perf_counts *before)
{
	combine(c, before, -1);
}

void perf_count_add(struct perf_counts *sum, const struct perf_counts *c)
{
	sum->has |= c->has;
	combine(sum, c, 1);
}
