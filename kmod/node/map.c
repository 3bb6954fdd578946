// SPDX-License-Identifier: GPL-2.0-only
/*
 * Attachments: what a process may map, and what it may poll for. See attachment.h.
 */
#include <linux/mm.h>

#include "attachment.h"
#include "installed.h"
#include "peer.h"
#include "subgroup.h"
#include "table.h"

/* Below the part there is a rank, then zeroes. */
#define RANK_SHIFT	32

static_assert(BIT_ULL(RANK_SHIFT) == SPINDLE_RANK_STRIDE);

/* Taken from the protocol's state, because the view may be changing. */
static u64 ring_bytes(const struct spindle_subgroup *sg)
{
	const struct spindle_tb *tb = spindle_subgroup_tb(sg);

	if (tb)
		return spindle_view_table_ring(tb->cells, tb->cell);
	return (u64)sg->mc.ring_units << SPINDLE_UNIT_SHIFT;
}

/* Find the peer of an instance. NULL: it is the node's own. ERR_PTR(-EINVAL): there is none. */
static struct spindle_peer *find_instance(const struct spindle_subgroup *sg, enum spindle_part part,
					  u32 instance)
{
	const struct spindle_installed *inst = sg->inst;
	u64 set;
	u32 r;

	if (inst->live) {
		if (instance == SPINDLE_SEATS)
			return NULL;
		return instance < SPINDLE_SEATS && inst->seat[instance] ?
		       inst->seat[instance] : ERR_PTR(-EINVAL);
	}
	set = part == SPINDLE_PART_RX && !sg->table ? sg->cfg->senders : sg->cfg->members;
	for (r = 0; r < inst->view.num_members; r++)
		if ((set & BIT_ULL(r)) && spindle_mask_rank(set, r) == instance)
			return inst->peer[r];
	return ERR_PTR(-EINVAL);
}

/* Map a part of a member's row. The caller holds seats_lock, so the row cannot go. */
static int map_instance(struct spindle_attachment *att, struct vm_area_struct *vma,
			enum spindle_part part, u32 instance)
{
	struct spindle_subgroup *sg = att->sg;
	struct spindle_installed *inst = sg->inst;
	struct spindle_peer *peer = find_instance(sg, part, instance);
	struct spindle_mapped what;
	const struct spindle_layout *lo;

	if (IS_ERR(peer))
		return PTR_ERR(peer);
	lo = peer ? &peer->in : &inst->layout;
	what = (struct spindle_mapped){
		.mem = peer ? &peer->row.mem : &inst->row.mem,
		.bytes = lo->sst,
	};
	if (part == SPINDLE_PART_RX) {
		if (lo->pay[sg->index] == SPINDLE_NO_OFFSET)
			return -EINVAL;
		what.offset = lo->pay[sg->index];
		what.bytes = ring_bytes(sg);
	}
	return spindle_mapping_add(&att->maps, vma, &what);
}

static int map_tx(struct spindle_attachment *att, struct vm_area_struct *vma)
{
	const struct spindle_subgroup *sg = att->sg;
	struct spindle_mapped what = {
		.mem = &sg->inst->row.mem,
		.offset = sg->mc.own.pay,
		.bytes = ring_bytes(sg),
		.writable = true,
	};

	if (!(att->flags & (SPINDLE_ATTACH_SEND | SPINDLE_ATTACH_OWN)))
		return -EACCES;
	return spindle_mapping_add(&att->maps, vma, &what);
}

/* The rows of a table are its payload rings. A copying reader maps no rings of members. */
static bool may_map(const struct spindle_attachment *att, enum spindle_part part)
{
	if (att->ops)
		return part == SPINDLE_PART_RX;
	return part == SPINDLE_PART_SST || ((att->flags & SPINDLE_ATTACH_RECV) &&
					    !(att->flags & SPINDLE_ATTACH_COPY));
}

/* Map a part that belongs to the subgroup: the own TX ring, a peer's ring, or columns. */
static int map_row(struct spindle_attachment *att, struct vm_area_struct *vma,
		   enum spindle_part part, u32 instance)
{
	struct spindle_subgroup *sg = att->sg;
	int err;

	if (!sg)
		return -ENOTCONN;
	if (part == SPINDLE_PART_TX)
		return map_tx(att, vma);
	if (!may_map(att, part))
		return -EACCES;
	mutex_lock(&sg->inst->seats_lock);
	err = map_instance(att, vma, part, instance);
	mutex_unlock(&sg->inst->seats_lock);
	return err;
}

