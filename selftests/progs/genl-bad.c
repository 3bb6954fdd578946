// SPDX-License-Identifier: GPL-2.0-only
/*
 * genl-bad: requests that the netlink family has to refuse.
 *
 *	genl-bad refuse		each request of the table below
 *	genl-bad rights		requests of a process without CAP_NET_ADMIN
 *	genl-bad dump		dumps in pieces, and while nodes come and go
 *	genl-bad last-id	the largest node id
 *	genl-bad largest-view	64 members and 64 subgroups
 *	genl-bad memory		a view that the machine does not have the memory for
 *
 * Needs nodes 1, 2, 3 and 4 at 10.0.0.1, ports 5001 to 5004, the first three with the
 * view BASE below, all of it active, and an address 10.9.0.1 without an RDMA device;
 * "memory" needs no more than node 4.
 *
 * A refusal has the errno that <linux/spindle_genl.h> says, a text that names what is
 * wrong, the offset of the attribute that is, and no effect: the same dump of nodes and
 * views after it as before, and no event.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <sys/wait.h>

#include "nl.h"
#include "tap.h"

/*
 * Requests in words, separated by blanks:
 *	NAME=VALUE	an attribute of its usual type
 *	NAME/N		the attribute with N bytes of 0x01 in it
 *	NAME^N=VALUE	the attribute, whose header says that it has N bytes
 *	#T=N		attribute number T, a u32
 *	NAME{ ... }	a nest; NAME!{ without NLA_F_NESTED
 *	~N		N stray bytes
 *	members=A-B	members A to B at 10.0.0.1, port 5000 + id
 *	subgroups=A-B	subgroups A to B, small
 * A * before a word marks the attribute that is to be blamed.
 */
#define MEMBER1 "member{ id=1 addr4=10.0.0.1 port=5001 } "
#define MEMBER2 "member{ id=2 addr4=10.0.0.1 port=5002 } "
#define MEMBER3 "member{ id=3 addr4=10.0.0.1 port=5003 } "
#define MEMBERS "members=1-3 "
#define SUBGROUP0 "subgroup{ id=0 name=zero window=16 max-msg=1024 ring=65536 } "
#define SUBGROUP5 "subgroup{ id=5 mode=1 window=8 max-msg=512 ring=4096 " \
		  "node{ id=1 sender=0 } node{ id=2 sender=1 } } "
#define ORDER0 "subgroup{ id=0 name=zero hold=1 mode=0 window=15 max-msg=1024 ring=65536 " \
	       "node{ id=3 } node{ id=2 sender=1 } node{ id=1 } } "
#define GIB4 "subgroup{ id=0 ring=1073741824 } subgroup{ id=1 ring=1073741824 } " \
	     "subgroup{ id=2 ring=1073741824 } subgroup{ id=3 ring=1073741824 } "
#define LAST "id=4294967295 vid=1 member{ id=4294967295 addr4=10.0.0.1 port=6500 } " \
	     "subgroup{ id=4294967295 window=1 max-msg=64 ring=4096 } "
#define BASE "vid=7 " MEMBERS SUBGROUP0 SUBGROUP5
#define NEW "id=1 vid=8 "
#define HERE "addr4=10.0.0.1 port=5999 "

enum type { U8, U16, U32, U64, STR, IP4, IP6, NEST };

struct word {
	const char *name;
	int attr;
	enum type type;
	const struct word *in;		/* words of a nest */
};

static const struct word node_words[] = {
	{ "id", SPINDLE_SUBGROUP_NODE_A_ID, U32, NULL },
	{ "sender", SPINDLE_SUBGROUP_NODE_A_SENDER, U8, NULL },
	{ NULL, 0, 0, NULL }
};

static const struct word subgroup_words[] = {
	{ "id", SPINDLE_SUBGROUP_A_ID, U32, NULL },
	{ "name", SPINDLE_SUBGROUP_A_NAME, STR, NULL },
	{ "mode", SPINDLE_SUBGROUP_A_MODE, U8, NULL },
	{ "window", SPINDLE_SUBGROUP_A_WINDOW, U32, NULL },
	{ "max-msg", SPINDLE_SUBGROUP_A_MAX_MSG, U32, NULL },
	{ "ring", SPINDLE_SUBGROUP_A_RING, U32, NULL },
	{ "hold", SPINDLE_SUBGROUP_A_HOLD, U8, NULL },
	{ "node", SPINDLE_SUBGROUP_A_NODE, NEST, node_words },
	{ "state", SPINDLE_SUBGROUP_A_STATE, U8, NULL },
	{ "readers", SPINDLE_SUBGROUP_A_READERS, U32, NULL },
	{ NULL, 0, 0, NULL }
};

static const struct word member_words[] = {
	{ "id", SPINDLE_MEMBER_A_ID, U32, NULL },
	{ "addr4", SPINDLE_MEMBER_A_ADDR4, IP4, NULL },
	{ "addr6", SPINDLE_MEMBER_A_ADDR6, IP6, NULL },
	{ "port", SPINDLE_MEMBER_A_PORT, U16, NULL },
	{ NULL, 0, 0, NULL }
};

