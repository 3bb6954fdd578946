// SPDX-License-Identifier: GPL-2.0-only
/*
 * Epoch: a subgroup from one view to the next, step by step. The simulator (selftests/core/sim)
 * runs whole views under faults.
 */
#include "tap.h"
#include "core/multicast/multicast.h"
#include "core/base/push.h"
#include "core/multicast/stage.h"

#define W 8U
#define S 3U
#define LOG 64U
#define UNITS 64U

/* Member and sender 1 of three, alone with its memory. */
struct end {
	struct spindle_mc mc;
	struct spindle_mc_member member[S];
	struct spindle_mc_sender sender[S];
	struct spindle_msg msgs[S][W];
	struct spindle_block block[S];
	struct spindle_hdr hdr[S][W];
	struct spindle_mc_end ends[W];
	u8 pay[S][UNITS << SPINDLE_UNIT_SHIFT];
	u8 log[LOG];
	struct spindle_tx_desc desc[W];
	struct spindle_dlv ring[LOG];
	struct spindle_dlvq q;
	u64 free_slot, free_unit, tail, consumed;
};

static struct end *open_end(u32 senders, u32 me)
{
	struct end *e = calloc(1, sizeof(*e));
	struct spindle_mc *mc = &e->mc;
	u32 i;

	mc->members = senders;
	mc->senders = senders;
	mc->me = me;
	mc->my_sender = me;
	mc->window = W;
	mc->ring_units = UNITS;
	mc->max_msg = 100;
	mc->ordered = true;
	mc->member = e->member;
	mc->sender = e->sender;
	mc->deliver.log = e->log;
	mc->deliver.log_mask = LOG - 1;
	mc->send.ends = e->ends;
	mc->own.block = &e->block[me];
	mc->own.hdr_ring = e->hdr[me];
	mc->send.txq.wmask = W - 1;
	mc->send.txq.ring_units = UNITS;
	mc->send.txq.max_msg = 100;
	for (i = 0; i < senders; i++) {
		e->member[i].block = &e->block[i];
		e->member[i].sender = i;
		e->sender[i].member = i;
		e->sender[i].msgs = e->msgs[i];
		e->sender[i].pay = e->pay[i];
		e->sender[i].walk.ring = e->hdr[i];
		e->sender[i].walk.wmask = W - 1;
		e->sender[i].walk.max_msg = 100;
		e->sender[i].walk.unknown = ~(BIT_ULL(senders) - 1);
	}
	spindle_mc_init(mc);
	mc->formed = true;
	return e;
}

static void attach(struct end *e)
{
	e->q.ring = e->ring;
	e->q.mask = LOG - 1;
	e->q.tail_word = &e->tail;
	e->q.consumed_word = &e->consumed;
	spindle_mc_attach_reader(&e->mc, &e->q);
	spindle_mc_attach_sender(&e->mc, e->desc, &e->free_slot, &e->free_unit);
}

/* A message of another sender arrives, in the form in which its writes would have brought it. */
static void arrives_for(struct end *e, u32 s, u64 slot, u64 round, u64 mask)
{
	struct spindle_msg msg = { .round = round, .unit = 2 * slot, .len = 70, .mask = mask };

	spindle_hdr_write(e->hdr[s], W - 1, slot, &msg);
}

static void arrives(struct end *e, u32 s, u64 slot, u64 round)
{
	arrives_for(e, s, slot, round, 0);
}

static void says(struct end *e, u32 s, u64 sent, u64 received, u64 delivered, u64 slots)
{
	u64 word[SPINDLE_BLOCK_WORDS] = {
		[SPINDLE_COL_SENT] = sent,
		[SPINDLE_COL_RECEIVED] = received,
		[SPINDLE_COL_DELIVERED] = delivered,
		[SPINDLE_COL_SLOTS] = slots,
	};

	spindle_block_write(&e->block[s], word);
}

static void commit_len(struct end *e, u64 slot, u32 len)
{
	struct spindle_tx_desc *d = &e->desc[slot & (W - 1)];

	d->unit = 2 * slot;
	d->units = 2;
	d->len = len;
	smp_store_release(&d->ready, slot + 1); /* A */
}

static void commit(struct end *e, u64 slot)
{
	commit_len(e, slot, 70);
}

/* Run passes until there is nothing to do, at most 1000. */
static void settle(struct end *e)
{
	u32 i;

	for (i = 0; i < 1000 && spindle_mc_run(&e->mc, true); i++)
		;
	CHECK(i < 1000);
}

static bool drained(struct end *e)
{
	u32 i;

	for (i = 0; i < 1000; i++)
		if (spindle_mc_drain(&e->mc))
			return true;
	return false;
}

/* Pretend that all own messages have been posted. */
static void push_all(struct end *e)
{
	u32 r;

	for (r = 0; r < e->mc.members; r++) {
		e->member[r].push_slot = e->mc.own.word[SPINDLE_COL_SLOTS];
		e->member[r].dirty = false;
	}
}

/* Sender 0 has sent two messages and this member one. Sender 2 has sent two and is dead. */
static struct end *in_the_middle(void)
{
	struct end *e = open_end(S, 1);

	attach(e);
	commit(e, 0);
	settle(e);
	push_all(e);
	arrives(e, 0, 0, 0);
	arrives(e, 0, 1, 1);
	arrives(e, 2, 0, 0);
	arrives(e, 2, 1, 1);
	/* All members have received round 0: two messages and the own one are stable. */
	says(e, 0, 2, 3, 0, 2);
	says(e, 2, 2, 3, 0, 2);
	settle(e);
	CHECK_EQ(e->tail, 3);
	CHECK_EQ(e->mc.sender[1].walk.slot, 1);
	return e;
}

static void test_wedge(void)
{
	struct end *e = in_the_middle();
	u64 rounds = e->mc.sender[1].walk.rounds;

	CHECK(!spindle_mc_flushed(&e->mc, 0));
	CHECK(spindle_mc_flushed(&e->mc, 1));
	spindle_mc_wedge(&e->mc);
	commit(e, 1);
	/* Sender 0 needs rounds of this member, and gets none, because this member is wedged. */
	arrives(e, 0, 2, 7);
	says(e, 0, 8, 3, 0, 3);
	settle(e);
	CHECK(spindle_mc_silence(&e->mc, 5));
	CHECK_EQ(e->mc.sender[1].walk.slot, 1);
	CHECK_EQ(e->mc.sender[1].walk.rounds, rounds);
	/* The message is received nevertheless. */
	CHECK_EQ(e->mc.sender[0].walk.slot, 3);
	push_all(e);
	CHECK(spindle_mc_flushed(&e->mc, 0));
	e->mc.member[0].push_slot = 0;
	CHECK(!spindle_mc_flushed(&e->mc, 0));
	free(e);
}

static void test_freeze(void)
{
	struct end *e = in_the_middle();
	u64 have[S];

	spindle_mc_wedge(&e->mc);
	/* More messages than one pass takes, and no pass has seen them. */
	e->mc.tune.recv_budget = 1;
	arrives(e, 0, 2, 2);
	arrives(e, 0, 3, 3);
	says(e, 0, 4, 3, 0, 4);
	spindle_mc_freeze(&e->mc, have);
	CHECK_EQ(have[0], 4);
	CHECK_EQ(have[1], 1);
	CHECK_EQ(have[2], 2);
	/* A message that arrives after the freeze is ignored. */
	arrives(e, 0, 4, 4);
	says(e, 0, 5, 4, 0, 5);
	settle(e);
	CHECK_EQ(e->mc.bad, 0);
	CHECK_EQ(e->mc.sender[0].walk.slot, 4);
	CHECK_EQ(e->mc.member[0].received, 3);
	CHECK_EQ(e->tail, 3);
	free(e);
}

static void test_trim(void)
{
	static const u64 wrong[][S] = {
		{ 0, 2, 1 },	/* less than was delivered */
		{ 3, 2, 1 },	/* a message that is not here */
		{ 2, 0, 1 },
		{ 2, 1, 1 },	/* an own message that is not delivered */
		{ 2, 2, 4 },
	};
	static const u64 right[S] = { 2, 2, 2 };
	struct end *e = in_the_middle();
	u64 have[S];
	u32 i;

	commit(e, 1);
	settle(e);
	push_all(e);
	/* One more message of sender 2, which no other member has. */
	arrives(e, 2, 2, 2);
	says(e, 2, 3, 3, 0, 3);
	spindle_mc_wedge(&e->mc);
	spindle_mc_freeze(&e->mc, have);
	for (i = 0; i < ARRAY_SIZE(wrong); i++)
		CHECK(!spindle_mc_trim(&e->mc, wrong[i]));
	CHECK_EQ(e->mc.sender[2].walk.slot, 3);
	CHECK(spindle_mc_trim(&e->mc, right));
	CHECK_EQ(e->mc.sender[2].walk.slot, 2);
	e->mc.tune.dlv_budget = 1;
	CHECK(drained(e));
	/* Round 1 of the others, the own message, and no further message of the dead sender. */
	CHECK_EQ(e->tail, 6);
	CHECK_EQ(e->ring[3].sender, 0);
	CHECK_EQ(e->ring[3].slot, 1);
	CHECK_EQ(e->ring[4].sender, 2);
	CHECK_EQ(e->ring[4].slot, 1);
	CHECK_EQ(e->ring[5].sender, 1);
	CHECK(spindle_mc_drain(&e->mc));
	CHECK_EQ(e->tail, 6);
	free(e);
}

/* A copying reader without room delays the end of the view until it reads. */
static void test_drain(void)
{
	static const u64 trim[S] = { 2, 1, 2 };
	struct end *e = in_the_middle();
	u64 have[S];

	e->q.mask = 3;
	spindle_mc_wedge(&e->mc);
	spindle_mc_freeze(&e->mc, have);
	CHECK(spindle_mc_trim(&e->mc, trim));
	CHECK(!spindle_mc_drain(&e->mc));
	CHECK(!spindle_mc_drain(&e->mc));
	CHECK_EQ(e->tail, 4);
	smp_store_release(&e->consumed, 1); /* C */
	CHECK(spindle_mc_drain(&e->mc));
	CHECK_EQ(e->tail, 5);
	free(e);
}

