// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules: which rules are valid, the place of each node in each view, and the layout of its row.
 */
#include "core/membership/membership.h"
#include "core/membership/rules.h"
#include "rng.h"
#include "tap.h"

static struct rng rng;

/* ---- valid rules ----------------------------------------------------------- */

/* Two rules, of which the second names three nodes; two of them may send. */
static void sample(struct spindle_rules *rules)
{
	static const struct spindle_rules good = {
		.timeout_ms = 500, .max_nodes = 6, .quorum = 1, .num_rules = 2,
		.rule[0] = {
			.cfg = { .id = 10, .window = 16, .max_msg = 100, .ring = 4096,
				 .name = "first" },
			.shards = 2, .min = 2, .all_send = 1,
		},
		.rule[1] = {
			.cfg = { .id = 20, .mode = SPINDLE_MODE_UNORDERED, .window = 4,
				 .max_msg = 64, .ring = 8192, .name = "second" },
			.shards = 1, .min = 1, .on_exit = SPINDLE_ON_EXIT_LEAVE,
			.num_nodes = 3, .node = { 3, 7, 5 }, .senders = 5,
		},
	};

	*rules = good;
}

struct limit {
	const char *name;
	void (*set)(struct spindle_rules *r);
	const char *text; /* NULL: the rules are valid */
	int fault;
};

static void witnesses(struct spindle_rules *r, u32 a, u32 b, u32 c, u32 d)
{
	const u32 id[SPINDLE_MAX_WITNESSES] = { a, b, c, d };

	memcpy(r->witness, id, sizeof(id));
}

#define LIMIT(what, text, fault, stmt) \
	static void what(struct spindle_rules *r) { stmt; } \
	static const struct limit limit_##what = { #what, what, text, fault }

#define TIMEOUT "timeout-ms is 20 to 60000"
#define MAX_NODES "max-nodes is 1 to 64"
#define SUBGROUPS "a view has at most 64 subgroups"
#define WITH_SHARDS SUBGROUPS ", shards included"
#define ON_EXIT "on-exit is discard (0) or leave (1)"
#define NODES "a rule names at most 64 nodes"
#define SHARDS "shards is 1 to 64"
#define IDS "the ids of the shards do not fit into 32 bits"
#define MIN "min is 1 to 64"
#define TABLE_EXIT "a table has no readers, so on-exit is discard (0)"
#define TABLE_SENDS "a table has no senders: each member writes its row"

LIMIT(as_they_are, NULL, -1, (void)r);
LIMIT(timeout_zero, TIMEOUT, -1, r->timeout_ms = 0);
LIMIT(timeout_below, TIMEOUT, -1, r->timeout_ms = SPINDLE_MIN_TIMEOUT_MS - 1);
LIMIT(timeout_min, NULL, -1, r->timeout_ms = SPINDLE_MIN_TIMEOUT_MS);
LIMIT(timeout_max, NULL, -1, r->timeout_ms = SPINDLE_MAX_TIMEOUT_MS);
LIMIT(timeout_above, TIMEOUT, -1, r->timeout_ms = SPINDLE_MAX_TIMEOUT_MS + 1);
LIMIT(max_nodes_zero, MAX_NODES, -1, r->max_nodes = 0);
LIMIT(max_nodes_one, NULL, -1, r->max_nodes = 1);
LIMIT(max_nodes_max, NULL, -1, r->max_nodes = SPINDLE_MAX_MEMBERS);
LIMIT(max_nodes_above, MAX_NODES, -1, r->max_nodes = SPINDLE_MAX_MEMBERS + 1);
LIMIT(no_rules, NULL, -1, r->num_rules = 0);
LIMIT(too_many_rules, SUBGROUPS, -1, r->num_rules = SPINDLE_MAX_SUBGROUPS + 1);
LIMIT(shards_zero, SHARDS, 0, r->rule[0].shards = 0);
LIMIT(shards_fill_it, NULL, -1, r->rule[0].shards = SPINDLE_MAX_SUBGROUPS - 1);
LIMIT(shards_too_many, WITH_SHARDS, 1, r->rule[0].shards = SPINDLE_MAX_SUBGROUPS);
LIMIT(shards_above, SHARDS, 0, r->rule[0].shards = SPINDLE_MAX_SUBGROUPS + 1);
LIMIT(shards_wrap, SHARDS, 1, r->rule[1].shards = U32_MAX);
LIMIT(id_last, NULL, -1, r->rule[0].cfg.id = U32_MAX - 1);
LIMIT(id_last_of_one, NULL, -1, r->rule[1].cfg.id = U32_MAX);
LIMIT(id_above, IDS, 0, r->rule[0].cfg.id = U32_MAX);
LIMIT(min_zero, MIN, 1, r->rule[1].min = 0);
LIMIT(min_max, NULL, -1, r->rule[1].min = SPINDLE_MAX_MEMBERS);
LIMIT(min_above, MIN, 1, r->rule[1].min = SPINDLE_MAX_MEMBERS + 1);
LIMIT(exit_unknown, ON_EXIT, 0, r->rule[0].on_exit = SPINDLE_ON_EXIT_LEAVE + 1);
LIMIT(too_many_nodes, NODES, 1, r->rule[1].num_nodes = SPINDLE_MAX_MEMBERS + 1);
LIMIT(nobody_sends, "a subgroup has at least one sender", 1, r->rule[1].senders = 0);
LIMIT(nobody_of_all_sends, "a subgroup has at least one sender", 0, r->rule[0].all_send = 0);
LIMIT(node_zero, "node ids start at 1", 1, r->rule[1].node[2] = 0);
LIMIT(node_max, NULL, -1, r->rule[1].node[2] = U32_MAX);
LIMIT(node_twice, "a node is twice in a subgroup", 1, r->rule[1].node[2] = 3);
LIMIT(witness, NULL, -1, witnesses(r, 4, 6, U32_MAX, 2));
LIMIT(witness_gap, "node ids start at 1", -1, witnesses(r, 4, 0, 0, 6));
LIMIT(witness_late, "node ids start at 1", -1, witnesses(r, 0, 4, 0, 0));
LIMIT(witness_twice, "a witness is given twice", -1, witnesses(r, 4, 6, 4, 0));
LIMIT(witness_named, "a witness is in no subgroup", 1, witnesses(r, 9, 7, 0, 0));
LIMIT(name_twice, "two subgroups have the same name", 1, strcpy(r->rule[1].cfg.name, "first"));
LIMIT(names_missing, NULL, -1, r->rule[0].cfg.name[0] = 0; r->rule[1].cfg.name[0] = 0);
LIMIT(node_in_both, NULL, -1, r->rule[0].num_nodes = 1; r->rule[0].node[0] = 3);

