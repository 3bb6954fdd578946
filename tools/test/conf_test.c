// SPDX-License-Identifier: GPL-2.0-only
/*
 * Files that describe live views: the requests that they lead to, what stays as it is, the
 * refusals, and the output of showconf. TAP.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/spindle.h>
#include <linux/spindle_genl.h>

#include "common/names.h"
#include "common/util.h"
#include "common/wire.h"
#include "ctl/cmd.h"
#include "fake_wire.h"

#define NODE	"[Node]\nId = 1\nAddress = 127.0.0.1\n"
#define INSECURE NODE "Insecure = yes\n"
#define MEMBERS	"Member = 1@127.0.0.1\nMember = 2@10.0.0.2\n"
#define SHARDS	"[Subgroup]\nId = 0\nShards = 2\nMin = 1\n"
#define NAMED	"[Subgroup]\nId = 9\nMembers = 5,1\nSenders = 5\nOnExit = leave\n"

/* ---- a live view that runs ---------------------------------------------- */

static void put_node(struct nl_msg *msg, int type, uint32_t id, bool sends)
{
	struct nlattr *nest = nla_nest_start(msg, type);

	nla_put_u32(msg, SPINDLE_SUBGROUP_NODE_A_ID, id);
	nla_put_u8(msg, SPINDLE_SUBGROUP_NODE_A_SENDER, sends);
	nla_nest_end(msg, nest);
}

static void put_address(struct nl_msg *msg, uint32_t id, const char *ip)
{
	struct nlattr *nest = nla_nest_start(msg, SPINDLE_A_MEMBER);

	nla_put_u32(msg, SPINDLE_MEMBER_A_ID, id);
	nla_put(msg, SPINDLE_MEMBER_A_ADDR4, 4, ip);
	nla_put_u16(msg, SPINDLE_MEMBER_A_PORT, SPINDLE_DEF_PORT);
	nla_nest_end(msg, nest);
}

/* The subgroup of the view of runs() that has logs; 0: none has. The first one has number 1. */
static uint32_t with_logs;

/* A subgroup without logs may say so, or say nothing of logs. */
static void put_logs(struct nl_msg *msg, uint32_t id)
{
	nla_put_u8(msg, SPINDLE_SUBGROUP_A_LOG, id + 1 == with_logs);
	if (id + 1 != with_logs)
		return;
	nla_put_u8(msg, SPINDLE_SUBGROUP_A_ACK, SPINDLE_ACK_MAJORITY);
	nla_put_u8(msg, SPINDLE_SUBGROUP_A_DELIVER, SPINDLE_DELIVER_STABLE);
	nla_put_u32(msg, SPINDLE_SUBGROUP_A_MIN_COPIES, 0);
}

/* Add a subgroup with one member. If it has one shard, its rule names two nodes. */
static void put_subgroup(struct nl_msg *msg, uint32_t id, uint32_t member, uint32_t shards)
{
	struct nlattr *nest = nla_nest_start(msg, SPINDLE_A_SUBGROUP), *rule;

	nla_put_u32(msg, SPINDLE_SUBGROUP_A_ID, id);
	nla_put_u8(msg, SPINDLE_SUBGROUP_A_MODE, SPINDLE_MODE_ORDERED);
	nla_put_u32(msg, SPINDLE_SUBGROUP_A_WINDOW, SPINDLE_DEF_WINDOW);
	nla_put_u32(msg, SPINDLE_SUBGROUP_A_MAX_MSG, SPINDLE_DEF_MAX_MSG);
	nla_put_u32(msg, SPINDLE_SUBGROUP_A_RING, 1 << 20);
	nla_put_u8(msg, SPINDLE_SUBGROUP_A_HOLD, 1);
	if (with_logs)
		put_logs(msg, id);
	put_node(msg, SPINDLE_SUBGROUP_A_NODE, member, shards > 1);
	rule = nla_nest_start(msg, SPINDLE_SUBGROUP_A_RULE);
	nla_put_u32(msg, SPINDLE_RULE_A_SHARDS, shards);
	nla_put_u32(msg, SPINDLE_RULE_A_MIN, 1);
	nla_put_u8(msg, SPINDLE_RULE_A_ON_EXIT, shards == 1);
	nla_put_u8(msg, SPINDLE_RULE_A_SENDERS, shards > 1);
	if (shards == 1) {
		put_node(msg, SPINDLE_RULE_A_NODE, 1, false);
		put_node(msg, SPINDLE_RULE_A_NODE, 5, true);
	}
	nla_nest_end(msg, rule);
	nla_nest_end(msg, nest);
}

/* The mode of the table of runs(). */
static int table_mode = SPINDLE_MODE_TABLE;

/* The shards of that table, with ids one behind the other. */
static uint32_t table_shards = 1;

/* Add a table of some nodes, which its rule names, or a shard of it. */
static void put_table(struct nl_msg *msg, uint32_t id)
{
	struct nlattr *nest = nla_nest_start(msg, SPINDLE_A_SUBGROUP), *rule, *node;

	nla_put_u32(msg, SPINDLE_SUBGROUP_A_ID, id);
	nla_put_u8(msg, SPINDLE_SUBGROUP_A_MODE, table_mode);
	nla_put_u32(msg, SPINDLE_SUBGROUP_A_CELLS, 12);
	nla_put_string(msg, SPINDLE_SUBGROUP_A_FIELDS, "load:u32");
	nla_put_u32(msg, SPINDLE_SUBGROUP_A_CELL, 64);
	node = nla_nest_start(msg, SPINDLE_SUBGROUP_A_NODE);
	nla_put_u32(msg, SPINDLE_SUBGROUP_NODE_A_ID, 1);
	nla_nest_end(msg, node);
	rule = nla_nest_start(msg, SPINDLE_SUBGROUP_A_RULE);
	nla_put_u32(msg, SPINDLE_RULE_A_SHARDS, table_shards);
	nla_put_u32(msg, SPINDLE_RULE_A_MIN, 2);
	node = nla_nest_start(msg, SPINDLE_RULE_A_NODE);
	nla_put_u32(msg, SPINDLE_SUBGROUP_NODE_A_ID, 1);
	nla_nest_end(msg, node);
	nla_nest_end(msg, rule);
	nla_nest_end(msg, nest);
}

