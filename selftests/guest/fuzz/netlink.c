// SPDX-License-Identifier: GPL-2.0-only
/*
 * The netlink surface: requests that add, remove and change nodes and views. Some requests are
 * right, some have one error, and some are no requests at all.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <stdlib.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "set.h"

static struct nl nl;
static struct nl_req req;
static uint64_t last_vid;

/* The key of a node. Most nodes have no key. */
#define KEY "thirty-two bytes of a group's key"

/* ---- requests that are right ------------------------------------------- */

static uint32_t churn_node(void)
{
	return one_in(12) ? VICTIM : CHURN_FIRST + below(CHURN_NODES);
}

static void put_addr(struct tree *t, int type4, int type6)
{
	uint32_t ip = htonl(0x0a000001);
	unsigned char ip6[16] = { 0xfd, [15] = 1 };

	if (type6 && one_in(30))
		tree_put(t, type6, ip6, sizeof(ip6));
	else
		tree_put(t, type4, &ip, sizeof(ip));
}

static void node_add(struct tree *t, uint32_t id)
{
	static const uint32_t idle[] = { 0, 50, 50, 1000 };

	tree_begin(t);
	tree_u32(t, SPINDLE_A_NODE_ID, id);
	put_addr(t, SPINDLE_A_ADDR4, SPINDLE_A_ADDR6);
	tree_u16(t, SPINDLE_A_PORT, PORT(id));
	if (one_in(3))
		tree_put(t, SPINDLE_A_CLUSTER, "spindle", 8);
	if (one_in(2))
		tree_u8(t, SPINDLE_A_VISIBILITY, below(3));
	if (one_in(3))
		tree_u32(t, SPINDLE_A_IDLE_US, idle[below(4)]);
	if (one_in(4))
		tree_u16(t, SPINDLE_A_RACK, below(65536));
	/* Engine 0 belongs to the bystanders. */
	if (one_in(2))
		tree_u32(t, SPINDLE_A_ENGINE, below(3));
	if (one_in(20))
		tree_u32(t, SPINDLE_A_CPU, 0);
	if (one_in(8))
		tree_put(t, SPINDLE_A_KEY, KEY, 16 + below(17));
}

/* Add a node that can be in a live view with others of its kind. */
static void live_node_add(struct tree *t, uint32_t id, bool key)
{
	tree_begin(t);
	tree_u32(t, SPINDLE_A_NODE_ID, id);
	put_addr(t, SPINDLE_A_ADDR4, 0);
	tree_u16(t, SPINDLE_A_PORT, PORT(id));
	tree_u32(t, SPINDLE_A_ENGINE, 1 + below(2));
	if (key)
		tree_put(t, SPINDLE_A_KEY, KEY, 32);
}

static void put_sizes(struct tree *sg, uint32_t ring, bool logs)
{
	static const uint32_t windows[] = { 1, 2, 3, 8, 16, 64, 300 };

	if (one_in(3) && !logs)
		tree_u8(sg, SPINDLE_SUBGROUP_A_MODE, below(2));
	tree_u32(sg, SPINDLE_SUBGROUP_A_WINDOW, windows[below(ARRAY_SIZE(windows))]);
	tree_u32(sg, SPINDLE_SUBGROUP_A_MAX_MSG, 1 + below(ring < 8192 ? ring : 8192));
	tree_u32(sg, SPINDLE_SUBGROUP_A_RING, ring);
	if (one_in(2))
		tree_u8(sg, SPINDLE_SUBGROUP_A_HOLD, below(2));
}

static void put_logs(struct tree *sg)
{
	tree_u8(sg, SPINDLE_SUBGROUP_A_LOG, 1);
	if (one_in(2))
		tree_u8(sg, SPINDLE_SUBGROUP_A_ACK, below(2));
	if (one_in(2))
		tree_u8(sg, SPINDLE_SUBGROUP_A_DELIVER, below(2));
	if (one_in(2))
		tree_u32(sg, SPINDLE_SUBGROUP_A_MIN_COPIES, below(4));
}

/* Is the live view that is being made of a later era, so that its subgroups may have ranges? */
static bool later;

