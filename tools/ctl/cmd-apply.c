// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl apply FILE: change what runs to what the file says.
 *
 * The program reads and checks the whole file and compares it with what runs, before it changes
 * anything. If it runs a second time, nothing is left to do.
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <netlink/msg.h>

#include <linux/spindle_genl.h>

#include "args.h"
#include "cmd.h"
#include "common/live.h"
#include "common/names.h"
#include "common/out.h"
#include "common/status.h"
#include "common/util.h"
#include "conf.h"
#include "plan.h"
#include "secret.h"
#include "wait.h"

/**
 * struct apply - the command line
 */
struct apply {
	/** @file: file */
	const char *file;
	/** @dry_run: change nothing */
	bool dry_run;
	/** @plan: steps to do */
	struct ctl_plan plan;
	/** @json: steps that were done, with -j */
	struct json_object *json;
};

static int take_args(struct ctl_args *a, struct apply *apply)
{
	const char *word;

	while ((word = ctl_args_next(a))) {
		if (!strcmp(word, "--dry-run"))
			apply->dry_run = true;
		else if (!strcmp(word, "--replace"))
			apply->plan.replace = true;
		else if (!strcmp(word, "--prune"))
			apply->plan.prune = true;
		else if (!strcmp(word, "--bootstrap"))
			apply->plan.bootstrap = true;
		else if (!strcmp(word, "--force-new"))
			apply->plan.bootstrap = apply->plan.force = true;
		else if (word[0] == '-' && word[1])
			return ctl_usage(a, "there is no option %s", word);
		else if (apply->file)
			return ctl_usage(a, "one file, not '%s' and '%s'", apply->file, word);
		else
			apply->file = word;
	}
	if (!apply->file)
		return ctl_usage(a, "the file is missing");
	return CTL_OK;
}

/* The words for the signs of steps, for programs. */
static const char *const actions[] = {
	['+'] = "add",
	['-'] = "remove",
	['~'] = "change",
	['='] = "unchanged",
	['.'] = "skipped",
};

static void show_step(struct apply *apply, const struct ctl_step *step)
{
	struct json_object *obj, *lines;
	char *detail, *line;

	if (!ctl_opts.json) {
		printf("%c %s\n%s", step->sign, step->text, step->detail ? step->detail : "");
		return;
	}
	obj = json_object_new_object();
	ctl_json_str(obj, "action", actions[(unsigned char)step->sign]);
	ctl_json_str(obj, "object", step->what);
	ctl_json_add(obj, "node", ctl_json_num(step->id.num));
	ctl_json_str(obj, "text", step->text);
	lines = json_object_new_array();
	detail = ctl_strdup(step->detail ? step->detail : "");
	while ((line = strsep(&detail, "\n")))
		if (*line)
			json_object_array_add(lines, json_object_new_string(line +
							strspn(line, " ")));
	ctl_json_add(obj, "details", lines);
	json_object_array_add(apply->json, obj);
}

/*
 * The kernel asks the contacts before a view begins. Wait for their answers, and report a refusal.
 */
static int wait_begun(struct ctl_net *net, const struct apply *apply, const struct ctl_step *step)
{
	struct ctl_status *s;
	unsigned int count;

	for (;;) {
		if (ctl_fetch_status(net, "apply", &step->id, CTL_SAY, &s, &count) || !count)
			return CTL_FAILED;
		if (!s->is_live || s->state != SPINDLE_LIVE_JOINING)
			break;
		usleep(50000);
	}
	if (s->is_live)
		return CTL_OK;
	ctl_err("%s: the view of node %llu does not begin: %s", apply->plan.conf->file,
		(unsigned long long)step->id.num, ctl_clean(s->reason));
	ctl_err("apply: without --bootstrap the node joins; --force-new begins another group, which can never be one with theirs");
	return CTL_FAILED;
}

/*
 * ctl_secret_put() wipes the key that it gets. A request that only checks gets a copy, because the
 * request that adds the node still needs the key.
 */
