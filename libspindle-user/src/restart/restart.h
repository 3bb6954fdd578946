/* SPDX-License-Identifier: MIT */
/*
 * The total restart of a group: the decisions, and nothing else. The rules are those of
 * Documentation/design/durability.rst, in the variant in which all members count. The page
 * restart.rst says how these functions fit together.
 *
 *	restart.h	structs and functions
 *	inner.h		what the files share
 *	range.c		the views that a restart needs
 *	cut.c		which part of a log is on the way to a view
 *	place.c		which shard of a subgroup each node begins again in
 *	judge.c		reports become a proposal, or say what the restart waits for
 *	force.c		what an administrator can begin again without the nodes that are away
 *	list.c		whether nodes restart with the same subgroups
 *	vote.c		promise, accept, enter: the durable state of a node
 *	bytes.c		the encoding
 *	check.c		what a decoded struct has to fulfil
 *
 * Owner: the caller has all memory. The structs are large, and nothing here allocates any. Context:
 * any; the functions keep no state.
 */
#ifndef SPINDLE_RESTART_H
#define SPINDLE_RESTART_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <linux/spindle.h>

/* Views that a record has at most, as in the view records of spindle-logd. */
#define SPINDLE_RESTART_VIEWS	16U
/* Views that a report tells of a log, the newest ones. */
#define SPINDLE_RESTART_EPOCHS	16U
/* Earlier restarts that a path tells, the newest ones. */
#define SPINDLE_RESTART_PAST	16U
/* Promises that a voter knows to be open, the newest ones. */
#define SPINDLE_RESTART_OPEN	8U
/* Bytes of an address with its end. */
#define SPINDLE_RESTART_ADDRESS	64U
/* The largest position of a log. */
#define SPINDLE_RESTART_LSN_MAX	(1ULL << 62)
/* The largest era. */
#define SPINDLE_RESTART_ERA_MAX	(1ULL << 62)
/* A promise is for an era that is above the one before by this at most. */
#define SPINDLE_RESTART_ERA_JUMP (1ULL << 32)

/**
 * struct spindle_restart_id - the name of a view
 */
struct spindle_restart_id {
	/** @era: its era */
	uint64_t era;
	/** @vid: its number, which grows within the era */
	uint64_t vid;
};

/**
 * struct spindle_restart_ballot - the name of an attempt to restart
 */
struct spindle_restart_ballot {
	/** @era: era of the group if the attempt succeeds; 0: no attempt */
	uint64_t era;
	/** @proposer: node that attempts it */
	uint32_t proposer;
};

/**
 * struct spindle_restart_view - a view of a subgroup
 */
struct spindle_restart_view {
	/** @id: its name */
	struct spindle_restart_id id;
	/** @origin: era of the attempt that made the proposal of the era first */
	uint64_t origin;
	/** @base: position of its first message */
	uint64_t base;
	/** @members: entries in @node */
	uint32_t members;
	/** @node: ids of its members */
	uint32_t node[SPINDLE_MAX_MEMBERS];
};

/**
 * struct spindle_restart_record - views of a subgroup that follow each other without a gap
 */
struct spindle_restart_record {
	/** @known: the first view is established, or none was before it */
	bool known;
	/** @views: entries in @view; 0: there is no record */
	uint32_t views;
	/** @view: the oldest view first */
	struct spindle_restart_view view[SPINDLE_RESTART_VIEWS];
};

/**
 * struct spindle_restart_past - where an era has ended
 */
struct spindle_restart_past {
	/** @last: the last view of the era that is on the path */
	struct spindle_restart_id last;
	/** @base: position of the first message of the next era */
	uint64_t base;
};

/**
 * struct spindle_restart_path - the eras before the present one, of a subgroup
 */
struct spindle_restart_path {
	/** @whole: the path goes back to the first era */
	bool whole;
	/** @eras: entries in @past */
	uint32_t eras;
	/** @past: the oldest era first */
	struct spindle_restart_past past[SPINDLE_RESTART_PAST];
};

/**
 * struct spindle_restart_keep - the view record of a subgroup, as its logger keeps it
 */
struct spindle_restart_keep {
	/** @lineage: of the group */
	uint64_t lineage[2];
	/** @established: the newest view in @record is established */
	bool established;
	/** @record: the range */
	struct spindle_restart_record record;
	/** @path: the eras before that of the newest view in @record */
	struct spindle_restart_path path;
};

/**
 * struct spindle_restart_epoch - where the messages of a view begin in a log
 */
