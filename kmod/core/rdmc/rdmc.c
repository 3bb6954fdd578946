// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMC: the life of a group, and what its process asks for. See rdmc.h.
 *
 * Context: engine, all of it.
 */
#include "core/base/sst.h"
#include "core/base/states.h"
#include "rdmc.h"

static u64 digest_of(const struct spindle_rdmc_config *cfg)
{
	u64 part[5] = { cfg->id, cfg->n, cfg->algorithm, cfg->block };
	u32 i;

	for (i = 0; i < cfg->n; i++) {
		part[4] = cfg->member[i];
		part[0] = spindle_mix(part, 5);
	}
	return part[0];
}

/* A stream is open at once: all members compute the same life, so no HELLO is needed. */
static void open_stream(struct spindle_rdmc *r)
{
	u32 m;

	r->state = SPINDLE_RDMC_S_OPEN;
	r->known = r->others;
	r->deadline = U64_MAX;
	for (m = 0; m < r->cfg.n; m++)
		r->m[m].life = r->cfg.life;
}

/**
 * spindle_rdmc_init() - begin a group
 * @r: group
 * @cfg: what it is; ranges are checked
 * @ops: of the embedder
 *
 * The embedder then reports the lanes that are up already, and runs a pass at once. @r->ctx stays
 * as it is.
 */
void spindle_rdmc_init(struct spindle_rdmc *r, const struct spindle_rdmc_config *cfg,
		       const struct spindle_rdmc_ops *ops)
{
	void *ctx = r->ctx;

	memset(r, 0, sizeof(*r));
	r->ops = ops;
	r->ctx = ctx;
	r->cfg = *cfg;
	r->block_shift = __ffs64(cfg->block);
	r->digest = digest_of(cfg);
	r->others = (U64_MAX >> (64 - cfg->n)) & ~BIT_ULL(cfg->me);
	r->total = U64_MAX;
	r->stir = true;
	r->racks[cfg->me] = cfg->rack;
	if (cfg->stream)
		open_stream(r);
}

/**
 * spindle_rdmc_enter() - the one place where the group's state changes
 * @r: group
 * @to: new state
 *
 * Return: false if there is no such transition
 */
bool spindle_rdmc_enter(struct spindle_rdmc *r, enum spindle_rdmc_state to)
{
	static const u8 from[] = {
		/* A new group begins here. */
		[SPINDLE_RDMC_S_OPENING] = 0,
		[SPINDLE_RDMC_S_OPEN] = BIT(SPINDLE_RDMC_S_OPENING),
		[SPINDLE_RDMC_S_CLOSING] = BIT(SPINDLE_RDMC_S_OPEN),
		[SPINDLE_RDMC_S_CLOSED] = BIT(SPINDLE_RDMC_S_CLOSING),
		/* A group that is closed waits for no member, so it misses none. */
		[SPINDLE_RDMC_S_FAILING] = BIT(SPINDLE_RDMC_S_OPENING) |
					   BIT(SPINDLE_RDMC_S_OPEN) |
					   BIT(SPINDLE_RDMC_S_CLOSING),
		/* Writes into the memory of a process may be under way until FAILING ends. */
		[SPINDLE_RDMC_S_FAILED] = BIT(SPINDLE_RDMC_S_FAILING),
	};

	if (!spindle_may(from, r->state, to))
		return false;
	r->state = to;
	/* The members that are waited for next get a whole timeout. */
	r->since = r->now;
	r->stir = true;
	return true;
}

/**
 * spindle_rdmc_step() - the one place where an object's phase changes
 * @r: group
 * @object: number
 * @to: new phase
 *
 * Return: false if there is no such transition
 */