/* The second rule becomes a table. */
static struct spindle_rule *table(struct spindle_rules *r)
{
	struct spindle_rule *rule = &r->rule[1];
	bool of_cell;

	rule->cfg.mode = SPINDLE_MODE_TABLE;
	rule->senders = 0;
	rule->on_exit = SPINDLE_ON_EXIT_DISCARD;
	CHECK(!spindle_view_set_table(&rule->cfg, 5, 128, &of_cell));
	return rule;
}

LIMIT(table_as_it_is, NULL, -1, table(r));
LIMIT(table_read, NULL, -1, table(r)->cfg.mode = SPINDLE_MODE_TABLE_READ);
LIMIT(table_read_sends, TABLE_SENDS, 1, table(r)->cfg.mode = SPINDLE_MODE_TABLE_READ;
	r->rule[1].senders = 1);
LIMIT(table_of_all, NULL, -1, table(r)->num_nodes = 0);
LIMIT(table_sends, TABLE_SENDS, 1, table(r)->senders = 1);
LIMIT(table_all_send, TABLE_SENDS, 1, table(r)->all_send = 1);
LIMIT(table_shards, NULL, -1, table(r)->shards = 2);
LIMIT(table_no_shard, SHARDS, 1, table(r)->shards = 0);
LIMIT(table_shards_max, NULL, -1, table(r)->shards = SPINDLE_MAX_SUBGROUPS - 2);
LIMIT(table_shards_above, WITH_SHARDS, 1, table(r)->shards = SPINDLE_MAX_SUBGROUPS - 1);
LIMIT(table_shards_ids, IDS, 1, table(r)->shards = 3; r->rule[1].cfg.id = U32_MAX - 1);
LIMIT(table_exit, TABLE_EXIT, 1, table(r)->on_exit = SPINDLE_ON_EXIT_LEAVE);
LIMIT(table_closed_sends, TABLE_SENDS, 1, table(r)->senders = 1;
	r->rule[1].flags = SPINDLE_RULE_CLOSED);
LIMIT(table_name, "two subgroups have the same name", 1, strcpy(table(r)->cfg.name, "first"));

/* The second rule is closed. Rows keep its room, so its sizes count. */
static struct spindle_rule *closed(struct spindle_rules *r)
{
	struct spindle_rule *rule = &r->rule[1];

	rule->flags = SPINDLE_RULE_CLOSED;
	rule->cfg.window = 16;
	rule->cfg.ring = 65536;
	rule->cfg.max_msg = 100;
	return rule;
}

#define WINDOW "subgroup window is a power of two from 1 to 65536"
#define RING "subgroup ring is a power of two from 4096 to 2^30"
#define MODE "subgroup mode is ordered (0), unordered (1), table (2) or table-read (3)"
#define TABLE_RING "a table's ring is the smallest power of two that its cells fit into"

LIMIT(closed_as_it_is, NULL, -1, closed(r));
LIMIT(closed_window, WINDOW, 1, closed(r)->cfg.window = 1U << 31);
LIMIT(closed_ring, RING, 1, closed(r)->cfg.ring = 65537);
LIMIT(closed_mode, MODE, 1, closed(r)->cfg.mode = SPINDLE_MODE_TABLE_READ + 1);
LIMIT(closed_table, NULL, -1, table(r)->flags = SPINDLE_RULE_CLOSED);
LIMIT(closed_table_ring, TABLE_RING, 1, table(r)->cfg.ring *= 2;
	r->rule[1].flags = SPINDLE_RULE_CLOSED);

static void test_check(void)
{
	static const struct limit *const limits[] = {
		&limit_as_they_are, &limit_timeout_zero, &limit_timeout_below,
		&limit_timeout_min, &limit_timeout_max, &limit_timeout_above,
		&limit_max_nodes_zero, &limit_max_nodes_one, &limit_max_nodes_max,
		&limit_max_nodes_above, &limit_no_rules, &limit_too_many_rules,
		&limit_shards_zero, &limit_shards_fill_it, &limit_shards_too_many,
		&limit_shards_above, &limit_shards_wrap, &limit_id_last,
		&limit_id_last_of_one, &limit_id_above, &limit_min_zero, &limit_min_max,
		&limit_min_above, &limit_exit_unknown, &limit_too_many_nodes,
		&limit_nobody_sends, &limit_nobody_of_all_sends, &limit_node_zero,
		&limit_node_max, &limit_node_twice, &limit_node_in_both, &limit_name_twice,
		&limit_names_missing,
		&limit_witness, &limit_witness_gap, &limit_witness_late, &limit_witness_twice,
		&limit_witness_named, &limit_table_as_it_is, &limit_table_of_all,
		&limit_table_read, &limit_table_read_sends,
		&limit_table_sends, &limit_table_all_send, &limit_table_shards,
		&limit_table_no_shard, &limit_table_shards_max, &limit_table_shards_above,
		&limit_table_shards_ids,
		&limit_table_exit, &limit_table_closed_sends, &limit_table_name,
		&limit_closed_as_it_is, &limit_closed_window, &limit_closed_ring,
		&limit_closed_mode, &limit_closed_table, &limit_closed_table_ring,
	};
	struct spindle_rules *r = malloc(sizeof(*r));
	size_t i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		const struct limit *l = limits[i];
		const char *text;
		int fault = 77;

		sample(r);
		l->set(r);
		text = spindle_rules_check(r, &fault);
		if (!text != !l->text || (text && strcmp(text, l->text)))
			tap_fail("%s: %s", l->name, text ? text : "accepted");
		if (fault != l->fault)
			tap_fail("%s: about rule %d", l->name, fault);
	}
	free(r);
}

