// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests: the work requests of set-up, before the engine owns the queue pair.
 *
 * Context: the connection's work item, except for the completion handler.
 */
#include <linux/delay.h>

#include "conn.h"

/* Requests that are outstanding at most: fewer than the send queue has. */
#define DEPTH (SPINDLE_SQ_DEPTH / 2)

/**
 * spindle_setup_wc() - completion of a set-up work request
 * @cq: completion queue of the send queue, polled by the work item
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

/**
 * spindle_setup_failed() - has the attempt to connect failed?
 * @conn: the connection
 *
 * Return: 0, or -errno: then all waits of the work item must end
 */
int spindle_setup_failed(const struct spindle_conn *conn)
{
	if (spindle_conn_closing(conn))
		return -ECANCELED;
	return READ_ONCE(conn->event_status);
}

/* Poll the send queue until at most @left set-up work requests are outstanding. */
static int wait_done(struct spindle_conn *conn, u32 left)
{
	unsigned long end = jiffies + msecs_to_jiffies(SPINDLE_SETUP_MS);

	for (;;) {
		int err = spindle_setup_failed(conn);

		if (err)
			return err;
		if (ib_process_cq_direct(conn->scq, 16) > 0)
			continue;
		if (conn->asked - conn->done <= left)
			return 0;
		if (time_after(jiffies, end))
			return -ETIMEDOUT;
		usleep_range(20, 100);
	}
}

/**
 * spindle_setup_post() - post a set-up work request
 * @conn: the connection
 * @wr: the request; its completion and flags are set here
 *
 * Waits while too many requests are outstanding.
 *
 * Return: 0 or -errno
 */
int spindle_setup_post(struct spindle_conn *conn, struct ib_send_wr *wr)
{
	int err = conn->asked - conn->done < DEPTH ? 0 : wait_done(conn, DEPTH / 2);

	wr->wr_cqe = &conn->setup_cqe;
	wr->send_flags = IB_SEND_SIGNALED;
	if (!err)
		err = ib_post_send(conn->qp, wr, NULL);
	if (!err)
		conn->asked++;
	return err;
}

/**
 * spindle_setup_wait() - wait until the device has done all set-up work requests
 * @conn: the connection
 *
 * Return: 0 or -errno
 */
int spindle_setup_wait(struct spindle_conn *conn)
{
	return wait_done(conn, 0);
}

/**
 * spindle_setup_register() - register a chunk by the connection's queue pair
 * @conn: the connection
 * @mr: region with pages and key set; must exist until the queue pair is drained
 * @access: IB_ACCESS_*
 *
 * The device knows the region after spindle_setup_wait().
 *
 * Return: 0 or -errno
 */
int spindle_setup_register(struct spindle_conn *conn, struct ib_mr *mr, int access)
{
	struct ib_reg_wr wr = {
		.wr.opcode = IB_WR_REG_MR,
		.mr = mr,
		.key = mr->rkey,
		.access = access,
	};

	return spindle_setup_post(conn, &wr.wr);
}
