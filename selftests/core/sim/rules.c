// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules: which nodes are in which subgroups, and an administrator that wants other ones. Each node
 * learns at another time what the administrator wants, offers it, and may take that back.
 * See sim.h.
 */
#include "sim.h"

/* No node has this id. */
#define NO_NODE 1000

/* The rule names the nodes, and among them the senders. The others only receive. */
static void name_nodes(struct spindle_rule *rule, u64 nodes, u64 senders)
{
	u32 i;

	for (i = 0; i < SIM_NODES; i++) {
		if (!(nodes & BIT_ULL(i)))
			continue;
		if (senders & BIT_ULL(i))
			rule->senders |= BIT_ULL(rule->num_nodes);
		rule->node[rule->num_nodes++] = i + 1;
	}
	if (!rule->num_nodes)
		rule->node[rule->num_nodes++] = NO_NODE;
}

/* Make a table of a rule. Its cells fit into the ring that a row has for any subgroup. */
static void make_table(struct sim *sim, struct spindle_rule *rule)
{
	u32 cell = SPINDLE_MIN_CELL << rng_below(&sim->tables, 4);
	u32 room = SIM_CELLS * SPINDLE_MIN_CELL;
	bool of_cell;

	rule->cfg.mode = rng_chance(&sim->tables, 40) ? SPINDLE_MODE_TABLE_READ :
							SPINDLE_MODE_TABLE;
	rule->cfg.hold = 0;
	rule->senders = 0;
	rule->all_send = 0;
	if (spindle_view_set_table(&rule->cfg, 1 + rng_below(&sim->tables, min(sim->window,
									       room / cell)),
				   cell, &of_cell))
		sim_fail(sim, "a table has illegal sizes");
	rule->cfg.ring /= SIM_SCALE;
	/* Members that had other fields would have other digests of their views. */
	if (rng_chance(&sim->tables, 50))
		memset(rule->cfg.fields, 'f', 1 + rng_below(&sim->tables, SPINDLE_FIELDS_LEN));
}

/*
 * Some tables have several shards. A view has SIM_GROUPS subgroups all the same. Where most of
 * the members are needed, a shard that loses one often gets another one from a larger shard.
 */
static void give_shards(struct sim *sim, struct spindle_rule *rule)
{
	if (rng_chance(&sim->shards, 50))
		return;
	rule->shards = 2 + rng_below(&sim->shards, SIM_SHARDS - 1);
	rule->min = 1 + rng_below(&sim->shards, 2);
	if (rng_chance(&sim->shards, 70)) {
		rule->num_nodes = 0;
		rule->min = max((sim->nodes - sim->late - 1) / rule->shards, 1U);
	}
	sim->rules.num_rules -= rule->shards - 1;
}

/**
 * rules_make() - the rules that a schedule begins with
 * @sim: the schedule
 *
 * All nodes are in the first subgroup, and some are in the others. Some of the members of SIM_ODD
 * send. The last one is sometimes a table, and that may have shards. Behind these subgroups are
 * spares. The ids behind that of the last one are left for further shards.
 */
