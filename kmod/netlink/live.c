// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: requests about live views. See internal.h.
 *
 * Nested attributes have been validated against their policies.
 */
#include <linux/slab.h>

#include "base/engine.h"
#include "base/extack.h"
#include "core/membership/rules.h"
#include "generated.h"
#include "internal.h"
#include "live/join.h"
#include "live/live.h"
#include "node/node.h"

/* ---- contacts and lineage -------------------------------------------------- */

/* The contacts in a request. */
struct contacts {
	struct spindle_join_config cfg;
	struct spindle_addr addr[SPINDLE_MAX_CONTACTS];
};

static int parse_contact(void *ctx, const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	struct nlattr *a[SPINDLE_CONTACT_A_MAX + 1];
	struct contacts *contacts = ctx;
	int err;

	if (contacts->cfg.contacts == SPINDLE_MAX_CONTACTS) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "there are at most 64 contacts");
		return -EINVAL;
	}
	err = nla_parse_nested(a, SPINDLE_CONTACT_A_MAX, nest, NULL, extack);
	if (err)
		return err;
	err = spindle_netlink_addr(&contacts->addr[contacts->cfg.contacts++],
				   a[SPINDLE_CONTACT_A_ADDR4], a[SPINDLE_CONTACT_A_ADDR6],
				   a[SPINDLE_CONTACT_A_PORT], extack);
	if (err && !extack->bad_attr)
		extack->bad_attr = nest;
	return err;
}

/* Returns memory for kvfree(), or an ERR_PTR. */
static struct contacts *parse_contacts(struct genl_info *info)
{
	struct contacts *contacts = kvzalloc(sizeof(*contacts), GFP_KERNEL_ACCOUNT);
	const struct nlattr *lineage = info->attrs[SPINDLE_A_LINEAGE];
	const struct nlattr *era = info->attrs[SPINDLE_A_ERA];
	int err;

	if (!contacts)
		return ERR_PTR(-ENOMEM);
	contacts->cfg.contact = contacts->addr;
	contacts->cfg.insecure = info->attrs[SPINDLE_A_INSECURE];
	err = spindle_netlink_each(contacts, info, SPINDLE_A_CONTACT, parse_contact);
	if (!err && lineage) {
		nla_memcpy(contacts->cfg.lineage.word, lineage,
			   sizeof(contacts->cfg.lineage.word));
		if (!spindle_lineage_given(&contacts->cfg.lineage)) {
			NL_SET_ERR_MSG_ATTR(info->extack, lineage, "a lineage is not zero");
			err = -EINVAL;
		}
	}
	if (!err && era && !lineage) {
		NL_SET_ERR_MSG_ATTR(info->extack, era, "an era needs its lineage");
		err = -EINVAL;
	}
	if (era)
		contacts->cfg.lineage.era = nla_get_u64(era);
	if (!err)
		return contacts;
	kvfree(contacts);
	return ERR_PTR(err);
}

/* Report INSECURE as the missing attribute if the node has no key. */
static void blame_key(struct genl_info *info, int err)
{
	if (err == -ENOKEY)
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, SPINDLE_A_INSECURE);
}

/* ---- a first view --------------------------------------------------------- */

static int parse_witnesses(struct spindle_rules *rules, struct genl_info *info)
{
	const struct nlattr *attr;
	u32 n = 0;
	int rem;

	nla_for_each_nested(attr, info->attrs[SPINDLE_A_LIVE], rem) {
		if (nla_type(attr) != SPINDLE_LIVE_A_WITNESS)
			continue;
		if (n == SPINDLE_MAX_WITNESSES) {
			NL_SET_ERR_MSG_ATTR(info->extack, attr, "a view has at most 4 witnesses");
			return -EINVAL;
		}
		rules->witness[n++] = nla_get_u32(attr);
	}
	return 0;
}

