// SPDX-License-Identifier: GPL-2.0-only
/* The log of a subgroup while it runs: from the history into frames, and to the disk. */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "logd.h"

/* Messages in a pass, so that a subgroup under load does not starve the others. */
#define BUDGET		4096U
/* A log that got nothing for so long says on disk what is durable. */
#define MARK_MS		1000U
/* A log without space looks for space this often. */
#define SPACE_MS	5000U
/* A state is reported when it changes, and not more often than this. */
#define TELL_MS		10000U
/* While a frame is on its way to the disk, the loop looks for messages this often. */
#define GATHER_MS	1
/* No wait of the loop is longer. */
#define WAIT_MS		((int)LOGD_SNAPSHOT_MS)

static uint64_t wall_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_REALTIME, &t);
	return (uint64_t)t.tv_sec * 1000000000U + (uint64_t)t.tv_nsec;
}

/* ---- messages ------------------------------------------------------------------ */

/* What came behind the last message of the log is forgotten: say how much. */
static bool fall_behind(struct logd *l)
{
	struct spindle_place from;

	spindle_place(&l->q, &from);
	from.lsn = l->broken ? l->log.persisted : l->log.next;
	l->last.known = false;
	spindle_detach(&l->q);
	logd_say(l, "too slow for this history");
	if (!logd_attach(l, &from)) {
		if (l->catch.on)
			logd_say(l, "position %" PRIu64 " and those behind it come from other "
				 "nodes", from.lsn);
		return false;
	}
	/* The history has been filled again since. */
	return logd_fail(l, "position %" PRIu64 " is there again: start once more", from.lsn);
}

static bool end_reading(struct logd *l, int err)
{
	char text[256];

	if (err == -ESTALE || spindle_error_code(&l->q) == SPINDLE_ERR_BEHIND)
		return fall_behind(l);
	return logd_fail(l, "%s", spindle_call_strerror(&l->q, err, text, sizeof(text)));
}

/**
 * logd_append() - give the log a message
 * @l: the log
 * @m: the message at its next position
 *
 * Return: whether the log has taken it; otherwise it is blocked, or has failed.
 */
bool logd_append(struct logd *l, const struct spindle_dlog_msg *m)
{
	int err = spindle_dlog_append(&l->log, m, l->wall_ns);

	if (err == -EAGAIN || err == -ENOSPC)
		l->blocked = true;
	else if (err == -EIO)
		logd_fail(l, "the log has failed: %s", l->io.error);
	else if (err)
		logd_fail(l, "the log does not take position %" PRIu64 ": %s", m->lsn,
			  strerror(-err));
	return !err;
}

/* The positions up to this one belong to messages for other members. */
static bool fill(struct logd *l, uint64_t lsn)
{
	struct spindle_dlog_msg m = { .era = l->q.era, .vid = l->vid, .flags = LOGD_OTHER };

	while (l->log.next < lsn) {
		m.lsn = l->log.next;
		if (!logd_append(l, &m))
			return false;
	}
	return true;
}

/*
 * A group that has begun again with the same view and rules has the same lineage. So the last
 * message of the log is compared with the one that the history has at its position.
 */
static bool is_last(struct logd *l, const struct spindle_msg *msg)
{
	const struct logd_last *last = &l->last;

	if (last->known && msg->lsn == l->log.next - 1 && msg->slot == last->slot &&
	    msg->node == last->node && msg->len == last->len &&
	    spindle_dlog_crc(0, msg->data, msg->len) == last->crc)
		return true;
	return logd_fail(l, "position %" PRIu64 " is another message in %s: the log belongs to a "
			 "group that has ended", msg->lsn, l->path);
}

/* Return: whether the next message may follow. */
static bool take(struct logd *l, const struct spindle_msg *msg)
{
	struct spindle_dlog_msg m = {
		.lsn = msg->lsn, .era = l->q.era, .vid = l->vid, .slot = msg->slot,
		.node = msg->node, .sender = msg->sender, .len = msg->len, .data = msg->data,
	};

	if (msg->kind != SPINDLE_DLV_VIEW && msg->lsn < l->log.next)
		return is_last(l, msg);
	if (!fill(l, msg->lsn))
		return false;
	if (msg->kind == SPINDLE_DLV_VIEW) {
		l->vid = msg->slot;
		return logd_view_begins(l, msg->lsn, true, false);
	}
	if (!logd_append(l, &m))
		return false;
	/* The bytes were copied. If the history has overwritten them, they never go to disk. */
	l->broken = !spindle_intact(&l->q);
	return !l->broken || fall_behind(l);
}

