// SPDX-License-Identifier: GPL-2.0-only
/*
 * Push: turn changes of the own row into writes to one member. See push.h.
 */
#include "push.h"
#include "multicast.h"

/* A list of writes under construction. */
struct list {
	struct spindle_write *write;
	u32 n;
};

/* A range of a ring is one write, or two where it wraps. */
static void put_range(struct list *list, u64 local, u64 remote, u64 at, u64 len, u64 ring)
{
	while (len) {
		u64 off = at & (ring - 1);
		u64 part = min(len, ring - off);

		list->write[list->n++] = (struct spindle_write){
			.local = local + off,
			.remote = remote + off,
			.len = part,
		};
		at += part;
		len -= part;
	}
}

static u64 first_byte(const struct spindle_msg *msg)
{
	return (u64)msg->unit << SPINDLE_UNIT_SHIFT;
}

/*
 * Bytes of a message that are sent: its own, or with slots of a fixed size (Spindle paper,
 * III-A) all that it was given.
 */
static u64 extent_bytes(const struct spindle_mc *mc, u64 slot)
{
	u32 i = slot & (mc->window - 1);
	const struct spindle_msg *msg = &mc->sender[mc->my_sender].msgs[i];
	u32 units;

	if (mc->tune.switches & SPINDLE_SW_PACKED)
		return msg->len;
	units = min((u32)mc->ends[i].unit - msg->unit, spindle_units(mc->max_msg));
	/* What is large does not come here; how much more it was given is no reason to send it. */
	units = min_t(u32, units, SPINDLE_MAX_LARGE >> SPINDLE_UNIT_SHIFT);
	return (u64)units << SPINDLE_UNIT_SHIFT;
}

/*
 * So many bytes from the first one of a message on will be sent. What is not the message's own
 * is zeroed: the tail of a unit, what was reserved and not used, slots that were given up.
 * Otherwise members would get what the process, or a sender before it, has left there. Once
 * is enough: all of it was taken from the process, which has it back when the message is free.
 */
static void blank(struct spindle_mc *mc, u64 slot, u64 bytes)
{
	const struct spindle_mc_sender *sd = &mc->sender[mc->my_sender];
	struct spindle_mc_end *end = &mc->ends[slot & (mc->window - 1)];
	u64 ring = (u64)mc->ring_units << SPINDLE_UNIT_SHIFT;
	u64 at, len, part;

	if (bytes <= end->clean)
		return;
	at = (first_byte(&sd->msgs[slot & (mc->window - 1)]) + end->clean) & (ring - 1);
	len = bytes - end->clean;
	end->clean = bytes;
	part = min(len, ring - at);
	memset(sd->pay + at, 0, part);
	memset(sd->pay, 0, len - part);
}

/*
 * Payload of the messages [slot, end), as few ranges as fit into max writes. Returns
 * the slot behind the last one taken. Extents of a sender follow one another, but for
 * the 32-bit unit count, which wraps on a multiple of the ring.
 */
static u64 add_payload(struct list *list, struct spindle_mc *mc,
		       const struct spindle_mc_member *m, u64 slot, u64 end, u32 max)
{
	const struct spindle_mc_sender *sd = &mc->sender[mc->my_sender];
	u64 ring = (u64)mc->ring_units << SPINDLE_UNIT_SHIFT;
	u32 wmask = mc->window - 1;

	while (slot != end && list->n + 2 <= max) {
		const struct spindle_msg *msg = &sd->msgs[slot & wmask], *last = msg;
		u64 from = first_byte(msg), to = from + extent_bytes(mc, slot);

		/* Its bytes are there: they went another way. */
		if (mc->ends[slot & wmask].placed) {
			slot++;
			continue;
		}
		blank(mc, slot, to - from);
		while (++slot != end) {
			msg = &sd->msgs[slot & wmask];
			if (mc->ends[slot & wmask].placed ||
			    first_byte(msg) - to > SPINDLE_PUSH_GAP ||
			    first_byte(msg) + extent_bytes(mc, slot) - from > SPINDLE_PUSH_RANGE)
				break;
			blank(mc, slot - 1, first_byte(msg) - first_byte(last));
			last = msg;
			to = first_byte(msg) + extent_bytes(mc, slot);
			blank(mc, slot, to - first_byte(msg));
		}
		put_range(list, mc->own_pay, m->remote_pay, from, to - from, ring);
	}
	return slot;
}

/*
 * One write for each acknowledgment, as the baseline does it: the block as it was when
 * nothing more had been delivered yet. Returns false if one is enough.
 */
static bool ack_received(const struct spindle_mc *mc, struct spindle_mc_member *m)
{
	u64 word[SPINDLE_BLOCK_WORDS];

	if ((mc->tune.switches & SPINDLE_SW_MERGED_ACKS) ||
	    m->told_received == mc->word[SPINDLE_COL_RECEIVED] ||
	    m->told_delivered == mc->word[SPINDLE_COL_DELIVERED])
		return false;
	memcpy(word, mc->word, sizeof(word));
	word[SPINDLE_COL_DELIVERED] = m->told_delivered;
	spindle_block_write(&m->half, word);
	return true;
}

