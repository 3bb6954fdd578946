// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: replies and dumps. Each dump resumes at the id after the last one that was shown. If
 * the configuration has changed since the dump began, its messages carry NLM_F_DUMP_INTR.
 */
#include "base/compat.h"
#include "bulk/rdmc.h"
#include "generated.h"
#include "internal.h"
#include "node/installed.h"
#include "node/node.h"
#include "node/subgroup.h"

/* ---- one object ------------------------------------------------------- */

static int reply(struct genl_info *info, u8 cmd,
		 int (*fill)(struct sk_buff *, const struct spindle_node *), bool need_view)
{
	struct spindle_node *node;
	struct sk_buff *skb = NULL;
	void *hdr;
	int err;

	spindle_netlink_lock(info);
	node = spindle_netlink_node(info);
	err = PTR_ERR_OR_ZERO(node);
	if (!err && need_view && !spindle_fill_has_view(node)) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[SPINDLE_A_NODE_ID],
				    "no view is installed");
		err = -ENOENT;
	}
	if (err)
		goto out;
	err = -ENOMEM;
	skb = genlmsg_new(need_view ? spindle_fill_view_bytes(node->inst) : SPINDLE_FILL_BASE,
			  GFP_KERNEL);
	if (!skb)
		goto out;
	err = -EMSGSIZE;
	hdr = genlmsg_put_reply(skb, info, &spindle_family, 0, cmd);
	if (hdr)
		err = fill(skb, node);
	if (!err)
		genlmsg_end(skb, hdr);
out:
	spindle_netlink_unlock(info);
	if (!err)
		return genlmsg_reply(skb, info);
	nlmsg_free(skb);
	return err;
}

/**
 * spindle_netlink_node_get_doit() - SPINDLE_CMD_NODE_GET for one node
 * @skb: the request
 * @info: the request, parsed
 *
 * Return: 0 or -errno
 */
int spindle_netlink_node_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return reply(info, SPINDLE_CMD_NODE_GET, spindle_fill_node, false);
}

/**
 * spindle_netlink_view_get_doit() - SPINDLE_CMD_VIEW_GET for one node
 * @skb: the request
 * @info: the request, parsed
 *
 * Return: 0 or -errno
 */
int spindle_netlink_view_get_doit(struct sk_buff *skb, struct genl_info *info)
{
	return reply(info, SPINDLE_CMD_VIEW_GET, spindle_fill_view, true);
}

/* ---- dumps ------------------------------------------------------------ */

/**
 * struct cursor - where a dump goes on, in cb->ctx
 */
struct cursor {
	/** @node: lowest node id that was not shown; beyond 32 bits at the end */
	u64 node;
	/** @index: next subgroup of it, or lowest number of an RDMC group that was not shown */
	u64 index;
};

static struct spindle_node *resume_node(const struct spindle_net *sn, const struct cursor *at)
{
	return at->node > U32_MAX ? NULL : spindle_node_next(sn, at->node);
}

static u32 filter(struct netlink_callback *cb, int type, u32 def)
{
	struct nlattr **attrs = spindle_dump_attrs(cb);

	return attrs[type] ? nla_get_u32(attrs[type]) : def;
}

static void *begin(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd)
{
	void *hdr = genlmsg_put(skb, NETLINK_CB(cb->skb).portid, cb->nlh->nlmsg_seq,
				&spindle_family, NLM_F_MULTI, cmd);

	if (hdr)
		genl_dump_check_consistent(cb, hdr);
	return hdr;
}

/**
 * spindle_netlink_start() - make room for the longest message of a dump
 * @cb: state of the dump
 * @bytes: returns the bytes for a node with a view
 *
 * Return: 0
 */
int spindle_netlink_start(struct netlink_callback *cb,
			  u32 (*bytes)(const struct spindle_installed *inst))
{
	struct spindle_net *sn = spindle_net_of(sock_net(cb->skb->sk));
	struct cursor at = {};
	struct spindle_node *node;

	mutex_lock(&sn->lock);
	for (; (node = resume_node(sn, &at)); at.node = node->id + 1ULL)
		if (node->inst)
			cb->min_dump_alloc = max_t(u32, cb->min_dump_alloc, bytes(node->inst));
	mutex_unlock(&sn->lock);
	return 0;
}