void rules_make(struct sim *sim)
{
	u32 i, g;

	sim->rules.num_rules = SIM_GROUPS;
	sim->rules.timeout_ms = 500;
	sim->rules.max_nodes = SIM_NODES;
	sim->ids = SIM_BORN - 1 + SIM_SHARDS;
	for (g = SIM_BORN; g < SIM_GROUPS; g++)
		sim->rules.rule[g] = (struct spindle_rule){
			.shards = 1,
			.flags = SPINDLE_RULE_SPARE | SPINDLE_RULE_CLOSED,
			.room_window = sim->window,
			.room_ring = sim->ring,
		};
	for (g = 0; g < SIM_BORN; g++) {
		struct spindle_rule *rule = &sim->rules.rule[g];

		rule->cfg.id = g;
		rule->cfg.mode = SPINDLE_MODE_ORDERED;
		rule->cfg.window = sim->window;
		rule->cfg.ring = sim->ring;
		rule->cfg.max_msg = sim->max_msg;
		rule->shards = 1;
		rule->min = 1;
		rule->all_send = g != SIM_ODD;
		if (g)
			name_nodes(rule, rng_u64(g != SIM_ODD ? &sim->rng : &sim->draw),
				   rng_u64(&sim->draw));
	}
	if (rng_chance(&sim->tables, 25)) {
		make_table(sim, &sim->rules.rule[SIM_BORN - 1]);
		give_shards(sim, &sim->rules.rule[SIM_BORN - 1]);
	}
	/* Rules without a sender are invalid. */
	if (!sim->rules.rule[SIM_ODD].senders)
		sim->rules.rule[SIM_ODD].senders = 1;
	if (rng_chance(&sim->draw, 50))
		sim->rules.rule[SIM_ODD].cfg.mode = SPINDLE_MODE_UNORDERED;
	sim->rules.rule[SIM_ODD].cfg.hold = rng_chance(&sim->draw, 30);
	sim->rules.rule[SIM_ODD].min = 1 + rng_below(&sim->draw, 4);
	for (g = 0; g < SIM_BORN; g++)
		logs_give(sim, &sim->rules.rule[g].cfg);
	for (i = 0; i < sim->nodes; i++) {
		for (g = 0; g < SIM_GROUPS; g++) {
			const struct spindle_rule *rule = &sim->rules.rule[g];
			bool sends = rule->all_send || g >= SIM_BORN ||
				     spindle_view_is_table(&rule->cfg);
			u32 k;

			for (k = 0; k < rule->num_nodes; k++)
				sends |= rule->node[k] == i + 1 && (rule->senders & BIT_ULL(k));
			sim->lo[i].hdr[g] = sends ? SIM_HDR(sim, g) : SPINDLE_NO_OFFSET;
			sim->lo[i].pay[g] = sends ? SIM_PAY(sim, g) : SPINDLE_NO_OFFSET;
		}
	}
}

/* ---- other rules ------------------------------------------------------------- */

/* The id of a subgroup other than the first, or 0. */
static u32 any_id(struct sim *sim, const struct spindle_rules *rules)
{
	u32 g = 1 + rng_below(&sim->newer, rules->num_rules - 1);

	return rules->rule[g].flags & SPINDLE_RULE_CLOSED ? 0 : rules->rule[g].cfg.id;
}

/*
 * Some subgroups have two shards, and some tables have three. The ids of the others are left free
 * behind that of the first, except behind the first ids.
 */
static u32 some_shards(struct sim *sim, u32 id, u32 mode)
{
	u32 most = mode < SPINDLE_MODE_TABLE ? 2 : SIM_SHARDS;
	bool may = id >= SIM_BORN - 1;

	return may && rng_chance(&sim->shards, 40) ? 2 + rng_below(&sim->shards, most - 1) : 1;
}

/*
 * A subgroup of some nodes, or in place of another one, whose order it keeps. @rules: in force,
 * @next: those that are wanted
 */
static int add(struct sim *sim, const struct spindle_rules *rules, struct spindle_rules *next,
	       u32 id, u32 mode, bool replace)
{
	struct spindle_rule rule = {
		.cfg = {
			.id = id, .mode = mode, .window = sim->window, .ring = sim->ring,
			.max_msg = sim->max_msg, .hold = rng_chance(&sim->newer, 20),
		},
		.shards = some_shards(sim, id, mode), .min = 1 + rng_below(&sim->newer, 2),
		.all_send = rng_chance(&sim->newer, 50),
	};

	if (!rule.all_send || rng_chance(&sim->newer, 50))
		name_nodes(&rule, rng_u64(&sim->newer), rng_u64(&sim->newer));
	if (!rule.senders)
		rule.senders = 1;
	if (spindle_view_is_table(&rule.cfg))
		make_table(sim, &rule);
	logs_give(sim, &rule.cfg);
	return replace ? spindle_rules_replace(rules, next, &rule) :
			 spindle_rules_open(rules, next, &rule);
}

