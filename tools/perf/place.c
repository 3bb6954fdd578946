// SPDX-License-Identifier: GPL-2.0-only
/* The place of a measurement. See place.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include <linux/spindle_genl.h>

#include "common/clock.h"
#include "common/model.h"
#include "common/names.h"
#include "common/util.h"
#include "common/wire.h"
#include "net.h"
#include "place.h"
#include "stop.h"

/* The time between two looks at a node while its subgroups form. */
#define LOOK_NS		10000000

/**
 * struct search - the state of a search
 */
struct search {
	/** @place: place to be filled */
	struct perf_place *place;
	/** @nodes: nodes to take; empty: all */
	struct ctl_ids nodes;
	/** @groups: subgroups to take; empty: all */
	struct ctl_ids groups;
	/** @forming: subgroups that are not active yet */
	unsigned int forming;
	/** @error: enum spindle_error of a subgroup that has failed */
	int error;
};

/* The index of a node in the place, or -1. */
int perf_place_index(const struct perf_place *place, uint32_t node)
{
	unsigned int i;

	for (i = 0; i < place->nodes; i++)
		if (place->node[i] == node)
			return i;
	return -1;
}

/* Does another process drive a member of one of the subgroups? */
bool perf_place_remote(const struct perf_place *place)
{
	unsigned int g, i, here;

	for (g = 0; g < place->groups; g++) {
		for (i = here = 0; i < place->nodes; i++)
			here += place->group[g].spot[i].member;
		if (here < place->group[g].members)
			return true;
	}
	return false;
}

static void add_device(struct perf_place *place, const char *name)
{
	unsigned int i;

	for (i = 0; i < place->devices; i++)
		if (!strcmp(place->device[i], name))
			return;
	if (*name && place->devices < PERF_DEVICES)
		snprintf(place->device[place->devices++], PERF_DEVICE_LEN, "%s", name);
}

/* Nodes of --setup are known already; others count if they have a view. */
static bool is_wanted(const struct perf_place *place, const struct ctl_ids *nodes,
		      const struct ctl_node *node)
{
	return !place->made && node->vid && place->nodes < SPINDLE_MAX_MEMBERS &&
	       (!nodes->set || ctl_ids_has(nodes, node->val[CTL_NODE_ID].num));
}

/* Read the properties of the nodes. @wanted: nodes to take; empty: all; NULL: none */
static int read_nodes(struct perf_place *place, const struct ctl_ids *wanted)
{
	const struct ctl_val all = { .set = false };
	struct ctl_running *run;
	unsigned int count, i;
	int at, rc = ctl_fetch(place->net, "nodes", &all, &run, &count, false);

	for (i = 0; !rc && i < count; i++) {
		const struct ctl_node *node = &run[i].node;

		if (wanted && is_wanted(place, wanted, node))
			place->node[place->nodes++] = node->val[CTL_NODE_ID].num;
		at = perf_place_index(place, node->val[CTL_NODE_ID].num);
		if (at < 0)
			continue;
		add_device(place, node->device);
		place->was_timed[at] = node->timing.num;
		if (!at) {
			place->conf.visibility = node->val[CTL_NODE_VISIBILITY].num;
			place->conf.idle_us = node->val[CTL_NODE_IDLE_US].num;
		}
	}
	return rc;
}

/* Read the devices of the known nodes, for a caller that needs nothing else of them. */
int perf_place_devices(struct perf_place *place)
{
	return read_nodes(place, NULL);
}

/* The subgroup with this id in the place; a new one if there is none. */
static struct perf_group *group_of(struct perf_place *place, uint32_t id)
{
	unsigned int i;

	for (i = 0; i < place->groups; i++)
		if (place->group[i].id == id)
			return &place->group[i];
	if (place->groups == SPINDLE_MAX_SUBGROUPS)
		return NULL;
	memset(&place->group[i], 0, sizeof(place->group[i]));
	place->group[i].id = id;
	place->groups++;
	return &place->group[i];
}

/* Store the properties of the first subgroup, which stands for all of them. */
static void describe(struct perf_conf *conf, const struct ctl_subgroup *sg)
{
	conf->nodes = sg->members.count;
	conf->window = sg->val[CTL_SG_WINDOW].num;
	conf->max_msg = sg->val[CTL_SG_MAX_MSG].num;
	conf->ring = sg->val[CTL_SG_RING].num;
	conf->mode = sg->val[CTL_SG_MODE].num;
	conf->log = sg->val[CTL_SG_LOG].num;
}

/* Take a subgroup of a node of this kernel. */
static void take_group(struct search *search, const struct ctl_running_subgroup *run)
{
	struct perf_place *place = search->place;
	const struct ctl_subgroup *sg = &run->sg;
	uint32_t id = sg->val[CTL_SG_ID].num;
	int at = perf_place_index(place, run->node);
	struct perf_group *group;
	struct perf_spot *spot;

	if (at < 0 || ctl_is_table(sg) || (search->groups.set && !ctl_ids_has(&search->groups, id)))
		return;
	group = group_of(place, id);
	if (!group)
		return;
	group->members = sg->members.count;
	if (group == place->group)
		describe(&place->conf, sg);
	spot = &group->spot[at];
	spot->member = true;
	spot->sender = ctl_ids_has(&sg->senders, run->node);
	if (!place->tuned)
		perf_tune_get(sg->tune, &spot->tune);
	search->forming += sg->state == SPINDLE_STATE_FORMING;
	if (sg->state > SPINDLE_STATE_ACTIVE)
		search->error = sg->error;
}

