// SPDX-License-Identifier: GPL-2.0-only
/*
 * All that spindle-ctl shows, as text and as JSON. TAP.
 *
 * show.txt has the expected output. "show_test.asan update" writes the file again.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/spindle.h>
#include <linux/spindle_genl.h>
#include <linux/spindle_rdmc.h>

#include "common/names.h"
#include "common/util.h"
#include "common/wire.h"
#include "ctl/cmd.h"
#include "fake_wire.h"

/* The message that the functions below fill, and the nests that are open. */
static struct nl_msg *msg;
static struct nlattr *nests[4];
static unsigned int depth;

static void num(int attr, uint64_t v)
{
	nla_put_u64(msg, attr, v);
}

static void str(int attr, const char *text)
{
	nla_put_string(msg, attr, text);
}

static void in(int attr)
{
	nests[depth++] = nla_nest_start(msg, attr);
}

static void out(void)
{
	nla_nest_end(msg, nests[--depth]);
}

/* Begin an answer to a command. Each answer is one message of the dump. */
static void answer(int cmd, uint32_t node)
{
	msg = message(cmd);
	num(SPINDLE_A_NODE_ID, node);
}

static void end(void)
{
	while (depth)
		out();
	wire.answer[wire.answers++] = nlmsg_hdr(msg);
}

/* A value for each counter that has a name, from @first on. */
static void counters(const struct ctl_names *names, uint64_t first)
{
	unsigned int i;

	for (i = 0; i < names->count; i++)
		if (names->name[i])
			num(i, first + i);
}

/* ---- the expected output ------------------------------------------------- */

static FILE *expected;
static bool update;

/* Replace the times of day, because they are never the same. */
static void mask(char *text)
{
	char *from = text, *to = text;

	while (*from) {
		if (!strncmp(from, "20", 2) && strspn(from + 2, "0123456789-T: .") >= 19 &&
		    from[4] == '-') {
			*to++ = 'T';
			from += strlen("2026-01-01T00:00:00.000");
			if (*from == '+' || *from == '-')
				from += strlen("+00:00");
			continue;
		}
		*to++ = *from++;
	}
	*to = '\0';
}

/* Compare the output of a command with the part of the file that has the same title. */
static void shows(int (*cmd)(struct ctl_args *a), const char *noun, const char *words,
		  const char *what)
{
	const char *title = ctl_asprintf("# %s %s%s: %s\n", noun, words,
					 ctl_opts.json ? " -j" : "", what);
	char *line = NULL, *want = ctl_strdup("");
	size_t size = 0;
	int rc;

	wire.ms = 12345;
	wire.rdmc_asked = 0;
	rc = run(cmd, noun, words);
	mask(output);
	if (update) {
		fprintf(expected, "%s%s= %d\n", title, output, rc);
		ok(true, title + 2);
		return;
	}
	if (getline(&line, &size, expected) < 0 || strcmp(line, title))
		want = ctl_asprintf("no part '%s'\n", title);
	while (getline(&line, &size, expected) >= 0 && strncmp(line, "= ", 2))
		want = ctl_asprintf("%s%s", want, line);
	same(ctl_asprintf("%s= %d\n", output, rc), ctl_asprintf("%s%s", want, line ? line : ""),
	     ctl_asprintf("%.*s", (int)strlen(title) - 3, title + 2));
	free(line);
}

static void both(int (*cmd)(struct ctl_args *a), const char *noun, const char *words,
		 const char *what)
{
	ctl_opts.json = false;
	shows(cmd, noun, words, what);
	ctl_opts.json = true;
	shows(cmd, noun, words, what);
	ctl_opts.json = false;
}

/* ---- nodes and views ------------------------------------------------------ */

static const unsigned char v6[16] = { 0xfd, [15] = 1 };

static void node(uint32_t id, int state, uint64_t vid)
{
	answer(SPINDLE_CMD_NODE_GET, id);
	if (id == 2)
		nla_put(msg, SPINDLE_A_ADDR6, 16, v6);
	else
		nla_put(msg, SPINDLE_A_ADDR4, 4, "\12\0\0\1");
	num(SPINDLE_A_PORT, 4790 + id);
	str(SPINDLE_A_CLUSTER, "default");
	num(SPINDLE_A_VISIBILITY, id);
	num(SPINDLE_A_IDLE_US, 50);
	num(SPINDLE_A_ENGINE, id);
	str(SPINDLE_A_DEVICE, state == SPINDLE_NODE_DEAD ? "" : "rxe0\n");
	num(SPINDLE_A_NODE_STATE, state);
	num(SPINDLE_A_INCARNATION, 0xfedcba9876543210);
	if (vid)
		num(SPINDLE_A_VIEW_ID, vid);
}

static void test_node(void)
{
	begin(1);
	both(ctl_cmd_node, "node", "show", "a module that shows little");
	node(1, SPINDLE_NODE_VIEW, 7);
	end();
	node(2, SPINDLE_NODE_DEAD, 0);
	end();
	both(ctl_cmd_node, "node", "show", "neither racks nor timing");
	node(3, 9, 8);
	num(SPINDLE_A_CPU, 3);
	num(SPINDLE_A_RACK, 7);
	num(SPINDLE_A_TIMING, 1);
	num(SPINDLE_A_KEYED, 1);
	num(SPINDLE_A_FORMER_KEY, 1);
	end();
	both(ctl_cmd_node, "node", "show", "racks and timing");
	begin(1);
	wire.nodes = 0;
	both(ctl_cmd_node, "node", "show", "no node");
}

