// SPDX-License-Identifier: GPL-2.0-only
/*
 * The subgroups of one node together: passes, pushes, and a change of the view step by step. The
 * simulator (selftests/core/sim) runs whole views under faults.
 */
#include "core/group/stream.h"
#include "core/multicast/stage.h"
#include "tap.h"

#define N 3
#define GROUPS 5
#define VID 7
#define TRIMS 16
#define ROW BIT(17)
#define NONE SPINDLE_NO_RANK

static const u64 trim[] = { 1, 2, 4, 5, 10, 11, 20 };

static struct spindle_view view;
static struct spindle_layout in[N], out[N];
static u8 *row[N];
static struct spindle_mb mb;
static struct spindle_mb_row *mb_row[N];
static struct spindle_mg c;
static u64 joined, formed, begun, anew;
static u32 ran[GROUPS], me, forms, connections, room, posts;
static bool told;
static u64 tables; /* subgroups that are tables */
static u64 logged; /* subgroups that have logs */

/* The posts in order: the rank of the receiver, and the subgroup (64: membership). */
static struct {
	u32 rank, index;
} post[32];

static size_t allocated, allocations, fail_at;

static void *zalloc(size_t n, size_t size)
{
	if (++allocations == fail_at)
		return NULL;
	allocated += n * size;
	return calloc(n, size);
}

static const struct spindle_memory memory = { .zalloc = zalloc, .free = (void *)free };

/* ---- operations of the node ------------------------------------------------------ */

static bool op_joined(void *ctx, u32 rank)
{
	return joined & BIT_ULL(rank);
}

static void op_connected(void *ctx)
{
	connections++;
}

static bool op_guest(void *ctx, struct spindle_mg_guest *guest)
{
	return false;
}

static struct spindle_row op_row(void *ctx, u32 rank)
{
	return (struct spindle_row){
		.base = row[rank], .in = &in[rank], .out = rank == me ? NULL : &out[rank],
	};
}

/* Streams of subgroups, without any object under way. */
static struct spindle_streams streams[2 * GROUPS];
static struct spindle_stream stream[2 * GROUPS][N];
static u32 made;

static bool stream_lost(struct spindle_rdmc *r, u32 m)
{
	return false;
}

static const struct spindle_streams_ops streams_ops = { .lost = stream_lost };

static struct spindle_streams *make_streams(const struct spindle_view *v, u32 index,
					    struct spindle_mc *mc)
{
	struct spindle_streams *ss = &streams[made];

	memset(stream[made], 0, sizeof(stream[made]));
	*ss = (struct spindle_streams){
		.ops = &streams_ops, .mg = &c, .mc = mc, .stream = stream[made],
	};
	made++;
	spindle_streams_init(ss, v, index, 4096);
	return ss;
}

static struct spindle_mc *make(const struct spindle_view *v, u32 index)
{
	struct spindle_mc *mc = calloc(1, sizeof(*mc));

	CHECK_EQ(spindle_mc_create(mc, v, index, me, NULL, c.mc[index], &memory), 0);
	spindle_mc_wire(mc, v, index, op_row, NULL);
	return mc;
}

static struct spindle_mc *op_made(void *ctx, u32 index, struct spindle_streams **streams,
				  struct spindle_tb **tb)
{
	struct spindle_mc *mc = make(spindle_mb_view(&mb), index);

	*tb = NULL;
	/* Only a subgroup that had streams before gets new ones. */
	*streams = made ? make_streams(spindle_mb_view(&mb), index, mc) : NULL;
	return mc;
}

static void op_begun(void *ctx, u32 index, struct spindle_mc *old)
{
	begun |= BIT_ULL(index);
	if (old) {
		spindle_mc_destroy(old, &memory);
		free(old);
	} else {
		anew |= BIT_ULL(index);
	}
}

static void op_formed(void *ctx, u32 index)
{
	formed |= BIT_ULL(index);
	forms++;
}

static void op_ran(void *ctx, u32 index, bool work)
{
	ran[index]++;
}

static bool op_told(void *ctx)
{
	return told;
}

static u32 op_room(void *ctx, u32 rank, u32 writes)
{
	return min(room, writes);
}

static void op_post(void *ctx, u32 rank, const struct spindle_write *write, u32 n,
		    bool membership)
{
	CHECK(n);
	post[posts % 32].rank = rank;
	post[posts++ % 32].index = membership ? 64 : write[n - 1].imm >> SPINDLE_IMM_SHIFT;
}

static const struct spindle_mg_ops ops = {
	.joined = op_joined, .connected = op_connected, .guest = op_guest, .row = op_row,
	.made = op_made, .begun = op_begun,
	.formed = op_formed, .ran = op_ran, .told = op_told, .room = op_room, .post = op_post,
};

static void op_none(void *ctx)
{
}

static bool op_flushed(void *ctx, u32 rank)
{
	return true;
}

static const struct spindle_mb_ops mb_ops = {
	.wedge = op_none, .stopped = op_none, .flushed = op_flushed,
};

static void set_layout(const struct spindle_view *v)
{
	u32 r;

	for (r = 0; r < v->num_members; r++) {
		spindle_layout_row(&in[r], v, r, me);
		spindle_layout_row(&out[r], v, me, r);
	}
}

