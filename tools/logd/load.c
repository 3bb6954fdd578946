// SPDX-License-Identifier: GPL-2.0-only
/*
 * Snapshots of programs that a log gets from other nodes. See load.h.
 *
 * A log that does not begin with position 0 is of no use to a program without a snapshot. So the
 * log gets what its directory lacks from another node, before it attaches. The peers are asked one
 * after the other, as in catch.c, and the first one that has a snapshot gives it.
 *
 * A peer with the key may lie. So a snapshot has to be of this group and subgroup, and of no later
 * era. Its position has to be in the log, or not above the next position of the subgroup. All
 * snapshots of the directory together may not be longer than the limit. No file is replaced that
 * checks.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "logd.h"

/* Segments that the disk has to have room for behind a snapshot. */
#define SEGMENTS	4U

static struct logd_snap_want want_of(const struct logd *l, const struct spindle_dlog_ident *id,
				     uint64_t low, uint64_t end)
{
	struct logd_snap_want w = {
		.era = l->era, .low = low, .end = end, .subgroup = id->subgroup,
	};

	memcpy(w.lineage, id->lineage, sizeof(w.lineage));
	return w;
}

/* The kernel has said how far the subgroup is, when the log could not attach. */
static struct logd_snap_want want_now(const struct logd *l)
{
	uint64_t end = l->log.next > l->q.next ? l->log.next : l->q.next;

	return want_of(l, &l->log.id, l->catch.load.low, end);
}

/**
 * logd_load_due() - does a log have to get a snapshot before it attaches?
 * @l: the log, whose scan has ended
 * @low: position of its first message
 * @end: its end
 *
 * Only in a subgroup with logs do programs have snapshots.
 *
 * Return: whether it has to.
 */
bool logd_load_due(struct logd *l, uint64_t low, uint64_t end)
{
	struct logd_snap_want w = want_of(l, &l->scan.id, low, end > l->q.next ? end : l->q.next);

	return l->role && l->peers && l->peers->on && !l->catch.load.done &&
	       logd_snap_missing(l->io.dir, &w);
}

/**
 * logd_load_covers() - is a snapshot there that the log can go on with?
 * @l: the log, which has asked for snapshots
 *
 * Return: whether a program has one from the position on that was asked for.
 */
bool logd_load_covers(const struct logd *l)
{
	struct logd_snap_want w = want_now(l);
	struct logd_snap s;

	return logd_snap_next(l->io.dir, &w, "", &s);
}

/**
 * logd_load_begin() - ask the peers for snapshots from now on, if one is missing
 * @l: the log, which catches up, and whose writer has started
 * @low: position of the first message that the log has, or will have
 *
 * Return: whether the peers are asked.
 */
bool logd_load_begin(struct logd *l, uint64_t low)
{
	struct logd_load *load = &l->catch.load;

	if (load->step != LOGD_LOAD_OFF)
		return true;
	if (!logd_load_due(l, low, l->log.next))
		return false;
	*load = (struct logd_load){ .step = LOGD_LOAD_BEGINS, .low = low, .fd = -1 };
	return true;
}

/* ---- the file ---------------------------------------------------------------------- */

static void drop_file(struct logd *l)
{
	struct logd_load *load = &l->catch.load;

	if (load->fd < 0)
		return;
	close(load->fd);
	load->fd = -1;
	unlinkat(l->io.dir, LOGD_LOAD_FILE, 0);
}

/* Return: NULL, or why there is no room for a snapshot. */
static const char *check_room(const struct logd *l, uint64_t bytes)
{
	uint64_t have = logd_snap_bytes(l->io.dir), most = l->opts->snap_most;
	struct statvfs fs;

	bytes += SPINDLE_DLOG_SNAP_HEAD;
	if (have > most || bytes > most - have)
		return "its snapshot is longer than the limit allows (option -m)";
	if (fstatvfs(l->io.dir, &fs))
		return "the own disk cannot be asked for room";
	/* A file system in memory may say nothing of its room. */
	if (fs.f_blocks && (uint64_t)fs.f_bavail * fs.f_frsize <
	    bytes + (uint64_t)SEGMENTS * l->log.id.segment)
		return "the own disk has no room for its snapshot";
	return NULL;
}

