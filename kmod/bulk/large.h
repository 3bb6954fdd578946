/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Large: the kernel side of a subgroup's streams (core/group/stream.h), for its large messages.
 *
 *	create	with the subgroup
 *	open	the links to the other members, before these can know that the subgroup has begun
 *	begin	when the view with the subgroup is installed
 *	destroy	with the subgroup
 *
 * Owner: the subgroup. The engine owns the streams. A chore allocates regions for links, and finds
 * and frees memory for objects. If there is no memory, the chore tries again later.
 */
#ifndef SPINDLE_BULK_LARGE_H
#define SPINDLE_BULK_LARGE_H

#include <linux/llist.h>

#include "core/group/stream.h"
#include "link.h"

struct spindle_peer;
struct spindle_subgroup;

/**
 * struct spindle_large_sender - a stream's links
 * @link: by rank in the stream; that of the own rank has no lane
 * @sources: bit mask of the ranks that send to us, whose links need regions for our grants
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
 * @chore: the work that may sleep
 * @again_ms: time until the chore tries again after it had no memory
 * @garbage: pinned memory that is not in use any more, to be freed by the chore
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

int spindle_large_create(struct spindle_subgroup *sg, const struct spindle_view *view);
int spindle_large_open(struct spindle_large *large, const struct spindle_view *view,
		       struct spindle_peer *const *peer);
void spindle_large_destroy(struct spindle_large *large);

/* engine context */
bool spindle_large_pass(struct spindle_large *large, u64 now);

#endif /* SPINDLE_BULK_LARGE_H */