static void subgroup(struct spindle_view *v, u32 index, u64 members, u64 senders)
{
	v->subgroup[index] = (struct spindle_view_subgroup){
		.id = 40 + index, .window = 8, .max_msg = 100, .ring = 4096,
		.members = members, .senders = senders,
		.log = logged & BIT_ULL(index) ? SPINDLE_LOGGED : 0,
	};
	if (tables & BIT_ULL(index)) {
		v->subgroup[index].mode = SPINDLE_MODE_TABLE;
		v->subgroup[index].window = 5;
		v->subgroup[index].max_msg = 64;
		v->subgroup[index].senders = 0;
	}
	v->num_subgroups = GROUPS;
}

/* This node is rank 1 of three, in subgroups 0, 1 and 3. */
static void open_live(bool live)
{
	u32 i;

	memset(&mb, 0, sizeof(mb));
	view = (struct spindle_view){ .vid = VID, .num_members = N };
	for (i = 0; i < N; i++) {
		view.member[i].id = 21 + i;
		row[i] = calloc(1, ROW);
		mb_row[i] = calloc(1, spindle_mb_row_bytes(TRIMS));
		mb.peer[i].row = mb_row[i];
		mb.peer[i].vid = VID;
	}
	subgroup(&view, 0, 7, 3);
	subgroup(&view, 1, 6, 6);
	subgroup(&view, 2, 5, 5);
	subgroup(&view, 3, 3, 1);
	subgroup(&view, 4, 0, 0);
	mb.ops = &mb_ops;
	mb.trims = TRIMS;
	mb.row = mb_row[1];
	CHECK_EQ(spindle_mb_init(&mb, &view, 1, 1), 0);
	c = (struct spindle_mg){ .ops = &ops, .view = &view, .me = 1 };
	if (live) {
		c.mb = &mb;
		c.view = spindle_mb_view(&mb);
	}
	me = 1;
	joined = 0;
	formed = 0;
	begun = 0;
	anew = 0;
	forms = 0;
	connections = 0;
	posts = 0;
	made = 0;
	room = 64;
	told = false;
	memset(ran, 0, sizeof(ran));
	set_layout(&view);
	for (i = 0; i < GROUPS; i++)
		if (view.subgroup[i].members & BIT_ULL(1))
			c.mc[i] = make(&view, i);
}

static void end(void)
{
	u32 i;

	for (i = 0; i < GROUPS; i++) {
		if (!c.mc[i])
			continue;
		spindle_mc_destroy(c.mc[i], &memory);
		free(c.mc[i]);
	}
	for (i = 0; i < N; i++) {
		free(row[i]);
		free(mb_row[i]);
	}
}

/* All subgroups run, and membership runs as well. */
static void run_live(void)
{
	u32 i;

	open_live(true);
	c.formed = true;
	for (i = 0; i < GROUPS; i++)
		if (c.mc[i])
			c.mc[i]->formed = true;
}

static void clean(void)
{
	u32 i, r;

	for (i = 0; i < GROUPS; i++)
		for (r = 0; c.mc[i] && r < c.mc[i]->members; r++)
			c.mc[i]->member[r].dirty = false;
}

/* ---- connections ------------------------------------------------------------------ */

/* In a static view each subgroup waits for its own members, once. */
static void test_form_static(void)
{
	open_live(false);
	spindle_mg_pass(&c, true, false);
	CHECK_EQ(formed, 0);
	joined = BIT_ULL(0);
	CHECK(spindle_mg_pass(&c, true, false));
	CHECK_EQ(formed, BIT_ULL(3));
	CHECK(spindle_mg_has_begun(&c, 0, VID, false));
	CHECK(!spindle_mg_has_begun(&c, 2, VID, false));
	joined = BIT_ULL(0) | BIT_ULL(2);
	spindle_mg_pass(&c, true, false);
	CHECK_EQ(formed, BIT_ULL(0) | BIT_ULL(1) | BIT_ULL(3));
	spindle_mg_pass(&c, true, false);
	CHECK_EQ(forms, 3);
	end();
}

static void test_form_live(void)
{
	u32 r;

	open_live(true);
	joined = BIT_ULL(2);
	mb.state = SPINDLE_MB_JOINING;
	spindle_mg_run(&c, 50);
	CHECK(!c.formed);
	joined = BIT_ULL(0) | BIT_ULL(2);
	spindle_mg_run(&c, 60);
	CHECK(!c.formed);
	spindle_mg_pass(&c, true, false);
	CHECK_EQ(formed, 0);
	told = true;
	CHECK_EQ(connections, 0);
	spindle_mg_run(&c, 70);
	CHECK(c.formed);
	CHECK_EQ(mb.ran_at, 70);
	for (r = 0; r < N; r++)
		CHECK_EQ(mb.peer[r].heard, U64_MAX);
	/*
	 * A member that loses its connection later becomes suspected, and the view does not wait
	 * for it.
	 */
	joined = 0;
	spindle_mg_pass(&c, true, false);
	CHECK_EQ(formed, BIT_ULL(0) | BIT_ULL(1) | BIT_ULL(3));
	spindle_mg_run(&c, 80);
	CHECK_EQ(connections, 1);
	end();
	/* A member, other than a joiner, begins before its writes are complete. */
	open_live(true);
	joined = BIT_ULL(0) | BIT_ULL(2);
	CHECK(!spindle_mg_run(&c, 50));
	CHECK_EQ(mb.ran_at, 50);
	end();
	open_live(true);
	joined = BIT_ULL(0) | BIT_ULL(2);
	mb.state = SPINDLE_MB_STOPPED;
	CHECK(!spindle_mg_run(&c, 50));
	CHECK(!c.formed);
	end();
}

