// SPDX-License-Identifier: GPL-2.0-only
/*
 * The streams of a subgroup at each of its members, with lanes that come up late. The case decides
 * what the view is, and when it ends.
 */
#include "core/group/stream.h"
#include "rng.h"
#include "tap.h"

#define N 3		/* members of the subgroup */
#define SENDERS 2
#define VID 9
#define BLOCK 16
#define MAX_MSG 200
#define RING 1024
#define QUEUE 256
#define UNIT 5		/* where a message begins */

struct node;

struct right {
	bool open;
	u8 *mem;
	u32 block;
	u32 len;
};

struct item {
	bool write;
	u32 s;
	u64 object;
	u32 number;
	u32 len;
	struct spindle_rdmc_msg msg;
	u8 data[BLOCK];
};

/* The node and the index of a stream. */
struct of {
	struct node *node;
	u32 s;
};

/**
 * struct node - a member of the subgroup
 * @right: by stream, member and number: the right of a member to write a block here
 * @in: by member: messages on their way
 * @unready: ranks in the view whose lane is not up yet
 * @lost: ranks in the view whose lane never comes up
 * @apart: ranks in the view that are not connected
 * @parted: ranks in the view that have closed the lane
 * @cut: by stream: ranks in it that have to go
 * @how: why the last of these has to go
 * @misses: how often the streams reported that
 * @greedy: a bit for each stream to which the member gives no memory
 * @dead: the member does nothing, and reads nothing
 * @placed: messages that all members had
 */
struct node {
	struct spindle_mc mc;
	struct spindle_mg mg;
	struct spindle_streams ss;
	struct spindle_stream stream[SENDERS];
	struct of of[SENDERS];
	u8 ring[SENDERS][RING];
	unsigned long have[SENDERS];
	struct right right[SENDERS][N][SPINDLE_RDMC_GRANTS];
	struct item in[N][QUEUE];
	u32 head[N], tail[N];
	u64 unready, lost, apart, parted;
	u64 cut[SENDERS];
	enum spindle_mb_reason how;
	u32 misses;
	u32 wants, released, placed;
	u32 greedy;
	bool dead;
};

static struct spindle_view view;
static struct spindle_mb mb;
static struct node world[N];
static struct rng rng;
static u64 now = 1;

/* ---- lanes ------------------------------------------------------------------- */

static struct of *of(struct spindle_rdmc *r)
{
	return r->ctx;
}

static u32 index_of(const struct node *n)
{
	return n - world;
}

static u32 view_rank(const struct spindle_rdmc *r, u32 m)
{
	return r->cfg.member[m] - 11;
}

/* Convert a rank of a stream into a member, and back. */
static u32 node_at(const struct spindle_rdmc *r, u32 m)
{
	return spindle_mask_rank(view.subgroup[1].members, view_rank(r, m));
}

static u32 rank_of(const struct spindle_rdmc *r, u32 node)
{
	u32 m;

	for (m = 0; m < r->cfg.n && node_at(r, m) != node; m++)
		;
	return m;
}

static bool op_room(struct spindle_rdmc *r, u32 m)
{
	const struct node *to = &world[node_at(r, m)];
	u32 me = index_of(of(r)->node);

	return to->tail[me] - to->head[me] < 20;
}

static struct item *post(struct spindle_rdmc *r, u32 m)
{
	struct node *to = &world[node_at(r, m)];
	u32 me = index_of(of(r)->node);

	return &to->in[me][to->tail[me]++ % QUEUE];
}

static void op_say(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg)
{
	*post(r, m) = (struct item){ .s = of(r)->s, .msg = *msg };
}

static void op_grant(struct spindle_rdmc *r, u32 m, u32 g, void *mem, u32 block, u32 len,
		     struct spindle_rdmc_msg *msg)
{
	of(r)->node->right[of(r)->s][node_at(r, m)][g] = (struct right){
		.open = true, .mem = mem, .block = block, .len = len,
	};
	msg->w[2] = (u64)g << 32;
	op_say(r, m, msg);
}

static void op_revoke(struct spindle_rdmc *r, u32 m, u32 g)
{
	of(r)->node->right[of(r)->s][node_at(r, m)][g].open = false;
}

static void op_write(struct spindle_rdmc *r, u32 m, u64 object, void *mem, u32 block, u32 len,
		     const struct spindle_rdmc_grant *grant)
{
	struct item *it = post(r, m);

	*it = (struct item){ .write = true, .s = of(r)->s, .object = object, .len = len,
			     .number = grant->number };
	memcpy(it->data, (u8 *)mem + block * BLOCK, len);
}

static bool op_parted(struct spindle_rdmc *r, u32 m)
{
	return of(r)->node->parted & BIT_ULL(view_rank(r, m));
}

static void op_miss(struct spindle_rdmc *r, u32 m, enum spindle_mb_reason how)
{
	struct node *n = of(r)->node;

	n->cut[of(r)->s] |= BIT_ULL(m);
	n->how = how;
	n->misses++;
}

static bool op_release(struct spindle_rdmc *r, void *mem)
{
	of(r)->node->released++;
	return true;
}

static bool op_ready(struct spindle_rdmc *r, u32 m)
{
	return !(of(r)->node->unready & BIT_ULL(view_rank(r, m)));
}

