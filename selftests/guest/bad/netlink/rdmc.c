// SPDX-License-Identifier: GPL-2.0-only
/*
 * rdmc: dumps of RDMC groups: refused, and in pieces.
 */
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "genl-bad.h"
#include "dump.h"
#include "refusal.h"
#include "tap.h"

const struct refusal rdmc_refusals[] = {
	{ RGET, "not a dump", "", EOPNOTSUPP, NULL, 0 },
	{ RGET, "one group", "id=1 rdmc-id=7", EOPNOTSUPP, NULL, 0 },
	{ RGET | DUMP, "node 0", "*id=0", ERANGE, RANGE, 0 },
	{ RGET | DUMP, "short node id", "*id/2", EINVAL, LENGTH, 0 },
	{ RGET | DUMP, "long node id", "*id/8", EINVAL, LENGTH, 0 },
	{ RGET | DUMP, "empty group id", "id=1 *rdmc-id/0", EINVAL, LENGTH, 0 },
	{ RGET | DUMP, "short group id", "*rdmc-id/4", EINVAL, LENGTH, 0 },
	{ RGET | DUMP, "long group id", "*rdmc-id/16", EINVAL, LENGTH, 0 },
	{ RGET | DUMP, "a group", "id=1 *rdmc{ id=1 } ", EINVAL, UNSUPP, 0 },
	{ RGET | DUMP, "an error", "id=1 *rdmc-error=1", EINVAL, UNSUPP, 0 },
	{ RGET | DUMP, "a rack", "id=1 *rack=1", EINVAL, UNSUPP, 0 },
	{ RGET | DUMP, "a subgroup", "id=1 *subgroup-id=1", EINVAL, UNSUPP, 0 },
	{ RGET | DUMP, "unknown attribute", "id=1 *#1024=1", EINVAL, UNKNOWN, 0 },
	{ RGET | DUMP, "stray bytes", "id=1 ~4", EINVAL, STRAY, 0 },
	{ RGET | DUMP, "cut off", "id=1 rdmc-id^60=1", EINVAL, STRAY, 0 },
	{ STATUS | DUMP, "by RDMC group", "id=1 *rdmc-id=1", EINVAL, UNSUPP, 0 },
	{ 0, NULL, NULL, 0, NULL, 0 }
};

/* The first piece has the size that the module demands. */
#define ROOM	32768

/* Groups in the order of the dump, each once. No two have the same node and id. */
struct groups {
	unsigned int messages, intr, bad;
	uint64_t node, last;
};

static int take_group(void *ctx, const struct nlmsghdr *nlh)
{
	uint64_t node = nl_num(nl_find(nl_attrs(nlh), nl_attrs_len(nlh), SPINDLE_A_NODE_ID));
	const struct nlattr *g = nl_find(nl_attrs(nlh), nl_attrs_len(nlh), SPINDLE_A_RDMC);
	struct groups *s = ctx;
	uint64_t id;

	s->messages++;
	s->intr += !!(nlh->nlmsg_flags & NLM_F_DUMP_INTR);
	if (!g || !nl_find(nl_data(g), nl_len(g), SPINDLE_RDMC_GROUP_A_STATE) ||
	    !nl_find(nl_data(g), nl_len(g), SPINDLE_RDMC_GROUP_A_MEMBER) ||
	    !nl_find(nl_data(g), nl_len(g), SPINDLE_RDMC_GROUP_A_STATS)) {
		s->bad++;
		return 0;
	}
	id = nl_num(nl_find(nl_data(g), nl_len(g), SPINDLE_RDMC_GROUP_A_ID));
	s->bad += node < s->node || (node == s->node && id <= s->last);
	s->node = node;
	s->last = id;
	return 0;
}

static void dump_groups(const char *words, struct groups *s)
{
	struct nl_ack ack;
	struct nl sk;

	memset(s, 0, sizeof(*s));
	fresh_socket(&sk, ROOM);
	is(request_for(&sk, RGET | DUMP, words, &ack, NULL, take_group, s), 0,
	   "rdmc get: a dump in pieces: '%s'", words);
	close(sk.fd);
	is(s->bad, 0, "rdmc get: sorted, each group once and complete");
	is(s->intr + ack.intr, 0, "rdmc get: the dump is not marked as interrupted");
}

void rdmc(void)
{
	static struct groups all, one, id;
	static struct state before;
	const struct refusal *c;

	no_events();
	read_state(&before);
	for (c = rdmc_refusals; c->what; c++)
		try_refusal(c, &before);
	dump_groups("", &all);
	ok(all.messages >= 100, "rdmc get: %u groups", all.messages);
	dump_groups("id=1", &one);
	ok(one.messages && one.messages < all.messages && one.node == 1,
	   "rdmc get: %u of one node", one.messages);
	dump_groups("rdmc-id=1001", &id);
	ok(id.messages && id.messages < 3 && id.last == 1001, "rdmc get: %u with one id",
	   id.messages);
	is(no_events(), 0, "rdmc get: no events");
}
