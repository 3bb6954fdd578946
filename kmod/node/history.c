// SPDX-License-Identifier: GPL-2.0-only
/*
 * History: the memory of a subgroup's history. See history.h.
 */
#include <linux/slab.h>
#include <linux/spindle_genl.h>

#include "history.h"
#include "subgroup.h"

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
	if (!kept)
		return;
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
	*err = -EBUSY;
	if (sg->readers)
		return "history cannot change while a process reads the subgroup";
	return NULL;
}
