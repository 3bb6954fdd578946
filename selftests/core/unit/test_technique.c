// SPDX-License-Identifier: GPL-2.0-only
/*
 * Techniques, pass by pass: when are nulls due, what does silence do, when do acknowledgments go,
 * how far do budgets reach, and where is what posted? The schedules of test_mcast.c check that all
 * of it together keeps the promises.
 */
#include "directed.h"
#include "core/multicast/stage.h"

static struct spindle_mc *mc_of(struct world *w, u32 node)
{
	return &w->node[node].group[0]->mc;
}

/* The writes on their way from a node to all others arrive. */
static void arrive(struct world *w, u32 from)
{
	u32 i;

	for (i = 0; i < w->view.num_members; i++)
		while (fabric_step(w, from, i))
			;
}

/* A node sends messages, and they arrive. */
static void send_some(struct world *w, u32 node, u32 count)
{
	struct group *g = w->node[node].group[0];

	if (!g->sender)
		sender_open(g);
	while (count--)
		send_one(g, 64);
	node_pass(&w->node[node]);
	arrive(w, node);
}

/* ---- nulls ---------------------------------------------------------------- */

/* Passes with other work until a node gives up a round; at most ten. */
static u32 passes_until_null(struct spindle_mc *mc)
{
	u64 nulls = mc->stats.nulls;
	u32 n;

	for (n = 1; n <= 10; n++) {
		spindle_mc_run(mc, false);
		if (mc->stats.nulls != nulls)
			break;
	}
	return n;
}

/* A member that may be about to send gets some passes, and the count starts again each time. */
static void test_put_off(void)
{
	struct world *w = chatty_world(2, 0x3);
	struct spindle_mc *mc = mc_of(w, 0);
	u32 i;

	for (i = 0; i < 3; i++) {
		send_some(w, 1, 1);
		CHECK_EQ(passes_until_null(mc), 5);
		CHECK_EQ(mc->send.late, 0);
		settle(w);
	}
	/* A pass that has nothing else to do does not wait. */
	send_some(w, 1, 1);
	spindle_mc_run(mc, true);
	CHECK_EQ(mc->stats.nulls, 4);
	finish(w);
}

/* A message that comes in time takes the round, and none is wasted. */
static void test_in_time(void)
{
	struct world *w = chatty_world(2, 0x3);
	struct spindle_mc *mc = mc_of(w, 0);

	send_some(w, 1, 1);
	spindle_mc_run(mc, false);
	spindle_mc_run(mc, false);
	send_some(w, 0, 1);
	settle(w);
	CHECK_EQ(mc->stats.nulls, 0);
	CHECK_EQ(mc->stats.delivered, 2);
	finish(w);
}

/* A member that has been silent gets no time. */
static void test_silent_at_once(void)
{
	struct world *w = plain_world(2, 0x3);
	struct spindle_mc *mc = mc_of(w, 0);

	send_some(w, 1, 1);
	CHECK_EQ(passes_until_null(mc), 5);
	settle(w);
	send_some(w, 1, 1);
	CHECK_EQ(passes_until_null(mc), 1);
	CHECK_EQ(mc->stats.silent, 1);
	finish(w);
}

/* ---- silence -------------------------------------------------------------- */

/* Committed messages come first, whatever a pass may send. */
static void test_silence_comes_last(void)
{
	struct world *w = plain_world(2, 0x3);
	struct spindle_mc *mc = mc_of(w, 0);
	u32 i;

	mc->tune.send_budget = 1;
	sender_open(w->node[0].group[0]);
	for (i = 0; i < 3; i++)
		send_one(w->node[0].group[0], 64);
	CHECK(spindle_mc_silence(mc, 100));
	CHECK_EQ(mc->own.word[SPINDLE_COL_SLOTS], 3);
	CHECK_EQ(mc->own.word[SPINDLE_COL_SENT], 103);
	for (i = 0; i < 3; i++)
		CHECK_EQ(mc->sender[0].msgs[i].round, i);
	finish(w);
}