static bool op_lost(struct spindle_rdmc *r, u32 m)
{
	return of(r)->node->lost & BIT_ULL(view_rank(r, m));
}

static void op_want(struct spindle_streams *ss, u32 s)
{
	of(&ss->stream[s].r)->node->wants++;
}

static const struct spindle_streams_ops ops = {
	.rdmc = {
		.room = op_room, .say = op_say, .grant = op_grant, .revoke = op_revoke,
		.write = op_write, .cut = spindle_stream_cut, .release = op_release,
	},
	.ready = op_ready,
	.lost = op_lost,
	.parted = op_parted,
	.miss = op_miss,
	.want = op_want,
};

/* A connected member has begun as well, as membership would know. */
static bool op_joined(void *ctx, u32 rank)
{
	const struct node *n = ctx;
	u32 other = spindle_mask_rank(view.subgroup[1].members, rank);

	return !(n->apart & BIT_ULL(rank)) && world[other].ss.vid >= n->ss.vid;
}

static const struct spindle_mg_ops mg_ops = { .joined = op_joined };

/* ---- a world ------------------------------------------------------------------- */

/* Of the view's four members, 0, 1 and 3 are in subgroup 1. Members 1 and 3 send. */
static void set_view(void)
{
	u32 i;

	memset(&view, 0, sizeof(view));
	view.vid = VID;
	view.num_members = 4;
	view.num_subgroups = 2;
	for (i = 0; i < 4; i++)
		view.member[i].id = 11 + i;
	view.subgroup[0] = (struct spindle_view_subgroup){ .members = 0xf, .senders = 0xf };
	view.subgroup[1] = (struct spindle_view_subgroup){ .members = 0xb, .senders = 0xa };
}

/* Make the subgroup for a view. */
static void make(u32 i)
{
	struct node *n = &world[i];
	u32 s;

	n->mc.id = 7;
	n->mc.members = N;
	n->mc.senders = SENDERS;
	n->mc.me = i;
	n->mc.my_sender = i ? i - 1 : SPINDLE_NO_RANK;
	n->mc.max_msg = MAX_MSG;
	n->mc.formed = true;
	n->mg = (struct spindle_mg){ .ops = &mg_ops, .ctx = n, .view = &view };
	n->ss = (struct spindle_streams){
		.ops = &ops, .mg = &n->mg, .mc = &n->mc, .stream = n->stream,
	};
	memset(n->stream, 0, sizeof(n->stream));
	for (s = 0; s < SENDERS; s++) {
		n->of[s] = (struct of){ .node = n, .s = s };
		n->stream[s].r.ctx = &n->of[s];
	}
	spindle_streams_init(&n->ss, &view, 1, BLOCK);
}

static void make_all(u64 seed)
{
	u32 i;

	memset(world, 0, sizeof(world));
	memset(&mb, 0, sizeof(mb));
	rng.state = seed;
	set_view();
	for (i = 0; i < N; i++)
		make(i);
}

static void begin_all(u64 seed)
{
	u32 i;

	make_all(seed);
	for (i = 0; i < N; i++)
		spindle_streams_begin(&world[i].ss, VID, false);
}

static void deliver(struct node *to, u32 from)
{
	struct item it = to->in[from][to->head[from]++ % QUEUE];
	struct spindle_rdmc *r = &to->stream[it.s].r;
	struct right *right = &to->right[it.s][from][it.number % SPINDLE_RDMC_GRANTS];

	if (!it.write) {
		spindle_rdmc_hear(r, rank_of(r, from), &it.msg);
		return;
	}
	/* The device of the receiver, and then that of the sender. */
	if (!CHECK(right->open && right->len == it.len))
		return;
	memcpy(right->mem + right->block * BLOCK, it.data, it.len);
	spindle_rdmc_arrived(r, rank_of(r, from), it.number);
	spindle_rdmc_written(&world[from].stream[it.s].r, it.object);
}

static void revoked(struct node *n)
{
	u32 s, i, g;

	for (s = 0; s < SENDERS; s++)
		for (i = 0; i < N; i++)
			for (g = 0; g < SPINDLE_RDMC_GRANTS && i != index_of(n); g++)
				if (!n->right[s][i][g].open)
					spindle_rdmc_revoked(&n->stream[s].r,
							     rank_of(&n->stream[s].r, i), g);
}

static u8 *place(struct node *n, u32 s, u64 unit)
{
	return n->ring[s] + (unit << SPINDLE_UNIT_SHIFT) % RING;
}

static void give(struct node *n)
{
	u32 s;

	for (s = 0; s < SENDERS; s++) {
		struct spindle_stream *st = &n->stream[s];

		if (!st->wanted || n->greedy & BIT(s))
			continue;
		CHECK(st->len && st->len <= MAX_MSG);
		n->have[s] = 0;
		CHECK(spindle_streams_give(&n->ss, s, st->turn, place(n, s, st->unit),
					   s == n->mc.my_sender ? NULL : &n->have[s]));
	}
}

/* A message that is placed must be at all members. */
static void check_placed(struct node *n)
{
	u32 s = n->mc.my_sender, i;
	u64 unit = n->mc.send.held_slot.unit;

	n->placed++;
	for (i = 0; i < N; i++)
		CHECK(world[i].dead || !memcmp(place(&world[i], s, unit), place(n, s, unit),
					       n->mc.send.held_slot.len));
}

