// SPDX-License-Identifier: GPL-2.0-only
/* Rules: which node is in which subgroup of a live view. See rules.h. */
#include "membership.h"
#include "rules.h"

/* Entry of a node in a rule's list, or -1. */
static int entry_of(const struct spindle_rule *rule, u32 id)
{
	u32 i;

	for (i = 0; i < rule->num_nodes; i++)
		if (rule->node[i] == id)
			return i;
	return -1;
}

/**
 * spindle_rules_witness() - is a node a member that is in no subgroup?
 * @rules: rules
 * @id: its id, not 0
 *
 * Return: true if so
 */
bool spindle_rules_witness(const struct spindle_rules *rules, u32 id)
{
	u32 i;

	for (i = 0; i < SPINDLE_MAX_WITNESSES; i++)
		if (rules->witness[i] == id)
			return true;
	return false;
}

static bool is_closed(const struct spindle_rule *rule)
{
	return rule->flags & SPINDLE_RULE_CLOSED;
}

static bool is_spare(const struct spindle_rule *rule)
{
	return rule->flags & SPINDLE_RULE_SPARE;
}

/* Is a rule a spare that holds nothing? */
static bool is_free(const struct spindle_rule *rule)
{
	return is_spare(rule) && is_closed(rule) && rule->shards;
}

/* Does a spare hold a further shard of the subgroup in front of it? */
static bool is_absorbed(const struct spindle_rule *rule)
{
	return is_spare(rule) && is_closed(rule) && !rule->shards;
}

/* Indexes of the view that a rule has had since the first view, whatever is in a spare now. */
static u32 places(const struct spindle_rule *rule)
{
	return is_spare(rule) ? 1 : rule->shards;
}

/* Rules that a subgroup takes, with the spares that it has absorbed. */
static u32 width(const struct spindle_rule *rule)
{
	return is_spare(rule) ? rule->shards : 1;
}

/* Does a rule name a node, or all but witnesses? A closed rule may name nodes, too. */
static bool names(const struct spindle_rules *rules, const struct spindle_rule *rule, u32 id)
{
	if (spindle_rules_witness(rules, id))
		return false;
	return !rule->num_nodes || entry_of(rule, id) >= 0;
}

static bool may_be_in(const struct spindle_rules *rules, const struct spindle_rule *rule, u32 id)
{
	return !is_closed(rule) && names(rules, rule, id);
}

static bool may_send(const struct spindle_rule *rule, u32 id)
{
	int i = entry_of(rule, id);

	return rule->all_send || (i >= 0 && (rule->senders & BIT_ULL(i)));
}

/* Is there a subgroup of this rule that has logs? */
static bool is_logged(const struct spindle_rule *rule)
{
	return !is_closed(rule) && rule->cfg.log;
}

static bool has_logs(const struct spindle_rules *rules)
{
	u32 i;

	for (i = 0; i < rules->num_rules; i++)
		if (is_logged(&rules->rule[i]))
			return true;
	return false;
}

static bool is_table(const struct spindle_rule *rule)
{
	return spindle_view_is_table(&rule->cfg);
}

/* Does a member write messages, or cells? */
static bool writes(const struct spindle_rule *rule, u32 id)
{
	return is_table(rule) || may_send(rule, id);
}

/* Has the row of @writer at @holder room for a rule's rings, whether it is closed or not? */
static bool has_room(const struct spindle_rules *rules, const struct spindle_rule *rule,
		     u32 writer, u32 holder)
{
	if (is_spare(rule))
		return !spindle_rules_witness(rules, writer) &&
		       !spindle_rules_witness(rules, holder);
	return names(rules, rule, writer) && names(rules, rule, holder) && writes(rule, writer);
}

/* Put the headers of one subgroup of a rule into a row, or the block of a table. */
static u64 put_hdr(struct spindle_layout *lo, const struct spindle_rule *rule, u32 index, u64 at)
{
	/* A table may come into a spare. So its block is aligned there, and takes two headers. */
	if (is_spare(rule))
		return spindle_layout_hdr(lo, index, ALIGN(at, sizeof(struct spindle_block)),
					  max_t(u32, rule->room_window, 2));
	if (is_table(rule))
		return spindle_layout_table(lo, index, at);
	return spindle_layout_hdr(lo, index, at, rule->cfg.window);
}

