// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMC: a pass, which moves blocks, and what lanes report. See rdmc.h.
 *
 * Context: engine, all of it.
 */
#include "rdmc.h"

#define BITS_OF_LONG	(8 * sizeof(unsigned long))

static bool has_block(const struct spindle_rdmc_object *obj, u32 block)
{
	return !obj->have || (obj->have[block / BITS_OF_LONG] >> block % BITS_OF_LONG & 1);
}

static void set_block(struct spindle_rdmc_object *obj, u32 block)
{
	obj->have[block / BITS_OF_LONG] |= 1UL << block % BITS_OF_LONG;
	obj->got++;
}

static bool failing(const struct spindle_rdmc *r)
{
	return r->state == SPINDLE_RDMC_S_FAILING;
}

static void tell(struct spindle_rdmc *r, u32 kind, u64 object, u32 error, u32 culprit)
{
	struct spindle_rdmc_event ev = {
		.kind = kind,
		.error = error,
		.object = object,
		.node = culprit,
	};

	if (r->cfg.stream)
		return;
	if (kind == SPINDLE_RDMC_INCOMING || kind == SPINDLE_RDMC_DONE) {
		const struct spindle_rdmc_object *obj = spindle_rdmc_object(r, object);

		ev.len = obj->len;
		ev.tag = obj->tag;
		ev.reason = obj->reason;
		ev.first_ns = obj->first_ns;
		ev.busy_ns = obj->busy_ns;
	}
	r->ops->event(r, &ev);
}

/* ---- what lanes report ------------------------------------------------------ */

/**
 * spindle_rdmc_arrived() - a block has come that we had granted
 * @r: group
 * @m: rank of the member that wrote it
 * @g: number of the grant, as the write said
 */
void spindle_rdmc_arrived(struct spindle_rdmc *r, u32 m, u32 g)
{
	struct spindle_rdmc_slot *slot = &r->m[m].slot[g & (SPINDLE_RDMC_GRANTS - 1)];
	struct spindle_rdmc_object *obj = spindle_rdmc_object(r, slot->object);

	/* As in spindle_rdmc_hear(): nothing was granted before the stream begins. */
	if (!r->cfg.life || r->m[m].lost || r->m[m].cut)
		return;
	if (g >= SPINDLE_RDMC_GRANTS || slot->state != SPINDLE_RDMC_GRANTED) {
		spindle_rdmc_breach(r, m);
		return;
	}
	slot->state = SPINDLE_RDMC_USED;
	r->to_revoke |= BIT_ULL(m);
	set_block(obj, slot->block);
	spindle_rdmc_moved(r, slot->object);
	spindle_count(&r->stats.blocks_in, 1);
	spindle_count(&r->stats.bytes_in, spindle_rdmc_block_len(r, obj->len, slot->block));
}

/**
 * spindle_rdmc_written() - an own write has ended, well or not
 * @r: group
 * @object: number of its object
 */
void spindle_rdmc_written(struct spindle_rdmc *r, u64 object)
{
	spindle_rdmc_object(r, object)->writing--;
	r->writing--;
	spindle_rdmc_moved(r, object);
}

static void free_slot(struct spindle_rdmc *r, struct spindle_rdmc_slot *slot)
{
	slot->state = SPINDLE_RDMC_FREE;
	spindle_rdmc_object(r, slot->object)->granted--;
	r->granted--;
}

/**
 * spindle_rdmc_revoked() - a grant is taken back: the member cannot write there any more
 * @r: group
 * @m: rank of the member that had it
 * @g: number of the grant
 *
 * After spindle_rdmc_quiet() this has no effect.
 */
void spindle_rdmc_revoked(struct spindle_rdmc *r, u32 m, u32 g)
{
	if (r->m[m].slot[g].state == SPINDLE_RDMC_REVOKING)
		free_slot(r, &r->m[m].slot[g]);
}

/**
 * spindle_rdmc_up() - the lane to a member is there
 * @r: group
 * @m: rank
 */
void spindle_rdmc_up(struct spindle_rdmc *r, u32 m)
{
	if (r->m[m].lost)
		return;
	r->m[m].up = true;
	r->m[m].hello_due = !r->cfg.stream;
	r->due |= BIT_ULL(m);
}

