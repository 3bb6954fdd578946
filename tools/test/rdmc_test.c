// SPDX-License-Identifier: GPL-2.0-only
/* RDMC groups: the requests of commands, and their output for the answers. TAP. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/spindle_genl.h>
#include <linux/spindle_rdmc.h>

#include "common/names.h"
#include "common/util.h"
#include "common/wire.h"
#include "ctl/cmd.h"
#include "fake_wire.h"

#define NO	(-1)

static struct nl_msg *group_msg(uint32_t node, uint64_t id, int state, uint32_t rank,
				struct nlattr **rdmc)
{
	struct nl_msg *msg = message(SPINDLE_CMD_RDMC_GET);

	nla_put_u32(msg, SPINDLE_A_NODE_ID, node);
	*rdmc = nla_nest_start(msg, SPINDLE_A_RDMC);
	nla_put_u64(msg, SPINDLE_RDMC_GROUP_A_ID, id);
	nla_put_u8(msg, SPINDLE_RDMC_GROUP_A_STATE, state);
	nla_put_u32(msg, SPINDLE_RDMC_GROUP_A_ALGORITHM, SPINDLE_RDMC_HYBRID);
	nla_put_u32(msg, SPINDLE_RDMC_GROUP_A_BLOCK, 4096);
	nla_put_u32(msg, SPINDLE_RDMC_GROUP_A_TIMEOUT_MS, 30000);
	nla_put_u32(msg, SPINDLE_RDMC_GROUP_A_RANK, rank);
	nla_put_u32(msg, SPINDLE_RDMC_GROUP_A_PID, 4711);
	nla_put_string(msg, SPINDLE_RDMC_GROUP_A_COMM, "cast\033[1m");
	nla_put_u8(msg, SPINDLE_RDMC_GROUP_A_RELEASED, 0);
	nla_put_u32(msg, SPINDLE_RDMC_GROUP_A_UNREAD, 2);
	nla_put_u64(msg, SPINDLE_RDMC_GROUP_A_ANNOUNCED, 5);
	nla_put_u64(msg, SPINDLE_RDMC_GROUP_A_ENDED, 3);
	nla_put_u64(msg, SPINDLE_RDMC_GROUP_A_COMPLETE, 2);
	return msg;
}

static void put_one(struct nl_msg *msg, uint32_t id, int state, bool created, int ended,
		    uint32_t blocks)
{
	struct nlattr *nest = nla_nest_start(msg, SPINDLE_RDMC_GROUP_A_MEMBER);

	nla_put_u32(msg, SPINDLE_RDMC_MEMBER_A_ID, id);
	if (state != NO)
		nla_put_u8(msg, SPINDLE_RDMC_MEMBER_A_STATE, state);
	if (state == SPINDLE_PEER_CONNECTING)
		nla_put_string(msg, SPINDLE_RDMC_MEMBER_A_REASON, "nobody answers");
	nla_put_u8(msg, SPINDLE_RDMC_MEMBER_A_CREATED, created);
	if (id == 2)
		nla_put_u16(msg, SPINDLE_RDMC_MEMBER_A_RACK, 7);
	if (ended != NO) {
		nla_put_u64(msg, SPINDLE_RDMC_MEMBER_A_ENDED, ended);
		nla_put_u64(msg, SPINDLE_RDMC_MEMBER_A_COMPLETE, ended);
		nla_put_u32(msg, SPINDLE_RDMC_MEMBER_A_BLOCKS, blocks);
		nla_put_u32(msg, SPINDLE_RDMC_MEMBER_A_TOTAL, 10);
	}
	nla_nest_end(msg, nest);
}

static void put_object(struct nl_msg *msg, uint64_t number, int phase, uint32_t blocks,
		       int since_ms)
{
	struct nlattr *nest = nla_nest_start(msg, SPINDLE_RDMC_GROUP_A_OBJECT);

	nla_put_u64(msg, SPINDLE_RDMC_OBJECT_A_NUMBER, number);
	nla_put_u64(msg, SPINDLE_RDMC_OBJECT_A_LEN, 40000);
	nla_put_u64(msg, SPINDLE_RDMC_OBJECT_A_TAG, UINT64_MAX);
	nla_put_u8(msg, SPINDLE_RDMC_OBJECT_A_PHASE, phase);
	nla_put_u32(msg, SPINDLE_RDMC_OBJECT_A_BLOCKS, blocks);
	nla_put_u32(msg, SPINDLE_RDMC_OBJECT_A_TOTAL, 10);
	if (since_ms != NO)
		nla_put_u64(msg, SPINDLE_RDMC_OBJECT_A_SINCE_MS, since_ms);
	nla_nest_end(msg, nest);
}

static void put_counters(struct nl_msg *msg, uint64_t in, uint64_t out)
{
	struct nlattr *nest = nla_nest_start(msg, SPINDLE_RDMC_GROUP_A_STATS);

	nla_put_u64(msg, SPINDLE_RDMC_GROUP_S_BYTES_IN, in);
	nla_put_u64(msg, SPINDLE_RDMC_GROUP_S_BYTES_OUT, out);
	nla_nest_end(msg, nest);
}

static void end_group(struct nl_msg *msg, struct nlattr *rdmc)
{
	nla_nest_end(msg, rdmc);
	wire.rdmc[wire.rdmcs++] = nlmsg_hdr(msg);
}

/* A root that waits for two members. They have these numbers of blocks of object 3. */
static void root(int blocks2, int blocks3)
{
	struct nlattr *rdmc;
	struct nl_msg *msg = group_msg(1, 70, SPINDLE_RDMC_GROUP_OPEN, 0, &rdmc);

	put_one(msg, 1, NO, true, 4, 0);
	put_one(msg, 2, SPINDLE_PEER_UP, true, 3, blocks2);
	put_one(msg, 3, SPINDLE_PEER_UP, true, 3, blocks3);
	put_object(msg, 3, SPINDLE_RDMC_OBJECT_COMPLETE, 10, 1500);
	put_object(msg, 4, SPINDLE_RDMC_OBJECT_MOVING, 10, NO);
	put_counters(msg, 0, 7000000);
	end_group(msg, rdmc);
}

