// SPDX-License-Identifier: GPL-2.0-only
/*
 * Decrees: which words are a decree, what tells two decrees apart, and the members of the next
 * view.
 */
#include "tap.h"
#include "core/membership/decree.h"

#define WORDS (SPINDLE_DECREE_HEAD + 5)

/* A node whose port is its id. */
static struct spindle_view_member member(u32 id)
{
	return (struct spindle_view_member){ .id = id, .addr = { .family = 4, .port = id } };
}

static void add(u64 *word, u32 id, u64 incarnation)
{
	struct spindle_view_member who = member(id);

	CHECK(spindle_decree_add(word, &who, incarnation));
}

static void make_view(struct spindle_view *view)
{
	u32 i;

	memset(view, 0, sizeof(*view));
	view->vid = 7;
	view->num_members = 4;
	for (i = 0; i < 4; i++)
		view->member[i] = member(10 * (i + 1));
	view->num_subgroups = 2;
	view->subgroup[0].window = 1;
	view->subgroup[1].window = 1;
	view->subgroup[0].senders = 0x0b;
	view->subgroup[1].senders = 0x06;
}

/* Members 10 and 40 go on, 50 joins. */
static void make_decree(u64 *word)
{
	memset(word, 0, WORDS * sizeof(*word));
	word[SPINDLE_DECREE_VID] = 7;
	word[SPINDLE_DECREE_SURVIVORS] = 0x09;
	add(word, 50, 99);
}

static void test_trims(void)
{
	struct spindle_view view;

	make_view(&view);
	CHECK_EQ(spindle_decree_trims(&view), 5);
	CHECK_EQ(spindle_decree_trim_at(&view, 0), 0);
	CHECK_EQ(spindle_decree_trim_at(&view, 1), 3);
}

static void test_check(void)
{
	static const struct {
		u32 at;
		u64 word;
	} wrong[] = {
		{ SPINDLE_DECREE_VID, 6 },
		{ SPINDLE_DECREE_VID, 8 },
		{ SPINDLE_DECREE_SURVIVORS, 0x10 },
		{ SPINDLE_DECREE_SURVIVORS, U64_MAX },
		{ SPINDLE_DECREE_NUM_JOINS, SPINDLE_DECREE_JOINS + 1 },
		{ SPINDLE_DECREE_NUM_JOINS, U64_MAX },
		{ SPINDLE_DECREE_NUM_JOINS, 2 },	/* the second has no id */
		{ SPINDLE_DECREE_JOIN, 0 },
		{ SPINDLE_DECREE_JOIN, 1ULL << 32 },
		{ SPINDLE_DECREE_RULES, 1 },		/* and a joiner, which does not have them */
		{ SPINDLE_DECREE_JOIN, 20 },		/* a member; another life of it */
		{ SPINDLE_DECREE_JOIN + SPINDLE_JOIN_PORT, 0 },
		{ SPINDLE_DECREE_JOIN + SPINDLE_JOIN_PORT, 4 << 16 },
		{ SPINDLE_DECREE_JOIN + SPINDLE_JOIN_PORT, 5 << 16 | 50 },
		/* The others have IPv4. */
		{ SPINDLE_DECREE_JOIN + SPINDLE_JOIN_PORT, 6 << 16 | 50 },
		{ SPINDLE_DECREE_JOIN + SPINDLE_JOIN_PORT, 1ULL << 32 | 4 << 16 | 50 },
		{ SPINDLE_DECREE_JOIN + SPINDLE_JOIN_IP, 1ULL << 32 },	/* IPv4 has four bytes */
		{ SPINDLE_DECREE_JOIN + SPINDLE_JOIN_IP + 1, 1 },
		{ SPINDLE_DECREE_JOIN + SPINDLE_JOIN_PORT, 4 << 16 | 10 },	/* of a survivor */
	};
	struct spindle_view view;
	u64 word[WORDS];
	u32 i;

	make_view(&view);
	make_decree(word);
	CHECK(spindle_decree_check(word, &view));
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		make_decree(word);
		word[wrong[i].at] = wrong[i].word;
		CHECK(!spindle_decree_check(word, &view));
	}
	make_decree(word);
	CHECK(!spindle_decree_add(word, &(struct spindle_view_member){ .id = 50 }, 1));
	add(word, 60, 1);
	CHECK(spindle_decree_check(word, &view));
	spindle_decree_join(word, 1)[SPINDLE_JOIN_ID] = 50;
	CHECK(!spindle_decree_check(word, &view));
	/* Two joiners at one address. */
	spindle_decree_join(word, 1)[SPINDLE_JOIN_ID] = 60;
	spindle_decree_join(word, 1)[SPINDLE_JOIN_PORT] = 4 << 16 | 50;
	CHECK(!spindle_decree_check(word, &view));
	/* A member that does not go on leaves its address to others. */
	spindle_decree_join(word, 1)[SPINDLE_JOIN_PORT] = 4 << 16 | 20;
	CHECK(spindle_decree_check(word, &view));
	spindle_decree_drop(word);
	CHECK_EQ(word[SPINDLE_DECREE_NUM_JOINS], 1);
	CHECK_EQ(spindle_decree_joiner(word, 60), -ENOENT);
	CHECK_EQ(spindle_decree_join(word, 1)[SPINDLE_JOIN_PORT], 0);
	/* One more joiner than a decree has places for would be read from behind them. */
	make_decree(word);
	for (i = 1; i < SPINDLE_DECREE_JOINS; i++)
		add(word, 50 + i, 1);
	CHECK_EQ(word[SPINDLE_DECREE_NUM_JOINS], SPINDLE_DECREE_JOINS);
	CHECK(spindle_decree_check(word, &view));
	CHECK(!spindle_decree_add(word, &(struct spindle_view_member){ .id = 99 }, 1));
	word[SPINDLE_DECREE_NUM_JOINS]++;
	CHECK(!spindle_decree_check(word, &view));
	/* A decree without survivors and joiners is no view. */
	make_decree(word);
	word[SPINDLE_DECREE_SURVIVORS] = 0;
	CHECK(spindle_decree_check(word, &view));
	word[SPINDLE_DECREE_NUM_JOINS] = 0;
	CHECK(!spindle_decree_check(word, &view));
	/* A decree may not have more members than there are ranks. */
	view.num_members = SPINDLE_MAX_MEMBERS;
	make_decree(word);
	word[SPINDLE_DECREE_SURVIVORS] = U64_MAX;
	CHECK(!spindle_decree_check(word, &view));
	word[SPINDLE_DECREE_SURVIVORS] = U64_MAX - 1;
	CHECK(spindle_decree_check(word, &view));
}