/* Views of an earlier era. Now and then a node is in one of them twice, or there are too many. */
static void put_range(struct tree *sg)
{
	uint32_t views = one_in(8) ? below(20) : 1 + below(3), n, i;
	struct tree range;

	while (views--) {
		tree_begin(&range);
		n = one_in(10) ? below(8) : 1 + below(3);
		for (i = 0; i < n; i++)
			tree_u32(&range, SPINDLE_RANGE_A_ID,
				 one_in(10) ? below(8) : CHURN_FIRST + i);
		tree_nest(sg, SPINDLE_SUBGROUP_A_RANGE, &range);
	}
}

/* @attr: SPINDLE_A_SUBGROUP or SPINDLE_A_REPLACE */
static void put_subgroup(struct tree *t, int attr, uint32_t id, uint32_t members, bool live)
{
	uint32_t ring = 4096U << below(5), i;
	bool table = one_in(5), logs;
	struct tree sg, node;
	bool some = false;
	char name[16];

	tree_begin(&sg);
	tree_u32(&sg, SPINDLE_SUBGROUP_A_ID, id);
	/* A name twice in a view would be refused, and members have to agree on names. */
	if (id % 3 == 0) {
		snprintf(name, sizeof(name), "churn%u", id);
		tree_put(&sg, SPINDLE_SUBGROUP_A_NAME, name, strlen(name) + 1);
	}
	if (table) {
		tree_u8(&sg, SPINDLE_SUBGROUP_A_MODE, one_in(2) ? SPINDLE_MODE_TABLE :
								   SPINDLE_MODE_TABLE_READ);
		tree_u32(&sg, SPINDLE_SUBGROUP_A_CELLS, 1 + below(16));
		if (one_in(2))
			tree_u32(&sg, SPINDLE_SUBGROUP_A_CELL, 64U << below(7));
	} else {
		logs = live && one_in(3);
		put_sizes(&sg, ring, logs);
		if (logs)
			put_logs(&sg);
		if (logs && later && one_in(2))
			put_range(&sg);
	}
	for (i = 0; one_in(2) && i < 8; i++) {
		uint32_t r = below(8);

		if (!(members & 1 << r))
			continue;
		/* The same node twice would be refused. Mutants test that. */
		members &= ~(1U << r);
		tree_begin(&node);
		tree_u32(&node, SPINDLE_SUBGROUP_NODE_A_ID, CHURN_FIRST + r);
		if (some && !table && one_in(4))
			tree_u8(&node, SPINDLE_SUBGROUP_NODE_A_SENDER, 0);
		tree_nest(&sg, SPINDLE_SUBGROUP_A_NODE, &node);
		some = true;
	}
	/* A rule in a static view, or about the senders of a table, would be refused. */
	if (live && !table && one_in(2))
		put_rule(&sg);
	tree_nest(t, attr, &sg);
}

/*
 * The view with number @vid, the same for all its members, because its contents follow from the
 * number. Returns its members among the nodes that are added and removed, as bits.
 */
static uint32_t any_view(struct tree *t, uint32_t id, uint64_t vid, bool live)
{
	uint64_t saved = rng, key = mix(vid);
	/* Bit CHURN_NODES is a node that never exists. */
	uint32_t members = 1 + key % ((1 << CHURN_NODES) - 1), i, n;
	struct tree member;

	rng = key;
	if (one_in(8))
		members |= 1 << CHURN_NODES;
	tree_begin(t);
	tree_u32(t, SPINDLE_A_NODE_ID, id);
	tree_u64(t, SPINDLE_A_VIEW_ID, vid);
	if (live)
		put_live(t);
	later = live && one_in(4);
	if (later) {
		tree_put(t, SPINDLE_A_LINEAGE, "a lineage of era", SPINDLE_LINEAGE_LEN);
		tree_u64(t, SPINDLE_A_ERA, 1);
	}
	for (i = 0; i <= CHURN_NODES; i++) {
		uint32_t ip = htonl(0x0a000001);

		if (!(members & 1 << i))
			continue;
		tree_begin(&member);
		tree_u32(&member, SPINDLE_MEMBER_A_ID, CHURN_FIRST + i);
		tree_put(&member, SPINDLE_MEMBER_A_ADDR4, &ip, sizeof(ip));
		tree_u16(&member, SPINDLE_MEMBER_A_PORT, PORT(CHURN_FIRST + i));
		tree_nest(t, SPINDLE_A_MEMBER, &member);
	}
	n = one_in(10) ? below(20) : 1 + below(4);
	for (i = 0; i < n; i++)
		put_subgroup(t, SPINDLE_A_SUBGROUP, 1 + (live ? 2 * i : i), members, live);
	later = false;
	rng = saved;
	return members & ~(1U << CHURN_NODES);
}

