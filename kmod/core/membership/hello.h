/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Hello: how two nodes introduce themselves in the private data of a connection request, and what
 * is decided on it.
 *
 * A node believes nothing of a hello before it is checked here. Each mismatch has a refusal of its
 * own, and cheap checks come first. The embedder has keys and addresses: it says whether the tag is
 * right and where the request comes from.
 *
 * Context: any. Nothing here sleeps or allocates. What a connection has heard, and the door, are
 * protected by the caller's lock.
 */
#ifndef SPINDLE_CORE_HELLO_H
#define SPINDLE_CORE_HELLO_H

#include "core/base/view.h"

#define SPINDLE_HELLO_MAGIC	0x4c444e53U	/* "SNDL" */
#define SPINDLE_PROTOCOL	9

/* The sender believes guards only when their completion arrives. */
#define SPINDLE_HELLO_F_IMM	BIT(0)
/* The sender is no member yet and wants to be one, of the view with this digest. */
#define SPINDLE_HELLO_F_JOIN	BIT(1)
/* The sender wants no connection: it asks for the view that the receiver is in. */
#define SPINDLE_HELLO_F_ASK	BIT(2)
/* With SPINDLE_HELLO_F_ASK: the sender asks for the rules that the receiver wants. */
#define SPINDLE_HELLO_F_RULES	BIT(5)
/* The connection is for blocks; there is no view in the hello. */
#define SPINDLE_HELLO_F_BULK	BIT(3)
/* The blocks are of large messages, in the view that both are members of. */
#define SPINDLE_HELLO_F_STREAM	BIT(4)
/* The connection is for reads of a table's rows. */
#define SPINDLE_HELLO_F_READ	BIT(6)

/**
 * struct spindle_hello - both directions, in rdma_cm private data
 */
struct spindle_hello {
	/** @magic: SPINDLE_HELLO_MAGIC */
	__le32 magic;
	/** @version: SPINDLE_PROTOCOL */
	u8 version;
	/** @flags: SPINDLE_HELLO_F_* */
	u8 flags;
	/** @port: where the sender listens */
	__le16 port;
	/** @src: sender's node id */
	__le32 src;
	/** @dst: the id that the receiver has to have; 0 of a question */
	__le32 dst;
	/**
	 * @incarnation: tells two lives of the sender apart; of a question: the byte to begin with
	 */
	__le64 incarnation;
	/** @digest: digest of the sender's view; with SPINDLE_HELLO_F_READ: of the table */
	__le64 digest;
	/** @cluster: of the name of the cluster */
	__le32 cluster;
	/** @lineage: spindle_lineage_mark() of the sender's live view; 0: it has none */
	__le32 lineage;
	/**
	 * @nonce: of a request: one more than in the request before, of any connection of the
	 * sender; of an answer: random
	 */
	__le64 nonce;
	/** @tag: of a request: over all fields before, with the group key; of an answer: 0 */
	u8 tag[8];
};

static_assert(offsetof(struct spindle_hello, src) == 8, "no hole ahead");
static_assert(offsetof(struct spindle_hello, tag) == 48, "no hole");
static_assert(sizeof(struct spindle_hello) == 56, "as on the wire");

/* Why a hello is refused; sent in the rejection. */
enum spindle_refusal {
	SPINDLE_REFUSE_NOT_SPINDLE = 16,
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
	SPINDLE_REFUSE_ERA,
	SPINDLE_REFUSE_NO_RULES,
};

/**
 * struct spindle_hello_self - the node that says hello, or is asked
 */
struct spindle_hello_self {
	/** @id: its node id */
	u32 id;
	/** @cluster: spindle_hello_cluster() */
	u32 cluster;
	/** @incarnation: of its life */
	u64 incarnation;
	/** @port: where it listens */
	u16 port;
	/** @imm: it believes guards only when their completion arrives */
	bool imm;
};

/**
 * struct spindle_hello_peer - a peer that a connection expects
 */
struct spindle_hello_peer {
	/** @id: its node id */
	u32 id;
	/** @digest: of the view that both have to mean */
	u64 digest;
	/** @incarnation: of the life that is expected; 0: any */
	u64 incarnation;
};

/* Lives of a peer that a connection remembers. */
#define SPINDLE_LIVES 4

/**
 * struct spindle_heard - requests that a connection has heard, so that they cannot be replayed
 */
struct spindle_heard {
	struct {
		u64 incarnation;
		u64 nonce;
	/** @life: the last nonce of each life, in no order */
	} life[SPINDLE_LIVES];
	/** @lives: how many there are */
	u32 lives;
	/** @next: where the next one goes */
	u32 next;
};

/**
 * struct spindle_hello_door - what nodes that are no members may learn of a live view
 */
struct spindle_hello_door {
	/** @digest: of the view */
	u64 digest;
	/** @mark: of its lineage, spindle_lineage_mark() */
	u32 mark;
	/** @id: ids of its members */
	u32 id[SPINDLE_MAX_MEMBERS];
	/** @ids: their number */
	u32 ids;
	/** @max: members at most */
	u32 max;
	/** @bytes: of its card; 0: there is no view */
	u32 bytes;
	/** @rules: bytes of the rules that this node wants; 0: it wants none */
	u32 rules;
};

u32 spindle_hello_cluster(const char *name);
void spindle_hello_make(struct spindle_hello *hello, const struct spindle_hello_self *self);
bool spindle_hello_read(struct spindle_hello *hello, const void *data, u32 len);
u32 spindle_hello_meant(const struct spindle_hello *hello, const struct spindle_hello_self *self,
			bool (*tagged)(void *ctx, const struct spindle_hello *hello), void *ctx);
bool spindle_hello_answers(const struct spindle_hello *hello,
			   const struct spindle_hello_self *self);
u32 spindle_hello_expected(const struct spindle_hello *hello,
			   const struct spindle_hello_peer *peer);
u32 spindle_hello_admitted(const struct spindle_hello *hello, struct spindle_heard *heard,
			   const struct spindle_addr *addr, const struct spindle_addr *from);

/* For a view that has a door. */
u32 spindle_hello_other(const struct spindle_hello *hello,
			const struct spindle_hello_door *door);
u32 spindle_hello_asks(const struct spindle_hello *hello, const struct spindle_hello_door *door,
		       u32 room, u32 *at, u32 *len);
u32 spindle_hello_knocks(const struct spindle_hello *hello,
			 const struct spindle_hello_door *door, struct spindle_addr *from);

#endif /* SPINDLE_CORE_HELLO_H */
