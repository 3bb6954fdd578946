// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: what parsers of requests share. See internal.h.
 */
#include <linux/in6.h>
#include <net/ipv6.h>

#include "base/extack.h"
#include "internal.h"
#include "node/installed.h"
#include "node/node.h"
#include "node/subgroup.h"

/**
 * spindle_netlink_need() - check that a mandatory attribute is there
 * @nest: nest of the attribute
 * @attr: the attribute, or NULL
 * @text: error text if it is missing
 * @extack: for the error text
 *
 * Return: 0 or -EINVAL
 */
int spindle_netlink_need(const struct nlattr *nest, const struct nlattr *attr, const char *text,
			 struct netlink_ext_ack *extack)
{
	if (attr)
		return 0;
	extack->bad_attr = nest;
	extack->_msg = text;
	return -EINVAL;
}

/**
 * spindle_netlink_each() - call a parser for each top-level attribute of a type, in their order
 * @ctx: argument of @parse
 * @info: the request
 * @type: type of the attributes
 * @parse: the parser
 *
 * Return: 0, or the first other value that the parser returned
 */
int spindle_netlink_each(void *ctx, struct genl_info *info, int type,
			 spindle_netlink_parser *parse)
{
	const struct nlattr *attr;
	int rem, err;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem) {
		if (nla_type(attr) != type)
			continue;
		err = parse(ctx, attr, info->extack);
		if (err)
			return err;
	}
	return 0;
}

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
			    "no node has this id");
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

/**
 * spindle_netlink_find_subgroup() - the subgroup of a node that a request names
 * @info: the request
 *
 * Context: the namespace's lock.
 * Return: the subgroup; ERR_PTR(-EINVAL), ERR_PTR(-ENODEV) or ERR_PTR(-ENOENT), with a text
 */
struct spindle_subgroup *spindle_netlink_find_subgroup(struct genl_info *info)
{
	const struct nlattr *id = info->attrs[SPINDLE_A_SUBGROUP_ID];
	const struct nlattr *name = info->attrs[SPINDLE_A_SUBGROUP_NAME];
	struct spindle_subgroup *sg;
	struct spindle_node *node;

	if (!name && GENL_REQ_ATTR_CHECK(info, SPINDLE_A_SUBGROUP_ID)) {
		NL_SET_ERR_MSG(info->extack, "the subgroup id is missing");
		return ERR_PTR(-EINVAL);
	}
	node = spindle_netlink_node(info);
	if (IS_ERR(node))
		return ERR_CAST(node);
	if (id)
		sg = spindle_installed_find(node->inst, nla_get_u32(id));
	else
		sg = spindle_installed_find_name(node->inst, nla_data(name));
	if (sg && (!name || !nla_strcmp(name, sg->cfg->name)))
		return sg;
	if (name)
		NL_SET_ERR_MSG_ATTR(info->extack, name,
				    "the node is in no subgroup with this name");
	else
		NL_SET_ERR_MSG_ATTR(info->extack, id, "the node is in no subgroup with this id");
	return ERR_PTR(-ENOENT);
}
