/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables: table 6 of nodes 1, 2 and 3.
 */
#ifndef SPINDLE_DEV_BAD_TABLE_H
#define SPINDLE_DEV_BAD_TABLE_H

#include "cells.h"

#define ROWS	6

/* What a file that attaches to that table says. */
static inline struct spindle_table_attach table_args(uint32_t node, uint32_t flags, int event_fd)
{
	struct spindle_table_attach a = cells_args(node, ROWS, flags);

	a.event_fd = event_fd;
	return a;
}

/* Attach and map, or end the test: table-use.c */
void table_attach(struct cells *c, struct spindle_table_attach a);

/* The mappings of a table, and poll(): table-use.c */
void table_maps(void);
void table_polls(void);

/**
 * struct table_pair - a writer of node 1, and a reader of node 2 that has its value
 * @w: the writer
 * @r: the reader
 * @at_w: the row of node 1, as the writer maps it
 * @at_r: the same, as the reader maps it
 */
struct table_pair {
	struct cells w, r;
	const uint64_t *at_w, *at_r;
};

/* Call this before the view is deleted. */
void table_pair_open(struct table_pair *p);

/* Predicates of both, and what becomes of them: table-pred.c */
void table_pair_watch(const struct table_pair *p);
void table_pair_watched(const struct table_pair *p);

/* Call this after the view of node 1 was deleted. */
void table_pair_check(struct table_pair *p);

#endif /* SPINDLE_DEV_BAD_TABLE_H */