/* Return: whether there are messages. */
static bool next_batch(struct logd *l)
{
	int n;

	spindle_release(&l->q);
	l->at = 0;
	l->n = 0;
	n = spindle_next_batch(&l->q, l->msg, LOGD_BATCH);
	if (n < 0)
		return end_reading(l, n);
	l->n = (unsigned int)n;
	/* Messages for other members may be the last ones that came. */
	return n || (fill(l, spindle_lsn(&l->q)) && false);
}

/**
 * logd_begin_reading() - read from here on what the log is attached to
 * @l: the log
 * @next: the history goes on where the log has ended, so that no view is missing in between
 *
 * Return: whether that was possible; a sentence says why not.
 */
bool logd_begin_reading(struct logd *l, bool next)
{
	uint64_t vid = 0, base = 0;
	int first;

	l->vid = l->q.vid;
	l->at = 0;
	l->n = 0;
	l->hung_up = false;
	l->reading = true;
	l->reported = (struct spindle_log_report){ .state = SPINDLE_LOG_NONE };
	first = spindle_log_began(&l->q, &vid, &base);
	/* The present view begins with an item, if the reader is in an earlier one. */
	if (first < 0 || l->vid < vid)
		return true;
	/* The id that all members give the view. */
	l->vid = vid;
	return logd_view_begins(l, base, next, first);
}

/**
 * logd_work() - write what has been delivered, as far as the log takes it
 * @l: the log
 */
void logd_work(struct logd *l)
{
	unsigned int budget = BUDGET;
	bool busy = false;

	/* No clock is read for each message, because that may be a system call. */
	l->wall_ns = wall_ns();
	logd_repair_work(l);
	logd_catch_work(l);
	while (l->reading && !l->blocked && budget--) {
		if (l->at == l->n && !next_batch(l))
			break;
		if (!take(l, &l->msg[l->at]))
			break;
		l->at++;
		busy = true;
	}
	if (busy)
		l->busy_ms = l->now_ms;
	if (l->reading && l->at == l->n)
		spindle_release(&l->q);
	if (!l->broken)
		spindle_dlog_commit(&l->log, l->wall_ns);
}

/* ---- the disk ------------------------------------------------------------------- */

static const char *const state_text[] = {
	[SPINDLE_DLOG_OPENING] = "is being opened",
	[SPINDLE_DLOG_RUNNING] = "has space again",
	[SPINDLE_DLOG_LOW] = "has no space for a segment behind the next one",
	[SPINDLE_DLOG_FULL] = "is full, and reads no more until there is space",
};

/* A ring is full each time it drops a segment, and this is no news as long as it can. */
static bool turns(const struct logd *l, enum spindle_dlog_state state)
{
	return l->opts->keep &&
	       (state != SPINDLE_DLOG_FULL || l->log.chore != SPINDLE_DLOG_IDLE);
}

static void tell_state(struct logd *l)
{
	enum spindle_dlog_state state = spindle_dlog_state(&l->log);
	uint64_t now = l->now_ms;
	bool bad = state == SPINDLE_DLOG_LOW || state == SPINDLE_DLOG_FULL;

	if (bad && now - l->space_ms >= SPACE_MS) {
		l->space_ms = now;
		spindle_dlog_more(&l->log);
	}
	if (turns(l, state) || state == l->told || now - l->told_ms < TELL_MS ||
	    (!bad && l->told <= SPINDLE_DLOG_RUNNING))
		return;
	logd_say(l, "the log %s", state_text[state]);
	l->told = state;
	l->told_ms = now;
}

static void op_done(void *arg, uint32_t token, int err)
{
	struct logd *l = arg;

	if (token == SPINDLE_DLOG_TOKEN_REPAIR) {
		spindle_dlog_repair_done(&l->repair.fix, err);
		return;
	}
	l->blocked = false;
	/* The writer must not write the frame with bytes that are wrong. */
	if (!l->broken)
		spindle_dlog_done(&l->log, token, err);
}

/**
 * logd_reap() - take the operations that have ended, and do what time asks for
 * @l: the log
 */