static void test_requests(void)
{
	struct nlattr **a;

	begin(1);
	ok(!run(ctl_cmd_rdmc, "rdmc", "") && (a = sent(SPINDLE_CMD_RDMC_GET)) &&
	   !a[SPINDLE_A_NODE_ID] && !a[SPINDLE_A_RDMC_ID] && strstr(output, "There are no RDMC"),
	   "a request for all groups");
	begin(1);
	root(0, 0);
	run(ctl_cmd_rdmc, "rdmc", "stats node 1 group 18446744073709551615");
	a = sent(SPINDLE_CMD_RDMC_GET);
	ok(attr_is(a[SPINDLE_A_NODE_ID], 4, 1) && attr_is(a[SPINDLE_A_RDMC_ID], 8, UINT64_MAX),
	   "a request for a group of a node");
	begin(1);
	ok(run(ctl_cmd_rdmc, "rdmc", "show group 7 node 1") == 1 &&
	   !strcmp(output, "spindle-ctl: there is no RDMC group 7 at this node\n"),
	   "a group that does not exist is an error");
	begin(1);
	wire.refuse = SPINDLE_CMD_RDMC_GET;
	wire.err = -EOPNOTSUPP;
	ok(run(ctl_cmd_rdmc, "rdmc", "show") == 1 &&
	   !strcmp(output, "spindle-ctl: rdmc show: refused\n"), "a module that knows none");
	begin(1);
	ok(!run(ctl_cmd_node, "node", "set 1 rack 7") &&
	   attr_is(sent(SPINDLE_CMD_NODE_SET)[SPINDLE_A_RACK], 2, 7), "a rack");
	run(ctl_cmd_node, "node", "add id 1 addr 10.0.0.1 rack none");
	ok(attr_is(sent(SPINDLE_CMD_NODE_ADD)[SPINDLE_A_RACK], 2, SPINDLE_NO_RACK),
	   "a node without a rack");
}