/* ---- places of nodes --------------------------------------------------------- */

static void set_members(struct spindle_view *v, u32 n, const u32 *id)
{
	u32 i;

	memset(v, 0, sizeof(*v));
	v->vid = 1;
	v->num_members = n;
	for (i = 0; i < n; i++)
		v->member[i].id = id[i];
}

static void test_all(void)
{
	struct spindle_rules *r = calloc(1, sizeof(*r));
	struct spindle_view *v = malloc(sizeof(*v));

	sample(r);
	r->num_rules = 1;
	r->rule[0].shards = 1;
	set_members(v, 3, (const u32[]){ 9, 4, 6 });
	spindle_rules_apply(r, NULL, v);
	CHECK_EQ(v->num_subgroups, 1);
	CHECK_EQ(v->subgroup[0].id, 10);
	CHECK_EQ(v->subgroup[0].window, 16);
	CHECK(!strcmp(v->subgroup[0].name, "first"));
	CHECK_EQ(v->subgroup[0].members, 7);
	CHECK_EQ(v->subgroup[0].senders, 7);
	free(v);
	free(r);
}

/* Nodes 3 and 5 may send, 7 may not; the order in the rule is not the one in the view. */
static void test_named(void)
{
	struct spindle_rules *r = calloc(1, sizeof(*r));
	struct spindle_view *v = malloc(sizeof(*v));

	sample(r);
	r->rule[0] = r->rule[1];
	r->num_rules = 1;
	set_members(v, 4, (const u32[]){ 5, 9, 7, 3 });
	spindle_rules_apply(r, NULL, v);
	CHECK_EQ(v->subgroup[0].members, 0xd);
	CHECK_EQ(v->subgroup[0].senders, 0x9);
	/* None of the named nodes is a member: the subgroup exists, and waits. */
	set_members(v, 1, (const u32[]){ 9 });
	spindle_rules_apply(r, NULL, v);
	CHECK_EQ(v->num_subgroups, 1);
	CHECK_EQ(v->subgroup[0].members, 0);
	CHECK_EQ(v->subgroup[0].senders, 0);
	CHECK_EQ(spindle_rules_lacking(r, v), 0);
	/* One named node is a member, but no sender. */
	set_members(v, 1, (const u32[]){ 7 });
	spindle_rules_apply(r, NULL, v);
	CHECK_EQ(v->subgroup[0].members, 1);
	CHECK(!spindle_rules_enough(r, v, 0));
	/* All named nodes may send. */
	r->rule[0].all_send = 1;
	spindle_rules_apply(r, NULL, v);
	CHECK_EQ(v->subgroup[0].senders, 1);
	CHECK(spindle_rules_enough(r, v, 0));
	CHECK_EQ(spindle_rules_lacking(r, v), -1);
	free(v);
	free(r);
}

/* Node 4 counts as a member of the view, and is in none of its subgroups. */
static void test_witness(void)
{
	struct spindle_rules *r = calloc(1, sizeof(*r));
	struct spindle_view *v = calloc(2, sizeof(*v));
	struct spindle_layout all, lo;

	sample(r);
	r->rule[0].min = 1;
	spindle_rules_row(&all, r, 4, 1);
	CHECK(all.hdr[0] != SPINDLE_NO_OFFSET && all.pay[1] != SPINDLE_NO_OFFSET);
	r->witness[0] = 8;
	r->witness[1] = 4;
	set_members(v, 3, (const u32[]){ 1, 4, 2 });
	spindle_rules_apply(r, NULL, v);
	CHECK_EQ(v->subgroup[0].members, 1);
	CHECK_EQ(v->subgroup[1].members, 4);
	CHECK_EQ(v->subgroup[0].senders | v->subgroup[1].senders, 5);
	CHECK(spindle_rules_fit(r, v));
	v->subgroup[0].members |= 2;
	CHECK(!spindle_rules_fit(r, v));
	/*
	 * A node that is alone with the witness has all shards, and they do not move to the
	 * witness.
	 */
	v->subgroup[0].members = 1;
	set_members(&v[1], 2, (const u32[]){ 4, 2 });
	spindle_rules_apply(r, v, &v[1]);
	CHECK_EQ(v[1].subgroup[0].members, 0);
	CHECK_EQ(v[1].subgroup[1].members, 2);
	/* The row of the witness has no rings. Its copies of the others' rows have none either. */
	spindle_rules_row(&lo, r, 4, 4);
	CHECK(lo.hdr[0] == SPINDLE_NO_OFFSET && lo.pay[1] == SPINDLE_NO_OFFSET);
	CHECK_EQ(lo.size, ALIGN(lo.mb + spindle_mb_row_bytes(spindle_rules_trims(r)),
				SPINDLE_PAGE));
	spindle_rules_row(&lo, r, 1, 4);
	CHECK(lo.hdr[1] == SPINDLE_NO_OFFSET && lo.pay[0] == SPINDLE_NO_OFFSET);
	CHECK(lo.size + 2 * r->rule[0].cfg.ring <= all.size);
	CHECK(spindle_rules_witness(r, 8) && !spindle_rules_witness(r, 1));
	free(v);
	free(r);
}

