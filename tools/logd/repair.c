// SPDX-License-Identifier: GPL-2.0-only
/*
 * Repair of damaged ranges by messages of other nodes. See repair.h.
 *
 * The ranges are those that the scan has found, one after the other. The core writes a segment once
 * more, and asks for the messages that it lacks. The peers are asked as in catch.c. A peer is
 * believed if it has the same message as the own log has near the range, because a group that has
 * begun again may have the same lineage.
 *
 * A log that ends in a damaged range is not attached until the range is repaired. Its writer runs,
 * behind the range.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "logd.h"
#include "snap.h"

/* Pauses between rounds. */
#define BACKOFF_MIN	500U
#define BACKOFF_MAX	10000U
/* The administrator hears of what is missing, at most this often. */
#define TELL_MS		10000U
/* The core may not begin yet. */
#define NAP_MS		100U
/* Segments that are read to find a witness, on each side of the range. */
#define LOOK		4U

static void *take_memory(size_t bytes)
{
	void *p = aligned_alloc(LOGD_BLOCK, (bytes + LOGD_BLOCK - 1) / LOGD_BLOCK * LOGD_BLOCK);

	if (!p) {
		ctl_err("no memory");
		exit(CTL_FAILED);
	}
	return p;
}

static void begin(struct logd *l)
{
	struct logd_repair *r = &l->repair;

	r->on = true;
	r->range = l->scan.damaged;
	r->moved_ms = peer_now_ms();
	r->backoff_ms = 0;
	r->next_ms = 0;
	if (r->ready)
		return;
	r->ready = true;
	r->fetch.client.id = &l->peers->server.id;
	r->fetch.client.conn.fd = -1;
	spindle_dlog_repair_init(&r->fix, &l->log, l->frame, take_memory(l->frame),
				 take_memory(l->frame + 2 * SPINDLE_DLOG_BLOCK_MAX));
}

/**
 * logd_repair_open() - repair what the scan has found damaged, if there are peers
 * @l: the log, whose writer has started
 */
void logd_repair_open(struct logd *l)
{
	struct logd_repair *r = &l->repair;
	uint32_t n = l->scan.n_damaged;

	if (!n || !l->peers->on)
		return;
	r->ranges = n < l->scan.max_damaged ? n : l->scan.max_damaged;
	begin(l);
}

/**
 * logd_repair_end() - repair nothing any more
 * @l: the log
 */
void logd_repair_end(struct logd *l)
{
	if (!l->repair.on)
		return;
	peer_fetch_end(&l->repair.fetch);
	l->repair.on = false;
}

/* ---- what the administrator asks for ---------------------------------------------- */

/* The file of the request goes when there is nothing more to wait for. */
static void answer(struct logd *l)
{
	l->repair.asked = false;
	if (unlinkat(l->io.dir, SPINDLE_DLOG_REPAIR_FILE, 0) && errno != ENOENT)
		logd_say(l, "cannot remove %s/" SPINDLE_DLOG_REPAIR_FILE ": %s", l->path,
			 strerror(errno));
}

/* What the disk has now. Return: whether a range from @lsn on is damaged. */
static bool find_damage(struct logd *l, uint64_t lsn, struct spindle_dlog_range *range)
{
	struct spindle_dlog_reader *in = &l->repair.fix.reader;
	struct spindle_dlog_msg m;

	if (lsn < l->log.map.low || lsn >= l->log.map.until)
		return false;
	in->window.len = 0;
	spindle_dlog_seek(in, lsn);
	if (spindle_dlog_read(in, &m) != -EUCLEAN)
		return false;
	*range = (struct spindle_dlog_range){ lsn, in->damaged.to };
	return range->to > lsn;
}

/* Return: whether the range is in the list. One that touches another one is repaired with it. */
static bool add_range(struct logd *l, const struct spindle_dlog_range *range)
{
	struct logd_repair *r = &l->repair;
	uint32_t i, at = 0;

	for (i = 0; i < r->ranges; i++) {
		if (r->range[i].from <= range->to && range->from <= r->range[i].to)
			return true;
		at += r->range[i].to < range->from;
	}
	if (r->ranges == l->scan.max_damaged)
		return false;
	for (i = r->ranges++; i > at; i--)
		r->range[i] = r->range[i - 1];
	r->range[at] = *range;
	l->scan.n_damaged++;
	return true;
}

