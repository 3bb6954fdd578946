// SPDX-License-Identifier: GPL-2.0-only
/* Netlink requests of a measurement. See net.h. */
#include <netlink/msg.h>

#include <linux/spindle_genl.h>

#include "common/stats.h"
#include "common/status.h"
#include "common/util.h"
#include "common/wire.h"
#include "net.h"
#include "tune.h"

/* Requests for a list ask for all nodes, and for all subgroups. */
static const struct ctl_val all;

/* Memory of the last list. */
static struct ctl_pool list_pool;

/* Begin a request for a node. @what: purpose of the request, for messages */
struct ctl_req *perf_net_req(struct ctl_net *net, uint8_t cmd, uint32_t node, const char *what)
{
	struct ctl_req *req = ctl_req_new(net, cmd, 0, what);

	perf_net_u32(req, SPINDLE_A_NODE_ID, "node", node);
	return req;
}

/* Add a number that messages name by @word. */
void perf_net_u32(struct ctl_req *req, int type, const char *word, uint32_t v)
{
	ctl_req_mark(req, 0, ctl_asprintf("%s %u", word, v));
	ctl_req_u32(req, type, v);
}

/* Send a request and free its message. The arguments are those of ctl_net_call(). */
int perf_net_call(struct ctl_net *net, struct ctl_req *req, struct ctl_replies *replies,
		  enum ctl_say say)
{
	int rc = ctl_net_call(net, req, replies, say);

	nlmsg_free(req->msg);
	return rc;
}

static struct ctl_pool *use_list_pool(void)
{
	ctl_pool_drop(&list_pool);
	return ctl_pool_use(&list_pool);
}

/* Read all subgroups of all nodes. */
int perf_net_subgroups(struct ctl_net *net, struct ctl_running_subgroup **list,
		       unsigned int *count)
{
	struct ctl_pool *before = use_list_pool();
	int rc = ctl_fetch_subgroups(net, "subgroups", &all, &all, &all, list, count);

	ctl_pool_use(before);
	return rc;
}

/* Read the counters of all engines and peers. */
int perf_net_stats(struct ctl_net *net, struct ctl_node_stats **list, unsigned int *count)
{
	struct ctl_pool *before = use_list_pool();
	int rc = ctl_fetch_stats(net, "counters", &all, list, count);

	ctl_pool_use(before);
	return rc;
}

/* Read the status of a node; 0: of all nodes. */
int perf_net_status(struct ctl_net *net, uint32_t node, struct ctl_status **list,
		    unsigned int *count)
{
	const struct ctl_val id = { .set = node, .num = node };
	struct ctl_pool *before = use_list_pool();
	int rc = ctl_fetch_status(net, "failover", &id, CTL_SAY, list, count);

	ctl_pool_use(before);
	return rc;
}

/* Make the engine of a node measure where its time goes, or stop that. */
int perf_net_timing(struct ctl_net *net, uint32_t node, bool on)
{
	struct ctl_req *req = perf_net_req(net, SPINDLE_CMD_NODE_SET, node, "timing");

	ctl_req_mark(req, 0, "timing");
	ctl_req_u8(req, SPINDLE_A_TIMING, on);
	return perf_net_call(net, req, NULL, CTL_SAY);
}

/* Tune a node's end of a subgroup. */
int perf_net_tune(struct ctl_net *net, uint32_t node, uint32_t group,
		  const struct perf_tune *tune)
{
	struct ctl_req *req = perf_net_req(net, SPINDLE_CMD_SUBGROUP_SET, node, "tune");

	perf_net_u32(req, SPINDLE_A_SUBGROUP_ID, "subgroup", group);
	perf_tune_put(req, tune);
	return perf_net_call(net, req, NULL, CTL_SAY);
}

int perf_net_node_del(struct ctl_net *net, uint32_t node)
{
	struct ctl_req *req = perf_net_req(net, SPINDLE_CMD_NODE_DEL, node, "node del");

	return perf_net_call(net, req, NULL, CTL_SAY);
}
