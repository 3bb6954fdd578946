// SPDX-License-Identifier: GPL-2.0-only
/*
 * Connections: one reliable queue pair to one peer. See conn.h for the states.
 */
#include <linux/log2.h>
#include <linux/minmax.h>
#include <linux/slab.h>

#include "bulk.h"
#include "conn.h"
#include "drain.h"

#define ATTEMPT_MS	5000	/* for each step of a connection attempt */
#define RETRY_MS	100	/* between attempts */
#define RETRY_BULK_MS	20	/* for bulk, because the peer may not have the lane yet */
#define ACK_TIMEOUT	17	/* 4.096 us << 17: half a second per retry */
#define ACK_TIMEOUT_MIN	13	/* 34 ms */
#define ACK_TIMEOUT_MS	8	/* about a millisecond */
/*
 * A work item posts receives again. Until it has run, a burst of immediates may find no receive.
 * With this timer the retries last a second. They must end, because a peer may post no receives.
 */
#define RNR_TIMER	IB_RNR_TIMER_163_84

/* ---- rdma_cm ---------------------------------------------------------- */

static void keep_greeting(struct spindle_conn *conn, const void *hello, u8 len)
{
	conn->greeting_len = min_t(u8, len, sizeof(conn->greeting));
	if (conn->greeting_len)
		memcpy(conn->greeting, hello, conn->greeting_len);
}

/*
 * Whoever answers a request also says how many reads each side may have outstanding, and the
 * queue pair of the side that dials takes those numbers. A device may wait for ever with a read
 * that it may not begin. iWARP agrees on the numbers in another way.
 */
static bool depths_fit(const struct spindle_conn *conn, const struct rdma_conn_param *answer)
{
	if (!rdma_cap_ib_cm(conn->id->device, conn->id->port_num))
		return true;
	if (!conn->cfg.read)
		return !answer->responder_resources;
	return answer->responder_resources <= SPINDLE_READS && answer->initiator_depth;
}

static int conn_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	struct spindle_conn *conn = id->context;
	const __be32 *code;
	u8 len;

	switch (event->event) {
	case RDMA_CM_EVENT_ESTABLISHED:
		if (!conn->cfg.active)
			break;
		keep_greeting(conn, event->param.conn.private_data,
			      event->param.conn.private_data_len);
		if (!depths_fit(conn, &event->param.conn))
			WRITE_ONCE(conn->event_status, -EPROTO);
		break;
	case RDMA_CM_EVENT_ADDR_RESOLVED:
	case RDMA_CM_EVENT_ROUTE_RESOLVED:
		break;
	case RDMA_CM_EVENT_REJECTED:
		code = rdma_consumer_reject_data(id, event, &len);
		if (code && len >= sizeof(*code))
			WRITE_ONCE(conn->reject, be32_to_cpu(*code));
		fallthrough;
	case RDMA_CM_EVENT_ADDR_ERROR:
	case RDMA_CM_EVENT_ROUTE_ERROR:
	case RDMA_CM_EVENT_UNREACHABLE:
	case RDMA_CM_EVENT_CONNECT_ERROR:
		/* Pairs with the acquire in wait_event_of(): @reject is set before. */
		smp_store_release(&conn->event_status,
				  event->status < 0 ? event->status : -ECONNREFUSED);
		break;
	case RDMA_CM_EVENT_DISCONNECTED:
		WRITE_ONCE(conn->parted, true);
		spindle_conn_fail(conn, "disconnected by the peer");
		break;
	case RDMA_CM_EVENT_DEVICE_REMOVAL:
		spindle_conn_fail(conn, "the RDMA device is being removed");
		break;
	default:
		return 0;
	}
	/* Pairs with the acquire in came(): the status is set before. */
	smp_store_release(&conn->event, event->event + 1);
	wake_up(&conn->wq);
	return 0;
}