/* A file that a process before has left says nothing. */
static bool make_file(struct logd *l)
{
	struct logd_load *load = &l->catch.load;

	if (unlinkat(l->io.dir, LOGD_LOAD_FILE, 0) && errno != ENOENT)
		return false;
	load->fd = openat(l->io.dir, LOGD_LOAD_FILE,
			  O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0644);
	load->crc = 0;
	load->bytes = 0;
	load->synced = 0;
	return load->fd >= 0;
}

/* Return: 0 or a negative errno. */
static int write_at(int fd, const void *p, uint32_t len, uint64_t at)
{
	ssize_t n = pwrite(fd, p, len, (off_t)at);

	if (n < 0)
		return -errno;
	return n == (ssize_t)len ? 0 : -ENOSPC;
}

/**
 * logd_load_put() - bytes of a state have come
 * @arg: the log
 * @p: the bytes
 * @len: how many
 *
 * A sync of all at the end would hold up the other logs of the process.
 *
 * Return: 0 or a negative errno.
 */
int logd_load_put(void *arg, const uint8_t *p, uint32_t len)
{
	struct logd *l = arg;
	struct logd_load *load = &l->catch.load;
	int err = write_at(load->fd, p, len, SPINDLE_DLOG_SNAP_HEAD + load->bytes);

	if (err)
		return err;
	load->crc = spindle_dlog_crc(load->crc, p, len);
	load->bytes += len;
	l->catch.moved_ms = peer_now_ms();
	if (load->bytes - load->synced < LOGD_LOAD_SYNC)
		return 0;
	load->synced = load->bytes;
	return fdatasync(load->fd) ? -errno : 0;
}

/* A snapshot that checks stays, whatever it is of. Return: 0 or a negative errno. */
static int name_file(const struct logd *l, const struct peer_offer *o)
{
	struct spindle_dlog_snapshot have;
	char file[SPINDLE_DLOG_SNAP_FILE];
	uid_t owner;
	int err;

	if (!logd_snap_owner(l->io.dir, &owner))
		return -EIO;
	spindle_dlog_snapshot_file(o->name, o->st.at.lsn, file);
	err = spindle_dlog_snapshot_look(l->io.dir, file, o->st.at.lsn, owner, &have);
	if (err != -ENOENT && err != -EBADMSG)
		return err ? err : -EEXIST;
	if (renameat(l->io.dir, LOGD_LOAD_FILE, l->io.dir, file) || fsync(l->io.dir))
		return -errno;
	return 0;
}

/* The head comes last, and the name when all is on disk. Return: 0 or a negative errno. */
static int publish(struct logd *l, const struct peer_offer *o)
{
	struct logd_load *load = &l->catch.load;
	struct spindle_dlog_snapshot_disk head;
	int err;

	spindle_dlog_snapshot_build(&head, &o->st);
	err = write_at(load->fd, &head, sizeof(head), 0);
	if (!err && fsync(load->fd))
		err = -errno;
	return err ? err : name_file(l, o);
}

/* ---- one peer ------------------------------------------------------------------------ */

static void next_program(struct logd *l)
{
	struct peer_fetch *f = &l->catch.fetch;
	struct logd_load *load = &l->catch.load;
	char after[SPINDLE_DLOG_SNAP_NAME + 1];

	strcpy(after, load->programs ? f->offer.name : "");
	load->step = LOGD_LOAD_FINDS;
	peer_fetch_find(f, after);
}

/* Nothing more comes from this peer, and that is no fault of it. */
static void leave(struct logd *l, const char *why)
{
	peer_client_fail(&l->catch.fetch.client, "%s", why);
	l->catch.fetch.client.step = PEER_DONE;
}

