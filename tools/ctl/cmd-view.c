// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl view set|del|show
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/spindle.h>
#include <linux/spindle_genl.h>

#include "args.h"
#include "cmd.h"
#include "common/live.h"
#include "common/names.h"
#include "common/out.h"
#include "common/util.h"
#include "common/wire.h"

/* The keys of a view, for messages. The key decides how the words behind it are read. */
#define VIEW_KEYS	"node, vid, live, timeout-ms, max-nodes, quorum, spares, spare-window, " \
			"spare-ring, witness, lineage, insecure, contact, member, subgroup, table"

static int take_member(struct ctl_args *a, struct ctl_view *view)
{
	const char *text = ctl_args_next(a), *err;

	if (!text)
		return ctl_usage(a, "member: ID@ADDR[:PORT] is missing");
	err = ctl_members_add(&view->member, &view->members, text, 0, ctl_member_parse);
	return err ? ctl_usage(a, "member '%s': %s", text, err) : CTL_OK;
}

/* Take a contact that the kernel asks before the view begins. */
static int take_contact(struct ctl_args *a, struct ctl_view *view)
{
	const char *text = ctl_args_next(a), *err;

	if (!text)
		return ctl_usage(a, "contact: ADDR[:PORT] is missing");
	view->is_live = true;
	err = ctl_members_add(&view->contact, &view->contacts, text, 0, ctl_contact_parse);
	return err ? ctl_usage(a, "contact '%s': %s", text, err) : CTL_OK;
}

static int take_lineage(struct ctl_args *a, struct ctl_view *view)
{
	int rc = ctl_args_value(a, &ctl_lineage_key, &view->lineage, "");

	view->is_live = true;
	return rc ? rc : ctl_cmd_lineage(a, &view->lineage);
}

static int take_subgroup(struct ctl_args *a, struct ctl_view *view)
{
	struct ctl_subgroup *sg = CTL_ADD(view->subgroup, view->subgroups);

	return ctl_args_value(a, &ctl_subgroup_keys[CTL_SG_ID], &sg->val[CTL_SG_ID],
			      "subgroup ");
}

/**
 * ctl_take_table() - take the id of a table
 * @a: arguments; the next word is the id
 * @sg: out: the table
 *
 * Return: CTL_OK or CTL_USAGE
 */
int ctl_take_table(struct ctl_args *a, struct ctl_subgroup *sg)
{
	if (sg->val[CTL_SG_MODE].set && !sg->way.num)
		return ctl_usage(a, "the mode is given twice");
	if (!sg->way.num)
		ctl_make_table(sg, 0);
	return ctl_args_value(a, &ctl_subgroup_keys[CTL_SG_ID], &sg->val[CTL_SG_ID], "table ");
}

static int take_ids(struct ctl_args *a, struct ctl_ids *ids, const char *word, const char *in)
{
	const char *text = ctl_args_next(a);
	const char *err;

	if (!text)
		return ctl_usage(a, "%s%s: the list is missing", in, word);
	/* The command line has no line numbers, so any number marks the list as given. */
	if (ids->line)
		return ctl_usage(a, "%s%s is given twice", in, word);
	ids->line = -1;
	if (!strcmp(word, ctl_witness_key.name))
		err = ctl_witness_parse(text, ids);
	else
		err = ctl_ids_parse(text, ids, !strcmp(word, "senders"));
	return err ? ctl_usage(a, "%s%s '%s': %s", in, word, text, err) : CTL_OK;
}

/* Take the members of a view of an earlier era that the last subgroup of the view follows. */
static int take_range(struct ctl_args *a, struct ctl_view *view)
{
	struct ctl_subgroup *sg = &view->subgroup[view->subgroups - 1];
	struct ctl_ids *ids = CTL_ADD(sg->range, sg->ranges);
	const char *text = ctl_args_next(a), *in, *err;

	in = ctl_asprintf("%s ", ctl_subgroup_title(sg));
	if (!text)
		return ctl_usage(a, "%srange: the list is missing", in);
	err = ctl_ids_parse(text, ids, false);
	if (err || !ids->set || ids->count > SPINDLE_MAX_MEMBERS)
		return ctl_usage(a, "%srange '%s': not a list of 64 node ids at most, like 1,2,3 or 1-3",
				 in, text);
	return CTL_OK;
}