/* From now on the reader copies, so many bytes in a pass. */
static void copies(struct end *e, u8 *ring, u64 *ends, u32 budget)
{
	e->q.copy = ring;
	e->q.copy_end = ends;
	e->q.copy_units = UNITS;
	e->mc.tune.copy_budget = budget;
}

/* Two messages of 70 bytes remain for a reader that copies. A pass copies 32 of these bytes. */
static void test_drain_copies(void)
{
	static const u64 trim[S] = { 2, 1, 2 };
	u8 ring[UNITS << SPINDLE_UNIT_SHIFT];
	struct end *e = in_the_middle();
	u64 have[S], ends[LOG] = {};
	u32 i;

	copies(e, ring, ends, 32);
	spindle_mc_wedge(&e->mc);
	spindle_mc_freeze(&e->mc, have);
	CHECK(spindle_mc_trim(&e->mc, trim));
	for (i = 1; i < 5; i++) {
		CHECK(!spindle_mc_drain(&e->mc));
		CHECK(!e->mc.deliver.blocked); /* the drain waits for no reader */
		CHECK_EQ(e->tail, i < 3 ? 3 : 4);
	}
	CHECK(spindle_mc_drain(&e->mc));
	CHECK_EQ(e->tail, 5);
	free(e);
}

/*
 * Positions go on from view to view. Sender 1 goes on, senders 0 and 2 are former senders in the
 * next view, and a joiner begins where the others are.
 */
static void test_positions(void)
{
	static const u64 trim[S] = { 2, 1, 2 }, first[] = { 1 };
	static const u32 from[] = { 1 }, none[] = { SPINDLE_NO_RANK };
	struct end *e = in_the_middle(), *n = open_end(1, 0), *joiner = open_end(1, 0);
	u64 have[S], i;

	for (i = 0; i < 3; i++)
		CHECK_EQ(e->ring[i].lsn, i);
	spindle_mc_wedge(&e->mc);
	spindle_mc_freeze(&e->mc, have);
	CHECK(spindle_mc_trim(&e->mc, trim));
	CHECK(drained(e));
	CHECK_EQ(e->ring[4].lsn, 4);
	CHECK_EQ(e->mc.deliver.lsn, 5);
	spindle_mc_begin(&n->mc, &e->mc, from, first, 4);
	CHECK_EQ(n->mc.deliver.lsn, 5);
	spindle_mc_begin(&joiner->mc, NULL, none, first, 4);
	CHECK_EQ(joiner->mc.deliver.lsn, 5);
	/* Without order each member counts what it delivers itself. */
	n->mc.ordered = false;
	e->mc.deliver.lsn = 77;
	spindle_mc_begin(&n->mc, &e->mc, from, first, 4);
	CHECK_EQ(n->mc.deliver.lsn, 77);
	joiner->mc.ordered = false;
	spindle_mc_begin(&joiner->mc, NULL, none, first, 4);
	CHECK_EQ(joiner->mc.deliver.lsn, 0);
	free(e);
	free(n);
	free(joiner);
}

/* The new view takes over no part of a message that the old view had begun to copy. */
static void test_begin_copies(void)
{
	static const u32 from[S] = { 0, 1, 2 };
	static const u64 first[S] = { 2, 1, 2 };
	struct end *e = in_the_middle(), *n = open_end(S, 1);
	struct spindle_dlvq other = { .part = 20 };

	spindle_mc_attach_reader(&e->mc, &other);
	e->q.part = 30;
	spindle_mc_begin(&n->mc, &e->mc, from, first, 0);
	CHECK_EQ(e->q.part, 0);
	CHECK_EQ(other.part, 0);
	free(e);
	free(n);
}

/* Sender 0 has gone, so ranks change: the log must name the ranks of the new view. */
static void test_begin_log(void)
{
	static const u32 from[] = { 1, 2 };
	static const u64 first[] = { 1, 2 };
	static const u8 now[S] = { 0xff, 0, 1 };
	struct end *e = in_the_middle(), *n = open_end(2, 0);
	u64 i;

	spindle_mc_begin(&n->mc, &e->mc, from, first, 0);
	/* Round 0 stands for the views before, at each member. */
	CHECK_EQ(n->mc.own.word[SPINDLE_COL_SENT], 1);
	CHECK_EQ(n->mc.deliver.log_tail - n->mc.deliver.log_head, 3);
	for (i = n->mc.deliver.log_head; i != n->mc.deliver.log_tail; i++)
		CHECK_EQ(n->log[i & (LOG - 1)], now[e->log[i & (LOG - 1)]]);
	free(e);
	free(n);
}

/* Senders 0 and 1 go on. The reader still holds its messages, and one slot is not sent. */
static void test_begin(void)
{
	static const u64 trim[S] = { 2, 1, 1 }, first[] = { 2, 1 };
	static const u32 from[] = { 0, 1 };
	struct end *e = in_the_middle(), *n = open_end(2, 1);
	u64 have[S];

	spindle_mc_wedge(&e->mc);
	commit(e, 1);
	spindle_mc_freeze(&e->mc, have);
	CHECK(spindle_mc_trim(&e->mc, trim));
	CHECK(spindle_mc_drain(&e->mc));
	smp_store_release(&e->consumed, 1); /* C */
	spindle_mc_begin(&n->mc, &e->mc, from, first, 0);

	/* No message is in this place of the ring yet. */
	n->msgs[0][2].unit = 9;
	/* The waiting slot is sent once, in the round after those of the old view. */
	settle(n);
	CHECK_EQ(n->mc.sender[1].walk.slot, 2);
	CHECK_EQ(n->mc.sender[1].msgs[1].round, 1);
	CHECK_EQ(n->mc.own.word[SPINDLE_COL_SLOTS], 2);
	CHECK_EQ(n->mc.own.word[SPINDLE_COL_SENT], 2);
	CHECK_EQ(n->mc.member[0].push_slot, 1);
	CHECK_EQ(n->mc.send.free_slot, 0);
	/* Space that is released in the next view is owed from the oldest message on. */
	CHECK_EQ(n->mc.sender[0].rel_slot, 1);
	CHECK_EQ(n->mc.sender[0].owed, 2);
	/* This reader has not consumed all of the old view, so DELIVERED must not move. */
	CHECK_EQ(n->mc.own.word[SPINDLE_COL_DELIVERED], 0);
	CHECK_EQ(n->mc.own.word[SPINDLE_COL_RECEIVED], 2);
	smp_store_release(&e->consumed, 4); /* C */
	settle(n);
	CHECK_EQ(n->mc.own.word[SPINDLE_COL_DELIVERED], 2);
	push_all(n);
	/* The own slot stays in use until the other member has reported the delivery. */
	CHECK_EQ(e->free_slot, 0);
	says(n, 0, 3, 4, 2, 2);
	settle(n);
	CHECK_EQ(e->free_slot, 1);
	/* The own message is the next that the reader gets. */
	CHECK_EQ(e->tail, 5);
	CHECK_EQ(e->ring[4].sender, 1);
	CHECK_EQ(e->ring[4].slot, 1);
	CHECK(!(n->mc.events & SPINDLE_MC_FAILED));
	free(e);
	free(n);
}

/* Which state does the next view keep, and which does it not? */
static void test_keep(void)
{
	static const u64 none[S] = {};
	static const u32 from[S] = {};
	struct end *e = open_end(1, 0), *n = open_end(1, 0);
	struct spindle_mc_tune tune = e->mc.tune;
	u64 have[S];

	tune.silence = 7;
	tune.send_budget = 3;
	spindle_mc_retune(&e->mc, &tune);
	attach(e);
	e->mc.stats.sent = 11;
	spindle_mc_wedge(&e->mc);
	spindle_mc_freeze(&e->mc, have);
	CHECK(spindle_mc_trim(&e->mc, none));
	CHECK(drained(e));
	e->mc.events = SPINDLE_MC_FREED | SPINDLE_MC_FAILED;
	spindle_mc_begin(&n->mc, &e->mc, from, none, 0);
	CHECK_EQ(n->mc.tune.silence, 7);
	CHECK_EQ(n->mc.tune.send_budget, 3);
	CHECK_EQ(n->mc.stats.sent, 11);
	CHECK(n->mc.deliver.attached);
	/*
	 * Users still have to be woken, but a failed member of the old view must not be reported.
	 */
	CHECK_EQ(n->mc.events, SPINDLE_MC_FREED);
	/* No message is held: round 0 is delivered, although no other member says anything. */
	spindle_mc_run(&n->mc, true);
	CHECK_EQ(n->mc.own.word[SPINDLE_COL_DELIVERED], 1);
	free(e);
	free(n);
}

/* The other members must learn that the view has begun, although nothing happens in it. */
static void test_begin_told(void)
{
	static const u64 none[S] = {};
	static const u32 from[S] = { SPINDLE_NO_RANK, SPINDLE_NO_RANK, SPINDLE_NO_RANK };
	struct end *e = open_end(S, 1);

	spindle_mc_begin(&e->mc, NULL, from, none, 0);
	CHECK(spindle_push_wanted(&e->mc, 0));
	CHECK(spindle_push_wanted(&e->mc, 2));
	free(e);
}

/* The counts on which members may rely in a view that has just begun. */
static void test_begin_counts(void)
{
	static const u64 trim[S] = { 2, 1, 1 }, first[] = { 2, 1 };
	static const u32 from[] = { 0, 1 };
	struct end *e = in_the_middle(), *n = open_end(2, 1);
	u64 have[S], word[SPINDLE_BLOCK_WORDS], seal = 0;

	spindle_mc_wedge(&e->mc);
	spindle_mc_freeze(&e->mc, have);
	CHECK(spindle_mc_trim(&e->mc, trim));
	CHECK(spindle_mc_drain(&e->mc));
	smp_store_release(&e->consumed, 1); /* C */
	spindle_mc_begin(&n->mc, &e->mc, from, first, 0);
	/*
	 * Round 0 of all senders is in the past: a member with a smaller count takes something
	 * back.
	 */
	CHECK_EQ(n->mc.member[0].sent, 1);
	CHECK_EQ(n->mc.member[0].told_received, 2);
	CHECK_EQ(n->mc.own.word[SPINDLE_COL_RECEIVED], 2);
	/* All messages that readers hold keep their places, the oldest one as well. */
	CHECK_EQ(n->mc.sender[0].rel_slot, 0);
	CHECK_EQ(n->mc.sender[0].msgs[0].len, 70);
	CHECK_EQ(n->mc.sender[0].msgs[1].unit, 2);
	/* This member has nothing to add, and its block is visible to the others all the same. */
	spindle_mc_publish(&n->mc);
	CHECK_EQ(spindle_block_read(n->mc.own.block, &seal, word), SPINDLE_READ_NEW);
	CHECK_EQ(word[SPINDLE_COL_RECEIVED], 2);
	free(e);
	free(n);
}

