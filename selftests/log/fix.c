// SPDX-License-Identifier: GPL-2.0-only
/* Repair of what a scan has found damaged. The reference plays the logs of other members. */
#include <errno.h>

#include "sim.h"

void sim_repair_begin(struct sim *sim)
{
	u32 n = min_t(u32, sim->scan.n_damaged, SIM_RANGES);

	memcpy(sim->todo, sim->damaged, n * sizeof(sim->todo[0]));
	sim->todos = n;
	spindle_dlog_repair_init(&sim->repair, &sim->log, sim->id.frame, sim->window[3], sim->fix);
	sim->repair.reader.window.size = SIM_BUFFER;
}

static void drop_first(struct sim *sim)
{
	memmove(&sim->todo[0], &sim->todo[1], --sim->todos * sizeof(sim->todo[0]));
}

static void begin(struct sim *sim)
{
	u64 from;
	int err;

	while (sim->todos && sim->todo[0].to <= sim->log.map.low)
		drop_first(sim);
	if (!sim->todos)
		return;
	from = max(sim->todo[0].from, sim->log.map.low);
	err = spindle_dlog_repair_begin(&sim->repair, from);
	sim->repair_from = from;
	sim->hurts_before = sim->hurts;
	sim->repairs += !err;
	if (!err)
		sim->fix_range = (struct spindle_dlog_range){
			sim->repair.base, sim->repair.end };
	SIM_SAY(sim, "repair of %llu to %llu in segment %llu: %d\n", (unsigned long long)from,
		(unsigned long long)sim->todo[0].to, (unsigned long long)sim->repair.seq, err);
	if (err == -ENOSPC || (err == -ESTALE && !sim->log.failed))
		drop_first(sim);
}

/* The segment has all that the repair has brought, and a range that goes on is shorter. */
static void end(struct sim *sim)
{
	const struct spindle_dlog_repair *r = &sim->repair;

	sim->repaired++;
	sim->cut_fixed += sim->was_cut;
	if (sim->hurts == sim->hurts_before)
		sim_check_whole(sim, r->base, r->next);
	sim->safe = (struct spindle_dlog_range){ r->base, r->next };
	sim->safe_hurts = sim->hurts_before;
	if (r->was_full ? r->next > r->end : r->next != r->end)
		sim_fail(sim, "a repair ends at %llu", (unsigned long long)r->next);
	while (sim->todos && sim->todo[0].to <= r->next)
		drop_first(sim);
	if (sim->todos && sim->todo[0].from < r->next)
		sim->todo[0].from = r->next;
}

static void give_one(struct sim *sim, u64 lsn, bool wrong)
{
	static u8 data[SIM_LONGEST];
	struct sim_message *t = sim_message(sim, lsn);
	struct spindle_dlog_msg m = {
		.lsn = lsn, .era = t->era, .vid = t->vid, .slot = t->key,
		.node = (u32)(t->key >> 7), .sender = (u32)(t->key >> 9),
		.flags = (u32)(t->key >> 11), .len = t->len, .data = data,
	};
	int err;

	sim_bytes(t->key, data, m.len);
	if (wrong && rng_chance(&sim->rng, 50))
		m.lsn += rng_chance(&sim->rng, 50) ? 1 : -1;
	else if (wrong)
		m.len = sim->id.frame;
	err = spindle_dlog_repair_give(&sim->repair, &m);
	sim->refused += err == -EBADMSG;
	if (wrong ? err != -EBADMSG : err && err != -EAGAIN)
		sim_fail(sim, "a message for a repair: %d", err);
}

static void give(struct sim *sim)
{
	u32 n = 1 + rng_below(&sim->rng, 8);

	while (n-- && sim->repair.step == SPINDLE_DLOG_REPAIR_WANT && !sim->failure[0]) {
		if (sim->repair.next < sim->first || sim->repair.next >= sim->next)
			sim_fail(sim, "a repair wants %llu", (unsigned long long)sim->repair.next);
		else
			give_one(sim, sim->repair.next, rng_chance(&sim->rng, 5));
	}
}

void sim_repair(struct sim *sim)
{
	struct spindle_dlog_repair *r = &sim->repair;

	if (spindle_dlog_repair_waits(r))
		return;
	if (r->step == SPINDLE_DLOG_REPAIR_WANT)
		give(sim);
	spindle_dlog_repair_work(r);
	if (r->step == SPINDLE_DLOG_REPAIR_FAILED) {
		SIM_SAY(sim, "the repair fails: %d\n", r->err);
		sim->unrepaired++;
		if (r->err != -EIO && r->err != -ESTALE && r->err != -ENOSPC)
			sim_fail(sim, "a repair fails: %d", r->err);
		if (sim->todos && rng_chance(&sim->rng, 50))
			drop_first(sim);
		r->step = SPINDLE_DLOG_REPAIR_IDLE;
	} else if (r->step == SPINDLE_DLOG_REPAIR_IDLE) {
		begin(sim);
	}
}

void sim_repair_done(struct sim *sim, int err)
{
	struct spindle_dlog_repair *r = &sim->repair;

	spindle_dlog_repair_done(r, err);
	if (r->step == SPINDLE_DLOG_REPAIR_DONE) {
		end(sim);
		r->step = SPINDLE_DLOG_REPAIR_IDLE;
	}
}