struct spindle_restart_epoch {
	/** @id: the view */
	struct spindle_restart_id id;
	/** @lsn: position of its first message */
	uint64_t lsn;
};

/**
 * struct spindle_restart_log - a log
 */
struct spindle_restart_log {
	/** @missing: there is none, or it cannot be opened */
	bool missing;
	/** @whole: @epoch has all views of the log */
	bool whole;
	/** @end: position behind the last message, readable or not */
	uint64_t end;
	/** @good: position of the first message that is damaged; @end: none is */
	uint64_t good;
	/** @epochs: entries in @epoch */
	uint32_t epochs;
	/** @epoch: the oldest view first */
	struct spindle_restart_epoch epoch[SPINDLE_RESTART_EPOCHS];
};

/**
 * struct spindle_restart_part - what a node reports of a subgroup
 */
struct spindle_restart_part {
	/** @id: id of the subgroup */
	uint32_t id;
	/** @shard: which shard of a subgroup it is; the first one has an id that is less by this */
	uint32_t shard;
	/** @majority: "ack majority", else "ack all" */
	bool majority;
	/** @member: the node may be in the subgroup; of shards, in one of them */
	bool member;
	/** @record: its view record */
	struct spindle_restart_record record;
	/** @path: the eras before that of the newest view in @record */
	struct spindle_restart_path path;
	/** @log: its log */
	struct spindle_restart_log log;
};

/**
 * struct spindle_restart_base - a subgroup in a proposal
 */
struct spindle_restart_base {
	/** @id: id of the subgroup */
	uint32_t id;
	/** @base: position of its first message */
	uint64_t base;
	/** @members: its members, as a mask of the members of the proposal */
	uint64_t members;
	/** @range: the range of its first view, without that view; the last one is followed */
	struct spindle_restart_record range;
	/** @path: the eras before the new one */
	struct spindle_restart_path path;
};

/**
 * struct spindle_restart_proposal - how a group begins again
 */
struct spindle_restart_proposal {
	/** @ballot: the attempt; the new era is its era */
	struct spindle_restart_ballot ballot;
	/** @origin: era of the first attempt that has proposed this */
	uint64_t origin;
	/** @lineage: of the group */
	uint64_t lineage[2];
	/** @vid: number of the first view */
	uint64_t vid;
	/** @members: entries in @node */
	uint32_t members;
	/** @node: ids of the members */
	uint32_t node[SPINDLE_MAX_MEMBERS];
	/** @parts: entries in @part */
	uint32_t parts;
	/** @part: each subgroup */
	struct spindle_restart_base part[SPINDLE_MAX_SUBGROUPS];
};

/**
 * struct spindle_restart_report - what a node tells an attempt
 */
struct spindle_restart_report {
	/** @node: its id */
	uint32_t node;
	/** @address: where it can be found */
	char address[SPINDLE_RESTART_ADDRESS];
	/** @lineage: of the group */
	uint64_t lineage[2];
	/** @promised: the attempt that it promises its vote to */
	struct spindle_restart_ballot promised;
	/** @has_accepted: @accepted is valid */
	bool has_accepted;
	/** @parts: entries in @part */
	uint32_t parts;
	/** @part: each logged subgroup of the group, also those that the node is not in */
	struct spindle_restart_part part[SPINDLE_MAX_SUBGROUPS];
	/** @accepted: the last proposal that it has accepted */
	struct spindle_restart_proposal accepted;
};

/**
 * enum spindle_restart_why - what a restart waits for, in a subgroup
 */
enum spindle_restart_why {
	/** @SPINDLE_RESTART_READY: nothing */
	SPINDLE_RESTART_READY,
	/** @SPINDLE_RESTART_NO_RECORD: no reporter has a view record */
	SPINDLE_RESTART_NO_RECORD,
	/** @SPINDLE_RESTART_CONFLICT: reporters tell @view in different ways */
	SPINDLE_RESTART_CONFLICT,
	/** @SPINDLE_RESTART_UNKNOWN_RANGE: no reporter knows what was before @view */
	SPINDLE_RESTART_UNKNOWN_RANGE,
	/** @SPINDLE_RESTART_TOO_LONG: the range has more views than a record can have */
	SPINDLE_RESTART_TOO_LONG,
	/** @SPINDLE_RESTART_NODES: a majority of @view does not report */
	SPINDLE_RESTART_NODES,
	/** @SPINDLE_RESTART_LOGS: too few logs of the members of @view can be read */
	SPINDLE_RESTART_LOGS,
};