/* Read the properties and the state of the subgroups. */
static int read_groups(struct search *s)
{
	struct ctl_running_subgroup *list;
	unsigned int count, i;
	int rc = perf_net_subgroups(s->place->net, &list, &count);

	s->forming = 0;
	s->error = -1;
	for (i = 0; !rc && i < count; i++)
		take_group(s, &list[i]);
	return rc;
}

/* Wait until all members are connected, and fill in the properties of the subgroups. */
static int wait_active(struct search *s, unsigned int seconds)
{
	struct timespec ts = { 0, LOOK_NS };
	uint64_t start = perf_monotonic();
	int rc;

	for (;;) {
		rc = read_groups(s);
		if (rc)
			return rc;
		if (s->error >= 0) {
			ctl_err("a subgroup has failed: %s", ctl_error_text(s->error));
			return -ENOTCONN;
		}
		if (!s->forming || !s->place->groups)
			return 0;
		if (perf_stopped())
			return -EINTR;
		if (perf_monotonic() - start > seconds * 1000000000ULL) {
			ctl_err("%u subgroups have been forming for %u s; see spindle-ctl stats",
				s->forming, seconds);
			return -ETIMEDOUT;
		}
		nanosleep(&ts, NULL);
	}
}

static const char *parse_lists(struct search *s, const struct perf_where *where)
{
	const char *err = NULL;

	if (where->node)
		err = ctl_ids_parse(where->node, &s->nodes, false);
	s->nodes.set = where->node;
	if (!err && where->group)
		err = ctl_ids_parse(where->group, &s->groups, false);
	s->groups.set = where->group;
	return err;
}

static int find_all(struct perf_place *place, const struct perf_where *where,
		    const struct perf_conf *conf)
{
	struct search s = { .place = place };
	const char *err = parse_lists(&s, where);
	int rc;

	if (err) {
		ctl_err("%s", err);
		return -EINVAL;
	}
	rc = read_nodes(place, &s.nodes);
	if (!rc)
		rc = wait_active(&s, where->wait);
	if (rc)
		return rc;
	if (!place->nodes || !place->groups) {
		ctl_err("there is no %s here%s", place->nodes ? "subgroup" : "node with a view",
			where->node || where->group ? " of those" : "; make one, or give --setup");
		return -ENOENT;
	}
	place->conf.subgroups = place->groups;
	place->groups = perf_some(conf->active, place->groups);
	return 0;
}

/* Tune all ends of all subgroups, including those that are not used. */
static int tune_all(struct perf_place *place, const struct perf_conf *conf)
{
	unsigned int g, i;
	int rc = 0;

	if (perf_tune_empty(&conf->tune))
		return 0;
	place->tuned = true;
	for (g = 0; g < place->conf.subgroups; g++)
		for (i = 0; !rc && i < place->nodes; i++)
			if (place->group[g].spot[i].member)
				rc = perf_net_tune(place->net, place->node[i],
						   place->group[g].id, &conf->tune);
	return rc;
}

static int time_all(struct perf_place *place)
{
	int rc = 0;

	while (!rc && place->timed < place->nodes) {
		rc = perf_net_timing(place->net, place->node[place->timed], true);
		place->timed += !rc;
	}
	return rc;
}

/**
 * perf_place_enter() - make or find a place, and prepare it
 * @place: out: place
 * @net: socket
 * @where: what the user wants
 * @conf: configuration to be measured there
 *
 * Return: 0 or -errno, after a message. The caller calls perf_place_leave() in both cases
 */
int perf_place_enter(struct perf_place *place, struct ctl_net *net,
		     const struct perf_where *where, const struct perf_conf *conf)
{
	int rc = 0;

	memset(place, 0, sizeof(*place));
	place->net = net;
	place->conf = *conf;
	if (where->setup)
		rc = perf_setup(place, where, conf);
	if (!rc)
		rc = find_all(place, where, conf);
	if (!rc && where->setup && conf->log)
		rc = perf_loggers_begin(&place->loggers, where->log_dir, place->node,
					place->nodes, where->wait);
	if (!rc)
		rc = tune_all(place, conf);
	if (!rc && where->timing)
		rc = time_all(place);
	return rc;
}

/* Restore the state before perf_place_enter(). */
void perf_place_leave(struct perf_place *place)
{
	unsigned int g, i;

	perf_loggers_end(&place->loggers);
	if (place->made) {
		for (i = place->made; i--; )
			perf_net_node_del(place->net, place->node[i]);
		place->made = 0;
		place->timed = 0;
		place->tuned = false;
		return;
	}
	for (i = 0; i < place->timed; i++)
		if (!place->was_timed[i])
			perf_net_timing(place->net, place->node[i], false);
	place->timed = 0;
	for (g = 0; place->tuned && g < place->conf.subgroups; g++)
		for (i = 0; i < place->nodes; i++)
			if (place->group[g].spot[i].member)
				perf_net_tune(place->net, place->node[i], place->group[g].id,
					      &place->group[g].spot[i].tune);
	place->tuned = false;
}
