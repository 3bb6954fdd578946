// SPDX-License-Identifier: GPL-2.0-only
/*
 * Epoch: how a subgroup ends with a view, and begins in the next one. See membership.rst.
 *
 *	wedge	no message gets a round any more; messages that have one are pushed
 *	freeze	nothing is received any more; membership gets the number of messages that are here
 *	trim	the members have agreed on what all survivors have: forget the rest
 *	drain	deliver what is left
 *	begin	go on in the next view, with what readers hold and what was not sent
 *
 * A subgroup whose members are the same in both views stays as it is, in place of trim, drain and
 * begin: for this subgroup the view has not ended.
 *
 * Context: engine, all of it.
 */
#include "core/base/push.h"
#include "core/base/states.h"
#include "stage.h"

/* The only writer of the epoch. A step that is not legal changes nothing. */
static bool enter(struct spindle_mc *mc, enum spindle_epoch to)
{
	/* By new epoch, the epochs that it may follow. A new subgroup begins as OPEN. */
	static const u8 from[] = {
		[SPINDLE_EPOCH_STAYED] = BIT(SPINDLE_EPOCH_FROZEN),
		/* The next view ends while members that are behind are still in the last one. */
		[SPINDLE_EPOCH_WEDGED] = BIT(SPINDLE_EPOCH_OPEN) | BIT(SPINDLE_EPOCH_STAYED),
		/* A message that gets a round after its sender was frozen would be in no trim. */
		[SPINDLE_EPOCH_FROZEN] = BIT(SPINDLE_EPOCH_WEDGED),
	};

	if (!spindle_may(from, mc->epoch, to))
		return false;
	mc->epoch = to;
	return true;
}

/**
 * spindle_mc_wedge() - give no more rounds away
 * @mc: the subgroup
 *
 * Messages that processes commit from now on wait for the next view.
 */
void spindle_mc_wedge(struct spindle_mc *mc)
{
	enter(mc, SPINDLE_EPOCH_WEDGED);
}

/* The stream that brought a large message to the members stopped with the view: bring it again. */
static void bring_again(struct spindle_mc *mc)
{
	if (mc->send.held != SPINDLE_HELD_NONE)
		spindle_mc_hold(mc, SPINDLE_HELD_WAITING);
}

/**
 * spindle_mc_stay() - the view ends, but not for this subgroup: go on
 * @mc: the subgroup, frozen; a decree that leaves its members as they are is chosen
 *
 * All members decide the same, each in its own time. Until a member does, it leaves what arrives
 * where it is. So messages can be pushed to the member, whichever view it is in.
 */
void spindle_mc_stay(struct spindle_mc *mc)
{
	if (enter(mc, SPINDLE_EPOCH_STAYED))
		bring_again(mc);
}

/**
 * spindle_mc_flushed() - has all that has a round been pushed to a member?
 * @mc: the subgroup, wedged
 * @rank: the member
 *
 * Return: true if so: a fence may follow, and then nothing of this view
 */
bool spindle_mc_flushed(const struct spindle_mc *mc, u32 rank)
{
	const struct spindle_mc_member *m = &mc->member[rank];

	return mc->my_sender == SPINDLE_NO_RANK || rank == mc->me ||
	       (m->push_slot == mc->own.word[SPINDLE_COL_SLOTS] && !spindle_push_wanted(mc, rank));
}

/**
 * spindle_mc_freeze() - receive what is here, and nothing after it
 * @mc: the subgroup, wedged; the fence of every live member has been seen
 * @have: out: messages received, by sender rank
 *
 * From here on neither the own counts nor the stable prefix moves. So a leader that computes a trim
 * from @have can be sure that nothing beyond the trim is delivered. The counts have to be true even
 * if the subgroup does not run here, because they are about messages that other members have sent.
 */
void spindle_mc_freeze(struct spindle_mc *mc, u64 *have)
{
	u32 s;

	do {
		spindle_receive_trigger(mc);
	} while (mc->backlog);
	enter(mc, SPINDLE_EPOCH_FROZEN);
	for (s = 0; s < mc->senders; s++)
		have[s] = mc->sender[s].walk.slot;
}

