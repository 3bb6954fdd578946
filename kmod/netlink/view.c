// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: a view from the attributes of a request.
 *
 * Nested attributes have been validated against their policies, so their types and sizes are
 * right. This file and core/base/view.c check that none is missing, and that they are consistent.
 */
#include "base/extack.h"
#include "internal.h"

static int parse_member(void *ctx, const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	struct spindle_view *view = ctx;
	struct nlattr *a[SPINDLE_MEMBER_A_MAX + 1];
	struct spindle_view_member *m;
	int err;

	if (view->num_members == SPINDLE_MAX_MEMBERS)
		return spindle_deny(extack, nest, -EINVAL, "a view has at most 64 members");
	err = nla_parse_nested(a, SPINDLE_MEMBER_A_MAX, nest, NULL, extack);
	if (!err)
		err = spindle_netlink_need(nest, a[SPINDLE_MEMBER_A_ID],
					   "a member's id is missing", extack);
	if (err)
		return err;
	m = &view->member[view->num_members++];
	m->id = nla_get_u32(a[SPINDLE_MEMBER_A_ID]);
	err = spindle_netlink_addr(&m->addr, a[SPINDLE_MEMBER_A_ADDR4],
				   a[SPINDLE_MEMBER_A_ADDR6], a[SPINDLE_MEMBER_A_PORT],
				   extack);
	if (err && !extack->bad_attr)
		extack->bad_attr = nest;
	return err;
}

/**
 * spindle_netlink_subgroup_node() - parse a node that a subgroup names
 * @sg: the subgroup
 * @nest: the nest of the node
 * @a: out: its attributes, SPINDLE_SUBGROUP_NODE_A_MAX + 1; after success the id is there
 * @extack: for the reason of an error
 *
 * Return: 1 if it sends, 0 if not, or -EINVAL
 */
int spindle_netlink_subgroup_node(const struct spindle_view_subgroup *sg,
				  const struct nlattr *nest, struct nlattr **a,
				  struct netlink_ext_ack *extack)
{
	int err;

	err = nla_parse_nested(a, SPINDLE_SUBGROUP_NODE_A_MAX, nest, NULL, extack);
	if (!err)
		err = spindle_netlink_need(nest, a[SPINDLE_SUBGROUP_NODE_A_ID],
					   "the id of a subgroup's node is missing", extack);
	if (err)
		return err;
	if (spindle_view_is_table(sg) && a[SPINDLE_SUBGROUP_NODE_A_SENDER])
		return spindle_deny(extack, a[SPINDLE_SUBGROUP_NODE_A_SENDER], -EINVAL,
				    "a table has no senders: each member writes its row");
	if (spindle_view_is_table(sg))
		return 0;
	return !a[SPINDLE_SUBGROUP_NODE_A_SENDER] ||
	       nla_get_u8(a[SPINDLE_SUBGROUP_NODE_A_SENDER]);
}

static int parse_subgroup_node(struct spindle_view *view, struct spindle_view_subgroup *sg,
			       const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	struct nlattr *a[SPINDLE_SUBGROUP_NODE_A_MAX + 1];
	int sends, rank;

	sends = spindle_netlink_subgroup_node(sg, nest, a, extack);
	if (sends < 0)
		return sends;
	rank = spindle_view_rank(view, nla_get_u32(a[SPINDLE_SUBGROUP_NODE_A_ID]));
	if (rank < 0)
		return spindle_deny(extack, a[SPINDLE_SUBGROUP_NODE_A_ID], -EINVAL,
				    "a subgroup's nodes are members of the view");
	if (sg->members & BIT_ULL(rank))
		return spindle_deny(extack, a[SPINDLE_SUBGROUP_NODE_A_ID], -EINVAL,
				    "a node is twice in a subgroup");
	sg->members |= BIT_ULL(rank);
	if (sends)
		sg->senders |= BIT_ULL(rank);
	return 0;
}

static u32 get_u32(const struct nlattr *attr, u32 def)
{
	return attr ? nla_get_u32(attr) : def;
}

static int parse_sizes(struct spindle_view_subgroup *sg, struct nlattr **a,
		       struct netlink_ext_ack *extack)
{
	u32 window = get_u32(a[SPINDLE_SUBGROUP_A_WINDOW], SPINDLE_DEF_WINDOW);