static u32 room_ring(const struct spindle_rule *rule)
{
	return is_spare(rule) ? rule->room_ring : rule->cfg.ring;
}

/* Each witness once, and none behind the end of the list. */
static const char *check_witnesses(const struct spindle_rules *rules)
{
	u32 i, j;

	for (i = 1; i < SPINDLE_MAX_WITNESSES; i++) {
		if (rules->witness[i] && !rules->witness[i - 1])
			return "node ids start at 1";
		for (j = 0; j < i; j++)
			if (rules->witness[i] && rules->witness[i] == rules->witness[j])
				return "a witness is given twice";
	}
	return NULL;
}

/* A spare that is closed has nothing but its room, and counts one shard at most. */
static bool is_empty(const struct spindle_rule *rule)
{
	struct spindle_rule empty = {
		.shards = !!rule->shards,
		.flags = rule->flags,
		.room_window = rule->room_window,
		.room_ring = rule->room_ring,
	};

	return !memcmp(rule, &empty, sizeof(empty));
}

static bool fits_into(const struct spindle_rule *rule, const struct spindle_rule *spare)
{
	return rule->cfg.window <= spare->room_window && rule->cfg.ring <= spare->room_ring;
}

static const char *check_room(const struct spindle_rule *rule)
{
	u32 window = rule->room_window, ring = rule->room_ring;

	if (rule->flags & ~(SPINDLE_RULE_SPARE | SPINDLE_RULE_CLOSED))
		return "a rule has unknown flags";
	if (!is_spare(rule))
		return window || ring ? "only a spare has room for other subgroups" : NULL;
	if (!window || window > SPINDLE_MAX_WINDOW || !is_power_of_2(window))
		return "a spare's window is a power of two from 1 to 65536";
	if (ring < SPINDLE_PAGE || ring > SPINDLE_MAX_RING || !is_power_of_2(ring))
		return "a spare's ring is a power of two from 4096 to 2^30";
	if (fits_into(rule, rule))
		return NULL;
	if (is_table(rule))
		return "a table has at most as many cells as a spare's window, and fits its ring";
	return "a subgroup that is added has at most the window and the ring of a spare";
}

/* A subgroup has senders. A table has neither senders nor what else only messages have. */
static const char *check_senders(const struct spindle_rule *rule)
{
	bool any = rule->all_send || rule->senders;

	if (!is_table(rule))
		return any ? NULL : "a subgroup has at least one sender";
	if (any)
		return "a table has no senders: each member writes its row";
	if (rule->on_exit != SPINDLE_ON_EXIT_DISCARD)
		return "a table has no readers, so on-exit is discard (0)";
	return NULL;
}

static const char *check_rule(const struct spindle_rules *rules, const struct spindle_rule *rule)
{
	const char *err = check_room(rule);
	u32 i, j;

	if (err)
		return err;
	if (is_spare(rule) && is_closed(rule))
		return is_empty(rule) ? NULL : "a spare that is closed has no subgroup";

	if (!rule->shards || rule->shards > SPINDLE_MAX_SUBGROUPS)
		return "shards is 1 to 64";
	if (rule->cfg.id > U32_MAX - (rule->shards - 1))
		return "the ids of the shards do not fit into 32 bits";
	if (!rule->min || rule->min > SPINDLE_MAX_MEMBERS)
		return "min is 1 to 64";
	if (rule->on_exit > SPINDLE_ON_EXIT_LEAVE)
		return "on-exit is discard (0) or leave (1)";
	if (rule->num_nodes > SPINDLE_MAX_MEMBERS)
		return "a rule names at most 64 nodes";
	err = check_senders(rule);
	/* No view has a subgroup that is closed, but rows have room for it. */
	if (!err && is_closed(rule))
		err = spindle_view_check_sizes(&rule->cfg);
	if (err)
		return err;
	for (i = 0; i < rule->num_nodes; i++) {
		if (!rule->node[i])
			return "node ids start at 1";
		if (spindle_rules_witness(rules, rule->node[i]))
			return "a witness is in no subgroup";
		for (j = 0; j < i; j++)
			if (rule->node[i] == rule->node[j])
				return "a node is twice in a subgroup";
	}
	return NULL;
}