/**
 * spindle_netlink_dump_start() - make room for the longest message of a dump
 * @cb: state of the dump
 *
 * Return: 0
 */
int spindle_netlink_dump_start(struct netlink_callback *cb)
{
	return spindle_netlink_start(cb, spindle_fill_view_bytes);
}

/**
 * spindle_netlink_subgroup_start() - make room for the longest message of a dump of subgroups
 * @cb: state of the dump
 *
 * Return: 0
 */
int spindle_netlink_subgroup_start(struct netlink_callback *cb)
{
	return spindle_netlink_start(cb, spindle_fill_subgroup_bytes);
}

/* End a message, or remove it after an error. */
static int finish(struct sk_buff *skb, void *hdr, int err)
{
	if (err)
		genlmsg_cancel(skb, hdr);
	else
		genlmsg_end(skb, hdr);
	return err;
}

/**
 * struct dump - a kind of dump
 */
struct dump {
	/** @cmd: command of the messages */
	u8 cmd;
	/** @node: dumps all messages about a node, from the cursor's index on */
	int (*node)(const struct dump *dump, struct sk_buff *skb, struct netlink_callback *cb,
		    const struct spindle_node *node);
	/** @fill: in a dump with one message per node: fills that */
	int (*fill)(struct sk_buff *skb, const struct spindle_node *node);
	/** @has: in such a dump: does a node have something to show? NULL: all nodes do */
	bool (*has)(const struct spindle_node *node);
};

static int dump_nodes(const struct dump *dump, struct sk_buff *skb, struct netlink_callback *cb)
{
	struct cursor *at = (struct cursor *)cb->ctx;
	struct spindle_net *sn = spindle_net_of(sock_net(cb->skb->sk));
	struct spindle_node *node;
	int err = 0;

	mutex_lock(&sn->lock);
	cb->seq = sn->generation;
	/* Both generations only grow, so their sum changes when either does. */
	if (dump->cmd == SPINDLE_CMD_RDMC_GET)
		cb->seq += sn->rdmc_generation;
	while ((node = resume_node(sn, at))) {
		/* If the cursor's node has gone, its index has no meaning for the next node. */
		if (at->node != node->id)
			at->index = 0;
		at->node = node->id;
		if (filter(cb, SPINDLE_A_NODE_ID, node->id) == node->id)
			err = dump->node(dump, skb, cb, node);
		if (err)
			break;
		at->index = 0;
		at->node = node->id + 1ULL;
	}
	mutex_unlock(&sn->lock);
	/* Send a full buffer, and go on later. If not even one message fits, fail. */
	return err && !skb->len ? err : skb->len;
}

static int dump_node(const struct dump *dump, struct sk_buff *skb, struct netlink_callback *cb,
		     const struct spindle_node *node)
{
	void *hdr;

	if (dump->has && !dump->has(node))
		return 0;
	hdr = begin(skb, cb, dump->cmd);
	return finish(skb, hdr, hdr ? dump->fill(skb, node) : -EMSGSIZE);
}

/**
 * spindle_netlink_dump() - dump the nodes that have something to show, one message each
 * @skb: room for messages
 * @cb: state of the dump
 * @cmd: command of the messages
 * @fill: fills a message
 * @has: does a node have something to show? NULL: all nodes do
 *
 * Return: bytes, or -errno
 */
int spindle_netlink_dump(struct sk_buff *skb, struct netlink_callback *cb, u8 cmd,
			 int (*fill)(struct sk_buff *, const struct spindle_node *),
			 bool (*has)(const struct spindle_node *))
{
	const struct dump dump = { .cmd = cmd, .node = dump_node, .fill = fill, .has = has };

	return dump_nodes(&dump, skb, cb);
}

/**
 * spindle_netlink_node_get_dumpit() - SPINDLE_CMD_NODE_GET for all
 * @skb: to fill
 * @cb: state of the dump
 *
 * Return: bytes, or -errno
 */
int spindle_netlink_node_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return spindle_netlink_dump(skb, cb, SPINDLE_CMD_NODE_GET, spindle_fill_node, NULL);
}

