/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections: one reliable queue pair to one peer, and the rights that go with it.
 *
 * A connection has its own protection domain, completion queues, queue pair and windows. Only its
 * work item creates them, and the work item or spindle_conn_close() destroys them. So they have
 * one owner at a time, and no lock is held across a verb.
 *
 *   IDLE --claim/dial--> CONNECTING --established--> SETUP --rights exchanged--> UP
 *    ^                       |                         |                         |
 *    +-----------------------+--- any error, retry ----+               any error |
 *                                                                                v
 *   CLOSED <---------------- spindle_conn_close(), from every state ---------- FAILED
 *
 * Before UP only the work item uses the queue pair. From UP on only the engine posts and polls
 * (post.h). spindle_conn_close() may be called when the engine no longer uses the connection. A
 * connection that was UP is never re-established, because writes to the peer may be lost.
 */
#ifndef SPINDLE_FABRIC_CONN_H
#define SPINDLE_FABRIC_CONN_H

#include <linux/wait.h>
#include <linux/workqueue.h>
#include <rdma/ib_cm.h>
#include <rdma/rdma_cm.h>

#include "endpoint.h"
#include "region.h"

/* Work requests that may be outstanding; an engine pass stays below it. */
#define SPINDLE_SQ_DEPTH	256
/* At least one in this many work requests is signalled. */
#define SPINDLE_SQ_STRIDE	64
/* Receives for immediate data: no fewer than the peer can have outstanding. */
#define SPINDLE_RQ_DEPTH	SPINDLE_SQ_DEPTH
/* Scatter entries of a chain: one for each request, or for each page of a block (bulk.h). */
#define SPINDLE_CHAIN_SGES	(SPINDLE_SQ_DEPTH + 1)
/* Reads that may be outstanding on a connection for reads. Each depends on the one before. */
#define SPINDLE_READS		1
/* Retries of a write; 7 means for ever on soft-RoCE. */
#define SPINDLE_RETRIES		6
/* Retries of a patient connection, where heartbeats find out whether the peer is alive. */
#define SPINDLE_RETRIES_PATIENT	7
/* Bytes of private data in a connection request, all that rdma_cm leaves. */
#define SPINDLE_HELLO_LEN	56
/* Bytes of private data in an answer; rdma_cm has room for more. */
#define SPINDLE_ANSWERED_LEN	88
/* Bytes of the proof that the dialling side sends with its rights. */
#define SPINDLE_RIGHTS_LEN	32
/* Inline bytes of a work request: what a device must support, and what we ask for first. */
#define SPINDLE_INLINE_MIN	64
#define SPINDLE_INLINE_MAX	192
/* Time for each step of the exchange of rights, in milliseconds. */
#define SPINDLE_SETUP_MS	10000

/* Reject codes of the fabric itself; those of the owner start at SPINDLE_REJECT_OWNER. */
#define SPINDLE_REJECT_BUSY	1U
#define SPINDLE_REJECT_RETRIES	2U
/* No refusal: the rejection carries the answer to a question, see ask.h. */
#define SPINDLE_REJECT_ANSWER	3U
#define SPINDLE_REJECT_OWNER	16U

enum spindle_conn_state {
	SPINDLE_CONN_IDLE,
	SPINDLE_CONN_CONNECTING,
	SPINDLE_CONN_SETUP,
	SPINDLE_CONN_UP,
	SPINDLE_CONN_FAILED,
	SPINDLE_CONN_CLOSED,
};

struct spindle_conn;

/**
 * struct spindle_conn_ops - callbacks of the owner
 */
