// SPDX-License-Identifier: GPL-2.0-only
/*
 * RDMC groups without a kernel: see fake_rdmc.h.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>
#include <linux/spindle_rdmc.h>

#include "fake_rdmc.h"

#define FILES		512
#define GROUPS		256
#define CHUNK		(256UL * 1024)
#define QUEUE		SPINDLE_RDMC_QUEUE
#define NSEC_PER_MSEC	1000000ULL

struct object {
	uint64_t len, tag, moved, since, first;
	uint64_t addr[FAKE_NODES];
	bool given[FAKE_NODES];
};

struct file;

struct group {
	bool used, open, ended, closing, incomplete;
	uint64_t id, since;
	struct spindle_rdmc_create c;
	uint32_t member[FAKE_NODES];
	struct file *file[FAKE_NODES];
	bool closed[FAKE_NODES];
	uint64_t sent, done;
	struct object object[QUEUE];
};

struct file {
	int sock, events;
	pid_t pid;
	struct group *g;
	uint32_t node, rank;
	uint64_t locked;
};

static struct file files[FILES];
static struct group groups[GROUPS];
static struct fake_rdmc_opts opts;
static unsigned char chunk[CHUNK];

static uint64_t now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000ULL + (uint64_t)ts.tv_nsec;
}

/* ---- memory of processes ---------------------------------------------- */

static bool peek(pid_t pid, uint64_t addr, void *buf, size_t len)
{
	struct iovec here = { buf, len }, there = { (void *)(uintptr_t)addr, len };

	return process_vm_readv(pid, &here, 1, &there, 1, 0) == (ssize_t)len;
}

static bool poke(pid_t pid, uint64_t addr, void *buf, size_t len)
{
	struct iovec here = { buf, len }, there = { (void *)(uintptr_t)addr, len };

	return process_vm_writev(pid, &here, 1, &there, 1, 0) == (ssize_t)len;
}

/* Is it a mapping of a file that has a name? */
static bool is_file(pid_t pid, uint64_t addr)
{
	char path[64], line[512], name[256];
	unsigned long long from, to, inode;
	bool found = false;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	f = fopen(path, "r");
	while (f && fgets(line, sizeof(line), f)) {
		name[0] = '\0';
		if (sscanf(line, "%llx-%llx %*s %*s %*s %llu %255s", &from, &to, &inode,
			   name) >= 3 && addr >= from && addr < to)
			found = inode && strncmp(name, "/memfd:", 7);
	}
	if (f)
		fclose(f);
	return found;
}

static int pin(struct file *f, uint64_t addr, uint64_t len, bool write)
{
	uint64_t limit = write && opts.memlock_in ? opts.memlock_in : opts.memlock;
	unsigned char b;

	if (!len || len > SPINDLE_RDMC_MAX_LEN)
		return -EINVAL;
	if (limit && f->locked + len > limit)
		return -ENOMEM;
	if (!peek(f->pid, addr, &b, 1) || (write && !poke(f->pid, addr, &b, 1)) ||
	    !peek(f->pid, addr + len - 1, &b, 1) || (write && !poke(f->pid, addr + len - 1, &b, 1)))
		return -EFAULT;
	if (opts.no_files && is_file(f->pid, addr))
		return -EFAULT;
	f->locked += len;
	return 0;
}

/* ---- groups ----------------------------------------------------------- */

static void tell(struct file *f, struct spindle_rdmc_event *ev)
{
	ev->at_ns = now_ns();
	if (f && send(f->events, ev, sizeof(*ev), MSG_NOSIGNAL | MSG_DONTWAIT) < 0 &&
	    errno != EPIPE && errno != ECONNRESET)
		abort();
}

static void tell_all(struct group *g, struct spindle_rdmc_event ev)
{
	uint32_t i;

	for (i = 0; i < g->c.count; i++)
		tell(g->file[i], &ev);
}

