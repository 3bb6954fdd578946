// SPDX-License-Identifier: GPL-2.0-only
/* Live views: the requests of commands, and their output for the answers. TAP. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/spindle.h>
#include <linux/spindle_genl.h>

#include "common/live.h"
#include "common/names.h"
#include "common/util.h"
#include "common/wire.h"
#include "ctl/cmd.h"
#include "fake_wire.h"

/* The nth subgroup of the last VIEW_SET. */
static struct nlattr *sent_subgroup(int n)
{
	struct nlmsghdr *nlh = wire.sent[wire.sents - 1];
	struct nlattr *attr;
	int rem;

	nla_for_each_attr(attr, genlmsg_attrdata(nlmsg_data(nlh), 0),
			  genlmsg_attrlen(nlmsg_data(nlh), 0), rem)
		if (nla_type(attr) == SPINDLE_A_SUBGROUP && !n--)
			return attr;
	return NULL;
}

static struct nlattr **rule(int n)
{
	struct nlattr *nest = ctl_nest_attrs(sent_subgroup(n),
					     SPINDLE_SUBGROUP_A_MAX)[SPINDLE_SUBGROUP_A_RULE];

	if (!nest || !(nest->nla_type & NLA_F_NESTED))
		return NULL;
	return ctl_nest_attrs(nest, SPINDLE_RULE_A_MAX);
}

/* ---- requests ----------------------------------------------------------- */

static void test_view_set(void)
{
	struct nlattr **a, **live;

	begin(1);
	ok(!run(ctl_cmd_view, "view",
		"set node 1 vid 1 live member 1@10.0.0.1 subgroup 0") &&
	   (a = sent(SPINDLE_CMD_VIEW_SET)) && a[SPINDLE_A_LIVE] &&
	   a[SPINDLE_A_LIVE]->nla_type & NLA_F_NESTED && !nla_len(a[SPINDLE_A_LIVE]) && !rule(0),
	   "live alone is an empty nest, and there is no rule");
	ok(!sent(SPINDLE_CMD_VIEW_SET)[SPINDLE_A_INSECURE],
	   "a live view is not insecure by default");
	begin(1);
	run(ctl_cmd_view, "view", "set node 1 vid 1 insecure live member 1@10.0.0.1 subgroup 0");
	a = sent(SPINDLE_CMD_VIEW_SET);
	ok(a[SPINDLE_A_INSECURE] && !nla_len(a[SPINDLE_A_INSECURE]), "unless one says so");
	begin(1);
	run(ctl_cmd_view, "view", "set node 1 vid 1 member 1@10.0.0.1 subgroup 0 senders none");
	ok(!sent(SPINDLE_CMD_VIEW_SET)[SPINDLE_A_LIVE] && !rule(0),
	   "a view that is not live has neither nest nor rule");
	begin(1);
	run(ctl_cmd_view, "view",
	    "set node 1 vid 1 timeout-ms 20 max-nodes 64 quorum no member 1@10.0.0.1 "
	    "member 2@10.0.0.2 subgroup 0 shards 3 min 2 on-exit leave "
	    "subgroup 9 senders 2 subgroup 10 on-exit discard senders all");
	a = sent(SPINDLE_CMD_VIEW_SET);
	live = ctl_nest_attrs(a[SPINDLE_A_LIVE], SPINDLE_LIVE_A_MAX);
	ok(attr_is(live[SPINDLE_LIVE_A_TIMEOUT_MS], 4, 20) &&
	   attr_is(live[SPINDLE_LIVE_A_MAX_NODES], 4, 64) &&
	   attr_is(live[SPINDLE_LIVE_A_QUORUM], 1, 0), "a key of a live view makes it one");
	ok(rule(0) && attr_is(rule(0)[SPINDLE_RULE_A_SHARDS], 4, 3) &&
	   attr_is(rule(0)[SPINDLE_RULE_A_MIN], 4, 2) &&
	   attr_is(rule(0)[SPINDLE_RULE_A_ON_EXIT], 1, SPINDLE_ON_EXIT_LEAVE) &&
	   !rule(0)[SPINDLE_RULE_A_SENDERS], "the rule of a subgroup");
	ok(rule(1) && attr_is(rule(1)[SPINDLE_RULE_A_SENDERS], 1, 0) &&
	   !rule(1)[SPINDLE_RULE_A_SHARDS] &&
	   ctl_nest_attrs(sent_subgroup(1), SPINDLE_SUBGROUP_A_MAX)[SPINDLE_SUBGROUP_A_NODE],
	   "if senders are named, a node that joins later is none");
	ok(rule(2) && attr_is(rule(2)[SPINDLE_RULE_A_ON_EXIT], 1, SPINDLE_ON_EXIT_DISCARD) &&
	   !rule(2)[SPINDLE_RULE_A_SENDERS], "all senders are none that are named");
	begin(1);
	ok(!run(ctl_cmd_view, "view", "set node 1 vid 1 member 1@10.0.0.1") &&
	   strstr(output, "warning: the view has no subgroup") && sent(SPINDLE_CMD_VIEW_SET),
	   "a view without a subgroup is set, with a warning");
	begin(1);
	ok(!run(ctl_cmd_view, "view",
		"set node 1 vid 1 live member 1@10.0.0.1 subgroup 0 members 1,5") &&
	   sent(SPINDLE_CMD_VIEW_SET), "a member of a subgroup may come later");
}