static bool came(struct spindle_conn *conn, enum rdma_cm_event_type type)
{
	/* Pairs with the release in conn_handler(). */
	return smp_load_acquire(&conn->event) == type + 1;
}

/* Wait for an rdma_cm event; any error ends the wait. */
static int wait_event_of(struct spindle_conn *conn, enum rdma_cm_event_type type)
{
	int err;

	wait_event_timeout(conn->wq, came(conn, type) || READ_ONCE(conn->event_status) ||
			   spindle_conn_closing(conn), msecs_to_jiffies(ATTEMPT_MS));
	if (spindle_conn_closing(conn))
		return -ECANCELED;
	/* Pairs with the release in conn_handler(). */
	err = smp_load_acquire(&conn->event_status);
	if (err)
		return err;
	return came(conn, type) ? 0 : -ETIMEDOUT;
}

static void qp_event(struct ib_event *event, void *ctx)
{
	struct spindle_conn *conn = ctx;

	switch (event->event) {
	case IB_EVENT_QP_FATAL:
	case IB_EVENT_QP_REQ_ERR:
	case IB_EVENT_QP_ACCESS_ERR:
	case IB_EVENT_DEVICE_FATAL:
		spindle_conn_fail(conn, ib_event_msg(event->event));
		break;
	default:
		break;
	}
}

/* ---- resources of an attempt ------------------------------------------ */

/*
 * The queues are not polled in softirq. There the core may touch a freed queue: it requests the
 * next event after the queue may already have been freed.
 */
static int create_cqs(struct spindle_conn *conn, u32 recvs)
{
	u32 entries = SPINDLE_SQ_DEPTH + 1;
	bool bulk = conn->cfg.bulk;
	struct ib_device *ib = conn->id->device;
	struct ib_cq *cq;

	/* One more entry for the drain of each queue. */
	if (bulk)
		entries += recvs + 1 + SPINDLE_KEYS_DEPTH + 1;
	cq = ib_alloc_cq_any(ib, conn, entries, IB_POLL_DIRECT);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	conn->scq = cq;
	if (!bulk)
		cq = ib_alloc_cq_any(ib, conn, recvs + 1, IB_POLL_UNBOUND_WORKQUEUE);
	if (IS_ERR(cq))
		return PTR_ERR(cq);
	conn->rcq = cq;
	return 0;
}

static int create_queues(struct spindle_conn *conn)
{
	bool bulk = conn->cfg.bulk;
	struct ib_device *ib = conn->id->device;
	u32 recvs = (bulk ? SPINDLE_BULK_RECVS : SPINDLE_RQ_DEPTH) + conn->ndesc_in;
	struct ib_qp_init_attr attr = {
		.event_handler = qp_event,
		.qp_context = conn,
		.sq_sig_type = IB_SIGNAL_REQ_WR,
		.qp_type = IB_QPT_RC,
		.cap = {
			/* One more work request for the drain of each queue. */
			.max_send_wr = SPINDLE_SQ_DEPTH + 1,
			.max_recv_wr = recvs + 1,
			.max_send_sge = bulk ? spindle_bulk_sges(ib) : 1,
			.max_recv_sge = 1,
			.max_inline_data = SPINDLE_INLINE_MAX,
		},
	};
	int err;

	conn->pd = ib_alloc_pd(ib, 0);
	if (IS_ERR(conn->pd)) {
		err = PTR_ERR(conn->pd);
		conn->pd = NULL;
		return err;
	}
	err = create_cqs(conn, recvs);
	if (err)
		return err;
	attr.send_cq = conn->scq;
	attr.recv_cq = conn->rcq;
	err = rdma_create_qp(conn->id, conn->pd, &attr);
	if (err == -EINVAL) {
		/* Devices do not report their limit, and the minimum is enough. */
		attr.cap.max_inline_data = SPINDLE_INLINE_MIN;
		err = rdma_create_qp(conn->id, conn->pd, &attr);
	}
	if (err)
		return err;
	conn->qp = conn->id->qp;
	conn->inline_max = attr.cap.max_inline_data;
	/* Guards must be copied at post time, so a device without inline data cannot be used. */
	return conn->inline_max < SPINDLE_INLINE_MIN ? -EOPNOTSUPP : 0;
}

