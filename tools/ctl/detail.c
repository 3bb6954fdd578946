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
#include "common/wire.h"
#include "detail.h"

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

/**
 * ctl_detail_json() - add all details to a subgroup
 * @obj: JSON of the subgroup, which has the counters already
 * @sg: the subgroup
 */
void ctl_detail_json(struct json_object *obj, const struct ctl_subgroup *sg)
{
	struct json_object *o;
	unsigned int i;

	/* A table has counters, and nothing of messages. */
	if (sg->tabular)
		return;
	o = json_object_new_object();
	ctl_json_vals(o, ctl_tune_keys, sg->tune);
	ctl_json_add(obj, "tune", o);
	o = json_object_new_object();
	for (i = 0; i < CTL_STAGES; i++)
		ctl_json_add(o, stage_name[i], json_hist(&sg->hist[i]));
	ctl_json_add(obj, "batches", o);
	ctl_json_add(obj, "reader", ctl_record_list(NULL, ctl_reader_fields, sg->reader,
						    sg->reader_count, sizeof(*sg->reader)));
	ctl_json_add(obj, "row", ctl_record_list(NULL, ctl_row_fields, sg->row, sg->rows,
						 sizeof(*sg->row)));
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

static void print_memory(const struct ctl_subgroup *sg)
{
	const struct ctl_stats *stats = sg->tabular ? &sg->table_stats : &sg->stats;
	unsigned int row = SPINDLE_SUBGROUP_S_ROW_BYTES, own = SPINDLE_SUBGROUP_S_PRIVATE_BYTES;

	if (sg->tabular) {
		row = SPINDLE_TABLE_S_ROW_BYTES;
		own = SPINDLE_TABLE_S_PRIVATE_BYTES;
	}
	if (!(stats->has & 1ULL << row))
		return;
	printf("    memory   %llu bytes of the table, %llu bytes of the engine\n",
	       (unsigned long long)stats->num[row], (unsigned long long)stats->num[own]);
}

static void print_history(const struct ctl_subgroup *sg)
{
	if (sg->oldest.set)
		printf("    history  from lsn %llu\n", (unsigned long long)sg->oldest.num);
}

static void print_durable(const struct ctl_subgroup *sg)
{
	if (!sg->logged)
		return;
	printf("    durable  below lsn %llu", (unsigned long long)sg->durable);
	if (sg->durable_ms)
		printf(", stands still for %llu ms", (unsigned long long)sg->durable_ms);
	puts(sg->established ? "" : ", the view is not established");
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

/* Print a table with its title, unless it has no rows. */
static void print_table(const char *title, const char *columns, const struct ctl_field *fields,
			const void *array, size_t count, size_t size)
{
	struct ctl_table t = { .indent = 6 };

	if (!count)
		return;
	ctl_record_rows(&t, columns, fields, array, count, size);
	printf("    %s\n", title);
	ctl_table_print(&t);
}

static void print_counters(const struct ctl_subgroup *sg)
{
	struct ctl_table t = { .indent = 6 };

	if (!sg->tabular)
		return;
	ctl_record_rows(&t, "table-stats", ctl_subgroup_fields, sg, 1, sizeof(*sg));
	puts("    counters");
	ctl_table_print(&t);
}

/**
 * ctl_detail_print() - print all details as text
 * @sg: subgroup; the caller has printed its title
 */
void ctl_detail_print(const struct ctl_subgroup *sg)
{
	print_tune(sg->tune);
	print_memory(sg);
	print_history(sg);
	print_durable(sg);
	print_counters(sg);
	print_batches(sg);
	print_table("readers", "pid comm reads lag idle-ms lsn", ctl_reader_fields, sg->reader,
		    sg->reader_count, sizeof(*sg->reader));
	print_table("members", "member sent slots received delivered ahead recv-lag dlv-lag",
		    ctl_row_fields, sg->row, sg->rows, sizeof(*sg->row));
	print_table("logs", "member persisted low snapshot record log-state awaited",
		    ctl_row_fields, sg->row, sg->logged ? sg->rows : 0, sizeof(*sg->row));
}