/**
 * spindle_rdmc_down() - the lane to a member is broken; there may be another one
 * @r: group
 * @m: rank
 *
 * While a group opens, it may have got a lane that the other end has closed already. Nothing is
 * lost with that lane as long as nothing was heard of the member. If the member has heard of us,
 * and its answer was lost, it tells the others, or this node times out.
 *
 * The same is true of a stream as long as nothing was said on the lane, even if the stream has
 * failed: the member may grant something on the next lane, and wait for END. If the other end has
 * said something on the lane that was lost, the other end knows that. Then it misses this node
 * after a while, see spindle_stream_cut().
 *
 * A lane is replaced SPINDLE_RDMC_LANES times, unless the configuration says that it is endless.
 *
 * Return: true: spindle_rdmc_up() may follow; false: the lane is lost, as by spindle_rdmc_lost()
 */
bool spindle_rdmc_down(struct spindle_rdmc *r, u32 m)
{
	struct spindle_rdmc_member *p = &r->m[m];
	bool early = r->cfg.stream ? !p->up && !p->spoke :
				     r->state == SPINDLE_RDMC_S_OPENING && !p->life;
	bool spent = !r->cfg.endless && p->replaced >= SPINDLE_RDMC_LANES;

	if (!early || spent || p->lost || p->cut) {
		spindle_rdmc_lost(r, m);
		return false;
	}
	p->up = false;
	return true;
}

/**
 * spindle_rdmc_replaced() - another lane takes the place of the broken one
 * @r: group
 * @m: rank
 *
 * To be called once for each broken lane of which spindle_rdmc_down() last said true.
 */
void spindle_rdmc_replaced(struct spindle_rdmc *r, u32 m)
{
	r->m[m].replaced++;
}

/**
 * spindle_rdmc_lost() - the lane to a member is broken
 * @r: group
 * @m: rank
 */
void spindle_rdmc_lost(struct spindle_rdmc *r, u32 m)
{
	if (r->m[m].lost)
		return;
	if (r->cfg.stream && spindle_rdmc_fall(r, m + 1, SPINDLE_RDMC_LOST))
		spindle_rdmc_cut(r, m);
	r->m[m].lost = true;
	r->stir = true;
	spindle_rdmc_fail(r, m + 1, SPINDLE_RDMC_LOST);
}

/**
 * spindle_rdmc_quiet() - the device has finished with a broken lane
 * @r: group
 * @m: rank
 *
 * Grants on that lane cannot be used any more.
 */
void spindle_rdmc_quiet(struct spindle_rdmc *r, u32 m)
{
	u32 g;

	spindle_rdmc_lost(r, m);
	r->m[m].quiet = true;
	for (g = 0; g < SPINDLE_RDMC_GRANTS; g++)
		if (r->m[m].slot[g].state != SPINDLE_RDMC_FREE)
			free_slot(r, &r->m[m].slot[g]);
}

/* ---- blocks ----------------------------------------------------------------- */

/* May grants and writes go to a member? It knows our life, and has not said FAIL or END. */
static bool may_move(struct spindle_rdmc *r, u32 m)
{
	const struct spindle_rdmc_member *p = &r->m[m];

	return p->up && !p->hello_due && !p->failed && spindle_rdmc_may_say(r, m);
}

static bool take_back(struct spindle_rdmc *r)
{
	bool any = false;
	u64 rest;
	u32 g;

	for (rest = r->to_revoke; rest; rest &= rest - 1) {
		u32 m = __ffs64(rest);
		struct spindle_rdmc_slot *slot = r->m[m].slot;

		for (g = 0; g < SPINDLE_RDMC_GRANTS; g++) {
			if (slot[g].state != SPINDLE_RDMC_USED)
				continue;
			if (!spindle_rdmc_may_say(r, m))
				break;
			slot[g].state = SPINDLE_RDMC_REVOKING;
			r->ops->revoke(r, m, g);
			any = true;
		}
		/* Grants on a lost lane are not taken back: spindle_rdmc_quiet() frees them. */
		if (g == SPINDLE_RDMC_GRANTS || r->m[m].lost)
			r->to_revoke &= ~BIT_ULL(m);
	}
	return any;
}

/*
 * Find the next hop of a cursor: objects in their order, hops of each in the order of the
 * schedule. Objects that were given up have none.
 */
