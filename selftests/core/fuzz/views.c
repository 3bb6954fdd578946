// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules, the views that follow from them, their cards, decrees about these views, and rows. The
 * input chooses any rules, cards and decrees. The core refuses invalid ones. From the others follow
 * valid views, trims that fit, and rows in which nothing overlaps. A change of the rules leaves
 * rows and indexes where they are.
 */
#include "core/membership/card.h"
#include "fuzz.h"
#include "core/membership/membership.h"
#include "core/membership/rules.h"

#define MAX_RULES	4

static struct spindle_rules rules, changed;
static struct spindle_view view, next;
static u64 word[SPINDLE_DECREE_HEAD];

/* ---- values from the input ----------------------------------------------------------- */

/* Small numbers and powers of two come more often than others. */
static u32 in_size(struct input *in)
{
	u8 how = in_u8(in);

	if (how & 0x80)
		return 1U << (how & 31);
	return how & 0x40 ? in_near(in, how & 31) : how & 31;
}

static void read_rule(struct spindle_rule *rule, struct input *in)
{
	u32 i, how = in_u8(in);

	rule->cfg.id = how & 1 ? in_near(in, 0) : in_u8(in);
	rule->cfg.mode = how >> 1 & 1;
	rule->cfg.window = how & 4 ? in_size(in) : 1U << (in_u8(in) & 15);
	rule->cfg.ring = how & 8 ? in_size(in) : 4096U << (in_u8(in) & 15);
	rule->cfg.max_msg = how & 16 ? in_size(in) : 1 + in_u8(in);
	rule->shards = how & 32 ? in_size(in) : 1;
	rule->min = how & 64 ? in_size(in) : 1;
	rule->all_send = how >> 7;
	how = in_u8(in);
	rule->on_exit = how & 3;
	rule->senders = how & 4 ? in_u64(in) : in_u8(in);
	rule->num_nodes = how & 8 ? in_size(in) : how >> 4;
	for (i = 0; i < min_t(u32, rule->num_nodes, SPINDLE_MAX_MEMBERS); i++)
		rule->node[i] = how & 4 ? in_near(in, i + 1) : i + (how & 1);
}

/* A rule may be a spare, or closed, or both. A free spare has mostly nothing else. */
static void read_spare(struct spindle_rule *rule, struct input *in)
{
	u8 how = in_u8(in);

	rule->flags = how & (SPINDLE_RULE_SPARE | SPINDLE_RULE_CLOSED);
	if (rule->flags & SPINDLE_RULE_CLOSED && !(how & 4))
		*rule = (struct spindle_rule) { .flags = rule->flags, .shards = rule->shards };
	if (!(rule->flags & SPINDLE_RULE_SPARE))
		return;
	rule->room_window = how & 8 ? in_size(in) : 1U << (how >> 4);
	rule->room_ring = how & 8 ? in_size(in) : 4096U << (how >> 4);
}

static void read_rules(struct input *in)
{
	u8 how = in_u8(in);
	u32 i;

	memset(&rules, 0, sizeof(rules));
	rules.timeout_ms = how & 1 ? in_near(in, 0) : 1000;
	rules.max_nodes = how & 2 ? in_size(in) : 64;
	rules.quorum = how >> 2 & 1;
	rules.num_rules = how & 8 ? in_size(in) : how >> 4 & (MAX_RULES - 1);
	for (i = 0; i < min_t(u32, rules.num_rules, MAX_RULES); i++)
		read_rule(&rules.rule[i], in);
	for (i = 0; how & 128 && i < min_t(u32, rules.num_rules, MAX_RULES); i++)
		read_spare(&rules.rule[i], in);
	/* Further rules repeat the first ones. */
	for (; i < min_t(u32, rules.num_rules, SPINDLE_MAX_SUBGROUPS); i++) {
		rules.rule[i] = rules.rule[i % MAX_RULES];
		if (rules.rule[i].cfg.window)
			rules.rule[i].cfg.id += 256 * i;
	}
}

static void read_members(struct input *in)
{
	u8 how = in_u8(in);
	u32 i;

	memset(&view, 0, sizeof(view));
	view.vid = how & 1 ? in_u64(in) : 1;
	view.num_members = how & 2 ? in_size(in) : 1 + (how >> 4);
	for (i = 0; i < min_t(u32, view.num_members, SPINDLE_MAX_MEMBERS); i++) {
		view.member[i].id = how & 4 ? in_near(in, i + 1) : i + 1;
		view.member[i].addr.family = how & 8 ? in_u8(in) : 4;
		view.member[i].addr.port = how & 8 ? in_u8(in) : i + 1;
	}
}

