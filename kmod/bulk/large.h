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
 */
struct spindle_large_sender {
	/** @link: by rank in the stream; that of the own rank has no lane */
	struct spindle_link *link;
	/**
	 * @sources: bit mask of the ranks that send to us, whose links need regions for our grants
	 */
	u64 sources;
};

/**
 * struct spindle_large - large messages of a subgroup at a node
 */
struct spindle_large {
	/** @sg: the subgroup */
	struct spindle_subgroup *sg;
	/** @streams: the streams; engine */
	struct spindle_streams streams;
	/** @run: in the engine's list */
	struct list_head run;
	/** @chore: the work that may sleep */
	struct spindle_chore chore;
	/** @again_ms: time until the chore tries again after it had no memory */
	u32 again_ms;
	/** @garbage: pinned memory that is not in use any more, to be freed by the chore */
	struct llist_head garbage;
	/** @sender: by sender rank */
	struct spindle_large_sender sender[];
};

int spindle_large_create(struct spindle_subgroup *sg, const struct spindle_view *view);
int spindle_large_open(struct spindle_large *large, const struct spindle_view *view,
		       struct spindle_peer *const *peer);
void spindle_large_destroy(struct spindle_large *large);

/* engine context */
bool spindle_large_pass(struct spindle_large *large, u64 now);

#endif /* SPINDLE_BULK_LARGE_H */