/**
 * spindle_mc_trim() - cut a subgroup back to what all survivors have
 * @mc: the subgroup, frozen
 * @trim: messages, by sender rank
 *
 * Rounds beyond a sender's trim are taken for nulls, so that delivery can go to the end of what is
 * left. An unordered subgroup promises nothing about what other members deliver. So it delivers all
 * that it has, and the trim takes nothing away. Delivery does not wait for the first reader any
 * more.
 *
 * Return: false if the trim cannot be true: it takes back what was delivered, includes what is not
 *	here, or takes from the own messages, which all survivors have received
 */
bool spindle_mc_trim(struct spindle_mc *mc, const u64 *trim)
{
	u32 s;

	for (s = 0; s < mc->senders; s++) {
		const struct spindle_mc_sender *sd = &mc->sender[s];

		if (trim[s] > sd->walk.slot || (mc->ordered && trim[s] < sd->dlv_slot) ||
		    (s == mc->my_sender && trim[s] != sd->walk.slot))
			return false;
	}
	for (s = 0; s < mc->senders && mc->ordered; s++) {
		struct spindle_mc_sender *sd = &mc->sender[s];

		sd->walk.slot = trim[s];
		if (sd->dlv_slot == trim[s])
			sd->head = U64_MAX;
	}
	mc->deliver.stable = U64_MAX;
	mc->deliver.hold = false;
	/* Delivery may wait for the disk of a logger, and now does not any more. */
	mc->deliver.blocked = false;
	return true;
}

/**
 * spindle_mc_drain() - deliver what is left up to the trim, as far as readers have room
 * @mc: the subgroup, trimmed
 *
 * Return: true if all is delivered
 */
bool spindle_mc_drain(struct spindle_mc *mc)
{
	u32 s;

	/* A reader that has consumed messages makes room. */
	if (spindle_release_test(mc))
		spindle_release_trigger(mc);
	if (spindle_deliver_test(mc))
		spindle_deliver_trigger(mc);
	for (s = 0; s < mc->senders; s++)
		if (mc->sender[s].head != U64_MAX)
			return false;
	return true;
}

/*
 * Messages of a sender that readers still hold keep their slots, in round 0. They are a window at
 * most.
 *
 * A sender that was here before goes on behind its last message here, which is the trim if all is
 * well. If the trim is less, an unordered subgroup cannot go back to it, because it has delivered
 * all messages. Only a lie makes such a trim: the sender itself refuses it, so no message is sent
 * under another number.
 */
static void begin_sender(struct spindle_mc_sender *sd, const struct spindle_mc_sender *old,
			 u64 first)
{
	u64 n;

	if (old)
		first = old->walk.slot;
	sd->walk.slot = first;
	sd->walk.rounds = 1;
	sd->dlv_slot = first;
	sd->rel_slot = first;
	sd->owed_slot = first;
	if (!old)
		return;
	for (n = old->rel_slot; n < first; n++) {
		struct spindle_msg *msg = &sd->msgs[n & sd->walk.wmask];

		*msg = old->msgs[n & sd->walk.wmask];
		msg->round = 0;
	}
	sd->rel_slot = old->rel_slot;
	sd->owed_slot = old->rel_slot;
}

static void begin_member(struct spindle_mc *mc, struct spindle_mc_member *m)
{
	u64 first;

	m->received = mc->senders;
	m->told_received = mc->senders;
	m->dirty = true;
	if (mc->my_sender != SPINDLE_NO_RANK)
		m->push_slot = mc->sender[mc->my_sender].walk.slot;
	if (m->sender == SPINDLE_NO_RANK)
		return;
	first = mc->sender[m->sender].walk.slot;
	m->sent = 1;
	m->slots = first;
	m->vouched = first & SPINDLE_IMM_SLOTS;
	/*
	 * No guard of this member is under way. Its guards of the old view came before its fence,
	 * and those of this view wait until it sees that the view is installed here.
	 */
	if (m->vouch)
		WRITE_ONCE(*m->vouch, m->vouched);
}

