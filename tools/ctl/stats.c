// SPDX-License-Identifier: GPL-2.0-only
/* Requests for the counters of nodes. */
#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/spindle_genl.h>

#include "common/names.h"
#include "common/util.h"
#include "common/wire.h"
#include "stats.h"

static void get_peer(struct ctl_peer *p, struct nlattr *nest)
{
	struct nlattr **a = ctl_nest_attrs(nest, SPINDLE_PEER_A_MAX);

	p->id = ctl_attr_num(a[SPINDLE_PEER_A_ID]);
	p->state = ctl_attr_num(a[SPINDLE_PEER_A_STATE]);
	p->reason = ctl_attr_str(a[SPINDLE_PEER_A_REASON]);
	p->imm = ctl_attr_num(a[SPINDLE_PEER_A_IMM]);
	ctl_attr_stats(a, SPINDLE_PEER_A_MAX, &ctl_peer_stat, &p->stats);
}

/* Read STATS_GET. */
static void ctl_stats_get(struct ctl_node_stats *s, struct nlmsghdr *nlh)
{
	struct nlattr **a = ctl_msg_attrs(nlh), *attr;
	struct genlmsghdr *genl = nlmsg_data(nlh);
	int rem;

	s->id = ctl_attr_num(a[SPINDLE_A_NODE_ID]);
	s->state = ctl_attr_num(a[SPINDLE_A_NODE_STATE]);
	s->refused_id = ctl_attr_num(a[SPINDLE_A_PEER_ID]);
	s->refused = ctl_attr_str(a[SPINDLE_A_REASON]);
	ctl_attr_stats(ctl_nest_attrs(a[SPINDLE_A_STATS], SPINDLE_ENGINE_S_MAX),
		       SPINDLE_ENGINE_S_MAX, &ctl_engine_stat, &s->engine);
	nla_for_each_attr(attr, genlmsg_attrdata(genl, 0), genlmsg_attrlen(genl, 0), rem) {
		if (nla_type(attr) != SPINDLE_A_PEER)
			continue;
		s->peer = ctl_grow(s->peer, s->peers, sizeof(*s->peer));
		get_peer(&s->peer[s->peers++], attr);
	}
}

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
		ctl_stats_get(&(*stats)[i], replies.msg[i]);
	return 0;
}