static void test_lost(void)
{
	open_live(true);
	spindle_mg_lost(&c, 2, SPINDLE_MB_GONE);
	CHECK_EQ(mb.state, SPINDLE_MB_STOPPED);
	CHECK_EQ(mb.reason, SPINDLE_MB_LOST);
	end();
	open_live(true);
	mb.state = SPINDLE_MB_JOINING;
	spindle_mg_lost(&c, 2, SPINDLE_MB_LOST);
	CHECK_EQ(mb.state, SPINDLE_MB_JOINING);
	CHECK_EQ(mb.doubted, BIT_ULL(2));
	end();
	run_live();
	spindle_mg_lost(&c, 2, SPINDLE_MB_GONE);
	CHECK_EQ(mb.closed, BIT_ULL(2));
	CHECK_EQ(mb.suspected, 0);
	spindle_mg_lost(&c, 0, SPINDLE_MB_LIED);
	CHECK_EQ(mb.suspected, BIT_ULL(0));
	CHECK_EQ(mb.peer[0].reason, SPINDLE_MB_LIED);
	end();
}

static void test_begun(void)
{
	run_live();
	CHECK(spindle_mg_has_begun(&c, 2, VID, false));
	CHECK(!spindle_mg_has_begun(&c, 2, VID + 1, true));
	mb.peer[2].phase = SPINDLE_MB_COMMITTED;
	CHECK(spindle_mg_has_begun(&c, 2, VID + 1, true));
	CHECK(!spindle_mg_has_begun(&c, 2, VID + 1, false));
	mb.state = SPINDLE_MB_JOINING;
	CHECK(!spindle_mg_has_begun(&c, 2, VID, false));
	mb.state = SPINDLE_MB_STOPPED;
	CHECK(!spindle_mg_has_begun(&c, 2, VID, false));
	mb.state = SPINDLE_MB_ACTIVE;
	c.formed = false;
	CHECK(!spindle_mg_has_begun(&c, 2, VID, false));
	end();
}

/* ---- a pass -------------------------------------------------------------------------- */

/* A subgroup is hot until 64 passes have found nothing. Passes look at cold ones in turn. */
static void test_hot(void)
{
	u32 i;

	open_live(false);
	spindle_mg_touch(&c, 0);
	spindle_mg_touch(&c, 3);
	CHECK_EQ(c.hot, BIT_ULL(0) | BIT_ULL(3));
	CHECK_EQ(c.push, BIT_ULL(0) | BIT_ULL(3));
	c.mc[3]->tune.switches &= ~SPINDLE_SW_TRACKING;
	for (i = 0; i < 64; i++)
		CHECK(!spindle_mg_pass(&c, false, false));
	CHECK_EQ(c.hot, BIT_ULL(0) | BIT_ULL(3));
	CHECK_EQ(ran[0], 64);
	spindle_mg_pass(&c, false, false);
	CHECK_EQ(c.hot, BIT_ULL(3));
	spindle_mg_touch(&c, 0);
	for (i = 0; i < 64; i++)
		spindle_mg_pass(&c, false, false);
	CHECK_EQ(c.hot, BIT_ULL(0) | BIT_ULL(3));
	/* Cold subgroups: each pass looks at two, and all get the same number of looks. */
	c.hot = 0;
	memset(ran, 0, sizeof(ran));
	for (i = 0; i < GROUPS; i++)
		spindle_mg_pass(&c, false, false);
	CHECK_EQ(ran[0], 2);
	CHECK_EQ(ran[1], 2);
	CHECK_EQ(ran[3], 2);
	CHECK_EQ(ran[2] + ran[4], 0);
	spindle_mg_pass(&c, true, false);
	CHECK_EQ(ran[0] + ran[1] + ran[3], 9);
	/* A cold subgroup in which something happens is hot from then on. */
	c.hot = 0;
	c.push = 0;
	joined = BIT_ULL(0);
	CHECK(spindle_mg_pass(&c, true, false));
	CHECK_EQ(c.hot, BIT_ULL(3));
	CHECK_EQ(c.push, BIT_ULL(3));
	end();
}

static void wait_for_ack(void)
{
	struct spindle_mc *mc = c.mc[0];

	clean();
	c.push = 0;
	c.lazy = BIT_ULL(0);
	mc->own.lazy = true;
	mc->own.word[SPINDLE_COL_DELIVERED]++;
	mc->member[0].told_delivered = mc->own.word[SPINDLE_COL_DELIVERED];
}

