// SPDX-License-Identifier: GPL-2.0-only
/*
 * Release: what readers have consumed may be overwritten. See multicast.h.
 *
 * Context: engine, all of it.
 */
#include "history.h"
#include "stage.h"

/* Rounds of a sender below which no local reader holds anything. */
static u64 count_released(const struct spindle_mc_sender *sd)
{
	if (sd->rel_slot == sd->walk.slot)
		return sd->walk.rounds;
	return sd->msgs[sd->rel_slot & sd->walk.wmask].round;
}

static u64 lowest_delivered(const struct spindle_mc *mc)
{
	u64 low = mc->own.word[SPINDLE_COL_DELIVERED];
	u32 r;

	for (r = 0; r < mc->members; r++)
		if (r != mc->me)
			low = min(low, mc->member[r].delivered);
	return low;
}

/* Messages that every reader has consumed. Copying readers hold none. */
static u64 released(struct spindle_mc *mc)
{
	u64 low = mc->deliver.log_tail;
	struct spindle_dlvq *q;

	for (q = mc->deliver.readers; q; q = q->next) {
		if (spindle_dlvq_poll(q))
			mc->deliver.blocked = false;
		if (q->error)
			mc->events |= SPINDLE_MC_FROZEN;
		else if (!q->copy)
			low = min(low, q->base + q->consumed);
	}
	if (mc->deliver.history && spindle_history_poll(mc->deliver.history))
		mc->events |= SPINDLE_MC_FROZEN;
	return low;
}

/* Readers have consumed the oldest message of the log. */
static void release_oldest(struct spindle_mc *mc)
{
	u8 s = mc->deliver.log[mc->deliver.log_head++ & mc->deliver.log_mask];

	if (s != SPINDLE_LOG_GONE)
		mc->sender[s].rel_slot++;
}

/* Units from the first message that is not counted to the end of the last one that is released. */
static u32 newly_owed(const struct spindle_mc_sender *sd)
{
	const struct spindle_msg *first = &sd->msgs[sd->owed_slot & sd->walk.wmask];
	const struct spindle_msg *last = &sd->msgs[(sd->rel_slot - 1) & sd->walk.wmask];

	/* Units that the sender skips are known when its next message is here. */
	if (sd->rel_slot == sd->walk.slot)
		return last->unit - first->unit + spindle_units(last->len);
	return sd->msgs[sd->rel_slot & sd->walk.wmask].unit - first->unit;
}

/* Count what the senders may be waiting for. No other member waits for the own ring. */
static void count_owed(struct spindle_mc *mc)
{
	u32 s;

	for (s = 0; s < mc->senders; s++) {
		struct spindle_mc_sender *sd = &mc->sender[s];

		if (s == mc->my_sender || sd->owed_slot == sd->rel_slot)
			continue;
		sd->owed = min_t(u64, (u64)sd->owed + newly_owed(sd), mc->ring_units);
		sd->owed_slot = sd->rel_slot;
		mc->own.overdue |= sd->owed >= mc->ring_units >> SPINDLE_LAZY_SHIFT;
	}
}

static void free_own(struct spindle_mc *mc)
{
	const struct spindle_mc_sender *sd = &mc->sender[mc->my_sender];
	u32 wmask = mc->window - 1;
	u64 low = lowest_delivered(mc);
	u64 n = mc->send.free_slot;

	while (n != sd->walk.slot &&
	       sd->msgs[n & wmask].round * mc->senders + mc->my_sender < low)
		n++;
	if (n == mc->send.free_slot)
		return;
	WRITE_ONCE(mc->send.free_slot, n);	/* pairs with READ_ONCE() of statistics */
	n = (n - 1) & wmask;
	if (mc->send.txq.desc) {
		/* Pairs with the process's load-acquire of the slots, which are released behind. */
		if (mc->send.txq.lsn_word)
			WRITE_ONCE(*mc->send.txq.lsn_word, mc->deliver.lsn);
		spindle_txq_free(&mc->send.txq, mc->send.ends[n].slot, mc->send.ends[n].unit);
		mc->events |= SPINDLE_MC_FREED;
	} else {
		/* The next process to attach goes on with what is free by now. */
		mc->send.txq.free_slot = mc->send.ends[n].slot;
		mc->send.txq.free_unit = mc->send.ends[n].unit;
	}
}

/**
 * spindle_release_test() - has a reader consumed anything, or has the subgroup changed?
 * @ctx: the subgroup
 *
 * Return: true if so
 */
bool spindle_release_test(void *ctx)
{
	const struct spindle_mc *mc = ctx;
	const struct spindle_dlvq *q;

	if (mc->deliver.settle)
		return true;
	for (q = mc->deliver.readers; q; q = q->next)
		if (!q->error && READ_ONCE(*q->consumed_word) != q->consumed)
			return true;
	return mc->deliver.history && spindle_history_moved(mc->deliver.history);
}

/**
 * spindle_release_trigger() - count what readers have consumed as delivered, free own slots
 * @ctx: the subgroup
 */
void spindle_release_trigger(void *ctx)
{
	struct spindle_mc *mc = ctx;
	u64 low = released(mc);
	u64 delivered;

	mc->deliver.settle = false;
	/* The log has room again. Without a reader nothing else would clear @blocked. */
	if (mc->deliver.log_head != low)
		mc->deliver.blocked = false;
	while (mc->deliver.log_head != low)
		release_oldest(mc);
	count_owed(mc);
	delivered = spindle_mc_prefix(mc, count_released);
	if (mc->ordered)
		delivered = min(delivered, mc->deliver.stable);
	spindle_mc_set(mc, SPINDLE_COL_DELIVERED, delivered);
	if (mc->my_sender != SPINDLE_NO_RANK)
		free_own(mc);
	spindle_mc_post_in_place(mc);
}
