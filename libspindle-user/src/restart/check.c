// SPDX-License-Identifier: MIT
/*
 * What a decoded struct has to fulfil. Bytes come from disks and from other nodes, so none of this
 * is sure before.
 */
#include "inner.h"

/* The largest number of a view, as in the module. */
#define VID_MAX	(1ULL << 59)

static bool has_twice(const uint32_t *node, uint32_t nodes)
{
	uint32_t i;

	for (i = 1; i < nodes; i++)
		if (spindle_restart_has(node, i, node[i]))
			return true;
	return false;
}

static bool is_good_view(const struct spindle_restart_view *view)
{
	return view->id.vid && view->id.vid <= VID_MAX && view->members &&
	       view->members <= SPINDLE_MAX_MEMBERS && view->origin <= view->id.era &&
	       view->base <= SPINDLE_RESTART_LSN_MAX && !has_twice(view->node, view->members);
}

/* Are the views of a record valid, and in order? */
static bool is_record(const struct spindle_restart_record *record)
{
	uint32_t i;

	if (record->views > SPINDLE_RESTART_VIEWS)
		return false;
	for (i = 0; i < record->views; i++) {
		const struct spindle_restart_view *view = &record->view[i];

		if (!is_good_view(view))
			return false;
		if (i && !spindle_restart_older(&view[-1].id, &view->id))
			return false;
		/* Only a restart may begin below the end of what was before. */
		if (i && view[-1].id.era == view->id.era && view[-1].base > view->base)
			return false;
	}
	return true;
}

/* Are the eras of a path in order, and before the one that it leads to? */
static bool is_path(const struct spindle_restart_path *path, uint64_t era)
{
	uint32_t i;

	if (path->eras > SPINDLE_RESTART_PAST)
		return false;
	for (i = 0; i < path->eras; i++) {
		const struct spindle_restart_past *past = &path->past[i];

		if (past->last.era >= era || past->base > SPINDLE_RESTART_LSN_MAX)
			return false;
		if (i && past[-1].last.era >= past->last.era)
			return false;
	}
	return true;
}

/* Are the epochs and positions of a log in order? */
static bool is_log(const struct spindle_restart_log *log)
{
	uint32_t i;

	if (log->epochs > SPINDLE_RESTART_EPOCHS || log->end > SPINDLE_RESTART_LSN_MAX ||
	    log->good > log->end)
		return false;
	for (i = 0; i < log->epochs; i++) {
		const struct spindle_restart_epoch *e = &log->epoch[i];

		if (e->lsn >= log->end)
			return false;
		if (i && (e[-1].lsn >= e->lsn || !spindle_restart_older(&e[-1].id, &e->id)))
			return false;
	}
	return true;
}

static bool is_good_base(const struct spindle_restart_base *part,
			 const struct spindle_restart_proposal *proposal)
{
	uint64_t all = ~0ULL >> (64 - proposal->members);
	const struct spindle_restart_past *past;

	if (part->base > SPINDLE_RESTART_LSN_MAX || !part->members || part->members & ~all ||
	    !part->range.views || part->range.views >= SPINDLE_RESTART_VIEWS ||
	    !is_record(&part->range) || !part->path.eras ||
	    !is_path(&part->path, proposal->origin))
		return false;
	/* The path ends with the view that is followed. */
	past = &part->path.past[part->path.eras - 1];
	return past->base == part->base &&
	       spindle_restart_is(&past->last, &part->range.view[part->range.views - 1].id);
}

/**
 * spindle_restart_good_proposal() - is this a proposal?
 * @proposal: the proposal
 *
 * Return: whether it is.
 */
bool spindle_restart_good_proposal(const struct spindle_restart_proposal *proposal)
{
	uint32_t i, k;

	if (!proposal->ballot.era || proposal->ballot.era > SPINDLE_RESTART_ERA_MAX ||
	    !proposal->origin ||
	    proposal->origin > proposal->ballot.era || !proposal->vid ||
	    proposal->vid > VID_MAX || !proposal->members ||
	    proposal->members > SPINDLE_MAX_MEMBERS || !proposal->parts ||
	    proposal->parts > SPINDLE_MAX_SUBGROUPS ||
	    has_twice(proposal->node, proposal->members))
		return false;
	for (i = 0; i < proposal->parts; i++) {
		for (k = 0; k < i; k++)
			if (proposal->part[k].id == proposal->part[i].id)
				return false;
		if (!is_good_base(&proposal->part[i], proposal))
			return false;
	}
	return true;
}