/**
 * logd_repair_ask() - the administrator asks for a repair
 * @l: the log
 * @lsn: a position that is damaged, as somebody says
 *
 * Ranges that were given up are tried once more. A repair that waits for other nodes asks them at
 * once, and no other range comes before it ends.
 */
void logd_repair_ask(struct logd *l, uint64_t lsn)
{
	struct logd_repair *r = &l->repair;
	struct spindle_dlog_range range;

	if (r->asked || spindle_dlog_repair_waits(&r->fix))
		return;
	if (!l->peers->on) {
		logd_say(l, "position %" PRIu64 " cannot be repaired, because no other node may "
			 "be asked (option -K)", lsn);
		answer(l);
		return;
	}
	if (r->fix.step != SPINDLE_DLOG_REPAIR_IDLE && r->fix.step != SPINDLE_DLOG_REPAIR_WANT)
		return;
	begin(l);
	r->asked = true;
	if (r->fix.step == SPINDLE_DLOG_REPAIR_WANT)
		return;
	r->at = 0;
	if (find_damage(l, lsn, &range) && !add_range(l, &range))
		logd_say(l, "position %" PRIu64 " is damaged, and so are too many others", lsn);
}

/* ---- what is near a range -------------------------------------------------------- */

static void set_witness(struct logd_repair *r, const struct spindle_dlog_msg *m)
{
	/* What a peer has there may be another message, because this one was for others. */
	if (m->flags & LOGD_OTHER)
		return;
	r->witness = (struct logd_witness){
		.known = true, .lsn = m->lsn, .slot = m->slot, .node = m->node, .len = m->len,
		.crc = spindle_dlog_crc(0, m->data, m->len),
	};
}

/* Read a segment up to a position. Return: whether a message is whole. */
static bool look_before(struct logd *l, uint64_t base, uint64_t from)
{
	struct spindle_dlog_reader *in = &l->repair.fix.reader;
	struct logd_repair *r = &l->repair;
	struct spindle_dlog_msg m;
	bool found = false;
	int n = 1;

	spindle_dlog_seek(in, base > l->log.map.low ? base : l->log.map.low);
	while (in->lsn < from && (n == 1 || n == -EUCLEAN)) {
		n = spindle_dlog_read(in, &m);
		if (n != 1)
			continue;
		found = true;
		r->bounds.era = m.era;
		r->bounds.vid = m.vid;
		set_witness(r, &m);
	}
	return found;
}

static void look_behind(struct logd *l, uint64_t to)
{
	struct spindle_dlog_reader *in = &l->repair.fix.reader;
	struct logd_repair *r = &l->repair;
	uint64_t bytes = 0, most = (uint64_t)LOOK * l->log.id.segment;
	struct spindle_dlog_msg m;
	bool found = false;
	int n = 1;

	spindle_dlog_seek(in, to);
	while ((!found || !r->witness.known) && bytes < most && (n == 1 || n == -EUCLEAN)) {
		n = spindle_dlog_read(in, &m);
		bytes += n == 1 ? m.len + LOGD_BLOCK : l->log.id.segment;
		if (n != 1)
			continue;
		if (!found) {
			r->bounds.era_max = m.era;
			r->bounds.vid_max = m.vid;
		}
		found = true;
		if (!r->witness.known)
			set_witness(r, &m);
	}
}

/* Find the views that the range may be in, and a witness. */
static void look_around(struct logd *l, const struct spindle_dlog_range *range)
{
	const struct spindle_dlog_map *map = &l->log.map;
	struct logd_repair *r = &l->repair;
	uint32_t i = map->n, tries = LOOK;

	r->witness.known = false;
	r->bounds = (struct peer_want){
		.era_max = l->era, .vid_max = UINT64_MAX, .max_msg = l->max_msg,
	};
	while (i-- && tries) {
		if (map->seg[i].lsn > range->from || map->seg[i].lost)
			continue;
		tries--;
		if (look_before(l, map->seg[i].lsn, range->from))
			break;
	}
	look_behind(l, range->to);
}

/* ---- messages ---------------------------------------------------------------------- */

