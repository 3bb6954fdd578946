// SPDX-License-Identifier: GPL-2.0-only
/*
 * Planning the subgroups of a live view that runs. See plan.h.
 *
 * One member changes them for all, so the first node of the file that is in the view gets the
 * steps. They are one request. The kernel removes subgroups, then replaces, then adds them, and so
 * does the plan.
 */
#include <linux/spindle_genl.h>

#include "common/live.h"
#include "common/util.h"
#include "conf.h"
#include "diff.h"
#include "plan.h"

/**
 * struct rules - a live view that runs, and the one that the file wants
 */
struct rules {
	/** @plan: plan */
	struct ctl_plan *plan;
	/** @node: the member that gets the requests */
	uint64_t node;
	/** @now: view that runs, with a subgroup for each rule */
	const struct ctl_view *now;
	/** @view: view of the file */
	const struct ctl_view *view;
	/** @wanted: its subgroups, with the nodes that they name */
	const struct ctl_subgroup *wanted;
	/** @refused: lines of what a view without spares cannot do, or NULL */
	const char *refused;
	/** @differs: the views have not the same subgroups */
	bool differs;
};

/**
 * ctl_plan_subgroups() - the subgroups of a live view of a file, as the kernel is asked for them
 * @view: view
 *
 * Where a subgroup names senders and no members, its members are those of the whole view.
 *
 * Return: an array
 */
struct ctl_subgroup *ctl_plan_subgroups(const struct ctl_view *view)
{
	struct ctl_subgroup *list = ctl_alloc(view->subgroups * sizeof(*list) + 1);
	unsigned int i;

	for (i = 0; i < view->subgroups; i++) {
		list[i] = view->subgroup[i];
		if (list[i].senders.set && !list[i].members.set)
			list[i].members = ctl_view_users(view);
	}
	return list;
}

/* @attr: see struct ctl_change; 0: there is nothing to do */
static struct ctl_step *add_step(struct rules *r, char sign, int attr,
				 const struct ctl_subgroup *sg, const char *what)
{
	struct ctl_step *step = ctl_plan_step(r->plan, sign, "subgroup",
					      attr ? SPINDLE_CMD_SUBGROUP_CHANGE : 0, r->node);

	step->changes = r->view;
	step->change = (struct ctl_change){ .attr = attr, .sg = sg };
	step->text = ctl_asprintf("%s of the live view of node %llu%s", ctl_subgroup_title(sg),
				  (unsigned long long)r->node, what);
	r->differs = true;
	return step;
}

static void plan_removed(struct rules *r)
{
	const char *left = ctl_asprintf(" is not in %s; left alone (--prune removes it)",
					r->plan->conf->file);
	unsigned int i;

	for (i = 0; i < r->now->subgroups; i++) {
		const struct ctl_subgroup *sg = &r->now->subgroup[i];

		if (ctl_view_subgroup(r->view, sg->val[CTL_SG_ID].num))
			continue;
		if (r->plan->prune)
			add_step(r, '-', SPINDLE_A_REMOVE, sg, "");
		else
			add_step(r, '.', 0, sg, left);
	}
}

/* A subgroup can be replaced or added only if the view was begun with spares. */
static bool has_spare(struct rules *r, const char *detail)
{
	if (r->now->live[CTL_LIVE_SPARES].num)
		return true;
	r->refused = ctl_asprintf("%s%s", r->refused ? r->refused : "", detail);
	return false;
}

static void plan_replaced(struct rules *r)
{
	unsigned int i;

	for (i = 0; i < r->view->subgroups; i++) {
		const struct ctl_subgroup *sg = &r->wanted[i], *was;
		char *diff;

		was = ctl_view_subgroup(r->now, sg->val[CTL_SG_ID].num);
		diff = was ? ctl_rule_diff(r->now, was, r->view, sg) : NULL;
		if (!diff || !has_spare(r, diff))
			continue;
		if (!r->plan->replace) {
			ctl_conf_complain(r->plan->conf, sg->val[CTL_SG_ID].line,
					  "%s of the live view of node %llu has other rules; --replace gives it these, which ends the attachments of the processes that use it",
					  ctl_subgroup_title(sg), (unsigned long long)r->node);
			ctl_plan_say(diff);
			r->differs = true;
		} else {
			add_step(r, '~', SPINDLE_A_REPLACE, sg, "")->detail = diff;
		}
	}
}

static void plan_added(struct rules *r)
{
	unsigned int i;

	for (i = 0; i < r->view->subgroups; i++) {
		const struct ctl_subgroup *sg = &r->wanted[i];

		if (!ctl_view_subgroup(r->now, sg->val[CTL_SG_ID].num) &&
		    has_spare(r, ctl_asprintf("    %s comes\n", ctl_subgroup_title(sg))))
			add_step(r, '+', SPINDLE_A_SUBGROUP, sg, "");
	}
}

/* The node whose steps change the view already, or NULL. */
static const struct ctl_step *changed_by(const struct ctl_plan *plan, const struct ctl_view *view)
{
	unsigned int i;

	for (i = 0; i < plan->steps; i++)
		if (plan->step[i].changes == view)
			return &plan->step[i];
	return NULL;
}

/**
 * ctl_plan_rules() - plan the changes of the subgroups of a live view that runs
 * @plan: plan
 * @view: view of the file
 * @node: member of the view that runs
 * @now: that view, as ctl_live_asked() returns it
 *
 * Return: whether there are any. The plan has them then, or the file has complaints.
 */
bool ctl_plan_rules(struct ctl_plan *plan, const struct ctl_view *view, uint64_t node,
		    const struct ctl_view *now)
{
	struct rules r = { .plan = plan, .node = node, .now = now, .view = view };
	const struct ctl_step *other = changed_by(plan, view);

	if (other) {
		ctl_plan_step(plan, '=', "view", 0, node)->text =
			ctl_asprintf("view of node %llu: that of node %llu",
				     (unsigned long long)node,
				     (unsigned long long)other->id.num);
		return true;
	}
	r.wanted = ctl_plan_subgroups(view);
	plan_removed(&r);
	plan_replaced(&r);
	plan_added(&r);
	if (r.refused) {
		ctl_conf_complain(plan->conf, view->line,
				  "node %llu is in a live view with other rules and without spares, so no subgroup can be added or replaced. To begin another view, all its members have to leave it: spindle-ctl node leave id %llu",
				  (unsigned long long)node, (unsigned long long)node);
		ctl_plan_say(r.refused);
	}
	return r.differs || r.refused;
}