static const struct word top_words[] = {
	{ "id", SPINDLE_A_NODE_ID, U32, NULL },
	{ "cluster", SPINDLE_A_CLUSTER, STR, NULL },
	{ "addr4", SPINDLE_A_ADDR4, IP4, NULL },
	{ "addr6", SPINDLE_A_ADDR6, IP6, NULL },
	{ "port", SPINDLE_A_PORT, U16, NULL },
	{ "visibility", SPINDLE_A_VISIBILITY, U8, NULL },
	{ "idle-us", SPINDLE_A_IDLE_US, U32, NULL },
	{ "engine", SPINDLE_A_ENGINE, U32, NULL },
	{ "cpu", SPINDLE_A_CPU, U32, NULL },
	{ "device", SPINDLE_A_DEVICE, STR, NULL },
	{ "node-state", SPINDLE_A_NODE_STATE, U8, NULL },
	{ "vid", SPINDLE_A_VIEW_ID, U64, NULL },
	{ "member", SPINDLE_A_MEMBER, NEST, member_words },
	{ "subgroup", SPINDLE_A_SUBGROUP, NEST, subgroup_words },
	{ "subgroup-id", SPINDLE_A_SUBGROUP_ID, U32, NULL },
	{ "reason", SPINDLE_A_REASON, STR, NULL },
	{ NULL, 0, 0, NULL }
};

/* Texts of the kernel's own checks. */
#define RANGE	"integer out of range"
#define LENGTH	"invalid attribute length"
#define POLICY	"failed policy validation"
#define UNKNOWN	"Unknown attribute type"
#define UNSUPP	"Unsupported attribute"
#define NOFLAG	"NLA_F_NESTED is missing"
#define STRAY	"leftover"

struct refusal {
	int cmd;
	const char *what;
	const char *words;
	int err;
	const char *text;	/* NULL: generic netlink refuses it, without a text */
	int miss;		/* top-level attribute that is reported as missing */
};

#define ADD	SPINDLE_CMD_NODE_ADD
#define DEL	SPINDLE_CMD_NODE_DEL
#define GET	SPINDLE_CMD_NODE_GET
#define VSET	SPINDLE_CMD_VIEW_SET
#define VDEL	SPINDLE_CMD_VIEW_DEL
#define VGET	SPINDLE_CMD_VIEW_GET
#define SGET	SPINDLE_CMD_SUBGROUP_GET
#define STATS	SPINDLE_CMD_STATS_GET
#define DUMP	0x100

