/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A change of the view, and what it cost those that stay.
 */
#ifndef SPINDLE_PERF_CHANGE_H
#define SPINDLE_PERF_CHANGE_H

#include <stdbool.h>
#include <stdint.h>

#include "ctl-status.h"
#include "perf-gap.h"
#include "perf-stat.h"

/**
 * enum perf_move - how a node comes or goes
 * @PERF_MOVE_JOIN: it asks a member to let it in
 * @PERF_MOVE_LEAVE: it is told to leave
 * @PERF_MOVE_EVICT: another member is told to go on without it
 * @PERF_MOVE_CRASH: its process is killed, and with on-exit leave it leaves
 * @PERF_MOVE_DEL: it is removed. In one kernel that is as near as one can come to its death;
 *	but it closes its connections, so that nobody has to wait for its silence
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
 * struct perf_stayer - what a change cost a node that stays
 * @node: its id
 * @gap: gaps around the change, in the subgroup that changes
 * @fixed: the same in the one that does not; of no count if there is none
 * @phase: microseconds of each phase, as the node says; NaN: there was none
 */
struct perf_stayer {
	uint32_t node;
	struct perf_gap gap;
	struct perf_gap fixed;
	double phase[CTL_PHASES];
};

/**
 * struct perf_change - a change
 * @kind: what was done; PERF_MOVES: somebody else did it
 * @rep: repetition, from 1
 * @vid: view that it led to
 * @views: views that were installed for it
 * @members: members of that view
 * @from: ticks when it began
 * @to: ticks when it was over
 * @join_view: microseconds from the request of who joins until it was in the view; NaN: nobody
 *	did
 * @join_attach: the same until its process was attached
 * @join_first: the same until it was delivered a message
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

/* What is said of the changes of a kind. */
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

#endif /* SPINDLE_PERF_CHANGE_H */
