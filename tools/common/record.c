// SPDX-License-Identifier: GPL-2.0-only
/* Records. See record.h. */
#include <string.h>

#include <netlink/attr.h>
#include <netlink/genl/genl.h>
#include <netlink/msg.h>

#include "names.h"
#include "record.h"
#include "util.h"
#include "wire.h"

/* ---- messages ------------------------------------------------------------- */

/* Entries of a table of attributes. The attributes of all fields, and all counters, are below. */
#define ATTRS	CTL_STATS_MAX
_Static_assert(SPINDLE_A_MAX < ATTRS, "a message has the largest numbers of attributes");

static void get_field(const struct ctl_field *f, void *at, struct nlattr **a)
{
	struct nlattr *attr = a[f->attr];
	uint64_t num = ctl_attr_num(attr);

	switch (f->kind) {
	case CTL_F_NUM:
	case CTL_F_FLAG:
		ctl_store(at, f->size, f->kind == CTL_F_FLAG ? !!num : num);
		break;
	case CTL_F_VAL:
	case CTL_F_SWITCH:
		*(struct ctl_val *)at = (struct ctl_val){ .set = attr, .num = num };
		break;
	case CTL_F_TEXT:
		*(const char **)at = ctl_attr_str(attr);
		break;
	case CTL_F_ADDR:
		ctl_addr_get(at, attr, a[f->attr6]);
		break;
	case CTL_F_IDS:
		((struct ctl_ids *)at)->set = true;
		break;
	case CTL_F_KEYS:
		ctl_attr_vals(f->keys, at, a);
		break;
	case CTL_F_STATS:
		ctl_attr_stats(f->attr ? ctl_nest_attrs(attr, ATTRS - 1) : a, ATTRS - 1, f->names,
			       at);
		break;
	default:
		break;
	}
}

/* Add an attribute to the list that it is an entry of, if there is one. */
static void get_entry(const struct ctl_field *f, void *rec, struct nlattr *attr)
{
	unsigned int *count = (unsigned int *)((char *)rec + f->count);
	void *at = (char *)rec + f->at;
	char *list;

	if (f->kind == CTL_F_IDS) {
		ctl_ids_add(at, ctl_attr_num(attr));
		return;
	}
	/* The field is a pointer to any type. */
	memcpy(&list, at, sizeof(list));
	list = ctl_grow(list, *count, f->size);
	memcpy(at, &list, sizeof(list));
	ctl_record_nest(f->of, list + f->size * (*count)++, attr);
}

static void get_all(const struct ctl_field *fields, void *rec, struct nlattr *head, int len)
{
	struct nlattr *a[ATTRS] = { NULL }, *attr;
	const struct ctl_field *f;
	int rem;

	if (nla_parse(a, ATTRS - 1, head, len, NULL) < 0)
		memset(a, 0, sizeof(a));
	a[0] = NULL;
	for (f = fields; f->kind; f++)
		if (f->attr || f->kind == CTL_F_KEYS || f->kind == CTL_F_STATS)
			get_field(f, (char *)rec + f->at, a);
	nla_for_each_attr(attr, head, len, rem)
		for (f = fields; f->kind; f++)
			if ((f->kind == CTL_F_LIST || f->kind == CTL_F_IDS) && f->attr &&
			    nla_type(attr) == f->attr)
				get_entry(f, rec, attr);
}

/**
 * ctl_record_nest() - read a record from a nest
 * @fields: its fields
 * @rec: out: zeroed record; fields without an attribute stay
 * @nest: the nest; NULL: all attributes are missing
 *
 * A missing number is 0, a missing text is empty.
 */
void ctl_record_nest(const struct ctl_field *fields, void *rec, struct nlattr *nest)
{
	get_all(fields, rec, nest ? nla_data(nest) : NULL, nest ? nla_len(nest) : 0);
}

/* Read a record from the attributes of a message, as ctl_record_nest() does from a nest. */
void ctl_record_msg(const struct ctl_field *fields, void *rec, struct nlmsghdr *nlh)
{
	struct genlmsghdr *genl = genlmsg_valid_hdr(nlh, 0) ? nlmsg_data(nlh) : NULL;

	get_all(fields, rec, genl ? genlmsg_attrdata(genl, 0) : NULL,
		genl ? genlmsg_attrlen(genl, 0) : 0);
}

/* ---- JSON ----------------------------------------------------------------- */

/*
 * The value of a field: whether it is there, its number if it has one, and its text if it has one.
 * The number of a text is 0 if the text is empty.
 */
static struct ctl_val value(const struct ctl_field *f, const void *rec)
{
	const char *base = rec;
	const void *at = base + f->at;
	struct ctl_val v = ctl_val_num(1);

