// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cards: a joiner reads the card that a member writes, and refuses all other bytes. Lineages.
 */
#include "core/membership/card.h"
#include "tap.h"

/* Room for any card. The bytes behind a card's end stay as they are. */
static u64 room[16384];
static struct spindle_card *const card = (struct spindle_card *)room;
static struct spindle_view view;
static struct spindle_rules rules;
static const struct spindle_lineage lineage = { { 0x1111, 0x2222 }, 3 };

/* The part of a rule that a card has as it is in memory. */
#define RULE_BYTES offsetof(struct spindle_rule, cfg.fields)

#define SENSE "the contact's answer is malformed"
#define SELF "the contact's answer contradicts itself"
#define FIT "the contact's view does not follow its rules"
#define APART "another lineage of this cluster: a group that began separately"
#define HAS_ID "the view has a member with this id"
#define LENGTH "the contact's answer has the wrong length"

/*
 * Four members, of which 4 is a witness; two shards of all others, and a subgroup of nodes 3, 5
 * and 7, of which 5 sends.
 */
static void sample(void)
{
	static const struct spindle_rules good = {
		.timeout_ms = 500, .max_nodes = 6, .quorum = 1, .num_rules = 2,
		.witness = { 8, 4 },
		.rule[0] = {
			.cfg = { .id = 10, .window = 16, .max_msg = 100, .ring = 4096,
				 .hold = 1, .name = "first" },
			.shards = 2, .min = 2, .all_send = 1,
		},
		.rule[1] = {
			.cfg = { .id = 20, .window = 4, .max_msg = 64, .ring = 8192,
				 .name = "second" },
			.shards = 1, .min = 1,
			.num_nodes = 3, .node = { 3, 7, 5 }, .senders = 4,
		},
	};
	u32 i;

	rules = good;
	memset(&view, 0, sizeof(view));
	view.vid = 9;
	view.num_members = 4;
	for (i = 0; i < view.num_members; i++) {
		view.member[i].id = i + 2;
		view.member[i].addr.family = 4;
		view.member[i].addr.ip[0] = 10;
		view.member[i].addr.port = i + 1;
	}
	spindle_rules_apply(&rules, NULL, &view);
	for (i = 0; i < view.num_subgroups; i++)
		view.subgroup[i].former = 1000 * i;
	memset(room, 0xa5, sizeof(room));
	spindle_card_make(card, &view, &rules, &lineage, 3);
}

static u32 bytes(void)
{
	return spindle_card_bytes(&view, &rules);
}

/* The same, with a digest that matches the contents of the card. */
static const char *read_true(void)
{
	static struct spindle_rules r;
	static struct spindle_view v;
	const char *text = spindle_card_read(card, bytes(), &v, &r);

	if (text && strcmp(text, SELF))
		return text;
	card->digest = spindle_live_digest(&v, &r, &card->lineage);
	return spindle_card_read(card, bytes(), &v, &r);
}

static bool says(const char *want)
{
	const char *text = read_true();

	if (!text || strcmp(text, want))
		printf("# said: %s\n", text ? text : "nothing");
	return text && !strcmp(text, want);
}

static struct spindle_view_member *members(void)
{
	return (struct spindle_view_member *)(card + 1);
}

static struct spindle_card_subgroup *subgroups(void)
{
	return (struct spindle_card_subgroup *)(members() + view.num_members);
}

/* A rule as a card has it: up to its fields. */
static struct spindle_rule *card_rule(u32 i)
{
	return (void *)((char *)(subgroups() + view.num_subgroups) + i * RULE_BYTES);
}

static char *card_text(void)
{
	return (char *)card_rule(rules.num_rules);
}

