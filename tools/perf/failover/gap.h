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
 */
struct perf_gap_note {
	/** @end: ticks of the delivery behind the gap */
	uint64_t end;
	/** @length: ticks since the delivery in front of the gap */
	uint64_t length;
};

/**
 * struct perf_gap_log - gaps of a reader, in order
 *
 * The memory of a log is not that of common/util.h, because that is for one thread only.
 */
struct perf_gap_log {
	/** @note: gaps */
	struct perf_gap_note *note;
	/** @notes: entries of @note */
	size_t notes;
	/** @room: entries that fit */
	size_t room;
	/** @lost: gaps for which there was no memory */
	uint64_t lost;
};

/**
 * struct perf_gap - the gaps around a change
 */
struct perf_gap {
	/** @count: number of gaps */
	uint64_t count;
	/** @longest: ticks of the longest one */
	uint64_t longest;
};

void perf_gap_note(struct perf_gap_log *log, uint64_t end, uint64_t length);
struct perf_gap perf_gap_sort(const struct perf_gap_log *log, uint64_t from, uint64_t to,
			      struct perf_hist *quiet);
void perf_gap_free(struct perf_gap_log *log);

#endif /* SPINDLE_PERF_FAILOVER_GAP_H */
