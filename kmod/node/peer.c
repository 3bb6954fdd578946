// SPDX-License-Identifier: GPL-2.0-only
/*
 * Peers: the connection to another member, and its row in our memory. See peer.h.
 *
 * The doorbell. Where memory is polled no event wakes a sleeping engine when a peer writes. So an
 * engine that goes to sleep tells its peers (sleep column, odd). A peer that knows this sends its
 * next guard with immediate data, and the completion wakes the sleeper. Both may act at the same
 * time. Therefore each node counts a debt: it has sent guards without a doorbell since its last
 * doorbell. The node pays the debt with a doorbell
 *	- when it reads that the peer has gone to sleep, and
 *	- before it goes to sleep itself, because then it would not read that.
 * An engine that woke up only tells its peers after it has been busy for a while. Until then they
 * ring too often, which is harmless.
 */
#include <linux/ktime.h>
#include <linux/slab.h>

#include "above.h"
#include "base/addr.h"
#include "base/engine.h"
#include "base/states.h"
#include "base/trace.h"
#include "core/membership/rules.h"
#include "event.h"
#include "fabric/post.h"
#include "hello.h"
#include "installed.h"
#include "node.h"
#include "peer.h"
#include "subgroup.h"

/* Completions are polled when room gets short, and every POLL_PASSES passes to find errors. */
#define POLL_ROOM	(SPINDLE_SQ_DEPTH / 2)
#define POLL_PASSES	64
/* Passes with writes to a peer, without sleep, after which the peer is told that we are awake. */
#define AWAKE_PASSES	8

static_assert(SPINDLE_PUSH_RANGE <= SPINDLE_POST_BYTES);
static_assert(SPINDLE_MAX_LARGE <= SPINDLE_POST_BYTES);

#define IMM_NODE	(SPINDLE_IMM_NODE << SPINDLE_IMM_SHIFT)
#define NO_IMM		U32_MAX

/* ---- life ------------------------------------------------------------- */

/**
 * spindle_peer_create() - allocate a peer and its row
 * @inst: the installed view that it belongs to
 * @seat: a free seat, into which the caller puts the peer
 * @who: id and address
 * @digest: digest of the view for which the nodes connect
 *
 * Context: process, the namespace's lock.
 * Return: the peer, or NULL if there is no memory
 */
struct spindle_peer *spindle_peer_create(struct spindle_installed *inst, u32 seat,
					 const struct spindle_view_member *who, u64 digest)
{
	struct spindle_peer *peer = kvzalloc(sizeof(*peer), GFP_KERNEL_ACCOUNT);
	struct spindle_node *node = inst->node;

	lockdep_assert_held(&inst->node->sn->lock);
	if (!peer)
		return NULL;
	peer->inst = inst;
	peer->id = who->id;
	peer->addr = who->addr;
	peer->seat = seat;
	peer->rank = SPINDLE_NO_RANK;
	peer->digest = digest;
	peer->since = ktime_get_ns();
	/* spindle_conn_fail() may be called before spindle_peer_start(). */
	spindle_conn_init(&peer->conn);
	if (inst->live) {
		spindle_rules_row(&peer->in, inst->rules, peer->id, node->id);
		spindle_rules_row(&peer->out, inst->rules, node->id, peer->id);
	} else {
		spindle_layout_row(&peer->in, &inst->view, seat, inst->mg.me);
		spindle_layout_row(&peer->out, &inst->view, inst->mg.me, seat);
	}
	if (!spindle_payer_row(&node->payer, &peer->row, node->ep.ib, peer->in.size))
		return peer;
	spindle_peer_destroy(peer);
	return NULL;
}

/**
 * spindle_peer_row() - address and layout of a row
 * @inst: the installed view
 * @peer: owner of the row; NULL: this node
 *
 * Return: the row as core/ uses it
 */
struct spindle_row spindle_peer_row(struct spindle_installed *inst, struct spindle_peer *peer)
{
	if (!peer)
		return (struct spindle_row){ .base = inst->row.mem.va, .in = &inst->layout };
	return (struct spindle_row){
		.base = peer->row.mem.va,
		.in = &peer->in,
		.out = &peer->out,
		.vouch = inst->node->imm ? peer->vouch : NULL,
		.done = &peer->conn.retired,
	};
}

/* A joining node dials all members. Of two members the one with the lower id dials. */
static bool dials(const struct spindle_peer *peer)
{
	const struct spindle_installed *inst = peer->inst;

	return peer->rank != SPINDLE_NO_RANK &&
	       (inst->mg.me == SPINDLE_NO_RANK || inst->node->id < peer->id);
}

