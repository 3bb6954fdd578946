// SPDX-License-Identifier: GPL-2.0-only
/*
 * The logger of a subgroup with logs: it tells the kernel how far the disk is, and writes the view
 * records. A subgroup without logs is written as well, but then the kernel is told nothing.
 */
#include <errno.h>
#include <string.h>

#include "logd.h"

static bool fail_record(struct logd *l, int err)
{
	if (err == -EPROTO)
		return logd_fail(l, "the view record in %s has a format that no program uses any "
				 "more: remove view.a and view.b, and the next view has a record",
				 l->path);
	return logd_fail(l, "cannot use the view record in %s: %s", l->path,
			 err == -EBADMSG ? "both copies are damaged" : strerror(-err));
}

/* Return: whether the record is on disk; a sentence says why not. */
static bool write_record(struct logd *l)
{
	int err = logd_records_write(&l->records);

	return err ? fail_record(l, err) : true;
}

/**
 * logd_role_open() - find the view record that the last life has left
 * @l: the log, whose directory is open
 *
 * The record of another lineage says nothing.
 *
 * Return: whether that was possible; a sentence says why not.
 */
bool logd_role_open(struct logd *l)
{
	struct logd_records *r = &l->records;
	int err;

	if (!l->role)
		return true;
	err = logd_records_open(r, l->io.dir);
	if (err)
		return fail_record(l, err);
	if (memcmp(r->now.lineage, l->peers->server.id.lineage, sizeof(r->now.lineage))) {
		r->now = (struct spindle_restart_keep){ .established = false };
		r->synced = (struct spindle_restart_id){ .vid = 0 };
	}
	return true;
}

static void fill_view(struct logd *l, struct spindle_restart_view *view, uint64_t base)
{
	struct spindle_view v;
	uint32_t i;

	*view = (struct spindle_restart_view){ .id = { l->q.era, l->vid }, .base = base };
	if (spindle_view(&l->q, &v))
		return;
	view->members = v.members;
	for (i = 0; i < v.members; i++)
		view->node[i] = v.seat[i].node;
}

/*
 * A node that has joined keeps its old record until it knows the range of the new view (A5). A view
 * that follows takes the place of one that waits. Return: whether the view waits.
 */
static bool wait_for_range(struct logd *l, const struct spindle_restart_view *view, bool follows)
{
	if (!l->state || !l->peers->on || (follows && !l->pending.members))
		return false;
	l->pending = *view;
	if (!l->pending_ms)
		l->pending_ms = peer_now_ms();
	return true;
}

/**
 * logd_view_begins() - the log is in a view: have its record on disk
 * @l: the log; @l->vid is the view, and the reader is in it
 * @base: position that the log has entered it at
 * @next: the reader has come from the view before, so that no view is missing in between
 * @first: the subgroup had no view before
 *
 * Return: whether that was possible; a sentence says why not.
 */
bool logd_view_begins(struct logd *l, uint64_t base, bool next, bool first)
{
	const struct spindle_restart_view *newest = logd_record_newest(&l->records.now);
	struct spindle_restart_keep *now = &l->records.now;
	struct spindle_restart_view view;

	if (!l->role)
		return true;
	if (newest && newest->id.era > l->q.era)
		return logd_fail(l, "%s has been in era %llu of the group already, which is now "
				 "in era %llu", l->path, (unsigned long long)newest->id.era,
				 (unsigned long long)l->q.era);
	/* The last life may have been in a later view than its messages. */
	if (newest && newest->id.era == l->q.era && newest->id.vid >= l->vid)
		return true;
	fill_view(l, &view, base);
	if (!view.members)
		return logd_fail(l, "the members of view %llu are not known",
				 (unsigned long long)l->vid);
	/* A restart that has the record also needs the addresses of the members. */
	if (l->state && logd_peers_keep(l->peers, l->state) <= 0)
		return logd_fail(l, "the files for a restart are not on disk");
	if (wait_for_range(l, &view, next || first))
		return true;
	memcpy(now->lineage, l->q.lineage, sizeof(now->lineage));
	logd_record_add(now, &view, next, first);
	return write_record(l);
}

/**
 * logd_take_range() - have the record of the view that waits for its range on disk
 * @l: the log, which has such a view
 * @other: record of another member; NULL: none comes, and the range stays unknown (A3)
 *
 * A record of a member that does not have the view yet is of no use.
 *
 * Return: whether the log is all right; a sentence says why not.
 */
bool logd_take_range(struct logd *l, const struct spindle_restart_keep *other)
{
	struct spindle_restart_keep *keep = ctl_alloc(sizeof(*keep));
	bool good = true;

	*keep = l->records.now;
	memcpy(keep->lineage, l->q.lineage, sizeof(keep->lineage));
	logd_record_add(keep, &l->pending, false, false);
	if (!other || logd_record_adopt(keep, other)) {
		l->records.now = *keep;
		l->pending.members = 0;
		l->pending_ms = 0;
		good = write_record(l);
	}
	ctl_free(keep);
	return good;
}

/*
 * Once the view is established, a restart needs no record of an earlier one. The bit of the own log
 * block is about the view whose record the kernel was told of.
 */
static bool look_at_established(struct logd *l)
{
	const struct spindle_restart_view *newest = logd_record_newest(&l->records.now);
	struct spindle_log_report own;
	struct spindle_view v;

	if (!newest || l->records.now.established || newest->id.era != l->era ||
	    spindle_view(&l->q, &v) || v.rank == SPINDLE_NO_RANK ||
	    spindle_log_block(&l->q, v.rank, &own) || !own.established ||
	    own.record != newest->id.vid ||
	    !logd_record_establish(&l->records.now))
		return true;
	return write_record(l);
}

static uint32_t state_of(const struct logd *l)
{
	switch (spindle_dlog_state(&l->log)) {
	case SPINDLE_DLOG_FULL:
		return SPINDLE_LOG_FULL;
	case SPINDLE_DLOG_FAILED:
		return SPINDLE_LOG_FAILED;
	default:
		return SPINDLE_LOG_LOGGING;
	}
}

/**
 * logd_report() - tell the kernel how far the disk is, if that has changed
 * @l: the log
 *
 * A log that is being opened has not synced yet what the last life has left. The kernel may know
 * already that this is on disk, so it is told nothing until then.
 */
void logd_report(struct logd *l)
{
	struct spindle_log_report now = {
		.persisted = l->log.persisted,
		.low = l->log.map.low,
		/* Ids of views of another era say nothing. */
		.record = l->records.synced.era == l->era ? l->records.synced.vid : 0,
		.state = state_of(l),
	};

	if (!l->role || spindle_dlog_state(&l->log) == SPINDLE_DLOG_OPENING ||
	    !look_at_established(l) || !logd_snapshots_position(l, &now.snapshot) ||
	    !memcmp(&now, &l->reported, sizeof(now)))
		return;
	/* A log that catches up is not attached yet. */
	if (!spindle_log_say(&l->q, &now))
		l->reported = now;
}
