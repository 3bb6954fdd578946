/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gaps: the times without a delivery to a reader.
 *
 * The thread that reads only notes the gaps. They are sorted later, when the begin and the end of
 * each change of the view are known.
 */
#ifndef SPINDLE_PERF_FAILOVER_GAP_H
#define SPINDLE_PERF_FAILOVER_GAP_H

#include <stdbool.h>
#include <stddef.h>

#include "perf/hist.h"

/**
 * struct perf_gap_note - a gap
 * @end: ticks of the delivery behind the gap
 * @length: ticks since the delivery in front of the gap
 */
struct perf_gap_note {
	uint64_t end;
	uint64_t length;
};

/**
 * struct perf_gap_log - gaps of a reader, in order
 * @note: gaps
 * @notes: entries of @note
 * @room: entries that fit
 * @lost: gaps for which there was no memory
 *
 * The memory of a log is not that of common/util.h, because that is for one thread only.
 */
struct perf_gap_log {
	struct perf_gap_note *note;
	size_t notes;
	size_t room;
	uint64_t lost;
};

/**
 * struct perf_gap - the gaps around a change
 * @count: number of gaps
 * @longest: ticks of the longest one
 */
struct perf_gap {
	uint64_t count;
	uint64_t longest;
};

void perf_gap_note(struct perf_gap_log *log, uint64_t end, uint64_t length);
struct perf_gap perf_gap_sort(const struct perf_gap_log *log, uint64_t from, uint64_t to,
			      struct perf_hist *quiet);
void perf_gap_free(struct perf_gap_log *log);

#endif /* SPINDLE_PERF_FAILOVER_GAP_H */
