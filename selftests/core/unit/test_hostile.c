// SPDX-License-Identifier: GPL-2.0-only
/*
 * A member that lies: it writes anything into its row as the others hold it, correctly sealed. The
 * others must neither step out of their memory nor hang. They must blame the liar and no other
 * member, and honest messages among them must arrive unchanged.
 */
#include "world.h"

static struct rng rng;
static u64 only;

/* The aims of a liar. */
enum aim {
	NOISE,		/* random words, random bytes */
	EDGE,		/* just inside the limits, and sometimes just outside */
	NULLS,		/* legal, except for endless rounds that no member needs */
	YES,		/* claims to have received and delivered all, and reads nothing */
	AIMS
};

static const char *const aim_name[] = { "noise", "edge", "nulls", "yes" };

struct outcome {
	u64 worlds, blamed, messages, passes;
};

static void view_init(struct spindle_view *v, struct rng *r)
{
	u32 n = 2 + rng_below(r, 4), i;
	u64 all = BIT_ULL(n) - 1;

	memset(v, 0, sizeof(*v));
	v->vid = 1;
	v->num_members = n;
	v->num_subgroups = 1 + rng_below(r, 2);
	for (i = 0; i < n; i++) {
		v->member[i].id = i + 1;
		v->member[i].addr.port = i + 1;
		v->member[i].addr.family = 6;
	}
	for (i = 0; i < v->num_subgroups; i++) {
		struct spindle_view_subgroup *sg = &v->subgroup[i];

		sg->id = i;
		sg->mode = rng_chance(r, 25);
		sg->window = 1U << rng_below(r, 6);
		sg->ring = 4096;
		sg->max_msg = 1 + rng_below(r, 2000);
		sg->members = all;
		sg->senders = rng_chance(r, 60) ? all : rng_u64(r) & all;
		if (!sg->senders)
			sg->senders = all;
	}
}

/* The liar's columns in a victim's copy, and the places where a lie changes them. */
struct target {
	struct group *g;
	struct spindle_mc_member *m;
	struct spindle_mc_sender *sd; /* NULL: no sender */
	struct spindle_block *block;
	struct spindle_hdr *hdr;
	struct spindle_express *express; /* NULL: no messages by express */
	u8 *pay;
};

static struct target target(struct group *g, u32 liar)
{
	struct spindle_mc *mc = &g->mc;
	u32 r = spindle_mask_rank(group_conf(g)->members, liar);
	struct target t = {
		.g = g,
		.m = &mc->member[r],
		.block = (void *)mc->member[r].block,
		.express = (void *)mc->member[r].express,
	};

	if (t.m->sender != SPINDLE_NO_RANK) {
		t.sd = &mc->sender[t.m->sender];
		t.hdr = (void *)t.sd->walk.ring;
		t.pay = (void *)t.sd->pay;
	}
	return t;
}

static void noise(struct target *t, struct rng *r)
{
	u64 word[SPINDLE_BLOCK_WORDS];
	u32 i, n = t->g->mc.window;

	switch (rng_below(r, 6)) {
	case 0:
		for (i = 0; i < SPINDLE_BLOCK_WORDS; i++)
			word[i] = rng_odd(r);
		spindle_block_write(t->block, word);
		break;
	case 1: /* one word */
		word[SPINDLE_COL_SENT] = t->m->sent;
		word[SPINDLE_COL_SLOTS] = t->m->slots;
		word[SPINDLE_COL_RECEIVED] = t->m->received;
		word[SPINDLE_COL_DELIVERED] = t->m->delivered;
		word[rng_below(r, SPINDLE_BLOCK_WORDS)] = rng_odd(r);
		spindle_block_write(t->block, word);
		break;
	case 2: /* no valid seal */
		((u8 *)t->block)[rng_below(r, SPINDLE_BLOCK_PUSH)] = rng_u64(r);
		break;
	case 3:
		for (i = 0; t->sd && i < n * sizeof(*t->hdr); i++)
			((u8 *)t->hdr)[i] = rng_u64(r);
		break;
	case 4: /* a random word, and in half of the cases a valid seal */
		if (!t->express)
			break;
		((u64 *)t->express)[rng_below(r, sizeof(*t->express) / 8)] = rng_odd(r);
		if (rng_chance(r, 50))
			t->express->seal = spindle_mix(t->express->word, SPINDLE_BLOCK_WORDS + 3);
		break;
	default:
		for (i = 0; t->sd && i < 4096; i++)
			t->pay[i] = rng_u64(r);
		break;
	}
}

