// SPDX-License-Identifier: GPL-2.0-only
/*
 * A log catches up: it fetches from other nodes what the history has forgotten. See peers.h.
 *
 * The peers are asked one after the other. A round ends when all were asked. A round that brought
 * nothing is followed by a pause, which grows. The log attaches to the history when its end is
 * there, and the history may have moved on by then.
 *
 * If no peer has what follows the log any more, a snapshot takes its place: the log goes on where
 * the logs of the others begin. And a log that does not begin with position 0 gets the snapshots
 * that it lacks before it attaches. See load.c.
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
		.on = true, .own = true, .trusted = !l->last.known, .oldest = oldest,
		.moved_ms = peer_now_ms(), .fetch = { .client.id = &l->peers->server.id },
		.load = { .done = c->load.done, .fd = -1 },
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
	logd_load_end(l);
	logd_progress_end(&l->progress);
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
	l->catch.own = false;
	l->catch.moved_ms = peer_now_ms();
	return 0;
}

/* ---- one peer ------------------------------------------------------------------ */

static void begin_peer(struct logd *l, const struct logd_place *place)
{
	struct peer_fetch *f = &l->catch.fetch;

	f->subgroup = l->attach.subgroup;
	f->take = take;
	f->put = logd_load_put;
	f->arg = l;
	f->want = (struct peer_want){
		.era = l->log.era, .era_max = l->era, .vid_max = l->peers->vid,
		.max_msg = l->max_msg,
	};
	peer_fetch_begin(f, place->node,
			 peer_connect((const struct sockaddr *)&place->addr, place->len));
}

/* The peer has lost what follows the log, or has never had it. */
static void begins_behind(struct logd *l)
{
	const struct peer_status *st = &l->catch.fetch.status;
	struct logd_catch *c = &l->catch;

	peer_client_fail(&c->fetch.client, "its log begins at position %" PRIu64, st->low);
	if (st->low <= l->log.next)
		return;
	c->behind++;
	/* A log without a message has nothing to go on with. */
	if (st->low < st->end && st->low < c->least)
		c->least = st->low;
}

/* The first message is the last one of the log, which is compared. */
static void order(struct logd *l)
{
	struct peer_fetch *f = &l->catch.fetch;
	uint64_t from = l->log.next - l->last.known;

	if (l->catch.load.step != LOGD_LOAD_OFF)
		logd_load_order(l);
	else if (f->status.low > from)
		begins_behind(l);
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

	/* A program looks for its snapshot when the log is attached. */
	if (logd_load_begin(l, l->log.map.low))
		return false;
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
	/* The history has compared the end, and views are missing only behind a fetched one. */
	if (!logd_begin_reading(l, c->own && l->last.known))
		return false;
	logd_say(l, "goes on with the history at position %" PRIu64, l->log.next);
	return true;
}

/* ---- snapshots ------------------------------------------------------------------ */

/* A snapshot has taken the place of what nobody has any more. */
static void skip(struct logd *l)
{
	struct logd_catch *c = &l->catch;
	uint64_t from = l->log.next, to = c->skip;

	c->skip = 0;
	/* Frames in flight: the next round comes to this again. */
	if (spindle_dlog_skip(&l->log, to))
		return;
	l->last.known = false;
	c->trusted = true;
	c->own = false;
	c->next_ms = 0;
	c->moved_ms = peer_now_ms();
	logd_say(l, "positions %" PRIu64 " to %" PRIu64 " are in no log any more, and a snapshot "
		 "has what came of them", from, to - 1);
}

/* ---- rounds --------------------------------------------------------------------- */

static void give_up(struct logd *l)
{
	say_missing(l, l->catch.why);
	logd_fail(l, "nothing has come from another node for %u seconds", l->opts->wait);
	logd_catch_end(l);
}

/*
 * All other members have logs that begin behind the end of this one. So nobody has what is between,
 * and a snapshot has to take its place. Return: whether the peers are asked for one, or the log has
 * moved on.
 */
