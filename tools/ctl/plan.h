/* SPDX-License-Identifier: GPL-2.0-only */
/* The steps that change what runs to what a file says. */
#ifndef SPINDLE_CTL_PLAN_H
#define SPINDLE_CTL_PLAN_H

#include "common/model.h"
#include "common/wire.h"
#include "conf.h"

/**
 * struct ctl_step - one line of a plan
 */
struct ctl_step {
	/** @sign: '+' is added, '-' is removed, '~' changes, '=' stays, '.' is not in the file */
	char sign;
	/** @what: "node", "view" or "subgroup" */
	const char *what;
	/** @cmd: enum spindle_cmd to send; 0: nothing to do */
	int cmd;
	/** @id: node id */
	struct ctl_val id;
	/** @node: node to add */
	const struct ctl_node *node;
	/** @view: view to set */
	const struct ctl_view *view;
	/**
	 * @changes: live view of the file that a subgroup is compared with; all steps of one view
	 * follow each other, and one request makes their changes
	 */
	const struct ctl_view *changes;
	/** @change: change of that subgroup, if there is anything to do */
	struct ctl_change change;
	/** @contact: nodes to ask for the view to join */
	const struct ctl_member *contact;
	/** @contacts: entries of @contact */
	unsigned int contacts;
	/** @insecure: line of the file that allows the view to be without a key; 0: no line does */
	int insecure;
	/**
	 * @begins: the kernel asks the contacts before the view begins, and one of them may refuse
	 * it
	 */
	bool begins;
	/** @text: description for people */
	const char *text;
	/** @detail: lines that describe the changes, or NULL */
	const char *detail;
};

/**
 * struct ctl_plan - steps, in the order in which they are done
 */
struct ctl_plan {
	/** @conf: what is wanted; complaints are counted there */
	struct ctl_conf *conf;
	/** @running: nodes that the kernel has */
	const struct ctl_running *running;
	/** @count: entries of @running */
	unsigned int count;
	/** @replace: nodes and subgroups may be removed and added again */
	bool replace;
	/** @prune: nodes, views and subgroups that are not in the file are removed */
	bool prune;
	/**
	 * @bootstrap: begin a live view that has no member on this machine, if no contact is in one
	 */
	bool bootstrap;
	/** @force: begin the view without asking any contact */
	bool force;
	/** @step: steps */
	struct ctl_step *step;
	/** @steps: entries of @step */
	unsigned int steps;
	/** @local: nodes of the file that are on this machine */
	unsigned int local;
};

int ctl_plan_make(struct ctl_plan *plan);
void ctl_plan_check(struct ctl_plan *plan);
struct ctl_step *ctl_plan_step(struct ctl_plan *plan, char sign, const char *what, int cmd,
			       uint64_t id);
void ctl_plan_say(const char *detail);
bool ctl_plan_rules(struct ctl_plan *plan, const struct ctl_view *view, uint64_t node,
		    const struct ctl_view *now);
struct ctl_subgroup *ctl_plan_subgroups(const struct ctl_view *view);

#endif /* SPINDLE_CTL_PLAN_H */
