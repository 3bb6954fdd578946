/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Requests to the module, whose allocations fail.
 */
#ifndef SPINDLE_FAIL_NTH_REQUEST_H
#define SPINDLE_FAIL_NTH_REQUEST_H

#include <stdint.h>

#include "nl.h"

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

/* An entry of the list in a struct view. */
#define SET(...) { __VA_ARGS__ }

/**
 * struct view - a view
 * @name: name in the output
 * @members: as bits, by id
 * @sg: its subgroups
 */
struct view {
	const char *name;
	uint32_t members;
	struct subgroup sg[8];
};

/* The request under construction. Requests are too large for the stack. */
extern struct nl_req request;

/* Begin with a new socket, so that a late answer cannot be taken for another one. */
void begin(struct nl *nl);
/* The same, and begin @request with the id of a node. */
void begin_for(struct nl *nl, int cmd, uint32_t node);
/* Make a request, in which allocations fail. Returns 0 or -errno, as the functions below. */
int talk(struct nl *nl, struct nl_req *r);
/* The same for @request. Closes the socket. */
int finish(struct nl *nl);
/* The same for a request with an answer, which goes to @fn. */
int talk_for(struct nl *nl, struct nl_req *r, int (*fn)(void *ctx, const struct nlmsghdr *nlh),
	     void *ctx);

/* Put the address of a node into attributes of these types. */
void put_addr(struct nl_req *r, int addr, int port, uint32_t id);

int set_view(const struct view *v, uint32_t node, uint64_t vid);
/* Make a request that has only the id of a node. No allocation fails in it, and it must succeed. */
void simple(int cmd, uint32_t node);

#endif /* SPINDLE_FAIL_NTH_REQUEST_H */
