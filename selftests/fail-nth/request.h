/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests to the module, whose allocations fail.
 */
#ifndef SPINDLE_FAIL_NTH_REQUEST_H
#define SPINDLE_FAIL_NTH_REQUEST_H

#include <stdint.h>

#include "../progs/nl.h"

/**
 * struct subgroup - a subgroup of a view
 * @id: 0: behind the last one
 * @window: messages
 * @max_msg: bytes
 * @ring: bytes
 * @mode: enum spindle_mode
 * @members: as bits, by id; 0: all of the view
 * @senders: as bits, by id; 0: all members
 */
struct subgroup {
	uint32_t id, window, max_msg, ring;
	uint8_t mode;
	uint32_t members, senders;
};

/* One of the list in a struct view. */
#define SET(...) { __VA_ARGS__ }

/**
 * struct view - a view
 * @name: for people
 * @members: as bits, by id
 * @sg: its subgroups
 */
struct view {
	const char *name;
	uint32_t members;
	struct subgroup sg[8];
};

/* The one that is built at a time: they are too large for a stack. */
extern struct nl_req request;

/* With a socket of its own: an answer that comes late is nobody else's. */
void begin(struct nl *nl);
/* To its end, in which allocations fail; 0 or -errno, as of those below. */
int talk(struct nl *nl, struct nl_req *r);
/* The same of one that is answered: the answer goes to @fn. */
int talk_for(struct nl *nl, struct nl_req *r, int (*fn)(void *ctx, const struct nlmsghdr *nlh),
	     void *ctx);

/* Where a node listens, in attributes of these types. */
void put_addr(struct nl_req *r, int addr, int port, uint32_t id);

int set_view(const struct view *v, uint32_t node, uint64_t vid);
/* One that has the id of a node and nothing else. No allocation fails, and nor may it. */
void simple(int cmd, uint32_t node);

#endif /* SPINDLE_FAIL_NTH_REQUEST_H */
