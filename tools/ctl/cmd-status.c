// SPDX-License-Identifier: GPL-2.0-only
/* spindle-ctl status: the state of live views, and advice. */
#include <stdio.h>
#include <string.h>

#include <linux/spindle_genl.h>

#include "args.h"
#include "cmd.h"
#include "common/out.h"
#include "common/util.h"
#include "common/wire.h"
#include "durable.h"
#include "replicas.h"
#include "report.h"
#include "restart.h"

/**
 * struct shown - what is shown of the nodes
 */
struct shown {
	/** @status: of each node */
	struct ctl_status *status;
	/** @count: entries of @status */
	unsigned int count;
	/** @sg: their subgroups, which may have logs, and whose readers may be replicas */
	struct ctl_running_subgroup *sg;
	/** @sgs: entries of @sg */
	unsigned int sgs;
	/** @dir: directory of spindle-logd, which says how far a total restart is */
	const char *dir;
};

static const struct ctl_key logs_key = CTL_KEY("logs", NULL, STR, 0);

static void show_json(const struct shown *s)
{
	struct json_object *list = json_object_new_array(), *obj, *restart;
	unsigned int i;

	for (i = 0; i < s->count; i++) {
		obj = ctl_report_json(&s->status[i]);
		restart = ctl_restart_read(s->dir, s->status[i].node);
		if (restart)
			ctl_json_add(obj, "restart", restart);
		ctl_json_add(obj, "durable", ctl_durable_json(s->sg, s->sgs, s->status[i].node));
		ctl_json_add(obj, "replicas", ctl_replicas_json(s->sg, s->sgs, s->status[i].node));
		json_object_array_add(list, obj);
	}
	ctl_json_print(list);
}

static void show_text(const struct shown *s)
{
	unsigned int i;

	for (i = 0; i < s->count; i++) {
		/* A blank line around a status that has more than one line. */
		if (i && (*ctl_report_state(&s->status[i - 1]) ||
			  *ctl_report_state(&s->status[i])))
			putchar('\n');
		ctl_report_print(&s->status[i], stdout);
		ctl_restart_print(ctl_restart_read(s->dir, s->status[i].node));
		ctl_durable_print(s->sg, s->sgs, s->status[i].node);
		ctl_replicas_print(s->sg, s->sgs, s->status[i].node);
	}
	if (!s->count)
		puts("There is no node.");
}

int ctl_cmd_status(struct ctl_args *a)
{
	const struct ctl_key keys[] = { ctl_at_node_keys[0], logs_key, { .name = NULL } };
	static const struct ctl_val all;
	struct ctl_val val[CTL_ARRAY_SIZE(keys)] = { 0 }, node;
	struct shown s;
	struct ctl_net net;
	int rc;

	ctl_args_skip_show(a);
	rc = ctl_args_keys(a, keys, val, 0);
	if (rc)
		return rc;
	node = val[0];
	s.dir = val[1].set ? val[1].str : CTL_LOGS_DIR;
	if (ctl_net_open(&net, CTL_SAY) ||
	    ctl_fetch_status(&net, "status", &node, CTL_SAY, &s.status, &s.count) ||
	    ctl_fetch_subgroups(&net, "status", &node, &all, &all, &s.sg, &s.sgs))
		return CTL_FAILED;
	if (ctl_opts.json)
		show_json(&s);
	else
		show_text(&s);
	return CTL_OK;
}
