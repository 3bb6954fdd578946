// SPDX-License-Identifier: MIT
/*
 * The votes of a node: promise, accept, enter (R7, R9, R10). A node that runs in a view takes part
 * in no attempt. One table has all states, and move() is the only writer of the state.
 *
 * A promise binds: the node enters no view of an earlier era, because a proposal of the attempt may
 * stand. That ends when the attempt is withdrawn. Then it has made no proposal, and makes none.
 */
#include <string.h>

#include "inner.h"

#define STATES	(SPINDLE_RESTART_RUNNING + 1)
/* No such event in this state. */
#define NONE	STATES

enum event {
	EVENT_PROMISE,
	EVENT_ACCEPT,
	EVENT_ENTER,
	EVENT_STOP,
	EVENT_WITHDRAW,
	EVENTS,
};

/* A node that enters a view loses its vote, because its report is old (R10). */
static const uint32_t next[STATES][EVENTS] = {
	[SPINDLE_RESTART_SILENT] = {
		[EVENT_PROMISE] = SPINDLE_RESTART_PROMISED,
		[EVENT_ACCEPT] = NONE,
		[EVENT_ENTER] = SPINDLE_RESTART_RUNNING,
		[EVENT_STOP] = SPINDLE_RESTART_SILENT,
		[EVENT_WITHDRAW] = NONE,
	},
	[SPINDLE_RESTART_PROMISED] = {
		[EVENT_PROMISE] = SPINDLE_RESTART_PROMISED,
		[EVENT_ACCEPT] = SPINDLE_RESTART_ACCEPTED,
		[EVENT_ENTER] = SPINDLE_RESTART_RUNNING,
		[EVENT_STOP] = SPINDLE_RESTART_PROMISED,
		[EVENT_WITHDRAW] = SPINDLE_RESTART_SILENT,
	},
	[SPINDLE_RESTART_ACCEPTED] = {
		[EVENT_PROMISE] = SPINDLE_RESTART_PROMISED,
		[EVENT_ACCEPT] = NONE,
		[EVENT_ENTER] = SPINDLE_RESTART_RUNNING,
		[EVENT_STOP] = SPINDLE_RESTART_ACCEPTED,
		[EVENT_WITHDRAW] = NONE,
	},
	[SPINDLE_RESTART_RUNNING] = {
		[EVENT_PROMISE] = NONE,
		[EVENT_ACCEPT] = NONE,
		[EVENT_ENTER] = SPINDLE_RESTART_RUNNING,
		[EVENT_STOP] = SPINDLE_RESTART_SILENT,
		[EVENT_WITHDRAW] = NONE,
	},
};

/* Returns false if there is no such event in this state. */
static bool move(struct spindle_restart_voter *voter, enum event event)
{
	uint32_t to = next[voter->state][event];

	if (to == NONE)
		return false;
	voter->state = to;
	return true;
}

static bool is_same(const struct spindle_restart_ballot *a, const struct spindle_restart_ballot *b)
{
	return a->era == b->era && a->proposer == b->proposer;
}

/**
 * spindle_restart_copy_proposal() - copy what is used of a proposal
 * @to: out
 * @from: the proposal
 */
void spindle_restart_copy_proposal(struct spindle_restart_proposal *to,
				   const struct spindle_restart_proposal *from)
{
	uint32_t i;

	memcpy(to, from, offsetof(struct spindle_restart_proposal, part));
	for (i = 0; i < from->parts; i++) {
		to->part[i].id = from->part[i].id;
		to->part[i].base = from->part[i].base;
		to->part[i].members = from->part[i].members;
		spindle_restart_copy_record(&to->part[i].range, &from->part[i].range);
		to->part[i].path = from->part[i].path;
	}
}

static bool is_same_view(const struct spindle_restart_view *a, const struct spindle_restart_view *b)
{
	return spindle_restart_is(&a->id, &b->id) && a->origin == b->origin &&
	       a->base == b->base && a->members == b->members &&
	       !memcmp(a->node, b->node, a->members * sizeof(a->node[0]));
}

static bool is_same_record(const struct spindle_restart_record *a,
			   const struct spindle_restart_record *b)
{
	uint32_t i;

	if (a->known != b->known || a->views != b->views)
		return false;
	for (i = 0; i < a->views; i++)
		if (!is_same_view(&a->view[i], &b->view[i]))
			return false;
	return true;
}

static bool is_same_path(const struct spindle_restart_path *a, const struct spindle_restart_path *b)
{
	uint32_t i;

	if (a->whole != b->whole || a->eras != b->eras)
		return false;
	for (i = 0; i < a->eras; i++)
		if (!spindle_restart_is(&a->past[i].last, &b->past[i].last) ||
		    a->past[i].base != b->past[i].base)
			return false;
	return true;
}

