// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMC: messages from the other members, and to them. See rdmc.h.
 *
 * Context: engine, all of it.
 */
#include "rdmc.h"

/* ---- hearing; false: the sender breaks the protocol --------------------------- */

/* @m says that the group has failed. Behind that @m writes no more. */
static bool hear_end(struct spindle_rdmc *r, u32 m, u32 who, u64 error)
{
	if (who >= r->cfg.n || error < SPINDLE_RDMC_TIMEOUT || error > SPINDLE_RDMC_NOMEM)
		return false;
	r->m[m].failed = true;
	spindle_rdmc_returned(r, m, U64_MAX);
	spindle_rdmc_fall(r, who + 1, error);
	return true;
}

static bool hear_hello(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg)
{
	struct spindle_rdmc_member *p = &r->m[m];
	u64 life = msg->w[1], ours = msg->w[2];
	u32 error = msg->arg >> 16 & 0xff, who = msg->arg >> 24;

	/* The HELLO is meant for an older life of ours. */
	if (ours && ours != r->cfg.life)
		return true;
	if (!life)
		return false;
	if (msg->arg >> 16)
		/* The member goes. The group ends with it if we know this life of it. */
		return p->life != life || hear_end(r, m, who, error);
	if (p->life && p->life != life) {
		/* The former life uses its grants no more, and FAIL need not be said to it. */
		p->failed = true;
		spindle_rdmc_returned(r, m, U64_MAX);
		spindle_rdmc_fall(r, m + 1, SPINDLE_RDMC_LEFT);
		p->fail_due = false;
		return true;
	}
	if (!ours)
		p->hello_due = true;
	r->due |= BIT_ULL(m);
	if (p->life == life)
		return true;
	p->life = life;
	p->fail_due = r->state == SPINDLE_RDMC_S_FAILING;
	r->racks[m] = msg->arg;
	r->stir |= r->state == SPINDLE_RDMC_S_OPENING;
	r->known |= BIT_ULL(m);
	if (msg->w[0] != r->digest)
		spindle_rdmc_fall(r, m + 1, SPINDLE_RDMC_MISMATCH);
	return true;
}

/*
 * Members may have granted a block of the next object before it was announced here. Do they agree
 * with us on its length?
 */
static void compare_grants(struct spindle_rdmc *r, u64 len)
{
	u64 rest;

	for (rest = r->others; rest; rest &= rest - 1) {
		u32 i, m = __ffs64(rest);
		const struct spindle_rdmc_member *p = &r->m[m];

		for (i = p->grant_head; i != p->grant_tail; i++) {
			const struct spindle_rdmc_grant *g =
				&p->grant[i & (SPINDLE_RDMC_GRANTS - 1)];

			if (g->object == r->announced && g->len != len)
				spindle_rdmc_differ(r, m);
		}
	}
}

static bool hear_announce(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg)
{
	u64 object = msg->w[0], len = msg->w[1];

	if (m || object != r->announced || object - r->ended >= SPINDLE_RDMC_QUEUE ||
	    r->total != U64_MAX || !len || len > SPINDLE_RDMC_MAX_LEN)
		return false;
	compare_grants(r, len);
	spindle_rdmc_new_object(r, len, msg->w[2]);
	spindle_rdmc_step(r, object, SPINDLE_RDMC_P_WAITING);
	return true;
}

/*
 * A GRANT may come before the root's ANNOUNCE, and behind its ABORT. The length is compared as soon
 * as both are here, because a write has to fit what was registered. The block is checked only when
 * the grant is used: then it has to be what our schedule says.
 */