/* Return: whether a program that the peer has named is missing here. */
static bool is_needed(const struct logd *l)
{
	const struct peer_offer *o = &l->catch.fetch.offer;
	struct logd_snap_want w = want_now(l);

	return logd_snap_counts(&w, &o->st) && !logd_snap_has(l->io.dir, &w, o->name);
}

static void look_at_offer(struct logd *l)
{
	struct peer_fetch *f = &l->catch.fetch;
	struct logd_load *load = &l->catch.load;
	const char *why;

	if (f->offer.code != PEER_OK || load->programs == LOGD_PROGRAMS) {
		leave(l, load->programs ? "it has no other snapshot" : "it has no snapshot");
		return;
	}
	load->programs++;
	if (!is_needed(l)) {
		next_program(l);
		return;
	}
	why = check_room(l, f->offer.st.bytes);
	if (!why && !make_file(l))
		why = "its snapshot cannot be written here";
	if (why) {
		leave(l, why);
		return;
	}
	load->step = LOGD_LOAD_TAKES;
	peer_fetch_load(f);
}

static void take_snapshot(struct logd *l)
{
	const struct peer_offer *o = &l->catch.fetch.offer;
	struct logd_load *load = &l->catch.load;
	int err;

	if (load->crc != o->st.body) {
		peer_client_fail(&l->catch.fetch.client, "the bytes of its snapshot are wrong");
		return;
	}
	err = publish(l, o);
	drop_file(l);
	if (err) {
		peer_client_fail(&l->catch.fetch.client, "its snapshot cannot be kept: %s",
				 strerror(-err));
		return;
	}
	load->loaded++;
	logd_say(l, "a snapshot of %s at position %" PRIu64 " comes from node %u: %" PRIu64
		 " bytes", o->name, o->st.at.lsn, l->catch.fetch.client.server, o->st.bytes);
	next_program(l);
}

/**
 * logd_load_order() - ask a peer for the next thing
 * @l: the log, which asks for snapshots; nothing is under way to the peer
 */
void logd_load_order(struct logd *l)
{
	switch (l->catch.load.step) {
	case LOGD_LOAD_BEGINS:
		l->catch.load.programs = 0;
		next_program(l);
		break;
	case LOGD_LOAD_FINDS:
		look_at_offer(l);
		break;
	case LOGD_LOAD_TAKES:
		take_snapshot(l);
		break;
	default:
		break;
	}
}

/* ---- rounds ---------------------------------------------------------------------------- */

static void finish(struct logd *l)
{
	l->catch.load.step = LOGD_LOAD_OFF;
	l->catch.load.done = true;
}

/**
 * logd_load_end_peer() - a peer was asked
 * @l: the log, which asks for snapshots
 *
 * Return: whether no other one has to be asked.
 */
bool logd_load_end_peer(struct logd *l)
{
	struct logd_load *load = &l->catch.load;
	struct logd_snap_want w = want_now(l);

	drop_file(l);
	load->missed |= l->catch.fetch.client.step == PEER_FAILED;
	load->step = LOGD_LOAD_BEGINS;
	if (logd_snap_missing(l->io.dir, &w))
		return false;
	finish(l);
	return true;
}

/**
 * logd_load_end_round() - all peers were asked
 * @l: the log, which asks for snapshots
 *
 * A group whose programs have no snapshots must not wait for them. So only peers that could not be
 * asked are a reason for another round.
 *
 * Return: whether there is no other round.
 */
bool logd_load_end_round(struct logd *l)
{
	struct logd_load *load = &l->catch.load;
	bool again = load->missed && ++load->rounds < LOGD_LOAD_ROUNDS;

	load->missed = false;
	if (again)
		return false;
	finish(l);
	return true;
}

/**
 * logd_load_end() - ask for no snapshot any more
 * @l: the log, whose fetch has ended
 */
void logd_load_end(struct logd *l)
{
	if (l->catch.load.step == LOGD_LOAD_OFF)
		return;
	drop_file(l);
	l->catch.load.step = LOGD_LOAD_OFF;
}