static void view_member(uint32_t id, bool six)
{
	in(SPINDLE_A_MEMBER);
	num(SPINDLE_MEMBER_A_ID, id);
	if (six)
		nla_put(msg, SPINDLE_MEMBER_A_ADDR6, 16, v6);
	else
		nla_put(msg, SPINDLE_MEMBER_A_ADDR4, 4, "\12\0\0\2");
	if (six)
		num(SPINDLE_MEMBER_A_PORT, 5000);
	out();
}

static void view_subgroup(uint32_t id, bool members)
{
	in(SPINDLE_A_SUBGROUP);
	num(SPINDLE_SUBGROUP_A_ID, id);
	if (members)
		str(SPINDLE_SUBGROUP_A_NAME, "logs");
	num(SPINDLE_SUBGROUP_A_MODE, members);
	num(SPINDLE_SUBGROUP_A_WINDOW, 128);
	num(SPINDLE_SUBGROUP_A_MAX_MSG, 1024);
	num(SPINDLE_SUBGROUP_A_RING, 131072);
	num(SPINDLE_SUBGROUP_A_HOLD, !members);
	if (members) {
		in(SPINDLE_SUBGROUP_A_NODE);
		num(SPINDLE_SUBGROUP_NODE_A_ID, 1);
		out();
		in(SPINDLE_SUBGROUP_A_NODE);
		num(SPINDLE_SUBGROUP_NODE_A_ID, 3);
		num(SPINDLE_SUBGROUP_NODE_A_SENDER, 0);
		out();
		in(SPINDLE_SUBGROUP_A_RULE);
		num(SPINDLE_RULE_A_SHARDS, 2);
		num(SPINDLE_RULE_A_ON_EXIT, SPINDLE_ON_EXIT_LEAVE);
		out();
	}
	out();
}

/* The mode of the tables that follow. */
static int table_mode = SPINDLE_MODE_TABLE;

/* A table with the first member, or with two members. */
static void view_table(uint32_t id, bool members)
{
	in(SPINDLE_A_SUBGROUP);
	num(SPINDLE_SUBGROUP_A_ID, id);
	str(SPINDLE_SUBGROUP_A_NAME, members ? "state" : "");
	num(SPINDLE_SUBGROUP_A_MODE, table_mode);
	num(SPINDLE_SUBGROUP_A_CELLS, 100);
	num(SPINDLE_SUBGROUP_A_CELL, 256);
	in(SPINDLE_SUBGROUP_A_NODE);
	num(SPINDLE_SUBGROUP_NODE_A_ID, 1);
	out();
	if (members) {
		in(SPINDLE_SUBGROUP_A_NODE);
		num(SPINDLE_SUBGROUP_NODE_A_ID, 3);
		out();
		in(SPINDLE_SUBGROUP_A_RULE);
		num(SPINDLE_RULE_A_SHARDS, 2);
		num(SPINDLE_RULE_A_MIN, 2);
		out();
	}
	out();
}

static void test_view_table(void)
{
	begin(1);
	node(1, SPINDLE_NODE_VIEW, 7);
	end();
	answer(SPINDLE_CMD_VIEW_GET, 1);
	num(SPINDLE_A_VIEW_ID, 7);
	view_member(1, false);
	view_table(4, false);
	end();
	both(ctl_cmd_view, "view", "show", "a table and no subgroup");
	begin(1);
	node(1, SPINDLE_NODE_VIEW, 7);
	end();
	answer(SPINDLE_CMD_VIEW_GET, 1);
	num(SPINDLE_A_VIEW_ID, 7);
	in(SPINDLE_A_LIVE);
	num(SPINDLE_LIVE_A_TIMEOUT_MS, 500);
	out();
	view_member(1, false);
	view_member(3, true);
	view_table(4, true);
	view_subgroup(0, false);
	end();
	both(ctl_cmd_view, "view", "show", "a live view with a table");
	begin(1);
	node(1, SPINDLE_NODE_VIEW, 7);
	end();
	answer(SPINDLE_CMD_VIEW_GET, 1);
	num(SPINDLE_A_VIEW_ID, 7);
	view_member(1, false);
	view_table(4, false);
	table_mode = SPINDLE_MODE_TABLE_READ;
	view_table(5, false);
	table_mode = SPINDLE_MODE_TABLE;
	view_subgroup(0, false);
	end();
	both(ctl_cmd_view, "view", "show", "a table of mode read");
}

