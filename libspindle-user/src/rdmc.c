// SPDX-License-Identifier: MIT
/*
 * Groups of /dev/spindle-rdmc: create, requests, events.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>

#include <spindle/rdmc.h>

#include "internal.h"

/* Events that one read() takes. */
#define EVENTS		32U
#define NSEC_PER_SEC	1000000000LL
#define NSEC_PER_MSEC	1000000LL

struct spindle_rdmc_group {
	int fd;
	uint32_t flags;
	uint32_t rank;
	uint32_t count;
	uint32_t block;
	uint32_t timeout_ms;
	/* Only the thread that takes events uses these. */
	bool ended;
	unsigned int next;
	unsigned int events;
	struct spindle_rdmc_event event[EVENTS];
	uint32_t member[];
};

static int create(struct spindle_rdmc_group *g, uint32_t node, uint64_t group,
		  const struct spindle_rdmc_options *o)
{
	struct spindle_rdmc_create c = {
		.size = sizeof(c), .node = node, .group = group,
		.members = (uintptr_t)g->member, .count = g->count, .algorithm = o->algorithm,
		.block = o->block, .timeout_ms = o->timeout_ms,
	};
	int err;

	err = spindle_sys_open(o->device ? o->device : SPINDLE_RDMC_DEVICE, O_NONBLOCK);
	/* ENOENT and ENODEV of open() become ENXIO, because the ioctl returns them, too. */
	if (err == -ENOENT || err == -ENODEV)
		return -ENXIO;
	if (err < 0)
		return err;
	g->fd = err;
	err = spindle_sys_ioctl(g->fd, SPINDLE_RDMC_IOC_CREATE, &c);
	if (!err && c.rank >= g->count)
		err = -EPROTO;
	if (err) {
		spindle_sys_close(g->fd);
		return err < 0 ? err : -EPROTO;
	}
	g->rank = c.rank;
	g->block = c.block;
	g->timeout_ms = c.timeout_ms;
	g->flags = o->flags;
	return 0;
}

int spindle_rdmc_create(struct spindle_rdmc_group **out, uint32_t node, uint64_t group,
			const uint32_t *members, unsigned int count,
			const struct spindle_rdmc_options *o)
{
	static const struct spindle_rdmc_options none;
	struct spindle_rdmc_group *g;
	unsigned int i;
	int err;

	*out = NULL;
	o = o ? o : &none;
	if (o->flags & ~SPINDLE_RDMC_AUTO_CLOSE)
		return -EINVAL;
	for (i = 0; i < ARRAY_SIZE(o->resv); i++)
		if (o->resv[i])
			return -EINVAL;
	/* The kernel checks all other arguments. This check is for the allocation below. */
	if (count < 2 || count > SPINDLE_MAX_MEMBERS)
		return -EINVAL;
	g = calloc(1, sizeof(*g) + count * sizeof(g->member[0]));
	if (!g)
		return -ENOMEM;
	g->count = count;
	for (i = 0; i < count; i++)
		g->member[i] = members[i];
	err = create(g, node, group, o);
	if (err) {
		free(g);
		return err;
	}
	*out = g;
	return 0;
}

void spindle_rdmc_destroy(struct spindle_rdmc_group *g)
{
	if (!g)
		return;
	spindle_sys_close(g->fd);
	free(g);
}

int spindle_rdmc_fd(const struct spindle_rdmc_group *g)
{
	return g->fd;
}

uint32_t spindle_rdmc_rank(const struct spindle_rdmc_group *g)
{
	return g->rank;
}

uint32_t spindle_rdmc_count(const struct spindle_rdmc_group *g)
{
	return g->count;
}

uint32_t spindle_rdmc_member(const struct spindle_rdmc_group *g, uint32_t rank)
{
	return rank < g->count ? g->member[rank] : SPINDLE_RDMC_NOBODY;
}

uint32_t spindle_rdmc_block(const struct spindle_rdmc_group *g)
{
	return g->block;
}

uint32_t spindle_rdmc_timeout(const struct spindle_rdmc_group *g)
{
	return g->timeout_ms;
}

/* ---- requests --------------------------------------------------------- */

int spindle_rdmc_send(struct spindle_rdmc_group *g, const void *mem, uint64_t len, uint64_t tag,
		      uint64_t *object)
{
	struct spindle_rdmc_send s = { .addr = (uintptr_t)mem, .len = len, .tag = tag };
	int err = spindle_sys_ioctl(g->fd, SPINDLE_RDMC_IOC_SEND, &s);

	if (!err && object)
		*object = s.object;
	return err;
}

int spindle_rdmc_accept(struct spindle_rdmc_group *g, uint64_t object, void *mem, uint64_t len)
{
	struct spindle_rdmc_accept a = { .object = object, .addr = (uintptr_t)mem, .len = len };

	return spindle_sys_ioctl(g->fd, SPINDLE_RDMC_IOC_ACCEPT, &a);
}

static int give_up(struct spindle_rdmc_group *g, unsigned long cmd, uint64_t object,
		   uint32_t reason)
{
	struct spindle_rdmc_cancel c = { .object = object, .reason = reason };

	return spindle_sys_ioctl(g->fd, cmd, &c);
}

int spindle_rdmc_refuse(struct spindle_rdmc_group *g, uint64_t object, uint32_t reason)
{
	return give_up(g, SPINDLE_RDMC_IOC_REFUSE, object, reason);
}

int spindle_rdmc_cancel(struct spindle_rdmc_group *g, uint64_t object, uint32_t reason)
{
	return give_up(g, SPINDLE_RDMC_IOC_CANCEL, object, reason);
}

