// SPDX-License-Identifier: GPL-2.0-only
/*
 * Messages for some of the members: ranks in earlier views, and what becomes of them.
 */
#include "core/multicast/multicast.h"
#include "tap.h"

#define NONE SPINDLE_NO_RANK

static struct spindle_mc *first(u64 vid, u32 members)
{
	struct spindle_mc *mc = calloc(1, sizeof(*mc));

	mc->vid = vid;
	mc->latest = vid;
	mc->members = members;
	return mc;
}

/* The next view of @old: its members had these ranks there. */
static struct spindle_mc *follow(struct spindle_mc *old, u64 vid, u32 members, const u32 *was)
{
	struct spindle_mc *mc = first(vid, members);

	spindle_mc_renumber(mc, old, was);
	free(old);
	return mc;
}

static bool gives(const struct spindle_mc *mc, u64 mask, u64 vid, u64 want)
{
	bool known = spindle_mc_direct(mc, &mask, vid);

	return known && mask == want;
}

static bool refuses(const struct spindle_mc *mc, u64 mask, u64 vid)
{
	return !spindle_mc_direct(mc, &mask, vid);
}

static void test_present(void)
{
	struct spindle_mc *mc = first(7, 3);

	CHECK(gives(mc, 5, 7, 5));
	CHECK(gives(mc, 7, 7, 7));
	CHECK(refuses(mc, 8, 7));
	CHECK(refuses(mc, BIT_ULL(63), 7));
	/* There is no view 8 yet. */
	CHECK(refuses(mc, 5, 8));
	/* The subgroup has stayed as it was since view 7. */
	mc->latest = 9;
	CHECK(gives(mc, 5, 9, 5));
	CHECK(gives(mc, 5, 8, 5));
	CHECK(gives(mc, 5, 7, 5));
	CHECK(refuses(mc, 5, 10));
	CHECK(refuses(mc, 5, 6));
	mc->members = 64;
	CHECK(gives(mc, U64_MAX, 7, U64_MAX));
	CHECK(gives(mc, BIT_ULL(63), 8, BIT_ULL(63)));
	free(mc);
}

/* A subgroup stays for 65,000 views. The process names a late one, an early one, and none. */
static void test_stays(void)
{
	static const u32 second[] = { 1 };
	struct spindle_mc *mc = follow(first(5, 2), 6, 1, second);

	mc->latest = 65000;
	CHECK(gives(mc, 1, 65000, 1));
	CHECK(gives(mc, 1, 40000, 1));
	CHECK(gives(mc, 1, 6, 1));
	CHECK(gives(mc, 3, 5, 1));
	CHECK(refuses(mc, 1, 4));
	CHECK(refuses(mc, 1, 65001));
	/* View 6 is 2^16 views back, and its bits are those of the present one. */
	mc->latest = 65542;
	CHECK(gives(mc, 1, 6, 1));
	CHECK(gives(mc, 1, 7, 1));
	CHECK(refuses(mc, 2, 5));
	free(mc);
}

/* Member 1 of view 7 goes, and a joiner comes behind the others; then member 0 goes. */
static void test_former(void)
{
	static const u32 second[] = { 0, 2, 3, NONE }, third[] = { 1, 2, 3 };
	struct spindle_mc *mc = follow(first(7, 4), 9, 4, second);

	CHECK(gives(mc, 1 | 2 | 4, 7, 1 | 2));
	CHECK(gives(mc, 8, 8, 4));
	CHECK(gives(mc, 2, 7, 0));
	CHECK(refuses(mc, 16, 7));
	CHECK(gives(mc, 8, 9, 8));
	mc = follow(mc, 10, 3, third);
	CHECK(gives(mc, 1 | 2 | 4 | 8, 7, 1 | 2));
	CHECK(gives(mc, 1 | 2 | 8, 9, 1 | 4));
	CHECK(refuses(mc, 16, 8));
	CHECK(refuses(mc, 8, 10));
	free(mc);
}

/* A message that names an older view than a subgroup knows is refused. */
static void test_forgotten(void)
{
	static const u32 same[] = { 0, 1, 2 };
	struct spindle_mc *mc = first(1, 3);
	u64 vid;

	for (vid = 2; vid <= SPINDLE_FORMER_VIEWS + 1; vid++) {
		mc = follow(mc, vid, 3, same);
		CHECK(gives(mc, 2, 1, 2));
	}
	mc = follow(mc, vid, 3, same);
	CHECK(refuses(mc, 2, 1));
	CHECK(gives(mc, 2, 2, 2));
	free(mc);
	/* There was no view before the first one. */
	mc = first(5, 3);
	CHECK(refuses(mc, 2, 4));
	free(mc);
}

/* Only the last 16 bits of a view's id are there. */
static void test_wrap(void)
{
	static const u32 swapped[] = { 1, 0 };
	struct spindle_mc *mc = follow(first(0x1ffff, 2), 0x20000, 2, swapped);

	CHECK(gives(mc, 1, 0xffff, 2));
	CHECK(gives(mc, 1, 0, 1));
	CHECK(refuses(mc, 1, 3));
	mc->latest = 0x20003;
	CHECK(gives(mc, 1, 3, 1));
	CHECK(gives(mc, 1, 0xffff, 2));
	free(mc);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "ranks of the present view stay as they are", test_present },
		{ "a subgroup stays for many views", test_stays },
		{ "ranks of former views become present ones", test_former },
		{ "a view that is forgotten is refused", test_forgotten },
		{ "the last 16 bits of a view's id wrap", test_wrap },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