static bool next_hop(struct spindle_rdmc *r, struct spindle_rdmc_cursor *c,
		     bool (*next)(struct spindle_walk *w, const struct spindle_schedule *s,
				  struct spindle_hop *hop))
{
	while (c->object < r->announced) {
		struct spindle_rdmc_object *obj = spindle_rdmc_object(r, c->object);

		if (obj->phase == SPINDLE_RDMC_P_WAITING || obj->phase == SPINDLE_RDMC_P_MOVING) {
			if (c->known)
				return true;
			if (!c->begun) {
				spindle_schedule_init(&c->schedule, r->cfg.algorithm, r->cfg.n,
						      r->cfg.me, obj->blocks, r->racks);
				spindle_walk_begin(&c->walk, &c->schedule);
				c->begun = true;
			}
			c->known = next(&c->walk, &c->schedule, &c->hop);
			if (c->known)
				return true;
			if (c == &r->send)
				obj->sends_done = true;
		}
		c->object++;
		c->begun = false;
		c->known = false;
	}
	return false;
}

/* Grant the next block to the member that sends it to us, if one of its grant slots is free. */
static bool grant_next(struct spindle_rdmc *r)
{
	const struct spindle_hop *hop = &r->recv.hop;
	struct spindle_rdmc_msg msg = { .word = SPINDLE_RDMC_GRANT };
	struct spindle_rdmc_object *obj;
	struct spindle_rdmc_slot *slot;
	u32 g;

	if (!next_hop(r, &r->recv, spindle_walk_recv))
		return false;
	obj = spindle_rdmc_object(r, r->recv.object);
	if (obj->phase != SPINDLE_RDMC_P_MOVING || (obj->returned & BIT_ULL(hop->peer)))
		return false;
	slot = r->m[hop->peer].slot;
	for (g = 0; g < SPINDLE_RDMC_GRANTS && slot[g].state != SPINDLE_RDMC_FREE; g++)
		;
	if (g == SPINDLE_RDMC_GRANTS || !may_move(r, hop->peer))
		return false;
	slot[g].state = SPINDLE_RDMC_GRANTED;
	slot[g].block = hop->block;
	slot[g].object = r->recv.object;
	obj->granted++;
	r->granted++;
	msg.to = r->m[hop->peer].life;
	msg.arg = hop->block;
	msg.w[0] = r->recv.object;
	msg.w[3] = obj->len;
	spindle_count(&r->stats.grants, 1);
	spindle_count(&r->stats.said, 1);
	r->recv.known = false;
	r->ops->grant(r, hop->peer, g, obj->mem, hop->block,
		      spindle_rdmc_block_len(r, obj->len, hop->block), &msg);
	return true;
}

/* Do the next own send, if the block is here and its receiver has granted it. */
static bool send_next(struct spindle_rdmc *r)
{
	const struct spindle_hop *hop = &r->send.hop;
	struct spindle_rdmc_grant grant;
	struct spindle_rdmc_object *obj;
	struct spindle_rdmc_member *p;
	u32 len;

	if (r->writing >= SPINDLE_RDMC_SENDS || !next_hop(r, &r->send, spindle_walk_send))
		return false;
	p = &r->m[hop->peer];
	if (p->grant_head == p->grant_tail)
		return false;
	grant = p->grant[p->grant_head & (SPINDLE_RDMC_GRANTS - 1)];
	obj = spindle_rdmc_object(r, r->send.object);
	if (grant.object > r->send.object || obj->phase != SPINDLE_RDMC_P_MOVING)
		return false;
	/* The receiver's schedule differs from ours, or it grants a block that it has. */
	if (grant.object < r->send.object || grant.block != hop->block) {
		spindle_rdmc_astray(r, hop->peer);
		return false;
	}
	if (!has_block(obj, hop->block) || !may_move(r, hop->peer))
		return false;
	len = spindle_rdmc_block_len(r, obj->len, hop->block);
	p->grant_head++;
	obj->writing++;
	r->writing++;
	if (!obj->busy_since)
		obj->busy_since = r->now;
	if (!obj->first_ns)
		obj->first_ns = r->now;
	spindle_count(&r->stats.blocks_out, 1);
	spindle_count(&r->stats.bytes_out, len);
	r->send.known = false;
	r->ops->write(r, hop->peer, r->send.object, obj->mem, hop->block, len, &grant);
	return true;
}

/* ---- objects and the group --------------------------------------------------- */