/* The id of a table of the view of runs(); 0: there is none. */
static uint32_t table;

/* A witness of the view of runs(); 0: there is none. */
static uint32_t witness;

/* Places for more subgroups in the view of runs(). */
static uint32_t spares;

/* Node 1 is in such a view and has a status. With SPINDLE_LIVE_JOINING it has no view yet. */
static void runs(uint64_t vid, int state)
{
	struct nl_msg *msg = message(SPINDLE_CMD_VIEW_GET);
	struct nlattr *live;
	uint32_t s;

	begin(1);
	wire.keyed = true;
	status(1, state, SPINDLE_WHY_FINE, "");
	if (state == SPINDLE_LIVE_JOINING)
		return;
	nla_put_u32(msg, SPINDLE_A_NODE_ID, 1);
	nla_put_u64(msg, SPINDLE_A_VIEW_ID, vid);
	put_address(msg, 1, "\177\0\0\1");
	put_address(msg, 2, "\12\0\0\2");
	put_subgroup(msg, 0, 1, 2);
	put_subgroup(msg, 1, 2, 2);
	put_subgroup(msg, 9, 1, 1);
	for (s = 0; table && s < table_shards; s++)
		put_table(msg, table + s);
	live = nla_nest_start(msg, SPINDLE_A_LIVE);
	nla_put_u32(msg, SPINDLE_LIVE_A_TIMEOUT_MS, 100);
	nla_put_u32(msg, SPINDLE_LIVE_A_MAX_NODES, 16);
	nla_put_u8(msg, SPINDLE_LIVE_A_QUORUM, 1);
	if (witness)
		nla_put_u32(msg, SPINDLE_LIVE_A_WITNESS, witness);
	if (spares)
		nla_put_u32(msg, SPINDLE_LIVE_A_SPARES, spares);
	nla_nest_end(msg, live);
	wire.view = nlmsg_hdr(msg);
}

/* Node 1 is in a static view. */
static void runs_static(void)
{
	struct nl_msg *msg = message(SPINDLE_CMD_VIEW_GET);

	begin(1);
	nla_put_u32(msg, SPINDLE_A_NODE_ID, 1);
	nla_put_u64(msg, SPINDLE_A_VIEW_ID, 7);
	put_address(msg, 1, "\177\0\0\1");
	wire.view = nlmsg_hdr(msg);
}

/* ---- applying ----------------------------------------------------------- */

static char path[32];

static int apply(const char *text, const char *options)
{
	FILE *f = fopen(path, "w");

	if (!f || fputs(text, f) < 0 || fclose(f))
		exit(1);
	return run(ctl_cmd_apply, "apply", ctl_asprintf("%s%s", path, options));
}

/* Did the command send no request that changes something? */
static bool untouched(void)
{
	return !sent(SPINDLE_CMD_VIEW_SET) && !sent(SPINDLE_CMD_NODE_JOIN) &&
	       !sent(SPINDLE_CMD_VIEW_DEL) && !sent(SPINDLE_CMD_NODE_ADD) &&
	       !sent(SPINDLE_CMD_NODE_DEL) && !sent(SPINDLE_CMD_SUBGROUP_CHANGE);
}

static void refuses(const char *text, int line, const char *want, const char *what)
{
	const char *where = ctl_asprintf("%s:%d: ", path, line);
	bool good = apply(text, "") == CTL_FAILED && strstr(output, where) &&
		    strstr(output, want) && strstr(output, "nothing was changed") && untouched();

	ok(good, "%s", what);
	if (!good)
		printf("#   %s\n", output);
}

static void test_first(void)
{
	struct nlattr **a, **live, **sg, **rule;

	begin(1);
	wire.nodes = 0;
	ok(!apply(INSECURE "[View]\nVid = 3\n" MEMBERS "TimeoutMs = 100\nQuorum = no\n"
		  "[Subgroup]\nId = 0\nShards = 2\nMin = 3\nOnExit = leave\n",
		  " --force-new") &&
	   strstr(output, "+ view of node 1 begins: live, vid 3, members 1, 1 subgroup\n"),
	   "a key of a live view makes it one");
	a = sent(SPINDLE_CMD_VIEW_SET);
	live = ctl_nest_attrs(a[SPINDLE_A_LIVE], SPINDLE_LIVE_A_MAX);
	sg = ctl_nest_attrs(a[SPINDLE_A_SUBGROUP], SPINDLE_SUBGROUP_A_MAX);
	rule = ctl_nest_attrs(sg[SPINDLE_SUBGROUP_A_RULE], SPINDLE_RULE_A_MAX);
	ok(a[SPINDLE_A_LIVE] && !a[SPINDLE_A_CONTACT] &&
	   attr_is(live[SPINDLE_LIVE_A_TIMEOUT_MS], 4, 100) && !live[SPINDLE_LIVE_A_MAX_NODES] &&
	   attr_is(live[SPINDLE_LIVE_A_QUORUM], 1, 0),
	   "the request has the rules of the live view");
	ok(attr_is(rule[SPINDLE_RULE_A_SHARDS], 4, 2) && attr_is(rule[SPINDLE_RULE_A_MIN], 4, 3) &&
	   attr_is(rule[SPINDLE_RULE_A_ON_EXIT], 1, SPINDLE_ON_EXIT_LEAVE), "the rule");
	begin(1);
	wire.nodes = 0;
	apply(INSECURE "[View]\nVid = 3\n" MEMBERS "Live = yes\n", " --force-new");
	a = sent(SPINDLE_CMD_VIEW_SET);
	ok(a && a[SPINDLE_A_LIVE] && !nla_len(a[SPINDLE_A_LIVE]), "Live = yes makes a view live");
	begin(1);
	wire.nodes = 0;
	apply(NODE "[View]\nVid = 3\n" MEMBERS "Live = no\n", "");
	a = sent(SPINDLE_CMD_VIEW_SET);
	ok(a && !a[SPINDLE_A_LIVE], "Live = no does not");
}

#define OTHER "[Node]\nId = 2\nAddress = 10.0.0.2\nPort = 5000\n"
#define LIVE "[View]\nVid = 3\nLive = yes\n"

