/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Past: the seats of members, in the views that readers may still be in.
 *
 * A process enters a view when it reaches the view's entry in its queue. The view may have ended
 * by then, so the live view remembers its last views.
 *
 * Owner: the live view. Context: process, the namespace's lock.
 */
#ifndef SPINDLE_LIVE_PAST_H
#define SPINDLE_LIVE_PAST_H

#include <linux/list.h>
#include <linux/types.h>

struct spindle_installed;
struct spindle_seat;
struct spindle_seats;
struct spindle_subgroup;

struct spindle_past;

struct spindle_past *spindle_past_alloc(u32 members, u32 subgroups);
void spindle_past_free(struct spindle_past *past);
u64 spindle_past_keep(struct list_head *list, struct spindle_past *past,
		      const struct spindle_installed *inst);
void spindle_past_forget(struct list_head *list);
int spindle_past_seats(const struct spindle_subgroup *sg, struct spindle_seats *args,
		       struct spindle_seat *seat);

#endif /* SPINDLE_LIVE_PAST_H */
