// SPDX-License-Identifier: GPL-2.0-only
/*
 * Endpoints: the address at which a node listens for its peers. See endpoint.h.
 */
#include "conn.h"
#include "endpoint.h"

/*
 * Handle a connection request. The id is new. If this returns 0 we own the id, else rdma_cm
 * destroys it. Only match() reads the peer's bytes.
 */
static int answer(struct spindle_endpoint *ep, struct rdma_cm_id *id,
		  const struct rdma_conn_param *param)
{
	struct spindle_reject reject = {};
	struct spindle_conn *conn;

	spin_lock(&ep->lock);
	conn = ep->ops->match(ep, &id->route.addr.dst_addr, param->private_data,
			      param->private_data_len, &reject);
	/* The dialling side chooses the retries of our queue pair, so limit them. */
	if (conn && (param->retry_count > spindle_conn_retries(conn) ||
		     param->rnr_retry_count > SPINDLE_RETRIES)) {
		conn = NULL;
		reject.code = cpu_to_be32(SPINDLE_REJECT_RETRIES);
	}
	if (conn && !spindle_conn_claim(conn, id, param->private_data,
					param->private_data_len)) {
		reject.taken = READ_ONCE(conn->state) == SPINDLE_CONN_UP;
		reject.code = cpu_to_be32(SPINDLE_REJECT_BUSY);
		conn = NULL;
	}
	spin_unlock(&ep->lock);
	if (conn)
		return 0;
	if (reject.code != cpu_to_be32(SPINDLE_REJECT_ANSWER))
		ep->ops->refused(ep, param->private_data, param->private_data_len, &reject);
	rdma_reject(id, &reject, offsetof(struct spindle_reject, data) + reject.len,
		    IB_CM_REJ_CONSUMER_DEFINED);
	return -ECONNREFUSED;
}

static int endpoint_handler(struct rdma_cm_id *id, struct rdma_cm_event *event)
{
	/* The ib_client handles device removal, and other events do not matter here. */
	if (event->event != RDMA_CM_EVENT_CONNECT_REQUEST)
		return 0;
	return answer(id->context, id, &event->param.conn);
}

/**
 * spindle_endpoint_open() - listen
 * @ep: out; @ep->ib is the device that the address belongs to
 * @net: network namespace
 * @ops: callbacks; requests may come before this returns
 * @addr: address and port
 *
 * Context: process.
 * Return: 0; -EADDRINUSE, -EADDRNOTAVAIL, -ENODEV if no RDMA device has the address
 */
int spindle_endpoint_open(struct spindle_endpoint *ep, struct net *net,
			  const struct spindle_endpoint_ops *ops, struct sockaddr *addr)
{
	struct rdma_cm_id *id;
	int err;

	spin_lock_init(&ep->lock);
	INIT_LIST_HEAD(&ep->conns);
	ep->ops = ops;
	id = rdma_create_id(net, endpoint_handler, ep, RDMA_PS_TCP, IB_QPT_RC);
	if (IS_ERR(id))
		return PTR_ERR(id);
	err = rdma_bind_addr(id, addr);
	if (err)
		goto err_destroy;
	if (!id->device) {
		err = -ENODEV;
		goto err_destroy;
	}
	ep->ib = id->device;
	err = rdma_listen(id, 128);
	if (err)
		goto err_destroy;
	ep->listener = id;
	return 0;

err_destroy:
	rdma_destroy_id(id);
	return err;
}

/**
 * spindle_endpoint_close() - stop listening; waits for handlers to end
 * @ep: its connections are closed
 *
 * Context: process.
 */
void spindle_endpoint_close(struct spindle_endpoint *ep)
{
	WARN_ON(!list_empty(&ep->conns));
	rdma_destroy_id(ep->listener);
	ep->listener = NULL;
}
