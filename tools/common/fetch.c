// SPDX-License-Identifier: GPL-2.0-only
/* Requests for the nodes, views and subgroups that the kernel has. */
#include <errno.h>
#include <string.h>

#include <netlink/msg.h>

#include <linux/spindle_genl.h>

#include "live.h"
#include "util.h"
#include "wire.h"

/* Each node has its own request, because a view may be larger than a message of a dump. */
static int fetch_view(struct ctl_net *net, const char *what, struct ctl_running *run)
{
	struct ctl_req *req = ctl_req_new(net, SPINDLE_CMD_VIEW_GET, 0, what);
	struct ctl_replies replies;
	int rc;

	ctl_req_val(req, &ctl_node_keys[CTL_NODE_ID], &run->node.val[CTL_NODE_ID]);
	rc = ctl_net_call(net, req, &replies, CTL_QUIET);
	nlmsg_free(req->msg);
	if (rc == -ENOENT || rc == -ENODEV)
		return 0;	/* the node or its view has gone since the list was read */
	if (rc) {
		ctl_err("%s: the view of node %llu: %s", what,
			(unsigned long long)run->node.val[CTL_NODE_ID].num, strerror(-rc));
		return rc;
	}
	if (replies.count) {
		run->has_view = true;
		ctl_view_get(&run->view, replies.msg[0]);
		/* If there is a status, get_status() replaces these two values. */
		run->in_live = run->view.is_live;
		run->live_state = SPINDLE_LIVE_ACTIVE;
	}
	return 0;
}

/*
 * The contract does not promise that a view says whether it is live. So the status may be the only
 * source for that.
 */
static void get_status(struct ctl_running *run, struct nlattr **a)
{
	struct nlattr *live = a[SPINDLE_A_LIVE];

	run->in_live = live;
	if (!live)
		return;
	run->node.insecure.set = true;
	run->node.insecure.num = a[SPINDLE_A_INSECURE] ? 1 : 0;
	run->live_state = ctl_attr_num(ctl_nest_attrs(live, SPINDLE_LIVE_A_MAX)
				       [SPINDLE_LIVE_A_STATE]);
	if (run->has_view && !run->view.is_live)
		ctl_live_get(&run->view, live);
}

/*
 * Read the live state of the nodes. A module without live views refuses the request, so no node is
 * in one then.
 */
static void fetch_live(struct ctl_net *net, const char *what, const struct ctl_val *id,
		       struct ctl_running *running, unsigned int count)
{
	struct ctl_req *req = ctl_req_new(net, SPINDLE_CMD_STATUS_GET, NLM_F_DUMP, what);
	struct ctl_replies replies;
	unsigned int i, k;
	int rc;

	ctl_req_val(req, &ctl_node_keys[CTL_NODE_ID], id);
	rc = ctl_net_call(net, req, &replies, CTL_QUIET);
	nlmsg_free(req->msg);
	for (i = 0; !rc && i < replies.count; i++) {
		struct nlattr **a = ctl_msg_attrs(replies.msg[i]);
		uint64_t node = ctl_attr_num(a[SPINDLE_A_NODE_ID]);

		for (k = 0; k < count; k++)
			if (running[k].node.val[CTL_NODE_ID].num == node)
				get_status(&running[k], a);
	}
}

/**
 * ctl_fetch() - read all nodes, or one, with their views
 * @net: socket
 * @what: purpose of the request, for messages
 * @id: node id; not set: all nodes
 * @running: out: nodes
 * @count: out: entries of @running
 * @views: also fetch the views
 *
 * Return: 0 or -errno; an error has been printed
 */
int ctl_fetch(struct ctl_net *net, const char *what, const struct ctl_val *id,
	      struct ctl_running **running, unsigned int *count, bool views)
{
	struct ctl_req *req;
	struct ctl_replies replies;
	unsigned int i;
	int rc;

	req = ctl_req_new(net, SPINDLE_CMD_NODE_GET, id->set ? 0 : NLM_F_DUMP, what);
	ctl_req_val(req, &ctl_node_keys[CTL_NODE_ID], id);
	rc = ctl_net_call(net, req, &replies, CTL_SAY);
	nlmsg_free(req->msg);
	if (rc)
		return rc;
	*count = replies.count;
	*running = ctl_alloc(replies.count * sizeof(**running) + 1);
	for (i = 0; i < replies.count; i++) {
		struct ctl_running *run = &(*running)[i];

		ctl_node_get(&run->node, replies.msg[i]);
		if (views && run->node.vid)
			rc = fetch_view(net, what, run);
		if (rc)
			return rc;
	}
	if (views)
		fetch_live(net, what, id, *running, *count);
	return 0;
}

/**
 * ctl_running_find() - find the node that a command is for
 * @running: nodes of ctl_fetch()
 * @count: entries of @running
 * @id: id of the node; 0: the only one there is
 *
 * Return: the node; NULL after a message
 */
const struct ctl_running *ctl_running_find(const struct ctl_running *running, unsigned int count,
					   uint32_t id)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (running[i].node.val[CTL_NODE_ID].num == id)
			return &running[i];
	if (id)
		ctl_err("node %u: no such node in this network namespace", id);
	else if (count == 1)
		return running;
	else
		ctl_err("there are %u nodes in this network namespace; say which by --node", count);
	return NULL;
}

/**
 * ctl_fetch_subgroups() - read the subgroups of all nodes, or of one, with their counters
 * @net: socket
 * @what: purpose of the request, for messages
 * @node: node id; not set: all nodes
 * @id: subgroup id; not set: all subgroups
 * @name: subgroup name; not set: all subgroups
 * @out: out: subgroups
 * @count: out: entries of @out
 *
 * Return: 0 or -errno; an error has been printed
 */
int ctl_fetch_subgroups(struct ctl_net *net, const char *what, const struct ctl_val *node,
			const struct ctl_val *id, const struct ctl_val *name,
			struct ctl_running_subgroup **out, unsigned int *count)
{
	static const struct ctl_key id_key = CTL_KEY("id", NULL, U32, SPINDLE_A_SUBGROUP_ID);
	static const struct ctl_key name_key = CTL_KEY("name", NULL, STR, SPINDLE_A_SUBGROUP_NAME);
	struct ctl_replies replies;
	struct ctl_req *req;
	unsigned int i;
	int rc;

	req = ctl_req_new(net, SPINDLE_CMD_SUBGROUP_GET, NLM_F_DUMP, what);
	ctl_req_val(req, &ctl_node_keys[CTL_NODE_ID], node);
	ctl_req_val(req, &id_key, id);
	ctl_req_val(req, &name_key, name);
	rc = ctl_net_call(net, req, &replies, CTL_SAY);
	nlmsg_free(req->msg);
	if (rc)
		return rc;
	*count = replies.count;
	*out = ctl_alloc(replies.count * sizeof(**out) + 1);
	for (i = 0; i < replies.count; i++) {
		struct nlattr **a = ctl_msg_attrs(replies.msg[i]);

		(*out)[i].node = ctl_attr_num(a[SPINDLE_A_NODE_ID]);
		(*out)[i].vid = ctl_attr_num(a[SPINDLE_A_VIEW_ID]);
		ctl_subgroup_get(&(*out)[i].sg, a[SPINDLE_A_SUBGROUP]);
	}
	return 0;
}
