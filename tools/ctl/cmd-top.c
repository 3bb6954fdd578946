// SPDX-License-Identifier: GPL-2.0-only
/* spindle-ctl top: rates, and which member waits for which, in repeated looks. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/spindle_genl.h>

#include "args.h"
#include "cmd.h"
#include "common/names.h"
#include "common/out.h"
#include "common/stats.h"
#include "common/util.h"
#include "durable.h"
#include "looks.h"

static const struct ctl_key top_keys[] = {
	[CTL_LOOK_NODE] = CTL_KEY("node", NULL, U32, 0),
	[CTL_LOOK_ID] = CTL_KEY("id", NULL, U32, 0),
	{ .name = NULL }
};

/* ---- JSON ----------------------------------------------------------------- */

static void json_rates(struct json_object *obj, const struct ctl_rate *rate,
		       const struct ctl_stats *now, const struct ctl_stats *before,
		       double seconds)
{
	for (; rate->word; rate++)
		ctl_json_add(obj, rate->word,
			     ctl_json_real(ctl_rate(rate, now, before, seconds)));
}

static struct json_object *json_subgroup(const struct ctl_span *span,
					 const struct ctl_running_subgroup *s)
{
	const struct ctl_reader *holder = ctl_subgroup_holder(&s->sg);
	struct json_object *obj;

	obj = ctl_record_json("id name", ctl_subgroup_fields, &s->sg);
	ctl_json_add(obj, "vid", ctl_json_num(s->vid));
	ctl_record_add(obj, "state durable durable-ms", ctl_subgroup_fields, &s->sg);
	json_rates(obj, ctl_subgroup_rates, &s->sg.stats,
		   ctl_subgroup_before(span->before, s), span->seconds);
	ctl_json_add(obj, "members",
		     ctl_record_list("id ahead recv-lag dlv-lag persisted log-state awaited",
				     ctl_row_fields, s->sg.row, s->sg.rows,
				     sizeof(*s->sg.row)));
	ctl_json_add(obj, "held-by", holder ? ctl_record_json(NULL, ctl_reader_fields, holder) :
			    NULL);
	return obj;
}

static struct json_object *json_node(const struct ctl_span *span,
				     const struct ctl_node_stats *node)
{
	struct json_object *obj = ctl_record_json("node state", ctl_stats_fields, node);
	struct json_object *o = json_object_new_object(), *list = json_object_new_array();
	const struct ctl_sample *now = span->now;
	const struct ctl_stats *e = &node->engine;
	unsigned int i;

	ctl_json_add(o, "pid", ctl_json_num(e->num[SPINDLE_ENGINE_S_PID]));
	if (e->has & 1ULL << SPINDLE_ENGINE_S_SPIN_US)
		ctl_json_add(o, "spin-us", ctl_json_num(e->num[SPINDLE_ENGINE_S_SPIN_US]));
	json_rates(o, ctl_node_rates, e, ctl_node_before(span->before, node), span->seconds);
	ctl_json_add(obj, "engine", o);
	for (i = 0; i < now->sgs; i++)
		if (now->sg[i].node == node->id)
			json_object_array_add(list, json_subgroup(span, &now->sg[i]));
	ctl_json_add(obj, "subgroups", list);
	return obj;
}

static void print_json(const struct ctl_span *span)
{
	const struct ctl_sample *now = span->now;
	struct json_object *obj = json_object_new_object();
	struct json_object *list = json_object_new_array();
	unsigned int i;

	ctl_json_str(obj, "time", ctl_now(false));
	ctl_json_add(obj, "seconds", ctl_json_real(span->seconds));
	for (i = 0; i < now->nodes; i++)
		json_object_array_add(list, json_node(span, &now->node[i]));
	ctl_json_add(obj, "nodes", list);
	ctl_json_print(obj);
}

/* ---- text ----------------------------------------------------------------- */

static void head_rates(struct ctl_table *t, const struct ctl_rate *rate)
{
	for (; rate->word; rate++)
		if (rate->head)
			ctl_table_head(t, rate->head);
}

/* Add the rates, with about three digits each. */
static void cell_rates(struct ctl_table *t, const struct ctl_rate *rate,
		       const struct ctl_stats *now, const struct ctl_stats *before,
		       double seconds)
{
	for (; rate->word; rate++)
		if (rate->head)
			ctl_table_cell(t, ctl_digits(ctl_rate(rate, now, before, seconds) *
						     rate->scale));
}

