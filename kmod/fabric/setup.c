// SPDX-License-Identifier: GPL-2.0-only
/*
 * Set-up: exchange of rights over a fresh connection.
 *
 * Each side registers its copy of the other's row for remote writing and tells where
 * it is, in pages of chunk descriptors sent over the queue pair. Both know the sizes
 * beforehand, from the view: a list of another length or with other sizes is an error.
 *
 * Context: the connection's work item, but for the completion handlers.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "bulk.h"
#include "conn.h"

#define SETUP_MS 10000

/* A chunk of the copy of a row, as its holder describes it to the row's owner. */
struct chunk_desc {
	__le64 addr;
	__le32 rkey;
	__le32 len;
};

#define DESCS (PAGE_SIZE / sizeof(struct chunk_desc))
/* The first page begins with the proof of the dialling side, in place of so many. */
#define PROOF_DESCS (SPINDLE_RIGHTS_LEN / sizeof(struct chunk_desc))

/*
 * struct spindle_desc_page - a page that travels during set-up
 * @cqe: completion of its receive
 * @conn: the connection
 * @page: the page
 * @dma: its address for the device
 */
struct spindle_desc_page {
	struct ib_cqe cqe;
	struct spindle_conn *conn;
	struct page *page;
	u64 dma;
};

static u32 chunks_of(u64 bytes)
{
	return DIV_ROUND_UP_ULL(bytes, SPINDLE_CHUNK);
}

static u32 chunk_len(u64 bytes, u32 i)
{
	return min_t(u64, SPINDLE_CHUNK, bytes - (u64)i * SPINDLE_CHUNK);
}

static u32 ndesc(const struct spindle_conn *conn)
{
	return conn->ndesc_in + conn->ndesc_out;
}

/* ---- completions ------------------------------------------------------ */

/**
 * spindle_setup_wc() - a set-up work request is done
 * @cq: the send queue's, polled by the work item
 * @wc: its completion
 */
void spindle_setup_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct spindle_conn *conn = cq->cq_context;

	if (wc->status == IB_WC_SUCCESS)
		conn->done++;
	else
		spindle_conn_fail(conn, ib_wc_status_msg(wc->status));
}

/* A page of descriptors arrived. */
static void desc_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct spindle_desc_page *desc =
		container_of(wc->wr_cqe, struct spindle_desc_page, cqe);
	struct spindle_conn *conn = desc->conn;

	if (wc->status != IB_WC_SUCCESS || wc->byte_len != PAGE_SIZE) {
		spindle_conn_fail(conn, "set-up was interrupted");
		return;
	}
	/* Pairs with the acquire in all_came(): the page comes first. */
	atomic_inc_return_release(&conn->got);
	wake_up(&conn->wq);
}

static int post_imm_receive(struct spindle_conn *conn)
{
	struct ib_recv_wr wr = { .wr_cqe = &conn->imm_cqe };

	return ib_post_recv(conn->qp, &wr, NULL);
}

/* A write with immediate data is complete and visible. */
static void imm_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct spindle_conn *conn = cq->cq_context;

	if (wc->status != IB_WC_SUCCESS) {
		spindle_conn_fail(conn, ib_wc_status_msg(wc->status));
		return;
	}
	if (post_imm_receive(conn))
		spindle_conn_fail(conn, "cannot post a receive");
	if (wc->wc_flags & IB_WC_WITH_IMM)
		conn->cfg.ops->imm(conn, be32_to_cpu(wc->ex.imm_data));
}

/* ---- memory ----------------------------------------------------------- */

/**
 * spindle_setup_prepare() - allocate what set-up needs
 * @conn: the connection; its id is bound to a device
 *
 * Return: 0 or -ENOMEM; spindle_setup_release() undoes either
 */
