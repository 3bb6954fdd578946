/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lanes: the bulk connections of a node to another one. All RDMC groups that have both nodes as
 * members share one lane. The streams of subgroups (core/group/stream.h) share another lane, so
 * that the failure of a group does not affect the view.
 *
 *	node -> lanes -> bulk connection
 *	     -> rdmc groups -> links -> lane
 *	     -> subgroups -> large messages -> links -> lane
 *
 * Owner: the node. A lane lives as long as there is a link to it. It is closed when the last link
 * goes, when the connection breaks, or when the node leaves its view. A chore closes a broken
 * lane, which is never reopened. The next group gets a new lane, and so do groups that had only
 * begun to open, see spindle_rdmc_down().
 */
#ifndef SPINDLE_BULK_LANE_H
#define SPINDLE_BULK_LANE_H

#include "base/net.h"
#include "core/base/view.h"
#include "fabric/bulk.h"
#include "link.h"
#include "node/hello.h"

struct spindle_hello;
struct spindle_lane;
struct spindle_node;

/* Links of a lane at most. */
#define SPINDLE_LANE_LINKS 1024
/* Links of RDMC groups at most; uapi documents this number. */
#define SPINDLE_LANE_GROUPS 256

/**
 * struct spindle_lane - a bulk connection of a node
 */
struct spindle_lane {
	/** @list: in the node's list, unless it is closed; the namespace's lock */
	struct list_head list;
	/** @run: in the engine's list; engine */
	struct list_head run;
	/** @node: the node */
	struct spindle_node *node;
	/** @view: the lane is for streams */
	bool view;
	/** @id: node id of the other end */
	u32 id;
	/** @addr: address of the other end */
	struct spindle_addr addr;
	/** @incarnation: incarnation of the other end; 0: any */
	u64 incarnation;
	/** @heard: earlier requests of the other end; protected by the lock of the endpoint */
	struct spindle_heard heard;
	/** @links: number of links; the namespace's lock */
	u32 links;
	/** @link: the links; engine */
	struct spindle_link *link[SPINDLE_LANE_LINKS];
	/** @top: all links have a lower index */
	u32 top;
	/** @bulk: the connection */
	struct spindle_bulk bulk;
	/** @came_up: the connection is ready; set by the connection, with release */
	int came_up;
	/** @went_down: the connection is lost; set by the connection, with release */
	int went_down;
	/** @joined: the engine uses the connection */
	bool joined;
	/** @lost: the engine has given up the lane */
	bool lost;
	/** @closed: the connection is closed; the namespace's lock */
	bool closed;
	/** @chore: closes a lane that broke */
	struct spindle_chore chore;
};

int spindle_lane_get(struct spindle_link *link, struct spindle_node *node,
		     const struct spindle_view_member *who, u64 incarnation);
void spindle_lane_put(struct spindle_link *link);
int spindle_lane_prepare(struct spindle_link *link, u32 pages);
void spindle_lane_close(struct spindle_lane *lane);
u32 spindle_lane_match(struct spindle_endpoint *ep, const struct spindle_hello *hello,
		       const struct sockaddr_storage *from, struct spindle_conn **found);

extern const struct spindle_bulk_ops spindle_lane_bulk_ops;

/* engine context */
bool spindle_lane_pass(struct spindle_lane *lane);
bool spindle_lane_arm(struct spindle_lane *lane);

#endif /* SPINDLE_BULK_LANE_H */
