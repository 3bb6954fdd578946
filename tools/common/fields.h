/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Fields of a cell: names and types for the bytes of a value, like "load:u32,free:u64,host:s16".
 * The user gives them with a table, or with a command.
 *
 * Numbers are in the byte order of this machine, as programs store them.
 */
#ifndef SPINDLE_COMMON_FIELDS_H
#define SPINDLE_COMMON_FIELDS_H

#include <stdint.h>

#include <json-c/json.h>

/* Fields at most. They have to fit into a table of CTL_COLUMNS_MAX columns. */
#define CTL_CELL_FIELDS	20

/* Characters of the longest name. */
#define CTL_CELL_NAME	32

/**
 * struct ctl_cell_field - a field
 */
struct ctl_cell_field {
	/** @name: name */
	const char *name;
	/** @type: 'u': number, 'i': number with a sign, 's': string */
	char type;
	/** @at: offset in the value */
	uint32_t at;
	/** @size: bytes */
	uint32_t size;
};

/**
 * struct ctl_cell_fields - the fields of a cell
 */
struct ctl_cell_fields {
	/** @field: fields, in the order of the user */
	struct ctl_cell_field field[CTL_CELL_FIELDS];
	/** @count: entries of @field; 0: there are none */
	unsigned int count;
};

const char *ctl_fields_parse(const char *text, struct ctl_cell_fields *fields);
const char *ctl_fields_fit(const struct ctl_cell_fields *fields, uint32_t bytes);
const char *ctl_fields_take(const struct ctl_cell_fields *fields, const char *word,
			    unsigned char *value);
const char *ctl_field_text(const struct ctl_cell_field *field, const unsigned char *value);
struct json_object *ctl_field_json(const struct ctl_cell_field *field, const unsigned char *value);

/* Values without fields. */
const char *ctl_value_text(const unsigned char *value, uint32_t len);
const char *ctl_value_hex(const unsigned char *value, uint32_t len);
const char *ctl_value_unhex(const char *text, unsigned char *value, uint32_t max, uint32_t *len);

#endif /* SPINDLE_COMMON_FIELDS_H */
