// SPDX-License-Identifier: GPL-2.0-only
/*
 * Live views. A request is refused or done. Work items then make a seat for a node that knocks,
 * connections, and the next view, with one member more or less. A member without memory for the
 * next view stops, and reports the reason. A join is tried again, or fails. Nothing hangs, and with
 * memory all of it works again.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>
#include <linux/spindle.h>

#include "fail-nth.h"
#include "machine.h"
#include "nth.h"
#include "path.h"
#include "request.h"
#include "shown.h"
#include "workers.h"
#include "tap.h"

#define QUIET_ROUNDS	3	/* rounds without a failure until the test ends */

/* ---- requests -------------------------------------------------------------- */

/* A first view with these members, as bits, and one subgroup. */
static int set_live(uint32_t members, uint32_t node)
{
	uint64_t vid = 1;
	struct nl nl;
	uint32_t i;
	int err;

	begin(&nl);
	nl_begin(&nl, &request, SPINDLE_CMD_VIEW_SET, 0);
	nl_put_u32(&request, SPINDLE_A_NODE_ID, node);
	nl_put(&request, SPINDLE_A_VIEW_ID, &vid, sizeof(vid));
	nl_nest(&request, SPINDLE_A_LIVE)->nla_type |= NLA_F_NESTED;
	nl_put_u32(&request, SPINDLE_LIVE_A_TIMEOUT_MS, 5000);
	nl_nest_end(&request);
	nl_put(&request, SPINDLE_A_INSECURE, NULL, 0);
	for (i = 0; i < 32; i++) {
		if (!(members & 1U << i))
			continue;
		nl_nest(&request, SPINDLE_A_MEMBER)->nla_type |= NLA_F_NESTED;
		nl_put_u32(&request, SPINDLE_MEMBER_A_ID, i);
		put_addr(&request, SPINDLE_MEMBER_A_ADDR4, SPINDLE_MEMBER_A_PORT, i);
		nl_nest_end(&request);
	}
	nl_nest(&request, SPINDLE_A_SUBGROUP)->nla_type |= NLA_F_NESTED;
	nl_put_u32(&request, SPINDLE_SUBGROUP_A_ID, 1);
	nl_put_u32(&request, SPINDLE_SUBGROUP_A_WINDOW, 16);
	nl_put_u32(&request, SPINDLE_SUBGROUP_A_MAX_MSG, 512);
	nl_put_u32(&request, SPINDLE_SUBGROUP_A_RING, 8192);
	nl_nest_end(&request);
	err = talk(&nl, &request);
	close(nl.fd);
	return err;
}

static int join(uint32_t node, uint32_t contact)
{
	struct nl nl;
	int err;

	begin(&nl);
	nl_begin(&nl, &request, SPINDLE_CMD_NODE_JOIN, 0);
	nl_put_u32(&request, SPINDLE_A_NODE_ID, node);
	put_addr(&request, SPINDLE_A_ADDR4, SPINDLE_A_PORT, contact);
	nl_put(&request, SPINDLE_A_INSECURE, NULL, 0);
	err = talk(&nl, &request);
	close(nl.fd);
	return err;
}

static int run_set(void *ctx)
{
	(void)ctx;
	return set_live(1U << 3, 3);
}

static void undo_set(void *ctx)
{
	(void)ctx;
	simple(SPINDLE_CMD_VIEW_DEL, 3);
}

/* enum spindle_live_state of nodes 1 to 3, or -1: in no live view, and joining none */
struct states {
	int of[4];
	uint64_t vid[4];
	char reason[4][96];
};

static int take_state(void *ctx, const struct nlmsghdr *nlh)
{
	const void *a = nl_attrs(nlh);
	const struct nlattr *live = nl_find(a, nl_attrs_len(nlh), SPINDLE_A_LIVE);
	const struct nlattr *reason = live ? nl_find(nl_data(live), nl_len(live),
						     SPINDLE_LIVE_A_REASON) : NULL;
	const struct nlattr *vid = nl_find(a, nl_attrs_len(nlh), SPINDLE_A_VIEW_ID);
	uint64_t id = nl_num(nl_find(a, nl_attrs_len(nlh), SPINDLE_A_NODE_ID));
	struct states *s = ctx;

	if (id > 3 || !live)
		return 0;
	s->of[id] = nl_num(nl_find(nl_data(live), nl_len(live), SPINDLE_LIVE_A_STATE));
	s->vid[id] = vid ? nl_num(vid) : 0;
	if (reason)
		snprintf(s->reason[id], sizeof(s->reason[id]), "%.*s", (int)nl_len(reason),
			 (const char *)nl_data(reason));
	return 0;
}

static struct states states(void)
{
	struct states s = { .of = { -1, -1, -1, -1 } };
	struct nl_ack ack;

