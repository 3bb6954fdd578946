// SPDX-License-Identifier: GPL-2.0-only
/* Without a subgroup on the command line: all subgroups of the node that have logs. */
#include <inttypes.h>

#include "common/model.h"
#include "common/wire.h"
#include "logd.h"

/**
 * logd_find() - list the subgroups with logs that a node is in
 * @node: id of the node
 * @names: filled: their ids, as on a command line; the array lives as long as the process
 *
 * Return: how many; 0: none, and a sentence says why.
 */
unsigned int logd_find(uint32_t node, char ***names)
{
	struct ctl_val id = ctl_val_num(node), all = { .set = false };
	struct ctl_running_subgroup *list = NULL;
	unsigned int i, n = 0, count = 0;
	struct ctl_net net = { 0 };

	if (ctl_net_open(&net, CTL_SAY) ||
	    ctl_fetch_subgroups(&net, "subgroups", &id, &all, &all, &list, &count))
		return 0;
	*names = ctl_alloc((count + 1) * sizeof(**names));
	for (i = 0; i < count; i++)
		if (list[i].sg.logged)
			(*names)[n++] = ctl_asprintf("%" PRIu64, list[i].sg.val[CTL_SG_ID].num);
	if (!n)
		ctl_err("node %u is in no subgroup with logs: declare one by 'log 1', or name one",
			node);
	return n;
}
