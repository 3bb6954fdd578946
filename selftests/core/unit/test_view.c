// SPDX-License-Identifier: GPL-2.0-only
/*
 * Views: ranks, limits, the digest and the default ring.
 */
#include "tap.h"
#include "core/base/view.h"

/* Three members and two subgroups. Every field differs from its neighbours. */
static struct spindle_view sample(void)
{
	struct spindle_view v = {
		.vid = 7,
		.num_members = 3,
		.num_subgroups = 2,
	};
	u32 i;

	for (i = 0; i < v.num_members; i++) {
		v.member[i].id = 10 + 3 * i;
		v.member[i].addr.ip[0] = 10;
		v.member[i].addr.ip[3] = i + 1;
		v.member[i].addr.port = 4790;
		v.member[i].addr.family = 4;
	}
	v.subgroup[0] = (struct spindle_view_subgroup){
		.id = 5, .mode = SPINDLE_MODE_ORDERED, .window = 16, .max_msg = 1000,
		.ring = 16384, .members = 7, .senders = 3, .name = "first",
	};
	v.subgroup[1] = (struct spindle_view_subgroup){
		.id = 0, .mode = SPINDLE_MODE_UNORDERED, .window = 1, .max_msg = 4096,
		.ring = 4096, .members = 6, .senders = 4, .name = "second",
	};
	return v;
}

static void test_rank(void)
{
	struct spindle_view v = sample();

	CHECK(spindle_view_rank(&v, 10) == 0);
	CHECK(spindle_view_rank(&v, 13) == 1);
	CHECK(spindle_view_rank(&v, 16) == 2);
	CHECK(spindle_view_rank(&v, 11) == -ENOENT);
	CHECK(spindle_view_rank(&v, 0) == -ENOENT);
	CHECK(spindle_view_subgroup(&v, 5) == &v.subgroup[0]);
	CHECK(spindle_view_subgroup(&v, 0) == &v.subgroup[1]);
	CHECK(!spindle_view_subgroup(&v, 1));
	v.num_subgroups = 1;
	CHECK(!spindle_view_subgroup(&v, 0));
}

static void test_mask_rank(void)
{
	u64 mask = BIT_ULL(0) | BIT_ULL(5) | BIT_ULL(62) | BIT_ULL(63);

	CHECK_EQ(spindle_mask_rank(mask, 0), 0);
	CHECK_EQ(spindle_mask_rank(mask, 5), 1);
	CHECK_EQ(spindle_mask_rank(mask, 62), 2);
	CHECK_EQ(spindle_mask_rank(mask, 63), 3);
	CHECK_EQ(spindle_mask_rank(U64_MAX, 63), 63);
}

struct limit {
	const char *name;
	void (*set)(struct spindle_view *v);
	bool fits;
};

#define LIMIT(what, fits, stmt) \
	static void what(struct spindle_view *v) { stmt; } \
	static const struct limit limit_##what = { #what, what, fits }

LIMIT(as_it_is, true, (void)v);
LIMIT(vid_zero, false, v->vid = 0);
LIMIT(vid_max, true, v->vid = U64_MAX);
LIMIT(no_members, false, v->num_members = 0);
LIMIT(too_many_members, false, v->num_members = SPINDLE_MAX_MEMBERS + 1);
LIMIT(member_id_zero, false, v->member[1].id = 0);
LIMIT(member_id_max, true, v->member[1].id = UINT32_MAX);
LIMIT(member_id_twice, false, v->member[2].id = v->member[0].id);
LIMIT(member_addr_twice, false, v->member[2].addr = v->member[0].addr);
LIMIT(member_other_port, true, v->member[2].addr = v->member[0].addr;
	v->member[2].addr.port++);
LIMIT(member_port_zero, false, v->member[2].addr.port = 0);
LIMIT(member_family_4_6, false, v->member[1].addr.family = 6);
LIMIT(member_family_6, true, for (u32 i = 0; i < v->num_members; i++)
	v->member[i].addr.family = 6);
