// SPDX-License-Identifier: GPL-2.0-only
/* spindle-ctl showconf: print what runs as a file for "apply". */
#include <stdio.h>
#include <string.h>

#include <linux/spindle_genl.h>

#include "args.h"
#include "cmd.h"
#include "common/live.h"
#include "common/names.h"
#include "common/out.h"
#include "common/util.h"
#include "common/wire.h"
#include "conf.h"
#include "diff.h"

static const char live_note[] =
	"# The view as of now. Nodes that apply this file join it; it begins again by\n"
	"# apply --bootstrap only.\n";

/* Print lines that are not values of a node, and comments for what the kernel does not show. */
static void print_notes(const struct ctl_running *run)
{
	if (run->node.keyed.num)
		puts("# KeyFile = PATH of its key, which is never shown");
	if (run->node.insecure.num)
		printf("%s = yes\n", ctl_insecure_key.conf);
	if (!run->in_live)
		return;
	if (run->live_state == SPINDLE_LIVE_JOINING)
		puts("# Join = ADDRESS of the node that it asks to let it in");
	else if (run->live_state == SPINDLE_LIVE_STOPPED)
		printf("# Join = ADDRESS to have it back; it was in the live view %llu\n",
		       (unsigned long long)run->view.vid.num);
}

static void print_conf(const struct ctl_conf *conf, const struct ctl_running *running)
{
	unsigned int i;

	for (i = 0; i < conf->nodes; i++) {
		printf("%s[Node]\n", i ? "\n" : "");
		ctl_conf_print_vals(stdout, ctl_node_keys, conf->node[i].val);
		print_notes(&running[i]);
	}
	for (i = 0; i < conf->views; i++)
		ctl_conf_print_view(stdout, &conf->view[i], live_note, false);
}

/* Several nodes of one kernel can have the same view, which is written once. */
static struct ctl_view *find_view(struct ctl_conf *conf, const struct ctl_view *view)
{
	unsigned int i;

	for (i = 0; i < conf->views; i++)
		if (conf->view[i].vid.num == view->vid.num &&
		    conf->view[i].is_live == view->is_live &&
		    !ctl_view_diff(&conf->view[i], view) && !ctl_live_diff(&conf->view[i], view))
			return &conf->view[i];
	return NULL;
}

static void add_node(struct ctl_conf *conf, const struct ctl_running *run)
{
	uint32_t id = run->node.val[CTL_NODE_ID].num;
	struct ctl_view *view, now;

	*CTL_ADD(conf->node, conf->nodes) = run->node;
	/*
	 * A node must not begin with a view that it was in before, so a stopped node is written
	 * without one.
	 */
	if (!run->has_view || (run->in_live && run->live_state == SPINDLE_LIVE_STOPPED))
		return;
	now = run->view.is_live ? ctl_live_asked(&run->view) : run->view;
	/* A view that begins again is another group. */
	now.lineage.set = false;
	view = find_view(conf, &now);
	if (!view) {
		view = CTL_ADD(conf->view, conf->views);
		*view = now;
	}
	ctl_ids_add(&view->nodes, id);
}

/* Would the file mean the same without "Nodes ="? */
static bool is_clear(const struct ctl_conf *conf)
{
	unsigned int i, v, views;

	for (i = 0; i < conf->nodes; i++) {
		const struct ctl_node *node = &conf->node[i];
		const struct ctl_view *view = ctl_conf_view(conf, node);
		bool has = false;

		for (v = 0, views = 0; v < conf->views; v++) {
			has |= ctl_ids_has(&conf->view[v].nodes, node->val[CTL_NODE_ID].num);
			views += !!ctl_view_member(&conf->view[v], node->val[CTL_NODE_ID].num);
		}
		if (!!view != has || views > 1)
			return false;
	}
	return true;
}

int ctl_cmd_showconf(struct ctl_args *a)
{
	struct ctl_running *running;
	struct ctl_conf conf = { 0 };
	struct ctl_val id = { 0 };
	struct ctl_net net;
	unsigned int count, i;
	bool clear;
	int rc;

	rc = ctl_args_keys(a, ctl_at_node_keys, &id, 0);
	if (rc)
		return rc;
	if (ctl_opts.json)
		return ctl_usage(a, "JSON comes from 'node show' and 'view show'");
	if (ctl_net_open(&net, CTL_SAY) ||
	    ctl_fetch(&net, "showconf", &id, &running, &count, true))
		return CTL_FAILED;
	for (i = 0; i < count; i++)
		add_node(&conf, &running[i]);
	clear = is_clear(&conf);
	for (i = 0; i < conf.views; i++)
		conf.view[i].nodes.set = !clear;
	print_conf(&conf, running);
	return CTL_OK;
}
