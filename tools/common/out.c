// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables and JSON. See out.h.
 */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/time.h>
#include <time.h>

#include "out.h"
#include "util.h"

/* The width in characters. Continuation bytes of UTF-8 do not count. */
static int width(const char *s)
{
	int n = 0;

	for (; *s; s++)
		n += ((unsigned char)*s & 0xc0) != 0x80;
	return n;
}

/* Add a cell. A row ends when it has a cell in each column. */
void ctl_table_cell(struct ctl_table *t, const char *text)
{
	t->cell = ctl_grow(t->cell, t->cells, sizeof(*t->cell));
	t->cell[t->cells++] = *text ? ctl_clean(text) : "-";
}

void ctl_table_num(struct ctl_table *t, uint64_t num)
{
	ctl_table_cell(t, ctl_asprintf("%llu", (unsigned long long)num));
}

/* A measured number with about three digits; NAN becomes an empty text. */
const char *ctl_digits(double num)
{
	return isnan(num) ? "" : ctl_asprintf("%.*f", num < 10 ? 2 : num < 100 ? 1 : 0, num);
}

/* Add columns to the head of the table, like "NODE ADDRESS". */
void ctl_table_head(struct ctl_table *t, const char *words)
{
	char *list = ctl_strdup(words), *word, *c;

	while ((word = strsep(&list, " "))) {
		for (c = word; *c; c++)
			*c = toupper((unsigned char)*c);
		ctl_table_cell(t, word);
		t->columns++;
	}
}

/* Does the column have numbers only? Numbers are aligned on the right, words on the left. */
static bool is_number(const struct ctl_table *t, unsigned int column)
{
	unsigned int i;
	bool any = false;

	for (i = t->columns + column; i < t->cells; i += t->columns) {
		if (!strcmp(t->cell[i], "-"))
			continue;
		if (t->cell[i][strspn(t->cell[i], "0123456789.")])
			return false;
		any = true;
	}
	return any;
}

void ctl_table_write(const struct ctl_table *t, FILE *to)
{
	int wide[CTL_COLUMNS_MAX] = { 0 };
	bool number[CTL_COLUMNS_MAX];
	unsigned int i, c;
	int pad;

	if (!t->columns || t->columns > CTL_COLUMNS_MAX)
		return;
	for (c = 0; c < t->columns; c++)
		number[c] = is_number(t, c);
	for (i = 0; i < t->cells; i++)
		if (width(t->cell[i]) > wide[i % t->columns])
			wide[i % t->columns] = width(t->cell[i]);
	for (i = 0; i < t->cells; i++) {
		c = i % t->columns;
		pad = wide[c] - width(t->cell[i]);
		fprintf(to, "%*s%*s%s", c ? 2 : (int)t->indent, "", number[c] ? pad : 0, "",
			t->cell[i]);
		if (c + 1 == t->columns)
			fputc('\n', to);
		else
			fprintf(to, "%*s", number[c] ? 0 : pad, "");
	}
}

void ctl_table_print(const struct ctl_table *t)
{
	ctl_table_write(t, stdout);
}

/* Local time with milliseconds: with a blank in it for people, as in RFC 3339 for programs. */
const char *ctl_now(bool people)
{
	static char buf[96];
	char zone[8], day[40];
	struct timeval tv;
	struct tm tm;

	gettimeofday(&tv, NULL);
	localtime_r(&tv.tv_sec, &tm);
	strftime(day, sizeof(day), people ? "%F %T" : "%FT%T", &tm);
	strftime(zone, sizeof(zone), "%z", &tm);
	if (people)
		snprintf(buf, sizeof(buf), "%s.%03ld", day, (long)tv.tv_usec / 1000);
	else
		snprintf(buf, sizeof(buf), "%s.%03ld%.3s:%s", day, (long)tv.tv_usec / 1000,
			 zone, zone + 3);
	return buf;
}

struct json_object *ctl_json_num(uint64_t num)
{
	return json_object_new_uint64(num);
}

/* A measured number. NAN becomes null. */
struct json_object *ctl_json_real(double num)
{
	if (isnan(num))
		return NULL;
	return json_object_new_double_s(num, ctl_asprintf("%.4f", num));
}

/* Add a value under a word. In JSON, "max-msg" is max_msg, because jq needs no quotes for that. */
void ctl_json_add(struct json_object *obj, const char *word, struct json_object *val)
{
	char *key = ctl_strdup(word), *c;

	for (c = key; *c; c++)
		if (*c == '-')
			*c = '_';
	json_object_object_add(obj, key, val);
	ctl_free(key);
}

void ctl_json_str(struct json_object *obj, const char *word, const char *val)
{
	ctl_json_add(obj, word, json_object_new_string(val));
}

/* Add a value if it is set. An empty name and a value that means "no value" are left out. */
void ctl_json_val(struct json_object *obj, const struct ctl_key *key, const struct ctl_val *val)
{
	if (!val->set || (key->kind == CTL_STR && !*val->str) || ctl_val_none(key, val))
		return;
	switch (key->kind) {
	case CTL_ENUM:
	case CTL_STR:
	case CTL_ADDR:
		ctl_json_str(obj, key->name, ctl_val_text(key, val));
		break;
	case CTL_BOOL:
	case CTL_SWITCH:
		ctl_json_add(obj, key->name, json_object_new_boolean(val->num));
		break;
	default:
		ctl_json_add(obj, key->name, ctl_json_num(val->num));
	}
}

void ctl_json_vals(struct json_object *obj, const struct ctl_key *keys,
		   const struct ctl_val *val)
{
	for (; keys->name; keys++, val++)
		ctl_json_val(obj, keys, val);
}

void ctl_json_ids(struct json_object *obj, const char *word, const struct ctl_ids *ids)
{
	struct json_object *list = json_object_new_array();
	unsigned int i;

	for (i = 0; i < ids->count; i++)
		json_object_array_add(list, ctl_json_num(ids->id[i]));
	ctl_json_add(obj, word, list);
}

/* Print and free an object: on one line, or indented with -p. */
void ctl_json_print(struct json_object *obj)
{
	int flags = JSON_C_TO_STRING_PLAIN;

	if (ctl_opts.pretty)
		flags = JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_SPACED;
	puts(json_object_to_json_string_ext(obj, flags | JSON_C_TO_STRING_NOSLASHESCAPE));
	json_object_put(obj);
}