/* One subgroup has logs, and one has none. */
static void test_view_logs(void)
{
	begin(1);
	node(1, SPINDLE_NODE_VIEW, 7);
	end();
	answer(SPINDLE_CMD_VIEW_GET, 1);
	num(SPINDLE_A_VIEW_ID, 7);
	in(SPINDLE_A_LIVE);
	num(SPINDLE_LIVE_A_TIMEOUT_MS, 500);
	out();
	view_member(1, false);
	view_subgroup(0, false);
	in(SPINDLE_A_SUBGROUP);
	num(SPINDLE_SUBGROUP_A_ID, 3);
	num(SPINDLE_SUBGROUP_A_LOG, 1);
	num(SPINDLE_SUBGROUP_A_ACK, SPINDLE_ACK_MAJORITY);
	num(SPINDLE_SUBGROUP_A_DELIVER, SPINDLE_DELIVER_DURABLE);
	num(SPINDLE_SUBGROUP_A_MIN_COPIES, 3);
	out();
	in(SPINDLE_A_SUBGROUP);
	num(SPINDLE_SUBGROUP_A_ID, 4);
	num(SPINDLE_SUBGROUP_A_LOG, 1);
	out();
	end();
	both(ctl_cmd_view, "view", "show", "subgroups with logs");
}

static void test_view(void)
{
	begin(1);
	both(ctl_cmd_view, "view", "show", "no view");
	both(ctl_cmd_view, "view", "show node 1", "no view of a node");
	node(1, SPINDLE_NODE_VIEW, 7);
	end();
	answer(SPINDLE_CMD_VIEW_GET, 1);
	num(SPINDLE_A_VIEW_ID, 7);
	view_member(1, false);
	view_member(3, true);
	end();
	both(ctl_cmd_view, "view", "show", "no subgroups");
	begin(1);
	node(1, SPINDLE_NODE_VIEW, 7);
	end();
	answer(SPINDLE_CMD_VIEW_GET, 1);
	num(SPINDLE_A_VIEW_ID, 7);
	nla_put(msg, SPINDLE_A_LINEAGE, SPINDLE_LINEAGE_LEN, v6);
	num(SPINDLE_A_ERA, 3);
	nla_put(msg, SPINDLE_A_INSECURE, 0, NULL);
	in(SPINDLE_A_LIVE);
	num(SPINDLE_LIVE_A_TIMEOUT_MS, 500);
	num(SPINDLE_LIVE_A_QUORUM, 1);
	num(SPINDLE_LIVE_A_WITNESS, 5);
	out();
	view_member(1, false);
	view_member(3, true);
	view_member(5, false);
	view_subgroup(0, false);
	view_subgroup(9, true);
	end();
	both(ctl_cmd_view, "view", "show", "a live view");
}

/* ---- subgroups and counters ----------------------------------------------- */

/* What the process of a reader reports: one replica has a snapshot, one waits for the rest. */
static void replica(enum spindle_reads reads)
{
	if (reads == SPINDLE_READS_COPIES)
		return;
	num(SPINDLE_READER_A_REPLICA, reads == SPINDLE_READS_SLOTS ? SPINDLE_REPLICA_RECEIVING :
								     SPINDLE_REPLICA_CURRENT);
	num(SPINDLE_READER_A_REPLICA_MS, 2500);
	num(SPINDLE_READER_A_DONOR, 3);
	num(SPINDLE_READER_A_RECEIVED, 16777216);
	num(SPINDLE_READER_A_BYTES, 41943040);
	num(SPINDLE_READER_A_SERVING, reads == SPINDLE_READS_HISTORY ? 2 : 0);
}

static void reader(uint32_t pid, const char *comm, uint64_t lag, enum spindle_reads reads)
{
	in(SPINDLE_SUBGROUP_A_READER);
	num(SPINDLE_READER_A_PID, pid);
	str(SPINDLE_READER_A_COMM, comm);
	num(SPINDLE_READER_A_COPY, !pid);
	num(SPINDLE_READER_A_READS, reads);
	num(SPINDLE_READER_A_LAG, lag);
	num(SPINDLE_READER_A_IDLE_MS, 33);
	num(SPINDLE_READER_A_LSN, 4242 - lag);
	replica(reads);
	out();
}

static void row(uint32_t id, bool sender)
{
	in(SPINDLE_SUBGROUP_A_NODE);
	num(SPINDLE_SUBGROUP_NODE_A_ID, id);
	num(SPINDLE_SUBGROUP_NODE_A_SENDER, sender);
	out();
	in(SPINDLE_SUBGROUP_A_ROW);
	num(SPINDLE_ROW_A_ID, id);
	num(SPINDLE_ROW_A_SENT, 100 + id);
	num(SPINDLE_ROW_A_SLOTS, 90 + id);
	num(SPINDLE_ROW_A_RECEIVED, 200 - id);
	num(SPINDLE_ROW_A_DELIVERED, 150 - id);
	out();
}

static void details(void)
{
	struct nla_bitfield32 bits = { .value = 0x1f0, .selector = SPINDLE_SW_ALL };
	uint64_t hist[4] = { 3, 0, 500, 1 };

	in(SPINDLE_SUBGROUP_A_TUNE);
	nla_put(msg, SPINDLE_TUNE_A_SWITCHES, sizeof(bits), &bits);
	num(SPINDLE_TUNE_A_SEND_BUDGET, 1);
	num(SPINDLE_TUNE_A_STALL_MS, 0);
	num(SPINDLE_TUNE_A_HISTORY, 65536);
	out();
	num(SPINDLE_SUBGROUP_A_OLDEST, 4200);
	nla_put(msg, SPINDLE_SUBGROUP_A_SEND_HIST, sizeof(hist), hist);
	nla_put(msg, SPINDLE_SUBGROUP_A_RECV_HIST, 8, hist);
	reader(4711, "cat\n", 0, SPINDLE_READS_SLOTS);
	reader(0, "", 5, SPINDLE_READS_COPIES);
	reader(99, "late", 7, SPINDLE_READS_HISTORY);
	row(1, true);
	row(2, false);
}

