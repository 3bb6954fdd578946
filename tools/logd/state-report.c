// SPDX-License-Identifier: GPL-2.0-only
/* A report that is made of the files of a node. See state.h. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/live.h"
#include "state-files.h"

/**
 * logd_state_read_record() - read the view record of a subgroup
 * @s: the state
 * @subgroup: id of the subgroup
 * @dir: directory of its log; -1: there is none
 * @r: out; a record of another group says nothing
 *
 * Return: whether that was possible.
 */
bool logd_state_read_record(struct logd_state *s, uint32_t subgroup, int dir,
			    struct logd_records *r)
{
	int err;

	memset(r, 0, sizeof(*r));
	if (dir < 0)
		return true;
	err = logd_records_open(r, dir);
	if (err)
		return logd_state_fail(s, "cannot use the view record in %s/%u: %s", s->path,
				       subgroup, err == -EBADMSG ? "both copies are damaged" :
				       err == -EPROTO ? "no program uses its format any more" :
				       strerror(-err));
	if (memcmp(r->now.lineage, s->lineage, sizeof(s->lineage)))
		memset(&r->now, 0, sizeof(r->now));
	return true;
}

/* May the rule of the subgroup have this node as a member? */
static bool is_named(const struct logd_state *s, const struct ctl_subgroup *sg)
{
	if (s->group.view.witnesses.set && ctl_ids_has(&s->group.view.witnesses, s->node))
		return false;
	return !sg->members.set || ctl_ids_has(&sg->members, s->node);
}

static bool fill_part(struct logd_state *s, const struct ctl_subgroup *sg, uint32_t shard,
		      struct spindle_restart_part *part)
{
	uint32_t id = (uint32_t)(sg->val[CTL_SG_ID].num + shard);
	struct logd_disk *d = logd_disk_open(s, id);
	struct logd_records *r;
	bool good;

	if (!d)
		return false;
	r = malloc(sizeof(*r));
	if (!r)
		return logd_state_fail(s, "no memory");
	good = logd_state_read_record(s, id, d->dir, r) && logd_disk_cut(s, d, d->scan.next);
	if (good) {
		part->id = id;
		part->shard = shard;
		part->majority = sg->val[CTL_SG_ACK].num == SPINDLE_ACK_MAJORITY;
		part->record = r->now.record;
		part->path = r->now.path;
		part->member = is_named(s, sg);
		logd_disk_tell(d, &part->log);
	}
	free(r);
	return good;
}

/**
 * logd_state_logs() - how many logs does an entry of the group file stand for?
 * @sg: the entry
 *
 * Return: its shards, or one; 0: it has no logs.
 */
uint32_t logd_state_logs(const struct ctl_subgroup *sg)
{
	return ctl_is_logged(sg) ? logd_state_shards(sg) : 0;
}

static bool fill_parts(struct logd_state *s, const struct ctl_subgroup *sg,
		       struct spindle_restart_report *report)
{
	uint32_t i, n = logd_state_logs(sg);

	for (i = 0; i < n; i++) {
		if (report->parts == SPINDLE_MAX_SUBGROUPS)
			return logd_state_fail(s, "the group file has too many subgroups");
		if (!fill_part(s, sg, i, &report->part[report->parts]))
			return false;
		report->parts++;
	}
	return true;
}

static void fill_address(const struct logd_state *s, struct spindle_restart_report *report)
{
	const struct ctl_view *view = &s->group.view;
	unsigned int i;

	for (i = 0; i < view->members; i++)
		if (view->member[i].id == s->node)
			snprintf(report->address, sizeof(report->address), "%s",
				 ctl_endpoint_text(&view->member[i].addr, view->member[i].port));
}

/**
 * logd_state_report() - make a report of the files
 * @s: the state, of a node that is in no view
 * @report: out, large
 *
 * Each log is synced, because others count on what the report says.
 *
 * Return: whether there is one. Without that the node may not answer, because a record or a log
 * that cannot be read is not one that was never there.
 */
bool logd_state_report(struct logd_state *s, struct spindle_restart_report *report)
{
	const struct ctl_view *view = &s->group.view;
	unsigned int i;

	memset(report, 0, sizeof(*report));
	if (!s->group.is)
		return logd_state_fail(s, "%s has no group file", s->path);
	if (!logd_state_ready(s, s->group.lineage))
		return logd_state_fail(s, "the votes and the group file in %s are of two groups",
				       s->path);
	report->node = s->node;
	memcpy(report->lineage, s->lineage, sizeof(report->lineage));
	fill_address(s, report);
	spindle_restart_tell(&s->voter, report);
	for (i = 0; i < view->subgroups; i++)
		if (!fill_parts(s, &view->subgroup[i], report))
			return false;
	return true;
}
