// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits of a configuration, checked before anything is started. See conf.h.
 *
 * Each number is in its range already. This file checks whether the numbers fit together, and
 * whether the machine has the resources.
 */
#include <stdio.h>
#include <sys/resource.h>

#include <linux/spindle.h>
#include <linux/spindle_genl.h>

#include "common/model.h"
#include "common/names.h"
#include "common/util.h"
#include "conf.h"
#include "msg.h"

#define PAGE	4096ULL

/* Queues of one end of a connection with soft-RoCE, which keeps them in memory. */
#define QUEUES	(512ULL << 10)

/* What the kernel takes for the history of a subgroup with logs. */
#define HISTORY	(16ULL << 20)

static uint64_t align(uint64_t v, uint64_t to)
{
	return (v + to - 1) / to * to;
}

static uint64_t pow2(uint64_t v)
{
	uint64_t p = 1;

	while (p < v)
		p *= 2;
	return p;
}

/* A subgroup with the kernel's defaults for what @conf leaves out. */
static struct ctl_subgroup resolve(const struct perf_conf *conf)
{
	struct ctl_view view = { 0 };
	struct ctl_subgroup sg = { 0 };

	sg.val[CTL_SG_WINDOW] = ctl_val_num(conf->window);
	sg.val[CTL_SG_MAX_MSG] = ctl_val_num(conf->max_msg);
	sg.val[CTL_SG_RING] = (struct ctl_val){ .set = !!conf->ring, .num = conf->ring };
	return ctl_subgroup_resolve(&view, &sg);
}

/* The ring size that a sender will have. */
uint64_t perf_limit_ring(const struct perf_conf *conf)
{
	return resolve(conf).val[CTL_SG_RING].num;
}

/**
 * perf_limit_memory() - estimate the memory of the nodes of --setup
 * @conf: configuration
 *
 * Each of n nodes has a row of each member. A row has headers and rings for each subgroup in which
 * the member sends, and a block per subgroup. The layout of a row is that of
 * kmod/core/base/layout.h. The engine and the process have a descriptor for each message that can
 * be under way. Each node is connected to all others. With logs each node keeps what its logger has
 * not persisted.
 *
 * Return: bytes
 */
uint64_t perf_limit_memory(const struct perf_conf *conf)
{
	struct ctl_subgroup sg = resolve(conf);
	uint64_t window = sg.val[CTL_SG_WINDOW].num, ring = sg.val[CTL_SG_RING].num;
	uint32_t n = conf->nodes, s = perf_some(conf->senders, n);
	uint32_t active = perf_some(conf->active, conf->subgroups);
	uint64_t blocks = align((1 + conf->subgroups) * 64, PAGE);
	uint64_t rings = align(conf->subgroups * window * 32, PAGE) + conf->subgroups * ring;
	uint64_t log = pow2(s * window);
	uint64_t engine = conf->subgroups * (log * 16 + s * window * 16 + window * 8);
	uint64_t process = active * (log * sizeof(struct spindle_dlv) +
				     (conf->copy_out ? ring + log * 8 : 0));

	return n * (n * blocks + s * rings + engine + process + (n - 1) * QUEUES +
		    conf->log * conf->subgroups * HISTORY);
}

/* The memory that the machine has available; 0 if it does not say. */
uint64_t perf_limit_available(void)
{
	FILE *f = fopen("/proc/meminfo", "r");
	unsigned long long kib = 0;
	char line[128];

	if (!f)
		return 0;
	while (fgets(line, sizeof(line), f))
		if (sscanf(line, "MemAvailable: %llu", &kib) == 1)
			break;
	fclose(f);
	return kib << 10;
}

