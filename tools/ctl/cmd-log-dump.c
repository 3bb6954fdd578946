// SPDX-License-Identifier: GPL-2.0-only
/* spindle-ctl log dump: a line for each message. See cmd-log.c. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "cmd-log.h"
#include "common/util.h"

#define NS_PER_S	1000000000ULL

/* Keys of "log dump". */
enum {
	DUMP_FROM,
	DUMP_TO,
	DUMP_SINCE,
	DUMP_VALS
};

static bool is_text(const struct spindle_log_msg *m)
{
	const unsigned char *p = m->data;
	uint32_t i;

	for (i = 0; i < m->len; i++)
		if (p[i] < ' ' || p[i] > '~')
			return false;
	return m->len;
}

static char *hex_of(const struct spindle_log_msg *m)
{
	static const char digits[] = "0123456789abcdef";
	const unsigned char *p = m->data;
	char *text = ctl_alloc(2 * (size_t)m->len + 1);
	size_t i;

	for (i = 0; i < m->len; i++) {
		text[2 * i] = digits[p[i] >> 4];
		text[2 * i + 1] = digits[p[i] & 15];
	}
	return text;
}

static void dump_json(const struct spindle_log_msg *m)
{
	struct json_object *obj = json_object_new_object();

	ctl_json_add(obj, "lsn", ctl_json_num(m->lsn));
	ctl_json_add(obj, "era", ctl_json_num(m->era));
	ctl_json_add(obj, "vid", ctl_json_num(m->vid));
	ctl_json_str(obj, "time", ctl_log_time(m->time));
	ctl_json_add(obj, "node", ctl_json_num(m->node));
	ctl_json_add(obj, "sender", ctl_json_num(m->sender));
	ctl_json_add(obj, "slot", ctl_json_num(m->slot));
	ctl_json_add(obj, "flags", ctl_json_num(m->flags));
	ctl_json_add(obj, "len", ctl_json_num(m->len));
	if (is_text(m))
		ctl_json_add(obj, "text", json_object_new_string_len(m->data, (int)m->len));
	else
		ctl_json_str(obj, "hex", hex_of(m));
	ctl_json_print(obj);
}

static void dump_text(const struct spindle_log_msg *m)
{
	printf("lsn %llu  era %llu  vid %llu  node %u  slot %llu  len %u",
	       (unsigned long long)m->lsn, (unsigned long long)m->era, (unsigned long long)m->vid,
	       m->node, (unsigned long long)m->slot, m->len);
	if (ctl_opts.verbose)
		printf("  sender %u  flags %u  time %s", m->sender, m->flags,
		       ctl_log_time(m->time));
	if (is_text(m))
		printf("  \"%.*s\"", (int)m->len, (const char *)m->data);
	else if (m->len)
		printf("  %s", hex_of(m));
	putchar('\n');
}

static void dump_lost(const struct spindle_log_msg *m)
{
	struct json_object *obj;

	if (!ctl_opts.json) {
		printf("damaged  lsn %s\n", ctl_log_range(m->lsn, m->next));
		return;
	}
	obj = json_object_new_object();
	ctl_json_add(obj, "damaged", ctl_log_range_json(m->lsn, m->next));
	ctl_json_print(obj);
}

/* A log is longer than memory, so a line frees what it took. */
static void dump_line(const struct spindle_log_msg *m, int n)
{
	struct ctl_pool pool = { 0 };

	ctl_pool_use(&pool);
	if (n != 1)
		dump_lost(m);
	else if (ctl_opts.json)
		dump_json(m);
	else
		dump_text(m);
	ctl_pool_use(NULL);
	ctl_pool_drop(&pool);
}

/* Dump a message or a damaged range, of which nothing from @end on is asked for. */
static void dump_one(struct look *l, struct spindle_log_msg *m, int n, uint64_t end)
{
	if (n != 1 && m->next > end)
		m->next = end;
	/* Lines on the terminal of the bar show the progress themselves. */
	if (!l->work.total && !isatty(STDOUT_FILENO))
		ctl_log_reads(l, m->lsn, end);
	dump_line(m, n);
	ctl_log_is_at(l, m->next);
}

