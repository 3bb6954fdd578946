// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: requests that change a running node or its end of a subgroup, and the measurement of
 * the device. See netlink.h.
 */
#include <linux/slab.h>

#include "base/engine.h"
#include "base/extack.h"
#include "netlink.h"
#include "node/group.h"
#include "node/node.h"
#include "node/peer.h"
#include "node/raw.h"
#include "node/subgroup.h"

/* ---- a node ----------------------------------------------------------- */

struct node_change {
	struct spindle_node *node;
	const struct nlattr *idle_us;
	u32 idle;
	const struct nlattr *timing;
	const struct nlattr *rack;
	const struct nlattr *former;
	const void *key;
	u32 key_len;
};

static void node_set_fn(void *ctx)
{
	const struct node_change *change = ctx;

	if (change->idle_us)
		WRITE_ONCE(change->node->served.idle_us, change->idle);
	if (change->timing)
		spindle_engine_time(change->node->engine, nla_get_u8(change->timing));
}

/* Set a key. Connections that are up stay. New connections accept both keys. */
static int set_key(struct node_change *change, struct genl_info *info)
{
	struct spindle_key *key = &change->node->key;
	int err;

	if (!change->key)
		return 0;
	if (!spindle_key_given(key))
		return spindle_deny(info->extack, info->attrs[SPINDLE_A_KEY], -EOPNOTSUPP,
				    "the node was added without a key: nobody asks for one");
	err = spindle_key_set(key, change->key, change->key_len);
	if (err == -ENOENT)
		NL_SET_ERR_MSG(info->extack, "the kernel has no hmac(sha256) to use a key with");
	return err;
}

static int change_node(struct node_change *change, struct genl_info *info)
{
	int err = set_key(change, info);

	if (err)
		return err;
	if (change->former)
		spindle_key_retire(&change->node->key);
	if (change->rack)
		change->node->rack = nla_get_u16(change->rack);
	spindle_engine_call(change->node->engine, node_set_fn, change);
	change->node->sn->generation++;
	return 0;
}

static int set_node(struct node_change *change, struct genl_info *info)
{
	int err;

	if (!change->idle_us && !change->timing && !change->rack && !change->former &&
	    !change->key) {
		NL_SET_ERR_MSG(info->extack,
			       "nothing to set: give idle-us, timing, rack, a key or former-key");
		return -EINVAL;
	}
	spindle_netlink_lock(info);
	change->node = spindle_netlink_node(info);
	err = PTR_ERR_OR_ZERO(change->node);
	if (!err)
		err = change_node(change, info);
	spindle_netlink_unlock(info);
	return err;
}

/**
 * spindle_netlink_node_set() - SPINDLE_CMD_NODE_SET
 * @skb: the request
 * @info: parsed
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_node_set(struct sk_buff *skb, struct genl_info *info)
{
	struct node_change change = {
		.idle_us = info->attrs[SPINDLE_A_IDLE_US],
		.timing = info->attrs[SPINDLE_A_TIMING],
		.rack = info->attrs[SPINDLE_A_RACK],
		.former = info->attrs[SPINDLE_A_FORMER_KEY],
	};
	int err;

	err = spindle_netlink_idle(&change.idle, skb, change.idle_us, info->extack);
	if (!err)
		err = spindle_netlink_key(&change.key, &change.key_len,
					  info->attrs[SPINDLE_A_KEY], info->extack);
	if (!err)
		err = set_node(&change, info);
	spindle_netlink_forget_key(info);
	return err;
}

/* ---- a subgroup ------------------------------------------------------- */

static struct spindle_subgroup *find_subgroup(struct genl_info *info)
{
	const struct nlattr *attr = info->attrs[SPINDLE_A_SUBGROUP_ID];
	struct spindle_subgroup *sg;
	struct spindle_node *node;

	if (GENL_REQ_ATTR_CHECK(info, SPINDLE_A_SUBGROUP_ID)) {
		NL_SET_ERR_MSG(info->extack, "the subgroup id is missing");
		return ERR_PTR(-EINVAL);
	}
	node = spindle_netlink_node(info);
	if (IS_ERR(node))
		return ERR_CAST(node);
	sg = spindle_group_find(node->group, nla_get_u32(attr));
	if (sg)
		return sg;
	NL_SET_ERR_MSG_ATTR(info->extack, attr, "the node is in no subgroup with this id");
	return ERR_PTR(-ENOENT);
}

struct subgroup_change {
	struct spindle_subgroup *sg;
	struct spindle_mc_tune tune;
	u32 stall_ms;
};

static int take(u32 *value, const struct nlattr *attr, u32 low, u32 high,
		struct netlink_ext_ack *extack, const char *text)
{
	u32 v;

	if (!attr)
		return 0;
	v = nla_get_u32(attr);
	if (v < low || v > high) {
		NL_SET_BAD_ATTR(extack, attr);
		extack->_msg = text;
		return -EINVAL;
	}
	*value = v;
	return 0;
}

