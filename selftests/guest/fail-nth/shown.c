// SPDX-License-Identifier: GPL-2.0-only
/*
 * The visible state of the module, for comparison.
 */
#include "machine.h"
#include "nth.h"
#include "request.h"
#include "shown.h"
#include "tap.h"

struct nl eye;

static void show(struct shown *s, const void *data, int len)
{
	if (s->len + len > LOOK_MAX) {
		s->overflow = true;
		return;
	}
	memcpy(s->buf + s->len, data, len);
	s->len += len;
}

/* Counters, and what is new in each life of a node. */
static bool changes_by_itself(int type, bool subgroup)
{
	if (subgroup)
		return type == SPINDLE_SUBGROUP_A_STATS || type == SPINDLE_SUBGROUP_A_TABLE_STATS;
	return type == SPINDLE_A_STATS || type == SPINDLE_A_PEER ||
	       type == SPINDLE_A_INCARNATION || type == SPINDLE_A_LINEAGE;
}

static int show_attrs(struct shown *s, const void *attrs, int len, bool subgroup)
{
	const void *end = (const char *)attrs + len;
	const struct nlattr *a;

	for (a = nl_at(attrs, end); a; a = nl_behind(a, end)) {
		/* The place of padding depends on the attributes before. */
		if (!subgroup && nl_type(a) == SPINDLE_A_PAD)
			continue;
		if (changes_by_itself(nl_type(a), subgroup))
			show(s, a, NLA_HDRLEN);
		else if (!subgroup && nl_type(a) == SPINDLE_A_SUBGROUP)
			show_attrs(s, nl_data(a), nl_len(a), true);
		else
			show(s, a, a->nla_len);
	}
	return 0;
}

static int show_msg(void *ctx, const struct nlmsghdr *nlh)
{
	((struct shown *)ctx)->bytes += nlh->nlmsg_len;
	return show_attrs(ctx, nl_attrs(nlh), nl_attrs_len(nlh), false);
}

int show_all(struct nl *nl, struct shown *s, int cmd, int flags, uint32_t node)
{
	struct nl_ack ack;
	int err;

	nl_begin(nl, &request, cmd, flags);
	if (node)
		nl_put_u32(&request, SPINDLE_A_NODE_ID, node);
	arm();
	err = nl_talk(nl, &request, &ack, show_msg, s);
	disarm();
	return err ? err : ack.err;
}

void open_eye(void)
{
	int err = nl_open(&eye);

	if (err)
		die("the netlink family: %s", strerror(-err));
}

void look(struct shown *s)
{
	static const int cmds[] = {
		SPINDLE_CMD_NODE_GET, SPINDLE_CMD_VIEW_GET, SPINDLE_CMD_SUBGROUP_GET,
	};
	unsigned int keep = nth;
	char text[64];
	int err, n;
	size_t i;

	nth = 0;
	s->len = 0;
	s->overflow = false;
	n = get("/sys/module/spindle/refcnt", text, sizeof(text));
	if (n < 0) {
		show(s, "-", 1);
		nth = keep;
		return;
	}
	show(s, text, n);
	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		err = show_all(&eye, s, cmds[i], NLM_F_DUMP, 0);
		if (err)
			die("cannot look: %s", strerror(-err));
	}
	if (s->overflow)
		die("there is too much to see");
	nth = keep;
}

bool same(const struct shown *a, const struct shown *b)
{
	return a->len == b->len && !memcmp(a->buf, b->buf, a->len);
}

int subgroup_state(uint32_t node, uint32_t id)
{
	struct nl_subgroup sg;
	int err = nl_subgroup(&eye, node, id, &sg);

	return err ? err : (int)sg.state;
}
