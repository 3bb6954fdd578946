// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multicast: whole subgroups under thousands of schedules. checker.c has the invariants, and this
 * file has the worlds.
 *
 * SEED=n takes other schedules, SCHEDULES=n percent of the usual number of them, and ONLY=n runs
 * the one schedule that a failure has named. Where writes are reordered, OVERWRITE=1 also reorders
 * two writes to the same place.
 */
#include "directed.h"

static struct rng rng;
static u64 percent, only;

/* Counts of a case's schedules, to see that they did something. */
struct tally {
	u64 worlds, messages, nulls, abandoned, torn, writes;
};

static void random_subgroup(struct spindle_view *v, struct rng *r, u64 members)
{
	u64 senders = rng_chance(r, 40) ? members : rng_u64(r) & members;
	struct spindle_view_subgroup *sg = add_subgroup(v, members, senders ?: members);

	sg->window = 1U << rng_below(r, 7);
	sg->ring = 4096U << rng_below(r, 2);
	sg->max_msg = rng_chance(r, 20) ? sg->ring : 1 + rng_below(r, 1500);
	sg->mode = rng_chance(r, 20) ? SPINDLE_MODE_UNORDERED : SPINDLE_MODE_ORDERED;
	sg->hold = rng_chance(r, 20);
}

/* Subgroups that overlap: Table I of the Spindle paper. */
static void table_one(struct spindle_view *v, struct rng *r)
{
	view_init(v, 5);
	random_subgroup(v, r, 0x07);
	random_subgroup(v, r, 0x0b);
	random_subgroup(v, r, 0x15);
}

static void random_view(struct spindle_view *v, struct rng *r, u32 max_nodes)
{
	u32 n = 2 + rng_below(r, max_nodes - 1), i, groups = 1 + rng_below(r, 3);
	u64 all = BIT_ULL(n) - 1, some;

	view_init(v, n);
	random_subgroup(v, r, all);
	for (i = 1; i < groups; i++) {
		some = rng_u64(r) & all;
		random_subgroup(v, r, some ? some : 1);
	}
}

/* ---- running a world ----------------------------------------------------- */

static void for_groups(struct world *w, void (*fn)(struct group *g, void *arg), void *arg)
{
	u32 i, j;

	for (i = 0; i < w->view.num_members; i++)
		for (j = 0; j < w->view.num_subgroups; j++)
			if (w->node[i].group[j])
				fn(w->node[i].group[j], arg);
}

static void start_group(struct group *g, void *arg)
{
	const u32 *pattern_of = arg;
	u32 s = g->mc.my_sender;
	struct rng *r = &g->node->world->rng;
	u32 i;

	switch (pattern_of[g->index]) {
	case 0: /* all members */
		g->talk = 100;
		break;
	case 1: /* half of the members */
		g->talk = s & 1 ? 0 : 100;
		break;
	case 2: /* one random member */
		g->talk = s == pattern_of[WORLD_GROUPS] % g->mc.senders ? 100 : 0;
		break;
	case 3: /* all members but one, which is slow */
		g->talk = s == pattern_of[WORLD_GROUPS] % g->mc.senders ? 2 : 100;
		break;
	default:
		g->talk = rng_below(r, 101);
		break;
	}
	if (s != SPINDLE_NO_RANK && g->talk && rng_chance(r, 90))
		sender_open(g);
	for (i = rng_below(r, 3); i; i--)
		reader_open(g, g->mc.deliver.log_mask + 1, 0);
}

static void activate_some(struct group *g, void *arg)
{
	if (rng_chance(&g->node->world->rng, 1))
		g->mc.formed = true;
	g->node->asleep = false;
}

/* A subgroup with @hold waits for an attachment. The drain must not wait, so attach a reader. */
static void unhold(struct group *g, void *arg)
{
	if (g->mc.deliver.hold && !g->mc.deliver.attached)
		reader_open(g, g->mc.deliver.log_mask + 1, 0);
}