int spindle_setup_prepare(struct spindle_conn *conn)
{
	struct ib_device *ib = conn->id->device;
	u32 i;

	conn->nremote = chunks_of(conn->cfg.remote_bytes);
	conn->ndesc_in = DIV_ROUND_UP(conn->nremote + PROOF_DESCS, DESCS);
	conn->ndesc_out = DIV_ROUND_UP(conn->cfg.in->nchunks + PROOF_DESCS, DESCS);
	conn->done = 0;
	atomic_set(&conn->got, 0);
	conn->imm_cqe.done = imm_wc;
	conn->remote = kvcalloc(conn->nremote, sizeof(*conn->remote), GFP_KERNEL);
	conn->desc = kcalloc(ndesc(conn), sizeof(*conn->desc), GFP_KERNEL);
	if (!conn->remote || !conn->desc)
		return -ENOMEM;
	for (i = 0; i < ndesc(conn); i++) {
		struct spindle_desc_page *desc = &conn->desc[i];
		struct page *page = alloc_page(GFP_KERNEL | __GFP_ZERO);

		if (!page)
			return -ENOMEM;
		desc->dma = ib_dma_map_page(ib, page, 0, PAGE_SIZE, DMA_BIDIRECTIONAL);
		if (ib_dma_mapping_error(ib, desc->dma)) {
			__free_page(page);
			return -ENOMEM;
		}
		desc->page = page;
		desc->conn = conn;
		desc->cqe.done = desc_wc;
	}
	return 0;
}

/**
 * spindle_setup_release() - free what spindle_setup_prepare() allocated
 * @conn: the connection; its queue pair is gone
 */
void spindle_setup_release(struct spindle_conn *conn)
{
	u32 i;

	for (i = 0; conn->desc && i < ndesc(conn); i++) {
		struct spindle_desc_page *desc = &conn->desc[i];

		if (!desc->page)
			continue;
		ib_dma_unmap_page(conn->cfg.ep->ib, desc->dma, PAGE_SIZE, DMA_BIDIRECTIONAL);
		__free_page(desc->page);
	}
	kfree(conn->desc);
	conn->desc = NULL;
	kvfree(conn->remote);
	conn->remote = NULL;
	if (conn->cfg.bulk)
		spindle_bulk_release(conn);
}

/**
 * spindle_setup_receives() - post the receives, before the peer can send
 * @conn: the connection; descriptors come first, as the peer sends them first
 *
 * Return: 0 or -errno
 */
int spindle_setup_receives(struct spindle_conn *conn)
{
	u32 i;
	int err;

	for (i = 0; i < conn->ndesc_in; i++) {
		struct ib_sge sge = {
			.addr = conn->desc[i].dma,
			.length = PAGE_SIZE,
			.lkey = conn->pd->local_dma_lkey,
		};
		struct ib_recv_wr wr = {
			.wr_cqe = &conn->desc[i].cqe,
			.sg_list = &sge,
			.num_sge = 1,
		};

		err = ib_post_recv(conn->qp, &wr, NULL);
		if (err)
			return err;
	}
	if (conn->cfg.bulk)
		return spindle_bulk_receives(conn);
	for (i = 0; i < SPINDLE_RQ_DEPTH; i++) {
		err = post_imm_receive(conn);
		if (err)
			return err;
	}
	return 0;
}

/* ---- the exchange ----------------------------------------------------- */

static int failed(const struct spindle_conn *conn)
{
	if (spindle_conn_closing(conn))
		return -ECANCELED;
	return READ_ONCE(conn->event_status);
}

/* Poll the send queue until so many set-up work requests are done. */
static int wait_done(struct spindle_conn *conn, u32 target)
{
	unsigned long end = jiffies + msecs_to_jiffies(SETUP_MS);

	for (;;) {
		int err = failed(conn);

		if (err)
			return err;
		if (ib_process_cq_direct(conn->scq, 16) > 0)
			continue;
		if (conn->done >= target)
			return 0;
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		usleep_range(20, 100);
	}
}

/**
 * spindle_conn_register() - register a chunk by the connection's queue pair
 * @conn: the connection
 * @mr: region with pages and key set
 * @access: IB_ACCESS_*
 *
 * Return: 0 when the device knows the region, or -errno
 */
int spindle_conn_register(struct spindle_conn *conn, struct ib_mr *mr, int access)
{
	struct ib_reg_wr wr = {
		.wr = {
			.wr_cqe = &conn->setup_cqe,
			.opcode = IB_WR_REG_MR,
			.send_flags = IB_SEND_SIGNALED,
		},
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};
	u32 target = conn->done + 1;
	int err = ib_post_send(conn->qp, &wr.wr, NULL);

	return err ? err : wait_done(conn, target);
}

/* Description number @i, in pages that begin with this one. */
static struct chunk_desc *desc_at(const struct spindle_conn *conn, u32 first, u32 i)
{
	struct page *page = conn->desc[first + (i + PROOF_DESCS) / DESCS].page;

