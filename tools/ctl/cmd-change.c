// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl subgroup add|replace|del, table add|del: changes of the subgroups of a live view.
 *
 * The kernel answers such a request when the node has asked the other members. These commands wait
 * for the end of the change.
 */
#include <ctype.h>
#include <string.h>

#include <linux/spindle_genl.h>

#include "args.h"
#include "cmd.h"
#include "common/live.h"
#include "common/util.h"
#include "common/wire.h"
#include "wait.h"

static const struct ctl_key node_key = CTL_KEY("node", NULL, U32, SPINDLE_A_NODE_ID);

/* Is the command about a table? Then nothing else is meant by its id. */
static bool is_of_table(const struct ctl_args *a)
{
	return !strcmp(a->noun, "table");
}

static int take_id(struct ctl_args *a, struct ctl_subgroup *sg)
{
	return ctl_args_value(a, &ctl_subgroup_keys[CTL_SG_ID], &sg->val[CTL_SG_ID], "");
}

/* Take the words of a subgroup. A number in front of them is the node. */
static int take(struct ctl_args *a, struct ctl_val *node, struct ctl_val *timeout,
		struct ctl_view *view)
{
	struct ctl_subgroup *sg = view->subgroup;
	int rc = CTL_OK, line;
	const char *word, *err;

	if (is_of_table(a))
		ctl_make_table(sg, 0);
	if (a->argc && isdigit((unsigned char)a->argv[0][0]))
		rc = ctl_args_value(a, &node_key, node, "");
	while (!rc && (word = ctl_args_next(a))) {
		if (!strcmp(word, node_key.name))
			rc = ctl_args_value(a, &node_key, node, "");
		else if (!strcmp(word, ctl_timeout_key.name))
			rc = ctl_args_value(a, &ctl_timeout_key, timeout, "");
		else if (!strcmp(word, ctl_subgroup_keys[CTL_SG_ID].name))
			rc = is_of_table(a) ? ctl_take_table(a, sg) : take_id(a, sg);
		else if (!strcmp(word, "table"))
			rc = ctl_take_table(a, sg);
		else
			rc = ctl_take_subgroup_key(a, view, word);
	}
	if (rc)
		return rc;
	if (!node->set || !sg->val[CTL_SG_ID].set)
		return ctl_usage(a, "'%s' is missing",
				 !node->set ? "node" : is_of_table(a) ? "table" : "id");
	if (sg->senders.set && !sg->members.set)
		return ctl_usage(a, "'senders' needs 'members'");
	err = ctl_subgroup_check(view, sg, &line);
	return err ? ctl_usage(a, "%s", err) : CTL_OK;
}

/* Ask the node for one change of its view. */
static int ask(struct ctl_wait *w, const struct ctl_change *change, bool wait)
{
	struct ctl_req *req = ctl_req_new(&w->net, SPINDLE_CMD_SUBGROUP_CHANGE, 0, w->what);
	struct ctl_val node = ctl_val_num(w->node);

	w->how = CTL_WAIT_CHANGE;
	w->change = change;
	w->changes = 1;
	ctl_changes_put(req, &node, w->view, change, 1);
	return ctl_wait_command(w, req, wait);
}

/* @attr: SPINDLE_A_SUBGROUP or SPINDLE_A_REPLACE */
static int add(struct ctl_args *a, int attr)
{
	struct ctl_wait w = { .what = ctl_asprintf("%s %s", a->noun, a->verb) };
	struct ctl_val node = { 0 }, timeout = { 0 };
	struct ctl_view view = { .is_live = true };
	struct ctl_change change = { .attr = attr };
	bool wait = ctl_args_wait(a);
	int rc;

	CTL_ADD(view.subgroup, view.subgroups);
	rc = take(a, &node, &timeout, &view);
	if (rc)
		return rc;
	ctl_val_default(&ctl_timeout_key, &timeout);
	w.node = node.num;
	w.view = &view;
	w.timeout_ms = timeout.num * 1000;
	change.sg = view.subgroup;
	if (ctl_net_open(&w.net, CTL_SAY))
		return CTL_FAILED;
	return ask(&w, &change, wait);
}

int ctl_subgroup_add(struct ctl_args *a)
{
	return add(a, SPINDLE_A_SUBGROUP);
}

int ctl_subgroup_replace(struct ctl_args *a)
{
	return add(a, SPINDLE_A_REPLACE);
}

/* Keys of "subgroup del". */
enum {
	DEL_NODE,
	DEL_ID,
	DEL_NAME,
	DEL_TIMEOUT,
	DEL_VALS
};

/*
 * The subgroup of an id or of a name in the node's view; NULL after a message. An id is taken as it
 * is, unless it has to be that of a table.
 */
static const struct ctl_subgroup *find(struct ctl_wait *w, const struct ctl_args *a,
				       const struct ctl_val *id, const struct ctl_val *name)
{
	struct ctl_val node = ctl_val_num(w->node);
	const struct ctl_subgroup *sg = NULL;
	struct ctl_running *running;
	unsigned int count;

	if (ctl_fetch(&w->net, w->what, &node, &running, &count, true))
		return NULL;
	if (count)
		sg = name->set ? ctl_view_named(&running->view, name->str) :
				 ctl_view_subgroup(&running->view, id->num);
	if (sg && is_of_table(a) && !ctl_is_table(sg)) {
		ctl_err("%s: %s has messages and is no table", w->what, ctl_subgroup_title(sg));
		return NULL;
	}
	if (!sg)
		ctl_err("%s: node %llu is in no view with a %s %s", w->what,
			(unsigned long long)w->node, a->noun,
			name->set ? ctl_asprintf("'%s'", ctl_clean(name->str)) :
				    ctl_asprintf("%llu", (unsigned long long)id->num));
	return sg;
}

int ctl_subgroup_del(struct ctl_args *a)
{
	const struct ctl_key keys[] = {
		[DEL_NODE] = node_key,
		[DEL_ID] = CTL_KEY("id", NULL, U32, SPINDLE_A_REMOVE),
		[DEL_NAME] = CTL_KEY("name", NULL, STR, SPINDLE_A_SUBGROUP_NAME),
		[DEL_TIMEOUT] = ctl_timeout_key,
		{ .name = NULL }
	};
	struct ctl_change change = { .attr = SPINDLE_A_REMOVE };
	struct ctl_wait w = { .what = ctl_asprintf("%s del", a->noun) };
	struct ctl_val val[DEL_VALS] = { 0 };
	struct ctl_subgroup sg = { 0 };
	bool wait = ctl_args_wait(a);
	int rc = ctl_args_keys(a, keys, val, 1U << DEL_NODE);

	if (rc)
		return rc;
	if (val[DEL_ID].set == val[DEL_NAME].set)
		return ctl_usage(a, "which %s? Give its id or its name", a->noun);
	ctl_val_default(&ctl_timeout_key, &val[DEL_TIMEOUT]);
	w.node = val[DEL_NODE].num;
	w.timeout_ms = val[DEL_TIMEOUT].num * 1000;
	if (ctl_net_open(&w.net, CTL_SAY))
		return CTL_FAILED;
	sg.val[CTL_SG_ID] = val[DEL_ID];
	change.sg = val[DEL_ID].set && !is_of_table(a) ? &sg :
						find(&w, a, &val[DEL_ID], &val[DEL_NAME]);
	return change.sg ? ask(&w, &change, wait) : CTL_FAILED;
}