static void test_text(void)
{
	struct nlattr *rdmc;
	struct nl_msg *msg;

	begin(1);
	root(5, 2);
	run(ctl_cmd_rdmc, "rdmc", "show");
	same(output,
	     "NODE  GROUP  STATE  ERROR  ALGORITHM  BLOCK  MEMBERS  RANK  OBJECTS  ENDED  WHOLE  "
	     "UNREAD  PROCESS\n"
	     "   1     70  open   -      hybrid      4096  1-3         0        5      3      2  "
	     "     2  cast?[1m[4711]\n"
	     "\n"
	     "NODE  GROUP  OBJECT  BYTES                   TAG  PHASE     DONE%  SLOWEST    MS\n"
	     "   1     70       3  40000  18446744073709551615  complete   20.0  3        1500\n"
	     "   1     70       4  40000  18446744073709551615  moving      0.0  2,3         -\n",
	     "a root, and the members that have least");
	begin(1);
	root(10, 10);
	run(ctl_cmd_rdmc, "rdmc", "show");
	ok(strstr(output, "complete  100.0  -        1500\n") &&
	   strstr(output, "moving      0.0  2,3"),
	   "all blocks have come, and the object has not ended");
	begin(1);
	msg = group_msg(2, 70, SPINDLE_RDMC_GROUP_FAILED, 1, &rdmc);
	nla_put_u32(msg, SPINDLE_RDMC_GROUP_A_ERROR, SPINDLE_RDMC_LOST);
	nla_put_u32(msg, SPINDLE_RDMC_GROUP_A_CULPRIT, 3);
	nla_put_u8(msg, SPINDLE_RDMC_GROUP_A_RELEASED, 1);
	end_group(msg, rdmc);
	run(ctl_cmd_rdmc, "rdmc", "show");
	ok(strstr(output, "  failed  lost  ") &&
	   strstr(output, "\ngroup 70 of node 2: failed, the connection to a member broke "
		  "(node 3).\n") && strstr(output, "cast?[1m[4711] (has closed it)\n") &&
	   !strstr(output, "OBJECT "), "a group that has failed");
	begin(1);
	msg = group_msg(2, 70, SPINDLE_RDMC_GROUP_FAILED, 1, &rdmc);
	nla_put_u32(msg, SPINDLE_RDMC_GROUP_A_ERROR, 99);
	end_group(msg, rdmc);
	run(ctl_cmd_rdmc, "rdmc", "show");
	ok(strstr(output, "group 70 of node 2: failed, error-99.\n"),
	   "a group that has failed for an unknown reason");
	begin(1);
	msg = group_msg(2, 70, SPINDLE_RDMC_GROUP_OPENING, 1, &rdmc);
	put_one(msg, 1, SPINDLE_PEER_UP, false, NO, 0);
	put_one(msg, 2, NO, true, 0, 0);
	put_one(msg, 3, SPINDLE_PEER_CONNECTING, false, NO, 0);
	end_group(msg, rdmc);
	ctl_opts.verbose = true;
	run(ctl_cmd_rdmc, "rdmc", "show");
	ok(strstr(output, "group 70 of node 2: opening, not created yet at: 1, "
		  "not connected: 3.\n"),
	   "a group that waits for members");
	ok(strstr(output, "   2     70       1  up          no          -      -      -       -   "
			  "-  -\n") &&
	   strstr(output, "   2     70       2  -           yes         7      0      0       0  "
			  "10  -\n") &&
	   strstr(output, "   2     70       3  connecting  no          -      -      -       -   "
			  "-  nobody answers\n"), "all that is known of members");
}

static void test_rates(void)
{
	struct nlattr *rdmc;
	struct nl_msg *msg;

	begin(1);
	root(0, 0);
	msg = group_msg(1, 70, SPINDLE_RDMC_GROUP_OPEN, 0, &rdmc);
	put_counters(msg, 0, 8500000);
	end_group(msg, rdmc);
	ctl_opts.json = true;
	wire.rdmc_asked = 0;
	ok(!run(ctl_cmd_rdmc, "rdmc", "show -n 1 -d 0.1") && wire.rdmc_asked == 2 &&
	   strstr(output, "\"groups\":[{\"node\":1,\"group\":70,\"state\":\"open\"") &&
	   strstr(output, "\"bytes_in_per_s\":") && strstr(output, "\"bytes_out_per_s\":"),
	   "two looks make a rate");
	begin(1);
	root(5, 5);
	ctl_opts.json = true;
	ok(!run(ctl_cmd_rdmc, "rdmc", "show") && wire.rdmc_asked == 1 &&
	   !strstr(output, "per_s") &&
	   strstr(output, "\"done\":0.5000,\"slowest\":[2,3],\"since_ms\":1500}") &&
	   strstr(output, "\"stats\":{\"bytes_in\":0,\"bytes_out\":7000000}"),
	   "one look makes no rate");
	begin(1);
	root(5, 5);
	run(ctl_cmd_rdmc, "rdmc", "stats");
	ok(strstr(output, "   1     70  open   -          -                  0    7000000  -    "),
	   "counters that the kernel did not send");
}

int main(void)
{
	test_requests();
	test_text();
	test_rates();
	return tap_end();
}
