// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rules that change: subgroups are added, removed and replaced, and rows stay as they are.
 */
#include "core/membership/membership.h"
#include "core/membership/rules.h"
#include "tap.h"

#define A_RULE	0
#define SMALL	1
#define LARGE	2
#define SMALL_2	3
#define RULES	4

static struct spindle_rules now, next;
static struct spindle_view view;

/* A subgroup of two shards, two small spares, a large one, and node 9 as a witness. */
static void begin(void)
{
	now = (struct spindle_rules){
		.timeout_ms = 500, .max_nodes = 6, .num_rules = RULES, .witness = { 9 },
		.rule[A_RULE] = {
			.cfg = { .id = 10, .window = 16, .max_msg = 100, .ring = 4096,
				 .name = "a" },
			.shards = 2, .min = 1, .num_nodes = 2, .node = { 1, 2 }, .senders = 1,
		},
		.rule[SMALL] = { .room_window = 8, .room_ring = 4096 },
		.rule[LARGE] = { .room_window = 64, .room_ring = 65536 },
		.rule[SMALL_2] = { .room_window = 8, .room_ring = 4096 },
	};
	for (u32 i = SMALL; i < RULES; i++) {
		now.rule[i].shards = 1;
		now.rule[i].flags = SPINDLE_RULE_SPARE | SPINDLE_RULE_CLOSED;
	}
	next = now;
}

static struct spindle_rule wanted(u32 id, u32 window, u32 ring)
{
	return (struct spindle_rule){
		.cfg = { .id = id, .window = window, .max_msg = 64, .ring = ring },
		.shards = 1, .min = 1, .all_send = 1,
	};
}

static struct spindle_rule wanted_table(u32 id, u32 cells, u32 cell)
{
	struct spindle_rule rule = wanted(id, 1, 4096);
	bool of_cell;

	rule.cfg.mode = SPINDLE_MODE_TABLE;
	rule.all_send = 0;
	CHECK(!spindle_view_set_table(&rule.cfg, cells, cell, &of_cell));
	return rule;
}

static int open_table(u32 id, u32 cells, u32 cell)
{
	struct spindle_rule rule = wanted_table(id, cells, cell);

	return spindle_rules_open(&now, &next, &rule);
}

static int open_one(u32 id, u32 window, u32 ring)
{
	struct spindle_rule rule = wanted(id, window, ring);

	return spindle_rules_open(&now, &next, &rule);
}

static int replace_one(u32 id, u32 window, u32 ring)
{
	struct spindle_rule rule = wanted(id, window, ring);

	return spindle_rules_replace(&now, &next, &rule);
}

static int close_one(u32 id)
{
	return spindle_rules_close(&now, &next, id);
}

static bool valid(const struct spindle_rules *rules)
{
	int fault;

	return !spindle_rules_check(rules, &fault);
}

/* Are both rules valid, and may one follow the other? */
static bool may_change(void)
{
	return valid(&now) && valid(&next) && !spindle_rules_change(&now, &next);
}

static void test_open(void)
{
	begin();
	CHECK(may_change());
	CHECK_EQ(open_one(20, 8, 4096), 0);
	CHECK_EQ(next.rule[SMALL].cfg.id, 20);
	CHECK(may_change());
	CHECK_EQ(open_one(21, 16, 4096), 0);
	CHECK_EQ(next.rule[LARGE].cfg.id, 21);
	/* The small spare that is left is too small for a larger window, or a larger ring. */
	CHECK_EQ(open_one(22, 16, 4096), -ENOSPC);
	CHECK_EQ(open_one(22, 8, 8192), -ENOSPC);
	CHECK_EQ(open_one(22, 1, 4096), 0);
	CHECK_EQ(next.rule[SMALL_2].cfg.id, 22);
	CHECK_EQ(open_one(23, 1, 4096), -ENOSPC);
	CHECK(may_change());
	/* A small subgroup takes a large spare if there is no other one. */
	begin();
	CHECK_EQ(open_one(20, 8, 4096), 0);
	CHECK_EQ(open_one(21, 8, 4096), 0);
	CHECK_EQ(next.rule[SMALL_2].cfg.id, 21);
	CHECK_EQ(open_one(22, 8, 4096), 0);
	CHECK_EQ(next.rule[LARGE].cfg.id, 22);
	CHECK_EQ(next.rule[LARGE].room_window, 64);
}