static int compare(struct logd_repair *r, const struct spindle_dlog_msg *m, const char **why)
{
	const struct logd_witness *w = &r->witness;

	if (m->lsn == w->lsn && m->slot == w->slot && m->node == w->node && m->len == w->len &&
	    !m->flags && spindle_dlog_crc(0, m->data, m->len) == w->crc) {
		r->checked = true;
		return 0;
	}
	*why = "it has another message there";
	return -EBADMSG;
}

/* A message that was judged, for the segment. See peer_take_fn. */
static int take(void *arg, const struct spindle_dlog_msg *m, const char **why)
{
	struct spindle_dlog_msg copy = *m;
	struct logd_repair *r = arg;
	int err;

	if (!r->checked)
		return compare(r, m, why);
	if (m->flags & LOGD_OTHER)
		copy.flags |= LOGD_FETCHED;
	/* The core takes messages again when its write has ended. */
	err = spindle_dlog_repair_waits(&r->fix) ? -EAGAIN :
	      spindle_dlog_repair_give(&r->fix, &copy);
	if (err == -EAGAIN && r->fix.step == SPINDLE_DLOG_REPAIR_FAILED)
		return -EIO;
	*why = "it does not fit into the log";
	if (!err) {
		r->moved = true;
		r->moved_ms = peer_now_ms();
	}
	return err;
}

/* ---- one peer ------------------------------------------------------------------------ */

static void begin_peer(struct logd *l, const struct logd_place *place)
{
	struct peer_fetch *f = &l->repair.fetch;

	f->subgroup = l->attach.subgroup;
	f->take = take;
	f->arg = &l->repair;
	f->want = (struct peer_want){
		.era_max = l->era, .vid_max = l->peers->vid, .max_msg = l->max_msg,
	};
	peer_fetch_begin(f, place->node,
			 peer_connect((const struct sockaddr *)&place->addr, place->len));
}

static bool is_before(uint64_t era, uint64_t vid, const struct peer_want *bounds)
{
	return era < bounds->era || (era == bounds->era && vid < bounds->vid);
}

/* Ask for the witness first, and over the next connection for what is missing. */
static void order(struct logd *l)
{
	struct logd_repair *r = &l->repair;
	struct peer_fetch *f = &r->fetch;
	uint64_t from = r->checked ? r->fix.next : r->witness.lsn;
	uint64_t stop = r->checked ? r->fix.want_to : from + 1;

	r->checks = !r->checked;
	if (r->checked) {
		f->want = r->bounds;
		if (f->want.vid_max == UINT64_MAX)
			f->want.vid_max = l->peers->vid;
		if (!is_before(r->fix.era, r->fix.vid, &r->bounds)) {
			f->want.era = r->fix.era;
			f->want.vid = r->fix.vid;
		}
	}
	if (f->status.low > from)
		peer_client_fail(&f->client, "its log begins at position %" PRIu64, f->status.low);
	else if (f->status.end <= from)
		peer_client_fail(&f->client, "its log ends at position %" PRIu64, f->status.end);
	else
		peer_fetch_read(f, from, stop);
}

static void note(struct logd_repair *r)
{
	size_t at = strlen(r->why);

	snprintf(r->why + at, sizeof(r->why) - at, "%snode %u: %s", at ? "; " : "",
		 r->fetch.client.server, r->fetch.client.why);
}

/* ---- rounds ---------------------------------------------------------------------------- */

static void say_missing(struct logd *l)
{
	struct logd_repair *r = &l->repair;

	logd_say(l, "positions %" PRIu64 " to %" PRIu64 " cannot be repaired now: %s", r->fix.next,
		 r->fix.want_to - 1, r->why);
	r->told_ms = peer_now_ms();
}