LIMIT(member_family_6_4, false, v->member[0].addr.family = 6);
LIMIT(member_family_odd, false, v->member[1].addr.family = 5);
LIMIT(member_family_zero, false, v->member[1].addr.family = 0);
LIMIT(too_many_subgroups, false, v->num_subgroups = SPINDLE_MAX_SUBGROUPS + 1);
LIMIT(no_subgroups, true, v->num_subgroups = 0);
LIMIT(subgroup_id_twice, false, v->subgroup[1].id = v->subgroup[0].id);
LIMIT(mode_unknown, false, v->subgroup[0].mode = SPINDLE_MODE_TABLE_READ + 1);
LIMIT(window_zero, false, v->subgroup[0].window = 0);
LIMIT(window_odd, false, v->subgroup[0].window = 3);
LIMIT(window_max, true, v->subgroup[0].window = SPINDLE_MAX_WINDOW);
LIMIT(window_above, false, v->subgroup[0].window = 2 * SPINDLE_MAX_WINDOW);
LIMIT(ring_small, false, v->subgroup[0].ring = 2048);
LIMIT(ring_odd, false, v->subgroup[0].ring = 12288);
LIMIT(ring_max, true, v->subgroup[0].ring = SPINDLE_MAX_RING);
LIMIT(ring_above, false, v->subgroup[0].ring = 2 * SPINDLE_MAX_RING);
LIMIT(msg_zero, false, v->subgroup[0].max_msg = 0);
LIMIT(msg_is_ring, true, v->subgroup[0].max_msg = v->subgroup[0].ring);
LIMIT(msg_above_ring, false, v->subgroup[0].max_msg = v->subgroup[0].ring + 1);
LIMIT(msg_max, true, v->subgroup[0].ring = SPINDLE_MAX_RING;
	v->subgroup[0].max_msg = SPINDLE_MAX_MSG);
LIMIT(msg_above, false, v->subgroup[0].ring = SPINDLE_MAX_RING;
	v->subgroup[0].max_msg = SPINDLE_MAX_MSG + 1);
LIMIT(nobody_in_it, false, v->subgroup[0].members = 0; v->subgroup[0].senders = 0);
LIMIT(stranger_in_it, false, v->subgroup[0].members |= BIT_ULL(3));
LIMIT(nobody_sends, false, v->subgroup[0].senders = 0);
LIMIT(stranger_sends, false, v->subgroup[1].senders |= BIT_ULL(0));
LIMIT(second_is_checked, false, v->subgroup[1].window = 5);

/* The second subgroup is a table of 5 cells of 128 bytes. */
static struct spindle_view_subgroup *table(struct spindle_view *v, u32 cells, u32 cell)
{
	struct spindle_view_subgroup *sg = &v->subgroup[1];

	sg->mode = SPINDLE_MODE_TABLE;
	sg->window = cells;
	sg->max_msg = cell;
	sg->ring = spindle_view_table_ring(cells, cell);
	sg->senders = 0;
	return sg;
}

LIMIT(table_as_it_is, true, table(v, 5, 128));
LIMIT(table_read, true, table(v, 5, 128)->mode = SPINDLE_MODE_TABLE_READ);
LIMIT(table_read_sends, false, table(v, 5, 128)->mode = SPINDLE_MODE_TABLE_READ;
	v->subgroup[1].senders = 4);
LIMIT(table_read_ring, false, table(v, 65, 128)->mode = SPINDLE_MODE_TABLE_READ;
	v->subgroup[1].ring /= 2);
