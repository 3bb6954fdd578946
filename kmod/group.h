/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups: a view that a node has installed, with all the memory it takes.
 *
 *	node -> group -> peers (connection, row)        one per other member
 *	              -> own row
 *	              -> subgroups -> attachments       one per open file
 *
 * Owner: the node. A group is built whole, then started, then removed whole; between
 * start and stop its protocol state is the engine's.
 */
#ifndef SPINDLE_GROUP_H
#define SPINDLE_GROUP_H

#include "core/layout.h"
#include "core/view.h"
#include "fabric/region.h"

struct spindle_node;
struct spindle_peer;
struct spindle_subgroup;

/**
 * struct spindle_group - an installed view at one node
 * @node: its node
 * @view: the view
 * @digest: its digest
 * @me: own rank
 * @layout: of the own row
 * @row: the own row
 * @peer: by rank; NULL for the own
 * @subgroup: by index in the view; NULL where the node is no member
 * @joined: peers that the engine is connected to, by rank
 * @lost: peers that the engine has given up, by rank
 * @passes: passes of the engine
 * @hot: subgroups in which something happens, by index
 * @push: subgroups that may have something for a peer, by index
 * @lazy: subgroups that may have something to tell that can wait, by index
 * @cold: index of the subgroup to look at next although nothing happens in it
 */
struct spindle_group {
	struct spindle_node *node;
	struct spindle_view view;
	u64 digest;
	u32 me;
	struct spindle_layout layout;
	struct spindle_region row;
	struct spindle_peer *peer[SPINDLE_MAX_MEMBERS];
	struct spindle_subgroup *subgroup[SPINDLE_MAX_SUBGROUPS];
	u64 joined;
	u64 lost;
	u64 passes;
	u64 hot;
	u64 push;
	u64 lazy;
	u32 cold;
};

struct spindle_group *spindle_group_create(struct spindle_node *node,
					   const struct spindle_view *view);
void spindle_group_start(struct spindle_group *group);
void spindle_group_stop(struct spindle_group *group, u32 error);
void spindle_group_remove(struct spindle_group *group);
void spindle_group_free(struct spindle_group *group);

/* engine context */
bool spindle_group_pass(struct spindle_group *group, u32 how);
void spindle_group_lost(struct spindle_group *group, u64 ranks, u32 error, const char *reason);

#endif /* SPINDLE_GROUP_H */
