// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl table watch: a line for each cell that changes, until the table ends.
 *
 * The generation of the table grows when a row may have changed, and with each view. So after each
 * step the members are listed and all their cells are read. A cell has changed if its version is
 * another one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "cells.h"
#include "common/clock.h"
#include "common/out.h"
#include "common/util.h"

/* Keys of "table watch", behind those that the verbs share. */
enum {
	WATCH_ROW = CTL_CELLS_VALS,
	WATCH_COUNT,
	WATCH_VALS
};

/*
 * A cell that is half written is reported after this time, because its writer may have died. The
 * members are listed again after this time if views followed each other too fast.
 */
#define AGAIN_MS	1000
/* Microseconds from one read of the rows to the next, in a table of mode read. */
#define EVERY_US	100000

/**
 * struct mark - what was seen of a cell
 */
struct mark {
	/** @version: version */
	uint64_t version;
	/** @torn_ms: time of the first look that found the cell half written; 0: it is whole */
	uint64_t torn_ms;
	/** @said: that is reported */
	bool said;
};

/**
 * struct row - the row of a member
 */
struct row {
	/** @seat: the member */
	struct spindle_seat seat;
	/** @mark: its cells, by number */
	struct mark *mark;
	/** @stays: it is a member of the present view */
	bool stays;
};

/**
 * struct watch - a watch of a table
 */
struct watch {
	/** @c: the attachment */
	struct ctl_cells c;
	/** @only: node whose row is watched; not set: all rows */
	struct ctl_val only;
	/** @count: changes to report before the end; not set: no end */
	struct ctl_val count;
	/** @changes: changes that were reported */
	uint64_t changes;
	/** @row: rows of the members */
	struct row *row;
	/** @rows: entries of @row */
	unsigned int rows;
	/** @begun: the values that were there at the beginning are reported */
	bool begun;
	/** @again: look again after AGAIN_MS, if nothing happens before */
	bool again;
	/** @look: a look at a cell */
	struct ctl_cell look;
};

/* ---- lines ------------------------------------------------------------ */

static void print_cell(const struct watch *w, const char *event)
{
	const struct ctl_cell *look = &w->look;
	const struct ctl_cell_fields *fields = &w->c.fields;
	unsigned int i;

	printf("%-7s  node %u  cell %u", event, look->node, look->cell);
	if (!look->err)
		printf("  version %llu", (unsigned long long)look->version);
	if (look->err || !fields->count)
		printf("  %s", ctl_cell_text(&w->c, look));
	for (i = 0; !look->err && i < fields->count; i++)
		printf(fields->field[i].type == 's' ? "  %s=\"%s\"" : "  %s=%s",
		       fields->field[i].name, ctl_field_text(&fields->field[i], look->value));
	putchar('\n');
}

/* Print a line about the cell of the last look, and free the memory that the line took. */
static void say_cell(const struct watch *w, const char *event)
{
	struct ctl_pool pool = { 0 };
	struct json_object *obj;

	ctl_pool_use(&pool);
	if (ctl_opts.json) {
		obj = json_object_new_object();
		ctl_json_str(obj, "event", event);
		ctl_cell_json(&w->c, &w->look, obj);
		ctl_json_print(obj);
	} else {
		print_cell(w, event);
	}
	ctl_pool_use(NULL);
	ctl_pool_drop(&pool);
}

static void say_member(const char *event, uint32_t node)
{
	struct json_object *obj;

	if (!ctl_opts.json) {
		printf("%-7s  node %u\n", event, node);
		return;
	}
	obj = json_object_new_object();
	ctl_json_str(obj, "event", event);
	ctl_json_add(obj, "node", ctl_json_num(node));
	ctl_json_print(obj);
}

/* From here on, lines are about changes. */
static void say_begun(void)
{
	struct json_object *obj;

	if (!ctl_opts.json) {
		puts("exists-end");
		return;
	}
	obj = json_object_new_object();
	ctl_json_str(obj, "event", "exists-end");
	ctl_json_print(obj);
}

/* Print why the table has ended. Return: CTL_FAILED. */
static int say_end(const struct watch *w, int err)
{
	struct json_object *obj;
	char buf[256];

	if (ctl_opts.json) {
		obj = json_object_new_object();
		ctl_json_str(obj, "event", "ended");
		ctl_json_str(obj, "reason",
			     spindle_table_call_strerror(&w->c.t, err, buf, sizeof(buf)));
		ctl_json_print(obj);
	}
	return ctl_cells_failed(&w->c, err);
}

/* ---- members ---------------------------------------------------------- */

static struct row *row_of(struct watch *w, const struct spindle_seat *seat)
{
	struct row *row;

	for (row = w->row; row < w->row + w->rows; row++)
		if (row->seat.node == seat->node && row->seat.sst == seat->sst)
			return row;
	return NULL;
}

/* Forget the rows of members that have gone. */
static void drop_rows(struct watch *w)
{
	unsigned int i, n = 0;

	for (i = 0; i < w->rows; i++) {
		if (w->row[i].stays) {
			w->row[n++] = w->row[i];
			continue;
		}
		say_member("left", w->row[i].seat.node);
		ctl_free(w->row[i].mark);
	}
	w->rows = n;
}

