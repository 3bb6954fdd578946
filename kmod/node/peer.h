/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Peers: another member of the view, as a node sees it: the connection to it and its
 * row in our memory.
 *
 * Owner: the group, in a seat. Connection callbacks only set flags and wake the engine; the
 * engine does what follows from them:
 *
 *	          came_up           went_down
 *	AWAITED ----------> JOINED -----------> LOST
 *	   |                  | departs           |
 *	   |                  v                   |
 *	   |               PARTING                | departs
 *	   | departs          | went_down         |
 *	   |                  v                   |
 *	   +-------------> DEPARTED <-------------+
 *
 * A peer departs when a view begins without it that it was a member of. What it is before, its
 * rank says: of a member it is that in the view, and a guest has none. Both may be in each of the
 * first three.
 */
#ifndef SPINDLE_PEER_H
#define SPINDLE_PEER_H

#include "core/layout.h"
#include "core/push.h"
#include "fabric/conn.h"
#include "hello.h"

struct spindle_group;
struct spindle_subgroup;

/**
 * enum spindle_peer_phase - what the engine has to do with a peer
 * @SPINDLE_PEER_AWAITED: nothing yet: it is not connected
 * @SPINDLE_PEER_JOINED: the engine uses the connection
 * @SPINDLE_PEER_PARTING: the same, so that the peer learns that it is no member any more
 * @SPINDLE_PEER_LOST: the engine has given the connection up
 * @SPINDLE_PEER_DEPARTED: its row is kept for readers, and that is all
 */
enum spindle_peer_phase {
	SPINDLE_PEER_AWAITED,
	SPINDLE_PEER_JOINED,
	SPINDLE_PEER_PARTING,
	SPINDLE_PEER_LOST,
	SPINDLE_PEER_DEPARTED,
};

/**
 * struct spindle_peer - a peer
 * @group: its group
 * @id: node id
 * @addr: where it listens
 * @seat: its place in the group
 * @rank: rank in the view, or SPINDLE_NO_RANK: it wants to be a member, or was one. The inverse of
 *	@peer of the group, because every push asks for it
 * @digest: of the view that it is connected for
 * @expected: incarnation that it has to have; 0: any
 * @incarnation: that it has
 * @heard: its requests; protected by the lock of the endpoint
 * @needs_imm: it believes our guards only by completion
 * @conn: connection to it
 * @row: its row; it writes, we read
 * @in: layout of @row
 * @out: layout of our row in its memory
 * @vouch: by subgroup index: messages that a completion vouched for, low bits
 * @vouch_state: the same of its state block
 * @refusal: why the last request of somebody that gave its id was refused; 0: none was, or it is
 *	connected
 * @came_up: the connection is ready; set by the connection, with release
 * @went_down: the connection is lost; set by the connection, with release. Two flags, and no
 *	phase: the engine alone changes phases, and a connection may be lost before its work item
 *	has come to say that it is up
 * @phase: enum spindle_peer_phase; changed by the engine
 * @cause: why it is lost, enum spindle_error
 * @told_lost: ranks that it has told us it lost; not in a live view
 * @probe: somebody has lost it: write to it, to learn whether it is dead
 * @ready: of who wants to join a live view: the view whose members it is connected to
 * @marks: by subgroup: deliveries of this node before it departed
 * @since: when the seat was taken, or the peer departed, ktime
 * @seal: of its node block, as last accepted
 * @asleep: its engine sleeps: ring the doorbell
 * @debt: it was sent guards without a doorbell since the last doorbell
 * @told: our node block as it was last told
 * @imm: immediate data of the last guard in the chain
 * @bell: membership in the chain rings
 * @busy: passes that had something for it, since we told it that we sleep
 * @torn: reads of its node block that found it half written
 * @torn_run: of these, in a row
 */
struct spindle_peer {
	struct spindle_group *group;
	u32 id;
	struct spindle_addr addr;
	u32 seat;
	u32 rank;
	u64 digest;
	u64 expected;
	u64 incarnation;
	struct spindle_heard heard;
	bool needs_imm;
	struct spindle_conn conn;
	struct spindle_region row;
	struct spindle_layout in;
	struct spindle_layout out;
	u32 vouch[SPINDLE_MAX_SUBGROUPS];
	u32 vouch_state;
	u32 refusal;

	int came_up;
	int went_down;
	u8 phase;
	u32 cause;
	u64 told_lost;
	bool probe;
	u64 ready;
	u64 marks[SPINDLE_MAX_SUBGROUPS];
	u64 since;
	u64 seal;
	bool asleep;
	bool debt;
	struct spindle_block told;
	u32 imm;
	bool bell;
	u32 busy;
	u64 torn;
	u32 torn_run;
};

/**
 * spindle_peer_joined() - does the engine use the connection?
 * @peer: the peer
 *
 * Return: true if so
 */
static inline bool spindle_peer_joined(const struct spindle_peer *peer)
{
	u8 phase = READ_ONCE(peer->phase);

	return phase == SPINDLE_PEER_JOINED || phase == SPINDLE_PEER_PARTING;
}

/**
 * spindle_peer_departed() - was it a member, and is none any more?
 * @peer: the peer
 *
 * Return: true if so
 */
static inline bool spindle_peer_departed(const struct spindle_peer *peer)
{
	u8 phase = READ_ONCE(peer->phase);

	return phase == SPINDLE_PEER_PARTING || phase == SPINDLE_PEER_DEPARTED;
}

/**
 * spindle_peer_is_guest() - does it want to be a member?
 * @peer: the peer
 *
 * Return: true if so
 */
static inline bool spindle_peer_is_guest(const struct spindle_peer *peer)
{
	return peer->rank == SPINDLE_NO_RANK && !spindle_peer_departed(peer);
}

struct spindle_peer *spindle_peer_create(struct spindle_group *group, u32 seat,
					 const struct spindle_view_member *who, u64 digest);
void spindle_peer_start(struct spindle_peer *peer);
void spindle_peer_destroy(struct spindle_peer *peer);
const char *spindle_peer_why(const struct spindle_peer *peer);
u8 spindle_peer_state(const struct spindle_conn *conn);

/* engine context */
void spindle_peer_depart(struct spindle_peer *peer);
bool spindle_peer_watch(struct spindle_peer *peer);
void spindle_peer_blame(struct spindle_peer *peer);
bool spindle_peer_push(struct spindle_peer *peer);
void spindle_peer_cast(struct spindle_peer *peer, const struct spindle_write *write, u32 n);
void spindle_peer_tell(struct spindle_peer *peer, const struct spindle_write *write, u32 n);
void spindle_peer_post(struct spindle_peer *peer, u32 index);
bool spindle_peer_sleep(struct spindle_peer *peer);

/* peer_conn.c */
extern const struct spindle_conn_ops spindle_peer_conn_ops;
extern const struct spindle_endpoint_ops spindle_peer_endpoint_ops;

#endif /* SPINDLE_PEER_H */
