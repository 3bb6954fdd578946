// SPDX-License-Identifier: GPL-2.0-only
/*
 * A forced restart at a node: it leaves its lineage, with its logs. See state.h.
 *
 * The new lineage is made of the contents of the restart. So all nodes with the consent to the same
 * contents are of one group, and votes and records of the lineage before say nothing there.
 *
 * The order is: copies of what is cut, the file "forced", votes, logs, records, group file. Each of
 * them is on disk before the next one. From the file "forced" on, a start of the process does the
 * rest, before the node votes for anything.
 */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <nettle/sha2.h>

#include "common/live.h"
#include "state-files.h"

#define FORCED		"forced"
#define FORCED_NEW	"forced.new"
#define CONSENT		"consent"
/* Bytes of the longest file with a consent. */
#define CONSENT_BYTES	64U

static_assert(SPINDLE_LINEAGE_LEN <= SHA256_DIGEST_SIZE, "a digest makes a lineage");

/* ---- the name of a forced restart ----------------------------------------------------- */

/**
 * logd_force_name() - the lineage that a forced restart begins, which is its code as well
 * @force: the restart
 * @lineage: out
 *
 * Return: whether there was memory.
 */
bool logd_force_name(const struct spindle_restart_force *force, uint64_t *lineage)
{
	static const char label[] = "spindle forced restart";
	uint8_t *bytes = malloc(SPINDLE_RESTART_BYTES);
	struct sha256_ctx sha;
	size_t len;

	len = bytes ? spindle_restart_put_force(force, bytes, SPINDLE_RESTART_BYTES) : 0;
	if (len) {
		sha256_init(&sha);
		sha256_update(&sha, sizeof(label), (const uint8_t *)label);
		sha256_update(&sha, len, bytes);
		sha256_digest(&sha, SPINDLE_LINEAGE_LEN, (uint8_t *)lineage);
	}
	free(bytes);
	return len;
}

static bool is_of(const uint64_t *lineage, const uint64_t *other)
{
	return !memcmp(lineage, other, SPINDLE_LINEAGE_LEN);
}

/* ---- consent -------------------------------------------------------------------------- */

/**
 * logd_state_consent() - has the administrator consented to a forced restart?
 * @s: the state
 * @lineage: out: the lineage that it begins
 *
 * Return: whether there is a consent.
 */
