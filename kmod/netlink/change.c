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

/**
 * struct changes - the subgroups that a request adds or replaces
 */
struct changes {
	/** @rules: first those that replace others, then those that are added; nothing else */
	struct spindle_rules rules;
	/** @replaced: how many replace others */
	u32 replaced;
	/** @attr: their attributes */
	const struct nlattr *attr[SPINDLE_MAX_SUBGROUPS];
};

/**
 * struct step - what the changes of a request are made to
 */
struct step {
	/** @live: the live view */
	const struct spindle_live *live;
	/** @next: its rules after the changes that have been made */
	struct spindle_rules *next;
	/** @frees: a change frees a spare */
	bool frees;
};

/* ---- parsing ---------------------------------------------------------------- */

static int parse_one(void *ctx, const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	struct changes *changes = ctx;
	u32 n = changes->rules.num_rules;
	int err = spindle_netlink_rule(&changes->rules, nest, extack);

	if (err)
		return err;
	if (changes->rules.rule[n].cfg.former)
		return spindle_deny(extack, nest, -EINVAL,
				    "a subgroup that is added begins at position 0");
	if (nla_find_nested(nest, SPINDLE_SUBGROUP_A_RANGE) ||
	    nla_find_nested(nest, SPINDLE_SUBGROUP_A_SHARD))
		return spindle_deny(extack, nest, -EINVAL,
				    "a subgroup that is added follows no earlier view");
	changes->attr[n] = nest;
	return 0;
}

static int parse(struct changes *changes, struct genl_info *info)
{
	int err;

	if (!info->attrs[SPINDLE_A_REMOVE] && !info->attrs[SPINDLE_A_REPLACE] &&
	    GENL_REQ_ATTR_CHECK(info, SPINDLE_A_SUBGROUP)) {
		NL_SET_ERR_MSG(info->extack, "no subgroup is given to add, replace or remove");
		return -EINVAL;
	}
	err = spindle_netlink_each(changes, info, SPINDLE_A_REPLACE, parse_one);
	changes->replaced = changes->rules.num_rules;
	return err ? : spindle_netlink_each(changes, info, SPINDLE_A_SUBGROUP, parse_one);
}

/* ---- making the changes ------------------------------------------------------ */

/* There is no subgroup of this id that could still change. Returns -errno. */
static int deny_id(const struct spindle_live *live, u32 id, const struct nlattr *attr,
		   struct netlink_ext_ack *extack)
{
	if (spindle_view_subgroup(&live->inst->view, id))
		return spindle_deny(extack, attr, -EINVAL,
				    "a request changes each subgroup once");
	return spindle_deny(extack, attr, -ENOENT, "the view has no such subgroup");
}

static int deny_space(const struct step *step, const struct spindle_rule *rule,
		      const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	if (rule->shards > 1)
		return spindle_deny(extack, attr, -ENOSPC,
				    "the view has no free spare for each shard, side by side and large enough");
	if (step->frees)
		return spindle_deny(extack, attr, -ENOSPC,
				    "the view has no free spare that is large enough; the next request may take one that this request frees");
	return spindle_deny(extack, attr, -ENOSPC,
			    "the view has no free spare that is large enough");
}

static int remove_one(void *ctx, const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	struct step *step = ctx;
	u32 id = nla_get_u32(attr);
	int err = spindle_rules_close(&step->live->rules, step->next, id);

	step->frees = true;
	if (err == -EOPNOTSUPP)
		return spindle_deny(extack, attr, err, SPINDLE_NO_FEWER_LOGS);
	return err ? deny_id(step->live, id, attr, extack) : 0;
}

/* The rule of a subgroup that the view has, or NULL. */
static const struct spindle_rule *rule_of(const struct spindle_live *live, u32 id)
{
	const struct spindle_view *view = &live->inst->view;
	const struct spindle_view_subgroup *sg = spindle_view_subgroup(view, id);

	return sg ? spindle_rules_of(&live->rules, sg - view->subgroup) : NULL;
}

