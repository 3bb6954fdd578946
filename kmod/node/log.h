/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Log: the life of a view in the kernel log, for people that were not there.
 *
 * Events call this (event.h), so that an event and its line come from one call. Lines are counted
 * by kind at each node, and by kind over all nodes: a flood of one kind hides no other, and
 * an administrator that makes nodes and removes them prints no more than one that has a node.
 *
 * What a line has of a peer are numbers and constant strings.
 *
 * Context: any; nothing here sleeps.
 */
#ifndef SPINDLE_LOG_H
#define SPINDLE_LOG_H

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
 * @limit: by kind
 */
struct spindle_log {
	struct ratelimit_state limit[SPINDLE_LOG_KINDS];
};

void spindle_log_init(struct spindle_log *log);
void spindle_log_event(struct spindle_node *node, enum spindle_event_kind event,
		       const struct spindle_event_info *info);
void spindle_log_join(struct spindle_node *node, const struct spindle_addr *contact, u32 contacts,
		      bool begins);
void spindle_log_insecure(struct spindle_node *node);

#endif /* SPINDLE_LOG_H */
