/* SPDX-License-Identifier: GPL-2.0-only */
/* Output for people and programs: aligned tables and JSON. */
#ifndef SPINDLE_COMMON_OUT_H
#define SPINDLE_COMMON_OUT_H

#include <stdio.h>

#include <json-c/json.h>

#include "model.h"

#define CTL_COLUMNS_MAX	24

/**
 * struct ctl_table - a table with columns as wide as their longest cell
 */
struct ctl_table {
	/** @indent: blanks before each line */
	unsigned int indent;
	/** @columns: columns */
	unsigned int columns;
	/** @cell: rows of cells; the first row is the head */
	const char **cell;
	/** @cells: entries of @cell */
	unsigned int cells;
};

void ctl_table_cell(struct ctl_table *t, const char *text);
void ctl_table_num(struct ctl_table *t, uint64_t num);
void ctl_table_head(struct ctl_table *t, const char *words);
void ctl_table_write(const struct ctl_table *t, FILE *to);
void ctl_table_print(const struct ctl_table *t);
const char *ctl_digits(double num);
const char *ctl_now(bool people);

struct json_object *ctl_json_num(uint64_t num);
struct json_object *ctl_json_real(double num);
void ctl_json_add(struct json_object *obj, const char *word, struct json_object *val);
void ctl_json_str(struct json_object *obj, const char *word, const char *val);
void ctl_json_val(struct json_object *obj, const struct ctl_key *key, const struct ctl_val *val);
void ctl_json_vals(struct json_object *obj, const struct ctl_key *keys,
		   const struct ctl_val *val);
void ctl_json_ids(struct json_object *obj, const char *word, const struct ctl_ids *ids);
void ctl_json_print(struct json_object *obj);

#endif /* SPINDLE_COMMON_OUT_H */
