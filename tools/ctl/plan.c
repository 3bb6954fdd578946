// SPDX-License-Identifier: GPL-2.0-only
/*
 * Making a plan. See plan.h.
 *
 * This file sends nothing. Steps for nodes come before steps for views. A removal comes before an
 * addition that may take the same place.
 */
#include <stdio.h>
#include <string.h>

#include <linux/spindle_genl.h>

#include "common/live.h"
#include "common/util.h"
#include "conf.h"
#include "diff.h"
#include "host.h"
#include "plan.h"

/**
 * ctl_plan_step() - add a step
 * @plan: plan
 * @sign: @what of the step is added, removed, changed, and so on: see struct ctl_step
 * @what: "node", "view" or "subgroup"
 * @cmd: enum spindle_cmd; 0: nothing to do
 * @id: node id
 *
 * Return: the step, without a text
 */
struct ctl_step *ctl_plan_step(struct ctl_plan *plan, char sign, const char *what, int cmd,
			       uint64_t id)
{
	struct ctl_step *step = CTL_ADD(plan->step, plan->steps);

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
	struct ctl_member self = ctl_node_member(node);

	return ctl_place_text(&self);
}

/**
 * ctl_plan_say() - print the lines that belong to the complaint above them
 * @detail: lines, or NULL
 */
void ctl_plan_say(const char *detail)
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
		step = ctl_plan_step(plan, plan->prune ? '-' : '.', "node",
				     plan->prune ? SPINDLE_CMD_NODE_DEL : 0, id);
		step->text = plan->prune ?
			ctl_asprintf("node %llu", (unsigned long long)id) :
			ctl_asprintf("node %llu is not in %s; left alone (--prune removes it)",
				     (unsigned long long)id, plan->conf->file);
	}
}

