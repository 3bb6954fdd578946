/* SPDX-License-Identifier: MIT */
/*
 * Declarations inside the tables of the library.
 *
 *	table.c			attach, detach, members and their rows
 *	table-wait.c		wait for changes, signals of predicates, flushes, refreshes
 *	table-layout.c		is the kernel's reply consistent?
 *	table-cell.c		write and read cells
 *	table-strerror.c	texts
 *	predicate.c		give predicates to the engine
 *	predicate-strerror.c	what is wrong with a predicate
 *	predicate-round.c	barriers and elections
 *	predicate-loop.c	predicates in user space
 *
 * Owner: the program's struct spindle_table. Context: as in <spindle/table.h>.
 */
#ifndef SPINDLE_TABLE_INTERNAL_H
#define SPINDLE_TABLE_INTERNAL_H

#include <spindle/predicate.h>
#include <spindle/table.h>

#include "internal.h"

/**
 * struct spindle_rows - the members of a view, and their rows
 */
struct spindle_rows {
	/** @vid: id of the view */
	uint64_t vid;
	/** @members: entries of @seat */
	uint32_t members;
	/** @rank: own rank among them */
	uint32_t rank;
	/** @instances: entries of @row */
	uint32_t instances;
	/** @seat: by rank */
	struct spindle_seat seat[SPINDLE_MAX_MEMBERS];
	/** @row: by instance; nothing is mapped if no member has it */
	struct spindle_map row[];
};

/* Check a reply of the kernel against itself, before anything is mapped by it. */
int spindle_table_check(const struct spindle_table_attach *a);

/* Wake the engine if it sleeps. Return: 0; -EPIPE: the state is final; or the kernel's errno. */
int spindle_table_wake(struct spindle_table *t);

/* The waits of the table until a time of spindle_deadline(); @deadline 0: only ask. */
int spindle_change_until(struct spindle_table *t, int64_t deadline);
int spindle_signal_until(struct spindle_table *t, int64_t deadline);

#endif /* SPINDLE_TABLE_INTERNAL_H */
