// SPDX-License-Identifier: GPL-2.0-only
/*
 * Live: states, reasons and events for people. See live.h.
 */
#include <linux/build_bug.h>

#include "live.h"
#include "node/event.h"
#include "node/installed.h"
#include "node/node.h"

/* Netlink shows reasons of core/ without a translation. */
static_assert((int)SPINDLE_WHY_FINE == (int)SPINDLE_MB_FINE);
static_assert((int)SPINDLE_WHY_LAYOUT == (int)SPINDLE_MB_LAYOUT);

/**
 * spindle_live_why() - a reason in words
 * @reason: enum spindle_mb_reason, of a member that is suspected, or a node that has stopped
 *
 * Return: a constant string
 */
const char *spindle_live_why(u32 reason)
{
	switch (reason) {
	case SPINDLE_MB_SILENT:
		return "it shows no sign of life";
	case SPINDLE_MB_LOST:
		return "the connection to it is lost";
	case SPINDLE_MB_GONE:
		return "it has stopped";
	case SPINDLE_MB_ADMIN:
		return "an administrator evicts it";
	case SPINDLE_MB_GOSSIP:
		return "another member suspects it";
	case SPINDLE_MB_LIED:
		return "it broke the protocol";
	case SPINDLE_MB_MINORITY:
		return "too few members are left to go on";
	case SPINDLE_MB_EVICTED:
		return "the others go on without this node";
	case SPINDLE_MB_LEFT:
		return "this node has left";
	case SPINDLE_MB_LAYOUT:
		return "the rules have no next view";
	default:
		return "nothing is wrong";
	}
}

/**
 * spindle_live_error() - the error that processes get when their node has stopped
 * @reason: enum spindle_mb_reason
 *
 * Return: enum spindle_error
 */
u32 spindle_live_error(u32 reason)
{
	switch (reason) {
	case SPINDLE_MB_LEFT:
		return SPINDLE_ERR_LEFT;
	case SPINDLE_MB_MINORITY:
		return SPINDLE_ERR_MINORITY;
	case SPINDLE_MB_LOST:
		return SPINDLE_ERR_PEER_LOST;
	default:
		return SPINDLE_ERR_EVICTED;
	}
}

/**
 * spindle_live_state() - the state of the node, for people
 * @live: the live view
 *
 * Return: enum spindle_live_state
 */
u8 spindle_live_state(const struct spindle_live *live)
{
	switch (READ_ONCE(live->mb.state)) {
	case SPINDLE_MB_ACTIVE:
		return READ_ONCE(live->inst->mg.formed) ? SPINDLE_LIVE_ACTIVE :
							      SPINDLE_LIVE_FORMING;
	case SPINDLE_MB_JOINING:
		return SPINDLE_LIVE_JOINING;
	case SPINDLE_MB_STOPPED:
		return SPINDLE_LIVE_STOPPED;
	default:
		return SPINDLE_LIVE_CHANGING;
	}
}

static void say(struct spindle_live *live, enum spindle_event_kind event,
		struct spindle_event_info info)
{
	if (!info.vid)
		info.vid = live->inst->view.vid;
	info.reason = live->reason;
	spindle_event(live->inst->node, event, &info);
}

/* The lowest rank of a member that suspects @rank and is not suspected itself. */
static u32 accuser(const struct spindle_live *live, u32 rank)
{
	const struct spindle_mb *mb = &live->mb;
	u32 r;

	for (r = 0; r < spindle_mb_view(mb)->num_members; r++)
		if (!(mb->suspected & BIT_ULL(r)) && r != mb->me &&
		    (mb->peer[r].suspected & BIT_ULL(rank)))
			return r;
	return SPINDLE_NO_RANK;
}

/**
 * spindle_live_say_suspect() - report that a member is suspected
 * @live: the live view
 * @rank: the member
 */
void spindle_live_say_suspect(struct spindle_live *live, u32 rank)
{
	const struct spindle_view *view = spindle_mb_view(&live->mb);
	u32 id = view->member[rank].id, by = accuser(live, rank);
	u32 reason = live->mb.peer[rank].reason;

	if (reason == SPINDLE_MB_GOSSIP && by != SPINDLE_NO_RANK)
		scnprintf(live->reason, sizeof(live->reason),
			  "node %u is suspected: node %u suspects it", id, view->member[by].id);
	else
		scnprintf(live->reason, sizeof(live->reason), "node %u is suspected: %s", id,
			  spindle_live_why(reason));
	say(live, SPINDLE_EVENT_SUSPECT, (struct spindle_event_info){
		.peer = id,
		.mild = reason == SPINDLE_MB_GONE,
	});
}

/**
 * spindle_live_say_change() - report that the view ends
 * @live: the live view, wedged
 */
void spindle_live_say_change(struct spindle_live *live)
{
	const struct spindle_mb *mb = &live->mb;

	if (mb->leaving)
		scnprintf(live->reason, sizeof(live->reason), "this node leaves");
	else if (!mb->suspected)
		scnprintf(live->reason, sizeof(live->reason), "a node joins or leaves");
	say(live, SPINDLE_EVENT_CHANGING, (struct spindle_event_info){});
}

/**
 * spindle_live_say_view() - report that a view is installed, or that the first one has formed
 * @live: the live view
 * @formed: all members of the first view are connected
 */
void spindle_live_say_view(struct spindle_live *live, bool formed)
{
	const struct spindle_installed *inst = live->inst;
	struct spindle_event_info info = { .view = formed ? NULL : &inst->view };

	/* A node that joins has no view yet. */
	if (inst->mg.me == SPINDLE_NO_RANK)
		return;
	scnprintf(live->reason, sizeof(live->reason), "view %llu with %u members %s",
		  inst->view.vid, inst->view.num_members,
		  formed ? "has formed" : "is installed");
	say(live, SPINDLE_EVENT_VIEW_INSTALL, info);
}

/**
 * spindle_live_say_stop() - report that this node is no member any more
 * @live: the live view, stopped
 */
void spindle_live_say_stop(struct spindle_live *live)
{
	u32 reason = live->mb.reason;

	scnprintf(live->reason, sizeof(live->reason), "%s",
		  reason == SPINDLE_MB_LOST ? "a member was lost before the first view had formed" :
		  spindle_live_why(reason));
	say(live, SPINDLE_EVENT_STOPPED, (struct spindle_event_info){
		.error = spindle_live_error(reason),
		.mild = reason == SPINDLE_MB_LEFT,
	});
}
