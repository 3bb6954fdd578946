// SPDX-License-Identifier: GPL-2.0-only
/*
 * Draining: wait until the hardware has finished with a queue pair. See drain.h.
 */
#include <linux/delay.h>

#include "drain.h"

/* A device that takes longer than this, in seconds, is reported. */
#define LATE_S 10

struct drain {
	struct ib_cqe cqe;
	bool done;
};

static void drain_done(struct ib_cq *cq, struct ib_wc *wc)
{
	container_of(wc->wr_cqe, struct drain, cqe)->done = true;
}

/*
 * Wait without a time-out, as ib_drain_qp() does, because memory that the device still uses must
 * not be freed. A working device flushes a queue pair in the error state. A device that does not
 * is reported.
 */
static void wait_for_drain(struct ib_cq *cq, const struct drain *drain)
{
	unsigned long late = jiffies + LATE_S * HZ;

	for (;;) {
		ib_process_cq_direct(cq, -1);
		if (drain->done)
			break;
		if (time_after(jiffies, late)) {
			pr_warn_ratelimited("%s: the device does not flush a queue pair\n",
					    dev_name(&cq->device->dev));
			late = jiffies + LATE_S * HZ;
		}
		usleep_range(20, 200);
	}
}

/**
 * spindle_drain_sends() - flush a send queue, and wait until it is empty
 * @qp: the queue pair, not in RESET. No other context uses the queue pair, or polls the completion
 *	queue of its send queue. That completion queue is of kind IB_POLL_DIRECT, and has room
 *	for one more entry
 *
 * Context: process.
 */
void spindle_drain_sends(struct ib_qp *qp)
{
	struct ib_qp_attr attr = { .qp_state = IB_QPS_ERR };
	struct drain drain = { .cqe.done = drain_done };
	struct ib_rdma_wr marker = {
		.wr = {
			.wr_cqe = &drain.cqe,
			.opcode = IB_WR_RDMA_WRITE,
			.send_flags = IB_SEND_SIGNALED,
		},
	};

	/* Some drivers have a drain operation of their own, because their devices need it. */
	if (qp->device->ops.drain_sq || ib_modify_qp(qp, &attr, IB_QP_STATE) ||
	    ib_post_send(qp, &marker.wr, NULL))
		ib_drain_sq(qp);
	else
		wait_for_drain(qp->send_cq, &drain);
}

/**
 * spindle_drain_receives() - wait until a receive queue is empty
 * @qp: the queue pair, whose send queue is drained. For the completion queue of its receive queue
 *	the same holds as for that of sends in spindle_drain_sends()
 *
 * Context: process.
 */
void spindle_drain_receives(struct ib_qp *qp)
{
	struct drain drain = { .cqe.done = drain_done };
	struct ib_recv_wr marker = { .wr_cqe = &drain.cqe };

	if (qp->device->ops.drain_rq || ib_post_recv(qp, &marker, NULL))
		ib_drain_rq(qp);
	else
		wait_for_drain(qp->recv_cq, &drain);
}
