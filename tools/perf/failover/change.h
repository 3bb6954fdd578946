/* SPDX-License-Identifier: GPL-2.0-only */
/* A change of the view, and its cost for the nodes that stay. */
#ifndef SPINDLE_PERF_FAILOVER_CHANGE_H
#define SPINDLE_PERF_FAILOVER_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "common/status.h"
#include "gap.h"
#include "perf/stat.h"

/**
 * enum perf_move - how a node joins or leaves the view
 * @PERF_MOVE_JOIN: the node asks a member to let it in
 * @PERF_MOVE_LEAVE: the node leaves at a request
 * @PERF_MOVE_EVICT: another member evicts the node at a request
 * @PERF_MOVE_CRASH: the process of the node is killed, and with on-exit leave the node leaves
 * @PERF_MOVE_DEL: the node is removed. In one kernel this comes closest to the node's death. But
 *	the node closes its connections, so no member has to wait for its silence
 */
enum perf_move {
	PERF_MOVE_JOIN,
	PERF_MOVE_LEAVE,
	PERF_MOVE_EVICT,
	PERF_MOVE_CRASH,
	PERF_MOVE_DEL,
	PERF_MOVES
};

#define PERF_MOVE_ALL	((1U << PERF_MOVES) - 1)

extern const char *const perf_move_name[PERF_MOVES];

/**
 * struct perf_stayer - cost of a change for a node that stays
 * @node: id of the node
 * @gap: gaps around the change, in the subgroup that changes
 * @fixed: gaps in the subgroup that does not change; @count is 0 if there are none
 * @phase: microseconds of each phase at this node; NaN: there was none
 */
struct perf_stayer {
	uint32_t node;
	struct perf_gap gap;
	struct perf_gap fixed;
	double phase[CTL_PHASES];
};

/**
 * struct perf_change - a change
 * @kind: what was done; PERF_MOVES: another program changed the view
 * @rep: repetition, from 1
 * @vid: view that the change led to
 * @views: views that were installed for the change
 * @members: members of that view
 * @from: ticks when the change began
 * @to: ticks when the change was over
 * @join_view: microseconds from the request of the joining node until it was in the view; NaN: no
 *	node joined
 * @join_attach: the same until the node's process was attached
 * @join_first: the same until the first message was delivered to it
 * @stayer: nodes that stay
 * @stayers: entries of @stayer
 */
struct perf_change {
	enum perf_move kind;
	unsigned int rep;
	uint64_t vid;
	uint64_t views;
	unsigned int members;
	uint64_t from;
	uint64_t to;
	double join_view;
	double join_attach;
	double join_first;
	struct perf_stayer *stayer;
	unsigned int stayers;
};

/**
 * struct perf_changes - all changes of a run
 * @change: changes, in order
 * @changes: entries of @change
 */
struct perf_changes {
	struct perf_change *change;
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
void perf_change_phases(struct perf_stayer *s, const struct ctl_status *status);
unsigned int perf_change_count(const struct perf_changes *all, enum perf_move kind);
struct perf_stat perf_change_stat(const struct perf_changes *all, enum perf_move kind,
				  enum perf_figure figure, uint32_t node);

#endif /* SPINDLE_PERF_FAILOVER_CHANGE_H */