static int parse_live(struct spindle_rules *rules, struct genl_info *info)
{
	struct nlattr *a[SPINDLE_LIVE_A_MAX + 1];
	int err;

	err = nla_parse_nested(a, SPINDLE_LIVE_A_MAX, info->attrs[SPINDLE_A_LIVE], NULL,
			       info->extack);
	if (err)
		return err;
	rules->timeout_ms = a[SPINDLE_LIVE_A_TIMEOUT_MS] ?
			    nla_get_u32(a[SPINDLE_LIVE_A_TIMEOUT_MS]) : SPINDLE_DEF_TIMEOUT_MS;
	rules->max_nodes = a[SPINDLE_LIVE_A_MAX_NODES] ?
			   nla_get_u32(a[SPINDLE_LIVE_A_MAX_NODES]) : SPINDLE_DEF_MAX_NODES;
	rules->quorum = a[SPINDLE_LIVE_A_QUORUM] ? nla_get_u8(a[SPINDLE_LIVE_A_QUORUM]) : 1;
	if (rules->timeout_ms >= SPINDLE_MIN_TIMEOUT_MS &&
	    rules->timeout_ms <= SPINDLE_MAX_TIMEOUT_MS)
		return parse_witnesses(rules, info);
	NL_SET_ERR_MSG_ATTR(info->extack, a[SPINDLE_LIVE_A_TIMEOUT_MS],
			    "timeout-ms is 20 to 60000");
	return -EINVAL;
}

/* Parse a node that the rule names, whether it is a member of the first view or not. */
static int parse_node(struct spindle_rule *rule, const struct nlattr *nest,
		      struct netlink_ext_ack *extack)
{
	struct nlattr *a[SPINDLE_SUBGROUP_NODE_A_MAX + 1];
	int sends = spindle_netlink_subgroup_node(&rule->cfg, nest, a, extack);

	if (sends < 0)
		return sends;
	if (rule->num_nodes == SPINDLE_MAX_MEMBERS) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "a rule names at most 64 nodes");
		return -EINVAL;
	}
	if (sends)
		rule->senders |= BIT_ULL(rule->num_nodes);
	rule->node[rule->num_nodes++] = nla_get_u32(a[SPINDLE_SUBGROUP_NODE_A_ID]);
	return 0;
}

/* The rule of a table is about its members alone. */
static int check_table(struct nlattr **r, struct netlink_ext_ack *extack)
{
	if (r[SPINDLE_RULE_A_SENDERS])
		return spindle_deny(extack, r[SPINDLE_RULE_A_SENDERS], -EINVAL,
				    "a table has no senders: each member writes its row");
	if (r[SPINDLE_RULE_A_ON_EXIT])
		return spindle_deny(extack, r[SPINDLE_RULE_A_ON_EXIT], -EINVAL,
				    "a table has no readers, and so no on-exit");
	return 0;
}

/**
 * spindle_netlink_rule() - parse a subgroup of a live view
 * @ctx: rules; out: with one rule more
 * @nest: its nest
 * @extack: for the reason of an error
 *
 * Return: 0 or -EINVAL
 */
int spindle_netlink_rule(void *ctx, const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	struct nlattr *a[SPINDLE_SUBGROUP_A_MAX + 1], *r[SPINDLE_RULE_A_MAX + 1] = {};
	struct spindle_rules *rules = ctx;
	struct spindle_rule *rule;
	const struct nlattr *attr;
	int err, rem;
	bool table;

	if (rules->num_rules == SPINDLE_MAX_SUBGROUPS) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "a view has at most 64 subgroups");
		return -EINVAL;
	}
	rule = &rules->rule[rules->num_rules++];
	err = spindle_netlink_subgroup(&rule->cfg, nest, a, extack);
	if (!err && a[SPINDLE_SUBGROUP_A_RULE])
		err = nla_parse_nested(r, SPINDLE_RULE_A_MAX, a[SPINDLE_SUBGROUP_A_RULE], NULL,
				       extack);
	table = spindle_view_is_table(&rule->cfg);
	if (!err && table)
		err = check_table(r, extack);
	if (err)
		return err;
	rule->shards = r[SPINDLE_RULE_A_SHARDS] ? nla_get_u32(r[SPINDLE_RULE_A_SHARDS]) : 1;
	if (rule->shards > 1 && rule->cfg.former) {
		NL_SET_ERR_MSG_ATTR(extack, a[SPINDLE_SUBGROUP_A_LSN],
				    "several shards have no position in common");
		return -EINVAL;
	}
	rule->min = r[SPINDLE_RULE_A_MIN] ? nla_get_u32(r[SPINDLE_RULE_A_MIN]) : 1;
	rule->on_exit = r[SPINDLE_RULE_A_ON_EXIT] ? nla_get_u8(r[SPINDLE_RULE_A_ON_EXIT]) : 0;
	rule->all_send = r[SPINDLE_RULE_A_SENDERS] ? nla_get_u8(r[SPINDLE_RULE_A_SENDERS]) : !table;
	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) != SPINDLE_SUBGROUP_A_NODE)
			continue;
		err = parse_node(rule, attr, extack);
		if (err)
			return err;
	}
	/* If some named node does not send, only the named senders send. */
	if (rule->num_nodes && hweight64(rule->senders) < rule->num_nodes)
		rule->all_send = 0;
	return 0;
}

