// SPDX-License-Identifier: MIT
/*
 * The kernel's reply about a table. The library only knows the structures of
 * <linux/spindle_table.h> beforehand. It checks once that the reply is consistent, so that cells
 * are read and written inside the mappings.
 */
#include <assert.h>
#include <errno.h>

#include <linux/spindle_genl.h>

#include "table.h"

static_assert(sizeof(struct spindle_table_attach) == 240, "ABI: spindle_table_attach");
static_assert(offsetof(struct spindle_table_attach, name) == 24, "ABI: name");
static_assert(offsetof(struct spindle_table_attach, members) == 72, "ABI: members");
static_assert(offsetof(struct spindle_table_attach, row_stride) == 96, "ABI: row_stride");
static_assert(offsetof(struct spindle_table_attach, ctl) == 176, "ABI: ctl");
static_assert(offsetof(struct spindle_table_attach, rows) == 224, "ABI: rows");
static_assert(offsetof(struct spindle_table_attach, ctl_signals) == 132, "ABI: ctl_signals");
static_assert(offsetof(struct spindle_table_attach, usr_skip) == 152, "ABI: usr_skip");
static_assert(offsetof(struct spindle_table_attach, ctl_fields) == 156, "ABI: ctl_fields");
static_assert(offsetof(struct spindle_table_attach, mode) == 160, "ABI: mode");
static_assert(offsetof(struct spindle_table_attach, usr_every) == 172, "ABI: usr_every");
static_assert(sizeof(struct spindle_cell_seal) == 16, "ABI: spindle_cell_seal");
static_assert(sizeof(struct spindle_field) == 8, "ABI: spindle_field");
static_assert(sizeof(struct spindle_number) == 56, "ABI: spindle_number");
static_assert(sizeof(struct spindle_term) == 120, "ABI: spindle_term");
static_assert(sizeof(struct spindle_trigger) == 72, "ABI: spindle_trigger");
static_assert(sizeof(struct spindle_predicate) == 800, "ABI: spindle_predicate");

/* Does a section have room for an array of @n elements of @size bytes at @off? */
static bool holds(const struct spindle_section *s, uint64_t off, uint64_t n, uint64_t size)
{
	/* An array of cells is aligned as its words are. */
	uint64_t align = size < 8 ? size : 8;

	return s->len <= SIZE_MAX && !(off % align) && n <= s->len / size &&
	       off <= s->len - n * size;
}

static bool mode_is_legal(const struct spindle_table_attach *a)
{
	return a->mode == SPINDLE_MODE_TABLE || a->mode == SPINDLE_MODE_TABLE_READ;
}

static bool row_is_legal(const struct spindle_table_attach *a)
{
	return a->cell >= SPINDLE_MIN_CELL && a->cell <= SPINDLE_MAX_CELL &&
	       !(a->cell & (a->cell - 1)) && a->cells && a->cells <= SPINDLE_MAX_CELLS &&
	       a->cells * a->cell <= SPINDLE_MAX_TABLE_ROW;
}

static bool members_are_legal(const struct spindle_table_attach *a)
{
	return a->members && a->members <= SPINDLE_MAX_MEMBERS && a->rank < a->members &&
	       a->members <= a->instances && a->own_instance < a->instances;
}

static bool ctl_fits(const struct spindle_table_attach *a)
{
	return holds(&a->ctl, a->ctl_state, 1, 4) &&
	       holds(&a->ctl, a->ctl_error, 1, 4) &&
	       holds(&a->ctl, a->ctl_need_wakeup, 1, 4) &&
	       holds(&a->ctl, a->ctl_generation, 1, 8) &&
	       holds(&a->ctl, a->ctl_vouched, a->instances, 8) &&
	       holds(&a->ctl, a->ctl_signals, 1, 8) &&
	       holds(&a->ctl, a->ctl_flushed, 1, 8) &&
	       holds(&a->ctl, a->ctl_refreshed, 1, 8) &&
	       holds(&a->ctl, a->ctl_fields, SPINDLE_FIELDS_LEN + 1, 1) &&
	       holds(&a->ctl, a->ctl_fired, SPINDLE_MAX_PREDICATES, 8);
}

static bool usr_fits(const struct spindle_table_attach *a)
{
	if (!holds(&a->usr, a->usr_seen, 1, 8) || !holds(&a->usr, a->usr_heard, 1, 8) ||
	    !holds(&a->usr, a->usr_refresh, 1, 8) || !holds(&a->usr, a->usr_every, 1, 8))
		return false;
	if (!(a->flags & SPINDLE_TABLE_WRITE))
		return true;
	return holds(&a->usr, a->usr_dirty, (a->cells + 63) / 64, 8) &&
	       holds(&a->usr, a->usr_flush, 1, 8) &&
	       holds(&a->usr, a->usr_skip, (a->instances - 1) / 64 + 1, 8);
}

/* Rows must not overlap, and the cookie of the last one is a file offset. */
static bool rows_fit(const struct spindle_table_attach *a)
{
	return holds(&a->rows, 0, a->cells, a->cell) && a->rows.len <= a->row_stride &&
	       a->rows.cookie <= INT64_MAX &&
	       a->row_stride <= (INT64_MAX - a->rows.cookie) / a->instances;
}

int spindle_table_check(const struct spindle_table_attach *a)
{
	if (!mode_is_legal(a) || !row_is_legal(a) || !members_are_legal(a))
		return -EPROTO;
	if (!ctl_fits(a) || !usr_fits(a) || !rows_fit(a))
		return -EPROTO;
	if ((a->flags & SPINDLE_TABLE_WRITE) && !holds(&a->own, 0, a->cells, a->cell))
		return -EPROTO;
	return 0;
}
