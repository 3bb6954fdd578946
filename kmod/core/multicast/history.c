// SPDX-License-Identifier: GPL-2.0-only
/*
 * History: the last messages that a subgroup has delivered at this node. See history.h.
 */
#include "history.h"

/**
 * spindle_history_init() - an empty history
 * @h: the history
 * @ring: spindle_history_entries() of the bytes
 * @copy: the bytes of messages
 * @copy_end: as many entries as @ring has
 * @copy_units: units of @copy, a power of two
 */
void spindle_history_init(struct spindle_history *h, struct spindle_dlv *ring, u8 *copy,
			  u64 *copy_end, u32 copy_units)
{
	memset(h, 0, sizeof(*h));
	h->q.ring = ring;
	h->q.mask = spindle_history_entries(copy_units << SPINDLE_UNIT_SHIFT) - 1;
	h->q.copy = copy;
	h->q.copy_end = copy_end;
	h->q.copy_units = copy_units;
	h->q.tail = h->q.mask + 1ULL;
	h->q.consumed = h->q.tail;
	h->shown = h->q.tail;
	h->gate = h->q.tail;
	h->q.copy_tail = copy_units;
	h->q.copy_free = copy_units;
	copy_end[h->q.mask] = copy_units;
	h->views = SPINDLE_HISTORY_VIEWS;
	h->first_view = SPINDLE_HISTORY_VIEWS;
	h->q.tail_word = &h->shown;
	/* Nothing but the history itself consumes its entries. */
	h->q.consumed_word = &h->q.consumed;
	h->q.history = h;
}

static u64 position_at(const struct spindle_history *h, u64 at, u64 next)
{
	/* Outside of the engine, the tail moves, and an entry may be overwritten. */
	return data_race(at == READ_ONCE(h->q.tail) ? next :
						      READ_ONCE(h->q.ring[at & h->q.mask].lsn));
}

/*
 * Drop a cursor whose next entry is forgotten. Its process sees that nothing in the ring is what it
 * was, however late it looks. A cursor that has been frozen keeps its error, but its process may
 * still read.
 */
static void drop(struct spindle_history *h, struct spindle_dlvq *cursor)
{
	if (!cursor->error) {
		cursor->lsn = position_at(h, cursor->consumed, 0);
		cursor->error = SPINDLE_ERR_BEHIND;
	}
	WRITE_ONCE(*cursor->low_word, U64_MAX);
}

/*
 * From an entry on, the first one that is no beginning of a view. The gate is never in front of
 * one, because a reader that begins with the next message begins behind it.
 */
static u64 skip_views(const struct spindle_history *h, u64 at)
{
	while (at != h->q.tail && h->q.ring[at & h->q.mask].kind == SPINDLE_DLV_VIEW)
		at++;
	return at;
}

/*
 * Forget all entries below @low, which is at most the tail. What a cursor has not consumed by then
 * stays forgotten for its process, although messages may come in front later.
 */
static void forget(struct spindle_history *h, u64 low)
{
	struct spindle_dlvq *c;

	for (c = h->cursors; c; c = c->next) {
		spindle_dlvq_poll(c);
		if (c->consumed < low)
			drop(h, c);
		else if (*c->low_word != U64_MAX)
			WRITE_ONCE(*c->low_word, low);
	}
	h->q.consumed = low;
	WRITE_ONCE(h->gate, skip_views(h, max(h->gate, low)));
	/* If the logger has lost a message that was kept for it, the rest is of no use to it. */
	if (h->keeping && low > h->kept) {
		h->keeping = skip_views(h, h->kept) >= low;
		h->kept = low;
	}
	h->q.copy_free = h->q.copy_end[(low - 1) & h->q.mask];
	while (h->first_view != h->views &&
	       h->view[h->first_view % SPINDLE_HISTORY_VIEWS].at < low)
		h->first_view++;
	/* F: the words are stored before what they are about is overwritten. */
	smp_wmb();
}

