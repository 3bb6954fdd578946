// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bulk: a connection for large blocks and short messages. See bulk.h.
 */
#include <linux/bottom_half.h>
#include <linux/slab.h>
#include <linux/spindle_rdmc.h>

#include "bulk.h"

/* Head of a message; the text follows. */
struct head {
	u32 reposted;
	u32 flags;
};

/* The message has a text. Without this flag it only carries the count of receives. */
#define HEAD_TEXT	BIT(0)

#define MESSAGE		(sizeof(struct head) + SPINDLE_BULK_TEXT)
/* One mapping for all receives; the rest of its last page is unused. */
#define BUFFERS		(SPINDLE_BULK_RECVS * MESSAGE)
/* Pages of the longest block: one more, because a block may begin within a page. */
#define BLOCK_PAGES	((SPINDLE_RDMC_MAX_BLOCK >> PAGE_SHIFT) + 1)
/* Completions per poll, so that other work of the engine gets its turn. */
#define POLL_BUDGET	64

static_assert(MESSAGE <= SPINDLE_INLINE_MIN);
static_assert(BLOCK_PAGES <= SPINDLE_CHAIN_SGES);

/* A receive. The position in the array is its index. */
struct spindle_bulk_recv {
	struct ib_cqe cqe;
};

static struct spindle_bulk *conn_bulk(struct spindle_conn *conn)
{
	return container_of(conn, struct spindle_bulk, conn);
}

/**
 * spindle_bulk_sges() - scatter entries that a write may have
 * @ib: device
 *
 * Return: their number, 1 to SPINDLE_BULK_SGES
 */
u32 spindle_bulk_sges(const struct ib_device *ib)
{
	return clamp_t(int, ib->attrs.max_send_sge, 1, SPINDLE_BULK_SGES);
}

static u32 block_wrs(const struct spindle_bulk *bulk)
{
	return DIV_ROUND_UP(BLOCK_PAGES, bulk->sges);
}

/* ---- receives ---------------------------------------------------------- */

static int post_receive(struct spindle_bulk *bulk, u32 index)
{
	struct ib_sge sge = {
		.addr = bulk->dma + index * MESSAGE,
		.length = MESSAGE,
		.lkey = bulk->conn.pd->local_dma_lkey,
	};
	struct ib_recv_wr wr = {
		.wr_cqe = &bulk->recv[index].cqe,
		.sg_list = &sge,
		.num_sge = 1,
	};

	return ib_post_recv(bulk->conn.qp, &wr, NULL);
}

/* Take over the peer's count of receives. It cannot exceed the receives that we consumed. */
static bool believe(struct spindle_bulk *bulk, u32 reposted)
{
	u32 allowed = reposted + SPINDLE_BULK_RECVS;

	if (allowed - bulk->sent > SPINDLE_BULK_RECVS)
		return false;
	bulk->allowed = allowed;
	return true;
}

static void take_receive(struct spindle_bulk *bulk, u32 index, bool has_imm, u32 imm)
{
	struct spindle_conn *conn = &bulk->conn;
	struct {
		struct head head;
		u8 text[SPINDLE_BULK_TEXT];
	} copy = {};

	if (!has_imm) {
		ib_dma_sync_single_for_cpu(conn->cfg.ep->ib, bulk->dma + index * MESSAGE, MESSAGE,
					   DMA_FROM_DEVICE);
		memcpy(&copy, bulk->text + index * MESSAGE, MESSAGE);
		ib_dma_sync_single_for_device(conn->cfg.ep->ib, bulk->dma + index * MESSAGE,
					      MESSAGE, DMA_FROM_DEVICE);
	}
	/* If the receive cannot be posted again, still handle the data that arrived. */
	if (post_receive(bulk, index))
		spindle_conn_fail(conn, "cannot post a receive");
	else
		bulk->reposted++;
	if (has_imm) {
		bulk->ops->arrived(bulk, imm);
		return;
	}
	if (!believe(bulk, copy.head.reposted)) {
		spindle_conn_fail(conn, "the peer reports more receives than it posted");
		return;
	}
	if (copy.head.flags & HEAD_TEXT)
		bulk->ops->message(bulk, copy.text);
}

