// SPDX-License-Identifier: GPL-2.0-only
/*
 * Push: turn changes of the own row into writes to one member. See push.h.
 */
#include "core/base/push.h"
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
 * Bytes of a message that are sent: its own length, or all that was reserved for it if slots have a
 * fixed size (Spindle paper, III-A).
 */
static u64 extent_bytes(const struct spindle_mc *mc, const struct spindle_msg *msg,
			const struct spindle_mc_end *end)
{
	u32 units;

	if (mc->tune.switches & SPINDLE_SW_PACKED)
		return msg->len;
	units = min((u32)end->unit - msg->unit, spindle_units(mc->max_msg));
	/*
	 * A message with more bytes does not come here. Send no more, whatever was reserved.
	 */
	units = min_t(u32, units, SPINDLE_MAX_LARGE >> SPINDLE_UNIT_SHIFT);
	return (u64)units << SPINDLE_UNIT_SHIFT;
}

/* Zero the bytes of an own message from @end->clean to @bytes. */
static void zero_tail(const struct spindle_mc *mc, const struct spindle_msg *msg,
		      struct spindle_mc_end *end, u64 bytes)
{
	u8 *pay = mc->sender[mc->my_sender].pay;
	u64 ring = (u64)mc->ring_units << SPINDLE_UNIT_SHIFT;
	u64 at = (first_byte(msg) + end->clean) & (ring - 1);
	u64 len = bytes - end->clean;
	u64 part = min(len, ring - at);

	end->clean = bytes;
	memset(pay + at, 0, part);
	memset(pay, 0, len - part);
}

/*
 * @bytes of a message, from the first one on, will be sent. Zero what is not the message's own: the
 * tail of a unit, space that was reserved and not used, and slots that were given up. Otherwise
 * members would get what the process, or a sender before it, has left there. Once is enough,
 * because the process gets the space back only when the message is free.
 */
static void blank(const struct spindle_mc *mc, const struct spindle_msg *msg,
		  struct spindle_mc_end *end, u64 bytes)
{
	if (bytes > end->clean)
		zero_tail(mc, msg, end, bytes);
}

/*
 * Add the payload of messages from @slot on as one range. Returns the slot behind the last one
 * taken, at most @end. Extents of a sender follow one another, except that the 32-bit unit count
 * wraps on a multiple of the ring.
 */
static u64 add_extents(struct list *list, struct spindle_mc *mc,
		       const struct spindle_mc_member *m, u64 slot, u64 end)
{
	const struct spindle_msg *msgs = mc->sender[mc->my_sender].msgs;
	u32 wmask = mc->window - 1;
	const struct spindle_msg *last = &msgs[slot & wmask];
	struct spindle_mc_end *last_end = &mc->send.ends[slot & wmask];
	u64 from = first_byte(last), to = from + extent_bytes(mc, last, last_end);
	u64 self = BIT_ULL(m - mc->member);

	while (++slot != end) {
		const struct spindle_msg *msg = &msgs[slot & wmask];
		struct spindle_mc_end *e = &mc->send.ends[slot & wmask];
		u64 at = first_byte(msg), bytes = extent_bytes(mc, msg, e);

		if (!(e->to & self) || at - to > SPINDLE_PUSH_GAP ||
		    at + bytes - from > SPINDLE_PUSH_RANGE)
			break;
		blank(mc, last, last_end, at - first_byte(last));
		last = msg;
		last_end = e;
		to = at + bytes;
	}
	blank(mc, last, last_end, to - first_byte(last));
	put_range(list, mc->own.pay, m->remote_pay, from, to - from,
		  (u64)mc->ring_units << SPINDLE_UNIT_SHIFT);
	return slot;
}

/*
 * Add the payload of the messages [slot, end), in as few ranges as possible and at most @max
 * writes. Returns the slot behind the last one taken.
 */
static u64 add_payload(struct list *list, struct spindle_mc *mc,
		       const struct spindle_mc_member *m, u64 slot, u64 end, u32 max)
{
	u64 self = BIT_ULL(m - mc->member);

	while (slot != end && list->n + 2 <= max) {
		/* The bytes may be for other members, or they went another way. */
		if (!(mc->send.ends[slot & (mc->window - 1)].to & self))
			slot++;
		else
			slot = add_extents(list, mc, m, slot, end);
	}
	return slot;
}

/*
 * Prepare one write for each acknowledgment, as the baseline does: the first one shows the block
 * before anything more was delivered. Returns false if one write is enough.
 */
static bool ack_received(const struct spindle_mc *mc, struct spindle_mc_member *m)
{
	u64 word[SPINDLE_BLOCK_WORDS];

	if ((mc->tune.switches & SPINDLE_SW_MERGED_ACKS) ||
	    m->told_received == mc->own.word[SPINDLE_COL_RECEIVED] ||
	    m->told_delivered == mc->own.word[SPINDLE_COL_DELIVERED])
		return false;
	memcpy(word, mc->own.word, sizeof(word));
	word[SPINDLE_COL_DELIVERED] = m->told_delivered;
	spindle_block_write(&m->half, word);
	return true;
}

/*
 * May this message, the first that the member misses, go inside its guard? The message has to be
 * the only one, and the last express message has to be known to be received, see express.h. A
 * subgroup that is tuned for two acknowledgments or for full-length slots sends nothing by express,
 * and a direct message does not go by express.
 */