/* The largest count of the victim's own rounds that the liar can have received. */
static u64 told(const struct target *t)
{
	const struct spindle_mc *mc = &t->g->mc;
	const struct spindle_mc_sender *own;
	u64 round;

	if (mc->my_sender == SPINDLE_NO_RANK)
		return U64_MAX;
	own = &mc->sender[mc->my_sender];
	round = own->walk.rounds;
	if (t->m->push_slot != own->walk.slot)
		round = own->msgs[t->m->push_slot & own->walk.wmask].round;
	return round * mc->senders + mc->my_sender;
}

/* Write headers for the messages up to @up_to, in rounds below @sent, as many as fit. */
static u64 headers(struct target *t, u64 up_to, u64 sent, struct rng *r, bool bad)
{
	struct spindle_msg msg = { .round = t->sd->walk.rounds };
	u64 slot = t->sd->walk.slot;

	for (; slot != up_to && msg.round < sent; slot++, msg.round++) {
		if (sent - msg.round > up_to - slot)
			msg.round += rng_below(r, 2);
		msg.unit = rng_u64(r);
		msg.len = rng_below(r, group_conf(t->g)->max_msg + 1);
		spindle_hdr_write(t->hdr, t->g->mc.window - 1, slot, &msg);
		if (bad && rng_chance(r, 5))
			t->hdr[slot & (t->g->mc.window - 1)].round = rng_odd(r);
		if (bad && rng_chance(r, 5))
			t->hdr[slot & (t->g->mc.window - 1)].len = rng_odd(r);
		if (bad && rng_chance(r, 5))
			t->hdr[slot & (t->g->mc.window - 1)].mask = rng_odd(r);
	}
	return slot;
}

/* Publish the columns, in the block or with the newest message. */
static void publish(struct target *t, const u64 word[SPINDLE_BLOCK_WORDS], struct rng *r,
		    bool bad)
{
	const struct spindle_hdr *hdr;
	struct spindle_msg msg;

	if (!t->express || !word[SPINDLE_COL_SLOTS] || rng_chance(r, 50)) {
		spindle_block_write(t->block, word);
		return;
	}
	hdr = &t->hdr[(word[SPINDLE_COL_SLOTS] - 1) & (t->g->mc.window - 1)];
	msg = (struct spindle_msg){ .round = hdr->round, .unit = hdr->unit, .len = hdr->len };
	msg.len = min_t(u32, msg.len, SPINDLE_EXPRESS_BYTES);
	if (bad && rng_chance(r, 5))
		msg.round = rng_odd(r);
	if (bad && rng_chance(r, 5))
		msg.len = rng_below(r, SPINDLE_EXPRESS_BYTES + 1);
	spindle_express_write(t->express, word, &msg, t->pay, group_conf(t->g)->ring);
}

static void edge(struct target *t, struct rng *r, bool bad)
{
	const struct spindle_mc *mc = &t->g->mc;
	u64 rounds = (u64)mc->senders * mc->window + 2, room;
	u64 word[SPINDLE_BLOCK_WORDS] = { 0 };

	word[SPINDLE_COL_SLOTS] = t->m->slots;
	if (t->sd) {
		word[SPINDLE_COL_SENT] = t->m->sent +
					 rng_below(r, rounds + 1) / (1 + rng_below(r, 20));
		room = t->sd->rel_slot + mc->window - t->m->slots;
		room = min(room, word[SPINDLE_COL_SENT] - t->m->sent);
		if (room && rng_chance(r, 70))
			word[SPINDLE_COL_SLOTS] =
				headers(t, t->m->slots + 1 + rng_below(r, room),
					word[SPINDLE_COL_SENT], r, bad);
		word[SPINDLE_COL_SLOTS] = max(word[SPINDLE_COL_SLOTS], t->m->slots);
	}
	room = mc->own.word[SPINDLE_COL_DELIVERED] + rounds * mc->senders;
	room = max(t->m->received, rng_chance(r, bad ? 97 : 100) ? min(room, told(t)) : room);
	room -= t->m->received;
	word[SPINDLE_COL_RECEIVED] = t->m->received +
				     rng_below(r, room + 1) / (1 + rng_below(r, 9));
	room = word[SPINDLE_COL_RECEIVED] - t->m->delivered;
	word[SPINDLE_COL_DELIVERED] = t->m->delivered + rng_below(r, room + 1);
	if (bad && rng_chance(r, 3))
		word[rng_below(r, SPINDLE_BLOCK_WORDS)] += rng_chance(r, 50) ? 1 : -1;
	publish(t, word, r, bad);
}