static void end_object(struct group *g, uint64_t n, uint32_t error, uint32_t node,
		       uint32_t reason)
{
	struct object *o = &g->object[n % QUEUE];
	struct spindle_rdmc_event ev = {
		.kind = SPINDLE_RDMC_DONE, .error = error, .object = n, .len = o->len,
		.tag = o->tag, .node = node, .reason = reason, .first_ns = o->first,
		.busy_ns = o->first ? now_ns() - o->first : 0,
	};
	uint32_t i;

	for (i = 0; i < g->c.count; i++)
		if (o->given[i] && g->file[i])
			g->file[i]->locked -= o->len;
	g->incomplete |= error;
	tell_all(g, ev);
	/* An object that was given up out of order is skipped when its turn comes. */
	o->len = 0;
	while (g->done < g->sent && !g->object[g->done % QUEUE].len)
		g->done++;
}

static void end_group(struct group *g)
{
	uint32_t i;

	g->ended = true;
	for (i = 0; i < g->c.count; i++)
		if (g->file[i])
			shutdown(g->file[i]->events, SHUT_WR);
}

static void fail(struct group *g, uint32_t error, uint32_t node)
{
	struct spindle_rdmc_event ev = { .kind = SPINDLE_RDMC_FAILED, .error = error,
					 .node = node };
	uint64_t n;

	if (g->ended)
		return;
	for (n = g->done; n < g->sent; n++)
		if (g->object[n % QUEUE].len)
			end_object(g, n, error, node, 0);
	tell_all(g, ev);
	end_group(g);
}

static void maybe_closed(struct group *g)
{
	struct spindle_rdmc_event ev = { .kind = SPINDLE_RDMC_CLOSED, .object = g->sent };
	uint32_t i;

	for (i = 0; i < g->c.count; i++)
		if (!g->closed[i])
			return;
	ev.error = g->incomplete ? SPINDLE_RDMC_INCOMPLETE : SPINDLE_RDMC_OK;
	tell_all(g, ev);
	end_group(g);
}

/* The error that a member that has gone causes. */
static uint32_t gone(void)
{
	return opts.lost ? SPINDLE_RDMC_LOST : SPINDLE_RDMC_LEFT;
}

static void leave(struct file *f)
{
	struct group *g = f->g;
	uint32_t i;

	if (!g)
		return;
	g->file[f->rank] = NULL;
	f->g = NULL;
	fail(g, gone(), f->node);
	for (i = 0; i < g->c.count; i++)
		if (g->file[i])
			return;
	g->used = false;
}

static void announce(struct group *g)
{
	struct spindle_rdmc_event ev = { .kind = SPINDLE_RDMC_INCOMING };
	uint32_t i;

	/* Announce objects that were queued before all members had created the group. */
	for (ev.object = g->done; ev.object < g->sent; ev.object++) {
		struct object *o = &g->object[ev.object % QUEUE];

		ev.len = o->len;
		ev.tag = o->tag;
		for (i = 1; i < g->c.count && o->len; i++)
			tell(g->file[i], &ev);
	}
}

static void join(struct file *f, struct group *g, uint32_t rank)
{
	uint32_t i;

	f->g = g;
	f->rank = rank;
	g->file[rank] = f;
	for (i = 0; i < g->c.count; i++)
		if (!g->file[i])
			return;
	g->open = true;
	tell_all(g, (struct spindle_rdmc_event){ .kind = SPINDLE_RDMC_OPENED });
	announce(g);
}

static struct group *find_group(const struct spindle_rdmc_create *c, const uint32_t *member)
{
	struct group *g, *room = NULL;

	for (g = groups; g < groups + GROUPS; g++) {
		if (!g->used)
			room = g;
		else if (!g->ended && g->id == c->group)
			return g;
	}
	if (!room)
		abort();
	memset(room, 0, sizeof(*room));
	room->used = true;
	room->id = c->group;
	room->c = *c;
	room->since = now_ns();
	memcpy(room->member, member, c->count * sizeof(*member));
	return room;
}

