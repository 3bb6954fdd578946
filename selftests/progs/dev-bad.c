// SPDX-License-Identifier: GPL-2.0-only
/*
 * dev-bad: what /dev/spindle refuses, and what it survives.
 *
 *	dev-bad attach|map|calls|fork|memlock|notify|copy|forming|close|gone|nomem
 *
 * Needs nodes 1 to 4 in this kernel; on 1 to 3 a view of the members 1, 2, 3 and 9, of
 * which 9 is nowhere, with the subgroups
 *	1	members 1 2 3, window 16, max-msg 1024, ring 16384
 *	2	members 1 2, sender 2, window 8, max-msg 512, ring 4096
 *	3	members 1 9: never active
 *	4	members 2 3
 * "gone" removes views and nodes. "nomem" needs subgroup 1 of node 1 alone.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <linux/capability.h>
#include <spindle/spindle.h>

#include "tap.h"

#define PAGE	4096UL
#define BOTH	(SPINDLE_ATTACH_SEND | SPINDLE_ATTACH_RECV)
#define COPY	(SPINDLE_ATTACH_RECV | SPINDLE_ATTACH_COPY)

static int open_dev(void)
{
	int fd = open(SPINDLE_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die("%s: %s", SPINDLE_DEVICE, strerror(errno));
	return fd;
}

static struct spindle_attach args(uint32_t node, uint32_t subgroup, uint32_t flags)
{
	struct spindle_attach a = {
		.size = sizeof(a),
		.node = node,
		.subgroup = subgroup,
		.flags = flags,
		.event_fd = -1,
	};

	return a;
}

/* The errno of an ioctl, positive. */
static int call(int fd, unsigned long cmd, void *arg)
{
	return ioctl(fd, cmd, arg) ? errno : 0;
}

static int attach(int fd, struct spindle_attach a)
{
	return call(fd, SPINDLE_IOC_ATTACH, &a);
}

/* The same with a new file; which is closed if it is not wanted. */
static int attach_new(uint32_t node, uint32_t subgroup, uint32_t flags, int *fd)
{
	int new = open_dev(), err = attach(new, args(node, subgroup, flags));

	if (fd && !err)
		*fd = new;
	else
		close(new);
	return err;
}

static void must_attach(struct spindle_queue *q, uint32_t node, uint32_t subgroup,
			uint32_t flags, int event_fd)
{
	struct spindle_attach_opts o = {
		.node = node, .subgroup = subgroup, .flags = flags, .event_fd = event_fd,
	};
	int err = spindle_attach(q, &o);

	if (err)
		die("attach to node %u subgroup %u: %s", node, subgroup, strerror(-err));
}

static void fill(unsigned char *p, uint32_t len, uint64_t key)
{
	uint32_t i;

	for (i = 0; i < len; i++)
		p[i] = mix(key + i / 8) >> (i % 8 * 8);
}

/* Send one message whose bytes follow from its number; 0 or -errno. */
static int send_one(struct spindle_queue *q, uint64_t num, uint32_t len)
{
	struct spindle_slot s;
	int err = spindle_reserve(q, len, &s);

	if (err)
		return err;
	fill(s.data, len, num);
	return spindle_commit(q, &s, len);
}

/* Send, waiting for room while somebody else reads; 0 or -errno. */
static int send_wait(struct spindle_queue *q, uint64_t num, uint32_t len)
{
	unsigned char buf[1024];

	fill(buf, len, num);
	return spindle_send_wait(q, buf, len, 20000);
}

/*
 * Take the next message and look at its bytes. 1: fine, 0: none came, or -errno;
 * -EILSEQ: other bytes. Looks again and again: poll() does not wait for a new message
 * while others are held.
 */
static int read_one(struct spindle_queue *q, uint64_t num, uint32_t len, int timeout)
{
	unsigned char want[1024];
	struct spindle_msg m;
	int n;

	while (!(n = spindle_peek(q, &m)) && timeout-- > 0)
		usleep(1000);
	if (n <= 0)
		return n;
	fill(want, len, num);
	return m.len == len && !memcmp(m.data, want, len) ? 1 : -EILSEQ;
}

static int read_release(struct spindle_queue *q, uint64_t num, uint32_t len, int timeout)
{
	int n = read_one(q, num, len, timeout);

	spindle_release(q);
	return n;
}

static bool pollable(int fd, short events, short want, int timeout)
{
	struct pollfd p = { .fd = fd, .events = events };
	int n = poll(&p, 1, timeout);

	if (n >= 0 && (p.revents & (events | POLLERR | POLLHUP)) == want)
		return true;
	printf("# poll: %d, events %#x, want %#x\n", n, p.revents, want);
	return false;
}

/* ---- attach ----------------------------------------------------------- */

/* Refused, and the file is as free as before. */
static void refused(int fd, struct spindle_attach a, int want, const char *what)
{
	int err = call(fd, SPINDLE_IOC_ATTACH, &a);

	is(err, want, "attach: %s: %s", what, strerror(want));
	is(call(fd, SPINDLE_IOC_KICK, NULL), ENOTCONN, "attach: %s: not attached", what);
}