/*
 * Soft-RoCE restarts its timer with each write, so the time is shorter than the interval of
 * heartbeats, which is a tenth of the view's timeout. It is as long as possible otherwise, because
 * on a machine that cannot keep up, each repetition is more work.
 */
static u32 ack_ms(const struct spindle_installed *inst)
{
	return max(inst->rules->timeout_ms / 40, 1U);
}

/**
 * spindle_peer_start() - start connecting to a peer, or waiting for it
 * @peer: created, in an installed view that is complete
 */
void spindle_peer_start(struct spindle_peer *peer)
{
	const struct spindle_installed *inst = peer->inst;
	struct spindle_node *node = inst->node;
	struct spindle_conn_config cfg = {
		.ep = &node->ep,
		.net = node->net,
		.ops = &spindle_peer_conn_ops,
		.active = dials(peer),
		.patient = inst->live,
		.ack_ms = inst->live ? ack_ms(inst) : 0,
		.secret = spindle_key_given(&node->key),
		.in = &peer->row,
		.own = &inst->row,
		.remote_bytes = peer->out.size,
	};
	struct spindle_addr src = node->addr;

	src.port = 0;
	spindle_sockaddr(&cfg.src, &src);
	spindle_sockaddr(&cfg.dst, &peer->addr);
	spindle_conn_open(&peer->conn, &cfg);
}

/* May a stream of large messages still accuse the peer? */
static bool may_be_accused(const struct spindle_peer *peer)
{
	struct spindle_subgroup *sg;
	u32 i;

	if (peer->rank == SPINDLE_NO_RANK)
		return false;
	for (i = 0; (sg = spindle_installed_subgroup(peer->inst, &i)); i++)
		if (sg->streams && (sg->peers & BIT_ULL(peer->rank)))
			return true;
	return false;
}

/**
 * spindle_peer_destroy() - disconnect and free a peer
 * @peer: created, or half created, or NULL; the engine does not use it any more. If it is a member,
 *	the subgroups that have streams with it are freed already
 */
void spindle_peer_destroy(struct spindle_peer *peer)
{
	if (!peer)
		return;
	WARN_ON_ONCE(may_be_accused(peer));
	if (peer->conn.cfg.ep)
		spindle_conn_close(&peer->conn);
	spindle_payer_row_free(&peer->inst->node->payer, &peer->row);
	kvfree(peer);
}

/**
 * spindle_peer_state() - state of a connection for people
 * @conn: the connection
 *
 * Return: enum spindle_peer_state
 */
u8 spindle_peer_state(const struct spindle_conn *conn)
{
	switch (READ_ONCE(conn->state)) {
	case SPINDLE_CONN_IDLE:
	case SPINDLE_CONN_CONNECTING:
		return SPINDLE_PEER_CONNECTING;
	case SPINDLE_CONN_SETUP:
		return SPINDLE_PEER_SETUP;
	case SPINDLE_CONN_UP:
		return SPINDLE_PEER_UP;
	default:
		return SPINDLE_PEER_FAILED;
	}
}

/**
 * spindle_peer_why() - why the connection to a peer is not up, for people
 * @peer: the peer
 *
 * A node that waits to be dialled has no error of its own. If it has refused a request with the
 * id of the peer, this returns that refusal.
 *
 * Return: a constant string, or NULL
 */
const char *spindle_peer_why(const struct spindle_peer *peer)
{
	u32 refusal = READ_ONCE(peer->refusal);

	if (refusal && !peer->conn.cfg.active &&
	    spindle_peer_state(&peer->conn) != SPINDLE_PEER_UP)
		return spindle_refusal_text(refusal);
	return READ_ONCE(peer->conn.reason);
}

/* ---- engine ----------------------------------------------------------- */

/**
 * spindle_peer_blame() - give up a peer that broke the protocol
 * @peer: the peer
 * @how: how it did, for people: a constant string
 */
void spindle_peer_blame(struct spindle_peer *peer, const char *how)
{
	spindle_engine_assert(peer->inst->node->engine);
	peer->cause = SPINDLE_ERR_PEER_PROTOCOL;
	spindle_conn_fail(&peer->conn, how);
}