static void test_there_and_back(void)
{
	static struct spindle_rules r;
	static struct spindle_view v;

	sample();
	CHECK_EQ(bytes(), sizeof(*card) + 4 * sizeof(*members()) + 3 * sizeof(*subgroups()) +
			  2 * RULE_BYTES + 8);
	CHECK(!spindle_card_read(card, bytes(), &v, &r));
	CHECK(!memcmp(&v, &view, sizeof(v)));
	CHECK(!memcmp(&r, &rules, sizeof(r)));
	CHECK_EQ(card->contact, 3);
	CHECK(!memcmp(&card->lineage, &lineage, sizeof(lineage)));
	CHECK_EQ(card->digest, spindle_live_digest(&view, &rules, &lineage));
	CHECK_EQ(((u8 *)room)[bytes()], 0xa5);
	CHECK(bytes() < spindle_card_max());
}

static void test_length(void)
{
	static struct spindle_rules r;
	static struct spindle_view v;
	u32 i;

	sample();
	for (i = 0; i < bytes(); i += 4)
		CHECK(spindle_card_read(card, i, &v, &r));
	CHECK(!strcmp(spindle_card_read(card, bytes() + 8, &v, &r), LENGTH));
	card->members = SPINDLE_MAX_MEMBERS + 1;
	CHECK(says(LENGTH));
	sample();
	card->rules = U32_MAX;
	CHECK(says(LENGTH));
	sample();
	card->subgroups++;
	CHECK(says(LENGTH));
	/* These counts give the same length in 32 bits. */
	sample();
	card->members += 1U << 29;
	CHECK(says(LENGTH));
	sample();
	card->subgroups += 1U << 29;
	CHECK(says(LENGTH));
	sample();
	card->rules += 1U << 29;
	CHECK(says(LENGTH));
}

static void test_head(void)
{
	static struct spindle_rules r;
	static struct spindle_view v;

	sample();
	card->lineage = (struct spindle_lineage){};
	CHECK(says(SENSE));
	sample();
	card->lineage.word[1] ^= 1;
	CHECK(!strcmp(spindle_card_read(card, bytes(), &v, &r), SELF));
	CHECK(!read_true());
	sample();
	card->lineage.era++;
	CHECK(!strcmp(spindle_card_read(card, bytes(), &v, &r), SELF));
	CHECK(!read_true());
	sample();
	subgroups()[2].former++;
	CHECK(!strcmp(spindle_card_read(card, bytes(), &v, &r), SELF));
	CHECK(!read_true());
	sample();
	card->quorum = 2;
	CHECK(says(SENSE));
	sample();
	card->vid = 0;
	CHECK(says("view ids start at 1"));
	sample();
	card->witness[1] = 8;
	CHECK(says("a witness is given twice"));
	sample();
	card->witness[1] = 5;
	CHECK(says("a witness is in no subgroup"));
	sample();
	card->witness[1] = 0;
	CHECK(says(FIT));
	sample();
	card->max_nodes = 3;
	CHECK(says(FIT));
	sample();
	card->max_nodes = 4;
	CHECK(!read_true());
}

static void test_rules(void)
{
	static struct spindle_rules r;
	static struct spindle_view v;

	sample();
	card_rule(0)->all_send = 2;
	CHECK(says(SENSE));
	sample();
	card_rule(1)->cfg.hold = 2;
	CHECK(says(SENSE));
	/* A position, which only views have. */
	sample();
	card_rule(1)->cfg.former = 1;
	CHECK(says(SENSE));
	sample();
	card_rule(0)->shards = 3;
	CHECK(says(SELF));
	sample();
	card_rule(0)->cfg.ring = 5000;
	CHECK(says("subgroup ring is a power of two from 4096 to 2^30"));
	sample();
	memset(card_rule(0)->cfg.name, 'x', sizeof(rules.rule[0].cfg.name));
	CHECK(!read_true());
	CHECK(!spindle_card_read(card, bytes(), &v, &r));
	CHECK_EQ(r.rule[0].cfg.name[SPINDLE_NAME_LEN], 0);
	CHECK_EQ(v.subgroup[0].name[SPINDLE_NAME_LEN], 0);
}

