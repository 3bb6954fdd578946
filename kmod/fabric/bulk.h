/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bulk: a connection for large blocks, and for short messages about them.
 *
 * It has a queue pair of its own, so that heartbeats and small messages do not wait behind
 * megabytes. There is nothing that the peer may always write: each block is registered
 * when it is expected, in the connection's protection domain, and the key is invalidated
 * when it has come; both by another queue pair, see keys.h.
 *
 * Messages are sent in the order in which they were said. One that tells of a registration
 * waits until that is done, and so do all behind it; blocks pass them.
 *
 * Flow control. A message and a block's last write take a receive of the peer's each. Both
 * sides post SPINDLE_BULK_RECVS, and every message says how many have been posted again in
 * all; so nobody ever sends to a queue without receives, and there are no RNR retries.
 *
 * One completion queue serves both directions. The engine polls it while it is awake, and
 * arms it before it sleeps: then an event wakes it.
 *
 * Owner: whoever embeds it. Between spindle_bulk_take() and spindle_bulk_drop(), both
 * of the engine, the engine alone uses it, and callbacks come from spindle_bulk_poll(). When
 * the connection is closed, spindle_bulk_abandon() ends what was under way.
 */
#ifndef SPINDLE_FABRIC_BULK_H
#define SPINDLE_FABRIC_BULK_H

#include "conn.h"
#include "keys.h"

/* Receives that each side keeps posted. */
#define SPINDLE_BULK_RECVS	128
/* Of these, for messages that carry nothing but the count. */
#define SPINDLE_BULK_SPARE	2
/* Bytes of a message's text. */
#define SPINDLE_BULK_TEXT	48
/* Scatter entries of a write, at most. */
#define SPINDLE_BULK_SGES	32

struct spindle_bulk;

/**
 * struct spindle_bulk_ops - what the owner is told; engine context, from spindle_bulk_poll()
 * @message: a message came; @text is a private copy, unchecked
 * @arrived: a block came whole: immediate data of its last write, unchecked
 */
struct spindle_bulk_ops {
	void (*message)(struct spindle_bulk *bulk, const void *text);
	void (*arrived)(struct spindle_bulk *bulk, u32 number);
};

/**
 * struct spindle_bulk_job - something that was posted and is not done
 * @done: called when it is, unless the connection breaks before; or NULL
 * @anyway: if the connection breaks @done is called by spindle_bulk_abandon()
 * @message: it is a message that somebody has said
 * @ctx: its first argument
 * @arg: its second
 * @wrs: entries of the send queue that it took
 */
struct spindle_bulk_job {
	void (*done)(void *ctx, u64 arg);
	void *ctx;
	u64 arg;
	bool anyway;
	bool message;
	u32 wrs;
};

struct spindle_bulk_recv;

/**
 * struct spindle_bulk_wait - a message that waits
 * @after: registrations that have to be done before, of all
 * @text: of the message
 */
struct spindle_bulk_wait {
	u32 after;
	u8 text[SPINDLE_BULK_TEXT];
};

/**
 * struct spindle_bulk - a bulk connection
 * @conn: the connection
 * @ops: callbacks
 * @none: a region of no bytes: the peer has no standing rights
 * @taken: the engine has it
 * @dropped: it has let go: what completes is of interest to nobody
 * @early: receives that came before the engine had it
 * @nearly: their number
 * @recv: receives
 * @text: their buffers
 * @dma: address of @text for the device
 * @keys: registers memory
 * @wait: messages that wait for registrations, a ring
 * @wait_head: next to send
 * @wait_tail: next to say: those that were said, in all
 * @acked: messages that were acknowledged, in all
 * @cqe: of everything in the send queue
 * @job: what is in the send queue, a ring
 * @job_head: next to complete
 * @job_tail: next to post
 * @sges: scatter entries that a write may have
 * @sent: receives of the peer's that were taken, in all
 * @allowed: receives of the peer's that there were, in all
 * @reposted: own receives that were posted again, in all
 * @told: @reposted as the peer knows it
 */
struct spindle_bulk {
	struct spindle_conn conn;
	const struct spindle_bulk_ops *ops;
	struct spindle_region none;
	bool taken;
	bool dropped;
	struct {
		u32 index;
		u32 imm;
		bool has_imm;
	} early[SPINDLE_BULK_RECVS];
	u32 nearly;
	struct spindle_bulk_recv *recv;
	void *text;
	u64 dma;
	struct spindle_keys keys;
	struct spindle_bulk_wait wait[SPINDLE_BULK_RECVS];
	u32 wait_head;
	u32 wait_tail;
	u32 acked;
	struct ib_cqe cqe;
	struct spindle_bulk_job job[SPINDLE_SQ_DEPTH];
	u32 job_head;
	u32 job_tail;
	u32 sges;
	u32 sent;
	u32 allowed;
	u32 reposted;
	u32 told;
};

void spindle_bulk_init(struct spindle_bulk *bulk, const struct spindle_bulk_ops *ops);
int spindle_bulk_receives(struct spindle_conn *conn);
int spindle_bulk_start(struct spindle_conn *conn);
void spindle_bulk_drained(struct spindle_conn *conn);
void spindle_bulk_release(struct spindle_conn *conn);
u32 spindle_bulk_sges(const struct ib_device *ib);

/* engine context */
void spindle_bulk_take(struct spindle_bulk *bulk);
void spindle_bulk_drop(struct spindle_bulk *bulk);
void spindle_bulk_abandon(struct spindle_bulk *bulk);
bool spindle_bulk_poll(struct spindle_bulk *bulk);
bool spindle_bulk_arm(struct spindle_bulk *bulk);
bool spindle_bulk_room(const struct spindle_bulk *bulk);
u32 spindle_bulk_say(struct spindle_bulk *bulk, const void *text);
u32 spindle_bulk_grant(struct spindle_bulk *bulk, struct ib_mr *mr, const void *text);
bool spindle_bulk_acked(const struct spindle_bulk *bulk, u32 said);
void spindle_bulk_revoke(struct spindle_bulk *bulk, struct ib_mr *mr,
			 const struct spindle_keys_job *job);
void spindle_bulk_write(struct spindle_bulk *bulk, const struct sg_table *sgt, u64 addr,
			u32 rkey, u32 imm, const struct spindle_bulk_job *job);

#endif /* SPINDLE_FABRIC_BULK_H */