/* Silence itself makes the push that reports it. */
static void test_silence_is_told(void)
{
	struct world *w = plain_world(2, 0x3);
	struct spindle_mc *mc = mc_of(w, 0);

	CHECK(spindle_mc_silence(mc, 100));
	CHECK(spindle_mc_run(mc, false));
	CHECK(spindle_push_wanted(mc, 1));
	settle(w);
	CHECK_EQ(mc_of(w, 1)->member[0].sent, 100);
	finish(w);
}

/* ---- retune --------------------------------------------------------------- */

static void test_retune(void)
{
	struct world *w = chatty_world(2, 0x3);
	struct spindle_mc *mc = mc_of(w, 0);
	struct spindle_mc_tune tune = mc->tune;

	/* A round was needed while nulls were off. The other members do not ask for it again. */
	tune.switches &= ~SPINDLE_SW_NULLS;
	spindle_mc_retune(mc, &tune);
	send_some(w, 1, 1);
	settle(w);
	CHECK_EQ(mc->stats.delivered, 0);
	tune.switches |= SPINDLE_SW_NULLS;
	spindle_mc_retune(mc, &tune);
	settle(w);
	CHECK_EQ(mc->stats.delivered, 1);
	/* The next silence in advance is not longer than the new limit. */
	mc->send.ahead = 64;
	tune.silence = 4;
	spindle_mc_retune(mc, &tune);
	CHECK_EQ(mc->send.ahead, 4);
	finish(w);
}

/* ---- large messages ------------------------------------------------------- */

/* The world moves a message, with one failure on the way. */
static void bring_held(struct spindle_mc *mc)
{
	CHECK(spindle_mc_hold(mc, SPINDLE_HELD_MOVING));
	CHECK(spindle_mc_hold(mc, SPINDLE_HELD_WAITING));
	CHECK(spindle_mc_hold(mc, SPINDLE_HELD_MOVING));
	CHECK(spindle_mc_hold(mc, SPINDLE_HELD_PLACED));
}

/* Statistics count the messages of each way, and the restarts. */
static void test_large_counts(void)
{
	struct world *w = plain_world(2, 0x3);
	struct spindle_mc *mc = mc_of(w, 0);

	mc->tune.large = 100;
	sender_open(w->node[0].group[0]);
	send_one(w->node[0].group[0], 100);
	send_one(w->node[0].group[0], 101);
	send_one(w->node[0].group[0], 102);
	spindle_mc_run(mc, false);
	CHECK_EQ(mc->stats.sent, 1);
	CHECK_EQ(mc->stats.large, 0);
	CHECK(mc->send.held == SPINDLE_HELD_WAITING && mc->send.held_slot.len == 101);
	CHECK_EQ(mc->stats.large_again, 0);
	bring_held(mc);
	CHECK_EQ(mc->stats.large_again, 1);
	CHECK_EQ(mc->stats.large, 0);
	spindle_mc_run(mc, false);
	CHECK_EQ(mc->stats.sent, 2);
	CHECK_EQ(mc->stats.large, 1);
	CHECK_EQ(mc->stats.large_bytes, 101);
	bring_held(mc);
	spindle_mc_run(mc, false);
	CHECK_EQ(mc->stats.large, 2);
	CHECK_EQ(mc->stats.large_bytes, 203);
	CHECK_EQ(mc->stats.sent_bytes, 303);
	CHECK_EQ(mc->stats.large_again, 2);
	world_close(w);
}

/*
 * Each time that a slot is used, the process leaves bytes behind the message. No member gets these
 * bytes, although ranges of successive messages are sent as one.
 */
static void test_leftovers(void)
{
	static const u32 lens[] = { 120, 70, 100 };
	struct world *w = plain_world(2, 0x1);
	struct spindle_mc *mc = mc_of(w, 0);
	struct group *g = w->node[0].group[0];
	u64 ring = (u64)mc->ring_units << SPINDLE_UNIT_SHIFT, at, b;
	const struct spindle_msg *msg;
	u32 i, wmask = mc->window - 1;

	sender_open(g);
	for (i = 0; i < 4 * mc->window; i += 2) {
		u32 len = lens[i / mc->window % 3];

		send_one(g, len);
		send_one(g, len);
		at = (mc->send.txq.unit << SPINDLE_UNIT_SHIFT) + len;
		for (b = len; b < 128; b++, at++)
			mc->sender[0].pay[at & (ring - 1)] = 0xa5;
		settle(w);
		msg = &mc->sender[0].msgs[i & wmask];
		at = ((u64)msg->unit << SPINDLE_UNIT_SHIFT) + len;
		for (b = len; b < 128; b++, at++)
			CHECK_EQ(mc_of(w, 1)->sender[0].pay[at & (ring - 1)], 0);
	}
	CHECK_EQ(mc_of(w, 1)->stats.delivered, 4 * mc->window);
	finish(w);
}

