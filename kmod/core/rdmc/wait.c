// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMC: which members are waited for, and for how long. See rdmc.h.
 *
 * Context: engine, all of it.
 */
#include "rdmc.h"

/* Has all that was said to @m arrived, as far as the device knows? */
static bool heard_all(const struct spindle_rdmc *r, u32 m)
{
	return r->m[m].lost || r->ops->flushed((struct spindle_rdmc *)r, m);
}

/*
 * Has @m still to be told that the group has failed? A member that was never told our life cannot
 * miss us, unless it has said its own: then it waits for us, and our end of the lane is ready soon.
 */
static bool misses_us(const struct spindle_rdmc *r, u32 m)
{
	const struct spindle_rdmc_member *p = &r->m[m];

	return (p->up || p->life) && (p->fail_due || !heard_all(r, m));
}

/**
 * spindle_rdmc_missing() - which member does the end of the group wait for?
 * @r: group
 *
 * Return: rank of the first member, or U32_MAX
 */
u32 spindle_rdmc_missing(const struct spindle_rdmc *r)
{
	u64 rest;

	for (rest = r->others; rest; rest &= rest - 1) {
		u32 m = __ffs64(rest);
		const struct spindle_rdmc_member *p = &r->m[m];

		switch (r->state) {
		case SPINDLE_RDMC_S_OPENING:
			if (!p->life)
				return m;
			break;
		case SPINDLE_RDMC_S_OPEN:
			break;
		case SPINDLE_RDMC_S_CLOSING:
			if (!p->closed || (!p->lost && !p->close_said) || !heard_all(r, m))
				return m;
			break;
		case SPINDLE_RDMC_S_CLOSED:
			break;
		case SPINDLE_RDMC_S_FAILING:
		case SPINDLE_RDMC_S_FAILED:
			if (!p->lost && misses_us(r, m))
				return m;
			break;
		}
	}
	return U32_MAX;
}

/**
 * spindle_rdmc_over() - may the embedder forget the group?
 * @r: group
 *
 * Return: true if it has ended, all events were raised and all that was said has arrived
 */
bool spindle_rdmc_over(const struct spindle_rdmc *r)
{
	return r->state == SPINDLE_RDMC_S_CLOSED ||
	       (r->state == SPINDLE_RDMC_S_FAILED && spindle_rdmc_missing(r) == U32_MAX);
}

/**
 * spindle_rdmc_due() - when is a pass needed, even if nothing happens?
 * @r: group, after a pass
 *
 * Return: absolute time in ns; U64_MAX: never
 */
u64 spindle_rdmc_due(const struct spindle_rdmc *r)
{
	return r->deadline;
}

/*
 * Which member keeps memory of an object that was given up in use? The root may have told it
 * nothing, so that it does not know. If the group fails, all members are told and have to let go:
 * see judge_failing().
 */
static u64 judge_stopping(struct spindle_rdmc *r, struct spindle_rdmc_object *obj, u64 object)
{
	u64 rest, at = obj->moved_ns + r->cfg.timeout_ns;
	u32 g;

	if (r->now < at)
		return at;
	obj->moved_ns = r->now;
	for (rest = r->others; rest; rest &= rest - 1) {
		u32 m = __ffs64(rest);

		for (g = 0; g < SPINDLE_RDMC_GRANTS; g++)
			if (r->m[m].slot[g].state != SPINDLE_RDMC_FREE &&
			    r->m[m].slot[g].object == object)
				spindle_rdmc_fall(r, m + 1, SPINDLE_RDMC_TIMEOUT);
	}
	/* The root has not got our STOP, or says nothing. */
	if (!obj->decided)
		spindle_rdmc_fall(r, 1, SPINDLE_RDMC_TIMEOUT);
	return r->now + r->cfg.timeout_ns;
}

static u64 judge_all_stopping(struct spindle_rdmc *r)
{
	u64 o, at = U64_MAX;

	/* Objects of the root end without the others, because the root has granted nothing. */
	if (!r->stopping || spindle_rdmc_is_root(r))
		return U64_MAX;
	for (o = r->ended; o < r->announced; o++) {
		struct spindle_rdmc_object *obj = spindle_rdmc_object(r, o);

		if (obj->phase == SPINDLE_RDMC_P_STOPPING)
			at = min(at, judge_stopping(r, obj, o));
	}
	return at;
}

/* The member that is behind all others. */
static u32 slowest(const struct spindle_rdmc *r)
{
	u32 m, low = 0;

	for (m = 1; m < r->cfg.n; m++) {
		const struct spindle_rdmc_member *p = &r->m[m];

		if (p->ended == r->front && (!low || p->blocks < r->m[low].blocks))
			low = m;
	}
	return low;
}

/*
 * Judge the object that some member has not ended. First the object is given up. A member that has
 * not ended it then is missing, but not before the members that it waits for had their time, too.
 */