/* A push that can wait goes out in an idle pass, or in each 64th pass. */
static void test_lazy(void)
{
	u32 i;

	run_live();
	for (i = 0; i < 100; i++)
		spindle_mg_pass(&c, true, false);
	wait_for_ack();
	c.passes = 64;
	for (i = 0; i < 63; i++)
		CHECK(!spindle_mg_pass(&c, true, false));
	CHECK_EQ(c.push, 0);
	CHECK(spindle_mg_pass(&c, true, false));
	CHECK_EQ(c.push, BIT_ULL(0));
	CHECK(!c.mc[0]->member[0].dirty && c.mc[0]->member[2].dirty);
	wait_for_ack();
	CHECK(spindle_mg_pass(&c, true, true));
	CHECK_EQ(c.push, BIT_ULL(0));
	CHECK_EQ(c.lazy, 0);
	/* A pass that does work notes that a push may wait. */
	c.mc[1]->formed = false;
	c.mc[1]->own.lazy = true;
	spindle_mg_pass(&c, true, false);
	CHECK_EQ(c.lazy, BIT_ULL(1));
	/* A subgroup that has nothing to say keeps no other one from it. */
	clean();
	c.push = 0;
	c.lazy = BIT_ULL(0) | BIT_ULL(1);
	c.mc[0]->own.lazy = false;
	c.mc[1]->own.lazy = true;
	c.mc[1]->own.word[SPINDLE_COL_DELIVERED]++;
	CHECK(spindle_mg_pass(&c, true, true));
	CHECK(c.push & BIT_ULL(1));
	/* A subgroup that drains is work for one pass. */
	for (i = 0; i < 100; i++)
		spindle_mg_pass(&c, true, true);
	c.draining = true;
	CHECK(spindle_mg_pass(&c, true, true));
	CHECK(!spindle_mg_pass(&c, true, true));
	end();
}

/* ---- push ---------------------------------------------------------------------------- */

static void dirty(u32 index, u32 member)
{
	c.mc[index]->member[member].dirty = true;
	spindle_mg_touch(&c, index);
}

static void test_push(void)
{
	run_live();
	mb.beat = 1;
	dirty(0, 0);
	dirty(1, 1);
	dirty(3, 0);
	/* The messages leave room for membership, which does not wait for them. */
	room = SPINDLE_PUSH_LEAST + SPINDLE_MB_PUSH_MAX - 1;
	CHECK(spindle_mg_push(&c, 0, 0));
	CHECK_EQ(posts, 1);
	CHECK_EQ(post[0].index, 64);
	posts = 0;
	mb.beat++;
	room = SPINDLE_PUSH_LEAST + SPINDLE_MB_PUSH_MAX;
	CHECK(!spindle_mg_push(&c, 0, 0));
	/* Membership comes behind the messages. */
	CHECK_EQ(posts, 3);
	CHECK_EQ(post[0].index, 0);
	CHECK_EQ(post[1].index, 3);
	CHECK_EQ(post[2].index, 64);
	CHECK_EQ(post[0].rank + post[1].rank + post[2].rank, 0);
	CHECK(!spindle_mg_push(&c, 0, 0));
	CHECK_EQ(posts, 3);
	/* The push forgets a subgroup only if no member misses anything of it. */
	spindle_mg_pushed(&c);
	CHECK_EQ(c.push, BIT_ULL(1));
	CHECK(!spindle_mg_push(&c, 2, 0));
	CHECK_EQ(posts, 5);
	CHECK_EQ(post[3].index, 1);
	spindle_mg_pushed(&c);
	CHECK_EQ(c.push, 0);
	/* There is less room than membership may need. */
	mb.beat++;
	room = SPINDLE_MB_PUSH_MAX - 1;
	CHECK(spindle_mg_push(&c, 2, 0));
	CHECK_EQ(posts, 5);
	end();
}

/* A member that has not reached the view gets messages only of subgroups that stay. */
static void test_push_closed(void)
{
	run_live();
	dirty(0, 2);
	dirty(1, 1);
	mb.peer[2].vid = VID - 1;
	c.mc[1]->epoch = SPINDLE_EPOCH_STAYED;
	mb.beat = 1;
	CHECK(!spindle_mg_push(&c, 2, 0));
	CHECK_EQ(posts, 2);
	CHECK_EQ(post[0].index, 1);
	CHECK_EQ(post[1].index, 64);
	mb.peer[2].vid = VID;
	mb.beat++;
	mb.state = SPINDLE_MB_JOINING;
	CHECK(!spindle_mg_push(&c, 2, 0));
	CHECK_EQ(posts, 2);
	mb.state = SPINDLE_MB_ACTIVE;
	c.formed = false;
	CHECK(!spindle_mg_push(&c, 2, 0));
	CHECK_EQ(posts, 2);
	c.formed = true;
	c.mc[0]->ended = true;
	CHECK(!spindle_mg_push(&c, 2, 0));
	CHECK_EQ(posts, 3);
	CHECK_EQ(post[2].index, 64);
	end();
}

/* ---- change ---------------------------------------------------------------------------- */

/* Receive and deliver as many messages as the trim says. */
static void receive(void)
{
	u32 i, s;

	for (i = 0; i < GROUPS; i++) {
		for (s = 0; c.mc[i] && s < c.mc[i]->senders; s++) {
			struct spindle_mc_sender *sd = &c.mc[i]->sender[s];

			sd->walk.slot = trim[spindle_decree_trim_at(&view, i) + s];
			sd->dlv_slot = sd->walk.slot;
			sd->rel_slot = sd->walk.slot;
		}
	}
}

static void test_flushed(void)
{
	run_live();
	clean();
	/* Make this node a sender there, too. */
	c.mc[3]->my_sender = 0;
	spindle_mg_wedge(&c);
	CHECK_EQ(c.mc[0]->epoch, SPINDLE_EPOCH_WEDGED);
	CHECK_EQ(c.mc[1]->epoch, SPINDLE_EPOCH_WEDGED);
	CHECK_EQ(c.mc[3]->epoch, SPINDLE_EPOCH_WEDGED);
	CHECK(spindle_mg_flushed(&c, 0) && spindle_mg_flushed(&c, 2));
	c.mc[1]->own.word[SPINDLE_COL_SLOTS] = 1;
	CHECK(spindle_mg_flushed(&c, 0));
	CHECK(!spindle_mg_flushed(&c, 2));
	c.mc[1]->member[1].push_slot = 1;
	CHECK(spindle_mg_flushed(&c, 2));
	c.mc[0]->member[0].dirty = true;
	CHECK(!spindle_mg_flushed(&c, 0));
	CHECK(spindle_mg_flushed(&c, 2));
	end();
}

