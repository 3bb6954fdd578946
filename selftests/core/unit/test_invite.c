// SPDX-License-Identifier: GPL-2.0-only
/*
 * A live view and the nodes that join and leave: how a member invites its guests, and when it
 * leaves.
 */
#include <stdlib.h>
#include <string.h>

#include "core/group/group.h"
#include "tap.h"

#define N 2
#define VID 5
#define SEATS 4
#define TIMEOUT 100

static struct spindle_mb mb;
static struct spindle_mg mg;
static struct spindle_view view;
static void *row[N];
static u64 seen[SPINDLE_DECREE_HEAD];
/* Guests by seat. Id 0: the seat is free. */
static struct spindle_mg_guest guest[SEATS];

static bool op_guest(void *ctx, struct spindle_mg_guest *g)
{
	for (; g->seat < SEATS; g->seat++) {
		if (!guest[g->seat].id)
			continue;
		*g = guest[g->seat];
		return true;
	}
	return false;
}

static const struct spindle_mg_ops ops = { .guest = op_guest };

static void op_none(void *ctx)
{
}

static bool op_flushed(void *ctx, u32 rank)
{
	return false;
}

/* The view stays as it is, because no guest counts as connected. */
static bool op_connected(void *ctx, u32 id, u64 incarnation, struct spindle_addr *addr)
{
	return false;
}

static const struct spindle_mb_ops mb_ops = {
	.wedge = op_none, .flushed = op_flushed, .guest = op_connected, .stopped = op_none,
};

static void sit(u32 seat, u32 id, u64 ready)
{
	guest[seat] = (struct spindle_mg_guest){
		.seat = seat, .id = id, .incarnation = 10 * id, .ready = ready,
	};
}

static void begin(u32 members)
{
	u32 i;

	memset(&mb, 0, sizeof(mb));
	memset(guest, 0, sizeof(guest));
	view = (struct spindle_view){ .vid = VID, .num_members = members };
	for (i = 0; i < members; i++) {
		view.member[i].id = 1 + i;
		row[i] = calloc(1, spindle_mb_row_bytes(0));
		mb.peer[i].row = row[i];
	}
	mb.ops = &mb_ops;
	mb.row = row[0];
	mb.seen = seen;
	mb.timeout = TIMEOUT;
	mb.interval = TIMEOUT / 10;
	CHECK_EQ(spindle_mb_init(&mb, &view, 0, 1), 0);
	mg = (struct spindle_mg){
		.ops = &ops, .mb = &mb, .view = spindle_mb_view(&mb), .formed = true,
	};
}

static void end(void)
{
	u32 i;

	for (i = 0; i < N; i++) {
		free(row[i]);
		row[i] = NULL;
	}
}

/* The node that the member invites at this time. */
static u32 invited(u64 now)
{
	spindle_mg_invite(&mg, now);
	CHECK_EQ(mb.wish_inc, 10 * mb.wish);
	return mb.wish;
}

static void test_ready(void)
{
	begin(N);
	CHECK_EQ(invited(10), 0);
	sit(2, 30, 0);
	CHECK_EQ(invited(20), 0);
	sit(2, 30, VID - 1);
	CHECK_EQ(invited(30), 0);
	sit(2, 30, VID);
	CHECK_EQ(invited(40), 30);
	/* The guest was connected to all members, and is so no more. */
	sit(2, 30, 0);
	CHECK_EQ(invited(50), 0);
	end();
}

static void test_nobody(void)
{
	begin(N);
	sit(0, 30, VID);
	mb.leaving = true;
	CHECK_EQ(invited(10), 0);
	mb.leaving = false;
	mb.state = SPINDLE_MB_JOINING;
	CHECK_EQ(invited(20), 0);
	/* A joiner keeps its wish for itself. */
	mb.wish = 40;
	mb.wish_inc = 400;
	CHECK_EQ(invited(30), 40);
	end();
}