static void read_decree(struct input *in)
{
	u8 how = in_u8(in);
	u32 i;

	word[SPINDLE_DECREE_VID] = how & 1 ? in_u64(in) : view.vid;
	word[SPINDLE_DECREE_SURVIVORS] = how & 2 ? in_u64(in) :
		in_near(in, ~0ULL >> (64 - view.num_members));
	word[SPINDLE_DECREE_NUM_JOINS] = how & 4 ? in_near(in, 0) : how >> 4 & 3;
	for (i = SPINDLE_DECREE_JOIN; i < SPINDLE_DECREE_RULES; i++)
		word[i] = how & 8 ? in_near(in, 0) : 1000 + in_u8(in);
	word[SPINDLE_DECREE_RULES] = how & 64 ? in_near(in, 0) : 0;
	for (i = 0; i < SPINDLE_DECREE_JOINS && !(how & 8); i++) {
		spindle_decree_join(word, i)[SPINDLE_JOIN_PORT] = 4 << 16 | in_u8(in);
		spindle_decree_join(word, i)[SPINDLE_JOIN_IP + 1] = 0;
	}
}

/* ---- invariants ------------------------------------------------------------------------- */

static u64 take(u64 at, u64 from, u64 bytes)
{
	MUST(from >= at && from + bytes >= from);
	return from + bytes;
}

/* All parts of a row are in order and inside of it. */
static void check_row(const struct spindle_layout *lo, const struct spindle_view *v)
{
	u64 at = spindle_layout_block(v->num_subgroups);
	u32 i;

	MUST(lo->sst >= at && IS_ALIGNED(lo->sst, SPINDLE_PAGE) && lo->size >= lo->sst);
	at = lo->sst;
	for (i = 0; i < v->num_subgroups; i++) {
		MUST((lo->hdr[i] == SPINDLE_NO_OFFSET) == (lo->pay[i] == SPINDLE_NO_OFFSET));
		if (lo->hdr[i] == SPINDLE_NO_OFFSET)
			continue;
		at = take(at, spindle_layout_express(lo, i), sizeof(struct spindle_express));
		at = take(at, lo->hdr[i],
			  (u64)v->subgroup[i].window * sizeof(struct spindle_hdr));
	}
	if (lo->mb != SPINDLE_NO_OFFSET)
		at = take(at, lo->mb, spindle_mb_row_bytes(spindle_rules_trims(&rules)));
	for (i = 0; i < v->num_subgroups; i++) {
		if (lo->pay[i] == SPINDLE_NO_OFFSET)
			continue;
		MUST(IS_ALIGNED(lo->pay[i], SPINDLE_PAGE));
		at = take(at, lo->pay[i], v->subgroup[i].ring);
	}
	MUST(at <= lo->size);
}

/* A sender has a place in its row at each receiver. */
static void check_rows(const struct spindle_view *v)
{
	struct spindle_layout row, live;
	u32 a = v->num_members - 1, i;

	spindle_layout_row(&row, v, a, 0);
	spindle_rules_row(&live, &rules, v->member[a].id, v->member[0].id);
	check_row(&row, v);
	check_row(&live, v);
	for (i = 0; i < v->num_subgroups; i++) {
		bool sends = v->subgroup[i].senders >> a & 1 && v->subgroup[i].members & 1;

		MUST(sends == (row.hdr[i] != SPINDLE_NO_OFFSET));
		MUST(!sends || live.hdr[i] != SPINDLE_NO_OFFSET);
	}
}

/* The subgroups follow from the rules. */
static void check_view(const struct spindle_view *v)
{
	u64 all = ~0ULL >> (64 - v->num_members), seen = 0;
	u32 i, first = 0;

	MUST(v->num_subgroups <= SPINDLE_MAX_SUBGROUPS);
	if (v->num_members <= rules.max_nodes)
		MUST(spindle_decree_trims(v) <= spindle_rules_trims(&rules));
	for (i = 0; i < v->num_subgroups; i++) {
		const struct spindle_rule *rule = spindle_rules_of(&rules, i);
		const struct spindle_view_subgroup *sg = &v->subgroup[i];

		MUST(rule >= rules.rule && rule < rules.rule + rules.num_rules);
		MUST(!(sg->members & ~all) && !(sg->senders & ~sg->members));
		/* A node is in one shard. */
		first = sg->id == rule->cfg.id ? i : first;
		if (first == i)
			seen = 0;
		MUST(!(seen & sg->members));
		seen |= sg->members;
	}
	MUST(spindle_rules_lacking(&rules, v) < (int)v->num_subgroups);
}

