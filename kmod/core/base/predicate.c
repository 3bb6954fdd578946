// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predicates: the engine's unit of work. See predicate.h.
 */
#include "predicate.h"

/**
 * spindle_pred_add() - append a predicate to a list
 * @preds: the list
 * @pred: test, trigger and ctx are set; it stays until the owner is freed
 */
void spindle_pred_add(struct spindle_preds *preds, struct spindle_pred *pred)
{
	struct spindle_pred **end = &preds->head;

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
		if (!pred->test(pred->ctx))
			continue;
		pred->trigger(pred->ctx);
		any = true;
	}
	return any;
}
