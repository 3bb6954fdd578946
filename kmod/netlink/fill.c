// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: attributes of nodes, views and engines in replies. See internal.h.
 *
 * Context: the namespace's lock.
 */
#include <linux/ktime.h>
#include <linux/math64.h>

#include "base/engine.h"
#include "core/multicast/multicast.h"
#include "core/membership/rules.h"
#include "internal.h"
#include "live/live.h"
#include "node/attachment.h"
#include "node/hello.h"
#include "node/history.h"
#include "node/installed.h"
#include "node/node.h"
#include "node/peer.h"
#include "node/subgroup.h"
#include "node/table.h"

/* Bytes of the longest message about a node's view, and about its peers, beyond the base. */
#define MEMBER_BYTES	256
#define SUBGROUP_BYTES	208

/**
 * spindle_fill_view_bytes() - what a message about a node with a view takes
 * @inst: the installed view
 *
 * Return: bytes, at most
 */
u32 spindle_fill_view_bytes(const struct spindle_installed *inst)
{
	const struct spindle_view *view = &inst->view;
	u32 i, nodes, bytes = SPINDLE_FILL_BASE + view->num_members * MEMBER_BYTES;

	for (i = 0; i < view->num_subgroups; i++) {
		nodes = hweight64(view->subgroup[i].members);
		if (inst->live)
			nodes += spindle_rules_of(&inst->live->rules, i)->num_nodes;
		bytes += SUBGROUP_BYTES + nodes * SPINDLE_FILL_NODE;
		if (view->subgroup[i].fields[0])
			bytes += SPINDLE_FILL_FIELDS;
	}
	return bytes;
}

static int put_addr(struct sk_buff *skb, const struct spindle_addr *addr, int a4, int a6,
		    int port)
{
	int err;

	if (addr->family == 6)
		err = nla_put(skb, a6, sizeof(addr->ip), addr->ip);
	else
		err = nla_put(skb, a4, sizeof(__be32), addr->ip);
	return err ? err : nla_put_u16(skb, port, addr->port);
}

/**
 * spindle_fill_has_view() - does a node have a view?
 * @node: the node; while it joins a live view it has none yet
 *
 * Return: true if so
 */
bool spindle_fill_has_view(const struct spindle_node *node)
{
	return node->inst && node->inst->view.vid;
}

static u8 state_of(const struct spindle_node *node)
{
	if (node->dead)
		return SPINDLE_NODE_DEAD;
	return node->inst ? SPINDLE_NODE_VIEW : SPINDLE_NODE_IDLE;
}

/**
 * spindle_fill_node() - add the attributes of a node
 * @skb: room
 * @node: the node
 *
 * Return: 0 or -EMSGSIZE
 */
int spindle_fill_node(struct sk_buff *skb, const struct spindle_node *node)
{
	if (nla_put_u32(skb, SPINDLE_A_NODE_ID, node->id) ||
	    nla_put_string(skb, SPINDLE_A_CLUSTER, node->cluster) ||
	    put_addr(skb, &node->addr, SPINDLE_A_ADDR4, SPINDLE_A_ADDR6, SPINDLE_A_PORT) ||
	    nla_put_u8(skb, SPINDLE_A_VISIBILITY, node->visibility) ||
	    nla_put_u32(skb, SPINDLE_A_IDLE_US, node->served.idle_us) ||
	    nla_put_u32(skb, SPINDLE_A_ENGINE, node->engine->id) ||
	    nla_put_u8(skb, SPINDLE_A_TIMING, READ_ONCE(node->engine->timing)) ||
	    nla_put_string(skb, SPINDLE_A_DEVICE, node->device) ||
	    nla_put_u8(skb, SPINDLE_A_NODE_STATE, state_of(node)) ||
	    nla_put_u8(skb, SPINDLE_A_KEYED, spindle_key_given(&node->key)) ||
	    nla_put_u8(skb, SPINDLE_A_FORMER_KEY, spindle_key_has_former(&node->key)) ||
	    nla_put_u16(skb, SPINDLE_A_RACK, node->rack) ||
	    nla_put_u64_64bit(skb, SPINDLE_A_INCARNATION, node->incarnation, SPINDLE_A_PAD))
		return -EMSGSIZE;
	if (node->engine->cpu != SPINDLE_ANY_CPU &&
	    nla_put_u32(skb, SPINDLE_A_CPU, node->engine->cpu))
		return -EMSGSIZE;
	if (spindle_fill_has_view(node) &&
	    nla_put_u64_64bit(skb, SPINDLE_A_VIEW_ID, node->inst->view.vid, SPINDLE_A_PAD))
		return -EMSGSIZE;
	return 0;
}