LIMIT(table_cells_zero, false, table(v, 5, 128)->window = 0);
LIMIT(table_cells_max, true, table(v, SPINDLE_MAX_CELLS, SPINDLE_MIN_CELL));
LIMIT(table_cells_above, false, table(v, SPINDLE_MAX_CELLS + 1, SPINDLE_MIN_CELL));
LIMIT(table_cell_below, false, table(v, 5, SPINDLE_MIN_CELL / 2));
LIMIT(table_cell_odd, false, table(v, 5, 192));
LIMIT(table_cell_max, true, table(v, 16, SPINDLE_MAX_CELL));
LIMIT(table_cell_above, false, table(v, 5, 2 * SPINDLE_MAX_CELL));
LIMIT(table_row_above, false, table(v, 17, SPINDLE_MAX_CELL));
LIMIT(table_sizes_wrap, false, table(v, 1U << 20, SPINDLE_MAX_CELL));
LIMIT(table_ring_above, false, table(v, 5, 128)->ring *= 2);
LIMIT(table_ring_below, false, table(v, 65, 128)->ring /= 2);
LIMIT(table_sends, false, table(v, 5, 128)->senders = 4);
LIMIT(table_holds, false, table(v, 5, 128)->hold = 1);
LIMIT(table_position, false, table(v, 5, 128)->former = 1);
LIMIT(table_nobody_in_it, false, table(v, 5, 128)->members = 0);
LIMIT(table_id_twice, false, table(v, 5, 128)->id = v->subgroup[0].id);

static void test_check(void)
{
	static const struct limit *const limits[] = {
		&limit_as_it_is, &limit_vid_zero, &limit_vid_max, &limit_no_members,
		&limit_too_many_members, &limit_member_id_zero, &limit_member_id_max,
		&limit_member_id_twice, &limit_member_addr_twice,
		&limit_member_other_port, &limit_member_port_zero,
		&limit_member_family_4_6, &limit_member_family_6, &limit_member_family_odd,
		&limit_member_family_6_4,
		&limit_member_family_zero,
		&limit_too_many_subgroups, &limit_no_subgroups,
		&limit_subgroup_id_twice, &limit_mode_unknown, &limit_window_zero,
		&limit_window_odd, &limit_window_max, &limit_window_above,
		&limit_ring_small, &limit_ring_odd, &limit_ring_max, &limit_ring_above,
		&limit_msg_zero, &limit_msg_is_ring, &limit_msg_above_ring,
		&limit_msg_max, &limit_msg_above, &limit_nobody_in_it,
		&limit_stranger_in_it, &limit_nobody_sends, &limit_stranger_sends,
		&limit_second_is_checked, &limit_table_as_it_is, &limit_table_cells_zero,
		&limit_table_read, &limit_table_read_sends, &limit_table_read_ring,
		&limit_table_cells_max, &limit_table_cells_above, &limit_table_cell_below,
		&limit_table_cell_odd, &limit_table_cell_max, &limit_table_cell_above,
		&limit_table_row_above, &limit_table_sizes_wrap, &limit_table_ring_above,
		&limit_table_ring_below, &limit_table_sends, &limit_table_holds,
		&limit_table_position, &limit_table_nobody_in_it, &limit_table_id_twice,
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(limits); i++) {
		struct spindle_view v = sample();
		const char *err;

		limits[i]->set(&v);
		err = spindle_view_check(&v, false, NULL);
		if (!err != limits[i]->fits)
			tap_fail("%s: %s", limits[i]->name, err ? err : "accepted");
	}
}

/* The id of a live view has a smaller limit, because it counts changes. */
static void test_live_vid(void)
{
	struct spindle_view v = sample();

	v.vid = SPINDLE_MAX_LIVE_VID;
	CHECK(!spindle_view_check(&v, true, NULL));
	v.vid++;
	CHECK(spindle_view_check(&v, true, NULL));
	CHECK(!spindle_view_check(&v, false, NULL));
}

/* A static view has no lineage, so that its subgroups have no logs. */
static void test_logs(void)
{
	struct spindle_view v = sample();
	u32 log;

	v.subgroup[0].mode = SPINDLE_MODE_ORDERED;
	for (log = 0; log <= SPINDLE_LOGGED_ALL + 1; log++) {
		v.subgroup[0].log = log;
		CHECK_EQ(!spindle_view_check(&v, true, NULL), !log || (log & 1));
		CHECK_EQ(!spindle_view_check(&v, false, NULL), !log);
	}
}

