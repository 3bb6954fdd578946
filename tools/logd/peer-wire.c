// SPDX-License-Identifier: GPL-2.0-only
/*
 * Proofs and MACs of a connection. See peer.h.
 *
 * All keys come from the key of the group by HMAC-SHA256 with a label for each purpose. What a
 * proof covers has both nonces, both nodes, the lineage and the version, so a proof of one
 * connection, side or group is worth nothing elsewhere.
 */
#include <errno.h>
#include <string.h>

#include <nettle/hmac.h>
#include <nettle/memops.h>

#include "peer.h"

static_assert(PEER_MAC == SHA256_DIGEST_SIZE, "a MAC is that of SHA-256");

/* What the proofs and the keys of a connection are made of. */
struct transcript {
	uint8_t byte[28 + 2 * PEER_NONCE];
};

/**
 * peer_put() - write a number, little-endian
 * @p: room
 * @v: the number
 * @bytes: how many of its bytes, the lowest first
 */
void peer_put(uint8_t *p, uint64_t v, unsigned int bytes)
{
	for (; bytes--; v >>= 8)
		*p++ = (uint8_t)v;
}

/**
 * peer_get() - read a number, little-endian
 * @p: its bytes
 * @bytes: how many, at most 8
 *
 * Return: the number.
 */
uint64_t peer_get(const uint8_t *p, unsigned int bytes)
{
	uint64_t v = 0;

	while (bytes--)
		v = v << 8 | p[bytes];
	return v;
}

static void mac(uint8_t *out, const uint8_t *key, size_t key_len, const char *label,
		const uint8_t *data, size_t len)
{
	struct hmac_sha256_ctx h;

	hmac_sha256_set_key(&h, key_len, key);
	/* The zero behind the label ends it. */
	hmac_sha256_update(&h, strlen(label) + 1, (const uint8_t *)label);
	hmac_sha256_update(&h, len, data);
	hmac_sha256_digest(&h, PEER_MAC, out);
	explicit_bzero(&h, sizeof(h));
}

/**
 * peer_key() - make the key of this service of the key of the group
 * @id: gets the key, and the mode
 * @key: the key of the group
 * @len: its bytes; 0: there is none
 */
void peer_key(struct peer_id *id, const void *key, size_t len)
{
	id->mode = len ? 1 : 0;
	mac(id->key, key, len, "spindle-logd peers", NULL, 0);
}

/* The first 28 bytes of a hello, behind the magic, and the nonces. */
static void transcribe(struct transcript *t, const uint8_t *hello, const uint8_t *server_nonce)
{
	memcpy(t->byte, hello + 4, 28);
	memcpy(t->byte + 28, server_nonce, PEER_NONCE);
	memcpy(t->byte + 28 + PEER_NONCE, hello + 32, PEER_NONCE);
}

static void derive(struct peer_session *s, const uint8_t *key, const struct transcript *t)
{
	mac(s->proof, key, PEER_MAC, "proof of the server", t->byte, sizeof(t->byte));
	mac(s->up.key, key, PEER_MAC, "frames of the client", t->byte, sizeof(t->byte));
	mac(s->down.key, key, PEER_MAC, "frames of the server", t->byte, sizeof(t->byte));
	s->up.count = 0;
	s->down.count = 0;
}

/**
 * peer_hello_build() - the first words of a client
 * @buf: PEER_HELLO bytes
 * @me: the client
 * @server: id of the node that it wants to speak to
 * @server_nonce: nonce that came
 * @nonce: nonce of the client
 * @s: gets the keys
 */
void peer_hello_build(uint8_t *buf, const struct peer_id *me, uint32_t server,
		      const uint8_t *server_nonce, const uint8_t *nonce, struct peer_session *s)
{
	struct transcript t;

	peer_put(buf, PEER_MAGIC, 4);
	peer_put(buf + 4, PEER_VERSION, 2);
	peer_put(buf + 6, me->mode, 2);
	peer_put(buf + 8, me->node, 4);
	peer_put(buf + 12, server, 4);
	memcpy(buf + 16, me->lineage, 16);
	memcpy(buf + 32, nonce, PEER_NONCE);
	transcribe(&t, buf, server_nonce);
	mac(buf + 64, me->key, PEER_MAC, "proof of the client", t.byte, sizeof(t.byte));
	s->client = me->node;
	derive(s, me->key, &t);
}

