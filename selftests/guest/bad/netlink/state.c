// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps of nodes, views and subgroups, and events. See state.h.
 */
#include <string.h>

#include "genl-bad.h"
#include "state.h"
#include "tap.h"

static void add(struct state *st, const void *data, size_t n)
{
	if (st->len + n > sizeof(st->buf))
		die("the state is larger than was thought");
	memcpy(st->buf + st->len, data, n);
	st->len += n;
}

static int take_state(void *ctx, const struct nlmsghdr *nlh)
{
	add(ctx, nl_attrs(nlh), nl_attrs_len(nlh));
	return 0;
}

/* Keep the attributes of a subgroup that requests or processes change. */
static int take_subgroup(void *ctx, const struct nlmsghdr *nlh)
{
	static const int kept[] = {
		SPINDLE_SUBGROUP_A_ID, SPINDLE_SUBGROUP_A_STATE, SPINDLE_SUBGROUP_A_ERROR,
		SPINDLE_SUBGROUP_A_READERS, SPINDLE_SUBGROUP_A_SENDER, SPINDLE_SUBGROUP_A_TUNE,
	};
	const struct nlattr *sg = nl_find(nl_attrs(nlh), nl_attrs_len(nlh), SPINDLE_A_SUBGROUP);
	const struct nlattr *a;
	unsigned int i;

	for (i = 0; sg && i < ARRAY_SIZE(kept); i++) {
		a = nl_find(nl_data(sg), nl_len(sg), kept[i]);
		if (!a)
			die("a dump of subgroups lacks attribute %d", kept[i]);
		add(ctx, a, a->nla_len);
	}
	return 0;
}

void read_state(struct state *st)
{
	static const int cmds[] = { SPINDLE_CMD_NODE_GET, SPINDLE_CMD_VIEW_GET,
				    SPINDLE_CMD_SUBGROUP_GET };
	static struct nl_req r;
	struct nl_ack ack;
	unsigned int i;

	st->len = 0;
	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		nl_begin(&nl, &r, cmds[i], NLM_F_DUMP);
		if (nl_talk(&nl, &r, &ack, cmds[i] == SPINDLE_CMD_SUBGROUP_GET ?
			    take_subgroup : take_state, st) || ack.err)
			die("dump failed: %s", strerror(-ack.err));
	}
}

bool same_state(const struct state *a, const struct state *b)
{
	return a->len == b->len && !memcmp(a->buf, b->buf, a->len);
}

int no_events(void)
{
	return nl_events(&events, NULL, NULL);
}
