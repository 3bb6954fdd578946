// SPDX-License-Identifier: GPL-2.0-only
/*
 * What happened between two looks at the counters. See ctl-rate.h.
 */
#include <math.h>
#include <time.h>

#include <linux/spindle_genl.h>

#include "ctl.h"
#include "ctl-rate.h"

const struct ctl_rate ctl_node_rates[] = {
	{ "passes-per-s", "passes/s", SPINDLE_ENGINE_S_PASSES, 0, 1 },
	{ "work-share", "work%", SPINDLE_ENGINE_S_BUSY, SPINDLE_ENGINE_S_PASSES, 100 },
	{ "sleeps-per-s", "sleeps/s", SPINDLE_ENGINE_S_SLEEPS, 0, 1 },
	{ "busy-share", "busy%", SPINDLE_ENGINE_S_BUSY_NS, SPINDLE_ENGINE_S_TIMED_NS, 100 },
	{ "post-share", "post%", SPINDLE_ENGINE_S_POST_NS, SPINDLE_ENGINE_S_TIMED_NS, 100 },
	{ .word = NULL }
};

const struct ctl_rate ctl_subgroup_rates[] = {
	{ "sent-per-s", "sent/s", SPINDLE_SUBGROUP_S_SENT, 0, 1 },
	{ "delivered-per-s", "dlv/s", SPINDLE_SUBGROUP_S_DELIVERED, 0, 1 },
	{ "delivered-bytes-per-s", "MB/s", SPINDLE_SUBGROUP_S_DELIVERED_BYTES, 0, 0.000001 },
	{ "nulls-per-s", "nulls/s", SPINDLE_SUBGROUP_S_NULLS, 0, 1 },
	{ "silent-per-s", NULL, SPINDLE_SUBGROUP_S_SILENT, 0, 1 },
	{ "send-batch", "send", SPINDLE_SUBGROUP_S_SENT, SPINDLE_SUBGROUP_S_SEND_BATCHES, 1 },
	{ "recv-batch", "recv", SPINDLE_SUBGROUP_S_RECEIVED, SPINDLE_SUBGROUP_S_RECV_BATCHES,
	  1 },
	{ "dlv-batch", "dlv", SPINDLE_SUBGROUP_S_DELIVERED, SPINDLE_SUBGROUP_S_DLV_BATCHES, 1 },
	{ .word = NULL }
};

/**
 * ctl_sample_take() - look at all counters
 * @net: socket
 * @node: node id; not set: all nodes
 * @id: subgroup id; not set: all subgroups
 * @sample: out: the counters
 *
 * Return: 0 or -errno, having told the user
 */
int ctl_sample_take(struct ctl_net *net, const struct ctl_val *node,
		    const struct ctl_val *id, struct ctl_sample *sample)
{
	struct timespec now;
	int rc;

	clock_gettime(CLOCK_MONOTONIC, &now);
	sample->ns = now.tv_sec * 1000000000ULL + now.tv_nsec;
	rc = ctl_fetch_stats(net, "top", node, &sample->node, &sample->nodes);
	if (rc)
		return rc;
	return ctl_fetch_subgroups(net, "top", node, id, &sample->sg, &sample->sgs);
}

/*
 * Is it another one with the same id? Counters of a life only grow. What is no counter
 * is in @except.
 */
static bool is_another(const struct ctl_stats *now, const struct ctl_stats *before,
		       uint64_t except)
{
	unsigned int i;

	for (i = 0; i < CTL_STATS_MAX; i++)
		if ((now->has & ~except & 1ULL << i) && now->num[i] < before->num[i])
			return true;
	return false;
}

/**
 * ctl_node_before() - the counters of a node's engine as they were
 * @before: earlier sample, or NULL
 * @node: node of a later sample
 *
 * Return: its counters, NULL if this life of it was not there
 */
const struct ctl_stats *ctl_node_before(const struct ctl_sample *before,
					const struct ctl_node_stats *node)
{
	const uint64_t except = 1ULL << SPINDLE_ENGINE_S_SPIN_US;
	unsigned int i;

	for (i = 0; before && i < before->nodes; i++) {
		const struct ctl_stats *was = &before->node[i].engine;

		if (before->node[i].id == node->id)
			return was->num[SPINDLE_ENGINE_S_PID] !=
			       node->engine.num[SPINDLE_ENGINE_S_PID] ||
			       is_another(&node->engine, was, except) ? NULL : was;
	}
	return NULL;
}

/**
 * ctl_subgroup_before() - the counters of a subgroup as they were
 * @before: earlier sample, or NULL
 * @sg: subgroup of a later sample
 *
 * Return: its counters, NULL if this life of it was not there
 */
const struct ctl_stats *ctl_subgroup_before(const struct ctl_sample *before,
					    const struct ctl_running_subgroup *sg)
{
	const uint64_t except = 1ULL << SPINDLE_SUBGROUP_S_ROW_BYTES |
				1ULL << SPINDLE_SUBGROUP_S_PRIVATE_BYTES;
	unsigned int i;

	for (i = 0; before && i < before->sgs; i++) {
		const struct ctl_running_subgroup *was = &before->sg[i];

		if (was->node == sg->node && was->vid == sg->vid &&
		    was->sg.val[CTL_SG_ID].num == sg->sg.val[CTL_SG_ID].num)
			return is_another(&sg->sg.stats, &was->sg.stats, except) ?
			       NULL : &was->sg.stats;
	}
	return NULL;
}

/**
 * ctl_rate() - how much of something there was between two samples
 * @rate: what
 * @now: counters
 * @before: the same earlier; NULL: not known
 * @seconds: time between them
 *
 * Return: the number, NAN if there is none: the kernel did not count it, or nothing
 *	happened that it could be a share of
 */
double ctl_rate(const struct ctl_rate *rate, const struct ctl_stats *now,
		const struct ctl_stats *before, double seconds)
{
	uint64_t need = 1ULL << rate->part | (rate->whole ? 1ULL << rate->whole : 0);
	double whole = seconds;

	if (!before || (now->has & before->has & need) != need)
		return NAN;
	if (rate->whole)
		whole = now->num[rate->whole] - before->num[rate->whole];
	return whole > 0 ? (now->num[rate->part] - before->num[rate->part]) / whole : NAN;
}
