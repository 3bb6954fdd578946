// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMC groups, as the kernel shows them. See rdmc.h.
 */
#include <math.h>

#include <netlink/msg.h>

#include <linux/spindle_genl.h>

#include "common/names.h"
#include "common/util.h"
#include "common/wire.h"
#include "rdmc.h"

#define MEMBER(kind, name, field, attr, ...)	\
	CTL_FIELD(kind, name, struct ctl_rdmc_member, field, SPINDLE_RDMC_MEMBER_A_##attr,	\
		  __VA_ARGS__)
#define OBJECT(kind, name, field, attr, ...)	\
	CTL_FIELD(kind, name, struct ctl_rdmc_object, field, SPINDLE_RDMC_OBJECT_A_##attr,	\
		  __VA_ARGS__)
#define GROUP(kind, name, field, attr, ...)	\
	CTL_FIELD(kind, name, struct ctl_rdmc, field, SPINDLE_RDMC_GROUP_A_##attr, __VA_ARGS__)
#define KNOWN	.needs = offsetof(struct ctl_rdmc_member, ended.set)
#define RATED	.needs = offsetof(struct ctl_rdmc, rated)

const struct ctl_field ctl_rdmc_member_fields[] = {
	MEMBER(NUM, NULL, node, UNSPEC, .head = "node"),
	MEMBER(NUM, NULL, group, UNSPEC, .head = "group"),
	MEMBER(NUM, "id", id, ID, .head = "member"),
	MEMBER(VAL, "state", state, STATE, .names = &ctl_peer_state),
	MEMBER(TEXT, "reason", reason, REASON, .some = true),
	MEMBER(FLAG, "created", created, CREATED),
	MEMBER(VAL, "rack", rack, RACK),
	MEMBER(VAL, "ended", ended, ENDED),
	MEMBER(NUM, "complete", complete, COMPLETE, .head = "whole", KNOWN),
	MEMBER(NUM, "blocks", blocks, BLOCKS, KNOWN),
	MEMBER(NUM, "total", total, TOTAL, .head = "of", KNOWN),
	{ 0 }
};

const struct ctl_field ctl_rdmc_object_fields[] = {
	OBJECT(NUM, NULL, node, UNSPEC, .head = "node"),
	OBJECT(NUM, NULL, group, UNSPEC, .head = "group"),
	OBJECT(NUM, "object", number, NUMBER),
	OBJECT(NUM, "bytes", len, LEN),
	OBJECT(NUM, "tag", tag, TAG),
	OBJECT(NUM, "phase", phase, PHASE, .names = &ctl_rdmc_phase),
	OBJECT(NUM, "blocks", blocks, BLOCKS),
	OBJECT(NUM, "total", total, TOTAL),
	OBJECT(SHARE, "done", done, UNSPEC, .head = "done%"),
	OBJECT(IDS, "slowest", slowest, UNSPEC, .dash = true),
	OBJECT(VAL, "since-ms", since_ms, SINCE_MS, .head = "ms"),
	OBJECT(NUM, "error", error, ERROR, .some = true, .names = &ctl_rdmc_error),
	{ 0 }
};

static const char *members_text(const void *rec)
{
	struct ctl_ids ids = { .set = true };
	const struct ctl_rdmc *g = rec;
	unsigned int i;

	for (i = 0; i < g->members; i++)
		ctl_ids_add(&ids, g->member[i].id);
	return ctl_ids_text(&ids);
}

static const char *process_text(const void *rec)
{
	const struct ctl_rdmc *g = rec;
	const char *pid = g->pid ? ctl_asprintf("[%llu]", (unsigned long long)g->pid) : "";

	return ctl_asprintf("%s%s%s", g->comm, pid, g->released ? " (has closed it)" : "");
}

const struct ctl_field ctl_rdmc_fields[] = {
	GROUP(NUM, "node", node, UNSPEC),
	GROUP(NUM, "group", id, ID),
	GROUP(NUM, "state", state, STATE, .names = &ctl_rdmc_state),
	GROUP(NUM, "error", error, ERROR, .some = true, .names = &ctl_rdmc_error),
	GROUP(NUM, "culprit", culprit, CULPRIT, .some = true),
	GROUP(NUM, "algorithm", algorithm, ALGORITHM, .names = &ctl_rdmc_algorithm),
	GROUP(NUM, "block", block, BLOCK),
	GROUP(NUM, "timeout-ms", timeout_ms, TIMEOUT_MS),
	GROUP(NUM, "rank", rank, RANK),
	GROUP(NUM, "pid", pid, PID),
	GROUP(TEXT, "comm", comm, COMM),
	GROUP(FLAG, "released", released, RELEASED),
	GROUP(NUM, "unread", unread, UNREAD),
	GROUP(NUM, "announced", announced, ANNOUNCED, .head = "objects"),
	GROUP(NUM, "ended", ended, ENDED),
	GROUP(NUM, "complete", complete, COMPLETE, .head = "whole"),
	GROUP(RATE, "bytes-in-per-s", in, UNSPEC, .head = "in-mb/s", RATED),
	GROUP(RATE, "bytes-out-per-s", out, UNSPEC, .head = "out-mb/s", RATED),
	CTL_LIST("members", struct ctl_rdmc, member, members, ctl_rdmc_member_fields,
		 .attr = SPINDLE_RDMC_GROUP_A_MEMBER, .head = ""),
	CTL_LIST("objects", struct ctl_rdmc, object, objects, ctl_rdmc_object_fields,
		 .attr = SPINDLE_RDMC_GROUP_A_OBJECT, .head = ""),
	CTL_MADE(NULL, members_text, .head = "members"),
	CTL_MADE(NULL, process_text, .head = "process"),
	GROUP(STATS, "stats", stats, STATS, .names = &ctl_rdmc_stat),
	{ 0 }
};

static double share(uint64_t blocks, uint64_t total)
{
	return total ? (double)blocks / total : 0;
}

/* The share of an object that a member has. */
static double member_done(const struct ctl_rdmc_member *m, const struct ctl_rdmc_object *o)
{
	if (m->ended.num > o->number)
		return 1;
	return m->ended.num == o->number ? share(m->blocks, o->total) : 0;
}

/*
 * Compute the progress of an object. At the root it is that of the slowest members, elsewhere that
 * of the node itself. If all members have all of the object, none is the slowest.
 */
static void get_done(struct ctl_rdmc_object *o, const struct ctl_rdmc *g)
{
	unsigned int i;
	double done;

	o->slowest.set = true;
	o->done = g->rank ? share(o->blocks, o->total) : 1;
	for (i = 1; !g->rank && i < g->members; i++) {
		done = member_done(&g->member[i], o);
		if (done < o->done)
			o->slowest.count = 0;
		o->done = done < o->done ? done : o->done;
		if (done < 1 && done == o->done)
			ctl_ids_add(&o->slowest, g->member[i].id);
	}
}

/**
 * ctl_rdmc_fetch() - read the RDMC groups of all nodes, or of one
 * @net: socket
 * @what: purpose of the request, for messages
 * @node: node id; not set: all nodes
 * @id: group id; not set: all groups
 * @sample: out: groups
 *
 * Return: 0 or -errno, after a message
 */
int ctl_rdmc_fetch(struct ctl_net *net, const char *what, const struct ctl_val *node,
		   const struct ctl_val *id, struct ctl_rdmc_sample *sample)
{
	static const struct ctl_key id_key = CTL_KEY("group", NULL, U64, SPINDLE_A_RDMC_ID);
	struct ctl_req *req = ctl_req_new(net, SPINDLE_CMD_RDMC_GET, NLM_F_DUMP, what);
	struct ctl_replies replies;
	unsigned int i, k;
	int rc;

	ctl_req_val(req, &ctl_node_keys[CTL_NODE_ID], node);
	ctl_req_val(req, &id_key, id);
	rc = ctl_net_call(net, req, &replies, CTL_SAY);
	nlmsg_free(req->msg);
	if (rc)
		return rc;
	sample->groups = replies.count;
	sample->group = ctl_alloc(replies.count * sizeof(*sample->group) + 1);
	for (i = 0; i < replies.count; i++) {
		struct nlattr **top = ctl_msg_attrs(replies.msg[i]);
		struct ctl_rdmc *g = &sample->group[i];

		g->node = ctl_attr_num(top[SPINDLE_A_NODE_ID]);
		ctl_record_nest(ctl_rdmc_fields, g, top[SPINDLE_A_RDMC]);
		for (k = 0; k < g->members; k++) {
			g->member[k].node = g->node;
			g->member[k].group = g->id;
		}
		for (k = 0; k < g->objects; k++) {
			g->object[k].node = g->node;
			g->object[k].group = g->id;
			get_done(&g->object[k], g);
		}
	}
	return 0;
}

static double rate(const struct ctl_rdmc *g, const struct ctl_rdmc_sample *before,
		   unsigned int counter, double seconds)
{
	unsigned int i;

	for (i = 0; i < before->groups && seconds > 0; i++) {
		const struct ctl_rdmc *was = &before->group[i];

		/* Counters of one life only grow. */
		if (was->node == g->node && was->id == g->id && was->pid == g->pid &&
		    was->stats.num[counter] <= g->stats.num[counter])
			return (g->stats.num[counter] - was->stats.num[counter]) / seconds;
	}
	return NAN;
}

/**
 * ctl_rdmc_rates() - compute how many bytes the groups have moved in a second
 * @now: sample; out: its rates, NAN where @before does not have this life of the group
 * @before: earlier sample
 * @seconds: time between the two; the rates are NAN if it is 0
 */
void ctl_rdmc_rates(const struct ctl_rdmc_sample *now, const struct ctl_rdmc_sample *before,
		    double seconds)
{
	unsigned int i;

	for (i = 0; i < now->groups; i++) {
		struct ctl_rdmc *g = &now->group[i];

		g->rated = true;
		g->in = rate(g, before, SPINDLE_RDMC_GROUP_S_BYTES_IN, seconds);
		g->out = rate(g, before, SPINDLE_RDMC_GROUP_S_BYTES_OUT, seconds);
	}
}