static void recv_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct spindle_bulk *bulk = conn_bulk(cq->cq_context);
	u32 index = container_of(wc->wr_cqe, struct spindle_bulk_recv, cqe) - bulk->recv;
	bool has_imm = wc->wc_flags & IB_WC_WITH_IMM;
	u32 imm;

	if (bulk->dropped)
		return;
	if (wc->status != IB_WC_SUCCESS) {
		spindle_conn_fail(&bulk->conn, ib_wc_status_msg(wc->status));
		return;
	}
	if (!has_imm && wc->byte_len != MESSAGE) {
		spindle_conn_fail(&bulk->conn, "the peer sent a message of a wrong length");
		return;
	}
	imm = has_imm ? be32_to_cpu(wc->ex.imm_data) : 0;
	if (bulk->taken) {
		take_receive(bulk, index, has_imm, imm);
		return;
	}
	/* The peer was up first. @early has a place for each receive, so it cannot overflow. */
	bulk->early[bulk->nearly].index = index;
	bulk->early[bulk->nearly].imm = imm;
	bulk->early[bulk->nearly++].has_imm = has_imm;
}

static void send_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct spindle_bulk *bulk = conn_bulk(cq->cq_context);
	struct spindle_bulk_job *job;

	if (wc->status != IB_WC_SUCCESS) {
		/* A flush error is no news: it follows an error that was reported before. */
		if (!bulk->dropped && wc->status != IB_WC_WR_FLUSH_ERR)
			spindle_conn_fail(&bulk->conn, ib_wc_status_msg(wc->status));
		return;
	}
	/* spindle_bulk_abandon() ends all jobs after the close. */
	if (bulk->dropped)
		return;
	job = &bulk->job[bulk->job_head++ % SPINDLE_SQ_DEPTH];
	bulk->conn.sq_free += job->wrs;
	bulk->acked += job->message;
	if (job->done)
		job->done(job->ctx, job->arg);
}

static void comp_handler(struct ib_cq *cq, void *ctx)
{
	struct spindle_conn *conn = ctx;

	conn->cfg.ops->event(conn);
}

static void send_waiting(struct spindle_bulk *bulk);

static void keys_registered(struct spindle_keys *keys)
{
	send_waiting(container_of(keys, struct spindle_bulk, keys));
}

static void keys_broken(struct spindle_keys *keys, const char *reason)
{
	spindle_conn_fail(&container_of(keys, struct spindle_bulk, keys)->conn, reason);
}

static const struct spindle_keys_ops keys_ops = {
	.registered = keys_registered,
	.broken = keys_broken,
};

/* ---- life -------------------------------------------------------------- */

/**
 * spindle_bulk_init() - prepare for spindle_conn_open() of @bulk->conn
 * @bulk: zeroed
 * @ops: callbacks
 */
void spindle_bulk_init(struct spindle_bulk *bulk, const struct spindle_bulk_ops *ops)
{
	bulk->ops = ops;
	bulk->cqe.done = send_wc;
	/* The region has no bytes, but set-up still exchanges (empty) rights. */
	bulk->none.shift = SPINDLE_CHUNK_SHIFT_MAX;
	spindle_conn_init(&bulk->conn);
}

/**
 * spindle_bulk_receives() - prepare a new queue pair: counters, buffers, receives, keys
 * @conn: the connection, of a struct spindle_bulk
 *
 * Context: the connection's work item.
 * Return: 0 or -errno; in both cases call spindle_bulk_drained() and spindle_bulk_release()
 */