static void attach_sizes(int fd)
{
	static unsigned char page[2 * PAGE] __attribute__((aligned(4096)));
	struct spindle_attach *a = (void *)page, *edge;
	static const uint32_t wrong[] = { 0, 4, 24, sizeof(*a) - 8, sizeof(*a) - 1, PAGE + 8,
					  UINT32_MAX };
	char text[32];
	unsigned int i;

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

static void attach_values(int fd)
{
	struct spindle_attach a;
	int null = open("/dev/null", O_RDWR), err;

	refused(fd, args(1, 1, 0), EINVAL, "no role");
	refused(fd, args(1, 1, SPINDLE_ATTACH_COPY), EINVAL, "only copy");
	refused(fd, args(1, 1, SPINDLE_ATTACH_COPY | SPINDLE_ATTACH_SEND), EINVAL,
		"copy without receive");
	refused(fd, args(1, 1, BOTH | 8), EINVAL, "flag 8");
	refused(fd, args(1, 1, BOTH | 1U << 31), EINVAL, "flag 2^31");
	a = args(1, 1, BOTH);
	a.resv0 = 1;
	refused(fd, a, EINVAL, "reserved word");
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

/* What the reply says, with rubbish in all that is only to be filled. */
static void attach_reply(int fd)
{
	struct spindle_attach a, want = args(1, 1, SPINDLE_ATTACH_SEND);
	int other;

	memset(&a, 0xa5, sizeof(a));
	memcpy(&a, &want, offsetof(struct spindle_attach, memlock));
	is(call(fd, SPINDLE_IOC_ATTACH, &a), 0, "attach: rubbish where the reply goes");
	is(a.size, sizeof(a), "reply: size");
	is(a.vid, 1, "reply: vid");
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
	is(a.resv1, 0, "reply: reserved word");
	is(a.memlock, a.ctl.len + a.usr.len + a.tx.len, "reply: memlock of a sender");
	is(attach(fd, args(1, 1, SPINDLE_ATTACH_RECV)), EISCONN, "attach: the same file again");
	is(attach_new(1, 1, BOTH, NULL), EBUSY, "attach: a second sender");

	other = open_dev();
	memset(&a, 0xa5, sizeof(a));
	want = args(1, 1, SPINDLE_ATTACH_RECV);
	memcpy(&a, &want, offsetof(struct spindle_attach, memlock));
	is(call(other, SPINDLE_IOC_ATTACH, &a), 0, "attach: a reader besides a sender");
	is(a.tx.len, 0, "reply: no tx for a reader");
	is(a.copy.len, 0, "reply: no copy for a reader in place");
	is(a.rx.len, 16384, "reply: rx");
	is(a.memlock, a.ctl.len + a.usr.len + a.dlv.len, "reply: memlock of a reader");
	close(other);

	other = open_dev();
	memset(&a, 0xa5, sizeof(a));
	want = args(1, 2, COPY);
	memcpy(&a, &want, offsetof(struct spindle_attach, memlock));
	is(call(other, SPINDLE_IOC_ATTACH, &a), 0, "attach: a copying reader");
	is(a.sender_rank, SPINDLE_NO_RANK, "reply: no sender_rank");
	is(a.rx.len, 0, "reply: no rx for a copying reader");
	is(a.copy.len, 4096, "reply: copy");
	is(a.memlock, a.ctl.len + a.usr.len + a.dlv.len + a.copy.len,
	   "reply: memlock of a copying reader");
	close(other);
}

static void part_attach(void)
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
	is(call(fd, SPINDLE_IOC_ATTACH, &longer), 0, "attach: a newer program");
	close(fd);
}

/* ---- mmap ------------------------------------------------------------- */

struct part {
	const char *name;
	struct spindle_section s;
	uint64_t stride;	/* 0: one instance */
	uint32_t ranks;
	bool writable, ring;
};

static int map_errno(int fd, uint64_t off, size_t len, int prot, int flags)
{
	void *p = mmap(NULL, len, prot, flags, fd, off);

	if (p == MAP_FAILED)
		return errno;
	munmap(p, len);
	return 0;
}

static bool all_zero(const unsigned char *p, size_t n)
{
	while (n--)
		if (*p++)
			return false;
	return true;
}

/* Writing what is read-only by the back door. */
static int poke(void *addr)
{
	int fd = open("/proc/self/mem", O_RDWR);
	char c = 0x5a;
	int err = pwrite(fd, &c, 1, (uintptr_t)addr) == 1 ? 0 : errno;

	close(fd);
	return err;
}

static void map_part(int fd, const struct part *p)
{
	int rw = PROT_READ | PROT_WRITE;
	size_t len = p->s.len;
	unsigned char *m;

	is(map_errno(fd, p->s.cookie, 3 * len, PROT_READ, MAP_SHARED), EINVAL, "%s: three times",
	   p->name);
	if (len > PAGE) {
		is(map_errno(fd, p->s.cookie, len + PAGE, PROT_READ, MAP_SHARED), EINVAL,
		   "%s: a page too much", p->name);
		is(map_errno(fd, p->s.cookie, len - PAGE, PROT_READ, MAP_SHARED), EINVAL,
		   "%s: a page too little", p->name);
	}
	is(map_errno(fd, p->s.cookie + PAGE, len, PROT_READ, MAP_SHARED), EINVAL,
	   "%s: from the second page", p->name);
	is(map_errno(fd, p->s.cookie + (1ULL << 31), len, PROT_READ, MAP_SHARED), EINVAL,
	   "%s: from far behind", p->name);
	is(map_errno(fd, p->s.cookie + ((uint64_t)p->ranks << 32), len, PROT_READ, MAP_SHARED),
	   EINVAL, "%s: a rank too much", p->name);
	is(map_errno(fd, p->s.cookie + (255ULL << 32), len, PROT_READ, MAP_SHARED), EINVAL,
	   "%s: rank 255", p->name);
	is(map_errno(fd, p->s.cookie, len, PROT_READ, MAP_PRIVATE), EINVAL, "%s: private", p->name);
	is(map_errno(fd, p->s.cookie, len, PROT_READ | PROT_EXEC, MAP_SHARED), EINVAL,
	   "%s: executable", p->name);
	is(map_errno(fd, p->s.cookie, len, rw, MAP_SHARED), p->writable ? 0 : EACCES,
	   "%s: to write", p->name);

	m = mmap(NULL, len, p->writable ? rw : PROT_READ, MAP_SHARED, fd, p->s.cookie);
	if (!ok(m != MAP_FAILED, "%s: as it should be", p->name))
		return;
	is(mprotect(m, len, PROT_READ | PROT_EXEC) ? errno : 0, EACCES,
	   "%s: executable afterwards", p->name);
	is(mremap(m, len, len + PAGE, MREMAP_MAYMOVE) == MAP_FAILED ? errno : 0, EFAULT,
	   "%s: grown", p->name);
	is(mremap(m, 0, len, MREMAP_MAYMOVE) == MAP_FAILED ? errno : 0, EFAULT,
	   "%s: once more by mremap", p->name);
	if (!p->writable) {
		is(mprotect(m, len, rw) ? errno : 0, EACCES, "%s: to write afterwards", p->name);
		ok(poke(m) != 0, "%s: by /proc/self/mem", p->name);
	}
	munmap(m, len);
}

static void map_doubled(int fd, const struct part *p)
{
	size_t len = p->s.len, i;
	unsigned char *m = mmap(NULL, 2 * len, p->writable ? PROT_READ | PROT_WRITE : PROT_READ,
				MAP_SHARED, fd, p->s.cookie);

	if (!ok(m != MAP_FAILED, "%s: doubled", p->name))
		return;
	for (i = 0; p->writable && i < len; i += 8)
		*(uint64_t *)(m + (i % 16 ? len : 0) + i) = mix(i);
	is(memcmp(m, m + len, len), 0, "%s: both halves are the same", p->name);
	for (i = 0; p->writable && i < len; i += 8)
		if (*(uint64_t *)(m + i) != mix(i))
			break;
	ok(!p->writable || i == len, "%s: in both halves what was written to either", p->name);
	if (p->writable)
		memset(m, 0, len);
	munmap(m, 2 * len);
}

/*
 * Nothing of anybody else is in memory that was allocated for this attachment, apart
 * from the @n words at @known.
 */
static void map_zero(int fd, const struct part *p, const uint32_t *known, unsigned int n)
{
	unsigned char *m = mmap(NULL, p->s.len, PROT_READ, MAP_SHARED, fd, p->s.cookie);
	unsigned char *copy = malloc(p->s.len);
	unsigned int i;

	if (m == MAP_FAILED || !copy)
		die("%s: %s", p->name, strerror(errno));
	memcpy(copy, m, p->s.len);
	for (i = 0; i < n; i++)
		memset(copy + known[i], 0, 8);
	ok(all_zero(copy, p->s.len), "%s: zeroed", p->name);
	munmap(m, p->s.len);
	free(copy);
}

static void map_roles(void)
{
	struct spindle_attach a = args(1, 1, BOTH), b = args(1, 1, SPINDLE_ATTACH_RECV),
			      c = args(2, 1, SPINDLE_ATTACH_SEND), d = args(3, 1, COPY);
	int all = open_dev(), reader = open_dev(), sender = open_dev(), copy = open_dev();

	is(map_errno(all, 0, PAGE, PROT_READ, MAP_SHARED), ENOTCONN, "ctl before the attach");
	is(map_errno(all, 2ULL << 40, 16384, PROT_READ, MAP_SHARED), ENOTCONN,
	   "tx before the attach");
	if (call(all, SPINDLE_IOC_ATTACH, &a) || call(reader, SPINDLE_IOC_ATTACH, &b) ||
	    call(sender, SPINDLE_IOC_ATTACH, &c) || call(copy, SPINDLE_IOC_ATTACH, &d))
		die("attach: %s", strerror(errno));
	is(map_errno(reader, a.tx.cookie, a.tx.len, PROT_READ, MAP_SHARED), EACCES,
	   "tx of a reader");
	is(map_errno(sender, a.rx.cookie, a.rx.len, PROT_READ, MAP_SHARED), EACCES,
	   "rx of a sender");
	ok(map_errno(sender, a.dlv.cookie, a.dlv.len, PROT_READ, MAP_SHARED), "dlv of a sender");
	is(map_errno(copy, a.rx.cookie, a.rx.len, PROT_READ, MAP_SHARED), EACCES,
	   "rx of a copying reader");
	ok(map_errno(all, d.copy.cookie, d.copy.len, PROT_READ, MAP_SHARED),
	   "copy of a reader in place");
	is(map_errno(all, 7ULL << 40, PAGE, PROT_READ, MAP_SHARED), EINVAL, "a part that is not");
	is(map_errno(all, 1ULL << 62, PAGE, PROT_READ, MAP_SHARED), EINVAL, "a part far off");
	close(all);
	close(reader);
	close(sender);
	close(copy);
}

/* A mapping of a file that cannot be written. */
static void map_read_only_file(void)
{
	int fd = open(SPINDLE_DEVICE, O_RDONLY | O_CLOEXEC);
	struct spindle_attach a = args(1, 1, BOTH);

	if (fd < 0 || call(fd, SPINDLE_IOC_ATTACH, &a)) {
		ok(fd >= 0 && (errno == EBADF || errno == EACCES || errno == EPERM),
		   "a file that is open for reading only");
	} else {
		is(map_errno(fd, a.tx.cookie, a.tx.len, PROT_READ | PROT_WRITE, MAP_SHARED), EACCES,
		   "tx to write of a file open for reading");
	}
	close(fd);
}

static void part_map(void)
{
	struct spindle_attach a = args(1, 1, BOTH), c = args(1, 1, COPY);
	int fd, copy;
	unsigned int i;

	map_roles();
	map_read_only_file();
	fd = open_dev();
	copy = open_dev();
	if (call(fd, SPINDLE_IOC_ATTACH, &a) || call(copy, SPINDLE_IOC_ATTACH, &c))
		die("attach: %s", strerror(errno));
	const struct part parts[] = {
		{ "ctl", a.ctl, 0, 1, false, false },
		{ "usr", a.usr, 0, 1, true, false },
		{ "dlv", a.dlv, 0, 1, false, false },
		{ "tx", a.tx, 0, 1, true, true },
		{ "rx", a.rx, a.rx_stride, a.senders, false, true },
		{ "sst", a.sst, a.sst_stride, a.members, false, false },
	};
	const struct part copy_part = { "copy", c.copy, 0, 1, false, true };

	const uint32_t ctl_words[] = { a.ctl_state, a.ctl_error, a.ctl_need_wakeup,
				       a.ctl_tx_slot, a.ctl_tx_unit };

	map_zero(fd, &parts[0], ctl_words, ARRAY_SIZE(ctl_words));
	map_zero(fd, &parts[1], &a.usr_reserve, 1);
	map_zero(fd, &parts[2], NULL, 0);
	map_zero(copy, &copy_part, NULL, 0);
	for (i = 0; i < ARRAY_SIZE(parts); i++)
		map_part(fd, &parts[i]);
	map_part(copy, &copy_part);
	for (i = 0; i < a.senders; i++)
		is(map_errno(fd, a.rx.cookie + i * a.rx_stride, 2 * a.rx.len, PROT_READ,
			     MAP_SHARED), 0, "rx: rank %u, doubled", i);
	for (i = 0; i < a.members; i++)
		is(map_errno(fd, a.sst.cookie + i * a.sst_stride, a.sst.len, PROT_READ,
			     MAP_SHARED), 0, "sst: rank %u", i);
	map_doubled(fd, &parts[3]);
	map_doubled(fd, &parts[4]);
	map_doubled(copy, &copy_part);
	close(fd);
	close(copy);
}

/* ---- other calls ------------------------------------------------------ */

static void part_calls(void)
{
	struct spindle_member m[8] = { 0 };
	struct spindle_members arg = { .count = 8, .ptr = (uintptr_t)m };
	struct spindle_queue q;
	int fd = open_dev(), i;

	is(call(fd, SPINDLE_IOC_KICK, NULL), ENOTCONN, "kick of an unattached file");
	is(call(fd, SPINDLE_IOC_MEMBERS, &arg), ENOTCONN, "members of an unattached file");
	ok(pollable(fd, POLLIN | POLLOUT, POLLERR, 0), "poll of an unattached file");
	close(fd);

	must_attach(&q, 1, 1, BOTH, -1);
	fd = spindle_fd(&q);
	is(call(fd, SPINDLE_IOC_KICK, NULL), 0, "kick");
	is(call(fd, SPINDLE_IOC_KICK, (void *)1), 0, "kick with an argument");
	is(call(fd, SPINDLE_IOC_MEMBERS, NULL), EFAULT, "members: no argument");
	arg.resv = 1;
	is(call(fd, SPINDLE_IOC_MEMBERS, &arg), EINVAL, "members: reserved word");
	arg.resv = 0;
	arg.count = 2;
	is(call(fd, SPINDLE_IOC_MEMBERS, &arg), ENOSPC, "members: too little room");
	is(arg.count, 3, "members: room that is needed");
	ok(all_zero((void *)m, sizeof(m)), "members: nothing was copied");
	arg.ptr = 8;
	is(call(fd, SPINDLE_IOC_MEMBERS, &arg), EFAULT, "members: bad pointer");
	arg.ptr = (uintptr_t)m;
	arg.count = UINT32_MAX;
	is(call(fd, SPINDLE_IOC_MEMBERS, &arg), 0, "members: room for all of the world");
	is(arg.count, 3, "members: count");
	for (i = 0; i < 3; i++)
		ok(m[i].node == (uint32_t)i + 1 && m[i].sender_rank == (uint32_t)i,
		   "members: rank %d", i);
	ok(all_zero((void *)&m[3], sizeof(m[3])), "members: no more than there are");

	/* What poll() says of a ring that fills up, and of one that is read. */
	ok(pollable(fd, POLLIN | POLLOUT, POLLOUT, 0), "poll: room, nothing to read");
	for (i = 0; i < 16 && !send_one(&q, i, 64); i++)
		;
	is(i, 16, "a window of messages");
	is(send_one(&q, i, 64), -EAGAIN, "and none more");
	ok(pollable(fd, POLLIN, POLLIN, 20000), "poll: something to read");
	ok(pollable(fd, POLLOUT, 0, 0), "poll: no room as long as it is not read");
	for (i = 0; i < 16; i++)
		if (read_one(&q, i, 64, 20000) != 1)
			break;
	is(i, 16, "all are read");
	spindle_release(&q);
	ok(pollable(fd, POLLOUT, POLLOUT, 20000), "poll: room again");
	ok(pollable(fd, POLLIN, 0, 0), "poll: nothing more to read");
	spindle_detach(&q);

	must_attach(&q, 1, 2, SPINDLE_ATTACH_RECV, -1);
	arg.count = 8;
	is(call(spindle_fd(&q), SPINDLE_IOC_MEMBERS, &arg), 0, "members: of subgroup 2");
	ok(arg.count == 2 && m[0].sender_rank == SPINDLE_NO_RANK && !m[1].sender_rank,
	   "members: one of them is no sender");
	spindle_detach(&q);
}

/* ---- fork ------------------------------------------------------------- */

static int child_status(void (*fn)(void *p), void *p)
{
	int status;
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		fn(p);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	return status;
}

static void load(void *p)
{
	(void)__atomic_load_n((unsigned char *)p, __ATOMIC_RELAXED);
}

static void store(void *p)
{
	__atomic_store_n((unsigned char *)p, 1, __ATOMIC_RELAXED);
}

/* The kernel looks there: what write() of a byte says. */
static int probe(const void *p)
{
	int fd[2], err;

	if (pipe(fd))
		return -1;
	err = write(fd[1], p, 1) == 1 ? 0 : errno;
	close(fd[0]);
	close(fd[1]);
	return err;
}

static void load_by_kernel(void *p)
{
	_exit(probe(p));
}

/* Mapped by hand, because the library asks for no inheritance, too. */
static void fork_part(int fd, const char *name, const struct spindle_section *s, size_t times,
		      bool writable)
{
	void *m = mmap(NULL, s->len * times, PROT_READ | (writable ? PROT_WRITE : 0), MAP_SHARED,
		       fd, s->cookie);
	int status;

	if (m == MAP_FAILED)
		die("%s: %s", name, strerror(errno));
	status = child_status(writable ? store : load, m);
	ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "fork: the child has no %s", name);
	status = child_status(load_by_kernel, m);
	is(WEXITSTATUS(status), EFAULT, "fork: nor does the kernel find %s there", name);
	munmap(m, s->len * times);
}

