// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: requests that change the subgroups of a live view. See internal.h.
 */
#include <linux/slab.h>

#include "base/extack.h"
#include "core/membership/rules.h"
#include "generated.h"
#include "internal.h"
#include "live/live.h"
#include "live/offer.h"
#include "node/installed.h"
#include "node/node.h"

static struct spindle_live *find_live(struct genl_info *info)
{
	struct spindle_node *node = spindle_netlink_node(info);
	struct spindle_live *live;

	if (IS_ERR(node))
		return ERR_CAST(node);
	live = spindle_node_live(node, info->extack);
	return live ? : ERR_PTR(-ENOENT);
}

/* The rules of a view, to be changed. Returns memory for kvfree(), or an ERR_PTR. */
static struct spindle_rules *copy_rules(const struct spindle_live *live)
{
	struct spindle_rules *rules = kvmalloc(sizeof(*rules), GFP_KERNEL_ACCOUNT);

	if (!rules)
		return ERR_PTR(-ENOMEM);
	*rules = live->rules;
	return rules;
}

static int refuse(struct genl_info *info, int type, const char *text)
{
	info->extack->_msg = text;
	info->extack->bad_attr = info->attrs[type];
	return -EINVAL;
}

/* Parse the subgroup of a request into rules that have nothing else. */
static int parse_added(struct spindle_rules *added, struct genl_info *info)
{
	int err;

	if (GENL_REQ_ATTR_CHECK(info, SPINDLE_A_SUBGROUP)) {
		NL_SET_ERR_MSG(info->extack, "the subgroup is missing");
		return -EINVAL;
	}
	err = spindle_netlink_each(added, info, SPINDLE_A_SUBGROUP, spindle_netlink_rule);
	if (err)
		return err;
	if (added->num_rules > 1)
		return refuse(info, SPINDLE_A_SUBGROUP, "one subgroup is added by one request");
	if (added->rule[0].cfg.former)
		return refuse(info, SPINDLE_A_SUBGROUP,
			      "a subgroup that is added begins at position 0");
	return 0;
}

static int add(struct spindle_live *live, const struct spindle_rule *rule, struct genl_info *info)
{
	struct spindle_rules *rules = copy_rules(live);
	int err;

	if (IS_ERR(rules))
		return PTR_ERR(rules);
	if (info->attrs[SPINDLE_A_REPLACE])
		err = spindle_rules_replace(&live->rules, rules, rule);
	else
		err = spindle_rules_open(&live->rules, rules, rule);
	if (err)
		err = refuse(info, SPINDLE_A_SUBGROUP, err == -ENOENT ?
			     "the view has no subgroup with this id" :
			     "the view has no free spare that is large enough");
	else
		err = spindle_offer_want(live, rules, info->extack);
	kvfree(rules);
	return err;
}

/**
 * spindle_netlink_subgroup_add_doit() - SPINDLE_CMD_SUBGROUP_ADD
 * @skb: the request
 * @info: parsed
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_subgroup_add_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spindle_rules *added = kvzalloc(sizeof(*added), GFP_KERNEL_ACCOUNT);
	struct spindle_live *live;
	int err;

	if (!added)
		return -ENOMEM;
	err = parse_added(added, info);
	if (!err) {
		spindle_netlink_lock(info);
		live = find_live(info);
		err = IS_ERR(live) ? PTR_ERR(live) : add(live, &added->rule[0], info);
		spindle_netlink_unlock(info);
	}
	kvfree(added);
	return err;
}

/* The id of the subgroup that a request names; of shards, that of one of them. */
static int find_id(const struct spindle_live *live, struct genl_info *info, u32 *id)
{
	const struct nlattr *name = info->attrs[SPINDLE_A_SUBGROUP_NAME];
	const struct nlattr *attr = info->attrs[SPINDLE_A_SUBGROUP_ID];
	const struct spindle_view *view = &live->inst->view;
	u32 i;

	if (!name && !attr) {
		NL_SET_ERR_MSG(info->extack, "the subgroup id is missing");
		NL_SET_ERR_ATTR_MISS(info->extack, NULL, SPINDLE_A_SUBGROUP_ID);
		return -EINVAL;
	}
	for (i = 0; i < view->num_subgroups; i++) {
		const struct spindle_view_subgroup *sg = &view->subgroup[i];

		if (spindle_view_closed(sg) || (attr && nla_get_u32(attr) != sg->id) ||
		    (name && nla_strcmp(name, sg->name)))
			continue;
		*id = sg->id;
		return 0;
	}
	return spindle_deny(info->extack, name ? : attr, -ENOENT, "the view has no such subgroup");
}

static int del(struct spindle_live *live, struct genl_info *info)
{
	struct spindle_rules *rules;
	u32 id;
	int err = find_id(live, info, &id);

	if (err)
		return err;
	rules = copy_rules(live);
	if (IS_ERR(rules))
		return PTR_ERR(rules);
	if (spindle_rules_close(&live->rules, rules, id))
		err = refuse(info, SPINDLE_A_SUBGROUP_ID, "the view has no subgroup with this id");
	else
		err = spindle_offer_want(live, rules, info->extack);
	kvfree(rules);
	return err;
}

/**
 * spindle_netlink_subgroup_del_doit() - SPINDLE_CMD_SUBGROUP_DEL
 * @skb: the request
 * @info: parsed
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_subgroup_del_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct spindle_live *live;
	int err;

	spindle_netlink_lock(info);
	live = find_live(info);
	err = IS_ERR(live) ? PTR_ERR(live) : del(live, info);
	spindle_netlink_unlock(info);
	return err;
}