static bool hear_grant(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg)
{
	struct spindle_rdmc_member *p = &r->m[m];
	u64 object = msg->w[0];

	/* The root announces objects that far only when we have ended those before. */
	if (object >= r->ended + SPINDLE_RDMC_QUEUE) {
		spindle_rdmc_differ(r, m);
		return true;
	}
	if (object >= r->announced && spindle_rdmc_is_root(r))
		return false;
	if (object < r->announced) {
		struct spindle_rdmc_object *obj = spindle_rdmc_object(r, object);

		/*
		 * The object is forgotten: the grant was returned before it was here, and all have
		 * ended the object.
		 */
		if (r->announced - object > SPINDLE_RDMC_OBJECTS)
			return true;
		if (obj->phase == SPINDLE_RDMC_P_STOPPING || obj->phase == SPINDLE_RDMC_P_ABORTED) {
			obj->to_return |= BIT_ULL(m);
			p->return_due = true;
			r->due |= BIT_ULL(m);
			return true;
		}
		if (obj->len != msg->w[3]) {
			spindle_rdmc_differ(r, m);
			return true;
		}
		if (obj->sends_done) {
			spindle_rdmc_astray(r, m);
			return true;
		}
	}
	if (p->grant_tail - p->grant_head >= SPINDLE_RDMC_GRANTS)
		return false;
	p->grant[p->grant_tail++ & (SPINDLE_RDMC_GRANTS - 1)] = (struct spindle_rdmc_grant) {
		.object = object,
		.len = msg->w[3],
		.addr = msg->w[1],
		.block = msg->arg,
		.key = (u32)msg->w[2],
		.number = msg->w[2] >> 32,
	};
	return true;
}

/* Take a member's counts of what it has ended, which never go back. */
static bool believe(struct spindle_rdmc *r, struct spindle_rdmc_member *p, u64 ended, u64 complete)
{
	if (ended < p->ended || ended > p->told || complete < p->complete ||
	    complete - p->complete > ended - p->ended)
		return false;
	if (ended != p->ended) {
		/* Each of these objects has moved, but only the first may be waited for. */
		spindle_rdmc_moved(r, p->ended);
		p->blocks = 0;
		r->count_front |= p->ended == r->front;
	}
	p->ended = ended;
	p->complete = complete;
	return true;
}

/* How far the root is. The counts only matter as a sign that the root is alive. */
static bool hear_root(struct spindle_rdmc *r, const struct spindle_rdmc_msg *msg)
{
	struct spindle_rdmc_member *root = &r->m[0];
	u64 ended = msg->w[0], complete = msg->w[1];

	if (ended < root->ended || ended > r->announced || complete < root->complete ||
	    complete - root->complete > ended - root->ended || msg->w[2])
		return false;
	root->ended = ended;
	root->complete = complete;
	r->stir |= r->state == SPINDLE_RDMC_S_OPEN;
	return true;
}

static bool hear_progress(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg)
{
	struct spindle_rdmc_member *p = &r->m[m];
	u64 object = msg->w[0], blocks = msg->w[2];

	/*
	 * In a stream every object that has ended is complete, and no member waits for a sign of
	 * the root.
	 */
	if (r->cfg.stream && (!spindle_rdmc_is_root(r) || msg->w[1] != object || blocks))
		return false;
	if (!spindle_rdmc_is_root(r))
		return !m && hear_root(r, msg);
	/* A member that says the same again has not moved. */
	if (object == p->ended && blocks == p->blocks)
		return true;
	if (!believe(r, p, object, msg->w[1]) || blocks < p->blocks ||
	    blocks > (object < p->told ? spindle_rdmc_object(r, object)->blocks : 0))
		return false;
	if (blocks != p->blocks)
		spindle_rdmc_moved(r, object);
	p->blocks = blocks;
	r->stir = true;
	return true;
}

static bool hear_stop(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg)
{
	u64 object = msg->w[0];

	if (!spindle_rdmc_is_root(r) || object >= r->m[m].told || object < r->m[m].ended ||
	    (msg->w[1] != SPINDLE_RDMC_CANCELLED && msg->w[1] != SPINDLE_RDMC_REFUSED) ||
	    msg->w[2] > U32_MAX)
		return false;
	spindle_rdmc_abort(r, object, msg->w[1], msg->w[2], m + 1);
	return true;
}

static bool hear_abort(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg)
{
	u64 object = msg->w[0], error = msg->w[1];
	struct spindle_rdmc_object *obj;

	if (m || object >= r->announced || msg->arg >= r->cfg.n || msg->w[2] > U32_MAX ||
	    (error != SPINDLE_RDMC_CANCELLED && error != SPINDLE_RDMC_REFUSED &&
	     error != SPINDLE_RDMC_TIMEOUT))
		return false;
	/* What is complete stays complete. */
	if (object < r->ended || spindle_rdmc_has_all(spindle_rdmc_object(r, object)))
		return true;
	obj = spindle_rdmc_object(r, object);
	if (obj->decided)
		return false;
	spindle_rdmc_give_up(r, object, error, msg->w[2], msg->arg + 1);
	obj->decided = true;
	obj->stop_due = false;
	return true;
}

