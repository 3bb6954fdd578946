/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Ranges: views of earlier eras that a group with logs follows when it has begun again.
 *
 * A restart chooses what the group begins with. Until the first view is established, another
 * restart could begin from one of the views before. These are the range of the first view, see rule
 * R2 in Documentation/design/durability.rst. The members of the first view are given the range
 * together with the view, and no other node needs it. The digest of their connections covers it.
 *
 * Context: any. Nothing here sleeps or allocates.
 */
#ifndef SPINDLE_CORE_RANGES_H
#define SPINDLE_CORE_RANGES_H

#include "port.h"
#include <linux/spindle.h>
#include <linux/spindle_genl.h>

/**
 * struct spindle_range_view - members of a subgroup in a view of an earlier era
 */
struct spindle_range_view {
	/** @subgroup: id of the subgroup */
	u32 subgroup;
	/** @members: how many */
	u32 members;
	/** @node: their ids, the lowest one first */
	u32 node[SPINDLE_MAX_MEMBERS];
};

/**
 * struct spindle_ranges - the ranges of all subgroups of a first view
 */
struct spindle_ranges {
	/** @views: entries in @view */
	u32 views;
	/** @view: those of a subgroup stand in their order, the oldest one first */
	struct spindle_range_view view[];
};

const char *spindle_ranges_add(struct spindle_ranges *ranges, u32 subgroup, const u32 *node,
			       u32 members);
u64 spindle_ranges_digest(u64 digest, const struct spindle_ranges *ranges);

#endif /* SPINDLE_CORE_RANGES_H */
