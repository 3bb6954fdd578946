// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl stats
 */
#include <stdio.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/spindle_genl.h>

#include "ctl.h"
#include "ctl-names.h"
#include "ctl-out.h"
#include "ctl-wire.h"

static const struct ctl_key show_keys[] = {
	{ .name = "node", .kind = CTL_U32, .attr = SPINDLE_A_NODE_ID },
	{ .name = NULL }
};

/**
 * struct peer - the connection to a peer
 * @id: node id
 * @state: enum spindle_peer_state
 * @reason: why it is not up
 * @imm: guards come by completion
 * @stats: counters
 */
struct peer {
	uint64_t id;
	uint64_t state;
	const char *reason;
	bool imm;
	struct ctl_stats stats;
};

/**
 * struct node_stats - the counters of a node
 * @id: node id
 * @state: enum spindle_node_state
 * @engine: counters of its engine
 * @peer: its peers
 * @peers: entries of @peer
 */
struct node_stats {
	uint64_t id;
	uint64_t state;
	struct ctl_stats engine;
	struct peer *peer;
	unsigned int peers;
};

static void get_peer(struct peer *p, struct nlattr *nest)
{
	struct nlattr **a = ctl_nest_attrs(nest, SPINDLE_PEER_A_MAX);

	p->id = ctl_attr_num(a[SPINDLE_PEER_A_ID]);
	p->state = ctl_attr_num(a[SPINDLE_PEER_A_STATE]);
	p->reason = ctl_attr_str(a[SPINDLE_PEER_A_REASON]);
	p->imm = ctl_attr_num(a[SPINDLE_PEER_A_IMM]);
	ctl_attr_stats(a, SPINDLE_PEER_A_MAX, &ctl_peer_stat, &p->stats);
}

static void get_stats(struct node_stats *s, struct nlmsghdr *nlh)
{
	struct nlattr **a = ctl_msg_attrs(nlh), *attr;
	struct genlmsghdr *genl = nlmsg_data(nlh);
	int rem;

	s->id = ctl_attr_num(a[SPINDLE_A_NODE_ID]);
	s->state = ctl_attr_num(a[SPINDLE_A_NODE_STATE]);
	ctl_attr_stats(ctl_nest_attrs(a[SPINDLE_A_STATS], SPINDLE_ENGINE_S_MAX),
		       SPINDLE_ENGINE_S_MAX, &ctl_engine_stat, &s->engine);
	nla_for_each_attr(attr, genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0), rem) {
		if (nla_type(attr) != SPINDLE_A_PEER)
			continue;
		s->peer = ctl_grow(s->peer, s->peers, sizeof(*s->peer));
		get_peer(&s->peer[s->peers++], attr);
	}
}

static struct json_object *json_stats(const struct node_stats *s,
				      const struct ctl_running_subgroup *sg,
				      unsigned int sgs)
{
	struct json_object *obj = json_object_new_object(), *list, *o;
	unsigned int i;

	ctl_json_add(obj, "node", ctl_json_num(s->id));
	ctl_json_str(obj, "state", ctl_name(&ctl_node_state, s->state));
	ctl_json_add(obj, "engine", ctl_json_stats(&ctl_engine_stat, &s->engine));
	list = json_object_new_array();
	for (i = 0; i < s->peers; i++) {
		const struct peer *p = &s->peer[i];

		o = json_object_new_object();
		ctl_json_add(o, "id", ctl_json_num(p->id));
		ctl_json_str(o, "state", ctl_name(&ctl_peer_state, p->state));
		ctl_json_str(o, "reason", p->reason);
		ctl_json_str(o, "visibility", p->imm ? "imm" : "poll");
		ctl_json_add(o, "stats", ctl_json_stats(&ctl_peer_stat, &p->stats));
		json_object_array_add(list, o);
	}
	ctl_json_add(obj, "peers", list);
	list = json_object_new_array();
	for (i = 0; i < sgs; i++) {
		if (sg[i].node != s->id)
			continue;
		o = json_object_new_object();
		ctl_json_add(o, "id", ctl_json_num(sg[i].sg.val[CTL_SG_ID].num));
		ctl_json_str(o, "state", ctl_name(&ctl_state, sg[i].sg.state));
		ctl_json_add(o, "stats", ctl_json_stats(&ctl_subgroup_stat, &sg[i].sg.stats));
		json_object_array_add(list, o);
	}
	ctl_json_add(obj, "subgroups", list);
	return obj;
}

/* A column for each counter. */
static void head_stats(struct ctl_table *t, const struct ctl_names *names)
{
	unsigned int i;

	for (i = 0; i < names->count; i++)
		if (names->name[i])
			ctl_table_head(t, names->name[i]);
}

static void print_peers(const struct node_stats *s)
{
	struct ctl_table t = { .indent = 4 };
	unsigned int i;

	if (!s->peers)
		return;
	ctl_table_head(&t, "peer state visibility");
	head_stats(&t, &ctl_peer_stat);
	ctl_table_head(&t, "reason");
	for (i = 0; i < s->peers; i++) {
		const struct peer *p = &s->peer[i];

		ctl_table_num(&t, p->id);
		ctl_table_cell(&t, ctl_name(&ctl_peer_state, p->state));
		ctl_table_cell(&t, p->imm ? "imm" : "poll");
		ctl_table_stats(&t, &ctl_peer_stat, &p->stats);
		ctl_table_cell(&t, p->reason);
	}
	puts("  peers");
	ctl_table_print(&t);
}