/* Completions vouch for the low bits of a count. In an old group the count has more bits. */
static void test_begin_vouched(void)
{
	static const u64 first[] = { 5ULL * (SPINDLE_IMM_SLOTS + 1ULL) + 3, 0 };
	static const u32 from[] = { SPINDLE_NO_RANK, SPINDLE_NO_RANK };
	struct end *e = open_end(2, 1);
	u32 vouch = 77;

	e->member[0].vouch = &vouch;
	spindle_mc_begin(&e->mc, NULL, from, first, 0);
	CHECK_EQ(e->member[0].vouched, 3);
	CHECK_EQ(vouch, 3);
	free(e);
}

/* All members have delivered the own message 0, so its slot is free. The next view keeps that. */
static void test_begin_free(void)
{
	static const u64 trim[S] = { 2, 1, 2 }, first[] = { 2, 1 };
	static const u32 from[] = { 0, 1 };
	struct end *e = in_the_middle(), *n = open_end(2, 1);
	u64 have[S];

	smp_store_release(&e->consumed, 3); /* C */
	says(e, 0, 2, 3, 3, 2);
	says(e, 2, 2, 3, 3, 2);
	settle(e);
	CHECK_EQ(e->mc.send.free_slot, 1);
	spindle_mc_wedge(&e->mc);
	spindle_mc_freeze(&e->mc, have);
	CHECK(spindle_mc_trim(&e->mc, trim));
	CHECK(drained(e));
	spindle_mc_begin(&n->mc, &e->mc, from, first, 0);
	CHECK_EQ(n->mc.send.free_slot, 1);
	free(e);
	free(n);
}

/* A member that did not send in the view before starts at slot 0. */
static void test_begin_sender(void)
{
	static const u64 none[S] = {};
	static const u32 from[] = { 0, SPINDLE_NO_RANK };
	struct end *e = open_end(2, 1), *n = open_end(2, 1);
	u64 have[S];

	e->mc.my_sender = SPINDLE_NO_RANK;
	e->mc.senders = 1;
	e->mc.send.txq.slot = 9;
	e->mc.send.free_slot = 9;
	spindle_mc_wedge(&e->mc);
	spindle_mc_freeze(&e->mc, have);
	CHECK(spindle_mc_trim(&e->mc, none));
	spindle_mc_begin(&n->mc, &e->mc, from, none, 0);
	CHECK_EQ(n->mc.send.txq.slot, 0);
	CHECK_EQ(n->mc.send.free_slot, 0);
	free(e);
	free(n);
}

/*
 * The freeze received a message, and no pass has published the count. The push to the members must
 * have the new count, because no later push repeats it.
 */
static void test_stays_told(void)
{
	struct end *e = in_the_middle();
	u64 have[S], word[SPINDLE_BLOCK_WORDS], seal = 0;
	struct spindle_write write[8];

	push_all(e);
	arrives(e, 2, 2, 2);
	says(e, 2, 3, 3, 0, 3);
	arrives(e, 0, 2, 2);
	says(e, 0, 3, 3, 0, 3);
	spindle_mc_wedge(&e->mc);
	spindle_mc_freeze(&e->mc, have);
	spindle_mc_stay(&e->mc);
	CHECK(spindle_push_wanted(&e->mc, 0));
	CHECK(spindle_push(&e->mc, 0, 0, 0, write, ARRAY_SIZE(write)));
	CHECK_EQ(spindle_block_read(e->mc.own.block, &seal, word), SPINDLE_READ_NEW);
	CHECK_EQ(word[SPINDLE_COL_RECEIVED], e->mc.own.word[SPINDLE_COL_RECEIVED]);
	free(e);
}

/* A subgroup that stayed once ends with the next view, as any other one. */
static void test_stays_once(void)
{
	struct end *e = in_the_middle();
	u64 have[S];

	spindle_mc_wedge(&e->mc);
	spindle_mc_freeze(&e->mc, have);
	spindle_mc_stay(&e->mc);
	CHECK_EQ(e->mc.epoch, SPINDLE_EPOCH_STAYED);
	spindle_mc_wedge(&e->mc);
	CHECK_EQ(e->mc.epoch, SPINDLE_EPOCH_WEDGED);
	free(e);
}

/* Steps out of their order change nothing. */
static void test_order(void)
{
	struct end *e = in_the_middle();
	u64 have[S];

	spindle_mc_freeze(&e->mc, have);
	CHECK_EQ(e->mc.epoch, SPINDLE_EPOCH_OPEN);
	spindle_mc_stay(&e->mc);
	CHECK_EQ(e->mc.epoch, SPINDLE_EPOCH_OPEN);
	spindle_mc_wedge(&e->mc);
	spindle_mc_stay(&e->mc);
	CHECK_EQ(e->mc.epoch, SPINDLE_EPOCH_WEDGED);
	spindle_mc_freeze(&e->mc, have);
	spindle_mc_wedge(&e->mc);
	CHECK_EQ(e->mc.epoch, SPINDLE_EPOCH_FROZEN);
	free(e);
}

/* A joiner starts with each sender at the slot at which the others go on. */
static void test_join(void)
{
	static const u64 first[] = { 1234567, 0 };
	static const u32 from[] = { SPINDLE_NO_RANK, SPINDLE_NO_RANK };
	struct end *e = open_end(2, 1);

	spindle_mc_begin(&e->mc, NULL, from, first, 0);
	attach(e);
	arrives(e, 0, 1234567, 1);
	says(e, 0, 2, 3, 0, 1234568);
	settle(e);
	CHECK(!(e->mc.events & SPINDLE_MC_FAILED));
	CHECK_EQ(e->tail, 1);
	CHECK_EQ(e->ring[0].slot, 1234567);
	CHECK_EQ(e->mc.own.word[SPINDLE_COL_SLOTS], 0);
	free(e);
}

/* ---- bad members, idle subgroups ----------------------------------------------- */

/*
 * One member breaks the protocol. This node blames the member once, and receives from all others as
 * before. If the node reported fewer messages than it has, the trim would drop them.
 */
static void test_bad_member(void)
{
	static const u64 lie[SPINDLE_BLOCK_WORDS] = { U64_MAX, 0, 0, 9 };
	struct end *e = in_the_middle();
	u64 have[S];

	spindle_block_write(&e->block[2], lie);
	settle(e);
	CHECK(e->mc.events & SPINDLE_MC_FAILED);
	CHECK_EQ(e->mc.bad, BIT(2));
	e->mc.events = 0;
	/* Later words of that member are ignored, even if they are true. */
	arrives(e, 2, 2, 2);
	says(e, 2, 3, 3, 0, 3);
	arrives(e, 0, 2, 2);
	says(e, 0, 3, 4, 0, 3);
	commit(e, 1);
	settle(e);
	CHECK(!e->mc.events);
	CHECK_EQ(e->mc.sender[0].walk.slot, 3);
	CHECK_EQ(e->mc.sender[1].walk.slot, 2);
	CHECK_EQ(e->mc.sender[2].walk.slot, 2);
	CHECK_EQ(e->mc.member[2].sent, 2);
	CHECK_EQ(e->mc.member[2].slots, 2);
	/* No message is delivered that this member has not acknowledged. */
	CHECK_EQ(e->tail, 3);
	CHECK(spindle_push_pending(&e->mc));
	spindle_mc_wedge(&e->mc);
	CHECK(!spindle_mc_flushed(&e->mc, 0));
	arrives(e, 0, 3, 3);
	says(e, 0, 4, 4, 0, 4);
	spindle_mc_freeze(&e->mc, have);
	CHECK_EQ(have[0], 4);
	CHECK_EQ(have[1], 2);
	CHECK_EQ(have[2], 2);
	free(e);
}

/* A sender vouches for a header that is missing. When that header comes, it is not received. */
static void test_bad_sender(void)
{
	struct end *e = in_the_middle();

	says(e, 0, 3, 3, 0, 3);
	settle(e);
	CHECK_EQ(e->mc.bad, BIT(0));
	arrives(e, 0, 2, 2);
	arrives(e, 2, 2, 2);
	says(e, 2, 3, 3, 0, 3);
	settle(e);
	CHECK_EQ(e->mc.sender[0].walk.slot, 2);
	CHECK_EQ(e->mc.sender[2].walk.slot, 3);
	free(e);
}

/* A member that is no sender cannot have sent. */
static void test_receiver_sends(void)
{
	struct end *e = open_end(S, 1);

	e->mc.senders = 2;
	e->member[2].sender = SPINDLE_NO_RANK;
	says(e, 2, 0, 0, 0, 0);
	settle(e);
	CHECK_EQ(e->mc.bad, 0);
	says(e, 2, 1, 0, 0, 0);
	settle(e);
	CHECK_EQ(e->mc.bad, BIT(2));
	free(e);
}

/* Two members break the protocol in one pass: both are recorded. */
static void test_bad_members(void)
{
	static const u64 lie[SPINDLE_BLOCK_WORDS] = { U64_MAX, 0, 0, 9 };
	struct end *e = in_the_middle();

	spindle_block_write(&e->block[0], lie);
	spindle_block_write(&e->block[2], lie);
	settle(e);
	CHECK_EQ(e->mc.bad, BIT(0) | BIT(2));
	free(e);
}

