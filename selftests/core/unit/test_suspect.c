// SPDX-License-Identifier: GPL-2.0-only
/*
 * Suspicion at one node of five: which members does it accuse, when, and which must it not accuse?
 * The case decides what the others write, and when the node runs.
 */
#include "tap.h"
#include "core/membership/member.h"

#define MEMBERS 5
#define INTERVAL 100
#define TIMEOUT (10 * INTERVAL)
#define STEP (INTERVAL / 2) /* between two passes of a node that runs */

static struct spindle_mb mb;
static struct spindle_mb_row *row[MEMBERS];
static u64 seen[SPINDLE_DECREE_HEAD];
static u64 now, cuts;

static void op_none(void *ctx)
{
}

static bool op_flushed(void *ctx, u32 rank)
{
	return true;
}

static void op_freeze(void *ctx, u64 *have)
{
}

static void op_cut(void *ctx, u32 rank)
{
	cuts |= BIT_ULL(rank);
}

static const struct spindle_mb_ops ops = {
	.wedge = op_none,
	.flushed = op_flushed,
	.freeze = op_freeze,
	.cut = op_cut,
	.stopped = op_none,
};

static void beat(u32 r)
{
	u64 word[SPINDLE_BLOCK_WORDS] = { row[r]->beat.word[SPINDLE_MB_COL_BEAT] + 1 };

	spindle_block_write(&row[r]->beat, word);
}

static void run(u64 after)
{
	now += after;
	spindle_mb_run(&mb, now);
}

/* The node runs for a time, and the members in @members beat. */
static void live(u64 until, u64 members)
{
	u64 mask;

	for (until += now; now < until; run(STEP))
		for (mask = members; mask; mask &= mask - 1)
			beat(__ffs64(mask));
}

/* The node has rank 0 of a view of five, and has heard all others. */
static void begin(void)
{
	static struct spindle_view view;
	u32 r;

	memset(&mb, 0, sizeof(mb));
	view = (struct spindle_view){ .vid = 1, .num_members = MEMBERS };
	now = 1000 * TIMEOUT;
	cuts = 0;
	mb.ops = &ops;
	mb.timeout = TIMEOUT;
	mb.interval = INTERVAL;
	for (r = 0; r < MEMBERS; r++) {
		view.member[r].id = r + 1;
		row[r] = calloc(1, spindle_mb_row_bytes(0));
		mb.peer[r].row = row[r];
	}
	mb.row = row[0];
	mb.seen = seen;
	CHECK_EQ(spindle_mb_init(&mb, &view, 0, now), 0);
	live(TIMEOUT, 0x1e);
	CHECK_EQ(mb.suspected, 0);
	CHECK_EQ(mb.state, SPINDLE_MB_ACTIVE);
}

static void end(void)
{
	u32 r;

	for (r = 0; r < MEMBERS; r++)
		free(row[r]);
}

/* The node hears no member. In the end it stops, and has accused none. */
static void expect_minority(void)
{
	live(TIMEOUT + 2 * STEP, 0);
	CHECK_EQ(mb.suspected, 0);
	CHECK_EQ(cuts, 0);
	CHECK_EQ(mb.state, SPINDLE_MB_STOPPED);
	CHECK_EQ(mb.reason, SPINDLE_MB_MINORITY);
}

static void test_heard(void)
{
	begin();
	spindle_mb_suspect(&mb, 3, SPINDLE_MB_LOST);
	live(INTERVAL, 0x06);
	CHECK_EQ(mb.suspected, BIT_ULL(3));
	CHECK_EQ(cuts, BIT_ULL(3));
	/* A member that is accused stays so, and it is cut off once. */
	cuts = 0;
	live(3 * TIMEOUT, 0x16);
	CHECK_EQ(cuts, 0);
	CHECK_EQ(mb.doubted, 0);
	end();
}

/*
 * The node has heard all members until a moment ago. The same holds for a node that has just lost
 * its connections.
 */
static void test_just_deaf(void)
{
	u32 r;

	begin();
	for (r = 1; r < MEMBERS; r++)
		beat(r);
	spindle_mb_suspect(&mb, 3, SPINDLE_MB_LOST);
	run(STEP);
	CHECK_EQ(mb.suspected, 0);
	expect_minority();
	end();
}

static void test_deaf(void)
{
	begin();
	live(5 * INTERVAL, 0);
	spindle_mb_suspect(&mb, 3, SPINDLE_MB_LOST);
	run(STEP);
	CHECK_EQ(mb.suspected, 0);
	expect_minority();
	end();
}