static void add_up(struct group *g, void *arg)
{
	struct tally *t = arg;
	u32 r;

	t->messages += g->mc.stats.sent;
	t->nulls += g->mc.stats.nulls;
	t->abandoned += g->mc.stats.abandoned;
	for (r = 0; r < g->mc.members; r++)
		t->torn += g->mc.member[r].torn;
}

static void start(struct world *w)
{
	u32 patterns[WORLD_GROUPS + 1], i, j;

	for (i = 0; i <= WORLD_GROUPS; i++)
		patterns[i] = rng_below(&w->rng, 6);
	for_groups(w, start_group, patterns);
	for (i = 0; i < w->view.num_members; i++) {
		if (rng_chance(&w->rng, 25))
			w->node[i].slow = rng_below(&w->rng, 95);
		for (j = 0; j < w->view.num_members; j++)
			if (rng_chance(&w->rng, 25))
				w->link[i][j].slow = rng_below(&w->rng, 99);
	}
}

static void run(struct world *w, u32 steps)
{
	u32 i;

	start(w);
	if (rng_chance(&w->rng, 70))
		world_activate(w);
	for (i = 0; i < steps && !w->failed; i++) {
		if (i < 500 && !(i & 7))
			for_groups(w, activate_some, NULL);
		if (i == 500)
			world_activate(w);
		world_step(w);
	}
	world_activate(w);
	for_groups(w, unhold, NULL);
	if (!w->failed)
		world_drain(w);
}

enum flavour {
	TEAR = 1,
	IMM = 2,		/* completions vouch */
	REORDER = 4,		/* ... and they have to */
	UNSAFE = 8,		/* ... but the node ignores them */
	DEATHS = 16,
	CHEATS = 32,
	FAR = 64,		/* counts are about to wrap */
	TABLE_I = 128,
	TUNE = 256,		/* members switch techniques on and off */
};

static struct world_conf random_conf(struct rng *r, u32 flavour)
{
	struct world_conf conf = {
		.tear = flavour & TEAR,
		.vouch = flavour & IMM,
		.reorder = flavour & REORDER ? 2 + rng_below(r, 15) : 0,
		.late = rng_chance(r, 50),
		.sleepy = rng_chance(r, 50),
		.overwrite = tap_env("OVERWRITE", 0),
		.deaths = flavour & DEATHS,
		.cheats = flavour & CHEATS,
		.tune = flavour & TUNE,
		.races = rng_chance(r, 50) ? 2 + rng_below(r, 60) : 0,
		.queue = 6 + rng_below(r, WORLD_LINK_MAX - 6),
		.large = rng_chance(r, 40) ? rng_below(r, 1000) : 0,
	};

	if (flavour & FAR) {
		conf.first = rng_chance(r, 50) ? SPINDLE_IMM_SLOTS : UINT32_MAX;
		conf.first -= rng_below(r, 60);
		conf.first_unit = (1ULL << 32) - 1 - rng_below(r, 300);
	}
	if (flavour & UNSAFE)
		conf.vouch = false;
	return conf;
}

/* Run one schedule, which its seed determines. Returns false if something was wrong. */
static bool schedule(u64 seed, u32 flavour, u32 nodes, u32 steps, struct tally *tally,
		     bool expect)
{
	struct rng r = { .state = seed };
	struct world_conf conf;
	struct spindle_view v;
	struct world *w;
	bool ok;

	if (flavour & TABLE_I)
		table_one(&v, &r);
	else
		random_view(&v, &r, nodes);
	conf = random_conf(&r, flavour);
	w = world_open(&v, &conf, rng_u64(&r));
	run(w, steps / 4 + rng_below(&r, steps));
	ok = !w->failed;
	if (!ok && !expect)
		tap_fail("ONLY=%llu: %s", (unsigned long long)seed, w->why);
	tally->worlds++;
	tally->writes += w->posted;
	for_groups(w, add_up, tally);
	world_close(w);
	return ok;
}

static u64 seed_of(u32 base, u32 i)
{
	return rng_mix(rng.state * 1000003 + base * 1000 + i) >> 16;
}

