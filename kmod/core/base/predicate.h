/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Predicates: the engine's unit of work (SST paper, section on predicates).
 *
 * A predicate is a test over the shared state table and a trigger that runs when
 * the test holds. The engine evaluates the predicates of a list in the order in
 * which they were added, once per pass. Tests are cheap and change nothing;
 * triggers handle whatever has piled up since the last pass, as one batch.
 *
 * A list and its predicates belong to one owner (a node, a subgroup) and live inside its struct.
 * Only the engine that serves the owner touches them.
 */
#ifndef SPINDLE_CORE_PREDICATE_H
#define SPINDLE_CORE_PREDICATE_H

#include "port.h"

/**
 * enum spindle_pred_kind - when a trigger runs
 */
enum spindle_pred_kind {
	/** @SPINDLE_PRED_RECURRENT: in every pass in which the test holds */
	SPINDLE_PRED_RECURRENT,
	/** @SPINDLE_PRED_TRANSITION: when the test holds and did not in the pass before */
	SPINDLE_PRED_TRANSITION,
	/** @SPINDLE_PRED_ONCE: the first time that the test holds; never evaluated again */
	SPINDLE_PRED_ONCE,
};

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
	/** @kind: enum spindle_pred_kind */
	enum spindle_pred_kind kind;
	/** @held: the test held in the last pass */
	bool held;
	/** @done: a ONCE predicate that has run */
	bool done;
	/** @fired: times the trigger ran */
	u64 fired;
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