/* Does the request name this contact, with an address of four bytes? */
static bool asks(struct nlattr **a, const char *ip, uint64_t port)
{
	struct nlattr **c = a ? ctl_nest_attrs(a[SPINDLE_A_CONTACT], SPINDLE_CONTACT_A_MAX) : NULL;

	return a && a[SPINDLE_A_CONTACT] && c[SPINDLE_CONTACT_A_ADDR4] &&
	       !memcmp(nla_data(c[SPINDLE_CONTACT_A_ADDR4]), ip, 4) &&
	       (c[SPINDLE_CONTACT_A_PORT] ? attr_is(c[SPINDLE_CONTACT_A_PORT], 2, port) :
					    port == SPINDLE_DEF_PORT);
}

/* Other nodes may still run the view of the file, so only --bootstrap begins it. */
static void test_bootstrap(void)
{
	begin(1);
	wire.nodes = 0;
	ok(!apply(INSECURE OTHER LIVE, "") && !sent(SPINDLE_CMD_VIEW_SET) &&
	   asks(sent(SPINDLE_CMD_NODE_JOIN), "\12\0\0\2", 5000) &&
	   strstr(output, "+ view of node 1: it begins to join by 10.0.0.2:5000\n"),
	   "a node joins by all others of the file");
	begin(1);
	wire.nodes = 0;
	ok(apply(INSECURE LIVE, "") && untouched() && strstr(output, "apply --bootstrap"),
	   "without other nodes in the file, a node does not join");
	runs(3, SPINDLE_LIVE_ACTIVE);
	ok(!apply(NODE OTHER LIVE "TimeoutMs = 100\n" SHARDS NAMED, " --bootstrap") && untouched(),
	   "what has begun does not begin again");
	begin(1);
	wire.nodes = 0;
	apply(INSECURE OTHER LIVE, " --bootstrap");
	ok(asks(sent(SPINDLE_CMD_VIEW_SET), "\12\0\0\2", 5000) && !sent(SPINDLE_CMD_NODE_JOIN),
	   "what begins asks the others first");
	begin(1);
	wire.nodes = 0;
	ok(!apply(INSECURE OTHER LIVE, " --force-new") &&
	   !sent(SPINDLE_CMD_VIEW_SET)[SPINDLE_A_CONTACT], "--force-new asks no other node");
	begin(1);
	wire.nodes = 0;
	ok(!apply(INSECURE
		  "[Node]\nId = 2\nAddress = 127.0.0.1\nPort = 5000\nInsecure = yes\n" LIVE,
		  " --force-new") &&
	   attr_is(sent(SPINDLE_CMD_VIEW_SET)[SPINDLE_A_NODE_ID], 4, 1) &&
	   attr_is(sent(SPINDLE_CMD_NODE_JOIN)[SPINDLE_A_NODE_ID], 4, 2) &&
	   asks(sent(SPINDLE_CMD_NODE_JOIN), "\177\0\0\1", SPINDLE_DEF_PORT),
	   "one node begins the view, and the other nodes join");
	runs(0, SPINDLE_LIVE_JOINING);
	ok(!apply(NODE OTHER LIVE, " --force-new") && sent(SPINDLE_CMD_NODE_LEAVE) &&
	   sent(SPINDLE_CMD_VIEW_SET) &&
	   strstr(output, "- view of node 1: it does not join any more\n"),
	   "a node that waits in vain can begin");
}

static void test_contact(void)
{
	struct nlattr **a;

	begin(1);
	wire.nodes = 0;
	ok(!apply(INSECURE "Join = 10.0.0.2:5000\n", "") && sent(SPINDLE_CMD_NODE_ADD) &&
	   strstr(output, "+ view of node 1: it begins to join by 10.0.0.2:5000\n"), "join");
	a = sent(SPINDLE_CMD_NODE_JOIN);
	ok(attr_is(a[SPINDLE_A_NODE_ID], 4, 1) && asks(a, "\12\0\0\2", 5000),
	   "the request names the contact");
	begin(1);
	wire.nodes = 0;
	ok(!apply(INSECURE "Join = 10.0.0.2:5000\nJoin = 10.0.0.3\n", "") &&
	   strstr(output, "it begins to join by 10.0.0.2:5000, 10.0.0.3:4790\n"),
	   "several can be asked");
	runs(9, SPINDLE_LIVE_ACTIVE);
	ok(!apply(NODE "Join = 10.0.0.2\n", "") && untouched() &&
	   strstr(output, "= view of node 1 unchanged (live, vid 9 by now)\n"),
	   "a node in the view stays as it is");
	runs(0, SPINDLE_LIVE_JOINING);
	ok(!apply(NODE "Join = 10.0.0.2\n", "") && untouched() &&
	   strstr(output, "= view of node 1: it is joining\n"), "a node that joins stays as it is");
	runs(9, SPINDLE_LIVE_STOPPED);
	ok(!apply(NODE "Join = 10.0.0.2\n", "") && sent(SPINDLE_CMD_NODE_JOIN) &&
	   strstr(output, "~ view of node 1: it begins to join by 10.0.0.2:4790\n"),
	   "a node that has stopped joins again");
	runs(9, SPINDLE_LIVE_ACTIVE);
	ok(!apply(NODE "Join = 10.0.0.2\n", " --prune") && untouched(), "nothing to prune");
	runs(9, SPINDLE_LIVE_FORMING);
	refuses(NODE "Join = 10.0.0.2\n", 4, "spindle-ctl view del node 1",
		"a node that begins a view does not join");
	runs_static();
	refuses(NODE "Join = 10.0.0.2\n", 4, "a static view (vid 7), which has to go first: "
		"spindle-ctl view del node 1", "a node in a static view does not join");
}

static void test_same(void)
{
	static const char first[] = NODE "[View]\nVid = 7\nTimeoutMs = 100\n" MEMBERS SHARDS NAMED;

	runs(7, SPINDLE_LIVE_ACTIVE);
	ok(!apply(first, " --prune") && untouched() &&
	   strstr(output, "= view of node 1 unchanged (live, vid 7)\n"),
	   "the same again changes nothing");
	runs(9, SPINDLE_LIVE_CHANGING);
	ok(!apply(first, " --prune --replace") && untouched() &&
	   strstr(output, "= view of node 1 unchanged (live, vid 9 by now)\n"),
	   "however far it has come");
	runs(9, SPINDLE_LIVE_ACTIVE);
	ok(!apply(NODE "[View]\nVid = 2\nTimeoutMs = 100\nMember = 1@127.0.0.1\n"
		  "Member = 3@10.0.0.3\n" SHARDS NAMED, "") && untouched() &&
	   strstr(output, "vid 9 by now)\n    member 3@10.0.0.3:4790 leaves\n"
			  "    member 2@10.0.0.2:4790 joins\n"),
			   "apply lists the members that have come and gone");
}

