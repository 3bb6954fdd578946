// SPDX-License-Identifier: GPL-2.0-only
/*
 * Layouts: the place of each thing in a row, for every writer and holder of random views.
 */
#include "rng.h"
#include "tap.h"
#include "core/base/layout.h"
#include "core/base/smc.h"

/* The node's block, and block, express place and two rings of each subgroup. */
#define MAX_RANGES (1 + 4 * SPINDLE_MAX_SUBGROUPS)

struct range {
	u64 at;
	u64 len;
};

struct ranges {
	struct range r[MAX_RANGES];
	u32 n;
};

static struct rng rng;

static void make_table(struct spindle_view_subgroup *sg)
{
	u32 cell = SPINDLE_MIN_CELL << rng_below(&rng, 7);
	u32 most = min_t(u32, SPINDLE_MAX_TABLE_ROW / cell, SPINDLE_MAX_CELLS);
	bool of_cell;

	sg->mode = rng_chance(&rng, 50) ? SPINDLE_MODE_TABLE : SPINDLE_MODE_TABLE_READ;
	sg->senders = 0;
	CHECK(!spindle_view_set_table(sg, 1 + rng_below(&rng, most), cell, &of_cell));
}

static void random_view(struct spindle_view *v, u32 members, u32 subgroups)
{
	u64 all = members == 64 ? U64_MAX : BIT_ULL(members) - 1;
	u32 i;

	memset(v, 0, sizeof(*v));
	v->vid = 1;
	v->num_members = members;
	v->num_subgroups = subgroups;
	for (i = 0; i < members; i++) {
		v->member[i].id = i + 1;
		v->member[i].addr.port = i + 1;
		v->member[i].addr.family = 4;
	}
	for (i = 0; i < subgroups; i++) {
		struct spindle_view_subgroup *sg = &v->subgroup[i];

		sg->id = i;
		sg->mode = rng_below(&rng, 2);
		sg->window = 1U << rng_below(&rng, 17);
		sg->ring = 4096U << rng_below(&rng, 19);
		sg->max_msg = 1 + rng_below(&rng, min_t(u32, sg->ring, SPINDLE_MAX_MSG));
		sg->members = rng_u64(&rng) & all;
		sg->members |= BIT_ULL(rng_below(&rng, members));
		sg->senders = rng_u64(&rng) & sg->members;
		if (!sg->senders)
			sg->senders = sg->members;
		if (rng_chance(&rng, 30))
			make_table(sg);
	}
	if (spindle_view_check(v, false, NULL))
		tap_fail("random view: %s", spindle_view_check(v, false, NULL));
}

static void add(struct ranges *rs, u64 at, u64 len)
{
	rs->r[rs->n].at = at;
	rs->r[rs->n++].len = len;
}

static int by_place(const void *a, const void *b)
{
	const struct range *x = a, *y = b;

	return x->at < y->at ? -1 : x->at > y->at;
}

static void check_row(const struct spindle_view *v, u32 writer, u32 holder)
{
	struct ranges rs = { .n = 0 };
	struct spindle_layout lo;
	u32 i;

	memset(&lo, 0x5a, sizeof(lo));
	spindle_layout_row(&lo, v, writer, holder);
	CHECK(IS_ALIGNED(lo.sst, SPINDLE_PAGE) && IS_ALIGNED(lo.size, SPINDLE_PAGE));
	CHECK(lo.sst && lo.sst <= lo.size);
	add(&rs, SPINDLE_NODE_BLOCK, sizeof(struct spindle_block));
	for (i = 0; i < v->num_subgroups; i++) {
		const struct spindle_view_subgroup *sg = &v->subgroup[i];
		bool table = spindle_view_is_table(sg);
		u64 writers = table ? sg->members : sg->senders;
		bool has = (writers & BIT_ULL(writer)) && (sg->members & BIT_ULL(holder));

		CHECK(spindle_layout_block(i) + sizeof(struct spindle_block) <= lo.sst);
		add(&rs, spindle_layout_block(i), sizeof(struct spindle_block));
		CHECK((lo.hdr[i] != SPINDLE_NO_OFFSET) == has);
		CHECK((lo.pay[i] != SPINDLE_NO_OFFSET) == has);
		if (!has)
			continue;
		if (table) {
			CHECK(IS_ALIGNED(lo.hdr[i], sizeof(struct spindle_block)));
			CHECK(IS_ALIGNED(lo.pay[i], SPINDLE_PAGE));
			add(&rs, lo.hdr[i], sizeof(struct spindle_block));
			add(&rs, lo.pay[i], sg->ring);
			continue;
		}
		CHECK(spindle_layout_express(&lo, i) >= lo.sst);
		CHECK(IS_ALIGNED(spindle_layout_express(&lo, i), sizeof(u64)));
		add(&rs, spindle_layout_express(&lo, i), sizeof(struct spindle_express));
		CHECK(IS_ALIGNED(lo.hdr[i], sizeof(struct spindle_hdr)));
		CHECK(IS_ALIGNED(lo.pay[i], SPINDLE_PAGE));
		add(&rs, lo.hdr[i], (u64)sg->window * sizeof(struct spindle_hdr));
		add(&rs, lo.pay[i], sg->ring);
	}
	qsort(rs.r, rs.n, sizeof(rs.r[0]), by_place);
	for (i = 1; i < rs.n; i++)
		CHECK(rs.r[i - 1].at + rs.r[i - 1].len <= rs.r[i].at);
	CHECK(rs.r[rs.n - 1].at + rs.r[rs.n - 1].len <= lo.size);
}

