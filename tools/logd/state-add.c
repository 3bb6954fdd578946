// SPDX-License-Identifier: GPL-2.0-only
/*
 * A subgroup of the group has logs from the next restart on. See state.h.
 *
 * The subgroup gets an empty log, and the view record of one that has logs already. So a restart
 * needs the same nodes for both. Documentation/design/restart.rst has the reason why that is safe.
 *
 * The order is: log, record, group file. Each of them is on disk before the next one, and a call
 * after a crash does the rest.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <linux/spindle.h>

#include "common/live.h"
#include "state-files.h"

/**
 * struct add - the subgroup that gets logs
 */
struct add {
	/** @id: its id */
	uint32_t id;
	/** @at: its entry in the group file */
	unsigned int at;
	/** @like: the entry of the subgroup whose record it takes */
	const struct ctl_subgroup *like;
};

/* ---- may it have logs? ------------------------------------------------------------------ */

static bool find_entry(const struct ctl_view *view, struct add *add)
{
	for (add->at = 0; add->at < view->subgroups; add->at++)
		if (view->subgroup[add->at].val[CTL_SG_ID].num == add->id)
			return true;
	return false;
}

/* The first one that is not divided into shards. All nodes with the same list take the same one. */
static const struct ctl_subgroup *find_like(const struct ctl_view *view)
{
	unsigned int i;

	for (i = 0; i < view->subgroups; i++)
		if (logd_state_logs(&view->subgroup[i]) == 1)
			return &view->subgroup[i];
	return NULL;
}

/* May all nodes of a subgroup be in the other one? */
static bool has_nodes_of(const struct ctl_subgroup *sg, const struct ctl_subgroup *like)
{
	unsigned int i;

	if (!sg->members.set)
		return true;
	for (i = 0; i < like->members.count; i++)
		if (!ctl_ids_has(&sg->members, like->members.id[i]))
			return false;
	return like->members.set;
}

static bool is_suitable(struct logd_state *s, const struct add *add)
{
	const struct ctl_subgroup *sg = &s->group.view.subgroup[add->at];
	const struct ctl_val *mode = &sg->val[CTL_SG_MODE];

	if (ctl_is_table(sg) || (mode->set && mode->num != SPINDLE_MODE_ORDERED) ||
	    logd_state_shards(sg) != 1)
		return logd_state_fail(s, "subgroup %u is a table, is unordered, or has shards, so "
				       "it gets no logs here", add->id);
	if (!add->like)
		return logd_state_fail(s, "no subgroup of %s/group has logs and one shard, so there "
				       "is no view record to begin with", s->path);
	return has_nodes_of(sg, add->like) ||
	       logd_state_fail(s, "subgroup %u does not have all nodes of subgroup %u", add->id,
			       (uint32_t)add->like->val[CTL_SG_ID].num);
}

/* A restart that the node has voted for begins with the list from before. */
static bool is_open(struct logd_state *s)
{
	const struct spindle_restart_voter *voter = &s->voter;

	if (!voter->has_accepted || voter->accepted.ballot.era <= s->group.era)
		return true;
	logd_state_fail(s, "node %u has voted for a restart of era %" PRIu64 ", and has not "
			"entered it: start spindle-logd first, so that the group restarts", s->node,
			voter->accepted.ballot.era);
	return false;
}

/* ---- files ------------------------------------------------------------------------------ */

static bool begin_log(struct logd_state *s, uint32_t id, uint32_t segment)
{
	struct logd_disk *d = logd_disk_open(s, id);

	if (!d)
		return false;
	if (d->found && (d->scan.is_new || d->scan.next))
		return logd_state_fail(s, "%s/%u has a log already: move it away", s->path, id);
	return d->found || logd_disk_begin(s, d, segment);
}

