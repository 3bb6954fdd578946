/* SPDX-License-Identifier: GPL-2.0-only */
/* Output of the results of changes of a view. */
#ifndef SPINDLE_PERF_FAILOVER_REPORT_H
#define SPINDLE_PERF_FAILOVER_REPORT_H

#include "change.h"
#include "options.h"

/**
 * struct perf_quiet - the gaps of a reader while nothing changed
 */
struct perf_quiet {
	/** @node: node of the reader */
	uint32_t node;
	/** @subgroup: subgroup of the reader */
	uint32_t subgroup;
	/** @fixed: the subgroup is the one whose members do not change */
	bool fixed;
	/** @sent: messages that its node sent in it, during the whole run */
	uint64_t sent;
	/** @delivered: messages that were delivered to it, during the whole run */
	uint64_t delivered;
	/** @seconds: length of the run */
	double seconds;
	/** @hist: gaps, ticks */
	struct perf_hist hist;
};

/**
 * struct perf_failover - results
 */
struct perf_failover {
	/** @o: options */
	const struct perf_fopts *o;
	/** @all: changes */
	struct perf_changes all;
	/** @quiet: readers */
	struct perf_quiet *quiet;
	/** @quiets: entries of @quiet */
	unsigned int quiets;
};

void perf_fout_table(const struct perf_failover *f);
void perf_fout_view(const struct perf_change *c);
void perf_fout_watched(const struct perf_failover *f);
int perf_fout_json(const struct perf_failover *f, const struct perf_place *place);

#endif /* SPINDLE_PERF_FAILOVER_REPORT_H */
