// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl table get; the other verbs of a table have cmd-put.c, cmd-watch.c, and the files of a
 * subgroup, because a table is one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "cells.h"
#include "cmd.h"
#include "common/out.h"
#include "common/util.h"

/* How often, in all, and how long "table get" waits for cells that are being written. */
#define WAITS	25
#define WAIT_MS	20
/* Time for reads of all rows, in a table of mode read. */
#define REFRESH_MS	3000

/* Keys of "table get", behind those that the verbs share. */
enum {
	GET_ROW = CTL_CELLS_VALS,
	GET_VALS
};

/**
 * struct found - cells that "table get" has found
 */
struct found {
	/** @cell: cells, by row and number */
	struct ctl_cell *cell;
	/** @cells: entries of @cell */
	unsigned int cells;
	/** @waits: waits for cells that were being written */
	unsigned int waits;
};

/*
 * Read a cell. A value that is on its way gets some time to arrive. All cells share that time,
 * because a writer that died may have left any number of them half written.
 */
static void read_calmly(struct ctl_cells *c, const struct spindle_seat *seat, uint32_t cell,
			struct found *found, struct ctl_cell *look)
{
	ctl_cell_read(c, seat, cell, look);
	while (look->err == -EAGAIN && found->waits++ < WAITS) {
		if (spindle_table_wait(&c->t, WAIT_MS) < 0)
			return;
		ctl_cell_read(c, seat, cell, look);
	}
}

/* Read the row of a member, without the cells that have no value unless the user asks for one. */
static void read_row(struct ctl_cells *c, const struct spindle_seat *seat, struct found *found)
{
	const struct ctl_val *only = &c->val[CTL_CELLS_CELL];
	uint32_t cell = only->set ? only->num : 0;
	uint32_t end = only->set ? cell + 1 : c->t.cells;
	struct ctl_cell look = { 0 };

	for (; cell < end; cell++) {
		if (!look.value)
			look.value = ctl_alloc(spindle_cell_bytes(&c->t));
		read_calmly(c, seat, cell, found, &look);
		if (!only->set && !look.err && !look.version)
			continue;
		*CTL_ADD(found->cell, found->cells) = look;
		look.value = NULL;
	}
}

static int read_rows(struct ctl_cells *c, const struct ctl_val *row, struct found *found)
{
	int err = ctl_cells_seats(c);
	bool any = false;
	unsigned int i;

	for (i = 0; !err && i < c->seats; i++) {
		if (row->set && row->num != c->seat[i].node)
			continue;
		any = true;
		read_row(c, &c->seat[i], found);
	}
	if (err)
		return ctl_cells_failed(c, err);
	if (ctl_cells_ended(c))
		return ctl_cells_failed(c, -EPIPE);
	if (any)
		return CTL_OK;
	ctl_err("%s: node %llu is no member of table %u", c->what, (unsigned long long)row->num,
		c->t.table);
	return CTL_FAILED;
}

static void print_json(const struct ctl_cells *c, const struct found *found)
{
	struct json_object *list = json_object_new_array(), *obj;
	unsigned int i;

	for (i = 0; i < found->cells; i++) {
		obj = json_object_new_object();
		ctl_cell_json(c, &found->cell[i], obj);
		json_object_array_add(list, obj);
	}
	ctl_json_print(list);
}

/* Add the fields of a cell, or what it has in place of them. */
static void add_fields(struct ctl_table *t, const struct ctl_cells *c, const struct ctl_cell *look)
{
	unsigned int i;

	for (i = 0; i < c->fields.count; i++) {
		if (!look->err && look->version)
			ctl_table_cell(t, ctl_field_text(&c->fields.field[i], look->value));
		else
			ctl_table_cell(t, i ? "" : ctl_cell_text(c, look));
	}
	if (!c->fields.count)
		ctl_table_cell(t, ctl_cell_text(c, look));
}

static void print_text(const struct ctl_cells *c, const struct found *found)
{
	struct ctl_table t = { 0 };
	unsigned int i;

	if (!found->cells) {
		puts("No cell has a value yet.");
		return;
	}
	ctl_table_head(&t, "node cell version");
	for (i = 0; i < c->fields.count; i++)
		ctl_table_head(&t, c->fields.field[i].name);
	if (!c->fields.count)
		ctl_table_head(&t, "value");
	for (i = 0; i < found->cells; i++) {
		const struct ctl_cell *look = &found->cell[i];

		ctl_table_num(&t, look->node);
		ctl_table_num(&t, look->cell);
		if (look->err)
			ctl_table_cell(&t, "");
		else
			ctl_table_num(&t, look->version);
		add_fields(&t, c, look);
	}
	ctl_table_print(&t);
}

/* Of a table of mode read: have all rows read now. */
static int refresh(struct ctl_cells *c)
{
	int err;

	if (!spindle_table_is_read(&c->t))
		return CTL_OK;
	err = spindle_table_refresh(&c->t, REFRESH_MS);
	if (err < 0)
		return ctl_cells_failed(c, err);
	if (err)
		return CTL_OK;
	ctl_err("%s: some rows could not be read for %u s", c->what, REFRESH_MS / 1000);
	return CTL_FAILED;
}

static int table_get(struct ctl_args *a)
{
	static const struct ctl_key row_key = CTL_KEY("row", NULL, U32, 0);
	struct ctl_key keys[GET_VALS + 1] = { [GET_ROW] = row_key };
	struct ctl_cells *c = ctl_alloc(sizeof(*c));
	struct ctl_val val[GET_VALS] = { 0 };
	struct found found = { 0 };
	int rc;

	memcpy(keys, ctl_cells_keys, sizeof(ctl_cells_keys));
	rc = ctl_args_keys(a, keys, val, 0);
	if (rc)
		return rc;
	c->what = "table get";
	memcpy(c->val, val, sizeof(c->val));
	rc = ctl_cells_check(a, c);
	if (!rc)
		rc = ctl_cells_attach(c, 0);
	if (rc)
		return rc;
	rc = refresh(c);
	if (!rc)
		rc = read_rows(c, &val[GET_ROW], &found);
	if (!rc && ctl_opts.json)
		print_json(c, &found);
	else if (!rc)
		print_text(c, &found);
	spindle_table_detach(&c->t);
	return rc;
}

int ctl_cmd_table(struct ctl_args *a)
{
	static const struct ctl_verb verbs[] = {
		{ "show", ctl_table_show }, { "list", ctl_table_show }, { "ls", ctl_table_show },
		{ "add", ctl_subgroup_add },
		{ "del", ctl_subgroup_del }, { "delete", ctl_subgroup_del },
		{ "get", table_get }, { "put", ctl_table_put }, { "watch", ctl_table_watch },
		{ NULL, NULL }
	};

	return ctl_verb(a, verbs);
}
