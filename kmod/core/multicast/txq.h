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
 * @desc: descriptor ring, user memory
 * @free_slot_word: control page: slots that are free again
 * @free_unit_word: control page: units that are free again
 * @wmask: window - 1
 * @ring_units: units of the payload ring
 * @max_msg: bytes
 * @error: enum spindle_error; not 0: frozen
 * @slot: next slot to look at
 * @unit: where its extent must begin
 * @free_slot: slots below are free again
 * @free_unit: units below are free again
 */
struct spindle_txq {
	const struct spindle_tx_desc *desc;
	u64 *free_slot_word;
	u64 *free_unit_word;
	u32 wmask;
	u32 ring_units;
	u32 max_msg;
	u32 error;
	u64 slot;
	u64 unit;
	u64 free_slot;
	u64 free_unit;
};

/**
 * struct spindle_tx_slot - a slot taken from the queue
 * @unit: first unit
 * @end_unit: behind the last unit reserved
 * @end_slot: slot number + 1
 * @len: bytes
 * @abandoned: nothing is to be sent
 */
struct spindle_tx_slot {
	u64 unit;
	u64 end_unit;
	u64 end_slot;
	u32 len;
	bool abandoned;
};

bool spindle_txq_ready(const struct spindle_txq *txq);
bool spindle_txq_take(struct spindle_txq *txq, struct spindle_tx_slot *slot);
void spindle_txq_free(struct spindle_txq *txq, u64 slot, u64 unit);

#endif /* SPINDLE_CORE_TXQ_H */