static void subgroup(uint32_t node_id, uint32_t id, int state, uint64_t first)
{
	answer(SPINDLE_CMD_SUBGROUP_GET, node_id);
	num(SPINDLE_A_VIEW_ID, 7);
	in(SPINDLE_A_SUBGROUP);
	num(SPINDLE_SUBGROUP_A_ID, id);
	if (id)
		str(SPINDLE_SUBGROUP_A_NAME, "logs");
	num(SPINDLE_SUBGROUP_A_MODE, SPINDLE_MODE_ORDERED);
	num(SPINDLE_SUBGROUP_A_WINDOW, 128);
	num(SPINDLE_SUBGROUP_A_STATE, state);
	if (state == SPINDLE_STATE_FAILED)
		num(SPINDLE_SUBGROUP_A_ERROR, SPINDLE_ERR_PEER_LOST);
	num(SPINDLE_SUBGROUP_A_READERS, 2);
	num(SPINDLE_SUBGROUP_A_SENDER, state == SPINDLE_STATE_ACTIVE);
	num(SPINDLE_SUBGROUP_A_LSN, 4242);
	in(SPINDLE_SUBGROUP_A_STATS);
	if (state == SPINDLE_STATE_FAILED)
		num(SPINDLE_SUBGROUP_S_SENT, 1);
	else
		counters(&ctl_subgroup_stat, first);
	out();
	if (state == SPINDLE_STATE_ACTIVE)
		details();
	end();
}

static void peer(uint32_t id, int state, const char *reason)
{
	in(SPINDLE_A_PEER);
	num(SPINDLE_PEER_A_ID, id);
	num(SPINDLE_PEER_A_STATE, state);
	str(SPINDLE_PEER_A_REASON, reason);
	num(SPINDLE_PEER_A_IMM, id == 2);
	if (state == SPINDLE_PEER_UP)
		counters(&ctl_peer_stat, 1000 * id);
	out();
}

static void stats(uint32_t id, uint64_t first, const char *refused)
{
	answer(SPINDLE_CMD_STATS_GET, id);
	num(SPINDLE_A_NODE_STATE, SPINDLE_NODE_VIEW);
	in(SPINDLE_A_STATS);
	num(SPINDLE_ENGINE_S_PID, 99);
	num(SPINDLE_ENGINE_S_PASSES, first);
	num(SPINDLE_ENGINE_S_BUSY, first / 3);
	num(SPINDLE_ENGINE_S_BUSY_NS, first / 7);
	num(SPINDLE_ENGINE_S_TIMED_NS, first);
	if (id == 1)
		num(SPINDLE_ENGINE_S_SPIN_US, 50);
	out();
	if (refused)
		str(SPINDLE_A_REASON, refused);
	if (refused && id == 1)
		num(SPINDLE_A_PEER_ID, 8);
	peer(2, SPINDLE_PEER_UP, "");
	peer(3, SPINDLE_PEER_CONNECTING, "nobody answers");
	end();
}

static void all_subgroups(uint64_t first)
{
	subgroup(1, 0, SPINDLE_STATE_ACTIVE, first);
	subgroup(1, 5, SPINDLE_STATE_FORMING, first);
	subgroup(2, 5, SPINDLE_STATE_FAILED, first);
}

static void subgroup_table(uint32_t node_id, int state)
{
	answer(SPINDLE_CMD_SUBGROUP_GET, node_id);
	num(SPINDLE_A_VIEW_ID, 7);
	in(SPINDLE_A_SUBGROUP);
	num(SPINDLE_SUBGROUP_A_ID, 4);
	str(SPINDLE_SUBGROUP_A_NAME, "state");
	num(SPINDLE_SUBGROUP_A_MODE, table_mode);
	num(SPINDLE_SUBGROUP_A_CELLS, 100);
	num(SPINDLE_SUBGROUP_A_CELL, 256);
	in(SPINDLE_SUBGROUP_A_NODE);
	num(SPINDLE_SUBGROUP_NODE_A_ID, node_id);
	out();
	num(SPINDLE_SUBGROUP_A_STATE, state);
	num(SPINDLE_SUBGROUP_A_READERS, 3);
	num(SPINDLE_SUBGROUP_A_SENDER, node_id == 1);
	in(SPINDLE_SUBGROUP_A_TABLE_STATS);
	counters(&ctl_table_stat, 100 * node_id);
	end();
}

