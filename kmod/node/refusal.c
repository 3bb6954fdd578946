// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refusals: which refusals are reported, and when. See refusal.h.
 *
 * Context: process; nothing here sleeps.
 */
#include <linux/ktime.h>

#include "event.h"
#include "hello.h"
#include "installed.h"
#include "node.h"
#include "peer.h"
#include "refusal.h"

/* Time after which refusals that views explain are reported. */
#define GRACE_NS	(3ULL * NSEC_PER_SEC)
/* A run of refusals ends when there was none for this time. */
#define GAP_NS		(2ULL * NSEC_PER_SEC)
/* Time after which a run is logged again. */
#define AGAIN_NS	(60ULL * NSEC_PER_SEC)
/* Codes of the fabric, which come before those of the owner. */
#define FABRIC_CODES	4

static_assert(SPINDLE_REFUSE_NO_RULES - SPINDLE_REJECT_OWNER + FABRIC_CODES <
	      SPINDLE_REFUSAL_CODES);

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
		return "refused: busy with another connection of the node that dials";
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
		return "refused: the node that dials is not in the other's view";
	case SPINDLE_REFUSE_VIEW:
		return "refused: the two nodes have different views";
	case SPINDLE_REFUSE_DIRECTION:
		return "refused: the node with the lower id connects";
	case SPINDLE_REFUSE_LIFE:
		return "refused: another incarnation of the node that dials is expected";
	case SPINDLE_REFUSE_NO_VIEW:
		return "refused: the contact is in no live view";
	case SPINDLE_REFUSE_MEMBER:
		return "refused: the view has a member with this id";
	case SPINDLE_REFUSE_FULL:
		return "refused: the view has no room for another node";
	case SPINDLE_REFUSE_KEY:
		return "refused: another key, or none";
	case SPINDLE_REFUSE_ADDRESS:
		return "refused: the view has another address for this node";
	case SPINDLE_REFUSE_AGAIN:
		return "refused: the same request was made before";
	case SPINDLE_REFUSE_LINEAGE:
		return "refused: another lineage of this cluster: a group that began separately";
	case SPINDLE_REFUSE_ERA:
		return "refused: another era of this group, which has begun again since";
	case SPINDLE_REFUSE_NO_RULES:
		return "refused: the node that was asked wants no other subgroups";
	case SPINDLE_REFUSE_BEGINS:
		return "refused: the node that was asked is about to begin a view itself";
	default:
		return "refused";
	}
}

/**
 * spindle_refusals_init() - initialize the refusals of a node
 * @refusals: of a new node
 */
void spindle_refusals_init(struct spindle_refusals *refusals)
{
	spin_lock_init(&refusals->lock);
	ratelimit_state_init(&refusals->limit, 5 * HZ, 10);
	ratelimit_set_flags(&refusals->limit, RATELIMIT_MSG_ON_RELEASE);
}

/* Can a view that is about to be installed, or to end, explain a refusal? */
static bool views_explain(u32 code)
{
	switch (code) {
	case SPINDLE_REJECT_BUSY:
	case SPINDLE_REFUSE_UNKNOWN:
	case SPINDLE_REFUSE_VIEW:
	case SPINDLE_REFUSE_LIFE:
	case SPINDLE_REFUSE_NO_VIEW:
	case SPINDLE_REFUSE_MEMBER:
	case SPINDLE_REFUSE_BEGINS:
	case SPINDLE_REFUSE_NO_RULES:
		return true;
	default:
		return false;
	}
}

static struct spindle_refusal_run *run_of(struct spindle_refusals *refusals,
					  enum spindle_refusal_side side, u32 code)
{
	u32 i = code < SPINDLE_REJECT_OWNER ? code :
					      code - SPINDLE_REJECT_OWNER + FABRIC_CODES;

	return &refusals->run[side][i < SPINDLE_REFUSAL_CODES ? i : 0];
}

/*
 * Add a refusal to its run. Returns true if it has to be reported. @repeated: the kernel log has
 * this run already.
 */