/* The first entry, from @low on, behind which @units are free. The ends of entries only grow. */
static u64 first_with_room(const struct spindle_history *h, u64 low, u64 units)
{
	u64 high = h->q.tail;

	while (low != high) {
		u64 mid = low + (high - low) / 2;

		if (h->q.copy_tail + units - h->q.copy_end[(mid - 1) & h->q.mask] >
		    h->q.copy_units)
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/* Entries that are walked one by one, because each call goes on where the last one has ended. */
#define WALK	16

/* From an entry on, the first one of a position, which may be the beginning of a view. */
static u64 walk_to(const struct spindle_history *h, u64 at, u64 lsn)
{
	u64 high = h->q.tail, near;

	at = max(at, h->q.consumed);
	near = min(high, at + WALK);
	while (at != near && h->q.ring[at & h->q.mask].lsn < lsn)
		at++;
	if (at != near)
		return at;
	while (at != high) {
		u64 mid = at + (high - at) / 2;

		if (h->q.ring[mid & h->q.mask].lsn < lsn)
			at = mid + 1;
		else
			high = mid;
	}
	return at;
}

/**
 * spindle_history_keep() - forget no message from a position on
 * @h: the history
 * @lsn: the position; no smaller than in the last call
 *
 * The beginnings of views at the position stay as well, because the logger may not have read them.
 */
void spindle_history_keep(struct spindle_history *h, u64 lsn)
{
	h->kept = walk_to(h, h->keeping ? h->kept : h->q.consumed, lsn);
	h->keeping = true;
}

/**
 * spindle_history_let_go() - any message may be forgotten again
 * @h: the history
 */
void spindle_history_let_go(struct spindle_history *h)
{
	h->keeping = false;
}

/**
 * spindle_history_open() - have cursors shown the messages below a position, and no others
 * @h: the history
 * @lsn: the position; no smaller than in the last call
 */
void spindle_history_open(struct spindle_history *h, u64 lsn)
{
	/* Pairs with READ_ONCE() in spindle_history_next(). */
	WRITE_ONCE(h->gated, true);
	WRITE_ONCE(h->gate, skip_views(h, walk_to(h, h->gate, lsn)));
	spindle_history_show(h);
}

/* Entries that a cursor is shown. */
static u64 shown_to(const struct spindle_history *h, const struct spindle_dlvq *cursor)
{
	return h->gated && !cursor->logger ? h->gate : h->q.tail;
}

/**
 * spindle_history_next() - position of the next message that cursors will be shown
 * @h: the history
 * @next: position of the next message that is delivered
 *
 * Context: any. Outside of the engine, the answer may be that of a moment ago.
 * Return: the position
 */
u64 spindle_history_next(const struct spindle_history *h, u64 next)
{
	return READ_ONCE(h->gated) ? position_at(h, READ_ONCE(h->gate), next) : next;
}

/**
 * spindle_history_make_room() - forget the oldest entries, for a message
 * @h: the history, without room for the message
 * @len: its bytes, at most half of those of the history
 *
 * This forgets a part of the ring, because each time all cursors have to be told. If what is kept
 * for the logger leaves too little room, the message has to wait.
 */
void spindle_history_make_room(struct spindle_history *h, u32 len)
{
	u64 entries = h->q.mask + 1ULL, part = entries >> SPINDLE_FORGET_SHIFT;
	u64 units = max_t(u64, spindle_units(len), h->q.copy_units >> SPINDLE_FORGET_SHIFT);
	u64 low = h->q.consumed;

	if (h->q.tail - low + part > entries)
		low = h->q.tail + part - entries;
	low = first_with_room(h, low, units);
	if (h->keeping)
		low = min(low, h->kept);
	if (low != h->q.consumed)
		forget(h, low);
}

/**
 * spindle_history_viewed() - the entry that was appended last is the beginning of a view
 * @h: the history
 * @vid: id of the view
 * @before: the last view with the members that the entries before it were delivered to
 */
void spindle_history_viewed(struct spindle_history *h, u64 vid, u64 before)
{
	/* A reader can only be in a view that is known: forget what comes before the oldest one. */
	if (h->views - h->first_view == SPINDLE_HISTORY_VIEWS)
		forget(h, h->view[h->first_view % SPINDLE_HISTORY_VIEWS].at + 1);
	h->view[h->views++ % SPINDLE_HISTORY_VIEWS] = (struct spindle_history_view){
		.at = h->q.tail - 1,
		.vid = vid,
		.before = before,
	};
	WRITE_ONCE(h->gate, skip_views(h, h->gate));
}

/**
 * spindle_history_age() - forget the messages of views whose members are not remembered any more
 * @h: the history
 * @vid: the oldest view that is remembered
 */
void spindle_history_age(struct spindle_history *h, u64 vid)
{
	u64 n = h->first_view;

	/* The messages before the beginning of a view belong to the view before it. */
	while (n != h->views && h->view[n % SPINDLE_HISTORY_VIEWS].vid <= vid)
		n++;
	if (n != h->first_view)
		forget(h, h->view[(n - 1) % SPINDLE_HISTORY_VIEWS].at + 1);
}

/**
 * spindle_history_show() - show the cursors what was appended
 * @h: the history
 */
void spindle_history_show(struct spindle_history *h)
{
	struct spindle_dlvq *c;

	for (c = h->cursors; c; c = c->next) {
		if (c->error)
			continue;
		c->tail = shown_to(h, c);
		spindle_dlvq_publish(c);
	}
}

/**
 * spindle_history_moved() - has a process consumed anything?
 * @h: the history
 *
 * Return: true if so
 */
bool spindle_history_moved(const struct spindle_history *h)
{
	const struct spindle_dlvq *c;

	for (c = h->cursors; c; c = c->next)
		if (!c->error && READ_ONCE(*c->consumed_word) != c->consumed)
			return true;
	return false;
}

/**
 * spindle_history_poll() - see how far the cursors are
 * @h: the history
 *
 * Return: true if a cursor is dropped, or its process broke a rule
 */
bool spindle_history_poll(struct spindle_history *h)
{
	struct spindle_dlvq *c;
	bool error = false;

	for (c = h->cursors; c; c = c->next) {
		spindle_dlvq_poll(c);
		error |= c->error;
	}
	return error;
}

/**
 * spindle_history_oldest() - position of the oldest message that can be read
 * @h: the history
 * @next: position of the next message that is delivered
 *
 * Context: any. Outside of the engine, the answer may be that of a moment ago.
 * Return: the position; @next if there is none
 */
u64 spindle_history_oldest(const struct spindle_history *h, u64 next)
{
	return position_at(h, READ_ONCE(h->q.consumed), next);
}

/* Does an entry come before the message of a position? So does a view that begins with it. */
static bool comes_before(const struct spindle_dlv *dlv, u64 lsn)
{
	return dlv->lsn < lsn || (dlv->lsn == lsn && dlv->kind == SPINDLE_DLV_VIEW);
}

/**
 * spindle_history_find() - find the message of a position
 * @h: the history
 * @lsn: the position, from spindle_history_oldest() on
 *
 * Return: the entry of the message; the tail if it is not delivered yet
 */
u64 spindle_history_find(const struct spindle_history *h, u64 lsn)
{
	u64 low = h->q.consumed, high = h->q.tail;

	while (low != high) {
		u64 mid = low + (high - low) / 2;

		if (comes_before(&h->q.ring[mid & h->q.mask], lsn))
			low = mid + 1;
		else
			high = mid;
	}
	return low;
}

/**
 * spindle_history_vid() - a view with the members that an entry was delivered to
 * @h: the history
 * @at: the entry, or the tail
 * @last: the present view, or the one before it if the present one is still to be appended
 *
 * A view that leaves a subgroup as it is has no entry. So this is the last of the views with the
 * same members, because that one is remembered for the longest time.
 *
 * Return: its id
 */
u64 spindle_history_vid(const struct spindle_history *h, u64 at, u64 last)
{
	u64 n = h->views;

	for (; n != h->first_view; n--) {
		const struct spindle_history_view *view =
			&h->view[(n - 1) % SPINDLE_HISTORY_VIEWS];

		if (view->at < at)
			break;
		last = view->before;
	}
	return last;
}

/* ---- messages from before the history began ------------------------------ */

/**
 * spindle_older_is_valid() - are messages what they say?
 * @older: the messages, a private copy
 * @senders: senders of the view that they were delivered in
 * @max_msg: longest message of the subgroup, bytes
 *
 * Context: any.
 * Return: true if so: each position once and in order, and all bytes in the data
 */
bool spindle_older_is_valid(const struct spindle_older *older, u32 senders, u32 max_msg)
{
	u32 i;

	if (older->lsn < older->count || (older->vid && older->before >= older->vid))
		return false;
	for (i = 0; i < older->count; i++) {
		const struct spindle_dlv *d = &older->dlv[i];
		u32 longest = d->kind == SPINDLE_DLV_MSG ? min(max_msg, older->bytes) : 0;

		if (d->kind != SPINDLE_DLV_MSG && d->kind != SPINDLE_DLV_OTHER)
			return false;
		if (d->lsn != older->lsn - older->count + i || d->sender >= senders)
			return false;
		if (d->len > longest || d->offset > older->bytes - d->len)
			return false;
	}
	return true;
}

/* The oldest view whose beginning is known, or NULL. */
static struct spindle_history_view *oldest_view(struct spindle_history *h)
{
	return h->first_view == h->views ? NULL :
	       &h->view[h->first_view % SPINDLE_HISTORY_VIEWS];
}

/* Is the oldest entry the beginning of this view? */
static bool begins_with(const struct spindle_history *h, const struct spindle_history_view *view)
{
	return view && view->at == h->q.consumed;
}

/*
 * Is there room for one more entry in front? Its predecessor's end needs an entry that is free,
 * too. A message that is under way from a sender's ring keeps the units that it has filled.
 */
static bool has_room_in_front(const struct spindle_history *h, u32 units)
{
	return h->q.tail - h->q.consumed < h->q.mask &&
	       h->q.copy_tail + spindle_units(h->q.part) + units - h->q.copy_free <=
		       h->q.copy_units;
}

/* Put an entry in front of the oldest one, whose bytes end at @copy_free. */
static void put_in_front(struct spindle_history *h, const struct spindle_dlv *dlv, const u8 *data)
{
	u64 at = h->q.consumed - 1, bytes = (u64)h->q.copy_units << SPINDLE_UNIT_SHIFT;
	struct spindle_dlv *to = &h->q.ring[at & h->q.mask];

	*to = *dlv;
	if (dlv->kind == SPINDLE_DLV_MSG) {
		h->q.copy_free -= spindle_units(dlv->len);
		to->offset = (h->q.copy_free << SPINDLE_UNIT_SHIFT) & (bytes - 1);
		spindle_dlvq_put(&h->q, h->q.copy_free, data + dlv->offset, dlv->len);
	} else if (dlv->kind == SPINDLE_DLV_OTHER) {
		to->offset = 0;
	}
	h->q.copy_end[(at - 1) & h->q.mask] = h->q.copy_free;
	/* Pairs with the address dependency in spindle_history_oldest(): the entry is complete. */
	smp_store_release(&h->q.consumed, at);
}

/*
 * Put the beginning of a view in front, unless it is the oldest entry already. Then the history
 * began with that view, and learns which members the messages before it had.
 */
static bool put_view(struct spindle_history *h, const struct spindle_older *older)
{
	const struct spindle_dlv dlv = {
		.lsn = older->lsn, .offset = older->before, .slot = older->vid,
		.kind = SPINDLE_DLV_VIEW,
	};
	struct spindle_history_view *oldest = oldest_view(h);

	if (begins_with(h, oldest) && oldest->vid == older->vid) {
		oldest->before = older->before;
		WRITE_ONCE(h->q.ring[oldest->at & h->q.mask].offset, older->before);
		return true;
	}
	if (h->views - h->first_view == SPINDLE_HISTORY_VIEWS || !has_room_in_front(h, 0))
		return false;
	put_in_front(h, &dlv, NULL);
	h->view[--h->first_view % SPINDLE_HISTORY_VIEWS] = (struct spindle_history_view){
		.at = h->q.consumed,
		.vid = older->vid,
		.before = older->before,
	};
	return true;
}

/* May a view have begun in front of the oldest entry? Ids of views only grow. */
static bool view_fits(struct spindle_history *h, const struct spindle_older *older)
{
	const struct spindle_history_view *oldest = oldest_view(h);
	bool begins = begins_with(h, oldest);

	if (!older->vid)
		return !begins;
	if (begins && older->vid == oldest->vid)
		return older->before <= oldest->before;
	return !oldest || older->vid <= oldest->before;
}

/*
 * Show the cursors what has come in front, because the filler may look back, to give messages to
 * another node. A node has one filler at a time, and a filler does not look back during its call.
 */
static void show_front(struct spindle_history *h)
{
	struct spindle_dlvq *c;

	for (c = h->cursors; c; c = c->next)
		if (*c->low_word != U64_MAX)
			/* Pairs with the process's load-acquire: the entries are complete. */
			smp_store_release(c->low_word, h->q.consumed);
}

/**
 * spindle_history_before() - the last view from before all beginnings of views that are known
 * @h: the history
 *
 * Return: its id; U64_MAX: no beginning is known
 */
u64 spindle_history_before(struct spindle_history *h)
{
	const struct spindle_history_view *oldest = oldest_view(h);

	return oldest ? oldest->before : U64_MAX;
}

/**
 * spindle_history_fill() - put messages in front of the oldest entry
 * @h: the history
 * @older: the messages, which are valid
 * @next: position of the next message that is delivered
 *
 * Cursors stay where they are, because these entries count as consumed. What is put here is
 * forgotten first.
 *
 * Return: 0; -ESTALE: the messages do not end where the history begins; -ENOSPC: there was room for
 *	the newest of them only, or for none
 */
int spindle_history_fill(struct spindle_history *h, const struct spindle_older *older, u64 next)
{
	u32 n = older->count;

	if (older->lsn != spindle_history_oldest(h, next) || !view_fits(h, older))
		return -ESTALE;
	if (older->vid && !put_view(h, older))
		return -ENOSPC;
	while (n && has_room_in_front(h, spindle_units(older->dlv[n - 1].len)))
		put_in_front(h, &older->dlv[--n], older->data);
	show_front(h);
	return n ? -ENOSPC : 0;
}

/**
 * spindle_history_attach() - attach a process that reads
 * @h: the history
 * @cursor: its queue, zeroed, with words
 * @at: the entry that it begins with
 */
void spindle_history_attach(struct spindle_history *h, struct spindle_dlvq *cursor, u64 at)
{
	cursor->ring = h->q.ring;
	cursor->mask = h->q.mask;
	cursor->tail = shown_to(h, cursor);
	cursor->consumed = at;
	cursor->next = h->cursors;
	h->cursors = cursor;
	WRITE_ONCE(*cursor->low_word, h->q.consumed);
	spindle_dlvq_publish(cursor);
}

/**
 * spindle_history_detach() - detach a process that reads
 * @h: the history
 * @cursor: its queue
 */
void spindle_history_detach(struct spindle_history *h, struct spindle_dlvq *cursor)
{
	struct spindle_dlvq **at = &h->cursors;

	while (*at != cursor)
		at = &(*at)->next;
	*at = cursor->next;
}