static void test_freeze(void)
{
	u64 have[ARRAY_SIZE(trim)];
	u32 i;

	run_live();
	receive();
	memset(have, 0xff, sizeof(have));
	spindle_mg_wedge(&c);
	spindle_mg_freeze(&c, have);
	CHECK_EQ(c.mc[0]->epoch, SPINDLE_EPOCH_FROZEN);
	CHECK_EQ(c.mc[1]->epoch, SPINDLE_EPOCH_FROZEN);
	CHECK_EQ(c.mc[3]->epoch, SPINDLE_EPOCH_FROZEN);
	for (i = 0; i < ARRAY_SIZE(trim); i++)
		CHECK_EQ(have[i], i == 4 || i == 5 ? 0 : trim[i]);
	end();
}

/* Member 0 goes, and node 24 joins. Node 24 is in subgroups 0 and 2. */
static void decide(void)
{
	struct spindle_view *next = &mb.view[!mb.now];
	u64 have[ARRAY_SIZE(trim)];

	*next = (struct spindle_view){ .vid = VID + 1, .num_members = N };
	next->member[0].id = 22;
	next->member[1].id = 23;
	next->member[2].id = 24;
	subgroup(next, 0, 7, 7);
	subgroup(next, 1, 3, 3);
	subgroup(next, 2, 7, 3);
	subgroup(next, 3, 6, 2);
	subgroup(next, 4, 5, 5);
	mb.state = SPINDLE_MB_COMMITTED;
	spindle_mb_own_decree(&mb)[SPINDLE_DECREE_SURVIVORS] = 6;
	receive();
	spindle_mg_wedge(&c);
	spindle_mg_freeze(&c, have);
	c.hot = 0;
	c.push = 0;
}

static void test_trim(void)
{
	u64 wrong[ARRAY_SIZE(trim)];

	run_live();
	decide();
	CHECK(spindle_mg_goes_on(&c));
	CHECK(spindle_mg_trim(&c, trim));
	CHECK_EQ(c.stays, BIT_ULL(1));
	CHECK_EQ(c.mc[1]->epoch, SPINDLE_EPOCH_STAYED);
	CHECK_EQ(c.mc[0]->epoch, SPINDLE_EPOCH_FROZEN);
	CHECK_EQ(c.hot, BIT_ULL(1));
	CHECK_EQ(c.push, BIT_ULL(1));
	/* Each subgroup has its own trim. A subgroup that stays has none. */
	memcpy(wrong, trim, sizeof(trim));
	wrong[2] = 99;
	CHECK(spindle_mg_trim(&c, wrong));
	wrong[6] = 21;
	CHECK(!spindle_mg_trim(&c, wrong));
	/* If this node does not go on, no subgroup stays. */
	mb.leaving = true;
	CHECK(!spindle_mg_goes_on(&c));
	CHECK(spindle_mg_trim(&c, trim));
	CHECK_EQ(c.stays, 0);
	mb.leaving = false;
	spindle_mb_own_decree(&mb)[SPINDLE_DECREE_SURVIVORS] = 5;
	CHECK(!spindle_mg_goes_on(&c));
	mb.state = SPINDLE_MB_JOINING;
	CHECK(spindle_mg_goes_on(&c));
	end();
}

static void test_drain(void)
{
	run_live();
	decide();
	CHECK(spindle_mg_trim(&c, trim));
	c.hot = 0;
	c.mc[1]->sender[0].head = 0;
	CHECK(spindle_mg_drain(&c));
	CHECK_EQ(c.hot, 0);
	/* One subgroup has messages left, and the others are drained. */
	c.mc[0]->sender[0].head = 0;
	c.mc[0]->deliver.stable = 0;
	c.mc[3]->deliver.settle = true;
	CHECK(!spindle_mg_drain(&c));
	CHECK_EQ(c.hot, BIT_ULL(0));
	CHECK(!c.mc[3]->deliver.settle);
	CHECK(c.draining);
	/* Another subgroup waits for its readers, and only that is no work. */
	c.mc[3]->sender[0].head = 0;
	c.mc[3]->deliver.stable = 0;
	c.mc[3]->deliver.blocked = true;
	c.draining = false;
	CHECK(!spindle_mg_drain(&c));
	CHECK(c.draining);
	c.mc[0]->deliver.blocked = true;
	c.draining = false;
	CHECK(!spindle_mg_drain(&c));
	CHECK(!c.draining);
	end();
}

static void install(void)
{
	static const u32 from[N] = { 1, 2, NONE };

	mb.now = !mb.now;
	mb.me = 0;
	mb.state = SPINDLE_MB_ACTIVE;
	me = 0;
	set_layout(spindle_mb_view(&mb));
	mb.view[mb.now].subgroup[0].former = 600;
	mb.view[mb.now].subgroup[2].former = 700;
	spindle_mg_install(&c, from, trim);
}

