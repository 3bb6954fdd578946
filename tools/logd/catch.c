// SPDX-License-Identifier: GPL-2.0-only
/*
 * A log catches up: it fetches from other nodes what the history has forgotten. See peers.h.
 *
 * The peers are asked one after the other. A round ends when all were asked. A round that brought
 * nothing is followed by a pause, which grows. The log attaches to the history when its end is
 * there, and the history may have moved on by then.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "logd.h"

/* Pauses between rounds. */
#define BACKOFF_MIN	500U
#define BACKOFF_MAX	10000U
/* The administrator hears of what is missing, at most this often. */
#define TELL_MS		10000U

static void say_missing(struct logd *l, const char *why)
{
	const struct logd_catch *c = &l->catch;

	if (l->log.next < c->oldest)
		logd_say(l, "positions %" PRIu64 " to %" PRIu64 " are missing: %s", l->log.next,
			 c->oldest - 1, why);
	else
		logd_say(l, "position %" PRIu64 " cannot be compared: %s", l->log.next - 1, why);
}

/**
 * logd_catch_up() - may the log get from other nodes what the history has forgotten?
 * @l: the log
 * @oldest: position of the oldest message of the history
 *
 * Return: whether it tries that.
 */
bool logd_catch_up(struct logd *l, uint64_t oldest)
{
	struct logd_catch *c = &l->catch;

	if (!l->peers || !l->peers->on || l->broken)
		return false;
	c->oldest = oldest;
	if (c->on)
		return true;
	*c = (struct logd_catch){
		.on = true, .trusted = !l->last.known, .oldest = oldest,
		.moved_ms = peer_now_ms(), .fetch = { .client.id = &l->peers->server.id },
	};
	c->fetch.client.conn.fd = -1;
	l->reading = false;
	return true;
}

/**
 * logd_catch_end() - do not catch up any more
 * @l: the log
 */
void logd_catch_end(struct logd *l)
{
	if (!l->catch.on)
		return;
	peer_fetch_end(&l->catch.fetch);
	l->catch.on = false;
}

/* ---- messages ----------------------------------------------------------------- */

static int compare(struct logd *l, const struct spindle_dlog_msg *m, const char **why)
{
	const struct logd_last *last = &l->last;

	if (last->known && m->lsn == l->log.next - 1 && m->slot == last->slot &&
	    m->node == last->node && m->len == last->len && !m->flags &&
	    spindle_dlog_crc(0, m->data, m->len) == last->crc) {
		l->catch.trusted = true;
		return 0;
	}
	*why = "it has another message there: one log belongs to a group that has ended";
	return -EBADMSG;
}

/* A message that was judged, for the log. See peer_take_fn. */
static int take(void *arg, const struct spindle_dlog_msg *m, const char **why)
{
	struct spindle_dlog_msg copy = *m;
	struct logd *l = arg;

	if (m->lsn < l->log.next)
		return compare(l, m, why);
	if (l->blocked)
		return -EAGAIN;
	*why = "a message of an earlier view than the one before";
	if (m->era < l->log.era || (m->era == l->log.era && m->vid < l->log.vid))
		return -EBADMSG;
	/* What was not for the peer may have been for this node. */
	if (m->flags & LOGD_OTHER)
		copy.flags |= LOGD_FETCHED;
	if (!logd_append(l, &copy))
		return l->blocked ? -EAGAIN : -EIO;
	l->last = (struct logd_last){
		.known = !m->flags, .node = m->node, .slot = m->slot, .len = m->len,
		.crc = spindle_dlog_crc(0, m->data, m->len),
	};
	l->catch.moved_ms = peer_now_ms();
	return 0;
}

/* ---- one peer ------------------------------------------------------------------ */

static void begin_peer(struct logd *l, const struct logd_place *place)
{
	struct peer_fetch *f = &l->catch.fetch;

	f->subgroup = l->attach.subgroup;
	f->take = take;
	f->arg = l;
	f->want = (struct peer_want){
		.era = l->log.era, .era_max = l->era, .vid_max = l->peers->vid,
		.max_msg = l->max_msg,
	};
	peer_fetch_begin(f, place->node,
			 peer_connect((const struct sockaddr *)&place->addr, place->len));
}

/* The first message is the last one of the log, which is compared. */
static void order(struct logd *l)
{
	struct peer_fetch *f = &l->catch.fetch;
	uint64_t from = l->log.next - l->last.known;

	if (f->status.low > from)
		peer_client_fail(&f->client, "its log begins at position %" PRIu64, f->status.low);
	else if (f->status.end <= from)
		peer_client_fail(&f->client, "its log ends at position %" PRIu64, f->status.end);
	else
		peer_fetch_read(f, from, l->catch.oldest + 1);
}

static void note(struct logd_catch *c)
{
	size_t at = strlen(c->why);

	snprintf(c->why + at, sizeof(c->why) - at, "%snode %u: %s", at ? "; " : "",
		 c->fetch.client.server, c->fetch.client.why);
}

