// SPDX-License-Identifier: GPL-2.0-only
/*
 * The server side. See peer.h.
 *
 * A guest is a stranger until its proof was right. A stranger gets a nonce, and nothing else.
 */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "peer.h"

static_assert(PEER_ANSWER >= PEER_FRAME, "a buffer for an answer has room for messages");

/**
 * peer_server_begin() - begin to serve
 * @s: the server; id, find and arg are set
 * @fd: socket that listens; -1: nobody is served
 */
void peer_server_begin(struct peer_server *s, int fd)
{
	unsigned int i;

	s->listen = fd;
	for (i = 0; i < PEER_GUESTS; i++)
		s->guest[i] = (struct peer_guest){ .conn.fd = -1, .source.fd = -1 };
}

static void leave(struct peer_guest *g)
{
	peer_conn_close(&g->conn);
	peer_reader_close(&g->reader);
	peer_source_close(&g->source);
	explicit_bzero(&g->session, sizeof(g->session));
	*g = (struct peer_guest){ .conn.fd = -1, .source.fd = -1 };
}

static unsigned int count(const struct peer_server *s, bool friend)
{
	unsigned int i, n = 0;

	for (i = 0; i < PEER_GUESTS; i++)
		n += s->guest[i].conn.fd >= 0 && s->guest[i].friend == friend;
	return n;
}

static struct peer_guest *find_free(struct peer_server *s)
{
	unsigned int i;

	for (i = 0; i < PEER_GUESTS; i++)
		if (s->guest[i].conn.fd < 0)
			return &s->guest[i];
	return NULL;
}

/* ---- requests -------------------------------------------------------------- */

static bool send_frame(struct peer_guest *g, uint32_t type, uint32_t len)
{
	g->conn.out_len = peer_seal(&g->session.down, g->conn.out, type, len);
	g->conn.out_at = 0;
	return peer_conn_flush(&g->conn);
}

static void fill_status(struct peer_status *st, const struct peer_log *log)
{
	st->damaged = log->damaged;
	st->low = log->log->map.low;
	st->end = log->log->map.until;
	st->era = log->log->era;
	st->vid = log->log->vid;
}

/* The requests that follow are about this log. */
static bool do_status(struct peer_server *s, struct peer_guest *g, const uint8_t *p, uint32_t len)
{
	struct peer_status st = { .code = PEER_NO_LOG };
	struct peer_status_req req;
	struct peer_log log;

	if (!peer_status_req_get(p, len, &req))
		return false;
	peer_reader_close(&g->reader);
	peer_source_close(&g->source);
	if (memcmp(req.lineage, s->id.lineage, sizeof(req.lineage)))
		st.code = PEER_LINEAGE;
	else if (s->find(s->arg, req.subgroup, &log))
		st.code = PEER_OK;
	if (st.code == PEER_OK) {
		fill_status(&st, &log);
		/* A log without a message knows no era. */
		if (st.era > req.era && st.low != st.end)
			st.code = PEER_LINEAGE;
		else if (!peer_reader_open(&g->reader, &log))
			return false;
		else
			peer_source_open(&g->source, &log);
	}
	peer_status_put(g->conn.out + PEER_HEAD, &st);
	return send_frame(g, PEER_STATUS_IS, PEER_STATUS_REP);
}

/* Return: whether the guest stays. */
static bool go_on_reading(struct peer_guest *g)
{
	uint32_t len;
	int done = peer_reader_reply(&g->reader, &g->req, g->conn.out + PEER_HEAD, &len);

	if (done < 0)
		return false;
	if (!done)
		return true;
	g->reading = false;
	return send_frame(g, PEER_DATA, len);
}

static bool do_ask(struct peer_server *s, struct peer_guest *g, const uint8_t *p, uint32_t len)
{
	uint32_t n = s->ask ? s->ask(s->ask_arg, &g->session, p, len,
				     g->conn.out + PEER_HEAD) : 0;

	return n && send_frame(g, PEER_TELL, n);
}

static bool do_find(struct peer_guest *g, const uint8_t *p, uint32_t len)
{
	char after[PEER_NAME + 1];
	struct peer_offer o;

	if (!g->reader.r.map || !peer_find_get(p, len, after))
		return false;
	peer_source_find(&g->source, after, &o);
	peer_offer_put(g->conn.out + PEER_HEAD, &o);
	return send_frame(g, PEER_FOUND, PEER_OFFER);
}

static bool do_load(struct peer_guest *g, const uint8_t *p, uint32_t len)
{
	struct peer_load_req req;
	uint32_t n = 0;

	if (peer_load_req_get(p, len, &req))
		n = peer_source_load(&g->source, &req, g->conn.out + PEER_HEAD);
	return n && send_frame(g, PEER_PIECE, n);
}

static bool do_request(struct peer_server *s, struct peer_guest *g)
{
	uint32_t type = 0, len = 0;
	int n = peer_unseal(&g->session.up, g->conn.in, g->conn.in_len, PEER_ASK_MAX, &type,
			    &len);
	const uint8_t *p = g->conn.in + PEER_HEAD;
	bool good = false;

	if (n <= 0)
		return !n;
	if (g->session.former && type != PEER_ASK) {
		good = false;
	} else if (type == PEER_STATUS) {
		good = do_status(s, g, p, len);
	} else if (type == PEER_READ) {
		good = g->reader.r.map && peer_read_req_get(p, len, &g->req);
		g->reading = good;
	} else if (type == PEER_ASK) {
		good = do_ask(s, g, p, len);
	} else if (type == PEER_FIND) {
		good = do_find(g, p, len);
	} else if (type == PEER_LOAD) {
		good = do_load(g, p, len);
	}
	peer_conn_drop(&g->conn, (uint32_t)n);
	return good;
}

