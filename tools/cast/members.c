// SPDX-License-Identifier: GPL-2.0-only
/*
 * The members of the view that is installed at a node. See opts.h.
 */
#include "common/net.h"
#include "common/util.h"
#include "common/wire.h"
#include "opts.h"

/**
 * cast_members_find() - find the members, if the command line does not name them
 * @o: options; gets node and members
 * @sender: this node sends
 *
 * Return: CTL_OK, or CTL_FAILED after a message
 */
int cast_members_find(struct cast_opts *o, bool sender)
{
	struct ctl_val all = { 0 };
	const struct ctl_running *run;
	struct ctl_running *running;
	unsigned int count, i;
	uint32_t from, id;
	struct ctl_net net;
	bool there = false;

	if (o->members)
		return CTL_OK;
	if (ctl_net_open(&net, CTL_SAY) ||
	    ctl_fetch(&net, ctl_program, &all, &running, &count, true))
		return CTL_FAILED;
	run = ctl_running_find(running, count, o->node);
	if (!run)
		return CTL_FAILED;
	o->node = (uint32_t)run->node.val[CTL_NODE_ID].num;
	from = sender ? o->node : o->from;
	if (!run->has_view || run->view.members > SPINDLE_MAX_MEMBERS) {
		ctl_err("node %u: no view is installed there; give --members", o->node);
		return CTL_FAILED;
	}
	o->member[o->members++] = from;
	for (i = 0; i < run->view.members; i++) {
		id = run->view.member[i].id;
		there |= id == from;
		if (id != from && o->members < SPINDLE_MAX_MEMBERS)
			o->member[o->members++] = id;
	}
	if (there && o->members > 1 && (sender || from != o->node))
		return CTL_OK;
	ctl_err(!there ? "node %u is not in the view of node %u" : sender || from != o->node ?
		"node %u is alone in the view of node %u" :
		"node %u sends, and cannot receive from node %u", from, o->node);
	return CTL_FAILED;
}
