/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Rules: which node is in which subgroup of a live view, whatever its members are.
 *
 * All members have the same rules. They come with the first view, and a joiner gets them from its
 * contact. The subgroups of a view follow from the rules, its members and the view before. The
 * layout of rows follows from the rules and two node ids alone, so that rows stay as they are from
 * view to view.
 *
 * The members may agree on other rules, see membership.rst. The layout of rows must not follow from
 * what may change. So the number of rules stays, and so does the index of each subgroup. A subgroup
 * that is removed leaves a closed rule behind. A new one takes a spare: a rule for which each row
 * has had room from the beginning. A subgroup whose configuration changes moves to another spare.
 * One change may close and open several rules, each at most once.
 *
 * A new subgroup of several shards takes as many spares, one behind the other. Its rule is in the
 * first one and counts all shards. The other spares are *absorbed*: they stay closed and count no
 * shard, so that the index of each subgroup stays.
 *
 * A table is added to a spare like any subgroup. Its cells count as a window does, and their bytes
 * as a ring. A table given at birth has room for a block and its cells in the rows of all nodes
 * that may be members, because each of them writes. If a table has shards, each shard is a table of
 * its own, and each row has room for each of them, because a node may change over.
 *
 * A witness is a member that is in no subgroup, whatever a rule says. It counts for the
 * majority.
 *
 * Context: any. Nothing here sleeps or allocates.
 */
#ifndef SPINDLE_CORE_RULES_H
#define SPINDLE_CORE_RULES_H

#include "core/base/layout.h"
#include "core/base/view.h"

/* Rows have room for a subgroup of this rule whose members may be any, and all of which send. */
#define SPINDLE_RULE_SPARE	BIT(0)
/* There is no subgroup of this rule: not yet, or not any more. */
#define SPINDLE_RULE_CLOSED	BIT(1)

/**
 * struct spindle_rule - one subgroup, or several that share the nodes among them
 */
struct spindle_rule {
	/** @senders: entries of @node that may send, without @all_send; 0 of a table */
	u64 senders;
	/** @shards: how many; 1 of a free spare; 0 of a spare that is absorbed */
	u32 shards;
	/** @min: members that each of them needs */
	u32 min;
	/** @on_exit: enum spindle_on_exit */
	u32 on_exit;
	/** @all_send: all members may send; 0 of a table */
	u32 all_send;
	/** @flags: SPINDLE_RULE_* */
	u32 flags;
	/** @room_window: of a spare: the largest window; else 0 */
	u32 room_window;
	/** @room_ring: of a spare: the largest ring; else 0 */
	u32 room_ring;
	/** @num_nodes: entries in @node; 0: any node may be a member, except for witnesses */
	u32 num_nodes;
	/** @node: ids */
	u32 node[SPINDLE_MAX_MEMBERS];
	/**
	 * @cfg: their configuration; id is that of the first, members and senders do not count. It
	 * is the last member, because a card has the fields of a table apart from the rest
	 */
	struct spindle_view_subgroup cfg;
};

/**
 * struct spindle_rules - a live view's rules
 */
struct spindle_rules {
	/** @timeout_ms: silence that makes a member suspected */
	u32 timeout_ms;
	/** @max_nodes: members at most */
	u32 max_nodes;
	/** @quorum: only a majority goes on */
	u32 quorum;
	/** @witness: ids of nodes that are in no subgroup; 0 behind the last */
	u32 witness[SPINDLE_MAX_WITNESSES];
	/** @num_rules: entries in @rule */
	u32 num_rules;
	/** @rule: in the order in which they were given */
	struct spindle_rule rule[SPINDLE_MAX_SUBGROUPS];
};

/* Why a view takes no further member. */
#define SPINDLE_NO_ROOM "the view has no room for another node"

/* Why a live view has the subgroups with logs that it has begun with. */
#define SPINDLE_NO_MORE_LOGS \
	"a view with logs gets no other subgroup with logs: a restart may not know it"
#define SPINDLE_NO_FEWER_LOGS \
	"a subgroup with logs is not removed: a restart may wait for it for ever"

bool spindle_rules_witness(const struct spindle_rules *rules, u32 id);
const char *spindle_rules_check(const struct spindle_rules *rules, int *fault);
void spindle_rules_apply(const struct spindle_rules *rules, const struct spindle_view *view,
			 struct spindle_view *next);
const char *spindle_rules_next(const struct spindle_rules *rules, const struct spindle_view *view,
			       struct spindle_view *next);
void spindle_rules_senders(const struct spindle_rules *rules, struct spindle_view *view);
bool spindle_rules_fit(const struct spindle_rules *rules, const struct spindle_view *view);
bool spindle_rules_enough(const struct spindle_rules *rules, const struct spindle_view *view,
			  u32 subgroup);
int spindle_rules_lacking(const struct spindle_rules *rules, const struct spindle_view *view);
const struct spindle_rule *spindle_rules_of(const struct spindle_rules *rules, u32 subgroup);
u32 spindle_rules_trims(const struct spindle_rules *rules);
const char *spindle_rules_change(const struct spindle_rules *rules,
				 const struct spindle_rules *next);
int spindle_rules_open(const struct spindle_rules *rules, struct spindle_rules *next,
		       const struct spindle_rule *rule);
u32 spindle_rules_free(const struct spindle_rules *rules);
int spindle_rules_close(const struct spindle_rules *rules, struct spindle_rules *next, u32 id);
int spindle_rules_replace(const struct spindle_rules *rules, struct spindle_rules *next,
			  const struct spindle_rule *rule);
u64 spindle_rules_offer(const struct spindle_rules *rules);
u64 spindle_rules_digest(const struct spindle_rules *rules);
void spindle_rules_row(struct spindle_layout *lo, const struct spindle_rules *rules, u32 writer,
		       u32 holder);

#endif /* SPINDLE_CORE_RULES_H */
