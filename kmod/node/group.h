/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Groups: a view that a node has installed, with all the memory it takes.
 *
 *	node -> group -> peers (connection, row)        one per other member
 *	              -> own row
 *	              -> subgroups -> attachments       one per open file
 *	              -> live                           membership, if the view is live
 *
 * Owner: the node. A group is built whole, then started, then removed whole; between
 * start and stop its protocol state is the engine's.
 *
 * In a live view (live.h) members come and go. Peers then sit in seats, from before they are
 * members until nobody here holds a message of theirs any more; rows are the same in all views;
 * and the engine goes from one view to the next in a letter of a work item that holds
 * the namespace's lock: the holder of the lock sees one view.
 */
#ifndef SPINDLE_GROUP_H
#define SPINDLE_GROUP_H

#include <linux/mutex.h>

#include "core/group.h"
#include "fabric/region.h"

struct spindle_lineage;
struct spindle_live;
struct spindle_node;
struct spindle_peer;
struct spindle_rules;
struct spindle_subgroup;

/* Peers that a group knows at most: members, those that want to be, those that were. */
#define SPINDLE_SEATS 128

/**
 * struct spindle_group - an installed view at one node
 * @node: its node
 * @live: membership, or NULL of a static view
 * @view: the view; without members while the node joins a live one. Of a live view a copy of
 *	membership's, which has a view also while the node is in none
 * @digest: its digest
 * @layout: of the own row
 * @row: the own row
 * @seats_lock: @seat against mmap()
 * @seat: all peers, owned; of a static view by rank. Set by spindle_group_seat()
 * @taken: seats that somebody has
 * @peer: of these, members, by rank; NULL for the own
 * @lost: of a static view: members whose connection is gone, by rank. The phases of peers say it,
 *	too; every push compares it with what the peer was told
 * @subgroup: by index in the view; NULL where the node is no member
 * @mg: the protocols of the subgroups, together, and the own rank
 */
struct spindle_group {
	struct spindle_node *node;
	struct spindle_live *live;
	struct spindle_view view;
	u64 digest;
	struct spindle_layout layout;
	struct spindle_region row;
	struct mutex seats_lock;	/* seat against mmap() */
	struct spindle_peer *seat[SPINDLE_SEATS];
	DECLARE_BITMAP(taken, SPINDLE_SEATS);
	struct spindle_peer *peer[SPINDLE_MAX_MEMBERS];
	u64 lost;
	struct spindle_subgroup *subgroup[SPINDLE_MAX_SUBGROUPS];
	struct spindle_mg mg;
};

struct spindle_group *spindle_group_create(struct spindle_node *node,
					   const struct spindle_view *view,
					   const struct spindle_rules *rules,
					   const struct spindle_lineage *lineage);
struct spindle_row spindle_group_row(struct spindle_group *group, struct spindle_peer *peer);
struct spindle_subgroup *spindle_group_find(const struct spindle_group *group, u32 id);
void spindle_group_start(struct spindle_group *group);
void spindle_group_stop(struct spindle_group *group, u32 error);
void spindle_group_remove(struct spindle_group *group);
void spindle_group_free(struct spindle_group *group);

/**
 * spindle_group_seat() - give a seat to a peer
 * @group: the group
 * @seat: the seat
 * @peer: the peer; NULL: it is free again
 */
static inline void spindle_group_seat(struct spindle_group *group, u32 seat,
				      struct spindle_peer *peer)
{
	group->seat[seat] = peer;
	__assign_bit(seat, group->taken, peer);
}

/**
 * spindle_group_next() - the peer on a seat, or on the next one that is taken
 * @group: the group
 * @seat: the seat; out: where the peer is
 *
 * To look at all of them: from 0, and on from the next one. The peer may lose its seat.
 *
 * Return: the peer; NULL: there are no more
 */
static inline struct spindle_peer *spindle_group_next(const struct spindle_group *group,
						      u32 *seat)
{
	*seat = find_next_bit(group->taken, SPINDLE_SEATS, *seat);
	return *seat < SPINDLE_SEATS ? group->seat[*seat] : NULL;
}

/**
 * spindle_group_subgroup() - the subgroup of an index, or the next one that this node is in
 * @group: the group
 * @index: the index; out: of the subgroup
 *
 * Return: the subgroup; NULL: there are no more
 */
static inline struct spindle_subgroup *spindle_group_subgroup(const struct spindle_group *group,
							      u32 *index)
{
	while (*index < group->view.num_subgroups && !group->subgroup[*index])
		(*index)++;
	return *index < group->view.num_subgroups ? group->subgroup[*index] : NULL;
}

/* engine context */
bool spindle_group_pass(struct spindle_group *group, u32 how);
void spindle_group_lost(struct spindle_group *group, u64 ranks, u32 error, const char *reason);

#endif /* SPINDLE_GROUP_H */