static bool goes_express(const struct spindle_mc *mc, const struct spindle_mc_member *m,
			 u64 slot, u32 how)
{
	const u32 need = SPINDLE_SW_EXPRESS | SPINDLE_SW_PACKED | SPINDLE_SW_MERGED_ACKS;
	const struct spindle_msg *msg;

	if (!(how & SPINDLE_PUSH_EXPRESS) || (mc->tune.switches & need) != need ||
	    mc->own.word[SPINDLE_COL_SLOTS] - slot != 1 || m->received < m->by_express)
		return false;
	msg = &mc->sender[mc->my_sender].msgs[slot & (mc->window - 1)];
	return msg->len <= SPINDLE_EXPRESS_BYTES && !msg->mask;
}

/* The express write, which is the same for all members that miss only this message. */
static struct spindle_write express(struct spindle_mc *mc, struct spindle_mc_member *m,
				    u64 slot)
{
	const struct spindle_mc_sender *sd = &mc->sender[mc->my_sender];
	const struct spindle_msg *msg = &sd->msgs[slot & (mc->window - 1)];
	u32 from = spindle_express_offset(msg->len);

	/* Columns that have changed since the express block was written are not in it. */
	if (!mc->own.express_ready || mc->own.changed)
		spindle_express_write(&mc->own.express, mc->own.word, msg, sd->pay,
				      (u64)mc->ring_units << SPINDLE_UNIT_SHIFT);
	mc->own.express_ready = true;
	m->by_express = msg->round * mc->senders + mc->my_sender + 1;
	return (struct spindle_write){
		.data = (const u8 *)&mc->own.express + from,
		.remote = m->remote_express + from,
		.len = sizeof(mc->own.express) - from,
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
	return mc->member[rank].dirty || (mc->durable && mc->durable->member[rank].dirty);
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
		if (spindle_push_wanted(mc, r))
			return true;
	return false;
}

/* Add the own log block. Its completion vouches for the messages that went before it. */
static void add_log(struct list *list, struct spindle_mc *mc, u32 rank, u32 index, u32 max)
{
	struct spindle_write *write = &list->write[list->n];

	if (list->n == max || !spindle_durable_push(mc->durable, rank, write))
		return;
	write->guard = true;
	write->imm = index << SPINDLE_IMM_SHIFT |
		     ((u32)mc->member[rank].push_slot & SPINDLE_IMM_SLOTS);
	list->n++;
}

/**
 * spindle_push() - writes that bring a member up to date, or part of the way
 * @mc: the subgroup
 * @rank: the member
 * @index: the subgroup's index in the view
 * @how: SPINDLE_PUSH_SPLIT: two guards may follow each other, so that a subgroup that is tuned so
 *	acknowledges what was received and what was delivered one by one; SPINDLE_PUSH_EXPRESS: a
 *	message may go inside its guard
 * @write: out
 * @max: room in @write, at least 5 (payload that wraps, headers that wrap, block), and one
 *	more with SPINDLE_PUSH_SPLIT
 *
 * A change of the log block alone is one write. It is behind all others, and waits if there is no
 * room for it.
 *
 * The caller posts all of the writes in this order on the member's queue pair. The subgroup's state
 * counts them as posted already.
 *
 * Return: number of writes
 */
u32 spindle_push(struct spindle_mc *mc, u32 rank, u32 index, u32 how,
		 struct spindle_write *write, u32 max)
{
	struct spindle_mc_member *m = &mc->member[rank];
	struct list list = { .write = write };
	struct spindle_write guard = {
		.data = mc->own.block,
		.remote = m->remote_block,
		.len = SPINDLE_BLOCK_PUSH,
		.guard = true,
	};
	u64 slot = m->push_slot, end = mc->own.word[SPINDLE_COL_SLOTS];
	u32 split = how & SPINDLE_PUSH_SPLIT ? 1 : 0;

	if (mc->durable && !m->dirty) {
		add_log(&list, mc, rank, index, max);
		return list.n;
	}
	/*
	 * A subgroup that stays may be pushed before a pass has published what the freeze has
	 * received. Publish it here, because @m->dirty is cleared below and nothing would push it
	 * again.
	 */
	if (mc->own.changed)
		spindle_block_write(mc->own.block, mc->own.word);
	if (goes_express(mc, m, slot, how)) {
		guard = express(mc, m, slot);
	} else if (slot != end) {
		u64 hdrs = (u64)mc->window * sizeof(struct spindle_hdr);

		end = add_payload(&list, mc, m, slot, end, max - 3 - split);
		put_range(&list, mc->own.hdr, m->remote_hdr,
			  slot * sizeof(struct spindle_hdr),
			  (end - slot) * sizeof(struct spindle_hdr), hdrs);
	}
	m->push_slot = end;
	if (end != mc->own.word[SPINDLE_COL_SLOTS])
		return list.n;
	guard.imm = index << SPINDLE_IMM_SHIFT | ((u32)end & SPINDLE_IMM_SLOTS);
	if (split && ack_received(mc, m)) {
		struct spindle_write half = guard;

		half.data = &m->half;
		list.write[list.n++] = half;
	}
	list.write[list.n++] = guard;
	m->told_received = mc->own.word[SPINDLE_COL_RECEIVED];
	m->told_delivered = mc->own.word[SPINDLE_COL_DELIVERED];
	m->dirty = false;
	if (mc->durable)
		add_log(&list, mc, rank, index, max);
	return list.n;
}
