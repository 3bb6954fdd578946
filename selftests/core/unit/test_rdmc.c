// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMC: objects arrive unchanged at all members, or all members learn that they did not. A process
 * gets its memory back when no device can touch it any more. Both hold whatever processes do,
 * whatever breaks, and whichever member lies.
 *
 * SEED=n takes other worlds, SCHEDULES=n percent of the usual number of them, and ONLY=n the one
 * with this number alone.
 */
#include "rdmc_world.h"

static struct rng rng;

/* The faults of a world. */
enum fault {
	F_NONE,
	F_OBJECTS,	/* processes cancel and refuse */
	F_LANES,	/* lanes break */
	F_CRASH,	/* a node is gone */
	F_LEAVE,	/* processes leave */
	F_ABSENT,	/* a member never creates the group */
	F_AGAIN,	/* a member leaves and creates the group again */
	F_SLOW,		/* a process never accepts */
	F_OPEN,		/* a process never closes */
	F_OTHER,	/* a member has another configuration of the group */
	F_VIEW,		/* some members miss a member */
	F_ALL,
	F_LIAR,
	FAULTS
};

static const char *const fault_name[] = {
	"none", "objects", "lanes", "crash", "leave", "absent", "again", "slow", "open",
	"other", "view", "all", "liar",
};

static u32 some_n(struct rng *rg)
{
	switch (rng_below(rg, 20)) {
	case 0:
		return 17 + rng_below(rg, 48);
	case 1 ... 6:
		return 2 + rng_below(rg, 15);
	default:
		return 2 + rng_below(rg, 6);
	}
}

static void make_group(struct rw_world *w, u32 g)
{
	struct rng *rg = &w->rng;
	struct rw_group *gr = &w->group[g];
	u64 i, k;

	gr->algorithm = rng_below(rg, 5);
	gr->shift = rng_below(rg, w->n);
	gr->block = 8 << rng_below(rg, 3);
	gr->total = rng_chance(rg, 15) ? 16 + rng_below(rg, 20) : rng_below(rg, 6);
	for (i = 0; i < w->n; i++)
		gr->rack[i] = rng_below(rg, 3);
	for (i = 0; i < gr->total; i++) {
		switch (rng_below(rg, 8)) {
		case 0:
			gr->len[i] = 1;
			break;
		case 1:
			gr->len[i] = gr->block - 1 + rng_below(rg, 3);
			break;
		case 2:
			gr->len[i] = 2 * gr->block - rng_below(rg, 3);
			break;
		case 3:
			gr->len[i] = (w->n > 16 ? 16 : 70) * gr->block - rng_below(rg, 8);
			break;
		default:
			gr->len[i] = 1 + rng_below(rg, 12 * gr->block);
			break;
		}
		gr->bytes[i] = malloc(gr->len[i]);
		for (k = 0; k < gr->len[i]; k++)
			gr->bytes[i][k] = rng_u64(rg);
	}
}

static u32 anybody(struct rw_world *w)
{
	return rng_below(&w->rng, w->n);
}

/* Inject the fault of the world at a random moment. */
static void interfere(struct rw_world *w, enum fault fault)
{
	const struct rw_habits none = { 0 };
	u32 a = anybody(w), b = anybody(w), g = rng_below(&w->rng, w->groups);
	struct rw_inst *in = w->inst[a][g];

	switch (fault) {
	case F_LANES:
		rw_break(w, a, b);
		break;
	case F_CRASH:
		if (!w->crashed[a])
			rw_crash(w, a);
		break;
	case F_LEAVE:
		if (in)
			in->habits.leaves = 20;
		break;
	case F_AGAIN:
		if (in)
			in->habits.leaves = 100;
		else if (!w->crashed[a])
			rw_create(w, a, g, &none);
		break;
	case F_VIEW:
		if (in && a != b) {
			spindle_rdmc_fail(&in->r, rw_rank(w, g, b) + 1, SPINDLE_RDMC_VIEW);
			in->dirty = true;
		}
		break;
	case F_ALL:
		interfere(w, F_LANES + rng_below(&w->rng, F_VIEW - F_LANES + 1));
		break;
	default:
		break;
	}
}

static void people(struct rw_world *w, enum fault fault)
{
	u32 i, g, odd = anybody(w), one = rng_below(&w->rng, w->groups);

	for (g = 0; g < w->groups; g++) {
		for (i = 0; i < w->n; i++) {
			struct rw_habits habits = { .early_close = rng_chance(&w->rng, 20) };

			if (fault == F_OBJECTS || fault == F_ALL) {
				habits.refuses = rng_chance(&w->rng, 20) ? 10 : 0;
				habits.cancels = rng_chance(&w->rng, 20) ? 2 : 0;
			}
			if (i == odd && g == one) {
				if (fault == F_ABSENT)
					continue;
				habits.never = fault == F_SLOW ? 60 : 0;
				habits.never_closes = fault == F_OPEN;
			}
			/* The other members begin later. */
			if (rng_chance(&w->rng, 10))
				while (rng_chance(&w->rng, 95))
					rw_step(w);
			if (fault == F_OTHER && i == odd && g == one) {
				u32 block = w->group[g].block;

				w->group[g].block = 2 * block;
				rw_create(w, i, g, &habits);
				w->group[g].block = block;
			} else if (!w->crashed[i] && !w->inst[i][g]) {
				rw_create(w, i, g, &habits);
			}
		}
	}
}