/* A RETURN may come before the root's ABORT. */
static bool hear_return(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg)
{
	u64 object = msg->w[0];

	if (object >= r->announced)
		return false;
	if (object >= r->ended) {
		spindle_rdmc_object(r, object)->returned |= BIT_ULL(m);
		spindle_rdmc_returned(r, m, object);
	}
	return true;
}

static bool hear_fail(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg)
{
	return hear_end(r, m, msg->arg, msg->w[0]);
}

/* Behind END @m writes no more, and it takes back what it has granted. */
static bool hear_end_of_stream(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg)
{
	r->m[m].failed = true;
	spindle_rdmc_returned(r, m, U64_MAX);
	spindle_rdmc_end_with(r, m);
	return true;
}

static bool hear_close(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg)
{
	struct spindle_rdmc_member *p = &r->m[m];
	u64 objects = msg->w[0], complete = msg->w[1];

	if (p->closed) {
		r->stir |= !m;
		return objects == p->ended && complete == p->complete;
	}
	r->stir = true;
	if (complete > objects)
		return false;
	if (spindle_rdmc_is_root(r)) {
		/* A member closes only after we have said CLOSE to it. */
		if (!p->close_said || objects != r->announced || !believe(r, p, objects, complete))
			return false;
	} else if (!m) {
		if (objects != r->announced)
			return false;
		r->total = objects;
	}
	p->ended = objects;
	p->complete = complete;
	p->closed = true;
	r->closed |= BIT_ULL(m);
	return true;
}

#define STREAM_WORDS (BIT(SPINDLE_RDMC_ANNOUNCE) | BIT(SPINDLE_RDMC_GRANT) | \
		      BIT(SPINDLE_RDMC_PROGRESS) | BIT(SPINDLE_RDMC_END))

/* Does a word mean anything in this kind of group? */
static bool has_word(const struct spindle_rdmc *r, u32 word)
{
	return word && word <= SPINDLE_RDMC_END &&
	       (r->cfg.stream ? STREAM_WORDS & BIT(word) : word != SPINDLE_RDMC_END);
}

/* Does a message come too late? When the group fails, only the return of grants matters. */
static bool too_late(struct spindle_rdmc *r, u32 m, u32 word)
{
	if (r->state == SPINDLE_RDMC_S_CLOSED)
		return true;
	if (r->state != SPINDLE_RDMC_S_FAILING && r->state != SPINDLE_RDMC_S_FAILED)
		return false;
	if (!r->cfg.stream)
		return r->state == SPINDLE_RDMC_S_FAILED;
	if (word == SPINDLE_RDMC_GRANT)
		spindle_rdmc_end_with(r, m);
	return word != SPINDLE_RDMC_END;
}

/**
 * spindle_rdmc_hear() - a message has come
 * @r: group
 * @m: rank of the member that has sent it
 * @msg: the message, which does not change any more
 *
 * The message may contain anything: at worst the group fails, and the lane is cut.
 */
void spindle_rdmc_hear(struct spindle_rdmc *r, u32 m, const struct spindle_rdmc_msg *msg)
{
	static bool (*const hear[])(struct spindle_rdmc *r, u32 m,
				    const struct spindle_rdmc_msg *msg) = {
		[SPINDLE_RDMC_HELLO] = hear_hello,
		[SPINDLE_RDMC_ANNOUNCE] = hear_announce,
		[SPINDLE_RDMC_GRANT] = hear_grant,
		[SPINDLE_RDMC_PROGRESS] = hear_progress,
		[SPINDLE_RDMC_STOP] = hear_stop,
		[SPINDLE_RDMC_ABORT] = hear_abort,
		[SPINDLE_RDMC_RETURN] = hear_return,
		[SPINDLE_RDMC_FAIL] = hear_fail,
		[SPINDLE_RDMC_CLOSE] = hear_close,
		[SPINDLE_RDMC_END] = hear_end_of_stream,
	};
	u32 word = msg->word;

	/* A stream begins with its view, and its lane may be up before. */
	if (!r->cfg.life || r->m[m].lost || r->m[m].cut ||
	    msg->to != (word == SPINDLE_RDMC_HELLO ? r->cfg.id : r->cfg.life))
		return;
	r->m[m].spoke = true;
	if (too_late(r, m, word))
		return;
	spindle_count(&r->stats.heard, 1);
	if (!has_word(r, word)) {
		spindle_rdmc_breach(r, m);
		return;
	}
	if (word != SPINDLE_RDMC_HELLO && word != SPINDLE_RDMC_FAIL) {
		/* In a group that fails only these words still matter. */
		if (r->state == SPINDLE_RDMC_S_FAILING && word != SPINDLE_RDMC_RETURN &&
		    word != SPINDLE_RDMC_END)
			return;
		/* A member that knows our life has said HELLO. */
		if (!r->m[m].life) {
			spindle_rdmc_breach(r, m);
			return;
		}
	}
	if (!hear[word](r, m, msg))
		spindle_rdmc_breach(r, m);
}

