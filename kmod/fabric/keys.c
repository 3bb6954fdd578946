// SPDX-License-Identifier: GPL-2.0-only
/*
 * Keys: the queue pair by which memory is registered. See keys.h.
 */
#include <linux/bottom_half.h>
#include <linux/random.h>

#include "drain.h"
#include "keys.h"

/* Packet numbers have 24 bits. */
#define PSN_MASK 0xffffffU

static void keys_wc(struct ib_cq *cq, struct ib_wc *wc)
{
	struct spindle_keys *keys = container_of(wc->wr_cqe, struct spindle_keys, cqe);
	const struct spindle_keys_job *job;

	if (keys->dropped)
		return;
	if (wc->status != IB_WC_SUCCESS) {
		/*
		 * The owner sets @dropped before it flushes the queue for the drain. So a flush
		 * error here means that the queue pair has failed.
		 */
		keys->ops->broken(keys, ib_wc_status_msg(wc->status));
		return;
	}
	job = &keys->job[keys->head++ % SPINDLE_KEYS_DEPTH];
	if (job->done) {
		job->done(job->ctx, job->arg);
		return;
	}
	keys->done++;
	keys->ops->registered(keys);
}

/**
 * spindle_keys_create() - create the queue pair
 * @keys: zeroed, or destroyed
 * @ops: callbacks
 * @pd: protection domain for registrations
 * @cq: completion queue with SPINDLE_KEYS_DEPTH free entries, and one more for the drain
 *
 * Context: process.
 * Return: 0 or -errno
 */
int spindle_keys_create(struct spindle_keys *keys, const struct spindle_keys_ops *ops,
			struct ib_pd *pd, struct ib_cq *cq)
{
	struct ib_qp_init_attr attr = {
		.send_cq = cq,
		.recv_cq = cq,
		.sq_sig_type = IB_SIGNAL_ALL_WR,
		.qp_type = IB_QPT_RC,
		.cap = {
			/* One more for the drain. */
			.max_send_wr = SPINDLE_KEYS_DEPTH + 1,
			.max_recv_wr = 1,
			.max_send_sge = 1,
			.max_recv_sge = 1,
		},
	};
	struct ib_qp *qp = ib_create_qp(pd, &attr);

	if (IS_ERR(qp))
		return PTR_ERR(qp);
	*keys = (struct spindle_keys){ .ops = ops, .qp = qp, .cqe.done = keys_wc };
	return 0;
}

/*
 * Ports and addresses are those of the connection, so a packet from the peer's address can reach
 * this queue pair. Such a packet, from the peer or with its forged address, can at most end the
 * lane, which the peer can do anyway. There are no access flags, no receive is ever posted, and
 * no response can change memory. Even to end the lane the sender must know the packet sequence
 * number, which is random and never sent.
 */
static int enter(struct spindle_keys *keys, struct rdma_cm_id *id, enum ib_qp_state state)
{
	struct ib_qp_attr attr = { .qp_state = state };
	int mask, err;

	err = rdma_init_qp_attr(id, &attr, &mask);
	if (err)
		return err;
	/* Give no remote rights, and connect the queue pair to itself. */
	if (mask & IB_QP_ACCESS_FLAGS)
		attr.qp_access_flags = 0;
	if (mask & IB_QP_DEST_QPN)
		attr.dest_qp_num = keys->qp->qp_num;
	if (mask & IB_QP_RQ_PSN)
		attr.rq_psn = keys->psn;
	if (mask & IB_QP_SQ_PSN)
		attr.sq_psn = keys->psn;
	return ib_modify_qp(keys->qp, &attr, mask);
}

/**
 * spindle_keys_start() - make the queue pair ready for requests
 * @keys: created
 * @id: an established connection of the same device, whose ports and addresses are used
 *
 * Context: process.
 * Return: 0 or -errno; in both cases call spindle_keys_destroy()
 */
int spindle_keys_start(struct spindle_keys *keys, struct rdma_cm_id *id)
{
	int err;

	keys->psn = get_random_u32() & PSN_MASK;
	err = enter(keys, id, IB_QPS_INIT);
	if (!err)
		err = enter(keys, id, IB_QPS_RTR);
	if (!err)
		err = enter(keys, id, IB_QPS_RTS);
	keys->started = !err;
	return err;
}

/**
 * spindle_keys_destroy() - destroy the queue pair
 * @keys: started, created, destroyed, or all zero; no other context polls its completion queue
 *
 * Context: process.
 */
void spindle_keys_destroy(struct spindle_keys *keys)
{
	if (!keys->qp)
		return;
	if (keys->started)
		spindle_drain_sends(keys->qp);
	ib_destroy_qp(keys->qp);
	keys->qp = NULL;
	keys->started = false;
}

/**
 * spindle_keys_room() - is there room for one registration or revocation?
 * @keys: started
 *
 * Return: true if so
 */
bool spindle_keys_room(const struct spindle_keys *keys)
{
	return keys->tail - keys->head < SPINDLE_KEYS_DEPTH;
}

static int submit(struct spindle_keys *keys, struct ib_send_wr *wr,
		  const struct spindle_keys_job *job)
{
	int err;

	wr->wr_cqe = &keys->cqe;
	keys->job[keys->tail++ % SPINDLE_KEYS_DEPTH] = *job;
	/* See spindle_post_flush(). */
	local_bh_disable();
	err = ib_post_send(keys->qp, wr, NULL);
	local_bh_enable();
	return err;
}

/**
 * spindle_keys_register() - register memory
 * @keys: started; there is room
 * @mr: pages and a new key are set
 * @access: rights of the peer, IB_ACCESS_*
 *
 * Return: 0, or -errno if the queue pair cannot be used any more
 */
int spindle_keys_register(struct spindle_keys *keys, struct ib_mr *mr, int access)
{
	struct ib_reg_wr reg = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};

	keys->asked++;
	return submit(keys, &reg.wr, &(struct spindle_keys_job){});
}

/**
 * spindle_keys_revoke() - revoke a right
 * @keys: started; there is room
 * @rkey: key of the right
 * @job: callback for when the key is invalid; not called if the queue pair breaks before
 *
 * Return: 0, or -errno if the queue pair cannot be used any more
 */
int spindle_keys_revoke(struct spindle_keys *keys, u32 rkey,
			const struct spindle_keys_job *job)
{
	struct ib_send_wr wr = {
		.opcode = IB_WR_LOCAL_INV,
		.ex.invalidate_rkey = rkey,
	};

	return submit(keys, &wr, job);
}