/* Has a subgroup of the view, but not of the rule @old, the id of one of the shards? */
static bool taken(const struct spindle_live *live, const struct spindle_rule *rule,
		  const struct spindle_rule *old)
{
	const struct spindle_view *view = &live->inst->view;
	u32 i;

	for (i = 0; i < view->num_subgroups; i++) {
		const struct spindle_view_subgroup *sg = &view->subgroup[i];

		if (!spindle_view_closed(sg) && sg->id >= rule->cfg.id &&
		    sg->id - rule->cfg.id < rule->shards &&
		    spindle_rules_of(&live->rules, i) != old)
			return true;
	}
	return false;
}

static int replace_one(struct step *step, const struct spindle_rule *rule,
		       const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	const struct spindle_rule *old = rule_of(step->live, rule->cfg.id);
	int err;

	if (old && taken(step->live, rule, old))
		return spindle_deny(extack, attr, -EEXIST,
				    "the view has another subgroup with the id of a shard");
	err = spindle_rules_replace(&step->live->rules, step->next, rule);
	if (err == -ENOENT)
		return deny_id(step->live, rule->cfg.id, attr, extack);
	if (err == -EOPNOTSUPP)
		return spindle_deny(extack, attr, err,
				    "a subgroup with logs is not replaced, and replaces none");
	if (err)
		return deny_space(step, rule, attr, extack);
	step->frees = true;
	return 0;
}

/* The position of a subgroup would go on if one of its id were removed by the same change. */
static int add_one(struct step *step, const struct spindle_rule *rule, const struct nlattr *attr,
		   struct netlink_ext_ack *extack)
{
	int err;

	if (taken(step->live, rule, NULL))
		return spindle_deny(extack, attr, -EEXIST, "the view has a subgroup of this id");
	err = spindle_rules_open(&step->live->rules, step->next, rule);
	if (err == -EOPNOTSUPP)
		return spindle_deny(extack, attr, err, SPINDLE_NO_MORE_LOGS);
	return err ? deny_space(step, rule, attr, extack) : 0;
}

/* Make the changes in a copy of the rules. */
static int make(struct step *step, const struct changes *changes, struct genl_info *info)
{
	int err = spindle_netlink_each(step, info, SPINDLE_A_REMOVE, remove_one);
	u32 i;

	for (i = 0; !err && i < changes->rules.num_rules; i++) {
		const struct spindle_rule *rule = &changes->rules.rule[i];

		if (i < changes->replaced)
			err = replace_one(step, rule, changes->attr[i], info->extack);
		else
			err = add_one(step, rule, changes->attr[i], info->extack);
	}
	return err;
}

/* The last attribute that a refusal of the rules with this fault is about, or NULL. */
static const struct nlattr *blamed(const struct changes *changes, const struct spindle_rule *fault)
{
	u32 i;

	for (i = changes->rules.num_rules; i--;) {
		const struct spindle_view_subgroup *sg = &changes->rules.rule[i].cfg;

		if (sg->id == fault->cfg.id || spindle_view_same_name(sg, &fault->cfg))
			return changes->attr[i];
	}
	return NULL;
}

/* The members get all changes as one wish, or none. */
static int change(struct spindle_live *live, const struct changes *changes, struct genl_info *info)
{
	struct step step = { .live = live, .next = copy_rules(live) };
	const struct spindle_rule *fault;
	int err;

	if (IS_ERR(step.next))
		return PTR_ERR(step.next);
	err = make(&step, changes, info);
	if (!err) {
		err = spindle_offer_want(live, step.next, &fault, info->extack);
		if (fault)
			info->extack->bad_attr = blamed(changes, fault);
	}
	kvfree(step.next);
	return err;
}

/**
 * spindle_netlink_subgroup_change_doit() - SPINDLE_CMD_SUBGROUP_CHANGE
 * @skb: the request
 * @info: parsed
 *
 * Subgroups are removed, then replaced, then added, whatever the order in the request is.
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_subgroup_change_doit(struct sk_buff *skb, struct genl_info *info)
{
	struct changes *changes = kvzalloc(sizeof(*changes), GFP_KERNEL_ACCOUNT);
	struct spindle_live *live;
	int err;

	if (!changes)
		return -ENOMEM;
	err = parse(changes, info);
	if (!err) {
		spindle_netlink_lock(info);
		live = find_live(info);
		err = IS_ERR(live) ? PTR_ERR(live) : change(live, changes, info);
		spindle_netlink_unlock(info);
	}
	kvfree(changes);
	return err;
}
