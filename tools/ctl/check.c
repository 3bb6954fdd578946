// SPDX-License-Identifier: GPL-2.0-only
/*
 * Is a configuration consistent?
 *
 * The kernel checks limits. This file checks what a single host could not see, and what only one of
 * the hosts would see. It also checks what the kernel would report only after half of the work.
 */
#include <string.h>

#include "common/live.h"
#include "common/model.h"
#include "common/util.h"
#include "conf.h"
#include "host.h"
#include "secret.h"

static bool is_member(const struct ctl_node *node, const struct ctl_member *m)
{
	struct ctl_member self = ctl_node_member(node);

	return ctl_same_place(&self, m);
}

/* A view is for the nodes that it names with "Nodes =", otherwise for its members. */
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
 * Return: the view, or NULL if the configuration has none for the node
 */
const struct ctl_view *ctl_conf_view(const struct ctl_conf *conf, const struct ctl_node *node)
{
	unsigned int i;

	for (i = 0; i < conf->views; i++)
		if (is_for(&conf->view[i], node))
			return &conf->view[i];
	return NULL;
}

/* Complain about another node with the same id, or at the same address and port. */
static void check_twin(struct ctl_conf *conf, const struct ctl_node *a,
		       const struct ctl_node *b)
{
	const struct ctl_val *id = &a->val[CTL_NODE_ID];
	const struct ctl_val *addr = &a->val[CTL_NODE_ADDR];
	struct ctl_member self = ctl_node_member(a);

	if (id->set && b->val[CTL_NODE_ID].set && id->num == b->val[CTL_NODE_ID].num)
		ctl_conf_complain(conf, id->line, "node %llu is there already, in line %d",
				  (unsigned long long)id->num, b->line);
	else if (addr->set && b->val[CTL_NODE_ADDR].set && is_member(b, &self))
		ctl_conf_complain(conf, addr->line, "%s is taken already, by the node in line %d",
				  ctl_place_text(&self), b->line);
}

/*
 * The path of a file that another file names: relative to that file, not to the working directory.
 */
static const char *beside(const char *file, const char *path)
{
	const char *slash = strrchr(file, '/');

	if (*path == '/' || !slash)
		return path;
	return ctl_asprintf("%.*s/%s", (int)(slash - file), file, path);
}

/*
 * Read the key before anything is changed. Only the machine of the node needs the file. If
 * everybody can access the file, that is an error here. On the command line a warning is enough,
 * but nobody would read a warning at the next boot.
 */
static void check_key(struct ctl_conf *conf, struct ctl_node *node)
{
	const char *path, *err, *open_to;

	if (!node->key_file.set || ctl_host_has(&node->val[CTL_NODE_ADDR].addr) <= 0)
		return;
	path = beside(conf->file, node->key_file.str);
	node->secret = ctl_alloc(sizeof(*node->secret));
	err = ctl_secret_load(node->secret, path, &open_to);
	if (err || open_to)
		ctl_conf_complain(conf, node->key_file.line, "KeyFile = %s: %s%s", path,
				  err ? err : open_to, err ? "" : " (chmod o= takes care of it)");
}

static void check_contact(struct ctl_conf *conf, const struct ctl_node *node, unsigned int n)
{
	const struct ctl_addr *addr = &node->val[CTL_NODE_ADDR].addr;
	const struct ctl_member *contact = &node->contact[n];
	const char *text = ctl_place_text(contact);
	unsigned int i;

	for (i = 0; i < n; i++)
		if (ctl_same_place(&node->contact[i], contact))
			ctl_conf_complain(conf, contact->line,
					  "Join = %s is given twice; it is in line %d too", text,
					  node->contact[i].line);
	if (!node->val[CTL_NODE_ADDR].set)
		return;
	if (contact->addr.family != addr->family)
		ctl_conf_complain(conf, contact->line,
				  "Join = %s: the address of the node is of another family",
				  text);
	else if (is_member(node, contact))
		ctl_conf_complain(conf, contact->line, "Join = %s: this is the node itself",
				  text);
}

static void check_node(struct ctl_conf *conf, unsigned int n)
{
	struct ctl_node *node = &conf->node[n];
	unsigned int i;

	if (!node->val[CTL_NODE_ID].line)
		ctl_conf_complain(conf, node->line, "this [Node] has no Id");
	if (!node->val[CTL_NODE_ADDR].line)
		ctl_conf_complain(conf, node->line, "this [Node] has no Address");
	for (i = 0; i < n; i++)
		check_twin(conf, node, &conf->node[i]);
	for (i = 0; i < node->contacts; i++)
		check_contact(conf, node, i);
	if (node->contacts > SPINDLE_MAX_CONTACTS)
		ctl_conf_complain(conf, node->contact[SPINDLE_MAX_CONTACTS].line,
				  "a node has at most %d contacts", SPINDLE_MAX_CONTACTS);
	check_key(conf, node);
	if (node->key_file.set && node->insecure.num)
		ctl_conf_complain(conf, node->insecure.line,
				  "%s = yes, and there is a KeyFile in line %d: one of them is not meant",
				  ctl_insecure_key.conf, node->key_file.line);
}

/**
 * ctl_conf_check_live() - complain about a live view without a key, unless the file allows it
 * @conf: configuration; complaints are counted in it
 * @node: one of its nodes
 * @keyed: the node has a key, or will have one
 */