/*
 * A message that is here counts even if the subgroup does not run, because other members may count
 * on it.
 */
static void test_freeze_idle(void)
{
	u32 i;

	for (i = 0; i < 3; i++) {
		struct end *e = open_end(S, 1);
		u64 have[S];

		e->mc.formed = i != 0;
		e->mc.lacking = i == 1;
		e->mc.ended = i == 2;
		arrives(e, 0, 0, 0);
		says(e, 0, 1, 1, 0, 1);
		spindle_mc_wedge(&e->mc);
		spindle_mc_freeze(&e->mc, have);
		CHECK_EQ(have[0], 1);
		free(e);
	}
}

/* Too few members: no message gets a round, all else goes on, and committed messages wait. */
static void test_lacking(void)
{
	struct end *e = in_the_middle();
	u64 rounds = e->mc.sender[1].walk.rounds;

	e->mc.lacking = true;
	CHECK(!spindle_mc_active(&e->mc));
	commit(e, 1);
	arrives(e, 0, 2, 7);
	says(e, 0, 8, 4, 0, 3);
	settle(e);
	CHECK_EQ(e->mc.sender[1].walk.slot, 1);
	CHECK_EQ(e->mc.sender[1].walk.rounds, rounds);
	CHECK(spindle_mc_silence(&e->mc, 5));
	CHECK_EQ(e->mc.sender[1].walk.rounds, rounds);
	CHECK_EQ(e->mc.sender[0].walk.slot, 3);
	CHECK(spindle_push_pending(&e->mc));
	e->mc.lacking = false;
	settle(e);
	CHECK_EQ(e->mc.sender[1].walk.slot, 2);
	free(e);
}

/*
 * A process exits while the subgroup cannot send: wedged, lacking, or not formed. Its messages get
 * no round in this view, and are sent in the next one.
 */
static void test_parting_waits(void)
{
	static const u64 trim[S] = { 2, 1, 1 }, first[] = { 2, 1 };
	static const u32 from[] = { 0, 1 };
	u32 why;

	for (why = 0; why < 3; why++) {
		struct end *e = in_the_middle(), *n = open_end(2, 1);
		u64 have[S];

		if (why == 0)
			spindle_mc_wedge(&e->mc);
		e->mc.lacking = why == 1;
		e->mc.formed = why != 2;
		commit(e, 1);
		CHECK(!spindle_mc_detach_sender(&e->mc));
		settle(e);
		CHECK_EQ(e->mc.sender[1].walk.slot, 1);
		CHECK(!(e->mc.events & SPINDLE_MC_PARTED));
		spindle_mc_wedge(&e->mc);
		spindle_mc_freeze(&e->mc, have);
		CHECK_EQ(have[1], 1);
		CHECK(spindle_mc_trim(&e->mc, trim) && drained(e));
		spindle_mc_begin(&n->mc, &e->mc, from, first, 0);
		settle(n);
		CHECK_EQ(n->mc.sender[1].walk.slot, 2);
		CHECK(n->mc.events & SPINDLE_MC_PARTED);
		CHECK(!n->mc.send.txq.desc);
		free(e);
		free(n);
	}
}

/* A subgroup that has ended holds no process's memory. */
static void test_parting_end(void)
{
	struct end *e = in_the_middle();

	spindle_mc_wedge(&e->mc);
	commit(e, 1);
	CHECK(!spindle_mc_detach_sender(&e->mc));
	spindle_mc_end(&e->mc);
	CHECK(e->mc.events & SPINDLE_MC_PARTED);
	CHECK(!e->mc.send.parting && !e->mc.send.txq.desc);
	free(e);
	e = in_the_middle();
	spindle_mc_end(&e->mc);
	commit(e, 1);
	CHECK(spindle_mc_detach_sender(&e->mc));
	CHECK_EQ(e->mc.sender[1].walk.slot, 1);
	free(e);
}

/*
 * Unordered: messages are delivered at once, and no trim takes them back, however small the trim
 * is. A sender that goes on starts behind the messages that are here.
 */
static void test_trim_unordered(void)
{
	static const u64 first[] = { 0, 1 }, more[S] = { 3, 1, 0 }, small[S] = { 0, 1, 0 };
	static const u32 from[] = { 0, 1 };
	struct end *e = in_the_middle(), *n = open_end(2, 1);
	u64 have[S];

	e->mc.ordered = false;
	n->mc.ordered = false;
	settle(e);
	CHECK_EQ(e->tail, 5);
	smp_store_release(&e->consumed, 4); /* C */
	settle(e);
	spindle_mc_wedge(&e->mc);
	spindle_mc_freeze(&e->mc, have);
	CHECK(!spindle_mc_trim(&e->mc, more));
	CHECK(spindle_mc_trim(&e->mc, small) && drained(e));
	spindle_mc_begin(&n->mc, &e->mc, from, first, 0);
	CHECK_EQ(n->mc.sender[0].walk.slot, 2);
	CHECK(n->mc.sender[0].rel_slot <= 2);
	CHECK_EQ(n->member[0].slots, 2);
	smp_store_release(&e->consumed, 5); /* C */
	settle(n);
	CHECK_EQ(n->mc.deliver.log_head, n->mc.deliver.log_tail);
	CHECK_EQ(n->mc.sender[0].rel_slot, 2);
	arrives(n, 0, 2, 1);
	says(n, 0, 2, 2, 0, 3);
	settle(n);
	CHECK(!n->mc.bad);
	CHECK_EQ(e->tail, 6);
	free(e);
	free(n);
}

/* ---- readers learn of a view ---------------------------------------------- */

/* One more reader, with a queue of its own. */
struct ear {
	struct spindle_dlvq q;
	struct spindle_dlv ring[LOG];
	u64 tail, consumed;
	u8 copy[2 << SPINDLE_UNIT_SHIFT];
	u64 copy_end[LOG];
};

static void listen(struct end *e, struct ear *ear, u32 entries, bool copy)
{
	memset(ear, 0, sizeof(*ear));
	ear->q.ring = ear->ring;
	ear->q.mask = entries - 1;
	ear->q.tail_word = &ear->tail;
	ear->q.consumed_word = &ear->consumed;
	if (copy) {
		ear->q.copy = ear->copy;
		ear->q.copy_end = ear->copy_end;
		ear->q.copy_units = 2;
	}
	spindle_mc_attach_reader(&e->mc, &ear->q);
}

static void consume(struct ear *ear, u64 n)
{
	smp_store_release(&ear->consumed, n); /* C */
}

/* Of two members the other one sends, so each message is stable at once. */
static struct end *begun_at(u64 slot)
{
	static const u32 from[] = { SPINDLE_NO_RANK };
	const u64 first[] = { slot };
	struct end *e = open_end(2, 1);

	e->mc.senders = 1;
	e->mc.my_sender = SPINDLE_NO_RANK;
	e->member[1].sender = SPINDLE_NO_RANK;
	spindle_mc_begin(&e->mc, NULL, from, first, 0);
	return e;
}

static struct end *begun(void)
{
	return begun_at(0);
}

static void comes(struct end *e, u64 slot)
{
	arrives(e, 0, slot, slot + 1);
	says(e, 0, slot + 2, slot + 2, 0, slot + 1);
}

static void check_entry(const struct ear *ear, u64 n, u32 kind, u64 what)
{
	const struct spindle_dlv *d = &ear->ring[n & ear->q.mask];

	CHECK(ear->tail > n);
	CHECK_EQ(d->kind, kind);
	CHECK_EQ(d->slot, what);
	if (kind != SPINDLE_DLV_VIEW)
		return;
	CHECK(d->offset < what);
	CHECK_EQ(d->len, 0);
	CHECK_EQ(d->sender, 0);
}

/*
 * Of two messages, for both members and for member 0, the second is only a position for the readers
 * of member 1, whether they copy or not. Each holds its slot until all readers have consumed it.
 */
static void test_others(void)
{
	static const u64 mask[] = { 3, 1 };
	struct end *e = begun();
	struct ear zero, copy;
	u32 i;

	listen(e, &zero, LOG, false);
	listen(e, &copy, LOG, true);
	for (i = 0; i < 2; i++) {
		arrives_for(e, 0, i, i + 1, mask[i]);
		says(e, 0, i + 2, i + 2, 0, i + 1);
	}
	settle(e);
	CHECK_EQ(zero.tail, 2);
	CHECK_EQ(copy.tail, 2);
	for (i = 0; i < 2; i++) {
		const struct spindle_dlv *d = &zero.ring[i];

		CHECK_EQ(d->kind, i ? SPINDLE_DLV_OTHER : SPINDLE_DLV_MSG);
		CHECK_EQ(d->lsn, i);
		CHECK_EQ(d->slot, i);
		CHECK_EQ(d->len, i ? 0 : 70);
		CHECK_EQ(d->offset, 0);
		CHECK_EQ(copy.ring[i].kind, d->kind);
		CHECK_EQ(copy.ring[i].len, d->len);
	}
	CHECK_EQ(copy.q.copy_tail, 2);
	CHECK_EQ(e->mc.stats.delivered, 2);
	CHECK_EQ(e->mc.stats.delivered_bytes, 70);
	consume(&copy, 2);
	settle(e);
	CHECK_EQ(e->mc.sender[0].rel_slot, 0);
	consume(&zero, 1);
	settle(e);
	CHECK_EQ(e->mc.sender[0].rel_slot, 1);
	consume(&zero, 2);
	settle(e);
	CHECK_EQ(e->mc.sender[0].rel_slot, 2);
	free(e);
}

