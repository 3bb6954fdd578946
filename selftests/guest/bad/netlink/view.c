// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refused: views with errors in the view itself or in its members.
 */
#include "refusal.h"

const struct refusal view_refusals[] = {
	/* Views: as a whole. */
	{ VSET, "nothing at all", "", EINVAL, "missing", 0 },
	{ VSET, "no node id", BASE, EINVAL, "node id", SPINDLE_A_NODE_ID },
	{ VSET, "no view id", "id=1 " MEMBERS SUBGROUP0, EINVAL, "view id", SPINDLE_A_VIEW_ID },
	{ VSET, "no member", NEW SUBGROUP0, EINVAL, "1 to 64 members", SPINDLE_A_MEMBER },
	{ VSET, "node 0", "*id=0 " BASE, ERANGE, RANGE, 0 },
	{ VSET, "unknown node", "*id=99 " BASE, ENODEV, "node", 0 },
	{ VSET, "view id 0", "id=1 *vid=0 " MEMBERS SUBGROUP0, EINVAL, "view ids start at 1", 0 },
	{ VSET, "short view id", "id=1 *vid/4 " MEMBERS SUBGROUP0, EINVAL, LENGTH, 0 },
	{ VSET, "an address", NEW MEMBERS SUBGROUP0 "*addr4=10.0.0.1", EINVAL, UNSUPP, 0 },
	{ VSET, "unknown attribute", NEW MEMBERS SUBGROUP0 "*#1024=1", EINVAL, UNKNOWN, 0 },
	{ VSET, "not a member itself", "*id=1 vid=8 " MEMBER2 SUBGROUP0, EINVAL,
		"not a member", 0 },
	{ VSET, "other own port", NEW "*member{ id=1 addr4=10.0.0.1 port=5099 } " MEMBER2, EINVAL,
		"address or port", 0 },
	{ VSET, "other own address", NEW "*member{ id=1 addr4=10.0.0.2 port=5001 }", EINVAL,
		"address or port", 0 },
	{ VSET, "stale view id", "id=1 *vid=6 " MEMBERS SUBGROUP0 SUBGROUP5, ESTALE,
		"higher id", 0 },
	{ VSET, "same id, fewer members", "id=1 *vid=7 " MEMBER1 MEMBER2
		SUBGROUP0, EEXIST, "another view", 0 },
	{ VSET, "same id, other order", "id=1 *vid=7 " MEMBER1 MEMBER3
		MEMBER2 SUBGROUP0 SUBGROUP5, EEXIST, "another view", 0 },
	{ VSET, "same id, one subgroup less", "id=1 *vid=7 " MEMBERS SUBGROUP0, EEXIST,
		"another view", 0 },
	{ VSET, "same id, other window", "id=1 *vid=7 " MEMBERS
		"subgroup{ id=0 name=zero window=32 max-msg=1024 ring=65536 } " SUBGROUP5,
		EEXIST, "another view", 0 },
	{ VSET, "same id, other name", "id=1 *vid=7 " MEMBERS
		"subgroup{ id=0 name=null window=16 max-msg=1024 ring=65536 } " SUBGROUP5,
		EEXIST, "another view", 0 },
	{ VSET, "same id, other hold", "id=1 *vid=7 " MEMBERS
		"subgroup{ id=0 name=zero hold=0 window=16 max-msg=1024 ring=65536 } "
		SUBGROUP5, EEXIST, "another view", 0 },

	/* Members. */
	{ VSET, "empty member", NEW MEMBERS "*member{ } ", EINVAL, "member's id", 0 },
	{ VSET, "member of nothing", NEW MEMBERS "*member!{ } ", EINVAL, NOFLAG, 0 },
	{ VSET, "member without flag", NEW "*member!{ id=1 addr4=10.0.0.1 port=5001 } ", EINVAL,
		NOFLAG, 0 },
	{ VSET, "member without id", NEW "*member{ addr4=10.0.0.1 port=5001 } ", EINVAL,
		"member's id", 0 },
	{ VSET, "member without address", NEW "*member{ id=1 } ", EINVAL, "address", 0 },
	{ VSET, "member, two addresses", NEW "member{ id=1 addr4=10.0.0.1 *addr6=fd00::1 } ",
		EINVAL, "IPv4 or IPv6", 0 },
	{ VSET, "member 0", NEW "member{ *id=0 addr4=10.0.0.1 } ", ERANGE, RANGE, 0 },
	{ VSET, "member, long id", NEW "member{ *id/8 addr4=10.0.0.1 } ", EINVAL, LENGTH, 0 },
	{ VSET, "member, port 0", NEW "member{ id=1 addr4=10.0.0.1 *port=0 } ", ERANGE, RANGE, 0 },
	{ VSET, "member, short port", NEW "member{ id=1 addr4=10.0.0.1 *port/1 } ", EINVAL,
		LENGTH, 0 },
	{ VSET, "member, short IPv4", NEW "member{ id=1 *addr4/2 } ", EINVAL, LENGTH, 0 },
	{ VSET, "member, long IPv6", NEW "member{ id=1 *addr6/20 } ", ERANGE, "range", 0 },
	{ VSET, "member 224.0.0.1", NEW "member{ id=1 *addr4=224.0.0.1 } ", EINVAL,
		"address of a host", 0 },
	{ VSET, "member, unknown attribute", NEW "member{ id=1 addr4=10.0.0.1 *#5=0 } ", EINVAL,
		UNKNOWN, 0 },
	{ VSET, "member of 2 bytes", NEW "*member{ ~2 } ", ERANGE, POLICY, 0 },
	{ VSET, "member, stray bytes", NEW "member{ id=1 addr4=10.0.0.1 ~3 } ", EINVAL, STRAY, 0 },
	{ VSET, "member, cut off", NEW "member{ id=1 addr4^40=10.0.0.1 } ", EINVAL, STRAY, 0 },
	{ VSET, "member, header too short", NEW "member{ id=1 addr4^3=10.0.0.1 } ", EINVAL,
		STRAY, 0 },
	{ VSET, "member beyond the message", NEW "member^400{ id=1 addr4=10.0.0.1 } ", EINVAL,
		STRAY, 0 },
	{ VSET, "member twice", NEW MEMBERS "*member{ id=2 addr4=10.0.0.1 port=5005 } ", EINVAL,
		"same id", 0 },
	{ VSET, "address twice", NEW MEMBERS "*member{ id=9 addr4=10.0.0.1 port=5002 } ", EINVAL,
		"same address and port", 0 },
	{ VSET, "member of another family", NEW MEMBERS "*member{ id=9 addr6=fd00::1 } ", EINVAL,
		"all have IPv6", 0 },
	{ VSET, "65 members", NEW "*members=1-65", EINVAL, "64 members", 0 },
	{ 0, NULL, NULL, 0, NULL, 0 }
};
