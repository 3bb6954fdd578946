// SPDX-License-Identifier: GPL-2.0-only
/* The extra subgroup. See extra.h. */
#include <linux/spindle_genl.h>

#include "common/live.h"
#include "common/util.h"
#include "common/wire.h"
#include "extra.h"
#include "perf/net.h"

#define EXTRA		3
#define EXTRA_WINDOW	16
#define EXTRA_MAX_MSG	64
#define EXTRA_RING	65536

/**
 * perf_extra_room() - give the first view spares for the subgroup
 * @view: in and out: a live view
 */
void perf_extra_room(struct ctl_view *view)
{
	/* The subgroup that takes the place of another one is there before that one goes. */
	view->live[CTL_LIVE_SPARES] = ctl_val_num(2);
	view->live[CTL_LIVE_SPARE_WINDOW] = ctl_val_num(EXTRA_WINDOW);
	view->live[CTL_LIVE_SPARE_RING] = ctl_val_num(EXTRA_RING);
}

static const struct {
	const char *request;
	int attr;
} extra_change[PERF_MOVES] = {
	[PERF_MOVE_SUBGROUP_ADD] = { "subgroup add", SPINDLE_A_SUBGROUP },
	[PERF_MOVE_SUBGROUP_REPLACE] = { "subgroup replace", SPINDLE_A_REPLACE },
	[PERF_MOVE_SUBGROUP_DEL] = { "subgroup del", SPINDLE_A_REMOVE },
};

/**
 * perf_extra_ask() - ask a member to add, replace or remove the subgroup
 * @net: socket for requests
 * @node: the member
 * @kind: a change of PERF_MOVE_RULES; the subgroup that replaces the other one has @node as its
 *	only sender and member
 *
 * The view changes later.
 *
 * Return: 0, or a negative errno after a message
 */
int perf_extra_ask(struct ctl_net *net, uint32_t node, enum perf_move kind)
{
	const struct ctl_val id = ctl_val_num(node);
	struct ctl_subgroup sg = {
		.val[CTL_SG_ID] = ctl_val_num(EXTRA),
		.val[CTL_SG_WINDOW] = ctl_val_num(EXTRA_WINDOW),
		.val[CTL_SG_MAX_MSG] = ctl_val_num(EXTRA_MAX_MSG),
	};
	struct ctl_view view = { .is_live = true, .subgroup = &sg, .subgroups = 1 };
	const struct ctl_change change = { .attr = extra_change[kind].attr, .sg = &sg };
	struct ctl_req *req = ctl_req_new(net, SPINDLE_CMD_SUBGROUP_CHANGE, 0,
					  extra_change[kind].request);

	if (kind == PERF_MOVE_SUBGROUP_REPLACE) {
		sg.members.set = true;
		ctl_ids_add(&sg.members, node);
	}
	ctl_changes_put(req, &id, &view, &change, 1);
	return perf_net_call(net, req, NULL, CTL_SAY);
}
