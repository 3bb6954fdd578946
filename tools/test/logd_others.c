// SPDX-License-Identifier: GPL-2.0-only
/* A log and the logs of other nodes, with servers. See logd_others.h. */
#include <arpa/inet.h>
#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "logd_others.h"
#include "tap.h"

struct other other[OTHERS];
struct store own;
struct logd logd;
struct logd_opts opts;
struct logd_peers peers;
char said[4000];
unsigned int said_lines;

/* ---- what the rest of spindle-logd does ------------------------------------------ */

bool logd_append(struct logd *l, const struct spindle_dlog_msg *m)
{
	int err = spindle_dlog_append(&l->log, m, 1);

	l->blocked = err == -EAGAIN || err == -ENOSPC;
	if (err && !l->blocked)
		logd_fail(l, "the log has failed: %s", strerror(-err));
	return !err;
}

static void note(const char *fmt, va_list ap)
{
	size_t at = strlen(said);

	vsnprintf(said + at, sizeof(said) - at, fmt, ap);
	strncat(said, "\n", sizeof(said) - strlen(said) - 1);
	said_lines++;
}

void logd_say(const struct logd *l, const char *fmt, ...)
{
	va_list ap;

	(void)l;
	va_start(ap, fmt);
	note(fmt, ap);
	va_end(ap);
}

bool logd_fail(struct logd *l, const char *fmt, ...)
{
	va_list ap;

	l->failed = true;
	va_start(ap, fmt);
	note(fmt, ap);
	va_end(ap);
	return false;
}

bool logd_peers_refresh(struct logd_peers *p)
{
	p->vid = 100;
	return true;
}

/**
 * has_said() - has spindle-logd said these words?
 * @words: the words
 *
 * Return: whether it has; otherwise all that it has said is a remark.
 */
bool has_said(const char *words)
{
	if (strstr(said, words))
		return true;
	printf("# said: %s", said);
	return false;
}

/**
 * forget_said() - nothing was said
 */
void forget_said(void)
{
	said[0] = '\0';
	said_lines = 0;
}

/* ---- other nodes ------------------------------------------------------------------ */

/**
 * other_id() - the identity of a node of the group
 * @node: id of the node
 * @key: its key
 *
 * Return: the identity.
 */
struct peer_id other_id(uint32_t node, const char *key)
{
	struct peer_id id = { .node = node, .lineage = "lineage" };

	peer_key(&id, key, strlen(key));
	return id;
}

/**
 * other_socket() - listen at a port of this machine
 * @addr: set to the address
 *
 * Return: the socket, which the caller closes.
 */
int other_socket(struct sockaddr_in *addr)
{
	socklen_t len = sizeof(*addr);
	int fd;

	*addr = (struct sockaddr_in){ .sin_family = AF_INET };
	addr->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
	fd = peer_listen((struct sockaddr *)addr, sizeof(*addr));
	if (fd < 0 || getsockname(fd, (struct sockaddr *)addr, &len))
		bail_out("no socket");
	return fd;
}

static bool find(void *arg, uint32_t subgroup, struct peer_log *log)
{
	struct other *o = arg;

	*log = (struct peer_log){
		.log = &o->store.log, .frame = STORE_FRAME, .dir = o->store.io.dir,
		.era = STORE_ERA,
	};
	return subgroup == STORE_SUBGROUP;
}

/**
 * other_serve() - begin the server of a log that is there
 * @o: the log, until other_drop()
 * @node: id of the node
 */
void other_serve(struct other *o, uint32_t node)
{
	o->server = (struct peer_server){
		.id = other_id(node, OTHERS_KEY), .find = find, .arg = o,
	};
	peer_server_begin(&o->server, other_socket(&o->addr));
}

/**
 * other_drop() - end a server, and remove its log
 * @o: the log
 */
void other_drop(struct other *o)
{
	peer_server_end(&o->server);
	store_remove(&o->store);
}

/**
 * other_place() - a node is asked at this address
 * @node: id of the node
 * @addr: the address
 */
void other_place(uint32_t node, const struct sockaddr_in *addr)
{
	struct logd_place *place = &peers.place[peers.places++];

	*place = (struct logd_place){ .node = node, .len = sizeof(*addr) };
	memcpy(&place->addr, addr, sizeof(*addr));
}

/**
 * others_turn() - wait for a moment, and do what can be done
 * @servers: how many of the other nodes answer
 * @w: what spindle-logd does
 */
void others_turn(unsigned int servers, const struct others_work *w)
{
	struct pollfd fd[OTHERS * (PEER_GUESTS + 1) + 2];
	int ms = 50;
	unsigned int i, n = 0;

	for (i = 0; i < servers; i++)
		n += peer_server_poll(&other[i].server, &fd[n], &ms);
	fd[n++] = (struct pollfd){ .fd = own.io.event, .events = POLLIN };
	n += w->poll(&logd, &fd[n], &ms);
	poll(fd, n, ms);
	for (i = 0; i < servers; i++)
		peer_server_work(&other[i].server);
	logd_port_reap(&own.io, w->done, &logd);
	w->work(&logd);
}