static void test_other(void)
{
	runs(7, SPINDLE_LIVE_ACTIVE);
	refuses(NODE "[View]\nVid = 7\nTimeoutMs = 200\n" MEMBERS SHARDS NAMED, 4,
		"timeout-ms: 100 -> 200\n", "rules do not change");
	refuses(NODE "[View]\nVid = 7\nTimeoutMs = 100\n" MEMBERS
		"[Subgroup]\nId = 0\nShards = 3\n" NAMED, 4, "subgroup 0 shards: 2 -> 3\n",
		"the rules of a subgroup do not change");
	refuses(NODE "[View]\nVid = 7\nTimeoutMs = 100\n" MEMBERS SHARDS
		"[Subgroup]\nId = 9\nMembers = 1,5\nOnExit = leave\n", 4,
		"subgroup 9 senders: 5 -> all\n", "the senders of a subgroup do not change");
	refuses(NODE "[View]\nVid = 7\nTimeoutMs = 100\n" MEMBERS SHARDS NAMED
		"[Subgroup]\nId = 11\n", 4, "subgroup 11 comes\n",
		"without spares no subgroup is added");
	ok(!apply(NODE "[View]\nVid = 7\nTimeoutMs = 100\n" MEMBERS SHARDS, "") && untouched(),
	   "a subgroup that the file does not have is left alone");
	ok(!apply(NODE "[View]\nVid = 7\nTimeoutMs = 100\n" MEMBERS "Member = 3@10.0.0.3\n"
		  SHARDS NAMED, "") && untouched(),
		   "the file does not decide which members are in the view");
	refuses(NODE "[View]\nVid = 8\nTimeoutMs = 100\n" MEMBERS SHARDS NAMED, 5,
		"grows by itself and is 7 now", "the file does not decide the vid");
	refuses(NODE "[View]\nVid = 8\nMember = 1@127.0.0.1\n", 5,
		"which it has to leave first: spindle-ctl node leave id 1, then view del node 1",
		"a static view does not take its place");
	runs(0, SPINDLE_LIVE_JOINING);
	ok(!apply(NODE "[View]\nVid = 8\nLive = yes\n" MEMBERS, "") && untouched(),
	   "a node that joins does not begin");
	runs(7, SPINDLE_LIVE_STOPPED);
	ok(!apply(NODE "[View]\nVid = 7\nLive = yes\n" MEMBERS, "") &&
	   asks(sent(SPINDLE_CMD_NODE_JOIN), "\12\0\0\2", SPINDLE_DEF_PORT) &&
	   !sent(SPINDLE_CMD_VIEW_SET), "a node that has stopped does not begin a second time");
	runs(7, SPINDLE_LIVE_STOPPED);
	ok(!apply(NODE "[View]\nVid = 7\nLive = yes\n" MEMBERS, " --force-new") &&
	   sent(SPINDLE_CMD_VIEW_SET) &&
	   strstr(output, "~ view of node 1 begins: live, vid 7,"),
	   "a node that has stopped begins a second time with --force-new");
	runs(7, SPINDLE_LIVE_STOPPED);
	refuses(NODE "[View]\nVid = 9\nMember = 1@127.0.0.1\n", 5, "spindle-ctl view del node 1",
		"a node that has stopped does not begin a static view");
	runs_static();
	refuses(NODE "[View]\nVid = 8\nLive = yes\n" MEMBERS, 4, "spindle-ctl view del node 1",
		"a live view does not take the place of a static one");
	runs(7, SPINDLE_LIVE_ACTIVE);
	wire.keyed = false;
	ok(!apply(INSECURE "IdleUs = 9\n[View]\nVid = 7\nLive = yes\n" MEMBERS, " --replace") &&
	   !sent(SPINDLE_CMD_VIEW_SET) && sent(SPINDLE_CMD_NODE_JOIN),
	   "a node that is made again does not begin a second time");
	ok(!apply(INSECURE "IdleUs = 9\nJoin = 10.0.0.2\n", " --replace") &&
	   sent(SPINDLE_CMD_NODE_DEL) && sent(SPINDLE_CMD_NODE_JOIN),
	   "a node that is made again joins");
}

/* A live view without a key needs the word "Insecure". */
static void test_insecure(void)
{
	struct nlattr **a;

	begin(1);
	wire.nodes = 0;
	refuses(NODE OTHER LIVE, 1, "has no key: give it a KeyFile, or say Insecure = yes",
		"a live view needs a key, or Insecure");
	refuses(NODE "Join = 10.0.0.2\n", 1, "has no key",
		"a node does not join a live view without a key and without Insecure");
	begin(1);
	refuses(NODE OTHER LIVE, 1, "has no key",
		"a node that runs does not join without a key and without Insecure");
	wire.keyed = true;
	ok(!apply(NODE OTHER LIVE, "") && !sent(SPINDLE_CMD_NODE_JOIN)[SPINDLE_A_INSECURE],
	   "a node that has a key needs no Insecure");
	begin(1);
	wire.keyed = true;
	refuses(INSECURE OTHER LIVE, 4, "and node 1 runs with a key",
		"a node with a key must not have Insecure");
	begin(1);
	ok(!apply(INSECURE OTHER LIVE, ""), "Insecure takes the place of a key");
	a = sent(SPINDLE_CMD_NODE_JOIN);
	ok(a[SPINDLE_A_INSECURE] && !nla_len(a[SPINDLE_A_INSECURE]),
	   "the word goes with the request to join");
	begin(1);
	ok(!apply(INSECURE OTHER LIVE, " --force-new"), "the word for a node that begins the view");
	a = sent(SPINDLE_CMD_VIEW_SET);
	ok(a[SPINDLE_A_INSECURE] && !nla_len(a[SPINDLE_A_INSECURE]), "the word goes with the view");
	begin(1);
	refuses(INSECURE "[View]\nVid = 7\nMember = 1@127.0.0.1\n", 4, "for live views only",
		"a static view cannot have the word");
}