int spindle_rdmc_close(struct spindle_rdmc_group *g)
{
	return spindle_sys_ioctl(g->fd, SPINDLE_RDMC_IOC_CLOSE, NULL);
}

int spindle_rdmc_stat(const struct spindle_rdmc_group *g, uint32_t rank,
		      struct spindle_rdmc_stat *st)
{
	*st = (struct spindle_rdmc_stat){ .member = rank };
	return spindle_sys_ioctl(g->fd, SPINDLE_RDMC_IOC_STAT, st);
}

/* ---- events ----------------------------------------------------------- */

/* Return: 1 if there are events, 0 if not, -EPIPE if there will never be any. */
static int look(struct spindle_rdmc_group *g)
{
	ssize_t n;

	if (g->next < g->events)
		return 1;
	if (g->ended)
		return -EPIPE;
	n = spindle_sys_read(g->fd, g->event, sizeof(g->event));
	if (n == -EAGAIN)
		return 0;
	if (n < 0)
		return (int)n;
	/* End of file: the last event was read before. */
	if (!n)
		return -EPIPE;
	if (n % (ssize_t)sizeof(g->event[0]))
		return -EPROTO;
	g->next = 0;
	g->events = (unsigned int)(n / (ssize_t)sizeof(g->event[0]));
	return 1;
}

static void take(struct spindle_rdmc_group *g, struct spindle_rdmc_event *ev)
{
	*ev = g->event[g->next++];
	if (ev->kind == SPINDLE_RDMC_CLOSED || ev->kind == SPINDLE_RDMC_FAILED)
		g->ended = true;
}

static void auto_close(struct spindle_rdmc_group *g, const struct spindle_rdmc_event *ev)
{
	/* If the close fails the group has failed, and an event reports that. */
	if (ev->kind == SPINDLE_RDMC_CLOSING && (g->flags & SPINDLE_RDMC_AUTO_CLOSE))
		(void)spindle_rdmc_close(g);
}

static int64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec * NSEC_PER_SEC + ts.tv_nsec;
}

int spindle_rdmc_next(struct spindle_rdmc_group *g, struct spindle_rdmc_event *ev,
		      int timeout_ms)
{
	int64_t left, deadline = timeout_ms > 0 ? now_ns() + timeout_ms * NSEC_PER_MSEC : 0;
	struct timespec ts = { 0, 0 };
	short revents;
	int ret;

	for (;;) {
		ret = look(g);
		if (ret > 0) {
			take(g, ev);
			auto_close(g, ev);
			return 1;
		}
		if (ret < 0 || !timeout_ms)
			return ret;
		if (timeout_ms > 0) {
			left = deadline - now_ns();
			if (left <= 0)
				return 0;
			ts.tv_sec = left / NSEC_PER_SEC;
			ts.tv_nsec = left % NSEC_PER_SEC;
		}
		ret = spindle_sys_poll(g->fd, POLLIN, &revents, timeout_ms < 0 ? NULL : &ts);
		if (ret < 0)
			return ret;
		if (revents & POLLNVAL)
			return -EBADF;
		/* There is no event, and none will follow: do not spin. */
		if ((revents & (POLLERR | POLLHUP)) && !(revents & POLLIN) && !look(g))
			return -EPIPE;
	}
}

static void incoming(struct spindle_rdmc_group *g, const struct spindle_rdmc_calls *calls,
		     void *arg, const struct spindle_rdmc_event *ev)
{
	uint32_t reason = 0;
	void *mem = NULL;
	int err = 0;

	if (calls->incoming)
		mem = calls->incoming(arg, g, ev, &reason);
	else
		reason = EOPNOTSUPP;
	if (mem == SPINDLE_RDMC_LATER)
		return;
	if (mem) {
		err = spindle_rdmc_accept(g, ev->object, mem, ev->len);
		if (!err)
			return;
		reason = (uint32_t)-err;
	}
	/* If the refusal fails the object has ended, and an event reports that. */
	(void)spindle_rdmc_refuse(g, ev->object, reason);
}

static void call(struct spindle_rdmc_group *g, const struct spindle_rdmc_calls *calls, void *arg,
		 const struct spindle_rdmc_event *ev)
{
	void (*fn)(void *arg, struct spindle_rdmc_group *g,
		   const struct spindle_rdmc_event *ev) = NULL;

	switch (ev->kind) {
	case SPINDLE_RDMC_OPENED:
		fn = calls->opened;
		break;
	case SPINDLE_RDMC_INCOMING:
		incoming(g, calls, arg, ev);
		break;
	case SPINDLE_RDMC_DONE:
		fn = calls->done;
		break;
	case SPINDLE_RDMC_CLOSING:
		fn = calls->closing;
		break;
	case SPINDLE_RDMC_CLOSED:
		fn = calls->closed;
		break;
	case SPINDLE_RDMC_FAILED:
		fn = calls->failed;
		break;
	default:
		break;
	}
	if (fn)
		fn(arg, g, ev);
}

int spindle_rdmc_dispatch_some(struct spindle_rdmc_group *g, const struct spindle_rdmc_calls *calls,
			       void *arg, int budget)
{
	struct spindle_rdmc_event ev;
	int ret = 0, n;

	for (n = 0; n < budget; n++) {
		ret = look(g);
		if (ret <= 0)
			break;
		take(g, &ev);
		call(g, calls, arg, &ev);
		auto_close(g, &ev);
	}
	return n ? n : ret;
}

int spindle_rdmc_dispatch(struct spindle_rdmc_group *g, const struct spindle_rdmc_calls *calls,
			  void *arg)
{
	return spindle_rdmc_dispatch_some(g, calls, arg, INT_MAX);
}
