// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refused: live views, joins and leaves, while all nodes with a view have a static one. Node 4 has
 * no view. loop-live-bad.sh tests the refusals of a live view.
 */
#include "refusal.h"

#define LIVE4 "id=4 vid=1 "
#define MEMBER4 "member{ id=4 addr4=10.0.0.1 port=5004 } "
#define ANY "live{ } " INSECURE
#define CONTACT "addr4=10.0.0.1 port=5001 "
#define INSECURE "insecure/0 "
#define ERA1 "lineage/16 era=1 "
#define FIVE "range{ id=1 } range{ id=2 } range{ id=3 } range{ id=4 } range{ id=5 } "
#define SHARDS4 LIVE4 ANY ERA1 MEMBER4 MEMBER1
#define TWO "rule{ shards=2 } "

#define ID4 "id=1 id=2 id=3 id=4 "
#define IDS ID4 ID4 ID4 ID4

const struct refusal live_refusals[] = {
	/* A first view. */
	{ VSET, "live, timeout 0", LIVE4 "live{ *timeout-ms=0 } " MEMBER4, EINVAL,
		"20 to 60000", 0 },
	{ VSET, "live, timeout 19", LIVE4 "live{ *timeout-ms=19 } " MEMBER4, EINVAL,
		"20 to 60000", 0 },
	{ VSET, "live, timeout 60001", LIVE4 "live{ *timeout-ms=60001 } " MEMBER4, EINVAL,
		"20 to 60000", 0 },
	{ VSET, "live, timeout 2^32-1", LIVE4 "live{ *timeout-ms=4294967295 } " MEMBER4, EINVAL,
		"20 to 60000", 0 },
	{ VSET, "live, short timeout", LIVE4 "live{ *timeout-ms/2 } " MEMBER4, EINVAL, LENGTH, 0 },
	{ VSET, "live, no nodes at most", LIVE4 "live{ *max-nodes=0 } " MEMBER4, ERANGE,
		RANGE, 0 },
	{ VSET, "live, 65 nodes at most", LIVE4 "live{ *max-nodes=65 } " MEMBER4, ERANGE,
		RANGE, 0 },
	{ VSET, "live, more than at most", LIVE4 "live{ max-nodes=1 } " MEMBER4 MEMBER1, EINVAL,
		"more members than max-nodes", 0 },
	{ VSET, "live, quorum 2", LIVE4 "live{ *quorum=2 } " MEMBER4, ERANGE, RANGE, 0 },
	{ VSET, "live, long quorum", LIVE4 "live{ *quorum/4 } " MEMBER4, EINVAL, LENGTH, 0 },
	{ VSET, "live, witness 0", LIVE4 "live{ *witness=0 } " MEMBER4, ERANGE, RANGE, 0 },
	{ VSET, "live, short witness", LIVE4 "live{ *witness/2 } " MEMBER4, EINVAL, LENGTH, 0 },
	{ VSET, "live, five witnesses",
		LIVE4 "live{ witness=5 witness=6 witness=7 witness=8 *witness=9 } " MEMBER4, EINVAL,
		"at most 4 witnesses", 0 },
	{ VSET, "live, a witness twice", LIVE4 "live{ witness=5 witness=5 } " MEMBER4, EINVAL,
		"given twice", 0 },
	{ VSET, "live, a witness in a subgroup", LIVE4 "live{ witness=5 } " MEMBER4
		"subgroup{ id=0 node{ id=4 } node{ id=5 } } ", EINVAL, "in no subgroup", 0 },
	{ VSET, "live, a state", LIVE4 "live{ *state=1 } " MEMBER4, EINVAL, UNSUPP, 0 },
	{ VSET, "live, unknown attribute", LIVE4 "live{ *#99=1 } " MEMBER4, EINVAL, UNKNOWN, 0 },
	{ VSET, "live, stray bytes", LIVE4 "live{ quorum=1 ~3 } " MEMBER4, EINVAL, STRAY, 0 },
	{ VSET, "live without flag", LIVE4 "*live!{ } " MEMBER4, EINVAL, NOFLAG, 0 },
	{ VSET, "live, no member", LIVE4 ANY, EINVAL, "1 to 64 members", SPINDLE_A_MEMBER },
	{ VSET, "live, not a member", LIVE4 ANY MEMBER1, EINVAL, "not a member", 0 },
	{ VSET, "live, other own port", LIVE4 ANY "member{ id=4 addr4=10.0.0.1 port=5099 } ",
		EINVAL, "address or port", 0 },
	{ VSET, "live, view id 0", "id=4 *vid=0 " ANY MEMBER4, EINVAL, "view ids start at 1", 0 },
	{ VSET, "live, unknown node", "*id=99 vid=1 " ANY MEMBER4, ENODEV, "node", 0 },
	{ VSET, "live, in a view", "id=1 vid=8 " ANY MEMBERS, EBUSY,
		"static view: remove that first", 0 },
	{ VSET, "live, the same id", "id=1 vid=7 " ANY MEMBERS SUBGROUP0, EBUSY,
		"static view: remove that first", 0 },

	/* Rules. */
	{ VSET, "rule of a static view", NEW MEMBERS "subgroup{ id=0 *rule{ min=1 } } ", EINVAL,
		"only a live view", 0 },
	{ VSET, "empty rule of a static view", NEW MEMBERS "subgroup{ id=0 *rule{ } } ", EINVAL,
		"only a live view", 0 },
	{ VSET, "rule without flag", LIVE4 ANY MEMBER4 "subgroup{ id=0 *rule!{ } } ", EINVAL,
		NOFLAG, 0 },
	{ VSET, "position of two shards", LIVE4 ANY MEMBER4
		"subgroup{ id=0 *lsn=1 rule{ shards=2 } } ", EINVAL, "no position in common", 0 },
	{ VSET, "position of an unordered rule", LIVE4 ANY MEMBER4
		"subgroup{ id=0 mode=1 *lsn=1 } ", EINVAL, "only an ordered subgroup", 0 },
	{ VSET, "log 2", LIVE4 ANY MEMBER4 "subgroup{ id=0 *log=2 } ", ERANGE, RANGE, 0 },
	{ VSET, "long log", LIVE4 ANY MEMBER4 "subgroup{ id=0 *log/4 } ", EINVAL, LENGTH, 0 },
	{ VSET, "log of an unordered rule", LIVE4 ANY MEMBER4
		"subgroup{ id=0 mode=1 *log=1 } ", EINVAL, "only an ordered subgroup", 0 },
	{ VSET, "log of a table", LIVE4 ANY MEMBER4
		"subgroup{ id=0 mode=2 cells=1 *log=1 } ", EINVAL, "a table has no window", 0 },
	{ VSET, "ack without log", LIVE4 ANY MEMBER4 "subgroup{ id=0 *ack=1 } ", EINVAL,
		"only a subgroup with logs", 0 },
	{ VSET, "ack 2", LIVE4 ANY MEMBER4 "subgroup{ id=0 log=1 *ack=2 } ", ERANGE, RANGE, 0 },
	{ VSET, "deliver without log", LIVE4 ANY MEMBER4 "subgroup{ id=0 log=0 *deliver=1 } ",
		EINVAL, "only a subgroup with logs", 0 },
	{ VSET, "deliver 2", LIVE4 ANY MEMBER4 "subgroup{ id=0 log=1 *deliver=2 } ", ERANGE,
		RANGE, 0 },
	{ VSET, "min-copies without log", LIVE4 ANY MEMBER4 "subgroup{ id=0 *min-copies=1 } ",
		EINVAL, "only a subgroup with logs", 0 },
	{ VSET, "min-copies 65", LIVE4 ANY MEMBER4 "subgroup{ id=0 log=1 *min-copies=65 } ",
		ERANGE, RANGE, 0 },
	{ VSET, "durable position", LIVE4 ANY MEMBER4 "subgroup{ id=0 log=1 *durable=1 } ",
		EINVAL, UNSUPP, 0 },
	{ VSET, "range without log", LIVE4 ANY ERA1 MEMBER4 "subgroup{ id=0 *range{ id=1 } } ",
		EINVAL, "only a subgroup with logs", 0 },
	{ VSET, "range without era", LIVE4 ANY MEMBER4 "subgroup{ id=0 log=1 range{ id=1 } } ",
		EINVAL, "a lineage and an era above 0", 0 },
	{ VSET, "range in era 0", LIVE4 ANY "lineage/16 era=0 " MEMBER4
		"subgroup{ id=0 log=1 range{ id=1 } } ", EINVAL,
		"a lineage and an era above 0", 0 },
	{ VSET, "empty range", LIVE4 ANY ERA1 MEMBER4 "subgroup{ id=0 log=1 *range{ } } ", EINVAL,
		"has 1 to 64 members", 0 },
	{ VSET, "range of 2 bytes", LIVE4 ANY ERA1 MEMBER4 "subgroup{ id=0 log=1 *range{ ~2 } } ",
		ERANGE, POLICY, 0 },
	{ VSET, "range of 65 nodes", LIVE4 ANY ERA1 MEMBER4
		"subgroup{ id=0 log=1 *range{ " IDS IDS IDS IDS "id=65 } } ", EINVAL,
		"has 1 to 64 members", 0 },
	{ VSET, "range with node 0", LIVE4 ANY ERA1 MEMBER4
		"subgroup{ id=0 log=1 range{ id=1 id=2 } range{ id=1 *id=0 } } ", ERANGE, RANGE,
		0 },
	{ VSET, "range with a node twice", LIVE4 ANY ERA1 MEMBER4
		"subgroup{ id=0 log=1 *range{ id=1 id=2 id=1 } } ", EINVAL,
		"twice in a view of a range", 0 },
	{ VSET, "range of 16 views", LIVE4 ANY ERA1 MEMBER4
		"subgroup{ id=0 log=1 " FIVE FIVE FIVE "*range{ id=1 } } ", EINVAL, "at most 15 views",
		0 },
	{ VSET, "range of two shards", LIVE4 ANY ERA1 MEMBER4 MEMBER1
		"subgroup{ id=0 log=1 *range{ id=1 } rule{ shards=2 } } ", EINVAL,
		"several shards have no range", 0 },
	{ VSET, "range of no member", LIVE4 ANY ERA1 MEMBER4
		"subgroup{ id=0 log=1 *range{ id=1 } node{ id=5 } } ", EINVAL,
		"a member in the first view", 0 },
	{ VSET, "range of a table", LIVE4 ANY ERA1 MEMBER4
		"subgroup{ id=0 mode=2 cells=1 *range{ id=1 } } ", EINVAL,
		"a table has no window", 0 },
	{ VSET, "range of a static view", NEW MEMBERS "*subgroup{ id=0 log=1 range{ id=1 } } ",
		EINVAL, "only a subgroup of a live view has a log", 0 },
	{ VSET, "shards without log", SHARDS4 "subgroup{ id=0 *shard{ id=4 } } ", EINVAL,
		"only a subgroup with logs", 0 },
	{ VSET, "shards of a table", SHARDS4
		"subgroup{ id=0 mode=2 cells=1 *shard{ id=4 } } ", EINVAL, "a table has no window",
		0 },
	{ VSET, "shards of a static view", NEW MEMBERS "*subgroup{ id=0 log=1 shard{ id=1 } } ",
		EINVAL, "only a subgroup of a live view has a log", 0 },
	{ VSET, "one shard of two", SHARDS4 "subgroup{ id=0 log=1 *shard{ id=4 } " TWO "} ",
		EINVAL, "one SHARD for each of its shards", 0 },
	{ VSET, "three shards of two", SHARDS4
		"subgroup{ id=0 log=1 shard{ id=4 } shard{ id=1 } *shard{ } " TWO "} ", EINVAL,
		"one SHARD for each of its shards", 0 },
	{ VSET, "shards and a range", SHARDS4
		"subgroup{ id=0 log=1 shard{ id=4 } shard{ id=1 } *range{ id=1 } " TWO "} ", EINVAL,
		"has its positions and ranges there", 0 },
	{ VSET, "a shard and a position", SHARDS4
		"subgroup{ id=0 log=1 *lsn=5 shard{ id=4 id=1 } } ", EINVAL,
		"has its positions and ranges there", 0 },
	{ VSET, "shards and a position", SHARDS4
		"subgroup{ id=0 log=1 *lsn=5 shard{ id=4 } shard{ id=1 } " TWO "} ", EINVAL,
		"no position in common", 0 },
	{ VSET, "shard with node 0", SHARDS4
		"subgroup{ id=0 log=1 shard{ id=4 } shard{ *id=0 } " TWO "} ", ERANGE, RANGE, 0 },
	{ VSET, "shard of 2 bytes", SHARDS4
		"subgroup{ id=0 log=1 shard{ id=4 } *shard{ ~2 } " TWO "} ", ERANGE, POLICY, 0 },
	{ VSET, "shard without flag", SHARDS4
		"subgroup{ id=0 log=1 shard{ id=4 } *shard!{ id=1 } " TWO "} ", EINVAL, NOFLAG, 0 },
	{ VSET, "shard with an unknown attribute", SHARDS4
		"subgroup{ id=0 log=1 shard{ id=4 } shard{ id=1 *#9=1 } " TWO "} ", EINVAL,
		UNKNOWN, 0 },
	{ VSET, "shard with a short position", SHARDS4
		"subgroup{ id=0 log=1 shard{ id=4 } shard{ id=1 *lsn/4 } " TWO "} ", EINVAL,
		LENGTH, 0 },
	{ VSET, "shard at 2^62 + 1", SHARDS4
		"subgroup{ id=0 log=1 shard{ id=4 } shard{ id=1 *lsn=4611686018427387905 } " TWO
		"} ", EINVAL, "2^62 at most", 0 },
	{ VSET, "shard of a node that is no member", SHARDS4
		"subgroup{ id=0 log=1 shard{ id=4 } shard{ id=1 *id=2 } " TWO "} ", EINVAL,
		"the nodes of a shard are members", 0 },
	{ VSET, "a node in two shards", SHARDS4
		"subgroup{ id=0 log=1 shard{ id=4 id=1 } shard{ *id=4 } " TWO "} ", EINVAL,
		"in one shard, and there once", 0 },
	{ VSET, "a node twice in a shard", SHARDS4
		"subgroup{ id=0 log=1 shard{ id=4 } shard{ id=1 *id=1 } " TWO "} ", EINVAL,
		"in one shard, and there once", 0 },
	{ VSET, "a node in no shard", SHARDS4
		"*subgroup{ id=0 log=1 shard{ id=4 } shard{ } " TWO "} ", EINVAL,
		"is in one of its shards", 0 },
	{ VSET, "a node in a shard that the rule does not name", SHARDS4
		"*subgroup{ id=0 log=1 shard{ id=4 } shard{ id=1 } node{ id=4 } " TWO "} ", EINVAL,
		"is in one of its shards", 0 },
	{ VSET, "a shard below min", SHARDS4
		"subgroup{ id=0 log=1 shard{ id=4 id=1 } shard{ } " TWO "} ", EINVAL,
		"fewer members than its min", 0 },
	{ VSET, "shard with a range without era", LIVE4 ANY MEMBER4 MEMBER1
		"subgroup{ id=0 log=1 shard{ id=4 } shard{ id=1 range{ id=1 } } " TWO "} ", EINVAL,
		"a lineage and an era above 0", 0 },
	{ VSET, "shard with an empty range", SHARDS4
		"subgroup{ id=0 log=1 shard{ id=4 } shard{ id=1 *range{ } } " TWO "} ", EINVAL,
		"has 1 to 64 members", 0 },
	{ VSET, "shard with a range of 16 views", SHARDS4
		"subgroup{ id=0 log=1 shard{ id=4 } shard{ id=1 " FIVE FIVE FIVE
		"*range{ id=1 } } " TWO "} ", EINVAL, "at most 15 views", 0 },
	{ VSET, "shard with a range of no member", LIVE4 ANY ERA1 MEMBER4
		"subgroup{ id=0 log=1 shard{ id=4 } shard{ *range{ id=1 } } " TWO "} ", EINVAL,
		"a member in the first view", 0 },
	{ VSET, "no shard of a table", LIVE4 ANY MEMBER4
		"subgroup{ id=0 mode=2 cells=1 rule{ *shards=0 } } ", ERANGE, RANGE, 0 },
	{ VSET, "65 shards of a table", LIVE4 ANY MEMBER4
		"subgroup{ id=0 mode=2 cells=1 rule{ *shards=65 } } ", ERANGE, RANGE, 0 },
	{ VSET, "position of a table's shards", LIVE4 ANY MEMBER4
		"subgroup{ id=0 mode=2 cells=1 *lsn=0 rule{ shards=2 } } ", EINVAL,
		"a table has no window", 0 },
	{ VSET, "three shards of a table for two", LIVE4 ANY MEMBER4 MEMBER1
		"subgroup{ id=0 mode=3 cells=1 rule{ shards=3 } } ", EINVAL,
		"fewer members than its min", 0 },
	{ VSET, "senders of a table", LIVE4 ANY MEMBER4
		"subgroup{ id=0 mode=2 cells=1 rule{ *senders=0 } } ", EINVAL, "no senders", 0 },
	{ VSET, "on-exit of a table", LIVE4 ANY MEMBER4
		"subgroup{ id=0 mode=2 cells=1 rule{ *on-exit=0 } } ", EINVAL, "no readers", 0 },
	{ VSET, "a sender of a table", LIVE4 ANY MEMBER4
		"subgroup{ id=0 mode=2 cells=1 node{ id=4 *sender=1 } } ", EINVAL, "senders", 0 },
	{ VSET, "no shards", LIVE4 ANY MEMBER4 "subgroup{ id=0 rule{ *shards=0 } } ", ERANGE,
		RANGE, 0 },
	{ VSET, "65 shards", LIVE4 ANY MEMBER4 "subgroup{ id=0 rule{ *shards=65 } } ", ERANGE,
		RANGE, 0 },
	{ VSET, "65 shards of two rules", LIVE4 ANY MEMBER4
		"subgroup{ id=0 rule{ shards=32 } } subgroup{ id=50 rule{ shards=33 } } ", EINVAL,
		"64 subgroups, shards included", 0 },
	{ VSET, "short shards", LIVE4 ANY MEMBER4 "subgroup{ id=0 rule{ *shards/1 } } ", EINVAL,
		LENGTH, 0 },
	{ VSET, "min 0", LIVE4 ANY MEMBER4 "subgroup{ id=0 rule{ *min=0 } } ", ERANGE, RANGE, 0 },
	{ VSET, "min 65", LIVE4 ANY MEMBER4 "subgroup{ id=0 rule{ *min=65 } } ", ERANGE,
		RANGE, 0 },
	{ VSET, "min 3 of two", LIVE4 ANY MEMBER4 MEMBER1 "subgroup{ id=0 rule{ min=3 } } ", EINVAL,
		"fewer members than its min", 0 },
	{ VSET, "three shards of two", LIVE4 ANY MEMBER4 MEMBER1
		"subgroup{ id=0 rule{ shards=3 } } ",
		EINVAL, "fewer members than its min", 0 },
	{ VSET, "on-exit 2", LIVE4 ANY MEMBER4 "subgroup{ id=0 rule{ *on-exit=2 } } ", ERANGE,
		RANGE, 0 },
	{ VSET, "long on-exit", LIVE4 ANY MEMBER4 "subgroup{ id=0 rule{ *on-exit/4 } } ", EINVAL,
		LENGTH, 0 },
	{ VSET, "senders 2", LIVE4 ANY MEMBER4 "subgroup{ id=0 rule{ *senders=2 } } ", ERANGE,
		RANGE, 0 },
	{ VSET, "no sender", LIVE4 ANY MEMBER4 "subgroup{ id=0 rule{ senders=0 } } ", EINVAL,
		"at least one sender", 0 },
	{ VSET, "all that are named only receive", LIVE4 ANY MEMBER4
		"subgroup{ id=0 node{ id=4 sender=0 } } ", EINVAL, "at least one sender", 0 },
	{ VSET, "the sender is no member", LIVE4 ANY MEMBER4 MEMBER1
		"subgroup{ id=0 node{ id=4 sender=0 } node{ id=9 } } ", EINVAL, "no sender", 0 },
	{ VSET, "no node of the rule is a member", LIVE4 ANY MEMBER4 MEMBER1
		"subgroup{ id=0 node{ id=9 } } ", EINVAL, "no sender", 0 },
	{ VSET, "node twice in a rule", LIVE4 ANY MEMBER4
		"subgroup{ id=0 node{ id=4 } node{ id=4 } } ", EINVAL, "twice", 0 },
	{ VSET, "node 0 in a rule", LIVE4 ANY MEMBER4 "subgroup{ id=0 node{ *id=0 } } ", ERANGE,
		RANGE, 0 },
	{ VSET, "node without id in a rule", LIVE4 ANY MEMBER4 "subgroup{ id=0 *node{ } } ",
		EINVAL, "id of a subgroup's node", 0 },
	{ VSET, "ids beyond the last", LIVE4 ANY MEMBER4
		"subgroup{ id=4294967295 rule{ shards=2 } } ", EINVAL, "32 bits", 0 },
	{ VSET, "ids of shards overlap", LIVE4 ANY MEMBER4
		"subgroup{ id=1 rule{ shards=3 } } subgroup{ id=3 } ", EINVAL, "same id", 0 },
	{ VSET, "live, window 0", LIVE4 ANY MEMBER4 "subgroup{ id=0 *window=0 } ", EINVAL,
		"1 to 65536", 0 },
	{ VSET, "rule, unknown attribute", LIVE4 ANY MEMBER4 "subgroup{ id=0 rule{ *#9=1 } } ",
		EINVAL, UNKNOWN, 0 },
	{ VSET, "rule, stray bytes", LIVE4 ANY MEMBER4 "subgroup{ id=0 rule{ min=1 ~1 } } ", EINVAL,
		STRAY, 0 },

	{ VSET, "live, 65 spares", LIVE4 "live{ *spares=65 } " MEMBER4, ERANGE, RANGE, 0 },
	{ VSET, "live, short spares", LIVE4 "live{ *spares/2 } " MEMBER4, EINVAL, LENGTH, 0 },
	{ VSET, "live, 64 spares and a subgroup", LIVE4 "live{ *spares=64 } " MEMBER4 SUBGROUP0,
		EINVAL, "spares included", 0 },
	{ VSET, "live, spare window 0", LIVE4 "live{ spares=1 *spare-window=0 } " MEMBER4, EINVAL,
		"1 to 65536", 0 },
	{ VSET, "live, spare window 65537", LIVE4 "live{ spares=1 *spare-window=65537 } " MEMBER4,
		EINVAL, "1 to 65536", 0 },
	{ VSET, "live, spare window 2^32-1", LIVE4 "live{ *spare-window=4294967295 } " MEMBER4,
		EINVAL, "1 to 65536", 0 },
	{ VSET, "live, spare ring 4095", LIVE4 "live{ spares=1 spare-ring=4095 } " MEMBER4, EINVAL,
		"spare's ring", 0 },
	{ VSET, "live, odd spare ring", LIVE4 "live{ spares=1 spare-ring=4097 } " MEMBER4, EINVAL,
		"spare's ring", 0 },
	{ VSET, "live, spare ring 2^31", LIVE4 "live{ spares=1 spare-ring=2147483648 } " MEMBER4,
		EINVAL, "spare's ring", 0 },
	{ VSET, "live, free spares", LIVE4 "live{ *spares-free=1 } " MEMBER4, EINVAL, UNSUPP, 0 },

	/* Changes of subgroups. change.c has those of a live view. */
	{ CHANGE, "nothing at all", "", EINVAL, "no subgroup is given", SPINDLE_A_SUBGROUP },
	{ CHANGE, "no change", "id=1", EINVAL, "no subgroup is given", SPINDLE_A_SUBGROUP },
	{ CHANGE, "no node id", "subgroup{ id=9 } ", EINVAL, "node id", SPINDLE_A_NODE_ID },
	{ CHANGE, "remove without node id", "remove=0", EINVAL, "node id", SPINDLE_A_NODE_ID },
	{ CHANGE, "unknown node", "*id=99 subgroup{ id=9 } ", ENODEV, "no node", 0 },
	{ CHANGE, "a static view", "id=1 subgroup{ id=9 } ", ENOENT, "no live view", 0 },
	{ CHANGE, "remove from a static view", "id=1 remove=0", ENOENT, "no live view", 0 },
	{ CHANGE, "no view", "id=4 subgroup{ id=9 } ", ENOENT, "no live view", 0 },
	{ CHANGE, "no id of the subgroup", "id=1 *subgroup{ window=8 } ", EINVAL, "id is missing",
		0 },
	{ CHANGE, "no id of the second", "id=1 subgroup{ id=9 } *subgroup{ } ", EINVAL,
		"id is missing", 0 },
	{ CHANGE, "replace without id", "id=1 *replace{ window=8 } ", EINVAL, "id is missing", 0 },
	{ CHANGE, "window 0", "id=1 subgroup{ id=9 *window=0 } ", EINVAL, "1 to 65536", 0 },
	{ CHANGE, "window 0 of the second", "id=1 subgroup{ id=9 } replace{ id=1 *window=0 } ",
		EINVAL, "1 to 65536", 0 },
	{ CHANGE, "a position", "id=1 *subgroup{ id=9 lsn=5 } ", EINVAL, "position 0", 0 },
	{ CHANGE, "a position to replace", "id=1 *replace{ id=9 lsn=5 } ", EINVAL, "position 0",
		0 },
	{ CHANGE, "a range", "id=1 *subgroup{ id=9 log=1 range{ id=1 } } ", EINVAL,
		"follows no earlier view", 0 },
	{ CHANGE, "a range to replace", "id=1 *replace{ id=9 log=1 range{ id=1 } } ", EINVAL,
		"follows no earlier view", 0 },
	{ CHANGE, "65 subgroups", "id=1 *subgroups=1-65", EINVAL, "at most 64 subgroups", 0 },
	{ CHANGE, "65 with one to replace", "id=1 replace{ id=9 } *subgroups=10-73", EINVAL,
		"at most 64 subgroups", 0 },
	{ CHANGE, "no nest to replace", "id=1 *replace/4", EINVAL, NOFLAG, 0 },
	{ CHANGE, "replace without flag", "id=1 *replace!{ id=9 } ", EINVAL, NOFLAG, 0 },
	{ CHANGE, "replace, a state", "id=1 replace{ id=9 *state=1 } ", EINVAL, UNSUPP, 0 },
	{ CHANGE, "replace, unknown attribute", "id=1 replace{ id=9 *#99=1 } ", EINVAL, UNKNOWN,
		0 },
	{ CHANGE, "replace, stray bytes", "id=1 replace{ id=9 ~3 } ", EINVAL, STRAY, 0 },
	{ CHANGE, "short remove", "id=1 *remove/2", EINVAL, LENGTH, 0 },
	{ CHANGE, "long remove", "id=1 *remove/8", EINVAL, LENGTH, 0 },
	{ CHANGE, "short second remove", "id=1 remove=1 *remove/2", EINVAL, LENGTH, 0 },
	{ CHANGE, "a number of the former request", "id=1 *subgroup-id=0", EINVAL, UNSUPP, 0 },
	{ CHANGE, "a name", "id=1 remove=0 *subgroup-name=zero", EINVAL, UNSUPP, 0 },
	{ CHANGE, "only checked", "id=1 remove=0 *check=1", EINVAL, UNSUPP, 0 },
	{ CHANGE, "another vid", "id=1 subgroup{ id=9 } *vid=7", EINVAL, UNSUPP, 0 },
	{ CHANGE | DUMP, "as a dump", "id=1 subgroup{ id=9 } ", EOPNOTSUPP, NULL, 0 },

	/* Joining. */
	{ JOIN, "nothing at all", "", EINVAL, "missing", 0 },
	{ JOIN, "no node id", CONTACT, EINVAL, "node id", SPINDLE_A_NODE_ID },
	{ JOIN, "no contact", "id=4", EINVAL, "address", 0 },
	{ JOIN, "two contacts", "id=4 addr4=10.0.0.1 *addr6=fd00::1", EINVAL, "IPv4 or IPv6", 0 },
	{ JOIN, "node 0", "*id=0 " CONTACT, ERANGE, RANGE, 0 },
	{ JOIN, "unknown node", "*id=99 " CONTACT, ENODEV, "node", 0 },
	{ JOIN, "port 0", "id=4 addr4=10.0.0.1 *port=0", ERANGE, RANGE, 0 },
	{ JOIN, "short address", "id=4 *addr4/2 port=5001", EINVAL, LENGTH, 0 },
	{ JOIN, "contact is no host", "id=4 *addr4=224.0.0.1 port=5001", EINVAL,
		"address of a host", 0 },
	{ JOIN, "contact is itself", "id=4 *addr4=10.0.0.1 port=5004", EINVAL, "node itself", 0 },
	{ JOIN, "contact of another family", "id=4 *addr6=fd00::1 port=5001", EINVAL,
		"another family", 0 },
	{ JOIN, "in a view", "id=1 addr4=10.0.0.1 port=5002", EBUSY,
		"static view: remove that first", 0 },
	{ JOIN, "with a view", "id=4 " CONTACT "*vid=7", EINVAL, UNSUPP, 0 },
	{ JOIN, "unknown attribute", "id=4 " CONTACT "*#1024=1", EINVAL, UNKNOWN, 0 },
	{ JOIN, "an empty contact", "id=4 *contact{ }", EINVAL, "address is missing", 0 },
	{ JOIN, "two addresses of a contact", "id=4 contact{ addr4=10.0.0.1 *addr6=fd00::1 }",
		EINVAL, "IPv4 or IPv6", 0 },
	{ JOIN, "port 0 of a contact", "id=4 contact{ addr4=10.0.0.1 *port=0 }", ERANGE, RANGE, 0 },
	{ JOIN, "short address of a contact", "id=4 contact{ *addr4/2 }", EINVAL, LENGTH, 0 },
	{ JOIN, "a contact that is no host", "id=4 contact{ *addr4=224.0.0.1 }", EINVAL,
		"address of a host", 0 },
	{ JOIN, "reason of a contact", "id=4 contact{ addr4=10.0.0.1 *reason=x }", EINVAL,
		UNSUPP, 0 },
	{ JOIN, "end of a contact", "id=4 contact{ addr4=10.0.0.1 *final=1 }", EINVAL, UNSUPP, 0 },
	{ JOIN, "contact, unknown attribute", "id=4 contact{ addr4=10.0.0.1 *#9=1 }", EINVAL,
		UNKNOWN, 0 },
	{ JOIN, "contact, stray bytes", "id=4 contact{ addr4=10.0.0.1 ~1 }", EINVAL, STRAY, 0 },
	{ JOIN, "contact in a plain attribute", "id=4 *contact!{ addr4=10.0.0.1 }", EINVAL, NOFLAG,
		0 },
	{ JOIN, "a contact twice", "id=4 contact{ addr4=10.0.0.1 port=5001 } "
		"*contact{ addr4=10.0.0.1 port=5001 }", EINVAL, "twice", 0 },
	{ JOIN, "a contact that is itself", "id=4 contact{ addr4=10.0.0.1 port=5001 } "
		"*contact{ addr4=10.0.0.1 port=5004 }", EINVAL, "node itself", 0 },
	{ JOIN, "a list and an address", "id=4 addr4=10.0.0.1 port=5001 "
		"*contact{ addr4=10.0.0.1 port=5002 }", EINVAL, "or a list", 0 },
	{ JOIN, "short lineage", "id=4 " CONTACT "*lineage/15", ERANGE, "size out of range", 0 },
	{ JOIN, "long lineage", "id=4 " CONTACT "*lineage/17", ERANGE, "size out of range", 0 },
	{ VSET, "contact of a static view", NEW MEMBERS "*contact{ addr4=10.0.0.1 port=5009 }",
		EINVAL, "live view", 0 },
	{ VSET, "lineage of a static view", NEW MEMBERS "*lineage/16", EINVAL, "live view", 0 },
	{ VSET, "era of a static view", NEW MEMBERS "*era=1", EINVAL, "live view", 0 },
	{ VSET, "live, an era without a lineage", LIVE4 ANY MEMBER4 "*era=1", EINVAL,
		"an era needs its lineage", 0 },
	{ JOIN, "an era without a lineage", "id=4 " CONTACT "*era=1", EINVAL,
		"an era needs its lineage", 0 },
	{ JOIN, "a position", "id=4 " CONTACT "*subgroup{ id=0 lsn=1 }", EINVAL, UNSUPP, 0 },
	{ VSET, "live, short lineage", LIVE4 ANY MEMBER4 "*lineage/8", ERANGE,
		"size out of range", 0 },
	{ VSET, "live, an empty contact", LIVE4 ANY MEMBER4 "*contact{ } ", EINVAL,
		"address is missing", 0 },
	{ JOIN | DUMP, "as a dump", "id=4 " CONTACT, EOPNOTSUPP, NULL, 0 },

	/* Without a key. */
	{ VSET, "live, without a key", LIVE4 "live{ } " MEMBER4, ENOKEY,
		"with one (key-file), or say insecure", SPINDLE_A_INSECURE },
	{ VSET, "live, checked, without a key", LIVE4 "check=1 live{ } " MEMBER4, ENOKEY,
		"with one (key-file), or say insecure", SPINDLE_A_INSECURE },
	{ VSET, "live with contacts, without a key", LIVE4 "live{ } " MEMBER4
		"contact{ addr4=10.0.0.1 port=5009 } ", ENOKEY,
		"with one (key-file), or say insecure", SPINDLE_A_INSECURE },
	{ VSET, "live, insecure with a value", LIVE4 "live{ } " MEMBER4 "*insecure/1", ERANGE,
		POLICY, 0 },
	{ VSET, "live, insecure with many bytes", LIVE4 "live{ } " MEMBER4 "*insecure/4096", ERANGE,
		POLICY, 0 },
	{ VSET, "insecure, of a static view", NEW MEMBERS "*insecure/0", EINVAL,
		"for live views only", 0 },
	{ JOIN, "without a key", "id=4 " CONTACT, ENOKEY, "with one (key-file), or say insecure",
		SPINDLE_A_INSECURE },
	{ JOIN, "insecure with a value", "id=4 " CONTACT "*insecure/1", ERANGE, POLICY, 0 },
	{ LEAVE, "insecure", "id=4 *insecure/0", EINVAL, UNSUPP, 0 },
	{ ADD, "insecure", "id=6 addr4=10.0.0.1 port=5006 *insecure/0", EINVAL, UNSUPP, 0 },

	/* Leaving, and evicting others. */
	{ LEAVE, "nothing at all", "", EINVAL, "node id", SPINDLE_A_NODE_ID },
	{ LEAVE, "unknown node", "*id=99", ENODEV, "node", 0 },
	{ LEAVE, "without a view", "id=4", ENOENT, "no live view", 0 },
	{ LEAVE, "a static view", "id=1", ENOENT, "no live view", 0 },
	{ LEAVE, "another", "id=1 *peer-id=2", EINVAL, UNSUPP, 0 },
	{ LEAVE | DUMP, "as a dump", "id=4", EOPNOTSUPP, NULL, 0 },
	{ EVICT, "nothing at all", "", EINVAL, "missing", 0 },
	{ EVICT, "no member", "id=1", EINVAL, "id of the member", SPINDLE_A_PEER_ID },
	{ EVICT, "no node", "peer-id=1", EINVAL, "node id", SPINDLE_A_NODE_ID },
	{ EVICT, "member 0", "id=1 *peer-id=0", ERANGE, RANGE, 0 },
	{ EVICT, "long member", "id=1 *peer-id/8", EINVAL, LENGTH, 0 },
	{ EVICT, "unknown node", "*id=99 peer-id=1", ENODEV, "node", 0 },
	{ EVICT, "itself", "id=1 *peer-id=1", EINVAL, "does not evict itself", 0 },
	{ EVICT, "of a static view", "id=1 *peer-id=2", ENOENT, "no live view", 0 },
	{ EVICT, "without a view", "id=4 *peer-id=1", ENOENT, "no live view", 0 },
	{ EVICT | DUMP, "as a dump", "id=1 peer-id=2", EOPNOTSUPP, NULL, 0 },
	{ STATUS, "not as a dump", "id=1", EOPNOTSUPP, NULL, 0 },
	{ 0, NULL, NULL, 0, NULL, 0 }
};
