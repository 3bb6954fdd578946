// SPDX-License-Identifier: MIT
/*
 * Reports become a proposal, or say what the restart waits for. The rules are R1 to R4 and R7.
 */
#include <string.h>

#include "inner.h"

/* ---- which reports count ----------------------------------------------------------- */

static bool is_for(const struct spindle_restart_report *report,
		   const struct spindle_restart_ballot *ballot)
{
	return !ballot || (report->promised.era == ballot->era &&
			   report->promised.proposer == ballot->proposer);
}

static bool is_known(const struct spindle_restart_set *set,
		     const struct spindle_restart_report *report)
{
	uint32_t i;

	for (i = 0; i < set->n; i++)
		if (set->report[i]->node == report->node)
			return true;
	return false;
}

/**
 * spindle_restart_collect() - which reports count?
 * @set: out: one report of each node, with its promise for this attempt, all of one lineage and
 *	with the same list of subgroups
 * @ballot: the attempt; NULL: promises do not matter
 * @report: the reports
 * @reports: how many
 */
void spindle_restart_collect(struct spindle_restart_set *set,
			     const struct spindle_restart_ballot *ballot,
			     const struct spindle_restart_report *const *report, uint32_t reports)
{
	uint32_t i;

	set->n = 0;
	for (i = 0; i < reports && set->n < SPINDLE_MAX_MEMBERS; i++) {
		if (!is_for(report[i], ballot) || is_known(set, report[i]))
			continue;
		if (set->n && (memcmp(report[i]->lineage, set->report[0]->lineage,
				      sizeof(report[i]->lineage)) ||
			       !spindle_restart_same_list(report[i], set->report[0])))
			continue;
		set->report[set->n++] = report[i];
	}
}

/* Each subgroup that a reporter knows of. */
static void list_parts(const struct spindle_restart_set *set, struct spindle_restart_answer *answer)
{
	uint32_t i, k, p;

	answer->parts = 0;
	for (i = 0; i < set->n; i++)
		for (k = 0; k < set->report[i]->parts; k++) {
			for (p = 0; p < answer->parts; p++)
				if (answer->part[p].id == set->report[i]->part[k].id)
					break;
			if (p == answer->parts && p < SPINDLE_MAX_SUBGROUPS)
				answer->part[answer->parts++].id = set->report[i]->part[k].id;
		}
}

/* The view to restart from; NULL: there is none. */
static const struct spindle_restart_view *newest_of(const struct spindle_restart_need *need)
{
	return need->range.views ? &need->range.view[need->range.views - 1] : NULL;
}

/* ---- logs --------------------------------------------------------------------------- */

/* How much of a log is on the way to the newest view? Returns false if the log cannot be used. */
static bool cut(const struct spindle_restart_set *set, const struct spindle_restart_need *need,
		const struct spindle_restart_log *log, uint64_t *end)
{
	const struct spindle_restart_view *newest = newest_of(need);
	struct spindle_restart_path path;

	if (log->missing)
		return false;
	spindle_restart_path_to(set, need->id, newest, &path);
	return spindle_restart_cut(log, &newest->id, &path, end);
}

/* Take a log into account: what it has, and what it is known to have had. */
static void measure(const struct spindle_restart_set *set, struct spindle_restart_need *need,
		    const struct spindle_restart_log *log)
{
	uint64_t end;

	if (!cut(set, need, log, &end))
		return;
	if (end > need->to)
		need->to = end;
	end = end < log->good ? end : log->good;
	if (end > need->base)
		need->base = end;
}

/* The longest log is the base (R4). */
static void find_base(const struct spindle_restart_set *set, struct spindle_restart_need *need)
{
	const struct spindle_restart_view *newest = newest_of(need);
	uint32_t i;

	need->base = 0;
	need->to = newest ? newest->base : 0;
	for (i = 0; newest && i < set->n; i++) {
		const struct spindle_restart_part *part =
			spindle_restart_part_of(set->report[i], need->id);

		if (part)
			measure(set, need, &part->log);
	}
}