bool spindle_rdmc_step(struct spindle_rdmc *r, u64 object, enum spindle_rdmc_phase to)
{
	static const u8 from[] = {
		/* A new object begins here. */
		[SPINDLE_RDMC_P_NONE] = 0,
		[SPINDLE_RDMC_P_WAITING] = BIT(SPINDLE_RDMC_P_NONE),
		/* The root has memory before it announces the object. */
		[SPINDLE_RDMC_P_MOVING] = BIT(SPINDLE_RDMC_P_NONE) |
					  BIT(SPINDLE_RDMC_P_WAITING),
		[SPINDLE_RDMC_P_STOPPING] = BIT(SPINDLE_RDMC_P_WAITING) |
					    BIT(SPINDLE_RDMC_P_MOVING),
		[SPINDLE_RDMC_P_COMPLETE] = BIT(SPINDLE_RDMC_P_MOVING),
		/* Writes into the memory may be under way until STOPPING ends. */
		[SPINDLE_RDMC_P_ABORTED] = BIT(SPINDLE_RDMC_P_STOPPING),
	};

	struct spindle_rdmc_object *obj = spindle_rdmc_object(r, object);

	if (!spindle_may(from, obj->phase, to))
		return false;
	r->stopping -= obj->phase == SPINDLE_RDMC_P_STOPPING;
	r->stopping += to == SPINDLE_RDMC_P_STOPPING;
	obj->phase = to;
	spindle_rdmc_moved(r, object);
	return true;
}

/**
 * spindle_rdmc_new_object() - there is one more object, in phase NONE
 * @r: group
 * @len: its bytes
 * @tag: its tag
 */
void spindle_rdmc_new_object(struct spindle_rdmc *r, u64 len, u64 tag)
{
	struct spindle_rdmc_object *obj = spindle_rdmc_object(r, r->announced++);

	memset(obj, 0, sizeof(*obj));
	obj->len = len;
	obj->tag = tag;
	obj->blocks = (len + r->cfg.block - 1) >> r->block_shift;
}

static bool failed(const struct spindle_rdmc *r)
{
	return r->state == SPINDLE_RDMC_S_FAILING || r->state == SPINDLE_RDMC_S_FAILED;
}

/**
 * spindle_rdmc_send() - queue an object of the root's process
 * @r: group
 * @len: bytes
 * @tag: number that the other members see with it
 * @mem: the embedder's name for its memory
 * @object: out: its number
 *
 * Return: 0, or an error, after which @mem was not taken
 */
int spindle_rdmc_send(struct spindle_rdmc *r, u64 len, u64 tag, void *mem, u64 *object)
{
	struct spindle_rdmc_object *obj;

	if (!spindle_rdmc_is_root(r))
		return -EPERM;
	if (failed(r))
		return -ECONNABORTED;
	if (r->closing)
		return -ESHUTDOWN;
	if (!len || len > SPINDLE_RDMC_MAX_LEN)
		return -EINVAL;
	if (r->announced - r->ended >= SPINDLE_RDMC_QUEUE)
		return -EAGAIN;
	*object = r->announced;
	spindle_rdmc_new_object(r, len, tag);
	obj = spindle_rdmc_object(r, *object);
	obj->mem = mem;
	obj->got = obj->blocks;
	spindle_rdmc_step(r, *object, SPINDLE_RDMC_P_MOVING);
	r->shown = r->announced;
	r->due |= r->others;
	return 0;
}

/* An object that the process knows and that has not ended. */
static struct spindle_rdmc_object *under_way(struct spindle_rdmc *r, u64 object)
{
	if (r->state == SPINDLE_RDMC_S_CLOSED || failed(r) ||
	    object < r->ended || object >= r->shown)
		return NULL;
	return spindle_rdmc_object(r, object);
}

/**
 * spindle_rdmc_accept() - the process has memory for an object
 * @r: group
 * @object: number
 * @len: bytes of the memory
 * @mem: the embedder's name for it
 * @have: a bit for each block, all 0; the group's until it releases @mem
 *
 * Return: 0, or an error, after which nothing was taken
 */
