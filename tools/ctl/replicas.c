// SPDX-License-Identifier: GPL-2.0-only
/* Replicas, as their processes report them. See replicas.h. */
#include <stdio.h>

#include <json-c/json.h>

#include <linux/spindle.h>

#include "common/names.h"
#include "common/out.h"
#include "common/util.h"
#include "common/wire.h"
#include "replicas.h"

/* Call @fn for each replica of a node. */
static void each(const struct ctl_running_subgroup *list, unsigned int count, uint64_t node,
		 void (*fn)(void *ctx, const struct ctl_subgroup *sg, const struct ctl_reader *r),
		 void *ctx)
{
	unsigned int i, k;

	for (i = 0; i < count; i++)
		for (k = 0; list[i].node == node && k < list[i].sg.reader_count; k++)
			if (list[i].sg.reader[k].replica != SPINDLE_REPLICA_NONE)
				fn(ctx, &list[i].sg, &list[i].sg.reader[k]);
}

/* The snapshot of a replica, like "17 of 42 MB from node 3, 2 s left". */
static const char *snapshot_text(const struct ctl_reader *r)
{
	const char *text = ctl_asprintf(" %s", ctl_digits(r->received / 1e6));

	if (r->bytes)
		text = ctl_asprintf("%s of %s", text, ctl_digits(r->bytes / 1e6));
	text = ctl_asprintf("%s MB from node %llu", text, (unsigned long long)r->donor);
	if (r->left_ms.set)
		text = ctl_asprintf("%s, %llu s left", text,
				    (unsigned long long)(r->left_ms.num + 999) / 1000);
	return text;
}

/* A replica may receive a state, have got it from a node, or give it to others. */
static void print(void *ctx, const struct ctl_subgroup *sg, const struct ctl_reader *r)
{
	const char *text = ctl_name(&ctl_replica_state, r->replica);

	(void)ctx;
	if (r->replica == SPINDLE_REPLICA_RECEIVING)
		text = ctl_asprintf("%s%s", text, snapshot_text(r));
	else if (r->donor)
		text = ctl_asprintf("%s, from node %llu", text, (unsigned long long)r->donor);
	if (r->serving)
		text = ctl_asprintf("%s, gives it to %llu node%s", text,
				    (unsigned long long)r->serving, r->serving == 1 ? "" : "s");
	printf("replica: %s, process %llu: %s\n", ctl_subgroup_title(sg),
	       (unsigned long long)r->pid, text);
}

/* Print a line for each replica of a node. */
void ctl_replicas_print(const struct ctl_running_subgroup *list, unsigned int count,
			uint64_t node)
{
	each(list, count, node, print, NULL);
}

static void add(void *ctx, const struct ctl_subgroup *sg, const struct ctl_reader *r)
{
	struct json_object *obj = json_object_new_object();

	ctl_json_add(obj, "subgroup", ctl_json_num(sg->val[CTL_SG_ID].num));
	ctl_record_add(obj, "pid comm lsn replica replica-ms donor received bytes left-ms serving",
		       ctl_reader_fields, r);
	json_object_array_add(ctx, obj);
}

/* The same for programs. */
struct json_object *ctl_replicas_json(const struct ctl_running_subgroup *list,
				      unsigned int count, uint64_t node)
{
	struct json_object *all = json_object_new_array();

	each(list, count, node, add, all);
	return all;
}
