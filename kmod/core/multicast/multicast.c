// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multicast: the protocol of one subgroup at one member, put together. See multicast.h
 * for the arithmetic; the predicates are in receive.c, send.c, deliver.c and release.c.
 *
 * Context: engine, all of it.
 */
#include "stage.h"

/*
 * Copying this takes about as long as sending a batch. All readers of a subgroup share the budget.
 */
#define COPY_BUDGET	(1024 * 1024)

/**
 * spindle_mc_prefix() - the sequence number below which all senders are complete
 * @mc: the subgroup
 * @count: rounds of a sender that are complete
 *
 * All below m S + j is complete; m = min count, j the first sender at m.
 *
 * Return: sequence number
 */
u64 spindle_mc_prefix(const struct spindle_mc *mc,
		      u64 (*count)(const struct spindle_mc_sender *sd))
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

/* The count of deliveries is about to go to all members: no space of a ring is owed any more. */
static void pay_debts(struct spindle_mc *mc)
{
	u32 s;

	mc->own.overdue = false;
	for (s = 0; s < mc->senders; s++)
		mc->sender[s].owed = 0;
}

/**
 * spindle_mc_set() - change an own column
 * @mc: the subgroup
 * @col: which
 * @value: new value, no less than the old one
 */
void spindle_mc_set(struct spindle_mc *mc, enum spindle_column col, u64 value)
{
	bool lazy = col == SPINDLE_COL_DELIVERED && !mc->own.overdue &&
		    spindle_mc_uses(mc, SPINDLE_SW_MERGED_ACKS);
	u64 most = ((u64)mc->window * mc->senders) >> SPINDLE_LAZY_SHIFT;
	u32 r;

	if (mc->own.word[col] == value)
		return;
	ASSERT_EXCLUSIVE_WRITER(mc->own.word[col]);
	/* Pairs with READ_ONCE() of statistics. */
	WRITE_ONCE(mc->own.word[col], value);
	mc->own.changed = true;
	mc->own.lazy |= lazy;
	for (r = 0; r < mc->members; r++) {
		struct spindle_mc_member *m = &mc->member[r];

		if (r != mc->me && (!lazy || value - m->told_delivered >= most))
			m->dirty = true;
	}
	if (col == SPINDLE_COL_DELIVERED && mc->own.overdue)
		pay_debts(mc);
}

/**
 * spindle_mc_flush_acks() - have the count of deliveries pushed, because nothing else is
 * @mc: the subgroup
 *
 * Senders need the count only before their rings are full, so that it rides along with other
 * columns. It is pushed alone when a quarter of what the senders can have out waits for it,
 * messages or units of a ring. Where that is never reached the embedder calls this when there is
 * nothing else to do. An engine that always has something else to do calls it every so many passes.
 *
 * Return: true if there is something to push now
 */
bool spindle_mc_flush_acks(struct spindle_mc *mc)
{
	bool any = false;
	u32 r;

	if (!mc->own.lazy || !spindle_mc_runs(mc))
		return false;
	mc->own.lazy = false;
	for (r = 0; r < mc->members; r++) {
		struct spindle_mc_member *m = &mc->member[r];

		if (r == mc->me || m->told_delivered == mc->own.word[SPINDLE_COL_DELIVERED])
			continue;
		m->dirty = true;
		any = true;
	}
	return any;
}

/* The sequence number below which all members have received everything. */
static u64 stable_seq(const struct spindle_mc *mc)
{
	u64 low = mc->own.word[SPINDLE_COL_RECEIVED];
	u32 r;

	for (r = 0; r < mc->members; r++)
		if (r != mc->me)
			low = min(low, mc->member[r].received);
	return low;
}

/**
 * spindle_mc_advance() - move what is received and stable, after rounds were received or decided
 * @mc: the subgroup
 */
void spindle_mc_advance(struct spindle_mc *mc)
{
	spindle_mc_set(mc, SPINDLE_COL_RECEIVED, spindle_mc_prefix(mc, count_received));
	WRITE_ONCE(mc->deliver.stable, stable_seq(mc));
}

/**
 * spindle_mc_publish() - bring the own block up to date
 * @mc: the subgroup
 */
void spindle_mc_publish(struct spindle_mc *mc)
{
	if (!mc->own.changed || !spindle_mc_runs(mc))
		return;
	mc->own.changed = false;
	mc->own.express_ready = false;
	spindle_block_write(mc->own.block, mc->own.word);
}

/**
 * spindle_mc_post_in_place() - the paper's baseline: post where something changes
 * @mc: the subgroup
 */
