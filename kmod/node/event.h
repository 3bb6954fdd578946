/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events: reports for people and tools, over netlink and in the kernel log (log.h).
 *
 * Context: any; nothing here sleeps. An event that cannot be sent is lost. Listeners then get
 * ENOBUFS, and can read the state by dumps, as usual with netlink.
 */
#ifndef SPINDLE_NODE_EVENT_H
#define SPINDLE_NODE_EVENT_H

#include <linux/types.h>
#include <linux/spindle_genl.h>

struct genl_family;
struct spindle_node;
struct spindle_view;
struct spindle_view_subgroup;

/**
 * struct spindle_event_info - details of an event; 0 or NULL: does not apply
 */
struct spindle_event_info {
	/** @vid: view id */
	u64 vid;
	/** @peer: node id of a peer */
	u32 peer;
	/** @subgroup: configuration of a subgroup */
	const struct spindle_view_subgroup *subgroup;
	/** @lsn: position, with @has_lsn */
	u64 lsn;
	/** @has_lsn: @lsn is valid */
	bool has_lsn;
	/** @error: enum spindle_error */
	u32 error;
	/** @rdmc: id of an RDMC group */
	u64 rdmc;
	/** @rdmc_error: enum spindle_rdmc_error */
	u32 rdmc_error;
	/** @reason: for people */
	const char *reason;
	/** @view: of SPINDLE_EVENT_VIEW_INSTALL: the view; NULL: @reason describes it */
	const struct spindle_view *view;
	/** @mild: nothing is wrong, for instance when a member leaves */
	bool mild;
	/** @repeated: the event is in the kernel log already */
	bool repeated;
};

void spindle_event_init(struct genl_family *to);
void spindle_event(struct spindle_node *node, enum spindle_event_kind event,
		   const struct spindle_event_info *info);

#endif /* SPINDLE_NODE_EVENT_H */