/*
 * Fifteen counters do not fit beside each other: one line each, a column for each
 * subgroup, and a few subgroups at a time.
 */
#define SUBGROUPS_ABREAST	8

static void print_some_subgroups(const struct ctl_running_subgroup *const *sg, unsigned int n)
{
	struct ctl_table t = { .indent = 4 };
	unsigned int i, c;

	ctl_table_head(&t, "subgroup");
	for (i = 0; i < n; i++)
		ctl_table_head(&t, ctl_val_text(&ctl_subgroup_keys[CTL_SG_ID],
						&sg[i]->sg.val[CTL_SG_ID]));
	ctl_table_cell(&t, "state");
	for (i = 0; i < n; i++)
		ctl_table_cell(&t, ctl_name(&ctl_state, sg[i]->sg.state));
	for (c = 0; c < ctl_subgroup_stat.count; c++) {
		if (!ctl_subgroup_stat.name[c])
			continue;
		ctl_table_cell(&t, ctl_subgroup_stat.name[c]);
		for (i = 0; i < n; i++) {
			if (sg[i]->sg.stats.has & (1ULL << c))
				ctl_table_num(&t, sg[i]->sg.stats.num[c]);
			else
				ctl_table_cell(&t, "");
		}
	}
	ctl_table_print(&t);
}

static void print_subgroups(uint64_t node, const struct ctl_running_subgroup *sg,
			    unsigned int sgs)
{
	const struct ctl_running_subgroup *row[SUBGROUPS_ABREAST];
	unsigned int i, n = 0;
	bool any = false;

	for (i = 0; i < sgs; i++) {
		if (sg[i].node != node)
			continue;
		if (!any)
			puts("  subgroups");
		any = true;
		row[n++] = &sg[i];
		if (n == SUBGROUPS_ABREAST) {
			print_some_subgroups(row, n);
			n = 0;
		}
	}
	if (n)
		print_some_subgroups(row, n);
}

static void print_stats(const struct node_stats *s, const struct ctl_running_subgroup *sg,
			unsigned int sgs)
{
	struct ctl_table t = { .indent = 4 };

	printf("node %llu (%s)\n  engine\n", (unsigned long long)s->id,
	       ctl_name(&ctl_node_state, s->state));
	head_stats(&t, &ctl_engine_stat);
	ctl_table_stats(&t, &ctl_engine_stat, &s->engine);
	ctl_table_print(&t);
	print_peers(s);
	print_subgroups(s->id, sg, sgs);
}

static int fetch_stats(struct ctl_net *net, const struct ctl_val *node,
		       struct node_stats **stats, unsigned int *count)
{
	struct ctl_req *req = ctl_req_new(net, SPINDLE_CMD_STATS_GET, NLM_F_DUMP, "stats");
	struct ctl_replies replies;
	struct ctl_running *running;
	unsigned int i;
	int rc;

	ctl_req_val(req, &show_keys[0], node);
	rc = ctl_net_call(net, req, &replies, CTL_SAY);
	if (rc)
		return rc;
	*count = replies.count;
	*stats = ctl_alloc(replies.count * sizeof(**stats) + 1);
	for (i = 0; i < replies.count; i++)
		get_stats(&(*stats)[i], replies.msg[i]);
	/* A dump of nothing is no error; let the kernel say that there is no such node. */
	if (!replies.count && node->set)
		return ctl_fetch(net, "stats", node, &running, &i, false);
	return 0;
}

static int stats_show(struct ctl_args *a)
{
	struct ctl_running_subgroup *sg;
	struct node_stats *stats;
	struct ctl_val node = { 0 }, all = { 0 };
	struct json_object *out;
	struct ctl_net net;
	unsigned int count, sgs, i;
	int rc;

	rc = ctl_args_keys(a, show_keys, &node, 0);
	if (rc)
		return rc;
	if (ctl_net_open(&net, CTL_SAY) || fetch_stats(&net, &node, &stats, &count) ||
	    ctl_fetch_subgroups(&net, "stats", &node, &all, &sg, &sgs))
		return CTL_FAILED;
	out = json_object_new_array();
	for (i = 0; i < count; i++) {
		if (ctl_opts.json)
			json_object_array_add(out, json_stats(&stats[i], sg, sgs));
		else if (i)
			putchar('\n');
		if (!ctl_opts.json)
			print_stats(&stats[i], sg, sgs);
	}
	if (ctl_opts.json)
		ctl_json_print(out);
	else if (!count)
		puts("There is no node.");
	return CTL_OK;
}

/* There is only one verb, so it may be left out. */
int ctl_cmd_stats(struct ctl_args *a)
{
	if (a->argc && (!strcmp(a->argv[0], "show") || !strcmp(a->argv[0], "list")))
		ctl_args_next(a);
	return stats_show(a);
}
