// SPDX-License-Identifier: GPL-2.0-only
/* A simulated kernel. See fake_wire.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include <linux/spindle.h>
#include <linux/spindle_genl.h>

#include "common/names.h"
#include "common/util.h"
#include "common/wire.h"
#include "ctl/args.h"
#include "fake_wire.h"

#define FAMILY		77

struct wire wire;

/* All output of the last command. */
char output[OUTPUT_MAX];

/* Compare two texts, and print both if they differ. */
void same(const char *have, const char *want, const char *what)
{
	char *text = ctl_asprintf("have:\n%swant:\n%s", have, want), *line;
	bool good = !strcmp(have, want);

	ok(good, "%s", what);
	while (!good && (line = strsep(&text, "\n")))
		printf("#   %s\n", line);
}

/* ---- the kernel --------------------------------------------------------- */

int __wrap_ctl_net_open(struct ctl_net *net, enum ctl_say say)
{
	(void)say;
	net->family = FAMILY;
	return 0;
}

struct nl_msg *message(int cmd)
{
	struct nl_msg *msg = nlmsg_alloc_size(16384);

	genlmsg_put(msg, 0, 0, FAMILY, 0, 0, cmd, 1);
	return msg;
}

static void reply(struct ctl_replies *replies, struct nlmsghdr *nlh)
{
	replies->msg = ctl_grow(replies->msg, replies->count, sizeof(*replies->msg));
	replies->msg[replies->count++] = nlh;
}

static void reply_nodes(struct ctl_replies *replies, uint64_t id)
{
	struct nl_msg *msg;
	unsigned int i;

	for (i = 0; i < wire.nodes; i++) {
		if (id && wire.node[i] != id)
			continue;
		msg = message(SPINDLE_CMD_NODE_GET);
		nla_put_u32(msg, SPINDLE_A_NODE_ID, wire.node[i]);
		nla_put_string(msg, SPINDLE_A_CLUSTER, SPINDLE_DEF_CLUSTER);
		nla_put(msg, SPINDLE_A_ADDR4, 4, "\177\0\0\1");
		nla_put_u16(msg, SPINDLE_A_PORT, SPINDLE_DEF_PORT);
		nla_put_u8(msg, SPINDLE_A_VISIBILITY, SPINDLE_VISIBILITY_AUTO);
		nla_put_u32(msg, SPINDLE_A_IDLE_US, SPINDLE_DEF_IDLE_US);
		nla_put_u32(msg, SPINDLE_A_ENGINE, 0);
		nla_put_string(msg, SPINDLE_A_DEVICE, "rxe0");
		nla_put_u8(msg, SPINDLE_A_KEYED, wire.keyed);
		if (wire.node[i] == wire.dead)
			nla_put_u8(msg, SPINDLE_A_NODE_STATE, SPINDLE_NODE_DEAD);
		else
			nla_put_u64(msg, SPINDLE_A_VIEW_ID, 7);
		reply(replies, nlmsg_hdr(msg));
	}
}

/* Without a filter, each node has a status. With a filter, each request gets the next status. */
static void reply_status(struct ctl_replies *replies, uint64_t id)
{
	unsigned int i;

	if (id && wire.statuses)
		reply(replies, wire.status[wire.asked < wire.statuses ? wire.asked :
					   wire.statuses - 1]);
	for (i = 0; !id && i < wire.statuses; i++)
		reply(replies, wire.status[i]);
	wire.asked++;
}

/* Let the counters of a nest grow, each by its number. The thread of an engine stays. */
static void grow_nest(struct nlattr *nest, int thread)
{
	struct nlattr *attr;
	uint64_t v;
	int rem;

	nla_for_each_nested(attr, nest, rem) {
		if (nla_type(attr) == thread)
			continue;
		v = nla_get_u64(attr) + nla_type(attr) * 1000;
		memcpy(nla_data(attr), &v, sizeof(v));
	}
}

/* Let the counters of an answer grow, wherever they are. */
static void grow(struct nlmsghdr *nlh)
{
	struct nlattr **a = ctl_msg_attrs(nlh), *attr;
	int rem;

	if (a[SPINDLE_A_STATS])
		grow_nest(a[SPINDLE_A_STATS], SPINDLE_ENGINE_S_PID);
	if (a[SPINDLE_A_SUBGROUP])
		nla_for_each_nested(attr, a[SPINDLE_A_SUBGROUP], rem)
			if (nla_type(attr) == SPINDLE_SUBGROUP_A_STATS)
				grow_nest(attr, 0);
	if (a[SPINDLE_A_RDMC])
		nla_for_each_nested(attr, a[SPINDLE_A_RDMC], rem)
			if (nla_type(attr) == SPINDLE_RDMC_GROUP_A_STATS)
				grow_nest(attr, 0);
}