static bool pass(struct node *n)
{
	bool placed = n->mc.send.held == SPINDLE_HELD_PLACED, work;

	revoked(n);
	give(n);
	work = spindle_streams_pass(&n->ss, now++);
	if (!placed && n->mc.send.held == SPINDLE_HELD_PLACED)
		check_placed(n);
	return work;
}

/* Make @steps random events happen. */
static void run(u32 steps)
{
	while (steps--) {
		struct node *n = &world[rng_below(&rng, N)];
		u32 from = rng_below(&rng, N);

		if (n->dead)
			continue;
		if (n->head[from] != n->tail[from] && rng_chance(&rng, 60))
			deliver(n, from);
		else
			pass(n);
	}
}

/* The process of a sender commits a large message. */
static void commit(struct node *n, u32 len, u64 unit)
{
	u8 *at = place(n, n->mc.my_sender, unit);
	u32 i;

	for (i = 0; i < len; i++)
		at[i] = rng_u64(&rng);
	n->mc.send.held_slot.len = len;
	n->mc.send.held_slot.unit = unit;
	CHECK(spindle_mc_hold(&n->mc, SPINDLE_HELD_WAITING));
}

static void stop_all(void)
{
	u32 i;

	for (i = 0; i < N; i++)
		if (!world[i].dead)
			spindle_streams_stop(&world[i].ss);
}

static u64 cuts(void)
{
	u64 all = 0;
	u32 i, s;

	for (i = 0; i < N; i++)
		for (s = 0; s < SENDERS; s++)
			all |= world[i].cut[s];
	return all;
}

/* A rank of a stream sends a message to a member. */
static void hear(struct node *n, u32 s, u32 m, struct spindle_rdmc_msg msg)
{
	msg.to = n->stream[s].cfg.life;
	spindle_rdmc_hear(&n->stream[s].r, m, &msg);
}

static void announce(struct node *n, u32 s, u64 object, u64 len, u64 unit)
{
	struct spindle_rdmc_msg msg = { .word = SPINDLE_RDMC_ANNOUNCE, .w = { object, len, unit } };

	hear(n, s, 0, msg);
}

/* Run passes until there is nothing to do, at most 100. */
static void settle(struct node *n)
{
	u32 i;

	for (i = 0; i < 100 && pass(n); i++)
		;
	CHECK(i < 100);
}

/* ---- cases --------------------------------------------------------------------- */

/* The sender comes first, and the others follow in the order of the view. */
static void test_members(void)
{
	static const u32 ids[SENDERS][N] = { { 12, 11, 14 }, { 14, 11, 12 } };
	static const u32 me[SENDERS][N] = { { 1, 0, 2 }, { 1, 2, 0 } };
	u32 i, s, m;

	make_all(1);
	for (i = 0; i < N; i++) {
		for (s = 0; s < SENDERS; s++) {
			const struct spindle_rdmc_config *cfg = &world[i].stream[s].cfg;

			CHECK(cfg->stream);
			CHECK_EQ(cfg->n, N);
			CHECK_EQ(cfg->me, me[s][i]);
			CHECK_EQ(cfg->block, BLOCK);
			for (m = 0; m < N; m++)
				CHECK_EQ(cfg->member[m], ids[s][m]);
		}
	}
}

/* Each stream of each subgroup has its own life in each view, the same at all members. */
static void test_life(void)
{
	u64 life[8];
	u32 i, j;

	make_all(1);
	for (i = 0; i < 8; i++) {
		struct node *n = &world[i & 1];

		n->mc.id = 7 + (i >> 1 & 1);
		spindle_streams_begin(&n->ss, VID + (i >> 2), false);
		life[i] = n->stream[0].r.cfg.life;
		CHECK(life[i]);
		CHECK(life[i] != n->stream[1].r.cfg.life);
		CHECK_EQ(n->stream[0].r.state, SPINDLE_RDMC_S_OPEN);
		for (j = 0; j < i; j++)
			CHECK((life[i] == life[j]) == (i >> 1 == j >> 1));
	}
}

static void test_moves(void)
{
	u32 seed, i, len;

	for (seed = 1; seed < 60; seed++) {
		begin_all(seed);
		for (i = 0; i < 4; i++) {
			len = i ? 1 + rng_below(&rng, MAX_MSG) : MAX_MSG;
			commit(&world[1], len, 4 * i);
			if (i & 1)
				commit(&world[2], len, 4 * i + UNIT);
			run(2500);
			CHECK_EQ(world[1].placed, i + 1);
			CHECK_EQ(world[2].placed, (i + 1) / 2);
			CHECK(spindle_mc_hold(&world[1].mc, SPINDLE_HELD_NONE));
			if (i & 1)
				spindle_mc_hold(&world[2].mc, SPINDLE_HELD_NONE);
		}
		/* All memory is given back: by the sender, and by each of the others. */
		for (i = 0; i < N; i++)
			CHECK_EQ(world[i].released, 6);
		CHECK_EQ(cuts(), 0);
	}
}

/*
 * A view ends at any moment, at one member after the other, and the next one begins in the same
 * way.
 */