static bool is_good_part(const struct spindle_restart_part *part)
{
	uint64_t era = 0;

	if (!is_record(&part->record) || part->shard >= SPINDLE_MAX_SUBGROUPS ||
	    part->shard > part->id)
		return false;
	if (part->record.views)
		era = part->record.view[part->record.views - 1].id.era;
	return era <= SPINDLE_RESTART_ERA_MAX && is_path(&part->path, era) && is_log(&part->log);
}

/* An address is printed, so it has printable characters alone. */
static bool is_address(const char *address)
{
	uint32_t i;

	for (i = 0; i < SPINDLE_RESTART_ADDRESS && address[i]; i++)
		if (address[i] <= ' ' || address[i] > '~')
			return false;
	return i < SPINDLE_RESTART_ADDRESS;
}

/**
 * spindle_restart_good_report() - is this a report?
 * @report: the report, without @accepted
 *
 * Return: whether it is.
 */
bool spindle_restart_good_report(const struct spindle_restart_report *report)
{
	uint32_t i, k;

	if (report->parts > SPINDLE_MAX_SUBGROUPS || !is_address(report->address) ||
	    report->promised.era > SPINDLE_RESTART_ERA_MAX)
		return false;
	for (i = 0; i < report->parts; i++) {
		for (k = 0; k < i; k++)
			if (report->part[k].id == report->part[i].id)
				return false;
		if (!is_good_part(&report->part[i]))
			return false;
	}
	return true;
}

/* An address has zeros behind its end, so that a restart has one encoding. */
static bool is_padded(const char *address)
{
	uint32_t i = 0;

	while (i < SPINDLE_RESTART_ADDRESS && address[i])
		i++;
	while (i < SPINDLE_RESTART_ADDRESS && !address[i])
		i++;
	return i == SPINDLE_RESTART_ADDRESS;
}

static bool is_good_loss(const struct spindle_restart_loss *loss,
			 const struct spindle_restart_base *part)
{
	return loss->to >= part->base && loss->to <= SPINDLE_RESTART_LSN_MAX &&
	       part->range.known && part->range.views == 1;
}

/**
 * spindle_restart_good_force() - is this a forced restart?
 * @force: the restart, whose proposal is one
 *
 * Return: whether it is.
 */
bool spindle_restart_good_force(const struct spindle_restart_force *force)
{
	const struct spindle_restart_proposal *proposal = &force->proposal;
	uint32_t i;

	if (proposal->ballot.proposer || proposal->origin != proposal->ballot.era)
		return false;
	for (i = 0; i < proposal->members; i++)
		if ((i && proposal->node[i - 1] >= proposal->node[i]) ||
		    !is_address(force->address[i]) || !is_padded(force->address[i]))
			return false;
	for (i = 0; i < proposal->parts; i++)
		if (!is_good_loss(&force->loss[i], &proposal->part[i]))
			return false;
	return true;
}

/* Attempts that are open were promised, and one that was accepted is not open. */
static bool is_bound(const struct spindle_restart_voter *voter)
{
	uint32_t i;

	if (voter->bound > voter->promised.era ||
	    (voter->has_accepted && voter->accepted.ballot.era > voter->bound))
		return false;
	for (i = 0; i < voter->opens; i++)
		if (!voter->open[i].era || voter->open[i].era > voter->promised.era)
			return false;
	return true;
}

/**
 * spindle_restart_good_voter() - is this the state of a voter?
 * @voter: the voter
 *
 * Return: whether it is.
 */
bool spindle_restart_good_voter(const struct spindle_restart_voter *voter)
{
	if (voter->state > SPINDLE_RESTART_RUNNING ||
	    voter->promised.era > SPINDLE_RESTART_ERA_MAX)
		return false;
	if (!is_bound(voter))
		return false;
	if (voter->state == SPINDLE_RESTART_ACCEPTED)
		return voter->has_accepted &&
		       voter->accepted.ballot.era == voter->promised.era &&
		       voter->accepted.ballot.proposer == voter->promised.proposer;
	return voter->state == SPINDLE_RESTART_RUNNING || voter->promised.era ||
	       voter->state == SPINDLE_RESTART_SILENT;
}

/**
 * spindle_restart_good_keep() - is this a view record?
 * @keep: the record
 *
 * Return: whether it is.
 */
bool spindle_restart_good_keep(const struct spindle_restart_keep *keep)
{
	const struct spindle_restart_record *record = &keep->record;

	if (!is_record(record) || !record->views ||
	    !is_path(&keep->path, record->view[record->views - 1].id.era))
		return false;
	/* What is established is a range of its own. */
	return !keep->established || (record->known && record->views == 1);
}