/* A table has cells, and nothing that has to do with messages. */
static void test_table(void)
{
	struct nlattr **sg, **node;

	begin(1);
	run(ctl_cmd_view, "view",
	    "set node 1 vid 1 live member 1@10.0.0.1 subgroup 0 window 4 "
	    "table 3 cells 16 cell 1K fields a:s1008 name state shards 4 min 2 members 1,5");
	sg = ctl_nest_attrs(sent_subgroup(1), SPINDLE_SUBGROUP_A_MAX);
	ok(attr_is(sg[SPINDLE_SUBGROUP_A_ID], 4, 3) &&
	   attr_is(sg[SPINDLE_SUBGROUP_A_MODE], 1, SPINDLE_MODE_TABLE) &&
	   attr_is(sg[SPINDLE_SUBGROUP_A_CELLS], 4, 16) &&
	   attr_is(sg[SPINDLE_SUBGROUP_A_CELL], 4, 1024) &&
	   !strcmp(ctl_attr_str(sg[SPINDLE_SUBGROUP_A_FIELDS]), "a:s1008") &&
	   !strcmp(ctl_attr_str(sg[SPINDLE_SUBGROUP_A_NAME]), "state"),
	   "a table goes to the kernel");
	ok(!sg[SPINDLE_SUBGROUP_A_WINDOW] && !sg[SPINDLE_SUBGROUP_A_HOLD], "without a window");
	node = ctl_nest_attrs(sg[SPINDLE_SUBGROUP_A_NODE], SPINDLE_SUBGROUP_NODE_A_MAX);
	ok(node[SPINDLE_SUBGROUP_NODE_A_ID] && !node[SPINDLE_SUBGROUP_NODE_A_SENDER],
	   "its members are no senders");
	ok(rule(1) && attr_is(rule(1)[SPINDLE_RULE_A_MIN], 4, 2) &&
	   attr_is(rule(1)[SPINDLE_RULE_A_SHARDS], 4, 4) &&
	   !rule(1)[SPINDLE_RULE_A_SENDERS], "the rule of a table");
	begin(1);
	ok(run(ctl_cmd_view, "view",
	       "set node 1 vid 1 member 1@10.0.0.1 table 3 cells 1 senders 1") == 2 &&
	   strstr(output, "table 3 has no senders"), "a table with senders");
	ok(run(ctl_cmd_view, "view",
	       "set node 1 vid 1 member 1@10.0.0.1 table 3 mode ordered") == 2 &&
	   strstr(output, "table 3 mode 'ordered': none of write|read"),
	   "a table of another mode");
	ok(run(ctl_cmd_view, "view",
	       "set node 1 vid 1 member 1@10.0.0.1 table 3 cells 1 cell 1K fields a:s1009") == 2 &&
	   strstr(output, "table 3: field 'a' ends at byte 1009, and a value has 1008"),
	   "fields that do not fit into the cells of a table");
	ok(run(ctl_cmd_view, "view",
	       ctl_asprintf("set node 1 vid 1 member 1@10.0.0.1 table 3 cells 1 fields %0256d",
			    0)) == 2 &&
	   strstr(output, "table 3: the fields have 255 characters at most"),
	   "fields that are too long");
}

/* The mode of the only subgroup of a request. */
static uint64_t mode_of(const char *words)
{
	struct nlattr **sg;

	begin(1);
	run(ctl_cmd_view, "view", ctl_asprintf("set node 1 vid 1 member 1@10.0.0.1 %s", words));
	sg = ctl_nest_attrs(sent_subgroup(0), SPINDLE_SUBGROUP_A_MAX);
	return sg[SPINDLE_SUBGROUP_A_MODE] ? ctl_attr_num(sg[SPINDLE_SUBGROUP_A_MODE]) : UINT64_MAX;
}

static void test_table_mode(void)
{
	ok(mode_of("table 3 cells 1") == SPINDLE_MODE_TABLE &&
	   mode_of("table 3 cells 1 mode write") == SPINDLE_MODE_TABLE,
	   "rows are written to the other members, by default too");
	ok(mode_of("table 3 mode read cells 1") == SPINDLE_MODE_TABLE_READ &&
	   mode_of("subgroup 3 mode table-read cells 1") == SPINDLE_MODE_TABLE_READ,
	   "rows are read by the other members");
	ok(mode_of("subgroup 3") == UINT64_MAX, "the kernel knows the default of a subgroup");
	begin(1);
	run(ctl_cmd_table, "table", "add node 1 mode read table 3 cells 2 no-wait");
	ok(attr_is(ctl_nest_attrs(sent(SPINDLE_CMD_SUBGROUP_CHANGE)[SPINDLE_A_SUBGROUP],
				  SPINDLE_SUBGROUP_A_MAX)[SPINDLE_SUBGROUP_A_MODE], 1,
		   SPINDLE_MODE_TABLE_READ), "the mode in front of the table");
}

/* The attributes of the nth subgroup of the last request. */
static struct nlattr **sent_attrs(int n)
{
	return ctl_nest_attrs(sent_subgroup(n), SPINDLE_SUBGROUP_A_MAX);
}

/* Is the command line refused with these words, before a request is sent? */
static bool refused(int (*cmd)(struct ctl_args *a), const char *noun, const char *words,
		    const char *want)
{
	begin(1);
	return run(cmd, noun, words) == 2 && strstr(output, want) && !wire.sents;
}

#define SET "set node 1 vid 1 member 1@10.0.0.1 "

static void test_logs(void)
{
	struct nlattr **sg;

	begin(1);
	run(ctl_cmd_view, "view", SET "live subgroup 0 log 1 ack majority deliver durable "
	    "min-copies 3 subgroup 1 log yes subgroup 2 log 0 subgroup 3");
	sg = sent_attrs(0);
	ok(attr_is(sg[SPINDLE_SUBGROUP_A_LOG], 1, 1) &&
	   attr_is(sg[SPINDLE_SUBGROUP_A_ACK], 1, SPINDLE_ACK_MAJORITY) &&
	   attr_is(sg[SPINDLE_SUBGROUP_A_DELIVER], 1, SPINDLE_DELIVER_DURABLE) &&
	   attr_is(sg[SPINDLE_SUBGROUP_A_MIN_COPIES], 4, 3), "logs go to the kernel");
	sg = sent_attrs(1);
	ok(attr_is(sg[SPINDLE_SUBGROUP_A_LOG], 1, 1) && !sg[SPINDLE_SUBGROUP_A_ACK] &&
	   !sg[SPINDLE_SUBGROUP_A_DELIVER] && !sg[SPINDLE_SUBGROUP_A_MIN_COPIES],
	   "the kernel knows the defaults of logs");
	ok(attr_is(sent_attrs(2)[SPINDLE_SUBGROUP_A_LOG], 1, 0) &&
	   !sent_attrs(3)[SPINDLE_SUBGROUP_A_LOG], "a subgroup has no logs by default");
	begin(1);
	ok(!run(ctl_cmd_view, "view", SET "subgroup 0 log 0"), "without logs a view may be static");
	begin(1);
	run(ctl_cmd_subgroup, "subgroup",
	    "add 1 id 7 ack all log 1 deliver stable min-copies default no-wait");
	sg = ctl_nest_attrs(sent(SPINDLE_CMD_SUBGROUP_CHANGE)[SPINDLE_A_SUBGROUP],
			    SPINDLE_SUBGROUP_A_MAX);
	ok(attr_is(sg[SPINDLE_SUBGROUP_A_LOG], 1, 1) &&
	   attr_is(sg[SPINDLE_SUBGROUP_A_ACK], 1, SPINDLE_ACK_ALL) &&
	   attr_is(sg[SPINDLE_SUBGROUP_A_DELIVER], 1, SPINDLE_DELIVER_STABLE) &&
	   attr_is(sg[SPINDLE_SUBGROUP_A_MIN_COPIES], 4, 0), "a subgroup with logs is added");
}

