// SPDX-License-Identifier: GPL-2.0-only
/*
 * Hello: the private data with which two nodes introduce themselves. See hello.h.
 */
#include <linux/in.h>
#include <linux/in6.h>
#include <linux/random.h>

#include "core/membership/card.h"
#include "hello.h"
#include "installed.h"
#include "node.h"
#include "peer.h"

static struct spindle_hello_self self_of(const struct spindle_node *node)
{
	return (struct spindle_hello_self){
		.id = node->id,
		.cluster = spindle_hello_cluster(node->cluster),
		.incarnation = node->incarnation,
		.port = node->addr.port,
		.imm = node->imm,
	};
}

/**
 * spindle_hello_node() - introduce ourselves, without a destination
 * @hello: out
 * @node: the node
 */
void spindle_hello_node(struct spindle_hello *hello, const struct spindle_node *node)
{
	const struct spindle_hello_self self = self_of(node);

	spindle_hello_make(hello, &self);
}

/**
 * spindle_hello_seal() - complete a request: set nonce and tag
 * @hello: the request; all other fields are set
 * @node: the node that sends it
 * @age: the key for the tag
 *
 * Nonces of a node grow, so that the receiver can recognize a request that was replayed.
 */
void spindle_hello_seal(struct spindle_hello *hello, struct spindle_node *node,
			enum spindle_key_age age)
{
	hello->nonce = cpu_to_le64(atomic64_inc_return(&node->nonce));
	spindle_key_tag(&node->key, age, (u8 *)hello);
}

/**
 * spindle_hello_fill() - introduce ourselves to a peer
 * @hello: out; not sealed
 * @peer: the peer
 */
void spindle_hello_fill(struct spindle_hello *hello, const struct spindle_peer *peer)
{
	spindle_hello_node(hello, peer->inst->node);
	if (peer->inst->mg.me == SPINDLE_NO_RANK)
		hello->flags |= SPINDLE_HELLO_F_JOIN;
	hello->dst = cpu_to_le32(peer->id);
	hello->digest = cpu_to_le64(peer->digest);
	if (peer->inst->live)
		hello->lineage =
			cpu_to_le32(spindle_lineage_mark(peer->inst->lineage));
}

static bool is_tagged(void *ctx, const struct spindle_hello *hello)
{
	struct spindle_node *node = ctx;

	return spindle_key_tagged(&node->key, (const u8 *)hello);
}

/**
 * spindle_hello_check_node() - is a request addressed to this node, and tagged with its key?
 * @hello: a private copy of the received request
 * @node: the node
 *
 * Return: 0, or enum spindle_refusal
 */
u32 spindle_hello_check_node(const struct spindle_hello *hello, struct spindle_node *node)
{
	const struct spindle_hello_self self = self_of(node);

	return spindle_hello_meant(hello, &self, is_tagged, node);
}

/**
 * spindle_hello_check() - is this the peer that we expect?
 * @hello: a private copy of the received hello; it is addressed to this node
 * @peer: the peer
 *
 * Return: 0, or enum spindle_refusal
 */
u32 spindle_hello_check(const struct spindle_hello *hello, const struct spindle_peer *peer)
{
	const struct spindle_hello_peer expected = {
		.id = peer->id,
		.digest = peer->digest,
		.incarnation = peer->expected,
	};

	return spindle_hello_expected(hello, &expected);
}

/**
 * spindle_hello_where() - the host that a request comes from
 * @addr: out: the address; the port is 0, because the source port of a request has no meaning
 * @from: from rdma_cm
 *
 * Return: false if the address family is neither IPv4 nor IPv6
 */
bool spindle_hello_where(struct spindle_addr *addr, const struct sockaddr_storage *from)
{
	memset(addr, 0, sizeof(*addr));
	if (from->ss_family == AF_INET) {
		addr->family = 4;
		memcpy(addr->ip, &((const struct sockaddr_in *)from)->sin_addr, 4);
	} else if (from->ss_family == AF_INET6) {
		addr->family = 6;
		memcpy(addr->ip, &((const struct sockaddr_in6 *)from)->sin6_addr, 16);
	}
	return addr->family;
}

/**
 * spindle_hello_admit() - may a request have the connection that expects it?
 * @hello: the request; it passed spindle_hello_check() or the like
 * @node: the node
 * @heard: earlier requests for the connection
 * @addr: address of the peer
 * @from: source address of the request
 *
 * Context: the endpoint's lock.
 * Return: 0, or enum spindle_refusal
 */