/*
 * Each further shard of a subgroup in a spare is in one of the spares behind it. No other spare is
 * absorbed, because each shard has to be at the index that has room for it.
 */
static const char *check_run(const struct spindle_rules *rules, u32 at)
{
	const struct spindle_rule *rule = &rules->rule[at];
	u32 i, end = at + width(rule);

	if (is_absorbed(rule))
		return at ? NULL : "a spare that is absorbed has a subgroup in front of it";
	for (i = at + 1; i < rules->num_rules && is_absorbed(&rules->rule[i]); i++)
		if (i < end && !fits_into(rule, &rules->rule[i]))
			return "each shard of a subgroup that is added fits into its spare";
	return i == end ? NULL : "a subgroup that is added takes one spare for each shard";
}

/**
 * spindle_rules_check() - are the rules valid?
 * @rules: the rules, from any source
 * @fault: out: index of the rule that the sentence is about, or -1
 *
 * The own numbers of a subgroup that is open are checked with the first view, or with the view that
 * a joiner is given: spindle_view_check().
 *
 * Return: NULL, or a sentence that names the limit that they break
 */
const char *spindle_rules_check(const struct spindle_rules *rules, int *fault)
{
	u32 subgroups = 0;
	const char *err;
	int i;

	*fault = -1;
	if (rules->timeout_ms < SPINDLE_MIN_TIMEOUT_MS ||
	    rules->timeout_ms > SPINDLE_MAX_TIMEOUT_MS)
		return "timeout-ms is 20 to 60000";
	if (!rules->max_nodes || rules->max_nodes > SPINDLE_MAX_MEMBERS)
		return "max-nodes is 1 to 64";
	if (rules->num_rules > SPINDLE_MAX_SUBGROUPS)
		return "a view has at most 64 subgroups";
	err = check_witnesses(rules);
	if (err)
		return err;
	for (*fault = 0; *fault < (int)rules->num_rules; ++*fault) {
		err = check_rule(rules, &rules->rule[*fault]);
		if (!err)
			err = check_run(rules, *fault);
		if (err)
			return err;
		subgroups += rules->rule[*fault].shards;
		if (subgroups > SPINDLE_MAX_SUBGROUPS)
			return "a view has at most 64 subgroups, shards included";
		for (i = 0; i < *fault && !is_closed(&rules->rule[*fault]); i++)
			if (!is_closed(&rules->rule[i]) &&
			    spindle_view_same_name(&rules->rule[i].cfg, &rules->rule[*fault].cfg))
				return "two subgroups have the same name";
	}
	*fault = -1;
	return NULL;
}

/* Where a node was, among the shards of a rule that begin at this index; or shards. */
static u32 shard_before(const struct spindle_view *view, u32 first, u32 shards, u32 id)
{
	int rank = view ? spindle_view_rank(view, id) : -1;
	u32 i;

	for (i = 0; rank >= 0 && i < shards; i++)
		if (view->subgroup[first + i].members & BIT_ULL(rank))
			return i;
	return shards;
}

static u32 smallest(const struct spindle_view_subgroup *sg, u32 shards)
{
	u32 i, at = 0;

	for (i = 1; i < shards; i++)
		if (hweight64(sg[i].members) < hweight64(sg[at].members))
			at = i;
	return at;
}

static u32 largest(const struct spindle_view_subgroup *sg, u32 shards)
{
	u32 i, at = 0;

	for (i = 1; i < shards; i++)
		if (hweight64(sg[i].members) > hweight64(sg[at].members))
			at = i;
	return at;
}

/*
 * Nodes stay where they are, and new ones go to the smallest shard. A node changes over once at
 * most, which tables rely on. Its new shard has @min members then, the node included, and gets
 * more of them only behind it. So the last one of more members is never the node.
 */
