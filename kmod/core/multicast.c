// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multicast: the protocol of one subgroup at one member. See multicast.h for the
 * arithmetic and the four predicates.
 *
 * Context: engine, all of it.
 */
#include "multicast.h"
#include "push.h"

/* All below m S + j is complete; m = min count, j the first sender at m. */
static u64 prefix(const struct spindle_mc *mc, u64 (*count)(const struct spindle_mc_sender *))
{
	u64 low = U64_MAX;
	u32 s, first = 0;

	for (s = 0; s < mc->senders; s++) {
		u64 c = count(&mc->sender[s]);

		if (c < low) {
			low = c;
			first = s;
		}
	}
	return low * mc->senders + first;
}

static u64 count_received(const struct spindle_mc_sender *sd)
{
	return sd->walk.rounds;
}

/* Rounds of a sender below which no local reader holds anything. */
static u64 count_released(const struct spindle_mc_sender *sd)
{
	if (sd->rel_slot == sd->walk.slot)
		return sd->walk.rounds;
	return sd->msgs[sd->rel_slot & sd->walk.wmask].round;
}

static void set_column(struct spindle_mc *mc, enum spindle_column col, u64 value)
{
	u32 r;

	if (mc->word[col] == value)
		return;
	ASSERT_EXCLUSIVE_WRITER(mc->word[col]);
	/* Statistics show some of them. */
	WRITE_ONCE(mc->word[col], value);
	mc->changed = true;
	for (r = 0; r < mc->members; r++)
		mc->member[r].dirty = r != mc->me;
}

/* All members have received everything below. */
static u64 stable_seq(const struct spindle_mc *mc)
{
	u64 low = mc->word[SPINDLE_COL_RECEIVED];
	u32 r;

	for (r = 0; r < mc->members; r++)
		if (r != mc->me)
			low = min(low, mc->member[r].received);
	return low;
}

/* ---- receive ---------------------------------------------------------- */

static bool receive_test(void *ctx)
{
	struct spindle_mc *mc = ctx;
	u32 r;

	for (r = 0; r < mc->members; r++) {
		const struct spindle_mc_member *m = &mc->member[r];

		if (r == mc->me)
			continue;
		if (READ_ONCE(m->block->seal) != m->seal)
			return true;
		if (m->vouch && READ_ONCE(*m->vouch) != m->vouched)
			return true;
	}
	return false;
}

/*
 * What a member can have received: of the own messages nothing that was not pushed to
 * it. Without this a liar could free slots that are still to be pushed.
 */
static u64 pushed_seq(const struct spindle_mc *mc, const struct spindle_mc_member *m)
{
	const struct spindle_mc_sender *own;
	u64 rounds;

	if (mc->my_sender == SPINDLE_NO_RANK)
		return SPINDLE_MAX_ROUND * mc->senders;
	own = &mc->sender[mc->my_sender];
	rounds = own->walk.rounds;
	if (m->push_slot != own->walk.slot)
		rounds = own->msgs[m->push_slot & own->walk.wmask].round;
	return rounds * mc->senders + mc->my_sender;
}

/*
 * Could a correct member have written this? Columns are monotonic, a sender has at most
 * w slots out, and nobody has received what was not sent to it. How many rounds a member
 * is ahead of us says nothing about it: a liar can draw honest members along by nulls.
 */
static bool plausible(const struct spindle_mc *mc, const struct spindle_mc_member *m,
		      const u64 word[SPINDLE_BLOCK_WORDS])
{
	u64 sent = word[SPINDLE_COL_SENT], slots = word[SPINDLE_COL_SLOTS];
	u64 received = word[SPINDLE_COL_RECEIVED];
	u64 delivered = word[SPINDLE_COL_DELIVERED];

	if (sent < m->sent || sent > SPINDLE_MAX_ROUND || slots < m->slots ||
	    slots - m->slots > sent - m->sent)
		return false;
	if (m->sender == SPINDLE_NO_RANK && sent)
		return false;
	if (m->sender != SPINDLE_NO_RANK &&
	    slots - mc->sender[m->sender].rel_slot > mc->window)
		return false;
	return received >= m->received && delivered >= m->delivered && delivered <= received &&
	       received <= pushed_seq(mc, m);
}

static void protocol_error(struct spindle_mc *mc, u32 member)
{
	mc->bad_member = member;
	mc->events |= SPINDLE_MC_FAILED;
	mc->active = false;
}

