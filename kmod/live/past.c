// SPDX-License-Identifier: GPL-2.0-only
/*
 * Past: the seats of members, in the views that readers may still be in. See past.h.
 */
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/spindle.h>

#include "live.h"
#include "node/history.h"
#include "node/installed.h"
#include "node/node.h"
#include "node/peer.h"
#include "node/subgroup.h"
#include "past.h"

/* Views that are remembered. A reader that is further behind has to attach again. */
#define PAST_VIEWS 256

/**
 * struct spindle_past - the part of a view that processes ask for after its end
 */
struct spindle_past {
	/** @list: in the live view's list, the latest first */
	struct list_head list;
	/** @vid: its id */
	u64 vid;
	/** @me: own rank */
	u32 me;
	/** @members: entries in @member */
	u32 members;
	struct {
		u64 members;
		u64 senders;
	/** @subgroup: members and senders of each */
	} *subgroup;
	struct {
		u32 node;
		u32 seat;
	/** @member: node id and seat of each */
	} member[];
};

/**
 * spindle_past_alloc() - allocate memory to remember a view
 * @members: number of its members
 * @subgroups: number of its subgroups
 *
 * Return: the memory, or NULL
 */
struct spindle_past *spindle_past_alloc(u32 members, u32 subgroups)
{
	struct spindle_past *past = kzalloc(struct_size(past, member, members),
					    GFP_KERNEL_ACCOUNT);

	if (!past)
		return NULL;
	past->subgroup = kcalloc(max(subgroups, 1U), sizeof(*past->subgroup), GFP_KERNEL_ACCOUNT);
	if (past->subgroup)
		return past;
	kfree(past);
	return NULL;
}

/**
 * spindle_past_free() - free the memory of a view
 * @past: in no list, or NULL
 */
void spindle_past_free(struct spindle_past *past)
{
	if (!past)
		return;
	kfree(past->subgroup);
	kfree(past);
}

static void drop(struct spindle_past *past)
{
	list_del(&past->list);
	spindle_past_free(past);
}

/**
 * spindle_past_keep() - remember the installed view
 * @list: list of the live view
 * @past: memory for the view
 * @inst: the installed view
 *
 * Return: id of the oldest view that is remembered; 0: none was forgotten yet
 */
u64 spindle_past_keep(struct list_head *list, struct spindle_past *past,
		      const struct spindle_installed *inst)
{
	const struct spindle_view *view = &inst->view;
	struct spindle_past *old, *next;
	bool dropped = false;
	u32 i, n = 0;

	lockdep_assert_held(&inst->node->sn->lock);
	past->vid = view->vid;
	past->me = inst->mg.me;
	past->members = view->num_members;
	for (i = 0; i < view->num_members; i++) {
		past->member[i].node = view->member[i].id;
		past->member[i].seat = inst->peer[i] ? inst->peer[i]->seat : SPINDLE_SEATS;
	}
	for (i = 0; i < view->num_subgroups; i++) {
		past->subgroup[i].members = view->subgroup[i].members;
		past->subgroup[i].senders = view->subgroup[i].senders;
	}
	list_add(&past->list, list);
	list_for_each_entry_safe(old, next, list, list) {
		if (++n <= PAST_VIEWS)
			continue;
		drop(old);
		dropped = true;
	}
	return dropped ? list_last_entry(list, struct spindle_past, list)->vid : 0;
}

/**
 * spindle_past_forget() - forget all views
 * @list: list of the live view
 */
void spindle_past_forget(struct list_head *list)
{
	struct spindle_past *past, *next;

	list_for_each_entry_safe(past, next, list, list)
		drop(past);
}

/* Seats of a static view: instances are ranks. */
static u32 static_seats(const struct spindle_subgroup *sg, struct spindle_seat *seat)
{
	const struct spindle_installed *inst = sg->inst;
	u64 mask;
	u32 n = 0;

	for (mask = sg->cfg->members; mask; mask &= mask - 1, n++) {
		u32 r = __ffs64(mask);

		seat[n] = (struct spindle_seat){
			.node = inst->view.member[r].id,
			.sender_rank = SPINDLE_NO_RANK,
			.sst = n,
			.flags = r == inst->mg.me ? SPINDLE_SEAT_ME : 0,
		};
		if (!(sg->cfg->senders & mask & -mask))
			continue;
		seat[n].sender_rank = spindle_mask_rank(sg->cfg->senders, r);
		seat[n].rx = seat[n].sender_rank;
	}
	return n;
}

static bool was_in(const struct spindle_past *past, u32 subgroup, u32 node, u32 seat)
{
	u32 r;

	for (r = 0; r < past->members; r++)
		if (past->member[r].node == node && past->member[r].seat == seat)
			return past->subgroup[subgroup].members & BIT_ULL(r);
	return false;
}

static u32 live_seats(const struct spindle_past *past, const struct spindle_past *before,
		      u32 subgroup, struct spindle_seat *seat)
{
	u64 senders = past->subgroup[subgroup].senders, mask;
	u32 n = 0;

	for (mask = past->subgroup[subgroup].members; mask; mask &= mask - 1, n++) {
		u32 r = __ffs64(mask);

		seat[n] = (struct spindle_seat){
			.node = past->member[r].node,
			.sender_rank = SPINDLE_NO_RANK,
			.rx = past->member[r].seat,
			.sst = past->member[r].seat,
			.flags = r == past->me ? SPINDLE_SEAT_ME : 0,
		};
		if (senders & BIT_ULL(r))
			seat[n].sender_rank = spindle_mask_rank(senders, r);
		if (before && !was_in(before, subgroup, seat[n].node, seat[n].rx))
			seat[n].flags |= SPINDLE_SEAT_JOINED;
	}
	return n;
}

static const struct spindle_past *find(const struct list_head *list, u64 vid)
{
	const struct spindle_past *past;

	list_for_each_entry(past, list, list)
		if (past->vid == vid)
			return past;
	return NULL;
}

/**
 * spindle_past_seats() - the members of a subgroup in a view, and their seats
 * @sg: the subgroup
 * @args: in: the view; out: the view and the number of members
 * @seat: out, room for SPINDLE_MAX_MEMBERS
 *
 * Return: 0; -ESTALE, -ENOENT as in <linux/spindle.h>
 */
int spindle_past_seats(const struct spindle_subgroup *sg, struct spindle_seats *args,
		       struct spindle_seat *seat)
{
	const struct spindle_installed *inst = sg->inst;
	const struct spindle_past *past, *before;
	u64 vid = args->vid ? args->vid : inst->view.vid;

	lockdep_assert_held(&sg->inst->node->sn->lock);
	if (vid > inst->view.vid)
		return -ENOENT;
	args->vid = vid;
	if (!inst->live && vid == inst->view.vid) {
		args->count = static_seats(sg, seat);
		return 0;
	}
	past = inst->live ? find(&inst->live->past, vid) : NULL;
	if (past) {
		before = list_is_last(&past->list, &inst->live->past) ? NULL :
			 list_next_entry(past, list);
		args->count = live_seats(past, before, sg->index, seat);
		return args->count ? 0 : -ENOENT;
	}
	return spindle_former_seats(sg->kept, args, seat);
}