/* Is the node of the group, or of the one that a forced restart has left? */
static bool is_of_group(const struct peer_id *me, const uint8_t *lineage, bool *former)
{
	*former = me->has_former && !memcmp(lineage, me->former, sizeof(me->former));
	return *former || !memcmp(lineage, me->lineage, sizeof(me->lineage));
}

/**
 * peer_hello_check() - does a hello come from a member of the group, and is it for this node?
 * @buf: PEER_HELLO bytes
 * @me: the server
 * @nonce: nonce that the server has sent
 * @s: gets the keys
 *
 * Return: whether it does.
 */
bool peer_hello_check(const uint8_t *buf, const struct peer_id *me, const uint8_t *nonce,
		      struct peer_session *s)
{
	uint8_t proof[PEER_MAC];
	struct transcript t;

	transcribe(&t, buf, nonce);
	mac(proof, me->key, PEER_MAC, "proof of the client", t.byte, sizeof(t.byte));
	if (!peer_equal(proof, buf + 64) || peer_get(buf, 4) != PEER_MAGIC ||
	    peer_get(buf + 4, 2) != PEER_VERSION || peer_get(buf + 6, 2) != me->mode ||
	    peer_get(buf + 12, 4) != me->node || !is_of_group(me, buf + 16, &s->former))
		return false;
	s->client = (uint32_t)peer_get(buf + 8, 4);
	derive(s, me->key, &t);
	return s->client != me->node;
}

/**
 * peer_equal() - compare two MACs, in a time that says nothing about them
 * @a: PEER_MAC bytes
 * @b: PEER_MAC bytes
 *
 * Return: whether they are equal.
 */
bool peer_equal(const uint8_t *a, const uint8_t *b)
{
	return memeql_sec(a, b, PEER_MAC);
}

/* The MAC of a frame, whose number is in no frame. */
static void seal(struct peer_way *way, const uint8_t *buf, uint32_t len, uint8_t *out)
{
	struct hmac_sha256_ctx h;
	uint8_t count[8];

	peer_put(count, way->count, sizeof(count));
	hmac_sha256_set_key(&h, PEER_MAC, way->key);
	hmac_sha256_update(&h, sizeof(count), count);
	hmac_sha256_update(&h, len, buf);
	hmac_sha256_digest(&h, PEER_MAC, out);
	explicit_bzero(&h, sizeof(h));
}

/**
 * peer_seal() - make a frame of a payload
 * @way: the direction
 * @buf: PEER_HEAD bytes, the payload, and room for PEER_MAC bytes
 * @type: enum peer_type
 * @len: bytes of the payload
 *
 * Return: bytes of the frame.
 */
uint32_t peer_seal(struct peer_way *way, uint8_t *buf, uint32_t type, uint32_t len)
{
	peer_put(buf, len, 4);
	peer_put(buf + 4, type, 4);
	seal(way, buf, PEER_HEAD + len, buf + PEER_HEAD + len);
	way->count++;
	return PEER_HEAD + len + PEER_MAC;
}

/**
 * peer_unseal() - check a frame
 * @way: the direction
 * @buf: bytes that came
 * @have: how many
 * @max: bytes of the longest payload
 * @type: set to its enum peer_type
 * @len: set to the bytes of its payload, which is behind PEER_HEAD bytes
 *
 * Return: bytes of the frame; 0: it is not there yet; -EBADMSG: it is none, or its MAC is wrong.
 */
int peer_unseal(struct peer_way *way, const uint8_t *buf, uint32_t have, uint32_t max,
		uint32_t *type, uint32_t *len)
{
	uint8_t want[PEER_MAC];

	if (have < PEER_HEAD)
		return 0;
	*len = (uint32_t)peer_get(buf, 4);
	*type = (uint32_t)peer_get(buf + 4, 4);
	if (*len > max)
		return -EBADMSG;
	if (have < PEER_HEAD + *len + PEER_MAC)
		return 0;
	seal(way, buf, PEER_HEAD + *len, want);
	if (!peer_equal(want, buf + PEER_HEAD + *len))
		return -EBADMSG;
	way->count++;
	return (int)(PEER_HEAD + *len + PEER_MAC);
}