int spindle_rdmc_accept(struct spindle_rdmc *r, u64 object, u64 len, void *mem,
			unsigned long *have)
{
	struct spindle_rdmc_object *obj = under_way(r, object);

	if (!obj || obj->phase != SPINDLE_RDMC_P_WAITING)
		return -ENOENT;
	if (len != obj->len)
		return -EINVAL;
	obj->mem = mem;
	obj->have = have;
	spindle_rdmc_step(r, object, SPINDLE_RDMC_P_MOVING);
	return 0;
}

/**
 * spindle_rdmc_cancel() - the process does not want an object
 * @r: group
 * @object: number
 * @refuse: the process has never given memory for it
 * @reason: a number for the others
 *
 * Return: 0, or -ENOENT: no such object is under way
 */
int spindle_rdmc_cancel(struct spindle_rdmc *r, u64 object, bool refuse, u32 reason)
{
	u32 error = refuse ? SPINDLE_RDMC_REFUSED : SPINDLE_RDMC_CANCELLED;
	struct spindle_rdmc_object *obj = under_way(r, object);

	if (!obj || obj->phase == SPINDLE_RDMC_P_STOPPING ||
	    (refuse && obj->phase != SPINDLE_RDMC_P_WAITING))
		return -ENOENT;
	if (spindle_rdmc_is_root(r)) {
		spindle_rdmc_abort(r, object, error, reason, 1);
		return 0;
	}
	/*
	 * All own sends are posted, so this is too late to stop members that wait for our blocks.
	 */
	if (spindle_rdmc_has_all(obj))
		return -ENOENT;
	spindle_rdmc_give_up(r, object, error, reason, r->cfg.me + 1);
	obj->stop_due = true;
	r->due |= BIT_ULL(0);
	return 0;
}

/**
 * spindle_rdmc_close() - the process has no more to send, or has seen all
 * @r: group
 *
 * Return: 0, or -ECONNABORTED
 */
int spindle_rdmc_close(struct spindle_rdmc *r)
{
	if (failed(r))
		return -ECONNABORTED;
	r->closing = true;
	return 0;
}

/* Drop the grants that we have for an object, and have them returned. */
static void forget_grants(struct spindle_rdmc *r, u64 object)
{
	u64 rest;

	for (rest = r->others; rest; rest &= rest - 1) {
		struct spindle_rdmc_member *p = &r->m[__ffs64(rest)];
		u32 i, to = p->grant_head;

		for (i = p->grant_head; i != p->grant_tail; i++) {
			struct spindle_rdmc_grant *g =
				&p->grant[i & (SPINDLE_RDMC_GRANTS - 1)];

			if (g->object == object) {
				spindle_rdmc_object(r, object)->to_return |= rest & -rest;
				p->return_due = true;
				r->due |= rest & -rest;
			} else {
				p->grant[to++ & (SPINDLE_RDMC_GRANTS - 1)] = *g;
			}
		}
		p->grant_tail = to;
	}
}

/**
 * spindle_rdmc_give_up() - grant and write no more of an object
 * @r: group
 * @object: number, of one that has not ended here
 * @error: enum spindle_rdmc_error
 * @reason: the process's
 * @culprit: rank + 1 of the member that wanted that
 *
 * Grants to us are returned. The object has ended when nothing is under way.
 */
void spindle_rdmc_give_up(struct spindle_rdmc *r, u64 object, u32 error, u32 reason,
			  u32 culprit)
{
	struct spindle_rdmc_object *obj = spindle_rdmc_object(r, object);

	obj->error = error;
	obj->reason = reason;
	obj->culprit = culprit;
	if (spindle_rdmc_step(r, object, SPINDLE_RDMC_P_STOPPING))
		forget_grants(r, object);
}

/**
 * spindle_rdmc_abort() - the root decides that an object is given up everywhere
 * @r: group, at its root
 * @object: number, of one that has not ended everywhere
 * @error: enum spindle_rdmc_error
 * @reason: of the process that wanted that
 * @culprit: its rank + 1
 *
 * The first reason counts.
 */