/* The entry comes once, even without any message, and before the first message. */
static void test_announce(void)
{
	struct end *e = begun();
	struct ear zero, copy;

	listen(e, &zero, LOG, false);
	listen(e, &copy, LOG, true);
	e->mc.deliver.lsn = 40;
	spindle_mc_announce(&e->mc, 7);
	settle(e);
	CHECK_EQ(zero.tail, 1);
	CHECK_EQ(copy.tail, 1);
	check_entry(&zero, 0, SPINDLE_DLV_VIEW, 7);
	check_entry(&copy, 0, SPINDLE_DLV_VIEW, 7);
	CHECK_EQ(e->mc.stats.delivered, 0);
	CHECK(e->mc.events & SPINDLE_MC_DELIVERED);
	comes(e, 0);
	spindle_mc_announce(&e->mc, 8);
	settle(e);
	CHECK_EQ(zero.tail, 3);
	CHECK_EQ(copy.tail, 3);
	check_entry(&zero, 1, SPINDLE_DLV_VIEW, 8);
	check_entry(&zero, 2, SPINDLE_DLV_MSG, 0);
	CHECK_EQ(zero.ring[1].lsn, 40);
	CHECK_EQ(zero.ring[2].lsn, 40);
	CHECK_EQ(e->mc.deliver.lsn, 41);
	check_entry(&copy, 1, SPINDLE_DLV_VIEW, 8);
	check_entry(&copy, 2, SPINDLE_DLV_MSG, 0);
	CHECK_EQ(e->mc.stats.delivered, 1);
	free(e);
}

/* A reader consumes the entry of a view like a message, but the entry counts for no sender. */
static void test_announced_release(void)
{
	struct end *e = begun();
	struct ear zero, copy;
	u64 i;

	listen(e, &zero, LOG, false);
	listen(e, &copy, LOG, true);
	spindle_mc_announce(&e->mc, 7);
	comes(e, 0);
	settle(e);
	CHECK_EQ(e->mc.sender[0].rel_slot, 0);
	consume(&zero, 1);
	settle(e);
	/* The view is consumed, and the message is not. */
	CHECK_EQ(e->mc.sender[0].rel_slot, 0);
	CHECK_EQ(e->mc.deliver.log_head, 1);
	consume(&zero, 2);
	settle(e);
	CHECK_EQ(e->mc.sender[0].rel_slot, 1);
	CHECK_EQ(e->mc.deliver.log_head, 2);
	/* Views take no bytes of a copying reader: messages of the full size still fit. */
	for (i = 1; i < 5; i++) {
		consume(&copy, 2 * i);
		spindle_mc_announce(&e->mc, 7 + i);
		comes(e, i);
		settle(e);
		CHECK_EQ(copy.tail, 2 * i + 2);
		check_entry(&copy, 2 * i, SPINDLE_DLV_VIEW, 7 + i);
		CHECK_EQ(copy.ring[2 * i & copy.q.mask].offset, 6 + i);
		check_entry(&copy, 2 * i + 1, SPINDLE_DLV_MSG, i);
		/* The view is consumed, and the bytes of the message stay what they are. */
		consume(&copy, 2 * i + 1);
		settle(e);
		CHECK_EQ(copy.q.copy_tail - copy.q.copy_free, 2);
		consume(&zero, 2 * i + 2);
	}
	CHECK_EQ(copy.q.error, 0);
	free(e);
}

/*
 * A reader that attaches while the announcement of a view is due is already in that view. The
 * reader gets the announcement of the next one.
 */
static void test_announce_attach(void)
{
	struct end *e = begun();
	struct ear early, late;

	listen(e, &early, LOG, false);
	spindle_mc_announce(&e->mc, 7);
	listen(e, &late, LOG, false);
	comes(e, 0);
	settle(e);
	check_entry(&early, 0, SPINDLE_DLV_VIEW, 7);
	check_entry(&early, 1, SPINDLE_DLV_MSG, 0);
	CHECK_EQ(late.tail, 1);
	check_entry(&late, 0, SPINDLE_DLV_MSG, 0);
	consume(&early, 2);
	settle(e);
	/*
	 * Entry 0 of the late reader is the message, so the late reader holds it and releases it.
	 */
	CHECK_EQ(e->mc.sender[0].rel_slot, 0);
	CHECK_EQ(e->mc.deliver.log_head, 1);
	consume(&late, 1);
	settle(e);
	CHECK_EQ(e->mc.sender[0].rel_slot, 1);
	spindle_mc_announce(&e->mc, 8);
	settle(e);
	CHECK_EQ(late.tail, 2);
	check_entry(&late, 1, SPINDLE_DLV_VIEW, 8);
	check_entry(&early, 2, SPINDLE_DLV_VIEW, 8);
	free(e);
}

/* A reader attached in view 7. View 8 began before the announcement of 7 reached any reader. */
static void test_announce_attach_between(void)
{
	struct end *e = begun();
	struct ear late;

	spindle_mc_announce(&e->mc, 7);
	listen(e, &late, LOG, false);
	spindle_mc_announce(&e->mc, 8);
	comes(e, 0);
	settle(e);
	CHECK_EQ(late.tail, 2);
	check_entry(&late, 0, SPINDLE_DLV_VIEW, 8);
	/* Nothing was delivered in view 7. */
	CHECK_EQ(late.ring[0].offset, 6);
	check_entry(&late, 1, SPINDLE_DLV_MSG, 0);
	consume(&late, 2);
	settle(e);
	CHECK_EQ(e->mc.sender[0].rel_slot, 1);
	free(e);
}

/*
 * A ring may fill up long before the window does. A quarter of 32 units is four messages here.
 * After four messages the other members learn of the release, although a quarter of the window
 * would be 16.
 */
static void test_quarter_of_ring(void)
{
	struct end *e = begun();
	struct ear ear;
	u64 i;

	listen(e, &ear, LOG, false);
	e->mc.ring_units = 32;
	e->mc.window = 64;
	for (i = 0; i < 8; i++) {
		comes(e, i);
		settle(e);
		e->member[0].dirty = false;
		consume(&ear, i + 1);
		settle(e);
		CHECK_EQ(e->mc.own.word[SPINDLE_COL_DELIVERED], i + 2);
		if (!CHECK_EQ(spindle_push_wanted(&e->mc, 0), i % 4 == 3))
			tap_fail("message %llu", (unsigned long long)i);
	}
	CHECK(!e->mc.own.overdue);
	CHECK_EQ(e->mc.sender[0].owed, 0);
	/*
	 * Units that a sender skips between two messages are released together with the first of
	 * them.
	 */
	arrives(e, 0, 8, 9);
	comes(e, 9);
	e->hdr[0][1].unit = 30;
	settle(e);
	e->member[0].dirty = false;
	consume(&ear, 9);
	settle(e);
	CHECK(spindle_push_wanted(&e->mc, 0));
	free(e);
}

/* What the members of the last view have released is owed to nobody in a subgroup that begins. */
static void test_owed_begin(void)
{
	struct end *e = begun_at(5);
	struct ear ear;

	listen(e, &ear, LOG, false);
	arrives(e, 0, 5, 1);
	says(e, 0, 2, 2, 0, 6);
	settle(e);
	consume(&ear, 1);
	settle(e);
	CHECK_EQ(e->mc.sender[0].rel_slot, 6);
	CHECK_EQ(e->mc.sender[0].owed, 2);
	free(e);
}

/* A reader without room is not skipped, and several views become one entry: the latest. */
static void announce_full(bool copy)
{
	struct end *e = begun();
	struct ear ear, other;

	listen(e, &ear, 2, copy);
	listen(e, &other, LOG, false);
	spindle_mc_announce(&e->mc, 6);
	comes(e, 0);
	settle(e);
	CHECK_EQ(ear.tail, 2);
	spindle_mc_announce(&e->mc, 7);
	comes(e, 1);
	settle(e);
	spindle_mc_announce(&e->mc, 8);
	settle(e);
	CHECK_EQ(ear.tail, 2);
	CHECK_EQ(other.tail, 2);
	consume(&ear, 1);
	settle(e);
	CHECK_EQ(ear.tail, 3);
	check_entry(&ear, 2, SPINDLE_DLV_VIEW, 8);
	consume(&ear, 2);
	settle(e);
	CHECK_EQ(ear.tail, 4);
	check_entry(&ear, 3, SPINDLE_DLV_MSG, 1);
	CHECK_EQ(other.tail, 4);
	check_entry(&other, 2, SPINDLE_DLV_VIEW, 8);
	check_entry(&other, 3, SPINDLE_DLV_MSG, 1);
	free(e);
}

/* The next view begins before the readers have the entry of one without messages: they skip it. */
static void test_announce_skipped(void)
{
	static const u32 from[] = { SPINDLE_NO_RANK };
	static const u64 trim[] = { 0 }, first[] = { 0 };
	struct end *e = begun(), *n = open_end(1, 0);
	struct ear ear;
	u64 have[S];

	listen(e, &ear, LOG, false);
	spindle_mc_announce(&e->mc, 7);
	spindle_mc_wedge(&e->mc);
	spindle_mc_freeze(&e->mc, have);
	CHECK(spindle_mc_trim(&e->mc, trim));
	spindle_mc_begin(&n->mc, &e->mc, from, first, 0);
	spindle_mc_announce(&n->mc, 8);
	settle(n);
	CHECK_EQ(ear.tail, 1);
	check_entry(&ear, 0, SPINDLE_DLV_VIEW, 8);
	CHECK_EQ(ear.ring[0].offset, 6);
	free(n);
	free(e);
}

/* The owner of a ring sees its own releases, so no other member is waiting for a report. */
static void test_own_ring(void)
{
	struct end *e = in_the_middle();

	smp_store_release(&e->consumed, 3); /* C */
	settle(e);
	CHECK_EQ(e->mc.sender[0].rel_slot, 1);
	CHECK_EQ(e->mc.sender[0].owed, 2);
	CHECK_EQ(e->mc.sender[1].rel_slot, 1);
	CHECK_EQ(e->mc.sender[1].owed, 0);
	free(e);
}

static void test_announce_full(void)
{
	announce_full(false);
	announce_full(true);
}

/* A view and a full window are more entries than the log has, and no reader consumes. */
static void test_announce_unread(void)
{
	struct end *e = open_end(1, 0);
	u32 i;

	e->mc.deliver.log_mask = W - 1;
	spindle_mc_attach_sender(&e->mc, e->desc, &e->free_slot, &e->free_unit);
	spindle_mc_announce(&e->mc, 7);
	for (i = 0; i < W; i++)
		commit(e, i);
	settle(e);
	CHECK_EQ(e->mc.stats.delivered, W);
	CHECK_EQ(e->free_slot, W);
	free(e);
}