static const struct refusal refusals[] = {
	{ ADD, "no id", HERE, EINVAL, "node id", SPINDLE_A_NODE_ID },
	{ ADD, "nothing at all", "", EINVAL, "node id", SPINDLE_A_NODE_ID },
	{ ADD, "no address", "id=9", EINVAL, "address", 0 },
	{ ADD, "two addresses", "id=9 addr4=10.0.0.1 *addr6=fd00::1", EINVAL, "IPv4 or IPv6", 0 },
	{ ADD, "id 0", "*id=0 " HERE, ERANGE, RANGE, 0 },
	{ ADD, "short id", "*id/3 " HERE, EINVAL, LENGTH, 0 },
	{ ADD, "long id", "*id/8 " HERE, EINVAL, LENGTH, 0 },
	{ ADD, "id taken", "*id=1 " HERE, EEXIST, "id exists", 0 },
	{ ADD, "short IPv4", "id=9 *addr4/3", EINVAL, LENGTH, 0 },
	{ ADD, "long IPv4", "id=9 *addr4/5", EINVAL, LENGTH, 0 },
	{ ADD, "short IPv6", "id=9 *addr6/15", ERANGE, "range", 0 },
	{ ADD, "long IPv6", "id=9 *addr6/17", ERANGE, "range", 0 },
	{ ADD, "empty IPv4", "id=9 *addr4/0", EINVAL, LENGTH, 0 },
	{ ADD, "address 0.0.0.0", "id=9 *addr4=0.0.0.0", EINVAL, "address of a host", 0 },
	{ ADD, "multicast", "id=9 *addr4=224.0.0.1", EINVAL, "address of a host", 0 },
	{ ADD, "broadcast", "id=9 *addr4=255.255.255.255", EINVAL, "address of a host", 0 },
	{ ADD, "address ::", "id=9 *addr6=::", EINVAL, "address of a host", 0 },
	{ ADD, "IPv6 multicast", "id=9 *addr6=ff02::1", EINVAL, "address of a host", 0 },
	{ ADD, "IPv4 in IPv6", "id=9 *addr6=::ffff:10.0.0.1", EINVAL, "address of a host", 0 },
	{ ADD, "foreign IPv4", "id=9 *addr4=10.0.0.77", EADDRNOTAVAIL, "address", 0 },
	{ ADD, "foreign IPv6", "id=9 *addr6=fd00::77", EADDRNOTAVAIL, "address", 0 },
	{ ADD, "no RDMA there", "id=9 *addr4=10.9.0.1", ENODEV, "RDMA device", 0 },
	{ ADD, "address in use", "id=9 *addr4=10.0.0.1 port=5001", EADDRINUSE, "in use", 0 },
	{ ADD, "port 0", "id=9 addr4=10.0.0.1 *port=0", ERANGE, RANGE, 0 },
	{ ADD, "short port", "id=9 addr4=10.0.0.1 *port/1", EINVAL, LENGTH, 0 },
	{ ADD, "long port", "id=9 addr4=10.0.0.1 *port/4", EINVAL, LENGTH, 0 },
	{ ADD, "empty cluster", "id=9 *cluster= " HERE, EINVAL, "1 to 23", 0 },
	{ ADD, "cluster of 24", "id=9 *cluster=abcdefghijklmnopqrstuvwx " HERE, EINVAL, POLICY, 0 },
	{ ADD, "cluster without an end", "id=9 *cluster/4 " HERE, EINVAL, POLICY, 0 },
	{ ADD, "cluster of nothing", "id=9 *cluster/0 " HERE, EINVAL, POLICY, 0 },
	{ ADD, "visibility 3", "id=9 *visibility=3 " HERE, ERANGE, RANGE, 0 },
	{ ADD, "long visibility", "id=9 *visibility/4 " HERE, EINVAL, LENGTH, 0 },
	{ ADD, "idle-us 1000001", "id=9 *idle-us=1000001 " HERE, EINVAL, "1000000", 0 },
	{ ADD, "short idle-us", "id=9 *idle-us/2 " HERE, EINVAL, LENGTH, 0 },
	{ ADD, "engine 1024", "id=9 *engine=1024 " HERE, ERANGE, RANGE, 0 },
	{ ADD, "long engine", "id=9 *engine/8 " HERE, EINVAL, LENGTH, 0 },
	{ ADD, "cpu 99999", "id=9 *cpu=99999 " HERE, EINVAL, "CPU", 0 },
	{ ADD, "short cpu", "id=9 *cpu/1 " HERE, EINVAL, LENGTH, 0 },
	{ ADD, "other cpu", "id=9 *cpu=0 " HERE, EINVAL, "engine", 0 },
	{ ADD, "a device", "id=9 *device=rxe0 " HERE, EINVAL, UNSUPP, 0 },
	{ ADD, "a state", "id=9 *node-state=1 " HERE, EINVAL, UNSUPP, 0 },
	{ ADD, "a view id", "id=9 *vid=1 " HERE, EINVAL, UNSUPP, 0 },
	{ ADD, "unknown attribute", "id=9 *#24=1 " HERE, EINVAL, UNKNOWN, 0 },
	{ ADD, "attribute 16383", "id=9 *#16383=1 " HERE, EINVAL, UNKNOWN, 0 },
	{ ADD, "stray bytes", "id=9 " HERE "~4", EINVAL, STRAY, 0 },
	{ ADD, "cut off", "id=9 addr4=10.0.0.1 port^16=5999", EINVAL, STRAY, 0 },

	{ DEL, "no id", "", EINVAL, "node id", SPINDLE_A_NODE_ID },
	{ DEL, "id 0", "*id=0", ERANGE, RANGE, 0 },
	{ DEL, "short id", "*id/2", EINVAL, LENGTH, 0 },
	{ DEL, "unknown node", "*id=99", ENODEV, "node", 0 },
	{ DEL, "node 4294967295", "*id=4294967295", ENODEV, "node", 0 },
	{ DEL, "an address", "id=4 *addr4=10.0.0.1", EINVAL, UNSUPP, 0 },

	{ GET, "no id", "", EINVAL, "node id", SPINDLE_A_NODE_ID },
	{ GET, "id 0", "*id=0", ERANGE, RANGE, 0 },
	{ GET, "unknown node", "*id=99", ENODEV, "node", 0 },
	{ GET, "a view id", "id=1 *vid=7", EINVAL, UNSUPP, 0 },
	{ GET | DUMP, "dump of node 0", "*id=0", ERANGE, RANGE, 0 },
	{ GET | DUMP, "dump, unknown attribute", "*#77=0", EINVAL, UNKNOWN, 0 },

	{ VGET, "no id", "", EINVAL, "node id", SPINDLE_A_NODE_ID },
	{ VGET, "id 0", "*id=0", ERANGE, RANGE, 0 },
	{ VGET, "unknown node", "*id=99", ENODEV, "node", 0 },
	{ VGET, "node without view", "*id=4", ENOENT, "view", 0 },
	{ VGET | DUMP, "dump, long id", "*id/8", EINVAL, LENGTH, 0 },

	{ VDEL, "no id", "", EINVAL, "node id", SPINDLE_A_NODE_ID },
	{ VDEL, "id 0", "*id=0", ERANGE, RANGE, 0 },
	{ VDEL, "unknown node", "*id=99", ENODEV, "node", 0 },
	{ VDEL, "node without view", "*id=4", ENOENT, "view", 0 },
	{ VDEL, "a view id", "id=1 *vid=7", EINVAL, UNSUPP, 0 },

	{ SGET, "one subgroup", "id=1", EOPNOTSUPP, NULL, 0 },
	{ SGET | DUMP, "dump of node 0", "*id=0", ERANGE, RANGE, 0 },
	{ SGET | DUMP, "dump, short subgroup", "*subgroup-id/2", EINVAL, LENGTH, 0 },
	{ STATS, "one node", "id=1", EOPNOTSUPP, NULL, 0 },
	{ STATS | DUMP, "dump by subgroup", "*subgroup-id=1", EINVAL, UNSUPP, 0 },
	{ SPINDLE_CMD_EVENT, "an event", "id=1", EOPNOTSUPP, NULL, 0 },
	{ SPINDLE_CMD_UNSPEC, "command 0", "id=1", EOPNOTSUPP, NULL, 0 },
	{ SPINDLE_CMD_MAX + 1, "a command to come", "id=1", EOPNOTSUPP, NULL, 0 },

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
	{ VSET, "unknown attribute", NEW MEMBERS SUBGROUP0 "*#30=1", EINVAL, UNKNOWN, 0 },
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

	/* Subgroups. */
	{ VSET, "subgroup without id", NEW MEMBERS "*subgroup{ window=16 } ", EINVAL,
		"subgroup's id", 0 },
	{ VSET, "empty subgroup", NEW MEMBERS "*subgroup{ } ", EINVAL, "subgroup's id", 0 },
	{ VSET, "subgroup without flag", NEW MEMBERS "*subgroup!{ id=0 } ", EINVAL, NOFLAG, 0 },
	{ VSET, "subgroup, short id", NEW MEMBERS "subgroup{ *id/1 } ", EINVAL, LENGTH, 0 },
	{ VSET, "subgroup twice", NEW MEMBERS SUBGROUP0 "*" SUBGROUP0, EINVAL, "same id", 0 },
	{ VSET, "65 subgroups", NEW MEMBERS "*subgroups=1-65", EINVAL, "64 subgroups", 0 },
	{ VSET, "name of 32", NEW MEMBERS
		"subgroup{ id=0 *name=abcdefghijklmnopqrstuvwxyz012345 } ", EINVAL, POLICY, 0 },
	{ VSET, "name without an end", NEW MEMBERS "subgroup{ id=0 *name/5 } ", EINVAL,
		POLICY, 0 },
	{ VSET, "mode 2", NEW MEMBERS "subgroup{ id=0 *mode=2 } ", ERANGE, RANGE, 0 },
	{ VSET, "long mode", NEW MEMBERS "subgroup{ id=0 *mode/4 } ", EINVAL, LENGTH, 0 },
	{ VSET, "window 0", NEW MEMBERS "subgroup{ id=0 *window=0 } ", EINVAL, "1 to 65536", 0 },
	{ VSET, "window 65537", NEW MEMBERS "subgroup{ id=0 *window=65537 } ", EINVAL,
		"1 to 65536", 0 },
	{ VSET, "window 2^32-1", NEW MEMBERS "subgroup{ id=0 *window=4294967295 } ", EINVAL,
		"1 to 65536", 0 },
	{ VSET, "short window", NEW MEMBERS "subgroup{ id=0 *window/2 } ", EINVAL, LENGTH, 0 },
	{ VSET, "max-msg 0", NEW MEMBERS "subgroup{ id=0 *max-msg=0 } ", EINVAL,
		"1 to 1048576", 0 },
	{ VSET, "max-msg 2^20+1", NEW MEMBERS "subgroup{ id=0 *max-msg=1048577 } ", EINVAL,
		"1 to 1048576", 0 },
	{ VSET, "max-msg over the ring", NEW MEMBERS "subgroup{ id=0 *max-msg=4097 ring=4096 } ",
		EINVAL, "at most the ring", 0 },
	{ VSET, "default max-msg over the ring", NEW MEMBERS "subgroup{ id=0 *ring=4096 } ",
		EINVAL, "ring", 0 },
	{ VSET, "ring 0", NEW MEMBERS "subgroup{ id=0 *ring=0 } ", EINVAL, "4096 to 2^30", 0 },
	{ VSET, "ring 2048", NEW MEMBERS "subgroup{ id=0 max-msg=64 *ring=2048 } ", EINVAL,
		"4096 to 2^30", 0 },
	{ VSET, "ring 65537", NEW MEMBERS "subgroup{ id=0 *ring=65537 } ", EINVAL,
		"power of two", 0 },
	{ VSET, "ring 2^31", NEW MEMBERS "subgroup{ id=0 *ring=2147483648 } ", EINVAL,
		"4096 to 2^30", 0 },
	{ VSET, "hold 2", NEW MEMBERS "subgroup{ id=0 *hold=2 } ", ERANGE, RANGE, 0 },
	{ VSET, "a state", NEW MEMBERS "subgroup{ id=0 *state=1 } ", EINVAL, UNSUPP, 0 },
	{ VSET, "readers", NEW MEMBERS "subgroup{ id=0 *readers=1 } ", EINVAL, UNSUPP, 0 },
	{ VSET, "subgroup, unknown attribute", NEW MEMBERS "subgroup{ id=0 *#15=1 } ", EINVAL,
		UNKNOWN, 0 },
	{ VSET, "subgroup, stray bytes", NEW MEMBERS "subgroup{ id=0 ~5 } ", EINVAL, STRAY, 0 },
	{ VSET, "foreign node", NEW MEMBERS "subgroup{ id=0 node{ *id=9 } } ", EINVAL,
		"members of the view", 0 },
	{ VSET, "node twice", NEW MEMBERS "subgroup{ id=0 node{ id=1 } node{ *id=1 } } ", EINVAL,
		"twice", 0 },
	{ VSET, "node 0 of a subgroup", NEW MEMBERS "subgroup{ id=0 node{ *id=0 } } ", ERANGE,
		RANGE, 0 },
	{ VSET, "node without id", NEW MEMBERS "subgroup{ id=0 *node{ sender=1 } } ", EINVAL,
		"id of a subgroup's node", 0 },
	{ VSET, "sender 2", NEW MEMBERS "subgroup{ id=0 node{ id=1 *sender=2 } } ", ERANGE,
		RANGE, 0 },
	{ VSET, "long sender", NEW MEMBERS "subgroup{ id=0 node{ id=1 *sender/4 } } ", EINVAL,
		LENGTH, 0 },
	{ VSET, "no sender", NEW MEMBERS
		"*subgroup{ id=0 node{ id=1 sender=0 } node{ id=2 sender=0 } } ", EINVAL,
		"at least one sender", 0 },
	{ VSET, "node without flag", NEW MEMBERS "subgroup{ id=0 *node!{ id=1 } } ", EINVAL,
		NOFLAG, 0 },
	{ VSET, "node, unknown attribute", NEW MEMBERS "subgroup{ id=0 node{ id=1 *#3=1 } } ",
		EINVAL, UNKNOWN, 0 },
	{ VSET, "node, cut off", NEW MEMBERS "subgroup{ id=0 node{ id^60=1 } } ", EINVAL,
		STRAY, 0 },
	{ VSET, "last of many is wrong", NEW MEMBERS "subgroups=10-40 subgroup{ id=9 *window=0 } ",
		EINVAL, "1 to 65536", 0 },
};