static void schedules(u32 count, u32 flavour, u32 nodes, u32 steps)
{
	struct tally t = { .worlds = 0 };
	u32 i;

	if (only) {
		schedule(only, flavour, nodes, steps, &t, false);
		return;
	}
	count = max_t(u32, 1, count * percent / 100);
	for (i = 0; i < count && tap_failures < 5; i++)
		schedule(seed_of(flavour + nodes, i), flavour, nodes, steps, &t, false);
	printf("# %llu schedules: %llu messages, %llu nulls, %llu abandoned, %llu writes, %llu torn reads\n",
	       (unsigned long long)t.worlds, (unsigned long long)t.messages,
	       (unsigned long long)t.nulls, (unsigned long long)t.abandoned,
	       (unsigned long long)t.writes, (unsigned long long)t.torn);
}

/* ---- random schedules ---------------------------------------------------- */

static void test_plain(void) { schedules(500, 0, 5, 15000); }
static void test_tear(void) { schedules(400, TEAR, 5, 20000); }
static void test_imm(void) { schedules(200, IMM, 5, 15000); }
static void test_reorder(void) { schedules(400, IMM | REORDER, 5, 15000); }
static void test_reorder_tear(void) { schedules(300, IMM | REORDER | TEAR, 4, 20000); }
static void test_deaths(void) { schedules(500, DEATHS, 4, 15000); }
static void test_cheats(void) { schedules(400, DEATHS | CHEATS | TEAR, 4, 15000); }
static void test_far(void) { schedules(300, FAR | DEATHS, 4, 15000); }
static void test_far_imm(void) { schedules(300, FAR | IMM | REORDER | DEATHS, 4, 15000); }
static void test_table_one(void) { schedules(300, TABLE_I | DEATHS, 5, 15000); }
static void test_tune(void) { schedules(500, TUNE | DEATHS | TEAR, 5, 15000); }
static void test_tune_imm(void) { schedules(300, TUNE | IMM | REORDER | DEATHS, 4, 15000); }
static void test_many(void) { schedules(40, DEATHS | TEAR, WORLD_NODES, 50000); }

/* Does the checker notice? Guards overtake messages, and no completion vouches. */
static void test_unsafe(void)
{
	struct tally t = { .worlds = 0 };
	u32 i, caught = 0;

	for (i = 0; i < 50; i++)
		caught += !schedule(seed_of(UNSAFE, i), REORDER | UNSAFE, 4, 15000, &t, true);
	printf("# %u of 50 caught\n", caught);
	CHECK(caught >= 25);
}

/* ---- directed ------------------------------------------------------------ */

/*
 * A single member of any rank sends. Its messages are delivered, with exactly the nulls that the
 * order needs.
 */
static void test_alone(void)
{
	u32 nodes, s, i, k;

	for (nodes = 1; nodes <= 8; nodes++) {
		for (s = 0; s < nodes; s++) {
			struct world *w = chatty_world(nodes, BIT_ULL(nodes) - 1);
			u64 nulls = 0;

			sender_open(w->node[s].group[0]);
			for (k = 1; k <= 20; k++) {
				send_one(w->node[s].group[0], 10 * k);
				settle(w);
				for (i = 0; i < nodes; i++)
					CHECK_EQ(w->node[i].group[0]->mc.stats.delivered, k);
			}
			for (i = 0; i < nodes; i++)
				nulls += w->node[i].group[0]->mc.stats.nulls;
			/* Lower ranks give up this round, higher ranks the rounds before. */
			CHECK_EQ(nulls, 20 * s + 19 * (nodes - 1 - s));
			finish(w);
		}
	}
}

