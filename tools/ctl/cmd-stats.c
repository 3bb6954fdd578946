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

/**
 * struct abreast - subgroups, or tables, that stand side by side
 */
struct abreast {
	/** @head: what they are */
	const char *head;
	/** @names: their counters */
	const struct ctl_names *names;
	/** @sg: the subgroups */
	const struct ctl_subgroup *sg[SUBGROUPS_ABREAST];
	/** @count: entries of @sg */
	unsigned int count;
	/** @any: the title is printed */
	bool any;
};

static const struct ctl_stats *stats_of(const struct ctl_subgroup *sg)
{
	return sg->tabular ? &sg->table_stats : &sg->stats;
}

/* Print the subgroups side by side, and begin with none. */
static void print_abreast(struct abreast *ab)
{
	struct ctl_table t = { .indent = 4 };
	unsigned int i, c;

	if (!ab->any)
		printf("  %ss\n", ab->head);
	ab->any = true;
	ctl_table_head(&t, ab->head);
	for (i = 0; i < ab->count; i++)
		ctl_table_head(&t, ctl_val_text(&ctl_subgroup_keys[CTL_SG_ID],
						&ab->sg[i]->val[CTL_SG_ID]));
	ctl_table_cell(&t, "state");
	for (i = 0; i < ab->count; i++)
		ctl_table_cell(&t, ctl_name(&ctl_state, ab->sg[i]->state));
	for (c = 0; c < ab->names->count; c++) {
		if (!ab->names->name[c])
			continue;
		ctl_table_cell(&t, ab->names->name[c]);
		for (i = 0; i < ab->count; i++) {
			if (stats_of(ab->sg[i])->has & (1ULL << c))
				ctl_table_num(&t, stats_of(ab->sg[i])->num[c]);
			else
				ctl_table_cell(&t, "");
		}
	}
	ctl_table_print(&t);
	ab->count = 0;
}

/* Print the subgroups of a node, or its tables. */
static void print_kind(uint64_t node, const struct ctl_sample *sample, bool tables)
{
	struct abreast ab = {
		.head = tables ? "table" : "subgroup",
		.names = tables ? &ctl_table_stat : &ctl_subgroup_stat,
	};
	const struct ctl_running_subgroup *sg;

	for (sg = sample->sg; sg < sample->sg + sample->sgs; sg++) {
		if (sg->node != node || sg->sg.tabular != tables)
			continue;
		ab.sg[ab.count++] = &sg->sg;
		if (ab.count == SUBGROUPS_ABREAST)
			print_abreast(&ab);
	}
	if (ab.count)
		print_abreast(&ab);
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
	print_kind(s->id, sample, false);
	print_kind(s->id, sample, true);
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