static struct nl nl, events;

/* ---- from words to a request ------------------------------------------ */

struct build {
	struct nl_req *r;
	int blame;		/* offset of the attribute marked with *, or 0 */
};

static int offset(const struct build *b, const void *at)
{
	return (const unsigned char *)at - b->r->buf;
}

static struct nlattr *put_value(struct nl_req *r, const struct word *w, const char *text)
{
	uint64_t num = strtoull(text, NULL, 10);
	unsigned char ip[16];

	switch (w->type) {
	case U8:
		return nl_put(r, w->attr, &num, 1);
	case U16:
		return nl_put(r, w->attr, &num, 2);
	case U32:
		return nl_put(r, w->attr, &num, 4);
	case U64:
		return nl_put(r, w->attr, &num, 8);
	case STR:
		return nl_put(r, w->attr, text, strlen(text) + 1);
	case IP4:
	case IP6:
		if (inet_pton(w->type == IP4 ? AF_INET : AF_INET6, text, ip) != 1)
			die("bad address '%s'", text);
		return nl_put(r, w->attr, ip, w->type == IP4 ? 4 : 16);
	case NEST:
		break;
	}
	die("'%s' is a nest", w->name);
}

static void put_range(struct build *b, bool members, const char *range, bool blame)
{
	unsigned int i, first, last;
	struct nlattr *a = NULL;

	if (sscanf(range, "%u-%u", &first, &last) != 2)
		die("bad range '%s'", range);
	for (i = first; i <= last; i++) {
		uint32_t ip = htonl(0x0a000001), window = 1, msg = 64, ring = 4096;
		uint16_t port = 5000 + i;

		a = nl_nest(b->r, (members ? SPINDLE_A_MEMBER : SPINDLE_A_SUBGROUP) | NLA_F_NESTED);
		if (members) {
			nl_put_u32(b->r, SPINDLE_MEMBER_A_ID, i);
			nl_put(b->r, SPINDLE_MEMBER_A_ADDR4, &ip, 4);
			nl_put(b->r, SPINDLE_MEMBER_A_PORT, &port, 2);
		} else {
			nl_put_u32(b->r, SPINDLE_SUBGROUP_A_ID, i);
			nl_put_u32(b->r, SPINDLE_SUBGROUP_A_WINDOW, window);
			nl_put_u32(b->r, SPINDLE_SUBGROUP_A_MAX_MSG, msg);
			nl_put_u32(b->r, SPINDLE_SUBGROUP_A_RING, ring);
		}
		nl_nest_end(b->r);
	}
	if (blame)
		b->blame = offset(b, a);
}