static void share_out(const struct spindle_rules *rules, const struct spindle_rule *rule,
		      const struct spindle_view *view, u32 first, struct spindle_view *next)
{
	struct spindle_view_subgroup *sg = &next->subgroup[first];
	u64 homeless = 0;
	u32 r, at;

	for (r = 0; r < next->num_members; r++) {
		if (!may_be_in(rules, rule, next->member[r].id))
			continue;
		at = shard_before(view, first, rule->shards, next->member[r].id);
		if (at < rule->shards)
			sg[at].members |= BIT_ULL(r);
		else
			homeless |= BIT_ULL(r);
	}
	for (; homeless; homeless &= homeless - 1)
		sg[smallest(sg, rule->shards)].members |= homeless & -homeless;
	/* A shard that has too few takes from one that can spare some. */
	for (;;) {
		u32 from = largest(sg, rule->shards), to = smallest(sg, rule->shards);
		u64 last;

		if (hweight64(sg[to].members) >= rule->min ||
		    hweight64(sg[from].members) <= rule->min)
			return;
		last = BIT_ULL(fls64(sg[from].members) - 1);
		sg[from].members &= ~last;
		sg[to].members |= last;
	}
}

/**
 * spindle_rules_apply() - the subgroups of a view
 * @rules: checked
 * @view: the view before, by the same rules; NULL for the first
 * @next: in: members; out: all subgroups of the rules, in the same order in all views; some of them
 *	may have no members or no senders; those of closed rules are all zero
 */
void spindle_rules_apply(const struct spindle_rules *rules, const struct spindle_view *view,
			 struct spindle_view *next)
{
	u32 i, s, at = 0;

	for (i = 0; i < rules->num_rules; i++) {
		const struct spindle_rule *rule = &rules->rule[i];

		for (s = 0; s < rule->shards; s++) {
			struct spindle_view_subgroup *sg = &next->subgroup[at + s];

			memset(sg, 0, sizeof(*sg));
			if (is_closed(rule))
				continue;
			*sg = rule->cfg;
			sg->id += s;
			sg->members = 0;
			sg->senders = 0;
		}
		if (!is_closed(rule))
			share_out(rules, rule, view, at, next);
		at += rule->shards;
	}
	next->num_subgroups = at;
	spindle_rules_senders(rules, next);
}

/**
 * spindle_rules_senders() - set the senders of a view's subgroups
 * @rules: checked
 * @view: in: members; out: senders
 */
void spindle_rules_senders(const struct spindle_rules *rules, struct spindle_view *view)
{
	u32 i, r;

	for (i = 0; i < view->num_subgroups; i++) {
		const struct spindle_rule *rule = spindle_rules_of(rules, i);
		struct spindle_view_subgroup *sg = &view->subgroup[i];

		sg->senders = 0;
		for (r = 0; r < view->num_members; r++)
			if ((sg->members & BIT_ULL(r)) && may_send(rule, view->member[r].id))
				sg->senders |= BIT_ULL(r);
	}
}

/**
 * spindle_rules_of() - the rule that a subgroup follows from
 * @rules: checked
 * @subgroup: index in the view
 *
 * Return: the rule
 */
const struct spindle_rule *spindle_rules_of(const struct spindle_rules *rules, u32 subgroup)
{
	const struct spindle_rule *rule = rules->rule;

	for (; subgroup >= rule->shards; rule++)
		subgroup -= rule->shards;
	return rule;
}

/* Are all nodes that may be in a rule's subgroups in one of them, and no others? */
static bool shards_fit(const struct spindle_rules *rules, const struct spindle_rule *rule,
		       const struct spindle_view *view, u32 first)
{
	u64 want = 0, seen = 0;
	u32 i;

	for (i = 0; i < view->num_members; i++)
		if (may_be_in(rules, rule, view->member[i].id))
			want |= BIT_ULL(i);
	for (i = 0; i < rule->shards; i++) {
		u64 members = view->subgroup[first + i].members;

		if (members & seen)
			return false;
		seen |= members;
	}
	return seen == want;
}

