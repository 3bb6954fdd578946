/* SPDX-License-Identifier: GPL-2.0-only */
/* Output of the results of changes of a view. */
#ifndef SPINDLE_PERF_FAILOVER_REPORT_H
#define SPINDLE_PERF_FAILOVER_REPORT_H

#include "change.h"
#include "options.h"

/**
 * struct perf_quiet - the gaps of a reader while nothing changed
 * @node: node of the reader
 * @subgroup: subgroup of the reader
 * @fixed: the subgroup is the one whose members do not change
 * @sent: messages that its node sent in it, during the whole run
 * @delivered: messages that were delivered to it, during the whole run
 * @seconds: length of the run
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
 * struct perf_failover - results
 * @o: options
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

#endif /* SPINDLE_PERF_FAILOVER_REPORT_H */