static uint32_t view_set(struct tree *t, uint32_t id, uint64_t vid)
{
	return any_view(t, id, vid, false);
}

/* Do the nodes of the last complete live view have a key? */
static bool churn_keyed;

/* Put the attribute that a live view without keys needs. Now and then it is wrong. */
static void put_insecure(struct tree *t)
{
	if (churn_keyed == one_in(8))
		tree_put(t, SPINDLE_A_INSECURE, NULL, 0);
}

/* Set the first view of a series. */
static uint32_t live_set(struct tree *t, uint32_t id, uint64_t vid)
{
	uint32_t members = any_view(t, id, vid, true);

	put_insecure(t);
	return members;
}

/* A subgroup that fits into each spare, with an id that is mostly free. */
static void put_small(struct tree *t)
{
	struct tree sg;

	tree_begin(&sg);
	tree_u32(&sg, SPINDLE_SUBGROUP_A_ID, 100 + below(1000));
	tree_u32(&sg, SPINDLE_SUBGROUP_A_WINDOW, 1U << below(7));
	tree_u32(&sg, SPINDLE_SUBGROUP_A_MAX_MSG, 1 + below(4096));
	tree_u32(&sg, SPINDLE_SUBGROUP_A_RING, 4096U << below(5));
	tree_nest(t, SPINDLE_A_SUBGROUP, &sg);
}

/*
 * Change the subgroups of a live view. Half of the requests have any changes of any subgroups, now
 * and then many. The others add one subgroup, and may remove the first one of the view.
 */
static void subgroup_change(struct tree *t, uint32_t id)
{
	uint32_t n = one_in(10) ? below(30) : 1 + below(3), sg;

	tree_begin(t);
	tree_u32(t, SPINDLE_A_NODE_ID, id);
	if (one_in(2)) {
		put_small(t);
		if (one_in(3))
			tree_u32(t, SPINDLE_A_REMOVE, 1);
		return;
	}
	while (n--) {
		sg = 1 + below(one_in(4) ? 100 : 10);
		switch (below(3)) {
		case 0:
			tree_u32(t, SPINDLE_A_REMOVE, sg);
			break;
		case 1:
			put_subgroup(t, SPINDLE_A_REPLACE, sg, ~0U >> 24, true);
			break;
		default:
			put_subgroup(t, SPINDLE_A_SUBGROUP, sg, ~0U >> 24, true);
			break;
		}
	}
}

/* Bystanders are tuned, too. The messages of QUIET_SUBGROUP must arrive nevertheless. */
static struct place any_place(void)
{
	struct place at = { one_in(2) ? 1 + below(BYSTANDERS) : churn_node(), 1 + below(4) };

	return at;
}

