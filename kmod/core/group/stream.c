// SPDX-License-Identifier: GPL-2.0-only
/*
 * Streams: how the large messages of a subgroup come to its members. See stream.h.
 *
 * Context: engine, all of it.
 */
#include "core/base/sst.h"
#include "stream.h"

static struct spindle_stream *own_stream(struct spindle_streams *ss)
{
	u32 s = ss->mc->my_sender;

	return s == SPINDLE_NO_RANK ? NULL : &ss->stream[s];
}

/* ---- life -------------------------------------------------------------------- */

/* The members of a sender's stream: the sender, and the others in the order of the view. */
static void name_members(struct spindle_rdmc_config *cfg, const struct spindle_view *view,
			 u32 index, u32 s, u32 me)
{
	const struct spindle_view_subgroup *sg = &view->subgroup[index];
	u32 r, m, n = 1;

	for (r = 0; r < view->num_members; r++) {
		u64 bit = BIT_ULL(r);

		if (!(sg->members & bit))
			continue;
		m = (sg->senders & bit) && spindle_mask_rank(sg->senders, r) == s ? 0 : n++;
		cfg->member[m] = view->member[r].id;
		if (spindle_mask_rank(sg->members, r) == me)
			cfg->me = m;
	}
	cfg->n = n;
}

/**
 * spindle_streams_init() - set up the streams of a subgroup; none has begun
 * @ss: zeroed; all but @vid and what follows is set, and @stream has an entry for each sender
 * @view: of the subgroup
 * @index: of the subgroup
 * @block: bytes of a block, the same at all members
 */
void spindle_streams_init(struct spindle_streams *ss, const struct spindle_view *view, u32 index,
			  u32 block)
{
	u32 s;

	for (s = 0; s < ss->mc->senders; s++) {
		struct spindle_rdmc_config *cfg = &ss->stream[s].cfg;

		ss->stream[s].ss = ss;
		cfg->stream = true;
		cfg->endless = ss->endless;
		cfg->algorithm = SPINDLE_RDMC_PIPELINE;
		cfg->block = block;
		name_members(cfg, view, index, s, ss->mc->me);
	}
}

/* All members compute the same life for a beginning of a stream, and another one for any other. */
static u64 life_of(const struct spindle_streams *ss, u32 s)
{
	u64 part[] = { ss->mc->id, ss->vid, s };

	return spindle_mix(part, 3) | 1;
}

static void begin(struct spindle_streams *ss, u32 s)
{
	struct spindle_stream *st = &ss->stream[s];
	u64 rest;

	st->wanted = false;
	st->parted = 0;
	st->late = 0;
	st->cfg.life = life_of(ss, s);
	spindle_rdmc_init(&st->r, &st->cfg, &ss->ops->rdmc);
	/* A lane may have broken while no stream needed it. */
	for (rest = st->r.others; rest; rest &= rest - 1)
		if (ss->ops->lost(&st->r, __ffs64(rest)))
			spindle_rdmc_lost(&st->r, __ffs64(rest));
}

/**
 * spindle_streams_begin() - the subgroup begins, or goes on
 * @ss: streams; quiet
 * @vid: the view that the subgroup begins with, or through whose beginning it stays
 * @stayed: the subgroup stays
 *
 * To be called before this node shows that it has installed the view, or committed the decree.
 */
void spindle_streams_begin(struct spindle_streams *ss, u64 vid, bool stayed)
{
	u32 s;

	if (ss->mc->members == 1)
		return;
	ss->vid = vid;
	ss->stayed = stayed;
	for (s = 0; s < ss->mc->senders; s++)
		begin(ss, s);
}

/**
 * spindle_streams_stop() - the view ends: nothing is moved any more
 * @ss: streams
 */
void spindle_streams_stop(struct spindle_streams *ss)
{
	u32 s;

	for (s = 0; s < ss->mc->senders && ss->vid; s++) {
		ss->stream[s].wanted = false;
		spindle_rdmc_fail(&ss->stream[s].r, 0, SPINDLE_RDMC_VIEW);
	}
	if (ss->mc->send.held == SPINDLE_HELD_MOVING)
		spindle_mc_hold(ss->mc, SPINDLE_HELD_WAITING);
}

/**
 * spindle_streams_quiet() - can no device write into a ring any more?
 * @ss: streams, stopped
 *
 * No memory of objects is in use any more either.
 *
 * Return: true if so
 */
bool spindle_streams_quiet(const struct spindle_streams *ss)
{
	u32 s;

	for (s = 0; s < ss->mc->senders && ss->vid; s++)
		if (ss->stream[s].r.state != SPINDLE_RDMC_S_FAILED)
			return false;
	return true;
}

