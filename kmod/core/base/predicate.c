// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predicates: the engine's unit of work. See predicate.h.
 */
#include "predicate.h"

/**
 * spindle_pred_add() - append a predicate to a list
 * @preds: the list
 * @pred: test, trigger, ctx and kind are set; it stays until the owner is freed
 */
void spindle_pred_add(struct spindle_preds *preds, struct spindle_pred *pred)
{
	struct spindle_pred **end = &preds->head;

	pred->held = false;
	pred->done = false;
	pred->fired = 0;
	pred->next = NULL;
	while (*end)
		end = &(*end)->next;
	*end = pred;
}

/**
 * spindle_preds_run() - evaluate a list once
 * @preds: the list
 *
 * Context: engine.
 * Return: true if any trigger ran
 */
bool spindle_preds_run(struct spindle_preds *preds)
{
	struct spindle_pred *pred;
	bool any = false;

	for (pred = preds->head; pred; pred = pred->next) {
		bool fire;

		if (pred->done)
			continue;
		fire = pred->test(pred->ctx);
		if (pred->kind == SPINDLE_PRED_TRANSITION) {
			bool held = pred->held;

			pred->held = fire;
			fire = fire && !held;
		}
		if (!fire)
			continue;
		if (pred->kind == SPINDLE_PRED_ONCE)
			pred->done = true;
		pred->fired++;
		pred->trigger(pred->ctx);
		any = true;
	}
	return any;
}
