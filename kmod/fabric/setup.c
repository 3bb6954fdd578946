// SPDX-License-Identifier: GPL-2.0-only
/*
 * Set-up: exchange of rights over a fresh connection.
 *
 * Each side registers its copy of the other's row for remote writing, and sends the keys of its
 * chunks, in pages over the queue pair. On a connection for reads, each side registers what the
 * other one may read. No address is sent, because a write names bytes by their
 * offset in the row (region.h). Both sides know the row's size from the view. The chunk size
 * depends on the device of the side that holds the copy, and is sent, too. The number of pages
 * is always that for the smallest chunks, so that the receiver knows it before.
 *
 * Context: the connection's work item, except for the completion handlers.
 */
#include <linux/delay.h>
#include <linux/slab.h>

#include "bulk.h"
#include "conn.h"
#include "post.h"

/**
 * struct rights_head - head of the first page; keys follow
 */
struct rights_head {
	/** @proof: proof of the dialling side */
	u8 proof[SPINDLE_RIGHTS_LEN];
	/** @bytes: bytes of the row */
	__le64 bytes;
	/** @shift: log2 of the bytes of a chunk */
	__le32 shift;
	/** @zero: 0 */
	__le32 zero;
};

#define KEYS (PAGE_SIZE / sizeof(__le32))
#define HEAD_KEYS (sizeof(struct rights_head) / sizeof(__le32))

/**
 * struct spindle_desc_page - a page that is sent or received during set-up
 */
struct spindle_desc_page {
	/** @cqe: completion of its receive */
	struct ib_cqe cqe;
	/** @conn: the connection */
	struct spindle_conn *conn;
	/** @page: the page */
	struct page *page;
	/** @dma: its address for the device */
	u64 dma;
};

static u32 chunks_of(u64 bytes, u32 shift)
{
	return (bytes + BIT(shift) - 1) >> shift;
}

static u32 pages_for(u64 bytes)
{
	return DIV_ROUND_UP(HEAD_KEYS + chunks_of(bytes, SPINDLE_CHUNK_SHIFT_MIN), KEYS);
}

static u64 region_bytes(const struct spindle_region *region)
{
	return (u64)region->mem.n << PAGE_SHIFT;
}

static u32 ndesc(const struct spindle_conn *conn)
{
	return conn->ndesc_in + conn->ndesc_out;
}

/* ---- completions ------------------------------------------------------ */

/* A page of rights arrived. */
static void desc_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct spindle_desc_page *desc =
		container_of(wc->wr_cqe, struct spindle_desc_page, cqe);
	struct spindle_conn *conn = desc->conn;

	if (wc->status != IB_WC_SUCCESS || wc->byte_len != PAGE_SIZE) {
		spindle_conn_fail(conn, "set-up was interrupted");
		return;
	}
	/* Pairs with the acquire in all_came(): the page is written before. */
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
 * spindle_setup_prepare() - allocate the memory for set-up
 * @conn: the connection; its id is bound to a device
 *
 * Return: 0 or -ENOMEM; in both cases call spindle_setup_release()
 */