/* Build a request of any kind that could be right. Returns its command. */
static int any_request(struct tree *t, int *flags)
{
	static const int gets[] = { SPINDLE_CMD_NODE_GET, SPINDLE_CMD_VIEW_GET,
				    SPINDLE_CMD_SUBGROUP_GET, SPINDLE_CMD_STATS_GET,
				    SPINDLE_CMD_STATUS_GET, SPINDLE_CMD_RDMC_GET };

	struct place at = any_place();

	*flags = 0;
	switch (below(20)) {
	case 0:
	case 1:
		node_add(t, churn_node());
		return SPINDLE_CMD_NODE_ADD;
	case 2:
	case 3:
	case 4:
	case 5:
		view_set(t, churn_node(), last_vid + below(2));
		return SPINDLE_CMD_VIEW_SET;
	case 6:
		tree_begin(t);
		tree_u32(t, SPINDLE_A_NODE_ID, churn_node());
		return SPINDLE_CMD_NODE_DEL;
	case 7:
		tree_begin(t);
		tree_u32(t, SPINDLE_A_NODE_ID, churn_node());
		return SPINDLE_CMD_VIEW_DEL;
	case 8:
		node_set(t, &at);
		return SPINDLE_CMD_NODE_SET;
	case 9:
		subgroup_set(t, &at);
		return SPINDLE_CMD_SUBGROUP_SET;
	case 10:
		raw_run(t, &at);
		return SPINDLE_CMD_RAW_RUN;
	case 11:
	case 12:
	case 13:
		live_set(t, churn_node(), last_vid + below(2));
		return SPINDLE_CMD_VIEW_SET;
	case 14:
		node_join(t, churn_node(), churn_node());
		put_insecure(t);
		return SPINDLE_CMD_NODE_JOIN;
	case 15:
		tree_begin(t);
		tree_u32(t, SPINDLE_A_NODE_ID, churn_node());
		return SPINDLE_CMD_NODE_LEAVE;
	case 16:
		node_evict(t, churn_node(), churn_node());
		return SPINDLE_CMD_NODE_EVICT;
	case 17:
		subgroup_change(t, churn_node());
		return SPINDLE_CMD_SUBGROUP_CHANGE;
	default:
		tree_begin(t);
		if (one_in(2))
			tree_u32(t, SPINDLE_A_NODE_ID, one_in(2) ? 1 + below(BYSTANDERS) :
								   churn_node());
		if (one_in(4))
			tree_u32(t, SPINDLE_A_SUBGROUP_ID, 1 + below(4));
		*flags = one_in(3) ? 0 : NLM_F_DUMP;
		return gets[below(ARRAY_SIZE(gets))];
	}
}

/* ---- sending ----------------------------------------------------------- */

/*
 * Could the request change a node of the bystanders? The check reads the attributes as the kernel
 * does, and refuses in doubt.
 */
static bool harmful(const unsigned char *buf, uint32_t len)
{
	const struct nlmsghdr *nlh = (const void *)buf;
	const void *end = buf + len;
	const struct nlattr *a;
	uint64_t id;

	for (; NLMSG_OK(nlh, len); nlh = NLMSG_NEXT(nlh, len)) {
		if (nlh->nlmsg_len < NLMSG_HDRLEN + GENL_HDRLEN)
			continue;
		for (a = nl_at(nl_attrs(nlh), end); a; a = nl_behind(a, end)) {
			if (nl_type(a) != SPINDLE_A_NODE_ID || (void *)(a + 1) >= end)
				continue;
			id = *(const uint32_t *)nl_data(a);
			if (id >= 1 && id <= BYSTANDERS)
				return true;
		}
	}
	return false;
}

static bool changes(int cmd)
{
	return cmd == SPINDLE_CMD_NODE_ADD || cmd == SPINDLE_CMD_NODE_DEL ||
	       cmd == SPINDLE_CMD_VIEW_SET || cmd == SPINDLE_CMD_VIEW_DEL ||
	       cmd == SPINDLE_CMD_NODE_SET || cmd == SPINDLE_CMD_SUBGROUP_SET ||
	       cmd == SPINDLE_CMD_RAW_RUN || cmd == SPINDLE_CMD_NODE_JOIN ||
	       cmd == SPINDLE_CMD_NODE_LEAVE || cmd == SPINDLE_CMD_NODE_EVICT ||
	       cmd == SPINDLE_CMD_SUBGROUP_CHANGE;
}

/* Send the request; 0 or -errno. */
static int ask(void)
{
	struct nl_ack ack;
	int err = nl_talk(&nl, &req, &ack, NULL, NULL);

	if (!err)
		err = ack.err;
	/* There was no answer for a minute (SO_RCVTIMEO). */
	if (err == -EAGAIN)
		broken("a request of command %d was not answered", req.buf[NLMSG_HDRLEN]);
	return err;
}

/* The same, perhaps with failing allocations. Counts the answer, and returns 0 or an errno. */
static int talk(enum op op)
{
	int err;

	if (one_in(5))
		starve();
	err = ask();
	feed();
	count(op, err);
	return -err;
}

static void lay_out(const struct tree *t, int cmd, int flags)
{
	nl_begin(&nl, &req, cmd, flags);
	tree_lay_out(t, &req);
}

static int right(const struct tree *t, int cmd, int flags, enum op op)
{
	lay_out(t, cmd, flags);
	return talk(op);
}

static int simple(int cmd, uint32_t id, enum op op)
{
	struct tree t;

	tree_begin(&t);
	tree_u32(&t, SPINDLE_A_NODE_ID, id);
	return right(&t, cmd, 0, op);
}

