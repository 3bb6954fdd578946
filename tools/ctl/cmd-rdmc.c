// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl rdmc show|stats
 */
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

static const struct ctl_key rdmc_keys[] = {
	[CTL_LOOK_NODE] = CTL_KEY("node", NULL, U32, 0),
	[CTL_LOOK_ID] = CTL_KEY("group", NULL, U64, 0),
	{ .name = NULL }
};

/* ---- JSON ----------------------------------------------------------------- */

static struct json_object *json_groups(const struct ctl_rdmc_sample *now, const char *names)
{
	return ctl_record_list(names, ctl_rdmc_fields, now->group, now->groups,
			       sizeof(*now->group));
}

static void print_json(const struct ctl_span *span)
{
	struct json_object *obj = json_object_new_object();

	ctl_json_str(obj, "time", ctl_now(false));
	ctl_json_add(obj, "seconds", ctl_json_real(span->seconds));
	ctl_json_add(obj, "groups", json_groups(span->now, NULL));
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

static void write_groups(FILE *to, const struct ctl_span *span)
{
	const struct ctl_rdmc_sample *now = span->now;
	struct ctl_table t = { 0 };

	ctl_record_rows(&t, span->before ?
			"node group state error algorithm block members rank objects ended whole "
			"unread in-mb/s out-mb/s process" :
			"node group state error algorithm block members rank objects ended whole "
			"unread process",
			ctl_rdmc_fields, now->group, now->groups, sizeof(*now->group));
	ctl_table_write(&t, to);
}

static void write_table(FILE *to, const struct ctl_table *t)
{
	if (t->cells == t->columns)
		return;
	fputc('\n', to);
	ctl_table_write(t, to);
}

static void write_objects(FILE *to, const struct ctl_rdmc_sample *now)
{
	const struct ctl_rdmc *g;
	struct ctl_table t = { 0 };

	for (g = now->group; g < now->group + now->groups; g++)
		ctl_record_rows(&t, "node group object bytes tag phase done% slowest ms",
				ctl_rdmc_object_fields, g->object, g->objects,
				sizeof(*g->object));
	write_table(to, &t);
}

static void write_members(FILE *to, const struct ctl_rdmc_sample *now)
{
	const struct ctl_rdmc *g;
	struct ctl_table t = { 0 };

	for (g = now->group; g < now->group + now->groups; g++)
		ctl_record_rows(&t, "node group member state created rack ended whole blocks of "
				"reason", ctl_rdmc_member_fields, g->member, g->members,
				sizeof(*g->member));
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

static void write_trouble(FILE *to, const struct ctl_rdmc_sample *now)
{
	const struct ctl_rdmc *g;
	const char *text, *gap = "\n";

	for (g = now->group; g < now->group + now->groups; g++) {
		text = trouble(g);
		if (!text)
			continue;
		fprintf(to, "%sgroup %llu of node %llu: %s%s.\n", gap, (unsigned long long)g->id,
			(unsigned long long)g->node, ctl_name(&ctl_rdmc_state, g->state), text);
		gap = "";
	}
}

static void write_text(const struct ctl_span *span, FILE *to)
{
	const struct ctl_rdmc_sample *now = span->now;

	if (!now->groups) {
		fputs("There are no RDMC groups. Processes create them, with /dev/spindle-rdmc.\n",
		      to);
		return;
	}
	write_groups(to, span);
	write_objects(to, now);
	if (ctl_opts.verbose)
		write_members(to, now);
	write_trouble(to, now);
}

/* ---- repeated looks ----------------------------------------------------- */

static int take(struct ctl_looks *looks, const struct ctl_span *span)
{
	const struct ctl_val *node = &looks->val[CTL_LOOK_NODE], *id = &looks->val[CTL_LOOK_ID];
	struct ctl_rdmc_sample *now = span->now;

	if (ctl_rdmc_fetch(&looks->net, "rdmc show", node, id, now))
		return CTL_FAILED;
	if (span->before)
		ctl_rdmc_rates(now, span->before, span->seconds);
	/* Only the first look complains, because the group may come and go later. */
	else if (!now->groups)
		return ctl_cmd_none(&looks->net, "rdmc show", node, "RDMC group", id);
	return CTL_OK;
}

static int rdmc_show(struct ctl_args *a)
{
	static const struct ctl_look_ops ops = {
		.sample = sizeof(struct ctl_rdmc_sample),
		.take = take, .json = print_json, .write = write_text,
	};
	struct ctl_looks looks = { .delay = CTL_NS_PER_S };
	struct ctl_rdmc_sample now = { 0 };
	struct ctl_span span = { .now = &now };
	int rc;

	rc = ctl_looks_take(a, rdmc_keys, &looks);
	if (rc)
		return rc;
	if (looks.watch)
		return ctl_looks_run(&looks, &ops);
	if (take(&looks, &span))
		return CTL_FAILED;
	if (ctl_opts.json)
		ctl_json_print(json_groups(&now, NULL));
	else
		write_text(&span, stdout);
	return CTL_OK;
}

/* ---- counters ------------------------------------------------------------- */

static void stats_table(const struct ctl_rdmc_sample *now)
{
	struct ctl_table t = { 0 };

	ctl_record_rows(&t, "node group state stats", ctl_rdmc_fields, now->group, now->groups,
			sizeof(*now->group));
	ctl_table_print(&t);
}

static int rdmc_stats(struct ctl_args *a)
{
	struct ctl_val val[CTL_LOOK_VALS] = { 0 };
	const struct ctl_val *node = &val[CTL_LOOK_NODE], *id = &val[CTL_LOOK_ID];
	struct ctl_rdmc_sample now = { 0 };
	struct ctl_net net;
	int rc;

	rc = ctl_args_keys(a, rdmc_keys, val, 0);
	if (rc)
		return rc;
	if (ctl_net_open(&net, CTL_SAY) ||
	    ctl_rdmc_fetch(&net, "rdmc stats", node, id, &now) ||
	    (!now.groups && ctl_cmd_none(&net, "rdmc stats", node, "RDMC group", id)))
		return CTL_FAILED;
	if (ctl_opts.json)
		ctl_json_print(json_groups(&now, "node group state stats"));
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