/* Change the phase; no other function does. Returns false if the change is not legal. */
static bool enter_phase(struct spindle_peer *peer, enum spindle_peer_phase to)
{
	static const u8 from[] = {
		/* No phase leads back to AWAITED: writes to a peer that was lost are lost. */
		[SPINDLE_PEER_JOINED] = BIT(SPINDLE_PEER_AWAITED),
		/* Only a peer that is connected can read that it departs. */
		[SPINDLE_PEER_PARTING] = BIT(SPINDLE_PEER_JOINED),
		/* The loss of a peer that parts is no loss, but the end of its departure. */
		[SPINDLE_PEER_LOST] = BIT(SPINDLE_PEER_JOINED),
		[SPINDLE_PEER_DEPARTED] = BIT(SPINDLE_PEER_AWAITED) | BIT(SPINDLE_PEER_PARTING) |
					  BIT(SPINDLE_PEER_LOST),
	};

	if (!spindle_may(from, peer->phase, to))
		return false;
	WRITE_ONCE(peer->phase, to);
	return true;
}

/**
 * spindle_peer_depart() - the new view does not have this peer, which was a member of the old one
 * @peer: the peer
 */
void spindle_peer_depart(struct spindle_peer *peer)
{
	spindle_engine_assert(peer->inst->node->engine);
	if (!enter_phase(peer, SPINDLE_PEER_PARTING))
		enter_phase(peer, SPINDLE_PEER_DEPARTED);
	peer->rank = SPINDLE_NO_RANK;
	peer->since = ktime_get_ns();
}

static void join(struct spindle_peer *peer)
{
	enter_phase(peer, SPINDLE_PEER_JOINED);
	spindle_event(peer->inst->node, SPINDLE_EVENT_PEER_UP,
		      &(struct spindle_event_info){ .peer = peer->id });
}

static void give_up(struct spindle_peer *peer)
{
	struct spindle_installed *inst = peer->inst;
	struct spindle_event_info info = {
		.peer = peer->id,
		.error = peer->cause ? peer->cause : SPINDLE_ERR_PEER_LOST,
	};

	/* If a write has failed, its completion sets the most precise reason. */
	spindle_post_poll(&peer->conn);
	info.reason = READ_ONCE(peer->conn.reason);
	peer->cause = info.error;
	if (enter_phase(peer, SPINDLE_PEER_LOST))
		spindle_event(inst->node, SPINDLE_EVENT_PEER_DOWN, &info);
	else
		enter_phase(peer, SPINDLE_PEER_DEPARTED);
	if (inst->live) {
		spindle_membership->lost(inst->live, peer);
		return;
	}
	inst->lost |= BIT_ULL(peer->rank);
	inst->peer_ops->lost(inst, BIT_ULL(peer->rank) | BIT_ULL(inst->mg.me), peer->cause,
			     info.reason);
	spindle_transfer->lost(inst->node, peer->id);
}

/*
 * Handle the mask of members that the peer has lost. This can only end subgroups that have the
 * peer as a member, and the peer could end those anyway. Then write to each lost member, to learn
 * whether it is dead: when subgroups have ended there may be no other write to it.
 */
static void hear_of_losses(struct spindle_peer *peer, u64 lost)
{
	struct spindle_installed *inst = peer->inst;
	u32 r;

	for (r = 0; r < inst->view.num_members; r++) {
		if (!(lost & ~peer->told_lost & BIT_ULL(r)))
			continue;
		inst->peer_ops->lost(inst, BIT_ULL(peer->rank) | BIT_ULL(r),
				     SPINDLE_ERR_PEER_LOST, "two members have lost each other");
		if (inst->peer[r])
			inst->peer[r]->probe = true;
	}
	peer->told_lost |= lost;
}

/* Returns true if there was, or may be, something new. */
static bool read_node_block(struct spindle_peer *peer)
{
	const struct spindle_block *block = peer->row.mem.va + SPINDLE_NODE_BLOCK;
	u64 word[SPINDLE_BLOCK_WORDS];

	switch (spindle_block_read(block, &peer->seal, word)) {
	case SPINDLE_READ_TORN:
		spindle_count(&peer->torn, 1);
		if (++peer->torn_run > SPINDLE_MAX_TORN)
			spindle_peer_blame(peer, SPINDLE_NOT_LEGAL);
		return true;
	case SPINDLE_READ_NEW:
		peer->torn_run = 0;
		peer->asleep = word[SPINDLE_NODE_COL_SLEEP] & 1;
		/* Pairs with the READ_ONCE() of a join, which is no part of the engine. */
		WRITE_ONCE(peer->ready, word[SPINDLE_NODE_COL_READY]);
		if (!peer->inst->live)
			hear_of_losses(peer, word[SPINDLE_NODE_COL_LOST]);
		return true;
	case SPINDLE_READ_SAME:
		break;
	}
	return false;
}

