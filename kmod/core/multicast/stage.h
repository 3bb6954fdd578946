/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Stages: what the four predicates of a subgroup share. Private to receive.c, send.c,
 * deliver.c, release.c and multicast.c; see multicast.h.
 */
#ifndef SPINDLE_CORE_STAGE_H
#define SPINDLE_CORE_STAGE_H

#include "multicast.h"

/* Entry of the log that is no sender's: its sender has gone, or it stands for a view. */
#define SPINDLE_LOG_GONE 0xff

static_assert(SPINDLE_MAX_MEMBERS < SPINDLE_LOG_GONE, "a sender rank is no such word");

/* Deliveries are acknowledged at once if 1/4 of what can be under way waits for that. */
#define SPINDLE_LAZY_SHIFT 2

/* Is a technique of the paper in use? enum spindle_switch. */
static inline bool spindle_mc_uses(const struct spindle_mc *mc, u32 technique)
{
	return mc->tune.switches & technique;
}

/* One message per pass is what the paper's baseline does. */
static inline u32 spindle_mc_budget(const struct spindle_mc *mc, u32 technique, u32 budget)
{
	return spindle_mc_uses(mc, technique) ? budget : 1;
}

/* Count a batch, and its size by powers of two. */
static inline void spindle_mc_batch(u64 *batches, u64 *hist, u64 n)
{
	spindle_count(batches, 1);
	spindle_count(&hist[min_t(u32, fls64(n) - 1, SPINDLE_HIST_BUCKETS - 1)], 1);
}

void spindle_mc_count_late(struct spindle_mc *mc);
u64 spindle_mc_prefix(const struct spindle_mc *mc,
		      u64 (*count)(const struct spindle_mc_sender *sd));
void spindle_mc_set(struct spindle_mc *mc, enum spindle_column col, u64 value);
void spindle_mc_advance(struct spindle_mc *mc);
void spindle_mc_publish(struct spindle_mc *mc);
void spindle_mc_post_in_place(struct spindle_mc *mc);

/* The predicates: tests change nothing, triggers take all that has piled up. */
bool spindle_receive_test(void *ctx);
void spindle_receive_trigger(void *ctx);
bool spindle_send_test(void *ctx);
void spindle_send_trigger(void *ctx);
bool spindle_deliver_test(void *ctx);
void spindle_deliver_trigger(void *ctx);
bool spindle_release_test(void *ctx);
void spindle_release_trigger(void *ctx);

#endif /* SPINDLE_CORE_STAGE_H */
