/* SPDX-License-Identifier: GPL-2.0-only */
/* A change of the view, and its cost for the nodes that stay. */
#ifndef SPINDLE_PERF_FAILOVER_CHANGE_H
#define SPINDLE_PERF_FAILOVER_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/status.h"
#include "perf/stat.h"
#include "pump.h"

/**
 * enum perf_move - how the view changes: a node joins or leaves, or a subgroup
 */
enum perf_move {
	/** @PERF_MOVE_JOIN: the node asks a member to let it in */
	PERF_MOVE_JOIN,
	/** @PERF_MOVE_LEAVE: the node leaves at a request */
	PERF_MOVE_LEAVE,
	/** @PERF_MOVE_EVICT: another member evicts the node at a request */
	PERF_MOVE_EVICT,
	/**
	 * @PERF_MOVE_CRASH: the process of the node is killed, and with on-exit leave the node
	 * leaves
	 */
	PERF_MOVE_CRASH,
	/**
	 * @PERF_MOVE_DEL: the node is removed. In one kernel this comes closest to the node's
	 * death. But the node closes its connections, so no member has to wait for its silence
	 */
	PERF_MOVE_DEL,
	/** @PERF_MOVE_SUBGROUP_ADD: a member adds a subgroup, in which nobody sends */
	PERF_MOVE_SUBGROUP_ADD,
	/**
	 * @PERF_MOVE_SUBGROUP_REPLACE: a member puts a subgroup with other members and senders in
	 * its place
	 */
	PERF_MOVE_SUBGROUP_REPLACE,
	/** @PERF_MOVE_SUBGROUP_DEL: a member removes it */
	PERF_MOVE_SUBGROUP_DEL,
	PERF_MOVES
};

#define PERF_MOVE_ALL	((1U << PERF_MOVES) - 1)

/* The words for them. */
#define PERF_MOVE_WORDS	"join, leave, evict, crash, del, subgroup-add, subgroup-replace, subgroup-del"

/* Those that change no member. */
#define PERF_MOVE_RULES	(1U << PERF_MOVE_SUBGROUP_ADD | 1U << PERF_MOVE_SUBGROUP_REPLACE | \
			 1U << PERF_MOVE_SUBGROUP_DEL)

extern const char *const perf_move_name[PERF_MOVES];

/**
 * struct perf_stayer - cost of a change for a node that stays
 */
struct perf_stayer {
	/** @node: id of the node */
	uint32_t node;
	/** @gap: gaps around the change, in the subgroup that changes */
	struct perf_gap gap;
	/** @fixed: gaps in the subgroup that does not change; @count is 0 if there are none */
	struct perf_gap fixed;
	/** @phase: microseconds of each phase at this node; NaN: there was none */
	double phase[CTL_PHASES];
};

/**
 * struct perf_change - a change
 */
struct perf_change {
	/** @kind: what was done; PERF_MOVES: another program changed the view */
	enum perf_move kind;
	/** @rep: repetition, from 1 */
	unsigned int rep;
	/** @vid: view that the change led to */
	uint64_t vid;
	/** @views: views that were installed for the change */
	uint64_t views;
	/** @members: members of that view */
	unsigned int members;
	/** @from: ticks when the change began */
	uint64_t from;
	/** @to: ticks when the change was over */
	uint64_t to;
	/**
	 * @join_view: microseconds from the request of the joining node until it was in the view;
	 * NaN: no node joined
	 */
	double join_view;
	/** @join_attach: the same until the node's process was attached */
	double join_attach;
	/** @join_first: the same until the first message was delivered to it */
	double join_first;
	/** @stayer: nodes that stay */
	struct perf_stayer *stayer;
	/** @stayers: entries of @stayer */
	unsigned int stayers;
};

/**
 * struct perf_changes - all changes of a run
 */
struct perf_changes {
	/** @change: changes, in order */
	struct perf_change *change;
	/** @changes: entries of @change */
	unsigned int changes;
};

/* Figures of the changes of a kind. */
enum perf_figure {
	PERF_F_GAP,
	PERF_F_FIXED,
	PERF_F_DETECT,
	PERF_F_WEDGE,
	PERF_F_AGREE,
	PERF_F_INSTALL,
	PERF_F_JOIN_VIEW,
	PERF_F_JOIN_ATTACH,
	PERF_F_JOIN_FIRST,
	PERF_FIGURES
};

extern const char *const perf_figure_name[PERF_FIGURES];

const char *perf_moves_parse(const char *text, unsigned int *kinds);
struct perf_change *perf_change_new(struct perf_changes *all, unsigned int stayers);
void perf_change_view(struct perf_change *c, unsigned int stayer,
		      const struct ctl_status *status);
void perf_change_phases(struct perf_stayer *s, const struct ctl_status *status);
double perf_gap_us(const struct perf_gap *gap);
unsigned int perf_change_count(const struct perf_changes *all, enum perf_move kind);
struct perf_stat perf_change_stat(const struct perf_changes *all, enum perf_move kind,
				  enum perf_figure figure, uint32_t node);

#endif /* SPINDLE_PERF_FAILOVER_CHANGE_H */