/* Each word changes the digest, and so does the place of a word. */
static void test_digest(void)
{
	u64 word[WORDS], digest, other;
	u32 i;

	make_decree(word);
	digest = spindle_decree_digest(word, WORDS);
	CHECK(digest);
	for (i = 0; i < WORDS; i++) {
		word[i]++;
		CHECK(spindle_decree_digest(word, WORDS) != digest);
		word[i]--;
	}
	CHECK_EQ(spindle_decree_digest(word, WORDS), digest);
	CHECK(spindle_decree_digest(word, WORDS - 1) != digest);
	word[WORDS - 1] = 1;
	digest = spindle_decree_digest(word, WORDS);
	word[WORDS - 1] = 0;
	word[WORDS - 2] = 1;
	other = spindle_decree_digest(word, WORDS);
	CHECK(other != digest);
	memset(word, 0, sizeof(word));
	CHECK(spindle_decree_digest(word, WORDS));
}

static void test_apply(void)
{
	struct spindle_view view, next;
	u64 word[WORDS];

	make_view(&view);
	make_decree(word);
	spindle_decree_apply(word, &view, &next);
	CHECK_EQ(next.vid, 8);
	CHECK_EQ(next.num_members, 3);
	CHECK_EQ(next.member[0].id, 10);
	CHECK_EQ(next.member[1].id, 40);
	CHECK_EQ(next.member[2].id, 50);
	CHECK_EQ(next.num_subgroups, 0);
}

/* Members 10 and 40 go on. Does a subgroup with these members, as ranks, stay? */
static bool stays(u64 members, u64 next_members)
{
	struct spindle_view view = {}, next = {};
	u64 word[WORDS];

	make_view(&view);
	make_decree(word);
	view.num_subgroups = 1;
	next.num_subgroups = 1;
	view.subgroup[0].members = members;
	view.subgroup[0].senders = 0;
	next.subgroup[0].members = next_members;
	return spindle_decree_stays(word, &view, &next);
}

static void test_stays(void)
{
	CHECK(stays(0x09, 0x03));
	CHECK(stays(0x08, 0x02));
	/* A member goes, a node comes, and a subgroup has no members. */
	CHECK(!stays(0x0b, 0x03));
	CHECK(!stays(0x09, 0x07));
	CHECK(!stays(0, 0));
}

/*
 * Of the senders 10, 20 and 40 of the first subgroup, 20 goes. In the second one, 20 goes and 30
 * stays a sender. In the third one 40 goes on, and sends no more. All members of the fourth one go.
 */