/* The subgroups that there are by these rules, as bits; each shard is one. */
static u64 ids_of(const struct spindle_rules *rules)
{
	u64 ids = 0;
	u32 g, s;

	for (g = 0; g < rules->num_rules; g++)
		for (s = 0; s < rules->rule[g].shards; s++)
			if (!(rules->rule[g].flags & SPINDLE_RULE_CLOSED))
				ids |= BIT_ULL(rules->rule[g].cfg.id + s);
	return ids;
}

/* The same without further shards. */
static u64 first_ids(const struct spindle_rules *rules)
{
	u64 ids = 0;
	u32 g;

	for (g = 0; g < rules->num_rules; g++)
		if (!(rules->rule[g].flags & SPINDLE_RULE_CLOSED))
			ids |= BIT_ULL(rules->rule[g].cfg.id);
	return ids;
}

/* How many subgroups have several shards by these rules? */
static u32 sharded(const struct spindle_rules *rules)
{
	u32 g, n = 0;

	for (g = 0; g < rules->num_rules; g++)
		n += rules->rule[g].shards > 1;
	return n;
}

static u32 mode_of(const struct spindle_rules *rules, u32 id)
{
	u32 g;

	for (g = 0; g < rules->num_rules; g++)
		if (rules->rule[g].cfg.id == id)
			return rules->rule[g].cfg.mode;
	return SPINDLE_MODE_ORDERED;
}

/*
 * Add, remove or replace one subgroup. Returns whether @next has changed: the same change may have
 * taken the spare, or may have changed the subgroup before. @ids: the subgroups that @next is to
 * have
 */
static bool change_one(struct sim *sim, const struct spindle_rules *rules,
		       struct spindle_rules *next, u64 *ids)
{
	u32 how = rng_below(&sim->newer, 3), id = any_id(sim, next), mode = mode_of(next, id);
	int err;

	if (!how && sim->ids + SIM_SHARDS - 1 < SIM_IDS) {
		id = sim->ids;
		sim->ids += SIM_SHARDS;
		mode = rng_chance(&sim->newer, 70) ? SPINDLE_MODE_ORDERED : SPINDLE_MODE_UNORDERED;
		mode = rng_chance(&sim->tables, 30) ? SPINDLE_MODE_TABLE : mode;
	} else if (!id) {
		return false;
	}
	err = how == 1 ? spindle_rules_close(rules, next, id) :
			 add(sim, rules, next, id, mode, how);
	sim_say(sim, "subgroup %u is to be %s: %s", id,
		!how ? "added" : how == 1 ? "removed" : "replaced",
		!err ? "wanted" : err == -ENOSPC ? "no spare" :
		err == -EOPNOTSUPP ? "refused, because it has logs" : "no such subgroup");
	if (!err)
		*ids = how == 1 ? *ids & ~BIT_ULL(id) : *ids | BIT_ULL(id);
	return !err;
}

/* Could the members agree on these rules? The module would refuse rules that are invalid. */
static void check_valid(struct sim *sim, const struct spindle_rules *rules,
			const struct spindle_rules *next)
{
	const char *wrong = spindle_rules_change(rules, next);
	struct spindle_rules real = *next;
	int fault;
	u32 g;

	if (wrong)
		sim_fail(sim, "members cannot agree on the wanted rules: %s", wrong);
	/* Rings are smaller here. */
	for (g = 0; g < real.num_rules; g++) {
		real.rule[g].cfg.ring *= SIM_SCALE;
		real.rule[g].room_ring *= SIM_SCALE;
	}
	wrong = spindle_rules_check(&real, &fault);
	if (wrong)
		sim_fail(sim, "rule %d of the wanted rules: %s", fault, wrong);
}

/*
 * The rules that the administrator wants have what was asked for, each subgroup once. A spare that
 * were taken twice would lose a subgroup.
 */
static void check_wanted(struct sim *sim, const struct spindle_rules *next, u64 ids)
{
	u64 first = first_ids(next);
	u32 g, n = 0;

	for (g = 0; g < next->num_rules; g++)
		n += !(next->rule[g].flags & SPINDLE_RULE_CLOSED);
	if (first != ids || n != hweight64(ids))
		sim_fail(sim, "the wanted rules have %u subgroups 0x%llx in place of 0x%llx", n,
			 (unsigned long long)first, (unsigned long long)ids);
}

