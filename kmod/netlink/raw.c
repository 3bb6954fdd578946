// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: the measurement of the device. See internal.h.
 */
#include "base/extack.h"
#include "generated.h"
#include "internal.h"
#include "node/installed.h"
#include "node/node.h"
#include "node/peer.h"
#include "node/raw.h"
#include "node/subgroup.h"
#include "node/table.h"

static int parse_raw(struct spindle_raw *raw, struct nlattr **tb, struct netlink_ext_ack *extack)
{
	if (!tb[SPINDLE_RAW_A_SIZE] || !tb[SPINDLE_RAW_A_COUNT])
		return spindle_deny(extack, NULL, -EINVAL, "size and count are needed");
	if (tb[SPINDLE_RAW_A_KIND])
		raw->kind = nla_get_u8(tb[SPINDLE_RAW_A_KIND]);
	raw->size = nla_get_u32(tb[SPINDLE_RAW_A_SIZE]);
	raw->count = nla_get_u32(tb[SPINDLE_RAW_A_COUNT]);
	/*
	 * Not larger than a message in the ring: a chain has no room for more pieces. The cells of
	 * a table's row are a ring here.
	 */
	if (!raw->size || raw->size > min_t(u32, raw->sg->cfg->ring, SPINDLE_MAX_LARGE))
		return spindle_deny(extack, tb[SPINDLE_RAW_A_SIZE], -EINVAL,
				    "size is 1 to 1048576 bytes, and at most the subgroup's ring or row");
	if (!raw->count || raw->count > SPINDLE_RAW_MAX_COUNT)
		return spindle_deny(extack, tb[SPINDLE_RAW_A_COUNT], -EINVAL,
				    "count is 1 to 1000000");
	return 0;
}

/* Find the other end of a ping-pong: the next member, if it is on this host and can write back. */
static int find_other(struct spindle_raw *raw, struct netlink_ext_ack *extack)
{
	const struct spindle_subgroup *sg = raw->sg;
	const struct spindle_installed *inst = sg->inst;
	u64 set = sg->peers & sg->cfg->senders, after;
	struct spindle_node *node = NULL;
	u32 rank;

	after = set & ~((BIT_ULL(inst->mg.me) << 1) - 1);
	if (set) {
		rank = __ffs64(after ? after : set);
		node = spindle_node_find(inst->node->sn, inst->view.member[rank].id);
	}
	if (!node || node->engine != inst->node->engine || !node->inst ||
	    node->inst->digest != inst->digest)
		return spindle_deny(extack, NULL, -EOPNOTSUPP,
				    "a ping-pong needs another sender of this kernel and engine");
	raw->other = node->inst->subgroup[sg->index];
	return 0;
}

static int check_raw(struct spindle_raw *raw, struct netlink_ext_ack *extack)
{
	const struct spindle_table *table = raw->sg->table;

	if (raw->sg->inst->live)
		return spindle_deny(extack, NULL, -EOPNOTSUPP,
				    "not in a live view: its members would suspect this node");
	if (raw->kind == SPINDLE_RAW_READ)
		return table && table->fetches ? 0 :
		       spindle_deny(extack, NULL, -EOPNOTSUPP,
				    "only rows of a table of mode read can be read");
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
	case -EAGAIN:
		NL_SET_ERR_MSG(extack, "a member's row cannot be read yet: it is not connected");
		break;
	case -ENOTCONN:
		NL_SET_ERR_MSG(extack, "a member was lost during the measurement");
		break;
	case -ETIMEDOUT:
		NL_SET_ERR_MSG(extack, "the device does not answer");
		break;
	default:
		NL_SET_ERR_MSG(extack, "the device takes no writes or reads");
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
	if (raw->kind == SPINDLE_RAW_READ &&
	    nla_put_u64_64bit(skb, SPINDLE_RAW_A_POST_NS, raw->post_ns, SPINDLE_RAW_A_PAD))
		goto err;
	nla_nest_end(skb, nest);
	genlmsg_end(skb, hdr);
	return genlmsg_reply(skb, info);
err:
	nlmsg_free(skb);
	return -EMSGSIZE;
}

/**
 * spindle_netlink_raw_run_doit() - SPINDLE_CMD_RAW_RUN
 * @skb: the request
 * @info: parsed
 *
 * This holds the namespace's lock all the time, so that nothing changes during the measurement.
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_raw_run_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[SPINDLE_RAW_A_MAX + 1];
	struct spindle_raw raw = {};
	int err;

	if (GENL_REQ_ATTR_CHECK(info, SPINDLE_A_RAW))
		return spindle_deny(info->extack, NULL, -EINVAL, "there is nothing to measure");
	err = nla_parse_nested(tb, SPINDLE_RAW_A_MAX, info->attrs[SPINDLE_A_RAW], NULL,
			       info->extack);
	if (err)
		return err;
	spindle_netlink_lock(info);
	raw.sg = spindle_netlink_find_subgroup(info);
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
