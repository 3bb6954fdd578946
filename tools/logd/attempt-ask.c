// SPDX-License-Identifier: GPL-2.0-only
/*
 * Questions of an attempt to other nodes, and what follows from the answers. See attempt.h.
 *
 * Each state asks all nodes, in rounds. A node that does not answer in time is asked again in the
 * next round.
 */
#include <stdlib.h>
#include <string.h>

#include "attempt.h"

/* ---- rounds ------------------------------------------------------------------------------- */

static bool all_answered(const struct attempt *a)
{
	uint32_t i;

	for (i = 0; i < a->peers; i++)
		if (!a->peer[i].answered)
			return false;
	return true;
}

static bool is_round_over(const struct attempt *a, uint64_t now)
{
	return now - a->round_ms >= ATTEMPT_ROUND_MS || all_answered(a);
}

/* The next round begins when this one is over, and not at once. */
static bool is_next_round(const struct attempt *a, uint64_t now)
{
	return is_round_over(a, now) && now - a->round_ms >= ATTEMPT_PAUSE_MS;
}

static void next_round(struct attempt *a, uint64_t now)
{
	uint32_t i;

	for (i = 0; i < a->peers; i++)
		if (!a->peer[i].answered)
			a->peer[i].here = false;
	attempt_move(a, a->state, now);
}

/* ---- look --------------------------------------------------------------------------------- */

/* Does the node run in a view? The first era is 0, so the number of the view says so. */
static bool is_running(const struct attempt_how *how)
{
	return how->state == ATTEMPT_RUNNING && how->vid;
}

/*
 * A group of an era below the own promise may not be joined: the promise may have become part of a
 * restart that stands.
 */
static bool may_join(const struct attempt *a, const struct attempt_how *how)
{
	return is_running(how) && how->era >= spindle_restart_bound(a->voter) &&
	       how->era <= spindle_restart_reach(a->voter);
}

/* Is there a member that the group can be joined over, after fewer joins that have failed? */
static bool has_contact(const struct attempt *a, uint32_t fails)
{
	uint32_t i;

	for (i = 0; i < a->peers; i++)
		if (a->peer[i].here && a->peer[i].fails < fails && may_join(a, &a->peer[i].how))
			return true;
	return false;
}

/* Does another node attempt to restart the group? */
static bool is_attempted(const struct attempt *a)
{
	uint32_t i;

	for (i = 0; i < a->peers; i++)
		if (a->peer[i].here && (a->peer[i].how.state == ATTEMPT_PREPARE ||
					a->peer[i].how.state == ATTEMPT_ACCEPT ||
					a->peer[i].how.state == ATTEMPT_ENTER))
			return true;
	return false;
}

/* Is there a group that has begun by a forced restart of this one? */
static bool is_left(const struct attempt *a)
{
	uint32_t i;

	for (i = 0; i < a->peers; i++)
		if (a->peer[i].here && a->peer[i].left)
			return true;
	return false;
}

static void forget_reports(struct attempt *a)
{
	uint32_t i;

	for (i = 0; i < a->peers; i++) {
		free(a->peer[i].report);
		a->peer[i].report = NULL;
		a->peer[i].votes = false;
	}
}

/* Above all that this node has promised and has heard of. Above its reach, no era is left. */
static uint64_t next_era(const struct attempt *a)
{
	uint64_t era = a->voter->promised.era;

	if (a->seen > era && a->seen < spindle_restart_reach(a->voter))
		era = a->seen;
	return era + 1;
}

/* Return: whether an attempt has begun. Without an era for it, rounds go on. */
static bool prepare(struct attempt *a, uint64_t now)
{
	uint64_t era = next_era(a);

	a->spent = era > spindle_restart_reach(a->voter);
	if (a->spent)
		return false;
	if (a->state == ATTEMPT_PREPARE)
		a->ops->withdraw(a->arg, &a->ballot);
	a->ballot = (struct spindle_restart_ballot){ .era = era, .proposer = a->node };
	if (!attempt_done(a, a->ops->promise(a->arg, &a->ballot), now))
		return false;
	forget_reports(a);
	a->judged = false;
	a->forced = false;
	a->leave_ms = 0;
	a->mine = a->ops->report(a->arg, a->own);
	spindle_restart_tell(a->voter, a->own);
	attempt_move(a, ATTEMPT_PREPARE, now);
	a->state_ms = now;
	return true;
}

