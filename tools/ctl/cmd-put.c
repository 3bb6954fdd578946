// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl table put: write a cell of the node's own row.
 *
 * The command is the writer of the row for a moment, so it fails while another process writes the
 * row. When the command detaches, the engine takes the value and sends it to the other members.
 * With a timeout the command waits until they have it.
 */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "args.h"
#include "cells.h"
#include "common/util.h"
#include "wait.h"

/* Keys of "table put", behind those that the verbs share. */
enum {
	PUT_TEXT = CTL_CELLS_VALS,
	PUT_HEX,
	PUT_TIMEOUT,
	PUT_VALS
};

/**
 * struct put - what "table put" puts
 */
struct put {
	/** @val: values of the keys */
	struct ctl_val val[PUT_VALS];
	/** @input: the value is on standard input */
	bool input;
	/** @word: values of fields: NAME=VALUE */
	const char **word;
	/** @words: entries of @word */
	unsigned int words;
	/** @value: a value that is not made of fields */
	unsigned char value[CTL_CELLS_VALUE];
	/** @len: bytes of @value */
	uint32_t len;
};

/* Take the words of the command line. A word with '=' is the value of a field. */
static int take_words(struct ctl_args *a, struct put *p)
{
	struct ctl_key keys[PUT_VALS + 1] = {
		[PUT_TEXT] = CTL_KEY("text", NULL, STR, 0),
		[PUT_HEX] = CTL_KEY("hex", NULL, STR, 0),
		[PUT_TIMEOUT] = ctl_timeout_key,
	};
	const struct ctl_key *key;
	const char *word;
	int rc = CTL_OK;

	memcpy(keys, ctl_cells_keys, sizeof(ctl_cells_keys));
	if (a->argc && isdigit((unsigned char)a->argv[0][0]))
		rc = ctl_args_value(a, keys, p->val, "");
	while (!rc && (word = ctl_args_next(a))) {
		key = ctl_key_find(keys, word);
		if (key)
			rc = ctl_args_value(a, key, &p->val[key - keys], "");
		else if (!strcmp(word, "-"))
			p->input = true;
		else if (strchr(word, '='))
			*CTL_ADD(p->word, p->words) = word;
		else
			rc = ctl_usage(a, "'%s' is not known here; there is: %s, -, FIELD=VALUE",
				       word, ctl_key_list(keys, false));
	}
	return rc;
}

/* Read standard input to its end. More bytes than any value has are an error. */
static int read_input(struct put *p)
{
	size_t n = fread(p->value, 1, sizeof(p->value), stdin);

	p->len = n;
	if (ferror(stdin)) {
		ctl_err("table put: standard input: %s", strerror(errno));
		return CTL_FAILED;
	}
	if (n < sizeof(p->value) || fgetc(stdin) == EOF)
		return CTL_OK;
	ctl_err("table put: standard input has more than %u bytes, and no value has more",
		CTL_CELLS_VALUE);
	return CTL_FAILED;
}

static int take_text(struct ctl_args *a, struct put *p)
{
	const char *text = p->val[PUT_TEXT].str;

	if (strlen(text) > CTL_CELLS_VALUE)
		return ctl_usage(a, "text has %zu bytes, and no value has more than %u",
				 strlen(text), CTL_CELLS_VALUE);
	p->len = strlen(text);
	memcpy(p->value, text, p->len);
	return CTL_OK;
}

/* What is wrong with the values of fields? NULL: nothing. The values are not put yet. */
static const char *check_words(const struct put *p, const struct ctl_cell_fields *fields)
{
	unsigned char value[CTL_CELLS_VALUE] = { 0 };
	const char *err;
	unsigned int i, k;
	size_t len;

	for (i = 0; i < p->words; i++) {
		err = ctl_fields_take(fields, p->word[i], value);
		if (err)
			return err;
		len = strcspn(p->word[i], "=") + 1;
		for (k = 0; k < i; k++)
			if (!strncmp(p->word[k], p->word[i], len))
				return ctl_asprintf("%s: the field has a value already",
						    p->word[i]);
	}
	return NULL;
}

