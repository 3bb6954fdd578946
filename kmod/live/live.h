/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Live: a view that changes by itself. This is the kernel side of core/membership.
 *
 *	live.c		a pass of membership, creation and removal; engine
 *	change.c	callbacks of membership for the end and the beginning of a view; engine
 *	work.c		work that may sleep: seats, memory of the next view, farewells; a chore
 *	show.c		states and events for people
 *	door.c		questions and knocks of nodes that are no members
 *	join.c		the joining node's side of these
 *	question.c	questions to members
 *	offer.c		other rules, which all members have to have
 *	past.c		the seats of members, in the views that readers may still be in
 *
 * The engine decides, and sets chores. A work item does the chores with the namespace's lock, and
 * passes the results to the engine by spindle_engine_call().
 *
 * Owner: the installed view. The engine owns the protocol state.
 */
#ifndef SPINDLE_LIVE_LIVE_H
#define SPINDLE_LIVE_LIVE_H

#include "base/net.h"
#include "core/membership/card.h"
#include "core/membership/membership.h"
#include "core/membership/rules.h"
#include "door.h"

struct spindle_fetch;
struct spindle_installed;
struct spindle_mg_guest;
struct spindle_offer;
struct spindle_peer;
struct spindle_streams;
struct spindle_tb;
struct spindle_subgroup;

/* Chores; any context may set them. */
enum spindle_live_chore {
	SPINDLE_CHORE_PREPARE,	/* the next view is known: allocate it */
	SPINDLE_CHORE_KNOCK,	/* a node wants a seat */
	SPINDLE_CHORE_REAP,	/* seats may be free */
	SPINDLE_CHORE_OFFER,	/* other rules are wanted, or not any more */
	SPINDLE_CHORE_STOP,	/* tell the members that this node has stopped, then disconnect */
};

/**
 * struct spindle_next - the next view as it is being prepared
 */
struct spindle_next {
	/**
	 * @view: a copy of the view, because a joining node may see another view before the install
	 */
	struct spindle_view view;
	/** @me: own rank in it */
	u32 me;
	/** @stays: bit mask of the subgroups that go on unchanged, by index; taken with the copy */
	u64 stays;
	/**
	 * @expected: by rank: incarnation of a member that joins together with this node;
	 * U64_MAX: the member does not
	 */
	u64 expected[SPINDLE_MAX_MEMBERS];
	/** @peer: by rank */
	struct spindle_peer *peer[SPINDLE_MAX_MEMBERS];
	/** @subgroup: the other subgroups, by index; after the install those of the former view */
	struct spindle_subgroup *subgroup[SPINDLE_MAX_SUBGROUPS];
	/** @taken: the view was installed */
	bool taken;
};

/**
 * struct spindle_live_times - durations of the four parts of a change, microseconds
 */
struct spindle_live_times {
	/** @detect: from the last sign of life to the suspicion; 0: no member was suspected */
	u64 detect;
	/** @wedge: until the end of all traffic */
	u64 wedge;
	/** @agree: until the decree */
	u64 agree;
	/** @install: until the next view */
	u64 install;
};

/**
 * struct spindle_live - a live view at one node
 */
struct spindle_live {
	/** @inst: the installed view that it belongs to */
	struct spindle_installed *inst;
	/** @rules: rules; spindle_offer_install() changes them */
	struct spindle_rules rules;
	/** @lineage: lineage, constant once the view has begun */
	struct spindle_lineage lineage;
	/** @mb: membership */
	struct spindle_mb mb;
	/** @seen: memory that @mb reads a decree into */
	u64 *seen;
	/** @door: interface for nodes that are no members */
	struct spindle_door door;
	/** @first: digest of the first view and its range, without lineage */
	u64 first;
	/** @contact: on a joining node: node id of the member that admits it */
	u32 contact;
	/** @looked: last pass of membership, ktime */
	u64 looked;
	/** @reaped: when seats were checked last, ktime */
	u64 reaped;
	/**
	 * @last_seat: seat that was taken last. Seats are taken in turn, so that a reader that
	 * missed a view does not mistake one node for another
	 */
	u32 last_seat;
	/** @guests: number of seats whose nodes are no members */
	u32 guests;
	/** @offer: other rules that this node would follow, or NULL; offer.c */
	struct spindle_offer *offer;
	/** @fetch: the question for such rules, or NULL; the namespace's lock */
	struct spindle_fetch *fetch;
	/** @asked: when this node asked for rules last, ktime */
	u64 asked;
	/** @refused: rules that a member wants, and that this node cannot follow; 0: none */
	u64 refused;
	/** @next: the next view, set only while the engine installs it */
	struct spindle_next *next;
	/** @chore: does the chores that are set in @chores */
	struct spindle_chore chore;
	/** @chores: bits of enum spindle_live_chore */
	unsigned long chores;
	/** @tries: how often the chore has checked whether the members know the farewell */
	u32 tries;
	/** @past: views that readers may still be in, struct spindle_past; the namespace's lock */
	struct list_head past;
	/** @changes: views installed */
	u64 changes;
	/** @at: when the present change reached its last step, ktime */
	u64 at;
	/** @times: durations of the last change */
	struct spindle_live_times times;
	/** @timing: durations of the present change */
	struct spindle_live_times timing;
	/** @reason: the last thing that happened, for people */
	char reason[80];
};

/**
 * spindle_live_chore() - queue work that may sleep
 * @live: the live view
 * @chore: the work
 *
 * Context: any.
 */
static inline void spindle_live_chore(struct spindle_live *live, enum spindle_live_chore chore)
{
	set_bit(chore, &live->chores);
	spindle_chore_queue(&live->chore, 0);
}

extern const struct spindle_membership_ops spindle_live_membership;

int spindle_live_settle(struct spindle_live *live);
void spindle_live_bow_out(struct spindle_live *live);

/* change.c */
struct spindle_mc *spindle_live_made(void *ctx, u32 index, struct spindle_streams **streams,
				     struct spindle_tb **tb);
void spindle_live_begun(void *ctx, u32 index, struct spindle_mc *old);
extern const struct spindle_mb_ops spindle_live_mb_ops;
void spindle_live_show(const struct spindle_peer *peer, struct spindle_mb_peer *member);

/* work.c, called by live.c */
void spindle_live_work(struct spindle_chore *chore);

/* show.c */
void spindle_live_say_change(struct spindle_live *live);
void spindle_live_say_suspect(struct spindle_live *live, u32 rank);
void spindle_live_say_view(struct spindle_live *live, bool formed);
void spindle_live_say_stop(struct spindle_live *live);
u32 spindle_live_error(u32 reason);
const char *spindle_live_why(u32 reason);
u8 spindle_live_state(const struct spindle_live *live);

#endif /* SPINDLE_LIVE_LIVE_H */
