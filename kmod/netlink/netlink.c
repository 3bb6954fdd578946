// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: family, policies, and requests that change something. See netlink.h and
 * <linux/spindle_genl.h>.
 *
 * A request is completely parsed and checked before anything is changed.
 */
#include <linux/cpumask.h>
#include <linux/in6.h>
#include <linux/module.h>
#include <linux/slab.h>
#include <net/genetlink.h>
#include <net/ipv6.h>

#include "base/engine.h"
#include "base/extack.h"
#include "netlink.h"
#include "node/event.h"
#include "node/node.h"

static const struct nla_policy node_add_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_CLUSTER] = { .type = NLA_NUL_STRING, .len = SPINDLE_CLUSTER_LEN },
	[SPINDLE_A_ADDR4] = { .type = NLA_U32 },
	[SPINDLE_A_ADDR6] = NLA_POLICY_EXACT_LEN(16),
	[SPINDLE_A_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[SPINDLE_A_VISIBILITY] = NLA_POLICY_MAX(NLA_U8, SPINDLE_VISIBILITY_IMM),
	[SPINDLE_A_IDLE_US] = { .type = NLA_U32 },
	[SPINDLE_A_ENGINE] = NLA_POLICY_MAX(NLA_U32, SPINDLE_MAX_ENGINE),
	[SPINDLE_A_CPU] = { .type = NLA_U32 },
	[SPINDLE_A_KEY] = { .type = NLA_BINARY, .len = SPINDLE_MAX_KEY },
	[SPINDLE_A_RACK] = { .type = NLA_U16 },
	[SPINDLE_A_CHECK] = NLA_POLICY_MAX(NLA_U8, SPINDLE_CHECK_ALONE),
};

static const struct nla_policy node_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy subgroup_get_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_SUBGROUP_ID] = { .type = NLA_U32 },
};

static const struct nla_policy node_set_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_IDLE_US] = { .type = NLA_U32 },
	[SPINDLE_A_TIMING] = NLA_POLICY_MAX(NLA_U8, 1),
	[SPINDLE_A_RACK] = { .type = NLA_U16 },
	[SPINDLE_A_KEY] = { .type = NLA_BINARY, .len = SPINDLE_MAX_KEY },
	[SPINDLE_A_FORMER_KEY] = NLA_POLICY_MAX(NLA_U8, 0),
};

const struct nla_policy spindle_tune_policy[SPINDLE_TUNE_A_MAX + 1] = {
	[SPINDLE_TUNE_A_SWITCHES] = NLA_POLICY_BITFIELD32(SPINDLE_SW_ALL),
	[SPINDLE_TUNE_A_SEND_BUDGET] = { .type = NLA_U32 },
	[SPINDLE_TUNE_A_RECV_BUDGET] = { .type = NLA_U32 },
	[SPINDLE_TUNE_A_DLV_BUDGET] = { .type = NLA_U32 },
	[SPINDLE_TUNE_A_SILENCE] = { .type = NLA_U32 },
	[SPINDLE_TUNE_A_STALL_MS] = { .type = NLA_U32 },
	[SPINDLE_TUNE_A_LARGE] = { .type = NLA_U32 },
};

static const struct nla_policy subgroup_set_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_SUBGROUP_ID] = { .type = NLA_U32 },
	[SPINDLE_A_TUNE] = NLA_POLICY_NESTED(spindle_tune_policy),
};

const struct nla_policy spindle_raw_policy[SPINDLE_RAW_A_MAX + 1] = {
	[SPINDLE_RAW_A_KIND] = NLA_POLICY_MAX(NLA_U8, SPINDLE_RAW_PINGPONG),
	[SPINDLE_RAW_A_SIZE] = { .type = NLA_U32 },
	[SPINDLE_RAW_A_COUNT] = { .type = NLA_U32 },
};

static const struct nla_policy raw_run_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_SUBGROUP_ID] = { .type = NLA_U32 },
	[SPINDLE_A_RAW] = NLA_POLICY_NESTED(spindle_raw_policy),
};

