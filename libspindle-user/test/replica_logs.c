// SPDX-License-Identifier: GPL-2.0-only
/*
 * Logs of the nodes of replica_group.h, with snapshots, in one process. The functions have the
 * names of those of the library, so this is linked in place of them.
 *
 * A log has all messages from @low on. Calls fail now and then, as those of a log that is being
 * filled do.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <spindle/replay.h>
#include <spindle/spindle.h>

#include "internal.h"
#include "replica_group.h"

struct spindle_snapshot {
	uint32_t node;
	int fd;
};

struct spindle_replay {
	struct spindle_place place;
	struct spindle_queue q;
};

/* The newest two of a node, the newest one first; -1: none. */
static struct logs {
	int fd[2];
	uint64_t lsn[2];
	uint64_t low;
	bool told;
} logs[GROUP_NODES];

void group_logs_begin(void)
{
	uint32_t i;

	for (i = 0; i < GROUP_NODES; i++)
		logs[i] = (struct logs){ .fd = { -1, -1 } };
}

static void drop(struct logs *l, int i)
{
	if (l->fd[i] >= 0)
		close(l->fd[i]);
	l->fd[i] = -1;
}

void group_logs_end(void)
{
	uint32_t i;

	for (i = 0; i < GROUP_NODES; i++) {
		drop(&logs[i], 0);
		drop(&logs[i], 1);
	}
}

/* The log of a node begins here now, as that of one that has joined does. */
void group_log_trim(uint32_t node, uint64_t low)
{
	int i;

	logs[node].low = low;
	for (i = 0; i < 2; i++)
		if (logs[node].lsn[i] < low)
			drop(&logs[node], i);
}

static bool fails(uint32_t one_of)
{
	return group.faults && !(group_random() % one_of);
}

uint64_t spindle_durable(const struct spindle_queue *q)
{
	(void)q;
	if (group.durable < group.end)
		group.durable += group_random() % 3;
	return group.durable;
}

int spindle_log_block(struct spindle_queue *q, uint32_t rank, struct spindle_log_report *report)
{
	(void)q;
	(void)rank;
	*report = (struct spindle_log_report){
		.persisted = group.durable,
		.state = fails(4) ? SPINDLE_LOG_NONE : SPINDLE_LOG_LOGGING,
	};
	return 0;
}

/* ---- snapshots --------------------------------------------------------------- */

static uint32_t node_of_dir(const char *dir)
{
	return (uint32_t)(dir[0] - '0');
}

int spindle_snapshot_create(struct spindle_snapshot **out, const char *dir, const char *name,
			    uint32_t subgroup)
{
	struct spindle_snapshot *s = malloc(sizeof(*s));

	(void)name;
	(void)subgroup;
	*out = NULL;
	if (!s)
		return -ENOMEM;
	s->node = node_of_dir(dir);
	s->fd = memfd_create("state", MFD_CLOEXEC);
	*out = s;
	return 0;
}

int spindle_snapshot_fd(const struct spindle_snapshot *s)
{
	return s->fd;
}

int spindle_snapshot_seal(const struct spindle_snapshot *s, const struct spindle_place *place)
{
	(void)s;
	(void)place;
	return fails(8) ? -ENOSPC : 0;
}

void spindle_snapshot_abandon(struct spindle_snapshot *s)
{
	if (!s)
		return;
	if (s->fd >= 0)
		close(s->fd);
	free(s);
}

/* One of two. */
static void put(struct logs *l, int i, int fd, uint64_t lsn)
{
	drop(l, i);
	l->fd[i] = fd;
	l->lsn[i] = lsn;
}

/* A process that goes on from an old place may make one that is not the newest. */
static void keep(struct logs *l, int fd, uint64_t lsn)
{
	if (l->fd[0] < 0 || lsn == l->lsn[0]) {
		put(l, 0, fd, lsn);
	} else if (lsn > l->lsn[0]) {
		put(l, 1, l->fd[0], l->lsn[0]);
		l->fd[0] = -1;
		put(l, 0, fd, lsn);
	} else if (l->fd[1] < 0 || lsn >= l->lsn[1]) {
		put(l, 1, fd, lsn);
	} else {
		close(fd);
	}
}

int spindle_snapshot_publish(struct spindle_snapshot *s, const struct spindle_place *place)
{
	struct logs *l = &logs[s->node];
	uint64_t older;

	if (place->lsn > group.durable)
		group.wrong = "a snapshot counts that has messages that are not durable";
	keep(l, s->fd, place->lsn);
	older = l->lsn[l->fd[1] >= 0];
	if (group_random() % 2 && older > l->low)
		l->low = older;
	group.snapshots++;
	free(s);
	return 0;
}

int spindle_snapshot_open(const char *dir, const char *name, uint32_t subgroup,
			  const struct spindle_place *place, struct spindle_place *at)
{
	struct logs *l = &logs[node_of_dir(dir)];
	/* The newest one may be damaged. */
	int i = l->fd[1] >= 0 && fails(3), fd;

	(void)name;
	(void)subgroup;
	*at = *place;
	if (fails(8))
		return -EBUSY;
	at->lsn = l->low;
	if (l->fd[i] < 0 || l->lsn[i] < l->low)
		return -ENODATA;
	at->lsn = l->lsn[i];
	fd = dup(l->fd[i]);
	lseek(fd, 0, SEEK_SET);
	return fd;
}

/* ---- replays ------------------------------------------------------------------- */

int spindle_replay_open(struct spindle_replay **out, const struct spindle_replay_opts *o)
{
	*out = NULL;
	if (fails(8))
		return -EBUSY;
	if (o->from->lsn < logs[node_of_dir(o->dir)].low)
		group.wrong = "a replay begins in front of the log";
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->place = *o->from;
	return 0;
}

void spindle_replay_close(struct spindle_replay *r)
{
	free(r);
}

int spindle_replay_next(struct spindle_replay *r, struct spindle_log_msg *m)
{
	const struct group_message *from = &group.log[r->place.lsn];

	*m = (struct spindle_log_msg){ .lsn = r->place.lsn };
	if (fails(64))
		return -ESTALE;
	r->q.rx_lsn = r->place.lsn;
	if (r->place.lsn == group.end)
		return 0;
	m->next = ++r->place.lsn;
	m->node = from->node;
	m->len = from->len;
	m->data = from->bytes;
	return 1;
}

int spindle_replay_wait(struct spindle_replay *r, int timeout_ms)
{
	(void)r;
	(void)timeout_ms;
	abort();
}

void spindle_replay_place(const struct spindle_replay *r, struct spindle_place *place)
{
	*place = r->place;
}

const struct spindle_queue *spindle_replay_queue(const struct spindle_replay *r)
{
	return &r->q;
}