static const struct word *find_word(const struct word *words, const char *s, size_t len)
{
	for (; words->name; words++)
		if (strlen(words->name) == len && !memcmp(words->name, s, len))
			return words;
	die("no word '%.*s'", (int)len, s);
}

static const char *put_words(struct build *b, const struct word *words, const char *s);

static struct nlattr *put_odd(struct nl_req *r, int attr, int len)
{
	struct nlattr *a = nl_put(r, attr, NULL, len);

	memset(nl_data(a), 1, len);
	return a;
}

/* A nest up to its bracket; returns what follows that. */
static const char *put_nest(struct build *b, const struct word *w, bool flag, const char *s,
			    struct nlattr **a)
{
	*a = nl_nest(b->r, w->attr | (flag ? NLA_F_NESTED : 0));
	s = put_words(b, w->in, s);
	nl_nest_end(b->r);
	/* What follows a nest of an odd length has to be aligned. */
	while (b->r->nlh.nlmsg_len % NLA_ALIGNTO)
		b->r->buf[b->r->nlh.nlmsg_len++] = 0;
	return s;
}

/* One word; returns what follows it. */
static const char *put_word(struct build *b, const struct word *words, const char *s)
{
	bool blame = *s == '*';
	struct nlattr *a = NULL;
	const char *end;
	char text[64], *value, *mark;

	s += blame;
	end = s + strcspn(s, " ");
	snprintf(text, sizeof(text), "%.*s", (int)(end - s), s);
	value = strchr(text, '=');
	value = value ? value + 1 : text + strlen(text);
	mark = text + strcspn(text, "=/^!{");
	if (*text == '~') {
		nl_raw(b->r, NULL, atoi(text + 1));
		/* Not rounded, so that the sum is not either. */
		b->r->nlh.nlmsg_len -= NLA_ALIGN(atoi(text + 1)) - atoi(text + 1);
		return end;
	}
	if (!strncmp(text, "members=", 8) || !strncmp(text, "subgroups=", 10)) {
		put_range(b, *text == 'm', value, blame);
		return end;
	}
	if (*text == '#') {
		a = nl_put_u32(b->r, atoi(text + 1), atoi(value));
	} else {
		const struct word *w = find_word(words, text, mark - text);

		if (end[-1] == '{')
			end = put_nest(b, w, *mark != '!', end, &a);
		else if (*mark == '/')
			a = put_odd(b->r, w->attr, atoi(mark + 1));
		else
			a = put_value(b->r, w, value);
		if (*mark == '^')
			a->nla_len = atoi(mark + 1);
	}
	if (blame)
		b->blame = offset(b, a);
	return end;
}