/* Dump up to the position @end. Damage on the way is a failure, and does not end the command. */
static int dump(struct look *l, uint64_t end)
{
	struct spindle_log_msg m;
	int rc = CTL_OK, n;

	while ((n = spindle_log_read(l->log, &m)) == 1 || n == -EUCLEAN) {
		if (m.lsn >= end)
			return rc;
		if (n != 1)
			rc = CTL_FAILED;
		dump_one(l, &m, n, end);
	}
	return n ? ctl_log_failed(l, n) : rc;
}

/* A point in time: seconds since 1970, or a date with or without a time of day. */
static bool parse_time(const char *text, uint64_t *ns)
{
	static const char *const form[] = { "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M:%S", "%Y-%m-%d" };
	unsigned int i;

	if (!text[strspn(text, "0123456789")]) {
		if (ctl_num_parse(text, UINT64_MAX / NS_PER_S, false, ns))
			return false;
		*ns *= NS_PER_S;
		return true;
	}
	for (i = 0; i < CTL_ARRAY_SIZE(form); i++) {
		struct tm tm = { .tm_isdst = -1 };
		const char *end = strptime(text, form[i], &tm);
		time_t seconds;

		if (!end || (*end && strcmp(end, "Z")))
			continue;
		seconds = *end ? timegm(&tm) : mktime(&tm);
		if (seconds < 0 || (uint64_t)seconds > UINT64_MAX / NS_PER_S)
			return false;
		*ns = (uint64_t)seconds * NS_PER_S;
		return true;
	}
	return false;
}

static int check_dump(struct ctl_args *a, const struct ctl_val *val, uint64_t *since)
{
	if (val[DUMP_SINCE].set && val[DUMP_FROM].set)
		return ctl_usage(a, "'from' or 'since', not both");
	if (val[DUMP_SINCE].set && !parse_time(val[DUMP_SINCE].str, since))
		return ctl_usage(a, "since '%s': neither like 2026-11-29, 2026-11-29T12:00:00 or "
				 "2026-11-29T12:00:00Z, nor seconds since 1970",
				 val[DUMP_SINCE].str);
	return CTL_OK;
}

/* Go to the first message that is asked for. */
static int go_to(const struct look *l, const struct ctl_val *val, uint64_t since)
{
	const struct spindle_log_info *info = &l->info;
	int err = 0;

	if (val[DUMP_SINCE].set)
		err = spindle_log_find_time(l->log, since);
	else if (val[DUMP_FROM].set)
		err = spindle_log_seek(l->log, val[DUMP_FROM].num);
	if (err != -ESTALE && err != -ERANGE)
		return err ? ctl_log_failed(l, err) : CTL_OK;
	ctl_err("%s: %s: %s; there is: %s", l->what, l->dir, spindle_log_strerror(err),
		ctl_log_range(info->low, info->next));
	return CTL_FAILED;
}

/**
 * ctl_log_dump() - spindle-ctl log dump
 * @a: words of the command line
 *
 * Return: exit code
 */
int ctl_log_dump(struct ctl_args *a)
{
	static const struct ctl_key keys[] = {
		[DUMP_FROM] = CTL_KEY("from", NULL, U64, 0),
		[DUMP_TO] = CTL_KEY("to", NULL, U64, 0),
		[DUMP_SINCE] = CTL_KEY("since", NULL, STR, 0),
		{ .name = NULL }
	};
	struct ctl_val val[DUMP_VALS] = { 0 };
	struct look l = { 0 };
	uint64_t since = 0, end;
	int rc = ctl_log_dir(a, &l);

	if (!rc)
		rc = ctl_args_keys(a, keys, val, 0);
	if (!rc)
		rc = check_dump(a, val, &since);
	if (!rc)
		rc = ctl_log_open(&l);
	if (rc)
		return rc;
	end = l.info.next;
	if (val[DUMP_TO].set && val[DUMP_TO].num < end)
		end = val[DUMP_TO].num + 1;
	rc = go_to(&l, val, since);
	if (!rc)
		rc = dump(&l, end);
	ctl_bar_clear();
	spindle_log_close(l.log);
	return rc;
}
