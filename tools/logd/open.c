// SPDX-License-Identifier: GPL-2.0-only
/* Open a log: its directory, what the last life has left, and the place in the history. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "common/key.h"
#include "cut.h"
#include "logd.h"
#include "scan.h"

/* With more than one write at once, this many bytes go without waiting for the write before. */
#define COMMIT		(256U << 10)
/* A ring that is full drops its oldest segment, and has two of them for a moment. */
#define KEEP_MIN	3U
/* The writes of a process that was killed may take as long as this to end. */
#define LOCK_MS		5000U

static_assert(LOGD_DEPTH == SPINDLE_DLOG_DEPTH, "the port has jobs for all writes of a log");

/**
 * logd_say() - say something about a log
 * @l: the log
 * @fmt: the rest of the sentence
 */
void logd_say(const struct logd *l, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ctl_err("%s: %s", l->title, text);
}

/**
 * logd_fail() - say why this process ends
 * @l: the log
 * @fmt: the reason
 *
 * Return: false
 */
bool logd_fail(struct logd *l, const char *fmt, ...)
{
	char text[400];
	va_list ap;

	l->failed = true;
	l->reading = false;
	va_start(ap, fmt);
	vsnprintf(text, sizeof(text), fmt, ap);
	va_end(ap);
	ctl_err("%s: %s", l->title, text);
	return false;
}

/* ---- the attachment ---------------------------------------------------------- */

static bool refuse_attach(struct logd *l, int err)
{
	uint64_t next = l->attach.from ? l->attach.from->lsn + l->last.known : 0;
	char text[256];

	if (l->q.step == SPINDLE_STEP_ATTACH && err == -ESTALE && logd_catch_up(l, l->q.oldest))
		return false;
	if (l->q.step == SPINDLE_STEP_ATTACH && err == -ESTALE && l->q.oldest == next)
		return logd_fail(l, "the history begins with position %" PRIu64 ", and cannot be "
				 "compared with the last message of %s", next, l->path);
	if (l->q.step == SPINDLE_STEP_ATTACH && err == -ESTALE)
		return logd_fail(l, "positions %" PRIu64 " to %" PRIu64 " are missing: %s ends in "
				 "front of them, and the history has forgotten them", next,
				 l->q.oldest - 1, l->path);
	if (l->q.step == SPINDLE_STEP_ATTACH && err == -ERANGE)
		return logd_fail(l, "%s has position %" PRIu64 ", but the next one of the subgroup "
				 "is %" PRIu64, l->path, next - 1, l->q.next);
	if (l->q.step == SPINDLE_STEP_ATTACH && err == -EBUSY)
		return logd_fail(l, "another process writes the log of this node");
	if (l->q.step == SPINDLE_STEP_ATTACH && err == -ENODATA)
		return logd_fail(l, "%s ends at position %" PRIu64 ", and has lost messages that "
				 "were on its disk", l->path, next);
	if (l->q.step == SPINDLE_STEP_ATTACH && err == -EXDEV)
		return logd_fail(l, "%s belongs to another lineage or era of the group", l->path);
	return logd_fail(l, "%s", spindle_attach_strerror(&l->q, &l->attach, err, text,
							  sizeof(text)));
}

static bool is_suitable(struct logd *l)
{
	if (!(l->q.features & SPINDLE_FEAT_HISTORY))
		return logd_fail(l, "it has no history, so messages would be missed while this "
				 "process does not run; set one with 'spindle-ctl subgroup set "
				 "node %u id %u history 64M'", l->q.node, l->q.subgroup);
	if (!(l->q.features & SPINDLE_FEAT_ORDERED))
		return logd_fail(l, "an unordered subgroup has no positions in common");
	if (!l->q.lineage[0] && !l->q.lineage[1])
		return logd_fail(l, "the view is static, and has no lineage that a log could "
				 "belong to");
	return true;
}

/**
 * logd_attach() - attach as a reader of the history
 * @l: the log
 * @from: the place to begin at; NULL: the oldest message
 *
 * Return: whether that was possible; a sentence says why not.
 */