static void test_change(void)
{
	u32 seed, i;

	for (seed = 1; seed < 200; seed++) {
		begin_all(seed);
		commit(&world[1], MAX_MSG, 0);
		commit(&world[2], MAX_MSG - 1, 0);
		run(rng_below(&rng, 300));
		for (i = 0; i < N; i++) {
			spindle_streams_stop(&world[(i + seed) % N].ss);
			run(rng_below(&rng, 100));
		}
		run(1000);
		for (i = 0; i < N; i++) {
			CHECK(spindle_streams_quiet(&world[i].ss));
			CHECK(!world[i].stream[0].r.granted && !world[i].stream[1].r.granted);
			CHECK(world[i].mc.send.held != SPINDLE_HELD_MOVING);
		}
		for (i = 0; i < N; i++) {
			spindle_streams_begin(&world[(i + seed) % N].ss, VID + 1, true);
			run(rng_below(&rng, 200));
		}
		run(3000);
		CHECK_EQ(world[1].placed, 1);
		CHECK_EQ(world[2].placed, 1);
		CHECK_EQ(cuts(), 0);
	}
}

/* The immediate effects of a stop, and the later ones. */
static void test_stop(void)
{
	struct node *n = &world[1];
	const struct spindle_rdmc_msg end = { .word = SPINDLE_RDMC_END };
	struct right *open = &n->right[1][2][0];

	/* Nothing has begun. */
	make_all(1);
	CHECK(spindle_streams_quiet(&n->ss));
	spindle_streams_stop(&n->ss);
	CHECK_EQ(n->stream[0].r.state, SPINDLE_RDMC_S_OPENING);
	CHECK(!spindle_streams_pass(&n->ss, now++));
	CHECK(spindle_streams_quiet(&n->ss));

	begin_all(1);
	CHECK(!spindle_streams_quiet(&n->ss));
	commit(n, 100, 0);
	announce(n, 1, 0, 50, UNIT);
	settle(n);
	CHECK_EQ(n->mc.send.held, SPINDLE_HELD_MOVING);
	CHECK(open->open);
	announce(n, 1, 1, 50, UNIT);
	n->greedy = ~0U;
	settle(n);
	CHECK(n->stream[1].wanted);
	spindle_streams_stop(&n->ss);
	CHECK_EQ(n->mc.send.held, SPINDLE_HELD_WAITING);
	CHECK_EQ(n->mc.stats.large_again, 1);
	/* The stream needs no memory any more. */
	CHECK(!n->stream[1].wanted);
	settle(n);
	CHECK_EQ(n->stream[0].r.state, SPINDLE_RDMC_S_FAILED);
	CHECK_EQ(n->stream[1].r.state, SPINDLE_RDMC_S_FAILING);
	CHECK(open->open);
	CHECK(!spindle_streams_quiet(&n->ss));
	CHECK(!n->stream[0].wanted && !n->stream[1].wanted);
	/* Both others, each the source of some blocks, say END: they write no more. */
	hear(n, 1, 0, end);
	settle(n);
	CHECK(!open->open);
	CHECK(!spindle_streams_quiet(&n->ss));
	hear(n, 1, 1, end);
	settle(n);
	CHECK(spindle_streams_quiet(&n->ss));
	/* A placed message stays placed until the subgroup itself goes on. */
	n->mc.send.held = SPINDLE_HELD_PLACED;
	spindle_streams_stop(&n->ss);
	CHECK_EQ(n->mc.send.held, SPINDLE_HELD_PLACED);
}

/* A subgroup that is wedged or has ended stops its streams in the next pass. */
static void test_wedged(void)
{
	struct node *n = &world[2];
	u32 i;

	for (i = 0; i < 2; i++) {
		begin_all(1);
		commit(n, 100, 0);
		settle(n);
		CHECK_EQ(n->mc.send.held, SPINDLE_HELD_MOVING);
		n->mc.epoch = i ? SPINDLE_EPOCH_OPEN : SPINDLE_EPOCH_WEDGED;
		n->mc.ended = i;
		settle(n);
		CHECK_EQ(n->mc.send.held, SPINDLE_HELD_WAITING);
		CHECK(spindle_streams_quiet(&n->ss));
		CHECK(!n->stream[1].wanted);
	}
}

/* A message of a stream that has ended means nothing to the next one. */
static void test_old_words(void)
{
	struct node *n = &world[0];
	u64 life;

	begin_all(1);
	life = n->stream[0].r.cfg.life;
	spindle_streams_stop(&n->ss);
	settle(n);
	spindle_streams_begin(&n->ss, VID + 1, true);
	CHECK(n->ss.stayed);
	spindle_rdmc_hear(&n->stream[0].r, 0, &(struct spindle_rdmc_msg){
		.to = life, .word = SPINDLE_RDMC_ANNOUNCE, .w = { 0, 50, 0 } });
	spindle_rdmc_hear(&n->stream[0].r, 0, &(struct spindle_rdmc_msg){
		.to = n->stream[1].r.cfg.life, .word = SPINDLE_RDMC_FAIL });
	n->greedy = ~0U;
	settle(n);
	CHECK_EQ(n->stream[0].r.announced, 0);
	CHECK_EQ(n->stream[0].r.state, SPINDLE_RDMC_S_OPEN);
	CHECK_EQ(cuts(), 0);
}

