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

/* Count the views of a nest, which are attributes of a type. */
static int count_range(u32 *total, const struct nlattr *nest, int type,
		       struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	u32 n = 0;
	int rem;

	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) == type && n++ == SPINDLE_MAX_RANGE)
			return spindle_deny(extack, attr, -EINVAL, "a range has at most 15 views");
	}
	*total += n;
	return 0;
}

/* Count the views before there is memory for them, so that a request cannot have any amount. */
static int count_views(void *ctx, const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	int rem, err = count_range(ctx, nest, SPINDLE_SUBGROUP_A_RANGE, extack);
	const struct nlattr *attr;

	nla_for_each_nested(attr, nest, rem) {
		if (!err && nla_type(attr) == SPINDLE_SUBGROUP_A_SHARD)
			err = count_range(ctx, attr, SPINDLE_SHARD_A_RANGE, extack);
	}
	return err;
}

/* May a subgroup follow earlier views? Without members nobody would know them. */
static int check_id(const struct parse *p, u32 subgroup, const struct nlattr *attr,
		    struct netlink_ext_ack *extack)
{
	const struct spindle_view_subgroup *sg = spindle_view_subgroup(p->view, subgroup);

	if (sg && sg->members)
		return 0;
	return spindle_deny(extack, attr, -EINVAL,
			    "a subgroup with a range has a member in the first view");
}

static int parse_view(struct parse *p, u32 subgroup, const struct nlattr *attr,
		      struct netlink_ext_ack *extack)
{
	int rem, err = check_id(p, subgroup, attr, extack);
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
	text = spindle_ranges_add(p->ranges, subgroup, node, n);
	if (!text)
		return 0;
	NL_SET_BAD_ATTR(extack, attr);
	extack->_msg = text;
	return -EINVAL;
}

/* The views of a nest, which are attributes of a type. */
static int parse_range(struct parse *p, u32 subgroup, const struct nlattr *nest, int type,
		       struct netlink_ext_ack *extack)
{
	const struct nlattr *attr;
	int rem, err;

	nla_for_each_nested(attr, nest, rem) {
		err = nla_type(attr) == type ? parse_view(p, subgroup, attr, extack) : 0;
		if (err)
			return err;
	}
	return 0;
}

static int parse_subgroup(void *ctx, const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	const struct nlattr *attr = nla_find_nested(nest, SPINDLE_SUBGROUP_A_RANGE);
	struct parse *p = ctx;
	const struct spindle_rule *rule = &p->rules->rule[p->rule++];
	u32 id = rule->cfg.id;
	int rem, err;

	if (attr && rule->shards > 1)
		return spindle_deny(extack, attr, -EINVAL,
				    "several shards have no range in common");
	err = parse_range(p, id, nest, SPINDLE_SUBGROUP_A_RANGE, extack);
	if (err)
		return err;
	/* As many as the rule has shards, see spindle_netlink_shards(). */
	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) == SPINDLE_SUBGROUP_A_SHARD)
			err = parse_range(p, id++, attr, SPINDLE_SHARD_A_RANGE, extack);
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