/* By rules, the members of a subgroup may all be away, or those that send. */
static void test_live_empty(void)
{
	struct spindle_view v = sample();

	v.subgroup[0].senders = 0;
	CHECK(!spindle_view_check(&v, true, NULL));
	v.subgroup[0].members = 0;
	CHECK(!spindle_view_check(&v, true, NULL));
	/* Or a rule has no subgroup at all. */
	memset(&v.subgroup[0], 0, sizeof(v.subgroup[0]));
	CHECK(!spindle_view_check(&v, true, NULL));
	CHECK(spindle_view_check(&v, false, NULL));
}

static void test_full_view(void)
{
	struct spindle_view v = sample();
	u32 i;

	v.num_members = SPINDLE_MAX_MEMBERS;
	v.num_subgroups = SPINDLE_MAX_SUBGROUPS;
	for (i = 0; i < SPINDLE_MAX_MEMBERS; i++) {
		v.member[i] = v.member[0];
		v.member[i].id = 100 + i;
		v.member[i].addr.ip[15] = i;
	}
	for (i = 0; i < SPINDLE_MAX_SUBGROUPS; i++) {
		v.subgroup[i] = v.subgroup[0];
		v.subgroup[i].id = i;
		v.subgroup[i].name[0] = 'a' + i;
		v.subgroup[i].members = U64_MAX;
		v.subgroup[i].senders = BIT_ULL(63) | BIT_ULL(i);
	}
	CHECK(!spindle_view_check(&v, false, NULL));
	v.num_members = 63;
	CHECK(spindle_view_check(&v, false, NULL));
}

#define FIELD(f) { #f, offsetof(struct spindle_view, f), sizeof(((struct spindle_view *)0)->f) }

struct field {
	const char *name;
	size_t at;
	size_t len;
};

static bool flips_digest(const struct field *f, size_t byte, u32 bit)
{
	struct spindle_view v = sample();
	u64 before = spindle_view_digest(&v);

	((u8 *)&v)[f->at + byte] ^= 1U << bit;
	return spindle_view_digest(&v) != before;
}

static void test_digest(void)
{
	static const struct field counts[] = {
		FIELD(vid), FIELD(member[0].id), FIELD(member[2].id),
		FIELD(member[1].addr.ip), FIELD(member[1].addr.port),
		FIELD(member[1].addr.family), FIELD(subgroup[0].id),
		FIELD(subgroup[0].mode), FIELD(subgroup[0].window),
		FIELD(subgroup[0].max_msg), FIELD(subgroup[0].ring),
		FIELD(subgroup[0].members), FIELD(subgroup[0].senders),
		FIELD(subgroup[1].id), FIELD(subgroup[1].mode),
		FIELD(subgroup[1].window), FIELD(subgroup[1].senders),
		FIELD(subgroup[1].log), FIELD(subgroup[1].min_copies),
	};
	static const struct field ignored[] = {
		FIELD(subgroup[0].hold), FIELD(subgroup[1].hold),
		FIELD(member[3].id), FIELD(member[63].addr), FIELD(subgroup[2].id),
		FIELD(subgroup[63].senders),
	};
	size_t i, byte;
	u32 bit;

	for (i = 0; i < ARRAY_SIZE(counts); i++)
		for (byte = 0; byte < counts[i].len; byte++)
			for (bit = 0; bit < 8; bit++)
				if (!flips_digest(&counts[i], byte, bit))
					tap_fail("digest does not cover %s", counts[i].name);
	for (i = 0; i < ARRAY_SIZE(ignored); i++)
		for (byte = 0; byte < ignored[i].len; byte++)
			for (bit = 0; bit < 8; bit++)
				if (flips_digest(&ignored[i], byte, bit))
					tap_fail("digest covers %s", ignored[i].name);
}