/* Can the node's log be read? Damage does no harm where another log covers it. */
static bool has_log(const struct spindle_restart_set *set, const struct spindle_restart_need *need,
		    const struct spindle_restart_report *report)
{
	const struct spindle_restart_part *part = spindle_restart_part_of(report, need->id);
	uint64_t end;

	return part && part->member && cut(set, need, &part->log, &end) &&
	       (end <= part->log.good || end <= need->base);
}

/* ---- majorities --------------------------------------------------------------------- */

static const struct spindle_restart_report *find_report(const struct spindle_restart_set *set,
							uint32_t node)
{
	uint32_t i;

	for (i = 0; i < set->n; i++)
		if (set->report[i]->node == node)
			return set->report[i];
	return NULL;
}

/* List the members of a view that do not report, or, with @logs, that have no log that counts. */
static void list_missing(const struct spindle_restart_set *set, struct spindle_restart_need *need,
			 const struct spindle_restart_view *view, bool logs)
{
	uint32_t i;

	need->nodes = 0;
	for (i = 0; i < view->members; i++) {
		const struct spindle_restart_report *report = find_report(set, view->node[i]);

		if (!report || (logs && !has_log(set, need, report)))
			need->node[need->nodes++] = view->node[i];
	}
}

/* Do enough members of each view report, or have a log? If not, the newest such view is named. */
static bool has_enough(const struct spindle_restart_set *set, struct spindle_restart_need *need,
		       bool logs, bool majority)
{
	uint32_t i;

	for (i = need->range.views; i > 0; i--) {
		const struct spindle_restart_view *view = &need->range.view[i - 1];
		uint32_t rule = majority ? view->members / 2 + 1 : 1, have;

		list_missing(set, need, view, logs);
		have = view->members - need->nodes;
		if (have >= rule)
			continue;
		need->why = logs ? SPINDLE_RESTART_LOGS : SPINDLE_RESTART_NODES;
		need->view = view->id;
		need->more = rule - have;
		/* Another one of the missing nodes may know of a later view. */
		need->open = !logs;
		return false;
	}
	need->nodes = 0;
	return true;
}

/* Has the node a log that reaches the position? */
static bool reaches(const struct spindle_restart_set *set, const struct spindle_restart_need *need,
		    uint32_t node, uint64_t lsn)
{
	const struct spindle_restart_report *report = find_report(set, node);
	const struct spindle_restart_part *part =
		report ? spindle_restart_part_of(report, need->id) : NULL;
	uint64_t end;

	return part && cut(set, need, &part->log, &end) && end >= lsn;
}

/*
 * All below the base of an established view is durable. A forced restart begins with such a view
 * that not all of its members have the messages of.
 */
static bool has_durable(const struct spindle_restart_set *set, struct spindle_restart_need *need)
{
	const struct spindle_restart_view *view = &need->range.view[0];
	uint32_t i;

	if (!need->range.known || need->base >= view->base)
		return true;
	need->nodes = 0;
	for (i = 0; i < view->members; i++)
		if (!reaches(set, need, view->node[i], view->base))
			need->node[need->nodes++] = view->node[i];
	need->why = SPINDLE_RESTART_LOGS;
	need->view = view->id;
	need->more = 1;
	return false;
}

/* "ack majority" as the stricter rule, if reporters differ. */
static bool needs_majority(const struct spindle_restart_set *set, uint32_t id)
{
	uint32_t i;

	for (i = 0; i < set->n; i++) {
		const struct spindle_restart_part *part =
			spindle_restart_part_of(set->report[i], id);

		if (part && part->majority)
			return true;
	}
	return false;
}

/* R1 to R4 for a subgroup. */
static bool judge_part(const struct spindle_restart_set *set, struct spindle_restart_need *need)
{
	bool majority = needs_majority(set, need->id);

	need->view = (struct spindle_restart_id){ 0 };
	need->more = 0;
	need->nodes = 0;
	need->open = false;
	spindle_restart_find_range(set, need);
	find_base(set, need);
	if (need->why == SPINDLE_RESTART_NO_RECORD)
		need->open = true;
	return need->why == SPINDLE_RESTART_READY && has_enough(set, need, false, true) &&
	       has_enough(set, need, true, majority) && has_durable(set, need);
}

