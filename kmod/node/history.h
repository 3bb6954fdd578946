/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * History: the memory of a subgroup's history, and the request that sets it. The history itself is
 * in core/multicast/history.h.
 *
 * Owner: the subgroup; in a live view the next object of the subgroup takes it over. Readers hold
 * references to the pages, so they may read on when the view is gone.
 *
 * Context: process.
 */
#ifndef SPINDLE_NODE_HISTORY_H
#define SPINDLE_NODE_HISTORY_H

#include <linux/list.h>

#include "base/memory.h"
#include "core/multicast/history.h"

struct spindle_seat;
struct spindle_seats;
struct spindle_subgroup;

/**
 * struct spindle_kept - a history, and its memory
 */
struct spindle_kept {
	/** @history: the history; its cursors and entries belong to the engine */
	struct spindle_history history;
	/** @dlv: descriptors */
	struct spindle_pages dlv;
	/** @copy: bytes of the messages */
	struct spindle_pages copy;
	/** @ends: where the bytes of each message end */
	struct spindle_pages ends;
	/** @former: views of messages that were put in front, the newest first; namespace's lock */
	struct list_head former;
};

struct spindle_former;

struct spindle_kept *spindle_kept_alloc(u32 bytes);
void spindle_kept_free(struct spindle_kept *kept);
u32 spindle_kept_bytes(const struct spindle_kept *kept);
u64 spindle_kept_memory(const struct spindle_kept *kept);
const char *spindle_kept_check(const struct spindle_subgroup *sg, u32 bytes, int *err);
struct spindle_former *spindle_former_alloc(u64 vid, const struct spindle_seat *seat, u32 n);
void spindle_former_keep(struct spindle_kept *kept, struct spindle_former *former, u64 below);
int spindle_former_seats(const struct spindle_kept *kept, struct spindle_seats *args,
			 struct spindle_seat *seat);

#endif /* SPINDLE_NODE_HISTORY_H */
