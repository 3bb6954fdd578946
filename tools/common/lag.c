// SPDX-License-Identifier: GPL-2.0-only
/* How far the members of a subgroup are behind, as one of them sees it. */
#include <stddef.h>

#include <linux/spindle_genl.h>

#include "model.h"

static uint64_t above(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/**
 * ctl_row_lag() - compute how far a member is behind
 * @sg: subgroup
 * @row: out: one of its rows
 *
 * An ordered subgroup delivers what all members have received. An unordered one delivers what the
 * member itself has received. The columns may be a pass apart, so a difference may be negative; it
 * counts as 0.
 */
void ctl_row_lag(const struct ctl_subgroup *sg, struct ctl_row *row)
{
	bool ordered = sg->val[CTL_SG_MODE].num == SPINDLE_MODE_ORDERED;
	uint64_t most = 0, stable = UINT64_MAX, fewest = UINT64_MAX;
	unsigned int i;

	for (i = 0; i < sg->rows; i++) {
		const struct ctl_row *r = &sg->row[i];

		if (r->received > most)
			most = r->received;
		if (r->received < stable)
			stable = r->received;
		if (ctl_ids_has(&sg->senders, r->id) && r->sent < fewest)
			fewest = r->sent;
	}
	row->sends = ctl_ids_has(&sg->senders, row->id);
	row->ahead = row->sends ? above(row->sent, fewest) : 0;
	row->recv_lag = above(most, row->received);
	row->dlv_lag = above(ordered ? stable : row->received, row->delivered);
}

/**
 * ctl_subgroup_holder() - of the readers that may hold up senders, the one with the most to read
 * @sg: subgroup
 *
 * Return: the reader. Among equals it is the one that has been idle longest. NULL if all readers
 *	have read everything, or read a history
 */
const struct ctl_reader *ctl_subgroup_holder(const struct ctl_subgroup *sg)
{
	const struct ctl_reader *last = NULL, *r;

	for (r = sg->reader; r < sg->reader + sg->reader_count; r++)
		if (r->lag && r->reads != SPINDLE_READS_HISTORY &&
		    (!last || r->lag > last->lag ||
		     (r->lag == last->lag && r->idle_ms > last->idle_ms)))
			last = r;
	return last;
}