/* All that went on since the last pass, which was at @before, counts as going on now. */
static void account(struct spindle_rdmc *r, u64 before)
{
	bool any = r->stir || r->timed;
	u32 rest;

	/*
	 * A member that waits runs passes more often than that. So this node has slept, which the
	 * others need not have done: do not count the time as their silence.
	 */
	if (any || r->now - before > r->cfg.timeout_ns)
		r->quiet_ns = r->now;
	if (any && spindle_rdmc_is_root(r) && !r->cfg.stream)
		spindle_rdmc_remind(r);
	if (r->stir)
		r->since = r->now;
	r->stir = false;
	for (rest = r->timed; rest; rest &= rest - 1) {
		struct spindle_rdmc_object *obj = &r->object[__ffs64(rest)];

		obj->moved_ns = r->now;
		if (!obj->first_ns && obj->have && obj->got)
			obj->first_ns = r->now;
		if (obj->busy_since && !obj->writing) {
			obj->busy_ns += r->now - obj->busy_since;
			obj->busy_since = 0;
		}
	}
	r->timed = 0;
}

static bool has_ended(struct spindle_rdmc *r, u64 object)
{
	const struct spindle_rdmc_object *obj = spindle_rdmc_object(r, object);

	if (obj->granted || obj->writing)
		return false;
	if (failing(r) || spindle_rdmc_has_all(obj))
		return true;
	/*
	 * The root keeps an object until it was announced, because it could not be announced later.
	 */
	if (spindle_rdmc_is_root(r) && object - r->front >= SPINDLE_RDMC_QUEUE)
		return false;
	/* The reason comes from the root, and is the same at all members. */
	return obj->phase == SPINDLE_RDMC_P_STOPPING && obj->decided;
}

/* Returns false if there is so much memory that other work has its turn before the rest of it. */
static bool release(struct spindle_rdmc *r, u64 object)
{
	struct spindle_rdmc_object *obj = spindle_rdmc_object(r, object);

	if (!obj->mem)
		return true;
	if (!r->ops->release(r, obj->mem)) {
		spindle_rdmc_moved(r, object);
		return false;
	}
	obj->mem = NULL;
	obj->have = NULL;
	return true;
}

static void end_object(struct spindle_rdmc *r, u64 object)
{
	struct spindle_rdmc_object *obj = spindle_rdmc_object(r, object);

	if (spindle_rdmc_has_all(obj)) {
		spindle_rdmc_step(r, object, SPINDLE_RDMC_P_COMPLETE);
		r->complete++;
		spindle_count(&r->stats.complete, 1);
	} else {
		if (!obj->decided) {
			obj->error = r->error;
			obj->culprit = r->culprit;
			obj->reason = 0;
		}
		spindle_rdmc_step(r, object, SPINDLE_RDMC_P_STOPPING);
		spindle_rdmc_step(r, object, SPINDLE_RDMC_P_ABORTED);
		spindle_count(&r->stats.aborted, 1);
	}
	r->ended++;
	r->count_front = true;
	if (object < r->shown)
		tell(r, SPINDLE_RDMC_DONE, object,
		     obj->phase == SPINDLE_RDMC_P_COMPLETE ? SPINDLE_RDMC_OK : obj->error,
		     obj->phase == SPINDLE_RDMC_P_COMPLETE ? 0 : obj->culprit);
}

/* At the root: count the objects that have ended everywhere. */
static bool count_front(struct spindle_rdmc *r)
{
	u64 rest, low = r->ended;

	r->count_front = false;
	for (rest = r->others; rest; rest &= rest - 1)
		low = min(low, r->m[__ffs64(rest)].ended);
	if (low == r->front)
		return false;
	r->front = low;
	r->front_ns = r->now;
	r->due |= r->others;
	return true;
}

static bool close_group(struct spindle_rdmc *r)
{
	u64 rest;

	if (!spindle_rdmc_enter(r, SPINDLE_RDMC_S_CLOSING))
		return false;
	for (rest = r->others; rest; rest &= rest - 1)
		r->m[__ffs64(rest)].close_due = true;
	r->due |= r->others;
	r->reminded = r->now;
	return true;
}

/* Close the group if all members have said that they have all, as many objects as the root. */
static bool closed_group(struct spindle_rdmc *r)
{
	bool all = r->complete == r->ended;
	u64 rest;

	if (r->closed != r->others || spindle_rdmc_missing(r) != U32_MAX)
		return false;
	for (rest = r->others; rest; rest &= rest - 1) {
		u32 m = __ffs64(rest);

		if (r->m[m].ended != r->ended) {
			spindle_rdmc_differ(r, m);
			return true;
		}
		all &= r->m[m].complete == r->ended;
	}
	spindle_rdmc_enter(r, SPINDLE_RDMC_S_CLOSED);
	tell(r, SPINDLE_RDMC_CLOSED, r->ended, all ? SPINDLE_RDMC_OK : SPINDLE_RDMC_INCOMPLETE, 0);
	return true;
}

