/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Peers: another member of the view, as a node sees it: the connection to it and its
 * row in our memory.
 *
 * Owner: the group, in a seat. Connection callbacks only set flags and wake the engine; the
 * engine does what follows from them.
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
 * struct spindle_peer - a peer
 * @group: its group
 * @id: node id
 * @addr: where it listens
 * @seat: its place in the group
 * @rank: rank in the view, or SPINDLE_NO_RANK: it wants to be a member, or was one
 * @active: it is dialled, and does not dial
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
 * @went_down: the connection is lost; set by the connection, with release
 * @joined: the engine uses the connection
 * @lost: the engine has given the connection up
 * @cause: why, enum spindle_error
 * @told_lost: ranks that it has told us it lost; not in a live view
 * @probe: somebody has lost it: write to it, to learn whether it is dead
 * @ready: of who wants to join a live view: the view whose members it is connected to
 * @member: it is, or was
 * @departed: it was a member, and its row is kept for readers
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
	bool active;
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
	bool joined;
	bool lost;
	u32 cause;
	u64 told_lost;
	bool probe;
	u64 ready;
	bool member;
	bool departed;
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

struct spindle_peer *spindle_peer_create(struct spindle_group *group, u32 seat,
					 const struct spindle_view_member *who);
void spindle_peer_start(struct spindle_peer *peer);
void spindle_peer_destroy(struct spindle_peer *peer);
const char *spindle_peer_reason(const struct spindle_peer *peer);
const char *spindle_peer_why(const struct spindle_peer *peer);
u8 spindle_peer_conn_state(const struct spindle_conn *conn);
u8 spindle_peer_state(const struct spindle_peer *peer);

/* engine context */
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
