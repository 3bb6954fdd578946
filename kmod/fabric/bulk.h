/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Bulk: a connection for large blocks, and for short messages about them.
 *
 * A bulk connection has a queue pair of its own, so that heartbeats and small messages do not wait
 * behind megabytes. The peer has no permanent right to write: each block is registered, in the
 * connection's protection domain, when it is expected. The key is invalidated when the block has
 * arrived. Another queue pair does both, see keys.h.
 *
 * Messages are sent in the order of the calls. A message about a registration waits until the
 * registration is done, and all later messages wait, too. Blocks may overtake waiting messages.
 *
 * Flow control: a message, and the last write of a block, consume one receive of the peer each.
 * Both sides post SPINDLE_BULK_RECVS, and every message has the total number of receives that
 * were posted again. So no side sends to a queue without receives, and there are no RNR retries.
 *
 * One completion queue serves both directions. The engine polls the queue while it is awake, and
 * arms the queue before it sleeps, so that an event wakes it.
 *
 * Owner: the object that embeds the connection. The engine calls spindle_bulk_take() and
 * spindle_bulk_drop(). Between the two only the engine uses the connection, and callbacks come
 * from spindle_bulk_poll(). After the close, spindle_bulk_abandon() ends outstanding work.
 */
#ifndef SPINDLE_FABRIC_BULK_H
#define SPINDLE_FABRIC_BULK_H

#include "conn.h"
#include "keys.h"

/* Receives that each side keeps posted. */
#define SPINDLE_BULK_RECVS	128
/* Receives of these that are reserved for messages with only the count. */
#define SPINDLE_BULK_SPARE	2
/* Bytes of a message's text. */
#define SPINDLE_BULK_TEXT	48
/* Scatter entries of a write, at most. */
#define SPINDLE_BULK_SGES	32

struct spindle_bulk;

/**
 * struct spindle_bulk_ops - callbacks of the owner; engine context, from spindle_bulk_poll()
 */
struct spindle_bulk_ops {
	/** @message: a message arrived; @text is a private copy, unchecked */
	void (*message)(struct spindle_bulk *bulk, const void *text);
	/**
	 * @arrived: a whole block arrived; @number is the immediate data of its last write,
	 * unchecked
	 */
	void (*arrived)(struct spindle_bulk *bulk, u32 number);
};

/**
 * struct spindle_bulk_job - a message or block that was posted and is not done
 */
struct spindle_bulk_job {
	/** @done: called when it is done, unless the connection breaks before; or NULL */
	/** @ctx: first argument of @done */
	void (*done)(void *ctx, u64 arg);
	void *ctx;
	/** @arg: second argument of @done */
	u64 arg;
	/** @anyway: if the connection breaks, spindle_bulk_abandon() calls @done */
	bool anyway;
	/** @message: a message of spindle_bulk_say(), in contrast to a count or a block */
	bool message;
	/** @wrs: entries of the send queue that it takes */
	u32 wrs;
};

struct spindle_bulk_recv;

/**
 * struct spindle_bulk_wait - a waiting message
 */
struct spindle_bulk_wait {
	/** @after: total number of registrations that have to be done before */
	u32 after;
	/** @text: text of the message */
	u8 text[SPINDLE_BULK_TEXT];
};

/**
 * struct spindle_bulk - a bulk connection
 */
struct spindle_bulk {
	/** @conn: the connection */
	struct spindle_conn conn;
	/** @ops: callbacks */
	const struct spindle_bulk_ops *ops;
	/** @none: a region without bytes, because the peer has no permanent rights */
	struct spindle_region none;
	/** @taken: the engine uses the connection */
	bool taken;
	/** @dropped: the engine has stopped using the connection, so completions are ignored */
	bool dropped;
	struct {
		u32 index;
		u32 imm;
		bool has_imm;
	/** @early: receives that completed before the engine used the connection */
	} early[SPINDLE_BULK_RECVS];
	/** @nearly: number of entries in @early */
	u32 nearly;
	/** @recv: receives */
	struct spindle_bulk_recv *recv;
	/** @text: their buffers */
	void *text;
	/** @dma: address of @text for the device */
	u64 dma;
	/** @keys: registers memory */
	struct spindle_keys keys;
	/** @wait: messages that wait for registrations, a ring */
	struct spindle_bulk_wait wait[SPINDLE_BULK_RECVS];
	/** @wait_head: next message to send */
	u32 wait_head;
	/** @wait_tail: total number of messages of spindle_bulk_say() */
	u32 wait_tail;
	/** @acked: total number of messages that were acknowledged */
	u32 acked;
	/** @cqe: completion of all work requests in the send queue */
	struct ib_cqe cqe;
	/** @job: jobs in the send queue, a ring */
	struct spindle_bulk_job job[SPINDLE_SQ_DEPTH];
	/** @job_head: next to complete */
	u32 job_head;
	/** @job_tail: next to post */
	u32 job_tail;
	/** @sges: scatter entries that a write may have */
	u32 sges;
	/** @sent: total number of the peer's receives that we have consumed */
	u32 sent;
	/** @allowed: total number of receives that the peer has posted */
	u32 allowed;
	/** @reposted: total number of own receives that were posted again */
	u32 reposted;
	/** @told: @reposted in the last message to the peer */
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
