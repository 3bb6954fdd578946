// SPDX-License-Identifier: GPL-2.0-only
/*
 * Limits of a configuration, for a machine without the module.
 *
 * The kernel's own check is decisive (SPINDLE_A_CHECK). This file has the same numbers, from the
 * same headers. The limits of live views are checked where the file is read (common/live.c).
 */
#include <string.h>

#include <linux/spindle.h>
#include <linux/spindle_genl.h>
#include <linux/spindle_table.h>

#include "common/live.h"
#include "common/model.h"
#include "common/util.h"
#include "conf.h"

#define MIN_RING	4096U

/**
 * struct limit - the limits of a number
 */
struct limit {
	/** @index: index of the value */
	unsigned int index;
	/** @min: smallest */
	uint64_t min;
	/** @max: largest */
	uint64_t max;
};

static const struct limit node_limits[] = {
	{ CTL_NODE_ID, 1, UINT32_MAX },
	{ CTL_NODE_PORT, 1, UINT16_MAX },
	{ CTL_NODE_IDLE_US, 0, SPINDLE_MAX_IDLE_US },
	{ CTL_NODE_ENGINE, 0, SPINDLE_MAX_ENGINE },
};

static const struct limit subgroup_limits[] = {
	{ CTL_SG_WINDOW, 1, SPINDLE_MAX_WINDOW },
	{ CTL_SG_MAX_MSG, 1, SPINDLE_MAX_MSG },
	{ CTL_SG_RING, MIN_RING, SPINDLE_MAX_RING },
	{ CTL_SG_CELLS, 1, SPINDLE_MAX_CELLS },
	{ CTL_SG_CELL, SPINDLE_MIN_CELL, SPINDLE_MAX_CELL },
};

static void check_nums(struct ctl_conf *conf, const struct ctl_key *key,
		       const struct ctl_val *val, const struct limit *limit, unsigned int n)
{
	for (; n--; limit++) {
		const struct ctl_val *v = &val[limit->index];

		if (v->set && (v->num < limit->min || v->num > limit->max))
			ctl_conf_complain(conf, v->line, "%s = %s; allowed: from %llu to %llu",
					  key[limit->index].conf,
					  ctl_val_text(&key[limit->index], v),
					  (unsigned long long)limit->min,
					  (unsigned long long)limit->max);
	}
}

static void check_length(struct ctl_conf *conf, const struct ctl_key *key,
			 const struct ctl_val *v, unsigned int max)
{
	if (v->set && v->str && strlen(v->str) > max)
		ctl_conf_complain(conf, v->line, "%s = %s; allowed: at most %u characters",
				  key->conf, ctl_clean(v->str), max);
}

static void check_ring(struct ctl_conf *conf, const struct ctl_subgroup *sg)
{
	const struct ctl_val *ring = &sg->val[CTL_SG_RING], *msg = &sg->val[CTL_SG_MAX_MSG];

	if (!ring->set)
		return;
	if (ring->num & (ring->num - 1))
		ctl_conf_complain(conf, ring->line, "%s is a power of two",
				  ctl_subgroup_keys[CTL_SG_RING].conf);
	if ((msg->set ? msg->num : SPINDLE_DEF_MAX_MSG) > ring->num)
		ctl_conf_complain(conf, msg->set ? msg->line : ring->line,
				  "%s is at most %s", ctl_subgroup_keys[CTL_SG_MAX_MSG].conf,
				  ctl_subgroup_keys[CTL_SG_RING].conf);
}

/* Complain about values that the mode of a subgroup does not have. */
static void check_mode(struct ctl_conf *conf, const struct ctl_subgroup *sg)
{
	unsigned int i;

	for (i = 0; i < CTL_SG_VALS; i++)
		if (sg->val[i].set && !ctl_subgroup_has(sg, i))
			ctl_conf_complain(conf, sg->val[i].line, "%s has no %s",
					  ctl_subgroup_title(sg), ctl_subgroup_keys[i].conf);
	for (i = 0; i < CTL_RULE_VALS; i++)
		if (sg->rule[i].set && !ctl_rule_has(sg, i))
			ctl_conf_complain(conf, sg->rule[i].line, "%s has no %s",
					  ctl_subgroup_title(sg), ctl_rule_keys[i].conf);
}

static void check_cells(struct ctl_conf *conf, const struct ctl_subgroup *sg)
{
	const struct ctl_val *cells = &sg->val[CTL_SG_CELLS], *cell = &sg->val[CTL_SG_CELL];
	uint64_t size = cell->set ? cell->num : SPINDLE_DEF_CELL;

	if (!ctl_is_table(sg))
		return;
	if (!cells->set)
		ctl_conf_complain(conf, sg->line, "%s: %s is missing", ctl_subgroup_title(sg),
				  ctl_subgroup_keys[CTL_SG_CELLS].conf);
	if (size & (size - 1))
		ctl_conf_complain(conf, cell->line, "%s is a power of two",
				  ctl_subgroup_keys[CTL_SG_CELL].conf);
	if (cells->num <= SPINDLE_MAX_CELLS && size <= SPINDLE_MAX_CELL &&
	    cells->num * size > SPINDLE_MAX_TABLE_ROW)
		ctl_conf_complain(conf, cells->line,
				  "%s: the cells have %llu bytes; allowed: at most %u",
				  ctl_subgroup_title(sg), (unsigned long long)(cells->num * size),
				  SPINDLE_MAX_TABLE_ROW);
}

static void check_subgroup(struct ctl_conf *conf, const struct ctl_subgroup *sg)
{
	check_mode(conf, sg);
	check_cells(conf, sg);
	check_nums(conf, ctl_subgroup_keys, sg->val, subgroup_limits,
		   CTL_ARRAY_SIZE(subgroup_limits));
	check_length(conf, &ctl_subgroup_keys[CTL_SG_NAME], &sg->val[CTL_SG_NAME],
		     SPINDLE_NAME_LEN);
	check_ring(conf, sg);
}

/**
 * ctl_conf_limits() - check all values against the limits of the headers
 * @conf: configuration; complaints are counted in it
 *
 * Return: number of complaints
 */
unsigned int ctl_conf_limits(struct ctl_conf *conf)
{
	unsigned int i, j, before = conf->errors;

	for (i = 0; i < conf->nodes; i++) {
		check_nums(conf, ctl_node_keys, conf->node[i].val, node_limits,
			   CTL_ARRAY_SIZE(node_limits));
		check_length(conf, &ctl_node_keys[CTL_NODE_CLUSTER],
			     &conf->node[i].val[CTL_NODE_CLUSTER], SPINDLE_CLUSTER_LEN);
		ctl_conf_check_live(conf, &conf->node[i], conf->node[i].key_file.set);
	}
	for (i = 0; i < conf->views; i++) {
		const struct ctl_view *view = &conf->view[i];

		if (view->vid.set && !view->vid.num)
			ctl_conf_complain(conf, view->vid.line, "%s = 0; allowed: from 1",
					  ctl_vid_key.conf);
		if (view->members > SPINDLE_MAX_MEMBERS)
			ctl_conf_complain(conf, view->line, "a view has at most %u members",
					  SPINDLE_MAX_MEMBERS);
		if (view->subgroups > SPINDLE_MAX_SUBGROUPS)
			ctl_conf_complain(conf, view->line, "a view has at most %u subgroups",
					  SPINDLE_MAX_SUBGROUPS);
		for (j = 0; j < view->subgroups; j++)
			check_subgroup(conf, &view->subgroup[j]);
	}
	return conf->errors - before;
}
