// SPDX-License-Identifier: GPL-2.0-only
/*
 * Netlink: attributes of RDMC groups in replies. See internal.h.
 *
 * The engine owns a group's protocol state, and copies all of it in one call, so that the copy is
 * consistent. The namespace's lock protects the rest.
 *
 * Context: the namespace's lock.
 */
#include <linux/ktime.h>
#include <linux/math64.h>
#include <linux/slab.h>

#include "base/engine.h"
#include "bulk/rdmc.h"
#include "internal.h"
#include "node/installed.h"
#include "node/node.h"
#include "node/peer.h"

/* Bytes of the longest message about a group, beyond the base. */
#define MEMBER_BYTES	192
#define OBJECT_BYTES	112

/* Netlink shows numbers of core/ without a translation. */
static_assert((int)SPINDLE_RDMC_GROUP_OPENING == SPINDLE_RDMC_S_OPENING);
static_assert((int)SPINDLE_RDMC_GROUP_OPEN == SPINDLE_RDMC_S_OPEN);
static_assert((int)SPINDLE_RDMC_GROUP_CLOSING == SPINDLE_RDMC_S_CLOSING);
static_assert((int)SPINDLE_RDMC_GROUP_CLOSED == SPINDLE_RDMC_S_CLOSED);
static_assert((int)SPINDLE_RDMC_GROUP_FAILING == SPINDLE_RDMC_S_FAILING);
static_assert((int)SPINDLE_RDMC_GROUP_FAILED == SPINDLE_RDMC_S_FAILED);
static_assert((int)SPINDLE_RDMC_OBJECT_NONE == SPINDLE_RDMC_P_NONE);
static_assert((int)SPINDLE_RDMC_OBJECT_WAITING == SPINDLE_RDMC_P_WAITING);
static_assert((int)SPINDLE_RDMC_OBJECT_MOVING == SPINDLE_RDMC_P_MOVING);
static_assert((int)SPINDLE_RDMC_OBJECT_STOPPING == SPINDLE_RDMC_P_STOPPING);
static_assert((int)SPINDLE_RDMC_OBJECT_COMPLETE == SPINDLE_RDMC_P_COMPLETE);
static_assert((int)SPINDLE_RDMC_OBJECT_ABORTED == SPINDLE_RDMC_P_ABORTED);

struct look_member {
	struct spindle_rdmc_stat stat;
	u64 complete;
	u16 rack;
};

struct look_object {
	u64 number;
	u64 len;
	u64 tag;
	u64 first_ns;
	u32 phase;
	u32 blocks;
	u32 total;
	u32 error;
};

/**
 * struct look - a consistent copy of a group's state
 */
struct look {
	/** @group: the group */
	const struct spindle_rdmc_group *group;
	/** @state: its state */
	u32 state;
	/** @error: why it is failing */
	u32 error;
	/** @culprit: rank + 1 of the member that is the cause, or 0 */
	u32 culprit;
	/** @announced: objects that are known */
	u64 announced;
	/** @ended: objects that have ended here */
	u64 ended;
	/** @complete: of these objects, those that are complete */
	u64 complete;
	/** @known: bit mask of the ranks that have created the group, with the own rank */
	u64 known;
	/** @unread: events that are not read */
	u32 unread;
	/** @member: by rank */
	struct look_member member[SPINDLE_MAX_MEMBERS];
	/** @object: objects in progress */
	struct look_object object[SPINDLE_RDMC_OBJECTS];
	/** @objects: entries of @object */
	u32 objects;
	/** @stats: counters */
	struct spindle_rdmc_stats stats;
};

/**
 * spindle_fill_rdmc_bytes() - size of a message about an RDMC group
 * @inst: the installed view that its members are in
 *
 * Return: bytes, at most
 */
u32 spindle_fill_rdmc_bytes(const struct spindle_installed *inst)
{
	return SPINDLE_FILL_BASE + SPINDLE_MAX_MEMBERS * MEMBER_BYTES +
	       SPINDLE_RDMC_OBJECTS * OBJECT_BYTES;
}

/* ---- engine ------------------------------------------------------------- */

static void look_at_member(struct look_member *m, const struct spindle_rdmc *r, u32 rank)
{
	m->stat.member = rank;
	spindle_rdmc_stat(r, &m->stat);
	m->complete = rank == r->cfg.me ? r->complete : r->m[rank].complete;
	m->rack = r->known & BIT_ULL(rank) || rank == r->cfg.me ? r->racks[rank] :
								  SPINDLE_NO_RACK;
}

static void look_at_object(struct look_object *o, const struct spindle_rdmc *r, u64 number)
{
	const struct spindle_rdmc_object *obj = &r->object[number & (SPINDLE_RDMC_OBJECTS - 1)];

	o->number = number;
	o->len = obj->len;
	o->tag = obj->tag;
	o->first_ns = obj->first_ns;
	o->phase = obj->phase;
	o->blocks = obj->got;
	o->total = obj->blocks;
	o->error = obj->error;
}

