// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows that go while processes map them: which contents does a process see, and which user pays?
 */
#define _GNU_SOURCE
#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev-bad.h"
#include "map.h"
#include "rows.h"
#include "tap.h"

static void *map(int fd, const struct spindle_section *s, int prot)
{
	void *p = mmap(NULL, s->len, prot, MAP_SHARED, fd, s->cookie);

	if (p == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	return p;
}

static void attach_reader(int fd, struct spindle_attach *a)
{
	if (call(fd, SPINDLE_IOC_ATTACH, a))
		die("attach: %s", strerror(errno));
}

static void set_limit(rlim_t bytes)
{
	struct rlimit r = { bytes, bytes };

	if (setrlimit(RLIMIT_MEMLOCK, &r))
		die("setrlimit: %s", strerror(errno));
}

/* Bits of the child's status. */
enum {
	CHILD_TWO = 1,		/* there was no room for two attachments */
	CHILD_KEEPS = 2,	/* the ring that it keeps was not charged */
	CHILD_AGAIN = 4,	/* there was no room when the ring was unmapped */
};

/*
 * The child is another user, whose limit is just enough for two attachments. The parent sends only
 * when the child is a reader, because a ring with nothing to read would not stay.
 */
static int keep_ring(int ready, int go)
{
	struct spindle_attach a = args(1, 1, SPINDLE_ATTACH_RECV),
			      b = args(2, 4, SPINDLE_ATTACH_RECV), again = b, third = b;
	int fd = open_dev(), other = open_dev(), next = open_dev(), last = open_dev(), status = 0;
	char word;
	void *rx;

	attach_reader(fd, &a);
	attach_reader(other, &b);
	close(fd);
	close(other);
	fd = open_dev();
	other = open_dev();
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		die("setresuid: %s", strerror(errno));
	set_limit(a.memlock + b.memlock);
	a = args(1, 1, SPINDLE_ATTACH_RECV);
	attach_reader(fd, &a);
	status |= call(other, SPINDLE_IOC_ATTACH, &again) ? CHILD_TWO : 0;
	close(other);
	rx = map(fd, &a.rx, PROT_READ);
	if (write(ready, "", 1) != 1)
		die("write: %s", strerror(errno));
	if (read(go, &word, 1) != 1)
		die("read: %s", strerror(errno));
	status |= call(next, SPINDLE_IOC_ATTACH, &third) == ENOMEM ? 0 : CHILD_KEEPS;
	munmap(rx, a.rx.len);
	third = args(2, 4, SPINDLE_ATTACH_RECV);
	status |= call(last, SPINDLE_IOC_ATTACH, &third) ? CHILD_AGAIN : 0;
	return status;
}

void rows_open(struct rows *r)
{
	struct spindle_attach a = args(1, 1, SPINDLE_ATTACH_RECV);
	int fd = open_dev(), ready[2];
	char word;

	attach_reader(fd, &a);
	r->rx = map(fd, &a.rx, PROT_READ);
	r->len = a.rx.len;
	r->tail = (void *)((char *)map(fd, &a.ctl, PROT_READ) + a.ctl_dlv_tail);
	r->consumed = (void *)((char *)map(fd, &a.usr, PROT_READ | PROT_WRITE) + a.usr_consumed);
	if (pipe(r->go) || pipe(ready))
		die("pipe: %s", strerror(errno));
	fflush(stdout);
	r->child = fork();
	if (!r->child)
		_exit(keep_ring(ready[1], r->go[0]));
	close(ready[1]);
	if (read(ready[0], &word, 1) != 1)
		die("the reader of another user does not come");
	close(ready[0]);
}

void rows_consume(struct rows *r)
{
	ok(!all_zero(r->rx, r->len), "rows: a reader sees what the sender has sent");
	*r->consumed = *r->tail;
}

void rows_check(struct rows *r)
{
	int status;

	ok(all_zero(r->rx, r->len), "rows: the row is empty for a reader that has read all");
	if (write(r->go[1], "", 1) != 1)
		die("write: %s", strerror(errno));
	waitpid(r->child, &status, 0);
	ok(WIFEXITED(status), "rows: a reader of another user ends");
	status = WEXITSTATUS(status);
	ok(!(status & CHILD_TWO), "rows: its limit is enough for two attachments");
	ok(!(status & CHILD_KEEPS), "rows: a ring that only this reader maps is charged to it");
	ok(!(status & CHILD_AGAIN), "rows: the charge ends with the mapping");
}
