// SPDX-License-Identifier: GPL-2.0-only
/* Output of results. See out.h. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/bar.h"
#include "common/out.h"
#include "common/util.h"
#include "out.h"

static const struct cast_opts *opts;

void cast_out_init(const struct cast_opts *o)
{
	opts = o;
}

/* Print a line for people. */
void cast_out_say(const char *fmt, ...)
{
	va_list ap;

	if (opts->quiet || opts->json)
		return;
	ctl_bar_clear();
	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

/* ---- JSON ------------------------------------------------------------- */

/*
 * Add a name to JSON. Bytes that are not UTF-8 are replaced, and the whole name is added in
 * hexadecimal as well then.
 */
static void add_name(struct json_object *obj, const char *name)
{
	char *text = ctl_alloc(3 * strlen(name) + 1), *t = text;
	char *hex = ctl_alloc(2 * strlen(name) + 1);
	const unsigned char *s = (const unsigned char *)name;
	bool clean = true;
	unsigned int n;
	size_t i;

	for (; *s; s += n) {
		n = ctl_utf8_len(s);
		memcpy(t, n ? (const char *)s : "\xef\xbf\xbd", n ? n : 3);
		t += n ? n : 3;
		clean &= n;
		n = n ? n : 1;
	}
	json_object_object_add(obj, "file", json_object_new_string(text));
	for (i = 0; name[i]; i++)
		snprintf(hex + 2 * i, 3, "%02x", (unsigned char)name[i]);
	if (!clean)
		json_object_object_add(obj, "file-hex", json_object_new_string(hex));
	ctl_free(text);
	ctl_free(hex);
}

/**
 * cast_out_file() - print the result of a file at a member, if JSON is wanted
 * @e: file
 * @node: member
 * @say: result
 * @ns: duration of the transfer; 0: not known
 */
void cast_out_file(const struct cast_entry *e, uint32_t node, const struct cast_say *say,
		   uint64_t ns)
{
	static const char * const words[] = {
		[CAST_NO] = "failed", [CAST_YES] = "ok", [CAST_HAD] = "had",
	};
	struct json_object *obj;
	char crc[16];

	if (!opts->json)
		return;
	obj = json_object_new_object();
	add_name(obj, e->name);
	ctl_json_add(obj, "size", ctl_json_num(e->size));
	snprintf(crc, sizeof(crc), "%08x", e->crc);
	ctl_json_str(obj, "crc32c", crc);
	ctl_json_add(obj, "node", ctl_json_num(node));
	ctl_json_str(obj, "result", words[say->verdict]);
	if (say->verdict == CAST_NO)
		ctl_json_str(obj, "error", ctl_clean(say->why));
	if (ns)
		ctl_json_add(obj, "ns", ctl_json_num(ns));
	ctl_bar_clear();
	ctl_json_print(obj);
	fflush(stdout);
}

/**
 * cast_out_failures() - print the failures of a member, with one line for files of the same reason
 * @m: files
 * @node: member; 0: this one
 * @say: result of each file
 */
void cast_out_failures(const struct cast_manifest *m, uint32_t node, const struct cast_say *say)
{
	uint32_t i, k, more;
	char who[24] = "";

	if (node)
		snprintf(who, sizeof(who), "node %u: ", node);
	for (i = 0; i < m->count; i = k) {
		k = i + 1;
		if (say[i].verdict != CAST_NO)
			continue;
		for (more = 0; k < m->count && say[k].verdict == CAST_NO &&
		     !strcmp(say[k].why, say[i].why); k++)
			more++;
		if (more)
			ctl_err("%s%s and %u more: %s", who, ctl_clean(m->entry[i].name), more,
				ctl_clean(say[i].why));
		else
			ctl_err("%s%s: %s", who, ctl_clean(m->entry[i].name),
				ctl_clean(say[i].why));
	}
}
