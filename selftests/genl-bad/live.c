// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refused: live views, and coming and going, while all that have a view have a static one.
 * Node 4 has none. What a live view refuses is in loop-live-bad.sh.
 */
#include "refusal.h"

#define LIVE4 "id=4 vid=1 "
#define MEMBER4 "member{ id=4 addr4=10.0.0.1 port=5004 } "
#define ANY "live{ } "
#define CONTACT "addr4=10.0.0.1 port=5001 "

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
	{ VSET, "live, in a view", "id=1 vid=8 " ANY MEMBERS, EBUSY, "static view: remove that first", 0 },
	{ VSET, "live, the same id", "id=1 vid=7 " ANY MEMBERS SUBGROUP0, EBUSY,
		"static view: remove that first", 0 },

	/* Rules. */
	{ VSET, "rule of a static view", NEW MEMBERS "subgroup{ id=0 *rule{ min=1 } } ", EINVAL,
		"only a live view", 0 },
	{ VSET, "empty rule of a static view", NEW MEMBERS "subgroup{ id=0 *rule{ } } ", EINVAL,
		"only a live view", 0 },
	{ VSET, "rule without flag", LIVE4 ANY MEMBER4 "subgroup{ id=0 *rule!{ } } ", EINVAL,
		NOFLAG, 0 },
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
	{ VSET, "min 2 of one", LIVE4 ANY MEMBER4 "subgroup{ id=0 rule{ min=2 } } ", EINVAL,
		"fewer members than its min", 0 },
	{ VSET, "two shards of one", LIVE4 ANY MEMBER4 "subgroup{ id=0 rule{ shards=2 } } ",
		EINVAL, "fewer members than its min", 0 },
	{ VSET, "on-exit 2", LIVE4 ANY MEMBER4 "subgroup{ id=0 rule{ *on-exit=2 } } ", ERANGE,
		RANGE, 0 },
	{ VSET, "long on-exit", LIVE4 ANY MEMBER4 "subgroup{ id=0 rule{ *on-exit/4 } } ", EINVAL,
		LENGTH, 0 },
	{ VSET, "senders 2", LIVE4 ANY MEMBER4 "subgroup{ id=0 rule{ *senders=2 } } ", ERANGE,
		RANGE, 0 },
	{ VSET, "nobody sends", LIVE4 ANY MEMBER4 "subgroup{ id=0 rule{ senders=0 } } ", EINVAL,
		"at least one sender", 0 },
	{ VSET, "all that are named only receive", LIVE4 ANY MEMBER4
		"subgroup{ id=0 node{ id=4 sender=0 } } ", EINVAL, "at least one sender", 0 },
	{ VSET, "who sends is not there", LIVE4 ANY MEMBER4
		"subgroup{ id=0 node{ id=4 sender=0 } node{ id=9 } } ", EINVAL, "no sender", 0 },
	{ VSET, "nobody is there", LIVE4 ANY MEMBER4 "subgroup{ id=0 node{ id=9 } } ", EINVAL,
		"no sender", 0 },
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
	{ JOIN, "in a view", "id=1 addr4=10.0.0.1 port=5002", EBUSY, "static view: remove that first", 0 },
	{ JOIN, "with a view", "id=4 " CONTACT "*vid=7", EINVAL, UNSUPP, 0 },
	{ JOIN, "unknown attribute", "id=4 " CONTACT "*#1024=1", EINVAL, UNKNOWN, 0 },
	{ JOIN | DUMP, "as a dump", "id=4 " CONTACT, EOPNOTSUPP, NULL, 0 },

	/* Leaving, and having others leave. */
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