static bool is_same_base(const struct spindle_restart_base *a, const struct spindle_restart_base *b)
{
	return a->id == b->id && a->base == b->base && a->members == b->members &&
	       is_same_record(&a->range, &b->range) && is_same_path(&a->path, &b->path);
}

/**
 * spindle_restart_equal() - are these the same proposal?
 * @a: a proposal
 * @b: another one
 *
 * An attempt makes one proposal. So two that differ are of a node that lies.
 *
 * Return: whether they have the same ballot and the same contents.
 */
bool spindle_restart_equal(const struct spindle_restart_proposal *a,
			   const struct spindle_restart_proposal *b)
{
	uint32_t i;

	if (!is_same(&a->ballot, &b->ballot) || a->origin != b->origin ||
	    memcmp(a->lineage, b->lineage, sizeof(a->lineage)) || a->vid != b->vid ||
	    a->members != b->members || a->parts != b->parts ||
	    memcmp(a->node, b->node, a->members * sizeof(a->node[0])))
		return false;
	for (i = 0; i < a->parts; i++)
		if (!is_same_base(&a->part[i], &b->part[i]))
			return false;
	return true;
}

/**
 * spindle_restart_boot() - the node has started: no view survives that
 * @voter: as the disk has it; a voter that was never written is zeroed
 */
void spindle_restart_boot(struct spindle_restart_voter *voter)
{
	move(voter, EVENT_STOP);
}

/* ---- what binds -------------------------------------------------------------------- */

/* An attempt that there is no room for cannot be withdrawn. */
static void add_open(struct spindle_restart_voter *voter,
		     const struct spindle_restart_ballot *ballot)
{
	if (voter->opens == SPINDLE_RESTART_OPEN) {
		if (voter->open[0].era > voter->bound)
			voter->bound = voter->open[0].era;
		voter->opens--;
		memmove(voter->open, voter->open + 1, voter->opens * sizeof(voter->open[0]));
	}
	voter->open[voter->opens++] = *ballot;
}

/* All attempts that are open have this era or an earlier one. */
static void bind(struct spindle_restart_voter *voter, uint64_t era)
{
	if (era > voter->bound)
		voter->bound = era;
	voter->opens = 0;
}

/* Return: the place of the attempt; @opens: it is not open. */
static uint32_t find_open(const struct spindle_restart_voter *voter,
			  const struct spindle_restart_ballot *ballot)
{
	uint32_t i;

	for (i = 0; i < voter->opens; i++)
		if (is_same(&voter->open[i], ballot))
			break;
	return i;
}

/**
 * spindle_restart_bound() - which views may the node enter?
 * @voter: the voter
 *
 * Return: the era; it enters no view of an earlier one.
 */
uint64_t spindle_restart_bound(const struct spindle_restart_voter *voter)
{
	uint64_t bound = voter->bound;
	uint32_t i;

	for (i = 0; i < voter->opens; i++)
		if (voter->open[i].era > bound)
			bound = voter->open[i].era;
	return bound;
}

/**
 * spindle_restart_withdraw() - an attempt has made no proposal, and makes none
 * @voter: the voter of any node
 * @ballot: the attempt
 *
 * The node that attempts says so, see spindle_restart_withdrawn(). A node that attempts may forget
 * that it has withdrawn, because it uses no era twice.
 *
 * Return: enum spindle_restart_vote; the answer is never no.
 */
enum spindle_restart_vote spindle_restart_withdraw(struct spindle_restart_voter *voter,
						   const struct spindle_restart_ballot *ballot)
{
	uint32_t i = find_open(voter, ballot);

	if (i == voter->opens)
		return SPINDLE_RESTART_SAME;
	voter->opens--;
	memmove(voter->open + i, voter->open + i + 1,
		(voter->opens - i) * sizeof(voter->open[0]));
	if (is_same(&voter->promised, ballot))
		move(voter, EVENT_WITHDRAW);
	return SPINDLE_RESTART_SYNC;
}

/**
 * spindle_restart_withdrawn() - did an attempt of this node make no proposal?
 * @voter: the voter of the node
 * @node: its id
 * @ballot: the attempt
 *
 * A node accepts its own proposal first. So the answer is no for each attempt that made one.
 *
 * Return: whether it made none, and makes none; false also if the voter does not know.
 */
bool spindle_restart_withdrawn(const struct spindle_restart_voter *voter, uint32_t node,
			       const struct spindle_restart_ballot *ballot)
{
	return ballot->proposer == node && ballot->era > voter->bound &&
	       ballot->era <= voter->promised.era && find_open(voter, ballot) == voter->opens;
}

/**
 * spindle_restart_withdraw_own() - the node has started, and goes on with no attempt of its own
 * @voter: the voter of the node, behind spindle_restart_boot()
 * @node: its id
 *
 * An attempt that has made a proposal is not open, because the node has accepted that first. All
 * others make none any more. This need not be on disk, because each start does it again.
 */