static void test_install(void)
{
	struct spindle_mc *stays;
	u32 r, i;

	run_live();
	decide();
	CHECK(spindle_mg_trim(&c, trim));
	stays = c.mc[1];
	for (r = 0; r < N; r++)
		memset(row[r], 0x77, ROW);
	install();
	CHECK(c.view == spindle_mb_view(&mb));
	CHECK_EQ(c.me, 0);
	CHECK_EQ(c.stays, 0);
	CHECK_EQ(c.hot, U64_MAX);
	CHECK_EQ(c.push, U64_MAX);
	CHECK_EQ(begun, BIT_ULL(0) | BIT_ULL(2) | BIT_ULL(3) | BIT_ULL(4));
	CHECK_EQ(anew, BIT_ULL(2) | BIT_ULL(4));
	CHECK(c.mc[1] == stays && !c.mc[3]);
	/* Readers that were attached before get the announcement of the view. */
	CHECK_EQ(c.mc[0]->deliver.vid_due, VID + 1);
	CHECK_EQ(c.mc[2]->deliver.vid_due, 0);
	/* Senders go on where they were, whatever their rank is now. New senders begin at 0. */
	CHECK_EQ(c.mc[0]->sender[0].walk.slot, 2);
	CHECK_EQ(c.mc[0]->sender[1].walk.slot, 0);
	CHECK_EQ(c.mc[0]->sender[2].walk.slot, 0);
	CHECK_EQ(c.mc[2]->sender[0].walk.slot, 0);
	CHECK_EQ(c.mc[2]->sender[1].walk.slot, 11);
	CHECK_EQ(c.mc[4]->sender[0].walk.slot, 0);
	/* Positions go on behind the messages of former senders, and those of the present ones. */
	CHECK_EQ(c.mc[0]->deliver.lsn, 600 + 2);
	CHECK_EQ(c.mc[2]->deliver.lsn, 700 + 11);
	/* Blocks and places for express are cleared, except in the subgroup that stays. */
	for (r = 0; r < N; r++) {
		for (i = 0; i < GROUPS; i++) {
			struct spindle_block *b = (void *)(row[r] + spindle_layout_block(i));

			CHECK_EQ(!b->seal, i != 1);
			if (in[r].hdr[i] != SPINDLE_NO_OFFSET) {
				struct spindle_express *x =
					(void *)(row[r] + spindle_layout_express(&in[r], i));

				CHECK_EQ(!x->pay[0], i != 1);
				CHECK_EQ(!x->seal, i != 1);
			}
		}
	}
	end();
}

static u8 *place(u32 rank, u32 index)
{
	return row[rank] + in[rank].hdr[index];
}

/* A table begins in rows where something else was. What is not its own stays. */
static void test_clear(void)
{
	u32 vouch[GROUPS] = { 9, 8, 7, 6, 5 };
	struct spindle_row of;

	tables = 3;
	run_live();
	memset(row[2], 0x77, ROW);
	of = op_row(NULL, 2);
	spindle_tb_clear(&of, &view, BIT_ULL(1));
	CHECK_EQ(row[2][in[2].pay[1]], 0);
	CHECK_EQ(row[2][in[2].pay[1] + view.subgroup[1].ring - 1], 0);
	CHECK_EQ(place(2, 1)[0], 0);
	CHECK_EQ(row[2][in[2].pay[0]], 0x77);
	CHECK_EQ(*place(2, 0), 0x77);
	of.vouch = vouch;
	spindle_tb_clear(&of, &view, BIT_ULL(1));
	CHECK_EQ(vouch[1], 0);
	CHECK_EQ(vouch[0], 9);
	CHECK_EQ(vouch[2], 7);
	tables = 0;
	end();
}

/* Table 0 loses a member and gets another one, and table 1 keeps its members. */
static void test_tables(void)
{
	struct spindle_mc *stays;
	struct spindle_row of;
	u32 r, i;

	tables = 3;
	run_live();
	for (i = 0; i < 2; i++) {
		CHECK_EQ(c.mc[i]->senders, 0);
		CHECK_EQ(c.mc[i]->window, 1);
		CHECK_EQ(c.mc[i]->my_sender, NONE);
		CHECK(!c.mc[i]->ordered && !c.mc[i]->lacking);
		CHECK(spindle_mc_runs(c.mc[i]));
		/* Nobody sends, so no visit finds or makes any message. */
		spindle_receive_trigger(c.mc[i]);
		spindle_release_trigger(c.mc[i]);
		CHECK(!spindle_receive_test(c.mc[i]) && !spindle_send_test(c.mc[i]));
		CHECK(!spindle_deliver_test(c.mc[i]) && !spindle_release_test(c.mc[i]));
		CHECK_EQ(c.mc[i]->own.word[SPINDLE_COL_RECEIVED], 0);
	}
	decide();
	CHECK(spindle_mg_trim(&c, trim));
	CHECK_EQ(c.stays, BIT_ULL(1));
	CHECK(spindle_mg_drain(&c));
	stays = c.mc[1];
	for (r = 0; r < N; r++)
		memset(row[r], 0x77, ROW);
	install();
	CHECK(c.mc[1] == stays && c.mc[0] && c.mc[0] != stays);
	CHECK_EQ(begun & 3, 1);
	CHECK_EQ(c.mc[0]->members, 3);
	CHECK_EQ(c.mc[0]->senders, 0);
	CHECK_EQ(c.mc[0]->deliver.lsn, 0);
	/* What belongs to a table in a row is not cleared, and no bytes in front of it. */
	for (r = 0; r < N; r++) {
		CHECK(!((struct spindle_block *)(row[r] + spindle_layout_block(0)))->seal);
		CHECK_EQ(*place(r, 0), 0x77);
		CHECK_EQ(place(r, 0)[-1], 0x77);
		CHECK_EQ(row[r][in[r].pay[0]], 0x77);
	}
	/* A closed subgroup may have been a table. */
	of = op_row(NULL, 0);
	spindle_mc_clear(&of, 1, BIT_ULL(0), 0);
	CHECK_EQ(place(0, 0)[-1], 0x77);
	spindle_mc_clear(&of, 1, BIT_ULL(0), BIT_ULL(0));
	CHECK_EQ(place(0, 0)[-1], 0);
	tables = 0;
	end();
}