static void test_random_views(void)
{
	static struct spindle_view v;
	u32 members, i, j;

	for (members = 1; members <= SPINDLE_MAX_MEMBERS; members++) {
		random_view(&v, members, rng_below(&rng, SPINDLE_MAX_SUBGROUPS + 1));
		for (i = 0; i < members; i++)
			for (j = 0; j < members; j++)
				if (members < 12 || rng_chance(&rng, 5))
					check_row(&v, i, j);
	}
	random_view(&v, SPINDLE_MAX_MEMBERS, SPINDLE_MAX_SUBGROUPS);
	check_row(&v, 0, 63);
	check_row(&v, 63, 0);
}

/* The writer has to know the places in the holder's copy, so both use the same function. */
static void test_agreement(void)
{
	static struct spindle_view a, b;
	struct spindle_layout x, y;
	u32 i, j, round;

	for (round = 0; round < 20; round++) {
		random_view(&a, 1 + rng_below(&rng, 64), rng_below(&rng, 65));
		b = a;
		/* Fields that may differ between hosts. */
		for (i = 0; i < b.num_subgroups; i++)
			b.subgroup[i].hold ^= !spindle_view_is_table(&b.subgroup[i]);
		CHECK_EQ(spindle_view_digest(&a), spindle_view_digest(&b));
		i = rng_below(&rng, a.num_members);
		j = rng_below(&rng, a.num_members);
		spindle_layout_row(&x, &a, i, j);
		spindle_layout_row(&y, &b, i, j);
		CHECK_EQ(x.sst, y.sst);
		CHECK_EQ(x.size, y.size);
		CHECK(!memcmp(x.hdr, y.hdr, a.num_subgroups * sizeof(x.hdr[0])));
		CHECK(!memcmp(x.pay, y.pay, a.num_subgroups * sizeof(x.pay[0])));
	}
}

/* Table I of the Spindle paper: parts that are not shared take no memory. */
static void test_only_what_is_shared(void)
{
	static struct spindle_view v;
	struct spindle_layout lo;
	u32 i;

	random_view(&v, 5, 3);
	for (i = 0; i < 3; i++) {
		v.subgroup[i].window = 8;
		v.subgroup[i].ring = 8192;
	}
	v.subgroup[0].members = v.subgroup[0].senders = 0x07;
	v.subgroup[1].members = v.subgroup[1].senders = 0x0b;
	v.subgroup[2].members = v.subgroup[2].senders = 0x15;

	spindle_layout_row(&lo, &v, 0, 0);
	CHECK_EQ(lo.size, 4096 + 4096 + 3 * 8192);
	spindle_layout_row(&lo, &v, 0, 1);
	CHECK_EQ(lo.size, 4096 + 4096 + 2 * 8192);
	spindle_layout_row(&lo, &v, 3, 1);
	CHECK_EQ(lo.size, 4096 + 4096 + 8192);
	/* No subgroup in common: the blocks only. */
	spindle_layout_row(&lo, &v, 3, 4);
	CHECK_EQ(lo.size, 4096);
	CHECK_EQ(lo.sst, 4096);
}

static void test_blocks(void)
{
	static struct spindle_view v;
	struct spindle_layout lo;
	u32 i;

	CHECK_EQ(sizeof(struct spindle_block), 64);
	CHECK_EQ(SPINDLE_BLOCK_PUSH, 40);
	for (i = 0; i < SPINDLE_MAX_SUBGROUPS; i++)
		CHECK_EQ(spindle_layout_block(i), 64 * (i + 1));
	/* Log blocks are behind the blocks of all subgroups. */
	for (i = 0; i < SPINDLE_MAX_SUBGROUPS; i++)
		CHECK_EQ(spindle_layout_log(SPINDLE_MAX_SUBGROUPS, i),
			 64 * (1 + SPINDLE_MAX_SUBGROUPS + i));
	CHECK_EQ(spindle_layout_log(3, 0), spindle_layout_block(2) + 64);
	random_view(&v, 2, 63);
	spindle_layout_row(&lo, &v, 0, 1);
	CHECK_EQ(lo.sst, 4096);
	random_view(&v, 2, 64);
	spindle_layout_row(&lo, &v, 0, 1);
	CHECK_EQ(lo.sst, 8192);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "random views, 1 to 64 members: no overlap, aligned, inside",
		  test_random_views },
		{ "writer and holder compute the same layout", test_agreement },
		{ "a member pair has rings only for common subgroups", test_only_what_is_shared },
		{ "blocks have the same place in all rows", test_blocks },
	};

	rng = rng_seed();
	return tap_run(cases, ARRAY_SIZE(cases));
}