/* The ids in nests of a type, as text. */
static const char *ids_of(struct nlattr *nest, int type, int id)
{
	struct ctl_ids ids = { .set = true };
	struct nlattr *attr;
	int rem;

	nla_for_each_nested(attr, nest, rem)
		if (nla_type(attr) == type)
			ctl_ids_add(&ids, ctl_attr_num(id ? ctl_nest_attrs(attr, id)[id] : attr));
	return ctl_ids_text(&ids);
}

static void test_witness(void)
{
	static const char first[] = NODE "[View]\nVid = 7\nTimeoutMs = 100\n" MEMBERS
				    "Witness = 2\n" SHARDS NAMED;
	struct nlattr **a;

	begin(1);
	wire.nodes = 0;
	apply(INSECURE OTHER "[Node]\nId = 3\nAddress = 10.0.0.3\n"
	      "[View]\nVid = 3\nWitness = 3\n[Subgroup]\nId = 0\nMin = 2\nSenders = 2\n",
	      " --bootstrap");
	a = sent(SPINDLE_CMD_VIEW_SET);
	ok(a && !strcmp(ids_of(a[SPINDLE_A_LIVE], SPINDLE_LIVE_A_WITNESS, 0), "3"),
	   "the request names the witness");
	_Static_assert(SPINDLE_SUBGROUP_NODE_A_ID == 1, "ids_of() reads no attribute behind it");
	ok(!strcmp(ids_of(a[SPINDLE_A_SUBGROUP], SPINDLE_SUBGROUP_A_NODE,
			  SPINDLE_SUBGROUP_NODE_A_ID), "1,2"),
	   "the request names all members of a subgroup with senders, and not the witness");
	witness = 2;
	runs(7, SPINDLE_LIVE_ACTIVE);
	ok(!apply(first, "") && untouched(), "the same again changes nothing");
	refuses(NODE "[View]\nVid = 7\nTimeoutMs = 100\n" MEMBERS SHARDS NAMED, 4,
		"witness: 2 -> none\n", "a witness does not become another member");
	run(ctl_cmd_showconf, "showconf", "");
	ok(strstr(output, "Quorum = 1\nWitness = 2\nMember = 1@"), "showconf has it");
	witness = 0;
	begin(1);
	wire.keyed = true;
	refuses(NODE "[View]\nVid = 7\nLive = no\n" MEMBERS "Witness = 2\n", 9,
		"Witness is for live views only, and line 6 says Live = no",
		   "a witness needs a live view");
	refuses(NODE "[View]\nVid = 7\n" MEMBERS "Witness = 1\nWitness = 2\n", 9,
		"Witness is given twice; it is in line 8 too", "one list of witnesses");
	refuses(NODE "[View]\nVid = 7\n" MEMBERS "Witness = all\n", 8,
		"not a list of node ids like 3 or 3,4", "all are no witnesses");
	refuses(NODE "[View]\nVid = 7\nWitness = 5\n" MEMBERS NAMED, 11,
		"subgroup 9: node 5 is a witness, which is in no subgroup", "not in a subgroup");
}

/* Steps that are valid one by one, but not together. */
static void test_together(void)
{
	static char text[SPINDLE_MAX_NET_NODES * 64 + 256];
	int i, len = 0;

	begin(1);
	wire.nodes = 0;
	refuses(NODE "Engine = 3\nCpu = 0\n[Node]\nId = 2\nAddress = 127.0.0.1\nPort = 5000\n"
		"Engine = 3\nCpu = 1\n", 11,
		"node 2: the engine runs already, on another CPU", "two CPUs of one engine");
	ok(!apply(NODE "Engine = 3\nCpu = 0\n[Node]\nId = 2\nAddress = 127.0.0.1\nPort = 5000\n"
		  "Engine = 3\n[Node]\nId = 3\nAddress = 127.0.0.1\nPort = 5001\nCpu = 1\n", ""),
	   "two engines, and a node that says nothing");
	begin(1);
	wire.nodes = 0;
	refuses(NODE "[Node]\nId = 2\nAddress = 127.0.0.1\nPort = 5000\nEngine = 0\nCpu = 1\n", 9,
		"on another CPU", "an engine of no CPU is on another one");
	for (i = 1; i <= SPINDLE_MAX_NET_NODES; i++)
		len += sprintf(text + len, "[Node]\nId = %d\nAddress = 127.0.0.1\nPort = %d\n", i,
			       5000 + i);
	ok(!apply(text, " --dry-run"), "as many nodes as a namespace has room for");
	begin(1);
	wire.nodes = 0;
	sprintf(text + len, "[Node]\nId = 999\nAddress = 127.0.0.1\n");
	refuses(text, 4 * SPINDLE_MAX_NET_NODES + 1,
		"node 999: a network namespace has 256 nodes at most", "one node too many");
	begin(1);
	wire.node[0] = 5000;
	text[len] = 0;
	refuses(text, 4 * SPINDLE_MAX_NET_NODES - 3, "256 nodes at most",
		"a node that runs counts");
	ok(!apply(text, " --prune --dry-run"), "a node that is removed does not count");
}

static void test_key(void)
{
	static const char bytes[] = "0123456789abcdef\n";
	const char *text = ctl_asprintf(NODE "KeyFile = %s.key\n", strrchr(path, '/') + 1);
	const char *file = ctl_asprintf("%s.key", path);
	FILE *f = fopen(file, "w");
	struct nlattr *key;

	if (!f || fputs(bytes, f) < 0 || fclose(f) || chmod(file, 0600))
		exit(1);
	begin(1);
	wire.nodes = 0;
	ok(!apply(text, "") && !strstr(output, "0123"), "a key beside the file");
	key = sent(SPINDLE_CMD_NODE_ADD)[SPINDLE_A_KEY];
	ok(key && nla_len(key) == 16 && !memcmp(nla_data(key), bytes, 16), "goes to the kernel");
	begin(1);
	wire.keyed = true;
	ok(!apply(text, "") && untouched(), "the key does not go to a node that has one");
	ok(!apply(NODE, "") && untouched(), "a file without one says nothing of it");
	ok(apply(NODE "IdleUs = 9\n", " --replace") && untouched() &&
	   strstr(output, ":1: node 1 has a key, and here it has none"),
	   "a node with a key is not made again without it");
	begin(1);
	refuses(text, 1, "key: none -> that of", "a node that has none is another one");
	ok(!apply(text, " --replace") && sent(SPINDLE_CMD_NODE_DEL) &&
	   sent(SPINDLE_CMD_NODE_ADD)[SPINDLE_A_KEY],
	   "a node without a key can be made again with one");
	begin(1);
	chmod(file, 0604);
	refuses(text, 4, "everybody on this machine can read it", "a key for all to read");
	remove(file);
	refuses(text, 4, "No such file", "a key that is not there");
	ok(apply("[Node]\nId = 1\nAddress = 192.0.2.1\nKeyFile = /nowhere\n", "") &&
	   !strstr(output, "nowhere"), "a key of another host need not be there");
}