/* Run one world to its end. */
static bool world(u64 seed, u32 number, enum fault fault, u64 *sum)
{
	struct rng rg = { .state = rng_mix(seed) + number };
	u32 n = some_n(&rg), groups = n > 16 ? 1 : 1 + rng_below(&rg, RW_GROUPS);
	struct rw_world *w = rw_new(rng_u64(&rg), n, groups);
	/* Each member that waits looks at the clock now and then. */
	u32 g, i, moments = 0, jumps = 0, most = 500 + 100 * n;
	u64 limit = 3000000;
	bool ok;

	for (g = 0; g < groups; g++)
		make_group(w, g);
	w->quiet_faults = fault == F_NONE;
	if (fault == F_LIAR) {
		w->liar = anybody(w);
		w->lies = 1 + rng_below(&rg, rng_chance(&rg, 50) ? 4 : 40);
		/* Honest members need much less than this time to get all messages. */
		w->timeout = 20000 + 400 * n * n;
	}
	if (fault != F_NONE && fault != F_OBJECTS && fault != F_LIAR)
		moments = 1 + rng_below(&rg, fault == F_ALL ? 4 : 2);
	people(w, fault);
	while (!w->bad && w->steps < limit) {
		bool any = rw_step(w);

		if (moments && rng_below(&w->rng, 3000) < (any ? 1U : 3000U)) {
			interfere(w, fault);
			moments--;
			continue;
		}
		if (any)
			continue;
		if (rw_all_over(w))
			break;
		if (rw_jump(w) && jumps++ < most)
			continue;
		/*
		 * No member waits, except for a process, or for a message that another member never
		 * sends.
		 */
		if (fault != F_LIAR && fault != F_AGAIN && fault != F_ALL && fault != F_OPEN)
			rw_bad(w, "no member makes progress");
		rw_leave_all(w);
		if (jumps > most + 100)
			rw_bad(w, "no end");
		jumps = max(jumps, most + 1) + 1;
	}
	if (!w->bad && w->steps >= limit)
		rw_bad(w, "too many steps");
	if (!w->bad && fault == F_OBJECTS && w->failed)
		rw_bad(w, "an object was cancelled, and the group failed");
	if (!w->bad && (fault == F_ABSENT || fault == F_OTHER) && !w->failed)
		rw_bad(w, "a member was missing, and no member noticed");
	if (!w->bad && fault == F_SLOW && w->failed)
		rw_bad(w, "an object took too long, and the group failed");
	sum[0] += w->steps;
	sum[1] += w->done_ok;
	sum[2] += w->done_bad;
	sum[3] += w->closed_ok;
	sum[4] += w->closed_bad;
	sum[5] += w->failed;
	ok = !w->bad;
	if (!ok)
		tap_fail("world %u (%s, %u members, step %llu): %s", number, fault_name[fault], n,
			 (unsigned long long)w->steps, w->why);
	for (i = 0; i < n && !ok && tap_env("ONLY", 0); i++)
		for (g = 0; g < groups; g++)
			if (w->inst[i][g])
				printf("#   node %u group %u rank %u: state %u ended %llu of %llu\n",
				       i, g, w->inst[i][g]->r.cfg.me, w->inst[i][g]->r.state,
				       (unsigned long long)w->inst[i][g]->r.ended,
				       (unsigned long long)w->inst[i][g]->r.announced);
	rw_free(w);
	return ok;
}

static void worlds(enum fault first, enum fault last, u32 count)
{
	u64 sum[6] = { 0 }, only = tap_env("ONLY", U64_MAX);
	u32 i, bad = 0;

	count = max_t(u64, 1, count * tap_env("SCHEDULES", 100) / 100);
	for (i = 0; i < count && bad < 3; i++)
		if (only == U64_MAX || i == only)
			bad += !world(rng.state, i, first + i % (last - first + 1), sum);
	printf("# %u worlds, %llu steps; objects %llu well %llu not; closed %llu well %llu not; failed %llu\n",
	       count, (unsigned long long)sum[0], (unsigned long long)sum[1],
	       (unsigned long long)sum[2], (unsigned long long)sum[3],
	       (unsigned long long)sum[4], (unsigned long long)sum[5]);
}

static void test_no_faults(void)
{
	worlds(F_NONE, F_NONE, 900);
}

static void test_objects(void)
{
	worlds(F_OBJECTS, F_OBJECTS, 1000);
}

static void test_members(void)
{
	worlds(F_LANES, F_ALL, 3000);
}

static void test_liars(void)
{
	worlds(F_LIAR, F_LIAR, 2500);
}

/* ---- by hand ------------------------------------------------------------------ */

static struct rw_world *plain(u32 n, u32 algorithm, u32 objects, u32 blocks)
{
	struct rw_world *w = rw_new(rng_u64(&rng), n, 1);
	struct rw_group *gr = &w->group[0];
	u32 i, k;

	w->quiet_faults = true;
	gr->algorithm = algorithm;
	gr->block = 16;
	gr->total = objects;
	for (i = 0; i < n; i++)
		gr->rack[i] = i % 2;
	for (i = 0; i < objects; i++) {
		gr->len[i] = 16 * blocks - 3;
		gr->bytes[i] = malloc(gr->len[i]);
		for (k = 0; k < gr->len[i]; k++)
			gr->bytes[i][k] = rng_u64(&rng);
	}
	return w;
}

static void end_plain(struct rw_world *w)
{
	u32 jumps = 0;

	while (!w->bad && !rw_all_over(w) && jumps < 100)
		jumps += !rw_step(w) && !(rw_jump(w) && jumps < 50) ? 100 : 0;
	if (!rw_all_over(w))
		rw_bad(w, "no end");
	if (w->bad)
		tap_fail("%s", w->why);
}

/* Every block goes to every member once, by one grant, with few other messages. */
static void test_counts(void)
{
	const struct rw_habits none = { 0 };
	u32 n, alg, i, blocks;

	for (alg = 0; alg < 5; alg++) {
		for (n = 2; n < 12; n++) {
			struct rw_world *w;
			u64 all;

			blocks = 1 + rng_below(&rng, 40);
			w = plain(n, alg, 3, blocks);
			for (i = 0; i < n; i++)
				rw_create(w, i, 0, &none);
			end_plain(w);
			all = 3 * blocks * (n - 1);
			CHECK_EQ(w->writes, all);
			CHECK_EQ(w->grants, all);
			CHECK_EQ(w->blocks_in, all);
			CHECK_EQ(w->bytes_in, 3 * (n - 1) * (16 * blocks - 3));
			CHECK_EQ(w->bytes_out, w->bytes_in);
			CHECK_EQ(w->done_ok, 3 * n);
			CHECK_EQ(w->closed_ok, n);
			/* HELLO and CLOSE to each from each; ANNOUNCE and PROGRESS. */
			CHECK(w->said <= all + 3 * n * (n - 1) + 3 * (n - 1) * (1 + 18));
			/* A member does not report each single block. */
			CHECK(w->said >= all + 2 * n * (n - 1) + 3 * (n - 1));
			rw_free(w);
		}
	}
}

