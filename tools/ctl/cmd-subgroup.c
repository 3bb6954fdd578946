// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl subgroup set|show, table show; add, replace and del have cmd-change.c
 */
#include <stdio.h>
#include <string.h>

#include <linux/spindle.h>
#include <linux/spindle_genl.h>

#include "args.h"
#include "cmd.h"
#include "common/names.h"
#include "common/out.h"
#include "common/util.h"
#include "common/wire.h"
#include "detail.h"

/* The keys of "subgroup show". */
enum {
	SHOW_NODE,
	SHOW_ID,
	SHOW_NAME,
	SHOW_VALS
};

static const struct ctl_key show_keys[] = {
	[SHOW_NODE] = { .name = "node", .kind = CTL_U32 },
	[SHOW_ID] = { .name = "id", .kind = CTL_U32 },
	[SHOW_NAME] = { .name = "name", .kind = CTL_STR },
	{ .name = NULL }
};

/* The keys of "subgroup set" in front of those of the tuning. */
enum {
	SET_NODE,
	SET_ID,
	SET_NAME,
	SET_ALL,
	SET_VALS
};

static const struct ctl_key set_keys[] = {
	[SET_NODE] = { .name = "node", .kind = CTL_U32, .attr = SPINDLE_A_NODE_ID },
	[SET_ID] = { .name = "id", .kind = CTL_U32, .attr = SPINDLE_A_SUBGROUP_ID },
	[SET_NAME] = { .name = "name", .kind = CTL_STR, .attr = SPINDLE_A_SUBGROUP_NAME },
	[SET_ALL] = { .name = "all", .kind = CTL_SWITCH },
	{ .name = NULL }
};

static int subgroup_set(struct ctl_args *a)
{
	struct ctl_key keys[SET_VALS + CTL_TUNE_VALS + 1];
	struct ctl_val val[SET_VALS + CTL_TUNE_VALS] = { 0 };
	struct ctl_val *tune = val + SET_VALS;
	bool any = false;
	struct ctl_net net;
	struct ctl_req *req;
	unsigned int i;
	int rc;

	memcpy(keys, set_keys, SET_VALS * sizeof(*keys));
	memcpy(keys + SET_VALS, ctl_tune_keys, (CTL_TUNE_VALS + 1) * sizeof(*keys));
	rc = ctl_args_keys(a, keys, val, 1U << SET_NODE);
	if (rc)
		return rc;
	if (val[SET_ID].set == val[SET_NAME].set)
		return ctl_usage(a, "which subgroup? Give its id or its name");
	/* Switches that are not named get the value of "all". */
	for (i = 0; i < CTL_TUNE_SWITCHES; i++)
		if (val[SET_ALL].set && !tune[i].set)
			tune[i] = val[SET_ALL];
	for (i = 0; i < CTL_TUNE_VALS; i++)
		any |= tune[i].set;
	if (!any)
		return ctl_usage(a, "there is nothing to set; there is: %s",
				 ctl_key_list(keys + SET_ALL, false));
	if (ctl_net_open(&net, CTL_SAY))
		return CTL_FAILED;
	req = ctl_req_new(&net, SPINDLE_CMD_SUBGROUP_SET, 0, "subgroup set");
	ctl_req_val(req, &keys[SET_NODE], &val[SET_NODE]);
	ctl_req_val(req, &keys[SET_ID], &val[SET_ID]);
	ctl_req_val(req, &keys[SET_NAME], &val[SET_NAME]);
	ctl_tune_put(req, tune);
	return ctl_net_call(&net, req, NULL, CTL_SAY) ? CTL_FAILED : CTL_OK;
}

static struct json_object *json_subgroup(const struct ctl_running_subgroup *s)
{
	struct json_object *obj = json_object_new_object();

	ctl_json_add(obj, "node", ctl_json_num(s->node));
	ctl_json_add(obj, "vid", ctl_json_num(s->vid));
	ctl_record_add(obj, NULL, ctl_subgroup_fields, &s->sg);
	ctl_detail_json(obj, &s->sg);
	return obj;
}

/* Print what is wrong, and what the user can do. */
static void print_trouble(const struct ctl_running_subgroup *s)
{
	const char *why = ctl_error_text(s->sg.error);

	if (s->sg.state == SPINDLE_STATE_FORMING)
		printf("%s of node %llu: forming, not all of its members are connected.\n"
		       "    'spindle-ctl stats node %llu' shows which members are missing, and why.\n",
		       ctl_subgroup_title(&s->sg), (unsigned long long)s->node,
		       (unsigned long long)s->node);
	else if (s->sg.state != SPINDLE_STATE_ACTIVE)
		printf("%s of node %llu: %s, %s.\n"
		       "    A view with a higher vid makes it work again; "
		       "'spindle-ctl stats node %llu' shows the peers.\n",
		       ctl_subgroup_title(&s->sg), (unsigned long long)s->node,
		       ctl_name(&ctl_state, s->sg.state),
		       why ? why : ctl_name(&ctl_error, s->sg.error),
		       (unsigned long long)s->node);
}

