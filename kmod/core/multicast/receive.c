// SPDX-License-Identifier: GPL-2.0-only
/*
 * Receive: believe the members' blocks, walk the headers that they vouch for. See
 * multicast.h.
 *
 * Context: engine, all of it.
 */
#include "core/base/push.h"
#include "stage.h"

/* Has the member broken the protocol? Other members are received as if this one were silent. */
static bool is_bad(const struct spindle_mc *mc, u32 member)
{
	return mc->bad & BIT_ULL(member);
}

/**
 * spindle_receive_test() - has a member written, or is something left of the last pass?
 * @ctx: the subgroup
 *
 * Return: true if so
 */
bool spindle_receive_test(void *ctx)
{
	struct spindle_mc *mc = ctx;
	u32 r;

	if (mc->epoch == SPINDLE_EPOCH_FROZEN)
		return false;
	if (mc->backlog)
		return true;

	for (r = 0; r < mc->members; r++) {
		const struct spindle_mc_member *m = &mc->member[r];

		if (r == mc->me || is_bad(mc, r))
			continue;
		if (READ_ONCE(m->block->seal) != m->seal)
			return true;
		if (m->express && READ_ONCE(m->express->seal) != m->express_seal)
			return true;
		if (m->vouch && READ_ONCE(*m->vouch) != m->vouched)
			return true;
	}
	return false;
}

/*
 * The sequence number below which a member can have received messages: up to the first own message
 * that was not pushed to it. Without this limit a liar could free slots that are still to be
 * pushed.
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
 * Could a correct member have written this? Columns are monotonic, a sender has at most w slots
 * out, and no member has received what was not sent to it. There is no limit to how many rounds a
 * member is ahead of us, because a liar can draw honest members along by nulls.
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
	mc->bad |= BIT_ULL(member);
	mc->events |= SPINDLE_MC_FAILED;
}

static void torn(struct spindle_mc *mc, u32 r)
{
	struct spindle_mc_member *m = &mc->member[r];

	spindle_count(&m->torn, 1);
	if (++m->torn_run > SPINDLE_MAX_TORN)
		protocol_error(mc, r);
}

/* Accept new columns of a member. Returns false if no correct member writes them. */
static bool accept(const struct spindle_mc *mc, struct spindle_mc_member *m,
		   const u64 word[SPINDLE_BLOCK_WORDS])
{
	m->torn_run = 0;
	if (!plausible(mc, m, word))
		return false;
	/* Pairs with READ_ONCE() of statistics. */
	WRITE_ONCE(m->sent, word[SPINDLE_COL_SENT]);
	WRITE_ONCE(m->slots, word[SPINDLE_COL_SLOTS]);
	WRITE_ONCE(m->received, word[SPINDLE_COL_RECEIVED]);
	WRITE_ONCE(m->delivered, word[SPINDLE_COL_DELIVERED]);
	return true;
}

/*
 * Are the columns older than the accepted ones? The other guard may have been written later and
 * read before. Columns only grow.
 */
static bool outdated(const struct spindle_mc_member *m, const u64 word[SPINDLE_BLOCK_WORDS])
{
	return word[SPINDLE_COL_SENT] <= m->sent && word[SPINDLE_COL_SLOTS] <= m->slots &&
	       word[SPINDLE_COL_RECEIVED] <= m->received &&
	       word[SPINDLE_COL_DELIVERED] <= m->delivered;
}

static void read_block(struct spindle_mc *mc, u32 r)
{
	struct spindle_mc_member *m = &mc->member[r];
	u64 word[SPINDLE_BLOCK_WORDS];

	switch (spindle_block_read(m->block, &m->seal, word)) {
	case SPINDLE_READ_SAME:
		break;
	case SPINDLE_READ_TORN:
		torn(mc, r);
		break;
	case SPINDLE_READ_NEW:
		/*
		 * The block may have come after the last look at it and before the look at the
		 * express message.
		 */
		if (m->overtaken && outdated(m, word))
			break;
		m->overtaken = false;
		if (!accept(mc, m, word))
			protocol_error(mc, r);
		break;
	}
}

/*
 * Take a message that came inside its guard: put it where it belongs. From then on it is like any
 * other, and its header is checked when the walk comes to it.
 */
static bool take_express(struct spindle_mc *mc, struct spindle_mc_member *m,
			 const struct spindle_express *x)
{
	const struct spindle_msg msg = { .round = x->round, .unit = x->unit, .len = x->len };
	struct spindle_mc_sender *sd = &mc->sender[m->sender];
	u64 slots = x->word[SPINDLE_COL_SLOTS];

	if (!outdated(m, x->word)) {
		if (!accept(mc, m, x->word))
			return false;
		m->overtaken = true;
	}
	/*
	 * A message that was received before may be in use, and must not be written over. A new one
	 * is within the window, because its columns were accepted.
	 */
	if (slots <= sd->walk.slot)
		return true;
	spindle_hdr_write(sd->walk.ring, sd->walk.wmask, slots - 1, &msg);
	spindle_express_unpack(x, sd->pay, (u64)mc->ring_units << SPINDLE_UNIT_SHIFT);
	return true;
}