bool logd_attach(struct logd *l, const struct spindle_place *from)
{
	int err;

	l->attach.from = from;
	l->attach.log_end = l->role && from ? from->lsn + l->last.known : 0;
	l->attach.want = SPINDLE_WANT_VIEWS | (from ? 0 : SPINDLE_WANT_OLDEST);
	err = spindle_attach(&l->q, &l->attach);
	if (err)
		return refuse_attach(l, err);
	if (is_suitable(l))
		return true;
	spindle_detach(&l->q);
	return false;
}

/* ---- the directory ------------------------------------------------------------ */

/* Make one directory, and make its name durable. */
static bool make_dir(struct logd *l, const char *parent, const char *path)
{
	int fd, err;

	if (mkdir(path, 0750) && errno != EEXIST)
		return logd_fail(l, "cannot make %s: %s", path, strerror(errno));
	fd = open(parent, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	err = fd < 0 || fsync(fd) ? errno : 0;
	if (fd >= 0)
		close(fd);
	/* A process that may not read the parent did not make the directory either. */
	if (err && err != EACCES)
		return logd_fail(l, "cannot sync %s: %s", parent, strerror(err));
	return true;
}

static bool make_dirs(struct logd *l)
{
	char *dir = ctl_strdup(l->opts->dir), *above, *slash;
	const char *node;
	size_t len;

	/* The name of a directory is in the one above, and a slash at the end would hide that. */
	for (len = strlen(dir); len > 1 && dir[len - 1] == '/'; len--)
		dir[len - 1] = '\0';
	above = ctl_strdup(dir);
	slash = strrchr(above, '/');
	if (slash == above)
		slash[1] = '\0';
	else if (slash)
		*slash = '\0';
	node = ctl_asprintf("%s/%u", dir, l->opts->node);
	l->path = ctl_asprintf("%s/%u", node, l->attach.subgroup);
	return make_dir(l, slash ? above : ".", dir) && make_dir(l, dir, node) &&
	       make_dir(l, node, l->path);
}

static bool lock_dir(struct logd *l)
{
	const char *path = ctl_asprintf("%s/LOCK", l->path);
	const struct timespec nap = { .tv_nsec = 50000000 };
	unsigned int ms;

	l->lock = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK, 0640);
	if (l->lock < 0)
		return logd_fail(l, "cannot open %s: %s", path, strerror(errno));
	for (ms = 0; flock(l->lock, LOCK_EX | LOCK_NB); ms += 50) {
		if (errno != EWOULDBLOCK && errno != EINTR)
			return logd_fail(l, "cannot lock %s: %s", path, strerror(errno));
		if (ms >= LOCK_MS)
			return logd_fail(l, "another process writes to %s", l->path);
		nanosleep(&nap, NULL);
	}
	return true;
}

/* ---- what the last life has left ---------------------------------------------- */

/* Bytes of a frame with one message of the longest kind. */
static uint32_t frame_of(uint32_t max_msg)
{
	uint64_t bytes = sizeof(struct spindle_dlog_frame) + sizeof(struct spindle_dlog_record) +
			 max_msg + SPINDLE_DLOG_ALIGN;

	return (uint32_t)((bytes + LOGD_BLOCK - 1) / LOGD_BLOCK * LOGD_BLOCK);
}

/* Memory for disks. Nothing is freed, because a log lives as long as its process. */
static void *aligned(size_t bytes)
{
	void *p = aligned_alloc(LOGD_BLOCK, (bytes + LOGD_BLOCK - 1) / LOGD_BLOCK * LOGD_BLOCK);

	if (!p) {
		ctl_err("no memory");
		exit(CTL_FAILED);
	}
	return p;
}

/* The longest frame that a segment has room for. */
static uint32_t frame_max(const struct spindle_dlog_ident *id)
{
	return id->segment - id->block;
}

static void say_damage(const struct logd *l)
{
	const struct spindle_dlog_scan *s = &l->scan;
	uint32_t i, n = s->n_damaged < LOGD_DAMAGED ? s->n_damaged : LOGD_DAMAGED;

	for (i = 0; i < n; i++)
		logd_say(l, "positions %" PRIu64 " to %" PRIu64 " of the log are damaged",
			 s->damaged[i].from, s->damaged[i].to - 1);
	if (s->n_damaged > n)
		logd_say(l, "%u more ranges of the log are damaged", s->n_damaged - n);
}

