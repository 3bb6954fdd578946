// SPDX-License-Identifier: GPL-2.0-only
/*
 * Deliver: hand stable messages to the readers, in order. See multicast.h.
 *
 * Context: engine, all of it.
 */
#include "history.h"
#include "stage.h"

static u64 lowest_head(const struct spindle_mc *mc)
{
	u64 low = U64_MAX;
	u32 s;

	for (s = 0; s < mc->senders; s++)
		low = min(low, mc->sender[s].head);
	return low;
}

/* The sequence number that delivery has to stay below. */
static u64 dlv_limit(const struct spindle_mc *mc)
{
	return mc->ordered ? mc->deliver.stable : U64_MAX;
}

/**
 * spindle_deliver_test() - is a message stable, and may it be delivered?
 * @ctx: the subgroup
 *
 * Return: true if so
 */
bool spindle_deliver_test(void *ctx)
{
	const struct spindle_mc *mc = ctx;
	u32 s;

	if (mc->deliver.blocked || (mc->deliver.hold && !mc->deliver.attached))
		return false;
	if (mc->deliver.vid_due)
		return true;
	for (s = 0; s < mc->senders; s++) {
		u64 head = mc->sender[s].head;

		if (head != U64_MAX && head * mc->senders + s < dlv_limit(mc))
			return true;
	}
	return false;
}

/* The log is full only if it also has messages of senders that are gone. */
static bool log_is_full(const struct spindle_mc *mc)
{
	return mc->deliver.log_tail - mc->deliver.log_head > mc->deliver.log_mask;
}

/*
 * There is no room for a message at a reader. A history makes some, unless it has to keep what no
 * disk has. Once the end of a view has cut the messages (spindle_mc_trim()), they do not wait for a
 * disk. Returns whether there is room now.
 */
static bool make_room(struct spindle_mc *mc, struct spindle_dlvq *q, u32 len)
{
	if (!q->history)
		return false;
	spindle_history_make_room(q->history, len);
	/* Readers may have been dropped, however long it takes to copy the message. */
	mc->deliver.settle = true;
	if (spindle_dlvq_room(q, len) || mc->deliver.stable != U64_MAX || !mc->durable)
		return spindle_dlvq_room(q, len);
	spindle_durable_give_up(mc);
	spindle_history_make_room(q->history, len);
	return true;
}

static bool has_room(struct spindle_mc *mc, struct spindle_dlvq *q, u32 len)
{
	return spindle_dlvq_room(q, len) || make_room(mc, q, len);
}

/*
 * Is there room for a message at all readers, and are its bytes at those that copy? A reader that
 * waits for another one keeps what was copied. Returns false if the message waits for a reader, or
 * for @budget (bytes to copy).
 */
static bool readers_are_ready(struct spindle_mc *mc, const struct spindle_dlv *dlv, const u8 *pay,
			      u64 *budget)
{
	struct spindle_dlvq *q;

	for (q = mc->deliver.readers; q; q = q->next) {
		if (q->error)
			continue;
		if (!has_room(mc, q, dlv->len)) {
			mc->deliver.blocked = true;
			return false;
		}
		if (q->copy && !spindle_dlvq_copy(q, dlv, pay,
						  mc->ring_units << SPINDLE_UNIT_SHIFT, budget))
			return false;
	}
	return true;
}