/* Reply with the answers that the test has made for a command. Return: whether there are any. */
static bool reply_answers(struct ctl_replies *replies, int cmd, uint64_t id)
{
	bool any = false;
	unsigned int i;

	for (i = 0; i < wire.answers; i++) {
		struct nlmsghdr *nlh = wire.answer[i];

		if (((struct genlmsghdr *)nlmsg_data(nlh))->cmd != cmd)
			continue;
		any = true;
		if (wire.grow)
			grow(nlh);
		if (!id || ctl_attr_num(ctl_msg_attrs(nlh)[SPINDLE_A_NODE_ID]) == id)
			reply(replies, nlh);
	}
	return any;
}

int __wrap_ctl_net_call(struct ctl_net *net, struct ctl_req *req, struct ctl_replies *replies,
			enum ctl_say say)
{
	struct nlmsghdr *nlh = nlmsg_hdr(req->msg), *copy = ctl_alloc(nlh->nlmsg_len);
	int cmd = ((struct genlmsghdr *)nlmsg_data(nlh))->cmd;
	uint64_t id;

	(void)net;
	memcpy(copy, nlh, nlh->nlmsg_len);
	wire.sent[wire.sents++ % SENT_MAX] = copy;
	if (replies)
		memset(replies, 0, sizeof(*replies));
	if (cmd == wire.refuse) {
		if (say == CTL_SAY)
			ctl_err("%s: refused", req->what);
		return wire.err;
	}
	if (!replies) {
		wire.heard = wire.listens;
		return 0;
	}
	id = ctl_attr_num(ctl_msg_attrs(copy)[SPINDLE_A_NODE_ID]);
	wire.ms += wire.tick;
	if (reply_answers(replies, cmd, id))
		return 0;
	if (cmd == SPINDLE_CMD_NODE_GET)
		reply_nodes(replies, id);
	else if (cmd == SPINDLE_CMD_STATUS_GET)
		reply_status(replies, id);
	else if (cmd == SPINDLE_CMD_RDMC_GET && wire.rdmcs)
		reply(replies, wire.rdmc[wire.rdmc_asked++ < wire.rdmcs ? wire.rdmc_asked - 1 :
								       wire.rdmcs - 1]);
	else if (cmd == SPINDLE_CMD_VIEW_GET && wire.view)
		reply(replies, wire.view);
	return 0;
}

int __wrap_ctl_event_join(const struct ctl_net *net, const char *what, bool unload)
{
	(void)net;
	(void)what;
	(void)unload;
	wire.listens = true;
	return 0;
}

/* When no event is left, time passes. A wait without end fails. */
int __wrap_ctl_event_recv(const struct ctl_net *net, int timeout_ms, struct nlmsghdr **nlh)
{
	unsigned int i = wire.next;

	(void)net;
	if (i == wire.events) {
		wire.ms += timeout_ms;
		return timeout_ms < 0 ? -EPIPE : 0;
	}
	wire.next++;
	wire.ms += 10;
	*nlh = wire.event[i];
	return *nlh ? (int)(*nlh)->nlmsg_len : wire.code[i];
}

int __wrap_clock_gettime(clockid_t clock, struct timespec *ts)
{
	(void)clock;
	ts->tv_sec = wire.ms / 1000;
	ts->tv_nsec = wire.ms % 1000 * 1000000;
	wire.ms += wire.step_ms;
	return 0;
}

void begin(uint32_t node)
{
	memset(&wire, 0, sizeof(wire));
	wire.node[0] = node;
	wire.nodes = 1;
	wire.ms = 12345;
	memset(&ctl_opts, 0, sizeof(ctl_opts));
}

void event(int kind, uint32_t node, uint64_t vid, uint32_t error, const char *reason)
{
	struct nl_msg *msg = message(SPINDLE_CMD_EVENT);

	nla_put_u8(msg, SPINDLE_A_EVENT, kind);
	nla_put_u32(msg, SPINDLE_A_NODE_ID, node);
	if (vid)
		nla_put_u64(msg, SPINDLE_A_VIEW_ID, vid);
	if (error)
		nla_put_u32(msg, SPINDLE_A_ERROR, error);
	if (kind == SPINDLE_EVENT_READER_STALLED || kind == SPINDLE_EVENT_READER_BEHIND)
		nla_put_u64(msg, SPINDLE_A_LSN, 4242);
	if (reason)
		nla_put_string(msg, SPINDLE_A_REASON, reason);
	wire.event[wire.events++] = nlmsg_hdr(msg);
}