/* ---- showconf ----------------------------------------------------------- */

static const char golden[] =
	"[Node]\nId = 1\nAddress = 127.0.0.1\nPort = 4790\nCluster = spindle\n"
	"Visibility = auto\nIdleUs = 50\nEngine = 0\n"
	"# KeyFile = PATH of its key, which is never shown\n"
	"\n[View]\nVid = 7\n"
	"# The view as of now. Nodes that apply this file join it; it begins again by\n"
	"# apply --bootstrap only.\n"
	"Live = yes\nTimeoutMs = 100\nMaxNodes = 16\nQuorum = 1\n"
	"Member = 1@127.0.0.1:4790\nMember = 2@10.0.0.2:4790\n"
	"\n[Subgroup]\nId = 0\nMode = ordered\nWindow = 128\nMaxMsg = 10240\nRing = 1048576\n"
	"Hold = 1\nMembers = all\nSenders = all\nShards = 2\nMin = 1\nOnExit = discard\n"
	"\n[Subgroup]\nId = 9\nMode = ordered\nWindow = 128\nMaxMsg = 10240\nRing = 1048576\n"
	"Hold = 1\nMembers = 1,5\nSenders = 5\nShards = 1\nMin = 1\nOnExit = leave\n";

static void test_show(void)
{
	runs(7, SPINDLE_LIVE_ACTIVE);
	wire.keyed = true;
	run(ctl_cmd_showconf, "showconf", "");
	same(output, golden, "showconf writes each rule once, with the nodes that it names");
	ok(!apply(golden, "") && untouched(),
	   "apply finds nothing to do for the output of showconf");
	runs(7, SPINDLE_LIVE_STOPPED);
	run(ctl_cmd_showconf, "showconf", "");
	ok(!strstr(output, "[View]") &&
	   strstr(output, "\n# Join = ADDRESS to have it back; it was in the live view 7\n"),
	   "a view that was is none to begin with");
	runs(0, SPINDLE_LIVE_JOINING);
	run(ctl_cmd_showconf, "showconf", "");
	ok(!strstr(output, "[View]") &&
	   strstr(output, "\n# Join = ADDRESS of the node that it asks"),
	   "a node that is joining");
}

/* The id of a nest with a subgroup, or 0. */
static uint64_t id_in(struct nlattr *nest)
{
	return ctl_attr_num(ctl_nest_attrs(nest, SPINDLE_SUBGROUP_A_MAX)[SPINDLE_SUBGROUP_A_ID]);
}

/* How many requests change subgroups? */
static unsigned int change_requests(void)
{
	unsigned int i, n = 0;

	for (i = 0; i < wire.sents; i++)
		n += ((struct genlmsghdr *)nlmsg_data(wire.sent[i]))->cmd ==
		     SPINDLE_CMD_SUBGROUP_CHANGE;
	return n;
}

static uint64_t shards_in(struct nlattr *nest)
{
	struct nlattr *rule = ctl_nest_attrs(nest, SPINDLE_SUBGROUP_A_MAX)[SPINDLE_SUBGROUP_A_RULE];

	return ctl_attr_num(ctl_nest_attrs(rule, SPINDLE_RULE_A_MAX)[SPINDLE_RULE_A_SHARDS]);
}

/* Subgroup 9 goes, 0 gets other rules and 11 comes with three shards, all by one request. */
static void test_changes(void)
{
	const char *text = NODE "[View]\nVid = 7\nTimeoutMs = 100\nSpares = 4\n" MEMBERS
		"[Subgroup]\nId = 0\nWindow = 4\n[Subgroup]\nId = 11\nShards = 3\n";
	struct nlattr **a;

	spares = 4;
	runs(7, SPINDLE_LIVE_ACTIVE);
	ok(!apply(text, " --prune --replace --dry-run") && untouched() &&
	   strstr(output, "- subgroup 9 of the live view of node 1\n") &&
	   strstr(output, "~ subgroup 0 of the live view of node 1\n") &&
	   strstr(output, "    subgroup 0 shards: 2 -> 1\n") &&
	   strstr(output, "+ subgroup 11 of the live view of node 1\n"),
	   "a dry run lists the changes of subgroups");
	wire.refuse = SPINDLE_CMD_SUBGROUP_CHANGE;
	wire.err = -ENOSPC;
	ok(apply(text, " --prune --replace") == CTL_FAILED &&
	   !strcmp(output, "= node 1 unchanged\n"
			   "spindle-ctl: subgroups of the live view of node 1: refused\n"
			   "spindle-ctl: apply: stopped; nothing was changed\n"),
	   "a refusal is one of all changes");
	a = sent(SPINDLE_CMD_SUBGROUP_CHANGE);
	ok(change_requests() == 1 && a && attr_is(a[SPINDLE_A_NODE_ID], 4, 1) &&
	   attr_is(a[SPINDLE_A_REMOVE], 4, 9) && id_in(a[SPINDLE_A_SUBGROUP]) == 11 &&
	   a[SPINDLE_A_REPLACE] && !id_in(a[SPINDLE_A_REPLACE]),
	   "one request has all changes of a view");
	ok(shards_in(a[SPINDLE_A_SUBGROUP]) == 3, "the request has the shards of the file");
	runs(7, SPINDLE_LIVE_ACTIVE);
	event(SPINDLE_EVENT_RULES_FAILED, 1, 0, 0, "some members do not follow");
	ok(apply(text, "") == CTL_FAILED && strstr(output, "--replace gives it these") &&
	   untouched(), "no change is made if one needs --replace");
	ok(apply(text, " --replace") == CTL_FAILED && wire.heard &&
	   !strcmp(output, "= node 1 unchanged\n"
			   "spindle-ctl: subgroups of the live view of node 1: "
			   "some members do not follow\n"
			   "spindle-ctl: apply: stopped; nothing was changed\n") &&
	   !sent(SPINDLE_CMD_SUBGROUP_CHANGE)[SPINDLE_A_REMOVE],
	   "members that do not follow leave all as it is");
	spares = 0;
}