static void test_count(void)
{
	static const u64 trim[] = { 5, 7, 9, 11, 13, 100, 1, 2 };
	struct spindle_view view, next = {};
	u64 word[SPINDLE_DECREE_HEAD + ARRAY_SIZE(trim)] = {};
	u32 i;

	make_view(&view);
	view.num_subgroups = 4;
	view.subgroup[2].senders = 0x08;
	view.subgroup[3].senders = 0x06;
	view.subgroup[3].members = 0x06;
	for (i = 0; i < 4; i++) {
		view.subgroup[i].window = 1;
		next.subgroup[i].window = 1;
		view.subgroup[i].members |= i == 3 ? 0 : 0x0f;
		view.subgroup[i].former = 1000 * i;
	}
	word[SPINDLE_DECREE_SURVIVORS] = 0x09;
	memcpy(word + SPINDLE_DECREE_HEAD, trim, sizeof(trim));
	next.subgroup[0].senders = 0x03;
	next.subgroup[1].senders = 0x01;
	spindle_decree_count(word, &view, &next);
	CHECK_EQ(next.subgroup[0].former, 7);
	CHECK_EQ(next.subgroup[1].former, 1000 + 11 + 13);
	CHECK_EQ(next.subgroup[2].former, 2000 + 100);
	CHECK_EQ(next.subgroup[3].former, 2 * SPINDLE_LIFE_MESSAGES);
	/* A life may begin just below a multiple, and deliver messages above it. */
	view.subgroup[3].former = SPINDLE_LIFE_MESSAGES - 5;
	spindle_decree_count(word, &view, &next);
	CHECK_EQ(next.subgroup[3].former, 2 * SPINDLE_LIFE_MESSAGES);
	/* A life that has just begun may have delivered messages, too. */
	view.subgroup[3].former = SPINDLE_LIFE_MESSAGES;
	memset(word + SPINDLE_DECREE_HEAD, 0, sizeof(trim));
	spindle_decree_count(word, &view, &next);
	CHECK_EQ(next.subgroup[3].former, 2 * SPINDLE_LIFE_MESSAGES);
	/* A subgroup that had no members keeps its count. */
	view.subgroup[3].members = 0;
	view.subgroup[3].senders = 0;
	spindle_decree_count(word, &view, &next);
	CHECK_EQ(next.subgroup[3].former, SPINDLE_LIFE_MESSAGES);
}

/* Member 20 goes. Subgroup 7 is replaced, 8 is removed, 9 is new, and 11 had lost its members. */
static void test_count_rules(void)
{
	static const u64 trim[] = { 5, 7, 9, 100 };
	struct spindle_view view, next = {};
	u64 word[SPINDLE_DECREE_HEAD + ARRAY_SIZE(trim)] = {};

	make_view(&view);
	view.num_subgroups = 6;
	memset(view.subgroup, 0, sizeof(view.subgroup));
	view.subgroup[1] = (struct spindle_view_subgroup){
		.id = 7, .window = 1, .members = 0x0f, .senders = 0x0b, .former = 1000,
	};
	view.subgroup[2] = (struct spindle_view_subgroup){
		.id = 8, .window = 1, .members = 0x0f, .senders = 0x01, .former = 50,
	};
	view.subgroup[4] = (struct spindle_view_subgroup){
		.id = 11, .window = 1, .members = 0x02, .former = 3,
	};
	word[SPINDLE_DECREE_SURVIVORS] = 0x0d;
	memcpy(word + SPINDLE_DECREE_HEAD, trim, sizeof(trim));
	next.subgroup[0] = (struct spindle_view_subgroup){ .id = 7, .window = 4, .senders = 0x07 };
	next.subgroup[3] = (struct spindle_view_subgroup){ .id = 9, .window = 1, .former = 12 };
	next.subgroup[5] = (struct spindle_view_subgroup){ .id = 11, .window = 1 };
	spindle_decree_count(word, &view, &next);
	CHECK_EQ(next.subgroup[0].former, 1000 + 5 + 7 + 9);
	CHECK_EQ(next.subgroup[1].former, 0);
	CHECK_EQ(next.subgroup[2].former, 0);
	CHECK_EQ(next.subgroup[3].former, 12);
	CHECK_EQ(next.subgroup[5].former, 2 * SPINDLE_LIFE_MESSAGES);
	/* A table has no position. A subgroup that takes its place begins as its rule says. */
	next.subgroup[0].mode = SPINDLE_MODE_TABLE;
	next.subgroup[3].mode = SPINDLE_MODE_TABLE_READ;
	spindle_decree_count(word, &view, &next);
	CHECK_EQ(next.subgroup[0].former, 0);
	CHECK_EQ(next.subgroup[3].former, 0);
	next.subgroup[0].mode = SPINDLE_MODE_ORDERED;
	view.subgroup[1].mode = SPINDLE_MODE_TABLE;
	next.subgroup[0].former = 3;
	spindle_decree_count(word, &view, &next);
	CHECK_EQ(next.subgroup[0].former, 3);
	view.subgroup[1].mode = SPINDLE_MODE_ORDERED;
	/* All members of a table go. */
	view.subgroup[4].mode = SPINDLE_MODE_TABLE;
	view.subgroup[4].former = 0;
	next.subgroup[4] = view.subgroup[4];
	spindle_decree_count(word, &view, &next);
	CHECK_EQ(next.subgroup[4].former, 0);
	memset(&next.subgroup[4], 0, sizeof(next.subgroup[4]));
	/* A subgroup that is still there has kept its position. */
	next.subgroup[1].window = 1;
	next.subgroup[0].former = 0;
	spindle_decree_count(word, &view, &next);
	CHECK_EQ(next.subgroup[0].former, 0);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a trim has one word per sender of each subgroup", test_trims },
		{ "an invalid decree is rejected", test_check },
		{ "different decrees have different digests", test_digest },
		{ "the next view has the survivors and the joiners", test_apply },
		{ "subgroups that a change leaves as they are", test_stays },
		{ "messages of former senders are counted", test_count },
		{ "a subgroup that is replaced goes on counting", test_count_rules },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
