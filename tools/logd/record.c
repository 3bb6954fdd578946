// SPDX-License-Identifier: GPL-2.0-only
/* View record: what a restart has to know of the views of a subgroup. See record.h. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "record.h"

/* ---- the range ------------------------------------------------------------------ */

/* The oldest view goes, and with it what was known to be before the others. */
static void drop_oldest(struct spindle_restart_record *record)
{
	record->views--;
	memmove(&record->view[0], &record->view[1], record->views * sizeof(record->view[0]));
	record->known = false;
}

static void append(struct spindle_restart_record *record, const struct spindle_restart_view *view)
{
	if (record->views == SPINDLE_RESTART_VIEWS)
		drop_oldest(record);
	record->view[record->views++] = *view;
}

/**
 * logd_record_add() - a view begins
 * @keep: the record
 * @view: the view; its origin is that of the era, as the record has it
 * @next: no view is missing between the newest one of the record and this one
 * @first: the subgroup had no view before
 *
 * A record has no gap: what is in front of one is forgotten, and the range is not known. The record
 * of a view in a later era says nothing of the eras before, unless the node has entered that era by
 * its proposal.
 */
void logd_record_add(struct spindle_restart_keep *keep, const struct spindle_restart_view *view,
		     bool next, bool first)
{
	const struct spindle_restart_view *newest = logd_record_newest(keep);
	struct spindle_restart_record *record = &keep->record;
	bool same = newest && newest->id.era == view->id.era;
	struct spindle_restart_view add = *view;

	add.origin = same ? newest->origin : view->id.era;
	if (!same)
		keep->path = (struct spindle_restart_path){ .whole = first };
	if (!same || !next || first) {
		record->views = 0;
		record->known = first;
	}
	append(record, &add);
	keep->established = false;
}

/**
 * logd_record_establish() - the newest view is established: a restart begins with no earlier one
 * @keep: the record
 *
 * Return: whether the record was not of an established view before.
 */
bool logd_record_establish(struct spindle_restart_keep *keep)
{
	struct spindle_restart_record *record = &keep->record;

	if (keep->established || !record->views)
		return false;
	record->view[0] = record->view[record->views - 1];
	record->views = 1;
	record->known = true;
	keep->established = true;
	return true;
}

/* ---- a record of another member --------------------------------------------------- */

static bool has_node(const struct spindle_restart_view *view, uint32_t node)
{
	uint32_t i;

	for (i = 0; i < view->members; i++)
		if (view->node[i] == node)
			return true;
	return false;
}

static bool is_same_view(const struct spindle_restart_view *a, const struct spindle_restart_view *b)
{
	uint32_t i;

	if (a->id.era != b->id.era || a->id.vid != b->id.vid || a->base != b->base ||
	    a->members != b->members)
		return false;
	for (i = 0; i < a->members; i++)
		if (!has_node(b, a->node[i]))
			return false;
	return true;
}

/* Return: the place of the view in the record; SPINDLE_RESTART_VIEWS: it is not there. */
static uint32_t find_view(const struct spindle_restart_record *record,
			  const struct spindle_restart_view *view)
{
	uint32_t i;

	for (i = 0; i < record->views; i++)
		if (is_same_view(&record->view[i], view))
			return i;
	return SPINDLE_RESTART_VIEWS;
}

/*
 * The views of @other up to the oldest one of @own, then those of @own. Return: whether @other has
 * that one.
 */
static bool put_before(struct spindle_restart_record *to, const struct spindle_restart_record *own,
		       const struct spindle_restart_record *other)
{
	uint32_t at = find_view(other, &own->view[0]), i;

	if (at == SPINDLE_RESTART_VIEWS)
		return false;
	*to = *other;
	to->views = at + 1;
	for (i = 1; i < own->views; i++)
		append(to, &own->view[i]);
	return true;
}

/* The views of @own from the one on that @other knows to be established. */
static bool begin_later(struct spindle_restart_record *to, const struct spindle_restart_record *own,
			const struct spindle_restart_record *other)
{
	uint32_t at = find_view(own, &other->view[0]);

	if (at == SPINDLE_RESTART_VIEWS || !other->known)
		return false;
	to->known = true;
	to->views = own->views - at;
	memcpy(to->view, &own->view[at], to->views * sizeof(to->view[0]));
	return true;
}

/**
 * logd_record_adopt() - take the range from the record of another member (A5)
 * @keep: the own record, whose range is not known
 * @other: that of another member of the group
 *
 * The views behind the newest one of @keep do not matter. The path and the origin are those of
 * @other, because a node that has joined does not know them.
 *
 * Return: whether the range is known now. If not, @keep is as before.
 */
bool logd_record_adopt(struct spindle_restart_keep *keep, const struct spindle_restart_keep *other)
{
	const struct spindle_restart_view *newest = logd_record_newest(keep);
	const struct spindle_restart_view *theirs = logd_record_newest(other);
	struct spindle_restart_record *to;
	bool known = false;
	uint32_t i;

	if (!newest || !theirs || newest->id.era != theirs->id.era ||
	    memcmp(keep->lineage, other->lineage, sizeof(keep->lineage)))
		return false;
	to = malloc(sizeof(*to));
	if (!to)
		return false;
	if (put_before(to, &keep->record, &other->record) ||
	    begin_later(to, &keep->record, &other->record))
		known = to->known;
	if (known) {
		for (i = 0; i < to->views; i++)
			if (to->view[i].id.era == theirs->id.era)
				to->view[i].origin = theirs->origin;
		keep->record = *to;
		keep->path = other->path;
	}
	free(to);
	return known;
}

/* ---- files ---------------------------------------------------------------------- */

/**
 * logd_records_open() - find the newest record of a log, which is on disk
 * @r: out
 * @dir: directory of the log, which stays open; the records do not own it
 *
 * Return: 0, also if there is no record; -EBADMSG: there are files, and no record in them;
 * -EPROTO: they are of a former format; or the error of the disk.
 */
int logd_records_open(struct logd_records *r, int dir)
{
	const struct spindle_restart_view *newest;
	uint8_t bytes[SPINDLE_RESTART_PART_BYTES];
	size_t len;
	int err;

	*r = (struct logd_records){
		.pair = { .dir = dir, .name = { "view.a", "view.b" } },
	};
	err = logd_pair_read(&r->pair, bytes, sizeof(bytes), &len);
	if (err || !len)
		return err;
	if (spindle_restart_get_keep(&r->now, bytes, len)) {
		newest = logd_record_newest(&r->now);
		if (newest)
			r->synced = newest->id;
		return 0;
	}
	r->now = (struct spindle_restart_keep){ .established = false };
	return -EBADMSG;
}

/**
 * logd_records_write() - write the record, and wait until it is on disk
 * @r: the records, with at least one view
 *
 * Return: 0, or the error of the disk. Then the former record is still there.
 */
int logd_records_write(struct logd_records *r)
{
	uint8_t bytes[SPINDLE_RESTART_PART_BYTES];
	const struct spindle_restart_view *newest = logd_record_newest(&r->now);
	size_t len = newest ? spindle_restart_put_keep(&r->now, bytes, sizeof(bytes)) : 0;
	int err = len ? logd_pair_write(&r->pair, bytes, len) : -EINVAL;

	if (!err)
		r->synced = newest->id;
	return err;
}