/* Memory can be used once, and only for the object for which the stream wanted it. */
static void test_turn(void)
{
	struct node *n = &world[0];
	struct spindle_stream *st = &n->stream[1];
	unsigned long have = 0;
	u8 mem[MAX_MSG];

	begin_all(1);
	n->greedy = ~0U;
	CHECK(!spindle_streams_give(&n->ss, 1, 0, mem, &have));
	announce(n, 1, 0, 50, UNIT);
	settle(n);
	CHECK(st->wanted);
	CHECK_EQ(n->wants, 1);
	CHECK_EQ(st->turn, 1);
	CHECK(!spindle_streams_give(&n->ss, 1, 0, mem, &have));
	CHECK(!spindle_streams_give(&n->ss, 1, 2, mem, &have));
	CHECK(!spindle_streams_give(&n->ss, 1, 1, NULL, NULL));
	CHECK_EQ(n->mc.stats.large_nomem, 1);
	CHECK(st->wanted);
	/* The view ends while the node looks for memory, and the next view wants memory, too. */
	spindle_streams_stop(&n->ss);
	settle(n);
	CHECK(!spindle_streams_give(&n->ss, 1, 1, NULL, NULL));
	CHECK_EQ(n->mc.stats.large_nomem, 1);
	spindle_streams_begin(&n->ss, VID + 1, true);
	announce(n, 1, 0, 60, UNIT);
	settle(n);
	CHECK_EQ(n->wants, 2);
	CHECK(!spindle_streams_give(&n->ss, 1, 1, mem, &have));
	CHECK(st->wanted);
	CHECK(spindle_streams_give(&n->ss, 1, 2, mem, &have));
	CHECK(!st->wanted);
	CHECK(!spindle_streams_give(&n->ss, 1, 2, mem, &have));
	settle(n);
	CHECK_EQ(n->wants, 2);
}

/* A message may have at most as many bytes as the subgroup allows. */
static void test_limit(void)
{
	struct node *n = &world[0];

	begin_all(1);
	n->greedy = ~0U;
	announce(n, 0, 0, MAX_MSG, UNIT);
	settle(n);
	CHECK(n->stream[0].wanted);
	CHECK_EQ(n->stream[0].len, MAX_MSG);
	CHECK_EQ(cuts(), 0);
	begin_all(1);
	n->greedy = ~0U;
	announce(n, 0, 0, MAX_MSG + 1, UNIT);
	settle(n);
	CHECK(!n->stream[0].wanted);
	CHECK_EQ(n->wants, 0);
	CHECK_EQ(n->cut[0], BIT_ULL(0));
	CHECK_EQ(n->stream[0].r.error, SPINDLE_RDMC_PROTOCOL);
	/* The sender's lie does not touch the other stream. */
	CHECK_EQ(n->stream[1].r.state, SPINDLE_RDMC_S_OPEN);
}

/* Objects that are announced together get memory one after the other. */
static void test_next(void)
{
	struct node *n = &world[0];
	struct spindle_stream *st = &n->stream[0];
	unsigned long have[2] = {};
	u8 mem[2][MAX_MSG];

	begin_all(1);
	n->greedy = ~0U;
	announce(n, 0, 0, 33, UNIT);
	announce(n, 0, 1, 44, UNIT + 1);
	settle(n);
	CHECK_EQ(n->wants, 1);
	CHECK_EQ(st->object, 0);
	CHECK_EQ(st->len, 33);
	CHECK_EQ(st->unit, UNIT);
	CHECK(spindle_streams_give(&n->ss, 0, st->turn, mem[0], &have[0]));
	settle(n);
	CHECK_EQ(n->wants, 2);
	CHECK_EQ(st->object, 1);
	CHECK_EQ(st->len, 44);
	CHECK_EQ(st->unit, UNIT + 1);
	CHECK(spindle_streams_give(&n->ss, 0, st->turn, mem[1], &have[1]));
	settle(n);
	CHECK_EQ(n->wants, 2);
	CHECK(!st->wanted);
}

/* The own message: memory is wanted when the message gets its turn and is there. */
static void test_own(void)
{
	struct node *n = &world[1];
	struct spindle_stream *st = &n->stream[0];

	begin_all(1);
	n->greedy = ~0U;
	settle(n);
	CHECK(!pass(n));
	commit(n, 90, 3);
	n->mc.lacking = true;
	settle(n);
	CHECK(!st->wanted);
	n->mc.lacking = false;
	CHECK(pass(n));
	CHECK(st->wanted);
	CHECK_EQ(st->len, 90);
	CHECK_EQ(st->unit, 3);
	settle(n);
	CHECK_EQ(n->wants, 1);
	CHECK_EQ(n->mc.send.held, SPINDLE_HELD_WAITING);
	/* A member is lost before there is memory. */
	spindle_rdmc_lost(&st->r, 2);
	CHECK(!spindle_streams_give(&n->ss, 0, st->turn, place(n, 0, 3), NULL));
	CHECK_EQ(n->mc.send.held, SPINDLE_HELD_WAITING);
	settle(n);
	CHECK(!st->wanted);
	CHECK_EQ(n->wants, 1);
	/* A member that only receives holds no message. */
	settle(&world[0]);
	world[0].mc.send.held = SPINDLE_HELD_WAITING;
	CHECK(!pass(&world[0]));
}