static void read_block(struct spindle_mc *mc, u32 r)
{
	struct spindle_mc_member *m = &mc->member[r];
	u64 word[SPINDLE_BLOCK_WORDS];

	switch (spindle_block_read(m->block, &m->seal, word)) {
	case SPINDLE_READ_SAME:
		break;
	case SPINDLE_READ_TORN:
		spindle_count(&m->torn, 1);
		if (++m->torn_run > SPINDLE_MAX_TORN)
			protocol_error(mc, r);
		break;
	case SPINDLE_READ_NEW:
		m->torn_run = 0;
		if (!plausible(mc, m, word)) {
			protocol_error(mc, r);
			break;
		}
		m->sent = word[SPINDLE_COL_SENT];
		m->slots = word[SPINDLE_COL_SLOTS];
		m->received = word[SPINDLE_COL_RECEIVED];
		m->delivered = word[SPINDLE_COL_DELIVERED];
		break;
	}
}

/*
 * Messages of a sender that may be read. Where the device may show a guard before
 * what it guards, only a completion vouches for them; it carries the low bits of the
 * count, and a window is far smaller than what they can tell apart.
 */
static u64 vouched_slots(struct spindle_mc_member *m, u64 slot)
{
	if (!m->vouch)
		return m->slots;
	/* Pairs with the release in the completion handler. */
	m->vouched = smp_load_acquire(m->vouch);
	return min(m->slots, slot + ((m->vouched - (u32)slot) & SPINDLE_IMM_SLOTS));
}

/* Take all that a sender's guard vouches for. */
static u64 walk_headers(struct spindle_mc *mc, struct spindle_mc_sender *sd)
{
	struct spindle_mc_member *m = &mc->member[sd->member];
	u64 limit = vouched_slots(m, sd->walk.slot);
	u64 n = 0;

	while (sd->walk.slot != limit) {
		struct spindle_msg *msg = &sd->msgs[sd->walk.slot & sd->walk.wmask];
		int err = spindle_walk_next(&sd->walk, m->sent, msg);

		/*
		 * A header that is not there is as bad as a wrong one: what made the guard
		 * believable, order or a completion, has made the header visible before.
		 */
		if (err) {
			protocol_error(mc, sd->member);
			return n;
		}
		if (sd->head == U64_MAX)
			sd->head = msg->round;
		n++;
	}
	/* No header is missing, so the rounds up to the guard are nulls. */
	if (limit == m->slots)
		sd->walk.rounds = m->sent;
	return n;
}

/*
 * Null rule (Spindle paper, III-B). Having received round k of sender s, a sender of
 * lower rank must have decided at least k + 1 rounds and one of higher rank at least
 * k, or the order could not get past it. In counts: c[s], or c[s] - 1.
 */
static u64 rounds_needed(const struct spindle_mc *mc)
{
	u64 need = 0;
	u32 s;

	for (s = 0; s < mc->senders; s++) {
		u64 c = mc->sender[s].walk.rounds;

		if (s <= mc->my_sender)
			c -= !!c;
		need = max(need, c);
	}
	return min_t(u64, need, SPINDLE_MAX_ROUND / 2);
}

static void receive_trigger(void *ctx)
{
	struct spindle_mc *mc = ctx;
	u64 n = 0;
	u32 i;

	mc->settle = true;
	for (i = 0; i < mc->members && mc->active; i++)
		if (i != mc->me)
			read_block(mc, i);
	for (i = 0; i < mc->senders && mc->active; i++)
		if (i != mc->my_sender)
			n += walk_headers(mc, &mc->sender[i]);
	if (!mc->active)
		return;
	if (n) {
		spindle_count(&mc->stats.received, n);
		spindle_count(&mc->stats.recv_batches, 1);
	}
	if (mc->my_sender != SPINDLE_NO_RANK)
		mc->need = rounds_needed(mc);
	set_column(mc, SPINDLE_COL_RECEIVED, prefix(mc, count_received));
	WRITE_ONCE(mc->stable, stable_seq(mc));
}

/* ---- send ------------------------------------------------------------- */

static bool send_test(void *ctx)
{
	const struct spindle_mc *mc = ctx;

	if (mc->my_sender == SPINDLE_NO_RANK)
		return false;
	if (mc->sender[mc->my_sender].walk.rounds < mc->need)
		return true;
	return mc->txq.desc && spindle_txq_ready(&mc->txq);
}

