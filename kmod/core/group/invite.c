// SPDX-License-Identifier: GPL-2.0-only
/*
 * Invite: let nodes in that want to join a live view. A member invites one after the other. The
 * leader lets all in that are ready, and holds a change for those that are about to be.
 * See group.h.
 *
 * Context: engine, all of it.
 */
#include "group.h"

/* Timeouts of membership after which the wish for a guest gives way to the next guest. */
#define WISH_TIMEOUTS 20

/* Is @guest connected to all members of the present view, as it says? */
static bool is_ready(const struct spindle_mg *c, const struct spindle_mg_guest *guest)
{
	return guest->ready == c->view->vid;
}

/*
 * A guest may lie about its connections, and the view's leader lets in only a guest that is
 * connected to the leader. So a guest that is not let in gives way to the next one.
 */
static bool wish_is_over(const struct spindle_mg *c, u64 now)
{
	const struct spindle_mb *mb = c->mb;
	struct spindle_mg_guest guest = {};

	for (; c->ops->guest(c->ctx, &guest); guest.seat++)
		if (guest.id == mb->wish && guest.incarnation == mb->wish_inc)
			return mb->state == SPINDLE_MB_ACTIVE &&
			       (!is_ready(c, &guest) ||
				now - c->wished > WISH_TIMEOUTS * mb->timeout);
	return true;
}

/* Find a guest that is ready, at or behind the seat in @guest. */
static bool find_ready(const struct spindle_mg *c, struct spindle_mg_guest *guest)
{
	for (; c->ops->guest(c->ctx, guest); guest->seat++)
		if (is_ready(c, guest))
			return true;
	return false;
}

/*
 * Nodes that are started together are ready within a moment of each other. One change for all of
 * them is cheaper than one for each, because a change makes the others connect again. A guest that
 * is never ready costs each change one timeout of membership.
 */
static bool holds(const struct spindle_mg *c, u64 now)
{
	struct spindle_mg_guest guest = {};

	if (!c->mb->wish || now - c->wished >= c->mb->timeout)
		return false;
	for (; c->ops->guest(c->ctx, &guest); guest.seat++)
		if (!is_ready(c, &guest))
			return true;
	return false;
}

/* Choose the guest that this node wishes for. */
static void choose(struct spindle_mg *c, u64 now)
{
	struct spindle_mg_guest guest = { .seat = c->guest + 1 };
	struct spindle_mb *mb = c->mb;

	if (mb->wish && wish_is_over(c, now))
		spindle_mb_invite(mb, 0, 0);
	if (mb->wish || mb->leaving)
		return;
	if (!find_ready(c, &guest)) {
		guest.seat = 0;
		if (!find_ready(c, &guest))
			return;
	}
	c->guest = guest.seat;
	c->wished = now;
	spindle_mb_invite(mb, guest.id, guest.incarnation);
}

/**
 * spindle_mg_invite() - invite a guest that is ready, each in its turn
 * @c: the subgroups of a live view, formed
 * @now: the clock
 */
void spindle_mg_invite(struct spindle_mg *c, u64 now)
{
	if (c->mb->state == SPINDLE_MB_JOINING)
		return;
	choose(c, now);
	c->mb->hold = holds(c, now);
}
