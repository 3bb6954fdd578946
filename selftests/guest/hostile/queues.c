// SPDX-License-Identifier: GPL-2.0-only
/*
 * Verbs without the helpers of librdmacm: there are receives for all that the node sends, and the
 * status of a send is reported and not judged. See queues.h.
 */
#include <errno.h>
#include <string.h>
#include <rdma/rdma_cma.h>

#include "hostile-peer.h"
#include "bulk.h"
#include "connection.h"
#include "queues.h"
#include "rights.h"
#include "table.h"

#define RECVS		255

struct ibv_cq *cq;
struct ibv_qp *qp;
struct ibv_mr *row_mr, *page_mr, *scratch_mr;
unsigned char *row, *pages, *scratch;
uint32_t got_pages;

static struct ibv_pd *pd;

static void post_recv(bool page, uint32_t i)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)pages + i * SPINDLE_PAGE,
		.length = SPINDLE_PAGE,
		.lkey = page_mr->lkey,
	};
	struct ibv_recv_wr wr = {
		.wr_id = page ? 2 : 3,
		.sg_list = &sge,
		.num_sge = page,
	}, *bad;

	if (ibv_post_recv(qp, &wr, &bad))
		die("post a receive: %s\n", strerror(errno));
}

bool poll_send(enum ibv_wc_status *status)
{
	struct ibv_wc wc;

	if (ibv_poll_cq(cq, 1, &wc) != 1)
		return false;
	if (wc.wr_id == 1) {
		*status = wc.status;
		return true;
	}
	if (wc.wr_id >= BULK_WR)
		bulk_came(&wc);
	if (wc.status == IBV_WC_SUCCESS && wc.wr_id == 2)
		got_pages++;
	if (wc.status == IBV_WC_SUCCESS && wc.wr_id == 3)
		post_recv(false, 0);
	return false;
}

const char *post_and_wait(struct ibv_send_wr *wr)
{
	uint64_t end = now_ms() + LIMIT_S * 1000;
	enum ibv_wc_status status;
	struct ibv_send_wr *bad;

	wr->wr_id = 1;
	wr->send_flags |= IBV_SEND_SIGNALED;
	if (ibv_post_send(qp, wr, &bad))
		return "cannot post";
	while (now_ms() < end)
		if (poll_send(&status))
			return ibv_wc_status_str(status);
	return "no completion";
}

void move_qp(enum ibv_qp_state state, uint8_t reads)
{
	struct ibv_qp_attr attr = { .qp_state = state };
	int mask;

	if (rdma_init_qp_attr(id, &attr, &mask))
		die("attributes: %s\n", strerror(errno));
	if (state == IBV_QPS_RTS)
		attr.max_rd_atomic = reads;
	if (ibv_modify_qp(qp, &attr, mask))
		die("modify: %s\n", strerror(errno));
}

void make_queues(const char *step)
{
	struct ibv_qp_init_attr attr = {
		.qp_type = IBV_QPT_RC,
		.cap = {
			.max_send_wr = 64,
			.max_recv_wr = RECVS + MAX_PAGES + 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	uint32_t i;

	bulk = num(step, "flags", 0) & HELLO_F_BULK;
	take_table(step);
	pd = ibv_alloc_pd(id->verbs);
	cq = pd ? ibv_create_cq(id->verbs, 1024, NULL, NULL, 0) : NULL;
	if (!cq)
		die("no completion queue: %s\n", strerror(errno));
	attr.send_cq = cq;
	attr.recv_cq = cq;
	if (find(step, "reads")) {
		qp = ibv_create_qp(pd, &attr);
		if (qp)
			move_qp(IBV_QPS_INIT, 0);
	} else if (!rdma_create_qp(id, pd, &attr)) {
		qp = id->qp;
	}
	if (!qp)
		die("no queue pair: %s\n", strerror(errno));
	/* Remote access names bytes by their offset. */
	row_mr = ibv_reg_mr_iova(pd, row, reading ? bytes_in() : in.size, 0,
				 IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE |
				 (reading ? IBV_ACCESS_REMOTE_READ : 0));
	page_mr = ibv_reg_mr(pd, pages, 2 * MAX_PAGES * SPINDLE_PAGE, IBV_ACCESS_LOCAL_WRITE);
	scratch_mr = ibv_reg_mr(pd, scratch, SCRATCH, IBV_ACCESS_LOCAL_WRITE |
				IBV_ACCESS_REMOTE_WRITE);
	if (!row_mr || !page_mr || !scratch_mr)
		die("no memory region: %s\n", strerror(errno));
	for (i = 0; i < rights_pages(bytes_out()); i++)
		post_recv(true, i);
	if (bulk) {
		bulk_receives(pd);
		return;
	}
	for (i = 0; !find(step, "norecv") && i < RECVS; i++)
		post_recv(false, 0);
}
