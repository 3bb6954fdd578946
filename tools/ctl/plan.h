/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What has to be done to make what runs what a file says.
 */
#ifndef SPINDLE_CTL_PLAN_H
#define SPINDLE_CTL_PLAN_H

#include "ctl-model.h"
#include "ctl-wire.h"

/**
 * struct ctl_step - one line of a plan
 * @sign: '+' comes, '-' goes, '~' changes, '=' stays, '.' not our business
 * @what: "node" or "view"
 * @cmd: enum spindle_cmd to send; 0: nothing to do
 * @id: node id
 * @node: node to add
 * @view: view to set
 * @contact: nodes to ask for the view to join
 * @contacts: entries of @contact
 * @insecure: line of the word that the view to join may be without a key; 0: it may not
 * @begins: others are asked first, and it may be refused by one of them
 * @text: for people
 * @detail: lines of what changes, or NULL
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
 * struct ctl_plan - what to do, in this order
 * @conf: what is wanted; what cannot be done is complained about there
 * @running: nodes that there are
 * @count: entries of @running
 * @replace: nodes may be removed and made anew
 * @prune: what is not wanted goes
 * @bootstrap: a live view that no node here is in begins, if nobody else is in one
 * @force: or even then
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
