/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Gaps: the times in which a reader is delivered nothing.
 *
 * Who reads only notes them. Whether one has to do with a change of the view is known later,
 * when it is known when the change began and ended, so they are sorted then.
 */
#ifndef SPINDLE_PERF_GAP_H
#define SPINDLE_PERF_GAP_H

#include <stdbool.h>
#include <stddef.h>

#include "perf-hist.h"

/**
 * struct perf_gap_note - a gap
 * @end: ticks when something came again
 * @length: ticks since something had come before
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
 * Its memory is not that of ctl.h, which is for one thread.
 */
struct perf_gap_log {
	struct perf_gap_note *note;
	size_t notes;
	size_t room;
	uint64_t lost;
};

/**
 * struct perf_gap - the gaps around a change
 * @count: how many
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

#endif /* SPINDLE_PERF_GAP_H */