/* Many rounds without messages. The counts of received and delivered messages are true. */
static void nulls(struct target *t, struct rng *r)
{
	const struct spindle_mc *mc = &t->g->mc;
	u64 word[SPINDLE_BLOCK_WORDS] = { 0 };

	word[SPINDLE_COL_SLOTS] = t->m->slots;
	if (t->sd)
		word[SPINDLE_COL_SENT] = t->m->sent + rng_below(r, 3 + mc->senders * mc->window) /
							 (1 + rng_below(r, 4));
	word[SPINDLE_COL_RECEIVED] = max(t->m->received,
					 min(mc->own.word[SPINDLE_COL_RECEIVED], told(t)));
	word[SPINDLE_COL_DELIVERED] = max(t->m->delivered,
					  min(mc->own.word[SPINDLE_COL_DELIVERED],
					      word[SPINDLE_COL_RECEIVED]));
	spindle_block_write(t->block, word);
}

/* Claim to be up to date, without having read anything. */
static void yes(struct target *t, struct rng *r)
{
	const struct spindle_mc *mc = &t->g->mc;
	u64 word[SPINDLE_BLOCK_WORDS] = { 0 }, most = 0;
	u32 s;

	for (s = 0; s < mc->senders; s++)
		most = max(most, mc->sender[s].walk.rounds);
	word[SPINDLE_COL_SLOTS] = t->m->slots;
	if (t->sd)
		word[SPINDLE_COL_SENT] = max(t->m->sent, most);
	word[SPINDLE_COL_RECEIVED] = max(t->m->received, mc->own.word[SPINDLE_COL_RECEIVED] +
					 rng_below(r, 2) * mc->senders);
	word[SPINDLE_COL_DELIVERED] = max(t->m->delivered, word[SPINDLE_COL_RECEIVED]);
	spindle_block_write(t->block, word);
}

static void lie(struct world *w, enum aim aim)
{
	struct rng *r = &w->rng;
	u32 v = rng_below(r, w->view.num_members);
	struct group *g = w->node[v].group[rng_below(r, w->view.num_subgroups)];
	struct target t;

	if (v == w->hostile || !g)
		return;
	t = target(g, w->hostile);
	/* The values that completions carry come from the liar as well. */
	if (w->conf.vouch)
		__atomic_store_n(&g->node->vouch[w->hostile][g->index],
				 rng_chance(r, 20) ? rng_odd(r) & SPINDLE_IMM_SLOTS :
				 t.block->word[SPINDLE_COL_SLOTS] & SPINDLE_IMM_SLOTS,
				 __ATOMIC_RELEASE);
	switch (aim) {
	case NOISE:
		noise(&t, r);
		break;
	case EDGE:
		edge(&t, r, true);
		break;
	case NULLS:
		nulls(&t, r);
		break;
	default:
		yes(&t, r);
		break;
	}
}

static void start(struct world *w, enum aim aim)
{
	u32 i, j;

	for (i = 0; i < w->view.num_members; i++) {
		w->link[i][w->hostile].slow = aim == YES ? 100 : rng_below(&w->rng, 100);
		for (j = 0; j < w->view.num_subgroups; j++) {
			struct group *g = w->node[i].group[j];

			if (!g || i == w->hostile)
				continue;
			g->talk = 100;
			if (g->mc.my_sender != SPINDLE_NO_RANK)
				sender_open(g);
			if (rng_chance(&w->rng, 60))
				reader_open(g, g->mc.deliver.log_mask + 1, 0)->lazy =
					rng_below(&w->rng, 100);
		}
	}
	world_activate(w);
}

