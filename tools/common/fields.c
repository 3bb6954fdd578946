// SPDX-License-Identifier: GPL-2.0-only
/* Fields of a cell. See fields.h. */
#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <linux/spindle_table.h>

#include "fields.h"
#include "key.h"
#include "util.h"

/* Bytes of the longest value of any table. */
#define VALUE_MAX	(SPINDLE_MAX_CELL - (uint32_t)sizeof(struct spindle_cell_seal))

/* Bytes that a value shows as one word. */
#define WORD	8

#define TYPES	"u8, u16, u32, u64, i8, i16, i32, i64, or sN, a string of N bytes"

/* ---- names and types -------------------------------------------------- */

static const char *name_parse(const char *name)
{
	const char *c = name;

	if (!isalpha((unsigned char)*c) && *c != '_')
		return "a name begins with a letter";
	while (isalnum((unsigned char)*c) || *c == '_' || *c == '-')
		c++;
	if (*c)
		return "a name has letters, digits, - and _";
	if (c - name > CTL_CELL_NAME)
		return ctl_asprintf("a name has %d characters at most", CTL_CELL_NAME);
	return NULL;
}

static const char *type_parse(const char *type, struct ctl_cell_field *field)
{
	uint64_t num;

	/* The type is printed again, because u08 and u0x8 are no types. */
	if (!*type || !strchr("uis", *type) ||
	    ctl_num_parse(type + 1, UINT32_MAX, false, &num) ||
	    strcmp(type + 1, ctl_asprintf("%llu", (unsigned long long)num)))
		return ctl_asprintf("there is no type '%s'; there is: " TYPES, type);
	field->type = *type;
	if (*type == 's') {
		if (!num || num > VALUE_MAX)
			return ctl_asprintf("a string has 1 to %u bytes", VALUE_MAX);
		field->size = num;
		return NULL;
	}
	if (num != 8 && num != 16 && num != 32 && num != 64)
		return ctl_asprintf("there is no type '%s'; there is: " TYPES, type);
	field->size = num / 8;
	return NULL;
}

/* Read the offset, or take the next one that suits the type. @end: where the last field ended. */
static const char *place_parse(const char *at, uint32_t end, struct ctl_cell_field *field)
{
	uint32_t align = field->type == 's' ? 1 : field->size;
	const char *err;
	uint64_t num;

	field->at = (end + align - 1) / align * align;
	if (at) {
		err = ctl_num_parse(at, VALUE_MAX, false, &num);
		if (err)
			return ctl_asprintf("offset '%s': %s", at, err);
		field->at = num;
	}
	if (field->at + field->size > VALUE_MAX)
		return ctl_asprintf("the field ends at byte %u, and no value has more than %u",
				    field->at + field->size, VALUE_MAX);
	return NULL;
}

/* Is there a field of the same name, or one that has some of the same bytes? */
static const char *clash(const struct ctl_cell_fields *fields, const struct ctl_cell_field *field)
{
	const struct ctl_cell_field *f = fields->field;

	for (; f < fields->field + fields->count; f++) {
		if (!strcmp(f->name, field->name))
			return "there are two fields of this name";
		if (f->at < field->at + field->size && field->at < f->at + f->size)
			return ctl_asprintf("the field shares bytes with field '%s'", f->name);
	}
	return NULL;
}

/* Read one field. @text is its own copy. */
static const char *field_parse(char *text, struct ctl_cell_fields *fields, uint32_t end)
{
	struct ctl_cell_field field = { 0 };
	const char *err, *at;

	field.name = strsep(&text, ":");
	if (!text)
		return "NAME:TYPE is missing a ':'";
	at = strchr(text, '@') ? strchr(text, '@') + 1 : NULL;
	text = strsep(&text, "@");
	err = name_parse(field.name);
	if (!err)
		err = type_parse(text, &field);
	if (!err)
		err = place_parse(at, end, &field);
	if (!err)
		err = clash(fields, &field);
	if (err)
		return err;
	fields->field[fields->count++] = field;
	return NULL;
}

/**
 * ctl_fields_parse() - read a list of fields
 * @text: NAME:TYPE[@OFFSET], with commas in between
 * @fields: out: the fields
 *
 * A number without an offset is aligned to its size, as compilers align it.
 *
 * Return: NULL, or what is wrong
 */
