// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client side: the connection, the proofs, and the status. See peer.h.
 *
 * The client knows nothing of times between attempts, and does not choose the peer.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "peer.h"

/**
 * peer_fetch_begin() - begin to speak to a peer
 * @f: the client; id, subgroup, want, take and arg are set
 * @server: id of the peer's node
 * @fd: socket, which may still connect; or a negative errno
 */
void peer_fetch_begin(struct peer_fetch *f, uint32_t server, int fd)
{
	f->server = server;
	f->status = (struct peer_status){ .code = PEER_NO_LOG };
	f->taken = 0;
	f->parted = 0;
	f->why[0] = '\0';
	f->conn = (struct peer_conn){ .fd = -1 };
	if (fd < 0)
		peer_fetch_fail(f, "%s", strerror(-fd));
	else if (!peer_conn_open(&f->conn, fd, PEER_FRAME, PEER_HELLO))
		peer_fetch_fail(f, "%s", strerror(ENOMEM));
	else
		f->step = PEER_CONNECTS;
}

static void hang_up(struct peer_fetch *f)
{
	peer_conn_close(&f->conn);
	free(f->part);
	f->part = NULL;
	explicit_bzero(&f->session, sizeof(f->session));
}

/**
 * peer_fetch_end() - hang up
 * @f: the client, with or without a connection
 */
void peer_fetch_end(struct peer_fetch *f)
{
	if (f->step != PEER_IDLE)
		hang_up(f);
	f->step = PEER_IDLE;
}

/**
 * peer_fetch_fail() - hang up, and say why
 * @f: the client
 * @fmt: the reason
 */
void peer_fetch_fail(struct peer_fetch *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(f->why, sizeof(f->why), fmt, ap);
	va_end(ap);
	hang_up(f);
	f->step = PEER_FAILED;
}

/* ---- the proofs ------------------------------------------------------------ */

static void send_bytes(struct peer_fetch *f, uint32_t len)
{
	f->conn.out_len = len;
	f->conn.out_at = 0;
	if (!peer_conn_flush(&f->conn))
		peer_fetch_fail(f, "it has hung up");
}

static void connected(struct peer_fetch *f)
{
	socklen_t len = sizeof(int);
	int err = 0;

	if (f->conn.poll && !(f->conn.poll->revents & (POLLOUT | POLLERR | POLLHUP)))
		return;
	if (getsockopt(f->conn.fd, SOL_SOCKET, SO_ERROR, &err, &len))
		err = errno;
	if (err)
		peer_fetch_fail(f, "%s", strerror(err));
	else
		f->step = PEER_GREETS;
}

static void greet(struct peer_fetch *f)
{
	uint8_t nonce[PEER_NONCE];

	if (getrandom(nonce, sizeof(nonce), 0) != sizeof(nonce)) {
		peer_fetch_fail(f, "no random numbers: %s", strerror(errno));
		return;
	}
	peer_hello_build(f->conn.out, f->id, f->server, f->conn.in, nonce, &f->session);
	peer_conn_drop(&f->conn, PEER_NONCE);
	f->step = PEER_PROVES;
	send_bytes(f, PEER_HELLO);
}

static void ask_status(struct peer_fetch *f)
{
	struct peer_status_req req = { .era = f->want.era_max, .subgroup = f->subgroup };

	if (!peer_equal(f->conn.in, f->session.proof)) {
		peer_fetch_fail(f, "it does not know the key");
		return;
	}
	peer_conn_drop(&f->conn, PEER_MAC);
	memcpy(req.lineage, f->id->lineage, sizeof(req.lineage));
	peer_status_req_put(f->conn.out + PEER_HEAD, &req);
	f->step = PEER_ASKS;
	send_bytes(f, peer_seal(&f->session.up, f->conn.out, PEER_STATUS, PEER_STATUS_REQ));
}

/* ---- frames ----------------------------------------------------------------- */