/* ---- speaking; false: there was no room ------------------------------------- */

/**
 * spindle_rdmc_may_say() - can something be sent to a member now?
 * @r: group
 * @m: rank
 *
 * Return: true if so
 */
bool spindle_rdmc_may_say(struct spindle_rdmc *r, u32 m)
{
	const struct spindle_rdmc_member *p = &r->m[m];

	return (p->up || (r->cfg.stream && p->spoke)) && !p->lost && !p->cut && r->ops->room(r, m);
}

static bool say(struct spindle_rdmc *r, u32 m, u32 word, u32 arg, u64 w0, u64 w1, u64 w2)
{
	struct spindle_rdmc_msg msg = {
		.to = word == SPINDLE_RDMC_HELLO ? r->cfg.id : r->m[m].life,
		.word = word,
		.arg = arg,
		.w = { w0, w1, w2 },
	};

	if (!spindle_rdmc_may_say(r, m))
		return false;
	spindle_count(&r->stats.said, 1);
	r->ops->say(r, m, &msg);
	return true;
}

static bool say_hello(struct spindle_rdmc *r, u32 m)
{
	struct spindle_rdmc_member *p = &r->m[m];

	if (!p->hello_due)
		return true;
	if (!say(r, m, SPINDLE_RDMC_HELLO, r->cfg.rack, r->digest, r->cfg.life, p->life))
		return false;
	p->hello_due = false;
	return true;
}

static bool say_fail(struct spindle_rdmc *r, u32 m)
{
	struct spindle_rdmc_member *p = &r->m[m];
	u32 who = r->culprit ? r->culprit - 1 : r->cfg.me;

	if (!p->fail_due)
		return true;
	if (p->life) {
		if (!say(r, m, SPINDLE_RDMC_FAIL, who, r->error, 0, 0))
			return false;
	} else {
		/* The member may know us, and its HELLO may be under way. */
		u32 arg = r->cfg.rack | r->error << 16 | who << 24;

		if (!say(r, m, SPINDLE_RDMC_HELLO, arg, r->digest, r->cfg.life, 0))
			return false;
	}
	p->fail_due = false;
	return true;
}

static bool say_announce(struct spindle_rdmc *r, u32 m)
{
	struct spindle_rdmc_member *p = &r->m[m];
	u64 end = min(r->announced, r->front + SPINDLE_RDMC_QUEUE);

	while (p->told < end) {
		const struct spindle_rdmc_object *obj = spindle_rdmc_object(r, p->told);

		if (!say(r, m, SPINDLE_RDMC_ANNOUNCE, 0, p->told, obj->len, obj->tag))
			return false;
		p->told++;
	}
	return true;
}

/* The oldest object that there still may be something to say about. */
static u64 oldest(const struct spindle_rdmc *r)
{
	return r->announced - min_t(u64, r->announced, SPINDLE_RDMC_OBJECTS);
}

static bool say_return(struct spindle_rdmc *r, u32 m)
{
	u64 o;

	if (!r->m[m].return_due)
		return true;
	for (o = oldest(r); o < r->announced; o++) {
		struct spindle_rdmc_object *obj = spindle_rdmc_object(r, o);

		if (!(obj->to_return & BIT_ULL(m)))
			continue;
		if (!say(r, m, SPINDLE_RDMC_RETURN, 0, o, 0, 0))
			return false;
		obj->to_return &= ~BIT_ULL(m);
	}
	r->m[m].return_due = false;
	return true;
}

