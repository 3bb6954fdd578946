// SPDX-License-Identifier: GPL-2.0-only
/*
 * Peers: callbacks of connections and of the endpoint. See peer.h.
 */
#include "above.h"
#include "base/engine.h"
#include "fetch.h"
#include "hello.h"
#include "installed.h"
#include "node.h"
#include "peer.h"

/* ---- callbacks of the connection -------------------------------------- */

static struct spindle_peer *conn_peer(struct spindle_conn *conn)
{
	return container_of(conn, struct spindle_peer, conn);
}

static u8 peer_greet(struct spindle_conn *conn, void *data)
{
	struct spindle_peer *peer = conn_peer(conn);
	struct spindle_reply *reply = data;

	spindle_hello_fill(&reply->hello, peer);
	return spindle_hello_greet(peer->inst->node, conn, reply);
}

/*
 * A late failure of an earlier attempt may have left data of the peer's last incarnation in the
 * row. So the row is cleared before the peer gets a right to it. With a key, this is done after
 * the dialling side has proved that it has the key, because clearing a large row takes time.
 */
static void clear_row(struct spindle_peer *peer)
{
	memset(peer->row.mem.va, 0, peer->in.size);
	memset(peer->vouch, 0, sizeof(peer->vouch));
	peer->vouch_state = 0;
}

static int peer_greeted(struct spindle_conn *conn, const void *data, u8 len)
{
	struct spindle_peer *peer = conn_peer(conn);
	struct spindle_reply reply;
	int err = spindle_hello_answered(peer->inst->node, peer->id, conn, data, len, &reply);

	if (err)
		return err;
	if (spindle_hello_check(&reply.hello, peer))
		return -EPROTO;
	peer->needs_imm = reply.hello.flags & SPINDLE_HELLO_F_IMM;
	peer->incarnation = le64_to_cpu(reply.hello.incarnation);
	/* An answer comes with its proof. A request does not, so peer_proven() clears the row. */
	if (conn->cfg.active || !conn->cfg.secret)
		clear_row(peer);
	return 0;
}

static void peer_prove(struct spindle_conn *conn, u8 proof[SPINDLE_RIGHTS_LEN])
{
	spindle_hello_prove(conn_peer(conn)->inst->node, conn, proof);
}

static int peer_proven(struct spindle_conn *conn, const u8 proof[SPINDLE_RIGHTS_LEN])
{
	struct spindle_peer *peer = conn_peer(conn);
	int err = spindle_hello_proven(peer->inst->node, peer->id, conn, proof);

	/* Without a key, rights are given before this, see spindle_setup_run(). */
	if (!err && conn->cfg.secret)
		clear_row(peer);
	return err;
}

static void peer_up(struct spindle_conn *conn)
{
	struct spindle_peer *peer = conn_peer(conn);

	spindle_refusal_over(peer);
	/* Pairs with the acquire in spindle_peer_watch(): the engine owns the queue pair now. */
	smp_store_release(&peer->came_up, 1);
	spindle_engine_wake(peer->inst->node->engine);
}

static void peer_down(struct spindle_conn *conn)
{
	struct spindle_peer *peer = conn_peer(conn);

	/* Pairs with the acquire in spindle_peer_watch(): the reason is set. */
	smp_store_release(&peer->went_down, 1);
	spindle_engine_wake(peer->inst->node->engine);
}

static void peer_imm(struct spindle_conn *conn, u32 imm)
{
	struct spindle_peer *peer = conn_peer(conn);
	struct spindle_engine *engine = peer->inst->node->engine;
	u32 index = imm >> SPINDLE_IMM_SHIFT;

	if (index < SPINDLE_MAX_SUBGROUPS) {
		/* Pairs with the acquire in core/multicast/receive.c: the writes are visible. */
		smp_store_release(&peer->vouch[index], imm & SPINDLE_IMM_SLOTS);
	} else if (index == SPINDLE_IMM_STATE) {
		/* Pairs with the acquire in core/membership/suspect.c. */
		smp_store_release(&peer->vouch_state, imm & SPINDLE_IMM_SLOTS);
	}
	if (spindle_engine_wake(engine))
		atomic64_inc(&engine->stats.bells);
}

static const char *peer_refused(struct spindle_conn *conn, u32 code)
{
	spindle_refused_us(conn_peer(conn), code);
	return spindle_refusal_text(code);
}

const struct spindle_conn_ops spindle_peer_conn_ops = {
	.greet = peer_greet,
	.greeted = peer_greeted,
	.prove = peer_prove,
	.proven = peer_proven,
	.up = peer_up,
	.down = peer_down,
	.imm = peer_imm,
	.refused = peer_refused,
};

