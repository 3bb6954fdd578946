// SPDX-License-Identifier: GPL-2.0-only
/* The counters of nodes, and rates from two looks at them. See stats.h. */
#include <math.h>

#include <netlink/msg.h>

#include <linux/spindle_genl.h>

#include "names.h"
#include "stats.h"
#include "util.h"
#include "wire.h"

#define PEER(kind, name, field, attr, ...)	\
	CTL_FIELD(kind, name, struct ctl_peer, field, SPINDLE_PEER_A_##attr, __VA_ARGS__)
#define STATS(kind, name, field, attr, ...)	\
	CTL_FIELD(kind, name, struct ctl_node_stats, field, SPINDLE_A_##attr, __VA_ARGS__)

static const char *const arrives_words[] = { "poll", "imm" };
static const struct ctl_names arrives = {
	.what = "visibility", .name = arrives_words, .count = CTL_ARRAY_SIZE(arrives_words),
};

const struct ctl_field ctl_peer_fields[] = {
	PEER(NUM, "id", id, ID, .head = "peer"),
	PEER(NUM, "state", state, STATE, .names = &ctl_peer_state),
	PEER(TEXT, "reason", reason, REASON),
	PEER(NUM, "visibility", imm, IMM, .names = &arrives),
	PEER(STATS, "stats", stats, UNSPEC, .names = &ctl_peer_stat),
	{ 0 }
};

const struct ctl_field ctl_stats_fields[] = {
	STATS(NUM, "node", id, NODE_ID),
	STATS(NUM, "state", state, NODE_STATE, .names = &ctl_node_state),
	STATS(STATS, "engine", engine, STATS, .names = &ctl_engine_stat),
	STATS(NUM, NULL, refused_id, PEER_ID),
	STATS(TEXT, NULL, refused, REASON),
	CTL_LIST(NULL, struct ctl_node_stats, peer, peers, ctl_peer_fields,
		 .attr = SPINDLE_A_PEER),
	{ 0 }
};

/**
 * ctl_fetch_stats() - read the counters of all nodes, or of one
 * @net: socket
 * @what: purpose of the request, for messages
 * @node: node id; not set: all nodes
 * @stats: out: counters
 * @count: out: entries of @stats; also 0 if there is no such node
 *
 * Return: 0 or -errno, after a message
 */
int ctl_fetch_stats(struct ctl_net *net, const char *what, const struct ctl_val *node,
		    struct ctl_node_stats **stats, unsigned int *count)
{
	struct ctl_req *req = ctl_req_new(net, SPINDLE_CMD_STATS_GET, NLM_F_DUMP, what);
	struct ctl_replies replies;
	unsigned int i;
	int rc;

	ctl_req_val(req, &ctl_node_keys[CTL_NODE_ID], node);
	rc = ctl_net_call(net, req, &replies, CTL_SAY);
	nlmsg_free(req->msg);
	if (rc)
		return rc;
	*count = replies.count;
	*stats = ctl_alloc(replies.count * sizeof(**stats) + 1);
	for (i = 0; i < replies.count; i++)
		ctl_record_msg(ctl_stats_fields, &(*stats)[i], replies.msg[i]);
	return 0;
}

#define NODE(_word, _head, _part, ...)	\
	{ .word = _word, .head = _head, .part = SPINDLE_ENGINE_S_##_part, __VA_ARGS__ }
#define SUBGROUP(_word, _head, _part, ...)	\
	{ .word = _word, .head = _head, .part = SPINDLE_SUBGROUP_S_##_part, __VA_ARGS__ }

const struct ctl_rate ctl_node_rates[] = {
	NODE("passes-per-s", "passes/s", PASSES, .scale = 1),
	NODE("work-share", "work%", BUSY, .whole = SPINDLE_ENGINE_S_PASSES, .scale = 100),
	NODE("sleeps-per-s", "sleeps/s", SLEEPS, .scale = 1),
	NODE("busy-share", "busy%", BUSY_NS, .whole = SPINDLE_ENGINE_S_TIMED_NS, .scale = 100),
	NODE("post-share", "post%", POST_NS, .whole = SPINDLE_ENGINE_S_TIMED_NS, .scale = 100),
	{ .word = NULL }
};

const struct ctl_rate ctl_subgroup_rates[] = {
	SUBGROUP("sent-per-s", "sent/s", SENT, .scale = 1),
	SUBGROUP("delivered-per-s", "dlv/s", DELIVERED, .scale = 1),
	SUBGROUP("delivered-bytes-per-s", "MB/s", DELIVERED_BYTES, .scale = 0.000001),
	SUBGROUP("nulls-per-s", "nulls/s", NULLS, .scale = 1),
	SUBGROUP("silent-per-s", NULL, SILENT),
	SUBGROUP("send-batch", "send", SENT, .whole = SPINDLE_SUBGROUP_S_SEND_BATCHES, .scale = 1),
	/* A sender has received its own messages when it sends them, so these are in no batch. */
	SUBGROUP("recv-batch", "recv", RECEIVED, .less = SPINDLE_SUBGROUP_S_SENT,
		 .whole = SPINDLE_SUBGROUP_S_RECV_BATCHES, .scale = 1),
	SUBGROUP("dlv-batch", "dlv", DELIVERED, .whole = SPINDLE_SUBGROUP_S_DLV_BATCHES,
		 .scale = 1),
	{ .word = NULL }
};

/**
 * ctl_sample_take() - read all counters
 * @net: socket
 * @what: purpose of the request, for messages
 * @node: node id; not set: all nodes. There may be no such node
 * @id: subgroup id; not set: all subgroups
 * @sample: out: the counters
 *
 * Return: 0 or -errno, after a message
 */
int ctl_sample_take(struct ctl_net *net, const char *what, const struct ctl_val *node,
		    const struct ctl_val *id, struct ctl_sample *sample)
{
	static const struct ctl_val all;
	int rc = ctl_fetch_stats(net, what, node, &sample->node, &sample->nodes);

	if (rc)
		return rc;
	return ctl_fetch_subgroups(net, what, node, id, &all, &sample->sg, &sample->sgs);
}

/*
 * Does the id belong to another object by now? Counters of one life only grow. @except has the
 * numbers that are no counters.
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
 * ctl_node_before() - find the earlier counters of a node's engine
 * @before: earlier sample, or NULL
 * @node: node of a later sample
 *
 * Return: the counters; NULL if the earlier sample does not have this life of the node
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
 * ctl_subgroup_before() - find the earlier counters of a subgroup
 * @before: earlier sample, or NULL
 * @sg: subgroup of a later sample
 *
 * Return: the counters; NULL if the earlier sample does not have this life of the subgroup
 */
const struct ctl_stats *ctl_subgroup_before(const struct ctl_sample *before,
					    const struct ctl_running_subgroup *sg)
{
	const uint64_t except = 1ULL << SPINDLE_SUBGROUP_S_ROW_BYTES |
				1ULL << SPINDLE_SUBGROUP_S_PRIVATE_BYTES |
				1ULL << SPINDLE_SUBGROUP_S_LARGE_WAITING;
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
 * ctl_rate() - compute a rate from two samples
 * @rate: the rate
 * @now: counters
 * @before: earlier counters of the same object; NULL: not known
 * @seconds: time between the samples
 *
 * Return: the rate. NAN if the kernel does not count it, or if its denominator did not grow
 */
double ctl_rate(const struct ctl_rate *rate, const struct ctl_stats *now,
		const struct ctl_stats *before, double seconds)
{
	uint64_t need = 1ULL << rate->part;
	double part, whole = seconds;

	if (rate->less)
		need |= 1ULL << rate->less;
	if (rate->whole)
		need |= 1ULL << rate->whole;
	if (!before || (now->has & before->has & need) != need)
		return NAN;
	part = now->num[rate->part] - before->num[rate->part];
	if (rate->less)
		part -= now->num[rate->less] - before->num[rate->less];
	if (rate->whole)
		whole = now->num[rate->whole] - before->num[rate->whole];
	/*
	 * The kernel reads counters one after another while they grow, so the part may be negative.
	 */
	return whole > 0 ? (part > 0 ? part : 0) / whole : NAN;
}