/*
 * May this message, the first that the member misses, go inside its guard? It has to be
 * the only one, and the last that went so has to be known to be received: see express.h.
 * What is sent twice or at full length on purpose is not made short.
 */
static bool goes_express(const struct spindle_mc *mc, const struct spindle_mc_member *m,
			 u64 slot, u32 how)
{
	const u32 need = SPINDLE_SW_EXPRESS | SPINDLE_SW_PACKED | SPINDLE_SW_MERGED_ACKS;

	return (how & SPINDLE_PUSH_EXPRESS) && (mc->tune.switches & need) == need &&
	       mc->word[SPINDLE_COL_SLOTS] - slot == 1 && m->received >= m->by_express &&
	       mc->sender[mc->my_sender].msgs[slot & (mc->window - 1)].len <=
	       SPINDLE_EXPRESS_BYTES;
}

/* The same for all members that miss nothing else. */
static struct spindle_write express(struct spindle_mc *mc, struct spindle_mc_member *m,
				    u64 slot)
{
	const struct spindle_mc_sender *sd = &mc->sender[mc->my_sender];
	const struct spindle_msg *msg = &sd->msgs[slot & (mc->window - 1)];
	u32 from = spindle_express_offset(msg->len);

	/* What has changed since it was written is not in it. */
	if (!mc->express_ready || mc->changed)
		spindle_express_write(&mc->express, mc->word, msg, sd->pay,
				      (u64)mc->ring_units << SPINDLE_UNIT_SHIFT);
	mc->express_ready = true;
	m->by_express = msg->round * mc->senders + mc->my_sender + 1;
	return (struct spindle_write){
		.data = (const u8 *)&mc->express + from,
		.remote = m->remote_express + from,
		.len = sizeof(mc->express) - from,
		.guard = true,
	};
}

/**
 * spindle_push_wanted() - does a member miss anything of ours?
 * @mc: the subgroup
 * @rank: the member
 *
 * Return: true if so
 */
bool spindle_push_wanted(const struct spindle_mc *mc, u32 rank)
{
	return mc->member[rank].dirty;
}

/**
 * spindle_push_pending() - does any member miss anything of ours that can be pushed?
 * @mc: the subgroup
 *
 * Return: true if so
 */
bool spindle_push_pending(const struct spindle_mc *mc)
{
	u32 r;

	for (r = 0; r < mc->members && spindle_mc_runs(mc); r++)
		if (mc->member[r].dirty)
			return true;
	return false;
}

/**
 * spindle_push() - writes that bring a member up to date, or part of the way
 * @mc: the subgroup
 * @rank: the member
 * @index: the subgroup's index in the view
 * @how: SPINDLE_PUSH_SPLIT: two guards may follow each other, so what was received and what
 *	was delivered may be acknowledged one by one, if the subgroup is tuned so;
 *	SPINDLE_PUSH_EXPRESS: a message may go inside its guard
 * @write: out
 * @max: room in @write, at least 5 (payload that wraps, headers that wrap, block), and one
 *	more with SPINDLE_PUSH_SPLIT
 *
 * The caller posts the writes in this order on the member's queue pair, all of them;
 * the subgroup's state says already that they are on their way.
 *
 * Return: number of writes
 */
u32 spindle_push(struct spindle_mc *mc, u32 rank, u32 index, u32 how,
		 struct spindle_write *write, u32 max)
{
	struct spindle_mc_member *m = &mc->member[rank];
	struct list list = { .write = write };
	struct spindle_write guard = {
		.data = mc->block,
		.remote = m->remote_block,
		.len = SPINDLE_BLOCK_PUSH,
		.guard = true,
	};
	u64 slot = m->push_slot, end = mc->word[SPINDLE_COL_SLOTS];
	u32 split = how & SPINDLE_PUSH_SPLIT ? 1 : 0;

	/*
	 * A subgroup that stays may be pushed before a pass has published what the freeze has
	 * received. The member is told of it here, and nothing would tell it again.
	 */
	if (mc->changed)
		spindle_block_write(mc->block, mc->word);
	if (goes_express(mc, m, slot, how)) {
		guard = express(mc, m, slot);
	} else if (slot != end) {
		u64 hdrs = (u64)mc->window * sizeof(struct spindle_hdr);

		end = add_payload(&list, mc, m, slot, end, max - 3 - split);
		put_range(&list, mc->own_hdr, m->remote_hdr,
			  slot * sizeof(struct spindle_hdr),
			  (end - slot) * sizeof(struct spindle_hdr), hdrs);
	}
	m->push_slot = end;
	if (end != mc->word[SPINDLE_COL_SLOTS])
		return list.n;
	guard.imm = index << SPINDLE_IMM_SHIFT | ((u32)end & SPINDLE_IMM_SLOTS);
	if (split && ack_received(mc, m)) {
		struct spindle_write half = guard;

		half.data = &m->half;
		list.write[list.n++] = half;
	}
	list.write[list.n++] = guard;
	m->told_received = mc->word[SPINDLE_COL_RECEIVED];
	m->told_delivered = mc->word[SPINDLE_COL_DELIVERED];
	m->dirty = false;
	return list.n;
}
