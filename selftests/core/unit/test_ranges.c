// SPDX-License-Identifier: GPL-2.0-only
/*
 * Ranges: which views of earlier eras a request may have, and what tells two of them apart.
 */
#include "core/base/ranges.h"
#include "tap.h"

#define VIEWS 64

static struct {
	struct spindle_ranges all;
	struct spindle_range_view view[VIEWS];
} room;

static struct spindle_ranges *const ranges = &room.all;

static void clear(void)
{
	memset(&room, 0, sizeof(room));
}

#define NODES(...) ((const u32 []){ __VA_ARGS__ })
#define COUNT(...) (sizeof(NODES(__VA_ARGS__)) / sizeof(u32))
#define ADD(subgroup, ...) \
	spindle_ranges_add(ranges, subgroup, NODES(__VA_ARGS__), COUNT(__VA_ARGS__))

static bool says(const char *text, const char *want)
{
	if (!text || strcmp(text, want))
		printf("# said: %s\n", text ? text : "nothing");
	return text && !strcmp(text, want);
}

static void test_order(void)
{
	clear();
	CHECK(!ADD(7, 3, 1, 2));
	CHECK(!ADD(9, 5));
	CHECK(!ADD(7, U32_MAX, 1));
	CHECK_EQ(ranges->views, 3);
	CHECK_EQ(room.view[0].subgroup, 7);
	CHECK_EQ(room.view[0].members, 3);
	CHECK_EQ(room.view[0].node[0], 1);
	CHECK_EQ(room.view[0].node[1], 2);
	CHECK_EQ(room.view[0].node[2], 3);
	CHECK_EQ(room.view[1].subgroup, 9);
	CHECK_EQ(room.view[1].members, 1);
	CHECK_EQ(room.view[1].node[0], 5);
	CHECK_EQ(room.view[2].node[0], 1);
	CHECK_EQ(room.view[2].node[1], U32_MAX);
}

/* A refusal leaves the ranges as they were. */
static void test_refused(void)
{
	u32 node[SPINDLE_MAX_MEMBERS + 1], i;

	for (i = 0; i <= SPINDLE_MAX_MEMBERS; i++)
		node[i] = 1000 - i;
	clear();
	CHECK(!spindle_ranges_add(ranges, 1, node, SPINDLE_MAX_MEMBERS));
	CHECK_EQ(room.view[0].node[0], 1000 - SPINDLE_MAX_MEMBERS + 1);
	CHECK_EQ(room.view[0].node[SPINDLE_MAX_MEMBERS - 1], 1000);
	CHECK_EQ(room.view[1].subgroup, 0);
	CHECK(says(spindle_ranges_add(ranges, 1, node, SPINDLE_MAX_MEMBERS + 1),
		   "a view of a range has 1 to 64 members"));
	CHECK(says(spindle_ranges_add(ranges, 1, node, U32_MAX),
		   "a view of a range has 1 to 64 members"));
	CHECK(says(spindle_ranges_add(ranges, 1, node, 0),
		   "a view of a range has 1 to 64 members"));
	CHECK(says(ADD(1, 0), "node ids start at 1"));
	CHECK(says(ADD(1, 4, 0), "node ids start at 1"));
	CHECK(says(ADD(1, 4, 5, 4), "a node is twice in a view of a range"));
	CHECK(says(ADD(1, 4, 4), "a node is twice in a view of a range"));
	CHECK(says(ADD(1, 4, 3, 2, 3), "a node is twice in a view of a range"));
	CHECK_EQ(ranges->views, 1);
	CHECK(!ADD(1, 9));
	CHECK_EQ(room.view[1].members, 1);
	CHECK_EQ(room.view[1].node[0], 9);
}

/* Each subgroup has a limit of its own. */
static void test_most(void)
{
	u32 i;

	clear();
	for (i = 0; i < SPINDLE_MAX_RANGE; i++) {
		CHECK(!ADD(1, 1 + i));
		CHECK(!ADD(2, 1, 2));
	}
	CHECK(says(ADD(1, 1), "a range has at most 15 views"));
	CHECK(says(ADD(2, 1), "a range has at most 15 views"));
	CHECK_EQ(ranges->views, 2 * SPINDLE_MAX_RANGE);
	CHECK(!ADD(3, 1));
}

/* The digest of a view without a range is that of the view. */
static void test_digest(void)
{
	u64 had, sorted;

	clear();
	CHECK_EQ(spindle_ranges_digest(5, NULL), 5);
	CHECK_EQ(spindle_ranges_digest(5, ranges), 5);
	CHECK(!ADD(1, 1, 2, 3));
	had = spindle_ranges_digest(5, ranges);
	CHECK(had != 5);
	CHECK(spindle_ranges_digest(6, ranges) != had);
	room.view[0].subgroup = 2;
	CHECK(spindle_ranges_digest(5, ranges) != had);
	room.view[0].subgroup = 1;
	room.view[0].node[2] = 4;
	CHECK(spindle_ranges_digest(5, ranges) != had);
	room.view[0].node[2] = 3;
	room.view[0].node[0] = 0;
	CHECK(spindle_ranges_digest(5, ranges) != had);
	room.view[0].node[0] = 1;
	room.view[0].members = 2;
	CHECK(spindle_ranges_digest(5, ranges) != had);
	room.view[0].members = 3;
	CHECK_EQ(spindle_ranges_digest(5, ranges), had);
	CHECK(!ADD(1, 1));
	CHECK(spindle_ranges_digest(5, ranges) != had);
	/* The order of views counts, and that of members does not. */
	clear();
	ADD(1, 1, 2);
	ADD(1, 3);
	sorted = spindle_ranges_digest(5, ranges);
	clear();
	ADD(1, 2, 1);
	ADD(1, 3);
	CHECK_EQ(spindle_ranges_digest(5, ranges), sorted);
	clear();
	ADD(1, 3);
	ADD(1, 1, 2);
	CHECK(spindle_ranges_digest(5, ranges) != sorted);
	clear();
	ADD(1, 1);
	ADD(1, 2, 3);
	CHECK(spindle_ranges_digest(5, ranges) != sorted);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "views and members in order", test_order },
		{ "views that are refused", test_refused },
		{ "how many views a range has", test_most },
		{ "the digest of a first view with ranges", test_digest },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
