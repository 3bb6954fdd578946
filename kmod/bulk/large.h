/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Large: what embeds the streams of a subgroup (core/stream.h), for its large messages.
 *
 *	create	with the subgroup
 *	open	links to the other members: before any of them can know that the subgroup has begun
 *	begin	the subgroup is in the view that is installed
 *	destroy	with the subgroup
 *
 * Owner: the subgroup. Streams are the engine's. A chore makes regions for links, finds memory for
 * objects, and frees it; what it has no memory for it tries again.
 */
#ifndef SPINDLE_LARGE_H
#define SPINDLE_LARGE_H

#include <linux/llist.h>

#include "core/stream.h"
#include "link.h"

struct spindle_peer;
struct spindle_subgroup;

/**
 * struct spindle_large_sender - a stream's share of lanes
 * @link: by rank in the stream; no lane at the own one
 * @sources: ranks that need regions for our grants
 */
struct spindle_large_sender {
	struct spindle_link *link;
	u64 sources;
};

/**
 * struct spindle_large - large messages of a subgroup at a node
 * @sg: the subgroup
 * @streams: the streams; engine
 * @run: in the engine's list
 * @chore: what may sleep
 * @again_ms: time until it tries again what it had no memory for
 * @garbage: memory that is not in use any more
 * @sender: by sender rank
 */
struct spindle_large {
	struct spindle_subgroup *sg;
	struct spindle_streams streams;
	struct list_head run;
	struct spindle_chore chore;
	u32 again_ms;
	struct llist_head garbage;
	struct spindle_large_sender sender[];
};

bool spindle_large_wanted(const struct spindle_view_subgroup *cfg);
int spindle_large_create(struct spindle_subgroup *sg, const struct spindle_view *view);
int spindle_large_open(struct spindle_large *large, const struct spindle_view *view,
		       struct spindle_peer *const *peer);
void spindle_large_destroy(struct spindle_large *large);

/* engine context */
bool spindle_large_pass(struct spindle_large *large, u64 now);

#endif /* SPINDLE_LARGE_H */