static void schedule(u64 seed, enum aim aim, struct outcome *out)
{
	struct rng r = { .state = seed };
	struct world_conf conf = {
		.vouch = rng_chance(&r, 30),
		.late = rng_chance(&r, 50),
		.queue = 5 + rng_below(&r, 60),
	};
	u32 steps = 500 + rng_below(&r, 8000), often = 1 + rng_below(&r, 30), i, j;
	struct spindle_view v;
	struct world *w;

	view_init(&v, &r);
	w = world_open(&v, &conf, rng_u64(&r));
	w->hostile = rng_below(&r, v.num_members);
	start(w, aim);
	for (i = 0; i < steps && !w->failed; i++) {
		if (rng_chance(&w->rng, often))
			lie(w, aim);
		/* The deaf member listens again, once. */
		if (i == steps - 300)
			for (j = 0; j < v.num_members; j++)
				w->link[j][w->hostile].slow = 0;
		world_step(w);
	}
	if (w->failed)
		tap_fail("ONLY=%llu: %s", (unsigned long long)seed, w->why);
	out->worlds++;
	for (i = 0; i < v.num_members; i++) {
		for (j = 0; j < v.num_subgroups; j++) {
			struct group *g = w->node[i].group[j];

			if (!g || i == w->hostile)
				continue;
			out->blamed += !!g->mc.bad;
			out->messages += g->mc.stats.delivered;
			out->passes += g->mc.stats.activations;
		}
	}
	world_close(w);
}

static void schedules(enum aim aim)
{
	struct outcome out = { .worlds = 0 };
	u32 i, count = max_t(u64, 1, 400 * tap_env("SCHEDULES", 100) / 100);

	if (only) {
		schedule(only, aim, &out);
		return;
	}
	for (i = 0; i < count && tap_failures < 5; i++)
		schedule(rng_mix(rng.state * 1000003 + aim * 5000 + i) >> 16, aim, &out);
	printf("# %s: %llu worlds, %llu members gave up, %llu deliveries, %llu passes\n",
	       aim_name[aim], (unsigned long long)out.worlds, (unsigned long long)out.blamed,
	       (unsigned long long)out.messages, (unsigned long long)out.passes);
}

static void test_noise(void) { schedules(NOISE); }
static void test_edge(void) { schedules(EDGE); }
static void test_nulls(void) { schedules(NULLS); }
static void test_yes(void) { schedules(YES); }

/* A world of two, of which the second lies. */
static struct world *two(struct target *t)
{
	struct world_conf conf = { .queue = WORLD_LINK_MAX };
	struct spindle_view v;
	struct world *w;

	memset(&v, 0, sizeof(v));
	v.vid = 1;
	v.num_members = 2;
	v.num_subgroups = 1;
	v.member[0].id = v.member[0].addr.port = 1;
	v.member[1].id = v.member[1].addr.port = 2;
	v.member[0].addr.family = v.member[1].addr.family = 4;
	v.subgroup[0].window = 8;
	v.subgroup[0].max_msg = 100;
	v.subgroup[0].ring = 4096;
	v.subgroup[0].members = v.subgroup[0].senders = 3;
	w = world_open(&v, &conf, 1);
	w->hostile = 1;
	world_activate(w);
	*t = target(w->node[0].group[0], 1);
	return w;
}

/* Does the engine find nothing to do in the end, or give up on the peer? */
static bool comes_to_rest(struct world *w)
{
	u32 i;

	for (i = 0; i < 1000; i++)
		if (!spindle_mc_run(&w->node[0].group[0]->mc, true))
			return true;
	return false;
}

static void test_no_header(void)
{
	u64 word[SPINDLE_BLOCK_WORDS] = { 0 };
	struct target t;
	struct world *w = two(&t);

	word[SPINDLE_COL_SENT] = word[SPINDLE_COL_SLOTS] = 1;
	spindle_block_write(t.block, word);
	CHECK(comes_to_rest(w));
	world_close(w);
}

static void test_no_seal(void)
{
	struct target t;
	struct world *w = two(&t);

	/* The engine does not give up at once, because the CPU that writes may be preempted. */
	t.block->seal = 1;
	CHECK(!comes_to_rest(w));
	t.m->torn_run = SPINDLE_MAX_TORN - 1;
	CHECK(comes_to_rest(w));
	world_close(w);
}