/*
 * A new threshold holds for messages that are taken later. Held and sent messages go on as they
 * are.
 */
static void test_large_retune(void)
{
	struct world *w = plain_world(2, 0x3);
	struct spindle_mc *mc = mc_of(w, 0);
	struct group *g = w->node[0].group[0];
	struct spindle_mc_tune tune = mc->tune;
	u32 i;

	sender_open(g);
	send_one(g, 300);
	spindle_mc_run(mc, false);
	CHECK_EQ(mc->stats.sent, 1);
	/* The message has been sent, and not pushed yet. */
	tune.large = 200;
	spindle_mc_retune(mc, &tune);
	CHECK_EQ(mc->send.ends[0].to, U64_MAX);
	for (i = 0; i < 3; i++)
		send_one(g, 201 + i);
	spindle_mc_run(mc, false);
	CHECK(mc->send.held == SPINDLE_HELD_WAITING);
	tune.large = U32_MAX;
	spindle_mc_retune(mc, &tune);
	spindle_mc_run(mc, false);
	CHECK(mc->send.held == SPINDLE_HELD_WAITING && mc->send.held_slot.len == 201);
	CHECK_EQ(mc->stats.sent, 1);
	tune.large = 202;
	spindle_mc_retune(mc, &tune);
	/* The world moves them: one is held, one is not large now, and one is. */
	settle(w);
	CHECK_EQ(mc->stats.sent, 4);
	CHECK_EQ(mc->stats.large, 2);
	CHECK_EQ(mc->stats.large_bytes, 201 + 203);
	CHECK(!mc->send.ends[1].to && mc->send.ends[2].to && !mc->send.ends[3].to);
	CHECK_EQ(mc_of(w, 1)->stats.delivered, 4);
	finish(w);
}

/* ---- acknowledgments ------------------------------------------------------ */

/* Three senders with eight slots each can have 24 messages out. A quarter of that is six. */
static void test_quarter(void)
{
	struct world *w = plain_world(3, 0x7);
	struct spindle_mc *mc = mc_of(w, 0);

	spindle_mc_set(mc, SPINDLE_COL_RECEIVED, 100);
	CHECK(spindle_push_wanted(mc, 1) && spindle_push_wanted(mc, 2));
	mc->member[1].dirty = false;
	mc->member[2].dirty = false;
	mc->member[2].told_delivered = 2;
	spindle_mc_set(mc, SPINDLE_COL_DELIVERED, 5);
	CHECK(!spindle_push_wanted(mc, 1) && !spindle_push_wanted(mc, 2));
	/* The quarter counts from the last report to each member. */
	spindle_mc_set(mc, SPINDLE_COL_DELIVERED, 6);
	CHECK(spindle_push_wanted(mc, 1) && !spindle_push_wanted(mc, 2));
	spindle_mc_set(mc, SPINDLE_COL_DELIVERED, 8);
	CHECK(spindle_push_wanted(mc, 2));
	/* If acknowledgments are not merged, no push waits. */
	mc->member[1].dirty = false;
	mc->member[1].told_delivered = 8;
	mc->tune.switches &= ~SPINDLE_SW_MERGED_ACKS;
	spindle_mc_set(mc, SPINDLE_COL_DELIVERED, 9);
	CHECK(spindle_push_wanted(mc, 1));
	world_close(w);
}

/* An acknowledgment that waits goes out once, when there is time. */
static void test_flush(void)
{
	struct world *w = plain_world(3, 0x7);
	struct spindle_mc *mc = mc_of(w, 0);

	spindle_mc_set(mc, SPINDLE_COL_DELIVERED, 1);
	mc->member[1].told_delivered = 1;
	CHECK(spindle_mc_flush_acks(mc));
	CHECK(!spindle_push_wanted(mc, 1) && spindle_push_wanted(mc, 2));
	CHECK(!spindle_mc_flush_acks(mc));
	world_close(w);
}

