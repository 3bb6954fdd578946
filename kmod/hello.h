/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hello: the private data with which two nodes introduce themselves.
 */
#ifndef SPINDLE_HELLO_H
#define SPINDLE_HELLO_H

#include <linux/build_bug.h>
#include <linux/types.h>
#include <linux/spindle_genl.h>

#include "fabric/conn.h"
#include "key.h"

#define SPINDLE_HELLO_MAGIC	0x4c444e53U	/* "SNDL" */
#define SPINDLE_PROTOCOL	5

/* The sender believes guards only when their completion arrives. */
#define SPINDLE_HELLO_F_IMM	BIT(0)
/* The sender is no member yet and wants to be one, of the view with this digest. */
#define SPINDLE_HELLO_F_JOIN	BIT(1)
/* The sender wants no connection: it asks for the view that the receiver is in (door.h). */
#define SPINDLE_HELLO_F_ASK	BIT(2)
/* The connection is for blocks (lane.h); there is no view in the hello. */
#define SPINDLE_HELLO_F_BULK	BIT(3)

/**
 * struct spindle_hello - both directions, in rdma_cm private data
 * @magic: SPINDLE_HELLO_MAGIC
 * @version: SPINDLE_PROTOCOL
 * @flags: SPINDLE_HELLO_F_*
 * @port: where the sender listens
 * @src: sender's node id
 * @dst: the id that the sender takes the receiver for; 0 of a question
 * @incarnation: tells two lives of the sender apart; of a question: the byte to begin with
 * @digest: digest of the sender's view
 * @cluster: of the name of the cluster
 * @lineage: spindle_lineage_mark() of the sender's live view; 0: it has none
 * @nonce: of a request: one more than in the request before, of any connection of the sender;
 *	of an answer: random
 * @tag: of a request: of all before, with the group key (key.h); of an answer: 0
 */
struct spindle_hello {
	__le32 magic;
	u8 version;
	u8 flags;
	__le16 port;
	__le32 src;
	__le32 dst;
	__le64 incarnation;
	__le64 digest;
	__le32 cluster;
	__le32 lineage;
	__le64 nonce;
	u8 tag[8];
};

static_assert(sizeof(struct spindle_hello) == SPINDLE_HELLO_LEN);
static_assert(sizeof(struct spindle_hello) == SPINDLE_REQUEST_LEN);
static_assert(offsetofend(struct spindle_hello, tag) == SPINDLE_REQUEST_LEN);

/**
 * struct spindle_reply - private data of an answer
 * @hello: who answers
 * @proof: over the request's hello and this one
 */
struct spindle_reply {
	struct spindle_hello hello;
	u8 proof[SPINDLE_PROOF_LEN];
};

static_assert(sizeof(struct spindle_reply) == SPINDLE_ANSWERED_LEN);
static_assert(SPINDLE_PROOF_LEN == SPINDLE_RIGHTS_LEN);

/* Why a hello is refused; sent in the rejection. */
enum spindle_refusal {
	SPINDLE_REFUSE_NOT_SPINDLE = SPINDLE_REJECT_OWNER,
	SPINDLE_REFUSE_VERSION,
	SPINDLE_REFUSE_CLUSTER,
	SPINDLE_REFUSE_DESTINATION,
	SPINDLE_REFUSE_UNKNOWN,
	SPINDLE_REFUSE_VIEW,
	SPINDLE_REFUSE_DIRECTION,
	SPINDLE_REFUSE_LIFE,
	SPINDLE_REFUSE_NO_VIEW,
	SPINDLE_REFUSE_MEMBER,
	SPINDLE_REFUSE_FULL,
	SPINDLE_REFUSE_KEY,
	SPINDLE_REFUSE_ADDRESS,
	SPINDLE_REFUSE_AGAIN,
	SPINDLE_REFUSE_LINEAGE,
	SPINDLE_REFUSE_BEGINS,
};

/* Lives of a peer that a connection remembers. */
#define SPINDLE_LIVES 4

/**
 * struct spindle_heard - requests that a connection has heard, so that nobody can repeat them
 * @life: the last nonce of each life, in no order
 * @lives: how many there are
 * @next: where the next one goes
 */
struct spindle_heard {
	struct {
		u64 incarnation;
		u64 nonce;
	} life[SPINDLE_LIVES];
	u32 lives;
	u32 next;
};

struct spindle_node;
struct spindle_peer;

u32 spindle_hello_cluster(const char *name);
void spindle_hello_node(struct spindle_hello *hello, const struct spindle_node *node);
void spindle_hello_seal(struct spindle_hello *hello, struct spindle_node *node,
			enum spindle_key_age age);
void spindle_hello_fill(struct spindle_hello *hello, const struct spindle_peer *peer);
u32 spindle_hello_check_node(const struct spindle_hello *hello, struct spindle_node *node);
u32 spindle_hello_check(const struct spindle_hello *hello, const struct spindle_peer *peer);
u32 spindle_hello_admit(const struct spindle_hello *hello, const struct spindle_node *node,
			struct spindle_heard *heard, const struct spindle_addr *addr,
			const struct sockaddr_storage *from);
const char *spindle_refusal_text(u32 code);

/* of connections: what both kinds say and check */
u8 spindle_hello_greet(struct spindle_node *node, const struct spindle_conn *conn,
		       struct spindle_reply *reply);
int spindle_hello_answered(struct spindle_node *node, u32 id, const struct spindle_conn *conn,
			   const void *data, u8 len, struct spindle_reply *reply);
void spindle_hello_prove(struct spindle_node *node, const struct spindle_conn *conn,
			 u8 proof[SPINDLE_RIGHTS_LEN]);
int spindle_hello_proven(struct spindle_node *node, u32 id, const struct spindle_conn *conn,
			 const u8 proof[SPINDLE_RIGHTS_LEN]);

#endif /* SPINDLE_HELLO_H */