struct spindle_conn_ops {
	/**
	 * @greet: fill in the private data of a request, up to SPINDLE_HELLO_LEN bytes, or of an
	 * answer, up to SPINDLE_ANSWERED_LEN; for an answer spindle_conn.greeting has the request.
	 * Returns the length. Work context
	 */
	u8 (*greet)(struct spindle_conn *conn, void *data);
	/**
	 * @greeted: check the peer's private data, of its request or its answer; an error ends the
	 * attempt. Work context
	 */
	int (*greeted)(struct spindle_conn *conn, const void *hello, u8 len);
	/** @prove: make the proof of the dialling side. Work context */
	void (*prove)(struct spindle_conn *conn, u8 proof[SPINDLE_RIGHTS_LEN]);
	/**
	 * @proven: check the proof of the dialling side; an error ends the attempt. Work context
	 */
	int (*proven)(struct spindle_conn *conn, const u8 proof[SPINDLE_RIGHTS_LEN]);
	/** @up: rights are exchanged, so the engine may take over. Work context */
	void (*up)(struct spindle_conn *conn);
	/** @down: a connection that was up is lost; see spindle_conn.reason. Any context, once */
	void (*down)(struct spindle_conn *conn);
	/**
	 * @imm: a write with immediate data arrived, and all writes before it are visible. Work
	 * context, one at a time
	 */
	void (*imm)(struct spindle_conn *conn, u32 imm);
	/**
	 * @refused: the peer's owner has refused this end, with any code; returns a constant
	 * string. Work context
	 */
	const char *(*refused)(struct spindle_conn *conn, u32 code);
	/**
	 * @event: of a bulk connection: a completion has arrived since it was armed. Any context
	 */
	void (*event)(struct spindle_conn *conn);
	/**
	 * @drained: of a bulk connection: the queue pair is drained, so deregister all memory in
	 * its protection domain. Called by spindle_conn_close(), and after a failed attempt
	 */
	void (*drained)(struct spindle_conn *conn);
};

/**
 * struct spindle_conn_config - configuration of a connection
 */
struct spindle_conn_config {
	/** @ep: endpoint */
	struct spindle_endpoint *ep;
	/** @net: network namespace */
	struct net *net;
	/** @ops: callbacks */
	const struct spindle_conn_ops *ops;
	/** @active: dial, instead of waiting to be dialled */
	bool active;
	/** @src: own address */
	struct sockaddr_storage src;
	/** @dst: the peer's address and port (active side) */
	struct sockaddr_storage dst;
	/** @patient: the device repeats lost packets for as long as it can */
	bool patient;
	/** @ack_ms: milliseconds before the device repeats a packet; 0: half a second */
	u32 ack_ms;
	/** @secret: the dialling side must send its rights and its proof first */
	bool secret;
	/** @bulk: the connection is part of a struct spindle_bulk, see bulk.h */
	bool bulk;
	/** @read: the connection is for reads, and no side may write */
	bool read;
	/**
	 * @in: region that the peer may write: its row as we hold it; with @read: region that the
	 * peer may read
	 */
	const struct spindle_region *in;
	/** @own: region that we write from: our row; with @read: region that reads arrive in */
	const struct spindle_region *own;
	/**
	 * @remote_bytes: size of our row in the peer's memory; with @read: of the region that we
	 * may read there
	 */
	u64 remote_bytes;
};

struct spindle_desc_page;

/**
 * struct spindle_conn - a connection
 */
struct spindle_conn {
	/** @cfg: configuration, constant */
	struct spindle_conn_config cfg;
	/** @list: in the endpoint's list */
	struct list_head list;
	/** @state: enum spindle_conn_state; changed under @lock */
	enum spindle_conn_state state;
	/** @lock: see @state; taken in event handlers of the device */
	spinlock_t lock;	/* state */
	/** @reason: why the connection is not up, for people; a constant string */
	const char *reason;
	/** @parted: the peer has disconnected */
	bool parted;
	/** @closing: spindle_conn_close() has begun */
	bool closing;
	/** @attempts: number of attempts to connect */
	u64 attempts;
	/** @work: connects, and exchanges rights */
	struct delayed_work work;
	/** @wq: the work item waits here for handlers */
	wait_queue_head_t wq;
	/** @event: last rdma_cm event, plus one; 0: none */
	int event;
	/** @event_status: status of that event */
	int event_status;
	/** @reject: code of a refusal, 0: none */
	u32 reject;
	/** @said: own private data of this attempt */
	u8 said[SPINDLE_ANSWERED_LEN];
	/** @said_len: its length */
	u8 said_len;
	/** @greeting: the peer's private data */
	u8 greeting[SPINDLE_ANSWERED_LEN];
	/** @greeting_len: its length, 0: none */
	u8 greeting_len;
/** @id: rdma_cm id of this attempt */