/* The views of earlier eras that a request has, as text like "1,2,3 4". */
static const char *sent_ranges(int n)
{
	struct nlattr *attr, *id;
	char *text = "";
	int rem, left;

	nla_for_each_nested(attr, sent_subgroup(n), rem) {
		if (nla_type(attr) != SPINDLE_SUBGROUP_A_RANGE)
			continue;
		text = ctl_asprintf("%s%s", text, *text ? " " : "");
		nla_for_each_nested(id, attr, left)
			text = ctl_asprintf("%s%s%u", text, id == nla_data(attr) ? "" : ",",
					    nla_get_u32(id));
	}
	return text;
}

static void test_range(void)
{
	begin(1);
	run(ctl_cmd_view, "view", SET "live lineage 0c1095cafebabeff0102030405060708/2 "
	    "subgroup 0 lsn 5000 range 1,2,3 log 1 range 4 members 1 range 3,1-2 "
	    "subgroup 1 log 1 subgroup 2 log 1 range 9");
	ok(!strcmp(sent_ranges(0), "1,2,3 4 3,1,2"),
	   "views of earlier eras go to the kernel in their order");
	ok(!*sent_ranges(1), "a subgroup follows none by default");
	ok(!strcmp(sent_ranges(2), "9"), "each subgroup has its own ones");
	ok(attr_is(sent_attrs(0)[SPINDLE_SUBGROUP_A_LSN], 8, 5000), "the position stands beside them");
	ok(attr_is(sent(SPINDLE_CMD_VIEW_SET)[SPINDLE_A_ERA], 8, 2), "the era is a later one");
}

static void test_logs_refused(void)
{
	static const char *const needs[] = { "ack all", "deliver stable", "min-copies 2" };
	unsigned int i;

	ok(refused(ctl_cmd_view, "view", SET "subgroup 3 log 1",
		   "subgroup 3: 'log' is for live views only; add 'live'"),
	   "a static view has no logs");
	ok(refused(ctl_cmd_view, "view", SET "live subgroup 3 name x log 1 mode unordered",
		   "subgroup 3 \"x\" has no logs: only an ordered subgroup can have some"),
	   "an unordered subgroup has no logs");
	ok(refused(ctl_cmd_table, "table", "add 1 table 3 cells 4 log 1",
		   "table 3 has no logs: only an ordered subgroup can have some"),
	   "a table has no logs");
	for (i = 0; i < CTL_ARRAY_SIZE(needs); i++) {
		int len = strcspn(needs[i], " ");
		const char *want = ctl_asprintf("subgroup 3: '%.*s' is for subgroups with logs only",
						len, needs[i]);

		ok(refused(ctl_cmd_subgroup, "subgroup",
			   ctl_asprintf("add 1 id 3 %s", needs[i]), want) &&
		   refused(ctl_cmd_view, "view",
			   ctl_asprintf(SET "live subgroup 3 log 0 %s", needs[i]), want),
		   "no logs, and %s", needs[i]);
	}
}

/* What a node does about its log is its own, as its other tuning. */
static void test_log_tuning(void)
{
	struct nlattr **tune;

	begin(1);
	run(ctl_cmd_subgroup, "subgroup", "set 1 id 3 log-stall-ms 250 on-log-stall leave");
	tune = ctl_nest_attrs(sent(SPINDLE_CMD_SUBGROUP_SET)[SPINDLE_A_TUNE], SPINDLE_TUNE_A_MAX);
	ok(attr_is(tune[SPINDLE_TUNE_A_LOG_STALL_MS], 4, 250) &&
	   attr_is(tune[SPINDLE_TUNE_A_ON_LOG_STALL], 1, SPINDLE_ON_LOG_STALL_LEAVE),
	   "a node leaves if its log stands still");
	begin(1);
	run(ctl_cmd_subgroup, "subgroup", "set 1 id 3 log-stall-ms never");
	tune = ctl_nest_attrs(sent(SPINDLE_CMD_SUBGROUP_SET)[SPINDLE_A_TUNE], SPINDLE_TUNE_A_MAX);
	ok(attr_is(tune[SPINDLE_TUNE_A_LOG_STALL_MS], 4, 0) &&
	   !tune[SPINDLE_TUNE_A_ON_LOG_STALL], "it waits without end");
}

/* The nodes that the rule of a subgroup names. */
static struct ctl_ids sent_nodes(unsigned int n)
{
	struct ctl_ids ids = { .set = true };
	struct nlattr *attr, **a;
	int rem;

	nla_for_each_nested(attr, sent_subgroup(n), rem) {
		if (nla_type(attr) != SPINDLE_SUBGROUP_A_NODE)
			continue;
		a = ctl_nest_attrs(attr, SPINDLE_SUBGROUP_NODE_A_MAX);
		ctl_ids_add(&ids, ctl_attr_num(a[SPINDLE_SUBGROUP_NODE_A_ID]));
	}
	return ids;
}