/* Names and fields belong to the view up to their ends. The digest tells where each ends. */
static void test_digest_texts(void)
{
	struct spindle_view a = sample(), b;

	strcpy(a.subgroup[0].name, "one");
	strcpy(a.subgroup[1].name, "two");
	b = a;
	b.subgroup[0].name[4] = 'x';
	CHECK_EQ(spindle_view_digest(&a), spindle_view_digest(&b));
	b.subgroup[0].name[3] = 'x';
	CHECK(spindle_view_digest(&a) != spindle_view_digest(&b));
	b = a;
	b.subgroup[1].name[0] = 'T';
	CHECK(spindle_view_digest(&a) != spindle_view_digest(&b));
	b = a;
	memset(b.subgroup[0].name, 0, sizeof(b.subgroup[0].name));
	CHECK(spindle_view_digest(&a) != spindle_view_digest(&b));
	b = a;
	b.subgroup[0].fields[1] = 'x';
	CHECK_EQ(spindle_view_digest(&a), spindle_view_digest(&b));
	b.subgroup[0].fields[0] = 'f';
	CHECK(spindle_view_digest(&a) != spindle_view_digest(&b));
	/* The same characters in another order of texts. */
	a = b;
	strcpy(a.subgroup[0].name, "onef");
	a.subgroup[0].fields[0] = 0;
	CHECK(spindle_view_digest(&a) != spindle_view_digest(&b));
}

/* Fields are what only a table has. */
static void test_fields(void)
{
	struct spindle_view v = sample();
	const char *text;

	strcpy(v.subgroup[0].fields, "load:u32");
	text = spindle_view_check(&v, false, NULL);
	CHECK(text && !strcmp(text, "only a table has fields"));
	text = spindle_view_check(&v, true, NULL);
	CHECK(text && !strcmp(text, "only a table has fields"));
}

/* Each subgroup of a static view has its own name. spindle_rules_check() is for live views. */
static void test_names(void)
{
	static const char taken[] = "two subgroups have the same name";
	struct spindle_view v = sample();
	const char *text;

	CHECK(!spindle_view_check(&v, false, NULL));
	memset(v.subgroup[0].name, 'a', SPINDLE_NAME_LEN);
	memset(v.subgroup[1].name, 'a', SPINDLE_NAME_LEN - 1);
	CHECK(!spindle_view_check(&v, false, NULL));
	v.subgroup[1].name[SPINDLE_NAME_LEN - 1] = 'a';
	text = spindle_view_check(&v, false, NULL);
	CHECK(text && !strcmp(text, taken));
	CHECK(!spindle_view_check(&v, true, NULL));
}

static void test_digest_order(void)
{
	struct spindle_view a = sample(), b = sample();
	struct spindle_view_member m = b.member[0];
	struct spindle_view_subgroup s = b.subgroup[0];

	CHECK_EQ(spindle_view_digest(&a), spindle_view_digest(&b));
	b.member[0] = b.member[1];
	b.member[1] = m;
	CHECK(spindle_view_digest(&a) != spindle_view_digest(&b));
	b = sample();
	b.subgroup[0] = b.subgroup[1];
	b.subgroup[1] = s;
	CHECK(spindle_view_digest(&a) != spindle_view_digest(&b));
	b = sample();
	b.num_members = 2;
	CHECK(spindle_view_digest(&a) != spindle_view_digest(&b));
	b = sample();
	b.num_subgroups = 1;
	CHECK(spindle_view_digest(&a) != spindle_view_digest(&b));
}

static void test_default_ring(void)
{
	static const struct {
		u32 window, max_msg, ring;
	} rows[] = {
		{ 1, 1, 4096 },
		{ 64, 64, 4096 },
		{ 64, 65, 8192 },
		{ 128, 8192, 1 << 20 },
		{ 128, 10240, 1 << 20 },
		{ 1, 1 << 20, 1 << 20 },
		{ 2, 1 << 20, 1 << 21 },
		{ 65536, 1 << 20, 1 << 22 },
		{ 65536, 1, 1 << 20 },
	};
	u32 w, m, i;

	for (i = 0; i < ARRAY_SIZE(rows); i++)
		CHECK_EQ(spindle_view_default_ring(rows[i].window, rows[i].max_msg),
			 rows[i].ring);
	/* Any legal window and message size give a legal view. */
	for (w = 1; w <= SPINDLE_MAX_WINDOW; w *= 2) {
		for (m = 1; m <= SPINDLE_MAX_MSG; m = m * 3 / 2 + 1) {
			struct spindle_view v = sample();

			v.subgroup[0].window = w;
			v.subgroup[0].max_msg = m;
			v.subgroup[0].ring = spindle_view_default_ring(w, m);
			CHECK(!spindle_view_check(&v, false, NULL));
		}
	}
}

