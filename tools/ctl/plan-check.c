// SPDX-License-Identifier: GPL-2.0-only
/*
 * Conflicts between the steps of a plan. See plan.h.
 *
 * The kernel checks each step against what runs, before the first step is done. So it cannot see
 * what an earlier step of the plan will change.
 */
#include <linux/spindle_genl.h>

#include "common/util.h"
#include "conf.h"
#include "plan.h"

/**
 * struct nodes - the nodes that exist after some steps
 */
struct nodes {
	/** @node: nodes */
	const struct ctl_node **node;
	/** @nodes: entries of @node */
	unsigned int nodes;
};

static void add(struct nodes *n, const struct ctl_node *node)
{
	*CTL_ADD(n->node, n->nodes) = node;
}

static void del(struct nodes *n, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < n->nodes; i++)
		if (n->node[i]->val[CTL_NODE_ID].num == id)
			break;
	if (i == n->nodes)
		return;
	for (n->nodes--; i < n->nodes; i++)
		n->node[i] = n->node[i + 1];
}

/* An engine runs on the CPU that its first node has chosen, until its last node is removed. */
static bool same_cpu(const struct nodes *n, const struct ctl_node *node)
{
	const struct ctl_val *cpu = &node->val[CTL_NODE_CPU], *first;
	unsigned int i;

	for (i = 0; cpu->set && i < n->nodes; i++) {
		first = &n->node[i]->val[CTL_NODE_CPU];
		/* An engine that is not given is 0, the default. */
		if (n->node[i]->val[CTL_NODE_ENGINE].num == node->val[CTL_NODE_ENGINE].num)
			return first->set && first->num == cpu->num;
	}
	return true;
}

static void check_add(const struct ctl_plan *plan, struct nodes *n, const struct ctl_node *node)
{
	unsigned long long id = node->val[CTL_NODE_ID].num;

	if (n->nodes >= SPINDLE_MAX_NET_NODES)
		ctl_conf_complain(plan->conf, node->line,
				  "node %llu: a network namespace has %d nodes at most", id,
				  SPINDLE_MAX_NET_NODES);
	else if (!same_cpu(n, node))
		ctl_conf_complain(plan->conf, node->val[CTL_NODE_CPU].line,
				  "node %llu: the engine runs already, on another CPU", id);
	add(n, node);
}

/**
 * ctl_plan_check() - complain about nodes that conflict with other nodes of the plan
 * @plan: a plan; complaints are counted in its @conf
 */
void ctl_plan_check(struct ctl_plan *plan)
{
	struct nodes n = { 0 };
	unsigned int i;

	for (i = 0; i < plan->count; i++)
		add(&n, &plan->running[i].node);
	for (i = 0; i < plan->steps; i++) {
		const struct ctl_step *step = &plan->step[i];

		if (step->cmd == SPINDLE_CMD_NODE_DEL)
			del(&n, step->id.num);
		else if (step->node)
			check_add(plan, &n, step->node);
	}
}
