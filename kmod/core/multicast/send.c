// SPDX-License-Identifier: GPL-2.0-only
/*
 * Send: take what the process has committed, or give rounds up. See multicast.h.
 *
 * Context: engine, all of it.
 */
#include "core/base/states.h"
#include "stage.h"

/* Nulls are put off for at most so many passes with other work. */
#define NULLS_LATE 4

/*
 * Are nulls due, for rounds that others need and that there is no message for? A sender that has
 * been sending may be about to send. In most cases there is a message when other threads have had
 * the CPU and the engine looks again. A null that is sent too soon costs every sender a round
 * (Spindle paper, III-B and Fig. 11). A sender that has been silent (@ahead) is not waited for.
 */
static bool nulls_due(const struct spindle_mc *mc)
{
	return mc->sender[mc->my_sender].walk.rounds < mc->send.need &&
	       (mc->idle || mc->send.ahead || mc->send.late >= NULLS_LATE);
}

/**
 * spindle_send_test() - is there a message, or does our silence hold up others?
 * @ctx: the subgroup
 *
 * Return: true if so
 */
bool spindle_send_test(void *ctx)
{
	const struct spindle_mc *mc = ctx;

	if (mc->my_sender == SPINDLE_NO_RANK || spindle_mc_wedged(mc) || !spindle_mc_active(mc))
		return false;
	return nulls_due(mc) || mc->send.held == SPINDLE_HELD_PLACED ||
	       (mc->send.held == SPINDLE_HELD_NONE && mc->send.txq.desc &&
		spindle_txq_ready(&mc->send.txq));
}

/**
 * spindle_mc_count_late() - after a pass, count for how long nulls have been put off
 * @mc: the subgroup
 */
void spindle_mc_count_late(struct spindle_mc *mc)
{
	if (mc->my_sender == SPINDLE_NO_RANK ||
	    mc->sender[mc->my_sender].walk.rounds >= mc->send.need)
		mc->send.late = 0;
	else
		mc->send.late++;
}

static void send_slot(struct spindle_mc *mc, struct spindle_mc_sender *sd,
		      const struct spindle_tx_slot *slot, bool placed)
{
	u32 wmask = mc->window - 1;
	u64 n = sd->walk.slot;
	struct spindle_msg *msg = &sd->msgs[n & wmask];

	if (slot->abandoned) {
		struct spindle_mc_end *last = &mc->send.ends[(n - 1) & wmask];

		spindle_count(&mc->stats.abandoned, 1);
		/*
		 * The slot is freed with the last message in flight, or at once if there is none.
		 */
		if (n == mc->send.free_slot) {
			spindle_txq_free(&mc->send.txq, slot->end_slot, slot->end_unit);
			mc->events |= SPINDLE_MC_FREED;
		} else {
			last->slot = slot->end_slot;
			last->unit = slot->end_unit;
		}
		return;
	}
	msg->round = sd->walk.rounds++;
	msg->unit = slot->unit;
	msg->len = slot->len;
	msg->mask = slot->mask;
	mc->send.ends[n & wmask].slot = slot->end_slot;
	mc->send.ends[n & wmask].unit = slot->end_unit;
	mc->send.ends[n & wmask].clean = slot->len;
	mc->send.ends[n & wmask].to = U64_MAX;
	spindle_hdr_write(mc->own.hdr_ring, wmask, n, msg);
	if (sd->head == U64_MAX)
		sd->head = msg->round;
	sd->walk.slot++;
	spindle_count(&mc->stats.sent, 1);
	spindle_count(&mc->stats.sent_bytes, msg->len);
	if (slot->mask) {
		mc->send.ends[n & wmask].to = slot->mask;
		spindle_count(&mc->stats.direct, 1);
	}
	if (placed) {
		mc->send.ends[n & wmask].to = 0;
		spindle_count(&mc->stats.large, 1);
		spindle_count(&mc->stats.large_bytes, msg->len);
	}
}

/**
 * spindle_mc_hold() - change the state of the large message that is held
 * @mc: the subgroup
 * @to: the new state
 *
 * The state changes only here.
 *
 * Return: false if @to cannot follow the present state
 */
bool spindle_mc_hold(struct spindle_mc *mc, enum spindle_held to)
{
	static const u8 from[] = {
		[SPINDLE_HELD_NONE] = BIT(SPINDLE_HELD_PLACED),
		[SPINDLE_HELD_WAITING] = BIT(SPINDLE_HELD_NONE) | BIT(SPINDLE_HELD_MOVING) |
					 BIT(SPINDLE_HELD_PLACED),
		[SPINDLE_HELD_MOVING] = BIT(SPINDLE_HELD_WAITING),
		[SPINDLE_HELD_PLACED] = BIT(SPINDLE_HELD_MOVING),
	};

	if (!spindle_may(from, mc->send.held, to))
		return false;
	if (to == SPINDLE_HELD_WAITING && mc->send.held != SPINDLE_HELD_NONE)
		spindle_count(&mc->stats.large_again, 1);
	/* Pairs with READ_ONCE() of statistics. */
	WRITE_ONCE(mc->send.held, to);
	return true;
}

/*
 * Find the members that a message is for. If all of them have gone, the message is given up. The
 * queue is frozen if the process names members that there never were, or if the message is longer
 * than a push may bring. The slot is taken already, so this message is given up, too. Otherwise the
 * next process would never get the slot back.
 */