/* Set a view on all of its members, so that its subgroups become active. */
static void whole_view(void)
{
	uint64_t vid = ++last_vid;
	struct tree t;
	uint32_t members = view_set(&t, CHURN_FIRST, vid), i;
	int err;

	for (i = 0; i < CHURN_NODES; i++) {
		if (!(members & 1 << i))
			continue;
		view_set(&t, CHURN_FIRST + i, vid);
		err = right(&t, SPINDLE_CMD_VIEW_SET, 0, OP_VIEW_SET);
		if (err != ENODEV || one_in(3))
			continue;
		node_add(&t, CHURN_FIRST + i);
		right(&t, SPINDLE_CMD_NODE_ADD, 0, OP_NODE_ADD);
		view_set(&t, CHURN_FIRST + i, vid);
		right(&t, SPINDLE_CMD_VIEW_SET, 0, OP_VIEW_SET);
	}
}

/*
 * Members join and leave, and change their subgroups. Requests come at once, or after the last one
 * has been done.
 */
static void come_and_go(void)
{
	unsigned int n = 1 + below(6);
	struct tree t;

	while (n--) {
		uint32_t id = CHURN_FIRST + below(CHURN_NODES);

		switch (below(7)) {
		case 0:
			simple(SPINDLE_CMD_NODE_LEAVE, id, OP_LEAVE);
			break;
		case 1:
			node_evict(&t, id, CHURN_FIRST + below(CHURN_NODES));
			right(&t, SPINDLE_CMD_NODE_EVICT, 0, OP_EVICT);
			break;
		case 2:
			usleep(below(200000));
			break;
		case 3:
		case 4:
			subgroup_change(&t, id);
			right(&t, SPINDLE_CMD_SUBGROUP_CHANGE, 0, OP_CHANGE);
			break;
		default:
			node_join(&t, id, CHURN_FIRST + below(CHURN_NODES));
			put_insecure(&t);
			right(&t, SPINDLE_CMD_NODE_JOIN, 0, OP_JOIN);
			break;
		}
	}
}

/*
 * Set a live view of new nodes on all of its members, so that it can form. Then its members change
 * its subgroups, join and leave.
 */
static void whole_live(void)
{
	uint64_t vid = ++last_vid;
	struct tree t;
	uint32_t members = live_set(&t, CHURN_FIRST, vid), i, id;
	bool key = one_in(3);

	churn_keyed = key;
	/* Nodes that are no members may join. */
	for (i = 0; i < CHURN_NODES; i++) {
		id = CHURN_FIRST + i;
		simple(SPINDLE_CMD_NODE_DEL, id, OP_NODE_DEL);
		live_node_add(&t, id, key);
		right(&t, SPINDLE_CMD_NODE_ADD, 0, OP_NODE_ADD);
	}
	for (i = 0; i < CHURN_NODES; i++) {
		if (!(members & 1 << i))
			continue;
		live_set(&t, CHURN_FIRST + i, vid);
		right(&t, SPINDLE_CMD_VIEW_SET, 0, OP_LIVE_SET);
	}
	for (i = 0; i < CHURN_NODES; i++) {
		if (!(members & 1 << i) || one_in(2))
			continue;
		subgroup_change(&t, CHURN_FIRST + i);
		right(&t, SPINDLE_CMD_SUBGROUP_CHANGE, 0, OP_CHANGE);
	}
	come_and_go();
}

static void mutant(void)
{
	struct tree t;
	int flags, cmd = any_request(&t, &flags);

	tree_mutate(&t);
	lay_out(&t, cmd, flags);
	if (!changes(cmd) || !harmful(req.buf, req.nlh.nlmsg_len))
		talk(OP_MUTANT);
}

/* ---- while it runs ------------------------------------------------------ */

static void change(void)
{
	struct place at = any_place();
	struct tree t;

	if (one_in(3)) {
		node_set(&t, &at);
		right(&t, SPINDLE_CMD_NODE_SET, 0, OP_NODE_SET);
	} else {
		subgroup_set(&t, &at);
		right(&t, SPINDLE_CMD_SUBGROUP_SET, 0, OP_SUBGROUP_SET);
	}
}

