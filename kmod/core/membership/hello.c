// SPDX-License-Identifier: GPL-2.0-only
/* Hello: how two nodes introduce themselves, and what is decided on it. See hello.h. */
#include "core/base/sst.h"
#include "card.h"
#include "hello.h"

/**
 * spindle_hello_cluster() - fingerprint of a cluster's name
 * @name: padded with zeroes to SPINDLE_CLUSTER_LEN + 1
 *
 * The fingerprint guards against mistakes; the key guards against forgery.
 *
 * Return: the fingerprint
 */
u32 spindle_hello_cluster(const char *name)
{
	u64 word[(SPINDLE_CLUSTER_LEN + 1) / sizeof(u64)];

	memcpy(word, name, sizeof(word));
	return spindle_mix(word, sizeof(word) / sizeof(u64));
}

/**
 * spindle_hello_make() - introduce a node to any other one
 * @hello: out; not sealed
 * @self: the node
 */
void spindle_hello_make(struct spindle_hello *hello, const struct spindle_hello_self *self)
{
	memset(hello, 0, sizeof(*hello));
	hello->magic = cpu_to_le32(SPINDLE_HELLO_MAGIC);
	hello->version = SPINDLE_PROTOCOL;
	hello->flags = self->imm ? SPINDLE_HELLO_F_IMM : 0;
	hello->port = cpu_to_le16(self->port);
	hello->src = cpu_to_le32(self->id);
	hello->incarnation = cpu_to_le64(self->incarnation);
	hello->cluster = cpu_to_le32(self->cluster);
}

/**
 * spindle_hello_read() - take a copy of a hello
 * @hello: out: the copy, or zeroes
 * @data: what was received
 * @len: its bytes; rdma_cm pads what is shorter than its message
 *
 * Return: false if it is too short to be one
 */
bool spindle_hello_read(struct spindle_hello *hello, const void *data, u32 len)
{
	memset(hello, 0, sizeof(*hello));
	if (len < sizeof(*hello))
		return false;
	memcpy(hello, data, sizeof(*hello));
	return true;
}

/* Is the hello about this cluster, and of this version of the protocol? */
static u32 understood(const struct spindle_hello *hello, const struct spindle_hello_self *self)
{
	if (hello->magic != cpu_to_le32(SPINDLE_HELLO_MAGIC))
		return SPINDLE_REFUSE_NOT_SPINDLE;
	if (hello->version != SPINDLE_PROTOCOL)
		return SPINDLE_REFUSE_VERSION;
	return hello->cluster == cpu_to_le32(self->cluster) ? 0 : SPINDLE_REFUSE_CLUSTER;
}

/**
 * spindle_hello_meant() - does the sender of a request mean this node?
 * @hello: a private copy of what was received
 * @self: the node
 * @tagged: has the request been made with the node's key? Called once, for a hello that is
 *	understood
 * @ctx: for @tagged
 *
 * Return: 0, or enum spindle_refusal
 */
u32 spindle_hello_meant(const struct spindle_hello *hello, const struct spindle_hello_self *self,
			bool (*tagged)(void *ctx, const struct spindle_hello *hello), void *ctx)
{
	u32 refusal = understood(hello, self);

	if (refusal)
		return refusal;
	if (!tagged(ctx, hello))
		return SPINDLE_REFUSE_KEY;
	/* A node that asks knows an address, and not yet the id of the node there. */
	if ((hello->flags & SPINDLE_HELLO_F_ASK) && !hello->dst)
		return 0;
	return hello->dst == cpu_to_le32(self->id) ? 0 : SPINDLE_REFUSE_DESTINATION;
}

/**
 * spindle_hello_answers() - is a hello an answer to this node?
 * @hello: a private copy; its proof is checked
 * @self: the node
 *
 * An answer has no tag, so that no node can take it for a request.
 *
 * Return: true if so
 */
bool spindle_hello_answers(const struct spindle_hello *hello,
			   const struct spindle_hello_self *self)
{
	static const u8 none[sizeof(hello->tag)];

	return !understood(hello, self) && hello->dst == cpu_to_le32(self->id) &&
	       !memcmp(hello->tag, none, sizeof(none));
}

/**
 * spindle_hello_expected() - is a hello from the peer that is expected?
 * @hello: a private copy; it means this node
 * @peer: the peer
 *
 * Return: 0, or enum spindle_refusal
 */
u32 spindle_hello_expected(const struct spindle_hello *hello,
			   const struct spindle_hello_peer *peer)
{
	if (hello->src != cpu_to_le32(peer->id))
		return SPINDLE_REFUSE_UNKNOWN;
	if (hello->digest != cpu_to_le64(peer->digest))
		return SPINDLE_REFUSE_VIEW;
	if (peer->incarnation && hello->incarnation != cpu_to_le64(peer->incarnation))
		return SPINDLE_REFUSE_LIFE;
	return 0;
}