static const struct nla_policy member_policy[SPINDLE_MEMBER_A_MAX + 1] = {
	[SPINDLE_MEMBER_A_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_MEMBER_A_ADDR4] = { .type = NLA_U32 },
	[SPINDLE_MEMBER_A_ADDR6] = NLA_POLICY_EXACT_LEN(16),
	[SPINDLE_MEMBER_A_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
};

static const struct nla_policy subgroup_node_policy[SPINDLE_SUBGROUP_NODE_A_MAX + 1] = {
	[SPINDLE_SUBGROUP_NODE_A_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_SUBGROUP_NODE_A_SENDER] = NLA_POLICY_MAX(NLA_U8, 1),
};

static const struct nla_policy rule_policy[SPINDLE_RULE_A_MAX + 1] = {
	[SPINDLE_RULE_A_SHARDS] = NLA_POLICY_RANGE(NLA_U32, 1, SPINDLE_MAX_SUBGROUPS),
	[SPINDLE_RULE_A_MIN] = NLA_POLICY_RANGE(NLA_U32, 1, SPINDLE_MAX_MEMBERS),
	[SPINDLE_RULE_A_ON_EXIT] = NLA_POLICY_MAX(NLA_U8, SPINDLE_ON_EXIT_LEAVE),
	[SPINDLE_RULE_A_SENDERS] = NLA_POLICY_MAX(NLA_U8, 1),
};

static const struct nla_policy live_policy[SPINDLE_LIVE_A_MAX + 1] = {
	[SPINDLE_LIVE_A_TIMEOUT_MS] = { .type = NLA_U32 },
	[SPINDLE_LIVE_A_MAX_NODES] = NLA_POLICY_RANGE(NLA_U32, 1, SPINDLE_MAX_MEMBERS),
	[SPINDLE_LIVE_A_QUORUM] = NLA_POLICY_MAX(NLA_U8, 1),
	[SPINDLE_LIVE_A_WITNESS] = NLA_POLICY_MIN(NLA_U32, 1),
};

static const struct nla_policy subgroup_policy[SPINDLE_SUBGROUP_A_MAX + 1] = {
	[SPINDLE_SUBGROUP_A_ID] = { .type = NLA_U32 },
	[SPINDLE_SUBGROUP_A_NAME] = { .type = NLA_NUL_STRING, .len = SPINDLE_NAME_LEN },
	[SPINDLE_SUBGROUP_A_MODE] = NLA_POLICY_MAX(NLA_U8, SPINDLE_MODE_UNORDERED),
	[SPINDLE_SUBGROUP_A_WINDOW] = { .type = NLA_U32 },
	[SPINDLE_SUBGROUP_A_MAX_MSG] = { .type = NLA_U32 },
	[SPINDLE_SUBGROUP_A_RING] = { .type = NLA_U32 },
	[SPINDLE_SUBGROUP_A_HOLD] = NLA_POLICY_MAX(NLA_U8, 1),
	[SPINDLE_SUBGROUP_A_NODE] = NLA_POLICY_NESTED(subgroup_node_policy),
	[SPINDLE_SUBGROUP_A_RULE] = NLA_POLICY_NESTED(rule_policy),
};

static const struct nla_policy contact_policy[SPINDLE_CONTACT_A_MAX + 1] = {
	[SPINDLE_CONTACT_A_ADDR4] = { .type = NLA_U32 },
	[SPINDLE_CONTACT_A_ADDR6] = NLA_POLICY_EXACT_LEN(16),
	[SPINDLE_CONTACT_A_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
};

static const struct nla_policy view_set_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_VIEW_ID] = { .type = NLA_U64 },
	[SPINDLE_A_MEMBER] = NLA_POLICY_NESTED(member_policy),
	[SPINDLE_A_SUBGROUP] = NLA_POLICY_NESTED(subgroup_policy),
	[SPINDLE_A_LIVE] = NLA_POLICY_NESTED(live_policy),
	[SPINDLE_A_CHECK] = NLA_POLICY_MAX(NLA_U8, SPINDLE_CHECK_ALONE),
	[SPINDLE_A_CONTACT] = NLA_POLICY_NESTED(contact_policy),
	[SPINDLE_A_LINEAGE] = NLA_POLICY_EXACT_LEN(SPINDLE_LINEAGE_LEN),
	[SPINDLE_A_INSECURE] = { .type = NLA_FLAG },
};