/* The function runs before the view is checked, so no argument may harm it. */
static void test_default_ring_extremes(void)
{
	static const u32 odd[] = { 0, 1, 3, 65537, 0x7fffffff, 0x80000000, 0xffffffc1,
				   0xffffffff };
	size_t i, j;

	for (i = 0; i < ARRAY_SIZE(odd); i++) {
		for (j = 0; j < ARRAY_SIZE(odd); j++) {
			u32 ring = spindle_view_default_ring(odd[i], odd[j]);

			CHECK(is_power_of_2(ring) && ring >= SPINDLE_PAGE &&
			      ring <= SPINDLE_MAX_RING);
		}
	}
}

static void test_set_table(void)
{
	struct spindle_view_subgroup sg = { .mode = SPINDLE_MODE_TABLE };
	bool of_cell;

	CHECK(!spindle_view_set_table(&sg, 100, 256, &of_cell));
	CHECK_EQ(spindle_view_cells(&sg), 100);
	CHECK_EQ(spindle_view_cell(&sg), 256);
	CHECK_EQ(sg.ring, 32768);
	CHECK_EQ(spindle_view_table_ring(1, 64), 4096);
	CHECK_EQ(spindle_view_table_ring(64, 64), 4096);
	CHECK_EQ(spindle_view_table_ring(65, 64), 8192);
	CHECK_EQ(spindle_view_table_ring(1024, 64), SPINDLE_MAX_TABLE_ROW);
	/* Sizes that are refused change nothing. */
	CHECK(spindle_view_set_table(&sg, 5, 96, &of_cell) && of_cell);
	CHECK(spindle_view_set_table(&sg, 1025, 64, &of_cell) && !of_cell);
	CHECK(spindle_view_set_table(&sg, 1024, 128, &of_cell) && !of_cell);
	CHECK_EQ(spindle_view_cells(&sg), 100);
	CHECK_EQ(spindle_view_cell(&sg), 256);
}

static void test_modes(void)
{
	static const struct {
		u32 mode;
		bool table;
		bool read;
	} is[] = {
		{ SPINDLE_MODE_ORDERED, false, false }, { SPINDLE_MODE_UNORDERED, false, false },
		{ SPINDLE_MODE_TABLE, true, false }, { SPINDLE_MODE_TABLE_READ, true, true },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(is); i++) {
		struct spindle_view_subgroup sg = { .mode = is[i].mode };

		CHECK_EQ(spindle_view_is_table(&sg), is[i].table);
		CHECK_EQ(spindle_view_is_read(&sg), is[i].read);
	}
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "members and subgroups are found by id", test_rank },
		{ "members of a subset have their ranks", test_mask_rank },
		{ "every limit is checked", test_check },
		{ "a live view begins with an id that can grow", test_live_vid },
		{ "only ordered subgroups of live views have logs", test_logs },
		{ "a live view may have subgroups without members", test_live_empty },
		{ "the largest view is legal", test_full_view },
		{ "two subgroups of a static view have two names", test_names },
		{ "digest: every field counts, except hold", test_digest },
		{ "digest: names and fields count up to their ends", test_digest_texts },
		{ "only a table has fields", test_fields },
		{ "digest: order and counts matter", test_digest_order },
		{ "a subgroup has a default ring", test_default_ring },
		{ "the default ring of illegal arguments is legal", test_default_ring_extremes },
		{ "a table gets its sizes", test_set_table },
		{ "tables have two modes", test_modes },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
