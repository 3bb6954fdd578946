/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hello: the private data with which two nodes introduce themselves. core/membership/hello.h has
 * the format and the decisions. This file adds keys and proofs, and takes the data that core/ needs
 * from nodes and peers.
 */
#ifndef SPINDLE_NODE_HELLO_H
#define SPINDLE_NODE_HELLO_H

#include <linux/build_bug.h>
#include <linux/types.h>
#include <linux/spindle_genl.h>

#include "base/key.h"
#include "core/membership/hello.h"
#include "fabric/conn.h"

static_assert(sizeof(struct spindle_hello) == SPINDLE_HELLO_LEN);
static_assert(sizeof(struct spindle_hello) == SPINDLE_REQUEST_LEN);
static_assert(offsetofend(struct spindle_hello, tag) == SPINDLE_REQUEST_LEN);

/**
 * struct spindle_reply - private data of an answer
 */
struct spindle_reply {
	/** @hello: hello of the node that answers */
	struct spindle_hello hello;
	/** @proof: over the hello of the request and @hello */
	u8 proof[SPINDLE_PROOF_LEN];
};

static_assert(sizeof(struct spindle_reply) == SPINDLE_ANSWERED_LEN);
static_assert(SPINDLE_PROOF_LEN == SPINDLE_RIGHTS_LEN);

/* Smaller reject codes belong to fabric/conn.h. */
static_assert((u32)SPINDLE_REFUSE_NOT_SPINDLE == SPINDLE_REJECT_OWNER);

struct spindle_node;
struct spindle_peer;

void spindle_hello_node(struct spindle_hello *hello, const struct spindle_node *node);
void spindle_hello_seal(struct spindle_hello *hello, struct spindle_node *node,
			enum spindle_key_age age);
void spindle_hello_fill(struct spindle_hello *hello, const struct spindle_peer *peer);
bool spindle_hello_where(struct spindle_addr *addr, const struct sockaddr_storage *from);
u32 spindle_hello_check_node(const struct spindle_hello *hello, struct spindle_node *node);
u32 spindle_hello_check(const struct spindle_hello *hello, const struct spindle_peer *peer);
u32 spindle_hello_admit(const struct spindle_hello *hello, const struct spindle_node *node,
			struct spindle_heard *heard, const struct spindle_addr *addr,
			const struct sockaddr_storage *from);

/* of connections: used by all kinds, peers, lanes and fetches */
u8 spindle_hello_greet(struct spindle_node *node, const struct spindle_conn *conn,
		       struct spindle_reply *reply);
int spindle_hello_answered(struct spindle_node *node, u32 id, const struct spindle_conn *conn,
			   const void *data, u8 len, struct spindle_reply *reply);
void spindle_hello_prove(struct spindle_node *node, const struct spindle_conn *conn,
			 u8 proof[SPINDLE_RIGHTS_LEN]);
int spindle_hello_proven(struct spindle_node *node, u32 id, const struct spindle_conn *conn,
			 const u8 proof[SPINDLE_RIGHTS_LEN]);

#endif /* SPINDLE_NODE_HELLO_H */