/**
 * spindle_netlink_view_get_dumpit() - SPINDLE_CMD_VIEW_GET for all
 * @skb: to fill
 * @cb: state of the dump
 *
 * Return: bytes, or -errno
 */
int spindle_netlink_view_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return spindle_netlink_dump(skb, cb, SPINDLE_CMD_VIEW_GET, spindle_fill_view,
				    spindle_fill_has_view);
}

/**
 * spindle_netlink_stats_get_dumpit() - SPINDLE_CMD_STATS_GET
 * @skb: to fill
 * @cb: state of the dump
 *
 * Return: bytes, or -errno
 */
int spindle_netlink_stats_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return spindle_netlink_dump(skb, cb, SPINDLE_CMD_STATS_GET, spindle_fill_stats, NULL);
}

/* Does the request name this subgroup, or none? */
static bool wanted_subgroup(struct netlink_callback *cb, const struct spindle_view_subgroup *cfg)
{
	const struct nlattr *name = spindle_dump_attrs(cb)[SPINDLE_A_SUBGROUP_NAME];

	return filter(cb, SPINDLE_A_SUBGROUP_ID, cfg->id) == cfg->id &&
	       (!name || !nla_strcmp(name, cfg->name));
}

static int dump_subgroups(const struct dump *dump, struct sk_buff *skb,
			  struct netlink_callback *cb, const struct spindle_node *node)
{
	struct cursor *at = (struct cursor *)cb->ctx;
	int err;

	for (; node->inst && at->index < node->inst->view.num_subgroups; at->index++) {
		const struct spindle_subgroup *sg = node->inst->subgroup[at->index];
		void *hdr;

		if (!sg || !wanted_subgroup(cb, sg->cfg))
			continue;
		hdr = begin(skb, cb, dump->cmd);
		err = finish(skb, hdr, hdr ? spindle_fill_subgroup(skb, node, sg) : -EMSGSIZE);
		if (err)
			return err;
	}
	return 0;
}

/**
 * spindle_netlink_subgroup_get_dumpit() - SPINDLE_CMD_SUBGROUP_GET
 * @skb: to fill
 * @cb: state of the dump
 *
 * Return: bytes, or -errno
 */
int spindle_netlink_subgroup_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct dump dump = { .cmd = SPINDLE_CMD_SUBGROUP_GET, .node = dump_subgroups };

	return dump_nodes(&dump, skb, cb);
}

/**
 * spindle_netlink_rdmc_start() - make room for the longest message of a dump of RDMC groups
 * @cb: state of the dump
 *
 * Return: 0
 */
int spindle_netlink_rdmc_start(struct netlink_callback *cb)
{
	return spindle_netlink_start(cb, spindle_fill_rdmc_bytes);
}

/* Dump the RDMC groups of a node. The list is in the order of their numbers. */
static int dump_rdmcs(const struct dump *dump, struct sk_buff *skb, struct netlink_callback *cb,
		      const struct spindle_node *node)
{
	const struct nlattr *id = spindle_dump_attrs(cb)[SPINDLE_A_RDMC_ID];
	struct cursor *at = (struct cursor *)cb->ctx;
	const struct spindle_rdmc_group *group;
	int err;

	list_for_each_entry(group, &node->rdmcs, list) {
		void *hdr;

		if (group->number < at->index || (id && nla_get_u64(id) != group->r.cfg.id))
			continue;
		hdr = begin(skb, cb, dump->cmd);
		err = finish(skb, hdr, hdr ? spindle_fill_rdmc(skb, group) : -EMSGSIZE);
		if (err)
			return err;
		at->index = group->number + 1;
	}
	return 0;
}

/**
 * spindle_netlink_rdmc_get_dumpit() - SPINDLE_CMD_RDMC_GET
 * @skb: to fill
 * @cb: state of the dump
 *
 * Return: bytes, or -errno
 */
int spindle_netlink_rdmc_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	const struct dump dump = { .cmd = SPINDLE_CMD_RDMC_GET, .node = dump_rdmcs };

	return dump_nodes(&dump, skb, cb);
}
