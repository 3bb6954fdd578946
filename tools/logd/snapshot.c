// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots of programs. A program that needs no message below a position says so in a file of the
 * log's directory, see spindle_log_snapshot(3). With option -s, segments that are wholly below the
 * smallest one are dropped. The administrator says the same of all messages below a position, with
 * "spindle-ctl log trim", and then this needs no option.
 * "spindle-ctl log repair" asks for a repair.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#include "logd.h"
#include "snap.h"

/* Return: whether the file says something of this log. */
static bool read_one(struct logd *l, const char *file, uint64_t *lsn)
{
	struct spindle_dlog_snap snap;
	int err = spindle_dlog_snap_read(l->io.dir, file, &snap);

	*lsn = 0;
	if (err == -ENOENT)
		return false;
	if (err) {
		if (!l->snapshots.told)
			logd_say(l, "%s/%s cannot be read, so no snapshot counts: %s", l->path,
				 file, strerror(-err));
		l->snapshots.told = true;
		return true;
	}
	if (memcmp(snap.lineage, l->log.id.lineage, sizeof(snap.lineage)) || snap.era > l->era)
		return false;
	*lsn = snap.lsn;
	return true;
}

static void take(struct logd_snapshots *s, uint64_t lsn, bool *any)
{
	if (!*any || lsn < s->least)
		s->least = lsn;
	*any = true;
}

static void read_files(struct logd *l, DIR *dir)
{
	struct logd_snapshots *s = &l->snapshots;
	struct dirent *e;
	bool any = false;
	uint64_t lsn;

	s->least = 0;
	s->trim = 0;
	while ((e = readdir(dir))) {
		if (!strcmp(e->d_name, "trim")) {
			if (read_one(l, e->d_name, &lsn))
				s->trim = lsn;
		} else if (!strcmp(e->d_name, SPINDLE_DLOG_REPAIR_FILE)) {
			if (read_one(l, e->d_name, &lsn))
				logd_repair_ask(l, lsn);
		} else if (!strncmp(e->d_name, "snapshot.", 9) &&
			   spindle_dlog_snap_name(e->d_name + 9)) {
			if (read_one(l, e->d_name, &lsn))
				take(s, lsn, &any);
		}
	}
}

/* The base of the segment of a position: what is in front of it are whole segments. */
static uint64_t base_of(const struct spindle_dlog_map *map, uint64_t lsn)
{
	uint64_t base = map->low;
	uint32_t i;

	for (i = 0; i < map->n && map->seg[i].lsn <= lsn; i++)
		if (map->seg[i].lsn > base)
			base = map->seg[i].lsn;
	return base;
}

static void trim(struct logd *l)
{
	const struct logd_snapshots *s = &l->snapshots;
	uint64_t low = l->opts->snapshots ? base_of(&l->log.map, s->least) : 0;

	/* The meta block on disk has this low, so nobody needs to ask for it any more. */
	if (s->trim && s->trim <= l->log.map.low && !l->log.write_meta && !l->log.sync_meta &&
	    l->log.chore == SPINDLE_DLOG_IDLE)
		unlinkat(l->io.dir, "trim", 0);
	if (low < s->trim)
		low = s->trim;
	if (low > l->log.persisted)
		low = l->log.persisted;
	if (low <= l->log.map.low || spindle_dlog_trim(&l->log, low))
		return;
	logd_say(l, "begins with position %" PRIu64 " now, because nobody needs what is in front",
		 low);
}

/**
 * logd_snapshots_look() - see which messages nobody needs any more, and drop them
 * @l: the log
 */
void logd_snapshots_look(struct logd *l)
{
	struct logd_snapshots *s = &l->snapshots;
	uint64_t now = l->now_ms;
	DIR *dir;
	int fd;

	if (l->broken || l->failed || !l->log.opened ||
	    (s->look_ms && now - s->look_ms < LOGD_SNAPSHOT_MS))
		return;
	s->look_ms = now;
	fd = openat(l->io.dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir) {
		if (fd >= 0)
			close(fd);
		return;
	}
	read_files(l, dir);
	closedir(dir);
	trim(l);
}

/* What an earlier logger has said of this node. Return: whether that is known. */
static bool ask_floor(struct logd *l)
{
	struct spindle_log_report own;
	struct spindle_view v;

	if (spindle_view(&l->q, &v) || v.rank == SPINDLE_NO_RANK)
		return true;
	if (spindle_log_block(&l->q, v.rank, &own))
		return false;
	if (l->snapshots.floor < own.snapshot)
		l->snapshots.floor = own.snapshot;
	l->snapshots.asked = true;
	return true;
}

/**
 * logd_snapshots_position() - the snapshot to tell the kernel of
 * @l: the log, which is attached
 * @lsn: set to its position, which never goes back
 *
 * Return: whether it is known.
 */
bool logd_snapshots_position(struct logd *l, uint64_t *lsn)
{
	struct logd_snapshots *s = &l->snapshots;
	uint64_t least = s->least < l->log.persisted ? s->least : l->log.persisted;

	if (!s->asked && !ask_floor(l))
		return false;
	if (s->floor < least)
		s->floor = least;
	*lsn = s->floor < l->log.persisted ? s->floor : l->log.persisted;
	return true;
}