static void test_witness(void)
{
	struct ctl_ids ids;

	begin(1);
	ok(!run(ctl_cmd_view, "view",
		"set node 1 vid 1 witness 3,9 member 1@10.0.0.1 member 2@10.0.0.2 "
		"member 3@10.0.0.3 subgroup 0 subgroup 1 senders 2"), "witnesses");
	ctl_witness_get(&ids, sent(SPINDLE_CMD_VIEW_SET)[SPINDLE_A_LIVE]);
	ok(!strcmp(ctl_ids_text(&ids), "3,9"),
	   "witnesses make a view live, and the request names them");
	ids = sent_nodes(0);
	ok(!ids.count, "a subgroup of all members names none");
	ids = sent_nodes(1);
	ok(!strcmp(ctl_ids_text(&ids), "1,2"), "a subgroup with senders names no witness");
	begin(1);
	ok(run(ctl_cmd_view, "view",
	       "set node 1 vid 1 witness 3 member 1@10.0.0.1 subgroup 0 members 1,3") == 2 &&
	   strstr(output, "node 3 is a witness, which is in no subgroup"),
	   "a witness cannot be a member by name");
	begin(1);
	ok(run(ctl_cmd_view, "view", "set node 1 vid 1 witness all") == 2 &&
	   strstr(output, "witness 'all': not a list of node ids like 3 or 3,4") &&
	   run(ctl_cmd_view, "view", "set witness 3 witness 4") == 2 &&
	   strstr(output, "witness is given twice") &&
	   run(ctl_cmd_view, "view", "set witness 2-6") == 2 &&
	   strstr(output, "there are at most 4 witnesses"), "what is no list");
}

/* Make a file with these bytes. */
static void make_file(char *path, const char *bytes, size_t len)
{
	int fd = mkstemp(path);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f || fwrite(bytes, 1, len, f) != len || fclose(f))
		exit(1);
}

static void test_key(void)
{
	static const char bytes[] = "0123456789\0abcde\n";
	char path[] = "/tmp/live_test.XXXXXX";
	struct nlattr *key;

	make_file(path, bytes, sizeof(bytes) - 1);
	begin(1);
	run(ctl_cmd_node, "node", ctl_asprintf("add id 1 addr 10.0.0.1 key-file %s", path));
	key = sent(SPINDLE_CMD_NODE_ADD)[SPINDLE_A_KEY];
	ok(key && nla_len(key) == 16 && !memcmp(nla_data(key), bytes, 16) && !*output,
	   "a key has any bytes, but not the newline at the end");
	begin(1);
	wire.refuse = SPINDLE_CMD_NODE_ADD;
	wire.err = -EINVAL;
	ok(run(ctl_cmd_node, "node", ctl_asprintf("add 1 addr ::1 key-file %s", path)) == 1 &&
	   !strstr(output, "0123") && !strcmp(output, "spindle-ctl: node add: refused\n"),
	   "a refused key is not shown");
	begin(1);
	run(ctl_cmd_node, "node", ctl_asprintf("set id 1 key-file %s", path));
	key = sent(SPINDLE_CMD_NODE_SET)[SPINDLE_A_KEY];
	ok(key && nla_len(key) == 16 && !memcmp(nla_data(key), bytes, 16) &&
	   !sent(SPINDLE_CMD_NODE_SET)[SPINDLE_A_FORMER_KEY] && !*output,
	   "a node that runs gets the next key");
	begin(1);
	run(ctl_cmd_node, "node", "set id 1 former-key off");
	ok(attr_is(sent(SPINDLE_CMD_NODE_SET)[SPINDLE_A_FORMER_KEY], 1, 0) &&
	   !sent(SPINDLE_CMD_NODE_SET)[SPINDLE_A_KEY], "a node forgets its former key");
	begin(1);
	run(ctl_cmd_node, "node", "add id 1 addr 10.0.0.1");
	ok(!sent(SPINDLE_CMD_NODE_ADD)[SPINDLE_A_KEY], "no file, no key");
	remove(path);
}

static void test_requests(void)
{
	static const unsigned char v6[16] = { 0xfd, [15] = 1 };
	struct nlattr **a, **c;

	begin(3);
	ok(!run(ctl_cmd_node, "node", "join id 3 contact 10.0.0.1 no-wait") && !wire.listens,
	   "a command that does not wait does not listen");
	a = sent(SPINDLE_CMD_NODE_JOIN);
	c = ctl_nest_attrs(a[SPINDLE_A_CONTACT], SPINDLE_CONTACT_A_MAX);
	ok(attr_is(a[SPINDLE_A_NODE_ID], 4, 3) && c[SPINDLE_CONTACT_A_ADDR4] &&
	   !memcmp(nla_data(c[SPINDLE_CONTACT_A_ADDR4]), "\12\0\0\1", 4) &&
	   !c[SPINDLE_CONTACT_A_PORT] && !c[SPINDLE_CONTACT_A_ADDR6] && !a[SPINDLE_A_LINEAGE],
	   "join at the default port");
	run(ctl_cmd_node, "node", "join --no-wait 3 contact [fd00::1]:5000");
	a = sent(SPINDLE_CMD_NODE_JOIN);
	c = ctl_nest_attrs(a[SPINDLE_A_CONTACT], SPINDLE_CONTACT_A_MAX);
	ok(c[SPINDLE_CONTACT_A_ADDR6] && nla_len(c[SPINDLE_CONTACT_A_ADDR6]) == 16 &&
	   !memcmp(nla_data(c[SPINDLE_CONTACT_A_ADDR6]), v6, 16) &&
	   attr_is(c[SPINDLE_CONTACT_A_PORT], 2, 5000) && !c[SPINDLE_CONTACT_A_ADDR4],
	   "join at another port");
	run(ctl_cmd_node, "node", "join 3 contact 10.0.0.1 lineage "
	    "000102030405060708090a0b0c0d0e0F contact 10.0.0.2 no-wait");
	a = sent(SPINDLE_CMD_NODE_JOIN);
	c = ctl_nest_attrs(a[SPINDLE_A_CONTACT], SPINDLE_CONTACT_A_MAX);
	ok(!memcmp(nla_data(c[SPINDLE_CONTACT_A_ADDR4]), "\12\0\0\2", 4),
	   "the last of two contacts");
	ok(a[SPINDLE_A_LINEAGE] && nla_len(a[SPINDLE_A_LINEAGE]) == 16 &&
	   !memcmp(nla_data(a[SPINDLE_A_LINEAGE]),
		   "\0\1\2\3\4\5\6\7\10\11\12\13\14\15\16\17", 16), "a lineage");
	ok(!a[SPINDLE_A_ERA], "its first era");
	run(ctl_cmd_node, "node", "join 3 contact 10.0.0.1 lineage "
	    "000102030405060708090a0b0c0d0e0F/7 no-wait");
	a = sent(SPINDLE_CMD_NODE_JOIN);
	ok(a[SPINDLE_A_LINEAGE] && nla_len(a[SPINDLE_A_LINEAGE]) == 16 &&
	   attr_is(a[SPINDLE_A_ERA], 8, 7), "a later era");
	ok(!a[SPINDLE_A_INSECURE], "join a view that has a key");
	run(ctl_cmd_node, "node", "join 3 insecure contact 10.0.0.1 no-wait");
	a = sent(SPINDLE_CMD_NODE_JOIN);
	ok(a[SPINDLE_A_INSECURE] && !nla_len(a[SPINDLE_A_INSECURE]), "unless one says so");
	run(ctl_cmd_node, "node", "leave 3 --no-wait");
	a = sent(SPINDLE_CMD_NODE_LEAVE);
	ok(a && attr_is(a[SPINDLE_A_NODE_ID], 4, 3) && !a[SPINDLE_A_PEER_ID], "leave");
	run(ctl_cmd_node, "node", "evict id 3 node 5 no-wait");
	a = sent(SPINDLE_CMD_NODE_EVICT);
	ok(a && attr_is(a[SPINDLE_A_NODE_ID], 4, 3) && attr_is(a[SPINDLE_A_PEER_ID], 4, 5), "evict");
}