/*
 * The node was not run, and has lost its connections in that time. Members whose silence is
 * forgiven do not count as heard.
 */
static void test_slept(void)
{
	u32 r;

	begin();
	for (r = 1; r < MEMBERS; r++)
		beat(r);
	run(6 * INTERVAL);
	spindle_mb_suspect(&mb, 3, SPINDLE_MB_LOST);
	run(STEP);
	CHECK_EQ(mb.suspected, 0);
	CHECK_EQ(mb.state, SPINDLE_MB_ACTIVE);
	expect_minority();
	end();
}

/*
 * The same for a time that is too short for forgiveness: the words that it reads are as old as the
 * last pass.
 */
static void test_dozed(void)
{
	u32 r;

	begin();
	for (r = 1; r < MEMBERS; r++)
		beat(r);
	spindle_mb_suspect(&mb, 3, SPINDLE_MB_LOST);
	run(9 * INTERVAL / 2);
	CHECK_EQ(mb.suspected, 0);
	expect_minority();
	end();
}

/* The node was not run, and hears a majority after that. */
static void test_awake(void)
{
	begin();
	run(6 * INTERVAL);
	spindle_mb_suspect(&mb, 3, SPINDLE_MB_LOST);
	live(INTERVAL, 0x02);
	CHECK_EQ(mb.suspected, 0);
	live(INTERVAL, 0x06);
	CHECK_EQ(mb.suspected, BIT_ULL(3));
	CHECK(mb.state != SPINDLE_MB_STOPPED);
	end();
}

/* A member shows that it is in the view. */
static void show_view(u32 r)
{
	u64 word[SPINDLE_BLOCK_WORDS] = { [SPINDLE_MB_COL_VID] = 1 };

	spindle_block_write(&row[r]->state, word);
}

/*
 * Ranks 3 and 4 came with the view. They say nothing before they see that three others are in it.
 */
static void test_joiners_wait(void)
{
	begin();
	mb.came = BIT_ULL(3) | BIT_ULL(4);
	mb.most = 3;
	show_view(1);
	live(3 * TIMEOUT, 0x06);
	CHECK_EQ(mb.suspected, 0);
	show_view(2);
	live(TIMEOUT - INTERVAL, 0x06);
	CHECK_EQ(mb.suspected, 0);
	live(2 * INTERVAL, 0x0e);
	CHECK_EQ(mb.suspected, BIT_ULL(4));
	end();
}

/* Two of three are no longer enough for the joiner to go on, so the joiner is not waited for. */
static void test_joiners_in_vain(void)
{
	begin();
	mb.came = BIT_ULL(4);
	mb.most = 3;
	spindle_mb_suspect(&mb, 1, SPINDLE_MB_LOST);
	live(INTERVAL, 0x0c);
	CHECK_EQ(mb.suspected, BIT_ULL(1));
	live(TIMEOUT, 0x0c);
	CHECK_EQ(mb.suspected, BIT_ULL(1));
	mb.most = 4;
	live(TIMEOUT + INTERVAL, 0x0c);
	CHECK_EQ(mb.suspected, BIT_ULL(1) | BIT_ULL(4));
	end();
}

/* No heartbeat of a member has come yet. */
static void forget(u32 r)
{
	memset(&row[r]->beat, 0, sizeof(row[r]->beat));
	mb.peer[r].beat_seal = 0;
}

/* This node came after ranks 1 and 2. Only rank 1 is in the view yet. */
static void test_held_up(void)
{
	begin();
	mb.came = BIT_ULL(0) | BIT_ULL(3) | BIT_ULL(4);
	mb.most = 2;
	forget(2);
	live(9 * TIMEOUT, 0x1a);
	CHECK_EQ(mb.suspected, 0);
	/* Rank 1 dies. Nobody else tells of rank 2, which has its time once more. */
	live(TIMEOUT + INTERVAL, 0x18);
	CHECK_EQ(mb.suspected, BIT_ULL(1));
	live(3 * TIMEOUT, 0x18);
	CHECK_EQ(mb.suspected, BIT_ULL(1));
	live(3 * TIMEOUT, 0x18);
	CHECK_EQ(mb.suspected, BIT_ULL(1) | BIT_ULL(2));
	end();
}

/*
 * A member that was heard and falls silent gets no more time than any other. The same holds for
 * members that came together.
 */
