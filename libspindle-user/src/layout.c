// SPDX-License-Identifier: MIT
/*
 * From the kernel's reply to pointers. The library only knows the structures of
 * <linux/spindle.h> beforehand. It checks once that the reply is consistent, so that the hot
 * path stays inside the mappings without checks of its own.
 */
#include <assert.h>
#include <errno.h>
#include <stdbool.h>

#include "internal.h"

static_assert(sizeof(struct spindle_section) == 16, "ABI: spindle_section");
static_assert(sizeof(struct spindle_attach) == 368, "ABI: spindle_attach");
static_assert(offsetof(struct spindle_attach, copy_bytes) == 24, "ABI: copy_bytes");
static_assert(offsetof(struct spindle_attach, memlock) == 32, "ABI: memlock");
static_assert(offsetof(struct spindle_attach, ring_bytes) == 80, "ABI: ring_bytes");
static_assert(offsetof(struct spindle_attach, sst_offset) == 112, "ABI: sst_offset");
static_assert(offsetof(struct spindle_attach, ctl_durable) == 156, "ABI: ctl_durable");
static_assert(offsetof(struct spindle_attach, ctl) == 160, "ABI: ctl");
static_assert(offsetof(struct spindle_attach, lsn) == 272, "ABI: lsn");
static_assert(offsetof(struct spindle_attach, lineage) == 280, "ABI: lineage");
static_assert(offsetof(struct spindle_attach, era) == 296, "ABI: era");
static_assert(offsetof(struct spindle_attach, oldest) == 304, "ABI: oldest");
static_assert(offsetof(struct spindle_attach, ctl_lsn) == 336, "ABI: ctl_lsn");
static_assert(offsetof(struct spindle_attach, usr_want) == 340, "ABI: usr_want");
static_assert(offsetof(struct spindle_attach, usr_log) == 344, "ABI: usr_log");
static_assert(offsetof(struct spindle_attach, sst_log) == 348, "ABI: sst_log");
static_assert(offsetof(struct spindle_attach, began_vid) == 352, "ABI: began_vid");
static_assert(sizeof(struct spindle_log_words) == 48, "ABI: spindle_log_words");
static_assert(offsetof(struct spindle_log_words, state) == 40, "ABI: log_words.state");
static_assert(sizeof(struct spindle_log_block) == 40, "ABI: spindle_log_block");
static_assert(offsetof(struct spindle_log_block, seal) == 32, "ABI: log_block.seal");
static_assert(sizeof(struct spindle_tx_desc) == 32, "ABI: spindle_tx_desc");
static_assert(sizeof(struct spindle_dlv) == 32, "ABI: spindle_dlv");
static_assert(sizeof(struct spindle_member) == 8, "ABI: spindle_member");
static_assert(sizeof(struct spindle_members) == 16, "ABI: spindle_members");
static_assert(sizeof(struct spindle_seat) == 24, "ABI: spindle_seat");
static_assert(sizeof(struct spindle_seats) == 24, "ABI: spindle_seats");
static_assert(sizeof(struct spindle_fill) == 88, "ABI: spindle_fill");
static_assert(offsetof(struct spindle_fill, lsn) == 24, "ABI: fill.lsn");
static_assert(offsetof(struct spindle_fill, seats) == 48, "ABI: fill.seats");
static_assert(offsetof(struct spindle_fill, members) == 72, "ABI: fill.members");

static bool power_of_two(uint64_t v)
{
	return v && !(v & (v - 1));
}

/* Does a section have room for an array of @n elements of @size bytes at @off? */
static bool holds(const struct spindle_section *s, uint64_t off, uint64_t n, uint64_t size,
		  uint64_t align)
{
	return !(off % align) && n <= s->len / size && off <= s->len - n * size;
}

/*
 * Check a payload ring. It is mapped twice in a row, so the ring must be the whole section, and
 * two of them must fit into the address space.
 */
static bool ring_fits(const struct spindle_section *s, const struct spindle_attach *a)
{
	return power_of_two(s->len) && s->len >= SPINDLE_UNIT && s->len <= SIZE_MAX / 2 &&
	       a->max_msg <= s->len;
}

static bool sender_ring_fits(const struct spindle_section *s, const struct spindle_attach *a)
{
	return s->len == a->ring_bytes && ring_fits(s, a);
}

static bool reader_fits(const struct spindle_attach *a)
{
	return spindle_reads_copies(a) ? ring_fits(&a->copy, a) : sender_ring_fits(&a->rx, a);
}

static bool ctl_fits(const struct spindle_attach *a)
{
	const struct spindle_section *s = &a->ctl;

	return s->len <= SIZE_MAX &&
	       holds(s, a->ctl_state, 1, 4, 4) &&
	       holds(s, a->ctl_error, 1, 4, 4) &&
	       holds(s, a->ctl_need_wakeup, 1, 4, 4) &&
	       holds(s, a->ctl_dlv_tail, 1, 8, 8) &&
	       holds(s, a->ctl_dlv_low, 1, 8, 8) &&
	       holds(s, a->ctl_tx_slot, 1, 8, 8) &&
	       holds(s, a->ctl_tx_unit, 1, 8, 8);
}