static void test_room(void)
{
	struct spindle_view *v = calloc(3, sizeof(*v));
	struct spindle_rules *r = calloc(1, sizeof(*r));

	sample(r);
	r->max_nodes = 3;
	set_members(&v[0], 2, (const u32[]){ 1, 2 });
	spindle_rules_apply(r, NULL, &v[0]);
	set_members(&v[1], 3, (const u32[]){ 1, 2, 3 });
	CHECK(!spindle_rules_next(r, &v[0], &v[1]));
	CHECK_EQ(v[1].num_subgroups, 3);
	set_members(&v[2], 4, (const u32[]){ 1, 2, 3, 4 });
	CHECK(!strcmp(spindle_rules_next(r, &v[1], &v[2]), SPINDLE_NO_ROOM));
	free(v);
	free(r);
}

static void test_shards(void)
{
	struct spindle_view *v = calloc(5, sizeof(*v));
	struct spindle_rules *r = calloc(1, sizeof(*r));

	sample(r);
	set_members(&v[0], 4, (const u32[]){ 1, 2, 3, 4 });
	spindle_rules_apply(r, NULL, &v[0]);
	CHECK_EQ(v[0].num_subgroups, 3);
	CHECK_EQ(v[0].subgroup[1].id, 11);
	CHECK_EQ(v[0].subgroup[2].id, 20);
	CHECK_EQ(v[0].subgroup[0].members, 5);
	CHECK_EQ(v[0].subgroup[1].members, 10);
	CHECK_EQ(v[0].subgroup[2].members, 4);
	CHECK(spindle_rules_of(r, 0) == &r->rule[0] && spindle_rules_of(r, 1) == &r->rule[0]);
	CHECK(spindle_rules_of(r, 2) == &r->rule[1]);
	CHECK_EQ(spindle_rules_lacking(r, &v[0]), -1);
	/* Two nodes join, one for each shard. The other nodes stay in their shards. */
	set_members(&v[1], 6, (const u32[]){ 1, 2, 3, 4, 5, 6 });
	spindle_rules_apply(r, &v[0], &v[1]);
	CHECK_EQ(v[1].subgroup[0].members, 0x15);
	CHECK_EQ(v[1].subgroup[1].members, 0x2a);
	/* One node leaves: the shards stay, and the ranks change. */
	set_members(&v[2], 5, (const u32[]){ 2, 3, 4, 5, 6 });
	spindle_rules_apply(r, &v[1], &v[2]);
	CHECK_EQ(v[2].subgroup[0].members, 0xa);	/* 3, 5 */
	CHECK_EQ(v[2].subgroup[1].members, 0x15);	/* 2, 4, 6 */
	/*
	 * Node 3 leaves, too. Its shard has one node left, and gets the last node of the other
	 * shard.
	 */
	set_members(&v[3], 4, (const u32[]){ 2, 4, 5, 6 });
	spindle_rules_apply(r, &v[2], &v[3]);
	CHECK_EQ(v[3].subgroup[0].members, 0xc);	/* 5, 6 */
	CHECK_EQ(v[3].subgroup[1].members, 0x3);	/* 2, 4 */
	/* Three nodes are not enough for both shards. The shard with enough nodes keeps them. */
	set_members(&v[4], 3, (const u32[]){ 2, 4, 5 });
	spindle_rules_apply(r, &v[3], &v[4]);
	CHECK_EQ(v[4].subgroup[0].members, 0x4);
	CHECK_EQ(v[4].subgroup[1].members, 0x3);
	CHECK(!spindle_rules_enough(r, &v[4], 0));
	CHECK(spindle_rules_enough(r, &v[4], 1));
	CHECK_EQ(spindle_rules_lacking(r, &v[4]), 0);
	free(v);
	free(r);
}

/* ---- at random ------------------------------------------------------------- */

#define IDS_USED 24U

static void random_rule(struct spindle_rule *rule, u32 id, u32 shards)
{
	u32 i, n;

	memset(rule, 0, sizeof(*rule));
	rule->cfg.id = id;
	rule->cfg.mode = rng_below(&rng, 2);
	rule->cfg.window = 1U << rng_below(&rng, 8);
	rule->cfg.ring = 4096U << rng_below(&rng, 3);
	rule->cfg.max_msg = 1 + rng_below(&rng, 4096);
	rule->shards = shards;
	rule->min = 1 + rng_below(&rng, 4);
	rule->on_exit = rng_below(&rng, 2);
	rule->all_send = 1;
	if (rng_chance(&rng, 40))
		return;
	n = 1 + rng_below(&rng, IDS_USED);
	for (i = 0; i < n; i++) {
		u32 k = rng_below(&rng, i + 1);

		/* A shuffle of 1..n, spread over the range of ids. */
		rule->node[i] = rule->node[k];
		rule->node[k] = 1 + (i * 7) % IDS_USED;
	}
	rule->num_nodes = n;
	rule->senders = rng_u64(&rng) & (BIT_ULL(n) - 1);
	rule->all_send = !rule->senders || rng_chance(&rng, 30);
}

static bool is_table(const struct spindle_rule *rule)
{
	return spindle_view_is_table(&rule->cfg);
}

static void make_table(struct spindle_rule *rule)
{
	bool of_cell;

	rule->cfg.mode = rng_chance(&rng, 50) ? SPINDLE_MODE_TABLE : SPINDLE_MODE_TABLE_READ;
	rule->senders = 0;
	rule->all_send = 0;
	rule->on_exit = SPINDLE_ON_EXIT_DISCARD;
	CHECK(!spindle_view_set_table(&rule->cfg, 1 + rng_below(&rng, 100), 64, &of_cell));
}

static bool in_list(const struct spindle_rule *rule, u32 id)
{
	u32 i;

	for (i = 0; i < rule->num_nodes; i++)
		if (rule->node[i] == id)
			return true;
	return false;
}

static bool is_witness(const struct spindle_rules *r, u32 id)
{
	u32 i;

	for (i = 0; i < ARRAY_SIZE(r->witness); i++)
		if (r->witness[i] == id)
			return true;
	return false;
}

