// SPDX-License-Identifier: GPL-2.0-only
/* The files of a node: open, and the votes. See state.h. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/live.h"
#include "state.h"
#include "state-files.h"

/* Bytes of a file of votes: the lineage, and the voter. */
#define LINEAGE		16U
#define VOTES		(LINEAGE + SPINDLE_RESTART_BYTES)
/* The writes of a process that was killed may take as long as this to end. */
#define LOCK_MS		5000U

/**
 * logd_state_fail() - say what is wrong
 * @s: the state
 * @fmt: a sentence, or ""
 *
 * Return: false
 */
bool logd_state_fail(struct logd_state *s, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(s->why, sizeof(s->why), fmt, ap);
	va_end(ap);
	return false;
}

/* ---- open --------------------------------------------------------------------------- */

/**
 * logd_state_make() - make a directory, and make its name durable
 * @parent: directory that it is in
 * @name: its name
 *
 * Return: 0 or a negative errno.
 */
int logd_state_make(int parent, const char *name)
{
	if (mkdirat(parent, name, 0750) && errno != EEXIST)
		return -errno;
	/* A process that may not sync the parent did not make the directory either. */
	return fsync(parent) && errno != EACCES && errno != EBADF && errno != EINVAL ? -errno : 0;
}

static bool open_dir(struct logd_state *s, const char *dir)
{
	char name[16];
	int base, err;

	if (mkdir(dir, 0750) && errno != EEXIST)
		return logd_state_fail(s, "cannot make %s: %s", dir, strerror(errno));
	base = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (base < 0)
		return logd_state_fail(s, "cannot open %s: %s", dir, strerror(errno));
	snprintf(name, sizeof(name), "%u", s->node);
	err = logd_state_make(base, name);
	if (!err) {
		s->dir = openat(base, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		err = s->dir < 0 ? -errno : 0;
	}
	close(base);
	/* A process that was killed may have left names that are not on disk. */
	if (!err && fsync(s->dir))
		err = -errno;
	return !err || logd_state_fail(s, "cannot use %s: %s", s->path, strerror(-err));
}

/**
 * logd_state_lock() - lock a directory
 * @dir: the directory
 *
 * Return: the lock file; -EBUSY: another process has it; or another negative errno.
 */
int logd_state_lock(int dir)
{
	const struct timespec nap = { .tv_nsec = 50000000 };
	int fd = openat(dir, "LOCK", O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0640);
	unsigned int ms;
	int err = 0;

	if (fd < 0)
		return -errno;
	for (ms = 0; !err && flock(fd, LOCK_EX | LOCK_NB); ms += 50) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			err = -errno;
		else if (ms >= LOCK_MS)
			err = -EBUSY;
		else
			nanosleep(&nap, NULL);
	}
	if (!err)
		return fd;
	close(fd);
	return err;
}

static bool lock(struct logd_state *s)
{
	s->lock = logd_state_lock(s->dir);
	if (s->lock == -EBUSY)
		return logd_state_fail(s, "another process uses %s", s->path);
	return s->lock >= 0 ||
	       logd_state_fail(s, "cannot lock %s: %s", s->path, strerror(-s->lock));
}

static bool read_votes(struct logd_state *s)
{
	size_t len;
	int err;

	s->votes = (struct logd_pair){ .dir = s->dir, .name = { "votes.a", "votes.b" } };
	err = logd_pair_read(&s->votes, s->bytes, VOTES, &len);
	if (!err && len && (len < LINEAGE ||
			    !spindle_restart_get_voter(&s->voter, s->bytes + LINEAGE,
						       len - LINEAGE)))
		err = -EBADMSG;
	if (err)
		return logd_state_fail(s, "cannot read the votes in %s: %s", s->path,
				       err == -EBADMSG ? "both copies are damaged" :
							 strerror(-err));
	if (len)
		memcpy(s->lineage, s->bytes, LINEAGE);
	else
		memcpy(s->lineage, s->group.lineage, LINEAGE);
	spindle_restart_boot(&s->voter);
	spindle_restart_withdraw_own(&s->voter, s->node);
	return true;
}

/**
 * logd_state_open() - open the files of a node
 * @s: out, large; logd_state_close() is next, also if this fails
 * @dir: base directory
 * @node: id of the node
 *
 * Return: whether that was possible.
 */
