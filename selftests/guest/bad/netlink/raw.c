// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refused: measurements of the device, in subgroup 0 of three senders and in subgroup 5,
 * where node 2 sends to node 1.
 */
#include "refusal.h"

#define SG0 "id=1 subgroup-id=0 "
#define ONE "raw{ size=64 count=1 } "
#define PINGPONG "raw{ kind=1 size=64 count=1 } "

const struct refusal raw_refusals[] = {
	{ RAW, "nothing at all", "", EINVAL, "nothing to measure", SPINDLE_A_RAW },
	{ RAW, "nothing to measure", SG0, EINVAL, "nothing to measure", SPINDLE_A_RAW },
	{ RAW, "no node id", "subgroup-id=0 " ONE, EINVAL, "node id", SPINDLE_A_NODE_ID },
	{ RAW, "no subgroup id", "id=1 " ONE, EINVAL, "subgroup id", SPINDLE_A_SUBGROUP_ID },
	{ RAW, "node 0", "*id=0 subgroup-id=0 " ONE, ERANGE, RANGE, 0 },
	{ RAW, "short node id", "*id/1 subgroup-id=0 " ONE, EINVAL, LENGTH, 0 },
	{ RAW, "long subgroup id", "id=1 *subgroup-id/8 " ONE, EINVAL, LENGTH, 0 },
	{ RAW, "unknown node", "*id=99 subgroup-id=0 " ONE, ENODEV, "no node", 0 },
	{ RAW, "unknown subgroup", "id=1 *subgroup-id=77 " ONE, ENOENT, "no subgroup", 0 },
	{ RAW, "subgroup of others", "id=3 *subgroup-id=5 " ONE, ENOENT, "no subgroup", 0 },
	{ RAW, "node without view", "id=4 *subgroup-id=0 " ONE, ENOENT, "no subgroup", 0 },
	{ RAW, "kind 3", SG0 "raw{ *kind=3 size=64 count=1 } ", ERANGE, RANGE, 0 },
	{ RAW, "kind 255", SG0 "raw{ *kind=255 size=64 count=1 } ", ERANGE, RANGE, 0 },
	{ RAW, "long kind", SG0 "raw{ *kind/4 size=64 count=1 } ", EINVAL, LENGTH, 0 },
	{ RAW, "empty", SG0 "raw{ } ", EINVAL, "size and count", 0 },
	{ RAW, "no size", SG0 "raw{ count=1 } ", EINVAL, "size and count", 0 },
	{ RAW, "no count", SG0 "raw{ size=64 } ", EINVAL, "size and count", 0 },
	{ RAW, "size 0", SG0 "raw{ *size=0 count=1 } ", EINVAL, "1 to 1048576", 0 },
	{ RAW, "size over the ring", SG0 "raw{ *size=65537 count=1 } ", EINVAL,
		"the subgroup's ring", 0 },
	{ RAW, "size 2^20+1", SG0 "raw{ *size=1048577 count=1 } ", EINVAL, "1 to 1048576", 0 },
	{ RAW, "size 2^32-1", SG0 "raw{ *size=4294967295 count=1 } ", EINVAL, "1 to 1048576", 0 },
	{ RAW, "short size", SG0 "raw{ *size/2 count=1 } ", EINVAL, LENGTH, 0 },
	{ RAW, "count 0", SG0 "raw{ size=64 *count=0 } ", EINVAL, "1 to 1000000", 0 },
	{ RAW, "count 1000001", SG0 "raw{ size=64 *count=1000001 } ", EINVAL, "1 to 1000000", 0 },
	{ RAW, "count 2^32-1", SG0 "raw{ size=64 *count=4294967295 } ", EINVAL, "1 to 1000000", 0 },
	{ RAW, "long count", SG0 "raw{ size=64 *count/8 } ", EINVAL, LENGTH, 0 },
	{ RAW, "a result", SG0 "raw{ size=64 count=1 *ns=5 } ", EINVAL, UNSUPP, 0 },
	{ RAW, "raw, unknown attribute", SG0 "raw{ size=64 count=1 *#8=1 } ", EINVAL, UNKNOWN, 0 },
	{ RAW, "raw, stray bytes", SG0 "raw{ size=64 count=1 ~2 } ", EINVAL, STRAY, 0 },
	{ RAW, "raw, cut off", SG0 "raw{ size=64 count^40=1 } ", EINVAL, STRAY, 0 },
	{ RAW, "raw without flag", SG0 "*raw!{ size=64 count=1 } ", EINVAL, NOFLAG, 0 },
	{ RAW, "tuning", SG0 ONE "*tune{ silence=9 } ", EINVAL, UNSUPP, 0 },
	{ RAW, "unknown attribute", SG0 ONE "*#1024=1", EINVAL, UNKNOWN, 0 },
	{ RAW, "no sender", "id=1 subgroup-id=5 " ONE, EPERM, "does not send", 0 },
	{ RAW, "reads of no rows", SG0 "raw{ kind=2 size=64 count=1 } ", EOPNOTSUPP,
		"table of mode read", 0 },
	{ RAW, "ping-pong of no sender", "id=1 subgroup-id=5 " PINGPONG, EPERM,
		"does not send", 0 },
	{ RAW, "ping-pong with no sender", "id=2 subgroup-id=5 " PINGPONG, EOPNOTSUPP,
		"another sender", 0 },
	{ RAW | DUMP, "as a dump", SG0 ONE, EOPNOTSUPP, NULL, 0 },
	{ 0, NULL, NULL, 0, NULL, 0 }
};
