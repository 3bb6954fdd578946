// SPDX-License-Identifier: GPL-2.0-only
/*
 * The attach: requests that are refused, and the reply to one that is not.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "dev-bad.h"
#include "tap.h"

/* The attach is refused, and the file stays free. */
static void refused(int fd, struct spindle_attach a, int want, const char *what)
{
	int err = call(fd, SPINDLE_IOC_ATTACH, &a);

	is(err, want, "attach: %s: %s", what, strerror(want));
	is(call(fd, SPINDLE_IOC_KICK, NULL), ENOTCONN, "attach: %s: not attached", what);
}

/* A program that does not know logs has a shorter struct, which is accepted. */
#define LEAST	offsetof(struct spindle_attach, ctl_lsn)

static void attach_sizes(int fd)
{
	static unsigned char page[2 * PAGE] __attribute__((aligned(4096)));
	struct spindle_attach *a = (void *)page, *edge;
	static const uint32_t shorter[] = { 0, 4, 24, 272, LEAST - 8, LEAST - 1 };
	static const uint32_t wrong[] = { PAGE + 8, UINT32_MAX };
	unsigned int i;
	char text[32];
	int older;

	for (i = 0; i < ARRAY_SIZE(shorter); i++) {
		*a = args(1, 1, BOTH);
		a->size = shorter[i];
		snprintf(text, sizeof(text), "size %u", shorter[i]);
		is(call(fd, SPINDLE_IOC_ATTACH, a), EPROTONOSUPPORT, "attach: %s", text);
	}
	*a = args(1, 1, BOTH);
	a->size = 272;
	is(call(fd, _IOC(_IOC_READ | _IOC_WRITE, SPINDLE_IOC_MAGIC, 0, 272), a), EPROTONOSUPPORT,
	   "attach: a program of a former version");
	older = open_dev();
	*a = args(1, 1, BOTH);
	a->size = LEAST;
	a->began_lsn = 77;
	is(call(older, _IOC(_IOC_READ | _IOC_WRITE, SPINDLE_IOC_MAGIC, 0, LEAST), a), 0,
	   "attach: a program that does not know logs");
	is(a->began_lsn, 77, "attach: it gets no more than it knows");
	close(older);
	for (i = 0; i < ARRAY_SIZE(wrong); i++) {
		*a = args(1, 1, BOTH);
		a->size = wrong[i];
		snprintf(text, sizeof(text), "size %u", wrong[i]);
		is(call(fd, SPINDLE_IOC_ATTACH, a), EINVAL, "attach: %s", text);
	}
	*a = args(1, 1, BOTH);
	a->size = sizeof(*a) + 64;
	page[sizeof(*a) + 63] = 1;
	is(call(fd, SPINDLE_IOC_ATTACH, a), EINVAL, "attach: something behind what is known");
	is(call(fd, SPINDLE_IOC_ATTACH, NULL), EFAULT, "attach: no argument");
	edge = (void *)(page + PAGE - 64);
	*(uint32_t *)edge = sizeof(*a);
	mprotect(page + PAGE, PAGE, PROT_NONE);
	is(call(fd, SPINDLE_IOC_ATTACH, edge), EFAULT, "attach: half an argument");
	mprotect(page + PAGE, PAGE, PROT_READ | PROT_WRITE);
}

/* The subgroup has no history, so only the next position is a place to begin with. */
static void attach_places(int fd)
{
	struct spindle_attach a = args(1, 1, BOTH);

	a.from = SPINDLE_FROM_LSN + 1;
	refused(fd, a, EINVAL, "unknown place");
	a.from = UINT32_MAX;
	refused(fd, a, EINVAL, "place 2^32-1");
	a = args(1, 1, SPINDLE_ATTACH_SEND);
	a.from = SPINDLE_FROM_OLDEST;
	refused(fd, a, EINVAL, "place of a process that only sends");
	a = args(1, 1, BOTH);
	a.from = SPINDLE_FROM_LSN;
	a.lsn = UINT64_MAX;
	refused(fd, a, ERANGE, "position 2^64-1");
	a.lineage[1] = 1;
	refused(fd, a, EXDEV, "position of another lineage");
	a.lineage[1] = 0;
	a.era = 1;
	refused(fd, a, EXDEV, "position of another era");
}

