/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lanes: the bulk connection of a node to another one, shared by all RDMC groups that have
 * both as members; and another one, shared by the streams of subgroups (core/stream.h), so that
 * what becomes of groups is nothing to the view.
 *
 *	node -> lanes -> bulk connection
 *	     -> rdmc groups -> links -> lane
 *	     -> subgroups -> large messages -> links -> lane
 *
 * Owner: the node; a lane lives as long as there is a link to it, and is closed when
 * the last one goes, when it breaks, or when the node leaves its view. A lane that broke is
 * closed by a chore, and never comes back: the next group gets a new one, and so do those
 * that had only begun to open, see spindle_rdmc_down().
 */
#ifndef SPINDLE_LANE_H
#define SPINDLE_LANE_H

#include "core/view.h"
#include "fabric/bulk.h"
#include "hello.h"
#include "link.h"
#include "net.h"

struct spindle_hello;
struct spindle_lane;
struct spindle_node;

/* Groups or streams that may have a link to a lane. */
#define SPINDLE_LANE_LINKS 1024
/* Groups of processes that may: uapi says so. */
#define SPINDLE_LANE_GROUPS 256

/**
 * struct spindle_lane - a bulk connection of a node
 * @list: in the node's list, unless it is closed; the namespace's lock
 * @run: in the engine's list; engine
 * @node: the node
 * @view: it is for streams
 * @id: node id of the other end
 * @addr: where it listens
 * @incarnation: of its node
 * @heard: its requests; protected by the lock of the endpoint
 * @links: number of links; the namespace's lock
 * @link: the links; engine
 * @top: all links are below
 * @bulk: the connection
 * @came_up: it is ready; set by the connection, with release
 * @went_down: it is lost; set by the connection, with release
 * @joined: the engine uses it
 * @lost: the engine has given it up
 * @closed: nothing is left of the connection; the namespace's lock
 * @chore: closes a lane that broke
 */
struct spindle_lane {
	struct list_head list;
	struct list_head run;
	struct spindle_node *node;
	bool view;
	u32 id;
	struct spindle_addr addr;
	u64 incarnation;
	struct spindle_heard heard;
	u32 links;
	struct spindle_link *link[SPINDLE_LANE_LINKS];
	u32 top;
	struct spindle_bulk bulk;
	int came_up;
	int went_down;
	bool joined;
	bool lost;
	bool closed;
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

#endif /* SPINDLE_LANE_H */
