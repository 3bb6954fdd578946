// SPDX-License-Identifier: GPL-2.0-only
/* Streams: RDMC inside a view, in a world of a few members and one sender. */
#include "core/group/stream.h"
#include "rng.h"
#include "tap.h"

#define N 4
#define BLOCK 16
#define MAX_LEN 400
#define QUEUE 512

struct item {
	bool write;
	u32 from;
	u64 object;
	u32 block, len, number;
	struct spindle_rdmc_msg msg;
	u8 data[BLOCK];
};

/* One member: its blocks, the messages on their way to it, and its requests. */
struct member {
	struct spindle_rdmc r; /* first */
	u32 me;
	u8 bytes[MAX_LEN];
	unsigned long have[MAX_LEN / BLOCK / 64 + 1];
	bool right[N][SPINDLE_RDMC_GRANTS];
	struct item in[N][QUEUE];
	u32 head[N], tail[N];
	u64 cut;
	u32 released;
};

static struct member world[N];
static struct rng rng;
static u64 words; /* kinds of messages that were sent */
static u32 progress; /* of these, PROGRESS */

static struct member *of(struct spindle_rdmc *r)
{
	return (struct member *)r;
}

static bool op_room(struct spindle_rdmc *r, u32 m)
{
	return world[m].tail[of(r)->me] - world[m].head[of(r)->me] < 20;
}

static struct item *post(struct spindle_rdmc *r, u32 m)
{
	u32 me = of(r)->me;

	return &world[m].in[me][world[m].tail[me]++ % QUEUE];
}

static void op_say(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg)
{
	words |= BIT(msg->word);
	progress += msg->word == SPINDLE_RDMC_PROGRESS;
	*post(r, m) = (struct item){ .from = of(r)->me, .msg = *msg };
}

static void op_grant(struct spindle_rdmc *r, u32 m, u32 g, void *mem, u32 block, u32 len,
		     struct spindle_rdmc_msg *msg)
{
	of(r)->right[m][g] = true;
	msg->w[1] = (u64)block * BLOCK;
	msg->w[2] = (u64)g << 32;
	op_say(r, m, msg);
}

static void op_revoke(struct spindle_rdmc *r, u32 m, u32 g)
{
	of(r)->right[m][g] = false;
}

static void op_write(struct spindle_rdmc *r, u32 m, u64 object, void *mem, u32 block, u32 len,
		     const struct spindle_rdmc_grant *grant)
{
	struct item *it = post(r, m);

	*it = (struct item){ .write = true, .from = of(r)->me, .object = object, .block = block,
			     .len = len, .number = grant->number };
	memcpy(it->data, (u8 *)mem + block * BLOCK, len);
}

static void op_cut(struct spindle_rdmc *r, u32 m)
{
	of(r)->cut |= BIT_ULL(m);
}

static bool op_release(struct spindle_rdmc *r, void *mem)
{
	of(r)->released++;
	return true;
}

static const struct spindle_rdmc_ops ops = {
	.room = op_room, .say = op_say, .grant = op_grant, .revoke = op_revoke,
	.write = op_write, .cut = op_cut, .release = op_release,
};

static void begin(u64 seed)
{
	u32 i, m;

	memset(world, 0, sizeof(world));
	rng.state = seed;
	words = 0;
	progress = 0;
	for (i = 0; i < N; i++) {
		struct spindle_rdmc_config cfg = {
			.stream = true, .life = 7, .n = N, .me = i, .block = BLOCK,
			.algorithm = SPINDLE_RDMC_PIPELINE,
		};

		world[i].me = i;
		spindle_rdmc_init(&world[i].r, &cfg, &ops);
		CHECK_EQ(world[i].r.state, SPINDLE_RDMC_S_OPEN);
		for (m = 0; m < N; m++)
			if (m != i)
				spindle_rdmc_up(&world[i].r, m);
	}
}

