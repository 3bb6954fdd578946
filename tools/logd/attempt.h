/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The attempt of a node to restart its group, or to find the group that runs: which node is asked
 * what, and what follows from the answers. See Documentation/design/restart.rst.
 *
 * There is no file, socket or clock here. The caller carries requests to other nodes and replies
 * back, in any order, late, twice, or not at all. It says what time it is, and it does what a state
 * asks for: it enters, or it joins.
 *
 *	attempt.c	the states, and answers to other nodes
 *	attempt-ask.c	questions to other nodes
 *	attempt-msg.c	questions and answers as bytes
 *
 * Owner: the caller has all memory. Context: one thread.
 */
#ifndef SPINDLE_LOGD_ATTEMPT_H
#define SPINDLE_LOGD_ATTEMPT_H

#include "restart/restart.h"

/* A round of questions ends after so long, although some nodes have not answered. */
#define ATTEMPT_ROUND_MS	1500U
/* Rounds do not begin more often than this. */
#define ATTEMPT_PAUSE_MS	300U
/* An attempt that could make its proposal waits so long for the nodes that have not reported. */
#define ATTEMPT_GRACE_MS	2000U
/* After so long without enough votes, a new attempt begins. */
#define ATTEMPT_VOTES_MS	6000U
/* So long a node leaves it to another one to restart the group. */
#define ATTEMPT_PATIENCE_MS	30000U
/* A node waits a random time before it attempts, up to this, and up to twice as long each time. */
#define ATTEMPT_BACKOFF_MS	500U
#define ATTEMPT_BACKOFF_MAX_MS	8000U

/**
 * enum attempt_state - how far a node is
 */
enum attempt_state {
	/** @ATTEMPT_LOOK: it asks for a group that runs */
	ATTEMPT_LOOK,
	/** @ATTEMPT_PREPARE: it attempts to restart the group, and asks for promises and reports */
	ATTEMPT_PREPARE,
	/** @ATTEMPT_ACCEPT: it asks for votes */
	ATTEMPT_ACCEPT,
	/** @ATTEMPT_ENTER: a proposal stands, and the node enters its view */
	ATTEMPT_ENTER,
	/** @ATTEMPT_JOIN: a group runs, and the node joins it */
	ATTEMPT_JOIN,
	/** @ATTEMPT_RUNNING: the node is in a view */
	ATTEMPT_RUNNING,
	/** @ATTEMPT_FAILED: the disk has failed */
	ATTEMPT_FAILED,
	/** @ATTEMPT_STATES: how many there are */
	ATTEMPT_STATES
};

/**
 * enum attempt_kind - a question to another node
 */
enum attempt_kind {
	/** @ATTEMPT_HOW: are you in a view? */
	ATTEMPT_HOW,
	/** @ATTEMPT_PROMISE: promise your vote to this attempt, and report */
	ATTEMPT_PROMISE,
	/** @ATTEMPT_VOTE: accept this proposal */
	ATTEMPT_VOTE,
	/** @ATTEMPT_RECORD: report, without a promise */
	ATTEMPT_RECORD,
	/** @ATTEMPT_WITHDRAWN: was this attempt of yours withdrawn? */
	ATTEMPT_WITHDRAWN,
	/** @ATTEMPT_FORCED: which restart could be forced? */
	ATTEMPT_FORCED,
	/** @ATTEMPT_KINDS: how many there are */
	ATTEMPT_KINDS
};

/**
 * struct attempt_request - a question
 */
struct attempt_request {
	/** @kind: enum attempt_kind */
	uint32_t kind;
	/** @ballot: with ATTEMPT_PROMISE and ATTEMPT_WITHDRAWN */
	struct spindle_restart_ballot ballot;
	/** @proposal: with ATTEMPT_VOTE; otherwise NULL */
	const struct spindle_restart_proposal *proposal;
};

/**
 * struct attempt_how - how a node is
 */
struct attempt_how {
	/** @state: enum attempt_state */
	uint32_t state;
	/** @promised: the attempt that it has promised its vote to */
	struct spindle_restart_ballot promised;
	/** @era: of the view that it is in, or enters */
	uint64_t era;
	/** @vid: of that view */
	uint64_t vid;
};

/**
 * struct attempt_reply - an answer
 */
struct attempt_reply {
	/** @how: how the node is */
	struct attempt_how how;
	/** @yes: it does what was asked; with @force: its group has begun by that */
	bool yes;
	/** @force: what could be forced, or what its group has begun by; or NULL */
	const struct spindle_restart_force *force;
	/** @report: after ATTEMPT_PROMISE and ATTEMPT_RECORD; otherwise NULL */
	const struct spindle_restart_report *report;
	/** @proposal: the proposal by which the node enters a view, or NULL */
	const struct spindle_restart_proposal *proposal;
};

/**
 * struct attempt_peer - another node
 */
struct attempt_peer {
	/** @node: its id */
	uint32_t node;
	/** @asked: it was asked in this round */
	bool asked;
	/** @answered: it has answered in this round, or cannot be reached */
	bool answered;
	/** @here: it has answered the last time */
	bool here;
	/** @votes: it has accepted the proposal */
	bool votes;
	/** @left: it is in a group that has begun by a forced restart of this one */
	bool left;
	/** @fails: joins over this node that have failed */
	uint32_t fails;
	/** @open: in this round it was asked whether this attempt was withdrawn; era 0: none */
	struct spindle_restart_ballot open;
	/** @how: what it has said */
	struct attempt_how how;
	/** @report: its report to this attempt, or NULL */
	struct spindle_restart_report *report;
};