/* Ask for one change of a subgroup. Returns the attributes of the request, or NULL. */
static struct nlattr **asked(const char *words)
{
	wire.sents = 0;
	if (run(ctl_cmd_subgroup, "subgroup", ctl_asprintf("%s no-wait", words)))
		return NULL;
	return sent(SPINDLE_CMD_SUBGROUP_CHANGE);
}

static bool has_id(struct nlattr *nest, uint64_t id)
{
	return nest && nest->nla_type & NLA_F_NESTED &&
	       attr_is(ctl_nest_attrs(nest, SPINDLE_SUBGROUP_A_MAX)[SPINDLE_SUBGROUP_A_ID], 4, id);
}

/* Has the rule of a subgroup this attribute? */
static bool has_rule(struct nlattr *nest, int type, uint64_t val)
{
	struct nlattr *rule = nest ? ctl_nest_attrs(nest, SPINDLE_SUBGROUP_A_MAX)
					     [SPINDLE_SUBGROUP_A_RULE] : NULL;

	return rule && attr_is(ctl_nest_attrs(rule, SPINDLE_RULE_A_MAX)[type], 4, val);
}

static void test_change(void)
{
	struct nlattr **a;

	begin(1);
	a = asked("add 3 id 7 window 8");
	ok(a && attr_is(a[SPINDLE_A_NODE_ID], 4, 3) && has_id(a[SPINDLE_A_SUBGROUP], 7) &&
	   !a[SPINDLE_A_REPLACE] && !a[SPINDLE_A_REMOVE], "a subgroup is added");
	a = asked("add 3 id 7 shards 4 min 2");
	ok(a && has_rule(a[SPINDLE_A_SUBGROUP], SPINDLE_RULE_A_SHARDS, 4) &&
	   has_rule(a[SPINDLE_A_SUBGROUP], SPINDLE_RULE_A_MIN, 2), "a subgroup of shards is added");
	a = asked("replace 3 id 7 shards 2");
	ok(a && has_rule(a[SPINDLE_A_REPLACE], SPINDLE_RULE_A_SHARDS, 2),
	   "a subgroup is replaced by shards");
	a = asked("replace 3 id 7 window 8");
	ok(a && has_id(a[SPINDLE_A_REPLACE], 7) && !a[SPINDLE_A_SUBGROUP] &&
	   !a[SPINDLE_A_REMOVE], "a subgroup is replaced");
	a = asked("add 3 table 8 cells 5");
	ok(a && has_id(a[SPINDLE_A_SUBGROUP], 8) &&
	   attr_is(ctl_nest_attrs(a[SPINDLE_A_SUBGROUP],
				  SPINDLE_SUBGROUP_A_MAX)[SPINDLE_SUBGROUP_A_CELLS], 4, 5),
	   "a table is added");
	a = asked("add 3 table 8 cells 5 shards 3");
	ok(a && has_rule(a[SPINDLE_A_SUBGROUP], SPINDLE_RULE_A_SHARDS, 3),
	   "a table of shards is added");
	a = asked("replace 3 table 7 cells 5");
	ok(a && has_id(a[SPINDLE_A_REPLACE], 7), "a subgroup is replaced by a table");
	a = asked("del 3 id 7");
	ok(a && attr_is(a[SPINDLE_A_NODE_ID], 4, 3) && attr_is(a[SPINDLE_A_REMOVE], 4, 7) &&
	   !a[SPINDLE_A_SUBGROUP] && !a[SPINDLE_A_REPLACE], "a subgroup is removed");
	begin(1);
	run(ctl_cmd_view, "view",
	    "set node 1 vid 7 live member 1@10.0.0.1 subgroup 4 name prices");
	wire.view = wire.sent[0];
	a = asked("del 1 name prices");
	ok(a && attr_is(a[SPINDLE_A_REMOVE], 4, 4) && !a[SPINDLE_A_SUBGROUP_NAME],
	   "the command finds the id of a name");
	ok(!asked("del 1 name trades") && !sent(SPINDLE_CMD_SUBGROUP_CHANGE) &&
	   !strcmp(output, "spindle-ctl: subgroup del: node 1 is in no view with a subgroup "
			   "'trades'\n"), "a name that the view does not have");
}

/* ---- status ------------------------------------------------------------- */

