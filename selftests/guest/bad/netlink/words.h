/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests in words, separated by blanks, so that a case is one line and any of its attributes can
 * be wrong:
 *	NAME=VALUE	an attribute of its usual type
 *	NAME=V:S	a bitfield32, value and selector
 *	NAME/N		the attribute with N bytes of 0x01 in it
 *	NAME^N=VALUE	the attribute, whose header says that it has N bytes
 *	#T=N		attribute number T, a u32
 *	NAME{ ... }	a nest; NAME!{ without NLA_F_NESTED
 *	~N		N stray bytes
 *	members=A-B	members A to B at 10.0.0.1, port 5000 + id
 *	subgroups=A-B	subgroups A to B, small
 * A * before a word marks the attribute that the refusal must name.
 */
#ifndef SPINDLE_GENL_BAD_WORDS_H
#define SPINDLE_GENL_BAD_WORDS_H

#include "nl.h"

/* Words of many requests. BASE is the installed view, and NEW begins another one. */
#define MEMBER1 "member{ id=1 addr4=10.0.0.1 port=5001 } "
#define MEMBER2 "member{ id=2 addr4=10.0.0.1 port=5002 } "
#define MEMBER3 "member{ id=3 addr4=10.0.0.1 port=5003 } "
#define MEMBERS "members=1-3 "
#define SUBGROUP0 "subgroup{ id=0 name=zero window=16 max-msg=1024 ring=65536 } "
#define SUBGROUP5 "subgroup{ id=5 mode=1 window=8 max-msg=512 ring=4096 " \
		  "node{ id=1 sender=0 } node{ id=2 sender=1 } } "
#define BASE "vid=7 " MEMBERS SUBGROUP0 SUBGROUP5
#define NEW "id=1 vid=8 "
#define HERE "addr4=10.0.0.1 port=5999 "

/* Commands. DUMP is or'ed in for a dump. */
#define ADD	SPINDLE_CMD_NODE_ADD
#define DEL	SPINDLE_CMD_NODE_DEL
#define GET	SPINDLE_CMD_NODE_GET
#define VSET	SPINDLE_CMD_VIEW_SET
#define VDEL	SPINDLE_CMD_VIEW_DEL
#define VGET	SPINDLE_CMD_VIEW_GET
#define SGET	SPINDLE_CMD_SUBGROUP_GET
#define STATS	SPINDLE_CMD_STATS_GET
#define NSET	SPINDLE_CMD_NODE_SET
#define SSET	SPINDLE_CMD_SUBGROUP_SET
#define CHANGE	SPINDLE_CMD_SUBGROUP_CHANGE
#define RAW	SPINDLE_CMD_RAW_RUN
#define JOIN	SPINDLE_CMD_NODE_JOIN
#define LEAVE	SPINDLE_CMD_NODE_LEAVE
#define EVICT	SPINDLE_CMD_NODE_EVICT
#define STATUS	SPINDLE_CMD_STATUS_GET
#define RGET	SPINDLE_CMD_RDMC_GET
#define DUMP	0x100

/*
 * Build and send a request. Returns the errno of its acknowledgment, positive. @blame gets the
 * offset of the attribute that is marked with *, or 0; may be NULL.
 */
int request(struct nl *sk, int cmd, const char *words, struct nl_ack *ack, int *blame);

/* The same for a request with an answer. Each message of the answer goes to @fn. */
int request_for(struct nl *sk, int cmd, const char *words, struct nl_ack *ack, int *blame,
		int (*fn)(void *ctx, const struct nlmsghdr *nlh), void *ctx);

#endif /* SPINDLE_GENL_BAD_WORDS_H */
