// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: how the shards of a first view begin again. See internal.h.
 *
 * A node has the log of its shard, so a restart says which shard each member begins in. The digest
 * of the first view covers the members and positions of all subgroups.
 */
#include "base/extack.h"
#include "core/membership/rules.h"
#include "internal.h"

/* The shards that are being parsed. Subgroups of the request and rules have the same order. */
struct parse {
	struct spindle_view *view;
	const struct spindle_rules *rules;
	u32 rule;
	/* The first subgroup of the rule, by its index in the view. */
	u32 at;
};

static int parse_node(const struct spindle_view *view, struct spindle_view_subgroup *sg,
		      const struct nlattr *attr, u64 *seen, struct netlink_ext_ack *extack)
{
	int rank = spindle_view_rank(view, nla_get_u32(attr));

	if (rank < 0)
		return spindle_deny(extack, attr, -EINVAL,
				    "the nodes of a shard are members of the view");
	if (*seen & BIT_ULL(rank))
		return spindle_deny(extack, attr, -EINVAL,
				    "a node is in one shard, and there once");
	*seen |= BIT_ULL(rank);
	sg->members |= BIT_ULL(rank);
	return 0;
}

/* @seen: members that are in a shard of the subgroup by now */
static int parse_shard(const struct spindle_view *view, struct spindle_view_subgroup *sg,
		       const struct nlattr *nest, u64 *seen, struct netlink_ext_ack *extack)
{
	const struct nlattr *lsn = nla_find_nested(nest, SPINDLE_SHARD_A_LSN), *attr;
	int rem, err;

	sg->members = 0;
	sg->former = lsn ? nla_get_u64(lsn) : 0;
	if (sg->former > SPINDLE_MAX_LSN)
		return spindle_deny(extack, lsn, -EINVAL,
				    "the position that a subgroup begins at is 2^62 at most");
	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) != SPINDLE_SHARD_A_ID)
			continue;
		err = parse_node(view, sg, attr, seen, extack);
		if (err)
			return err;
	}
	return 0;
}

/* Count the shards of a subgroup. What they have may not be given once more for all of them. */
static int count_shards(const struct spindle_rule *rule, const struct nlattr *nest, u32 *count,
			struct netlink_ext_ack *extack)
{
	const struct nlattr *attr, *shared = NULL, *last = NULL;
	int rem;

	*count = 0;
	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) == SPINDLE_SUBGROUP_A_SHARD) {
			last = attr;
			++*count;
		} else if (nla_type(attr) == SPINDLE_SUBGROUP_A_LSN ||
			   nla_type(attr) == SPINDLE_SUBGROUP_A_RANGE) {
			shared = attr;
		}
	}
	if (last && *count != rule->shards)
		return spindle_deny(extack, last, -EINVAL,
				    "a subgroup has one SHARD for each of its shards, or none");
	if (last && shared)
		return spindle_deny(extack, shared, -EINVAL,
				    "a subgroup with SHARD has its positions and ranges there");
	return 0;
}

static int parse_subgroup(void *ctx, const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	struct parse *p = ctx;
	const struct spindle_rule *rule = &p->rules->rule[p->rule++];
	struct spindle_view_subgroup *sg = &p->view->subgroup[p->at];
	const struct nlattr *attr;
	u64 seen = 0;
	u32 count;
	int rem, err = count_shards(rule, nest, &count, extack);

	p->at += rule->shards;
	if (err || !count)
		return err;
	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) != SPINDLE_SUBGROUP_A_SHARD)
			continue;
		err = parse_shard(p->view, sg++, attr, &seen, extack);
		if (err)
			return err;
	}
	spindle_rules_senders(p->rules, p->view);
	if (spindle_rules_fit(p->rules, p->view))
		return 0;
	return spindle_deny(extack, nest, -EINVAL,
			    "each member that may be in a subgroup is in one of its shards, and no other is");
}

/**
 * spindle_netlink_shards() - parse how the shards of a first view begin again
 * @view: in: by spindle_rules_apply(); out: with other members and positions of these shards
 * @rules: its rules, checked
 * @info: the request that they are from
 *
 * Return: 0, or -EINVAL with a text
 */
int spindle_netlink_shards(struct spindle_view *view, const struct spindle_rules *rules,
			   struct genl_info *info)
{
	struct parse p = { .view = view, .rules = rules };

	return spindle_netlink_each(&p, info, SPINDLE_A_SUBGROUP, parse_subgroup);
}