/* Rules for the spares, behind those of all subgroups. */
static int parse_spares(struct spindle_rules *rules, struct genl_info *info)
{
	struct spindle_rule spare = {
		.shards = 1,
		.flags = SPINDLE_RULE_SPARE | SPINDLE_RULE_CLOSED,
		.room_window = SPINDLE_DEF_WINDOW,
	};
	struct nlattr *a[SPINDLE_LIVE_A_MAX + 1];
	u32 count = 0;
	int err;

	err = nla_parse_nested(a, SPINDLE_LIVE_A_MAX, info->attrs[SPINDLE_A_LIVE], NULL,
			       info->extack);
	if (err)
		return err;
	if (a[SPINDLE_LIVE_A_SPARES])
		count = nla_get_u32(a[SPINDLE_LIVE_A_SPARES]);
	if (a[SPINDLE_LIVE_A_SPARE_WINDOW])
		spare.room_window = nla_get_u32(a[SPINDLE_LIVE_A_SPARE_WINDOW]);
	if (!spare.room_window || spare.room_window > SPINDLE_MAX_WINDOW)
		return spindle_deny(info->extack, a[SPINDLE_LIVE_A_SPARE_WINDOW], -EINVAL,
				    "a spare's window is 1 to 65536");
	spare.room_window = roundup_pow_of_two(spare.room_window);
	spare.room_ring = a[SPINDLE_LIVE_A_SPARE_RING] ?
			  nla_get_u32(a[SPINDLE_LIVE_A_SPARE_RING]) : SPINDLE_DEF_SPARE_RING;
	for (; count; count--) {
		if (rules->num_rules == SPINDLE_MAX_SUBGROUPS)
			return spindle_deny(info->extack, a[SPINDLE_LIVE_A_SPARES], -EINVAL,
					    "a view has at most 64 subgroups, spares included");
		rules->rule[rules->num_rules++] = spare;
	}
	return 0;
}

static int parse(struct spindle_view *view, struct spindle_rules *rules, struct genl_info *info)
{
	int err = parse_live(rules, info), fault;
	const char *text;
	u32 i;

	if (!err)
		err = spindle_netlink_members(view, info);
	if (!err)
		err = spindle_netlink_each(rules, info, SPINDLE_A_SUBGROUP, spindle_netlink_rule);
	if (!err)
		err = parse_spares(rules, info);
	if (err)
		return err;
	text = spindle_rules_check(rules, &fault);
	if (!text && view->num_members > rules->max_nodes)
		text = "the view has more members than max-nodes";
	if (text) {
		info->extack->_msg = text;
		return -EINVAL;
	}
	spindle_rules_apply(rules, NULL, view);
	/* Positions belong to the view. The rules hold for later views, too. */
	for (i = 0; i < rules->num_rules; i++)
		rules->rule[i].cfg.former = 0;
	err = spindle_netlink_shards(view, rules, info);
	if (!err)
		err = spindle_netlink_check(view, true, info);
	/* A first view of one node may lack members: its subgroups wait until it has grown. */
	if (!err && view->num_members > 1 && spindle_rules_lacking(rules, view) >= 0) {
		NL_SET_ERR_MSG(info->extack,
			       "a subgroup has fewer members than its min, or no sender");
		err = -EINVAL;
	}
	return err;
}