static int map_own(struct spindle_attachment *att, struct vm_area_struct *vma,
		   const struct spindle_pages *pages, bool writable)
{
	struct spindle_mapped what = {
		.mem = pages,
		.bytes = (u64)pages->n << PAGE_SHIFT,
		.writable = writable,
	};

	return spindle_mapping_add(&att->maps, vma, &what);
}

/**
 * spindle_attachment_mmap() - map a part of an attachment
 * @att: the attachment
 * @vma: offset is a cookie of the attach reply
 *
 * Context: process, with the mmap lock.
 * Return: 0; -EINVAL (cookie or length), -EACCES (role, or write access to a read-only part),
 * -ENOTCONN (not attached, or the view is gone)
 */
int spindle_attachment_mmap(struct spindle_attachment *att, struct vm_area_struct *vma)
{
	u64 off = (u64)vma->vm_pgoff << PAGE_SHIFT;
	u64 part = off >> SPINDLE_PART_SHIFT;
	u32 rank = (off >> RANK_SHIFT) & ((1U << (SPINDLE_PART_SHIFT - RANK_SHIFT)) - 1);
	int err;

	mmap_assert_write_locked(vma->vm_mm);
	if (off & (SPINDLE_RANK_STRIDE - 1))
		return -EINVAL;
	if (rank && part != SPINDLE_PART_RX && part != SPINDLE_PART_SST)
		return -EINVAL;
	mutex_lock(&att->lock);
	if (!att->attached) {
		mutex_unlock(&att->lock);
		return -ENOTCONN;
	}
	switch (part) {
	case SPINDLE_PART_CTL:
		err = map_own(att, vma, &att->ctl_pages, false);
		break;
	case SPINDLE_PART_USR:
		err = map_own(att, vma, &att->usr_pages, true);
		break;
	case SPINDLE_PART_DLV:
		err = map_own(att, vma, &att->dlv_pages, false);
		break;
	case SPINDLE_PART_COPY:
		err = map_own(att, vma, &att->copy_pages, false);
		break;
	case SPINDLE_PART_TX:
	case SPINDLE_PART_RX:
	case SPINDLE_PART_SST:
		err = map_row(att, vma, part, rank);
		break;
	default:
		err = -EINVAL;
	}
	mutex_unlock(&att->lock);
	return err;
}

/* Would a message of max_msg bytes fit? */
static bool writable(const struct spindle_attachment *att)
{
	u64 reserve = READ_ONCE(att->usr->reserve);
	u32 slots = (u32)reserve - (u32)READ_ONCE(att->ctl->tx_slot);
	u32 units = (u32)(reserve >> 32) - (u32)READ_ONCE(att->ctl->tx_unit);

	return slots < att->window && (!units || units + att->tx_units_max <= att->ring_units);
}

/**
 * spindle_attachment_poll() - the poll events that hold
 * @att: the attachment; the caller is already in the wait queue @att->wait
 *
 * Return: EPOLLIN something to read; EPOLLOUT room for a message; EPOLLPRI a signal of a predicate,
 * or the process waits for a position that is durable; EPOLLERR and EPOLLHUP the state is final
 */
__poll_t spindle_attachment_poll(struct spindle_attachment *att)
{
	__poll_t mask = 0;

	/*
	 * Pairs with the release in spindle_attachment_publish(): once @engine is set, @ctl and
	 * @usr are, too.
	 */
	if (!smp_load_acquire(&att->engine))
		return EPOLLERR;
	if (READ_ONCE(att->ctl->state) > SPINDLE_STATE_ACTIVE)
		mask |= EPOLLERR | EPOLLHUP;
	if (att->ops)
		return mask | att->ops->poll(att);
	if ((att->flags & SPINDLE_ATTACH_RECV) &&
	    READ_ONCE(att->ctl->dlv_tail) != READ_ONCE(att->usr->consumed))
		mask |= EPOLLIN | EPOLLRDNORM;
	if ((att->flags & SPINDLE_ATTACH_SEND) && !(mask & EPOLLERR) && writable(att))
		mask |= EPOLLOUT | EPOLLWRNORM;
	if (spindle_attachment_wanted(att, READ_ONCE(att->ctl->durable)))
		mask |= EPOLLPRI;
	return mask;
}
