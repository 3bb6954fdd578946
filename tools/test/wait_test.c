// SPDX-License-Identifier: GPL-2.0-only
/*
 * Commands that wait for events, and the one that prints them. TAP.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/spindle.h>
#include <linux/spindle_genl.h>

#include "common/util.h"
#include "ctl/cmd.h"
#include "fake_wire.h"

static int join(void)
{
	return run(ctl_cmd_node, "node", "join id 3 contact 10.0.0.1 timeout 5");
}

static void test_join(void)
{
	begin(3);
	event(SPINDLE_EVENT_VIEW_INSTALL, 2, 8, 0, NULL);
	event(SPINDLE_EVENT_PEER_UP, 3, 0, 0, NULL);
	event(SPINDLE_EVENT_VIEW_INSTALL, 3, 9, 0, NULL);
	event(SPINDLE_EVENT_JOIN_FAILED, 3, 0, 0, "too late");
	ok(!join() && wire.next == 3 && !*output, "a view on the node is the end of a join");
	ok(wire.heard, "the command listens before its request");
	begin(3);
	event(SPINDLE_EVENT_VIEW_INSTALL, 3, 9, 0, NULL);
	ctl_opts.json = true;
	ok(!join() && !strcmp(output, "{\"vid\":9}\n"), "-j prints the vid");
	begin(3);
	event(SPINDLE_EVENT_JOIN_FAILED, 2, 0, 0, "of another");
	event(SPINDLE_EVENT_JOIN_FAILED, 3, 0, 0, "the key is\nanother one");
	ok(join() == 1 && !strcmp(output, "spindle-ctl: node join: the key is?another one\n"),
	   "why it failed");
	begin(3);
	event(SPINDLE_EVENT_STOPPED, 3, 0, SPINDLE_ERR_LEFT, NULL);
	ok(join() == 1 && strstr(output, "has left the live view"), "an error is a reason, too");
	begin(3);
	event(SPINDLE_EVENT_NODE_DEL, 3, 0, 0, NULL);
	ok(join() == 1 && strstr(output, "the node was removed"), "a node that goes away");
	begin(3);
	wire.refuse = SPINDLE_CMD_NODE_JOIN;
	wire.err = -EBUSY;
	ok(join() == 1 && !wire.next && wire.ms == 12345, "what is refused is not waited for");
	begin(3);
	status(3, SPINDLE_LIVE_JOINING, 0, "asks 10.0.0.1:4790");
	ok(join() == 1 && wire.ms == 12345 + 5000 &&
	   strstr(output, "not done after 5 seconds, but it goes on; node 3 is JOINING: asks "
			  "10.0.0.1:4790\n") &&
	   strstr(output, "spindle-ctl node leave id 3\n"), "what is known when it takes too long");
	begin(3);
	status(3, SPINDLE_LIVE_ACTIVE, 0, NULL);
	ok(!join() && wire.ms == 12345 + 5000, "the last look finds it done");
}

static void test_lost(void)
{
	begin(3);
	lost();
	status(3, SPINDLE_LIVE_JOINING, 0, "asks");
	status(3, SPINDLE_LIVE_JOINING, 0, "connects");
	status(3, SPINDLE_LIVE_ACTIVE, 0, "is in");
	ctl_opts.json = true;
	ok(!join() && wire.asked == 3 && wire.ms < 12345 + 1000 &&
	   !strcmp(output, "{\"vid\":7}\n"), "the status is asked for if events are lost");
	begin(3);
	lost();
	status(3, SPINDLE_LIVE_JOINING, 0, "asks");
	event(SPINDLE_EVENT_JOIN_FAILED, 3, 0, 0, "no room");
	ok(join() == 1 && strstr(output, ": no room\n"), "events after that count");
	begin(3);
	lost();
	ok(join() == 1 && strstr(output, "in no live view, and joins none"),
	   "a join that has failed unheard");
	begin(3);
	lost();
	status(3, SPINDLE_LIVE_STOPPED, 0, "no contact");
	ok(join() == 1 && strstr(output, ": no contact\n"), "a join of a node that has stopped");
	begin(3);
	wire.code[wire.events++] = -EIO;
	ok(join() == 1 && strstr(output, strerror(EIO)), "a socket that does not work");
}

static void test_leave(void)
{
	begin(3);
	event(SPINDLE_EVENT_CHANGING, 3, 0, 0, "node 3 leaves");
	event(SPINDLE_EVENT_VIEW_INSTALL, 3, 8, 0, NULL);
	event(SPINDLE_EVENT_STOPPED, 3, 0, SPINDLE_ERR_LEFT, "left");
	ok(!run(ctl_cmd_node, "node", "leave 3") && wire.next == 3 && !*output,
	   "a node that has stopped has left");
	begin(3);
	event(SPINDLE_EVENT_JOIN_FAILED, 3, 0, 0, "given up");
	ok(!run(ctl_cmd_node, "node", "leave 3"), "a join is given up");
	begin(3);
	lost();
	status(3, SPINDLE_LIVE_CHANGING, 0, "leaves");
	status(3, SPINDLE_LIVE_STOPPED, SPINDLE_WHY_LEFT, "left");
	ok(!run(ctl_cmd_node, "node", "leave 3") && wire.asked == 2,
	   "a leave is noticed without its event");
	begin(3);
	status(3, SPINDLE_LIVE_ACTIVE, 0, NULL);
	ok(run(ctl_cmd_node, "node", "leave 3") == 1 && wire.ms == 12345 + 30000 &&
	   strstr(output, "node leave: not done after 30 seconds"), "half a minute by default");
}

static void test_evict(void)
{
	begin(3);
	event(SPINDLE_EVENT_VIEW_INSTALL, 3, 8, 0, NULL);
	event(SPINDLE_EVENT_VIEW_INSTALL, 3, 9, 0, NULL);
	status_two(3, SPINDLE_LIVE_ACTIVE, SPINDLE_PEER_UP, 0);
	status(3, SPINDLE_LIVE_ACTIVE, 0, NULL);
	ctl_opts.json = true;
	ok(!run(ctl_cmd_node, "node", "evict 3 node 5") && wire.next == 2 && wire.asked == 2,
	   "a view that still has the peer is not the end");
	begin(3);
	event(SPINDLE_EVENT_VIEW_INSTALL, 3, 8, 0, NULL);
	status(3, SPINDLE_LIVE_CHANGING, 0, NULL);
	status(3, SPINDLE_LIVE_ACTIVE, 0, NULL);
	ok(!run(ctl_cmd_node, "node", "evict 3 node 5") && wire.asked == 2 &&
	   wire.ms < 12345 + 1000, "what was looked at too early is looked at again");
	begin(3);
	event(SPINDLE_EVENT_VIEW_REMOVE, 3, 0, 0, NULL);
	status(3, SPINDLE_LIVE_STOPPED, SPINDLE_WHY_GONE, "removed");
	ok(run(ctl_cmd_node, "node", "evict 3 node 5") == 1 && strstr(output, ": removed\n") &&
	   wire.ms < 12345 + 1000, "a view that is removed is looked into");
	begin(3);
	wire.nodes = 0;
	event(SPINDLE_EVENT_VIEW_REMOVE, 3, 0, 0, NULL);
	ok(run(ctl_cmd_node, "node", "evict 3 node 5") == 1 &&
	   strstr(output, "the node was removed\n"),
	   "a node that does not exist any more is noticed");
	begin(3);
	event(SPINDLE_EVENT_STOPPED, 3, 0, SPINDLE_ERR_MINORITY, "1 of 2");
	ok(run(ctl_cmd_node, "node", "evict 3 node 5") == 1 && strstr(output, ": 1 of 2\n"),
	   "the node itself may be the one that stops");
}

/* Does the present state come first, then its end, then the event? */
static bool in_order(const char *first, const char *end, const char *event)
{
	const char *a = strstr(output, first), *b = strstr(output, end), *c = strstr(output, event);

	return a && b && c && a < b && b <= c;
}