/**
 * spindle_netlink_live_set() - SPINDLE_CMD_VIEW_SET with SPINDLE_A_LIVE
 * @info: the request
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_live_set(struct genl_info *info)
{
	struct spindle_rules *rules = kvzalloc(sizeof(*rules), GFP_KERNEL_ACCOUNT);
	struct spindle_view *view = kvzalloc(sizeof(*view), GFP_KERNEL_ACCOUNT);
	u8 check = spindle_netlink_check_only(info);
	struct contacts *contacts = parse_contacts(info);
	struct spindle_ranges *ranges = NULL;
	struct spindle_node *node;
	int err = -ENOMEM;

	if (IS_ERR(contacts))
		err = PTR_ERR(contacts);
	else if (view && rules)
		err = parse(view, rules, info);
	if (err)
		goto out;
	ranges = spindle_netlink_ranges(view, rules, contacts->cfg.lineage.era, info);
	err = PTR_ERR_OR_ZERO(ranges);
	if (err)
		goto out;
	contacts->cfg.ranges = ranges;
	spindle_netlink_lock(info);
	err = spindle_netlink_set_node(info, &node);
	if (node)
		err = spindle_node_set_live(node, view, rules, &contacts->cfg, check,
					    info->extack);
	blame_key(info, err);
	spindle_netlink_unlock(info);
	if (!err && !rules->quorum && !check)
		pr_warn_ratelimited("node %u: the view has no quorum: its parts may go on alone\n",
				    nla_get_u32(info->attrs[SPINDLE_A_NODE_ID]));
out:
	if (!IS_ERR(ranges))
		kvfree(ranges);
	if (!IS_ERR(contacts))
		kvfree(contacts);
	kvfree(view);
	kvfree(rules);
	return err;
}

/* ---- coming and going ------------------------------------------------------ */

/**
 * spindle_netlink_node_join_doit() - SPINDLE_CMD_NODE_JOIN
 * @skb: the request
 * @info: parsed
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_node_join_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct contacts *contacts = parse_contacts(info);
	struct nlattr **attrs = info->attrs;
	struct spindle_node *node;
	int err = 0;

	if (IS_ERR(contacts))
		return PTR_ERR(contacts);
	if (contacts->cfg.contacts &&
	    (attrs[SPINDLE_A_ADDR4] || attrs[SPINDLE_A_ADDR6] || attrs[SPINDLE_A_PORT])) {
		NL_SET_ERR_MSG_ATTR(info->extack, attrs[SPINDLE_A_CONTACT],
				    "give one contact by its address, or a list");
		err = -EINVAL;
	}
	/* A single contact may be given without a nest. */
	if (!contacts->cfg.contacts) {
		err = spindle_netlink_addr(contacts->addr, attrs[SPINDLE_A_ADDR4],
					   attrs[SPINDLE_A_ADDR6], attrs[SPINDLE_A_PORT],
					   info->extack);
		contacts->cfg.contacts = 1;
	}
	if (err)
		goto out;
	spindle_netlink_lock(info);
	node = spindle_netlink_node(info);
	err = PTR_ERR_OR_ZERO(node);
	if (!err) {
		err = spindle_node_join(node, &contacts->cfg, info->extack);
		if (err == -EINVAL)
			info->extack->bad_attr = attrs[SPINDLE_A_CONTACT] ? :
						 attrs[SPINDLE_A_ADDR4] ? :
						 attrs[SPINDLE_A_ADDR6];
		blame_key(info, err);
	}
	spindle_netlink_unlock(info);
out:
	kvfree(contacts);
	return err;
}

/**
 * spindle_netlink_node_leave_doit() - SPINDLE_CMD_NODE_LEAVE
 * @skb: the request
 * @info: parsed
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_node_leave_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spindle_node *node;
	int err;

	spindle_netlink_lock(info);
	node = spindle_netlink_node(info);
	err = PTR_ERR_OR_ZERO(node);
	if (!err)
		err = spindle_node_leave(node, info->extack);
	spindle_netlink_unlock(info);
	return err;
}

/**
 * spindle_netlink_node_evict_doit() - SPINDLE_CMD_NODE_EVICT
 * @skb: the request
 * @info: parsed
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_node_evict_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spindle_node *node;
	int err;

	if (GENL_REQ_ATTR_CHECK(info, SPINDLE_A_PEER_ID)) {
		NL_SET_ERR_MSG(info->extack, "the id of the member is missing");
		return -EINVAL;
	}
	spindle_netlink_lock(info);
	node = spindle_netlink_node(info);
	err = PTR_ERR_OR_ZERO(node);
	if (!err) {
		err = spindle_node_evict(node, nla_get_u32(info->attrs[SPINDLE_A_PEER_ID]),
					 info->extack);
		if (err)
			info->extack->bad_attr = info->attrs[SPINDLE_A_PEER_ID];
	}
	spindle_netlink_unlock(info);
	return err;
}
