// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMC groups, as the kernel shows them. See rdmc.h.
 */
#include <math.h>
#include <time.h>

#include <netlink/attr.h>
#include <netlink/msg.h>

#include <linux/spindle_genl.h>

#include "common/names.h"
#include "common/util.h"
#include "common/wire.h"
#include "looks.h"
#include "rdmc.h"

static struct ctl_val get_val(const struct nlattr *attr)
{
	return (struct ctl_val){ .set = attr, .num = ctl_attr_num(attr) };
}

static void get_member(struct ctl_rdmc_member *m, struct nlattr *nest)
{
	struct nlattr **a = ctl_nest_attrs(nest, SPINDLE_RDMC_MEMBER_A_MAX);

	m->id = ctl_attr_num(a[SPINDLE_RDMC_MEMBER_A_ID]);
	m->state = get_val(a[SPINDLE_RDMC_MEMBER_A_STATE]);
	m->reason = ctl_attr_str(a[SPINDLE_RDMC_MEMBER_A_REASON]);
	m->created = ctl_attr_num(a[SPINDLE_RDMC_MEMBER_A_CREATED]);
	m->rack = get_val(a[SPINDLE_RDMC_MEMBER_A_RACK]);
	m->ended = get_val(a[SPINDLE_RDMC_MEMBER_A_ENDED]);
	m->complete = ctl_attr_num(a[SPINDLE_RDMC_MEMBER_A_COMPLETE]);
	m->blocks = ctl_attr_num(a[SPINDLE_RDMC_MEMBER_A_BLOCKS]);
	m->total = ctl_attr_num(a[SPINDLE_RDMC_MEMBER_A_TOTAL]);
}

static void get_object(struct ctl_rdmc_object *o, struct nlattr *nest)
{
	struct nlattr **a = ctl_nest_attrs(nest, SPINDLE_RDMC_OBJECT_A_MAX);

	o->number = ctl_attr_num(a[SPINDLE_RDMC_OBJECT_A_NUMBER]);
	o->len = ctl_attr_num(a[SPINDLE_RDMC_OBJECT_A_LEN]);
	o->tag = ctl_attr_num(a[SPINDLE_RDMC_OBJECT_A_TAG]);
	o->phase = ctl_attr_num(a[SPINDLE_RDMC_OBJECT_A_PHASE]);
	o->blocks = ctl_attr_num(a[SPINDLE_RDMC_OBJECT_A_BLOCKS]);
	o->total = ctl_attr_num(a[SPINDLE_RDMC_OBJECT_A_TOTAL]);
	o->since_ms = get_val(a[SPINDLE_RDMC_OBJECT_A_SINCE_MS]);
	o->error = ctl_attr_num(a[SPINDLE_RDMC_OBJECT_A_ERROR]);
}

static void get_nests(struct ctl_rdmc *g, struct nlattr *nest)
{
	struct nlattr *attr;
	int rem;

	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) == SPINDLE_RDMC_GROUP_A_MEMBER) {
			g->member = ctl_grow(g->member, g->members, sizeof(*g->member));
			get_member(&g->member[g->members++], attr);
		} else if (nla_type(attr) == SPINDLE_RDMC_GROUP_A_OBJECT) {
			g->object = ctl_grow(g->object, g->objects, sizeof(*g->object));
			get_object(&g->object[g->objects++], attr);
		}
	}
}

