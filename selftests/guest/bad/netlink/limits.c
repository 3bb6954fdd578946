// SPDX-License-Identifier: GPL-2.0-only
/*
 * last-id, largest-view, most-nodes, memory: the limits of the family and of the machine.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "genl-bad.h"
#include "dump.h"
#include "state.h"
#include "words.h"
#include "tap.h"

#define GIB4 "subgroup{ id=0 ring=1073741824 } subgroup{ id=1 ring=1073741824 } " \
	     "subgroup{ id=2 ring=1073741824 } subgroup{ id=3 ring=1073741824 } "
#define LAST "id=4294967295 vid=1 member{ id=4294967295 addr4=10.0.0.1 port=6500 } " \
	     "subgroup{ id=4294967295 window=1 max-msg=64 ring=4096 } "

void last_id(void)
{
	static const struct { int cmd; const char *name; } dumps[] = {
		{ SPINDLE_CMD_NODE_GET, "node get" },
		{ SPINDLE_CMD_VIEW_GET, "view get" },
		{ SPINDLE_CMD_STATS_GET, "stats get" },
		{ SPINDLE_CMD_SUBGROUP_GET, "subgroup get" },
	};
	struct nl_ack ack;
	unsigned int i;

	is(request(&nl, ADD, "id=4294967295 addr4=10.0.0.1 port=6500", &ack, NULL), 0,
	   "node add: id 4294967295");
	is(request(&nl, VSET, LAST, &ack, NULL), 0, "view set: of that node");
	is(request(&nl, GET, "id=4294967295", &ack, NULL), 0, "node get: that node");
	for (i = 0; i < ARRAY_SIZE(dumps); i++) {
		struct dumped d = { 0 };
		int err = dump_pieces(dumps[i].cmd, &d, &ack);

		ok(!err && d.last == UINT32_MAX, "%s: a dump ends behind id 4294967295",
		   dumps[i].name);
		if (err)
			printf("# %u messages, then %s\n", d.messages, strerror(-err));
	}
	is(request(&nl, DEL, "id=4294967295", &ack, NULL), 0, "node del: that node");
}

static int take_view(void *ctx, const struct nlmsghdr *nlh)
{
	const void *end = (char *)nlh + nlh->nlmsg_len;
	const struct nlattr *a;
	int *count = ctx;

	for (a = nl_at(nl_attrs(nlh), end); a; a = nl_behind(a, end)) {
		count[0] += nl_type(a) == SPINDLE_A_MEMBER;
		count[1] += nl_type(a) == SPINDLE_A_SUBGROUP;
	}
	return 0;
}

static void check_view(int flags, const char *name)
{
	static struct nl_req r;
	struct nl_ack ack;
	int count[2] = { 0 }, err;

	nl_begin(&nl, &r, SPINDLE_CMD_VIEW_GET, flags);
	nl_put_u32(&r, SPINDLE_A_NODE_ID, 4);
	err = nl_talk(&nl, &r, &ack, take_view, count);
	is(err ? err : ack.err, 0, "view get: the largest view, %s", name);
	is(count[0], 64, "view get: all members, %s", name);
	is(count[1], 64, "view get: all subgroups, %s", name);
}

void largest_view(void)
{
	struct nl_ack ack;

	is(request(&nl, VSET, "id=4 vid=1 members=1-64 subgroups=1-64", &ack, NULL), 0,
	   "view set: 64 members and 64 subgroups of all of them");
	check_view(0, "of one node");
	check_view(NLM_F_DUMP, "as a dump");
	is(request(&nl, VDEL, "id=4", &ack, NULL), 0, "view del: the largest view");
}

/* At first there is no node. */
void most_nodes(void)
{
	struct nl_ack ack;
	unsigned int id, done = 0, gone = 0;
	char words[64];

	for (id = 1; id <= SPINDLE_MAX_NET_NODES; id++) {
		snprintf(words, sizeof(words), "id=%u addr4=10.0.0.1 port=%u", id, 6000 + id);
		done += !request(&nl, ADD, words, &ack, NULL);
	}
	is(done, SPINDLE_MAX_NET_NODES, "node add: a namespace takes 256 nodes");
	is(request(&nl, ADD, "id=9999 addr4=10.0.0.1 port=5999", &ack, NULL), ENOSPC,
	   "node add: one more");
	ok(strcasestr(ack.text, "256"), "says how many there may be");
	for (id = 1; id <= SPINDLE_MAX_NET_NODES; id++) {
		snprintf(words, sizeof(words), "id=%u", id);
		gone += !request(&nl, DEL, words, &ack, NULL);
	}
	is(gone, SPINDLE_MAX_NET_NODES, "node del: all 256 nodes are removed");
}

void memory(void)
{
	static struct state before, after;
	struct nl_ack ack;

	read_state(&before);
	is(request(&nl, VSET, "id=4 vid=1 members=4-5 " GIB4, &ack, NULL), ENOMEM,
	   "view set: 8 GiB of rings");
	ok(strcasestr(ack.text, "memory"), "says what there is not enough of");
	read_state(&after);
	ok(same_state(&before, &after), "the refused view changed nothing");
}