	struct rdma_cm_id *id;
	/** @pd: protection domain */
	struct ib_pd *pd;
	/** @scq: send completions, polled by the owner of the queue pair */
	struct ib_cq *scq;
	/**
	 * @rcq: receive completions, in a work queue of the RDMA core; of a bulk connection @scq
	 */
	struct ib_cq *rcq;
	/** @qp: the queue pair */
	struct ib_qp *qp;
	/** @in: rights of the peer */
	struct spindle_window in;
	/** @own: registration of the own row, local */
	struct spindle_window own;
	/** @remote: by chunk, the key of our row at the peer */
	u32 *remote;
	/** @remote_shift: log2 of the bytes of these chunks */
	u32 remote_shift;
	/**
	 * @pieces: work requests of a write at most, because it is split where a chunk ends on
	 * either side
	 */
	u32 pieces;
	/** @desc: pages that carry rights during set-up */
	struct spindle_desc_page *desc;
	/** @ndesc_in: pages expected */
	u32 ndesc_in;
	/** @ndesc_out: pages sent */
	u32 ndesc_out;
	/** @asked: set-up work requests posted */
	u32 asked;
	/** @done: set-up work requests completed */
	u32 done;
	/** @got: pages received */
	atomic_t got;
	/** @write_cqe: completion of data writes */
	struct ib_cqe write_cqe;
	/** @setup_cqe: completion of set-up work requests */
	struct ib_cqe setup_cqe;
	/** @imm_cqe: completion of receives for immediate data */
	struct ib_cqe imm_cqe;
/** @chain: work requests of one post, see post.c */

	struct ib_rdma_wr chain[SPINDLE_SQ_DEPTH];
	/** @sge: their scatter entries */
	struct ib_sge sge[SPINDLE_CHAIN_SGES];
	/** @inline_max: inline bytes of a write, for which memory need not be registered */
	u32 inline_max;
	/** @nchain: length of the chain */
	u32 nchain;
	/** @sq_free: send queue entries that are free */
	u32 sq_free;
	/** @since: work requests since the last signalled one */
	u32 since;
	/** @retire: entries that each signalled work request frees, a ring */
	u16 retire[SPINDLE_SQ_DEPTH];
	/** @retire_head: next to complete */
	u32 retire_head;
	/** @retire_tail: next to post */
	u32 retire_tail;
	/** @posted: work requests that were posted, since the connection is up */
	u64 posted;
	/** @retired: those of them that are known to be complete */
	u64 retired;
	struct {
		u64 writes;
		u64 posts;
		u64 bytes;
		u64 imms;
	/** @stats: counters, written by the engine */
	} stats;
};

void spindle_conn_open(struct spindle_conn *conn, const struct spindle_conn_config *cfg);
void spindle_conn_close(struct spindle_conn *conn);
bool spindle_conn_claim(struct spindle_conn *conn, struct rdma_cm_id *id, const void *hello,
			u8 len);
u8 spindle_conn_retries(const struct spindle_conn *conn);

/* state.c */
int spindle_conns_init(void);
void spindle_conns_exit(void);
void spindle_conn_init(struct spindle_conn *conn);
void spindle_conn_queue(struct spindle_conn *conn, u32 ms);
bool spindle_conn_closing(const struct spindle_conn *conn);
bool spindle_conn_enter(struct spindle_conn *conn, enum spindle_conn_state to);
void spindle_conn_fail(struct spindle_conn *conn, const char *reason);

/* request.c: work requests of the work item */
int spindle_setup_failed(const struct spindle_conn *conn);
int spindle_setup_post(struct spindle_conn *conn, struct ib_send_wr *wr);
int spindle_setup_wait(struct spindle_conn *conn);
int spindle_setup_register(struct spindle_conn *conn, struct ib_mr *mr, int access);
void spindle_setup_wc(struct ib_cq *cq, struct ib_wc *wc);

/* setup.c: the exchange of rights, called by the work item */
int spindle_setup_prepare(struct spindle_conn *conn);
int spindle_setup_receives(struct spindle_conn *conn);
int spindle_setup_run(struct spindle_conn *conn);
void spindle_setup_release(struct spindle_conn *conn);

/* post.c: completion of data writes */
void spindle_post_reset(struct spindle_conn *conn);
void spindle_post_wc(struct ib_cq *cq, struct ib_wc *wc);

#endif /* SPINDLE_FABRIC_CONN_H */
