// SPDX-License-Identifier: GPL-2.0-only
/*
 * Making a plan. See ctl-plan.h.
 *
 * Nothing is sent here. Nodes come before views, and what goes comes before what may
 * take its place.
 */
#include <stdio.h>
#include <string.h>

#include <linux/spindle_genl.h>

#include "ctl.h"
#include "ctl-live.h"
#include "ctl-plan.h"

static struct ctl_step *add_step(struct ctl_plan *plan, char sign, const char *what, int cmd,
				 uint64_t id)
{
	struct ctl_step *step;

	plan->step = ctl_grow(plan->step, plan->steps, sizeof(*plan->step));
	step = &plan->step[plan->steps++];
	step->sign = sign;
	step->what = what;
	step->cmd = cmd;
	step->id.set = true;
	step->id.num = id;
	return step;
}

static const struct ctl_running *find_running(const struct ctl_plan *plan, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < plan->count; i++)
		if (plan->running[i].node.val[CTL_NODE_ID].num == id)
			return &plan->running[i];
	return NULL;
}

static const struct ctl_node *find_wanted(const struct ctl_conf *conf, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < conf->nodes; i++)
		if (conf->node[i].val[CTL_NODE_ID].num == id)
			return &conf->node[i];
	return NULL;
}

static const char *where(const struct ctl_node *node)
{
	const struct ctl_val *port = &node->val[CTL_NODE_PORT];

	return ctl_endpoint_text(&node->val[CTL_NODE_ADDR].addr,
				 port->set ? port->num : SPINDLE_DEF_PORT);
}

/* The lines of a complaint; what was complained about stands above. */
static void say_detail(const char *detail)
{
	if (detail)
		fputs(detail, stderr);
}

static void plan_others(struct ctl_plan *plan)
{
	struct ctl_step *step;
	unsigned int i;

	for (i = 0; i < plan->count; i++) {
		uint64_t id = plan->running[i].node.val[CTL_NODE_ID].num;

		if (find_wanted(plan->conf, id))
			continue;
		step = add_step(plan, plan->prune ? '-' : '.', "node",
				plan->prune ? SPINDLE_CMD_NODE_DEL : 0, id);
		step->text = plan->prune ?
			ctl_asprintf("node %llu", (unsigned long long)id) :
			ctl_asprintf("node %llu is not in %s; left alone (--prune removes it)",
				     (unsigned long long)id, plan->conf->file);
	}
}

/* Return: whether the node will be there and takes a view. */
static bool plan_node(struct ctl_plan *plan, const struct ctl_node *node,
		      const struct ctl_running **run)
{
	unsigned long long id = node->val[CTL_NODE_ID].num;
	bool dead = *run && (*run)->node.state == SPINDLE_NODE_DEAD;
	char *diff = *run ? ctl_node_diff(&(*run)->node, node) : NULL;
	struct ctl_step *step;

	if (*run && !diff && !dead) {
		add_step(plan, '=', "node", 0, id)->text =
			ctl_asprintf("node %llu unchanged", id);
		return true;
	}
	if (*run && !plan->replace) {
		const char *lost =
			"node %llu lost its RDMA device; --replace removes it and makes it anew";
		const char *other =
			"node %llu runs with other values; --replace removes it, which ends "
			"its view and cuts off who uses it, and makes it anew";

		ctl_conf_complain(plan->conf, node->line, dead ? lost : other, id);
		say_detail(diff);
		return false;
	}
	if (*run && (*run)->node.keyed.num && !node->key_file.set) {
		ctl_conf_complain(plan->conf, node->line,
				  "node %llu has a key, and here it has none: to make it anew takes its KeyFile",
				  id);
		return false;
	}
	if (*run) {
		step = add_step(plan, '-', "node", SPINDLE_CMD_NODE_DEL, id);
		step->text = ctl_asprintf("node %llu, to make it anew%s", id,
					  dead ? " (it lost its RDMA device)" : "");
		step->detail = diff;
		*run = NULL;
	}
	step = add_step(plan, '+', "node", SPINDLE_CMD_NODE_ADD, id);
	step->node = node;
	step->text = ctl_asprintf("node %llu at %s", id, where(node));
	return true;
}