/* Plan the steps for a node. Return: whether the node will exist and take a view. */
static bool plan_node(struct ctl_plan *plan, const struct ctl_node *node,
		      const struct ctl_running **run)
{
	unsigned long long id = node->val[CTL_NODE_ID].num;
	bool dead = *run && (*run)->node.state == SPINDLE_NODE_DEAD;
	char *diff = *run ? ctl_node_diff(&(*run)->node, node) : NULL;
	struct ctl_step *step;

	if (*run && !diff && !dead) {
		ctl_plan_step(plan, '=', "node", 0, id)->text =
			ctl_asprintf("node %llu unchanged", id);
		return true;
	}
	if (*run && !plan->replace) {
		const char *lost =
			"node %llu lost its RDMA device; --replace removes it and makes it again";
		const char *other =
			"node %llu runs with other values; --replace removes it, which ends "
			"its view, cuts off the processes that use it, and makes it again";

		ctl_conf_complain(plan->conf, node->line, dead ? lost : other, id);
		ctl_plan_say(diff);
		return false;
	}
	if (*run && (*run)->node.keyed.num && !node->key_file.set) {
		ctl_conf_complain(plan->conf, node->line,
				  "node %llu has a key, and here it has none: to make it again takes its KeyFile",
				  id);
		return false;
	}
	if (*run) {
		step = ctl_plan_step(plan, '-', "node", SPINDLE_CMD_NODE_DEL, id);
		step->text = ctl_asprintf("node %llu, to make it again%s", id,
					  dead ? " (it lost its RDMA device)" : "");
		step->detail = diff;
		*run = NULL;
	}
	step = ctl_plan_step(plan, '+', "node", SPINDLE_CMD_NODE_ADD, id);
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

/* Plan for a node that has a view, although the file has none for it. */
static void plan_no_view(struct ctl_plan *plan, unsigned long long id,
			 const struct ctl_running *run)
{
	struct ctl_step *step;

	if (plan->prune) {
		step = ctl_plan_step(plan, '-', "view", SPINDLE_CMD_VIEW_DEL, id);
		step->text = ctl_asprintf("view of node %llu: vid %llu", id,
					  (unsigned long long)run->view.vid.num);
	} else if (plan->conf->views) {
		step = ctl_plan_step(plan, '.', "view", 0, id);
		step->text = ctl_asprintf("view of node %llu (vid %llu) is not in %s; left alone (--prune removes it)",
					  id, (unsigned long long)run->view.vid.num,
					  plan->conf->file);
	}
}

static void add_view(struct ctl_plan *plan, const struct ctl_node *node,
		     const struct ctl_view *view)
{
	unsigned long long id = node->val[CTL_NODE_ID].num;
	struct ctl_step *step = ctl_plan_step(plan, '+', "view", SPINDLE_CMD_VIEW_SET, id);

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

/* A node has to lose its view before it can get one of the other kind, live or static. */
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

/* The node runs in a live view. The file has the first view of its group, or a later one. */
static void plan_running(struct ctl_plan *plan, const struct ctl_view *view,
			 const struct ctl_running *run)
{
	unsigned long long id = run->node.val[CTL_NODE_ID].num, vid = view->vid.num;
	struct ctl_view now = ctl_live_asked(&run->view);
	unsigned long long at = now.vid.num;
	char *members = ctl_member_diff(view, &now);
	char *rules = ctl_live_diff(&now, view);
	struct ctl_step *step;

	if (vid > at) {
		ctl_conf_complain(plan->conf, view->vid.line,
				  "Vid = %llu: node %llu is in a live view, whose vid grows by itself and is %llu now. To begin another one, all its members have to leave it: spindle-ctl node leave id %llu",
				  vid, id, at, id);
	} else if (rules) {
		ctl_conf_complain(plan->conf, view->line,
				  "node %llu is in a live view with other rules, which cannot change. To begin another one, all its members have to leave it: spindle-ctl node leave id %llu",
				  id, id);
		ctl_plan_say(rules);
	} else if (!ctl_plan_rules(plan, view, id, &now)) {
		step = ctl_plan_step(plan, '=', "view", 0, id);
		step->text = vid == at ?
			ctl_asprintf("view of node %llu unchanged (live, vid %llu)", id, vid) :
			ctl_asprintf("view of node %llu unchanged (live, vid %llu by now)", id, at);
		step->detail = members;
	}
}

/* Add a contact, unless it is in the list already or is the node itself. */
static void add_contact(struct ctl_step *step, const struct ctl_node *node,
			const struct ctl_member *other, struct ctl_member **list)
{
	struct ctl_member self = ctl_node_member(node);
	unsigned int i;

	if (other->addr.family != self.addr.family || ctl_same_place(other, &self) ||
	    step->contacts == SPINDLE_MAX_CONTACTS)
		return;
	for (i = 0; i < step->contacts; i++)
		if (ctl_same_place(other, &(*list)[i]))
			return;
	*CTL_ADD(*list, step->contacts) = *other;
	step->contact = *list;
}

/*
 * Find the contacts to ask: those of the node's section. Without any, they are all other nodes of
 * the file and all other members of the view.
 */
static void find_contacts(const struct ctl_plan *plan, struct ctl_step *step,
			  const struct ctl_node *node, const struct ctl_view *view)
{
	struct ctl_member *list = NULL, other;
	unsigned int i;

	for (i = 0; i < node->contacts; i++)
		add_contact(step, node, &node->contact[i], &list);
	for (i = 0; !node->contacts && i < plan->conf->nodes; i++) {
		other = ctl_node_member(&plan->conf->node[i]);
		add_contact(step, node, &other, &list);
	}
	for (i = 0; !node->contacts && view && i < view->members; i++)
		add_contact(step, node, &view->member[i], &list);
}

static const char *contacts_text(const struct ctl_step *step)
{
	const char *text = "";
	unsigned int i;

	for (i = 0; i < step->contacts; i++)
		text = ctl_asprintf("%s%s%s", text, i ? ", " : "",
				    ctl_place_text(&step->contact[i]));
	return text;
}

/* The view as the first node begins it. All other nodes join. */
static const struct ctl_view *begun_by(const struct ctl_node *node, const struct ctl_view *view,
				       const struct ctl_step *step)
{
	struct ctl_member *self = ctl_view_member(view, node->val[CTL_NODE_ID].num);
	struct ctl_view *first = ctl_alloc(sizeof(*first));

	*first = *view;
	first->insecure = node->insecure.num;
	first->member = self;
	first->members = 1;
	first->subgroup = ctl_plan_subgroups(view);
	first->contact = (struct ctl_member *)step->contact;
	first->contacts = step->contacts;
	return first;
}

/* Does the plan keep the node, without removing it? */
static bool stays(const struct ctl_plan *plan, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < plan->steps; i++)
		if (plan->step[i].cmd == SPINDLE_CMD_NODE_DEL && plan->step[i].id.num == id)
			return false;
	return true;
}

/* Is a node of this machine in the view, or does a step before this one begin it? */
static bool is_begun(const struct ctl_plan *plan, const struct ctl_view *view)
{
	unsigned int i;

	for (i = 0; i < plan->count; i++) {
		const struct ctl_running *run = &plan->running[i];

		if (ctl_view_member(view, run->node.val[CTL_NODE_ID].num) && run->in_live &&
		    stays(plan, run->node.val[CTL_NODE_ID].num) &&
		    run->live_state != SPINDLE_LIVE_STOPPED &&
		    run->live_state != SPINDLE_LIVE_JOINING)
			return true;
	}
	for (i = 0; i < plan->steps; i++)
		if (plan->step[i].view && plan->step[i].view->line == view->line)
			return true;
	return false;
}

static void plan_begin(struct ctl_plan *plan, const struct ctl_node *node,
		       const struct ctl_view *view, const struct ctl_running *run)
{
	unsigned long long id = node->val[CTL_NODE_ID].num;
	struct ctl_step *step;

	if (is_running(run, SPINDLE_LIVE_JOINING))
		ctl_plan_step(plan, '-', "view", SPINDLE_CMD_NODE_LEAVE, id)->text =
			ctl_asprintf("view of node %llu: it does not join any more", id);
	step = ctl_plan_step(plan, is_running(run, SPINDLE_LIVE_STOPPED) ? '~' : '+', "view",
			     SPINDLE_CMD_VIEW_SET, id);
	if (!plan->force)
		find_contacts(plan, step, node, view);
	step->begins = step->contacts;
	step->view = begun_by(node, view, step);
	step->text = ctl_asprintf("view of node %llu begins: %s", id, view_summary(step->view));
}

static void plan_join(struct ctl_plan *plan, const struct ctl_node *node,
		      const struct ctl_view *view, const struct ctl_running *run)
{
	unsigned long long id = node->val[CTL_NODE_ID].num;
	struct ctl_step *step;

	step = ctl_plan_step(plan, is_running(run, SPINDLE_LIVE_STOPPED) ? '~' : '+', "view",
			     SPINDLE_CMD_NODE_JOIN, id);
	find_contacts(plan, step, node, view);
	step->insecure = node->insecure.num ? node->insecure.line : 0;
	step->text = ctl_asprintf("view of node %llu: it begins to join by %s", id,
				  contacts_text(step));
	if (!step->contacts)
		ctl_conf_complain(plan->conf, view->line,
				  "node %llu has nobody to ask for this view: no other node is in the file. To begin it here: spindle-ctl apply --bootstrap",
				  id);
}

/*
 * Plan for a node that is to be in a live view. The view of the file is the one to begin with. To
 * begin it takes --bootstrap, because the other members may still run the view where this node
 * cannot reach them.
 */
static void plan_live(struct ctl_plan *plan, const struct ctl_node *node,
		      const struct ctl_view *view, const struct ctl_running *run)
{
	int line = node->contacts ? node->contact[0].line : view->line;
	unsigned long long id = node->val[CTL_NODE_ID].num;
	bool joining = is_running(run, SPINDLE_LIVE_JOINING);
	bool free = !run || !run->in_live || joining || is_running(run, SPINDLE_LIVE_STOPPED);

	ctl_conf_check_live(plan->conf, node, run && run->node.keyed.set ? run->node.keyed.num :
							node->key_file.set);
	if (has_static(run))
		other_kind(plan, line, run);
	else if (!view && is_running(run, SPINDLE_LIVE_FORMING))
		ctl_conf_complain(plan->conf, line,
				  "node %llu has begun with a view (vid %llu) that has not formed; it has to go first: spindle-ctl view del node %llu",
				  id, (unsigned long long)run->view.vid.num, id);
	else if (free && view && plan->bootstrap && !is_begun(plan, view))
		plan_begin(plan, node, view, run);
	else if (joining)
		ctl_plan_step(plan, '=', "view", 0, id)->text =
			ctl_asprintf("view of node %llu: it is joining", id);
	else if (free)
		plan_join(plan, node, view, run);
	else if (view)
		plan_running(plan, view, run);
	else
		ctl_plan_step(plan, '=', "view", 0, id)->text =
			ctl_asprintf("view of node %llu unchanged (live, vid %llu by now)", id,
				     (unsigned long long)run->view.vid.num);
}

static void plan_view(struct ctl_plan *plan, const struct ctl_node *node,
		      const struct ctl_running *run)
{
	const struct ctl_view *view = ctl_conf_view(plan->conf, node);
	unsigned long long id = node->val[CTL_NODE_ID].num, vid, was;
	struct ctl_step *step;
	char *diff;

	if (node->contacts || (view && view->is_live)) {
		plan_live(plan, node, view, run);
		return;
	}
	if (!view) {
		if (run && run->has_view)
			plan_no_view(plan, id, run);
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
		step = ctl_plan_step(plan, '~', "view", SPINDLE_CMD_VIEW_SET, id);
		step->view = view;
		step->text = ctl_asprintf("view of node %llu: vid %llu -> %llu", id, was, vid);
		step->detail = diff;
	} else if (diff) {
		ctl_conf_complain(plan->conf, view->vid.line,
				  "Vid = %llu: node %llu has this view with other content; a changed view needs a higher Vid",
				  vid, id);
		ctl_plan_say(diff);
	} else {
		ctl_plan_step(plan, '=', "view", 0, id)->text =
			ctl_asprintf("view of node %llu unchanged (vid %llu)", id, vid);
	}
}

/**
 * ctl_plan_make() - compare what runs with what is wanted
 * @plan: in: conf, running, replace, prune, bootstrap, force; out: the steps
 *
 * Return: CTL_OK, or CTL_FAILED after a message if there is no such plan
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
			ctl_plan_step(plan, '.', "node", 0, node->val[CTL_NODE_ID].num)->text =
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
	if (!conf->errors)
		ctl_plan_check(plan);
	return conf->errors ? CTL_FAILED : CTL_OK;
}
