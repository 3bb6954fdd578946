// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dumps of nodes and views, and events. See state.h.
 */
#include <string.h>

#include "genl-bad.h"
#include "state.h"
#include "../progs/tap.h"

static int take_state(void *ctx, const struct nlmsghdr *nlh)
{
	struct state *st = ctx;
	size_t n = nl_attrs_len(nlh);

	if (st->len + n > sizeof(st->buf))
		die("the state is larger than was thought");
	memcpy(st->buf + st->len, nl_attrs(nlh), n);
	st->len += n;
	return 0;
}

void read_state(struct state *st)
{
	static const int cmds[] = { SPINDLE_CMD_NODE_GET, SPINDLE_CMD_VIEW_GET };
	static struct nl_req r;
	struct nl_ack ack;
	unsigned int i;

	st->len = 0;
	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		nl_begin(&nl, &r, cmds[i], NLM_F_DUMP);
		if (nl_talk(&nl, &r, &ack, take_state, st) || ack.err)
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
