// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client that fetches snapshots. See peer.h.
 *
 * The peer names its programs in order, so it cannot name more than there are names. Whether a
 * snapshot is wanted, and where its bytes go, is a matter of the caller.
 */
#include <inttypes.h>
#include <string.h>

#include "peer.h"

/**
 * peer_fetch_find() - ask for the newest snapshot of the next program
 * @f: a client that knows the status
 * @after: the program before; "" for the first one
 *
 * The client is in PEER_KNOWS again when the answer is in @f->offer.
 */
void peer_fetch_find(struct peer_fetch *f, const char *after)
{
	if (after != f->offer.name)
		strcpy(f->offer.name, after);
	peer_find_put(f->client.conn.out + PEER_HEAD, after);
	peer_client_request(&f->client, PEER_FIND, PEER_NAME, PEER_FINDS);
}

/**
 * peer_fetch_found() - look at a snapshot that the peer has found
 * @f: the client
 * @len: bytes of the payload
 */
void peer_fetch_found(struct peer_fetch *f, uint32_t len)
{
	struct peer_client *c = &f->client;
	struct peer_offer o = { .name = "" };

	if (!peer_offer_get(c->conn.in + PEER_HEAD, len, &o) ||
	    (o.code == PEER_OK && strcmp(o.name, f->offer.name) <= 0)) {
		peer_client_fail(c, "it sends nonsense");
		return;
	}
	peer_conn_drop(&c->conn, f->frame);
	f->offer = o;
	c->step = PEER_KNOWS;
}

/* Ask for the next bytes, or be done. */
static void go_on(struct peer_fetch *f)
{
	uint64_t left = f->offer.st.bytes - f->loaded;
	struct peer_load_req req = {
		.from = f->loaded, .max = left < PEER_CHUNK ? (uint32_t)left : PEER_CHUNK,
	};

	if (!left) {
		f->client.step = PEER_KNOWS;
		return;
	}
	peer_load_req_put(f->client.conn.out + PEER_HEAD, &req);
	peer_client_request(&f->client, PEER_LOAD, PEER_LOAD_REQ, PEER_LOADS);
}

/**
 * peer_fetch_load() - fetch the state in the snapshot that was found last
 * @f: a client that knows the status
 *
 * The bytes go to @f->put. The client is in PEER_KNOWS again when all have come.
 */
void peer_fetch_load(struct peer_fetch *f)
{
	f->loaded = 0;
	f->load_ms = peer_now_ms();
	go_on(f);
}

/**
 * peer_fetch_piece() - take bytes of a state
 * @f: the client
 * @len: bytes of the payload
 */
void peer_fetch_piece(struct peer_fetch *f, uint32_t len)
{
	struct peer_client *c = &f->client;
	const uint8_t *p = c->conn.in + PEER_HEAD;
	struct peer_piece d;

	if (!peer_piece_get(p, len, &d) || d.from != f->loaded ||
	    d.count > f->offer.st.bytes - f->loaded) {
		peer_client_fail(c, "it sends nonsense");
		return;
	}
	if (d.code != PEER_OK) {
		peer_client_fail(c, "it cannot read its snapshot");
		return;
	}
	if (f->put(f->arg, p + PEER_PIECE_HEAD, d.count)) {
		peer_client_fail(c, "its snapshot cannot be written here");
		return;
	}
	f->loaded += d.count;
	peer_conn_drop(&c->conn, f->frame);
	go_on(f);
}

/**
 * peer_fetch_is_slow() - does a state come so slowly that another peer has to be asked?
 * @f: a client in PEER_LOADS
 *
 * A peer that sends a byte now and then would hold up the log for ever.
 *
 * Return: whether it does.
 */
bool peer_fetch_is_slow(const struct peer_fetch *f)
{
	return peer_now_ms() - f->load_ms > PEER_QUIET_MS + f->loaded * 1000 / PEER_PACE;
}
