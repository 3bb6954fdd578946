// SPDX-License-Identifier: GPL-2.0-only
/* Requests for the counters of nodes. */
#include <netlink/msg.h>

#include <linux/spindle_genl.h>

#include "common/names.h"
#include "common/util.h"
#include "common/wire.h"
#include "stats.h"

#define PEER(kind, name, field, ...)	\
	CTL_FIELD(kind, name, struct ctl_peer, field, __VA_ARGS__)
#define STATS(kind, name, field, ...)	\
	CTL_FIELD(kind, name, struct ctl_node_stats, field, __VA_ARGS__)

static const char *const arrives_words[] = { "poll", "imm" };
static const struct ctl_names arrives = {
	.what = "visibility", .name = arrives_words, .count = CTL_ARRAY_SIZE(arrives_words),
};

const struct ctl_field ctl_peer_fields[] = {
	PEER(NUM, "id", id, .head = "peer", .attr = SPINDLE_PEER_A_ID),
	PEER(NUM, "state", state, .attr = SPINDLE_PEER_A_STATE, .names = &ctl_peer_state),
	PEER(TEXT, "reason", reason, .attr = SPINDLE_PEER_A_REASON),
	PEER(NUM, "visibility", imm, .attr = SPINDLE_PEER_A_IMM, .names = &arrives),
	PEER(STATS, "stats", stats, .names = &ctl_peer_stat),
	{ 0 }
};

const struct ctl_field ctl_stats_fields[] = {
	STATS(NUM, "node", id, .attr = SPINDLE_A_NODE_ID),
	STATS(NUM, "state", state, .attr = SPINDLE_A_NODE_STATE, .names = &ctl_node_state),
	STATS(STATS, "engine", engine, .attr = SPINDLE_A_STATS, .names = &ctl_engine_stat),
	STATS(NUM, NULL, refused_id, .attr = SPINDLE_A_PEER_ID),
	STATS(TEXT, NULL, refused, .attr = SPINDLE_A_REASON),
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
