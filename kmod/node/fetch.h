/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fetches: the connections of a table of mode read, and the reads of the rows of other members.
 *
 *	subgroup -> table -> fetches -> fetch (connection, landing)    one per other member
 *
 * Each table has a connection of its own between two members. So the right to read ends with the
 * connection, a read that fails harms nothing but the table, and no heartbeat waits behind a row.
 * The peer may read the own cells, and nothing else: the registration has no other pages. What is
 * read arrives in the landing, which only the device and the engine use (core/table/fetch.h).
 *
 * Processes say in their user pages when rows are to be read: at an interval, or once. For each
 * request the engine counts a round. A request has ended when the rows of all other members were
 * fetched for its round.
 *
 * Owner: the table. In a live view the table's next object takes them over, and fetches of members
 * that stay go on. A holder of the namespace's lock adds and removes fetches by
 * spindle_fetches_settle(). The engine uses them between that.
 *
 *	          came up          posted
 *	AWAITED ----------> IDLE <--------> READING
 *	                     |   arrived     |
 *	                     v   went down   |
 *	                   LOST <------------+
 *
 * The chore closes a fetch that is lost, and makes another one.
 */
#ifndef SPINDLE_NODE_FETCH_H
#define SPINDLE_NODE_FETCH_H

#include <linux/socket.h>

#include "base/net.h"
#include "core/base/view.h"
#include "core/membership/hello.h"
#include "core/table/fetch.h"
#include "fabric/conn.h"

struct spindle_endpoint;
struct spindle_fetches;
struct spindle_node;
struct spindle_subgroup;

/**
 * enum spindle_fetch_phase - how the engine uses a fetch
 */
enum spindle_fetch_phase {
	/** @SPINDLE_FETCH_AWAITED: the peer is not connected yet */
	SPINDLE_FETCH_AWAITED,
	/** @SPINDLE_FETCH_IDLE: the engine can post reads */
	SPINDLE_FETCH_IDLE,
	/** @SPINDLE_FETCH_READING: the device reads */
	SPINDLE_FETCH_READING,
	/** @SPINDLE_FETCH_LOST: the engine has given up the connection */
	SPINDLE_FETCH_LOST,
};

/**
 * struct spindle_fetch - reads of a member's row
 */
struct spindle_fetch {
	/** @list: in the table's list; the namespace's lock */
	struct list_head list;
	/** @run: in the engine's list */
	struct list_head run;
	/** @all: the table's fetches */
	struct spindle_fetches *all;
	/** @id: node id of the member */
	u32 id;
	/** @instance: instance of its row */
	u32 instance;
	/** @addr: its address */
	struct spindle_addr addr;
	/** @incarnation: the incarnation that it must have; 0: any */
	u64 incarnation;
	/** @heard: its earlier requests; protected by the lock of the endpoint */
	struct spindle_heard heard;
	/** @conn: the connection */
	struct spindle_conn conn;
	/** @landing: where reads arrive, as large as the row */
	struct spindle_region landing;
	/** @guard: memory for @tb */
	u64 *guard;
	/** @came_up: the connection is ready; set by the connection, with release */
	int came_up;
	/** @went_down: the connection is lost; set by the connection, with release */
	int went_down;
	/** @phase: enum spindle_fetch_phase; engine */
	u8 phase;
	/** @rank: rank of the member in the table; SPINDLE_NO_RANK: it is none; engine */
	u32 rank;
	/** @tb: the protocol */
	struct spindle_tb_fetch tb;
	/** @place: behind the last read in the queue */
	u64 place;
	/** @began_ns: when the last fetch began */
	u64 began_ns;
	/** @round: the round that it is for */
	u64 round;
	/** @covered: the last round for which the row was fetched */
	u64 covered;
};

/**
 * struct spindle_fetches - the fetches of a table
 */
struct spindle_fetches {
	/** @sg: the table's object in the present view; changed by the engine, in a letter */
	struct spindle_subgroup *sg;
	/** @node: the node */
	struct spindle_node *node;
	/** @digest: what hellos say of the table: its id, and its index in the view */
	u64 digest;
	/** @run: in the node's list; engine */
	struct list_head run;
	/** @list: the fetches; the namespace's lock */
	struct list_head list;
	/** @fetching: the fetches as the engine sees them */
	struct list_head fetching;
	/** @cells: the own cells, which the other members may read */
	struct spindle_region cells;
	/** @chore: replaces fetches that are lost, and closes those that nobody needs */
	struct spindle_chore chore;
	/** @cut: by rank: members that are suspected; written by the engine */
	u64 cut;
	/** @every_ns: shortest interval that a process wants; 0: none; engine */
	u64 every_ns;
	/** @round: requests of processes so far; engine */
	u64 round;
};

struct spindle_fetches *spindle_fetches_create(struct spindle_subgroup *sg);
void spindle_fetches_destroy(struct spindle_fetches *all);
void spindle_fetches_settle(struct spindle_fetches *all);
u64 spindle_fetches_landings(const struct spindle_fetches *all);
u64 spindle_fetches_bytes(const struct spindle_fetches *all);
u32 spindle_fetch_match(struct spindle_endpoint *ep, const struct spindle_hello *hello,
			const struct sockaddr_storage *from, struct spindle_conn **found);

/* engine context */
void spindle_fetches_follow(struct spindle_fetches *all, struct spindle_subgroup *sg);
void spindle_fetches_cut(struct spindle_fetches *all, u32 id);
void spindle_fetches_end(struct spindle_fetches *all);
bool spindle_fetches_pass(struct spindle_fetches *all, u64 now);
bool spindle_fetches_settled(const struct spindle_fetches *all);
u64 spindle_fetches_due(const struct spindle_fetches *all, u64 now);

#endif /* SPINDLE_NODE_FETCH_H */