static const char *put_words(struct build *b, const struct word *words, const char *s)
{
	for (;;) {
		s += strspn(s, " ");
		if (!*s)
			return s;
		if (*s == '}')
			return s + 1;
		s = put_word(b, words, s);
	}
}

/* Build and send a request; the errno of its acknowledgment, positive. */
static int request(struct nl *sk, int cmd, const char *words, struct nl_ack *ack, int *blame)
{
	static struct nl_req r;
	struct build b = { .r = &r };
	int err;

	nl_begin(sk, &r, cmd & ~DUMP, cmd & DUMP ? NLM_F_DUMP : 0);
	put_words(&b, top_words, words);
	if (blame)
		*blame = b.blame;
	err = nl_talk(sk, &r, ack, NULL, NULL);
	if (err)
		die("socket: %s", strerror(-err));
	return -ack->err;
}

/* ---- state ------------------------------------------------------------ */

struct state {
	unsigned char buf[128 << 10];
	size_t len;
	int intr;
};

static int take_state(void *ctx, const struct nlmsghdr *nlh)
{
	struct state *st = ctx;
	size_t n = nl_attrs_len(nlh);

	if (st->len + n > sizeof(st->buf))
		die("the state is larger than was thought");
	memcpy(st->buf + st->len, nl_attrs(nlh), n);
	st->len += n;
	return 0;
}

/* Nodes and views as they are. Counters are not part of it. */
static void read_state(struct state *st)
{
	static const int cmds[] = { SPINDLE_CMD_NODE_GET, SPINDLE_CMD_VIEW_GET };
	static struct nl_req r;
	struct nl_ack ack;
	unsigned int i;

	st->len = 0;
	for (i = 0; i < ARRAY_SIZE(cmds); i++) {
		nl_begin(&nl, &r, cmds[i], NLM_F_DUMP);
		if (nl_talk(&nl, &r, &ack, take_state, st) || ack.err)
			die("dump failed: %s", strerror(-ack.err));
	}
}

static bool same_state(const struct state *a, const struct state *b)
{
	return a->len == b->len && !memcmp(a->buf, b->buf, a->len);
}

static int no_events(void)
{
	return nl_events(&events, NULL, NULL);
}

/* ---- refuse ----------------------------------------------------------- */

static const char *const cmd_names[] = {
	[SPINDLE_CMD_UNSPEC] = "command",
	[ADD] = "node add", [DEL] = "node del", [GET] = "node get",
	[VSET] = "view set", [VDEL] = "view del", [VGET] = "view get",
	[SGET] = "subgroup get", [STATS] = "stats get", [SPINDLE_CMD_EVENT] = "event",
	[SPINDLE_CMD_MAX + 1] = "command",
};

static bool right_offset(const struct nl_ack *ack, int blame)
{
	if (!blame)
		return true;
	if (ack->has_offs && ack->offs == (uint32_t)blame)
		return true;
	printf(ack->has_offs ? "# blames the attribute at %u, not at %d\n" :
	       "# blames no attribute\n", ack->offs, blame);
	return false;
}

static void try(const struct refusal *c, const struct state *before)
{
	static struct state after;
	struct nl_ack ack;
	bool good = true;
	int err, blame, n;

	err = request(&nl, c->cmd, c->words, &ack, &blame);
	if (err != c->err) {
		printf("# answer %s, want %s\n", strerror(err), strerror(c->err));
		good = false;
	}
	if (c->text && !strcasestr(ack.text, c->text)) {
		printf("# the text does not say '%s'\n", c->text);
		good = false;
	}
	good &= right_offset(&ack, blame);
	if (c->miss && (!ack.has_miss || ack.miss != (uint32_t)c->miss)) {
		printf("# does not tell which attribute is missing\n");
		good = false;
	}
	if (err == ERANGE && c->text && !strcmp(c->text, RANGE) && !ack.has_policy) {
		printf("# does not tell the range\n");
		good = false;
	}
	read_state(&after);
	if (!same_state(before, &after)) {
		printf("# the configuration is another one now\n");
		good = false;
	}
	n = no_events();
	if (n) {
		printf("# %d events\n", n);
		good = false;
	}
	if (!ok(good, "%s: %s", cmd_names[c->cmd & ~DUMP], c->what))
		printf("# errno %d, text '%s'\n", err, ack.text);
}

