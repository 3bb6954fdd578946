// SPDX-License-Identifier: GPL-2.0-only
/*
 * Live views, as they are asked for. See ctl-live.h.
 */
#include <linux/spindle.h>
#include <linux/spindle_genl.h>

#include "ctl.h"
#include "ctl-live.h"
#include "ctl-names.h"
#include "ctl-wire.h"

const struct ctl_key ctl_live_keys[] = {
	[CTL_LIVE_TIMEOUT] = {
		.name = "timeout-ms", .kind = CTL_U32, .attr = SPINDLE_LIVE_A_TIMEOUT_MS,
		.min = SPINDLE_MIN_TIMEOUT_MS, .max = SPINDLE_MAX_TIMEOUT_MS,
		.def = SPINDLE_DEF_TIMEOUT_MS,
	},
	[CTL_LIVE_MAX_NODES] = {
		.name = "max-nodes", .kind = CTL_U32, .attr = SPINDLE_LIVE_A_MAX_NODES,
		.min = 1, .max = SPINDLE_MAX_MEMBERS, .def = SPINDLE_DEF_MAX_NODES,
	},
	[CTL_LIVE_QUORUM] = {
		.name = "quorum", .kind = CTL_BOOL, .attr = SPINDLE_LIVE_A_QUORUM, .def = 1,
	},
	{ .name = NULL }
};

const struct ctl_key ctl_rule_keys[] = {
	[CTL_RULE_SHARDS] = {
		.name = "shards", .kind = CTL_U32, .attr = SPINDLE_RULE_A_SHARDS,
		.min = 1, .max = SPINDLE_MAX_MEMBERS, .def = 1,
	},
	[CTL_RULE_MIN] = {
		.name = "min", .kind = CTL_U32, .attr = SPINDLE_RULE_A_MIN,
		.min = 1, .max = SPINDLE_MAX_MEMBERS, .def = 1,
	},
	[CTL_RULE_ON_EXIT] = {
		.name = "on-exit", .kind = CTL_ENUM, .attr = SPINDLE_RULE_A_ON_EXIT,
		.names = &ctl_on_exit, .def = SPINDLE_ON_EXIT_DISCARD,
	},
	{ .name = NULL }
};

/**
 * ctl_live_check() - is all that is said of live views said of one?
 * @view: view
 *
 * The kernel would not see a rule of a view that is not live: it would not be sent.
 *
 * Return: NULL, or what is wrong
 */
const char *ctl_live_check(const struct ctl_view *view)
{
	unsigned int i, k;

	for (i = 0; !view->is_live && i < view->subgroups; i++)
		for (k = 0; k < CTL_RULE_VALS; k++)
			if (view->subgroup[i].rule[k].set)
				return ctl_asprintf("%s: '%s' is for live views only; add 'live'",
						    ctl_subgroup_title(&view->subgroup[i]),
						    ctl_rule_keys[k].name);
	if (view->is_live && view->live[CTL_LIVE_MAX_NODES].set &&
	    view->members > view->live[CTL_LIVE_MAX_NODES].num)
		return ctl_asprintf("there are %u members, and max-nodes is %llu", view->members,
				    (unsigned long long)view->live[CTL_LIVE_MAX_NODES].num);
	return NULL;
}

/* What makes it live, for people. */
const char *ctl_live_text(const struct ctl_view *view)
{
	struct ctl_val val[CTL_LIVE_VALS];
	unsigned int i;

	for (i = 0; i < CTL_LIVE_VALS; i++) {
		val[i] = view->live[i];
		ctl_val_default(&ctl_live_keys[i], &val[i]);
	}
	return ctl_asprintf("live: timeout %llu ms, %llu members at most, %s",
			    (unsigned long long)val[CTL_LIVE_TIMEOUT].num,
			    (unsigned long long)val[CTL_LIVE_MAX_NODES].num,
			    val[CTL_LIVE_QUORUM].num ? "a majority goes on" :
						       "any part goes on");
}

/* Into VIEW_SET. */
void ctl_live_put(struct ctl_req *req, const struct ctl_view *view)
{
	struct nlattr *nest;
	unsigned int i;

	ctl_req_mark(req, 0, "live");
	nest = ctl_req_nest(req, SPINDLE_A_LIVE, &ctl_live_attr);
	for (i = 0; i < CTL_LIVE_VALS; i++)
		ctl_req_val(req, &ctl_live_keys[i], &view->live[i]);
	ctl_req_nest_end(req, nest);
}

/*
 * Into a subgroup of a live view. Where senders are named, members that come later are none:
 * without this they would be, as all members are by default.
 */
void ctl_rule_put(struct ctl_req *req, const struct ctl_subgroup *sg)
{
	bool any = sg->senders.set;
	struct nlattr *nest;
	unsigned int i;

	for (i = 0; i < CTL_RULE_VALS; i++)
		any |= sg->rule[i].set;
	if (!any)
		return;
	ctl_req_mark(req, sg->line, "rule");
	nest = ctl_req_nest(req, SPINDLE_SUBGROUP_A_RULE, &ctl_rule_attr);
	for (i = 0; i < CTL_RULE_VALS; i++)
		ctl_req_val(req, &ctl_rule_keys[i], &sg->rule[i]);
	if (sg->senders.set) {
		ctl_req_mark(req, sg->senders.line, "senders");
		ctl_req_u8(req, SPINDLE_RULE_A_SENDERS, 0);
	}
	ctl_req_nest_end(req, nest);
}

/* From VIEW_GET. */
void ctl_live_get(struct ctl_view *view, struct nlattr *nest)
{
	view->is_live = nest;
	ctl_attr_vals(ctl_live_keys, view->live, ctl_nest_attrs(nest, SPINDLE_LIVE_A_MAX));
}

/* From a subgroup of VIEW_GET. */
void ctl_rule_get(struct ctl_subgroup *sg, struct nlattr *nest)
{
	ctl_attr_vals(ctl_rule_keys, sg->rule, ctl_nest_attrs(nest, SPINDLE_RULE_A_MAX));
}