/* If a reader believes a card, the card has a view that fits its rules. */
static void check_read(const struct spindle_card *card, u32 bytes)
{
	static struct spindle_rules r;
	static struct spindle_view v;
	const char *err = spindle_card_read(card, bytes, &v, &r);
	int fault;
	u32 i;

	if (err)
		return;
	MUST(!spindle_rules_check(&r, &fault) && !spindle_view_check(&v, true, NULL));
	MUST(v.num_members <= r.max_nodes && spindle_rules_fit(&r, &v));
	MUST(spindle_decree_trims(&v) <= spindle_rules_trims(&r));
	MUST(spindle_lineage_given(&card->lineage));
	MUST(card->digest == spindle_live_digest(&v, &r, &card->lineage));
	for (i = 0; i < r.num_rules; i++)
		MUST(memchr(r.rule[i].cfg.name, 0, sizeof(r.rule[i].cfg.name)));
}

/* Give the card a correct digest, whatever it says, because a liar may have written it. */
static void mend(struct spindle_card *card, u32 bytes)
{
	static struct spindle_rules r;
	static struct spindle_view v;
	const char *err = spindle_card_read(card, bytes, &v, &r);

	if (err && !strcmp(err, "the contact's answer contradicts itself"))
		card->digest = spindle_live_digest(&v, &r, &card->lineage);
}

/*
 * A card of the view, first unchanged and then with some changed words. The end of the input has
 * the changes.
 */
static void check_card(const u8 *data, size_t size)
{
	struct input in = { .at = data + size - min_t(size_t, size, 24) };
	struct spindle_lineage lineage = { { 1, 2 }, 0 };
	u32 bytes = spindle_card_bytes(&view, &rules), i;
	/* Cards have more sizes than fuzz_alloc() keeps memory of. */
	struct spindle_card *card = calloc(1, bytes);
	static struct spindle_rules read;

	in.left = data + size - in.at;
	/* No node starts with such a view or reaches it. */
	if (view.num_members > rules.max_nodes || view.vid > SPINDLE_MAX_LIVE_VID) {
		free(card);
		return;
	}
	spindle_card_make(card, &view, &rules, &lineage, 1);
	MUST(!spindle_card_read(card, bytes, &next, &read));
	MUST(!memcmp(&next, &view, sizeof(next)));
	for (i = in_below(&in, 4); i; i--) {
		u32 at = in_u8(&in) & 1 ? in_below(&in, sizeof(*card) / 4) :
					  (u32)(in_u8(&in) << 8 | in_u8(&in)) % (bytes / 4);

		((u32 *)card)[at] = in_near(&in, ((u32 *)card)[at]);
	}
	check_read(card, bytes);
	mend(card, bytes);
	check_read(card, bytes);
	free(card);
}

/* The row of one node at another one is the same by both rules. */
static void check_same_row(u32 writer, u32 holder)
{
	static struct spindle_layout before, after;
	u32 i;

	spindle_rules_row(&before, &rules, writer, holder);
	spindle_rules_row(&after, &changed, writer, holder);
	MUST(before.sst == after.sst && before.mb == after.mb && before.size == after.size);
	for (i = 0; i < view.num_subgroups; i++)
		MUST(before.hdr[i] == after.hdr[i] && before.pay[i] == after.pay[i]);
}

/* If members may agree on other rules, rows and the indexes of subgroups stay as they are. */
static void check_changed(void)
{
	u32 last = view.member[view.num_members - 1].id, i;

	next = view;
	spindle_rules_apply(&changed, &view, &next);
	MUST(next.num_subgroups == view.num_subgroups);
	MUST(spindle_rules_trims(&changed) == spindle_rules_trims(&rules));
	for (i = 0; i < next.num_subgroups; i++)
		MUST(spindle_rules_of(&changed, i) < changed.rule + changed.num_rules);
	check_same_row(last, view.member[0].id);
	check_same_row(last, last);
	check_same_row(last, U32_MAX);
}

