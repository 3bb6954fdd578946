// SPDX-License-Identifier: MIT
/*
 * Replays: messages of a log and of a history, one after the other. See <spindle/replay.h>.
 *
 * A replay is live, or it reads the log. It is live while it has an attachment that reads the
 * history from its place on. The log comes when the history has forgotten that place. At the end of
 * the log, and at a damaged range, the replay tries to be live again.
 *
 *	enter()		attach at the place; if the history has forgotten it, attach at the end for
 *			a moment, to learn what is durable
 *	read_live()	a message of the history, which may overwrite it, so the bytes are copied
 *	read_log()	a message of the log
 *
 * The kernel knows one place of a message, and so does the log: its position. What is handed out
 * has the position r->place.lsn or a later one, and moves the place behind it. So nothing comes
 * twice. Nothing is left out, because the log and the history have all positions in their range.
 *
 * A restart of the group may leave the last messages of a log behind, if they were not durable. The
 * logger cuts them off before it writes a message of the new era. So a message of an earlier era
 * counts if the log has one of the present era. It also counts if the history begins behind it. In
 * all other cases the history has to have the message.
 *
 * Owner: the caller, one thread at a time.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <spindle/replay.h>

#include "internal.h"

/* Messages that are taken from the history at once. */
#define BATCH	16
/* Changes between the log and the history in one call, without a message. */
#define TRIES	16
/* Not an errno: go on with the log, or with the history. */
#define AGAIN	2

struct spindle_replay {
	/** @o: as given; strings and place are copies */
	struct spindle_replay_opts o;
	/** @place: of the next message */
	struct spindle_place place;
	/** @q: the attachment, if q.fd is no -1 */
	struct spindle_queue q;
	/** @live: @q reads from @place on */
	bool live;
	/** @features: of the subgroup */
	uint64_t features;
	/** @subgroup: its id */
	uint32_t subgroup;
	/** @bound: no message of the log from here on may be handed out yet */
	uint64_t bound;
	/** @oldest: the history began here when it was asked last */
	uint64_t oldest;
	/** @batch: messages of the history, the rest of which is held */
	struct spindle_msg batch[BATCH];
	/** @at: the next one in @batch */
	unsigned int at;
	/** @n: entries of @batch */
	unsigned int n;
	/** @copy: the message that was handed out */
	unsigned char *copy;
	/** @room: bytes of @copy */
	uint32_t room;
	/** @log: NULL while it is not needed */
	struct spindle_log *log;
	/** @sought: @log is at @place */
	bool sought;
	/** @log_era: of its newest message; 0: not known */
	uint64_t log_era;
};

/* ---- the attachment --------------------------------------------------- */

static bool is_attached(const struct spindle_replay *r)
{
	return r->q.fd >= 0;
}

static void detach(struct spindle_replay *r)
{
	if (is_attached(r))
		spindle_detach(&r->q);
	r->live = false;
	r->at = 0;
	r->n = 0;
}

static int attach(struct spindle_replay *r, const struct spindle_place *from, uint64_t want)
{
	struct spindle_attach_opts o = {
		.device = r->o.device, .node = r->o.node, .subgroup = r->o.subgroup,
		.name = r->o.name, .flags = SPINDLE_ATTACH_RECV, .event_fd = r->o.event_fd,
		.from = from, .want = want,
	};

	return spindle_attach(&r->q, &o);
}

/* The kernel compares a place with that of the group. At the end of the history there is none. */
static bool is_same_group(struct spindle_replay *r)
{
	struct spindle_place *p = &r->place;

	if (p->lineage[0] || p->lineage[1] || p->era)
		return p->lineage[0] == r->q.lineage[0] && p->lineage[1] == r->q.lineage[1] &&
		       p->era == r->q.era;
	p->lineage[0] = r->q.lineage[0];
	p->lineage[1] = r->q.lineage[1];
	p->era = r->q.era;
	return true;
}

static int learn(struct spindle_replay *r)
{
	const struct spindle_queue *q = &r->q;
	unsigned char *copy;

	if (!(q->features & SPINDLE_FEAT_HISTORY))
		return -EOPNOTSUPP;
	if (!is_same_group(r))
		return -EXDEV;
	r->features = q->features;
	r->subgroup = q->subgroup;
	r->oldest = q->oldest;
	r->bound = q->features & SPINDLE_FEAT_GATE ? spindle_durable(q) : UINT64_MAX;
	if (q->max_msg <= r->room)
		return 0;
	copy = realloc(r->copy, q->max_msg);
	if (!copy)
		return -ENOMEM;
	r->copy = copy;
	r->room = q->max_msg;
	return 0;
}