	if (!window || window > SPINDLE_MAX_WINDOW)
		return spindle_deny(extack, a[SPINDLE_SUBGROUP_A_WINDOW], -EINVAL,
				    "subgroup window is 1 to 65536");
	sg->window = roundup_pow_of_two(window);
	sg->max_msg = get_u32(a[SPINDLE_SUBGROUP_A_MAX_MSG], SPINDLE_DEF_MAX_MSG);
	if (!sg->max_msg || sg->max_msg > SPINDLE_MAX_MSG)
		return spindle_deny(extack, a[SPINDLE_SUBGROUP_A_MAX_MSG], -EINVAL,
				    "subgroup max-msg is 1 to 268435456");
	sg->ring = get_u32(a[SPINDLE_SUBGROUP_A_RING],
			   spindle_view_default_ring(sg->window, sg->max_msg));
	if (sg->ring < SPINDLE_PAGE || sg->ring > SPINDLE_MAX_RING ||
	    !is_power_of_2(sg->ring))
		return spindle_deny(extack, a[SPINDLE_SUBGROUP_A_RING], -EINVAL,
				    "subgroup ring is a power of two from 4096 to 2^30");
	if (sg->max_msg > sg->ring) {
		NL_SET_ERR_MSG_ATTR(extack, a[SPINDLE_SUBGROUP_A_MAX_MSG] ? :
					    a[SPINDLE_SUBGROUP_A_RING],
				    "subgroup max-msg is at most the ring");
		return -EINVAL;
	}
	return 0;
}

/* Refuse what only subgroups with messages have. */
static int check_table(struct nlattr **a, struct netlink_ext_ack *extack)
{
	static const u8 refused[] = {
		SPINDLE_SUBGROUP_A_WINDOW, SPINDLE_SUBGROUP_A_MAX_MSG, SPINDLE_SUBGROUP_A_RING,
		SPINDLE_SUBGROUP_A_HOLD, SPINDLE_SUBGROUP_A_LSN, SPINDLE_SUBGROUP_A_LOG,
		SPINDLE_SUBGROUP_A_ACK, SPINDLE_SUBGROUP_A_DELIVER, SPINDLE_SUBGROUP_A_MIN_COPIES,
		SPINDLE_SUBGROUP_A_RANGE, SPINDLE_SUBGROUP_A_SHARD,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(refused); i++)
		if (a[refused[i]])
			return spindle_deny(extack, a[refused[i]], -EINVAL,
					    "a table has no window, max-msg, ring, hold, lsn or log");
	return 0;
}

static int parse_table(struct spindle_view_subgroup *sg, const struct nlattr *nest,
		       struct nlattr **a, struct netlink_ext_ack *extack)
{
	const char *text;
	bool of_cell;
	int err;

	err = check_table(a, extack);
	if (!err)
		err = spindle_netlink_need(nest, a[SPINDLE_SUBGROUP_A_CELLS],
					   "the number of a table's cells is missing", extack);
	if (err)
		return err;
	text = spindle_view_set_table(sg, nla_get_u32(a[SPINDLE_SUBGROUP_A_CELLS]),
				      get_u32(a[SPINDLE_SUBGROUP_A_CELL], SPINDLE_DEF_CELL),
				      &of_cell);
	if (a[SPINDLE_SUBGROUP_A_FIELDS])
		nla_strscpy(sg->fields, a[SPINDLE_SUBGROUP_A_FIELDS], sizeof(sg->fields));
	if (!text)
		return 0;
	extack->bad_attr = a[of_cell ? SPINDLE_SUBGROUP_A_CELL : SPINDLE_SUBGROUP_A_CELLS];
	extack->_msg = text;
	return -EINVAL;
}

static int parse_log(struct spindle_view_subgroup *sg, struct nlattr **a,
		     struct netlink_ext_ack *extack)
{
	const struct nlattr *setting = a[SPINDLE_SUBGROUP_A_ACK] ? :
				       a[SPINDLE_SUBGROUP_A_DELIVER] ? :
				       a[SPINDLE_SUBGROUP_A_MIN_COPIES] ? :
				       a[SPINDLE_SUBGROUP_A_RANGE] ? :
				       a[SPINDLE_SUBGROUP_A_SHARD];

