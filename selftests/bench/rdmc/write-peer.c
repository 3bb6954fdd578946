// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMA writes between two queue pairs of one process and device, as a baseline.
 *
 *	write-peer BYTES REPETITIONS
 */
#include <infiniband/verbs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The index of the first address of the table, which is the address of a network without IPv6. */
#define GID	0

#define MUST(what, is) do { if (!(is)) { perror(what); exit(1); } } while (0)

static struct ibv_qp *make_qp(struct ibv_pd *pd, struct ibv_cq *cq)
{
	struct ibv_qp_init_attr init = {
		.send_cq = cq,
		.recv_cq = cq,
		.cap = { .max_send_wr = 1, .max_recv_wr = 1, .max_send_sge = 1, .max_recv_sge = 1 },
		.qp_type = IBV_QPT_RC,
	};
	struct ibv_qp *qp = ibv_create_qp(pd, &init);

	MUST("a queue pair", qp);
	return qp;
}

static void join(struct ibv_qp *qp, uint32_t other, const union ibv_gid *gid, enum ibv_mtu mtu)
{
	struct ibv_qp_attr attr = {
		.qp_state = IBV_QPS_INIT,
		.port_num = 1,
		.qp_access_flags = IBV_ACCESS_REMOTE_WRITE,
	};

	MUST("a queue pair begins",
	     !ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_PKEY_INDEX | IBV_QP_PORT |
			    IBV_QP_ACCESS_FLAGS));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTR,
		.path_mtu = mtu,
		.dest_qp_num = other,
		.max_dest_rd_atomic = 1,
		.min_rnr_timer = 12,
		.ah_attr = {
			.is_global = 1,
			.port_num = 1,
			.grh = { .dgid = *gid, .sgid_index = GID, .hop_limit = 1 },
		},
	};
	MUST("a queue pair receives",
	     !ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_AV | IBV_QP_PATH_MTU |
			    IBV_QP_DEST_QPN | IBV_QP_RQ_PSN | IBV_QP_MAX_DEST_RD_ATOMIC |
			    IBV_QP_MIN_RNR_TIMER));
	attr = (struct ibv_qp_attr){
		.qp_state = IBV_QPS_RTS,
		.timeout = 14,
		.retry_cnt = 7,
		.rnr_retry = 7,
		.max_rd_atomic = 1,
	};
	MUST("a queue pair sends",
	     !ibv_modify_qp(qp, &attr, IBV_QP_STATE | IBV_QP_TIMEOUT | IBV_QP_RETRY_CNT |
			    IBV_QP_RNR_RETRY | IBV_QP_SQ_PSN | IBV_QP_MAX_QP_RD_ATOMIC));
}

static void write_all(struct ibv_qp *qp, struct ibv_cq *cq, const struct ibv_mr *from,
		      const struct ibv_mr *to)
{
	struct ibv_sge sge = {
		.addr = (uintptr_t)from->addr,
		.length = from->length,
		.lkey = from->lkey,
	};
	struct ibv_send_wr *bad, wr = {
		.sg_list = &sge,
		.num_sge = 1,
		.opcode = IBV_WR_RDMA_WRITE,
		.send_flags = IBV_SEND_SIGNALED,
		.wr.rdma = { .remote_addr = (uintptr_t)to->addr, .rkey = to->rkey },
	};
	struct ibv_wc wc;
	int n;

	MUST("a write", !ibv_post_send(qp, &wr, &bad));
	while (!(n = ibv_poll_cq(cq, 1, &wc)))
		;
	if (n < 0 || wc.status != IBV_WC_SUCCESS) {
		fprintf(stderr, "a write: %s\n", n < 0 ? "?" : ibv_wc_status_str(wc.status));
		exit(1);
	}
}

int main(int argc, char **argv)
{
	struct ibv_device **list = ibv_get_device_list(NULL);
	size_t i, size = argc > 2 ? strtoul(argv[1], NULL, 0) : 0;
	struct ibv_qp *qp[2];
	struct ibv_mr *mr[2];
	struct ibv_port_attr port;
	struct ibv_context *ctx;
	union ibv_gid gid;
	struct ibv_cq *cq;
	struct ibv_pd *pd;
	int reps = argc > 2 ? atoi(argv[2]) : 0;

	if (!size || reps < 1)
		return 2;
	MUST("a device", list && list[0]);
	ctx = ibv_open_device(list[0]);
	MUST("opening a device", ctx);
	pd = ibv_alloc_pd(ctx);
	cq = ibv_create_cq(ctx, 4, NULL, NULL, 0);
	MUST("a domain and a queue", pd && cq);
	MUST("a port", !ibv_query_port(ctx, 1, &port) && !ibv_query_gid(ctx, 1, GID, &gid));
	for (i = 0; i < 2; i++) {
		void *mem = aligned_alloc(4096, (size + 4095) & ~4095UL);

		MUST("memory", mem);
		memset(mem, i ? 0 : 0x5a, size);
		mr[i] = ibv_reg_mr(pd, mem, size, IBV_ACCESS_LOCAL_WRITE | IBV_ACCESS_REMOTE_WRITE);
		MUST("a region", mr[i]);
		qp[i] = make_qp(pd, cq);
	}
	join(qp[0], qp[1]->qp_num, &gid, port.active_mtu);
	join(qp[1], qp[0]->qp_num, &gid, port.active_mtu);
	while (reps--)
		write_all(qp[0], cq, mr[0], mr[1]);
	if (memcmp(mr[0]->addr, mr[1]->addr, size)) {
		fprintf(stderr, "what came is not what was written\n");
		return 1;
	}
	return 0;
}