static void deliver(struct member *to, u32 from)
{
	struct item it = to->in[from][to->head[from]++ % QUEUE];
	u32 g;

	if (!it.write) {
		spindle_rdmc_hear(&to->r, from, &it.msg);
		return;
	}
	/* The device of the receiver, and then that of the sender. */
	for (g = 0; g < SPINDLE_RDMC_GRANTS && g != it.number; g++)
		;
	if (!CHECK(g < SPINDLE_RDMC_GRANTS && to->right[from][g]))
		return;
	memcpy(to->bytes + it.block * BLOCK, it.data, it.len);
	spindle_rdmc_arrived(&to->r, from, g);
	spindle_rdmc_written(&world[from].r, it.object);
}

static void revoked(struct member *m)
{
	u32 i, g;

	for (i = 0; i < N; i++)
		for (g = 0; g < SPINDLE_RDMC_GRANTS; g++)
			if (!m->right[i][g])
				spindle_rdmc_revoked(&m->r, i, g);
}

/* A receiver that knows of an object gives memory for it. */
static void accept(struct member *m)
{
	u64 o = m->r.ended;

	if (m->me && m->r.state == SPINDLE_RDMC_S_OPEN && o < m->r.shown &&
	    spindle_rdmc_object(&m->r, o)->phase == SPINDLE_RDMC_P_WAITING) {
		memset(m->have, 0, sizeof(m->have));
		CHECK_EQ(spindle_rdmc_accept(&m->r, o, spindle_rdmc_object(&m->r, o)->len,
					     m->bytes, m->have), 0);
	}
}

/* Make @steps random events happen. */
static void run(u32 steps)
{
	static u64 now = 1;

	while (steps--) {
		u32 i = rng_below(&rng, N), from = rng_below(&rng, N);

		if (world[i].head[from] != world[i].tail[from] && rng_chance(&rng, 60)) {
			deliver(&world[i], from);
			continue;
		}
		revoked(&world[i]);
		accept(&world[i]);
		spindle_rdmc_pass(&world[i].r, now++);
		CHECK_EQ(spindle_rdmc_due(&world[i].r), U64_MAX);
	}
}

static u64 send(u32 len)
{
	u64 object = U64_MAX;
	u32 i;

	for (i = 0; i < len; i++)
		world[0].bytes[i] = rng_u64(&rng);
	CHECK_EQ(spindle_rdmc_send(&world[0].r, len, 5, world[0].bytes, &object), 0);
	return object;
}

static void test_moves(void)
{
	u32 seed, i, len;
	u64 object;

	for (seed = 1; seed < 100; seed++) {
		begin(seed);
		for (i = 0; i < 3; i++) {
			len = 1 + rng_below(&rng, MAX_LEN);
			object = send(len);
			run(3000);
			CHECK(spindle_rdmc_everywhere(&world[0].r, object));
			CHECK(!memcmp(world[1].bytes, world[0].bytes, len));
			CHECK(!memcmp(world[2].bytes, world[0].bytes, len));
			CHECK(!memcmp(world[3].bytes, world[0].bytes, len));
		}
		/* Each member reports the end of each object once. */
		CHECK_EQ(progress, 3 * (N - 1));
		CHECK_EQ(words, BIT(SPINDLE_RDMC_ANNOUNCE) | BIT(SPINDLE_RDMC_GRANT) |
				BIT(SPINDLE_RDMC_PROGRESS));
	}
}

/*
 * One member ends the stream at any moment. The others go on as long as they can. Then all end it.
 */