/* The first message of rank 0 needs no null of other members. */
static void test_no_nulls(void)
{
	u32 nodes, i;

	for (nodes = 1; nodes <= 8; nodes++) {
		struct world *w = plain_world(nodes, BIT_ULL(nodes) - 1);

		sender_open(w->node[0].group[0]);
		send_one(w->node[0].group[0], 100);
		settle(w);
		for (i = 0; i < nodes; i++) {
			CHECK_EQ(w->node[i].group[0]->mc.stats.nulls, 0);
			CHECK_EQ(w->node[i].group[0]->mc.stats.delivered, 1);
			CHECK_EQ(w->node[i].group[0]->mc.own.word[SPINDLE_COL_SENT], !i);
		}
		finish(w);
		/* A single sender never needs a null. */
		w = plain_world(nodes, BIT_ULL(nodes - 1));
		sender_open(w->node[nodes - 1].group[0]);
		for (i = 0; i < 50; i++) {
			send_one(w->node[nodes - 1].group[0], i);
			if (i % 3 == 0)
				settle(w);
		}
		CHECK_EQ(w->node[nodes - 1].group[0]->mc.stats.nulls, 0);
		finish(w);
	}
}

/* The others answer a single sender more and more rarely, and in the end with long gaps. */
static void test_ahead(void)
{
	struct world *w = plain_world(3, 0x7);
	struct spindle_mc *quiet = &w->node[1].group[0]->mc;
	u64 writes = 0, nulls;
	u32 i, k;

	sender_open(w->node[0].group[0]);
	for (k = 1; k <= 3000; k++) {
		send_one(w->node[0].group[0], 64);
		settle(w);
		for (i = 0; i < 3; i++)
			CHECK_EQ(w->node[i].group[0]->mc.stats.delivered, k);
	}
	/* 0, 1, 2, 4, ... 1024 rounds in advance: three thousand take a dozen answers. */
	nulls = quiet->stats.nulls;
	CHECK(nulls >= 11 && nulls <= 14);
	CHECK(quiet->stats.silent + nulls >= 2999);
	/*
	 * The message of node 1 comes behind these rounds. The others catch up, and all is as
	 * before.
	 */
	sender_open(w->node[1].group[0]);
	writes = w->posted;
	send_one(w->node[1].group[0], 64);
	settle(w);
	for (i = 0; i < 3; i++)
		CHECK_EQ(w->node[i].group[0]->mc.stats.delivered, 3001);
	CHECK(w->posted - writes <= 30);
	CHECK_EQ(quiet->send.ahead, 0);
	finish(w);
}

static void test_declared(void)
{
	struct world *w = chatty_world(4, 0xf);
	u32 i, k;

	for (i = 0; i < 4; i++)
		sender_open(w->node[i].group[0]);
	for (i = 1; i < 4; i++)
		CHECK(spindle_mc_silence(&w->node[i].group[0]->mc, 100));
	for (k = 1; k <= 100; k++) {
		send_one(w->node[0].group[0], 64);
		settle(w);
		for (i = 0; i < 4; i++)
			CHECK_EQ(w->node[i].group[0]->mc.stats.delivered, k);
	}
	for (i = 0; i < 4; i++)
		CHECK_EQ(w->node[i].group[0]->mc.stats.nulls, 0);
	/*
	 * Silence in advance: node 0 has sent 100 rounds, and node 1 has given up 1000 when it
	 * sends.
	 */
	CHECK(spindle_mc_silence(&w->node[1].group[0]->mc, 1000));
	send_one(w->node[1].group[0], 64);
	settle(w);
	for (i = 0; i < 4; i++)
		CHECK_EQ(w->node[i].group[0]->mc.stats.delivered, 101);
	CHECK_EQ(w->node[0].group[0]->mc.stats.nulls, 1001);
	/* A silence that would let the counts run out is refused, and changes nothing. */
	CHECK(!spindle_mc_silence(&w->node[1].group[0]->mc, SPINDLE_MAX_ROUND / 4));
	CHECK_EQ(w->node[1].group[0]->mc.own.word[SPINDLE_COL_SENT], 1101);
	finish(w);
}

static void test_nulls_off(void)
{
	struct world *w = chatty_world(2, 0x3);
	u32 i;

	for (i = 0; i < 2; i++) {
		w->node[i].group[0]->mc.tune.switches &= ~SPINDLE_SW_NULLS;
		sender_open(w->node[i].group[0]);
	}
	send_one(w->node[1].group[0], 64);
	settle(w);
	CHECK_EQ(w->node[0].group[0]->mc.stats.delivered, 0);
	CHECK_EQ(w->node[1].group[0]->mc.stats.delivered, 0);
	send_one(w->node[0].group[0], 64);
	settle(w);
	CHECK_EQ(w->node[0].group[0]->mc.stats.delivered, 2);
	CHECK_EQ(w->node[0].group[0]->mc.stats.nulls, 0);
	finish(w);
}

