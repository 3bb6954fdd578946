// SPDX-License-Identifier: GPL-2.0-only
/*
 * Cells of a table, for the verbs that attach to one. See cells.h.
 *
 * These verbs use the module's device by the library, so they need no right to configure anything.
 */
#include <errno.h>
#include <string.h>

#include "cells.h"
#include "common/out.h"
#include "common/util.h"

const struct ctl_key ctl_cells_keys[CTL_CELLS_VALS] = {
	[CTL_CELLS_NODE] = CTL_KEY("node", NULL, U32, 0),
	[CTL_CELLS_ID] = CTL_KEY("id", NULL, U32, 0),
	[CTL_CELLS_NAME] = CTL_KEY("name", NULL, STR, 0),
	[CTL_CELLS_CELL] = CTL_KEY("cell", NULL, U32, 0),
	[CTL_CELLS_FIELDS] = CTL_KEY("fields", NULL, STR, 0),
};

/**
 * ctl_cells_check() - check the keys that the verbs share, and read fields of the command line
 * @a: arguments, for messages
 * @c: the keys are taken
 *
 * Return: CTL_OK or CTL_USAGE
 */
int ctl_cells_check(struct ctl_args *a, struct ctl_cells *c)
{
	const char *err;

	if (!c->val[CTL_CELLS_NODE].set)
		return ctl_usage(a, "'node' is missing");
	if (c->val[CTL_CELLS_ID].set == c->val[CTL_CELLS_NAME].set)
		return ctl_usage(a, "which table? Give its id or its name");
	if (!c->val[CTL_CELLS_FIELDS].set)
		return CTL_OK;
	err = ctl_fields_parse(c->val[CTL_CELLS_FIELDS].str, &c->fields);
	return err ? ctl_usage(a, "%s", err) : CTL_OK;
}

/* Do the cell and the fields of the command line exist in this table? */
static const char *misfit(const struct ctl_cells *c)
{
	const struct ctl_val *cell = &c->val[CTL_CELLS_CELL];

	if (cell->set && cell->num >= c->t.cells)
		return ctl_asprintf("cell %llu: table %u has cells 0 to %u",
				    (unsigned long long)cell->num, c->t.table, c->t.cells - 1);
	return ctl_fields_fit(&c->fields, spindle_cell_bytes(&c->t));
}

/*
 * Read the fields that the table has, unless the command line has some. Another program may have
 * added the table with any text.
 */
static void take_fields(struct ctl_cells *c)
{
	const char *err;

	if (c->val[CTL_CELLS_FIELDS].set || !*spindle_table_fields(&c->t))
		return;
	err = ctl_fields_parse(spindle_table_fields(&c->t), &c->fields);
	if (!err)
		err = ctl_fields_fit(&c->fields, spindle_cell_bytes(&c->t));
	if (!err)
		return;
	ctl_err("%s: the fields of table %u are left out: %s", c->what, c->t.table,
		ctl_clean(err));
	c->fields.count = 0;
}

/**
 * ctl_cells_attach() - attach to the table of the command line
 * @c: ctl_cells_check() has been here; out: the fields of the table, if none were given
 * @flags: SPINDLE_TABLE_WRITE or 0
 *
 * Return: CTL_OK, or CTL_FAILED after a message, and nothing is attached
 */
int ctl_cells_attach(struct ctl_cells *c, uint32_t flags)
{
	struct spindle_table_attr o = {
		.name = c->val[CTL_CELLS_NAME].str,
		.node = c->val[CTL_CELLS_NODE].num,
		.table = c->val[CTL_CELLS_ID].num,
		.flags = flags,
	};
	const char *why;
	char buf[256];
	int err;

	err = spindle_table_attach(&c->t, &o);
	if (err) {
		why = spindle_table_attach_strerror(&c->t, &o, err, buf, sizeof(buf));
		ctl_err("%s: %s", c->what, ctl_clean(why));
		return CTL_FAILED;
	}
	why = misfit(c);
	if (!why) {
		take_fields(c);
		return CTL_OK;
	}
	ctl_err("%s: %s", c->what, why);
	spindle_table_detach(&c->t);
	return CTL_FAILED;
}

