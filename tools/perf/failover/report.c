// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables and JSON of changes of a view. See failover.h.
 */
#include <math.h>
#include <stdio.h>

#include <json-c/json.h>

#include "common/clock.h"
#include "common/out.h"
#include "common/util.h"
#include "failover.h"
#include "perf/out.h"

static const char *text(double v)
{
	return perf_metric_text(PERF_M_OWN_MAX, v);
}

/* The length that a share of the gaps does not exceed; 1: the longest one. */
static double quiet_share(const struct perf_quiet *q, double share)
{
	return q->hist.count ? perf_us(perf_hist_quantile(&q->hist, share)) : NAN;
}

/* The rate of messages. It is the requested rate, unless the machine is too slow for that. */
static double sent_rate(const struct perf_quiet *q)
{
	return q->seconds > 0 ? q->sent / q->seconds : NAN;
}

/* ---- tables -------------------------------------------------------------- */

static void print_quiet(const struct perf_failover *f)
{
	unsigned int i;

	printf("\n%-28s %14s %14s %14s %14s %14s\n", "gaps without a change", "median", "99 %",
	       "longest", "gaps", "sent");
	for (i = 0; i < f->quiets; i++) {
		const struct perf_quiet *q = &f->quiet[i];
		char left[64];

		snprintf(left, sizeof(left), "node %u, subgroup %u", q->node, q->subgroup);
		printf("  %-26s %14s %14s %14s %14llu %14s\n", left, text(quiet_share(q, 0.5)),
		       text(quiet_share(q, 0.99)), text(quiet_share(q, 1)),
		       (unsigned long long)q->hist.count,
		       perf_metric_text(PERF_M_RATE, sent_rate(q)));
	}
}

static void print_stat(const char *left, const struct perf_stat *s)
{
	printf("  %-26s %14s %14s %14u\n", left, text(s->median), text(s->max), s->count);
}

static void print_kind(const struct perf_failover *f, enum perf_move kind)
{
	static const char *const line[PERF_FIGURES] = {
		[PERF_F_GAP] = "longest gap",
		[PERF_F_FIXED] = "in the subgroup that stays",
		[PERF_F_DETECT] = "detect",
		[PERF_F_WEDGE] = "wedge",
		[PERF_F_AGREE] = "agree",
		[PERF_F_INSTALL] = "install",
		[PERF_F_JOIN_VIEW] = "joined, from the request",
		[PERF_F_JOIN_ATTACH] = "  attached",
		[PERF_F_JOIN_FIRST] = "  first delivery",
	};
	unsigned int count = perf_change_count(&f->all, kind), i;
	char left[64];

	snprintf(left, sizeof(left), "%s: %u change%s", perf_move_name[kind], count,
		 count == 1 ? "" : "s");
	printf("\n%-28s %14s %14s %14s\n", left, "median", "most", "values");
	for (i = 0; i < f->quiets && !f->quiet[i].fixed; i++) {
		struct perf_stat s = perf_change_stat(&f->all, kind, PERF_F_GAP,
						      f->quiet[i].node);

		snprintf(left, sizeof(left), "longest gap, node %u", f->quiet[i].node);
		print_stat(left, &s);
	}
	for (i = 0; i < PERF_FIGURES; i++) {
		struct perf_stat s = perf_change_stat(&f->all, kind, i, 0);

		if (s.count && i != PERF_F_GAP)
			print_stat(line[i], &s);
	}
}

/* Print all results. */
void perf_fout_table(const struct perf_failover *f)
{
	const struct perf_fopts *o = f->o;
	unsigned int k;

	printf("%u nodes, %u of them stay; each sends %llu messages of %u bytes per second; ",
	       o->nodes, o->nodes - 1, (unsigned long long)o->load.rate, o->load.size);
	printf("%u repetitions\n", o->reps);
	print_quiet(f);
	for (k = 0; k < PERF_MOVES; k++)
		if (perf_change_count(&f->all, k))
			print_kind(f, k);
	perf_out_drift();
}

/* Print a view that another program has made, as soon as it is there. */
void perf_fout_view(const struct perf_change *c)
{
	const struct perf_stayer *s = &c->stayer[0];

	printf("view %llu: %u members; longest gap %s; detect %s, wedge %s, agree %s, install %s\n",
	       (unsigned long long)c->vid, c->members,
	       text(perf_gap_us(&s->gap)), text(s->phase[CTL_DETECT]),
	       text(s->phase[CTL_WEDGE]), text(s->phase[CTL_AGREE]),
	       text(s->phase[CTL_INSTALL]));
	fflush(stdout);
}

/* Print the totals behind the last view. */
void perf_fout_watched(const struct perf_failover *f)
{
	const struct perf_quiet *q = &f->quiet[0];

	printf("%u views; %llu messages; without a change %llu gaps, median %s, longest %s\n",
	       f->all.changes, (unsigned long long)q->delivered,
	       (unsigned long long)q->hist.count, text(quiet_share(q, 0.5)),
	       text(quiet_share(q, 1)));
}