/* The number of writes that a burst of messages from one of three members takes. */
static u64 burst_writes(u32 switches, u32 *batches)
{
	struct world *w = plain_world(3, 0x1);
	u32 i, k;
	u64 n;

	for (i = 0; i < 3; i++)
		w->node[i].group[0]->mc.tune.switches = switches;
	sender_open(w->node[0].group[0]);
	for (k = 0; k < 8; k++)
		send_one(w->node[0].group[0], 64);
	settle(w);
	CHECK_EQ(w->node[2].group[0]->mc.stats.delivered, 8);
	*batches = w->node[0].group[0]->mc.stats.send_batches;
	n = w->posted;
	finish(w);
	return n;
}

static void test_baseline(void)
{
	u32 batches;
	u64 all, none, n;

	all = burst_writes(SPINDLE_SW_ALL, &batches);
	CHECK_EQ(batches, 1);
	none = burst_writes(0, &batches);
	CHECK_EQ(batches, 8);
	/* At least message, header and block to two, and two acknowledgments of two to two. */
	CHECK(none >= 8 * (3 * 2 + 2 * 2 * 2));
	CHECK(all * 6 < none);
	/* Each technique alone saves writes. */
	n = burst_writes(SPINDLE_SW_ALL & ~SPINDLE_SW_SEND_BATCH, &batches);
	CHECK_EQ(batches, 8);
	CHECK(n > all);
	CHECK(burst_writes(SPINDLE_SW_ALL & ~SPINDLE_SW_RECV_BATCH, &batches) > all);
	CHECK(burst_writes(SPINDLE_SW_ALL & ~SPINDLE_SW_DLV_BATCH, &batches) > all);
	CHECK(burst_writes(SPINDLE_SW_ALL & ~SPINDLE_SW_LATE_POST, &batches) >= all);
	CHECK(burst_writes(SPINDLE_SW_ALL & ~SPINDLE_SW_MERGED_ACKS, &batches) >= all);
}

/* All members always have something to send: there are nulls only at the end. */
static void test_all_busy(void)
{
	struct world *w = plain_world(4, 0xf);
	u32 i, k;

	for (i = 0; i < 4; i++)
		sender_open(w->node[i].group[0]);
	for (k = 0; k < 100; k++) {
		for (i = 0; i < 4; i++)
			send_one(w->node[i].group[0], 64);
		settle(w);
	}
	for (i = 0; i < 4; i++) {
		CHECK_EQ(w->node[i].group[0]->mc.stats.delivered, 400);
		CHECK_EQ(w->node[i].group[0]->mc.stats.nulls, 0);
	}
	finish(w);
}

/* A full batch takes as many writes as one message, unless the message goes by express. */
static void test_flat_cost(void)
{
	u64 cost[2];
	u32 k, i;

	for (k = 0; k < 2; k++) {
		struct world *w = plain_world(3, 1);

		w->node[0].group[0]->mc.tune.switches &= ~SPINDLE_SW_EXPRESS;
		sender_open(w->node[0].group[0]);
		for (i = 0; i < (k ? 8 : 1); i++)
			send_one(w->node[0].group[0], 100);
		settle(w);
		cost[k] = w->posted;
		finish(w);
	}
	CHECK_EQ(cost[0], cost[1]);
}

/* A process dies between two runs of the engine. Its committed messages are not lost. */
static void test_detach_then_push(void)
{
	struct world *w = plain_world(2, 1);
	struct group *g = w->node[0].group[0];

	sender_open(g);
	send_one(g, 100);
	sender_close(g);
	settle(w);
	CHECK_EQ(w->node[1].group[0]->mc.stats.delivered, 1);
	finish(w);
}