static void close_log(struct spindle_replay *r)
{
	spindle_log_close(r->log);
	r->log = NULL;
	r->sought = false;
}

/*
 * Be live, if the history has the place. Otherwise the attachment stays only if there is nothing in
 * the log to hand out, because an attachment that does not read is overtaken.
 */
static int enter(struct spindle_replay *r)
{
	bool forgotten;
	int err;

	detach(r);
	err = attach(r, &r->place, 0);
	forgotten = err == -ESTALE && r->q.step == SPINDLE_STEP_ATTACH;
	if (forgotten)
		err = attach(r, NULL, 0);
	if (!err)
		err = learn(r);
	if (err) {
		detach(r);
		return err == -ESTALE ? -EBUSY : err;
	}
	r->live = !forgotten;
	if (r->live)
		close_log(r);
	else if (r->place.lsn < r->bound)
		detach(r);
	return 0;
}

/* ---- the log ---------------------------------------------------------- */

/* Without the list of all epochs nothing is known of the newest one. */
static void learn_era(struct spindle_replay *r)
{
	struct spindle_log_epoch epoch;
	struct spindle_log_info info;

	spindle_log_info(r->log, &info);
	r->log_era = 0;
	if (info.epochs && !spindle_log_epoch(r->log, info.epochs - 1, &epoch))
		r->log_era = epoch.era;
}

static bool is_log_of_group(const struct spindle_replay *r)
{
	struct spindle_log_info info;

	spindle_log_info(r->log, &info);
	return info.subgroup == r->subgroup &&
	       !memcmp(info.lineage, r->place.lineage, sizeof(info.lineage));
}

/* Return: 0; -ENODATA: there is none, or not yet. */
static int open_log(struct spindle_replay *r)
{
	int err;

	if (!r->o.dir)
		return -ENODATA;
	err = spindle_log_open(&r->log, r->o.dir, 0);
	if (err)
		return err;
	learn_era(r);
	return 0;
}

/* Have a log that belongs to the group. */
static int need_log(struct spindle_replay *r)
{
	int err = r->log ? 0 : open_log(r);

	if (err || is_log_of_group(r))
		return err;
	close_log(r);
	return -EXDEV;
}

/* May a restart of the group have left this message behind? */
static bool may_be_gone(const struct spindle_replay *r, const struct spindle_log_msg *m)
{
	if (m->era == r->place.era)
		return false;
	if (m->era > r->place.era)
		return true;
	return r->log_era != r->place.era &&
	       !((r->features & SPINDLE_FEAT_LOG) && m->lsn < r->oldest);
}

/* Neither the log nor the history has the message. Say what comes next. */
static int lost(const struct spindle_replay *r, struct spindle_log_msg *m)
{
	struct spindle_log_info info;

	*m = (struct spindle_log_msg){ .lsn = r->place.lsn, .next = r->oldest };
	if (!r->log)
		return -ESTALE;
	spindle_log_info(r->log, &info);
	if (info.low > m->lsn && info.low < m->next)
		m->next = info.low;
	return -ESTALE;
}

/* Return: as spindle_log_read(), with a log that ends in front of the place as at its end. */
static int read_at_place(struct spindle_replay *r, struct spindle_log_msg *m)
{
	int n;

	if (!r->sought) {
		n = spindle_log_seek(r->log, r->place.lsn);
		if (n)
			return n == -ERANGE ? 0 : n;
	}
	n = spindle_log_read(r->log, m);
	r->sought = n == 1;
	return n == -ERANGE ? 0 : n;
}

/* The history has forgotten the place, so the log must have it, if the logger has kept up. */
static int read_on(struct spindle_replay *r, struct spindle_log_msg *m)
{
	struct spindle_log_info info;
	int err = spindle_log_refresh(r->log);

	/* A log that was cut in front of the place has a later era, or ends there. */
	if (err && err != -ERANGE)
		return err;
	learn_era(r);
	spindle_log_info(r->log, &info);
	return info.next > r->place.lsn && info.low <= r->place.lsn ? AGAIN : lost(r, m);
}