/**
 * spindle_rules_fit() - does a view follow these rules?
 * @rules: checked
 * @view: checked, with as many subgroups as the rules have
 *
 * The shard of a node depends on views before, and may be any.
 *
 * Return: true if so
 */
bool spindle_rules_fit(const struct spindle_rules *rules, const struct spindle_view *view)
{
	u32 i, at = 0;

	if (view->num_members > rules->max_nodes)
		return false;
	for (i = 0; i < rules->num_rules; i++) {
		if (!shards_fit(rules, &rules->rule[i], view, at))
			return false;
		at += rules->rule[i].shards;
	}
	return true;
}

/**
 * spindle_rules_next() - the subgroups of the view that follows
 * @rules: checked
 * @view: the view before, by the same rules
 * @next: in: members; out: subgroups, see spindle_rules_apply()
 *
 * Return: NULL, or why there can be no such view
 */
const char *spindle_rules_next(const struct spindle_rules *rules, const struct spindle_view *view,
			       struct spindle_view *next)
{
	if (next->num_members > rules->max_nodes)
		return SPINDLE_NO_ROOM;
	spindle_rules_apply(rules, view, next);
	return NULL;
}

/**
 * spindle_rules_enough() - has a subgroup the members that it needs?
 * @rules: checked
 * @view: a view by these rules
 * @subgroup: index
 *
 * Return: true if so, and if one of them sends or the subgroup is a table; or if there is no
 *	subgroup at this index
 */
bool spindle_rules_enough(const struct spindle_rules *rules, const struct spindle_view *view,
			  u32 subgroup)
{
	const struct spindle_rule *rule = spindle_rules_of(rules, subgroup);
	const struct spindle_view_subgroup *sg = &view->subgroup[subgroup];

	if (is_closed(rule))
		return true;
	return (sg->senders || spindle_view_is_table(sg)) && hweight64(sg->members) >= rule->min;
}

/**
 * spindle_rules_lacking() - a subgroup that has too few members
 * @rules: checked
 * @view: a view by these rules
 *
 * Return: index of the first, or -1
 */
int spindle_rules_lacking(const struct spindle_rules *rules, const struct spindle_view *view)
{
	u32 i;

	for (i = 0; i < view->num_subgroups; i++)
		if (!spindle_rules_enough(rules, view, i))
			return i;
	return -1;
}

static u32 rule_senders(const struct spindle_rules *rules, const struct spindle_rule *rule)
{
	u32 max = rule->num_nodes ? min(rule->num_nodes, rules->max_nodes) : rules->max_nodes;

	if (is_spare(rule))
		return rules->max_nodes;
	return rule->all_send ? max : min_t(u32, max, hweight64(rule->senders));
}

/**
 * spindle_rules_trims() - words of the largest trim that any view can have
 * @rules: checked
 *
 * Return: words
 */
u32 spindle_rules_trims(const struct spindle_rules *rules)
{
	u32 i, n = 0;

	/* A node is in one shard: all of them together have the senders of one subgroup. */
	for (i = 0; i < rules->num_rules; i++)
		n += rule_senders(rules, &rules->rule[i]);
	return n;
}

/* The zero byte behind the text counts, so that two texts are not taken for one. */
static void mix_text(u64 part[8], const char *text)
{
	do {
		part[6] = (u8)*text;
		part[7] = spindle_mix(part, 8);
	} while (*text++);
}

/**
 * spindle_rules_digest() - fingerprint of the rules
 * @rules: checked
 *
 * The digest guards against mistakes, not against forgery. The local policy hold is left out.
 *
 * Return: the digest
 */
