// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that does not exist, that we may not read or write, or that ends too
 * early.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <linux/spindle.h>

#include "rdmc-bad.h"
#include "tap.h"

#define LEN	(4 * PAGE)

static int memfd(size_t bytes)
{
	int fd = memfd_create("rdmc-bad", MFD_CLOEXEC | MFD_ALLOW_SEALING);

	if (fd < 0 || ftruncate(fd, bytes))
		die("memfd: %s", strerror(errno));
	return fd;
}

static unsigned char *map_fd(int fd, size_t bytes, int prot, int flags)
{
	unsigned char *p = mmap(NULL, bytes, prot, flags, fd, 0);

	if (p == MAP_FAILED)
		die("mmap: %s", strerror(errno));
	return p;
}

/*
 * Pages of the module itself: those that a sender may write, or read-only ones.
 */
static unsigned char *of_module(bool tx)
{
	static struct spindle_attach a;
	static int fd = -1;
	const struct spindle_section *s = tx ? &a.tx : &a.ctl;
	unsigned char *p;

	if (fd < 0) {
		fd = open("/dev/spindle", O_RDWR | O_CLOEXEC);
		a = (struct spindle_attach) { .size = sizeof(a), .node = 1, .subgroup = 1,
					      .flags = SPINDLE_ATTACH_SEND, .event_fd = -1 };
		if (fd < 0 || ioctl(fd, SPINDLE_IOC_ATTACH, &a))
			die("attach: %s", strerror(errno));
	}
	p = mmap(NULL, s->len, tx ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd,
		 s->cookie);
	if (p == MAP_FAILED || s->len < PAGE)
		die("mmap of the module: %s", strerror(errno));
	return p;
}

/**
 * struct place - memory that a request names
 * @what: description
 * @p: where
 * @len: bytes
 * @send: errno of SEND; -1: success or an errno
 * @accept: errno of ACCEPT; the same
 */
struct place {
	const char *what;
	unsigned char *p;
	uint64_t len;
	int send, accept;
};

#define PLACES 20

static unsigned int make_places(struct place *place)
{
	unsigned char *hole = memory(3 * LEN, 1), *readable = memory(LEN, 2);
	unsigned char *none = memory(LEN, 3), *shut;
	int fd = memfd(LEN), sealed = memfd(LEN), file, cut = memfd(LEN);
	unsigned int n = 0;

	mprotect(hole + LEN, LEN, PROT_NONE);
	mprotect(readable, LEN, PROT_READ);
	mprotect(none, LEN, PROT_NONE);
	place[n++] = (struct place) { "nothing", NULL, LEN, EFAULT, EFAULT };
	place[n++] = (struct place) { "the kernel", (void *)0xffff888000000000, LEN,
				      EFAULT, EFAULT };
	place[n++] = (struct place) { "the last page of all", (void *)-PAGE, PAGE - 1,
				      EFAULT, EFAULT };
	place[n++] = (struct place) { "round the end", (void *)-PAGE, LEN, EINVAL, EINVAL };
	place[n++] = (struct place) { "not canonical", (void *)(1UL << 62), LEN, EFAULT, EFAULT };
	place[n++] = (struct place) { "a gap", hole, 3 * LEN, EFAULT, EFAULT };
	place[n++] = (struct place) { "half a gap", hole + PAGE, LEN, EFAULT, EFAULT };
	place[n++] = (struct place) { "a byte of a gap", hole + 1, LEN, EFAULT, EFAULT };
	place[n++] = (struct place) { "no rights", none, LEN, EFAULT, EFAULT };
	place[n++] = (struct place) { "read only", readable, LEN, 0, EFAULT };
	place[n++] = (struct place) { "read only, unaligned", readable + 1, LEN - 2, 0, EFAULT };
	place[n++] = (struct place) { "anonymous", hole, LEN, 0, 0 };
	place[n++] = (struct place) { "anonymous, unaligned", hole + 2 * LEN + 77, LEN - 99, 0, 0 };
	place[n++] = (struct place) { "a memfd", map_fd(fd, LEN, PROT_READ | PROT_WRITE,
							MAP_SHARED), LEN, 0, 0 };
	shut = map_fd(sealed, LEN, PROT_READ | PROT_WRITE, MAP_PRIVATE);
	if (fcntl(sealed, F_ADD_SEALS, F_SEAL_WRITE | F_SEAL_SHRINK | F_SEAL_GROW))
		die("seals: %s", strerror(errno));
	place[n++] = (struct place) { "a sealed memfd's copy", shut, LEN, 0, 0 };
	place[n++] = (struct place) { "a sealed memfd", map_fd(sealed, LEN, PROT_READ, MAP_SHARED),
				      LEN, 0, EFAULT };
	place[n++] = (struct place) { "a memfd that was cut", map_fd(cut, LEN,
						PROT_READ | PROT_WRITE, MAP_SHARED), LEN,
				      EFAULT, EFAULT };
	if (ftruncate(cut, PAGE))
		die("truncate: %s", strerror(errno));
	file = open("/tmp/rdmc-bad.file", O_RDWR | O_CREAT | O_TRUNC, 0600);
	if (file < 0 || ftruncate(file, LEN))
		die("file: %s", strerror(errno));
	/* The kernel decides which of these can be pinned for long. */
	place[n++] = (struct place) { "a file", map_fd(file, LEN, PROT_READ | PROT_WRITE,
						       MAP_SHARED), LEN, -1, -1 };
	place[n++] = (struct place) { "the module's, written", of_module(true), PAGE, -1, -1 };
	place[n++] = (struct place) { "the module's, read", of_module(false), PAGE, -1, EFAULT };
	return n;
}