/* An administrator adds, removes and replaces subgroups in one change. */
static void make_change(struct input *in)
{
	static struct spindle_rule rule;
	u8 how = in_u8(in);
	u32 i;

	for (i = how >> 6; i; i--, how = in_u8(in)) {
		memset(&rule, 0, sizeof(rule));
		read_rule(&rule, in);
		rule.shards = 1 + (how & 3);
		rule.cfg.id = how & 4 ? rule.cfg.id : 256 * (how >> 3 & 3);
		if (how & 32)
			spindle_rules_close(&rules, &changed, rule.cfg.id);
		else if (spindle_rules_replace(&rules, &changed, &rule) == -ENOENT)
			spindle_rules_open(&rules, &changed, &rule);
	}
}

/* A member sends rules with some changed words, which may be those of a spare. */
static void lie_about_rules(struct input *in)
{
	u32 i, at;

	for (i = in_below(in, 8); i && rules.num_rules; i--) {
		struct spindle_rule *rule = &changed.rule[in_below(in, rules.num_rules)];

		at = in_below(in, offsetof(struct spindle_rule, node) / 4);
		((u32 *)rule)[at] = in_near(in, ((u32 *)rule)[at]);
	}
}

/* Other rules for the view. Bytes in front of the last ones of the input have them. */
static void check_change(const u8 *data, size_t size)
{
	struct input in = { .at = data + size - min_t(size_t, size, 88) };
	int fault;

	in.left = data + size - in.at;
	changed = rules;
	make_change(&in);
	if (!spindle_rules_check(&changed, &fault)) {
		MUST(!spindle_rules_change(&rules, &changed));
		check_changed();
	}
	lie_about_rules(&in);
	if (!spindle_rules_check(&changed, &fault) && !spindle_rules_change(&rules, &changed))
		check_changed();
}

/* A decree has no addresses of joiners, because members know these from elsewhere. */
static void name_joiners(void)
{
	u32 i;

	for (i = 0; i < view.num_members; i++) {
		struct spindle_addr *addr = &view.member[i].addr;

		if (addr->family)
			continue;
		addr->family = view.member[0].addr.family ? : 4;
		addr->port = 30000 + view.vid % 30000 + i;
		memcpy(addr->ip, &view.member[i].id, sizeof(view.member[i].id));
	}
}

static void check_decree(void)
{
	u64 survivors = word[SPINDLE_DECREE_SURVIVORS], stays, moved;
	u32 i;

	spindle_decree_apply(word, &view, &next);
	MUST(next.vid == view.vid + 1);
	MUST(next.num_members && next.num_members <= SPINDLE_MAX_MEMBERS);
	for (i = 0; i < next.num_members; i++)
		MUST(next.member[i].id && spindle_view_rank(&next, next.member[i].id) == (int)i);
	spindle_rules_apply(&rules, &view, &next);
	MUST(next.num_subgroups == view.num_subgroups);
	check_view(&next);
	stays = spindle_decree_stays(word, &view, &next);
	for (i = 0; i < view.num_subgroups; i++) {
		moved = spindle_decree_renumber(view.subgroup[i].members, survivors);
		MUST(hweight64(moved) == hweight64(view.subgroup[i].members & survivors));
		if (!(stays >> i & 1))
			continue;
		MUST(next.subgroup[i].members == moved);
		MUST(!(view.subgroup[i].members & ~survivors));
	}
	MUST(i == 64 || !(stays >> i));
}

int LLVMFuzzerTestOneInput(const u8 *data, size_t size)
{
	struct input in = { .at = data, .left = size };
	struct spindle_view_fault where;
	const char *err;
	int fault;

	fuzz_begin();
	read_rules(&in);
	read_members(&in);
	err = spindle_rules_check(&rules, &fault);
	MUST(fault >= -1 && fault <= (int)min_t(u32, rules.num_rules, SPINDLE_MAX_SUBGROUPS));
	if (err || !view.num_members || view.num_members > SPINDLE_MAX_MEMBERS)
		return 0;
	spindle_rules_apply(&rules, NULL, &view);
	if (spindle_view_check(&view, true, &where))
		return 0;
	check_view(&view);
	MUST(spindle_rules_digest(&rules));
	spindle_view_digest(&view);
	check_rows(&view);
	check_change(data, size);
	check_card(data, size);
	while (in.left) {
		read_decree(&in);
		if (!spindle_decree_check(word, &view))
			continue;
		check_decree();
		view = next;
		name_joiners();
		check_card(data, size);
	}
	return 0;
}