static const char *check_view(const struct perf_conf *conf)
{
	uint64_t ring = conf->ring, need, have;

	if (ring && (ring < PAGE || ring & (ring - 1)))
		return ctl_asprintf("ring %llu: not a power of two from 4096 to %u",
				    (unsigned long long)ring, SPINDLE_MAX_RING);
	if (ring && conf->max_msg > ring)
		return ctl_asprintf("max-msg %llu: more than the ring, %llu bytes",
				    (unsigned long long)conf->max_msg,
				    (unsigned long long)ring);
	if (conf->max_msg < PERF_HEAD)
		return ctl_asprintf("max-msg %llu: less than %zu, which the messages that begin and end a run have",
				    (unsigned long long)conf->max_msg, PERF_HEAD);
	if (conf->senders < PERF_HALF && conf->senders > conf->nodes)
		return ctl_asprintf("senders %llu: more than nodes, %llu",
				    (unsigned long long)conf->senders,
				    (unsigned long long)conf->nodes);
	if (conf->active < PERF_HALF && conf->active > conf->subgroups)
		return ctl_asprintf("active %llu: more than subgroups, %llu",
				    (unsigned long long)conf->active,
				    (unsigned long long)conf->subgroups);
	need = perf_limit_memory(conf);
	have = perf_limit_available();
	if (have && need > have)
		return ctl_asprintf("%llu nodes, %llu subgroups, rings of %llu bytes: this takes %llu MiB of memory, and %llu MiB are available",
				    (unsigned long long)conf->nodes,
				    (unsigned long long)conf->subgroups,
				    (unsigned long long)perf_limit_ring(conf),
				    (unsigned long long)need >> 20,
				    (unsigned long long)have >> 20);
	return NULL;
}

/* Without nulls, all senders have to send the same number of messages. */
static const char *check_nulls(const struct perf_conf *conf)
{
	if (conf->mode == SPINDLE_MODE_UNORDERED ||
	    !(conf->tune.selector & SPINDLE_SW_NULLS & ~conf->tune.switches))
		return NULL;
	if (conf->millis && !conf->rate)
		return "seconds with nulls=off: senders that send more than others wait for ever; "
		       "give a count";
	if (conf->delay >= PERF_SILENT)
		return "delay long with nulls=off: the others would wait for that sender for ever";
	return NULL;
}

/**
 * perf_limit() - check whether a configuration can be measured
 * @conf: configuration
 * @setup: --setup makes the view; otherwise the kernel reports what does not fit
 *
 * Return: NULL, or a sentence that names the value and its limit
 */
const char *perf_limit(const struct perf_conf *conf, bool setup)
{
	uint32_t senders = perf_some(conf->senders, conf->nodes);

	if (conf->mode == SPINDLE_MODE_TABLE || conf->mode == SPINDLE_MODE_TABLE_READ)
		return ctl_asprintf("mode %s: a table has no messages to measure",
				    ctl_name(&ctl_mode, conf->mode));
	if (conf->log && conf->mode != SPINDLE_MODE_ORDERED)
		return "log and mode unordered: only an order can be logged";
	if (conf->closed && conf->rate)
		return "latency and rate: a sender waits for its message, or sends by the clock";
	if (conf->delay && conf->rate)
		return "delay and rate: a sender rests after each message, or sends by the clock";
	if (conf->delay >= PERF_SILENT && conf->delay_senders == PERF_ALL)
		return "delay long of all senders: nobody would send; give delay-senders";
	if (setup && conf->delay >= PERF_SILENT &&
	    perf_some(conf->delay_senders, senders) == senders)
		return ctl_asprintf("delay-senders %s: of %u senders, nobody would be left to send",
				    perf_conf_text(conf, perf_param_find("delay-senders")),
				    senders);
	if (setup && conf->size > conf->max_msg)
		return ctl_asprintf("size %llu: more than max-msg, %llu",
				    (unsigned long long)conf->size,
				    (unsigned long long)conf->max_msg);
	return check_nulls(conf) ?: setup ? check_view(conf) : NULL;
}

/*
 * Each attachment is a file, and its rings are locked memory. So raise both limits to their
 * maximum. Root may have both.
 */
void perf_limit_raise(void)
{
	static const int which[] = { RLIMIT_NOFILE, RLIMIT_MEMLOCK };
	struct rlimit r;
	unsigned int i;

	for (i = 0; i < CTL_ARRAY_SIZE(which); i++) {
		if (getrlimit(which[i], &r))
			continue;
		r.rlim_cur = r.rlim_max;
		setrlimit(which[i], &r);
	}
}