static void put_suspect(struct nl_msg *msg, uint32_t id, int rank, int why)
{
	struct nlattr *nest = nla_nest_start(msg, SPINDLE_LIVE_A_MEMBER);

	nla_put_u32(msg, SPINDLE_LIVE_MEMBER_A_ID, id);
	nla_put_u32(msg, SPINDLE_LIVE_MEMBER_A_RANK, rank);
	nla_put_u8(msg, SPINDLE_LIVE_MEMBER_A_STATE, SPINDLE_PEER_FAILED);
	nla_put_u64(msg, SPINDLE_LIVE_MEMBER_A_VIEW, 6);
	nla_put_u64(msg, SPINDLE_LIVE_MEMBER_A_BEAT_MS, 512);
	nla_put_u8(msg, SPINDLE_LIVE_MEMBER_A_WHY, why);
	nla_put_u32(msg, SPINDLE_LIVE_MEMBER_A_SUSPECTED_BY, 1);
	nla_put_u32(msg, SPINDLE_LIVE_MEMBER_A_SUSPECTED_BY, 2);
	nla_nest_end(msg, nest);
}

/* A node in the middle of a change. Its members come in no order. */
static void status_changing(void)
{
	struct nlattr *live;
	struct nl_msg *msg = status_msg(1, SPINDLE_LIVE_CHANGING, "node 3 is\033silent", &live);

	nla_put_u64(msg, SPINDLE_LIVE_A_CHANGES, 6);
	nla_put_u64(msg, SPINDLE_LIVE_A_DETECT_US, 512345);
	nla_put_u64(msg, SPINDLE_LIVE_A_WEDGE_US, 312);
	nla_put_u64(msg, SPINDLE_LIVE_A_AGREE_US, 1149);
	nla_put_u64(msg, SPINDLE_LIVE_A_INSTALL_US, 9999);
	nla_put_u32(msg, SPINDLE_LIVE_A_WITNESS, 2);
	nla_put_u32(msg, SPINDLE_LIVE_A_WITNESS, 77);
	put_member(msg, 9, -1, SPINDLE_PEER_SETUP, 0);
	put_suspect(msg, 3, 2, SPINDLE_WHY_SILENT);
	put_member(msg, 2, 1, SPINDLE_PEER_UP, 12);
	put_member(msg, 4, -1, SPINDLE_PEER_UP, 0);
	put_member(msg, 1, 0, -1, 0);
	nla_nest_end(msg, live);
	wire.status[wire.statuses++] = nlmsg_hdr(msg);
}

static void three_nodes(void)
{
	begin(1);
	wire.node[1] = 2;
	wire.node[2] = 3;
	wire.nodes = 3;
	status_changing();
	status(3, SPINDLE_LIVE_STOPPED, SPINDLE_WHY_MINORITY, "1 of 3 members is left");
}

static const char golden_text[] =
	"  node: 1  (cluster spindle)\n"
	" state: CHANGING\n"
	"  view: 7, 3 members, 6 changes\n"
	"  last: node 3 is?silent\n"
	"action: Suspected: 3. The view goes on without a member that does not come back;"
	" check the host and the network.\n"
	"change: detect 512 ms, wedge 0.3 ms, agree 1.1 ms, install 10.0 ms\n"
	"        MEMBER  RANK  STATE   VIEW  BEAT  LAG  BYTES  NOTE\n"
	"             1     0  -          7     -    0      0  this node\n"
	"             2     1  up         7     3   12   1200  witness\n"
	"             3     2  failed     6   512    0      0  suspected: silent, by 1,2\n"
	"             4     -  up         -     3    0      0  wants to join\n"
	"             9     -  setup      -     -    0      0  wants to join\n"
	"\n"
	"Node 2 has no live view.\n"
	"\n"
	"  node: 3  (cluster spindle)\n"
	" state: STOPPED\n"
	"  view: 7, 0 changes\n"
	"  last: 1 of 3 members is left\n"
	"action: Too few members were left: only a majority goes on. Check the network. If others go on: "
	"spindle-ctl node join id 3 contact ADDRESS; if none does, begin a new view, on one host: "
	"spindle-ctl apply --bootstrap FILE\n";

static const char golden_json[] =
	"[{\"node\":1,\"cluster\":\"spindle\",\"live\":true,\"state\":\"changing\","
	"\"vid\":7,\"insecure\":false,\"changes\":6,\"why\":\"fine\","
	"\"reason\":\"node 3 is\\u001bsilent\","
	"\"action\":\"Suspected: 3. The view goes on without a member that does not come back;"
	" check the host and the network.\","
	"\"timeout_ms\":500,\"max_nodes\":16,\"quorum\":true,\"detect_us\":512345,"
	"\"wedge_us\":312,\"agree_us\":1149,\"install_us\":9999,\"members\":[{\"id\":1,"
	"\"self\":true,\"rank\":0,\"joins\":false,\"vid\":7,\"why\":\"fine\","
	"\"suspected_by\":[],\"lag\":0,\"lag_bytes\":0},{\"id\":2,\"self\":false,"
	"\"rank\":1,\"joins\":false,\"witness\":true,\"state\":\"up\",\"vid\":7,\"beat_ms\":3,"
	"\"why\":\"fine\",\"suspected_by\":[],\"lag\":12,\"lag_bytes\":1200},{\"id\":3,"
	"\"self\":false,\"rank\":2,\"joins\":false,\"state\":\"failed\",\"vid\":6,"
	"\"beat_ms\":512,\"why\":\"silent\",\"suspected_by\":[1,2],\"lag\":0,"
	"\"lag_bytes\":0},{\"id\":4,\"self\":false,\"joins\":true,\"state\":\"up\","
	"\"beat_ms\":3,\"why\":\"fine\",\"suspected_by\":[],\"lag\":0,\"lag_bytes\":0},{"
	"\"id\":9,\"self\":false,\"joins\":true,\"state\":\"setup\",\"why\":\"fine\","
	"\"suspected_by\":[],\"lag\":0,\"lag_bytes\":0}],\"durable\":[],\"replicas\":[]},"
	"{\"node\":2,\"cluster\":\"spindle\",\"live\":false,\"durable\":[],\"replicas\":[]},"
	"{\"node\":3,\"cluster\":\"spindle\","
	"\"live\":true,\"state\":\"stopped\",\"vid\":7,\"insecure\":false,\"changes\":0,"
	"\"why\":\"minority\",\"reason\":\"1 of 3 members is left\","
	"\"action\":\"Too few members were left: only a majority goes on. Check the network. If others go on: "
	"spindle-ctl node join id 3 contact ADDRESS; if none does, begin a new view, on one host: "
	"spindle-ctl apply --bootstrap FILE\",\"timeout_ms\":500,"
	"\"max_nodes\":16,\"quorum\":true,\"members\":[],\"durable\":[],\"replicas\":[]}]\n";