static void refuse(void)
{
	static struct state before, after;
	struct nl_ack ack;
	unsigned int i;

	read_state(&before);
	ok(before.len > 0, "there is something that could change");
	for (i = 0; i < ARRAY_SIZE(refusals); i++)
		try(&refusals[i], &before);

	/* What must not be refused, and has no effect. */
	is(request(&nl, VSET, "id=1 " BASE, &ack, NULL), 0, "view set: the same view again");
	is(request(&nl, VSET, "id=1 vid=7 " MEMBERS ORDER0 SUBGROUP5, &ack, NULL), 0,
	   "view set: the same view in other words");
	is(request(&nl, GET | DUMP, "id=99", &ack, NULL), 0, "node get: dump of an unknown node");
	is(request(&nl, VGET | DUMP, "id=4", &ack, NULL), 0, "view get: dump without a view");
	is(request(&nl, SGET | DUMP, "id=1 subgroup-id=77", &ack, NULL), 0,
	   "subgroup get: dump of an unknown subgroup");
	read_state(&after);
	ok(same_state(&before, &after), "these changed nothing");
	is(no_events(), 0, "and caused no event");
}

/* ---- rights ----------------------------------------------------------- */

static const struct refusal changes[] = {
	{ ADD, "node add", "id=9 " HERE, EPERM, NULL, 0 },
	{ DEL, "node del", "id=4", EPERM, NULL, 0 },
	{ VSET, "view set", "id=1 vid=8 " MEMBERS SUBGROUP0, EPERM, NULL, 0 },
	{ VDEL, "view del", "id=1", EPERM, NULL, 0 },
};

static void unprivileged(void)
{
	struct nl_ack ack;
	unsigned int i;

	if (setresuid(65534, 65534, 65534))
		die("setresuid: %s", strerror(errno));
	/* The one that was opened with all rights, and a new one. */
	for (i = 0; i < ARRAY_SIZE(changes); i++)
		is(request(&nl, changes[i].cmd, changes[i].words, &ack, NULL), EPERM,
		   "%s: an old socket gives no rights", changes[i].what);
	close(nl.fd);
	if (nl_open(&nl))
		die("open as nobody");
	for (i = 0; i < ARRAY_SIZE(changes); i++)
		is(request(&nl, changes[i].cmd, changes[i].words, &ack, NULL), EPERM,
		   "%s: nobody may not", changes[i].what);
	is(request(&nl, GET, "id=1", &ack, NULL), 0, "node get: nobody may look");
	is(request(&nl, GET | DUMP, "", &ack, NULL), 0, "node get: nobody may look at all");
	is(request(&nl, STATS | DUMP, "", &ack, NULL), 0, "stats get: nobody may look");
	exit(tap_bad != 0);
}

static void rights(void)
{
	static struct state before, after;
	int status;
	pid_t pid;

	read_state(&before);
	fflush(stdout);
	pid = fork();
	if (!pid)
		unprivileged();
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status))
		die("the child died");
	read_state(&after);
	ok(same_state(&before, &after), "nobody changed nothing");
	is(no_events(), 0, "and caused no event");
	tap_bad += !!status;
}

/* ---- dump ------------------------------------------------------------- */

#define FIRST	1001
#define MANY	96

struct dumped {
	unsigned int seen[MANY + 1];
	unsigned int others, messages, out_of_order, intr;
	uint32_t last;
	void (*between)(struct dumped *d);
};

static int take_node(void *ctx, const struct nlmsghdr *nlh)
{
	struct dumped *d = ctx;
	uint32_t id = nl_num(nl_find(nl_attrs(nlh), nl_attrs_len(nlh), SPINDLE_A_NODE_ID));

	d->intr += !!(nlh->nlmsg_flags & NLM_F_DUMP_INTR);
	d->out_of_order += id <= d->last;
	d->last = id;
	if (id >= FIRST && id <= FIRST + MANY)
		d->seen[id - FIRST]++;
	else
		d->others++;
	if (++d->messages == 3 && d->between)
		d->between(d);
	/* A dump that begins again and again is not waited for. */
	return d->messages > 10 * MANY;
}

/* A dump in pieces of 4 KiB that are only made when they are read. */
static int dump_pieces(int cmd, struct dumped *d, struct nl_ack *ack)
{
	static struct nl_req r;
	struct nl sk;
	int size = 1, err;

	memset(ack, 0, sizeof(*ack));
	if (nl_open(&sk))
		die("open");
	close(sk.fd);
	sk.fd = socket(AF_NETLINK, SOCK_RAW, NETLINK_GENERIC);
	setsockopt(sk.fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof(size));
	sk.room = 4096;
	nl_begin(&sk, &r, cmd, NLM_F_DUMP);
	err = nl_talk(&sk, &r, ack, take_node, d);
	close(sk.fd);
	return err ? err : ack->err;
}

static void many_nodes(bool add)
{
	struct nl_ack ack;
	char words[96];
	int i, bad = 0;

	for (i = 0; i < MANY; i++) {
		if (add)
			snprintf(words, sizeof(words), "id=%d addr4=10.0.0.1 port=%d", FIRST + i,
				 6001 + i);
		else
			snprintf(words, sizeof(words), "id=%d", FIRST + i);
		bad += !!request(&nl, add ? ADD : DEL, words, &ack, NULL);
	}
	is(bad, 0, "%d nodes %s", MANY, add ? "added" : "removed");
}

static void remove_some(struct dumped *d)
{
	struct nl_ack ack;

	(void)d;
	request(&nl, DEL, "id=1090", &ack, NULL);
	request(&nl, DEL, "id=1002", &ack, NULL);
	request(&nl, ADD, "id=1097 addr4=10.0.0.1 port=6200", &ack, NULL);
}

