// SPDX-License-Identifier: GPL-2.0-only
/*
 * fail-nth: each allocation of a set-up path fails once.
 *
 *	fail-nth load FILE	the module, from FILE; it must not be loaded
 *	fail-nth node		node add, and the start of its engine's thread
 *	fail-nth view		view set: alone, several subgroups, rows of several chunks,
 *				in place of another view
 *	fail-nth attach		open and attach, of each kind
 *	fail-nth map		the mappings of an attachment
 *	fail-nth silence	which has no allocation
 *	fail-nth table		attachments to table 6, and predicates of them
 *	fail-nth set		changes while it runs, and measurements of the device
 *	fail-nth dump		requests that show something, with many readers
 *	fail-nth event		events: a listener gets them, or learns of the loss
 *	fail-nth rdmc		groups for large objects: open, create, send, accept
 *	fail-nth lanes		their connections and regions, which work items make
 *	fail-nth connect	connections, which work items make
 *	fail-nth live		live views: set, join, leave, other subgroups, and the work
 *				items that follow; of those of other subgroups one
 *				allocation of seven
 *
 * Needs a kernel with failslab and fail_page_alloc, an RDMA device at 10.0.0.1, and from "node" on
 * the module. "view" and later ones need nodes 1, 2 and 3 at ports 5001 to 5003: "view", "connect"
 * and "live" without views, the others with active subgroups 1 and 2, and "table" with an active
 * table 6.
 *
 * An operation is repeated. The first time its first allocation fails, then its second, and so on,
 * until it has no more. Either the operation is refused with a documented error. Then nothing has
 * changed, and it succeeds when it is repeated. Or the operation succeeds, because not every
 * allocation matters: netlink, KASAN and kmemleak allocate as well. In the end as many mappings and
 * pages are in use as before. kmemleak finds other leaks.
 *
 * The kernel counts by thread, in /proc/PID/fail-nth: our thread, the engine's, the one that makes
 * threads, and those of the work queues.
 */
#include <string.h>

#include "fail-nth.h"
#include "nth.h"
#include "shown.h"
#include "tap.h"

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*fn)(void);
	} tests[] = {
		{ "node", test_node }, { "view", test_view }, { "attach", test_attach },
		{ "map", test_map }, { "silence", test_silence }, { "set", test_set },
		{ "dump", test_dump }, { "event", test_event }, { "connect", test_connect },
		{ "live", test_live }, { "rdmc", test_rdmc }, { "lanes", test_lanes },
		{ "table", test_table },
	};
	const char *what = argc > 1 ? argv[1] : "";
	size_t i;

	prepare();
	if (!strcmp(what, "load") && argc == 3) {
		test_load(argv[2]);
		return tap_bad != 0;
	}
	for (i = 0; i < ARRAY_SIZE(tests); i++) {
		if (strcmp(what, tests[i].name))
			continue;
		open_eye();
		tests[i].fn();
		return tap_bad != 0;
	}
	die("what? see the head of fail-nth.c");
}