static bool may_skip(struct logd *l)
{
	struct logd_catch *c = &l->catch;

	if (!l->role || !c->behind || c->behind != l->peers->places)
		return false;
	c->skip = c->least < c->oldest ? c->least : c->oldest;
	c->load.done = false;
	if (!logd_load_begin(l, c->skip))
		skip(l);
	else
		c->next_ms = 0;
	return true;
}

/* Nothing has come in this round: give up, or say what is missing now and then. */
static void wait_on(struct logd *l)
{
	struct logd_catch *c = &l->catch;
	uint64_t now = peer_now_ms();

	if (l->opts->wait != LOGD_FOR_EVER && now - c->moved_ms >= l->opts->wait * 1000ULL) {
		give_up(l);
	} else if (!c->told_ms || now - c->told_ms >= TELL_MS) {
		say_missing(l, c->why);
		c->told_ms = now;
	}
}

/* The peers were asked for snapshots. The next round is about messages. */
static void end_load(struct logd *l, bool found)
{
	struct logd_catch *c = &l->catch;
	bool skips = c->skip;

	c->i = 0;
	c->next_ms = peer_now_ms() + (skips ? c->backoff_ms : 0);
	if (skips && logd_load_covers(l))
		skip(l);
	else if (skips)
		wait_on(l);
	else if (!found)
		logd_say(l, "the log begins with position %" PRIu64 ", and a program may lack a "
			 "snapshot: %s", l->log.map.low, c->why);
	c->skip = 0;
}

/* Return: whether the round was about snapshots. */
static bool end_load_round(struct logd *l)
{
	struct logd_catch *c = &l->catch;

	if (c->load.step == LOGD_LOAD_OFF)
		return false;
	if (logd_load_end_round(l))
		end_load(l, false);
	else
		c->next_ms = peer_now_ms() + BACKOFF_MIN;
	return true;
}

static void end_round(struct logd *l)
{
	struct logd_catch *c = &l->catch;
	bool moved = l->log.next != c->begun;

	c->i = 0;
	if (!c->why[0])
		snprintf(c->why, sizeof(c->why), "there is no other member");
	if (end_load_round(l))
		return;
	c->backoff_ms = moved ? 0 : c->backoff_ms * 2;
	if (c->backoff_ms < BACKOFF_MIN)
		c->backoff_ms = BACKOFF_MIN;
	if (c->backoff_ms > BACKOFF_MAX)
		c->backoff_ms = BACKOFF_MAX;
	c->next_ms = peer_now_ms() + c->backoff_ms;
	if (!moved && !may_skip(l))
		wait_on(l);
}

/* Return: whether the peers are to be asked. */
static bool begin_round(struct logd *l)
{
	struct logd_catch *c = &l->catch;

	/* This also tells how far the history is now, and whether the node is still there. */
	if (c->load.step == LOGD_LOAD_OFF && (resume(l) || l->failed))
		return false;
	c->begun = l->log.next;
	if (!c->first)
		c->first = l->log.next;
	c->why[0] = '\0';
	c->behind = 0;
	c->least = UINT64_MAX;
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
	bool loads = c->load.step != LOGD_LOAD_OFF, enough = loads && logd_load_end_peer(l);

	note(c);
	peer_fetch_end(&c->fetch);
	if (enough)
		end_load(l, true);
	if (loads)
		return;
	if (l->log.next >= c->oldest && c->trusted && !l->failed && !resume(l))
		c->i = 0;
}

static void tell(struct logd *l)
{
	const struct logd_catch *c = &l->catch;
	uint32_t step = c->fetch.client.step;

	if (step == PEER_LOADS)
		logd_progress(&l->progress, "fetches a snapshot", c->load.bytes,
			      c->fetch.offer.st.bytes);
	else if (step == PEER_READS && c->oldest > c->first)
		logd_progress(&l->progress, "fetches messages", l->log.next - c->first,
			      c->oldest - c->first);
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
	tell(l);
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
