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
#include <linux/spindle.h>

#include "fail-nth.h"
#include "machine.h"
#include "nth.h"
#include "path.h"
#include "request.h"
#include "shown.h"
#include "workers.h"
#include "tap.h"

#define ADDED		7	/* id of a subgroup that is added */
#define RING		8192
#define QUIET_ROUNDS	3	/* rounds without a failure until the test ends */

/* ---- requests -------------------------------------------------------------- */

/* Put a subgroup into a request. @attr: SPINDLE_A_SUBGROUP, or SPINDLE_A_REPLACE */
static void put_subgroup(int attr, uint32_t id)
{
	nl_nest(&request, attr)->nla_type |= NLA_F_NESTED;
	nl_put_u32(&request, SPINDLE_SUBGROUP_A_ID, id);
	nl_put_u32(&request, SPINDLE_SUBGROUP_A_WINDOW, 16);
	nl_put_u32(&request, SPINDLE_SUBGROUP_A_MAX_MSG, 512);
	nl_put_u32(&request, SPINDLE_SUBGROUP_A_RING, RING);
	nl_nest_end(&request);
}

static uint32_t spares;		/* of the views that begin from now on */

/* A first view with these members, as bits, and one subgroup. */
static int set_live(uint32_t members, uint32_t node)
{
	uint64_t vid = 1;
	struct nl nl;
	uint32_t i;

	begin_for(&nl, SPINDLE_CMD_VIEW_SET, node);
	nl_put(&request, SPINDLE_A_VIEW_ID, &vid, sizeof(vid));
	nl_nest(&request, SPINDLE_A_LIVE)->nla_type |= NLA_F_NESTED;
	nl_put_u32(&request, SPINDLE_LIVE_A_TIMEOUT_MS, 5000);
	nl_put_u32(&request, SPINDLE_LIVE_A_SPARES, spares);
	nl_put_u32(&request, SPINDLE_LIVE_A_SPARE_RING, RING);
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
	put_subgroup(SPINDLE_A_SUBGROUP, 1);
	return finish(&nl);
}

/* Changes of the subgroups of a view, each by one request. */
enum rules {
	ADD,		/* add a subgroup */
	REMOVE,		/* remove it */
	SEVERAL		/* remove it, replace another one, and add a third */
};

/* Ask a member to change the subgroups of its view. */
static int ask_rules(enum rules rules, uint32_t node)
{
	struct nl nl;

	begin_for(&nl, SPINDLE_CMD_SUBGROUP_CHANGE, node);
	if (rules == ADD)
		put_subgroup(SPINDLE_A_SUBGROUP, ADDED);
	else
		nl_put_u32(&request, SPINDLE_A_REMOVE, ADDED);
	if (rules == SEVERAL) {
		put_subgroup(SPINDLE_A_REPLACE, 1);
		put_subgroup(SPINDLE_A_SUBGROUP, ADDED + 1);
	}
	return finish(&nl);
}

