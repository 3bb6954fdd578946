// SPDX-License-Identifier: GPL-2.0-only
/*
 * TX queue: the kernel's end of the ring in which a process builds messages.
 * See txq.h; the process's end is described in <linux/spindle.h>.
 */
#include "txq.h"

/**
 * spindle_txq_ready() - is there anything to take, or to complain about?
 * @txq: the queue
 *
 * Return: true if spindle_txq_take() would do something
 */
bool spindle_txq_ready(const struct spindle_txq *txq)
{
	const struct spindle_tx_desc *desc = &txq->desc[txq->slot & txq->wmask];
	u64 ready = READ_ONCE(desc->ready);

	if (txq->error)
		return false;
	/* The last lap's value, or the fresh page's zero: not ready. */
	return ready && ready + txq->wmask + 1 != txq->slot + 1;
}

static bool freeze(struct spindle_txq *txq, u32 error)
{
	txq->error = error;
	return false;
}

/**
 * spindle_txq_take() - take the next slot if it is ready
 * @txq: the queue
 * @slot: out, with true only
 *
 * Return: true: a slot was taken. False: none is ready, or the process broke a rule
 * and @txq->error now says which
 */
bool spindle_txq_take(struct spindle_txq *txq, struct spindle_tx_slot *slot)
{
	const struct spindle_tx_desc *desc = &txq->desc[txq->slot & txq->wmask];
	u32 unit, units, len, flags;
	u64 ready, mask;

	if (txq->error)
		return false;
	/* Pairs with the store-release of the commit (A in <linux/spindle.h>). */
	ready = smp_load_acquire(&desc->ready);
	if (ready != txq->slot + 1) {
		if (ready && ready + txq->wmask + 1 != txq->slot + 1)
			freeze(txq, SPINDLE_ERR_TX_READY);
		return false;
	}
	/* Ready, but its place on the ring is not free: it was never reserved. */
	if (txq->slot - txq->free_slot > txq->wmask)
		return freeze(txq, SPINDLE_ERR_TX_READY);

	unit = READ_ONCE(desc->unit);
	units = READ_ONCE(desc->units);
	len = READ_ONCE(desc->len);
	flags = READ_ONCE(desc->flags);
	mask = READ_ONCE(desc->mask);

	if (flags & ~(SPINDLE_TX_ABANDON | SPINDLE_TX_VIEW))
		return freeze(txq, SPINDLE_ERR_TX_EXTENT);
	if (unit != (u32)txq->unit || units > txq->ring_units ||
	    txq->unit + units - txq->free_unit > txq->ring_units)
		return freeze(txq, SPINDLE_ERR_TX_EXTENT);
	if (len > txq->max_msg || spindle_units(len) > units)
		return freeze(txq, SPINDLE_ERR_TX_LEN);

	slot->unit = txq->unit;
	slot->end_unit = txq->unit + units;
	slot->end_slot = txq->slot + 1;
	slot->len = len;
	slot->mask = mask;
	slot->flags = flags;
	slot->abandoned = flags & SPINDLE_TX_ABANDON;
	txq->unit += units;
	txq->slot++;
	return true;
}

/**
 * spindle_txq_free() - give slots and units back to the process
 * @txq: the queue
 * @slot: slots below are free
 * @unit: units below are free
 *
 * All members have delivered what was there: the process may write into it again.
 */
void spindle_txq_free(struct spindle_txq *txq, u64 slot, u64 unit)
{
	txq->free_slot = slot;
	txq->free_unit = unit;
	/* Both pair with the process's load-acquire before it reserves. */
	smp_store_release(txq->free_unit_word, unit);
	/* Slots last: a process that sees a free slot sees its units. */
	smp_store_release(txq->free_slot_word, slot);
}