/* Is the word a key of a subgroup? */
static bool is_subgroup_word(const char *word)
{
	return ctl_key_find(ctl_subgroup_keys, word) || ctl_key_find(ctl_rule_keys, word) ||
	       !strcmp(word, "members") || !strcmp(word, "senders") || !strcmp(word, "range");
}

/* Take the mode of a table: write or read. */
static int take_way(struct ctl_args *a, struct ctl_subgroup *sg, const char *in)
{
	int rc = ctl_args_value(a, &ctl_table_mode_key, &sg->way, in);

	ctl_take_way(sg);
	return rc;
}

/**
 * ctl_take_subgroup_key() - take a key of the last subgroup of a view, and its value
 * @a: arguments; the next word is the value
 * @view: the view
 * @word: the key
 *
 * Return: CTL_OK or CTL_USAGE
 */
int ctl_take_subgroup_key(struct ctl_args *a, struct ctl_view *view, const char *word)
{
	const struct ctl_key *key = ctl_key_find(ctl_subgroup_keys, word);
	const struct ctl_key *rule = ctl_key_find(ctl_rule_keys, word);
	struct ctl_subgroup *sg;
	const char *in;

	if (!view->subgroups)
		return ctl_usage(a, "'%s' is not known here; there is: " VIEW_KEYS "%s", word,
				 is_subgroup_word(word) ?
				 " (it is said of a subgroup, after 'subgroup ID', or of a table)" :
				 "");
	sg = &view->subgroup[view->subgroups - 1];
	in = ctl_asprintf("%s ", ctl_subgroup_title(sg));
	if (!strcmp(word, "members"))
		return take_ids(a, &sg->members, word, in);
	if (!strcmp(word, "senders"))
		return take_ids(a, &sg->senders, word, in);
	if (sg->way.num && !strcmp(word, ctl_table_mode_key.name))
		return take_way(a, sg, in);
	if (rule)
		return ctl_args_value(a, rule, &sg->rule[rule - ctl_rule_keys], in);
	if (!key || key == &ctl_subgroup_keys[CTL_SG_ID])
		return ctl_usage(a, "'%s' is not known here; there is: " VIEW_KEYS
				 ", and for the subgroup %s, members, senders, %s", word,
				 ctl_key_list(ctl_subgroup_keys + 1, false),
				 ctl_key_list(ctl_rule_keys, false));
	return ctl_args_value(a, key, &sg->val[key - ctl_subgroup_keys], in);
}

/* Take a key of a live view. Such a key makes the view live. */
static int take_live_key(struct ctl_args *a, struct ctl_view *view, const struct ctl_key *key)
{
	view->is_live = true;
	return ctl_args_value(a, key, &view->live[key - ctl_live_keys], "");
}

static int take_view_key(struct ctl_args *a, struct ctl_val *node, struct ctl_view *view,
			 const char *word)
{
	const struct ctl_key *live = ctl_key_find(ctl_live_keys, word);

	if (live)
		return take_live_key(a, view, live);
	if (!strcmp(word, "node"))
		return ctl_args_value(a, &ctl_at_node_keys[0], node, "");
	if (!strcmp(word, "vid"))
		return ctl_args_value(a, &ctl_vid_key, &view->vid, "");
	if (!strcmp(word, "member"))
		return take_member(a, view);
	if (!strcmp(word, "contact"))
		return take_contact(a, view);
	if (!strcmp(word, "lineage"))
		return take_lineage(a, view);
	if (!strcmp(word, ctl_witness_key.name)) {
		view->is_live = true;
		return take_ids(a, &view->witnesses, word, "");
	}
	if (!strcmp(word, "subgroup"))
		return take_subgroup(a, view);
	if (!strcmp(word, "table"))
		return ctl_take_table(a, CTL_ADD(view->subgroup, view->subgroups));
	if (!strcmp(word, "range") && view->subgroups)
		return take_range(a, view);
	if (!strcmp(word, ctl_insecure_key.name)) {
		view->insecure = true;
		return CTL_OK;
	}
	if (strcmp(word, "live"))
		return ctl_take_subgroup_key(a, view, word);
	view->is_live = true;
	return CTL_OK;
}