/* As long as any member makes progress, no member times out at the end of the group. */
static void test_patience(void)
{
	const struct rw_habits none = { 0 }, never = { .never = 100 };
	struct rw_world *w = plain(5, SPINDLE_RDMC_CHAIN, 12, 3);
	u32 i, o;

	for (i = 0; i < 5; i++)
		rw_create(w, i, 0, i == 4 ? &never : &none);
	for (o = 0; o < 12; o++) {
		while (rw_step(w) && !w->bad)
			;
		w->now += w->timeout - w->timeout / 8;
		rw_wake(w);
		while (rw_step(w) && !w->bad)
			;
		if (w->bad || !w->inst[4][0])
			break;
		rw_accept(w, 4, 0, o);
	}
	end_plain(w);
	CHECK_EQ(w->closed_ok, 5);
	rw_free(w);
}

/* One member never takes an object. The root gives the object up in time, and the rest goes on. */
static void test_impatience(void)
{
	const struct rw_habits none = { 0 }, never = { .never = 100 };
	struct rw_world *w = plain(4, SPINDLE_RDMC_PIPELINE, 3, 5);
	u64 begin;
	u32 i;

	w->quiet_faults = false;
	for (i = 0; i < 4; i++)
		rw_create(w, i, 0, i == 2 ? &never : &none);
	while (rw_step(w))
		;
	begin = w->now;
	for (i = 0; i < 3; i++) {
		CHECK_EQ(w->done_bad, 4 * i);
		/* Other members check the time, too, and do nothing. */
		while (w->done_bad == 4 * i && CHECK(rw_jump(w)))
			while (rw_step(w))
				;
		CHECK(w->now <= begin + (i + 1) * (w->timeout + 20000));
	}
	CHECK_EQ(w->timeouts, 12);
	CHECK_EQ(w->closed_bad, 4);
	CHECK_EQ(w->failed, 0);
	end_plain(w);
	rw_free(w);
}

/* An object that was given up is incomplete, even if the root has sent all of it. */
static void test_spoiled(void)
{
	const struct rw_habits none = { 0 }, never = { .never = 100 };
	u32 alg;

	for (alg = 0; alg < 2; alg++) {
		struct rw_world *w = plain(3, alg ? SPINDLE_RDMC_CHAIN : SPINDLE_RDMC_SEQUENTIAL,
					   2, 5);
		const struct spindle_rdmc *root;
		u32 i;

		w->quiet_faults = false;
		for (i = 0; i < 3; i++)
			rw_create(w, i, 0, i == 2 ? &never : &none);
		root = &w->inst[0][0]->r;
		while (rw_step(w))
			;
		CHECK(!spindle_rdmc_spoiled(root));
		while (w->done_bad == 0 && CHECK(rw_jump(w)))
			while (rw_step(w))
				;
		CHECK_EQ(root->front, 1);
		CHECK_EQ(root->complete, 2 * alg);
		CHECK(spindle_rdmc_spoiled(root));
		CHECK(!spindle_rdmc_everywhere(root, 0));
		end_plain(w);
		rw_free(w);
	}
}

/*
 * A root cancels an object that is not announced yet. The root keeps all state that other members
 * wait for.
 */
static void test_root_cancels(void)
{
	const struct rw_habits none = { 0 }, never = { .never = 100 };
	struct rw_world *w = plain(3, SPINDLE_RDMC_CHAIN, 60, 1);
	u32 i, o, wave;

	w->quiet_faults = false;
	for (i = 0; i < 3; i++)
		rw_create(w, i, 0, i == 2 ? &never : &none);
	while (rw_step(w))
		;
	for (wave = 0; wave < 3; wave++) {
		for (i = 16; i < 60; i++)
			spindle_rdmc_cancel(&w->inst[0][0]->r, i, false, 1);
		w->inst[0][0]->dirty = true;
		while (rw_step(w) && !w->bad)
			;
	}
	for (o = 0; o < 60; o++) {
		if (w->inst[0][0])
			w->inst[0][0]->dirty = true;
		while (rw_step(w) && !w->bad)
			;
		if (!w->inst[2][0])
			break;
		if (o >= w->inst[2][0]->done && o < w->inst[2][0]->incoming)
			rw_accept(w, 2, 0, o);
	}
	end_plain(w);
	CHECK_EQ(w->done_bad, 3 * 16);
	CHECK_EQ(w->done_ok, 3 * 44);
	CHECK_EQ(w->closed_bad, 3);
	rw_free(w);
}

/*
 * This member knows another one, which leaves without knowing this one. This member must notice the
 * loss.
 */
static void test_farewell(void)
{
	const struct rw_habits none = { 0 };
	struct rw_world *w = plain(2, SPINDLE_RDMC_CHAIN, 1, 1);

	w->quiet_faults = false;
	w->lane[1 * 2 + 0].room = 0;
	rw_create(w, 0, 0, &none);
	rw_create(w, 1, 0, &none);
	while (rw_step(w))
		;
	CHECK_EQ(w->inst[0][0]->r.state, SPINDLE_RDMC_S_OPENING);
	CHECK_EQ(w->inst[1][0]->r.state, SPINDLE_RDMC_S_OPEN);
	spindle_rdmc_fail(&w->inst[0][0]->r, 1, SPINDLE_RDMC_LEFT);
	w->inst[0][0]->dirty = true;
	while (rw_step(w))
		;
	CHECK(!w->inst[0][0]);
	CHECK_EQ(w->inst[1][0]->ended_how, SPINDLE_RDMC_FAILED);
	CHECK_EQ(w->inst[1][0]->ended_error, SPINDLE_RDMC_LEFT);
	CHECK_EQ(w->inst[1][0]->ended_node, 1);
	w->lane[1 * 2 + 0].room = 4;
	w->inst[1][0]->dirty = true;
	end_plain(w);
	rw_free(w);
}

/* A lane that breaks before any message came by it is replaced. A later break is a loss. */
static void test_too_early(void)
{
	const struct rw_habits none = { 0 };
	struct rw_world *w = plain(3, SPINDLE_RDMC_CHAIN, 1, 1);
	struct spindle_rdmc *r;

	w->lane[0 * 3 + 1].room = 0;
	w->lane[0 * 3 + 2].room = 0;
	rw_create(w, 0, 0, &none);
	r = &w->inst[0][0]->r;
	while (rw_step(w))
		;
	CHECK(spindle_rdmc_down(r, 1));
	w->lane[0 * 3 + 1].room = 4;
	w->inst[0][0]->dirty = true;
	while (rw_step(w))
		;
	CHECK_EQ(r->stats.said, 0);
	spindle_rdmc_up(r, 1);
	w->inst[0][0]->dirty = true;
	while (rw_step(w))
		;
	CHECK_EQ(r->stats.said, 1);
	rw_create(w, 1, 0, &none);
	while (rw_step(w))
		;
	CHECK_EQ(r->state, SPINDLE_RDMC_S_OPENING);
	CHECK(spindle_rdmc_down(r, 2));
	spindle_rdmc_up(r, 2);
	w->quiet_faults = false;
	CHECK(!spindle_rdmc_down(r, 1));
	CHECK_EQ(r->state, SPINDLE_RDMC_S_FAILING);
	CHECK(!spindle_rdmc_down(r, 2));
	spindle_rdmc_quiet(r, 1);
	spindle_rdmc_quiet(r, 2);
	w->inst[0][0]->dirty = true;
	while (rw_step(w))
		;
	CHECK(!w->inst[0][0]);
	rw_free(w);
}

