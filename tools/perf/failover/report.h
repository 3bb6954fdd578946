/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What people and programs read of changes of a view.
 */
#ifndef SPINDLE_PERF_FOUT_H
#define SPINDLE_PERF_FOUT_H

#include "perf-change.h"
#include "perf-fopts.h"

/**
 * struct perf_quiet - the gaps of a reader while nothing changed
 * @node: its node
 * @subgroup: its subgroup
 * @fixed: it is the one whose members do not change
 * @sent: messages that were sent there, in all of the run
 * @delivered: messages that came, in all of the run
 * @seconds: how long that was
 * @hist: gaps, ticks
 */
struct perf_quiet {
	uint32_t node;
	uint32_t subgroup;
	bool fixed;
	uint64_t sent;
	uint64_t delivered;
	double seconds;
	struct perf_hist hist;
};

/**
 * struct perf_failover - what was measured
 * @o: what was asked for
 * @all: changes
 * @quiet: readers
 * @quiets: entries of @quiet
 */
struct perf_failover {
	const struct perf_fopts *o;
	struct perf_changes all;
	struct perf_quiet *quiet;
	unsigned int quiets;
};

void perf_fout_table(const struct perf_failover *f);
void perf_fout_view(const struct perf_change *c);
void perf_fout_watched(const struct perf_failover *f);
int perf_fout_json(const struct perf_failover *f, const struct perf_place *place);

#endif /* SPINDLE_PERF_FOUT_H */