/* The first view follows views of earlier eras. Each subgroup with logs gets its own ones. */
static void test_follow(void)
{
	static struct {
		struct spindle_ranges all;
		struct spindle_range_view view[3];
	} r;
	static const u32 node[] = { 22, 24, 25 };

	logged = BIT_ULL(0) | BIT_ULL(3);
	CHECK(!spindle_ranges_add(&r.all, 43, node, 1));
	CHECK(!spindle_ranges_add(&r.all, 40, node, 2));
	CHECK(!spindle_ranges_add(&r.all, 40, node, 3));
	run_live();
	spindle_mg_start(&c, &r.all);
	CHECK_EQ(c.mc[0]->durable->views, 3);
	CHECK_EQ(c.mc[0]->durable->view[0].members, 2);
	CHECK_EQ(c.mc[0]->durable->view[1].node[2], 25);
	CHECK_EQ(c.mc[0]->durable->view[2].node[0], 21);
	CHECK_EQ(c.mc[3]->durable->views, 2);
	CHECK_EQ(c.mc[3]->durable->view[0].node[0], 22);
	CHECK(!c.mc[1]->durable);
	end();
	run_live();
	spindle_mg_start(&c, NULL);
	CHECK_EQ(c.mc[0]->durable->views, 1);
	CHECK(c.mc[0]->durable->known && c.mc[0]->durable->first);
	logged = 0;
	end();
}

/* Mark all blocks of the stopped streams as complete: no device writes any more. */
static void calm(struct spindle_streams *ss)
{
	u32 s;

	for (s = 0; s < ss->mc->senders; s++)
		ss->stream[s].r.state = SPINDLE_RDMC_S_FAILED;
}

static void test_streams(void)
{
	u32 i;

	run_live();
	for (i = 0; i < GROUPS; i++)
		if (c.mc[i])
			c.streams[i] = make_streams(c.view, i, c.mc[i]);
	/* One subgroup has failed before the view began. */
	c.mc[3]->ended = true;
	spindle_mg_start(&c, NULL);
	CHECK_EQ(c.streams[0]->vid, VID);
	CHECK(!c.streams[0]->stayed);
	CHECK_EQ(c.streams[1]->vid, VID);
	CHECK_EQ(c.streams[3]->vid, 0);
	c.mc[3]->ended = false;
	/* The streams stop with the view. No member counts as flushed before they are quiet. */
	CHECK_EQ(stream[1][1].r.state, SPINDLE_RDMC_S_OPEN);
	decide();
	CHECK(stream[0][0].r.state > SPINDLE_RDMC_S_OPEN);
	CHECK(stream[1][1].r.state > SPINDLE_RDMC_S_OPEN);
	clean();
	CHECK(!spindle_mg_flushed(&c, 0));
	CHECK(!spindle_mg_flushed(&c, 2));
	calm(c.streams[1]);
	CHECK(!spindle_mg_flushed(&c, 2));
	/* A device may still write into the rings of a subgroup that has failed. */
	c.mc[0]->ended = true;
	CHECK(!spindle_mg_flushed(&c, 2));
	c.mc[0]->ended = false;
	calm(c.streams[0]);
	CHECK(spindle_mg_flushed(&c, 0) && spindle_mg_flushed(&c, 2));
	/*
	 * The streams of a subgroup that stays go on with the next view. The others wait until it
	 * is installed.
	 */
	CHECK(spindle_mg_trim(&c, trim));
	CHECK_EQ(c.streams[1]->vid, VID + 1);
	CHECK(c.streams[1]->stayed);
	CHECK_EQ(c.streams[0]->vid, VID);
	install();
	CHECK(c.streams[1] == &streams[1] && c.streams[1]->stayed);
	CHECK(c.streams[0] != &streams[0]);
	for (i = 0; i < GROUPS; i++) {
		CHECK(!c.streams[i] == !c.mc[i]);
		if (!c.streams[i] || i == 1)
			continue;
		CHECK_EQ(c.streams[i]->vid, VID + 1);
		CHECK(!c.streams[i]->stayed && c.streams[i]->mc == c.mc[i]);
	}
	end();
}

/* ---- wire ---------------------------------------------------------------------------- */

