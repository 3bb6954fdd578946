// SPDX-License-Identifier: GPL-2.0-only
/* spindle-ctl top: rates, and which member waits for which, in repeated looks. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/spindle_genl.h>

#include "args.h"
#include "cmd.h"
#include "common/names.h"
#include "common/out.h"
#include "common/util.h"
#include "detail.h"
#include "lag.h"
#include "looks.h"
#include "rate.h"

enum {
	TOP_NODE,
	TOP_ID,
	TOP_VALS
};

static const struct ctl_key top_keys[] = {
	[TOP_NODE] = { .name = "node", .kind = CTL_U32 },
	[TOP_ID] = { .name = "id", .kind = CTL_U32 },
	{ .name = NULL }
};

/**
 * struct span - the time between two looks
 * @now: sample at the end
 * @before: sample at the beginning; NULL: there is only one sample yet
 * @seconds: length
 */
struct span {
	const struct ctl_sample *now;
	const struct ctl_sample *before;
	double seconds;
};

/**
 * struct top - what the user asks for, and what there was
 * @net: netlink
 * @val: nodes and subgroups to show
 * @sample: the last two looks, in turn
 * @span: the time between them
 */
struct top {
	struct ctl_net net;
	struct ctl_val val[TOP_VALS];
	struct ctl_sample sample[2];
	struct span span;
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

static struct json_object *json_subgroup(const struct span *span,
					 const struct ctl_running_subgroup *s)
{
	struct json_object *obj = json_object_new_object(), *list, *o;
	const struct ctl_val *name = &s->sg.val[CTL_SG_NAME];
	const struct ctl_reader *holder = ctl_subgroup_holder(&s->sg);
	unsigned int i;

	ctl_json_add(obj, "id", ctl_json_num(s->sg.val[CTL_SG_ID].num));
	if (name->set)
		ctl_json_str(obj, "name", name->str);
	ctl_json_add(obj, "vid", ctl_json_num(s->vid));
	ctl_json_str(obj, "state", ctl_name(&ctl_state, s->sg.state));
	json_rates(obj, ctl_subgroup_rates, &s->sg.stats,
		   ctl_subgroup_before(span->before, s), span->seconds);
	list = json_object_new_array();
	for (i = 0; i < s->sg.rows; i++) {
		struct ctl_lag lag = ctl_row_lag(&s->sg, &s->sg.row[i]);

		o = json_object_new_object();
		ctl_json_add(o, "id", ctl_json_num(s->sg.row[i].id));
		ctl_detail_json_lag(o, &lag);
		json_object_array_add(list, o);
	}
	ctl_json_add(obj, "members", list);
	ctl_json_add(obj, "held-by", holder ? ctl_detail_json_reader(holder) : NULL);
	return obj;
}

static struct json_object *json_node(const struct span *span,
				     const struct ctl_node_stats *node)
{
	struct json_object *obj = json_object_new_object(), *o, *list;
	const struct ctl_stats *e = &node->engine;
	unsigned int i;

	ctl_json_add(obj, "node", ctl_json_num(node->id));
	ctl_json_str(obj, "state", ctl_name(&ctl_node_state, node->state));
	o = json_object_new_object();
	ctl_json_add(o, "pid", ctl_json_num(e->num[SPINDLE_ENGINE_S_PID]));
	if (e->has & 1ULL << SPINDLE_ENGINE_S_SPIN_US)
		ctl_json_add(o, "spin-us", ctl_json_num(e->num[SPINDLE_ENGINE_S_SPIN_US]));
	json_rates(o, ctl_node_rates, e, ctl_node_before(span->before, node), span->seconds);
	ctl_json_add(obj, "engine", o);
	list = json_object_new_array();
	for (i = 0; i < span->now->sgs; i++)
		if (span->now->sg[i].node == node->id)
			json_object_array_add(list, json_subgroup(span, &span->now->sg[i]));
	ctl_json_add(obj, "subgroups", list);
	return obj;
}

static void print_json(void *ctx)
{
	const struct span *span = &((struct top *)ctx)->span;
	struct json_object *obj = json_object_new_object();
	struct json_object *list = json_object_new_array();
	unsigned int i;

	ctl_json_str(obj, "time", ctl_now(false));
	ctl_json_add(obj, "seconds", ctl_json_real(span->seconds));
	for (i = 0; i < span->now->nodes; i++)
		json_object_array_add(list, json_node(span, &span->now->node[i]));
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
	for (; rate->word; rate++) {
		double v = ctl_rate(rate, now, before, seconds) * rate->scale;

		if (!rate->head)
			continue;
		if (isnan(v))
			ctl_table_cell(t, "");
		else
			ctl_table_cell(t, ctl_asprintf("%.*f", v < 10 ? 2 : v < 100 ? 1 : 0, v));
	}
}

static void write_nodes(FILE *to, const struct span *span)
{
	struct ctl_table t = { 0 };
	unsigned int i;

	ctl_table_head(&t, "node state engine spin-us");
	head_rates(&t, ctl_node_rates);
	for (i = 0; i < span->now->nodes; i++) {
		const struct ctl_node_stats *node = &span->now->node[i];
		const struct ctl_stats *e = &node->engine;

		ctl_table_num(&t, node->id);
		ctl_table_cell(&t, ctl_name(&ctl_node_state, node->state));
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

static void write_subgroups(FILE *to, const struct span *span)
{
	struct ctl_table t = { 0 };
	unsigned int i;

	ctl_table_head(&t, "node subgroup state");
	head_rates(&t, ctl_subgroup_rates);
	ctl_table_head(&t, "name");
	for (i = 0; i < span->now->sgs; i++) {
		const struct ctl_running_subgroup *s = &span->now->sg[i];

		ctl_table_num(&t, s->node);
		ctl_table_num(&t, s->sg.val[CTL_SG_ID].num);
		ctl_table_cell(&t, ctl_name(&ctl_state, s->sg.state));
		cell_rates(&t, ctl_subgroup_rates, &s->sg.stats,
			   ctl_subgroup_before(span->before, s), span->seconds);
		ctl_table_cell(&t, ctl_val_text(&ctl_subgroup_keys[CTL_SG_NAME],
						&s->sg.val[CTL_SG_NAME]));
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

static void write_members(FILE *to, const struct span *span)
{
	struct ctl_table t = { 0 };
	unsigned int i, m;

	ctl_table_head(&t, "node subgroup member ahead recv-lag dlv-lag reader");
	for (i = 0; i < span->now->sgs; i++) {
		const struct ctl_running_subgroup *s = &span->now->sg[i];

		for (m = 0; m < s->sg.rows; m++) {
			const struct ctl_row *row = &s->sg.row[m];
			struct ctl_lag lag = ctl_row_lag(&s->sg, row);

			ctl_table_num(&t, s->node);
			ctl_table_num(&t, s->sg.val[CTL_SG_ID].num);
			ctl_table_num(&t, row->id);
			if (lag.sends)
				ctl_table_num(&t, lag.ahead);
			else
				ctl_table_cell(&t, "");
			ctl_table_num(&t, lag.recv);
			ctl_table_num(&t, lag.dlv);
			ctl_table_cell(&t, holder_text(s, row));
		}
	}
	if (t.cells > t.columns) {
		fputc('\n', to);
		ctl_table_write(&t, to);
	}
}

static void write_text(void *ctx, FILE *to)
{
	const struct span *span = &((struct top *)ctx)->span;

	if (!span->now->nodes) {
		fputs("There is no node.\n", to);
		return;
	}
	write_nodes(to, span);
	if (!span->now->sgs)
		return;
	fputc('\n', to);
	write_subgroups(to, span);
	write_members(to, span);
}

/* ---- repeated looks ----------------------------------------------------- */

/* Does the requested node or subgroup not exist at the first look? Later it may come and go. */
static int check_question(struct top *top, const struct ctl_sample *sample)
{
	const struct ctl_val *node = &top->val[TOP_NODE], *id = &top->val[TOP_ID];
	struct ctl_running *running;
	unsigned int count;

	if (node->set && !sample->nodes &&
	    ctl_fetch(&top->net, "top", node, &running, &count, false))
		return CTL_FAILED;
	if (id->set && !sample->sgs) {
		ctl_err("there is no subgroup %llu%s", (unsigned long long)id->num,
			node->set ? " at this node" : "");
		return CTL_FAILED;
	}
	return CTL_OK;
}

static int take(void *ctx, uint64_t n, uint64_t *ns)
{
	struct top *top = ctx;
	struct ctl_sample *now = &top->sample[n % 2];
	struct span *span = &top->span;

	if (ctl_sample_take(&top->net, &top->val[TOP_NODE], &top->val[TOP_ID], now) ||
	    (!n && check_question(top, now)))
		return CTL_FAILED;
	span->now = now;
	span->before = n ? &top->sample[!(n % 2)] : NULL;
	span->seconds = n ? (double)(now->ns - span->before->ns) / CTL_NS_PER_S : 0;
	*ns = now->ns;
	return CTL_OK;
}

int ctl_cmd_top(struct ctl_args *a)
{
	static const struct ctl_look_ops ops = {
		.take = take, .json = print_json, .write = write_text,
	};
	struct ctl_looks looks = { .watch = true, .delay = CTL_NS_PER_S };
	struct top top = { 0 };
	int rc;

	rc = ctl_looks_take(a, &looks);
	if (!rc)
		rc = ctl_args_keys(a, top_keys, top.val, 0);
	if (rc)
		return rc;
	if (ctl_net_open(&top.net, CTL_SAY))
		return CTL_FAILED;
	return ctl_looks_run(&looks, &ops, &top);
}
