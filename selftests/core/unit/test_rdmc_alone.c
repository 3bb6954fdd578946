// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMC: one member of a group, step by step. The case decides what the other members say, and when.
 * test_rdmc runs whole groups.
 */
#include "core/rdmc/rdmc.h"
#include "tap.h"

#define ID	5
#define LIFE	100	/* of rank r: this and r */
#define BLOCK	4096U
#define TIMEOUT	1000

static struct spindle_rdmc r;
static u64 now, cuts;
static u32 stops, writes;
static struct spindle_rdmc_event last;

static bool op_yes(struct spindle_rdmc *g, u32 m)
{
	return true;
}

static bool op_listens(struct spindle_rdmc *g)
{
	return true;
}

static void op_say(struct spindle_rdmc *g, u32 m, const struct spindle_rdmc_msg *msg)
{
	stops += msg->word == SPINDLE_RDMC_STOP;
}

static void op_grant(struct spindle_rdmc *g, u32 m, u32 slot, void *mem, u32 block, u32 len,
		     struct spindle_rdmc_msg *msg)
{
}

static void op_revoke(struct spindle_rdmc *g, u32 m, u32 slot)
{
}

static void op_write(struct spindle_rdmc *g, u32 m, u64 object, void *mem, u32 block, u32 len,
		     const struct spindle_rdmc_grant *grant)
{
	writes++;
}

static void op_cut(struct spindle_rdmc *g, u32 m)
{
	cuts |= BIT_ULL(m);
}

static void op_event(struct spindle_rdmc *g, const struct spindle_rdmc_event *ev)
{
	if (ev->kind == SPINDLE_RDMC_DONE)
		last = *ev;
}

static bool op_release(struct spindle_rdmc *g, void *mem)
{
	return true;
}

static const struct spindle_rdmc_ops ops = {
	.room = op_yes,
	.say = op_say,
	.grant = op_grant,
	.revoke = op_revoke,
	.write = op_write,
	.flushed = op_yes,
	.cut = op_cut,
	.listens = op_listens,
	.event = op_event,
	.release = op_release,
};

static void run(u64 after)
{
	u32 i;

	now += after;
	for (i = 0; i < 1000 && spindle_rdmc_pass(&r, now); i++)
		;
	CHECK(i < 1000);
}

static void hear(u32 m, u32 word, u32 arg, u64 w0, u64 w1, u64 w2)
{
	struct spindle_rdmc_msg msg = {
		.to = word == SPINDLE_RDMC_HELLO ? ID : LIFE + r.cfg.me,
		.word = word, .arg = arg, .w = { w0, w1, w2 },
	};

	spindle_rdmc_hear(&r, m, &msg);
}

/* A member has memory for a block of the first object, whose length it names. */
static void hear_grant(u32 m, u32 block, u64 len)
{
	struct spindle_rdmc_msg msg = {
		.to = LIFE + r.cfg.me, .word = SPINDLE_RDMC_GRANT, .arg = block, .w[3] = len,
	};

	spindle_rdmc_hear(&r, m, &msg);
}

/* A group in which all members know each other. */
static void begin(u32 n, u32 me)
{
	struct spindle_rdmc_config cfg = {
		.id = ID, .life = LIFE + me, .n = n, .me = me, .block = BLOCK,
		.algorithm = SPINDLE_ALG_SEQUENTIAL, .timeout_ns = TIMEOUT,
	};
	u32 m;

	now = 1000 * TIMEOUT;
	cuts = 0;
	stops = 0;
	writes = 0;
	memset(&last, 0, sizeof(last));
	spindle_rdmc_init(&r, &cfg, &ops);
	for (m = 0; m < n; m++) {
		if (m == me)
			continue;
		spindle_rdmc_up(&r, m);
		hear(m, SPINDLE_RDMC_HELLO, 0, r.digest, LIFE + m, LIFE + me);
	}
	run(1);
	CHECK_EQ(r.state, SPINDLE_RDMC_S_OPEN);
}

/* A member that gave up an object asks the root, and does not wait for an answer for ever. */
static void test_deaf_root(void)
{
	unsigned long have = 0;
	int mem;

	begin(2, 1);
	hear(0, SPINDLE_RDMC_ANNOUNCE, 0, 0, BLOCK, 0);
	run(1);
	CHECK_EQ(spindle_rdmc_accept(&r, 0, BLOCK, &mem, &have), 0);
	CHECK_EQ(spindle_rdmc_cancel(&r, 0, false, 7), 0);
	run(1);
	/* The grants are taken back. Only the root's answer is missing. */
	spindle_rdmc_returned(&r, 0, 0);
	run(1);
	spindle_rdmc_revoked(&r, 0, 0);
	run(1);
	CHECK_EQ(stops, 1);
	CHECK_EQ(r.granted, 0);
	run(TIMEOUT / 2);
	CHECK_EQ(r.error, SPINDLE_RDMC_OK);
	run(TIMEOUT);
	CHECK_EQ(r.error, SPINDLE_RDMC_TIMEOUT);
	CHECK_EQ(r.culprit, 0 + 1);
	CHECK_EQ(stops, 1);
}

/* Of the members that have not ended an object, the one with the fewest blocks delays it. */
static void test_slowest(void)
{
	u64 object;
	int mem;

	begin(4, 0);
	CHECK_EQ(spindle_rdmc_send(&r, 5 * BLOCK, 0, &mem, &object), 0);
	run(1);
	hear(1, SPINDLE_RDMC_PROGRESS, 0, 0, 0, 3);
	hear(2, SPINDLE_RDMC_PROGRESS, 0, 0, 0, 1);
	hear(3, SPINDLE_RDMC_PROGRESS, 0, 0, 0, 2);
	run(1);
	run(TIMEOUT + 1);
	CHECK_EQ(last.error, SPINDLE_RDMC_TIMEOUT);
	CHECK_EQ(last.node, 2 + 1);
	/* No block was written. */
	CHECK_EQ(last.first_ns, 0);
	CHECK_EQ(last.busy_ns, 0);
}

/* Time without a write under way does not count. */
static void test_busy(void)
{
	u64 object;
	u32 i;
	int mem;

	begin(2, 0);
	CHECK_EQ(spindle_rdmc_send(&r, 3 * BLOCK, 0, &mem, &object), 0);
	run(1);
	for (i = 0; i < 3; i++) {
		hear_grant(1, i, 3 * BLOCK);
		run(50);
		CHECK_EQ(writes, i + 1);
		spindle_rdmc_written(&r, object);
		run(10);
	}
	CHECK_EQ(last.error, SPINDLE_RDMC_OK);
	CHECK_EQ(last.busy_ns, 30);
	CHECK(last.first_ns);
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a root that ignores STOP ends the group", test_deaf_root },
		{ "the slowest is the one with the fewest blocks", test_slowest },
		{ "how long writes were under way", test_busy },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