void spindle_rdmc_abort(struct spindle_rdmc *r, u64 object, u32 error, u32 reason,
			u32 culprit)
{
	struct spindle_rdmc_object *obj = spindle_rdmc_object(r, object);
	u64 rest;

	if (obj->decided)
		return;
	spindle_rdmc_give_up(r, object, error, reason, culprit);
	obj->decided = true;
	spindle_rdmc_moved(r, object);
	obj->abort_due = r->others;
	for (rest = r->others; rest; rest &= rest - 1)
		r->m[__ffs64(rest)].abort_due = true;
	r->due |= r->others;
}

/*
 * A member may go when it has said that it has all, and knows that we have all. The last messages
 * to it may not have arrived, but it does not need them.
 */
static bool may_go(const struct spindle_rdmc *r, u32 m)
{
	return r->m[m].closed && r->m[m].close_said;
}

/**
 * spindle_rdmc_end_with() - end the writes between this member and another, of a stream
 * @r: stream
 * @m: rank
 *
 * Grants of the other member are not used any more: it takes them back when it gets END.
 */
void spindle_rdmc_end_with(struct spindle_rdmc *r, u32 m)
{
	struct spindle_rdmc_member *p = &r->m[m];

	if (p->end_said || !(p->up || p->spoke))
		return;
	p->end_due = true;
	r->due |= BIT_ULL(m);
}

/**
 * spindle_rdmc_fall() - let the group fail, if it has not
 * @r: group
 * @culprit: rank + 1 of the member that is missing, or 0: the reason is here
 * @error: enum spindle_rdmc_error
 *
 * The first reason counts. All members are told: FAIL, or END of a stream.
 *
 * Return: true if it fails now
 */
bool spindle_rdmc_fall(struct spindle_rdmc *r, u32 culprit, u32 error)
{
	u64 rest;

	if (!spindle_rdmc_enter(r, SPINDLE_RDMC_S_FAILING))
		return false;
	r->error = error;
	r->culprit = culprit;
	for (rest = r->others; rest; rest &= rest - 1) {
		if (r->cfg.stream)
			spindle_rdmc_end_with(r, __ffs64(rest));
		else
			r->m[__ffs64(rest)].fail_due = true;
	}
	r->due |= r->others;
	return true;
}

/**
 * spindle_rdmc_fail() - a member is missing here, or this member leaves
 * @r: group
 * @culprit: rank + 1 of the member that is missing; 0: the reason is here
 * @error: enum spindle_rdmc_error
 *
 * A member that has done all its work is not missed.
 */
void spindle_rdmc_fail(struct spindle_rdmc *r, u32 culprit, u32 error)
{
	if ((error == SPINDLE_RDMC_LOST || error == SPINDLE_RDMC_VIEW) &&
	    culprit && culprit != r->cfg.me + 1 && may_go(r, culprit - 1))
		return;
	spindle_rdmc_fall(r, culprit, error);
}

/**
 * spindle_rdmc_remind() - tell waiting members that something goes on
 * @r: group, at its root
 *
 * Members may wait for the end, or for blocks that others get first.
 */
void spindle_rdmc_remind(struct spindle_rdmc *r)
{
	bool closing = r->state == SPINDLE_RDMC_S_CLOSING;
	u64 rest;

	if (r->state > SPINDLE_RDMC_S_CLOSING ||
	    r->now - r->reminded < r->cfg.timeout_ns >> 2)
		return;
	r->reminded = r->now;
	for (rest = r->others; rest; rest &= rest - 1) {
		struct spindle_rdmc_member *p = &r->m[__ffs64(rest)];

		if (closing)
			p->close_due = true;
		else
			p->alive_due = p->ended < p->told;
	}
	r->due |= r->others;
}

/**
 * spindle_rdmc_cut() - break the lane to a member
 * @r: group
 * @m: rank
 */
void spindle_rdmc_cut(struct spindle_rdmc *r, u32 m)
{
	if (r->m[m].cut || r->m[m].lost)
		return;
	r->m[m].cut = true;
	r->ops->cut(r, m);
}

/**
 * spindle_rdmc_breach() - a member has broken the protocol
 * @r: group
 * @m: rank
 */