/* Read RDMC_GET. */
static void ctl_rdmc_get(struct ctl_rdmc *g, struct nlmsghdr *nlh)
{
	struct nlattr **top = ctl_msg_attrs(nlh), **a;

	a = ctl_nest_attrs(top[SPINDLE_A_RDMC], SPINDLE_RDMC_GROUP_A_MAX);
	g->node = ctl_attr_num(top[SPINDLE_A_NODE_ID]);
	g->id = ctl_attr_num(a[SPINDLE_RDMC_GROUP_A_ID]);
	g->state = ctl_attr_num(a[SPINDLE_RDMC_GROUP_A_STATE]);
	g->error = ctl_attr_num(a[SPINDLE_RDMC_GROUP_A_ERROR]);
	g->culprit = ctl_attr_num(a[SPINDLE_RDMC_GROUP_A_CULPRIT]);
	g->algorithm = ctl_attr_num(a[SPINDLE_RDMC_GROUP_A_ALGORITHM]);
	g->block = ctl_attr_num(a[SPINDLE_RDMC_GROUP_A_BLOCK]);
	g->timeout_ms = ctl_attr_num(a[SPINDLE_RDMC_GROUP_A_TIMEOUT_MS]);
	g->rank = ctl_attr_num(a[SPINDLE_RDMC_GROUP_A_RANK]);
	g->pid = ctl_attr_num(a[SPINDLE_RDMC_GROUP_A_PID]);
	g->comm = ctl_attr_str(a[SPINDLE_RDMC_GROUP_A_COMM]);
	g->released = ctl_attr_num(a[SPINDLE_RDMC_GROUP_A_RELEASED]);
	g->unread = ctl_attr_num(a[SPINDLE_RDMC_GROUP_A_UNREAD]);
	g->announced = ctl_attr_num(a[SPINDLE_RDMC_GROUP_A_ANNOUNCED]);
	g->ended = ctl_attr_num(a[SPINDLE_RDMC_GROUP_A_ENDED]);
	g->complete = ctl_attr_num(a[SPINDLE_RDMC_GROUP_A_COMPLETE]);
	ctl_attr_stats(ctl_nest_attrs(a[SPINDLE_RDMC_GROUP_A_STATS], SPINDLE_RDMC_GROUP_S_MAX),
		       SPINDLE_RDMC_GROUP_S_MAX, &ctl_rdmc_stat, &g->stats);
	if (top[SPINDLE_A_RDMC])
		get_nests(g, top[SPINDLE_A_RDMC]);
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
	static const struct ctl_key id_key = {
		.name = "group", .kind = CTL_U64, .attr = SPINDLE_A_RDMC_ID,
	};
	struct ctl_req *req = ctl_req_new(net, SPINDLE_CMD_RDMC_GET, NLM_F_DUMP, what);
	struct ctl_replies replies;
	struct timespec now;
	unsigned int i;
	int rc;

	clock_gettime(CLOCK_MONOTONIC, &now);
	sample->ns = now.tv_sec * CTL_NS_PER_S + now.tv_nsec;
	ctl_req_val(req, &ctl_node_keys[CTL_NODE_ID], node);
	ctl_req_val(req, &id_key, id);
	rc = ctl_net_call(net, req, &replies, CTL_SAY);
	nlmsg_free(req->msg);
	if (rc)
		return rc;
	sample->groups = replies.count;
	sample->group = ctl_alloc(replies.count * sizeof(*sample->group) + 1);
	for (i = 0; i < replies.count; i++)
		ctl_rdmc_get(&sample->group[i], replies.msg[i]);
	return 0;
}

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

/**
 * ctl_rdmc_done() - compute the progress of an object
 * @g: group of the object
 * @o: object
 * @slowest: out: at the root, the members that have the least of the object; empty: all members
 *	have all of it
 *
 * Return: a share from 0 to 1: at the root, that of the slowest members; elsewhere that of the node
 *	itself
 */
double ctl_rdmc_done(const struct ctl_rdmc *g, const struct ctl_rdmc_object *o,
		     struct ctl_ids *slowest)
{
	double done, least = 1;
	unsigned int i;

	*slowest = (struct ctl_ids){ .set = true };
	if (g->rank)
		return share(o->blocks, o->total);
	for (i = 1; i < g->members; i++) {
		done = member_done(&g->member[i], o);
		if (done < least)
			slowest->count = 0;
		least = done < least ? done : least;
		if (done < 1 && done == least)
			ctl_ids_add(slowest, g->member[i].id);
	}
	return least;
}

/**
 * ctl_rdmc_rate() - compute how much a counter grew in a second
 * @now: sample
 * @before: earlier sample, or NULL
 * @g: group of @now
 * @counter: enum spindle_rdmc_group_stat
 *
 * Return: the number; NAN if @before does not have this life of the group, or if no time has passed
 */
double ctl_rdmc_rate(const struct ctl_rdmc_sample *now, const struct ctl_rdmc_sample *before,
		     const struct ctl_rdmc *g, unsigned int counter)
{
	unsigned int i;

	for (i = 0; before && i < before->groups && now->ns > before->ns; i++) {
		const struct ctl_rdmc *was = &before->group[i];

		/* Counters of one life only grow. */
		if (was->node == g->node && was->id == g->id && was->pid == g->pid &&
		    was->stats.num[counter] <= g->stats.num[counter])
			return (double)(g->stats.num[counter] - was->stats.num[counter]) *
			       CTL_NS_PER_S / (now->ns - before->ns);
	}
	return NAN;
}