/* The first object that has not ended here or, at the root, at some member. */
static u64 first_object(const struct spindle_rdmc *r)
{
	bool all = spindle_rdmc_is_root(r) && r->state <= SPINDLE_RDMC_S_CLOSING;
	u64 first = all ? r->front : r->ended;

	return r->announced - first > SPINDLE_RDMC_OBJECTS ?
	       r->announced - SPINDLE_RDMC_OBJECTS : first;
}

static void see_rdmc_fn(void *ctx)
{
	struct look *l = ctx;
	const struct spindle_rdmc *r = &l->group->r;
	u64 number;
	u32 m;

	l->state = r->state;
	l->error = r->error;
	l->culprit = r->culprit;
	l->announced = r->announced;
	l->ended = r->ended;
	l->complete = r->complete;
	l->known = r->known | BIT_ULL(r->cfg.me);
	l->unread = l->group->tail - READ_ONCE(l->group->head);
	l->stats = r->stats;
	for (m = 0; m < r->cfg.n; m++)
		look_at_member(&l->member[m], r, m);
	l->objects = 0;
	for (number = first_object(r); number < r->announced; number++)
		look_at_object(&l->object[l->objects++], r, number);
}

/* ---- messages ------------------------------------------------------------- */

/* All attribute sets have their padding at the same number. */
static_assert((int)SPINDLE_RDMC_MEMBER_A_PAD == SPINDLE_RDMC_GROUP_A_PAD);
static_assert((int)SPINDLE_RDMC_OBJECT_A_PAD == SPINDLE_RDMC_GROUP_A_PAD);
static_assert((int)SPINDLE_RDMC_GROUP_S_PAD == SPINDLE_RDMC_GROUP_A_PAD);

static int put_num(struct sk_buff *skb, int type, u64 num)
{
	return nla_put_u64_64bit(skb, type, num, SPINDLE_RDMC_GROUP_A_PAD);
}

/* Add the progress of a member. Only the root knows that of other members. */
static int put_progress(struct sk_buff *skb, const struct look_member *m)
{
	if (put_num(skb, SPINDLE_RDMC_MEMBER_A_ENDED, m->stat.finished) ||
	    put_num(skb, SPINDLE_RDMC_MEMBER_A_COMPLETE, m->complete) ||
	    nla_put_u32(skb, SPINDLE_RDMC_MEMBER_A_BLOCKS, m->stat.blocks) ||
	    nla_put_u32(skb, SPINDLE_RDMC_MEMBER_A_TOTAL, m->stat.total))
		return -EMSGSIZE;
	return 0;
}

static int put_lane(struct sk_buff *skb, const struct spindle_lane *lane)
{
	const char *reason = READ_ONCE(lane->bulk.conn.reason);

	if (nla_put_u8(skb, SPINDLE_RDMC_MEMBER_A_STATE,
		       spindle_peer_state(&lane->bulk.conn)) ||
	    (reason && nla_put_string(skb, SPINDLE_RDMC_MEMBER_A_REASON, reason)))
		return -EMSGSIZE;
	return 0;
}

