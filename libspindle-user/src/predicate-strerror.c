// SPDX-License-Identifier: MIT
/*
 * Texts for the errors of predicates. The kernel names the term or the trigger that it refuses, and
 * this file finds the reason, by the rules of <linux/spindle_table.h>.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "table.h"

/* The text that is made, and the part of the predicate that it is about. */
struct fault {
	const struct spindle_table *t;
	char *buf;
	size_t len;
	char where[32];
};

/* Return: true, for the caller to return. */
__attribute__((format(printf, 2, 3)))
static bool say(const struct fault *f, const char *fmt, ...)
{
	char what[160];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(what, sizeof(what), fmt, ap);
	va_end(ap);
	snprintf(f->buf, f->len, "%s%s", f->where, what);
	return true;
}

/* The functions below return: is there a fault? Then its text is made. */

static bool field_is_bad(const struct fault *f, const struct spindle_field *field)
{
	uint32_t value = spindle_cell_bytes(f->t);

	if (!field->width)
		return say(f, "a field is no integer of 1, 2, 4 or 8 bytes, or its cell or offset is above 65535");
	if (field->width > 8 || (field->width & (field->width - 1)))
		return say(f, "a field has %u bytes; 1, 2, 4 or 8 are possible", field->width);
	if (field->cell >= f->t->cells)
		return say(f, "a field is in cell %u; the table has cells 0 to %u", field->cell,
			   f->t->cells - 1);
	if (field->offset % field->width)
		return say(f, "a field is at offset %u, which is no multiple of its %u bytes",
			   field->offset, field->width);
	if (field->offset + field->width > value)
		return say(f, "a field of %u bytes is at offset %u; the value of a cell has %u bytes",
			   field->width, field->offset, value);
	if (field->flags & ~SPINDLE_FIELD_SIGNED)
		return say(f, "a field has unknown flags 0x%x", field->flags);
	return field->resv && say(f, "a reserved member of a field is not 0");
}

static bool nodes_are_bad(const struct fault *f, const struct spindle_number *n)
{
	uint32_t i;

	if (n->rows == SPINDLE_ROWS_NODES ? !n->nodes || n->nodes > SPINDLE_MAX_ROW_NODES :
					    n->nodes)
		return say(f, "a number names %u nodes; 1 to %u are possible, with SPINDLE_ROWS_NODES",
			   n->nodes, SPINDLE_MAX_ROW_NODES);
	for (i = 0; i < n->nodes; i++)
		if (!n->node[i])
			return say(f, "a number names the node 0; ids are above 0");
	return false;
}

static bool rows_are_bad(const struct fault *f, const struct spindle_number *n)
{
	if (n->resv == SPINDLE_WRONG_NODES)
		return say(f, "a number names no nodes, or more than %u", SPINDLE_MAX_ROW_NODES);
	if (n->resv == SPINDLE_WRONG_ROWS)
		return say(f, "rows are given to a number that has none, or that has some already");
	if (n->resv == SPINDLE_WRONG_EACH || (n->fold == SPINDLE_FOLD_EACH && n->add))
		return say(f, "nothing can be added to the field of each row; subtract from the right number");
	if (n->rows > SPINDLE_ROWS_NODES)
		return say(f, "a number has an unknown set of rows %u", n->rows);
	if (n->rows && n->fold <= SPINDLE_FOLD_OWN)
		return say(f, "rows are given to a number that has none");
	if (nodes_are_bad(f, n))
		return true;
	return n->resv && say(f, "a reserved member of a number is not 0");
}

static bool number_is_bad(const struct fault *f, const struct spindle_number *n)
{
	if (n->fold > SPINDLE_FOLD_SUM)
		return say(f, "a number is of an unknown kind %u", n->fold);
	return rows_are_bad(f, n) ||
	       (n->fold != SPINDLE_FOLD_NONE && field_is_bad(f, &n->field));
}

static bool term_is_bad(const struct fault *f, const struct spindle_term *term)
{
	bool each = term->left.fold == SPINDLE_FOLD_EACH;

	if (term->compare > SPINDLE_CMP_GE)
		return say(f, "the comparison %u is unknown", term->compare);
	if (number_is_bad(f, &term->left) || number_is_bad(f, &term->right))
		return true;
	if (term->left.fold == SPINDLE_FOLD_NONE)
		return say(f, "the left number has no field");
	if (term->right.fold == SPINDLE_FOLD_EACH)
		return say(f, "only the left number may be of each row");
	if (term->right.fold &&
	    ((term->left.field.flags ^ term->right.field.flags) & SPINDLE_FIELD_SIGNED))
		return say(f, "one of its fields has a sign, and the other has none");
	if (each && !term->least)
		return say(f, "the comparison of each row has to hold for 1 row at least");
	return !each && term->least &&
	       say(f, "a number of rows is given, and the left number is not of each row");
}

