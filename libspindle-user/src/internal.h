/* SPDX-License-Identifier: MIT */
/*
 * Declarations inside the library.
 */
#ifndef SPINDLE_INTERNAL_H
#define SPINDLE_INTERNAL_H

#include <stdbool.h>

#include <spindle/rdmc.h>
#include <spindle/snapshot.h>
#include <spindle/spindle.h>

#include "sys.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))

/**
 * struct spindle_epoch - a view as a reader sees it
 *
 * An epoch owns the rings that its sources have mapped. Rings of senders that stay go to the
 * next epoch. An old epoch without rings is freed at once.
 */
struct spindle_epoch {
	/** @older: in q->left, the next epoch, which ended earlier */
	struct spindle_epoch *older;
	/** @end: entry of the delivery ring at which the epoch ended */
	uint64_t end;
	/** @vid: id of the view */
	uint64_t vid;
	/** @members: members of the subgroup */
	uint32_t members;
	/** @senders: members that send */
	uint32_t senders;
	/** @rank: own rank among the members */
	uint32_t rank;
	/** @sender_rank: own rank among the senders, or SPINDLE_NO_RANK */
	uint32_t sender_rank;
	/** @seat: by rank */
	struct spindle_seat *seat;
	/** @source: by sender rank */
	struct spindle_source source[];
};

/* Addresses of the sections that attach.c mapped; rings of senders are in q->source. */
struct spindle_layout {
	const unsigned char *ctl;
	unsigned char *usr;
	unsigned char *tx;
	const unsigned char *dlv;
};

/* Map @len bytes at @cookie @times times in a row. */
int spindle_map_section(const struct spindle_queue *q, uint64_t cookie, uint64_t len,
			unsigned int times, int prot, struct spindle_map *m);
void spindle_unmap_section(struct spindle_map *m);

/* Words of durable messages, if the subgroup has logs; the step of an attach after the mappings. */
int spindle_logs_begin(struct spindle_queue *q, const struct spindle_attach *a);
void spindle_logs_end(struct spindle_queue *q);

/* Flush quiet commits before a wait. */
void spindle_flush_quiet(struct spindle_queue *q);

/* spindle_reserve(), and wait for room until then. Return: -EAGAIN when the time is up. */
int spindle_reserve_until(struct spindle_queue *q, uint32_t len, struct spindle_slot *s,
			  int64_t deadline);

/*
 * Wait until all slots below @goal, modulo 2^32, are free. Return: 0; -EAGAIN when the time is up;
 * -EPIPE when the state is final; -EINTR.
 */
int spindle_freed_until(struct spindle_queue *q, uint32_t goal, int64_t deadline);

/*
 * Tell the kernel what a replica reports about itself, for spindle-ctl. Return: 0 or a negative
 * errno; -ENOTTY from a module that does not know this.
 */
int spindle_report(const struct spindle_queue *q, const struct spindle_report *report);

/*
 * The two halves of spindle_snapshot_commit(): write the head, and have the file durable; and give
 * the file its name, and free @s. A child of fork() may do the first one. Return: 0 or a
 * negative errno.
 */
int spindle_snapshot_seal(const struct spindle_snapshot *s, const struct spindle_place *place);
int spindle_snapshot_publish(struct spindle_snapshot *s, const struct spindle_place *place);

/* spindle_rdmc_dispatch() of at most @budget events, above 0. */
int spindle_rdmc_dispatch_some(struct spindle_rdmc_group *g, const struct spindle_rdmc_calls *calls,
			       void *arg, int budget);

/* A time to wait until, in ns of CLOCK_MONOTONIC; INT64_MAX for a negative @timeout_ms: never. */
int64_t spindle_deadline(int timeout_ms);
bool spindle_is_past(int64_t deadline);
/* poll() until then. Return: as spindle_sys_poll(). */
int spindle_poll_until(int fd, short events, short *revents, int64_t deadline);

/* Say why a device could not be opened. */
void spindle_open_strerror(const char *device, int err, char *buf, size_t len);

/* Read the members and map the senders' rings; the last step of an attach. */
int spindle_first_view(struct spindle_queue *q);
void spindle_forget_views(struct spindle_queue *q);

/* Are the messages in one ring of copies, and not in the rings of their senders? */
static inline bool spindle_reads_copies(const struct spindle_attach *a)
{
	return (a->flags & SPINDLE_ATTACH_COPY) ||
	       ((a->flags & SPINDLE_ATTACH_RECV) && (a->features & SPINDLE_FEAT_HISTORY));
}

/* Check a reply of the kernel against itself, before anything is mapped by it. */
int spindle_layout_check(const struct spindle_attach *a);

/* Point the queue into the mapped sections; cannot fail. */
void spindle_layout_apply(struct spindle_queue *q, const struct spindle_attach *a,
			  const struct spindle_layout *l);

#endif /* SPINDLE_INTERNAL_H */
