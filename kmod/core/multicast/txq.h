/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * TX queue: the kernel's end of the ring in which a process builds messages.
 *
 * The process owns the descriptors and the payload bytes; the kernel owns this struct and the two
 * words of the control page that say what is free again. Each word that the process writes is read
 * once into a local, and the local is checked. The first broken rule freezes the queue: its owner
 * can no longer send, and no other process notices.
 *
 * Slots of the process and messages on the wire count separately, because slots
 * may be abandoned. Units are one sequence, without end, that both share.
 *
 * Context: engine, but for init.
 */
#ifndef SPINDLE_CORE_TXQ_H
#define SPINDLE_CORE_TXQ_H

#include "core/base/smc.h"

/**
 * struct spindle_txq - a sender attachment as the engine sees it
 */
struct spindle_txq {
	/** @desc: descriptor ring, user memory */
	const struct spindle_tx_desc *desc;
	/** @free_slot_word: control page: slots that are free again */
	u64 *free_slot_word;
	/** @free_unit_word: control page: units that are free again */
	u64 *free_unit_word;
	/**
	 * @lsn_word: control page: position of the next message, stored before slots are free; or
	 * NULL
	 */
	u64 *lsn_word;
	/** @wmask: window - 1 */
	u32 wmask;
	/** @ring_units: units of the payload ring */
	u32 ring_units;
	/** @max_msg: bytes */
	u32 max_msg;
	/** @error: enum spindle_error; not 0: frozen */
	u32 error;
	/** @slot: next slot to look at */
	u64 slot;
	/** @unit: where its extent must begin */
	u64 unit;
	/** @free_slot: slots below are free again */
	u64 free_slot;
	/** @free_unit: units below are free again */
	u64 free_unit;
};

/**
 * struct spindle_tx_slot - a slot taken from the queue
 */
struct spindle_tx_slot {
	/** @unit: first unit */
	u64 unit;
	/** @end_unit: behind the last unit reserved */
	u64 end_unit;
	/** @end_slot: slot number + 1 */
	u64 end_slot;
	/** @len: bytes */
	u32 len;
	/** @flags: SPINDLE_TX_VIEW has the view whose ranks are in @mask */
	u32 flags;
	/** @mask: members that get the message; 0: all */
	u64 mask;
	/** @abandoned: nothing is to be sent */
	bool abandoned;
};

bool spindle_txq_ready(const struct spindle_txq *txq);
bool spindle_txq_take(struct spindle_txq *txq, struct spindle_tx_slot *slot);
void spindle_txq_free(struct spindle_txq *txq, u64 slot, u64 unit);

#endif /* SPINDLE_CORE_TXQ_H */