/* The engine finds nothing to do while the log is full, and goes on when a reader has consumed. */
static void test_log_full(void)
{
	struct end *e = open_end(1, 0);
	struct ear ear;
	u32 i;

	e->mc.deliver.log_mask = W / 2 - 1;
	listen(e, &ear, LOG, false);
	spindle_mc_attach_sender(&e->mc, e->desc, &e->free_slot, &e->free_unit);
	for (i = 0; i < W; i++)
		commit(e, i);
	settle(e);
	CHECK_EQ(e->mc.stats.delivered, W / 2);
	consume(&ear, 1);
	settle(e);
	CHECK_EQ(e->mc.stats.delivered, W / 2 + 1);
	free(e);
}

/* A frozen reader gets no announcement, and does not hold up the others, full or not. */
static void test_announce_frozen(void)
{
	struct end *e = begun();
	struct ear ear, full, other;

	listen(e, &ear, 1, false);
	listen(e, &full, 1, false);
	listen(e, &other, LOG, false);
	consume(&ear, 5);
	settle(e);
	CHECK(ear.q.error);
	spindle_mc_announce(&e->mc, 6);
	settle(e);
	CHECK_EQ(full.tail, 1);
	consume(&full, 5);
	settle(e);
	CHECK(full.q.error);
	spindle_mc_announce(&e->mc, 7);
	settle(e);
	CHECK_EQ(ear.tail, 0);
	CHECK_EQ(ear.q.tail, 0);
	CHECK_EQ(other.tail, 2);
	check_entry(&other, 1, SPINDLE_DLV_VIEW, 7);
	free(e);
}

/*
 * Without a reader messages wait until the view ends and delivers them. A reader that attaches
 * after that gets neither the messages nor the announcement.
 */
static void test_hold(void)
{
	static const u64 trim[] = { 1 };
	struct end *e = begun();
	struct ear ear;
	u64 have[S];

	e->mc.deliver.hold = true;
	comes(e, 0);
	spindle_mc_announce(&e->mc, 7);
	settle(e);
	CHECK_EQ(e->mc.stats.delivered, 0);
	spindle_mc_wedge(&e->mc);
	spindle_mc_freeze(&e->mc, have);
	CHECK_EQ(have[0], 1);
	CHECK(!spindle_mc_drain(&e->mc));
	CHECK(spindle_mc_trim(&e->mc, trim));
	CHECK(drained(e));
	CHECK_EQ(e->mc.stats.delivered, 1);
	CHECK_EQ(e->mc.stats.discarded, 1);
	listen(e, &ear, LOG, false);
	settle(e);
	CHECK_EQ(ear.tail, 0);
	free(e);
}

/*
 * The only sender leaves, and returns one view later. Readers keep the messages that they hold, and
 * the sender starts where the other members go on.
 */
static void test_no_sender(void)
{
	static const u64 trim[] = { 2 }, first[] = { 0 };
	static const u32 none[] = { SPINDLE_NO_RANK };
	struct end *e = begun(), *n = open_end(1, 0), *m = open_end(2, 1);
	struct ear ear;
	u64 have[S];

	listen(e, &ear, LOG, false);
	comes(e, 0);
	comes(e, 1);
	settle(e);
	CHECK_EQ(ear.tail, 2);
	spindle_mc_wedge(&e->mc);
	spindle_mc_freeze(&e->mc, have);
	CHECK(spindle_mc_trim(&e->mc, trim) && drained(e));

	n->mc.senders = 0;
	n->mc.my_sender = SPINDLE_NO_RANK;
	n->member[0].sender = SPINDLE_NO_RANK;
	spindle_mc_begin(&n->mc, &e->mc, none, first, 0);
	spindle_mc_announce(&n->mc, 8);
	CHECK_EQ(n->mc.deliver.log_tail - n->mc.deliver.log_head, 2);
	settle(n);
	check_entry(&ear, 2, SPINDLE_DLV_VIEW, 8);
	consume(&ear, 1);
	settle(n);
	CHECK_EQ(n->mc.deliver.log_tail - n->mc.deliver.log_head, 2);
	spindle_mc_wedge(&n->mc);
	spindle_mc_freeze(&n->mc, have);
	CHECK(spindle_mc_trim(&n->mc, trim) && drained(n));

	m->mc.senders = 1;
	m->mc.my_sender = SPINDLE_NO_RANK;
	m->member[1].sender = SPINDLE_NO_RANK;
	spindle_mc_begin(&m->mc, &n->mc, none, first, 0);
	spindle_mc_announce(&m->mc, 9);
	comes(m, 0);
	settle(m);
	check_entry(&ear, 3, SPINDLE_DLV_VIEW, 9);
	check_entry(&ear, 4, SPINDLE_DLV_MSG, 0);
	consume(&ear, 5);
	settle(m);
	CHECK_EQ(m->mc.deliver.log_tail, m->mc.deliver.log_head);
	CHECK_EQ(m->mc.sender[0].rel_slot, 1);
	free(e);
	free(n);
	free(m);
}

/* ---- large messages ------------------------------------------------------------ */

/* Member 0 of two. A message of more than 70 bytes is large. */
static struct end *open_large(void)
{
	struct end *e = open_end(2, 0);

	e->mc.tune.large = 70;
	attach(e);
	return e;
}

/* The mover of the held message brings it to all members. */
static void place(struct end *e)
{
	CHECK(spindle_mc_hold(&e->mc, SPINDLE_HELD_MOVING));
	CHECK(spindle_mc_hold(&e->mc, SPINDLE_HELD_PLACED));
}

static void test_hold_steps(void)
{
	static const bool may[4][4] = {
		[SPINDLE_HELD_NONE] = { [SPINDLE_HELD_WAITING] = true },
		[SPINDLE_HELD_WAITING] = { [SPINDLE_HELD_MOVING] = true },
		[SPINDLE_HELD_MOVING] = { [SPINDLE_HELD_WAITING] = true,
					  [SPINDLE_HELD_PLACED] = true },
		[SPINDLE_HELD_PLACED] = { [SPINDLE_HELD_NONE] = true,
					  [SPINDLE_HELD_WAITING] = true },
	};
	struct end *e = open_large();
	u32 from, to;

	for (from = 0; from < 4; from++) {
		for (to = 0; to < 4; to++) {
			e->mc.send.held = from;
			if (!CHECK_EQ(spindle_mc_hold(&e->mc, to), may[from][to]))
				tap_fail("from %u to %u", from, to);
			CHECK_EQ(e->mc.send.held, may[from][to] ? to : from);
		}
	}
	free(e);
}

/*
 * A large message gets no round before all members have its bytes. Messages that were committed
 * behind it wait as well.
 */
static void test_held(void)
{
	struct end *e = open_large();

	commit_len(e, 0, 70);
	commit_len(e, 1, 71);
	commit_len(e, 2, 70);
	settle(e);
	CHECK_EQ(e->mc.own.word[SPINDLE_COL_SLOTS], 1);
	CHECK_EQ(e->mc.send.held, SPINDLE_HELD_WAITING);
	CHECK_EQ(e->mc.send.held_slot.len, 71);
	CHECK(!spindle_send_test(&e->mc));
	/* The message waits even if other members need rounds. */
	spindle_send_trigger(&e->mc);
	settle(e);
	CHECK_EQ(e->mc.own.word[SPINDLE_COL_SLOTS], 1);
	CHECK(spindle_mc_hold(&e->mc, SPINDLE_HELD_MOVING));
	CHECK(!spindle_send_test(&e->mc));
	spindle_send_trigger(&e->mc);
	settle(e);
	CHECK_EQ(e->mc.own.word[SPINDLE_COL_SLOTS], 1);
	CHECK_EQ(e->mc.send.held, SPINDLE_HELD_MOVING);
	/* One part of the bytes arrived, the rest failed. */
	CHECK(spindle_mc_hold(&e->mc, SPINDLE_HELD_WAITING));
	settle(e);
	CHECK_EQ(e->mc.own.word[SPINDLE_COL_SLOTS], 1);
	place(e);
	CHECK_EQ(e->mc.own.word[SPINDLE_COL_SLOTS], 1);
	CHECK(spindle_send_test(&e->mc));
	settle(e);
	CHECK_EQ(e->mc.send.held, SPINDLE_HELD_NONE);
	CHECK_EQ(e->mc.own.word[SPINDLE_COL_SLOTS], 3);
	CHECK_EQ(e->msgs[0][1].len, 71);
	/* A push may leave out these bytes, but not those of the other messages. */
	CHECK_EQ(e->ends[0].to, U64_MAX);
	CHECK(!e->ends[1].to);
	CHECK_EQ(e->ends[2].to, U64_MAX);
	free(e);
}

/* ---- messages for some of the members ------------------------------------------- */

static void commit_for(struct end *e, u64 slot, u32 len, u64 mask, u64 vid)
{
	e->desc[slot].mask = mask;
	e->desc[slot].flags = (u32)(u16)vid << SPINDLE_TX_VIEW_SHIFT;
	commit_len(e, slot, len);
}

/*
 * Member 0 of two in view 9. View 8 had three members, and the one in the middle has gone. The
 * ranks of each message are those of the view that the message names.
 */
static void test_direct(void)
{
	struct end *e = open_large();

	e->mc.vid = e->mc.latest = 9;
	e->mc.former[0] = (struct spindle_mc_former){
		.vid = 8, .members = 3, .now = { 0, SPINDLE_NO_MEMBER, 1 },
	};
	/* No stream brings a large message to some of the members. */
	commit_for(e, 0, 100, 2, 9);
	commit_for(e, 1, 0, 1, 9);
	/* All its destinations have gone. */
	commit_for(e, 2, 70, 2, 8);
	commit_for(e, 3, 70, 6, 8);
	/* Without a mask the view is not looked at. */
	commit_for(e, 4, 70, 0, 1);
	/* The mask of a slot that the process gave up does not matter. */
	commit_for(e, 5, 0, U64_MAX, 9);
	e->desc[5].flags |= SPINDLE_TX_ABANDON;
	settle(e);
	CHECK_EQ(e->mc.send.held, SPINDLE_HELD_NONE);
	CHECK_EQ(e->mc.own.word[SPINDLE_COL_SLOTS], 4);
	CHECK_EQ(e->mc.stats.sent, 4);
	CHECK_EQ(e->mc.stats.direct, 3);
	CHECK_EQ(e->mc.stats.abandoned, 2);
	CHECK_EQ(e->hdr[0][0].mask, 2);
	CHECK_EQ(e->hdr[0][1].mask, 1);
	CHECK_EQ(e->hdr[0][2].mask, 2);
	CHECK_EQ(e->hdr[0][2].unit, 6);
	CHECK_EQ(e->hdr[0][3].mask, 0);
	CHECK_EQ(e->ends[0].to, 2);
	CHECK_EQ(e->ends[3].to, U64_MAX);
	CHECK(!(e->mc.events & SPINDLE_MC_FROZEN));
	free(e);
}

