/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * History: the last messages that a subgroup has delivered at this node, for processes that come
 * later.
 *
 * The engine delivers to a history as to a copying reader, once for all processes. A history that
 * is full forgets its oldest entries, so it never waits. Processes are cursors in it: they map its
 * rings, each with words of its own for what was delivered, consumed and forgotten.
 *
 *	    forgotten          entries           free
 *	------------------|------------------|----------
 *	                 low      ^         tail
 *	                          cursors
 *
 * Messages that were delivered before the history began may be put in front of its oldest entry. So
 * the numbers of entries and units begin one lap up.
 *
 * In a subgroup with logs a history also waits: it does not forget what the logger has not
 * persisted (@kept). With a gate it shows cursors only what is durable. The logger's cursor sees
 * all.
 *
 * Before bytes are overwritten, each cursor's process can see that they are forgotten (F in
 * <linux/spindle.h>). A cursor that has not consumed them by then is dropped.
 *
 * Context: engine, but for init.
 */
#ifndef SPINDLE_CORE_HISTORY_H
#define SPINDLE_CORE_HISTORY_H

#include "dlvq.h"

/* Beginnings of views that a history knows. It forgets the messages before the oldest of them. */
#define SPINDLE_HISTORY_VIEWS	128

/* A history forgets this part of its entries and bytes at a time. */
#define SPINDLE_FORGET_SHIFT	4

/**
 * struct spindle_history_view - where a view begins
 */
struct spindle_history_view {
	/** @at: its entry */
	u64 at;
	/** @vid: its id */
	u64 vid;
	/** @before: the last view with the members that the entries before it were delivered to */
	u64 before;
};

/**
 * struct spindle_older - messages that were delivered in one view, before a history began
 */
struct spindle_older {
	/** @dlv: their descriptors, the oldest first; offsets count in @data */
	const struct spindle_dlv *dlv;
	/** @data: their bytes */
	const u8 *data;
	/** @bytes: length of @data */
	u32 bytes;
	/** @count: how many messages */
	u32 count;
	/** @lsn: position behind the last one */
	u64 lsn;
	/** @vid: view that began behind the last one, 0: none with other members */
	u64 vid;
	/** @before: with @vid, the last view with the members that they were delivered to */
	u64 before;
};

/**
 * struct spindle_history - see above
 */
struct spindle_history {
	/** @q: the rings; q.consumed: entries below are forgotten */
	struct spindle_dlvq q;
	/** @shown: entries that cursors were shown; q.tail_word points to it */
	u64 shown;
	/** @cursors: the readers */
	struct spindle_dlvq *cursors;
	/** @view: views whose beginning is in the ring, by number modulo the length */
	struct spindle_history_view view[SPINDLE_HISTORY_VIEWS];
	/** @keeping: entries from @kept on are not forgotten, because no disk has them yet */
	bool keeping;
	/** @kept: see @keeping; the tail, if the disk has all */
	u64 kept;
	/** @gated: cursors other than the logger's get entries below @gate only */
	bool gated;
	/** @gate: the first entry that is not durable, or the tail */
	u64 gate;
	/** @views: how many there were */
	u64 views;
	/** @first_view: of these, forgotten */
	u64 first_view;
};

void spindle_history_init(struct spindle_history *h, struct spindle_dlv *ring, u8 *copy,
			  u64 *copy_end, u32 copy_units);
void spindle_history_keep(struct spindle_history *h, u64 lsn);
void spindle_history_let_go(struct spindle_history *h);
void spindle_history_open(struct spindle_history *h, u64 lsn);
u64 spindle_history_next(const struct spindle_history *h, u64 next);
void spindle_history_make_room(struct spindle_history *h, u32 len);
void spindle_history_viewed(struct spindle_history *h, u64 vid, u64 before);
void spindle_history_age(struct spindle_history *h, u64 vid);
void spindle_history_show(struct spindle_history *h);
bool spindle_history_moved(const struct spindle_history *h);
bool spindle_history_poll(struct spindle_history *h);
u64 spindle_history_oldest(const struct spindle_history *h, u64 next);
u64 spindle_history_find(const struct spindle_history *h, u64 lsn);
u64 spindle_history_vid(const struct spindle_history *h, u64 at, u64 last);
bool spindle_older_is_valid(const struct spindle_older *older, u32 senders, u32 max_msg);
u64 spindle_history_before(struct spindle_history *h);
int spindle_history_fill(struct spindle_history *h, const struct spindle_older *older, u64 next);
void spindle_history_attach(struct spindle_history *h, struct spindle_dlvq *cursor, u64 at);
void spindle_history_detach(struct spindle_history *h, struct spindle_dlvq *cursor);

/**
 * spindle_history_entries() - entries of a history
 * @bytes: bytes of its messages, a power of two
 *
 * Return: entries, a power of two. Messages below two units fill the entries first
 */
static inline u32 spindle_history_entries(u32 bytes)
{
	return bytes >> (SPINDLE_UNIT_SHIFT + 1);
}

#endif /* SPINDLE_CORE_HISTORY_H */
