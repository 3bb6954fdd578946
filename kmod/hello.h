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

#define SPINDLE_HELLO_MAGIC	0x4c444e53U	/* "SNDL" */
#define SPINDLE_PROTOCOL	2

/* The sender believes guards only when their completion arrives. */
#define SPINDLE_HELLO_F_IMM	BIT(0)

/**
 * struct spindle_hello - both directions, in rdma_cm private data
 * @magic: SPINDLE_HELLO_MAGIC
 * @version: SPINDLE_PROTOCOL
 * @flags: SPINDLE_HELLO_F_*
 * @src: sender's node id
 * @dst: the id that the sender takes the receiver for
 * @incarnation: tells two lives of the sender apart
 * @digest: digest of the sender's view
 * @cluster: name, padded with zeroes
 */
struct spindle_hello {
	__le32 magic;
	__le16 version;
	__le16 flags;
	__le32 src;
	__le32 dst;
	__le64 incarnation;
	__le64 digest;
	char cluster[SPINDLE_CLUSTER_LEN + 1];
};

static_assert(sizeof(struct spindle_hello) == SPINDLE_HELLO_LEN);

/* Why a hello is refused; sent in the rejection. */
enum spindle_refusal {
	SPINDLE_REFUSE_NOT_SPINDLE = SPINDLE_REJECT_OWNER,
	SPINDLE_REFUSE_VERSION,
	SPINDLE_REFUSE_CLUSTER,
	SPINDLE_REFUSE_DESTINATION,
	SPINDLE_REFUSE_UNKNOWN,
	SPINDLE_REFUSE_VIEW,
	SPINDLE_REFUSE_DIRECTION,
};

struct spindle_node;
struct spindle_peer;

void spindle_hello_fill(struct spindle_hello *hello, const struct spindle_peer *peer);
u32 spindle_hello_check_node(const struct spindle_hello *hello,
			     const struct spindle_node *node);
u32 spindle_hello_check(const struct spindle_hello *hello, const struct spindle_peer *peer);
const char *spindle_refusal_text(u32 code);

#endif /* SPINDLE_HELLO_H */