static void measure(void)
{
	struct place at = any_place();
	struct tree t;

	raw_run(&t, &at);
	right(&t, SPINDLE_CMD_RAW_RUN, 0, OP_RAW);
}

/* A child measures a subgroup, while this process removes it and adds it again. */
static void measure_what_goes(void)
{
	unsigned int n = 2 + below(6);
	pid_t pid = fork();

	if (pid < 0)
		return;
	if (!pid) {
		rng = rnd();
		close(nl.fd);
		if (nl_open(&nl))
			_exit(1);
		while (n--)
			measure();
		_exit(0);
	}
	while (n--) {
		uint32_t id = CHURN_FIRST + below(CHURN_NODES);

		if (one_in(3))
			simple(SPINDLE_CMD_NODE_DEL, id, OP_NODE_DEL);
		else if (one_in(2))
			simple(SPINDLE_CMD_VIEW_DEL, id, OP_VIEW_DEL);
		else
			whole_view();
	}
	waitpid(pid, NULL, 0);
}

/* From the beginning on, subgroup 3 detaches readers that are too slow. */
static void limit_readers(void)
{
	struct place at = { .subgroup = 3 };
	struct tree t;

	for (at.node = 1; at.node <= BYSTANDERS; at.node++) {
		stall_ms(&t, &at, 5);
		right(&t, SPINDLE_CMD_SUBGROUP_SET, 0, OP_SUBGROUP_SET);
	}
}

void undo_changes(void)
{
	struct place at;
	struct tree t;

	if (nl_open(&nl)) {
		broken("the netlink family cannot be opened");
		return;
	}
	for (at.node = 1; at.node <= BYSTANDERS; at.node++) {
		node_default(&t, &at);
		lay_out(&t, SPINDLE_CMD_NODE_SET, 0);
		if (ask())
			broken("node %u cannot be set back", at.node);
		for (at.subgroup = 1; at.subgroup <= 3; at.subgroup++) {
			subgroup_default(&t, &at, false);
			lay_out(&t, SPINDLE_CMD_SUBGROUP_SET, 0);
			if (ask())
				broken("subgroup %u of node %u cannot be set back",
				       at.subgroup, at.node);
			/* There may be a sender of the bystanders. */
			subgroup_default(&t, &at, true);
			lay_out(&t, SPINDLE_CMD_SUBGROUP_SET, 0);
			ask();
		}
	}
	close(nl.fd);
}

/* ---- dumps --------------------------------------------------------------- */

static void dump(void)
{
	static const int cmds[] = { SPINDLE_CMD_NODE_GET, SPINDLE_CMD_VIEW_GET,
				    SPINDLE_CMD_SUBGROUP_GET, SPINDLE_CMD_STATS_GET,
				    SPINDLE_CMD_STATUS_GET, SPINDLE_CMD_RDMC_GET };
	struct tree t;

	tree_begin(&t);
	if (one_in(3))
		tree_u32(&t, SPINDLE_A_NODE_ID, one_in(2) ? 1 + below(BYSTANDERS) :
							    churn_node());
	right(&t, cmds[below(ARRAY_SIZE(cmds))], NLM_F_DUMP, OP_DUMP);
}

/* ---- sockets that are thrown away -------------------------------------- */

/*
 * Read a dump in small pieces, and perhaps close the socket before its end. The dumped objects
 * change at the same time.
 */