void spindle_restart_withdraw_own(struct spindle_restart_voter *voter, uint32_t node)
{
	struct spindle_restart_ballot ballot;
	uint32_t i;

	for (i = voter->opens; i > 0; i--) {
		ballot = voter->open[i - 1];
		if (ballot.proposer == node)
			spindle_restart_withdraw(voter, &ballot);
	}
}

/* ---- votes ------------------------------------------------------------------------- */

/**
 * spindle_restart_reach() - which eras may be those of this group?
 * @voter: the voter
 *
 * Eras of attempts follow each other. A node that names one far above them lies, and would use up
 * the eras.
 *
 * Return: the largest one.
 */
uint64_t spindle_restart_reach(const struct spindle_restart_voter *voter)
{
	uint64_t reach = voter->promised.era + SPINDLE_RESTART_ERA_JUMP;

	return reach < SPINDLE_RESTART_ERA_MAX ? reach : SPINDLE_RESTART_ERA_MAX;
}

/**
 * spindle_restart_promise() - an attempt asks for a promise and a report (R7)
 * @voter: the voter
 * @ballot: the attempt
 *
 * The proposer is the first that promises. So it uses no era twice, whatever it forgets.
 *
 * Return: enum spindle_restart_vote; the answer is a report.
 */
enum spindle_restart_vote spindle_restart_promise(struct spindle_restart_voter *voter,
						  const struct spindle_restart_ballot *ballot)
{
	if (voter->state == SPINDLE_RESTART_PROMISED && is_same(&voter->promised, ballot))
		return SPINDLE_RESTART_SAME;
	if (ballot->era <= voter->promised.era || ballot->era > spindle_restart_reach(voter) ||
	    !move(voter, EVENT_PROMISE))
		return SPINDLE_RESTART_REFUSED;
	voter->promised = *ballot;
	add_open(voter, ballot);
	return SPINDLE_RESTART_SYNC;
}

/**
 * spindle_restart_accept() - an attempt asks for a vote (R7)
 * @voter: the voter
 * @proposal: the proposal
 *
 * A node accepts one proposal of an attempt, also if the attempt asks for votes for two.
 *
 * Return: enum spindle_restart_vote
 */
enum spindle_restart_vote spindle_restart_accept(struct spindle_restart_voter *voter,
						 const struct spindle_restart_proposal *proposal)
{
	if (!is_same(&voter->promised, &proposal->ballot))
		return SPINDLE_RESTART_REFUSED;
	if (voter->state == SPINDLE_RESTART_ACCEPTED)
		return spindle_restart_equal(&voter->accepted, proposal) ?
		       SPINDLE_RESTART_SAME : SPINDLE_RESTART_REFUSED;
	if (!move(voter, EVENT_ACCEPT))
		return SPINDLE_RESTART_REFUSED;
	spindle_restart_copy_proposal(&voter->accepted, proposal);
	voter->has_accepted = true;
	bind(voter, proposal->ballot.era);
	return SPINDLE_RESTART_SYNC;
}

/**
 * spindle_restart_enter() - the node is about to enter a view (R9, R10)
 * @voter: the voter
 * @era: era of the view
 *
 * A promise binds as a vote does: others may count on it already. A node without a promise of that
 * era promises no earlier one from now on. The state is on disk before the log is cut, and the log
 * is cut before the node enters.
 *
 * The kernel may have been told any era, so a jump is no reason to refuse.
 *
 * Return: enum spindle_restart_vote; refused: a proposal of a later era may stand, or there is no
 * such era.
 */
enum spindle_restart_vote spindle_restart_enter(struct spindle_restart_voter *voter, uint64_t era)
{
	if (era > SPINDLE_RESTART_ERA_MAX)
		return SPINDLE_RESTART_REFUSED;
	if (era < spindle_restart_bound(voter))
		return SPINDLE_RESTART_REFUSED;
	if (voter->state == SPINDLE_RESTART_RUNNING && era == voter->bound)
		return SPINDLE_RESTART_SAME;
	if (!move(voter, EVENT_ENTER))
		return SPINDLE_RESTART_REFUSED;
	bind(voter, era);
	if (era > voter->promised.era)
		voter->promised = (struct spindle_restart_ballot){ .era = era };
	return SPINDLE_RESTART_SYNC;
}

/**
 * spindle_restart_stop() - the node is in no view any more
 * @voter: the voter
 */
void spindle_restart_stop(struct spindle_restart_voter *voter)
{
	move(voter, EVENT_STOP);
}

/**
 * spindle_restart_tell() - put the votes into a report
 * @voter: the voter
 * @report: the report
 */
void spindle_restart_tell(const struct spindle_restart_voter *voter,
			  struct spindle_restart_report *report)
{
	report->promised = voter->promised;
	report->has_accepted = voter->has_accepted;
	if (voter->has_accepted)
		spindle_restart_copy_proposal(&report->accepted, &voter->accepted);
}
