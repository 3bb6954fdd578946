/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Worlds for tests that go step by step: one subgroup, honest members, and a fabric that keeps the
 * order.
 */
#ifndef SPINDLE_UNIT_DIRECTED_H
#define SPINDLE_UNIT_DIRECTED_H

#include "world.h"

/* A view without subgroups, and one more: window 8, messages of 1000 bytes. */
void view_init(struct spindle_view *v, u32 members);
struct spindle_view_subgroup *add_subgroup(struct spindle_view *v, u64 members, u64 senders);

/* A running world of one subgroup with a reader at each node; the same with silence 0. */
struct world *plain_world(u32 nodes, u64 senders);
struct world *chatty_world(u32 nodes, u64 senders);

/* A message that there has to be room for; run until nothing moves; drain, and close. */
void send_one(struct group *g, u32 len);
void settle(struct world *w);
void finish(struct world *w);

#endif /* SPINDLE_UNIT_DIRECTED_H */