/*
 * A member that has sent HELLO learns of the end, even if the lane was not ready at the time of the
 * failure.
 */
static void test_not_ready(void)
{
	const struct rw_habits none = { 0 };
	struct rw_world *w = plain(2, SPINDLE_RDMC_CHAIN, 1, 1);
	struct spindle_rdmc_msg hello = {
		.word = SPINDLE_RDMC_HELLO,
		.w = { 1, 4711 },
	};
	struct spindle_rdmc *r;

	w->quiet_faults = false;
	w->lane[0 * 2 + 1].room = 0;
	rw_create(w, 0, 0, &none);
	r = &w->inst[0][0]->r;
	while (rw_step(w))
		;
	CHECK(spindle_rdmc_down(r, 1));
	w->lane[0 * 2 + 1].room = 4;
	hello.to = r->cfg.id;
	spindle_rdmc_hear(r, 1, &hello);
	w->inst[0][0]->dirty = true;
	while (rw_step(w))
		;
	if (!CHECK(w->inst[0][0]))
		return;
	CHECK_EQ(r->error, SPINDLE_RDMC_MISMATCH);
	CHECK_EQ(r->stats.said, 0);
	spindle_rdmc_up(r, 1);
	w->inst[0][0]->dirty = true;
	while (w->inst[0][0] && r->stats.said < 2 && rw_step(w))
		;
	CHECK(!w->inst[0][0] || r->stats.said == 2);
	while (rw_step(w))
		;
	CHECK(!w->inst[0][0]);
	rw_free(w);
}

/* A member that has closed may go, and the other members close as well. */
static void test_gone(void)
{
	const struct rw_habits none = { 0 };
	u32 i, k, b;

	for (k = 0; k < 60; k++) {
		struct rw_world *w = plain(3, SPINDLE_RDMC_PIPELINE, 1, 2);

		for (i = 0; i < 3; i++)
			rw_create(w, i, 0, &none);
		while (rw_step(w) && !w->bad)
			for (i = 0; i < 3; i++)
				for (b = 0; b < 3 && !w->inst[i][0]; b++)
					rw_break(w, i, b);
		end_plain(w);
		CHECK_EQ(w->closed_ok, 3);
		rw_free(w);
	}
}

/* Time passes in the steps that members ask for, and all possible events happen. */
static void pass_time(struct rw_world *w, u64 time)
{
	u64 end = w->now + time;

	for (;;) {
		u32 i;

		for (i = 0; i < w->n; i++)
			if (w->inst[i][0])
				w->inst[i][0]->dirty = true;
		while (rw_step(w) && !w->bad)
			;
		if (w->now >= end || w->bad)
			return;
		w->now = min(end, w->now + w->timeout / 3);
	}
}

/* A member gets its blocks late. As long as the root sends, the member does not miss the root. */
static void test_slow(void)
{
	const struct rw_habits none = { 0 };
	u32 i, alg;

	for (alg = 0; alg < 5; alg++) {
		struct rw_world *w = plain(5, alg, 1, 200);
		u64 blocks = 0;

		for (i = 0; i < 5; i++)
			rw_create(w, i, 0, &none);
		while (!w->bad && w->inst[0][0] && rw_step(w)) {
			/* Messages arrive between two steps of the clock. */
			if (w->steps % 100 || !w->inst[0][0] ||
			    w->inst[0][0]->r.stats.blocks_out == blocks)
				continue;
			blocks = w->inst[0][0]->r.stats.blocks_out;
			w->now += w->timeout / 5;
			rw_wake(w);
		}
		end_plain(w);
		CHECK_EQ(w->closed_ok, 5);
		rw_free(w);
	}
}

/* Do all receivers have memory for an object that has not ended at any of them? */
static bool all_wait(const struct rw_world *w)
{
	u32 i;

	for (i = 1; i < w->n; i++)
		if (!w->inst[i][0] || w->inst[i][0]->r.ended ||
		    w->inst[i][0]->r.object[0].phase != SPINDLE_RDMC_P_MOVING)
			return false;
	return true;
}

/* The number of receivers that know that the root is missing. */
static u32 missed(const struct rw_world *w)
{
	u32 i, count = w->missed_root;

	for (i = 1; i < w->n; i++) {
		const struct rw_inst *in = w->inst[i][0];

		count += in && !in->ended && in->r.state == SPINDLE_RDMC_S_FAILING &&
			 in->r.error == SPINDLE_RDMC_TIMEOUT && in->r.culprit == 1;
	}
	return count;
}

/* The grants of the silent root are revoked by force. Then the root finds itself alone. */
static void end_silence(struct rw_world *w)
{
	u32 i;

	pass_time(w, 3 * w->timeout);
	for (i = 1; i < w->n; i++)
		CHECK(!w->inst[i][0]);
	w->stuck = RW_NONE;
	end_plain(w);
}

/* The root sends nothing more, but its lanes live. After a while all receivers know that. */
static void test_silent_root(void)
{
	const struct rw_habits none = { 0 };
	u32 i, n, alg;

	for (alg = 0; alg < 5; alg++) {
		for (n = 2; n < 12; n += 3) {
			struct rw_world *w = plain(n, alg, 2, 30);
			u64 begin;

			w->quiet_faults = false;
			for (i = 0; i < n; i++)
				rw_create(w, i, 0, &none);
			while (!all_wait(w) && rw_step(w))
				;
			w->stuck = 0;
			begin = w->now;
			while (rw_step(w))
				;
			pass_time(w, begin + 3 * w->timeout - 100000 - w->now);
			CHECK_EQ(missed(w), 0);
			pass_time(w, w->timeout / 2);
			CHECK_EQ(missed(w), n - 1);
			end_silence(w);
			CHECK_EQ(w->missed_root, n - 1);
			rw_free(w);
		}
	}
}