static int join(uint32_t node, uint32_t contact)
{
	struct nl nl;

	begin_for(&nl, SPINDLE_CMD_NODE_JOIN, node);
	put_addr(&request, SPINDLE_A_ADDR4, SPINDLE_A_PORT, contact);
	nl_put(&request, SPINDLE_A_INSECURE, NULL, 0);
	return finish(&nl);
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
static int happened(int err, bool (*has)(uint64_t what), uint64_t what)
{
	int i;

	for (i = 0; i < 200 && (!err || err == -ENOBUFS); i++) {
		if (has(what))
			return 0;
		nap(5);
	}
	return err ? err : -ETIMEDOUT;
}

static bool in_state(uint64_t state)
{
	return states().of[3] == (int)state;
}

/* Is node 3 in this view or a later one, and are its subgroups active? */
static bool in_view(uint64_t vid)
{
	struct states s = states();
	int added = subgroup_state(3, ADDED);

	return s.of[3] == SPINDLE_LIVE_ACTIVE && s.vid[3] >= vid &&
	       subgroup_state(3, 1) == SPINDLE_STATE_ACTIVE &&
	       (added < 0 || added == SPINDLE_STATE_ACTIVE);
}

/* Node 3 begins a view of one member. */
static int run_set(void *ctx)
{
	(void)ctx;
	return happened(set_live(1U << 3, 3), in_view, 1);
}

static void undo_set(void *ctx)
{
	(void)ctx;
	simple(SPINDLE_CMD_VIEW_DEL, 3);
}

/*
 * Put node 3 into a new view of one member. That undoes a leave. It undoes a change of the
 * subgroups, too, because each change has a view id of its own, so only a new view is as before.
 */
static void set_again(void *ctx)
{
	unsigned int n = nth;

	(void)ctx;
	simple(SPINDLE_CMD_VIEW_DEL, 3);
	nth = 0;
	if (run_set(NULL))
		die("the view cannot be set again");
	nth = n;
}

/* Node 1 is in no view, so the join goes on until the test gives it up. */
static int run_join(void *ctx)
{
	(void)ctx;
	return happened(join(3, 1), in_state, SPINDLE_LIVE_JOINING);
}

static void undo_join(void *ctx)
{
	(void)ctx;
	simple(SPINDLE_CMD_NODE_LEAVE, 3);
}

static int run_leave(void *ctx)
{
	struct nl nl;

	(void)ctx;
	begin_for(&nl, SPINDLE_CMD_NODE_LEAVE, 3);
	return happened(finish(&nl), in_state, SPINDLE_LIVE_STOPPED);
}

/* Ask node 3, which is in a view of one member, and wait for the change. */
static int change_rules(enum rules rules)
{
	uint64_t vid = states().vid[3];

	return happened(ask_rules(rules, 3), in_view, vid + 1);
}

static int run_add(void *ctx)
{
	(void)ctx;
	return change_rules(ADD);
}

static int run_del(void *ctx)
{
	(void)ctx;
	return change_rules(REMOVE);
}

static int run_several(void *ctx)
{
	(void)ctx;
	return change_rules(SEVERAL);
}

static void undo_change(void *ctx)
{
	unsigned int n = nth;

	set_again(ctx);
	nth = 0;
	if (change_rules(ADD))
		die("a subgroup cannot be added again");
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
	begin_for(&nl, SPINDLE_CMD_NODE_EVICT, 1);
	nl_put_u32(&request, SPINDLE_A_PEER_ID, 3);
	if (finish(&nl))
		die("an eviction cannot begin");
	do {
		nap(5);
		*s = states();
	} while (!is_out(s, vid) && now_ms() < end);
	return is_out(s, vid);
}

/* Node 1 is asked for another subgroup, and all follow. Returns whether that has ended. */
static bool gets_subgroup(struct states *s)
{
	uint64_t vid = states().vid[1];

	nth = 0;
	if (ask_rules(ADD, 1))
		die("a change of the subgroups cannot begin");
	return settle(vid + 1, s);
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
	/* One of so many allocations fails. All changes share most of their allocations. */
	unsigned int stride;
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
	for (n = 1; n < MAX_NTH && quiet < QUIET_ROUNDS && bad < 3; n += c->stride) {
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
	struct op leave = { .name = "node leave", .run = run_leave, .undo = set_again,
			    .errs = errs_netlink };

	struct op add = { .name = "subgroup add", .run = run_add, .undo = set_again,
			  .errs = errs_netlink };
	struct op del = { .name = "subgroup del", .run = run_del, .undo = undo_change,
			  .errs = errs_netlink };
	struct op several = { .name = "subgroups: several changes", .run = run_several,
			      .undo = undo_change, .errs = errs_netlink };

	static const struct change joins = { "joins", only_two, comes_in, all_in, 1 };
	static const struct change evictions = { "evictions", all_three, goes_out, others_in, 1 };
	static const struct change additions = {
		"additions", all_three, gets_subgroup, all_in, 7,
	};

	path(&set);
	path(&come);
	if (run_set(NULL))
		die("a live view cannot be set");
	path(&leave);
	/* One for the subgroup that is added, two for those of several changes. */
	spares = 3;
	set_again(NULL);
	path(&add);
	if (change_rules(ADD))
		die("a subgroup cannot be added");
	path(&del);
	path(&several);
	simple(SPINDLE_CMD_VIEW_DEL, 3);
	change(&additions);
	spares = 0;
	change(&joins);
	change(&evictions);
}
