// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client of etcd: puts through one connection to the leader, many at a time. It speaks gRPC over
 * HTTP/2 by libnghttp2, because the JSON gateway of etcd would cost the server another call for
 * each put. -e has the servers, like 127.0.0.1:2379,127.0.0.1:2479.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include <nghttp2/nghttp2.h>

#include "client.h"
#include "common/clock.h"

#define PREFIX		5	/* of a gRPC message: a flag, and its length */
#define HEAD		32	/* at most, of a put: prefix, key, length of the value */
#define KEYS		65536	/* different keys */
#define REPLY		4096
#define NAP_MS		20

/**
 * struct request - a call that may be under way
 * @time: ticks when it was made
 * @len: bytes of @body
 * @at: bytes of it that were sent
 * @good: grpc-status was 0
 * @next: a free one
 * @body: the message
 */
struct request {
	uint64_t time;
	size_t len;
	size_t at;
	bool good;
	struct request *next;
	unsigned char *body;
};

/**
 * struct link - a connection
 * @c: measurement
 * @session: HTTP/2
 * @fd: socket
 * @authority: the server
 * @rest: bytes that the socket has not taken yet
 * @left: number of them
 * @free: requests that are not under way
 * @reply: the beginning of the last reply of a call that is no put
 * @replied: its bytes
 * @asks: the call under way is no put
 * @closed: calls that have ended
 * @failed: something was wrong
 * @why: what the server said of it
 */
struct link {
	struct client *c;
	nghttp2_session *session;
	int fd;
	char authority[64];
	const uint8_t *rest;
	ssize_t left;
	struct request *free;
	unsigned char reply[REPLY];
	size_t replied;
	bool asks;
	uint64_t closed;
	bool failed;
	char why[128];
};

/* ---- protobuf -------------------------------------------------------------- */

static size_t put_varint(unsigned char *p, uint64_t v)
{
	size_t n = 0;

	for (; v >= 0x80; v >>= 7)
		p[n++] = v | 0x80;
	p[n++] = v;
	return n;
}

static bool get_varint(const unsigned char **p, const unsigned char *end, uint64_t *v)
{
	unsigned int shift;

	*v = 0;
	for (shift = 0; *p < end && shift < 64; shift += 7) {
		*v |= (uint64_t)(**p & 0x7f) << shift;
		if (!(*(*p)++ & 0x80))
			return true;
	}
	return false;
}

/* The field with this number: a number is in *@v, and bytes are from *@at on, *@v of them. */
static bool get_field(const unsigned char *p, size_t len, unsigned int want, uint64_t *v,
		      const unsigned char **at)
{
	const unsigned char *end = p + len;
	uint64_t key;

	while (p < end) {
		if (!get_varint(&p, end, &key) || !get_varint(&p, end, v))
			return false;
		if ((key & 7) != 0 && (key & 7) != 2)
			return false;
		*at = p;
		if ((key & 7) == 2) {
			if (*v > (uint64_t)(end - p))
				return false;
			p += *v;
		}
		if (key >> 3 == want)
			return true;
	}
	return false;
}

static void put_prefix(struct request *r)
{
	uint32_t n = htonl(r->len - PREFIX);

	r->body[0] = 0;
	memcpy(r->body + 1, &n, sizeof(n));
}

/* PutRequest: key is 1, value is 2. */
static void make_put(struct request *r, const struct client *c)
{
	unsigned char *p = r->body + PREFIX;
	int n = snprintf((char *)p + 2, HEAD - PREFIX - 2, "key%05u",
			 (unsigned int)(c->sent % KEYS));

	*p = 0x0a;
	p[1] = n;
	p += 2 + n;
	*p++ = 0x12;
	p += put_varint(p, c->size);
	memset(p, 'a' + c->sent % 26, c->size);
	r->len = p + c->size - r->body;
	put_prefix(r);
}

/* ---- calls ----------------------------------------------------------------- */

static ssize_t on_read(nghttp2_session *session, int32_t stream, uint8_t *buf, size_t len,
		       uint32_t *flags, nghttp2_data_source *source, void *arg)
{
	struct request *r = source->ptr;
	size_t n = r->len - r->at;

	(void)session;
	(void)stream;
	(void)arg;
	n = n < len ? n : len;
	memcpy(buf, r->body + r->at, n);
	r->at += n;
	if (r->at == r->len)
		*flags |= NGHTTP2_DATA_FLAG_EOF;
	return n;
}