static void part_fork(void)
{
	struct spindle_attach a = args(1, 1, BOTH);
	struct spindle_queue q;
	int hold[2], fd = open_dev();
	unsigned int i;
	pid_t pid;
	char c;

	if (call(fd, SPINDLE_IOC_ATTACH, &a))
		die("attach: %s", strerror(errno));
	fork_part(fd, "ctl", &a.ctl, 1, false);
	fork_part(fd, "usr", &a.usr, 1, true);
	fork_part(fd, "tx", &a.tx, 2, true);
	fork_part(fd, "rx", &a.rx, 2, false);
	fork_part(fd, "dlv", &a.dlv, 1, false);
	fork_part(fd, "sst", &a.sst, 1, false);
	close(fd);

	must_attach(&q, 1, 1, BOTH, -1);
	/* A child that lives on with the file, and a parent that goes on. */
	if (pipe(hold))
		die("pipe");
	fflush(stdout);
	pid = fork();
	if (!pid) {
		close(hold[1]);
		/* Until the parent lets go. */
		_exit(read(hold[0], &c, 1));
	}
	close(hold[0]);
	for (i = 0; i < 100; i++)
		if (send_one(&q, i, i) || read_release(&q, i, i, 20000) != 1)
			break;
	is(i, 100, "fork: the parent's traffic goes on");
	spindle_detach(&q);
	is(attach_new(1, 1, SPINDLE_ATTACH_SEND, NULL), EBUSY,
	   "fork: the child's file keeps the attachment");
	close(hold[1]);
	waitpid(pid, NULL, 0);
	is(attach_new(1, 1, SPINDLE_ATTACH_SEND, NULL), 0, "fork: no longer than it lives");
}