void logd_reap(struct logd *l)
{
	/* Each clock is read once in a pass, because that may be a system call. */
	l->now_ms = peer_now_ms();
	logd_port_reap(&l->io, op_done, l);
	if (l->broken)
		return;
	if (spindle_dlog_state(&l->log) == SPINDLE_DLOG_FAILED) {
		if (!l->failed)
			logd_fail(l, "the log has failed: %s", l->io.error);
		return;
	}
	tell_state(l);
	logd_snapshots_look(l);
	if (l->now_ms - l->busy_ms >= MARK_MS)
		spindle_dlog_mark(&l->log, wall_ns());
}

/**
 * logd_stop() - read no more, and write what was read
 * @l: the log
 */
void logd_stop(struct logd *l)
{
	l->reading = false;
	logd_repair_end(l);
	logd_catch_end(l);
	if (l->broken)
		return;
	spindle_dlog_commit(&l->log, wall_ns());
	spindle_dlog_mark(&l->log, wall_ns());
}

/**
 * logd_is_done() - is all that can be written on disk?
 * @l: a log that reads no more
 *
 * Return: whether there is nothing to wait for.
 */
bool logd_is_done(struct logd *l)
{
	enum spindle_dlog_state state = spindle_dlog_state(&l->log);

	if (l->broken || state == SPINDLE_DLOG_FAILED)
		return true;
	/* A ring that turns has room soon. */
	if (state == SPINDLE_DLOG_FULL)
		return l->log.chore == SPINDLE_DLOG_IDLE;
	return state != SPINDLE_DLOG_OPENING && l->log.persisted == l->log.next &&
	       l->log.told == l->log.persisted && !l->log.flying;
}

/**
 * logd_close() - say how far a log has come
 * @l: a log that is done
 *
 * Return: whether all that was read is on disk.
 */
bool logd_close(struct logd *l)
{
	uint64_t next = l->log.next;

	logd_say(l, "all below position %" PRIu64 " is on disk", l->log.persisted);
	if (!l->failed && l->log.persisted != next)
		logd_fail(l, "positions %" PRIu64 " to %" PRIu64 " are not: the log is full",
			  l->log.persisted, next - 1);
	return !l->failed;
}

/* ---- waiting --------------------------------------------------------------------- */

/*
 * Messages that come while a frame is on its way to the disk wait for its end in any case, unless
 * there are many of them. So deliveries do not wake the process until then: each wake-up costs
 * switches of processes and system calls, and would bring few messages.
 */
static bool gathers(const struct logd *l)
{
	return l->reading && !l->blocked && l->log.flying;
}

/**
 * logd_timeout() - how long may the loop sleep?
 * @l: the log
 *
 * Return: milliseconds.
 */
int logd_timeout(const struct logd *l)
{
	enum spindle_dlog_state state = spindle_dlog_state(&l->log);

	if (l->reading && !l->blocked && l->at != l->n)
		return 0;
	if (gathers(l))
		return GATHER_MS;
	if (l->log.told != l->log.persisted)
		return MARK_MS;
	return state == SPINDLE_DLOG_LOW || state == SPINDLE_DLOG_FULL ? SPACE_MS : WAIT_MS;
}

/**
 * logd_poll_set() - what the loop waits for
 * @l: the log
 * @fd: filled: the attachment, and the operations
 *
 * A log that takes no message now still wants to know that the attachment is final.
 */
void logd_poll_set(const struct logd *l, struct pollfd fd[2])
{
	fd[0] = (struct pollfd){
		.fd = l->reading && !(l->blocked && l->hung_up) ? spindle_fd(&l->q) : -1,
		.events = l->blocked || gathers(l) ? 0 : POLLIN,
	};
	fd[1] = (struct pollfd){ .fd = l->io.event, .events = POLLIN };
}

/**
 * logd_poll_get() - what the loop has waited for
 * @l: the log
 * @fd: as poll() returned it
 *
 * A log that takes no message ends when the history has overtaken it.
 */
void logd_poll_get(struct logd *l, const struct pollfd fd[2])
{
	l->io.quiet = !fd[1].revents;
	if (!(fd[0].revents & (POLLERR | POLLHUP)))
		return;
	l->hung_up = true;
	if (l->blocked && spindle_error_code(&l->q) == SPINDLE_ERR_BEHIND)
		fall_behind(l);
}