static int do_create(struct file *f, struct spindle_rdmc_create *c)
{
	uint32_t member[FAKE_NODES], i, rank = FAKE_NODES;
	struct group *g;

	if (f->g)
		return -EISCONN;
	if (c->size != sizeof(*c) || c->flags || c->count < 2 || c->count > FAKE_NODES ||
	    !c->group || c->algorithm > SPINDLE_RDMC_HYBRID ||
	    (c->block && (c->block < SPINDLE_RDMC_MIN_BLOCK || c->block > SPINDLE_RDMC_MAX_BLOCK ||
			  (c->block & (c->block - 1)))))
		return -EINVAL;
	if (!peek(f->pid, c->members, member, c->count * sizeof(*member)))
		return -EFAULT;
	if (!c->node || c->node > FAKE_NODES)
		return -ENODEV;
	for (i = 0; i < c->count; i++) {
		if (!member[i] || member[i] > FAKE_NODES)
			return -ENOENT;
		if (member[i] == c->node)
			rank = i;
	}
	if (rank == FAKE_NODES)
		return -EINVAL;
	c->block = c->block ? c->block : 65536;
	c->timeout_ms = c->timeout_ms ? c->timeout_ms : 30000;
	f->node = c->node;
	for (g = groups; g < groups + GROUPS; g++)
		for (i = 0; g->used && g->id == c->group && i < g->c.count; i++)
			if (g->file[i] && g->file[i]->node == c->node)
				return -EEXIST;
	g = find_group(c, member);
	c->rank = rank;
	if (g->open || g->c.count != c->count || g->c.algorithm != c->algorithm ||
	    g->c.block != c->block || g->c.timeout_ms != c->timeout_ms ||
	    memcmp(g->member, member, c->count * sizeof(*member))) {
		/* The other members have other arguments, so put it into a group of its own. */
		fail(g, SPINDLE_RDMC_MISMATCH, c->node);
		g = find_group(c, member);
		join(f, g, rank);
		fail(g, SPINDLE_RDMC_MISMATCH, member[!rank]);
		return 0;
	}
	join(f, g, rank);
	return 0;
}

static int do_send(struct file *f, struct spindle_rdmc_send *s)
{
	struct spindle_rdmc_event ev = { .kind = SPINDLE_RDMC_INCOMING };
	struct group *g = f->g;
	struct object *o;
	uint32_t i;
	int err;

	if (f->rank)
		return -EPERM;
	if (g->ended)
		return -ECONNABORTED;
	if (g->closing)
		return -ESHUTDOWN;
	if (g->sent - g->done >= QUEUE)
		return -EAGAIN;
	err = pin(f, s->addr, s->len, false);
	if (err)
		return err;
	o = &g->object[g->sent % QUEUE];
	memset(o, 0, sizeof(*o));
	o->len = s->len;
	o->tag = s->tag;
	o->addr[0] = s->addr;
	o->given[0] = true;
	s->object = g->sent++;
	ev.object = s->object;
	ev.len = s->len;
	ev.tag = s->tag;
	for (i = 1; g->open && i < g->c.count; i++)
		tell(g->file[i], &ev);
	return 0;
}

static struct object *find_object(struct group *g, uint64_t n)
{
	return n >= g->done && n < g->sent && g->object[n % QUEUE].len ? &g->object[n % QUEUE] :
									 NULL;
}

static int do_accept(struct file *f, const struct spindle_rdmc_accept *a)
{
	struct object *o = find_object(f->g, a->object);
	int err;

	if (!f->rank || !o || o->given[f->rank])
		return -ENOENT;
	if (a->len != o->len)
		return -EINVAL;
	err = pin(f, a->addr, a->len, true);
	if (err)
		return err;
	o->addr[f->rank] = a->addr;
	o->given[f->rank] = true;
	return 0;
}

