// SPDX-License-Identifier: GPL-2.0-only
/* Requests for the counters of nodes. */
#include <netlink/msg.h>

#include <linux/spindle_genl.h>

#include "common/names.h"
#include "common/util.h"
#include "common/wire.h"
#include "stats.h"

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