/* The second rule of the card is a table. */
static struct spindle_rule *card_table(void)
{
	struct spindle_rule *rule;
	bool of_cell;

	sample();
	rule = card_rule(1);
	rule->cfg.mode = SPINDLE_MODE_TABLE;
	rule->senders = 0;
	subgroups()[2].former = 0;
	CHECK(!spindle_view_set_table(&rule->cfg, 5, 128, &of_cell));
	return rule;
}

static void test_table(void)
{
	static struct spindle_rules r;
	static struct spindle_view v;

	card_table();
	CHECK(!read_true());
	CHECK(!spindle_card_read(card, bytes(), &v, &r));
	CHECK_EQ(v.subgroup[2].members, BIT_ULL(1) | BIT_ULL(3));
	CHECK_EQ(v.subgroup[2].senders, 0);
	CHECK_EQ(spindle_view_cells(&v.subgroup[2]), 5);
	card_table()->senders = 4;
	CHECK(says("a table has no senders: each member writes its row"));
	card_table()->all_send = 1;
	CHECK(says("a table has no senders: each member writes its row"));
	card_table()->cfg.window = SPINDLE_MAX_CELLS + 1;
	CHECK(says("a table has 1 to 1024 cells"));
	card_table()->cfg.max_msg = 32;
	CHECK(says("a table's cell is a power of two from 64 to 4096 bytes"));
	card_table()->cfg.window = 1024;
	CHECK(says("the cells of a table's row have 65536 bytes at most"));
	card_table()->cfg.ring = 8192;
	CHECK(says("a table's ring is the smallest power of two that its cells fit into"));
	card_table()->cfg.hold = 1;
	CHECK(says("a table holds no messages"));
	card_table();
	subgroups()[2].former = 1;
	CHECK(says("a table has no position"));
	card_table()->cfg.mode = SPINDLE_MODE_TABLE_READ;
	CHECK(!read_true());
	CHECK(!spindle_card_read(card, bytes(), &v, &r));
	CHECK(spindle_view_is_read(&v.subgroup[2]));
	CHECK_EQ(v.subgroup[2].senders, 0);
	card_table()->cfg.mode = SPINDLE_MODE_TABLE_READ + 1;
	CHECK(says("a subgroup has at least one sender"));
}

/* A subgroup with a log is ordered, and no table. */
static void test_log(void)
{
	static struct spindle_rules r;
	static struct spindle_view v;

	sample();
	card_rule(1)->cfg.log = SPINDLE_LOGGED_ALL;
	card_rule(1)->cfg.min_copies = SPINDLE_MAX_MEMBERS;
	CHECK(!read_true());
	CHECK(!spindle_card_read(card, bytes(), &v, &r));
	CHECK_EQ(v.subgroup[2].log, SPINDLE_LOGGED_ALL);
	CHECK_EQ(v.subgroup[2].min_copies, SPINDLE_MAX_MEMBERS);
	CHECK_EQ(v.subgroup[1].log, 0);
	CHECK_EQ(v.subgroup[1].min_copies, 0);
	card_rule(1)->cfg.min_copies++;
	CHECK(says("min-copies is 1 to 64, or 0 for the default"));
	sample();
	card_rule(1)->cfg.log = SPINDLE_LOGGED_ALL + 1;
	CHECK(says("a log has unknown settings"));
	sample();
	card_rule(1)->cfg.log = SPINDLE_LOGGED_MAJORITY;
	CHECK(says("ack, deliver and min-copies are settings of a subgroup with a log"));
	sample();
	card_rule(1)->cfg.min_copies = 1;
	CHECK(says("ack, deliver and min-copies are settings of a subgroup with a log"));
	sample();
	card_rule(1)->cfg.log = SPINDLE_LOGGED;
	card_rule(1)->cfg.mode = SPINDLE_MODE_UNORDERED;
	CHECK(says("only an ordered subgroup has a log: others have no positions in common"));
	card_table()->cfg.log = SPINDLE_LOGGED;
	CHECK(says("a table has no log"));
	card_table()->cfg.min_copies = 1;
	CHECK(says("a table has no log"));
}

