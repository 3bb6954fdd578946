// SPDX-License-Identifier: GPL-2.0-only
/*
 * Events: a listener gets each event, or learns that it has lost one.
 */
#include <errno.h>
#include <stdio.h>
#include <unistd.h>
#include <linux/spindle.h>

#include "fail-nth.h"
#include "hand.h"
#include "machine.h"
#include "nth.h"
#include "path.h"
#include "shown.h"
#include "tap.h"

static struct nl ear;
static int want_event;		/* enum spindle_event_kind */
static int heard;

static void hear(void *ctx, const struct nlmsghdr *nlh)
{
	(void)ctx;
	heard += (int)nl_num(nl_find(nl_attrs(nlh), nl_attrs_len(nlh), SPINDLE_A_EVENT)) ==
		 want_event;
}

/* Empty the socket before the event that the test expects. */
static void clear_ear(void)
{
	while (nl_events(&ear, NULL, NULL) == -ENOBUFS)
		;
	heard = 0;
}

/* The event came, or the socket reports a loss. */
static bool told(void *ctx)
{
	int err;

	(void)ctx;
	heard = 0;
	err = nl_events(&ear, hear, NULL);
	if (heard || err == -ENOBUFS)
		return true;
	printf("# event %d did not come, and no loss was reported\n", want_event);
	return false;
}

static int node_add_heard(void *ctx)
{
	clear_ear();
	return node_add(ctx);
}

static int view_set_heard(void *ctx)
{
	clear_ear();
	return view_set(ctx);
}

/* The engine reports that the subgroup is active. Its allocations fail. */
static int activate(void *ctx)
{
	const struct hand *h = ctx;
	unsigned int n = nth;
	long end = now_ms() + WAIT_MS;
	int err;

	clear_ear();
	arm();
	nth = 0;
	err = set_view(h->view, h->node, h->vid);
	while (!err && subgroup_state(h->node, 1) != SPINDLE_STATE_ACTIVE && now_ms() < end)
		nap(1);
	nth = n;
	disarm();
	return err;
}

static int take_pid(void *ctx, const struct nlmsghdr *nlh)
{
	const struct nlattr *stats = nl_find(nl_attrs(nlh), nl_attrs_len(nlh), SPINDLE_A_STATS);

	if (stats)
		*(int *)ctx = nl_num(nl_find(nl_data(stats), nl_len(stats),
					     SPINDLE_ENGINE_S_PID));
	return 0;
}

void test_event(void)
{
	struct hand node = { .node = 9 };
	struct hand view = { .node = 3, .vid = 100, .view = &views[0] };
	struct op add = { .name = "event: node-add", .run = node_add_heard, .undo = node_del,
			  .ctx = &node, .errs = errs_netlink, .after = told };
	struct op set = { .name = "event: view-install", .run = view_set_heard,
			  .undo = view_del, .ctx = &view, .errs = errs_netlink, .after = told };
	struct op act = { .name = "event: subgroup-active, by the engine", .run = activate,
			  .undo = view_del, .ctx = &view, .errs = errs_netlink, .after = told,
			  .never = true };
	struct nl_ack ack;
	char text[64];
	int pid = 0;

	begin(&ear);
	if (nl_listen(&ear))
		die("cannot listen");
	want_event = SPINDLE_EVENT_NODE_ADD;
	path(&add);
	want_event = SPINDLE_EVENT_VIEW_INSTALL;
	path(&set);
	nl_begin(&eye, &request, SPINDLE_CMD_STATS_GET, NLM_F_DUMP);
	nl_put_u32(&request, SPINDLE_A_NODE_ID, 3);
	if (nl_talk(&eye, &request, &ack, take_pid, &pid) || !pid)
		die("the engine's thread is unknown");
	snprintf(text, sizeof(text), "/proc/%d/fail-nth", pid);
	aim(text);
	want_event = SPINDLE_EVENT_SUBGROUP_ACTIVE;
	path(&act);
	close(ear.fd);
}