/* Names of 1 to 64 characters, and addresses at which there is none. */
static void attach_names(int fd)
{
	static const char longest[] =
		"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";
	struct spindle_attach a = args(1, 0, SPINDLE_ATTACH_RECV);
	char *page;

	a.name = (uintptr_t)"";
	refused(fd, a, ENOENT, "an empty name");
	a.name = (uintptr_t)"third";
	refused(fd, a, ENOENT, "unknown name");
	a.name = (uintptr_t)"others";
	refused(fd, a, ENOENT, "name of a subgroup without the node");
	a.name = (uintptr_t)longest;
	refused(fd, a, ENOENT, "unknown name of 64 characters");
	page = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	memset(page, 'x', 2 * PAGE);
	a.name = (uintptr_t)page;
	refused(fd, a, ENAMETOOLONG, "a name without an end");
	munmap(page + PAGE, PAGE);
	a.name = (uintptr_t)(page + PAGE - 8);
	refused(fd, a, EFAULT, "a name that ends at no memory");
	munmap(page, PAGE);
	a.name = (uintptr_t)page;
	refused(fd, a, EFAULT, "a name in no memory");
	a.name = 8;
	refused(fd, a, EFAULT, "a name at address 8");
	a.name = UINT64_MAX;
	refused(fd, a, EFAULT, "a name at the last address");
	a.name = (uintptr_t)"first";
	a.subgroup = 1;
	refused(fd, a, EINVAL, "id and name");
}

static void attach_values(int fd)
{
	struct spindle_attach a;
	int null = open("/dev/null", O_RDWR), err;

	refused(fd, args(1, 1, 0), EINVAL, "no role");
	refused(fd, args(1, 1, SPINDLE_ATTACH_COPY), EINVAL, "only copy");
	refused(fd, args(1, 1, SPINDLE_ATTACH_COPY | SPINDLE_ATTACH_SEND), EINVAL,
		"copy without receive");
	refused(fd, args(1, 1, BOTH | 16), EINVAL, "flag 16");
	refused(fd, args(1, 1, BOTH | 1U << 31), EINVAL, "flag 2^31");
	a = args(1, 1, BOTH);
	a.resv2 = 1;
	refused(fd, a, EINVAL, "reserved word");
	attach_names(fd);
	attach_places(fd);
	a = args(1, 1, BOTH);
	a.copy_bytes = 16384;
	refused(fd, a, EINVAL, "copy_bytes without copy");
	a = args(1, 1, COPY);
	a.copy_bytes = 512;
	refused(fd, a, EINVAL, "copy_bytes below max_msg");
	a.copy_bytes = 16385;
	refused(fd, a, EINVAL, "copy_bytes no power of two");
	a.copy_bytes = 1ULL << 31;
	refused(fd, a, EINVAL, "copy_bytes 2^31");
	a.copy_bytes = 1ULL << 63;
	refused(fd, a, EINVAL, "copy_bytes 2^63");
	a = args(1, 1, BOTH);
	a.event_fd = -2;
	refused(fd, a, EINVAL, "event_fd -2");
	a.event_fd = 999;
	refused(fd, a, EBADF, "event_fd 999");
	a.event_fd = null;
	err = call(fd, SPINDLE_IOC_ATTACH, &a);
	ok(err == EBADF || err == EINVAL, "attach: event_fd of something else");
	refused(fd, args(99, 1, BOTH), ENODEV, "unknown node");
	refused(fd, args(0, 1, BOTH), ENODEV, "node 0");
	refused(fd, args(UINT32_MAX, 1, BOTH), ENODEV, "node 2^32-1");
	refused(fd, args(4, 1, BOTH), ENOENT, "node without view");
	refused(fd, args(1, 77, BOTH), ENOENT, "unknown subgroup");
	refused(fd, args(1, 4, SPINDLE_ATTACH_RECV), ENOENT, "subgroup without the node");
	refused(fd, args(1, 2, SPINDLE_ATTACH_SEND), EPERM, "no sender");
	refused(fd, args(1, 2, BOTH), EPERM, "no sender, both roles");
	close(null);
}

static void attach_elsewhere(void)
{
	int status, fd = open_dev();
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		if (unshare(CLONE_NEWNET))
			_exit(99);
		_exit(attach(fd, args(1, 1, SPINDLE_ATTACH_RECV)));
	}
	waitpid(pid, &status, 0);
	is(WEXITSTATUS(status), ENODEV, "attach: node of another network namespace");
	close(fd);
}

/* The same request, with rubbish where the reply goes. */
static struct spindle_attach with_rubbish(const struct spindle_attach *want)
{
	struct spindle_attach a;

	memset(&a, 0xa5, sizeof(a));
	memcpy(&a, want, offsetof(struct spindle_attach, memlock));
	a.name = 0;
	a.resv2 = 0;
	return a;
}

/*
 * Check the reply. The fields that only the reply fills contain rubbish before.
 */