	return (struct chunk_desc *)page_address(page) + (i + PROOF_DESCS) % DESCS;
}

static int send_descs(struct spindle_conn *conn)
{
	u64 bytes = (u64)conn->cfg.in->mem.n << PAGE_SHIFT;
	u32 i, target = conn->done + conn->ndesc_out;

	for (i = 0; i < conn->in.nchunks; i++) {
		struct chunk_desc *desc = desc_at(conn, conn->ndesc_in, i);

		desc->addr = cpu_to_le64(conn->in.mr[i]->iova);
		desc->rkey = cpu_to_le32(conn->in.mr[i]->rkey);
		desc->len = cpu_to_le32(chunk_len(bytes, i));
	}
	if (conn->cfg.active)
		conn->cfg.ops->prove(conn, page_address(conn->desc[conn->ndesc_in].page));
	for (i = 0; i < conn->ndesc_out; i++) {
		struct spindle_desc_page *desc = &conn->desc[conn->ndesc_in + i];
		struct ib_sge sge = {
			.addr = desc->dma,
			.length = PAGE_SIZE,
			.lkey = conn->pd->local_dma_lkey,
		};
		struct ib_send_wr wr = {
			.wr_cqe = &conn->setup_cqe,
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IB_WR_SEND,
			.send_flags = IB_SEND_SIGNALED,
		};
		int err;

		ib_dma_sync_single_for_device(conn->id->device, desc->dma, PAGE_SIZE,
					      DMA_BIDIRECTIONAL);
		err = ib_post_send(conn->qp, &wr, NULL);
		if (err)
			return err;
	}
	return wait_done(conn, target);
}

static bool all_came(struct spindle_conn *conn)
{
	/* Pairs with the release in desc_wc(). */
	return atomic_read_acquire(&conn->got) == conn->ndesc_in;
}

/* Nobody polls a bulk connection for us yet. */
static void poll_descs(struct spindle_conn *conn)
{
	unsigned long end = jiffies + msecs_to_jiffies(SETUP_MS);

	while (!all_came(conn) && !failed(conn) && time_before(jiffies, end)) {
		if (ib_process_cq_direct(conn->scq, 16) <= 0)
			usleep_range(20, 100);
	}
}

static int take_descs(struct spindle_conn *conn)
{
	u32 i;

	if (conn->cfg.bulk)
		poll_descs(conn);
	else
		wait_event_timeout(conn->wq, all_came(conn) || failed(conn),
				   msecs_to_jiffies(SETUP_MS));
	if (failed(conn))
		return failed(conn);
	if (!all_came(conn))
		return -ETIMEDOUT;
	for (i = 0; i < conn->ndesc_in; i++)
		ib_dma_sync_single_for_cpu(conn->id->device, conn->desc[i].dma, PAGE_SIZE,
					   DMA_BIDIRECTIONAL);
	/* The pages are no longer the device's: what is checked stays as it is. */
	if (!conn->cfg.active && conn->cfg.ops->proven(conn, page_address(conn->desc[0].page)))
		return -EKEYREJECTED;
	for (i = 0; i < conn->nremote; i++) {
		const struct chunk_desc *desc = desc_at(conn, 0, i);

		if (le32_to_cpu(desc->len) != chunk_len(conn->cfg.remote_bytes, i))
			return -EPROTO;
		conn->remote[i].addr = le64_to_cpu(desc->addr);
		conn->remote[i].rkey = le32_to_cpu(desc->rkey);
	}
	return 0;
}

/**
 * spindle_setup_run() - register, tell, and be told
 * @conn: established
 *
 * Return: 0 or -errno
 */
int spindle_setup_run(struct spindle_conn *conn)
{
	/* Who has not proved itself gets nothing, and nothing is registered for it. */
	bool late = conn->cfg.secret && !conn->cfg.active;
	int err = late ? take_descs(conn) : 0;

	if (!err)
		err = spindle_window_open(&conn->in, conn, conn->cfg.in,
					  IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	if (!err)
		err = spindle_window_open(&conn->own, conn, conn->cfg.own, 0);
	if (!err)
		err = send_descs(conn);
	if (!err && !late)
		err = take_descs(conn);
	return err;
}