/* As long as blocks arrive from any member, no receiver misses the root. */
static void test_relayed(void)
{
	const struct rw_habits habits[] = { { .never_closes = 1 }, { 0 }, { .never = 100 } };
	struct rw_world *w = plain(3, SPINDLE_RDMC_CHAIN, 1, 30);
	struct spindle_rdmc *r;
	u32 i, got = 0;

	w->quiet_faults = false;
	for (i = 0; i < 3; i++)
		rw_create(w, i, 0, &habits[i]);
	while (rw_step(w))
		;
	CHECK_EQ(w->inst[1][0]->r.object[0].got, 30);
	w->stuck = 0;
	rw_accept(w, 2, 0, 0);
	r = &w->inst[2][0]->r;
	while (rw_step(w)) {
		if (r->object[0].got == got)
			continue;
		got = r->object[0].got;
		w->now += w->timeout / 2;
		rw_wake(w);
	}
	CHECK_EQ(missed(w), 0);
	CHECK_EQ(r->complete, 1);
	CHECK_EQ(w->inst[1][0]->r.complete, 1);
	/* All objects are complete, and no member waits any more. */
	pass_time(w, 10 * w->timeout);
	CHECK_EQ(missed(w), 0);
	w->stuck = RW_NONE;
	rw_break(w, 0, 1);
	end_plain(w);
	rw_free(w);
}

/*
 * One member delays an object that the others have ended, and the next object, for which they wait.
 * The root tells the others that it is active. They blame the member that the root blames.
 */
static void test_not_the_root(void)
{
	const struct rw_habits none = { 0 }, never = { .never = 100 };
	struct rw_world *w = plain(3, SPINDLE_RDMC_CHAIN, 2, 3);
	struct spindle_rdmc *r;
	u32 i;

	w->quiet_faults = false;
	for (i = 0; i < 3; i++)
		rw_create(w, i, 0, i == 1 ? &never : &none);
	while (rw_step(w))
		;
	w->inst[1][0]->unread = true;
	rw_accept(w, 1, 0, 0);
	r = &w->inst[2][0]->r;
	for (i = 0; i < 40 && !w->bad && r->state == SPINDLE_RDMC_S_OPEN; i++) {
		while (rw_step(w) && r->state == SPINDLE_RDMC_S_OPEN)
			;
		if (r->state == SPINDLE_RDMC_S_OPEN)
			CHECK(rw_jump(w));
	}
	CHECK_EQ(r->state, SPINDLE_RDMC_S_FAILING);
	CHECK_EQ(r->error, SPINDLE_RDMC_TIMEOUT);
	CHECK_EQ(r->culprit, 2);
	CHECK_EQ(r->complete, 1);
	w->inst[1][0]->unread = false;
	end_plain(w);
	rw_free(w);
}

/* A receiver that waits for its own process does not blame the root, however long that takes. */
static void test_own_fault(void)
{
	const struct rw_habits none = { 0 }, never = { .never = 100 };
	struct rw_world *w = plain(2, SPINDLE_RDMC_CHAIN, 2, 30);
	struct spindle_rdmc *r;

	w->quiet_faults = false;
	rw_create(w, 0, 0, &none);
	rw_create(w, 1, 0, &never);
	while (rw_step(w))
		;
	r = &w->inst[1][0]->r;
	w->stuck = 0;
	pass_time(w, 20 * w->timeout);
	/* An object that is queued behind one without memory waits for that one. */
	rw_accept(w, 1, 0, 1);
	pass_time(w, 20 * w->timeout);
	CHECK_EQ(r->state, SPINDLE_RDMC_S_OPEN);
	rw_accept(w, 1, 0, 0);
	pass_time(w, 3 * w->timeout - 100000);
	CHECK_EQ(r->state, SPINDLE_RDMC_S_OPEN);
	pass_time(w, w->timeout / 2);
	CHECK_EQ(missed(w), 1);
	end_silence(w);
	rw_free(w);
}

/* The same for a process that does not read. After that the receiver waits for the next object. */
static void test_unread(void)
{
	const struct rw_habits none = { 0 };
	u32 k;

	for (k = 0; k < 2; k++) {
		struct rw_world *w = plain(2, SPINDLE_RDMC_CHAIN, 2, 30);
		struct spindle_rdmc *r;

		w->quiet_faults = false;
		rw_create(w, 0, 0, &none);
		rw_create(w, 1, 0, &none);
		r = &w->inst[1][0]->r;
		w->inst[1][0]->unread = true;
		while (!(spindle_rdmc_has_all(&r->object[0]) &&
			 r->object[1].phase == SPINDLE_RDMC_P_MOVING) && rw_step(w))
			;
		w->stuck = 0;
		pass_time(w, 20 * w->timeout);
		CHECK_EQ(r->state, SPINDLE_RDMC_S_OPEN);
		CHECK_EQ(r->ended, 0);
		if (!CHECK(r->object[1].got < r->object[1].blocks))
			break;
		/* In one case the member looks shortly before, in the other it does not. */
		w->now += k ? w->timeout - 1000 : 0;
		w->inst[1][0]->unread = false;
		w->inst[1][0]->dirty = true;
		while (rw_step(w))
			;
		CHECK_EQ(r->ended, 1);
		pass_time(w, 3 * w->timeout - 100000);
		CHECK_EQ(r->state, SPINDLE_RDMC_S_OPEN);
		pass_time(w, w->timeout / 2);
		CHECK_EQ(missed(w), 1);
		end_silence(w);
		rw_free(w);
	}
}

/* A member that did not run has read nothing, and cannot know what the others did. */
static void test_slept(void)
{
	const struct rw_habits none = { 0 };
	struct rw_world *w = plain(3, SPINDLE_RDMC_CHAIN, 1, 30);
	u64 begin;
	u32 i;

	w->quiet_faults = false;
	for (i = 0; i < 3; i++)
		rw_create(w, i, 0, &none);
	while (!all_wait(w) && rw_step(w))
		;
	w->stuck = 0;
	pass_time(w, 2 * w->timeout);
	w->now += 10 * w->timeout;
	rw_wake(w);
	while (rw_step(w))
		;
	CHECK_EQ(missed(w), 0);
	/* If the member runs each time that it asked to, it did not sleep. */
	begin = w->now;
	for (i = 0; i < 20 && !missed(w) && rw_jump(w); i++)
		while (rw_step(w))
			;
	CHECK_EQ(missed(w), 2);
	CHECK(w->now - begin >= 3 * w->timeout - 100000);
	CHECK(w->now - begin <= 3 * w->timeout + 100000);
	end_silence(w);
	rw_free(w);
}