static int fill_member(struct sk_buff *skb, const struct spindle_view_member *m)
{
	struct nlattr *nest = nla_nest_start(skb, SPINDLE_A_MEMBER);

	if (!nest || nla_put_u32(skb, SPINDLE_MEMBER_A_ID, m->id) ||
	    put_addr(skb, &m->addr, SPINDLE_MEMBER_A_ADDR4, SPINDLE_MEMBER_A_ADDR6,
		     SPINDLE_MEMBER_A_PORT))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* A request with the same attributes would be valid, so a table has nothing about senders. */
static int fill_subgroup_node(struct sk_buff *skb, const struct spindle_view_subgroup *sg, int type,
			      u32 id, bool sends)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest || nla_put_u32(skb, SPINDLE_SUBGROUP_NODE_A_ID, id))
		return -EMSGSIZE;
	if (!spindle_view_is_table(sg) && nla_put_u8(skb, SPINDLE_SUBGROUP_NODE_A_SENDER, sends))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int fill_subgroup_nodes(struct sk_buff *skb, const struct spindle_view *view,
			       const struct spindle_view_subgroup *sg)
{
	u32 r;

	for (r = 0; r < view->num_members; r++) {
		if (!(sg->members & BIT_ULL(r)))
			continue;
		if (fill_subgroup_node(skb, sg, SPINDLE_SUBGROUP_A_NODE, view->member[r].id,
				       sg->senders & BIT_ULL(r)))
			return -EMSGSIZE;
	}
	return 0;
}

/* Add a text, unless it is empty. */
static int put_text(struct sk_buff *skb, int type, const char *text)
{
	return *text ? nla_put_string(skb, type, text) : 0;
}

static int fill_log(struct sk_buff *skb, const struct spindle_view_subgroup *sg)
{
	if (!sg->log)
		return 0;
	return nla_put_u8(skb, SPINDLE_SUBGROUP_A_LOG, 1) ? :
	       nla_put_u8(skb, SPINDLE_SUBGROUP_A_ACK, !!(sg->log & SPINDLE_LOGGED_MAJORITY)) ? :
	       nla_put_u8(skb, SPINDLE_SUBGROUP_A_DELIVER, !!(sg->log & SPINDLE_LOGGED_GATE)) ? :
	       nla_put_u32(skb, SPINDLE_SUBGROUP_A_MIN_COPIES, sg->min_copies);
}

static int fill_sizes(struct sk_buff *skb, const struct spindle_view_subgroup *sg)
{
	if (spindle_view_is_table(sg))
		return nla_put_u32(skb, SPINDLE_SUBGROUP_A_CELLS, spindle_view_cells(sg)) ? :
		       nla_put_u32(skb, SPINDLE_SUBGROUP_A_CELL, spindle_view_cell(sg)) ? :
		       put_text(skb, SPINDLE_SUBGROUP_A_FIELDS, sg->fields);
	return nla_put_u32(skb, SPINDLE_SUBGROUP_A_WINDOW, sg->window) ? :
	       nla_put_u32(skb, SPINDLE_SUBGROUP_A_MAX_MSG, sg->max_msg) ? :
	       nla_put_u32(skb, SPINDLE_SUBGROUP_A_RING, sg->ring) ? :
	       nla_put_u8(skb, SPINDLE_SUBGROUP_A_HOLD, sg->hold) ? : fill_log(skb, sg);
}

/**
 * spindle_fill_subgroup_config() - add what a view says of a subgroup
 * @skb: room
 * @view: the view
 * @sg: the subgroup
 *
 * Return: 0 or -EMSGSIZE
 */