/* Attach where the log ends. Return: whether the log reads the history now. */
static bool resume(struct logd *l)
{
	struct spindle_place from = { .lsn = l->log.next, .era = l->era };
	const struct logd_last was = l->last;
	struct logd_catch *c = &l->catch;

	/* With a peer that has agreed, the history need not have the last message as well. */
	if (c->trusted && l->log.next <= c->oldest)
		l->last.known = false;
	/* The kernel keeps what is not on disk only from the attachment on. */
	if (l->role && l->log.persisted != l->log.next)
		return false;
	from.lsn -= l->last.known;
	memcpy(from.lineage, l->log.id.lineage, sizeof(from.lineage));
	if (!logd_attach(l, &from)) {
		l->last = was;
		return false;
	}
	logd_catch_end(l);
	if (!logd_begin_reading(l, false))
		return false;
	logd_say(l, "goes on with the history at position %" PRIu64, l->log.next);
	return true;
}

/* ---- rounds --------------------------------------------------------------------- */

static void give_up(struct logd *l)
{
	say_missing(l, l->catch.why);
	logd_fail(l, "nothing has come from another node for %u seconds", l->opts->wait);
	logd_catch_end(l);
}

static void end_round(struct logd *l)
{
	struct logd_catch *c = &l->catch;
	uint64_t now = peer_now_ms();
	bool moved = l->log.next != c->begun;

	c->i = 0;
	c->backoff_ms = moved ? 0 : c->backoff_ms * 2;
	if (c->backoff_ms < BACKOFF_MIN)
		c->backoff_ms = BACKOFF_MIN;
	if (c->backoff_ms > BACKOFF_MAX)
		c->backoff_ms = BACKOFF_MAX;
	c->next_ms = now + c->backoff_ms;
	if (moved)
		return;
	if (!c->why[0])
		snprintf(c->why, sizeof(c->why), "there is no other member");
	if (l->opts->wait != LOGD_FOR_EVER && now - c->moved_ms >= l->opts->wait * 1000ULL) {
		give_up(l);
	} else if (!c->told_ms || now - c->told_ms >= TELL_MS) {
		say_missing(l, c->why);
		c->told_ms = now;
	}
}

/* Return: whether the peers are to be asked. */
static bool begin_round(struct logd *l)
{
	struct logd_catch *c = &l->catch;

	/* This also tells how far the history is now, and whether the node is still there. */
	if (resume(l) || l->failed)
		return false;
	c->begun = l->log.next;
	c->why[0] = '\0';
	/* Without an answer, the members of the last round are asked. */
	logd_peers_refresh(l->peers);
	return true;
}

static void next_peer(struct logd *l)
{
	struct logd_catch *c = &l->catch;

	if (peer_now_ms() < c->next_ms || spindle_dlog_state(&l->log) == SPINDLE_DLOG_OPENING)
		return;
	if (!c->i && !begin_round(l))
		return;
	if (c->i < l->peers->places)
		begin_peer(l, &l->peers->place[c->i++]);
	else
		end_round(l);
}

static void end_peer(struct logd *l)
{
	struct logd_catch *c = &l->catch;

	note(c);
	peer_fetch_end(&c->fetch);
	if (l->log.next >= c->oldest && c->trusted && !l->failed && !resume(l))
		c->i = 0;
}

/**
 * logd_catch_work() - fetch what can be fetched without waiting
 * @l: the log
 */
void logd_catch_work(struct logd *l)
{
	struct logd_catch *c = &l->catch;

	if (!c->on || l->failed)
		return;
	peer_fetch_work(&c->fetch);
	if (c->fetch.client.step == PEER_KNOWS)
		order(l);
	if (c->fetch.client.step == PEER_DONE || c->fetch.client.step == PEER_FAILED)
		end_peer(l);
	if (c->on && c->fetch.client.step == PEER_IDLE)
		next_peer(l);
}

/**
 * logd_catch_poll() - what the loop waits for
 * @l: the log
 * @fd: room for one; it stays where it is until logd_catch_work()
 * @ms: made less if the loop may not sleep so long; negative: for ever
 *
 * Return: entries of @fd that were filled.
 */
unsigned int logd_catch_poll(struct logd *l, struct pollfd *fd, int *ms)
{
	struct logd_catch *c = &l->catch;
	uint64_t now = peer_now_ms();
	int left = -1;

	if (!c->on)
		return 0;
	/* An operation of the log that ends wakes the loop, too. */
	if (c->fetch.client.step == PEER_IDLE &&
	    spindle_dlog_state(&l->log) != SPINDLE_DLOG_OPENING)
		left = c->next_ms > now ? (int)(c->next_ms - now) : 0;
	else if (c->fetch.client.step == PEER_TAKES && !l->blocked)
		left = 0;
	if (left >= 0 && (*ms < 0 || left < *ms))
		*ms = left;
	return peer_client_poll(&c->fetch.client, fd, ms);
}