static int take_view(struct ctl_args *a, struct ctl_val *node, struct ctl_view *view)
{
	const char *word;
	int rc = CTL_OK;

	while (!rc && (word = ctl_args_next(a)))
		rc = take_view_key(a, node, view, word);
	if (rc)
		return rc;
	if (!node->set || !view->vid.set || !view->members)
		return ctl_usage(a, "'%s' is missing",
				 !node->set ? "node" : !view->vid.set ? "vid" : "member");
	return CTL_OK;
}

static int view_set(struct ctl_args *a)
{
	struct ctl_val node = { 0 };
	struct ctl_view view = { 0 };
	struct ctl_net net;
	struct ctl_req *req;
	const char *err;
	unsigned int i;
	int rc, line;

	rc = take_view(a, &node, &view);
	if (rc)
		return rc;
	for (i = 0; i < view.subgroups; i++) {
		err = ctl_subgroup_check(&view, &view.subgroup[i], &line);
		if (err)
			return ctl_usage(a, "%s", err);
	}
	err = ctl_live_check(&view);
	if (err)
		return ctl_usage(a, "%s", err);
	if (!view.subgroups)
		ctl_err("view set: warning: the view has no subgroup, so nobody can send or receive; to add one takes a higher vid");
	if (ctl_net_open(&net, CTL_SAY))
		return CTL_FAILED;
	req = ctl_req_new(&net, SPINDLE_CMD_VIEW_SET, 0, "view set");
	ctl_view_put(req, &node, &view);
	return ctl_net_call(&net, req, NULL, CTL_SAY) ? CTL_FAILED : CTL_OK;
}

static int view_del(struct ctl_args *a)
{
	return ctl_cmd_del(a, ctl_at_node_keys, SPINDLE_CMD_VIEW_DEL);
}

static const struct ctl_field subgroup_fields[] = {
	CTL_FIELD(NUM, NULL, struct ctl_subgroup, val[CTL_SG_ID].num, 0, .head = "subgroup"),
	CTL_FIELD(NUM, NULL, struct ctl_subgroup, val[CTL_SG_ID].num, 0, .head = "table"),
	CTL_MADE(NULL, ctl_mode_text, .head = "mode"),
	CTL_FIELD(KEYS, NULL, struct ctl_subgroup, val, 0, .keys = ctl_subgroup_keys),
	CTL_FIELD(IDS, "members", struct ctl_subgroup, members, 0),
	CTL_FIELD(IDS, "senders", struct ctl_subgroup, senders, 0),
	CTL_FIELD(KEYS, NULL, struct ctl_subgroup, rule, 0, .keys = ctl_rule_keys),
	{ 0 }
};

static struct json_object *json_view(const struct ctl_running *run)
{
	struct json_object *view = json_object_new_object(), *obj;
	struct json_object *list = json_object_new_array();
	unsigned int i;

	ctl_json_add(view, "node", ctl_json_num(run->node.val[CTL_NODE_ID].num));
	ctl_json_add(view, "vid", ctl_json_num(run->view.vid.num));
	if (run->view.is_live) {
		obj = json_object_new_object();
		ctl_json_vals(obj, ctl_live_keys, run->view.live);
		if (run->view.witnesses.count)
			ctl_json_ids(obj, "witness", &run->view.witnesses);
		ctl_json_add(view, "live", obj);
		ctl_json_str(view, "lineage", run->view.lineage.set ?
			     run->view.lineage.str : "");
		ctl_json_add(view, "insecure", json_object_new_boolean(run->view.insecure));
	}
	ctl_json_add(view, "members", ctl_record_list(NULL, ctl_member_fields, run->view.member,
						      run->view.members,
						      sizeof(*run->view.member)));
	for (i = 0; i < run->view.subgroups; i++) {
		struct ctl_subgroup sg = ctl_subgroup_resolve(&run->view,
							      &run->view.subgroup[i]);

		json_object_array_add(list, ctl_record_json(NULL, subgroup_fields, &sg));
	}
	ctl_json_add(view, "subgroups", list);
	return view;
}

static void print_members(const struct ctl_running *run)
{
	struct ctl_table t = { .indent = 4 };
	unsigned int i;

	ctl_table_head(&t, "rank member address");
	for (i = 0; i < run->view.members; i++) {
		const struct ctl_member *m = &run->view.member[i];
		bool self = m->id == run->node.val[CTL_NODE_ID].num;

		ctl_table_num(&t, i);
		ctl_table_num(&t, m->id);
		ctl_table_cell(&t, ctl_asprintf("%s%s", ctl_place_text(m),
						self ? "  (this node)" : ""));
	}
	ctl_table_print(&t);
}

