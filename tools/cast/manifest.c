// SPDX-License-Identifier: GPL-2.0-only
/* Messages between spindle-cast and spindle-recv. See manifest.h. */
#include <endian.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "common/util.h"
#include "manifest.h"

#define MAGIC		0x43505330U	/* "0SPC" */
#define HEADER		24U
#define ENTRY		32U		/* without the name */
#define SAY		8U		/* without the text */
#define COMPONENT_MAX	255U

/* ---- names ------------------------------------------------------------ */

/**
 * cast_name_check() - is the name of a file safe below a receiver's directory?
 * @name: name, of @len bytes and a NUL
 * @len: length of the name
 *
 * Return: NULL, or what is wrong
 */
const char *cast_name_check(const char *name, size_t len)
{
	size_t i, start = 0, part;

	if (!len)
		return "a file without a name";
	if (len > CAST_NAME_MAX)
		return "a name that is too long";
	if (strlen(name) != len)
		return "a name with a NUL in it";
	if (name[0] == '/')
		return "an absolute name";
	for (i = 0; i <= len; i++) {
		if (i < len && name[i] != '/')
			continue;
		part = i - start;
		if (!part || (part == 1 && name[start] == '.'))
			return "a name with an empty part";
		if (part == 2 && name[start] == '.' && name[start + 1] == '.')
			return "a name with '..' in it";
		if (part > COMPONENT_MAX)
			return "a name with a part that is too long";
		start = i + 1;
	}
	return NULL;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char * const *)a, *(char * const *)b);
}

/* Names must be unique, and no file may have the name of another file's directory. */
static const char *check_names(const struct cast_manifest *m)
{
	char **sorted = ctl_alloc((m->count + 1) * sizeof(*sorted));
	const char *err = NULL, *slash;
	char *parent;
	uint32_t i;

	for (i = 0; i < m->count; i++)
		sorted[i] = m->entry[i].name;
	qsort(sorted, m->count, sizeof(*sorted), by_name);
	for (i = 1; i < m->count && !err; i++)
		if (!strcmp(sorted[i - 1], sorted[i]))
			err = "a name that comes twice";
	for (i = 0; i < m->count && !err; i++) {
		parent = ctl_strdup(sorted[i]);
		while (!err && (slash = strrchr(parent, '/'))) {
			parent[slash - parent] = '\0';
			/*
			 * Search all names. The neighbour is not enough, because "a-b" sorts
			 * between "a" and "a/b".
			 */
			if (bsearch(&parent, sorted, m->count, sizeof(*sorted), by_name))
				err = "a file that is a directory of another one";
		}
		ctl_free(parent);
	}
	ctl_free(sorted);
	return err;
}

/* ---- writing ---------------------------------------------------------- */

struct out {
	unsigned char *data;
	size_t len;
};

static void put(struct out *o, const void *bytes, size_t len)
{
	memcpy(o->data + o->len, bytes, len);
	o->len += len;
}

/* Write a number of 2, 4 or 8 bytes, the least significant byte first. */
static void put_le(struct out *o, uint64_t num, size_t bytes)
{
	num = htole64(num);
	put(o, &num, bytes);
}

static void put_text(struct out *o, const char *text)
{
	size_t len = strlen(text);

	put_le(o, len, 4);
	put(o, text, len);
}

static void put_header(struct out *o, uint32_t kind, uint64_t batch, uint32_t count,
		       const char *why)
{
	put_le(o, MAGIC, 4);
	put_le(o, CAST_VERSION, 2);
	put_le(o, kind, 2);
	put_le(o, batch, 8);
	put_le(o, count, 4);
	put_text(o, why);
}

/**
 * cast_manifest_pack() - convert a manifest to bytes
 * @m: manifest
 * @len: out: bytes
 *
 * Return: the bytes
 */
void *cast_manifest_pack(const struct cast_manifest *m, size_t *len)
{
	size_t bytes = HEADER;
	struct out o = { 0 };
	uint32_t i;

	for (i = 0; i < m->count; i++)
		bytes += ENTRY + strlen(m->entry[i].name);
	o.data = ctl_alloc(bytes);
	put_header(&o, CAST_MANIFEST, m->batch, m->count, "");
	for (i = 0; i < m->count; i++) {
		const struct cast_entry *e = &m->entry[i];

		put_le(&o, e->size, 8);
		put_le(&o, e->sec, 8);
		put_le(&o, e->nsec, 4);
		put_le(&o, e->mode, 4);
		put_le(&o, e->crc, 4);
		put_text(&o, e->name);
	}
	*len = o.len;
	return o.data;
}

/**
 * cast_answer_pack() - convert an answer to bytes
 * @a: answer
 * @len: out: bytes
 *
 * Return: the bytes
 */