/* Cells count as a window, and the bytes of a row as a ring. */
static void test_open_table(void)
{
	begin();
	CHECK_EQ(open_table(20, 8, 512), 0);
	CHECK_EQ(next.rule[SMALL].cfg.id, 20);
	CHECK(may_change());
	/* Too many cells for the small spare that is left, or too large ones. */
	CHECK_EQ(open_table(21, 9, 64), 0);
	CHECK_EQ(next.rule[LARGE].cfg.id, 21);
	CHECK_EQ(open_table(22, 9, 64), -ENOSPC);
	CHECK_EQ(open_table(22, 8, 1024), -ENOSPC);
	CHECK(may_change());
	/* A table leaves its spare to any subgroup, and takes the place of one with its id. */
	now = next;
	CHECK_EQ(close_one(20), 0);
	CHECK(may_change());
	now = next;
	CHECK_EQ(open_one(23, 8, 4096), 0);
	CHECK_EQ(next.rule[SMALL].cfg.id, 23);
	CHECK(may_change());
	now = next;
	CHECK_EQ(replace_one(21, 8, 4096), 0);
	CHECK(may_change());
	CHECK_EQ(next.rule[SMALL_2].cfg.id, 21);
	CHECK(next.rule[LARGE].flags & SPINDLE_RULE_CLOSED);
}

static void test_close(void)
{
	static struct spindle_rules spare;

	begin();
	CHECK_EQ(close_one(12), -ENOENT);
	CHECK_EQ(close_one(0), -ENOENT);
	/* Both shards are removed, by the id of either. */
	CHECK_EQ(close_one(11), 0);
	CHECK(may_change());
	CHECK_EQ(close_one(10), -ENOENT);
	spindle_rules_apply(&next, NULL, &view);
	CHECK_EQ(view.num_subgroups, RULES + 1);
	CHECK(spindle_view_closed(&view.subgroup[0]) && spindle_view_closed(&view.subgroup[1]));
	/* The rule stays closed, because rows have no room there for other senders. */
	now = next;
	next.rule[A_RULE].flags = 0;
	CHECK(spindle_rules_change(&now, &next));
	/* A spare is free again, as it was. */
	begin();
	spare = now;
	CHECK_EQ(open_one(20, 8, 4096), 0);
	now = next;
	CHECK_EQ(close_one(20), 0);
	CHECK(may_change());
	CHECK(!memcmp(&spare, &next, sizeof(spare)));
}

/* A subgroup gets other senders and a larger window, in another place. */
static void test_replace(void)
{
	begin();
	CHECK_EQ(replace_one(10, 64, 65536), 0);
	CHECK_EQ(next.rule[LARGE].cfg.id, 10);
	CHECK(next.rule[A_RULE].flags & SPINDLE_RULE_CLOSED);
	CHECK(may_change());
	now = next;
	CHECK_EQ(replace_one(10, 8, 4096), 0);
	CHECK_EQ(next.rule[SMALL].cfg.id, 10);
	CHECK(may_change());
	/* The subgroup fits into no small spare, and the spare that it has is not free yet. */
	next = now;
	CHECK_EQ(replace_one(10, 32, 65536), -ENOSPC);
	CHECK_EQ(replace_one(12, 8, 4096), -ENOENT);
	CHECK(!memcmp(&now, &next, sizeof(now)));
	/* A subgroup never changes where it is, or members would write over what others read. */
	next = now;
	next.rule[LARGE].cfg.window = 32;
	CHECK(valid(&next));
	CHECK(spindle_rules_change(&now, &next));
	begin();
	next.rule[A_RULE].senders = 3;
	CHECK(valid(&next));
	CHECK(spindle_rules_change(&now, &next));
}

/* Subgroups 10 and 11, 20 and 21, of which the last has the large spare. */
static void begin_full(void)
{
	begin();
	CHECK_EQ(open_one(20, 8, 4096), 0);
	CHECK_EQ(open_one(21, 64, 65536), 0);
	now = next;
}

