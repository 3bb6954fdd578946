// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl rdmc show|stats
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <linux/spindle_genl.h>
#include <linux/spindle_rdmc.h>

#include "args.h"
#include "cmd.h"
#include "common/names.h"
#include "common/out.h"
#include "common/util.h"
#include "common/wire.h"
#include "looks.h"
#include "rdmc.h"

enum {
	RDMC_NODE,
	RDMC_GROUP,
	RDMC_VALS
};

static const struct ctl_key rdmc_keys[] = {
	[RDMC_NODE] = { .name = "node", .kind = CTL_U32 },
	[RDMC_GROUP] = { .name = "group", .kind = CTL_U64 },
	{ .name = NULL }
};

/**
 * struct span - the time between two looks
 * @now: sample at the end
 * @before: sample at the beginning; NULL: there is only one sample yet
 */
struct span {
	const struct ctl_rdmc_sample *now;
	const struct ctl_rdmc_sample *before;
};

/**
 * struct watch - groups that are looked at repeatedly
 * @net: netlink
 * @val: the node and the group to show
 * @sample: the last two looks, in turn
 * @span: the time between them
 */
struct watch {
	struct ctl_net net;
	struct ctl_val val[RDMC_VALS];
	struct ctl_rdmc_sample sample[2];
	struct span span;
};

static double seconds(const struct span *span)
{
	return span->before ? (double)(span->now->ns - span->before->ns) / CTL_NS_PER_S : 0;
}

/* ---- JSON ----------------------------------------------------------------- */

static void json_val(struct json_object *obj, const char *word, const struct ctl_val *val)
{
	if (val->set)
		ctl_json_add(obj, word, ctl_json_num(val->num));
}

static struct json_object *json_member(const struct ctl_rdmc_member *m)
{
	struct json_object *obj = json_object_new_object();

	ctl_json_add(obj, "id", ctl_json_num(m->id));
	if (m->state.set)
		ctl_json_str(obj, "state", ctl_name(&ctl_peer_state, m->state.num));
	if (*m->reason)
		ctl_json_str(obj, "reason", m->reason);
	ctl_json_add(obj, "created", json_object_new_boolean(m->created));
	json_val(obj, "rack", &m->rack);
	json_val(obj, "ended", &m->ended);
	if (m->ended.set) {
		ctl_json_add(obj, "complete", ctl_json_num(m->complete));
		ctl_json_add(obj, "blocks", ctl_json_num(m->blocks));
		ctl_json_add(obj, "total", ctl_json_num(m->total));
	}
	return obj;
}

static struct json_object *json_moving(const struct ctl_rdmc *g, const struct ctl_rdmc_object *o)
{
	struct json_object *obj = json_object_new_object();
	struct ctl_ids slowest;

	ctl_json_add(obj, "object", ctl_json_num(o->number));
	ctl_json_add(obj, "bytes", ctl_json_num(o->len));
	ctl_json_add(obj, "tag", ctl_json_num(o->tag));
	ctl_json_str(obj, "phase", ctl_name(&ctl_rdmc_phase, o->phase));
	ctl_json_add(obj, "blocks", ctl_json_num(o->blocks));
	ctl_json_add(obj, "total", ctl_json_num(o->total));
	ctl_json_add(obj, "done", ctl_json_real(ctl_rdmc_done(g, o, &slowest)));
	ctl_json_ids(obj, "slowest", &slowest);
	json_val(obj, "since-ms", &o->since_ms);
	if (o->error)
		ctl_json_str(obj, "error", ctl_name(&ctl_rdmc_error, o->error));
	return obj;
}

static struct json_object *json_group(const struct span *span, const struct ctl_rdmc *g)
{
	struct json_object *obj = json_object_new_object(), *list;
	unsigned int i;