/*
 * The express message is read behind the block. A message that the block vouches for and that went
 * by express was written before the block. The sender does not write over it before it knows that
 * the message was received.
 */
static void read_express(struct spindle_mc *mc, u32 r)
{
	struct spindle_mc_member *m = &mc->member[r];
	struct spindle_express copy;

	if (!m->express || is_bad(mc, r))
		return;
	switch (spindle_express_read(m->express, &m->express_seal, &copy)) {
	case SPINDLE_READ_SAME:
		break;
	case SPINDLE_READ_TORN:
		torn(mc, r);
		break;
	case SPINDLE_READ_NEW:
		if (!take_express(mc, m, &copy))
			protocol_error(mc, r);
		break;
	}
}

/*
 * Messages of a sender that may be read. Where the device may show a guard before what it guards,
 * only a completion vouches for them. The completion carries the low bits of the count, which is
 * enough because a window is far smaller than their range.
 */
static u64 vouched_slots(struct spindle_mc_member *m, u64 slot)
{
	if (!m->vouch)
		return m->slots;
	/* Pairs with the release in the completion handler. */
	m->vouched = smp_load_acquire(m->vouch);
	return min(m->slots, slot + ((m->vouched - (u32)slot) & SPINDLE_IMM_SLOTS));
}

/* Take what a sender's guard vouches for, up to a number of messages. */
static u64 walk_headers(struct spindle_mc *mc, struct spindle_mc_sender *sd, u64 max)
{
	struct spindle_mc_member *m = &mc->member[sd->member];
	u64 limit = vouched_slots(m, sd->walk.slot);
	u64 n = 0;

	while (sd->walk.slot != limit) {
		struct spindle_msg *msg = &sd->msgs[sd->walk.slot & sd->walk.wmask];
		int err;

		if (n == max) {
			mc->backlog = true;
			return n;
		}
		err = spindle_walk_next(&sd->walk, m->sent, msg);
		/*
		 * A missing header is as bad as a wrong one: the order of writes, or the completion
		 * that made the guard believable, has made the header visible before.
		 */
		if (err) {
			protocol_error(mc, sd->member);
			return n;
		}
		if (sd->head == U64_MAX)
			sd->head = msg->round;
		sd->heard = msg->round + 1;
		n++;
	}
	/* No header is missing, so the rounds up to the guard are nulls. */
	if (limit == m->slots)
		sd->walk.rounds = m->sent;
	return n;
}

/*
 * Null rule (Spindle paper, III-B). Say that round k of sender s was received. Then a sender of
 * lower rank must have decided at least k + 1 rounds and one of higher rank at least k, or the
 * order could not get past that round. In counts: k + 1, or k.
 *
 * Only messages count, not nulls. That is enough, because all members receive all messages. Rounds
 * that one sender gave up in advance must not make other senders give up rounds, too.
 */
static u64 rounds_needed(const struct spindle_mc *mc)
{
	u64 need = 0;
	u32 s;

	for (s = 0; s < mc->senders; s++) {
		u64 c = mc->sender[s].heard;

		if (s < mc->my_sender)
			c -= !!c;
		need = max(need, c);
	}
	return min_t(u64, need, SPINDLE_MAX_ROUND / 2);
}

/**
 * spindle_receive_trigger() - take what the members have sent
 * @ctx: the subgroup
 */
void spindle_receive_trigger(void *ctx)
{
	struct spindle_mc *mc = ctx;
	u64 left = spindle_mc_budget(mc, SPINDLE_SW_RECV_BATCH, mc->tune.recv_budget);
	u32 i, s = mc->turn;
	u64 n = 0;

	mc->deliver.settle = true;
	mc->backlog = false;
	for (i = 0; i < mc->members; i++) {
		if (i == mc->me || is_bad(mc, i))
			continue;
		read_block(mc, i);
		read_express(mc, i);
	}
	/* Begin with another sender in each pass, or a budget would starve the last one. */
	for (i = 0; i < mc->senders; i++) {
		if (s != mc->my_sender && !is_bad(mc, mc->sender[s].member))
			n += walk_headers(mc, &mc->sender[s], left - n);
		if (++s == mc->senders)
			s = 0;
	}
	if (n) {
		trace_spindle_receive(mc->node, mc->id, n);
		spindle_count(&mc->stats.received, n);
		spindle_mc_batch(&mc->stats.recv_batches, mc->stats.recv_hist, n);
	}
	if (++mc->turn == mc->senders)
		mc->turn = 0;
	if (mc->my_sender != SPINDLE_NO_RANK && spindle_mc_uses(mc, SPINDLE_SW_NULLS))
		mc->send.need = rounds_needed(mc);
	spindle_mc_advance(mc);
	spindle_mc_post_in_place(mc);
}