void part_send(void)
{
	static const uint64_t len[] = { 0, SPINDLE_RDMC_MAX_LEN + 1, UINT64_MAX, 1ULL << 63 };
	struct place place[PLACES], *p = place;
	unsigned char *mem = memory(LEN, 1);
	unsigned int i, n = make_places(place);
	int fd[2], shift, err;
	uint64_t object;

	create_all(fd, 2, SPINDLE_RDMC_PIPELINE, 0);
	for (i = 0; i < ARRAY_SIZE(len); i++)
		is(send_it(fd[0], mem, len[i], NULL), EINVAL, "send: %#llx bytes",
		   (unsigned long long)len[i]);
	/* More bytes than the machine or the process has. */
	for (shift = 30; shift <= 40; shift++) {
		err = send_it(fd[0], mem, 1ULL << shift, NULL);
		ok(err == ENOMEM || err == EFAULT, "send: 1 << %d bytes: %s", shift,
		   strerror(err));
		err = send_it(fd[0], (void *)(PAGE - 1), (1ULL << shift) - 1, NULL);
		ok(err == ENOMEM || err == EFAULT, "send: 1 << %d bytes at no address: %s", shift,
		   strerror(err));
	}
	for (; n--; p++) {
		err = send_it(fd[0], p->p, p->len, &object);
		ok(p->send < 0 || err == p->send, "send: %s: %s", p->what,
		   err ? strerror(err) : "done");
		if (!err && (cancel(fd[0], object) ||
			     done(fd[0], object) != SPINDLE_RDMC_CANCELLED ||
			     done(fd[1], object) != SPINDLE_RDMC_CANCELLED))
			ok(false, "send: the object is cancelled");
	}
	ok(close_all(fd, 2, false), "send: the group closes");
}

void part_accept(void)
{
	struct place place[PLACES], *p = place;
	unsigned char *from = memory(3 * LEN, 7);
	unsigned int n = make_places(place);
	struct spindle_rdmc_event ev;
	uint64_t object;
	int fd[2], err;

	create_all(fd, 2, SPINDLE_RDMC_PIPELINE, 0);
	for (; n--; p++) {
		if (send_it(fd[0], from, p->len, &object) ||
		    !expect(fd[1], SPINDLE_RDMC_INCOMING, &ev))
			die("nothing comes");
		err = accept_it(fd[1], object, p->p, p->len);
		ok(p->accept < 0 || err == p->accept, "accept: %s: %s", p->what,
		   err ? strerror(err) : "done");
		if (err) {
			/* The object still waits. */
			unsigned char *mem = memory(p->len, 8);

			is(accept_it(fd[1], object, mem, p->len), 0,
			   "accept: other memory after the refusal");
			err = done(fd[1], object);
			ok(!err && painted(mem, p->len, 7), "accept: the bytes are right");
			munmap(mem, p->len);
		} else {
			err = done(fd[1], object);
			ok(!err && painted(p->p, p->len, 7), "accept: the bytes are right");
		}
		is(done(fd[0], object), 0, "accept: the root gets the result");
	}
	ok(close_all(fd, 2, true), "accept: the group closes");
}
