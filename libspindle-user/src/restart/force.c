// SPDX-License-Identifier: MIT
/*
 * What an administrator can begin again without the nodes that are away (R8): R1 to R3 do not
 * count. The base of a subgroup is the longest log that can be read, on the way to the newest view
 * that a reporter knows of (R4).
 *
 * The same reports make the same restart, in whatever order they come.
 */
#include <string.h>

#include "inner.h"

/* Reports in the order of their nodes. */
static void sort(struct spindle_restart_set *set)
{
	const struct spindle_restart_report *report;
	uint32_t i, k;

	for (i = 1; i < set->n; i++) {
		report = set->report[i];
		for (k = i; k && set->report[k - 1]->node > report->node; k--)
			set->report[k] = set->report[k - 1];
		set->report[k] = report;
	}
}

/* ---- the era --------------------------------------------------------------------------- */

static void raise_to(uint64_t *era, uint64_t other)
{
	if (other > *era)
		*era = other;
}

static uint64_t last_era(const struct spindle_restart_record *record)
{
	return record->views ? record->view[record->views - 1].id.era : 0;
}

/* The largest era that a reporter has a view or a message of. */
static uint64_t find_era(const struct spindle_restart_set *set)
{
	uint64_t era = 0;
	uint32_t i, p;

	for (i = 0; i < set->n; i++) {
		const struct spindle_restart_report *report = set->report[i];

		if (report->has_accepted)
			raise_to(&era, report->accepted.ballot.era);
		for (p = 0; p < report->parts; p++) {
			const struct spindle_restart_log *log = &report->part[p].log;

			raise_to(&era, last_era(&report->part[p].record));
			if (log->epochs)
				raise_to(&era, log->epoch[log->epochs - 1].id.era);
		}
	}
	return era;
}

/* ---- subgroups ------------------------------------------------------------------------- */

static const struct spindle_restart_view *newest_of(const struct spindle_restart_need *need)
{
	return &need->range.view[need->range.views - 1];
}

/* Reporters may list the members of a view in any order. */
static void sort_members(struct spindle_restart_view *view)
{
	uint32_t i, k, node;

	for (i = 1; i < view->members; i++) {
		node = view->node[i];
		for (k = i; k && view->node[k - 1] > node; k--)
			view->node[k] = view->node[k - 1];
		view->node[k] = node;
	}
}

static void fill_part(const struct spindle_restart_set *set,
		      const struct spindle_restart_need *need, struct spindle_restart_base *part,
		      struct spindle_restart_loss *loss)
{
	const struct spindle_restart_view *newest = newest_of(need);
	struct spindle_restart_path path;

	part->id = need->id;
	part->base = need->base;
	part->range.known = true;
	part->range.views = 1;
	spindle_restart_copy_view(&part->range.view[0], newest);
	sort_members(&part->range.view[0]);
	spindle_restart_path_to(set, need->id, newest, &path);
	spindle_restart_extend(&part->path, &path, newest, need->base);
	*loss = (struct spindle_restart_loss){ .to = need->to, .open = need->open };
}

/* Reports that contradict each other, or say nothing of a subgroup, cannot be forced. */
static bool can_force(const struct spindle_restart_answer *answer)
{
	uint32_t p;

	for (p = 0; p < answer->parts; p++)
		if (answer->part[p].why == SPINDLE_RESTART_CONFLICT ||
		    answer->part[p].why == SPINDLE_RESTART_NO_RECORD ||
		    !answer->part[p].range.views)
			return false;
	return answer->kind == SPINDLE_RESTART_WAIT && answer->parts;
}

/* Subgroups in the order of their ids, because reports come in any order. */
static const struct spindle_restart_need *next_part(const struct spindle_restart_answer *answer,
						    const struct spindle_restart_need *before)
{
	const struct spindle_restart_need *next = NULL, *need;
	uint32_t p;

	for (p = 0; p < answer->parts; p++) {
		need = &answer->part[p];
		if ((!before || need->id > before->id) && (!next || need->id < next->id))
			next = need;
	}
	return next;
}

static void fill_members(const struct spindle_restart_set *set, struct spindle_restart_force *force)
{
	uint32_t i;

	force->proposal.members = set->n;
	for (i = 0; i < set->n; i++) {
		force->proposal.node[i] = set->report[i]->node;
		memset(force->address[i], 0, sizeof(force->address[i]));
		memcpy(force->address[i], set->report[i]->address,
		       strnlen(set->report[i]->address, sizeof(force->address[i]) - 1));
	}
}

/**
 * spindle_restart_force() - what could begin again without the nodes that are away? (R8)
 * @ballot: as for spindle_restart_judge()
 * @report: the same reports
 * @reports: how many
 * @answer: of spindle_restart_judge(), which waits
 * @force: out; large, so the caller has it
 *
 * The members are all nodes that report. Nothing follows from the restart unless an administrator
 * consents, at each of these nodes.
 *
 * Return: whether there is such a restart.
 */
bool spindle_restart_force(const struct spindle_restart_ballot *ballot,
			   const struct spindle_restart_report *const *report, uint32_t reports,
			   const struct spindle_restart_answer *answer,
			   struct spindle_restart_force *force)
{
	struct spindle_restart_proposal *proposal = &force->proposal;
	const struct spindle_restart_need *need = NULL;
	struct spindle_restart_set set;

	spindle_restart_collect(&set, ballot, report, reports);
	if (!set.n || !can_force(answer))
		return false;
	sort(&set);
	proposal->ballot = (struct spindle_restart_ballot){ .era = find_era(&set) + 1 };
	proposal->origin = proposal->ballot.era;
	memcpy(proposal->lineage, set.report[0]->lineage, sizeof(proposal->lineage));
	fill_members(&set, force);
	proposal->vid = 0;
	for (proposal->parts = 0; (need = next_part(answer, need)); proposal->parts++) {
		fill_part(&set, need, &proposal->part[proposal->parts],
			  &force->loss[proposal->parts]);
		if (newest_of(need)->id.vid > proposal->vid)
			proposal->vid = newest_of(need)->id.vid;
	}
	proposal->vid++;
	spindle_restart_place(&set, proposal);
	return spindle_restart_good_proposal(proposal) && spindle_restart_good_force(force);
}