	nl_begin(&eye, &request, SPINDLE_CMD_STATUS_GET, NLM_F_DUMP);
	if (nl_talk(&eye, &request, &ack, take_state, &s) || ack.err)
		die("cannot look at live views");
	return s;
}

/*
 * Perhaps only the answer failed. Then the request has happened, or will, and a second one would be
 * refused.
 */
static int happened(int err, int state)
{
	int i;

	for (i = 0; i < 200 && (!err || err == -ENOBUFS); i++) {
		if (states().of[3] == state)
			return 0;
		nap(5);
	}
	return err;
}

/* Node 1 is in no view, so the join goes on until the test gives it up. */
static int run_join(void *ctx)
{
	(void)ctx;
	return happened(join(3, 1), SPINDLE_LIVE_JOINING);
}

static void undo_join(void *ctx)
{
	(void)ctx;
	simple(SPINDLE_CMD_NODE_LEAVE, 3);
}

static int run_leave(void *ctx)
{
	struct nl nl;
	int err;

	(void)ctx;
	begin(&nl);
	nl_begin(&nl, &request, SPINDLE_CMD_NODE_LEAVE, 0);
	nl_put_u32(&request, SPINDLE_A_NODE_ID, 3);
	err = talk(&nl, &request);
	close(nl.fd);
	return happened(err, SPINDLE_LIVE_STOPPED);
}

/* The node leaves a view of one member. Make that view again. */
static void undo_leave(void *ctx)
{
	unsigned int n = nth;

	(void)ctx;
	nth = 0;
	simple(SPINDLE_CMD_VIEW_DEL, 3);
	if (set_live(1U << 3, 3))
		die("the view cannot be set again");
	nth = n;
}

/* ---- work items -------------------------------------------------------------- */

static void say(const struct states *s)
{
	int i;

	for (i = 1; i <= 3; i++)
		printf("# node %d: state %d, view %llu, %s\n", i, s->of[i],
		       (unsigned long long)s->vid[i], s->reason[i]);
}

/* A joiner goes on asking, even if no member is left that could admit it. */
static bool asks_nobody(const struct states *s, int i)
{
	int j;

	for (j = 1; j <= 3; j++)
		if (j != i && s->of[j] != -1 && s->of[j] != SPINDLE_LIVE_STOPPED)
			return false;
	return s->of[i] == SPINDLE_LIVE_JOINING;
}

/* Has the change ended, with success or without? Or is a node still working on it? */
static bool over(const struct states *s, uint64_t vid)
{
	int i;

	for (i = 1; i <= 3; i++) {
		if (s->of[i] == -1 || s->of[i] == SPINDLE_LIVE_STOPPED || asks_nobody(s, i))
			continue;
		if (s->of[i] != SPINDLE_LIVE_ACTIVE)
			return false;
		/* A node that goes on alone because the others have stopped may be further. */
		if (s->of[3] != -1 && s->vid[i] < vid)
			return false;
	}
	return true;
}

/*
 * Are all nodes in one view? The view may be a later one, because a node that is not admitted at
 * once joins the next time.
 */
static bool all_in(const struct states *s)
{
	int i;

	for (i = 1; i <= 3; i++)
		if (s->of[i] != SPINDLE_LIVE_ACTIVE || s->vid[i] != s->vid[1])
			return false;
	return true;
}

static bool settle(uint64_t vid, struct states *s)
{
	long end = now_ms() + WAIT_MS;

	do {
		nap(5);
		*s = states();
	} while (!over(s, vid) && now_ms() < end);
	return over(s, vid);
}

static void part(void)
{
	struct states s = states();
	uint32_t i;

	for (i = 1; i <= 3; i++) {
		if (s.of[i] == SPINDLE_LIVE_JOINING)
			simple(SPINDLE_CMD_NODE_LEAVE, i);
		else if (s.of[i] != -1)
			simple(SPINDLE_CMD_VIEW_DEL, i);
	}
}

/* Make a view of nodes 1 and 2, which node 3 can join. */
static void two(void)
{
	long end = now_ms() + WAIT_MS;
	struct states s;

	nth = 0;
	if (set_live(1U << 1 | 1U << 2, 1) || set_live(1U << 1 | 1U << 2, 2))
		die("a live view cannot be set");
	do {
		nap(2);
		s = states();
	} while ((s.of[1] != SPINDLE_LIVE_ACTIVE || s.of[2] != SPINDLE_LIVE_ACTIVE) &&
		 now_ms() < end);
	if (s.of[1] != SPINDLE_LIVE_ACTIVE)
		die("a live view of two does not form");
}

/* Node 3 joins. Returns whether the join has ended, with success or without. */
static bool comes_in(struct states *s)
{
	nth = 0;
	if (join(3, 1))
		die("a join cannot begin");
	return settle(2, s);
}

