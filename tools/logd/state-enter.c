// SPDX-License-Identifier: GPL-2.0-only
/* A node enters the first view of a proposal, or joins the group that runs. See state.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/live.h"
#include "state-files.h"

static bool is_older(const struct spindle_restart_id *a, const struct spindle_restart_id *b)
{
	return a->era != b->era ? a->era < b->era : a->vid < b->vid;
}

/* ---- logs ---------------------------------------------------------------------------- */

/**
 * logd_disk_end() - where does a log leave the way?
 * @s: the state
 * @d: the log
 * @way: the way
 * @end: out: position of the first message that is not on the way
 *
 * Return: whether the log has an end there.
 */
bool logd_disk_end(struct logd_state *s, struct logd_disk *d, const struct logd_way *way,
		   uint64_t *end)
{
	struct spindle_restart_log log;

	logd_disk_tell(d, &log);
	*end = 0;
	if (log.missing || spindle_restart_cut(&log, &way->view, &way->path, end))
		return true;
	return logd_state_fail(s, "the log in %s/%u has none of the views that the group has "
			       "gone on from: move it away", s->path, way->id);
}

static bool fail_note(struct logd_state *s, uint32_t subgroup, const char *what, int err)
{
	return logd_state_fail(s, "cannot %s the note of the cut in %s/%u: %s", what, s->path,
			       subgroup, err == -EBADMSG ? "both copies are damaged" :
							   strerror(-err));
}

/*
 * All below the base of a view that the own record knows to be established is durable, and no
 * restart is without that. So a way that would cut there is not true.
 */
static bool keeps_durable(struct logd_state *s, const struct logd_disk *d, uint32_t subgroup,
			  uint64_t end)
{
	struct logd_records *r = malloc(sizeof(*r));
	const struct spindle_restart_record *record;
	bool good;

	if (!r)
		return logd_state_fail(s, "no memory");
	good = logd_state_read_record(s, subgroup, d->dir, r);
	record = &r->now.record;
	if (good && record->known && record->views && end < d->scan.next &&
	    end < record->view[0].base)
		good = logd_state_fail(s, "the log in %s/%u would be cut at %" PRIu64 ", and all below %"
				       PRIu64 " is durable", s->path, subgroup, end,
				       record->view[0].base);
	free(r);
	return good;
}

/* A log without a message of the era is one of it only by its note. */
static bool cut_disk(struct logd_state *s, struct logd_disk *d, const struct logd_way *way)
{
	uint64_t end;
	int err;

	if (!logd_disk_end(s, d, way, &end) || !keeps_durable(s, d, way->id, end) ||
	    !logd_disk_cut(s, d, end))
		return false;
	err = d->scan.is_new ? 0 : logd_cut_write(d->dir, &d->scan.id, way->view.era);
	return !err || fail_note(s, way->id, "write", err);
}

/* Does the log have only what is on the way to the era? Return: 1 or 0; -1: nobody knows. */
static int is_of_era(struct logd_state *s, const struct logd_disk *d, uint32_t subgroup,
		     uint64_t era)
{
	int has;

	if (d->scan.is_new || !d->scan.n_epochs || d->scan.last_epoch.era >= era)
		return 1;
	has = logd_cut_has(d->dir, &d->scan.id, era);
	/* A cut makes another note. */
	if (has >= 0 || has == -EBADMSG)
		return has > 0;
	fail_note(s, subgroup, "read", has);
	return -1;
}

/* A log of an earlier era needs a way. */
static bool join_disk(struct logd_state *s, struct logd_disk *d, uint32_t subgroup, uint64_t era,
		      const struct logd_way *way)
{
	int is = is_of_era(s, d, subgroup, era);

	if (is)
		return is > 0;
	if (!way)
		return logd_state_fail(s, "the log in %s/%u has to be cut for era %" PRIu64 ", and "
				       "the member that was asked does not know where", s->path,
				       subgroup, era);
	return cut_disk(s, d, way);
}

/* @way: that of this subgroup; NULL: none is known. */
static bool join_log(struct logd_state *s, uint32_t subgroup, uint64_t era,
		     const struct logd_way *way)
{
	struct logd_disk *d = logd_disk_open(s, subgroup);

	return d && join_disk(s, d, subgroup, era, way);
}

static bool cut_log(struct logd_state *s, const struct logd_way *way)
{
	struct logd_disk *d = logd_disk_open(s, way->id);

	return d && cut_disk(s, d, way);
}

/* ---- records ---------------------------------------------------------------------------- */

