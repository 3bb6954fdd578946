/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Endpoints: the address at which a node listens for its peers.
 *
 * Owner: the node. The endpoint has a list of its connections. A request that no connection
 * expects is refused.
 */
#ifndef SPINDLE_FABRIC_ENDPOINT_H
#define SPINDLE_FABRIC_ENDPOINT_H

#include <linux/list.h>
#include <linux/spinlock.h>
#include <rdma/rdma_cm.h>

struct spindle_conn;
struct spindle_endpoint;

/* Bytes that fit after the code of a rejection, all that rdma_cm leaves. */
#define SPINDLE_ANSWER_LEN 144

/**
 * struct spindle_reject - private data of a rejection
 * @code: reason, for the peer
 * @len: bytes of @data; not sent
 * @data: answer to a question
 * @taken: the connection for this request is already up; not sent
 */
struct spindle_reject {
	__be32 code;
	u8 data[SPINDLE_ANSWER_LEN];
	u8 len;
	bool taken;
};

/**
 * struct spindle_endpoint_ops - callbacks of the node
 * @match: find the connection that a request is for. Called with the endpoint's lock held, so it
 *	must not sleep. @from is the peer's address, @hello and @len its private data, unchecked.
 *	Returns NULL, with the rejection in @reject, if the request is refused
 * @refused: a request was refused. rdma_cm handler context
 */
struct spindle_endpoint_ops {
	struct spindle_conn *(*match)(struct spindle_endpoint *ep,
				      const struct sockaddr_storage *from, const void *hello,
				      u8 len, struct spindle_reject *reject);
	void (*refused)(struct spindle_endpoint *ep, const void *hello, u8 len,
			const struct spindle_reject *reject);
};

/**
 * struct spindle_endpoint - a listener
 * @ops: see above
 * @listener: rdma_cm id
 * @ib: device that the address belongs to
 * @lock: protects @conns and the claim of a connection by a request
 * @conns: all open connections of the node
 */
struct spindle_endpoint {
	const struct spindle_endpoint_ops *ops;
	struct rdma_cm_id *listener;
	struct ib_device *ib;
	spinlock_t lock;	/* conns */
	struct list_head conns;
};

int spindle_endpoint_open(struct spindle_endpoint *ep, struct net *net,
			  const struct spindle_endpoint_ops *ops, struct sockaddr *addr);
void spindle_endpoint_close(struct spindle_endpoint *ep);

#endif /* SPINDLE_FABRIC_ENDPOINT_H */