/* ---- what was accepted before --------------------------------------------------------- */

/* A view of the era of the proposal, or of a later one, is there, or one that follows it. */
static bool is_superseded(const struct spindle_restart_answer *answer,
			  const struct spindle_restart_proposal *proposal)
{
	uint32_t p;

	for (p = 0; p < answer->parts; p++) {
		const struct spindle_restart_view *newest = newest_of(&answer->part[p]);

		if (newest->id.era >= proposal->ballot.era || newest->origin == proposal->origin)
			return true;
	}
	return false;
}

/* The proposal that has to be made again; NULL: none. */
static const struct spindle_restart_proposal *
find_accepted(const struct spindle_restart_set *set, const struct spindle_restart_answer *answer)
{
	const struct spindle_restart_proposal *best = NULL;
	uint32_t i;

	for (i = 0; i < set->n; i++) {
		const struct spindle_restart_proposal *p = &set->report[i]->accepted;

		if (set->report[i]->has_accepted &&
		    (!best || p->ballot.era > best->ballot.era))
			best = p;
	}
	return best && !is_superseded(answer, best) ? best : NULL;
}

/* ---- the proposal ---------------------------------------------------------------------- */

/**
 * spindle_restart_extend() - the path of a new view has the era that ends now
 * @path: out
 * @from: the path of the newest view
 * @newest: that view
 * @base: position of the first message of the new view
 */
void spindle_restart_extend(struct spindle_restart_path *path,
			    const struct spindle_restart_path *from,
			    const struct spindle_restart_view *newest, uint64_t base)
{
	uint32_t drop = from->eras == SPINDLE_RESTART_PAST;

	path->whole = from->whole && !drop;
	path->eras = from->eras - drop;
	memcpy(path->past, from->past + drop, path->eras * sizeof(*path->past));
	path->past[path->eras++] = (struct spindle_restart_past){ newest->id, base };
}

static void propose_part(const struct spindle_restart_set *set,
			 const struct spindle_restart_need *need, struct spindle_restart_base *part)
{
	const struct spindle_restart_view *newest = newest_of(need);
	struct spindle_restart_path path;

	part->id = need->id;
	part->base = need->base;
	spindle_restart_copy_record(&part->range, &need->range);
	spindle_restart_path_to(set, need->id, newest, &path);
	spindle_restart_extend(&part->path, &path, newest, need->base);
}

/*
 * The members of a shard may all have gone over to others, as far as the reporters know. Then one
 * that has stayed is away, and the restart waits. Return: whether each subgroup has a member.
 */
static bool has_members(const struct spindle_restart_set *set,
			struct spindle_restart_answer *answer)
{
	bool all = true;
	uint32_t p;

	for (p = 0; p < answer->parts; p++) {
		struct spindle_restart_need *need = &answer->part[p];

		if (answer->proposal.part[p].members)
			continue;
		list_missing(set, need, newest_of(need), false);
		if (!need->nodes)
			continue;
		need->why = SPINDLE_RESTART_NODES;
		need->view = newest_of(need)->id;
		need->more = 1;
		need->open = true;
		all = false;
	}
	return all;
}

static void propose(const struct spindle_restart_set *set,
		    const struct spindle_restart_ballot *ballot,
		    struct spindle_restart_answer *answer)
{
	struct spindle_restart_proposal *proposal = &answer->proposal;
	uint32_t i;

	proposal->ballot = *ballot;
	proposal->origin = ballot->era;
	memcpy(proposal->lineage, set->report[0]->lineage, sizeof(proposal->lineage));
	proposal->vid = 0;
	proposal->members = set->n;
	for (i = 0; i < set->n; i++)
		proposal->node[i] = set->report[i]->node;
	proposal->parts = answer->parts;
	for (i = 0; i < answer->parts; i++) {
		const struct spindle_restart_view *newest = newest_of(&answer->part[i]);

		propose_part(set, &answer->part[i], &proposal->part[i]);
		if (newest->id.vid > proposal->vid)
			proposal->vid = newest->id.vid;
	}
	proposal->vid++;
	spindle_restart_place(set, proposal);
	if (has_members(set, answer))
		answer->kind = SPINDLE_RESTART_NEW;
}