static void fill_record(const struct logd_state *s, const struct spindle_restart_base *part,
			const struct spindle_restart_view *first,
			struct spindle_restart_keep *keep)
{
	memcpy(keep->lineage, s->lineage, sizeof(keep->lineage));
	keep->established = false;
	keep->record = part->range;
	/* A range of a proposal has room for one more view. */
	keep->record.view[keep->record.views++] = *first;
	keep->path = part->path;
}

static bool write_record(struct logd_state *s, const struct spindle_restart_base *part,
			 const struct spindle_restart_view *first, int dir,
			 struct logd_records *r)
{
	const struct spindle_restart_view *newest;
	int err;

	if (!logd_state_read_record(s, part->id, dir, r))
		return false;
	newest = logd_record_newest(&r->now);
	if (newest && !is_older(&newest->id, &first->id)) {
		if (newest->id.era > first->id.era)
			return logd_state_fail(s, "%s/%u has been in era %" PRIu64 " already",
					       s->path, part->id, newest->id.era);
	} else {
		fill_record(s, part, first, &r->now);
	}
	/* A record that is there may not be durable yet. */
	err = logd_records_write(r);
	return !err || logd_state_fail(s, "cannot write the view record in %s/%u: %s", s->path,
				       part->id, strerror(-err));
}

/**
 * logd_state_enter_record() - have the record of a first view on disk
 * @s: the state
 * @part: the subgroup
 * @first: the view
 *
 * Return: whether it is there.
 */
bool logd_state_enter_record(struct logd_state *s, const struct spindle_restart_base *part,
			     const struct spindle_restart_view *first)
{
	struct logd_records *r = malloc(sizeof(*r));
	bool good = false;
	char name[16];
	int dir, err;

	snprintf(name, sizeof(name), "%u", part->id);
	err = r ? logd_state_make(s->dir, name) : -ENOMEM;
	dir = err ? -1 : openat(s->dir, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC | O_NOFOLLOW);
	if (dir >= 0)
		good = write_record(s, part, first, dir, r);
	else
		logd_state_fail(s, "cannot make %s/%u: %s", s->path, part->id,
				strerror(err ? -err : errno));
	if (dir >= 0)
		close(dir);
	free(r);
	return good;
}

/* ---- the group file --------------------------------------------------------------------- */

/* The address of a node: as its report has it, or as the group file does. */
static bool find_member(const struct logd_state *s, uint32_t node, const struct logd_known *known,
			unsigned int count, struct ctl_member *member)
{
	const struct ctl_view *view = &s->group.view;
	unsigned int i;

	*member = (struct ctl_member){ .id = node };
	for (i = 0; i < count; i++)
		if (known[i].node == node && known[i].address[0])
			return !ctl_endpoint_parse(known[i].address, &member->addr,
						   &member->has_port, &member->port) &&
			       member->has_port;
	for (i = 0; i < view->members; i++)
		if (view->member[i].id == node) {
			*member = view->member[i];
			return true;
		}
	return false;
}

/* A witness that is no member has nothing to witness. */
static void keep_witnesses(struct ctl_view *view, const struct ctl_ids *before)
{
	unsigned int i;

	view->witnesses = (struct ctl_ids){ .set = before->set };
	for (i = 0; i < before->count; i++)
		if (ctl_view_member(view, before->id[i]))
			ctl_ids_add(&view->witnesses, before->id[i]);
}

static bool write_group(struct logd_state *s, const struct spindle_restart_proposal *proposal,
			const struct logd_known *known, unsigned int count)
{
	struct ctl_view view = s->group.view;
	struct ctl_member *member;
	uint32_t i;

	if (s->group.era == proposal->ballot.era && view.vid.num >= proposal->vid &&
	    !memcmp(s->group.lineage, s->lineage, sizeof(s->lineage)))
		return true;
	view.member = NULL;
	view.members = 0;
	for (i = 0; i < proposal->members; i++) {
		member = CTL_ADD(view.member, view.members);
		if (!find_member(s, proposal->node[i], known, count, member))
			return logd_state_fail(s, "the address of node %u is not known",
					       proposal->node[i]);
	}
	keep_witnesses(&view, &s->group.view.witnesses);
	view.vid.num = proposal->vid;
	view.lineage = (struct ctl_val){
		.set = true, .str = ctl_lineage_text(s->lineage, proposal->ballot.era),
	};
	return logd_group_write(&s->group, s->dir, &view, s->group.due, s->why);
}

/**
 * logd_state_enter_group() - have the first view of a proposal in the group file, on disk
 * @s: the state; its lineage is that of the view
 * @proposal: the proposal
 * @known: addresses of nodes
 * @count: how many
 *
 * Return: whether it is there.
 */