static int create_resources(struct spindle_conn *conn)
{
	int err = spindle_setup_prepare(conn);

	if (err)
		return err;
	err = create_queues(conn);
	if (err)
		return err;
	spindle_post_reset(conn);
	return spindle_setup_receives(conn);
}

/*
 * Undo create_resources(), complete or not. No other context uses the queue pair any more. The
 * drain waits until the hardware has finished with our memory.
 */
static void destroy_resources(struct spindle_conn *conn)
{
	if (conn->qp) {
		rdma_disconnect(conn->id);
		spindle_drain_sends(conn->qp);
		if (conn->cfg.bulk)
			spindle_drain_receives(conn->qp);
		else
			ib_drain_rq(conn->qp);
		/*
		 * Destroy the queue pair before the registrations. The queue pair of soft-RoCE
		 * keeps a reference to the registration of an interrupted write, and in 6.1 the
		 * deregistration waits for that, for 50 seconds.
		 */
		rdma_destroy_qp(conn->id);
		conn->qp = NULL;
	}
	if (conn->cfg.bulk) {
		spindle_bulk_drained(conn);
		conn->cfg.ops->drained(conn);
	}
	spindle_window_close(&conn->own);
	spindle_window_close(&conn->in);
	/* This waits for handlers, so none runs afterwards. */
	if (conn->id)
		rdma_destroy_id(conn->id);
	conn->id = NULL;
	if (conn->rcq && conn->rcq != conn->scq)
		ib_free_cq(conn->rcq);
	conn->rcq = NULL;
	if (conn->scq)
		ib_free_cq(conn->scq);
	conn->scq = NULL;
	spindle_setup_release(conn);
	if (conn->pd)
		ib_dealloc_pd(conn->pd);
	conn->pd = NULL;
}

/* ---- the attempt ------------------------------------------------------ */

/**
 * spindle_conn_retries() - how often the device may repeat a write
 * @conn: the connection
 *
 * Return: the retry count for rdma_cm
 */
u8 spindle_conn_retries(const struct spindle_conn *conn)
{
	return conn->cfg.patient ? SPINDLE_RETRIES_PATIENT : SPINDLE_RETRIES;
}

static u8 ack_timeout(const struct spindle_conn *conn)
{
	u32 ms = conn->cfg.ack_ms;

	return ms ? clamp(ACK_TIMEOUT_MS + ilog2(ms), ACK_TIMEOUT_MIN, ACK_TIMEOUT) : ACK_TIMEOUT;
}

/* No side of another connection can read, whatever rights there are. */
static u8 reads(const struct spindle_conn *conn, int limit)
{
	return conn->cfg.read ? clamp_t(int, limit, 1, SPINDLE_READS) : 0;
}

static struct rdma_conn_param conn_param(struct spindle_conn *conn)
{
	const struct ib_device_attr *attrs = &conn->cfg.ep->ib->attrs;

	conn->said_len = conn->cfg.ops->greet(conn, conn->said);
	return (struct rdma_conn_param){
		.responder_resources = reads(conn, attrs->max_qp_rd_atom),
		.initiator_depth = reads(conn, attrs->max_qp_init_rd_atom),
		.private_data = conn->said,
		.private_data_len = conn->said_len,
		.retry_count = spindle_conn_retries(conn),
		.rnr_retry_count = SPINDLE_RETRIES,
	};
}