/*
 * Set the size above which messages go by RDMC. The sender alone decides this for each message
 * (send_one() in core/send.c), so members may have different values.
 */
static int take_large(struct subgroup_change *change, const struct nlattr *attr,
		      struct netlink_ext_ack *extack)
{
	if (attr && !change->sg->large)
		return spindle_deny(extack, attr, -EOPNOTSUPP,
				    "large is for subgroups with max-msg above 262144");
	return take(&change->tune.large, attr, SPINDLE_MIN_LARGE, SPINDLE_MAX_LARGE, extack,
		    "large is 4096 to 1048576 bytes");
}

static int parse_change(struct subgroup_change *change, struct nlattr **tb,
			struct netlink_ext_ack *extack)
{
	static const char budget[] = "a budget is 1 to 65536 messages";
	struct spindle_mc_tune *t = &change->tune;
	u32 old = t->switches;
	int err;

	if (tb[SPINDLE_TUNE_A_SWITCHES]) {
		struct nla_bitfield32 bits = nla_get_bitfield32(tb[SPINDLE_TUNE_A_SWITCHES]);

		t->switches = (old & ~bits.selector) | (bits.value & bits.selector);
	}
	err = take(&t->send_budget, tb[SPINDLE_TUNE_A_SEND_BUDGET], 1, SPINDLE_MAX_BUDGET,
		   extack, budget);
	if (!err)
		err = take(&t->recv_budget, tb[SPINDLE_TUNE_A_RECV_BUDGET], 1,
			   SPINDLE_MAX_BUDGET, extack, budget);
	if (!err)
		err = take(&t->dlv_budget, tb[SPINDLE_TUNE_A_DLV_BUDGET], 1,
			   SPINDLE_MAX_BUDGET, extack, budget);
	if (!err)
		err = take(&t->silence, tb[SPINDLE_TUNE_A_SILENCE], 0, SPINDLE_MAX_SILENCE,
			   extack, "silence is 0 to 1048576 rounds");
	if (!err)
		err = take(&change->stall_ms, tb[SPINDLE_TUNE_A_STALL_MS], 0,
			   SPINDLE_MAX_STALL_MS, extack, "stall-ms is 0 to 3600000");
	if (!err)
		err = take_large(change, tb[SPINDLE_TUNE_A_LARGE], extack);
	if (err)
		return err;
	if (((t->switches ^ old) & SPINDLE_SW_PACKED) && change->sg->sender)
		return spindle_deny(extack, tb[SPINDLE_TUNE_A_SWITCHES], -EBUSY,
				    "packed cannot change while a sender is attached");
	return 0;
}

static void subgroup_set_fn(void *ctx)
{
	const struct subgroup_change *change = ctx;
	struct spindle_subgroup *sg = change->sg;

	spindle_mc_retune(&sg->mc, &change->tune);
	WRITE_ONCE(sg->stall_ms, change->stall_ms);
	spindle_subgroup_touch(sg);
}

/**
 * spindle_netlink_subgroup_set() - SPINDLE_CMD_SUBGROUP_SET
 * @skb: the request
 * @info: parsed
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_subgroup_set(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[SPINDLE_TUNE_A_MAX + 1];
	struct subgroup_change change;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, SPINDLE_A_TUNE))
		return spindle_deny(info->extack, NULL, -EINVAL, "there is nothing to tune");
	err = nla_parse_nested(tb, SPINDLE_TUNE_A_MAX, info->attrs[SPINDLE_A_TUNE],
			       spindle_tune_policy, info->extack);
	if (err)
		return err;
	spindle_netlink_lock(info);
	change.sg = find_subgroup(info);
	err = PTR_ERR_OR_ZERO(change.sg);
	if (!err) {
		/* Only this function changes these, under the lock. */
		change.tune = change.sg->mc.tune;
		change.stall_ms = change.sg->stall_ms;
		err = parse_change(&change, tb, info->extack);
	}
	if (!err)
		spindle_engine_call(change.sg->group->node->engine, subgroup_set_fn, &change);
	spindle_netlink_unlock(info);
	return err;
}

/* ---- the device ------------------------------------------------------- */

static int parse_raw(struct spindle_raw *raw, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	if (!tb[SPINDLE_RAW_A_SIZE] || !tb[SPINDLE_RAW_A_COUNT])
		return spindle_deny(extack, NULL, -EINVAL, "size and count are needed");
	if (tb[SPINDLE_RAW_A_KIND])
		raw->kind = nla_get_u8(tb[SPINDLE_RAW_A_KIND]);
	raw->size = nla_get_u32(tb[SPINDLE_RAW_A_SIZE]);
	raw->count = nla_get_u32(tb[SPINDLE_RAW_A_COUNT]);
	/* Not larger than a message in the ring: a chain has no room for more pieces. */
	if (!raw->size || raw->size > min(raw->sg->cfg->ring, SPINDLE_MAX_LARGE))
		return spindle_deny(extack, tb[SPINDLE_RAW_A_SIZE], -EINVAL,
				    "size is 1 to 1048576 bytes, and at most the subgroup's ring");
	if (!raw->count || raw->count > SPINDLE_RAW_MAX_COUNT)
		return spindle_deny(extack, tb[SPINDLE_RAW_A_COUNT], -EINVAL,
				    "count is 1 to 1000000");
	return 0;
}

