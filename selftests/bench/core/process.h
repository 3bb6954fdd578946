/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process of a member. The process sends and reads by the inline functions of the library, over
 * memory that is laid out as the kernel lays out an attachment.
 *
 * The library and core/ both have a struct spindle_msg, so no file includes both. The engine needs
 * only the pointers of struct process_rings from a process.
 */
#ifndef SPINDLE_BENCH_PROCESS_H
#define SPINDLE_BENCH_PROCESS_H

#include <stdint.h>
#include <linux/spindle.h>

#define PROCESS_SENDERS 16

/**
 * struct process_conf - the subgroup that a process attaches to
 * @window: slots
 * @max_msg: bytes of the largest message
 * @slot_units: units of each slot, or 0: as many as its message needs
 * @entries: of the delivery ring, a power of two
 * @senders: number of senders
 * @sends: this member is one of them
 * @ring: bytes of each payload ring
 * @tx: own payload ring, if @sends
 * @rx: payload ring of each sender
 */
struct process_conf {
	uint32_t window;
	uint32_t max_msg;
	uint32_t slot_units;
	uint32_t entries;
	uint32_t senders;
	int sends;
	uint64_t ring;
	unsigned char *tx;
	const unsigned char *rx[PROCESS_SENDERS];
};

/**
 * struct process_rings - the engine's end of the shared memory
 * @desc: TX descriptors
 * @free_slot: control page
 * @free_unit: control page
 * @dlv: delivery ring
 * @dlv_tail: control page
 * @consumed: user page
 */
struct process_rings {
	struct spindle_tx_desc *desc;
	uint64_t *free_slot;
	uint64_t *free_unit;
	struct spindle_dlv *dlv;
	uint64_t *dlv_tail;
	uint64_t *consumed;
};

/**
 * struct process_saw - the messages that a process has read
 * @messages: how many
 * @order: a hash of senders and messages in order; equal deliveries give equal hashes
 * @wrong: messages whose bytes were not those that were sent
 */
struct process_saw {
	uint64_t messages;
	uint64_t order;
	uint64_t wrong;
};

struct process;

struct process *process_open(const struct process_conf *conf, struct process_rings *rings);
void process_close(struct process *p);
uint32_t process_send(struct process *p, uint32_t len, uint32_t n);
void process_read(struct process *p);
struct process_saw process_saw(const struct process *p);

#endif /* SPINDLE_BENCH_PROCESS_H */