static bool scan(struct logd *l)
{
	uint32_t need = frame_of(l->q.max_msg);
	struct spindle_dlog_scan *s = &l->scan;
	int err;

	l->frame = logd_scan_frame(&l->io, need > LOGD_FRAME ? need : LOGD_FRAME);
	err = logd_scan(s, &l->io, l->frame,
			l->state ? logd_state_scan(l->state, l->attach.subgroup) : NULL,
			&l->progress);
	if (err == -EUCLEAN)
		return logd_fail(l, "%s has segments, and no meta block that is whole, or a file "
				 "that is none of a log", l->path);
	if (err == -E2BIG)
		return logd_fail(l, "%s has more than %u segments", l->path, LOGD_SEGMENTS);
	if (err)
		return logd_fail(l, "cannot read %s: %s", l->path, strerror(-err));
	say_damage(l);
	if (s->is_new)
		return true;
	if (s->id.subgroup != l->q.subgroup || s->id.node != l->q.node)
		return logd_fail(l, "%s is the log of subgroup %u of node %u", l->path,
				 s->id.subgroup, s->id.node);
	if (memcmp(s->id.lineage, l->q.lineage, sizeof(s->id.lineage)))
		return logd_fail(l, "%s belongs to another lineage of the group", l->path);
	return true;
}

/* ---- begin --------------------------------------------------------------------- */

/*
 * A log that says "all below is on disk" has all from the first position of the subgroup on, or
 * from the first one that the logs of other nodes have.
 */
static bool may_begin(struct logd *l, uint64_t oldest)
{
	uint64_t vid, began = 0;

	if (!l->role || l->opts->late || l->scan.next < oldest ||
	    (spindle_log_began(&l->q, &vid, &began) > 0 && oldest <= began) || !oldest)
		return true;
	return logd_fail(l, "the history begins with position %" PRIu64 ", and no log of another "
			 "node has what is in front: give the key (option -K), or begin there "
			 "(option -l)", oldest);
}

/* Return: whether the log gets a snapshot of other nodes before it attaches. */
static bool loads(struct logd *l)
{
	return logd_load_due(l, l->scan.map.low, l->scan.next) && logd_catch_up(l, l->scan.next);
}

/* Attach where the new log begins, as its logger. */
static bool attach_new(struct logd *l, uint64_t era)
{
	struct spindle_place from = { .lsn = l->scan.next, .era = era };

	if (loads(l))
		return false;
	memcpy(from.lineage, l->scan.id.lineage, sizeof(from.lineage));
	return logd_attach(l, &from);
}

/* All that comes into a new log is of the group, although it may be of an earlier era. */
static bool note_new(struct logd *l, uint64_t era)
{
	int err = logd_cut_write(l->io.dir, &l->scan.id, era);

	return !err || logd_fail(l, "cannot note the era in %s: %s", l->path, strerror(-err));
}

/* The history keeps messages for a logger, so none attaches before its log has what comes first. */
static bool begin_new(struct logd *l, uint64_t era)
{
	struct spindle_dlog_ident *id = &l->scan.id;
	uint64_t oldest;
	bool good;

	l->attach.flags &= ~SPINDLE_ATTACH_LOG;
	good = logd_attach(l, NULL);
	if (l->role)
		l->attach.flags |= SPINDLE_ATTACH_LOG;
	if (!good)
		return false;
	id->subgroup = l->q.subgroup;
	id->node = l->q.node;
	memcpy(id->lineage, l->q.lineage, sizeof(id->lineage));
	id->block = LOGD_BLOCK;
	id->segment = l->opts->segment << 20;
	if (getrandom(&id->salt, sizeof(id->salt), 0) != sizeof(id->salt))
		return logd_fail(l, "no random numbers: %s", strerror(errno));
	oldest = spindle_lsn(&l->q);
	l->scan.next = logd_catch_lowest(l, oldest);
	l->scan.map.low = l->scan.next;
	good = may_begin(l, oldest);
	spindle_detach(&l->q);
	if (!good)
		return false;
	if (l->role && !note_new(l, era))
		return false;
	if (l->scan.next < oldest)
		return logd_catch_up(l, oldest) && false;
	return attach_new(l, era);
}