u64 spindle_rules_digest(const struct spindle_rules *rules)
{
	u64 part[8] = { rules->timeout_ms, rules->max_nodes, rules->quorum, rules->num_rules };
	u32 i, n;

	static_assert(SPINDLE_MAX_WITNESSES == 4, "they fit into two words");
	part[4] = (u64)rules->witness[0] << 32 | rules->witness[1];
	part[5] = (u64)rules->witness[2] << 32 | rules->witness[3];
	part[7] = spindle_mix(part, 7);
	for (i = 0; i < rules->num_rules; i++) {
		const struct spindle_rule *rule = &rules->rule[i];

		part[0] = (u64)rule->cfg.id << 32 | rule->cfg.mode;
		part[1] = (u64)rule->cfg.window << 32 | rule->cfg.max_msg;
		part[2] = (u64)rule->cfg.ring << 32 | rule->shards;
		part[3] = (u64)rule->min << 32 | rule->on_exit << 1 | rule->all_send;
		part[4] = (u64)rule->cfg.min_copies << 32 | rule->num_nodes;
		part[5] = rule->senders;
		part[6] = (u64)rule->room_window << 32 | rule->room_ring;
		part[7] = spindle_mix(part, 8);
		part[6] = (u64)rule->cfg.log << 32 | rule->flags;
		part[7] = spindle_mix(part, 8);
		for (n = 0; n < rule->num_nodes; n++) {
			part[6] = rule->node[n];
			part[7] = spindle_mix(part, 8);
		}
		mix_text(part, rule->cfg.name);
		mix_text(part, rule->cfg.fields);
	}
	return part[7] ?: 1;
}

/**
 * spindle_rules_offer() - the name of rules in offers and decrees
 * @rules: checked
 *
 * Return: their digest without SPINDLE_MB_WANTS, not 0
 */
u64 spindle_rules_offer(const struct spindle_rules *rules)
{
	return spindle_rules_digest(rules) & ~SPINDLE_MB_WANTS ?: 2;
}

/* ---- other rules ---------------------------------------------------------- */

static_assert(sizeof(struct spindle_view_subgroup) ==
		      8 * sizeof(u32) + 3 * sizeof(u64) + SPINDLE_NAME_LEN + 8 +
			      SPINDLE_FIELDS_LEN + 1,
	      "no hole: rules are compared as bytes");
static_assert(sizeof(struct spindle_rule) ==
		      sizeof(struct spindle_view_subgroup) + sizeof(u64) +
			      (8 + SPINDLE_MAX_MEMBERS) * sizeof(u32),
	      "no hole: rules are compared as bytes");

/*
 * May a rule become another one? A subgroup is only opened, or closed. Both rules have been checked
 * among their neighbours, so a spare that is absorbed comes and goes with the subgroup in front.
 */
static bool may_become(const struct spindle_rule *rule, const struct spindle_rule *next)
{
	struct spindle_rule closed = *rule;

	if (!memcmp(rule, next, sizeof(*rule)))
		return true;
	if (!is_spare(rule)) {
		closed.flags |= SPINDLE_RULE_CLOSED;
		return !memcmp(next, &closed, sizeof(closed));
	}
	/* What a spare holds does not change. Members may still read what was there before. */
	return is_free(rule) != is_free(next) && is_spare(next) &&
	       rule->room_window == next->room_window && rule->room_ring == next->room_ring;
}

/*
 * Nodes restart a group from its logs only if all of them know the same subgroups with logs. A node
 * that is away does not hear of a change. So a group gets all its subgroups with logs at once, and
 * keeps them.
 */
static const char *check_logs(const struct spindle_rules *rules, const struct spindle_rules *next,
			      u32 at)
{
	bool was = is_logged(&rules->rule[at]), is = is_logged(&next->rule[at]);

	if (was && !is)
		return SPINDLE_NO_FEWER_LOGS;
	return is && !was && has_logs(rules) ? SPINDLE_NO_MORE_LOGS : NULL;
}

/**
 * spindle_rules_change() - may the members of a live view agree on other rules?
 * @rules: the present ones
 * @next: the other ones, checked
 *
 * Each member asks this of the rules that another member wants, so no member alone changes the
 * subgroups with logs.
 *
 * Return: NULL, or why they may not
 */
