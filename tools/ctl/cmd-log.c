// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl log show|verify|dump|trim|snapshot: the durable log of a subgroup, in its directory.
 * Neither the kernel module nor the process that writes the log is asked.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <spindle/log.h>

#include "args.h"
#include "cmd.h"
#include "common/out.h"
#include "common/util.h"

#define NS_PER_S	1000000000ULL

/* Keys of "log dump". */
enum {
	DUMP_FROM,
	DUMP_TO,
	DUMP_SINCE,
	DUMP_VALS
};

/**
 * struct look - a command at work
 */
struct look {
	/** @what: the command, for messages */
	const char *what;
	/** @dir: directory of the log */
	const char *dir;
	/** @log: the log */
	struct spindle_log *log;
	/** @info: what it is */
	struct spindle_log_info info;
};

static int failed(const struct look *l, int err)
{
	ctl_err("%s: %s: %s", l->what, l->dir, spindle_log_strerror(err));
	return CTL_FAILED;
}

/* The directory is the first word. */
static int take_dir(struct ctl_args *a, struct look *l)
{
	l->what = ctl_asprintf("log %s", a->verb);
	l->dir = ctl_args_next(a);
	return l->dir ? CTL_OK : ctl_usage(a, "the directory is missing");
}

static int no_more(struct ctl_args *a)
{
	const char *word = ctl_args_next(a);

	return word ? ctl_usage(a, "'%s' is not known here", word) : CTL_OK;
}

static int open_log(struct look *l)
{
	int err = spindle_log_open(&l->log, l->dir, 0);

	if (err)
		return failed(l, err);
	spindle_log_info(l->log, &l->info);
	return CTL_OK;
}

/* ---- words ---------------------------------------------------------------- */

/* UTC, because logs of several machines are compared. */
static const char *time_text(uint64_t ns)
{
	time_t seconds = (time_t)(ns / NS_PER_S);
	char text[64];
	struct tm tm;

	if (!gmtime_r(&seconds, &tm) || !strftime(text, sizeof(text), "%FT%T", &tm))
		return "?";
	return ctl_asprintf("%s.%09lluZ", text, (unsigned long long)(ns % NS_PER_S));
}

static const char *lineage_text(const uint8_t *lineage)
{
	char text[33];
	int i;

	for (i = 0; i < 16; i++)
		snprintf(text + 2 * i, 3, "%02x", lineage[i]);
	return ctl_strdup(text);
}

/* Positions without the last one, as people name them. */
static const char *range_text(uint64_t from, uint64_t to)
{
	if (to == from)
		return "none";
	return ctl_asprintf("%llu to %llu", (unsigned long long)from, (unsigned long long)to - 1);
}

static struct json_object *range_json(uint64_t from, uint64_t to)
{
	struct json_object *obj = json_object_new_object();

	ctl_json_add(obj, "first", ctl_json_num(from));
	ctl_json_add(obj, "last", ctl_json_num(to - 1));
	return obj;
}

static struct json_object *damaged_json(const struct look *l)
{
	struct json_object *list = json_object_new_array();
	uint64_t from, to;
	uint32_t i;

	for (i = 0; !spindle_log_damaged(l->log, i, &from, &to); i++)
		json_object_array_add(list, range_json(from, to));
	return list;
}

/* ---- show ----------------------------------------------------------------- */

static struct json_object *epochs_json(const struct look *l)
{
	struct json_object *list = json_object_new_array(), *obj;
	struct spindle_log_epoch e;
	uint32_t i;

	for (i = 0; !spindle_log_epoch(l->log, i, &e); i++) {
		obj = json_object_new_object();
		ctl_json_add(obj, "era", ctl_json_num(e.era));
		ctl_json_add(obj, "vid", ctl_json_num(e.vid));
		ctl_json_add(obj, "lsn", ctl_json_num(e.lsn));
		json_object_array_add(list, obj);
	}
	return list;
}

static void show_json(const struct look *l)
{
	const struct spindle_log_info *info = &l->info;
	struct json_object *obj = json_object_new_object();

	ctl_json_str(obj, "directory", l->dir);
	ctl_json_str(obj, "lineage", lineage_text(info->lineage));
	ctl_json_add(obj, "subgroup", ctl_json_num(info->subgroup));
	ctl_json_add(obj, "node", ctl_json_num(info->node));
	ctl_json_add(obj, "low", ctl_json_num(info->low));
	ctl_json_add(obj, "next", ctl_json_num(info->next));
	ctl_json_add(obj, "acked", ctl_json_num(info->acked));
	if (info->time)
		ctl_json_str(obj, "time", time_text(info->time));
	ctl_json_add(obj, "bytes", ctl_json_num(info->bytes));
	ctl_json_add(obj, "segments", ctl_json_num(info->segments));
	ctl_json_add(obj, "segment", ctl_json_num(info->segment));
	ctl_json_add(obj, "epochs", epochs_json(l));
	ctl_json_add(obj, "damaged", damaged_json(l));
	ctl_json_print(obj);
}

