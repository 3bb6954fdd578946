// SPDX-License-Identifier: GPL-2.0-only
/*
 * Does a configuration agree with itself?
 *
 * Limits are for the kernel to know. Here is what one host could not see, or would see
 * only after half of the work was done, or only on one of the hosts.
 */
#include "ctl.h"
#include "ctl-model.h"

static uint16_t node_port(const struct ctl_node *node)
{
	const struct ctl_val *port = &node->val[CTL_NODE_PORT];

	return port->set ? port->num : SPINDLE_DEF_PORT;
}

static bool is_member(const struct ctl_node *node, const struct ctl_member *m)
{
	return m->port == node_port(node) &&
	       ctl_addr_equal(&m->addr, &node->val[CTL_NODE_ADDR].addr);
}

/* A view is for the nodes that it names, else for its members. */
static bool is_for(const struct ctl_view *view, const struct ctl_node *node)
{
	uint32_t id = node->val[CTL_NODE_ID].num;
	const struct ctl_member *m = ctl_view_member(view, id);

	if (view->nodes.set)
		return ctl_ids_has(&view->nodes, id);
	return m && is_member(node, m);
}

/**
 * ctl_conf_view() - the view that a configuration has for a node
 * @conf: configuration
 * @node: one of its nodes
 *
 * Return: the view, or NULL if it has none
 */
const struct ctl_view *ctl_conf_view(const struct ctl_conf *conf, const struct ctl_node *node)
{
	unsigned int i;

	for (i = 0; i < conf->views; i++)
		if (is_for(&conf->view[i], node))
			return &conf->view[i];
	return NULL;
}

/* Another node with the same id, or at the same address and port. */
static void check_twin(struct ctl_conf *conf, const struct ctl_node *a,
		       const struct ctl_node *b)
{
	const struct ctl_val *id = &a->val[CTL_NODE_ID];
	const struct ctl_val *addr = &a->val[CTL_NODE_ADDR];

	if (id->set && b->val[CTL_NODE_ID].set && id->num == b->val[CTL_NODE_ID].num)
		ctl_conf_complain(conf, id->line, "node %llu is there already, in line %d",
				  (unsigned long long)id->num, b->line);
	else if (addr->set && b->val[CTL_NODE_ADDR].set && node_port(a) == node_port(b) &&
		 ctl_addr_equal(&addr->addr, &b->val[CTL_NODE_ADDR].addr))
		ctl_conf_complain(conf, addr->line, "%s is taken already, by the node in line %d",
				  ctl_endpoint_text(&addr->addr, node_port(a)), b->line);
}

static void check_node(struct ctl_conf *conf, unsigned int n)
{
	const struct ctl_node *node = &conf->node[n];
	unsigned int i;

	if (!node->val[CTL_NODE_ID].line)
		ctl_conf_complain(conf, node->line, "this [Node] has no Id");
	if (!node->val[CTL_NODE_ADDR].line)
		ctl_conf_complain(conf, node->line, "this [Node] has no Address");
	for (i = 0; i < n; i++)
		check_twin(conf, node, &conf->node[i]);
}

/* A node that a view has with another address is a slip of the pen. */
static void check_node_view(struct ctl_conf *conf, const struct ctl_node *node)
{
	unsigned long long id = node->val[CTL_NODE_ID].num;
	const struct ctl_view *view = ctl_conf_view(conf, node);
	const struct ctl_member *m;
	unsigned int i;

	for (i = 0; i < conf->views && !view; i++) {
		m = ctl_view_member(&conf->view[i], id);
		if (!m || conf->view[i].nodes.set)
			continue;
		ctl_conf_complain(conf, m->line,
				  "member %s is not where node %llu is (line %d: %s)",
				  ctl_member_text(m), id, node->line,
				  ctl_endpoint_text(&node->val[CTL_NODE_ADDR].addr,
						    node_port(node)));
		return;
	}
	for (i = 0; i < conf->views; i++)
		if (view && &conf->view[i] != view && is_for(&conf->view[i], node))
			ctl_conf_complain(conf, conf->view[i].line,
					  "node %llu is in the view in line %d already; Nodes = says which view is for which nodes",
					  id, view->line);
}

static void check_subgroups(struct ctl_conf *conf, const struct ctl_view *view)
{
	const struct ctl_subgroup *sg;
	const char *err;
	unsigned int i, j;
	int line;

	for (i = 0; i < view->subgroups; i++) {
		sg = &view->subgroup[i];
		if (!sg->val[CTL_SG_ID].line)
			ctl_conf_complain(conf, sg->line, "this [Subgroup] has no Id");
		for (j = 0; j < i && sg->val[CTL_SG_ID].set; j++)
			if (view->subgroup[j].val[CTL_SG_ID].set &&
			    view->subgroup[j].val[CTL_SG_ID].num == sg->val[CTL_SG_ID].num)
				ctl_conf_complain(conf, sg->val[CTL_SG_ID].line,
						  "%s is there already, in line %d",
						  ctl_subgroup_title(sg), view->subgroup[j].line);
		err = ctl_subgroup_check(view, sg, &line);
		if (err)
			ctl_conf_complain(conf, line, "%s", err);
	}
}

static void check_view(struct ctl_conf *conf, const struct ctl_view *view)
{
	const struct ctl_member *a, *b;
	unsigned int i;

	if (!view->vid.line)
		ctl_conf_complain(conf, view->line, "this [View] has no Vid");
	if (!view->members)
		ctl_conf_complain(conf, view->line, "this [View] has no Member");
	for (a = view->member; a < view->member + view->members; a++)
		for (b = view->member; b < a; b++)
			if (a->id == b->id)
				ctl_conf_complain(conf, a->line,
						  "member %u is there already, in line %d",
						  a->id, b->line);
			else if (a->port == b->port && ctl_addr_equal(&a->addr, &b->addr))
				ctl_conf_complain(conf, a->line,
						  "%s is taken already, by the member in line %d",
						  ctl_endpoint_text(&a->addr, a->port), b->line);
	for (i = 0; i < view->nodes.count; i++)
		if (!ctl_view_member(view, view->nodes.id[i]))
			ctl_conf_complain(conf, view->nodes.line,
					  "node %u is not a member of this view",
					  view->nodes.id[i]);
	check_subgroups(conf, view);
}

/**
 * ctl_conf_check() - check a whole configuration
 * @conf: configuration; complaints are counted in it
 */
void ctl_conf_check(struct ctl_conf *conf)
{
	unsigned int i;

	if (!conf->nodes)
		ctl_conf_complain(conf, 1, "there is no [Node] in this file");
	for (i = 0; i < conf->nodes; i++)
		check_node(conf, i);
	for (i = 0; i < conf->views; i++)
		check_view(conf, &conf->view[i]);
	if (conf->errors)
		return;
	for (i = 0; i < conf->nodes; i++)
		check_node_view(conf, &conf->node[i]);
}