/* A card with a table that has fields of @len characters. */
static void sample_fields(u32 len)
{
	bool of_cell;

	sample();
	rules.rule[1].cfg.mode = SPINDLE_MODE_TABLE;
	rules.rule[1].senders = 0;
	memset(rules.rule[1].cfg.fields, 'f', len);
	CHECK(!spindle_view_set_table(&rules.rule[1].cfg, 5, 128, &of_cell));
	spindle_rules_apply(&rules, NULL, &view);
	memset(room, 0xa5, sizeof(room));
	spindle_card_make(card, &view, &rules, &lineage, 3);
}

/* A card has the fields of each rule behind all rules, and no room for what is not there. */
static void test_fields(void)
{
	static const u32 text[][2] = { { 0, 8 }, { 6, 8 }, { 7, 16 }, { SPINDLE_FIELDS_LEN, 264 } };
	static struct spindle_rules r;
	static struct spindle_view v;
	u32 i;

	for (i = 0; i < ARRAY_SIZE(text); i++) {
		sample_fields(text[i][0]);
		CHECK_EQ(card->text, text[i][1]);
		CHECK_EQ(((u8 *)room)[bytes()], 0xa5);
		CHECK(!spindle_card_read(card, bytes(), &v, &r));
		CHECK(!memcmp(&v, &view, sizeof(v)));
		CHECK(!memcmp(&r, &rules, sizeof(r)));
		CHECK_EQ(strlen(v.subgroup[2].fields), text[i][0]);
	}
	sample_fields(3);
	card_text()[2] = 'g';
	CHECK(!strcmp(spindle_card_read(card, bytes(), &v, &r), SELF));
	CHECK(!read_true());
}

/* A liar's text: it does not end, ends late, has more than the fields, or belongs to no table. */
static void test_wrong_fields(void)
{
	static struct spindle_rules r;
	static struct spindle_view v;
	struct spindle_card *copy;

	sample_fields(6);
	card_text()[7] = 'f';
	/* AddressSanitizer sees what is read behind the end. */
	copy = malloc(bytes());
	memcpy(copy, card, bytes());
	CHECK(!strcmp(spindle_card_read(copy, bytes(), &v, &r), SENSE));
	free(copy);
	sample_fields(SPINDLE_FIELDS_LEN);
	card_text()[1 + SPINDLE_FIELDS_LEN] = 'f';
	CHECK(says(SENSE));
	sample_fields(3);
	card_text()[6] = 'f';
	CHECK(says(SENSE));
	sample_fields(3);
	memset(card_text(), 0, 16);
	card->text = 16;
	CHECK(!strcmp(spindle_card_read(card, bytes() + 8, &v, &r), SENSE));
	card->text = 5;
	CHECK(!strcmp(spindle_card_read(card, bytes() - 3, &v, &r), SENSE));
	card->text = 0;
	CHECK(!strcmp(spindle_card_read(card, bytes() - 8, &v, &r), SENSE));
	card->text = U32_MAX - 7;
	CHECK(!strcmp(spindle_card_read(card, bytes() - 16, &v, &r), LENGTH));
	sample_fields(3);
	card_text()[0] = 'f';
	card_text()[1] = 0;
	CHECK(says("only a table has fields"));
}