static void print_line(const char *word, const char *text)
{
	printf("%-10s %s\n", word, text);
}

static void print_damage(const struct look *l)
{
	uint64_t from, to;
	uint32_t i;

	for (i = 0; !spindle_log_damaged(l->log, i, &from, &to); i++)
		print_line("damaged", range_text(from, to));
	if (i < l->info.damaged)
		print_line("damaged", ctl_asprintf("and %u ranges more", l->info.damaged - i));
}

static void print_epochs(const struct look *l)
{
	struct ctl_table t = { 0 };
	struct spindle_log_epoch e;
	uint32_t i;

	ctl_table_head(&t, "era vid from");
	for (i = 0; !spindle_log_epoch(l->log, i, &e); i++) {
		ctl_table_num(&t, e.era);
		ctl_table_num(&t, e.vid);
		ctl_table_num(&t, e.lsn);
	}
	if (i) {
		putchar('\n');
		ctl_table_print(&t);
	}
	if (i < l->info.epochs)
		printf("and %u views more\n", l->info.epochs - i);
}

static void show_text(const struct look *l)
{
	const struct spindle_log_info *info = &l->info;

	print_line("lineage", lineage_text(info->lineage));
	print_line("subgroup", ctl_asprintf("%u", info->subgroup));
	print_line("node", ctl_asprintf("%u", info->node));
	print_line("positions", range_text(info->low, info->next));
	print_line("next", ctl_asprintf("%llu", (unsigned long long)info->next));
	print_line("durable", ctl_asprintf("below %llu", (unsigned long long)info->acked));
	if (info->time)
		print_line("written", time_text(info->time));
	print_line("files", ctl_asprintf("%u of %u bytes: %llu bytes", info->segments,
					 info->segment, (unsigned long long)info->bytes));
	if (!info->damaged)
		print_line("damaged", "none");
	print_damage(l);
	print_epochs(l);
}

static int log_show(struct ctl_args *a)
{
	struct look l = { 0 };
	int rc = take_dir(a, &l);

	if (!rc)
		rc = no_more(a);
	if (!rc)
		rc = open_log(&l);
	if (rc)
		return rc;
	if (ctl_opts.json)
		show_json(&l);
	else
		show_text(&l);
	spindle_log_close(l.log);
	return CTL_OK;
}

/* ---- verify --------------------------------------------------------------- */

/**
 * struct sum - what "log verify" has read
 */
struct sum {
	/** @messages: messages that are whole */
	uint64_t messages;
	/** @bytes: their bytes */
	uint64_t bytes;
	/** @lost: messages that are damaged */
	uint64_t lost;
	/** @ranges: ranges of them */
	struct json_object *ranges;
};

static void add_lost(struct sum *sum, const struct spindle_log_msg *m)
{
	sum->lost += m->next - m->lsn;
	if (ctl_opts.json)
		json_object_array_add(sum->ranges, range_json(m->lsn, m->next));
	else
		printf("damaged: %s\n", range_text(m->lsn, m->next));
}

/* Return: 0, or a negative errno that ends it. */
static int read_all(const struct look *l, struct sum *sum)
{
	struct spindle_log_msg m;
	int n;

	while ((n = spindle_log_read(l->log, &m)) == 1 || n == -EUCLEAN) {
		if (n == 1) {
			sum->messages++;
			sum->bytes += m.len;
		} else {
			add_lost(sum, &m);
		}
	}
	return n;
}

static void print_sum(const struct sum *sum)
{
	struct json_object *obj;

	if (!ctl_opts.json) {
		printf("%llu messages of %llu bytes are whole, %llu are damaged\n",
		       (unsigned long long)sum->messages, (unsigned long long)sum->bytes,
		       (unsigned long long)sum->lost);
		return;
	}
	obj = json_object_new_object();
	ctl_json_add(obj, "messages", ctl_json_num(sum->messages));
	ctl_json_add(obj, "bytes", ctl_json_num(sum->bytes));
	ctl_json_add(obj, "lost", ctl_json_num(sum->lost));
	ctl_json_add(obj, "damaged", sum->ranges);
	ctl_json_print(obj);
}

static int log_verify(struct ctl_args *a)
{
	struct sum sum = { .ranges = json_object_new_array() };
	struct look l = { 0 };
	int rc = take_dir(a, &l), err;

	if (!rc)
		rc = no_more(a);
	if (!rc)
		rc = open_log(&l);
	if (rc)
		return rc;
	err = read_all(&l, &sum);
	if (!err)
		print_sum(&sum);
	spindle_log_close(l.log);
	if (err)
		return failed(&l, err);
	return sum.lost ? CTL_FAILED : CTL_OK;
}

/* ---- dump ----------------------------------------------------------------- */

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
	ctl_json_str(obj, "time", time_text(m->time));
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
		printf("  sender %u  flags %u  time %s", m->sender, m->flags, time_text(m->time));
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
		printf("damaged  lsn %s\n", range_text(m->lsn, m->next));
		return;
	}
	obj = json_object_new_object();
	ctl_json_add(obj, "damaged", range_json(m->lsn, m->next));
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