static void test_table(void)
{
	begin(1);
	subgroup_table(1, SPINDLE_STATE_ACTIVE);
	both(ctl_cmd_subgroup, "subgroup", "show", "a table");
	ctl_opts.verbose = true;
	shows(ctl_cmd_table, "table", "show", "the memory of a table");
	ctl_opts.verbose = false;
	subgroup(1, 0, SPINDLE_STATE_FORMING, 10);
	subgroup_table(2, SPINDLE_STATE_FORMING);
	both(ctl_cmd_subgroup, "subgroup", "show", "tables and a subgroup");
	both(ctl_cmd_table, "table", "show", "tables and a subgroup");
	stats(1, 70, NULL);
	both(ctl_cmd_stats, "stats", "", "a table and a subgroup");
	begin(1);
	subgroup_table(1, SPINDLE_STATE_ACTIVE);
	table_mode = SPINDLE_MODE_TABLE_READ;
	subgroup_table(2, SPINDLE_STATE_ACTIVE);
	table_mode = SPINDLE_MODE_TABLE;
	subgroup(1, 0, SPINDLE_STATE_ACTIVE, 10);
	both(ctl_cmd_subgroup, "subgroup", "show", "a table of mode read");
	begin(1);
	subgroup(1, 0, SPINDLE_STATE_ACTIVE, 10);
	both(ctl_cmd_table, "table", "show", "no table");
	both(ctl_cmd_table, "table", "show id 0", "a subgroup that is no table");
}

static void test_subgroup(void)
{
	begin(1);
	both(ctl_cmd_subgroup, "subgroup", "show", "no subgroup");
	all_subgroups(10);
	both(ctl_cmd_subgroup, "subgroup", "show", "three states");
	ctl_opts.verbose = true;
	shows(ctl_cmd_subgroup, "subgroup", "show", "the details");
	ctl_opts.verbose = false;
	both(ctl_cmd_stats, "stats", "", "no node");
	stats(1, 70, "its key differs\n");
	stats(2, 1 << 20, "it is late");
	both(ctl_cmd_stats, "stats", "", "two nodes");
}

static void test_top(void)
{
	begin(1);
	wire.tick = 500;
	both(ctl_cmd_top, "top", "-n 1 -d 0.1", "no node");
	stats(1, 700, NULL);
	stats(2, 900, NULL);
	both(ctl_cmd_top, "top", "-n 1 -d 0.1", "no subgroup");
	all_subgroups(10);
	both(ctl_cmd_top, "top", "-n 1 -d 0.1", "counters that stand still");
	wire.grow = true;
	both(ctl_cmd_top, "top", "-n 1 -d 0.1", "another sample of the counters");
}

/* ---- durable subgroups ------------------------------------------------------ */

/* A member of a subgroup at position 4242 with logs, whose view has the id 7. */
static void log_row(uint32_t id, int state, uint64_t persisted, uint64_t record)
{
	in(SPINDLE_SUBGROUP_A_ROW);
	num(SPINDLE_ROW_A_ID, id);
	num(SPINDLE_ROW_A_PERSISTED, persisted);
	num(SPINDLE_ROW_A_LOW, 100 * id);
	num(SPINDLE_ROW_A_SNAPSHOT, id == 1 ? 4000 : 0);
	num(SPINDLE_ROW_A_RECORD, record);
	num(SPINDLE_ROW_A_LOG_STATE, state);
	num(SPINDLE_ROW_A_AWAITED, persisted < 4242 || record < 7);
	out();
}

/* Begin a subgroup with logs of node 1. Its rows follow, and end(). */
static void logged(uint32_t id, uint64_t durable, bool established, uint64_t ms, uint32_t copies)
{
	answer(SPINDLE_CMD_SUBGROUP_GET, 1);
	num(SPINDLE_A_VIEW_ID, 7);
	in(SPINDLE_A_SUBGROUP);
	num(SPINDLE_SUBGROUP_A_ID, id);
	str(SPINDLE_SUBGROUP_A_NAME, id == 3 ? "prices" : "");
	num(SPINDLE_SUBGROUP_A_MODE, SPINDLE_MODE_ORDERED);
	num(SPINDLE_SUBGROUP_A_STATE, SPINDLE_STATE_ACTIVE);
	num(SPINDLE_SUBGROUP_A_LSN, 4242);
	num(SPINDLE_SUBGROUP_A_LOG, 1);
	num(SPINDLE_SUBGROUP_A_ACK, SPINDLE_ACK_ALL);
	num(SPINDLE_SUBGROUP_A_DELIVER, SPINDLE_DELIVER_DURABLE);
	num(SPINDLE_SUBGROUP_A_MIN_COPIES, copies);
	num(SPINDLE_SUBGROUP_A_DURABLE, durable);
	num(SPINDLE_SUBGROUP_A_ESTABLISHED, established);
	num(SPINDLE_SUBGROUP_A_DURABLE_MS, ms);
	in(SPINDLE_SUBGROUP_A_TUNE);
	num(SPINDLE_TUNE_A_SEND_BUDGET, 1);
	num(SPINDLE_TUNE_A_LOG_STALL_MS, 0);
	num(SPINDLE_TUNE_A_ON_LOG_STALL, SPINDLE_ON_LOG_STALL_FORGET);
	out();
}