static void take_status(struct peer_fetch *f, uint32_t len)
{
	if (!peer_status_get(f->conn.in + PEER_HEAD, len, &f->status))
		peer_fetch_fail(f, "it sends nonsense");
	else if (f->status.code == PEER_LINEAGE)
		peer_fetch_fail(f, "its log is of another lineage, or of a later era");
	else if (f->status.code != PEER_OK)
		peer_fetch_fail(f, "it has no log of this subgroup");
	else
		f->step = PEER_KNOWS;
}

static void take_frame(struct peer_fetch *f)
{
	uint32_t type = 0, len = 0;
	int n = peer_unseal(&f->session.down, f->conn.in, f->conn.in_len, PEER_PAYLOAD, &type,
			    &len);

	if (!n)
		return;
	f->frame = n > 0 ? (uint32_t)n : 0;
	if (n < 0) {
		peer_fetch_fail(f, "a frame is not what it has sent");
	} else if (f->step == PEER_ASKS && type == PEER_STATUS_IS) {
		take_status(f, len);
		if (f->step == PEER_KNOWS)
			peer_conn_drop(&f->conn, f->frame);
	} else if (f->step == PEER_READS && type == PEER_DATA) {
		peer_fetch_data(f, len);
	} else {
		peer_fetch_fail(f, "it answers what was not asked");
	}
}

/* ---- the loop --------------------------------------------------------------- */

static bool is_under_way(const struct peer_fetch *f)
{
	return f->step >= PEER_CONNECTS && f->step <= PEER_READS && f->step != PEER_KNOWS;
}

static uint32_t limit_ms(const struct peer_fetch *f)
{
	return f->step < PEER_READS ? PEER_PROOF_MS : PEER_QUIET_MS;
}

/**
 * peer_fetch_poll() - what the loop waits for
 * @f: the client
 * @fd: room for one; it stays where it is until peer_fetch_work()
 * @ms: made less if the loop may not sleep so long; negative: for ever
 *
 * While the own log takes messages, the peer has to wait.
 *
 * Return: entries of @fd that were filled.
 */
unsigned int peer_fetch_poll(struct peer_fetch *f, struct pollfd *fd, int *ms)
{
	f->conn.poll = NULL;
	if (!is_under_way(f))
		return 0;
	peer_conn_poll(&f->conn, fd, f->step != PEER_CONNECTS);
	if (f->step == PEER_CONNECTS)
		fd->events = POLLOUT;
	peer_conn_age(&f->conn, limit_ms(f), ms);
	return 1;
}

static void go_on(struct peer_fetch *f)
{
	switch (f->step) {
	case PEER_GREETS:
		if (f->conn.in_len == PEER_NONCE)
			greet(f);
		break;
	case PEER_PROVES:
		if (f->conn.in_len == PEER_MAC)
			ask_status(f);
		break;
	default:
		take_frame(f);
	}
}

/* Bytes that may come in this step, so that each part is looked at alone. */
static uint32_t expected(const struct peer_fetch *f)
{
	if (f->step == PEER_GREETS)
		return PEER_NONCE;
	return f->step == PEER_PROVES ? PEER_MAC : PEER_FRAME;
}

/**
 * peer_fetch_work() - do what can be done without waiting
 * @f: the client
 */
void peer_fetch_work(struct peer_fetch *f)
{
	if (f->step == PEER_TAKES)
		peer_fetch_take(f);
	if (!is_under_way(f))
		return;
	if (peer_now_ms() - f->conn.moved_ms >= limit_ms(f)) {
		peer_fetch_fail(f, "it does not answer");
		return;
	}
	if (f->step == PEER_CONNECTS) {
		connected(f);
		return;
	}
	if (!peer_conn_flush(&f->conn) || !peer_conn_fill(&f->conn, expected(f)))
		peer_fetch_fail(f, f->step <= PEER_PROVES ?
				"it has hung up before its proof: is the key another one?" :
				"it has hung up");
	else
		go_on(f);
	if (f->step == PEER_TAKES)
		peer_fetch_take(f);
	f->conn.poll = NULL;
}
