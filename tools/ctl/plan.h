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
	/** @what: "node" or "view" */
	const char *what;
	/** @cmd: enum spindle_cmd to send; 0: nothing to do */
	int cmd;
	/** @id: node id */
	struct ctl_val id;
	/** @node: node to add */
	const struct ctl_node *node;
	/** @view: view to set */
	const struct ctl_view *view;
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
	/** @replace: nodes may be removed and added again */
	bool replace;
	/** @prune: nodes and views that are not in the file are removed */
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

#endif /* SPINDLE_CTL_PLAN_H */