/*
 * If guards are only valid after a completion, the device may even reorder two writes of the same
 * block, and the older one could remain. So post the next guards when the last ones have been
 * acknowledged. Everything that is ready by then goes with them.
 */
static bool guards_under_way(const struct spindle_peer *peer)
{
	return peer->needs_imm && !spindle_post_idle(&peer->conn);
}

/**
 * spindle_peer_watch() - check a peer's connection and its node block
 * @peer: the peer
 *
 * Return: true if something has changed
 */
bool spindle_peer_watch(struct spindle_peer *peer)
{
	spindle_engine_assert(peer->inst->node->engine);
	/* Pairs with the release in peer_up(). */
	if (peer->phase == SPINDLE_PEER_AWAITED && smp_load_acquire(&peer->came_up))
		join(peer);
	if (!spindle_peer_joined(peer))
		return false;
	if (spindle_post_room(&peer->conn) < POLL_ROOM ||
	    peer->inst->mg.passes % POLL_PASSES == 0 || guards_under_way(peer))
		spindle_post_poll(&peer->conn);
	/* Pairs with the release in peer_down(). */
	if (smp_load_acquire(&peer->went_down)) {
		give_up(peer);
		return true;
	}
	return read_node_block(peer);
}

static u64 ready_for(const struct spindle_peer *peer)
{
	return peer->inst->live ? spindle_membership->ready(peer->inst->live, peer) : 0;
}

/* Does the node block have columns that the peer does not know yet? */
static bool has_news(const struct spindle_peer *peer)
{
	return peer->probe || peer->told.word[SPINDLE_NODE_COL_LOST] != peer->inst->lost ||
	       peer->told.word[SPINDLE_NODE_COL_READY] != ready_for(peer);
}

static void tell(struct spindle_peer *peer, bool asleep)
{
	u64 word[SPINDLE_BLOCK_WORDS] = {
		[SPINDLE_NODE_COL_SLEEP] = peer->told.word[SPINDLE_NODE_COL_SLEEP],
		[SPINDLE_NODE_COL_VID] = peer->inst->view.vid,
		[SPINDLE_NODE_COL_LOST] = peer->inst->lost,
		[SPINDLE_NODE_COL_READY] = ready_for(peer),
	};

	if ((word[SPINDLE_NODE_COL_SLEEP] & 1) != asleep)
		word[SPINDLE_NODE_COL_SLEEP]++;
	peer->probe = false;
	spindle_block_write(&peer->told, word);
	spindle_post_write(&peer->conn, &peer->told, 0, SPINDLE_NODE_BLOCK,
			   SPINDLE_BLOCK_PUSH);
}

static bool told_asleep(const struct spindle_peer *peer)
{
	return peer->told.word[SPINDLE_NODE_COL_SLEEP] & 1;
}

static u32 how_to_push(const struct spindle_peer *peer)
{
	if (peer->needs_imm)
		return 0;
	if (peer->conn.inline_max < sizeof(struct spindle_express))
		return SPINDLE_PUSH_SPLIT;
	return SPINDLE_PUSH_SPLIT | SPINDLE_PUSH_EXPRESS;
}

/**
 * spindle_peer_cast() - add the writes of a subgroup to the chain
 * @peer: the peer; there is room
 * @write: writes
 * @n: how many
 */
void spindle_peer_cast(struct spindle_peer *peer, const struct spindle_write *write, u32 n)
{
	u32 i;

	spindle_engine_assert(peer->inst->node->engine);
	for (i = 0; i < n; i++) {
		spindle_post_write(&peer->conn, write[i].data, write[i].local,
				   write[i].remote, write[i].len);
		if (write[i].place) {
			*write[i].place = spindle_post_place(&peer->conn);
			peer->awaited = true;
		}
		if (!write[i].guard)
			continue;
		peer->imm = write[i].imm;
		if (peer->needs_imm)
			spindle_post_imm(&peer->conn, write[i].imm);
	}
}

/**
 * spindle_peer_tell() - add membership's columns to the chain
 * @peer: the peer; there is room
 * @write: writes
 * @n: how many
 *
 * A heartbeat does not ring the doorbell, because a sleeping node polls heartbeats often enough.
 * If guards need completions, the state block carries immediate data itself.
 */
