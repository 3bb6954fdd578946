/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Installed: a view that a node has installed, with all the memory it takes.
 *
 *	node -> inst -> peers (connection, row)        one per other member
 *	             -> own row
 *	             -> subgroups -> attachments       one per open file
 *	             -> live                           membership, if the view is live
 *
 * Owner: the node. A view is built as a whole, then started, then removed as a whole. Between start
 * and stop the engine owns its protocol state.
 *
 * In a live view (live/live.h) members come and go. Each peer has a seat, from before it is a
 * member until no reader here holds a message of it any more. A row has the same layout in all
 * views. A work item that holds the namespace's lock calls the engine to change to the next view,
 * so the holder of the lock sees a stable view.
 */
#ifndef SPINDLE_NODE_INSTALLED_H
#define SPINDLE_NODE_INSTALLED_H

#include <linux/mutex.h>

#include "core/group/group.h"
#include "fabric/region.h"

struct spindle_lineage;
struct spindle_live;
struct spindle_node;
struct spindle_peer;
struct spindle_peer_ops;
struct spindle_ranges;
struct spindle_rules;
struct spindle_subgroup;

/* Peers of an installed view at most: members, nodes that want to join, and former members. */
#define SPINDLE_SEATS 128

/**
 * struct spindle_installed - an installed view at one node
 */
struct spindle_installed {
	/** @node: its node */
	struct spindle_node *node;
	/** @peer_ops: what its peers tell it, constant */
	const struct spindle_peer_ops *peer_ops;
	/** @live: membership, of live/; or NULL of a static view */
	struct spindle_live *live;
	/** @rules: of a live view, constant; or NULL */
	const struct spindle_rules *rules;
	/** @lineage: with @rules, constant once the view has begun */
	const struct spindle_lineage *lineage;
	/**
	 * @view: the view; without members while the node joins a live view. In a live view this is
	 * a copy of the view in @live, which also has one while the node is no member
	 */
	struct spindle_view view;
	/** @digest: digest of @view */
	u64 digest;
	/**
	 * @ranges: views of earlier eras that the first view follows, or NULL. Borrowed from the
	 * caller of spindle_installed_create(), until spindle_installed_start() has returned
	 */
	const struct spindle_ranges *ranges;
	/** @layout: layout of the own row */
	struct spindle_layout layout;
	/** @row: the own row */
	struct spindle_region row;
	/**
	 * @seats_lock: orders changes of @seat, and the end of the mappings of a row, against
	 * mmap()
	 */
	struct mutex seats_lock;	/* seat against mmap() */
	/** @seat: all peers, owned; in a static view by rank. Set by spindle_installed_seat() */
	struct spindle_peer *seat[SPINDLE_SEATS];
	/** @taken: seats that have a peer */
	DECLARE_BITMAP(taken, SPINDLE_SEATS);
	/** @peer: the peers that are members, by rank; NULL at the own rank */
	struct spindle_peer *peer[SPINDLE_MAX_MEMBERS];
	/**
	 * @lost: in a static view, bit mask of the ranks whose connection is lost. Follows from the
	 * phases of peers; every push compares it with the mask that the peer last got
	 */
	u64 lost;
	/** @subgroup: by index in the view; NULL where the node is no member */
	struct spindle_subgroup *subgroup[SPINDLE_MAX_SUBGROUPS];
	/** @mg: the protocols of all subgroups, and the own rank */
	struct spindle_mg mg;
};

void spindle_installed_init(void);
struct spindle_installed *spindle_installed_create(struct spindle_node *node,
						   const struct spindle_view *view,
						   const struct spindle_rules *rules,
						   const struct spindle_lineage *lineage,
						   const struct spindle_ranges *ranges);
bool spindle_installed_is_of(const struct spindle_installed *inst,
			     const struct spindle_lineage *lineage);
void spindle_installed_settle(struct spindle_installed *inst);
void spindle_installed_start(struct spindle_installed *inst);
void spindle_installed_stop(struct spindle_installed *inst, u32 error);
void spindle_installed_remove(struct spindle_installed *inst);
void spindle_installed_free(struct spindle_installed *inst);

/**
 * spindle_installed_seat() - give a seat to a peer, or free the seat
 * @inst: the installed view
 * @seat: the seat
 * @peer: the peer; NULL: the seat is free again
 */
static inline void spindle_installed_seat(struct spindle_installed *inst, u32 seat,
					  struct spindle_peer *peer)
{
	inst->seat[seat] = peer;
	__assign_bit(seat, inst->taken, peer);
}

/**
 * spindle_installed_next() - the peer of a seat, or of the next seat that is taken
 * @inst: the installed view
 * @seat: the seat to begin with; out: the seat of the peer
 *
 * A loop over all peers begins with seat 0, and goes on with the seat after that of the last peer.
 * The loop may free the seat of the peer.
 *
 * Return: the peer; NULL: there are no more
 */
static inline struct spindle_peer *spindle_installed_next(const struct spindle_installed *inst,
							  u32 *seat)
{
	*seat = find_next_bit(inst->taken, SPINDLE_SEATS, *seat);
	return *seat < SPINDLE_SEATS ? inst->seat[*seat] : NULL;
}

/**
 * spindle_installed_subgroup() - this node's next subgroup
 * @inst: the installed view
 * @index: the index to begin with; out: the index of the subgroup
 *
 * Return: the subgroup; NULL: there are no more
 */
static inline struct spindle_subgroup *
spindle_installed_subgroup(const struct spindle_installed *inst, u32 *index)
{
	while (*index < inst->view.num_subgroups && !inst->subgroup[*index])
		(*index)++;
	return *index < inst->view.num_subgroups ? inst->subgroup[*index] : NULL;
}

/* engine context */
void spindle_installed_cut(struct spindle_installed *inst, u32 id);
bool spindle_installed_pass(struct spindle_installed *inst, u32 how);

#endif /* SPINDLE_NODE_INSTALLED_H */