const char *spindle_rules_change(const struct spindle_rules *rules,
				 const struct spindle_rules *next)
{
	const char *err;
	u32 i;

	if (rules->timeout_ms != next->timeout_ms || rules->max_nodes != next->max_nodes ||
	    rules->quorum != next->quorum || rules->num_rules != next->num_rules ||
	    memcmp(rules->witness, next->witness, sizeof(rules->witness)))
		return "only the subgroups of a live view can change";
	for (i = 0; i < rules->num_rules; i++) {
		if (!may_become(&rules->rule[i], &next->rule[i]))
			return "a subgroup of a live view is added, removed, or replaced";
		err = check_logs(rules, next, i);
		if (err)
			return err;
	}
	return NULL;
}

/*
 * Does a subgroup fit into the spares that begin at this index, one for each shard? Members still
 * read and deliver what is in the place of a subgroup that the same change removes. So only spares
 * that are free before the change are taken.
 */
static bool fits(const struct spindle_rules *rules, const struct spindle_rules *next, u32 at,
		 const struct spindle_rule *rule)
{
	u32 i;

	for (i = at; i < at + rule->shards; i++)
		if (i >= next->num_rules || !is_free(&rules->rule[i]) || !is_free(&next->rule[i]) ||
		    !fits_into(rule, &next->rule[i]))
			return false;
	return true;
}

static u64 rings_of(const struct spindle_rule *spare, u32 shards)
{
	u64 bytes = 0;

	while (shards--)
		bytes += spare[shards].room_ring;
	return bytes;
}

/*
 * The smallest spares that a subgroup fits into, and of equal ones the first, or NULL. The spares
 * are neighbours, because the shards of a subgroup are neighbours in a view.
 */
static struct spindle_rule *find_spares(const struct spindle_rules *rules,
					struct spindle_rules *next, const struct spindle_rule *rule)
{
	struct spindle_rule *at = NULL;
	u32 i;

	for (i = 0; i < next->num_rules; i++)
		if (fits(rules, next, i, rule) &&
		    (!at || rings_of(&next->rule[i], rule->shards) < rings_of(at, rule->shards)))
			at = &next->rule[i];
	return at;
}

/**
 * spindle_rules_open() - add a subgroup to rules
 * @rules: the rules in force, checked
 * @next: those after the change; out: with the subgroup, not checked
 * @rule: the subgroup's rule, with 1 to 64 shards
 *
 * Return: 0; -ENOSPC if no spares are free that are large enough: for several shards, as many
 *	neighbours; -EOPNOTSUPP: it has logs, and so has a subgroup of the rules in force
 */
int spindle_rules_open(const struct spindle_rules *rules, struct spindle_rules *next,
		       const struct spindle_rule *rule)
{
	struct spindle_rule *at = find_spares(rules, next, rule);
	u32 window, ring, i;

	if (rule->cfg.log && has_logs(rules))
		return -EOPNOTSUPP;
	if (!at)
		return -ENOSPC;
	window = at->room_window;
	ring = at->room_ring;
	*at = *rule;
	at->flags = SPINDLE_RULE_SPARE;
	at->room_window = window;
	at->room_ring = ring;
	for (i = 1; i < at->shards; i++)
		at[i].shards = 0;
	return 0;
}

/*
 * The rule of a subgroup with this id, or of a shard with it, that the change has left as it was;
 * or NULL.
 */
static struct spindle_rule *find(const struct spindle_rules *rules, struct spindle_rules *next,
				 u32 id)
{
	u32 i;

	for (i = 0; i < next->num_rules; i++) {
		struct spindle_rule *rule = &next->rule[i];

		if (!is_closed(&rules->rule[i]) && !is_closed(rule) && id >= rule->cfg.id &&
		    id - rule->cfg.id < rule->shards)
			return rule;
	}
	return NULL;
}

static void free_spare(struct spindle_rule *rule)
{
	*rule = (struct spindle_rule){
		.shards = 1,
		.flags = SPINDLE_RULE_SPARE | SPINDLE_RULE_CLOSED,
		.room_window = rule->room_window,
		.room_ring = rule->room_ring,
	};
}

/* The spares of all shards are free again. Another rule keeps what its room follows from. */
static void close_rule(struct spindle_rule *rule)
{
	u32 shards = rule->shards;

	rule->flags |= SPINDLE_RULE_CLOSED;
	while (is_spare(rule) && shards--)
		free_spare(&rule[shards]);
}