static void look(struct attempt *a, uint64_t now)
{
	bool others = is_attempted(a);

	if (!is_round_over(a, now))
		return;
	if (!others)
		a->leave_ms = 0;
	else if (!a->leave_ms)
		a->leave_ms = now;
	if (now >= a->propose_ms && !has_contact(a, UINT32_MAX) && !is_left(a) &&
	    (!others || now - a->leave_ms >= ATTEMPT_PATIENCE_MS) && prepare(a, now))
		return;
	if (is_next_round(a, now))
		next_round(a, now);
}

static bool is_member(const struct attempt *a, const struct spindle_restart_proposal *proposal)
{
	uint32_t i;

	for (i = 0; i < proposal->members; i++)
		if (proposal->node[i] == a->node)
			return true;
	return false;
}

/*
 * Another node says that the proposal stands. A member has reported to the attempt that has made it
 * first, so this node has promised that one, or a later one.
 */
static void take_proposal(struct attempt *a, const struct spindle_restart_proposal *proposal,
			  uint64_t now)
{
	if (!is_member(a, proposal) || proposal->ballot.era < spindle_restart_bound(a->voter) ||
	    proposal->origin > a->voter->promised.era || !attempt_may_take(a, proposal))
		return;
	*a->proposal = *proposal;
	a->era = proposal->ballot.era;
	a->vid = proposal->vid;
	attempt_move(a, ATTEMPT_ENTER, now);
}

static void look_at(struct attempt *a, const struct attempt_peer *peer,
		    const struct attempt_reply *reply, uint64_t now)
{
	if (now < a->into_ms)
		return;
	if (reply->how.state == ATTEMPT_ENTER && reply->proposal) {
		take_proposal(a, reply->proposal, now);
	} else if (may_join(a, &reply->how) && !has_contact(a, peer->fails)) {
		a->contact = peer->node;
		a->era = reply->how.era;
		a->vid = reply->how.vid;
		attempt_move(a, ATTEMPT_JOIN, now);
	}
}

/* ---- promises ----------------------------------------------------------------------------- */

/* The reports of others are not true, because they leave out what this node has durable. */
static void contradict(struct spindle_restart_answer *answer)
{
	uint32_t i;

	answer->kind = SPINDLE_RESTART_WAIT;
	for (i = 0; i < answer->parts; i++)
		answer->part[i].why = SPINDLE_RESTART_CONFLICT;
}

static uint32_t list_reports(const struct attempt *a, const struct spindle_restart_report **report)
{
	uint32_t i, n = 0;

	if (a->mine)
		report[n++] = a->own;
	for (i = 0; i < a->peers; i++)
		if (a->peer[i].report)
			report[n++] = a->peer[i].report;
	return n;
}

static void judge(struct attempt *a)
{
	const struct spindle_restart_report *report[SPINDLE_MAX_MEMBERS];
	uint32_t n = list_reports(a, report);

	spindle_restart_judge(&a->ballot, report, n, a->answer);
	if (a->mine && a->answer->kind != SPINDLE_RESTART_WAIT &&
	    !spindle_restart_keeps(a->own, &a->answer->proposal))
		contradict(a->answer);
	a->judged = true;
	a->weighed = false;
	a->forced = false;
}

/* What could be forced changes with each report, so it is shown when no more reports come. */
static void weigh(struct attempt *a)
{
	const struct spindle_restart_report *report[SPINDLE_MAX_MEMBERS];
	uint32_t n = list_reports(a, report);

	a->weighed = true;
	a->forced = a->mine && spindle_restart_force(&a->ballot, report, n, a->answer, a->force);
}

static bool all_report(const struct attempt *a)
{
	uint32_t i;

	for (i = 0; i < a->peers; i++)
		if (!a->peer[i].report)
			return false;
	return true;
}

/* The own node is the first that votes for the proposal. */
static void propose(struct attempt *a, uint64_t now)
{
	if (attempt_done(a, a->ops->accept(a->arg, &a->answer->proposal), now) &&
	    attempt_move(a, ATTEMPT_ACCEPT, now))
		return;
	if (a->state != ATTEMPT_FAILED)
		attempt_step_back(a, now);
}

/* Another attempt has used the era, or a later one. */
static bool is_outbid(const struct attempt *a)
{
	return a->seen >= a->ballot.era;
}

static void wait_for_reports(struct attempt *a, uint64_t now)
{
	if (!a->judged)
		judge(a);
	if (all_report(a) || now - a->state_ms >= ATTEMPT_GRACE_MS) {
		if (a->answer->kind != SPINDLE_RESTART_WAIT) {
			propose(a, now);
			return;
		}
		if (!a->weighed)
			weigh(a);
	}
	if (!is_next_round(a, now))
		return;
	if (!is_outbid(a) || !prepare(a, now))
		next_round(a, now);
}