/* The root itself may be the liar: the group ends, and the lane stays. */
#define SPARED BIT(8)

/* The effect of one message on a member of a group whose objects wait for memory. */
static const struct rule {
	u32 to, from;
	u32 first;		/* a valid message before it */
	struct spindle_rdmc_msg msg;
	u32 error;		/* with which the group fails; 0: it does not fail */
	u32 times;
} rules[] = {
	{ 0, 1, 0, { .word = SPINDLE_RDMC_GRANT, .w = { 0, 0, 0, 77 } }, 0, 4 },
	{ 0, 1, 0, { .word = SPINDLE_RDMC_GRANT, .w = { 0, 0, 0, 77 } },
	  SPINDLE_RDMC_PROTOCOL, 5 },
	{ 0, 1, 0, { .word = SPINDLE_RDMC_GRANT, .w = { 0, 0, 0, 76 } },
	  SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 2, 0, { .word = SPINDLE_RDMC_GRANT, .w = { 0, 0, 0, 77 } }, 0, 1 },
	{ 1, 2, 0, { .word = SPINDLE_RDMC_GRANT, .w = { 0, 0, 0, 76 } },
	  SPINDLE_RDMC_PROTOCOL, 1 | SPARED },
	{ 0, 1, 0, { .word = SPINDLE_RDMC_GRANT, .w = { 2 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 2, 0, { .word = SPINDLE_RDMC_GRANT, .w = { 15 } }, 0, 1 },
	{ 1, 0, 0, { .word = SPINDLE_RDMC_GRANT, .w = { 16 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 2, 0, { .word = SPINDLE_RDMC_GRANT, .w = { 16 } }, SPINDLE_RDMC_PROTOCOL, 1 | SPARED },
	{ 0, 1, 0, { .word = SPINDLE_RDMC_PROGRESS, .w = { 2, 2 } }, 0, 1 },
	{ 0, 1, 0, { .word = SPINDLE_RDMC_PROGRESS, .w = { 3, 2 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 0, 1, 0, { .word = SPINDLE_RDMC_PROGRESS, .w = { 1, 2 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 0, 1, 0, { .word = SPINDLE_RDMC_PROGRESS, .w = { 0, 0, 6 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 2, 1, 0, { .word = SPINDLE_RDMC_PROGRESS, .w = { 0, 0, 1 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 0, 0, { .word = SPINDLE_RDMC_PROGRESS, .w = { 0, 0 } }, 0, 2 },
	{ 1, 0, 0, { .word = SPINDLE_RDMC_PROGRESS, .w = { 2, 2 } }, 0, 2 },
	{ 1, 0, 0, { .word = SPINDLE_RDMC_PROGRESS, .w = { 3, 2 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 0, 0, { .word = SPINDLE_RDMC_PROGRESS, .w = { 1, 2 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 0, 0, { .word = SPINDLE_RDMC_PROGRESS, .w = { 0, 0, 1 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 0, 1, { .word = SPINDLE_RDMC_PROGRESS, .w = { 0, 0 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 0, 1, { .word = SPINDLE_RDMC_PROGRESS, .w = { 0, 1 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 0, 1, { .word = SPINDLE_RDMC_PROGRESS, .w = { 1, 0 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 2, 1, 0, { .word = SPINDLE_RDMC_PROGRESS, .w = { 0, 0 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 0, 1, 1, { .word = SPINDLE_RDMC_STOP, .w = { 0, 1 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 0, 1, 0, { .word = SPINDLE_RDMC_STOP, .w = { 0, 1 } }, 0, 1 },
	{ 0, 1, 0, { .word = SPINDLE_RDMC_STOP, .w = { 2, 1 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 0, 1, 0, { .word = SPINDLE_RDMC_CLOSE, .w = { 2, 2 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 0, 0, { .word = SPINDLE_RDMC_ANNOUNCE, .w = { 2, 9 } }, 0, 1 },
	{ 1, 0, 0, { .word = SPINDLE_RDMC_ANNOUNCE, .w = { 3, 9 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 0, 0, { .word = SPINDLE_RDMC_ANNOUNCE, .w = { 2, 0 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 2, 0, { .word = SPINDLE_RDMC_ANNOUNCE, .w = { 2, 9 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 0, 0, { .word = SPINDLE_RDMC_ABORT, .arg = 2, .w = { 0, 1 } }, 0, 1 },
	{ 1, 0, 0, { .word = SPINDLE_RDMC_ABORT, .arg = 3, .w = { 0, 1 } },
	  SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 2, 0, { .word = SPINDLE_RDMC_ABORT, .w = { 0, 1 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 2, 0, { .word = SPINDLE_RDMC_RETURN, .w = { 1 } }, 0, 1 },
	{ 1, 2, 0, { .word = SPINDLE_RDMC_RETURN, .w = { 2 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 2, 0, { .word = SPINDLE_RDMC_FAIL, .w = { SPINDLE_RDMC_VIEW } },
	  SPINDLE_RDMC_VIEW, 1 },
	{ 1, 2, 0, { .word = SPINDLE_RDMC_FAIL, .arg = 3, .w = { SPINDLE_RDMC_VIEW } },
	  SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 0, 0, { .word = SPINDLE_RDMC_CLOSE, .w = { 1, 1 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 2, 0, { .word = SPINDLE_RDMC_HELLO, .w = { 0, 5, 6 } }, 0, 1 },
	{ 1, 2, 0, { .word = SPINDLE_RDMC_HELLO, .w = { 0, 5, 0 } }, SPINDLE_RDMC_LEFT, 1 },
	{ 1, 2, 0, { .word = SPINDLE_RDMC_HELLO, .w = { 0, 0, 0 } }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 2, 0, { .word = 0 }, SPINDLE_RDMC_PROTOCOL, 1 },
	{ 1, 2, 0, { .word = 10 }, SPINDLE_RDMC_PROTOCOL, 1 },
};

static void test_rules(void)
{
	const struct rw_habits never = { .never = 100 };
	u32 i, k;

	for (i = 0; i < ARRAY_SIZE(rules); i++) {
		bool spared = rules[i].times & SPARED;
		struct spindle_rdmc_msg ended = { .word = SPINDLE_RDMC_PROGRESS, .w = { 1, 1 } };
		struct spindle_rdmc_msg msg = rules[i].msg;
		struct rw_world *w = plain(3, SPINDLE_RDMC_CHAIN, 2, 5);
		struct spindle_rdmc *r;

		w->quiet_faults = false;
		w->liar = rules[i].from;
		for (k = 0; k < 3; k++)
			rw_create(w, k, 0, &never);
		while (rw_step(w))
			;
		r = &w->inst[rules[i].to][0]->r;
		msg.to = msg.word == SPINDLE_RDMC_HELLO ? r->cfg.id : r->cfg.life;
		ended.to = msg.to;
		if (rules[i].first)
			spindle_rdmc_hear(r, rules[i].from, &ended);
		for (k = 0; k < (rules[i].times & ~SPARED); k++)
			spindle_rdmc_hear(r, rules[i].from, &msg);
		if (!CHECK_EQ(r->error, rules[i].error))
			tap_fail("rule %u", i);
		CHECK_EQ(r->m[rules[i].from].cut,
			 rules[i].error == SPINDLE_RDMC_PROTOCOL && !spared);
		if (spared)
			CHECK_EQ(r->culprit, 1);
		if (w->bad)
			tap_fail("rule %u: %s", i, w->why);
		rw_free(w);
	}
}

/* A member of a chain of four, in a world with a liar. */
static struct spindle_rdmc *chain(struct rw_world **w, u32 liar, u32 me, u32 blocks,
				  const struct rw_habits *habits)
{
	u32 i;

	*w = plain(4, SPINDLE_RDMC_CHAIN, 2, blocks);
	(*w)->quiet_faults = false;
	(*w)->liar = liar;
	for (i = 0; i < 4; i++)
		rw_create(*w, i, 0, habits);
	while (rw_step(*w))
		;
	return &(*w)->inst[me][0]->r;
}

/*
 * A member grants a block before the announcement, and the root has announced another length to it.
 */
static void test_two_lengths(void)
{
	const struct rw_habits never = { .never = 100 };
	u64 len;

	for (len = 8; len < 11; len++) {
		struct spindle_rdmc_msg grant = { .word = SPINDLE_RDMC_GRANT,
						  .w = { 2, 0, 0, len } };
		struct spindle_rdmc_msg next = { .word = SPINDLE_RDMC_ANNOUNCE, .w = { 2, 9 } };
		struct rw_world *w;
		struct spindle_rdmc *r = chain(&w, 0, 1, 5, &never);

		grant.to = r->cfg.life;
		next.to = r->cfg.life;
		spindle_rdmc_hear(r, 2, &grant);
		CHECK_EQ(r->error, 0);
		spindle_rdmc_hear(r, 0, &next);
		CHECK_EQ(r->error, len == 9 ? 0 : SPINDLE_RDMC_PROTOCOL);
		CHECK_EQ(r->culprit, len == 9 ? 0 : 1);
		CHECK(!r->m[2].cut);
		rw_free(w);
	}
}

/*
 * The root tells one member that it has given up an object, and does not tell the sender of the
 * blocks.
 */
static void test_half_aborted(void)
{
	const struct rw_habits none = { 0 }, never = { .never = 100 };
	struct spindle_rdmc_msg abort = { .word = SPINDLE_RDMC_ABORT,
					  .w = { 0, SPINDLE_RDMC_CANCELLED } };
	struct rw_world *w = plain(4, SPINDLE_RDMC_CHAIN, 1, 5);
	struct spindle_rdmc *r;
	u32 i;

	w->quiet_faults = false;
	w->liar = 0;
	for (i = 0; i < 4; i++)
		rw_create(w, i, 0, i == 1 ? &never : &none);
	while (rw_step(w))
		;
	r = &w->inst[2][0]->r;
	CHECK_EQ(r->granted, SPINDLE_RDMC_GRANTS);
	w->stuck = 0;
	abort.to = r->cfg.life;
	spindle_rdmc_hear(r, 0, &abort);
	for (i = 0; i < 8; i++)
		pass_time(w, w->timeout);
	CHECK(!w->lane[2 * 4 + 1].broken);
	CHECK(!w->lane[2 * 4 + 3].broken);
	for (i = 1; i < 4; i++)
		CHECK(!w->inst[i][0]);
	if (w->bad)
		tap_fail("%s", w->why);
	rw_free(w);
}

/* The root tells one member that there was one object, and another member that there were two. */
static void test_two_totals(void)
{
	const struct rw_habits lazy = { .never_closes = 1 };
	struct rw_world *w;
	struct spindle_rdmc *r = chain(&w, 0, 1, 5, &lazy);
	struct spindle_rdmc_msg close = { .word = SPINDLE_RDMC_CLOSE, .w = { 2, 2 } };
	u32 m;

	/* The root stays silent. It would disagree with a member that says CLOSE now. */
	w->stuck = 0;
	close.to = r->cfg.life;
	spindle_rdmc_close(r);
	w->inst[1][0]->told_close = true;
	spindle_rdmc_hear(r, 0, &close);
	close.w[0] = 1;
	close.w[1] = 1;
	for (m = 2; m < 4; m++)
		spindle_rdmc_hear(r, m, &close);
	w->inst[1][0]->dirty = true;
	while (r->state < SPINDLE_RDMC_S_CLOSED && rw_step(w))
		;
	CHECK_EQ(r->error, SPINDLE_RDMC_PROTOCOL);
	CHECK_EQ(r->culprit, 1);
	CHECK(!r->m[2].cut);
	CHECK(!r->m[3].cut);
	rw_free(w);
}

/* Each member reports its own racks. A member with other racks may follow another schedule. */
static void test_racks(void)
{
	const struct rw_habits none = { 0 }, never = { .never = 100 };
	u32 alg;

	for (alg = SPINDLE_RDMC_CHAIN; alg <= SPINDLE_RDMC_HYBRID;
	     alg += SPINDLE_RDMC_HYBRID - SPINDLE_RDMC_CHAIN) {
		struct spindle_rdmc_msg grant = { .word = SPINDLE_RDMC_GRANT, .arg = 4,
						  .w = { 0, 0, 0, 77 } };
		struct rw_world *w = plain(3, alg, 1, 5);
		struct spindle_rdmc *r;
		u32 i, to;

		w->quiet_faults = false;
		w->liar = 1;
		for (i = 0; i < 3; i++) {
			w->group[0].rack[i] = 0;
			rw_create(w, i, 0, i ? &never : &none);
		}
		while (rw_step(w))
			;
		r = &w->inst[0][0]->r;
		to = r->send.hop.peer;
		grant.to = r->cfg.life;
		spindle_rdmc_hear(r, to, &grant);
		spindle_rdmc_pass(r, w->now);
		CHECK_EQ(r->error, SPINDLE_RDMC_PROTOCOL);
		CHECK_EQ(r->m[to].cut, alg != SPINDLE_RDMC_HYBRID);
		rw_free(w);
	}
}

/*
 * However old a group is, a member that has to learn of its failure has the whole timeout for that.
 */
static void test_old_group(void)
{
	const struct rw_habits never = { .never = 100 };
	struct spindle_rdmc_msg grant = { .word = SPINDLE_RDMC_GRANT, .arg = 4,
					  .w = { 0, 0, 0, 77 } };
	struct rw_world *w;
	struct spindle_rdmc *r = chain(&w, 1, 0, 5, &never);
	u64 since = r->since;

	/* The age is not enough for the group to give up an object. */
	w->now = since + w->timeout + 1;
	spindle_rdmc_moved(r, 0);
	r->front_ns = w->now;
	spindle_rdmc_pass(r, w->now);
	CHECK_EQ(r->error, 0);
	CHECK_EQ(r->since, since);
	grant.to = r->cfg.life;
	spindle_rdmc_hear(r, 1, &grant);
	spindle_rdmc_pass(r, w->now);
	CHECK_EQ(r->error, SPINDLE_RDMC_PROTOCOL);
	CHECK(r->m[1].cut);
	CHECK(!r->m[2].cut);
	CHECK(!r->m[3].cut);
	rw_free(w);
}

/* A root that does not answer a member that gives up an object counts as missing. */
static void test_unanswered(void)
{
	const struct rw_habits never = { .never = 100 };
	struct rw_world *w;
	struct spindle_rdmc *r = chain(&w, RW_NONE, 1, 5, &never);

	w->stuck = 0;
	CHECK_EQ(spindle_rdmc_cancel(r, 0, true, 5), 0);
	pass_time(w, w->timeout - 100000);
	CHECK_EQ(missed(w), 0);
	pass_time(w, w->timeout / 2);
	CHECK_EQ(missed(w), 3);
	rw_free(w);
}

/*
 * No member is blamed while a process releases the memory of a large object, however long that
 * takes.
 */
static void test_slow_release(void)
{
	const struct rw_habits none = { 0 };
	struct rw_world *w = plain(2, SPINDLE_RDMC_CHAIN, 2, 5);
	u32 i;

	w->releases = 30;
	for (i = 0; i < 2; i++)
		rw_create(w, i, 0, &none);
	end_plain(w);
	CHECK_EQ(w->closed_ok, 2);
	rw_free(w);
}

/* Has this member noticed itself which member is missing, or has another member reported that? */
static void test_hearsay(void)
{
	const struct rw_habits none = { 0 };
	struct spindle_rdmc_msg fail = { .word = SPINDLE_RDMC_FAIL, .arg = 3,
					 .w = { SPINDLE_RDMC_TIMEOUT } };
	struct rw_world *w = plain(4, SPINDLE_RDMC_CHAIN, 1, 30);
	struct spindle_rdmc *r;
	u32 i;

	w->quiet_faults = false;
	w->liar = 2;
	for (i = 0; i < 4; i++)
		rw_create(w, i, 0, &none);
	while (!all_wait(w) && rw_step(w))
		;
	r = &w->inst[1][0]->r;
	fail.to = r->cfg.life;
	spindle_rdmc_hear(r, 2, &fail);
	CHECK_EQ(r->error, SPINDLE_RDMC_TIMEOUT);
	CHECK_EQ(r->culprit, 4);
	rw_free(w);

	w = plain(2, SPINDLE_RDMC_CHAIN, 1, 30);
	w->quiet_faults = false;
	for (i = 0; i < 2; i++)
		rw_create(w, i, 0, &none);
	while (!all_wait(w) && rw_step(w))
		;
	r = &w->inst[1][0]->r;
	w->stuck = 0;
	while (r->state == SPINDLE_RDMC_S_OPEN)
		pass_time(w, w->timeout / 2);
	CHECK_EQ(r->culprit, 1);
	rw_free(w);
}

static const struct tap_case cases[] = {
	{ "objects arrive one after the other", test_rules },
	{ "the root cancels an object in advance", test_root_cancels },
	{ "a member says farewell", test_farewell },
	{ "a lane that breaks before any message is replaced", test_too_early },
	{ "a member that has sent HELLO learns of the end", test_not_ready },
	{ "a member that has closed may go", test_gone },
	{ "every block is sent once, with few messages", test_counts },
	{ "no member times out while another one makes progress", test_patience },
	{ "the root abandons an object that one member never takes", test_impatience },
	{ "an abandoned object is incomplete, even if all of it was sent", test_spoiled },
	{ "a slow transfer that makes progress goes on", test_slow },
	{ "a silent root is missed", test_silent_root },
	{ "a receiver does not miss the root while blocks arrive", test_relayed },
	{ "receivers blame the member that the root blames", test_not_the_root },
	{ "a receiver without memory does not blame the root", test_own_fault },
	{ "a receiver whose process does not read does not blame the root", test_unread },
	{ "a member that did not run misses no other member", test_slept },
	{ "the root announces two lengths of an object", test_two_lengths },
	{ "the root abandons an object and does not tell its source", test_half_aborted },
	{ "the root announces two totals of objects", test_two_totals },
	{ "members report different racks", test_racks },
	{ "the failure of an old group has the whole timeout to reach members", test_old_group },
	{ "a root that does not answer is missed", test_unanswered },
	{ "no member is blamed while a process releases memory slowly", test_slow_release },
	{ "a member knows whether it noticed a loss itself", test_hearsay },
	{ "random groups without faults", test_no_faults },
	{ "random groups whose processes cancel and refuse", test_objects },
	{ "random groups whose members and lanes fail", test_members },
	{ "random groups with a member that lies", test_liars },
};

int main(void)
{
	rng = rng_seed();
	return tap_run(cases, ARRAY_SIZE(cases));
}