int spindle_fill_subgroup_config(struct sk_buff *skb, const struct spindle_view *view,
				 const struct spindle_view_subgroup *sg)
{
	if (nla_put_u32(skb, SPINDLE_SUBGROUP_A_ID, sg->id) ||
	    put_text(skb, SPINDLE_SUBGROUP_A_NAME, sg->name) ||
	    nla_put_u8(skb, SPINDLE_SUBGROUP_A_MODE, sg->mode) ||
	    fill_sizes(skb, sg))
		return -EMSGSIZE;
	return fill_subgroup_nodes(skb, view, sg);
}

/* Add the rule of a subgroup, by its index. */
static int fill_rule(struct sk_buff *skb, const struct spindle_live *live, u32 subgroup)
{
	const struct spindle_rule *rule = spindle_rules_of(&live->rules, subgroup);
	struct nlattr *nest = nla_nest_start(skb, SPINDLE_SUBGROUP_A_RULE);
	u32 i;

	if (!nest || nla_put_u32(skb, SPINDLE_RULE_A_SHARDS, rule->shards) ||
	    nla_put_u32(skb, SPINDLE_RULE_A_MIN, rule->min))
		return -EMSGSIZE;
	if (!spindle_view_is_table(&rule->cfg) &&
	    (nla_put_u8(skb, SPINDLE_RULE_A_ON_EXIT, rule->on_exit) ||
	     nla_put_u8(skb, SPINDLE_RULE_A_SENDERS, rule->all_send)))
		return -EMSGSIZE;
	for (i = 0; i < rule->num_nodes; i++)
		if (fill_subgroup_node(skb, &rule->cfg, SPINDLE_RULE_A_NODE, rule->node[i],
				       rule->senders & BIT_ULL(i)))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * spindle_fill_witnesses() - add the witnesses of a live view
 * @skb: room
 * @rules: rules of the live view
 *
 * Return: 0 or -EMSGSIZE
 */
int spindle_fill_witnesses(struct sk_buff *skb, const struct spindle_rules *rules)
{
	u32 i;

	for (i = 0; i < SPINDLE_MAX_WITNESSES && rules->witness[i]; i++)
		if (nla_put_u32(skb, SPINDLE_LIVE_A_WITNESS, rules->witness[i]))
			return -EMSGSIZE;
	return 0;
}

/* Add the spares, which all have the same room. */
static int fill_spares(struct sk_buff *skb, const struct spindle_rules *rules)
{
	const struct spindle_rule *spare = NULL;
	u32 i, n = 0;

	for (i = 0; i < rules->num_rules; i++) {
		if (!(rules->rule[i].flags & SPINDLE_RULE_SPARE))
			continue;
		spare = &rules->rule[i];
		n++;
	}
	if (!spare)
		return 0;
	return nla_put_u32(skb, SPINDLE_LIVE_A_SPARES, n) ||
	       nla_put_u32(skb, SPINDLE_LIVE_A_SPARE_WINDOW, spare->room_window) ||
	       nla_put_u32(skb, SPINDLE_LIVE_A_SPARE_RING, spare->room_ring) ||
	       nla_put_u32(skb, SPINDLE_LIVE_A_SPARES_FREE, spindle_rules_free(rules)) ?
	       -EMSGSIZE : 0;
}

/* Add the rules that all subgroups of a live view share. */
static int fill_rules(struct sk_buff *skb, const struct spindle_live *live)
{
	struct nlattr *nest = nla_nest_start(skb, SPINDLE_A_LIVE);

	if (!nest ||
	    nla_put_u32(skb, SPINDLE_LIVE_A_TIMEOUT_MS, live->rules.timeout_ms) ||
	    nla_put_u32(skb, SPINDLE_LIVE_A_MAX_NODES, live->rules.max_nodes) ||
	    nla_put_u8(skb, SPINDLE_LIVE_A_QUORUM, live->rules.quorum) ||
	    spindle_fill_witnesses(skb, &live->rules))
		return -EMSGSIZE;
	if (fill_spares(skb, &live->rules))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * spindle_fill_insecure() - add INSECURE if the node is in a live view without a key
 * @skb: room
 * @node: a node that is in a live view, or joins one
 *
 * Return: 0 or -EMSGSIZE
 */
int spindle_fill_insecure(struct sk_buff *skb, const struct spindle_node *node)
{
	return spindle_key_given(&node->key) ? 0 : nla_put_flag(skb, SPINDLE_A_INSECURE);
}

/**
 * spindle_fill_lineage() - add lineage and era of a live view
 * @skb: room
 * @lineage: the lineage
 *
 * Return: 0 or -EMSGSIZE
 */
int spindle_fill_lineage(struct sk_buff *skb, const struct spindle_lineage *lineage)
{
	return nla_put(skb, SPINDLE_A_LINEAGE, sizeof(lineage->word), lineage->word) ||
	       nla_put_u64_64bit(skb, SPINDLE_A_ERA, lineage->era, SPINDLE_A_PAD) ?
	       -EMSGSIZE : 0;
}

/**
 * spindle_fill_view() - add the view of a node
 * @skb: room
 * @node: the node, which has a view
 *
 * Return: 0 or -EMSGSIZE
 */
int spindle_fill_view(struct sk_buff *skb, const struct spindle_node *node)
{
	const struct spindle_view *view = &node->inst->view;
	const struct spindle_live *live = node->inst->live;
	u32 i;

	if (nla_put_u32(skb, SPINDLE_A_NODE_ID, node->id) ||
	    nla_put_u64_64bit(skb, SPINDLE_A_VIEW_ID, view->vid, SPINDLE_A_PAD))
		return -EMSGSIZE;
	for (i = 0; i < view->num_members; i++)
		if (fill_member(skb, &view->member[i]))
			return -EMSGSIZE;
	for (i = 0; i < view->num_subgroups; i++) {
		struct nlattr *nest;

		if (spindle_view_closed(&view->subgroup[i]))
			continue;
		nest = nla_nest_start(skb, SPINDLE_A_SUBGROUP);
		if (!nest || spindle_fill_subgroup_config(skb, view, &view->subgroup[i]) ||
		    (live && fill_rule(skb, live, i)))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	if (!live)
		return 0;
	return fill_rules(skb, live) ? :
	       spindle_fill_lineage(skb, &live->lineage) ? :
	       spindle_fill_insecure(skb, node);
}

/**
 * spindle_fill_counters() - add numbers of 64 bits
 * @skb: room
 * @pad: attribute for alignment
 * @list: the numbers
 * @n: how many
 *
 * Return: 0 or -EMSGSIZE
 */
int spindle_fill_counters(struct sk_buff *skb, int pad, const struct spindle_counter *list, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (nla_put_u64_64bit(skb, list[i].type, list[i].value, pad))
			return -EMSGSIZE;
	return 0;
}

/**
 * spindle_fill_nest() - add numbers of 64 bits, in a nest
 * @skb: room
 * @type: attribute of the nest
 * @pad: attribute for alignment, in the nest
 * @list: the numbers
 * @n: how many
 *
 * Return: 0 or -EMSGSIZE
 */
int spindle_fill_nest(struct sk_buff *skb, int type, int pad, const struct spindle_counter *list,
		      u32 n)
{
	struct nlattr *nest = nla_nest_start(skb, type);

	if (!nest || spindle_fill_counters(skb, pad, list, n))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static u64 peer_torn(const struct spindle_peer *peer)
{
	const struct spindle_installed *inst = peer->inst;
	u64 torn = READ_ONCE(peer->torn);
	const struct spindle_subgroup *sg;
	u32 i;

	for (i = 0; (sg = spindle_installed_subgroup(inst, &i)); i++)
		if (sg->peers & BIT_ULL(peer->rank))
			torn += READ_ONCE(sg->mc.member[spindle_mask_rank(sg->cfg->members,
									  peer->rank)].torn);
	return torn;
}

static int fill_peer(struct sk_buff *skb, const struct spindle_peer *peer)
{
	const struct spindle_conn *conn = &peer->conn;
	const char *reason = spindle_peer_why(peer);
	struct nlattr *nest = nla_nest_start(skb, SPINDLE_A_PEER);
	const struct spindle_counter list[] = {
		{ SPINDLE_PEER_A_WRITES, READ_ONCE(conn->stats.writes) },
		{ SPINDLE_PEER_A_POSTS, READ_ONCE(conn->stats.posts) },
		{ SPINDLE_PEER_A_BYTES, READ_ONCE(conn->stats.bytes) },
		{ SPINDLE_PEER_A_DOORBELLS, READ_ONCE(conn->stats.imms) },
		{ SPINDLE_PEER_A_TORN, peer_torn(peer) },
		{ SPINDLE_PEER_A_ATTEMPTS, READ_ONCE(conn->attempts) },
	};

	if (!nest || nla_put_u32(skb, SPINDLE_PEER_A_ID, peer->id) ||
	    nla_put_u8(skb, SPINDLE_PEER_A_STATE, spindle_peer_state(&peer->conn)) ||
	    nla_put_u8(skb, SPINDLE_PEER_A_IMM, peer->inst->node->imm) ||
	    (reason && nla_put_string(skb, SPINDLE_PEER_A_REASON, reason)) ||
	    spindle_fill_counters(skb, SPINDLE_PEER_A_PAD, list, ARRAY_SIZE(list)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Time for which the engine has measured, up to now. */
static u64 timed_ns(const struct spindle_engine *engine)
{
	u64 ns = READ_ONCE(engine->stats.timed_ns);

	if (READ_ONCE(engine->timing))
		ns += ktime_get_ns() - READ_ONCE(engine->timed_since);
	return ns;
}

/**
 * spindle_fill_stats() - add a node with the counters of its engine and of each peer
 * @skb: room
 * @node: the node
 *
 * Return: 0 or -EMSGSIZE
 */
int spindle_fill_stats(struct sk_buff *skb, const struct spindle_node *node)
{
	u32 id, refusal = spindle_refusal_last(node, &id);
	const struct spindle_engine *engine = node->engine;
	const struct spindle_counter list[] = {
		{ SPINDLE_ENGINE_S_PASSES, READ_ONCE(engine->stats.passes) },
		{ SPINDLE_ENGINE_S_BUSY, READ_ONCE(engine->stats.busy) },
		{ SPINDLE_ENGINE_S_SLEEPS, READ_ONCE(engine->stats.sleeps) },
		{ SPINDLE_ENGINE_S_KICKS, atomic64_read(&engine->stats.kicks) },
		{ SPINDLE_ENGINE_S_BELLS, atomic64_read(&engine->stats.bells) },
		{ SPINDLE_ENGINE_S_REFUSED, atomic64_read(&node->refusals.count) },
		{ SPINDLE_ENGINE_S_PID, task_pid_vnr(engine->task) },
		{ SPINDLE_ENGINE_S_SPIN_US,
		  min_t(u64, div_u64(READ_ONCE(engine->spin_ns), NSEC_PER_USEC),
			READ_ONCE(node->served.idle_us)) },
		{ SPINDLE_ENGINE_S_BUSY_NS, READ_ONCE(engine->stats.busy_ns) },
		{ SPINDLE_ENGINE_S_POST_NS, READ_ONCE(engine->stats.post_ns) },
		{ SPINDLE_ENGINE_S_TIMED_NS, timed_ns(engine) },
	};
	u32 i;

	if (nla_put_u32(skb, SPINDLE_A_NODE_ID, node->id) ||
	    nla_put_u8(skb, SPINDLE_A_NODE_STATE, state_of(node)) ||
	    spindle_fill_nest(skb, SPINDLE_A_STATS, SPINDLE_ENGINE_S_PAD, list, ARRAY_SIZE(list)))
		return -EMSGSIZE;
	if (refusal && (nla_put_u32(skb, SPINDLE_A_PEER_ID, id) ||
			nla_put_string(skb, SPINDLE_A_REASON, spindle_refusal_text(refusal))))
		return -EMSGSIZE;
	for (i = 0; node->inst && i < node->inst->view.num_members; i++)
		if (node->inst->peer[i] && fill_peer(skb, node->inst->peer[i]))
			return -EMSGSIZE;
	return 0;
}