/*
 * The columns of subgroups, or of tables. If one table is of mode read, the modes are shown, and if
 * one subgroup has logs, how far messages are durable.
 */
static const char *columns_of(const struct ctl_running_subgroup *list, unsigned int count,
			      bool tables)
{
	bool reads = false, logged = false;
	unsigned int i;

	for (i = 0; i < count; i++) {
		reads |= ctl_is_read(&list[i].sg);
		logged |= list[i].sg.logged;
	}
	if (!tables)
		return ctl_asprintf("subgroup name mode state error members senders sender readers "
				    "lsn %ssent received delivered", logged ? "durable " : "");
	return ctl_asprintf("table name %scells cell state error members files writer taken pushed "
			    "heard generation", reads ? "mode " : "");
}

/* Print the subgroups, or the tables, if there are any. Return: whether there are. */
static bool print_kind(const struct ctl_running_subgroup *list, unsigned int count, bool tables,
		       bool first)
{
	const char *columns = columns_of(list, count, tables);
	struct ctl_table t = { 0 };
	unsigned int i, n = 0;

	ctl_table_head(&t, "node view");
	ctl_table_head(&t, columns);
	for (i = 0; i < count; i++) {
		if (ctl_is_table(&list[i].sg) != tables)
			continue;
		ctl_table_num(&t, list[i].node);
		ctl_table_num(&t, list[i].vid);
		ctl_record_cells(&t, columns, ctl_subgroup_fields, &list[i].sg);
		n++;
	}
	if (!n)
		return false;
	if (!first)
		putchar('\n');
	ctl_table_print(&t);
	return true;
}

static void print_subgroups(const struct ctl_running_subgroup *list, unsigned int count)
{
	bool first = !print_kind(list, count, false, true);
	unsigned int i;

	print_kind(list, count, true, first);
	first = true;
	for (i = 0; i < count; i++) {
		if (list[i].sg.state == SPINDLE_STATE_ACTIVE)
			continue;
		if (first)
			putchar('\n');
		first = false;
		print_trouble(&list[i]);
	}
	for (i = 0; i < count && ctl_opts.verbose; i++) {
		printf("\n%s of node %llu\n", ctl_subgroup_title(&list[i].sg),
		       (unsigned long long)list[i].node);
		ctl_detail_print(&list[i].sg);
	}
}

/* Leave only the tables in a list. Return: how many. */
static unsigned int tables_of(struct ctl_running_subgroup *list, unsigned int count)
{
	unsigned int i, n = 0;

	for (i = 0; i < count; i++)
		if (list[i].sg.tabular)
			list[n++] = list[i];
	return n;
}

/* @tables: show only tables */
static int list_kind(struct ctl_args *a, bool tables)
{
	const char *what = ctl_asprintf("%s show", a->noun);
	struct ctl_running_subgroup *list;
	struct ctl_val val[SHOW_VALS] = { 0 };
	const struct ctl_val *node = &val[SHOW_NODE], *id = &val[SHOW_ID], *name = &val[SHOW_NAME];
	struct json_object *out;
	struct ctl_net net;
	unsigned int count, i;
	int rc;

	rc = ctl_args_keys(a, show_keys, val, 0);
	if (rc)
		return rc;
	if (ctl_net_open(&net, CTL_SAY) ||
	    ctl_fetch_subgroups(&net, what, node, id, name, &list, &count))
		return CTL_FAILED;
	if (tables)
		count = tables_of(list, count);
	if (!count && ctl_cmd_none(&net, what, node, a->noun, name->set ? name : id))
		return CTL_FAILED;
	out = json_object_new_array();
	for (i = 0; i < count && ctl_opts.json; i++)
		json_object_array_add(out, json_subgroup(&list[i]));
	if (ctl_opts.json)
		ctl_json_print(out);
	else if (count)
		print_subgroups(list, count);
	else
		printf("There are no %ss. They come with a view: spindle-ctl help view\n", a->noun);
	return CTL_OK;
}

static int subgroup_show(struct ctl_args *a)
{
	return list_kind(a, false);
}

/**
 * ctl_table_show() - show tables, and no other subgroups
 * @a: arguments
 *
 * Return: exit code
 */
int ctl_table_show(struct ctl_args *a)
{
	return list_kind(a, true);
}

int ctl_cmd_subgroup(struct ctl_args *a)
{
	static const struct ctl_verb verbs[] = {
		{ "show", subgroup_show }, { "list", subgroup_show }, { "ls", subgroup_show },
		{ "set", subgroup_set },
		{ "add", ctl_subgroup_add }, { "replace", ctl_subgroup_replace },
		{ "del", ctl_subgroup_del }, { "delete", ctl_subgroup_del },
		{ NULL, NULL }
	};

	return ctl_verb(a, verbs);
}