static const char *view_summary(const struct ctl_view *view)
{
	struct ctl_ids ids = ctl_view_ids(view);

	return ctl_asprintf("%svid %llu, members %s, %u subgroup%s", view->is_live ? "live, " : "",
			    (unsigned long long)view->vid.num, ctl_ids_text(&ids),
			    view->subgroups, view->subgroups == 1 ? "" : "s");
}

/* A view that runs and that the file does not have. */
static void plan_no_view(struct ctl_plan *plan, unsigned long long id,
			 const struct ctl_running *run)
{
	struct ctl_step *step;

	if (plan->prune) {
		step = add_step(plan, '-', "view", SPINDLE_CMD_VIEW_DEL, id);
		step->text = ctl_asprintf("view of node %llu: vid %llu", id,
					  (unsigned long long)run->view.vid.num);
	} else if (plan->conf->views) {
		step = add_step(plan, '.', "view", 0, id);
		step->text = ctl_asprintf("view of node %llu (vid %llu) is not in %s; left alone (--prune removes it)",
					  id, (unsigned long long)run->view.vid.num,
					  plan->conf->file);
	}
}

static void add_view(struct ctl_plan *plan, const struct ctl_node *node,
		     const struct ctl_view *view)
{
	unsigned long long id = node->val[CTL_NODE_ID].num;
	struct ctl_step *step = add_step(plan, '+', "view", SPINDLE_CMD_VIEW_SET, id);

	step->view = view;
	step->text = ctl_asprintf("view of node %llu: %s", id, view_summary(view));
}

static bool is_running(const struct ctl_running *run, enum spindle_live_state state)
{
	return run && run->in_live && run->live_state == state;
}

static bool has_static(const struct ctl_running *run)
{
	return run && run->has_view && !run->view.is_live;
}

/* Only what has been removed can be followed by a view of the other kind. */
static void other_kind(struct ctl_plan *plan, int line, const struct ctl_running *run)
{
	unsigned long long id = run->node.val[CTL_NODE_ID].num, vid = run->view.vid.num;

	if (has_static(run))
		ctl_conf_complain(plan->conf, line,
				  "node %llu has a static view (vid %llu), which has to go first: spindle-ctl view del node %llu",
				  id, vid, id);
	else if (is_running(run, SPINDLE_LIVE_JOINING))
		ctl_conf_complain(plan->conf, line,
				  "node %llu is joining a live view, which has to end first: spindle-ctl node leave id %llu",
				  id, id);
	else if (is_running(run, SPINDLE_LIVE_STOPPED))
		ctl_conf_complain(plan->conf, line,
				  "node %llu has been in a live view (vid %llu), which has to go first: spindle-ctl view del node %llu",
				  id, vid, id);
	else
		ctl_conf_complain(plan->conf, line,
				  "node %llu is in a live view (vid %llu), which it has to leave first: spindle-ctl node leave id %llu, then view del node %llu",
				  id, vid, id, id);
}

/* A live view that goes on without a node is not to be begun by it a second time. */
static bool is_past(struct ctl_plan *plan, const struct ctl_view *view, unsigned long long id,
		    unsigned long long was)
{
	if (view->vid.num > was)
		return false;
	ctl_conf_complain(plan->conf, view->vid.line,
			  "Vid = %llu: node %llu was in view %llu, and others may go on with it. To have it back: Join = ADDRESS in its [Node], or spindle-ctl node join id %llu contact ADDRESS; to begin another view: a higher Vid",
			  (unsigned long long)view->vid.num, id, was, id);
	return true;
}

/* The view that goes on when a node is made anew; 0: none does, as nobody else is in it. */
static uint64_t left_behind(const struct ctl_running *old)
{
	if (old->view.is_live)
		return old->view.members > 1 ? old->view.vid.num : 0;
	return old->last_vid;
}

