// SPDX-License-Identifier: GPL-2.0-only
/*
 * spindle-ctl stats
 */
#include <stdio.h>
#include <string.h>

#include <linux/spindle_genl.h>

#include "args.h"
#include "cmd.h"
#include "common/names.h"
#include "common/out.h"
#include "common/stats.h"
#include "common/util.h"
#include "common/wire.h"
#include "detail.h"

static struct json_object *json_stats(const struct ctl_node_stats *s,
				      const struct ctl_sample *sample)
{
	struct json_object *obj = ctl_record_json(NULL, ctl_stats_fields, s), *o;
	struct json_object *list = json_object_new_array();
	const struct ctl_running_subgroup *sg;

	if (*s->refused) {
		o = json_object_new_object();
		ctl_json_add(o, "id", ctl_json_num(s->refused_id));
		ctl_json_str(o, "reason", s->refused);
		ctl_json_add(obj, "last-refused", o);
	}
	ctl_json_add(obj, "peers", ctl_record_list(NULL, ctl_peer_fields, s->peer, s->peers,
						   sizeof(*s->peer)));
	for (sg = sample->sg; sg < sample->sg + sample->sgs; sg++) {
		if (sg->node != s->id)
			continue;
		o = ctl_record_json("id state stats", ctl_subgroup_fields, &sg->sg);
		ctl_detail_json(o, &sg->sg);
		json_object_array_add(list, o);
	}
	ctl_json_add(obj, "subgroups", list);
	return obj;
}

static void print_peers(const struct ctl_node_stats *s)
{
	struct ctl_table t = { .indent = 4 };

	if (!s->peers)
		return;
	ctl_record_rows(&t, "peer state visibility stats reason", ctl_peer_fields, s->peer,
			s->peers, sizeof(*s->peer));
	puts("  peers");
	ctl_table_print(&t);
}

/*
 * The counters are too many for one row. So each counter has a line and each subgroup a column, for
 * a few subgroups at a time.
 */
#define SUBGROUPS_ABREAST	8

static void print_some_subgroups(const struct ctl_running_subgroup *const *sg, unsigned int n)
{
	struct ctl_table t = { .indent = 4 };
	unsigned int i, c;

	ctl_table_head(&t, "subgroup");
	for (i = 0; i < n; i++)
		ctl_table_head(&t, ctl_val_text(&ctl_subgroup_keys[CTL_SG_ID],
						&sg[i]->sg.val[CTL_SG_ID]));
	ctl_table_cell(&t, "state");
	for (i = 0; i < n; i++)
		ctl_table_cell(&t, ctl_name(&ctl_state, sg[i]->sg.state));
	for (c = 0; c < ctl_subgroup_stat.count; c++) {
		if (!ctl_subgroup_stat.name[c])
			continue;
		ctl_table_cell(&t, ctl_subgroup_stat.name[c]);
		for (i = 0; i < n; i++) {
			if (sg[i]->sg.stats.has & (1ULL << c))
				ctl_table_num(&t, sg[i]->sg.stats.num[c]);
			else
				ctl_table_cell(&t, "");
		}
	}
	ctl_table_print(&t);
}

static void print_subgroups(uint64_t node, const struct ctl_sample *sample)
{
	const struct ctl_running_subgroup *row[SUBGROUPS_ABREAST], *sg;
	unsigned int n = 0;
	bool any = false;

	for (sg = sample->sg; sg < sample->sg + sample->sgs; sg++) {
		if (sg->node != node)
			continue;
		if (!any)
			puts("  subgroups");
		any = true;
		row[n++] = sg;
		if (n == SUBGROUPS_ABREAST) {
			print_some_subgroups(row, n);
			n = 0;
		}
	}
	if (n)
		print_some_subgroups(row, n);
}

/* Print the last node that this one has refused. A node that gave no id is called "somebody". */
static void print_refused(const struct ctl_node_stats *s)
{
	if (!*s->refused)
		return;
	if (s->refused_id)
		printf("  last refused: node %llu, %s\n", (unsigned long long)s->refused_id,
		       ctl_clean(s->refused));
	else
		printf("  last refused: somebody, %s\n", ctl_clean(s->refused));
}

static void print_stats(const struct ctl_node_stats *s, const struct ctl_sample *sample)
{
	struct ctl_table t = { .indent = 4 };

	printf("node %llu (%s)\n  engine\n", (unsigned long long)s->id,
	       ctl_name(&ctl_node_state, s->state));
	ctl_record_rows(&t, "engine", ctl_stats_fields, s, 1, sizeof(*s));
	ctl_table_print(&t);
	print_refused(s);
	print_peers(s);
	print_subgroups(s->id, sample);
}

int ctl_cmd_stats(struct ctl_args *a)
{
	struct ctl_val node = { 0 }, all = { 0 };
	struct ctl_sample sample = { 0 };
	struct json_object *out;
	struct ctl_net net;
	unsigned int i;
	int rc;

	ctl_args_skip_show(a);
	rc = ctl_args_keys(a, ctl_at_node_keys, &node, 0);
	if (rc)
		return rc;
	if (ctl_net_open(&net, CTL_SAY) || ctl_sample_take(&net, "stats", &node, &all, &sample))
		return CTL_FAILED;
	/* An empty dump is no error, so the kernel has to say that the node does not exist. */
	if (!sample.nodes && ctl_cmd_none(&net, "stats", &node, "subgroup", &all))
		return CTL_FAILED;
	out = json_object_new_array();
	for (i = 0; i < sample.nodes; i++) {
		if (ctl_opts.json)
			json_object_array_add(out, json_stats(&sample.node[i], &sample));
		else if (i)
			putchar('\n');
		if (!ctl_opts.json)
			print_stats(&sample.node[i], &sample);
	}
	if (ctl_opts.json)
		ctl_json_print(out);
	else if (!sample.nodes)
		puts("There is no node.");
	return CTL_OK;
}
