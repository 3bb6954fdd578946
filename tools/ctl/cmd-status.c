// SPDX-License-Identifier: GPL-2.0-only
/* spindle-ctl status: the state of live views, and advice. */
#include <stdio.h>
#include <string.h>

#include <linux/spindle_genl.h>

#include "args.h"
#include "cmd.h"
#include "common/out.h"
#include "common/util.h"
#include "report.h"

static void show_json(const struct ctl_status *status, unsigned int count)
{
	struct json_object *list = json_object_new_array();
	unsigned int i;

	for (i = 0; i < count; i++)
		json_object_array_add(list, ctl_report_json(&status[i]));
	ctl_json_print(list);
}

int ctl_cmd_status(struct ctl_args *a)
{
	struct ctl_val node = { 0 };
	struct ctl_status *status;
	unsigned int count, i;
	struct ctl_net net;
	int rc;

	ctl_args_skip_show(a);
	rc = ctl_args_keys(a, ctl_at_node_keys, &node, 0);
	if (rc)
		return rc;
	if (ctl_net_open(&net, CTL_SAY) ||
	    ctl_fetch_status(&net, "status", &node, CTL_SAY, &status, &count))
		return CTL_FAILED;
	if (ctl_opts.json) {
		show_json(status, count);
		return CTL_OK;
	}
	for (i = 0; i < count; i++) {
		/* A blank line around a status that has more than one line. */
		if (i && (*ctl_report_state(&status[i - 1]) || *ctl_report_state(&status[i])))
			putchar('\n');
		ctl_report_print(&status[i], stdout);
	}
	if (!count)
		puts("There is no node.");
	return CTL_OK;
}