bool logd_state_open(struct logd_state *s, const char *dir, uint32_t node)
{
	memset(s, 0, sizeof(*s));
	s->node = node;
	s->dir = -1;
	s->lock = -1;
	s->bytes = malloc(VOTES);
	if (asprintf(&s->path, "%s/%u", dir, node) < 0 || !s->bytes) {
		s->path = NULL;
		return logd_state_fail(s, "no memory");
	}
	return open_dir(s, dir) && lock(s) && logd_group_read(&s->group, s->dir, s->why) &&
	       read_votes(s) && logd_state_forced(s);
}

/**
 * logd_state_close() - close the files
 * @s: the state
 */
void logd_state_close(struct logd_state *s)
{
	logd_state_forget(s);
	logd_group_drop(&s->group);
	if (s->lock >= 0)
		close(s->lock);
	if (s->dir >= 0)
		close(s->dir);
	free(s->bytes);
	free(s->forced);
	free(s->path);
	s->bytes = NULL;
	s->forced = NULL;
	s->path = NULL;
	s->dir = -1;
	s->lock = -1;
}

/* ---- votes ---------------------------------------------------------------------------- */

/* Both files have them, so that damage of one loses no vote. */
static bool save(struct logd_state *s)
{
	size_t len = spindle_restart_put_voter(&s->voter, s->bytes + LINEAGE,
					       SPINDLE_RESTART_BYTES);
	int err, i;

	memcpy(s->bytes, s->lineage, LINEAGE);
	err = len ? 0 : -EINVAL;
	for (i = 0; i < 2 && !err; i++)
		err = logd_pair_write(&s->votes, s->bytes, len + LINEAGE);
	if (!err)
		return true;
	s->failed = true;
	return logd_state_fail(s, "cannot write the votes in %s: %s", s->path, strerror(-err));
}

/**
 * logd_state_sync() - have an answer of the voter on disk
 * @s: the state
 * @vote: the answer
 *
 * Return: whether the answer is yes, and on disk.
 */
bool logd_state_sync(struct logd_state *s, enum spindle_restart_vote vote)
{
	if (vote == SPINDLE_RESTART_REFUSED)
		return logd_state_fail(s, "%s", "");
	return vote == SPINDLE_RESTART_SAME || save(s);
}

/**
 * logd_state_ready() - may the state be changed?
 * @s: the state
 * @lineage: of whoever asks; NULL: of the node itself
 *
 * Return: whether it may.
 */
bool logd_state_ready(struct logd_state *s, const uint64_t *lineage)
{
	if (s->failed)
		return logd_state_fail(s, "a write to %s has failed before", s->path);
	if (lineage && memcmp(lineage, s->lineage, sizeof(s->lineage)))
		return logd_state_fail(s, "the proposal is of another group than %s", s->path);
	return true;
}

/**
 * logd_state_promise() - promise the vote to an attempt, on disk
 * @s: the state
 * @ballot: the attempt
 *
 * Return: whether the promise is on disk. Then a report is the answer.
 */
bool logd_state_promise(struct logd_state *s, const struct spindle_restart_ballot *ballot)
{
	return logd_state_ready(s, NULL) &&
	       logd_state_sync(s, spindle_restart_promise(&s->voter, ballot));
}

/**
 * logd_state_accept() - accept a proposal, on disk
 * @s: the state
 * @proposal: the proposal
 *
 * Return: whether it is on disk that the node has accepted.
 */
bool logd_state_accept(struct logd_state *s, const struct spindle_restart_proposal *proposal)
{
	return logd_state_ready(s, proposal->lineage) &&
	       logd_state_sync(s, spindle_restart_accept(&s->voter, proposal));
}

/**
 * logd_state_stop() - the node is in no view any more
 * @s: the state
 *
 * The votes are not written, because a start forgets the view as well.
 */
void logd_state_stop(struct logd_state *s)
{
	spindle_restart_stop(&s->voter);
}

/* A new group of the node knows nothing of the votes in the one before. */
static void take_lineage(struct logd_state *s, const uint8_t *lineage)
{
	if (!memcmp(s->lineage, lineage, LINEAGE))
		return;
	memcpy(s->lineage, lineage, LINEAGE);
	memset(&s->voter, 0, sizeof(s->voter));
}

/* ---- tuning --------------------------------------------------------------------------- */

/**
 * logd_state_shards() - how many subgroups does an entry of the group file stand for?
 * @sg: the entry
 *
 * Return: its shards, or one; at most SPINDLE_MAX_SUBGROUPS + 1.
 */
uint32_t logd_state_shards(const struct ctl_subgroup *sg)
{
	const struct ctl_val *shards = &sg->rule[CTL_RULE_SHARDS];

	if (!shards->set || !shards->num)
		return 1;
	return shards->num < SPINDLE_MAX_SUBGROUPS ? (uint32_t)shards->num :
						     SPINDLE_MAX_SUBGROUPS + 1;
}

