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
static u32 stops, writes, grants, breaks;
static bool deaf; /* the process reads no events */
static u32 said[SPINDLE_RDMC_END + 1];
static u32 algorithm = SPINDLE_ALG_SEQUENTIAL;
static struct spindle_rdmc_event last;

static bool op_yes(struct spindle_rdmc *g, u32 m)
{
	return true;
}

static bool op_listens(struct spindle_rdmc *g)
{
	return !deaf;
}

static void op_say(struct spindle_rdmc *g, u32 m, const struct spindle_rdmc_msg *msg)
{
	stops += msg->word == SPINDLE_RDMC_STOP;
	said[msg->word]++;
}

static void op_grant(struct spindle_rdmc *g, u32 m, u32 slot, void *mem, u32 block, u32 len,
		     struct spindle_rdmc_msg *msg)
{
	grants++;
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
	breaks++;
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
		.algorithm = algorithm, .timeout_ns = TIMEOUT,
	};
	u32 m;

	now = 1000 * TIMEOUT;
	cuts = 0;
	stops = 0;
	writes = 0;
	grants = 0;
	breaks = 0;
	deaf = false;
	memset(said, 0, sizeof(said));
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

/* A member that has ended the object is not slow, although it has no block of the next one. */
static void test_slowest_behind(void)
{
	u64 object;
	int mem;

	begin(3, 0);
	CHECK_EQ(spindle_rdmc_send(&r, 5 * BLOCK, 0, &mem, &object), 0);
	run(1);
	hear(1, SPINDLE_RDMC_PROGRESS, 0, 1, 1, 0);
	hear(2, SPINDLE_RDMC_PROGRESS, 0, 0, 0, 3);
	run(1);
	run(TIMEOUT + 1);
	CHECK_EQ(last.error, SPINDLE_RDMC_TIMEOUT);
	CHECK_EQ(last.node, 2 + 1);
}

/* The root reminds members that wait four times in a timeout, however often it runs. */
static void test_reminders(void)
{
	u64 object;
	u32 i;
	int mem;

	begin(3, 0);
	CHECK_EQ(spindle_rdmc_send(&r, 64 * BLOCK, 0, &mem, &object), 0);
	run(1);
	said[SPINDLE_RDMC_PROGRESS] = 0;
	for (i = 1; i <= 40; i++) {
		run(TIMEOUT / 20);
		hear(2, SPINDLE_RDMC_PROGRESS, 0, 0, 0, i);
	}
	/* Two members for two timeouts. */
	CHECK_EQ(said[SPINDLE_RDMC_PROGRESS], 2 * 2 * 4);
}

/* An object has a timeout from its last block on, and the next one from the end of the first. */
static void test_patience(void)
{
	u64 object;
	u32 i;
	int mem;

	begin(2, 0);
	CHECK_EQ(spindle_rdmc_send(&r, 8 * BLOCK, 0, &mem, &object), 0);
	for (i = 1; i < 8; i++) {
		run(TIMEOUT / 2);
		hear(1, SPINDLE_RDMC_PROGRESS, 0, 0, 0, i);
	}
	CHECK_EQ(last.error, SPINDLE_RDMC_OK);
	CHECK_EQ(said[SPINDLE_RDMC_ABORT], 0);
	begin(2, 0);
	CHECK_EQ(spindle_rdmc_send(&r, BLOCK, 0, &mem, &object), 0);
	CHECK_EQ(spindle_rdmc_send(&r, BLOCK, 0, &mem, &object), 0);
	run(3 * TIMEOUT / 4);
	hear_grant(1, 0, BLOCK);
	run(1);
	CHECK_EQ(writes, 1);
	spindle_rdmc_written(&r, 0);
	run(1);
	hear(1, SPINDLE_RDMC_PROGRESS, 0, 1, 1, 0);
	run(1);
	CHECK_EQ(r.front, 1);
	run(3 * TIMEOUT / 4);
	CHECK_EQ(said[SPINDLE_RDMC_ABORT], 0);
	run(TIMEOUT / 2);
	CHECK_EQ(said[SPINDLE_RDMC_ABORT], 1);
}

