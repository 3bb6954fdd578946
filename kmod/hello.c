// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hello: the private data with which two nodes introduce themselves. See hello.h.
 */
#include "group.h"
#include "hello.h"
#include "node.h"
#include "peer.h"

/**
 * spindle_hello_fill() - introduce ourselves to a peer
 * @hello: out
 * @peer: the peer
 */
void spindle_hello_fill(struct spindle_hello *hello, const struct spindle_peer *peer)
{
	const struct spindle_node *node = peer->group->node;

	memset(hello, 0, sizeof(*hello));
	hello->magic = cpu_to_le32(SPINDLE_HELLO_MAGIC);
	hello->version = cpu_to_le16(SPINDLE_PROTOCOL);
	hello->flags = cpu_to_le16(node->imm ? SPINDLE_HELLO_F_IMM : 0);
	hello->src = cpu_to_le32(node->id);
	hello->dst = cpu_to_le32(peer->id);
	hello->incarnation = cpu_to_le64(node->incarnation);
	hello->digest = cpu_to_le64(peer->group->digest);
	memcpy(hello->cluster, node->cluster, sizeof(hello->cluster));
}

/**
 * spindle_hello_check_node() - does the sender of a hello mean this node?
 * @hello: a private copy of what was received
 * @node: the node
 *
 * Return: 0, or enum spindle_refusal
 */
u32 spindle_hello_check_node(const struct spindle_hello *hello,
			     const struct spindle_node *node)
{
	if (hello->magic != cpu_to_le32(SPINDLE_HELLO_MAGIC))
		return SPINDLE_REFUSE_NOT_SPINDLE;
	if (hello->version != cpu_to_le16(SPINDLE_PROTOCOL))
		return SPINDLE_REFUSE_VERSION;
	if (memcmp(hello->cluster, node->cluster, sizeof(hello->cluster)))
		return SPINDLE_REFUSE_CLUSTER;
	if (hello->dst != cpu_to_le32(node->id))
		return SPINDLE_REFUSE_DESTINATION;
	return 0;
}

/**
 * spindle_hello_check() - is this the peer that we expect?
 * @hello: a private copy of what was received
 * @peer: the peer
 *
 * Return: 0, or enum spindle_refusal
 */
u32 spindle_hello_check(const struct spindle_hello *hello, const struct spindle_peer *peer)
{
	u32 refusal = spindle_hello_check_node(hello, peer->group->node);

	if (refusal)
		return refusal;
	if (hello->src != cpu_to_le32(peer->id))
		return SPINDLE_REFUSE_UNKNOWN;
	if (hello->digest != cpu_to_le64(peer->group->digest))
		return SPINDLE_REFUSE_VIEW;
	return 0;
}

/**
 * spindle_refusal_text() - a refusal in words
 * @code: as received: any value
 *
 * Return: a constant string
 */
const char *spindle_refusal_text(u32 code)
{
	switch (code) {
	case SPINDLE_REJECT_BUSY:
		return "refused: busy with another connection of this peer";
	case SPINDLE_REJECT_RETRIES:
		return "refused: asks for retries without end";
	case SPINDLE_REFUSE_NOT_SPINDLE:
		return "refused: not a spindle peer";
	case SPINDLE_REFUSE_VERSION:
		return "refused: another protocol version";
	case SPINDLE_REFUSE_CLUSTER:
		return "refused: another cluster";
	case SPINDLE_REFUSE_DESTINATION:
		return "refused: another node listens there";
	case SPINDLE_REFUSE_UNKNOWN:
		return "refused: we are not in the peer's view";
	case SPINDLE_REFUSE_VIEW:
		return "refused: the peer has another view";
	case SPINDLE_REFUSE_DIRECTION:
		return "refused: the lower id connects";
	default:
		return "refused";
	}
}