	ctl_json_add(obj, "node", ctl_json_num(g->node));
	ctl_json_add(obj, "group", ctl_json_num(g->id));
	ctl_json_str(obj, "state", ctl_name(&ctl_rdmc_state, g->state));
	if (g->error)
		ctl_json_str(obj, "error", ctl_name(&ctl_rdmc_error, g->error));
	if (g->culprit)
		ctl_json_add(obj, "culprit", ctl_json_num(g->culprit));
	ctl_json_str(obj, "algorithm", ctl_name(&ctl_rdmc_algorithm, g->algorithm));
	ctl_json_add(obj, "block", ctl_json_num(g->block));
	ctl_json_add(obj, "timeout-ms", ctl_json_num(g->timeout_ms));
	ctl_json_add(obj, "rank", ctl_json_num(g->rank));
	ctl_json_add(obj, "pid", ctl_json_num(g->pid));
	ctl_json_str(obj, "comm", g->comm);
	ctl_json_add(obj, "released", json_object_new_boolean(g->released));
	ctl_json_add(obj, "unread", ctl_json_num(g->unread));
	ctl_json_add(obj, "announced", ctl_json_num(g->announced));
	ctl_json_add(obj, "ended", ctl_json_num(g->ended));
	ctl_json_add(obj, "complete", ctl_json_num(g->complete));
	if (span->before) {
		ctl_json_add(obj, "bytes-in-per-s",
			     ctl_json_real(ctl_rdmc_rate(span->now, span->before, g,
							 SPINDLE_RDMC_GROUP_S_BYTES_IN)));
		ctl_json_add(obj, "bytes-out-per-s",
			     ctl_json_real(ctl_rdmc_rate(span->now, span->before, g,
							 SPINDLE_RDMC_GROUP_S_BYTES_OUT)));
	}
	list = json_object_new_array();
	for (i = 0; i < g->members; i++)
		json_object_array_add(list, json_member(&g->member[i]));
	ctl_json_add(obj, "members", list);
	list = json_object_new_array();
	for (i = 0; i < g->objects; i++)
		json_object_array_add(list, json_moving(g, &g->object[i]));
	ctl_json_add(obj, "objects", list);
	ctl_json_add(obj, "stats", ctl_json_stats(&ctl_rdmc_stat, &g->stats));
	return obj;
}

static struct json_object *json_groups(const struct span *span)
{
	struct json_object *list = json_object_new_array();
	unsigned int i;

	for (i = 0; i < span->now->groups; i++)
		json_object_array_add(list, json_group(span, &span->now->group[i]));
	return list;
}

static void print_json(void *ctx)
{
	const struct span *span = &((struct watch *)ctx)->span;
	struct json_object *obj = json_object_new_object();

	ctl_json_str(obj, "time", ctl_now(false));
	ctl_json_add(obj, "seconds", ctl_json_real(seconds(span)));
	ctl_json_add(obj, "groups", json_groups(span));
	ctl_json_print(obj);
}

/* ---- text ----------------------------------------------------------------- */

/* The members for which @is holds. */
static struct ctl_ids members_that(const struct ctl_rdmc *g,
				   bool (*is)(const struct ctl_rdmc_member *m))
{
	struct ctl_ids ids = { .set = true };
	unsigned int i;

	for (i = 0; i < g->members; i++)
		if (is(&g->member[i]))
			ctl_ids_add(&ids, g->member[i].id);
	return ids;
}

static bool is_member(const struct ctl_rdmc_member *m)
{
	(void)m;
	return true;
}

static bool is_away(const struct ctl_rdmc_member *m)
{
	return m->state.set && m->state.num != SPINDLE_PEER_UP;
}

/*
 * Is the member connected, and has it not created the group? Without a connection, nobody can tell.
 */
static bool is_late(const struct ctl_rdmc_member *m)
{
	return !m->created && !is_away(m);
}

static const char *process_text(const struct ctl_rdmc *g)
{
	const char *name = g->pid ? ctl_asprintf("%s[%llu]", g->comm,
						 (unsigned long long)g->pid) : g->comm;

	return g->released ? ctl_asprintf("%s (has closed it)", name) : name;
}