/* The members of each subgroup: shards may be any, all other subgroups must follow the rules. */
static void test_masks(void)
{
	sample();
	/* Nodes 2, 3, 4 and 5 are ranks 0 to 3. */
	CHECK_EQ(subgroups()[0].members | subgroups()[1].members, 11);
	CHECK_EQ(subgroups()[2].members, BIT_ULL(1) | BIT_ULL(3));
	subgroups()[0].members = 9;
	subgroups()[1].members = 2;
	CHECK(!read_true());
	subgroups()[1].members = 3;
	CHECK(says(FIT));
	subgroups()[1].members = 0;
	CHECK(says(FIT));
	subgroups()[1].members = 6;
	CHECK(says(FIT));
	sample();
	subgroups()[2].members |= 1;
	CHECK(says(FIT));
	sample();
	subgroups()[2].members = 2;
	CHECK(says(FIT));
	sample();
	subgroups()[0].members |= BIT_ULL(4);
	CHECK(says("a subgroup's nodes are members of the view"));
}

/* A member that wants other rules puts them into a card, whose view does not follow from them. */
static void test_wanted(void)
{
	static struct spindle_rules r;
	u32 i, n = bytes();

	sample();
	CHECK(!spindle_card_rules(card, n, &r));
	CHECK_EQ(spindle_rules_digest(&r), spindle_rules_digest(&rules));
	subgroups()[0].members = 0;
	CHECK(!spindle_card_rules(card, n, &r));
	for (i = 0; i < n; i++)
		CHECK(spindle_card_rules(card, i, &r));
	card_rule(0)->shards = 0;
	CHECK(spindle_card_rules(card, n, &r));
	sample();
	card->members = SPINDLE_MAX_MEMBERS + 1;
	CHECK(spindle_card_rules(card, n, &r));
}

/* The card has one subgroup of two shards in a spare, and the contact says something else. */
static void in_spares(void)
{
	sample();
	rules.rule[0].flags = SPINDLE_RULE_SPARE;
	rules.rule[0].room_window = 16;
	rules.rule[0].room_ring = 4096;
	rules.rule[1] = (struct spindle_rule){
		.flags = SPINDLE_RULE_SPARE | SPINDLE_RULE_CLOSED,
		.room_window = 16,
		.room_ring = 4096,
	};
	memset(view.subgroup, 0, sizeof(view.subgroup));
	spindle_rules_apply(&rules, NULL, &view);
	spindle_card_make(card, &view, &rules, &lineage, 3);
}

static void test_in_spares(void)
{
	static const char each[] = "a subgroup that is added takes one spare for each shard";
	static struct spindle_rules r;
	static struct spindle_view v;

	in_spares();
	CHECK_EQ(view.num_subgroups, 2);
	CHECK(!spindle_card_read(card, bytes(), &v, &r));
	CHECK(!memcmp(&v, &view, sizeof(v)));
	CHECK(!memcmp(&r, &rules, sizeof(r)));
	card_rule(1)->shards = 1;
	CHECK(says(each));
	in_spares();
	card_rule(0)->shards = 1;
	CHECK(says(each));
	in_spares();
	card_rule(0)->shards = 3;
	CHECK(says(each));
	in_spares();
	card_rule(0)->flags = 0;
	card_rule(0)->room_window = 0;
	card_rule(0)->room_ring = 0;
	CHECK(says(each));
	in_spares();
	memcpy(card_rule(0), card_rule(1), RULE_BYTES);
	CHECK(says("a spare that is absorbed has a subgroup in front of it"));
	in_spares();
	card_rule(1)->room_window = 8;
	CHECK(says("each shard of a subgroup that is added fits into its spare"));
}