/* ---- words that break the protocol, and words that do not --------------------------- */

#define Q SPINDLE_RDMC_QUEUE
#define OFFER(n) SPINDLE_RDMC_ANNOUNCE, 0, n, BLOCK, 0
#define ABORT_OF(n) SPINDLE_RDMC_ABORT, 1, n, SPINDLE_RDMC_CANCELLED, 0

/* Did the last word of this member end the group, and cost the member its lane? */
static bool breach_of(u32 m)
{
	bool is = r.error == SPINDLE_RDMC_PROTOCOL && cuts == BIT_ULL(m);

	CHECK(is || (r.error == SPINDLE_RDMC_OK && !cuts));
	return is;
}

static bool is_breach(u32 m, u32 word, u32 arg, u64 w0, u64 w1, u64 w2)
{
	hear(m, word, arg, w0, w1, w2);
	return breach_of(m);
}

/* A member that has heard of three objects. */
static void begin_offered(u32 n)
{
	u32 i;

	begin(n, 1);
	for (i = 0; i < 3; i++)
		hear(0, OFFER(i));
	run(1);
}

static void test_announced(void)
{
	u32 i;

	begin(3, 1);
	CHECK(is_breach(2, OFFER(0)));
	begin(3, 1);
	for (i = 0; i < Q; i++)
		CHECK(!is_breach(0, OFFER(i)));
	CHECK(is_breach(0, OFFER(Q)));
	begin(3, 1);
	CHECK(!is_breach(0, SPINDLE_RDMC_CLOSE, 0, 0, 0, 0));
	CHECK(is_breach(0, OFFER(0)));
}

static void test_aborted(void)
{
	begin_offered(3);
	CHECK(!is_breach(0, ABORT_OF(1)));
	CHECK(is_breach(0, ABORT_OF(1)));
	begin_offered(3);
	CHECK(is_breach(2, ABORT_OF(1)));
	begin_offered(3);
	CHECK(is_breach(0, ABORT_OF(3)));
	begin_offered(3);
	CHECK(is_breach(0, SPINDLE_RDMC_ABORT, 1, 0, SPINDLE_RDMC_CANCELLED, 1ULL << 32));
	begin_offered(3);
	CHECK(is_breach(0, SPINDLE_RDMC_RETURN, 0, 3, 0, 0));
	/* An object that nobody has accepted ends as well. */
	begin_offered(3);
	hear(0, ABORT_OF(0));
	run(1);
	CHECK_EQ(r.ended, 1);
	CHECK_EQ(last.error, SPINDLE_RDMC_CANCELLED);
	CHECK_EQ(last.node, 1 + 1);
}

/* The root has told both members of two objects of four blocks. */
static void begin_told(void)
{
	u64 object;
	static int mem;

	begin(3, 0);
	CHECK_EQ(spindle_rdmc_send(&r, 4 * BLOCK, 0, &mem, &object), 0);
	CHECK_EQ(spindle_rdmc_send(&r, 4 * BLOCK, 0, &mem, &object), 0);
	run(1);
}

static void test_progress(void)
{
	begin_told();
	CHECK(!is_breach(1, SPINDLE_RDMC_PROGRESS, 0, 0, 0, 3));
	CHECK(!is_breach(1, SPINDLE_RDMC_PROGRESS, 0, 1, 1, 0));
	CHECK(is_breach(1, SPINDLE_RDMC_PROGRESS, 0, 2, 3, 0));
	begin_told();
	CHECK(!is_breach(1, SPINDLE_RDMC_PROGRESS, 0, 0, 0, 3));
	CHECK(is_breach(1, SPINDLE_RDMC_PROGRESS, 0, 0, 0, 2));
	begin_told();
	CHECK(!is_breach(1, SPINDLE_RDMC_PROGRESS, 0, 0, 0, 4));
	begin_told();
	CHECK(is_breach(1, SPINDLE_RDMC_PROGRESS, 0, 0, 0, 5));
}