static const struct nla_policy join_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_ADDR4] = { .type = NLA_U32 },
	[SPINDLE_A_ADDR6] = NLA_POLICY_EXACT_LEN(16),
	[SPINDLE_A_PORT] = NLA_POLICY_MIN(NLA_U16, 1),
	[SPINDLE_A_CONTACT] = NLA_POLICY_NESTED(contact_policy),
	[SPINDLE_A_LINEAGE] = NLA_POLICY_EXACT_LEN(SPINDLE_LINEAGE_LEN),
	[SPINDLE_A_INSECURE] = { .type = NLA_FLAG },
};

static const struct nla_policy rdmc_get_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_RDMC_ID] = { .type = NLA_U64 },
};

static const struct nla_policy evict_policy[SPINDLE_A_MAX + 1] = {
	[SPINDLE_A_NODE_ID] = NLA_POLICY_MIN(NLA_U32, 1),
	[SPINDLE_A_PEER_ID] = NLA_POLICY_MIN(NLA_U32, 1),
};

/**
 * spindle_netlink_addr() - take an address from attributes
 * @addr: out
 * @a4: IPv4 address, or NULL
 * @a6: IPv6 address, or NULL
 * @port: port, or NULL for the default
 * @extack: for the reason of an error
 *
 * Return: 0 or -EINVAL
 */
int spindle_netlink_addr(struct spindle_addr *addr, const struct nlattr *a4,
			 const struct nlattr *a6, const struct nlattr *port,
			 struct netlink_ext_ack *extack)
{
	__be32 ip4;

	memset(addr, 0, sizeof(*addr));
	if (!a4 == !a6) {
		if (a6)
			NL_SET_ERR_MSG_ATTR(extack, a6, "give one address: IPv4 or IPv6");
		else
			NL_SET_ERR_MSG(extack, "an address is missing");
		return -EINVAL;
	}
	addr->port = port ? nla_get_u16(port) : SPINDLE_DEF_PORT;
	if (a4) {
		ip4 = nla_get_in_addr(a4);
		if (ipv4_is_zeronet(ip4) || ipv4_is_multicast(ip4) || ipv4_is_lbcast(ip4))
			return spindle_deny(extack, a4, -EINVAL, "not the address of a host");
		addr->family = 4;
		memcpy(addr->ip, &ip4, sizeof(ip4));
		return 0;
	}
	addr->family = 6;
	nla_memcpy(addr->ip, a6, sizeof(addr->ip));
	if (ipv6_addr_type((struct in6_addr *)addr->ip) & IPV6_ADDR_UNICAST)
		return 0;
	return spindle_deny(extack, a6, -EINVAL, "not the address of a host");
}

/**
 * spindle_netlink_lock() - take the lock of the namespace that a request came from
 * @info: the request
 */
void spindle_netlink_lock(struct genl_info *info)
{
	mutex_lock(&spindle_net_of(genl_info_net(info))->lock);
}

/**
 * spindle_netlink_unlock() - release the lock of spindle_netlink_lock()
 * @info: the request
 */
void spindle_netlink_unlock(struct genl_info *info)
{
	mutex_unlock(&spindle_net_of(genl_info_net(info))->lock);
}

/**
 * spindle_netlink_node() - the node that a request names
 * @info: the request
 *
 * Context: the namespace's lock.
 * Return: the node; ERR_PTR(-EINVAL) or ERR_PTR(-ENODEV), with a text
 */
struct spindle_node *spindle_netlink_node(struct genl_info *info)
{
	struct spindle_node *node;

	if (GENL_REQ_ATTR_CHECK(info, SPINDLE_A_NODE_ID)) {
		NL_SET_ERR_MSG(info->extack, "the node id is missing");
		return ERR_PTR(-EINVAL);
	}
	node = spindle_node_find(spindle_net_of(genl_info_net(info)),
				 nla_get_u32(info->attrs[SPINDLE_A_NODE_ID]));
	if (node)
		return node;
	NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[SPINDLE_A_NODE_ID],
			    "no node with this id here");
	return ERR_PTR(-ENODEV);
}

