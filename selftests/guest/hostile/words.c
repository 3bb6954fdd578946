// SPDX-License-Identifier: GPL-2.0-only
/*
 * Parse a view in the words of spindle-ctl, so that its digest and its layouts equal those of the
 * node.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "hostile-peer.h"

static void parse_member(const char *word)
{
	struct spindle_view_member *m = &view.member[view.num_members++];
	unsigned int a[4], port = SPINDLE_DEF_PORT, i;

	if (sscanf(word, "%u@%u.%u.%u.%u:%u", &m->id, &a[0], &a[1], &a[2], &a[3], &port) < 5)
		die("bad member '%s'\n", word);
	for (i = 0; i < 4; i++)
		m->addr.ip[i] = a[i];
	m->addr.port = port;
	m->addr.family = 4;
}

static uint64_t parse_mask(const char *word)
{
	uint64_t mask = 0;

	if (!strcmp(word, "all"))
		return view.num_members == 64 ? U64_MAX : BIT_ULL(view.num_members) - 1;
	while (*word) {
		char *end;
		int rank = spindle_view_rank(&view, strtoul(word, &end, 10));

		if (rank < 0 || end == word)
			die("bad list '%s'\n", word);
		mask |= BIT_ULL(rank);
		word = *end ? end + 1 : end;
	}
	return mask;
}

/* Missing values get the defaults of spindle-ctl and of the module. */
static void finish_subgroup(void)
{
	struct spindle_view_subgroup *sg;

	if (!view.num_subgroups)
		return;
	sg = &view.subgroup[view.num_subgroups - 1];
	if (!sg->members)
		sg->members = parse_mask("all");
	if (spindle_view_is_table(sg)) {
		sg->ring = spindle_view_table_ring(sg->window, sg->max_msg);
		return;
	}
	if (!sg->senders)
		sg->senders = sg->members;
	if (!sg->ring)
		sg->ring = spindle_view_default_ring(sg->window, sg->max_msg);
}

/* The rule of each spare, and their number. */
static struct spindle_rule spare = {
	.shards = 1, .flags = SPINDLE_RULE_SPARE | SPINDLE_RULE_CLOSED,
};

static uint32_t spares;

/* All nodes are in all subgroups, and all may send. Spares come behind them. */
static void make_rules(void)
{
	const char *err;
	uint32_t i;
	int fault;

	rules.num_rules = view.num_subgroups;
	for (i = 0; i < view.num_subgroups; i++) {
		struct spindle_rule *rule = &rules.rule[i];

		rule->cfg = view.subgroup[i];
		rule->shards = 1;
		rule->all_send = !spindle_view_is_table(&rule->cfg);
		if (!rule->min)
			rule->min = 1;
	}
	for (i = 0; i < spares && rules.num_rules < SPINDLE_MAX_SUBGROUPS; i++)
		rules.rule[rules.num_rules++] = spare;
	err = spindle_rules_check(&rules, &fault);
	if (err)
		die("%s\n", err);
	spindle_rules_apply(&rules, NULL, &view);
}

void parse_view(char **word, int n)
{
	struct spindle_view_subgroup *sg = NULL;
	const char *err;
	int i;

	rules.timeout_ms = SPINDLE_DEF_TIMEOUT_MS;
	rules.max_nodes = SPINDLE_DEF_MAX_NODES;
	rules.quorum = 1;
	for (i = 0; i < n && !strcmp(word[i], "live"); i++)
		live = true;
	for (; i + 1 < n; i += 2) {
		const char *key = word[i], *val = word[i + 1];

		if (!strcmp(key, "vid")) {
			view.vid = strtoull(val, NULL, 0);
		} else if (!strcmp(key, "member")) {
			parse_member(val);
		} else if (!strcmp(key, "subgroup")) {
			finish_subgroup();
			sg = &view.subgroup[view.num_subgroups++];
			sg->id = strtoul(val, NULL, 0);
			sg->window = SPINDLE_DEF_WINDOW;
			sg->max_msg = SPINDLE_DEF_MAX_MSG;
		} else if (!strcmp(key, "table")) {
			finish_subgroup();
			sg = &view.subgroup[view.num_subgroups++];
			sg->id = strtoul(val, NULL, 0);
			sg->mode = SPINDLE_MODE_TABLE;
			sg->max_msg = SPINDLE_DEF_CELL;
		} else if (sg && !strcmp(key, "cells")) {
			sg->window = strtoul(val, NULL, 0);
		} else if (sg && !strcmp(key, "cell")) {
			sg->max_msg = strtoul(val, NULL, 0);
		} else if (sg && !strcmp(key, "mode") && spindle_view_is_table(sg)) {
			sg->mode = strcmp(val, "read") ? SPINDLE_MODE_TABLE :
							 SPINDLE_MODE_TABLE_READ;
		} else if (live && !strcmp(key, "timeout-ms")) {
			rules.timeout_ms = strtoul(val, NULL, 0);
		} else if (live && !strcmp(key, "max-nodes")) {
			rules.max_nodes = strtoul(val, NULL, 0);
		} else if (live && !strcmp(key, "spares")) {
			spares = strtoul(val, NULL, 0);
		} else if (live && !strcmp(key, "spare-window")) {
			spare.room_window = strtoul(val, NULL, 0);
		} else if (live && !strcmp(key, "spare-ring")) {
			spare.room_ring = strtoul(val, NULL, 0);
		} else if (live && sg && !strcmp(key, "min")) {
			rules.rule[view.num_subgroups - 1].min = strtoul(val, NULL, 0);
		} else if (sg && !strcmp(key, "window")) {
			sg->window = strtoul(val, NULL, 0);
		} else if (sg && !strcmp(key, "max-msg")) {
			sg->max_msg = strtoul(val, NULL, 0);
		} else if (sg && !strcmp(key, "ring")) {
			sg->ring = strtoul(val, NULL, 0);
		} else if (sg && !strcmp(key, "members")) {
			sg->members = parse_mask(val);
		} else if (sg && !strcmp(key, "senders")) {
			sg->senders = parse_mask(val);
		} else if (sg && !strcmp(key, "mode")) {
			sg->mode = !strcmp(val, "unordered");
		} else if (!sg || strcmp(key, "hold")) {
			die("unknown word '%s'\n", key);
		}
	}
	finish_subgroup();
	if (live)
		make_rules();
	err = spindle_view_check(&view, live, NULL);
	if (err)
		die("%s\n", err);
}
