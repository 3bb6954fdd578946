// SPDX-License-Identifier: GPL-2.0-only
/*
 * History: the memory of a subgroup's history. See history.h.
 */
#include <linux/overflow.h>
#include <linux/slab.h>
#include <linux/spindle.h>
#include <linux/spindle_genl.h>

#include "history.h"
#include "subgroup.h"

/**
 * struct spindle_former - members of the views that some messages were delivered in
 *
 * The messages came in front of the history, and this node may not have been a member.
 */
struct spindle_former {
	/** @list: in the history's list */
	struct list_head list;
	/** @vid: the last view with these members */
	u64 vid;
	/** @members: entries in @seat */
	u32 members;
	/** @seat: the members, by rank */
	struct spindle_seat seat[];
};

static bool is_size(u32 bytes)
{
	return is_power_of_2(bytes) && bytes >= SPINDLE_MIN_HISTORY &&
	       bytes <= SPINDLE_MAX_HISTORY;
}

/**
 * spindle_kept_alloc() - an empty history
 * @bytes: bytes of its messages
 *
 * The memory cgroup of the calling process is charged.
 *
 * Context: process, no lock is needed.
 * Return: the history, or NULL: there is no memory, or no history has this size
 */
struct spindle_kept *spindle_kept_alloc(u32 bytes)
{
	u64 entries = spindle_history_entries(bytes);
	struct spindle_kept *kept;

	if (!is_size(bytes))
		return NULL;
	kept = kvzalloc(sizeof(*kept), GFP_KERNEL_ACCOUNT);
	if (!kept)
		return NULL;
	INIT_LIST_HEAD(&kept->former);
	if (spindle_pages_alloc(&kept->copy, bytes) ||
	    spindle_pages_alloc(&kept->dlv, entries * sizeof(struct spindle_dlv)) ||
	    spindle_pages_alloc(&kept->ends, entries * sizeof(u64))) {
		spindle_kept_free(kept);
		return NULL;
	}
	spindle_history_init(&kept->history, kept->dlv.va, kept->copy.va, kept->ends.va,
			     bytes >> SPINDLE_UNIT_SHIFT);
	return kept;
}

/**
 * spindle_kept_free() - free a history
 * @kept: the engine does not use it any more; or NULL
 */
void spindle_kept_free(struct spindle_kept *kept)
{
	struct spindle_former *former, *next;

	if (!kept)
		return;
	list_for_each_entry_safe(former, next, &kept->former, list)
		kfree(former);
	spindle_pages_free(&kept->ends);
	spindle_pages_free(&kept->dlv);
	spindle_pages_free(&kept->copy);
	kvfree(kept);
}

/**
 * spindle_kept_bytes() - the size that a history was set to
 * @kept: the history, or NULL
 *
 * Return: bytes; 0: there is no history
 */
u32 spindle_kept_bytes(const struct spindle_kept *kept)
{
	return kept ? kept->copy.n << PAGE_SHIFT : 0;
}

/**
 * spindle_kept_memory() - all memory of a history
 * @kept: the history, or NULL
 *
 * Return: bytes
 */
u64 spindle_kept_memory(const struct spindle_kept *kept)
{
	if (!kept)
		return 0;
	return sizeof(*kept) +
	       ((u64)(kept->copy.n + kept->dlv.n + kept->ends.n) << PAGE_SHIFT);
}

/**
 * spindle_kept_check() - may a subgroup get a history of some size?
 * @sg: the subgroup
 * @bytes: the size; 0: none
 * @err: out: the error, if not
 *
 * Context: the namespace's lock.
 * Return: NULL; or why not, for people
 */
const char *spindle_kept_check(const struct spindle_subgroup *sg, u32 bytes, int *err)
{
	*err = -EINVAL;
	if (bytes && !is_size(bytes))
		return "history is none, or a power of two from 65536 to 1073741824 bytes";
	if (bytes && bytes / 2 < sg->cfg->max_msg)
		return "a history has at least twice the bytes of max-msg";
	if (!bytes && sg->mc.durable)
		return "a subgroup with logs has a history";
	*err = -EBUSY;
	if (sg->readers)
		return "history cannot change while a process reads the subgroup";
	if (sg->kept && READ_ONCE(sg->kept->history.keeping))
		return "history cannot change while it keeps messages for the log";
	return NULL;
}

/**
 * spindle_former_alloc() - allocate memory for the members of former views
 * @vid: the last view with these members
 * @seat: the members, by rank
 * @n: how many
 *
 * The memory cgroup of the calling process is charged.
 *
 * Context: process, no lock is needed.
 * Return: the memory, to be kept or freed by kfree(); or NULL
 */
struct spindle_former *spindle_former_alloc(u64 vid, const struct spindle_seat *seat, u32 n)
{
	struct spindle_former *former = kmalloc(struct_size(former, seat, n), GFP_KERNEL_ACCOUNT);

	if (!former)
		return NULL;
	former->vid = vid;
	former->members = n;
	memcpy(former->seat, seat, n * sizeof(*seat));
	return former;
}

/**
 * spindle_former_keep() - remember members that are older than all that are remembered
 * @kept: the history, which owns @former from now on
 * @former: the members
 * @below: what was remembered of views below this one is not in the history any more
 *
 * So there is one of these at most for each beginning of a view that the history knows.
 *
 * Context: process, the namespace's lock.
 */
void spindle_former_keep(struct spindle_kept *kept, struct spindle_former *former, u64 below)
{
	struct spindle_former *old, *next;

	list_for_each_entry_safe(old, next, &kept->former, list) {
		if (old->vid >= below && old->vid > former->vid)
			continue;
		list_del(&old->list);
		kfree(old);
	}
	list_add_tail(&former->list, &kept->former);
}

/**
 * spindle_former_seats() - the members in a view from before the history began
 * @kept: the history, or NULL
 * @args: in: the view; out: the number of members
 * @seat: out, room for SPINDLE_MAX_MEMBERS
 *
 * Context: process, the namespace's lock.
 * Return: 0; -ESTALE: the view is not remembered
 */
int spindle_former_seats(const struct spindle_kept *kept, struct spindle_seats *args,
			 struct spindle_seat *seat)
{
	const struct spindle_former *former, *found = NULL;

	if (!kept)
		return -ESTALE;
	/* The views between two of these had the members of the later one. */
	list_for_each_entry(former, &kept->former, list)
		if (former->vid >= args->vid)
			found = former;
	if (!found)
		return -ESTALE;
	args->count = found->members;
	memcpy(seat, found->seat, found->members * sizeof(*seat));
	return 0;
}