	if (f->kind == CTL_F_VAL || f->kind == CTL_F_SWITCH)
		v = *(const struct ctl_val *)at;
	else if (f->kind == CTL_F_NUM || f->kind == CTL_F_FLAG)
		v.num = ctl_load(at, f->size);
	else if (f->kind == CTL_F_IDS)
		v = (struct ctl_val){ .set = ((const struct ctl_ids *)at)->set,
				      .num = ((const struct ctl_ids *)at)->count };
	else if (f->kind == CTL_F_LIST)
		v.num = *(const unsigned int *)(base + f->count);
	else if (f->kind == CTL_F_ADDR)
		v.str = ctl_addr_text(at);
	else if (f->kind == CTL_F_TEXT || f->kind == CTL_F_MADE)
		v.str = f->make ? f->make(rec) : *(const char *const *)at;
	if (f->kind == CTL_F_TEXT || f->kind == CTL_F_MADE)
		v.num = v.str && *v.str;
	else if (f->names)
		v.str = ctl_name(f->names, v.num);
	if (f->needs && !*(const bool *)(base + f->needs))
		v.set = false;
	return v;
}

static struct json_object *json_of_stats(const struct ctl_names *names,
					 const struct ctl_stats *stats)
{
	struct json_object *obj = json_object_new_object();
	unsigned int i;

	for (i = 0; i < names->count; i++)
		if (names->name[i] && (stats->has & (1ULL << i)))
			ctl_json_add(obj, names->name[i], ctl_json_num(stats->num[i]));
	return obj;
}

static struct json_object *json_of(const struct ctl_field *f, const void *at,
				   const struct ctl_val *v)
{
	switch (f->kind) {
	case CTL_F_FLAG:
	case CTL_F_SWITCH:
		return json_object_new_boolean(v->num);
	case CTL_F_INT:
		return json_object_new_int64(*(const int64_t *)at);
	case CTL_F_REAL:
	case CTL_F_SHARE:
	case CTL_F_RATE:
		return ctl_json_real(*(const double *)at);
	case CTL_F_STATS:
		return json_of_stats(f->names, at);
	case CTL_F_LIST:
		return ctl_record_list(NULL, f->of, *(const void *const *)at, v->num, f->size);
	default:
		return v->str ? json_object_new_string(v->str) : ctl_json_num(v->num);
	}
}

/* Is the word in the list, or is there no list? */
static bool is_picked(const char *list, const char *word)
{
	const char *at = list;
	size_t len = strlen(word);

	while (at && (strncmp(at, word, len) || (at[len] && at[len] != ' '))) {
		at = strchr(at, ' ');
		at += !!at;
	}
	return !list || at;
}

static void add_keys(struct json_object *obj, const char *names, const struct ctl_key *key,
		     const struct ctl_val *val)
{
	for (; key->name; key++, val++)
		if (is_picked(names, key->name))
			ctl_json_val(obj, key, val);
}

/**
 * ctl_record_add() - add the fields of a record to a JSON object
 * @obj: object
 * @names: names of fields, like "node group state"; NULL: all that have one
 * @fields: fields of the record
 * @rec: record
 */
void ctl_record_add(struct json_object *obj, const char *names, const struct ctl_field *fields,
		    const void *rec)
{
	const struct ctl_field *f;

	for (f = fields; f->kind; f++) {
		const void *at = (const char *)rec + f->at;
		struct ctl_val v = value(f, rec);

		if (f->kind == CTL_F_KEYS)
			add_keys(obj, names, f->keys, at);
		else if (!f->name || !is_picked(names, f->name) || !v.set || (f->some && !v.num))
			continue;
		else if (f->kind == CTL_F_IDS)
			ctl_json_ids(obj, f->name, at);
		else
			ctl_json_add(obj, f->name, json_of(f, at, &v));
	}
}

/* A record as a JSON object. The arguments are those of ctl_record_add(). */
struct json_object *ctl_record_json(const char *names, const struct ctl_field *fields,
				    const void *rec)
{
	struct json_object *obj = json_object_new_object();

	ctl_record_add(obj, names, fields, rec);
	return obj;
}

/**
 * ctl_record_list() - records as a JSON array
 * @names: names of fields; NULL: all that have one
 * @fields: fields of a record
 * @array: records
 * @count: entries of @array
 * @size: bytes of an entry
 *
 * Return: the array
 */
struct json_object *ctl_record_list(const char *names, const struct ctl_field *fields,
				    const void *array, size_t count, size_t size)
{
	struct json_object *list = json_object_new_array();
	const char *rec;

	for (rec = array; count--; rec += size)
		json_object_array_add(list, ctl_record_json(names, fields, rec));
	return list;
}

/* ---- text ----------------------------------------------------------------- */

/**
 * ctl_record_text() - write a field for people
 * @f: field
 * @rec: record
 *
 * Return: a text, which is empty if the field is missing
 */