/* Take some of the nodes that no rule names as witnesses. */
static void random_witnesses(struct spindle_rules *r)
{
	u32 i, k, n = 0, most = rng_below(&rng, ARRAY_SIZE(r->witness) + 1);

	for (i = 0; i < 8 && n < most; i++) {
		u32 id = 1 + rng_below(&rng, IDS_USED);

		for (k = 0; k < r->num_rules && !in_list(&r->rule[k], id); k++)
			;
		if (k == r->num_rules && !is_witness(r, id))
			r->witness[n++] = id;
	}
}

static void random_rules(struct spindle_rules *r)
{
	u32 i, id = 1;
	int fault;

	memset(r, 0, sizeof(*r));
	r->timeout_ms = 20 + rng_below(&rng, 1000);
	r->max_nodes = 1 + rng_below(&rng, IDS_USED);
	r->quorum = rng_below(&rng, 2);
	r->num_rules = rng_below(&rng, 5);
	for (i = 0; i < r->num_rules; i++) {
		u32 shards = rng_chance(&rng, 50) ? 1 : 1 + rng_below(&rng, 5);

		random_rule(&r->rule[i], id, shards);
		if (rng_chance(&rng, 40))
			make_table(&r->rule[i]);
		id += shards + rng_below(&rng, 3);
	}
	random_witnesses(r);
	CHECK(!spindle_rules_check(r, &fault));
	CHECK_EQ(fault, -1);
}

/* Members of @old that stay, in their order, and some that come behind them. */
static void random_members(const struct spindle_rules *r, const struct spindle_view *old,
			   struct spindle_view *v)
{
	u32 i, stay = rng_chance(&rng, 70) ? 90 : 30, id[SPINDLE_MAX_MEMBERS], n = 0;
	bool there[IDS_USED + 1] = { false };

	for (i = 0; old && i < old->num_members; i++)
		if (rng_chance(&rng, stay)) {
			id[n++] = old->member[i].id;
			there[old->member[i].id] = true;
		}
	for (i = 0; i < IDS_USED && n < r->max_nodes; i++) {
		u32 k = 1 + rng_below(&rng, IDS_USED);

		if (!there[k] && rng_chance(&rng, 30)) {
			there[k] = true;
			id[n++] = k;
		}
	}
	if (!n)
		id[n++] = 1 + rng_below(&rng, IDS_USED);
	set_members(v, n, id);
	v->vid = old ? old->vid + 1 : 1;
}

static bool named(const struct spindle_rules *r, const struct spindle_rule *rule, u32 id)
{
	return !is_witness(r, id) && (!rule->num_nodes || in_list(rule, id));
}

static bool sends(const struct spindle_rule *rule, u32 id)
{
	u32 i;

	for (i = 0; i < rule->num_nodes; i++)
		if (rule->node[i] == id && (rule->senders >> i & 1))
			return true;
	return rule->all_send;
}

/* The shard of each node by id, or -1: a table with one line for each node. */
struct seats {
	int at[IDS_USED + 1];
};

static void seats_of(const struct spindle_view *v, u32 first, u32 shards, struct seats *s)
{
	u32 r, i;

	memset(s, 0xff, sizeof(*s));
	for (r = 0; r < v->num_members; r++)
		for (i = 0; i < shards; i++)
			if (v->subgroup[first + i].members >> r & 1) {
				CHECK_EQ(s->at[v->member[r].id], -1);
				s->at[v->member[r].id] = i;
			}
}

/* The shard with the fewest nodes, or with the most: the first one if there are several. */
static u32 extreme(const struct seats *s, u32 shards, bool most, u32 *count)
{
	u32 n[SPINDLE_MAX_SUBGROUPS] = { 0 }, i, at = 0;

	for (i = 1; i <= IDS_USED; i++)
		if (s->at[i] >= 0)
			n[s->at[i]]++;
	for (i = 1; i < shards; i++)
		if (most ? n[i] > n[at] : n[i] < n[at])
			at = i;
	*count = n[at];
	return at;
}

/*
 * The same from the table: first the nodes that were there, then the new ones, then those that have
 * to move.
 */
static u32 refer(const struct spindle_rules *rules, const struct spindle_rule *rule,
		 const struct seats *before, const struct spindle_view *v, struct seats *want)
{
	u32 few, many, moves = 0, r, to, from;

	memset(want, 0xff, sizeof(*want));
	for (r = 0; r < v->num_members; r++)
		want->at[v->member[r].id] = before->at[v->member[r].id];
	for (r = 0; r < v->num_members; r++) {
		u32 id = v->member[r].id;

		if (named(rules, rule, id) && want->at[id] < 0)
			want->at[id] = extreme(want, rule->shards, false, &few);
	}
	for (;;) {
		to = extreme(want, rule->shards, false, &few);
		from = extreme(want, rule->shards, true, &many);
		if (few >= rule->min || many <= rule->min)
			return moves;
		for (r = v->num_members; want->at[v->member[--r].id] != (int)from;)
			;
		want->at[v->member[r].id] = to;
		moves++;
	}
}