/**
 * spindle_netlink_check_only() - should a request only be checked?
 * @info: the request
 *
 * Return: enum spindle_check
 */
u8 spindle_netlink_check_only(struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[SPINDLE_A_CHECK];

	return attr ? nla_get_u8(attr) : SPINDLE_CHECK_NONE;
}

/**
 * spindle_netlink_set_node() - the node that a request to set a view names
 * @info: the request
 * @node: out: the node; NULL with SPINDLE_CHECK_ALONE
 *
 * With SPINDLE_CHECK_ALONE the node may not exist yet, so existing nodes do not count.
 *
 * Return: 0, -EINVAL or -ENODEV
 */
int spindle_netlink_set_node(struct genl_info *info, struct spindle_node **node)
{
	struct spindle_node *found;

	*node = NULL;
	if (spindle_netlink_check_only(info) == SPINDLE_CHECK_ALONE)
		return 0;
	found = spindle_netlink_node(info);
	if (IS_ERR(found))
		return PTR_ERR(found);
	*node = found;
	return 0;
}

/**
 * spindle_netlink_idle() - parse how long an engine may poll without work
 * @us: out: microseconds; unchanged without @attr
 * @skb: the request
 * @attr: SPINDLE_A_IDLE_US, or NULL
 * @extack: for the reason of an error
 *
 * Engines run outside of their administrator's cgroups and CPU sets. So a value above the default
 * needs the same right as a higher priority of a thread: CAP_SYS_NICE in the initial user
 * namespace.
 *
 * Return: 0, -EINVAL or -EPERM
 */
int spindle_netlink_idle(u32 *us, struct sk_buff *skb, const struct nlattr *attr,
			 struct netlink_ext_ack *extack)
{
	u32 v;

	if (!attr)
		return 0;
	v = nla_get_u32(attr);
	if (v > SPINDLE_MAX_IDLE_US)
		return spindle_deny(extack, attr, -EINVAL, "idle-us is 0 to 1000000");
	if (v > SPINDLE_DEF_IDLE_US && !netlink_capable(skb, CAP_SYS_NICE))
		return spindle_deny(extack, attr, -EPERM, "idle-us above 50 needs CAP_SYS_NICE");
	*us = v;
	return 0;
}

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

/**
 * spindle_netlink_key() - parse a key
 * @key: out: its bytes, in the request; NULL if there is none
 * @len: out: their number
 * @attr: SPINDLE_A_KEY, or NULL
 * @extack: for the reason of an error
 *
 * Return: 0 or -EINVAL
 */
int spindle_netlink_key(const void **key, u32 *len, const struct nlattr *attr,
			struct netlink_ext_ack *extack)
{
	*key = attr ? nla_data(attr) : NULL;
	*len = attr ? nla_len(attr) : 0;
	if (!attr || *len >= SPINDLE_MIN_KEY)
		return 0;
	return spindle_deny(extack, attr, -EINVAL, "a key has 16 to 64 bytes");
}

/**
 * spindle_netlink_forget_key() - overwrite the key in a request, before its memory is freed
 * @info: the request
 */
void spindle_netlink_forget_key(struct genl_info *info)
{
	struct nlattr *key = info->attrs[SPINDLE_A_KEY];

	if (key)
		memzero_explicit(nla_data(key), nla_len(key));
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

static int node_add(struct sk_buff *skb, struct genl_info *info)
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

static int node_del(struct sk_buff *skb, struct genl_info *info)
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
				    info->attrs[SPINDLE_A_LINEAGE];

	if (attr) {
		NL_SET_ERR_MSG_ATTR(info->extack, attr,
				    "only a live view has contacts and a lineage");
		return -EINVAL;
	}
	if (info->attrs[SPINDLE_A_INSECURE]) {
		NL_SET_ERR_MSG_ATTR(info->extack, info->attrs[SPINDLE_A_INSECURE],
				    "insecure is said of a live view only");
		return -EINVAL;
	}
	return 0;
}