/* Deliver one message. Returns false if it waits for a reader, or for @budget (bytes to copy). */
static bool deliver_one(struct spindle_mc *mc, u32 s, u64 *budget)
{
	struct spindle_mc_sender *sd = &mc->sender[s];
	u32 wmask = sd->walk.wmask;
	const struct spindle_msg *msg = &sd->msgs[sd->dlv_slot & wmask];
	struct spindle_dlv dlv = {
		.lsn = mc->deliver.lsn,
		.offset = (u64)(msg->unit & (mc->ring_units - 1)) << SPINDLE_UNIT_SHIFT,
		.len = msg->len,
		.sender = s,
		.kind = SPINDLE_DLV_MSG,
		.slot = sd->dlv_slot,
	};
	bool other = msg->mask && !(msg->mask & BIT_ULL(mc->me));
	struct spindle_dlvq *q;
	bool read = false;

	if (log_is_full(mc)) {
		mc->deliver.blocked = true;
		return false;
	}
	/* Readers get the position of a message for other members, and nothing else of it. */
	if (other) {
		dlv.kind = SPINDLE_DLV_OTHER;
		dlv.offset = 0;
		dlv.len = 0;
	}
	if (!readers_are_ready(mc, &dlv, sd->pay, budget))
		return false;
	for (q = mc->deliver.readers; q; q = q->next) {
		if (q->error)
			continue;
		spindle_dlvq_append(q, &dlv);
		read = true;
	}
	mc->deliver.log[mc->deliver.log_tail++ & mc->deliver.log_mask] = s;
	WRITE_ONCE(mc->deliver.lsn, mc->deliver.lsn + 1);
	sd->dlv_slot++;
	sd->head = sd->dlv_slot == sd->walk.slot ? U64_MAX :
		   sd->msgs[sd->dlv_slot & wmask].round;
	spindle_count(&mc->stats.delivered, 1);
	spindle_count(&mc->stats.delivered_bytes, dlv.len);
	if (!read)
		spindle_count(&mc->stats.discarded, 1);
	return true;
}

/* Is there room for an entry without bytes at all readers? */
static bool readers_have_room(struct spindle_mc *mc)
{
	struct spindle_dlvq *q;

	for (q = mc->deliver.readers; q; q = q->next)
		if (!q->error && !has_room(mc, q, 0))
			return false;
	return true;
}

/* Tell the readers that a view has begun; returns false if one of them has no room. */
static bool deliver_view(struct spindle_mc *mc)
{
	struct spindle_dlv dlv = {
		.lsn = mc->deliver.lsn,
		.offset = mc->deliver.vid_before,
		.slot = mc->deliver.vid_due,
		.kind = SPINDLE_DLV_VIEW,
	};
	struct spindle_dlvq *q;

	if (log_is_full(mc) || !readers_have_room(mc)) {
		mc->deliver.blocked = true;
		return false;
	}
	for (q = mc->deliver.readers; q; q = q->next) {
		if (q->error)
			continue;
		/* This reader attached in the view already, so its entry 0 is the one behind. */
		if (q->vid == mc->deliver.vid_due)
			q->base++;
		else
			spindle_dlvq_append(q, &dlv);
	}
	if (mc->deliver.history)
		spindle_history_viewed(mc->deliver.history, mc->deliver.vid_due,
				       mc->deliver.vid_before);
	mc->deliver.log[mc->deliver.log_tail++ & mc->deliver.log_mask] = SPINDLE_LOG_GONE;
	mc->deliver.vid_due = 0;
	mc->deliver.vid_before = 0;
	return true;
}

/*
 * Walk round by round over the rounds that have messages. A sender delivered in this
 * round has moved its head past it, so starting over at sender 0 repeats nothing.
 */
static u32 deliver_batch(struct spindle_mc *mc)
{
	u32 max = spindle_mc_budget(mc, SPINDLE_SW_DLV_BATCH, mc->tune.dlv_budget);
	u64 limit = dlv_limit(mc), copy = mc->tune.copy_budget;
	u32 n = 0, s;

	for (;;) {
		u64 round = lowest_head(mc);

		if (round == U64_MAX)
			return n;
		for (s = 0; s < mc->senders; s++) {
			if (mc->sender[s].head != round)
				continue;
			if (round * mc->senders + s >= limit || n == max ||
			    !deliver_one(mc, s, &copy))
				return n;
			n++;
		}
	}
}

/**
 * spindle_deliver_trigger() - deliver what is stable, as far as readers have room
 * @ctx: the subgroup
 */
void spindle_deliver_trigger(void *ctx)
{
	struct spindle_mc *mc = ctx;
	bool view = mc->deliver.vid_due && deliver_view(mc);
	struct spindle_dlvq *q;
	u32 n = mc->deliver.vid_due ? 0 : deliver_batch(mc);

	if (!n && !view)
		return;
	if (n) {
		trace_spindle_deliver(mc->node, mc->id, n);
		spindle_mc_batch(&mc->stats.dlv_batches, mc->stats.dlv_hist, n);
	}
	mc->events |= SPINDLE_MC_DELIVERED;
	mc->deliver.settle = true;
	for (q = mc->deliver.readers; q; q = q->next)
		if (!q->error)
			spindle_dlvq_publish(q);
	if (mc->deliver.history)
		spindle_history_show(mc->deliver.history);
}
