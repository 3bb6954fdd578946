// SPDX-License-Identifier: GPL-2.0-only
/* A client that fetches: the status of the peer's log, and replies. See peer.h. */
#include <stdlib.h>
#include <string.h>

#include "peer.h"

/**
 * peer_fetch_begin() - begin to speak to a peer
 * @f: the client; the id of @client, subgroup, want, take and arg are set
 * @server: id of the peer's node
 * @fd: socket, which may still connect; or a negative errno
 */
void peer_fetch_begin(struct peer_fetch *f, uint32_t server, int fd)
{
	f->status = (struct peer_status){ .code = PEER_NO_LOG };
	f->taken = 0;
	f->parted = 0;
	peer_client_begin(&f->client, server, fd, PEER_FRAME, PEER_HELLO);
}

/**
 * peer_fetch_end() - hang up, and free the memory
 * @f: the client, with or without a connection
 */
void peer_fetch_end(struct peer_fetch *f)
{
	peer_client_end(&f->client);
	free(f->part);
	f->part = NULL;
}

static void ask_status(struct peer_fetch *f)
{
	struct peer_status_req req = { .era = f->want.era_max, .subgroup = f->subgroup };

	memcpy(req.lineage, f->client.id->lineage, sizeof(req.lineage));
	peer_status_req_put(f->client.conn.out + PEER_HEAD, &req);
	peer_client_request(&f->client, PEER_STATUS, PEER_STATUS_REQ, PEER_ASKS);
}

static void take_status(struct peer_fetch *f, uint32_t len)
{
	struct peer_client *c = &f->client;

	if (!peer_status_get(c->conn.in + PEER_HEAD, len, &f->status)) {
		peer_client_fail(c, "it sends nonsense");
	} else if (f->status.code == PEER_LINEAGE) {
		peer_client_fail(c, "its log is of another lineage, or of a later era");
	} else if (f->status.code != PEER_OK) {
		peer_client_fail(c, "it has no log of this subgroup");
	} else {
		peer_conn_drop(&c->conn, f->frame);
		c->step = PEER_KNOWS;
	}
}

static void take_frame(struct peer_fetch *f)
{
	struct peer_client *c = &f->client;
	uint32_t type = 0, len = 0;

	f->frame = peer_client_frame(c, PEER_PAYLOAD, &type, &len);
	if (!f->frame)
		return;
	if (c->step == PEER_ASKS && type == PEER_STATUS_IS)
		take_status(f, len);
	else if (c->step == PEER_READS && type == PEER_DATA)
		peer_fetch_data(f, len);
	else if (c->step == PEER_FINDS && type == PEER_FOUND)
		peer_fetch_found(f, len);
	else if (c->step == PEER_LOADS && type == PEER_PIECE)
		peer_fetch_piece(f, len);
	else
		peer_client_fail(c, "it answers what was not asked");
}

/**
 * peer_fetch_work() - do what can be done without waiting
 * @f: the client
 *
 * While the own log takes messages, the peer has to wait.
 */
void peer_fetch_work(struct peer_fetch *f)
{
	if (f->client.step == PEER_TAKES)
		peer_fetch_take(f);
	if (!peer_client_work(&f->client))
		return;
	if (f->client.step == PEER_PROVED)
		ask_status(f);
	else if (f->client.step == PEER_LOADS && peer_fetch_is_slow(f))
		peer_client_fail(&f->client, "it sends its snapshot too slowly");
	else
		take_frame(f);
	if (f->client.step == PEER_TAKES)
		peer_fetch_take(f);
}