/* One request at a time: the next one is not even looked at. */
static bool serve(struct peer_server *s, struct peer_guest *g)
{
	if (!peer_conn_flush(&g->conn))
		return false;
	if (g->conn.out_len)
		return true;
	if (!g->reading && (!peer_conn_fill(&g->conn, PEER_QUESTION) || !do_request(s, g)))
		return false;
	return !g->reading || go_on_reading(g);
}

/* ---- strangers ------------------------------------------------------------- */

static bool welcome(struct peer_server *s, struct peer_guest *g)
{
	if (!peer_hello_check(g->conn.in, &s->id, g->nonce, &g->session) ||
	    count(s, true) >= PEER_FRIENDS || !peer_conn_grow(&g->conn, PEER_QUESTION, PEER_ANSWER))
		return false;
	g->friend = true;
	peer_conn_drop(&g->conn, PEER_HELLO);
	memcpy(g->conn.out, g->session.proof, PEER_MAC);
	g->conn.out_len = PEER_MAC;
	g->conn.out_at = 0;
	return peer_conn_flush(&g->conn);
}

static bool listen_to(struct peer_server *s, struct peer_guest *g)
{
	if (!peer_conn_flush(&g->conn) || !peer_conn_fill(&g->conn, PEER_HELLO))
		return false;
	/* Nothing is computed before the whole hello is there. */
	return g->conn.in_len < PEER_HELLO || welcome(s, g);
}

static void let_in(struct peer_guest *g, int fd)
{
	const int one = 1;

	/* A socket that is not of TCP has no such option, and needs none. */
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	if (!peer_conn_open(&g->conn, fd, PEER_HELLO, PEER_NONCE))
		return;
	g->begun_ms = peer_now_ms();
	if (getrandom(g->nonce, sizeof(g->nonce), 0) != sizeof(g->nonce)) {
		leave(g);
		return;
	}
	memcpy(g->conn.out, g->nonce, PEER_NONCE);
	g->conn.out_len = PEER_NONCE;
	if (!peer_conn_flush(&g->conn))
		leave(g);
}

static void accept_some(struct peer_server *s)
{
	struct peer_guest *g;
	int fd;

	if (!s->poll || !(s->poll->revents & POLLIN))
		return;
	while (count(s, false) < PEER_STRANGERS) {
		g = find_free(s);
		if (!g)
			return;
		fd = accept4(s->listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
		if (fd < 0)
			return;
		let_in(g, fd);
	}
}

/* ---- the loop -------------------------------------------------------------- */

static bool is_late(const struct peer_guest *g)
{
	uint64_t now = peer_now_ms();

	if (!g->friend)
		return now - g->begun_ms >= PEER_PROOF_MS;
	return now - g->conn.moved_ms >= PEER_QUIET_MS;
}

static void guest_poll(struct peer_guest *g, struct pollfd *fd, int *ms)
{
	struct peer_conn since = { .moved_ms = g->begun_ms };

	/* A search goes on in the next turn. */
	if (g->reading && !g->conn.out_len)
		*ms = 0;
	peer_conn_poll(&g->conn, fd, !g->conn.out_len && !g->reading);
	if (g->friend)
		peer_conn_age(&g->conn, PEER_QUIET_MS, ms);
	else
		peer_conn_age(&since, PEER_PROOF_MS, ms);
}

/**
 * peer_server_poll() - what the loop waits for
 * @s: the server
 * @fd: room for PEER_GUESTS + 1; they stay where they are until peer_server_work()
 * @ms: made less if the loop may not sleep so long; negative: for ever
 *
 * Return: entries of @fd that were filled.
 */
unsigned int peer_server_poll(struct peer_server *s, struct pollfd *fd, int *ms)
{
	unsigned int i, n = 0;

	s->poll = NULL;
	if (s->listen < 0)
		return 0;
	if (count(s, false) < PEER_STRANGERS && find_free(s)) {
		fd[n] = (struct pollfd){ .fd = s->listen, .events = POLLIN };
		s->poll = &fd[n++];
	}
	for (i = 0; i < PEER_GUESTS; i++)
		if (s->guest[i].conn.fd >= 0)
			guest_poll(&s->guest[i], &fd[n++], ms);
	return n;
}

/**
 * peer_server_work() - do what can be done without waiting
 * @s: the server
 */
void peer_server_work(struct peer_server *s)
{
	unsigned int i;

	if (s->listen < 0)
		return;
	for (i = 0; i < PEER_GUESTS; i++) {
		struct peer_guest *g = &s->guest[i];

		if (g->conn.fd < 0)
			continue;
		if (is_late(g) || !(g->friend ? serve(s, g) : listen_to(s, g)))
			leave(g);
		else
			g->conn.poll = NULL;
	}
	accept_some(s);
	s->poll = NULL;
}

/**
 * peer_server_end() - close all connections
 * @s: the server
 */
void peer_server_end(struct peer_server *s)
{
	unsigned int i;

	if (s->listen < 0)
		return;
	close(s->listen);
	for (i = 0; i < PEER_GUESTS; i++)
		if (s->guest[i].conn.fd >= 0)
			leave(&s->guest[i]);
	s->listen = -1;
}