static void test_stop(void)
{
	begin_told();
	CHECK(is_breach(1, SPINDLE_RDMC_STOP, 0, 0, SPINDLE_RDMC_TIMEOUT, 0));
	begin_told();
	CHECK(is_breach(1, SPINDLE_RDMC_STOP, 0, 0, SPINDLE_RDMC_CANCELLED, 1ULL << 32));
	begin_told();
	CHECK(is_breach(1, SPINDLE_RDMC_STOP, 0, 2, SPINDLE_RDMC_CANCELLED, 0));
	begin_told();
	r.m[1].told = 1;
	CHECK(is_breach(1, SPINDLE_RDMC_STOP, 0, 1, SPINDLE_RDMC_CANCELLED, 0));
	begin_told();
	CHECK(!is_breach(2, SPINDLE_RDMC_STOP, 0, 0, SPINDLE_RDMC_REFUSED, 9));
	run(1);
	CHECK_EQ(last.error, SPINDLE_RDMC_REFUSED);
	CHECK_EQ(last.reason, 9);
	CHECK_EQ(last.node, 2 + 1);
	CHECK_EQ(said[SPINDLE_RDMC_ABORT], 2);
}

static void test_closed(void)
{
	begin_told();
	CHECK(is_breach(1, SPINDLE_RDMC_CLOSE, 0, 2, 2, 0));
	begin_told();
	r.m[1].close_said = true;
	CHECK(is_breach(1, SPINDLE_RDMC_CLOSE, 0, 1, 1, 0));
	begin_told();
	r.m[1].close_said = true;
	CHECK(is_breach(1, SPINDLE_RDMC_CLOSE, 0, 2, 3, 0));
	begin_told();
	r.m[1].close_said = true;
	CHECK(!is_breach(1, SPINDLE_RDMC_CLOSE, 0, 2, 2, 0));
	CHECK(!is_breach(1, SPINDLE_RDMC_CLOSE, 0, 2, 2, 0));
	CHECK(is_breach(1, SPINDLE_RDMC_CLOSE, 0, 2, 1, 0));
	begin_offered(3);
	CHECK(is_breach(0, SPINDLE_RDMC_CLOSE, 0, 2, 2, 0));
}

/* ---- grants ----------------------------------------------------------------------------- */

static void hear_grant_of(u32 m, u64 object)
{
	struct spindle_rdmc_msg msg = {
		.to = LIFE + r.cfg.me, .word = SPINDLE_RDMC_GRANT, .w = { object, 0, 0, BLOCK },
	};

	spindle_rdmc_hear(&r, m, &msg);
}

static void test_grants(void)
{
	unsigned long have = 0;
	int mem;

	/* Members cannot be so far ahead of this one. The root announces all objects. */
	begin_offered(3);
	hear_grant_of(2, Q - 1);
	CHECK_EQ(r.error, SPINDLE_RDMC_OK);
	hear_grant_of(2, Q);
	CHECK_EQ(r.error, SPINDLE_RDMC_PROTOCOL);
	begin_told();
	hear_grant_of(1, 2);
	CHECK(breach_of(1));
	/* This member sends nothing of the object. */
	begin_offered(2);
	CHECK_EQ(spindle_rdmc_accept(&r, 0, BLOCK, &mem, &have), 0);
	run(1);
	hear_grant_of(0, 0);
	CHECK(breach_of(0));
}

/* An object waits for the process. Until it ends, the root owes no block of the next one. */
static void test_kept_back(void)
{
	unsigned long have[2] = { 0 };
	u32 i;
	int mem;

	begin_offered(2);
	CHECK_EQ(spindle_rdmc_accept(&r, 0, BLOCK, &mem, &have[0]), 0);
	CHECK_EQ(spindle_rdmc_accept(&r, 1, BLOCK, &mem, &have[1]), 0);
	run(1);
	deaf = true;
	spindle_rdmc_arrived(&r, 0, 0);
	run(1);
	spindle_rdmc_revoked(&r, 0, 0);
	for (i = 0; i < 8; i++)
		run(TIMEOUT / 2);
	CHECK_EQ(r.ended, 0);
	deaf = false;
	run(TIMEOUT / 2);
	CHECK_EQ(r.ended, 1);
	CHECK_EQ(r.state, SPINDLE_RDMC_S_OPEN);
	for (i = 0; i < 5; i++)
		run(TIMEOUT / 2);
	CHECK_EQ(r.state, SPINDLE_RDMC_S_OPEN);
	run(TIMEOUT / 2);
	CHECK_EQ(r.error, SPINDLE_RDMC_TIMEOUT);
}