/* A joining node lists the members that it connects to, and none of these wants to join. */
static void test_joining(void)
{
	struct nl_msg *msg;
	struct nlattr *live, *nest;

	begin(1);
	msg = status_msg(1, SPINDLE_LIVE_JOINING, "the members do not admit this node", &live);
	put_member(msg, 5, -1, SPINDLE_PEER_UP, 0);
	nest = nla_nest_start(msg, SPINDLE_LIVE_A_MEMBER);
	nla_put_u32(msg, SPINDLE_LIVE_MEMBER_A_ID, 6);
	nla_put_u8(msg, SPINDLE_LIVE_MEMBER_A_STATE, SPINDLE_PEER_CONNECTING);
	nla_put_string(msg, SPINDLE_LIVE_MEMBER_A_REASON, "refused: another\x1b cluster");
	nla_nest_end(msg, nest);
	nla_nest_end(msg, live);
	wire.status[wire.statuses++] = nlmsg_hdr(msg);
	ok(!run(ctl_cmd_status, "status", "node 1") && !strstr(output, "wants to join") &&
	   strstr(output, "  refused: another? cluster\n"),
	   "a node that joins: the reason why it is not connected, and no node that wants to join");
	wire.asked = 0;
	ctl_opts.json = true;
	ok(!run(ctl_cmd_status, "status", "node 1") && !strstr(output, "\"joins\":true") &&
	   strstr(output, "\"reason\":\"refused: another\\u001b cluster\"}"),
	   "the same for programs");
}

static void test_status(void)
{
	three_nodes();
	ok(!run(ctl_cmd_status, "status", "show"), "status");
	same(output, golden_text, "is for people");
	three_nodes();
	ctl_opts.json = true;
	ok(!run(ctl_cmd_status, "status", ""), "status -j");
	same(output, golden_json, "is for programs");
	begin(2);
	ok(!run(ctl_cmd_status, "status", "node 2") &&
	   !strcmp(output, "Node 2 has no live view.\n") &&
	   attr_is(sent(SPINDLE_CMD_STATUS_GET)[SPINDLE_A_NODE_ID], 4, 2), "a node without a live view");
	begin(2);
	wire.nodes = 0;
	ok(!run(ctl_cmd_status, "status", "") && !strcmp(output, "There is no node.\n"), "no node");
	begin(2);
	wire.refuse = SPINDLE_CMD_STATUS_GET;
	wire.err = -EOPNOTSUPP;
	ok(run(ctl_cmd_status, "status", "") == 1, "an older kernel");
}

/* The status of a node that has left its live view, or was never in one. */
static void status_why(uint32_t node, uint64_t vid, const char *reason)
{
	struct nl_msg *msg = message(SPINDLE_CMD_STATUS_GET);

	nla_put_u32(msg, SPINDLE_A_NODE_ID, node);
	nla_put_string(msg, SPINDLE_A_CLUSTER, SPINDLE_DEF_CLUSTER);
	nla_put_string(msg, SPINDLE_A_REASON, reason);
	if (vid)
		nla_put_u64(msg, SPINDLE_A_VIEW_ID, vid);
	wire.status[wire.statuses++] = nlmsg_hdr(msg);
}

static void test_outside(void)
{
	begin(2);
	wire.dead = 2;
	status_why(2, 5, "the RDMA device was removed");
	run(ctl_cmd_status, "status", "");
	same(output, "  node: 2  (cluster spindle)\n"
		     " state: DEAD\n"
		     "  last: the RDMA device was removed: rxe0; it was in view 5\n"
		     "action: The address of the node needs an RDMA device, see 'rdma link'. Then "
		     "remove it:"
		     " spindle-ctl node del id 2, add it again and have it join; or:"
		     " spindle-ctl apply FILE --replace\n", "a node without its device");
	wire.statuses = 0;
	run(ctl_cmd_status, "status", "");
	ok(strstr(output, " state: DEAD\n  last: the RDMA device was removed: rxe0\n"),
	   "also if an older module does not tell");
	begin(2);
	status_why(2, 0, "the contact has\033another key");
	wire.node[1] = 3;
	wire.nodes = 2;
	run(ctl_cmd_status, "status", "");
	same(output, "  node: 2  (cluster spindle)\n"
		     " state: FAILED\n"
		     "  last: it has not joined: the contact has?another key\n"
		     "action: The node does not try again. To try again:"
		     " spindle-ctl node join id 2 contact ADDRESS\n"
		     "\n"
		     "Node 3 has no live view.\n", "a node that could not join");
	ctl_opts.json = true;
	run(ctl_cmd_status, "status", "node 2");
	ok(strstr(output, "\"live\":false,\"state\":\"failed\",") &&
	   strstr(output, "\"reason\":\"the contact has\\u001banother key\""), "also with -j");
}

/* A status with members that lag by these numbers of messages. */
static void status_lags(uint64_t one, uint64_t two)
{
	struct nlattr *live;
	struct nl_msg *msg = status_msg(1, SPINDLE_LIVE_ACTIVE, NULL, &live);

	put_member(msg, 1, 0, -1, 0);
	put_member(msg, 5, 1, SPINDLE_PEER_UP, two);
	put_member(msg, 6, 2, SPINDLE_PEER_UP, one);
	put_member(msg, 7, -1, SPINDLE_PEER_UP, 1000);
	nla_nest_end(msg, live);
	wire.status[wire.statuses++] = nlmsg_hdr(msg);
}

/* Does the status that was made before lead to this advice? */
static bool advises(const char *want)
{
	char *line;

	ctl_opts.json = false;
	run(ctl_cmd_status, "status", "node 1");
	line = strstr(output, "action: ");
	return want ? line && strstr(line, want) : !line;
}