/**
 * struct attempt_ops - what an attempt needs of its caller
 */
struct attempt_ops {
	/**
	 * @promise: promise the vote to an attempt, on disk. Return: 1: done; 0: the voter refuses;
	 * -1: the disk has failed.
	 */
	int (*promise)(void *arg, const struct spindle_restart_ballot *ballot);
	/** @accept: accept a proposal, on disk. Return: as @promise. */
	int (*accept)(void *arg, const struct spindle_restart_proposal *proposal);
	/** @withdraw: an attempt makes no proposal; this need not be on disk */
	void (*withdraw)(void *arg, const struct spindle_restart_ballot *ballot);
	/** @report: fill a report, but for the votes. Return: whether there is one. */
	bool (*report)(void *arg, struct spindle_restart_report *report);
	/**
	 * @heard: node @node says which restart could be forced, or, with @begun, which one its
	 * group has begun by
	 */
	void (*heard)(void *arg, uint32_t node, const struct spindle_restart_force *force,
		      bool begun);
};

/**
 * struct attempt - the attempt of a node
 */
struct attempt {
	/** @ops: of the caller */
	const struct attempt_ops *ops;
	/** @arg: of @ops */
	void *arg;
	/** @node: id of this node */
	uint32_t node;
	/** @lineage: of the group */
	uint64_t lineage[2];
	/** @state: enum attempt_state; attempt_move() is the only writer */
	uint32_t state;
	/** @voter: the votes of this node, as they are on disk; @ops change them */
	const struct spindle_restart_voter *voter;
	/** @peer: the other nodes */
	struct attempt_peer peer[SPINDLE_MAX_MEMBERS];
	/** @peers: entries of @peer */
	uint32_t peers;
	/** @turn: number of the round; an answer to another round is late */
	uint64_t turn;
	/** @round_ms: when the round began */
	uint64_t round_ms;
	/** @state_ms: when the state began */
	uint64_t state_ms;
	/** @propose_ms: no attempt begins before */
	uint64_t propose_ms;
	/** @into_ms: the node enters and joins nothing before, because the last time has failed */
	uint64_t into_ms;
	/** @leave_ms: since then another node attempts; 0: none does */
	uint64_t leave_ms;
	/** @tries: attempts that have failed */
	uint32_t tries;
	/** @random: state of the random numbers */
	uint64_t random;
	/** @seen: largest era that another node has named, as far as this one may promise */
	uint64_t seen;
	/** @spent: no era is left for an attempt */
	bool spent;
	/** @ballot: of the own attempt */
	struct spindle_restart_ballot ballot;
	/** @own: the own report; room for the report that answers another node as well */
	struct spindle_restart_report *own;
	/** @mine: @own is the report to the own attempt */
	bool mine;
	/** @judged: @answer is what follows from the reports so far */
	bool judged;
	/** @answer: of the judge */
	struct spindle_restart_answer *answer;
	/** @weighed: @forced says whether these reports could be forced */
	bool weighed;
	/** @forced: @force is what could be forced now */
	bool forced;
	/** @force: see @forced */
	struct spindle_restart_force *force;
	/** @wants: the caller has others asked what they could force */
	bool wants;
	/** @proposal: the one that stands */
	struct spindle_restart_proposal *proposal;
	/** @era: of the group that runs, or of the view that is entered */
	uint64_t era;
	/** @vid: of that view */
	uint64_t vid;
	/** @contact: with ATTEMPT_JOIN: a member of the group; @node: the kernel joins already */
	uint32_t contact;
};

/* attempt.c */

bool attempt_begin(struct attempt *a, uint64_t seed, uint64_t now);
void attempt_end(struct attempt *a);
bool attempt_know(struct attempt *a, uint32_t node);
bool attempt_is_of(const struct attempt_request *req, uint32_t node);
void attempt_serve(struct attempt *a, const struct attempt_request *req,
		   struct attempt_reply *reply, uint64_t now);
void attempt_runs(struct attempt *a, uint64_t era, uint64_t vid, uint64_t now);
void attempt_again(struct attempt *a, uint64_t now);
void attempt_resume(struct attempt *a, uint64_t now);
struct attempt_peer *attempt_find(struct attempt *a, uint32_t node);

/* Between attempt.c and attempt-ask.c. */

bool attempt_move(struct attempt *a, enum attempt_state to, uint64_t now);
void attempt_step_back(struct attempt *a, uint64_t now);
bool attempt_done(struct attempt *a, int done, uint64_t now);
bool attempt_may_take(struct attempt *a, const struct spindle_restart_proposal *proposal);

/* attempt-ask.c */

void attempt_work(struct attempt *a, uint64_t now);
bool attempt_next(struct attempt *a, uint32_t i, struct attempt_request *req, uint64_t *turn);
void attempt_answer(struct attempt *a, uint32_t node, uint64_t turn,
		    const struct attempt_reply *reply, uint64_t now);

/* attempt-msg.c */

uint32_t attempt_put_request(const struct attempt_request *req, const char *address, uint8_t *to);
bool attempt_get_request(struct attempt_request *req, char *address,
			 struct spindle_restart_proposal *proposal, const uint8_t *from,
			 uint32_t len);
uint32_t attempt_put_reply(const struct attempt_reply *reply, const char *address, uint8_t *to);
bool attempt_get_reply(struct attempt_reply *reply, char *address,
		       struct spindle_restart_report *report,
		       struct spindle_restart_proposal *proposal,
		       struct spindle_restart_force *force, const uint8_t *from, uint32_t len);

#endif /* SPINDLE_LOGD_ATTEMPT_H */