static void check_rule(const struct spindle_rules *rules, const struct spindle_rule *rule,
		       u32 first, const struct spindle_view *old, const struct spindle_view *v)
{
	struct seats before, have, want;
	u32 i, r, moves, moved = 0, all = 0, short_by = 0;

	memset(&before, 0xff, sizeof(before));
	if (old)
		seats_of(old, first, rule->shards, &before);
	seats_of(v, first, rule->shards, &have);
	moves = refer(rules, rule, &before, v, &want);
	CHECK(!memcmp(&have, &want, sizeof(have)));
	for (r = 0; r < v->num_members; r++) {
		u32 id = v->member[r].id;

		CHECK((have.at[id] >= 0) == named(rules, rule, id));
		moved += before.at[id] >= 0 && have.at[id] != before.at[id];
	}
	/* A node moves only if a shard has too few. */
	CHECK(moved <= moves);
	for (i = 0; i < rule->shards; i++) {
		const struct spindle_view_subgroup *sg = &v->subgroup[first + i];
		u32 n = hweight64(sg->members);

		CHECK(spindle_rules_of(rules, first + i) == rule);
		CHECK_EQ(sg->id, rule->cfg.id + i);
		CHECK_EQ(sg->window, rule->cfg.window);
		CHECK_EQ(sg->ring, rule->cfg.ring);
		CHECK_EQ(sg->mode, rule->cfg.mode);
		for (r = 0; r < v->num_members; r++)
			CHECK((sg->senders >> r & 1) == ((sg->members >> r & 1) &&
							 sends(rule, v->member[r].id)));
		CHECK(!(sg->members >> (v->num_members - 1) >> 1));
		CHECK(spindle_rules_enough(rules, v, first + i) ==
		      (n >= rule->min && (sg->senders || is_table(rule))));
		all += n;
		short_by += n < rule->min;
	}
	/* If there are enough nodes for all shards, each shard has enough. */
	if (all >= rule->shards * rule->min)
		CHECK_EQ(short_by, 0);
}

/* By rule and id: has the node changed over to another shard? */
struct moves {
	bool made[SPINDLE_MAX_SUBGROUPS][IDS_USED + 1];
	u32 n;
};

/* A node changes over once at most. So it never comes back to a shard that has its former row. */
static void check_moves(const struct spindle_rules *r, const struct spindle_view *old,
			const struct spindle_view *v, struct moves *moves)
{
	struct seats before, have;
	u32 i, id, at = 0;

	for (i = 0; i < r->num_rules; at += r->rule[i++].shards) {
		seats_of(old, at, r->rule[i].shards, &before);
		seats_of(v, at, r->rule[i].shards, &have);
		for (id = 1; id <= IDS_USED; id++) {
			bool *made = &moves->made[i][id];

			if (before.at[id] < 0 || have.at[id] < 0)
				*made = false;
			else if (before.at[id] != have.at[id] && *made)
				tap_fail("node %u changes over a second time", id);
			else if (before.at[id] != have.at[id])
				*made = ++moves->n;
		}
	}
}

static void check_view(const struct spindle_rules *r, const struct spindle_view *old,
		       const struct spindle_view *v)
{
	u32 i, at = 0, senders = 0;
	int lacks = -1;

	for (i = 0; i < r->num_rules; i++) {
		check_rule(r, &r->rule[i], at, old, v);
		at += r->rule[i].shards;
	}
	CHECK_EQ(v->num_subgroups, at);
	while (at--) {
		senders += hweight64(v->subgroup[at].senders);
		if (!spindle_rules_enough(r, v, at))
			lacks = at;
	}
	CHECK_EQ(spindle_rules_lacking(r, v), lacks);
	CHECK(senders <= spindle_rules_trims(r));
}

static void test_random(void)
{
	struct spindle_rules *r = malloc(sizeof(*r));
	struct spindle_view *v = malloc(3 * sizeof(*v));
	static struct moves moves;
	u32 i, n, k;

	for (i = 0; i < 400 && !tap_failures; i++) {
		struct spindle_view *old = NULL, *next = &v[0];

		random_rules(r);
		memset(moves.made, 0, sizeof(moves.made));
		for (n = 0; n < 12; n++) {
			random_members(r, old, next);
			v[2] = *next;
			/* The result must not depend on the old contents of the memory. */
			v[2].num_subgroups = rng_u64(&rng);
			for (k = 0; k < SPINDLE_MAX_SUBGROUPS; k++) {
				v[2].subgroup[k].members = rng_u64(&rng);
				v[2].subgroup[k].senders = rng_u64(&rng);
			}
			spindle_rules_apply(r, old, next);
			spindle_rules_apply(r, old, &v[2]);
			for (k = 0; k < next->num_subgroups; k++)
				CHECK(!memcmp(&next->subgroup[k], &v[2].subgroup[k],
					      sizeof(v[2].subgroup[k])));
			check_view(r, old, next);
			if (old)
				check_moves(r, old, next, &moves);
			old = next;
			next = old == &v[0] ? &v[1] : &v[0];
		}
	}
	CHECK(moves.n > 20);
	free(v);
	free(r);
}

/* The largest number of trims: each member counts once, and at most max_nodes count. */
static void test_trims(void)
{
	struct spindle_rules *r = calloc(1, sizeof(*r));

	CHECK_EQ(spindle_rules_trims(r), 0);
	sample(r);
	CHECK_EQ(spindle_rules_trims(r), 6 + 2);
	r->rule[1].all_send = 1;
	CHECK_EQ(spindle_rules_trims(r), 6 + 3);
	r->max_nodes = 1;
	CHECK_EQ(spindle_rules_trims(r), 2);
	r->rule[1].all_send = 0;
	CHECK_EQ(spindle_rules_trims(r), 2);
	/* A table has no messages. */
	table(r);
	CHECK_EQ(spindle_rules_trims(r), 1);
	free(r);
}

/* ---- rows -------------------------------------------------------------------- */

struct range {
	u64 from;
	u64 to;
};

static void take(struct range *ranges, u32 *n, const struct spindle_layout *lo, u64 from, u64 len)
{
	u32 i;

	CHECK(from + len <= lo->size);
	for (i = 0; i < *n; i++)
		if (from < ranges[i].to && ranges[i].from < from + len)
			tap_fail("%llu bytes at %llu overlap", (unsigned long long)len,
				 (unsigned long long)from);
	ranges[*n].from = from;
	ranges[(*n)++].to = from + len;
}

