// SPDX-License-Identifier: GPL-2.0-only
/*
 * Post: chains of one-sided writes, or reads. See post.h.
 */
#include <linux/bottom_half.h>

#include "post.h"

/**
 * spindle_post_reset() - initialize the state for a new queue pair
 * @conn: the connection
 */
void spindle_post_reset(struct spindle_conn *conn)
{
	conn->nchain = 0;
	conn->sq_free = SPINDLE_SQ_DEPTH;
	conn->since = 0;
	conn->retire_head = 0;
	conn->retire_tail = 0;
	conn->posted = 0;
	conn->retired = 0;
}

/**
 * spindle_post_wc() - completion of a signalled write, or error of any write
 * @cq: completion queue of the send queue
 * @wc: the completion
 */
void spindle_post_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct spindle_conn *conn = cq->cq_context;
	u32 retired;

	if (wc->status != IB_WC_SUCCESS) {
		const char *reason = ib_wc_status_msg(wc->status);

		/*
		 * The first error of a write is the cause; later writes and all receives are
		 * flushed. A flushed receive may have been seen first, so replace its reason.
		 */
		spindle_conn_fail(conn, reason);
		if (wc->status != IB_WC_WR_FLUSH_ERR)
			WRITE_ONCE(conn->reason, reason);
		return;
	}
	retired = conn->retire[conn->retire_head++ % SPINDLE_SQ_DEPTH];
	conn->sq_free += retired;
	conn->retired += retired;
}

/**
 * spindle_post_room() - work requests that can still be added
 * @conn: the connection
 *
 * Return: free entries of the send queue, less the chain under construction
 */
u32 spindle_post_room(const struct spindle_conn *conn)
{
	return conn->sq_free - conn->nchain;
}

/* How many chunk boundaries a write may cross at most. */
static u32 cuts(u32 shift)
{
	return max_t(u32, SPINDLE_POST_BYTES >> shift, 1);
}

/**
 * spindle_post_pieces() - work requests that a write takes at most
 * @local_shift: log2 of the bytes of a chunk of the own row
 * @remote_shift: log2 of the bytes of a chunk of the peer's copy of the row
 *
 * Return: the number of work requests
 */
u32 spindle_post_pieces(u32 local_shift, u32 remote_shift)
{
	return 1 + cuts(local_shift) + cuts(remote_shift);
}

/**
 * spindle_post_fits() - is there room for writes?
 * @conn: the connection
 * @writes: how many
 *
 * Return: true if so, even if every write is split
 */
bool spindle_post_fits(const struct spindle_conn *conn, u32 writes)
{
	return spindle_post_room(conn) >= writes * conn->pieces;
}

/*
 * A write or read is split where a chunk ends on either side. Chunks are registered at their
 * offsets.
 */
static __always_inline void add(struct spindle_conn *conn, enum ib_wr_opcode opcode,
				const void *data, u64 local, u64 remote, u32 len)
{
	u32 local_chunk = BIT(conn->own.shift), remote_chunk = BIT(conn->remote_shift);

	while (len) {
		struct ib_rdma_wr *wr = &conn->chain[conn->nchain];
		struct ib_sge *sge = &conn->sge[conn->nchain];
		u32 part = min_t(u64, len, remote_chunk - (remote & (remote_chunk - 1)));

		memset(wr, 0, sizeof(*wr));
		if (data) {
			sge->addr = (uintptr_t)data;
			sge->lkey = 0;
			wr->wr.send_flags = IB_SEND_INLINE;
			data += part;
		} else {
			part = min_t(u64, part, local_chunk - (local & (local_chunk - 1)));
			sge->addr = local;
			sge->lkey = conn->own.mr[local >> conn->own.shift]->lkey;
			local += part;
		}
		sge->length = part;
		wr->wr.wr_cqe = &conn->write_cqe;
		wr->wr.sg_list = sge;
		wr->wr.num_sge = 1;
		wr->wr.opcode = opcode;
		wr->remote_addr = remote;
		wr->rkey = conn->remote[remote >> conn->remote_shift];
		if (conn->nchain)
			conn->chain[conn->nchain - 1].wr.next = &wr->wr;
		conn->nchain++;
		WRITE_ONCE(conn->stats.bytes, conn->stats.bytes + part);
		remote += part;
		len -= part;
	}
}

