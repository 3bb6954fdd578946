// SPDX-License-Identifier: GPL-2.0-only
/*
 * genl-bad: requests that the netlink family has to refuse.
 *
 *	genl-bad refuse		each request of node.c, view.c, subgroup.c, tune.c, raw.c, live.c
 *				and rdmc.c
 *	genl-bad change		changes of the subgroups of a live view
 *	genl-bad rights		requests of a process without CAP_NET_ADMIN
 *	genl-bad dump		dumps in pieces, and while nodes come and go
 *	genl-bad set		what may be set while it runs, and when it may not
 *	genl-bad shows		what a dump shows of readers and members, if it is a lot
 *	genl-bad rdmc		a dump of many RDMC groups, and requests for it
 *	genl-bad last-id	the largest node id
 *	genl-bad largest-view	64 members and 64 subgroups
 *	genl-bad most-nodes	as many nodes as a network namespace may have
 *	genl-bad memory		a view that the machine does not have the memory for
 *
 * Needs nodes 1, 2, 3 and 4 at 10.0.0.1, ports 5001 to 5004, the first three with the
 * view BASE of words.h, all of it active, and an address 10.9.0.1 without an RDMA device;
 * "memory" needs no more than node 4, "most-nodes" no node at all, and "rdmc" RDMC groups, more
 * than a message holds, that do nothing. "change" needs node 4 alone in a live view, with subgroup
 * 1 "one", subgroups 2 and 3 of one rule, subgroup 4 with logs, and two spares of window 16 and
 * ring 8192.
 *
 * A refusal has the errno that <linux/spindle_genl.h> says, a text that names what is
 * wrong, the offset of the attribute that is, and no effect: the same dump of nodes,
 * views and tuning after it as before, and no event.
 */
#include <stdio.h>
#include <string.h>

#include "genl-bad.h"
#include "tap.h"

struct nl nl, events;

int main(int argc, char **argv)
{
	static const struct tap_case parts[] = {
		{ "refuse", refuse }, { "change", change }, { "rights", rights },
		{ "dump", pieces },
		{ "set", set }, { "shows", shows }, { "rdmc", rdmc },
		{ "last-id", last_id }, { "largest-view", largest_view },
		{ "most-nodes", most_nodes }, { "memory", memory },
	};

	if (nl_open(&nl) || nl_open(&events) || nl_listen(&events))
		die("the family cannot be opened");
	return tap_part("genl-bad", parts, ARRAY_SIZE(parts), argc, argv);
}
