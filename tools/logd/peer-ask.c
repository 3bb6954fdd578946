// SPDX-License-Identifier: GPL-2.0-only
/*
 * The client side of a question of an attempt to restart: the connection, the proofs, the question,
 * the answer. See peer.h.
 *
 * Questions are rare, so each has a connection of its own, and no node holds a place at another one
 * for longer than a question takes.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "peer.h"

/**
 * peer_ask_room() - have room for a question
 * @q: the question, with nothing under way
 *
 * Return: whether there is memory.
 */
bool peer_ask_room(struct peer_ask *q)
{
	if (!q->question)
		q->question = malloc(PEER_QUESTION);
	return q->question;
}

static void hang_up(struct peer_ask *q)
{
	peer_conn_close(&q->conn);
	explicit_bzero(&q->session, sizeof(q->session));
}

static void fail(struct peer_ask *q, const char *why)
{
	snprintf(q->why, sizeof(q->why), "%s", why);
	hang_up(q);
	q->step = PEER_FAILED;
}

/**
 * peer_ask_begin() - ask a node
 * @q: the question; id, question and len are set
 * @server: id of the node
 * @fd: socket, which may still connect; or a negative errno
 */
void peer_ask_begin(struct peer_ask *q, uint32_t server, int fd)
{
	q->server = server;
	q->answer = 0;
	q->why[0] = '\0';
	q->begun_ms = peer_now_ms();
	q->conn = (struct peer_conn){ .fd = -1 };
	if (fd < 0)
		fail(q, strerror(-fd));
	else if (!peer_conn_open(&q->conn, fd, PEER_ANSWER, PEER_QUESTION))
		fail(q, strerror(ENOMEM));
	else
		q->step = PEER_CONNECTS;
}

/**
 * peer_ask_end() - hang up, and free the memory
 * @q: the question, or a zeroed one
 */
void peer_ask_end(struct peer_ask *q)
{
	if (q->step != PEER_IDLE)
		hang_up(q);
	free(q->question);
	q->question = NULL;
	q->step = PEER_IDLE;
}

/* ---- steps ------------------------------------------------------------------ */

static void send_bytes(struct peer_ask *q, uint32_t len)
{
	q->conn.out_len = len;
	q->conn.out_at = 0;
	if (!peer_conn_flush(&q->conn))
		fail(q, "it has hung up");
}

static void connected(struct peer_ask *q)
{
	socklen_t len = sizeof(int);
	int err = 0;

	if (q->conn.poll && !(q->conn.poll->revents & (POLLOUT | POLLERR | POLLHUP)))
		return;
	if (getsockopt(q->conn.fd, SOL_SOCKET, SO_ERROR, &err, &len))
		err = errno;
	if (err)
		fail(q, strerror(err));
	else
		q->step = PEER_GREETS;
}

static void greet(struct peer_ask *q)
{
	uint8_t nonce[PEER_NONCE];

	if (getrandom(nonce, sizeof(nonce), 0) != sizeof(nonce)) {
		fail(q, "no random numbers");
		return;
	}
	peer_hello_build(q->conn.out, q->id, q->server, q->conn.in, nonce, &q->session);
	peer_conn_drop(&q->conn, PEER_NONCE);
	q->step = PEER_PROVES;
	send_bytes(q, PEER_HELLO);
}

static void ask(struct peer_ask *q)
{
	if (!peer_equal(q->conn.in, q->session.proof)) {
		fail(q, "it does not know the key");
		return;
	}
	peer_conn_drop(&q->conn, PEER_MAC);
	memcpy(q->conn.out + PEER_HEAD, peer_ask_bytes(q), q->len);
	q->step = PEER_ASKS;
	send_bytes(q, peer_seal(&q->session.up, q->conn.out, PEER_ASK, q->len));
}

static void take_answer(struct peer_ask *q)
{
	uint32_t type = 0, len = 0;
	int n = peer_unseal(&q->session.down, q->conn.in, q->conn.in_len, PEER_TELL_MAX, &type,
			    &len);

	if (!n)
		return;
	if (n < 0) {
		fail(q, "a frame is not what it has sent");
	} else if (type != PEER_TELL) {
		fail(q, "it answers what was not asked");
	} else {
		q->answer = len;
		q->step = PEER_DONE;
	}
}

/* Bytes that may come in this step, so that each part is looked at alone. */
static uint32_t expected(const struct peer_ask *q)
{
	if (q->step == PEER_GREETS)
		return PEER_NONCE;
	return q->step == PEER_PROVES ? PEER_MAC : PEER_ANSWER;
}

static void go_on(struct peer_ask *q)
{
	if (q->step == PEER_GREETS && q->conn.in_len == PEER_NONCE)
		greet(q);
	else if (q->step == PEER_PROVES && q->conn.in_len == PEER_MAC)
		ask(q);
	else if (q->step == PEER_ASKS)
		take_answer(q);
}

/* ---- the loop ----------------------------------------------------------------- */

static bool is_under_way(const struct peer_ask *q)
{
	return q->step >= PEER_CONNECTS && q->step <= PEER_ASKS;
}

/**
 * peer_ask_poll() - what the loop waits for
 * @q: the question
 * @fd: room for one; it stays where it is until peer_ask_work()
 * @ms: made less if the loop may not sleep so long; negative: for ever
 *
 * Return: entries of @fd that were filled.
 */
unsigned int peer_ask_poll(struct peer_ask *q, struct pollfd *fd, int *ms)
{
	q->conn.poll = NULL;
	if (!is_under_way(q))
		return 0;
	peer_conn_poll(&q->conn, fd, q->step != PEER_CONNECTS);
	if (q->step == PEER_CONNECTS)
		fd->events = POLLOUT;
	peer_conn_age(&q->conn, PEER_PROOF_MS, ms);
	return 1;
}

/**
 * peer_ask_work() - do what can be done without waiting
 * @q: the question
 */
void peer_ask_work(struct peer_ask *q)
{
	if (!is_under_way(q))
		return;
	if (peer_now_ms() - q->conn.moved_ms >= PEER_PROOF_MS) {
		fail(q, "it does not answer");
		return;
	}
	if (q->step == PEER_CONNECTS) {
		connected(q);
		return;
	}
	if (!peer_conn_flush(&q->conn) || !peer_conn_fill(&q->conn, expected(q)))
		fail(q, q->step <= PEER_PROVES ?
		     "it has hung up before its proof: is the key or the lineage another one?" :
		     "it has hung up");
	else
		go_on(q);
	q->conn.poll = NULL;
}
