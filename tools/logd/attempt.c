// SPDX-License-Identifier: GPL-2.0-only
/*
 * The states of an attempt, and answers to other nodes. See attempt.h.
 *
 * A node answers in each state. What it promises and accepts is on disk before the answer goes.
 */
#include <stdlib.h>
#include <string.h>

#include "attempt.h"

#define BIT_OF(state)	(1U << (state))

/* The states that may follow each state. attempt_move() is the only writer of the state. */
static const uint32_t follows[ATTEMPT_STATES] = {
	[ATTEMPT_LOOK] = BIT_OF(ATTEMPT_LOOK) | BIT_OF(ATTEMPT_PREPARE) | BIT_OF(ATTEMPT_ENTER) |
			 BIT_OF(ATTEMPT_JOIN) | BIT_OF(ATTEMPT_RUNNING) | BIT_OF(ATTEMPT_FAILED),
	[ATTEMPT_PREPARE] = BIT_OF(ATTEMPT_LOOK) | BIT_OF(ATTEMPT_PREPARE) |
			    BIT_OF(ATTEMPT_ACCEPT) | BIT_OF(ATTEMPT_FAILED),
	[ATTEMPT_ACCEPT] = BIT_OF(ATTEMPT_LOOK) | BIT_OF(ATTEMPT_PREPARE) |
			   BIT_OF(ATTEMPT_ENTER) | BIT_OF(ATTEMPT_FAILED),
	[ATTEMPT_ENTER] = BIT_OF(ATTEMPT_LOOK) | BIT_OF(ATTEMPT_RUNNING) | BIT_OF(ATTEMPT_FAILED),
	[ATTEMPT_JOIN] = BIT_OF(ATTEMPT_LOOK) | BIT_OF(ATTEMPT_RUNNING) | BIT_OF(ATTEMPT_FAILED),
	[ATTEMPT_RUNNING] = BIT_OF(ATTEMPT_LOOK) | BIT_OF(ATTEMPT_RUNNING),
	[ATTEMPT_FAILED] = 0,
};

/* A round of questions begins with each state. Answers to the round before are late. */
static void begin_round(struct attempt *a, uint64_t now)
{
	uint32_t i;

	a->turn++;
	a->round_ms = now;
	for (i = 0; i < a->peers; i++) {
		a->peer[i].asked = false;
		a->peer[i].answered = false;
	}
}

/**
 * attempt_move() - go to a state
 * @a: the attempt
 * @to: the state; the same one again begins another round
 * @now: milliseconds
 *
 * Return: whether that state may follow.
 */
bool attempt_move(struct attempt *a, enum attempt_state to, uint64_t now)
{
	if (!(follows[a->state] & BIT_OF(to)) && to != a->state)
		return false;
	if (to != a->state)
		a->state_ms = now;
	a->state = to;
	begin_round(a, now);
	return true;
}

/* xorshift64*: attempts of different nodes only have to differ. */
static uint64_t random_below(struct attempt *a, uint64_t n)
{
	a->random ^= a->random >> 12;
	a->random ^= a->random << 25;
	a->random ^= a->random >> 27;
	return (a->random * 2685821657736338717ULL >> 32) % n;
}

/* Milliseconds that grow with each attempt that has failed. */
static uint64_t pause_of(const struct attempt *a)
{
	uint64_t most = ATTEMPT_BACKOFF_MS;
	uint32_t i;

	for (i = 0; i < a->tries && most < ATTEMPT_BACKOFF_MAX_MS; i++)
		most *= 2;
	return most;
}

/* Nodes that boot at once must not all attempt at once. */
static void back_off(struct attempt *a, uint64_t now)
{
	a->propose_ms = now + random_below(a, pause_of(a) + 1);
}

/**
 * attempt_step_back() - give up the own attempt, and look again
 * @a: the attempt
 * @now: milliseconds
 *
 * An attempt that has made no proposal is withdrawn, so that its promises bind nobody.
 */
void attempt_step_back(struct attempt *a, uint64_t now)
{
	if (a->state == ATTEMPT_PREPARE)
		a->ops->withdraw(a->arg, &a->ballot);
	a->tries++;
	a->mine = false;
	a->judged = false;
	a->forced = false;
	attempt_move(a, ATTEMPT_LOOK, now);
	back_off(a, now);
}

/**
 * attempt_begin() - begin to look for the group
 * @a: the attempt; ops, arg, node, lineage and voter are set, all other members are zero. The
 *	voter has no open attempt of this node, see spindle_restart_withdraw_own().
 * @seed: of the random numbers
 * @now: milliseconds
 *
 * Return: whether there was memory.
 */