/*
 * A process that names a member that never was, or a view that is forgotten, sends no more. The
 * process after it has all slots.
 */
static void test_direct_frozen(void)
{
	static const struct { u64 mask, vid; } wrong[] = {
		{ 4, 9 }, { 3 | BIT_ULL(63), 9 }, { 1, 8 }, { U64_MAX, 10 },
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		struct end *e = open_large();

		e->mc.vid = e->mc.latest = 9;
		commit_for(e, 0, 70, wrong[i].mask, wrong[i].vid);
		commit(e, 1);
		settle(e);
		if (!CHECK_EQ(e->mc.send.txq.error, SPINDLE_ERR_TX_MASK))
			tap_fail("wrong %u", i);
		CHECK(e->mc.events & SPINDLE_MC_FROZEN);
		CHECK_EQ(e->mc.own.word[SPINDLE_COL_SLOTS], 0);
		CHECK_EQ(e->mc.stats.direct, 0);
		CHECK_EQ(e->free_slot, 1);
		CHECK_EQ(e->mc.send.txq.slot, 1);
		free(e);
	}
}

/* Behind a message that is under way, the slot comes back with that message. */
static void test_direct_behind(void)
{
	struct end *e = open_large();

	e->mc.vid = e->mc.latest = 9;
	commit(e, 0);
	commit_for(e, 1, 70, 4, 9);
	settle(e);
	CHECK_EQ(e->mc.send.txq.error, SPINDLE_ERR_TX_MASK);
	CHECK_EQ(e->mc.own.word[SPINDLE_COL_SLOTS], 1);
	CHECK_EQ(e->free_slot, 0);
	CHECK_EQ(e->ends[0].slot, 2);
	CHECK_EQ(e->ends[0].unit, 4);
	free(e);
}

/* A push brings at most SPINDLE_MAX_DIRECT bytes of a message. */
static void test_direct_long(void)
{
	u32 longer;

	for (longer = 0; longer < 2; longer++) {
		struct end *e = open_large();
		struct spindle_tx_desc *d = &e->desc[0];

		e->mc.vid = e->mc.latest = 9;
		e->mc.send.txq.max_msg = U32_MAX;
		e->mc.send.txq.ring_units = U32_MAX;
		d->units = spindle_units(SPINDLE_MAX_DIRECT) + 1;
		d->len = SPINDLE_MAX_DIRECT + longer;
		d->mask = 2;
		d->flags = 9U << SPINDLE_TX_VIEW_SHIFT;
		smp_store_release(&d->ready, 1);
		settle(e);
		CHECK_EQ(e->mc.send.txq.error, longer ? SPINDLE_ERR_TX_LEN : 0);
		CHECK_EQ(e->mc.stats.direct, !longer);
		CHECK_EQ(e->mc.send.txq.slot, 1);
		free(e);
	}
}

/* An abandoned message is not moved, however large it is. */
static void test_large_abandoned(void)
{
	struct end *e = open_large();

	e->desc[0].flags = SPINDLE_TX_ABANDON;
	commit_len(e, 0, 100);
	commit(e, 1);
	settle(e);
	CHECK_EQ(e->mc.send.held, SPINDLE_HELD_NONE);
	CHECK_EQ(e->mc.stats.abandoned, 1);
	CHECK_EQ(e->mc.own.word[SPINDLE_COL_SLOTS], 1);
	free(e);
}

/* The memory of a process that exits stays until the last committed message is sent. */
static void test_parting(void)
{
	struct end *e = open_large();
	u32 i;

	/* One message in a pass: the message behind the large one is not sent together with it. */
	e->mc.tune.send_budget = 1;
	commit_len(e, 0, 100);
	commit_len(e, 1, 100);
	commit(e, 2);
	commit(e, 3);
	settle(e);
	if (!CHECK(!spindle_send_test(&e->mc)))
		return;
	CHECK(!spindle_mc_detach_sender(&e->mc));
	for (i = 0; i < 2; i++) {
		CHECK(spindle_mc_hold(&e->mc, SPINDLE_HELD_MOVING));
		settle(e);
		spindle_send_trigger(&e->mc);
		CHECK_EQ(e->mc.own.word[SPINDLE_COL_SLOTS], i);
		CHECK(e->mc.send.parting && e->mc.send.txq.desc);
		CHECK(!(e->mc.events & SPINDLE_MC_PARTED));
		CHECK(spindle_mc_hold(&e->mc, SPINDLE_HELD_PLACED));
		if (!i)
			settle(e);
	}
	spindle_send_trigger(&e->mc);
	CHECK_EQ(e->mc.own.word[SPINDLE_COL_SLOTS], 2);
	CHECK(!(e->mc.events & SPINDLE_MC_PARTED));
	settle(e);
	CHECK_EQ(e->mc.own.word[SPINDLE_COL_SLOTS], 4);
	CHECK(e->mc.events & SPINDLE_MC_PARTED);
	CHECK(!e->mc.send.parting && !e->mc.send.txq.desc);

	/* The same without a message behind the large one. */
	e->mc.events = 0;
	spindle_mc_attach_sender(&e->mc, e->desc, &e->free_slot, &e->free_unit);
	commit_len(e, 4, 100);
	CHECK(!spindle_mc_detach_sender(&e->mc));
	CHECK(spindle_mc_hold(&e->mc, SPINDLE_HELD_MOVING));
	spindle_send_trigger(&e->mc);
	CHECK(e->mc.send.parting && e->mc.send.txq.desc);
	CHECK(!(e->mc.events & SPINDLE_MC_PARTED));
	CHECK(spindle_mc_hold(&e->mc, SPINDLE_HELD_PLACED));
	settle(e);
	CHECK_EQ(e->mc.own.word[SPINDLE_COL_SLOTS], 5);
	CHECK(e->mc.events & SPINDLE_MC_PARTED);

	/* A process without a held message is finished at once, and no event follows. */
	e->mc.events = 0;
	spindle_mc_attach_sender(&e->mc, e->desc, &e->free_slot, &e->free_unit);
	commit(e, 5);
	CHECK(spindle_mc_detach_sender(&e->mc));
	CHECK_EQ(e->mc.own.word[SPINDLE_COL_SLOTS], 6);
	CHECK(!e->mc.send.parting && !e->mc.send.txq.desc);
	settle(e);
	CHECK(!(e->mc.events & SPINDLE_MC_PARTED));
	free(e);
}

/* A process that broke the rules exits: the message behind the large one is not sent. */
static void test_parting_frozen(void)
{
	struct end *e = open_large();

	commit_len(e, 0, 100);
	commit_len(e, 1, 101);
	settle(e);
	CHECK(!spindle_mc_detach_sender(&e->mc));
	place(e);
	settle(e);
	CHECK_EQ(e->mc.own.word[SPINDLE_COL_SLOTS], 1);
	CHECK(e->mc.send.txq.error);
	CHECK(e->mc.events & SPINDLE_MC_PARTED);
	free(e);
}

/* A message that was placed in one view is moved again in the next, because the members differ. */
static void test_large_views(void)
{
	static const u64 trim[] = { 1, 0 }, first[] = { 1, 0 };
	static const u32 from[] = { 0, 1 };
	enum spindle_held held;
	u64 have[S];

	for (held = SPINDLE_HELD_NONE; held <= SPINDLE_HELD_PLACED; held++) {
		struct end *e = open_large(), *n = open_large();

		commit(e, 0);
		if (held != SPINDLE_HELD_NONE)
			commit_len(e, 1, 77);
		settle(e);
		if (held > SPINDLE_HELD_WAITING)
			CHECK(spindle_mc_hold(&e->mc, SPINDLE_HELD_MOVING));
		CHECK_EQ(spindle_mc_detach_sender(&e->mc), held == SPINDLE_HELD_NONE);
		/* In a view that ends, the message is not sent any more. */
		spindle_mc_wedge(&e->mc);
		if (held == SPINDLE_HELD_PLACED)
			CHECK(spindle_mc_hold(&e->mc, SPINDLE_HELD_PLACED));
		settle(e);
		CHECK_EQ(e->mc.send.held, held);
		spindle_mc_freeze(&e->mc, have);
		CHECK(spindle_mc_trim(&e->mc, trim));
		CHECK(drained(e));
		n->mc.deliver.readers = NULL;
		spindle_mc_begin(&n->mc, &e->mc, from, first, 0);
		CHECK_EQ(n->mc.send.held, held ? SPINDLE_HELD_WAITING : SPINDLE_HELD_NONE);
		CHECK_EQ(n->mc.send.parting, held != SPINDLE_HELD_NONE);
		if (held) {
			settle(n);
			CHECK_EQ(n->mc.own.word[SPINDLE_COL_SLOTS], 1);
			place(n);
			settle(n);
			CHECK_EQ(n->mc.own.word[SPINDLE_COL_SLOTS], 2);
			CHECK_EQ(n->msgs[0][1].len, 77);
			CHECK_EQ(n->msgs[0][1].unit, 2);
			CHECK(!n->ends[1].to);
			CHECK(n->mc.events & SPINDLE_MC_PARTED);
		}
		free(e);
		free(n);
	}
}

/*
 * In a subgroup that stays, a placed message does not stay placed either, because its stream
 * stopped with the view.
 */