/* The log has no message for the place, for the reason @n. Maybe the history has. */
static int end_of_log(struct spindle_replay *r, struct spindle_log_msg *m, int n)
{
	struct spindle_log_msg range = *m;
	int err;

	if (n && n != -EUCLEAN && n != -ESTALE && n != -EXDEV)
		return n;
	err = enter(r);
	if (err || r->live)
		return err ? err : AGAIN;
	if (!n)
		return read_on(r, m);
	if (n == -ESTALE)
		return lost(r, m);
	*m = (struct spindle_log_msg){ .lsn = r->place.lsn, .next = range.next };
	return n;
}

/* Nothing more is durable, as far as is known. The history may have the place again. */
static int at_bound(struct spindle_replay *r)
{
	int err = enter(r);

	if (err)
		return err;
	return r->live || r->place.lsn < r->bound ? AGAIN : 0;
}

static int read_log(struct spindle_replay *r, struct spindle_log_msg *m)
{
	int n;

	do {
		if (r->place.lsn >= r->bound)
			return at_bound(r);
		n = need_log(r);
		if (n)
			return n == -ENODATA ? end_of_log(r, m, -ESTALE) : n;
		n = read_at_place(r, m);
		if (n != 1)
			return end_of_log(r, m, n);
		if (may_be_gone(r, m)) {
			r->sought = false;
			return end_of_log(r, m, -EXDEV);
		}
		r->place.lsn = m->next;
	} while (m->flags & SPINDLE_LOG_OTHER);
	return 1;
}

/* ---- the history ------------------------------------------------------ */

/* The history has overtaken the replay. */
static int fall_behind(struct spindle_replay *r)
{
	int err = enter(r);

	return err ? err : AGAIN;
}

static int take_batch(struct spindle_replay *r)
{
	int n;

	spindle_release(&r->q);
	r->at = 0;
	r->n = 0;
	n = spindle_next_batch(&r->q, r->batch, BATCH);
	if (n > 0)
		r->n = (unsigned int)n;
	return n;
}

static bool is_behind(const struct spindle_replay *r, int err)
{
	return err == -ESTALE ||
	       (err == -EPIPE && spindle_error_code(&r->q) == SPINDLE_ERR_BEHIND);
}

static int read_live(struct spindle_replay *r, struct spindle_log_msg *m)
{
	const struct spindle_msg *msg;
	int n;

	if (r->at == r->n) {
		n = take_batch(r);
		if (n <= 0)
			return is_behind(r, n) ? fall_behind(r) : n;
	}
	msg = &r->batch[r->at];
	if (msg->len)
		memcpy(r->copy, msg->data, msg->len);
	if (!spindle_intact(&r->q))
		return fall_behind(r);
	r->at++;
	*m = (struct spindle_log_msg){
		.lsn = msg->lsn, .next = msg->lsn + 1, .era = r->q.era, .vid = r->q.vid,
		.slot = msg->slot, .node = msg->node, .sender = msg->sender, .len = msg->len,
		.data = r->copy,
	};
	r->place.lsn = m->next;
	return 1;
}

/* ---- calls ------------------------------------------------------------ */

int spindle_replay_next(struct spindle_replay *r, struct spindle_log_msg *m)
{
	uint32_t i;
	int n = AGAIN;

	*m = (struct spindle_log_msg){ .lsn = r->place.lsn };
	for (i = 0; n == AGAIN && i < TRIES; i++)
		n = r->live ? read_live(r, m) : read_log(r, m);
	return n == AGAIN ? -EBUSY : n;
}

static int wait_live(struct spindle_replay *r, int timeout_ms)
{
	if (r->at != r->n)
		return 1;
	spindle_release(&r->q);
	return spindle_wait(&r->q, POLLIN, timeout_ms);
}

static int wait_durable(struct spindle_replay *r, int timeout_ms)
{
	int err = spindle_wait_durable(&r->q, r->place.lsn, timeout_ms);

	return err == -ETIMEDOUT ? 0 : err ? err : 1;
}