static int on_header(nghttp2_session *session, const nghttp2_frame *frame, const uint8_t *name,
		     size_t namelen, const uint8_t *value, size_t len, uint8_t flags, void *arg)
{
	struct request *r = nghttp2_session_get_stream_user_data(session, frame->hd.stream_id);
	struct link *l = arg;

	(void)flags;
	if (r && namelen == 12 && !memcmp(name, "grpc-message", 12) && len)
		snprintf(l->why, sizeof(l->why), "%.*s", (int)len, (const char *)value);
	if (r && namelen == 11 && !memcmp(name, "grpc-status", 11))
		r->good = len == 1 && *value == '0';
	return 0;
}

static int on_data(nghttp2_session *session, uint8_t flags, int32_t stream, const uint8_t *data,
		   size_t len, void *arg)
{
	struct link *l = arg;

	(void)session;
	(void)flags;
	(void)stream;
	if (!l->asks || l->replied + len > sizeof(l->reply))
		return 0;
	memcpy(l->reply + l->replied, data, len);
	l->replied += len;
	return 0;
}

static int on_close(nghttp2_session *session, int32_t stream, uint32_t error, void *arg)
{
	struct request *r = nghttp2_session_get_stream_user_data(session, stream);
	struct link *l = arg;

	if (!r)
		return 0;
	l->closed++;
	if (error || !r->good)
		l->failed = true;
	else if (!l->asks)
		client_acked(l->c, r->time, perf_now());
	r->next = l->free;
	l->free = r;
	return 0;
}

#define HEADER(name, value)	{ (uint8_t *)(name), (uint8_t *)(value), sizeof(name) - 1, \
				  strlen(value), NGHTTP2_NV_FLAG_NO_COPY_NAME }

static void call(struct link *l, const char *path, struct request *r)
{
	nghttp2_nv nv[] = {
		HEADER(":method", "POST"), HEADER(":scheme", "http"), HEADER(":path", path),
		HEADER(":authority", l->authority), HEADER("content-type", "application/grpc"),
		HEADER("te", "trailers"),
	};
	nghttp2_data_provider body = { .source.ptr = r, .read_callback = on_read };

	r->at = 0;
	r->good = false;
	if (nghttp2_submit_request(l->session, NULL, nv, sizeof(nv) / sizeof(*nv), &body, r) < 0)
		l->failed = true;
}

/* ---- the connection -------------------------------------------------------- */

static int open_session(struct link *l)
{
	/* Answers are short, and must not wait for this side. */
	nghttp2_settings_entry set[] = {
		{ NGHTTP2_SETTINGS_ENABLE_PUSH, 0 },
		{ NGHTTP2_SETTINGS_INITIAL_WINDOW_SIZE, 1 << 20 },
	};
	nghttp2_session_callbacks *on;

	if (nghttp2_session_callbacks_new(&on))
		return -ENOMEM;
	nghttp2_session_callbacks_set_on_header_callback(on, on_header);
	nghttp2_session_callbacks_set_on_data_chunk_recv_callback(on, on_data);
	nghttp2_session_callbacks_set_on_stream_close_callback(on, on_close);
	if (nghttp2_session_client_new(&l->session, on, l))
		return -ENOMEM;
	nghttp2_session_callbacks_del(on);
	nghttp2_submit_settings(l->session, NGHTTP2_FLAG_NONE, set, 2);
	nghttp2_session_set_local_window_size(l->session, NGHTTP2_FLAG_NONE, 0, 1 << 24);
	return 0;
}

