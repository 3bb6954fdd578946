/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Live: a group whose view changes by itself: what embeds core/membership.
 *
 *	live.c		a pass of membership, and its life; engine
 *	live_change.c	what membership asks for when a view ends and another begins; engine
 *	live_work.c	what may sleep: seats, memory of the next view, farewells; a chore
 *	live_show.c	what people are told
 *	door.c		who is not a member yet: questions and knocks
 *	join.c		the same from the other side
 *	past.c		who sat where, in the views that readers may still be in
 *
 * The engine decides, and sets chores; they are done with the namespace's lock, which hands
 * what it has made to the engine in letters.
 *
 * Owner: the group. Protocol state is the engine's.
 */
#ifndef SPINDLE_LIVE_H
#define SPINDLE_LIVE_H

#include "core/card.h"
#include "core/membership.h"
#include "core/rules.h"
#include "door.h"
#include "net.h"

struct spindle_group;
struct spindle_peer;
struct spindle_streams;
struct spindle_subgroup;

/* Chores, set by anybody. */
enum spindle_live_chore {
	SPINDLE_CHORE_PREPARE,	/* the next view is known: make what it takes */
	SPINDLE_CHORE_KNOCK,	/* somebody wants a seat */
	SPINDLE_CHORE_REAP,	/* seats may be free */
	SPINDLE_CHORE_STOP,	/* say so, and part */
};

/**
 * struct spindle_next - the next view as it is being prepared
 * @view: the view: a copy, because membership of a joiner may see another one meanwhile
 * @me: own rank in it
 * @stays: subgroups that go on as they are, by index; as of the copy
 * @peer: by rank
 * @subgroup: by index, the others; once the view is installed, those of the view before
 * @taken: it was installed
 */
struct spindle_next {
	struct spindle_view view;
	u32 me;
	u64 stays;
	struct spindle_peer *peer[SPINDLE_MAX_MEMBERS];
	struct spindle_subgroup *subgroup[SPINDLE_MAX_SUBGROUPS];
	bool taken;
};

/**
 * struct spindle_live_times - how long the last change took, microseconds
 * @detect: from the last sign of life to the suspicion; 0: nobody was suspected
 * @wedge: from there to the end of all traffic
 * @agree: from there to the decree
 * @install: from there to the next view
 */
struct spindle_live_times {
	u64 detect;
	u64 wedge;
	u64 agree;
	u64 install;
};

/**
 * struct spindle_live - a live view at one node
 * @group: its group
 * @rules: rules, constant
 * @lineage: lineage, constant once it has begun
 * @mb: membership
 * @seen: memory that @mb reads a decree into
 * @door: what who is no member may see and leave
 * @first: digest of the view that it began with, without lineage
 * @leave: this node is to leave
 * @contact: of a joiner: node id of the member that lets it in
 * @ready: of a joiner: the view whose members it is connected to, once it is
 * @looked: last pass of membership, ktime
 * @reaped: when seats were looked at last, ktime
 * @wished: when the present wish began, ktime
 * @wish_seat: seat of the guest that was wished for last; the next one is behind it
 * @last_seat: seat that was taken last; the next one is another, so that a reader that missed
 *	a view does not take one node for another
 * @guests: seats of nodes that are no members
 * @next: in the letter that installs it
 * @chore: does those that are set in @chores
 * @chores: bits of enum spindle_live_chore
 * @tries: times that it was looked whether the farewell has got through
 * @past: views that readers may still be in, struct spindle_past; the namespace's lock
 * @changes: views installed
 * @at: when the present change came to its last step, ktime
 * @times: of the last change
 * @timing: of the present one
 * @reason: what happened last, for people
 */
struct spindle_live {
	struct spindle_group *group;
	struct spindle_rules rules;
	struct spindle_lineage lineage;
	struct spindle_mb mb;
	u64 *seen;
	struct spindle_door door;
	u64 first;
	bool leave;
	u32 contact;
	u64 ready;
	u64 looked;
	u64 reaped;
	u64 wished;
	u32 wish_seat;
	u32 last_seat;
	u32 guests;
	struct spindle_next *next;
	struct spindle_chore chore;
	unsigned long chores;
	u32 tries;
	struct list_head past;
	u64 changes;
	u64 at;
	struct spindle_live_times times;
	struct spindle_live_times timing;
	char reason[80];
};

int spindle_live_create(struct spindle_group *group, const struct spindle_rules *rules,
			const struct spindle_lineage *lineage);
void spindle_live_destroy(struct spindle_live *live);
int spindle_live_begin(struct spindle_live *live, const struct spindle_view *view);
int spindle_live_settle(struct spindle_live *live);
void spindle_live_bow_out(struct spindle_live *live);
void spindle_live_chore(struct spindle_live *live, enum spindle_live_chore chore);

/* engine context */
bool spindle_live_pass(struct spindle_live *live, u32 how);
bool spindle_live_told(void *ctx);
u64 spindle_live_ready(const struct spindle_live *live, const struct spindle_peer *peer);
void spindle_live_lost(struct spindle_live *live, struct spindle_peer *peer);
u64 spindle_live_due(const struct spindle_live *live);
void spindle_live_unread(struct spindle_live *live, u32 subgroup);
bool spindle_live_said(const struct spindle_live *live);

/* live_change.c */
struct spindle_mc *spindle_live_made(void *ctx, u32 index, struct spindle_streams **streams);
void spindle_live_begun(void *ctx, u32 index, struct spindle_mc *old);
extern const struct spindle_mb_ops spindle_live_ops;
struct spindle_peer *spindle_live_guest(const struct spindle_live *live, u32 id,
					u64 incarnation);
void spindle_live_show(const struct spindle_peer *peer, struct spindle_mb_peer *member);

/* live_work.c, called by live.c */
void spindle_live_work(struct spindle_chore *chore);

/* live_show.c */
void spindle_live_say_change(struct spindle_live *live);
void spindle_live_say_suspect(struct spindle_live *live, u32 rank);
void spindle_live_say_view(struct spindle_live *live, bool formed);
void spindle_live_say_stop(struct spindle_live *live);
u32 spindle_live_error(u32 reason);
const char *spindle_live_why(u32 reason);
u8 spindle_live_state(const struct spindle_live *live);

#endif /* SPINDLE_LIVE_H */