/* Dump up to the position @end. Damage on the way is a failure, and does not end the command. */
static int dump(const struct look *l, uint64_t end)
{
	struct spindle_log_msg m;
	int rc = CTL_OK, n;

	for (;;) {
		n = spindle_log_read(l->log, &m);
		if (n != 1 && n != -EUCLEAN)
			break;
		if (m.lsn >= end)
			return rc;
		if (n != 1 && m.next > end)
			m.next = end;
		if (n != 1)
			rc = CTL_FAILED;
		dump_line(&m, n);
	}
	return n ? failed(l, n) : rc;
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
		return err ? failed(l, err) : CTL_OK;
	ctl_err("%s: %s: %s; there is: %s", l->what, l->dir, spindle_log_strerror(err),
		range_text(info->low, info->next));
	return CTL_FAILED;
}

static int log_dump(struct ctl_args *a)
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
	int rc = take_dir(a, &l);

	if (!rc)
		rc = ctl_args_keys(a, keys, val, 0);
	if (!rc)
		rc = check_dump(a, val, &since);
	if (!rc)
		rc = open_log(&l);
	if (rc)
		return rc;
	end = l.info.next;
	if (val[DUMP_TO].set && val[DUMP_TO].num < end)
		end = val[DUMP_TO].num + 1;
	rc = go_to(&l, val, since);
	if (!rc)
		rc = dump(&l, end);
	spindle_log_close(l.log);
	return rc;
}

/* ---- what nobody needs ----------------------------------------------------------------- */

/* The last era of the log, which the process that writes it has, or a later one. */
static uint64_t last_era(const struct look *l)
{
	struct spindle_log_epoch e = { 0 };

	if (l->info.epochs)
		spindle_log_epoch(l->log, l->info.epochs - 1, &e);
	return e.era;
}

/* The place of a position that the log has, or ends in front of. */
static bool place_of(const struct look *l, uint64_t lsn, struct spindle_place *place)
{
	*place = (struct spindle_place){ .lsn = lsn, .era = last_era(l) };
	memcpy(place->lineage, l->info.lineage, sizeof(place->lineage));
	if (lsn <= l->info.next)
		return true;
	ctl_err("%s: %s: the log ends in front of position %llu", l->what, l->dir,
		(unsigned long long)lsn);
	return false;
}

static int written(const struct look *l, int err)
{
	if (err != -ESTALE)
		return err ? failed(l, err) : CTL_OK;
	ctl_err("%s: %s: a later position was given before", l->what, l->dir);
	return CTL_FAILED;
}

static int log_trim(struct ctl_args *a)
{
	static const struct ctl_key keys[] = {
		CTL_KEY("below", NULL, U64, 0),
		{ .name = NULL }
	};
	struct ctl_val below = { 0 };
	struct spindle_place place;
	struct look l = { 0 };
	int rc = take_dir(a, &l);

	if (!rc)
		rc = ctl_args_keys(a, keys, &below, 0);
	if (!rc && !below.set)
		rc = ctl_usage(a, "'below' is missing");
	if (!rc)
		rc = open_log(&l);
	if (rc)
		return rc;
	rc = CTL_FAILED;
	if (place_of(&l, below.num, &place))
		rc = written(&l, spindle_log_trim(l.dir, &place));
	spindle_log_close(l.log);
	return rc;
}

static int log_snapshot(struct ctl_args *a)
{
	static const struct ctl_key keys[] = {
		CTL_KEY("name", NULL, STR, 0), CTL_KEY("at", NULL, U64, 0),
		{ .name = NULL }
	};
	struct ctl_val val[2] = { 0 };
	struct spindle_place place;
	struct look l = { 0 };
	int rc = take_dir(a, &l), err = 1;

	if (!rc)
		rc = ctl_args_keys(a, keys, val, 0);
	if (!rc && (!val[0].set || !val[1].set))
		rc = ctl_usage(a, "'name' and 'at' are needed");
	if (!rc)
		rc = open_log(&l);
	if (rc)
		return rc;
	rc = CTL_FAILED;
	if (place_of(&l, val[1].num, &place))
		err = spindle_log_snapshot(l.dir, val[0].str, &place);
	if (err == -EINVAL)
		ctl_err("%s: '%s' is not the name of a program: small letters, digits, '-' and "
			"'_', at most 32", l.what, val[0].str);
	else if (err <= 0)
		rc = written(&l, err);
	spindle_log_close(l.log);
	return rc;
}

int ctl_cmd_log(struct ctl_args *a)
{
	static const struct ctl_verb verbs[] = {
		{ "show", log_show }, { "verify", log_verify }, { "dump", log_dump },
		{ "trim", log_trim }, { "snapshot", log_snapshot },
		{ "restart", ctl_log_restart },
		{ NULL, NULL }
	};

	return ctl_verb(a, verbs);
}
