// SPDX-License-Identifier: GPL-2.0-only
/*
 * Own: the columns of this member, how they change, and when the others get to know. The four
 * predicates call it, and it calls none of them. See multicast.h.
 *
 * Context: engine, all of it.
 */
#include "stage.h"

/**
 * spindle_mc_prefix() - the sequence number below which all senders are complete
 * @mc: the subgroup
 * @count: rounds of a sender that are complete
 *
 * All below m S + j is complete; m = min count, j the first sender at m.
 *
 * Return: sequence number
 */
u64 spindle_mc_prefix(const struct spindle_mc *mc,
		      u64 (*count)(const struct spindle_mc_sender *sd))
{
	u64 low = U64_MAX;
	u32 s, first = 0;

	for (s = 0; s < mc->senders; s++) {
		u64 c = count(&mc->sender[s]);

		if (c < low) {
			low = c;
			first = s;
		}
	}
	return low * mc->senders + first;
}

static u64 count_received(const struct spindle_mc_sender *sd)
{
	return sd->walk.rounds;
}

/* The count of deliveries is about to go to all members: no space of a ring is owed any more. */
static void pay_debts(struct spindle_mc *mc)
{
	u32 s;

	mc->own.overdue = false;
	for (s = 0; s < mc->senders; s++)
		mc->sender[s].owed = 0;
}

/**
 * spindle_mc_set() - change an own column
 * @mc: the subgroup
 * @col: which
 * @value: new value, no less than the old one
 */
void spindle_mc_set(struct spindle_mc *mc, enum spindle_column col, u64 value)
{
	bool lazy = col == SPINDLE_COL_DELIVERED && !mc->own.overdue &&
		    spindle_mc_uses(mc, SPINDLE_SW_MERGED_ACKS);
	u64 most = ((u64)mc->window * mc->senders) >> SPINDLE_LAZY_SHIFT;
	u32 r;

	if (mc->own.word[col] == value)
		return;
	ASSERT_EXCLUSIVE_WRITER(mc->own.word[col]);
	/* Pairs with READ_ONCE() of statistics. */
	WRITE_ONCE(mc->own.word[col], value);
	mc->own.changed = true;
	mc->own.lazy |= lazy;
	for (r = 0; r < mc->members; r++) {
		struct spindle_mc_member *m = &mc->member[r];

		if (r != mc->me && (!lazy || value - m->told_delivered >= most))
			m->dirty = true;
	}
	if (col == SPINDLE_COL_DELIVERED && mc->own.overdue)
		pay_debts(mc);
}

/**
 * spindle_mc_flush_acks() - have the count of deliveries pushed, because nothing else is
 * @mc: the subgroup
 *
 * Senders need the count only before their rings are full, so that it rides along with other
 * columns. It is pushed alone when a quarter of what the senders can have out waits for it,
 * messages or units of a ring. Where that is never reached the embedder calls this when there is
 * nothing else to do. An engine that always has something else to do calls it every so many passes.
 *
 * Return: true if there is something to push now
 */
bool spindle_mc_flush_acks(struct spindle_mc *mc)
{
	bool any = false;
	u32 r;

	if (!mc->own.lazy || !spindle_mc_runs(mc))
		return false;
	mc->own.lazy = false;
	for (r = 0; r < mc->members; r++) {
		struct spindle_mc_member *m = &mc->member[r];

		if (r == mc->me || m->told_delivered == mc->own.word[SPINDLE_COL_DELIVERED])
			continue;
		m->dirty = true;
		any = true;
	}
	return any;
}

/* The sequence number below which all members have received everything. */
static u64 stable_seq(const struct spindle_mc *mc)
{
	u64 low = mc->own.word[SPINDLE_COL_RECEIVED];
	u32 r;

	for (r = 0; r < mc->members; r++)
		if (r != mc->me)
			low = min(low, mc->member[r].received);
	return low;
}

/**
 * spindle_mc_advance() - move what is received and stable, after rounds were received or decided
 * @mc: the subgroup
 */
void spindle_mc_advance(struct spindle_mc *mc)
{
	spindle_mc_set(mc, SPINDLE_COL_RECEIVED, spindle_mc_prefix(mc, count_received));
	WRITE_ONCE(mc->deliver.stable, stable_seq(mc));
}

/**
 * spindle_mc_publish() - bring the own block up to date
 * @mc: the subgroup
 */
void spindle_mc_publish(struct spindle_mc *mc)
{
	if (!mc->own.changed || !spindle_mc_runs(mc))
		return;
	mc->own.changed = false;
	mc->own.express_ready = false;
	spindle_block_write(mc->own.block, mc->own.word);
}

/**
 * spindle_mc_post_in_place() - the paper's baseline: post where something changes
 * @mc: the subgroup
 */
void spindle_mc_post_in_place(struct spindle_mc *mc)
{
	if (spindle_mc_uses(mc, SPINDLE_SW_LATE_POST) || !mc->own.changed ||
	    !spindle_mc_runs(mc))
		return;
	spindle_mc_publish(mc);
	mc->post(mc);
}
