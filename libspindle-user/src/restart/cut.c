// SPDX-License-Identifier: MIT
/*
 * Which part of a log is on the way to a view? The epochs of the log say in which views its
 * messages were delivered. Views of one era are a chain, so the eras decide.
 */
#include "inner.h"

/* Is the view of an epoch on the way to @view? */
static bool is_on_path(const struct spindle_restart_id *id, const struct spindle_restart_id *view,
		       const struct spindle_restart_path *path)
{
	uint32_t i;

	if (id->era == view->era)
		return id->vid <= view->vid;
	for (i = 0; i < path->eras; i++)
		if (path->past[i].last.era == id->era)
			return id->vid <= path->past[i].last.vid;
	return false;
}

/* May the view be in an era that the path does not tell any more? */
static bool is_forgotten(const struct spindle_restart_id *id,
			 const struct spindle_restart_path *path)
{
	return !path->whole && (!path->eras || id->era < path->past[0].last.era);
}

/* A restart may have begun below the end of the era before. */
static uint64_t clip(uint64_t end, const struct spindle_restart_id *id,
		     const struct spindle_restart_path *path)
{
	uint32_t i;

	for (i = 0; i < path->eras; i++)
		if (path->past[i].last.era >= id->era && path->past[i].base < end)
			end = path->past[i].base;
	return end;
}

/**
 * spindle_restart_cut() - where does a log leave the way to a view? (R4, R5)
 * @log: the log, which is not missing
 * @view: the view
 * @path: the eras before that of the view
 * @end: out: all messages below, readable or not, are on the way to the view
 *
 * A node that enters the view cuts its log there.
 *
 * Return: whether the epochs that are told are enough to know. If not, the log cannot be used.
 */
bool spindle_restart_cut(const struct spindle_restart_log *log,
			 const struct spindle_restart_id *view,
			 const struct spindle_restart_path *path, uint64_t *end)
{
	uint64_t to = log->end;
	uint32_t i;

	for (i = log->epochs; i > 0; i--) {
		const struct spindle_restart_epoch *e = &log->epoch[i - 1];

		if (is_on_path(&e->id, view, path)) {
			*end = clip(to, &e->id, path);
			return true;
		}
		if (is_forgotten(&e->id, path))
			return false;
		to = e->lsn;
	}
	*end = to;
	return log->whole || !to;
}

/* Does the log keep what is durable, as the first view of the record says? */
static bool keeps_part(const struct spindle_restart_part *part,
		       const struct spindle_restart_base *base,
		       const struct spindle_restart_id *first)
{
	const struct spindle_restart_record *record = &part->record;
	uint64_t end;

	/* A log that cannot be used is not cut. */
	if (!record->known || !record->views || part->log.missing ||
	    !spindle_restart_cut(&part->log, first, &base->path, &end))
		return true;
	return end >= record->view[0].base || end >= part->log.end;
}

/**
 * spindle_restart_keeps() - does a node keep what it knows to be durable?
 * @report: what the node knows
 * @proposal: a proposal that it may enter
 *
 * All below the base of an established view is durable, so no restart is without it. A node need
 * not believe others for that. What came after that base, the node alone cannot tell.
 *
 * A proposal with another list of subgroups is of other nodes.
 *
 * Return: whether the proposal has the subgroups of the node, and no log of the node is cut below
 *	that base.
 */
bool spindle_restart_keeps(const struct spindle_restart_report *report,
			   const struct spindle_restart_proposal *proposal)
{
	struct spindle_restart_id first = { proposal->ballot.era, proposal->vid };
	const struct spindle_restart_part *part;
	uint32_t i;

	if (!spindle_restart_lists(report, proposal))
		return false;
	for (i = 0; i < proposal->parts; i++) {
		part = spindle_restart_part_of(report, proposal->part[i].id);
		if (!keeps_part(part, &proposal->part[i], &first))
			return false;
	}
	return true;
}