/**
 * spindle_rules_free() - count the spares that are free
 * @rules: checked
 *
 * Return: how many
 */
u32 spindle_rules_free(const struct spindle_rules *rules)
{
	u32 i, n = 0;

	for (i = 0; i < rules->num_rules; i++)
		n += is_free(&rules->rule[i]);
	return n;
}

/**
 * spindle_rules_close() - remove a subgroup from rules
 * @rules: the rules in force, checked
 * @next: those after the change; out: without the subgroup and its shards
 * @id: the subgroup's id, or that of one of its shards
 *
 * Return: 0; -ENOENT if there is no such subgroup, or the same change has added or removed it;
 *	-EOPNOTSUPP: it has logs
 */
int spindle_rules_close(const struct spindle_rules *rules, struct spindle_rules *next, u32 id)
{
	struct spindle_rule *rule = find(rules, next, id);

	if (!rule)
		return -ENOENT;
	if (rule->cfg.log)
		return -EOPNOTSUPP;
	close_rule(rule);
	return 0;
}

/**
 * spindle_rules_replace() - put another subgroup in the place of the one of its id
 * @rules: the rules in force, checked
 * @next: those after the change; out: with the other subgroup, not checked
 * @rule: the subgroup's rule, with 1 to 64 shards
 *
 * Both are there when the spare is chosen, because a subgroup does not change where it is. Either
 * may have several shards. A position belongs to an id, so each id that both have goes on. What is
 * durable would not go on with it, because the other subgroup may have other members.
 *
 * Return: 0; -ENOENT as spindle_rules_close(), -ENOSPC as spindle_rules_open(), -EOPNOTSUPP: one of
 *	the two has logs
 */
int spindle_rules_replace(const struct spindle_rules *rules, struct spindle_rules *next,
			  const struct spindle_rule *rule)
{
	struct spindle_rule *old = find(rules, next, rule->cfg.id);
	int err;

	if (!old)
		return -ENOENT;
	if (old->cfg.log || rule->cfg.log)
		return -EOPNOTSUPP;
	err = spindle_rules_open(rules, next, rule);
	if (!err)
		close_rule(old);
	return err;
}

/**
 * spindle_rules_row() - lay out the row of one node as another holds it, in all views
 * @lo: out
 * @rules: checked
 * @writer: id of the row's owner
 * @holder: id of the node in whose memory the copy is; @writer for the own row
 *
 * The row has room for each subgroup that both may be members of and in which the owner may send,
 * for each table that both may be members of, for each spare if neither is a witness, and for
 * membership behind them.
 */
void spindle_rules_row(struct spindle_layout *lo, const struct spindle_rules *rules, u32 writer,
		       u32 holder)
{
	u64 at = 0;
	u32 i, n = 0, s;

	for (i = 0; i < rules->num_rules; i++)
		n += places(&rules->rule[i]);
	at = ALIGN(spindle_layout_log(n, n), SPINDLE_PAGE);
	lo->sst = at;
	for (i = 0, n = 0; i < rules->num_rules; i++) {
		const struct spindle_rule *rule = &rules->rule[i];
		bool room = has_room(rules, rule, writer, holder);

		for (s = 0; s < places(rule); s++, n++) {
			lo->hdr[n] = SPINDLE_NO_OFFSET;
			lo->pay[n] = SPINDLE_NO_OFFSET;
			if (room)
				at = put_hdr(lo, rule, n, at);
		}
	}
	lo->mb = ALIGN(at, sizeof(struct spindle_block));
	at = ALIGN(lo->mb + spindle_mb_row_bytes(spindle_rules_trims(rules)), SPINDLE_PAGE);
	for (i = 0, n = 0; i < rules->num_rules; i++) {
		for (s = 0; s < places(&rules->rule[i]); s++, n++) {
			if (lo->hdr[n] == SPINDLE_NO_OFFSET)
				continue;
			lo->pay[n] = at;
			at += room_ring(&rules->rule[i]);
		}
	}
	lo->size = at;
}