bool logd_state_enter_group(struct logd_state *s, const struct spindle_restart_proposal *proposal,
			    const struct logd_known *known, unsigned int count)
{
	struct ctl_pool pool = { 0 }, *before = ctl_pool_use(&pool);
	bool good = write_group(s, proposal, known, count);

	ctl_pool_use(before);
	ctl_pool_drop(&pool);
	return good;
}

/* ---- enter -------------------------------------------------------------------------------- */

/* The place of the node among the members; @members: it is none. */
static uint32_t find_rank(const struct logd_state *s,
			  const struct spindle_restart_proposal *proposal)
{
	uint32_t i;

	for (i = 0; i < proposal->members; i++)
		if (proposal->node[i] == s->node)
			break;
	return i;
}

/*
 * A node may have the log of a shard that it is not in any more. That is cut as well, because a
 * later view may have the node in the shard again.
 */
static bool cut_logs(struct logd_state *s, const struct spindle_restart_proposal *proposal)
{
	struct logd_way way;
	uint32_t i;

	for (i = 0; i < proposal->parts; i++) {
		const struct spindle_restart_base *part = &proposal->part[i];

		way = (struct logd_way){
			.id = part->id, .view = { proposal->ballot.era, proposal->vid },
			.path = part->path,
		};
		if (!cut_log(s, &way))
			return false;
	}
	return true;
}

static bool enter_records(struct logd_state *s, const struct spindle_restart_proposal *proposal,
			  uint32_t rank)
{
	struct spindle_restart_view first;
	uint32_t i;

	for (i = 0; i < proposal->parts; i++)
		if (proposal->part[i].members >> rank & 1 &&
		    (!spindle_restart_first(proposal, proposal->part[i].id, &first) ||
		     !logd_state_enter_record(s, &proposal->part[i], &first)))
			return false;
	return true;
}

/**
 * logd_state_enter() - enter the first view of a proposal that stands, on disk
 * @s: the state, of a node that is in no view
 * @proposal: the proposal, which the caller knows to stand
 * @known: addresses of nodes, from their reports
 * @count: how many
 *
 * The kernel is next. What was done by an earlier call is not done again, so a call after a crash
 * does the rest.
 *
 * Return: whether all of it is on disk.
 */
bool logd_state_enter(struct logd_state *s, const struct spindle_restart_proposal *proposal,
		      const struct logd_known *known, unsigned int count)
{
	uint32_t rank = find_rank(s, proposal);

	if (!logd_state_ready(s, proposal->lineage))
		return false;
	if (!s->group.is || rank == proposal->members)
		return logd_state_fail(s, "node %u is no member of the proposal, or %s has no group "
				       "file", s->node, s->path);
	return logd_state_sync(s, spindle_restart_enter(&s->voter, proposal->ballot.era)) &&
	       cut_logs(s, proposal) && enter_records(s, proposal, rank) &&
	       logd_state_enter_group(s, proposal, known, count);
}

static const struct logd_way *find_way(const struct logd_way *way, unsigned int count, uint32_t id,
				       uint64_t era)
{
	unsigned int i;

	for (i = 0; i < count; i++)
		if (way[i].id == id && way[i].view.era == era)
			return &way[i];
	return NULL;
}

/**
 * logd_state_join() - be ready to join a group that runs in an era
 * @s: the state, of a node that is in no view
 * @era: the era
 * @way: ways of subgroups that a member knows
 * @count: how many
 *
 * A way is needed for each log that has nothing of the era, unless the log was cut for it. A log
 * that has messages of the era is not cut, because views of one era are a chain. The records stay
 * as they are, until the node is in a view and has its range.
 *
 * The node may have logs of several shards, and a member of one of them knows only its way. So each
 * log is cut that has a way, and a call with the ways of another member does the rest.
 *
 * Return: whether the votes are on disk, and the logs have only what the group has.
 */
bool logd_state_join(struct logd_state *s, uint64_t era, const struct logd_way *way,
		     unsigned int count)
{
	const struct ctl_view *view = &s->group.view;
	bool good = true;
	unsigned int i;
	uint32_t id, k;

	if (!logd_state_ready(s, NULL) ||
	    !logd_state_sync(s, spindle_restart_enter(&s->voter, era)))
		return false;
	for (i = 0; i < view->subgroups; i++)
		for (k = 0; k < logd_state_logs(&view->subgroup[i]); k++) {
			id = (uint32_t)view->subgroup[i].val[CTL_SG_ID].num + k;
			good = join_log(s, id, era, find_way(way, count, id, era)) && good;
		}
	return good;
}
