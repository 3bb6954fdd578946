// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl log show|verify|dump|trim|snapshot|repair: the durable log of a subgroup, in its
 * directory.
 * The kernel module is not asked, and the process that writes the log only for a repair.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"
#include "cmd-log.h"
#include "common/live.h"
#include "common/util.h"

static struct json_object *damaged_json(const struct look *l)
{
	struct json_object *list = json_object_new_array();
	uint64_t from, to;
	uint32_t i;

	for (i = 0; !spindle_log_damaged(l->log, i, &from, &to); i++)
		json_object_array_add(list, ctl_log_range_json(from, to));
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
	ctl_json_str(obj, "lineage", ctl_lineage_text(info->lineage, 0));
	ctl_json_add(obj, "subgroup", ctl_json_num(info->subgroup));
	ctl_json_add(obj, "node", ctl_json_num(info->node));
	ctl_json_add(obj, "low", ctl_json_num(info->low));
	ctl_json_add(obj, "next", ctl_json_num(info->next));
	ctl_json_add(obj, "acked", ctl_json_num(info->acked));
	if (info->time)
		ctl_json_str(obj, "time", ctl_log_time(info->time));
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
		print_line("damaged", ctl_log_range(from, to));
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

	print_line("lineage", ctl_lineage_text(info->lineage, 0));
	print_line("subgroup", ctl_asprintf("%u", info->subgroup));
	print_line("node", ctl_asprintf("%u", info->node));
	print_line("positions", ctl_log_range(info->low, info->next));
	print_line("next", ctl_asprintf("%llu", (unsigned long long)info->next));
	print_line("durable", ctl_asprintf("below %llu", (unsigned long long)info->acked));
	if (info->time)
		print_line("written", ctl_log_time(info->time));
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
	int rc = ctl_log_dir(a, &l);

	if (!rc)
		rc = ctl_log_no_more(a);
	if (!rc)
		rc = ctl_log_open(&l);
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
	ctl_bar_clear();
	sum->lost += m->next - m->lsn;
	if (ctl_opts.json)
		json_object_array_add(sum->ranges, ctl_log_range_json(m->lsn, m->next));
	else
		printf("damaged: %s\n", ctl_log_range(m->lsn, m->next));
}

/* Return: 0, or a negative errno that ends it. */
static int read_all(struct look *l, struct sum *sum)
{
	struct spindle_log_msg m;
	int n;

	ctl_log_reads(l, l->info.low, l->info.next);
	while ((n = spindle_log_read(l->log, &m)) == 1 || n == -EUCLEAN) {
		ctl_log_is_at(l, m.next);
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
	int rc = ctl_log_dir(a, &l), err;

	if (!rc)
		rc = ctl_log_no_more(a);
	if (!rc)
		rc = ctl_log_open(&l);
	if (rc)
		return rc;
	err = read_all(&l, &sum);
	ctl_bar_clear();
	if (!err)
		print_sum(&sum);
	spindle_log_close(l.log);
	if (err)
		return ctl_log_failed(&l, err);
	return sum.lost ? CTL_FAILED : CTL_OK;
}

/* ---- what nobody needs ----------------------------------------------------------------- */

/* The place of a position that the log has, or ends in front of. */
static bool place_of(const struct look *l, uint64_t lsn, struct spindle_place *place)
{
	ctl_log_place(l, lsn, place);
	if (lsn <= l->info.next)
		return true;
	ctl_err("%s: %s: the log ends in front of position %llu", l->what, l->dir,
		(unsigned long long)lsn);
	return false;
}

static int written(const struct look *l, int err)
{
	if (err != -ESTALE)
		return err ? ctl_log_failed(l, err) : CTL_OK;
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
	int rc = ctl_log_dir(a, &l);

	if (!rc)
		rc = ctl_args_keys(a, keys, &below, 0);
	if (!rc && !below.set)
		rc = ctl_usage(a, "'below' is missing");
	if (!rc)
		rc = ctl_log_open(&l);
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
	int rc = ctl_log_dir(a, &l), err = 1;

	if (!rc)
		rc = ctl_args_keys(a, keys, val, 0);
	if (!rc && (!val[0].set || !val[1].set))
		rc = ctl_usage(a, "'name' and 'at' are needed");
	if (!rc)
		rc = ctl_log_open(&l);
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
		{ "show", log_show }, { "verify", log_verify }, { "dump", ctl_log_dump },
		{ "trim", log_trim }, { "snapshot", log_snapshot },
		{ "repair", ctl_log_repair },
		{ "restart", ctl_log_restart },
		{ NULL, NULL }
	};

	ctl_bar_init(ctl_opts.json);
	return ctl_verb(a, verbs);
}