/* The root has stopped an object, and does not say that it has returned a grant. */
static void test_stopping_held(void)
{
	unsigned long have = 0;
	int mem;

	begin_offered(2);
	CHECK_EQ(spindle_rdmc_accept(&r, 0, BLOCK, &mem, &have), 0);
	run(1);
	CHECK_EQ(grants, 1);
	hear(0, ABORT_OF(0));
	run(1);
	CHECK_EQ(r.state, SPINDLE_RDMC_S_OPEN);
	run(TIMEOUT + 1);
	CHECK_EQ(r.error, SPINDLE_RDMC_TIMEOUT);
	CHECK_EQ(r.culprit, 1);
}

/* Grants of an object that is given up are returned, whenever they come, and no others. */
static void test_returned(void)
{
	const struct spindle_rdmc_member *p = &r.m[2];

	/* In a chain, this member sends to the next one. */
	algorithm = SPINDLE_ALG_CHAIN;
	begin_offered(3);
	algorithm = SPINDLE_ALG_SEQUENTIAL;
	hear_grant_of(2, 0);
	hear_grant_of(2, 1);
	hear(0, ABORT_OF(0));
	run(1);
	CHECK_EQ(r.ended, 1);
	CHECK_EQ(said[SPINDLE_RDMC_RETURN], 1);
	CHECK_EQ(p->grant_tail - p->grant_head, 1);
	CHECK_EQ(p->grant[p->grant_head].object, 1);
	hear_grant_of(2, 0);
	run(1);
	CHECK_EQ(said[SPINDLE_RDMC_RETURN], 2);
	CHECK_EQ(p->grant_tail - p->grant_head, 1);
}

/* A member that has returned its grants gets no more, and each is taken back once. */
static void test_no_more_grants(void)
{
	unsigned long have = 0;
	u32 g, granted;
	int mem;

	begin(2, 1);
	hear(0, SPINDLE_RDMC_ANNOUNCE, 0, 0, 8 * BLOCK, 0);
	run(1);
	CHECK_EQ(spindle_rdmc_accept(&r, 0, 8 * BLOCK, &mem, &have), 0);
	run(1);
	granted = grants;
	CHECK(granted && granted < 8);
	hear(0, SPINDLE_RDMC_RETURN, 0, 0, 0, 0);
	run(1);
	CHECK_EQ(r.m[0].slot[0].state, SPINDLE_RDMC_REVOKING);
	hear(0, SPINDLE_RDMC_RETURN, 0, 0, 0, 0);
	CHECK_EQ(r.m[0].slot[0].state, SPINDLE_RDMC_REVOKING);
	for (g = 0; g < SPINDLE_RDMC_GRANTS; g++)
		spindle_rdmc_revoked(&r, 0, g);
	run(1);
	CHECK_EQ(grants, granted);
	/* That is over with the object whose place it was. */
	spindle_rdmc_new_object(&r, BLOCK, 0);
	spindle_rdmc_object(&r, 1)->returned = 1;
	r.announced = SPINDLE_RDMC_OBJECTS + 1;
	spindle_rdmc_new_object(&r, BLOCK, 0);
	CHECK_EQ(spindle_rdmc_object(&r, 1)->returned, 0);
}

/* ---- what the process may ask for --------------------------------------------------------- */

