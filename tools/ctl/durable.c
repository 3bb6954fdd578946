// SPDX-License-Identifier: GPL-2.0-only
/* How far messages are durable. See durable.h. */
#include <stdio.h>

#include <json-c/json.h>

#include <linux/spindle.h>

#include "common/names.h"
#include "common/out.h"
#include "common/util.h"
#include "durable.h"

/* A sync of a disk may take so many milliseconds, so people need not hear of that. */
#define STILL_MS	100

static bool is_shown(const struct ctl_running_subgroup *s, uint64_t node)
{
	return s->node == node && s->sg.logged;
}

static const char *join(const char *text, const char *more)
{
	return *text && *more ? ctl_asprintf("%s, %s", text, more) : *text ? text : more;
}

/**
 * ctl_durable_why() - why the durable position waits for a member
 * @s: subgroup
 * @row: row of the member in it
 *
 * Return: for example "disk full, persisted 4100 of 4242"; empty: it does not wait for the member
 */
const char *ctl_durable_why(const struct ctl_running_subgroup *s, const struct ctl_row *row)
{
	unsigned long long lsn = s->sg.val[CTL_SG_LSN].num, persisted = row->persisted;
	const char *state = ctl_log_state_text(row->log_state), *text = "";

	if (!row->logged || !row->awaited)
		return text;
	if (state)
		text = state;
	if (!s->sg.established && row->record < s->vid)
		text = join(text, ctl_asprintf("no record of view %llu",
					       (unsigned long long)s->vid));
	if (persisted < lsn)
		text = join(text, ctl_asprintf("persisted %llu of %llu", persisted, lsn));
	return text;
}

/* Are there fewer members than copies of a durable message? Empty: no. */
static const char *few_text(const struct ctl_subgroup *sg)
{
	unsigned long long copies = sg->val[CTL_SG_MIN_COPIES].num;

	if (sg->rows >= copies)
		return "";
	return ctl_asprintf("has %u member%s, and min-copies is %llu", sg->rows,
			    sg->rows == 1 ? "" : "s", copies);
}

/* The members that are waited for, like "waits for node 2 (disk full), node 3 (no logger)". */
static const char *waits_text(const struct ctl_running_subgroup *s)
{
	const char *text = "", *why;
	unsigned int i;

	for (i = 0; i < s->sg.rows; i++) {
		if (!s->sg.row[i].awaited)
			continue;
		why = ctl_durable_why(s, &s->sg.row[i]);
		text = join(text, ctl_asprintf("node %llu%s%s%s",
					       (unsigned long long)s->sg.row[i].id,
					       *why ? " (" : "", why, *why ? ")" : ""));
	}
	return *text ? ctl_asprintf("waits for %s", text) : text;
}

/* 850 ms, 3.5 s, 12 s */
static const char *ms_text(uint64_t ms)
{
	if (ms < 1000)
		return ctl_asprintf("%llu ms", (unsigned long long)ms);
	return ms < 10000 ? ctl_asprintf("%.1f s", ms / 1000.0) :
			    ctl_asprintf("%llu s", (unsigned long long)ms / 1000);
}

/* Why the durable position stands still, and for how long; empty: it does not. */
static const char *still_text(const struct ctl_running_subgroup *s)
{
	const char *text = "", *why;

	if (s->sg.durable_ms >= STILL_MS)
		text = ctl_asprintf("stands still for %s", ms_text(s->sg.durable_ms));
	if (!s->sg.established)
		text = join(text, "the view is not established");
	if (!*text)
		return text;
	why = join(few_text(&s->sg), waits_text(s));
	return *why ? ctl_asprintf("%s: %s", text, why) : text;
}

/* Print a line for each subgroup of a node that has logs. */
void ctl_durable_print(const struct ctl_running_subgroup *list, unsigned int count,
		       uint64_t node)
{
	const struct ctl_running_subgroup *s;
	const char *still;

	for (s = list; s < list + count; s++) {
		if (!is_shown(s, node))
			continue;
		still = still_text(s);
		printf("durable: %s: %llu of %llu%s%s\n", ctl_subgroup_title(&s->sg),
		       (unsigned long long)s->sg.durable,
		       (unsigned long long)s->sg.val[CTL_SG_LSN].num, *still ? ", " : "", still);
	}
}

static struct json_object *json_waits(const struct ctl_running_subgroup *s)
{
	struct json_object *list = json_object_new_array(), *obj;
	unsigned int i;

	for (i = 0; i < s->sg.rows; i++) {
		if (!s->sg.row[i].awaited)
			continue;
		obj = ctl_record_json("id persisted record log-state", ctl_row_fields,
				      &s->sg.row[i]);
		ctl_json_str(obj, "why", ctl_durable_why(s, &s->sg.row[i]));
		json_object_array_add(list, obj);
	}
	return list;
}

static struct json_object *json_one(const struct ctl_running_subgroup *s)
{
	struct json_object *obj = json_object_new_object();

	ctl_json_add(obj, "subgroup", ctl_json_num(s->sg.val[CTL_SG_ID].num));
	ctl_record_add(obj, "name ack deliver min-copies lsn durable established durable-ms",
		       ctl_subgroup_fields, &s->sg);
	ctl_json_add(obj, "members", ctl_json_num(s->sg.rows));
	ctl_json_add(obj, "waits-for", json_waits(s));
	return obj;
}

/* The same for programs. */
struct json_object *ctl_durable_json(const struct ctl_running_subgroup *list, unsigned int count,
				     uint64_t node)
{
	struct json_object *all = json_object_new_array();
	const struct ctl_running_subgroup *s;

	for (s = list; s < list + count; s++)
		if (is_shown(s, node))
			json_object_array_add(all, json_one(s));
	return all;
}
