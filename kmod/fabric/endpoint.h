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
 */
struct spindle_reject {
	/** @code: reason, for the peer */
	__be32 code;
	/** @data: answer to a question */
	u8 data[SPINDLE_ANSWER_LEN];
	/** @len: bytes of @data; not sent */
	u8 len;
	/** @taken: the connection for this request is already up; not sent */
	bool taken;
};

/**
 * struct spindle_endpoint_ops - callbacks of the node
 */
struct spindle_endpoint_ops {
	/**
	 * @match: find the connection that a request is for. Called with the endpoint's lock held,
	 * so it must not sleep. @from is the peer's address, @hello and @len its private data,
	 * unchecked. Returns NULL, with the rejection in @reject, if the request is refused
	 */
	struct spindle_conn *(*match)(struct spindle_endpoint *ep,
				      const struct sockaddr_storage *from, const void *hello,
				      u8 len, struct spindle_reject *reject);
	/** @refused: a request was refused. rdma_cm handler context */
	void (*refused)(struct spindle_endpoint *ep, const void *hello, u8 len,
			const struct spindle_reject *reject);
};

/**
 * struct spindle_endpoint - a listener
 */
struct spindle_endpoint {
	/** @ops: see above */
	const struct spindle_endpoint_ops *ops;
	/** @listener: rdma_cm id */
	struct rdma_cm_id *listener;
	/** @ib: device that the address belongs to */
	struct ib_device *ib;
	/** @lock: protects @conns and the claim of a connection by a request */
	spinlock_t lock;	/* conns */
	/** @conns: all open connections of the node */
	struct list_head conns;
};

int spindle_endpoint_open(struct spindle_endpoint *ep, struct net *net,
			  const struct spindle_endpoint_ops *ops, struct sockaddr *addr);
void spindle_endpoint_close(struct spindle_endpoint *ep);

#endif /* SPINDLE_FABRIC_ENDPOINT_H */