/**
 * spindle_post_write() - add a write to the chain
 * @conn: the connection; spindle_post_fits() says that there is room
 * @data: source, up to @conn->inline_max bytes that are copied by the flush; or NULL
 * @local: source as an offset in the own row, if @data is NULL
 * @remote: destination, offset in the peer's copy of our row
 * @len: 1 to SPINDLE_POST_BYTES; source and destination lie inside their regions
 */
void spindle_post_write(struct spindle_conn *conn, const void *data, u64 local, u64 remote,
			u32 len)
{
	add(conn, IB_WR_RDMA_WRITE, data, local, remote, len);
}

/**
 * spindle_post_read() - add a read to the chain
 * @conn: the connection, for reads; spindle_post_fits() says that there is room
 * @local: destination, offset in the region that reads arrive in
 * @remote: source, offset in what the peer lets us read
 * @len: 1 to SPINDLE_POST_BYTES; source and destination lie inside their regions
 *
 * The device does the reads of a chain in their order.
 */
void spindle_post_read(struct spindle_conn *conn, u64 local, u64 remote, u32 len)
{
	add(conn, IB_WR_RDMA_READ, NULL, local, remote, len);
}

/**
 * spindle_post_imm() - let the last write of the chain carry immediate data
 * @conn: the connection; the chain is not empty
 * @imm: immediate data for the peer's handler, once this write and all before it are visible
 */
void spindle_post_imm(struct spindle_conn *conn, u32 imm)
{
	struct ib_send_wr *wr = &conn->chain[conn->nchain - 1].wr;

	wr->opcode = IB_WR_RDMA_WRITE_WITH_IMM;
	wr->ex.imm_data = cpu_to_be32(imm);
	WRITE_ONCE(conn->stats.imms, conn->stats.imms + 1);
}

/**
 * spindle_post_place() - the place behind the chain in the queue
 * @conn: the connection
 *
 * What is in front of it is complete when @conn->retired has reached it.
 *
 * Return: work requests that were posted, and those of the chain
 */
u64 spindle_post_place(const struct spindle_conn *conn)
{
	return conn->posted + conn->nchain;
}

/**
 * spindle_post_flush() - post the chain
 * @conn: the connection
 * @signal: ask for a completion of the last write
 *
 * Return: 0; -errno: the connection has failed
 */
int spindle_post_flush(struct spindle_conn *conn, bool signal)
{
	u32 n = conn->nchain;
	int err;

	if (!n)
		return 0;
	conn->nchain = 0;
	conn->since += n;
	if (signal || conn->since >= SPINDLE_SQ_STRIDE) {
		conn->chain[n - 1].wr.send_flags |= IB_SEND_SIGNALED;
		conn->retire[conn->retire_tail++ % SPINDLE_SQ_DEPTH] = conn->since;
		conn->since = 0;
	}
	conn->sq_free -= n;
	conn->posted += n;
	WRITE_ONCE(conn->stats.writes, conn->stats.writes + n);
	WRITE_ONCE(conn->stats.posts, conn->stats.posts + 1);
	/*
	 * Soft-RoCE of 6.1 works in tasklets. With this it builds, loops back and acknowledges
	 * packets inside local_bh_enable(), which takes a fifth of the time of waiting for
	 * ksoftirqd. Elsewhere this has no effect.
	 */
	local_bh_disable();
	err = ib_post_send(conn->qp, &conn->chain[0].wr, NULL);
	local_bh_enable();
	if (err)
		spindle_conn_fail(conn, "cannot post");
	return err;
}

/**
 * spindle_post_poll() - handle completions, which free room and report errors
 * @conn: the connection
 */
void spindle_post_poll(struct spindle_conn *conn)
{
	ib_process_cq_direct(conn->scq, SPINDLE_SQ_DEPTH);
}

/**
 * spindle_post_idle() - has the device confirmed all that was signalled?
 * @conn: the connection
 *
 * Return: true if no signalled write is outstanding
 */
bool spindle_post_idle(const struct spindle_conn *conn)
{
	return conn->retire_head == conn->retire_tail;
}