void *cast_answer_pack(const struct cast_answer *a, size_t *len)
{
	size_t bytes = HEADER + strlen(a->why);
	struct out o = { 0 };
	uint32_t i;

	for (i = 0; i < a->count; i++)
		bytes += SAY + strlen(a->say[i].why);
	o.data = ctl_alloc(bytes);
	put_header(&o, a->kind, a->batch, a->count, a->why);
	for (i = 0; i < a->count; i++) {
		put_le(&o, a->say[i].verdict, 4);
		put_text(&o, a->say[i].why);
	}
	*len = o.len;
	return o.data;
}

/* ---- reading ---------------------------------------------------------- */

/* The bytes that are left to read. After the first missing byte, all values are 0. */
struct in {
	const unsigned char *data;
	size_t left;
	bool bad;
};

static void get(struct in *in, void *bytes, size_t len)
{
	if (in->bad || in->left < len) {
		in->bad = true;
		memset(bytes, 0, len);
		return;
	}
	memcpy(bytes, in->data, len);
	in->data += len;
	in->left -= len;
}

static uint64_t get_le(struct in *in, size_t bytes)
{
	uint64_t num = 0;

	get(in, &num, bytes);
	return le64toh(num);
}

/* Read a string of at most @max bytes, and add a NUL. */
static char *get_text(struct in *in, uint32_t max, uint32_t *len)
{
	char *text;

	*len = get_le(in, 4);
	if (in->bad || *len > max || *len > in->left) {
		in->bad = true;
		*len = 0;
	}
	text = ctl_alloc(*len + 1);
	get(in, text, *len);
	return text;
}

static const char *get_header(struct in *in, uint32_t kind, uint32_t least, uint64_t *batch,
			      uint32_t *count, const char **why)
{
	uint32_t magic = get_le(in, 4), version = get_le(in, 2), is, len;

	is = get_le(in, 2);
	*batch = get_le(in, 8);
	*count = get_le(in, 4);
	*why = get_text(in, CAST_WHY_MAX, &len);
	if (in->bad)
		return "a text that is cut off";
	if (magic != MAGIC)
		return "something that is no text of spindle-cast or spindle-recv";
	if (version != CAST_VERSION)
		return "another version; use the same of spindle-cast and spindle-recv";
	if (is != kind)
		return "a text of another kind than is due";
	if (*count > in->left / least)
		return "more files than there can be";
	return NULL;
}

/**
 * cast_manifest_parse() - convert bytes to a manifest
 * @m: out: manifest
 * @data: bytes of another member
 * @len: number of bytes
 *
 * Return: NULL, or what is wrong with the bytes
 */
const char *cast_manifest_parse(struct cast_manifest *m, const void *data, size_t len)
{
	struct in in = { .data = data, .left = len };
	uint32_t i, name_len;
	const char *err, *why;

	memset(m, 0, sizeof(*m));
	err = get_header(&in, CAST_MANIFEST, ENTRY, &m->batch, &m->count, &why);
	if (err)
		return err;
	m->entry = ctl_alloc((m->count + 1) * sizeof(*m->entry));
	for (i = 0; i < m->count && !err; i++) {
		struct cast_entry *e = &m->entry[i];

		e->size = get_le(&in, 8);
		e->sec = (int64_t)get_le(&in, 8);
		e->nsec = get_le(&in, 4);
		e->mode = get_le(&in, 4);
		e->crc = get_le(&in, 4);
		e->name = get_text(&in, CAST_NAME_MAX, &name_len);
		if (in.bad)
			err = "a text that is cut off, or too long a name";
		else if (e->nsec >= 1000000000 || e->size > INT64_MAX)
			err = "a size or a time that cannot be";
		else
			err = cast_name_check(e->name, name_len);
	}
	if (!err && in.left)
		err = "a text with more than is due";
	return err ? err : check_names(m);
}

/**
 * cast_answer_parse() - convert bytes to an answer
 * @a: out: answer
 * @data: bytes of another member
 * @len: number of bytes
 * @kind: expected kind, enum cast_kind
 * @m: manifest that the answer has to be about
 *
 * Return: NULL, or what is wrong with the bytes
 */
const char *cast_answer_parse(struct cast_answer *a, const void *data, size_t len,
			      uint32_t kind, const struct cast_manifest *m)
{
	struct in in = { .data = data, .left = len };
	uint32_t i, text_len;
	const char *err;

	memset(a, 0, sizeof(*a));
	a->kind = kind;
	err = get_header(&in, kind, SAY, &a->batch, &a->count, &a->why);
	if (err)
		return err;
	/* A receiver that could not read the manifest has no answer for the files. */
	if (a->why[0] && !a->count && !in.left)
		return NULL;
	if (a->batch != m->batch || a->count != m->count)
		return "an answer about something else";
	a->say = ctl_alloc((a->count + 1) * sizeof(*a->say));
	for (i = 0; i < a->count; i++) {
		a->say[i].verdict = get_le(&in, 4);
		a->say[i].why = get_text(&in, CAST_WHY_MAX, &text_len);
		if (in.bad)
			return "a text that is cut off";
		if (a->say[i].verdict >= CAST_VERDICTS)
			return "a verdict that is none";
	}
	return in.left ? "a text with more than is due" : NULL;
}