const char *ctl_fields_parse(const char *text, struct ctl_cell_fields *fields)
{
	char *list = ctl_strdup(text), *word, *copy;
	const char *err;
	uint32_t end = 0;

	memset(fields, 0, sizeof(*fields));
	while ((word = strsep(&list, ","))) {
		if (fields->count == CTL_CELL_FIELDS)
			return ctl_asprintf("there are more than %d fields", CTL_CELL_FIELDS);
		copy = ctl_strdup(word);
		err = field_parse(copy, fields, end);
		if (err)
			return ctl_asprintf("field '%s': %s", word, err);
		end = fields->field[fields->count - 1].at + fields->field[fields->count - 1].size;
	}
	return NULL;
}

/**
 * ctl_fields_fit() - do the fields fit into the values of a table?
 * @fields: fields
 * @bytes: bytes of a value
 *
 * Return: NULL, or which field does not, and the limit
 */
const char *ctl_fields_fit(const struct ctl_cell_fields *fields, uint32_t bytes)
{
	const struct ctl_cell_field *f = fields->field;

	for (; f < fields->field + fields->count; f++)
		if (f->at + f->size > bytes)
			return ctl_asprintf("field '%s' ends at byte %u, and a value has %u",
					    f->name, f->at + f->size, bytes);
	return NULL;
}

/* ---- values of fields ------------------------------------------------- */

static uint64_t load(const struct ctl_cell_field *field, const unsigned char *value)
{
	uint64_t word;

	/* An offset of the user need not be aligned. */
	memcpy(&word, value + field->at, field->size < sizeof(word) ? field->size : sizeof(word));
	return ctl_load(&word, field->size);
}

static int64_t load_signed(const struct ctl_cell_field *field, const unsigned char *value)
{
	unsigned int shift = 64 - 8 * field->size;

	return (int64_t)(load(field, value) << shift) >> shift;
}

/* The string of a field: all bytes in front of the first zero byte. */
static char *string(const struct ctl_cell_field *field, const unsigned char *value)
{
	return ctl_asprintf("%.*s", (int)field->size, (const char *)value + field->at);
}

/* A number from -@max - 1 to @max. */
static const char *signed_parse(const char *text, uint64_t max, uint64_t *num)
{
	bool minus = *text == '-';

	if (ctl_num_parse(text + minus, max + minus, false, num))
		return ctl_asprintf("not a number from -%llu to %llu", (unsigned long long)max + 1,
				    (unsigned long long)max);
	if (minus)
		*num = -*num;
	return NULL;
}

static const char *value_parse(const struct ctl_cell_field *field, const char *text,
			       unsigned char *value)
{
	uint64_t max = UINT64_MAX >> (64 - 8 * (field->size < 8 ? field->size : 8)), num;
	const char *err;

	if (field->type == 's') {
		if (strlen(text) > field->size)
			return ctl_asprintf("%zu bytes, and the field has %u", strlen(text),
					    field->size);
		memset(value + field->at, 0, field->size);
		memcpy(value + field->at, text, strlen(text));
		return NULL;
	}
	err = field->type == 'u' ? ctl_num_parse(text, max, false, &num) :
				   signed_parse(text, max / 2, &num);
	if (err)
		return err;
	ctl_store(&num, field->size, num);
	memcpy(value + field->at, &num, field->size);
	return NULL;
}

static const char *names_of(const struct ctl_cell_fields *fields)
{
	const char *list = "";
	unsigned int i;

	for (i = 0; i < fields->count; i++)
		list = ctl_asprintf("%s%s%s", list, i ? ", " : "", fields->field[i].name);
	return list;
}

/**
 * ctl_fields_take() - read the value of a field
 * @fields: fields
 * @word: NAME=VALUE
 * @value: in and out: the value of the cell
 *
 * Return: NULL, or what is wrong
 */