static bool set_is_bad(const struct fault *f, const struct spindle_trigger *d)
{
	if (field_is_bad(f, &d->field) || number_is_bad(f, &d->value))
		return true;
	return d->value.fold == SPINDLE_FOLD_EACH && say(f, "it sets a number of each row");
}

static bool trigger_is_bad(const struct fault *f, const struct spindle_trigger *d)
{
	switch (d->what) {
	case SPINDLE_DO_SIGNAL:
		return d->id && say(f, "a signal has no id");
	case SPINDLE_DO_SET:
		return set_is_bad(f, d);
	case SPINDLE_DO_ARM:
	case SPINDLE_DO_DISARM:
		return d->id >= SPINDLE_MAX_PREDICATES &&
		       say(f, "predicate %u; ids are below %u", d->id, SPINDLE_MAX_PREDICATES);
	}
	return say(f, "it does something unknown (%u)", d->what);
}

static bool head_is_bad(const struct fault *f, const struct spindle_predicate *p)
{
	if (!p->terms || p->terms > SPINDLE_MAX_TERMS)
		return say(f, "the predicate has %u terms; 1 to %u are possible", p->terms,
			   SPINDLE_MAX_TERMS);
	if (!p->triggers || p->triggers > SPINDLE_MAX_TRIGGERS)
		return say(f, "the predicate has %u triggers; 1 to %u are possible", p->triggers,
			   SPINDLE_MAX_TRIGGERS);
	if (p->kind > SPINDLE_KIND_TRANSITION)
		return say(f, "the kind %u is unknown", p->kind);
	if (p->id >= SPINDLE_MAX_PREDICATES && p->id != SPINDLE_ANY_ID)
		return say(f, "the predicate has the id %u; ids are below %u", p->id,
			   SPINDLE_MAX_PREDICATES);
	return (p->flags & ~(SPINDLE_PREDICATE_ANY | SPINDLE_PREDICATE_DISARMED)) &&
	       say(f, "the flags 0x%x are unknown", p->flags);
}

/* @bad is what the kernel says, so it may be anything. */
static bool part_is_bad(struct fault *f, const struct spindle_predicate *p)
{
	uint32_t i;

	if (p->bad >= 1 && p->bad <= SPINDLE_MAX_TERMS) {
		i = p->bad - 1;
		snprintf(f->where, sizeof(f->where), "term %u: ", i + 1);
		return term_is_bad(f, &p->term[i]);
	}
	i = p->bad - SPINDLE_BAD_TRIGGER;
	if (i < SPINDLE_MAX_TRIGGERS) {
		snprintf(f->where, sizeof(f->where), "trigger %u: ", i + 1);
		return trigger_is_bad(f, &p->trigger[i]);
	}
	return head_is_bad(f, p);
}

const char *spindle_predicate_strerror(const struct spindle_table *t,
				       const struct spindle_predicate *p, int err, char *buf,
				       size_t len)
{
	struct fault f = { .t = t, .buf = buf, .len = len };

	switch (-err) {
	case EINVAL:
		if (!part_is_bad(&f, p))
			say(&f, "the module refuses this, and the library finds no fault in it");
		break;
	case EBADF:
		say(&f, "a trigger that sets a field needs an attachment with SPINDLE_TABLE_WRITE");
		break;
	case EBUSY:
		say(&f, "another predicate has the id %u", p->id);
		break;
	case ENOSPC:
		say(&f, "%u predicates are there already", SPINDLE_MAX_PREDICATES);
		break;
	case EPROTONOSUPPORT:
		say(&f, "the module is newer than this library");
		break;
	case ENOTTY:
		say(&f, "the module is older than this library, and knows no predicates");
		break;
	case EPROTO:
		say(&f, "the module does not fit this library; update one");
		break;
	default:
		spindle_table_call_strerror(t, err < 0 ? err : 0, buf, len);
	}
	return buf;
}