/* A node that runs in a live view, and a file that has its first view, or a later one. */
static void plan_running(struct ctl_plan *plan, const struct ctl_view *view,
			 const struct ctl_running *run)
{
	unsigned long long id = run->node.val[CTL_NODE_ID].num, vid = view->vid.num;
	struct ctl_view now = ctl_live_asked(&run->view);
	unsigned long long at = now.vid.num;
	char *members = ctl_member_diff(view, &now);
	char *rules = ctl_rule_diff(&now, view);
	struct ctl_step *step;

	if (vid > at) {
		ctl_conf_complain(plan->conf, view->vid.line,
				  "Vid = %llu: node %llu is in a live view, whose vid grows by itself and is %llu now. To begin another one, all its members have to leave it: spindle-ctl node leave id %llu",
				  vid, id, at, id);
	} else if (rules) {
		ctl_conf_complain(plan->conf, view->line,
				  "node %llu is in a live view with other rules, which cannot change. To begin another one, all its members have to leave it: spindle-ctl node leave id %llu",
				  id, id);
		say_detail(rules);
	} else if (members && vid == at) {
		ctl_conf_complain(plan->conf, view->vid.line,
				  "Vid = %llu: node %llu is in this live view with other members. Who is in it is not for a file to say: see spindle-ctl node join, node leave and node evict",
				  vid, id);
		say_detail(ctl_member_diff(&now, view));
	} else {
		step = add_step(plan, '=', "view", 0, id);
		step->text = vid == at ?
			ctl_asprintf("view of node %llu unchanged (live, vid %llu)", id, vid) :
			ctl_asprintf("view of node %llu unchanged (live, vid %llu by now)", id, at);
		step->detail = members;
	}
}

static void plan_live(struct ctl_plan *plan, const struct ctl_node *node,
		      const struct ctl_view *view, const struct ctl_running *run)
{
	unsigned long long id = node->val[CTL_NODE_ID].num;
	const struct ctl_running *old = find_running(plan, id);
	struct ctl_step *step;

	if (!run && old) {
		if (!is_past(plan, view, id, left_behind(old)))
			add_view(plan, node, view);
	} else if (!run || (!run->has_view && !run->in_live)) {
		add_view(plan, node, view);
	} else if (has_static(run) || is_running(run, SPINDLE_LIVE_JOINING)) {
		other_kind(plan, view->line, run);
	} else if (!is_running(run, SPINDLE_LIVE_STOPPED)) {
		plan_running(plan, view, run);
	} else if (!is_past(plan, view, id, run->view.vid.num)) {
		step = add_step(plan, '~', "view", SPINDLE_CMD_VIEW_SET, id);
		step->view = view;
		step->text = ctl_asprintf("view of node %llu: vid %llu (stopped) -> %s", id,
					  (unsigned long long)run->view.vid.num,
					  view_summary(view));
	}
}

/* A node that is to be in a live view that others have begun. */
static void plan_join(struct ctl_plan *plan, const struct ctl_node *node,
		      const struct ctl_running *run)
{
	const char *contact = ctl_endpoint_text(&node->contact.addr, node->contact.port);
	unsigned long long id = node->val[CTL_NODE_ID].num;
	bool stopped = is_running(run, SPINDLE_LIVE_STOPPED);
	struct ctl_step *step;

	if (has_static(run)) {
		other_kind(plan, node->contact.line, run);
	} else if (is_running(run, SPINDLE_LIVE_FORMING)) {
		ctl_conf_complain(plan->conf, node->contact.line,
				  "node %llu has begun with a view (vid %llu) that has not formed; it has to go first: spindle-ctl view del node %llu",
				  id, (unsigned long long)run->view.vid.num, id);
	} else if (is_running(run, SPINDLE_LIVE_JOINING)) {
		add_step(plan, '=', "view", 0, id)->text =
			ctl_asprintf("view of node %llu: it is joining", id);
	} else if (run && run->in_live && !stopped) {
		add_step(plan, '=', "view", 0, id)->text =
			ctl_asprintf("view of node %llu unchanged (live, vid %llu by now)", id,
				     (unsigned long long)run->view.vid.num);
	} else {
		step = add_step(plan, stopped ? '~' : '+', "view", SPINDLE_CMD_NODE_JOIN, id);
		step->contact = &node->contact;
		step->text = ctl_asprintf("view of node %llu: it begins to join by %s", id,
					  contact);
	}
}

