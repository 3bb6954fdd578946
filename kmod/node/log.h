/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Log: the life of a view in the kernel log.
 *
 * Events call this (event.h), so that an event and its line come from one call. The rate of lines
 * is limited by kind for each node, and by kind for all nodes together. So a flood of one kind
 * does not hide other kinds, and creating and removing many nodes does not raise the limit.
 *
 * A line has only numbers and constant strings from a peer.
 *
 * Context: any; nothing here sleeps.
 */
#ifndef SPINDLE_NODE_LOG_H
#define SPINDLE_NODE_LOG_H

#include <linux/ratelimit.h>
#include <linux/spindle_genl.h>

struct spindle_addr;
struct spindle_event_info;
struct spindle_node;

enum spindle_log_kind {
	SPINDLE_LOG_VIEW,	/* installed, formed, removed */
	SPINDLE_LOG_SUSPECT,	/* a member is suspected */
	SPINDLE_LOG_STOPPED,	/* this node is no member any more */
	SPINDLE_LOG_REFUSED,	/* one of two nodes has refused the other */
	SPINDLE_LOG_JOIN,	/* begun, failed */
	SPINDLE_LOG_LOST,	/* a peer of a static view, a subgroup of one */
	SPINDLE_LOG_DEVICE,	/* the RDMA device is gone */
	SPINDLE_LOG_KINDS
};

/**
 * struct spindle_log - limits of what a node prints
 */
struct spindle_log {
	/** @limit: by kind */
	struct ratelimit_state limit[SPINDLE_LOG_KINDS];
};

void spindle_log_init(struct spindle_log *log);
void spindle_log_event(struct spindle_node *node, enum spindle_event_kind event,
		       const struct spindle_event_info *info);
void spindle_log_join(struct spindle_node *node, const struct spindle_addr *contact, u32 contacts,
		      bool begins);
void spindle_log_insecure(struct spindle_node *node);

#endif /* SPINDLE_NODE_LOG_H */