static void cell_rate(struct ctl_table *t, const struct span *span, const struct ctl_rdmc *g,
		      unsigned int counter)
{
	double v = ctl_rdmc_rate(span->now, span->before, g, counter) / 1000000;

	if (isnan(v))
		ctl_table_cell(t, "");
	else
		ctl_table_cell(t, ctl_asprintf("%.*f", v < 10 ? 2 : v < 100 ? 1 : 0, v));
}

static void write_groups(FILE *to, const struct span *span)
{
	struct ctl_table t = { 0 };
	struct ctl_ids ids;
	unsigned int i;

	ctl_table_head(&t, "node group state error algorithm block members rank objects ended");
	ctl_table_head(&t, "whole unread");
	if (span->before)
		ctl_table_head(&t, "in-mb/s out-mb/s");
	ctl_table_head(&t, "process");
	for (i = 0; i < span->now->groups; i++) {
		const struct ctl_rdmc *g = &span->now->group[i];

		ctl_table_num(&t, g->node);
		ctl_table_num(&t, g->id);
		ctl_table_cell(&t, ctl_name(&ctl_rdmc_state, g->state));
		ctl_table_cell(&t, g->error ? ctl_name(&ctl_rdmc_error, g->error) : "");
		ctl_table_cell(&t, ctl_name(&ctl_rdmc_algorithm, g->algorithm));
		ctl_table_num(&t, g->block);
		ids = members_that(g, is_member);
		ctl_table_cell(&t, ctl_ids_text(&ids));
		ctl_table_num(&t, g->rank);
		ctl_table_num(&t, g->announced);
		ctl_table_num(&t, g->ended);
		ctl_table_num(&t, g->complete);
		ctl_table_num(&t, g->unread);
		if (span->before) {
			cell_rate(&t, span, g, SPINDLE_RDMC_GROUP_S_BYTES_IN);
			cell_rate(&t, span, g, SPINDLE_RDMC_GROUP_S_BYTES_OUT);
		}
		ctl_table_cell(&t, process_text(g));
	}
	ctl_table_write(&t, to);
}

static void write_table(FILE *to, const struct ctl_table *t)
{
	if (t->cells == t->columns)
		return;
	fputc('\n', to);
	ctl_table_write(t, to);
}

static void write_objects(FILE *to, const struct span *span)
{
	struct ctl_ids slowest;
	struct ctl_table t = { 0 };
	unsigned int i, k;

	ctl_table_head(&t, "node group object bytes tag phase done% slowest ms");
	for (i = 0; i < span->now->groups; i++) {
		const struct ctl_rdmc *g = &span->now->group[i];

		for (k = 0; k < g->objects; k++) {
			const struct ctl_rdmc_object *o = &g->object[k];
			double done = ctl_rdmc_done(g, o, &slowest);

			ctl_table_num(&t, g->node);
			ctl_table_num(&t, g->id);
			ctl_table_num(&t, o->number);
			ctl_table_num(&t, o->len);
			ctl_table_num(&t, o->tag);
			ctl_table_cell(&t, ctl_name(&ctl_rdmc_phase, o->phase));
			ctl_table_cell(&t, ctl_asprintf("%.1f", done * 100));
			ctl_table_cell(&t, slowest.count ? ctl_ids_text(&slowest) : "");
			if (o->since_ms.set)
				ctl_table_num(&t, o->since_ms.num);
			else
				ctl_table_cell(&t, "");
		}
	}
	write_table(to, &t);
}

static void cell_val(struct ctl_table *t, bool set, uint64_t num)
{
	if (set)
		ctl_table_num(t, num);
	else
		ctl_table_cell(t, "");
}