static void check_row(const struct spindle_rules *r, u32 writer, u32 holder)
{
	static struct range ranges[2 * SPINDLE_MAX_SUBGROUPS + 2];
	struct spindle_layout lo, again;
	u32 i, s, n = 0, at = 0, used = 0;

	memset(&lo, 0x5a, sizeof(lo));
	memset(&again, 0xa5, sizeof(again));
	spindle_rules_row(&lo, r, writer, holder);
	spindle_rules_row(&again, r, writer, holder);
	CHECK_EQ(lo.sst, again.sst);
	CHECK_EQ(lo.size, again.size);
	CHECK_EQ(lo.mb, again.mb);
	for (i = 0; i < r->num_rules; i++)
		n += r->rule[i].shards;
	CHECK_EQ(lo.sst % SPINDLE_PAGE, 0);
	CHECK_EQ(lo.size % SPINDLE_PAGE, 0);
	/* The node's block, and of each subgroup its block and its log block. */
	CHECK(lo.sst >= spindle_layout_log(n, n));
	CHECK_EQ(spindle_layout_log(n, n), (1 + 2 * n) * sizeof(struct spindle_block));
	take(ranges, &used, &lo, 0, lo.sst);
	CHECK_EQ(lo.mb % sizeof(struct spindle_block), 0);
	take(ranges, &used, &lo, lo.mb, spindle_mb_row_bytes(spindle_rules_trims(r)));
	for (i = 0; i < r->num_rules; i++) {
		const struct spindle_rule *rule = &r->rule[i];
		bool room = named(r, rule, writer) && named(r, rule, holder) &&
			    (is_table(rule) || sends(rule, writer));

		for (s = 0; s < rule->shards; s++, at++) {
			CHECK_EQ(lo.hdr[at], again.hdr[at]);
			CHECK_EQ(lo.pay[at], again.pay[at]);
			CHECK((lo.hdr[at] != SPINDLE_NO_OFFSET) == room);
			CHECK((lo.pay[at] != SPINDLE_NO_OFFSET) == room);
			if (!room || tap_failures)
				continue;
			CHECK_EQ(lo.hdr[at] % (is_table(rule) ? 64 : 32), 0);
			CHECK_EQ(lo.pay[at] % SPINDLE_PAGE, 0);
			if (is_table(rule)) {
				take(ranges, &used, &lo, lo.hdr[at], sizeof(struct spindle_block));
				take(ranges, &used, &lo, lo.pay[at], rule->cfg.ring);
				continue;
			}
			take(ranges, &used, &lo, spindle_layout_express(&lo, at),
			     sizeof(struct spindle_express) +
			     rule->cfg.window * sizeof(struct spindle_hdr));
			take(ranges, &used, &lo, lo.pay[at], rule->cfg.ring);
		}
	}
	/* The part that processes map has pages of its own. */
	for (i = 1; i < used; i++)
		CHECK(ranges[i].from >= lo.sst);
}

/* Each shard of a table given at birth has a place of its own in the rows of both shards' nodes. */
static void test_row_of_shards(void)
{
	struct spindle_rules *r = malloc(sizeof(*r));
	struct spindle_layout one, lo;
	u32 s;

	sample(r);
	table(r)->num_nodes = 0;
	spindle_rules_row(&one, r, 7, 5);
	r->rule[1].shards = 3;
	spindle_rules_row(&lo, r, 7, 5);
	for (s = 0; s < 3; s++) {
		CHECK_EQ(lo.hdr[2 + s] - lo.sst, one.hdr[2] - one.sst + s * 64);
		CHECK_EQ(lo.pay[2 + s] - lo.pay[2], s * 4096);
	}
	CHECK_EQ(lo.size, one.size + 2 * 4096);
	check_row(r, 7, 5);
	check_row(r, 7, 7);
	/* So many blocks have a second page. */
	r->rule[1].shards = SPINDLE_MAX_SUBGROUPS - 2;
	check_row(r, 7, 5);
	free(r);
}

/* A table given at birth takes 64 bytes, and its cells, in the rows of all that may be members. */
static void test_row_of_table(void)
{
	struct spindle_rules *r = malloc(sizeof(*r));
	struct spindle_layout lo, without;

	sample(r);
	r->rule[0].all_send = 0;
	r->rule[0].senders = 1;
	r->rule[0].num_nodes = 1;
	r->rule[0].node[0] = 3;
	spindle_rules_row(&without, r, 7, 5);
	CHECK(without.hdr[2] == SPINDLE_NO_OFFSET);
	table(r);
	/* Node 7 did not send. */
	spindle_rules_row(&lo, r, 7, 5);
	CHECK_EQ(lo.hdr[2], lo.sst);
	CHECK_EQ(lo.mb, without.mb + sizeof(struct spindle_block));
	CHECK_EQ(lo.size, lo.pay[2] + 4096);
	spindle_rules_row(&lo, r, 7, 9);
	CHECK(lo.hdr[2] == SPINDLE_NO_OFFSET && lo.pay[2] == SPINDLE_NO_OFFSET);
	spindle_rules_row(&lo, r, 9, 7);
	CHECK(lo.hdr[2] == SPINDLE_NO_OFFSET && lo.pay[2] == SPINDLE_NO_OFFSET);
	free(r);
}

static void test_row(void)
{
	struct spindle_rules *r = malloc(sizeof(*r));
	struct spindle_layout lo;
	u32 i, k;

	sample(r);
	/*
	 * Node 9 is only in the first rule. In the second one nodes 3 and 5 send, and 7 does not.
	 */
	spindle_rules_row(&lo, r, 3, 7);
	CHECK(lo.hdr[0] != SPINDLE_NO_OFFSET && lo.hdr[1] != SPINDLE_NO_OFFSET);
	CHECK(lo.hdr[2] != SPINDLE_NO_OFFSET);
	spindle_rules_row(&lo, r, 7, 3);
	CHECK(lo.hdr[1] != SPINDLE_NO_OFFSET && lo.hdr[2] == SPINDLE_NO_OFFSET);
	spindle_rules_row(&lo, r, 3, 9);
	CHECK(lo.hdr[2] == SPINDLE_NO_OFFSET);
	spindle_rules_row(&lo, r, 9, 3);
	CHECK(lo.hdr[2] == SPINDLE_NO_OFFSET);
	/* There are more blocks than fit into a page. */
	r->rule[0].shards = SPINDLE_MAX_SUBGROUPS - 1;
	check_row(r, 3, 5);
	for (i = 0; i < 500 && !tap_failures; i++) {
		random_rules(r);
		for (k = 0; k < 10; k++)
			check_row(r, 1 + rng_below(&rng, IDS_USED), 1 + rng_below(&rng, IDS_USED));
		k = 1 + rng_below(&rng, IDS_USED);
		check_row(r, k, k);
	}
	free(r);
}