static bool note(struct spindle_refusals *refusals, enum spindle_refusal_side side, u32 id,
		 u32 code, bool *repeated)
{
	struct spindle_refusal_run *run = run_of(refusals, side, code);
	u64 now = ktime_get_ns();
	bool tell;

	spin_lock(&refusals->lock);
	if (!run->last || run->id != id || now - run->last > GAP_NS)
		*run = (struct spindle_refusal_run){ .id = id, .since = now };
	run->last = now;
	tell = !views_explain(code) || now - run->since >= GRACE_NS;
	*repeated = run->logged && now - run->logged < AGAIN_NS;
	if (tell && !*repeated)
		run->logged = now;
	spin_unlock(&refusals->lock);
	return tell;
}

static void tell(struct spindle_node *node, enum spindle_refusal_side side, u32 id, u32 code)
{
	bool us = side == SPINDLE_REFUSED_US, repeated;
	char reason[96];
	struct spindle_event_info info = {
		.peer = id,
		.reason = reason,
	};

	if (!note(&node->refusals, side, id, code, &repeated) ||
	    !__ratelimit(&node->refusals.limit))
		return;
	info.repeated = repeated;
	scnprintf(reason, sizeof(reason), "%s%s", us ? "this node was " : "",
		  spindle_refusal_text(code));
	spindle_event(node, SPINDLE_EVENT_PEER_REFUSED, &info);
}

/*
 * Store the refusal in the peer with this id, if that is not connected. Another node may have sent
 * the request with this id, so the text only says that a request was refused. Returns false if
 * this node waits for no peer at all.
 */
static bool keep(struct spindle_node *node, u32 id, u32 code)
{
	struct spindle_conn *conn;
	bool waits = false;

	spin_lock(&node->ep.lock);
	list_for_each_entry(conn, &node->ep.conns, list) {
		struct spindle_peer *peer = container_of(conn, struct spindle_peer, conn);

		if (conn->cfg.bulk || conn->cfg.read)
			continue;
		waits = true;
		if (peer->id == id && !conn->cfg.active &&
		    READ_ONCE(conn->state) < SPINDLE_CONN_UP)
			WRITE_ONCE(peer->refusal, code);
	}
	spin_unlock(&node->ep.lock);
	return waits;
}

/**
 * spindle_refused_it() - count and report that this node has refused a request or a proof
 * @node: the node
 * @id: node id that the other node gave; 0: none
 * @code: reason
 * @passing: the next attempt resolves the refusal
 */
void spindle_refused_it(struct spindle_node *node, u32 id, u32 code, bool passing)
{
	struct spindle_refusals *refusals = &node->refusals;

	atomic64_inc(&refusals->count);
	if (passing)
		return;
	/* A node without a view knows no other node. Its status says that it has no view. */
	if (!keep(node, id, code) && code == SPINDLE_REFUSE_UNKNOWN)
		return;
	atomic64_set(&refusals->last, (u64)id << 32 | code);
	tell(node, SPINDLE_REFUSED_IT, id, code);
}

/**
 * spindle_refused_us() - report that a peer has refused this node
 * @peer: the peer, which this node dialled
 * @code: reason, as received: any value
 */
void spindle_refused_us(struct spindle_peer *peer, u32 code)
{
	tell(peer->inst->node, SPINDLE_REFUSED_US, peer->id, code);
}

/* End a run. A logged run is kept, so that a peer that comes and goes does not fill the log. */
static void end_run(struct spindle_refusal_run *run, u32 id)
{
	if (run->id == id && !run->logged)
		run->last = 0;
}

/**
 * spindle_refusal_over() - end the refusals of a peer that is connected now
 * @peer: the peer
 */
void spindle_refusal_over(struct spindle_peer *peer)
{
	struct spindle_refusals *refusals = &peer->inst->node->refusals;
	u32 side, i;

	WRITE_ONCE(peer->refusal, 0);
	spin_lock(&refusals->lock);
	for (side = 0; side < SPINDLE_REFUSAL_SIDES; side++)
		for (i = 0; i < SPINDLE_REFUSAL_CODES; i++)
			end_run(&refusals->run[side][i], peer->id);
	spin_unlock(&refusals->lock);
}

/**
 * spindle_refusal_last() - the last refusal by this node
 * @node: the node
 * @id: out: node id that the other node gave, 0: none
 *
 * Return: reason; 0: there was no refusal
 */
u32 spindle_refusal_last(const struct spindle_node *node, u32 *id)
{
	u64 last = atomic64_read(&node->refusals.last);

	*id = last >> 32;
	return lower_32_bits(last);
}
