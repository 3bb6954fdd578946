/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keys: the queue pair by which a connection registers memory and takes rights back.
 *
 * It is connected to itself, and never sends a packet. A registration that stands in the
 * queue pair of the data would be cheaper by a completion, and hardware would take it; but
 * soft-RoCE executes what has not been acknowledged again from the first request
 * on, registrations included, and takes the second one for an error of ours: one lost packet
 * would break the connection. Here nothing is ever lost.
 *
 * Everything is done in the order in which it was posted. Whoever tells the peer of a
 * registration waits until it is done (bulk.c).
 *
 * Owner: whoever embeds it; from spindle_keys_start() on its engine. Its completions are in
 * the completion queue that it was created with, and so come from whoever polls that.
 */
#ifndef SPINDLE_FABRIC_KEYS_H
#define SPINDLE_FABRIC_KEYS_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

/* Registrations and revocations that may be under way. */
#define SPINDLE_KEYS_DEPTH	128

struct spindle_keys;

/**
 * struct spindle_keys_ops - what the owner is told; from polling the completion queue
 * @registered: one more registration is done
 * @broken: something failed, and all that follows will: a constant string says why
 */
struct spindle_keys_ops {
	void (*registered)(struct spindle_keys *keys);
	void (*broken)(struct spindle_keys *keys, const char *reason);
};

/**
 * struct spindle_keys_job - a revocation that is under way, or a registration
 * @done: called when it is done; NULL: a registration
 * @ctx: its first argument
 * @arg: its second
 */
struct spindle_keys_job {
	void (*done)(void *ctx, u64 arg);
	void *ctx;
	u64 arg;
};

/**
 * struct spindle_keys - the queue pair
 * @ops: callbacks
 * @qp: the queue pair; NULL: not created
 * @psn: number of its first packet, of which there is none
 * @started: it takes work
 * @dropped: what completes is of interest to nobody; set by the owner
 * @cqe: of everything in the send queue
 * @job: what is in the send queue, a ring
 * @head: next to complete
 * @tail: next to post
 * @asked: registrations that were posted, in all
 * @done: registrations that are done, in all
 */
struct spindle_keys {
	const struct spindle_keys_ops *ops;
	struct ib_qp *qp;
	u32 psn;
	bool started;
	bool dropped;
	struct ib_cqe cqe;
	struct spindle_keys_job job[SPINDLE_KEYS_DEPTH];
	u32 head;
	u32 tail;
	u32 asked;
	u32 done;
};

int spindle_keys_create(struct spindle_keys *keys, const struct spindle_keys_ops *ops,
			struct ib_pd *pd, struct ib_cq *cq);
int spindle_keys_start(struct spindle_keys *keys, struct rdma_cm_id *id);
void spindle_keys_destroy(struct spindle_keys *keys);

/* engine context */
bool spindle_keys_room(const struct spindle_keys *keys);
int spindle_keys_register(struct spindle_keys *keys, struct ib_mr *mr, int access);
int spindle_keys_revoke(struct spindle_keys *keys, u32 rkey,
			const struct spindle_keys_job *job);

#endif /* SPINDLE_FABRIC_KEYS_H */