static void cut_dump(void)
{
	static const int cmds[] = { SPINDLE_CMD_NODE_GET, SPINDLE_CMD_VIEW_GET,
				    SPINDLE_CMD_SUBGROUP_GET, SPINDLE_CMD_STATS_GET,
				    SPINDLE_CMD_STATUS_GET, SPINDLE_CMD_RDMC_GET };
	static unsigned char buf[NL_BUF];
	int pieces = 1 + below(6), size = 4096, taken = 0, err;
	struct nl sk;

	err = nl_open(&sk);
	if (err) {
		count(OP_CUT_DUMP, err);
		return;
	}
	setsockopt(sk.fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	nl_begin(&sk, &req, cmds[below(ARRAY_SIZE(cmds))], NLM_F_DUMP);
	if (one_in(5))
		starve();
	err = nl_send(&sk, &req);
	while (!err && pieces--) {
		/* Some reads take less than a piece. There is none if the dump has ended. */
		if (recv(sk.fd, buf, one_in(2) ? sizeof(buf) : below(4096), MSG_DONTWAIT) < 0)
			err = taken ? 0 : -errno;
		else
			taken++;
		feed();
		if (one_in(2))
			simple(SPINDLE_CMD_NODE_DEL, CHURN_FIRST + below(CHURN_NODES),
			       OP_NODE_DEL);
		else
			whole_view();
	}
	feed();
	count(OP_CUT_DUMP, err);
	close(sk.fd);
}

/* Send errors that netlink finds before it calls the family. There may be no answer to them. */
static void odd_header(void)
{
	static unsigned char buf[NL_BUF];
	struct genlmsghdr *g = (void *)(req.buf + NLMSG_HDRLEN);
	uint32_t len, seen = 0;
	struct tree t;
	struct nl sk;
	int flags, cmd = any_request(&t, &flags);

	if (nl_open(&sk))
		return;
	nl_begin(&sk, &req, cmd, flags | NLM_F_ACK);
	tree_lay_out(&t, &req);
	len = req.nlh.nlmsg_len;
	switch (below(6)) {
	case 0:
		g->cmd = rnd();
		break;
	case 1:
		g->version = rnd();
		g->reserved = rnd();
		break;
	case 2:
		req.nlh.nlmsg_flags = rnd() | NLM_F_REQUEST;
		break;
	case 3:
		req.nlh.nlmsg_len = one_in(2) ? below(64) : odd();
		break;
	case 4:
		len = one_in(2) ? below(len + 1) : len + below(64);
		break;
	case 5:	/* several, one behind the other */
		if (2 * NLMSG_ALIGN(len) < NL_REQ_MAX) {
			memcpy(req.buf + NLMSG_ALIGN(len), req.buf, len);
			len += NLMSG_ALIGN(len);
		}
		break;
	}
	if (!harmful(req.buf, len) && send(sk.fd, req.buf, len, 0) > 0) {
		ssize_t n;

		while ((n = recv(sk.fd, buf, sizeof(buf), MSG_DONTWAIT)) > 0) {
			const struct nlmsghdr *nlh = (void *)buf;
			struct nl_ack ack;

			if (nlh->nlmsg_type != NLMSG_ERROR)
				continue;
			nl_take_ack(nlh, &ack);
			count(OP_HEADER, ack.err);
			seen++;
		}
	}
	if (!seen)
		count(OP_HEADER, ENOMSG);
	close(sk.fd);
}

/* ---- all of it --------------------------------------------------------- */

static void one(void)
{
	struct tree t;
	uint32_t p = below(100);

	if (p < 30) {
		mutant();
	} else if (p < 35) {
		whole_live();
	} else if (p < 38) {
		come_and_go();
	} else if (p < 44) {
		node_add(&t, churn_node());
		right(&t, SPINDLE_CMD_NODE_ADD, 0, OP_NODE_ADD);
	} else if (p < 47) {
		simple(SPINDLE_CMD_NODE_DEL, churn_node(), OP_NODE_DEL);
	} else if (p < 58) {
		whole_view();
	} else if (p < 61) {
		simple(SPINDLE_CMD_VIEW_DEL, churn_node(), OP_VIEW_DEL);
	} else if (p < 73) {
		change();
	} else if (p < 79) {
		measure();
	} else if (p < 82) {
		measure_what_goes();
	} else if (p < 85) {
		simple(one_in(2) ? SPINDLE_CMD_NODE_GET : SPINDLE_CMD_VIEW_GET,
		       one_in(2) ? 1 : churn_node(), OP_GET);
	} else if (p < 91) {
		dump();
	} else if (p < 95) {
		cut_dump();
	} else {
		odd_header();
	}
}

void fuzz_netlink(unsigned int requests)
{
	struct timeval limit = { .tv_sec = 60 };
	struct tree t;
	uint32_t i;

	if (nl_open(&nl)) {
		broken("the netlink family cannot be opened");
		return;
	}
	setsockopt(nl.fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof(limit));
	for (i = 0; i < CHURN_NODES; i++) {
		node_add(&t, CHURN_FIRST + i);
		right(&t, SPINDLE_CMD_NODE_ADD, 0, OP_NODE_ADD);
	}
	limit_readers();
	while (requests--)
		one();
	close(nl.fd);
}