static int put_member(struct sk_buff *skb, const struct look *look, u32 rank)
{
	const struct spindle_rdmc_config *cfg = &look->group->r.cfg;
	const struct spindle_lane *lane = look->group->link[rank].lane;
	const struct look_member *m = &look->member[rank];
	struct nlattr *nest = nla_nest_start(skb, SPINDLE_RDMC_GROUP_A_MEMBER);

	if (!nest || nla_put_u32(skb, SPINDLE_RDMC_MEMBER_A_ID, cfg->member[rank]) ||
	    nla_put_u8(skb, SPINDLE_RDMC_MEMBER_A_CREATED, !!(look->known & BIT_ULL(rank))) ||
	    (lane && put_lane(skb, lane)) ||
	    (m->rack != SPINDLE_NO_RACK &&
	     nla_put_u16(skb, SPINDLE_RDMC_MEMBER_A_RACK, m->rack)) ||
	    ((!cfg->me || rank == cfg->me) && put_progress(skb, m)))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_object(struct sk_buff *skb, const struct look_object *o)
{
	struct nlattr *nest = nla_nest_start(skb, SPINDLE_RDMC_GROUP_A_OBJECT);
	u64 now = ktime_get_ns();

	if (!nest || put_num(skb, SPINDLE_RDMC_OBJECT_A_NUMBER, o->number) ||
	    put_num(skb, SPINDLE_RDMC_OBJECT_A_LEN, o->len) ||
	    put_num(skb, SPINDLE_RDMC_OBJECT_A_TAG, o->tag) ||
	    nla_put_u8(skb, SPINDLE_RDMC_OBJECT_A_PHASE, o->phase) ||
	    nla_put_u32(skb, SPINDLE_RDMC_OBJECT_A_BLOCKS, o->blocks) ||
	    nla_put_u32(skb, SPINDLE_RDMC_OBJECT_A_TOTAL, o->total))
		return -EMSGSIZE;
	if (o->first_ns &&
	    put_num(skb, SPINDLE_RDMC_OBJECT_A_SINCE_MS,
		    now > o->first_ns ? div_u64(now - o->first_ns, NSEC_PER_MSEC) : 0))
		return -EMSGSIZE;
	if (o->error && nla_put_u32(skb, SPINDLE_RDMC_OBJECT_A_ERROR, o->error))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

static int put_stats(struct sk_buff *skb, const struct look *look)
{
	struct nlattr *nest = nla_nest_start(skb, SPINDLE_RDMC_GROUP_A_STATS);
	const struct spindle_rdmc_stats *s = &look->stats;

	if (!nest || put_num(skb, SPINDLE_RDMC_GROUP_S_BLOCKS_IN, s->blocks_in) ||
	    put_num(skb, SPINDLE_RDMC_GROUP_S_BLOCKS_OUT, s->blocks_out) ||
	    put_num(skb, SPINDLE_RDMC_GROUP_S_BYTES_IN, s->bytes_in) ||
	    put_num(skb, SPINDLE_RDMC_GROUP_S_BYTES_OUT, s->bytes_out) ||
	    put_num(skb, SPINDLE_RDMC_GROUP_S_GRANTS, s->grants) ||
	    put_num(skb, SPINDLE_RDMC_GROUP_S_SAID, s->said) ||
	    put_num(skb, SPINDLE_RDMC_GROUP_S_HEARD, s->heard) ||
	    put_num(skb, SPINDLE_RDMC_GROUP_S_COMPLETE, s->complete) ||
	    put_num(skb, SPINDLE_RDMC_GROUP_S_ABORTED, s->aborted))
		return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/* Add the parameters of a group, and the process that created it. */
static int put_config(struct sk_buff *skb, const struct look *look)
{
	const struct spindle_rdmc_group *group = look->group;
	const struct spindle_rdmc_config *cfg = &group->r.cfg;

	if (put_num(skb, SPINDLE_RDMC_GROUP_A_ID, cfg->id) ||
	    nla_put_u32(skb, SPINDLE_RDMC_GROUP_A_ALGORITHM, cfg->algorithm) ||
	    nla_put_u32(skb, SPINDLE_RDMC_GROUP_A_BLOCK, cfg->block) ||
	    nla_put_u32(skb, SPINDLE_RDMC_GROUP_A_TIMEOUT_MS,
			div_u64(cfg->timeout_ns, NSEC_PER_MSEC)) ||
	    nla_put_u32(skb, SPINDLE_RDMC_GROUP_A_RANK, cfg->me) ||
	    nla_put_u32(skb, SPINDLE_RDMC_GROUP_A_PID, pid_vnr(group->pid)) ||
	    nla_put_string(skb, SPINDLE_RDMC_GROUP_A_COMM, group->comm) ||
	    nla_put_u8(skb, SPINDLE_RDMC_GROUP_A_RELEASED, group->orphan))
		return -EMSGSIZE;
	return 0;
}

static int put_state(struct sk_buff *skb, const struct look *look)
{
	if (nla_put_u8(skb, SPINDLE_RDMC_GROUP_A_STATE, look->state) ||
	    nla_put_u32(skb, SPINDLE_RDMC_GROUP_A_UNREAD, look->unread) ||
	    put_num(skb, SPINDLE_RDMC_GROUP_A_ANNOUNCED, look->announced) ||
	    put_num(skb, SPINDLE_RDMC_GROUP_A_ENDED, look->ended) ||
	    put_num(skb, SPINDLE_RDMC_GROUP_A_COMPLETE, look->complete))
		return -EMSGSIZE;
	if (look->error && nla_put_u32(skb, SPINDLE_RDMC_GROUP_A_ERROR, look->error))
		return -EMSGSIZE;
	if (look->culprit && nla_put_u32(skb, SPINDLE_RDMC_GROUP_A_CULPRIT,
					 look->group->r.cfg.member[look->culprit - 1]))
		return -EMSGSIZE;
	return 0;
}

static int put_group(struct sk_buff *skb, const struct look *look)
{
	struct nlattr *nest;
	u32 i;

	if (nla_put_u32(skb, SPINDLE_A_NODE_ID, look->group->node->id))
		return -EMSGSIZE;
	nest = nla_nest_start(skb, SPINDLE_A_RDMC);
	if (!nest || put_config(skb, look) || put_state(skb, look) || put_stats(skb, look))
		return -EMSGSIZE;
	for (i = 0; i < look->group->r.cfg.n; i++)
		if (put_member(skb, look, i))
			return -EMSGSIZE;
	for (i = 0; i < look->objects; i++)
		if (put_object(skb, &look->object[i]))
			return -EMSGSIZE;
	nla_nest_end(skb, nest);
	return 0;
}

/**
 * spindle_fill_rdmc() - add an RDMC group
 * @skb: room
 * @group: the group, of a node
 *
 * Return: 0, -EMSGSIZE or -ENOMEM
 */
int spindle_fill_rdmc(struct sk_buff *skb, const struct spindle_rdmc_group *group)
{
	/* Too large for a stack. */
	struct look *look = kvzalloc(sizeof(*look), GFP_KERNEL);
	int err;

	if (!look)
		return -ENOMEM;
	look->group = group;
	spindle_engine_call(group->engine, see_rdmc_fn, look);
	err = put_group(skb, look);
	kvfree(look);
	return err;
}