static void test_exists(void)
{
	begin(1);
	status_two(1, SPINDLE_LIVE_ACTIVE, SPINDLE_PEER_UP, 0);
	event(SPINDLE_EVENT_SUSPECT, 1, 0, 0, "x");
	ok(run(ctl_cmd_monitor, "monitor", "") == 1 && wire.listens &&
	   in_order("  exists           node 1  vid 7  active\n", "  exists-end\n",
		    "  suspect "), "monitor begins with what there is");
	begin(1);
	status_two(1, SPINDLE_LIVE_ACTIVE, SPINDLE_PEER_UP, 0);
	event(SPINDLE_EVENT_SUSPECT, 1, 0, 0, "x");
	ctl_opts.json = true;
	ok(run(ctl_cmd_monitor, "monitor", "node 1") == 1 &&
	   in_order("\"event\":\"exists\",\"node\":1,\"vid\":7,\"state\":\"active\"}\n",
		    "\"event\":\"exists-end\"}\n", "\"event\":\"suspect\""), "for programs, too");
}

/* The monitor accepts a node that does not exist yet. */
static void test_not_yet(void)
{
	begin(1);
	event(SPINDLE_EVENT_NODE_ADD, 9, 0, 0, NULL);
	ok(run(ctl_cmd_monitor, "monitor", "node 9") == 1 && !strstr(output, "node 1") &&
	   in_order("  exists-end\n", "  node-add ", "node 9"),
	   "a node that is watched may come later");
}

static void test_monitor(void)
{
	static const char *const want[] = {
		"  suspect          node 1  (node 3 is silent)\n",
		"  changing         node 1  vid 7  (node 3 is silent)\n",
		"  stopped          node 1  error minority  (too few members of the live view",
		"  join-failed      node 2  (no room)\n",
	};
	bool all = true;
	unsigned int i;

	for (i = 0; i < 2; i++) {
		begin(1);
		ctl_opts.json = i;
		event(SPINDLE_EVENT_SUSPECT, 1, 0, 0, "node 3 is silent");
		event(SPINDLE_EVENT_CHANGING, 1, 7, 0, "node 3 is silent");
		event(SPINDLE_EVENT_STOPPED, 1, 0, SPINDLE_ERR_MINORITY, NULL);
		event(SPINDLE_EVENT_JOIN_FAILED, 2, 0, 0, "no room");
		lost();
		all &= run(ctl_cmd_monitor, "monitor", "") == 1;
		if (i)
			break;
		for (size_t k = 0; k < CTL_ARRAY_SIZE(want); k++)
			all &= !!strstr(output, want[k]);
		ok(all && strstr(output, "events-lost"), "monitor tells of changes");
	}
	ok(strstr(output, "\"event\":\"suspect\",\"node\":1,\"reason\":\"node 3 is silent\"}\n") &&
	   strstr(output, "\"event\":\"stopped\",\"node\":1,\"error\":\"minority\"}\n") &&
	   strstr(output, "\"event\":\"join-failed\",\"node\":2,\"reason\":\"no room\"}\n"),
	   "also programs");
}

int main(void)
{
	test_join();
	test_lost();
	test_leave();
	test_evict();
	test_exists();
	test_not_yet();
	test_monitor();
	return tap_end();
}
