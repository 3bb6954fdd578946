/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Refusals: nodes that this node has refused, and nodes that have refused this one.
 *
 * A refusal that the next attempt resolves is counted, but not reported. Examples: a node knocks,
 * two hosts install a view one after the other, a view changes on one host before the other. A
 * refusal that differing views explain is reported when it goes on for some seconds. All other
 * refusals are reported at once.
 */
#ifndef SPINDLE_NODE_REFUSAL_H
#define SPINDLE_NODE_REFUSAL_H

#include <linux/ratelimit.h>
#include <linux/spinlock.h>
#include <linux/types.h>

struct spindle_node;
struct spindle_peer;

/* Codes with a run of their own. A peer may send any code; unknown ones share the run of 0. */
#define SPINDLE_REFUSAL_CODES 24

enum spindle_refusal_side {
	SPINDLE_REFUSED_IT,	/* this node has refused the peer */
	SPINDLE_REFUSED_US,	/* the peer has refused this node */
	SPINDLE_REFUSAL_SIDES
};

/**
 * struct spindle_refusal_run - consecutive refusals of one kind
 */
struct spindle_refusal_run {
	/** @id: node id of the other node */
	u32 id;
	/** @since: time of the first one, ktime */
	u64 since;
	/** @last: time of the last one */
	u64 last;
	/** @logged: time of the last one in the kernel log, 0: none */
	u64 logged;
};

/**
 * struct spindle_refusals - of a node
 */
struct spindle_refusals {
	/** @lock: protects @run */
	spinlock_t lock;	/* run */
	/** @count: connection requests and proofs that this node has refused */
	atomic64_t count;
	/** @run: by side and code */
	struct spindle_refusal_run run[SPINDLE_REFUSAL_SIDES][SPINDLE_REFUSAL_CODES];
	/**
	 * @last: the last refusal by this node that the next attempt does not resolve: node id, or
	 * 0, in the high 32 bits, code in the low ones
	 */
	atomic64_t last;
	/** @limit: rate limit of events */
	struct ratelimit_state limit;
};

const char *spindle_refusal_text(u32 code);
void spindle_refusals_init(struct spindle_refusals *refusals);
void spindle_refused_it(struct spindle_node *node, u32 id, u32 code, bool passing);
void spindle_refused_us(struct spindle_peer *peer, u32 code);
void spindle_refusal_over(struct spindle_peer *peer);
u32 spindle_refusal_last(const struct spindle_node *node, u32 *id);

#endif /* SPINDLE_NODE_REFUSAL_H */
