/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Predicates of tables: conditions over rows that processes leave to the engine (SST paper,
 * section on predicates). <linux/spindle_table.h> says what they mean.
 *
 * A predicate has a closed form and contains no code: terms compare numbers, numbers come from
 * fields of rows. So the work of a look has a bound, and the engine runs nothing that a process
 * wrote.
 *
 * Each number keeps the field's value of every row, as of the last whole value of the cell. A look
 * reads only rows that have changed since, which are the @stale ones. The rest is arithmetic over
 * at most SPINDLE_MAX_MEMBERS words. A row counts as changed when its block has arrived. If the
 * cell is torn then, a newer value is on its way, and so is a newer block. So a look that keeps the
 * old value is repeated when the new one is whole. The own row counts as changed when the process
 * has set a dirty bit, or when a trigger has set a field.
 *
 * A look reads each cell of a row once, the guard first, and takes the values of all numbers from
 * it. If one of the cells is torn, all values of the row stay as they are. So values of one row
 * belong together as those do that a process reads.
 *
 * Owner: the attachment allocates and frees. From spindle_tb_pred_add() to spindle_tb_pred_remove()
 * the table has the predicate in its list. A table that ends does not look at its list any more.
 *
 * Context: engine, where nothing else is said.
 */
#ifndef SPINDLE_CORE_TABLE_PREDICATE_H
#define SPINDLE_CORE_TABLE_PREDICATE_H

#include "table.h"

/* Numbers of a predicate. */
#define SPINDLE_TB_NUMBERS	(2 * SPINDLE_MAX_TERMS + SPINDLE_MAX_TRIGGERS)

/**
 * struct spindle_tb_number - a number of a predicate
 */
struct spindle_tb_number {
	/** @as: as the process has given it; checked */
	struct spindle_number as;
	/** @rows: ranks of the rows that count, in the present view */
	u64 rows;
	/** @value: value of the field, by rank; NULL without a field */
	u64 *value;
};

/**
 * struct spindle_tb_term - a comparison of a predicate
 */
struct spindle_tb_term {
	/** @compare: enum spindle_compare */
	u32 compare;
	/** @least: rows that it must hold for, or SPINDLE_ALL_ROWS */
	u32 least;
	/** @left: the left number */
	struct spindle_tb_number left;
	/** @right: the right number */
	struct spindle_tb_number right;
};

/**
 * struct spindle_tb_trigger - what to do when a predicate fires
 */
struct spindle_tb_trigger {
	/** @what: enum spindle_do */
	u32 what;
	/** @id: of the predicate to arm or to disarm */
	u32 id;
	/** @field: field of the own row to set */
	struct spindle_field field;
	/** @value: what to store there */
	struct spindle_tb_number value;
};

struct spindle_tb_pred;

/**
 * struct spindle_tb_preds - predicates of an attachment, by id
 */
struct spindle_tb_preds {
	/** @pred: or NULL; changed by the engine */
	struct spindle_tb_pred *pred[SPINDLE_MAX_PREDICATES];
};

/**
 * struct spindle_tb_pred - a predicate
 */
struct spindle_tb_pred {
	/** @next: next one of the table */
	struct spindle_tb_pred *next;
	/** @link: pointer to this one, in the one before or in the table */
	struct spindle_tb_pred **link;
	/** @set: predicates of the attachment */
	struct spindle_tb_preds *set;
	/** @turn: its place in the order in which predicates were added */
	u64 turn;
	/** @stale: ranks of rows that have changed since the last look */
	u64 stale;
	/** @sets: fields that predicates had set at the last look */
	u64 sets;
	/** @signals: signals to the process */
	u64 signals;
	/** @kind: enum spindle_kind */
	u32 kind;
	/** @any: one of the terms is enough */
	bool any;
	/** @armed: it is looked at */
	bool armed;
	/** @held: it held at the last look */
	bool held;
	/** @terms: how many */
	u32 terms;
	/** @triggers: how many */
	u32 triggers;
	/** @term: the terms */
	struct spindle_tb_term term[SPINDLE_MAX_TERMS];
	/** @trigger: the triggers, in order */
	struct spindle_tb_trigger trigger[SPINDLE_MAX_TRIGGERS];
	/** @numbers: numbers with a field */
	u32 numbers;
	/** @number: those, by cell: the guard comes first */
	struct spindle_tb_number *number[SPINDLE_TB_NUMBERS];
	/** @values: SPINDLE_MAX_MEMBERS for each number with a field */
	u64 values[];
};

int spindle_tb_pred_check(struct spindle_predicate *args, u32 cells, u32 cell, bool own);
size_t spindle_tb_pred_bytes(const struct spindle_predicate *args);
void spindle_tb_pred_init(struct spindle_tb_pred *pred, const struct spindle_predicate *args);
void spindle_tb_pred_add(struct spindle_tb *tb, struct spindle_tb_preds *set, u32 id,
			 struct spindle_tb_pred *pred);
struct spindle_tb_pred *spindle_tb_pred_remove(struct spindle_tb_preds *set, u32 id);
void spindle_tb_preds_follow(struct spindle_tb *tb, struct spindle_tb *old, const u32 *from);
void spindle_tb_preds_stale(struct spindle_tb *tb, u64 rows);
bool spindle_tb_preds_look(struct spindle_tb *tb);

#endif /* SPINDLE_CORE_TABLE_PREDICATE_H */