void spindle_peer_tell(struct spindle_peer *peer, const struct spindle_write *write, u32 n)
{
	const u8 *row = peer->inst->row.mem.va;
	u32 i;

	spindle_engine_assert(peer->inst->node->engine);
	for (i = 0; i < n; i++) {
		const void *data = write[i].guard ? write[i].data : NULL;

		spindle_post_write(&peer->conn, data, data ? 0 : (const u8 *)write[i].data - row,
				   peer->out.mb + write[i].remote, write[i].len);
		if (!write[i].guard || write[i].remote == SPINDLE_MB_BEAT)
			continue;
		if (peer->needs_imm)
			spindle_post_imm(&peer->conn, write[i].imm);
		else
			peer->bell = true;
	}
}

/* Add the doorbell if the peer needs it, and post the chain. */
static void flush(struct spindle_peer *peer, bool news)
{
	struct spindle_engine *engine = peer->inst->node->engine;
	struct spindle_conn *conn = &peer->conn;
	u32 imm = peer->imm;
	u64 begin;

	if (peer->needs_imm) {
		if (news)
			spindle_post_imm(conn, IMM_NODE);
	} else {
		peer->debt |= news || imm != NO_IMM;
		if (peer->asleep && peer->debt && conn->nchain) {
			spindle_post_imm(conn, imm != NO_IMM ? imm : IMM_NODE);
			peer->debt = false;
		}
	}
	trace_spindle_post(peer->inst->node->id, peer->id, conn->nchain);
	begin = engine->timing ? ktime_get_ns() : 0;
	/*
	 * Signal the chain if no signalled write is outstanding. So there is always one, and
	 * its completion reports errors.
	 */
	spindle_post_flush(conn, peer->needs_imm || peer->awaited || spindle_post_idle(conn));
	peer->awaited = false;
	if (begin)
		spindle_count(&engine->stats.post_ns, ktime_get_ns() - begin);
}

/**
 * spindle_peer_push() - post everything that the peer does not know yet, in one chain
 * @peer: the peer
 *
 * Return: true if something is left because the send queue has no room
 */
bool spindle_peer_push(struct spindle_peer *peer)
{
	struct spindle_installed *inst = peer->inst;
	struct spindle_conn *conn = &peer->conn;
	bool left = false, room, news;

	spindle_engine_assert(peer->inst->node->engine);
	if (!spindle_peer_joined(peer))
		return false;
	if (guards_under_way(peer))
		return true;
	peer->imm = NO_IMM;
	peer->bell = false;
	if (peer->rank != SPINDLE_NO_RANK)
		left = spindle_mg_push(&inst->mg, peer->rank, how_to_push(peer));
	room = spindle_post_fits(conn, 1);
	news = has_news(peer) && room;
	if (!conn->nchain && !news && !(peer->asleep && peer->debt))
		return left;
	if (room && told_asleep(peer) && ++peer->busy >= AWAKE_PASSES)
		tell(peer, false);
	else if (news || (room && !conn->nchain))
		tell(peer, told_asleep(peer));
	flush(peer, news || peer->bell);
	return left;
}

/**
 * spindle_peer_post() - post at once what the peer does not know of one subgroup
 * @peer: the peer
 * @index: index of an active subgroup that has the peer as a member
 *
 * This is the paper's baseline. Writes without room are left to the end of the pass.
 */
void spindle_peer_post(struct spindle_peer *peer, u32 index)
{
	struct spindle_mg *mg = &peer->inst->mg;
	u64 members = mg->view->subgroup[index].members;

	spindle_engine_assert(peer->inst->node->engine);
	if (!spindle_peer_joined(peer) || guards_under_way(peer) ||
	    !spindle_push_wanted(mg->mc[index], spindle_mask_rank(members, peer->rank)))
		return;
	peer->imm = NO_IMM;
	spindle_mg_push_one(mg, index, peer->rank, how_to_push(peer));
	if (peer->conn.nchain)
		flush(peer, false);
}

/**
 * spindle_peer_sleep() - tell the peer that the engine goes to sleep, and pay the debt
 * @peer: the peer
 *
 * Return: false if there is no room in the send queue
 */
bool spindle_peer_sleep(struct spindle_peer *peer)
{
	bool news = !peer->inst->node->imm && !told_asleep(peer);

	spindle_engine_assert(peer->inst->node->engine);
	/* Unsignalled writes (@since) need a signalled one after them, to report their errors. */
	if (!spindle_peer_joined(peer) || (!news && !peer->debt && !peer->conn.since))
		return true;
	if (!spindle_post_fits(&peer->conn, 1))
		return false;
	tell(peer, news || told_asleep(peer));
	if (peer->debt)
		spindle_post_imm(&peer->conn, IMM_NODE);
	peer->debt = false;
	peer->busy = 0;
	spindle_post_flush(&peer->conn, true);
	return true;
}
