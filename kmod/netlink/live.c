// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: requests about live views.
 *
 * Nested attributes have been validated against their policies.
 */
#include <linux/ktime.h>
#include <linux/slab.h>

#include "base/engine.h"
#include "core/rules.h"
#include "live/join.h"
#include "live/live.h"
#include "netlink.h"
#include "node/group.h"
#include "node/node.h"
#include "node/peer.h"
#include "node/subgroup.h"

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
	int err;

	if (!contacts)
		return ERR_PTR(-ENOMEM);
	contacts->cfg.contact = contacts->addr;
	contacts->cfg.insecure = info->attrs[SPINDLE_A_INSECURE];
	err = spindle_netlink_each(contacts, info, SPINDLE_A_CONTACT, parse_contact);
	if (!err && lineage) {
		nla_memcpy(&contacts->cfg.lineage, lineage, sizeof(contacts->cfg.lineage));
		if (!spindle_lineage_given(&contacts->cfg.lineage)) {
			NL_SET_ERR_MSG_ATTR(info->extack, lineage, "a lineage is not zero");
			err = -EINVAL;
		}
	}
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

/**
 * spindle_netlink_put_insecure() - add INSECURE if the node is in a live view without a key
 * @skb: room
 * @node: a node that is in a live view, or joins one
 *
 * Return: 0 or -EMSGSIZE
 */
int spindle_netlink_put_insecure(struct sk_buff *skb, const struct spindle_node *node)
{
	return spindle_key_given(&node->key) ? 0 : nla_put_flag(skb, SPINDLE_A_INSECURE);
}

/**
 * spindle_netlink_put_lineage() - add the lineage of a live view
 * @skb: room
 * @lineage: the lineage
 *
 * Return: 0 or -EMSGSIZE
 */
int spindle_netlink_put_lineage(struct sk_buff *skb, const struct spindle_lineage *lineage)
{
	return nla_put(skb, SPINDLE_A_LINEAGE, sizeof(*lineage), lineage);
}

