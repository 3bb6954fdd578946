// SPDX-License-Identifier: GPL-2.0-only
/* Payloads of frames, and what a record has to be. See peer.h. Nothing that came is trusted. */
#include <endian.h>
#include <string.h>

#include <linux/spindle.h>

#include "peer.h"

/* A payload that is being written or read. */
struct cursor {
	uint8_t *to;
	const uint8_t *from;
};

static void put32(struct cursor *c, uint32_t v)
{
	v = htole32(v);
	memcpy(c->to, &v, sizeof(v));
	c->to += sizeof(v);
}

static void put64(struct cursor *c, uint64_t v)
{
	v = htole64(v);
	memcpy(c->to, &v, sizeof(v));
	c->to += sizeof(v);
}

static uint32_t get32(struct cursor *c)
{
	uint32_t v;

	memcpy(&v, c->from, sizeof(v));
	c->from += sizeof(v);
	return le32toh(v);
}

static uint64_t get64(struct cursor *c)
{
	uint64_t v;

	memcpy(&v, c->from, sizeof(v));
	c->from += sizeof(v);
	return le64toh(v);
}

/**
 * peer_status_req_put() - write the payload of PEER_STATUS
 * @p: PEER_STATUS_REQ bytes
 * @r: the request
 */
void peer_status_req_put(uint8_t *p, const struct peer_status_req *r)
{
	struct cursor c = { .to = p + sizeof(r->lineage) };

	memcpy(p, r->lineage, sizeof(r->lineage));
	put64(&c, r->era);
	put32(&c, r->subgroup);
	put32(&c, 0);
}

/**
 * peer_status_req_get() - read the payload of PEER_STATUS
 * @p: the payload
 * @len: its bytes
 * @r: filled
 *
 * Return: whether it is one.
 */
bool peer_status_req_get(const uint8_t *p, uint32_t len, struct peer_status_req *r)
{
	struct cursor c = { .from = p + sizeof(r->lineage) };

	if (len != PEER_STATUS_REQ)
		return false;
	memcpy(r->lineage, p, sizeof(r->lineage));
	r->era = get64(&c);
	r->subgroup = get32(&c);
	return !get32(&c);
}

/**
 * peer_status_put() - write the payload of PEER_STATUS_IS
 * @p: PEER_STATUS_REP bytes
 * @s: the reply
 */
void peer_status_put(uint8_t *p, const struct peer_status *s)
{
	struct cursor c = { .to = p };

	put32(&c, s->code);
	put32(&c, s->damaged);
	put64(&c, s->low);
	put64(&c, s->end);
	put64(&c, s->era);
	put64(&c, s->vid);
}

/**
 * peer_status_get() - read the payload of PEER_STATUS_IS
 * @p: the payload
 * @len: its bytes
 * @s: filled
 *
 * Return: whether it is one, and not impossible.
 */
bool peer_status_get(const uint8_t *p, uint32_t len, struct peer_status *s)
{
	struct cursor c = { .from = p };

	if (len != PEER_STATUS_REP)
		return false;
	s->code = get32(&c);
	s->damaged = get32(&c);
	s->low = get64(&c);
	s->end = get64(&c);
	s->era = get64(&c);
	s->vid = get64(&c);
	return s->code < PEER_CODES && s->low <= s->end;
}

/**
 * peer_read_req_put() - write the payload of PEER_READ
 * @p: PEER_READ_REQ bytes
 * @r: the request
 */
void peer_read_req_put(uint8_t *p, const struct peer_read_req *r)
{
	struct cursor c = { .to = p };

	put64(&c, r->from);
	put32(&c, r->skip);
	put32(&c, r->max);
}

/**
 * peer_read_req_get() - read the payload of PEER_READ
 * @p: the payload
 * @len: its bytes
 * @r: filled
 *
 * Return: whether it is one.
 */
bool peer_read_req_get(const uint8_t *p, uint32_t len, struct peer_read_req *r)
{
	struct cursor c = { .from = p };

	if (len != PEER_READ_REQ)
		return false;
	r->from = get64(&c);
	r->skip = get32(&c);
	r->max = get32(&c);
	return true;
}

/**
 * peer_data_put() - write what is in front of the records of PEER_DATA
 * @p: PEER_DATA_HEAD bytes
 * @d: the reply
 */
