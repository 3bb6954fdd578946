/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Peers: the connection to another member of the view, and that member's row in our memory.
 *
 * Owner: the installed view, in a seat. Connection callbacks only set flags and wake the engine.
 * The engine then changes the phase:
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
 * A peer departs when a view begins without it after a view that had it as a member. Before that
 * a peer is a member, with a rank in the view, or a guest, with no rank. Members and guests may be
 * AWAITED, JOINED or LOST.
 */
#ifndef SPINDLE_NODE_PEER_H
#define SPINDLE_NODE_PEER_H

#include "core/base/layout.h"
#include "core/base/push.h"
#include "fabric/conn.h"
#include "hello.h"

struct spindle_installed;
struct spindle_subgroup;

/**
 * struct spindle_peer_ops - what a peer tells its installed view
 *
 * Context: engine.
 */
struct spindle_peer_ops {
	/**
	 * @lost: members of a static view have lost each other: end the subgroups that have all of
	 * them. Its ranks are a bit mask of these members, of which this node may be one. Its error
	 * is an enum spindle_error, and its reason is for people, or NULL
	 */
	void (*lost)(struct spindle_installed *inst, u64 ranks, u32 error, const char *reason);
};

/**
 * enum spindle_peer_phase - how the engine uses a peer
 */
enum spindle_peer_phase {
	/** @SPINDLE_PEER_AWAITED: the peer is not connected yet */
	SPINDLE_PEER_AWAITED,
	/** @SPINDLE_PEER_JOINED: the engine uses the connection */
	SPINDLE_PEER_JOINED,
	/**
	 * @SPINDLE_PEER_PARTING: the engine still uses it, so that the peer can read that it is no
	 * member any more
	 */
	SPINDLE_PEER_PARTING,
	/** @SPINDLE_PEER_LOST: the engine has given up the connection */
	SPINDLE_PEER_LOST,
	/** @SPINDLE_PEER_DEPARTED: only the row is kept, for readers */
	SPINDLE_PEER_DEPARTED,
};

/**
 * struct spindle_peer - a peer
 */
struct spindle_peer {
	/** @inst: the installed view that it belongs to */
	struct spindle_installed *inst;
	/** @id: node id */
	u32 id;
	/** @addr: its address */
	struct spindle_addr addr;
	/** @seat: its seat in the installed view */
	u32 seat;
	/**
	 * @rank: rank in the view; SPINDLE_NO_RANK for a guest or a former member. The inverse of
	 * @peer of the installed view, because every push needs it
	 */
	u32 rank;
	/** @digest: digest of the view for which the nodes connect */
	u64 digest;
	/** @expected: incarnation that the peer must have; 0: any */
	u64 expected;
	/** @incarnation: incarnation that the peer has */
	u64 incarnation;
	/** @heard: its earlier requests; protected by the lock of the endpoint */
	struct spindle_heard heard;
	/** @needs_imm: our guards are valid for the peer only after a completion */
	bool needs_imm;
	/** @conn: connection to the peer */
	struct spindle_conn conn;
	/** @row: the peer's row; the peer writes, we read */
	struct spindle_region row;
	/** @in: layout of @row */
	struct spindle_layout in;
	/** @out: layout of our row in the peer's memory */
	struct spindle_layout out;
	/** @vouch: by subgroup index: messages that a completion vouched for, low bits */
	u32 vouch[SPINDLE_MAX_SUBGROUPS];
	/** @vouch_state: the same for its state block */
	u32 vouch_state;
	/**
	 * @refusal: why the last request with the peer's id was refused; 0: none was, or the peer
	 * is connected
	 */
	u32 refusal;
/** @came_up: the connection is ready; set by the connection, with release */

	int came_up;
	/**
	 * @went_down: the connection is lost; set by the connection, with release. These are two
	 * flags and not a phase, because only the engine changes phases. A connection may also be
	 * lost before its work item reports that it is up
	 */
	int went_down;
	/** @phase: enum spindle_peer_phase; changed by the engine */
	u8 phase;
	/** @cause: why the peer is lost, enum spindle_error */
	u32 cause;
	/** @told_lost: ranks that the peer has reported as lost; only in a static view */
	u64 told_lost;
	/** @probe: another member has lost the peer: write to it, to learn whether it is dead */
	bool probe;
	/** @ready: the peer's SPINDLE_NODE_COL_READY for this node; the engine writes it */
	u64 ready;
	/** @marks: by subgroup: deliveries of this node before the peer departed */
	u64 marks[SPINDLE_MAX_SUBGROUPS];
	/** @since: when the seat was taken, or the peer departed, ktime */
	u64 since;
	/** @seal: seal of the peer's node block that was last accepted */
	u64 seal;
	/** @asleep: the peer's engine sleeps: ring the doorbell */
	bool asleep;
	/** @debt: guards were sent to the peer without a doorbell since the last doorbell */
	bool debt;
	/** @told: our node block that was last sent */
	struct spindle_block told;
	/** @imm: immediate data of the last guard in the chain */
	u32 imm;
	/** @bell: writes of membership in the chain need a doorbell */
	bool bell;
	/** @awaited: somebody waits for the completion of a write in the chain */
	bool awaited;
	/** @busy: passes with writes to the peer, since we told it that we sleep */
	u32 busy;
	/** @torn: reads of the peer's node block that found it half written */
	u64 torn;
	/** @torn_run: such reads in a row */
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
 * spindle_peer_departed() - is the peer a former member?
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
 * spindle_peer_is_guest() - does the peer want to become a member?
 * @peer: the peer
 *
 * Return: true if so
 */
static inline bool spindle_peer_is_guest(const struct spindle_peer *peer)
{
	return peer->rank == SPINDLE_NO_RANK && !spindle_peer_departed(peer);
}

struct spindle_peer *spindle_peer_create(struct spindle_installed *inst, u32 seat,
					 const struct spindle_view_member *who, u64 digest);
struct spindle_row spindle_peer_row(struct spindle_installed *inst, struct spindle_peer *peer);
void spindle_peer_start(struct spindle_peer *peer);
void spindle_peer_destroy(struct spindle_peer *peer);
const char *spindle_peer_why(const struct spindle_peer *peer);
u8 spindle_peer_state(const struct spindle_conn *conn);

/* engine context */
void spindle_peer_depart(struct spindle_peer *peer);
bool spindle_peer_watch(struct spindle_peer *peer);
/* The reason to give to spindle_peer_blame() if a peer's row has broken the rules. */
#define SPINDLE_NOT_LEGAL "the peer wrote a value outside its legal range"

void spindle_peer_blame(struct spindle_peer *peer, const char *how);
bool spindle_peer_push(struct spindle_peer *peer);
void spindle_peer_cast(struct spindle_peer *peer, const struct spindle_write *write, u32 n);
void spindle_peer_tell(struct spindle_peer *peer, const struct spindle_write *write, u32 n);
void spindle_peer_post(struct spindle_peer *peer, u32 index);
bool spindle_peer_sleep(struct spindle_peer *peer);

/* peer_conn.c */
extern const struct spindle_conn_ops spindle_peer_conn_ops;
extern const struct spindle_endpoint_ops spindle_peer_endpoint_ops;

#endif /* SPINDLE_NODE_PEER_H */