/* Take the value, of one of its four kinds. Fields that only the table knows are checked later. */
static int take_value(struct ctl_args *a, struct put *p, const struct ctl_cell_fields *fields)
{
	const char *err = NULL;

	if (p->val[PUT_TEXT].set + p->val[PUT_HEX].set + p->input + !!p->words != 1)
		return ctl_usage(a, "one value: fields with FIELD=VALUE, text, hex, or -");
	if (fields->count && !p->words)
		return ctl_usage(a, "'fields' needs FIELD=VALUE");
	if (p->input)
		return read_input(p);
	if (p->val[PUT_TEXT].set)
		return take_text(a, p);
	if (p->words && fields->count)
		err = check_words(p, fields);
	if (p->words)
		return err ? ctl_usage(a, "%s", err) : CTL_OK;
	err = ctl_value_unhex(p->val[PUT_HEX].str, p->value, sizeof(p->value), &p->len);
	return err ? ctl_usage(a, "hex '%s': %s", p->val[PUT_HEX].str, err) : CTL_OK;
}

/*
 * Put fields into the value that the cell has. The other bytes stay, as the last writer has left
 * them.
 */
static int put_fields(struct ctl_cells *c, const struct put *p, uint32_t cell)
{
	unsigned char value[CTL_CELLS_VALUE];
	uint32_t bytes = spindle_cell_bytes(&c->t);
	unsigned int i;

	memcpy(value, spindle_cell_begin(&c->t, cell), bytes);
	for (i = 0; i < p->words; i++)
		ctl_fields_take(&c->fields, p->word[i], value);
	return spindle_cell_put(&c->t, cell, value, bytes);
}

/* Wait until the other members have the value. */
static int wait_for_members(struct ctl_cells *c, unsigned int seconds)
{
	int err;

	/* Members of a table of mode read take the value when they like. */
	if (spindle_table_is_read(&c->t))
		return CTL_OK;
	err = spindle_table_flush(&c->t, seconds * 1000);
	if (err < 0)
		return ctl_cells_failed(c, err);
	if (err)
		return CTL_OK;
	ctl_err("%s: the value is written, and after %u s some members do not have it yet",
		c->what, seconds);
	return CTL_FAILED;
}

/* Can the table have the value? */
static int check_value(const struct ctl_cells *c, const struct put *p)
{
	const char *err = NULL;

	if (p->len > spindle_cell_bytes(&c->t))
		err = ctl_asprintf("%u bytes, and a value of table %u has %u", p->len, c->t.table,
				   spindle_cell_bytes(&c->t));
	else if (p->words && !c->fields.count)
		err = ctl_asprintf("'%s' needs 'fields', because table %u has none", p->word[0],
				   c->t.table);
	else if (p->words && !c->val[CTL_CELLS_FIELDS].set)
		err = check_words(p, &c->fields);
	if (!err)
		return CTL_OK;
	ctl_err("%s: %s", c->what, err);
	return CTL_FAILED;
}

static int put_value(struct ctl_cells *c, const struct put *p)
{
	uint32_t cell = c->val[CTL_CELLS_CELL].num;
	int err = check_value(c, p);

	if (err)
		return err;
	err = p->words ? put_fields(c, p, cell) : spindle_cell_put(&c->t, cell, p->value, p->len);
	if (err)
		return ctl_cells_failed(c, err);
	return p->val[PUT_TIMEOUT].set ? wait_for_members(c, p->val[PUT_TIMEOUT].num) : CTL_OK;
}

/**
 * ctl_table_put() - put a value into a cell
 * @a: arguments
 *
 * Return: exit code
 */
int ctl_table_put(struct ctl_args *a)
{
	struct ctl_cells *c = ctl_alloc(sizeof(*c));
	struct put *p = ctl_alloc(sizeof(*p));
	int rc = take_words(a, p);

	c->what = "table put";
	memcpy(c->val, p->val, sizeof(c->val));
	if (!rc)
		rc = ctl_cells_check(a, c);
	if (!rc && !c->val[CTL_CELLS_CELL].set)
		rc = ctl_usage(a, "'cell' is missing");
	if (!rc)
		rc = take_value(a, p, &c->fields);
	if (!rc)
		rc = ctl_cells_attach(c, SPINDLE_TABLE_WRITE);
	if (rc)
		return rc;
	rc = put_value(c, p);
	spindle_table_detach(&c->t);
	return rc;
}
