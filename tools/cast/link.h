/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * RDMC groups of a program, all in one poll() loop, which signals can end.
 */
#ifndef SPINDLE_CAST_LINK_H
#define SPINDLE_CAST_LINK_H

#include <stdbool.h>
#include <stdint.h>

#include <spindle/rdmc.h>

#include "cast-opts.h"

enum cast_link_state {
	CAST_LINK_NONE,		/* not created */
	CAST_LINK_OPENING,
	CAST_LINK_OPEN,
	CAST_LINK_CLOSED,
	CAST_LINK_FAILED
};

/**
 * struct cast_link - a group
 * @g: it, or NULL
 * @state: see there
 * @error: enum spindle_rdmc_error, of a group that has failed
 * @node: because of whom
 * @owner: for the functions
 * @rank: for the functions: receiver whose group to the sender it is; 0: group of all
 * @id: its id
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

/* The signal that wants the program to end, or 0; how often one has come. */
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