static void send_slot(struct spindle_mc *mc, struct spindle_mc_sender *sd,
		      const struct spindle_tx_slot *slot)
{
	u32 wmask = mc->window - 1;
	u64 n = sd->walk.slot;
	struct spindle_msg *msg = &sd->msgs[n & wmask];

	if (slot->abandoned) {
		struct spindle_mc_end *last = &mc->ends[(n - 1) & wmask];

		spindle_count(&mc->stats.abandoned, 1);
		/* Freed with the last message in flight, or at once if there is none. */
		if (n == mc->free_slot) {
			spindle_txq_free(&mc->txq, slot->end_slot, slot->end_unit);
			mc->events |= SPINDLE_MC_FREED;
		} else {
			last->slot = slot->end_slot;
			last->unit = slot->end_unit;
		}
		return;
	}
	msg->round = sd->walk.rounds++;
	msg->unit = slot->unit;
	msg->len = slot->len;
	mc->ends[n & wmask].slot = slot->end_slot;
	mc->ends[n & wmask].unit = slot->end_unit;
	spindle_hdr_write(mc->own_hdr_ring, wmask, n, msg);
	if (sd->head == U64_MAX)
		sd->head = msg->round;
	sd->walk.slot++;
	spindle_count(&mc->stats.sent, 1);
	spindle_count(&mc->stats.sent_bytes, msg->len);
}

static void send_trigger(void *ctx)
{
	struct spindle_mc *mc = ctx;
	struct spindle_mc_sender *sd = &mc->sender[mc->my_sender];
	struct spindle_tx_slot slot;
	u64 before = sd->walk.slot;
	u32 n;

	/* Messages first: each decides a round that needs no null then. */
	for (n = 0; mc->txq.desc && n < SPINDLE_SEND_BUDGET; n++) {
		if (!spindle_txq_take(&mc->txq, &slot))
			break;
		send_slot(mc, sd, &slot);
	}
	if (mc->txq.error && mc->txq.desc)
		mc->events |= SPINDLE_MC_FROZEN;
	if (sd->walk.slot != before) {
		spindle_count(&mc->stats.received, sd->walk.slot - before);
		spindle_count(&mc->stats.send_batches, 1);
	}
	/* A null is a number in a column: any count of them is the same one write. */
	if (sd->walk.rounds < mc->need) {
		spindle_count(&mc->stats.nulls, mc->need - sd->walk.rounds);
		sd->walk.rounds = mc->need;
	}
	set_column(mc, SPINDLE_COL_SENT, sd->walk.rounds);
	set_column(mc, SPINDLE_COL_SLOTS, sd->walk.slot);
	set_column(mc, SPINDLE_COL_RECEIVED, prefix(mc, count_received));
	WRITE_ONCE(mc->stable, stable_seq(mc));
	mc->settle = true;
}

/* ---- deliver ---------------------------------------------------------- */

static u64 lowest_head(const struct spindle_mc *mc)
{
	u64 low = U64_MAX;
	u32 s;

	for (s = 0; s < mc->senders; s++)
		low = min(low, mc->sender[s].head);
	return low;
}

/* The sequence number that delivery has to stay below. */
static u64 dlv_limit(const struct spindle_mc *mc)
{
	return mc->ordered ? mc->stable : U64_MAX;
}

static bool deliver_test(void *ctx)
{
	const struct spindle_mc *mc = ctx;
	u32 s;

	if (mc->blocked || (mc->hold && !mc->attached))
		return false;
	for (s = 0; s < mc->senders; s++) {
		u64 head = mc->sender[s].head;

		if (head != U64_MAX && head * mc->senders + s < dlv_limit(mc))
			return true;
	}
	return false;
}

static bool readers_have_room(const struct spindle_mc *mc, u32 len)
{
	const struct spindle_dlvq *q;

	for (q = mc->readers; q; q = q->next)
		if (!q->error && !spindle_dlvq_room(q, len))
			return false;
	return true;
}