static void plan_view(struct ctl_plan *plan, const struct ctl_node *node,
		      const struct ctl_running *run)
{
	const struct ctl_view *view = ctl_conf_view(plan->conf, node);
	unsigned long long id = node->val[CTL_NODE_ID].num, vid, was;
	struct ctl_step *step;
	char *diff;

	if (node->contact.line) {
		plan_join(plan, node, run);
		return;
	}
	if (!view) {
		if (run && run->has_view)
			plan_no_view(plan, id, run);
		return;
	}
	if (view->is_live) {
		plan_live(plan, node, view, run);
		return;
	}
	if (run && run->in_live) {
		other_kind(plan, view->vid.line, run);
		return;
	}
	if (!run || !run->has_view) {
		add_view(plan, node, view);
		return;
	}
	vid = view->vid.num;
	was = run->view.vid.num;
	diff = ctl_view_diff(&run->view, view);
	if (vid < was) {
		ctl_conf_complain(plan->conf, view->vid.line,
				  "Vid = %llu: node %llu has the view %llu already, which is newer",
				  vid, id, was);
	} else if (vid > was) {
		step = add_step(plan, '~', "view", SPINDLE_CMD_VIEW_SET, id);
		step->view = view;
		step->text = ctl_asprintf("view of node %llu: vid %llu -> %llu", id, was, vid);
		step->detail = diff;
	} else if (diff) {
		ctl_conf_complain(plan->conf, view->vid.line,
				  "Vid = %llu: node %llu has this view with other content; a changed view needs a higher Vid",
				  vid, id);
		say_detail(diff);
	} else {
		add_step(plan, '=', "view", 0, id)->text =
			ctl_asprintf("view of node %llu unchanged (vid %llu)", id, vid);
	}
}

/**
 * ctl_plan_make() - compare what is with what is wanted
 * @plan: in: conf, running, replace, prune; out: the steps
 *
 * Return: CTL_OK, or CTL_FAILED if it cannot be done, having said why
 */
int ctl_plan_make(struct ctl_plan *plan)
{
	struct ctl_conf *conf = plan->conf;
	const struct ctl_running **run;
	bool *here, local;
	unsigned int i;
	int rc;

	run = ctl_alloc(conf->nodes * sizeof(*run) + 1);
	here = ctl_alloc(conf->nodes * sizeof(*here) + 1);
	plan_others(plan);
	for (i = 0; i < conf->nodes; i++) {
		const struct ctl_node *node = &conf->node[i];

		rc = ctl_host_has(&node->val[CTL_NODE_ADDR].addr);
		if (rc < 0) {
			ctl_err("reading the addresses of this machine: %s", strerror(-rc));
			return CTL_FAILED;
		}
		local = rc;
		plan->local += local;
		if (!local) {
			add_step(plan, '.', "node", 0, node->val[CTL_NODE_ID].num)->text =
				ctl_asprintf("node %llu at %s skipped: not an address of this machine",
					     (unsigned long long)node->val[CTL_NODE_ID].num,
					     where(node));
			continue;
		}
		run[i] = find_running(plan, node->val[CTL_NODE_ID].num);
		here[i] = plan_node(plan, node, &run[i]);
	}
	for (i = 0; i < conf->nodes; i++)
		if (here[i])
			plan_view(plan, &conf->node[i], run[i]);
	return conf->errors ? CTL_FAILED : CTL_OK;
}