static void write_members(FILE *to, const struct span *span)
{
	struct ctl_table t = { 0 };
	unsigned int i, k;

	ctl_table_head(&t, "node group member state created rack ended whole blocks of reason");
	for (i = 0; i < span->now->groups; i++) {
		const struct ctl_rdmc *g = &span->now->group[i];

		for (k = 0; k < g->members; k++) {
			const struct ctl_rdmc_member *m = &g->member[k];
			bool known = m->ended.set;

			ctl_table_num(&t, g->node);
			ctl_table_num(&t, g->id);
			ctl_table_num(&t, m->id);
			ctl_table_cell(&t, m->state.set ?
				       ctl_name(&ctl_peer_state, m->state.num) : "");
			ctl_table_cell(&t, m->created ? "yes" : "no");
			cell_val(&t, m->rack.set, m->rack.num);
			cell_val(&t, known, m->ended.num);
			cell_val(&t, known, m->complete);
			cell_val(&t, known, m->blocks);
			cell_val(&t, known, m->total);
			ctl_table_cell(&t, m->reason);
		}
	}
	write_table(to, &t);
}

static const char *opening_text(const struct ctl_rdmc *g)
{
	struct ctl_ids away = members_that(g, is_away), late = members_that(g, is_late);
	const char *text = "";

	if (late.count)
		text = ctl_asprintf(", not created yet at: %s", ctl_ids_text(&late));
	if (away.count)
		text = ctl_asprintf("%s, not connected: %s", text, ctl_ids_text(&away));
	return text;
}

/* Say what is wrong, and at which members. Return: NULL if nothing is wrong. */
static const char *trouble(const struct ctl_rdmc *g)
{
	const char *why = ctl_rdmc_error_text(g->error);

	switch (g->state) {
	case SPINDLE_RDMC_GROUP_OPENING:
		return opening_text(g);
	case SPINDLE_RDMC_GROUP_FAILING:
	case SPINDLE_RDMC_GROUP_FAILED:
		break;
	default:
		return NULL;
	}
	return ctl_asprintf(", %s%s", why ? why : ctl_name(&ctl_rdmc_error, g->error),
			    g->culprit ? ctl_asprintf(" (node %llu)",
						      (unsigned long long)g->culprit) : "");
}

static void write_trouble(FILE *to, const struct span *span)
{
	bool first = true;
	unsigned int i;

	for (i = 0; i < span->now->groups; i++) {
		const struct ctl_rdmc *g = &span->now->group[i];
		const char *text = trouble(g);

		if (!text)
			continue;
		fprintf(to, "%sgroup %llu of node %llu: %s%s.\n", first ? "\n" : "",
			(unsigned long long)g->id, (unsigned long long)g->node,
			ctl_name(&ctl_rdmc_state, g->state), text);
		first = false;
	}
}

static void write_text(FILE *to, const struct span *span)
{
	if (!span->now->groups) {
		fputs("There are no RDMC groups. Processes create them, with /dev/spindle-rdmc.\n",
		      to);
		return;
	}
	write_groups(to, span);
	write_objects(to, span);
	if (ctl_opts.verbose)
		write_members(to, span);
	write_trouble(to, span);
}

/* ---- repeated looks ----------------------------------------------------- */

/* No group matches the request: report the node or the group that does not exist. */
static int check_question(struct ctl_net *net, const char *what, const struct ctl_val *val)
{
	struct ctl_running *running;
	unsigned int count;

	if (val[RDMC_NODE].set &&
	    ctl_fetch(net, what, &val[RDMC_NODE], &running, &count, false))
		return CTL_FAILED;
	if (!val[RDMC_GROUP].set)
		return CTL_OK;
	ctl_err("there is no RDMC group %llu%s", (unsigned long long)val[RDMC_GROUP].num,
		val[RDMC_NODE].set ? " at this node" : "");
	return CTL_FAILED;
}

static int take(void *ctx, uint64_t n, uint64_t *ns)
{
	struct watch *w = ctx;
	struct ctl_rdmc_sample *now = &w->sample[n % 2];

	if (ctl_rdmc_fetch(&w->net, "rdmc show", &w->val[RDMC_NODE], &w->val[RDMC_GROUP], now))
		return CTL_FAILED;
	/* Only the first look complains, because the group may come and go later. */
	if (!n && !now->groups && check_question(&w->net, "rdmc show", w->val))
		return CTL_FAILED;
	w->span.now = now;
	w->span.before = n ? &w->sample[!(n % 2)] : NULL;
	*ns = now->ns;
	return CTL_OK;
}