/* Note the members of the present view. A node that came back has another instance. */
static void take_seats(struct watch *w)
{
	const struct spindle_seat *seat, *end = w->c.seat + w->c.seats;
	struct row *row;
	unsigned int i;

	for (i = 0; i < w->rows; i++)
		w->row[i].stays = false;
	for (seat = w->c.seat; seat < end; seat++) {
		row = row_of(w, seat);
		if (row)
			row->stays = true;
	}
	drop_rows(w);
	for (seat = w->c.seat; seat < end; seat++) {
		if ((w->only.set && w->only.num != seat->node) || row_of(w, seat))
			continue;
		row = CTL_ADD(w->row, w->rows);
		row->seat = *seat;
		row->mark = ctl_alloc(w->c.t.cells * sizeof(*row->mark));
		if (w->begun)
			say_member("joined", seat->node);
	}
}

/* List the members. Return: 0, or an error after which there is no watch. */
static int follow(struct watch *w)
{
	int err = ctl_cells_seats(&w->c);

	if (err == -ESTALE) {
		w->again = true;
		return 0;
	}
	if (!err)
		take_seats(w);
	return err;
}

/* ---- cells ------------------------------------------------------------ */

/* A cell is half written. Report that once, if it lasts. */
static void take_torn(struct watch *w, struct mark *mark)
{
	uint64_t now = perf_monotonic_ms();

	if (!mark->torn_ms)
		mark->torn_ms = now;
	if (!mark->said && now - mark->torn_ms >= AGAIN_MS) {
		say_cell(w, "torn");
		mark->said = true;
	}
	w->again |= !mark->said;
}

/* Look at a cell. Return: 0, or -EPIPE if the table has ended. */
static int watch_cell(struct watch *w, const struct row *row, uint32_t cell)
{
	struct mark *mark = &row->mark[cell];

	ctl_cell_read(&w->c, &row->seat, cell, &w->look);
	/* The rows of a table that has ended show zeroes. */
	if ((w->look.err || w->look.version < mark->version) && ctl_cells_ended(&w->c))
		return -EPIPE;
	if (w->look.err == -EAGAIN)
		take_torn(w, mark);
	/* With any other error the member has gone, and the list of members will say so. */
	if (w->look.err)
		return 0;
	mark->torn_ms = 0;
	mark->said = false;
	if (w->look.version == mark->version)
		return 0;
	mark->version = w->look.version;
	say_cell(w, w->begun ? "changed" : "exists");
	w->changes += w->begun;
	return 0;
}

static bool is_done(const struct watch *w)
{
	return w->count.set && w->changes >= w->count.num;
}

/* Look at all cells. Return: 0 or -EPIPE. */
static int watch_rows(struct watch *w)
{
	const struct ctl_val *only = &w->c.val[CTL_CELLS_CELL];
	uint32_t first = only->set ? only->num : 0, cell;
	uint32_t end = only->set ? first + 1 : w->c.t.cells;
	const struct row *row;
	int err;

	for (row = w->row; row < w->row + w->rows; row++) {
		for (cell = first; cell < end && !(w->begun && is_done(w)); cell++) {
			err = watch_cell(w, row, cell);
			if (err)
				return err;
		}
	}
	return 0;
}

/* ---- the watch -------------------------------------------------------- */

/* Report what has changed, and wait for the next step. Return: 0 or an error. */
static int step(struct watch *w)
{
	int err;

	w->again = false;
	err = follow(w);
	if (!err)
		err = watch_rows(w);
	if (err)
		return err;
	if (!w->begun)
		say_begun();
	w->begun = true;
	if (is_done(w))
		return 0;
	err = spindle_table_wait(&w->c.t, w->again ? AGAIN_MS : -1);
	return err < 0 ? err : 0;
}

static int run_watch(struct watch *w)
{
	int err;

	/* The generation of now is that of the first look: what changes after it makes a step. */
	err = spindle_table_wait(&w->c.t, 0);
	while (err >= 0 && !(w->begun && is_done(w))) {
		if (ferror(stdout))
			return CTL_FAILED;
		err = step(w);
	}
	if (err == -ENOTCONN && ctl_cells_ended(&w->c))
		err = -EPIPE;
	if (err == -EPIPE || err == -ENOTCONN)
		return say_end(w, err);
	return err < 0 ? ctl_cells_failed(&w->c, err) : CTL_OK;
}

/**
 * ctl_table_watch() - print the changes of a table
 * @a: arguments
 *
 * Return: exit code
 */
int ctl_table_watch(struct ctl_args *a)
{
	struct ctl_key keys[WATCH_VALS + 1] = {
		[WATCH_ROW] = CTL_KEY("row", NULL, U32, 0),
		[WATCH_COUNT] = CTL_KEY("count", NULL, U64, 0),
	};
	struct watch *w = ctl_alloc(sizeof(*w));
	struct ctl_val val[WATCH_VALS] = { 0 };
	int rc;

	memcpy(keys, ctl_cells_keys, sizeof(ctl_cells_keys));
	rc = ctl_args_keys(a, keys, val, 0);
	if (rc)
		return rc;
	w->c.what = "table watch";
	memcpy(w->c.val, val, sizeof(w->c.val));
	w->only = val[WATCH_ROW];
	w->count = val[WATCH_COUNT];
	rc = ctl_cells_check(a, &w->c);
	if (!rc)
		rc = ctl_cells_attach(&w->c, 0);
	if (rc)
		return rc;
	if (spindle_table_is_read(&w->c.t)) {
		rc = spindle_table_every(&w->c.t, EVERY_US);
		if (rc) {
			rc = ctl_cells_failed(&w->c, rc);
			goto out;
		}
	}
	w->look.value = ctl_alloc(spindle_cell_bytes(&w->c.t));
	/* A reader at the other end of a pipe wants each line at once. */
	setvbuf(stdout, NULL, _IOLBF, 0);
	rc = run_watch(w);
out:
	spindle_table_detach(&w->c.t);
	return rc;
}