static bool say_abort(struct spindle_rdmc *r, u32 m)
{
	struct spindle_rdmc_member *p = &r->m[m];
	u64 o;

	if (!p->abort_due)
		return true;
	for (o = oldest(r); o < p->told; o++) {
		struct spindle_rdmc_object *obj = spindle_rdmc_object(r, o);

		if (!(obj->abort_due & BIT_ULL(m)))
			continue;
		if (!say(r, m, SPINDLE_RDMC_ABORT, obj->culprit - 1, o, obj->error, obj->reason))
			return false;
		obj->abort_due &= ~BIT_ULL(m);
	}
	/* ABORT of an object that is not announced yet comes behind the announcement. */
	p->abort_due = p->told < r->announced;
	return true;
}

static bool say_stop(struct spindle_rdmc *r)
{
	u64 o;

	for (o = r->ended; r->stopping && o < r->announced; o++) {
		struct spindle_rdmc_object *obj = spindle_rdmc_object(r, o);

		if (!obj->stop_due)
			continue;
		if (!say(r, 0, SPINDLE_RDMC_STOP, 0, o, obj->error, obj->reason))
			return false;
		obj->stop_due = false;
	}
	return true;
}

static bool say_progress(struct spindle_rdmc *r)
{
	u32 blocks = r->cfg.stream ? 0 : spindle_rdmc_here(r);

	if (r->told_ended == r->ended && r->told_blocks == blocks)
		return true;
	if (!say(r, 0, SPINDLE_RDMC_PROGRESS, 0, r->ended, r->complete, blocks))
		return false;
	r->told_ended = r->ended;
	r->told_blocks = blocks;
	r->told_ns = r->now;
	return true;
}

static bool say_alive(struct spindle_rdmc *r, u32 m)
{
	struct spindle_rdmc_member *p = &r->m[m];

	if (!p->alive_due)
		return true;
	if (!say(r, m, SPINDLE_RDMC_PROGRESS, 0, r->ended, r->complete, 0))
		return false;
	p->alive_due = false;
	return true;
}

static bool say_close(struct spindle_rdmc *r, u32 m)
{
	struct spindle_rdmc_member *p = &r->m[m];

	if (!p->close_due)
		return true;
	if (!say(r, m, SPINDLE_RDMC_CLOSE, 0, r->ended, r->complete, 0))
		return false;
	p->close_due = false;
	p->close_said = true;
	return true;
}

static bool say_end(struct spindle_rdmc *r, u32 m)
{
	struct spindle_rdmc_member *p = &r->m[m];

	if (!p->end_due)
		return true;
	if (!say(r, m, SPINDLE_RDMC_END, 0, 0, 0, 0))
		return false;
	p->end_due = false;
	p->end_said = true;
	return true;
}

static bool talk_in_stream(struct spindle_rdmc *r, u32 m)
{
	if (r->state == SPINDLE_RDMC_S_OPEN && r->m[m].up && !r->m[m].end_due &&
	    !(spindle_rdmc_is_root(r) ? say_announce(r, m) : m || say_progress(r)))
		return false;
	return say_end(r, m);
}

/*
 * Returns true if all that can be said is said. Where the order of messages matters, it is the
 * order here.
 */
static bool talk_to(struct spindle_rdmc *r, u32 m)
{
	struct spindle_rdmc_member *p = &r->m[m];

	if (p->lost || p->cut)
		return true;
	if (r->cfg.stream)
		return talk_in_stream(r, m);
	if (!say_hello(r, m))
		return false;
	if (r->state == SPINDLE_RDMC_S_FAILING || r->state == SPINDLE_RDMC_S_FAILED)
		return say_fail(r, m);
	if (!p->life)
		return true;
	if (!say_return(r, m))
		return false;
	if (spindle_rdmc_is_root(r)) {
		if (!say_announce(r, m) || !say_abort(r, m) || !say_alive(r, m))
			return false;
	} else if (!m) {
		if (!say_stop(r) || !say_progress(r))
			return false;
	}
	return say_close(r, m);
}

/**
 * spindle_rdmc_talk() - say what is not said yet, as far as there is room
 * @r: group
 *
 * Return: true if anything was said
 */
bool spindle_rdmc_talk(struct spindle_rdmc *r)
{
	u64 rest, said = r->stats.said;

	for (rest = r->due; rest; rest &= rest - 1)
		if (talk_to(r, __ffs64(rest)))
			r->due &= ~(rest & -rest);
	return r->stats.said != said;
}