/* No member gets a message before it has begun and has a lane. */
static void test_begun(void)
{
	struct node *n = &world[1];
	const struct spindle_rdmc *r = &n->stream[0].r;

	begin_all(1);
	n->apart = BIT_ULL(0);
	n->unready = BIT_ULL(3);
	commit(n, 10, 0);
	settle(n);
	CHECK(!r->m[1].up && !r->m[2].up);
	CHECK_EQ(world[0].tail[1] + world[2].tail[1], 0);
	n->unready = 0;
	CHECK(pass(n));
	CHECK(!r->m[1].up && r->m[2].up);
	n->apart = 0;
	CHECK(pass(n));
	CHECK(r->m[1].up);
	settle(n);
	CHECK_EQ(world[0].tail[1], 1);
	/* A member that is not in the node's view has not begun. */
	begin_all(1);
	view.member[0].id = 99;
	settle(n);
	CHECK(!r->m[1].up && r->m[2].up);
	/* One lane is lost while no stream needs it, and one was lost before. */
	begin_all(1);
	spindle_streams_stop(&n->ss);
	settle(n);
	n->lost = BIT_ULL(3);
	spindle_streams_begin(&n->ss, VID + 1, true);
	CHECK_EQ(n->cut[0], BIT_ULL(2));
	CHECK(r->m[2].lost && !r->m[1].lost);
	begin_all(1);
	n->stream[0].r.m[1].lost = true;
	settle(n);
	CHECK(!r->m[1].up && r->m[2].up);
}

/* Node 1 has lost the lane to the last member, which has closed it. */
static struct node *part(void)
{
	struct node *n = &world[1];

	begin_all(1);
	mb.timeout = 50;
	n->mg.mb = &mb;
	n->parted = BIT_ULL(3);
	spindle_rdmc_lost(&n->stream[0].r, 2);
	CHECK_EQ(n->misses, 0);
	spindle_streams_pass(&n->ss, 100);
	return n;
}

/* Passes up to a time, so often that the node does not pause. */
static void pass_to(struct node *n, u64 from, u64 to)
{
	for (; from < to; from += 20)
		spindle_streams_pass(&n->ss, from);
	spindle_streams_pass(&n->ss, to);
}

static void test_parted(void)
{
	struct node *n = part();

	pass_to(n, 120, 150);
	CHECK_EQ(n->misses, 0);
	spindle_streams_pass(&n->ss, 151);
	CHECK_EQ(n->cut[0], BIT_ULL(2));
	CHECK_EQ(n->how, SPINDLE_MB_LOST);
	pass_to(n, 170, 900);
	CHECK_EQ(n->misses, 1);
	/* The change of the view may wait for that member as well. */
	n = part();
	spindle_streams_stop(&n->ss);
	pass_to(n, 120, 150);
	CHECK_EQ(n->misses, 0);
	spindle_streams_pass(&n->ss, 151);
	CHECK_EQ(n->misses, 1);
	/* Another beginning has other lanes, and a new timeout. */
	n = part();
	spindle_streams_begin(&n->ss, VID + 1, true);
	pass_to(n, 120, 200);
	CHECK_EQ(n->misses, 0);
	spindle_rdmc_lost(&n->stream[0].r, 2);
	pass_to(n, 210, 260);
	CHECK_EQ(n->misses, 0);
	spindle_streams_pass(&n->ss, 261);
	CHECK_EQ(n->misses, 1);
	/* A static view has no membership, so no member is reported. */
	n = part();
	n->mg.mb = NULL;
	pass_to(n, 120, 900);
	CHECK_EQ(n->misses, 0);
}

/* A pause of the node restarts the time, because what it waits for may have arrived. */
static void test_parted_pause(void)
{
	struct node *n = part();

	pass_to(n, 120, 140);
	spindle_streams_pass(&n->ss, 166);
	pass_to(n, 180, 216);
	CHECK_EQ(n->misses, 0);
	spindle_streams_pass(&n->ss, 217);
	CHECK_EQ(n->misses, 1);
	/* This is no pause. */
	n = part();
	spindle_streams_pass(&n->ss, 125);
	spindle_streams_pass(&n->ss, 150);
	spindle_streams_pass(&n->ss, 151);
	CHECK_EQ(n->misses, 1);
}

/* A member that parts while another one is waited for has as long as that one. */
static void test_parted_later(void)
{
	struct node *n = part();

	spindle_streams_pass(&n->ss, 120);
	n->stream[0].parted |= BIT_ULL(1);
	pass_to(n, 130, 151);
	CHECK_EQ(n->cut[0], BIT_ULL(2));
	CHECK_EQ(n->misses, 1);
	spindle_streams_pass(&n->ss, 152);
	pass_to(n, 160, 202);
	CHECK_EQ(n->misses, 1);
	spindle_streams_pass(&n->ss, 203);
	CHECK_EQ(n->misses, 2);
	CHECK_EQ(n->cut[0], BIT_ULL(1) | BIT_ULL(2));
	/* The first one is not waited for any more. */
	n = part();
	n->stream[0].parted = BIT_ULL(1);
	pass_to(n, 120, 170);
	CHECK_EQ(n->misses, 0);
	spindle_streams_pass(&n->ss, 171);
	CHECK_EQ(n->cut[0], BIT_ULL(1));
}