static struct spindle_stream *stream_of(struct spindle_rdmc *r)
{
	return container_of(r, struct spindle_stream, r);
}

/**
 * spindle_stream_cut() - a stream has cut a member: does the view go on without it?
 * @r: stream
 * @m: its rank
 *
 * A member that has closed the lane leaves, or misses this node. The other members learn of either,
 * so the view goes on with it for now, see miss_parted().
 */
void spindle_stream_cut(struct spindle_rdmc *r, u32 m)
{
	struct spindle_stream *st = stream_of(r);
	const struct spindle_streams_ops *ops = st->ss->ops;

	if (r->error != SPINDLE_RDMC_LOST || r->culprit != m + 1)
		ops->miss(r, m, SPINDLE_MB_LIED);
	else if (!ops->parted(r, m))
		ops->miss(r, m, SPINDLE_MB_LOST);
	else
		st->parted |= BIT_ULL(m);
}

/*
 * Members that have shown their fence, and have not said END although they may write here. Their
 * END is lost with a lane that was replaced, if they had lost the former one.
 */
static u64 without_end(const struct spindle_streams *ss, const struct spindle_stream *st)
{
	const struct spindle_rdmc *r = &st->r;
	u64 rest, set = 0;
	int rank;

	/* A stream that stays begins before the next view does: the fence is of its former life. */
	if (r->state != SPINDLE_RDMC_S_FAILING || ss->vid > ss->mg->view->vid)
		return 0;
	for (rest = r->others; rest; rest &= rest - 1) {
		u32 m = __ffs64(rest);

		/* The device of this node takes the grants of a lost member back. */
		if (r->m[m].cut || r->m[m].lost || !spindle_rdmc_may_write(r, m))
			continue;
		rank = spindle_view_rank(ss->mg->view, st->cfg.member[m]);
		if (rank >= 0 && spindle_mb_has_wedged(ss->mg->mb, rank))
			set |= BIT_ULL(m);
	}
	return set;
}

/*
 * Which members of a set have been in it for a timeout? A member that enters the set while the
 * stream waits for another one is timed after that one. A pause of this node restarts the time,
 * because the words that the node waits for may have arrived in the pause.
 */
static u64 overdue(struct spindle_stream *st, u64 set, u64 now, u64 timeout)
{
	bool paused = now - st->looked_at > timeout >> 1;

	st->looked_at = now;
	st->late &= set;
	if (!st->late || paused) {
		st->late = set;
		st->late_at = now;
	}
	if (now - st->late_at <= timeout)
		return 0;
	set = st->late;
	st->late = 0;
	return set;
}

/*
 * Miss a member that has closed its lane if, for a timeout, the view goes on with it or the change
 * to the next one waits for it. The member may have received nothing on that lane, and have another
 * one by now. Then what this node has said is lost, and this node will never say END to it. The
 * same is true the other way round, see without_end().
 */
static void miss_parted(struct spindle_streams *ss, struct spindle_stream *st, u64 now)
{
	u64 set;

	if (!ss->mg->mb)
		return;
	set = st->parted | without_end(ss, st);
	if (!set) {
		st->late = 0;
		return;
	}
	for (set = overdue(st, set, now, ss->mg->mb->timeout); set; set &= set - 1) {
		u32 m = __ffs64(set);

		st->parted &= ~BIT_ULL(m);
		ss->ops->miss(&st->r, m, SPINDLE_MB_LOST);
	}
}

/* ---- memory ------------------------------------------------------------------- */

static void want(struct spindle_streams *ss, u32 s, u64 object, u64 len, u64 unit)
{
	struct spindle_stream *st = &ss->stream[s];

	st->wanted = true;
	st->turn++;
	st->object = object;
	st->len = len;
	st->unit = unit;
	ss->ops->want(ss, s);
}

/*
 * Want memory for the next object that is announced. A sender announces one message after the
 * other; if several are announced at once, the others wait.
 */
static bool want_next(struct spindle_streams *ss, u32 s)
{
	struct spindle_stream *st = &ss->stream[s];
	const struct spindle_rdmc_object *obj;
	u64 o;

	if (st->wanted || st->r.state != SPINDLE_RDMC_S_OPEN || spindle_rdmc_is_root(&st->r))
		return false;
	for (o = st->r.ended; o < st->r.shown; o++) {
		obj = spindle_rdmc_object(&st->r, o);
		if (obj->phase != SPINDLE_RDMC_P_WAITING)
			continue;
		if (obj->len > ss->mc->max_msg)
			spindle_rdmc_breach(&st->r, 0);
		else
			want(ss, s, o, obj->len, obj->tag);
		return true;
	}
	return false;
}

