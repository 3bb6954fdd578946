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

/* A table of another mode is another table. It needs a spare, as one with other cells does. */
static void test_table_mode(void)
{
	struct spindle_rule rule = wanted_table(20, 8, 512);

	begin();
	CHECK_EQ(spindle_rules_open(&now, &next, &rule), 0);
	now = next;
	rule.cfg.mode = SPINDLE_MODE_TABLE_READ;
	CHECK_EQ(spindle_rules_replace(&now, &next, &rule), 0);
	CHECK(may_change());
	CHECK(next.rule[SMALL].flags & SPINDLE_RULE_CLOSED);
	CHECK_EQ(next.rule[SMALL_2].cfg.id, 20);
	CHECK_EQ(next.rule[SMALL_2].cfg.mode, SPINDLE_MODE_TABLE_READ);
	/* The mode of a table never changes where it is. */
	next = now;
	next.rule[SMALL].cfg.mode = SPINDLE_MODE_TABLE_READ;
	CHECK(valid(&next));
	CHECK(spindle_rules_change(&now, &next));
	begin();
	CHECK_EQ(spindle_rules_open(&now, &next, &rule), 0);
	CHECK(may_change());
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

/* What is durable does not go on in another place, so neither of the two may have logs. */
static void test_replace_logged(void)
{
	struct spindle_rule rule = wanted(10, 8, 4096);

	begin();
	rule.cfg.log = SPINDLE_LOGGED;
	CHECK_EQ(spindle_rules_replace(&now, &next, &rule), -EOPNOTSUPP);
	CHECK(!memcmp(&now, &next, sizeof(now)));
	now.rule[A_RULE].cfg.log = SPINDLE_LOGGED;
	next = now;
	CHECK_EQ(replace_one(10, 8, 4096), -EOPNOTSUPP);
	CHECK(!memcmp(&now, &next, sizeof(now)));
}

static int open_logged(u32 id)
{
	struct spindle_rule rule = wanted(id, 8, 4096);

	rule.cfg.log = SPINDLE_LOGGED;
	return spindle_rules_open(&now, &next, &rule);
}

/* Are both rules valid, and is this why one may not follow the other? */
static bool is_refused(const char *why)
{
	const char *err = spindle_rules_change(&now, &next);

	return valid(&now) && valid(&next) && err && !strcmp(err, why);
}

/* All subgroups with logs come at once, because nodes restart together only if they know them. */
static void test_more_logs(void)
{
	begin();
	CHECK_EQ(open_logged(20), 0);
	CHECK_EQ(open_logged(21), 0);
	CHECK(may_change());
	now = next;
	CHECK_EQ(open_logged(22), -EOPNOTSUPP);
	CHECK(!memcmp(&now, &next, sizeof(now)));
	/* A member that does not ask this makes the rules by itself. */
	CHECK_EQ(open_one(22, 8, 4096), 0);
	CHECK(may_change());
	next.rule[LARGE].cfg.log = SPINDLE_LOGGED;
	CHECK(is_refused(SPINDLE_NO_MORE_LOGS));
	/* A subgroup of the first view counts, and not one that has gone. */
	begin();
	now.rule[A_RULE].cfg.log = SPINDLE_LOGGED;
	next = now;
	CHECK_EQ(open_logged(20), -EOPNOTSUPP);
	now.rule[A_RULE].flags = SPINDLE_RULE_CLOSED;
	next = now;
	CHECK_EQ(open_logged(20), 0);
	CHECK(may_change());
}

/* A node that is away would still wait for it in a restart. */
static void test_fewer_logs(void)
{
	static struct spindle_rule spare;

	begin();
	spare = now.rule[SMALL];
	CHECK_EQ(open_logged(20), 0);
	now = next;
	CHECK_EQ(close_one(20), -EOPNOTSUPP);
	CHECK(!memcmp(&now, &next, sizeof(now)));
	next.rule[SMALL] = spare;
	CHECK(is_refused(SPINDLE_NO_FEWER_LOGS));
	/* Subgroups without logs come and go beside it. */
	next = now;
	CHECK_EQ(open_one(22, 8, 4096), 0);
	CHECK_EQ(close_one(10), 0);
	CHECK(may_change());
	/* One of the first view stays, too. */
	begin();
	now.rule[A_RULE].cfg.log = SPINDLE_LOGGED;
	next = now;
	CHECK_EQ(close_one(11), -EOPNOTSUPP);
	next.rule[A_RULE].flags = SPINDLE_RULE_CLOSED;
	CHECK(is_refused(SPINDLE_NO_FEWER_LOGS));
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
SET(table_sends, *r = table_in_small(8, 64); r->all_send = 1)

static void test_limits(void)
{
	begin();
	refused(cells_above, "as many cells");
	refused(row_above, "as many cells");
	refused(table_sends, "no senders");
	refused(flag, "unknown flags");
	refused(no_window, "spare's window");
	refused(odd_window, "spare's window");
	refused(wide_window, "spare's window");
	refused(short_ring, "spare's ring");
	refused(odd_ring, "spare's ring");
	refused(shards, "closed has no subgroup");
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

/* ---- shards of a subgroup that is added ------------------------------------- */

#define B_RULE	4
#define LAST	7

/* Behind the spares are a second subgroup of the first view, and three small spares. */
static void begin_rows(void)
{
	begin();
	now.num_rules = LAST + 1;
	now.rule[B_RULE] = wanted(15, 8, 4096);
	memcpy(now.rule[B_RULE].cfg.name, "b", 2);
	for (u32 i = B_RULE + 1; i <= LAST; i++)
		now.rule[i] = now.rule[SMALL];
	next = now;
}

static int open_shards(u32 id, u32 shards, u32 window)
{
	struct spindle_rule rule = wanted(id, window, 4096);

	rule.shards = shards;
	return spindle_rules_open(&now, &next, &rule);
}

static int replace_shards(u32 id, u32 shards)
{
	struct spindle_rule rule = wanted(id, 8, 4096);

	rule.shards = shards;
	return spindle_rules_replace(&now, &next, &rule);
}

static bool is_absorbed(u32 at)
{
	return !next.rule[at].shards && next.rule[at].flags == now.rule[at].flags;
}

/* Rules 5 to 7 follow letters: "o" is free, "-" is absorbed, a number is open with its shards. */
static void set_letters(struct spindle_rules *r, const char *letters)
{
	u32 i, at = B_RULE + 1;

	for (i = 0; i < 3; i++) {
		struct spindle_rule *rule = &r->rule[at + i];

		*rule = now.rule[SMALL];
		if (letters[i] == '-')
			rule->shards = 0;
		if (letters[i] < '1' || letters[i] > '9')
			continue;
		*rule = in_small(8, 4096);
		rule->cfg.id = 40 + 10 * i;
		rule->shards = letters[i] - '0';
	}
}

/* May rules of the letters @from become those of @to? */
static bool becomes(const char *from, const char *to)
{
	begin_rows();
	set_letters(&next, to);
	set_letters(&now, from);
	if (!valid(&now) || !valid(&next))
		tap_fail("%s or %s is not valid", from, to);
	return may_change();
}

static void test_open_shards(void)
{
	begin_rows();
	CHECK_EQ(spindle_rules_free(&now), 6);
	/* Two small spares are neighbours only behind the second subgroup. */
	CHECK_EQ(open_shards(20, 2, 8), 0);
	CHECK_EQ(next.rule[5].cfg.id, 20);
	CHECK_EQ(next.rule[5].shards, 2);
	CHECK(is_absorbed(6));
	CHECK_EQ(spindle_rules_free(&next), 4);
	CHECK(may_change());
	/* A small and a large one, and of equal pairs the first. */
	CHECK_EQ(open_shards(30, 2, 8), 0);
	CHECK_EQ(next.rule[SMALL].cfg.id, 30);
	CHECK(is_absorbed(LARGE));
	CHECK_EQ(next.rule[LARGE].room_window, 64);
	CHECK(may_change());
	/* Two are left, and are no neighbours. */
	CHECK_EQ(spindle_rules_free(&next), 2);
	CHECK_EQ(open_shards(35, 2, 8), -ENOSPC);
	CHECK_EQ(open_one(35, 8, 4096), 0);
	CHECK_EQ(open_one(36, 8, 4096), 0);
	CHECK_EQ(spindle_rules_free(&next), 0);
	CHECK(may_change());
}

static void test_too_few_neighbours(void)
{
	begin_rows();
	/* Three and three are not four. */
	CHECK_EQ(open_shards(20, 4, 8), -ENOSPC);
	CHECK_EQ(open_shards(20, 64, 8), -ENOSPC);
	/* No neighbour of the large spare is large. */
	CHECK_EQ(open_shards(20, 2, 16), -ENOSPC);
	CHECK(!memcmp(&now, &next, sizeof(now)));
	/* What is behind the last rule is no spare. */
	now.num_rules = LAST;
	next.num_rules = LAST;
	CHECK_EQ(open_shards(20, 3, 8), 0);
	CHECK_EQ(next.rule[SMALL].cfg.id, 20);
	begin_rows();
	CHECK_EQ(open_shards(20, 3, 8), 0);
	CHECK_EQ(next.rule[5].cfg.id, 20);
	CHECK(is_absorbed(6) && is_absorbed(LAST));
	CHECK(may_change());
	/* One of three that this change has taken, or frees, is not free. */
	now = next;
	CHECK_EQ(close_one(20), 0);
	CHECK_EQ(open_shards(30, 3, 8), 0);
	CHECK_EQ(next.rule[SMALL].cfg.id, 30);
	CHECK_EQ(open_shards(40, 2, 8), -ENOSPC);
	CHECK(may_change());
	now = next;
	CHECK_EQ(open_shards(40, 3, 8), 0);
	CHECK(may_change());
}

static void test_close_shards(void)
{
	static struct spindle_rules before;
	u32 id;

	for (id = 20; id < 23; id++) {
		begin_rows();
		before = now;
		CHECK_EQ(open_shards(20, 3, 8), 0);
		CHECK_EQ(close_one(id), -ENOENT);
		now = next;
		CHECK_EQ(close_one(23), -ENOENT);
		CHECK_EQ(close_one(id), 0);
		CHECK_EQ(close_one(20), -ENOENT);
		CHECK(may_change());
		CHECK(!memcmp(&before, &next, sizeof(next)));
	}
}

/* Each id goes on, so any number of shards takes the place of any other. */
static void test_replace_shards(void)
{
	begin_rows();
	CHECK_EQ(open_one(20, 8, 4096), 0);
	now = next;
	CHECK_EQ(replace_shards(20, 2), 0);
	CHECK_EQ(next.rule[5].cfg.id, 20);
	CHECK(is_absorbed(6));
	CHECK_EQ(spindle_rules_free(&next), 4);
	CHECK(may_change());
	now = next;
	CHECK_EQ(replace_shards(20, 3), 0);
	CHECK_EQ(next.rule[SMALL].shards, 3);
	CHECK_EQ(spindle_rules_free(&next), 3);
	CHECK(may_change());
	now = next;
	CHECK_EQ(replace_shards(22, 1), 0);
	CHECK_EQ(next.rule[5].cfg.id, 22);
	CHECK_EQ(spindle_rules_free(&next), 5);
	CHECK(may_change());
}

static void test_become(void)
{
	CHECK(becomes("ooo", "3--"));
	CHECK(becomes("3--", "ooo"));
	CHECK(becomes("2-o", "2-o"));
	CHECK(becomes("2-o", "2-1"));
	CHECK(becomes("2-1", "oo1"));
	CHECK(becomes("1oo", "o2-"));
	CHECK(becomes("2-1", "ooo"));
	/* A subgroup gets no shard, and loses none. */
	CHECK(!becomes("2-o", "3--"));
	CHECK(!becomes("1oo", "2-o"));
	CHECK(!becomes("3--", "2-o"));
	CHECK(!becomes("2-o", "1oo"));
	/* Nothing takes the place of a subgroup or of a shard that the same change removes. */
	CHECK(!becomes("2-o", "o1o"));
	CHECK(!becomes("2-o", "o2-"));
	CHECK(!becomes("3--", "oo1"));
	CHECK(!becomes("o1o", "2-o"));
	CHECK(!becomes("o2-", "3--"));
	CHECK(!becomes("11o", "2-o"));
	CHECK(!becomes("2-o", "11o"));
}

/* The text about rules whose rules 5 to 7 follow letters. A member may send any. */
static void refused_letters(const char *letters, const char *text, int at)
{
	const char *got;
	int fault;

	begin_rows();
	set_letters(&next, letters);
	got = spindle_rules_check(&next, &fault);
	if (!got || !strstr(got, text) || fault != at)
		tap_fail("%s: %s, about rule %d", letters, got ? got : "accepted", fault);
}

/* Rules 5 and 6 have two shards, and @at is changed. */
static void refused_shards(u32 at, void (*set)(struct spindle_rule *rule), const char *text,
			   u32 about)
{
	const char *got;
	int fault;

	begin_rows();
	CHECK_EQ(open_shards(20, 2, 8), 0);
	CHECK(valid(&next));
	set(&next.rule[at]);
	got = spindle_rules_check(&next, &fault);
	if (!got || !strstr(got, text) || fault != (int)about)
		tap_fail("%s: %s, about rule %d", text, got ? got : "accepted", fault);
}

SET(no_shard, r->shards = 0)
SET(all_numbers, r->shards = U32_MAX)
SET(wraps, r->shards = U32_MAX - 3)
SET(opened, r->flags = SPINDLE_RULE_SPARE)
SET(narrow, r->room_window = 4)
SET(small_ring, r->cfg.ring = 8192; r->room_ring = 8192)
SET(last_id, r->cfg.id = U32_MAX)
SET(absorbed, *r = now.rule[SMALL]; r->shards = 0)
SET(of_birth, r->flags = SPINDLE_RULE_CLOSED; r->room_window = 0; r->room_ring = 0)

static void test_absorbed(void)
{
	refused_letters("o-o", "one spare for each shard", 5);
	refused_letters("-oo", "one spare for each shard", B_RULE);
	refused_letters("1-o", "one spare for each shard", 5);
	refused_letters("2--", "one spare for each shard", 5);
	refused_letters("2oo", "one spare for each shard", 5);
	refused_letters("21o", "one spare for each shard", 5);
	refused_letters("3-o", "one spare for each shard", 5);
	refused_letters("o3-", "one spare for each shard", 6);
	refused_letters("oo2", "one spare for each shard", LAST);
	refused_shards(0, absorbed, "in front of it", 0);
	refused_shards(5, no_shard, "shards is 1 to 64", 5);
	refused_shards(5, all_numbers, "shards is 1 to 64", 5);
	refused_shards(5, wraps, "shards is 1 to 64", 5);
	refused_shards(B_RULE, no_shard, "shards is 1 to 64", B_RULE);
	refused_shards(5, last_id, "32 bits", 5);
	refused_shards(6, opened, "one spare for each shard", 5);
	refused_shards(6, of_birth, "one spare for each shard", 5);
	refused_shards(6, narrow, "fits into its spare", 5);
	refused_shards(5, small_ring, "fits into its spare", 5);
	refused_shards(6, kept_id, "closed has no subgroup", 6);
	refused_shards(6, kept_sender, "closed has no subgroup", 6);
	/* A shard is behind the last rule. */
	begin_rows();
	CHECK_EQ(open_shards(20, 3, 8), 0);
	CHECK(valid(&next));
	next.num_rules = LAST;
	CHECK(!valid(&next));
}

static int open_table_shards(u32 id, u32 shards, u32 cells, u32 mode)
{
	struct spindle_rule rule = wanted_table(id, cells, 64);

	rule.cfg.mode = mode;
	rule.shards = shards;
	return spindle_rules_open(&now, &next, &rule);
}

/* A table takes a spare for each shard, and each of them has room for its cells. */
static void test_table_shards(u32 mode)
{
	static struct spindle_rules before;

	begin_rows();
	before = now;
	CHECK_EQ(open_table_shards(20, 4, 8, mode), -ENOSPC);
	CHECK_EQ(open_table_shards(20, 2, 9, mode), -ENOSPC);
	CHECK(!memcmp(&now, &next, sizeof(now)));
	CHECK_EQ(open_table_shards(20, 2, 8, mode), 0);
	CHECK_EQ(next.rule[5].cfg.id, 20);
	CHECK_EQ(next.rule[5].cfg.mode, mode);
	CHECK(is_absorbed(6));
	CHECK(may_change());
	same_places();
	/* A member may send any rules. The second shard has to fit, too. */
	next.rule[6].room_window = 4;
	CHECK(!valid(&next));
	next.rule[6].room_window = 8;
	/* A larger one fits into no neighbours, and one shard has the large spare. */
	CHECK_EQ(open_table_shards(30, 2, 64, mode), -ENOSPC);
	CHECK_EQ(open_table_shards(30, 1, 64, mode), 0);
	CHECK_EQ(next.rule[LARGE].cfg.id, 30);
	CHECK(may_change());
	now = next;
	CHECK_EQ(close_one(30), 0);
	CHECK_EQ(close_one(21), 0);
	CHECK_EQ(close_one(20), -ENOENT);
	CHECK(may_change());
	same_places();
	CHECK(!memcmp(&before, &next, sizeof(next)));
}

static void test_write_shards(void)
{
	test_table_shards(SPINDLE_MODE_TABLE);
}

static void test_read_shards(void)
{
	test_table_shards(SPINDLE_MODE_TABLE_READ);
}

/* Any number of shards takes the place of any other, in any mode. */
static void test_replace_table_shards(void)
{
	struct spindle_rule rule = wanted_table(21, 4, 64);

	begin_rows();
	CHECK_EQ(open_table_shards(20, 3, 8, SPINDLE_MODE_TABLE), 0);
	now = next;
	rule.cfg.mode = SPINDLE_MODE_TABLE_READ;
	rule.shards = 2;
	CHECK_EQ(spindle_rules_replace(&now, &next, &rule), 0);
	CHECK_EQ(next.rule[SMALL].cfg.id, 21);
	CHECK_EQ(next.rule[SMALL].shards, 2);
	CHECK_EQ(spindle_rules_free(&next), 4);
	CHECK(may_change());
	same_places();
	/* A table gets no shard where it is, and loses none. */
	now = next;
	next.rule[SMALL].shards = 1;
	next.rule[LARGE].shards = 1;
	CHECK(valid(&next));
	CHECK(spindle_rules_change(&now, &next));
	/* Shards of a subgroup with messages take the place of those of a table. */
	next = now;
	CHECK_EQ(replace_shards(22, 3), 0);
	CHECK_EQ(next.rule[5].cfg.mode, SPINDLE_MODE_ORDERED);
	CHECK(may_change());
}

/* Rows have room at the index of each shard, although their spares differ in size. */
static void test_places_of_shards(void)
{
	begin_rows();
	CHECK_EQ(open_shards(20, 3, 8), 0);
	CHECK_EQ(open_shards(30, 3, 4), 0);
	CHECK_EQ(next.rule[SMALL].cfg.id, 30);
	CHECK(may_change());
	same_places();
	now = next;
	CHECK_EQ(close_one(31), 0);
	same_places();
	/* The spares keep their room while they are absorbed. */
	begin_rows();
	CHECK_EQ(open_shards(20, 2, 8), 0);
	next.rule[6].room_ring = 8192;
	CHECK(valid(&next));
	CHECK(spindle_rules_change(&now, &next));
}

static void members_up_to(u32 nodes)
{
	view.vid++;
	view.num_members = nodes;
	for (u32 i = 0; i < nodes; i++)
		view.member[i] = (struct spindle_view_member){
			.id = 1 + i, .addr = { .family = 4, .port = 1 + i },
		};
}

/* Members share the shards, stay in them, and change over only if a shard has too few. */
static void test_view_of_shards(void)
{
	static struct spindle_view later;

	begin_rows();
	CHECK_EQ(open_shards(20, 2, 8), 0);
	memset(&view, 0, sizeof(view));
	members_up_to(4);
	CHECK(!spindle_rules_next(&now, &view, &view));
	later = view;
	later.vid++;
	CHECK(!spindle_rules_next(&next, &view, &later));
	CHECK(!spindle_view_check(&later, true, NULL));
	CHECK(spindle_rules_fit(&next, &later));
	CHECK_EQ(later.num_subgroups, view.num_subgroups);
	CHECK_EQ(later.subgroup[6].id, 20);
	CHECK_EQ(later.subgroup[6].members, 5);
	CHECK_EQ(later.subgroup[7].id, 21);
	CHECK_EQ(later.subgroup[7].members, 10);
	CHECK(spindle_rules_of(&next, 6) == &next.rule[5]);
	CHECK(spindle_rules_of(&next, 7) == &next.rule[5]);
	CHECK(spindle_rules_of(&next, 8) == &next.rule[LAST]);
	/* Nodes 2 and 4 leave, and so node 3 goes to the second shard. */
	view = later;
	view.num_members = 2;
	view.member[1] = view.member[2];
	CHECK(!spindle_rules_next(&next, &later, &view));
	CHECK_EQ(view.subgroup[6].members, 1);
	CHECK_EQ(view.subgroup[7].members, 2);
	CHECK_EQ(spindle_view_subgroup(&view, 21) - view.subgroup, 7);
	/* The ids of all shards have to be free. */
	begin_rows();
	CHECK_EQ(open_shards(14, 2, 8), 0);
	CHECK(valid(&next));
	memset(&view, 0, sizeof(view));
	members_up_to(2);
	CHECK(!spindle_rules_next(&next, &view, &view));
	CHECK(!strcmp(spindle_view_check(&view, true, NULL),
		      "two subgroups have the same id"));
}

/* Members share the shards of a table. Nobody sends, and a shard lacks members, but no sender. */
static void test_view_of_table_shards(void)
{
	static struct spindle_view later;
	u32 s;

	begin_rows();
	memset(&view, 0, sizeof(view));
	members_up_to(5);
	CHECK(!spindle_rules_next(&now, &view, &view));
	CHECK_EQ(open_table_shards(20, 2, 8, SPINDLE_MODE_TABLE), 0);
	next.rule[5].min = 2;
	later = view;
	later.vid++;
	CHECK(!spindle_rules_next(&next, &view, &later));
	CHECK(!spindle_view_check(&later, true, NULL));
	CHECK(spindle_rules_fit(&next, &later));
	CHECK_EQ(later.subgroup[6].members, 0x15);
	CHECK_EQ(later.subgroup[7].members, 0xa);
	for (s = 6; s < 8; s++) {
		CHECK_EQ(later.subgroup[s].id, 14 + s);
		CHECK_EQ(later.subgroup[s].senders, 0);
		CHECK(spindle_view_is_table(&later.subgroup[s]));
		CHECK_EQ(spindle_view_cells(&later.subgroup[s]), 8);
		CHECK(spindle_rules_enough(&next, &later, s));
	}
	/* Node 2 leaves, and so node 5 goes to the second shard. */
	view = later;
	view.num_members = 4;
	memmove(&view.member[1], &view.member[2], 3 * sizeof(view.member[1]));
	CHECK(!spindle_rules_next(&next, &later, &view));
	CHECK_EQ(view.subgroup[6].members, 3);
	CHECK_EQ(view.subgroup[7].members, 12);
	/* Then node 1 leaves: no shard can spare a member. */
	later = view;
	later.num_members = 3;
	memmove(&later.member[0], &later.member[1], 3 * sizeof(view.member[1]));
	CHECK(!spindle_rules_next(&next, &view, &later));
	CHECK_EQ(later.subgroup[6].members, 1);
	CHECK_EQ(later.subgroup[7].members, 6);
	CHECK(!spindle_rules_enough(&next, &later, 6));
	CHECK(spindle_rules_enough(&next, &later, 7));
}

/* One subgroup takes all indexes that a view can have. */
static void test_all_places(void)
{
	u32 i;

	begin();
	now.num_rules = SPINDLE_MAX_SUBGROUPS;
	now.rule[A_RULE] = now.rule[SMALL];
	for (i = 0; i < SPINDLE_MAX_SUBGROUPS; i++)
		now.rule[i] = now.rule[SMALL];
	next = now;
	CHECK_EQ(open_shards(20, SPINDLE_MAX_SUBGROUPS + 1, 8), -ENOSPC);
	CHECK_EQ(open_shards(20, SPINDLE_MAX_SUBGROUPS, 8), 0);
	CHECK(may_change());
	memset(&view, 0, sizeof(view));
	members_up_to(6);
	CHECK(!spindle_rules_next(&next, &view, &view));
	CHECK(spindle_rules_fit(&next, &view));
	CHECK_EQ(view.num_subgroups, SPINDLE_MAX_SUBGROUPS);
	for (i = 0; i < SPINDLE_MAX_SUBGROUPS; i++)
		CHECK_EQ(view.subgroup[i].members, i < 6 ? BIT_ULL(i) : 0);
	same_places();
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a new subgroup takes the smallest spare", test_open },
		{ "a new table takes a spare, too", test_open_table },
		{ "a table of another mode is another table", test_table_mode },
		{ "a subgroup is removed, and its spare is free again", test_close },
		{ "a subgroup that changes goes to another place", test_replace },
		{ "a subgroup with logs is not replaced", test_replace_logged },
		{ "a view with logs gets no other subgroup with logs", test_more_logs },
		{ "a subgroup with logs is not removed", test_fewer_logs },
		{ "one change has several changes of subgroups", test_several },
		{ "one change changes each subgroup once", test_once },
		{ "the rest of the rules is constant", test_constant },
		{ "spares have limits, and free ones nothing else", test_limits },
		{ "rows and decrees are as they were", test_places },
		{ "the smallest spares have room for a table", test_small_spares },
		{ "a table given at birth has room until the end", test_table_at_birth },
		{ "a view has no members where a rule is closed", test_view },
		{ "a new subgroup of several shards takes neighbours", test_open_shards },
		{ "spares that are no neighbours do not do", test_too_few_neighbours },
		{ "all shards are removed, and their spares are free again", test_close_shards },
		{ "several shards take the place of others", test_replace_shards },
		{ "spares are taken and freed, and nothing else", test_become },
		{ "a table of several shards takes neighbours", test_write_shards },
		{ "so does one of mode read", test_read_shards },
		{ "shards of a table are replaced", test_replace_table_shards },
		{ "only spares behind a subgroup are absorbed", test_absorbed },
		{ "rows are as they were with shards", test_places_of_shards },
		{ "members share the shards that are added", test_view_of_shards },
		{ "members share the shards of a table", test_view_of_table_shards },
		{ "one subgroup has all places", test_all_places },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