static void repeat(const struct spindle_restart_proposal *again,
		   const struct spindle_restart_ballot *ballot,
		   struct spindle_restart_answer *answer)
{
	spindle_restart_copy_proposal(&answer->proposal, again);
	answer->proposal.ballot = *ballot;
	answer->kind = SPINDLE_RESTART_AGAIN;
}

/**
 * spindle_restart_judge() - what follows from reports?
 * @ballot: the attempt, whose promises the reports have; NULL: only say what the restart waits for
 * @report: the reports
 * @reports: how many
 * @answer: out; large, so the caller has it
 *
 * A report without the promise does not count, nor one of another lineage or with another list of
 * subgroups than the first one, nor a second one of a node.
 */
void spindle_restart_judge(const struct spindle_restart_ballot *ballot,
			   const struct spindle_restart_report *const *report, uint32_t reports,
			   struct spindle_restart_answer *answer)
{
	const struct spindle_restart_proposal *again;
	struct spindle_restart_set set;
	bool ready = true;
	uint32_t p;

	spindle_restart_collect(&set, ballot, report, reports);
	list_parts(&set, answer);
	answer->kind = SPINDLE_RESTART_WAIT;
	answer->reports = set.n;
	for (p = 0; p < answer->parts; p++)
		ready = judge_part(&set, &answer->part[p]) && ready;
	if (!ready || !answer->parts || !ballot)
		return;
	again = find_accepted(&set, answer);
	if (again)
		repeat(again, ballot, answer);
	else
		propose(&set, ballot, answer);
	/* Reports that no correct node makes can be right each, and not together. */
	if (answer->kind == SPINDLE_RESTART_WAIT ||
	    spindle_restart_good_proposal(&answer->proposal))
		return;
	answer->kind = SPINDLE_RESTART_WAIT;
	for (p = 0; p < answer->parts; p++)
		answer->part[p].why = SPINDLE_RESTART_CONFLICT;
}

/**
 * spindle_restart_stands() - have enough nodes accepted the proposal?
 * @answer: of the attempt that has made the proposal
 * @node: nodes that have accepted it in that attempt
 * @nodes: how many
 *
 * Return: whether a majority of each view that the attempt needs has.
 */
bool spindle_restart_stands(const struct spindle_restart_answer *answer, const uint32_t *node,
			    uint32_t nodes)
{
	uint32_t p, i, k, have;

	for (p = 0; p < answer->parts; p++)
		for (i = 0; i < answer->part[p].range.views; i++) {
			const struct spindle_restart_view *view = &answer->part[p].range.view[i];

			have = 0;
			for (k = 0; k < view->members; k++)
				have += spindle_restart_has(node, nodes, view->node[k]);
			if (2 * have <= view->members)
				return false;
		}
	return answer->kind != SPINDLE_RESTART_WAIT;
}

/**
 * spindle_restart_first() - the view that a subgroup begins again with
 * @proposal: the proposal
 * @subgroup: id of the subgroup
 * @view: out
 *
 * Return: whether the proposal has the subgroup.
 */
bool spindle_restart_first(const struct spindle_restart_proposal *proposal, uint32_t subgroup,
			   struct spindle_restart_view *view)
{
	uint32_t p, i;

	for (p = 0; p < proposal->parts; p++)
		if (proposal->part[p].id == subgroup)
			break;
	if (p == proposal->parts)
		return false;
	view->id = (struct spindle_restart_id){ proposal->ballot.era, proposal->vid };
	view->origin = proposal->origin;
	view->base = proposal->part[p].base;
	view->members = 0;
	for (i = 0; i < proposal->members; i++)
		if (proposal->part[p].members >> i & 1)
			view->node[view->members++] = proposal->node[i];
	return true;
}