void lost(void)
{
	wire.code[wire.events++] = -ENOBUFS;
}

/* ---- commands ----------------------------------------------------------- */

/* Run a command line. Return: its exit status; its output is in output[]. */
int run(int (*cmd)(struct ctl_args *a), const char *noun, const char *words)
{
	struct ctl_args a = { .noun = noun };
	FILE *out = stdout, *err = stderr, *mem;
	char *list = ctl_strdup(words), *word;
	int rc;

	while (*words && (word = strsep(&list, " "))) {
		a.argv = ctl_grow(a.argv, a.argc, sizeof(*a.argv));
		a.argv[a.argc++] = word;
	}
	fflush(out);
	memset(output, 0, sizeof(output));
	mem = fmemopen(output, sizeof(output) - 1, "w");
	stdout = mem;
	stderr = mem;
	rc = cmd(&a);
	fclose(mem);
	stdout = out;
	stderr = err;
	return rc;
}

/* The last request of a kind, or NULL. */
struct nlattr **sent(int cmd)
{
	unsigned int i;

	for (i = wire.sents; i--;)
		if (((struct genlmsghdr *)nlmsg_data(wire.sent[i]))->cmd == cmd)
			return ctl_msg_attrs(wire.sent[i]);
	return NULL;
}

bool attr_is(const struct nlattr *attr, int len, uint64_t num)
{
	return attr && nla_len(attr) == len && ctl_attr_num(attr) == num;
}

/* ---- status ------------------------------------------------------------- */

struct nl_msg *status_msg(uint32_t node, int state, const char *reason, struct nlattr **live)
{
	struct nl_msg *msg = message(SPINDLE_CMD_STATUS_GET);

	nla_put_u32(msg, SPINDLE_A_NODE_ID, node);
	*live = nla_nest_start(msg, SPINDLE_A_LIVE);
	nla_put_u32(msg, SPINDLE_LIVE_A_TIMEOUT_MS, 500);
	nla_put_u32(msg, SPINDLE_LIVE_A_MAX_NODES, 16);
	nla_put_u8(msg, SPINDLE_LIVE_A_QUORUM, 1);
	nla_put_u8(msg, SPINDLE_LIVE_A_STATE, state);
	if (reason)
		nla_put_string(msg, SPINDLE_LIVE_A_REASON, reason);
	return msg;
}

void put_member(struct nl_msg *msg, uint32_t id, int rank, int state, uint64_t lag)
{
	struct nlattr *nest = nla_nest_start(msg, SPINDLE_LIVE_A_MEMBER);

	nla_put_u32(msg, SPINDLE_LIVE_MEMBER_A_ID, id);
	if (rank >= 0)
		nla_put_u32(msg, SPINDLE_LIVE_MEMBER_A_RANK, rank);
	if (state >= 0)
		nla_put_u8(msg, SPINDLE_LIVE_MEMBER_A_STATE, state);
	if (rank >= 0)
		nla_put_u64(msg, SPINDLE_LIVE_MEMBER_A_VIEW, 7);
	if (state == SPINDLE_PEER_UP)
		nla_put_u64(msg, SPINDLE_LIVE_MEMBER_A_BEAT_MS, 3);
	nla_put_u64(msg, SPINDLE_LIVE_MEMBER_A_LAG, lag);
	nla_put_u64(msg, SPINDLE_LIVE_MEMBER_A_LAG_BYTES, lag * 100);
	nla_nest_end(msg, nest);
}

/* Add a status without members. */
void status(uint32_t node, int state, int why, const char *reason)
{
	struct nlattr *live;
	struct nl_msg *msg = status_msg(node, state, reason, &live);

	nla_put_u8(msg, SPINDLE_LIVE_A_WHY, why);
	nla_nest_end(msg, live);
	wire.status[wire.statuses++] = nlmsg_hdr(msg);
}

/* Add a status with two members. @peer is the state of the connection to the other one. */
void status_two(uint32_t node, int state, int peer, uint64_t lag)
{
	struct nlattr *live;
	struct nl_msg *msg = status_msg(node, state, NULL, &live);

	put_member(msg, node, 0, -1, 0);
	put_member(msg, 5, 1, peer, lag);
	nla_nest_end(msg, live);
	wire.status[wire.statuses++] = nlmsg_hdr(msg);
}