#define LOGS_VIEW NODE "[View]\nVid = 7\nTimeoutMs = 100\nSpares = 4\n" MEMBERS SHARDS
#define LOGS	"Log = 1\nAck = majority\n"

/* Subgroup 9 has logs in the view, and others in the file. */
static void test_logs(void)
{
	struct nlattr **a;
	char *shown;

	spares = 4;
	with_logs = 10;
	runs(7, SPINDLE_LIVE_ACTIVE);
	run(ctl_cmd_showconf, "showconf", "");
	shown = ctl_strdup(output);
	ok(strstr(shown, "Ring = 1048576\nHold = 1\nLog = 1\nAck = majority\nDeliver = stable\n"
			 "MinCopies = default\nMembers = 1,5\n") &&
	   strstr(shown, "Ring = 1048576\nHold = 1\nMembers = all\n"),
	   "showconf writes logs, and nothing of them where there are none");
	ok(!apply(shown, " --prune --replace") && untouched(),
	   "apply finds nothing to do for logs of showconf");
	ok(!apply(LOGS_VIEW NAMED LOGS, " --prune --replace") && untouched(),
	   "nor for defaults that the file leaves out");
	ok(apply(LOGS_VIEW NAMED LOGS "MinCopies = 3\n", "") == CTL_FAILED && untouched() &&
	   strstr(output, "subgroup 9 of the live view of node 1 has other rules; --replace") &&
	   strstr(output, "    subgroup 9 min-copies: default -> 3\n"),
	   "a subgroup with other copies is another one");
	ok(!apply(LOGS_VIEW NAMED "Log = yes\nDeliver = durable\n", " --replace --dry-run") &&
	   strstr(output, "~ subgroup 9 of the live view of node 1\n"
			  "    subgroup 9 ack: majority -> all\n"
			  "    subgroup 9 deliver: stable -> durable\n"), "both are shown");
	ok(!apply(LOGS_VIEW NAMED, " --replace --dry-run") &&
	   strstr(output, "    subgroup 9 log: 1 -> 0\n    subgroup 9 ack: majority -> all\n") &&
	   !strstr(output, "deliver") && !strstr(output, "min-copies"), "logs that go");
	with_logs = 0;
	runs(7, SPINDLE_LIVE_ACTIVE);
	ok(!apply(LOGS_VIEW NAMED "Log = 1\n", " --replace --dry-run") &&
	   strstr(output, "~ subgroup 9 of the live view of node 1\n"
			  "    subgroup 9 log: 0 -> 1\n") &&
	   !strstr(output, "ack"), "logs that come");
	wire.refuse = SPINDLE_CMD_SUBGROUP_CHANGE;
	wire.err = -ENOSPC;
	apply(LOGS_VIEW NAMED LOGS "Deliver = durable\nMinCopies = 2\n", " --replace");
	a = sent(SPINDLE_CMD_SUBGROUP_CHANGE);
	a = ctl_nest_attrs(a ? a[SPINDLE_A_REPLACE] : NULL, SPINDLE_SUBGROUP_A_MAX);
	ok(attr_is(a[SPINDLE_SUBGROUP_A_LOG], 1, 1) &&
	   attr_is(a[SPINDLE_SUBGROUP_A_ACK], 1, SPINDLE_ACK_MAJORITY) &&
	   attr_is(a[SPINDLE_SUBGROUP_A_DELIVER], 1, SPINDLE_DELIVER_DURABLE) &&
	   attr_is(a[SPINDLE_SUBGROUP_A_MIN_COPIES], 4, 2), "the request has the logs of the file");
	spares = 0;
}

/* What the kernel would refuse is refused with a line of the file. */
static void test_logs_refused(void)
{
	begin(1);
	refuses(NODE "[View]\nVid = 3\n" MEMBERS "[Subgroup]\nId = 0\nLog = 1\n", 10,
		"Log is for live views only; the one in line 4 has no Live = yes",
		"a static view has no logs");
	refuses(INSECURE LIVE "[Subgroup]\nId = 0\nMode = unordered\nLog = 1\n", 11,
		"subgroup 0 has no logs: only an ordered subgroup can have some",
		"an unordered subgroup has no logs");
	refuses(INSECURE LIVE "[Subgroup]\nId = 0\nAck = all\n", 10,
		"subgroup 0: 'Ack' is for subgroups with logs only", "no logs, and Ack");
	refuses(INSECURE LIVE "[Subgroup]\nId = 0\nLog = no\nmin-copies = 2\n", 11,
		"subgroup 0: 'MinCopies' is for subgroups with logs only",
		"no logs, and MinCopies");
	refuses(INSECURE LIVE "[Subgroup]\nId = 0\nDeliver = stable\n", 10,
		"subgroup 0: 'Deliver' is for subgroups with logs only", "no logs, and Deliver");
	refuses(INSECURE LIVE "[Subgroup]\nId = 0\nLog = 1\nMinCopies = 65\n", 11,
		"MinCopies = 65: not a number from 0 to 64", "too many copies");
	refuses(INSECURE LIVE "[Subgroup]\nId = 0\nLog = 1\nHistory = 1M\n", 11,
		"[Subgroup] has no key 'History'", "a file for apply has no tuning");
	refuses(INSECURE LIVE "[Table]\nId = 0\nCells = 1\nLog = 1\n", 11,
		"[Table] has no key 'Log'", "a table has no logs");
}

