// SPDX-License-Identifier: GPL-2.0-only
/*
 * The messages that a client fetches. See peer.h.
 *
 * Each record is judged before the log sees it. A message that is longer than a reply comes in
 * parts, and its memory is no more than the longest message of the subgroup.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "peer.h"

/* Ask for the messages from the next position on. */
static void ask(struct peer_fetch *f)
{
	struct peer_read_req req = {
		.from = f->want.next, .skip = f->parted, .max = PEER_CHUNK,
	};

	peer_read_req_put(f->client.conn.out + PEER_HEAD, &req);
	peer_client_request(&f->client, PEER_READ, PEER_READ_REQ, PEER_READS);
}

/**
 * peer_fetch_read() - fetch messages
 * @f: a client that knows the status
 * @from: position of the first one
 * @stop: position behind the last one that is needed
 */
void peer_fetch_read(struct peer_fetch *f, uint64_t from, uint64_t stop)
{
	f->want.next = from;
	f->stop = stop;
	f->parted = 0;
	ask(f);
}

static void finish(struct peer_fetch *f)
{
	peer_client_fail(&f->client, "its log ends at position %" PRIu64, f->want.next);
	f->client.step = PEER_DONE;
}

static void no_data(struct peer_fetch *f, const struct peer_data *d)
{
	if (d->code == PEER_END)
		finish(f);
	else if (d->code == PEER_TRIMMED)
		peer_client_fail(&f->client, "its log begins at position %" PRIu64, d->low);
	else if (d->code == PEER_DAMAGED)
		peer_client_fail(&f->client, "position %" PRIu64 " is damaged in its log", d->from);
	else
		peer_client_fail(&f->client, "it sends nonsense");
}

/**
 * peer_fetch_data() - look at a reply
 * @f: the client
 * @len: bytes of the payload
 */
void peer_fetch_data(struct peer_fetch *f, uint32_t len)
{
	struct peer_data d;

	if (!peer_data_get(f->client.conn.in + PEER_HEAD, len, &d) || d.from != f->want.next) {
		peer_client_fail(&f->client, "it sends nonsense");
		return;
	}
	if (d.code != PEER_OK) {
		no_data(f, &d);
		return;
	}
	f->at = PEER_HEAD + PEER_DATA_HEAD;
	f->end = PEER_HEAD + len;
	f->left = d.count;
	f->client.step = PEER_TAKES;
}

/* Return: whether the message was taken, or is the last one that may come. */
static bool deliver(struct peer_fetch *f, const struct spindle_dlog_msg *m)
{
	const char *why = "it is not what the log has";
	int err = f->take(f->arg, m, &why);

	if (err == -EAGAIN)
		return false;
	if (err == -EBADMSG) {
		peer_client_fail(&f->client, "position %" PRIu64 ": %s", m->lsn, why);
	} else if (err) {
		peer_client_fail(&f->client, "the own log takes no more");
	} else {
		f->want.era = m->era;
		f->want.vid = m->vid;
		f->want.next++;
		f->taken++;
	}
	return true;
}

static bool same_shape(const struct spindle_dlog_msg *a, const struct spindle_dlog_msg *b)
{
	return a->lsn == b->lsn && a->era == b->era && a->vid == b->vid && a->slot == b->slot &&
	       a->node == b->node && a->sender == b->sender && a->flags == b->flags &&
	       a->len == b->len;
}

/* Add a part. Return: NULL, or what is wrong with it. */
static const char *add_part(struct peer_fetch *f, const struct peer_record *rec)
{
	if (rec->skip != f->parted || f->left != 1)
		return "a part that does not follow";
	if (!f->parted) {
		free(f->part);
		f->part = malloc(rec->m.len);
		f->shape = rec->m;
		f->shape.data = f->part;
	}
	if (!f->part)
		return "no memory";
	if (!same_shape(&f->shape, &rec->m))
		return "a part of another message";
	memcpy(f->part + f->parted, rec->m.data, rec->part);
	f->parted += rec->part;
	return NULL;
}

/* Return: whether to go on at once. */
static bool deliver_parts(struct peer_fetch *f)
{
	if (!deliver(f, &f->shape))
		return false;
	free(f->part);
	f->part = NULL;
	f->parted = 0;
	return true;
}

/* Return: whether to go on at once. */
static bool take_record(struct peer_fetch *f)
{
	struct peer_record rec;
	uint32_t n = peer_record_get(f->client.conn.in + f->at, f->end - f->at, &rec);
	const char *why = n ? peer_judge(&f->want, &rec.m) : "no record";
	bool whole = n && rec.part == rec.m.len;

	if (!why && whole && f->parted)
		why = "a part that does not follow";
	if (!why && !whole)
		why = add_part(f, &rec);
	if (why) {
		peer_client_fail(&f->client, "position %" PRIu64 ": %s", f->want.next, why);
		return false;
	}
	if (whole && !deliver(f, &rec.m))
		return false;
	f->at += n;
	f->left--;
	return true;
}

static bool is_assembled(const struct peer_fetch *f)
{
	return f->part && f->parted == f->shape.len;
}

static void end_of_reply(struct peer_fetch *f)
{
	if (f->at != f->end) {
		peer_client_fail(&f->client, "there are bytes behind its records");
		return;
	}
	peer_conn_drop(&f->client.conn, f->frame);
	ask(f);
}

/**
 * peer_fetch_take() - give the log the messages that have come
 * @f: a client in PEER_TAKES
 *
 * A message that the log does not take now is given to it once more by the next call.
 */
void peer_fetch_take(struct peer_fetch *f)
{
	bool more = true;

	while (more && f->client.step == PEER_TAKES) {
		if (is_assembled(f))
			more = deliver_parts(f);
		else if (f->want.next >= f->stop)
			finish(f);
		else if (f->left)
			more = take_record(f);
		else
			end_of_reply(f);
	}
}
