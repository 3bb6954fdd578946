// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: the status of live views. See internal.h.
 *
 * Context: the namespace's lock.
 */
#include <linux/ktime.h>
#include <linux/math64.h>

#include "generated.h"
#include "internal.h"
#include "live/join.h"
#include "live/live.h"
#include "node/installed.h"
#include "node/node.h"
#include "node/peer.h"
#include "node/subgroup.h"

static int put_contact(struct sk_buff *skb, const struct spindle_join_contact *contact)
{
	struct nlattr *nest = nla_nest_start(skb, SPINDLE_A_CONTACT);

	if (!nest || nla_put_u16(skb, SPINDLE_CONTACT_A_PORT, contact->addr.port) ||
	    nla_put_u8(skb, SPINDLE_CONTACT_A_FINAL, contact->final))
		return -EMSGSIZE;
	if (contact->addr.family == 4 ?
	    nla_put(skb, SPINDLE_CONTACT_A_ADDR4, 4, contact->addr.ip) :
	    nla_put(skb, SPINDLE_CONTACT_A_ADDR6, 16, contact->addr.ip))
		return -EMSGSIZE;
	if (contact->reason && nla_put_string(skb, SPINDLE_CONTACT_A_REASON, contact->reason))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_contacts(struct sk_buff *skb, const struct spindle_join *join)
{
	const struct spindle_join_contact *contact;
	u32 n = spindle_join_contacts(join, &contact), i;

	for (i = 0; i < n; i++)
		if (put_contact(skb, &contact[i]))
			return -EMSGSIZE;
	return 0;
}

/*
 * Count the own messages, and their bytes, that a member has not delivered yet, in the subgroup
 * with the most of them.
 */
static void find_lag(const struct spindle_installed *inst, u32 rank, u64 *messages, u64 *bytes)
{
	u32 i;

	*messages = 0;
	*bytes = 0;
	for (i = 0; i < inst->view.num_subgroups; i++) {
		const struct spindle_subgroup *sg = inst->subgroup[i];
		const struct spindle_mc_sender *sd;
		const struct spindle_mc_member *m;
		const struct spindle_mc *mc;
		u64 delivered, n, lag = 0, sum = 0;

		if (!sg || !(sg->peers & BIT_ULL(rank)) || sg->mc.my_sender == SPINDLE_NO_RANK)
			continue;
		mc = &sg->mc;
		sd = &mc->sender[mc->my_sender];
		m = &mc->member[spindle_mask_rank(sg->cfg->members, rank)];
		delivered = READ_ONCE(m->delivered);
		n = READ_ONCE(sd->walk.slot);
		/* The engine may change this during the loop; the result is only shown. */
		while (lag < mc->window && n-- > READ_ONCE(mc->send.free_slot)) {
			const struct spindle_msg *msg = &sd->msgs[n & sd->walk.wmask];

			if (READ_ONCE(msg->round) * mc->senders + mc->my_sender < delivered)
				break;
			lag++;
			sum += READ_ONCE(msg->len);
		}
		if (lag > *messages) {
			*messages = lag;
			*bytes = sum;
		}
	}
}

static int put_suspectors(struct sk_buff *skb, const struct spindle_live *live, u32 rank)
{
	const struct spindle_view *view = &live->inst->view;
	u32 r;

	for (r = 0; r < view->num_members; r++) {
		u64 suspects = r == live->inst->mg.me ? live->mb.suspected :
			       live->mb.peer[r].vid == view->vid ? live->mb.peer[r].suspected : 0;

		if ((suspects & BIT_ULL(rank)) &&
		    nla_put_u32(skb, SPINDLE_LIVE_MEMBER_A_SUSPECTED_BY, view->member[r].id))
			return -EMSGSIZE;
	}
	return 0;
}

static int put_seen(struct sk_buff *skb, const struct spindle_live *live, u32 rank)
{
	const struct spindle_mb_peer *p = &live->mb.peer[rank];
	u64 now = ktime_get_ns(), heard = READ_ONCE(p->heard), messages, bytes;

	if (nla_put_u64_64bit(skb, SPINDLE_LIVE_MEMBER_A_VIEW, READ_ONCE(p->vid),
			      SPINDLE_LIVE_MEMBER_A_PAD))
		return -EMSGSIZE;
	if (heard != U64_MAX &&
	    nla_put_u64_64bit(skb, SPINDLE_LIVE_MEMBER_A_BEAT_MS,
			      now > heard ? div_u64(now - heard, NSEC_PER_MSEC) : 0,
			      SPINDLE_LIVE_MEMBER_A_PAD))
		return -EMSGSIZE;
	if ((live->mb.suspected & BIT_ULL(rank)) &&
	    nla_put_u8(skb, SPINDLE_LIVE_MEMBER_A_WHY, p->reason))
		return -EMSGSIZE;
	find_lag(live->inst, rank, &messages, &bytes);
	if (nla_put_u64_64bit(skb, SPINDLE_LIVE_MEMBER_A_LAG, messages,
			      SPINDLE_LIVE_MEMBER_A_PAD) ||
	    nla_put_u64_64bit(skb, SPINDLE_LIVE_MEMBER_A_LAG_BYTES, bytes,
			      SPINDLE_LIVE_MEMBER_A_PAD))
		return -EMSGSIZE;
	return 0;
}

/* Add the state of the connection to a peer, and why it is not up. */
static int put_connection(struct sk_buff *skb, const struct spindle_peer *peer)
{
	const char *why = spindle_peer_why(peer);

	if (nla_put_u8(skb, SPINDLE_LIVE_MEMBER_A_STATE, spindle_peer_state(&peer->conn)))
		return -EMSGSIZE;
	return why ? nla_put_string(skb, SPINDLE_LIVE_MEMBER_A_REASON, why) : 0;
}

/* Add the member that wants other subgroups, if there is one, and say which members offer them. */
static int put_wanted(struct sk_buff *skb, const struct spindle_live *live)
{
	const struct spindle_view *view = &live->inst->view;
	u64 wanted;
	u32 by, r;

	wanted = spindle_mb_wanted(&live->mb, &by);
	if (!wanted)
		return 0;
	if (nla_put_u32(skb, SPINDLE_LIVE_A_WANTED_BY, view->member[by].id))
		return -EMSGSIZE;
	for (r = 0; r < view->num_members; r++)
		if ((spindle_mb_offered(&live->mb, r) & ~SPINDLE_MB_WANTS) == wanted &&
		    nla_put_u32(skb, SPINDLE_LIVE_A_OFFERED_BY, view->member[r].id))
			return -EMSGSIZE;
	return 0;
}

static int put_member(struct sk_buff *skb, const struct spindle_live *live, u32 rank)
{
	const struct spindle_installed *inst = live->inst;
	const struct spindle_peer *peer = inst->peer[rank];
	struct nlattr *nest = nla_nest_start(skb, SPINDLE_LIVE_A_MEMBER);

	if (!nest ||
	    nla_put_u32(skb, SPINDLE_LIVE_MEMBER_A_ID, inst->view.member[rank].id) ||
	    nla_put_u32(skb, SPINDLE_LIVE_MEMBER_A_RANK, rank) ||
	    put_suspectors(skb, live, rank))
		return -EMSGSIZE;
	if (rank == inst->mg.me) {
		if (nla_put_u64_64bit(skb, SPINDLE_LIVE_MEMBER_A_VIEW, inst->view.vid,
				      SPINDLE_LIVE_MEMBER_A_PAD))
			return -EMSGSIZE;
	} else if ((peer && put_connection(skb, peer)) || put_seen(skb, live, rank)) {
		return -EMSGSIZE;
	}
	nla_nest_end(skb, nest);
	return 0;
}

/* Add nodes that want to join, on a member; or the members, on a node that joins. */
static int put_guests(struct sk_buff *skb, const struct spindle_installed *inst)
{
	const struct spindle_peer *peer;
	u32 i;

	for (i = 0; (peer = spindle_installed_next(inst, &i)); i++) {
		struct nlattr *nest;

		if (spindle_peer_departed(peer) ||
		    (inst->mg.me != SPINDLE_NO_RANK && peer->rank != SPINDLE_NO_RANK))
			continue;
		nest = nla_nest_start(skb, SPINDLE_LIVE_A_MEMBER);
		if (!nest || nla_put_u32(skb, SPINDLE_LIVE_MEMBER_A_ID, peer->id) ||
		    put_connection(skb, peer))
			return -EMSGSIZE;
		nla_nest_end(skb, nest);
	}
	return 0;
}

static int put_times(struct sk_buff *skb, const struct spindle_live *live)
{
	if (nla_put_u64_64bit(skb, SPINDLE_LIVE_A_CHANGES, live->changes, SPINDLE_LIVE_A_PAD))
		return -EMSGSIZE;
	if (!live->changes)
		return 0;
	if (nla_put_u64_64bit(skb, SPINDLE_LIVE_A_DETECT_US, live->times.detect,
			      SPINDLE_LIVE_A_PAD) ||
	    nla_put_u64_64bit(skb, SPINDLE_LIVE_A_WEDGE_US, live->times.wedge,
			      SPINDLE_LIVE_A_PAD) ||
	    nla_put_u64_64bit(skb, SPINDLE_LIVE_A_AGREE_US, live->times.agree,
			      SPINDLE_LIVE_A_PAD) ||
	    nla_put_u64_64bit(skb, SPINDLE_LIVE_A_INSTALL_US, live->times.install,
			      SPINDLE_LIVE_A_PAD))
		return -EMSGSIZE;
	return 0;
}

static int put_live(struct sk_buff *skb, const struct spindle_live *live)
{
	char reason[sizeof(live->reason)];
	u32 r;

	/* The engine may be writing the next reason, but the copy always ends with a zero. */
	strscpy(reason, live->reason, sizeof(reason));
	if (nla_put_u8(skb, SPINDLE_LIVE_A_STATE, spindle_live_state(live)) ||
	    nla_put_string(skb, SPINDLE_LIVE_A_REASON, reason) ||
	    nla_put_u32(skb, SPINDLE_LIVE_A_TIMEOUT_MS, live->rules.timeout_ms) ||
	    nla_put_u32(skb, SPINDLE_LIVE_A_MAX_NODES, live->rules.max_nodes) ||
	    nla_put_u8(skb, SPINDLE_LIVE_A_QUORUM, live->rules.quorum) ||
	    spindle_fill_witnesses(skb, &live->rules) || put_times(skb, live) ||
	    put_wanted(skb, live))
		return -EMSGSIZE;
	if (live->mb.state == SPINDLE_MB_STOPPED &&
	    nla_put_u8(skb, SPINDLE_LIVE_A_WHY, live->mb.reason))
		return -EMSGSIZE;
	for (r = 0; r < live->inst->view.num_members; r++)
		if (put_member(skb, live, r))
			return -EMSGSIZE;
	return put_guests(skb, live->inst);
}

/* Add the status of a node that is no member yet. */
static int put_joining(struct sk_buff *skb, const struct spindle_node *node)
{
	if (nla_put_u8(skb, SPINDLE_LIVE_A_STATE, SPINDLE_LIVE_JOINING) ||
	    nla_put_string(skb, SPINDLE_LIVE_A_REASON, spindle_join_reason(node->join)))
		return -EMSGSIZE;
	return node->inst ? put_guests(skb, node->inst) : 0;
}

/* Add the reason of a node whose join has failed, or whose device is gone. */
static int put_why(struct sk_buff *skb, const struct spindle_node *node)
{
	if (nla_put_string(skb, SPINDLE_A_REASON, node->why))
		return -EMSGSIZE;
	if (node->dead && nla_put_u32(skb, SPINDLE_A_ERROR, SPINDLE_ERR_DEVICE_GONE))
		return -EMSGSIZE;
	if (node->last_vid &&
	    nla_put_u64_64bit(skb, SPINDLE_A_VIEW_ID, node->last_vid, SPINDLE_A_PAD))
		return -EMSGSIZE;
	return 0;
}

static bool has_live(const struct spindle_node *node)
{
	return node->join || (node->inst && node->inst->live);
}

static int fill_status(struct sk_buff *skb, const struct spindle_node *node)
{
	const struct spindle_installed *inst = node->inst;
	/* @join may still exist for a moment after the node has become a member. */
	bool joining = node->join && (!inst || inst->mg.me == SPINDLE_NO_RANK);
	struct nlattr *nest;

	if (nla_put_u32(skb, SPINDLE_A_NODE_ID, node->id) ||
	    nla_put_string(skb, SPINDLE_A_CLUSTER, node->cluster))
		return -EMSGSIZE;
	if (!has_live(node))
		return put_why(skb, node);
	if (inst && inst->view.vid &&
	    nla_put_u64_64bit(skb, SPINDLE_A_VIEW_ID, inst->view.vid, SPINDLE_A_PAD))
		return -EMSGSIZE;
	if (joining ? put_contacts(skb, node->join) :
		      spindle_fill_lineage(skb, &inst->live->lineage))
		return -EMSGSIZE;
	if (spindle_fill_insecure(skb, node))
		return -EMSGSIZE;
	nest = nla_nest_start(skb, SPINDLE_A_LIVE);
	if (!nest || (joining ? put_joining(skb, node) : put_live(skb, inst->live)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static bool has_status(const struct spindle_node *node)
{
	return node->why || has_live(node);
}

/* Bytes of a contact with its reason. */
#define CONTACT_BYTES 144

/* A member with all that suspect it, and with numbers. */
static u32 status_bytes(const struct spindle_installed *inst)
{
	u32 n = inst->view.num_members;

	return 1024 + n * (264 + 8 * n) + SPINDLE_SEATS * 120 +
	       SPINDLE_MAX_CONTACTS * CONTACT_BYTES;
}

/**
 * spindle_netlink_status_start() - make room for the longest message of a dump
 * @cb: state of the dump
 *
 * Return: 0
 */
int spindle_netlink_status_start(struct netlink_callback *cb)
{
	/* Nodes that join have no installed view yet. */
	cb->min_dump_alloc = max_t(u32, cb->min_dump_alloc,
				   1024 + SPINDLE_MAX_CONTACTS * CONTACT_BYTES);
	return spindle_netlink_start(cb, status_bytes);
}

/**
 * spindle_netlink_status_get_dumpit() - SPINDLE_CMD_STATUS_GET
 * @skb: room for messages
 * @cb: state of the dump
 *
 * Return: bytes, or -errno
 */
int spindle_netlink_status_get_dumpit(struct sk_buff *skb, struct netlink_callback *cb)
{
	return spindle_netlink_dump(skb, cb, SPINDLE_CMD_STATUS_GET, fill_status, has_status);
}