static void test_create(void)
{
	struct spindle_mc mc, old;
	u32 i;

	run_live();
	CHECK_EQ(c.mc[3]->my_sender, NONE);
	CHECK_EQ(c.mc[3]->me, 1);
	CHECK_EQ(c.mc[1]->my_sender, 0);
	CHECK_EQ(c.mc[0]->my_sender, 1);
	view.subgroup[0].hold = 1;
	view.subgroup[0].mode = SPINDLE_MODE_ORDERED;
	view.subgroup[0].former = 500;
	memset(&old, 0, sizeof(old));
	old.deliver.log_mask = 127;
	for (i = 1; i <= 6; i++) {
		memset(&mc, 0, sizeof(mc));
		allocations = 0;
		allocated = 0;
		fail_at = i;
		CHECK_EQ(spindle_mc_create(&mc, &view, 0, 1, NULL, &old, &memory),
			 i <= 5 ? -ENOMEM : 0);
		if (i == 6) {
			CHECK_EQ(spindle_mc_bytes(&mc), allocated);
			CHECK_EQ(mc.deliver.log_mask, 127);
			CHECK(mc.deliver.hold && mc.ordered);
			CHECK_EQ(mc.deliver.lsn, 500);
			CHECK_EQ(mc.send.txq.wmask, 7);
			CHECK_EQ(mc.send.txq.ring_units, 4096 / SPINDLE_UNIT);
			CHECK_EQ(mc.send.txq.max_msg, 100);
		}
		spindle_mc_destroy(&mc, &memory);
	}
	fail_at = 0;
	/* Messages without an order, of a single sender. */
	memset(&mc, 0, sizeof(mc));
	view.subgroup[3].mode = SPINDLE_MODE_UNORDERED;
	view.subgroup[3].former = 500;
	CHECK_EQ(spindle_mc_create(&mc, &view, 3, 1, NULL, NULL, &memory), 0);
	CHECK_EQ(mc.senders, 1);
	CHECK(!mc.ordered);
	CHECK_EQ(mc.deliver.lsn, 0);
	spindle_mc_destroy(&mc, &memory);
	end();
}

static void test_lacking(void)
{
	static struct spindle_rules rules = { .num_rules = 1, .rule[0] = { .shards = 1 } };
	struct spindle_mc mc;
	u32 more;

	run_live();
	for (more = 0; more < 2; more++) {
		rules.rule[0].min = hweight64(view.subgroup[0].members) + more;
		memset(&mc, 0, sizeof(mc));
		CHECK_EQ(spindle_mc_create(&mc, &view, 0, 1, &rules, NULL, &memory), 0);
		CHECK_EQ(mc.lacking, more);
		spindle_mc_destroy(&mc, &memory);
	}
	end();
}

static u32 vouch[GROUPS];

static struct spindle_row vouched_row(void *ctx, u32 rank)
{
	struct spindle_row of = op_row(ctx, rank);

	of.vouch = vouch;
	return of;
}

static void test_wire(void)
{
	const struct spindle_mc_member *m;
	struct spindle_mc *mc;

	run_live();
	mc = c.mc[1];
	m = &mc->member[1];
	CHECK(mc->own.block == (void *)(row[1] + spindle_layout_block(1)));
	CHECK(m->block == (void *)(row[2] + spindle_layout_block(1)));
	CHECK_EQ(mc->own.hdr, in[1].hdr[1]);
	CHECK_EQ(m->remote_block, spindle_layout_block(1));
	CHECK_EQ(m->remote_hdr, out[2].hdr[1]);
	CHECK_EQ(m->remote_pay, out[2].pay[1]);
	CHECK_EQ(m->remote_express, spindle_layout_express(&out[2], 1));
	CHECK(m->express == (void *)(row[2] + spindle_layout_express(&in[2], 1)));
	CHECK(!m->vouch && !mc->member[0].express);
	CHECK_EQ(mc->sender[1].member, 1);
	CHECK(mc->sender[1].pay == row[2] + in[2].pay[1]);
	CHECK_EQ(mc->sender[1].walk.wmask, 7);
	CHECK_EQ(mc->sender[1].walk.max_msg, 100);
	CHECK(mc->sender[1].msgs == mc->msgs + 8);
	/* A member that only receives has no ring, neither here nor at the other nodes. */
	CHECK(!c.mc[3]->own.hdr_ring);
	CHECK_EQ(c.mc[3]->member[1].sender, NONE);
	CHECK_EQ(c.mc[3]->member[0].remote_hdr, SPINDLE_NO_OFFSET);
	/* Where completions vouch, no message comes by express. */
	mc->member[1].express = NULL;
	spindle_mc_wire(mc, &view, 1, vouched_row, NULL);
	CHECK(m->vouch == &vouch[1] && !m->express);
	end();
}

static const struct tap_case cases[] = {
	{ "the subgroups of a static view form", test_form_static },
	{ "a live view forms", test_form_live },
	{ "the effect of a lost connection depends on the state", test_lost },
	{ "a member knows which other members have begun", test_begun },
	{ "hot subgroups are visited in each pass, cold ones in turn", test_hot },
	{ "a pass postpones what can wait", test_lazy },
	{ "writes are posted in their order", test_push },
	{ "a member outside of the view gets messages only of subgroups that stay",
	  test_push_closed },
	{ "a wedged group flushes its messages", test_flushed },
	{ "a frozen group reports what it has received", test_freeze },
	{ "subgroups are trimmed or stay", test_trim },
	{ "a group is drained at the end of its view", test_drain },
	{ "a group installs the next view", test_install },
	{ "tables go through a change of the view, without messages", test_tables },
	{ "a table begins in empty rows", test_clear },
	{ "streams begin, stop and stay with their subgroups", test_streams },
	{ "a first view follows views of earlier eras", test_follow },
	{ "a subgroup gets its memory", test_create },
	{ "a subgroup that lacks members waits", test_lacking },
	{ "places in rows follow the layout", test_wire },
};

int main(void)
{
	return tap_run(cases, ARRAY_SIZE(cases));
}