/* Is one of the tables of mode read? Only then a list of tables has their modes. */
static bool has_reads(const struct ctl_view *view)
{
	unsigned int i;

	for (i = 0; i < view->subgroups; i++)
		if (ctl_is_read(&view->subgroup[i]))
			return true;
	return false;
}

/* Has one of the subgroups logs? */
static bool has_logs(const struct ctl_view *view)
{
	unsigned int i;

	for (i = 0; i < view->subgroups; i++)
		if (ctl_is_logged(&view->subgroup[i]))
			return true;
	return false;
}

static const char *columns_of(const struct ctl_view *view, bool tables)
{
	bool live = view->is_live;

	if (tables)
		return ctl_asprintf("table name %scells cell members %sfields",
				    has_reads(view) ? "mode " : "", live ? "shards min " : "");
	return ctl_asprintf("subgroup name mode window max-msg ring hold %smembers senders%s",
			    has_logs(view) ? "log ack deliver min-copies " : "",
			    live ? " shards min on-exit" : "");
}

/* Print the subgroups, or the tables, if there are any. Return: whether there are. */
static bool print_kind(const struct ctl_view *view, bool tables, bool first)
{
	const char *columns = columns_of(view, tables);
	struct ctl_table t = { .indent = 4 };
	unsigned int i, k;

	for (i = 0; i < view->subgroups; i++) {
		struct ctl_subgroup sg = ctl_subgroup_resolve(view, &view->subgroup[i]);

		if (ctl_is_table(&sg) != tables)
			continue;
		for (k = 0; k < CTL_RULE_VALS; k++)
			ctl_val_default(&ctl_rule_keys[k], &sg.rule[k]);
		ctl_record_rows(&t, columns, subgroup_fields, &sg, 1, 0);
	}
	if (!t.columns)
		return false;
	if (!first)
		putchar('\n');
	ctl_table_print(&t);
	return true;
}

static void print_subgroups(const struct ctl_view *view)
{
	bool any = print_kind(view, false, true);

	print_kind(view, true, !any);
}

static void print_view(const struct ctl_running *run)
{
	printf("view %llu of node %llu\n", (unsigned long long)run->view.vid.num,
	       (unsigned long long)run->node.val[CTL_NODE_ID].num);
	if (run->view.is_live)
		printf("    %s\n", ctl_live_text(&run->view));
	if (run->view.lineage.set)
		printf("    lineage %s\n", run->view.lineage.str);
	print_members(run);
	if (!run->view.subgroups) {
		puts("    no subgroups");
		return;
	}
	putchar('\n');
	print_subgroups(&run->view);
}

static int view_show(struct ctl_args *a)
{
	struct json_object *list = json_object_new_array();
	struct ctl_running *running;
	struct ctl_val id = { 0 };
	struct ctl_net net;
	unsigned int count, shown = 0, i;
	int rc;

	rc = ctl_args_keys(a, ctl_at_node_keys, &id, 0);
	if (rc)
		return rc;
	if (ctl_net_open(&net, CTL_SAY) ||
	    ctl_fetch(&net, "view show", &id, &running, &count, true))
		return CTL_FAILED;
	for (i = 0; i < count; i++) {
		if (!running[i].has_view)
			continue;
		if (ctl_opts.json)
			json_object_array_add(list, json_view(&running[i]));
		else if (shown)
			putchar('\n');
		if (!ctl_opts.json)
			print_view(&running[i]);
		shown++;
	}
	if (ctl_opts.json)
		ctl_json_print(list);
	else if (!shown && id.set)
		printf("Node %llu has no view.\n", (unsigned long long)id.num);
	else if (!shown)
		puts("No node has a view.");
	return CTL_OK;
}

int ctl_cmd_view(struct ctl_args *a)
{
	static const struct ctl_verb verbs[] = {
		{ "show", view_show }, { "list", view_show }, { "ls", view_show },
		{ "set", view_set },
		{ "del", view_del }, { "delete", view_del },
		{ NULL, NULL }
	};

	return ctl_verb(a, verbs);
}