/* ---- JSON ---------------------------------------------------------------- */

static struct json_object *json_quiet(const struct perf_quiet *q)
{
	struct json_object *obj = json_object_new_object();

	perf_json_num(obj, "node", q->node);
	perf_json_num(obj, "subgroup", q->subgroup);
	ctl_json_add(obj, "fixed", json_object_new_boolean(q->fixed));
	perf_json_num(obj, "sent", q->sent);
	perf_json_num(obj, "sent_per_s", sent_rate(q));
	perf_json_num(obj, "delivered", q->delivered);
	perf_json_num(obj, "gaps", q->hist.count);
	perf_json_num(obj, "median_us", quiet_share(q, 0.5));
	perf_json_num(obj, "p99_us", quiet_share(q, 0.99));
	perf_json_num(obj, "longest_us", quiet_share(q, 1));
	return obj;
}

static struct json_object *json_stayer(const struct perf_stayer *s)
{
	struct json_object *obj = json_object_new_object();
	unsigned int i;

	perf_json_num(obj, "node", s->node);
	perf_json_num(obj, "gaps", s->gap.count);
	perf_json_num(obj, perf_figure_name[PERF_F_GAP], perf_gap_us(&s->gap));
	perf_json_num(obj, "fixed_gaps", s->fixed.count);
	perf_json_num(obj, perf_figure_name[PERF_F_FIXED], perf_gap_us(&s->fixed));
	for (i = 0; i < CTL_PHASES; i++)
		perf_json_num(obj, perf_figure_name[PERF_F_DETECT + i], s->phase[i]);
	return obj;
}

static struct json_object *json_change(const struct perf_change *c)
{
	struct json_object *obj = json_object_new_object(), *list = json_object_new_array();
	unsigned int i;

	if (c->kind < PERF_MOVES) {
		ctl_json_str(obj, "kind", perf_move_name[c->kind]);
		perf_json_num(obj, "repetition", c->rep);
	}
	perf_json_num(obj, "vid", c->vid);
	perf_json_num(obj, "views", c->views);
	perf_json_num(obj, "members", c->members);
	if (c->kind == PERF_MOVE_JOIN) {
		perf_json_num(obj, perf_figure_name[PERF_F_JOIN_VIEW], c->join_view);
		perf_json_num(obj, perf_figure_name[PERF_F_JOIN_ATTACH], c->join_attach);
		perf_json_num(obj, perf_figure_name[PERF_F_JOIN_FIRST], c->join_first);
	}
	for (i = 0; i < c->stayers; i++)
		json_object_array_add(list, json_stayer(&c->stayer[i]));
	ctl_json_add(obj, "survivors", list);
	return obj;
}

static struct json_object *json_stat(const struct perf_stat *s)
{
	struct json_object *obj = json_object_new_object();

	perf_json_num(obj, "values", s->count);
	perf_json_stat(obj, s);
	return obj;
}

static struct json_object *json_kind(const struct perf_changes *all, enum perf_move kind)
{
	struct json_object *obj = json_object_new_object();
	unsigned int i;

	perf_json_num(obj, "changes", perf_change_count(all, kind));
	for (i = 0; i < PERF_FIGURES; i++) {
		struct perf_stat s = perf_change_stat(all, kind, i, 0);

		if (i < PERF_F_JOIN_VIEW || kind == PERF_MOVE_JOIN)
			ctl_json_add(obj, perf_figure_name[i], json_stat(&s));
	}
	return obj;
}

static struct json_object *json_kinds(const struct perf_failover *f)
{
	struct json_object *obj = json_object_new_object();
	unsigned int k;

	for (k = 0; k < PERF_MOVES; k++)
		if (perf_change_count(&f->all, k))
			ctl_json_add(obj, perf_move_name[k], json_kind(&f->all, k));
	return obj;
}

/**
 * perf_fout_json() - write all results
 * @f: results
 * @place: nodes
 *
 * Return: 0 or -errno, after a message
 */
int perf_fout_json(const struct perf_failover *f, const struct perf_place *place)
{
	struct json_object *doc = perf_json_new(place), *list = json_object_new_array();
	struct json_object *config = json_object_new_object();
	unsigned int i;

	json_object_object_del(doc, "runs");
	perf_json_num(doc, "clock_drift", perf_clock.drift);
	perf_json_opts(config, perf_fopts, f->o->watch ? "rate size wait node subgroup" :
		       "rate size nodes repetitions window timeout-ms quiet-ms", f->o);
	ctl_json_add(doc, "config", config);
	for (i = 0; i < f->quiets; i++)
		json_object_array_add(list, json_quiet(&f->quiet[i]));
	ctl_json_add(doc, "quiet", list);
	if (!f->o->watch)
		ctl_json_add(doc, "kinds", json_kinds(f));
	list = json_object_new_array();
	for (i = 0; i < f->all.changes; i++)
		json_object_array_add(list, json_change(&f->all.change[i]));
	ctl_json_add(doc, "changes", list);
	return perf_json_write(doc, f->o->json_file);
}