static void write_watched(void *ctx, FILE *to)
{
	write_text(to, &((struct watch *)ctx)->span);
}

static int rdmc_show(struct ctl_args *a)
{
	static const struct ctl_look_ops ops = {
		.take = take, .json = print_json, .write = write_watched,
	};
	struct ctl_looks looks = { .delay = CTL_NS_PER_S };
	struct watch w = { 0 };
	uint64_t ns;
	int rc;

	rc = ctl_looks_take(a, &looks);
	if (!rc)
		rc = ctl_args_keys(a, rdmc_keys, w.val, 0);
	if (rc)
		return rc;
	if (ctl_net_open(&w.net, CTL_SAY))
		return CTL_FAILED;
	if (looks.watch)
		return ctl_looks_run(&looks, &ops, &w);
	if (take(&w, 0, &ns))
		return CTL_FAILED;
	if (ctl_opts.json)
		ctl_json_print(json_groups(&w.span));
	else
		write_text(stdout, &w.span);
	return CTL_OK;
}

/* ---- counters ------------------------------------------------------------- */

static void stats_json(const struct ctl_rdmc_sample *now)
{
	struct json_object *list = json_object_new_array(), *obj;
	unsigned int i;

	for (i = 0; i < now->groups; i++) {
		const struct ctl_rdmc *g = &now->group[i];

		obj = json_object_new_object();
		ctl_json_add(obj, "node", ctl_json_num(g->node));
		ctl_json_add(obj, "group", ctl_json_num(g->id));
		ctl_json_str(obj, "state", ctl_name(&ctl_rdmc_state, g->state));
		ctl_json_add(obj, "stats", ctl_json_stats(&ctl_rdmc_stat, &g->stats));
		json_object_array_add(list, obj);
	}
	ctl_json_print(list);
}

static void stats_table(const struct ctl_rdmc_sample *now)
{
	struct ctl_table t = { 0 };
	unsigned int i;

	ctl_table_head(&t, "node group state");
	for (i = 0; i < ctl_rdmc_stat.count; i++)
		if (ctl_rdmc_stat.name[i])
			ctl_table_head(&t, ctl_rdmc_stat.name[i]);
	for (i = 0; i < now->groups; i++) {
		ctl_table_num(&t, now->group[i].node);
		ctl_table_num(&t, now->group[i].id);
		ctl_table_cell(&t, ctl_name(&ctl_rdmc_state, now->group[i].state));
		ctl_table_stats(&t, &ctl_rdmc_stat, &now->group[i].stats);
	}
	ctl_table_print(&t);
}

static int rdmc_stats(struct ctl_args *a)
{
	struct ctl_val val[RDMC_VALS] = { 0 };
	struct ctl_rdmc_sample now;
	struct ctl_net net;
	int rc;

	rc = ctl_args_keys(a, rdmc_keys, val, 0);
	if (rc)
		return rc;
	if (ctl_net_open(&net, CTL_SAY) ||
	    ctl_rdmc_fetch(&net, "rdmc stats", &val[RDMC_NODE], &val[RDMC_GROUP], &now) ||
	    (!now.groups && check_question(&net, "rdmc stats", val)))
		return CTL_FAILED;
	if (ctl_opts.json)
		stats_json(&now);
	else if (now.groups)
		stats_table(&now);
	else
		puts("There are no RDMC groups.");
	return CTL_OK;
}

int ctl_cmd_rdmc(struct ctl_args *a)
{
	static const struct ctl_verb verbs[] = {
		{ "show", rdmc_show }, { "list", rdmc_show }, { "ls", rdmc_show },
		{ "stats", rdmc_stats },
		{ NULL, NULL }
	};

	return ctl_verb(a, verbs);
}