	if (!a[SPINDLE_SUBGROUP_A_LOG] || !nla_get_u8(a[SPINDLE_SUBGROUP_A_LOG]))
		return setting ? spindle_deny(extack, setting, -EINVAL,
					      "only a subgroup with logs has this setting") : 0;
	if (sg->mode != SPINDLE_MODE_ORDERED)
		return spindle_deny(extack, a[SPINDLE_SUBGROUP_A_LOG], -EINVAL,
				    "only an ordered subgroup has a log");
	sg->log = SPINDLE_LOGGED;
	if (a[SPINDLE_SUBGROUP_A_ACK] && nla_get_u8(a[SPINDLE_SUBGROUP_A_ACK]))
		sg->log |= SPINDLE_LOGGED_MAJORITY;
	if (a[SPINDLE_SUBGROUP_A_DELIVER] && nla_get_u8(a[SPINDLE_SUBGROUP_A_DELIVER]))
		sg->log |= SPINDLE_LOGGED_GATE;
	if (a[SPINDLE_SUBGROUP_A_MIN_COPIES])
		sg->min_copies = nla_get_u32(a[SPINDLE_SUBGROUP_A_MIN_COPIES]);
	return 0;
}

static int parse_messages(struct spindle_view_subgroup *sg, struct nlattr **a,
			  struct netlink_ext_ack *extack)
{
	const struct nlattr *cells = a[SPINDLE_SUBGROUP_A_CELLS] ? : a[SPINDLE_SUBGROUP_A_CELL];

	if (cells)
		return spindle_deny(extack, cells, -EINVAL, "only a table has cells");
	if (a[SPINDLE_SUBGROUP_A_FIELDS])
		return spindle_deny(extack, a[SPINDLE_SUBGROUP_A_FIELDS], -EINVAL,
				    "only a table has fields");
	sg->hold = a[SPINDLE_SUBGROUP_A_HOLD] ? nla_get_u8(a[SPINDLE_SUBGROUP_A_HOLD]) : 1;
	if (a[SPINDLE_SUBGROUP_A_LSN])
		sg->former = nla_get_u64(a[SPINDLE_SUBGROUP_A_LSN]);
	if (sg->former && sg->mode != SPINDLE_MODE_ORDERED)
		return spindle_deny(extack, a[SPINDLE_SUBGROUP_A_LSN], -EINVAL,
				    "only an ordered subgroup begins at a position");
	if (sg->former > SPINDLE_MAX_LSN)
		return spindle_deny(extack, a[SPINDLE_SUBGROUP_A_LSN], -EINVAL,
				    "the position that a subgroup begins at is 2^62 at most");
	return parse_log(sg, a, extack) ? : parse_sizes(sg, a, extack);
}

/**
 * spindle_netlink_subgroup() - parse a subgroup, except for its members
 * @sg: out
 * @nest: its nest
 * @a: out: its attributes, SPINDLE_SUBGROUP_A_MAX + 1
 * @extack: for the reason of an error
 *
 * Return: 0 or -EINVAL
 */
int spindle_netlink_subgroup(struct spindle_view_subgroup *sg, const struct nlattr *nest,
			     struct nlattr **a, struct netlink_ext_ack *extack)
{
	int err;

	err = nla_parse_nested(a, SPINDLE_SUBGROUP_A_MAX, nest, NULL, extack);
	if (!err)
		err = spindle_netlink_need(nest, a[SPINDLE_SUBGROUP_A_ID],
					   "a subgroup's id is missing", extack);
	if (err)
		return err;
	sg->id = nla_get_u32(a[SPINDLE_SUBGROUP_A_ID]);
	if (a[SPINDLE_SUBGROUP_A_NAME])
		nla_strscpy(sg->name, a[SPINDLE_SUBGROUP_A_NAME], sizeof(sg->name));
	if (a[SPINDLE_SUBGROUP_A_MODE])
		sg->mode = nla_get_u8(a[SPINDLE_SUBGROUP_A_MODE]);
	if (spindle_view_is_table(sg))
		return parse_table(sg, nest, a, extack);
	return parse_messages(sg, a, extack);
}

