// SPDX-License-Identifier: GPL-2.0-only
/* Counters of the kernel, the devices and the process. See count.h. */
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "common/util.h"
#include "common/wire.h"
#include "count.h"
#include "net.h"
#include "place.h"

/* Engines of a namespace. Their list makes sure that an engine of several nodes counts once. */
#define MAX_ENGINES	SPINDLE_MAX_MEMBERS

/* The longest time that a device gets to refresh its counters, in milliseconds. */
#define MAX_LIFESPAN	100
/* Milliseconds of a tick, because every kernel has at least 100 ticks in a second. */
#define LONGEST_TICK 10

/* Maps an attribute to the counter that it adds to. */
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

static const uint16_t batch_source[PERF_STAGES] = {
	[PERF_SEND] = SPINDLE_SUBGROUP_A_SEND_HIST,
	[PERF_RECV] = SPINDLE_SUBGROUP_A_RECV_HIST,
	[PERF_DLV] = SPINDLE_SUBGROUP_A_DLV_HIST,
};

/**
 * struct tally - the state of a count
 */
struct tally {
	/** @place: nodes to count */
	const struct perf_place *place;
	/** @c: out: counters */
	struct perf_counts *c;
	/** @engine: threads of the engines that were counted */
	uint64_t engine[MAX_ENGINES];
	/** @engines: entries of @engine */
	unsigned int engines;
};

static void add(struct perf_counts *c, unsigned int counter, uint64_t v)
{
	c->has |= 1ULL << counter;
	c->num[counter] += v;
}

static void add_all(struct perf_counts *c, const struct source *source, unsigned int n,
		    struct nlattr **a)
{
	unsigned int i;

	for (i = 0; i < n; i++)
		if (a[source[i].attr])
			add(c, source[i].counter, ctl_attr_num(a[source[i].attr]));
}

static void count_engine(struct tally *t, struct nlattr *nest)
{
	struct nlattr *a[SPINDLE_ENGINE_S_MAX + 1];
	uint64_t pid;
	unsigned int i;

	if (!nest || nla_parse_nested(a, SPINDLE_ENGINE_S_MAX, nest, NULL) < 0)
		return;
	pid = ctl_attr_num(a[SPINDLE_ENGINE_S_PID]);
	for (i = 0; i < t->engines; i++)
		if (t->engine[i] == pid)
			return;
	if (t->engines < MAX_ENGINES)
		t->engine[t->engines++] = pid;
	add_all(t->c, engine_source, CTL_ARRAY_SIZE(engine_source), a);
}

static int count_node(void *arg, struct nlattr **attrs, struct nlmsghdr *nlh)
{
	struct nlattr *a[SPINDLE_PEER_A_MAX + 1], *attr;
	struct genlmsghdr *genl = nlmsg_data(nlh);
	struct tally *t = arg;
	int rem;

	if (perf_place_index(t->place, ctl_attr_num(attrs[SPINDLE_A_NODE_ID])) < 0)
		return 0;
	count_engine(t, attrs[SPINDLE_A_STATS]);
	nla_for_each_attr(attr, genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0), rem)
		if (nla_type(attr) == SPINDLE_A_PEER &&
		    nla_parse_nested(a, SPINDLE_PEER_A_MAX, attr, NULL) >= 0)
			add_all(t->c, peer_source, CTL_ARRAY_SIZE(peer_source), a);
	return 0;
}

static void count_batches(struct perf_counts *c, struct nlattr **a)
{
	unsigned int s, i;
	uint64_t v;

	for (s = 0; s < PERF_STAGES; s++) {
		const struct nlattr *attr = a[batch_source[s]];

		if (!attr)
			continue;
		for (i = 0; i < SPINDLE_HIST_BUCKETS; i++) {
			if (nla_len(attr) < (int)((i + 1) * sizeof(v)))
				break;
			memcpy(&v, (const char *)nla_data(attr) + i * sizeof(v), sizeof(v));
			c->batch[s][i] += v;
		}
	}
}

static int count_subgroup(void *arg, struct nlattr **attrs, struct nlmsghdr *nlh)
{
	struct nlattr *a[SPINDLE_SUBGROUP_A_MAX + 1], *s[SPINDLE_SUBGROUP_S_MAX + 1];
	struct tally *t = arg;

	(void)nlh;
	if (perf_place_index(t->place, ctl_attr_num(attrs[SPINDLE_A_NODE_ID])) < 0 ||
	    !attrs[SPINDLE_A_SUBGROUP] ||
	    nla_parse_nested(a, SPINDLE_SUBGROUP_A_MAX, attrs[SPINDLE_A_SUBGROUP], NULL) < 0)
		return 0;
	count_batches(t->c, a);
	if (a[SPINDLE_SUBGROUP_A_STATS] &&
	    nla_parse_nested(s, SPINDLE_SUBGROUP_S_MAX, a[SPINDLE_SUBGROUP_A_STATS], NULL) >= 0)
		add_all(t->c, subgroup_source, CTL_ARRAY_SIZE(subgroup_source), s);
	return 0;
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

static int count_nodes(const struct perf_place *place, struct perf_counts *c)
{
	struct tally t = { .place = place, .c = c };
	int rc = perf_net_stats(place->net, count_node, &t);

	return rc ? rc : perf_net_subgroups(place->net, count_subgroup, &t);
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
	rc = count_nodes(place, c);
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
	rc = count_nodes(place, c);
	count_packets(place, c);
	return rc;
}

/* Subtract earlier counters. */
void perf_count_since(struct perf_counts *c, const struct perf_counts *before)
{
	unsigned int i, s;

	for (i = 0; i < PERF_COUNTERS; i++)
		c->num[i] -= before->num[i];
	for (s = 0; s < PERF_STAGES; s++)
		for (i = 0; i < SPINDLE_HIST_BUCKETS; i++)
			c->batch[s][i] -= before->batch[s][i];
}

void perf_count_add(struct perf_counts *sum, const struct perf_counts *c)
{
	unsigned int i, s;

	sum->has |= c->has;
	for (i = 0; i < PERF_COUNTERS; i++)
		sum->num[i] += c->num[i];
	for (s = 0; s < PERF_STAGES; s++)
		for (i = 0; i < SPINDLE_HIST_BUCKETS; i++)
			sum->batch[s][i] += c->batch[s][i];
}