/* Find the other end of a ping-pong: the next member, if it is on this host and can write back. */
static int find_other(struct spindle_raw *raw, struct netlink_ext_ack *extack)
{
	const struct spindle_subgroup *sg = raw->sg;
	const struct spindle_group *group = sg->group;
	u64 set = sg->peers & sg->cfg->senders, after;
	struct spindle_node *node = NULL;
	u32 rank;

	after = set & ~((BIT_ULL(group->mg.me) << 1) - 1);
	if (set) {
		rank = __ffs64(after ? after : set);
		node = spindle_node_find(group->node->sn, group->view.member[rank].id);
	}
	if (!node || node->engine != group->node->engine || !node->group ||
	    node->group->digest != group->digest)
		return spindle_deny(extack, NULL, -EOPNOTSUPP,
				    "a ping-pong needs another sender of this kernel and engine");
	raw->other = node->group->subgroup[sg->index];
	return 0;
}

static int check_raw(struct spindle_raw *raw, struct netlink_ext_ack *extack)
{
	if (raw->sg->group->live)
		return spindle_deny(extack, NULL, -EOPNOTSUPP,
				    "not in a live view: its members would miss this one");
	if (raw->sg->mc.my_sender == SPINDLE_NO_RANK)
		return spindle_deny(extack, NULL, -EPERM,
				    "the node does not send in this subgroup");
	return raw->kind == SPINDLE_RAW_PINGPONG ? find_other(raw, extack) : 0;
}

static void explain_raw(struct netlink_ext_ack *extack, int err)
{
	switch (err) {
	case 0:
		break;
	case -EBUSY:
		NL_SET_ERR_MSG(extack, "the subgroup is in use or not active");
		break;
	case -ENOTCONN:
		NL_SET_ERR_MSG(extack, "a member was lost meanwhile");
		break;
	case -ETIMEDOUT:
		NL_SET_ERR_MSG(extack, "the device does not answer");
		break;
	default:
		NL_SET_ERR_MSG(extack, "the device takes no writes");
	}
}

static int reply_raw(struct genl_info *info, const struct spindle_raw *raw)
{
	struct sk_buff *skb = genlmsg_new(NLMSG_DEFAULT_SIZE, GFP_KERNEL);
	struct nlattr *nest;
	void *hdr;

	if (!skb)
		return -ENOMEM;
	hdr = genlmsg_put_reply(skb, info, &spindle_family, 0, SPINDLE_CMD_RAW_RUN);
	if (!hdr)
		goto err;
	nest = nla_nest_start(skb, SPINDLE_A_RAW);
	if (!nest || nla_put_u8(skb, SPINDLE_RAW_A_KIND, raw->kind) ||
	    nla_put_u32(skb, SPINDLE_RAW_A_SIZE, raw->size) ||
	    nla_put_u32(skb, SPINDLE_RAW_A_COUNT, raw->done) ||
	    nla_put_u64_64bit(skb, SPINDLE_RAW_A_NS, raw->ns, SPINDLE_RAW_A_PAD) ||
	    nla_put_u64_64bit(skb, SPINDLE_RAW_A_WRITES, raw->writes, SPINDLE_RAW_A_PAD))
		goto err;
	nla_nest_end(skb, nest);
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
err:
	nlmsg_free(skb);
	return -EMSGSIZE;
}

/**
 * spindle_netlink_raw_run() - SPINDLE_CMD_RAW_RUN
 * @skb: the request
 * @info: parsed
 *
 * This holds the namespace's lock all the time, so that nothing changes during the measurement.
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_raw_run(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[SPINDLE_RAW_A_MAX + 1];
	struct spindle_raw raw = {};
	int err;

	if (GENL_REQ_ATTR_CHECK(info, SPINDLE_A_RAW))
		return spindle_deny(info->extack, NULL, -EINVAL, "there is nothing to measure");
	err = nla_parse_nested(tb, SPINDLE_RAW_A_MAX, info->attrs[SPINDLE_A_RAW],
			       spindle_raw_policy, info->extack);
	if (err)
		return err;
	spindle_netlink_lock(info);
	raw.sg = find_subgroup(info);
	err = PTR_ERR_OR_ZERO(raw.sg);
	if (!err)
		err = parse_raw(&raw, tb, info->extack);
	if (!err)
		err = check_raw(&raw, info->extack);
	if (!err) {
		err = spindle_raw_run(&raw);
		explain_raw(info->extack, err);
	}
	spindle_netlink_unlock(info);
	return err ? err : reply_raw(info, &raw);
}