/**
 * rules_want() - the administrator adds, removes or replaces one to three subgroups at once
 * @node: the node whose present rules the administrator begins with
 */
void rules_want(const struct node *node)
{
	struct sim *sim = node->sim;
	struct spindle_rules *next = &sim->wanted[sim->wants];
	u32 n = 1 + rng_below(&sim->newer, 3), made = 0;
	u64 ids = first_ids(node->rules);

	*next = *node->rules;
	/* The node lags. Its rules would add a subgroup a second time, from position 0. */
	if (ids_of(next) & sim->removed)
		return;
	while (n--)
		made += change_one(sim, node->rules, next, &ids);
	check_valid(sim, node->rules, next);
	check_wanted(sim, next, ids);
	sim->wants += made > 0;
}

/**
 * rules_offer() - a node may offer what the administrator wants, or take its offer back
 * @node: the node
 */
void rules_offer(struct node *node)
{
	struct sim *sim = node->sim;
	const struct spindle_rules *wanted;
	u64 digest;

	if (!sim->wants || sim->quiet || !node_up(node) || !node->mg.formed ||
	    node->offer_at > sim->now)
		return;
	node->offer_at = sim->now + rng_below(&sim->newer, 2 * SIM_INTERVAL);
	if (rng_chance(&sim->newer, 5)) {
		if (spindle_mb_offer(&node->mb, 0))
			node->offer = NULL;
		return;
	}
	wanted = &sim->wanted[sim->wants - 1];
	digest = spindle_rules_offer(wanted);
	if (ids_of(wanted) & sim->removed || digest == spindle_rules_offer(node->rules) ||
	    node->mb.rules == digest || spindle_rules_change(node->rules, wanted) ||
	    !spindle_mb_offer(&node->mb, digest))
		return;
	node->offer = wanted;
	sim_say(sim, "node %u offers rules %u", node->index, sim->wants);
}

/**
 * rules_layout() - the subgroups of the next view
 * @node: the node
 * @rules: digest of the rules that it has offered; 0: it keeps those that it has
 * @view: the present view
 * @next: in: members; out: subgroups
 *
 * Return: as spindle_rules_next()
 */
const char *rules_layout(const struct node *node, u64 rules, const struct spindle_view *view,
			 struct spindle_view *next)
{
	if (!rules)
		return spindle_rules_next(node->rules, view, next);
	if (!node->offer || spindle_rules_offer(node->offer) != rules) {
		sim_fail(node->sim, "node %u follows rules that it has not offered", node->index);
		return "no such rules";
	}
	return spindle_rules_next(node->offer, view, next);
}

/**
 * rules_install() - the next view begins, with the rules of its decree
 * @node: the node
 */
void rules_install(struct node *node)
{
	bool change = spindle_mb_own_decree(&node->mb)[SPINDLE_DECREE_RULES];

	if (change) {
		node->sim->sharded += sharded(node->offer);
		node->sim->removed |= ids_of(node->rules) & ~ids_of(node->offer);
		node->rules = node->offer;
	}
	node->sim->rules_changed += change;
	node->sim->rules_unmet += !change && node->offer;
	node->offer = NULL;
}

/**
 * rules_adopted() - count a takeover that adopts a decree with other rules
 * @node: the node, after a pass of its membership
 * @ballot: that it had accepted before the pass
 *
 * The leader has accepted the decree itself, or another member that is alive shows it.
 */
void rules_adopted(struct node *node, u32 ballot)
{
	const struct spindle_mb *mb = &node->mb;
	bool shown = ballot;
	u32 r;

	if (mb->state != SPINDLE_MB_ECHOED || mb->ballot != mb->me + 1 || mb->ballot == ballot ||
	    mb->learned || !spindle_mb_own_decree(mb)[SPINDLE_DECREE_RULES])
		return;
	for (r = 0; r < spindle_mb_view(mb)->num_members; r++)
		shown |= r != mb->me && !(mb->suspected & BIT_ULL(r)) && mb->peer[r].ballot &&
			 mb->peer[r].digest == mb->digest;
	node->sim->rules_adopted += shown;
}
