// SPDX-License-Identifier: GPL-2.0-only
/* Gaps between deliveries to a reader. See gap.h. */
#include <stdlib.h>
#include <string.h>

#include "gap.h"

#define FIRST_ROOM	1024

/* Note a gap. Only the thread that reads calls this function. */
void perf_gap_note(struct perf_gap_log *log, uint64_t end, uint64_t length)
{
	size_t room = log->room ? log->room * 2 : FIRST_ROOM;
	struct perf_gap_note *note;

	if (log->notes == log->room) {
		note = realloc(log->note, room * sizeof(*note));
		if (!note) {
			log->lost++;
			return;
		}
		log->note = note;
		log->room = room;
	}
	log->note[log->notes++] = (struct perf_gap_note){ .end = end, .length = length };
}

/**
 * perf_gap_sort() - find the gaps that belong to a change
 * @log: gaps
 * @from: ticks when the change began
 * @to: ticks when the change was over; before @from: there was no change
 * @quiet: gets all other gaps
 *
 * Return: the gaps that overlap the time of the change
 */
struct perf_gap perf_gap_sort(const struct perf_gap_log *log, uint64_t from, uint64_t to,
			      struct perf_hist *quiet)
{
	struct perf_gap around = { 0, 0 };
	size_t i;

	for (i = 0; i < log->notes; i++) {
		const struct perf_gap_note *n = &log->note[i];

		if (n->end < from || n->end - n->length > to || to < from) {
			perf_hist_add(quiet, n->length);
			continue;
		}
		around.count++;
		if (n->length > around.longest)
			around.longest = n->length;
	}
	return around;
}

void perf_gap_free(struct perf_gap_log *log)
{
	free(log->note);
	memset(log, 0, sizeof(*log));
}