/* Those that go on, one for each reason why another one does not, and one without logs. */
static void logged_subgroups(void)
{
	logged(3, 4242, true, 0, 0);
	log_row(1, SPINDLE_LOG_LOGGING, 4242, 7);
	log_row(2, SPINDLE_LOG_FULL, 4242, 7);
	end();
	logged(4, 4100, true, 850, 0);
	log_row(1, SPINDLE_LOG_LOGGING, 4242, 7);
	log_row(2, SPINDLE_LOG_NONE, 0, 0);
	log_row(3, SPINDLE_LOG_CATCHING_UP, 4100, 7);
	log_row(4, SPINDLE_LOG_FULL, 4241, 7);
	log_row(5, SPINDLE_LOG_FAILED, 4100, 7);
	log_row(6, SPINDLE_LOG_BEHIND, 4100, 7);
	log_row(8, SPINDLE_LOG_LOGGING, 4100, 7);
	log_row(9, 99, 4100, 7);
	end();
	logged(5, 4242, false, 0, 2);
	log_row(1, SPINDLE_LOG_LOGGING, 4242, 6);
	log_row(2, SPINDLE_LOG_LOGGING, 4200, 7);
	end();
	logged(6, 0, true, 3500, 3);
	log_row(1, SPINDLE_LOG_LOGGING, 4242, 7);
	log_row(2, SPINDLE_LOG_LOGGING, 4242, 7);
	end();
	logged(7, 0, true, 3723000, 2);
	log_row(1, SPINDLE_LOG_FULL, 4241, 7);
	end();
	logged(8, 4241, true, 99, 0);
	log_row(1, SPINDLE_LOG_LOGGING, 4241, 7);
	end();
	subgroup(1, 0, SPINDLE_STATE_FORMING, 10);
}

static void test_durable(void)
{
	begin(1);
	node(1, SPINDLE_NODE_VIEW, 7);
	end();
	logged_subgroups();
	both(ctl_cmd_subgroup, "subgroup", "show", "logs");
	ctl_opts.verbose = true;
	shows(ctl_cmd_subgroup, "subgroup", "show", "the details of logs");
	ctl_opts.verbose = false;
	both(ctl_cmd_status, "status", "", "logs");
	stats(1, 700, NULL);
	wire.tick = 500;
	both(ctl_cmd_top, "top", "-n 1 -d 0.1", "logs");
}

/* An event about the log of node 1, which has persisted all below @lsn. */
static void log_event(int kind, uint64_t lsn, const char *reason)
{
	msg = message(SPINDLE_CMD_EVENT);
	nla_put_u32(msg, SPINDLE_A_EVENT, kind);
	nla_put_u32(msg, SPINDLE_A_NODE_ID, 1);
	nla_put_u32(msg, SPINDLE_A_SUBGROUP_ID, 3);
	nla_put_string(msg, SPINDLE_A_SUBGROUP_NAME, "prices");
	nla_put_u64(msg, SPINDLE_A_LSN, lsn);
	if (reason)
		nla_put_string(msg, SPINDLE_A_REASON, reason);
	wire.event[wire.events++] = nlmsg_hdr(msg);
}

static void test_log_events(void)
{
	begin(1);
	node(1, SPINDLE_NODE_VIEW, 7);
	end();
	stats(1, 70, NULL);
	subgroup(1, 0, SPINDLE_STATE_ACTIVE, 10);
	log_event(SPINDLE_EVENT_LOG_LAGGING, 4100, "no logger for 5000 ms\n");
	log_event(SPINDLE_EVENT_LOG_LAGGING, 4100, NULL);
	log_event(SPINDLE_EVENT_LOG_BEHIND, 4100, NULL);
	log_event(SPINDLE_EVENT_LOG_FULL, 4100, NULL);
	log_event(SPINDLE_EVENT_LOG_FAILED, 4100, NULL);
	log_event(SPINDLE_EVENT_LOG_OK, 4242, NULL);
	ctl_opts.json = false;
	shows(ctl_cmd_monitor, "monitor", "", "events of a log");
	wire.next = 0;
	ctl_opts.json = true;
	shows(ctl_cmd_monitor, "monitor", "", "events of a log");
	ctl_opts.json = false;
}

/* ---- RDMC groups ----------------------------------------------------------- */

static void group(uint64_t id, int state, uint32_t rank)
{
	answer(SPINDLE_CMD_RDMC_GET, 1);
	in(SPINDLE_A_RDMC);
	num(SPINDLE_RDMC_GROUP_A_ID, id);
	num(SPINDLE_RDMC_GROUP_A_STATE, state);
	num(SPINDLE_RDMC_GROUP_A_ALGORITHM, SPINDLE_RDMC_HYBRID);
	num(SPINDLE_RDMC_GROUP_A_BLOCK, 4096);
	num(SPINDLE_RDMC_GROUP_A_TIMEOUT_MS, 30000);
	num(SPINDLE_RDMC_GROUP_A_RANK, rank);
	num(SPINDLE_RDMC_GROUP_A_PID, rank ? 0 : 4711);
	str(SPINDLE_RDMC_GROUP_A_COMM, "cast\033[1m");
	num(SPINDLE_RDMC_GROUP_A_RELEASED, rank);
	num(SPINDLE_RDMC_GROUP_A_UNREAD, 2);
	num(SPINDLE_RDMC_GROUP_A_ANNOUNCED, 5);
	num(SPINDLE_RDMC_GROUP_A_ENDED, 3);
	num(SPINDLE_RDMC_GROUP_A_COMPLETE, 1);
}

