/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Group: the subgroups of a view that a node is in, together. The protocol of one subgroup is in
 * multicast.h, and how one view follows another in membership.h. This file joins the two, and has
 * the order of a pass:
 *
 *	form	a view, and a subgroup, begin when their members are connected
 *	invite	nodes that want to join through this one get in, one after the other
 *	pass	subgroups in which something happens are looked at in every pass, the others in
 *		turn; acknowledgments that can wait go when nothing else is to be done
 *	push	a member gets the changes of all subgroups first, those of membership behind them
 *	change	a view ends for some subgroups, and the next one begins with what they held
 *
 * Module and simulator embed it, and give it memory and posts by struct spindle_mg_ops.
 *
 * Context: engine, all of it. Nothing sleeps or allocates.
 */
#ifndef SPINDLE_CORE_GROUP_H
#define SPINDLE_CORE_GROUP_H

#include "core/membership/membership.h"
#include "wire.h"

struct spindle_ranges;
struct spindle_streams;

/* Writes that a push of a subgroup needs room for. */
#define SPINDLE_PUSH_LEAST	6

/**
 * struct spindle_mg_guest - a node that wants to join, and is connected to this node or connects
 */
struct spindle_mg_guest {
	/** @seat: where the embedder has it */
	u32 seat;
	/** @id: node id */
	u32 id;
	/** @incarnation: of its life */
	u64 incarnation;
	/** @ready: the view whose members it is connected to, as it says; 0: none yet */
	u64 ready;
};

/**
 * struct spindle_mg_ops - what the subgroups of a node ask of their embedder
 */
struct spindle_mg_ops {
	/**
	 * @joined: is this node connected to this rank, which is another one? Called until all are
	 */
	bool (*joined)(void *ctx, u32 rank);
	/**
	 * @connected: this node is connected to all members of its first live view: membership runs
	 */
	void (*connected)(void *ctx);
	/**
	 * @guest: the first guest whose seat is @guest->seat, or behind it. False: there is none
	 */
	bool (*guest)(void *ctx, struct spindle_mg_guest *guest);
	/** @row: the row of this rank, own or other, in the view that is being installed */
	struct spindle_row (*row)(void *ctx, u32 rank);
	/**
	 * @made: the subgroup of this index for the view that is being installed: created, wired;
	 * never NULL. Out: its streams, which have not begun, or NULL; and its table, or NULL.
	 * Called once for each, in order
	 */
	struct spindle_mc *(*made)(void *ctx, u32 index, struct spindle_streams **streams,
				   struct spindle_tb **tb);
	/**
	 * @begun: the subgroup of this index has begun, or this node is not in it any more: what
	 * processes hold goes over from the old one, which may be NULL and is not used here any
	 * more
	 */
	void (*begun)(void *ctx, u32 index, struct spindle_mc *old);
	/** @formed: the subgroup of this index has formed */
	void (*formed)(void *ctx, u32 index);
	/**
	 * @ran: the subgroup of this index was looked at, with work or without: handle its events
	 */
	void (*ran)(void *ctx, u32 index, bool work);
	/** @told: of a joiner: has all that was written to the members arrived? */
	bool (*told)(void *ctx);
	/** @room: for how many of so many writes to this rank is there room? */
	u32 (*room)(void *ctx, u32 rank, u32 writes);
	/**
	 * @post: post writes to this rank, behind all that was posted to it before; offsets are in
	 * the row, or in membership's part of it
	 */
	void (*post)(void *ctx, u32 rank, const struct spindle_write *write, u32 n,
		     bool membership);
};

/**
 * struct spindle_mg - the subgroups of a view that a node is in
 */
struct spindle_mg {
	/** @ops: the embedder's */
	const struct spindle_mg_ops *ops;
	/** @ctx: their argument */
	void *ctx;
	/** @mb: membership, or NULL of a static view */
	struct spindle_mb *mb;
	/** @view: the installed view */
	const struct spindle_view *view;
	/** @me: own rank in it, or SPINDLE_NO_RANK of a joiner */
	u32 me;
	/** @mc: by index in the view; NULL where this node is no member */
	struct spindle_mc *mc[SPINDLE_MAX_SUBGROUPS];
	/** @streams: of those in @mc that have large messages, by index; NULL of all others */
	struct spindle_streams *streams[SPINDLE_MAX_SUBGROUPS];
	/** @tb: of those in @mc that are tables, by index; NULL of all others */
	struct spindle_tb *tb[SPINDLE_MAX_SUBGROUPS];
	/** @formed: of a live view: all members of the first one are connected: membership runs */
	bool formed;
	/** @stays: subgroups that the present change of the view leaves as they are, by index */
	u64 stays;
	/** @passes: how many there were */
	u64 passes;
	/** @hot: subgroups in which something happens, by index */
	u64 hot;
	/** @push: subgroups that may have something for a member, by index */
	u64 push;
	/** @lazy: subgroups that may have acknowledgments that can wait, by index */
	u64 lazy;
	/** @draining: draining takes another pass, and waits for no reader */
	bool draining;
	/** @cold: index of the cold subgroup that was looked at last */
	u32 cold;
	/** @guest: seat of the guest that was invited last; the next one is behind it */
	u32 guest;
	/** @wished: when the present wish began */
	u64 wished;
};

bool spindle_mg_run(struct spindle_mg *c, u64 now);
void spindle_mg_lost(struct spindle_mg *c, u32 rank, enum spindle_mb_reason how);
void spindle_mg_touch(struct spindle_mg *c, u32 index);
bool spindle_mg_pass(struct spindle_mg *c, bool all, bool idle);
bool spindle_mg_push(struct spindle_mg *c, u32 rank, u32 how);
bool spindle_mg_push_one(struct spindle_mg *c, u32 index, u32 rank, u32 how);
void spindle_mg_pushed(struct spindle_mg *c);
bool spindle_mg_has_begun(const struct spindle_mg *c, u32 rank, u64 vid, bool stayed);

/* invite.c */
void spindle_mg_invite(struct spindle_mg *c, u64 now);

/* change.c: the first view begins; then what membership calls, in this order. */
void spindle_mg_start(struct spindle_mg *c, const struct spindle_ranges *ranges);
void spindle_mg_wedge(struct spindle_mg *c);
bool spindle_mg_flushed(const struct spindle_mg *c, u32 rank);
void spindle_mg_freeze(struct spindle_mg *c, u64 *have);
bool spindle_mg_trim(struct spindle_mg *c, const u64 *trim);
bool spindle_mg_drain(struct spindle_mg *c);
bool spindle_mg_goes_on(const struct spindle_mg *c);
void spindle_mg_install(struct spindle_mg *c, const u32 *from, const u64 *trim);

#endif /* SPINDLE_CORE_GROUP_H */
