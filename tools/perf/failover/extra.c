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
 * perf_extra_room() - give the first view a spare for the subgroup
 * @view: in and out: a live view
 */
void perf_extra_room(struct ctl_view *view)
{
	view->live[CTL_LIVE_SPARES] = ctl_val_num(1);
	view->live[CTL_LIVE_SPARE_WINDOW] = ctl_val_num(EXTRA_WINDOW);
	view->live[CTL_LIVE_SPARE_RING] = ctl_val_num(EXTRA_RING);
}

/**
 * perf_extra_ask() - ask a member to add the subgroup, or to remove it
 * @net: socket for requests
 * @node: the member
 * @add: add it
 *
 * The view changes later.
 *
 * Return: 0, or a negative errno after a message
 */
int perf_extra_ask(struct ctl_net *net, uint32_t node, bool add)
{
	const struct ctl_val id = ctl_val_num(node);
	struct ctl_subgroup sg = {
		.val[CTL_SG_ID] = ctl_val_num(EXTRA),
		.val[CTL_SG_WINDOW] = ctl_val_num(EXTRA_WINDOW),
		.val[CTL_SG_MAX_MSG] = ctl_val_num(EXTRA_MAX_MSG),
	};
	struct ctl_view view = { .is_live = true, .subgroup = &sg, .subgroups = 1 };
	const struct ctl_change change = {
		.attr = add ? SPINDLE_A_SUBGROUP : SPINDLE_A_REMOVE,
		.sg = &sg,
	};
	struct ctl_req *req = ctl_req_new(net, SPINDLE_CMD_SUBGROUP_CHANGE, 0,
					  add ? "subgroup add" : "subgroup del");

	ctl_changes_put(req, &id, &view, &change, 1);
	return perf_net_call(net, req, NULL, CTL_SAY);
}