/* The largest value that each word may have, and one more. */
static void test_limits(void)
{
	/* The state: the victim has sent one message, in round 0, and the liar knows of it. */
	static const struct {
		const char *name;
		u64 word[SPINDLE_BLOCK_WORDS]; /* sent, received, delivered, slots */
		bool fits;
	} rows[] = {
		{ "all it can have", { 1, 1, 1, 0 }, true },
		{ "received more than was sent", { 1, 3, 1, 0 }, false },
		{ "delivered more than received", { 1, 0, 1, 0 }, false },
		{ "more messages than rounds", { 0, 0, 0, 1 }, false },
		{ "more messages than the window", { 9, 0, 0, 9 }, false },
		{ "rounds ahead", { 1000, 1, 1, 0 }, true },
		{ "rounds out of the world", { 1ULL << 57, 0, 0, 0 }, false },
		{ "all ones", { U64_MAX, U64_MAX, U64_MAX, U64_MAX }, false },
	};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(rows); i++) {
		struct target t;
		struct world *w = two(&t);
		struct group *g = t.g;

		sender_open(g);
		CHECK(sender_reserve(g, 10, 0));
		sender_commit(g, g->sender->slot - 1, false);
		node_pass(&w->node[0]);
		CHECK(!spindle_push_wanted(&g->mc, 1));
		spindle_block_write(t.block, rows[i].word);
		node_pass(&w->node[0]);
		if (!g->mc.bad != rows[i].fits)
			tap_fail("%s", rows[i].name);
		world_close(w);
	}
}

/*
 * A window without a released slot is full. One more message with a correct header takes the place
 * of an older one, and no other check would notice.
 */
static void test_full_window(void)
{
	static const u64 full[SPINDLE_BLOCK_WORDS] = { 8, 0, 0, 8 }, more[] = { 9, 0, 0, 9 };
	struct target t;
	struct world *w = two(&t);

	CHECK_EQ(headers(&t, 8, 8, &rng, false), 8);
	spindle_block_write(t.block, full);
	node_pass(&w->node[0]);
	CHECK(!t.g->mc.bad);
	CHECK_EQ(t.sd->walk.slot - t.sd->rel_slot, t.g->mc.window);
	CHECK_EQ(headers(&t, 9, 9, &rng, false), 9);
	spindle_block_write(t.block, more);
	node_pass(&w->node[0]);
	CHECK_EQ(t.g->mc.bad, BIT(1));
	world_close(w);
}

/* A message for members 0 and 1 of two is taken, one for member 2 is not. */
static void test_unknown_rank(void)
{
	static const u64 one[SPINDLE_BLOCK_WORDS] = { 1, 0, 0, 1 };
	u64 mask;

	for (mask = 3; mask <= 4; mask++) {
		struct spindle_msg msg = { .mask = mask };
		struct target t;
		struct world *w = two(&t);

		spindle_hdr_write(t.hdr, t.g->mc.window - 1, 0, &msg);
		spindle_block_write(t.block, one);
		node_pass(&w->node[0]);
		CHECK_EQ(t.g->mc.bad, mask == 4 ? BIT(1) : 0);
		world_close(w);
	}
}

/*
 * A message is written to each member separately, and no member compares: this one has another
 * length for each.
 */
static void test_two_faces(void)
{
	static const u64 one[SPINDLE_BLOCK_WORDS] = { 1, 0, 0, 1 };
	struct spindle_msg msg = { .len = 10 };
	struct target t[2];
	struct world *w[2];
	u32 i;

	for (i = 0; i < 2; i++) {
		w[i] = two(&t[i]);
		msg.len += i;
		spindle_hdr_write(t[i].hdr, t[i].g->mc.window - 1, 0, &msg);
		spindle_block_write(t[i].block, one);
		node_pass(&w[i]->node[0]);
		CHECK(!t[i].g->mc.bad);
		CHECK_EQ(t[i].sd->walk.slot, 1);
		CHECK_EQ(t[i].sd->msgs[0].len, 10 + i);
	}
	for (i = 0; i < 2; i++)
		world_close(w[i]);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "each word has its plausible range", test_limits },
		{ "a full window is full", test_full_window },
		{ "a guard without its header costs bounded work", test_no_header },
		{ "a seal that is never right costs bounded work", test_no_seal },
		{ "a header names no rank that there is not", test_unknown_rank },
		{ "a member sends each member another message", test_two_faces },
		{ "a member writes noise", test_noise },
		{ "a member writes the extreme plausible values", test_edge },
		{ "a member opens rounds without end", test_nulls },
		{ "a member receives nothing and claims to have received all", test_yes },
	};

	rng = rng_seed();
	only = tap_env("ONLY", 0);
	return tap_run(cases, ARRAY_SIZE(cases));
}