int spindle_bulk_receives(struct spindle_conn *conn)
{
	struct spindle_bulk *bulk = conn_bulk(conn);
	struct ib_device *ib = conn->cfg.ep->ib;
	u32 i;
	int err;

	/*
	 * Set the handler by hand, because ib_alloc_cq() has no kind of queue that is polled and
	 * also raises events. A queue of ib_create_cq() would have our handler, but no kind. The
	 * drain needs the kind: ib_drain_sq(), and the versions of some drivers, only poll queues
	 * of kind IB_POLL_DIRECT while they wait.
	 */
	conn->scq->comp_handler = comp_handler;
	bulk->taken = false;
	bulk->dropped = false;
	bulk->nearly = 0;
	bulk->job_head = 0;
	bulk->job_tail = 0;
	bulk->wait_head = 0;
	bulk->wait_tail = 0;
	bulk->acked = 0;
	bulk->sges = spindle_bulk_sges(ib);
	bulk->sent = 0;
	bulk->allowed = SPINDLE_BULK_RECVS;
	bulk->reposted = 0;
	bulk->told = 0;
	bulk->recv = kcalloc(SPINDLE_BULK_RECVS, sizeof(*bulk->recv), GFP_KERNEL_ACCOUNT);
	bulk->text = kzalloc(BUFFERS, GFP_KERNEL_ACCOUNT);
	if (!bulk->recv || !bulk->text)
		return -ENOMEM;
	bulk->dma = ib_dma_map_single(ib, bulk->text, BUFFERS, DMA_FROM_DEVICE);
	if (ib_dma_mapping_error(ib, bulk->dma)) {
		kfree(bulk->text);
		bulk->text = NULL;
		return -ENOMEM;
	}
	for (i = 0; i < SPINDLE_BULK_RECVS; i++) {
		bulk->recv[i].cqe.done = recv_wc;
		err = post_receive(bulk, i);
		if (err)
			return err;
	}
	return spindle_keys_create(&bulk->keys, &keys_ops, conn->pd, conn->scq);
}

/**
 * spindle_bulk_start() - start the queue pair that registers memory
 * @conn: the connection, established
 *
 * Context: the connection's work item.
 * Return: 0 or -errno
 */
int spindle_bulk_start(struct spindle_conn *conn)
{
	return spindle_keys_start(&conn_bulk(conn)->keys, conn->id);
}

/**
 * spindle_bulk_drained() - destroy the queue pair that registers memory
 * @conn: the connection, drained
 *
 * Context: process.
 */
void spindle_bulk_drained(struct spindle_conn *conn)
{
	spindle_keys_destroy(&conn_bulk(conn)->keys);
}

/**
 * spindle_bulk_release() - undo spindle_bulk_receives(); the queue pair is gone
 * @conn: the connection
 */
void spindle_bulk_release(struct spindle_conn *conn)
{
	struct spindle_bulk *bulk = conn_bulk(conn);

	if (bulk->text)
		ib_dma_unmap_single(conn->cfg.ep->ib, bulk->dma, BUFFERS, DMA_FROM_DEVICE);
	kfree(bulk->text);
	kfree(bulk->recv);
	bulk->text = NULL;
	bulk->recv = NULL;
}

/**
 * spindle_bulk_take() - let the engine use the connection from now on
 * @bulk: the connection, which is up
 */
void spindle_bulk_take(struct spindle_bulk *bulk)
{
	u32 i;

	bulk->taken = true;
	for (i = 0; i < bulk->nearly; i++)
		take_receive(bulk, bulk->early[i].index, bulk->early[i].has_imm,
			     bulk->early[i].imm);
	bulk->nearly = 0;
}

/**
 * spindle_bulk_drop() - let the engine stop using a connection before its close
 * @bulk: the connection
 */
void spindle_bulk_drop(struct spindle_bulk *bulk)
{
	bulk->dropped = true;
	bulk->keys.dropped = true;
}

/**
 * spindle_bulk_abandon() - end outstanding jobs, which no device works on any more
 * @bulk: the connection, dropped and closed
 */
void spindle_bulk_abandon(struct spindle_bulk *bulk)
{
	while (bulk->job_head != bulk->job_tail) {
		const struct spindle_bulk_job *job;

		job = &bulk->job[bulk->job_head++ % SPINDLE_SQ_DEPTH];
		if (job->anyway)
			job->done(job->ctx, job->arg);
	}
}

/* ---- sending ----------------------------------------------------------- */

static u32 waiting(const struct spindle_bulk *bulk)
{
	return bulk->wait_tail - bulk->wait_head;
}

/**
 * spindle_bulk_room() - is there room for one message, grant, revocation, or block?
 * @bulk: the connection
 *
 * Return: true if so
 */