/**
 * struct spindle_restart_need - what a restart needs in a subgroup, and may lose without it
 */
struct spindle_restart_need {
	/** @id: id of the subgroup */
	uint32_t id;
	/** @why: enum spindle_restart_why */
	uint32_t why;
	/** @view: a view of this name is at fault */
	struct spindle_restart_id view;
	/** @more: of @node, so many are needed */
	uint32_t more;
	/** @nodes: entries in @node */
	uint32_t nodes;
	/** @node: the members of @view that do not report, or have no log that counts */
	uint32_t node[SPINDLE_MAX_MEMBERS];
	/** @base: the restart has all positions below; a forced one may lose those from here on */
	uint64_t base;
	/** @to: messages up to here are known to have been there */
	uint64_t to;
	/** @open: a forced restart may also lose what no reporter knows of */
	bool open;
	/** @range: the views that need a majority of votes */
	struct spindle_restart_record range;
};

/**
 * enum spindle_restart_kind - an answer
 */
enum spindle_restart_kind {
	/** @SPINDLE_RESTART_WAIT: the restart waits */
	SPINDLE_RESTART_WAIT,
	/** @SPINDLE_RESTART_NEW: there is a proposal */
	SPINDLE_RESTART_NEW,
	/** @SPINDLE_RESTART_AGAIN: there is a proposal, which was accepted in an earlier attempt */
	SPINDLE_RESTART_AGAIN,
};

/**
 * struct spindle_restart_answer - what follows from reports
 */
struct spindle_restart_answer {
	/** @kind: enum spindle_restart_kind */
	uint32_t kind;
	/** @reports: reports that count */
	uint32_t reports;
	/** @parts: entries in @part */
	uint32_t parts;
	/** @part: each subgroup */
	struct spindle_restart_need part[SPINDLE_MAX_SUBGROUPS];
	/** @proposal: valid unless the restart waits */
	struct spindle_restart_proposal proposal;
};

/**
 * struct spindle_restart_loss - what a forced restart loses of a subgroup
 */
struct spindle_restart_loss {
	/** @to: messages from the base up to here are known to have been there */
	uint64_t to;
	/** @open: there may have been more that no reporter knows of */
	bool open;
};

/**
 * struct spindle_restart_force - what an administrator can consent to
 */
struct spindle_restart_force {
	/**
	 * @proposal: how the group begins again, in the lineage that it leaves. No attempt makes
	 * it: the proposer is 0. The range of a subgroup is the view that is followed.
	 */
	struct spindle_restart_proposal proposal;
	/** @address: where each member can be found, as in its report */
	char address[SPINDLE_MAX_MEMBERS][SPINDLE_RESTART_ADDRESS];
	/** @loss: of each subgroup */
	struct spindle_restart_loss loss[SPINDLE_MAX_SUBGROUPS];
};

/**
 * enum spindle_restart_state - what a node may vote for
 */
enum spindle_restart_state {
	/** @SPINDLE_RESTART_SILENT: it has promised nothing that is still open */
	SPINDLE_RESTART_SILENT,
	/** @SPINDLE_RESTART_PROMISED: it may accept a proposal of the attempt */
	SPINDLE_RESTART_PROMISED,
	/** @SPINDLE_RESTART_ACCEPTED: it has accepted that proposal */
	SPINDLE_RESTART_ACCEPTED,
	/** @SPINDLE_RESTART_RUNNING: it is in a view */
	SPINDLE_RESTART_RUNNING,
};

/**
 * struct spindle_restart_voter - the votes of a node, in memory and on disk
 */
struct spindle_restart_voter {
	/** @state: enum spindle_restart_state */
	uint32_t state;
	/** @promised: no attempt of an earlier era gets a vote, nor another one of this era */
	struct spindle_restart_ballot promised;
	/** @bound: the node enters no view of an earlier era, whatever becomes of @open */
	uint64_t bound;
	/** @opens: entries in @open */
	uint32_t opens;
	/** @open: attempts that may have made a proposal; no view of an earlier era is entered */
	struct spindle_restart_ballot open[SPINDLE_RESTART_OPEN];
	/** @has_accepted: @accepted is valid */
	bool has_accepted;
	/** @accepted: the last proposal that it has accepted */
	struct spindle_restart_proposal accepted;
};

/**
 * enum spindle_restart_vote - what a node does with a request
 */