/* ---- memlock ---------------------------------------------------------- */

static void set_memlock(rlim_t bytes)
{
	struct rlimit r = { bytes, bytes };

	if (setrlimit(RLIMIT_MEMLOCK, &r))
		die("setrlimit: %s", strerror(errno));
}

static void drop_ipc_lock(void)
{
	struct __user_cap_header_struct h = { .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct d[2];

	if (syscall(SYS_capget, &h, d))
		die("capget: %s", strerror(errno));
	d[0].effective &= ~(1U << CAP_IPC_LOCK);
	d[0].permitted &= ~(1U << CAP_IPC_LOCK);
	d[0].inheritable &= ~(1U << CAP_IPC_LOCK);
	if (syscall(SYS_capset, &h, d))
		die("capset: %s", strerror(errno));
}

static void memlock_nobody(uint64_t need)
{
	struct spindle_attach a = args(1, 2, SPINDLE_ATTACH_RECV);
	int fd = open_dev();

	set_memlock(need - 1);
	if (setresgid(65534, 65534, 65534) || setresuid(65534, 65534, 65534))
		die("setresuid: %s", strerror(errno));
	is(open(SPINDLE_DEVICE, O_RDWR) < 0 ? errno : 0, EACCES, "nobody may not open the device");
	is(call(fd, SPINDLE_IOC_ATTACH, &a), ENOMEM, "memlock: nobody, a byte too little");
	is(a.memlock, need, "memlock: says what would have been needed");
	set_memlock(0);
	is(attach(fd, args(1, 2, SPINDLE_ATTACH_RECV)), ENOMEM, "memlock: nobody, nothing");
	exit(tap_bad != 0);
}

static void part_memlock(void)
{
	struct spindle_attach a = args(1, 2, SPINDLE_ATTACH_RECV);
	int fd = open_dev(), other, i, status, bad = 0;
	uint64_t need;
	pid_t pid;

	set_memlock(0);
	is(call(fd, SPINDLE_IOC_ATTACH, &a), 0, "memlock: no limit with CAP_IPC_LOCK");
	need = a.memlock;
	is(need, a.ctl.len + a.usr.len + a.dlv.len, "memlock: what it is made of");
	close(fd);
	set_memlock(64 << 20);

	fflush(stdout);
	pid = fork();
	if (!pid)
		memlock_nobody(need);
	waitpid(pid, &status, 0);
	tap_bad += !!status;

	/* As root, whom the device lets in, but without the right to ignore the limit. */
	drop_ipc_lock();
	set_memlock(need);
	for (i = 0; i < 1000; i++)
		bad += !!attach_new(1, 2, SPINDLE_ATTACH_RECV, NULL);
	is(bad, 0, "memlock: 1000 attachments under a limit for one");
	is(attach_new(1, 2, SPINDLE_ATTACH_RECV, &fd), 0, "memlock: one");
	other = open_dev();
	a = args(1, 2, SPINDLE_ATTACH_RECV);
	is(call(other, SPINDLE_IOC_ATTACH, &a), ENOMEM, "memlock: not two");
	is(a.memlock, need, "memlock: says how much it is");
	close(fd);
	is(attach(other, args(1, 2, SPINDLE_ATTACH_RECV)), 0, "memlock: the same file, later");
	close(other);
	/* What was refused for other reasons costs nothing either. */
	for (i = bad = 0; i < 100; i++) {
		a = args(1, 2, SPINDLE_ATTACH_RECV);
		a.event_fd = 999;
		fd = open_dev();
		bad += call(fd, SPINDLE_IOC_ATTACH, &a) != EBADF;
		close(fd);
		bad += attach_new(1, 1, BOTH, NULL) != ENOMEM;
	}
	is(bad, 0, "memlock: 100 refusals");
	is(attach_new(1, 2, SPINDLE_ATTACH_RECV, NULL), 0, "memlock: and there is still room");
}

/* ---- eventfd ---------------------------------------------------------- */

static void part_notify(void)
{
	int efd = eventfd(0, EFD_NONBLOCK), i;
	struct spindle_queue q, s;
	eventfd_t v;

	must_attach(&q, 1, 2, SPINDLE_ATTACH_RECV, efd);
	must_attach(&s, 2, 2, SPINDLE_ATTACH_SEND, -1);
	while (!eventfd_read(efd, &v))
		;
	ok(pollable(efd, POLLIN, 0, 0), "eventfd: silent");
	for (i = 0; i < 20; i++) {
		if (send_wait(&s, i, 100) || !pollable(efd, POLLIN, POLLIN, 20000))
			break;
		eventfd_read(efd, &v);
		if (read_release(&q, i, 100, 0) != 1)
			break;
	}
	is(i, 20, "eventfd: signalled at each of 20 deliveries");
	/* Its descriptor may be closed: the attachment holds it. */
	i = dup(efd);
	close(efd);
	if (send_wait(&s, 7, 100))
		die("send");
	ok(pollable(i, POLLIN, POLLIN, 20000), "eventfd: after its descriptor was closed");
	spindle_detach(&q);
	spindle_detach(&s);
	close(i);
}

/* ---- copy ------------------------------------------------------------- */

static void part_copy(void)
{
	struct spindle_attach_opts o = {
		.node = 1, .subgroup = 1, .flags = COPY, .copy_bytes = 4096,
	};
	struct spindle_queue slow, small, fast;
	int i, n;

	/* 64 entries: four times the window. */
	must_attach(&slow, 1, 1, COPY, -1);
	must_attach(&fast, 1, 1, BOTH, -1);
	for (i = 0; i < 60; i++)
		if (send_wait(&fast, i, 100) || read_release(&fast, i, 100, 20000) != 1)
			break;
	is(i, 60, "copy: 60 messages in a window of 16, which one has not read");
	for (i = 0; i < 60; i++)
		if (read_one(&slow, i, 100, 20000) != 1)
			break;
	is(i, 60, "copy: they are all there");
	spindle_release(&slow);
	spindle_detach(&slow);

	/* The largest messages through a ring of four of them; nobody gets lost. */
	n = spindle_attach(&small, &o);
	is(n, 0, "copy: a ring of a page");
	for (i = 0; i < 200; i++) {
		if (send_wait(&fast, i, 1000 + i % 25) ||
		    read_release(&small, i, 1000 + i % 25, 20000) != 1 ||
		    read_release(&fast, i, 1000 + i % 25, 20000) != 1)
			break;
	}
	is(i, 200, "copy: 200 messages around it");
	/* Full: it holds everybody up, but only until it reads. */
	for (i = 0; i < 4; i++)
		if (send_wait(&fast, i, 1024) || read_release(&fast, i, 1024, 20000) != 1)
			break;
	is(i, 4, "copy: as many as fit");
	if (send_wait(&fast, 4, 1024))
		die("send");
	is(read_one(&fast, 4, 1024, 300), 0, "copy: full, the next one waits");
	is(read_release(&small, 0, 1024, 20000), 1, "copy: reads one");
	is(read_release(&fast, 4, 1024, 20000), 1, "copy: the next one comes");
	/* Full again, and it dies. */
	if (send_wait(&fast, 5, 1024))
		die("send");
	is(read_one(&fast, 5, 1024, 300), 0, "copy: full again");
	spindle_detach(&small);
	is(read_release(&fast, 5, 1024, 20000), 1, "copy: its end lets the others go on");
	spindle_detach(&fast);
}

/* ---- forming ---------------------------------------------------------- */

static void part_forming(void)
{
	struct spindle_queue q;
	int i;

	must_attach(&q, 1, 3, BOTH, -1);
	is(spindle_state(&q), SPINDLE_STATE_FORMING, "forming: so says the state");
	is(spindle_error_code(&q), SPINDLE_ERR_NONE, "forming: nothing is wrong");
	ok(pollable(spindle_fd(&q), POLLIN | POLLOUT, POLLOUT, 0), "forming: there is room");
	for (i = 0; i < 1000 && !send_one(&q, i, 10); i++)
		;
	is(i, spindle_window(&q), "forming: a window can be committed");
	ok(pollable(spindle_fd(&q), POLLIN | POLLOUT, 0, 0), "forming: then it is full");
	is(read_one(&q, 0, 10, 200), 0, "forming: nothing is delivered");
	spindle_detach(&q);
	is(attach_new(1, 3, BOTH, NULL), 0, "forming: the next one may attach");
}

/* ---- close ------------------------------------------------------------ */

static void unmap_all(struct spindle_queue *q)
{
	uint32_t i;

	for (i = 0; i < q->senders; i++)
		munmap(q->source[i].map.addr, q->source[i].map.len);
	munmap(q->map_dlv.addr, q->map_dlv.len);
	munmap(q->map_usr.addr, q->map_usr.len);
	munmap(q->map_ctl.addr, q->map_ctl.len);
	if (q->map_tx.len)
		munmap(q->map_tx.addr, q->map_tx.len);
}

static void part_close(void)
{
	struct spindle_queue q, r, s;
	int i, n;

	/* The file is closed, the mappings are not. */
	must_attach(&q, 1, 1, BOTH, -1);
	must_attach(&r, 1, 1, SPINDLE_ATTACH_RECV, -1);
	close(q.fd);
	is(attach_new(1, 1, SPINDLE_ATTACH_SEND, NULL), EBUSY, "close: mappings keep it");
	for (i = 0; i < 50; i++) {
		struct spindle_slot slot;

		if (spindle_reserve(&q, 200, &slot))
			break;
		fill(slot.data, 200, i);
		spindle_commit_quiet(&q, &slot, 200);
		/* Any attachment of the node wakes the engine. */
		spindle_kick(&r);
		if (read_release(&r, i, 200, 20000) != 1)
			break;
		do {
			struct spindle_msg m;

			n = spindle_peek(&q, &m);
		} while (!n);
		spindle_store_release(q.usr_consumed, i + 1);
		q.rx_released = i + 1;
		spindle_kick(&r);
		/* Its slot comes back. */
		while (spindle_load_acquire(q.ctl_tx_slot) != slot.slot + 1)
			usleep(1000);
	}
	is(i, 50, "close: 50 messages sent and read without the file");
	unmap_all(&q);
	is(attach_new(1, 1, SPINDLE_ATTACH_SEND, NULL), 0, "close: without mappings it is over");
	spindle_detach(&r);

	/* The mappings go, in the middle of deliveries; the file stays. */
	must_attach(&q, 1, 1, SPINDLE_ATTACH_RECV, -1);
	must_attach(&r, 1, 1, SPINDLE_ATTACH_RECV, -1);
	must_attach(&s, 2, 1, SPINDLE_ATTACH_SEND, -1);
	for (i = 0; i < 8 && !send_one(&s, i, 300); i++)
		;
	unmap_all(&q);
	for (; i < 16 && !send_one(&s, i, 300); i++)
		;
	for (i = 0; i < 16 && read_release(&r, i, 300, 20000) == 1; i++)
		;
	is(i, 16, "munmap: another reader has all");
	is(send_one(&s, 16, 300), -EAGAIN, "munmap: what it has not read is held");
	close(q.fd);
	is(send_wait(&s, 16, 300), 0, "munmap: until it closes the file");
	is(read_release(&r, 16, 300, 20000), 1, "munmap: the other one reads on");
	spindle_detach(&r);
	spindle_detach(&s);

	/* A page thrown away by madvise is the loss of that process alone. */
	must_attach(&q, 1, 1, SPINDLE_ATTACH_RECV, -1);
	must_attach(&r, 1, 1, BOTH, -1);
	madvise(q.map_ctl.addr, q.map_ctl.len, MADV_DONTNEED);
	for (i = 0; i < (int)q.senders; i++)
		madvise(q.source[i].map.addr, q.source[i].map.len, MADV_DONTNEED);
	is(probe(q.map_ctl.addr), EFAULT, "madvise: nothing comes in its place");
	for (i = 0; i < 10; i++)
		if (send_one(&r, i, 64) || read_release(&r, i, 64, 20000) != 1)
			break;
	is(i, 10, "madvise: others do not notice");
	spindle_detach(&q);
	spindle_detach(&r);
}

/* ---- gone ------------------------------------------------------------- */

static int run(const char *command)
{
	int status = system(command);

	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void check_final(struct spindle_queue *q, int state, int error, const char *what)
{
	is(spindle_state(q), state, "%s: state", what);
	is(spindle_error_code(q), error, "%s: error", what);
	is(send_one(q, 0, 10), -EPIPE, "%s: nothing more can be reserved", what);
}

static void part_gone(void)
{
	int efd = eventfd(0, EFD_NONBLOCK), i;
	struct spindle_queue q, copy, far;
	struct spindle_members arg = { .count = 0 };
	struct pollfd p;
	eventfd_t v;

	must_attach(&q, 1, 1, BOTH, efd);
	must_attach(&copy, 1, 1, COPY, -1);
	must_attach(&far, 2, 1, BOTH, -1);
	for (i = 0; i < 10; i++)
		if (send_one(&q, i, 500))
			die("send");
	for (i = 0; i < 10; i++)
		if (read_one(&far, i, 500, 20000) != 1)
			die("the other node does not get message %d", i);
	/* Slow machines: until it is delivered here, too. */
	while (spindle_load_acquire(q.ctl_dlv_tail) != 10 ||
	       spindle_load_acquire(copy.ctl_dlv_tail) != 10)
		usleep(1000);
	while (!eventfd_read(efd, &v))
		;

	is(run("spindle-ctl view del node 1"), 0, "view del, with attachments");
	p = (struct pollfd){ .fd = spindle_fd(&q), .events = POLLIN | POLLOUT };
	poll(&p, 1, 20000);
	is(p.revents & (POLLIN | POLLOUT | POLLERR | POLLHUP), POLLIN | POLLERR | POLLHUP,
	   "gone: poll");
	ok(pollable(efd, POLLIN, POLLIN, 20000), "gone: eventfd");
	check_final(&q, SPINDLE_STATE_GONE, SPINDLE_ERR_VIEW_GONE, "gone");
	for (i = 0; i < 10 && read_one(&q, i, 500, 0) == 1; i++)
		;
	is(i, 10, "gone: what was delivered can be read");
	is(read_one(&q, i, 500, 0), -EPIPE, "gone: then it is the end");
	spindle_release(&q);
	ok(pollable(spindle_fd(&q), POLLIN, POLLERR | POLLHUP, 20000), "gone: all is read");
	for (i = 0; i < 10 && read_one(&copy, i, 500, 0) == 1; i++)
		;
	is(i, 10, "gone: also what was copied");
	is(call(q.fd, SPINDLE_IOC_MEMBERS, &arg), ENOTCONN, "gone: members");
	is(attach(q.fd, args(2, 4, SPINDLE_ATTACH_RECV)), EISCONN, "gone: no second life");
	is(map_errno(q.fd, 2ULL << 40, 16384, PROT_READ, MAP_SHARED), ENOTCONN, "gone: map tx");
	is(map_errno(q.fd, 0, PAGE, PROT_READ, MAP_SHARED), 0, "gone: map ctl");
	call(q.fd, SPINDLE_IOC_KICK, NULL);
	is(attach_new(1, 1, SPINDLE_ATTACH_RECV, NULL), ENOENT, "gone: attach");

	/* The other members have lost one. */
	p = (struct pollfd){ .fd = spindle_fd(&far), .events = 0 };
	is(poll(&p, 1, 20000), 1, "failed: poll");
	is(p.revents, POLLERR | POLLHUP, "failed: poll");
	check_final(&far, SPINDLE_STATE_FAILED, SPINDLE_ERR_PEER_LOST, "failed");
	is(attach_new(2, 1, SPINDLE_ATTACH_RECV, NULL), ENOTCONN, "failed: attach");
	is(attach_new(2, 1, BOTH, NULL), ENOTCONN, "failed: attach to send");
	is(attach_new(2, 4, BOTH, NULL), 0, "failed: a subgroup without the lost one works");

	/* Nodes go with attachments open, the module does not. */
	is(run("spindle-ctl node del id 1"), 0, "node del, with attachments");
	is(run("spindle-ctl node del id 2"), 0, "node del, of a failed subgroup");
	is(attach_new(1, 1, BOTH, NULL), ENODEV, "node del: attach");
	ok(spindle_state(&far) > SPINDLE_STATE_ACTIVE, "node del: the end stays the end");
	is(spindle_error_code(&far), SPINDLE_ERR_PEER_LOST, "node del: the first error stays");
	is(run("spindle-ctl node del id 3"), 0, "node del, of a subgroup with a lost member");
	is(run("spindle-ctl node del id 4"), 0, "node del, without a view");
	ok(run("rmmod spindle 2>/dev/null"), "rmmod: not with open files");
	spindle_detach(&q);
	close(copy.fd);
	ok(run("rmmod spindle 2>/dev/null"), "rmmod: not with mappings");
	copy.fd = -1;
	spindle_detach(&copy);
	spindle_detach(&far);
	close(efd);
}

/* ---- no memory -------------------------------------------------------- */

/* For a machine with less than this. */
static void part_nomem(void)
{
	struct spindle_attach a = args(1, 1, COPY);
	int fd = open_dev();

	a.copy_bytes = SPINDLE_MAX_RING;
	is(call(fd, SPINDLE_IOC_ATTACH, &a), ENOMEM, "nomem: a copy ring of 1 GiB");
	ok(a.memlock > SPINDLE_MAX_RING, "nomem: says what would have been needed");
	is(attach(fd, args(1, 1, COPY)), 0, "nomem: the same file, less");
	close(fd);
}

int main(int argc, char **argv)
{
	static const struct { const char *name; void (*fn)(void); } parts[] = {
		{ "attach", part_attach }, { "map", part_map }, { "calls", part_calls },
		{ "fork", part_fork }, { "memlock", part_memlock }, { "notify", part_notify },
		{ "copy", part_copy }, { "forming", part_forming }, { "close", part_close },
		{ "gone", part_gone }, { "nomem", part_nomem },
	};
	unsigned int i;

	for (i = 0; argc > 1 && i < ARRAY_SIZE(parts); i++) {
		if (strcmp(argv[1], parts[i].name))
			continue;
		parts[i].fn();
		return tap_bad != 0;
	}
	fprintf(stderr, "usage: dev-bad PART\n");
	return 2;
}