/* The same before the subgroup has formed. */
static void test_detach_early(void)
{
	struct world *w = plain_world(2, 1);
	struct group *g = w->node[0].group[0];

	g->mc.formed = false;
	sender_open(g);
	send_one(g, 100);
	sender_close(g);
	settle(w);
	CHECK_EQ(w->node[1].group[0]->mc.stats.delivered, 0);
	g->mc.formed = true;
	settle(w);
	CHECK_EQ(w->node[1].group[0]->mc.stats.delivered, 1);
	finish(w);
}

/* There is more work than one pass takes: budgets limit a pass, and no message is lost. */
static void test_budgets(void)
{
	struct world_conf conf = { .queue = WORLD_LINK_MAX, .sleepy = true };
	struct spindle_view v;
	struct group *a, *b;
	struct world *w;
	u64 before;
	u32 i;

	view_init(&v, 2);
	add_subgroup(&v, 3, 1)->window = 8192;
	w = world_open(&v, &conf, 1);
	a = w->node[0].group[0];
	b = w->node[1].group[0];
	reader_open(a, 8192, 0);
	reader_open(b, 8192, 0);
	sender_open(a);
	world_activate(w);
	for (i = 0; i < 8192; i++)
		send_one(a, 0);
	for (i = 1; i <= 8192 / SPINDLE_DEF_SEND_BUDGET; i++) {
		CHECK(node_pass(&w->node[0]));
		CHECK_EQ(a->mc.stats.sent, i * SPINDLE_DEF_SEND_BUDGET);
	}
	while (fabric_step(w, 0, 1))
		;
	/* Member 1 sends nothing, so all messages are stable for it at once. */
	for (i = 1; i <= 8192 / SPINDLE_DEF_DLV_BUDGET; i++) {
		before = b->mc.stats.delivered;
		CHECK(node_pass(&w->node[1]));
		CHECK_EQ(b->mc.stats.delivered - before, SPINDLE_DEF_DLV_BUDGET);
	}
	settle(w);
	CHECK_EQ(a->mc.stats.delivered, 8192);
	finish(w);
}

/* While no member sends, no node posts a write. */
static void test_silence(void)
{
	struct world *w = plain_world(5, 0x1f);
	u32 i;

	for (i = 0; i < 5; i++) {
		sender_open(w->node[i].group[0]);
		CHECK(!node_pass(&w->node[i]));
	}
	CHECK_EQ(w->posted, 0);
	finish(w);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "idle members are silent", test_silence },
		{ "one sender of any rank sends, all others are idle", test_alone },
		{ "idle senders send no needless nulls", test_no_nulls },
		{ "busy senders send no nulls", test_all_busy },
		{ "an idle sender gives up rounds in advance", test_ahead },
		{ "a declared silence may end early", test_declared },
		{ "nulls off: a silent sender holds up the other senders", test_nulls_off },
		{ "the baseline: one message per pass, a write per acknowledgment", test_baseline },
		{ "a batch costs what a message costs", test_flat_cost },
		{ "messages that a dead process committed are sent", test_detach_then_push },
		{ "messages that a dead process committed before the connections are sent",
		  test_detach_early },
		{ "a window larger than a pass is sent", test_budgets },
		{ "schedules: writes in order", test_plain },
		{ "schedules: writes tear", test_tear },
		{ "schedules: completions vouch", test_imm },
		{ "schedules: writes reordered, completions vouch", test_reorder },
		{ "schedules: reordered and torn", test_reorder_tear },
		{ "schedules: processes die and come back", test_deaths },
		{ "schedules: processes cheat", test_cheats },
		{ "schedules: counts wrap", test_far },
		{ "schedules: counts wrap, reordered", test_far_imm },
		{ "schedules: subgroups that overlap", test_table_one },
		{ "schedules: techniques on and off", test_tune },
		{ "schedules: techniques on and off, reordered", test_tune_imm },
		{ "schedules: up to 16 nodes", test_many },
		{ "reordered without completions: the checker finds the fault", test_unsafe },
	};

	rng = rng_seed();
	percent = tap_env("SCHEDULES", 100);
	only = tap_env("ONLY", 0);
	return tap_run(cases, ARRAY_SIZE(cases));
}