/* One change of the view has several changes of subgroups. */
static void test_several(void)
{
	begin_full();
	CHECK_EQ(close_one(10), 0);
	CHECK_EQ(replace_one(20, 4, 4096), 0);
	CHECK_EQ(close_one(21), 0);
	CHECK(may_change());
	CHECK_EQ(next.rule[SMALL_2].cfg.id, 20);
	CHECK_EQ(next.rule[SMALL_2].cfg.window, 4);
	CHECK(next.rule[A_RULE].flags & SPINDLE_RULE_CLOSED);
	CHECK(next.rule[SMALL].flags & SPINDLE_RULE_CLOSED);
	CHECK(next.rule[LARGE].flags & SPINDLE_RULE_CLOSED);
	/* The spares of subgroups that go are free for the next change only. */
	CHECK_EQ(open_one(22, 1, 4096), -ENOSPC);
	CHECK(may_change());
	now = next;
	CHECK_EQ(open_one(22, 64, 65536), 0);
	CHECK_EQ(open_one(23, 8, 4096), 0);
	CHECK_EQ(next.rule[LARGE].cfg.id, 22);
	CHECK_EQ(next.rule[SMALL].cfg.id, 23);
	CHECK(may_change());
	/* Two subgroups exchange their names. */
	begin_full();
	memcpy(now.rule[SMALL].cfg.name, "b", 2);
	next = now;
	CHECK_EQ(close_one(10), 0);
	CHECK_EQ(replace_one(20, 8, 4096), 0);
	memcpy(next.rule[SMALL_2].cfg.name, "a", 2);
	CHECK(may_change());
}

/* A subgroup that a change has added, replaced or removed is not found by the same change. */
static void test_once(void)
{
	begin_full();
	CHECK_EQ(replace_one(20, 4, 4096), 0);
	CHECK_EQ(close_one(20), -ENOENT);
	CHECK_EQ(replace_one(20, 2, 4096), -ENOENT);
	CHECK(may_change());
	begin_full();
	CHECK_EQ(close_one(10), 0);
	CHECK_EQ(close_one(11), -ENOENT);
	CHECK_EQ(replace_one(10, 2, 4096), -ENOENT);
	CHECK_EQ(open_one(22, 2, 4096), 0);
	CHECK_EQ(close_one(22), -ENOENT);
	CHECK_EQ(replace_one(22, 1, 4096), -ENOENT);
	CHECK(may_change());
}

static void test_constant(void)
{
	begin();
	next.timeout_ms++;
	CHECK(!may_change());
	next = now;
	next.max_nodes++;
	CHECK(!may_change());
	next = now;
	next.quorum = 1;
	CHECK(!may_change());
	next = now;
	next.witness[1] = 8;
	CHECK(!may_change());
	next = now;
	next.num_rules--;
	CHECK(!may_change());
	next = now;
	next.rule[LARGE].room_ring = 4096;
	CHECK(!may_change());
	next = now;
	next.rule[SMALL].room_window = 4;
	CHECK(!may_change());
	/* Rows have no room for a spare that grows while it is opened. */
	next = now;
	CHECK_EQ(open_one(20, 8, 4096), 0);
	next.rule[SMALL].room_window = 16;
	CHECK(!may_change());
	next.rule[SMALL].room_window = 8;
	next.rule[SMALL].room_ring = 8192;
	CHECK(!may_change());
	next.rule[SMALL].room_ring = 4096;
	CHECK(may_change());
}

static void refused(void (*set)(struct spindle_rule *rule), const char *text)
{
	const char *got;
	int fault;

	next = now;
	set(&next.rule[SMALL]);
	got = spindle_rules_check(&next, &fault);
	if (!got || !strstr(got, text) || fault != SMALL)
		tap_fail("%s: %s, about rule %d", text, got ? got : "accepted", fault);
}

/* An open rule of a small spare. */
static struct spindle_rule in_small(u32 window, u32 ring)
{
	struct spindle_rule rule = wanted(1, window, ring);

	rule.flags = SPINDLE_RULE_SPARE;
	rule.room_window = 8;
	rule.room_ring = 4096;
	return rule;
}

#define SET(what, stmt) static void what(struct spindle_rule *r) { stmt; }
SET(flag, r->flags |= 4)
SET(no_window, r->room_window = 0)
SET(odd_window, r->room_window = 12)
SET(wide_window, r->room_window = 2 * SPINDLE_MAX_WINDOW)
SET(short_ring, r->room_ring = 2048)
SET(odd_ring, r->room_ring = 4097)
SET(shards, r->shards = 2)
SET(kept_id, r->cfg.id = 5)
SET(kept_node, r->num_nodes = 1; r->node[0] = 1)
SET(kept_sender, r->all_send = 1)
SET(window_above, *r = in_small(16, 4096))
SET(ring_above, *r = in_small(8, 8192))
SET(room_of_none, *r = wanted(1, 8, 4096); r->room_window = 8)
SET(ring_of_none, *r = wanted(1, 8, 4096); r->room_ring = 4096)