int spindle_setup_prepare(struct spindle_conn *conn)
{
	struct ib_device *ib = conn->id->device;
	u32 i;

	conn->ndesc_in = pages_for(conn->cfg.remote_bytes);
	conn->ndesc_out = pages_for(region_bytes(conn->cfg.in));
	conn->asked = 0;
	conn->done = 0;
	atomic_set(&conn->got, 0);
	conn->imm_cqe.done = imm_wc;
	conn->remote = kvcalloc(chunks_of(conn->cfg.remote_bytes, SPINDLE_CHUNK_SHIFT_MIN),
				sizeof(*conn->remote), GFP_KERNEL_ACCOUNT);
	conn->desc = kcalloc(ndesc(conn), sizeof(*conn->desc), GFP_KERNEL_ACCOUNT);
	if (!conn->remote || !conn->desc)
		return -ENOMEM;
	for (i = 0; i < ndesc(conn); i++) {
		struct spindle_desc_page *desc = &conn->desc[i];
		struct page *page = alloc_page(GFP_KERNEL_ACCOUNT | __GFP_ZERO);

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
 * @conn: the connection; receives for rights are first, because the peer sends its rights first
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

static struct rights_head *head_at(const struct spindle_conn *conn, u32 first)
{
	return page_address(conn->desc[first].page);
}

/* Address of key number @i in the pages that begin with page @first. */
static __le32 *key_at(const struct spindle_conn *conn, u32 first, u32 i)
{
	struct page *page = conn->desc[first + (i + HEAD_KEYS) / KEYS].page;

	return (__le32 *)page_address(page) + (i + HEAD_KEYS) % KEYS;
}

static void write_rights(const struct spindle_conn *conn)
{
	struct rights_head *head = head_at(conn, conn->ndesc_in);
	u32 i;

	head->bytes = cpu_to_le64(region_bytes(conn->cfg.in));
	head->shift = cpu_to_le32(conn->cfg.in->shift);
	for (i = 0; i < conn->in.nchunks; i++)
		*key_at(conn, conn->ndesc_in, i) = cpu_to_le32(conn->in.mr[i]->rkey);
}

static int send_rights(struct spindle_conn *conn)
{
	u32 i;

	write_rights(conn);
	if (conn->cfg.active)
		conn->cfg.ops->prove(conn, head_at(conn, conn->ndesc_in)->proof);
	for (i = 0; i < conn->ndesc_out; i++) {
		struct spindle_desc_page *desc = &conn->desc[conn->ndesc_in + i];
		struct ib_sge sge = {
			.addr = desc->dma,
			.length = PAGE_SIZE,
			.lkey = conn->pd->local_dma_lkey,
		};
		struct ib_send_wr wr = {
			.sg_list = &sge,
			.num_sge = 1,
			.opcode = IB_WR_SEND,
		};
		int err;

		ib_dma_sync_single_for_device(conn->id->device, desc->dma, PAGE_SIZE,
					      DMA_BIDIRECTIONAL);
		err = spindle_setup_post(conn, &wr);
		if (err)
			return err;
	}
	return spindle_setup_wait(conn);
}

static bool all_came(struct spindle_conn *conn)
{
	/* Pairs with the release in desc_wc(). */
	return atomic_read_acquire(&conn->got) == conn->ndesc_in;
}

/* The engine does not poll a bulk connection yet, so poll it here. */
static void poll_rights(struct spindle_conn *conn)
{
	unsigned long end = jiffies + msecs_to_jiffies(SPINDLE_SETUP_MS);

	while (!all_came(conn) && !spindle_setup_failed(conn) && time_before(jiffies, end)) {
		if (ib_process_cq_direct(conn->scq, 16) <= 0)
			usleep_range(20, 100);
	}
}

/* The device no longer writes the pages, so a value cannot change after its check. */
static int read_rights(struct spindle_conn *conn)
{
	const struct rights_head *head = head_at(conn, 0);
	u64 bytes = conn->cfg.remote_bytes;
	u32 shift = le32_to_cpu(head->shift);
	u32 i;

	if (!conn->cfg.active && conn->cfg.ops->proven(conn, head->proof))
		return -EKEYREJECTED;
	if (le64_to_cpu(head->bytes) != bytes || shift < SPINDLE_CHUNK_SHIFT_MIN ||
	    shift > SPINDLE_CHUNK_SHIFT_MAX || head->zero)
		return -EPROTO;
	for (i = 0; i < chunks_of(bytes, shift); i++)
		conn->remote[i] = le32_to_cpu(*key_at(conn, 0, i));
	conn->remote_shift = shift;
	conn->pieces = spindle_post_pieces(conn->cfg.own->shift, shift);
	return 0;
}

static int take_rights(struct spindle_conn *conn)
{
	u32 i;

	if (conn->cfg.bulk)
		poll_rights(conn);
	else
		wait_event_timeout(conn->wq, all_came(conn) || spindle_setup_failed(conn),
				   msecs_to_jiffies(SPINDLE_SETUP_MS));
	if (spindle_setup_failed(conn))
		return spindle_setup_failed(conn);
	if (!all_came(conn))
		return -ETIMEDOUT;
	for (i = 0; i < conn->ndesc_in; i++)
		ib_dma_sync_single_for_cpu(conn->id->device, conn->desc[i].dma, PAGE_SIZE,
					   DMA_BIDIRECTIONAL);
	return read_rights(conn);
}

/**
 * spindle_setup_run() - register our copy, and exchange rights
 * @conn: established
 *
 * Return: 0 or -errno
 */
int spindle_setup_run(struct spindle_conn *conn)
{
	/* With a key, register nothing before the dialling side has proved that it has the key. */
	bool late = conn->cfg.secret && !conn->cfg.active, read = conn->cfg.read;
	int err = late ? take_rights(conn) : 0;

	if (!err)
		err = spindle_window_open(&conn->in, conn, conn->cfg.in, read ?
					  IB_ACCESS_REMOTE_READ :
					  IB_ACCESS_LOCAL_WRITE | IB_ACCESS_REMOTE_WRITE);
	if (!err)
		err = spindle_window_open(&conn->own, conn, conn->cfg.own,
					  read ? IB_ACCESS_LOCAL_WRITE : 0);
	if (!err)
		err = send_rights(conn);
	if (!err && !late)
		err = take_rights(conn);
	return err;
}