static bool take_report(struct attempt *a, struct attempt_peer *peer,
			const struct spindle_restart_report *report)
{
	if (report->node != peer->node || report->promised.era != a->ballot.era ||
	    report->promised.proposer != a->ballot.proposer ||
	    memcmp(report->lineage, a->lineage, sizeof(a->lineage)))
		return false;
	if (!peer->report)
		peer->report = malloc(sizeof(*peer->report));
	if (!peer->report)
		return false;
	*peer->report = *report;
	a->judged = false;
	return true;
}

/* Of two nodes that attempt, the one with the larger ballot goes on. */
static bool is_behind(const struct attempt *a, const struct attempt_peer *peer)
{
	const struct spindle_restart_ballot *b = &peer->how.promised;

	if ((peer->how.state != ATTEMPT_PREPARE && peer->how.state != ATTEMPT_ACCEPT) ||
	    b->proposer != peer->node)
		return false;
	return b->era > a->ballot.era || (b->era == a->ballot.era && b->proposer > a->node);
}

/* Could the node join a group of this era, if it gave up its own attempt? */
static bool could_join(const struct attempt *a, uint64_t era)
{
	const struct spindle_restart_voter *v = a->voter;
	uint64_t bound = v->bound;
	uint32_t i;

	for (i = 0; i < v->opens; i++)
		if (v->open[i].era > bound && (v->open[i].era != a->ballot.era ||
					       v->open[i].proposer != a->ballot.proposer))
			bound = v->open[i].era;
	return era >= bound;
}

static void refused(struct attempt *a, const struct attempt_peer *peer, uint64_t now)
{
	/* A group runs that can be joined, or one begins to run, or another attempt is ahead. */
	if ((is_running(&peer->how) && could_join(a, peer->how.era)) ||
	    peer->how.state == ATTEMPT_ENTER || is_behind(a, peer))
		attempt_step_back(a, now);
}

/* ---- votes -------------------------------------------------------------------------------- */

static void count_votes(struct attempt *a, uint64_t now)
{
	uint32_t node[SPINDLE_MAX_MEMBERS], i, n = 0;

	node[n++] = a->node;
	for (i = 0; i < a->peers; i++)
		if (a->peer[i].votes)
			node[n++] = a->peer[i].node;
	if (!spindle_restart_stands(a->answer, node, n))
		return;
	if (!is_member(a, &a->answer->proposal)) {
		/* The first members have the proposal. One of them sees that it stands. */
		attempt_step_back(a, now);
		return;
	}
	*a->proposal = a->answer->proposal;
	a->era = a->proposal->ballot.era;
	a->vid = a->proposal->vid;
	attempt_move(a, ATTEMPT_ENTER, now);
}

static void wait_for_votes(struct attempt *a, uint64_t now)
{
	count_votes(a, now);
	if (a->state != ATTEMPT_ACCEPT)
		return;
	if (now - a->state_ms >= ATTEMPT_VOTES_MS)
		attempt_step_back(a, now);
	else if (is_next_round(a, now))
		next_round(a, now);
}

/* ---- the loop ----------------------------------------------------------------------------- */

/**
 * attempt_work() - do what time asks for
 * @a: the attempt
 * @now: milliseconds
 */
void attempt_work(struct attempt *a, uint64_t now)
{
	switch (a->state) {
	case ATTEMPT_LOOK:
		look(a, now);
		break;
	case ATTEMPT_PREPARE:
		wait_for_reports(a, now);
		break;
	case ATTEMPT_ACCEPT:
		wait_for_votes(a, now);
		break;
	default:
		break;
	}
}

/* The promise to an attempt of this node that may have been withdrawn; NULL: there is none. */
static const struct spindle_restart_ballot *find_open(const struct attempt *a, uint32_t node)
{
	uint32_t i;

	for (i = a->voter->opens; i > 0; i--)
		if (a->voter->open[i - 1].proposer == node)
			return &a->voter->open[i - 1];
	return NULL;
}

/* In every second round, because another attempt may have been withdrawn as well. */
static bool asks_for_force(const struct attempt *a, const struct attempt_peer *peer)
{
	return a->wants && a->turn % 2 && (a->state == ATTEMPT_LOOK || peer->report);
}

static void look_for(struct attempt *a, struct attempt_peer *peer, struct attempt_request *req)
{
	const struct spindle_restart_ballot *open = find_open(a, peer->node);

	if (!open)
		return;
	req->kind = ATTEMPT_WITHDRAWN;
	req->ballot = *open;
	peer->open = *open;
}

