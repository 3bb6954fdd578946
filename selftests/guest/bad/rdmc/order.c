// SPDX-License-Identifier: GPL-2.0-only
/*
 * Requests in the wrong order, and events that a process reads in odd pieces or never.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "rdmc-bad.h"
#include "tap.h"

#define LEN	10000

static int read_err(int fd, void *buf, size_t len)
{
	ssize_t n = syscall(SYS_read, fd, buf, len);

	return n < 0 ? errno : 0;
}

static void reads(int fd)
{
	struct spindle_rdmc_event ev[3];

	is(read_err(fd, ev, 0), EINVAL, "read: nothing");
	is(read_err(fd, ev, sizeof(*ev) - 1), EINVAL, "read: less than an event");
	fcntl(fd, F_SETFL, O_NONBLOCK);
	is(read_err(fd, ev, sizeof(ev)), EAGAIN, "read: there is none");
	is(read_err(fd, NULL, sizeof(ev)), EAGAIN, "read: nor to nowhere");
	fcntl(fd, F_SETFL, 0);
}

static void stats(int fd)
{
	struct spindle_rdmc_stat st = { .member = 2 };

	is(call(fd, SPINDLE_RDMC_IOC_STAT, &st), EINVAL, "stat: no such member");
	st.member = UINT32_MAX;
	is(call(fd, SPINDLE_RDMC_IOC_STAT, &st), EINVAL, "stat: far out");
	st.member = 1;
	is(call(fd, SPINDLE_RDMC_IOC_STAT, &st), 0, "stat: the last member");
	is(st.node, 2, "stat: who it is");
	is(st.total, 0, "stat: no object");
	is(call(fd, SPINDLE_RDMC_IOC_STAT, NULL), EFAULT, "stat: of nothing");
}

void part_order(void)
{
	struct spindle_rdmc_cancel c = { .resv = 1 };
	unsigned char *from = memory(LEN, 1), *to = memory(LEN, 2);
	struct spindle_rdmc_event ev;
	uint64_t object;
	int fd[2];

	create_all(fd, 2, SPINDLE_RDMC_PIPELINE, 0);
	reads(fd[0]);
	stats(fd[0]);
	is(call(fd[0], SPINDLE_RDMC_IOC_STAT + 77, NULL), ENOTTY, "no such request");
	is(call(fd[0], SPINDLE_RDMC_IOC_SEND, NULL), EFAULT, "send: of nothing");
	is(call(fd[1], SPINDLE_RDMC_IOC_ACCEPT, NULL), EFAULT, "accept: of nothing");
	is(call(fd[1], SPINDLE_RDMC_IOC_CANCEL, (void *)-PAGE), EFAULT, "cancel: of the kernel");
	is(call(fd[1], SPINDLE_RDMC_IOC_REFUSE, &c), EINVAL, "refuse: what is reserved");
	is(send_it(fd[1], from, LEN, NULL), EPERM, "send: not the root");
	is(accept_it(fd[1], 0, to, LEN), ENOENT, "accept: before anything comes");
	is(accept_it(fd[1], UINT64_MAX, to, LEN), ENOENT, "accept: the last object of all");
	is(cancel(fd[1], 0), ENOENT, "cancel: before anything comes");
	is(refuse(fd[1], UINT64_MAX), ENOENT, "refuse: the last object of all");

	is(send_it(fd[0], from, LEN, &object), 0, "send");
	is(object, 0, "send: which object");
	is(accept_it(fd[0], 0, to, LEN), ENOENT, "accept: by the root");
	is(refuse(fd[0], 0), ENOENT, "refuse: by the root");
	ok(expect(fd[1], SPINDLE_RDMC_INCOMING, &ev), "it comes");
	is(accept_it(fd[1], 0, to, 0), EINVAL, "accept: no bytes");
	is(accept_it(fd[1], 0, to, LEN - 1), EINVAL, "accept: a byte less");
	is(accept_it(fd[1], 0, to, LEN + 1), EINVAL, "accept: a byte more");
	is(accept_it(fd[1], 1, to, LEN), ENOENT, "accept: the next one");
	is(accept_it(fd[1], 0, to, LEN), 0, "accept: in the end");
	is(accept_it(fd[1], 0, to, LEN), ENOENT, "accept: twice");
	is(refuse(fd[1], 0), ENOENT, "refuse: too late");
	is(done(fd[1], 0), 0, "it is there");
	ok(painted(to, LEN, 1), "with the right bytes");
	is(done(fd[0], 0), 0, "the root knows");
	is(cancel(fd[0], 0), ENOENT, "cancel: too late, the root");
	is(cancel(fd[1], 0), ENOENT, "cancel: too late");

	is(send_it(fd[0], from, LEN, &object), 0, "send: another");
	ok(expect(fd[1], SPINDLE_RDMC_INCOMING, &ev), "it comes");
	is(cancel(fd[0], 1), 0, "cancel: by the root");
	is(cancel(fd[0], 1) | ENOENT, ENOENT, "cancel: twice");
	is(done(fd[1], 1), SPINDLE_RDMC_CANCELLED, "is told");
	is(accept_it(fd[1], 1, to, LEN), ENOENT, "accept: what was cancelled");
	is(done(fd[0], 1), SPINDLE_RDMC_CANCELLED, "is told to the root");

	is(call(fd[0], SPINDLE_RDMC_IOC_CLOSE, NULL), 0, "close");
	is(call(fd[0], SPINDLE_RDMC_IOC_CLOSE, NULL), 0, "close: twice");
	is(send_it(fd[0], from, LEN, NULL), ESHUTDOWN, "send: behind close");
	ok(expect(fd[1], SPINDLE_RDMC_CLOSING, &ev), "is told");
	is(call(fd[1], SPINDLE_RDMC_IOC_CLOSE, (void *)-PAGE), 0, "close: no argument");
	ok(expect(fd[1], SPINDLE_RDMC_CLOSED, &ev), "closed");
	ok(expect(fd[0], SPINDLE_RDMC_CLOSED, &ev), "closed: the root");
	is(ev.error, SPINDLE_RDMC_INCOMPLETE, "not all objects");
	is(read(fd[0], &ev, sizeof(ev)), 0, "read: behind the end");
	is(accept_it(fd[1], 1, to, LEN), ENOENT, "accept: behind the end");
	is(cancel(fd[1], 1), ENOENT, "cancel: behind the end");
	{
		struct pollfd p = { .fd = fd[1], .events = POLLIN };

		is(poll(&p, 1, 0), 1, "poll: behind the end");
		is(p.revents, POLLHUP, "poll: says so");
	}
	close(fd[0]);
	close(fd[1]);
}

/* The lengths of the objects of part_queue() identify them. */
static int odd_ones;