static void rdmc_member(uint32_t id, int state, bool created, bool ended)
{
	in(SPINDLE_RDMC_GROUP_A_MEMBER);
	num(SPINDLE_RDMC_MEMBER_A_ID, id);
	if (id > 1)
		num(SPINDLE_RDMC_MEMBER_A_STATE, state);
	if (state == SPINDLE_PEER_CONNECTING)
		str(SPINDLE_RDMC_MEMBER_A_REASON, "nobody answers\n");
	num(SPINDLE_RDMC_MEMBER_A_CREATED, created);
	if (id == 2)
		num(SPINDLE_RDMC_MEMBER_A_RACK, 7);
	if (ended) {
		num(SPINDLE_RDMC_MEMBER_A_ENDED, 3);
		num(SPINDLE_RDMC_MEMBER_A_COMPLETE, 2);
		num(SPINDLE_RDMC_MEMBER_A_BLOCKS, 4 + id);
		num(SPINDLE_RDMC_MEMBER_A_TOTAL, 10);
	}
	out();
}

static void object(uint64_t number, int phase, bool since, int error)
{
	in(SPINDLE_RDMC_GROUP_A_OBJECT);
	num(SPINDLE_RDMC_OBJECT_A_NUMBER, number);
	num(SPINDLE_RDMC_OBJECT_A_LEN, 40000);
	num(SPINDLE_RDMC_OBJECT_A_TAG, UINT64_MAX);
	num(SPINDLE_RDMC_OBJECT_A_PHASE, phase);
	num(SPINDLE_RDMC_OBJECT_A_BLOCKS, 7);
	num(SPINDLE_RDMC_OBJECT_A_TOTAL, 10);
	if (since)
		num(SPINDLE_RDMC_OBJECT_A_SINCE_MS, 1500);
	if (error)
		num(SPINDLE_RDMC_OBJECT_A_ERROR, error);
	out();
}

static void test_rdmc(void)
{
	begin(1);
	both(ctl_cmd_rdmc, "rdmc", "show", "no group");
	both(ctl_cmd_rdmc, "rdmc", "stats", "no group");
	group(70, SPINDLE_RDMC_GROUP_OPEN, 0);
	rdmc_member(1, 0, true, true);
	rdmc_member(2, SPINDLE_PEER_UP, true, true);
	rdmc_member(3, SPINDLE_PEER_UP, true, true);
	object(3, SPINDLE_RDMC_OBJECT_MOVING, true, 0);
	object(4, SPINDLE_RDMC_OBJECT_STOPPING, false, SPINDLE_RDMC_REFUSED);
	in(SPINDLE_RDMC_GROUP_A_STATS);
	counters(&ctl_rdmc_stat, 1000000);
	end();
	group(71, SPINDLE_RDMC_GROUP_OPENING, 1);
	rdmc_member(1, 0, true, false);
	rdmc_member(2, SPINDLE_PEER_UP, false, false);
	rdmc_member(3, SPINDLE_PEER_CONNECTING, false, false);
	end();
	group(72, SPINDLE_RDMC_GROUP_FAILED, 1);
	num(SPINDLE_RDMC_GROUP_A_ERROR, SPINDLE_RDMC_LOST);
	num(SPINDLE_RDMC_GROUP_A_CULPRIT, 3);
	end();
	both(ctl_cmd_rdmc, "rdmc", "show", "three states");
	both(ctl_cmd_rdmc, "rdmc", "stats", "three states");
	ctl_opts.verbose = true;
	shows(ctl_cmd_rdmc, "rdmc", "show", "the members");
	ctl_opts.verbose = false;
	wire.tick = 500;
	wire.grow = true;
	both(ctl_cmd_rdmc, "rdmc", "show -n 1 -d 0.1", "two looks");
}

/* ---- live views ------------------------------------------------------------- */

static void live_member(uint32_t id, int rank, int state, int why)
{
	in(SPINDLE_LIVE_A_MEMBER);
	num(SPINDLE_LIVE_MEMBER_A_ID, id);
	if (rank >= 0)
		num(SPINDLE_LIVE_MEMBER_A_RANK, rank);
	if (state >= 0)
		num(SPINDLE_LIVE_MEMBER_A_STATE, state);
	if (rank >= 0)
		num(SPINDLE_LIVE_MEMBER_A_VIEW, 7);
	if (state == SPINDLE_PEER_UP)
		num(SPINDLE_LIVE_MEMBER_A_BEAT_MS, 3);
	num(SPINDLE_LIVE_MEMBER_A_WHY, why);
	if (why)
		num(SPINDLE_LIVE_MEMBER_A_SUSPECTED_BY, 1);
	num(SPINDLE_LIVE_MEMBER_A_LAG, id);
	num(SPINDLE_LIVE_MEMBER_A_LAG_BYTES, 100 * id);
	if (state == SPINDLE_PEER_CONNECTING)
		str(SPINDLE_LIVE_MEMBER_A_REASON, "nobody answers\n");
	out();
}