void peer_data_put(uint8_t *p, const struct peer_data *d)
{
	struct cursor c = { .to = p };

	put32(&c, d->code);
	put32(&c, d->count);
	put64(&c, d->from);
	put64(&c, d->low);
	put64(&c, d->end);
	put64(&c, d->next);
}

/**
 * peer_data_get() - read what is in front of the records of PEER_DATA
 * @p: the payload
 * @len: its bytes
 * @d: filled
 *
 * Return: whether it is one, and not impossible.
 */
bool peer_data_get(const uint8_t *p, uint32_t len, struct peer_data *d)
{
	struct cursor c = { .from = p };

	if (len < PEER_DATA_HEAD)
		return false;
	d->code = get32(&c);
	d->count = get32(&c);
	d->from = get64(&c);
	d->low = get64(&c);
	d->end = get64(&c);
	d->next = get64(&c);
	if (d->code >= PEER_CODES || d->low > d->end)
		return false;
	if (d->code == PEER_OK ? !d->count : d->count)
		return false;
	return d->code == PEER_OK || len == PEER_DATA_HEAD;
}

/**
 * peer_record_put() - write a record
 * @p: room for PEER_RECORD bytes and the part
 * @r: the record
 *
 * Return: bytes that were written.
 */
uint32_t peer_record_put(uint8_t *p, const struct peer_record *r)
{
	const struct spindle_dlog_msg *m = &r->m;
	struct cursor c = { .to = p };

	put64(&c, m->lsn);
	put64(&c, m->era);
	put64(&c, m->vid);
	put64(&c, m->time);
	put64(&c, m->slot);
	put32(&c, m->node);
	put32(&c, m->sender);
	put32(&c, m->flags);
	put32(&c, m->len);
	put32(&c, r->skip);
	put32(&c, r->part);
	if (r->part)
		memcpy(c.to, m->data, r->part);
	return PEER_RECORD + r->part;
}

/**
 * peer_record_get() - read a record
 * @p: bytes that are left of the payload
 * @len: how many
 * @r: filled; the data are at @p
 *
 * Return: bytes of the record; 0: it is none.
 */
uint32_t peer_record_get(const uint8_t *p, uint32_t len, struct peer_record *r)
{
	struct spindle_dlog_msg *m = &r->m;
	struct cursor c = { .from = p };

	if (len < PEER_RECORD)
		return 0;
	m->lsn = get64(&c);
	m->era = get64(&c);
	m->vid = get64(&c);
	m->time = get64(&c);
	m->slot = get64(&c);
	m->node = get32(&c);
	m->sender = get32(&c);
	m->flags = get32(&c);
	m->len = get32(&c);
	r->skip = get32(&c);
	r->part = get32(&c);
	m->data = c.from;
	if (r->skip > m->len || r->part > m->len - r->skip || r->part > len - PEER_RECORD)
		return 0;
	/* A part brings something, so a reader gets to the end. */
	return r->part || !m->len ? PEER_RECORD + r->part : 0;
}

/* A position of other members says nothing else. */
static bool is_empty(const struct spindle_dlog_msg *m)
{
	return !m->len && !m->node && !m->sender && !m->slot;
}

/**
 * peer_judge() - may this message follow?
 * @want: what it has to be
 * @m: the message
 *
 * Return: NULL, or what is wrong with it.
 */
const char *peer_judge(const struct peer_want *want, const struct spindle_dlog_msg *m)
{
	if (m->lsn != want->next || m->lsn == UINT64_MAX)
		return "another position than the one that was asked for";
	if (m->era < want->era || m->era > want->era_max)
		return "a message of another era";
	if (m->era == want->era && m->vid < want->vid)
		return "a message of an earlier view";
	if (m->era == want->era_max && m->vid > want->vid_max)
		return "a message of a view that has not begun";
	if (m->len > want->max_msg)
		return "a message that is too long";
	if (m->flags & ~(LOGD_OTHER | LOGD_FETCHED))
		return "unknown flags";
	if (m->flags & LOGD_OTHER)
		return is_empty(m) ? NULL : "a message with bytes that is for others";
	if (m->flags || m->sender >= SPINDLE_MAX_MEMBERS)
		return "an impossible sender";
	return NULL;
}
