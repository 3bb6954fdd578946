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
 */
struct cast_link {
	/** @g: the group, or NULL */
	struct spindle_rdmc_group *g;
	/** @state: enum cast_link_state */
	enum cast_link_state state;
	/** @error: enum spindle_rdmc_error of a group that has failed */
	uint32_t error;
	/** @node: node that is the cause of the error, or 0 */
	uint32_t node;
	/** @rank: rank of the receiver that is the root; 0: group of all */
	uint32_t rank;
	/** @id: id of the group */
	uint64_t id;
	/** @member: members, the root first */
	uint32_t member[SPINDLE_MAX_MEMBERS];
	/** @members: entries of @member */
	uint32_t members;
	/**
	 * @calls: functions for the events, which get the struct cast_link. The caller sets @done,
	 * and @incoming if it does not refuse all objects
	 */
	struct spindle_rdmc_calls calls;
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
uint64_t cast_link_part(const struct spindle_rdmc_stat *st, uint64_t object, uint64_t len,
			uint32_t block);

#endif /* SPINDLE_CAST_LINK_H */