/* A member may write here, shows that its streams are quiet, and has not said END. */
static struct node *leave_out_end(void)
{
	struct node *n = &world[1];

	begin_all(1);
	mb.timeout = 50;
	n->mg.mb = &mb;
	mb.peer[0].vid = mb.view[0].vid;
	mb.peer[0].phase = SPINDLE_MB_WEDGED;
	n->stream[0].r.m[1].slot[0].state = SPINDLE_RDMC_GRANTED;
	n->stream[0].r.granted = 1;
	spindle_streams_stop(&n->ss);
	pass_to(n, 100, 150);
	CHECK_EQ(n->misses, 0);
	return n;
}

static void test_without_end(void)
{
	struct node *n = leave_out_end();

	spindle_streams_pass(&n->ss, 151);
	CHECK_EQ(n->misses, 1);
	CHECK_EQ(n->cut[0], BIT_ULL(1));
	CHECK_EQ(n->how, SPINDLE_MB_LOST);
	/* The miss is reported once in each timeout, until the member's lane is closed. */
	pass_to(n, 152, 202);
	CHECK_EQ(n->misses, 1);
	/* The time starts again, because this node has not waited for the member all the time. */
	n = leave_out_end();
	mb.peer[0].phase = SPINDLE_MB_ACTIVE;
	spindle_streams_pass(&n->ss, 151);
	mb.peer[0].phase = SPINDLE_MB_WEDGED;
	pass_to(n, 152, 202);
	CHECK_EQ(n->misses, 0);
	/* A block has come, and its grant is not taken back yet. */
	n = leave_out_end();
	n->stream[0].r.m[1].slot[0].state = SPINDLE_RDMC_USED;
	spindle_streams_pass(&n->ss, 151);
	CHECK_EQ(n->misses, 1);
}

static void test_with_end(void)
{
	static const u8 taken[] = { SPINDLE_RDMC_FREE, SPINDLE_RDMC_REVOKING };
	struct node *n = leave_out_end();
	u32 i;

	/* The member has shown nothing in this view. */
	mb.peer[0].vid++;
	pass_to(n, 151, 900);
	CHECK_EQ(n->misses, 0);
	/* The member is cut already, or has no lane. */
	n = leave_out_end();
	n->stream[0].r.m[1].cut = true;
	spindle_streams_pass(&n->ss, 151);
	CHECK_EQ(n->misses, 0);
	n = leave_out_end();
	n->stream[0].r.m[1].lost = true;
	spindle_streams_pass(&n->ss, 151);
	CHECK_EQ(n->misses, 0);
	/* The member cannot write here any more, or this node has begun to take the grant back. */
	for (i = 0; i < ARRAY_SIZE(taken); i++) {
		n = leave_out_end();
		n->stream[0].r.m[1].slot[0].state = taken[i];
		spindle_streams_pass(&n->ss, 151);
		CHECK_EQ(n->misses, 0);
	}
	/* The stream stays, and the fence is of its life before. */
	n = leave_out_end();
	n->ss.vid = n->mg.view->vid + 1;
	spindle_streams_pass(&n->ss, 151);
	CHECK_EQ(n->misses, 0);
}

static void test_missed(void)
{
	struct node *n = &world[1];

	begin_all(1);
	spindle_rdmc_lost(&n->stream[0].r, 2);
	CHECK_EQ(n->cut[0], BIT_ULL(2));
	CHECK_EQ(n->how, SPINDLE_MB_LOST);
	/* Another member lies in a stream that has failed already. */
	spindle_rdmc_breach(&n->stream[0].r, 1);
	CHECK_EQ(n->cut[0], BIT_ULL(1) | BIT_ULL(2));
	CHECK_EQ(n->how, SPINDLE_MB_LIED);
	/* The lie counts, whatever the liar does with the lane afterwards. */
	begin_all(1);
	n->parted = BIT_ULL(3);
	spindle_rdmc_breach(&n->stream[0].r, 2);
	CHECK_EQ(n->cut[0], BIT_ULL(2));
	CHECK_EQ(n->how, SPINDLE_MB_LIED);
}

/*
 * Membership says which members have begun. Such a member shows the view, or, in a subgroup that
 * stays, the decree before it.
 */
static void test_stayed(void)
{
	struct node *n = &world[1];
	const struct spindle_rdmc *r = &n->stream[0].r;
	u32 stayed;

	for (stayed = 0; stayed < 2; stayed++) {
		make_all(1);
		n->mg.mb = &mb;
		n->mg.formed = true;
		mb.state = SPINDLE_MB_COMMITTED;
		mb.peer[0].vid = VID - 1;
		mb.peer[0].phase = SPINDLE_MB_COMMITTED;
		mb.peer[3].vid = VID - 1;
		mb.peer[3].phase = SPINDLE_MB_ECHOED;
		spindle_streams_begin(&n->ss, VID, stayed);
		settle(n);
		CHECK_EQ(r->m[1].up, stayed);
		CHECK(!r->m[2].up);
		mb.peer[3].vid = VID;
		settle(n);
		CHECK(r->m[2].up);
	}
}

