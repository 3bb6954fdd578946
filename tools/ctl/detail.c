// SPDX-License-Identifier: GPL-2.0-only
/*
 * All details of a subgroup. See detail.h.
 *
 * What the kernel did not send is left out, because the kernel may be older than this program.
 */
#include <stdio.h>

#include <linux/spindle_genl.h>

#include "common/names.h"
#include "common/out.h"
#include "common/util.h"
#include "detail.h"
#include "lag.h"

/* Characters of the longest bar. */
#define BAR	16

static const char *const stage_name[CTL_STAGES] = {
	[CTL_SEND] = "send",
	[CTL_RECV] = "recv",
	[CTL_DLV] = "dlv",
};

static struct json_object *json_hist(const struct ctl_hist *hist)
{
	struct json_object *list = json_object_new_array();
	unsigned int i;

	for (i = 0; i < hist->entries; i++)
		json_object_array_add(list, ctl_json_num(hist->num[i]));
	return list;
}

struct json_object *ctl_detail_json_reader(const struct ctl_reader *r)
{
	struct json_object *obj = json_object_new_object();

	ctl_json_add(obj, "pid", ctl_json_num(r->pid));
	ctl_json_str(obj, "comm", r->comm);
	ctl_json_add(obj, "copy", json_object_new_boolean(r->copy));
	ctl_json_add(obj, "lag", ctl_json_num(r->lag));
	ctl_json_add(obj, "idle-ms", ctl_json_num(r->idle_ms));
	return obj;
}

/* Add the lag of a member. */
void ctl_detail_json_lag(struct json_object *obj, const struct ctl_lag *lag)
{
	if (lag->sends)
		ctl_json_add(obj, "ahead", ctl_json_num(lag->ahead));
	ctl_json_add(obj, "recv-lag", ctl_json_num(lag->recv));
	ctl_json_add(obj, "dlv-lag", ctl_json_num(lag->dlv));
}

static struct json_object *json_row(const struct ctl_subgroup *sg, const struct ctl_row *row)
{
	struct ctl_lag lag = ctl_row_lag(sg, row);
	struct json_object *obj = json_object_new_object();

	ctl_json_add(obj, "id", ctl_json_num(row->id));
	ctl_json_add(obj, "sent", ctl_json_num(row->sent));
	ctl_json_add(obj, "slots", ctl_json_num(row->slots));
	ctl_json_add(obj, "received", ctl_json_num(row->received));
	ctl_json_add(obj, "delivered", ctl_json_num(row->delivered));
	ctl_detail_json_lag(obj, &lag);
	return obj;
}

/**
 * ctl_detail_json() - add all details to a subgroup
 * @obj: JSON of the subgroup, which has the counters already
 * @sg: the subgroup
 */
void ctl_detail_json(struct json_object *obj, const struct ctl_subgroup *sg)
{
	struct json_object *o = json_object_new_object(), *list;
	unsigned int i;

	ctl_json_vals(o, ctl_tune_keys, sg->tune);
	ctl_json_add(obj, "tune", o);
	o = json_object_new_object();
	for (i = 0; i < CTL_STAGES; i++)
		ctl_json_add(o, stage_name[i], json_hist(&sg->hist[i]));
	ctl_json_add(obj, "batches", o);
	list = json_object_new_array();
	for (i = 0; i < sg->reader_count; i++)
		json_object_array_add(list, ctl_detail_json_reader(&sg->reader[i]));
	ctl_json_add(obj, "reader", list);
	list = json_object_new_array();
	for (i = 0; i < sg->rows; i++)
		json_object_array_add(list, json_row(sg, &sg->row[i]));
	ctl_json_add(obj, "row", list);
}

/* Print the switches that are off, and the numbers. */
static void print_tune(const struct ctl_val *tune)
{
	bool all = true;
	unsigned int i;

	if (!tune[CTL_TUNE_SWITCHES].set)
		return;
	printf("    off    ");
	for (i = 0; i < CTL_TUNE_SWITCHES; i++) {
		if (!tune[i].set || tune[i].num)
			continue;
		printf("  %s", ctl_tune_keys[i].name);
		all = false;
	}
	printf("%s\n    tuning ", all ? "  nothing" : "");
	for (i = CTL_TUNE_SWITCHES; i < CTL_TUNE_VALS; i++)
		if (tune[i].set)
			printf("  %s %s", ctl_tune_keys[i].name,
			       ctl_val_text(&ctl_tune_keys[i], &tune[i]));
	putchar('\n');
}