static void put_secret(struct ctl_req *req, const struct ctl_node *node, uint8_t check)
{
	struct ctl_secret copy = *node->secret;

	ctl_secret_put(req, node->key_file.line,
		       check == SPINDLE_CHECK_NONE ? node->secret : &copy);
	explicit_bzero(&copy, sizeof(copy));
}

/* The text for messages about a request that makes these changes. */
static const char *changes_title(const struct ctl_step *step, const struct ctl_change *change,
				 unsigned int count)
{
	return ctl_asprintf("%s of the live view of node %llu",
			    count > 1 ? "subgroups" : ctl_subgroup_title(change->sg),
			    (unsigned long long)step->id.num);
}

/* Ask a member to change the subgroups of its live view, and wait for the change. */
static int change_subgroups(struct ctl_net *net, const struct apply *apply,
			    const struct ctl_step *step, unsigned int steps)
{
	struct ctl_change *change = ctl_alloc(steps * sizeof(*change));
	struct ctl_wait w = {
		.how = CTL_WAIT_CHANGE,
		.node = step->id.num,
		.view = step->changes,
		.change = change,
		.timeout_ms = CTL_WAIT_DEF_S * 1000,
		.net = *net,
	};
	struct ctl_req *req;
	unsigned int i;

	for (i = 0; i < steps; i++)
		if (step[i].cmd)
			change[w.changes++] = step[i].change;
	w.what = changes_title(step, change, w.changes);
	req = ctl_req_new(net, SPINDLE_CMD_SUBGROUP_CHANGE, 0, w.what);
	req->file = apply->plan.conf->file;
	ctl_changes_put(req, &step->id, step->changes, change, w.changes);
	return ctl_wait_ask(&w, req);
}

/* Add or remove a node or a view, or have a node join or leave. @check: enum spindle_check */
static int change_node(struct ctl_net *net, const struct apply *apply, const struct ctl_step *step,
		       uint8_t check)
{
	const char *what = ctl_asprintf(step->what[0] == 'v' ? "view of node %llu" : "node %llu",
					(unsigned long long)step->id.num);
	struct ctl_req *req = ctl_req_new(net, step->cmd, 0, what);
	int rc;

	req->file = apply->plan.conf->file;
	if (step->node) {
		ctl_node_put(req, step->node);
		if (step->node->secret)
			put_secret(req, step->node, check);
	} else if (step->view) {
		ctl_view_put(req, &step->id, step->view);
	} else {
		ctl_req_val(req, &ctl_node_keys[CTL_NODE_ID], &step->id);
		if (step->insecure)
			ctl_insecure_put(req, step->insecure);
		ctl_contacts_put(req, step->contact, step->contacts);
	}
	if (check != SPINDLE_CHECK_NONE) {
		ctl_req_mark(req, 0, "check");
		ctl_req_u8(req, SPINDLE_A_CHECK, check);
	}
	rc = ctl_net_call(net, req, NULL, CTL_SAY);
	nlmsg_free(req->msg);
	if (!rc && step->begins && check == SPINDLE_CHECK_NONE)
		rc = wait_begun(net, apply, step);
	return rc;
}

/* Does an earlier step add or remove a node that step @n depends on, or end its join? */
static bool follows(const struct ctl_plan *plan, unsigned int n)
{
	unsigned int i;

	for (i = 0; i < n; i++) {
		const struct ctl_step *step = &plan->step[i];

		/* A node that is removed may free the address that this step needs. */
		if (step->cmd == SPINDLE_CMD_NODE_DEL && plan->step[n].node)
			return true;
		if ((step->cmd == SPINDLE_CMD_NODE_DEL || step->cmd == SPINDLE_CMD_NODE_ADD ||
		     step->cmd == SPINDLE_CMD_VIEW_DEL || step->cmd == SPINDLE_CMD_NODE_LEAVE) &&
		    step->id.num == plan->step[n].id.num)
			return true;
	}
	return false;
}