static void test_large_stays(void)
{
	enum spindle_held held;
	u64 have[S];

	for (held = SPINDLE_HELD_NONE; held <= SPINDLE_HELD_PLACED; held++) {
		struct end *e = open_large();

		spindle_mc_wedge(&e->mc);
		e->mc.send.held = held;
		spindle_mc_freeze(&e->mc, have);
		spindle_mc_stay(&e->mc);
		CHECK_EQ(e->mc.send.held, held ? SPINDLE_HELD_WAITING : SPINDLE_HELD_NONE);
		free(e);
	}
}

static void test_log_entries(void)
{
	CHECK_EQ(spindle_mc_log_entries(3, 8), 32);
	CHECK_EQ(spindle_mc_log_entries(1, 1), 1);
	CHECK_EQ(spindle_mc_log_entries(64, 65536), 1ULL << 22);
	CHECK_EQ(spindle_mc_log_entries(0, 8), 8);
}

/* ---- slots of the process, between two changes --------------------------------- */

static void abandon(struct end *e, u64 slot)
{
	e->desc[slot & (W - 1)].flags = SPINDLE_TX_ABANDON;
	commit_len(e, slot, 0);
}

/* A slot is free when each member has delivered its message, and not before. */
static void test_free_slots(void)
{
	struct end *e = open_end(S, 1);

	attach(e);
	commit(e, 0);
	commit(e, 1);
	settle(e);
	push_all(e);
	/* Sequence number 0 is stable, so the own message is not: it has number 1. */
	says(e, 0, 2, 1, 0, 0);
	says(e, 2, 2, 1, 0, 0);
	settle(e);
	CHECK(!spindle_deliver_test(&e->mc));
	CHECK_EQ(e->tail, 0);
	/* Of two own messages the first one is stable. */
	says(e, 0, 2, 3, 0, 0);
	says(e, 2, 2, 3, 0, 0);
	settle(e);
	CHECK_EQ(e->tail, 1);
	says(e, 0, 2, 6, 1, 0);
	says(e, 2, 2, 6, 1, 0);
	settle(e);
	CHECK_EQ(e->tail, 2);
	smp_store_release(&e->consumed, 2);
	settle(e);
	CHECK_EQ(e->mc.own.word[SPINDLE_COL_DELIVERED], 6);
	CHECK_EQ(e->mc.send.free_slot, 0);
	says(e, 0, 2, 6, 2, 0);
	says(e, 2, 2, 6, 2, 0);
	settle(e);
	CHECK_EQ(e->mc.send.free_slot, 1);
	CHECK_EQ(e->free_slot, 1);
	free(e);
}

/* The next process begins where the last one has got to. */
static void test_next_process(void)
{
	struct end *e = open_end(S, 1);

	e->mc.send.txq.free_slot = 5;
	e->mc.send.txq.free_unit = 10;
	attach(e);
	CHECK_EQ(e->free_slot, 5);
	CHECK_EQ(e->free_unit, 10);
	free(e);
}

/* A slot that is given up is free together with the last message before it. */
static void test_abandon(void)
{
	struct end *e = open_end(S, 1);

	attach(e);
	abandon(e, 0);
	settle(e);
	CHECK_EQ(e->free_slot, 1);
	CHECK_EQ(e->free_unit, 2);
	commit(e, 1);
	abandon(e, 2);
	settle(e);
	CHECK_EQ(e->free_slot, 1);
	CHECK_EQ(e->ends[0].slot, 3);
	commit(e, 3);
	abandon(e, 4);
	settle(e);
	CHECK_EQ(e->free_slot, 1);
	CHECK_EQ(e->ends[0].slot, 3);
	CHECK_EQ(e->ends[1].slot, 5);
	free(e);
}

/* ---- columns that no correct member writes ---------------------------------------- */

static bool believes(u64 sent, u64 received, u64 delivered, u64 slots)
{
	struct end *e = in_the_middle();
	bool bad;
	u64 n;

	push_all(e);
	says(e, 0, 2, 3, 2, 2);
	settle(e);
	CHECK_EQ(e->mc.bad, 0);
	for (n = 2; n < slots; n++)
		arrives(e, 0, n, n);
	says(e, 0, sent, received, delivered, slots);
	settle(e);
	bad = e->mc.bad;
	CHECK_EQ(!!(e->mc.events & SPINDLE_MC_FAILED), bad);
	free(e);
	return !bad;
}

static void test_implausible(void)
{
	CHECK(believes(3, 4, 3, 3));
	/* No column goes back. */
	CHECK(!believes(1, 4, 3, 2));
	CHECK(!believes(3, 2, 2, 3));
	CHECK(!believes(3, 4, 1, 3));
	/* A window of slots is counted from the oldest one that a reader holds here. */
	CHECK(believes(8, 4, 3, 8));
	CHECK(!believes(9, 4, 3, 9));
	/* This member has given up or sent two rounds, and 7 is its next message. */
	CHECK(believes(3, 7, 3, 3));
	CHECK(!believes(3, 8, 3, 3));
}

/*
 * A message comes by express, and then a block with the same columns but one. An acknowledgment in
 * that one is news.
 */
static void block_behind_express(u64 received, u64 delivered)
{
	const u64 word[SPINDLE_BLOCK_WORDS] = { 1, 1, 0, 1 };
	const struct spindle_msg msg = { .len = 8 };
	struct end *e = open_end(S, 1);
	struct spindle_express x = {};

	e->member[0].express = &x;
	commit(e, 0);
	attach(e);
	settle(e);
	push_all(e);
	spindle_express_write(&x, word, &msg, e->pay[0], sizeof(e->pay[0]));
	settle(e);
	CHECK_EQ(e->mc.sender[0].walk.slot, 1);
	CHECK(e->member[0].overtaken);
	says(e, 0, 1, received, delivered, 1);
	settle(e);
	CHECK_EQ(e->mc.bad, 0);
	CHECK_EQ(e->member[0].received, received);
	CHECK_EQ(e->member[0].delivered, delivered);
	free(e);
}

static void test_block_behind_express(void)
{
	block_behind_express(2, 0);
	block_behind_express(1, 1);
}

/* A subgroup that does not run has nothing to push. */
static void test_nothing_to_push(void)
{
	struct end *e = open_end(S, 1);

	e->member[0].dirty = true;
	CHECK(spindle_push_pending(&e->mc));
	e->mc.formed = false;
	CHECK(!spindle_push_pending(&e->mc));
	free(e);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a wedged subgroup receives all and gives no more rounds", test_wedge },
		{ "a frozen subgroup keeps what it has and receives nothing more", test_freeze },
		{ "a legal trim is accepted, and an illegal one is not", test_trim },
		{ "a view ends when its readers have consumed the trim", test_drain },
		{ "the end of a view copies a part in each pass", test_drain_copies },
		{ "positions go on from view to view", test_positions },
		{ "a partly copied message ends with its view", test_begin_copies },
		{ "the log names senders by their new ranks", test_begin_log },
		{ "the next view sends waiting messages and keeps held ones", test_begin },
		{ "a subgroup continues in the next view", test_keep },
		{ "readers get an event when a view begins", test_begin_told },
		{ "a view begins with the right counters", test_begin_counts },
		{ "in a new view completions vouch for low bits of counts", test_begin_vouched },
		{ "a member sends for the first time", test_begin_sender },
		{ "a free slot stays free in the next view", test_begin_free },
		{ "a subgroup may stay in one view and not in the next", test_stays_once },
		{ "steps out of order are rejected", test_order },
		{ "a subgroup that stays shows what the freeze received", test_stays_told },
		{ "a joiner begins where the other members are", test_join },
		{ "one member breaks the protocol, the others are believed", test_bad_member },
		{ "the messages of a sender that broke the protocol are ignored", test_bad_sender },
		{ "two members broke the protocol", test_bad_members },
		{ "a receiver that says that it has sent is bad", test_receiver_sends },
		{ "messages that are here are delivered during a freeze", test_freeze_idle },
		{ "a subgroup with too few members gives no rounds", test_lacking },
		{ "a process exits while its subgroup gives no rounds", test_parting_waits },
		{ "a process exits, and then its subgroup ends", test_parting_end },
		{ "the trim of an unordered subgroup takes no message back", test_trim_unordered },
		{ "a member acknowledges each quarter of a ring", test_quarter_of_ring },
		{ "a member acknowledges nothing of its own ring", test_own_ring },
		{ "a message for other members is a position", test_others },
		{ "readers get one event of a view before its messages", test_announce },
		{ "a view event in a queue is no message", test_announced_release },
		{ "a reader gets events of views after its own", test_announce_attach },
		{ "a reader attaches between two views", test_announce_attach_between },
		{ "a full log makes the engine wait, not spin", test_log_full },
		{ "a subgroup that begins owes no space", test_owed_begin },
		{ "a full reader gets the event of the latest view later", test_announce_full },
		{ "a view that is due when the next one begins", test_announce_skipped },
		{ "a log fills up without readers", test_announce_unread },
		{ "a frozen reader gets no event", test_announce_frozen },
		{ "hold ends with the view", test_hold },
		{ "a view has no member that may send", test_no_sender },
		{ "a large message has one of several ends", test_hold_steps },
		{ "a large message has no round before its bytes arrive", test_held },
		{ "a large message is abandoned", test_large_abandoned },
		{ "a message names some of the members", test_direct },
		{ "a message for members that never were freezes its sender", test_direct_frozen },
		{ "a refused message's slot comes back with the one before", test_direct_behind },
		{ "a direct message has a limit", test_direct_long },
		{ "a large message survives the exit of its process", test_parting },
		{ "a large message survives a process that broke the rules", test_parting_frozen },
		{ "a large message moves to the next view", test_large_views },
		{ "a large message moves through a subgroup that stays", test_large_stays },
		{ "the log has entries for each view", test_log_entries },
		{ "slots that all members have delivered", test_free_slots },
		{ "slots that are given up", test_abandon },
		{ "slots of the next process", test_next_process },
		{ "columns that go back, or too far", test_implausible },
		{ "a block behind an express message", test_block_behind_express },
		{ "nothing to push", test_nothing_to_push },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
