// SPDX-License-Identifier: GPL-2.0-only
/*
 * Lies in membership: one node with the module's core, and others whose rows the case writes.
 * What a member can do to the others, and what it cannot, is a list in membership.rst; each
 * entry is a case here, or a property of the simulator.
 */
#include "tap.h"
#include "member.h"

#define MOST 5
#define INTERVAL 100
#define TIMEOUT (10 * INTERVAL)
#define STEP (INTERVAL / 2) /* between two passes */

static struct spindle_mb mb;
static struct spindle_mb_row *row[MOST];
static struct spindle_view view;
static u64 now, cuts, have[MOST], trimmed[MOST];
static u32 installs, stops, last_id, refused_id, absent_id;
static bool undrained;

static void op_none(void *ctx)
{
}

static bool op_flushed(void *ctx, u32 rank)
{
	return true;
}

static void op_freeze(void *ctx, u64 *words)
{
	memcpy(words, have, view.num_members * sizeof(*words));
}

static bool op_trim(void *ctx, const u64 *trim)
{
	memcpy(trimmed, trim, view.num_members * sizeof(*trim));
	return true;
}

static bool op_drain(void *ctx)
{
	return !undrained;
}

/* One subgroup of all members, all of whom send. One node has no place in it. */
static const char *op_layout(void *ctx, const struct spindle_view *old, struct spindle_view *next)
{
	if (refused_id && spindle_view_rank(next, refused_id) >= 0)
		return "no room";
	next->num_subgroups = 1;
	next->subgroup[0].members = ~0ULL >> (64 - next->num_members);
	next->subgroup[0].senders = next->subgroup[0].members;
	return NULL;
}

static bool op_join(void *ctx, u32 id, u64 incarnation, struct spindle_mb_peer *peer)
{
	return false;
}

static void op_install(void *ctx, const struct spindle_view *next, const u32 *from,
		       const u64 *trim)
{
	installs++;
	last_id = next->member[next->num_members - 1].id;
}

static void op_cut(void *ctx, u32 rank)
{
	cuts |= BIT_ULL(rank);
}

static void op_stopped(void *ctx)
{
	stops++;
}

static const struct spindle_mb_ops ops = {
	.wedge = op_none,
	.flushed = op_flushed,
	.freeze = op_freeze,
	.trim = op_trim,
	.drain = op_drain,
	.layout = op_layout,
	.join = op_join,
	.install = op_install,
	.cut = op_cut,
	.stopped = op_stopped,
};

/* A view of some members, ids from 1, and memory that is just enough for it. */
static void open_rows(u32 members)
{
	u32 r;

	memset(&mb, 0, sizeof(mb));
	memset(&view, 0, sizeof(view));
	view.vid = 7;
	view.num_members = members;
	op_layout(NULL, &view, &view);
	now = 1000 * TIMEOUT;
	cuts = 0;
	installs = 0;
	last_id = 0;
	stops = 0;
	refused_id = 0;
	absent_id = 0;
	undrained = false;
	memset(have, 0, sizeof(have));
	memset(trimmed, 0, sizeof(trimmed));
	mb.ops = &ops;
	mb.timeout = TIMEOUT;
	mb.interval = INTERVAL;
	mb.trims = MOST;
	mb.joins = 1;
	mb.seen = calloc(spindle_mb_decree_words(MOST), sizeof(u64));
	for (r = 0; r < MOST; r++) {
		view.member[r].id = r + 1;
		row[r] = calloc(1, spindle_mb_row_bytes(MOST));
		mb.peer[r].row = row[r];
	}
}

static void end(void)
{
	u32 r;

	for (r = 0; r < MOST; r++)
		free(row[r]);
	free(mb.seen);
}

/* ---- sizes --------------------------------------------------------------------- */

/* Each member in each of two subgroups, where the rules have it in one: twice the senders. */
static void test_too_many_trims(void)
{
	open_rows(MOST);
	mb.row = row[0];
	view.num_subgroups = 2;
	view.subgroup[1] = view.subgroup[0];
	CHECK_EQ(spindle_mb_init(&mb, &view, 0, now), -EINVAL);
	CHECK_EQ(spindle_mb_join(&mb, &view, 9, 1, now), -EINVAL);
	view.subgroup[1].senders = 0;
	CHECK_EQ(spindle_mb_init(&mb, &view, 0, now), 0);
	view.subgroup[1].senders = 1;
	CHECK_EQ(spindle_mb_init(&mb, &view, 0, now), -EINVAL);
	end();
}

static void test_no_members(void)
{
	open_rows(MOST);
	mb.row = row[0];
	view.num_subgroups = 0;
	view.num_members = 0;
	CHECK_EQ(spindle_mb_init(&mb, &view, 0, now), -EINVAL);
	view.num_members = SPINDLE_MAX_MEMBERS + 1;
	CHECK_EQ(spindle_mb_init(&mb, &view, 0, now), -EINVAL);
	view.num_members = 1;
	CHECK_EQ(spindle_mb_init(&mb, &view, 0, now), 0);
	end();
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a view that has no room in a decree is refused", test_too_many_trims },
		{ "a view without members, or with too many, is refused", test_no_members },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