/* ---- callbacks of the endpoint ---------------------------------------- */

/* Find the connection of the peer that a request is from. */
static u32 find_conn(struct spindle_endpoint *ep, const struct spindle_hello *hello,
		     const struct sockaddr_storage *from, struct spindle_conn **found)
{
	u32 refusal = SPINDLE_REFUSE_UNKNOWN;
	struct spindle_conn *conn;

	list_for_each_entry(conn, &ep->conns, list) {
		struct spindle_peer *peer = conn_peer(conn);

		if (conn->cfg.bulk || conn->cfg.read)
			continue;
		/* The last incarnation of the node may still have a seat: skip that. */
		if (hello->src != cpu_to_le32(peer->id) ||
		    READ_ONCE(conn->state) >= SPINDLE_CONN_FAILED)
			continue;
		/*
		 * A stale seat of a node that never became a member must not block the node's next
		 * incarnation, so skip it. A peer without an expected incarnation is a founding
		 * member, and does not match join requests.
		 */
		if ((hello->flags & SPINDLE_HELLO_F_JOIN) &&
		    (!peer->expected || hello->incarnation != cpu_to_le64(peer->expected)))
			continue;
		refusal = conn->cfg.active ? SPINDLE_REFUSE_DIRECTION :
					     spindle_hello_check(hello, peer);
		if (!refusal)
			refusal = spindle_hello_admit(hello, peer->inst->node, &peer->heard,
						      &peer->addr, from);
		if (!refusal) {
			*found = conn;
			break;
		}
	}
	return refusal;
}

static struct spindle_conn *endpoint_match(struct spindle_endpoint *ep,
					   const struct sockaddr_storage *from, const void *data,
					   u8 len, struct spindle_reject *reject)
{
	struct spindle_node *node = container_of(ep, struct spindle_node, ep);
	u32 refusal = SPINDLE_REFUSE_NOT_SPINDLE;
	struct spindle_conn *conn = NULL;
	struct spindle_hello hello;

	lockdep_assert_held(&ep->lock);
	if (len >= sizeof(hello)) {
		memcpy(&hello, data, sizeof(hello));
		refusal = spindle_hello_check_node(&hello, node);
	}
	if (!refusal && (hello.flags & SPINDLE_HELLO_F_ASK)) {
		refusal = spindle_membership->answer(node->door, &node->key, &hello, reject);
		if (refusal == SPINDLE_REFUSE_NO_VIEW && node->begins)
			refusal = SPINDLE_REFUSE_BEGINS;
	} else if (!refusal && (hello.flags & SPINDLE_HELLO_F_BULK)) {
		refusal = spindle_transfer->match(ep, &hello, from, &conn);
	} else if (!refusal && (hello.flags & SPINDLE_HELLO_F_READ)) {
		refusal = spindle_fetch_match(ep, &hello, from, &conn);
	} else if (!refusal) {
		refusal = find_conn(ep, &hello, from, &conn);
		if (refusal == SPINDLE_REFUSE_UNKNOWN && (hello.flags & SPINDLE_HELLO_F_JOIN))
			refusal = spindle_membership->knock(node->door, &hello, from);
		/* A digest cannot show another lineage, because it covers members, too. */
		if (refusal == SPINDLE_REFUSE_UNKNOWN || refusal == SPINDLE_REFUSE_VIEW)
			refusal = spindle_membership->other(node->door, &hello) ?: refusal;
	}
	reject->code = cpu_to_be32(refusal);
	return conn;
}

static void endpoint_refused(struct spindle_endpoint *ep, const void *data, u8 len,
			     const struct spindle_reject *reject)
{
	u32 code = be32_to_cpu(reject->code);
	struct spindle_node *node = container_of(ep, struct spindle_node, ep);
	struct spindle_hello hello;
	u32 peer = 0;

	if (len >= sizeof(hello) && code != SPINDLE_REFUSE_NOT_SPINDLE) {
		memcpy(&hello, data, sizeof(hello));
		peer = le32_to_cpu(hello.src);
		/* The peer has created a group or table before this node, and will dial again. */
		if ((hello.flags & (SPINDLE_HELLO_F_BULK | SPINDLE_HELLO_F_READ)) &&
		    code == SPINDLE_REFUSE_UNKNOWN)
			return;
	}
	/* The next attempt resolves BUSY, of a knock or of an attempt that is not over yet. */
	spindle_refused_it(node, peer, code, code == SPINDLE_REJECT_BUSY && !reject->taken);
}

const struct spindle_endpoint_ops spindle_peer_endpoint_ops = {
	.match = endpoint_match,
	.refused = endpoint_refused,
};