/**
 * spindle_streams_give() - give the memory that a stream has asked for
 * @ss: streams
 * @s: sender rank
 * @turn: the stream's turn when it asked
 * @mem: the embedder's name for @len bytes at @unit, for as long as the stream needs them; NULL:
 *	there is none now, and the stream still wants it
 * @have: a bit for each block, all 0; not of the own messages
 *
 * Return: true if the memory was taken; false: it is of no use
 */
bool spindle_streams_give(struct spindle_streams *ss, u32 s, u64 turn, void *mem,
			  unsigned long *have)
{
	struct spindle_stream *st = &ss->stream[s];
	struct spindle_mc *mc = ss->mc;

	if (!st->wanted || st->turn != turn)
		return false;
	if (!mem) {
		spindle_count(&mc->stats.large_nomem, 1);
		return false;
	}
	st->wanted = false;
	if (!spindle_rdmc_is_root(&st->r))
		return !spindle_rdmc_accept(&st->r, st->object, st->len, mem, have);
	if (mc->send.held != SPINDLE_HELD_WAITING ||
	    spindle_rdmc_send(&st->r, st->len, st->unit, mem, &ss->moving))
		return false;
	spindle_mc_hold(mc, SPINDLE_HELD_MOVING);
	return true;
}

/* ---- a pass -------------------------------------------------------------------- */

/* Open the lanes to members that have begun, if they are ready. */
static bool open_lanes(struct spindle_streams *ss, struct spindle_stream *st)
{
	u64 rest;
	bool any = false;

	for (rest = st->r.others; rest; rest &= rest - 1) {
		u32 m = __ffs64(rest);
		int rank;

		if (st->r.m[m].up || st->r.m[m].lost || !ss->ops->ready(&st->r, m))
			continue;
		rank = spindle_view_rank(ss->mg->view, st->cfg.member[m]);
		if (rank < 0 || !spindle_mg_has_begun(ss->mg, rank, ss->vid, ss->stayed))
			continue;
		spindle_rdmc_up(&st->r, m);
		any = true;
	}
	return any;
}

/* Begin to move the own message that is held, or see whether it has arrived. */
static bool move_own(struct spindle_streams *ss)
{
	struct spindle_stream *own = own_stream(ss);
	struct spindle_mc *mc = ss->mc;

	switch (own ? mc->send.held : SPINDLE_HELD_NONE) {
	case SPINDLE_HELD_WAITING:
		if (own->wanted || own->r.state != SPINDLE_RDMC_S_OPEN || !spindle_mc_active(mc))
			return false;
		want(ss, mc->my_sender, 0, mc->send.held_slot.len, mc->send.held_slot.unit);
		return true;
	case SPINDLE_HELD_MOVING:
		if (!spindle_rdmc_everywhere(&own->r, ss->moving))
			return false;
		spindle_mc_hold(mc, SPINDLE_HELD_PLACED);
		return true;
	default:
		return false;
	}
}

/* Without other members, a message that is held is placed at once. */
static bool alone(struct spindle_mc *mc)
{
	if (mc->send.held != SPINDLE_HELD_WAITING)
		return false;
	spindle_mc_hold(mc, SPINDLE_HELD_MOVING);
	spindle_mc_hold(mc, SPINDLE_HELD_PLACED);
	return true;
}

/**
 * spindle_streams_pass() - do what can be done now
 * @ss: streams
 * @now: time, ns; not 0, never back
 *
 * Return: true if anything was done: more may be possible, and the subgroup has to be looked at,
 *	because the state of the message that is held may have changed
 */
bool spindle_streams_pass(struct spindle_streams *ss, u64 now)
{
	struct spindle_mc *mc = ss->mc;
	bool work = false;
	u32 s;

	if (mc->members == 1)
		return alone(mc);
	if (!ss->vid)
		return false;
	if (spindle_mc_wedged(mc) || mc->ended)
		spindle_streams_stop(ss);
	for (s = 0; s < mc->senders; s++) {
		struct spindle_stream *st = &ss->stream[s];

		if (st->r.state == SPINDLE_RDMC_S_OPEN)
			work |= open_lanes(ss, st);
		work |= spindle_rdmc_pass(&st->r, now);
		miss_parted(ss, st, now);
		work |= want_next(ss, s);
	}
	return move_own(ss) || work;
}