enum spindle_restart_vote {
	/** @SPINDLE_RESTART_REFUSED: nothing has changed, and the answer is no */
	SPINDLE_RESTART_REFUSED,
	/** @SPINDLE_RESTART_SAME: nothing has changed, and the answer is yes */
	SPINDLE_RESTART_SAME,
	/** @SPINDLE_RESTART_SYNC: the answer is yes, once the state of the voter is on disk */
	SPINDLE_RESTART_SYNC,
};

/* Room for any of the encodings. */
#define SPINDLE_RESTART_VIEW_BYTES (36U + 4U * SPINDLE_MAX_MEMBERS)
#define SPINDLE_RESTART_PART_BYTES (32U + SPINDLE_RESTART_VIEWS * SPINDLE_RESTART_VIEW_BYTES + \
				    24U * (SPINDLE_RESTART_EPOCHS + SPINDLE_RESTART_PAST) + 64U)
#define SPINDLE_RESTART_BYTES	(2U * SPINDLE_MAX_SUBGROUPS * SPINDLE_RESTART_PART_BYTES + 1024U)

void spindle_restart_judge(const struct spindle_restart_ballot *ballot,
			   const struct spindle_restart_report *const *report, uint32_t reports,
			   struct spindle_restart_answer *answer);
bool spindle_restart_force(const struct spindle_restart_ballot *ballot,
			   const struct spindle_restart_report *const *report, uint32_t reports,
			   const struct spindle_restart_answer *answer,
			   struct spindle_restart_force *force);
bool spindle_restart_same_list(const struct spindle_restart_report *a,
			       const struct spindle_restart_report *b);
bool spindle_restart_stands(const struct spindle_restart_answer *answer, const uint32_t *node,
			    uint32_t nodes);
bool spindle_restart_first(const struct spindle_restart_proposal *proposal, uint32_t subgroup,
			   struct spindle_restart_view *view);
bool spindle_restart_cut(const struct spindle_restart_log *log,
			 const struct spindle_restart_id *view,
			 const struct spindle_restart_path *path, uint64_t *end);
bool spindle_restart_keeps(const struct spindle_restart_report *report,
			   const struct spindle_restart_proposal *proposal);

bool spindle_restart_equal(const struct spindle_restart_proposal *a,
			   const struct spindle_restart_proposal *b);
void spindle_restart_boot(struct spindle_restart_voter *voter);
enum spindle_restart_vote spindle_restart_promise(struct spindle_restart_voter *voter,
						  const struct spindle_restart_ballot *ballot);
enum spindle_restart_vote spindle_restart_accept(struct spindle_restart_voter *voter,
						 const struct spindle_restart_proposal *proposal);
enum spindle_restart_vote spindle_restart_enter(struct spindle_restart_voter *voter, uint64_t era);
void spindle_restart_stop(struct spindle_restart_voter *voter);
uint64_t spindle_restart_reach(const struct spindle_restart_voter *voter);
uint64_t spindle_restart_bound(const struct spindle_restart_voter *voter);
enum spindle_restart_vote spindle_restart_withdraw(struct spindle_restart_voter *voter,
						   const struct spindle_restart_ballot *ballot);
void spindle_restart_withdraw_own(struct spindle_restart_voter *voter, uint32_t node);
bool spindle_restart_withdrawn(const struct spindle_restart_voter *voter, uint32_t node,
			       const struct spindle_restart_ballot *ballot);
void spindle_restart_tell(const struct spindle_restart_voter *voter,
			  struct spindle_restart_report *report);

size_t spindle_restart_put_report(const struct spindle_restart_report *report, uint8_t *to,
				  size_t size);
size_t spindle_restart_put_proposal(const struct spindle_restart_proposal *proposal, uint8_t *to,
				    size_t size);
size_t spindle_restart_put_voter(const struct spindle_restart_voter *voter, uint8_t *to,
				 size_t size);
size_t spindle_restart_put_force(const struct spindle_restart_force *force, uint8_t *to,
				 size_t size);
size_t spindle_restart_put_keep(const struct spindle_restart_keep *keep, uint8_t *to, size_t size);
bool spindle_restart_get_report(struct spindle_restart_report *report, const uint8_t *from,
				size_t len);
bool spindle_restart_get_proposal(struct spindle_restart_proposal *proposal, const uint8_t *from,
				  size_t len);
bool spindle_restart_get_force(struct spindle_restart_force *force, const uint8_t *from,
			       size_t len);
bool spindle_restart_get_voter(struct spindle_restart_voter *voter, const uint8_t *from,
			       size_t len);
bool spindle_restart_get_keep(struct spindle_restart_keep *keep, const uint8_t *from, size_t len);

#endif /* SPINDLE_RESTART_H */