void ctl_conf_check_live(struct ctl_conf *conf, const struct ctl_node *node, bool keyed)
{
	const struct ctl_view *view = ctl_conf_view(conf, node);
	unsigned long long id = node->val[CTL_NODE_ID].num;

	if (!node->contacts && (!view || !view->is_live))
		return;
	if (keyed && node->insecure.num)
		ctl_conf_complain(conf, node->insecure.line,
				  "%s = yes, and node %llu runs with a key",
				  ctl_insecure_key.conf, id);
	else if (!keyed && !node->insecure.num)
		ctl_conf_complain(conf, node->line,
				  "node %llu is to be in a live view, and has no key: give it a KeyFile, or say %s = yes, and any host that reaches it can join",
				  id, ctl_insecure_key.conf);
}

/*
 * Complain about a mismatch of a node and its view, such as a view that has another address for it.
 */
static void check_node_view(struct ctl_conf *conf, const struct ctl_node *node)
{
	unsigned long long id = node->val[CTL_NODE_ID].num;
	const struct ctl_view *view = ctl_conf_view(conf, node);
	struct ctl_member self = ctl_node_member(node);
	const struct ctl_member *m;
	unsigned int i;

	if (view && !view->is_live && node->contacts)
		ctl_conf_complain(conf, node->contact[0].line,
				  "node %llu is in the view in line %d, which is not live; only a live view is joined",
				  id, view->line);
	if (view && !view->is_live && node->insecure.num)
		ctl_conf_complain(conf, node->insecure.line,
				  "%s is for live views only, and the view of node %llu in line %d is not one",
				  ctl_insecure_key.conf, id, view->line);
	for (i = 0; i < conf->views && !view; i++) {
		m = ctl_view_member(&conf->view[i], id);
		if (!m || conf->view[i].nodes.set)
			continue;
		ctl_conf_complain(conf, m->line,
				  "member %s is not where node %llu is (line %d: %s)",
				  ctl_member_text(m), id, node->line, ctl_place_text(&self));
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
			ctl_conf_complain(conf, sg->line, "this [%s] has no Id",
					  ctl_is_table(sg) ? "Table" : "Subgroup");
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

/* Complain about a key of a subgroup in a view that is not live. */
static void not_live(struct ctl_conf *conf, const struct ctl_view *view, int line,
		     const struct ctl_key *key)
{
	ctl_conf_complain(conf, line,
			  "%s is for live views only; the one in line %d has no %s = yes",
			  key->conf, view->line, ctl_live_key.conf);
}

/* Complain about properties of live views in a view that is not live. */
static void check_static(struct ctl_conf *conf, const struct ctl_view *view)
{
	unsigned int i, k;

	for (k = 0; k < CTL_LIVE_VALS; k++)
		if (view->live[k].line && view->said.line)
			ctl_conf_complain(conf, view->live[k].line,
					  "%s is for live views only, and line %d says %s = no",
					  ctl_live_keys[k].conf, view->said.line,
					  ctl_live_key.conf);
	if (view->witnesses.line && view->said.line)
		ctl_conf_complain(conf, view->witnesses.line,
				  "%s is for live views only, and line %d says %s = no",
				  ctl_witness_key.conf, view->said.line, ctl_live_key.conf);
	for (i = 0; i < view->subgroups; i++) {
		const struct ctl_subgroup *sg = &view->subgroup[i];

		for (k = 0; k < CTL_RULE_VALS; k++)
			if (sg->rule[k].line)
				not_live(conf, view, sg->rule[k].line, &ctl_rule_keys[k]);
		if (ctl_is_logged(sg))
			not_live(conf, view, sg->val[CTL_SG_LOG].line,
				 &ctl_subgroup_keys[CTL_SG_LOG]);
	}
}

static void check_live(struct ctl_conf *conf, const struct ctl_view *view)
{
	const struct ctl_val *max = &view->live[CTL_LIVE_MAX_NODES];

	if (!view->is_live || (view->said.line && !view->said.num))
		check_static(conf, view);
	else if (max->set && view->members > max->num)
		ctl_conf_complain(conf, max->line, "MaxNodes = %llu, and there are %u members",
				  (unsigned long long)max->num, view->members);
}

static void check_view(struct ctl_conf *conf, const struct ctl_view *view)
{
	const struct ctl_member *a, *b;
	unsigned int i;

	if (!view->vid.line)
		ctl_conf_complain(conf, view->line, "this [View] has no Vid");
	if (!view->members && !view->is_live)
		ctl_conf_complain(conf, view->line, "this [View] has no Member");
	for (a = view->member; a < view->member + view->members; a++)
		for (b = view->member; b < a; b++)
			if (a->id == b->id)
				ctl_conf_complain(conf, a->line,
						  "member %u is there already, in line %d",
						  a->id, b->line);
			else if (ctl_same_place(a, b))
				ctl_conf_complain(conf, a->line,
						  "%s is taken already, by the member in line %d",
						  ctl_place_text(a), b->line);
	for (i = 0; i < view->nodes.count; i++)
		if (!ctl_view_member(view, view->nodes.id[i]))
			ctl_conf_complain(conf, view->nodes.line,
					  "node %u is not a member of this view",
					  view->nodes.id[i]);
	check_subgroups(conf, view);
	check_live(conf, view);
}

/* A live view that names no member has all nodes of the file as members. */
static void add_members(const struct ctl_conf *conf, struct ctl_view *view)
{
	unsigned int i;

	for (i = 0; i < conf->nodes; i++) {
		struct ctl_member *m = CTL_ADD(view->member, view->members);

		*m = ctl_node_member(&conf->node[i]);
		m->line = view->line;
	}
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
	for (i = 0; i < conf->views; i++) {
		if (conf->view[i].is_live && !conf->view[i].members)
			add_members(conf, &conf->view[i]);
		check_view(conf, &conf->view[i]);
	}
	if (conf->errors)
		return;
	for (i = 0; i < conf->nodes; i++)
		check_node_view(conf, &conf->node[i]);
}