void spindle_rdmc_breach(struct spindle_rdmc *r, u32 m)
{
	spindle_rdmc_fall(r, m + 1, SPINDLE_RDMC_PROTOCOL);
	spindle_rdmc_cut(r, m);
}

/**
 * spindle_rdmc_differ() - a member contradicts what the root has said here
 * @r: group
 * @m: rank
 *
 * The root knows what it has said, so that @m breaks the protocol. Another member cannot tell
 * whether @m lies, or the root, which may have told @m something else. The group ends because of
 * the root, and the lane to @m stays. In a stream a member has to be cut: that is the root, too.
 */
void spindle_rdmc_differ(struct spindle_rdmc *r, u32 m)
{
	if (spindle_rdmc_is_root(r) || !m)
		spindle_rdmc_breach(r, m);
	else if (r->cfg.stream)
		spindle_rdmc_breach(r, 0);
	else
		spindle_rdmc_fall(r, 1, SPINDLE_RDMC_PROTOCOL);
}

/**
 * spindle_rdmc_astray() - a member has granted what the schedule does not have
 * @r: group
 * @m: rank; its idea of the object's length is ours
 *
 * The schedule of hybrid follows from the racks. Each member says its own rack, and the others
 * cannot know whether it has said the same to all. So @m is not cut.
 */
void spindle_rdmc_astray(struct spindle_rdmc *r, u32 m)
{
	if (r->cfg.algorithm == SPINDLE_RDMC_HYBRID)
		spindle_rdmc_fall(r, m + 1, SPINDLE_RDMC_PROTOCOL);
	else
		spindle_rdmc_breach(r, m);
}

/**
 * spindle_rdmc_returned() - a member writes no more: take back what was granted to it
 * @r: group
 * @m: rank
 * @object: of this object; U64_MAX: of all
 */
void spindle_rdmc_returned(struct spindle_rdmc *r, u32 m, u64 object)
{
	struct spindle_rdmc_slot *slot = r->m[m].slot;
	u32 g;

	for (g = 0; g < SPINDLE_RDMC_GRANTS; g++) {
		if (slot[g].state != SPINDLE_RDMC_GRANTED ||
		    (object != U64_MAX && slot[g].object != object))
			continue;
		slot[g].state = SPINDLE_RDMC_USED;
		r->to_revoke |= BIT_ULL(m);
	}
}

/**
 * spindle_rdmc_everywhere() - has every member an object, and ended it?
 * @r: group, at its root
 * @object: number
 *
 * Return: true if so; false for ever if any object was given up
 */
bool spindle_rdmc_everywhere(const struct spindle_rdmc *r, u64 object)
{
	return object < r->front && !spindle_rdmc_spoiled(r);
}

/**
 * spindle_rdmc_spoiled() - was any object given up, at any member?
 * @r: group, at its root
 *
 * Return: true if so, as far as the root knows
 */
bool spindle_rdmc_spoiled(const struct spindle_rdmc *r)
{
	u64 rest;

	if (r->complete != r->ended)
		return true;
	for (rest = r->others; rest; rest &= rest - 1) {
		const struct spindle_rdmc_member *p = &r->m[__ffs64(rest)];

		if (p->complete != p->ended)
			return true;
	}
	return false;
}

/**
 * spindle_rdmc_stat() - how far is a member?
 * @r: group
 * @stat: in: member, a rank; out: what is known of it
 */
void spindle_rdmc_stat(const struct spindle_rdmc *r, struct spindle_rdmc_stat *stat)
{
	const struct spindle_rdmc_member *p = &r->m[stat->member];
	bool own = stat->member == r->cfg.me;

	stat->finished = own ? r->ended : p->ended;
	stat->object = stat->finished;
	stat->blocks = own ? spindle_rdmc_here(r) : p->blocks;
	stat->total = stat->object < r->announced ?
		      r->object[stat->object & (SPINDLE_RDMC_OBJECTS - 1)].blocks : 0;
}
