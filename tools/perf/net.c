// SPDX-License-Identifier: GPL-2.0-only
/* Netlink requests of a measurement. See net.h. */
#include <errno.h>
#include <stdlib.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/spindle_genl.h>

#include "common/util.h"
#include "net.h"
#include "tune.h"

static void free_req(struct ctl_req *req)
{
	nlmsg_free(req->msg);
	ctl_free(req->mark);
	ctl_free(req);
}

/**
 * perf_net_call() - send a request, read the answer, and free both
 * @net: socket
 * @req: request
 * @fn: called for each message of the answer; NULL: the answer has none
 * @arg: passed to @fn
 * @say: whether to tell the user the reason of a refusal
 *
 * Return: 0, what @fn returned, or -errno of a refusal
 */
int perf_net_call(struct ctl_net *net, struct ctl_req *req, perf_net_fn fn, void *arg,
		  enum ctl_say say)
{
	struct nlattr *attrs[SPINDLE_A_MAX + 1];
	struct ctl_replies replies = { 0 };
	unsigned int i;
	int rc;

	rc = ctl_net_call(net, req, fn ? &replies : NULL, say);
	for (i = 0; i < replies.count; i++) {
		struct nlmsghdr *nlh = replies.msg[i];

		if (!rc && genlmsg_valid_hdr(nlh, 0) &&
		    genlmsg_parse(nlh, 0, attrs, SPINDLE_A_MAX, NULL) >= 0)
			rc = fn(arg, attrs, nlh);
		ctl_free(nlh);
	}
	ctl_free(replies.msg);
	free_req(req);
	return rc;
}

static int dump(struct ctl_net *net, uint8_t cmd, const char *what, perf_net_fn fn, void *arg)
{
	return perf_net_call(net, ctl_req_new(net, cmd, NLM_F_DUMP, what), fn, arg, CTL_SAY);
}

/* Read all nodes of this network namespace. */
int perf_net_nodes(struct ctl_net *net, perf_net_fn fn, void *arg)
{
	return dump(net, SPINDLE_CMD_NODE_GET, "nodes", fn, arg);
}

/* Read all subgroups of all nodes. */
int perf_net_subgroups(struct ctl_net *net, perf_net_fn fn, void *arg)
{
	return dump(net, SPINDLE_CMD_SUBGROUP_GET, "subgroups", fn, arg);
}

/* Read the counters of all engines and peers. */
int perf_net_stats(struct ctl_net *net, perf_net_fn fn, void *arg)
{
	return dump(net, SPINDLE_CMD_STATS_GET, "counters", fn, arg);
}

static struct ctl_req *node_req(struct ctl_net *net, uint8_t cmd, uint32_t node,
				const char *what)
{
	struct ctl_req *req = ctl_req_new(net, cmd, 0, what);

	ctl_req_mark(req, 0, ctl_asprintf("node %u", node));
	ctl_req_u32(req, SPINDLE_A_NODE_ID, node);
	return req;
}

/* Make the engine of a node measure where its time goes, or stop that. */
int perf_net_timing(struct ctl_net *net, uint32_t node, bool on)
{
	struct ctl_req *req = node_req(net, SPINDLE_CMD_NODE_SET, node, "timing");

	ctl_req_mark(req, 0, "timing");
	ctl_req_u8(req, SPINDLE_A_TIMING, on);
	return perf_net_call(net, req, NULL, NULL, CTL_SAY);
}

/* Tune a node's end of a subgroup. */
int perf_net_tune(struct ctl_net *net, uint32_t node, uint32_t group,
		  const struct perf_tune *tune)
{
	struct ctl_req *req = node_req(net, SPINDLE_CMD_SUBGROUP_SET, node, "tune");

	ctl_req_mark(req, 0, ctl_asprintf("subgroup %u", group));
	ctl_req_u32(req, SPINDLE_A_SUBGROUP_ID, group);
	perf_tune_put(req, tune);
	return perf_net_call(net, req, NULL, NULL, CTL_SAY);
}

int perf_net_node_del(struct ctl_net *net, uint32_t node, enum ctl_say say)
{
	return perf_net_call(net, node_req(net, SPINDLE_CMD_NODE_DEL, node, "node del"), NULL,
			     NULL, say);
}