static void attach_reply(int fd)
{
	struct spindle_attach a, want = args(1, 1, SPINDLE_ATTACH_SEND);
	int other;

	a = with_rubbish(&want);
	is(call(fd, SPINDLE_IOC_ATTACH, &a), 0, "attach: rubbish where the reply goes");
	is(a.size, sizeof(a), "reply: size");
	is(a.vid, 5, "reply: vid");
	is(a.members, 3, "reply: members");
	is(a.senders, 3, "reply: senders");
	is(a.rank, 0, "reply: rank");
	is(a.sender_rank, 0, "reply: sender_rank");
	is(a.window, 16, "reply: window");
	is(a.max_msg, 1024, "reply: max_msg");
	is(a.ring_bytes, 16384, "reply: ring_bytes");
	ok(a.features & SPINDLE_FEAT_ORDERED, "reply: ordered");
	is(a.tx.len, 16384, "reply: tx");
	is(a.dlv_entries, 0, "reply: no dlv entries for a sender");
	is(a.dlv.len, 0, "reply: no dlv for a sender");
	is(a.rx.len, 0, "reply: no rx for a sender");
	is(a.copy.len, 0, "reply: no copy for a sender");
	is(a.ctl_durable | a.ctl_lsn | a.usr_want | a.usr_log | a.sst_log, 0, "reply: no logs");
	is(a.lsn | a.lineage[0] | a.lineage[1] | a.era, 0, "reply: a static view");
	is(a.memlock, a.ctl.len + a.usr.len + a.tx.len, "reply: memlock of a sender");
	is(attach(fd, args(1, 1, SPINDLE_ATTACH_RECV)), EISCONN, "attach: the same file again");
	is(attach_new(1, 1, BOTH, NULL), EBUSY, "attach: a second sender");

	other = open_dev();
	want = args(1, 1, SPINDLE_ATTACH_RECV);
	a = with_rubbish(&want);
	is(call(other, SPINDLE_IOC_ATTACH, &a), 0, "attach: a reader besides a sender");
	is(a.tx.len, 0, "reply: no tx for a reader");
	is(a.copy.len, 0, "reply: no copy for a reader in place");
	is(a.rx.len, 16384, "reply: rx");
	is(a.memlock, a.ctl.len + a.usr.len + a.dlv.len, "reply: memlock of a reader");
	close(other);

	other = open_dev();
	want = args(1, 0, SPINDLE_ATTACH_RECV);
	a = with_rubbish(&want);
	a.name = (uintptr_t)"second";
	is(call(other, SPINDLE_IOC_ATTACH, &a), 0, "attach: by name");
	is(a.subgroup, 2, "reply: id of the name's subgroup");
	is(a.name, 0, "reply: no name");
	close(other);

	other = open_dev();
	want = args(1, 2, COPY);
	a = with_rubbish(&want);
	is(call(other, SPINDLE_IOC_ATTACH, &a), 0, "attach: a copying reader");
	is(a.sender_rank, SPINDLE_NO_RANK, "reply: no sender_rank");
	is(a.rx.len, 0, "reply: no rx for a copying reader");
	is(a.copy.len, 4096, "reply: copy");
	is(a.memlock, a.ctl.len + a.usr.len + a.dlv.len + a.copy.len,
	   "reply: memlock of a copying reader");
	close(other);
}

static void attach_readers(void)
{
	int fd[SPINDLE_MAX_READERS], more = open_dev();
	unsigned int i, good = 0;

	for (i = 0; i < SPINDLE_MAX_READERS; i++) {
		fd[i] = open_dev();
		good += !attach(fd[i], args(1, 1, SPINDLE_ATTACH_RECV));
	}
	is(good, SPINDLE_MAX_READERS, "attach: as many readers as there may be");
	is(attach(more, args(1, 1, SPINDLE_ATTACH_RECV)), EUSERS, "attach: one more");
	is(attach_new(1, 1, SPINDLE_ATTACH_SEND, NULL), 0, "attach: a sender besides them");
	close(fd[0]);
	is(attach(more, args(1, 1, SPINDLE_ATTACH_RECV)), 0, "attach: when one has gone");
	for (i = 1; i < SPINDLE_MAX_READERS; i++)
		close(fd[i]);
	close(more);
}

void part_attach(void)
{
	struct {
		struct spindle_attach a;
		uint64_t newer[8];
	} longer = { .a = args(1, 1, SPINDLE_ATTACH_SEND), .newer = { 0 } };
	char c;
	int fd = open_dev();

	attach_sizes(fd);
	attach_values(fd);
	attach_elsewhere();
	is(call(fd, _IO(SPINDLE_IOC_MAGIC, 9), NULL), ENOTTY, "unknown ioctl");
	is(read(fd, &c, 1) < 0 ? errno : 0, EINVAL, "read()");
	is(write(fd, &c, 1) < 0 ? errno : 0, EINVAL, "write()");
	attach_reply(fd);
	close(fd);
	fd = open_dev();
	longer.a.size = sizeof(longer);
	is(call(fd, _IOC(_IOC_READ | _IOC_WRITE, SPINDLE_IOC_MAGIC, 0, sizeof(longer)), &longer), 0,
	   "attach: a newer program");
	close(fd);
	attach_readers();
}
