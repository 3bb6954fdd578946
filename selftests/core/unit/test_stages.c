// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stages: what do the four predicates tell processes, for what do they wait, and what do statistics
 * count?
 */
#include "directed.h"

static void done(struct world *w)
{
	if (w->failed)
		tap_fail("%s", w->why);
	world_close(w);
}

/* A reader with one entry, which is full, and a process that does not read. */
static struct reader *full_reader(struct world *w, struct group *g)
{
	struct reader *r = reader_open(g, 1, 4096);

	r->cheated = true;
	sender_open(g);
	send_one(g, 10);
	settle(w);
	CHECK_EQ(r->q.tail, 1);
	return r;
}

/*
 * Delivery does not wait for a process that broke a rule, whatever this process had still to read.
 */
static void test_frozen_reader(void)
{
	struct world *w = plain_world(1, 1);
	struct group *g = w->node[0].group[0];
	struct reader *r = full_reader(w, g);

	send_one(g, 10);
	settle(w);
	CHECK_EQ(g->mc.stats.delivered, 1);
	*r->consumed = 99;
	spindle_mc_run(&g->mc, true);
	CHECK(r->q.error);
	CHECK(g->mc.events & SPINDLE_MC_FROZEN);
	settle(w);
	CHECK_EQ(g->mc.stats.delivered, 2);
	CHECK_EQ(r->q.tail, 1);
	/* The frozen reader is not looked at again, because there is nothing to do. */
	*r->consumed = 98;
	settle(w);
	done(w);
}

/* A process that broke a rule learns of it. */
static void test_frozen_sender(void)
{
	struct world *w = plain_world(1, 1);
	struct group *g = w->node[0].group[0];

	sender_open(g);
	g->sender->cheated = true;
	g->sender->desc[0].ready = 99;
	spindle_mc_run(&g->mc, true);
	CHECK_EQ(g->mc.send.txq.error, SPINDLE_ERR_TX_READY);
	CHECK(g->mc.events & SPINDLE_MC_FROZEN);
	settle(w);
	done(w);
}

static struct world *held_world(void)
{
	struct world_conf conf = { .queue = WORLD_LINK_MAX };
	struct spindle_view v;
	struct world *w;

	view_init(&v, 2);
	add_subgroup(&v, 3, 1)->hold = 1;
	w = world_open(&v, &conf, 1);
	world_activate(w);
	return w;
}

/* Messages wait for an attachment. An attachment that only sends is enough. */
static void test_hold(void)
{
	struct world *w = held_world();
	struct group *a = w->node[0].group[0], *b = w->node[1].group[0];

	sender_open(a);
	send_one(a, 10);
	settle(w);
	CHECK_EQ(a->mc.stats.delivered, 1);
	CHECK_EQ(b->mc.stats.delivered, 0);
	reader_open(b, b->mc.deliver.log_mask + 1, 0);
	settle(w);
	CHECK_EQ(b->mc.stats.delivered, 1);
	CHECK_EQ(b->mc.stats.discarded, 0);
	done(w);
}

/* Own messages are received as soon as they are sent, those of others when they come. */
static void test_counters(void)
{
	struct world *w = plain_world(2, 3);
	struct group *a = w->node[0].group[0], *b = w->node[1].group[0];

	sender_open(a);
	send_one(a, 10);
	send_one(a, 10);
	settle(w);
	CHECK_EQ(a->mc.stats.sent, 2);
	CHECK_EQ(a->mc.stats.received, 2);
	CHECK_EQ(b->mc.stats.received, 2);
	CHECK_EQ(a->mc.stats.delivered, 2);
	CHECK_EQ(a->mc.stats.discarded, 0);
	CHECK_EQ(a->mc.stats.sent_bytes, 20);
	done(w);
}

/* Write the columns of node 1 in node 0's copy. */
static void says(struct world *w, u64 sent, u64 received, u64 delivered, u64 slots)
{
	u64 word[SPINDLE_BLOCK_WORDS] = {
		[SPINDLE_COL_SENT] = sent,
		[SPINDLE_COL_RECEIVED] = received,
		[SPINDLE_COL_DELIVERED] = delivered,
		[SPINDLE_COL_SLOTS] = slots,
	};

	spindle_block_write((void *)w->node[0].group[0]->mc.member[1].block, word);
}

/* A message that is still to be pushed to a member does not count as received there. */
static void test_unpushed(void)
{
	struct world *w = plain_world(2, 1);
	struct group *g = w->node[0].group[0];

	sender_open(g);
	send_one(g, 10);
	spindle_mc_run(&g->mc, true);
	CHECK_EQ(g->mc.own.word[SPINDLE_COL_SLOTS], 1);
	CHECK_EQ(g->mc.member[1].push_slot, 0);
	says(w, 0, 1, 0, 0);
	spindle_mc_run(&g->mc, true);
	CHECK(g->mc.events & SPINDLE_MC_FAILED);
	g->mc.events = 0;
	g->sender->cheated = true;
	done(w);
}

/*
 * A null of a member that is far ahead makes the others follow, but only as far as the limit that
 * members believe.
 */
static void test_far_ahead(void)
{
	struct world *w = plain_world(2, 3);
	struct group *g = w->node[0].group[0];
	struct spindle_msg msg = { .round = SPINDLE_MAX_ROUND - 1 };

	spindle_hdr_write(g->mc.sender[1].walk.ring, g->mc.window - 1, 0, &msg);
	says(w, SPINDLE_MAX_ROUND, 0, 0, 1);
	g->mc.tune.silence = 0;
	spindle_mc_run(&g->mc, true);
	spindle_mc_run(&g->mc, true);
	CHECK_EQ(g->mc.sender[1].walk.slot, 1);
	CHECK_EQ(g->mc.own.word[SPINDLE_COL_SENT], SPINDLE_MAX_ROUND / 2);
	world_close(w);
}

/* A torn block now and then, over years, is no lie. Only torn blocks in a row are one. */
static void test_torn_now_and_then(void)
{
	struct world *w = plain_world(2, 3);
	struct spindle_mc *mc = &w->node[0].group[0]->mc;

	mc->member[1].torn_run = SPINDLE_MAX_TORN;
	says(w, 1, 0, 0, 0);
	spindle_mc_run(mc, true);
	((struct spindle_block *)mc->member[1].block)->seal++;
	spindle_mc_run(mc, true);
	CHECK_EQ(mc->member[1].torn_run, 1);
	CHECK(!(mc->events & SPINDLE_MC_FAILED));
	done(w);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a frozen reader gets the error and holds up no sender", test_frozen_reader },
		{ "a frozen sender gets the error", test_frozen_sender },
		{ "any attachment ends hold", test_hold },
		{ "messages are counted where they are received", test_counters },
		{ "a message that was not pushed is not received", test_unpushed },
		{ "a block that is half written now and then is no lie", test_torn_now_and_then },
		{ "nulls have a limit", test_far_ahead },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