/* The last message of the log, unless the log has none, or it is damaged or was for others. */
static struct logd_last last_of(const struct logd *l)
{
	struct spindle_dlog_reader r = {
		.port = l->scan.port, .id = &l->scan.id, .map = &l->scan.map,
		.window = l->scan.window,
	};
	struct spindle_dlog_msg m;

	if (l->scan.next == l->scan.map.low)
		return (struct logd_last){ .known = false };
	spindle_dlog_seek(&r, l->scan.next - 1);
	if (spindle_dlog_read(&r, &m) != 1 || (m.flags & LOGD_OTHER))
		return (struct logd_last){ .known = false };
	return (struct logd_last){
		.known = true, .node = m.node, .slot = m.slot, .len = m.len,
		.crc = spindle_dlog_crc(0, m.data, m.len),
	};
}

/*
 * Was the log cut for this era, and has it no message of it yet? Then it goes on where the era
 * begins, and the history has nothing to compare its last message with. Only its note says so: what
 * is not on the way to the era may be in any other log of an earlier one.
 */
static bool is_cut(const struct logd *l, uint64_t era)
{
	int has;

	if (!l->role || !l->scan.n_epochs || l->scan.last_epoch.era >= era)
		return false;
	has = logd_cut_has(l->io.dir, &l->scan.id, era);
	if (has < 0)
		logd_say(l, "cannot read the note of the cut: %s",
			 has == -EBADMSG ? "both copies are damaged" : strerror(-has));
	return has > 0;
}

/*
 * Begin with the last message of the log, which is compared. A log without a record knows no era,
 * and positions of each era suit it.
 */
static bool begin_again(struct logd *l, uint64_t era)
{
	struct spindle_place from = { .lsn = l->scan.next, .era = era };
	bool cut = is_cut(l, era);

	if (!cut)
		l->last = last_of(l);
	from.lsn -= l->last.known;
	memcpy(from.lineage, l->scan.id.lineage, sizeof(from.lineage));
	if (l->scan.n_epochs && !cut)
		from.era = l->scan.last_epoch.era;
	/* The kernel has to look at a log of an earlier era first. */
	if (from.era == era && loads(l))
		return false;
	return logd_attach(l, &from);
}

/* Return: whether the log goes on, or catches up. */
static bool begin(struct logd *l)
{
	if (l->repair.tail)
		return true;
	return (l->scan.is_new ? begin_new(l, l->era) : begin_again(l, l->era)) || l->catch.on;
}

/**
 * logd_begin_again() - attach where a log ends whose end was repaired
 * @l: the log
 *
 * Return: whether that was possible, or the log catches up; a sentence says why not.
 */
bool logd_begin_again(struct logd *l)
{
	l->scan.map = l->log.map;
	l->scan.last_epoch.era = l->log.era;
	/* The first era is 0, as is that of a log without messages. */
	if (l->log.era)
		l->scan.n_epochs = 1;
	if (!begin_again(l, l->era))
		return l->catch.on;
	return logd_begin_reading(l, l->last.known);
}

/* A frame has room for a message of any length, and a segment for more than one frame. */
static bool choose_frame(struct logd *l)
{
	struct spindle_dlog_ident *id = &l->scan.id;
	uint32_t need = frame_of(l->max_msg), quarter = id->segment / 4 / id->block * id->block;

	id->frame = quarter < LOGD_FRAME ? quarter : LOGD_FRAME;
	if (id->frame < need)
		id->frame = need;
	if (id->frame > frame_max(id))
		return logd_fail(l, "a message of %u bytes does not fit into a segment of %u MiB "
				 "(option -S)", l->max_msg, id->segment >> 20);
	return true;
}