/*
 * From here on nothing fails. A member may evict the joiner at once, if its end of the connection
 * is not up when the view is installed. That is not an error of this test.
 */
static bool with_memory(struct states *s)
{
	int tries;

	for (tries = 1; tries <= 3; tries++) {
		part();
		two();
		if (comes_in(s) && all_in(s))
			return true;
		printf("# with memory, attempt %d: it is not in\n", tries);
		say(s);
	}
	return false;
}

/* ---- node 3 goes ----------------------------------------------------------- */

/*
 * Has node 3 stopped, and each node that is not in a view without it? All of them must report a
 * reason.
 */
static bool is_out(const struct states *s, uint64_t vid)
{
	int i;

	for (i = 1; i <= 3; i++) {
		if (s->of[i] == SPINDLE_LIVE_STOPPED && s->reason[i][0])
			continue;
		if (i == 3 || s->of[i] != SPINDLE_LIVE_ACTIVE || s->vid[i] <= vid)
			return false;
	}
	return true;
}

/* Node 1 evicts node 3, and the others go on. Returns whether that has ended. */
static bool goes_out(struct states *s)
{
	uint64_t vid = states().vid[1];
	long end = now_ms() + WAIT_MS;
	struct nl nl;

	nth = 0;
	begin(&nl);
	nl_begin(&nl, &request, SPINDLE_CMD_NODE_EVICT, 0);
	nl_put_u32(&request, SPINDLE_A_NODE_ID, 1);
	nl_put_u32(&request, SPINDLE_A_PEER_ID, 3);
	if (talk(&nl, &request))
		die("an eviction cannot begin");
	close(nl.fd);
	do {
		nap(5);
		*s = states();
	} while (!is_out(s, vid) && now_ms() < end);
	return is_out(s, vid);
}

static bool others_in(const struct states *s)
{
	return s->of[1] == SPINDLE_LIVE_ACTIVE && s->of[2] == SPINDLE_LIVE_ACTIVE;
}

static void all_three(void)
{
	struct states s;

	if (!with_memory(&s))
		die("no join even if nothing fails");
}

static void only_two(void)
{
	part();
	two();
}

/* ---- allocation by allocation ---------------------------------------------- */

/* A change of the view: its beginning and its expected end. */
struct change {
	const char *name;
	void (*begin)(void);
	bool (*go)(struct states *s);
	bool (*well)(const struct states *s);
};

static void change(const struct change *c)
{
	unsigned int n, quiet = 0, failed = 0, well = 0, not = 0, bad = 0;
	long start = now_ms();
	struct usage first, last;
	struct states s;

	for (n = 0; n < 3; n++)
		all_three();
	part();
	first = usage();
	only_ours(true);
	for (n = 1; n < MAX_NTH && quiet < QUIET_ROUNDS && bad < 3; n++) {
		unsigned int hit;
		bool done;

		c->begin();
		arm_workers(n);
		done = c->go(&s);
		hit = disarm_workers();
		failed += hit;
		quiet = hit ? 0 : quiet + 1;
		well += done && c->well(&s);
		not += done && !c->well(&s);
		if (!done) {
			bad++;
			printf("# %s: allocation %u of %u workers: it does not end\n", c->name, n,
			       hit);
			say(&s);
		}
		if (done && c->well(&s))
			continue;
		if (!with_memory(&s)) {
			bad++;
			printf("# %s: allocation %u: nor if nothing fails\n", c->name, n);
			say(&s);
		}
	}
	only_ours(false);
	part();
	last = usage();
	ok(failed && well && !bad && n < MAX_NTH,
	   "live: %s: %u allocations failed, %u runs succeeded, %u did not", c->name,
	   failed, well, not);
	is(last.maps, first.maps, "live: %s: mappings in use", c->name);
	printf("# pages in use: %+ld, %ld ms\n", last.pages - first.pages, now_ms() - start);
}

void test_live(void)
{
	struct op set = { .name = "view set: live", .run = run_set, .undo = undo_set,
			  .errs = errs_netlink };
	struct op come = { .name = "node join", .run = run_join, .undo = undo_join,
			   .errs = errs_netlink };
	struct op leave = { .name = "node leave", .run = run_leave, .undo = undo_leave,
			    .errs = errs_netlink };

	static const struct change joins = { "joins", only_two, comes_in, all_in };
	static const struct change evictions = { "evictions", all_three, goes_out, others_in };

	path(&set);
	path(&come);
	if (set_live(1U << 3, 3))
		die("a live view cannot be set");
	path(&leave);
	simple(SPINDLE_CMD_VIEW_DEL, 3);
	change(&joins);
	change(&evictions);
}