/* An open table of a small spare. */
static struct spindle_rule table_in_small(u32 cells, u32 cell)
{
	struct spindle_rule rule = wanted_table(1, cells, cell);

	rule.flags = SPINDLE_RULE_SPARE;
	rule.room_window = 8;
	rule.room_ring = 4096;
	return rule;
}

SET(cells_above, *r = table_in_small(9, 64))
SET(row_above, *r = table_in_small(8, 1024))
SET(table_shards, *r = table_in_small(8, 64); r->shards = 2)
SET(table_sends, *r = table_in_small(8, 64); r->all_send = 1)

static void test_limits(void)
{
	begin();
	refused(cells_above, "as many cells");
	refused(row_above, "as many cells");
	refused(table_shards, "no shards");
	refused(table_sends, "no senders");
	refused(flag, "unknown flags");
	refused(no_window, "spare's window");
	refused(odd_window, "spare's window");
	refused(wide_window, "spare's window");
	refused(short_ring, "spare's ring");
	refused(odd_ring, "spare's ring");
	refused(shards, "no shards");
	refused(kept_id, "closed has no subgroup");
	refused(kept_node, "closed has no subgroup");
	refused(kept_sender, "closed has no subgroup");
	refused(window_above, "at most the window");
	refused(ring_above, "at most the window");
	refused(room_of_none, "only a spare");
	refused(ring_of_none, "only a spare");
	/* The name of a subgroup that was removed is free. */
	next = now;
	CHECK_EQ(close_one(10), 0);
	CHECK_EQ(open_one(20, 8, 4096), 0);
	next.rule[SMALL].cfg.name[0] = 'a';
	CHECK(may_change());
	next.rule[A_RULE].flags = 0;
	CHECK(!valid(&next));
}

/* What must not move: rows, the index of each subgroup, and the length of decrees. */
static void same_places(void)
{
	static const u32 id[] = { 1, 2, 3, 9 };
	struct spindle_layout a, b;
	u32 i, k;

	CHECK_EQ(spindle_rules_trims(&now), spindle_rules_trims(&next));
	for (i = 0; i < ARRAY_SIZE(id); i++)
		for (k = 0; k < ARRAY_SIZE(id); k++) {
			memset(&a, 0, sizeof(a));
			memset(&b, 0, sizeof(b));
			spindle_rules_row(&a, &now, id[i], id[k]);
			spindle_rules_row(&b, &next, id[i], id[k]);
			CHECK(!memcmp(&a, &b, sizeof(a)));
			/* A witness has no rings, of a spare either. */
			CHECK((a.hdr[2] == SPINDLE_NO_OFFSET) == (id[i] == 9 || id[k] == 9));
		}
}

static void test_places(void)
{
	begin();
	same_places();
	CHECK_EQ(open_one(20, 2, 4096), 0);
	same_places();
	CHECK_EQ(close_one(10), 0);
	same_places();
	CHECK_EQ(open_one(10, 32, 32768), 0);
	same_places();
	/* A table is in the spare in place of a subgroup. */
	begin();
	CHECK_EQ(open_table(20, 8, 64), 0);
	CHECK_EQ(open_table(21, 64, 1024), 0);
	same_places();
	now = next;
	CHECK_EQ(close_one(20), 0);
	CHECK_EQ(open_one(22, 8, 4096), 0);
	same_places();
	CHECK_EQ(spindle_rules_trims(&now), 1 + 3 * 6);
	CHECK(spindle_rules_digest(&now) != spindle_rules_digest(&next));
}

/* In the smallest spares, the block of a table does not reach into the next one. */
static void test_small_spares(void)
{
	struct spindle_layout lo;
	u32 i;

	/* Another member may send rules of any order, such as a subgroup behind a spare. */
	begin();
	now.rule[A_RULE].cfg.window = 1;
	now.rule[A_RULE].shards = 1;
	now.rule[LARGE] = now.rule[A_RULE];
	now.rule[LARGE].cfg.id = 15;
	now.rule[LARGE].cfg.name[0] = 'b';
	now.rule[SMALL].room_window = 1;
	now.rule[SMALL_2].room_window = 1;
	next = now;
	CHECK_EQ(open_table(20, 1, 64), 0);
	CHECK(may_change());
	spindle_rules_row(&lo, &now, 1, 2);
	for (i = SMALL; i < RULES; i += SMALL_2 - SMALL) {
		CHECK_EQ(lo.hdr[i] % sizeof(struct spindle_block), 0);
		CHECK(lo.hdr[i] + sizeof(struct spindle_block) <=
		      (i < SMALL_2 ? spindle_layout_express(&lo, i + 1) : lo.mb));
	}
}