/**
 * logd_state_find() - the entry of the group file that stands for a subgroup
 * @view: the view of the file
 * @id: id of the subgroup
 *
 * Return: the entry, which may have several shards; NULL: there is none.
 */
const struct ctl_subgroup *logd_state_find(const struct ctl_view *view, uint64_t id)
{
	unsigned int i;

	for (i = 0; i < view->subgroups; i++) {
		const struct ctl_subgroup *sg = &view->subgroup[i];
		uint64_t first = sg->val[CTL_SG_ID].num;

		if (id >= first && id - first < logd_state_shards(sg))
			return sg;
	}
	return NULL;
}

static bool is_tuned(const struct ctl_subgroup *sg)
{
	unsigned int i;

	for (i = 0; i < CTL_TUNE_VALS; i++)
		if (sg->tune[i].set)
			return true;
	return false;
}

/* The shards of an entry are those of one node, so any of them has the tuning of all. */
static const struct ctl_subgroup *find_tuned(const struct ctl_view *running,
					     const struct ctl_subgroup *entry)
{
	uint64_t first = entry->val[CTL_SG_ID].num;
	unsigned int i;

	for (i = 0; i < running->subgroups; i++) {
		uint64_t id = running->subgroup[i].val[CTL_SG_ID].num;

		if (id >= first && id - first < logd_state_shards(entry) &&
		    is_tuned(&running->subgroup[i]))
			return &running->subgroup[i];
	}
	return NULL;
}

/*
 * What the kernel does not tell stays as it was: the node may be in no shard of a subgroup now, and
 * in one again in a later view.
 */
static void take_tuning(const struct logd_state *s, const struct ctl_view *running,
			struct ctl_view *view)
{
	unsigned int i;

	for (i = 0; i < view->subgroups; i++) {
		struct ctl_subgroup *sg = &view->subgroup[i];
		const struct ctl_subgroup *from = find_tuned(running, sg);

		if (!from)
			from = logd_state_find(&s->group.view, sg->val[CTL_SG_ID].num);
		if (from)
			memcpy(sg->tune, from->tune, sizeof(sg->tune));
	}
}

/**
 * logd_state_tune_due() - have it on disk that the kernel has to get the tuning
 * @s: the state, of a node that is in no view, with a group file
 *
 * A process that dies before the kernel has it leaves that to the next one.
 *
 * Return: whether it is on disk.
 */
bool logd_state_tune_due(struct logd_state *s)
{
	struct ctl_pool pool = { 0 }, *before = ctl_pool_use(&pool);
	bool good = s->group.due || logd_group_write(&s->group, s->dir, &s->group.view, true,
						     s->why);

	ctl_pool_use(before);
	ctl_pool_drop(&pool);
	return good;
}

/* ---- views ---------------------------------------------------------------------------- */

/**
 * logd_state_view() - the node is in a view: have the votes and the group file on disk
 * @s: the state
 * @running: the view, as ctl_fetch() gives it, with the tuning of its subgroups
 *
 * A view without a lineage is none that a restart begins from.
 *
 * Return: whether the files are on disk, and the node may be in this view.
 */
bool logd_state_view(struct logd_state *s, const struct ctl_view *running)
{
	uint8_t lineage[SPINDLE_LINEAGE_LEN];
	enum spindle_restart_vote vote;
	struct ctl_view view;
	uint64_t era;

	if (!running->is_live || !running->lineage.set ||
	    ctl_lineage_parse(running->lineage.str, lineage, &era))
		return true;
	if (!logd_state_ready(s, NULL))
		return false;
	take_lineage(s, lineage);
	vote = spindle_restart_enter(&s->voter, era);
	if (vote == SPINDLE_RESTART_REFUSED && era > SPINDLE_RESTART_ERA_MAX)
		return logd_state_fail(s, "the node is in era %" PRIu64 " of the group, and the "
				       "largest era with a restart is %" PRIu64, era,
				       (uint64_t)SPINDLE_RESTART_ERA_MAX);
	if (vote == SPINDLE_RESTART_REFUSED)
		return logd_state_fail(s, "the node is in era %" PRIu64 " of the group, and has "
				       "promised its vote to a restart of era %" PRIu64, era,
				       s->voter.promised.era);
	view = ctl_live_asked(running);
	take_tuning(s, running, &view);
	return logd_state_sync(s, vote) &&
	       logd_group_write(&s->group, s->dir, &view, false, s->why);
}