static void print_memory(const struct ctl_stats *stats)
{
	if (!(stats->has & 1ULL << SPINDLE_SUBGROUP_S_ROW_BYTES))
		return;
	printf("    memory   %llu bytes of the table, %llu bytes of the engine\n",
	       (unsigned long long)stats->num[SPINDLE_SUBGROUP_S_ROW_BYTES],
	       (unsigned long long)stats->num[SPINDLE_SUBGROUP_S_PRIVATE_BYTES]);
}

/* The range of sizes that an entry counts. */
static const char *sizes(const struct ctl_hist *hist, unsigned int entry)
{
	unsigned long long first = 1ULL << entry;

	if (entry + 1 == hist->entries)
		return ctl_asprintf("%llu+", first);
	if (!entry)
		return "1";
	return ctl_asprintf("%llu-%llu", first, 2 * first - 1);
}

/* A number and a bar, both scaled to the largest number of the stage. */
static const char *count_and_bar(const struct ctl_hist *hist, unsigned int entry)
{
	static const char bar[BAR + 1] = "################";
	uint64_t n = entry < hist->entries ? hist->num[entry] : 0, most = 1;
	unsigned int i;
	int digits, wide;

	for (i = 0; i < hist->entries; i++)
		if (hist->num[i] > most)
			most = hist->num[i];
	digits = snprintf(NULL, 0, "%llu", (unsigned long long)most);
	wide = (long double)n * BAR / most;
	/* The bar of a small number has one character, so that the number is seen. */
	if (n && !wide)
		wide = 1;
	return ctl_asprintf("%*llu %.*s", digits, (unsigned long long)n, wide, bar);
}

static void print_batches(const struct ctl_subgroup *sg)
{
	struct ctl_table t = { .indent = 6 };
	unsigned int first = CTL_HIST_MAX, last = 0, i, s;

	for (s = 0; s < CTL_STAGES; s++) {
		for (i = 0; i < sg->hist[s].entries; i++) {
			if (!sg->hist[s].num[i])
				continue;
			if (i < first)
				first = i;
			if (i > last)
				last = i;
		}
	}
	if (first == CTL_HIST_MAX)
		return;
	ctl_table_head(&t, "messages");
	for (s = 0; s < CTL_STAGES; s++)
		ctl_table_head(&t, stage_name[s]);
	for (i = first; i <= last; i++) {
		ctl_table_cell(&t, sizes(&sg->hist[CTL_SEND], i));
		for (s = 0; s < CTL_STAGES; s++)
			ctl_table_cell(&t, count_and_bar(&sg->hist[s], i));
	}
	puts("    batches");
	ctl_table_print(&t);
}

static void print_readers(const struct ctl_subgroup *sg)
{
	struct ctl_table t = { .indent = 6 };
	unsigned int i;

	if (!sg->reader_count)
		return;
	ctl_table_head(&t, "pid comm reads lag idle-ms");
	for (i = 0; i < sg->reader_count; i++) {
		const struct ctl_reader *r = &sg->reader[i];

		if (r->pid)
			ctl_table_num(&t, r->pid);
		else
			ctl_table_cell(&t, "");
		ctl_table_cell(&t, r->comm);
		ctl_table_cell(&t, r->copy ? "copies" : "slots");
		ctl_table_num(&t, r->lag);
		ctl_table_num(&t, r->idle_ms);
	}
	puts("    readers");
	ctl_table_print(&t);
}

static void print_rows(const struct ctl_subgroup *sg)
{
	struct ctl_table t = { .indent = 6 };
	unsigned int i;

	if (!sg->rows)
		return;
	ctl_table_head(&t, "member sent slots received delivered ahead recv-lag dlv-lag");
	for (i = 0; i < sg->rows; i++) {
		const struct ctl_row *row = &sg->row[i];
		struct ctl_lag lag = ctl_row_lag(sg, row);

		ctl_table_num(&t, row->id);
		ctl_table_num(&t, row->sent);
		ctl_table_num(&t, row->slots);
		ctl_table_num(&t, row->received);
		ctl_table_num(&t, row->delivered);
		if (lag.sends)
			ctl_table_num(&t, lag.ahead);
		else
			ctl_table_cell(&t, "");
		ctl_table_num(&t, lag.recv);
		ctl_table_num(&t, lag.dlv);
	}
	puts("    members");
	ctl_table_print(&t);
}

/**
 * ctl_detail_print() - print all details as text
 * @sg: subgroup; the caller has printed its title
 */
void ctl_detail_print(const struct ctl_subgroup *sg)
{
	print_tune(sg->tune);
	print_memory(&sg->stats);
	print_batches(sg);
	print_readers(sg);
	print_rows(sg);
}
