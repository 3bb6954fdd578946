// SPDX-License-Identifier: GPL-2.0-only
/*
 * Multicast: the protocol of one subgroup at one member, put together. See multicast.h
 * for the arithmetic; the predicates are in receive.c, send.c, deliver.c and release.c.
 *
 * Context: engine, all of it.
 */
#include "history.h"
#include "stage.h"

/*
 * Copying this takes about as long as sending a batch. All readers of a subgroup share the budget.
 */
#define COPY_BUDGET	(1024 * 1024)

static void add(struct spindle_mc *mc, u32 i, bool (*test)(void *), void (*trigger)(void *))
{
	mc->pred[i].test = test;
	mc->pred[i].trigger = trigger;
	mc->pred[i].ctx = mc;
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
	if (mc->durable)
		add(mc, 4, spindle_durable_test, spindle_durable_trigger);
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

	if (dlvq->low_word) {
		spindle_history_detach(mc->deliver.history, dlvq);
		return;
	}
	while (*at != dlvq)
		at = &(*at)->next;
	*at = dlvq->next;
	mc->deliver.settle = true;
	mc->deliver.blocked = false;
}

/**
 * spindle_mc_remember() - keep what is delivered from now on, or nothing more
 * @mc: the subgroup; no process reads the former history
 * @history: empty, or NULL. The former one is not used here any more
 */
void spindle_mc_remember(struct spindle_mc *mc, struct spindle_history *history)
{
	if (mc->deliver.history)
		spindle_mc_detach_reader(mc, &mc->deliver.history->q);
	if (history) {
		spindle_mc_attach_reader(mc, &history->q);
		/* A view that is due gets its entry: readers of the history begin before it. */
		history->q.vid = 0;
	}
	mc->deliver.history = history;
	if (history && mc->durable && mc->durable->gate)
		spindle_history_open(history, mc->durable->durable);
}

/**
 * spindle_mc_next() - position of the next message that readers other than the logger will see
 * @mc: the subgroup
 *
 * Return: the position
 */
u64 spindle_mc_next(const struct spindle_mc *mc)
{
	return mc->deliver.history ?
	       spindle_history_next(mc->deliver.history, mc->deliver.lsn) : mc->deliver.lsn;
}

/**
 * spindle_mc_attach_cursor() - attach a process that reads the history
 * @mc: the subgroup, with a history
 * @cursor: its queue, zeroed, with words
 * @lsn: position of the first message that it gets
 *
 * Return: 0; -ESTALE: the message is forgotten, or was delivered before there was a history;
 *	-ERANGE: it is neither delivered nor the next one
 */
int spindle_mc_attach_cursor(struct spindle_mc *mc, struct spindle_dlvq *cursor, u64 lsn)
{
	struct spindle_history *h = mc->deliver.history;

	if (lsn > (cursor->logger ? mc->deliver.lsn : spindle_mc_next(mc)))
		return -ERANGE;
	if (lsn < spindle_history_oldest(h, mc->deliver.lsn))
		return -ESTALE;
	spindle_history_attach(h, cursor, spindle_history_find(h, lsn));
	return 0;
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