static int open_link(struct link *l, const char *server)
{
	struct sockaddr_in addr = { .sin_family = AF_INET };
	const char *colon = strchr(server, ':');
	char ip[32] = "";
	int one = 1;

	snprintf(l->authority, sizeof(l->authority), "%s", server);
	if (colon && colon - server < (int)sizeof(ip))
		memcpy(ip, server, colon - server);
	if (!colon || inet_pton(AF_INET, ip, &addr.sin_addr) != 1)
		return -EINVAL;
	addr.sin_port = htons(atoi(colon + 1));
	l->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (l->fd < 0 || connect(l->fd, (struct sockaddr *)&addr, sizeof(addr)))
		return -errno;
	setsockopt(l->fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	fcntl(l->fd, F_SETFL, O_NONBLOCK);
	return open_session(l);
}

static void close_link(struct link *l)
{
	nghttp2_session_del(l->session);
	l->session = NULL;
	if (l->fd >= 0)
		close(l->fd);
	l->fd = -1;
	l->closed = 0;
	l->replied = 0;
	l->left = 0;
	l->failed = false;
}

/* Send what waits. Return: whether the socket takes more; -1 failed */
static int flush(struct link *l)
{
	ssize_t n;

	for (;;) {
		if (!l->left)
			l->left = nghttp2_session_mem_send(l->session, &l->rest);
		if (l->left <= 0)
			return l->left < 0 ? -1 : 1;
		n = send(l->fd, l->rest, l->left, MSG_NOSIGNAL);
		if (n < 0)
			return errno == EAGAIN ? 0 : -1;
		l->rest += n;
		l->left -= n;
	}
}

/* Send and receive. Return: whether something came; -1 failed */
static int turn(struct link *l, int ms)
{
	static uint8_t buf[65536];
	struct pollfd p = { .fd = l->fd, .events = POLLIN };
	int room = flush(l), came = 0;
	ssize_t n;

	if (room < 0)
		return -1;
	if (!room)
		p.events |= POLLOUT;
	if (poll(&p, 1, ms) < 0 && errno != EINTR)
		return -1;
	while ((n = recv(l->fd, buf, sizeof(buf), 0)) > 0) {
		if (nghttp2_session_mem_recv(l->session, buf, n) != n)
			return -1;
		came = 1;
	}
	if (!n || (n < 0 && errno != EAGAIN))
		return -1;
	return l->failed || flush(l) < 0 ? -1 : came;
}

static bool in_time(const struct link *l, uint64_t since)
{
	return perf_ns(perf_now() - since) < l->c->wait * 1e9;
}

/* Is the server the leader? StatusResponse: header is 1, leader 4. ResponseHeader: member_id 2. */
static bool is_leader(struct link *l)
{
	struct request *r = l->free;
	const unsigned char *at, *head;
	uint64_t since = perf_now(), len, me, leader;

	l->free = r->next;
	l->asks = true;
	r->len = PREFIX;
	put_prefix(r);
	call(l, "/etcdserverpb.Maintenance/Status", r);
	while (!l->closed && in_time(l, since))
		if (turn(l, NAP_MS) < 0)
			break;
	l->asks = false;
	if (!l->closed || l->failed || l->replied <= PREFIX)
		return false;
	if (!get_field(l->reply + PREFIX, l->replied - PREFIX, 1, &len, &head) ||
	    !get_field(head, len, 2, &me, &at) ||
	    !get_field(l->reply + PREFIX, l->replied - PREFIX, 4, &leader, &at))
		return false;
	return me == leader;
}

/* Make all requests free. */
static void reset(struct link *l, struct request *r)
{
	unsigned int i;

	l->free = NULL;
	for (i = 0; i < l->c->flight; i++) {
		r[i].next = l->free;
		l->free = &r[i];
	}
}

/* Connect to the leader, as soon as there is one. */
static int find_leader(struct link *l, struct request *r)
{
	uint64_t since = perf_now();
	char *list, *server, *next;

	do {
		next = list = strdup(l->c->servers);
		while ((server = strsep(&next, ","))) {
			reset(l, r);
			if (!open_link(l, server) && is_leader(l)) {
				l->closed = 0;
				free(list);
				return 0;
			}
			close_link(l);
		}
		free(list);
		usleep(NAP_MS * 1000);
	} while (in_time(l, since));
	return client_say(l->c, "there is no leader");
}

/* ---- the measurement ------------------------------------------------------- */

static int measure(struct link *l)
{
	struct client *c = l->c;
	uint64_t now, due, moved;
	struct request *r;
	int came;

	client_begin(c);
	moved = c->begin;
	for (;;) {
		now = perf_now();
		while (client_may_send(c, now, &due)) {
			r = l->free;
			l->free = r->next;
			make_put(r, c);
			r->time = due;
			call(l, "/etcdserverpb.KV/Put", r);
			c->sent++;
		}
		if (now >= c->stop && c->sent == c->acked)
			return 0;
		came = turn(l, c->rate > 0 ? 1 : NAP_MS);
		if (came < 0)
			return client_say(c, "a put has failed, or the connection: %s", l->why);
		if (came)
			moved = now;
		if (!in_time(l, moved))
			return client_say(c, "nothing has come for %g s", c->wait);
	}
}

int main(int argc, char **argv)
{
	struct client c = { .name = "etcd-peer" };
	struct link l = { .c = &c, .fd = -1 };
	struct request *r;
	unsigned int i;

	client_options(&c, argc, argv);
	r = calloc(c.flight, sizeof(*r));
	for (i = 0; r && i < c.flight; i++) {
		r[i].body = malloc(HEAD + c.size);
		if (!r[i].body)
			r = NULL;
	}
	if (!r)
		return client_say(&c, "no memory");
	return find_leader(&l, r) || measure(&l) || client_figures(&c);
}
