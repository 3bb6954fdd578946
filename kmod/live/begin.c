// SPDX-License-Identifier: GPL-2.0-only
/*
 * Begin: the first view of a live group at a node, on request or after a join that found none. See
 * node/node.h.
 *
 * Context: process, the namespace's lock.
 */
#include <linux/random.h>

#include "base/extack.h"
#include "live.h"
#include "node/installed.h"
#include "node/node.h"

/**
 * spindle_node_begin() - begin a live view
 * @node: the node; in no view, except for one that has stopped
 * @view: checked, by @rules; the node is a member
 * @rules: checked
 * @lineage: in: lineage of the view, or none; out: the lineage in use
 * @ranges: views of earlier eras that the view follows, or NULL; not used any more after this
 * @extack: for the reason of an error, or NULL
 *
 * Without a given lineage, a view with one member gets a random one. For more members the lineage
 * follows from view and rules, so that all members compute the same.
 *
 * Return: 0 or -ENOMEM
 */
int spindle_node_begin(struct spindle_node *node, const struct spindle_view *view,
		       const struct spindle_rules *rules, struct spindle_lineage *lineage,
		       const struct spindle_ranges *ranges, struct netlink_ext_ack *extack)
{
	struct spindle_installed *inst;

	lockdep_assert_held(&node->sn->lock);
	if (!spindle_lineage_given(lineage) && view->num_members > 1)
		spindle_lineage_of(lineage, view, rules);
	while (!spindle_lineage_given(lineage))
		get_random_bytes(lineage->word, sizeof(lineage->word));
	/* A new incarnation, so that no member takes an earlier view of the node for this one. */
	node->incarnation = get_random_u64() | 1;
	spindle_payer_set(&node->payer);
	inst = spindle_installed_create(node, view, rules, lineage, ranges);
	if (!inst || spindle_live_settle(inst->live)) {
		if (inst)
			spindle_installed_free(inst);
		return spindle_deny(extack, NULL, -ENOMEM,
				    "not enough memory for the rows of this view, or row_mib");
	}
	spindle_node_drop_view(node);
	node->lineage = *lineage;
	spindle_log_insecure(node);
	spindle_node_install(node, inst);
	return 0;
}
