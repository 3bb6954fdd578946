// SPDX-License-Identifier: GPL-2.0-only
/*
 * change: refused changes of the subgroups of a live view. A request has one change that cannot be
 * made, mostly behind others that could be, and none of them is made.
 */
#include "genl-bad.h"
#include "refusal.h"
#include "tap.h"

#define L "id=4 "
#define SMALL "window=4 max-msg=64 ring=4096 "
#define SHARDS2 "rule{ shards=2 } "
#define NEW7 "subgroup{ id=7 " SMALL "} "

/* In the order in which changes are made: subgroups are removed, then replaced, then added. */
static const struct refusal change_refusals[] = {
	/* Subgroups that the view does not have, or that have changed already. */
	{ CHANGE, "unknown subgroup", L "*remove=9", ENOENT, "no such subgroup", 0 },
	{ CHANGE, "the second unknown", L "remove=1 *remove=9", ENOENT, "no such subgroup", 0 },
	{ CHANGE, "the largest number", L "*remove=4294967295", ENOENT, "no such subgroup", 0 },
	{ CHANGE, "removed twice", L "remove=1 *remove=1", EINVAL, "each subgroup once", 0 },
	{ CHANGE, "shards that begin again", L "*subgroup{ id=8 " SMALL "log=1 shard{ id=1 } } ",
		EINVAL, "follows no earlier view", 0 },
	{ CHANGE, "both shards", L "remove=2 *remove=3", EINVAL, "each subgroup once", 0 },
	{ CHANGE, "removed and replaced", L "remove=1 *replace{ id=1 " SMALL "} ", EINVAL,
		"each subgroup once", 0 },
	{ CHANGE, "replaced and removed", L "*replace{ id=1 " SMALL "} remove=1", EINVAL,
		"each subgroup once", 0 },
	{ CHANGE, "replaced twice", L "replace{ id=1 " SMALL "} *replace{ id=1 " SMALL "} ", EINVAL,
		"each subgroup once", 0 },
	{ CHANGE, "replaced by two shards", L "replace{ id=2 " SMALL "} *replace{ id=3 " SMALL "} ",
		EINVAL, "each subgroup once", 0 },
	{ CHANGE, "replaced, unknown", L NEW7 "*replace{ id=9 " SMALL "} ", ENOENT,
		"no such subgroup", 0 },
	{ CHANGE, "replaced by one with logs", L "*replace{ id=1 " SMALL "log=1 } ", EOPNOTSUPP,
		"a subgroup with logs is not replaced", 0 },
	{ CHANGE, "one with logs replaced", L "*replace{ id=4 " SMALL "} ", EOPNOTSUPP,
		"a subgroup with logs is not replaced", 0 },
	{ CHANGE, "one with logs removed", L "remove=1 *remove=4", EOPNOTSUPP,
		"a subgroup with logs is not removed", 0 },
	{ CHANGE, "one with logs added", L "remove=1 *subgroup{ id=7 " SMALL "log=1 } ",
		EOPNOTSUPP, "no other subgroup with logs", 0 },
	{ CHANGE, "added and replaced", L NEW7 "*replace{ id=7 " SMALL "} ", ENOENT,
		"no such subgroup", 0 },
	{ CHANGE, "added and removed", L NEW7 "*remove=7", ENOENT, "no such subgroup", 0 },

	/* Ids and names that are taken. */
	{ CHANGE, "id taken", L "*subgroup{ id=1 " SMALL "} ", EEXIST, "subgroup of this id", 0 },
	{ CHANGE, "id of a shard", L "remove=1 *subgroup{ id=3 " SMALL "} ", EEXIST,
		"subgroup of this id", 0 },
	{ CHANGE, "id of the second shard", L "*subgroup{ id=0 " SMALL SHARDS2 "} ", EEXIST,
		"subgroup of this id", 0 },
	{ CHANGE, "replaced, id of the second shard", L NEW7 "*replace{ id=1 " SMALL SHARDS2 "} ",
		EEXIST, "with the id of a shard", 0 },
	{ CHANGE, "replaced, id of one that goes", L "remove=2 *replace{ id=1 " SMALL SHARDS2 "} ",
		EEXIST, "with the id of a shard", 0 },
	{ CHANGE, "removed and added", L "remove=1 *subgroup{ id=1 " SMALL "} ", EEXIST,
		"subgroup of this id", 0 },
	{ CHANGE, "replaced and added", L "replace{ id=1 " SMALL "} *subgroup{ id=1 " SMALL "} ",
		EEXIST, "subgroup of this id", 0 },
	{ CHANGE, "added twice", L NEW7 "*subgroup{ id=7 " SMALL "} ", EINVAL, "same id", 0 },
	{ CHANGE, "name taken", L "remove=2 *subgroup{ id=7 name=one " SMALL "} ", EINVAL,
		"same name", 0 },
	{ CHANGE, "name given twice", L "subgroup{ id=7 name=x " SMALL "} "
		"*subgroup{ id=8 name=x " SMALL "} ", EINVAL, "same name", 0 },
	{ CHANGE, "name of one that is replaced", L "remove=1 replace{ id=2 name=two " SMALL "} "
		"*subgroup{ id=8 name=two " SMALL "} ", EINVAL, "same name", 0 },

	/* Places. There are two spares, with windows of 16 and rings of 8192. */
	{ CHANGE, "three of two", L "subgroups=7-8 *subgroup{ id=9 " SMALL "} ", ENOSPC,
		"no free spare", 0 },
	{ CHANGE, "the third takes a spare that goes", L "remove=1 remove=2 subgroups=7-8 "
		"*subgroup{ id=9 " SMALL "} ", ENOSPC, "the next request", 0 },
	{ CHANGE, "two replaced, one added", L "replace{ id=1 " SMALL "} replace{ id=2 " SMALL "} "
		"*subgroup{ id=9 " SMALL "} ", ENOSPC, "the next request", 0 },
	{ CHANGE, "two shards of one", L NEW7 "*subgroup{ id=8 " SMALL SHARDS2 "} ", ENOSPC,
		"for each shard, side by side", 0 },
	{ CHANGE, "three shards", L "remove=1 *subgroup{ id=8 " SMALL "rule{ shards=3 } } ", ENOSPC,
		"for each shard, side by side", 0 },
	{ CHANGE, "64 shards", L "*replace{ id=1 " SMALL "rule{ shards=64 } } ", EEXIST,
		"with the id of a shard", 0 },
	{ CHANGE, "62 too many", L "subgroups=7-70", ENOSPC, "no free spare", 0 },
	{ CHANGE, "window too large",
		L "remove=1 *subgroup{ id=9 window=32 max-msg=64 ring=4096 } ", ENOSPC,
		"no free spare", 0 },
	{ CHANGE, "ring too large", L NEW7 "*replace{ id=1 window=4 max-msg=64 ring=16384 } ",
		ENOSPC, "no free spare", 0 },

	/* Subgroups that cannot be. */
	{ CHANGE, "ids beyond 32 bits",
		L "remove=1 *subgroup{ id=4294967295 " SMALL SHARDS2 "} ", EINVAL, "32 bits", 0 },
	{ CHANGE, "too many shards of a table",
		L "*subgroup{ id=8 mode=2 cells=1 rule{ shards=64 } } ", ENOSPC,
		"no free spare for each shard", 0 },
	{ CHANGE, "no sender", L "remove=1 *subgroup{ id=8 " SMALL "rule{ senders=0 } } ", EINVAL,
		"at least one sender", 0 },
	{ CHANGE, "node twice", L NEW7 "*replace{ id=1 " SMALL "node{ id=4 } node{ id=4 } } ",
		EINVAL, "twice", 0 },
	{ CHANGE, "message larger than the ring",
		L "remove=1 " NEW7 "subgroup{ id=8 window=4 *max-msg=4097 ring=4096 } ", EINVAL,
		"max-msg", 0 },
	{ CHANGE, "odd ring", L "remove=1 subgroup{ id=8 window=4 max-msg=64 *ring=5000 } ", EINVAL,
		"ring", 0 },
	{ 0, NULL, NULL, 0, NULL, 0 }
};

void change(void)
{
	static struct state before;
	const struct refusal *c;
	struct nl_ack ack;

	read_state(&before);
	ok(before.len > 0, "the state is not empty before the refusals");
	for (c = change_refusals; c->what; c++)
		try_refusal(c, &before);
	is(request(&nl, CHANGE, L "subgroup{ id=8 name=one " SMALL "} " NEW7 "remove=1 remove=2",
		   &ack, NULL), 0, "subgroup change: four changes at once");
}