bool attempt_begin(struct attempt *a, uint64_t seed, uint64_t now)
{
	a->own = calloc(1, sizeof(*a->own));
	a->answer = calloc(1, sizeof(*a->answer));
	a->proposal = calloc(1, sizeof(*a->proposal));
	a->force = calloc(1, sizeof(*a->force));
	if (!a->own || !a->answer || !a->proposal || !a->force) {
		attempt_end(a);
		return false;
	}
	a->random = seed | 1;
	a->state = ATTEMPT_LOOK;
	a->state_ms = now;
	begin_round(a, now);
	back_off(a, now);
	return true;
}

/**
 * attempt_end() - free the memory
 * @a: the attempt
 */
void attempt_end(struct attempt *a)
{
	uint32_t i;

	for (i = 0; i < a->peers; i++)
		free(a->peer[i].report);
	free(a->own);
	free(a->answer);
	free(a->proposal);
	free(a->force);
	a->own = NULL;
	a->answer = NULL;
	a->proposal = NULL;
	a->force = NULL;
	a->peers = 0;
}

/**
 * attempt_find() - find another node
 * @a: the attempt
 * @node: its id
 *
 * Return: the node, or NULL.
 */
struct attempt_peer *attempt_find(struct attempt *a, uint32_t node)
{
	uint32_t i;

	for (i = 0; i < a->peers; i++)
		if (a->peer[i].node == node)
			return &a->peer[i];
	return NULL;
}

/**
 * attempt_know() - there is another node
 * @a: the attempt
 * @node: its id
 *
 * Return: whether it is asked from now on.
 */
bool attempt_know(struct attempt *a, uint32_t node)
{
	if (node == a->node || attempt_find(a, node))
		return node != a->node;
	/* The node itself has a place in a view, too. */
	if (a->peers >= SPINDLE_MAX_MEMBERS - 1)
		return false;
	a->peer[a->peers++] = (struct attempt_peer){ .node = node };
	return true;
}

/* ---- answers ------------------------------------------------------------------------------ */

/**
 * attempt_done() - has the voter done what was asked?
 * @a: the attempt
 * @done: result of a function of struct attempt_ops
 * @now: milliseconds
 *
 * A node whose disk has failed takes part in nothing any more.
 *
 * Return: whether it has.
 */
bool attempt_done(struct attempt *a, int done, uint64_t now)
{
	if (done < 0)
		attempt_move(a, ATTEMPT_FAILED, now);
	return done > 0;
}

static bool is_in_view(const struct attempt *a)
{
	return a->state == ATTEMPT_ENTER || a->state == ATTEMPT_JOIN ||
	       a->state == ATTEMPT_RUNNING || a->state == ATTEMPT_FAILED;
}

static bool is_own(const struct attempt *a, const struct spindle_restart_ballot *ballot)
{
	return ballot->era == a->ballot.era && ballot->proposer == a->ballot.proposer;
}

/* The own attempt gets no vote of its own node any more. */
static void make_way(struct attempt *a, const struct spindle_restart_ballot *ballot, uint64_t now)
{
	if (is_own(a, ballot))
		return;
	if (a->state != ATTEMPT_LOOK)
		attempt_step_back(a, now);
	a->leave_ms = now;
}

static bool promise(struct attempt *a, const struct spindle_restart_ballot *ballot, uint64_t now)
{
	if (is_in_view(a) || !ballot->era || ballot->proposer == a->node ||
	    !attempt_done(a, a->ops->promise(a->arg, ballot), now))
		return false;
	make_way(a, ballot, now);
	a->mine = false;
	if (!a->ops->report(a->arg, a->own))
		return false;
	spindle_restart_tell(a->voter, a->own);
	return true;
}

/**
 * attempt_may_take() - may this node vote for a proposal, or enter it?
 * @a: the attempt
 * @proposal: what another node says
 *
 * The node believes others only where it does not know better itself: which proposal of the attempt
 * it has accepted, and what was durable.
 *
 * Return: whether it may.
 */
bool attempt_may_take(struct attempt *a, const struct spindle_restart_proposal *proposal)
{
	const struct spindle_restart_voter *voter = a->voter;

	if (memcmp(proposal->lineage, a->lineage, sizeof(a->lineage)))
		return false;
	if (voter->has_accepted && voter->accepted.ballot.era == proposal->ballot.era &&
	    voter->accepted.ballot.proposer == proposal->ballot.proposer)
		return spindle_restart_equal(&voter->accepted, proposal);
	a->mine = false;
	return a->ops->report(a->arg, a->own) && spindle_restart_keeps(a->own, proposal);
}