static void find_members(struct spindle_mc *mc, struct spindle_tx_slot *slot)
{
	static_assert(SPINDLE_MAX_DIRECT <= SPINDLE_MAX_LARGE, "RDMC brings what is larger");
	bool known = spindle_mc_direct(mc, &slot->mask, slot->flags >> SPINDLE_TX_VIEW_SHIFT);

	if (!known || slot->len > SPINDLE_MAX_DIRECT) {
		mc->send.txq.error = known ? SPINDLE_ERR_TX_LEN : SPINDLE_ERR_TX_MASK;
		slot->mask = 0;
	}
	slot->abandoned |= !slot->mask;
}

/* Send one message. Returns false if there is none that can be sent. */
static bool send_one(struct spindle_mc *mc, struct spindle_mc_sender *sd)
{
	struct spindle_tx_slot slot;

	if (mc->send.held != SPINDLE_HELD_NONE) {
		if (mc->send.held != SPINDLE_HELD_PLACED)
			return false;
		spindle_mc_hold(mc, SPINDLE_HELD_NONE);
		send_slot(mc, sd, &mc->send.held_slot, true);
		return true;
	}
	if (!mc->send.txq.desc || !spindle_txq_take(&mc->send.txq, &slot))
		return false;
	if (slot.mask && !slot.abandoned)
		find_members(mc, &slot);
	/* A stream of blocks brings a large message to all members. */
	if (slot.len > mc->tune.large && !slot.abandoned && !slot.mask) {
		mc->send.held_slot = slot;
		spindle_mc_hold(mc, SPINDLE_HELD_WAITING);
		return false;
	}
	send_slot(mc, sd, &slot, false);
	return true;
}

/* The process has gone: let go of its queue when all that it had committed is sent. */
static void part(struct spindle_mc *mc)
{
	if (mc->send.held != SPINDLE_HELD_NONE ||
	    (mc->send.txq.desc && spindle_txq_ready(&mc->send.txq)))
		return;
	mc->send.parting = false;
	mc->send.txq.desc = NULL;
	mc->events |= SPINDLE_MC_PARTED;
}

/*
 * Rounds that others need and that there is no message for become nulls. A null is a number in a
 * column: any count of them is the same one write. A sender that repeatedly has no message gives up
 * more rounds in advance, so that no member has to wait for that write either. Its next message
 * takes the round behind them, and then the others catch up by nulls of their own.
 */
static void send_nulls(struct spindle_mc *mc, struct spindle_mc_sender *sd)
{
	u64 nulls = mc->send.need - sd->walk.rounds, ahead = mc->send.ahead;

	spindle_count(&mc->stats.nulls, nulls);
	spindle_count(&mc->stats.silent, ahead);
	trace_spindle_null(mc->node, mc->id, nulls, ahead);
	sd->walk.rounds = mc->send.need + ahead;
	mc->send.ahead = min_t(u64, ahead ? 2 * ahead : 1, mc->tune.silence);
}

/**
 * spindle_send_trigger() - decide rounds: messages first, then nulls
 * @ctx: the subgroup; this node is a sender
 */
void spindle_send_trigger(void *ctx)
{
	struct spindle_mc *mc = ctx;
	struct spindle_mc_sender *sd = &mc->sender[mc->my_sender];
	u32 max = spindle_mc_budget(mc, SPINDLE_SW_SEND_BATCH, mc->tune.send_budget);
	u64 before = sd->walk.slot, n;
	u32 i;

	/* Each message decides a round that needs no null then. */
	for (i = 0; i < max && send_one(mc, sd); i++)
		;
	if (mc->send.parting)
		part(mc);
	if (mc->send.txq.error && mc->send.txq.desc)
		mc->events |= SPINDLE_MC_FROZEN;
	n = sd->walk.slot - before;
	if (n) {
		trace_spindle_send(mc->node, mc->id, n);
		mc->send.ahead = 0;
		spindle_count(&mc->stats.received, n);
		spindle_mc_batch(&mc->stats.send_batches, mc->stats.send_hist, n);
	}
	if (nulls_due(mc))
		send_nulls(mc, sd);
	spindle_mc_set(mc, SPINDLE_COL_SENT, sd->walk.rounds);
	spindle_mc_set(mc, SPINDLE_COL_SLOTS, sd->walk.slot);
	spindle_mc_advance(mc);
	mc->deliver.settle = true;
	spindle_mc_post_in_place(mc);
}

/**
 * spindle_mc_silence() - give up rounds, because the sender will be silent
 * @mc: the subgroup; this node is a sender
 * @rounds: how many, up to SPINDLE_MAX_ROUNDS
 *
 * A message that is committed all the same takes the round behind these.
 *
 * Return: false if no more rounds can be given up
 */
bool spindle_mc_silence(struct spindle_mc *mc, u64 rounds)
{
	struct spindle_mc_sender *sd = &mc->sender[mc->my_sender];
	u32 i;

	/* No member waits for rounds in a view that ends, or while the subgroup gives none. */
	if (spindle_mc_wedged(mc) || mc->lacking || mc->ended)
		return true;
	/* Stay far below where counts end: a process must not be able to end its group. */
	if (sd->walk.rounds + rounds > SPINDLE_MAX_ROUND / 4)
		return false;
	/*
	 * Messages that are committed come before the silence, whatever the budget is. They are a
	 * window at most: messages that the process commits during this loop are not waited for.
	 */
	for (i = 0; i < mc->window && spindle_send_test(mc); i++)
		spindle_send_trigger(mc);
	spindle_count(&mc->stats.silent, rounds);
	sd->walk.rounds += rounds;
	spindle_mc_set(mc, SPINDLE_COL_SENT, sd->walk.rounds);
	spindle_mc_advance(mc);
	mc->deliver.settle = true;
	return true;
}
