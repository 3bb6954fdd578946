/* SPDX-License-Identifier: MIT */
/*
 * Inside the library.
 */
#ifndef SPINDLE_INTERNAL_H
#define SPINDLE_INTERNAL_H

#include <spindle/spindle.h>

#include "sys.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/**
 * struct spindle_epoch - a view as a reader sees it
 * @older: in q->left, one that ended before
 * @end: the entry of the delivery ring that ended it
 * @vid: id of the view
 * @members: members of the subgroup
 * @senders: members that send
 * @rank: own rank among the members
 * @sender_rank: own rank among the senders, or SPINDLE_NO_RANK
 * @seat: by rank
 * @source: by sender rank
 *
 * Owns the rings that its sources have mapped. Those of senders that stay are handed on to
 * the next epoch; one that has none left is freed at once.
 */
struct spindle_epoch {
	struct spindle_epoch *older;
	uint64_t end;
	uint64_t vid;
	uint32_t members;
	uint32_t senders;
	uint32_t rank;
	uint32_t sender_rank;
	struct spindle_seat *seat;
	struct spindle_source source[];
};

/* Where attach.c mapped the sections; the rings of the senders are in q->source. */
struct spindle_layout {
	const unsigned char *ctl;
	unsigned char *usr;
	unsigned char *tx;
	const unsigned char *dlv;
};

/* Map @times times, in a row, @len bytes at @cookie. */
int spindle_map_section(const struct spindle_queue *q, uint64_t cookie, uint64_t len,
			unsigned int times, int prot, struct spindle_map *m);
void spindle_unmap_section(struct spindle_map *m);

/* Learn of the members and map the senders' rings; the last step of an attach. */
int spindle_first_view(struct spindle_queue *q);
void spindle_forget_views(struct spindle_queue *q);

/* Check a reply of the kernel against itself, before anything is mapped by it. */
int spindle_layout_check(const struct spindle_attach *a);

/* Point the queue into the mapped sections; cannot fail. */
void spindle_layout_apply(struct spindle_queue *q, const struct spindle_attach *a,
			  const struct spindle_layout *l);

#endif /* SPINDLE_INTERNAL_H */
