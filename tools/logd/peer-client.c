// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client side: the connection, the proofs, and frames. See peer.h.
 *
 * A client knows nothing of what is asked, and does not choose the peer.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/random.h>

#include "peer.h"

static void hang_up(struct peer_client *c)
{
	peer_conn_close(&c->conn);
	explicit_bzero(&c->session, sizeof(c->session));
}

/**
 * peer_client_begin() - begin to speak to a peer
 * @c: the client; its id is set
 * @server: id of the peer's node
 * @fd: socket, which may still connect; or a negative errno
 * @in: bytes of the longest frame that comes
 * @out: bytes of the longest frame that goes, PEER_HELLO or more
 */
void peer_client_begin(struct peer_client *c, uint32_t server, int fd, uint32_t in, uint32_t out)
{
	c->server = server;
	c->why[0] = '\0';
	c->conn = (struct peer_conn){ .fd = -1 };
	if (fd < 0)
		peer_client_fail(c, "%s", strerror(-fd));
	else if (!peer_conn_open(&c->conn, fd, in, out))
		peer_client_fail(c, "%s", strerror(ENOMEM));
	else
		c->step = PEER_CONNECTS;
}

/**
 * peer_client_end() - hang up
 * @c: the client, with or without a connection
 */
void peer_client_end(struct peer_client *c)
{
	if (c->step != PEER_IDLE)
		hang_up(c);
	c->step = PEER_IDLE;
}

/**
 * peer_client_fail() - hang up, and say why
 * @c: the client
 * @fmt: the reason
 */
void peer_client_fail(struct peer_client *c, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(c->why, sizeof(c->why), fmt, ap);
	va_end(ap);
	hang_up(c);
	c->step = PEER_FAILED;
}

static void send_bytes(struct peer_client *c, uint32_t len)
{
	c->conn.out_len = len;
	c->conn.out_at = 0;
	if (!peer_conn_flush(&c->conn))
		peer_client_fail(c, "it has hung up");
}

/* ---- the proofs ------------------------------------------------------------ */

static void connected(struct peer_client *c)
{
	socklen_t len = sizeof(int);
	int err = 0;

	if (c->conn.poll && !(c->conn.poll->revents & (POLLOUT | POLLERR | POLLHUP)))
		return;
	if (getsockopt(c->conn.fd, SOL_SOCKET, SO_ERROR, &err, &len))
		err = errno;
	if (err)
		peer_client_fail(c, "%s", strerror(err));
	else
		c->step = PEER_GREETS;
}

static void greet(struct peer_client *c)
{
	uint8_t nonce[PEER_NONCE];

	if (getrandom(nonce, sizeof(nonce), 0) != sizeof(nonce)) {
		peer_client_fail(c, "no random numbers: %s", strerror(errno));
		return;
	}
	peer_hello_build(c->conn.out, c->id, c->server, c->conn.in, nonce, &c->session);
	peer_conn_drop(&c->conn, PEER_NONCE);
	c->step = PEER_PROVES;
	send_bytes(c, PEER_HELLO);
}

static void check_proof(struct peer_client *c)
{
	if (!peer_equal(c->conn.in, c->session.proof)) {
		peer_client_fail(c, "it does not know the key");
		return;
	}
	peer_conn_drop(&c->conn, PEER_MAC);
	c->step = PEER_PROVED;
}

/* ---- frames ----------------------------------------------------------------- */

/**
 * peer_client_request() - send a request
 * @c: a client with nothing to send; the payload is at PEER_HEAD of the buffer that goes
 * @type: enum peer_type
 * @len: bytes of the payload
 * @step: enum peer_step, while the reply has not come
 */
void peer_client_request(struct peer_client *c, uint32_t type, uint32_t len, uint32_t step)
{
	/* The peer did not have to say anything before. */
	c->conn.moved_ms = peer_now_ms();
	c->step = step;
	send_bytes(c, peer_seal(&c->session.up, c->conn.out, type, len));
}

/**
 * peer_client_frame() - see whether a whole frame has come
 * @c: a client that waits for a reply
 * @max: bytes of the longest payload
 * @type: set to enum peer_type
 * @len: set to the bytes of the payload, which is at PEER_HEAD of the buffer
 *
 * Return: bytes of the frame; 0 without a frame. A frame that is wrong ends the connection.
 */
uint32_t peer_client_frame(struct peer_client *c, uint32_t max, uint32_t *type, uint32_t *len)
{
	int n = peer_unseal(&c->session.down, c->conn.in, c->conn.in_len, max, type, len);

	if (n >= 0)
		return (uint32_t)n;
	peer_client_fail(c, "a frame is not what it has sent");
	return 0;
}

/* ---- the loop --------------------------------------------------------------- */

static bool is_under_way(const struct peer_client *c)
{
	return c->step >= PEER_CONNECTS && c->step <= PEER_READS && c->step != PEER_KNOWS;
}

static uint32_t limit_ms(const struct peer_client *c)
{
	return c->step < PEER_LOADS ? PEER_PROOF_MS : PEER_QUIET_MS;
}

/**
 * peer_client_poll() - what the loop waits for
 * @c: the client
 * @fd: room for one; it stays where it is until peer_client_work()
 * @ms: made less if the loop may not sleep so long; negative: for ever
 *
 * Return: entries of @fd that were filled.
 */
unsigned int peer_client_poll(struct peer_client *c, struct pollfd *fd, int *ms)
{
	c->conn.poll = NULL;
	if (!is_under_way(c))
		return 0;
	peer_conn_poll(&c->conn, fd, c->step != PEER_CONNECTS);
	if (c->step == PEER_CONNECTS)
		fd->events = POLLOUT;
	peer_conn_age(&c->conn, limit_ms(c), ms);
	return 1;
}

/* Bytes that may come in this step, so that each part is looked at alone. */
static uint32_t expected(const struct peer_client *c)
{
	if (c->step == PEER_GREETS)
		return PEER_NONCE;
	return c->step == PEER_PROVES ? PEER_MAC : c->conn.in_size;
}

static void go_on(struct peer_client *c)
{
	if (c->step == PEER_GREETS && c->conn.in_len == PEER_NONCE)
		greet(c);
	else if (c->step == PEER_PROVES && c->conn.in_len == PEER_MAC)
		check_proof(c);
}

/**
 * peer_client_work() - do what can be done without waiting
 * @c: the client
 *
 * Return: whether it is the turn of the caller: the step is PEER_PROVED, and the first request is
 * due, or a reply may have come.
 */
bool peer_client_work(struct peer_client *c)
{
	if (!is_under_way(c))
		return false;
	if (peer_now_ms() - c->conn.moved_ms >= limit_ms(c)) {
		peer_client_fail(c, "it does not answer");
		return false;
	}
	if (c->step == PEER_CONNECTS) {
		connected(c);
		return false;
	}
	if (!peer_conn_flush(&c->conn) || !peer_conn_fill(&c->conn, expected(c)))
		peer_client_fail(c, c->step <= PEER_PROVES ?
				 "it has hung up before its proof: is the key or the lineage "
				 "another one?" : "it has hung up");
	else
		go_on(c);
	c->conn.poll = NULL;
	return c->step >= PEER_PROVED && c->step <= PEER_READS;
}
