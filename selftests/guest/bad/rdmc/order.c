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

	is(read_err(fd, ev, 0), EINVAL, "read: a length of 0");
	is(read_err(fd, ev, sizeof(*ev) - 1), EINVAL, "read: less than an event");
	fcntl(fd, F_SETFL, O_NONBLOCK);
	is(read_err(fd, ev, sizeof(ev)), EAGAIN, "read: no event is queued");
	is(read_err(fd, NULL, sizeof(ev)), EAGAIN, "read: no event is queued, null pointer");
	fcntl(fd, F_SETFL, 0);
}

static void stats(int fd)
{
	struct spindle_rdmc_stat st = { .member = 2 };

	is(call(fd, SPINDLE_RDMC_IOC_STAT, &st), EINVAL, "stat: no such member");
	st.member = UINT32_MAX;
	is(call(fd, SPINDLE_RDMC_IOC_STAT, &st), EINVAL, "stat: a rank far beyond the members");
	st.member = 1;
	is(call(fd, SPINDLE_RDMC_IOC_STAT, &st), 0, "stat: the last member");
	is(st.node, 2, "stat: the node of the last member");
	is(st.total, 0, "stat: no object");
	is(call(fd, SPINDLE_RDMC_IOC_STAT, NULL), EFAULT, "stat: a null pointer");
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
	is(call(fd[0], SPINDLE_RDMC_IOC_SEND, NULL), EFAULT, "send: a null pointer");
	is(call(fd[1], SPINDLE_RDMC_IOC_ACCEPT, NULL), EFAULT, "accept: a null pointer");
	is(call(fd[1], SPINDLE_RDMC_IOC_CANCEL, (void *)-PAGE), EFAULT, "cancel: a kernel address");
	is(call(fd[1], SPINDLE_RDMC_IOC_REFUSE, &c), EINVAL, "refuse: a reserved word");
	is(send_it(fd[1], from, LEN, NULL), EPERM, "send: by a receiver");
	is(accept_it(fd[1], 0, to, LEN), ENOENT, "accept: before any announcement");
	is(accept_it(fd[1], UINT64_MAX, to, LEN), ENOENT, "accept: the largest object number");
	is(cancel(fd[1], 0), ENOENT, "cancel: before any announcement");
	is(refuse(fd[1], UINT64_MAX), ENOENT, "refuse: the largest object number");

	is(send_it(fd[0], from, LEN, &object), 0, "send: an object");
	is(object, 0, "send: the number of the object");
	is(accept_it(fd[0], 0, to, LEN), ENOENT, "accept: by the root");
	is(refuse(fd[0], 0), ENOENT, "refuse: by the root");
	ok(expect(fd[1], SPINDLE_RDMC_INCOMING, &ev), "the receiver gets the announcement");
	is(accept_it(fd[1], 0, to, 0), EINVAL, "accept: no bytes");
	is(accept_it(fd[1], 0, to, LEN - 1), EINVAL, "accept: a byte less");
	is(accept_it(fd[1], 0, to, LEN + 1), EINVAL, "accept: a byte more");
	is(accept_it(fd[1], 1, to, LEN), ENOENT, "accept: an object that was not announced");
	is(accept_it(fd[1], 0, to, LEN), 0, "accept: the right length");
	is(accept_it(fd[1], 0, to, LEN), ENOENT, "accept: twice");
	is(refuse(fd[1], 0), ENOENT, "refuse: too late");
	is(done(fd[1], 0), 0, "the object arrives");
	ok(painted(to, LEN, 1), "the object has the right bytes");
	is(done(fd[0], 0), 0, "the root gets the result");
	is(cancel(fd[0], 0), ENOENT, "cancel: too late, by the root");
	is(cancel(fd[1], 0), ENOENT, "cancel: too late");

	is(send_it(fd[0], from, LEN, &object), 0, "send: a second object");
	ok(expect(fd[1], SPINDLE_RDMC_INCOMING, &ev), "the receiver gets the second announcement");
	is(cancel(fd[0], 1), 0, "cancel: by the root");
	is(cancel(fd[0], 1) | ENOENT, ENOENT, "cancel: twice");
	is(done(fd[1], 1), SPINDLE_RDMC_CANCELLED, "the receiver gets CANCELLED");
	is(accept_it(fd[1], 1, to, LEN), ENOENT, "accept: a cancelled object");
	is(done(fd[0], 1), SPINDLE_RDMC_CANCELLED, "the root gets CANCELLED");

	is(call(fd[0], SPINDLE_RDMC_IOC_CLOSE, NULL), 0, "close");
	is(call(fd[0], SPINDLE_RDMC_IOC_CLOSE, NULL), 0, "close: twice");
	is(send_it(fd[0], from, LEN, NULL), ESHUTDOWN, "send: after close");
	ok(expect(fd[1], SPINDLE_RDMC_CLOSING, &ev), "the receiver gets CLOSING");
	is(call(fd[1], SPINDLE_RDMC_IOC_CLOSE, (void *)-PAGE), 0, "close: no argument");
	ok(expect(fd[1], SPINDLE_RDMC_CLOSED, &ev), "the receiver gets CLOSED");
	ok(expect(fd[0], SPINDLE_RDMC_CLOSED, &ev), "the root gets CLOSED");
	is(ev.error, SPINDLE_RDMC_INCOMPLETE, "CLOSED reports the incomplete object");
	is(read(fd[0], &ev, sizeof(ev)), 0, "read: after the end");
	is(accept_it(fd[1], 1, to, LEN), ENOENT, "accept: after the end");
	is(cancel(fd[1], 1), ENOENT, "cancel: after the end");
	{
		struct pollfd p = { .fd = fd[1], .events = POLLIN };

		is(poll(&p, 1, 0), 1, "poll: after the end");
		is(p.revents, POLLHUP, "poll: POLLHUP after the end");
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
	is(i, SPINDLE_RDMC_QUEUE, "queue: it takes its number of objects");
	is(send_it(fd[0], from, LEN, NULL), EAGAIN, "queue: a full queue refuses an object");
	for (i = 0; i < (int)SPINDLE_RDMC_QUEUE; i++)
		given_up += !cancel(fd[0], i);
	is(given_up, SPINDLE_RDMC_QUEUE, "queue: all objects are given up");
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
	is(sent, 200, "queue: 200 objects that the root cancels");
	ok(waited > 200, "queue: later objects had to wait");
	while (send_it(fd[0], from, LEN, &object) == EAGAIN && i++ < 10000) {
		while (next(fd[0], &ev, 0))
			check_length(&ev);
		while (next(fd[1], &ev, 1))
			check_length(&ev);
	}
	is(object, 200, "queue: one object that the receiver takes");
	while (next(fd[1], &ev, WAIT_MS)) {
		check_length(&ev);
		if (ev.kind == SPINDLE_RDMC_INCOMING && ev.object == object)
			break;
	}
	is(accept_it(fd[1], object, to, LEN), 0, "queue: the receiver accepts that object");
	is(done(fd[1], object), 0, "queue: that object arrives");
	ok(painted(to, LEN, 1), "queue: that object has the right bytes");
	is(done(fd[0], object), 0, "queue: the root gets its result");
	is(odd_ones, 0, "queue: each result is the expected one");
	ok(close_all(fd, 2, false), "queue: the group closes with missing objects");
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
	ok(taken >= 16 && taken <= 128, "unread: the root waits after %d objects", (int)taken);
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
	is(out, end, "unread: the reader gets all events");
	is(wrong, 0, "unread: each event comes once, in order");
	ok(close_all(fd, 2, true), "unread: the group closes");
}