static void test_action(void)
{
	static const struct {
		int why;
		const char *says;
	} why[] = {
		{ SPINDLE_WHY_MINORITY, "If others go on: spindle-ctl node join id 1 contact "
					"ADDRESS; if none does, begin a new view, on one host: "
					"spindle-ctl apply --bootstrap FILE\n" },
		{ SPINDLE_WHY_EVICTED, "have gone on without it. To have it back: spindle-ctl" },
		{ SPINDLE_WHY_LAYOUT, "have no next view" },
		{ SPINDLE_WHY_LIED, "kernel log" },
		{ SPINDLE_WHY_LOST, "no member any more. To have it back: spindle-ctl node join" },
		{ SPINDLE_WHY_LEFT, NULL },
	};
	unsigned int i;

	for (i = 0; i < CTL_ARRAY_SIZE(why); i++) {
		begin(1);
		status(1, SPINDLE_LIVE_STOPPED, why[i].why, "x");
		ok(advises(why[i].says), ctl_asprintf("what to do if stopped: %s",
						      ctl_name(&ctl_why, why[i].why)));
	}
	begin(1);
	status(1, SPINDLE_LIVE_JOINING, SPINDLE_WHY_FINE, "asks 10.0.0.1");
	ok(advises("give up: spindle-ctl node leave id 1\n"), "while it joins");
	begin(1);
	status_two(1, SPINDLE_LIVE_FORMING, SPINDLE_PEER_CONNECTING, 0);
	ok(advises("Not connected: 5. "), "advice names the member that is not connected");
	begin(1);
	status_two(1, SPINDLE_LIVE_FORMING, SPINDLE_PEER_UP, 0);
	ok(advises(NULL), "no advice if all members are connected");
	begin(1);
	status_two(1, SPINDLE_LIVE_ACTIVE, SPINDLE_PEER_UP, 63);
	ok(advises(NULL), "no advice if all is well");
	begin(1);
	status_two(1, SPINDLE_LIVE_ACTIVE, SPINDLE_PEER_UP, 64);
	ok(advises("Member 5 lags"), "advice names the member that lags");
	begin(1);
	status_lags(100, 25);
	ok(advises("Member 6 lags"), "advice names the member that lags far more than the others");
	begin(1);
	status_lags(100, 26);
	ok(advises(NULL), "no advice if all members lag");
}

/* ---- other commands ----------------------------------------------------- */

/* A live view as VIEW_GET shows it. Its content is that of a request. */
static void make_view(void)
{
	begin(1);
	run(ctl_cmd_view, "view",
	    "set node 1 vid 7 live timeout-ms 100 member 1@10.0.0.1 subgroup 0 shards 2");
	wire.view = wire.sent[0];
}

static void test_show(void)
{
	make_view();
	run(ctl_cmd_view, "view", "show");
	ok(strstr(output, "    live: timeout 100 ms, 16 members at most, a majority goes on\n") &&
	   strstr(output, "SHARDS  MIN  ON-EXIT\n") && strstr(output, "     2    1  discard\n"),
	   "view show tells that it is live");
	ctl_opts.json = true;
	run(ctl_cmd_view, "view", "show");
	ok(strstr(output, "\"vid\":7,\"live\":{\"timeout_ms\":100},") &&
	   strstr(output, "\"senders\":[1],\"shards\":2}"), "also with -j");
	begin(1);
	run(ctl_cmd_view, "view", "set node 1 vid 7 member 1@10.0.0.1 subgroup 0");
	wire.view = wire.sent[0];
	run(ctl_cmd_view, "view", "show");
	ok(!strstr(output, "live") && strstr(output, "MEMBERS  SENDERS\n"),
	   "a view that is not live shows no live columns");
	status(1, SPINDLE_LIVE_ACTIVE, SPINDLE_WHY_FINE, "");
	run(ctl_cmd_view, "view", "show node 1");
	ok(strstr(output, "    live: timeout 500 ms") &&
	   attr_is(sent(SPINDLE_CMD_STATUS_GET)[SPINDLE_A_NODE_ID], 4, 1),
	   "the status can also say that a view is live");
	wire.refuse = SPINDLE_CMD_STATUS_GET;
	wire.err = -EOPNOTSUPP;
	ok(!run(ctl_cmd_view, "view", "show node 1") && !strstr(output, "live") &&
	   !strstr(output, "refused"), "an older module has no live views");
	make_view();
	status(1, SPINDLE_LIVE_ACTIVE, SPINDLE_WHY_FINE, "");
	run(ctl_cmd_view, "view", "show");
	ok(strstr(output, "    live: timeout 100 ms"), "what the view says counts");
}

static void test_words(void)
{
	bool all = true;
	unsigned int i;

	for (i = 0; i <= SPINDLE_LIVE_STOPPED; i++)
		all &= !strchr(ctl_name(&ctl_live_state, i), '-');
	for (i = 0; i <= SPINDLE_WHY_LAYOUT; i++)
		all &= !strchr(ctl_name(&ctl_why, i), '-');
	for (i = 0; i <= SPINDLE_ON_EXIT_LEAVE; i++)
		all &= !strchr(ctl_name(&ctl_on_exit, i), '-');
	for (i = 0; i <= SPINDLE_EVENT_LOG_OK; i++)
		all &= !!strncmp(ctl_name(&ctl_event, i), "event-", 6);
	for (i = 0; i <= SPINDLE_ON_LOG_STALL_LEAVE; i++)
		all &= !strchr(ctl_name(&ctl_on_log_stall, i), '-');
	ok(all, "all states, reasons and events have words");
	for (i = SPINDLE_EVENT_LOG_LAGGING; i <= SPINDLE_EVENT_LOG_OK; i++)
		all &= !!ctl_event_text(i);
	for (i = 0; i <= SPINDLE_LOG_BEHIND; i++)
		all &= !ctl_log_state_text(i) == (i == SPINDLE_LOG_LOGGING);
	ok(all, "all events and states of a log have sentences");
}

int main(void)
{
	test_view_set();
	test_witness();
	test_key();
	test_requests();
	test_table();
	test_table_mode();
	test_logs();
	test_range();
	test_logs_refused();
	test_log_tuning();
	test_change();
	test_joining();
	test_status();
	test_outside();
	test_action();
	test_show();
	test_words();
	return tap_end();
}
