/* SPDX-License-Identifier: GPL-2.0-only */
/* The steps that change what runs to what a file says. */
#ifndef SPINDLE_CTL_PLAN_H
#define SPINDLE_CTL_PLAN_H

#include "common/model.h"
#include "common/wire.h"
#include "conf.h"

/**
 * struct ctl_step - one line of a plan
 * @sign: '+' is added, '-' is removed, '~' changes, '=' stays, '.' is not in the file
 * @what: "node" or "view"
 * @cmd: enum spindle_cmd to send; 0: nothing to do
 * @id: node id
 * @node: node to add
 * @view: view to set
 * @contact: nodes to ask for the view to join
 * @contacts: entries of @contact
 * @insecure: line of the file that allows the view to be without a key; 0: no line does
 * @begins: the kernel asks the contacts before the view begins, and one of them may refuse it
 * @text: description for people
 * @detail: lines that describe the changes, or NULL
 */
struct ctl_step {
	char sign;
	const char *what;
	int cmd;
	struct ctl_val id;
	const struct ctl_node *node;
	const struct ctl_view *view;
	const struct ctl_member *contact;
	unsigned int contacts;
	int insecure;
	bool begins;
	const char *text;
	const char *detail;
};

/**
 * struct ctl_plan - steps, in the order in which they are done
 * @conf: what is wanted; complaints are counted there
 * @running: nodes that the kernel has
 * @count: entries of @running
 * @replace: nodes may be removed and added again
 * @prune: nodes and views that are not in the file are removed
 * @bootstrap: begin a live view that has no member on this machine, if no contact is in one
 * @force: begin the view without asking any contact
 * @step: steps
 * @steps: entries of @step
 * @local: nodes of the file that are on this machine
 */
struct ctl_plan {
	struct ctl_conf *conf;
	const struct ctl_running *running;
	unsigned int count;
	bool replace;
	bool prune;
	bool bootstrap;
	bool force;
	struct ctl_step *step;
	unsigned int steps;
	unsigned int local;
};

int ctl_plan_make(struct ctl_plan *plan);
void ctl_plan_check(struct ctl_plan *plan);

#endif /* SPINDLE_CTL_PLAN_H */