static int do_cancel(struct file *f, const struct spindle_rdmc_cancel *c, bool refuse)
{
	struct object *o = find_object(f->g, c->object);

	if (c->resv)
		return -EINVAL;
	if (!o || (refuse && o->given[f->rank]))
		return -ENOENT;
	end_object(f->g, c->object, refuse ? SPINDLE_RDMC_REFUSED : SPINDLE_RDMC_CANCELLED,
		   f->node, c->reason);
	return 0;
}

static int do_stat(struct file *f, struct spindle_rdmc_stat *st)
{
	struct group *g = f->g;
	struct object *o = find_object(g, g->done);

	if (st->member >= g->c.count)
		return -EINVAL;
	st->node = g->member[st->member];
	st->finished = g->done;
	st->object = g->done;
	st->blocks = o ? o->moved / g->c.block : 0;
	st->total = o ? (o->len + g->c.block - 1) / g->c.block : 0;
	return 0;
}

static int do_close(struct file *f)
{
	struct group *g = f->g;

	if (g->ended)
		return g->closed[f->rank] ? 0 : -ECONNABORTED;
	if (!f->rank)
		g->closing = true;
	else if (g->closing && g->done == g->sent)
		g->closed[f->rank] = true;
	maybe_closed(g);
	return 0;
}

static int serve(struct file *f, struct fake_rdmc_request *r)
{
	if (r->cmd == SPINDLE_RDMC_IOC_CREATE)
		return do_create(f, (void *)r->arg);
	if (!r->cmd) {
		leave(f);
		return 0;
	}
	if (!f->g)
		return -ENOTCONN;
	switch (r->cmd) {
	case SPINDLE_RDMC_IOC_SEND:
		return do_send(f, (void *)r->arg);
	case SPINDLE_RDMC_IOC_ACCEPT:
		return do_accept(f, (void *)r->arg);
	case SPINDLE_RDMC_IOC_REFUSE:
		return do_cancel(f, (void *)r->arg, true);
	case SPINDLE_RDMC_IOC_CANCEL:
		return do_cancel(f, (void *)r->arg, false);
	case SPINDLE_RDMC_IOC_STAT:
		return do_stat(f, (void *)r->arg);
	case SPINDLE_RDMC_IOC_CLOSE:
		return do_close(f);
	}
	return -ENOTTY;
}

/* ---- progress --------------------------------------------------------- */

static void move_chunk(struct group *g, struct object *o, size_t len)
{
	uint32_t i, last = g->c.count - 1;

	if (!o->first)
		o->first = now_ns();
	/* A killed process is noticed here before its files are closed. */
	if (!peek(g->file[0]->pid, o->addr[0] + o->moved, chunk, len)) {
		fail(g, gone(), g->member[0]);
		return;
	}
	for (i = 1; i < g->c.count; i++) {
		if (i == last && opts.corrupt_tag && o->tag == opts.corrupt_tag && !o->moved)
			chunk[0] ^= 1;
		if (!poke(g->file[i]->pid, o->addr[i] + o->moved, chunk, len)) {
			fail(g, gone(), g->member[i]);
			return;
		}
	}
	o->moved += len;
}

/* Move blocks of a group's first object, up to @budget. Return: is there more to do? */
static bool move_group(struct group *g, uint64_t budget)
{
	struct object *o = find_object(g, g->done);
	uint64_t now = now_ns(), n = g->done;
	uint32_t i;

	if (!o)
		return false;
	for (i = 0; i < g->c.count; i++) {
		if (o->given[i])
			continue;
		if (!o->since)
			o->since = now;
		if (now - o->since > g->c.timeout_ms * NSEC_PER_MSEC)
			fail(g, SPINDLE_RDMC_TIMEOUT, g->member[i]);
		return false;
	}
	while (budget && o->moved < o->len && !g->ended) {
		size_t len = o->len - o->moved < CHUNK ? o->len - o->moved : CHUNK;

		len = len < budget ? len : budget;
		budget -= len;
		move_chunk(g, o, len);
	}
	if (!g->ended && o->moved == o->len)
		end_object(g, n, SPINDLE_RDMC_OK, SPINDLE_RDMC_NOBODY, 0);
	return true;
}

