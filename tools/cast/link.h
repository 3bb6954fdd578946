/* SPDX-License-Identifier: GPL-2.0-only */
/* The RDMC groups of a program, all in one poll() loop, which a signal can end. */
#ifndef SPINDLE_CAST_LINK_H
#define SPINDLE_CAST_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include <spindle/rdmc.h>

#include "opts.h"

enum cast_link_state {
	CAST_LINK_NONE,		/* not created */
	CAST_LINK_OPENING,
	CAST_LINK_OPEN,
	CAST_LINK_CLOSED,
	CAST_LINK_FAILED
};

/**
 * struct cast_link - a group
 * @g: the group, or NULL
 * @state: enum cast_link_state
 * @error: enum spindle_rdmc_error of a group that has failed
 * @node: node that is the cause of the error, or 0
 * @owner: for the callbacks: argument of the user of the group
 * @rank: for the callbacks: rank of the receiver that is the root; 0: group of all
 * @id: id of the group
 * @member: members, the root first
 * @members: entries of @member
 * @incoming: an object waits for memory, see struct spindle_rdmc_calls
 * @done: an object has ended
 */
struct cast_link {
	struct spindle_rdmc_group *g;
	enum cast_link_state state;
	uint32_t error;
	uint32_t node;
	void *owner;
	uint32_t rank;
	uint64_t id;
	uint32_t member[SPINDLE_MAX_MEMBERS];
	uint32_t members;
	void *(*incoming)(struct cast_link *l, const struct spindle_rdmc_event *ev,
			  uint32_t *reason);
	void (*done)(struct cast_link *l, const struct spindle_rdmc_event *ev);
};

/* The signal that asks for the end, or 0; and the number of signals so far. */
int cast_signal(void);
int cast_signals(void);
void cast_signal_catch(void);
void cast_signal_die(void);

void cast_link_all(struct cast_link *l, const struct cast_opts *o);
void cast_link_back(struct cast_link *l, const struct cast_opts *o, uint32_t rank);
bool cast_link_over(const struct cast_link *l);
bool cast_link_wait(struct cast_link **l, unsigned int n, int timeout_ms);
int cast_link_open(struct cast_link **l, unsigned int n, const struct cast_opts *o);
void cast_link_end(struct cast_link *l);
void cast_link_complain(const struct cast_link *l);

#endif /* SPINDLE_CAST_LINK_H */