static u64 judge_front(struct spindle_rdmc *r)
{
	struct spindle_rdmc_object *obj = spindle_rdmc_object(r, r->front);
	u64 at = max(r->front_ns, obj->moved_ns) +
		 (obj->decided ? 2 * r->cfg.timeout_ns : r->cfg.timeout_ns);

	if (r->now < at)
		return at;
	if (obj->decided) {
		spindle_rdmc_fall(r, slowest(r) + 1, SPINDLE_RDMC_TIMEOUT);
		return r->now;
	}
	spindle_rdmc_abort(r, r->front, SPINDLE_RDMC_TIMEOUT, 0, slowest(r) + 1);
	obj->moved_ns = r->now;
	return r->now;
}

/*
 * Judge the object that ends here next. Whichever member holds it up, the root has been told of it,
 * or should have noticed. The root says something at least every two and a quarter timeouts, see
 * spindle_rdmc_remind() and judge_front(). If it does not, the root is missing.
 */
static u64 judge_root(struct spindle_rdmc *r)
{
	const struct spindle_rdmc_object *obj = spindle_rdmc_object(r, r->ended);
	u64 at;

	/* The object that ended just now has kept back the next one, whose time begins now. */
	if (r->timed)
		r->quiet_ns = r->now;
	/* There is no object, or it is given up, or it waits for memory or for room for events. */
	if (obj->phase != SPINDLE_RDMC_P_MOVING || spindle_rdmc_has_all(obj))
		return U64_MAX;
	at = r->quiet_ns + 3 * r->cfg.timeout_ns;
	/* Look at least every half timeout, so that account() can tell waiting from sleep. */
	if (r->now < at)
		return min(at, r->now + (r->cfg.timeout_ns >> 1));
	spindle_rdmc_fall(r, 1, SPINDLE_RDMC_TIMEOUT);
	return r->now;
}

static u64 judge_missing(struct spindle_rdmc *r, u64 at)
{
	if (r->now < at)
		return at;
	spindle_rdmc_fall(r, spindle_rdmc_missing(r) + 1, SPINDLE_RDMC_TIMEOUT);
	return r->now;
}

/**
 * spindle_rdmc_may_write() - does a member have grants that this one has not begun to take back?
 * @r: group
 * @m: rank of the member
 *
 * Return: true if so
 */
bool spindle_rdmc_may_write(const struct spindle_rdmc *r, u32 m)
{
	u32 g;

	for (g = 0; g < SPINDLE_RDMC_GRANTS; g++)
		if (r->m[m].slot[g].state == SPINDLE_RDMC_GRANTED ||
		    r->m[m].slot[g].state == SPINDLE_RDMC_USED)
			return true;
	return false;
}

/* The group fails: cut the members that do not let go in time. */
static u64 judge_failing(struct spindle_rdmc *r)
{
	u64 rest, at = r->since + r->cfg.timeout_ns;
	u32 g;

	if (spindle_rdmc_over(r))
		return U64_MAX;
	if (r->now < at)
		return at;
	r->since = r->now;
	for (rest = r->others; rest; rest &= rest - 1) {
		u32 m = __ffs64(rest);
		bool holds = misses_us(r, m);

		for (g = 0; g < SPINDLE_RDMC_GRANTS; g++)
			holds |= r->m[m].slot[g].state != SPINDLE_RDMC_FREE;
		if (holds)
			spindle_rdmc_cut(r, m);
	}
	return r->now + r->cfg.timeout_ns;
}

/**
 * spindle_rdmc_judge() - has a member been waited for too long, and when would it be?
 * @r: group
 */
void spindle_rdmc_judge(struct spindle_rdmc *r)
{
	u64 timeout = r->cfg.timeout_ns, at;

	/* Inside of a view membership does this. */
	if (r->cfg.stream)
		return;
	at = judge_all_stopping(r);
	switch (r->state) {
	case SPINDLE_RDMC_S_OPENING:
		at = min(at, judge_missing(r, r->since + timeout));
		break;
	case SPINDLE_RDMC_S_OPEN:
	case SPINDLE_RDMC_S_CLOSING:
		if (spindle_rdmc_is_root(r) && r->front < r->announced)
			at = min(at, judge_front(r));
		else if (r->state == SPINDLE_RDMC_S_CLOSING)
			/* Other members learn of progress from the root only, and not each time. */
			at = min(at, judge_missing(r, r->since + (spindle_rdmc_is_root(r) ?
								  timeout : 2 * timeout)));
		else if (!spindle_rdmc_is_root(r))
			at = min(at, judge_root(r));
		break;
	case SPINDLE_RDMC_S_CLOSED:
		break;
	case SPINDLE_RDMC_S_FAILING:
	case SPINDLE_RDMC_S_FAILED:
		at = min(at, judge_failing(r));
		break;
	}
	r->deadline = at;
}