static void end_round(struct logd *l)
{
	struct logd_repair *r = &l->repair;
	uint64_t now = peer_now_ms();

	r->i = 0;
	r->backoff_ms = r->moved ? 0 : r->backoff_ms * 2;
	if (r->backoff_ms < BACKOFF_MIN)
		r->backoff_ms = BACKOFF_MIN;
	if (r->backoff_ms > BACKOFF_MAX)
		r->backoff_ms = BACKOFF_MAX;
	r->next_ms = now + r->backoff_ms;
	if (r->moved)
		return;
	if (!r->why[0])
		snprintf(r->why, sizeof(r->why), "there is no other member");
	if (r->asked || !r->told_ms || now - r->told_ms >= TELL_MS)
		say_missing(l);
	if (r->asked)
		answer(l);
	if (l->opts->wait == LOGD_FOR_EVER || now - r->moved_ms < l->opts->wait * 1000ULL)
		return;
	if (r->tail)
		logd_fail(l, "nothing has come from another node for %u seconds", l->opts->wait);
	logd_repair_end(l);
}

static void next_peer(struct logd *l)
{
	struct logd_repair *r = &l->repair;

	if (peer_now_ms() < r->next_ms)
		return;
	if (!r->i) {
		r->moved = false;
		r->why[0] = '\0';
		/* Without an answer, the members of the last round are asked. */
		logd_peers_refresh(l->peers);
	}
	/* Nothing of the own log is near, so no log can be another one. */
	r->checked = !r->witness.known;
	if (r->i < l->peers->places)
		begin_peer(l, &l->peers->place[r->i++]);
	else
		end_round(l);
}

/* A peer that has the witness is asked once more, for the messages. */
static void end_peer(struct logd *l)
{
	struct logd_repair *r = &l->repair;
	bool again = r->fetch.client.step == PEER_DONE && r->checks && r->checked;

	if (!again)
		note(r);
	peer_fetch_end(&r->fetch);
	if (again && r->i && r->i <= l->peers->places)
		begin_peer(l, &l->peers->place[r->i - 1]);
}

/* The repair waits for messages, unless the log has given them up in the meantime. */
static void fetch(struct logd *l)
{
	struct logd_repair *r = &l->repair;

	if (r->fix.want_to <= l->log.map.low) {
		peer_fetch_end(&r->fetch);
		r->fix.step = SPINDLE_DLOG_REPAIR_IDLE;
		return;
	}
	if (r->looked != r->fix.want_to) {
		look_around(l, &(struct spindle_dlog_range){ r->fix.next, r->fix.want_to });
		spindle_dlog_seek(&r->fix.reader, r->fix.want_to);
		r->looked = r->fix.want_to;
		r->next_ms = 0;
		r->i = 0;
	}
	if (r->fetch.client.step == PEER_IDLE)
		next_peer(l);
}

/* ---- ranges ------------------------------------------------------------------------------ */

static void drop_range(struct logd_repair *r)
{
	uint32_t i;

	r->ranges--;
	for (i = r->at; i < r->ranges; i++)
		r->range[i] = r->range[i + 1];
}

/* The log goes on, and the range stays damaged until the next start. */
static void give_up(struct logd *l, const char *why)
{
	struct logd_repair *r = &l->repair;
	const struct spindle_dlog_range *range = &r->range[r->at];

	logd_say(l, "positions %" PRIu64 " to %" PRIu64 " stay damaged: %s", range->from,
		 range->to - 1, why);
	r->at++;
}

static void finish(struct logd *l)
{
	struct logd_repair *r = &l->repair;
	bool whole = !r->ranges;

	logd_repair_end(l);
	if (r->asked)
		answer(l);
	if (whole)
		logd_say(l, l->scan.n_damaged ?
			 "there are more damaged ranges, which the next start repairs" :
			 "no range of the log is damaged any more");
	if (!r->tail)
		return;
	r->tail = false;
	if (l->scan.n_damaged > r->ranges ||
	    (r->ranges && r->range[r->ranges - 1].to == l->scan.next))
		logd_fail(l, "the log ends in a damaged range; option -g goes on behind it");
	else
		logd_begin_again(l);
}

/* Begin with the next range, or with what is left of it. */
static void next_range(struct logd *l)
{
	struct logd_repair *r = &l->repair;
	struct spindle_dlog_range *range;
	int err;

	while (r->at < r->ranges && r->range[r->at].to <= l->log.map.low)
		drop_range(r);
	if (r->at == r->ranges) {
		finish(l);
		return;
	}
	range = &r->range[r->at];
	if (range->from < l->log.map.low)
		range->from = l->log.map.low;
	err = spindle_dlog_repair_begin(&r->fix, range->from);
	r->looked = 0;
	if (err == -ENOSPC)
		give_up(l, "the log has no room for one more segment");
	else if (err == -ESTALE)
		give_up(l, "the log still writes to their segment");
	else if (err && err != -EAGAIN)
		give_up(l, strerror(-err));
}

