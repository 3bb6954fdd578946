/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Connections: one reliable queue pair to one peer, and the rights that go with it.
 *
 * A connection has its own protection domain, completion queues, queue pair and
 * windows, all made and destroyed by its work item or by spindle_conn_close(): one
 * owner at a time, no lock across a verb.
 *
 *   IDLE --claim/dial--> CONNECTING --established--> SETUP --rights exchanged--> UP
 *    ^                       |                         |                         |
 *    +-----------------------+--- any error, retry ----+               any error |
 *                                                                                v
 *   CLOSED <---------------- spindle_conn_close(), from every state ---------- FAILED
 *
 * Before UP the work item alone uses the queue pair. From UP on the engine alone
 * posts and polls (post.h). spindle_conn_close() may be called once the engine has let
 * go. A connection that was UP is never re-established: memory behind it has moved on.
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
/* A successful work request is reported at the latest after this many. */
#define SPINDLE_SQ_STRIDE	64
/* Receives for immediate data: no fewer than the peer can have outstanding. */
#define SPINDLE_RQ_DEPTH	SPINDLE_SQ_DEPTH
/* Scatter entries of a chain: one for each request, or for each page of a block (bulk.h). */
#define SPINDLE_CHAIN_SGES	(SPINDLE_SQ_DEPTH + 1)
/* Retries of a write; 7 means for ever on soft-RoCE. */
#define SPINDLE_RETRIES		6
/* Of a patient connection: somebody else finds out whether the peer is alive. */
#define SPINDLE_RETRIES_PATIENT	7
/* Bytes of private data in a connection request, all that rdma_cm leaves. */
#define SPINDLE_HELLO_LEN	56
/* Bytes of private data in an answer, of more that there is room for. */
#define SPINDLE_ANSWERED_LEN	88
/* Bytes with which the dialling side proves who it is when it gives the first rights. */
#define SPINDLE_RIGHTS_LEN	32
/* Bytes that a device has to take into a work request, and what is asked for first. */
#define SPINDLE_INLINE_MIN	64
#define SPINDLE_INLINE_MAX	192

/* Codes of a refusal that the fabric gives by itself; the owner's start above. */
#define SPINDLE_REJECT_BUSY	1U
#define SPINDLE_REJECT_RETRIES	2U
/* No refusal: who asked has its answer, and did not want a connection. */
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
 * struct spindle_conn_ops - what the owner is told
 * @greet: what to say in a request, up to SPINDLE_HELLO_LEN, or in an answer, where
 *	spindle_conn.greeting is known, up to SPINDLE_ANSWERED_LEN; returns its length. Work
 *	context
 * @greeted: the peer's hello, in its request or in its answer; an error ends the
 *	attempt. Work context
 * @prove: prove who we are, to who has answered. Work context
 * @proven: has the dialling side proved who it is? An error ends the attempt. Work context
 * @up: rights are exchanged, the engine may take over. Work context
 * @down: a connection that was up is lost; see spindle_conn.reason. Any context, once
 * @imm: a write with immediate data arrived: it and all before it are visible. Work
 *	context, one at a time
 * @refused: the peer's owner has refused this end, with a code: any value; returns a constant
 *	string. Work context
 * @event: of a bulk connection: something has come since it was armed. Any context
 * @drained: of a bulk connection: the device is through with it: what is registered in its
 *	protection domain has to go. In spindle_conn_close()
 */
struct spindle_conn_ops {
	u8 (*greet)(struct spindle_conn *conn, void *data);
	int (*greeted)(struct spindle_conn *conn, const void *hello, u8 len);
	void (*prove)(struct spindle_conn *conn, u8 proof[SPINDLE_RIGHTS_LEN]);
	int (*proven)(struct spindle_conn *conn, const u8 proof[SPINDLE_RIGHTS_LEN]);
	void (*up)(struct spindle_conn *conn);
	void (*down)(struct spindle_conn *conn);
	void (*imm)(struct spindle_conn *conn, u32 imm);
	const char *(*refused)(struct spindle_conn *conn, u32 code);
	void (*event)(struct spindle_conn *conn);
	void (*drained)(struct spindle_conn *conn);
};

/**
 * struct spindle_conn_config - what a connection is to be
 * @ep: endpoint
 * @net: network namespace
 * @ops: callbacks
 * @active: dial, instead of waiting to be dialled
 * @src: own address
 * @dst: the peer's address and port (active side)
 * @patient: what is lost is repeated for as long as the device can, and soon unless it is @bulk
 * @secret: the dialling side gives its rights, and proves who it is, first
 * @bulk: it is part of a struct spindle_bulk, see bulk.h
 * @in: region that the peer may write: its row as we hold it
 * @own: region that we write from: our row
 * @remote_bytes: size of our row in the peer's memory
 */
struct spindle_conn_config {
	struct spindle_endpoint *ep;
	struct net *net;
	const struct spindle_conn_ops *ops;
	bool active;
	struct sockaddr_storage src;
	struct sockaddr_storage dst;
	bool patient;
	bool secret;
	bool bulk;
	const struct spindle_region *in;
	const struct spindle_region *own;
	u64 remote_bytes;
};