static bool start(struct logd *l)
{
	struct spindle_dlog_config c = {
		.depth = l->opts->depth, .spares = 1,
		.go_on = l->opts->go_on || l->repair.tail,
		.policy = l->opts->keep ? SPINDLE_DLOG_RING : SPINDLE_DLOG_BLOCK,
	};
	uint64_t keep = l->opts->keep / l->scan.id.segment;
	uint32_t i;
	int err;

	/* The page cache reports an error once, and that may be to another write under way. */
	if (!l->io.direct)
		c.depth = 1;
	for (i = 0; i <= c.depth; i++)
		c.slot[i] = aligned(l->scan.id.block + l->scan.id.frame);
	c.meta = aligned(l->scan.id.block);
	c.commit = l->scan.id.frame / 2 < COMMIT ? l->scan.id.frame / 2 : COMMIT;
	if (l->opts->keep && keep < LOGD_SEGMENTS)
		l->scan.map.max = keep < KEEP_MIN ? KEEP_MIN : (uint32_t)keep;
	err = spindle_dlog_start(&l->log, &c, &l->scan);
	if (err == -EUCLEAN)
		return logd_fail(l, "the log ends in a damaged range; option -g goes on behind it");
	if (err)
		return logd_fail(l, "%s has impossible sizes", l->path);
	return true;
}

static bool open_dir(struct logd *l)
{
	int err;

	if (!make_dirs(l) || !lock_dir(l))
		return false;
	err = logd_port_open(&l->io, l->path, l->lock, !l->opts->threads, l->opts->depth);
	if (err)
		return logd_fail(l, "cannot use %s: %s", l->path, strerror(-err));
	return true;
}

/**
 * logd_open() - open the log of a subgroup
 * @l: the log, zeroed
 * @opts: command line
 * @subgroup: its id or name
 *
 * A first attachment says what the log has to be, and is given back. A second one begins where the
 * log ends. If the history does not reach so far back, the log catches up from other nodes first. A
 * log with a damaged end attaches when the end is repaired.
 *
 * Return: whether that was possible; a sentence says why not.
 */
bool logd_open(struct logd *l, const struct logd_opts *opts, const char *subgroup)
{
	uint64_t id = 0;

	l->opts = opts;
	l->title = ctl_asprintf("subgroup %s of node %u", subgroup, opts->node);
	l->progress.title = l->title;
	l->attach = (struct spindle_attach_opts){
		.device = opts->device, .node = opts->node, .flags = SPINDLE_ATTACH_RECV,
	};
	l->attach.name = ctl_num_parse(subgroup, UINT32_MAX, false, &id) ? subgroup : NULL;
	l->attach.subgroup = (uint32_t)id;
	if (!logd_attach(l, NULL))
		return false;
	/* The id, because another subgroup may have the name later. */
	l->attach.subgroup = l->q.subgroup;
	l->attach.name = NULL;
	l->era = l->q.era;
	l->max_msg = l->q.max_msg;
	l->role = l->q.features & SPINDLE_FEAT_LOG;
	if (l->role)
		l->attach.flags |= SPINDLE_ATTACH_LOG;
	memcpy(l->peers->server.id.lineage, l->q.lineage, sizeof(l->q.lineage));
	spindle_detach(&l->q);
	if (!open_dir(l) || !logd_role_open(l) || !scan(l))
		return false;
	/* What was on disk must not be missing when the kernel hears of this log. */
	l->repair.tail = l->scan.tail_damaged && !opts->go_on && l->peers->on;
	if (!begin(l) || !choose_frame(l) || !start(l))
		return false;
	logd_repair_open(l);
	if (l->repair.tail)
		logd_say(l, "the end of the log is damaged, and is fetched from other nodes first");
	else if (l->catch.on && l->catch.oldest <= l->log.next)
		logd_say(l, "a program may lack its snapshot, so other nodes are asked for theirs");
	else if (l->catch.on)
		logd_say(l, "the history begins with position %" PRIu64 ", and what is in front "
			 "of it comes from other nodes", l->catch.oldest);
	else if (!logd_begin_reading(l, l->last.known))
		return false;
	logd_say(l, "%s, %s, begins with position %" PRIu64, l->path,
		 l->io.ring ? "io_uring" : "threads", l->scan.next);
	return true;
}