const char *ctl_fields_take(const struct ctl_cell_fields *fields, const char *word,
			    unsigned char *value)
{
	const char *equals = strchr(word, '='), *err;
	const struct ctl_cell_field *f = fields->field;
	size_t len = equals ? (size_t)(equals - word) : 0;

	for (; equals && f < fields->field + fields->count; f++) {
		if (strlen(f->name) != len || strncmp(f->name, word, len))
			continue;
		err = value_parse(f, equals + 1, value);
		return err ? ctl_asprintf("%s: %s", word, err) : NULL;
	}
	return ctl_asprintf("'%s' sets no field; there is: %s", word, names_of(fields));
}

/**
 * ctl_field_text() - the value of a field as text
 * @field: field
 * @value: value of the cell
 *
 * Return: a number or a string
 */
const char *ctl_field_text(const struct ctl_cell_field *field, const unsigned char *value)
{
	if (field->type == 's')
		return ctl_clean(string(field, value));
	if (field->type == 'i')
		return ctl_asprintf("%lld", (long long)load_signed(field, value));
	return ctl_asprintf("%llu", (unsigned long long)load(field, value));
}

/* JSON is UTF-8, and a process can write any bytes. So what is no UTF-8 becomes '?'. */
static char *utf8(char *text)
{
	unsigned char *c = (unsigned char *)text;
	unsigned int len;

	for (; *c; c += len ? len : 1) {
		len = ctl_utf8_len(c);
		if (!len)
			*c = '?';
	}
	return text;
}

/**
 * ctl_field_json() - the value of a field as JSON
 * @field: field
 * @value: value of the cell
 *
 * Return: a number or a string
 */
struct json_object *ctl_field_json(const struct ctl_cell_field *field, const unsigned char *value)
{
	if (field->type == 's')
		return json_object_new_string(utf8(string(field, value)));
	if (field->type == 'i')
		return json_object_new_int64(load_signed(field, value));
	return json_object_new_uint64(load(field, value));
}

/* ---- values without fields -------------------------------------------- */

/* Bytes up to the last one that is not zero. */
static uint32_t used(const unsigned char *value, uint32_t len)
{
	while (len && !value[len - 1])
		len--;
	return len;
}

/**
 * ctl_value_text() - a value as text
 * @value: value
 * @len: bytes of @value
 *
 * Return: the text; NULL: the value has no text, or other bytes than printable ones in front of
 * the zero bytes at its end
 */
const char *ctl_value_text(const unsigned char *value, uint32_t len)
{
	uint32_t i;

	len = used(value, len);
	for (i = 0; i < len; i++)
		if (value[i] < ' ' || value[i] > '~')
			return NULL;
	return len ? ctl_asprintf("%.*s", (int)len, (const char *)value) : NULL;
}

/**
 * ctl_value_hex() - a value as bytes in hexadecimal
 * @value: value
 * @len: bytes of @value
 *
 * Return: groups of 8 bytes, without the groups of zeroes at the end; ctl_value_unhex() reads them
 */
const char *ctl_value_hex(const unsigned char *value, uint32_t len)
{
	uint32_t groups = (used(value, len) + WORD - 1) / WORD, i;
	char *text, *to;

	if (!groups)
		groups = 1;
	text = ctl_alloc(groups * (2 * WORD + 1) + 1);
	to = text;
	for (i = 0; i < groups * WORD && i < len; i++)
		to += sprintf(to, "%s%02x", i && !(i % WORD) ? " " : "", value[i]);
	return text;
}

static int digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c ? strchr(digits, tolower((unsigned char)c)) : NULL;

	return at ? (int)(at - digits) : -1;
}

/**
 * ctl_value_unhex() - read bytes in hexadecimal
 * @text: two digits for each byte; blanks may be between bytes
 * @value: out: the bytes
 * @max: room of @value
 * @len: out: how many
 *
 * Return: NULL, or what is wrong
 */
const char *ctl_value_unhex(const char *text, unsigned char *value, uint32_t max, uint32_t *len)
{
	*len = 0;
	for (; *text; text += 2) {
		while (*text == ' ')
			text++;
		if (!*text)
			break;
		if (digit(text[0]) < 0 || digit(text[1]) < 0)
			return "two digits from 0 to f for each byte";
		if (*len == max)
			return ctl_asprintf("more than %u bytes, and no value has more", max);
		value[(*len)++] = digit(text[0]) << 4 | digit(text[1]);
	}
	return *len ? NULL : "two digits from 0 to f for each byte";
}
