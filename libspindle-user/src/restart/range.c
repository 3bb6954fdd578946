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

static const struct spindle_restart_base *
base_of(const struct spindle_restart_proposal *proposal, uint32_t id)
{
	uint32_t p;

	for (p = 0; p < proposal->parts; p++)
		if (proposal->part[p].id == id)
			return &proposal->part[p];
	return NULL;
}

/*
 * Views of a subgroup that reporter @i knows of; NULL: none. From @set->n on: views that are in the
 * range of the proposal that the reporter has accepted.
 */
static const struct spindle_restart_record *told(const struct spindle_restart_set *set,
						 uint32_t i, uint32_t id)
{
	const struct spindle_restart_report *report = set->report[i % set->n];
	const struct spindle_restart_record *record = NULL;

	if (i < set->n) {
		const struct spindle_restart_part *part = spindle_restart_part_of(report, id);

		record = part ? &part->record : NULL;
	} else if (report->has_accepted) {
		const struct spindle_restart_base *base = base_of(&report->accepted, id);

		record = base ? &base->range : NULL;
	}
	return record && record->views ? record : NULL;
}

/* The newest view that a reporter knows of; NULL: there is none. */
static const struct spindle_restart_view *find_newest(const struct spindle_restart_set *set,
						      uint32_t id)
{
	const struct spindle_restart_view *newest = NULL, *view;
	uint32_t i;

	for (i = 0; i < 2 * set->n; i++) {
		const struct spindle_restart_record *record = told(set, i, id);

		view = record ? &record->view[record->views - 1] : NULL;
		if (view && (!newest || spindle_restart_older(&newest->id, &view->id)))
			newest = view;
	}
	return newest;
}

/* A view of the newest era that a reporter knows of, in any subgroup; NULL: there is none. */
static const struct spindle_restart_view *find_era(const struct spindle_restart_set *set)
{
	const struct spindle_restart_view *newest = NULL, *view;
	uint32_t i, k;

	for (i = 0; i < set->n; i++)
		for (k = 0; k < set->report[i]->parts; k++) {
			view = find_newest(set, set->report[i]->part[k].id);
			if (view && (!newest || view->id.era > newest->id.era))
				newest = view;
		}
	return newest;
}

/* The subgroup in the proposal that an era has begun with; NULL: no reporter has accepted it. */
static const struct spindle_restart_proposal *find_begin(const struct spindle_restart_set *set,
							 uint32_t id, uint64_t origin)
{
	uint32_t i;

	for (i = 0; i < set->n; i++)
		if (set->report[i]->has_accepted && set->report[i]->accepted.origin == origin &&
		    base_of(&set->report[i]->accepted, id))
			return &set->report[i]->accepted;
	return NULL;
}

/* The path of a proposal leads to the next era. */
static void step_back(struct spindle_restart_path *path, const struct spindle_restart_path *from)
{
	path->whole = from->whole;
	path->eras = from->eras ? from->eras - 1 : 0;
	memcpy(path->past, from->past, path->eras * sizeof(*path->past));
}

/**
 * spindle_restart_path_to() - the eras before that of a view
 * @set: the reports
 * @id: the subgroup
 * @view: its newest view, as spindle_restart_find_range() has found it
 * @path: out
 */
void spindle_restart_path_to(const struct spindle_restart_set *set, uint32_t id,
			     const struct spindle_restart_view *view,
			     struct spindle_restart_path *path)
{
	const struct spindle_restart_proposal *proposal = find_begin(set, id, view->origin);
	uint32_t i;

	path->whole = false;
	path->eras = 0;
	for (i = 0; i < 2 * set->n; i++) {
		const struct spindle_restart_record *record = told(set, i, id);

		if (!record || record->view[record->views - 1].id.era != view->id.era)
			continue;
		if (i < set->n) {
			*path = spindle_restart_part_of(set->report[i], id)->path;
			return;
		}
		step_back(path, &base_of(&set->report[i - set->n]->accepted, id)->path);
		return;
	}
	if (proposal)
		*path = base_of(proposal, id)->path;
}

