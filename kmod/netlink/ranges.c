// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: the views of earlier eras that a first view follows. See internal.h.
 */
#include <linux/overflow.h>
#include <linux/slab.h>

#include "base/extack.h"
#include "core/base/ranges.h"
#include "core/membership/rules.h"
#include "internal.h"

/* The range that is being parsed. Subgroups of the request and rules have the same order. */
struct parse {
	const struct spindle_view *view;
	const struct spindle_rules *rules;
	u32 rule;
	struct spindle_ranges *ranges;
};

/* Count the views before there is memory for them, so that a request cannot have any amount. */
static int count_views(void *ctx, const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	u32 *total = ctx, n = 0;
	int rem;

	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) == SPINDLE_SUBGROUP_A_RANGE && n++ == SPINDLE_MAX_RANGE)
			return spindle_deny(extack, attr, -EINVAL, "a range has at most 15 views");
	}
	*total += n;
	return 0;
}

/* May the subgroup of a rule follow earlier views? Without members nobody would know them. */
static int check_rule(const struct parse *p, const struct spindle_rule *rule,
		      const struct nlattr *attr, struct netlink_ext_ack *extack)
{
	const struct spindle_view_subgroup *sg = spindle_view_subgroup(p->view, rule->cfg.id);

	if (rule->shards > 1)
		return spindle_deny(extack, attr, -EINVAL,
				    "several shards have no range in common");
	if (sg && sg->members)
		return 0;
	return spindle_deny(extack, attr, -EINVAL,
			    "a subgroup with a range has a member in the first view");
}

static int parse_view(struct parse *p, const struct spindle_rule *rule, const struct nlattr *attr,
		      struct netlink_ext_ack *extack)
{
	int rem, err = check_rule(p, rule, attr, extack);
	u32 node[SPINDLE_MAX_MEMBERS + 1], n = 0;
	const struct nlattr *id;
	const char *text;

	if (err)
		return err;
	/* One node too many is enough to be refused. */
	nla_for_each_nested(id, attr, rem) {
		if (n < ARRAY_SIZE(node))
			node[n++] = nla_get_u32(id);
	}
	text = spindle_ranges_add(p->ranges, rule->cfg.id, node, n);
	if (!text)
		return 0;
	NL_SET_BAD_ATTR(extack, attr);
	extack->_msg = text;
	return -EINVAL;
}

static int parse_subgroup(void *ctx, const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	struct parse *p = ctx;
	const struct spindle_rule *rule = &p->rules->rule[p->rule++];
	const struct nlattr *attr;
	int rem, err = 0;

	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) == SPINDLE_SUBGROUP_A_RANGE)
			err = parse_view(p, rule, attr, extack);
		if (err)
			return err;
	}
	return 0;
}

/**
 * spindle_netlink_ranges() - parse what a first view follows
 * @view: the view, checked
 * @rules: its rules, checked
 * @era: of the view
 * @info: the request that they are from
 *
 * Return: memory for kvfree(); NULL if there is no range; ERR_PTR(-EINVAL) with a text, or
 *	ERR_PTR(-ENOMEM)
 */
struct spindle_ranges *spindle_netlink_ranges(const struct spindle_view *view,
					      const struct spindle_rules *rules, u64 era,
					      struct genl_info *info)
{
	struct parse p = { .view = view, .rules = rules };
	u32 views = 0;
	int err = spindle_netlink_each(&views, info, SPINDLE_A_SUBGROUP, count_views);

	if (err)
		return ERR_PTR(err);
	if (!views)
		return NULL;
	if (!era) {
		NL_SET_ERR_MSG(info->extack, "a range needs a lineage and an era above 0");
		return ERR_PTR(-EINVAL);
	}
	p.ranges = kvzalloc(struct_size(p.ranges, view, views), GFP_KERNEL_ACCOUNT);
	if (!p.ranges)
		return ERR_PTR(-ENOMEM);
	err = spindle_netlink_each(&p, info, SPINDLE_A_SUBGROUP, parse_subgroup);
	if (!err)
		return p.ranges;
	kvfree(p.ranges);
	return ERR_PTR(err);
}