bool logd_state_consent(const struct logd_state *s, uint64_t *lineage)
{
	int fd = openat(s->dir, CONSENT, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	char text[CONSENT_BYTES];
	uint64_t era;
	ssize_t n;

	if (fd < 0)
		return false;
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	if (n <= 0)
		return false;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return !strchr(text, '/') && !ctl_lineage_parse(text, (uint8_t *)lineage, &era);
}

/* The node runs in the lineage, or is about to, so the consent has done its work. */
static void drop_consent(struct logd_state *s)
{
	uint64_t lineage[2];

	/* A consent that comes back after a crash says what is so already. */
	if (logd_state_consent(s, lineage) && is_of(lineage, s->lineage))
		unlinkat(s->dir, CONSENT, 0);
}

/* ---- the file ------------------------------------------------------------------------- */

static bool fail_file(struct logd_state *s, const char *what, int err)
{
	return logd_state_fail(s, "cannot %s the file '%s' in %s: %s", what, FORCED, s->path,
			       err == -EBADMSG ? "it is damaged" : strerror(-err));
}

/* Return: the bytes; 0: there is no file; or -errno. */
static ssize_t read_bytes(int dir, uint8_t *to)
{
	int fd = openat(dir, FORCED, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
	size_t at = 0;
	ssize_t n;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	do {
		n = read(fd, to + at, SPINDLE_RESTART_BYTES - at);
		at += n > 0 ? (size_t)n : 0;
	} while (n > 0 || (n < 0 && errno == EINTR));
	n = n < 0 ? -errno : (ssize_t)at;
	close(fd);
	return n ? n : -EBADMSG;
}

static bool write_file(struct logd_state *s, const struct spindle_restart_force *force)
{
	uint8_t *bytes = malloc(SPINDLE_RESTART_BYTES);
	size_t len = bytes ? spindle_restart_put_force(force, bytes, SPINDLE_RESTART_BYTES) : 0;
	int err = !bytes ? -ENOMEM : -EINVAL;

	if (len)
		err = logd_pair_replace(s->dir, FORCED_NEW, FORCED, bytes, len);
	free(bytes);
	return !err || fail_file(s, "write", err);
}

/* ---- logs ----------------------------------------------------------------------------- */

/*
 * The logs follow the lineage before up to the base. No view of that lineage has the number 0, so
 * none of an era that the new lineage has as well is taken for a view of it.
 */
static struct logd_way way_of(const struct spindle_restart_force *force, uint32_t p)
{
	return (struct logd_way){
		.id = force->proposal.part[p].id,
		.view = { .era = force->proposal.ballot.era },
		.path = force->proposal.part[p].path,
	};
}

static bool keep_one(struct logd_state *s, const struct logd_way *way)
{
	const uint8_t *byte = (const uint8_t *)s->lineage;
	struct logd_disk *d = logd_disk_open(s, way->id);
	char name[64];
	uint64_t end;

	if (!d || !logd_disk_end(s, d, way, &end))
		return false;
	snprintf(name, sizeof(name), "%u.lost-%02x%02x%02x%02x-%" PRIu64, way->id, byte[0],
		 byte[1], byte[2], byte[3], way->view.era);
	return logd_disk_keep(s, d, name, end);
}

/* The log is not cut further than what was kept, because no process has written to it since. */
static bool move_one(struct logd_state *s, const struct logd_way *way)
{
	struct logd_disk *d = logd_disk_open(s, way->id);
	uint64_t end;

	return d && logd_disk_end(s, d, way, &end) && logd_disk_cut(s, d, end) &&
	       logd_disk_move(s, d);
}

/* Do something with the log of each subgroup. */
static bool for_logs(struct logd_state *s, const struct spindle_restart_force *force,
		     bool (*fn)(struct logd_state *, const struct logd_way *))
{
	struct logd_way way;
	bool good = true;
	uint32_t p;

	for (p = 0; good && p < force->proposal.parts; p++) {
		way = way_of(force, p);
		good = fn(s, &way);
	}
	return good;
}

/* ---- records and group file ------------------------------------------------------------ */

/* The first view of the lineage follows nothing: no node of it has been in a view before. */
static bool write_record(struct logd_state *s, const struct spindle_restart_force *force,
			 uint32_t p, struct spindle_restart_base *part)
{
	const struct spindle_restart_proposal *proposal = &force->proposal;
	struct spindle_restart_view first;
	uint32_t i;

	for (i = 0; i < proposal->members && proposal->node[i] != s->node; i++)
		;
	if (i == proposal->members || !(proposal->part[p].members >> i & 1) ||
	    !spindle_restart_first(proposal, proposal->part[p].id, &first))
		return true;
	*part = proposal->part[p];
	part->range.views = 0;
	part->range.known = true;
	return logd_state_enter_record(s, part, &first);
}

static bool write_records(struct logd_state *s, const struct spindle_restart_force *force)
{
	struct spindle_restart_base *part = malloc(sizeof(*part));
	bool good = part;
	uint32_t p;

	if (!part)
		logd_state_fail(s, "no memory");
	for (p = 0; good && p < force->proposal.parts; p++)
		good = write_record(s, force, p, part);
	free(part);
	return good;
}

static bool write_group(struct logd_state *s, const struct spindle_restart_force *force)
{
	uint32_t i, n = force->proposal.members;
	struct logd_known *known = calloc(n, sizeof(*known));
	bool good;

	if (!known)
		return logd_state_fail(s, "no memory");
	for (i = 0; i < n; i++) {
		known[i].node = force->proposal.node[i];
		memcpy(known[i].address, force->address[i], sizeof(known[i].address));
	}
	good = logd_state_enter_group(s, &force->proposal, known, n);
	free(known);
	return good;
}

/* ---- the restart ------------------------------------------------------------------------ */

/* Nothing of the votes in the lineage before counts, and attempts begin above the first era. */
static bool write_votes(struct logd_state *s, const uint64_t *lineage, uint64_t era)
{
	enum spindle_restart_vote vote;

	memcpy(s->lineage, lineage, sizeof(s->lineage));
	memset(&s->voter, 0, sizeof(s->voter));
	vote = spindle_restart_enter(&s->voter, era);
	spindle_restart_stop(&s->voter);
	return logd_state_sync(s, vote);
}

/* What was done before a crash is done again, and makes no difference. */
static bool move_all(struct logd_state *s, const struct spindle_restart_force *force,
		     const uint64_t *lineage)
{
	bool good;

	s->leaves = force->proposal.lineage;
	good = write_votes(s, lineage, force->proposal.ballot.era) &&
	       for_logs(s, force, move_one) && write_records(s, force) &&
	       write_group(s, force);
	s->leaves = NULL;
	/* The node votes in neither lineage before the rest is done. */
	s->failed |= !good;
	return good;
}

static bool take(struct logd_state *s, const struct spindle_restart_force *force)
{
	struct spindle_restart_force *copy = malloc(sizeof(*copy));

	if (!copy)
		return logd_state_fail(s, "no memory");
	*copy = *force;
	free(s->forced);
	s->forced = copy;
	drop_consent(s);
	return true;
}

/**
 * logd_state_force() - begin the lineage of a forced restart, on disk
 * @s: the state, of a node that is in no view
 * @force: the restart, which the administrator has consented to
 *
 * What is cut from a log is kept beside it. After a failure behind the file "forced" the state is
 * of no use any more, and the next start does the rest.
 *
 * Return: whether all of it is on disk. Then the node is of the new lineage, and in no view.
 */
bool logd_state_force(struct logd_state *s, const struct spindle_restart_force *force)
{
	uint64_t lineage[2];

	if (!s->group.is || !logd_state_ready(s, force->proposal.lineage))
		return false;
	if (!logd_force_name(force, lineage))
		return logd_state_fail(s, "no memory");
	return for_logs(s, force, keep_one) && write_file(s, force) &&
	       move_all(s, force, lineage) && take(s, force);
}

static bool go_on(struct logd_state *s, const struct spindle_restart_force *force)
{
	uint64_t lineage[2];

	if (!s->group.is)
		return true;
	if (!logd_force_name(force, lineage))
		return logd_state_fail(s, "no memory");
	if (is_of(s->group.lineage, lineage))
		return take(s, force);
	return !is_of(s->group.lineage, force->proposal.lineage) ||
	       (move_all(s, force, lineage) && take(s, force));
}

/**
 * logd_state_forced() - the files were opened: do what a forced restart has left to do
 * @s: the state
 *
 * A node of the new lineage keeps the contents, for the nodes that are still in the one before.
 *
 * Return: whether that was possible.
 */
bool logd_state_forced(struct logd_state *s)
{
	struct spindle_restart_force *force = malloc(sizeof(*force));
	uint8_t *bytes = malloc(SPINDLE_RESTART_BYTES);
	ssize_t n = force && bytes ? read_bytes(s->dir, bytes) : -ENOMEM;
	bool good = !n;

	if (n > 0 && spindle_restart_get_force(force, bytes, (size_t)n))
		good = go_on(s, force);
	else if (n)
		fail_file(s, "read", n > 0 ? -EBADMSG : (int)n);
	free(bytes);
	free(force);
	return good;
}
