/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Cells of a table: a process of libspindle-user, which the verbs get, put and watch of a table
 * are. cmd-cells.c has what they share.
 *
 * Owner: the verb. Context: one thread.
 */
#ifndef SPINDLE_CTL_CELLS_H
#define SPINDLE_CTL_CELLS_H

#include <spindle/table.h>

#include "args.h"
#include "common/fields.h"

/* Keys that the verbs share; the index into ctl_cells_keys. */
enum {
	CTL_CELLS_NODE,
	CTL_CELLS_ID,
	CTL_CELLS_NAME,
	CTL_CELLS_CELL,
	CTL_CELLS_FIELDS,
	CTL_CELLS_VALS
};

extern const struct ctl_key ctl_cells_keys[CTL_CELLS_VALS];

/* Bytes of the longest value of any table. */
#define CTL_CELLS_VALUE	(SPINDLE_MAX_CELL - (uint32_t)sizeof(struct spindle_cell_seal))

/**
 * struct ctl_cells - an attachment to a table
 */
struct ctl_cells {
	/** @what: the command, for messages */
	const char *what;
	/** @val: values of the keys */
	struct ctl_val val[CTL_CELLS_VALS];
	/** @fields: fields of a value */
	struct ctl_cell_fields fields;
	/** @t: the attachment */
	struct spindle_table t;
	/** @seat: members */
	struct spindle_seat seat[SPINDLE_MAX_MEMBERS];
	/** @seats: entries of @seat */
	unsigned int seats;
};

/**
 * struct ctl_cell - a look at a cell of a row
 */
struct ctl_cell {
	/** @node: node of the row */
	uint32_t node;
	/** @cell: number of the cell */
	uint32_t cell;
	/** @err: what spindle_cell_get() has returned; if that is not 0, the rest has no meaning */
	int err;
	/** @version: how many values the cell has had; 0: none */
	uint64_t version;
	/** @value: the value; room of the caller, as long as a value of the table */
	unsigned char *value;
};

int ctl_cells_check(struct ctl_args *a, struct ctl_cells *c);
int ctl_cells_attach(struct ctl_cells *c, uint32_t flags);
int ctl_cells_failed(const struct ctl_cells *c, int err);
bool ctl_cells_ended(const struct ctl_cells *c);
int ctl_cells_seats(struct ctl_cells *c);
void ctl_cell_read(const struct ctl_cells *c, const struct spindle_seat *seat, uint32_t cell,
		   struct ctl_cell *look);
const char *ctl_cell_text(const struct ctl_cells *c, const struct ctl_cell *look);
void ctl_cell_json(const struct ctl_cells *c, const struct ctl_cell *look,
		   struct json_object *obj);

/* cmd-put.c, cmd-watch.c */
int ctl_table_put(struct ctl_args *a);
int ctl_table_watch(struct ctl_args *a);

#endif /* SPINDLE_CTL_CELLS_H */