static bool deliver_one(struct spindle_mc *mc, u32 s)
{
	struct spindle_mc_sender *sd = &mc->sender[s];
	u32 wmask = sd->walk.wmask;
	const struct spindle_msg *msg = &sd->msgs[sd->dlv_slot & wmask];
	struct spindle_dlv dlv = {
		.seq = msg->round * mc->senders + s,
		.offset = (u64)(msg->unit & (mc->ring_units - 1)) << SPINDLE_UNIT_SHIFT,
		.len = msg->len,
		.sender = s,
		.kind = SPINDLE_DLV_MSG,
		.slot = sd->dlv_slot,
	};
	struct spindle_dlvq *q;
	bool read = false;

	if (!readers_have_room(mc, msg->len)) {
		mc->blocked = true;
		return false;
	}
	for (q = mc->readers; q; q = q->next) {
		if (q->error)
			continue;
		spindle_dlvq_append(q, &dlv, sd->pay, mc->ring_units << SPINDLE_UNIT_SHIFT);
		read = true;
	}
	mc->log[mc->log_tail++ & mc->log_mask] = s;
	sd->dlv_slot++;
	sd->head = sd->dlv_slot == sd->walk.slot ? U64_MAX :
		   sd->msgs[sd->dlv_slot & wmask].round;
	spindle_count(&mc->stats.delivered, 1);
	spindle_count(&mc->stats.delivered_bytes, msg->len);
	spindle_count(&mc->stats.discarded, !read);
	return true;
}

/*
 * Walk round by round over the rounds that have messages. A sender delivered in this
 * round has moved its head past it, so starting over at sender 0 repeats nothing.
 */
static u32 deliver_batch(struct spindle_mc *mc)
{
	u64 limit = dlv_limit(mc);
	u32 n = 0, s;

	for (;;) {
		u64 round = lowest_head(mc);

		if (round == U64_MAX)
			return n;
		for (s = 0; s < mc->senders; s++) {
			if (mc->sender[s].head != round)
				continue;
			if (round * mc->senders + s >= limit || n == SPINDLE_DLV_BUDGET ||
			    !deliver_one(mc, s))
				return n;
			n++;
		}
	}
}

static void deliver_trigger(void *ctx)
{
	struct spindle_mc *mc = ctx;
	struct spindle_dlvq *q;

	if (!deliver_batch(mc))
		return;
	spindle_count(&mc->stats.dlv_batches, 1);
	mc->events |= SPINDLE_MC_DELIVERED;
	mc->settle = true;
	for (q = mc->readers; q; q = q->next)
		if (!q->error)
			spindle_dlvq_publish(q);
}

/* ---- release ---------------------------------------------------------- */

static u64 lowest_delivered(const struct spindle_mc *mc)
{
	u64 low = mc->word[SPINDLE_COL_DELIVERED];
	u32 r;

	for (r = 0; r < mc->members; r++)
		if (r != mc->me)
			low = min(low, mc->member[r].delivered);
	return low;
}

/* Messages that every reader is through with. Copying readers hold nothing. */
static u64 released(struct spindle_mc *mc)
{
	u64 low = mc->log_tail;
	struct spindle_dlvq *q;

	for (q = mc->readers; q; q = q->next) {
		if (spindle_dlvq_poll(q))
			mc->blocked = false;
		if (q->error)
			mc->events |= SPINDLE_MC_FROZEN;
		else if (!q->copy)
			low = min(low, q->base + q->consumed);
	}
	return low;
}

static void free_own(struct spindle_mc *mc)
{
	const struct spindle_mc_sender *sd = &mc->sender[mc->my_sender];
	u32 wmask = mc->window - 1;
	u64 low = lowest_delivered(mc);
	u64 n = mc->free_slot;

	while (n != sd->walk.slot &&
	       sd->msgs[n & wmask].round * mc->senders + mc->my_sender < low)
		n++;
	if (n == mc->free_slot)
		return;
	mc->free_slot = n;
	n = (n - 1) & wmask;
	if (mc->txq.desc) {
		spindle_txq_free(&mc->txq, mc->ends[n].slot, mc->ends[n].unit);
		mc->events |= SPINDLE_MC_FREED;
	} else {
		/* For the next sender: its ring begins with what is free by now. */
		mc->txq.free_slot = mc->ends[n].slot;
		mc->txq.free_unit = mc->ends[n].unit;
	}
}

static bool release_test(void *ctx)
{
	const struct spindle_mc *mc = ctx;
	const struct spindle_dlvq *q;

	if (mc->settle)
		return true;
	for (q = mc->readers; q; q = q->next)
		if (!q->error && READ_ONCE(*q->consumed_word) != q->consumed)
			return true;
	return false;
}