/* ---- the digest ------------------------------------------------------------- */

#define FIELD(f) \
	{ #f, offsetof(struct spindle_rules, f), sizeof(((struct spindle_rules *)0)->f) }

struct field {
	const char *name;
	size_t at;
	size_t len;
};

/* The number of bits of the field that change the digest. @bits: the number of all its bits. */
static u32 flips(const struct field *f, u32 *bits)
{
	struct spindle_rules *r = malloc(sizeof(*r));
	u32 bit, n = 0;
	u64 before;

	sample(r);
	before = spindle_rules_digest(r);
	*bits = 8 * f->len;
	for (bit = 0; bit < *bits; bit++) {
		((u8 *)r)[f->at + bit / 8] ^= 1U << bit % 8;
		n += spindle_rules_digest(r) != before;
		((u8 *)r)[f->at + bit / 8] ^= 1U << bit % 8;
	}
	free(r);
	return n;
}

static void test_digest(void)
{
	static const struct field counts[] = {
		FIELD(timeout_ms), FIELD(max_nodes), FIELD(quorum), FIELD(rule[0].cfg.id),
		FIELD(rule[0].cfg.mode), FIELD(rule[0].cfg.window), FIELD(rule[0].cfg.max_msg),
		FIELD(rule[0].cfg.ring), FIELD(rule[0].senders), FIELD(rule[0].shards),
		FIELD(rule[0].min), FIELD(rule[1].cfg.id), FIELD(rule[1].cfg.mode),
		FIELD(rule[1].cfg.window), FIELD(rule[1].cfg.max_msg), FIELD(rule[1].cfg.ring),
		FIELD(rule[1].senders), FIELD(rule[1].shards), FIELD(rule[1].min),
		FIELD(rule[1].node[0]), FIELD(rule[1].node[2]), FIELD(witness),
		FIELD(rule[1].cfg.log), FIELD(rule[1].cfg.min_copies),
	};
	static const struct field ignored[] = {
		FIELD(rule[0].cfg.hold), FIELD(rule[1].cfg.hold),
		FIELD(rule[0].node[0]), FIELD(rule[1].node[3]), FIELD(rule[2].shards),
	};
	struct spindle_rules *r = malloc(sizeof(*r));
	struct spindle_rule rule;
	u64 before;
	size_t i;
	u32 bits;

	for (i = 0; i < ARRAY_SIZE(counts); i++)
		if (flips(&counts[i], &bits) != bits)
			tap_fail("digest does not cover %s", counts[i].name);
	for (i = 0; i < ARRAY_SIZE(ignored); i++)
		if (flips(&ignored[i], &bits))
			tap_fail("digest covers %s", ignored[i].name);
	/* Fields with only two values. */
	sample(r);
	before = spindle_rules_digest(r);
	r->rule[0].on_exit = SPINDLE_ON_EXIT_LEAVE;
	CHECK(spindle_rules_digest(r) != before);
	sample(r);
	r->rule[1].all_send = 1;
	CHECK(spindle_rules_digest(r) != before);
	/* Names and fields, up to their ends. */
	sample(r);
	r->rule[0].cfg.name[sizeof("first")] = 'x';
	CHECK_EQ(spindle_rules_digest(r), before);
	r->rule[0].cfg.name[sizeof("first") - 1] = 'x';
	CHECK(spindle_rules_digest(r) != before);
	sample(r);
	r->rule[1].cfg.name[0] = 'S';
	CHECK(spindle_rules_digest(r) != before);
	sample(r);
	r->rule[1].cfg.fields[1] = 'f';
	CHECK_EQ(spindle_rules_digest(r), before);
	r->rule[1].cfg.fields[0] = 'f';
	CHECK(spindle_rules_digest(r) != before);
	before = spindle_rules_digest(r);
	strcat(r->rule[1].cfg.name, "ff");
	memset(r->rule[1].cfg.fields, 0, sizeof(r->rule[1].cfg.fields));
	CHECK(spindle_rules_digest(r) != before);
	/* Counts, and the order. */
	sample(r);
	r->num_rules = 1;
	CHECK(spindle_rules_digest(r) != before);
	sample(r);
	r->rule[1].num_nodes = 2;
	CHECK(spindle_rules_digest(r) != before);
	sample(r);
	rule = r->rule[0];
	r->rule[0] = r->rule[1];
	r->rule[1] = rule;
	CHECK(spindle_rules_digest(r) != before);
	free(r);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "every limit is checked, and its reason has its name", test_check },
		{ "a rule without nodes is about all nodes", test_all },
		{ "a rule names nodes, and some of them send", test_named },
		{ "a witness is in no subgroup, and its rows have no rings", test_witness },
		{ "nodes stay in their shards, unless a shard has too few", test_shards },
		{ "a view has room for max-nodes members", test_room },
		{ "random rules over series of views", test_random },
		{ "the largest trim has its number of words", test_trims },
		{ "rows have room for any view, without overlap", test_row },
		{ "rows have room for tables", test_row_of_table },
		{ "rows have room for each shard of a table", test_row_of_shards },
		{ "digest: every field counts, except hold", test_digest },
	};

	rng = rng_seed();
	return tap_run(cases, ARRAY_SIZE(cases));
}