void spindle_mc_post_in_place(struct spindle_mc *mc)
{
	if (spindle_mc_uses(mc, SPINDLE_SW_LATE_POST) || !mc->own.changed ||
	    !spindle_mc_runs(mc))
		return;
	spindle_mc_publish(mc);
	mc->post(mc);
}

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

	mc->tune = (struct spindle_mc_tune){
		.switches = SPINDLE_SW_ALL,
		.send_budget = SPINDLE_DEF_SEND_BUDGET,
		.recv_budget = SPINDLE_DEF_RECV_BUDGET,
		.dlv_budget = SPINDLE_DEF_DLV_BUDGET,
		.copy_budget = COPY_BUDGET,
		.silence = SPINDLE_DEF_SILENCE,
		.large = U32_MAX,
	};
	for (s = 0; s < mc->senders; s++)
		mc->sender[s].head = U64_MAX;
	add(mc, 0, spindle_receive_test, spindle_receive_trigger);
	add(mc, 1, spindle_send_test, spindle_send_trigger);
	add(mc, 2, spindle_deliver_test, spindle_deliver_trigger);
	add(mc, 3, spindle_release_test, spindle_release_trigger);
}

/**
 * spindle_mc_run() - one pass over a subgroup
 * @mc: the subgroup
 * @idle: nothing else is to be done, so this is the time for what can wait
 *
 * Return: true if there was work
 */
bool spindle_mc_run(struct spindle_mc *mc, bool idle)
{
	bool any;

	if (!spindle_mc_runs(mc))
		return false;
	mc->idle = idle;
	any = spindle_preds_run(&mc->preds);
	spindle_mc_publish(mc);
	spindle_mc_count_late(mc);
	spindle_count(&mc->stats.visits, 1);
	spindle_count(&mc->stats.activations, any);
	return any;
}

/**
 * spindle_mc_retune() - work in another way from now on
 * @mc: the subgroup
 * @tune: how
 */
void spindle_mc_retune(struct spindle_mc *mc, const struct spindle_mc_tune *tune)
{
	mc->tune = *tune;
	mc->send.ahead = min_t(u64, mc->send.ahead, tune->silence);
	/*
	 * Rounds that others need may not have been given up while nulls were off. No new message
	 * has to come that would make the receive predicate run, so make it run now.
	 */
	mc->backlog = true;
}

/**
 * spindle_mc_attach_sender() - attach the process that sends
 * @mc: the subgroup; this node is a sender and no process is attached as such
 * @desc: descriptor ring, zeroed
 * @free_slot_word: control page word
 * @free_unit_word: control page word
 *
 * @mc->send.txq says from which slot and unit the process has to go on: numbers continue
 * from one process to the next, because messages of the last one may be in flight.
 */
void spindle_mc_attach_sender(struct spindle_mc *mc, const struct spindle_tx_desc *desc,
			      u64 *free_slot_word, u64 *free_unit_word)
{
	mc->send.txq.error = 0;
	mc->send.txq.free_slot_word = free_slot_word;
	mc->send.txq.free_unit_word = free_unit_word;
	mc->send.txq.desc = desc;
	spindle_txq_free(&mc->send.txq, mc->send.txq.free_slot, mc->send.txq.free_unit);
	mc->deliver.attached = true;
}

/**
 * spindle_mc_detach_sender() - detach the process that sends, which is gone
 * @mc: the subgroup
 *
 * What the process had committed, up to the first gap, is sent; the rest is abandoned. Sending may
 * have to wait for a large message that is still to be brought to the members. It may also wait for
 * the next view if this one ends, or for members if there are too few.
 *
 * Return: false if something has to wait: the memory of the queue has to stay until
 * SPINDLE_MC_PARTED says that all is sent
 */
bool spindle_mc_detach_sender(struct spindle_mc *mc)
{
	struct spindle_mc_send *send = &mc->send;

	while (spindle_send_test(mc)) {
		spindle_send_trigger(mc);
		if (send->txq.error)
			break;
	}
	send->parting = !mc->ended &&
			(send->held != SPINDLE_HELD_NONE || spindle_txq_ready(&send->txq));
	if (!send->parting)
		send->txq.desc = NULL;
	return !send->parting;
}

/**
 * spindle_mc_attach_reader() - attach a process that reads
 * @mc: the subgroup
 * @dlvq: its queue, which gets what is delivered from now on
 */
void spindle_mc_attach_reader(struct spindle_mc *mc, struct spindle_dlvq *dlvq)
{
	dlvq->base = mc->deliver.log_tail;
	dlvq->vid = mc->deliver.vid_due;
	dlvq->next = mc->deliver.readers;
	mc->deliver.readers = dlvq;
	mc->deliver.attached = true;
}

/**
 * spindle_mc_detach_reader() - detach a process that reads, which is gone
 * @mc: the subgroup
 * @dlvq: its queue; messages that it has not consumed hold up no sender any more
 */
void spindle_mc_detach_reader(struct spindle_mc *mc, struct spindle_dlvq *dlvq)
{
	struct spindle_dlvq **at = &mc->deliver.readers;

	while (*at != dlvq)
		at = &(*at)->next;
	*at = dlvq->next;
	mc->deliver.settle = true;
	mc->deliver.blocked = false;
}

/**
 * spindle_mc_end() - the subgroup is over, for good
 * @mc: the subgroup
 *
 * Nothing is received, delivered or sent any more, and no process is waited for.
 */
void spindle_mc_end(struct spindle_mc *mc)
{
	mc->ended = true;
	if (!mc->send.parting)
		return;
	mc->send.parting = false;
	mc->send.txq.desc = NULL;
	mc->events |= SPINDLE_MC_PARTED;
}
