/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Predicates: the engine's unit of work (SST paper, section on predicates).
 *
 * A predicate is a test over the shared state table and a trigger that runs in every pass in which
 * the test holds. The engine evaluates the predicates of a list in the order in which they were
 * added, once per pass. Tests are cheap and change nothing; triggers handle whatever has piled up
 * since the last pass, as one batch.
 *
 * Predicates that processes leave to the engine have a closed form instead of functions, and three
 * kinds: core/table/predicate.h.
 *
 * A list and its predicates belong to one owner (a node, a subgroup) and live inside its struct.
 * Only the engine that serves the owner touches them.
 */
#ifndef SPINDLE_CORE_PREDICATE_H
#define SPINDLE_CORE_PREDICATE_H

#include "port.h"

/**
 * struct spindle_pred - a predicate
 */
struct spindle_pred {
	/** @test: does it hold? Must not change state */
	bool (*test)(void *ctx);
	/** @trigger: what to do then */
	void (*trigger)(void *ctx);
	/** @ctx: argument of both */
	void *ctx;
	/** @next: next in the list */
	struct spindle_pred *next;
};

/**
 * struct spindle_preds - predicates of one owner, in evaluation order
 */
struct spindle_preds {
	/** @head: first */
	struct spindle_pred *head;
};

void spindle_pred_add(struct spindle_preds *preds, struct spindle_pred *pred);
bool spindle_preds_run(struct spindle_preds *preds);

#endif /* SPINDLE_CORE_PREDICATE_H */