static void release_trigger(void *ctx)
{
	struct spindle_mc *mc = ctx;
	u64 low = released(mc);
	u64 delivered;

	mc->settle = false;
	while (mc->log_head != low)
		mc->sender[mc->log[mc->log_head++ & mc->log_mask]].rel_slot++;
	delivered = prefix(mc, count_released);
	if (mc->ordered)
		delivered = min(delivered, mc->stable);
	set_column(mc, SPINDLE_COL_DELIVERED, delivered);
	if (mc->my_sender != SPINDLE_NO_RANK)
		free_own(mc);
}

/* ---- the subgroup ----------------------------------------------------- */

static void add(struct spindle_mc *mc, u32 i, bool (*test)(void *), void (*trigger)(void *))
{
	mc->pred[i].test = test;
	mc->pred[i].trigger = trigger;
	mc->pred[i].ctx = mc;
	mc->pred[i].kind = SPINDLE_PRED_RECURRENT;
	spindle_pred_add(&mc->preds, &mc->pred[i]);
}

/**
 * spindle_mc_init() - make a subgroup ready to run
 * @mc: zeroed; configuration, arrays and pointers into rows are set
 */
void spindle_mc_init(struct spindle_mc *mc)
{
	u32 s;

	for (s = 0; s < mc->senders; s++)
		mc->sender[s].head = U64_MAX;
	add(mc, 0, receive_test, receive_trigger);
	add(mc, 1, send_test, send_trigger);
	add(mc, 2, deliver_test, deliver_trigger);
	add(mc, 3, release_test, release_trigger);
}

/**
 * spindle_mc_run() - one pass over a subgroup
 * @mc: the subgroup
 *
 * Return: true if there was work
 */
bool spindle_mc_run(struct spindle_mc *mc)
{
	bool any;

	if (!mc->active)
		return false;
	any = spindle_preds_run(&mc->preds);
	/* What follows from a lie is not published. */
	if (mc->changed && mc->active) {
		mc->changed = false;
		spindle_block_write(mc->block, mc->word);
	}
	spindle_count(&mc->stats.activations, any);
	return any;
}

/**
 * spindle_mc_attach_sender() - a process will send
 * @mc: the subgroup; this node is a sender and no process is attached as such
 * @desc: descriptor ring, zeroed
 * @free_slot_word: control page word
 * @free_unit_word: control page word
 *
 * @mc->txq says from which slot and unit the process has to go on: numbers continue
 * from one process to the next, because messages of the last one may be in flight.
 */
void spindle_mc_attach_sender(struct spindle_mc *mc, const struct spindle_tx_desc *desc,
			      u64 *free_slot_word, u64 *free_unit_word)
{
	mc->txq.error = 0;
	mc->txq.free_slot_word = free_slot_word;
	mc->txq.free_unit_word = free_unit_word;
	mc->txq.desc = desc;
	spindle_txq_free(&mc->txq, mc->txq.free_slot, mc->txq.free_unit);
	mc->attached = true;
}

/**
 * spindle_mc_detach_sender() - the process is gone
 * @mc: the subgroup
 *
 * What it had committed, up to the first gap, is sent, now or when the subgroup becomes
 * active; the rest is abandoned.
 */
void spindle_mc_detach_sender(struct spindle_mc *mc)
{
	while (send_test(mc)) {
		send_trigger(mc);
		if (mc->txq.error)
			break;
	}
	mc->txq.desc = NULL;
}

/**
 * spindle_mc_attach_reader() - a process will read
 * @mc: the subgroup
 * @dlvq: its queue; it sees what is delivered from now on
 */
void spindle_mc_attach_reader(struct spindle_mc *mc, struct spindle_dlvq *dlvq)
{
	dlvq->base = mc->log_tail;
	dlvq->next = mc->readers;
	mc->readers = dlvq;
	mc->attached = true;
}

/**
 * spindle_mc_detach_reader() - the process is gone
 * @mc: the subgroup
 * @dlvq: its queue; what it had not consumed no longer holds anybody up
 */
void spindle_mc_detach_reader(struct spindle_mc *mc, struct spindle_dlvq *dlvq)
{
	struct spindle_dlvq **at = &mc->readers;

	while (*at != dlvq)
		at = &(*at)->next;
	*at = dlvq->next;
	mc->settle = true;
	mc->blocked = false;
}
