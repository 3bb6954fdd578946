/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Durable: how long a prefix of a subgroup's messages survives a crash of all members. See
 * Documentation/design/durability.rst, which has the rules and why they are right.
 *
 * One process at each member, its logger, writes all messages to disk, and says so in a page that
 * it shares with the engine. The engine checks the words and pushes them to the other members, in
 * one sealed block: the log block. From the log blocks of all members follows the durable position.
 *
 *	persisted	messages below are on the disk of a member
 *	record		the newest view whose record is on its disk
 *	reach		what the rule of acknowledgment makes of the persisted positions
 *	established	a restart cannot miss the present view any more
 *	durable		the reach, as long as the view is established; it never goes back
 *
 * All members of a view count from its beginning. A view change waits for no disk: the next view
 * begins, and the durable position stands still until it is established.
 *
 * A subgroup with logs has a history at each member. It keeps what the logger there has not
 * persisted, also when the logger has died. With SPINDLE_LOGGED_GATE it shows readers other than
 * the logger only what is durable.
 *
 * Context: engine. Other threads may read the columns, for people, by spindle_durable_waits_for().
 */
#ifndef SPINDLE_CORE_DURABLE_H
#define SPINDLE_CORE_DURABLE_H

#include "core/base/push.h"
#include "core/base/ranges.h"
#include "core/base/sst.h"
#include "core/base/view.h"

struct spindle_mc;

/*
 * Views from the last established one on that a member remembers. Behind more of them the member
 * establishes no view by itself. Another one may, or the group restarts.
 */
#define SPINDLE_DURABLE_VIEWS	16

static_assert(SPINDLE_DURABLE_VIEWS - SPINDLE_MAX_RANGE == 1, "a range and the present view");

/**
 * struct spindle_durable_view - members of a subgroup in a view
 */
struct spindle_durable_view {
	/** @members: how many */
	u32 members;
	/** @node: their ids */
	u32 node[SPINDLE_MAX_MEMBERS];
	/** @now: those that are members in the present view, by their rank in it */
	u64 now;
};

/**
 * struct spindle_durable_member - the log of a member, by rank
 */
struct spindle_durable_member {
	/** @block: its log block, in the copy of its row that we hold; NULL of this node */
	const struct spindle_block *block;
	/** @remote: offset of the own log block in its copy of our row */
	u64 remote;
	/** @seal: of its last log block that was accepted */
	u64 seal;
	/** @word: columns of that block; of this node, its own ones */
	u64 word[SPINDLE_BLOCK_WORDS];
	/** @node: its id */
	u32 node;
	/** @torn_run: reads in a row that found its log block half written */
	u32 torn_run;
	/** @dirty: the latest own log block was not pushed to it */
	bool dirty;
};

/**
 * struct spindle_durable - the logs of a subgroup, at one member
 */
struct spindle_durable {
	/** @majority: a majority of the logs makes a message durable, not all */
	bool majority;
	/** @gate: readers other than the logger get a message when it is durable */
	bool gate;
	/** @copies: logs that a durable message is in at least */
	u32 copies;
	/** @members: number of members */
	u32 members;
	/** @me: own rank */
	u32 me;
	/** @member: by rank */
	struct spindle_durable_member *member;
	/** @block: own log block, in the own row */
	struct spindle_block *block;
	/** @words: page of the logger, or NULL: there is none */
	const struct spindle_log_words *words;
	/** @change: word of the page that was used last */
	u64 change;
	/** @bad: the logger broke a rule, and its words are not read any more */
	bool bad;
	/** @behind: the history does not keep what the logger has not persisted */
	bool behind;
	/** @vid: the view that the subgroup began, or began again, with */
	u64 vid;
	/** @base: position of its first message */
	u64 base;
	/** @first: the subgroup had no view before @vid, and no message */
	bool first;
	/** @established: @vid is established, as this member knows */
	bool established;
	/** @known: @view goes back to a view that is established, or to the first one */
	bool known;
	/** @views: entries in @view */
	u32 views;
	/** @view: views from the last established one to the present one, also of earlier eras */
	struct spindle_durable_view view[SPINDLE_DURABLE_VIEWS];
	/** @reach: position that the rule of acknowledgment has come to */
	u64 reach;
	/** @durable: messages below are durable */
	u64 durable;
	/** @given_up: times that the history has stopped to keep messages for the logger */
	u64 given_up;
	/** @failed: times that a logger has said that its disk has failed */
	u64 failed;
};

void spindle_durable_init(struct spindle_durable *d, const struct spindle_view_subgroup *cfg);
bool spindle_durable_test(void *ctx);
void spindle_durable_trigger(void *ctx);
void spindle_durable_begin(struct spindle_mc *mc, struct spindle_durable *old, bool fresh);
void spindle_durable_follow(struct spindle_mc *mc, const struct spindle_ranges *ranges);
int spindle_durable_attach(struct spindle_mc *mc, const struct spindle_log_words *words, u64 lsn);
void spindle_durable_detach(struct spindle_mc *mc);
void spindle_durable_give_up(struct spindle_mc *mc);
u64 spindle_durable_waits_for(const struct spindle_mc *mc, bool *establish);
u32 spindle_durable_push(struct spindle_durable *d, u32 rank, struct spindle_write *write);

/**
 * spindle_durable_record() - the newest view that a log block has a record of
 * @word: its columns
 *
 * Return: its id; 0: none
 */
static inline u64 spindle_durable_record(const u64 word[SPINDLE_BLOCK_WORDS])
{
	return READ_ONCE(word[SPINDLE_LOG_COL_RECORD]) >> SPINDLE_LOG_RECORD_SHIFT;
}

/**
 * spindle_durable_state() - the state that a log block shows
 * @word: its columns
 *
 * Return: enum spindle_log_state
 */
static inline u32 spindle_durable_state(const u64 word[SPINDLE_BLOCK_WORDS])
{
	return word[SPINDLE_LOG_COL_RECORD] & SPINDLE_LOG_STATE;
}

#endif /* SPINDLE_CORE_DURABLE_H */
