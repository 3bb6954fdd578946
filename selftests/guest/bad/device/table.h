/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables: table 6 of nodes 1, 2 and 3.
 */
#ifndef SPINDLE_DEV_BAD_TABLE_H
#define SPINDLE_DEV_BAD_TABLE_H

#include "cells.h"

#define ROWS	6

/* What a file that attaches to a table says. */
static inline struct spindle_table_attach table_args_of(uint32_t node, uint32_t table,
							uint32_t flags, int event_fd)
{
	struct spindle_table_attach a = cells_args(node, table, flags);

	a.event_fd = event_fd;
	return a;
}

/* The same for table 6. */
static inline struct spindle_table_attach table_args(uint32_t node, uint32_t flags, int event_fd)
{
	return table_args_of(node, ROWS, flags, event_fd);
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

/**
 * struct table_trio - a writer of node 1, and what nodes 2 and 3 have of its row
 * @w: the writer
 * @reader: attachments of nodes 2 and 3
 * @row: the row, as these map it
 * @version: of the cell that the writer puts
 */
struct table_trio {
	struct cells w, reader[2];
	const uint64_t *row[2];
	uint64_t version;
};

/* The next value of one cell; has a reader the value, now or after a while? table-trio.c */
void table_trio_open(struct table_trio *t, uint32_t table, int writer_fd, int reader_fd);
void table_trio_close(struct table_trio *t);
void table_trio_put(struct table_trio *t);
bool table_trio_has(const struct table_trio *t, uint32_t i);
bool table_trio_gets(const struct table_trio *t, uint32_t i);

#endif /* SPINDLE_DEV_BAD_TABLE_H */