static void test_gone(void)
{
	begin(N);
	sit(1, 30, VID);
	CHECK_EQ(invited(10), 30);
	/* Another life of the guest sits there. At first this life is not ready, and then it is. */
	guest[1].incarnation++;
	guest[1].ready = 0;
	CHECK_EQ(invited(20), 0);
	guest[1].ready = VID;
	spindle_mg_invite(&mg, 30);
	CHECK_EQ(mb.wish_inc, guest[1].incarnation);
	guest[1].incarnation++;
	spindle_mg_invite(&mg, 40);
	CHECK_EQ(mb.wish_inc, guest[1].incarnation);
	guest[1].id = 0;
	CHECK_EQ(invited(50), 0);
	end();
}

/* The guests say that they are ready, and the leader does not admit them. */
static void test_turns(void)
{
	u64 now = 10, wish = 20 * TIMEOUT + 1;

	begin(N);
	sit(0, 30, VID);
	sit(2, 50, VID);
	sit(3, 60, 0);
	CHECK_EQ(invited(now), 50);
	CHECK_EQ(invited(now + wish - 1), 50);
	CHECK_EQ(invited(now += wish), 30);
	sit(1, 40, VID);
	CHECK_EQ(invited(now += wish), 40);
	CHECK_EQ(invited(now += wish), 50);
	/* A single guest is invited again. */
	guest[0].id = 0;
	guest[1].id = 0;
	CHECK_EQ(invited(now += wish), 50);
	end();
}

/* The member holds a change, but not for ever, while a guest is not ready. */
static void test_hold(void)
{
	begin(N);
	sit(0, 30, 0);
	spindle_mg_invite(&mg, 5);
	CHECK(!mb.hold);
	sit(2, 50, VID);
	CHECK_EQ(invited(10), 50);
	CHECK(mb.hold);
	spindle_mg_invite(&mg, 9 + TIMEOUT);
	CHECK(mb.hold);
	spindle_mg_invite(&mg, 10 + TIMEOUT);
	CHECK(!mb.hold);
	end();
	begin(N);
	sit(0, 30, VID);
	sit(2, 50, VID);
	spindle_mg_invite(&mg, 10);
	CHECK(!mb.hold);
	end();
}

/* A change of the view may take long. The member gives up a wish only if the guest has gone. */
static void test_in_change(void)
{
	begin(N);
	sit(0, 30, VID);
	CHECK_EQ(invited(10), 30);
	mb.state = SPINDLE_MB_WEDGED;
	sit(0, 30, 0);
	sit(1, 40, VID);
	CHECK_EQ(invited(10 + 30 * TIMEOUT), 30);
	guest[0].id = 0;
	CHECK_EQ(invited(20 + 30 * TIMEOUT), 40);
	end();
}

static void test_runs(void)
{
	begin(N);
	sit(0, 30, VID);
	spindle_mg_run(&mg, 10);
	CHECK_EQ(mb.wish, 30);
	end();
}

static void test_leave(void)
{
	begin(N);
	mb.state = SPINDLE_MB_WEDGED;
	spindle_mb_leave(&mb);
	spindle_mb_run(&mb, 5);
	CHECK(!mb.leaving);
	/* The change is over. */
	mb.state = SPINDLE_MB_ACTIVE;
	spindle_mb_run(&mb, 10);
	CHECK(mb.leaving);
	CHECK(mb.state != SPINDLE_MB_STOPPED);
	end();
	/* The last member has no other member to wait for. */
	begin(1);
	mb.any = true;
	spindle_mb_leave(&mb);
	CHECK(spindle_mb_run(&mb, 10));
	CHECK_EQ(mb.state, SPINDLE_MB_STOPPED);
	CHECK_EQ(mb.reason, SPINDLE_MB_LEFT);
	CHECK(!spindle_mb_run(&mb, 20));
	end();
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a guest that is connected to all members is invited", test_ready },
		{ "a member that leaves and a joiner do not invite", test_nobody },
		{ "a guest that has gone is not invited any more", test_gone },
		{ "guests that are not admitted take turns", test_turns },
		{ "a change is held while a guest connects", test_hold },
		{ "a wish survives a long change unless its guest has gone", test_in_change },
		{ "a pass invites guests", test_runs },
		{ "a node leaves when no change is under way", test_leave },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