/**
 * ctl_cells_failed() - say why a call of the library failed
 * @c: attached
 * @err: what it returned
 *
 * Return: CTL_FAILED
 */
int ctl_cells_failed(const struct ctl_cells *c, int err)
{
	char buf[256];

	ctl_err("%s: %s", c->what, spindle_table_call_strerror(&c->t, err, buf, sizeof(buf)));
	return CTL_FAILED;
}

/**
 * ctl_cells_ended() - has the table ended?
 * @c: attached
 *
 * The rows show zeroes then. So what was read before this call is no value unless it returns false.
 *
 * Return: whether the state is final
 */
bool ctl_cells_ended(const struct ctl_cells *c)
{
	return spindle_table_state(&c->t) > SPINDLE_STATE_ACTIVE;
}

/* List the members. Return: 0 or the error of spindle_table_seats(). */
int ctl_cells_seats(struct ctl_cells *c)
{
	int n = spindle_table_seats(&c->t, c->seat, SPINDLE_MAX_MEMBERS);

	if (n < 0)
		return n;
	c->seats = n;
	return 0;
}

/**
 * ctl_cell_read() - look at a cell
 * @c: attached
 * @seat: member whose row it is
 * @cell: number of the cell
 * @look: out: what was found; in: its room for a value
 */
void ctl_cell_read(const struct ctl_cells *c, const struct spindle_seat *seat, uint32_t cell,
		   struct ctl_cell *look)
{
	look->node = seat->node;
	look->cell = cell;
	look->version = 0;
	look->err = spindle_cell_get(&c->t, seat->sst, cell, look->value,
				     spindle_cell_bytes(&c->t), &look->version);
}

/* What is wrong with a cell that has no value. */
static const char *trouble(const struct ctl_cell *look)
{
	switch (look->err) {
	case -EAGAIN:
		return "being written";
	case -ENOENT:
		return "no member any more";
	default:
		return strerror(-look->err);
	}
}

/**
 * ctl_cell_text() - the value of a cell without fields, or what is wrong with the cell
 * @c: attached
 * @look: a look at the cell
 *
 * Return: text in quotes, bytes in hexadecimal, or "" if there was no value yet
 */
const char *ctl_cell_text(const struct ctl_cells *c, const struct ctl_cell *look)
{
	const char *text;

	if (look->err)
		return ctl_asprintf("(%s)", trouble(look));
	if (!look->version)
		return "";
	text = ctl_value_text(look->value, spindle_cell_bytes(&c->t));
	return text ? ctl_asprintf("\"%s\"", text) :
		      ctl_value_hex(look->value, spindle_cell_bytes(&c->t));
}

/**
 * ctl_cell_json() - add a cell to a JSON object
 * @c: attached
 * @look: a look at the cell
 * @obj: object
 */
void ctl_cell_json(const struct ctl_cells *c, const struct ctl_cell *look,
		   struct json_object *obj)
{
	uint32_t bytes = spindle_cell_bytes(&c->t);
	struct json_object *o;
	const char *text;
	unsigned int i;

	ctl_json_add(obj, "node", ctl_json_num(look->node));
	ctl_json_add(obj, "cell", ctl_json_num(look->cell));
	if (look->err) {
		ctl_json_str(obj, "error", trouble(look));
		return;
	}
	ctl_json_add(obj, "version", ctl_json_num(look->version));
	if (!look->version)
		return;
	if (c->fields.count) {
		o = json_object_new_object();
		/* A name is a member as it is, with '-', because the user has chosen it. */
		for (i = 0; i < c->fields.count; i++)
			json_object_object_add(o, c->fields.field[i].name,
					       ctl_field_json(&c->fields.field[i], look->value));
		ctl_json_add(obj, "fields", o);
		return;
	}
	text = ctl_value_text(look->value, bytes);
	ctl_json_str(obj, text ? "text" : "hex", text ? text : ctl_value_hex(look->value, bytes));
}