/* The segment has all up to @next. */
static void end_segment(struct logd *l)
{
	struct logd_repair *r = &l->repair;
	const struct peer_want now = { .era = l->log.era, .vid = l->log.vid };
	uint64_t next = r->fix.next;

	while (r->at < r->ranges && r->range[r->at].to <= next) {
		logd_say(l, "positions %" PRIu64 " to %" PRIu64 " are whole again",
			 r->range[r->at].from, r->range[r->at].to - 1);
		drop_range(r);
		l->scan.n_damaged--;
	}
	if (r->at < r->ranges && r->range[r->at].from < next)
		r->range[r->at].from = next;
	/* What is written behind a repaired end is in no earlier view. */
	if (next == l->log.next && !is_before(r->fix.era, r->fix.vid, &now)) {
		l->log.era = r->fix.era;
		l->log.vid = r->fix.vid;
	}
	r->fix.step = SPINDLE_DLOG_REPAIR_IDLE;
}

static void end_badly(struct logd *l)
{
	struct logd_repair *r = &l->repair;
	int err = r->fix.err;

	peer_fetch_end(&r->fetch);
	r->fix.step = SPINDLE_DLOG_REPAIR_IDLE;
	/* The log was trimmed in the meantime, and the range may be shorter. */
	if (err == -ESTALE && r->begun != l->log.map.low)
		r->begun = l->log.map.low;
	else if (err == -ENOSPC)
		give_up(l, "there is no room for what was fetched");
	else
		give_up(l, strerror(-err));
}

/**
 * logd_repair_work() - repair what can be repaired without waiting
 * @l: the log
 */
void logd_repair_work(struct logd *l)
{
	struct logd_repair *r = &l->repair;

	if (!r->on || l->failed)
		return;
	peer_fetch_work(&r->fetch);
	if (r->fetch.client.step == PEER_KNOWS)
		order(l);
	if (r->fetch.client.step == PEER_DONE || r->fetch.client.step == PEER_FAILED)
		end_peer(l);
	spindle_dlog_repair_work(&r->fix);
	switch (r->fix.step) {
	case SPINDLE_DLOG_REPAIR_IDLE:
		next_range(l);
		break;
	case SPINDLE_DLOG_REPAIR_WANT:
		fetch(l);
		break;
	case SPINDLE_DLOG_REPAIR_DONE:
		end_segment(l);
		break;
	case SPINDLE_DLOG_REPAIR_FAILED:
		end_badly(l);
		break;
	default:
		break;
	}
}

static int sleep_ms(const struct logd *l)
{
	const struct logd_repair *r = &l->repair;
	uint64_t now = peer_now_ms();

	if (spindle_dlog_repair_waits(&r->fix))
		return -1;
	if (r->fix.step == SPINDLE_DLOG_REPAIR_IDLE)
		return l->log.opened && !l->log.leftovers ? 0 : (int)NAP_MS;
	if (r->fix.step != SPINDLE_DLOG_REPAIR_WANT || r->fetch.client.step == PEER_TAKES)
		return 0;
	if (r->fetch.client.step != PEER_IDLE)
		return -1;
	return r->next_ms > now ? (int)(r->next_ms - now) : 0;
}

/**
 * logd_repair_poll() - what the loop waits for
 * @l: the log
 * @fd: room for one; it stays where it is until logd_repair_work()
 * @ms: made less if the loop may not sleep so long; negative: for ever
 *
 * Return: entries of @fd that were filled.
 */
unsigned int logd_repair_poll(struct logd *l, struct pollfd *fd, int *ms)
{
	struct logd_repair *r = &l->repair;
	int left;

	if (!r->on)
		return 0;
	/* An operation of the log that ends wakes the loop, too. */
	left = sleep_ms(l);
	if (left >= 0 && (*ms < 0 || left < *ms))
		*ms = left;
	return peer_client_poll(&r->fetch.client, fd, ms);
}
