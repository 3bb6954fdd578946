// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: requests that change a running node or its end of a subgroup. See internal.h.
 */
#include "base/engine.h"
#include "base/extack.h"
#include "generated.h"
#include "internal.h"
#include "node/history.h"
#include "node/installed.h"
#include "node/node.h"
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
				    "the node was added without a key, so no peer asks for one");
	err = spindle_key_set(key, change->key, change->key_len);
	if (err == -ENOENT)
		NL_SET_ERR_MSG(info->extack, "the kernel has no hmac(sha256), which a key needs");
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
 * spindle_netlink_node_set_doit() - SPINDLE_CMD_NODE_SET
 * @skb: the request
 * @info: parsed
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_node_set_doit(struct sk_buff *skb, struct genl_info *info)
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

struct subgroup_change {
	struct spindle_subgroup *sg;
	struct spindle_mc_tune tune;
	u32 stall_ms;
	u32 log_stall_ms;
	u32 on_log_stall;
	bool set_history;
	bool fill;
	struct spindle_kept *kept;
};

/* As spindle_deny(), with a text that is no literal. */
static int deny(struct netlink_ext_ack *extack, const struct nlattr *attr, int err,
		const char *text)
{
	NL_SET_BAD_ATTR(extack, attr);
	extack->_msg = text;
	return err;
}

static int take(u32 *value, const struct nlattr *attr, u32 low, u32 high,
		struct netlink_ext_ack *extack, const char *text)
{
	u32 v;

	if (!attr)
		return 0;
	v = nla_get_u32(attr);
	if (v < low || v > high)
		return deny(extack, attr, -EINVAL, text);
	*value = v;
	return 0;
}

/*
 * Set the size above which messages go by RDMC. The sender alone decides this for each message
 * (send_one() in core/multicast/send.c), so members may have different values.
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

static int take_log(struct subgroup_change *change, struct nlattr **tb,
		    struct netlink_ext_ack *extack)
{
	const struct nlattr *on_stall = tb[SPINDLE_TUNE_A_ON_LOG_STALL];
	const struct nlattr *any = tb[SPINDLE_TUNE_A_LOG_STALL_MS] ? : on_stall;

	if (any && !change->sg->mc.durable)
		return spindle_deny(extack, any, -EOPNOTSUPP,
				    "log-stall-ms and on-log-stall are for subgroups with logs");
	if (on_stall)
		change->on_log_stall = nla_get_u8(on_stall);
	return take(&change->log_stall_ms, tb[SPINDLE_TUNE_A_LOG_STALL_MS], 0,
		    SPINDLE_MAX_STALL_MS, extack, "log-stall-ms is 0 to 3600000");
}

/* Is the history of this size that was made before the lock was taken needed, and may it be? */
static int take_history(struct subgroup_change *change, const struct nlattr *attr,
			struct netlink_ext_ack *extack)
{
	u32 bytes = attr ? nla_get_u32(attr) : 0;
	const char *text;
	int err;

	if (!attr || bytes == spindle_kept_bytes(change->sg->kept))
		return 0;
	text = spindle_kept_check(change->sg, bytes, &err);
	if (text)
		return deny(extack, attr, err, text);
	if (bytes && !change->kept)
		return spindle_deny(extack, attr, -ENOMEM, "there is no memory for the history");
	change->set_history = true;
	return 0;
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
	if (!err)
		err = take_log(change, tb, extack);
	if (err)
		return err;
	if (((t->switches ^ old) & SPINDLE_SW_PACKED) && change->sg->sender)
		return spindle_deny(extack, tb[SPINDLE_TUNE_A_SWITCHES], -EBUSY,
				    "packed cannot change while a sender is attached");
	if (tb[SPINDLE_TUNE_A_HISTORY_FILL])
		change->fill = nla_get_u8(tb[SPINDLE_TUNE_A_HISTORY_FILL]);
	return take_history(change, tb[SPINDLE_TUNE_A_HISTORY], extack);
}

static void subgroup_set_fn(void *ctx)
{
	struct subgroup_change *change = ctx;
	struct spindle_subgroup *sg = change->sg;

	if (change->set_history) {
		spindle_mc_remember(&sg->mc, change->kept ? &change->kept->history : NULL);
		swap(sg->kept, change->kept);
	}
	spindle_mc_retune(&sg->mc, &change->tune);
	WRITE_ONCE(sg->stall_ms, change->stall_ms);
	spindle_logging_set(&sg->logging, change->log_stall_ms, change->on_log_stall);
	sg->fill = change->fill;
	spindle_subgroup_touch(sg);
}

/**
 * spindle_netlink_subgroup_set_doit() - SPINDLE_CMD_SUBGROUP_SET
 * @skb: the request
 * @info: parsed
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_subgroup_set_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct nlattr *tb[SPINDLE_TUNE_A_MAX + 1];
	struct subgroup_change change = {};
	int err;

	if (GENL_REQ_ATTR_CHECK(info, SPINDLE_A_TUNE))
		return spindle_deny(info->extack, NULL, -EINVAL, "there is nothing to tune");
	err = nla_parse_nested(tb, SPINDLE_TUNE_A_MAX, info->attrs[SPINDLE_A_TUNE], NULL,
			       info->extack);
	if (err)
		return err;
	/* This may take a while, and view changes wait for the lock. */
	if (tb[SPINDLE_TUNE_A_HISTORY])
		change.kept = spindle_kept_alloc(nla_get_u32(tb[SPINDLE_TUNE_A_HISTORY]));
	spindle_netlink_lock(info);
	change.sg = spindle_netlink_find_subgroup(info);
	err = PTR_ERR_OR_ZERO(change.sg);
	if (!err && spindle_view_is_table(change.sg->cfg))
		err = spindle_deny(info->extack, info->attrs[SPINDLE_A_TUNE], -EOPNOTSUPP,
				   "a table has no such parameter");
	if (!err) {
		/* Only this function changes these, under the lock. */
		change.tune = change.sg->mc.tune;
		change.stall_ms = change.sg->stall_ms;
		change.log_stall_ms = change.sg->logging.stall_ms;
		change.on_log_stall = change.sg->logging.on_stall;
		change.fill = change.sg->fill;
		err = parse_change(&change, tb, info->extack);
	}
	if (!err)
		spindle_engine_call(change.sg->inst->node->engine, subgroup_set_fn, &change);
	spindle_netlink_unlock(info);
	/* The former history, or one that was not needed. */
	spindle_kept_free(change.kept);
	return err;
}