/* Let the kernel check all steps that it could refuse, before anything is changed. */
static int check_plan(struct ctl_net *net, const struct apply *apply)
{
	const struct ctl_plan *plan = &apply->plan;
	unsigned int i;
	int rc = 0;

	for (i = 0; i < plan->steps; i++) {
		const struct ctl_step *step = &plan->step[i];

		if ((step->node || step->view) &&
		    change_node(net, apply, step, follows(plan, i) ? SPINDLE_CHECK_ALONE :
								   SPINDLE_CHECK_NOW))
			rc = CTL_FAILED;
	}
	if (rc)
		ctl_err("apply: nothing was changed");
	return rc;
}

/* How many steps from this one on are one request? */
static unsigned int together(const struct ctl_plan *plan, unsigned int first)
{
	const struct ctl_view *view = plan->step[first].changes;
	unsigned int end = first + 1;

	while (view && end < plan->steps && plan->step[end].changes == view)
		end++;
	return end - first;
}

/* How many steps change something? */
static unsigned int to_do(const struct ctl_step *step, unsigned int steps)
{
	unsigned int i, n = 0;

	for (i = 0; i < steps; i++)
		n += !!step[i].cmd;
	return n;
}

static int do_steps(struct ctl_net *net, const struct apply *apply, const struct ctl_step *step,
		    unsigned int steps)
{
	if (apply->dry_run || !to_do(step, steps))
		return 0;
	if (step->changes)
		return change_subgroups(net, apply, step, steps);
	return change_node(net, apply, step, SPINDLE_CHECK_NONE);
}

/* Do the steps, and show each one when it is done. A dry run only shows them. */
static int do_plan(struct ctl_net *net, struct apply *apply)
{
	const struct ctl_plan *plan = &apply->plan;
	unsigned int i, k, n, changes = 0;

	for (i = 0; i < plan->steps; i += n) {
		const struct ctl_step *step = &plan->step[i];

		n = together(plan, i);
		if (do_steps(net, apply, step, n)) {
			ctl_err("apply: stopped; %s", changes ?
				"what is listed above has been done" :
				"nothing was changed");
			return CTL_FAILED;
		}
		changes += to_do(step, n);
		for (k = 0; k < n; k++)
			show_step(apply, &step[k]);
	}
	if (apply->dry_run && !ctl_opts.json)
		puts(changes ? "Dry run: nothing was changed." :
			       "Dry run: there is nothing to change.");
	return CTL_OK;
}

static int apply_conf(struct apply *apply)
{
	struct ctl_conf *conf = apply->plan.conf;
	static const struct ctl_val all;
	struct ctl_running *running;
	struct ctl_net net;

	if (ctl_net_open(&net, CTL_SAY)) {
		if (apply->dry_run && !ctl_conf_limits(conf))
			ctl_err("apply: %s has no mistakes that can be seen without it (nodes: %u, views: %u)",
				conf->file, conf->nodes, conf->views);
		return CTL_FAILED;
	}
	if (ctl_fetch(&net, "apply", &all, &running, &apply->plan.count, true))
		return CTL_FAILED;
	apply->plan.running = running;
	if (ctl_plan_make(&apply->plan)) {
		ctl_err("apply: nothing was changed");
		return CTL_FAILED;
	}
	if (!apply->plan.local) {
		ctl_err("apply: no node of %s has an address of this machine%s", conf->file,
			apply->plan.prune ? "; nothing was changed" :
			" (in another network namespace? see -n)");
		return CTL_FAILED;
	}
	if (check_plan(&net, apply))
		return CTL_FAILED;
	return do_plan(&net, apply);
}

int ctl_cmd_apply(struct ctl_args *a)
{
	struct apply apply = { 0 };
	struct ctl_conf conf;
	int rc;

	rc = take_args(a, &apply);
	if (rc)
		return rc;
	if (ctl_conf_read(&conf, apply.file))
		return CTL_FAILED;
	/* The checks would misjudge a file of which a part could not be read. */
	if (!conf.errors)
		ctl_conf_check(&conf);
	if (conf.errors) {
		ctl_err("apply: nothing was changed");
		return CTL_FAILED;
	}
	apply.plan.conf = &conf;
	apply.json = json_object_new_array();
	rc = apply_conf(&apply);
	if (ctl_opts.json)
		ctl_json_print(apply.json);
	return rc;
}