/* Take over the log and the readers; @now has the sender ranks, by old ones. */
static void take_readers(struct spindle_mc_deliver *to, const struct spindle_mc_deliver *old,
			 const u8 *now)
{
	struct spindle_dlvq *q;
	u64 n;

	for (n = old->log_head; n != old->log_tail; n++)
		to->log[n & to->log_mask] = now[old->log[n & old->log_mask]];
	/*
	 * Sequence numbers begin again: a message that was copied in part belongs to the old view.
	 */
	for (q = old->readers; q; q = q->next)
		q->part = 0;
	to->log_head = old->log_head;
	to->log_tail = old->log_tail;
	to->readers = old->readers;
	to->history = old->history;
	to->attached = old->attached;
	/* Nothing was delivered in a view that is still due, and its readers skip it. */
	to->vid_before = old->vid_before;
}

/* Take over the sending process, and what it has committed. */
static void take_sender(struct spindle_mc *mc, const struct spindle_mc *old)
{
	mc->send.txq = old->send.txq;
	mc->send.held = old->send.held;
	mc->send.held_slot = old->send.held_slot;
	mc->send.parting = old->send.parting;
	bring_again(mc);
	mc->send.free_slot = old->send.free_slot;
	memcpy(mc->send.ends, old->send.ends, mc->window * sizeof(*mc->send.ends));
}

/* Take all over that processes see, so that none of them notices the change. */
static void take_over(struct spindle_mc *mc, const struct spindle_mc *old, const u32 *from)
{
	u8 now[SPINDLE_LOG_GONE + 1];
	u32 s;

	memset(now, SPINDLE_LOG_GONE, sizeof(now));
	for (s = 0; s < mc->senders; s++)
		if (from[s] != SPINDLE_NO_RANK)
			now[from[s]] = s;
	take_readers(&mc->deliver, &old->deliver, now);
	mc->tune = old->tune;
	mc->stats = old->stats;
	mc->events = old->events & ~SPINDLE_MC_FAILED;
	if (mc->my_sender != SPINDLE_NO_RANK && old->my_sender != SPINDLE_NO_RANK)
		take_sender(mc, old);
}

/* Where the view begins, see spindle_decree_count(). */
static u64 first_position(const struct spindle_mc *mc, const struct spindle_mc *old, u64 former)
{
	u32 s;

	if (!mc->ordered)
		return old ? old->deliver.lsn : 0;
	for (s = 0; s < mc->senders; s++)
		former += mc->sender[s].walk.slot;
	return former;
}

/**
 * spindle_mc_begin() - begin in a new view
 * @mc: initialised for the new view, with memory of its own; its log is no smaller than
 *	that of @old
 * @old: the same subgroup in the view before, drained; NULL if this node was not in it.
 *	Window and ring are the same
 * @from: sender rank in @old of each sender, or SPINDLE_NO_RANK
 * @first: messages that each sender had sent in all views before: the trim, or 0. For a sender that
 *	was here already, the messages that are here count instead
 * @former: messages of former senders
 *
 * Messages are numbered on, rounds begin again. Round 0 of every sender is a null that stands for
 * all the views before. A member releases it when the readers there have consumed what came before.
 * The member's column "delivered" then says so to the senders. Slots that were used in an old view
 * are free when all members have said so.
 */
void spindle_mc_begin(struct spindle_mc *mc, struct spindle_mc *old, const u32 *from,
		      const u64 *first, u64 former)
{
	u32 i;

	for (i = 0; i < mc->senders; i++)
		begin_sender(&mc->sender[i], old && from[i] != SPINDLE_NO_RANK ?
			     &old->sender[from[i]] : NULL, first[i]);
	for (i = 0; i < mc->members; i++)
		begin_member(mc, &mc->member[i]);
	mc->deliver.lsn = first_position(mc, old, former);
	if (old)
		take_over(mc, old, from);
	mc->own.word[SPINDLE_COL_RECEIVED] = mc->senders;
	if (mc->my_sender != SPINDLE_NO_RANK) {
		mc->own.word[SPINDLE_COL_SENT] = 1;
		mc->own.word[SPINDLE_COL_SLOTS] = mc->sender[mc->my_sender].walk.slot;
	}
	mc->deliver.stable = mc->senders;
	mc->own.changed = true;
	mc->deliver.settle = true;
}

/**
 * spindle_mc_announce() - put the view into the readers' queues before its first message
 * @mc: the subgroup, begun
 * @vid: id of the view
 */
void spindle_mc_announce(struct spindle_mc *mc, u64 vid)
{
	if (!mc->deliver.vid_before)
		mc->deliver.vid_before = vid - 1;
	mc->deliver.vid_due = vid;
}