static void begin_attempt(struct spindle_conn *conn)
{
	WRITE_ONCE(conn->attempts, conn->attempts + 1);
	WRITE_ONCE(conn->reject, 0);
	/* @parted must not be left over from an earlier attempt. */
	WRITE_ONCE(conn->parted, false);
	WRITE_ONCE(conn->event, 0);
	WRITE_ONCE(conn->event_status, 0);
}

static int dial(struct spindle_conn *conn)
{
	struct rdma_conn_param param = conn_param(conn);
	struct rdma_cm_id *id;
	int err;

	id = rdma_create_id(conn->cfg.net, conn_handler, conn, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	conn->id = id;
	err = rdma_resolve_addr(id, (struct sockaddr *)&conn->cfg.src,
				(struct sockaddr *)&conn->cfg.dst, ATTEMPT_MS);
	if (!err)
		err = wait_event_of(conn, RDMA_CM_EVENT_ADDR_RESOLVED);
	if (err)
		return err;
	/* The path must start at the device that our memory is mapped for. */
	if (id->device != conn->cfg.ep->ib)
		return -EXDEV;
	rdma_set_ack_timeout(id, ack_timeout(conn));
	err = rdma_resolve_route(id, ATTEMPT_MS);
	if (!err)
		err = wait_event_of(conn, RDMA_CM_EVENT_ROUTE_RESOLVED);
	if (!err)
		err = create_resources(conn);
	if (!err) {
		rdma_set_min_rnr_timer(id, RNR_TIMER);
		err = rdma_connect(id, &param);
	}
	if (!err)
		err = wait_event_of(conn, RDMA_CM_EVENT_ESTABLISHED);
	return err;
}

static int answer(struct spindle_conn *conn)
{
	struct rdma_conn_param param = conn_param(conn);
	__be32 code = cpu_to_be32(SPINDLE_REJECT_BUSY);
	int err;

	err = conn->id->device == conn->cfg.ep->ib ? create_resources(conn) : -EXDEV;
	if (err) {
		rdma_reject(conn->id, &code, sizeof(code), IB_CM_REJ_CONSUMER_DEFINED);
		return err;
	}
	rdma_set_ack_timeout(conn->id, ack_timeout(conn));
	rdma_set_min_rnr_timer(conn->id, RNR_TIMER);
	rdma_lock_handler(conn->id);
	err = rdma_accept(conn->id, &param);
	rdma_unlock_handler(conn->id);
	if (!err)
		err = wait_event_of(conn, RDMA_CM_EVENT_ESTABLISHED);
	return err;
}

static const char *failure_text(struct spindle_conn *conn, int err)
{
	/* After a time-out the handler may still write this. */
	u32 reject = READ_ONCE(conn->reject);

	if (reject == SPINDLE_REJECT_BUSY)
		return "refused: the peer is busy with another connection";
	if (reject)
		return conn->cfg.ops->refused(conn, reject);
	switch (err) {
	case -ETIMEDOUT:
		return "no answer";
	case -ECONNREFUSED:
		return "refused: no node listens there";
	case -EXDEV:
		return "the route leaves by another RDMA device";
	case -ENOMEM:
		return "out of memory";
	case -EOPNOTSUPP:
		return "the RDMA device cannot send inline data";
	case -EPROTO:
		return "the peer's answer is malformed";
	case -EKEYREJECTED:
		return "the peer has another key";
	default:
		return "cannot connect";
	}
}

static u32 retry_ms(const struct spindle_conn *conn)
{
	return conn->cfg.bulk ? RETRY_BULK_MS : RETRY_MS;
}

/*
 * One attempt to connect. For a passive connection spindle_conn_claim() has set CONNECTING; an
 * active connection changes to CONNECTING here. The work item runs once more when a connection
 * that was up has failed.
 */
static void conn_work(struct work_struct *work)
{
	struct spindle_conn *conn = container_of(work, struct spindle_conn, work.work);
	enum spindle_conn_state state = READ_ONCE(conn->state);
	int err;

	if (state == SPINDLE_CONN_FAILED) {
		/* Revoke the peer's rights now. spindle_conn_close() does the rest. */
		rdma_disconnect(conn->id);
		return;
	}
	if (conn->cfg.active) {
		if (!spindle_conn_enter(conn, SPINDLE_CONN_CONNECTING))
			return;
		begin_attempt(conn);
		err = dial(conn);
	} else {
		/* The connection may already be closed. Then the close does everything. */
		if (state != SPINDLE_CONN_CONNECTING)
			return;
		err = answer(conn);
	}
	if (!err)
		err = conn->cfg.ops->greeted(conn, conn->greeting, conn->greeting_len);
	if (!err)
		err = spindle_conn_enter(conn, SPINDLE_CONN_SETUP) ? spindle_setup_run(conn) :
							       -ECANCELED;
	if (!err && conn->cfg.bulk)
		err = spindle_bulk_start(conn);
	if (!err)
		WRITE_ONCE(conn->reason, NULL);
	if (!err && spindle_conn_enter(conn, SPINDLE_CONN_UP)) {
		conn->cfg.ops->up(conn);
		return;
	}
	WRITE_ONCE(conn->reason, failure_text(conn, err));
	destroy_resources(conn);
	if (spindle_conn_enter(conn, SPINDLE_CONN_IDLE) && conn->cfg.active)
		spindle_conn_queue(conn, retry_ms(conn));
}

/**
 * spindle_conn_claim() - give a request to the connection that expects it
 * @conn: the connection, passive
 * @id: the request's id; the connection's from now on, if true
 * @hello: the request's private data, copied
 * @len: its length
 *
 * Context: rdma_cm handler, with the endpoint's lock.
 * Return: false if the connection is not waiting for a request
 */
bool spindle_conn_claim(struct spindle_conn *conn, struct rdma_cm_id *id, const void *hello,
			u8 len)
{
	lockdep_assert_held(&conn->cfg.ep->lock);
	if (!spindle_conn_enter(conn, SPINDLE_CONN_CONNECTING))
		return false;
	/* No handler of the connection can run before @id is set below. */
	begin_attempt(conn);
	keep_greeting(conn, hello, len);
	conn->id = id;
	id->context = conn;
	id->event_handler = conn_handler;
	spindle_conn_queue(conn, 0);
	return true;
}

/**
 * spindle_conn_open() - start connecting, or waiting for the peer
 * @conn: initialised; the owner frees it after spindle_conn_close()
 * @cfg: configuration; copied
 *
 * Context: process.
 */
void spindle_conn_open(struct spindle_conn *conn, const struct spindle_conn_config *cfg)
{
	struct spindle_endpoint *ep = cfg->ep;

	conn->cfg = *cfg;
	INIT_DELAYED_WORK(&conn->work, conn_work);
	conn->write_cqe.done = spindle_post_wc;
	conn->setup_cqe.done = spindle_setup_wc;
	spin_lock(&ep->lock);
	list_add_tail(&conn->list, &ep->conns);
	spin_unlock(&ep->lock);
	if (cfg->active)
		spindle_conn_queue(conn, 0);
}

/**
 * spindle_conn_close() - end a connection in any state
 * @conn: the connection; the engine does not use it any more
 *
 * When this returns, no handler and no work item runs, and the peer has no right to our memory.
 *
 * Context: process, not in a handler of the connection.
 */
void spindle_conn_close(struct spindle_conn *conn)
{
	struct spindle_endpoint *ep = conn->cfg.ep;

	/* No request can claim the connection from here on. */
	spin_lock(&ep->lock);
	list_del(&conn->list);
	WRITE_ONCE(conn->closing, true);
	spindle_conn_enter(conn, SPINDLE_CONN_CLOSED);
	spin_unlock(&ep->lock);
	wake_up(&conn->wq);
	cancel_delayed_work_sync(&conn->work);
	destroy_resources(conn);
}