const char *ctl_record_text(const struct ctl_field *f, const void *rec)
{
	const void *at = (const char *)rec + f->at;
	struct ctl_val v = value(f, rec);

	if ((!v.set && f->kind != CTL_F_IDS) || ((f->some || f->dash) && !v.num))
		return "";
	switch (f->kind) {
	case CTL_F_FLAG:
		return v.str ? v.str : v.num ? "yes" : "no";
	case CTL_F_SWITCH:
		return v.num ? "on" : "off";
	case CTL_F_IDS:
		return ctl_ids_text(at);
	case CTL_F_INT:
		return ctl_asprintf("%lld", (long long)*(const int64_t *)at);
	case CTL_F_REAL:
		return ctl_digits(*(const double *)at);
	case CTL_F_SHARE:
		return ctl_asprintf("%.1f", *(const double *)at * 100);
	case CTL_F_RATE:
		return ctl_digits(*(const double *)at / 1000000);
	default:
		return v.str ? v.str : ctl_asprintf("%llu", (unsigned long long)v.num);
	}
}

static const struct ctl_field *find(const struct ctl_field *f, const char *word)
{
	const char *head;

	for (; f->kind; f++) {
		head = f->head ? f->head : f->name;
		if (head && !strcmp(head, word))
			return f;
		if (f->kind == CTL_F_KEYS && ctl_key_find(f->keys, word))
			return f;
	}
	return NULL;
}

/* Add a cell for each counter that has a name, or a column if @stats is NULL. */
static void add_stats(struct ctl_table *t, const struct ctl_names *names,
		      const struct ctl_stats *stats)
{
	unsigned int i;

	for (i = 0; i < names->count; i++) {
		if (!names->name[i])
			continue;
		if (!stats)
			ctl_table_head(t, names->name[i]);
		else if (stats->has & (1ULL << i))
			ctl_table_num(t, stats->num[i]);
		else
			ctl_table_cell(t, "");
	}
}

static void add_cell(struct ctl_table *t, const struct ctl_field *f, const void *rec,
		     const char *word)
{
	const void *at = (const char *)rec + f->at;
	const struct ctl_key *key;

	if (f->kind == CTL_F_STATS) {
		add_stats(t, f->names, at);
	} else if (f->kind == CTL_F_KEYS) {
		key = ctl_key_find(f->keys, word);
		ctl_table_cell(t, ctl_val_text(key, (const struct ctl_val *)at + (key - f->keys)));
	} else {
		ctl_table_cell(t, ctl_record_text(f, rec));
	}
}

static void print_csv(FILE *to, const char *text)
{
	const char *c;

	if (!text[strcspn(text, ",\"\r\n")]) {
		fputs(text, to);
		return;
	}
	fputc('"', to);
	for (c = text; *c; c++) {
		if (*c == '"')
			fputc('"', to);
		fputc(*c, to);
	}
	fputc('"', to);
}

/**
 * ctl_record_csv() - print a row of comma-separated values, with the quotes of RFC 4180
 * @to: file
 * @columns: heads of fields of one value, like "node group state"
 * @fields: fields of the record
 * @rec: record; NULL: print the heads
 */
void ctl_record_csv(FILE *to, const char *columns, const struct ctl_field *fields,
		    const void *rec)
{
	char *list = ctl_strdup(columns), *word;
	const char *before = "";

	while ((word = strsep(&list, " "))) {
		fputs(before, to);
		print_csv(to, rec ? ctl_record_text(find(fields, word), rec) : word);
		before = ",";
	}
	fputc('\n', to);
}

/**
 * ctl_record_cells() - add a cell for each column
 * @t: table
 * @columns: heads of fields, like "node group state"; counters are one word
 * @fields: fields of the record
 * @rec: record; NULL: add the heads
 */
void ctl_record_cells(struct ctl_table *t, const char *columns, const struct ctl_field *fields,
		      const void *rec)
{
	char *list = ctl_strdup(columns), *word;

	while ((word = strsep(&list, " "))) {
		const struct ctl_field *f = find(fields, word);

		if (rec)
			add_cell(t, f, rec, word);
		else if (f->kind == CTL_F_STATS)
			add_stats(t, f->names, NULL);
		else
			ctl_table_head(t, word);
	}
}

/**
 * ctl_record_rows() - add a row for each record
 * @t: table; if it has no columns, it gets them
 * @columns: heads of fields
 * @fields: fields of a record
 * @array: records
 * @count: entries of @array
 * @size: bytes of an entry
 */
void ctl_record_rows(struct ctl_table *t, const char *columns, const struct ctl_field *fields,
		     const void *array, size_t count, size_t size)
{
	const char *rec;

	if (!t->columns)
		ctl_record_cells(t, columns, fields, NULL);
	for (rec = array; count--; rec += size)
		ctl_record_cells(t, columns, fields, rec);
}
