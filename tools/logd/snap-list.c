// SPDX-License-Identifier: GPL-2.0-only
/* Snapshots of programs in the directory of a log. See snap-list.h. */
#include <dirent.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "snap-list.h"

/* A name that says where a program is, without its state. */
#define PLACE	"snapshot."

static DIR *list(int dir)
{
	int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);

	if (!d && fd >= 0)
		close(fd);
	return d;
}

/**
 * logd_snap_counts() - may a snapshot count at a log?
 * @w: which ones do
 * @st: what the head says
 *
 * A snapshot of an earlier era needs the message in front of its position, see
 * spindle_snapshot_open(3).
 *
 * Return: whether it may.
 */
bool logd_snap_counts(const struct logd_snap_want *w, const struct spindle_dlog_snapshot *st)
{
	uint64_t least = st->at.era == w->era ? w->low : w->low + 1;

	return st->subgroup == w->subgroup && st->at.era <= w->era && st->at.lsn >= least &&
	       st->at.lsn <= w->end && !memcmp(st->at.lineage, w->lineage, sizeof(w->lineage));
}

/**
 * logd_snap_owner() - who may own snapshots, beside root?
 * @dir: the directory
 * @owner: set to the user
 *
 * Return: whether the directory says so.
 */
bool logd_snap_owner(int dir, uid_t *owner)
{
	struct stat st;

	if (fstat(dir, &st))
		return false;
	*owner = st.st_uid;
	return true;
}

/* Is this file a snapshot that counts? */
static bool look_at(int dir, const struct logd_snap_want *w, uid_t owner, const char *file,
		    struct logd_snap *s)
{
	uint64_t lsn;

	if (!spindle_dlog_snapshot_split(file, s->name, &lsn) ||
	    spindle_dlog_snapshot_look(dir, file, lsn, owner, &s->st) ||
	    !logd_snap_counts(w, &s->st))
		return false;
	strcpy(s->file, file);
	return true;
}

/**
 * logd_snap_next() - the newest snapshot of the next program
 * @dir: the directory
 * @w: which ones count
 * @after: the program before, which is not in @next; "" for the first one
 * @next: filled
 *
 * Return: whether a program with a larger name has one that counts.
 */
bool logd_snap_next(int dir, const struct logd_snap_want *w, const char *after,
		    struct logd_snap *next)
{
	struct logd_snap s;
	DIR *d = list(dir);
	struct dirent *e;
	uid_t owner = 0;
	bool reads = d && logd_snap_owner(dir, &owner), has = false;
	int order;

	while (reads && (e = readdir(d))) {
		if (!look_at(dir, w, owner, e->d_name, &s) || strcmp(s.name, after) <= 0)
			continue;
		order = has ? strcmp(s.name, next->name) : -1;
		if (order < 0 || (!order && spindle_dlog_snap_newer(&s.st.at, &next->st.at)))
			*next = s;
		has = true;
	}
	if (d)
		closedir(d);
	return has;
}

/**
 * logd_snap_has() - has a program a snapshot that counts?
 * @dir: the directory
 * @w: which ones count
 * @name: the program
 *
 * Return: whether it has.
 */
bool logd_snap_has(int dir, const struct logd_snap_want *w, const char *name)
{
	DIR *d = list(dir);
	struct logd_snap s;
	struct dirent *e;
	uid_t owner = 0;
	bool reads = d && logd_snap_owner(dir, &owner), has = false;
	uint64_t lsn;

	/* Files of other programs are not opened. */
	while (reads && !has && (e = readdir(d)))
		has = spindle_dlog_snapshot_split(e->d_name, s.name, &lsn) &&
		      !strcmp(s.name, name) && look_at(dir, w, owner, e->d_name, &s);
	if (d)
		closedir(d);
	return has;
}

/* The program that a file belongs to. Return: whether it belongs to one. */
static bool program_of(const char *file, char *name)
{
	uint64_t lsn;

	if (spindle_dlog_snapshot_split(file, name, &lsn))
		return true;
	if (strncmp(file, PLACE, strlen(PLACE)) || !spindle_dlog_snap_name(file + strlen(PLACE)))
		return false;
	strcpy(name, file + strlen(PLACE));
	return true;
}

/**
 * logd_snap_missing() - does the log lack a snapshot that a program needs?
 * @dir: the directory
 * @w: which ones count; @w->low is where the log begins
 *
 * Whoever has the messages from position 0 on needs none. Otherwise each program that has files
 * here needs one, and there has to be one at all.
 *
 * Return: whether one is missing.
 */
bool logd_snap_missing(int dir, const struct logd_snap_want *w)
{
	char name[SPINDLE_DLOG_SNAP_NAME + 1];
	bool any = false, lacks = false;
	struct dirent *e;
	DIR *d;

	if (!w->low)
		return false;
	d = list(dir);
	while (d && !lacks && (e = readdir(d))) {
		if (!program_of(e->d_name, name))
			continue;
		any = true;
		lacks = !logd_snap_has(dir, w, name);
	}
	if (d)
		closedir(d);
	return lacks || !any;
}

/**
 * logd_snap_bytes() - how long are all snapshots of a directory together?
 * @dir: the directory
 *
 * Files count that have the name of a snapshot, whatever is in them.
 *
 * Return: bytes; UINT64_MAX if nobody knows.
 */
uint64_t logd_snap_bytes(int dir)
{
	char name[SPINDLE_DLOG_SNAP_NAME + 1];
	uint64_t bytes = 0, lsn;
	DIR *d = list(dir);
	struct dirent *e;
	struct stat st;

	if (!d)
		return UINT64_MAX;
	while ((e = readdir(d)))
		if (spindle_dlog_snapshot_split(e->d_name, name, &lsn) &&
		    !fstatat(dir, e->d_name, &st, AT_SYMLINK_NOFOLLOW) && st.st_size > 0)
			bytes += (uint64_t)st.st_size;
	closedir(d);
	return bytes;
}