bool spindle_bulk_room(const struct spindle_bulk *bulk)
{
	/* Waiting messages were promised room by an earlier call. */
	u32 spare = SPINDLE_BULK_SPARE + waiting(bulk);

	return bulk->conn.sq_free > block_wrs(bulk) + spare &&
	       bulk->allowed - bulk->sent > spare && spindle_keys_room(&bulk->keys);
}

/* Post a chain. Only @last is signalled, so its completion ends the job. */
static void submit(struct spindle_bulk *bulk, struct ib_send_wr *first,
		   struct ib_send_wr *last, u32 wrs, const struct spindle_bulk_job *job)
{
	struct spindle_bulk_job *slot = &bulk->job[bulk->job_tail++ % SPINDLE_SQ_DEPTH];
	struct spindle_conn *conn = &bulk->conn;
	int err;

	*slot = job ? *job : (struct spindle_bulk_job){};
	slot->wrs = wrs;
	last->wr_cqe = &bulk->cqe;
	last->send_flags |= IB_SEND_SIGNALED;
	conn->sq_free -= wrs;
	WRITE_ONCE(conn->stats.writes, conn->stats.writes + wrs);
	WRITE_ONCE(conn->stats.posts, conn->stats.posts + 1);
	/* See spindle_post_flush(). */
	local_bh_disable();
	err = ib_post_send(conn->qp, first, NULL);
	local_bh_enable();
	if (err)
		spindle_conn_fail(conn, "cannot post");
}

/* Send a message. Without @text it only carries the count of receives. */
static void send_message(struct spindle_bulk *bulk, const void *text)
{
	static const struct spindle_bulk_job job = { .message = true };
	struct {
		struct head head;
		u8 text[SPINDLE_BULK_TEXT];
	} message = { .head.reposted = bulk->reposted };
	struct ib_sge sge = { .addr = (uintptr_t)&message, .length = MESSAGE };
	struct ib_send_wr wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IB_WR_SEND,
		.send_flags = IB_SEND_INLINE,
	};

	if (text) {
		message.head.flags = HEAD_TEXT;
		memcpy(message.text, text, SPINDLE_BULK_TEXT);
	}
	bulk->told = bulk->reposted;
	bulk->sent++;
	submit(bulk, &wr, &wr, 1, text ? &job : NULL);
}

static void send_waiting(struct spindle_bulk *bulk)
{
	while (waiting(bulk)) {
		const struct spindle_bulk_wait *w;

		w = &bulk->wait[bulk->wait_head % SPINDLE_BULK_RECVS];
		if ((s32)(bulk->keys.done - w->after) < 0)
			break;
		bulk->wait_head++;
		send_message(bulk, w->text);
	}
}

/**
 * spindle_bulk_say() - send a message
 * @bulk: the connection; there is room
 * @text: SPINDLE_BULK_TEXT bytes
 *
 * Return: number of the message, for spindle_bulk_acked()
 */
u32 spindle_bulk_say(struct spindle_bulk *bulk, const void *text)
{
	struct spindle_bulk_wait *w = &bulk->wait[bulk->wait_tail % SPINDLE_BULK_RECVS];

	/* The ring has as many places as the peer has receives, and room() found one free. */
	w->after = bulk->keys.asked;
	memcpy(w->text, text, SPINDLE_BULK_TEXT);
	bulk->wait_tail++;
	send_waiting(bulk);
	return bulk->wait_tail;
}

/**
 * spindle_bulk_acked() - has the peer received a message, and all before it?
 * @bulk: the connection
 * @said: number that spindle_bulk_say() returned
 *
 * Return: true if so
 */
bool spindle_bulk_acked(const struct spindle_bulk *bulk, u32 said)
{
	return (s32)(bulk->acked - said) >= 0;
}

/**
 * spindle_bulk_grant() - register memory, and send a message about it
 * @bulk: the connection; there is room
 * @mr: pages and a new key are set
 * @text: text of the message, which is sent when the device knows the memory
 *
 * Return: number of the message, for spindle_bulk_acked()
 */