/* Table 4 is as it is in a file, or goes, or comes, or changes. */
static void test_tables(void)
{
	const char *text = NODE "[View]\nVid = 7\nTimeoutMs = 100\nSpares = 4\n" MEMBERS
		"[Table]\nId = 4\nCells = 13\nMembers = 1\nMin = 2\n[Table]\nId = 5\nCells = 1\n";
	const char *part = "\n[Table]\nId = 4\nCells = 12\nCell = 64\nFields = load:u32\n"
		"Members = 1\nShards = 1\nMin = 2\n";
	char *shown;

	table = 4;
	spares = 4;
	runs(7, SPINDLE_LIVE_ACTIVE);
	run(ctl_cmd_showconf, "showconf", "");
	ok(strstr(output, part), "showconf writes a table");
	shown = ctl_strdup(output);
	ok(!apply(shown, "") && untouched(), "apply finds nothing to do for a table of showconf");
	ok(!apply(text, " --prune --replace --dry-run") && untouched() &&
	   strstr(output, "~ table 4 of the live view of node 1\n"
			  "    table 4 cells: 12 -> 13\n"
			  "    table 4 fields: load:u32 -> ") &&
	   strstr(output, "+ table 5 of the live view of node 1\n") &&
	   strstr(output, "- subgroup 9 of the live view of node 1\n"),
	   "tables are replaced and added");
	ok(!apply(NODE "[View]\nVid = 7\nTimeoutMs = 100\nSpares = 4\n" MEMBERS
		  "[Subgroup]\nId = 4\n", " --prune --replace --dry-run") && untouched() &&
	   strstr(output, "~ subgroup 4 of the live view of node 1\n"
			  "    subgroup 4 mode: table -> ordered\n") &&
	   strstr(output, "    subgroup 4 cells: 12 -> "),
	   "a subgroup takes the place of a table");
	ok(!apply(NODE "[View]\nVid = 7\nTimeoutMs = 100\nSpares = 4\n" MEMBERS,
		  " --prune --dry-run") && untouched() &&
	   strstr(output, "- table 4 of the live view of node 1\n"), "a table is removed");
	table = 0;
	spares = 0;
}

/* Table 4 is of mode read in a file, or in the view, or in both. */
static void test_table_mode(void)
{
	const char *head = NODE "[View]\nVid = 7\nTimeoutMs = 100\nSpares = 4\n" MEMBERS
		"[Table]\nId = 4\nCells = 12\nFields = load:u32\nMembers = 1\nMin = 2\n";
	const char *reads = ctl_asprintf("%sMode = read\n", head);
	struct nlattr **a;
	char *shown;

	table = 4;
	spares = 4;
	runs(7, SPINDLE_LIVE_ACTIVE);
	ok(apply(reads, "") == CTL_FAILED && untouched() &&
	   strstr(output, "table 4 of the live view of node 1 has other rules; --replace"),
	   "a table of another mode is another table");
	ok(!apply(reads, " --replace --dry-run") && untouched() &&
	   strstr(output, "~ table 4 of the live view of node 1\n"
			  "    table 4 mode: table -> table-read\n"), "a dry run shows both modes");
	wire.refuse = SPINDLE_CMD_SUBGROUP_CHANGE;
	wire.err = -ENOSPC;
	apply(reads, " --replace");
	a = sent(SPINDLE_CMD_SUBGROUP_CHANGE);
	a = ctl_nest_attrs(a ? a[SPINDLE_A_REPLACE] : NULL, SPINDLE_SUBGROUP_A_MAX);
	ok(attr_is(a[SPINDLE_SUBGROUP_A_MODE], 1, SPINDLE_MODE_TABLE_READ),
	   "the request has the mode of the file");
	table_mode = SPINDLE_MODE_TABLE_READ;
	runs(7, SPINDLE_LIVE_ACTIVE);
	run(ctl_cmd_showconf, "showconf", "");
	ok(strstr(output, "\n[Table]\nId = 4\nCells = 12\nCell = 64\nFields = load:u32\n"
			  "Mode = read\nMembers = 1\nShards = 1\nMin = 2\n"), "showconf writes mode read");
	shown = ctl_strdup(output);
	ok(!apply(shown, "") && untouched(), "apply finds nothing to do for such a table");
	ok(!apply(ctl_asprintf("%sMode = write\n", head), " --replace --dry-run") &&
	   strstr(output, "    table 4 mode: table-read -> table\n"), "back to mode write");
	table_mode = SPINDLE_MODE_TABLE;
	table = 0;
	spares = 0;
}

/* Table 4 has two shards in the view, and other ones in a file. */
static void test_table_shards(void)
{
	const char *head = NODE "[View]\nVid = 7\nTimeoutMs = 100\nSpares = 4\n" MEMBERS
		"[Table]\nId = 4\nCells = 12\nFields = load:u32\nMembers = 1\nMin = 2\n";
	struct nlattr **a;
	char *shown;

	table = 4;
	table_shards = 2;
	spares = 4;
	runs(7, SPINDLE_LIVE_ACTIVE);
	run(ctl_cmd_showconf, "showconf", "");
	shown = ctl_strdup(output);
	ok(strstr(shown, "\n[Table]\nId = 4\nCells = 12\nCell = 64\nFields = load:u32\n"
			 "Members = 1\nShards = 2\nMin = 2\n") && !strstr(shown, "Id = 5"),
	   "showconf writes a table of shards once");
	ok(!apply(shown, "") && untouched(), "apply finds nothing to do for its shards");
	ok(!apply(head, " --replace --dry-run") && untouched() &&
	   strstr(output, "~ table 4 of the live view of node 1\n"
			  "    table 4 shards: 2 -> 1\n"), "a table loses a shard");
	wire.refuse = SPINDLE_CMD_SUBGROUP_CHANGE;
	wire.err = -ENOSPC;
	apply(ctl_asprintf("%sShards = 3\n", head), " --replace");
	a = sent(SPINDLE_CMD_SUBGROUP_CHANGE);
	ok(a && shards_in(a[SPINDLE_A_REPLACE]) == 3, "the request has its shards");
	table = 0;
	table_shards = 1;
	spares = 0;
}

int main(void)
{
	strcpy(path, "/tmp/conf_test.XXXXXX");
	if (mkstemp(path) < 0)
		return 1;
	test_first();
	test_bootstrap();
	test_insecure();
	test_contact();
	test_same();
	test_other();
	test_witness();
	test_together();
	test_key();
	test_show();
	test_changes();
	test_logs();
	test_logs_refused();
	test_tables();
	test_table_mode();
	test_table_shards();
	remove(path);
	return tap_end();
}
