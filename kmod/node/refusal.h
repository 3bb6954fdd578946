/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Refusals: nodes that this node has refused, and nodes that have refused this one.
 *
 * A refusal that the next attempt resolves is counted and not told: a node that knocks is told to
 * come again, two hosts install a view one after the other, a view changes on one host before it
 * does on the other. Those that views explain are told when they go on for some seconds. All
 * others are told at once.
 */
#ifndef SPINDLE_REFUSAL_H
#define SPINDLE_REFUSAL_H

#include <linux/ratelimit.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct spindle_node;
struct spindle_peer;

/* Codes that are told apart, the fabric's and the owner's; those of a peer may be any number. */
#define SPINDLE_REFUSAL_CODES 20

enum spindle_refusal_side {
	SPINDLE_REFUSED_IT,	/* this node has refused the peer */
	SPINDLE_REFUSED_US,	/* the peer has refused this node */
	SPINDLE_REFUSAL_SIDES
};

/**
 * struct spindle_refusal_run - refusals of one kind, one after the other
 * @id: node id of the other
 * @since: the first one, ktime
 * @last: the last one
 * @logged: the last one that went to the kernel log, 0: none
 */
struct spindle_refusal_run {
	u32 id;
	u64 since;
	u64 last;
	u64 logged;
};

/**
 * struct spindle_refusals - of a node
 * @lock: @run
 * @count: connection requests and proofs that this node has refused
 * @run: by side and code
 * @last: the last one that this node has refused for good: node id, or 0, and code below it
 * @limit: of events
 */
struct spindle_refusals {
	spinlock_t lock;	/* run */
	atomic64_t count;
	struct spindle_refusal_run run[SPINDLE_REFUSAL_SIDES][SPINDLE_REFUSAL_CODES];
	atomic64_t last;
	struct ratelimit_state limit;
};

void spindle_refusals_init(struct spindle_refusals *refusals);
void spindle_refused_it(struct spindle_node *node, u32 id, u32 code, bool passing);
void spindle_refused_us(struct spindle_peer *peer, u32 code);
void spindle_refusal_over(struct spindle_peer *peer);
u32 spindle_refusal_last(const struct spindle_node *node, u32 *id);

#endif /* SPINDLE_REFUSAL_H */
