/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Predicates of tables: the cost of a look, and of counting in step. The members are engines in one
 * thread, and the wire is a copy. Nothing that is timed includes a copy.
 */
#ifndef SPINDLE_BENCH_TABLES_H
#define SPINDLE_BENCH_TABLES_H

#include <stdio.h>

#include "measure.h"

/**
 * struct tables_look - a look to measure; the predicate holds at each look, and signals
 * @rows: rows that the predicate is about, 1 to SPINDLE_MAX_MEMBERS - 1, of all other members
 * @cell: bytes of the cell, of which the last field counts
 * @changed: rows that have changed since the look before, 1 to @rows
 * @pass: measure a pass: it looks for changes of all rows before
 */
struct tables_look {
	u32 rows;
	u32 cell;
	u32 changed;
	bool pass;
};

struct spread measure_look(const struct tables_look *conf, const struct effort *effort);
struct spread measure_count(u32 members, const struct effort *effort);
void tables_csv(FILE *out, const struct effort *effort);

#endif /* SPINDLE_BENCH_TABLES_H */