static void check_dump(int cmd, const char *name)
{
	struct dumped d = { 0 };
	struct nl_ack ack;
	int i, once = 0;

	is(dump_pieces(cmd, &d, &ack), 0, "%s: a dump in pieces", name);
	for (i = 0; i < MANY; i++)
		once += d.seen[i] == 1;
	is(once, MANY, "%s: shows all nodes once", name);
	is(d.out_of_order, 0, "%s: by id", name);
	is(d.intr + ack.intr, 0, "%s: and is not said to be interrupted", name);
}

static void pieces(void)
{
	struct dumped d = { .between = remove_some };
	struct nl_ack ack;
	int i, once = 0;

	many_nodes(true);
	check_dump(SPINDLE_CMD_NODE_GET, "node get");
	check_dump(SPINDLE_CMD_STATS_GET, "stats get");

	is(dump_pieces(SPINDLE_CMD_NODE_GET, &d, &ack), 0, "a dump with changes in between");
	for (i = 0; i < MANY; i++)
		once += d.seen[i] == 1 && i != 1090 - FIRST;
	is(once, MANY - 1, "shows once what was there all the time");
	is(d.out_of_order, 0, "by id");
	ok(d.intr + ack.intr > 0, "and is said to be interrupted");
	request(&nl, ADD, "id=1090 addr4=10.0.0.1 port=6090", &ack, NULL);
	request(&nl, ADD, "id=1002 addr4=10.0.0.1 port=6002", &ack, NULL);
	request(&nl, DEL, "id=1097", &ack, NULL);
	many_nodes(false);
}

/* ---- ends ------------------------------------------------------------- */

static void last_id(void)
{
	static const struct { int cmd; const char *name; } dumps[] = {
		{ SPINDLE_CMD_NODE_GET, "node get" },
		{ SPINDLE_CMD_VIEW_GET, "view get" },
		{ SPINDLE_CMD_STATS_GET, "stats get" },
		{ SPINDLE_CMD_SUBGROUP_GET, "subgroup get" },
	};
	struct nl_ack ack;
	unsigned int i;

	is(request(&nl, ADD, "id=4294967295 addr4=10.0.0.1 port=6500", &ack, NULL), 0,
	   "node add: id 4294967295");
	is(request(&nl, VSET, LAST, &ack, NULL), 0, "view set: of that node");
	is(request(&nl, GET, "id=4294967295", &ack, NULL), 0, "node get: that node");
	for (i = 0; i < ARRAY_SIZE(dumps); i++) {
		struct dumped d = { 0 };
		int err = dump_pieces(dumps[i].cmd, &d, &ack);

		ok(!err && d.last == UINT32_MAX, "%s: a dump ends behind id 4294967295",
		   dumps[i].name);
		if (err)
			printf("# %u messages, then %s\n", d.messages, strerror(-err));
	}
	is(request(&nl, DEL, "id=4294967295", &ack, NULL), 0, "node del: that node");
}

static int take_view(void *ctx, const struct nlmsghdr *nlh)
{
	const void *end = (char *)nlh + nlh->nlmsg_len;
	const struct nlattr *a;
	int *count = ctx;

	for (a = nl_at(nl_attrs(nlh), end); a; a = nl_behind(a, end)) {
		count[0] += nl_type(a) == SPINDLE_A_MEMBER;
		count[1] += nl_type(a) == SPINDLE_A_SUBGROUP;
	}
	return 0;
}

static void check_view(int flags, const char *name)
{
	static struct nl_req r;
	struct nl_ack ack;
	int count[2] = { 0 }, err;

	nl_begin(&nl, &r, SPINDLE_CMD_VIEW_GET, flags);
	nl_put_u32(&r, SPINDLE_A_NODE_ID, 4);
	err = nl_talk(&nl, &r, &ack, take_view, count);
	is(err ? err : ack.err, 0, "view get: the largest view, %s", name);
	is(count[0], 64, "view get: all members, %s", name);
	is(count[1], 64, "view get: all subgroups, %s", name);
}

static void largest_view(void)
{
	struct nl_ack ack;

	is(request(&nl, VSET, "id=4 vid=1 members=1-64 subgroups=1-64", &ack, NULL), 0,
	   "view set: 64 members and 64 subgroups of all of them");
	check_view(0, "of one node");
	check_view(NLM_F_DUMP, "as a dump");
	is(request(&nl, VDEL, "id=4", &ack, NULL), 0, "view del: the largest view");
}

/* ---- memory ----------------------------------------------------------- */

static void memory(void)
{
	static struct state before, after;
	struct nl_ack ack;

	read_state(&before);
	is(request(&nl, VSET, "id=4 vid=1 members=4-5 " GIB4, &ack, NULL), ENOMEM,
	   "view set: 8 GiB of rings");
	ok(strcasestr(ack.text, "memory"), "says what there is not enough of");
	read_state(&after);
	ok(same_state(&before, &after), "changed nothing");
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*fn)(void); } parts[] = {
		{ "refuse", refuse }, { "rights", rights }, { "dump", pieces },
		{ "last-id", last_id }, { "largest-view", largest_view }, { "memory", memory },
	};
	unsigned int i;

	if (nl_open(&nl) || nl_open(&events) || nl_listen(&events))
		die("the family cannot be opened");
	for (i = 0; argc > 1 && i < ARRAY_SIZE(parts); i++) {
		if (strcmp(argv[1], parts[i].name))
			continue;
		parts[i].fn();
		return tap_bad != 0;
	}
	fprintf(stderr, "usage: genl-bad refuse|rights|dump|last-id|largest-view|memory\n");
	return 2;
}