u32 spindle_hello_admit(const struct spindle_hello *hello, const struct spindle_node *node,
			struct spindle_heard *heard, const struct spindle_addr *addr,
			const struct sockaddr_storage *from)
{
	bool key = spindle_key_given(&node->key);
	struct spindle_addr host;

	lockdep_assert_held(&node->ep.lock);
	spindle_hello_where(&host, from);
	return spindle_hello_admitted(hello, key ? heard : NULL, addr, &host);
}

/* The hello was right, but the proof is not: the sender may have replayed another node's hello. */
static int not_proven(struct spindle_node *node, u32 id)
{
	spindle_refused_it(node, id, SPINDLE_REFUSE_KEY, false);
	return -EKEYREJECTED;
}

/*
 * While the key of a group is being changed, some nodes have the new key and others do not. The
 * dialling node has to try both: every other attempt uses the former key, as long as there is
 * one.
 */
static enum spindle_key_age age_of(const struct spindle_conn *conn)
{
	return conn->attempts & 1 ? SPINDLE_KEY_PRESENT : SPINDLE_KEY_FORMER;
}

/**
 * spindle_hello_greet() - complete the hello of a connection
 * @node: the node
 * @conn: the connection
 * @reply: in: our hello, not sealed; out: a sealed request, or an answer with its proof
 *
 * The hello of an answer has no tag, so that it cannot be replayed as a request. The proof covers
 * this hello.
 *
 * Return: bytes of @reply to send
 */
u8 spindle_hello_greet(struct spindle_node *node, const struct spindle_conn *conn,
		       struct spindle_reply *reply)
{
	if (conn->cfg.active) {
		spindle_hello_seal(&reply->hello, node, age_of(conn));
		return sizeof(reply->hello);
	}
	reply->hello.nonce = cpu_to_le64(get_random_u64());
	/* The request that claimed the connection was checked, so @greeting holds a hello. */
	spindle_key_prove(&node->key, SPINDLE_PROOF_ANSWER, conn->greeting, &reply->hello,
			  sizeof(reply->hello), reply->proof);
	return sizeof(*reply);
}

/**
 * spindle_hello_answered() - check the hello of the other end
 * @node: the node
 * @id: node id that is expected at the other end
 * @conn: the connection
 * @data: private data that the other end sent
 * @len: bytes of @data
 * @reply: out: a copy; its hello is addressed to this node, but its sender is not checked yet
 *
 * On the passive side this only copies, because the request was checked before it claimed the
 * connection.
 *
 * Return: 0; -EPROTO, -EKEYREJECTED
 */
int spindle_hello_answered(struct spindle_node *node, u32 id, const struct spindle_conn *conn,
			   const void *data, u8 len, struct spindle_reply *reply)
{
	const struct spindle_hello_self self = self_of(node);

	memset(reply, 0, sizeof(*reply));
	if (len < sizeof(reply->hello))
		return -EPROTO;
	memcpy(reply, data, min_t(u8, len, sizeof(*reply)));
	if (!conn->cfg.active)
		return 0;
	if (spindle_key_given(&node->key) &&
	    !spindle_key_proven(&node->key, SPINDLE_PROOF_ANSWER, conn->said, &reply->hello,
				sizeof(reply->hello), reply->proof, sizeof(reply->proof)))
		return not_proven(node, id);
	return spindle_hello_answers(&reply->hello, &self) ? 0 : -EPROTO;
}

/**
 * spindle_hello_prove() - make the proof of the dialling side
 * @node: the node
 * @conn: the connection
 * @proof: out
 *
 * The proof covers both hellos, and so the nonces of both sides.
 */
void spindle_hello_prove(struct spindle_node *node, const struct spindle_conn *conn,
			 u8 proof[SPINDLE_RIGHTS_LEN])
{
	spindle_key_prove(&node->key, SPINDLE_PROOF_RIGHTS, conn->said, conn->greeting,
			  sizeof(struct spindle_hello), proof);
}

/**
 * spindle_hello_proven() - check the proof of the dialling side
 * @node: the node
 * @id: node id of the dialling side
 * @conn: the connection
 * @proof: the proof that it sent
 *
 * Return: 0 or -EKEYREJECTED
 */
int spindle_hello_proven(struct spindle_node *node, u32 id, const struct spindle_conn *conn,
			 const u8 proof[SPINDLE_RIGHTS_LEN])
{
	if (!spindle_key_given(&node->key) ||
	    spindle_key_proven(&node->key, SPINDLE_PROOF_RIGHTS, conn->greeting, conn->said,
			       sizeof(struct spindle_hello), proof, SPINDLE_RIGHTS_LEN))
		return 0;
	return not_proven(node, id);
}