static bool is_promised(const struct attempt *a, const struct spindle_restart_ballot *ballot)
{
	return ballot->era == a->voter->promised.era &&
	       ballot->proposer == a->voter->promised.proposer;
}

static bool accept(struct attempt *a, const struct spindle_restart_proposal *proposal,
		   uint64_t now)
{
	if (is_in_view(a) || !proposal || proposal->ballot.proposer == a->node ||
	    !is_promised(a, &proposal->ballot) || !attempt_may_take(a, proposal) ||
	    !attempt_done(a, a->ops->accept(a->arg, proposal), now))
		return false;
	a->leave_ms = now;
	return true;
}

static void tell_how(const struct attempt *a, struct attempt_how *how)
{
	*how = (struct attempt_how){
		.state = a->state, .promised = a->voter->promised, .era = a->era, .vid = a->vid,
	};
}

/**
 * attempt_is_of() - may a node ask this?
 * @req: the question
 * @node: id of the node
 *
 * An attempt has the name of the node that makes it, and no other node asks for it.
 *
 * Return: whether it may.
 */
bool attempt_is_of(const struct attempt_request *req, uint32_t node)
{
	if (req->kind == ATTEMPT_PROMISE)
		return req->ballot.proposer == node;
	if (req->kind == ATTEMPT_VOTE)
		return req->proposal && req->proposal->ballot.proposer == node;
	return true;
}

/**
 * attempt_serve() - answer another node
 * @a: the attempt
 * @req: the question
 * @reply: out: the answer, valid until the next call
 * @now: milliseconds
 */
void attempt_serve(struct attempt *a, const struct attempt_request *req,
		   struct attempt_reply *reply, uint64_t now)
{
	*reply = (struct attempt_reply){ .yes = false };
	switch (req->kind) {
	case ATTEMPT_HOW:
		reply->yes = true;
		break;
	case ATTEMPT_PROMISE:
		reply->yes = promise(a, &req->ballot, now);
		reply->report = reply->yes ? a->own : NULL;
		break;
	case ATTEMPT_VOTE:
		reply->yes = accept(a, req->proposal, now);
		break;
	case ATTEMPT_WITHDRAWN:
		reply->yes = spindle_restart_withdrawn(a->voter, a->node, &req->ballot);
		break;
	case ATTEMPT_FORCED:
		reply->force = a->forced ? a->force : NULL;
		break;
	case ATTEMPT_RECORD:
		/* The own attempt needs its report until it has made a proposal. */
		reply->yes = a->state == ATTEMPT_RUNNING && a->ops->report(a->arg, a->own);
		if (reply->yes)
			spindle_restart_tell(a->voter, a->own);
		reply->report = reply->yes ? a->own : NULL;
		break;
	}
	if (a->state == ATTEMPT_ENTER)
		reply->proposal = a->proposal;
	tell_how(a, &reply->how);
}

/* ---- what the caller has done ------------------------------------------------------------- */

/**
 * attempt_runs() - the node is in a view
 * @a: the attempt
 * @era: of the view
 * @vid: of the view
 * @now: milliseconds
 */
void attempt_runs(struct attempt *a, uint64_t era, uint64_t vid, uint64_t now)
{
	a->era = era;
	a->vid = vid;
	if (a->state != ATTEMPT_RUNNING)
		attempt_move(a, ATTEMPT_RUNNING, now);
}

/**
 * attempt_again() - the node is in no view any more, as its voter knows: look again
 * @a: the attempt
 * @now: milliseconds
 *
 * What has failed is not tried again at once, because each try writes files. Another member may
 * know what the contact does not.
 */
void attempt_again(struct attempt *a, uint64_t now)
{
	struct attempt_peer *contact = attempt_find(a, a->contact);

	if (a->state == ATTEMPT_JOIN && contact)
		contact->fails++;
	a->era = 0;
	a->vid = 0;
	attempt_step_back(a, now);
	a->into_ms = now + pause_of(a);
}

/**
 * attempt_resume() - the process before has told the kernel of a view, which forms
 * @a: the attempt, which looks
 * @now: milliseconds
 *
 * Until the caller knows more, the node promises nothing, because it may be in the view any time.
 */
void attempt_resume(struct attempt *a, uint64_t now)
{
	a->contact = a->node;
	a->era = spindle_restart_bound(a->voter);
	a->vid = 0;
	attempt_move(a, ATTEMPT_JOIN, now);
}