static void test_held_up_not(void)
{
	begin();
	mb.came = BIT_ULL(0) | BIT_ULL(4);
	mb.most = 2;
	show_view(1);
	show_view(3);
	forget(4);
	live(TIMEOUT + INTERVAL, 0x0a);
	CHECK_EQ(mb.suspected, BIT_ULL(2) | BIT_ULL(4));
	end();
}

/* A member of the view before has heard the other old members, and accuses them itself. */
static void test_held_up_old(void)
{
	begin();
	mb.came = BIT_ULL(4);
	mb.most = 1;
	forget(2);
	live(TIMEOUT + INTERVAL, 0x1a);
	CHECK_EQ(mb.suspected, BIT_ULL(2));
	end();
}

/* Both accused members are cut off. */
static void test_two_at_once(void)
{
	begin();
	spindle_mb_suspect(&mb, 3, SPINDLE_MB_ADMIN);
	spindle_mb_suspect(&mb, 4, SPINDLE_MB_ADMIN);
	run(STEP);
	CHECK_EQ(cuts, BIT_ULL(3) | BIT_ULL(4));
	end();
}

/* A heartbeat may be late by some intervals, and its member still counts as heard. */
static void test_heard_lately(void)
{
	begin();
	live(5 * INTERVAL / 2, 0);
	spindle_mb_suspect(&mb, 3, SPINDLE_MB_SILENT);
	run(STEP);
	CHECK_EQ(mb.suspected, BIT_ULL(3));
	end();
}

/*
 * Two of the old members are doubted, so no majority of them lets rank 4 speak. This node stops as
 * a minority, in place of waiting for rank 4 for ever.
 */
static void test_joiners_of_doubted(void)
{
	begin();
	mb.came = BIT_ULL(4);
	mb.most = 3;
	live(3 * TIMEOUT, 0x08);
	CHECK_EQ(mb.suspected, 0);
	CHECK_EQ(mb.state, SPINDLE_MB_STOPPED);
	CHECK_EQ(mb.reason, SPINDLE_MB_MINORITY);
	end();
}

/* Rank 1 is doubted, so it does not tell of rank 2, which this joiner has never heard. */
static void test_held_up_by_doubted(void)
{
	begin();
	mb.came = BIT_ULL(0) | BIT_ULL(3) | BIT_ULL(4);
	mb.most = 2;
	forget(2);
	live(9 * TIMEOUT, 0x08);
	CHECK_EQ(mb.suspected, 0);
	CHECK_EQ(mb.state, SPINDLE_MB_STOPPED);
	CHECK_EQ(mb.reason, SPINDLE_MB_MINORITY);
	end();
}

/* A committed node tells leavers what it has accepted, but waits for none that it cannot reach. */
static void test_leaver_in_doubt(void)
{
	static const enum spindle_mb_reason why[] = { SPINDLE_MB_LOST, SPINDLE_MB_SILENT };
	u32 i;

	for (i = 0; i < 2; i++) {
		begin();
		mb.digest = 7;
		mb.peer[3].vid = 1;
		mb.peer[3].leaving = true;
		CHECK(!spindle_mb_leavers_told(&mb));
		spindle_mb_suspect(&mb, 2, why[i]);
		CHECK(!spindle_mb_leavers_told(&mb));
		spindle_mb_suspect(&mb, 3, why[i]);
		CHECK(spindle_mb_leavers_told(&mb));
		end();
	}
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a member that hears a majority accuses a lost member", test_heard },
		{ "a member that has heard all members until then accuses none", test_just_deaf },
		{ "a member that hears no member accuses none", test_deaf },
		{ "a member that was paused and is deaf since then accuses none", test_slept },
		{ "beats that were read late prove nothing", test_dozed },
		{ "a member that was paused and hears a majority accuses", test_awake },
		{ "joiners are silent until a majority shows the view", test_joiners_wait },
		{ "joiners that no majority waits for count as silent", test_joiners_in_vain },
		{ "a joiner leaves an unheard member to a member that hears it", test_held_up },
		{ "nobody waits for a leaver that cannot be reached", test_leaver_in_doubt },
		{ "a joiner accuses members and joiners that it has heard", test_held_up_not },
		{ "a member of the former view accuses members itself", test_held_up_old },
		{ "two members at once", test_two_at_once },
		{ "a heartbeat that is late", test_heard_lately },
		{ "joiners of members that are doubted", test_joiners_of_doubted },
		{ "a member that only a doubted one has heard", test_held_up_by_doubted },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