/* Does a reporter know that the view is established? */
static bool is_established(const struct spindle_restart_set *set, uint32_t id,
			   const struct spindle_restart_view *view)
{
	uint32_t i;

	for (i = 0; i < 2 * set->n; i++) {
		const struct spindle_restart_record *record = told(set, i, id);

		if (record && record->known &&
		    spindle_restart_is(&record->view[0].id, &view->id))
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

	for (i = 0; i < 2 * set->n; i++) {
		const struct spindle_restart_record *record = told(set, i, id);

		before = record ? look_before(record, view) : NULL;
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

	for (i = 0; i < 2 * set->n; i++) {
		const struct spindle_restart_record *record = told(set, i, id);

		for (k = 0; record && k < record->views; k++)
			if (spindle_restart_is(&record->view[k].id, &view->id) &&
			    !is_same_view(&record->view[k], view))
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

/* Go back from a view to an established one. */
static void walk(const struct spindle_restart_set *set, struct spindle_restart_need *need,
		 const struct spindle_restart_view *view)
{
	struct spindle_restart_record *range = &need->range;
	const struct spindle_restart_view *last;

	while (need->why == SPINDLE_RESTART_READY) {
		/* The first view of the next era has to have room, too. */
		if (range->views + 1 == SPINDLE_RESTART_VIEWS) {
			fail(need, SPINDLE_RESTART_TOO_LONG, view);
			return;
		}
		spindle_restart_copy_view(&range->view[range->views++], view);
		if (!is_agreed(set, need->id, view))
			fail(need, SPINDLE_RESTART_CONFLICT, view);
		range->known = is_established(set, need->id, view);
		if (range->known)
			return;
		last = view;
		view = find_before(set, need->id, last);
		if (!view)
			fail(need, SPINDLE_RESTART_UNKNOWN_RANGE, last);
	}
}

/*
 * A record of another subgroup says that the era has begun, so this subgroup has a view of it, too.
 * The proposal of the era has that view and its range.
 */
static void take_begin(const struct spindle_restart_set *set, struct spindle_restart_need *need,
		       const struct spindle_restart_view *newest,
		       const struct spindle_restart_view *other)
{
	const struct spindle_restart_proposal *proposal =
		find_begin(set, need->id, other->origin);
	struct spindle_restart_record *range = &need->range;
	const struct spindle_restart_base *base;

	if (!proposal) {
		spindle_restart_copy_view(&range->view[range->views++], newest);
		fail(need, SPINDLE_RESTART_UNKNOWN_RANGE, newest);
		return;
	}
	base = base_of(proposal, need->id);
	if (base->range.views + 2 > SPINDLE_RESTART_VIEWS) {
		spindle_restart_copy_view(&range->view[range->views++], newest);
		fail(need, SPINDLE_RESTART_TOO_LONG, newest);
		return;
	}
	spindle_restart_copy_record(range, &base->range);
	spindle_restart_first(proposal, need->id, &range->view[range->views]);
	/* The attempt that stands may have made the proposal again. */
	range->view[range->views++].id.era = other->id.era;
}

/**
 * spindle_restart_find_range() - the views that a restart needs
 * @set: the reports
 * @need: @id is the subgroup; out: @range, and @why if it is not known
 */
void spindle_restart_find_range(const struct spindle_restart_set *set,
				struct spindle_restart_need *need)
{
	const struct spindle_restart_view *newest = find_newest(set, need->id);
	const struct spindle_restart_view *other = find_era(set);

	need->range.views = 0;
	need->range.known = false;
	need->why = newest ? SPINDLE_RESTART_READY : SPINDLE_RESTART_NO_RECORD;
	if (!newest)
		return;
	if (newest->id.era < other->id.era) {
		take_begin(set, need, newest, other);
		return;
	}
	walk(set, need, newest);
	turn_round(&need->range);
}