static bool pass(uint64_t budget)
{
	struct group *g;
	bool busy = false;
	uint32_t i;

	for (g = groups; g < groups + GROUPS; g++) {
		if (!g->used || g->ended)
			continue;
		if (!g->open) {
			if (now_ns() - g->since > g->c.timeout_ms * NSEC_PER_MSEC)
				fail(g, SPINDLE_RDMC_TIMEOUT, SPINDLE_RDMC_NOBODY);
			continue;
		}
		busy |= move_group(g, budget);
		if (g->ended || !g->closing || g->done != g->sent || g->closed[0])
			continue;
		g->closed[0] = true;
		for (i = 1; i < g->c.count; i++)
			tell(g->file[i], &(struct spindle_rdmc_event){
					.kind = SPINDLE_RDMC_CLOSING, .object = g->sent });
	}
	return busy;
}

static void new_file(int listener)
{
	char byte, room[CMSG_SPACE(sizeof(int))];
	struct iovec iov = { &byte, 1 };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1, .msg_control = room,
			      .msg_controllen = sizeof(room) };
	struct ucred who;
	socklen_t len = sizeof(who);
	struct file *f;

	for (f = files; f->sock; f++)
		if (f == files + FILES - 1)
			abort();
	memset(f, 0, sizeof(*f));
	f->sock = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
	if (f->sock < 0 || getsockopt(f->sock, SOL_SOCKET, SO_PEERCRED, &who, &len) ||
	    recvmsg(f->sock, &msg, MSG_CMSG_CLOEXEC) != 1 || !CMSG_FIRSTHDR(&msg)) {
		if (f->sock > 0)
			close(f->sock);
		f->sock = 0;
		return;
	}
	f->pid = who.pid;
	memcpy(&f->events, CMSG_DATA(CMSG_FIRSTHDR(&msg)), sizeof(int));
}

static void hear(struct file *f)
{
	struct fake_rdmc_request req;
	struct fake_rdmc_reply rep = { 0 };

	if (recv(f->sock, &req, sizeof(req), 0) != sizeof(req)) {
		leave(f);
		close(f->sock);
		close(f->events);
		f->sock = 0;
		return;
	}
	rep.ret = serve(f, &req);
	memcpy(rep.arg, req.arg, sizeof(rep.arg));
	send(f->sock, &rep, sizeof(rep), MSG_NOSIGNAL);
}

int fake_rdmc_listen(const char *path)
{
	struct sockaddr_un at = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

	snprintf(at.sun_path, sizeof(at.sun_path), "%s", path);
	if (fd < 0 || bind(fd, (struct sockaddr *)&at, sizeof(at)) || listen(fd, 64))
		return -1;
	return fd;
}

void fake_rdmc_serve(int listener, const struct fake_rdmc_opts *o)
{
	static struct pollfd p[FILES + 1];
	static struct file *who[FILES + 1];
	uint64_t last = now_ns(), budget, now;
	bool busy = false;
	int n, i;

	opts = *o;
	for (;;) {
		p[0] = (struct pollfd){ .fd = listener, .events = POLLIN };
		for (n = 1, i = 0; i < FILES; i++) {
			if (!files[i].sock)
				continue;
			who[n] = &files[i];
			p[n++] = (struct pollfd){ .fd = files[i].sock, .events = POLLIN };
		}
		/* Check timeouts now and then. */
		poll(p, (nfds_t)n, busy ? (opts.rate ? 1 : 0) : 20);
		if (p[0].revents)
			new_file(listener);
		for (i = 1; i < n; i++)
			if (p[i].revents)
				hear(who[i]);
		now = now_ns();
		budget = opts.rate ? (now - last) * opts.rate / NSEC_PER_MSEC : 4 * CHUNK;
		if (opts.rate && budget > 5 * opts.rate)
			budget = 5 * opts.rate;
		last = now;
		busy = pass(budget);
	}
}