static int parse_subgroup(void *ctx, const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	struct nlattr *a[SPINDLE_SUBGROUP_A_MAX + 1];
	struct spindle_view *view = ctx;
	struct spindle_view_subgroup *sg;
	const struct nlattr *attr;
	int err, rem;

	if (view->num_subgroups == SPINDLE_MAX_SUBGROUPS)
		return spindle_deny(extack, nest, -EINVAL, "a view has at most 64 subgroups");
	sg = &view->subgroup[view->num_subgroups++];
	err = spindle_netlink_subgroup(sg, nest, a, extack);
	if (err)
		return err;
	if (a[SPINDLE_SUBGROUP_A_RULE])
		return spindle_deny(extack, a[SPINDLE_SUBGROUP_A_RULE], -EINVAL,
				    "only a live view has rules");
	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) != SPINDLE_SUBGROUP_A_NODE)
			continue;
		err = parse_subgroup_node(view, sg, attr, extack);
		if (err)
			return err;
	}
	if (!sg->members) {
		sg->members = U64_MAX >> (64 - view->num_members);
		sg->senders = spindle_view_is_table(sg) ? 0 : sg->members;
	}
	return 0;
}

/* Find the attribute number @index of a type; NULL if there is none. */
static const struct nlattr *nth_attr(struct genl_info *info, int type, int index)
{
	const struct nlattr *attr;
	int rem;

	nlmsg_for_each_attr(attr, info->nlhdr, GENL_HDRLEN, rem)
		if (nla_type(attr) == type && index-- == 0)
			return attr;
	return NULL;
}

/**
 * spindle_netlink_own() - the attribute of a view that is about the node itself
 * @view: the view
 * @info: the request with the view
 *
 * Return: the node's entry among the members, or its id
 */
const struct nlattr *spindle_netlink_own(const struct spindle_view *view,
					 struct genl_info *info)
{
	int rank = spindle_view_rank(view, nla_get_u32(info->attrs[SPINDLE_A_NODE_ID]));

	return rank < 0 ? info->attrs[SPINDLE_A_NODE_ID] :
			  nth_attr(info, SPINDLE_A_MEMBER, rank);
}

/**
 * spindle_netlink_members() - parse id and members of a view
 * @view: out, zeroed
 * @info: the request
 *
 * Return: 0, or -EINVAL with a text
 */
int spindle_netlink_members(struct spindle_view *view, struct genl_info *info)
{
	if (GENL_REQ_ATTR_CHECK(info, SPINDLE_A_VIEW_ID))
		return spindle_deny(info->extack, NULL, -EINVAL, "the view id is missing");
	if (GENL_REQ_ATTR_CHECK(info, SPINDLE_A_MEMBER))
		return spindle_deny(info->extack, NULL, -EINVAL, "a view has 1 to 64 members");
	view->vid = nla_get_u64(info->attrs[SPINDLE_A_VIEW_ID]);
	return spindle_netlink_each(view, info, SPINDLE_A_MEMBER, parse_member);
}

/* With SPINDLE_CHECK_ALONE no other code checks that the node is a member. */
static int check_member(const struct spindle_view *view, struct genl_info *info)
{
	const struct nlattr *id = info->attrs[SPINDLE_A_NODE_ID];

	if (spindle_netlink_check_only(info) != SPINDLE_CHECK_ALONE || !id ||
	    spindle_view_rank(view, nla_get_u32(id)) >= 0)
		return 0;
	return spindle_deny(info->extack, id, -EINVAL, "the node is not a member of the view");
}

/**
 * spindle_netlink_check() - check a view from a request
 * @view: the view
 * @live: its subgroups follow from rules
 * @info: the request
 *
 * Return: 0, or -EINVAL with a text
 */
int spindle_netlink_check(const struct spindle_view *view, bool live, struct genl_info *info)
{
	struct spindle_view_fault fault;
	const char *text = spindle_view_check(view, live, &fault);

	if (!text)
		return check_member(view, info);
	info->extack->_msg = text;
	if (!view->vid)
		info->extack->bad_attr = info->attrs[SPINDLE_A_VIEW_ID];
	else if (fault.member >= 0)
		info->extack->bad_attr = nth_attr(info, SPINDLE_A_MEMBER, fault.member);
	else if (fault.subgroup >= 0 && !live)
		info->extack->bad_attr = nth_attr(info, SPINDLE_A_SUBGROUP, fault.subgroup);
	return -EINVAL;
}

/**
 * spindle_netlink_view() - parse and check a view from a request
 * @view: out, zeroed
 * @info: the request
 *
 * Return: 0, or -EINVAL with a text
 */
int spindle_netlink_view(struct spindle_view *view, struct genl_info *info)
{
	int err = spindle_netlink_members(view, info);

	if (!err)
		err = spindle_netlink_each(view, info, SPINDLE_A_SUBGROUP, parse_subgroup);
	return err ? err : spindle_netlink_check(view, false, info);
}
