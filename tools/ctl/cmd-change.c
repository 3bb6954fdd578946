// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl subgroup add|replace|del: changes of the subgroups of a live view.
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

/* Take the words of a subgroup. A number in front of them is the node. */
static int take(struct ctl_args *a, struct ctl_val *node, struct ctl_val *timeout,
		struct ctl_view *view)
{
	struct ctl_subgroup *sg = view->subgroup;
	int rc = CTL_OK, line;
	const char *word, *err;

	if (a->argc && isdigit((unsigned char)a->argv[0][0]))
		rc = ctl_args_value(a, &node_key, node, "");
	while (!rc && (word = ctl_args_next(a))) {
		if (!strcmp(word, node_key.name))
			rc = ctl_args_value(a, &node_key, node, "");
		else if (!strcmp(word, ctl_timeout_key.name))
			rc = ctl_args_value(a, &ctl_timeout_key, timeout, "");
		else if (!strcmp(word, ctl_subgroup_keys[CTL_SG_ID].name))
			rc = ctl_args_value(a, &ctl_subgroup_keys[CTL_SG_ID], &sg->val[CTL_SG_ID],
					    "");
		else
			rc = ctl_take_subgroup_key(a, view, word);
	}
	if (rc)
		return rc;
	if (!node->set || !sg->val[CTL_SG_ID].set)
		return ctl_usage(a, "'%s' is missing", node->set ? "id" : "node");
	if (sg->senders.set && !sg->members.set)
		return ctl_usage(a, "'senders' needs 'members'");
	err = ctl_subgroup_check(view, sg, &line);
	return err ? ctl_usage(a, "%s", err) : CTL_OK;
}

static int add(struct ctl_args *a, bool replace)
{
	struct ctl_wait w = { .how = CTL_WAIT_ADD, .what = ctl_asprintf("subgroup %s", a->verb) };
	struct ctl_val node = { 0 }, timeout = { 0 };
	struct ctl_view view = { .is_live = true };
	bool wait = ctl_args_wait(a);
	struct ctl_req *req;
	int rc;

	CTL_ADD(view.subgroup, view.subgroups);
	rc = take(a, &node, &timeout, &view);
	if (rc)
		return rc;
	ctl_val_default(&ctl_timeout_key, &timeout);
	w.node = node.num;
	w.view = &view;
	w.rule = view.subgroup;
	w.timeout_ms = timeout.num * 1000;
	if (ctl_net_open(&w.net, CTL_SAY))
		return CTL_FAILED;
	req = ctl_req_new(&w.net, SPINDLE_CMD_SUBGROUP_ADD, 0, w.what);
	ctl_added_put(req, &node, &view, view.subgroup, replace);
	return ctl_wait_command(&w, req, wait);
}

int ctl_subgroup_add(struct ctl_args *a)
{
	return add(a, false);
}

int ctl_subgroup_replace(struct ctl_args *a)
{
	return add(a, true);
}

/* Keys of "subgroup del". */
enum {
	DEL_NODE,
	DEL_ID,
	DEL_NAME,
	DEL_TIMEOUT,
	DEL_VALS
};

/* The id of the subgroup of a name, for the wait. Without one the kernel complains. */
static uint64_t id_of(struct ctl_wait *w, const char *name)
{
	struct ctl_val id = ctl_val_num(w->node);
	struct ctl_running *running;
	const struct ctl_subgroup *sg;
	unsigned int count;

	if (ctl_fetch(&w->net, w->what, &id, &running, &count, true) || !count)
		return 0;
	sg = ctl_view_named(&running->view, name);
	return sg ? sg->val[CTL_SG_ID].num : 0;
}

int ctl_subgroup_del(struct ctl_args *a)
{
	const struct ctl_key keys[] = {
		[DEL_NODE] = node_key,
		[DEL_ID] = { .name = "id", .kind = CTL_U32, .attr = SPINDLE_A_SUBGROUP_ID },
		[DEL_NAME] = { .name = "name", .kind = CTL_STR, .attr = SPINDLE_A_SUBGROUP_NAME },
		[DEL_TIMEOUT] = ctl_timeout_key,
		{ .name = NULL }
	};
	struct ctl_wait w = { .how = CTL_WAIT_DEL, .what = "subgroup del" };
	struct ctl_val val[DEL_VALS] = { 0 };
	bool wait = ctl_args_wait(a);
	struct ctl_req *req;
	int rc = ctl_args_keys(a, keys, val, 1U << DEL_NODE);

	if (rc)
		return rc;
	if (val[DEL_ID].set == val[DEL_NAME].set)
		return ctl_usage(a, "which subgroup? Give its id or its name");
	ctl_val_default(&ctl_timeout_key, &val[DEL_TIMEOUT]);
	w.node = val[DEL_NODE].num;
	w.timeout_ms = val[DEL_TIMEOUT].num * 1000;
	if (ctl_net_open(&w.net, CTL_SAY))
		return CTL_FAILED;
	w.subgroup = val[DEL_ID].set ? val[DEL_ID].num : id_of(&w, val[DEL_NAME].str);
	req = ctl_req_new(&w.net, SPINDLE_CMD_SUBGROUP_DEL, 0, w.what);
	ctl_req_val(req, &keys[DEL_NODE], &val[DEL_NODE]);
	ctl_req_val(req, &keys[DEL_ID], &val[DEL_ID]);
	ctl_req_val(req, &keys[DEL_NAME], &val[DEL_NAME]);
	return ctl_wait_command(&w, req, wait);
}