static void contact(bool six, const char *reason)
{
	in(SPINDLE_A_CONTACT);
	if (six)
		nla_put(msg, SPINDLE_CONTACT_A_ADDR6, 16, v6);
	else
		nla_put(msg, SPINDLE_CONTACT_A_ADDR4, 4, "\12\0\0\3");
	num(SPINDLE_CONTACT_A_PORT, 4790);
	str(SPINDLE_CONTACT_A_REASON, reason);
	num(SPINDLE_CONTACT_A_FINAL, six);
	out();
}

static void live(uint32_t id, uint64_t vid, int state, int why, const char *reason)
{
	answer(SPINDLE_CMD_STATUS_GET, id);
	if (vid)
		num(SPINDLE_A_VIEW_ID, vid);
	if (state == SPINDLE_LIVE_JOINING) {
		contact(false, "");
		contact(true, "no such lineage\n");
	}
	if (state == SPINDLE_LIVE_ACTIVE) {
		nla_put(msg, SPINDLE_A_LINEAGE, SPINDLE_LINEAGE_LEN, v6);
		nla_put(msg, SPINDLE_A_INSECURE, 0, NULL);
	}
	in(SPINDLE_A_LIVE);
	num(SPINDLE_LIVE_A_TIMEOUT_MS, 500);
	num(SPINDLE_LIVE_A_MAX_NODES, 16);
	num(SPINDLE_LIVE_A_QUORUM, 0);
	num(SPINDLE_LIVE_A_STATE, state);
	num(SPINDLE_LIVE_A_WHY, why);
	str(SPINDLE_LIVE_A_REASON, reason);
}

static void test_status(void)
{
	begin(1);
	wire.nodes = 0;
	both(ctl_cmd_status, "status", "", "no node");
	begin(1);
	node(1, SPINDLE_NODE_VIEW, 7);
	end();
	node(2, SPINDLE_NODE_IDLE, 0);
	end();
	node(3, SPINDLE_NODE_DEAD, 6);
	end();
	node(4, SPINDLE_NODE_VIEW, 7);
	end();
	node(5, SPINDLE_NODE_IDLE, 0);
	end();
	both(ctl_cmd_status, "status", "", "no live view");
	live(1, 7, SPINDLE_LIVE_ACTIVE, 0, "node 3 has left\n");
	num(SPINDLE_LIVE_A_WITNESS, 2);
	num(SPINDLE_LIVE_A_WANTED_BY, 2);
	num(SPINDLE_LIVE_A_OFFERED_BY, 1);
	num(SPINDLE_LIVE_A_OFFERED_BY, 2);
	num(SPINDLE_LIVE_A_CHANGES, 2);
	num(SPINDLE_LIVE_A_DETECT_US, 0);
	num(SPINDLE_LIVE_A_WEDGE_US, 9999);
	num(SPINDLE_LIVE_A_AGREE_US, 10000);
	live_member(1, 0, -1, 0);
	live_member(2, 1, SPINDLE_PEER_UP, 0);
	live_member(5, 2, SPINDLE_PEER_CONNECTING, SPINDLE_WHY_SILENT);
	live_member(9, -1, SPINDLE_PEER_SETUP, 0);
	end();
	live(2, 0, SPINDLE_LIVE_JOINING, 0, "");
	live_member(1, -1, SPINDLE_PEER_UP, 0);
	end();
	live(4, 7, SPINDLE_LIVE_STOPPED, SPINDLE_WHY_MINORITY, "too few members are left");
	end();
	answer(SPINDLE_CMD_STATUS_GET, 5);
	str(SPINDLE_A_REASON, "all contacts refused");
	end();
	both(ctl_cmd_status, "status", "", "all states");
	stats(1, 70, NULL);
	all_subgroups(10);
	event(SPINDLE_EVENT_SUBGROUP_FAILED, 1, 7, SPINDLE_ERR_PEER_LOST, NULL);
	event(SPINDLE_EVENT_STOPPED, 1, 7, SPINDLE_ERR_MINORITY, "too few\n");
	event(SPINDLE_EVENT_READER_STALLED, 1, 7, SPINDLE_ERR_STALLED, "process 9\n");
	event(SPINDLE_EVENT_READER_BEHIND, 1, 7, SPINDLE_ERR_BEHIND, "forgotten");
	lost();
	ctl_opts.json = false;
	shows(ctl_cmd_monitor, "monitor", "", "all events");
	wire.next = 0;
	ctl_opts.json = true;
	shows(ctl_cmd_monitor, "monitor", "", "all events");
	wire.next = 0;
	shows(ctl_cmd_monitor, "monitor", "node 4", "one node");
	begin(1);
	node(1, SPINDLE_NODE_VIEW, 7);
	end();
	live(1, 7, SPINDLE_LIVE_ACTIVE, 0, "");
	live_member(1, 0, -1, 0);
	end();
	all_subgroups(10);
	both(ctl_cmd_status, "status", "", "replicas");
}

int main(int argc, char **argv)
{
	update = argc > 1 && !strcmp(argv[1], "update");
	expected = fopen("show.txt", update ? "w" : "r");
	if (!expected) {
		perror("show.txt");
		return 1;
	}
	test_node();
	test_view();
	test_view_table();
	test_view_logs();
	test_subgroup();
	test_table();
	test_top();
	test_rdmc();
	test_durable();
	test_log_events();
	test_status();
	fclose(expected);
	return tap_end();
}
