// SPDX-License-Identifier: GPL-2.0-only
/* Payloads of frames about snapshots. See peer.h. Nothing that came is trusted. */
#include <string.h>

#include "peer.h"

static_assert(PEER_NAME == SPINDLE_DLOG_SNAP_NAME, "a name has room in a frame");

static void put_name(uint8_t *p, const char *name)
{
	memset(p, 0, PEER_NAME);
	memcpy(p, name, strnlen(name, PEER_NAME));
}

/* Return: whether there is nothing behind the end of the name. */
static bool get_name(const uint8_t *p, char *name)
{
	size_t len;

	memcpy(name, p, PEER_NAME);
	name[PEER_NAME] = '\0';
	for (len = strlen(name); len < PEER_NAME; len++)
		if (p[len])
			return false;
	return true;
}

/**
 * peer_find_put() - write the payload of PEER_FIND
 * @p: PEER_NAME bytes
 * @after: the program before; "" for the first one
 */
void peer_find_put(uint8_t *p, const char *after)
{
	put_name(p, after);
}

/**
 * peer_find_get() - read the payload of PEER_FIND
 * @p: the payload
 * @len: its bytes
 * @after: set to the program before, PEER_NAME + 1 bytes
 *
 * Return: whether it is one.
 */
bool peer_find_get(const uint8_t *p, uint32_t len, char *after)
{
	return len == PEER_NAME && get_name(p, after) &&
	       (!*after || spindle_dlog_snap_name(after));
}

/**
 * peer_offer_put() - write the payload of PEER_FOUND
 * @p: PEER_OFFER bytes
 * @o: the reply
 */
void peer_offer_put(uint8_t *p, const struct peer_offer *o)
{
	struct spindle_dlog_snapshot_disk head;

	memset(p, 0, PEER_OFFER);
	peer_put(p, o->code, 4);
	if (o->code != PEER_OK)
		return;
	put_name(p + 8, o->name);
	spindle_dlog_snapshot_build(&head, &o->st);
	memcpy(p + 8 + PEER_NAME, &head, sizeof(head));
}

/**
 * peer_offer_get() - read the payload of PEER_FOUND
 * @p: the payload
 * @len: its bytes
 * @o: filled
 *
 * Return: whether it is one, with a name that a program may have.
 */
bool peer_offer_get(const uint8_t *p, uint32_t len, struct peer_offer *o)
{
	struct spindle_dlog_snapshot_disk head;

	if (len != PEER_OFFER || peer_get(p + 4, 4))
		return false;
	o->code = (uint32_t)peer_get(p, 4);
	if (o->code != PEER_OK)
		return o->code == PEER_END;
	memcpy(&head, p + 8 + PEER_NAME, sizeof(head));
	return get_name(p + 8, o->name) && spindle_dlog_snap_name(o->name) &&
	       !spindle_dlog_snapshot_parse(&head, &o->st);
}

/**
 * peer_load_req_put() - write the payload of PEER_LOAD
 * @p: PEER_LOAD_REQ bytes
 * @r: the request
 */
void peer_load_req_put(uint8_t *p, const struct peer_load_req *r)
{
	peer_put(p, r->from, 8);
	peer_put(p + 8, r->max, 4);
	peer_put(p + 12, 0, 4);
}

/**
 * peer_load_req_get() - read the payload of PEER_LOAD
 * @p: the payload
 * @len: its bytes
 * @r: filled
 *
 * Return: whether it is one.
 */
bool peer_load_req_get(const uint8_t *p, uint32_t len, struct peer_load_req *r)
{
	if (len != PEER_LOAD_REQ || peer_get(p + 12, 4))
		return false;
	r->from = peer_get(p, 8);
	r->max = (uint32_t)peer_get(p + 8, 4);
	return true;
}

/**
 * peer_piece_put() - write what is in front of the bytes of PEER_PIECE
 * @p: PEER_PIECE_HEAD bytes
 * @d: the reply
 */
void peer_piece_put(uint8_t *p, const struct peer_piece *d)
{
	peer_put(p, d->code, 4);
	peer_put(p + 4, d->count, 4);
	peer_put(p + 8, d->from, 8);
}

/**
 * peer_piece_get() - read what is in front of the bytes of PEER_PIECE
 * @p: the payload
 * @len: its bytes
 * @d: filled
 *
 * Return: whether it is one, with bytes if it says that there are some.
 */
bool peer_piece_get(const uint8_t *p, uint32_t len, struct peer_piece *d)
{
	if (len < PEER_PIECE_HEAD)
		return false;
	d->code = (uint32_t)peer_get(p, 4);
	d->count = (uint32_t)peer_get(p + 4, 4);
	d->from = peer_get(p + 8, 8);
	if (d->code == PEER_OK ? !d->count : d->count)
		return false;
	return d->code < PEER_CODES && len - PEER_PIECE_HEAD == d->count;
}