static void test_ends(void)
{
	u32 seed, i, one;

	for (seed = 1; seed < 500; seed++) {
		begin(seed);
		send(1 + rng_below(&rng, MAX_LEN));
		run(rng_below(&rng, 300));
		one = rng_below(&rng, N);
		spindle_rdmc_fail(&world[one].r, 0, SPINDLE_RDMC_VIEW);
		run(2000);
		CHECK_EQ(world[one].r.state, SPINDLE_RDMC_S_FAILED);
		CHECK_EQ(world[one].r.granted + world[one].r.writing, 0);
		for (i = 0; i < N; i++)
			spindle_rdmc_fail(&world[i].r, 0, SPINDLE_RDMC_VIEW);
		run(2000);
		for (i = 0; i < N; i++) {
			CHECK_EQ(world[i].r.state, SPINDLE_RDMC_S_FAILED);
			CHECK_EQ(world[i].cut, 0);
			CHECK_EQ(world[i].r.granted + world[i].r.writing, 0);
			CHECK_EQ(world[i].r.ended, world[i].r.announced);
		}
		CHECK(words & BIT(SPINDLE_RDMC_END));
	}
}

/* One member says something that is not allowed. */
static struct member *hear(u32 to, u32 from, struct spindle_rdmc_msg msg)
{
	msg.to = 7;
	spindle_rdmc_hear(&world[to].r, from, &msg);
	return &world[to];
}

static void test_words(void)
{
	static const u32 none[] = {
		0, SPINDLE_RDMC_STOP, SPINDLE_RDMC_ABORT, SPINDLE_RDMC_RETURN, SPINDLE_RDMC_FAIL,
		SPINDLE_RDMC_CLOSE, SPINDLE_RDMC_END + 1,
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(none); i++) {
		begin(1);
		hear(1, 2, (struct spindle_rdmc_msg){ .word = none[i], .w = { 3, 3 } });
		CHECK_EQ(world[1].cut, BIT(2));
		CHECK_EQ(world[1].r.error, SPINDLE_RDMC_PROTOCOL);
	}
	/* The message belongs to another stream, or to one that has ended. */
	begin(1);
	world[1].r.cfg.life = 8;
	hear(1, 2, (struct spindle_rdmc_msg){ .word = SPINDLE_RDMC_FAIL });
	CHECK_EQ(world[1].cut, 0);
	CHECK_EQ(world[1].r.state, SPINDLE_RDMC_S_OPEN);
}

static void test_blame(void)
{
	struct spindle_rdmc_msg announce = { .word = SPINDLE_RDMC_ANNOUNCE, .w = { 0, 100, 5 } };
	struct spindle_rdmc_msg grant = { .word = SPINDLE_RDMC_GRANT, .w = { 0, 0, 0, 90 } };
	struct spindle_rdmc_msg spoiled = { .word = SPINDLE_RDMC_PROGRESS, .w = { 1, 0, 0 } };

	/*
	 * The root has told member 2 something else, or member 2 lies. Member 1 cannot know which.
	 */
	begin(1);
	hear(1, 0, announce);
	CHECK_EQ(hear(1, 2, grant)->cut, BIT(0));
	begin(1);
	hear(1, 2, grant);
	CHECK_EQ(hear(1, 0, announce)->cut, BIT(0));
	/* The root knows that member 2 lies. */
	begin(1);
	send(100);
	CHECK_EQ(hear(0, 2, grant)->cut, BIT(2));
	/* Each object that has ended is complete. */
	begin(1);
	send(100);
	run(20);
	CHECK_EQ(hear(0, 2, spoiled)->cut, BIT(2));
	/* The root never says PROGRESS, and no member but the root hears it. */
	begin(1);
	CHECK_EQ(hear(1, 0, (struct spindle_rdmc_msg){ .word = SPINDLE_RDMC_PROGRESS })->cut,
		 BIT(0));
	/* Only the root announces. */
	begin(1);
	CHECK_EQ(hear(1, 2, announce)->cut, BIT(2));
}