struct spindle_desc_page;

/**
 * struct spindle_conn - a connection
 * @cfg: configuration, constant
 * @list: in the endpoint's list
 * @state: enum spindle_conn_state; changed under @lock
 * @lock: see @state; taken in event handlers of the device
 * @reason: why it is not up, for people; a constant string
 * @parted: the peer has closed it, on purpose
 * @closing: spindle_conn_close() has begun
 * @attempts: times that a connection was tried
 * @work: the connection's life until it is up
 * @wq: the work item waits here for what handlers report
 * @event: rdma_cm event that came, plus one; 0: none
 * @event_status: its status
 * @reject: code of a refusal, 0: none
 * @said: own private data of this attempt
 * @said_len: its length
 * @greeting: the peer's private data
 * @greeting_len: its length, 0: none
 * @id: rdma_cm id of this attempt
 * @pd: protection domain
 * @scq: send completions, polled by the owner of the queue pair
 * @rcq: receive completions, in a work queue of the RDMA core; of a bulk connection @scq
 * @qp: the queue pair
 * @in: rights of the peer
 * @own: registration of the own row, local
 * @remote: by chunk, the key of our row at the peer
 * @remote_shift: log2 of the bytes of these chunks
 * @pieces: work requests that a write may take, because chunks end on either side
 * @desc: pages that carry rights during set-up
 * @ndesc_in: pages expected
 * @ndesc_out: pages sent
 * @asked: set-up work requests posted
 * @done: set-up work requests completed
 * @got: pages received
 * @write_cqe: completion of data writes
 * @setup_cqe: completion of set-up work requests
 * @imm_cqe: completion of receives for immediate data
 * @chain: work requests of one post, see post.c
 * @sge: their scatter entries
 * @inline_max: bytes that a write may take from memory that is not registered
 * @nchain: length of the chain
 * @sq_free: send queue entries that are free
 * @since: work requests since the last signalled one
 * @retire: entries that each signalled work request frees, a ring
 * @retire_head: next to complete
 * @retire_tail: next to post
 * @stats: counters, written by the engine
 */
struct spindle_conn {
	struct spindle_conn_config cfg;
	struct list_head list;
	enum spindle_conn_state state;
	spinlock_t lock;	/* state */
	const char *reason;
	bool parted;
	bool closing;
	u64 attempts;
	struct delayed_work work;
	wait_queue_head_t wq;
	int event;
	int event_status;
	u32 reject;
	u8 said[SPINDLE_ANSWERED_LEN];
	u8 said_len;
	u8 greeting[SPINDLE_ANSWERED_LEN];
	u8 greeting_len;

	struct rdma_cm_id *id;
	struct ib_pd *pd;
	struct ib_cq *scq;
	struct ib_cq *rcq;
	struct ib_qp *qp;
	struct spindle_window in;
	struct spindle_window own;
	u32 *remote;
	u32 remote_shift;
	u32 pieces;
	struct spindle_desc_page *desc;
	u32 ndesc_in;
	u32 ndesc_out;
	u32 asked;
	u32 done;
	atomic_t got;
	struct ib_cqe write_cqe;
	struct ib_cqe setup_cqe;
	struct ib_cqe imm_cqe;

	struct ib_rdma_wr chain[SPINDLE_SQ_DEPTH];
	struct ib_sge sge[SPINDLE_CHAIN_SGES];
	u32 inline_max;
	u32 nchain;
	u32 sq_free;
	u32 since;
	u16 retire[SPINDLE_SQ_DEPTH];
	u32 retire_head;
	u32 retire_tail;
	struct {
		u64 writes;
		u64 posts;
		u64 bytes;
		u64 imms;
	} stats;
};

int spindle_conns_init(void);
void spindle_conns_exit(void);
void spindle_conn_init(struct spindle_conn *conn);
void spindle_conn_open(struct spindle_conn *conn, const struct spindle_conn_config *cfg);
void spindle_conn_close(struct spindle_conn *conn);
bool spindle_conn_claim(struct spindle_conn *conn, struct rdma_cm_id *id, const void *hello,
			u8 len);
u8 spindle_conn_retries(const struct spindle_conn *conn);
void spindle_conn_fail(struct spindle_conn *conn, const char *reason);
int spindle_conn_register(struct spindle_conn *conn, struct ib_mr *mr, int access);
int spindle_conn_registered(struct spindle_conn *conn);
bool spindle_conn_closing(const struct spindle_conn *conn);

/* setup.c: the exchange of rights, called by the work item */
int spindle_setup_prepare(struct spindle_conn *conn);
int spindle_setup_receives(struct spindle_conn *conn);
int spindle_setup_run(struct spindle_conn *conn);
void spindle_setup_release(struct spindle_conn *conn);
void spindle_setup_wc(struct ib_cq *cq, struct ib_wc *wc);

/* post.c: completion of data writes */
void spindle_post_reset(struct spindle_conn *conn);
void spindle_post_wc(struct ib_cq *cq, struct ib_wc *wc);

#endif /* SPINDLE_FABRIC_CONN_H */
