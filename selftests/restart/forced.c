// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a forced restart would be (R8), whenever an attempt waits. Nothing follows from it, because
 * the new lineage is another group: the simulator asks what an administrator would consent to.
 */
#include <string.h>

#include "sim.h"

/* The nodes would report the same now. Otherwise a node has gone on, and does not follow. */
static bool is_fresh(struct sim *sim, const struct attempt *attempt)
{
	size_t len;
	u32 j;

	for (j = 0; j < sim->nodes; j++) {
		if (!(attempt->has & 1U << j))
			continue;
		attempt_fill_report(sim, j, sim->own);
		len = spindle_restart_put_report(sim->own, sim->buf, SPINDLE_RESTART_BYTES);
		if (world_runs(sim, j) ||
		    len != spindle_restart_put_report(attempt->report[j], sim->again,
						      SPINDLE_RESTART_BYTES) ||
		    memcmp(sim->buf, sim->again, len))
			return false;
	}
	return true;
}

/* Return: bytes of what the reports allow, in any order; 0: nothing can be forced. */
static size_t force_of(struct sim *sim, const struct attempt *attempt, u8 *to)
{
	const struct spindle_restart_report *report[NODES];
	struct spindle_restart_answer *answer = sim->waits;
	u32 n = attempt_shuffle(sim, attempt, report);

	spindle_restart_judge(&attempt->ballot, report, n, answer);
	if (!spindle_restart_force(&attempt->ballot, report, n, answer, sim->force))
		return 0;
	return spindle_restart_put_force(sim->force, to, SPINDLE_RESTART_BYTES);
}

/* Each reporter has a log that the core can cut for the new era, and one of them has all of it. */
static void check_logs(struct sim *sim, const struct attempt *attempt, u32 s,
		       const struct sview *old, const struct spindle_restart_base *part)
{
	struct spindle_restart_id first = { sim->force->proposal.ballot.era,
					    sim->force->proposal.vid };
	struct spindle_restart_log told;
	u32 j, common, found = !part->base;
	u64 end;

	for (j = 0; j < sim->nodes; j++) {
		const struct node_log *log = &sim->node[j].log[s];

		if (!(attempt->has & 1U << j))
			continue;
		attempt_fill_log(sim, j, s, &told);
		common = world_common(sim, s, log->seq, log->len, old->seq, (u32)part->base);
		if (spindle_restart_cut(&told, &first, &part->path, &end) && end != common)
			sim_fail(sim, "R8: the log of node %u is cut at %llu, and not at %u", j,
				 (unsigned long long)end, common);
		found |= common == part->base && told.good >= part->base;
	}
	if (!found)
		sim_fail(sim, "R8: no reporter has all messages of the base");
}

/*
 * An administrator is told of all that may be lost: what was shown and is not in the base is either
 * counted, or the restart says that there may be more.
 */
static void check_part(struct sim *sim, const struct attempt *attempt, u32 p)
{
	const struct spindle_restart_base *part = &sim->force->proposal.part[p];
	const struct spindle_restart_loss *loss = &sim->force->loss[p];
	u32 s = part->id - 10, kept;
	int v = world_find(sim, s, &part->range.view[0].id);

	if (v == NOWHERE || part->base > sim->view[s][v].top) {
		sim_fail(sim, "R8: a view or a position that is not there");
		return;
	}
	check_logs(sim, attempt, s, &sim->view[s][v], part);
	kept = world_common(sim, s, sim->view[s][v].seq, (u32)part->base, sim->shown[s],
			    sim->shown_len[s]);
	if (kept == sim->shown_len[s])
		return;
	sim->n_lost++;
	if (!loss->open && (kept < part->base || loss->to < sim->shown_len[s]))
		sim_fail(sim, "R8: subgroup %u loses %u to %u, and the loss ends at %llu", s, kept,
			 sim->shown_len[s], (unsigned long long)loss->to);
}

/**
 * forced_check() - look at what could be forced
 * @sim: the simulator
 * @attempt: an attempt, which waits
 */
void forced_check(struct sim *sim, const struct attempt *attempt)
{
	size_t len, other;
	u32 p;

	if (!is_fresh(sim, attempt))
		return;
	len = force_of(sim, attempt, sim->buf);
	if (!len)
		return;
	sim->n_forced++;
	other = force_of(sim, attempt, sim->again);
	if (other != len || memcmp(sim->buf, sim->again, len))
		sim_fail(sim, "R8: the same reports have two codes");
	if (!spindle_restart_get_force(sim->force, sim->buf, len))
		sim_fail(sim, "R8: a forced restart cannot be read");
	for (p = 0; p < sim->force->proposal.parts; p++)
		check_part(sim, attempt, p);
}
