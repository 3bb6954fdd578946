// SPDX-License-Identifier: MIT
/*
 * Views: the members, and the rings of the senders.
 *
 * Members of a live view come and go while the program holds messages. A view is an epoch of
 * the reader, which begins at an entry of the delivery ring. A new epoch is completely built
 * before it replaces the old one. So a failure changes nothing, and the next call can try again.
 * The ring of a sender that stays is mapped once. The ring of a sender that has left must stay
 * mapped until the program has given back all messages in it.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "internal.h"

static void epoch_free(struct spindle_epoch *e)
{
	uint32_t i;

	if (!e)
		return;
	for (i = 0; i < e->senders; i++)
		spindle_unmap_section(&e->source[i].map);
	free(e->seat);
	free(e);
}

/* ---- members ---------------------------------------------------------- */

/* Ask for the seats of a view, and grow the array until they fit. Return: as ioctl(). */
static int ask_seats(const struct spindle_queue *q, uint64_t vid, struct spindle_seat **seat,
		     uint32_t *n)
{
	uint32_t room = q->members;

	for (;;) {
		struct spindle_seats arg = { .vid = vid, .count = room };
		int err;

		*seat = calloc(room, sizeof(**seat));
		if (!*seat)
			return -ENOMEM;
		arg.ptr = (uintptr_t)*seat;
		err = spindle_sys_ioctl(q->fd, SPINDLE_IOC_SEATS, &arg);
		*n = arg.count;
		if (!err && arg.vid == vid && arg.count && arg.count <= room)
			return 0;
		free(*seat);
		if (err != -ENOSPC || arg.count <= room)
			return err < 0 && err != -ENOSPC ? err : -EPROTO;
		room = arg.count;
	}
}

/* Get seats from an old module, without SPINDLE_IOC_SEATS: there instances are ranks. */
static int seats_of_members(const struct spindle_queue *q, struct spindle_seat **seat, uint32_t *n)
{
	struct spindle_member *m = calloc(q->members, sizeof(*m));
	int i, got;

	*seat = calloc(q->members, sizeof(**seat));
	got = m && *seat ? spindle_members(q, m, q->members) : -ENOMEM;
	for (i = 0; i < got; i++) {
		(*seat)[i].node = m[i].node;
		(*seat)[i].sender_rank = m[i].sender_rank;
		(*seat)[i].rx = m[i].sender_rank;
		(*seat)[i].sst = (uint32_t)i;
		(*seat)[i].flags = (uint32_t)i == q->rank ? SPINDLE_SEAT_ME : 0;
	}
	free(m);
	if (got < 0)
		free(*seat);
	*n = (uint32_t)got;
	return got < 0 ? got : 0;
}

static const struct spindle_seat *seat_of(const struct spindle_epoch *e, uint32_t sender)
{
	uint32_t i;

	for (i = 0; i < e->members; i++)
		if (e->seat[i].sender_rank == sender)
			return &e->seat[i];
	return NULL;
}

static bool reads_history(const struct spindle_queue *q)
{
	return (q->flags & SPINDLE_ATTACH_RECV) && (q->features & SPINDLE_FEAT_HISTORY);
}

/* Check that no two senders share a ring: one of them would unmap it under the other. */
static bool ring_is_shared(const struct spindle_epoch *e, uint32_t sender)
{
	uint32_t i;

	for (i = 0; i < sender; i++)
		if (e->source[i].rx == e->source[sender].rx)
			return true;
	return false;
}

/*
 * Read ranks and senders from the seats. A history may be older than the membership of its node,
 * and has no rings of senders. Return: 0, or -EPROTO if the seats are inconsistent.
 */
static int name_all(struct spindle_epoch *e, bool history)
{
	const struct spindle_seat *s;
	uint32_t i;

	e->rank = SPINDLE_NO_RANK;
	e->sender_rank = SPINDLE_NO_RANK;
	for (i = 0; i < e->members; i++) {
		s = &e->seat[i];
		e->senders += s->sender_rank != SPINDLE_NO_RANK;
		if (!(s->flags & SPINDLE_SEAT_ME))
			continue;
		if (e->rank != SPINDLE_NO_RANK)
			return -EPROTO;
		e->rank = i;
		e->sender_rank = s->sender_rank;
	}
	for (i = 0; i < e->senders; i++) {
		s = seat_of(e, i);
		if (!s)
			return -EPROTO;
		e->source[i].node = s->node;
		e->source[i].rx = s->rx;
		if (!history && ring_is_shared(e, i))
			return -EPROTO;
	}
	return e->rank == SPINDLE_NO_RANK && !history ? -EPROTO : 0;
}

/* ---- rings of the senders --------------------------------------------- */

/* Find the source of the old epoch with the ring of @sender, if that ring stays the same. */
static struct spindle_source *kept(struct spindle_epoch *old, const struct spindle_epoch *e,
				   uint32_t sender)
{
	uint32_t i;

	/* A node that left and joined again may have other memory in the same seat. */
	if (seat_of(e, sender)->flags & SPINDLE_SEAT_JOINED)
		return NULL;
	for (i = 0; old && i < old->senders; i++)
		if (old->source[i].rx == e->source[sender].rx &&
		    old->source[i].node == e->source[sender].node)
			return &old->source[i];
	return NULL;
}

/* Undo map_all(). Rings of senders that stay still belong to the old epoch. */
static void disown_kept(struct spindle_epoch *old, struct spindle_epoch *e)
{
	uint32_t i;

	for (i = 0; i < e->senders; i++)
		if (kept(old, e, i))
			e->source[i].map.len = 0;
}