u32 spindle_bulk_grant(struct spindle_bulk *bulk, struct ib_mr *mr, const void *text)
{
	if (spindle_keys_register(&bulk->keys, mr,
				  IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE))
		spindle_conn_fail(&bulk->conn, "cannot register a block");
	return spindle_bulk_say(bulk, text);
}

/**
 * spindle_bulk_revoke() - revoke the peer's right to write a block
 * @bulk: the connection; there is room
 * @mr: the registered memory
 * @job: callback for when the peer cannot use the memory any more
 */
void spindle_bulk_revoke(struct spindle_bulk *bulk, struct ib_mr *mr,
			 const struct spindle_keys_job *job)
{
	if (spindle_keys_revoke(&bulk->keys, mr->rkey, job))
		spindle_conn_fail(&bulk->conn, "cannot revoke a block");
}

/**
 * spindle_bulk_write() - write a block
 * @bulk: the connection; there is room
 * @sgt: its bytes, mapped for the device
 * @addr: destination, an address for the peer's device
 * @rkey: key for @addr
 * @imm: immediate data for the peer when the whole block has arrived
 * @job: callback for when the whole block has been acknowledged
 */
void spindle_bulk_write(struct spindle_bulk *bulk, const struct sg_table *sgt, u64 addr,
			u32 rkey, u32 imm, const struct spindle_bulk_job *job)
{
	struct spindle_conn *conn = &bulk->conn;
	struct ib_rdma_wr *wr = NULL;
	struct scatterlist *sg;
	u32 n = 0, i, wrs = 0;
	u64 bytes = 0;

	/* Each write takes as many entries as it can; the last write has the immediate data. */
	for_each_sgtable_dma_sg(sgt, sg, i) {
		struct ib_sge *sge = &conn->sge[n];

		if (!wr || wr->wr.num_sge == bulk->sges) {
			struct ib_rdma_wr *next = &conn->chain[wrs++];

			memset(next, 0, sizeof(*next));
			next->wr.wr_cqe = &bulk->cqe;
			next->wr.sg_list = sge;
			next->wr.opcode = IB_WR_RDMA_WRITE;
			next->remote_addr = addr + bytes;
			next->rkey = rkey;
			if (wr)
				wr->wr.next = &next->wr;
			wr = next;
		}
		sge->addr = sg_dma_address(sg);
		sge->length = sg_dma_len(sg);
		sge->lkey = conn->pd->local_dma_lkey;
		wr->wr.num_sge++;
		bytes += sge->length;
		n++;
	}
	wr->wr.opcode = IB_WR_RDMA_WRITE_WITH_IMM;
	wr->wr.ex.imm_data = cpu_to_be32(imm);
	bulk->sent++;
	WRITE_ONCE(conn->stats.bytes, conn->stats.bytes + bytes);
	WRITE_ONCE(conn->stats.imms, conn->stats.imms + 1);
	submit(bulk, &conn->chain[0].wr, &wr->wr, wrs, job);
}

/* ---- receiving --------------------------------------------------------- */

/* Tell the peer about new receives, because it may have used up those that it knows. */
static void tell_receives(struct spindle_bulk *bulk)
{
	if (bulk->reposted - bulk->told < SPINDLE_BULK_RECVS / 2)
		return;
	/* A waiting message will carry the count, and the room is reserved for that message. */
	if (waiting(bulk) || !bulk->conn.sq_free || bulk->allowed == bulk->sent)
		return;
	send_message(bulk, NULL);
}

/**
 * spindle_bulk_poll() - handle completions of sends and receives
 * @bulk: the connection, taken
 *
 * Return: true if there were any
 */
bool spindle_bulk_poll(struct spindle_bulk *bulk)
{
	int n = ib_process_cq_direct(bulk->conn.scq, POLL_BUDGET);

	tell_receives(bulk);
	return n > 0;
}

/**
 * spindle_bulk_arm() - request an event for the next completion
 * @bulk: the connection, taken
 *
 * Return: true if there is a completion already: poll again
 */
bool spindle_bulk_arm(struct spindle_bulk *bulk)
{
	return ib_req_notify_cq(bulk->conn.scq,
				IB_CQ_NEXT_COMP | IB_CQ_REPORT_MISSED_EVENTS) > 0;
}