/* Has the request been made before? The nonces of each life grow. */
static bool is_again(struct spindle_heard *heard, const struct spindle_hello *hello)
{
	u64 life = le64_to_cpu(hello->incarnation), nonce = le64_to_cpu(hello->nonce);
	u32 i;

	for (i = 0; i < heard->lives; i++) {
		if (heard->life[i].incarnation != life)
			continue;
		if ((s64)(nonce - heard->life[i].nonce) <= 0)
			return true;
		heard->life[i].nonce = nonce;
		return false;
	}
	i = heard->next++ % SPINDLE_LIVES;
	heard->lives = max(heard->lives, i + 1);
	heard->life[i].incarnation = life;
	heard->life[i].nonce = nonce;
	return false;
}

/* Two hosts differ in their addresses. The port of a request may be any. */
static bool same_host(const struct spindle_addr *a, const struct spindle_addr *b)
{
	return a->family == b->family && !memcmp(a->ip, b->ip, a->family == 4 ? 4 : 16);
}

/**
 * spindle_hello_admitted() - may a request have the connection that expects it?
 * @hello: the request, which has passed all other checks
 * @heard: what the connection has heard. NULL without a key: nothing is remembered then, because
 *	any node could name a nonce that no later one exceeds
 * @addr: where the peer listens
 * @from: where the request comes from
 *
 * Return: 0, or enum spindle_refusal
 */
u32 spindle_hello_admitted(const struct spindle_hello *hello, struct spindle_heard *heard,
			   const struct spindle_addr *addr, const struct spindle_addr *from)
{
	if (!same_host(addr, from))
		return SPINDLE_REFUSE_ADDRESS;
	return heard && is_again(heard, hello) ? SPINDLE_REFUSE_AGAIN : 0;
}

/**
 * spindle_hello_other() - is a node of another lineage or era?
 * @hello: what the node says
 * @door: of the view
 *
 * A node that has no lineage yet may take on this one. A node that joins compares the whole era
 * with the card, see spindle_card_admits().
 *
 * Return: 0, or enum spindle_refusal
 */
u32 spindle_hello_other(const struct spindle_hello *hello,
			const struct spindle_hello_door *door)
{
	bool joins = hello->flags & (SPINDLE_HELLO_F_ASK | SPINDLE_HELLO_F_JOIN);
	u32 mark = le32_to_cpu(hello->lineage);

	if (!door->bytes || !mark)
		return 0;
	if ((mark ^ door->mark) & ~SPINDLE_MARK_ERA)
		return SPINDLE_REFUSE_LINEAGE;
	return mark != door->mark && !joins ? SPINDLE_REFUSE_ERA : 0;
}

/**
 * spindle_hello_asks() - which part of the card, or of the rules, does a question get?
 * @hello: the question; it means this node
 * @door: of the view
 * @room: bytes in an answer
 * @at: out: where the part begins
 * @len: out: bytes, from 1 to @room
 *
 * Return: 0, or enum spindle_refusal
 */
u32 spindle_hello_asks(const struct spindle_hello *hello, const struct spindle_hello_door *door,
		       u32 room, u32 *at, u32 *len)
{
	u32 bytes = hello->flags & SPINDLE_HELLO_F_RULES ? door->rules : door->bytes;
	u64 from = le64_to_cpu(hello->incarnation);
	u32 other = spindle_hello_other(hello, door);

	if (!door->bytes)
		return SPINDLE_REFUSE_NO_VIEW;
	if (other)
		return other;
	if (!bytes)
		return SPINDLE_REFUSE_NO_RULES;
	if (from >= bytes)
		return SPINDLE_REFUSE_NOT_SPINDLE;
	*at = from;
	*len = min_t(u32, bytes - *at, room);
	return 0;
}

/**
 * spindle_hello_knocks() - may a node have a seat?
 * @hello: its request; it means this node, and no connection expects it
 * @door: of the view
 * @from: where the request comes from; out: with the port where the node listens
 *
 * Return: 0, or enum spindle_refusal
 */
u32 spindle_hello_knocks(const struct spindle_hello *hello,
			 const struct spindle_hello_door *door, struct spindle_addr *from)
{
	u32 id = le32_to_cpu(hello->src), other = spindle_hello_other(hello, door), i;

	if (!door->bytes)
		return SPINDLE_REFUSE_NO_VIEW;
	from->port = le16_to_cpu(hello->port);
	if (!id || !hello->incarnation || !from->family || !from->port)
		return SPINDLE_REFUSE_NOT_SPINDLE;
	if (other)
		return other;
	for (i = 0; i < door->ids; i++)
		if (door->id[i] == id)
			return SPINDLE_REFUSE_MEMBER;
	if (hello->digest != cpu_to_le64(door->digest))
		return SPINDLE_REFUSE_VIEW;
	return door->ids < door->max ? 0 : SPINDLE_REFUSE_FULL;
}