static int open_dir(const struct logd_state *s, uint32_t id)
{
	char name[16];

	snprintf(name, sizeof(name), "%u", id);
	return openat(s->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
}

/* The subgroup has no message in any of these views. */
static void empty_record(struct spindle_restart_keep *keep)
{
	uint32_t i;

	for (i = 0; i < keep->record.views; i++)
		keep->record.view[i].base = 0;
	for (i = 0; i < keep->path.eras; i++)
		keep->path.past[i].base = 0;
}

/* A node without a record of the other subgroup begins without one, too. */
static bool copy_record(struct logd_state *s, const struct add *add, struct logd_records *r)
{
	uint32_t like = (uint32_t)add->like->val[CTL_SG_ID].num;
	int dir = open_dir(s, like), err;
	struct spindle_restart_keep keep;
	bool good = logd_state_read_record(s, like, dir, r);

	if (dir >= 0)
		close(dir);
	if (!good || !r->now.record.views)
		return good;
	keep = r->now;
	empty_record(&keep);
	dir = open_dir(s, add->id);
	good = logd_state_read_record(s, add->id, dir, r);
	if (good) {
		r->now = keep;
		err = dir < 0 ? -ENOENT : logd_records_write(r);
		good = !err || logd_state_fail(s, "cannot write the view record in %s/%u: %s",
					       s->path, add->id, strerror(-err));
	}
	if (dir >= 0)
		close(dir);
	return good;
}

static bool begin_record(struct logd_state *s, const struct add *add)
{
	struct logd_records *r = malloc(sizeof(*r));
	bool good;

	if (!r)
		return logd_state_fail(s, "no memory");
	good = copy_record(s, add, r);
	free(r);
	return good;
}

/* The rules of durability are those of the other subgroup, so they are the same at all nodes. */
static bool write_group(struct logd_state *s, const struct add *add)
{
	struct ctl_view view = s->group.view;
	struct ctl_subgroup *sg;
	unsigned int i;

	view.subgroup = ctl_alloc(view.subgroups * sizeof(*view.subgroup));
	memcpy(view.subgroup, s->group.view.subgroup, view.subgroups * sizeof(*view.subgroup));
	sg = &view.subgroup[add->at];
	for (i = CTL_SG_LOG; i <= CTL_SG_MIN_COPIES; i++)
		sg->val[i] = add->like->val[i];
	/* The history of a subgroup with logs has another default. */
	sg->tune[CTL_TUNE_HISTORY].set = false;
	return logd_group_write(&s->group, s->dir, &view, s->group.due, s->why);
}

/**
 * logd_state_add_log() - a subgroup of the group file has logs from the next restart on
 * @s: the state, of a node that is in no view
 * @id: id of the subgroup, which has no logs now
 * @segment: bytes of a segment of its log, a multiple of LOGD_BLOCK
 *
 * Nodes with different lists do not restart together, so this has to be done at a majority of the
 * nodes. The others get the list when they join.
 *
 * Return: whether it is on disk, or was so before.
 */
bool logd_state_add_log(struct logd_state *s, uint32_t id, uint32_t segment)
{
	struct ctl_pool pool = { 0 }, *before;
	struct add add = { .id = id, .like = find_like(&s->group.view) };
	char name[16];
	bool good;
	int err;

	if (!s->group.is)
		return logd_state_fail(s, "%s has no group file", s->path);
	if (!logd_state_ready(s, s->group.lineage))
		return false;
	if (!find_entry(&s->group.view, &add))
		return logd_state_fail(s, "%s/group has no subgroup %u", s->path, id);
	if (ctl_is_logged(&s->group.view.subgroup[add.at]))
		return true;
	if (!is_suitable(s, &add) || !is_open(s))
		return false;
	snprintf(name, sizeof(name), "%u", id);
	err = logd_state_make(s->dir, name);
	if (err)
		return logd_state_fail(s, "cannot make %s/%u: %s", s->path, id, strerror(-err));
	before = ctl_pool_use(&pool);
	good = begin_log(s, id, segment) && begin_record(s, &add) && write_group(s, &add);
	ctl_pool_use(before);
	ctl_pool_drop(&pool);
	return good;
}
