/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Durable: what a node does for the logs of a subgroup, around the protocol in
 * core/multicast/durable.h.
 *
 *	memory	a history from the beginning on, because messages are kept there for the logger
 *	watch	a log that stands still is named, and by policy waited for, given up or left with
 *
 * Owner: the subgroup. The state goes over to the subgroup's object in the next view.
 */
#ifndef SPINDLE_NODE_DURABLE_H
#define SPINDLE_NODE_DURABLE_H

#include <linux/types.h>

struct spindle_attachment;
struct spindle_subgroup;

/**
 * struct spindle_logging - the logs of a subgroup, at this node
 */
struct spindle_logging {
	/** @logger: the attachment, or NULL; the namespace's lock */
	struct spindle_attachment *logger;
	/** @stall_ms: time after which a log that stands still is named; 0: never */
	u32 stall_ms;
	/** @on_stall: enum spindle_on_log_stall */
	u32 on_stall;
	/** @lagging: the log was named; engine, as all that follows */
	bool lagging;
	/** @has_some: at the last look the log did not have all messages */
	bool has_some;
	/** @told: enum spindle_log_state that was reported last */
	u32 told;
	/** @given_up: times that the history has stopped to keep messages, as reported last */
	u64 given_up;
	/** @failed: times that a logger has said that its disk has failed, as reported last */
	u64 failed;
	/** @persisted: position that the log had come to at the last look */
	u64 persisted;
	/** @since_ns: since when it has been there although there are messages, ktime */
	u64 since_ns;
	/** @durable: durable position at the last look */
	u64 durable;
	/** @durable_ns: since when it has been there and messages wait, ktime; 0: none waits */
	u64 durable_ns;
};

int spindle_logging_create(struct spindle_subgroup *sg);

/* engine context */
void spindle_logging_set(struct spindle_logging *l, u32 stall_ms, u32 on_stall);
bool spindle_logging_watch(struct spindle_subgroup *sg);

#endif /* SPINDLE_NODE_DURABLE_H */
