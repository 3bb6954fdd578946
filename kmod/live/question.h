/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Question: ask a member for a card, or for the rules that it wants, part by part. See door.h for
 * the other side.
 *
 * Context: process; waits for another host, so no lock is held.
 */
#ifndef SPINDLE_LIVE_QUESTION_H
#define SPINDLE_LIVE_QUESTION_H

#include "core/membership/card.h"

struct spindle_node;

/**
 * struct spindle_question - a question and its answer
 */
struct spindle_question {
	/** @node: the node that asks */
	struct spindle_node *node;
	/** @to: address of the member */
	struct spindle_addr to;
	/** @rules: ask for the rules that the member wants, in place of its card */
	bool rules;
	/** @lineage: the lineage that the member must be of, or none */
	const struct spindle_lineage *lineage;
	/** @stop: set to cancel the question */
	const bool *stop;
	/** @until: the answer has to be complete by then, ktime */
	u64 until;
	/** @text: out: the answer; spindle_card_max() bytes */
	u8 *text;
	/** @digest: out: digest of the member's view */
	u64 digest;
	/** @reason: out, with an error: why; a constant string */
	const char *reason;
};

int spindle_question_part(struct spindle_question *q, u32 from, u32 *total);
int spindle_question_all(struct spindle_question *q);

#endif /* SPINDLE_LIVE_QUESTION_H */