/* Such a node promises nothing, but an attempt of it may have been withdrawn. */
static bool is_known_to_run(const struct attempt_peer *peer)
{
	return peer->here && is_running(&peer->how);
}

/**
 * attempt_next() - what shall a node be asked?
 * @a: the attempt
 * @i: index of the node
 * @req: out: the question, valid until the next call of a function of the attempt
 * @turn: out: the round, for attempt_answer()
 *
 * Return: whether there is a question, which counts as asked then.
 */
bool attempt_next(struct attempt *a, uint32_t i, struct attempt_request *req, uint64_t *turn)
{
	struct attempt_peer *peer = &a->peer[i];

	if (a->state > ATTEMPT_ACCEPT || peer->asked)
		return false;
	peer->asked = true;
	*turn = a->turn;
	*req = (struct attempt_request){ .kind = ATTEMPT_HOW };
	peer->open.era = 0;
	if (a->state == ATTEMPT_PREPARE && !peer->report && !is_known_to_run(peer)) {
		req->kind = ATTEMPT_PROMISE;
		req->ballot = a->ballot;
	} else if (a->state != ATTEMPT_ACCEPT && asks_for_force(a, peer)) {
		req->kind = ATTEMPT_FORCED;
	} else if (a->state == ATTEMPT_LOOK || a->state == ATTEMPT_PREPARE) {
		look_for(a, peer, req);
	} else if (a->state == ATTEMPT_ACCEPT && !peer->votes) {
		req->kind = ATTEMPT_VOTE;
		req->proposal = &a->answer->proposal;
	}
	return true;
}

/*
 * The nodes of a group that has begun by a forced restart promise nothing here, and the
 * administrator has to say what becomes of this node.
 */
static void take_force(struct attempt *a, struct attempt_peer *peer,
		       const struct attempt_reply *reply, uint64_t now)
{
	if (memcmp(reply->force->proposal.lineage, a->lineage, sizeof(a->lineage)))
		return;
	peer->left = reply->yes;
	a->ops->heard(a->arg, peer->node, reply->force, reply->yes);
	if (peer->left && a->state == ATTEMPT_PREPARE)
		attempt_step_back(a, now);
}

static void take_answer(struct attempt *a, struct attempt_peer *peer,
			const struct attempt_reply *reply, uint64_t now)
{
	if (reply->force) {
		take_force(a, peer, reply, now);
		return;
	}
	peer->left = false;
	if (peer->open.era && reply->yes)
		a->ops->withdraw(a->arg, &peer->open);
	switch (a->state) {
	case ATTEMPT_LOOK:
		look_at(a, peer, reply, now);
		break;
	case ATTEMPT_PREPARE:
		if (!reply->report || !take_report(a, peer, reply->report))
			refused(a, peer, now);
		break;
	case ATTEMPT_ACCEPT:
		/* A node that has voted is asked how it is, and says yes to that. */
		peer->votes = peer->votes || reply->yes;
		if (!reply->yes)
			refused(a, peer, now);
		break;
	default:
		break;
	}
}

/*
 * The node follows an era that it hears of as far as it may promise, and once for an attempt. So a
 * lie uses up few eras, and a node behind others that were led further comes after them.
 */
static void hear(struct attempt *a, const struct spindle_restart_ballot *promised)
{
	uint64_t era = promised->era, most = spindle_restart_reach(a->voter) - 1;

	/* This node knows what it has promised to itself. */
	if (promised->proposer == a->node || (era > most && a->state != ATTEMPT_LOOK))
		return;
	if (era > most)
		era = most;
	if (era > a->seen)
		a->seen = era;
}

/* To enter such an era would bind this node, so that it finds no view of its group any more. */
static bool is_far(const struct attempt *a, const struct attempt_reply *reply)
{
	uint64_t reach = spindle_restart_reach(a->voter);

	return reply->how.era > reach ||
	       (reply->proposal && reply->proposal->ballot.era > reach);
}

/**
 * attempt_answer() - a node has answered, or cannot be reached
 * @a: the attempt
 * @node: its id
 * @turn: the round of the question
 * @reply: the answer; NULL: there is none
 * @now: milliseconds
 */
void attempt_answer(struct attempt *a, uint32_t node, uint64_t turn,
		    const struct attempt_reply *reply, uint64_t now)
{
	struct attempt_peer *peer = attempt_find(a, node);

	if (!peer)
		return;
	if (reply)
		hear(a, &reply->how.promised);
	if (turn != a->turn || peer->answered)
		return;
	peer->answered = true;
	peer->here = reply;
	if (!reply)
		return;
	peer->how = reply->how;
	if (!is_far(a, reply))
		take_answer(a, peer, reply, now);
}