static bool listens(struct spindle_rdmc *r)
{
	return r->cfg.stream || r->ops->listens(r);
}

/* End objects in their order, and then the group. */
static bool finish(struct spindle_rdmc *r)
{
	u64 total, ended = r->ended, end = failing(r) ? r->announced : r->shown;
	bool any;

	while (r->ended < end && has_ended(r, r->ended) && (failing(r) || listens(r))) {
		if (!release(r, r->ended))
			return true;
		end_object(r, r->ended);
	}
	any = r->ended != ended;
	if (failing(r)) {
		if (r->granted || r->writing || r->ended < r->announced)
			return any;
		spindle_rdmc_enter(r, SPINDLE_RDMC_S_FAILED);
		tell(r, SPINDLE_RDMC_FAILED, 0, r->error, r->culprit);
		return true;
	}
	if (r->state == SPINDLE_RDMC_S_CLOSED || r->state == SPINDLE_RDMC_S_FAILED)
		return any;
	total = spindle_rdmc_is_root(r) ? r->announced : r->total;
	if (r->ended != total)
		return any;
	if (!spindle_rdmc_is_root(r) && !r->told_closing) {
		r->told_closing = true;
		tell(r, SPINDLE_RDMC_CLOSING, total, SPINDLE_RDMC_OK, 0);
	}
	if (r->closing)
		any |= close_group(r);
	if (r->state == SPINDLE_RDMC_S_CLOSING)
		any |= closed_group(r);
	return any;
}

/* Has enough come to tell the root? */
static void progress(struct spindle_rdmc *r)
{
	u32 here, step;

	if (r->told_ended == r->ended) {
		/* Blocks only matter for timeouts, and a stream has none. */
		if (r->cfg.stream)
			return;
		here = spindle_rdmc_here(r);
		if (here == r->told_blocks)
			return;
		step = (spindle_rdmc_object(r, r->ended)->blocks + 15) >> 4;
		if (here - r->told_blocks < step && r->now - r->told_ns < r->cfg.timeout_ns >> 3)
			return;
	}
	r->due |= BIT_ULL(0);
}

static bool show(struct spindle_rdmc *r)
{
	bool any = false;

	if (r->state == SPINDLE_RDMC_S_OPENING && r->known == r->others) {
		spindle_rdmc_enter(r, SPINDLE_RDMC_S_OPEN);
		r->front_ns = r->now;
		r->reminded = r->now;
		tell(r, SPINDLE_RDMC_OPENED, 0, SPINDLE_RDMC_OK, 0);
		any = true;
	}
	if (r->state != SPINDLE_RDMC_S_OPEN)
		return any;
	for (; r->shown < r->announced; any = true)
		tell(r, SPINDLE_RDMC_INCOMING, r->shown++, SPINDLE_RDMC_OK, 0);
	return any;
}

/**
 * spindle_rdmc_pass() - do what can be done now
 * @r: group
 * @now: time, ns; not 0, never back
 *
 * A pass is needed after anything was reported or asked for, and when there is room again where
 * there was none. It is also needed when something may be flushed, and when spindle_rdmc_due() says
 * so.
 *
 * Return: true if anything was done: more may be possible
 */
bool spindle_rdmc_pass(struct spindle_rdmc *r, u64 now)
{
	u64 before = r->now;
	bool any;

	r->now = now;
	account(r, before);
	any = show(r);
	if (r->to_revoke)
		any |= take_back(r);
	if (r->state == SPINDLE_RDMC_S_OPEN) {
		while (send_next(r))
			any = true;
		while (grant_next(r))
			any = true;
	}
	if (r->state != SPINDLE_RDMC_S_OPENING)
		any |= finish(r);
	if (r->count_front && spindle_rdmc_is_root(r))
		any |= count_front(r);
	if (!spindle_rdmc_is_root(r))
		progress(r);
	if (r->due)
		any |= spindle_rdmc_talk(r);
	/* A decision there makes the deadline due, so that another pass says it. */
	spindle_rdmc_judge(r);
	return any || r->deadline <= now;
}