static void test_lost(void)
{
	struct member *m = &world[1];

	/* The stream has not used the lane, so another lane may replace it. */
	begin(1);
	m->r.m[2].up = false;
	CHECK(spindle_rdmc_down(&m->r, 2));
	CHECK_EQ(m->r.state, SPINDLE_RDMC_S_OPEN);
	/* The stream has sent nothing by the lane, but has heard something. */
	hear(1, 2, (struct spindle_rdmc_msg){ .word = SPINDLE_RDMC_GRANT, .w = { 0, 0, 0, 9 } });
	CHECK(!spindle_rdmc_down(&m->r, 2));
	CHECK_EQ(m->cut, BIT(2));
	begin(1);
	CHECK(!spindle_rdmc_down(&m->r, 2));
	CHECK_EQ(m->cut, BIT(2));
	CHECK_EQ(m->r.error, SPINDLE_RDMC_LOST);
	/* After the end of the view a lost lane does not matter. */
	begin(1);
	spindle_rdmc_fail(&m->r, 0, SPINDLE_RDMC_VIEW);
	CHECK(!spindle_rdmc_down(&m->r, 2));
	CHECK_EQ(m->cut, 0);
	/* A stream that has failed before it used the lane says END by another lane. */
	begin(1);
	m->r.m[2].up = false;
	spindle_rdmc_lost(&m->r, 0);
	CHECK(m->r.state != SPINDLE_RDMC_S_OPEN);
	CHECK(spindle_rdmc_down(&m->r, 2));
	CHECK(!m->r.m[2].lost);
}

/* A member that breaks lane after lane is lost in the end, but not while a static view forms. */
static void test_lanes(void)
{
	struct member *m = &world[1];
	u32 i;

	begin(1);
	m->r.m[2].up = false;
	for (i = 0; i < SPINDLE_RDMC_LANES; i++) {
		CHECK(spindle_rdmc_down(&m->r, 2));
		/* The embedder may ask again before it replaces the lane. */
		CHECK(spindle_rdmc_down(&m->r, 2));
		spindle_rdmc_replaced(&m->r, 2);
	}
	CHECK(!spindle_rdmc_down(&m->r, 2));
	CHECK_EQ(m->r.error, SPINDLE_RDMC_LOST);
	begin(1);
	m->r.m[2].up = false;
	m->r.cfg.endless = true;
	for (i = 0; i < 3 * SPINDLE_RDMC_LANES; i++) {
		CHECK(spindle_rdmc_down(&m->r, 2));
		spindle_rdmc_replaced(&m->r, 2);
	}
	CHECK_EQ(m->r.state, SPINDLE_RDMC_S_OPEN);
}

/*
 * A member that has not begun gets no message. When this node hears from that member, the member
 * learns of the end.
 */
static void test_late(void)
{
	struct member *m = &world[1];
	u32 i;

	begin(1);
	for (i = 0; i < N; i++)
		m->r.m[i].up = false;
	spindle_rdmc_fail(&m->r, 0, SPINDLE_RDMC_VIEW);
	spindle_rdmc_pass(&m->r, 1);
	CHECK_EQ(words, 0);
	CHECK_EQ(m->r.state, SPINDLE_RDMC_S_FAILED);
	hear(1, 2, (struct spindle_rdmc_msg){ .word = SPINDLE_RDMC_GRANT, .w = { 0, 0, 0, 9 } });
	hear(1, 2, (struct spindle_rdmc_msg){ .word = SPINDLE_RDMC_GRANT, .w = { 0, 0, 0, 9 } });
	spindle_rdmc_pass(&m->r, 2);
	hear(1, 2, (struct spindle_rdmc_msg){ .word = SPINDLE_RDMC_GRANT, .w = { 0, 0, 0, 9 } });
	spindle_rdmc_pass(&m->r, 3);
	CHECK_EQ(words, BIT(SPINDLE_RDMC_END));
	CHECK_EQ(world[2].tail[1], 1);
	CHECK_EQ(world[0].tail[1] + world[3].tail[1], 0);
}

static const struct tap_case cases[] = {
	{ "objects come to all members", test_moves },
	{ "each member gets its grants back, whichever member ends first", test_ends },
	{ "a stream rejects words that only groups have", test_words },
	{ "the right member is blamed", test_blame },
	{ "a stream loses a lane", test_lost },
	{ "a stream loses lane after lane", test_lanes },
	{ "a member begins late", test_late },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