static void test_admits(void)
{
	const struct spindle_lineage none = {};
	struct spindle_lineage want = lineage;
	struct spindle_view_member self;
	bool final = false;

	sample();
	rules.max_nodes = view.num_members + 1;
	self = view.member[1];
	/* The former life of this node is still a member: the node may ask again. */
	CHECK(!strcmp(spindle_card_admits(card, &view, &rules, &lineage, &self, &final), HAS_ID));
	CHECK(!final);
	self.addr.port++;
	CHECK(!strcmp(spindle_card_admits(card, &view, &rules, &lineage, &self, &final), HAS_ID));
	CHECK(final);
	self.id = 9;
	CHECK(!spindle_card_admits(card, &view, &rules, &lineage, &self, &final));
	CHECK(!spindle_card_admits(card, &view, &rules, &none, &self, &final));
	final = false;
	want.word[1]++;
	CHECK(!strcmp(spindle_card_admits(card, &view, &rules, &want, &self, &final), APART));
	CHECK(final);
	final = false;
	rules.max_nodes = view.num_members;
	CHECK(!strcmp(spindle_card_admits(card, &view, &rules, &lineage, &self, &final),
		      SPINDLE_NO_ROOM));
	CHECK(final);
}

static void test_era(void)
{
	static const struct spindle_view_member self = { .id = 99 };
	struct spindle_lineage want = lineage, other = lineage;
	bool final;

	sample();
	want.era = 2;
	CHECK(!spindle_card_admits(card, &view, &rules, &want, &self, &final));
	want.era = 4;
	CHECK(!strcmp(spindle_card_admits(card, &view, &rules, &want, &self, &final),
		      "an earlier era of this group, which has begun again since"));
	CHECK(final);
	/* A node that wants no lineage in particular wants no era either. */
	want = (struct spindle_lineage){ .era = 4 };
	CHECK(!spindle_card_admits(card, &view, &rules, &want, &self, &final));
	other.era = 0x104;
	CHECK(spindle_live_digest(&view, &rules, &other) !=
	      spindle_live_digest(&view, &rules, &lineage));
	CHECK_EQ(spindle_lineage_mark(&other) ^ spindle_lineage_mark(&lineage), 3 ^ 4);
	CHECK_EQ(spindle_lineage_mark(&lineage) & SPINDLE_MARK_ERA, 3);
}

static void test_lineage(void)
{
	struct spindle_lineage none = {}, a, b;
	u32 mark = spindle_lineage_mark(&lineage), i;

	CHECK(!spindle_lineage_given(&none));
	CHECK_EQ(spindle_lineage_mark(&none), 0);
	CHECK(mark);
	for (i = 0; i < 128; i++) {
		a = lineage;
		a.word[i / 64] ^= BIT_ULL(i % 64);
		CHECK(spindle_lineage_given(&a));
		CHECK(spindle_lineage_mark(&a) != mark);
		CHECK(spindle_live_digest(&view, &rules, &a) !=
		      spindle_live_digest(&view, &rules, &lineage));
	}
	a = (struct spindle_lineage){ { 0, 1 }, 0 };
	CHECK(spindle_lineage_given(&a));
	sample();
	spindle_lineage_of(&a, &view, &rules);
	CHECK(spindle_lineage_given(&a) && a.word[0] != a.word[1]);
	view.member[0].id = 99;
	spindle_lineage_of(&b, &view, &rules);
	CHECK(a.word[0] != b.word[0] && a.word[1] != b.word[1]);
	sample();
	rules.timeout_ms++;
	spindle_lineage_of(&b, &view, &rules);
	CHECK(a.word[0] != b.word[0] && a.word[1] != b.word[1]);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a card holds the view and the rules that it was made of", test_there_and_back },
		{ "a card of a wrong length is rejected", test_length },
		{ "the head of a card is checked", test_head },
		{ "the rules of a card are checked", test_rules },
		{ "a card may have a table, and no other sizes than legal ones", test_table },
		{ "a card has settings of logs", test_log },
		{ "a card has the fields of tables, and no room for more", test_fields },
		{ "a card's fields are whole texts, of tables", test_wrong_fields },
		{ "the subgroups of a card follow from its rules", test_masks },
		{ "rules that a member wants", test_wanted },
		{ "shards in spares come with the spares that they need", test_in_spares },
		{ "a card says whether a node may join or has to ask again", test_admits },
		{ "a node joins no earlier era than it has seen", test_era },
		{ "cards carry lineages, their marks and digests", test_lineage },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