static void write_nodes(FILE *to, const struct ctl_span *span)
{
	const struct ctl_sample *now = span->now;
	struct ctl_table t = { 0 };
	unsigned int i;

	ctl_table_head(&t, "node state engine spin-us");
	head_rates(&t, ctl_node_rates);
	for (i = 0; i < now->nodes; i++) {
		const struct ctl_node_stats *node = &now->node[i];
		const struct ctl_stats *e = &node->engine;

		ctl_record_cells(&t, "node state", ctl_stats_fields, node);
		ctl_table_num(&t, e->num[SPINDLE_ENGINE_S_PID]);
		if (e->has & 1ULL << SPINDLE_ENGINE_S_SPIN_US)
			ctl_table_num(&t, e->num[SPINDLE_ENGINE_S_SPIN_US]);
		else
			ctl_table_cell(&t, "");
		cell_rates(&t, ctl_node_rates, e, ctl_node_before(span->before, node),
			   span->seconds);
	}
	ctl_table_write(&t, to);
}

static void write_subgroups(FILE *to, const struct ctl_span *span)
{
	const struct ctl_sample *now = span->now;
	struct ctl_table t = { 0 };
	unsigned int i;

	ctl_table_head(&t, "node subgroup state");
	head_rates(&t, ctl_subgroup_rates);
	ctl_table_head(&t, "name");
	for (i = 0; i < now->sgs; i++) {
		const struct ctl_running_subgroup *s = &now->sg[i];

		ctl_table_num(&t, s->node);
		ctl_record_cells(&t, "subgroup state", ctl_subgroup_fields, &s->sg);
		cell_rates(&t, ctl_subgroup_rates, &s->sg.stats,
			   ctl_subgroup_before(span->before, s), span->seconds);
		ctl_record_cells(&t, "name", ctl_subgroup_fields, &s->sg);
	}
	ctl_table_write(&t, to);
}

/*
 * The reader that holds the slots of a member. The kernel lists only the readers of the node
 * itself.
 */
static const char *holder_text(const struct ctl_running_subgroup *s, const struct ctl_row *row)
{
	const struct ctl_reader *r = row->id == s->node ? ctl_subgroup_holder(&s->sg) : NULL;

	if (!r)
		return "";
	return ctl_asprintf("%s[%llu] %s %llu, idle %llu ms", r->comm,
			    (unsigned long long)r->pid, r->copy ? "has to copy" : "holds",
			    (unsigned long long)r->lag, (unsigned long long)r->idle_ms);
}

/* Has one of the subgroups logs? */
static bool has_logs(const struct ctl_sample *now)
{
	const struct ctl_running_subgroup *s;

	for (s = now->sg; s < now->sg + now->sgs; s++)
		if (s->sg.logged)
			return true;
	return false;
}

static void write_members(FILE *to, const struct ctl_sample *now)
{
	const struct ctl_running_subgroup *s;
	bool logs = has_logs(now);
	struct ctl_table t = { 0 };
	unsigned int m;

	ctl_table_head(&t, "node subgroup member ahead recv-lag dlv-lag reader");
	if (logs)
		ctl_table_head(&t, "log");
	for (s = now->sg; s < now->sg + now->sgs; s++) {
		for (m = 0; m < s->sg.rows; m++) {
			ctl_table_num(&t, s->node);
			ctl_table_num(&t, s->sg.val[CTL_SG_ID].num);
			ctl_record_cells(&t, "member ahead recv-lag dlv-lag", ctl_row_fields,
					 &s->sg.row[m]);
			ctl_table_cell(&t, holder_text(s, &s->sg.row[m]));
			if (logs)
				ctl_table_cell(&t, ctl_durable_why(s, &s->sg.row[m]));
		}
	}
	if (t.cells > t.columns) {
		fputc('\n', to);
		ctl_table_write(&t, to);
	}
}

static void write_text(const struct ctl_span *span, FILE *to)
{
	const struct ctl_sample *now = span->now;

	if (!now->nodes) {
		fputs("There is no node.\n", to);
		return;
	}
	write_nodes(to, span);
	if (!now->sgs)
		return;
	fputc('\n', to);
	write_subgroups(to, span);
	write_members(to, now);
}

/* ---- repeated looks ----------------------------------------------------- */

static int take(struct ctl_looks *looks, const struct ctl_span *span)
{
	const struct ctl_val *node = &looks->val[CTL_LOOK_NODE], *id = &looks->val[CTL_LOOK_ID];
	struct ctl_sample *now = span->now;

	if (ctl_sample_take(&looks->net, "top", node, id, now))
		return CTL_FAILED;
	/* Only the first look complains, because nodes and subgroups may come and go later. */
	if (span->before || now->sgs)
		return CTL_OK;
	return ctl_cmd_none(&looks->net, "top", node, "subgroup", id);
}

int ctl_cmd_top(struct ctl_args *a)
{
	static const struct ctl_look_ops ops = {
		.sample = sizeof(struct ctl_sample),
		.take = take, .json = print_json, .write = write_text,
	};
	struct ctl_looks looks = { .watch = true, .delay = CTL_NS_PER_S };
	int rc;

	rc = ctl_looks_take(a, top_keys, &looks);
	return rc ? rc : ctl_looks_run(&looks, &ops);
}