/* ---- budgets -------------------------------------------------------------- */

/* All senders share one budget, and none of them is always the last. */
static void test_shared_budget(void)
{
	struct world *w = plain_world(4, 0xf);
	struct spindle_mc *mc = mc_of(w, 0);
	u32 i;

	for (i = 1; i < 4; i++)
		send_some(w, i, 6);
	mc->tune.recv_budget = 7;
	CHECK(spindle_mc_run(mc, false));
	CHECK_EQ(mc->stats.received, 7);
	mc->tune.recv_budget = 1;
	for (i = 2; i <= 4; i++) {
		CHECK(spindle_mc_run(mc, false));
		CHECK_EQ(mc->stats.received, 6 + i);
	}
	for (i = 1; i < 4; i++)
		CHECK(mc->sender[i].walk.slot > 0);
	settle(w);
	CHECK_EQ(mc->stats.delivered, 18);
	finish(w);
}

/* ---- posts ---------------------------------------------------------------- */

static u32 posts, unsealed;

static void count_post(struct spindle_mc *mc)
{
	posts++;
	unsealed += memcmp(mc->own.block->word, mc->own.word, sizeof(mc->own.word)) != 0;
}

/* With posts in place, the block is sealed for each post. With late posts, no pass posts. */
static void test_in_place(void)
{
	struct world *w = plain_world(3, 0x7);
	struct spindle_mc *mc = mc_of(w, 0);
	struct group *g = w->node[0].group[0];

	mc->post = count_post;
	posts = 0;
	unsealed = 0;
	sender_open(g);
	send_one(g, 64);
	spindle_mc_run(mc, false);
	CHECK_EQ(posts, 0);
	mc->tune.switches &= ~SPINDLE_SW_LATE_POST;
	send_some(w, 1, 1);
	send_one(g, 64);
	/* One message of the other member is received, and an own one is sent. */
	spindle_mc_run(mc, false);
	CHECK_EQ(posts, 2);
	CHECK_EQ(unsealed, 0);
	settle(w);
	finish(w);
}

/* After a lie of a member, its news are not posted. The rest of that pass is. */
static void test_post_after_a_lie(void)
{
	static const u64 lie[SPINDLE_BLOCK_WORDS] = { 1, 2, 3, 0 };
	struct world *w = plain_world(2, 0x3);
	struct spindle_mc *mc = mc_of(w, 0);
	struct group *g = w->node[0].group[0];

	mc->post = count_post;
	mc->tune.switches &= ~SPINDLE_SW_LATE_POST;
	posts = 0;
	sender_open(g);
	send_one(g, 64);
	spindle_block_write((struct spindle_block *)mc->member[1].block, lie);
	spindle_mc_run(mc, false);
	CHECK(mc->events & SPINDLE_MC_FAILED);
	/* The post of the own message. */
	CHECK_EQ(posts, 1);
	CHECK_EQ(mc->own.word[SPINDLE_COL_RECEIVED], 1);
	CHECK_EQ(mc->member[1].sent, 0);
	world_close(w);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "nulls wait for four passes with other work", test_put_off },
		{ "a new message takes the round of a delayed null", test_in_time },
		{ "a sender that has been silent gives up rounds at once", test_silent_at_once },
		{ "silence comes behind committed messages", test_silence_comes_last },
		{ "silence alone is pushed", test_silence_is_told },
		{ "nulls go off and on, and silence is cut short", test_retune },
		{ "large messages and their restarts are counted", test_large_counts },
		{ "another threshold applies to later messages", test_large_retune },
		{ "bytes behind a message are not sent", test_leftovers },
		{ "a member pushes delivered from a quarter of the ring on", test_quarter },
		{ "a member with time pushes delivered to the members that lack it", test_flush },
		{ "senders take turns in a common budget", test_shared_budget },
		{ "posts in place are sealed", test_in_place },
		{ "after a lie, only writes of that pass about other members are posted",
		  test_post_after_a_lie },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