static bool usr_fits(const struct spindle_attach *a)
{
	const struct spindle_section *s = &a->usr;

	/* Only a sender has descriptors. */
	return s->len <= SIZE_MAX &&
	       holds(s, a->usr_consumed, 1, 8, 8) &&
	       holds(s, a->usr_reserve, 1, 8, 8) &&
	       (!(a->flags & SPINDLE_ATTACH_SEND) ||
		holds(s, a->usr_desc, a->window, sizeof(struct spindle_tx_desc), 8));
}

static bool dlv_fits(const struct spindle_attach *a)
{
	return a->dlv.len <= SIZE_MAX && power_of_two(a->dlv_entries) &&
	       a->dlv_stride >= sizeof(struct spindle_dlv) && !(a->dlv_stride % 8) &&
	       holds(&a->dlv, 0, a->dlv_entries, a->dlv_stride, 8);
}

/* Only a subgroup with logs has a gate, and a logger. */
static bool logs_fit(const struct spindle_attach *a)
{
	if (!(a->features & SPINDLE_FEAT_LOG))
		return !(a->features & SPINDLE_FEAT_GATE) && !(a->flags & SPINDLE_ATTACH_LOG);
	return a->sst.len <= SIZE_MAX &&
	       holds(&a->ctl, a->ctl_durable, 1, 8, 8) &&
	       holds(&a->ctl, a->ctl_lsn, 1, 8, 8) &&
	       holds(&a->usr, a->usr_want, 1, 8, 8) &&
	       holds(&a->sst, a->sst_log, 1, sizeof(struct spindle_log_block), 8) &&
	       (!(a->flags & SPINDLE_ATTACH_LOG) ||
		holds(&a->usr, a->usr_log, 1, sizeof(struct spindle_log_words), 8));
}

int spindle_layout_check(const struct spindle_attach *a)
{
	if (!a->members || a->senders > a->members || a->rank >= a->members)
		return -EPROTO;
	if (a->sender_rank != SPINDLE_NO_RANK && a->sender_rank >= a->senders)
		return -EPROTO;
	if (!power_of_two(a->window) || a->window > INT32_MAX)
		return -EPROTO;
	if (!ctl_fits(a) || !usr_fits(a) || !logs_fit(a))
		return -EPROTO;
	if (a->flags & SPINDLE_ATTACH_SEND) {
		/* The wrap of the unit counter must be a wrap of the ring as well. */
		if (!sender_ring_fits(&a->tx, a) || a->tx.len > (uint64_t)INT32_MAX * SPINDLE_UNIT)
			return -EPROTO;
		if (spindle_units(a->max_msg) > a->tx.len / SPINDLE_UNIT)
			return -EPROTO;
	}
	if (a->flags & SPINDLE_ATTACH_RECV) {
		if (!dlv_fits(a) || !reader_fits(a))
			return -EPROTO;
	}
	return 0;
}

void spindle_layout_apply(struct spindle_queue *q, const struct spindle_attach *a,
			  const struct spindle_layout *l)
{
	q->ctl_state = (const void *)(l->ctl + a->ctl_state);
	q->ctl_error = (const void *)(l->ctl + a->ctl_error);
	q->ctl_need_wakeup = (const void *)(l->ctl + a->ctl_need_wakeup);
	q->ctl_dlv_tail = (const void *)(l->ctl + a->ctl_dlv_tail);
	q->ctl_tx_slot = (const void *)(l->ctl + a->ctl_tx_slot);
	q->ctl_tx_unit = (const void *)(l->ctl + a->ctl_tx_unit);
	q->usr_consumed = (void *)(l->usr + a->usr_consumed);
	q->usr_reserve = (void *)(l->usr + a->usr_reserve);
	q->usr_desc = (void *)(l->usr + a->usr_desc);

	if (a->flags & SPINDLE_ATTACH_SEND) {
		q->tx_ring = l->tx;
		q->tx_mask = a->tx.len - 1;
		q->tx_units = (uint32_t)(a->tx.len / SPINDLE_UNIT);
		if (!(a->features & SPINDLE_FEAT_PACKED))
			q->tx_slot_units = spindle_units(a->max_msg);
	}
	if (a->flags & SPINDLE_ATTACH_RECV) {
		q->dlv = l->dlv;
		q->dlv_stride = a->dlv_stride;
		q->dlv_entries = a->dlv_entries;
		q->rx_bytes = spindle_reads_copies(a) ? a->copy.len : a->rx.len;
		if (a->features & SPINDLE_FEAT_HISTORY)
			q->ctl_dlv_low = (const void *)(l->ctl + a->ctl_dlv_low);
		q->rx_cookie = a->rx.cookie;
		q->rx_stride = a->rx_stride;
		/* The kernel has set this word, so that reading starts with the next delivery. */
		q->rx_released = spindle_load_acquire(q->usr_consumed);
		q->rx_cursor = q->rx_released;
		q->rx_tail = q->rx_released;
	}
}