static int put_contact(struct sk_buff *skb, const struct spindle_join_contact *contact)
{
	struct nlattr *nest = nla_nest_start(skb, SPINDLE_A_CONTACT);

	if (!nest || nla_put_u16(skb, SPINDLE_CONTACT_A_PORT, contact->addr.port) ||
	    nla_put_u8(skb, SPINDLE_CONTACT_A_FINAL, contact->final))
		return -EMSGSIZE;
	if (contact->addr.family == 4 ?
	    nla_put(skb, SPINDLE_CONTACT_A_ADDR4, 4, contact->addr.ip) :
	    nla_put(skb, SPINDLE_CONTACT_A_ADDR6, 16, contact->addr.ip))
		return -EMSGSIZE;
	if (contact->reason && nla_put_string(skb, SPINDLE_CONTACT_A_REASON, contact->reason))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_contacts(struct sk_buff *skb, const struct spindle_join *join)
{
	const struct spindle_join_contact *contact;
	u32 n = spindle_join_contacts(join, &contact), i;

	for (i = 0; i < n; i++)
		if (put_contact(skb, &contact[i]))
			return -EMSGSIZE;
	return 0;
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
	int sends = spindle_netlink_subgroup_node(nest, a, extack);

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

static int parse_rule(void *ctx, const struct nlattr *nest, struct netlink_ext_ack *extack)
{
	struct nlattr *a[SPINDLE_SUBGROUP_A_MAX + 1], *r[SPINDLE_RULE_A_MAX + 1] = {};
	struct spindle_rules *rules = ctx;
	struct spindle_rule *rule;
	const struct nlattr *attr;
	int err, rem;

	if (rules->num_rules == SPINDLE_MAX_SUBGROUPS) {
		NL_SET_ERR_MSG_ATTR(extack, nest, "a view has at most 64 subgroups");
		return -EINVAL;
	}
	rule = &rules->rule[rules->num_rules++];
	err = spindle_netlink_subgroup(&rule->cfg, nest, a, extack);
	if (!err && a[SPINDLE_SUBGROUP_A_RULE])
		err = nla_parse_nested(r, SPINDLE_RULE_A_MAX, a[SPINDLE_SUBGROUP_A_RULE], NULL,
				       extack);
	if (err)
		return err;
	rule->shards = r[SPINDLE_RULE_A_SHARDS] ? nla_get_u32(r[SPINDLE_RULE_A_SHARDS]) : 1;
	rule->min = r[SPINDLE_RULE_A_MIN] ? nla_get_u32(r[SPINDLE_RULE_A_MIN]) : 1;
	rule->on_exit = r[SPINDLE_RULE_A_ON_EXIT] ? nla_get_u8(r[SPINDLE_RULE_A_ON_EXIT]) : 0;
	rule->all_send = r[SPINDLE_RULE_A_SENDERS] ? nla_get_u8(r[SPINDLE_RULE_A_SENDERS]) : 1;
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

static int parse(struct spindle_view *view, struct spindle_rules *rules, struct genl_info *info)
{
	int err = parse_live(rules, info), fault;
	const char *text;

	if (!err)
		err = spindle_netlink_members(view, info);
	if (!err)
		err = spindle_netlink_each(rules, info, SPINDLE_A_SUBGROUP, parse_rule);
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
	struct spindle_node *node;
	int err = -ENOMEM;

	if (IS_ERR(contacts))
		err = PTR_ERR(contacts);
	else if (view && rules)
		err = parse(view, rules, info);
	if (err)
		goto out;
	spindle_netlink_lock(info);
	err = spindle_netlink_set_node(info, &node);
	if (node)
		err = spindle_node_set_live(node, view, rules, &contacts->cfg, check,
					    info->extack);
	blame_key(info, err);
	spindle_netlink_unlock(info);
	if (!err && !rules->quorum && !check)
		pr_warn_ratelimited("node %u: a view without quorum: parts of it may go on by themselves\n",
				    nla_get_u32(info->attrs[SPINDLE_A_NODE_ID]));
out:
	if (!IS_ERR(contacts))
		kvfree(contacts);
	kvfree(view);
	kvfree(rules);
	return err;
}

/**
 * spindle_netlink_put_rule() - add the rule of a subgroup
 * @skb: room
 * @live: the live view
 * @subgroup: index
 *
 * Return: 0 or -EMSGSIZE
 */
int spindle_netlink_put_rule(struct sk_buff *skb, const struct spindle_live *live, u32 subgroup)
{
	const struct spindle_rule *rule = spindle_rules_of(&live->rules, subgroup);
	struct nlattr *nest = nla_nest_start(skb, SPINDLE_SUBGROUP_A_RULE);
	u32 i;

	if (!nest || nla_put_u32(skb, SPINDLE_RULE_A_SHARDS, rule->shards) ||
	    nla_put_u32(skb, SPINDLE_RULE_A_MIN, rule->min) ||
	    nla_put_u8(skb, SPINDLE_RULE_A_ON_EXIT, rule->on_exit) ||
	    nla_put_u8(skb, SPINDLE_RULE_A_SENDERS, rule->all_send))
		return -EMSGSIZE;
	for (i = 0; i < rule->num_nodes; i++)
		if (spindle_fill_subgroup_node(skb, SPINDLE_RULE_A_NODE, rule->node[i],
					       rule->senders & BIT_ULL(i)))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_witnesses(struct sk_buff *skb, const struct spindle_rules *rules)
{
	u32 i;

	for (i = 0; i < SPINDLE_MAX_WITNESSES && rules->witness[i]; i++)
		if (nla_put_u32(skb, SPINDLE_LIVE_A_WITNESS, rules->witness[i]))
			return -EMSGSIZE;
	return 0;
}

/**
 * spindle_netlink_put_rules() - add the rules that all subgroups of a live view share
 * @skb: room
 * @live: the live view
 *
 * Return: 0 or -EMSGSIZE
 */
int spindle_netlink_put_rules(struct sk_buff *skb, const struct spindle_live *live)
{
	struct nlattr *nest = nla_nest_start(skb, SPINDLE_A_LIVE);

	if (!nest ||
	    nla_put_u32(skb, SPINDLE_LIVE_A_TIMEOUT_MS, live->rules.timeout_ms) ||
	    nla_put_u32(skb, SPINDLE_LIVE_A_MAX_NODES, live->rules.max_nodes) ||
	    nla_put_u8(skb, SPINDLE_LIVE_A_QUORUM, live->rules.quorum) ||
	    put_witnesses(skb, &live->rules))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* ---- coming and going ------------------------------------------------------ */

/**
 * spindle_netlink_join() - SPINDLE_CMD_NODE_JOIN
 * @skb: the request
 * @info: parsed
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_join(struct sk_buff *skb, struct genl_info *info)
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
 * spindle_netlink_leave() - SPINDLE_CMD_NODE_LEAVE
 * @skb: the request
 * @info: parsed
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_leave(struct sk_buff *skb, struct genl_info *info)
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
 * spindle_netlink_evict() - SPINDLE_CMD_NODE_EVICT
 * @skb: the request
 * @info: parsed
 *
 * Return: 0 or -errno, with a text
 */
int spindle_netlink_evict(struct sk_buff *skb, struct genl_info *info)
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

/* ---- status ---------------------------------------------------------------- */

/*
 * Count the own messages, and their bytes, that a member has not delivered yet, in the subgroup
 * with the most of them.
 */
static void find_lag(const struct spindle_group *group, u32 rank, u64 *messages, u64 *bytes)
{
	u32 i;

	*messages = 0;
	*bytes = 0;
	for (i = 0; i < group->view.num_subgroups; i++) {
		const struct spindle_subgroup *sg = group->subgroup[i];
		const struct spindle_mc_sender *sd;
		const struct spindle_mc_member *m;
		const struct spindle_mc *mc;
		u64 delivered, n, lag = 0, sum = 0;

		if (!sg || !(sg->peers & BIT_ULL(rank)) || sg->mc.my_sender == SPINDLE_NO_RANK)
			continue;
		mc = &sg->mc;
		sd = &mc->sender[mc->my_sender];
		m = &mc->member[spindle_mask_rank(sg->cfg->members, rank)];
		delivered = READ_ONCE(m->delivered);
		n = READ_ONCE(sd->walk.slot);
		/* The engine may change this during the loop; the result is only shown. */
		while (lag < mc->window && n-- > READ_ONCE(mc->free_slot)) {
			const struct spindle_msg *msg = &sd->msgs[n & sd->walk.wmask];

			if (READ_ONCE(msg->round) * mc->senders + mc->my_sender < delivered)
				break;
			lag++;
			sum += READ_ONCE(msg->len);
		}
		if (lag > *messages) {
			*messages = lag;
			*bytes = sum;
		}
	}
}

static int put_suspectors(struct sk_buff *skb, const struct spindle_live *live, u32 rank)
{
	const struct spindle_view *view = &live->group->view;
	u32 r;

	for (r = 0; r < view->num_members; r++) {
		u64 suspects = r == live->group->mg.me ? live->mb.suspected :
			       live->mb.peer[r].vid == view->vid ? live->mb.peer[r].suspected : 0;

		if ((suspects & BIT_ULL(rank)) &&
		    nla_put_u32(skb, SPINDLE_LIVE_MEMBER_A_SUSPECTED_BY, view->member[r].id))
			return -EMSGSIZE;
	}
	return 0;
}

static int put_seen(struct sk_buff *skb, const struct spindle_live *live, u32 rank)
{
	const struct spindle_mb_peer *p = &live->mb.peer[rank];
	u64 now = ktime_get_ns(), heard = READ_ONCE(p->heard), messages, bytes;

	if (nla_put_u64_64bit(skb, SPINDLE_LIVE_MEMBER_A_VIEW, READ_ONCE(p->vid),
			      SPINDLE_LIVE_MEMBER_A_PAD))
		return -EMSGSIZE;
	if (heard != U64_MAX &&
	    nla_put_u64_64bit(skb, SPINDLE_LIVE_MEMBER_A_BEAT_MS,
			      now > heard ? div_u64(now - heard, NSEC_PER_MSEC) : 0,
			      SPINDLE_LIVE_MEMBER_A_PAD))
		return -EMSGSIZE;
	if ((live->mb.suspected & BIT_ULL(rank)) &&
	    nla_put_u8(skb, SPINDLE_LIVE_MEMBER_A_WHY, p->reason))
		return -EMSGSIZE;
	find_lag(live->group, rank, &messages, &bytes);
	if (nla_put_u64_64bit(skb, SPINDLE_LIVE_MEMBER_A_LAG, messages,
			      SPINDLE_LIVE_MEMBER_A_PAD) ||
	    nla_put_u64_64bit(skb, SPINDLE_LIVE_MEMBER_A_LAG_BYTES, bytes,
			      SPINDLE_LIVE_MEMBER_A_PAD))
		return -EMSGSIZE;
	return 0;
}

/* Add the state of the connection to a peer, and why it is not up. */
static int put_connection(struct sk_buff *skb, const struct spindle_peer *peer)
{
	const char *why = spindle_peer_why(peer);

	if (nla_put_u8(skb, SPINDLE_LIVE_MEMBER_A_STATE, spindle_peer_state(&peer->conn)))
		return -EMSGSIZE;
	return why ? nla_put_string(skb, SPINDLE_LIVE_MEMBER_A_REASON, why) : 0;
}

static int put_member(struct sk_buff *skb, const struct spindle_live *live, u32 rank)
{
	const struct spindle_group *group = live->group;
	const struct spindle_peer *peer = group->peer[rank];
	struct nlattr *nest = nla_nest_start(skb, SPINDLE_LIVE_A_MEMBER);

	if (!nest ||
	    nla_put_u32(skb, SPINDLE_LIVE_MEMBER_A_ID, group->view.member[rank].id) ||
	    nla_put_u32(skb, SPINDLE_LIVE_MEMBER_A_RANK, rank) ||
	    put_suspectors(skb, live, rank))
		return -EMSGSIZE;
	if (rank == group->mg.me) {
		if (nla_put_u64_64bit(skb, SPINDLE_LIVE_MEMBER_A_VIEW, group->view.vid,
				      SPINDLE_LIVE_MEMBER_A_PAD))
			return -EMSGSIZE;
	} else if ((peer && put_connection(skb, peer)) || put_seen(skb, live, rank)) {
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* Add nodes that want to join, on a member; or the members, on a node that joins. */
static int put_guests(struct sk_buff *skb, const struct spindle_group *group)
{
	const struct spindle_peer *peer;
	u32 i;

	for (i = 0; (peer = spindle_group_next(group, &i)); i++) {
		struct nlattr *nest;

		if (spindle_peer_departed(peer) ||
		    (group->mg.me != SPINDLE_NO_RANK && peer->rank != SPINDLE_NO_RANK))
			continue;
		nest = nla_nest_start(skb, SPINDLE_LIVE_A_MEMBER);
		if (!nest || nla_put_u32(skb, SPINDLE_LIVE_MEMBER_A_ID, peer->id) ||
		    put_connection(skb, peer))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int put_times(struct sk_buff *skb, const struct spindle_live *live)
{
	if (nla_put_u64_64bit(skb, SPINDLE_LIVE_A_CHANGES, live->changes, SPINDLE_LIVE_A_PAD))
		return -EMSGSIZE;
	if (!live->changes)
		return 0;
	if (nla_put_u64_64bit(skb, SPINDLE_LIVE_A_DETECT_US, live->times.detect,
			      SPINDLE_LIVE_A_PAD) ||
	    nla_put_u64_64bit(skb, SPINDLE_LIVE_A_WEDGE_US, live->times.wedge,
			      SPINDLE_LIVE_A_PAD) ||
	    nla_put_u64_64bit(skb, SPINDLE_LIVE_A_AGREE_US, live->times.agree,
			      SPINDLE_LIVE_A_PAD) ||
	    nla_put_u64_64bit(skb, SPINDLE_LIVE_A_INSTALL_US, live->times.install,
			      SPINDLE_LIVE_A_PAD))
		return -EMSGSIZE;
	return 0;
}

static int put_live(struct sk_buff *skb, const struct spindle_live *live)
{
	char reason[sizeof(live->reason)];
	u32 r;

	/* The engine may be writing the next reason, but the copy always ends with a zero. */
	strscpy(reason, live->reason, sizeof(reason));
	if (nla_put_u8(skb, SPINDLE_LIVE_A_STATE, spindle_live_state(live)) ||
	    nla_put_string(skb, SPINDLE_LIVE_A_REASON, reason) ||
	    nla_put_u32(skb, SPINDLE_LIVE_A_TIMEOUT_MS, live->rules.timeout_ms) ||
	    nla_put_u32(skb, SPINDLE_LIVE_A_MAX_NODES, live->rules.max_nodes) ||
	    nla_put_u8(skb, SPINDLE_LIVE_A_QUORUM, live->rules.quorum) ||
	    put_witnesses(skb, &live->rules) || put_times(skb, live))
		return -EMSGSIZE;
	if (live->mb.state == SPINDLE_MB_STOPPED &&
	    nla_put_u8(skb, SPINDLE_LIVE_A_WHY, live->mb.reason))
		return -EMSGSIZE;
	for (r = 0; r < live->group->view.num_members; r++)
		if (put_member(skb, live, r))
			return -EMSGSIZE;
	return put_guests(skb, live->group);
}

/* Add the status of a node that is no member yet. */
static int put_joining(struct sk_buff *skb, const struct spindle_node *node)
{
	if (nla_put_u8(skb, SPINDLE_LIVE_A_STATE, SPINDLE_LIVE_JOINING) ||
	    nla_put_string(skb, SPINDLE_LIVE_A_REASON, spindle_join_reason(node->join)))
		return -EMSGSIZE;
	return node->group ? put_guests(skb, node->group) : 0;
}

/* Add the reason of a node whose join has failed, or whose device is gone. */
static int put_why(struct sk_buff *skb, const struct spindle_node *node)
{
	if (nla_put_string(skb, SPINDLE_A_REASON, node->why))
		return -EMSGSIZE;
	if (node->dead && nla_put_u32(skb, SPINDLE_A_ERROR, SPINDLE_ERR_DEVICE_GONE))
		return -EMSGSIZE;
	if (node->last_vid &&
	    nla_put_u64_64bit(skb, SPINDLE_A_VIEW_ID, node->last_vid, SPINDLE_A_PAD))
		return -EMSGSIZE;
	return 0;
}

static bool has_live(const struct spindle_node *node)
{
	return node->join || (node->group && node->group->live);
}

static int fill_status(struct sk_buff *skb, const struct spindle_node *node)
{
	const struct spindle_group *group = node->group;
	/* @join may still exist for a moment after the node has become a member. */
	bool joining = node->join && (!group || group->mg.me == SPINDLE_NO_RANK);
	struct nlattr *nest;

	if (nla_put_u32(skb, SPINDLE_A_NODE_ID, node->id) ||
	    nla_put_string(skb, SPINDLE_A_CLUSTER, node->cluster))
		return -EMSGSIZE;
	if (!has_live(node))
		return put_why(skb, node);
	if (group && group->view.vid &&
	    nla_put_u64_64bit(skb, SPINDLE_A_VIEW_ID, group->view.vid, SPINDLE_A_PAD))
		return -EMSGSIZE;
	if (joining ? put_contacts(skb, node->join) :
		      spindle_netlink_put_lineage(skb, &group->live->lineage))
		return -EMSGSIZE;
	if (spindle_netlink_put_insecure(skb, node))
		return -EMSGSIZE;
	nest = nla_nest_start(skb, SPINDLE_A_LIVE);
	if (!nest || (joining ? put_joining(skb, node) : put_live(skb, group->live)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static bool has_status(const struct spindle_node *node)
{
	return node->why || has_live(node);
}

/* Bytes of a contact with its reason. */
#define CONTACT_BYTES 144

/* A member with all that suspect it, and with numbers. */
static u32 status_bytes(const struct spindle_group *group)
{
	u32 n = group->view.num_members;

	return 1024 + n * (256 + 8 * n) + SPINDLE_SEATS * 120 +
	       SPINDLE_MAX_CONTACTS * CONTACT_BYTES;
}

/**
 * spindle_netlink_status_start() - make room for the longest message of a dump
 * @cb: state of the dump
 *
 * Return: 0
 */
int spindle_netlink_status_start(struct netlink_callback *cb)
{
	/* Nodes that join have no group yet. */
	cb->min_dump_alloc = max_t(u32, cb->min_dump_alloc,
				   1024 + SPINDLE_MAX_CONTACTS * CONTACT_BYTES);
	return spindle_netlink_start(cb, status_bytes);
}

/**
 * spindle_netlink_status_dump() - SPINDLE_CMD_STATUS_GET
 * @skb: room for messages
 * @cb: state of the dump
 *
 * Return: bytes, or -errno
 */
int spindle_netlink_status_dump(struct sk_buff *skb, struct netlink_callback *cb)
{
	return spindle_netlink_dump(skb, cb, SPINDLE_CMD_STATUS_GET, fill_status, has_status);
}