static void test_asked(void)
{
	unsigned long have = 0;
	u64 object;
	int mem;

	begin(2, 0);
	CHECK_EQ(spindle_rdmc_send(&r, SPINDLE_RDMC_MAX_LEN, 0, &mem, &object), 0);
	CHECK_EQ(spindle_rdmc_send(&r, SPINDLE_RDMC_MAX_LEN + 1, 0, &mem, &object), -EINVAL);
	CHECK_EQ(spindle_rdmc_close(&r), 0);
	CHECK_EQ(spindle_rdmc_send(&r, 1, 0, &mem, &object), -ESHUTDOWN);
	begin_offered(3);
	CHECK_EQ(spindle_rdmc_accept(&r, 0, BLOCK + 1, &mem, &have), -EINVAL);
	CHECK_EQ(spindle_rdmc_accept(&r, 0, BLOCK - 1, &mem, &have), -EINVAL);
	CHECK_EQ(spindle_rdmc_accept(&r, 0, BLOCK, &mem, &have), 0);
	/* A process that has accepted an object cannot refuse it, and cancels it once. */
	CHECK_EQ(spindle_rdmc_cancel(&r, 0, true, 0), -ENOENT);
	CHECK_EQ(spindle_rdmc_cancel(&r, 0, false, 0), 0);
	CHECK_EQ(spindle_rdmc_cancel(&r, 0, false, 0), -ENOENT);
}

/* ---- members that are lost, or come back ---------------------------------------------------- */

static void test_former_life(void)
{
	begin(3, 1);
	hear(2, SPINDLE_RDMC_HELLO, 0, r.digest, LIFE + 50, 0);
	CHECK_EQ(r.error, SPINDLE_RDMC_LEFT);
	CHECK_EQ(r.culprit, 2 + 1);
	/* FAIL is for the others: the former life hears nothing, and the new one is not in here. */
	CHECK(r.m[2].failed);
	run(1);
	CHECK_EQ(said[SPINDLE_RDMC_FAIL], 1);
	CHECK(!cuts);
}

static void test_cut_once(void)
{
	begin(3, 1);
	spindle_rdmc_cut(&r, 2);
	spindle_rdmc_cut(&r, 2);
	CHECK_EQ(breaks, 1);
	/* A member that has done all its work is not missed, whatever takes it away. */
	begin(3, 1);
	r.m[2].closed = true;
	r.m[2].close_said = true;
	spindle_rdmc_fail(&r, 2 + 1, SPINDLE_RDMC_VIEW);
	CHECK_EQ(r.error, SPINDLE_RDMC_OK);
	spindle_rdmc_fail(&r, 2 + 1, SPINDLE_RDMC_TIMEOUT);
	CHECK_EQ(r.error, SPINDLE_RDMC_TIMEOUT);
}

/* An object that was given up here spoils the group for the root, too. */
static void test_spoiled(void)
{
	begin_told();
	CHECK(!spindle_rdmc_spoiled(&r));
	r.ended = 1;
	CHECK(spindle_rdmc_spoiled(&r));
	r.complete = 1;
	CHECK(!spindle_rdmc_spoiled(&r));
	r.front = 1;
	CHECK(spindle_rdmc_everywhere(&r, 0));
	CHECK(!spindle_rdmc_everywhere(&r, 1));
}

int main(void)
{
	static const struct tap_case cases[] = {
		{ "a root that ignores STOP ends the group", test_deaf_root },
		{ "the slowest member is the one with the fewest blocks", test_slowest },
		{ "the time of writes under way is measured", test_busy },
		{ "a member that is ahead is not slow", test_slowest_behind },
		{ "how long an object may take", test_patience },
		{ "the root reminds members four times in a timeout", test_reminders },
		{ "announcements", test_announced },
		{ "objects that the root gives up", test_aborted },
		{ "how far members say that they are", test_progress },
		{ "objects that members give up", test_stop },
		{ "members that close", test_closed },
		{ "grants that cannot be", test_grants },
		{ "an object that waits for the process keeps back the next one", test_kept_back },
		{ "a grant of a stopped object that does not return", test_stopping_held },
		{ "grants of objects that are given up", test_returned },
		{ "a member that returns its grants", test_no_more_grants },
		{ "what the process may ask for", test_asked },
		{ "another life of a member", test_former_life },
		{ "members that are cut, or not missed", test_cut_once },
		{ "objects that are not complete", test_spoiled },
	};

	return tap_run(cases, ARRAY_SIZE(cases));
}
