/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Events: what happened, for people and tools, over netlink.
 *
 * Context: any; nothing here sleeps. An event that cannot be sent is lost: receivers are
 * told that (ENOBUFS) and learn the state from dumps, as netlink has it.
 */
#ifndef SPINDLE_EVENT_H
#define SPINDLE_EVENT_H

#include <linux/types.h>
#include <linux/spindle_genl.h>

struct spindle_node;

/**
 * struct spindle_event_info - what applies of it; 0 or NULL: does not apply
 * @vid: view id
 * @peer: node id of a peer
 * @subgroup: subgroup id, with @has_subgroup
 * @has_subgroup: @subgroup counts
 * @error: enum spindle_error
 * @rdmc: id of an RDMC group
 * @rdmc_error: enum spindle_rdmc_error
 * @reason: for people
 */
struct spindle_event_info {
	u64 vid;
	u32 peer;
	u32 subgroup;
	bool has_subgroup;
	u32 error;
	u64 rdmc;
	u32 rdmc_error;
	const char *reason;
};

void spindle_event(const struct spindle_node *node, enum spindle_event event,
		   const struct spindle_event_info *info);

#endif /* SPINDLE_EVENT_H */
