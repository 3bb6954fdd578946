// SPDX-License-Identifier: GPL-2.0-only
/*
 * Refusals: what is told of them, and when. See refusal.h.
 *
 * Context: process; nothing here sleeps.
 */
#include <linux/ktime.h>

#include "event.h"
#include "group.h"
#include "hello.h"
#include "node.h"
#include "peer.h"
#include "refusal.h"

/* Refusals that views explain are told when they have gone on for so long. */
#define GRACE_NS	(3ULL * NSEC_PER_SEC)
/* A run of refusals ends when none has come for so long. */
#define GAP_NS		(2ULL * NSEC_PER_SEC)
/* A run that goes on goes to the kernel log again after so long. */
#define AGAIN_NS	(60ULL * NSEC_PER_SEC)
/* Codes of the fabric, in front of the owner's. */
#define FABRIC_CODES	4

static_assert(SPINDLE_REFUSE_BEGINS - SPINDLE_REJECT_OWNER + FABRIC_CODES < SPINDLE_REFUSAL_CODES);

/**
 * spindle_refusals_init() - nobody has been refused yet
 * @refusals: of a new node
 */
void spindle_refusals_init(struct spindle_refusals *refusals)
{
	spin_lock_init(&refusals->lock);
	ratelimit_state_init(&refusals->limit, 5 * HZ, 10);
	ratelimit_set_flags(&refusals->limit, RATELIMIT_MSG_ON_RELEASE);
}

/* Does a view that is about to be installed, or to end, explain it? */
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
 * One more of a run. Returns true if people are to hear of it; @repeated: the kernel log has it.
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
 * The peer that is meant shows it, if it is not connected. A node that says that it is that peer
 * may be another one: the text says no more than that a request was refused.
 * Returns false if this node waits for no peer at all.
 */
static bool keep(struct spindle_node *node, u32 id, u32 code)
{
	struct spindle_conn *conn;
	bool waits = false;

	spin_lock(&node->ep.lock);
	list_for_each_entry(conn, &node->ep.conns, list) {
		struct spindle_peer *peer = container_of(conn, struct spindle_peer, conn);

		if (conn->cfg.bulk)
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
 * spindle_refused_it() - this node has refused a request or a proof
 * @node: the node
 * @id: node id that the other gave; 0: none
 * @code: why
 * @passing: the next attempt resolves it
 */
void spindle_refused_it(struct spindle_node *node, u32 id, u32 code, bool passing)
{
	struct spindle_refusals *refusals = &node->refusals;

	atomic64_inc(&refusals->count);
	if (passing)
		return;
	/* A node without a view knows nobody yet: its status says that it has none. */
	if (!keep(node, id, code) && code == SPINDLE_REFUSE_UNKNOWN)
		return;
	atomic64_set(&refusals->last, (u64)id << 32 | code);
	tell(node, SPINDLE_REFUSED_IT, id, code);
}

/**
 * spindle_refused_us() - a peer has refused this node
 * @peer: the peer, which was dialled
 * @code: why, as the peer has it: any value
 */
void spindle_refused_us(struct spindle_peer *peer, u32 code)
{
	tell(peer->group->node, SPINDLE_REFUSED_US, peer->id, code);
}

/* When it was logged stays, so that a peer that comes and goes does not fill the log. */
static void end_run(struct spindle_refusal_run *run, u32 id)
{
	if (run->id == id && !run->logged)
		run->last = 0;
}

/**
 * spindle_refusal_over() - a peer is connected
 * @peer: the peer
 */
void spindle_refusal_over(struct spindle_peer *peer)
{
	struct spindle_refusals *refusals = &peer->group->node->refusals;
	u32 side, i;

	WRITE_ONCE(peer->refusal, 0);
	spin_lock(&refusals->lock);
	for (side = 0; side < SPINDLE_REFUSAL_SIDES; side++)
		for (i = 0; i < SPINDLE_REFUSAL_CODES; i++)
			end_run(&refusals->run[side][i], peer->id);
	spin_unlock(&refusals->lock);
}

/**
 * spindle_refusal_last() - the last one that this node has refused
 * @node: the node
 * @id: out: node id that it gave, 0: none
 *
 * Return: why; 0: there was none
 */
u32 spindle_refusal_last(const struct spindle_node *node, u32 *id)
{
	u64 last = atomic64_read(&node->refusals.last);

	*id = last >> 32;
	return lower_32_bits(last);
}