static int map_all(struct spindle_queue *q, struct spindle_epoch *e)
{
	const struct spindle_source *old;
	struct spindle_source *s;
	int err = 0;

	for (s = e->source; !err && s < e->source + e->senders; s++) {
		old = kept(q->epoch, e, (uint32_t)(s - e->source));
		if (q->map_copy.len)
			s->ring = q->map_copy.addr;
		else if (old)
			s->map = old->map;
		else
			err = spindle_map_section(q, q->rx_cookie + s->rx * q->rx_stride,
						  q->rx_bytes, 2, PROT_READ, &s->map);
		if (s->map.len)
			s->ring = s->map.addr;
	}
	return err;
}

/* Build an epoch. This takes ownership of @seat. */
static int epoch_make(struct spindle_queue *q, uint64_t vid, struct spindle_seat *seat, uint32_t n,
		      struct spindle_epoch **made)
{
	struct spindle_epoch *e = calloc(1, sizeof(*e) + n * sizeof(e->source[0]));
	int err;

	if (!e) {
		free(seat);
		return -ENOMEM;
	}
	e->vid = vid;
	e->seat = seat;
	e->members = n;
	err = name_all(e, reads_history(q));
	if (!err && (q->flags & SPINDLE_ATTACH_RECV)) {
		err = map_all(q, e);
		if (err)
			disown_kept(q->epoch, e);
	}
	if (err)
		epoch_free(e);
	else
		*made = e;
	return err;
}

/* Give the rings of senders that stay to the new epoch. Return: does the old one keep any? */
static bool hand_on(struct spindle_epoch *old, const struct spindle_epoch *e)
{
	struct spindle_source *s;
	bool any = false;
	uint32_t i;

	for (i = 0; i < e->senders; i++) {
		s = kept(old, e, i);
		if (s)
			s->map.len = 0;
	}
	for (i = 0; i < old->senders; i++)
		any |= old->source[i].map.len != 0;
	return any;
}

/* Make a new epoch the current one. This cannot fail. */
static void epoch_begin(struct spindle_queue *q, struct spindle_epoch *e)
{
	struct spindle_epoch *old = q->epoch;

	q->epoch = e;
	q->source = e->source;
	q->vid = e->vid;
	q->members = e->members;
	q->senders = e->senders;
	/* Other threads may read these. */
	__atomic_store_n(&q->rank, e->rank, __ATOMIC_RELAXED);
	__atomic_store_n(&q->sender_rank, e->sender_rank, __ATOMIC_RELAXED);
	if (!old)
		return;
	if (!hand_on(old, e)) {
		epoch_free(old);
		return;
	}
	old->end = q->rx_cursor;
	old->older = q->left;
	q->left = old;
}

/* ---- at the attach, while reading, at the end ------------------------- */

int spindle_first_view(struct spindle_queue *q)
{
	struct spindle_epoch *e;
	struct spindle_seat *seat;
	uint32_t n;
	int err;

	err = ask_seats(q, q->vid, &seat, &n);
	if (err == -ENOTTY)
		err = seats_of_members(q, &seat, &n);
	if (!err)
		err = epoch_make(q, q->vid, seat, n, &e);
	if (err)
		return err;
	epoch_begin(q, e);
	return 0;
}

int spindle_destinations(const struct spindle_queue *q, const uint32_t *node, unsigned int n,
			 struct spindle_dest *to)
{
	struct spindle_view v;
	uint64_t mask = 0;
	uint32_t i, r;

	if (!n || spindle_view(q, &v))
		return -EINVAL;
	if (!(q->features & SPINDLE_FEAT_DIRECT))
		return -EOPNOTSUPP;
	for (i = 0; i < n; i++) {
		for (r = 0; r < v.members && v.seat[r].node != node[i]; r++)
			;
		if (r == v.members)
			return -ENOENT;
		mask |= 1ULL << r;
	}
	*to = (struct spindle_dest){ .mask = mask, .vid = (uint16_t)v.vid };
	return 0;
}

int spindle_enter_view(struct spindle_queue *q, const struct spindle_dlv *d, struct spindle_msg *m)
{
	uint64_t vid = d->slot;
	struct spindle_epoch *e;
	struct spindle_seat *seat;
	uint32_t n;
	int err;

	err = ask_seats(q, vid, &seat, &n);
	if (!err)
		err = epoch_make(q, vid, seat, n, &e);
	if (err)
		return err;
	epoch_begin(q, e);
	if (!(q->want & SPINDLE_WANT_VIEWS))
		return 0;
	*m = (struct spindle_msg){
		.lsn = d->lsn, .slot = vid, .sender = SPINDLE_NO_RANK, .kind = SPINDLE_DLV_VIEW,
	};
	return 1;
}

void spindle_unmap_left(struct spindle_queue *q)
{
	struct spindle_epoch **at = &q->left, *e;

	while (*at) {
		e = *at;
		if (e->end < q->rx_released) {
			*at = e->older;
			epoch_free(e);
		} else {
			at = &e->older;
		}
	}
}

void spindle_forget_views(struct spindle_queue *q)
{
	struct spindle_epoch *e;

	while (q->left) {
		e = q->left;
		q->left = e->older;
		epoch_free(e);
	}
	epoch_free(q->epoch);
	q->epoch = NULL;
	q->source = NULL;
}

int spindle_view(const struct spindle_queue *q, struct spindle_view *v)
{
	const struct spindle_epoch *e = q->epoch;

	if (!e)
		return -EINVAL;
	*v = (struct spindle_view){
		.vid = e->vid, .members = e->members, .senders = e->senders, .rank = e->rank,
		.sender_rank = e->sender_rank, .seat = e->seat,
	};
	return 0;
}
