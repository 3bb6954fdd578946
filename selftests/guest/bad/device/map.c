// SPDX-License-Identifier: GPL-2.0-only
/*
 * Mappings: the sections of an attachment, their lengths and their rights.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "dev-bad.h"
#include "map.h"
#include "selfcheck.h"
#include "tap.h"

int map_errno(int fd, uint64_t off, size_t len, int prot, int flags)
{
	void *p = mmap(NULL, len, prot, flags, fd, off);

	if (p == MAP_FAILED)
		return errno;
	munmap(p, len);
	return 0;
}

bool all_zero(const unsigned char *p, size_t n)
{
	while (n--)
		if (*p++)
			return false;
	return true;
}

int probe(const void *p)
{
	int fd[2], err;

	if (pipe(fd))
		return -1;
	err = write(fd[1], p, 1) == 1 ? 0 : errno;
	close(fd[0]);
	close(fd[1]);
	return err;
}

/* Write to read-only memory by /proc/self/mem. */
static int poke(void *addr)
{
	int fd = open("/proc/self/mem", O_RDWR);
	char c = 0x5a;
	int err = pwrite(fd, &c, 1, (uintptr_t)addr) == 1 ? 0 : errno;

	close(fd);
	return err;
}

void map_part(int fd, const struct part *p)
{
	int rw = PROT_READ | PROT_WRITE;
	size_t len = p->s.len;
	unsigned char *m;

	is(map_errno(fd, p->s.cookie, 3 * len, PROT_READ, MAP_SHARED), EINVAL, "%s: three times",
	   p->name);
	if (len > PAGE) {
		is(map_errno(fd, p->s.cookie, len + PAGE, PROT_READ, MAP_SHARED), EINVAL,
		   "%s: one page too many", p->name);
		is(map_errno(fd, p->s.cookie, len - PAGE, PROT_READ, MAP_SHARED), EINVAL,
		   "%s: one page too few", p->name);
	}
	is(map_errno(fd, p->s.cookie + PAGE, len, PROT_READ, MAP_SHARED), EINVAL,
	   "%s: from the second page", p->name);
	is(map_errno(fd, p->s.cookie + (1ULL << 31), len, PROT_READ, MAP_SHARED), EINVAL,
	   "%s: from an offset far behind the end", p->name);
	is(map_errno(fd, p->s.cookie + ((uint64_t)p->ranks << 32), len, PROT_READ, MAP_SHARED),
	   EINVAL, "%s: one rank too high", p->name);
	is(map_errno(fd, p->s.cookie + (255ULL << 32), len, PROT_READ, MAP_SHARED), EINVAL,
	   "%s: rank 255", p->name);
	is(map_errno(fd, p->s.cookie, len, PROT_READ, MAP_PRIVATE), EINVAL, "%s: private", p->name);
	is(map_errno(fd, p->s.cookie, len, PROT_READ | PROT_EXEC, MAP_SHARED), EINVAL,
	   "%s: executable", p->name);
	is(map_errno(fd, p->s.cookie, len, rw, MAP_SHARED), p->writable ? 0 : EACCES,
	   "%s: writable", p->name);

	m = mmap(NULL, len, p->writable ? rw : PROT_READ, MAP_SHARED, fd, p->s.cookie);
	if (!ok(m != MAP_FAILED, "%s: correct length and protection", p->name))
		return;
	is(mprotect(m, len, PROT_READ | PROT_EXEC) ? errno : 0, EACCES,
	   "%s: executable afterwards", p->name);
	is(mremap(m, len, len + PAGE, MREMAP_MAYMOVE) == MAP_FAILED ? errno : 0, EFAULT,
	   "%s: grown", p->name);
	is(mremap(m, 0, len, MREMAP_MAYMOVE) == MAP_FAILED ? errno : 0, EFAULT,
	   "%s: duplicated by mremap", p->name);
	if (!p->writable) {
		is(mprotect(m, len, rw) ? errno : 0, EACCES, "%s: writable afterwards", p->name);
		ok(poke(m) != 0, "%s: written by /proc/self/mem", p->name);
	}
	munmap(m, len);
}

void map_doubled(int fd, const struct part *p)
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
	ok(!p->writable || i == len, "%s: a write to one half shows in the other", p->name);
	if (p->writable)
		memset(m, 0, len);
	munmap(m, 2 * len);
}

/*
 * Memory that was allocated for this attachment contains no other data, apart from the @n words at
 * @known.
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
	is(map_errno(all, 7ULL << 40, PAGE, PROT_READ, MAP_SHARED), EINVAL,
	   "a part that does not exist");
	is(map_errno(all, 1ULL << 62, PAGE, PROT_READ, MAP_SHARED), EINVAL,
	   "a part with a huge number");
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
		   "writable tx of a file open for reading");
	}
	close(fd);
}

void part_map(void)
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