/* There is no other member: a message that is held is placed at once. */
static void test_alone(void)
{
	struct node *n = &world[1];
	struct spindle_stream before;

	make_all(1);
	n->mc.members = 1;
	n->mc.senders = 1;
	memset(&n->stream[0], 0x5a, sizeof(before));
	before = n->stream[0];
	spindle_streams_begin(&n->ss, VID, false);
	CHECK(!spindle_streams_pass(&n->ss, now++));
	CHECK_EQ(n->mc.send.held, SPINDLE_HELD_NONE);
	commit(n, 10, 0);
	CHECK(spindle_streams_pass(&n->ss, now++));
	CHECK_EQ(n->mc.send.held, SPINDLE_HELD_PLACED);
	CHECK(!spindle_streams_pass(&n->ss, now++));
	spindle_streams_stop(&n->ss);
	CHECK(spindle_streams_quiet(&n->ss));
	CHECK(!memcmp(&before, &n->stream[0], sizeof(before)));
}

/*
 * A member grants nothing, and another time a member never says END. The sender waits, or the
 * change of the view does. No member is blamed. The wait ends when the member is gone.
 */
static void test_silent(void)
{
	struct node *silent = &world[0], *sender = &world[1], *other = &world[2];
	u32 i, s;

	begin_all(1);
	silent->greedy = BIT(0);
	commit(sender, MAX_MSG, 0);
	run(5000);
	CHECK_EQ(sender->mc.send.held, SPINDLE_HELD_MOVING);
	CHECK_EQ(spindle_rdmc_due(&sender->stream[0].r), U64_MAX);
	CHECK_EQ(cuts(), 0);
	/* The silent member delays no change, and no member but that sender. */
	commit(other, 10, UNIT);
	run(5000);
	CHECK_EQ(other->mc.send.held, SPINDLE_HELD_PLACED);
	stop_all();
	run(1000);
	for (i = 0; i < N; i++)
		CHECK(spindle_streams_quiet(&world[i].ss));
	CHECK_EQ(sender->mc.send.held, SPINDLE_HELD_WAITING);

	/*
	 * The silent member is the source of the third one, which has granted it a block. The block
	 * never comes.
	 */
	begin_all(1);
	commit(sender, MAX_MSG, 0);
	for (i = 0; i < 10000 && !other->right[0][0][0].open; i++)
		run(1);
	CHECK(other->right[0][0][0].open);
	silent->dead = true;
	stop_all();
	run(5000);
	CHECK(spindle_streams_quiet(&sender->ss));
	CHECK(!spindle_streams_quiet(&other->ss));
	CHECK(other->right[0][0][0].open);
	CHECK_EQ(cuts(), 0);
	/* The silent member is evicted, and its connection closes. */
	for (s = 0; s < SENDERS; s++)
		spindle_rdmc_quiet(&other->stream[s].r, rank_of(&other->stream[s].r, 0));
	run(100);
	CHECK(spindle_streams_quiet(&other->ss));
	CHECK_EQ(cuts(), 0);
}

/* The lane is up, and the view of the stream is not installed yet. */
static void test_not_begun(void)
{
	const struct spindle_rdmc_msg msg = { .word = SPINDLE_RDMC_ANNOUNCE };
	struct node *n = &world[0];
	struct spindle_stream before;

	make_all(1);
	before = n->stream[0];
	spindle_rdmc_hear(&n->stream[0].r, 1, &msg);
	spindle_rdmc_arrived(&n->stream[0].r, 1, 0);
	CHECK(!memcmp(&before, &n->stream[0], sizeof(before)));
	CHECK_EQ(cuts(), 0);
}

/* One member sends, and the others only receive. */
static void test_one_sender(void)
{
	make_all(1);
	world[0].mc.senders = 1;
	spindle_streams_begin(&world[0].ss, VID, false);
	CHECK_EQ(world[0].ss.vid, VID);
	CHECK_EQ(world[0].stream[0].r.state, SPINDLE_RDMC_S_OPEN);
}

static const struct tap_case cases[] = {
	{ "a stream has the members of its subgroup", test_members },
	{ "a stream has a life in each view", test_life },
	{ "messages come to all members", test_moves },
	{ "a view ends, and another one begins", test_change },
	{ "a stop has immediate and later effects", test_stop },
	{ "a wedged or ended subgroup sends no large message", test_wedged },
	{ "messages of an ended stream are ignored", test_old_words },
	{ "memory is used only for the object for which it was wanted", test_turn },
	{ "the longest message is sent, and a longer one is refused", test_limit },
	{ "large messages arrive one after the other", test_next },
	{ "the sender delivers its own message", test_own },
	{ "a member gets no message before it has begun and has a lane", test_begun },
	{ "members close their lanes", test_parted },
	{ "members close their lanes while the node pauses", test_parted_pause },
	{ "members close their lanes one after the other", test_parted_later },
	{ "members write no more without END", test_without_end },
	{ "the sender does not wait for END of some members", test_with_end },
	{ "the view goes on without a member for a reason", test_missed },
	{ "membership says which members have begun", test_stayed },
	{ "a member is alone in its stream", test_alone },
	{ "a silent member is not blamed, and the wait ends when it is gone", test_silent },
	{ "a stream ignores messages before it begins", test_not_begun },
	{ "a subgroup with one sender", test_one_sender },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
