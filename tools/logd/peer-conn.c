// SPDX-License-Identifier: GPL-2.0-only
/* Sockets with buffers, which never block. See peer.h. */
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "peer.h"

/**
 * peer_now_ms() - the clock of all deadlines
 *
 * Return: milliseconds.
 */
uint64_t peer_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000U + (uint64_t)t.tv_nsec / 1000000U;
}

/**
 * peer_conn_open() - use a socket
 * @c: the connection
 * @fd: the socket, which belongs to the connection then
 * @in: bytes of the longest frame that comes
 * @out: bytes of the longest frame that goes
 *
 * Return: whether there was memory; without it the socket is closed.
 */
bool peer_conn_open(struct peer_conn *c, int fd, uint32_t in, uint32_t out)
{
	*c = (struct peer_conn){
		.fd = fd, .in = malloc(in), .in_size = in, .out = malloc(out), .out_size = out,
		.moved_ms = peer_now_ms(),
	};
	if (c->in && c->out)
		return true;
	peer_conn_close(c);
	return false;
}

static bool grow(uint8_t **buf, uint32_t *size, uint32_t want)
{
	uint8_t *p;

	if (want <= *size)
		return true;
	p = realloc(*buf, want);
	if (!p)
		return false;
	*buf = p;
	*size = want;
	return true;
}

/**
 * peer_conn_grow() - make room for longer frames
 * @c: a connection with nothing to send
 * @in: bytes of the longest frame that comes
 * @out: bytes of the longest frame that goes
 *
 * Return: whether there was memory.
 */
bool peer_conn_grow(struct peer_conn *c, uint32_t in, uint32_t out)
{
	return grow(&c->in, &c->in_size, in) && grow(&c->out, &c->out_size, out);
}

/**
 * peer_conn_close() - close a connection
 * @c: the connection, or one that is closed
 */
void peer_conn_close(struct peer_conn *c)
{
	if (c->fd >= 0)
		close(c->fd);
	free(c->in);
	free(c->out);
	*c = (struct peer_conn){ .fd = -1 };
}

static bool is_passing(void)
{
	return errno == EAGAIN || errno == EWOULDBLOCK || errno == EINTR;
}

/**
 * peer_conn_fill() - read what has come
 * @c: the connection
 * @most: bytes that may be in the buffer then
 *
 * Return: whether the connection is still there.
 */
bool peer_conn_fill(struct peer_conn *c, uint32_t most)
{
	ssize_t n;

	if (c->poll && !(c->poll->revents & (POLLIN | POLLERR | POLLHUP)))
		return true;
	if (most > c->in_size)
		most = c->in_size;
	if (c->in_len >= most)
		return true;
	n = recv(c->fd, c->in + c->in_len, most - c->in_len, MSG_DONTWAIT);
	if (n < 0)
		return is_passing();
	if (!n)
		return false;
	c->in_len += (uint32_t)n;
	c->moved_ms = peer_now_ms();
	return true;
}

/**
 * peer_conn_flush() - send what waits, as far as the socket takes it
 * @c: the connection
 *
 * Return: whether the connection is still there.
 */
bool peer_conn_flush(struct peer_conn *c)
{
	ssize_t n;

	if (c->out_at == c->out_len)
		return true;
	n = send(c->fd, c->out + c->out_at, c->out_len - c->out_at, MSG_DONTWAIT | MSG_NOSIGNAL);
	if (n < 0)
		return is_passing();
	if (n)
		c->moved_ms = peer_now_ms();
	c->out_at += (uint32_t)n;
	if (c->out_at == c->out_len)
		c->out_at = c->out_len = 0;
	return true;
}

/**
 * peer_conn_drop() - forget bytes that were used
 * @c: the connection
 * @n: how many
 */
void peer_conn_drop(struct peer_conn *c, uint32_t n)
{
	c->in_len -= n;
	memmove(c->in, c->in + n, c->in_len);
}

/**
 * peer_conn_poll() - what the loop waits for
 * @c: the connection
 * @fd: filled; it stays where it is until the connection has used it
 * @reads: the connection wants more bytes
 */
void peer_conn_poll(struct peer_conn *c, struct pollfd *fd, bool reads)
{
	*fd = (struct pollfd){
		.fd = c->fd,
		.events = (reads ? POLLIN : 0) | (c->out_at != c->out_len ? POLLOUT : 0),
	};
	c->poll = fd;
}

/**
 * peer_conn_age() - when is a connection too old on which nothing moves?
 * @c: the connection
 * @limit: milliseconds
 * @ms: made less if it is sooner
 */
void peer_conn_age(const struct peer_conn *c, uint32_t limit, int *ms)
{
	uint64_t age = peer_now_ms() - c->moved_ms;
	int left = age < limit ? (int)(limit - age) : 0;

	if (*ms < 0 || left < *ms)
		*ms = left;
}

/**
 * peer_listen() - make a socket that listens
 * @addr: address
 * @len: its bytes
 *
 * Return: the socket, or a negative errno.
 */
int peer_listen(const struct sockaddr *addr, socklen_t len)
{
	int fd = socket(addr->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int one = 1;
	int err;

	if (fd < 0)
		return -errno;
	/* A connection of the process before may still be there. */
	if (!setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) &&
	    !bind(fd, addr, len) && !listen(fd, PEER_GUESTS))
		return fd;
	err = -errno;
	close(fd);
	return err;
}

/**
 * peer_connect() - begin to connect
 * @addr: address of a peer
 * @len: its bytes
 *
 * Return: the socket, which may still connect, or a negative errno.
 */
int peer_connect(const struct sockaddr *addr, socklen_t len)
{
	int fd = socket(addr->sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	const int one = 1;
	int err;

	if (fd < 0)
		return -errno;
	/* Without this, a request may wait for the answer to the one before. */
	if (!setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one)) &&
	    (!connect(fd, addr, len) || errno == EINPROGRESS))
		return fd;
	err = -errno;
	close(fd);
	return err;
}
