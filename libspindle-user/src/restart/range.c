// SPDX-License-Identifier: MIT
/*
 * The views that a restart needs: from the newest one that a reporter has a record of, back to an
 * established one (R1, R2, A4).
 *
 * A subgroup has a new view only when its members change, so the numbers of its views have gaps.
 * Two views are taken to follow each other only if a record lists one behind the other, or if their
 * numbers are consecutive.
 */
#include <string.h>

#include "inner.h"

/**
 * spindle_restart_copy_view() - copy what is used of a view
 * @to: out
 * @from: the view
 */
void spindle_restart_copy_view(struct spindle_restart_view *to,
			       const struct spindle_restart_view *from)
{
	to->id = from->id;
	to->origin = from->origin;
	to->base = from->base;
	to->members = from->members;
	memcpy(to->node, from->node, from->members * sizeof(*to->node));
}

/**
 * spindle_restart_copy_record() - copy what is used of a record
 * @to: out
 * @from: the record
 */
void spindle_restart_copy_record(struct spindle_restart_record *to,
				 const struct spindle_restart_record *from)
{
	uint32_t i;

	to->known = from->known;
	to->views = from->views;
	for (i = 0; i < from->views; i++)
		spindle_restart_copy_view(&to->view[i], &from->view[i]);
}

/**
 * spindle_restart_newest() - the newest view that a reporter has a record of
 * @set: the reports
 * @id: the subgroup
 *
 * Return: the view; NULL: there is none.
 */
const struct spindle_restart_view *spindle_restart_newest(const struct spindle_restart_set *set,
							  uint32_t id)
{
	const struct spindle_restart_view *newest = NULL;
	const struct spindle_restart_part *part;
	uint32_t i;

	for (i = 0; i < set->n; i++) {
		const struct spindle_restart_view *view;

		part = spindle_restart_part_of(set->report[i], id);
		if (!part || !part->record.views)
			continue;
		view = &part->record.view[part->record.views - 1];
		if (!newest || spindle_restart_older(&newest->id, &view->id))
			newest = view;
	}
	return newest;
}

/**
 * spindle_restart_path_to() - the eras before that of a view
 * @set: the reports
 * @id: the subgroup
 * @view: its newest view
 *
 * Return: the path; never NULL, because a record of the view came with one.
 */
const struct spindle_restart_path *spindle_restart_path_to(const struct spindle_restart_set *set,
							   uint32_t id,
							   const struct spindle_restart_view *view)
{
	const struct spindle_restart_path *path = NULL;
	uint32_t i;

	for (i = 0; i < set->n; i++) {
		const struct spindle_restart_part *part =
			spindle_restart_part_of(set->report[i], id);

		if (!part || !part->record.views ||
		    part->record.view[part->record.views - 1].id.era != view->id.era)
			continue;
		if (!path || (part->path.whole && !path->whole) || part->path.eras > path->eras)
			path = &part->path;
	}
	return path;
}

/* Does a reporter know that the view is established? */
static bool is_established(const struct spindle_restart_set *set, uint32_t id,
			   const struct spindle_restart_view *view)
{
	uint32_t i;

	for (i = 0; i < set->n; i++) {
		const struct spindle_restart_part *part =
			spindle_restart_part_of(set->report[i], id);

		if (part && part->record.views && part->record.known &&
		    spindle_restart_is(&part->record.view[0].id, &view->id))
			return true;
	}
	return false;
}

/* Does the second view follow the first one, in the same era, for sure? */
static bool is_next(const struct spindle_restart_id *a, const struct spindle_restart_id *b)
{
	return a->era == b->era && a->vid + 1 == b->vid;
}

/* The view before @view, if this record tells it. */
static const struct spindle_restart_view *look_before(const struct spindle_restart_record *record,
						      const struct spindle_restart_view *view)
{
	uint32_t i;

	for (i = 0; i < record->views; i++) {
		if (i && spindle_restart_is(&record->view[i].id, &view->id))
			return &record->view[i - 1];
		if (is_next(&record->view[i].id, &view->id))
			return &record->view[i];
	}
	return NULL;
}

static const struct spindle_restart_view *find_before(const struct spindle_restart_set *set,
						      uint32_t id,
						      const struct spindle_restart_view *view)
{
	const struct spindle_restart_view *before;
	uint32_t i;

	for (i = 0; i < set->n; i++) {
		const struct spindle_restart_part *part =
			spindle_restart_part_of(set->report[i], id);

		before = part ? look_before(&part->record, view) : NULL;
		if (before)
			return before;
	}
	return NULL;
}

static bool is_same_view(const struct spindle_restart_view *a, const struct spindle_restart_view *b)
{
	uint32_t i;

	if (a->members != b->members || a->base != b->base || a->origin != b->origin)
		return false;
	for (i = 0; i < a->members; i++)
		if (!spindle_restart_has(b->node, b->members, a->node[i]))
			return false;
	return true;
}

/* Do all records that have the view say the same of it? */
static bool is_agreed(const struct spindle_restart_set *set, uint32_t id,
		      const struct spindle_restart_view *view)
{
	uint32_t i, k;

	for (i = 0; i < set->n; i++) {
		const struct spindle_restart_part *part =
			spindle_restart_part_of(set->report[i], id);

		for (k = 0; part && k < part->record.views; k++)
			if (spindle_restart_is(&part->record.view[k].id, &view->id) &&
			    !is_same_view(&part->record.view[k], view))
				return false;
	}
	return true;
}

static void fail(struct spindle_restart_need *need, uint32_t why,
		 const struct spindle_restart_view *view)
{
	need->why = why;
	need->view = view->id;
	need->open = true;
}

/* The range was found from the newest view on. Records have the oldest one first. */
static void turn_round(struct spindle_restart_record *range)
{
	struct spindle_restart_view view;
	uint32_t i, k;

	for (i = 0, k = range->views; i + 1 < k; i++, k--) {
		spindle_restart_copy_view(&view, &range->view[i]);
		spindle_restart_copy_view(&range->view[i], &range->view[k - 1]);
		spindle_restart_copy_view(&range->view[k - 1], &view);
	}
}

/**
 * spindle_restart_find_range() - the views that a restart needs
 * @set: the reports
 * @need: @id is the subgroup; out: @range, and @why if it is not known
 */
void spindle_restart_find_range(const struct spindle_restart_set *set,
				struct spindle_restart_need *need)
{
	const struct spindle_restart_view *view = spindle_restart_newest(set, need->id);
	struct spindle_restart_record *range = &need->range;

	range->views = 0;
	range->known = false;
	need->why = view ? SPINDLE_RESTART_READY : SPINDLE_RESTART_NO_RECORD;
	while (view && need->why == SPINDLE_RESTART_READY) {
		/* The first view of the next era has to have room, too. */
		if (range->views + 1 == SPINDLE_RESTART_VIEWS) {
			fail(need, SPINDLE_RESTART_TOO_LONG, view);
			break;
		}
		spindle_restart_copy_view(&range->view[range->views++], view);
		if (!is_agreed(set, need->id, view)) {
			fail(need, SPINDLE_RESTART_CONFLICT, view);
		} else if (is_established(set, need->id, view)) {
			range->known = true;
			break;
		} else {
			const struct spindle_restart_view *last = view;

			view = find_before(set, need->id, last);
			if (!view)
				fail(need, SPINDLE_RESTART_UNKNOWN_RANGE, last);
		}
	}
	turn_round(range);
}