static int view_set(struct sk_buff *skb, struct genl_info *info)
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

static int view_del(struct sk_buff *skb, struct genl_info *info)
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

static const struct genl_ops ops[] = {
	{
		.cmd = SPINDLE_CMD_NODE_ADD,
		.doit = node_add,
		.policy = node_add_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_NODE_DEL,
		.doit = node_del,
		.policy = node_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_NODE_GET,
		.doit = spindle_netlink_node_get,
		.dumpit = spindle_netlink_node_dump,
		.policy = node_policy,
		.maxattr = SPINDLE_A_MAX,
	}, {
		.cmd = SPINDLE_CMD_VIEW_SET,
		.doit = view_set,
		.policy = view_set_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_VIEW_DEL,
		.doit = view_del,
		.policy = node_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_VIEW_GET,
		.doit = spindle_netlink_view_get,
		.start = spindle_netlink_dump_start,
		.dumpit = spindle_netlink_view_dump,
		.policy = node_policy,
		.maxattr = SPINDLE_A_MAX,
	}, {
		.cmd = SPINDLE_CMD_SUBGROUP_GET,
		.start = spindle_netlink_subgroup_start,
		.dumpit = spindle_netlink_subgroup_dump,
		.policy = subgroup_get_policy,
		.maxattr = SPINDLE_A_MAX,
	}, {
		.cmd = SPINDLE_CMD_STATS_GET,
		.start = spindle_netlink_dump_start,
		.dumpit = spindle_netlink_stats_dump,
		.policy = node_policy,
		.maxattr = SPINDLE_A_MAX,
	}, {
		.cmd = SPINDLE_CMD_NODE_SET,
		.doit = spindle_netlink_node_set,
		.policy = node_set_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_SUBGROUP_SET,
		.doit = spindle_netlink_subgroup_set,
		.policy = subgroup_set_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_RAW_RUN,
		.doit = spindle_netlink_raw_run,
		.policy = raw_run_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_NODE_JOIN,
		.doit = spindle_netlink_join,
		.policy = join_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_NODE_LEAVE,
		.doit = spindle_netlink_leave,
		.policy = node_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_NODE_EVICT,
		.doit = spindle_netlink_evict,
		.policy = evict_policy,
		.maxattr = SPINDLE_A_MAX,
		.flags = GENL_UNS_ADMIN_PERM,
	}, {
		.cmd = SPINDLE_CMD_STATUS_GET,
		.start = spindle_netlink_status_start,
		.dumpit = spindle_netlink_status_dump,
		.policy = node_policy,
		.maxattr = SPINDLE_A_MAX,
	}, {
		.cmd = SPINDLE_CMD_RDMC_GET,
		.start = spindle_netlink_rdmc_start,
		.dumpit = spindle_netlink_rdmc_dump,
		.policy = rdmc_get_policy,
		.maxattr = SPINDLE_A_MAX,
	},
};

static const struct genl_multicast_group mcgrps[] = {
	{ .name = SPINDLE_GENL_MCGRP },
};

struct genl_family spindle_family __ro_after_init = {
	.name = SPINDLE_GENL_NAME,
	.version = SPINDLE_GENL_VERSION,
	.netnsok = true,
	.parallel_ops = true,	/* because each namespace has a lock of its own */
	.module = THIS_MODULE,
	.ops = ops,
	.n_ops = ARRAY_SIZE(ops),
	.mcgrps = mcgrps,
	.n_mcgrps = ARRAY_SIZE(mcgrps),
};

/**
 * spindle_netlink_init() - register the family; requests may arrive before this returns
 *
 * Return: 0 or -errno
 */
int __init spindle_netlink_init(void)
{
	spindle_event_init(&spindle_family);
	return genl_register_family(&spindle_family);
}

/**
 * spindle_netlink_exit() - unregister the family; waits for requests to end
 */
void spindle_netlink_exit(void)
{
	genl_unregister_family(&spindle_family);
}