static void check_length(const struct spindle_rdmc_event *ev)
{
	uint64_t want = ev->object < SPINDLE_RDMC_QUEUE || ev->object == 200 ? LEN :
			1 + ev->object;

	if ((ev->kind == SPINDLE_RDMC_INCOMING || ev->kind == SPINDLE_RDMC_DONE) &&
	    ev->len != want)
		odd_ones++;
}

/* The root gives up more objects than a member records, and the other member does not read. */
void part_queue(void)
{
	unsigned char *from = memory(LEN, 1), *to = memory(LEN, 2);
	int fd[2], i, sent, waited = 0, given_up = 0;
	struct spindle_rdmc_event ev;
	uint64_t object;

	create_all(fd, 2, SPINDLE_RDMC_PIPELINE, 5000);
	for (i = 0; i < 40 && !send_it(fd[0], from, LEN, NULL); i++)
		;
	is(i, SPINDLE_RDMC_QUEUE, "queue: so many, and no more");
	is(send_it(fd[0], from, LEN, NULL), EAGAIN, "queue: then it is full");
	for (i = 0; i < (int)SPINDLE_RDMC_QUEUE; i++)
		given_up += !cancel(fd[0], i);
	is(given_up, SPINDLE_RDMC_QUEUE, "queue: all are given up");
	for (i = 0, sent = SPINDLE_RDMC_QUEUE; i < 5000 && sent < 200; i++) {
		while (next(fd[0], &ev, 0))
			check_length(&ev);
		if (!send_it(fd[0], from, 1 + sent, &object)) {
			cancel(fd[0], object);
			sent++;
			continue;
		}
		waited++;
		/* The other member has to read its events before the root can send more. */
		while (waited > 200 && next(fd[1], &ev, 1))
			check_length(&ev);
		usleep(1000);
	}
	is(sent, 200, "queue: 200 objects that nobody wants");
	ok(waited > 200, "queue: the last ones had to wait");
	while (send_it(fd[0], from, LEN, &object) == EAGAIN && i++ < 10000) {
		while (next(fd[0], &ev, 0))
			check_length(&ev);
		while (next(fd[1], &ev, 1))
			check_length(&ev);
	}
	is(object, 200, "queue: one that somebody wants");
	while (next(fd[1], &ev, WAIT_MS)) {
		check_length(&ev);
		if (ev.kind == SPINDLE_RDMC_INCOMING && ev.object == object)
			break;
	}
	is(accept_it(fd[1], object, to, LEN), 0, "queue: it can be had");
	is(done(fd[1], object), 0, "queue: it comes");
	ok(painted(to, LEN, 1), "queue: whole");
	is(done(fd[0], object), 0, "queue: and the root knows");
	is(odd_ones, 0, "queue: each was what it was");
	ok(close_all(fd, 2, false), "queue: the group ends as it should");
}

/* No process reads events: the group waits, and then goes on. */
void part_unread(void)
{
	unsigned char *from = memory(LEN, 1), *to = memory(LEN, 2);
	uint64_t sent = 0, taken = 0, in = 0, out = 0, end, wrong = 0;
	struct spindle_rdmc_event ev;
	int fd[2], idle = 0;

	create_all(fd, 2, SPINDLE_RDMC_PIPELINE, 0);
	while (idle < 500) {
		bool any = !send_it(fd[0], from, 1 + sent % LEN, NULL);

		sent += any;
		if (!accept_it(fd[1], taken, to, 1 + taken % LEN)) {
			taken++;
			any = true;
		}
		while (next(fd[0], &ev, 0))
			any = true;
		idle = any ? 0 : idle + 1;
		if (!any)
			usleep(1000);
	}
	ok(taken >= 16 && taken <= 128, "unread: %d objects, then it waits", (int)taken);
	end = sent + 100;
	while (out < end && next(fd[1], &ev, WAIT_MS)) {
		if (ev.kind == SPINDLE_RDMC_INCOMING) {
			wrong += ev.object != in++;
			if (ev.object >= taken)
				wrong += !!accept_it(fd[1], taken++, to, ev.len);
		} else {
			wrong += ev.kind != SPINDLE_RDMC_DONE || ev.object != out++ || ev.error;
		}
		while (sent < end && !send_it(fd[0], from, 1 + sent % LEN, NULL))
			sent++;
		while (next(fd[0], &ev, 0))
			;
	}
	is(out, end, "unread: then all come");
	is(wrong, 0, "unread: each once, and in order");
	ok(close_all(fd, 2, true), "unread: the group closes");
}
