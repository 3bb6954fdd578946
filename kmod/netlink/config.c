// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: requests that create and remove nodes, and that set and remove views. See internal.h.
 *
 * A request is completely parsed and checked before anything is changed.
 */
#include <linux/cpumask.h>
#include <linux/slab.h>

#include "base/engine.h"
#include "base/extack.h"
#include "generated.h"
#include "internal.h"
#include "node/node.h"

/* To bind an engine to a CPU needs CAP_SYS_NICE, see spindle_netlink_idle(). */
static int parse_cpu(int *cpu, struct sk_buff *skb, const struct nlattr *attr,
		     struct netlink_ext_ack *extack)
{
	u32 v;

	if (!attr)
		return 0;
	v = nla_get_u32(attr);
	if (v >= nr_cpu_ids || !cpu_online(v))
		return spindle_deny(extack, attr, -EINVAL, "no such CPU is online");
	if (!netlink_capable(skb, CAP_SYS_NICE))
		return spindle_deny(extack, attr, -EPERM, "to bind an engine needs CAP_SYS_NICE");
	*cpu = v;
	return 0;
}

/* Parse the attributes of a node into @cfg, which has the defaults. */
static int parse_node(struct spindle_node_config *cfg, struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr **attrs = info->attrs;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, SPINDLE_A_NODE_ID))
		return spindle_deny(info->extack, NULL, -EINVAL, "the node id is missing");
	cfg->net = genl_info_net(info);
	cfg->check = spindle_netlink_check_only(info);
	cfg->id = nla_get_u32(attrs[SPINDLE_A_NODE_ID]);
	strscpy(cfg->cluster, SPINDLE_DEF_CLUSTER, sizeof(cfg->cluster));
	if (attrs[SPINDLE_A_CLUSTER]) {
		memset(cfg->cluster, 0, sizeof(cfg->cluster));
		nla_strscpy(cfg->cluster, attrs[SPINDLE_A_CLUSTER], sizeof(cfg->cluster));
		if (!cfg->cluster[0])
			return spindle_deny(info->extack, attrs[SPINDLE_A_CLUSTER], -EINVAL,
					    "a cluster name has 1 to 23 characters");
	}
	err = spindle_netlink_key(&cfg->key, &cfg->key_len, attrs[SPINDLE_A_KEY], info->extack);
	if (err)
		return err;
	if (attrs[SPINDLE_A_VISIBILITY])
		cfg->visibility = nla_get_u8(attrs[SPINDLE_A_VISIBILITY]);
	if (attrs[SPINDLE_A_ENGINE])
		cfg->engine = nla_get_u32(attrs[SPINDLE_A_ENGINE]);
	cfg->rack = attrs[SPINDLE_A_RACK] ? nla_get_u16(attrs[SPINDLE_A_RACK]) : SPINDLE_NO_RACK;
	err = spindle_netlink_idle(&cfg->idle_us, skb, attrs[SPINDLE_A_IDLE_US], info->extack);
	if (!err)
		err = parse_cpu(&cfg->cpu, skb, attrs[SPINDLE_A_CPU], info->extack);
	if (err)
		return err;
	return spindle_netlink_addr(&cfg->addr, attrs[SPINDLE_A_ADDR4], attrs[SPINDLE_A_ADDR6],
				    attrs[SPINDLE_A_PORT], info->extack);
}

/* Find the attribute to blame for an error of spindle_node_add(). */
static const struct nlattr *node_add_blame(struct genl_info *info, int err)
{
	struct nlattr **attrs = info->attrs;

	switch (err) {
	case -EEXIST:
		return attrs[SPINDLE_A_NODE_ID];
	case -ENOMEM:
	case -ENOSPC:
		return NULL;
	case -EINVAL:
		/* The engine runs on another CPU. */
		if (attrs[SPINDLE_A_CPU])
			return attrs[SPINDLE_A_CPU];
		fallthrough;
	default:
		return attrs[SPINDLE_A_ADDR4] ? : attrs[SPINDLE_A_ADDR6];
	}
}

static const struct nlattr *view_set_blame(const struct spindle_view *view,
					   struct genl_info *info, int err)
{
	switch (err) {
	case -EEXIST:
	case -ESTALE:
		return info->attrs[SPINDLE_A_VIEW_ID];
	case -EINVAL:
		return spindle_netlink_own(view, info);
	case -ENODEV:
		return info->attrs[SPINDLE_A_NODE_ID];
	default:
		return NULL;
	}
}

/**
 * spindle_netlink_node_add_doit() - SPINDLE_CMD_NODE_ADD
 * @skb: the request
 * @info: parsed
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_node_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spindle_node_config cfg = { .idle_us = SPINDLE_DEF_IDLE_US, .cpu = SPINDLE_ANY_CPU };
	int err = parse_node(&cfg, skb, info);

	if (!err) {
		spindle_netlink_lock(info);
		err = spindle_node_add(&cfg, info->extack);
		if (err)
			info->extack->bad_attr = node_add_blame(info, err);
		spindle_netlink_unlock(info);
	}
	spindle_netlink_forget_key(info);
	return err;
}

/**
 * spindle_netlink_node_del_doit() - SPINDLE_CMD_NODE_DEL
 * @skb: the request
 * @info: parsed
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_node_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spindle_node *node;

	spindle_netlink_lock(info);
	node = spindle_netlink_node(info);
	if (!IS_ERR(node))
		spindle_node_del(node);
	spindle_netlink_unlock(info);
	return PTR_ERR_OR_ZERO(node);
}

static int check_static(struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[SPINDLE_A_CONTACT] ? :
				    info->attrs[SPINDLE_A_LINEAGE] ? : info->attrs[SPINDLE_A_ERA];

	if (attr) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "only a live view has contacts, a lineage and an era");
		return -EINVAL;
	}
	if (info->attrs[SPINDLE_A_INSECURE]) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[SPINDLE_A_INSECURE],
				    "insecure is for live views only");
		return -EINVAL;
	}
	return 0;
}

/**
 * spindle_netlink_view_set_doit() - SPINDLE_CMD_VIEW_SET
 * @skb: the request
 * @info: parsed
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_view_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spindle_view *view;
	struct spindle_node *node;
	int err;

	if (info->attrs[SPINDLE_A_LIVE])
		return spindle_netlink_live_set(info);
	err = check_static(info);
	if (err)
		return err;
	view = kvzalloc(sizeof(*view), GFP_KERNEL_ACCOUNT);
	if (!view)
		return -ENOMEM;
	err = spindle_netlink_view(view, info);
	if (err)
		goto out;
	spindle_netlink_lock(info);
	err = spindle_netlink_set_node(info, &node);
	if (node) {
		err = spindle_node_set_view(node, view, spindle_netlink_check_only(info),
					    info->extack);
		if (err)
			info->extack->bad_attr = view_set_blame(view, info, err);
	}
	spindle_netlink_unlock(info);
out:
	kvfree(view);
	return err;
}

/**
 * spindle_netlink_view_del_doit() - SPINDLE_CMD_VIEW_DEL
 * @skb: the request
 * @info: parsed
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_view_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spindle_node *node;
	int err;

	spindle_netlink_lock(info);
	node = spindle_netlink_node(info);
	err = PTR_ERR_OR_ZERO(node);
	if (!err)
		err = spindle_node_forget(node);
	if (err == -ENOENT)
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[SPINDLE_A_NODE_ID],
				    "no view is installed");
	spindle_netlink_unlock(info);
	return err;
}