int spindle_replay_wait(struct spindle_replay *r, int timeout_ms)
{
	int ret = 1;

	if (r->live)
		ret = wait_live(r, timeout_ms);
	else if (is_attached(r) && r->place.lsn >= r->bound)
		ret = wait_durable(r, timeout_ms);
	/* The next call finds the other errors. */
	return !ret || ret == -EINTR ? ret : 1;
}

void spindle_replay_place(const struct spindle_replay *r, struct spindle_place *place)
{
	*place = r->place;
}

const struct spindle_queue *spindle_replay_queue(const struct spindle_replay *r)
{
	return is_attached(r) ? &r->q : NULL;
}

/* Begin with the oldest message of the log, or else of the history. */
static int begin_with_oldest(struct spindle_replay *r)
{
	struct spindle_log_info info;
	int err = attach(r, NULL, SPINDLE_WANT_OLDEST);

	if (!err)
		err = learn(r);
	if (err)
		return err;
	r->place.lsn = spindle_lsn(&r->q);
	r->live = true;
	err = need_log(r);
	if (err)
		return err == -ENODATA ? 0 : err;
	spindle_log_info(r->log, &info);
	if (info.low < r->place.lsn)
		r->place.lsn = info.low;
	return enter(r);
}

static int begin(struct spindle_replay *r)
{
	int err = r->o.from ? enter(r) : begin_with_oldest(r);

	if (err || r->live || r->place.lsn >= r->bound)
		return err;
	err = need_log(r);
	return err == -ENODATA ? 0 : err;
}

/* Can the directory be read? A replay that falls behind needs it, maybe much later. */
static int check_dir(const char *dir)
{
	int fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	close(fd);
	return 0;
}

/* Return: whether there was memory. */
static bool copy_text(const char **to, const char *from)
{
	*to = from ? strdup(from) : NULL;
	return *to || !from;
}

static int copy_opts(struct spindle_replay *r, const struct spindle_replay_opts *o)
{
	static const uint64_t none[ARRAY_SIZE(o->resv)];

	if (o->resv0 || memcmp(o->resv, none, sizeof(none)))
		return -EINVAL;
	r->o.node = o->node;
	r->o.subgroup = o->subgroup;
	r->o.event_fd = o->event_fd;
	if (o->from) {
		r->place = *o->from;
		r->o.from = &r->place;
	}
	if (!copy_text(&r->o.device, o->device) || !copy_text(&r->o.name, o->name) ||
	    !copy_text(&r->o.dir, o->dir))
		return -ENOMEM;
	return o->dir ? check_dir(o->dir) : 0;
}

int spindle_replay_open(struct spindle_replay **out, const struct spindle_replay_opts *o)
{
	struct spindle_replay *r = calloc(1, sizeof(*r));
	int err;

	*out = NULL;
	if (!r)
		return -ENOMEM;
	r->q.fd = -1;
	err = copy_opts(r, o);
	if (!err)
		err = begin(r);
	if (err)
		spindle_replay_close(r);
	else
		*out = r;
	return err;
}

void spindle_replay_close(struct spindle_replay *r)
{
	if (!r)
		return;
	detach(r);
	close_log(r);
	free(r->copy);
	free((void *)r->o.device);
	free((void *)r->o.name);
	free((void *)r->o.dir);
	free(r);
}

const char *spindle_replay_strerror(int err)
{
	switch (-err) {
	case 0:
		return "success";
	case EUCLEAN:
		return "messages are damaged in the log, and the history has forgotten them";
	case ESTALE:
		return "neither the log nor the history has the message";
	case EXDEV:
		return "the place or the log belongs to another lineage, era or subgroup";
	case ERANGE:
		return "the position is behind the end of the messages of the subgroup";
	case EBUSY:
		return "the log or the history changes faster than it can be read";
	case EPIPE:
		return "the state of the subgroup is final, and all was read";
	case EOPNOTSUPP:
		return "the subgroup has no history, or no order";
	case EINVAL:
		return "a reserved option is not 0, or the kernel refuses the options";
	case ENODEV:
		return "no such node";
	case ENOENT:
		return "there is no such subgroup, device or directory";
	case EACCES:
		return "no permission to use the device, or to read the log";
	case ENOTCONN:
		return "the subgroup has failed";
	case EUSERS:
		return "too many processes receive in the subgroup already";
	}
	return err < 0 ? strerror(-err) : "unknown error";
}