/* A table that is removed keeps its room, although it has no subgroup any more. */
static void test_table_at_birth(void)
{
	struct spindle_layout lo;

	begin();
	now.rule[A_RULE] = wanted_table(10, 16, 64);
	now.rule[A_RULE].num_nodes = 2;
	now.rule[A_RULE].node[0] = 1;
	now.rule[A_RULE].node[1] = 2;
	now.rule[A_RULE].min = 2;
	next = now;
	view = (struct spindle_view){ .vid = 1, .num_members = 2 };
	for (u32 i = 0; i < 2; i++)
		view.member[i] = (struct spindle_view_member){
			.id = 1 + i, .addr = { .family = 4, .port = 1 + i },
		};
	CHECK(!spindle_rules_next(&now, &view, &view));
	CHECK(!spindle_view_check(&view, true, NULL));
	CHECK_EQ(view.subgroup[0].members, 3);
	CHECK_EQ(view.subgroup[0].senders, 0);
	/* Nobody sends, and yet the table lacks nobody. */
	CHECK(spindle_rules_enough(&now, &view, 0));
	CHECK_EQ(spindle_rules_lacking(&now, &view), -1);
	now.rule[A_RULE].min = 3;
	CHECK(!spindle_rules_enough(&now, &view, 0));
	CHECK_EQ(spindle_rules_lacking(&now, &view), 0);
	now.rule[A_RULE].min = 2;
	CHECK_EQ(close_one(10), 0);
	CHECK(may_change());
	spindle_rules_row(&lo, &now, 2, 1);
	CHECK(lo.hdr[0] != SPINDLE_NO_OFFSET);
	CHECK_EQ(lo.pay[1] - lo.pay[0], 4096);
	spindle_rules_row(&lo, &next, 2, 1);
	CHECK(lo.hdr[0] != SPINDLE_NO_OFFSET);
	CHECK_EQ(lo.pay[1] - lo.pay[0], 4096);
	CHECK_EQ(spindle_rules_trims(&next), 3 * 6);
}

/* Only nodes of open subgroups are members, and closed ones lack nobody. */
static void test_view(void)
{
	begin();
	CHECK_EQ(open_one(20, 2, 4096), 0);
	view = (struct spindle_view){ .vid = 1, .num_members = 3 };
	for (u32 i = 0; i < 3; i++)
		view.member[i] = (struct spindle_view_member){
			.id = i == 2 ? 9 : 1 + i, .addr = { .family = 4, .port = 1 + i },
		};
	CHECK(!spindle_rules_next(&next, &view, &view));
	CHECK(!spindle_view_check(&view, true, NULL));
	CHECK(spindle_rules_fit(&next, &view));
	CHECK_EQ(view.subgroup[2].id, 20);
	CHECK_EQ(view.subgroup[2].members, 3);
	CHECK(spindle_view_closed(&view.subgroup[3]));
	CHECK_EQ(view.subgroup[3].members, 0);
	/* One of the shards has nobody to send. */
	CHECK_EQ(spindle_rules_lacking(&next, &view), 1);
	CHECK(spindle_rules_enough(&next, &view, 3));
	CHECK(!spindle_view_subgroup(&view, 0));
	CHECK(spindle_view_subgroup(&view, 20));
	view.subgroup[3].members = 1;
	CHECK(spindle_view_check(&view, true, NULL));
	CHECK(!spindle_rules_fit(&next, &view));
	view.subgroup[3].members = 0;
	view.subgroup[3].former = 1;
	CHECK(spindle_view_check(&view, true, NULL));
	view.subgroup[3].former = 0;
	CHECK(spindle_view_check(&view, false, NULL));
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a new subgroup takes the smallest spare", test_open },
		{ "a new table takes a spare, too", test_open_table },
		{ "a subgroup is removed, and its spare is free again", test_close },
		{ "a subgroup that changes goes to another place", test_replace },
		{ "one change has several changes of subgroups", test_several },
		{ "one change changes each subgroup once", test_once },
		{ "the rest of the rules is constant", test_constant },
		{ "spares have limits, and free ones nothing else", test_limits },
		{ "rows and decrees are as they were", test_places },
		{ "the smallest spares have room for a table", test_small_spares },
		{ "a table given at birth has room until the end", test_table_at_birth },
		{ "a view has no members where a rule is closed", test_view },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
