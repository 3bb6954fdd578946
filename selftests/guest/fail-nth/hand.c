// SPDX-License-Identifier: GPL-2.0-only
/*
 * Nodes and views: requests that add a node or set a view, and requests that
 * undo that.
 */
#include <stdio.h>
#include <string.h>

#include "fail-nth.h"
#include "hand.h"
#include "machine.h"
#include "nth.h"
#include "path.h"
#include "tap.h"

int node_add(void *ctx)
{
	const struct hand *h = ctx;
	struct nl nl;

	begin_for(&nl, SPINDLE_CMD_NODE_ADD, h->node);
	put_addr(&request, SPINDLE_A_ADDR4, SPINDLE_A_PORT, h->node);
	return finish(&nl);
}

void node_del(void *ctx)
{
	simple(SPINDLE_CMD_NODE_DEL, ((struct hand *)ctx)->node);
}

int view_set(void *ctx)
{
	const struct hand *h = ctx;

	return set_view(h->view, h->node, h->vid);
}

void view_del(void *ctx)
{
	simple(SPINDLE_CMD_VIEW_DEL, ((struct hand *)ctx)->node);
}

/*
 * Go back to the view that was replaced. Ids only grow, so remove the new view
 * first.
 */
static void view_back(void *ctx)
{
	const struct hand *h = ctx;
	unsigned int n = nth;

	view_del(ctx);
	nth = 0;
	if (set_view(h->old, h->node, h->vid - 1))
		die("the old view cannot be set any more");
	nth = n;
}

#define IDS3 (1U << 1 | 1U << 2 | 1U << 3)

const struct view views[] = {
	{ "alone", 1U << 3, { SET(.id = 1, .window = 4, .max_msg = 64, .ring = 4096) } },
	{ "three members, both modes", IDS3, {
		SET(.id = 1, .window = 16, .max_msg = 512, .ring = 8192),
		SET(.id = 2, .window = 8, .max_msg = 64, .ring = 4096,
		    .mode = SPINDLE_MODE_UNORDERED, .senders = 1U << 1),
		SET(.id = 3, .window = 1024, .max_msg = 4096, .ring = 65536,
		    .members = 1U << 2 | 1U << 3),
	} },
	/* A row of more than 2 MiB is registered in several pieces. */
	{ "several chunks", 1U << 1 | 1U << 3, {
		SET(.id = 1, .window = 64, .max_msg = 65536, .ring = 2 << 20,
		    .senders = 1U << 3),
	} },
};

void test_node(void)
{
	struct hand h = { .node = 9 };
	struct op op = { .name = "node add", .run = node_add, .undo = node_del, .ctx = &h,
			 .errs = errs_netlink };
	int threads = engine_threads();
	char comm[32];

	path(&op);
	/*
	 * Another thread makes the engine's thread, and has its own
	 * allocations.
	 */
	get("/proc/2/comm", comm, sizeof(comm));
	if (strcmp(comm, "kthreadd\n"))
		die("process 2 is %s", comm);
	aim("/proc/2/fail-nth");
	snprintf(op.name, sizeof(op.name), "node add: the engine's thread");
	op.errs = errs_thread;
	path(&op);
	is(engine_threads(), threads, "no thread of an engine is left");
}

void test_view(void)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(views); i++) {
		struct hand h = { .node = 3, .vid = 2, .view = &views[i] };
		struct op op = { .run = view_set, .undo = view_del, .ctx = &h,
				 .errs = errs_netlink };

		snprintf(op.name, sizeof(op.name), "view set: %s", views[i].name);
		path(&op);
	}
	{
		struct hand h = { .node = 3, .vid = 2, .view = &views[1], .old = &views[0] };
		struct op op = { .name = "view set: in place of another", .run = view_set,
				 .undo = view_back, .ctx = &h, .errs = errs_netlink };

		if (set_view(&views[0], 3, 1))
			die("the old view cannot be set");
		path(&op);
		simple(SPINDLE_CMD_VIEW_DEL, 3);
	}
}
