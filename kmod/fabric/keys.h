/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Keys: the queue pair by which a connection registers memory and revokes rights.
 *
 * The queue pair is connected to itself, and never sends a packet. A registration in the queue
 * pair of the data would save a completion, and hardware would accept it. But after a lost packet
 * soft-RoCE repeats all requests from the first one that was not acknowledged, registrations
 * included, and reports the second registration as an error. So one lost packet would break the
 * connection. In this queue pair no packet can be lost.
 *
 * Requests are done in the order in which they were posted. A message about a registration waits
 * until the registration is done (bulk.c).
 *
 * Owner: the object that embeds it; from spindle_keys_start() on the engine of that object.
 * Completions go to the completion queue given at the creation, so the context that polls that
 * queue handles them.
 */
#ifndef SPINDLE_FABRIC_KEYS_H
#define SPINDLE_FABRIC_KEYS_H

#include <rdma/ib_verbs.h>
#include <rdma/rdma_cm.h>

/* Registrations and revocations that may be outstanding. */
#define SPINDLE_KEYS_DEPTH	128

struct spindle_keys;

/**
 * struct spindle_keys_ops - callbacks of the owner, from polling the completion queue
 */
struct spindle_keys_ops {
	/** @registered: one more registration is done */
	void (*registered)(struct spindle_keys *keys);
	/**
	 * @broken: a request failed, and so will all later ones; the reason is a constant string
	 */
	void (*broken)(struct spindle_keys *keys, const char *reason);
};

/**
 * struct spindle_keys_job - an outstanding revocation or registration
 */
struct spindle_keys_job {
	/** @done: called when the revocation is done; NULL: a registration */
	/** @ctx: first argument of @done */
	void (*done)(void *ctx, u64 arg);
	void *ctx;
	/** @arg: second argument of @done */
	u64 arg;
};

/**
 * struct spindle_keys - the queue pair
 */
struct spindle_keys {
	/** @ops: callbacks */
	const struct spindle_keys_ops *ops;
	/** @qp: the queue pair; NULL: not created */
	struct ib_qp *qp;
	/** @psn: first packet sequence number, random; no packet is ever sent */
	u32 psn;
	/** @started: the queue pair accepts requests */
	bool started;
	/** @dropped: ignore completions; set by the owner before it drains */
	bool dropped;
	/** @cqe: completion of all work requests in the send queue */
	struct ib_cqe cqe;
	/** @job: jobs in the send queue, a ring */
	struct spindle_keys_job job[SPINDLE_KEYS_DEPTH];
	/** @head: next to complete */
	u32 head;
	/** @tail: next to post */
	u32 tail;
	/** @asked: total number of registrations that were posted */
	u32 asked;
	/** @done: total number of registrations that are done */
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
